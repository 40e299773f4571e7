"""Partitions that differ from one another, and rows that change between two queries."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nbcfast
from nbcfast import Table, concat
from nbcfast.frames import Frame, engines, spark_rows


@pytest.fixture
def dask_of(engine):
    """A frame of these partitions, each a mapping of column names to values of Python."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    def frame(*parts, dtype=object):
        made = [pd.DataFrame({name: pd.Series(part[name], dtype=dtype) for name in part}) for part in parts]
        return Frame(dd.from_map(lambda part: part, made, meta=made[0].iloc[:0]))

    # Else Dask makes texts of all objects, before anybody sees that they are numbers.
    with dask.config.set({"dataframe.convert-string": False}):
        yield frame


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_ints_in_one_part_and_floats_in_another_are_floats(dask_of):
    parts = {"x": [1, 2, 2], "c": ["u", "v", "v"]}, {"x": [2.0, 0.5, None], "c": ["u", "u", "v"]}
    expected = concat([Table(part) for part in parts])
    found = dask_of(*parts).weighted(["x"])
    assert [repr(value) for value in found.domain("x")] == ["0.5", "1.0", "2.0", "None"]
    assert found == expected.select(["x"]).collapse()
    assert dask_of(*parts, dtype=None).weighted(["x"]) == found  # of int64, says Dask
    assert dask_of(*parts).counts("c") == nbcfast.count(expected, "c")


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        ([1, 2], ["a", "b"], "int and text"),
        ([True, False], [1, 2], "bool and int"),
        ([0.5], ["a"], "float and text"),
    ],
)
@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_parts_of_other_kinds_are_refused_by_the_name_of_the_column(dask_of, one, other, kinds):
    frame = dask_of({"a.b": one}, {"a.b": other})
    with pytest.raises(TypeError, match=f"column 'a.b': expected values of one kind, got {kinds}"):
        frame.weighted(["a.b"])
    mixed = {"a.b": [*one, *other], "c": ["u", "v"] * len(one), "d": ["u"] * len(one + other)}
    with pytest.raises(ValueError, match=r"column a\.b") as raised:  # as of a frame of pandas in memory
        dask_of(mixed).counts("c")
    with pytest.raises(ValueError, match=r"column a\.b") as expected:
        nbcfast.count(dask_of(mixed).native.compute(), "c")
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_a_part_of_nulls_and_one_without_rows(dask_of):
    parts = {"x": [None, None], "c": ["u", "v"]}, {"x": [], "c": []}, {"x": ["a", None], "c": ["u", None]}
    expected = Table({name: [value for part in parts for value in part[name]] for name in ("x", "c")})
    assert dask_of(*parts).weighted() == expected.collapse()
    assert dask_of(*parts).counts("c") == nbcfast.count(expected, "c")


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_values_of_objects_that_are_no_values(dask_of):
    for value in (b"a", {"a": 1}, [1], object()):
        with pytest.raises((TypeError, ValueError), match=r"column '?x"):
            dask_of({"x": [value, None]}).weighted(["x"])


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_dates_in_objects(dask_of):
    parts = [{"x": [datetime.date(2024, 2, 29), None]}, {"x": [datetime.date(2024, 2, 29)]}]
    found = dask_of(*parts).weighted(["x"])
    assert (found.domain("x"), found.weights.tolist()) == (("2024-02-29", None), [2, 1])


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_categories_in_dask(dask_of):
    import dask.dataframe as dd
    import pandas as pd

    whole = pd.DataFrame({"x": pd.Categorical(["b", "a", None, "b"], ["z", "b", "a"]), "c": list("uvuv")})
    frame = Frame(dd.from_pandas(whole, npartitions=2, sort=False))
    assert frame.weighted() == Table(whole).collapse()
    assert frame.weighted(["x"]).domain("x") == ("a", "b", None)
    numbers = whole.assign(x=pd.Categorical([2, 1, None, 2]))
    assert Frame(dd.from_pandas(numbers, npartitions=2)).counts("c") == nbcfast.count(numbers, "c")


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_an_index_of_pandas_is_no_column(dask_of):
    import dask.dataframe as dd
    import pandas as pd

    whole = pd.DataFrame({"x": [1, 2, 2]}, index=pd.Index([7, 8, 8], name="who"))
    frame = Frame(dd.from_pandas(whole, npartitions=2))
    assert frame.names == ("x",)
    assert frame.weighted() == Table({"x": [1, 2, 2]}).collapse()


def files(folder, *parts):
    for place, part in enumerate(parts):
        pq.write_table(pa.table(part), folder / f"part-{place}.parquet")
    return folder


REFUSES_FLOATS = {
    "polars": "data type mismatch for column x",
    "polars-lazy": "data type mismatch for column x",
    "spark": r"(?s)[Cc]olumn.*\[x\]",
}
REFUSES_TEXTS = {**REFUSES_FLOATS, "dask": "column 'x': expected values of one kind, got int and text"}


def test_files_of_ints_and_of_floats(engine, tmp_path):
    """The engine takes all for floats, or refuses: nothing is cut off."""
    folder = files(tmp_path, {"x": [1, 2, 2]}, {"x": [0.5, 2.0, 0.5]})
    numbers = Table({"x": [1.0, 2.0, 2.0, 0.5, 2.0, 0.5]}).collapse()
    if engine.name in REFUSES_FLOATS:
        with pytest.raises(Exception, match=REFUSES_FLOATS[engine.name]):
            frame_of_files(engine, folder).weighted(["x"])
    else:
        assert frame_of_files(engine, folder).weighted(["x"]) == numbers


def test_files_of_ints_and_of_texts(engine, tmp_path):
    folder = files(tmp_path, {"x": [1, 2]}, {"x": ["a", "b"]})
    if engine.name in ("duckdb", "ibis"):
        # The column is of texts in the relation already, and in memory as well.
        frame = frame_of_files(engine, folder)
        assert frame.weighted().domain("x") == Table(arrow_of(frame)).domain("x") == ("1", "2", "a", "b")
        return
    with pytest.raises(Exception, match=REFUSES_TEXTS[engine.name]):  # of the engine's own kinds
        frame_of_files(engine, folder).weighted(["x"])


def arrow_of(frame):
    native = frame.native
    return native.to_pyarrow() if hasattr(native, "to_pyarrow") else pa.RecordBatchReader.from_stream(native)


def frame_of_files(engine, folder):
    pattern = str(folder / "*.parquet")
    if engine.name == "duckdb":
        return Frame(engine.connection.read_parquet(pattern, union_by_name=True))
    if engine.name == "ibis":
        return Frame(engine.connection.read_parquet(pattern, union_by_name=True))
    if engine.name.startswith("polars"):
        import polars as pl

        frame = pl.scan_parquet(pattern)
        return Frame(frame.collect() if engine.name == "polars" else frame)
    if engine.name == "dask":
        import dask.dataframe as dd

        return Frame(dd.read_parquet(sorted(map(str, folder.glob("*.parquet")))))
    return Frame(engine.session.read.parquet(str(folder)))


ATTRIBUTES = [f"x{place}" for place in range(70)]


def wide(n_rows):
    return pa.table(
        {**{name: [place % 3 for place in range(n_rows)] for name in ATTRIBUTES}, "c": ["u"] * n_rows}
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark", "ibis"], indirect=True)
def test_rows_that_come_between_two_queries_are_noticed(engine, monkeypatch):
    """More than 60 columns are several queries: rows are added when the first of them was answered."""
    frame = changing_frame(engine, monkeypatch)
    message = (
        f"{engine.kind} has changed while it was counted: two answers are of other rows.* Count a table that"
    )
    with pytest.raises(ValueError, match=message):
        frame.counts("c")


def changing_frame(engine, monkeypatch):
    """A frame whose rows are others in each query, or when the first of two was answered."""
    half = "SELECT * FROM changing WHERE random() < 0.5"
    if engine.name == "duckdb":
        engine.connection.register("changing", wide(1_000))
        return Frame(engine.connection.sql(half))
    if engine.name == "ibis":
        engine.connection.con.register("changing", wide(1_000))
        engine.connection.con.execute(f"CREATE OR REPLACE VIEW half AS {half}")
        return Frame(engine.connection.table("half"))
    monkeypatch.setattr(engines, "TOGETHER", 6)  # columns of a query: wide ones take Spark half a minute
    path, rows = engine.new_path(), wide(30).select([*ATTRIBUTES[:9], "c"]).to_pandas()
    rows.to_csv(path, index=False)
    native = engine.session.read.csv(str(path), header=True)
    to_arrow = spark_rows.to_arrow

    def answered(query):
        found = to_arrow(query)
        if (
            "sets" in found.column_names
        ):  # a group of columns was counted: the file is replaced by one as long
            rows.assign(c=["u"] * 29 + ["v"]).to_csv(path, index=False)
        return found

    monkeypatch.setattr(spark_rows, "to_arrow", answered)
    return Frame(native)


DRAWN = [
    "SELECT * FROM drawn WHERE random() < 0.5",
    "SELECT * EXCLUDE r FROM (SELECT *, random() + i AS r FROM drawn) WHERE r < i + 0.5",
    "SELECT * FROM drawn TABLESAMPLE SYSTEM (30%)",
    "SELECT * FROM drawn USING SAMPLE 30%",
]


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize("query", DRAWN)
def test_all_answers_of_duckdb_are_of_one_drawing(engine, query):
    """Two equal columns: in one statement, too, each SELECT would draw rows of its own."""
    engine.connection.execute(
        "CREATE OR REPLACE TABLE drawn AS "
        "SELECT range AS i, range // 2048 % 2 AS a, range // 2048 % 2 AS b FROM range(40 * 2048)"
    )
    for _ in range(8):
        one, other = Frame(engine.connection.sql(query)).tables([["a"], ["b"]])
        assert one.weights.tolist() == other.weights.tolist()


def of_coins(rows):
    import polars as pl

    rng = np.random.default_rng()
    return {
        "shuffle": rows.filter(pl.int_range(pl.len()).shuffle() < 500),
        "sample": rows.select(pl.struct("a", "b").sample(fraction=0.5)).unnest("a"),
        "udf": rows.filter(
            pl.col("a").map_batches(lambda it: pl.Series(rng.random(len(it)) < 0.5), return_dtype=pl.Boolean)
        ),
        "python": rows.map_batches(lambda it: it.sample(500)),
    }


@pytest.mark.parametrize("engine", ["polars-lazy"], indirect=True)
@pytest.mark.parametrize("way", ["shuffle", "sample", "udf", "python"])
def test_all_answers_of_polars_are_of_one_drawing(engine, way):
    import polars as pl

    frame = of_coins(pl.LazyFrame({"a": [0, 1] * 500, "b": [0, 1] * 500}))[way]
    for _ in range(8):
        one, other = Frame(frame).tables([["a"], ["b"]])
        assert one.weights.tolist() == other.weights.tolist()


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize(
    ("after", "name"),
    [
        ("2 AS b, 1 AS a", "a"),
        ("1 AS a, 2.5::DOUBLE AS b", "b"),
        ("1 AS a, 2 AS b, 3 AS d", "d"),
        ("1 AS a, 2 AS B", "b"),
    ],
)
def test_columns_of_duckdb_that_have_changed_are_refused(engine, after, name):
    engine.connection.execute("CREATE OR REPLACE TABLE replaced AS SELECT 1 AS a, 2 AS b")
    frame = Frame(engine.connection.table("replaced"))
    assert frame.weighted(["a"]).domain("a") == (1,)
    engine.connection.execute(f"CREATE OR REPLACE TABLE replaced AS SELECT {after}")
    message = (
        rf"^column '{name}': the columns of a relation of DuckDB have changed since .*: expected .*, got"
    )
    with pytest.raises(ValueError, match=message):
        frame.weighted(["a"])


@pytest.mark.parametrize("engine", ["polars-lazy"], indirect=True)
def test_rows_of_python_in_polars_are_not_looked_at_before_they_are_counted(engine):
    """A generator may give each row once: what was looked at would be missing."""
    import polars as pl
    from polars.io.plugins import register_io_source

    part = pl.DataFrame({"a": [0, 1] * 5_000, "b": [0, 1] * 5_000, "c": ["x"] * 10_000})
    parts = iter([part] * 10)

    def source(with_columns, predicate, n_rows, batch_size):
        for rows in parts:
            yield rows if with_columns is None else rows.select(with_columns)

    frame = Frame(register_io_source(source, schema=part.schema))
    with pytest.raises(ValueError, match="a frame of Polars has changed while it was counted"):
        frame.counts("c")


def test_ibis_draws_no_rows_twice():
    ibis = pytest.importorskip("ibis")
    rows = ibis.memtable(pa.table({"a": range(40), "b": range(40), "c": ["x", "y"] * 20}))
    for drawn in (rows.filter(ibis.random() < 0.5), rows.sample(0.5), rows.mutate(a=ibis.random())):
        frame = Frame(drawn)
        assert frame.weighted(["b"]).n_rows <= 40  # of one query
        with pytest.raises(
            ValueError, match="draws rows at random, and each of several queries would draw others"
        ):
            frame.tables([["a"], ["b"]])
        with pytest.raises(ValueError, match="draws rows at random"):
            nbcfast.skyline.statistics(frame, ["a"], "c", [0], tasks=2)
