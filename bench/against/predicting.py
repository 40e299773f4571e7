"""How other libraries predict with the same counts. Input: Task; answer: the class code of each row.

All counts are positive here, so that their sums of logarithms are finite; of equal scores the later class
wins, as ours does.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from shared.census import NAMES, SIZES, Data
from shared.clock import Form, Peers

import nbcfast

predicting = Peers()


class Task(NamedTuple):
    data: Data
    views: nbcfast.Viewset
    learned: Data  # what the views were counted from

    def logs(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Log N of each attribute as (values, classes), and (1 - n) log P."""
        counts = [np.log(self.views.counts[name]) for name in NAMES]
        return counts, (1 - len(NAMES)) * np.log(self.views.class_counts)


@predicting.peer("numpy in blocks")
def numpy_blocks(task: Task) -> Iterator[Form]:
    n_rows = task.data.n_rows
    logs, base = task.logs()

    def by_odds(columns: list[np.ndarray], block: int) -> np.ndarray:
        result = np.empty(n_rows, np.bool_)
        for start in range(0, n_rows, block):
            part = slice(start, start + block)
            score = np.full(min(block, n_rows - start), base[1] - base[0])
            for table, x in zip(odds, columns, strict=True):
                score += table.take(x[part])
            np.greater_equal(score, 0, out=result[part])
        return result.view(np.uint8)

    def by_sums(block: int) -> np.ndarray:
        # argmax over short rows is slower than the look-ups: the best class column by column.
        result = np.empty(n_rows, np.uint8)
        for start in range(0, n_rows, block):
            part = slice(start, start + block)
            scores = np.tile(base, (min(block, n_rows - start), 1))
            for table, x in zip(logs, task.data.columns, strict=True):
                scores += table.take(x[part], axis=0)
            columns = np.ascontiguousarray(scores.T)
            best, label = columns[0], np.zeros(len(scores), np.uint8)
            for number, score in enumerate(columns[1:], start=1):
                np.maximum(label, (score >= best) * np.uint8(number), out=label)
                best = np.maximum(best, score)
            result[part] = label
        return result

    if task.data.n_classes == 2:
        odds = [table[:, 1] - table[:, 0] for table in logs]
        wide = [x.astype(np.intp) for x in task.data.columns]
        for block in (16_384, 32_768):
            yield Form(f"log-odds, u8, {block} rows", lambda block=block: by_odds(task.data.columns, block))
            yield Form(f"log-odds, intp, {block} rows", lambda block=block: by_odds(wide, block))
    for block in (4096, 8192):
        yield Form(f"sums of logs, {block} rows", lambda block=block: by_sums(block))


@predicting.peer("numpy at once")
def numpy_whole(task: Task) -> Iterator[Form]:
    logs, base = task.logs()

    def run() -> np.ndarray:
        scores = np.tile(base[::-1], (task.data.n_rows, 1))  # backwards: argmax takes the first of equals
        for table, x in zip(logs, task.data.columns, strict=True):
            scores += table[:, ::-1].take(x, axis=0)
        return len(base) - 1 - scores.argmax(axis=1)

    yield Form("sums of logs", run)


def largest_sums(matrix: Any, first: Any, logs: Any, base: Any, result: Any) -> None:
    """What Numba compiles: the class with the largest sum of logarithms of each row, the last of equals."""
    score = np.empty(len(base))
    for row in range(matrix.shape[0]):
        score[:] = base
        for attribute in range(matrix.shape[1]):
            entry = first[attribute] + matrix[row, attribute]
            for label in range(len(base)):
                score[label] += logs[entry, label]
        best = 0
        for label in range(1, len(base)):
            if score[label] >= score[best]:
                best = label
        result[row] = best


@predicting.peer("numba")
def numba_loop(task: Task) -> Iterator[Form]:
    import numba

    logs, base = task.logs()
    first = np.cumsum([0, *SIZES])
    stacked = np.concatenate(logs)

    @numba.njit
    def by_odds(matrix, first, odds, base, result):
        for row in range(matrix.shape[0]):
            score = base
            for attribute in range(matrix.shape[1]):
                score += odds[first[attribute] + matrix[row, attribute]]
            result[row] = score >= 0

    by_sums = numba.njit(largest_sums)

    def run(matrix: np.ndarray) -> np.ndarray:
        result = np.empty(len(matrix), np.uint8)
        if len(base) == 2:
            by_odds(matrix, first, odds, base[1] - base[0], result)
        else:
            by_sums(matrix, first, stacked, base, result)
        return result

    odds = stacked[:, 1] - stacked[:, 0]
    for dtype in (np.uint8, np.int64):
        matrix = task.data.matrix(dtype)
        yield Form(f"loop, row-major {matrix.dtype}", lambda matrix=matrix: run(matrix))


@predicting.peer("scikit-learn")
def sklearn_predict(task: Task) -> Iterator[Form]:
    from sklearn.naive_bayes import CategoricalNB

    model: Any = CategoricalNB(alpha=0, force_alpha=True, min_categories=SIZES)
    model.fit(task.learned.matrix(), task.learned.classes)
    wide = task.data.matrix()
    yield Form("CategoricalNB.predict, int64", lambda: model.predict(wide))
    narrow = task.data.matrix(np.uint8)
    yield Form("CategoricalNB.predict, uint8", lambda: model.predict(narrow))
