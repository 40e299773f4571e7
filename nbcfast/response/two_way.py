"""`TwoWayTable`: the unbiased estimate of the shares behind a table of counts of answers, with its variances.

Of a two-way table of shares P*(a, c) of answers, coins shrink the four components (mean, rows, columns,
interaction) by known factors and do nothing else, in every scheme; the estimate divides them out. For two
values in one group this is (p P*(E) - q P*(E-bar)) / delta of the paper, for two groups M^-1 T* M^-1.
Proved in docs/mathematics/response.md, sections 1 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast._core.untyped import Exact

Shrinkage = tuple[Fraction, Fraction, Fraction]  # of rows, of columns, of their interaction


class TwoWayTable:
    """A table of counts of answers, and the unbiased estimate of the shares behind it, with variances.

    Each answer contributes u(a', c') to n times the estimate of cell (a, c): one of four numbers, by whether
    a' = a and whether c' = c. Moments of u are therefore those of four counts.

    Attributes
    ----------
    counts : list of lists of mpz, shape (values, classes)
    shrinkage : (Fraction, Fraction, Fraction)
    n : int
        Answers.
    raw : ndarray of Fraction
        The estimated shares: some may be below 0, or above 1.
    variance : ndarray of Fraction
        Of a record drawn at random; infinite of one answer.
    coin_variance : ndarray of Fraction
        The part of it that the coins add.
    """

    def __init__(self, counts: list[list[int]], shrinkage: Shrinkage) -> None:
        self.counts = [[gmpy2.mpz(number) for number in row] for row in counts]
        self.shrinkage = shrinkage
        self.shape = len(counts), len(counts[0])
        row_sums = [exact_sum(row) for row in self.counts]
        column_sums = [exact_sum(column) for column in zip(*self.counts, strict=True)]
        n = exact_sum(row_sums)
        self.n = int(n)
        u = contributions(*self.shape, shrinkage, inverse=True)
        # In integers, all over one denominator: fractions would be reduced at every step.
        scale = math.lcm(*(number.denominator for number in u.values()))
        scaled = {key: gmpy2.mpz(int(number * scale)) for key, number in u.items()}
        self.raw = np.empty(self.shape, object)
        self.variance = np.empty(self.shape, object)
        self.coin_variance = np.empty(self.shape, object)
        for i in range(self.shape[0]):
            for j in range(self.shape[1]):
                both = self.counts[i][j]
                terms = (
                    (scaled[1, 1], both),
                    (scaled[1, 0], row_sums[i] - both),
                    (scaled[0, 1], column_sums[j] - both),
                    (scaled[0, 0], n - row_sums[i] - column_sums[j] + both),
                )
                first = exact_sum([weight * number for weight, number in terms])
                second = exact_sum([weight * weight * number for weight, number in terms])
                self.raw[i, j] = fraction_of(first, n * scale)
                # Statement 3.3, both: what the coins add, and the variance of a sample.
                self.coin_variance[i, j] = fraction_of(second - first * scale, (n * scale) ** 2)
                spread = n * second - first * first
                self.variance[i, j] = math.inf if n == 1 else fraction_of(spread, (n * scale) ** 2 * (n - 1))


def contributions(k_a: int, k_c: int, shrinkage: Shrinkage, inverse: bool) -> dict[tuple[int, int], Fraction]:
    """U by (a' = a, c' = c): components divided by what they shrink to, or (not inverse) multiplied by it."""
    rows, columns, both = (1 / factor if inverse else factor for factor in shrinkage)
    mean = Fraction(1, k_a * k_c)
    u = {}
    for i in (0, 1):
        for j in (0, 1):
            row, column = Fraction(i, k_c) - mean, Fraction(j, k_a) - mean
            u[i, j] = mean + row * rows + column * columns + (i * j - mean - row - column) * both
    return u


def exact_sum(numbers: Sequence[Exact]) -> Exact:
    """The sum of integers, an mpz too where there are none."""
    return sum(numbers, gmpy2.mpz(0))


def fraction_of(numerator: Exact, denominator: Exact) -> Fraction:
    """The quotient of two integers of gmpy2, which reduces them faster than Fraction does."""
    quotient = gmpy2.mpq(numerator, denominator)
    return Fraction(int(quotient.numerator), int(quotient.denominator))
