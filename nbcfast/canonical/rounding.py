"""From a scorecard to integer counts in few rows. Nothing here has seen more of the data than its labels.

The search reads points, the boxes of its own candidates and public parameters: so it is part of the
function that the theorem speaks of, and may look at all that these say (docs/mathematics/canonical.md,
sections 1 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from nbcfast import safety
from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Bools, Floats, Longs
from nbcfast._core.numbers import exact, number_text
from nbcfast._halves.codes import unravelled
from nbcfast._rounding.apportion import Counted, round_up, viewset
from nbcfast._rounding.nearest import Nearest, spread_of
from nbcfast._rounding.rows import SEARCHED, longer
from nbcfast.canonical.row_shares import EvenShares, IntegerScores
from nbcfast.views import Viewset


class Same(NamedTuple):
    """Whether candidates have the labels that are wanted."""

    equal: bool
    differing: int | None
    method: str


def all_totals(scores: IntegerScores, codes: Longs | None = None) -> Longs:
    """The sums of points of every class, for all tuples in C order or for those of `codes`."""
    dtype = np.dtype(np.int64 if scores.range < 1 << 60 else object)
    base = np.array(scores.base, dtype)
    arrays = [np.array(rows, dtype).reshape(len(rows), len(base)) for rows in scores.points]
    if codes is not None:
        totals = np.tile(base, (len(codes), 1))
        for i, array in enumerate(arrays):
            totals = totals + array[codes[:, i]]
        return totals
    totals = base[np.newaxis]
    for array in arrays:
        totals = (totals[:, np.newaxis] + array).reshape(-1, len(base))
    return totals


class ScorecardPlan:
    """What a canonical release wants of rows: the answers of a scorecard, and Lambda within its limit.

    Parameters
    ----------
    scores : IntegerScores
    names : Viewset
        Whose labels and domains the counts get. Its counts do not matter and are 0.
    limit : Fraction
        Of Lambda.
    same : callable
        Whether a viewset has the wanted labels, exactly, and how many tuples differ where that is known.
    codes : ndarray, optional
        The tuples that matter.
    preserve : {"label", "order"}
    rows : int
        So many were asked for, or 0.
    """

    fixed = last = False

    def __init__(
        self,
        scores: IntegerScores,
        names: Viewset,
        limit: Fraction,
        same: Callable[[Viewset], Same],
        codes: Longs | None,
        preserve: Preserve,
        rows: int = 0,
    ) -> None:
        self.scores, self.views, self.limit, self.same = scores, names, limit, same
        self.codes, self.preserve, self.rows = codes, preserve, rows
        self.tuples = names.n_tuples if codes is None else len(codes)
        self.promise = f"Lambda up to {number_text(exact(limit, 'limit'))}"

    @property
    def proof(self) -> str:
        """Whatever the rows, counts are compared before they leave."""
        return "enumeration" if self.tuples <= SEARCHED else "meet in the middle"

    @property
    def searched(self) -> bool:
        """Whether moves of rows are tried: all totals are held."""
        return self.tuples * len(self.scores.base) <= 2 * SEARCHED

    def ks(self) -> Iterator[Fraction]:
        # Before rounding Lambda is the limit to the power 1/k (docs/mathematics/canonical.md, section 5). The
        # first k is barely above 1, so as to leave room for rounding alone; k grows where that is too little.
        for power in range(10, -21, -2):
            yield 1 + Fraction(2) ** -power

    def more_ks(self) -> Iterator[Fraction]:
        return longer(self.ks())

    def between(self, low: Fraction, high: Fraction) -> Fraction | None:
        return None  # k only has to leave room for what rounding does to Lambda

    def shares(self, k: Fraction) -> EvenShares:
        return EvenShares(self.scores, self.limit, k, self.rows)

    def nearest(self, shares: EvenShares, rows: int) -> Nearest:
        starts = np.array(shares.starts[:-1], np.int64)
        sizes = tuple(np.diff(shares.starts).tolist())

        def rows_of(places: Longs) -> Longs:
            codes: Longs = unravelled(places, sizes) if self.codes is None else self.codes[places]
            return codes + starts

        return Nearest(self._compared(shares), 2 * spread_of(shares) / rows, rows_of)

    def _compared(self, shares: EvenShares) -> Iterable[tuple[int, int, Floats, Bools]]:
        """Every pair of classes; of more than two, only where one of them is best if the label is kept."""
        totals = all_totals(shares.scores, self.codes)
        best = None
        if self.preserve == "label" and shares.n_classes > 2:
            best = shares.n_classes - 1 - np.argmax(totals[:, ::-1], axis=1)
        for c, d in combinations(range(shares.n_classes), 2):
            gaps = totals[:, c] - totals[:, d]
            distance = np.abs(gaps) * shares.unit
            if best is not None:
                distance[(best != c) & (best != d)] = np.inf
            yield c, d, distance, gaps > 0

    def proven(self, shares: EvenShares) -> Counted:
        rows = shares.proven_rows()
        while True:
            counted = shares.plain(rows)
            if counted is not None and self.same(viewset(self.views, counted.of_class, counted.rows)).equal:
                return counted
            rows = round_up(rows + rows // 8)

    def proven_in(self, shares: EvenShares, rows: int) -> Counted | None:
        return None  # nothing is known of counts here before they are compared

    def compare(self, views: Viewset) -> Same:
        return self.same(views)

    def safe(self, views: Viewset) -> bool:
        return safety.keeps_to(views, self.limit)
