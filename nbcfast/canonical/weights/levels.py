"""A box with equal values merged, and the oracle that says which of its tuples weights get wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nbcfast._box import MOST_ATTRIBUTES, Separator
from nbcfast._core.dtypes import Floats, Int8s, Int32s, Longs, Words
from nbcfast._halves.codes import summed as summed_up
from nbcfast._margin import dominance
from nbcfast.canonical.boxes.types import Box
from nbcfast.canonical.weights.exact import DemandRows

T = TypeVar("T")

WIDE_BITS = 125  # of every sum in the kernel's integers


class Levels:
    """The distinct values of each attribute of a box, from the one that least favours label 0 up.

    The values of an attribute are nested: of two, one has label 0 wherever the other has it. So the number of
    tuples of label 0 says which come first, and those with equal numbers cannot be told apart.

    Attributes
    ----------
    positions : list of int
        The attributes of half A, then those of half B: the order of everything here.
    level_of : list of ndarray
        For each attribute, in its own order, the level of each value.
    sizes : list of int
        Levels of each attribute, in the order of `positions`.
    weights : ndarray of int64
        How many values each level has, attribute after attribute.
    """

    def __init__(self, box: Box) -> None:
        sides = (box.attributes(0), box.attributes(1))
        self.positions = [*sides[0], *sides[1]]
        if len(self.positions) > MOST_ATTRIBUTES:
            raise ValueError(f"expected at most {MOST_ATTRIBUTES} attributes, got {len(self.positions)}")
        level_of: dict[int, Longs] = {}
        self.sizes: list[int] = []
        kept = []
        for side, count in zip(sides, (box.K, box.L), strict=True):
            index, after = np.zeros(1, np.int64), len(count)
            for i in side:
                after //= box.sizes[i]
                if box.sizes[i] == 1:  # there may be thousands of these
                    level_of[i] = np.zeros(1, np.int64)
                    self.sizes.append(1)
                    continue
                # Not one axis an attribute: NumPy takes 64 of them.
                of_value = count.reshape(-1, box.sizes[i], after).sum(axis=(0, 2))
                _, first, level = np.unique(of_value, return_index=True, return_inverse=True)
                level_of[i] = level.reshape(-1).astype(np.int64)
                index = np.add.outer(index, first * after).reshape(-1)
                self.sizes.append(len(first))
            kept.append(index)
        a, b = kept
        self.level_of = [level_of[i] for i in range(len(box.sizes))]
        self.n_first = len(sides[0])
        of_level = [
            np.bincount(level_of[i], minlength=size)
            for i, size in zip(self.positions, self.sizes, strict=True)
        ]
        self.weights = np.concatenate(of_level).astype(np.int64)
        ranks = box.rank[b]
        in_order = np.sort(ranks)
        self._count_a = np.searchsorted(in_order, box.K[a], "left").astype(np.int32)
        order_b = np.argsort(ranks, kind="stable").astype(np.int32)
        # How many a have label 0 with the b at each place: those with a larger count.
        larger = np.cumsum(np.bincount(self._count_a, minlength=len(b) + 1)[::-1])[::-1][1:]
        count_b = np.empty(len(b), np.int32)
        count_b[order_b] = larger
        self._confirm(box, sides, count_b)
        order_a = np.argsort(-self._count_a, kind="stable").astype(np.int32)
        order_b = np.argsort(-count_b, kind="stable").astype(np.int32)
        self.sides = (len(a), len(b))
        self._sizes_a = np.array(self.sizes[: self.n_first], np.int32)
        self._sizes_b = np.array(self.sizes[self.n_first :], np.int32)
        self.separator = Separator(self._count_a, order_a, self._sizes_a, count_b, order_b, self._sizes_b)
        self._found = np.empty((len(self.weights), 2, 2), np.int32)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])[:-1].tolist()
        self._order_b = order_b
        self._values_a = int(sum(self.sizes[: self.n_first]))

    def _confirm(
        self,
        box: Box,
        sides: tuple[tuple[int, ...], tuple[int, ...]],
        count_b: Int32s,
    ) -> None:
        """That merging has lost nothing: counts are those of levels, each as often as it has values."""
        starts = dict(zip(self.positions, np.cumsum([0, *self.sizes]).tolist(), strict=False))
        sizes = dict(zip(self.positions, self.sizes, strict=True))
        times, index = [], []
        for side in sides:
            levels = [self.weights[starts[i] : starts[i] + sizes[i]] for i in side]
            times.append(multiplied(levels))
            of_half = np.zeros(1, np.int64)
            for i in side:
                if box.sizes[i] > 1:
                    of_half = np.add.outer(of_half * sizes[i], self.level_of[i]).reshape(-1)
            index.append(of_half)
        for count, other, half, of_box in (
            (self._count_a, count_b, 0, box.K),
            (count_b, self._count_a, 1, box.L),
        ):
            first = np.concatenate([[0], np.cumsum(times[1 - half][np.argsort(-other, kind="stable")])])
            if not np.array_equal(first[count][index[half]], of_box):
                raise ValueError(
                    "box: expected K and L of one classifier, whose values are ordered by the labels"
                )

    @property
    def width(self) -> int:
        """Weights that add up to a score."""
        return len(self.sizes)

    def per_value(self, numbers: Sequence[T]) -> list[list[T]]:
        """Numbers of levels to numbers of values, attribute by attribute in their own order."""
        result: dict[int, list[T]] = {}
        for i, start in zip(self.positions, self.starts, strict=True):
            result[i] = [numbers[start + level] for level in self.level_of[i].tolist()]
        return [result[i] for i in range(len(result))]

    def levels(self) -> list[list[int]]:
        """For each attribute, in its own order, where the number of each value stands."""
        start = dict(zip(self.positions, self.starts, strict=True))
        return [(level + start[i]).tolist() for i, level in enumerate(self.level_of)]

    def changed(self, points: Sequence[int], threshold: int) -> int:
        """How many tuples of the domain have label 0 and a total below the threshold, or the reverse."""
        (totals_a, values_a), (totals_b, values_b) = (
            (
                summed_up([np.array(points[start : start + size], np.int64) for start, size in side]),
                multiplied([self.weights[start : start + size] for start, size in side]),
            )
            for side in self._parts()
        )
        order = np.argsort(totals_b, kind="stable")
        above = np.searchsorted(totals_b[order], threshold - totals_a, "left").astype(np.int32)
        m = len(totals_b)
        rank = np.empty(m, np.int32)
        rank[self._order_b] = np.arange(m - 1, -1, -1, dtype=np.int32)
        weight = values_b[order]
        # Label 1 is from count[a] on in the order, hence before m - count[a] from its end.
        false = dominance(
            np.argsort(-above, kind="stable").astype(np.int32),
            above,
            (m - self._count_a).astype(np.int32),
            values_a,
            rank[order],
            weight,
        )
        from_place = np.concatenate([np.cumsum(weight[::-1])[::-1], [0]])
        in_order = np.concatenate([[0], np.cumsum(values_b[self._order_b])])
        reached = int(from_place[above] @ values_a)
        return 2 * false - reached + int(in_order[self._count_a] @ values_a)

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        """Of each level and label the tuple furthest below the limit, once each, and the lowest of all."""
        lowest = self.separator.separate(np.ascontiguousarray(g), limit, self._found)
        return (*self._rows(), min(lowest))

    def exactly(self, numbers: Sequence[int], limit: int) -> DemandRows:
        """Tuples below the limit, decided by integers: of each level and label the one furthest below."""
        return self.extremes(numbers, limit)[0]

    def extremes(self, numbers: Sequence[int], limit: int) -> tuple[DemandRows, int | None, int | None]:
        """The same, and the lowest sum of label 0 and of label 1 taken negative; None where there is none."""
        numbers = self.leaned(numbers)
        common = math.gcd(limit, *numbers)
        if common > 1:
            rows, *lowest = self._extremes([number // common for number in numbers], limit // common)
            first, second = (None if number is None else common * number for number in lowest)
            return rows, first, second
        return self._extremes(numbers, limit)

    def leaned(self, numbers: Sequence[int]) -> list[int]:
        """Numbers with the same sums, those of all attributes but the first beginning at 0.

        What the attributes share between them has long denominators, which the sums do not have.
        """
        result, shift = list(map(int, numbers)), 0
        for start, size in zip(self.starts[1:], self.sizes[1:], strict=True):
            lean = result[start]
            shift += lean
            result[start : start + size] = [number - lean for number in result[start : start + size]]
        result[: self.sizes[0]] = [number + shift for number in result[: self.sizes[0]]]
        return result

    def ends(self, numbers: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest sum of all tuples."""
        parts = [numbers[start : start + size] for start, size in zip(self.starts, self.sizes, strict=True)]
        return sum(map(min, parts)), sum(map(max, parts))

    def _extremes(self, numbers: list[int], limit: int) -> tuple[DemandRows, int | None, int | None]:
        parts = [numbers[start : start + size] for start, size in zip(self.starts, self.sizes, strict=True)]
        most = sum(max(map(abs, part)) for part in parts)
        if max(most, abs(limit)).bit_length() > WIDE_BITS:
            return self._extremes_of_long(numbers, limit)
        lowest = np.zeros((2, 2), np.uint64)
        occurs = self.separator.separate_exactly(packed(numbers), packed([limit])[0], self._found, lowest)
        of_labels = [unpacked(row) if has else None for row, has in zip(lowest, occurs, strict=True)]
        return self._rows(), of_labels[0], of_labels[1]

    def _extremes_of_long(self, numbers: list[int], limit: int) -> tuple[DemandRows, int | None, int | None]:
        """As the kernel does it, with Python's integers; only the worst tuple of each label is listed."""
        sums_a, sums_b = (
            summed([np.array(numbers[start : start + size], object) for start, size in side])
            for side in self._parts()
        )
        self._found[:] = -1
        count, order = self._count_a.astype(np.int64), self._order_b
        lowest: list[int | None] = []
        for label, sign in ((0, 1), (1, -1)):
            in_order = sign * sums_b[order]
            if label:
                in_order = in_order[::-1]
            extreme = np.minimum.accumulate(in_order)
            needed = len(order) - count if label else count
            rows = np.flatnonzero(needed)
            if not len(rows):
                lowest.append(None)
                continue
            values = sign * sums_a[rows] + extreme[needed[rows] - 1]
            at = int(np.argmin(values))
            lowest.append(int(values[at]))
            if values[at] < limit:
                place = int(np.flatnonzero(extreme == extreme[needed[rows[at]] - 1])[0])
                other = order[::-1][place] if label else order[place]
                self._found[0, label] = (rows[at], other) if self._values_a else (other, rows[at])
        return self._rows(), lowest[0], lowest[1]

    def _parts(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Start and size of each attribute of the halves."""
        parts = list(zip(self.starts, self.sizes, strict=True))
        return parts[: self.n_first], parts[self.n_first :]

    def _rows(self) -> DemandRows:
        """The tuples found, each once, as columns and signs."""
        worst = self._found.reshape(-1, 2)
        is_level_of_a = np.repeat(np.arange(len(self.weights)) < self._values_a, 2)
        label = np.tile(np.array([0, 1]), len(self.weights))
        is_there = worst[:, 0] >= 0
        pairs = np.where(is_level_of_a[:, None], worst, worst[:, ::-1])[is_there].astype(np.int64)
        label = label[is_there]
        key = (pairs[:, 0] * self.sides[1] + pairs[:, 1]) * 2 + label
        _, at = np.unique(key, return_index=True)
        pairs, label = pairs[at], label[at]
        columns = np.empty((len(at), self.width), np.int32)
        for first, stop, index in ((0, self.n_first, pairs[:, 0]), (self.n_first, self.width, pairs[:, 1])):
            left_over = index.copy()
            for k in range(stop - 1, first - 1, -1):
                left_over, code = np.divmod(left_over, self.sizes[k])
                columns[:, k] = code + self.starts[k]
        signs = np.repeat((1 - 2 * label).astype(np.int8)[:, None], self.width, axis=1)
        return columns, np.ascontiguousarray(signs)


def packed(numbers: Sequence[int]) -> Words:
    """Integers as two words each, the low one first."""
    data = b"".join(number.to_bytes(16, "little", signed=True) for number in map(int, numbers))
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, 2)


def unpacked(words: Words) -> int:
    """An integer from its two words."""
    low, high = map(int, words)
    number = low | high << 64
    return number - (1 << 128) if high >> 63 else number


def summed(numbers: Sequence[npt.NDArray[np.object_]]) -> npt.NDArray[np.object_]:
    """The sums over all combinations, the last attribute's value the fastest."""
    sums = np.zeros(1, object)
    for of_attribute in numbers:
        sums = np.add.outer(sums, of_attribute).reshape(-1)
    return sums


def multiplied(numbers: Sequence[Longs]) -> Longs:
    """The products over all combinations, the last attribute's value the fastest."""
    products = np.ones(1, np.int64)
    for of_attribute in numbers:
        products = np.multiply.outer(products, of_attribute).reshape(-1)
    return products
