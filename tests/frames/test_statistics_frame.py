"""`skyline.statistics`: groups are whole in one task, whatever the engine, the values and the tasks."""

import datetime
import decimal
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast import Table, skyline
from nbcfast.frames import Frame
from nbcfast.frames.dask_tasks import hashed
from nbcfast.groups.grouping import group_tasks
from nbcfast.table import Domain

pa = pytest.importorskip("pyarrow")

ENGINES = ["DuckDB", "Polars", "Polars, lazy", "ibis", "Dask", "spark"]
TASKS = [None, 1, 2, 7, 50]
LS = (0, 1, 2)


@pytest.fixture
def native(request):
    """A function that makes a table of an engine of Arrow data."""

    def made(engine, data):
        if engine == "DuckDB":
            return pytest.importorskip("duckdb").from_arrow(data)
        if engine.startswith("Polars"):
            frame = pytest.importorskip("polars").from_arrow(data)
            return frame.lazy() if "lazy" in engine else frame
        if engine == "ibis":
            return pytest.importorskip("ibis").memtable(data)
        if engine == "Dask":
            return dask_frame([data.slice(start, 37) for start in range(0, data.num_rows, 37)])
        spark = request.getfixturevalue("spark")
        return spark_frame(spark, data)

    return made


def dask_frame(parts):
    """A frame of Dask whose partitions are these Arrow tables, as they are: with types of their own."""
    pd, dask = pytest.importorskip("pandas"), pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    frames = [part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts]
    return dd.from_delayed(
        [dask.delayed(frame) for frame in frames], meta=frames[0].head(0), verify_meta=False
    )


def spark_frame(spark, data):
    types = pytest.importorskip("pyspark.sql.pandas.types")
    schema = types.from_arrow_schema(data.schema)
    rows = [tuple(row.values()) for row in data.to_pylist()]
    return spark.createDataFrame(rows, schema).repartition(5)


@pytest.fixture(autouse=True)
def one_thread():
    """Dask's own threads add nothing to what is tested, and its processes would take seconds."""
    try:
        import dask
    except ModuleNotFoundError:
        yield
        return
    with dask.config.set(scheduler="sync"):
        yield


def expected(data, by, ls=LS, **options):
    return skyline.Statistics(ls).update(skyline.group(data, by, "ill", **options))


def people(n_rows=400, seed=3):
    """Rows with nulls, NaN, both zeros, moments with a zone, decimals, days and hard names."""
    rng = np.random.default_rng(seed)
    bmi = rng.integers(0, 4, n_rows).astype(float)
    bmi[bmi == 3] = np.nan
    zeros = rng.integers(0, 2, n_rows).astype(bool) & (bmi == 0)
    bmi[zeros] = -0.0
    day = datetime.datetime(2026, 3, 29, tzinfo=datetime.UTC)
    return pa.table(
        {
            "bmi": pa.array(
                [None if null else x for null, x in zip(rng.integers(0, 5, n_rows) == 0, bmi, strict=True)]
            ),
            'zip.code `x"': pa.array(
                [None if i == 4 else f"é{'' if i == 3 else i}" for i in rng.integers(0, 5, n_rows).tolist()]
            ),
            "fee": pa.array(
                [decimal.Decimal(i) / 4 for i in rng.integers(0, 3, n_rows).tolist()], pa.decimal128(6, 2)
            ),
            "seen": pa.array(
                [day + datetime.timedelta(hours=i) for i in rng.integers(0, 3, n_rows).tolist()],
                pa.timestamp("us", "America/New_York"),
            ),
            "born": pa.array(
                [datetime.date(1970, 1, 1 + i) for i in rng.integers(0, 2, n_rows).tolist()], pa.date32()
            ),
            "ill": pa.array(rng.choice(["flu", "gout", "none"], n_rows).tolist()),
        }
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_are_whole_in_one_task(engine, native):
    data = people()
    frame = native(engine, data)
    for by in (["seen", "fee", "bmi"], ["bmi"], ["bmi", 'zip.code `x"'], ["born", "seen"], []):
        want = expected(data, by)
        # Engines take seconds for 50 tasks, whatever is done in them.
        for tasks in TASKS if "fee" in by else [7]:
            made = skyline.statistics(Frame(frame), by, "ill", LS, tasks=tasks)
            assert made == want, (by, tasks)
            assert (made.k, made.l, made.domain) == (want.k, want.l, want.domain)


@pytest.mark.parametrize("engine", ENGINES)
def test_nulls_of_all_kinds_and_zeros_of_both_signs_are_one_group(engine, native):
    # One person of each kind: a group that was spread over tasks would have one.
    numbers = [float("nan"), None, -float("nan"), 0.0, -0.0, 1.0] * 10
    data = pa.table({"x": pa.array(numbers, pa.float64()), "ill": ["a", "b", "c", "a", "b", "a"] * 10})
    frame = Frame(native(engine, data))
    for tasks in [2, 7]:
        made = skyline.statistics(frame, ["x"], "ill", [0], tasks=tasks)
        assert (made.k, made.l) == (10, 1)
        assert made == expected(data, ["x"], [0])


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_count(engine, native):
    rng = np.random.default_rng(1)
    data = pa.table(
        {
            "x": rng.integers(0, 40, 300),
            "ill": rng.choice(["a", "b"], 300),
            "n": rng.integers(1, 1 << 40, 300),
        }
    )
    frame = Frame(native(engine, data), weights="n")
    for tasks in [1, 7]:
        assert skyline.statistics(frame, ["x"], "ill", LS, tasks=tasks) == expected(data, ["x"], weights="n")
    below = data.set_column(2, "n", pa.array([0, *data.column("n").to_pylist()[1:]]))
    with pytest.raises(ValueError, match="weights: expected integers of at least 1, got 0"):
        skyline.statistics(Frame(native(engine, below), weights="n"), ["x"], "ill", LS, tasks=7)


@pytest.mark.parametrize("engine", ENGINES)
def test_declared_domains_keep_their_order_and_their_word(engine, native):
    data = people(100)
    domains = {"ill": ["none", "gout", "flu", "cold"]}
    declared = Table(data, domains)
    want = skyline.Statistics(LS).update(skyline.group(declared, ["bmi"], "ill"))
    frame = native(engine, data)
    for tasks in (1, 7):
        made = skyline.statistics(Frame(frame, domains=domains), ["bmi"], "ill", LS, tasks=tasks)
        assert made == want
        assert made.domain == tuple(domains["ill"])
    with pytest.raises(
        ValueError, match="column 'ill': value 'gout' is not in its declared domain of 2 values"
    ):
        skyline.statistics(Frame(frame, domains={"ill": ["none", "flu"]}), [], "ill", LS)


@pytest.mark.parametrize("engine", ENGINES)
def test_without_rows_there_is_nothing_to_judge(engine, native):
    data = people(37).slice(0, 0) if engine != "Dask" else people(37)
    frame = native(engine, data)
    if engine == "Dask":
        frame = frame[frame["ill"] == "nothing"]
    for tasks in (None, 7):
        with pytest.raises(ValueError, match=r"^no rows$"):
            skyline.statistics(Frame(frame), ["bmi"], "ill", LS, tasks=tasks)


@pytest.mark.parametrize("engine", ["DuckDB", "Polars, lazy", "ibis"])
def test_tasks_that_are_too_large_are_halved_where_nobody_says_how_many(engine, native):
    data = people()
    by = ["bmi", 'zip.code `x"', "seen", "born"]
    n_rows = Table(data).select([*by, "ill"]).collapse().n_rows
    most = n_rows // 5
    calls = []
    made = skyline.statistics(
        Frame(native(engine, data), most_rows=most), by, "ill", LS, progress=lambda *done: calls.append(done)
    )
    assert made == expected(data, by)
    assert calls[-1][0] == calls[-1][1] >= 5
    assert [done for done, _ in calls] == list(range(1, len(calls) + 1))
    with pytest.raises(ValueError, match=r"most_rows: of the columns .* a task has more than .* more tasks"):
        skyline.statistics(Frame(native(engine, data), most_rows=most), by, "ill", LS, tasks=2)


@pytest.mark.parametrize("engine", ["Dask", "spark"])
def test_tasks_of_workers_that_are_too_large_are_refused(engine, native):
    frame = Frame(native(engine, people()), most_rows=20)
    with pytest.raises(
        ValueError, match=r"most_rows: of the columns .* a task has more than 20 distinct rows: more"
    ):
        skyline.statistics(frame, ["bmi", "seen", "fee"], "ill", LS, tasks=2)


def test_integers_are_floats_where_another_partition_has_some():
    whole = pa.table({"x": pa.array([1, 2, 0, 3] * 5), "ill": ["a", "b"] * 10})
    broken = pa.table({"x": pa.array([1.0, 2.0, -0.0, 2.5] * 5), "ill": ["b", "c"] * 10})
    frame = Frame(dask_frame([whole, broken]))
    both = pa.concat_tables([whole.set_column(0, "x", whole["x"].cast(pa.float64())), broken])
    for tasks in TASKS:
        assert skyline.statistics(frame, ["x"], "ill", LS, tasks=tasks) == expected(both, ["x"])


def test_partitions_whose_values_are_of_other_kinds_are_refused_as_in_memory():
    def parts(*values):
        return Frame(dask_frame([pa.table({"x": pa.array(one), "ill": ["a"] * len(one)}) for one in values]))

    for tasks in TASKS:
        with pytest.raises(TypeError, match="column 'x': expected values of one kind, got bool and int"):
            skyline.statistics(parts([1, 2], [True, False]), ["x"], "ill", LS, tasks=tasks)
        with pytest.raises(TypeError, match="column 'x': expected values of one kind, got int and text"):
            skyline.statistics(parts([1, 2], ["1", "2"]), ["x"], "ill", LS, tasks=tasks)
        with pytest.raises(ValueError, match="column 'x': the integer 9007199254740993 stands among floats"):
            skyline.statistics(parts([(1 << 53) + 1, 5], [0.5]), ["x"], "ill", LS, tasks=tasks)


def test_workers_of_their_own_divide_rows_alike():
    """Each has other hashes of its own, as Python gives every process another seed."""
    dask = pytest.importorskip("dask")
    data = people()
    frame = Frame(dask_frame([data.slice(start, 100) for start in range(0, data.num_rows, 100)]))
    by = ["bmi", 'zip.code `x"', "seen"]
    with dask.config.set(scheduler="processes", num_workers=2):
        assert skyline.statistics(frame, by, "ill", LS, tasks=5) == expected(data, by)


def test_a_value_has_one_hash_whatever_the_domain_around_it():
    one = hashed(Domain.of([3, 1, None]))
    other = hashed(Domain.of([0.5, 1.0, 3.0, None]))
    assert (one[0], one[1], one[2]) == (other[2], other[1], other[3])
    texts, more = hashed(Domain.of(["a", "b"])), hashed(Domain.of(["x", "b", None, "a"]))
    assert (texts[0], texts[1]) == (more[2], more[1])
    assert more[3] == one[2]  # a null, whatever it stands beside
    assert len({*hashed(Domain.of(range(-500, 500))).tolist()}) == 1000


def test_categories_in_other_places_are_the_same_values():
    pl = pytest.importorskip("polars")
    texts = [str(i % 13) for i in range(200)]
    data = pa.table({"x": texts, "ill": ["a", "b", "c", "a"] * 50})
    frame = pl.from_arrow(data).with_columns(pl.col("x").cast(pl.Categorical))
    for listed in (frame, frame.with_columns(pl.col("x").cast(pl.Enum([str(i) for i in range(12, -1, -1)])))):
        for tasks in TASKS:
            assert skyline.statistics(Frame(listed), ["x"], "ill", LS, tasks=tasks) == expected(data, ["x"])


def test_times_of_day_that_arrow_takes_for_one_are_one_group():
    duckdb = pytest.importorskip("duckdb")
    times = "('10:00:00+01', 'a'), ('10:00:00+02', 'b'), ('10:00:00+05', 'c')"
    relation = duckdb.sql(f"SELECT CAST(t AS TIMETZ) AS t, ill FROM (VALUES {times}) AS v(t, ill), range(9)")
    want = expected(
        relation.to_arrow_table() if hasattr(relation, "to_arrow_table") else relation.arrow(), ["t"]
    )
    assert want.l == 3
    for tasks in TASKS:
        assert skyline.statistics(Frame(relation), ["t"], "ill", LS, tasks=tasks) == want


def test_columns_with_a_collation_are_refused(request):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT t COLLATE NOCASE AS t, 'a' AS ill FROM (VALUES ('A'), ('a')) AS v(t)")
    with pytest.raises(ValueError, match="column 't' has a collation"):
        skyline.statistics(Frame(relation), ["t"], "ill", LS, tasks=2)


def test_columns_with_a_collation_are_refused_on_spark(spark):
    if spark.version < "4":
        pytest.skip("this Spark has no collations")
    frame = spark.sql("SELECT 'A' COLLATE UTF8_LCASE AS t, 'a' AS ill")
    with pytest.raises(ValueError, match="column 't' has a collation"):
        skyline.statistics(Frame(frame), ["t"], "ill", LS, tasks=2)


def test_people_who_come_or_go_are_noticed():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT range % 5 AS x, 'a' AS ill FROM range(20)")
    frame = Frame(connection.table("visits"))

    def one_more(done, total):
        if done == 1:
            connection.execute("INSERT INTO visits VALUES (1, 'a')")

    with pytest.raises(
        ValueError, match=r"the tasks have 20 people, and a relation of DuckDB has 21, or .* changed"
    ):
        skyline.statistics(frame, ["x"], "ill", LS, tasks=1, progress=one_more)


def test_rows_that_come_once_are_noticed():
    duckdb = pytest.importorskip("duckdb")
    data = people(50)
    reader = pa.RecordBatchReader.from_batches(data.schema, data.to_batches())
    # This DuckDB refuses to read it again; before, nobody was left for the second query.
    with pytest.raises((ValueError, duckdb.Error), match=r"can be read once only|already been consumed"):
        skyline.statistics(Frame(duckdb.from_arrow(reader)), ["bmi"], "ill", LS)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]),
            st.sampled_from("ab"),
            st.sampled_from("xyz"),
        ),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 9),
)
@settings(deadline=None, max_examples=25)
def test_any_rows_in_any_number_of_tasks(rows, tasks):
    numbers, texts, ill = zip(*rows, strict=True)
    data = pa.table({"x": pa.array(numbers, pa.float64()), "y": list(texts), "ill": list(ill)})
    want = expected(data, ["x", "y"])
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    for frame in (duckdb.from_arrow(data), polars.from_arrow(data), dask_frame([data, data.slice(0, 3)][:1])):
        assert skyline.statistics(Frame(frame), ["y", "x"], "ill", LS, tasks=tasks) == expected(
            data, ["y", "x"]
        )
    assert skyline.statistics(data, ["x", "y"], "ill", LS, tasks=tasks) == want


def test_tables_streams_and_files_are_divided_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    data = people()
    path, text = tmp_path / "people.parquet", tmp_path / "people.csv"
    parquet.write_table(data, path, row_group_size=50)
    text.write_text("x,ill\n" + "".join(f"{i % 19},{'abc'[i % 3]}\n" for i in range(200)))
    by = ["bmi", 'zip.code `x"']
    for tasks in TASKS:
        want = expected(data, by)
        assert skyline.statistics(data, by, "ill", LS, tasks=tasks) == want
        assert skyline.statistics(Table(data), by, "ill", LS, tasks=tasks) == want
        assert skyline.statistics(iter(data.to_batches(50)), by, "ill", LS, tasks=tasks) == want
        assert skyline.statistics(path, by, "ill", LS, tasks=tasks) == want
        assert skyline.statistics(text, ["x"], "ill", LS, tasks=tasks) == expected(text, ["x"])
        assert skyline.statistics(data, [], "ill", LS, tasks=tasks) == expected(data, [])
    declared = Table(data, {"ill": ["none", "gout", "flu"]})
    want = skyline.Statistics(LS).update(skyline.group(declared, by, "ill"))
    assert skyline.statistics(declared, by, "ill", LS, tasks=7) == want


def test_groups_of_parts_are_those_of_all(tmp_path):
    data = people()
    parts = list(group_tasks(data, ["bmi", "seen"], "ill", 4))
    assert len(parts) > 1
    whole = skyline.group(data, ["bmi", "seen"], "ill")
    assert sum(part.n_groups for part in parts) == whole.n_groups
    assert sum(part.n_rows for part in parts) == whole.n_rows
    empty = tmp_path / "nobody.csv"
    empty.write_text("x,ill\n")
    with pytest.raises(ValueError, match="no rows"):
        list(group_tasks(empty, ["x"], "ill", 3))
    with pytest.raises(ValueError, match="no rows"):
        list(group_tasks(data.slice(0, 0), ["bmi"], "ill", 3))


def test_wrong_arguments_are_refused():
    data = {"x": [1], "ill": ["a"]}
    pl = pytest.importorskip("polars")
    frame = Frame(pl.DataFrame(data))
    with pytest.raises(ValueError, match=r"tasks must be 1\.\.65536, got 0"):
        skyline.statistics(frame, ["x"], "ill", LS, tasks=0)
    with pytest.raises(ValueError, match=r"tasks must be 1\.\.65536, got 0"):
        frame.in_tasks(["x"], ["x"], bytes, tasks=0).__next__()
    with pytest.raises(TypeError, match=r"tasks must be an int, got 2\.0"):
        skyline.statistics(data, ["x"], "ill", LS, tasks=2.0)
    with pytest.raises(ValueError, match="weights: a Frame has its own weights"):
        skyline.statistics(frame, ["x"], "ill", LS, weights="n")
    with pytest.raises(ValueError, match="the sensitive column 'ill' cannot make the groups as well"):
        skyline.statistics(frame, ["ill"], "ill", LS)
    with pytest.raises(ValueError, match="together: expected some of 'x'; got 'ill'"):
        next(frame.in_tasks(["x"], ["ill"], bytes))
    with pytest.raises(TypeError, match="progress"):
        skyline.statistics(frame, ["x"], "ill", LS, progress=1)


def test_backends_without_a_hash_have_one_task(native):
    ibis = pytest.importorskip("ibis")
    data = people()
    frame = ibis.memtable(data)
    backend = frame.get_backend()
    allowed = type(backend).has_operation
    patch = pytest.MonkeyPatch()
    patch.setattr(
        type(backend),
        "has_operation",
        lambda self, one: one is not ibis.expr.operations.Hash and allowed(one),
    )
    with patch.context():
        try:
            assert skyline.statistics(Frame(frame), ["bmi"], "ill", LS, tasks=1) == expected(data, ["bmi"])
            with pytest.raises(ValueError, match="tasks: expected 1, as the backend duckdb has no hash"):
                skyline.statistics(Frame(frame), ["bmi"], "ill", LS, tasks=2)
        finally:
            patch.undo()


def lost(table):
    raise ModuleNotFoundError("No module named 'nbcfast'", name="nbcfast")


def lost_numbers(table):
    raise ModuleNotFoundError("No module named 'gmpy2'", name="gmpy2")


@pytest.mark.parametrize("lost", [lost, lost_numbers])
@pytest.mark.parametrize("engine", ["Dask", "spark"])
def test_workers_without_nbcfast_need_its_wheel(engine, lost, native):
    frame = Frame(native(engine, people(50)))
    message = r"cannot import nbcfast: install the wheel of nbcfast\[arrow\] .*, with kernels"
    with pytest.raises(ModuleNotFoundError, match=message):
        list(frame.in_tasks(["bmi"], ["bmi"], lost))


def broken(table):
    raise OSError("the disk is gone")


@pytest.mark.parametrize("engine", ["Dask", "spark"])
def test_other_errors_of_workers_stay_what_they_are(engine, native):
    with pytest.raises(Exception, match="the disk is gone") as error:
        list(Frame(native(engine, people(50))).in_tasks(["bmi"], ["bmi"], broken))
    assert not isinstance(error.value, ModuleNotFoundError)


def test_statistics_are_pickled_by_the_name_of_their_module():
    made = skyline.statistics({"x": [1, 1], "ill": ["a", "b"]}, ["x"], "ill", LS)
    assert pickle.loads(pickle.dumps(made)) == made
