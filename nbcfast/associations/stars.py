"""Several views that all share one join key: worlds of a complete hypergraph with one part a view.

A cell takes one tuple of each view; a world is a set of cells that leaves no tuple out. Sizes are
(identities, values, tuples of the third view, ...).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import gmpy2
import numpy as np

from nbcfast.associations.sizes import (
    FIRST_BITS,
    Floats,
    Longs,
    enclosed,
    exact_probability,
    fraction,
    probabilities,
)

Sizes = tuple[int, ...]

MOST_WORK = 1 << 28  # bits of all its terms


def reduced(sizes: Sizes) -> Sizes:
    """Without further views of a single tuple, which change nothing, and the others by size."""
    return (*sizes[:2], *sorted(size for size in sizes[2:] if size > 1))


def star_covers(sizes: Sizes, own: tuple[int, int] | None = None) -> Any:
    """The worlds; with `own`, those in which an identity and a value with so many tuples share no cell.

    Inclusion and exclusion over the tuples that are kept of all views but the largest, whose own sum is
    closed: a tuple of it that meets c cells has 2^c - 1 choices.
    """
    largest = max(range(len(sizes)), key=lambda place: sizes[place])
    a, b = own or (0, 0)
    total = gmpy2.mpz(0)
    for sign, i, l, n, p, others in _kept(sizes, (a, b), largest):
        middle = prod(others)
        # The tuples of the identity at stake do not meet those of the value at stake.
        if largest == 0:
            power = _choices((n + p) * middle, sizes[0] - a) * _choices(n * middle, a)
        elif largest == 1:
            power = _choices((i + l) * middle, sizes[1] - b) * _choices(i * middle, b)
        else:
            power = _choices(((i + l) * (n + p) - l * p) * middle, sizes[largest])
        total += sign * power
    return total


def star_probability(sizes: Sizes) -> Fraction:
    """How likely a given identity has a given value, exactly."""
    sizes = reduced(sizes)
    if len(sizes) == 2:
        return exact_probability(*sizes)
    return 1 - fraction(gmpy2.mpq(star_covers(sizes, (1, 1)), star_covers(sizes)))


def star_probabilities(sizes: list[Longs]) -> Floats:
    """The same for arrays of sizes, one a view, as floats."""
    if len(sizes) == 2:
        return probabilities(*sizes)
    table = np.stack(sizes, axis=1)
    distinct, places = np.unique(table, axis=0, return_inverse=True)
    found: Floats = np.array([star_float(tuple(row)) for row in distinct.tolist()])[places.reshape(-1)]
    return found


def star_float(sizes: Sizes) -> float:
    low, high = star_enclosed(*sizes, FIRST_BITS)
    found = float((low + high) / 2)
    return found if found < 1 or low == 1 else float(np.nextafter(1.0, 0.0))


def star_enclosed(*sizes_and_bits: int) -> tuple[Any, Any]:
    """Bounds (mpq) of the probability of sizes and then bits: `tuples_enclosed` with one tuple each."""
    *sizes, bits = sizes_and_bits
    found = reduced(tuple(sizes))
    return enclosed(*found, bits) if len(found) == 2 else tuples_enclosed(found, (1, 1), bits)


def tuples_enclosed(sizes: Sizes, own: tuple[int, int], bits: int) -> tuple[Any, Any]:
    """Bounds (mpq) of the probability that an identity and a value with so many tuples share a cell.

    Equal where it is worked out, else about 2^-bits apart: let every cell be in with probability 1/2. None of
    the c cells of the two is in with probability 2^-c, and a tuple is left out with probability 2^-(its
    cells); with e the sum of these over all tuples, and e' the same without the cells at stake,
    2^-c (1 - e') <= 1 - P < 2^-c / (1 - e).
    """
    (a, b), middle = own, prod(sizes[2:])
    if a == sizes[0] or b == sizes[1]:  # alone with all of the other side
        return gmpy2.mpq(1), gmpy2.mpq(1)
    at_stake = a * b * middle
    least = _least_degree(sizes, own)
    if least <= bits + sum(sizes).bit_length() + 2:
        check_work(sizes)
        exact = 1 - gmpy2.mpq(star_covers(sizes, own), star_covers(sizes))
        return exact, exact
    left_out = gmpy2.mpq(sum(sizes), gmpy2.mpz(1) << min(least, 8 * bits))
    if at_stake > 8 * bits:
        return 1 - gmpy2.mpq(1, gmpy2.mpz(1) << (8 * bits - 1)), gmpy2.mpq(1)
    rest = gmpy2.mpq(1, gmpy2.mpz(1) << at_stake)
    return 1 - rest / (1 - left_out), 1 - rest * (1 - left_out)


def single_weights(sizes: Sizes, a: int, owned: list[int], bits: int) -> tuple[list[Any], bool]:
    """Worlds in which an identity with a tuples has only one value, for values with so many tuples.

    And whether they are exact. Where that is too much work, each is over the same number and up to a factor
    of 1 - 2^-bits: the a tuples need a choice each among the value's cells, all else is covered anyhow.
    """
    m, n, *others = sizes
    middle = prod(others)
    if m == a:  # nobody else has the other values
        return [gmpy2.mpz(b == n) for b in owned], True
    least = min(n * middle, (m - a) * middle, *((m - a) * n * middle // size for size in others))
    if least > bits + sum(sizes).bit_length():
        return [_choices(b * middle, a) for b in owned], False
    check_work(sizes)
    return [star_covers(sizes, (a, n - b)) for b in owned], True


def check_work(sizes: Sizes) -> None:
    terms = prod(sizes) // max(sizes)
    if terms * prod(sizes) > MOST_WORK:
        raise ValueError(
            f"views of {' x '.join(map(str, sizes))} tuples share a join value: too many for exact numbers, "
            "and too uneven for the bound of large ones"
        )


def _least_degree(sizes: Sizes, own: tuple[int, int]) -> int:
    """The fewest cells that a tuple meets besides those at stake."""
    (a, b), cells, middle = own, prod(sizes), prod(sizes[2:])
    others = [(cells - a * b * middle) // size for size in sizes[2:]]
    return min(cells // sizes[0] - b * middle, cells // sizes[1] - a * middle, *others)


def _choices(cells: int, tuples: int) -> Any:
    return ((gmpy2.mpz(1) << cells) - 1) ** tuples


def _kept(
    sizes: Sizes, own: tuple[int, int], largest: int
) -> Iterator[tuple[int, int, int, int, int, tuple[int, ...]]]:
    """Sign times binomials, and what is kept of the views but the largest one, with 1 for that.

    Of the identities i other tuples and l of the one at stake, of the values n and p, and of each further
    view.
    """

    def kept(size: int) -> list[tuple[int, int]]:
        return [((-1) ** (size - more) * comb(size, more), more) for more in range(size + 1)]

    def ends(place: int) -> list[tuple[int, int, int]]:
        if place == largest:
            return [(1, 1, 0)]
        mine = own[place]
        return [
            (sign * other, more, one) for other, one in kept(mine) for sign, more in kept(sizes[place] - mine)
        ]

    further = [[(1, 1)] if place == largest else kept(sizes[place]) for place in range(2, len(sizes))]
    for (a, i, l), (b, n, p), *rest in product(ends(0), ends(1), *further):
        yield a * b * prod(sign for sign, _ in rest), i, l, n, p, tuple(size for _, size in rest)
