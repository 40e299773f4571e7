"""Every way to share a few rows: whether so many rows can decide as points do at all, on small domains.

Attribute by attribute: of all columns of counts those stay that leave the rest of the attributes a chance.
If some rest of a tuple puts class c before class d with the one beginning and behind it with another, the
ratio of c to d has to be larger with the one. That, and Lambda, leave few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Floats, Longs
from nbcfast._rounding.apportion import viewset
from nbcfast._rounding.rows import Rounded
from nbcfast.canonical.rounding import ScorecardPlan, all_totals

MOST_TUPLES = 2_000  # of a domain that is looked at
MOST_SIZES = 10_000  # ways to share the rows among the classes
MOST_LISTED = 20_000  # ways to share them among the values of an attribute
MOST_HELD = 10_000_000  # ratios of tuples of the first attributes, of all ways that are left
MOST_JOINED = 5_000_000  # ways that are looked at when an attribute is added
MOST_COMPARED = 300_000_000  # comparisons altogether, of numbers in arrays
LISTING = 20  # of them take as long as listing one way
CHECKED = 200  # ways that floats find right, and that are compared exactly
NEAR = 1e-11  # logarithms of ratios that are nearer are of equal ratios
PLAIN = 20.0  # and so they are for certain up to such a logarithm of what is compared


class TriedRows(NamedTuple):
    """What was found among the ways, and whether none was passed over."""

    rounded: Rounded | None
    all_tried: bool


@dataclass(frozen=True)
class AskedOrder:
    """What is asked of two classes: where c must be before d, and where it must not."""

    c: int
    d: int
    before: Bools  # (sizes of the attributes)
    behind: Bools


@dataclass(frozen=True)
class Ways:
    """Some ways to share the rows of the classes among the values of the first attributes.

    Attributes
    ----------
    counts : list of ndarray of int64, shape (ways, values, classes)
        One an attribute.
    ratios : ndarray, shape (pairs, ways, tuples of the first attributes)
        For each pair of classes the sum of the logarithms of their ratios.
    uneven : ndarray
        How far the values are from being equally frequent.
    """

    counts: list[Longs]
    ratios: Floats
    uneven: Floats


class _SpentError(Exception):
    """There is no work left."""


class EveryWay:
    """The search for one number of rows.

    Parameters
    ----------
    plan : ScorecardPlan
        With no more than `MOST_TUPLES` tuples in the domain.
    rows : int
    """

    def __init__(self, plan: ScorecardPlan, rows: int) -> None:
        self.plan, self.rows = plan, rows
        self.sizes = [len(points) for points in plan.scores.points]
        self.n_classes = len(plan.scores.base)
        self.limit = math.log(plan.limit) + NEAR
        self.left = MOST_COMPARED
        self.asked = self._asked()
        self.pairs = [(each.c, each.d) for each in self.asked]
        self.orders: dict[tuple[int, ...], list[list[tuple[int, int]]]] = {}

    def _asked(self) -> list[AskedOrder]:
        """For each pair of classes what the points ask, on the tuples that matter."""
        scores, codes = self.plan.scores, self.plan.codes
        totals = all_totals(scores, codes)
        best = self.n_classes - 1 - np.argmax(totals[:, ::-1], axis=1)
        result = []
        for c, d in combinations(range(self.n_classes), 2):
            before = totals[:, c] > totals[:, d]
            matters = np.ones(len(totals), bool)
            if self.plan.preserve == "label" and self.n_classes > 2:
                matters = (best == c) | (best == d)
            result.append(AskedOrder(c, d, self._cube(before & matters), self._cube(~before & matters)))
        return result

    def _cube(self, flags: Bools) -> Bools:
        if self.plan.codes is None:
            return flags.reshape(self.sizes)
        cube = np.zeros(self.sizes, bool)
        cube[tuple(self.plan.codes.T)] = flags
        return cube

    def tried(self) -> TriedRows:
        """The first way that does, by sizes of the classes from even to uneven."""
        least, all_tried = max(self.sizes), True
        spare = self.rows - least * self.n_classes
        if math.comb(spare + self.n_classes - 1, self.n_classes - 1) > MOST_SIZES:
            return TriedRows(None, False)
        splits = compositions(spare + self.n_classes, self.n_classes) + (least - 1)
        order = np.argsort((splits * splits).sum(axis=1), kind="stable")
        for of_class in splits[order].tolist():
            try:
                rounded, whole = self._of_sizes(of_class)
            except _SpentError:
                return TriedRows(None, False)
            if rounded is not None:
                return TriedRows(rounded, True)
            all_tried &= whole
        return TriedRows(None, all_tried)

    def _of_sizes(self, of_class: list[int]) -> TriedRows:
        """The most even way that does with these sizes of the classes."""
        n = len(self.sizes)
        base = [(1 - n) * (math.log(of_class[c]) - math.log(of_class[d])) for c, d in self.pairs]
        of_attribute: list[Ways] = []
        for i in range(n):
            if math.prod(math.comb(rows - 1, self.sizes[i] - 1) for rows in of_class) > MOST_LISTED:
                return TriedRows(None, False)
            listed = self._listed(of_class, i)
            of_attribute.append(_chosen(listed, self._with_a_chance(listed, [i], base)))
            if not len(of_attribute[i].uneven):
                return TriedRows(None, True)
        # The fewest ways first: so fewer are joined.
        order = sorted(range(n), key=lambda i: len(of_attribute[i].uneven))
        ends = [[_ends(ratios).min(axis=1) for ratios in of_attribute[i].ratios] for i in order]
        ways = of_attribute[order[0]]
        for number, i in enumerate(order):
            if number:
                joined = self._joined(ways, of_attribute[i], order[: number + 1], base)
                if joined is None:
                    return TriedRows(None, False)
                ways = joined
            ways = _chosen(ways, self._within(ways, base, ends[number + 1 :]))
        return self._checked(ways, of_class, order)

    def _listed(self, of_class: list[int], i: int) -> Ways:
        """All ways to share the classes among the values of one attribute."""
        columns = [compositions(rows, self.sizes[i]) for rows in of_class]
        places = np.indices([len(column) for column in columns]).reshape(len(columns), -1)
        self._spend(LISTING * places.size * self.sizes[i])
        counts: Longs = np.stack([column[at] for column, at in zip(columns, places, strict=True)], axis=2)
        logs = np.log(counts)
        ratios = np.stack([logs[:, :, c] - logs[:, :, d] for c, d in self.pairs])
        uneven = ((counts.sum(axis=2) - self.rows / self.sizes[i]) ** 2).sum(axis=1)
        return Ways([counts], ratios, uneven)

    def _with_a_chance(self, ways: Ways, axes: list[int], base: list[float]) -> Longs:
        """The ways that decide as asked; of some attributes, those whose tuples are in the right order."""
        kept = np.arange(len(ways.uneven))
        if len(axes) < len(self.sizes):
            for ratios, orders in zip(ways.ratios, self._orders(axes), strict=True):
                for above, below in orders:
                    self._spend(len(kept))
                    kept = kept[ratios[kept, above] - ratios[kept, below] > NEAR]
            return kept
        for ratios, asked, constant in zip(ways.ratios, self.asked, base, strict=True):
            self._spend(ratios.size)
            before = asked.before.transpose(axes).reshape(-1)
            behind = asked.behind.transpose(axes).reshape(-1)
            # Equal scores go to the later class.
            right = (ratios[:, before] + constant > NEAR).all(axis=1)
            right &= (ratios[:, behind] + constant < NEAR).all(axis=1)
            kept = kept[right[kept]]
        return kept

    def _orders(self, axes: list[int]) -> list[list[tuple[int, int]]]:
        """For each pair of classes the tuples of some attributes with others that must have a smaller ratio.

        Those that follow from others are left out.
        """
        key = tuple(axes)
        if key not in self.orders:
            self.orders[key] = [_above(asked, axes) for asked in self.asked]
        return self.orders[key]

    def _within(self, ways: Ways, base: list[float], rest: list[list[Floats]]) -> Longs:
        """The ways with which Lambda may still keep to its limit."""
        kept = np.ones(len(ways.uneven), bool)
        for p, constant in enumerate(base):
            self._spend(ways.ratios[p].size)
            ends = _ends(ways.ratios[p]) + np.array([[constant], [-constant]])
            for of_attribute in rest:
                ends = ends + of_attribute[p][:, np.newaxis]
            kept &= (ends <= self.limit).all(axis=0)
        return np.flatnonzero(kept)

    def _joined(self, ways: Ways, other: Ways, axes: list[int], base: list[float]) -> Ways | None:
        """Each way to share the first attributes with each to share the next one, where there is a chance.

        None where these are too many to go on.
        """
        if len(ways.uneven) * len(other.uneven) > MOST_JOINED:
            return None
        size = ways.ratios.shape[2] * other.ratios.shape[2] * len(self.pairs)
        most = max(1, MOST_HELD // size)
        parts, held = [_chosen(_product(ways, other, slice(0, 0)), np.arange(0))], 0
        step = max(1, most // max(1, len(other.uneven)))
        for start in range(0, len(ways.uneven), step):
            both = _product(ways, other, slice(start, start + step))
            self._spend(both.ratios.size)
            parts.append(_chosen(both, self._with_a_chance(both, axes, base)))
            held += len(parts[-1].uneven)
            if held > most:
                return None
        return Ways(
            [np.concatenate(arrays) for arrays in zip(*(part.counts for part in parts), strict=True)],
            np.concatenate([part.ratios for part in parts], axis=1),
            np.concatenate([part.uneven for part in parts]),
        )

    def _checked(self, ways: Ways, of_class: list[int], order: list[int]) -> TriedRows:
        """The most even of the ways that floats find right, if an exact comparison does too."""
        places = np.argsort(ways.uneven, kind="stable")
        for place in places[:CHECKED].tolist():
            counts: list[tuple[int, ...]] = []
            for i in range(len(order)):
                counts.extend(map(tuple, ways.counts[order.index(i)][place].tolist()))
            views = viewset(self.plan.views, of_class, counts)
            if self.plan.safe(views):
                comparison = self.plan.compare(views)
                if comparison.equal:
                    return TriedRows(Rounded(views, comparison.method), True)
        plain = (2 * len(order) - 1) * math.log(self.rows) < PLAIN
        return TriedRows(None, len(places) <= CHECKED and plain)

    def _spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise _SpentError


def every_way(plan: ScorecardPlan, rows: int) -> TriedRows:
    """Counts in so many rows that decide as the points do, within the limit, if there are any.

    The rows have to be at least as many as give every value a count of 1 in every class.
    """
    domain = math.prod(len(points) for points in plan.scores.points)
    if domain > MOST_TUPLES or len(plan.scores.base) == 1:
        return TriedRows(None, False)
    return EveryWay(plan, rows).tried()


def compositions(total: int, parts: int) -> Longs:
    """All ways to write a total as a sum of so many positive integers, one a row."""
    if parts == 1:
        return np.array([[total]], np.int64)
    # Where the total is cut: an increasing choice of the places between its units.
    cuts = np.array(list(combinations(range(1, total), parts - 1)), np.int64).reshape(-1, parts - 1)
    ends = np.pad(cuts, ((0, 0), (1, 1)), constant_values=((0, 0), (0, total)))
    return np.diff(ends, axis=1)


def _above(asked: AskedOrder, axes: list[int]) -> list[tuple[int, int]]:
    others = [axis for axis in range(asked.before.ndim) if axis not in axes]
    tuples = math.prod(asked.before.shape[axis] for axis in axes)
    before = asked.before.transpose([*axes, *others]).reshape(tuples, -1).astype(np.float32)
    behind = asked.behind.transpose([*axes, *others]).reshape(tuples, -1).astype(np.float32)
    above = (before @ behind.T) > 0
    steps = above.astype(np.float32)
    return [(a, b) for a, b in np.argwhere(above & ~(steps @ steps > 0)).tolist()]


def _ends(ratios: Floats) -> Floats:
    """The largest of the ratios of each way, and of their inverses."""
    return np.stack([ratios.max(axis=1), -ratios.min(axis=1)])


def _chosen(ways: Ways, places: Longs) -> Ways:
    return Ways([array[places] for array in ways.counts], ways.ratios[:, places], ways.uneven[places])


def _product(ways: Ways, other: Ways, some: slice) -> Ways:
    """Each of some ways with each of the others."""
    n_other = len(other.uneven)
    first = ways.ratios[:, some, np.newaxis, :, np.newaxis]
    ratios = first + other.ratios[:, np.newaxis, :, np.newaxis, :]
    uneven = ways.uneven[some, np.newaxis] + other.uneven
    return Ways(
        [array[some].repeat(n_other, axis=0) for array in ways.counts]
        + [np.tile(other.counts[0], (ratios.shape[1], 1, 1))],
        ratios.reshape(len(ratios), uneven.size, ratios.shape[3] * ratios.shape[4]),
        uneven.reshape(-1),
    )
