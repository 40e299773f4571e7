"""What SafetyTransform wants of rows: roots on a ladder, decisions that stay, Lambda within its limit.

See docs/mathematics/safety.md, sections d and f.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from nbcfast import safety
from nbcfast._core.dtypes import Bools, Floats, Longs
from nbcfast._core.numbers import exact, number_text
from nbcfast._core.threads import Progress
from nbcfast._halves.codes import unravelled
from nbcfast._rounding.apportion import Counted
from nbcfast._rounding.nearest import Nearest, spread_of
from nbcfast._rounding.rows import SEARCHED, longer
from nbcfast.equivalence import Comparer, Comparison, Enumerated
from nbcfast.transform.ladder import Ladder, k_between
from nbcfast.transform.scaled import scaled_by
from nbcfast.transform.shares import ScaledShares, proven_counts, proven_counts_in
from nbcfast.transform.zeros import Filled
from nbcfast.views import Viewset

SPARE = 16  # bits by which roots are better than they must be: rounding to rows has the margin to itself
MOST_LIMIT = Fraction(1 << 256)  # of Lambda: beyond, shares of rows would leave the range of doubles


class Decisions:
    """What views decide once their zeros are replaced, for candidates to be compared with.

    Parameters
    ----------
    filled : Filled
    progress : callable, optional
        Called as progress(done, total) in every comparison.
    """

    def __init__(self, filled: Filled, progress: Progress | None = None) -> None:
        self.filled, self.progress = filled, progress

    @cached_property
    def _comparer(self) -> Comparer:
        return Comparer(self.filled.views, self.filled.preserve)

    @cached_property
    def _enumerated(self) -> Enumerated:
        return Enumerated(self.filled.views, self.filled.preserve)

    def compare(self, views: Viewset) -> Comparison:
        return self._comparer.compare(views, progress=self.progress)

    def nearest(self, shares: ScaledShares, rows: int) -> Nearest:
        """The comparisons that rounding to so many rows may turn."""
        flat = self.filled.flat
        starts, sizes = flat.starts[:-1], np.diff(flat.starts).tolist()

        def rows_of(places: Longs) -> Longs:
            rows_of_tuples: Longs = unravelled(places, sizes) + starts
            return rows_of_tuples

        return Nearest(self._compared(shares), 2 * spread_of(shares) / rows, rows_of)

    def _compared(self, shares: ScaledShares) -> Iterable[tuple[int, int, Floats, Bools]]:
        # From the scaled numbers alone, as all that is tried must be the same for views with equal ratios
        # (docs/mathematics/safety.md, section m): the private counts say no more than what has to hold.
        logs, of_class = shares.scaled.logs()
        starts = self.filled.flat.starts.tolist()
        for number, (c, d) in enumerate(self._enumerated.pairs):
            ratios = np.full(1, of_class[c] - of_class[d])
            difference = logs[:, c] - logs[:, d]
            for start, stop in pairwise(starts):
                ratios = (ratios[:, np.newaxis] + difference[start:stop]).reshape(-1)
            above, matters = self._enumerated.asked(number)
            distance = np.abs(ratios)
            if matters is not None:
                distance[~matters] = np.inf
            yield c, d, distance, above


class LadderPlan:
    """Powers 1/k of the counts, with k up a ladder or the one that is given.

    Parameters
    ----------
    filled : Filled
    limit : Fraction
        Of Lambda.
    gauge : bool
    margin : Fraction or None
        See `deciding_margin`.
    k : Fraction, optional
    progress : callable, optional
        Called as progress(done, total), in parts of the work.
    """

    proof = "interval"
    last = False

    def __init__(
        self,
        filled: Filled,
        limit: Fraction,
        gauge: bool,
        margin: Fraction | None,
        k: Fraction | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.filled, self.gauge, self.margin, self.k = filled, gauge, margin, k
        self.views, self.preserve = filled.views, filled.preserve
        self.limit = min(limit, MOST_LIMIT)
        self.tuples = self.views.n_tuples
        self.promise = f"Lambda up to {number_text(exact(limit, 'limit'))}"
        self.fixed = k is not None
        self.decisions = Decisions(filled, progress)

    @property
    def searched(self) -> bool:
        return self.tuples <= SEARCHED

    def ks(self) -> Iterator[Fraction]:
        if self.k is not None:
            yield self.k
            return
        ladder = Ladder(self.filled, self.limit)
        while True:
            yield ladder.k
            ladder.up()

    def more_ks(self) -> Iterator[Fraction]:
        return self.ks() if self.fixed else longer(self.ks())

    def between(self, low: Fraction, high: Fraction) -> Fraction | None:
        return k_between(low, high)

    def shares(self, k: Fraction) -> ScaledShares:
        return ScaledShares(scaled_by(self.filled, self.limit, k, self.gauge, self.margin, None, SPARE))

    def nearest(self, shares: ScaledShares, rows: int) -> Nearest:
        return self.decisions.nearest(shares, rows)

    def proven(self, shares: ScaledShares) -> Counted:
        return proven_counts(shares)

    def proven_in(self, shares: ScaledShares, rows: int) -> Counted | None:
        return proven_counts_in(shares, rows)

    def compare(self, views: Viewset) -> Comparison:
        return self.decisions.compare(views)

    def safe(self, views: Viewset) -> bool:
        return safety.at_most(views, self.limit)
