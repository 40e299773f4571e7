"""The demands of a box of more than two classes on its weights, found when they are violated.

The unknowns are f_c(i, level), one for each class c, attribute i and level of its values (values with equal
labels everywhere share one). They stand attribute after attribute, level after level, class after class. A
demand is f_w - f_d >= 1 at a tuple where w must beat d.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nbcfast._core.dtypes import Array, Bools, Floats, Int8s, Int32s, Longs
from nbcfast._halves.codes import unravelled
from nbcfast.canonical.boxes.sides import Pair, Sides, cubed, halves_summed
from nbcfast.canonical.weights.exact import DemandRows

SMALL = 1 << 61  # sums of integers below are 64-bit


class Halves:
    """Attributes in two halves, by the numbers of their levels."""

    def __init__(self, sizes: Sequence[int], a: Sequence[int], b: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.parts = tuple(a), tuple(b)
        self.shapes = tuple(tuple(sizes[i] for i in part) for part in self.parts)
        # Of each attribute the indices of its half that have each level, in rising order.
        self.grids = [
            [
                cubed(np.arange(math.prod(shape)), shape, axis).swapaxes(0, 1).reshape(shape[axis], -1)
                for axis in range(len(shape))
            ]
            for shape in self.shapes
        ]

    def codes(self, a: Longs, b: Longs) -> Longs:
        """The level of every attribute at indices of the halves, shape (rows, attributes)."""
        codes = np.zeros((len(a), len(self.sizes)), np.int64)
        for part, shape, index in zip(self.parts, self.shapes, (a, b), strict=True):
            if part:
                codes[:, list(part)] = unravelled(index, shape)
        return codes


class Unknowns:
    """Where the weight of a class, attribute and level stands."""

    def __init__(self, sizes: Sequence[int], n_classes: int) -> None:
        self.sizes, self.n_classes = tuple(sizes), n_classes
        self.offsets = np.concatenate([[0], np.cumsum([size * n_classes for size in sizes])])

    def split(self, g: Array) -> list[Array]:
        """One array (levels, classes) an attribute."""
        return [
            g[start:stop].reshape(-1, self.n_classes)
            for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]

    def rows(self, winners: Longs, losers: Longs, codes: Longs) -> DemandRows:
        """The demands that a winner beats a loser at a tuple of levels."""
        at = self.offsets[:-1] + codes * self.n_classes
        columns = np.concatenate([at + winners[:, np.newaxis], at + losers[:, np.newaxis]], axis=1)
        signs = np.ones(columns.shape, np.int8)
        signs[:, len(self.sizes) :] = -1
        return columns.astype(np.int32), signs


class HalvedDemands:
    """The demands of labels over a product of two halves.

    Parameters
    ----------
    sides : Sides
    halves : Halves
        Of the levels.
    """

    def __init__(self, sides: Sides, halves: Halves) -> None:
        self.sides, self.halves = sides, halves
        self.unknowns = Unknowns(halves.sizes, sides.n_classes)

    def sums(self, f: Sequence[Array]) -> tuple[Array, Array]:
        """Sums over each half, shape (indices, classes), of one array (levels, classes) an attribute."""
        a, b = self.halves.parts
        n_classes, dtype = self.sides.n_classes, f[0].dtype
        return (
            halves_summed([f[i] for i in a], n_classes, dtype),
            halves_summed([f[i] for i in b], n_classes, dtype),
        )

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        """Demands below the limit, for each pair of classes, attribute and level the lowest; and of all."""
        columns, signs, lowest = self._missed(self.unknowns.split(np.asarray(g, np.float64)), limit)
        return columns, signs, float(lowest)

    def exactly(self, numbers: Sequence[int], denominator: int) -> DemandRows:
        """The same by integers: demands below the denominator."""
        numbers = [int(number) for number in numbers]
        if self._fits(max(map(abs, numbers), default=0), denominator):
            f = self.unknowns.split(np.array(numbers, np.int64))
            return self._missed(f, denominator)[:2]
        return self._missed_of_long(numbers, denominator)[:2]

    def lowest(self, numbers: Sequence[int], denominator: int) -> int:
        """The least left side of all demands, times the denominator."""
        numbers = [int(number) for number in numbers]
        if self._fits(max(map(abs, numbers), default=0), denominator):
            least = self.least_of_pairs(self.unknowns.split(np.array(numbers, np.int64)))
            return min(least.values())
        return int(self._missed_of_long(numbers, denominator)[2])

    def least_of_pairs(self, f: Sequence[Array]) -> dict[Pair, int]:
        """The least of f_w - f_d where w must beat d, for every pair where it ever must; of integers."""
        a, b = self.sums(f)
        least: dict[Pair, int] = {}
        for pairs in self.sides.batches():
            da, db = _differences(a, pairs), _differences(b, pairs)
            lowest_sums = self.sides.least(pairs, da, db)
            for k, pair in enumerate(pairs):
                demanded = lowest_sums.at_a[k] >= 0
                if demanded.any():
                    least[pair] = int((da[k] + np.where(demanded, lowest_sums.low_a[k], 0))[demanded].min())
        return least

    def _fits(self, most: int, denominator: int) -> bool:
        return max(2 * len(self.halves.sizes) * most, denominator) < SMALL

    def _missed(self, f: Sequence[Array], limit: float) -> tuple[Int32s, Int8s, float]:
        a, b = self.sums(f)
        chosen: list[tuple[Array, int, int, Longs, Longs]] = []
        lowest: float | None = None
        for pairs in self.sides.batches():
            da, db = _differences(a, pairs), _differences(b, pairs)
            lowest_sums = self.sides.least(pairs, da, db)
            for k, (w, d) in enumerate(pairs):
                for sums_here, low, at, grids, of_a in (
                    (da[k], lowest_sums.low_a[k], lowest_sums.at_a[k], self.halves.grids[0], True),
                    (db[k], lowest_sums.low_b[k], lowest_sums.at_b[k], self.halves.grids[1], False),
                ):
                    demanded = at >= 0
                    if not demanded.any():
                        continue
                    most = np.inf if sums_here.dtype.kind == "f" else np.iinfo(np.int64).max
                    total = np.where(demanded, sums_here + np.where(demanded, low, 0), most)
                    least = total.min()
                    lowest = least if lowest is None else min(lowest, least)
                    if least >= limit:
                        continue
                    # A half without attributes has one index.
                    for grid in grids or [np.zeros((1, 1), np.int64)]:
                        values = total[grid]
                        first = grid[np.arange(len(grid)), values.argmin(axis=1)]
                        first = first[total[first] < limit]
                        other = at[first].astype(np.int64)
                        pair = (first, other) if of_a else (other, first)
                        chosen.append((total[first], w, d, *pair))
        columns, signs = self._rows(chosen)
        return columns, signs, 1 if lowest is None else lowest

    def _rows(self, chosen: list[tuple[Array, int, int, Longs, Longs]]) -> DemandRows:
        """Each demand once, the one that is missed by most first."""
        n_classes = self.sides.n_classes
        if not chosen:
            return self.unknowns.rows(
                *(np.zeros(0, np.int64),) * 2, np.zeros((0, len(self.halves.sizes)), np.int64)
            )
        total = np.concatenate([part[0] for part in chosen])
        winner, loser = (
            np.concatenate([np.full(len(part[0]), part[k], np.int64) for part in chosen]) for k in (1, 2)
        )
        a, b = (np.concatenate([part[k] for part in chosen]) for k in (3, 4))
        key = ((winner * n_classes + loser) * self.sides.n + a) * self.sides.m + b
        _, first = np.unique(key, return_index=True)
        first = first[np.argsort(total[first], kind="stable")]
        return self.unknowns.rows(winner[first], loser[first], self.halves.codes(a[first], b[first]))

    def _missed_of_long(self, numbers: list[int], denominator: int) -> tuple[Int32s, Int8s, int]:
        """With integers of any length: ranks of what half b adds, and then sums where these are in doubt."""
        exact = self.sums(self.unknowns.split(np.array(numbers, object)))
        near = self.sums(self.unknowns.split(np.array([number / denominator for number in numbers])))
        chosen: list[tuple[Array, int, int, Longs, Longs]] = []
        lowest: int | None = None
        doubt = 1e-12 * float(np.abs(near[0]).max() + np.abs(near[1]).max()) * len(self.halves.sizes) + 1e-9
        for pairs in self.sides.batches():
            ranks = np.empty((len(pairs), self.sides.m), np.int64)
            for k, (w, d) in enumerate(pairs):
                ranks[k] = np.unique(exact[1][:, w] - exact[1][:, d], return_inverse=True)[1].reshape(-1)
            lowest_sums = self.sides.least(pairs, np.zeros((len(pairs), self.sides.n), np.int64), ranks)
            for k, (w, d) in enumerate(pairs):
                a = np.flatnonzero(lowest_sums.at_a[k] >= 0)
                b = lowest_sums.at_a[k][a].astype(np.int64)
                if not len(a):
                    continue
                about = (near[0][a, w] - near[0][a, d]) + (near[1][b, w] - near[1][b, d])
                # Whatever is lowest is among these.
                kept = about <= max(about.min(), 1.0) + 2 * doubt
                a, b = a[kept], b[kept]
                total = (exact[0][a, w] - exact[0][a, d]) + (exact[1][b, w] - exact[1][b, d])
                least = min(total)
                lowest = least if lowest is None else min(lowest, least)
                low = np.array([number < denominator for number in total], bool)
                chosen.append((about[kept][low], w, d, a[low], b[low]))
        columns, signs = self._rows(chosen)
        return columns, signs, denominator if lowest is None else lowest


class ListedDemands:
    """The demands of a list of tuples: that one class beats another at one of them.

    Parameters
    ----------
    sizes : sequence of int
        How many levels each attribute has.
    n_classes : int
    winners, losers : ndarray of int64, shape (demands,)
    codes : ndarray of int64, shape (demands, attributes)
    """

    def __init__(
        self, sizes: Sequence[int], n_classes: int, winners: Longs, losers: Longs, codes: Longs
    ) -> None:
        self.unknowns = Unknowns(sizes, n_classes)
        self.pairs, self.codes = winners * n_classes + losers, codes
        self.columns, self.signs = self.unknowns.rows(winners, losers, codes)

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        values = _values(self.columns, self.signs, np.asarray(g, np.float64))
        return *self._worst(values, values < limit), float(values.min(initial=np.inf))

    def exactly(self, numbers: Sequence[int], denominator: int) -> DemandRows:
        values = self._of_long(numbers)
        # Places in order are as good as the values.
        ranks = np.unique(values, return_inverse=True)[1].reshape(-1)
        return self._worst(ranks, np.array([value < denominator for value in values], bool))

    def lowest(self, numbers: Sequence[int], denominator: int) -> int:
        """The least left side of all demands, times the denominator."""
        return int(min(self._of_long(numbers), default=denominator))

    def least_of_pairs(self, f: Sequence[Array]) -> dict[Pair, int]:
        n_classes = self.unknowns.n_classes
        values = _values(self.columns, self.signs, np.concatenate([row.reshape(-1) for row in f]))
        return {
            divmod(int(pair), n_classes): int(values[self.pairs == pair].min())
            for pair in np.unique(self.pairs)
        }

    def _of_long(self, numbers: Sequence[int]) -> Array:
        return _values(self.columns, self.signs, np.array([int(number) for number in numbers], object))

    def _worst(self, values: Array, missed: Bools) -> DemandRows:
        """For each pair of classes, attribute and level the lowest of those that are missed."""
        at = np.flatnonzero(missed)
        at = at[np.argsort(values[at], kind="stable")]
        kept = np.zeros(len(at), bool)
        for i, size in enumerate(self.unknowns.sizes):
            kept[np.unique(self.pairs[at] * size + self.codes[at, i], return_index=True)[1]] = True
        return self.columns[at[kept]], self.signs[at[kept]]


def _values(columns: Int32s, signs: Int8s, numbers: Array) -> Array:
    total = np.zeros(len(columns), numbers.dtype)
    for column, sign in zip(columns.T, signs.T, strict=True):
        total = total + numbers[column] * sign
    return total


def _differences(sums: Array, pairs: list[Pair]) -> Array:
    """Row k: the sums of the winner of pair k less those of its loser."""
    winners, losers = ([pair[k] for pair in pairs] for k in (0, 1))
    return np.ascontiguousarray((sums[:, winners] - sums[:, losers]).T)
