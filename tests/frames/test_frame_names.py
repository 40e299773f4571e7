"""Names of columns are compared letter by letter, and each stands for one column."""

import pyarrow as pa
import pytest
from frame_cases import collapsed, shown

import nbcfast
from nbcfast import Table
from nbcfast._core.errors import NoColumnError
from nbcfast.frames import Frame

ROWS = pa.table({"c": ["u", "v", "u"], "Ab": [1, 2, 2], "a.b": ["x", "x", None]})


@pytest.mark.parametrize("name", ["C", "ab", "AB", "a", "b", "c ", "", "a`.`b", "*", "c0", "a.B", 7, None])
def test_a_name_in_another_case_is_no_column(engine, name):
    frame = engine.frame(ROWS)
    with pytest.raises(NoColumnError, match="expected a column"):
        frame.weighted([name])
    with pytest.raises(NoColumnError, match="expected a column"):
        nbcfast.count(frame, name)
    with pytest.raises(NoColumnError, match="expected a column"):
        nbcfast.count(frame, "c", [name])
    with pytest.raises(NoColumnError, match="weights: expected a column"):
        engine.frame(ROWS, weights=name or "none")


@pytest.mark.parametrize("engine", ["duckdb", "polars", "polars-lazy", "dask", "spark"], indirect=True)
def test_names_that_differ_by_their_case_are_two_columns(engine):
    rows = pa.table({"Age": [1, 1, 2], "age": ["x", "y", "y"], "AGE": [True, None, None]})
    frame, table = engine.frame(rows), Table(rows)
    assert frame.names == ("Age", "age", "AGE")
    for names in (["age"], ["AGE", "age"], ["Age"], ["age", "Age", "AGE"]):
        assert shown(frame.weighted(names)) == shown(collapsed(table, names))
    assert frame.counts("age") == nbcfast.count(table, "age")


def test_names_that_queries_use_themselves(engine):
    names = ["n", "least", "present", "rows", "about", "sets", "c1", "c0", "nbcfast_rows", "given", "cleaned"]
    rows = pa.table({name: [place + 1, place % 3 + 1, 1, None] for place, name in enumerate(names)})
    frame, table = engine.frame(rows), Table(rows)
    assert list(map(shown, frame.tables([[name] for name in names]))) == [
        shown(collapsed(table, [name])) for name in names
    ]
    assert frame.counts("sets") == nbcfast.count(table, "sets")
    weighted = engine.frame(rows.slice(0, 3), weights="c1"), Table(rows.slice(0, 3), weights="c1")
    assert shown(weighted[0].weighted(["n", "c0"])) == shown(collapsed(weighted[1], ["n", "c0"]))


def test_what_is_asked_for_is_said_once_and_as_names(engine):
    frame = engine.frame(ROWS)
    with pytest.raises(ValueError, match="columns: expected distinct names, got 'c' twice"):
        frame.weighted(["c", "c"])
    with pytest.raises(ValueError, match="columns: expected at least one name, got none"):
        frame.weighted([])
    with pytest.raises(TypeError, match="columns: expected a sequence of names, got the text 'c'"):
        frame.weighted("c")
    assert frame.tables([]) == []
    assert [table.names for table in frame.tables([["c", "Ab"], ["Ab", "c"]])] == [("c", "Ab"), ("Ab", "c")]


@pytest.mark.parametrize("engine", ["duckdb", "dask", "spark"], indirect=True)
def test_names_that_occur_twice_are_refused(engine):
    """Where an engine has such frames."""
    if engine.name == "spark":
        native = engine.native(ROWS).toDF("x", "y", "x")
    elif engine.name == "duckdb":
        native = engine.connection.sql("SELECT 1 AS x, 2 AS y, 3 AS x")
        if len(set(native.columns)) == 3:
            pytest.skip("this DuckDB gives one of them another name")
    else:
        native = engine.native(ROWS)
        native.columns = ["x", "y", "x"]
    with pytest.raises(ValueError, match="expected distinct column names, got 'x' twice"):
        Frame(native)


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_names_of_dask_that_are_no_text_are_refused(engine):
    native = engine.native(ROWS)
    native.columns = ["x", 7, "y"]
    with pytest.raises(TypeError, match="expected column names of str, got 7 of int"):
        Frame(native)


def test_what_a_frame_says_of_itself(engine):
    frame = engine.frame(ROWS)
    assert repr(frame) == f"Frame({engine.kind}; 3 columns: 'c', 'Ab', 'a.b')"
    wide = engine.frame(pa.table({f"x{place}": [1] for place in range(9)}))
    assert repr(wide).endswith("9 columns: 'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7', ...)")


def test_declared_domains(engine):
    domains = {"c": ["v", "u", "w"], "Ab": [3, 2, 1]}
    frame, table = engine.frame(ROWS, domains=domains), Table(ROWS, domains)
    for names in (["c"], ["Ab", "c"], ["a.b", "Ab"]):
        assert shown(frame.weighted(names)) == shown(collapsed(table, names))
    assert frame.counts("c") == nbcfast.count(table, "c")
    with pytest.raises(ValueError, match=r"column 'Ab'.*2") as raised:
        engine.frame(ROWS, domains={"Ab": [1, 3]}).weighted(["Ab"])
    with pytest.raises(ValueError, match=r"column 'Ab'.*2") as expected:
        Table(ROWS, {"Ab": [1, 3]})
    assert str(raised.value) == str(expected.value)
    with pytest.raises(ValueError, match="'zzz'"):
        engine.frame(ROWS, domains={"zzz": [1]})
