"""Candidates for k, in rising order: docs/mathematics/safety.md, section d."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2

from nbcfast._core.untyped import Exact
from nbcfast.transform.zeros import Filled, log_amplification

GRID = 64  # k is a multiple of 1/64 below 64 and an integer from there on
STEADY = 8  # values of k tried one after the other before the steps grow


class Ladder:
    """Candidates for k in rising order, from the least with which Lambda^(1/k) can be within the limit."""

    def __init__(self, filled: Filled, limit: Fraction) -> None:
        self.steps = 0
        # Enough bits to tell neighbours of the grid apart; a case nearer than that is tried.
        longest = max(filled.exponents, default=0).bit_length() + filled.flat.n.bit_length()
        longest += max(0, limit.denominator.bit_length() - (limit - 1).numerator.bit_length())
        precision = 128 + longest
        log = log_amplification(filled, precision)
        with gmpy2.context(precision=precision):
            quotient = log / log_of_limit(limit)
            # Down by more than its error: a k that is too small fails its test and costs one step, one that
            # is too large would stay, and make posteriors flatter without need.
            quotient -= abs(quotient) * gmpy2.exp2(-100 - longest)
            self.quotient = quotient
            a = int(gmpy2.ceil(quotient * GRID))
            self.k = Fraction(max(a, GRID), GRID)
            if self.k > GRID:
                self.k = Fraction(int(gmpy2.ceil(quotient)))

    def up(self) -> None:
        """The next k; after a few that do not do, by steps that double."""
        self.steps += 1
        step = 1 << max(0, self.steps - STEADY)
        self.k = on_grid(self.k + (Fraction(step, GRID) if self.k < GRID else step))


def on_grid(k: Fraction) -> Fraction:
    """The least k that may be used from this number on: a multiple of 1/64, or from 64 on an integer."""
    return Fraction(math.ceil(k * GRID), GRID) if k <= GRID else Fraction(math.ceil(k))


def k_between(low: Fraction, high: Fraction) -> Fraction | None:
    """A k half way between two, or None where they are neighbours."""
    middle = on_grid((low + high) / 2)
    if middle == high:
        middle = high - (Fraction(1, GRID) if high <= GRID else 1)
    return middle if low < middle else None


def paper_k(filled: Filled, limit: Fraction) -> Fraction:
    """The least integer k >= n (2n + 3) ln w / ln lambda, w the largest ratio of counts after Step 1."""
    flat, n = filled.flat, filled.flat.n
    most = max([*flat.of_class, int(flat.counts.max()) if flat.counts.size else 1])
    with gmpy2.context(precision=128 + max(filled.exponents).bit_length()):
        least = gmpy2.mpfr(0)
        for c, exponent in enumerate(filled.exponents):
            column = flat.counts[:, c]
            positive = column[column > 0]
            if len(positive):
                least = min(least, gmpy2.log(gmpy2.mpz(int(positive.min()))))
            if len(positive) < len(column):
                unit = int(flat.unit[flat.zero[:, c]].min())
                least = min(least, gmpy2.log(gmpy2.mpz(unit)) - exponent * gmpy2.const_log2())
        log = gmpy2.log(gmpy2.mpz(most)) - least
        return Fraction(max(1, int(gmpy2.ceil(n * (2 * n + 3) * log / log_of_limit(limit)))))


def log_of_limit(limit: Fraction) -> Exact:
    """Ln of a number above 1, to the precision of the context however near to 1 it is."""
    return gmpy2.log1p(gmpy2.mpfr(gmpy2.mpq(limit - 1)))
