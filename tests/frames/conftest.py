"""Engines, each with the way a frame of it is made of an Arrow table, and a session of Spark."""

import importlib.util
import itertools
import os
import shutil
import sys
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_cases import people

from nbcfast import Table
from nbcfast.frames import Frame

IN_PROCESS = ["duckdb", "polars", "polars-lazy", "dask", "ibis"]
ENGINES = [*IN_PROCESS, "spark"]


WARNED = {
    "spark": [
        "ignore:PySpark does not yet fully support pandas:FutureWarning",
        "ignore:distutils Version classes are deprecated:DeprecationWarning",
        # Of sockets that Spark 3.5 leaves open.
        "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning",
        "ignore:unclosed <socket:ResourceWarning",
    ],
    "dask": ["ignore:The inplace keyword:DeprecationWarning"],  # of pandas, which Dask asks
    "ibis": ["ignore:fetch_arrow_table:DeprecationWarning"],  # of DuckDB's, which ibis asks
}


def pytest_collection_modifyitems(items):
    """What engines warn of is not ours."""
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        named = (value.lower() for value in params.values() if isinstance(value, str))
        asked = {*getattr(item, "fixturenames", ()), *named}
        for warning in (warning for name, listed in WARNED.items() if name in asked for warning in listed):
            item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session")
def spark():
    """One for all tests of a run: it takes seconds to start."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed here")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java for Spark here")
    from pyspark import cloudpickle

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName("nbcfast")
    mode = os.environ.get("NBCFAST_SPARK", "classic")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.session.timeZone": "America/New_York",  # which no result may depend on
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        # Of a pandas that Spark does not know yet, and of settings that a server takes only when it starts.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        warnings.filterwarnings("ignore", r"Failed to set|\[CANNOT_MODIFY_CONFIG\]", UserWarning)
        if mode == "classic":
            builder = builder.master("local[2]")
        else:  # a server of its own, or one that is there: "sc://host:port"
            builder = builder.remote("local[2]" if mode == "connect" else mode)
        session = builder.getOrCreate()
    # What tests hand to workers is pickled whole: these find no tests to import it from.
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "tests":
            cloudpickle.register_pickle_by_value(module)
    yield session
    session.stop()


class Maker:
    """Makes tables of one engine of Arrow tables.

    Attributes
    ----------
    name : str
        One of ENGINES.
    kind : str
        What messages call such a table.
    has_twins : bool
        Whether it holds two columns whose names differ by their case alone.
    """

    has_twins = True

    def __init__(self, name, kind, folder):
        self.name, self.kind, self._folder, self._made = name, kind, folder, 0

    def frame(self, table, **options):
        return Frame(self.native(table), **options)

    def new_path(self):
        self._made += 1
        return self._folder / f"{self.name}-{self._made}.parquet"


class DuckDB(Maker):
    def __init__(self, folder):
        import duckdb

        super().__init__("duckdb", "a relation of DuckDB", folder)
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'America/New_York'")

    def native(self, table):
        """By places, and then renamed: of an Arrow table DuckDB gives `age` beside `Age` another name."""
        places = table.rename_columns([f"c{place}" for place in range(table.num_columns)])
        quoted = [name.replace('"', '""') for name in table.column_names]
        listed = ", ".join(f'c{place} AS "{name}"' for place, name in enumerate(quoted))
        return self.connection.from_arrow(places).query("given", f"SELECT {listed} FROM given")


class Polars(Maker):
    def __init__(self, name, folder):
        super().__init__(name, "a frame of Polars", folder)

    def native(self, table):
        import polars

        frame = polars.from_arrow(table)
        return frame.lazy() if self.name == "polars-lazy" else frame


class Dask(Maker):
    def __init__(self, folder):
        super().__init__("dask", "a frame of Dask", folder)

    def native(self, table, cuts=None):
        """Seven partitions, of which the first, one in the middle and the last have no rows."""
        import dask.dataframe as dd
        import pandas as pd

        whole = table.to_pandas(types_mapper=pd.ArrowDtype)
        n = len(whole)
        cuts = [0, 0, n // 5, n // 2, n // 2, n // 2 + n // 3, n, n] if cuts is None else cuts
        parts = [whole.iloc[start:stop] for start, stop in itertools.pairwise(cuts)]
        return dd.from_map(_itself, parts, meta=whole.iloc[:0])


def _itself(part):
    return part


class Ibis(Maker):
    has_twins = False

    def __init__(self, folder):
        import ibis

        super().__init__("ibis", "a table of ibis", folder)
        self.connection = ibis.duckdb.connect()

    def native(self, table):
        path = self.new_path()
        pq.write_table(table, path, compression="none")
        return self.connection.read_parquet(path)


class Spark(Maker):
    def __init__(self, session, folder):
        super().__init__("spark", "a frame of PySpark", folder)
        self.session = session

    def native(self, table):
        """By places, and then renamed: of a file Spark takes no two names that differ by their case."""
        path = self.new_path()
        places = table.rename_columns([f"c{place}" for place in range(table.num_columns)])
        pq.write_table(places, path, compression="none", row_group_size=max(table.num_rows // 3, 1))
        return self.session.read.parquet(str(path)).toDF(*table.column_names)


def needs(*modules):
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed here")


@pytest.fixture(scope="session", params=ENGINES)
def engine(request, tmp_path_factory):
    """Each engine that is there."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "duckdb":
        needs("duckdb")
        yield DuckDB(folder)
    elif request.param in ("polars", "polars-lazy"):
        needs("polars")
        yield Polars(request.param, folder)
    elif request.param == "dask":
        needs("dask", "pandas")
        with warnings.catch_warnings():  # of modules that dask and its parts import
            warnings.simplefilter("ignore")
            import dask
            import dask.dataframe
        with dask.config.set(scheduler="synchronous"):
            yield Dask(folder)
    elif request.param == "ibis":
        needs("ibis", "duckdb")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield Ibis(folder)
    else:
        yield Spark(request.getfixturevalue("spark"), folder)


@pytest.fixture(scope="session")
def everybody(engine):
    """A frame of 20,000 rows, and the same in memory."""
    rows = people(twins=engine.has_twins)
    return engine.frame(rows), Table(rows)


@pytest.fixture
def ids():
    """Rows whose first 15,000 have one value, and all others their own."""
    n_rows = 20_000
    numbers = pa.array([0] * 15_000 + list(range(5_000)), pa.int64())
    classes = pa.array(["a", "b"] * (n_rows // 2))
    return pa.table({"x": numbers, "y": numbers, "c": classes})
