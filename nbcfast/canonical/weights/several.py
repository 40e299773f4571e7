"""More than two classes: from labels to the weights of least norm, and to points to add up.

The rule is the one for two classes. Among all weights f_c(i, t) with

    f_w(tuple) - f_d(tuple) >= 1    wherever class w must beat class d,    f_c(tuple) = sum_i f_c(i, t_i),

take those with the least sum of squares over all classes, attributes and values. That is a strictly convex
programme, so its solution is unique; it sums to zero over the classes at every value by itself (taking the
mean off changes no difference and shortens the rest); renaming classes (in a box that goes with them),
attributes or values renames it; and for two classes f_0 - f_1 is the solution of `Box`.

In label mode the best class must beat each of the others. A class with score zero loses to every class that
has one, so zeros make nothing hard, however many classes there are. In order mode each class must beat all
that come after it, and zeros tie, which precedence resolves: every further class may multiply the range by n
- 1, as any equivalent release does (docs/mathematics/safety.md, section b).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Array, Floats, Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Numeral, exact
from nbcfast.canonical.boxes.halving import ADVICE, contiguous
from nbcfast.canonical.boxes.sides import (
    Pair,
    PairSides,
    Ranked,
    Sides,
    SweptSides,
    TableSides,
    cubed,
    halves_summed,
)
from nbcfast.canonical.boxes.types import EnumeratedBox, ListedBox, ManyBox, PairsBox, SweptBox
from nbcfast.canonical.weights.interior import Begun, likely
from nbcfast.canonical.weights.results import Scorecard, Solution
from nbcfast.canonical.weights.solver import minimum_norm
from nbcfast.canonical.weights.violated import SMALL, HalvedDemands, Halves, ListedDemands

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.canonical.weights.exact import Oracle

MOST_COMPARED = 10_000_000_000  # tuples that a rounded scorecard is compared on, one by one
SHORTENED = 6  # scales, the last some 3/4 of the first, at which points of so many bits may give all labels
MANY = 250  # unknowns: from here on the rows that will bind are looked for first


# --- labels to weights ------------------------------------------------------------------------------------


class LevelDemands(NamedTuple):
    """What a box demands of its weights, by levels; everything after the box goes through this."""

    levels: list[Longs]  # of each attribute the level of every value
    demands: HalvedDemands | ListedDemands

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each attribute has."""
        return self.demands.unknowns.sizes

    def weights(self) -> Longs:
        """How many values share each unknown."""
        counts = [
            np.bincount(levels, minlength=size) for levels, size in zip(self.levels, self.sizes, strict=True)
        ]
        return np.repeat(np.concatenate(counts), self.demands.unknowns.n_classes).astype(np.int64)

    def shares(self, box: ManyBox) -> Floats:
        """Weights to begin with: how often each class is best with a value, where that is cheap to know."""
        if not isinstance(box, EnumeratedBox):
            return np.zeros(int(self.demands.unknowns.offsets[-1]))
        C, result = box.n_classes, []
        for axis, (levels, size) in enumerate(zip(self.levels, self.sizes, strict=True)):
            rows = cubed(box.labels, box.sizes, axis).swapaxes(0, 1).reshape(len(levels), -1)
            f = np.zeros((size, C))
            for value, level in enumerate(levels):
                f[level] = np.bincount(rows[value], minlength=C) / rows.shape[1]
            result.append(f.reshape(-1))
        return np.concatenate(result)


def demands_of(box: ManyBox) -> LevelDemands:
    """Levels of equal labels, and the demands on them."""
    if isinstance(box, ListedBox):
        return _demands_of_list(box)
    if isinstance(box, EnumeratedBox):
        levels, sizes, (labels,) = _merged(box.sizes, box.labels)
        k, n, m = contiguous(sizes)
        sides: Sides = TableSides(labels.reshape(n, m), box.n_classes)
        return LevelDemands(levels, HalvedDemands(sides, Halves(sizes, range(k), range(k, len(sizes)))))
    return _demands_of_halves(box)


def _merged(sizes: Sequence[int], flat: Array, *more: Array) -> tuple[list[Longs], list[int], list[Array]]:
    """Of each attribute the level of every value, one where all of `flat` is equal, and how many these are.

    And the arrays, which all stand in C order of the sizes, with the first value of each level only.
    """
    levels, kept, arrays = [], list(sizes), [flat, *more]
    for axis, size in enumerate(sizes):
        if size == 1:  # there may be thousands of these
            levels.append(np.zeros(1, np.int64))
            continue
        cubes = [cubed(array, kept, axis) for array in arrays]
        level_of: dict[bytes, int] = {}
        first: list[int] = []
        of_axis = np.empty(size, np.int64)
        for index in range(size):
            of_axis[index] = level_of.setdefault(cubes[0][:, index].tobytes(), len(first))
            if of_axis[index] == len(first):
                first.append(index)
        levels.append(of_axis)
        kept[axis] = len(first)
        arrays = [np.ascontiguousarray(cube[:, first]).reshape(-1, *cube.shape[3:]) for cube in cubes]
    return levels, kept, arrays


def _demands_of_halves(box: PairsBox | SweptBox) -> LevelDemands:
    """Equal counts in a half mean equal labels (see `SweptBox`), so levels can be read off K and L."""
    levels: list[Longs] = [np.zeros(0, np.int64)] * len(box.sizes)
    kept: list[Longs] = []
    counts = (box.K.T, box.L.T) if isinstance(box, PairsBox) else (box.K, box.L)
    for half, of_half in enumerate(counts):
        attributes = box.attributes(half)
        of_attributes, _, (_, indices) = _merged(
            [box.sizes[i] for i in attributes], of_half, np.arange(len(of_half))
        )
        for i, of_attribute in zip(attributes, of_attributes, strict=True):
            levels[i] = of_attribute
        kept.append(indices)
    above, rank = Ranked(*box.places, box.n_classes).taken(*kept)
    sides: Sides = (
        SweptSides(above, rank) if isinstance(box, SweptBox) else PairSides(above, rank, box.n_classes)
    )
    sizes = [int(of_attribute.max()) + 1 for of_attribute in levels]
    return LevelDemands(levels, HalvedDemands(sides, Halves(sizes, box.attributes(0), box.attributes(1))))


def _demands_of_list(box: ListedBox) -> LevelDemands:
    """Every class beats the next one of its order, or the best all others; values are not merged."""
    C = box.n_classes
    if box.mode == "order":
        orders = np.asarray(box.labels, np.int64)
        winners, losers = orders[:, :-1].reshape(-1), orders[:, 1:].reshape(-1)
    else:
        best = np.asarray(box.labels, np.int64)
        winners = np.repeat(best, C - 1)
        losers = (np.arange(C - 1) + (np.arange(C - 1) >= best[:, np.newaxis])).reshape(-1)
    codes = np.repeat(box.codes, C - 1, axis=0)
    levels = [np.arange(size) for size in box.sizes]
    return LevelDemands(levels, ListedDemands(box.sizes, C, winners, losers, codes))


def solve(box: ManyBox, *, progress: Progress | None = None) -> Solution:
    """`nbcfast.canonical.solve` for more than two classes."""
    levelled = demands_of(box)
    unknowns = levelled.demands.unknowns
    weights = levelled.weights()
    oracle: Oracle = levelled.demands
    if len(weights) > MANY:
        oracle = Begun(
            oracle,
            *likely(weights, levelled.sizes, box.n_classes, oracle, levelled.shares(box), progress=progress),
        )
    optimum = minimum_norm(weights, 2 * len(box.sizes), oracle, progress=progress)
    numbers, denominator = list(map(int, optimum.numbers)), int(optimum.denominator)
    lowest = levelled.demands.lowest(numbers, denominator)
    if lowest <= 0:
        raise Infeasible(
            "the solver found no weights with these labels", {"lowest": Fraction(lowest, denominator)}
        )
    if lowest < denominator:  # floats end a little short of feasible
        denominator = lowest
    C = box.n_classes
    scores, f = [], []
    for i, levels in enumerate(levelled.levels):
        start = int(unknowns.offsets[i])
        of_level = [
            numbers[start + C * level : start + C * (level + 1)] for level in range(levelled.sizes[i])
        ]
        f.append(of_level)
        fractions = [tuple(Fraction(x - row[-1], denominator) for x in row[:-1]) for row in of_level]
        scores.append(tuple(fractions[level] for level in levels))
    return Solution(
        box.sizes,
        C,
        tuple(scores),
        tuple(tuple(levels.tolist()) for levels in levelled.levels),
        Fraction(_range(box, f), denominator),
        Fraction(max(lowest, denominator), denominator),
        bool(optimum.exact),
        len(optimum.multipliers),
        int(optimum.rounds),
    )


def _range(box: ManyBox, f: Sequence[Sequence[Sequence[int]]], constants: Sequence[int] | None = None) -> int:
    """The largest difference of two classes over all tuples; f[i][value or level][class]."""
    C = box.n_classes
    base = [0] * C if constants is None else list(constants)
    if isinstance(box, ListedBox):
        total = np.array([base] * len(box.codes), object)
        for i, rows in enumerate(f):
            total = total + np.array(rows, object)[box.codes[:, i]]
        return int(max(total.max(axis=1) - total.min(axis=1)))
    most = 0
    for c, d in itertools.permutations(range(C), 2):
        most = max(most, base[c] - base[d] + sum(max(row[c] - row[d] for row in rows) for rows in f))
    return most


# --- weights to points ------------------------------------------------------------------------------------


def integers(
    box: ManyBox,
    solution: Solution,
    bits: int | None = None,
    *,
    within: Numeral | None = None,
    progress: Progress | None = None,
) -> Scorecard:
    """`nbcfast.canonical.integers` for more than two classes.

    Points are floor(S (f_c - f_(C-1) - its least in the attribute) + 1/2) at the first S of 1/2, 3/4, 1, ..
    where integer constants give every label with a margin of at least 1, proved over the whole domain by the
    search for violated demands. S = n + 2 is enough for n attributes, because a difference of two classes is
    rounded by at most n + 1. Of constants those are taken that make the margin largest.
    """
    levelled = demands_of(box)
    factor = None if within is None else exact(within, "within")
    if factor is not None and factor <= 1:
        raise ValueError(f"within must be above 1, got {within!r}")
    widest = None if factor is None else factor * solution.range / solution.margin
    # Quarters of a scale that always does: docs/mathematics/canonical.md, section 6.
    last = 4 * (len(box.sizes) + 2)
    card: Scorecard | None = None
    for step, scale in enumerate(_scales()):
        points, true = _rounded(solution, scale)
        if card is not None and bits is not None and max(int(array.max()) for array in points) >> bits:
            break
        constants = _constants(levelled, points, true, scale)
        if constants is not None:
            card = _scorecard(box, points, constants[0], scale, constants[1], 0)
            if widest is None or card.gap is None or card.range <= widest * card.gap:
                break
        elif 4 * scale >= last:
            raise ValueError("solution: expected weights that give the labels of the box with a margin of 1")
        if progress is not None:
            progress(step + 1, max(last, step + 1))
    assert card is not None
    if bits is None or card.bits <= bits:
        return card
    return shortened(box, levelled, solution, Fraction((1 << bits) - 1))


def shortened(box: ManyBox, levelled: LevelDemands, solution: Solution, most: Fraction) -> Scorecard:
    """Points of weights that are not all equal, no number above `most`.

    The first of a few scales that changes no answer, the later class winning ties as it does in every total;
    or the largest one and the constants that go with it, and how many answers these change.
    """
    spread = max(max(column) - min(column) for rows in solution.scores for column in zip(*rows, strict=True))
    largest = most / spread
    for step in range(SHORTENED):
        scale = largest * Fraction(15, 16) ** step
        points, true = _rounded(solution, scale)
        known = _constants(levelled, points, true, scale)
        if known is not None:
            return _scorecard(box, points, known[0], scale, known[1], 0)
        least = _least(levelled, points, true)
        tied = _settled(least, true, {(w, d): int(w < d) for w, d in least})
        if tied is not None:
            return _scorecard(box, points, tied, scale, None, 0)
    points, true = _rounded(solution, largest)
    return _scorecard(box, points, true, largest, None, _changed(box, points, true))


def differing(box: ManyBox, card: Scorecard) -> int:
    """How many tuples points decide otherwise than a box."""
    return _changed(box, list(card.points), [*card.constants, 0])


def _scales() -> Iterator[Fraction]:
    """1/2, 3/4, 1, .. in steps of a quarter, and later of an eighth of what there is."""
    scale = Fraction(1, 2)
    while True:
        yield scale
        scale += max(Fraction(1, 4), Fraction(math.floor(scale), 8))


PointArrays = list[Array]  # of each attribute (values, classes - 1)


def _rounded(solution: Solution, scale: Fraction) -> tuple[PointArrays, list[int]]:
    """The points of every value, and the constants that go with what was taken off."""
    points, constants = [], [Fraction(0)] * (solution.n_classes - 1)
    half = Fraction(1, 2)
    for rows in solution.scores:
        least = [min(column) for column in zip(*rows, strict=True)]
        constants = [total + low for total, low in zip(constants, least, strict=True)]
        rounded = {
            row: [math.floor(scale * (x - low) + half) for x, low in zip(row, least, strict=True)]
            for row in dict.fromkeys(rows)
        }
        numbers = [rounded[row] for row in rows]
        small = max(map(max, numbers)) < SMALL
        points.append(np.array(numbers, np.int64 if small else object))
    return points, [*(math.floor(scale * total + half) for total in constants), 0]


def _of_levels(levelled: LevelDemands, points: PointArrays) -> PointArrays:
    """One row a level, with a column of zeros for the last class."""
    result = []
    for levels, array, size in zip(levelled.levels, points, levelled.sizes, strict=True):
        rows = np.zeros((size, array.shape[1] + 1), array.dtype)
        rows[levels, :-1] = array
        result.append(rows)
    return result


def _least(levelled: LevelDemands, points: PointArrays, true: list[int]) -> dict[Pair, int]:
    """Of each pair of classes the least lead of points where the first must beat the second."""
    f = _of_levels(levelled, points)
    most = max(int(abs(rows).max(initial=0)) for rows in f)
    if 4 * len(f) * most + max(map(abs, true)) >= SMALL:
        raise Infeasible("points would need more than 62 bits", {"points": most})
    return levelled.demands.least_of_pairs([rows.astype(np.int64) for rows in f])


def _constants(
    levelled: LevelDemands, points: PointArrays, true: list[int], scale: Fraction
) -> tuple[list[int], int] | None:
    """Constants with the largest least margin, and that margin; None where no constants give every label."""
    least = _least(levelled, points, true)
    # More than the scale would only stretch what is on one side of every other class anyway.
    for gap in range(max(1, math.ceil(scale)), 0, -1):
        constants = _settled(least, true, dict.fromkeys(least, gap))
        if constants is not None:
            return constants, gap
    return None


def _settled(least: dict[Pair, int], true: list[int], gaps: dict[Pair, int]) -> list[int] | None:
    """Constants k with least + k_w - k_d >= the gap of each pair: shortest ways (Bellman, Ford)."""
    k = list(true)
    for _ in range(len(k) + 1):
        same = True
        for (w, d), low in least.items():
            if low + k[w] - k[d] < gaps[w, d]:
                k[d], same = low + k[w] - gaps[w, d], False
        if same:
            return [x - k[-1] for x in k]
    return None


def _scorecard(
    box: ManyBox, points: PointArrays, constants: list[int], scale: Fraction, gap: int | None, changed: int
) -> Scorecard:
    for array in points:
        array.flags.writeable = False
    rows = [[[*row, 0] for row in array.tolist()] for array in points]
    most = max(int(array.max(initial=0)) for array in points)
    return Scorecard(
        tuple(points),
        tuple(constants[:-1]),
        gap,
        _range(box, rows, constants),
        0,
        scale,
        most.bit_length(),
        changed,
    )


def _changed(box: ManyBox, points: PointArrays, constants: list[int]) -> int:
    """How many tuples the points answer differently from the box."""
    if box.tuples > MOST_COMPARED:
        raise Infeasible(
            f"the domain has {box.tuples} tuples, and the effect of rounding is counted to {MOST_COMPARED}: "
            f"{ADVICE}",
            {"tuples": box.tuples, "most_tuples": MOST_COMPARED},
        )
    full = [np.concatenate([array, np.zeros((len(array), 1), array.dtype)], axis=1) for array in points]
    base = np.array(constants, np.int64)
    if isinstance(box, ListedBox):
        total = sum((array[box.codes[:, i]] for i, array in enumerate(full)), base)
        answers = np.argsort(-total[:, ::-1], axis=1, kind="stable")
        orders = box.n_classes - 1 - answers
        if box.mode == "label":
            return int(np.count_nonzero(orders[:, 0] != box.labels))
        return int(np.count_nonzero((orders != box.labels).any(axis=1)))
    # Values of one level differ in nothing, so every value is compared where it stands.
    if isinstance(box, EnumeratedBox):
        k, n, m = contiguous(box.sizes)
        a: Sequence[int] = range(k)
        b: Sequence[int] = range(k, len(box.sizes))
        sides: Sides = TableSides(box.labels.reshape(n, m), box.n_classes)
    else:
        a, b = box.attributes(0), box.attributes(1)
        sides = (
            SweptSides(*box.places) if isinstance(box, SweptBox) else PairSides(*box.places, box.n_classes)
        )
    za = halves_summed([full[i] for i in a], box.n_classes, np.int64) + base
    zb = halves_summed([full[i] for i in b], box.n_classes, np.int64)
    return sides.changed(np.ascontiguousarray(za), np.ascontiguousarray(zb))
