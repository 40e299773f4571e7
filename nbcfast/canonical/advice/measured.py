"""What the answers on one domain give away: limit by limit, those first that cost least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Number
from nbcfast.canonical.advice.space import Space, Way
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import AnyBox, Box
from nbcfast.canonical.leak import share_of, shown_of, totals_of
from nbcfast.canonical.leave_one_out import at_most
from nbcfast.canonical.limits_of_answers import Limits
from nbcfast.canonical.publish import not_here
from nbcfast.canonical.weights.levels import Levels
from nbcfast.canonical.weights.solve import solve
from nbcfast.table.domain import Domain
from nbcfast.views import Viewset


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What answers on a domain give away.

    Numbers are None where they were not measured: because a limit was broken before, or the domain is too
    large.

    Attributes
    ----------
    choice : tuple of int
    by : int or None
        The attribute of which each value has a classifier of its own.
    tuples : int
    one_class : int
        Values with rows of one class only.
    bits : float or None
        Bits a weight; at least `least_bits`.
    least_bits : float
        What levels alone prove: neighbouring levels of an attribute differ by 2 in every feasible solution.
    found, cells : int or None
    flip, trace : float or None
    broken : tuple of str
        Names of limits; where measuring stopped at the first of them there may be more.
    """

    choice: tuple[int, ...]
    by: int | None = None
    tuples: int
    one_class: int
    bits: float | None = None
    least_bits: float = 0.0
    found: int | None = None
    cells: int | None = None
    flip: float | None = None
    trace: float | None = None
    broken: tuple[str, ...] = ()

    @property
    def way(self) -> Way:
        return Way(self.choice, self.by)


class Meter:
    """Measures the answers on domains of a space.

    Of strata, each with a classifier of its own, the numbers are those of all together: counts are added up,
    bits are the most and shares the least that any of them has.

    Parameters
    ----------
    space : Space
    limits : Limits
    threads : int or None
    alpha : int or Fraction, optional
        What is added to every count before the classifier answers.

    Attributes
    ----------
    limits : Limits
    """

    def __init__(
        self, space: Space, limits: Limits, threads: int | None = None, alpha: Number | None = None
    ) -> None:
        self.limits = limits
        self._alpha = alpha
        self._space, self._threads = space, threads
        self._whole = (_Counts(space),)
        self._strata: dict[tuple[int, int], tuple[_Counts, ...]] = {}
        self._known: dict[Way, Measured] = {}

    def measured(self, way: Way, *, wholly: bool = False, below: float = math.inf) -> Measured:
        """What the answers on the domain of a choice give away.

        Stops at the first limit that is broken, or with `wholly` goes on; and where it has as many bits as
        `below`, whatever limits are to come.
        """
        if way not in self._known or (wholly and self._known[way].flip is None):
            measured = self._measured(way, wholly, below)
            if measured.flip is None and not measured.broken:
                return measured  # limits are to come
            self._known[way] = measured
        return self._known[way]

    def under(self, limits: Limits) -> Meter:
        """The same rows under other limits."""
        return Meter(self._space, limits, self._threads, self._alpha)

    def tuples(self, way: Way) -> int:
        """How many kinds of people the domain of a choice tells apart."""
        return self._space.tuples(way.choice)

    def _parts(self, way: Way) -> tuple[_Counts, ...]:
        """The rows that each classifier is made of."""
        if way.by is None:
            return self._whole
        key = way.by, way.choice[way.by]
        if key not in self._strata:
            self._strata[key] = tuple(map(_Counts, self._space.strata(*key)))
        return self._strata[key]

    def _measured(self, way: Way, wholly: bool, below: float) -> Measured:
        limits, broken, parts = self.limits, [], self._parts(way)
        made = Measured(
            choice=way.choice,
            by=way.by,
            tuples=self._space.tuples(way.choice),
            one_class=sum(part.one_classes(way.of_others) for part in parts),
        )
        if way.by is not None and any(self._whole[0].lacks_class_of(part) for part in parts):
            return replace(made, broken=("strata",))
        if not limits.kept("max_one_class", made.one_class):
            broken.append("max_one_class")
            if not wholly:
                return replace(made, broken=tuple(broken))
        views = [part.views(way.of_others) for part in parts]
        if any(not_here(of_part) is not None for of_part in views):
            return replace(made, broken=(*broken, "tuples"))
        boxes = []
        for of_part in views:
            answered = of_part if self._alpha is None else of_part.smoothed(self._alpha)
            boxes.append(box(answered, threads=self._threads))
            made = replace(made, least_bits=max(made.least_bits, least_bits(boxes[-1])))
            if not wholly and not limits.kept("max_bits", made.least_bits):
                return replace(made, broken=(*broken, "max_bits"))
        try:
            solutions = list(map(solve, boxes))
        except Infeasible:  # doubles are too short: bits beyond any limit
            return replace(made, broken=(*broken, "max_bits"))
        made = replace(made, bits=max(0.0, *(float(solution.log2_range) for solution in solutions)))
        if not limits.kept("max_bits", made.bits):
            broken.append("max_bits")
            if not wholly:
                return replace(made, broken=tuple(broken))
        if (made.bits or 0.0) >= below:
            return made
        totals = [
            totals_of(asked, solution, of_part, None, self._alpha)
            for asked, solution, of_part in zip(boxes, solutions, views, strict=True)
        ]
        made = replace(made, found=sum(one.found for one in totals), cells=sum(one.cells for one in totals))
        if not limits.kept("max_found", made.found):
            broken.append("max_found")
            if not wholly:
                return replace(made, broken=tuple(broken))
        flips, traces, proved = [], [], {"min_flip": 1.0, "min_trace": 1.0}
        for asked, of_part, part in zip(boxes, views, parts, strict=True):
            rows = part.space.rows(way.of_others)
            shown, everybody = shown_of(asked, of_part, rows, None, alpha=self._alpha, threads=self._threads)
            people, unseen = shown.n_people, {"min_flip": shown.flipped, "min_trace": shown.traceless}
            for name, n_unseen in unseen.items():
                # Of a sample what it proves, and not what it shows: nobody of 64 is up to 4.6 % of all.
                least = share_of(n_unseen, people) if everybody else 1 - at_most(people - n_unseen, people)
                proved[name] = min(proved[name], least)
            flips.append(share_of(shown.flipped, people))
            traces.append(share_of(shown.traceless, people))
        made = replace(made, flip=min(flips), trace=min(traces))
        broken += [name for name, share in proved.items() if not limits.kept(name, share)]
        return replace(made, broken=tuple(broken))


class _Counts:
    """Counts of the options of a space, each counted once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._counts: dict[tuple[int, int], Longs | None] = {}
        self._one_class: dict[tuple[int, int], int] = {}
        self._class_counts = space.class_counts()

    def lacks_class_of(self, part: _Counts) -> bool:
        """Whether a part of these rows has none of some class that they have."""
        return bool(((part._class_counts == 0) & (self._class_counts > 0)).any())

    def one_classes(self, choice: Sequence[int]) -> int:
        """Values of some options whose rows are all of one class."""
        return sum(self._one_class_of(i, option) for i, option in enumerate(choice))

    def _one_class_of(self, attribute: int, option: int) -> int:
        """Those of one option; it does not depend on other attributes."""
        key = attribute, option
        if key not in self._one_class:
            counts = self._of(attribute, option)
            self._one_class[key] = values_of_one_class(counts)
        return self._one_class[key]

    def views(self, choice: Sequence[int]) -> Viewset:
        """The counts of a choice; values are only numbered."""
        space, counts, domains = self.space, {}, {}
        for i, (name, option) in enumerate(zip(space.attributes, choice, strict=True)):
            of_option = self._of(i, option)
            if of_option is not None:
                counts[name] = of_option.copy()
                domains[name] = Domain("int", np.arange(len(of_option)), (), True)
        return Viewset.from_parts(self._class_counts.copy(), counts, space.class_domain, domains)

    def _of(self, attribute: int, option: int) -> Longs | None:
        key = attribute, option
        if key not in self._counts:
            self._counts[key] = self.space.counts(attribute, option)
        return self._counts[key]


def values_of_one_class(counts: Longs | None) -> int:
    """How many values of an option have rows of one class only; none where it is left out."""
    return 0 if counts is None else int(((counts > 0).sum(axis=1) == 1).sum())


def least_bits(asked: AnyBox) -> float:
    """Bits a weight that the levels of a box of two classes prove, before anything is solved; else 0.

    Of two neighbouring levels of an attribute some tuples of the others tell one from the other, so weights
    with a margin of 1 differ by 2 there: sums spread over 2 sum(levels - 1), and one end is half of that.
    """
    if not isinstance(asked, Box) or asked.n_classes != 2:
        return 0.0
    steps = sum(size - 1 for size in Levels(asked).sizes)
    return math.log2(steps) if steps > 1 else 0.0
