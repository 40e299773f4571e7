"""A declared list of tuples with labels, and the oracle that says which of them weights get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Array, Floats, Int8s, Int32s, Longs
from nbcfast.canonical.boxes.types import ListedBox
from nbcfast.canonical.weights.exact import DemandRows

T = TypeVar("T")


class Listed:
    """The rows of a list: one a tuple.

    A value that no tuple of the list has gets the weight 0.

    Attributes
    ----------
    starts, sizes : list of int
        Where the values of each attribute begin, and how many they are.
    weights : ndarray of int64
        Ones.
    """

    def __init__(self, box: ListedBox) -> None:
        self.sizes = list(box.sizes)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])[:-1].tolist()
        self.columns = (box.codes + np.array(self.starts)).astype(np.int32)
        self.signs = np.repeat((1 - 2 * box.labels).astype(np.int8)[:, None], len(self.sizes), axis=1)
        self._sign = 1 - 2 * box.labels.astype(np.int64)
        self.weights = np.ones(sum(self.sizes), np.int64)

    @property
    def width(self) -> int:
        """Weights that add up to a score."""
        return len(self.sizes)

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        """Of each value and label the tuple furthest below the limit, once each, and the lowest of all."""
        values = g[self.columns].sum(axis=1) * self._sign
        rows = np.flatnonzero(values < limit)
        return (*self._worst(values[rows], rows), float(values.min()))

    def exactly(self, numbers: Sequence[int], limit: int) -> DemandRows:
        """The same, decided by integers: floats only leave out what cannot be below the limit."""
        rows = np.arange(len(self.columns))
        if limit > 0:
            g = np.array([number / limit for number in numbers])
            sizes = np.abs(g)[self.columns].sum(axis=1)
            rows = np.flatnonzero(
                g[self.columns].sum(axis=1) * self._sign < 1 + (self.width + 2) * 2.0**-51 * sizes
            )
        values = self.totals(numbers, rows) * self._sign[rows]
        below = values < limit
        return self._worst(values[below], rows[below])

    def totals(self, numbers: Sequence[int], rows: Longs | None = None) -> Array:
        """The sum of each tuple, or of some: int64 where that is enough, else objects."""
        most = max((abs(number) for number in numbers), default=0) * self.width
        array = np.array([*numbers, 0], np.int64 if most < 1 << 62 else object)[:-1]
        columns = self.columns if rows is None else self.columns[rows]
        total: Array = array[columns].sum(axis=1)
        return total

    def extremes(self, numbers: Sequence[int], limit: int) -> tuple[DemandRows, int | None, int | None]:
        """The rows below the limit, and the lowest sum of label 0 and of label 1 taken negative."""
        values = self.totals(numbers) * self._sign
        lowest = [min(values[self._sign == sign].tolist(), default=None) for sign in (1, -1)]
        rows = np.flatnonzero(values < limit)
        return self._worst(values[rows], rows), lowest[0], lowest[1]

    def ends(self, numbers: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest sum of the list."""
        totals = self.totals(numbers)
        return int(totals.min()), int(totals.max())

    def changed(self, points: Sequence[int], threshold: int) -> int:
        """How many tuples have label 0 and a total below the threshold, or the reverse."""
        return int(((self.totals(points) >= threshold) != (self._sign > 0)).sum())

    def levels(self) -> list[list[int]]:
        """For each attribute, where the number of each value stands."""
        return [list(range(start, start + size)) for start, size in zip(self.starts, self.sizes, strict=True)]

    def _worst(self, values: npt.NDArray[np.generic], rows: Longs) -> DemandRows:
        rows = rows[np.argsort(values, kind="stable")]
        chosen = np.zeros(len(self.columns), bool)
        for i in range(self.width):
            _, at = np.unique(self.columns[rows, i] * 2 + (self._sign[rows] > 0), return_index=True)
            chosen[rows[at]] = True
        return self.columns[chosen], self.signs[chosen]

    def per_value(self, numbers: Sequence[T]) -> list[list[T]]:
        """Numbers attribute by attribute."""
        return [
            list(numbers[start : start + size]) for start, size in zip(self.starts, self.sizes, strict=True)
        ]
