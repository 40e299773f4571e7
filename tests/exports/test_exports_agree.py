"""What is exported decides as the release does: in databases, onnxruntime and Python."""

import math

import export_cases as cases
import numpy as np
import pytest

import nbcfast
from nbcfast import Interval, canonical
from nbcfast.exports import points_of, tuples_to_compare
from nbcfast.exports.formats import FORMATS
from nbcfast.exports.loaded_sql import query_decides
from nbcfast.published.value_texts import label_value

pytest.importorskip("pyarrow")
pytest.importorskip("onnx")

SEEDS = range(20)

# What loads the others is slow to start, and is asked about many releases at once in their own tests.
QUICK = {ending: of for ending, of in FORMATS.items() if ending not in (".pmml", ".xlsx")}


@pytest.fixture(scope="module", params=SEEDS)
def made(request):
    """A release, its points, and what it decides by its counts on its whole domain."""
    release = cases.release(request.param)
    points = points_of(release)
    codes = cases.all_codes(points)
    return release, points, codes, cases.expected(release, points, codes)


def test_every_format_decides_every_tuple_as_the_release(made):
    release, points, codes, expected = made
    for ending, of in QUICK.items():
        about = cases.about(release, "input" if ending == ".sql" else None)
        data = of.content(points, about)
        assert data == of.content(points, about)
        assert about.sha256.encode() in data
        if ending == ".sql":
            for database in ("duckdb", "sqlite3"):
                assert query_decides(data, points, about, codes, database).tolist() == expected.tolist()
        else:
            assert of.decides(data, points, about, codes).tolist() == expected.tolist(), ending


def test_what_is_compared_is_the_domain_and_what_the_release_decides(made):
    _, points, codes, expected = made
    listed, classes = tuples_to_compare(points)
    assert (listed.tolist(), classes.tolist()) == (codes.tolist(), expected.tolist())


def test_unknown_values_get_no_class(made):
    release, points, _, _ = made
    rows = cases.unknown_rows(points)
    about = cases.about(release, "input")
    query = FORMATS[".sql"].content(points, about)
    for database in ("duckdb", "sqlite3"):
        assert cases.by_database(database, query, points, rows) == [None] * len(rows)
    program = FORMATS[".py"].content(points, about)
    assert cases.by_python(program, points, rows) == [None] * len(rows)
    # ONNX has no null: NaN and the empty text stand for it, where they stand for nothing else.
    model = FORMATS[".onnx"].content(points, about)
    rows = [row for row in rows if all(map(cases.in_onnx, row, points.attributes))]
    assert rows == [] or cases.by_onnx(model, points, rows) == [None] * len(rows)


BINNED = [Interval(None, "0.1"), Interval("0.1", "0.3"), Interval("1/3", 7), Interval(7, None)]


@pytest.fixture(scope="module")
def binned():
    """A release in which each bin has a class of its own, its points and its files."""
    counts = np.full((4, 4), 1) + 9 * np.eye(4, dtype=int)
    private = nbcfast.Viewset(counts.sum(axis=0), {"x": counts}, classes=list("abcd"), domains={"x": BINNED})
    release = canonical.release(private, 4)
    points = points_of(release)
    return points, {ending: of.content(points, cases.about(release, "input")) for ending, of in QUICK.items()}


def test_raw_numbers_at_the_edges_of_bins(binned):
    points, files = binned
    edges = [0.1, 0.3, 1 / 3, 7.0]
    numbers = [near for edge in edges for near in (math.nextafter(edge, -9), edge, math.nextafter(edge, 9))]
    numbers += [0.0, -0.0, -5, 7, 1e300, -1e300, 0.30000000000000004, 0.33333333333333337]
    expected = [
        next((label for label, bin in zip("abcd", BINNED, strict=True) if x in bin), None) for x in numbers
    ]
    assert set(expected) == {*"abcd", None}
    rows = [[float(x)] for x in numbers]
    assert cases.by_database("duckdb", files[".sql"], points, rows) == expected
    assert cases.by_database("sqlite3", files[".sql"], points, rows) == expected
    assert cases.by_onnx(files[".onnx"], points, rows) == expected
    assert cases.by_python(files[".py"], points, [[x] for x in numbers]) == expected


def test_infinity_and_what_is_no_number(binned):
    """NaN is above all numbers for DuckDB, and a text for SQLite: neither is in an open bin; infinity is."""
    points, files = binned
    rows = [[math.nan], [None], [math.inf], [-math.inf]]
    for database in ("duckdb", "sqlite3"):
        assert cases.by_database(database, files[".sql"], points, rows) == [None, None, "d", "a"]
    for run, ending in ((cases.by_onnx, ".onnx"), (cases.by_python, ".py")):
        assert run(files[ending], points, rows) == [None, None, "d", "a"]
    texts = [["0.2"], ["abc"], [""], ["8"]]
    assert cases.by_database("sqlite3", files[".sql"], points, texts, ["TEXT"]) == [None] * 4
    assert cases.by_database("sqlite3", files[".sql"], points, texts[1:3], ["REAL"]) == [None] * 2
    with pytest.raises(Exception, match=r"\+\(VARCHAR\)"):
        cases.by_database("duckdb", files[".sql"], points, texts, ["VARCHAR"])
    assert cases.by_python(files[".py"], points, [["8"], [True], [b"8"]]) == [None] * 3


@pytest.mark.parametrize("of", ["FLOAT", "DECIMAL(12, 3)", "BIGINT", "UBIGINT", "TINYINT"])
def test_other_columns_of_numbers(binned, of):
    points, files = binned
    rows = [[0], [7], [8]]
    assert cases.by_database("duckdb", files[".sql"], points, rows, [of]) == ["a", "d", "d"]


def test_of_equal_totals_the_later_class_wins():
    private = nbcfast.Viewset([6, 6, 6], {"x": [[2, 2, 2], [3, 3, 1], [1, 1, 3]]}, classes=["a", "b", "c"])
    release = canonical.release(private, 4)
    points = points_of(release)
    codes = cases.all_codes(points)
    assert cases.expected(release, points, codes).tolist() == [2, 1, 2]
    for of in QUICK.values():
        about = cases.about(release)
        assert of.decides(of.content(points, about), points, about, codes).tolist() == [2, 1, 2]


def test_values_of_upper_and_lower_case_are_two():
    private = nbcfast.Viewset(
        [5, 5], {"sex": [[4, 1], [1, 4]]}, classes=["no", "yes"], domains={"sex": ["Male", "male"]}
    )
    release = canonical.release(private, 4)
    points, rows = points_of(release), [["Male"], ["male"], ["MALE"], ["male "]]
    query = FORMATS[".sql"].content(points, cases.about(release, "input"))
    assert b"collation" in query
    for database in ("duckdb", "sqlite3"):
        assert cases.by_database(database, query, points, rows) == ["no", "yes", None, None]


@pytest.mark.parametrize("kind", ["int", "bool", "float", "interval"])
def test_classes_that_are_no_texts(kind):
    labels = {
        "int": [0, 1, 2],
        "bool": [False, True],
        "float": [0.5, 1.5],
        "interval": [Interval(0, 9), Interval(9, 20)],
    }[kind]
    n = len(labels)
    counts = np.full((n, n), 1) + 5 * np.eye(n, dtype=int)
    release = canonical.release(nbcfast.Viewset(counts.sum(axis=0), {"x": counts}, classes=labels), 4)
    points = points_of(release)
    rows = [[x] for x in range(n)]
    plain = [label_value(label) for label in labels]
    for database in ("duckdb", "sqlite3"):
        query = FORMATS[".sql"].content(points, cases.about(release, "input"))
        assert cases.by_database(database, query, points, rows) == plain
    assert cases.by_python(FORMATS[".py"].content(points, cases.about(release)), points, rows) == plain
    codes = cases.all_codes(points)
    for of in QUICK.values():
        about = cases.about(release)
        assert of.decides(of.content(points, about), points, about, codes).tolist() == list(range(n))


def test_one_class():
    release = canonical.release(nbcfast.Viewset([4], {"x": [[1], [3]]}, classes=["only"]), 4)
    points = points_of(release)
    query = FORMATS[".sql"].content(points, cases.about(release, "input"))
    assert cases.by_database("duckdb", query, points, [[0], [1], [2], [None]]) == ["only", "only", None, None]
    for of in QUICK.values():
        about = cases.about(release)
        assert of.decides(of.content(points, about), points, about, cases.all_codes(points)).tolist() == [
            0,
            0,
        ]
