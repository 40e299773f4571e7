"""Noisy counts made positive counts of whole rows again: post-processing, which costs no privacy.

Nothing here sees a private count. All numbers are integers and quotients of them (docs/mathematics/dp.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._rounding.apportion import apportioned
from nbcfast.views.noise import Noise

FINER = 16  # rows made of one


def realistic(noisy: Counts, tables: Sequence[Counts], noise: Noise) -> tuple[list[int], list[Counts]]:
    """Class counts and tables that add up to them, of at least 1 each.

    `noisy` are class counts and `tables` those of attributes, of shape (values, classes), all with noise.
    """
    added = 1 + spread(noise) / 2
    totals = class_totals(noisy, tables)
    taken = _finer(totals, [len(table) for table in tables], added)
    columns = [
        [
            _column([int(count) for count in table[:, c]], total, rows, added)
            for c, (total, rows) in enumerate(zip(totals, taken, strict=True))
        ]
        for table in tables
    ]
    return taken, [np.array(list(zip(*of_table, strict=True)), object) for of_table in columns]


def spread(noise: Noise) -> Fraction:
    """The scale of Laplace noise; of the Gaussian sigma, rounded up to a multiple of 2^-32."""
    if noise.scale is not None:
        return noise.scale
    assert noise.sigma_squared is not None
    up, down = noise.sigma_squared.numerator, noise.sigma_squared.denominator
    return Fraction(math.isqrt((up << 64) // down) + 1, 1 << 32)


def class_totals(noisy: Counts, tables: Sequence[Counts]) -> list[Fraction]:
    """How many rows each class has, at least 1: each table says it too, the less surely the longer it is.

    The sum of |A| noisy counts varies |A| times as much as one count, so its weight is 1 / |A|.
    """
    weights = Fraction(1) + sum(Fraction(1, len(table)) for table in tables if len(table))
    sums = [Fraction(int(count)) for count in noisy]
    for table in tables:
        for c in range(len(sums)):
            if len(table):
                sums[c] += Fraction(sum(table[:, c].tolist()), len(table))
    return [max(total / weights, Fraction(1)) for total in sums]


def projected(numbers: Sequence[int], total: Fraction) -> Fraction:
    """What is taken from each number, and no more than there is, so that they add up to a positive total.

    The nearest point to the numbers, by Euclid, of those without negative ones that have this total.
    """
    left, taken = gmpy2.mpz(0), Fraction(0)
    for n, number in enumerate(sorted(numbers, reverse=True), 1):
        left += number
        # The n largest stay above 0 as long as the least of them is above what is then taken of each.
        cut = (left - total) / n
        if n > 1 and number <= cut:
            break
        taken = cut
    return taken


def _finer(totals: Sequence[Fraction], sizes: Sequence[int], added: Fraction) -> list[int]:
    """How many rows are made of each class: FINER times as many, or more so that no count is below 1.

    All classes are multiplied by the same number, so that none gains on another.
    """
    least = min(totals)
    factor = FINER
    for size in sizes:
        # A value that the projection leaves nothing has the share added / (total + added size).
        while size and (least * factor - Fraction(1, 2)) * added < least + added * size:
            factor *= 2
    return [math.floor(total * factor + Fraction(1, 2)) for total in totals]


def _column(numbers: list[int], total: Fraction, rows: int, added: Fraction) -> list[int]:
    """So many rows in the proportions of the projected numbers, to each of which `added` is added."""
    taken = projected(numbers, total)
    unit = math.lcm(taken.denominator, added.denominator)
    less, more = int(taken * unit), int(added * unit)
    shares = [gmpy2.mpz(max(number * unit - less, 0) + more) for number in numbers]
    return apportioned(shares, rows)
