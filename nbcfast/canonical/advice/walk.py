"""From the most accurate choice down: the first that keeps the limits, and what stands beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nbcfast._core.errors import Infeasible
from nbcfast.canonical.advice.measured import Measured, Meter
from nbcfast.canonical.advice.space import Way
from nbcfast.canonical.advice.strata_search import RankedWays
from nbcfast.canonical.limits_of_answers import BROKEN

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

FURTHER = 300  # choices beyond the best that are looked at for others of fewer bits
LARGE = 1_000_000  # tuples of the largest domain that is measured only to be shown beside the best


class Walk:
    """The choices of a search, measured as they come.

    Parameters
    ----------
    ways : RankedWays
    meter : Meter
    progress : callable or None

    Attributes
    ----------
    n_looked_at : int
        Choices so far.
    broken : Counter of str
        The limit that was found broken first, of each of them.
    """

    def __init__(self, ways: RankedWays, meter: Meter, progress: Progress | None) -> None:
        self._ways, self._meter, self._progress = ways, meter, progress
        self._following: Iterator[Way] = ways.best_first()
        self._solved: list[Measured] = []  # in the order of their worth
        self.n_looked_at = 0
        self.broken: Counter[str] = Counter()

    def _next(self) -> Measured | None:
        for way in self._following:
            measured = self._meter.measured(way)
            self.n_looked_at += 1
            if measured.bits is not None:
                self._solved.append(measured)
            if self._progress is not None:
                self._progress(self.n_looked_at, self._ways.n_leaves)
            return measured
        return None

    def first(self) -> Measured:
        """The best choice that keeps every limit.

        Raises
        ------
        Infeasible
            If none does.
        """
        while (measured := self._next()) is not None:
            if not measured.broken:
                return measured
            self.broken[measured.broken[0]] += 1
        raise self._nothing()

    def front(self, best: Measured) -> list[Measured]:
        """What is worth more than the best and breaks a limit, and what is worth less and has fewer bits.

        Of both kinds those that no other has fewer bits at; beyond the best so many are looked at as say
        something, and not all of the menu.
        """
        above = [measured for measured in self._solved if measured.way != best.way]
        below: list[Measured] = []
        least = best.bits or 0.0
        for _ in range(FURTHER):
            measured = self._next()
            if measured is None:
                break
            if not measured.broken and (measured.bits or 0.0) < least:
                least = measured.bits or 0.0
                below.append(measured)
        lowest, kept = float("inf"), []
        for measured in above:  # from the most accurate down: each has to have fewer bits than those before
            if (measured.bits or 0.0) < lowest:
                lowest = measured.bits or 0.0
                kept.append(self._meter.measured(measured.way, wholly=True))
        return [*kept, best, *below]

    def _nothing(self) -> Infeasible:
        counts = ", ".join(f"{BROKEN[name]} ({n:,})" for name, n in self.broken.most_common())
        tried = "domains of the menu" if self._ways.exhaustive else "domains that were found best"
        fewer = "" if self._ways.exhaustive else ", or offer so few attributes that all domains can be tried"
        return Infeasible(
            f"none of {self.n_looked_at:,} {tried} keeps the limits; broken first: {counts}: offer coarser "
            f"options, let more attributes be left out, or allow more{fewer}",
            {"domains": self.n_looked_at, **self.broken},
        )
