"""Associations that are listed one by one, each pointing at what is known of its probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Codes, Floats, Longs
from nbcfast._core.untyped import Exact
from nbcfast.associations.results import NO_WORLD, NOT_JOINED, ByJoinValue, Finding, Listing
from nbcfast.associations.sizes import NEAR, fraction

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


@dataclass(frozen=True)
class Outcome:
    """Bounds of a probability as mpq numbers; None twice where no world exists.

    Equal bounds are the probability. Otherwise it is enclosed far more narrowly than a float tells, and is
    not the lower bound; or, where `sampled` (the estimate), it lies between them with the stated confidence.
    `refine` gives the same with all that can be known, where that takes longer.
    """

    low: Exact
    high: Exact
    sampled: float | None = None
    refine: Callable[[], Outcome] | None = None

    @property
    def probability(self) -> float:
        """As a float, NaN without a world; 0.0 and 1.0 only where they are exact."""
        if self.low is None:
            return float("nan")
        if self.sampled is not None:
            return self.sampled
        middle = float(self.low if self.low == self.high else (self.low + self.high) / 2)
        if middle >= 1 and self.low != 1:
            return float(np.nextafter(1.0, 0.0))
        return float(np.nextafter(0.0, 1.0)) if middle == 0 and self.high != 0 else middle

    @property
    def exact(self) -> Fraction | None:
        if self.refine is not None:
            return self.refine().exact
        return None if self.low is None or self.low != self.high else fraction(self.low)

    def exceeds(self, threshold: Exact) -> bool:
        if self.low is None:
            return False
        if self.sampled is not None or self.low == self.high or self.high <= threshold:
            return bool(self.high > threshold)
        if self.low >= threshold:
            return True
        if self.refine is not None:
            return self.refine().exceeds(threshold)
        raise ValueError(NEAR.format(100))


MOST_ALIKE = 1 << 12  # answers of finders that are kept, as others may be the same

NOWHERE = Outcome(None, None)
NEVER = Outcome(gmpy2.mpq(0), gmpy2.mpq(0))


class Explicit:
    """Associations in a list.

    Parameters
    ----------
    outcomes : callable
        From the code of an identity to value -> outcome, of all values that it has in the join.
    identities : list of int
        Those that are asked for, rising; others are only looked up.
    case : str
        How they were found.
    by_join_value : callable, optional
        Gives what `OneJoinKey.by_join_value` does.
    wanted_ids, wanted_values : ndarray of bool, by code
    """

    def __init__(
        self,
        outcomes: Callable[[int], Mapping[int, Outcome]],
        identities: list[int],
        case: str,
        wanted_ids: Bools,
        wanted_values: Bools,
        by_join_value: Callable[[], ByJoinValue] | None = None,
        progress: Progress | None = None,
    ) -> None:
        # Finders give one object for all associations that are alike: its float, and whether it is above a
        # threshold, are worked out once. It is known by its id, as its fractions may be long. So it is with
        # all values of an identity, which are kept while they are known.
        places: dict[int, int] = {}
        alike: dict[int, tuple[Mapping[int, Outcome], list[int], list[int]]] = {}
        self.outcomes: list[Outcome] = []
        values: list[int] = []
        kinds_of: list[int] = []
        lengths: list[int] = []
        for done, code in enumerate(identities):
            found = outcomes(code)
            if id(found) not in alike:
                if len(alike) == MOST_ALIKE:
                    alike.clear()
                own = sorted(found)
                for outcome in map(found.__getitem__, own):
                    if id(outcome) not in places:
                        places[id(outcome)] = len(self.outcomes)
                        self.outcomes.append(outcome)
                alike[id(found)] = found, own, [places[id(found[value])] for value in own]
            _, own, own_kinds = alike[id(found)]
            values += own
            kinds_of += own_kinds
            lengths.append(len(own))
            if progress is not None:
                progress(done + 1, len(identities))
        kinds: Longs = np.array(kinds_of, np.int64)
        self.kinds = kinds
        self.identities: Codes = np.repeat(np.array(identities, np.uint32), lengths)
        self.values: Codes = np.array(values, np.uint32)
        self.probabilities: Floats = np.array([outcome.probability for outcome in self.outcomes])
        self.asked = wanted_ids[self.identities] & wanted_values[self.values]
        self.n_identities = len(identities)
        stuck = np.array([outcome.low is None for outcome in self.outcomes], np.bool_)
        # As many as are asked for, whichever of their values are.
        self.n_without_world = len(np.unique(self.identities[stuck[kinds]])) if len(kinds) else 0
        self._find = outcomes
        self.case = case
        self._by_join_value = by_join_value

    @property
    def sampled(self) -> bool:
        return any(outcome.sampled is not None for outcome in self.outcomes)

    @property
    def n_associations(self) -> int:
        return int(np.count_nonzero(self.asked))

    def _listed(self, which: Bools) -> Listing:
        kinds = self.kinds[which]
        bounds = None
        if self.sampled:
            lows, highs = (
                np.array([np.nan if end is None else float(end) for end in ends])
                for ends in zip(*((outcome.low, outcome.high) for outcome in self.outcomes), strict=True)
            )
            bounds = lows[kinds], highs[kinds]
        times = np.zeros(len(kinds), np.uint32)
        return Listing(self.identities[which], self.values[which], self.probabilities[kinds], times, bounds)

    def listed(self) -> Listing:
        return self._listed(self.asked)

    def worst(self, n: int) -> Listing:
        return self.listed().best(n)

    def _above(self, threshold: Fraction) -> Bools:
        level = gmpy2.mpq(threshold)
        higher = np.array([outcome.exceeds(level) for outcome in self.outcomes], np.bool_)
        above: Bools = self.asked & higher[self.kinds] if len(higher) else self.asked
        return above

    def above(self, threshold: Fraction) -> Listing:
        return self._listed(self._above(threshold))

    def n_above(self, threshold: Fraction) -> int:
        return int(np.count_nonzero(self._above(threshold)))

    def cover(self, code: int) -> Codes:
        return np.array(sorted(self._of(code)), np.uint32)

    def _of(self, code: int) -> Mapping[int, Outcome]:
        """Value -> outcome of an identity, whether it is asked for or not."""
        start, stop = np.searchsorted(self.identities, [code, code + 1])
        if start == stop:
            return self._find(code)
        kinds = self.kinds[start:stop].tolist()
        return dict(zip(self.values[start:stop].tolist(), map(self.outcomes.__getitem__, kinds), strict=True))

    def finding(self, code: int, value: int) -> Finding:
        outcomes, case = self._of(code), self.case
        outcome = outcomes.get(value)
        if outcome is None:  # no join tuple has both: 0, if there is any world
            stuck = any(other.low is None for other in outcomes.values())
            outcome, case = (NOWHERE if stuck else NEVER), NOT_JOINED
        if outcome.low is None:
            return Finding(None, lambda: None, f"{NO_WORLD}: the identity cannot have a single value", [])
        interval = None if outcome.sampled is None else (float(outcome.low), float(outcome.high))
        exact = (lambda: None) if outcome.sampled is not None else (lambda: outcome.exact)
        return Finding(outcome.probability, exact, case, [], interval)

    def by_join_value(self) -> ByJoinValue:
        if self._by_join_value is None:
            raise ValueError("by_join_value: the views do not all share one join key")
        return self._by_join_value()
