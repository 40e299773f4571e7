"""Quotients of falling factorials against a limit: exact where they are short, else by logarithms."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import factorial

from nbcfast._wire.logarithms import log2_below
from nbcfast._wire.long_products import product_of
from nbcfast._wire.messages import decimal_text, number_text

MOST_SHOWN_DIGITS = 40  # of a probability, where fewer would show it on the wrong side of its limit
SURE_DIGITS = 12  # of one that is known to about 2^-50
FEW = 64  # factors of a product that is taken at once
FACTORS = 1 << 14  # of all products that are taken because bounds leave a point of the skyline open
PLACES = 192  # binary digits of those bounds after the point
LOG2_E = 0x171547652B82FE1777D0FFDA0D23A7D11D6AEF551BAD2B4B1  # log2(e) in units of 2^-PLACES, rounded down
STIRLING = (
    1 << 10
)  # factorials of numbers this large are taken by his series, whose terms are up / (down z^i)
SERIES = (
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360360),
    (1, 156),
    (-3617, 122400),
)


class Least:
    """The smallest of some odds, each a rational times falling(N, N + c, m), and whether it is above a limit.

    Products of few factors are taken as they are. For others bounds decide; only where those leave it open
    the product is taken after all, as long as there are no more than FACTORS of them together.
    """

    def __init__(self, limit: Fraction, m: int) -> None:
        self.limit, self.m = limit, m
        self.log2_limit: int | None = None  # within 2 units; of a limit of 0 there is none
        if limit:
            self.log2_limit = log2_below(limit.numerator, PLACES) - log2_below(limit.denominator, PLACES)
        self.above = True
        self.close = False  # whether something was left open
        self.left = FACTORS
        self.exact: Fraction | None = None  # the least of those that were multiplied
        self.about: int | None = None  # the least logarithm of the others

    def take(self, number: Fraction, n: int, c: int) -> None:
        """One more of the odds."""
        few = min(c, self.m)
        if few > FEW:
            low, high = _log2_odds(number, n, c, self.m)
            self.about = low if self.about is None else min(low, self.about)
            if self.log2_limit is None or low >= self.log2_limit + 2:
                return
            if high <= self.log2_limit - 2:
                self.above = False
                return
            if few > self.left:
                self.close = True
                return
            self.left -= few
            up, down = falling(n, n + c, self.m)
            up, down = up * number.numerator, down * number.denominator
            self.above &= up * self.limit.denominator > down * self.limit.numerator
        else:
            odds = number * Fraction(*falling(n, n + c, self.m))
            self.exact = odds if self.exact is None else min(odds, self.exact)
            self.above &= odds > self.limit

    def breach(self, confidence: Fraction) -> str:
        """1 / (1 + odds) as a piece of a message, which is on that side of the confidence where it is."""
        odds, digits = self.exact, MOST_SHOWN_DIGITS
        if self.about is not None:
            whole_part, part = self.about >> PLACES, self.about & ((1 << PLACES) - 1)
            # Odds below that are nearer to 0 than any number of digits shows.
            mantissa = Fraction(2.0 ** (part / (1 << PLACES)))
            about = mantissa * Fraction(2) ** max(whole_part, -4 * MOST_SHOWN_DIGITS)
            if odds is None or about < odds:
                odds, digits = about, SURE_DIGITS
        assert odds is not None
        breach = 1 / (1 + odds)
        if digits == MOST_SHOWN_DIGITS and (breach.denominator < 10**12 or breach == confidence):
            return number_text(breach)
        text = f"{float(breach):.12g}"
        if (Fraction(text) < confidence) == self.above:
            return text
        for places in range(12, MOST_SHOWN_DIGITS + 1):
            # Up where that is below, and down where it is not: never better than it is.
            scaled = breach * 10**places
            near = -(-scaled.numerator // scaled.denominator) if self.above else int(scaled)
            if (Fraction(near, 10**places) < confidence) == self.above:
                return decimal_text(Fraction(near, 10**places))
        side = "below" if self.above else "above"
        return f"(less than 10^-{digits} {side} {number_text(confidence)})"


def falling(above: int, below: int, m: int) -> tuple[int, int]:
    """Numerator and denominator of the product of (above - i) / (below - i) for i < m, where above < below.

    That is above! (below - m)! / (below! (above - m)!), so with c = below - above also the product of
    (above - m + j) / (above + j) for 1 <= j <= c: whichever has fewer factors is taken.
    """
    c = below - above
    if m <= c:
        ups, downs = range(above - m + 1, above + 1), range(below - m + 1, below + 1)
    else:
        ups, downs = range(above - m + 1, below - m + 1), range(above + 1, below + 1)
    return product_of([1, *ups]), product_of([1, *downs])


def _log2_odds(number: Fraction, n: int, c: int, m: int) -> tuple[int, int]:
    """Bounds of the logarithm of number falling(n, n + c, m), in units of 2^-PLACES."""
    found = log2_below(number.numerator, PLACES) - log2_below(number.denominator, PLACES)
    room = 2
    for sign, z in ((1, n), (-1, n - m), (1, n + c - m), (-1, n + c)):
        below, width = _log2_factorial(z)
        found += sign * below
        room += width
    return found - room, found + room


@lru_cache(maxsize=1 << 12)
def _log2_factorial(z: int) -> tuple[int, int]:
    """A bound of log2(z! / sqrt(2 pi)), in units of 2^-PLACES, and how far off it may be.

    By Stirling's series for z >= 1024, where eight terms leave less than 0.18 / z^17 < 2^-172 (the error is
    smaller than the first term left out):

        ln z! = (z + 1/2) ln z - z + ln sqrt(2 pi) + 1 / (12 z) - 1 / (360 z^3) + ..

    Each of the two long terms is off by less than 2 z + 1 units, the series by a few, and what it leaves by
    less than 2^21. Of a smaller z it is 1024! divided by a whole number.
    """
    if z < STIRLING:
        below, room = _log2_factorial(STIRLING)
        return below - log2_below(factorial(STIRLING) // factorial(z), PLACES), room + 2
    series, power = 0, z
    for up, down in SERIES:
        series += (up << PLACES) // (down * power)
        power *= z * z
    found = ((2 * z + 1) * log2_below(z, PLACES) >> 1) - z * LOG2_E + (series * LOG2_E >> PLACES)
    return found, 4 * z + (1 << 21)
