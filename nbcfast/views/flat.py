"""The counts of all attributes below each other, and their logarithms as fixed-point integers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Bools, Counts, Longs
from nbcfast.views.integers import column_sums, logarithms

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

UNIT = 32  # fraction bits of a fixed-point logarithm to base 2
LN2 = 0.6931471805599453


class Flat:
    """The counts of a viewset as one array of shape (all values, classes).

    Attributes
    ----------
    counts : ndarray, int64 or object
    starts : ndarray of int64
        Where each attribute begins, and the end.
    unit : ndarray, int64 or object
        nu(t), the smallest positive count of the value in any class; 1 where no row has the value.
    """

    def __init__(self, views: Viewset) -> None:
        arrays = list(views.counts.values())
        self.n_classes = len(views.class_counts)
        self.n = len(arrays)
        self.starts = np.cumsum([0, *map(len, arrays)]).astype(np.int64)
        self.counts: Counts = np.concatenate(arrays) if arrays else np.zeros((0, self.n_classes), np.int64)
        self.of_class: list[int] = views.class_counts.tolist()

    @cached_property
    def zero(self) -> Bools:
        return np.asarray(self.counts == 0, dtype=bool)

    @cached_property
    def unit(self) -> Counts:
        if self.counts.dtype.kind == "O":
            rows = [min((n for n in row if n), default=1) for row in self.counts.tolist()]
            unit = np.empty(len(rows), object)
            unit[:] = rows
            return unit
        large = np.where(self.zero, np.iinfo(np.int64).max, self.counts)
        least = large.min(axis=1, initial=np.iinfo(np.int64).max)
        return np.where(self.zero.all(axis=1), 1, least)

    @cached_property
    def logs(self) -> Longs:
        """log2(N / nu) in units of 2^-32, each within one unit; 0 for a zero, whose exponent comes on top."""
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.counts.dtype.kind == "O":
                logs = (logarithms(self.counts) - logarithms(self.unit)[:, np.newaxis]) / LN2
            else:  # an ulp or two of a number below 64
                logs = np.log2(self.counts) - np.log2(self.unit)[:, np.newaxis]
        logs[self.zero] = 0
        return np.rint(np.ldexp(logs, UNIT)).astype(np.int64)

    def class_log_ratio(self, c: int, d: int) -> int:
        """log2((P_d / P_c)^(n-1)) in the same units, within 2 |n-1| of them."""
        if self.of_class[c] == self.of_class[d]:
            return 0
        logs = logarithms(np.array([self.of_class[d], self.of_class[c]], dtype=object)) / LN2
        return (self.n - 1) * int(np.rint(np.ldexp(logs[0] - logs[1], UNIT)))


def usable(views: Viewset) -> None:
    """Refuse views of which nothing can be published: no rows, a class without rows, or unrealistic ones."""
    of_class: list[int] = views.class_counts.tolist()
    if not any(of_class):
        raise ValueError("views: no rows")
    for label, count in zip(views.classes, of_class, strict=True):
        if count == 0:
            raise ValueError(f"views: class {label!r} has no rows; leave it out of the classes")
    for name, array in views.counts.items():
        sums: list[int] = column_sums(array) if len(array) else [0] * len(of_class)
        for label, got, expected in zip(views.classes, sums, of_class, strict=True):
            if got != expected:
                raise ValueError(
                    f"views must be realistic: the counts of attribute {name!r} in class {label!r} add up to "
                    f"{got}, not to {expected}"
                )
