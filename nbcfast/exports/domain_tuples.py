"""Which tuples a file is compared on: all of the domain, or the million nearest to a change of class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._halves.codes import summed, unravelled
from nbcfast._halves.split import MOST_HALF, TwoHalves, split
from nbcfast.published.points_table import PointsTable

MOST = 1_000_000
BLOCK = 1 << 16  # rows whose totals are added up at a time


class ByClass(NamedTuple):
    """Points with a number for each class: the largest total wins, and of equal ones the later class.

    Attributes
    ----------
    starts : ndarray of int64, shape (classes,)
    numbers : tuple of ndarray of int64, shape (values, classes)
        Of each attribute.
    """

    starts: Longs
    numbers: tuple[Longs, ...]

    @classmethod
    def of(cls, points: PointsTable) -> ByClass:
        """Of two classes the first has the sum less the threshold, and 1; the second has 0."""
        listed = [np.array(rows, np.int64) for _, _, rows in points.attributes]
        if points.threshold is None:
            return cls(np.array(points.constants, np.int64), tuple(listed))
        both = tuple(np.concatenate([array, np.zeros_like(array)], axis=1) for array in listed)
        return cls(np.array([1 - points.threshold, 0], np.int64), both)

    def decided(self, codes: Longs) -> Longs:
        """The position of the class of each row of codes."""
        found = np.empty(len(codes), np.int64)
        last = len(self.starts) - 1
        for start in range(0, len(codes), BLOCK):
            block = codes[start : start + BLOCK]
            totals = np.tile(self.starts, (len(block), 1))
            for i, numbers in enumerate(self.numbers):
                totals += numbers[block[:, i]]
            found[start : start + BLOCK] = last - np.argmax(totals[:, ::-1], axis=1)
        return found


def tuples_to_compare(points: PointsTable, most: int = MOST) -> tuple[Longs, Longs]:
    """Tuples of a domain and their classes: all of them, or so many nearest to a change of class.

    Of more than `most` tuples those are taken in which two classes are nearest to a tie, so many for all
    pairs of classes together; and for each value of an attribute one more, so that none is left out.

    Parameters
    ----------
    points : PointsTable
        Whose totals fit, as of `points_of`.
    most : int
        How many are listed.

    Returns
    -------
    codes : ndarray of int64, shape (tuples, attributes)
        Positions in the domains, every tuple once.
    classes : ndarray of int64, shape (tuples,)
        Positions in `points.classes`.

    Examples
    --------
    >>> points = PointsTable(("no", "yes"), (("age", (1, 2, 3), ((0,), (1,), (5,))),), 1, ())
    >>> [array.tolist() for array in tuples_to_compare(points)]
    [[[0], [1], [2]], [1, 0, 0]]
    >>> [array.tolist() for array in tuples_to_compare(points, most=2)]
    [[[0], [1], [2]], [1, 0, 0]]
    """
    by_class = ByClass.of(points)
    sizes = [len(domain) for _, domain, _ in points.attributes]
    tuples = math.prod(sizes)
    if tuples <= most:
        codes = unravelled(np.arange(tuples, dtype=np.int64), sizes)
    else:
        codes = _with_every_value(_nearest(by_class, sizes, most), sizes)
    return codes, by_class.decided(codes)


def _nearest(by_class: ByClass, sizes: Sequence[int], most: int) -> Longs:
    """Tuples in which two classes are nearest to a tie."""
    parts = split(sizes, MOST_HALF, 2 * MOST_HALF)
    if parts is None or parts.blocks != 1:
        raise ValueError(f"an attribute has {max(sizes):,} values, which are too many to compare")
    pairs = list(combinations(range(len(by_class.starts)), 2))
    if not pairs:
        return unravelled(np.arange(most, dtype=np.int64), sizes)
    listed = [
        _rows(parts, sizes, *_nearest_pairs(*_differences(by_class, parts, *pair), most // len(pairs)))
        for pair in pairs
    ]
    if len(listed) == 1:
        return listed[0]
    strides = np.cumprod([1, *sizes[:0:-1]], dtype=np.int64)[::-1]  # of as many tuples as two halves may have
    places = np.sort(np.concatenate([codes @ strides for codes in listed]))
    return unravelled(places[np.diff(places, prepend=-1) > 0], sizes)


def _differences(by_class: ByClass, parts: TwoHalves, c: int, d: int) -> tuple[Longs, Longs]:
    """By how much the total of a class exceeds that of another: a sum of each half, whose sum it is."""
    of_a, of_b = (
        summed([np.ascontiguousarray(by_class.numbers[i][:, c] - by_class.numbers[i][:, d]) for i in half])
        for half in (parts.a, parts.b)
    )
    return of_a + (by_class.starts[c] - by_class.starts[d]), of_b


def _nearest_pairs(a: Longs, b: Longs, most: int) -> tuple[Longs, Longs]:
    """Positions in both of so many pairs whose sum is nearest to 1/2: class c wins from 1 on, d up to 0."""
    order = np.argsort(b, kind="stable")
    ranked = b[order]

    def bounds(wide: int) -> tuple[Longs, Longs]:
        return np.searchsorted(ranked, 1 - wide - a), np.searchsorted(ranked, wide - a, side="right")

    def within(wide: int) -> int:
        first, last = bounds(wide)
        return int((last - first).sum())

    low, high = 0, 1
    while within(high) <= most and high < 1 << 61:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if within(middle) <= most else (low, middle)
    first, last = bounds(low)
    inner = _listed(first, last, most)
    # Then those at the next distance, as many as there is room for.
    wider_first, wider_last = bounds(low + 1)
    rest = most - len(inner[0])
    below = _listed(wider_first, first, rest // 2)
    above = _listed(last, wider_last, rest - len(below[0]))
    of_a, of_b = (np.concatenate(each) for each in zip(inner, below, above, strict=True))
    return of_a, order[of_b]


def _listed(first: Longs, last: Longs, most: int) -> tuple[Longs, Longs]:
    """For each i the places from first[i] up to last[i], the first `most` of all."""
    counts = last - first
    before = np.cumsum(counts) - counts
    counts = np.minimum(counts, np.maximum(most - before, 0))
    of_a = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    places = np.arange(len(of_a), dtype=np.int64)
    return of_a, places - np.repeat(before, counts) + np.repeat(first, counts)


def _rows(parts: TwoHalves, sizes: Sequence[int], of_a: Longs, of_b: Longs) -> Longs:
    """The codes of tuples at places in both halves."""
    codes = np.zeros((len(of_a), len(sizes)), np.int64)
    for half, places in ((parts.a, of_a), (parts.b, of_b)):
        codes[:, list(half)] = unravelled(places, [sizes[i] for i in half])
    return codes


def _with_every_value(codes: Longs, sizes: Sequence[int]) -> Longs:
    """The rows, and for each value that is in none of them the first row with that value in its place."""
    more = []
    for i, size in enumerate(sizes):
        for code in np.flatnonzero(np.bincount(codes[:, i], minlength=size) == 0).tolist():
            row = codes[0].copy()
            row[i] = code
            more.append(row)
    return np.concatenate([codes, np.array(more, np.int64)]) if more else codes
