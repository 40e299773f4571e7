"""Roots of all counts, plain or in the canonical gauge, as integers times powers of two.

What the gauge takes away, and that it changes no score, is proved in docs/mathematics/safety.md, section m.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import mul
from typing import NamedTuple

import gmpy2
import numpy as np

from nbcfast import _roots
from nbcfast._core.dtypes import Floats, Longs, Words
from nbcfast._core.untyped import Exact
from nbcfast.transform.roots import Dyadic, Roots, from_limbs, in_limbs, root, roots, roots_in_limbs, to_bits
from nbcfast.transform.zeros import Filled

LEAST_FLOAT = 1e-280  # below, floats begin to lose bits
SNAP = 52  # bits after the last that two ways to the same number may differ in


class Weighting(NamedTuple):
    """Class weights are multiplied by number^power, one positive number a class: F_c^y of EST."""

    numbers: tuple[int, ...]
    power: Fraction


@dataclass(frozen=True)
class RootedNumbers:
    """What `Scaled` holds: q and w as integers times powers of two, and floats in the same proportions."""

    numbers: list[list[Exact]]
    exponent: int
    weights: list[Exact]
    weight_exponent: int
    floats: Floats | None


class RootedCounts:
    """Which numbers to take the k-th root of: the distinct counts, and nu(t) 2^(-e_c) for every zero."""

    def __init__(self, filled: Filled, k: Fraction, weighting: Weighting | None = None) -> None:
        flat = filled.flat
        self.flat, self.k, self.weighting = flat, k, weighting
        if flat.counts.dtype.kind == "O":
            listed = sorted({number for row in flat.counts.tolist() for number in row} | {1})
            where = {number: place for place, number in enumerate(listed)}
            places: Longs = np.array([[where[n] for n in row] for row in flat.counts.tolist()], np.int64)
        else:
            distinct, places = np.unique(flat.counts, return_inverse=True)
            listed = distinct.tolist()
        self.places = np.ascontiguousarray(places.reshape(flat.counts.shape), np.int64)
        if listed and listed[0] == 0:
            listed[0] = 1
        self.listed: list[int] = listed
        self.zeros: list[tuple[int, int]] = []  # (nu, e): (nu 2^-e)^(1 / k)
        known: dict[tuple[int, int], int] = {}
        rows, columns = np.nonzero(flat.zero)
        for t, c, unit in zip(rows.tolist(), columns.tolist(), flat.unit[rows].tolist(), strict=True):
            place = known.get((unit, c))
            if place is None:
                place = known[unit, c] = len(listed) + len(self.zeros)
                self.zeros.append((unit, filled.exponents[c]))
            self.places[t, c] = place

    def roots(self, bits: int) -> Roots:
        rooted = roots(self.listed, self.k, bits) if self.listed else Roots([], [])
        for mantissa, exponent in self._roots_of_zeros(bits):
            rooted.mantissas.append(mantissa)
            rooted.exponents.append(exponent)
        return rooted

    def _roots_of_zeros(self, bits: int) -> list[Dyadic]:
        top, bottom = self.k.denominator, self.k.numerator
        return [root(unit, top, bottom, bits, -exponent * top) for unit, exponent in self.zeros]

    def in_limbs(self, limbs: int) -> tuple[Words, Longs]:
        mantissas, exponents = roots_in_limbs(self.listed, self.k, limbs)
        if not self.zeros:
            return mantissas, exponents
        pairs = self._roots_of_zeros(64 * limbs)
        more = [exponent + 64 * limbs for _, exponent in pairs]
        return (
            np.concatenate([mantissas, in_limbs([mantissa for mantissa, _ in pairs], limbs)]),
            np.concatenate([exponents, np.array(more, np.int64)]),
        )

    def weight(self, c: int, bits: int) -> Dyadic:
        """P_c^((1-n) / k), times what the weighting says."""
        if self.weighting is None or not self.weighting.power:
            return self._weight(c, bits)
        number = gmpy2.mpz(self.weighting.numbers[c])
        # The product of two roundings, to so many more bits that the last one decides.
        spare = bits + 64 + number.bit_length().bit_length()
        with gmpy2.context(precision=spare):
            value = gmpy2.exp(gmpy2.log(number) * gmpy2.mpq(self.weighting.power))
            mantissa, exponent = (_real(*self._weight(c, spare)) * value).as_mantissa_exp()
        return to_bits(gmpy2.mpz(mantissa), int(exponent), bits)

    def _weight(self, c: int, bits: int) -> Dyadic:
        power = (1 - self.flat.n) / self.k
        if power == 0 or self.flat.of_class[c] == 1:
            return gmpy2.mpz(1) << (bits - 1), 1 - bits
        return root(self.flat.of_class[c], power.numerator, power.denominator, bits)


def plain_numbers(
    filled: Filled, k: Fraction, bits: int, weighting: Weighting | None = None
) -> RootedNumbers:
    powers = RootedCounts(filled, k, weighting)
    rooted = powers.roots(bits)
    lowest = min(rooted.exponents, default=0)
    aligned = [m << (e - lowest) for m, e in zip(rooted.mantissas, rooted.exponents, strict=True)]
    numbers = [[aligned[place] for place in row] for row in powers.places.tolist()]
    weights, low = _aligned([powers.weight(c, bits) for c in range(powers.flat.n_classes)])
    return RootedNumbers(numbers, lowest, weights, low, _floats(numbers, powers.flat.n_classes))


def _floats(numbers: list[list[Exact]], n_classes: int) -> Floats | None:
    """Floats in proportion to the integers; None where floats are too few."""
    longest = max((number.bit_length() for row in numbers for number in row), default=0)
    shortest = min((number.bit_length() for row in numbers for number in row), default=0)
    if not numbers:
        return np.ones((0, n_classes))
    if longest - shortest > 900:
        return None
    cut = max(0, longest - 960)
    if cut:
        return np.array([[float(number >> cut) for number in row] for row in numbers])
    return np.array([[float(number) for number in row] for row in numbers])


def _aligned(pairs: list[Dyadic]) -> tuple[list[Exact], int]:
    lowest = min((exponent for _, exponent in pairs), default=0)
    return [mantissa << (exponent - lowest) for mantissa, exponent in pairs], int(lowest)


def gauged_numbers(
    filled: Filled, k: Fraction, bits: int, weighting: Weighting | None = None
) -> RootedNumbers:
    """The canonical gauge (step 2'), at 64 bits more than asked for before the one rounding.

    Centring a value over the classes and dividing it by its sum at the end cancel, so that
    q_c = (N_c^(1/k) / F_c) / sum_d (N_d^(1/k) / F_d), with F_c the geometric mean over the values.
    """
    flat = filled.flat
    longest = int(np.diff(flat.starts).max(initial=1))
    precision = bits + 72 + flat.n.bit_length() + longest.bit_length() + flat.n_classes.bit_length()
    limbs = -(-precision // 64)
    powers = RootedCounts(filled, k, weighting)
    weights = []
    floats: Floats | None
    if 64 * limbs <= _roots.MOST_BITS and flat.n and limbs >= 2:
        with wide(64 * limbs):
            weights = [_real(*powers.weight(c, 64 * limbs)) for c in range(flat.n_classes)]
        numbers, lowest, floats = _gauged_by_kernel(powers, weights, limbs, bits)
        if floats.min(initial=1) < LEAST_FLOAT:
            floats = None
    else:
        with wide(precision):
            weights = [_real(*powers.weight(c, precision)) for c in range(flat.n_classes)]
        numbers, lowest = _gauged_by_mpfr(powers, weights, precision, bits)
        floats = _floats(numbers, flat.n_classes)
    with wide(precision):
        centre = gmpy2.rootn(reduce(mul, weights, gmpy2.mpfr(1)), flat.n_classes)
        weights = [weight / centre for weight in weights]
    aligned, low = _aligned([_rounded_twice(weight, bits) for weight in weights])
    return RootedNumbers(numbers, lowest, aligned, low, floats)


def wide(precision: int) -> AbstractContextManager[object]:
    """A context whose exponents are as long as MPFR has them: a replaced zero may be 2^-1000000000000."""
    context: AbstractContextManager[object] = gmpy2.context(
        precision=precision, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min()
    )
    return context


def _real(mantissa: Exact, exponent: int) -> Exact:
    number = gmpy2.mpfr(mantissa)
    return gmpy2.mul_2exp(number, exponent) if exponent >= 0 else gmpy2.div_2exp(number, -exponent)


def _rounded_twice(number: Exact, bits: int) -> Dyadic:
    """At `bits` bits, to nearest; equal reals give equal digits, however they were computed.

    Rounding twice makes numbers of few bits out of what came out a hair beside them. Without the first of the
    two, two views of equal ratios could give two files, and the file would tell more than the ratios.
    """
    with wide(bits + SNAP):
        number = +number
    with wide(bits):
        mantissa, exponent = (+number).as_mantissa_exp()
    return mantissa, int(exponent)


def _gauged_by_kernel(
    powers: RootedCounts, weights: list[Exact], limbs: int, bits: int
) -> tuple[list[list[Exact]], int, Floats]:
    """Q as integers, their exponent and floats; the means go into the weights."""
    flat = powers.flat
    n_rows, n_classes = flat.counts.shape
    mantissas, exponents = powers.in_limbs(limbs)
    products = np.empty((flat.n, n_classes, limbs), np.uint64)
    product_exponents = np.empty((flat.n, n_classes), np.int64)
    _roots.products(mantissas, exponents, powers.places, flat.starts, products, product_exponents)
    listed, powers_of_two = from_limbs(products), product_exponents.reshape(-1).tolist()
    sizes = np.repeat(np.diff(flat.starts), n_classes).tolist()
    inverses = []
    with wide(64 * limbs):
        for place, (product, exponent, size) in enumerate(zip(listed, powers_of_two, sizes, strict=True)):
            mean = gmpy2.rootn(_real(product, exponent - 64 * limbs), size)
            weights[place % n_classes] *= mean
            inverses.append((1 / mean).as_mantissa_exp())
    shifts = [64 * limbs - mantissa.bit_length() for mantissa, _ in inverses]
    tops = in_limbs([m << shift for (m, _), shift in zip(inverses, shifts, strict=True)], limbs)
    tops_exponents = [int(e) - shift + 64 * limbs for (_, e), shift in zip(inverses, shifts, strict=True)]
    results = np.empty((n_rows, n_classes, _roots.size(bits)), np.uint64)
    result_exponents = np.empty((n_rows, n_classes), np.int64)
    floats = np.empty((n_rows, n_classes))
    _roots.gauge(
        mantissas,
        exponents,
        powers.places,
        flat.starts,
        tops.reshape(flat.n, n_classes, limbs),
        np.array(tops_exponents, np.int64).reshape(flat.n, n_classes),
        min(bits + SNAP, 64 * limbs),
        bits,
        results,
        result_exponents,
        floats,
    )
    lowest = int(result_exponents.min())
    shifted = (result_exponents - lowest).reshape(-1).tolist()
    aligned = [m << shift for m, shift in zip(from_limbs(results), shifted, strict=True)]
    numbers = [aligned[at : at + n_classes] for at in range(0, len(aligned), n_classes)]
    return numbers, lowest, floats


def _gauged_by_mpfr(
    powers: RootedCounts, weights: list[Exact], precision: int, bits: int
) -> tuple[list[list[Exact]], int]:
    """Q as integers and their exponent, by MPFR, at as many bits as one likes; the means go into the weights.

    Bit for bit what `_gauged_by_kernel` finds: the file does not tell which of them made it.
    """
    starts = powers.flat.starts.tolist()
    rooted = powers.roots(precision)
    pairs: list[list[Dyadic]] = []
    with wide(precision):
        one = gmpy2.mpfr(1)
        values = [_real(*pair) for pair in zip(rooted.mantissas, rooted.exponents, strict=True)]
        for start, stop in pairwise(starts):
            block = [[values[place] for place in row] for row in powers.places[start:stop].tolist()]
            wholes = [reduce(mul, column, one) for column in zip(*block, strict=True)]
            means = [gmpy2.rootn(whole, stop - start) for whole in wholes]
            weights[:] = [weight * mean for weight, mean in zip(weights, means, strict=True)]
            inverses = [one / mean for mean in means]
            for row in block:
                moved = [number * inverse for number, inverse in zip(row, inverses, strict=True)]
                whole = one / sum(moved)
                pairs.append([_rounded_twice(number * whole, bits) for number in moved])
    lowest = min((exponent for row in pairs for _, exponent in row), default=0)
    return [[mantissa << (exponent - lowest) for mantissa, exponent in row] for row in pairs], lowest
