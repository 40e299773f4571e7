"""Predicting 3 to 64 classes of 5 to 200 attributes: ours beside NumPy in blocks, numba and scikit-learn.

All answers are compared: the counts make no two sums of logarithms so near that rounding tells them apart. A
job says of how many rows costs of 16 bits leave several classes, which floats and integers decide then.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt
from against.predicting import largest_sums
from shared.clock import Form, Peers, Row, power, race

import nbcfast
from nbcfast._score import Scorer, Scores
from nbcfast.views import scoring

predicting_many = Peers()

CLASSES = (3, 10, 30, 64)
ATTRIBUTES = (5, 20, 60, 200)
VALUES = (2, 3, 5, 9, 17, 33)  # of the attributes, in turn
LEARNED = 200_000
MOST_WORK = 300_000_000  # rows times classes times attributes: fewer rows of large ones


class Grid(NamedTuple):
    """Codes of rows to predict, and the counts of others."""

    columns: list[npt.NDArray[np.uint8]]
    views: nbcfast.Viewset
    learned: list[npt.NDArray[np.uint8]]
    classes: npt.NDArray[np.uint8]

    def logs(self) -> tuple[list[npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
        counts = [np.log(array) for array in self.views.counts.values()]
        return counts, (1 - len(counts)) * np.log(self.views.class_counts)

    def table(self) -> nbcfast.Table:
        domains = {name: self.views.domain(name) for name in self.views.attributes}
        return nbcfast.Table(dict(zip(domains, self.columns, strict=True)), domains=domains)


def grid(n_rows: int, n_classes: int, n_attributes: int) -> Grid:
    """Attributes that each say the less of the class the more there are; no count is 0."""
    rng = np.random.default_rng([n_rows, n_classes, n_attributes])
    total = n_rows + LEARNED
    classes = rng.integers(0, n_classes, total).astype(np.uint8)
    # Each value with each class.
    classes[: n_classes * max(VALUES)] = np.repeat(np.arange(n_classes), max(VALUES))
    strength = 1.5 / np.sqrt(n_attributes)
    columns = []
    for a in range(n_attributes):
        size = VALUES[a % len(VALUES)]
        shares = np.exp(strength * rng.normal(size=(n_classes, size)) - 0.3 * np.arange(size))
        ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        chance = rng.random(total, np.float32)
        values = np.zeros(total, np.uint8)
        for end in ends.T[:-1]:
            values += chance > end[classes]
        values[: n_classes * max(VALUES)] = np.arange(n_classes * max(VALUES)) % max(VALUES) % size
        columns.append(values)
    learned = [column[:LEARNED] for column in columns]
    views = nbcfast.Viewset.from_codes(learned, classes[:LEARNED], n_classes=n_classes)
    return Grid([column[LEARNED:].copy() for column in columns], views, learned, classes[:LEARNED])


@predicting_many.peer("numpy in blocks")
def numpy_blocks(given: Grid) -> Iterator[Form]:
    logs, base = given.logs()
    n_rows = len(given.columns[0])

    def run(block: int) -> npt.NDArray[np.uint8]:
        result = np.empty(n_rows, np.uint8)
        for start in range(0, n_rows, block):
            part = slice(start, start + block)
            scores = np.tile(base, (min(block, n_rows - start), 1))
            for table, x in zip(logs, given.columns, strict=True):
                scores += table.take(x[part], axis=0)
            result[part] = len(base) - 1 - scores[:, ::-1].argmax(axis=1)
        return result

    yield Form("sums of logs, 4096 rows", lambda: run(4096))


@predicting_many.peer("numba")
def numba_loop(given: Grid) -> Iterator[Form]:
    import numba

    logs, base = given.logs()
    first = np.cumsum([0, *(len(table) for table in logs)])
    stacked = np.concatenate(logs)
    matrix = np.ascontiguousarray(np.stack(given.columns, axis=1))

    by_sums = numba.njit(largest_sums)

    def run() -> npt.NDArray[np.uint8]:
        result = np.empty(len(matrix), np.uint8)
        by_sums(matrix, first, stacked, base, result)
        return result

    yield Form("loop, row-major uint8", run)


@predicting_many.peer("scikit-learn")
def sklearn_predict(given: Grid) -> Iterator[Form]:
    from sklearn.naive_bayes import CategoricalNB

    sizes = [len(array) for array in given.views.counts.values()]
    model: Any = CategoricalNB(alpha=0, force_alpha=True, min_categories=sizes)
    model.fit(np.stack(given.learned, axis=1).astype(np.int64), given.classes)
    wide = np.stack(given.columns, axis=1).astype(np.int64)
    yield Form("CategoricalNB.predict, int64", lambda: model.predict(wide))


def left_open(views: nbcfast.Viewset, table: nbcfast.Table) -> int:
    """Rows that costs do not decide."""
    made = []

    def remembered(scores: Scores) -> Scorer:
        made.append(Scorer(scores))
        return made[-1]

    with mock.patch.object(scoring, "Scorer", remembered):
        views.predict(table, threads=1)
    return sum(scorer.n_close for scorer in made)


def many_classes(most_rows: int, rounds: int, quick: bool) -> Iterator[Row]:
    for n_classes in CLASSES[:2] if quick else CLASSES:
        for n_attributes in ATTRIBUTES[:2] if quick else ATTRIBUTES:
            n_rows = min(most_rows, MOST_WORK // (n_classes * n_attributes) // 1_000 * 1_000)
            given = grid(n_rows, n_classes, n_attributes)
            table, views = given.table(), given.views
            share = left_open(views, table) / n_rows
            job = (
                f"{power(n_rows)} rows, {n_classes} classes, {n_attributes} attributes, {share:.2%} left open"
            )
            yield from race(
                job,
                n_rows,
                Form("predict", lambda views=views, table=table: views.predict(table, codes=True, threads=1)),
                predicting_many.forms(given),
                np.array_equal,
                rounds,
            )
