"""Frames of no rows, of many columns, of many distinct rows, and of rows whose first ones tell little."""

import numpy as np
import pyarrow as pa
import pytest
from frame_cases import collapsed, people, shown

import nbcfast
from nbcfast import Table
from nbcfast.frames import Frame
from nbcfast.frames import frame as framed


def wide(n_attributes, n_rows=300):
    rng = np.random.default_rng(n_attributes)
    codes = rng.integers(0, 3, (n_attributes, n_rows))
    columns = {f"x{place}": pa.array(values) for place, values in enumerate(codes)}
    return pa.table({**columns, "c": pa.array(["u", "v", "w"]).take(pa.array(rng.integers(0, 3, n_rows)))})


@pytest.mark.parametrize("n_attributes", [63, 130])  # two queries, of up to 60 columns, and three
def test_more_columns_than_a_query_may_have(engine, n_attributes):
    rows = wide(n_attributes)
    frame, table = engine.frame(rows), Table(rows)
    is_spark = engine.name == "spark"  # each of these takes it seconds
    if not is_spark or n_attributes == 130:
        assert frame.counts("c") == nbcfast.count(table, "c")
    if not is_spark or n_attributes == 63:
        some = table.names[:3] if engine.name == "ibis" else table.names[-64:]  # there each set is a query
        found = frame.tables([[name] for name in some])
        assert list(map(shown, found)) == [shown(collapsed(table, [name])) for name in some]
    if not is_spark:
        names = list(table.names)[:62]
        assert shown(frame.weighted(names)) == shown(collapsed(table, names))


def test_no_rows(engine):
    rows = people(0, twins=engine.has_twins)
    domains = {"c": ["no", "yes"], "s": ["", "x"]}
    frame, table = engine.frame(rows, domains=domains), Table(rows, domains)
    assert frame.names == table.names
    for names in (["c"], ["s", "f", "tz"], list(table.names)):
        assert shown(frame.weighted(names)) == shown(collapsed(table, names))
    assert frame.counts("c", ["s"]) == nbcfast.count(table, "c", ["s"])
    with pytest.raises(ValueError, match="column 'b' has no rows and no declared domain: no classes"):
        frame.counts("b")


def test_no_attributes(engine):
    rows = pa.table({"c": ["u", "v", None, "u"]})
    frame, table = engine.frame(rows), Table(rows)
    assert frame.counts("c") == nbcfast.count(table, "c")
    assert frame.counts("c", []) == nbcfast.count(table, "c", [])
    assert frame.counts("c").attributes == ()


def test_first_rows_that_are_all_alike(engine, ids, monkeypatch):
    """Columns that were put together have too many distinct rows then, and each is asked for by itself."""
    monkeypatch.setattr(framed, "MOST_PACKED", 1_000)
    frame, table = engine.frame(ids), Table(ids)
    assert shown(frame.weighted(["y", "c"])) == shown(collapsed(table, ["y", "c"]))
    assert frame.counts("c") == nbcfast.count(table, "c")


def test_values_that_are_many_are_counted_one_column_at_a_time(engine):
    n_rows = 12_000
    rows = pa.table(
        {"x": list(range(n_rows)), "y": [0, 1] * (n_rows // 2), "c": ["u", "v", "v"] * (n_rows // 3)}
    )
    assert engine.frame(rows).counts("c") == nbcfast.count(Table(rows), "c")
    with pytest.raises(ValueError, match=r"column 'x' has (about )?1[\d,]+ values, expected at most 100"):
        nbcfast.count(engine.frame(rows), "c", max_values=100)


LABELS = {
    "texts": ["no", "yes"],
    "empty text and null": ["", None],
    "bools": [True, False],
    "bools and null": [False, True, None],
    "integers": [-1, 2**62 + 1],
    "floats": [0.0, -0.0, float("nan"), None],
    "many": list("abcdefgh"),
}


@pytest.mark.parametrize("which", LABELS)
def test_classes_of_every_kind(engine, which):
    rng = np.random.default_rng(3)
    classes = pa.array(LABELS[which]).take(pa.array(rng.integers(0, len(LABELS[which]), 500)))
    rows = wide(4, 500).set_column(4, "c", classes).append_column("t", pa.array(["x", "y", None, ""] * 125))
    assert engine.frame(rows).counts("c") == nbcfast.count(Table(rows), "c")
    domains = {"c": nbcfast.count(Table(rows), "c").classes, "x0": [2, 1, 0]}
    declared = nbcfast.count(Table(rows, domains), "c")
    assert engine.frame(rows, domains=domains).counts("c") == declared


@pytest.mark.parametrize("late", [["v", "w"], ["v", None], ["w"], [None], ["v", "w", "x", None]])
def test_classes_that_the_first_rows_have_not(engine, late):
    first, rest = 10_000, 600
    classes = ["u", "v"] * (first // 2) + [late[place % len(late)] for place in range(rest)]
    rows = pa.table(
        {
            "a": ["x", "y", None, "z"] * ((first + rest) // 4),
            "b": [place % 7 for place in range(first + rest)],
            "c": classes,
        }
    )
    expected = nbcfast.count(Table(rows), "c")
    assert engine.frame(rows).counts("c") == expected
    exactly = engine.frame(rows, most_rows=7 * len(expected.classes)).counts("c")
    assert exactly == expected
    with pytest.raises(
        ValueError, match=r"most_rows: the columns '[ab]', 'c' have more than 7 distinct rows"
    ):
        engine.frame(rows, most_rows=7).counts("c")


def test_classes_in_their_precedence_and_threads_and_progress(engine):
    rows = pa.table({"c": ["u", "v", "u"], "a": [1, 2, 2], "b": ["x", None, "y"]})
    frame, table, steps = engine.frame(rows), Table(rows), []
    found = nbcfast.count(
        frame, "c", classes=iter(["v", "w", "u"]), threads=2, progress=lambda *step: steps.append(step)
    )
    assert found == nbcfast.count(table, "c", classes=["v", "w", "u"])
    assert found.classes == ("v", "w", "u")
    assert steps == [(3, 3)]
    with pytest.raises(ValueError, match="classes must name every label of 'c', 'v' is missing"):
        nbcfast.count(frame, "c", classes=["u"])


@pytest.mark.parametrize("names", [["x"], ["x", "c"]])
def test_most_rows(engine, ids, names):
    limit = 2_000
    frame = engine.frame(ids, most_rows=limit)
    shown_names = ", ".join(map(repr, names))
    with pytest.raises(
        ValueError, match=f"most_rows: the columns {shown_names} have more than 2000 distinct rows"
    ):
        frame.weighted(names)
    with pytest.raises(
        ValueError, match=r"most_rows: the columns 'y' have more than .* write Parquet and give its path"
    ):
        frame.tables([["c"], ["y"]])
    with pytest.raises(ValueError, match=r"most_rows: the columns '[xy]', 'c' have more than"):
        frame.counts("c")
    assert frame.weighted(["c"]).n_rows == 2
    exactly = engine.frame(ids, most_rows=5_000)
    assert exactly.weighted(["x"]).n_rows == 5_000
    with pytest.raises(ValueError, match="most_rows: the columns 'x' have more than 4999 distinct rows"):
        engine.frame(ids, most_rows=4_999).weighted(["x"])


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_most_rows_of_one_partition_of_dask(engine, ids):
    frame = Frame(engine.native(ids, [0, ids.num_rows]), most_rows=100)
    with pytest.raises(ValueError, match="most_rows: the columns 'x' have more than 100 distinct rows"):
        frame.weighted(["x"])


@pytest.mark.parametrize("most", [2**31, 2**63 - 1, 2**64, 10**30])
def test_any_number_of_rows_may_be_allowed(engine, most):
    rows = wide(70, 20)
    frame, table = engine.frame(rows, most_rows=most), Table(rows)
    assert shown(frame.weighted(["x0", "c"])) == shown(collapsed(table, ["x0", "c"]))
    assert list(map(shown, frame.tables([["x0"], ["c"]]))) == [
        shown(collapsed(table, [name])) for name in ("x0", "c")
    ]


@pytest.mark.parametrize(
    ("most", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_most_rows_is_a_number_of_rows(engine, most, error):
    with pytest.raises(error, match="most_rows must be "):
        engine.frame(wide(1), most_rows=most)


def far_too_many(engine, n_rows=100_000):
    """A frame with a number for each row; of an Arrow table DuckDB does not read the rows twice."""
    if engine.name == "duckdb":
        rows = f"SELECT range AS x, range % 2 AS y, 'u' AS c FROM range({n_rows})"
        return Frame(pytest.importorskip("duckdb").sql(rows))
    return engine.frame(
        pa.table({"x": list(range(n_rows)), "y": [0, 1] * (n_rows // 2), "c": ["u"] * n_rows})
    )


def test_a_column_of_far_too_many_values_is_refused_before_it_is_fetched(engine, monkeypatch):
    if engine.name == "dask":
        pytest.skip("values of its parts would have to be put together to be counted")
    frame = far_too_many(engine)
    monkeypatch.setattr(Frame, "_fetched", None)  # to be called would be another error
    with pytest.raises(
        ValueError, match=r"column 'x' has about [\d,]+ values, expected at most [\d,]+: leave"
    ):
        nbcfast.count(frame, "c")
