"""The number of rows that is published: the fewest that are safe and decide alike, or one that is asked for.

What is rounded and what it must keep to is a plan's to say; each maker that publishes counts has one. Why
floats may choose what leaves, and what the proven number of rows rests on, is in docs/mathematics/safety.md,
section f.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Generic, Literal, Protocol, TypeVar, cast

import numpy as np

from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import exact, number_text
from nbcfast._rounding.apportion import Counted, round_up, viewset
from nbcfast._rounding.nearest import (
    MOST_ROWS,
    WORTH,
    Candidate,
    Nearest,
    RowShares,
    best_at,
    shaken,
    shifted,
    spread_of,
)
from nbcfast.views import Viewset

RowsArgument = Literal["smallest", "proven"] | int

SEARCHED = 10_000_000  # tuples up to which moves of rows are tried
COMPARED = 10**12  # tuples up to which candidates are compared by meeting in the middle
DOWN = 24  # numbers of rows tried below the first that does
PATIENCE = 4  # of them in a row that may fail
MOST_ASKED = 10**300  # rows that may be asked for
TIGHT = 2  # k goes up where Lambda asks for more than this times the rows of the order; the next k four times
KS = 48  # values of k tried for a number of rows that was asked for
FIRST_KS = 6  # of them that are the plan's own, before they grow by eighths
BESIDE_KS = 16  # of them that are tried with other beginnings than largest remainder:
SHIFTED = 12  # so many for a k with a few rows in another class,
SHAKEN = 12  # and so many with counts that are shaken before they are rounded
WATCHED = 2_000_000  # comparisons that are watched in all of them at the most
PROOFS = ("enumeration", "meet in the middle", "interval")  # that a certificate knows by name


@dataclass(frozen=True)
class Rounded:
    """Integers that leave, and what is known of them."""

    views: Viewset
    equivalence: str
    differing: int | None = 0


class Short(Infeasible):
    """A number of rows that does not do, with the nearest candidate."""

    rounded: Rounded | None = None


def unsafe(limit: Fraction) -> Infeasible:
    return Infeasible(
        f"with this k Lambda is above {number_text(exact(limit, 'limit'))} after rounding",
        {"amplification": limit},
    )


def checked_rows(rows: object) -> RowsArgument:
    """The argument `rows` of makers, or an error that says what it may be."""
    if isinstance(rows, (int, np.integer)) and not isinstance(rows, (bool, np.timedelta64)):
        if not 1 <= rows <= MOST_ASKED:
            raise ValueError(f"rows must be 1 to 10^300, got {number_text(int(rows))}")
        return int(rows)
    if isinstance(rows, str):
        if rows in ("smallest", "proven"):
            return cast(RowsArgument, rows)
        raise ValueError(f"rows must be 'smallest', 'proven' or an int, got {rows!r}")
    raise TypeError(f"rows must be 'smallest', 'proven' or an int, got {type(rows).__name__}")


class Verdict(Protocol):
    """Whether a candidate decides as it must, exactly."""

    @property
    def equal(self) -> bool | None: ...
    @property
    def differing(self) -> int | None: ...
    @property
    def method(self) -> str: ...


class ProvableShares(RowShares, Protocol):
    """Shares of rows that can be rounded without a search as well."""

    def proven_rows(self) -> int:
        """So many rows round to counts that decide alike."""

    def plain(self, rows: int) -> Counted | None:
        """Largest remainder; None where a class has too few rows for a count of 1 everywhere."""


SharesT = TypeVar("SharesT", bound=ProvableShares)


class RowPlan(Protocol[SharesT]):
    """What a maker wants of rows: the shares to try, one k after the other, and who may leave.

    Attributes
    ----------
    views : Viewset
        Whose labels and domains the counts get.
    preserve : str
        What of the classes is kept, in a word.
    tuples : int
        So many are compared.
    limit : Fraction
        That counts must keep to.
    promise : str
        What `safe` promises, in words.
    proof : str
        How counts that `proven` gives are known to decide alike.
    fixed : bool
        Whether there is but one k, which was given.
    last : bool
        Whether no other k asks for fewer rows than the one that `ks` gave last.
    searched : bool
        Whether moves of rows are tried: the domain is small enough to be held.
    """

    views: Viewset
    tuples: int
    limit: Fraction
    promise: str
    fixed: bool
    last: bool

    @property
    def preserve(self) -> str: ...
    @property
    def proof(self) -> str: ...
    @property
    def searched(self) -> bool: ...

    def ks(self) -> Iterator[Fraction]:
        """The k to try; a larger one makes ratios flatter and asks for more rows."""

    def more_ks(self) -> Iterator[Fraction]:
        """Those to try with a number of rows that was asked for."""

    def between(self, low: Fraction, high: Fraction) -> Fraction | None:
        """A k half way between two that `ks` gave, or None."""

    def shares(self, k: Fraction) -> SharesT: ...

    def nearest(self, shares: SharesT, rows: int) -> Nearest:
        """The comparisons that rounding to so many rows may turn."""

    def proven(self, shares: SharesT) -> Counted:
        """Counts that decide alike, in as many rows as that takes."""

    def proven_in(self, shares: SharesT, rows: int) -> Counted | None:
        """Counts that decide alike without a comparison; None where so many rows do not prove it."""

    def compare(self, views: Viewset) -> Verdict: ...

    def safe(self, views: Viewset) -> bool:
        """Whether counts keep to the limit, exactly."""


class RowSearch(Generic[SharesT]):
    """The ways from a plan to published counts.

    Parameters
    ----------
    plan : RowPlan
    """

    def __init__(self, plan: RowPlan[SharesT]) -> None:
        self.plan = plan

    def rounded(self, rows: RowsArgument, allow_differences: bool = False) -> Rounded:
        """Counts in as many rows as were asked for; Short or Infeasible where that cannot be."""
        if rows == "proven":
            return self.proven()
        if rows != "smallest":
            return self.exactly(int(rows), allow_differences)
        if self.plan.searched:
            return self.fewest()
        return self.doubled() if self.plan.tuples <= COMPARED else self.proven()

    def viewset(self, counted: Counted) -> Viewset:
        return viewset(self.plan.views, counted.of_class, counted.rows)

    # Without a search ---------------------------------------------------------------------------------------

    def proven(self) -> Rounded:
        """As many rows as prove that all is decided alike, with the least k that is safe then."""
        below, views = None, None
        for k in self.plan.ks():
            views = self.proven_at(k)
            if views is not None:
                break
            below = k
        if views is None:
            raise unsafe(self.plan.limit)
        while below is not None:  # the steps may have gone past the least k
            middle = self.plan.between(below, k)
            if middle is None:
                break
            less = self.proven_at(middle)
            if less is None:
                below = middle
            else:
                views, k = less, middle
        return Rounded(views, self.plan.proof)

    def proven_at(self, k: Fraction) -> Viewset | None:
        """Views that decide alike, or None where their rounding lifts them above the limit."""
        views = self.viewset(self.plan.proven(self.plan.shares(k)))
        return views if self.plan.safe(views) else None

    def doubled(self) -> Rounded:
        """Twice the rows until nothing differs; at the latest where that is proven without looking."""
        plan = self.plan
        for tight, k in zip(_rising(TIGHT), plan.ks(), strict=False):
            shares = plan.shares(k)
            most = shares.proven_rows()
            rows = max(least_rows(shares), round_up(most >> 14))
            order_at = None  # the fewest rows that decide alike, whether they are safe or not
            while rows < most:
                counted = shares.plain(rows)
                if counted is not None:
                    views = self.viewset(counted)
                    # Comparing takes far longer than Lambda. It is asked first only until the order was kept
                    # once, as that is what says when this k has had rows enough.
                    comparison = plan.compare(views) if order_at is None or plan.safe(views) else None
                    if comparison is not None and comparison.equal:
                        if plan.safe(views):
                            return Rounded(views, _method(comparison))
                        order_at = order_at or rows
                # Lambda alone is in the way: a flatter k costs less than ever more rows.
                if order_at is not None and rows > tight * order_at and not plan.last:
                    break
                rows = round_up(2 * rows)
            else:
                proven_views = self.proven_at(k)
                if proven_views is not None:
                    return Rounded(proven_views, plan.proof)
        # After the last k, which was given: Lambda may still do with the rows of the proof.
        return self.proven()

    # Moves of rows ------------------------------------------------------------------------------------------

    def fewest(self) -> Rounded:
        """The fewest rows that largest remainder and moves of a few rows find."""
        plan = self.plan
        for tight, k in zip(_rising(TIGHT), plan.ks(), strict=False):
            shares = plan.shares(k)
            least = least_rows(shares)
            nearest = plan.nearest(shares, least)
            # The band holds as many comparisons as can be watched: with fewer rows others would turn, unseen.
            rows = max(least, math.ceil(spread_of(shares) / nearest.band) if nearest.band < math.inf else 1)
            most = min(2 * shares.proven_rows(), MOST_ROWS)
            order_at = None
            while rows <= most:
                equal = self._equal(best_at(nearest, shares, rows, self._safe))
                if equal is not None:
                    if plan.safe(equal.views):
                        return self.fewer(nearest, shares, equal, least)
                    order_at = order_at or rows
                if order_at is not None and rows > tight * order_at and not plan.last:
                    break
                rows *= 2
            if rows > most or plan.fixed or plan.last:
                views = self.proven_at(k)
                if views is not None:
                    return Rounded(views, plan.proof)
        raise unsafe(plan.limit)

    def fewer(self, nearest: Nearest, shares: SharesT, fewest: Rounded, least: int) -> Rounded:
        """Down from the first number of rows that does.

        What does is not monotone in the rows: so no bisection, and a few that do not are passed over.
        """
        rows, failures = fewest.views.n_rows, 0
        for _ in range(DOWN):
            rows -= max(1, rows // 12)
            if rows < least or failures == PATIENCE:
                break
            equal = self._equal(best_at(nearest, shares, rows, self._safe))
            if equal is not None and self.plan.safe(equal.views):
                fewest, failures = equal, 0
            else:
                failures += 1
        return fewest

    def _viewset_of(self, candidate: Candidate) -> Viewset:
        return viewset(self.plan.views, candidate.of_class.tolist(), candidate.counts)

    def _safe(self, candidate: Candidate) -> bool:
        return self.plan.safe(self._viewset_of(candidate))

    def _equal(self, candidate: Candidate | None) -> Rounded | None:
        """What a candidate would publish, if an exact comparison finds nothing that differs."""
        if candidate is None or candidate.wrong:
            return None
        views = self._viewset_of(candidate)
        comparison = self.plan.compare(views)
        return Rounded(views, _method(comparison)) if comparison.equal else None

    # A given number of rows ---------------------------------------------------------------------------------

    def exactly(self, rows: int, allow_differences: bool) -> Rounded:
        """Counts in so many rows; Short where none are found that do, unless tuples may differ."""
        plan = self.plan
        least = max((len(array) for array in plan.views.counts.values()), default=1) * len(plan.views.classes)
        if rows < least:
            raise Short(
                f"{rows} rows are too few: with a count of at least 1 for every value, "
                f"{len(plan.views.classes)} classes need {least}",
                {"differing_tuples": None},
            )
        best: Rounded | None = None
        for number, k in enumerate(plan.more_ks()):
            if number == KS or (best is not None and number > 3):
                break
            nearly = self._nearly(plan.shares(k), rows)
            if nearly is None or not plan.safe(nearly.views):
                continue
            if nearly.differing == 0:
                return nearly
            if best is None or _badness(nearly) < _badness(best):
                best = nearly
        if best is None:
            raise Short(f"no {rows} rows were found with {plan.promise}", {"differing_tuples": None})
        if allow_differences:
            return best
        what = "an unknown number" if best.differing is None else str(best.differing)
        short = Short(
            f"no {rows} rows were found that keep the {plan.preserve}: {what} of {plan.tuples} tuples differ",
            {"differing_tuples": best.differing},
        )
        short.rounded = best
        raise short

    def beside(self, rows: int) -> Rounded | None:
        """Counts in so many rows that decide alike, from other beginnings than largest remainder.

        Of few rows the nearest to the shares often do not, and some that are little farther do.
        """
        plan, watched = self.plan, 0
        if not plan.searched or rows > MOST_ROWS:
            return None
        for k in islice(plan.more_ks(), BESIDE_KS):
            shares = plan.shares(k)
            pairs = plan.nearest(shares, rows).within(2 * spread_of(shares) / rows)
            for of_class, counts in chain(
                islice(shifted(shares, rows), SHIFTED), islice(shaken(shares, rows), SHAKEN)
            ):
                watched += sum(len(pair.distance) for pair in pairs)
                if watched > WATCHED:
                    return None
                candidate = Candidate(pairs, shares, of_class, counts)
                if candidate.wrong <= WORTH:
                    candidate.improve()
                equal = self._equal(candidate)
                if equal is not None and plan.safe(equal.views):
                    return equal
        return None

    def _nearly(self, shares: SharesT, rows: int) -> Rounded | None:
        """The best that so many rows can do, safe or not; None where they are too few for these shares."""
        plan = self.plan
        if plan.searched and rows <= MOST_ROWS:
            nearest = plan.nearest(shares, rows)
            candidate = best_at(nearest, shares, rows, self._safe, anything=True)
            if candidate is None:
                return None
            views = self._viewset_of(candidate)
        else:
            counted = plan.proven_in(shares, rows)
            if counted is not None:
                return Rounded(self.viewset(counted), plan.proof)
            counted = shares.plain(rows)
            if counted is None:
                return None
            views = self.viewset(counted)
        comparison = plan.compare(views)
        return Rounded(views, _method(comparison), 0 if comparison.equal else comparison.differing)


def least_rows(shares: RowShares) -> int:
    """With fewer some count would be 0."""
    return shares.least_rows * shares.n_classes


def longer(ks: Iterator[Fraction]) -> Iterator[Fraction]:
    """A few steps of a ladder, then ever longer ones: few rows may leave little room for Lambda."""
    last = Fraction(1)
    for last in islice(ks, FIRST_KS):
        yield last
    while True:
        last = Fraction(math.ceil(last * Fraction(9, 8) * 64), 64)
        last = Fraction(math.ceil(last)) if last > 64 else last
        yield last


def _rising(number: int) -> Iterator[int]:
    while True:
        yield number
        number *= 4


def _badness(rounded: Rounded) -> float:
    return math.inf if rounded.differing is None else rounded.differing


def _method(comparison: Verdict) -> str:
    return comparison.method if comparison.method in PROOFS else "none"
