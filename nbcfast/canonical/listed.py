"""A declared list of tuples with its labels, and the oracle that says which of them a set of weights gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nbcfast.canonical.types import ListedBox

T = TypeVar("T")
I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
F64 = npt.NDArray[np.float64]


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

    def violated(self, g: F64, limit: float) -> tuple[I32, I8, float]:
        """Of each value and label the tuple furthest below the limit, once each, and the lowest of all."""
        values = g[self.columns].sum(axis=1) * self._sign
        return (*self._worst(values, np.flatnonzero(values < limit)), float(values.min()))

    def exactly(self, numbers: Sequence[int], limit: int) -> tuple[I32, I8]:
        """The same, decided by integers."""
        values = self.totals(numbers) * self._sign
        return self._worst(values, np.flatnonzero(values < limit))

    def totals(self, numbers: Sequence[int]) -> npt.NDArray[np.object_]:
        """The sum of each tuple."""
        array = np.array([*numbers, 0], object)[:-1]
        total: npt.NDArray[np.object_] = array[self.columns].sum(axis=1)
        return total

    def _worst(self, values: npt.NDArray[np.generic], rows: npt.NDArray[np.int64]) -> tuple[I32, I8]:
        rows = rows[np.argsort(values[rows], kind="stable")]
        chosen = np.zeros(len(self.columns), bool)
        for i in range(self.width):
            _, at = np.unique(self.columns[rows, i] * 2 + (self._sign[rows] > 0), return_index=True)
            chosen[rows[at]] = True
        return self.columns[chosen], self.signs[chosen]

    def per_value(self, numbers: Sequence[T]) -> list[list[T]]:
        """Numbers attribute by attribute."""
        return [list(numbers[start : start + size]) for start, size in zip(self.starts, self.sizes, strict=True)]
