"""Several views that all share one join key: worlds of a complete hypergraph with one part a view.

A cell takes one tuple of each view; a world is a set of cells that leaves no tuple out. Sizes are
(identities, values, tuples of the third view, ...). docs/mathematics/associations.md, section 6
(#associations-6), has the sum, and Statement 5.2 (#associations-5) the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, prod
from operator import mul

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._core.untyped import Exact
from nbcfast.associations.sizes import (
    FIRST_BITS,
    Bounds,
    Sizes,
    TooLargeError,
    enclosed,
    exact_probability,
    fraction,
    probabilities,
)

MOST_WORK = 1 << 28  # bits of all its terms


def reduced(sizes: Sizes) -> Sizes:
    """Without further views of a single tuple, which change nothing, and the others by size."""
    return (*sizes[:2], *sorted(size for size in sizes[2:] if size > 1))


def star_covers(sizes: Sizes, staked: tuple[int, int] | None = None) -> Exact:
    """The worlds; with `staked`, those in which an identity and a value with so many tuples share no cell.

    Inclusion and exclusion over the tuples that are kept of all views but the largest, whose own sum is
    closed: a tuple of it that meets c cells has 2^c - 1 choices.
    """
    largest = max(range(len(sizes)), key=lambda place: sizes[place])
    a, b = staked or (0, 0)
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


@lru_cache(maxsize=1 << 10)
def covers_of(sizes: Sizes) -> Exact:
    """`star_covers`, remembered."""
    return star_covers(sizes)


def covers_without(sizes: Sizes, staked: tuple[int, int]) -> Exact:
    """`star_covers` with `staked`; of two views from powers that all values of a join value share.

    Sum over what is kept of the smaller side: k of the others and j of the n that are at stake, signed
    C(n-b, k) C(b, j) (2^k - 1)^a (2^(k+j) - 1)^(m-a).
    """
    if len(sizes) > 2:
        return star_covers(sizes, staked)
    (m, n), (a, b) = sizes, staked
    if n > m:
        (m, n), (a, b) = (n, m), (b, a)
    alone, others = _powers(n, a), _powers(n, m - a)
    total = gmpy2.mpz(0)
    if 2 * b <= n:
        terms = list(map(mul, _signed(n - b), alone))
        for j, sign in enumerate(_signed(b)):
            total += sign * sum(map(mul, terms, others[j:]), gmpy2.mpz(0))
    else:
        signs = _signed(b)
        for k, sign in enumerate(_signed(n - b)):
            if alone[k]:
                total += sign * alone[k] * sum(map(mul, signs, others[k:]), gmpy2.mpz(0))
    return total


@lru_cache(maxsize=32)
def _powers(n: int, tuples: int) -> list[Exact]:
    return [_choices(cells, tuples) for cells in range(n + 1)]


@lru_cache(maxsize=1 << 10)
def _signed(n: int) -> list[Exact]:
    """Signed binomials: keep k of n."""
    return [gmpy2.bincoef(n, k) * (-1) ** (n - k) for k in range(n + 1)]


def star_probability(sizes: Sizes) -> Fraction:
    """How likely a given identity has a given value, exactly."""
    sizes = reduced(sizes)
    if len(sizes) == 2:
        return exact_probability(*sizes)
    return 1 - fraction(gmpy2.mpq(star_covers(sizes, (1, 1)), star_covers(sizes)))


def star_probabilities(sizes: list[Longs]) -> Floats:
    """The probability of each join value as a float, from arrays of sizes, one a view."""
    if len(sizes) == 2:
        return probabilities(*sizes)
    table = np.stack(sizes, axis=1)
    distinct, places = np.unique(table, axis=0, return_inverse=True)
    floats: Floats = np.array([star_float(tuple(row)) for row in distinct.tolist()])[places.reshape(-1)]
    return floats


def star_float(sizes: Sizes) -> float:
    """The probability as a float; 1.0 only where it is exactly that."""
    low, high = star_enclosed(*sizes, FIRST_BITS)
    middle = float((low + high) / 2)
    return middle if middle < 1 or low == 1 else float(np.nextafter(1.0, 0.0))


def star_enclosed(*sizes_and_bits: int) -> Bounds:
    """Bounds (mpq) of the probability of sizes and then bits: `tuples_enclosed` with one tuple each."""
    *sizes, bits = sizes_and_bits
    needed = reduced(tuple(sizes))
    return enclosed(*needed, bits) if len(needed) == 2 else tuples_enclosed(needed, (1, 1), bits)


def tuples_enclosed(sizes: Sizes, staked: tuple[int, int], bits: int) -> Bounds:
    """Bounds (mpq) of the probability that an identity and a value with so many tuples share a cell.

    Equal where it is worked out, else about 2^-bits apart, and the probability is not the lower one: let each
    tuple of the largest view, independently, have any but the empty set of its cells. None of those at stake
    is in with a probability r that is a power of a quotient, and any other tuple is left out with at most
    2^-(its cells); with e the sum of these, and e' the same without the cells at stake,
    r (1 - e') <= 1 - P <= r / (1 - e). And 1 - P < 2^-(cells at stake), as every cell is in with probability
    1/2 and that all is covered makes it likelier (Harris' inequality).
    """
    (a, b), middle = staked, prod(sizes[2:])
    if a == sizes[0] or b == sizes[1]:  # alone with all of the other side
        return gmpy2.mpq(1), gmpy2.mpq(1)
    largest = max(range(len(sizes)), key=lambda place: sizes[place])
    least = _least_degree(sizes, staked, largest)
    if least <= bits + sum(sizes).bit_length() + 2:
        check_work(sizes)
        exact = 1 - gmpy2.mpq(covers_without(sizes, staked), covers_of(sizes))
        return exact, exact
    at_stake = a * b * middle
    if at_stake > 8 * bits:
        return 1 - gmpy2.mpq(1, gmpy2.mpz(1) << (8 * bits - 1)), gmpy2.mpq(1)
    halves = gmpy2.mpq(1, gmpy2.mpz(1) << at_stake)
    left_out = gmpy2.mpq(sum(sizes), gmpy2.mpz(1) << min(least, 8 * bits))
    met, tuples = at_stake // (a, b, *sizes[2:])[largest], (a, b, *sizes[2:])[largest]
    cells = prod(sizes) // sizes[largest]
    if cells - met <= 4 * bits:
        apart = _quotient(cells, met, tuples)
    else:  # (2^c - 2^d) / (2^c - 1) of 2^-d: no more than that below it
        left_out, apart = left_out + gmpy2.mpq(tuples, gmpy2.mpz(1) << min(cells - met, 8 * bits)), halves
    return 1 - min(apart / (1 - left_out), halves), 1 - apart * (1 - left_out)


def _quotient(cells: int, met: int, tuples: int) -> Exact:
    """How likely so many tuples, none of them left out, have none of so many of their cells."""
    one = gmpy2.mpz(1)
    return gmpy2.mpq((one << (cells - met)) - 1, (one << cells) - 1) ** tuples


def single_weights(sizes: Sizes, a: int, owned: list[int], bits: int) -> tuple[list[Exact], bool]:
    """Worlds in which an identity with a tuples has only one value, for values with so many tuples.

    And whether they are exact. Where that is too much work, each is over the same number and up to a factor
    of 1 - 2^-bits. If others have many tuples, all but the a tuples are as good as covered: those need a
    choice each among the value's cells. If there are many tuples of values, the a tuples must be covered by
    those of the value, and all else is by the rest.
    """
    m, n, *others = sizes
    middle = prod(others)
    if m == a:  # nobody else has the other values
        return [gmpy2.mpz(b == n) for b in owned], True
    enough = bits + sum(sizes).bit_length()
    if min([(m - a) * middle, *((m - a) * n * middle // size for size in others)]) > enough:
        return [_choices(b * middle, a) for b in owned], False
    fewest = n - max(owned)
    if min([fewest * middle, *((m - a) * fewest * middle // size for size in others)]) > enough:
        base = (gmpy2.mpz(1) << ((m - a) * middle)) - 1
        return [gmpy2.mpq(_all_covered(m * middle, middle, a, b), base**b) for b in owned], False
    check_work(sizes)
    return [covers_without(sizes, (a, n - b)) for b in owned], True


def _all_covered(cells: int, each: int, a: int, b: int) -> Exact:
    """Choices of b tuples, not empty, of so many cells, that leave none of a times `each` cells out."""
    terms = ((-1) ** i * comb(a, i) * _choices(cells - i * each, b) for i in range(a + 1))
    return sum(terms, gmpy2.mpz(0))


def check_work(sizes: Sizes) -> None:
    """Refuse sums of too many terms, before any is worked out."""
    terms = prod(sizes) // max(sizes)
    if terms * prod(sizes) > MOST_WORK:
        raise TooLargeError(
            f"views of {' x '.join(map(str, sizes))} tuples share a join value, nearly all of one side those "
            "of one identity or value: too many for exact numbers, and too uneven for the bound of large ones"
        )


def _least_degree(sizes: Sizes, staked: tuple[int, int], largest: int) -> int:
    """The fewest cells that a tuple of any view but the largest meets besides those at stake."""
    (a, b), cells, middle = staked, prod(sizes), prod(sizes[2:])
    left = [cells // sizes[0] - b * middle, cells // sizes[1] - a * middle]
    left += [(cells - a * b * middle) // size for size in sizes[2:]]
    return min(left[:largest] + left[largest + 1 :])


def _choices(cells: int, tuples: int) -> Exact:
    """How so many tuples can each choose some of so many cells."""
    return ((gmpy2.mpz(1) << cells) - 1) ** tuples


def _kept(
    sizes: Sizes, staked: tuple[int, int], largest: int
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
        n_staked = staked[place]
        return [
            (sign * other_sign, more, kept_staked)
            for other_sign, kept_staked in kept(n_staked)
            for sign, more in kept(sizes[place] - n_staked)
        ]

    further = [[(1, 1)] if place == largest else kept(sizes[place]) for place in range(2, len(sizes))]
    for (a, i, l), (b, n, p), *rest in product(ends(0), ends(1), *further):
        yield a * b * prod(sign for sign, _ in rest), i, l, n, p, tuple(size for _, size in rest)
