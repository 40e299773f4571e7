"""Posteriors over possible worlds in exact integers, for small tables.

What is counted: docs/mathematics/safety.md, section j.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import gmpy2

from nbcfast._core.untyped import Exact

Polynomial = list[Exact]  # its coefficients, the constant one first

MOST_BITS = 20_000  # of the number of worlds: beyond, fractions are longer than anybody reads
MOST_WIDTH = 400  # matching rows of one class: its distribution takes the square of that
MOST_WORK = 1 << 25  # bits of a product of distributions


def affordable(class_counts: list[int], rows: list[list[int]]) -> bool:
    """Whether exact fractions take milliseconds."""
    if max(class_counts, default=0) > 1 << 40:
        return False
    widths, bits = [], 0.0
    for c, P in enumerate(class_counts):
        sizes = [row[c] for row in rows]
        widths.append(min(sizes, default=P) if sizes else 1)
        bits += sum(_log2_ways(P, size) for size in sizes)
    if bits > MOST_BITS or max(widths) > MOST_WIDTH:
        return False
    return sum(widths) * (bits + 64) * len(widths) <= MOST_WORK


def _log2_ways(n: int, k: int) -> float:
    if n > 1 << 20:  # a bound is enough
        k = min(k, n - k)
        return k * math.log2(math.e * n / k) if k else 0.0
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def ways(P: int, sizes: list[int]) -> tuple[int, list[gmpy2.mpz]]:
    """The least number of matching rows, and in how many of the worlds of a class each number matches.

    With the first subset fixed, C(N_1, j) prod_i C(P - j, N_i - j) counts pairs of a world and j matching
    rows; a shift of the polynomial with these coefficients by 1 leaves the worlds themselves.
    """
    if not sizes:
        return P, [gmpy2.mpz(1)]
    first, *others = sorted(sizes)
    pairs = []
    for j in range(first + 1):
        product = gmpy2.comb(first, j)
        for size in others:
            product *= gmpy2.comb(P - j, size - j)
        pairs.append(product)
    for start in range(first):  # Horner's rule: from powers of x - 1 to powers of x
        for j in range(first - 1, start - 1, -1):
            pairs[j] -= pairs[j + 1]
    low = next(y for y, number in enumerate(pairs) if number)
    while not pairs[-1]:
        pairs.pop()
    return low, pairs[low:]


def product(a: list[gmpy2.mpz], b: list[gmpy2.mpz], bits: int) -> list[gmpy2.mpz]:
    """The product of two polynomials with coefficients from 0 to 2^bits, by one multiplication."""
    if len(a) == 1 or len(b) == 1:
        one, other = (a, b) if len(a) == 1 else (b, a)
        return [one[0] * number for number in other]
    coefficients = gmpy2.unpack(gmpy2.pack(a, bits) * gmpy2.pack(b, bits), bits)
    return [*coefficients, *[gmpy2.mpz(0)] * (len(a) + len(b) - 1 - len(coefficients))]


def without_each(
    parts: list[Polynomial], multiply: Callable[[Polynomial, Polynomial], Polynomial], one: Polynomial
) -> list[Polynomial]:
    """For each part the product of all others."""
    before = [one]
    for part in parts[:-1]:
        before.append(multiply(before[-1], part))
    result, after = [], one
    for first, part in zip(reversed(before), reversed(parts), strict=True):
        result.append(multiply(first, after))
        after = multiply(after, part)
    return result[::-1]


def shares(class_counts: list[int], rows: list[list[int]]) -> list[Fraction] | None:
    """E[Y_c / sum Y | sum Y >= 1] of each class; None where no world has a matching row."""
    lows, parts = [], []
    for c, P in enumerate(class_counts):
        low, part = ways(P, [row[c] for row in rows])
        lows.append(low)
        parts.append(part)
    n_worlds = math.prod((sum(part) for part in parts), start=gmpy2.mpz(1))
    bits = n_worlds.bit_length() + max(P for P in class_counts).bit_length() + 1
    most = sum(low + len(part) - 1 for low, part in zip(lows, parts, strict=True))
    if most == 0:
        return None
    others = without_each(parts, lambda a, b: product(a, b, bits), [gmpy2.mpz(1)])
    whole = gmpy2.mpz(math.lcm(*range(1, most + 1)))
    weights = []
    for c, part in enumerate(parts):
        matching = [(lows[c] + i) * number for i, number in enumerate(part)]
        joint = product(matching, others[c], bits)
        start = sum(lows)
        weights.append(sum(number * (whole // (start + i)) for i, number in enumerate(joint) if start + i))
    total = sum(weights)
    return [Fraction(int(weight), int(total)) for weight in weights]
