"""Values and columns that a database, or a table read as numbers, takes for others: another class never."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import export_cases as cases
import pytest

import nbcfast
from nbcfast import Viewset, canonical
from nbcfast.exports import About, export, points_of
from nbcfast.exports.calculator import MOST_VALUES
from nbcfast.exports.formats import FORMATS
from nbcfast.published.points_table import PointsTable

ABOUT = About("ab" * 32, "class", "0.1.0", "input")


def of_values(*values, name="x"):
    """Points by which each value has a class of its own."""
    rows = tuple(tuple(int(c == t) for c in range(len(values))) for t in range(len(values)))
    return PointsTable(tuple("abcdef"[: len(values)]), ((name, values, rows),), None, (0,) * len(values))


def decided(database, points, columns, rows):
    """The labels that a database gives rows of columns of these types."""
    return cases.by_database(database, FORMATS[".sql"].content(points, ABOUT), points, rows, columns)


def test_columns_named_true_and_false_are_no_constants():
    counts = {"smoker": [[9, 1], [1, 9]], "false": [[5, 5], [5, 5]]}
    views = Viewset(
        [10, 10], counts, classes=[False, True], domains={"smoker": [False, True], "false": [0, 1]}
    )
    points = points_of(canonical.release(views, 4, class_name="risk"))
    query = FORMATS[".sql"].content(points, ABOUT).decode()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE input (smoker INTEGER, "false" INTEGER, "true" TEXT)')
        rows = [(1, 1, None), (0, 1, None), (1, 0, "x"), (0, 0, "x")]
        connection.executemany("INSERT INTO input VALUES (?, ?, ?)", rows)
        assert [row[-1] for row in connection.execute(query)] == [1, 0, 1, 0]


def test_texts_that_are_equal_as_numbers():
    pytest.importorskip("duckdb")
    points = of_values("1.10", "1.1", "2", "", None)
    rows = [["1.10"], ["1.1"], ["2"], [""], [None], ["1.100"]]
    for database in ("duckdb", "sqlite3"):
        assert decided(database, points, ["VARCHAR"], rows) == ["a", "b", "c", "d", "e", None]
    for kind in ("DOUBLE", "NUMERIC", "INTEGER"):
        numbers = [[1.1], [2], [None]] if kind != "INTEGER" else [[1], [2], [None]]
        assert decided("sqlite3", points, [kind], numbers) == [None, None, "e"]
        with pytest.raises(Exception, match="No function matches"):
            decided("duckdb", points, [kind], numbers)
    with pytest.raises(Exception, match="No function matches"):
        decided("duckdb", of_values("t", "true"), ["BOOLEAN"], [[True]])


@pytest.mark.parametrize("text", ["1.1x", "2 days", "-", ".5", " 1", "True", "t", "INF", "now", "no ", ""])
def test_texts_that_a_database_may_read_otherwise_are_guarded(text):
    assert b" LIKE " in FORMATS[".sql"].content(of_values("high", text), ABOUT)
    assert b" LIKE " not in FORMATS[".sql"].content(of_values("high", f"x{text}"), ABOUT)


def test_a_field_of_pmml_has_a_name():
    with pytest.raises(ValueError, match=r"\.pmml: a field must have a name, got ''"):
        FORMATS[".pmml"].content(of_values(1, 2, name=""), ABOUT)


def test_integers_that_were_rounded_get_no_class():
    pytest.importorskip("duckdb")
    for first in (2**53, 2**24, -(2**53) - 2, 2**62, -(2**24) - 2):
        values = (first, first + 1, first + 2)
        rows = [[value] for value in values]
        for database in ("duckdb", "sqlite3"):
            assert decided(database, of_values(*values), ["BIGINT"], rows) == ["a", "b", "c"]
            if abs(first) >= 2**53:
                assert decided(database, of_values(*values), ["DOUBLE"], rows) == [None] * 3
        assert decided("duckdb", of_values(*values), ["FLOAT"], rows) == [None] * 3
    ends = (-(2**63), -(2**63) + 1, 2**63 - 2, 2**63 - 1)
    for database in ("duckdb", "sqlite3"):
        assert decided(database, of_values(*ends), ["BIGINT"], [[one] for one in ends]) == [*"abcd"]


@pytest.mark.parametrize("value", [2**53, -(2**53)])
def test_onnx_refuses_integers_that_doubles_do_not_tell_apart(value):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=r"attribute 'x' has null, and integers from 2\^53 on"):
        FORMATS[".onnx"].content(of_values(value, None), ABOUT)


def test_a_table_without_a_name_is_refused(tmp_path):
    release = canonical.release(Viewset([5, 5], {"x": [[4, 1], [1, 4]]}), 4)
    with pytest.raises(
        ValueError, match="table must be a name, or a schema and a name with a dot between, got ''"
    ):
        release.export(tmp_path / "a.sql", table="")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("where", ["value", "name", "label", "class name"])
def test_half_a_surrogate_pair_is_refused_in_one_sentence(tmp_path, ending, where):
    half = "a\ud800"
    name, values, labels = "x", ["u", "v"], ["no", "yes"]
    if where == "name":
        name = half
    elif where == "value":
        values = ["u", half]
    elif where == "label":
        labels = [half, "yes"]
    views = Viewset([5, 5], {name: [[4, 1], [1, 4]]}, classes=labels, domains={name: values})
    made = canonical.release(views, 4, class_name=half if where == "class name" else "y")
    with pytest.raises(
        ValueError, match=r"half a surrogate pair cannot be written in UTF-8, got .*'a\\ud800'"
    ):
        made.export(tmp_path / f"a{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_small_or_is_not_written(tmp_path, monkeypatch):
    many = [[1, 2]] * (MOST_VALUES + 1)
    views = Viewset([len(many), 2 * len(many)], {"x": many}, classes=["a", "b"])
    release = nbcfast.safety_transform(views, 400)
    with monkeypatch.context() as within:
        within.setattr("nbcfast.exports.exporting.points_of", None)  # nothing is solved for that
        with pytest.raises(
            ValueError, match=r"\.html files have room for 3,\d+ values at most, and this .* has"
        ):
            export(release, tmp_path / "a.html")
    views = Viewset(
        [800, 800],
        {"x": [[1, 1]] * 800},
        classes=["a", "b"],
        domains={"x": [f"{n:0100}" for n in range(800)]},
    )
    with pytest.raises(ValueError, match=r"the page would have .* bytes, and may have 100,000"):
        export(nbcfast.safety_transform(views, 400), tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


def test_the_program_ends_quietly_when_its_reader_leaves(tmp_path):
    canonical.release(Viewset([5, 5], {"x": [[4, 1], [1, 4]]}), 4).export(tmp_path / "rule.py")
    (tmp_path / "rows.csv").write_text("x\n" + "0\n" * 1000)
    nobody, pipe = os.pipe()
    os.close(nobody)
    with open(tmp_path / "rows.csv") as rows:
        command = [sys.executable, tmp_path / "rule.py"]
        done = subprocess.run(command, stdin=rows, stdout=pipe, stderr=subprocess.PIPE, timeout=60)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (0, b"")
