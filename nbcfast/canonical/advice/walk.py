"""From the most accurate choice down: the first that keeps the limits, and what stands beside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from nbcfast._core.errors import Infeasible
from nbcfast.canonical.advice.measured import Measured, Meter
from nbcfast.canonical.advice.space import Space, Way
from nbcfast.canonical.advice.strata_search import RankedWays
from nbcfast.canonical.limits_of_answers import BROKEN

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

FURTHER = 300  # choices beyond the best that are looked at for others of fewer bits
# Counted work, so that on every machine the same choices are measured: one choice costs 1, and 1 more for
# every 2,000 tuples, up to 50, which is about a tenth of a second.
TUPLES, MOST_COST = 2_000, 50
PATIENCE = 20_000  # until a choice is found that keeps the limits: about a minute
BESIDE = 3_000  # for those that are only shown beside it
LARGE = 10_000  # tuples of the largest domain that is measured where not all choices are looked for
SAMPLED = 0.05  # by so much less of people is proved where not all are looked at


class TooManyError(Exception):
    """More choices break the limits than are measured one by one."""


class Walk:
    """The choices of a search, measured as they come.

    Parameters
    ----------
    ways : RankedWays
    meter : Meter
    progress : callable or None
        Called as progress(done, total), in choices; the total is what is known of it so far.
    struck_out : int
        Domains that are not among them, as an option has too many values of one class.

    Attributes
    ----------
    n_looked_at : int
        Choices so far.
    broken : Counter of str
        The limit that was found broken first, of each of them.
    """

    def __init__(
        self, ways: RankedWays, meter: Meter, progress: Progress | None, *, struck_out: int = 0
    ) -> None:
        self._ways, self._meter, self._progress = ways, meter, progress
        self._following: Iterator[Way] = ways.best_first()
        self._solved: list[Measured] = []  # in the order of their worth
        self.n_looked_at = 0
        self.broken: Counter[str] = Counter(max_one_class=struck_out) if struck_out else Counter()

    def _cost(self, way: Way) -> int:
        """What it is to measure a choice."""
        return min(1 + self._meter.tuples(way) // TUPLES, MOST_COST)

    def _measured(self, way: Way, below: float = inf) -> Measured:
        measured = self._meter.measured(way, below=below)
        self.n_looked_at += 1
        if measured.bits is not None:
            self._solved.append(measured)
        return measured

    def _tell(self, n_to_come: int) -> None:
        """How many choices are measured, of those and as many as are to come."""
        if self._progress is not None:
            self._progress(self.n_looked_at, min(self.n_looked_at + n_to_come, self._ways.n_leaves))

    def first(self) -> Measured:
        """The best choice that keeps every limit.

        Raises
        ------
        Infeasible
            If none does.
        TooManyError
            If that takes more work than is done.
        """
        left = PATIENCE
        for way in self._following:
            if not self._ways.exhaustive and self._meter.tuples(way) > LARGE:
                self.n_looked_at += 1
                self.broken["tuples"] += 1
                continue
            left -= self._cost(way)
            if left < 0:
                raise TooManyError
            measured = self._measured(way)
            self._tell(FURTHER)  # how many break a limit nobody knows, and so many come after them
            if not measured.broken:
                return measured
            self.broken[measured.broken[0]] += 1
        raise nothing_kept(self.broken, exhaustive=self._ways.exhaustive)

    def front(self, best: Measured) -> list[Measured]:
        """What is worth more than the best and breaks a limit, and what is worth less and has fewer bits.

        Of both kinds those that no other has fewer bits at; beyond the best so many are looked at as say
        something, and not all of the menu.
        """
        above = [measured for measured in self._solved if measured.way != best.way]
        below: list[Measured] = []
        least = best.bits or 0.0
        left = BESIDE
        for n_before, way in enumerate(islice(self._following, FURTHER)):
            left -= self._cost(way)
            if left < 0:
                break
            measured = self._measured(way, least)
            self._tell(FURTHER - n_before - 1)
            if not measured.broken and (measured.bits or 0.0) < least:
                least = measured.bits or 0.0
                below.append(measured)
        lowest, kept = inf, []
        for measured in above:  # from the most accurate down: each has to have fewer bits than those before
            if (measured.bits or 0.0) < lowest:
                lowest = measured.bits or 0.0
                kept.append(self._meter.measured(measured.way, wholly=True))
        self._tell(0)
        return [*kept, best, *below]


def nothing_kept(broken: Counter[str], *, exhaustive: bool) -> Infeasible:
    """That no domain keeps the limits; `broken` says which was found broken first, of how many."""
    n, counts = broken.total(), ", ".join(f"{BROKEN[name]} ({n:,})" for name, n in broken.most_common())
    tried = "domains of the menu" if exhaustive else "domains that were found best"
    fewer = "" if exhaustive else ", or offer so few attributes that all domains can be tried"
    return Infeasible(
        f"none of {n:,} {tried} keeps the limits; broken first: {counts}: offer coarser "
        f"options, let more attributes be left out, or allow more{fewer}",
        {"domains": n, **broken},
    )


def undecided(broken: Counter[str]) -> Infeasible:
    """That so much work has found no domain that keeps the limits, and more is not done."""
    counts = ", ".join(f"{BROKEN[name]} ({n:,})" for name, n in broken.most_common())
    return Infeasible(
        f"not decided: of {broken.total():,} domains, from the most accurate down, none keeps the limits; "
        f"broken first: {counts}: offer fewer and coarser options, or allow more",
        {"domains": broken.total(), "decided": False, **broken},
    )


def with_coarsest(refused: Infeasible, space: Space, meter: Meter) -> Infeasible:
    """The same, with what the coarsest domain of the menu gives away, and the limits that it keeps."""
    return Infeasible(refused.why, {**refused.best, **_coarsest(space, meter)})


def _coarsest(space: Space, meter: Meter) -> dict[str, object]:
    """These, or nothing where they cannot be measured."""
    choice = tuple(min(range(len(sizes)), key=sizes.__getitem__) for sizes in space.sizes)
    way = Way(choice)
    found = meter.measured(way, wholly=True)
    if found.flip is None or found.trace is None or found.bits is None or found.found is None:
        return {}
    kept = meter.limits
    for margin in (0.0, SAMPLED):
        shares = {"min_flip": found.flip, "min_trace": found.trace}
        reached = {
            "max_bits": math.ceil(found.bits * 10) / 10,
            "max_found": found.found,
            "max_one_class": found.one_class,
            **{name: max(0.0, math.floor((share - margin) * 100) / 100) for name, share in shares.items()},
        }
        needed = {name: reached[name] for name in found.broken if name in reached}
        kept = replace(kept, **needed)  # type: ignore[arg-type]  # each is checked there
        again = meter.under(kept).measured(way)
        if not again.broken:
            names = ("tuples", "one_class", "bits", "found", "flip", "trace")
            return {"coarsest": {name: getattr(found, name) for name in names}, "limits": needed}
    return {}
