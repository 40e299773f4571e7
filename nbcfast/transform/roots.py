"""Correctly rounded roots N^(1/k), k rational, in batch.

Why there is one answer, and why more bits always find it: docs/mathematics/safety.md, section c.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast import _roots
from nbcfast._core.dtypes import Longs, Words
from nbcfast._core.untyped import Exact

Dyadic = tuple[Exact, int]  # mantissa and exponent of m * 2^e

_from_bytes = gmpy2.mpz.from_bytes
FEW = 8  # numbers that a kernel call does not pay for


class Roots:
    """Values m * 2^e with m of exactly `bits` bits.

    Attributes
    ----------
    mantissas : list of mpz
    exponents : list of int
    """

    __slots__ = ("exponents", "mantissas")

    def __init__(self, mantissas: list[Exact], exponents: list[int]) -> None:
        self.mantissas = mantissas
        self.exponents = exponents


def roots(numbers: Sequence[int], k: Fraction, bits: int) -> Roots:
    """N^(1/k) for each positive integer, rounded to nearest at `bits` bits, ties to even.

    The result does not depend on how it is found: whether a root is a rational is decided exactly, and
    a root that is not one is never half way between two numbers of `bits` bits.
    """
    by_kernel = _by_kernel(numbers, k, bits)
    if by_kernel is None:
        pairs = [root(int(number), k.denominator, k.numerator, bits) for number in numbers]
        return Roots([mantissa for mantissa, _ in pairs], [exponent for _, exponent in pairs])
    limbs, powers_of_two, undecided = by_kernel
    mantissas, exponents = from_limbs(limbs), powers_of_two.tolist()
    for i in undecided:
        mantissas[i], exponents[i] = root(int(numbers[i]), k.denominator, k.numerator, bits)
    return Roots(mantissas, exponents)


def roots_in_limbs(numbers: Sequence[int], k: Fraction, limbs: int) -> tuple[Words, Longs]:
    """N^(1/k) of each positive integer as a fraction of so many limbs, the top bit set, and its exponent."""
    bits = 64 * limbs
    by_kernel = _by_kernel(numbers, k, bits)
    if by_kernel is None:
        result = roots(numbers, k, bits)
        return in_limbs(result.mantissas, limbs), np.array(result.exponents, np.int64) + bits
    mantissas, exponents, undecided = by_kernel
    for i in undecided:
        mantissa, exponents[i] = root(int(numbers[i]), k.denominator, k.numerator, bits)
        mantissas[i] = in_limbs([mantissa], limbs)[0]
    return mantissas, exponents + bits


def _by_kernel(numbers: Sequence[int], k: Fraction, bits: int) -> tuple[Words, Longs, list[int]] | None:
    """Mantissas, exponents, and which of them the error bound leaves open; None where the kernel cannot."""
    top, bottom = k.denominator, k.numerator  # N^(top / bottom)
    if len(numbers) < FEW or bits > _roots.MOST_BITS or not _roots.can(top, bottom):
        return None
    if max(numbers) >= 1 << 63:
        return None
    mantissas = np.empty((len(numbers), _roots.size(bits)), np.uint64)
    exponents = np.empty(len(numbers), np.int64)
    sure = np.empty(len(numbers), np.uint8)
    _roots.roots(np.array(numbers, np.uint64), top, bottom, bits, mantissas, exponents, sure)
    return mantissas, exponents, np.flatnonzero(sure == 0).tolist()


def from_limbs(limbs: Words) -> list[Exact]:
    """Rows of limbs as mpz."""
    step = 8 * limbs.shape[-1]
    data = limbs.astype("<u8", copy=False).tobytes()
    return [_from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]


def in_limbs(numbers: list[Exact], limbs: int) -> Words:
    """Integers of any kind as rows of limbs."""
    data = b"".join(int(number).to_bytes(8 * limbs, "little") for number in numbers)
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, limbs)


def root(number: Exact, top: int, bottom: int, bits: int, twos: int = 0) -> Dyadic:
    """N^(top / bottom) 2^(twos / bottom), correctly rounded: m and e with m of exactly `bits` bits.

    Top and bottom have no common factor; top and twos may be negative.
    """
    if twos:
        odd = gmpy2.bit_scan1(gmpy2.mpz(number))
        shift, twos = divmod(twos + odd * top, bottom)
        mantissa, exponent = _root(int(number >> odd), top, bottom, bits, twos)
        return mantissa, exponent + shift
    return _root(number, top, bottom, bits, 0)


def _root(number: Exact, top: int, bottom: int, bits: int, twos: int) -> Dyadic:
    """`root` for 0 <= twos < bottom, and an odd number where there are any twos."""
    # An odd number times so many twos is no power of this degree, so the root is not a rational.
    whole = None if twos else perfect_root(number, bottom)
    if whole is not None:
        power = gmpy2.mpz(whole) ** abs(top)
        return rounded(power, 1, bits) if top > 0 else rounded(1, power, bits)
    precision = bits + 64
    # An irrational root is never half way between two numbers of `bits` bits, so this ends.
    while True:
        # A few units of error: of the logarithm and its product, which the exponential multiplies.
        size = (number.bit_length() * abs(top)).bit_length() + 8
        with gmpy2.context(precision=precision + size, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min()):
            if twos:
                log = gmpy2.log(gmpy2.mpfr(number)) * top + gmpy2.const_log2() * twos
                value = gmpy2.exp(log / bottom)
            elif top == 1 and bottom < 64:
                value = gmpy2.rootn(gmpy2.mpfr(number), bottom)
            else:
                value = gmpy2.exp(gmpy2.log(gmpy2.mpfr(number)) * top / bottom)
            mantissa, exponent = value.as_mantissa_exp()
        mantissa, exponent = gmpy2.mpz(mantissa), int(exponent)
        shift = precision - mantissa.bit_length()
        mantissa = mantissa << shift if shift >= 0 else mantissa >> -shift
        exponent -= shift
        spare = precision - bits
        low = gmpy2.f_mod_2exp(mantissa, spare)
        if abs(low - (1 << (spare - 1))) > 16:
            return to_bits(mantissa, exponent, bits)
        precision += precision - bits


def perfect_root(number: Exact, degree: int) -> Exact | None:
    """The integer whose `degree`-th power the number is, or None."""
    if number == 1 or degree == 1:
        return number
    if degree >= int(number).bit_length():
        return None
    whole, exact = gmpy2.iroot(gmpy2.mpz(number), degree)
    return whole if exact else None


def rounded(top: Exact, bottom: Exact, bits: int) -> Dyadic:
    """Top / bottom at `bits` bits, to nearest with ties to even: mantissa and exponent."""
    top, bottom = gmpy2.mpz(top), gmpy2.mpz(bottom)
    shift = bits + 2 - top.bit_length() + bottom.bit_length()
    quotient, remainder = gmpy2.f_divmod(top << max(shift, 0), bottom << max(-shift, 0))
    # One bit below says whether anything is left of the division: without it a quotient a hair above a half
    # would be taken for a tie.
    return to_bits((quotient << 1) | (remainder != 0), -shift - 1, bits)


def to_bits(mantissa: Exact, exponent: int, bits: int) -> Dyadic:
    """The number at `bits` bits, to nearest with ties to even."""
    spare = mantissa.bit_length() - bits
    if spare <= 0:
        return mantissa << -spare, exponent + spare
    kept = mantissa >> spare
    low = gmpy2.f_mod_2exp(mantissa, spare)
    half = gmpy2.mpz(1) << (spare - 1)
    if low > half or (low == half and kept & 1):
        kept += 1
        if kept.bit_length() > bits:
            return kept >> 1, exponent + spare + 1
    return kept, exponent + spare
