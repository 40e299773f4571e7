"""What has its rows elsewhere is refused by a sentence that names Frame; what gives rows is taken as ever."""

import sys
import types
import warnings

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import nbcfast
from nbcfast import Table, skyline
from nbcfast.frames import Frame
from nbcfast.table.elsewhere import engine_of

ROWS = pa.table({"a": [1, 2, 2, None], "b": ["x", "y", "y", "x"], "c": ["u", "v", "v", "u"]})
VERBS = {
    "count": lambda table: nbcfast.count(table, "c"),
    "Table": Table,
    "group": lambda table: skyline.group(table, ["a"], "c"),
    "anonymize": lambda table: skyline.anonymize(table, ["a"], "c", k=1),
    "publish": lambda table: nbcfast.publish(table, "c", amplification=19),
    "disclose": lambda table: nbcfast.templates.disclose(
        table, [nbcfast.templates.Template(("b",), ("c", "u"), "3/4")], target="c"
    ),
    "disguise": lambda table: nbcfast.response.disguise(
        table, nbcfast.response.Scheme(theta=0.8, groups=[["b"]])
    ),
    "risk": lambda table: nbcfast.associations.risk(table, [("a", "b"), ("b", "c")], "a", "c"),
}
FAR = {
    "dask": "a frame of Dask, whose rows are in partitions that may be on many machines",
    "polars-lazy": "a LazyFrame of Polars, which has no rows before it is collected",
    "spark": "a frame of PySpark, of which all rows would be pulled through the driver",
}
HINT = r": nbcfast.frames.Frame\(..\) has the engine count, and fetches distinct rows alone"


@pytest.mark.parametrize("engine", list(FAR), indirect=True)
@pytest.mark.parametrize("verb", VERBS)
def test_far_rows_are_refused_where_a_table_is_taken(engine, verb):
    with pytest.raises(TypeError, match=f"expected rows in this process, got {FAR[engine.name]}{HINT}"):
        VERBS[verb](engine.native(ROWS))


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
def test_pandas_on_spark_is_refused_too(engine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            native = engine.native(ROWS).pandas_api()
        except Exception as error:  # of a pandas that this Spark does not take
            pytest.skip(f"no pandas on Spark here: {type(error).__name__}")
    with pytest.raises(TypeError, match=f"got a frame of pandas on Spark, of which all rows .*{HINT}"):
        nbcfast.count(native, "c")
    with pytest.raises(TypeError, match=r"native: expected .*: frame.to_spark\(\) gives one of PySpark"):
        Frame(native)


@pytest.mark.parametrize(
    ("module", "name", "engine_name"),
    [
        ("pyspark.sql.dataframe", "DataFrame", "PySpark"),
        ("pyspark.sql.connect.dataframe", "DataFrame", "PySpark"),
        ("pyspark.sql.classic.dataframe", "DataFrame", "PySpark"),
        ("pyspark.pandas.frame", "DataFrame", "pandas on Spark"),
        ("dask.dataframe.dask_expr._collection", "DataFrame", "Dask"),
        ("dask_expr._collection", "DataFrame", "Dask"),
        ("polars.lazyframe.frame", "LazyFrame", "Polars, lazy"),
        ("ibis.expr.types.relations", "Table", "ibis"),
        ("_duckdb", "DuckDBPyRelation", "DuckDB"),
        ("pysparkling", "DataFrame", None),
        ("mine", "DataFrame", None),
    ],
)
def test_engines_are_known_by_module_and_name_and_are_not_imported(module, name, engine_name):
    before = set(sys.modules)
    cls = types.new_class(name, exec_body=lambda body: body.update(__module__=module))
    derived = type("Mine", (cls,), {})
    assert (engine_of(cls()), engine_of(derived())) == (engine_name, engine_name)
    assert set(sys.modules) == before


@pytest.mark.parametrize("engine", ["duckdb", "polars", "ibis"], indirect=True)
def test_a_frame_is_read_as_one_where_it_looks_like_a_stream_to_others(engine):
    """DuckDB, ibis and eager frames of Polars give their rows as ever."""
    expected = nbcfast.count(Table(ROWS), "c")
    assert nbcfast.count(engine.native(ROWS), "c") == expected
    assert Table(engine.native(ROWS)) == Table(ROWS)
    assert skyline.group(engine.native(ROWS), ["a"], "c").n_groups == 3


def test_streams_that_worked_still_work(tmp_path):
    expected = nbcfast.count(Table(ROWS), "c")
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path)

    def reader():
        return pa.RecordBatchReader.from_batches(ROWS.schema, ROWS.to_batches(max_chunksize=2))

    for given in (
        ROWS,
        reader(),
        ROWS.to_batches(max_chunksize=1),
        iter(ROWS.to_batches(max_chunksize=3)),
        pyarrow.dataset.dataset(path).scanner().to_reader(),
        pyarrow.dataset.dataset(path).to_batches(),
        str(path),
    ):
        assert nbcfast.count(given, "c") == expected
    assert Table(reader()) == Table(ROWS)


def test_narwhals_works_as_a_stream():
    narwhals = pytest.importorskip("narwhals")
    polars = pytest.importorskip("polars")
    given = narwhals.from_native(polars.from_arrow(ROWS))
    assert nbcfast.count(given, "c") == nbcfast.count(Table(ROWS), "c")
    assert Table(given) == Table(ROWS)


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (Table, r"table: expected rows in this process, got a Frame, .*: frame.weighted\(columns\) gives"),
        (lambda frame: nbcfast.concat([Table(ROWS), frame]), r"tables: .* got a Frame, .*: frame.weighted\("),
        (lambda frame: nbcfast.domains.skeleton(frame, "c"), r"table: .* got a Frame, .*: frame.weighted"),
        (lambda frame: nbcfast.domains.ready_made(frame, "c"), r"table: .* got a Frame, .*: frame.weighted"),
        (lambda frame: nbcfast.compare(frame, frame), r"a: expected a Viewset, got Frame: nbcfast.count\("),
        (
            lambda frame: nbcfast.sklearn.PublishableNBClassifier(4).fit(frame, ["u", "v", "v", "u"]),
            r"X: expected rows, got a nbcfast.frames.Frame, .*: nbcfast.publish\(frame, class_name, \.\.\)",
        ),
    ],
    ids=["Table", "concat", "skeleton", "ready_made", "compare", "sklearn"],
)
@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
def test_where_no_frame_is_taken_the_error_says_what_to_do(engine, verb, words):
    if "X: " in words:
        pytest.importorskip("sklearn")
    with pytest.raises(TypeError, match=words):
        verb(Frame(engine.native(ROWS)))


def test_skeletons_and_menus_are_made_of_tables_alone():
    for made in (nbcfast.domains.skeleton, nbcfast.domains.ready_made):
        with pytest.raises(TypeError, match=r"table: expected a Table, got dict: nbcfast.Table\("):
            made({"a": [1, 2]}, "a")
