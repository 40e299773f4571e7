"""The four steps joined: from private views to a release with its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nbcfast import safety
from nbcfast._core.errors import Infeasible, expect
from nbcfast._rounding import search
from nbcfast._rounding.apportion import Counted, round_up, viewset
from nbcfast._rounding.search import Close, Truth, best_at
from nbcfast.equivalence import Comparer
from nbcfast.equivalence.comparing import differing_rows
from nbcfast.published.release import Certificate, Release
from nbcfast.table import Table
from nbcfast.table.values import as_limit, exact, number_text
from nbcfast.transform.scaling import Ladder, Scaled, between, margin_of, scaled_by
from nbcfast.transform.shares import Shares, proven, proven_rows, tilt_at
from nbcfast.transform.zeros import Filled, Preserve, fill_zeros
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._rounding.search import Candidate, Nearest, Parts, Truth
    from nbcfast.equivalence import Comparer
    from nbcfast.published.release import Release

RowsArgument = Literal["smallest", "proven"] | int

SPARE = 16  # bits by which roots are better than they must be: rounding to rows has the margin to itself
SEARCHED = 10_000_000  # tuples up to which moves of rows are tried
COMPARED = 10**12  # tuples up to which candidates are compared by meeting in the middle
DOWN = 24  # numbers of rows tried below the first that does
PATIENCE = 4  # of them in a row that may fail
MOST_ROWS = 10**300  # that may be asked for
MOST_LIMIT = Fraction(1 << 256)  # of Lambda: beyond, shares of rows would leave the range of doubles
TIGHT = 2  # k goes up where Lambda asks for more than this times the rows of the order; the next k four times
KS = 48  # values of k tried for a number of rows that was asked for


@dataclass(frozen=True)
class Rounded:
    """Integers that leave, and what is known of them."""

    views: Viewset
    equivalence: str
    differing: int | None = 0


def to_rows(
    scaled: Scaled,
    rows: RowsArgument = "smallest",
    *,
    allow_differences: bool = False,
    progress: Progress | None = None,
) -> Viewset:
    """Step 4: integer counts in R = sum_c P'_c rows with the order of the private views.

    The numbers are taken to 16 bits more than `scaled` holds, so that their rounding needs no part of the
    margin.

    Parameters
    ----------
    scaled : Scaled
        Views after Step 2.
    rows : {"smallest", "proven"} or int
        "smallest": the fewest rows found by largest remainder and moves of a few rows (domains up to 10^7
        tuples) or by doubling (up to 10^12), each candidate compared exactly; else as "proven": so many
        rows that the order follows from one quotient for each published integer, in linear time. A number
        is taken as it is.
    allow_differences : bool
        With a number of rows: take the fewest differing tuples that can be found.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Viewset
        Positive and realistic, with Lambda up to the limit that `scaled` was made for.

    Raises
    ------
    Infeasible
        If Lambda is above the limit with this k, or a given number of rows cannot keep the order.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> from nbcfast.transform import fill_zeros, scale
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> to_rows(scale(fill_zeros(views), 4, k=2), 200).class_counts.tolist()
    [116, 84]
    """
    expect(scaled, Scaled, "scaled")
    expect(allow_differences, bool, "allow_differences")
    rows = _rows(rows)
    if not scaled.at_most(MOST_LIMIT**2):
        raise unsafe(scaled.amplification)
    work = _Work(scaled.filled, scaled.amplification, scaled.gauge, scaled.margin, progress, [scaled.k])
    try:
        return work.rounded(rows, allow_differences).views
    except _Short as short:
        best = {**short.best, "views": None if short.rounded is None else short.rounded.views}
        raise Infeasible(short.why, best) from None


def safety_transform(
    views: Viewset,
    amplification: Any,
    *,
    preserve: Preserve = "order",
    rows: RowsArgument = "smallest",
    gauge: bool = True,
    attacker: Literal["row", "worlds"] = "row",
    allow_differences: bool = False,
    table: Any = None,
    class_name: str | None = None,
    guard: int = 1,
    progress: Progress | None = None,
) -> Release:
    """Publish a classifier that decides as the private one does, and whose odds nobody can use against a row.

    The SafetyTransform of Mozafari and Zaniolo (VLDB 2009), corrected: zeros are replaced so that the order
    of classes stays, counts are raised to the power 1/k with the least k that makes the largest ratio of
    scores at most `amplification`, and rounded to integers that add up. What leaves is then checked again.
    Deterministic: equal views give equal releases.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class; zero counts are welcome.
    amplification : int, Fraction, str or float
        The limit of Lambda, above 1: how much the odds of two classes may move. Above 2^256 as 2^256.
    preserve : {"order", "label"}
        Keep the whole order of classes for every tuple, or the best class (see `fill_zeros`).
    rows : {"smallest", "proven"} or int
        How many rows are published; see `to_rows`.
    gauge : bool
        Publish nothing but what the ratios of scores need: marginals of attributes are then artificial.
        Views that are positive and safe already leave as they are with gauge=False.
    attacker : {"row", "worlds"}
        "worlds" asks for Lambda <= amplification / 2, which must be above 1.
    allow_differences : bool
        With a number of rows: publish even if tuples differ; the certificate says how many.
    table : Table, or anything that Table takes, optional
        Rows of it that differ are counted.
    class_name : str, optional
        The name of the class column, for synthetic tables, and for the log-loss on `table`: one within 1 % of
        guessing is warned of. Without a table it is that expected for rows as the published counts have them.
    guard : int
        See `fill_zeros`.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Release

    Raises
    ------
    ValueError
        If an argument is not as described.
    Infeasible
        With a number of rows, if that many cannot be safe and equivalent; `best` has what can be had.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([40, 76], [[[2, 1], [38, 75]], [[2, 1], [38, 75]]])
    >>> release = safety_transform(views, 4, rows=200)
    >>> release.views.n_rows, release.certificate.equivalence
    (200, 'enumeration')
    """
    expect(views, Viewset, "views")
    table, rows = checked_options(rows, table, gauge, allow_differences)
    demanded = as_limit(exact(amplification, "amplification"), "amplification")
    limit = safety.allowed_amplification(demanded, attacker)
    filled = fill_zeros(views, preserve=preserve, guard=guard)
    identity = (
        not gauge
        and not filled.n_zeros
        and rows in ("smallest", "proven", views.n_rows)
        and safety.at_most(views, limit)
    )
    wrap = _Wrap(views, demanded, attacker, preserve, gauge, table, class_name)
    if identity:
        return wrap.release(Rounded(views, "identity"), identity=True)
    work = _Work(filled, limit, gauge, None, progress, None)
    try:
        return wrap.release(work.rounded(rows, allow_differences))
    except _Short as short:
        best: dict[str, object] = dict(short.best)
        found = short.rounded or work.rounded("smallest", False)
        best["release"] = wrap.release(found)
        best["rows"] = found.views.n_rows
        raise Infeasible(short.why, best) from None


def checked_options(
    rows: Any, table: Any, gauge: Any, allow_differences: Any
) -> tuple[Table | None, RowsArgument]:
    """The table and the rows asked for; TypeError or ValueError where an option is not as described."""
    expect(allow_differences, bool, "allow_differences")
    expect(gauge, bool, "gauge")
    found: RowsArgument = _rows(rows)
    if allow_differences and isinstance(found, str):
        raise ValueError(f"allow_differences goes with a number of rows, got rows={rows!r}")
    return (table if table is None or isinstance(table, Table) else Table(table)), found


class _Short(Infeasible):
    """A number of rows that does not do, with the nearest candidate."""

    rounded: Rounded | None = None


def _rows(rows: Any) -> Any:
    if isinstance(rows, (int, np.integer)) and not isinstance(rows, (bool, np.timedelta64)):
        if not 1 <= rows <= MOST_ROWS:
            raise ValueError(f"rows must be 1 to 10^300, got {number_text(int(rows))}")
        return int(rows)
    if isinstance(rows, str):
        if rows in ("smallest", "proven"):
            return rows
        raise ValueError(f"rows must be 'smallest', 'proven' or an int, got {rows!r}")
    raise TypeError(f"rows must be 'smallest', 'proven' or an int, got {type(rows).__name__}")


def unsafe(limit: Fraction) -> Infeasible:
    return Infeasible(
        f"with this k Lambda is above {number_text(exact(limit, 'limit'))} after rounding",
        {"amplification": limit},
    )


class _Work:
    """What all ways to round share; k goes up a ladder, or is the one given."""

    def __init__(
        self,
        filled: Filled,
        limit: Fraction,
        gauge: bool,
        margin: Fraction | None,
        progress: Progress | None,
        ks: list[Fraction] | None,
    ) -> None:
        self.filled, self.gauge, self.progress = filled, gauge, progress
        self.preserve = filled.preserve
        self.limit = min(limit, MOST_LIMIT)
        self.views = filled.views
        self.tuples = math.prod(len(array) for array in self.views.counts.values())
        self.margin = margin_of(filled, gauge, progress) if ks is None else margin
        self.fixed = ks
        self.last = False  # whether no other k asks for fewer rows than the one that `ks` gave last
        self.promise = f"Lambda up to {number_text(exact(limit, 'limit'))}"
        self._comparer: Comparer | None = None
        self._truth: Truth | None = None

    def ks(self) -> Iterator[Fraction]:
        if self.fixed is not None:
            yield from self.fixed
            return
        ladder = Ladder(self.filled, self.limit)
        while True:
            yield ladder.k
            ladder.up()

    def shares(self, k: Fraction) -> Any:
        return Shares(scaled_by(self.filled, self.limit, k, self.gauge, self.margin, None, SPARE))

    def most(self, shares: Any) -> int:
        """So many rows prove the order."""
        return proven_rows(shares)

    def compare(self, views: Viewset) -> Any:
        if self._comparer is None:
            self._comparer = Comparer(self.views, self.filled.preserve)
        return self._comparer.compare(views)

    def safe(self, views: Viewset) -> bool:
        return safety.at_most(views, self.limit)

    def viewset(self, counted: Counted) -> Viewset:
        return viewset(self.views, counted.of_class, counted.rows)

    def rounded(self, rows: Any, allow_differences: bool) -> Rounded:
        if rows == "smallest":
            if self.tuples <= SEARCHED:
                return self._searched()
            if self.tuples <= COMPARED:
                return self._doubled()
            return self._proven()
        if rows == "proven":
            return self._proven()
        return self._at(rows, allow_differences)

    def _proven(self) -> Rounded:
        below, found = None, None
        for k in self.ks():
            found = self._proven_at(k)
            if found is not None:
                break
            below = k
        if found is None:
            raise unsafe(self.limit)
        while below is not None:  # the steps may have gone past the least k
            middle = self._halfway(below, k)
            if middle is None:
                break
            less = self._proven_at(middle)
            if less is None:
                below = middle
            else:
                found, k = less, middle
        return Rounded(found, "interval")

    def _halfway(self, low: Fraction, high: Fraction) -> Fraction | None:
        """A k between two that `ks` gave, or None."""
        return between(low, high)

    def _proven_at(self, k: Fraction) -> Viewset | None:
        """Views of proven order, or None where their rounding lifts Lambda above the limit."""
        found = proven(self.shares(k))
        assert found is not None
        views = self.viewset(found)
        return views if self.safe(views) else None

    def _doubled(self) -> Rounded:
        """Twice the rows until nothing differs; at the latest where the order is proven without looking."""
        for tight, k in zip(_rising(TIGHT), self.ks(), strict=False):
            shares = self.shares(k)
            most = self.most(shares)
            rows = max(shares.least_rows * shares.n_classes, round_up(most >> 14))
            order_at = None
            while rows < most:
                counted = self._plainly(shares, rows)
                if counted is not None:
                    views = self.viewset(counted)
                    comparison = self.compare(views) if order_at is None or self.safe(views) else None
                    if comparison is not None and comparison.equal:
                        if self.safe(views):
                            return Rounded(views, _method(comparison))
                        order_at = order_at or rows
                if order_at is not None and rows > tight * order_at and not self.last:
                    break
                rows = round_up(2 * rows)
            else:
                plain = self._proven_at(k)
                if plain is not None:
                    return Rounded(plain, "interval")
        # After the last k, which was given: Lambda may still do with the rows of the proof.
        return self._proven()

    def _plainly(self, shares: Any, rows: int) -> Counted | None:
        tilt = tilt_at(shares, rows) if shares.n_classes > 1 else Fraction(0)
        scaled = shares.scaled
        room = None if scaled.margin is None else scaled.margin / scaled.k
        if room is not None:
            tilt = min(tilt, room / (4 * shares.n_classes))
        counted: Counted | None = shares.rounded(shares.classes_at(rows, tilt))
        return counted

    # Search -------------------------------------------------------------------------------------------------

    def close(self, shares: Any, rows: int) -> Any:
        if self._truth is None:
            self._truth = Truth(shares)
        return Close(self._truth, shares, 2 * shares.spread() / rows)

    def _safe(self, candidate: Candidate) -> bool:
        return self.safe(viewset(self.views, candidate.of_class.tolist(), candidate.counts))

    def _equal(self, candidate: Candidate | None) -> tuple[Viewset, Any] | None:
        if candidate is None or candidate.wrong:
            return None
        views = viewset(self.views, candidate.of_class.tolist(), candidate.counts)
        comparison = self.compare(views)
        return (views, comparison) if comparison.equal else None

    def _searched(self) -> Rounded:
        for tight, k in zip(_rising(TIGHT), self.ks(), strict=False):
            shares = self.shares(k)
            least = shares.least_rows * shares.n_classes
            close = self.close(shares, least)
            rows = max(least, math.ceil(shares.spread() / close.band) if close.band < math.inf else 1)
            most = min(2 * self.most(shares), search.MOST_ROWS)
            order_at = None
            while rows <= most:
                equal = self._equal(best_at(close, shares, rows, self._safe))
                if equal is not None:
                    if self.safe(equal[0]):
                        return self._fewer(close, shares, Rounded(equal[0], _method(equal[1])), least)
                    order_at = order_at or rows
                if order_at is not None and rows > tight * order_at and not self.last:
                    break
                rows *= 2
            if rows > most or self.fixed is not None or self.last:
                plain = self._proven_at(k)
                if plain is not None:
                    return Rounded(plain, "interval")
        raise unsafe(self.limit)

    def _fewer(self, close: Nearest, shares: Parts, found: Rounded, least: int) -> Rounded:
        """Down from the first number of rows that does; a few that do not are passed over."""
        rows, failures = found.views.n_rows, 0
        for _ in range(DOWN):
            rows -= max(1, rows // 12)
            if rows < least or failures == PATIENCE:
                break
            equal = self._equal(best_at(close, shares, rows, self._safe))
            if equal is not None and self.safe(equal[0]):
                found, failures = Rounded(equal[0], _method(equal[1])), 0
            else:
                failures += 1
        return found

    # A given number of rows ---------------------------------------------------------------------------------

    def _at(self, rows: int, allow_differences: bool) -> Rounded:
        least = max((len(array) for array in self.views.counts.values()), default=1) * len(self.views.classes)
        if rows < least:
            raise _Short(
                f"{rows} rows are too few: with a count of at least 1 for every value, "
                f"{len(self.views.classes)} classes need {least}",
                {"differing_tuples": None},
            )
        best: Rounded | None = None
        for number, k in enumerate(self._more_ks()):
            if number == KS or (best is not None and number > 3):
                break
            found = self._candidate(self.shares(k), rows)
            if found is None or not self.safe(found.views):
                continue
            if found.differing == 0:
                return found
            if best is None or _badness(found) < _badness(best):
                best = found
        if best is None:
            raise _Short(
                f"no {rows} rows were found with {self.promise}",
                {"differing_tuples": None},
            )
        if allow_differences:
            return best
        what = "an unknown number" if best.differing is None else str(best.differing)
        short = _Short(
            f"no {rows} rows were found that keep the {self.preserve}: {what} of {self.tuples} tuples differ",
            {"differing_tuples": best.differing},
        )
        short.rounded = best
        raise short

    def _more_ks(self) -> Iterator[Fraction]:
        """A few steps of the ladder, then ever longer ones: few rows may leave little room for Lambda."""
        last = Fraction(1)
        for number, k in enumerate(self.ks()):
            last = k
            yield k
            if number == 5:
                break
        if self.fixed is None:
            while True:
                last = Fraction(math.ceil(last * Fraction(9, 8) * 64), 64)
                last = Fraction(math.ceil(last)) if last > 64 else last
                yield last

    def _candidate(self, shares: Any, rows: int) -> Rounded | None:
        if self.tuples <= SEARCHED and rows <= search.MOST_ROWS:
            candidate = best_at(self.close(shares, rows), shares, rows, self._safe, anything=True)
            if candidate is None:
                return None
            views = viewset(self.views, candidate.of_class.tolist(), candidate.counts)
        else:
            found = proven(shares, rows)
            if found is not None:
                return Rounded(self.viewset(found), "interval")
            found = self._plainly(shares, rows)
            if found is None:
                return None
            views = self.viewset(found)
        comparison = self.compare(views)
        if comparison.equal:
            return Rounded(views, _method(comparison))
        return Rounded(views, _method(comparison), comparison.differing)


def _rising(number: int) -> Iterator[int]:
    while True:
        yield number
        number *= 4


def _badness(rounded: Rounded) -> float:
    return math.inf if rounded.differing is None else rounded.differing


def _method(comparison: Any) -> str:
    known = ("enumeration", "meet in the middle", "interval")
    return str(comparison.method) if comparison.method in known else "none"


class _Wrap:
    """From published views to a release."""

    def __init__(
        self,
        views: Viewset,
        demanded: Fraction,
        attacker: Literal["row", "worlds"],
        preserve: Preserve,
        gauge: bool,
        table: Any,
        class_name: str | None,
        claims: Mapping[str, Any] = MappingProxyType({"method": "safetytransform"}),
    ) -> None:
        self.views, self.demanded, self.attacker, self.preserve = views, demanded, attacker, preserve
        self.gauge, self.table, self.class_name, self.claims = gauge, table, class_name, claims

    def release(self, rounded: Rounded, identity: bool = False) -> Release:
        differing_rows = None
        if self.table is not None:
            differing_rows = 0 if rounded.differing == 0 else self._differing_rows(rounded.views)
        certificate = Certificate(
            **self.claims,
            amplification=self.demanded,
            attacker=self.attacker,
            preserve=self.preserve,
            equivalence=rounded.equivalence,
            tuples=math.prod(len(array) for array in self.views.counts.values()),
            differing_tuples=rounded.differing,
            differing_rows=differing_rows,
            gauge=self.gauge,
            identity=identity,
        )
        return Release(rounded.views, certificate, self.class_name)

    def _differing_rows(self, published: Viewset) -> int:
        table = self.table
        rows = differing_rows(self.views, published, table, self.preserve, None)
        return int(len(rows) if table.weights is None else table.weights[rows].sum())
