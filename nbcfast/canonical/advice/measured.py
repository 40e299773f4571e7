"""What the answers on one domain give away: limit by limit, those first that cost least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Number
from nbcfast.canonical.advice.space import Space
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
    tuples: int
    one_class: int
    bits: float | None = None
    least_bits: float = 0.0
    found: int | None = None
    cells: int | None = None
    flip: float | None = None
    trace: float | None = None
    broken: tuple[str, ...] = ()


class Meter:
    """Measures the answers on domains of a space.

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
        self._counts: dict[tuple[int, int], Longs | None] = {}
        self._one_class: dict[tuple[int, int], int] = {}
        n_classes = space.n_classes
        self._class_counts = np.bincount(space.classes, space.weights, n_classes).astype(np.int64)
        self._known: dict[tuple[int, ...], Measured] = {}

    def one_class(self, attribute: int, option: int) -> int:
        """Values of an option whose rows are all of one class; it does not depend on other attributes."""
        key = attribute, option
        if key not in self._one_class:
            counts = self._of(attribute, option)
            self._one_class[key] = 0 if counts is None else int(((counts > 0).sum(axis=1) == 1).sum())
        return self._one_class[key]

    def views(self, choice: Sequence[int]) -> Viewset:
        """The counts of a choice; values are only numbered."""
        space, counts, domains = self._space, {}, {}
        for i, (name, option) in enumerate(zip(space.attributes, choice, strict=True)):
            of_option = self._of(i, option)
            if of_option is not None:
                counts[name] = of_option.copy()
                domains[name] = Domain("int", np.arange(len(of_option)), (), True)
        return Viewset.from_parts(self._class_counts.copy(), counts, space.class_domain, domains)

    def measured(self, choice: tuple[int, ...], *, wholly: bool = False) -> Measured:
        """What the answers on the domain of a choice give away.

        Stops at the first limit that is broken, or with `wholly` goes on.
        """
        if choice not in self._known or (wholly and self._known[choice].flip is None):
            self._known[choice] = self._measured(choice, wholly)
        return self._known[choice]

    def _of(self, attribute: int, option: int) -> Longs | None:
        key = attribute, option
        if key not in self._counts:
            self._counts[key] = self._space.counts(attribute, option)
        return self._counts[key]

    def _measured(self, choice: tuple[int, ...], wholly: bool) -> Measured:
        limits, broken = self.limits, []
        made = Measured(
            choice=choice,
            tuples=self._space.tuples(choice),
            one_class=sum(self.one_class(i, option) for i, option in enumerate(choice)),
        )
        if not limits.kept("max_one_class", made.one_class):
            broken.append("max_one_class")
            if not wholly:
                return replace(made, broken=tuple(broken))
        views = self.views(choice)
        if not_here(views) is not None:
            return replace(made, broken=(*broken, "tuples"))
        asked = box(views if self._alpha is None else views.smoothed(self._alpha), threads=self._threads)
        made = replace(made, least_bits=least_bits(asked))
        if not wholly and not limits.kept("max_bits", made.least_bits):
            return replace(made, broken=(*broken, "max_bits"))
        try:
            solution = solve(asked)
        except Infeasible:  # doubles are too short: bits beyond any limit
            return replace(made, broken=(*broken, "max_bits"))
        made = replace(made, bits=max(float(solution.log2_range), 0.0))
        if not limits.kept("max_bits", made.bits):
            broken.append("max_bits")
            if not wholly:
                return replace(made, broken=tuple(broken))
        totals = totals_of(asked, solution, views, None, self._alpha)
        made = replace(made, found=totals.found, cells=totals.cells)
        if not limits.kept("max_found", totals.found):
            broken.append("max_found")
            if not wholly:
                return replace(made, broken=tuple(broken))
        shown, everybody = shown_of(
            asked, views, self._space.rows(choice), None, alpha=self._alpha, threads=self._threads
        )
        people, unseen = shown.n_people, {"flip": shown.flipped, "trace": shown.traceless}
        for name, n_unseen in unseen.items():
            # Of a sample what it proves, and not what it shows: nobody of 64 is up to 4.6 % of all.
            proved = share_of(n_unseen, people) if everybody else 1 - at_most(people - n_unseen, people)
            if not limits.kept(f"min_{name}", proved):
                broken.append(f"min_{name}")
        made = replace(made, flip=share_of(shown.flipped, people), trace=share_of(shown.traceless, people))
        return replace(made, broken=tuple(broken))


def least_bits(asked: AnyBox) -> float:
    """Bits a weight that the levels of a box of two classes prove, before anything is solved; else 0.

    Of two neighbouring levels of an attribute some tuples of the others tell one from the other, so weights
    with a margin of 1 differ by 2 there: sums spread over 2 sum(levels - 1), and one end is half of that.
    """
    if not isinstance(asked, Box) or asked.n_classes != 2:
        return 0.0
    steps = sum(size - 1 for size in Levels(asked).sizes)
    return math.log2(steps) if steps > 1 else 0.0
