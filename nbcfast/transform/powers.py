"""Positive rationals times powers of two too large to write out: ratios with replaced zeros."""

from __future__ import annotations

from typing import NamedTuple

import gmpy2

from nbcfast._core.products import product
from nbcfast._core.untyped import Exact


class Power(NamedTuple):
    """mantissa * 2^exponent with 1 <= mantissa < 2, so that tuples compare as the numbers do."""

    exponent: int
    mantissa: Exact  # mpq

    def __mul__(self, other: Power) -> Power:  # type: ignore[override]
        return power(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __truediv__(self, other: Power) -> Power:
        return power(self.mantissa / other.mantissa, self.exponent - other.exponent)

    def __pow__(self, exponent: int) -> Power:
        return power(self.mantissa**exponent, self.exponent * exponent)

    def log2_ceil(self) -> int:
        return self.exponent + bool(self.mantissa > 1)


def power(number: Exact, exponent: int = 0) -> Power:
    """Number * 2^exponent for a positive int or mpq."""
    quotient = gmpy2.mpq(number)
    shift = quotient.numerator.bit_length() - quotient.denominator.bit_length()
    quotient = quotient / (1 << shift) if shift >= 0 else quotient * (1 << -shift)
    if quotient < 1:
        quotient, shift = quotient * 2, shift - 1
    return Power(exponent + shift, quotient)


def product_of_powers(factors: list[Power]) -> Power:
    """The product, by halves so that numbers of like size meet."""
    if not factors:
        return Power(0, gmpy2.mpq(1))
    tops = product([factor.mantissa.numerator for factor in factors])
    bottoms = product([factor.mantissa.denominator for factor in factors])
    return power(gmpy2.mpq(tops, bottoms), sum(factor.exponent for factor in factors))
