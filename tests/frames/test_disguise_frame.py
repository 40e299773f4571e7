"""`response.disguise_frame`: each row once, under coins of its own, in a folder that is whole or absent."""

import math
import os
import pickle
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from nbcfast import Table, response
from nbcfast.frames import Frame, dask_files
from nbcfast.response import KaryScheme, Scheme, disguised_frames
from nbcfast.response.disguised_frames import BATCH_ROWS, ToldBatches, gathered

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 60_000
SCHEME = KaryScheme(["0.7", "4/5"], {"zone": [0, 1, 2], "ill": ["no", "yes"]}, groups=[["zone"], ["ill"]])


def truth(n_rows=N):
    rng = np.random.default_rng(8)
    return pa.table(
        {
            "ill": rng.choice(["no", "yes"], n_rows, p=[0.8, 0.2]).tolist(),
            "seen `at.`": pa.array(np.arange(n_rows), pa.timestamp("us", "UTC")),
            "zone": pa.array(rng.choice(3, n_rows, p=[0.5, 0.3, 0.2]), pa.int32()),
            "job": rng.choice(["clerk", "cook"], n_rows).tolist(),
        }
    )


@pytest.fixture(params=["Dask", "spark"])
def native(request):
    """A function that makes a frame of Arrow data, in four partitions."""
    if request.param == "Dask":
        dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")

        def made(data):
            return dd.from_pandas(data.to_pandas(), npartitions=4)

        with dask.config.set(scheduler="sync"):
            yield made
        return
    spark = request.getfixturevalue("spark")
    folder = request.getfixturevalue("tmp_path")

    def written(data):
        path = folder / f"truth-{len(os.listdir(folder))}.parquet"
        parquet.write_table(data, path, row_group_size=max(data.num_rows // 4, 1))
        return spark.read.parquet(str(path)).repartition(4)

    yield written


def read(path):
    return parquet.read_table(path)


def test_each_row_is_told_once_and_columns_outside_the_scheme_stay(native, tmp_path):
    data = truth()
    path = tmp_path / "told"
    told = response.disguise_frame(Frame(native(data)), SCHEME, path)
    assert (told.path, told.n_rows, told.scheme, told.names) == (
        str(path),
        N,
        SCHEME,
        tuple(data.column_names),
    )
    assert told.untouched == ("seen `at.`", "job")
    written = read(path)
    assert written.column_names == data.column_names
    # Moments are all different: they say which row is which, and each is there once.
    written = written.set_column(1, "seen `at.`", written.column(1).cast(pa.timestamp("us", "UTC")))
    both = written.sort_by("seen `at.`")
    assert both.column("seen `at.`").equals(data.column("seen `at.`"))
    assert both.column("job").cast(pa.string()).equals(data.column("job"))
    for name, theta in (("zone", 0.7), ("ill", 0.8)):
        same = np.array(both.column(name).to_pylist()) == np.array(data.column(name).to_pylist())
        assert abs(same.sum() - N * theta) < 5 * math.sqrt(N * theta * (1 - theta))
    assert "60,000 answers by KaryScheme" in repr(told)
    assert "told as they are: 'seen `at.`', 'job'" in repr(told)
    assert told.to_dict() == {
        "path": str(path),
        "rows": N,
        "scheme": SCHEME.to_dict(),
        "seeded": False,
        "untouched": ["seen `at.`", "job"],
    }


def test_coins_have_their_law_in_every_file_and_rows_no_order(native, tmp_path):
    """Chi squared over answers to one truth in each file, below its mean plus 6 standard deviations."""
    data = truth()
    response.disguise_frame(Frame(native(data)), SCHEME, tmp_path / "told")
    files = sorted(path for path in (tmp_path / "told").iterdir() if path.suffix == ".parquet")
    assert len(files) == 4
    chi, freedom = 0.0, 0
    zones = np.array(data.column("zone").to_pylist())
    for file in files:
        part = read(file)
        moments = np.array(part.column("seen `at.`").cast(pa.int64()).to_pylist())
        if parquet.read_schema(file).field("seen `at.`").type.unit == "ns":
            moments //= 1000
        answers = np.array(part.column("zone").to_pylist())
        # Of a shuffled file half of the neighbours fall; of one in its own order none, or hardly one.
        falls = int((np.diff(moments) < 0).sum())
        assert abs(falls - len(moments) / 2) < 6 * math.sqrt(len(moments) / 12)
        for zone in range(3):
            of_zone = answers[zones[moments] == zone]
            for answer in range(3):
                expected = len(of_zone) * (0.7 if answer == zone else 0.15)
                chi += ((of_zone == answer).sum() - expected) ** 2 / expected
            freedom += 2
    assert chi < freedom + 6 * math.sqrt(2 * freedom)


def test_estimates_are_those_of_the_written_rows_and_near_the_truth(native, tmp_path):
    # Of moments that are all different there is nothing to estimate, and it takes long.
    data = truth().drop_columns("seen `at.`")
    told = response.disguise_frame(Frame(native(data)), SCHEME, tmp_path / "told")
    found = response.estimate(told.frame, SCHEME, "ill")
    in_memory = response.estimate(
        Table(read(tmp_path / "told").select(["zone", "ill", "job"])), SCHEME, "ill"
    )
    again = response.estimate(Frame(told.frame.native), SCHEME, "ill")
    for other in (in_memory, again):
        assert found.n_rows == other.n_rows == N
        for name in ("zone", "job"):
            assert (found.raw.joint[name] == other.raw.joint[name]).all()
        assert (found.raw.prior == other.raw.prior).all()
    people = Table(data.select(["zone", "ill"]))
    for zone in range(3):
        for place, ill in enumerate(found.classes):
            share = np.mean(
                (people.codes("zone") == zone) & (people.codes("ill") == people.domain("ill").index(ill))
            )
            error = math.sqrt(found.coin_variance.joint["zone"][zone, place])
            assert abs(float(found.raw.joint["zone"][zone, place]) - share) < 5 * error


def test_two_runs_throw_other_coins(native, tmp_path):
    frame = native(truth(2000))
    tables = []
    for name in ("one", "two"):
        response.disguise_frame(Frame(frame), SCHEME, tmp_path / name)
        tables.append(read(tmp_path / name).sort_by("seen `at.`").column("zone").to_pylist())
    assert tables[0] != tables[1]


def test_a_folder_that_is_there_stays_as_it_is(native, tmp_path):
    frame = Frame(native(truth(100)))
    path = tmp_path / "told"
    response.disguise_frame(frame, SCHEME, path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(FileExistsError, match="exists, and nothing is overwritten"):
        response.disguise_frame(frame, SCHEME, path)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_no_rows_are_refused(native, tmp_path):
    frame = native(truth(100))
    nobody = frame[frame["job"] == "nobody"]
    with pytest.raises(ValueError, match=r"^no rows$"):
        response.disguise_frame(Frame(nobody), SCHEME, tmp_path / "told")
    assert not (tmp_path / "told").exists()


def test_what_does_not_fit_is_refused_before_any_coin(native, tmp_path):
    data = truth(100)
    frame = Frame(native(data))
    path = tmp_path / "told"
    narrow = KaryScheme("0.7", {"zone": [0, 1]})
    with pytest.raises(ValueError, match="column 'zone': value 2 is none of the 2 values"):
        response.disguise_frame(frame, narrow, path)
    with pytest.raises(ValueError, match="the frame has no column 'age', which the scheme has; it has"):
        response.disguise_frame(frame, KaryScheme("0.7", {"age": [0, 1]}), path)
    with pytest.raises(
        ValueError, match=r"scheme: expected a declared domain of each column, .*'job' has none"
    ):
        response.disguise_frame(frame, Scheme("0.7", [["job"]]), path)
    with pytest.raises(ValueError, match="frame: it has weights, and each record needs coins of its own"):
        response.disguise_frame(Frame(native(data), weights="zone"), SCHEME, path)
    with pytest.raises(ValueError, match="'zone'"):
        response.disguise_frame(frame, Scheme("0.7", [["zone"]], domains={"zone": [0, 1]}), path)
    assert not path.exists()


def test_other_arguments_are_refused(tmp_path):
    pl = pytest.importorskip("polars")
    frame = Frame(pl.DataFrame({"zone": [1], "ill": ["no"]}))
    with pytest.raises(
        TypeError, match=r"got a frame of Polars, whose rows are in this process: nbcfast.response.disguise"
    ):
        response.disguise_frame(frame, SCHEME, tmp_path / "told")
    with pytest.raises(
        TypeError, match="expected a frame of PySpark or Dask, got a frame of Polars, which has no workers"
    ):
        frame.write_mapped(iter, {}, str(tmp_path / "told"), 1)
    with pytest.raises(
        TypeError, match=r"frame must be a nbcfast.frames.Frame\(..\) of PySpark or Dask, got Table"
    ):
        response.disguise_frame(Table({"zone": [1]}), SCHEME, tmp_path / "told")
    with pytest.raises(TypeError, match="scheme must be a Scheme or a KaryScheme, got dict"):
        response.disguise_frame(frame, {}, tmp_path / "told")


def test_dates_and_nulls_are_written_as_the_domain_has_them(native, tmp_path):
    days = pa.array([0, 1, None, 1] * 50, pa.date32())
    domain = ["1970-01-01", "1970-01-02", None]
    scheme = KaryScheme("1/2", {"day": domain})
    frame = native(pa.table({"day": days, "n": list(range(200))}))
    if type(frame).__module__.startswith("dask"):
        frame = frame.astype({"day": "date32[pyarrow]"})
    told = response.disguise_frame(Frame(frame), scheme, tmp_path / "told")
    answers = read(tmp_path / "told").column("day").to_pylist()
    assert {*answers} == {*domain}
    assert told.frame.weighted(["day"]).domain("day") == tuple(domain)


def test_batches_are_gathered_and_small_ones_never_told_alone():
    batches = [pa.record_batch({"x": [1] * n}) for n in (3, 0, 4, 5, 1, 0)]
    assert [part.num_rows for part in gathered(iter(batches), 7)] == [7, 6]
    assert [part.num_rows for part in gathered(iter([]), 7)] == []
    assert BATCH_ROWS == 131_072


def test_each_call_has_a_key_of_the_operating_system(monkeypatch):
    asked, real = [], os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or real(size))
    monkeypatch.setattr(disguised_frames, "BATCH_ROWS", 1000)
    scheme = KaryScheme("0.7", {"x": [0, 1]})
    work = pickle.loads(pickle.dumps(ToldBatches(scheme)))
    assert vars(work) == {"scheme": scheme}  # nothing else travels: no key, no seed
    batches = [pa.record_batch({"x": [0, 1] * 250})] * 8
    parts = list(work(iter(batches)))
    assert sum(part.num_rows for part in parts) == 4000
    assert asked.count(32) == 4
    assert asked.count(8 * 1000) == 4
    answers = [part.column("x").to_pylist() for part in parts]
    assert len({*map(tuple, answers)}) == 4


class TestDask:
    """Failures: nothing that looks finished is left."""

    @pytest.fixture(autouse=True)
    def one_thread(self):
        dask = pytest.importorskip("dask")
        with dask.config.set(scheduler="sync"):
            yield

    def frame(self, *parts, meta=None):
        dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
        made = [part if callable(part) else (lambda part=part: part) for part in parts]
        meta = truth(1).to_pandas().head(0) if meta is None else meta
        return dd.from_delayed([dask.delayed(one)() for one in made], meta=meta, verify_meta=False)

    def test_a_task_that_fails_leaves_nothing(self, tmp_path):
        data = truth(300).to_pandas()
        calls = []

        def later_broken():
            calls.append(1)
            if len(calls) > 1:
                raise OSError("the disk is gone")
            return data

        with pytest.raises(OSError, match="the disk is gone"):
            response.disguise_frame(Frame(self.frame(data, later_broken)), SCHEME, tmp_path / "told")
        assert os.listdir(tmp_path) == []

    def test_rows_that_come_meanwhile_are_noticed(self, tmp_path):
        data = truth(300).to_pandas()
        calls = []

        def growing():
            calls.append(1)
            return data if len(calls) == 1 else data.head(200)

        with pytest.raises(ValueError, match="path: 500 rows were written of 600: the frame has changed"):
            response.disguise_frame(Frame(self.frame(data, growing)), SCHEME, tmp_path / "told")
        assert os.listdir(tmp_path) == []

    def test_a_value_that_comes_meanwhile_is_refused_by_name(self, tmp_path):
        data = truth(300).to_pandas()
        calls = []

        def other():
            calls.append(1)
            return data if len(calls) == 1 else data.assign(zone=7)

        with pytest.raises(ValueError, match="column 'zone': value 7 is none of the 3 values"):
            response.disguise_frame(Frame(self.frame(data, other)), SCHEME, tmp_path / "told")
        assert os.listdir(tmp_path) == []

    def test_places_that_workers_may_not_share_are_refused(self, tmp_path, monkeypatch):
        frame = Frame(self.frame(truth(30).to_pandas()))
        with pytest.raises(ValueError, match=r"path: expected a folder that .* see, got 's3://bucket/told'"):
            response.disguise_frame(frame, SCHEME, "s3://bucket/told")
        # A worker of another machine makes the file there.
        monkeypatch.setattr(dask_files, "_write", lambda *_: None)
        with pytest.raises(ValueError, match="path: workers of Dask do not see the folder"):
            response.disguise_frame(frame, SCHEME, tmp_path / "told")
        assert os.listdir(tmp_path) == []

    def test_workers_without_nbcfast_need_its_wheel(self, tmp_path, monkeypatch):
        def lost(*_):
            raise ModuleNotFoundError("No module named 'nbcfast'", name="nbcfast")

        frame = Frame(self.frame(truth(30).to_pandas()))
        monkeypatch.setattr(dask_files, "_write", lost)
        with pytest.raises(ModuleNotFoundError, match="the workers of Dask cannot import nbcfast: install"):
            response.disguise_frame(frame, SCHEME, tmp_path / "told")
        assert os.listdir(tmp_path) == []

    def test_workers_of_their_own_tell_each_row_once(self, tmp_path):
        dask = pytest.importorskip("dask")
        data = truth(3000)
        parts = [data.slice(start, 1000).to_pandas() for start in range(0, 3000, 1000)]
        with dask.config.set(scheduler="processes", num_workers=2):
            told = response.disguise_frame(Frame(self.frame(*parts)), SCHEME, tmp_path / "told")
        moments = read(tmp_path / "told").column("seen `at.`").cast(pa.timestamp("us", "UTC"))
        assert sorted(moments.to_pylist()) == data.column("seen `at.`").to_pylist()
        assert told.n_rows == 3000

    def test_partitions_without_rows_and_categories_are_written(self, tmp_path):
        data = truth(300).to_pandas().astype({"job": "category", "ill": "category"})
        frame = self.frame(data, data.head(0), data, meta=data.head(0))
        told = response.disguise_frame(Frame(frame), SCHEME, tmp_path / "told")
        assert told.n_rows == read(tmp_path / "told").num_rows == 600


def test_another_thing_that_exists_already_is_no_folder(spark, tmp_path):
    """Names that Spark takes for one cannot be written: its error says COLUMN_ALREADY_EXISTS."""
    rows = spark.range(0, 6, 1, 1).selectExpr("CAST(id % 3 AS INT) AS zone").toDF("zone")
    spark.conf.set("spark.sql.caseSensitive", "true")
    rows = rows.selectExpr("zone", "zone AS Age", "zone AS age")
    assert rows.columns == ["zone", "Age", "age"]  # Connect asks for them only then
    spark.conf.set("spark.sql.caseSensitive", "false")
    with pytest.raises(Exception, match="COLUMN_ALREADY_EXISTS") as raised:
        response.disguise_frame(Frame(rows), KaryScheme("0.7", {"zone": [0, 1, 2]}), tmp_path / "told")
    assert not isinstance(raised.value, FileExistsError)
    assert not (tmp_path / "told").exists()


def test_rows_that_go_meanwhile_are_noticed_on_spark(spark, tmp_path):
    mark = str(tmp_path / "counted")

    def fewer(batches):
        import os

        counted = os.path.exists(mark)
        for batch in batches:
            yield batch.slice(0, 1) if counted else batch
        open(mark, "w").close()

    rows = spark.range(0, 600, 1, 1).selectExpr("CAST(id % 3 AS INT) AS zone")
    frame = Frame(rows.mapInArrow(fewer, rows.schema))
    scheme = KaryScheme("0.7", {"zone": [0, 1, 2]})
    message = r"path: 1 answers are in .*, and a frame of PySpark had 600 rows: .* Remove the folder"
    with pytest.raises(ValueError, match=message):
        response.disguise_frame(frame, scheme, tmp_path / "told")


FAILING = """
import os, sys
from pyspark.sql import SparkSession
from nbcfast import response
from nbcfast.frames import Frame
from nbcfast.response import KaryScheme

folder, n_rows, n_tasks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
session = SparkSession.builder.master(sys.argv[4])
for name, value in {
    "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2", "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
}.items():
    session = session.config(name, value)
session = session.getOrCreate()
session.sparkContext.setLogLevel("OFF")


def half_fail(batches):
    # The second time that a task is run, which is to write, after all but its last batch: those are told.
    from pyspark import TaskContext

    task = TaskContext.get().partitionId()
    counted, mark = (os.path.join(folder, f"{what}-{task}") for what in ("counted", "failed"))
    fails = task % 2 and os.path.exists(counted) and not os.path.exists(mark)
    open(counted, "w").close()
    waiting = None
    for batch in batches:
        if waiting is not None:
            yield waiting
        waiting = batch
    if fails:
        open(mark, "w").close()
        raise OSError("a task fails")
    if waiting is not None:
        yield waiting


rows = session.range(0, n_rows, 1, n_tasks).selectExpr("id", "CAST(id % 3 AS INT) AS zone")
rows = rows.mapInArrow(half_fail, rows.schema)
scheme = KaryScheme("0.7", {"zone": [0, 1, 2]})
try:
    told = response.disguise_frame(Frame(rows), scheme, os.path.join(folder, "told"))
    print("TOLD", told.n_rows)
finally:
    session.stop()
"""


def run_failing(tmp_path, n_rows, n_tasks, master, expected=0):
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed here")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java for Spark here")
    if os.environ.get("NBCFAST_SPARK", "classic") == "connect":
        pytest.skip("a master of its own is for classic sessions")
    script = tmp_path / "failing.py"
    script.write_text(textwrap.dedent(FAILING))
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(response.__file__))))
    command = [sys.executable, str(script), str(tmp_path), str(n_rows), str(n_tasks), master]
    environment = {**os.environ, "PYTHONPATH": top, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400, check=False)
    assert (done.returncode == 0) == (expected == 0), done.stderr[-3000:]
    return done


def expect_once(tmp_path, n_rows, n_tasks):
    path = tmp_path / "told"
    assert sum(name.startswith("failed-") for name in os.listdir(tmp_path)) == n_tasks // 2
    assert sorted(int(i) for i in read(path).column("id").to_pylist()) == list(range(n_rows))
    names = os.listdir(path)
    assert sum(name.endswith(".parquet") and not name.startswith(".") for name in names) == n_tasks
    assert "_SUCCESS" in names
    assert "_temporary" not in names


def test_half_of_the_tasks_fail_after_they_told_rows_and_each_row_is_there_once(tmp_path):
    done = run_failing(tmp_path, 100_000, 4, "local[2,4]")
    assert "TOLD 100000" in done.stdout
    expect_once(tmp_path, 100_000, 4)


def test_a_job_that_fails_leaves_no_folder_that_looks_finished(tmp_path):
    run_failing(tmp_path, 100_000, 4, "local[2,1]", expected=1)
    path = tmp_path / "told"
    assert not path.exists() or "_SUCCESS" not in os.listdir(path)


@pytest.mark.thorough
def test_a_million_rows_of_a_cluster_half_of_whose_tasks_fail(tmp_path):
    done = run_failing(tmp_path, 1_000_000, 16, "local-cluster[2,1,1024]")
    assert "TOLD 1000000" in done.stdout
    expect_once(tmp_path, 1_000_000, 16)
