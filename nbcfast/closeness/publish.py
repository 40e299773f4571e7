"""`est`: X' = X^x F^y, with everything that SafetyTransform does to make counts of it that may leave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import gmpy2

from nbcfast._core.errors import Infeasible
from nbcfast.closeness.program import BITS, Ray, lowest, solved
from nbcfast.closeness.scores import Scores
from nbcfast.published.typed import limit_text
from nbcfast.safety.prior import integers, prior_of, within
from nbcfast.table.values import as_limit, exact
from nbcfast.transform.publish import SPARE, Rounded, RowsArgument, _Short, _Work, _Wrap, checked_options
from nbcfast.transform.scaling import MARGIN_DOMAIN, Weighting, margin_of, on_grid, scaled_by
from nbcfast.transform.shares import Shares
from nbcfast.transform.zeros import Preserve, fill_zeros

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.closeness.results import Best
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset

WORTH = gmpy2.mpq(17, 16)  # y is used where x can be larger by this factor with it
HALVINGS = 64  # of an interval for x, and of the share of the margins that y leaves
LADDER = 12  # candidates for a number of rows that was asked for
LIKELY = 10  # y stays 2^-LIKELY below 1 where that is no hindrance


def est(
    views: Viewset,
    prior: Mapping[Any, Any],
    r: Any,
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
    of = prior_of(views, prior)
    table, rows = checked_options(rows, table, gauge, allow_differences)
    demanded, limit = limits(r, attacker)
    filled = fill_zeros(views, preserve=preserve, guard=guard)
    numbers = integers(of)
    claims = {"method": "est", "r": demanded, "prior": of}
    amplification = demanded * max(numbers) / min(numbers)
    wrap = _Wrap(views, amplification, attacker, preserve, gauge, table, class_name, claims)
    identity = (
        not gauge
        and not filled.n_zeros
        and rows in ("smallest", "proven", views.n_rows)
        and within(views, of, limit)
    )
    if identity:
        return wrap.release(Rounded(views, "identity"), identity=True)
    scores = Scores(filled, numbers, progress, MARGIN_DOMAIN)
    margin = margin_of(filled, gauge, progress)
    region = chosen(scores, limit)
    if region is None:
        raise _infeasible(solved(scores), demanded, limit)
    work = Work(region, margin, of, limit, gauge, progress)
    try:
        return wrap.release(work.rounded(rows, allow_differences))
    except _Short as short:
        best: dict[str, object] = dict(short.best)
        nearest = short.rounded or work.rounded("smallest", False)
        best["release"] = wrap.release(nearest)
        best["rows"] = nearest.views.n_rows
        raise Infeasible(short.why, best) from None


def limits(r: Any, attacker: str) -> tuple[Fraction, Fraction]:
    """R as demanded, and what the odds of the counts must keep to."""
    if attacker not in ("row", "worlds"):
        raise ValueError(f"attacker must be 'row' or 'worlds', got {attacker!r}")
    demanded = as_limit(exact(r, "r"), "r")
    times = 2 if attacker == "worlds" else 1
    if demanded <= times:
        why = "'worlds', whose odds can be twice X_c / X_d" if attacker == "worlds" else "'row'"
        raise ValueError(f"r must be above {times} for attacker {why}; got {limit_text(demanded)}")
    return demanded, demanded / times


def _infeasible(found: Best, demanded: Fraction, limit: Fraction) -> Infeasible:
    times = demanded / limit
    r = found.r * times if isinstance(found.r, Fraction) else found.r * float(times)
    shown = limit_text(r) if isinstance(r, Fraction) else f"{r:.12g}"
    best: dict[str, object] = {
        "best_r": r,
        "log_best_r": found.log_r + math.log(times),
        "attained": found.attained,
        "exact": found.exact,
    }
    if isinstance(r, Fraction) and demanded > r:
        why = (
            f"r = {limit_text(demanded)} is so little above {shown}, where EST ends, that no counts are tried"
        )
        return Infeasible(why, best)
    why = (
        f"r = {limit_text(demanded)} cannot be kept with the same order: no output of EST comes below {shown}"
    )
    if found.attained:
        return Infeasible(f"{why}, and only numbers that are not rounded attain that", best)
    return Infeasible(f"{why}, and none attains that", best)


class Region:
    """The powers x and y with which real numbers keep the order and a limit of ln r.

    For all pairs of classes x D - (1 - y) g <= ln r, with 0 <= y <= m x and y <= top < 1. All numbers are
    rationals on the safe side of the logarithms that they stand for.

    Parameters
    ----------
    scores : Scores
    log : mpq
        Ln r.
    slope : mpq or None
        m, or less of it; None where nothing limits y.

    Attributes
    ----------
    floor : mpq
        Some ln r that can be kept to, near the least; nothing is possible where it is not below `log`.
    base : mpq
        An x with which it is; 0 for the limit of small ones.
    """

    def __init__(self, scores: Scores, log: Any, slope: Any) -> None:
        self.scores, self.log, self.slope = scores, log, slope
        self.lines = [
            (scores.log_largest(pair, BITS)[1], scores.log_prior(pair, BITS)[0]) for pair in scores.pairs
        ]
        self.top = 1 - gmpy2.mpq(1, 1 << LIKELY)
        if not self.lines:
            self.base, self.floor = gmpy2.mpq(1), gmpy2.mpq(0)
        elif slope is None:
            self._unlimited()
        elif slope == 0:
            self.top = gmpy2.mpq(0)
            along = [Ray(-g, steep, pair) for (steep, g), pair in zip(self.lines, scores.pairs, strict=True)]
            self.floor, self.base, _ = lowest(along, None)
        else:
            self._limited()

    def _unlimited(self) -> None:
        """A prior nearly taken over, and scores so flat that they hardly count."""
        widest = max(-g for _, g in self.lines)
        while (1 - self.top) * widest > self.log / 8:
            self.top = (1 + self.top) / 2
        steepest = max(steep for steep, _ in self.lines)
        self.base = gmpy2.mpq(1) if steepest <= 0 else min(gmpy2.mpq(1), self.log / (8 * steepest))
        self.floor = self.height(self.base, self.top)

    def _limited(self) -> None:
        along = [
            Ray(-g, steep / self.slope + g, pair)
            for (steep, g), pair in zip(self.lines, self.scores.pairs, strict=True)
        ]
        self.floor, y, _ = lowest(along, gmpy2.mpq(1))
        if y < 1:
            self.top = max(self.top, (1 + y) / 2)
        elif self.floor < self.log:
            enough = (self.floor + self.log) / 2
            while max(line.at(self.top) for line in along) > enough:
                self.top = (1 + self.top) / 2
            y = self.top
            self.floor = max(line.at(y) for line in along)
        self.base = y / self.slope

    @property
    def possible(self) -> bool:
        return bool(self.floor < self.log)

    def height(self, x: Any, y: Any) -> Any:
        """The least ln r that these powers keep to."""
        return max((x * steep - (1 - y) * g for steep, g in self.lines), default=gmpy2.mpq(0))

    def ends(self, x: Any, log: Any) -> tuple[Any, Any]:
        """The least and the largest y with this x; there is none where the first is above the second."""
        low = gmpy2.mpq(0)
        high = self.top if self.slope is None else min(self.top, self.slope * x)
        for steep, g in self.lines:
            over = x * steep - log  # at most (1 - y) g
            if g > 0:
                high = min(high, 1 - over / g)
            elif g < 0:
                low = max(low, 1 - over / g)
            elif over > 0:
                return gmpy2.mpq(1), gmpy2.mpq(0)
        return low, high

    def has(self, x: Any, log: Any) -> bool:
        low, high = self.ends(x, log)
        return bool(low <= high)

    def nearest(self, log: Any) -> Any:
        """The x nearest to 1; `log` has to be above the floor."""
        x = gmpy2.mpq(1)
        if self.has(x, log):
            return x
        inner, outer = self.base, x
        if inner == 0:
            while not self.has(x, log):
                outer, x = x, x / 2
            inner = x
        for _ in range(HALVINGS):
            middle = (inner + outer) / 2
            if self.has(middle, log):
                inner = middle
            else:
                outer = middle
        return inner

    def powers(self, log: Any) -> tuple[Fraction, Fraction]:
        """K = 1 / x and y: on the grid of SafetyTransform if that will do, else short fractions."""
        x = self.nearest(log)
        if x <= 1:
            k = on_grid(_fraction(1 / x))
            if self.has(1 / gmpy2.mpq(k), log):
                return k, self._y(k, log)
        # All between the base and the nearest will do.
        other = x + (self.base - x) / 4
        k = simplest(*sorted((_fraction(1 / x), _fraction(1 / other))))
        return k, self._y(k, log)

    def _y(self, k: Fraction, log: Any) -> Fraction:
        low, high = self.ends(1 / gmpy2.mpq(k), log)
        if low <= 0:
            return Fraction(0)
        return simplest(_fraction(low), _fraction(low + (high - low) / 4))

    def room(self, k: Fraction, y: Fraction, margin: Fraction | None) -> tuple[Fraction | None, Fraction]:
        """Bounds of what is left between scores that differ, and between the odds and r."""
        x = 1 / gmpy2.mpq(k)
        rooms = [] if margin is None else [x * gmpy2.mpq(margin)]
        if y:
            for c, d in self.scores.inversions:
                least, g = self.scores.log_least((c, d), BITS)[0], self.scores.log_prior((d, c), BITS)[1]
                rooms.append(x * least - gmpy2.mpq(y) * g)
        between = None if not rooms else _fraction(min(rooms))
        return between, _fraction(self.log - self.height(x, gmpy2.mpq(y)))


def chosen(scores: Scores, limit: Fraction) -> Region | None:
    """Where to look for powers: y = 0 unless x gains by more; None where nothing keeps to r."""
    with gmpy2.context(precision=BITS + 64, round=gmpy2.RoundDown):
        log = gmpy2.mpq(gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(limit - 1))))
    log *= 1 - gmpy2.mpq(1, 1 << BITS)
    plain = Region(scores, log, gmpy2.mpq(0))
    size = _size(plain)
    if plain.possible and (size == 1 or len(set(scores.numbers)) == 1):
        return plain
    slope = scores.slope(BITS)
    if slope is None or slope[0] > 0:
        for step in range(1, HALVINGS + 1):
            share = 1 - gmpy2.mpq(1, 1 << step)
            region = Region(scores, log, None if slope is None else share * slope[0])
            if region.possible:
                if not plain.possible or _size(region) > WORTH * size:
                    return region
                break
    return plain if plain.possible else None


def _size(region: Region) -> Any:
    """How near to 1 x can come, as a ratio up to 1."""
    if not region.possible:
        return gmpy2.mpq(0)
    x = region.nearest(region.log)
    return min(x, 1 / x)


class Work(_Work):
    """What all ways to round share, with powers from a region in place of a ladder of k."""

    def __init__(
        self,
        region: Region,
        margin: Fraction | None,
        prior: tuple[Fraction, ...],
        limit: Fraction,
        gauge: bool,
        progress: Progress | None,
    ) -> None:
        super().__init__(region.scores.filled, limit, gauge, margin, progress, [])
        self.fixed = None
        self.region, self.prior = region, prior
        self.promise = f"r up to {limit_text(limit)}"
        self._plans: dict[Fraction, tuple[Fraction, Fraction]] = {}

    def ks(self) -> Iterator[Fraction]:
        """Ever more room between the odds and r: at first about as much as between scores."""
        region = self.region
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
                self._plans[k] = y, k * (above if between is None else min(between, above))
                yield k
            last, room = (k, y), min(2 * room, most)

    def _halfway(self, low: Fraction, high: Fraction) -> Fraction | None:
        return None  # each k has a y of its own

    def shares(self, k: Fraction) -> Shares:
        y, margin = self._plans[k]
        weighting = Weighting(self.region.scores.numbers, y)
        return Shares(scaled_by(self.filled, self.limit, k, self.gauge, margin, None, SPARE, weighting))

    def safe(self, views: Viewset) -> bool:
        return within(views, self.prior, self.limit)

    def _more_ks(self) -> Iterator[Fraction]:
        return islice(self.ks(), LADDER)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in [low, high], 0 < low."""
    whole = math.floor(low)
    if whole == low:
        return low
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))
