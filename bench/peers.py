"""python bench/peers.py: nbcfast beside what users would pick today.

Ratios are of medians over rounds inside one run, on the same input, answers asserted equal. CPU time of the
whole process unless a row says wall, of engines that of all processes which they start; ours on one thread
unless it says two. A missing peer is skipped with a
line that says so.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from against.counting import counting, equal
from against.predicting import Task, predicting
from against.serving import CALLS, single_calls
from shared.census import CLASS, SIZES, census
from shared.clock import Form, Peers, Printer, Row, machine, medians, power, race, shown
from shared.processes import run_module

import nbcfast

# At least so many times the best form of the peer: (classes, at least so many rows) -> peer -> ratio.
COUNTING = {
    (2, 1_000_000): {"numpy": 10, "numba": 3, "polars": 20, "DuckDB": 20, "scikit-learn": 100},
    (2, 100_000): {"numpy": 5, "numba": 1.5, "polars": 12, "DuckDB": 12, "scikit-learn": 30},
    (10, 1_000_000): {"numpy": 7, "numba": 2.2, "polars": 20, "DuckDB": 13, "scikit-learn": 220},
}
PREDICTING = {
    (2, 1_000_000): {"numpy in blocks": 2.2, "scikit-learn": 25},
    (10, 1_000_000): {"numpy in blocks": 9, "numba": 7, "scikit-learn": 40},
}
FILES = {
    "arrow": {"pyarrow + bincount": 1.8},
    "parquet": {"pyarrow + bincount": 2, "pyarrow alone": 0.95, "polars": 3, "DuckDB": 3},
    "csv": {"pyarrow + bincount": 5, "polars": 5, "DuckDB": 5},
    "csv_tables": {"polars": 4},
}
TEXTS = {"pyarrow": 2.5, "polars": 2.5, "pandas": 2.5, "values known": 1.5}
BANDWIDTH = 0.5  # int64 row-major, of one core's
LIMIT_SECONDS = 0.5e-3  # 1e5 rows
LIMIT_BYTES = 1 << 20  # above the input


class Options(NamedTuple):
    rows: list[int]
    rounds: int


QUICK = Options([100_000], 3)


def count(n_rows: int, n_classes: int, rounds: int) -> Iterator[Row]:
    data = census(n_rows, n_classes)
    table = data.table()
    ours = Form(
        "count", lambda: nbcfast.count(table, CLASS, threads=1), lambda views: list(views.counts.values())
    )
    yield from race(
        f"count {power(n_rows)} rows, {n_classes} classes",
        n_rows,
        ours,
        counting.forms(data),
        equal,
        rounds,
        COUNTING.get((n_classes, min(n_rows, 1_000_000))),
    )


def predict(n_rows: int, n_classes: int, rounds: int) -> Iterator[Row]:
    # Few rows would leave counts of zero, which the peers' sums of logarithms cannot add up.
    learned = census(1_000_000, n_classes)
    views = nbcfast.count(learned.table(), CLASS)
    data = census(n_rows, n_classes)
    table = data.table()
    yield from race(
        f"predict {power(n_rows)} rows, {n_classes} classes",
        n_rows,
        Form("predict", lambda: views.predict(table, codes=True, threads=1)),
        predicting.forms(Task(data, views, learned)),
        np.array_equal,
        rounds,
        PREDICTING.get((n_classes, min(n_rows, 1_000_000))),
    )


def counting_job(options: Options) -> Iterator[Row]:
    for n_rows in options.rows:
        yield from count(n_rows, 2, options.rounds)
    yield from count(min(1_000_000, max(options.rows)), 10, options.rounds)


def predicting_job(options: Options) -> Iterator[Row]:
    for n_classes in (2, 10):
        yield from predict(min(1_000_000, max(options.rows)), n_classes, options.rounds)


def many_classes_job(options: Options) -> Iterator[Row]:
    from against.many_classes import many_classes

    yield from many_classes(min(200_000, max(options.rows)), options.rounds, options == QUICK)


def threads_job(options: Options) -> Iterator[Row]:
    """Two threads and one, and what `threads=None` chooses; wall time."""
    for n_rows in options.rows:
        data = census(n_rows)
        table = data.table()
        views = nbcfast.count(table, CLASS)
        jobs = {
            "count": partial(nbcfast.count, table, CLASS),
            "predict": partial(views.predict, table, codes=True),
        }
        for job, run in jobs.items():
            chosen, two, one = medians(
                [run, partial(run, threads=2), partial(run, threads=1)], options.rounds, time.perf_counter
            )
            what, theirs = f"{job} {power(n_rows)} rows, wall", ("nbcfast, one thread", shown(one, n_rows))
            if n_rows >= 1_000_000:
                target = 1.7 if job == "count" and n_rows >= 10_000_000 else 0.95
                yield Row(f"{what}, two threads", *theirs, shown(two, n_rows), one / two, target)
            yield Row(f"{what}, default threads", *theirs, shown(chosen, n_rows), one / chosen, 0.95)
            two, one = medians([partial(run, threads=2), partial(run, threads=1)], options.rounds)
            what = f"{job} {power(n_rows)} rows, CPU time, two threads"
            yield Row(what, "nbcfast, one thread", shown(one, n_rows), shown(two, n_rows), one / two)


def bandwidth_job(options: Options) -> Iterator[Row]:
    """Layouts, each beside numpy's sum over the same bytes."""
    n_rows = max(options.rows)
    data = census(n_rows)
    for dtype in (np.uint8, np.uint16, np.int32, np.int64):
        y = data.classes.astype(dtype)
        for layout in ("columns", "row-major"):
            matrix = data.matrix(dtype)
            codes: Any = matrix
            if layout == "columns":
                codes = [np.ascontiguousarray(column) for column in matrix.T]
                matrix = np.concatenate(codes)
            words = [array.reshape(-1).view(np.int64) for array in (matrix, y)]

            def ours(codes: Any = codes, y: Any = y) -> nbcfast.Viewset:
                return nbcfast.Viewset.from_codes(codes, y, sizes=SIZES, n_classes=2, threads=1)

            def floor(words: Any = words) -> list[int]:
                return [int(array.sum()) for array in words]

            expected = np.bincount(data.columns[0] * np.uint8(2) + data.classes, minlength=2 * SIZES[0])
            if not np.array_equal(ours().counts["A1"].ravel(), expected):
                raise AssertionError(f"{matrix.dtype} {layout}: other counts than bincount's")
            read, counted = medians([floor, ours], options.rounds)
            yield Row(
                f"count {power(n_rows)} rows, {matrix.dtype} {layout}",
                "one core's read bandwidth (numpy sum)",
                shown(read, n_rows),
                shown(counted, n_rows),
                read / counted,
                BANDWIDTH if (dtype, layout) == (np.int64, "row-major") and n_rows >= 1_000_000 else None,
            )


def small_job(options: Options) -> Iterator[Row]:
    """What a call costs: 1e5 rows against a limit, 100 rows and single records against the peers."""
    for n_classes in (2, 10):
        table = census(100_000, n_classes).table()
        (seconds,) = medians(
            [partial(nbcfast.count, table, CLASS, threads=1)], options.rounds, time.perf_counter
        )
        what = f"count 1e5 rows, {n_classes} classes, wall"
        limit = shown(LIMIT_SECONDS, 1), shown(seconds, 1)
        yield Row(what, "time, a limit", *limit, LIMIT_SECONDS / seconds, 1)
    yield from few_rows(options.rounds)
    yield from count(100, 2, options.rounds)
    yield from predict(100, 2, options.rounds)
    yield from single_calls(CALLS if max(options.rows) >= 1_000_000 else 1000)


def few_rows(rounds: int) -> Iterator[Row]:
    """100 rows again and again, against limits of CPU time."""
    table = census(100).table()
    views = nbcfast.count(census(1_000_000).table(), CLASS)
    release = nbcfast.Release(views, nbcfast.Certificate(amplification=10**9, tuples=views.n_tuples))
    expected = views.order(table)[:, 0]
    jobs = {
        "count 100 rows": (10e-6, lambda: nbcfast.count(table, CLASS)),
        "Viewset.predict 100 rows": (8e-6, lambda: views.predict(table)),
        "Release.predict 100 rows": (8e-6, lambda: release.predict(table)),
    }
    for predicted in (views.predict(table), release.predict(table)):
        if not np.array_equal(predicted, expected):
            raise AssertionError("predict 100 rows: other classes than the first of order")
    times = medians([run for _, run in jobs.values()], rounds)
    for (job, (limit, _)), seconds in zip(jobs.items(), times, strict=True):
        yield Row(job, "CPU time, a limit", shown(limit, 1), shown(seconds, 1), limit / seconds, 1)


def files_job(options: Options, kinds: tuple[str, ...] = ("arrow",)) -> Iterator[Row]:
    try:
        from against import files as peers_files
    except ImportError as error:
        print(f"files: skipped, {error}", file=sys.stderr)
        return
    n_rows = min(1_000_000, max(options.rows))
    with tempfile.TemporaryDirectory() as folder:
        files = peers_files.write(census(n_rows), folder)
        runs = {
            "arrow": lambda: nbcfast.count(files.table, CLASS, threads=1),
            "parquet": lambda: nbcfast.count(files.parquet, CLASS),
            "csv": lambda: nbcfast.count(files.csv, CLASS, threads=1),
            "csv_tables": lambda: nbcfast.read_csv(files.csv),
        }
        table = Form("read_csv", runs["csv_tables"], peers_files.table_answer)
        for kind in kinds:
            peers: Peers = getattr(peers_files, kind)
            of_table = kind == "csv_tables"
            job = f"{kind} {power(n_rows)} rows -> counts"
            # All read a Parquet file on several threads: of two clocks each says something else.
            clocks = {"": time.process_time, **({", wall": time.perf_counter} if kind == "parquet" else {})}
            for which, clock in clocks.items():
                yield from race(
                    f"csv {power(n_rows)} rows -> table" if of_table else job + which,
                    n_rows,
                    table if of_table else Form("count", runs[kind], peers_files.viewset_answer),
                    peers.forms(files),
                    equal,
                    options.rounds,
                    FILES.get(kind) if n_rows >= 1_000_000 else None,
                    clock,
                )


def parquet_job(options: Options) -> Iterator[Row]:
    yield from files_job(options, ("parquet",))


def texts_job(options: Options) -> Iterator[Row]:
    """Columns of texts in memory, as pandas and engines hand them over, to a Table."""
    from against import files as peers_files

    n_rows = min(1_000_000, max(options.rows))
    with tempfile.TemporaryDirectory() as folder:
        table = peers_files.as_texts(peers_files.write(census(n_rows), folder))
    yield from race(
        f"texts {power(n_rows)} rows -> codes",
        n_rows,
        Form(
            "Table",
            lambda: nbcfast.Table(table),
            lambda made: peers_files.codes_answer(
                (made.codes(name), made.domain(name)) for name in made.names
            ),
        ),
        peers_files.texts.forms(table),
        lambda theirs, ours: all(map(np.array_equal, theirs, ours)),
        options.rounds,
        TEXTS if n_rows >= 1_000_000 else None,
    )


def csv_job(options: Options) -> Iterator[Row]:
    yield from files_job(options, ("csv", "csv_tables"))


def memory_job(options: Options) -> Iterator[Row]:
    rows = f"{min(1_000_000, max(options.rows))}"
    done = run_module("shared.memory", rows)
    if done.returncode:
        print(f"memory: skipped, {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return
    for what, grown in json.loads(done.stdout).items():
        cells = [f"{n_bytes / (1 << 20):.2f} MiB" for n_bytes in (LIMIT_BYTES, grown)]
        yield Row(what, "memory above the input, a limit", *cells, LIMIT_BYTES / max(grown, 1), 1)


def publishing_job(options: Options) -> Iterator[Row]:
    from against.publishing import publishing

    yield from publishing(options.rounds, max(options.rows) < 1_000_000)


def skyline_job(options: Options) -> Iterator[Row]:
    from against.skyline import skyline

    yield from skyline(options)


def partitions_job(options: Options) -> Iterator[Row]:
    from against.partition import partitions

    yield from partitions(options.rounds, max(options.rows) < 1_000_000)


def adversaries_job(options: Options) -> Iterator[Row]:
    from against.adversaries import adversaries

    yield from adversaries(options.rounds)


def templates_job(options: Options) -> Iterator[Row]:
    from against.templates import templates

    yield from templates(options.rounds, max(options.rows) < 1_000_000)


def response_job(options: Options) -> Iterator[Row]:
    from against.response import randomised_response

    yield from randomised_response(options.rounds, options.rows)


def associations_job(options: Options) -> Iterator[Row]:
    from against.associations import associations

    yield from associations(options.rounds, max(options.rows))


def canonical_job(options: Options) -> Iterator[Row]:
    from against.canonical import canonical_releases

    yield from canonical_releases(options.rounds, max(options.rows) < 1_000_000)


def advising_job(options: Options) -> Iterator[Row]:
    from against.advising import advising

    yield from advising(options.rounds, max(options.rows) < 1_000_000)


def noise_job(options: Options) -> Iterator[Row]:
    from against.noise import noise

    yield from noise(options.rounds, max(options.rows) < 1_000_000)


def estimators_job(options: Options) -> Iterator[Row]:
    from against.estimators import fit_and_predict

    yield from fit_and_predict(options.rounds, max(options.rows) < 1_000_000)


def frames_job(options: Options) -> Iterator[Row]:
    try:
        from against.frames import frames
    except ImportError as error:
        print(f"frames: skipped, {error}", file=sys.stderr)
        return
    yield from frames(options.rounds, max(options.rows))


JOBS = {
    "counting": counting_job,
    "threads": threads_job,
    "bandwidth": bandwidth_job,
    "small": small_job,
    "predicting": predicting_job,
    "many_classes": many_classes_job,
    "files": files_job,
    "parquet": parquet_job,
    "csv": csv_job,
    "texts": texts_job,
    "memory": memory_job,
    "publishing": publishing_job,
    "skyline": skyline_job,
    "partitions": partitions_job,
    "adversaries": adversaries_job,
    "templates": templates_job,
    "response": response_job,
    "associations": associations_job,
    "canonical": canonical_job,
    "advising": advising_job,
    "noise": noise_job,
    "estimators": estimators_job,
    "frames": frames_job,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="1e5,1e6,1e7", help="numbers of rows, by default %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="figures are medians of so many, by default 7")
    parser.add_argument("--jobs", default=",".join(JOBS), help="by default %(default)s")
    parser.add_argument(
        "--quick", action="store_true", help="1e5 rows, 3 rounds: to see that all answers agree"
    )
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    rows = sorted(int(float(rows)) for rows in given.rows.split(","))
    jobs = given.jobs.split(",")
    for job in jobs:
        if job not in JOBS:
            parser.error(f"--jobs must be of {', '.join(JOBS)}; got {job}")
    options = QUICK if given.quick else Options(rows, given.rounds)
    print("\n\n".join(machine()) if given.markdown else "\n".join(machine()), end="\n\n")
    printed = Printer(given.markdown)
    for job in jobs:
        printed(JOBS[job](options))


if __name__ == "__main__":
    main()
