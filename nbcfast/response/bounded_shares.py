"""Shares of at least 0 in place of raw estimates: the nearest ones, or those of maximum likelihood.

Proved in docs/mathematics/response.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nbcfast._core.dtypes import Exacts, Floats
from nbcfast._core.untyped import Exact
from nbcfast.response.schemes import AnyScheme
from nbcfast.response.two_way import TwoWayTable, exact_sum, fraction_of

EM_STEPS = 20_000
EM_SETTLED = 1e-12


def nearest_joint(table: TwoWayTable, scheme: AnyScheme, name: str, class_name: str) -> Exacts:
    """The nearest shares of at least 0 with the sums that the answers give away exactly.

    Which sums these are: docs/mathematics/response.md, section 2. Clipping and dividing would lose them.
    """
    k_a, k_c = table.shape
    group, class_group = scheme.group_of(name), scheme.group_of(class_name)
    cells = [(i, j) for i in range(k_a) for j in range(k_c)]
    blocks: list[list[tuple[int, int]]]
    if group is None and class_group is None:
        return table.raw
    if class_group is None:  # P(c)
        blocks = [[(i, j) for i in range(k_a)] for j in range(k_c)]
    elif group is None:  # P(a)
        blocks = [[(i, j) for j in range(k_c)] for i in range(k_a)]
    elif _agreement_is_told(table, group, class_group):
        blocks = [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    else:
        blocks = [cells]
    joint = np.empty(table.shape, object)
    for block in blocks:
        shares = [table.raw[cell] for cell in block]
        for cell, share in zip(block, nearest_shares(shares, sum(shares, Fraction(0))), strict=True):
            joint[cell] = share
    return joint


def _agreement_is_told(table: TwoWayTable, group: int, class_group: int) -> bool:
    """Whether two columns of two values are under one coin, which leaves their interaction as it is."""
    return group == class_group and table.shape == (2, 2) and table.shrinkage[2] == 1


def most_likely_joint(
    table: TwoWayTable, scheme: AnyScheme, name: str, class_name: str
) -> tuple[Exacts, bool]:
    """Maximum likelihood of a joint table, and whether it was found."""
    group, class_group = scheme.group_of(name), scheme.group_of(class_name)
    if min(table.raw.flat) >= 0:
        return table.raw, True
    if group is not None and class_group is not None:
        if _agreement_is_told(table, group, class_group):
            # Of pairs the nearest point is the most likely one: statement 4.2.
            return nearest_joint(table, scheme, name, class_name), True
        return _most_likely_by_em(table)
    # The other column is told as it is: for each of its values k-ary answers of their own.
    class_is_disguised = group is None
    lines = table.counts if class_is_disguised else [list(row) for row in zip(*table.counts, strict=True)]
    factor = table.shrinkage[1 if class_is_disguised else 0]
    joint = np.empty(table.shape, object)
    for place, line in enumerate(lines):
        shares = most_likely_shares(line, factor) * fraction_of(exact_sum(line), table.n)
        if class_is_disguised:
            joint[place] = shares
        else:
            joint[:, place] = shares
    return joint, True


def most_likely_shares(counts: Sequence[Exact], factor: Fraction) -> Exacts:
    """Maximum likelihood of the shares behind k-ary answers with these counts: statement 4.3.

    An answer is the truth with p, and each other value with q; `factor` is p - q. Shares that are not 0 are
    (y - q) / (p - q), where the y, chances of answers, are in the ratio of their counts; those of the other
    values are q. Which are 0: the fewest of the rarest answers (of the most frequent where p < q).
    """
    k = len(counts)
    q = (1 - factor) / k
    order = sorted(range(k), key=lambda place: counts[place], reverse=factor > 0)
    shares = np.empty(k, object)
    shares[:] = Fraction(0)
    for size in range(k, 0, -1):
        kept = order[:size]
        total = exact_sum([counts[place] for place in kept])
        chance = size * q + factor  # of one of these answers
        last = fraction_of(counts[kept[-1]], total) if total else Fraction(1, size)
        if (last * chance - q) * factor >= 0 or size == 1:
            for place in kept:
                part = fraction_of(counts[place], total) if total else Fraction(1, size)
                shares[place] = (part * chance - q) / factor
            break
    return shares


def nearest_shares(point: Sequence[Fraction], total: Fraction) -> Exacts:
    """The nearest point, in Euclid's sense, of entries of at least 0 with the sum `total`: statement 4.1."""
    nearest = np.empty(len(point), object)
    if min(point) >= 0 and sum(point) == total:
        nearest[:] = list(point)
        return nearest
    prefix, shift = Fraction(0), Fraction(0)
    for size, entry in enumerate(sorted(point, reverse=True), 1):
        prefix += entry
        if entry <= (prefix - total) / size:
            break
        shift = (prefix - total) / size
    else:
        size += 1
    if size == 1:  # total is 0
        nearest[:] = Fraction(0)
        return nearest
    nearest[:] = [max(entry - shift, Fraction(0)) for entry in point]
    return nearest


def _most_likely_by_em(table: TwoWayTable) -> tuple[Exacts, bool]:
    """Maximum likelihood: x <- x * M^T(c / (M x)) / n, in floats, from the uniform shares.

    Besides, whether it settled: whether the mean logarithm of the likelihood is known to be within EM_SETTLED
    of the largest. M works on the four components, and is its own transpose.
    """
    rows, columns, both = (float(factor) for factor in table.shrinkage)

    def told(x: Floats) -> Floats:
        mean = x.mean()
        row, column = x.mean(axis=1, keepdims=True) - mean, x.mean(axis=0, keepdims=True) - mean
        shares: Floats = mean + rows * row + columns * column + both * (x - mean - row - column)
        return np.maximum(shares, 0.0)

    answers = np.array(table.counts, dtype=np.float64) / table.n
    is_seen = answers > 0

    def slope(x: Floats) -> Floats:
        return told(np.divide(answers, told(x), out=np.zeros_like(answers), where=is_seen))

    def likelihood(x: Floats) -> float:
        return float(answers[is_seen] @ np.log(np.maximum(told(x)[is_seen], np.finfo(np.float64).tiny)))

    x = np.full(table.shape, 1.0 / answers.size)
    for _ in range(EM_STEPS):
        steep = slope(x)
        # The likelihood is concave and x * slope adds up to 1, so nothing is likelier by more: statement 4.4.
        if steep.max() - 1 <= EM_SETTLED:
            return fractions_of_floats(x), True
        one = x * steep
        two = one * slope(one)
        step, turn = one - x, two - one - (one - x)
        x = two
        # A longer step the same way (Varadhan and Roland 2008, S3), if what it leads to is no less likely;
        # nothing becomes 0 by it, as EM would never leave that.
        length = math.sqrt(float((step**2).sum()) / max(float((turn**2).sum()), np.finfo(np.float64).tiny))
        if length > 1:
            far = np.maximum(one - step + 2 * length * step + length**2 * turn, two / 1024)
            far /= far.sum()
            far *= slope(far)
            if likelihood(far) >= likelihood(two):
                x = far
    return fractions_of_floats(x), False


def fractions_of_floats(array: Floats) -> Exacts:
    """Each float as the Fraction that it is; infinite ones stay floats."""
    fractions = np.empty(array.shape, object)
    for place, number in np.ndenumerate(array):
        fractions[place] = Fraction(float(number)) if np.isfinite(number) else float(number)
    return fractions
