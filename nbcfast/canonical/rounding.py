"""From a scorecard to integer counts in few rows. Nothing here has seen more of the data than its labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nbcfast import safety
from nbcfast._halves.lines import unravelled
from nbcfast._rounding.apportion import Counted, apportioned, round_up, viewset
from nbcfast._rounding.search import MOST_CLOSE, MOST_ROWS, Pair, best_at
from nbcfast.canonical.row_shares import Scores, Shares
from nbcfast.table.values import exact, number_text
from nbcfast.transform.publish import Rounded, _Work, unsafe
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

I64 = npt.NDArray[np.int64]

SEARCHED = 10_000_000  # tuples up to which moves of rows are tried
LAST_POWER = 1 << 20  # Lambda^(1/k) with the largest k that is tried
SMALL = 5_000  # tuples times classes, up to which
LOWER = Fraction(3, 2), Fraction(3)  # are powers that are tried below the rows that were found
DOWN = 5  # numbers of rows tried below the first that does, where the domain is too large for moves


class Same(NamedTuple):
    """Whether candidates have the labels that are wanted."""

    equal: bool
    differing: int | None
    method: str


class Near:
    """The comparisons that rounding may turn, the nearest first; as `nbcfast._rounding.search.Close`.

    Parameters
    ----------
    shares : Shares
    band : float
        Logarithms of ratios up to this are kept, or as many of the nearest as fit.
    codes : ndarray, optional
        The tuples that matter; by default all.
    by_label : bool
        Whether, with more than two classes, only comparisons with the best class matter.
    """

    def __init__(self, shares: Shares, band: float, codes: I64 | None, by_label: bool) -> None:
        self.band = band
        scores = shares.scores
        totals = all_totals(scores, codes)
        best = None
        if by_label and shares.n_classes > 2:
            best = shares.n_classes - 1 - np.argmax(totals[:, ::-1], axis=1)
        found = []
        for c, d in combinations(range(shares.n_classes), 2):
            gaps = totals[:, c] - totals[:, d]
            distance = np.abs(gaps) * shares.unit
            if best is not None:
                distance[(best != c) & (best != d)] = np.inf
            places = np.flatnonzero(distance <= self.band)
            if len(places) > MOST_CLOSE:
                places = np.sort(places[np.argpartition(distance[places], MOST_CLOSE)[:MOST_CLOSE]])
                self.band = min(self.band, float(distance[places].max()))
            found.append((c, d, distance[places], places, gaps[places] > 0))
        self.pairs: list[Pair] = []
        starts = np.array(shares.starts[:-1], np.int64)
        sizes = tuple(np.diff(shares.starts).tolist())
        for c, d, distance, places, above in found:
            order = np.argsort(distance, kind="stable")
            order = order[: int(np.searchsorted(distance[order], self.band, side="right"))]
            chosen = places[order]
            own = unravelled(chosen, sizes) if codes is None else codes[chosen]
            self.pairs.append(Pair(c, d, distance[order], own + starts, above[order]))

    def within(self, band: float) -> list[Pair]:
        """The comparisons below a narrower band."""
        result = []
        for pair in self.pairs:
            stop = int(np.searchsorted(pair.distance, band, side="right"))
            result.append(Pair(pair.c, pair.d, pair.distance[:stop], pair.rows[:stop], pair.above[:stop]))
        return result


def all_totals(scores: Scores, codes: I64 | None = None) -> I64:
    """The sums of points of every class, for all tuples in C order or for those of `codes`."""
    dtype: Any = np.int64 if scores.range < 1 << 60 else object
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


class Work(_Work):
    """The ways to few rows that SafetyTransform has, for a scorecard.

    Parameters
    ----------
    scores : Scores
    names : Viewset
        Whose labels and domains the counts get. Its counts do not matter and are 0.
    limit : Fraction
        Of Lambda.
    same : callable
        Whether a viewset has the wanted labels, exactly, and how many tuples differ where that is known.
    codes : ndarray, optional
        The tuples that matter.
    preserve : {"label", "order"}
    """

    def __init__(
        self,
        scores: Scores,
        names: Viewset,
        limit: Fraction,
        same: Callable[[Viewset], Same],
        codes: I64 | None,
        preserve: Any,
        progress: Progress | None,
    ) -> None:
        self.scores, self.views, self.limit, self.same = scores, names, limit, same
        self.codes, self.preserve, self.progress = codes, preserve, progress
        self.tuples = (
            math.prod(len(array) for array in names.counts.values()) if codes is None else len(codes)
        )
        self.fixed, self.last = None, False
        self.promise = f"Lambda up to {number_text(exact(limit, 'limit'))}"

    @property
    def searched(self) -> bool:
        """Whether moves of rows are tried: all totals are held."""
        return self.tuples * len(self.scores.base) <= 2 * SEARCHED

    def rounded(self, rows: Any, allow_differences: bool) -> Rounded:
        if rows == "smallest":
            return self._searched() if self.searched else self._doubled()
        return self._proven() if rows == "proven" else self._at(rows, allow_differences)

    def _searched(self) -> Rounded:
        """As that of SafetyTransform; and where that is cheap, down again with lower Lambdas.

        On a small domain few rows round Lambda up by much, so the fewest often aim far below the limit.
        """
        found = super()._searched()
        if self.tuples * len(self.scores.base) > SMALL or found.views.n_rows > MOST_ROWS:
            return found
        for k in LOWER:
            shares = self.shares(k)
            least = least_rows(shares)
            if found.views.n_rows > least:
                found = self._fewer(self.close(shares, least), shares, found, least)
        return found

    def ks(self) -> Iterator[Fraction]:
        for power in range(10, -21, -2):
            yield 1 + Fraction(2) ** -power

    def shares(self, k: Fraction) -> Shares:
        return Shares(self.scores, self.limit, k)

    def most(self, shares: Any) -> int:
        """Largest remainder moves every logarithm of a ratio by less than 2 A / R."""
        room = Fraction(shares.unit) * shares.scores.gap if shares.unit else Fraction(1)
        least = Fraction(shares.spread()) * Fraction(9, 4) / room
        return round_up(max(math.ceil(least), 16 * math.ceil(shares.spread()), least_rows(shares)))

    def compare(self, views: Viewset) -> Same:
        return self.same(views)

    def safe(self, views: Viewset) -> bool:
        return safety.at_most(views, self.limit)

    def close(self, shares: Any, rows: int) -> Near:
        return Near(shares, 2 * shares.spread() / rows, self.codes, self.preserve == "label")

    def _proven(self) -> Rounded:
        for k in self.ks():
            found = self._proven_at(k)
            if found is not None:
                return Rounded(found, self.method)
        raise unsafe(self.limit)

    def _proven_at(self, k: Fraction) -> Viewset | None:
        shares = self.shares(k)
        rows = self.most(shares)
        while True:
            views = self._plain_views(shares, rows)
            if views is not None and self.same(views).equal:
                return views if self.safe(views) else None
            rows = round_up(rows + rows // 8)

    @property
    def method(self) -> str:
        return "enumeration" if self.tuples <= SEARCHED else "meet in the middle"

    def _plain_views(self, shares: Shares, rows: int) -> Viewset | None:
        counted = self._plainly(shares, rows)
        return None if counted is None else self.viewset(counted)

    def _plainly(self, shares: Any, rows: int) -> Counted | None:
        """Largest remainder, of exact shares."""
        of_class = apportioned(shares.of_class, rows)
        if min(of_class) < shares.least_rows:
            return None
        columns: list[tuple[int, ...]] = []
        for attribute in shares.exact:
            by_class = [
                apportioned([row[c] for row in attribute], count, 1) for c, count in enumerate(of_class)
            ]
            columns.extend(zip(*by_class, strict=True))
        return Counted(of_class, columns, np.zeros((0, 0)))

    def _doubled(self) -> Rounded:
        """As that of SafetyTransform, and then down in steps of an eighth."""
        for k in self.ks():
            shares = self.shares(k)
            most = self.most(shares)
            rows = max(least_rows(shares), round_up(most >> 10))
            while rows < most:
                views = self._fits(shares, rows)
                if views is not None:
                    for _ in range(DOWN):
                        rows -= rows // 8
                        fewer = self._fits(shares, rows)
                        if fewer is None:
                            break
                        views = fewer
                    return Rounded(views, self.method)
                rows = round_up(2 * rows)
            plain = self._proven_at(k)
            if plain is not None:
                return Rounded(plain, self.method)
        raise unsafe(self.limit)

    def _fits(self, shares: Shares, rows: int) -> Viewset | None:
        views = self._plain_views(shares, rows)
        return views if views is not None and self.safe(views) and self.same(views).equal else None

    def _candidate(self, shares: Any, rows: int) -> Rounded | None:
        if self.searched and rows <= MOST_ROWS:
            candidate = best_at(self.close(shares, rows), shares, rows, self._safe, anything=True)
            if candidate is None:
                return None
            views = viewset(self.views, candidate.of_class.tolist(), candidate.counts)
        else:
            found = self._plain_views(shares, rows)
            if found is None:
                return None
            views = found
        same = self.same(views)
        return Rounded(views, self.method if same.differing is not None else "none", same.differing)


def least_rows(shares: Any) -> int:
    """With fewer some count would be 0."""
    return int(shares.least_rows * shares.n_classes)
