"""The powers of EST: X_c^x F_c^y with x as large as r allows: docs/mathematics/safety.md, section h."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2

from nbcfast._core.untyped import Exact
from nbcfast.closeness.program import BITS, Ray, lowest, plain_fraction
from nbcfast.closeness.scores import ScoreRatios
from nbcfast.transform.ladder import on_grid

WORTH = gmpy2.mpq(17, 16)  # y is used where x can be larger by this factor with it
HALVINGS = 64  # of an interval for x, and of the share of the margins that y leaves
LIKELY = 10  # y stays 2^-LIKELY below 1 where that is no hindrance


class Region:
    """The powers x and y with which real numbers keep the order and a limit of ln r.

    For all pairs of classes x D - (1 - y) g <= ln r, with 0 <= y <= m x and y <= top < 1. All numbers are
    rationals on the safe side of the logarithms that they stand for.

    Parameters
    ----------
    scores : ScoreRatios
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

    def __init__(self, scores: ScoreRatios, log: Exact, slope: Exact | None) -> None:
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
        """A prior nearly taken over, and scores so flat that they hardly count.

        Each takes up to an eighth of ln r, so that more than half is left for roots and rounding.
        """
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
        # y has to stay below 1, where the prior would be all that is left, and above the y of the optimum.
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

    def height(self, x: Exact, y: Exact) -> Exact:
        """The least ln r that these powers keep to."""
        return max((x * steep - (1 - y) * g for steep, g in self.lines), default=gmpy2.mpq(0))

    def ends(self, x: Exact, log: Exact) -> tuple[Exact, Exact]:
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

    def has(self, x: Exact, log: Exact) -> bool:
        low, high = self.ends(x, log)
        return bool(low <= high)

    def nearest(self, log: Exact) -> Exact:
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

    def powers(self, log: Exact) -> tuple[Fraction, Fraction]:
        """K = 1 / x and y: on the grid of SafetyTransform if that will do, else short fractions."""
        x = self.nearest(log)
        if x <= 1:
            k = on_grid(plain_fraction(1 / x))
            if self.has(1 / gmpy2.mpq(k), log):
                return k, self._y(k, log)
        # All between the base and the nearest will do.
        other = x + (self.base - x) / 4
        k = simplest(*sorted((plain_fraction(1 / x), plain_fraction(1 / other))))
        return k, self._y(k, log)

    def _y(self, k: Fraction, log: Exact) -> Fraction:
        low, high = self.ends(1 / gmpy2.mpq(k), log)
        if low <= 0:
            return Fraction(0)
        return simplest(plain_fraction(low), plain_fraction(low + (high - low) / 4))

    def room(self, k: Fraction, y: Fraction, margin: Fraction | None) -> tuple[Fraction | None, Fraction]:
        """Bounds of what is left between scores that differ, and between the odds and r."""
        x = 1 / gmpy2.mpq(k)
        rooms = [] if margin is None else [x * gmpy2.mpq(margin)]
        if y:
            for c, d in self.scores.inversions:
                least, g = self.scores.log_least((c, d), BITS)[0], self.scores.log_prior((d, c), BITS)[1]
                rooms.append(x * least - gmpy2.mpq(y) * g)
        between = None if not rooms else plain_fraction(min(rooms))
        return between, plain_fraction(self.log - self.height(x, gmpy2.mpq(y)))


def chosen_region(scores: ScoreRatios, limit: Fraction) -> Region | None:
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
        # With y = m x nothing is left between scores that the prior pulls together: so at first half of m,
        # and more of it only where r asks for that.
        for step in range(1, HALVINGS + 1):
            share = 1 - gmpy2.mpq(1, 1 << step)
            region = Region(scores, log, None if slope is None else share * slope[0])
            if region.possible:
                if not plain.possible or _size(region) > WORTH * size:
                    return region
                break
    return plain if plain.possible else None


def _size(region: Region) -> Exact:
    """How near to 1 x can come, as a ratio up to 1."""
    if not region.possible:
        return gmpy2.mpq(0)
    x = region.nearest(region.log)
    return min(x, 1 / x)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in [low, high], 0 < low."""
    whole = math.floor(low)
    if whole == low:
        return low
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))
