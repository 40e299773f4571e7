"""What engines do for the same counts and the same labels: Spark, Dask, DuckDB, Polars. Input: Opened.

The answer of counts is {attribute: {(value, class): number}}, that of labels {class: number}; no number is 0.
"""

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from shared.bootstrap import FIRST, write
from shared.census import CLASS, NAMES
from shared.clock import Form, Peers, Row, power, race
from shared.process_tree import tree_time
from shared.processes import BENCH

import nbcfast
from nbcfast import canonical
from nbcfast.frames import Frame

in_duckdb, in_polars, in_dask, in_spark = Peers(), Peers(), Peers(), Peers()
labels_in_duckdb, labels_in_spark = Peers(), Peers()

COLUMNS = [*NAMES, CLASS]
# Attributes that a patient author puts together: few combinations of values each, all attributes in one.
JOINT = [
    ("age", "hours"),
    ("education", "workclass", "occupation", "relationship"),
    ("race", "marital", "sex", "country"),
]
PAIRS = list(zip(NAMES[::2], NAMES[1::2], strict=True))
DECIDING = ["education", "occupation", "relationship", "marital", "sex", "country"]
GATHERED = 1 << 17  # rows of a batch that Spark hands to Python: its own 10,000 cost the kernels a third more

# At least so many times the best form of the peer.
COUNTS = {
    "DuckDB": {"DuckDB": 1 / 1.1},
    "Polars": {"Polars": 1 / 1.1},
    "Dask": {"Dask": 2.0},
    "Spark": {"mapInArrow": 1 / 0.9},
}
LABELS = {"Spark": {"mapInArrow": 2.0}}

Answer = dict[str, dict[tuple[Any, Any], int]]


class Opened(NamedTuple):
    """An engine, and the rows as it sees them."""

    engine: Any
    rows: Any
    path: str
    release: Any  # a classifier, to be applied


def counts_answer(views: Any) -> Answer:
    return {
        name: {
            (value, label): int(number)
            for value, numbers in zip(views.domain(name), views.counts[name], strict=True)
            for label, number in zip(views.classes, numbers, strict=True)
            if number
        }
        for name in views.attributes
    }


def grouped_answer(tables: Iterable[tuple[Iterable[str], Any]]) -> Answer:
    """Of Arrow tables, each with the numbers of some attributes together: the last column has them."""
    answer: Answer = {}
    for names, table in tables:
        *columns, numbers = (column.to_pylist() for column in table.columns)
        labels = columns.pop()
        for name, values in zip(names, columns, strict=True):
            found: Counter[tuple[Any, Any]] = Counter()
            for value, label, number in zip(values, labels, numbers, strict=True):
                found[value, label] += number
            answer[name] = dict(found)
    return answer


def sets_answer(sets: list[tuple[str, ...]], table: Any) -> Answer:
    """Of what GROUPING SETS give: the column `at` says which of the sets a row is of."""
    tables = []
    for place, names in enumerate(sets):
        own = table.filter(pa.compute.equal(table.column("at"), _mark(names)))
        assert own.num_rows, place
        tables.append((names, own.select([*names, CLASS, "n"])))
    return grouped_answer(tables)


def _mark(names: Iterable[str]) -> int:
    return sum(1 << place for place, name in enumerate(NAMES) if name not in names)


def sets_query(sets: list[tuple[str, ...]], source: str) -> str:
    """One SELECT with GROUPING SETS."""
    at = " + ".join(f"CAST(grouping({name}) AS INT) * {1 << place}" for place, name in enumerate(NAMES))
    by = ", ".join(f"({', '.join(names)}, {CLASS})" for names in sets)
    listed = ", ".join(NAMES)
    return f"SELECT {listed}, {CLASS}, {at} AS at, count(*) AS n FROM {source} GROUP BY GROUPING SETS ({by})"


def each_query(names: Iterable[str], source: str) -> str:
    listed = ", ".join([*names, CLASS])
    return f"SELECT {listed}, count(*) AS n FROM {source} GROUP BY {listed}"


SINGLES = [(name,) for name in NAMES]


@in_duckdb.peer("DuckDB")
def counts_of_duckdb(opened: Opened) -> Iterator[Form]:
    database, source = opened.engine, f"read_parquet('{opened.path}/*.parquet')"

    def each(sets: list[tuple[str, ...]]) -> list[tuple[tuple[str, ...], Any]]:
        return [(names, database.execute(each_query(names, source)).to_arrow_table()) for names in sets]

    def at_once(sets: list[tuple[str, ...]]) -> Any:
        return database.execute(sets_query(sets, source)).to_arrow_table()

    joint = ", ".join(
        f"j{place} AS MATERIALIZED ({each_query(names, source)})" for place, names in enumerate(JOINT)
    )
    of_joint = " UNION ALL ".join(
        f"SELECT '{name}' AS name, CAST({name} AS VARCHAR) AS value, {CLASS}, CAST(sum(n) AS BIGINT) AS n "
        f"FROM j{place} GROUP BY {name}, {CLASS}"
        for place, names in enumerate(JOINT)
        for name in names
    )

    def named_answer(table: Any) -> Answer:
        answer: Answer = {name: {} for name in NAMES}
        for name, value, label, number in zip(*(column.to_pylist() for column in table.columns), strict=True):
            answer[name][int(value) if name in FIRST else value, label] = number
        return answer

    yield Form("GROUP BY each attribute", partial(each, SINGLES), grouped_answer)
    yield Form("GROUP BY pairs", partial(each, PAIRS), grouped_answer)
    yield Form("GROUP BY joint keys", partial(each, JOINT), grouped_answer)
    yield Form(
        "joint keys, added up by a second GROUP BY",
        lambda: database.execute(f"WITH {joint} {of_joint}").to_arrow_table(),
        named_answer,
    )
    yield Form("GROUPING SETS", partial(at_once, SINGLES), partial(sets_answer, SINGLES))
    yield Form("GROUPING SETS of pairs", partial(at_once, PAIRS), partial(sets_answer, PAIRS))
    yield Form("GROUPING SETS of joint keys", partial(at_once, JOINT), partial(sets_answer, JOINT))


@in_polars.peer("Polars")
def counts_of_polars(opened: Opened) -> Iterator[Form]:
    import polars as pl

    def each(sets: list[tuple[str, ...]], engine: str) -> list[tuple[tuple[str, ...], Any]]:
        lazy = pl.scan_parquet(f"{opened.path}/*.parquet")
        queries = [lazy.group_by([*names, CLASS]).len() for names in sets]
        return list(zip(sets, pl.collect_all(queries, engine=engine), strict=True))

    def answer(found: list[tuple[tuple[str, ...], Any]]) -> Answer:
        return grouped_answer(
            (names, frame.select([*names, CLASS, "len"]).to_arrow()) for names, frame in found
        )

    def added_up() -> list[tuple[tuple[str, ...], Any]]:
        joint = [(names, frame.lazy()) for names, frame in each(JOINT, "streaming")]
        singles = [((name,), frame) for names, frame in joint for name in names]
        queries = [frame.group_by([*names, CLASS]).agg(pl.col("len").sum()) for names, frame in singles]
        return [(names, frame) for (names, _), frame in zip(singles, pl.collect_all(queries), strict=True)]

    for how, sets in (("each attribute", SINGLES), ("pairs", PAIRS), ("joint keys", JOINT)):
        for engine in ("streaming", "in-memory"):
            yield Form(f"group_by {how}, collect_all, {engine}", partial(each, sets, engine), answer)
    yield Form("joint keys, added up by a second group_by", added_up, answer)


@in_dask.peer("Dask")
def counts_of_dask(opened: Opened) -> Iterator[Form]:
    yield from _groupbys(opened.rows, [("each attribute", SINGLES)])


@in_dask.peer("Dask, by hand")
def hand_written_counts_of_dask(opened: Opened) -> Iterator[Form]:
    """By somebody who knows which attributes have few combinations of values."""
    yield from _groupbys(opened.rows, [("pairs", PAIRS), ("joint keys", JOINT)])


def _groupbys(rows: Any, ways: list[tuple[str, list[tuple[str, ...]]]]) -> Iterator[Form]:
    import dask

    categories = rows.astype({name: "category" for name in COLUMNS if name not in FIRST})

    def each(frame: Any, sets: list[tuple[str, ...]]) -> list[tuple[tuple[str, ...], Any]]:
        queries = [frame.groupby([*names, CLASS], observed=True).size() for names in sets]
        return list(zip(sets, dask.compute(*queries), strict=True))

    def answer(found: list[tuple[tuple[str, ...], Any]]) -> Answer:
        return grouped_answer(
            (names, pa.Table.from_pandas(sizes[sizes > 0].rename("n").reset_index(), preserve_index=False))
            for names, sizes in found
        )

    for what, frame in (("texts", rows), ("categories", categories)):
        for how, sets in ways:
            yield Form(f"groupby {how}, one compute, {what}", partial(each, frame, sets), answer)


@in_dask.peer("a read")
def read_in_dask(opened: Opened) -> Iterator[Form]:
    import dask

    parts = opened.rows[COLUMNS].to_delayed()
    yield Form(
        "reads all columns, counts nothing",
        lambda: dask.compute(*map(dask.delayed(len), parts)),
        None,
    )


@in_spark.peer("mapInArrow")
def kernels_in_spark(opened: Opened) -> Iterator[Form]:
    import pandas as pd

    rows = opened.rows.select(COLUMNS)

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        views = nbcfast.count(batches, CLASS, threads=1, empty="none")  # None: a partition without rows
        if views is not None:
            yield pa.RecordBatch.from_pydict({"views": pa.array([pickle.dumps(views)], pa.binary())})

    def run(n_rows: int) -> Any:
        opened.engine.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(n_rows))
        parts = rows.mapInArrow(counted, "views binary").collect()
        return nbcfast.views.total(pickle.loads(bytes(part.views)) for part in parts)

    yield Form("one pickled Viewset a partition", partial(run, 10_000), counts_answer)
    yield Form(f"the same, batches of {GATHERED}", partial(run, GATHERED), counts_answer)

    def counted_frames(frames: Iterator[Any]) -> Iterator[Any]:
        parts = [nbcfast.count(frame, CLASS, threads=1) for frame in frames if len(frame)]
        if parts:
            yield pd.DataFrame({"views": [pickle.dumps(nbcfast.views.total(parts))]})

    def in_pandas() -> Any:
        opened.engine.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(GATHERED))
        parts = rows.mapInPandas(counted_frames, "views binary").collect()
        return nbcfast.views.total(pickle.loads(bytes(part.views)) for part in parts)

    yield Form("mapInPandas", in_pandas, counts_answer)


@in_spark.peer("Spark SQL")
def queries_in_spark(opened: Opened) -> Iterator[Form]:
    opened.rows.createOrReplaceTempView("census")

    def each() -> list[tuple[tuple[str, ...], Any]]:
        return [(names, opened.engine.sql(each_query(names, "census")).toArrow()) for names in SINGLES]

    yield Form("GROUP BY each attribute, ten jobs", each, grouped_answer)
    for how, sets in ((" of pairs", PAIRS), (" of joint keys", JOINT)):
        yield Form(
            f"GROUPING SETS{how}",
            lambda sets=sets: opened.engine.sql(sets_query(sets, "census")).toArrow(),
            partial(sets_answer, sets),
        )


@in_spark.peer("a scan")
def scan_in_spark(opened: Opened) -> Iterator[Form]:
    lengths = " + ".join(f"length({name})" for name in COLUMNS)
    yield Form(
        "reads all columns, counts nothing",
        lambda: opened.rows.selectExpr(f"sum({lengths})").collect(),
        None,
    )


def _labels_answer(table: Any) -> dict[str, int]:
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def labelled(release: Any, table: Any) -> pa.Table:
    """How many rows get which label from the release itself."""
    tally = Counter(release.predict(nbcfast.Table(table)).tolist())
    return pa.table({"label": pa.array(tally.keys(), pa.string()), "n": pa.array(tally.values(), pa.int64())})


@labels_in_duckdb.peer("release.predict")
def rows_of_duckdb(opened: Opened) -> Iterator[Form]:
    query = f"SELECT {', '.join(DECIDING)} FROM read_parquet('{opened.path}/*.parquet')"
    yield Form(
        "of the fetched rows",
        lambda: labelled(opened.release, opened.engine.execute(query).to_arrow_table()),
        _labels_answer,
    )


@labels_in_spark.peer("mapInArrow")
def predictions_in_spark(opened: Opened) -> Iterator[Form]:
    release, rows = opened.release, opened.rows.select(DECIDING)

    def predicted(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                yield pa.RecordBatch.from_pydict({"label": release.predict(nbcfast.Table(batch), threads=1)})

    def run(n_rows: int) -> Any:
        opened.engine.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(n_rows))
        return rows.mapInArrow(predicted, "label string").groupBy("label").count().toArrow()

    yield Form("release.predict", partial(run, 10_000), _labels_answer)
    yield Form(f"release.predict, batches of {GATHERED}", partial(run, GATHERED), _labels_answer)


@contextmanager
def duckdb_rows(path: str) -> Iterator[tuple[Any, Any]]:
    import duckdb

    with duckdb.connect() as database:
        yield database, database.read_parquet(f"{path}/*.parquet")


@contextmanager
def polars_rows(path: str) -> Iterator[tuple[Any, Any]]:
    import polars as pl

    yield pl, pl.scan_parquet(f"{path}/*.parquet")


@contextmanager
def dask_rows(path: str) -> Iterator[tuple[Any, Any]]:
    """A cluster of two processes, each of one thread, as its workers are where there are many."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
        Client(cluster) as client,
    ):
        yield client, dd.read_parquet(path)


@contextmanager
def spark_rows(path: str, **settings: str) -> Iterator[tuple[Any, Any]]:
    """A classic session of two threads; its Pythons find nbcfast where this one does."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise ImportError("there is no Java for Spark here")
    from pyspark.sql import SparkSession

    places = [str(BENCH), str(Path(nbcfast.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        **settings,
    }
    builder = SparkSession.builder.appName("nbcfast").master("local[2]")
    for name, value in chosen.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session, session.read.parquet(path)
    finally:
        session.stop()


def _labels_by_duckdb(opened: Opened) -> Any:
    text = opened.release.scorecard().sql("duckdb")
    return opened.engine.execute(
        f"SELECT label, count(*) AS n FROM "
        f"(SELECT {text} AS label FROM read_parquet('{opened.path}/*.parquet')) GROUP BY label"
    ).to_arrow_table()


def _labels_by_spark(opened: Opened) -> Any:
    text = opened.release.scorecard().sql("spark")
    return opened.rows.selectExpr(f"{text} AS label").groupBy("label").count().toArrow()


Opening = Callable[[str], AbstractContextManager[tuple[Any, Any]]]
Clock = Callable[[], float]

ENGINES: dict[str, tuple[Opening, Peers, Clock, Peers | None, Callable[[Opened], Any] | None]] = {
    "DuckDB": (duckdb_rows, in_duckdb, time.process_time, labels_in_duckdb, _labels_by_duckdb),
    "Polars": (polars_rows, in_polars, time.process_time, None, None),
    "Dask": (dask_rows, in_dask, tree_time, None, None),
    "Spark": (spark_rows, in_spark, tree_time, labels_in_spark, _labels_by_spark),
}


def frames(rounds: int, n_rows: int) -> Iterator[Row]:
    """Counts of an engine's rows by a Frame, and labels by SQL, beside what else the engine offers for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(write(Path(folder, "census"), n_rows))
        expected = nbcfast.count(pq.read_table(path), CLASS, NAMES)
        release = canonical.release(
            nbcfast.count(pq.read_table(path, columns=[*DECIDING, CLASS]), CLASS), 4, class_name=CLASS
        )
        labels = _labels_answer(labelled(release, pq.read_table(path, columns=DECIDING)))
        for engine, (opening, counting, clock, labelling, by_sql) in ENGINES.items():
            try:
                clock()
                with opening(path) as (engine_itself, rows):
                    opened = Opened(engine_itself, rows, path, release)
                    yield from _counts(engine, opened, counting, clock, expected, rounds, n_rows)
                    if labelling is not None and by_sql is not None:
                        yield from _labels(engine, opened, labelling, by_sql, clock, labels, rounds, n_rows)
            except ImportError as error:
                print(f"{engine}: skipped, {error}", file=sys.stderr)


def _counts(
    engine: str, opened: Opened, counting: Peers, clock: Clock, expected: Any, rounds: int, n_rows: int
) -> Iterator[Row]:
    if Frame(opened.rows).counts(CLASS, NAMES) != expected:
        raise AssertionError(f"{engine}: the counts of a Frame are not those of the files")
    yield from race(
        f"Frame.counts {power(n_rows)} rows, {engine}",
        n_rows,
        Form("Frame.counts", lambda: Frame(opened.rows).counts(CLASS, NAMES), counts_answer),
        counting.forms(opened),
        lambda theirs, ours: theirs == ours,
        rounds,
        COUNTS[engine] if n_rows >= 1_000_000 else None,
        clock,
        after_itself=clock is time.process_time,  # engines in this process keep what a query had
    )


def _labels(
    engine: str,
    opened: Opened,
    labelling: Peers,
    by_sql: Callable[[Opened], Any],
    clock: Clock,
    expected: dict[str, int],
    rounds: int,
    n_rows: int,
) -> Iterator[Row]:
    if _labels_answer(by_sql(opened)) != expected:
        raise AssertionError(f"{engine}: the labels by SQL are not those of the release")
    yield from race(
        f"labels by SQL {power(n_rows)} rows, {engine}",
        n_rows,
        Form("sql", lambda: by_sql(opened), _labels_answer),
        labelling.forms(opened),
        lambda theirs, ours: theirs == ours,
        rounds,
        LABELS.get(engine) if n_rows >= 1_000_000 else None,
        clock,
    )
