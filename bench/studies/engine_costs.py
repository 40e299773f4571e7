"""python bench/study.py engines > measured.md: what a row costs in engines, and what 1e11 rows would come to.

Prints the measured sections of docs/engines-costs.md: `python tools/engines_page.py measured.md` puts them
there. Each figure of a row is the difference between two tables, so that what a job costs before its first
row is left out. A missing engine has no lines, and a line that says so.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from against.frames import DECIDING, dask_rows, duckdb_rows, spark_rows
from shared.bootstrap import write
from shared.census import ATTRIBUTES, CLASS, NAMES
from shared.clock import machine, power
from shared.memory import growth
from shared.process_tree import tree_time

import nbcfast
from nbcfast import canonical, response, skyline, templates
from nbcfast.frames import Frame

PROJECTED, WORKERS = 100_000_000_000, 100
CORES = 2  # of a worker: as many as the measurements had
SPLIT = 128 << 20  # bytes of a file that a task of Spark reads, by spark.sql.files.maxPartitionBytes

VALUES = {**{name: size for name, size, _ in ATTRIBUTES}, CLASS: 2}
QUASI, SENSITIVE = ["education", "marital", "race", "sex", "relationship"], "occupation"
TOLD = ["education", "marital", "sex", "relationship", CLASS]
POINTS = [(0, 2, 0, "0.95")]
TEMPLATES = [templates.Template(("education", "marital"), (CLASS, ">50K"), "9/10")]
HELD_TEMPLATES = [templates.Template((*QUASI, SENSITIVE), (CLASS, ">50K"), "9/10")]  # of which many break
SCHEME = response.KaryScheme("0.8", {"sex": ["sex_00", "sex_01"], CLASS: ["<=50K", ">50K"]})


class Cost(NamedTuple):
    """What was measured of a method in an engine; None where that has no meaning there."""

    engine: str
    method: str
    row_ns: float  # CPU of all processes
    here_ns: float | None  # CPU of this process alone, for each distinct row that it is sent
    here_bytes: float | None
    shuffled: float | None  # bytes of a record that tasks exchange
    distinct: int  # rows that were grouped into
    most_distinct: int  # of them there can be no more: all combinations of values


class Projected(NamedTuple):
    """What the formula says of so many rows."""

    worker_seconds: float
    shuffle_bytes: float | None
    network: float | None  # bytes a second of a worker, with which the shuffle takes no longer than the rows
    here_seconds: float
    here_bytes: float
    bottleneck: str


def projected(cost: Cost, n_rows: int, row_bytes: float, workers: int, cores: int = CORES) -> Projected:
    """The formula of the page: rows cost what they cost, and this process what all combinations cost."""
    seconds = n_rows * cost.row_ns * 1e-9 / (workers * cores)
    shuffle = network = None
    if cost.shuffled is not None and cost.most_distinct:  # of nothing else is known how much there can be
        tasks = max(1.0, n_rows * row_bytes / SPLIT)
        shuffle = tasks * min(cost.most_distinct, n_rows / tasks) * cost.shuffled
        network = shuffle / workers / seconds if seconds else None  # of few rows a clock tells nothing
    here = cost.most_distinct * (cost.here_ns or 0) * 1e-9
    n_bytes = cost.most_distinct * (cost.here_bytes or 0)
    return Projected(seconds, shuffle, network, here, n_bytes, "this process" if here > seconds else "rows")


class Job(NamedTuple):
    """A method in an engine: of an opened table, and what it sends here."""

    run: Callable[[Any], Any]
    sets: Callable[[], Iterable[Iterable[str]]] | None = None  # columns whose distinct rows are asked for
    sent: bool = True  # to this process


def packed_sets(rows: Any) -> list[tuple[str, ...]]:
    return [table.names for table in Frame(rows).packs(NAMES, [CLASS])]


def chosen(rows: Any, columns: list[str]) -> Any:
    """The frame of some columns, in the words of the engine."""
    return rows[columns] if hasattr(rows, "dask") else rows.select(*columns)


def methods(rows: Any) -> dict[str, Job]:
    """The methods that need nothing but a frame."""
    table = [[*QUASI, SENSITIVE]]
    return {
        "count": Job(lambda rows: Frame(rows).counts(CLASS, NAMES), lambda: packed_sets(rows)),
        "group, check": Job(
            lambda rows: skyline.check(skyline.group(Frame(rows), QUASI, SENSITIVE), POINTS), lambda: table
        ),
        "disclose": Job(
            lambda rows: templates.disclose(Frame(chosen(rows, TOLD)), TEMPLATES, utility="distortion"),
            lambda: [TOLD],
        ),
        "anonymize": Job(
            lambda rows: skyline.anonymize(Frame(rows), QUASI, SENSITIVE, POINTS, k=10), lambda: table
        ),
    }


def in_tasks(rows: Any) -> skyline.Statistics:
    return skyline.statistics(Frame(rows), QUASI, SENSITIVE, [0], tasks=2)


def disguising(folder: str) -> Job:
    """Each time into a folder that is not there."""
    names = (str(Path(folder, f"told-{number}")) for number in count())
    return Job(lambda rows: response.disguise_frame(Frame(chosen(rows, ["sex", CLASS])), SCHEME, next(names)))


def warm_median(run: Callable[[], Any], clock: Callable[[], float], rounds: int) -> float:
    run()
    times = []
    for _ in range(rounds):
        start = clock()
        run()
        times.append(clock() - start)
    return statistics.median(times)


def measured(
    engine: str, jobs: dict[str, Job], few: Any, many: Any, n_rows: tuple[int, int], rounds: int
) -> Iterator[Cost]:
    """The costs of methods, each of two tables."""
    for method, job in jobs.items():
        seconds = [warm_median(partial(job.run, rows), tree_time, rounds) for rows in (few, many)]
        row_ns = max(0.0, (seconds[1] - seconds[0]) / (n_rows[1] - n_rows[0]) * 1e9)
        here_ns = here_bytes = None
        distinct = most = 0
        if job.sets is not None:
            sets = [list(one) for one in job.sets()]
            distinct = sum(Frame(many).weighted(one).n_rows for one in sets)
            most = sum(prod(VALUES[name] for name in one) for one in sets)
            if job.sent and engine in ("Spark", "Dask"):  # other engines work in this process
                here_ns = warm_median(partial(job.run, many), time.process_time, rounds) / distinct * 1e9
                here_bytes = max(0, growth(partial(job.run, many))) / distinct
        yield Cost(engine, method, row_ns, here_ns, here_bytes, None, distinct, most)


def shuffled(log: Iterable[str]) -> dict[str, float]:
    """Of each group of jobs in an event log of Spark the bytes of a record that its tasks exchanged."""
    group_of: dict[int, str] = {}
    found: dict[str, list[int]] = {}
    for line in log:
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            name = event.get("Properties", {}).get("spark.jobGroup.id")
            if name is not None:
                group_of |= dict.fromkeys(event["Stage IDs"], name)
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in group_of:
            written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics", {})
            sums = found.setdefault(group_of[event["Stage ID"]], [0, 0])
            sums[0] += written.get("Shuffle Bytes Written", 0)
            sums[1] += written.get("Shuffle Records Written", 0)
    return {name: n_bytes / records for name, (n_bytes, records) in found.items() if records}


def labels_by(release: Any, dialect: str) -> Callable[[Any], Any]:
    """How many rows get which label, in the engine alone."""
    text = release.scorecard().sql(dialect)
    if dialect == "spark":
        return lambda rows: rows.selectExpr(f"{text} AS label").groupBy("label").count().collect()
    return lambda rows: rows.project(f"{text} AS label").aggregate("label, count(*)", "label").fetchall()


def of_duckdb(paths: tuple[str, str], n_rows: tuple[int, int], rounds: int, release: Any) -> Iterator[Cost]:
    with duckdb_rows(paths[0]) as (_, few), duckdb_rows(paths[1]) as (_, many):
        jobs = {**methods(many), "labels by SQL": Job(labels_by(release, "duckdb"))}
        yield from measured("DuckDB", jobs, few, many, n_rows, rounds)


def of_dask(paths: tuple[str, str], n_rows: tuple[int, int], rounds: int, release: Any) -> Iterator[Cost]:
    import dask.dataframe as dd

    with tempfile.TemporaryDirectory() as told, dask_rows(paths[0]) as (_, few):
        many = dd.read_parquet(paths[1])
        jobs = {
            **methods(many),
            "statistics in tasks": Job(in_tasks, lambda: [[*QUASI, SENSITIVE]], sent=False),
            "disguise": disguising(told),
        }
        yield from measured("Dask", jobs, few, many, n_rows, rounds)


def of_spark(paths: tuple[str, str], n_rows: tuple[int, int], rounds: int, release: Any) -> Iterator[Cost]:
    with tempfile.TemporaryDirectory() as log, tempfile.TemporaryDirectory() as told:
        settings = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(log).as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
        costs = []
        with spark_rows(paths[0], **settings) as (session, few):
            many = session.read.parquet(paths[1])
            jobs = {
                **methods(many),
                "statistics in tasks": Job(in_tasks, lambda: [[*QUASI, SENSITIVE]], sent=False),
                "disguise": disguising(told),
                "labels by SQL": Job(labels_by(release, "spark"), lambda: [[CLASS]], sent=False),
            }
            for method, job in jobs.items():
                costs += measured("Spark", {method: job}, few, many, n_rows, rounds)
                session.sparkContext.setJobGroup(method, method)
                job.run(many)
                session.sparkContext.setJobGroup("measuring", "measuring")
        (events,) = (path for path in Path(log).iterdir() if path.is_file())
        with open(events, encoding="utf-8") as lines:
            of_method = shuffled(lines)
    yield from (cost._replace(shuffled=of_method.get(cost.method)) for cost in costs)


def of_files(paths: tuple[str, str], n_rows: tuple[int, int], rounds: int, release: Any) -> Iterator[Cost]:
    """Ours, without any engine: batches of Parquet whose texts stay dictionaries."""
    texts = [name for name in NAMES if name not in ("age", "hours")]

    def batches(path: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        for part in sorted(Path(path).iterdir()):
            yield from pq.ParquetFile(part, read_dictionary=[*texts, CLASS]).iter_batches(
                1 << 17, columns=columns
            )

    def disguised(path: str) -> int:
        return sum(
            response.disguise(nbcfast.Table(batch), SCHEME).n_rows for batch in batches(path, ["sex", CLASS])
        )

    jobs = {
        "count": Job(lambda path: nbcfast.count(batches(path, [*NAMES, CLASS]), CLASS, NAMES)),
        "group, check": Job(
            lambda path: skyline.check(
                skyline.group(batches(path, [*QUASI, SENSITIVE]), QUASI, SENSITIVE), POINTS
            ),
        ),
        "labels": Job(
            lambda path: sum(
                len(release.predict(nbcfast.Table(batch), codes=True)) for batch in batches(path, DECIDING)
            ),
        ),
        "disguise": Job(disguised),
    }
    yield from measured("nbcfast alone", jobs, *paths, n_rows, rounds)


ENGINES = {"Spark": of_spark, "Dask": of_dask, "DuckDB": of_duckdb, "nbcfast alone": of_files}


class Held(NamedTuple):
    """A method on distinct rows in memory: for each of them the time, and what the process grows by."""

    method: str
    distinct: int
    row_ns: float
    row_bytes: float


def held(folder: Path, many: str, rounds: int) -> Iterator[Held]:
    """What anonymize and disclose take for each distinct row, from a file of all of them to the result."""
    distinct = str(folder / "distinct.parquet")
    pq.write_table(nbcfast.Table(pq.read_table(many)).collapse().to_arrow(weights="n"), distinct)
    n_rows = pq.read_metadata(distinct).num_rows
    quasi = [name for name in NAMES if name != SENSITIVE]

    def table() -> nbcfast.Table:
        return nbcfast.Table(pq.read_table(distinct), weights="n")

    jobs: dict[str, Callable[[], Any]] = {
        "anonymize": lambda: skyline.anonymize(table(), quasi, SENSITIVE, POINTS, k=10),
        "disclose": lambda: templates.disclose(table(), HELD_TEMPLATES, utility="distortion"),
    }
    for method, run in jobs.items():
        seconds = warm_median(run, time.process_time, rounds)
        yield Held(method, n_rows, seconds / n_rows * 1e9, max(0, growth(run)) / n_rows)


def lines(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join(["---"] * len(head)) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def figure(value: float | None) -> str:
    """Three digits: what a busy machine lets tell, and more."""
    return "" if value is None else f"{float(f'{value:.3g}'):,.10g}"


def report(costs: list[Cost], memory: list[Held], row_bytes: float, n_rows: tuple[int, int]) -> Iterator[str]:
    """The measured sections; what is projected is worked out of the figures as they are printed."""
    yield "## Measured\n"
    yield from (f"{line}\n" for line in machine())
    yield (
        f"{power(n_rows[0])} and {power(n_rows[1])} rows of ten attributes and a class; {figure(row_bytes)} "
        "bytes of Parquet a row.\n"
    )
    head = ["engine", "method", "CPU ns a row", "distinct rows", "of at most"]
    head += ["here, ns each", "here, bytes each", "shuffle, bytes a record"]
    yield from lines(
        head,
        (
            [
                cost.engine,
                cost.method,
                figure(cost.row_ns),
                f"{cost.distinct:,}" if cost.distinct else "",
                f"{cost.most_distinct:,}" if cost.most_distinct else "",
                figure(cost.here_ns),
                figure(cost.here_bytes),
                figure(cost.shuffled),
            ]
            for cost in costs
        ),
    )
    yield "## Projected\n"
    yield f"Extrapolated by the formula above to {PROJECTED:.0e} rows, and measured by nobody.\n".replace(
        "e+", "e"
    )
    head = [
        "engine",
        "method",
        "machines",
        "rows, hours",
        "shuffle, GB",
        "network, MB/s",
        "here, s",
        "here, MB",
    ]
    rows = []
    for cost in costs:
        workers = WORKERS if cost.engine in ("Spark", "Dask") else 1
        found = projected(cost, PROJECTED, row_bytes, workers)
        rows.append(
            [
                cost.engine,
                cost.method,
                str(workers),
                figure(found.worker_seconds / 3600),
                figure(None if found.shuffle_bytes is None else found.shuffle_bytes / 1e9),
                figure(None if found.network is None else found.network / 1e6),
                figure(found.here_seconds) if cost.here_ns is not None else "",
                figure(found.here_bytes / 1e6) if cost.here_bytes is not None else "",
                found.bottleneck,
            ]
        )
    yield from lines([*head, "bottleneck"], rows)
    yield "## In memory\n"
    yield from lines(
        ["method", "distinct rows", "ns each", "bytes each", "distinct rows in 16 GiB"],
        (
            [
                one.method,
                f"{one.distinct:,}",
                figure(one.row_ns),
                figure(one.row_bytes),
                figure((16 << 30) / one.row_bytes) if one.row_bytes else "",
            ]
            for one in memory
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e7, help="the larger number, by default %(default)g")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    n_rows = (int(given.rows) // 4, int(given.rows))
    costs: list[Cost] = []
    with tempfile.TemporaryDirectory() as folder:
        few, many = (str(write(Path(folder, str(n)), n)) for n in n_rows)
        row_bytes = sum(part.stat().st_size for part in Path(many).iterdir()) / n_rows[1]
        release = canonical.release(
            nbcfast.count(pq.read_table(many, columns=[*DECIDING, CLASS]), CLASS), 4, class_name=CLASS
        )
        for engine, of_engine in ENGINES.items():
            try:
                costs += of_engine((few, many), n_rows, given.rounds, release)
            except ImportError as error:
                print(f"{engine}: skipped, {error}", file=sys.stderr)
        memory = list(held(Path(folder), many, given.rounds))
    print("\n".join(report(costs, memory, row_bytes, n_rows)))


if __name__ == "__main__":
    main()
