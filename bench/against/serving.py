"""One record at a time, again and again: what single calls take, most of them and the slowest of a hundred.

Input: Task; answer: the class code of the record of that number. Wall time of each call by itself, in all of
them alike with what it takes to look at the clock. Peers take what suits them: a mapping of names to values,
or a row of codes.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from shared.census import CLASS, NAMES, SIZES, Data, census
from shared.clock import Peers, Row, power, shown

import nbcfast

serving = Peers()

CALLS = 1_000_000
SECONDS = 5.0  # of one peer; slow ones are called less often
MANY = 100_000  # calls, for a 99th percentile to be told
RECORDS = 1000  # different ones
THREADS = 8
TURNS = 10
LIMITS = {"mapping": 3e-6, "list of codes": 3e-6, "mapping of columns": 3e-6}  # seconds
BESIDE = {  # of each way of ours, who takes the like
    "mapping": ("dict sums of a mapping",),
    "list of codes": ("dict sums of codes", "numpy", "numba", "scikit-learn"),
    "row of an array, out=": ("numpy", "numba", "scikit-learn"),
    "mapping of columns": ("scikit-learn",),
}


class Call(NamedTuple):
    """One way in which a peer decides the record of a number."""

    how: str
    run: Callable[[int], Any]


class Task(NamedTuple):
    data: Data
    views: nbcfast.Viewset
    learned: Data

    def records(self) -> list[dict[str, int]]:
        rows = self.data.matrix().tolist()
        return [dict(zip(NAMES, row, strict=True)) for row in rows]

    def odds(self) -> tuple[list[np.ndarray], float]:
        """Of each attribute the logarithms of the odds of its values, and that of the classes."""
        logs = [np.log(self.views.counts[name]) for name in NAMES]
        base = (1 - len(NAMES)) * np.log(self.views.class_counts)
        return [table[:, 1] - table[:, 0] for table in logs], float(base[1] - base[0])


@serving.peer("dict sums of codes")
def list_sums(task: Task) -> Iterator[Call]:
    """Written by hand: plain Python, for two classes."""
    tables, base = task.odds()
    odds = [table.tolist() for table in tables]
    rows = task.data.matrix().tolist()

    def run(number: int) -> int:
        score = base
        for known, code in zip(odds, rows[number], strict=True):
            score += known[code]
        return int(score >= 0)

    yield Call("by hand", run)


@serving.peer("dict sums of a mapping")
def dict_sums(task: Task) -> Iterator[Call]:
    """Written by hand: plain Python, for these attributes and two classes."""
    tables, base = task.odds()
    odds = [(name, dict(enumerate(table.tolist()))) for name, table in zip(NAMES, tables, strict=True)]
    records = task.records()

    def run(number: int) -> int:
        record, score = records[number], base
        for name, known in odds:
            score += known[record[name]]
        return int(score >= 0)

    yield Call("by hand", run)


@serving.peer("numpy")
def numpy_odds(task: Task) -> Iterator[Call]:
    tables, base = task.odds()
    stacked, first = np.concatenate(tables), np.cumsum([0, *SIZES[:-1]])
    rows = list(task.data.matrix())

    def run(number: int) -> bool:
        return bool(stacked.take(first + rows[number]).sum() + base >= 0)

    yield Call("log-odds of a row of codes", run)


@serving.peer("numba")
def numba_odds(task: Task) -> Iterator[Call]:
    import numba

    tables, base = task.odds()
    stacked, first = np.concatenate(tables), np.cumsum([0, *SIZES[:-1]])
    rows = list(task.data.matrix())

    @numba.njit
    def decided(row, first, odds, base):
        for attribute in range(len(row)):
            base += odds[first[attribute] + row[attribute]]
        return base >= 0

    yield Call("loop over a row of codes", lambda number: decided(rows[number], first, stacked, base))


@serving.peer("scikit-learn")
def sklearn_one(task: Task) -> Iterator[Call]:
    from sklearn.naive_bayes import CategoricalNB

    model: Any = CategoricalNB(alpha=0, force_alpha=True, min_categories=SIZES)
    model.fit(task.learned.matrix(), task.learned.classes)
    matrix = task.data.matrix()
    yield Call("CategoricalNB.predict of a row", lambda number: model.predict(matrix[number : number + 1])[0])


def ours(task: Task) -> dict[str, Call]:
    """Our ways, by what they take."""
    release = nbcfast.Release(
        task.views, nbcfast.Certificate(amplification=10**9, tuples=task.views.n_tuples)
    )
    scorer, records = release.scorer(), task.records()
    rows, matrix, out = task.data.matrix().tolist(), task.data.matrix(), np.empty(1, np.uint8)
    ones = [{name: [value] for name, value in record.items()} for record in records]

    def by_matrix(number: int) -> Any:
        return scorer.predict_codes(matrix[number : number + 1], out=out)[0]

    return {
        "mapping": Call("predict_one", lambda number: scorer.predict_one(records[number])),
        "list of codes": Call("predict_one", lambda number: scorer.predict_one(rows[number])),
        "row of an array, out=": Call("predict_codes", by_matrix),
        "mapping of columns": Call("release.predict", lambda number: release.predict(ones[number])[0]),
    }


def durations(run: Callable[[int], Any], n_calls: int, offset: int) -> np.ndarray:
    """Nanoseconds of each call."""
    found = np.empty(n_calls, np.int64)
    clock = time.perf_counter_ns
    for number in range(n_calls):
        record = (number + offset) % RECORDS
        begin = clock()
        run(record)
        found[number] = clock() - begin
    return found


def by_threads(run: Callable[[int], Any], n_calls: int) -> np.ndarray:
    """The same of threads that begin at once, each with its share of the calls."""
    begin, found = threading.Barrier(THREADS), []

    def work(number: int) -> None:
        begin.wait()
        found.append(durations(run, n_calls // THREADS, 100 * number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return np.concatenate(found)


def single_calls(most: int) -> Iterator[Row]:
    """The median and the 99th percentile of `most` calls of each peer, taking turns, and of eight threads."""
    learned = census(1_000_000)
    task = Task(census(RECORDS), nbcfast.count(learned.table(), CLASS), learned)
    expected = task.views.predict(task.data.table(), codes=True).tolist()
    entrants = [("nbcfast", what, call) for what, call in ours(task).items()]
    entrants += [(who, call.how, call) for who, calls in serving.forms(task).items() for call in calls]
    shares: list[int] = []
    for who, how, call in entrants:
        call.run(0)  # may compile
        begin = time.perf_counter()
        answers = [int(call.run(number)) for number in range(RECORDS)]
        once = (time.perf_counter() - begin) / RECORDS
        if answers != expected:
            raise AssertionError(f"one record: {who} ({how}) gives another answer than predict")
        shares.append(max(THREADS, min(most, int(SECONDS / once)) // TURNS))
    for threaded in (False, True):
        parts: list[list[np.ndarray]] = [[] for _ in entrants]
        order = list(range(len(entrants)))
        shuffled = random.Random(1)
        for turn in range(TURNS):
            shuffled.shuffle(order)
            for place in order:
                run = entrants[place][2].run
                share = shares[place]
                parts[place].append(by_threads(run, share) if threaded else durations(run, share, turn))
        yield from _rows(entrants, [np.concatenate(part) for part in parts], threaded)


def _rows(entrants: list[tuple[str, str, Call]], found: list[np.ndarray], threaded: bool) -> Iterator[Row]:
    seconds = [np.percentile(part, [50, 99]) * 1e-9 for part in found]
    own = [place for place, (who, _, _) in enumerate(entrants) if who == "nbcfast"]
    for k, percentile in enumerate(("p50", "p99")):
        for place in own:
            what = entrants[place][1]
            job = f"one record, {what}, {percentile}{f', {THREADS} threads' if threaded else ''}"
            mine = seconds[place][k]
            if what in LIMITS and k == 0 and not threaded:
                yield Row(
                    job, "time, a limit", shown(LIMITS[what], 1), shown(mine, 1), LIMITS[what] / mine, 1
                )
            for other, (who, how, _) in enumerate(entrants):
                if who in BESIDE[what] and (k == 0 or len(found[other]) >= MANY):
                    calls = power(len(found[other]))
                    peer = f"{who}, {how}, {calls} calls"
                    yield Row(
                        job, peer, shown(seconds[other][k], 1), shown(mine, 1), seconds[other][k] / mine
                    )
