"""A points table as an expression of SQL: DuckDB and SQLite decide every row as the release does."""

import math
from typing import ClassVar

import numpy as np
import pytest
from scorecard_cases import card
from sql_rows import TYPES, by_duckdb, by_sqlite, raw_rows, release

import nbcfast
from nbcfast import SUPPRESSED, Interval, canonical
from nbcfast.exports import points_of

SEEDS = range(40)


def expected(made, columns):
    return made.predict(nbcfast.Table(columns), unseen="null").tolist()


def types_of(kinds):
    return {name: TYPES[kind] for name, kind in kinds.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb_decides_as_the_release(seed):
    made, kinds = release(seed)
    columns = raw_rows(made, kinds, seed)
    points = made.scorecard()
    texts = [points.sql("duckdb", unseen="null"), points.sql("duckdb", unseen="null", table="input")]
    texts.append(points.sql("ansi", unseen="null"))
    for found in by_duckdb(texts, columns, types_of(kinds)):
        assert found == expected(made, columns)


@pytest.mark.parametrize("seed", SEEDS)
def test_sqlite_decides_as_the_release(seed):
    made, kinds = release(seed)
    columns = raw_rows(made, kinds, seed)
    points = made.scorecard()
    texts = [points.sql("ansi", unseen="null"), points.sql("ansi", unseen="null", table="input")]
    for found in by_sqlite(texts, columns, types_of(kinds)):
        assert found == expected(made, columns)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_are_published_do_not_stop_duckdb(seed):
    made, kinds = release(seed)
    columns = raw_rows(made, kinds, seed)
    wanted = np.array(expected(made, columns), object)
    known = np.flatnonzero([label is not None for label in wanted])
    columns = {name: [values[place] for place in known] for name, values in columns.items()}
    (found,) = by_duckdb([made.scorecard().sql("duckdb")], columns, types_of(kinds))
    assert found == wanted[known].tolist()


@pytest.mark.parametrize("seed", SEEDS[:12])
def test_each_row_that_is_not_published_stops_duckdb(seed):
    duckdb = pytest.importorskip("duckdb")
    made, kinds = release(seed)
    columns = raw_rows(made, kinds, seed)
    text = made.scorecard().sql("duckdb")
    strays = [place for place, label in enumerate(expected(made, columns)) if label is None]
    assert strays
    for place in strays[:: len(strays) // 20 + 1]:
        row = {name: [values[place]] for name, values in columns.items()}
        with pytest.raises(duckdb.InvalidInputException, match=r"column .*( is|: expected)"):
            by_duckdb([text], row, types_of(kinds))


@pytest.mark.parametrize(
    ("value", "type_", "message"),
    [
        ("99", "BIGINT", "column age: value 99 is not published"),
        ("NULL", "BIGINT", "column age: null is not published"),
        ("'NaN'", "DOUBLE", "column age: null is not published"),
        ("'1'", "VARCHAR", "column age: expected numbers, got the type VARCHAR"),
        ("true", "BOOLEAN", "column age: expected numbers, got the type BOOLEAN"),
        ("1", "DECIMAL(18,3)", r"column age: expected numbers, got the type DECIMAL\(18,3\)"),
    ],
)
def test_duckdb_stops_with_column_and_value(value, type_, message):
    duckdb = pytest.importorskip("duckdb")
    text = card({"age": ([1, 2, 3], [0, 3, 5])}, threshold=3).sql("duckdb")
    with pytest.raises(duckdb.InvalidInputException, match=message):
        duckdb.sql(f"SELECT {text} FROM (SELECT CAST({value} AS {type_}) AS age)").fetchall()


@pytest.mark.parametrize(
    "type_",
    [
        "TINYINT",
        "INTEGER",
        "BIGINT",
        "UBIGINT",
        "HUGEINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(4,0)",
        "DECIMAL(15,2)",
    ],
)
def test_every_type_of_numbers_is_taken(type_):
    points = card(
        {"age": ([1, 2, None], [0, 3, 5]), "size": ([Interval(0, 2), Interval(2, None)], [0, 9])}, threshold=5
    )
    rows = {"age": [1, 2, None, 1, 3], "size": [2, 1, 0, 1, 2]}
    for dialect in ("duckdb", "ansi"):
        (found,) = by_duckdb([points.sql(dialect, unseen="null")], rows, dict.fromkeys(rows, type_))
        assert found == ["ill", "well", "ill", "well", None]


def test_decimals_of_15_digits_are_the_doubles_of_their_texts():
    rng = np.random.default_rng(3)
    cents = rng.integers(-(10**15) + 1, 10**15, 300).tolist()
    texts = [f"{'-' * (number < 0)}{abs(number) // 1000}.{abs(number) % 1000:03}" for number in cents]
    values = sorted({float(text) for text in texts})
    points = card({"size": (values, [1] * len(values))}, threshold=1)
    (found,) = by_duckdb([points.sql("duckdb")], {"size": texts}, {"size": "DECIMAL(15,3)"})
    assert found == ["ill"] * 300


@pytest.mark.parametrize("type_", ["BIGINT", "DOUBLE"])
def test_integers_beyond_doubles(type_):
    """A double that is next to a published integer is not that integer."""
    values = [2**53 + 1, 2**53 + 2, -(2**63), 5, 2**63 - 1]
    points = card({"n": (values, [1, 2, 4, 8, 16]), "one": ([1], [0])}, threshold=3)
    raws = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 4, -(2**63), 5, 2**62]
    if type_ == "BIGINT":
        raws.append(2**63 - 1)
    wanted = [next((2**i for i, value in enumerate(values) if value == raw), None) for raw in raws]
    if type_ == "DOUBLE":
        wanted[1] = None  # it became 2^53
    labels = [None if number is None else "ill" if number >= 3 else "well" for number in wanted]
    rows = {"n": [float(raw) if type_ == "DOUBLE" else raw for raw in raws], "one": [1] * len(raws)}
    texts = [points.sql(dialect, unseen="null") for dialect in ("duckdb", "ansi")]
    exact, standard = by_duckdb(texts, rows, {"n": type_, "one": "BIGINT"})
    assert exact == labels
    # Standard SQL does not know whether a large number was rounded on its way into a double.
    assert standard == (labels if type_ == "BIGINT" else [None] * 5 + ["ill", None])


def test_ends_of_bins_beyond_doubles():
    """Integers are compared by themselves, where doubles are compared with the first one in the bin."""
    end = 2**53 + 1
    points = card(
        {"n": ([Interval(None, end), Interval(end, 10**60), Interval(10**60, None)], [0, 1, 0])}, threshold=1
    )
    text = points.sql("duckdb", unseen="null")
    (found,) = by_duckdb([text], {"n": [end - 1, end, end + 1, 2**63 - 1, None]}, {"n": "BIGINT"})
    assert found == ["well", "ill", "ill", "ill", None]
    raws = [2.0**53, 2.0**53 + 2, 9e59, 1e60, math.inf, -math.inf, math.nan]
    (found,) = by_duckdb([text], {"n": raws}, {"n": "DOUBLE"})
    assert found == ["well", "ill", "ill", "well", "well", "well", None]
    with pytest.raises(ValueError, match="an edge of a bin must be a double, got 9007199254740993"):
        points.sql("ansi", unseen="null")


def test_texts_are_equal_letter_by_letter_whatever_the_collation():
    points = card({"sex": (["Male", "b"], [1, 0])}, threshold=1)
    text = points.sql("duckdb", unseen="null")
    for type_, setting in (("VARCHAR COLLATE NOCASE", None), ("VARCHAR", "SET default_collation='NOCASE'")):
        (found,) = by_duckdb([text], {"sex": ["Male", "male", "B", "b"]}, {"sex": type_}, setting)
        assert found == ["ill", None, None, "well"]


def test_dates_and_enumerations_are_texts():
    points = card({"day": (["2020-02-29", "2021-01-01"], [1, 0]), "sex": (["f", "m"], [0, 1])}, threshold=2)
    rows = {"day": ["2020-02-29", "2020-02-29", "2020-03-01"], "sex": ["m", "f", "m"]}
    types = {"day": "DATE", "sex": "ENUM('f', 'm')"}
    (found,) = by_duckdb([points.sql("duckdb", unseen="null")], rows, types)
    assert found == ["ill", "well", None]


def test_texts_are_no_numbers_and_numbers_no_texts():
    points = card({"n": ([1, None], [1, 0]), "t": (["1", "true"], [1, 0])}, threshold=1)
    rows = {"n": ["1", None], "t": ["1", "1"]}
    text = points.sql("duckdb", unseen="null")
    assert by_duckdb([text], rows, {"n": "VARCHAR", "t": "VARCHAR"}) == [[None, "ill"]]
    assert by_duckdb([text], rows, {"n": "BIGINT", "t": "BIGINT"}) == [[None, None]]
    assert by_duckdb([text], rows, {"n": "BOOLEAN", "t": "BOOLEAN"}) == [[None, None]]
    ansi = points.sql("ansi", unseen="null")
    assert by_sqlite([ansi], rows, {"n": "VARCHAR", "t": "VARCHAR"}) == [[None, "ill"]]
    assert by_sqlite([ansi], rows, {"n": "INTEGER", "t": "INTEGER"}) == [[None, None]]


def test_a_nan_in_a_column_of_texts_is_a_null():
    points = card({"t": (["a", None], [1, 0])}, threshold=1)
    for value in (math.nan, None):
        assert by_duckdb([points.sql("duckdb")], {"t": [value]}, {"t": "DOUBLE"}) == [["well"]]


@pytest.mark.parametrize("scale", [1, 2**31, 2**58])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_large_and_negative_totals_and_ties(scale, n_classes):
    """The later of equal classes wins, and neither 32 nor 64 bits are exceeded."""
    rng = np.random.default_rng(n_classes)
    classes = [f"c{c}" for c in range(n_classes)]
    width = 1 if n_classes <= 2 else n_classes
    attributes = {
        name: ([0, 1, 2], [[scale * int(number) for number in rng.integers(-1, 2, width)] for _ in range(3)])
        for name in ("x", "y", "z")
    }
    constants = [scale * int(number) for number in rng.integers(-1, 2, n_classes)] if n_classes > 2 else []
    if n_classes == 1:
        attributes = {name: (values, [0, 0, 0]) for name, (values, _) in attributes.items()}
        constants = [0]
    points = card(
        attributes, threshold=scale if n_classes == 2 else None, classes=classes, constants=constants
    )
    rows = [dict(zip("xyz", row, strict=True)) for row in np.ndindex(3, 3, 3)]
    columns = {name: [row[name] for row in rows] for name in "xyz"}
    texts = [points.sql("duckdb"), points.sql("duckdb", unseen="null"), points.sql("ansi", unseen="null")]
    for found in by_duckdb(texts, columns, dict.fromkeys("xyz", "BIGINT")):
        assert found == [points.decide(row) for row in rows]


@pytest.mark.parametrize(
    "labels",
    [[True, False], [1, -(2**63), 5], [0.5, -0.25, 2.0], [Interval(0, 1), Interval(1, 2), Interval(2, None)]],
)
def test_labels_of_every_kind(labels):
    rows = [[0], [1]] if len(labels) == 2 else [[5, 0, 0], [0, 5, 0], [0, 0, 5]]
    points = card(
        {"x": (range(len(rows)), rows)},
        threshold=1 if len(labels) == 2 else None,
        classes=labels,
        constants=() if len(labels) == 2 else (0, 0, 0),
    )
    wanted = [points.decide({"x": place}) for place in range(len(rows))]
    if isinstance(labels[0], Interval):
        wanted = list(map(str, wanted))
    texts = [points.sql("duckdb"), points.sql("ansi", unseen="null")]
    for found in by_duckdb(texts, {"x": list(range(len(rows)))}, {"x": "BIGINT"}):
        assert found == wanted
        assert list(map(type, found)) == list(map(type, wanted))


def test_points_without_attributes_give_one_class():
    points = card({}, threshold=1)
    texts = [points.sql("duckdb"), points.sql("ansi", unseen="null")]
    assert by_duckdb(texts, {"x": [1]}, {"x": "BIGINT"}) == [["well"], ["well"]]


def test_the_text_grows_with_the_points():
    def length(dialect, n_values, n_classes):
        rows = [1] * n_values if n_classes == 2 else [[1] * n_classes] * n_values
        points = card(
            {name: (range(10**5, 10**5 + n_values), rows) for name in "abcdef"},
            threshold=3 if n_classes == 2 else None,
            classes=[f"class {c}" for c in range(n_classes)],
            constants=() if n_classes == 2 else (0,) * n_classes,
        )
        return len(points.sql(dialect, unseen="null"))

    for dialect in ("spark", "duckdb", "ansi"):
        assert length(dialect, 200, 2) < 2.1 * length(dialect, 100, 2) < 100 * 600
        assert length(dialect, 100, 20) < 2.2 * length(dialect, 100, 10)


def test_names_that_differ_by_case_alone_are_refused_but_in_spark():
    points = card({"Age": ([1, 2], [0, 1]), "age": ([1, 2], [0, 1])}, threshold=1)
    for dialect in ("duckdb", "ansi"):
        with pytest.raises(ValueError, match="SQL does not tell the columns 'Age' and 'age' apart"):
            points.sql(dialect, unseen="null")
    assert "`Age`" in points.sql("spark")


def test_what_is_refused():
    points = card({"age": ([1, 2], [0, 1])}, threshold=1)
    with pytest.raises(ValueError, match="dialect must be 'spark', 'duckdb' or 'ansi', got 'mysql'"):
        points.sql("mysql")
    with pytest.raises(ValueError, match="unseen must be 'error' or 'null', got 'zero'"):
        points.sql("spark", unseen="zero")
    with pytest.raises(
        ValueError, match="unseen must be 'null' for dialect 'ansi', got 'error': standard SQL"
    ):
        points.sql("ansi")
    with pytest.raises(ValueError, match="attribute 'age' has suppressed values"):
        card({"age": ([1, SUPPRESSED], [0, 1])}, threshold=1).sql("duckdb")
    with pytest.raises(ValueError, match="a class that is null cannot be told from no answer"):
        card({"age": ([1, 2], [0, 1])}, threshold=1, classes=(None, "a")).sql("duckdb")
    with pytest.raises(ValueError, match="SQL cannot have this text"):
        card({"age": (["a\0", "b"], [0, 1])}, threshold=1).sql("spark")
    with pytest.raises(ValueError, match=r"totals must be below about 2.3 .* for SQL, got up to"):
        card({"age": ([1, 2], [0, 2**61])}, threshold=1).sql("spark")
    with pytest.raises(ValueError, match="SQL has no word for infinity"):
        card({"age": ([math.inf, 2.5], [0, 1])}, threshold=1).sql("ansi", unseen="null")


def test_infinity_is_a_value_of_engines():
    points = card({"age": ([math.inf, -math.inf, 2.5], [1, 0, 0])}, threshold=1)
    rows = {"age": [math.inf, -math.inf, 2.5]}
    assert by_duckdb([points.sql("duckdb")], rows, {"age": "DOUBLE"}) == [["ill", "well", "well"]]


def test_a_column_selects_the_points():
    rng = np.random.default_rng(5)
    names = ["it's", "a.b"]
    sexes, sizes = ["f", "m", None], [1, 2, 3]
    rows = {
        names[0]: [sexes[place] for place in rng.integers(0, 3, 200)],
        names[1]: [sizes[place] for place in rng.integers(0, 3, 200)],
        "ill": [("no", "yes", "maybe")[place] for place in rng.integers(0, 3, 200)],
    }
    for labels in (2, 3):
        given = {**rows, "ill": [("no", "yes")[len(ill) % 2] if labels == 2 else ill for ill in rows["ill"]]}
        made = canonical.release_by(given, "ill", names[0], 4)
        asked = {names[0]: ["f", "m", None] * 3, names[1]: [1, 1, 1, 2, 2, 2, 3, 3, 3]}
        texts = [made.sql("duckdb"), made.sql("ansi", unseen="null"), made.sql("duckdb", unseen="null")]
        types = {names[0]: "VARCHAR", names[1]: "BIGINT"}
        for found in by_duckdb(texts, asked, types):
            assert found == made.predict(nbcfast.Table(asked)).tolist()
        assert by_sqlite(texts[1:2], asked, types) == [made.predict(nbcfast.Table(asked)).tolist()]
        strange = {names[0]: ["x", "f"], names[1]: [1, 4]}
        assert by_duckdb(texts[1:], strange, types) == [[None, None]] * 2
    with pytest.raises(ValueError, match="unseen must be 'null' for dialect 'ansi'"):
        made.sql("ansi")
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(duckdb.InvalidInputException, match="column it's: value x is not published"):
        by_duckdb(texts[:1], {name: values[:1] for name, values in strange.items()}, types)


def test_points_of_a_release_that_is_not_canonical():
    counts = {"job": [[2, 3, 1], [3, 2, 4]], "sex": [[1, 4, 2], [4, 1, 3]]}
    domains = {"job": ["it's", None], "sex": ["f", "m"]}
    views = nbcfast.Viewset([5, 5, 5], counts, classes=["a", "b", "c"], domains=domains)
    made = nbcfast.safety_transform(views, 4)
    with pytest.raises(ValueError, match="a scorecard belongs to method 'canonical'"):
        made.scorecard()
    rows = {"job": ["it's", "it's", None, None, "it's"], "sex": ["f", "m", "f", "m", None]}
    texts = [points_of(made).sql("duckdb", unseen="null"), points_of(made).sql("ansi", unseen="null")]
    for found in by_duckdb(texts, rows, dict.fromkeys(rows, "VARCHAR")):
        assert found == expected(made, rows)


class TestRawValues:
    """Releases whose values are names of sets, asked of rows that have what is in them."""

    DOMAINS: ClassVar = {
        "job": {"groups": {"at a desk": ["clerk", "judge"], "it's elsewhere": ["cook"]}},
        "age": {"edges": [None, 30, None], "labels": ["young", "old"], "null": True},
        "zone": {"edges": [0, 2, 4]},
    }

    def rows(self):
        rng = np.random.default_rng(5)
        jobs, ages = ["clerk", "judge", "cook"], [17, 29, 30, 61, None]
        return {
            "job": [jobs[i] for i in rng.integers(0, 3, 300)],
            "age": [ages[i] for i in rng.integers(0, 5, 300)],
            "zone": rng.integers(0, 4, 300).tolist(),
            "ill": np.where(rng.random(300) < 0.4, "yes", "no").tolist(),
            "sex": rng.choice(["f", "m"], 300).tolist(),
        }

    def made(self, **how):
        return nbcfast.publish(
            self.rows(), "ill", 8, domains=self.DOMAINS | {"sex": ["f", "m"]}, accept_answers=True, **how
        ).release

    def test_they_are_decided_as_predict_decides_them(self):
        release, rows = self.made(), nbcfast.Table(self.rows())
        duckdb = pytest.importorskip("duckdb")
        arrow = rows.to_arrow()  # DuckDB finds it by its name
        domains = self.DOMAINS | {"sex": ["f", "m"]}
        text = release.scorecard().sql("duckdb", domains=domains)
        found = [label for (label,) in duckdb.sql(f"SELECT {text} FROM arrow").fetchall()]
        assert found == release.predict(rows, domains=domains).tolist()
        assert arrow.num_rows == len(found)
        with pytest.raises(duckdb.Error, match=r"job: value .* is not published"):
            duckdb.sql(f"SELECT {release.scorecard().sql('duckdb')} FROM arrow").fetchall()

    def test_so_they_are_by_strata(self):
        duckdb = pytest.importorskip("duckdb")
        release, rows = self.made(by="sex"), nbcfast.Table(self.rows())
        arrow = rows.to_arrow()
        domains = self.DOMAINS | {"sex": ["f", "m"]}
        text = release.sql("duckdb", domains=domains)
        found = [label for (label,) in duckdb.sql(f"SELECT {text} FROM arrow").fetchall()]
        assert found == release.predict(rows, domains=domains).tolist()
        assert arrow.num_rows == len(found)

    def test_a_set_of_all_that_is_not_listed_has_no_text(self):
        domains = {"job": {"groups": {"a desk": ["clerk"]}, "other": "elsewhere"}}
        release = nbcfast.publish(
            nbcfast.Table(self.rows()).drop_nulls(),
            "ill",
            8,
            columns=["job"],
            domains=domains,
            accept_answers=True,
        ).release
        with pytest.raises(ValueError, match="'elsewhere' takes every value that is not listed"):
            release.scorecard().sql("duckdb", domains=domains)
