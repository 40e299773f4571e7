"""From zero-concentrated differential privacy to (epsilon, delta), and back, in proven bounds.

What is rho-zCDP is (epsilon, delta)-DP for every u > 0 and epsilon = (1 + u) rho + ln(1 / delta) / u -
(1 + 1/u) ln(1 + u) + ln u: Canonne, Kamath, Steinke (2020), Corollary 13, with u = alpha - 1. It is least
where rho u^2 + ln(1 + u) = ln(1 / delta) (docs/mathematics/dp.md). Any u proves its own bound, so that only
how tight it is depends on how well the best one is found.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.logarithms import log2_below

if TYPE_CHECKING:
    from collections.abc import Callable

RHO_DIGITS = 9  # significant digits that results are rounded to, upwards epsilon and downwards rho
RHO_BITS = 24  # bits of u: an error of 2^-24 there costs about 2^-48 of the result
LEAST_EPSILON = Fraction(1, 10**30)  # told where delta alone gives all: a certificate says one above 0
RHO_GUARD = 160  # binary digits beyond those of the exponents of all numbers


def natural_logarithm(number: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds of the natural logarithm of a positive number, about 2^-digits apart."""
    above = log2_below(number.numerator, digits)
    below = log2_below(number.denominator, digits)
    low, high = above - below - 2, above - below + 2
    two = natural_of_two(digits)
    unit = 1 << 2 * digits
    ends = [Fraction(low * factor, unit) for factor in two] + [
        Fraction(high * factor, unit) for factor in two
    ]
    return min(ends), max(ends)


def natural_of_two(digits: int) -> tuple[int, int]:
    """Bounds of ln 2 in units of 2^-digits: the sum of 1 / (n 2^n)."""
    places = digits + 16
    total, n = 0, 0
    term = 1 << places
    while term:
        n += 1
        term >>= 1
        total += term // n
    # Each of n terms lost less than a unit, and those left out are less than one together.
    return total >> 16, ((total + n + 1) >> 16) + 1


def epsilon_above(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon of which rho-zCDP gives (epsilon, delta)-DP: the least from 10^-30 on, rounded up.

    Examples
    --------
    >>> epsilon_above(Fraction(1, 2), Fraction(1, 10**6))
    Fraction(104430689, 20000000)
    """
    digits = _enough_digits(rho, delta)
    from_delta = natural_logarithm(1 / delta, digits)[1]

    def is_beyond(u: Fraction) -> bool:
        return rho * u * u + natural_logarithm(1 + u, digits)[0] > from_delta

    bounds = [
        (1 + u) * rho
        + from_delta / u
        - (1 + 1 / u) * natural_logarithm(1 + u, digits)[0]
        + natural_logarithm(u, digits)[1]
        for u in _around_the_best(is_beyond)
    ]
    return rounded_to_digits(max(min(bounds), LEAST_EPSILON), up=True)


def rho_below(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho of which rho-zCDP gives (epsilon, delta)-DP, rounded down."""
    digits = _enough_digits(epsilon, delta)
    from_delta = natural_logarithm(1 / delta, digits)[1]

    def proven(u: Fraction) -> Fraction:
        spent = (
            from_delta / u
            - (1 + 1 / u) * natural_logarithm(1 + u, digits)[0]
            + natural_logarithm(u, digits)[1]
        )
        return (epsilon - spent) / (1 + u)

    def is_beyond(u: Fraction) -> bool:
        return proven(u) * u * u + natural_logarithm(1 + u, digits)[0] > from_delta

    return rounded_to_digits(max(map(proven, _around_the_best(is_beyond))), up=False)


def concentrated_gives(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether rho-zCDP is proven to give (epsilon, delta)-DP, by the bounds that makers take."""
    return rho <= rho_below(epsilon, delta) or epsilon_above(rho, delta) <= epsilon


def rounded_to_digits(number: Fraction, up: bool) -> Fraction:
    """A number of at least 0 with few decimal digits, the next one not below it or not above it."""
    if number == 0:
        return number
    exponent = len(str(number.numerator)) - len(str(number.denominator)) - RHO_DIGITS
    unit = Fraction(10) ** exponent  # the number is from 10^(RHO_DIGITS - 1) to 10^(RHO_DIGITS + 1) of these
    if number >= unit * 10**RHO_DIGITS:
        unit *= 10
    return (-(-number // unit) if up else number // unit) * unit


def _enough_digits(number: Fraction, delta: Fraction) -> int:
    """Binary digits that leave enough of them where all numbers are as small or large as these allow."""
    bits = [part.bit_length() for part in (number.numerator, number.denominator, delta.denominator)]
    return RHO_GUARD + 2 * sum(bits)


def _around_the_best(is_beyond: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Numbers of few bits on both sides of the one, above 0, from which on `is_beyond` is true."""
    low, high = -1, 1
    while is_beyond(Fraction(2) ** low):
        low *= 2
    while not is_beyond(Fraction(2) ** high):
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_beyond(Fraction(2) ** middle) else (middle, high)
    unit = Fraction(2) ** (low - RHO_BITS)
    least, most = 1 << RHO_BITS, 2 << RHO_BITS
    while most - least > 1:
        between = (least + most) // 2
        least, most = (least, between) if is_beyond(between * unit) else (between, most)
    return least * unit, most * unit
