"""`est`: X' = X^x F^y, with everything that SafetyTransform does to make counts of it that may leave.

Why the steps of the paper come to this, and what keeps the order: docs/mathematics/safety.md, section h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

import gmpy2

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Numeral, as_limit, exact
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable
from nbcfast._rounding.apportion import Counted
from nbcfast._rounding.nearest import Nearest
from nbcfast._rounding.request import Claims, Request, checked_options
from nbcfast._rounding.rows import SEARCHED, Rounded, RowsArgument, RowSearch
from nbcfast.closeness.program import solved
from nbcfast.closeness.region import Region, chosen_region
from nbcfast.closeness.scores import ScoreRatios
from nbcfast.equivalence import Comparison
from nbcfast.published.typed import limit_text
from nbcfast.safety.prior import LabelT, prior_in_integers, prior_of, within
from nbcfast.transform.gauge import Weighting
from nbcfast.transform.margin_bound import MARGIN_DOMAIN, deciding_margin
from nbcfast.transform.plan import MOST_LIMIT, SPARE, Decisions
from nbcfast.transform.scaled import scaled_by
from nbcfast.transform.shares import ScaledShares, proven_counts, proven_counts_in
from nbcfast.transform.zeros import fill_zeros
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.closeness.results import Best
    from nbcfast.published.release import Release

LADDER = 12  # candidates for a number of rows that was asked for


def est(
    views: Viewset,
    prior: Mapping[LabelT, Numeral],
    r: Numeral,
    *,
    preserve: Preserve = "order",
    rows: RowsArgument = "smallest",
    gauge: bool = True,
    attacker: Attacker = "row",
    allow_differences: bool = False,
    table: AnyTable | None = None,
    class_name: str | None = None,
    guard: int = 1,
    progress: Progress | None = None,
) -> Release:
    """Publish a classifier that decides as the private one does, and whose odds are near those of a prior.

    The EST of Mozafari and Zaniolo (VLDB 2009), corrected. Its steps (take powers, split every class into
    as many labels as the prior says, SafetyTransform, merge) come to X'_c = X_c^x F_c^y with y below 1, and
    that is made at once: the largest x up to 1 with which (X'_c / X'_d) / (F_c / F_d) is at most r for every
    tuple and all classes, with y = 0 unless it makes x larger by a sixteenth. Ties, realism, rounding and
    certificate are those of `safety_transform`; what leaves is checked again. Deterministic.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class; zero counts are welcome.
    prior : mapping of class to number
        F_c > 0, adding up to 1. It is published with r.
    r : int, Fraction, str or float
        Above 1, in the form of Statement 11; Definition 5 then holds with the same r.
    preserve : {"order", "label"}
        Keep the whole order of classes for every tuple, or the best class (see `fill_zeros`).
    rows : {"smallest", "proven"} or int
        How many rows are published; see `to_rows`.
    gauge : bool
        Publish nothing but what the ratios of scores need. Views that are positive and within r already leave
        as they are with gauge=False.
    attacker : {"row", "worlds"}
        "worlds" asks for r / 2, which must be above 1: averaged over worlds odds may be twice X_c / X_d.
    allow_differences : bool
        With a number of rows: publish even if tuples differ; the certificate says how many.
    table, class_name, guard, progress
        As for `safety_transform`.

    Returns
    -------
    Release
        Its certificate has method "est", r and the prior, which `verify` checks from the file alone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    Infeasible
        If r is not above what `best` says; `best` of it has "best_r", "log_best_r" and "attained". Also with
        a number of rows that will not do, as in `safety_transform`.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([6, 6], {"job": [[4, 2], [2, 4]]}, classes=["ill", "well"])
    >>> prior = {"ill": "0.75", "well": "0.25"}
    >>> est(views, prior, 4)
    Release(5 rows, 2 classes, 1 attribute; r <= 4 of the prior, order identical (enumeration))
    >>> try:
    ...     est(views, prior, "1.3")
    ... except Infeasible as error:
    ...     print(error)
    r = 1.3 cannot be kept with the same order: no output of EST comes below 3, and none attains that
    """
    shares = prior_of(views, prior)
    table, rows = checked_options(rows, table, gauge, allow_differences, views.attributes)
    demanded, limit = r_limits(r, attacker)
    filled = fill_zeros(views, preserve=preserve, guard=guard)
    numbers = prior_in_integers(shares)
    claims = Claims(method="est", r=demanded, prior=shares)
    amplification = demanded * max(numbers) / min(numbers)
    request = Request(views, amplification, attacker, preserve, gauge, table, class_name, claims)
    identity = (
        not gauge
        and not filled.n_zeros
        and rows in ("smallest", "proven", views.n_rows)
        and within(views, shares, limit)
    )
    if identity:
        return request.release(Rounded(views, "identity"), identity=True)
    scores = ScoreRatios(filled, numbers, progress, MARGIN_DOMAIN)
    margin = deciding_margin(filled, gauge, progress)
    region = chosen_region(scores, limit)
    if region is None:
        raise _infeasible(solved(scores), demanded, limit)
    plan = RegionPlan(region, margin, shares, limit, gauge, progress)
    return request.answered(RowSearch(plan), rows, allow_differences)


def r_limits(r: Numeral, attacker: str) -> tuple[Fraction, Fraction]:
    """R as demanded, and what the odds of the counts must keep to."""
    choice(attacker, ("row", "worlds"), "attacker")
    demanded = as_limit(exact(r, "r"), "r")
    times = 2 if attacker == "worlds" else 1
    if demanded <= times:
        why = "'worlds', whose odds can be twice X_c / X_d" if attacker == "worlds" else "'row'"
        raise ValueError(f"r must be above {times} for attacker {why}; got {limit_text(demanded)}")
    return demanded, demanded / times


def _infeasible(optimum: Best, demanded: Fraction, limit: Fraction) -> Infeasible:
    times = demanded / limit
    r = optimum.r * times if isinstance(optimum.r, Fraction) else optimum.r * float(times)
    shown = limit_text(r) if isinstance(r, Fraction) else f"{r:.12g}"
    best: dict[str, object] = {
        "best_r": r,
        "log_best_r": optimum.log_r + math.log(times),
        "attained": optimum.attained,
        "exact": optimum.exact,
    }
    if isinstance(r, Fraction) and demanded > r:
        why = (
            f"r = {limit_text(demanded)} is so little above {shown}, where EST ends, that no counts are tried"
        )
        return Infeasible(why, best)
    why = (
        f"r = {limit_text(demanded)} cannot be kept with the same order: no output of EST comes below {shown}"
    )
    if optimum.attained:
        return Infeasible(f"{why}, and only numbers that are not rounded attain that", best)
    return Infeasible(f"{why}, and none attains that", best)


class RegionPlan:
    """What EST wants of rows: powers from a region, with ever more room between the odds and r.

    Parameters
    ----------
    region : Region
    margin : Fraction or None
        See `deciding_margin`.
    prior : tuple of Fraction
    limit : Fraction
        R, as the odds of the counts must keep to it.
    gauge : bool
    progress : callable, optional
        Called as progress(done, total), in parts of the work.
    """

    proof = "interval"
    fixed = False

    def __init__(
        self,
        region: Region,
        margin: Fraction | None,
        prior: tuple[Fraction, ...],
        limit: Fraction,
        gauge: bool,
        progress: Progress | None = None,
    ) -> None:
        self.region, self.margin, self.prior, self.gauge = region, margin, prior, gauge
        self.filled = region.scores.filled
        self.views, self.preserve = self.filled.views, self.filled.preserve
        self.limit = min(limit, MOST_LIMIT)
        self.tuples = self.views.n_tuples
        self.promise = f"r up to {limit_text(limit)}"
        self.last = False
        self.decisions = Decisions(self.filled, progress)
        self._powers: dict[Fraction, tuple[Fraction, Fraction]] = {}  # from k to y and a margin

    @property
    def searched(self) -> bool:
        return self.tuples <= SEARCHED

    def ks(self) -> Iterator[Fraction]:
        """Ever more room between the odds and r: at first about as much as between scores."""
        region = self.region
        # At most half of what lies above the least r: nearer to that, scores go flat and rows without end.
        most = (region.log - region.floor) / 2
        room = most / 16
        k, y = region.powers(region.log - room)
        between, _ = region.room(k, y, self.margin)
        if between is not None:
            room = min(room, 2 * gmpy2.mpq(between))
        last = None
        while True:
            k, y = region.powers(region.log - room)
            # The same powers again only where there are no others to try.
            self.last = bool(room == most)
            if (k, y) != last or self.last:
                between, above = region.room(k, y, self.margin)
                self._powers[k] = y, k * (above if between is None else min(between, above))
                yield k
            last, room = (k, y), min(2 * room, most)

    def more_ks(self) -> Iterator[Fraction]:
        return islice(self.ks(), LADDER)

    def between(self, low: Fraction, high: Fraction) -> Fraction | None:
        return None  # each k has a y of its own

    def shares(self, k: Fraction) -> ScaledShares:
        y, margin = self._powers[k]
        weighting = Weighting(self.region.scores.numbers, y)
        return ScaledShares(scaled_by(self.filled, self.limit, k, self.gauge, margin, None, SPARE, weighting))

    def nearest(self, shares: ScaledShares, rows: int) -> Nearest:
        return self.decisions.nearest(shares, rows)

    def proven(self, shares: ScaledShares) -> Counted:
        return proven_counts(shares)

    def proven_in(self, shares: ScaledShares, rows: int) -> Counted | None:
        return proven_counts_in(shares, rows)

    def compare(self, views: Viewset) -> Comparison:
        return self.decisions.compare(views)

    def safe(self, views: Viewset) -> bool:
        return within(views, self.prior, self.limit)
