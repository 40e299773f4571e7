"""Tasks that fail, dawdle or die with their machine: what a frame gives is the same, byte by byte.

These need a process of their own, for a cluster of Spark beside another session there cannot be:
`.ci/nightly` runs them. What is asked of Spark is SQL alone, so that it is the rows that fail: a stage before
the frame raises, sleeps, or kills the executor that it is in.
"""

import contextlib
import importlib.util
import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings

import pytest
from frame_cases import people

import nbcfast
from nbcfast import Table, response, skyline
from nbcfast.frames import Frame

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
ATTRIBUTES = ["b", "small", "s", "f", "a.b"]
QUASI = ["b", "Age", "a.b"]


@pytest.fixture(scope="module")
def rows():
    return people(4_000).select([*ATTRIBUTES, "Age", "c"])


@pytest.fixture(scope="module")
def spark_master():
    """A cluster of two workers with a core and a gigabyte each, and where it is.

    Each has another address: of a task that dawdles Spark starts no second attempt at the same host.
    """
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed here")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java for Spark here")
    home = os.path.dirname(importlib.util.find_spec("pyspark").origin)
    os.environ.update(SPARK_HOME=home, PYSPARK_PYTHON=sys.executable)
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        port = any_port.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    roles = [
        ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"],
        *(
            ["worker.Worker", "--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", master]
            for host in ("127.0.0.2", "127.0.0.3")
        ),
    ]
    with contextlib.ExitStack() as started, tempfile.TemporaryDirectory() as folder:
        for name, *options in roles:
            log = started.enter_context(open(os.path.join(folder, f"{options[1]}.log"), "wb"))
            process = subprocess.Popen(
                [os.path.join(home, "bin", "spark-class"), f"org.apache.spark.deploy.{name}", *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_WORKER_DIR": folder},
            )
            started.callback(process.wait)
            started.callback(process.terminate)
        yield master


@pytest.fixture(scope="module")
def cluster(spark_master):
    """A session, in which a task may fail three times."""
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        pytest.skip("a cluster needs a process without another session of Spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "768m",
        "spark.task.maxFailures": "4",
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "500ms",
        "spark.sql.session.timeZone": "America/New_York",
    }
    builder = SparkSession.builder.appName("nbcfast").master(spark_master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def on_spark(cluster, rows, tmp_path):
    """A frame of the rows in so many partitions, each through a stage that does something to its task."""
    import pyarrow.parquet as pq

    def frame(n_partitions, done=None, by=()):
        path = tmp_path / f"{n_partitions}.parquet"
        pq.write_table(rows.rename_columns([f"c{place}" for place in range(rows.num_columns)]), path)
        parts = cluster.read.parquet(str(path)).repartition(n_partitions, *by)
        if done is not None:
            parts = parts.mapInArrow(done, parts.schema)
        return Frame(parts.toDF(*rows.column_names), domains=domains(rows))

    return frame


def domains(rows):
    """Those of all rows, so that none looks at first rows: how columns are put together shows in pickles."""
    table = Table(rows)
    return {name: table.domain(name) for name in table.names}


@pytest.fixture(scope="module")
def expected(rows, tmp_path_factory):
    """Of a frame that nothing happens to, in this process."""
    dask = pytest.importorskip("dask")
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        frame = on_dask(rows, 1, lambda part: part[1])
        table = Table(rows, domains(rows))
        assert frame.counts("c", ATTRIBUTES) == nbcfast.count(table, "c", ATTRIBUTES)
        assert frame.weighted([*QUASI, "c"]) == table.select([*QUASI, "c"]).collapse()
        return everything(frame, tmp_path_factory.mktemp("calm"))


def everything(frame, folder):
    """What is held: counts as pickles, and a release and a partition as their certificates."""
    views, table = frame.counts("c", ATTRIBUTES), frame.weighted([*QUASI, "c"])
    nbcfast.safety_transform(nbcfast.count(table, "c", ["b"]), 19).save(folder / "release")
    skyline.anonymize(table, QUASI, "c", k=5).save(folder / "partition")
    certificates = [(folder / kind / "certificate.json").read_bytes() for kind in ("release", "partition")]
    return pickle.dumps(views), *certificates


def marked(folder):
    """The tasks that did what was asked of them: a file for each."""
    return sorted(os.listdir(folder))


def test_half_of_the_tasks_fail_once(on_spark, expected, tmp_path):
    folder = tmp_path / "failed"
    folder.mkdir()

    def failing(batches):
        """Each even task fails at its end in its first attempt."""
        from pyspark import TaskContext

        yield from batches
        task = TaskContext.get()
        if task.partitionId() % 2 == 0 and task.attemptNumber() == 0:
            (folder / str(task.partitionId())).touch()
            raise RuntimeError("this task fails once")

    assert everything(on_spark(8, failing), tmp_path) == expected
    assert marked(folder) == sorted(str(place) for place in range(0, 8, 2))


def test_a_straggler_is_overtaken(on_spark, expected, tmp_path):
    folder = tmp_path / "overtaken"
    folder.mkdir()

    def dawdling(batches):
        """The first attempt of one task takes ten minutes, or until another has been quicker."""
        import time

        from pyspark import TaskContext

        task = TaskContext.get()
        if task.partitionId() == 5:
            (folder / str(task.attemptNumber())).touch()
            if task.attemptNumber() == 0:
                time.sleep(600)
        yield from batches

    assert everything(on_spark(8, dawdling), tmp_path) == expected
    assert marked(folder) == ["0", "1"]


def test_an_executor_is_killed(on_spark, expected, tmp_path):
    folder = tmp_path / "killed"
    folder.mkdir()

    def killing(batches):
        """One task kills the machine that it is in: the parent of the daemon that forked this Python."""
        import os
        import signal
        from pathlib import Path

        from pyspark import TaskContext

        yield from batches
        mark = folder / "killed"
        if TaskContext.get().partitionId() == 7 and not mark.exists():
            mark.touch()
            machine = os.getppid()
            while "java" not in Path(f"/proc/{machine}/comm").read_text():
                machine = int(Path(f"/proc/{machine}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(machine, signal.SIGKILL)

    assert everything(on_spark(8, killing), tmp_path) == expected
    assert marked(folder) == ["killed"]


@pytest.mark.parametrize("n_partitions", [1, 3, 17, 50])
def test_any_number_of_partitions_most_of_them_empty(on_spark, expected, n_partitions, tmp_path):
    """By a column with four values, so that at most four of them have rows."""
    assert everything(on_spark(n_partitions, by=["c6"]), tmp_path) == expected


@pytest.fixture
def dask_cluster():
    """Two processes, each of which may be lost."""
    pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import Client, LocalCluster

        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as workers,
            Client(workers) as client,
        ):
            yield client


def on_dask(rows, n_parts, done):
    import dask.dataframe as dd
    import pandas as pd

    whole = rows.to_pandas(types_mapper=pd.ArrowDtype)
    cuts = [len(whole) * min(place, 5) // min(n_parts, 5) for place in range(n_parts + 1)]
    parts = [(place, whole.iloc[cuts[place] : cuts[place + 1]]) for place in range(n_parts)]
    return Frame(dd.from_map(done, parts, meta=whole.iloc[:0]), domains=domains(rows))


@pytest.mark.filterwarnings("ignore")  # of distributed, of what it has lost
def test_a_worker_of_dask_is_killed(dask_cluster, rows, expected, tmp_path):
    mark = tmp_path / "killed"

    def killing(part):
        import os
        import signal

        place, rows = part
        if place == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    assert everything(on_dask(rows, 9, killing), tmp_path) == expected
    assert mark.exists()


def killing_where_files_get_their_names(mark):
    """For workers, which have no tests to import it from: the first dies before its file takes its name."""

    def prepare():
        import signal

        from nbcfast.frames import dask_files

        class KillingOs:
            def __getattr__(self, name):
                return getattr(os, name)

            def replace(self, source, target):
                if not os.path.exists(mark):
                    open(mark, "w").close()
                    os.kill(os.getpid(), signal.SIGKILL)
                return os.replace(source, target)

        dask_files.os = KillingOs()

    return prepare


@pytest.mark.filterwarnings("ignore")  # of distributed, of what it has lost
def test_a_worker_of_dask_that_is_killed_leaves_no_second_answers(dask_cluster, tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    mark = str(tmp_path / "killed")
    dask_cluster.run(killing_where_files_get_their_names(mark))
    frame = Frame(dd.from_pandas(pd.DataFrame({"zone": [0, 1, 2] * 400}), npartitions=4))
    told = response.disguise_frame(frame, response.KaryScheme("0.8", {"zone": [0, 1, 2]}), tmp_path / "told")
    assert os.path.exists(mark)
    assert told.n_rows == 1_200
    # Readers of folders take whatever is there.
    assert sorted(os.listdir(tmp_path / "told")) == [f"part-{place:06d}.parquet" for place in range(4)]
    assert sorted(os.listdir(tmp_path)) == ["killed", "told"]


@pytest.mark.parametrize("n_parts", [1, 3, 17, 50])
@pytest.mark.filterwarnings("ignore")
def test_any_number_of_parts_of_dask_most_of_them_empty(dask_cluster, rows, expected, n_parts, tmp_path):
    assert everything(on_dask(rows, n_parts, lambda part: part[1]), tmp_path) == expected
