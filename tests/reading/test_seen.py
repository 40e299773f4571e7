"""What columns hold, seen batch by batch: the same whatever the batches are, and as Table has it."""

import csv
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast._reading import seen as module
from nbcfast._reading.csv_files import CsvForm
from nbcfast._reading.seen import seen
from nbcfast._reading.source import File, InMemory
from nbcfast.domains.missing import like_nulls

pytest.importorskip("pyarrow")

NUMBERS = ["1", "2", "-7", "16.00", "0.5", "1.0", "007", "nan", "inf", "1e3"]
LARGE = ["9007199254740993", "9223372036854775808"]
FIELDS = st.sampled_from(["", "?", " ?", "NA", "2020-01-31", "1999-12-01", "a", *NUMBERS, *LARGE])
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def column_of(path, block=None, **options):
    (column,) = seen(source(path, block), ["x"], **options)
    return column


def source(path, block=None):
    file = File(path, "FILE", CsvForm.of(str(path)))
    if block is not None:
        file._file.block = block
    return file


@ONE_FOLDER
@example(["1.0", "1.0", "9223372036854775808", "1"])
@example(["-7", "0.5", "9223372036854775808"])  # of which the first two alone are floats
@example(
    ["", "", "", "0.5", "9007199254740993"]
)  # each by itself a number, and together none that floats hold
@given(st.lists(FIELDS, min_size=1, max_size=40))
def test_it_is_what_a_table_holds_whatever_the_batches(tmp_path, fields):
    path = tmp_path / "a.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *([field, "-"] for field in fields)])
    column = column_of(path)
    assert column_of(path, 40) == column
    table = nbcfast.read_csv(path)
    domain = table.domain("x")
    kinds = {type(value).__name__ for value in domain if value is not None}
    kind = {"int": "int", "float": "float", "str": "text"}.get(*kinds) if kinds else "null"
    assert column.kind == kind or (column.kind, kind) == ("date", "text")
    counts = Counter(domain[code] for code in table.codes("x").tolist())
    assert column.nulls == counts.pop(None, 0)
    assert dict(zip(column.values, column.counts, strict=True)) == counts
    assert column.rows == len(fields)
    assert set(column.missing_texts) <= set(like_nulls(fields))
    if kind in ("int", "float"):
        assert (column.low, column.high) == (min(counts), max(counts))
        (other,) = seen(InMemory(table.select(["x"])))
        assert (other.kind, other.low, other.high, other.nulls) == (kind, *column_ends(column), column.nulls)


def column_ends(column):
    return column.low, column.high


@pytest.mark.parametrize(
    ("fields", "kind", "low", "high", "numbers"),
    [
        (["17", "90", "?"], "text", 17, 90, True),
        (["2.50", "?", "10.25", "3"], "text", "2.50", "10.25", True),
        (["0.5", "3.0"], "float", 0.5, 3.0, True),
        (["2020-02-01", "12020-01-01", "2019-12-31"], "date", "2019-12-31", "12020-01-01", False),
        (["PT90S", "PT100S", "-PT5S"], "duration", "-PT5S", "PT100S", False),
        (["2020-02-01", "?"], "text", "2020-02-01", "2020-02-01", False),
        (["a", "b", "?"], "text", None, None, False),
        (["?", "NA"], "text", None, None, False),
        (["", ""], "null", None, None, False),
    ],
)
def test_kinds_and_ranges(tmp_path, fields, kind, low, high, numbers):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{field},1\n" for field in fields))
    for block in (None, 16):
        column = column_of(path, block)
        assert (column.kind, column.low, column.high, column.numbers) == (kind, low, high, numbers)


def test_durations_of_a_frame_come_in_the_order_of_time():
    pa = pytest.importorskip("pyarrow")
    table = nbcfast.Table(pa.table({"x": pa.array([100, 90, None, 9, -5], pa.duration("s"))}))
    assert table.domain("x") == ("-PT5S", "PT9S", "PT90S", "PT100S", None)
    (column,) = seen(InMemory(table))
    assert (column.kind, column.low, column.high) == ("duration", "-PT5S", "PT100S")


def test_a_column_may_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,1\n2,1\n")
    assert column_of(path, as_text=["x"]).kind == "text"


def test_values_beyond_the_most_are_counted_in_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 3)
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{row % 7},1\n" for row in range(70)) + ",1\n")
    for block in (None, 16):
        column = column_of(path, block)
        assert (column.more, column.n_values, column.nulls) == (True, 4, 1)
        assert dict(zip(column.values, column.counts, strict=True)) == {0: 10, 1: 10, 2: 10}
        assert (column.kind, column.low, column.high) == ("int", 0, 6)


def test_the_most_frequent_come_first(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{field},1\n" for field in "abbcccdddd"))
    assert column_of(path).first == [("d", 4), ("c", 3), ("b", 2), ("a", 1)]


def test_a_text_that_most_rows_have_is_a_value(tmp_path):
    path = tmp_path / "a.csv"
    for fields, expected in (
        ("--+", {}),
        ("-ab", {"-": 1}),
        ("--a", {}),
        ("--1", {"-": 2}),
        ("?aa", {"?": 1}),
    ):
        path.write_text("x,y\n" + "".join(f"{field},1\n" for field in fields))
        assert column_of(path).missing_texts == expected
