"""Ratios of two scores: floats find the largest, integers decide.

That they are the ones to look at is proved in docs/mathematics/safety.md#safety-lambda.
"""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Counts, Floats, Longs
from nbcfast._core.numbers import ROUND_OFF
from nbcfast._core.products import product
from nbcfast._core.untyped import Exact
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.integers import column_sums

MOST_BITS = 20_000  # of numerator and denominator of a value that is written out
MOST_FACTOR_BITS = 1 << 20  # of all factors before they are reduced; beyond, a value is not even computed

# A count as a double is within 2 ROUND_OFF of its mantissa (a long one is cut off), a quotient of two then
# within 5.1: everything less than the largest one by RATIO_ERROR twice cannot be the maximum.
RATIO_ERROR = 8 * ROUND_OFF
# Quotients of counts below this differ by more than a unit in the last place unless they are equal.
EXACT_QUOTIENTS = 1 << 26

LabelPair = tuple[Value, Value]


class Quotient:
    """(P_d / P_c)^(n-1) prod_i N^i_c / N^i_d, kept as factors; `rows` are the values it is taken at."""

    def __init__(
        self, tops: list[int], bottoms: list[int], top: int, bottom: int, power: int, rows: Longs
    ) -> None:
        self.tops, self.bottoms = tops, bottoms
        self.top, self.bottom, self.power = top, bottom, power
        self.rows = rows
        self.bits = sum(map(int.bit_length, tops)) + sum(map(int.bit_length, bottoms))
        self.bits += power * (top.bit_length() + bottom.bit_length())

    def exactly(self) -> tuple[Exact, Exact]:
        """Numerator and denominator, not reduced."""
        return (
            product(self.tops) * gmpy2.mpz(self.top) ** self.power,
            product(self.bottoms) * gmpy2.mpz(self.bottom) ** self.power,
        )

    def approximately(self, precision: int) -> tuple[Exact, Exact]:
        """An mpfr number and a bound of its relative error."""
        with gmpy2.context(precision=precision):
            result = gmpy2.mpfr(1)
            for x, y in zip(self.tops, self.bottoms, strict=True):
                result *= gmpy2.mpfr(x) / gmpy2.mpfr(y)
            result *= (gmpy2.mpfr(self.top) / gmpy2.mpfr(self.bottom)) ** self.power
            # Four roundings a factor, three under the power and one of it.
            return result, gmpy2.mpfr(4 * len(self.tops) + 4 * self.power + 4) * gmpy2.exp2(1 - precision)

    def value(self) -> Fraction | None:
        if self.bits > MOST_FACTOR_BITS:
            return None
        top, bottom = self.exactly()
        common = gmpy2.gcd(top, bottom)
        top, bottom = top // common, bottom // common
        if top.bit_length() + bottom.bit_length() > MOST_BITS:
            return None
        return Fraction(int(top), int(bottom))

    def log(self) -> float:
        number, _ = self.approximately(192)
        with gmpy2.context(precision=192):
            return max(0.0, float(gmpy2.log(number)))

    def compare(self, top: int, bottom: int, other: Quotient | None = None) -> int:
        """-1, 0 or 1 as this is below, at or above top / bottom times the other product."""
        size = self.bits + (0 if other is None else other.bits)
        precision = 128
        while precision <= min(size // 8, 8192):  # beyond that the exact product costs little more
            mine, error = self.approximately(precision)
            theirs, more = (1, 0) if other is None else other.approximately(precision)
            with gmpy2.context(precision=precision):
                theirs = theirs * (gmpy2.mpfr(top) / gmpy2.mpfr(bottom))
                room = 2 * (error + more + gmpy2.exp2(4 - precision)) * theirs
                if abs(mine - theirs) > room:
                    return 1 if mine > theirs else -1
            precision *= 8
        a, b = self.exactly()
        x, y = (1, 1) if other is None else other.exactly()
        left, right = a * bottom * y, b * top * x
        return int(left > right) - int(left < right)


class Ratios:
    """The counts of all attributes in one array, with what is needed for ratios of two of its columns."""

    def __init__(self, views: Viewset) -> None:
        self.views = views
        self.n_classes = len(views.class_counts)
        self.of_class: list[int] = views.class_counts.tolist()
        if not any(self.of_class):
            raise ValueError("views: no rows")
        arrays = list(views.counts.values())
        self.n = len(arrays)
        sizes = [len(array) for array in arrays]
        self.starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        self.attribute = np.repeat(np.arange(self.n), sizes)
        self.counts = np.concatenate(arrays) if arrays else np.zeros((0, self.n_classes), np.int64)
        self.mantissas, self.exponents = _split(self.counts)
        positive = self.mantissas > 0
        self.positive = None if bool(positive.all()) else positive
        # A class can be a numerator where each attribute has a value that some of its rows have.
        supported = np.array([p > 0 and 0 not in sizes for p in self.of_class])
        if self.positive is not None and 0 not in sizes:
            supported = supported & np.logical_or.reduceat(positive, self.starts, axis=0).all(axis=0)
        self.supported: Bools = supported
        if not supported.any():
            raise ValueError(
                "views: no tuple has a positive score in any class, so there are no odds to compare"
            )

    def labels(self, c: int, d: int) -> LabelPair:
        return self.views.classes[c], self.views.classes[d]

    def tuple_of(self, rows: Longs) -> dict[str, Value]:
        """The values at these rows, one of each attribute."""
        places = (rows - self.starts).tolist()
        return {
            name: self.views.domain(name)[place]
            for name, place in zip(self.views.attributes, places, strict=True)
        }

    def most_frequent(self, c: int) -> Longs:
        """For each attribute the first value with the most rows of the class; nearly so for huge counts."""
        if not self.n:
            return self.starts
        values = self.mantissas[:, c]
        if self.exponents is not None:
            values = np.where(values > 0, np.log2(np.maximum(values, 1)) + self.exponents[:, c] + 1, 0)
        best = np.maximum.reduceat(values, self.starts)
        return self._first(np.flatnonzero(values == best[self.attribute]))

    def infinite(self) -> tuple[int, int, Longs] | None:
        """Classes c and d, and a tuple with X_c > 0 = X_d; None where there is none."""
        empty = [d for d in range(self.n_classes) if self.of_class[d] == 0]
        if self.positive is None and not empty:
            return None
        for c in np.flatnonzero(self.supported).tolist():
            mine = None if self.positive is None else self.positive[self.positive[:, c]]
            lacking: Bools = np.zeros(self.n_classes, bool)
            if mine is not None:
                lacking |= ~mine.all(axis=0)
            lacking[empty] = True
            if not lacking.any():
                continue
            d = int(np.argmax(lacking))
            rows = self.most_frequent(c).copy()
            if self.of_class[d] and self.positive is not None:
                row = int(np.argmax(self.positive[:, c] & ~self.positive[:, d]))
                rows[self.attribute[row]] = row
            return c, d, rows
        return None

    def _first(self, rows: Longs) -> Longs:
        """The first of these rows of each attribute."""
        result: Longs = rows[np.unique(self.attribute[rows], return_index=True)[1]]
        return result

    def largest_quotients(self, d: int) -> tuple[Floats, Longs | None]:
        """For each attribute and class c the largest N_c / N_d: mantissa and exponent, within RATIO_ERROR."""
        quotients, exponents = self._quotients(slice(None), d)
        if exponents is None:
            return np.maximum.reduceat(quotients, self.starts, axis=0), None
        best = np.maximum.reduceat(exponents, self.starts, axis=0)
        quotients[exponents < best[self.attribute]] = 0
        return np.maximum.reduceat(quotients, self.starts, axis=0), best

    def _quotients(self, c: int | slice, d: int) -> tuple[Floats, Longs | None]:
        # Not infinite: where the lower count is 0 the upper one is, or its class is no numerator.
        below = self.mantissas[:, d]
        below = np.where(below > 0, below, 1.0) if self.positive is not None else below
        shaped = below[:, np.newaxis] if isinstance(c, slice) else below
        quotients = self.mantissas[:, c] / shaped
        if self.exponents is None:
            return quotients, None
        exponents = self.exponents[:, d]
        exponents = self.exponents[:, c] - (exponents[:, np.newaxis] if isinstance(c, slice) else exponents)
        mantissas, shifts = np.frexp(quotients)
        exponents = np.where(mantissas > 0, exponents + shifts, np.iinfo(np.int64).min // 4)
        return mantissas, exponents

    def all_pairs(self) -> tuple[Floats, Longs, float]:
        """(P_d / P_c)^(n-1) prod_i max_t N_c / N_d of every c and d: mantissas, exponents, relative error.

        The mantissa is 0 where c and d are the same or c is no numerator.
        """
        size = self.n_classes
        mantissas = np.zeros((size, size))
        exponents = np.zeros((size, size), np.int64)
        if self.n:
            for d in range(size):
                mantissas[:, d], exponents[:, d] = _product(*self.largest_quotients(d))
        else:
            mantissas[:] = 1.0
        sizes, size_exponents = _split(np.array(self.of_class, dtype=object))
        quotients, shifts = np.frexp(sizes / np.maximum(sizes, 1)[:, np.newaxis])  # [c, d] is P_d / P_c
        quotient_exponents = shifts.astype(np.int64)
        if size_exponents is not None:
            quotient_exponents += size_exponents - size_exponents[:, np.newaxis]
        if self.n == 0:
            quotients, quotient_exponents = quotients.T, quotient_exponents.T
        power, powers = max(self.n - 1, 1 if self.n == 0 else 0), (mantissas, exponents)
        while power:  # square and multiply
            if power & 1:
                powers = _times(*powers, quotients, quotient_exponents)
            power >>= 1
            quotients, quotient_exponents = _times(
                quotients, quotient_exponents, quotients, quotient_exponents
            )
        mantissas, exponents = powers
        mantissas[~self.supported] = 0
        mantissas[np.arange(size), np.arange(size)] = 0
        # A quotient is within RATIO_ERROR = 8, one rounding a factor; the same for the n - 1 of the power,
        # whose squarings add up to less than two roundings a factor.
        return mantissas, exponents, 24 * (self.n + 2) * ROUND_OFF

    def largest(self) -> tuple[int, int, Quotient]:
        """The pair of classes with the largest product, the first of equal ones."""
        mantissas, exponents, error = self.all_pairs()
        exponents = np.where(mantissas > 0, exponents, np.iinfo(np.int64).min // 4)
        top = exponents.max()
        highest = float(mantissas[exponents == top].max())
        # Mantissas lie in [1/2, 1): one power of two down may still be within the error.
        scaled = np.where(exponents >= top - 1, np.ldexp(mantissas, np.maximum(exponents - top, -1)), 0)
        candidates = np.argwhere(scaled >= highest * (1 - 3 * error)).tolist()
        c, d = candidates[0]
        best = self.product(c, d)
        for e, f in candidates[1:]:
            other = self.product(e, f)
            if other.compare(1, 1, best) > 0:
                c, d, best = e, f, other
        return c, d, best

    def at_most(self, bound: Fraction) -> bool:
        mantissas, exponents, error = self.all_pairs()
        present = mantissas > 0
        if bound <= 0:
            return False
        # The bound as mantissa and exponent, like the products; its own error is that of a quotient.
        mantissa, exponent = _split_fraction(bound)
        shift = np.clip(exponents - exponent, -4, 4)
        scaled = np.where(present, np.ldexp(mantissas, shift), 0.0)
        if (scaled > mantissa * (1 + 2 * error)).any():
            return False
        # Only what the error leaves open is worth a product of integers; on the limit itself that decides.
        undecided = np.argwhere(scaled >= mantissa * (1 - 2 * error)).tolist()
        return all(self.product(c, d).compare(bound.numerator, bound.denominator) <= 0 for c, d in undecided)

    def product(self, c: int, d: int) -> Quotient:
        rows = self.largest_rows(c, d)
        if self.n == 0:
            return Quotient([], [], self.of_class[c], self.of_class[d], 1, rows)
        tops, bottoms = self.counts[rows, c].tolist(), self.counts[rows, d].tolist()
        return Quotient(tops, bottoms, self.of_class[d], self.of_class[c], self.n - 1, rows)

    def largest_rows(self, c: int, d: int) -> Longs:
        """For each attribute the first value with the largest N_c / N_d, exactly."""
        if not self.n:
            return self.starts
        quotients, exponents = self._quotients(c, d)
        if exponents is not None:
            best_exponents = np.maximum.reduceat(exponents, self.starts)[self.attribute]
            quotients = np.where(
                exponents >= best_exponents - 1,
                np.ldexp(quotients, np.maximum(exponents - best_exponents, -1)),
                0.0,
            )
        best = np.maximum.reduceat(quotients, self.starts)[self.attribute]
        if exponents is None and int(self.counts[:, [c, d]].max()) < EXACT_QUOTIENTS:
            return self._first(np.flatnonzero(quotients == best))
        rows = np.flatnonzero(quotients >= best * (1 - 2 * RATIO_ERROR))
        first = self._first(rows)
        if len(rows) == self.n:
            return first
        # What is the same fraction as the first candidate is no rival.
        tops, bottoms = self.counts[rows, c], self.counts[rows, d]
        if exponents is None:
            common = np.gcd(tops, bottoms)
            leader = np.searchsorted(rows, first)[self.attribute[rows]]
            reduced_tops, reduced_bottoms = tops // common, bottoms // common
            rival = (reduced_tops != reduced_tops[leader]) | (reduced_bottoms != reduced_bottoms[leader])
            rows, tops, bottoms = rows[rival], tops[rival], bottoms[rival]
        result = first.tolist()
        highest = list(zip(self.counts[first, c].tolist(), self.counts[first, d].tolist(), strict=True))
        for row, x, y in zip(rows.tolist(), tops.tolist(), bottoms.tolist(), strict=True):
            i = self.attribute[row]
            a, b = highest[i]
            if x * b > a * y:
                highest[i], result[i] = (x, y), row
        return np.array(result, np.int64)


def _split(counts: Counts) -> tuple[Floats, Longs | None]:
    """Counts as mantissa * 2^exponent; without exponents where doubles are wide enough."""
    if counts.dtype.kind != "O":
        return counts.astype(np.float64), None
    flat = counts.ravel().tolist()
    longest = max((number.bit_length() for number in flat), default=0)
    if longest <= 400:  # a quotient neither overflows nor falls below the normal doubles
        return np.array([float(number) for number in flat]).reshape(counts.shape), None
    shifts = [max(number.bit_length() - 53, 0) for number in flat]
    mantissas = [float(number >> shift) for number, shift in zip(flat, shifts, strict=True)]
    return np.array(mantissas).reshape(counts.shape), np.array(shifts, np.int64).reshape(counts.shape)


def _split_fraction(number: Fraction) -> tuple[float, int]:
    """A positive fraction as mantissa in [1/2, 1] and exponent, within two roundings."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    scaled = number / Fraction(2) ** exponent  # in (1/2, 2)
    mantissa, shift = math.frexp(float(scaled))
    return mantissa, exponent + shift


def _product(mantissas: Floats, exponents: Longs | None) -> tuple[Floats, Longs]:
    """The product down the columns; mantissas return to [1/2, 1) before so many that they could underflow."""
    mantissas, shifts = np.frexp(mantissas)
    total = shifts.sum(axis=0, dtype=np.int64)
    if exponents is not None:
        total += exponents.sum(axis=0)
    while len(mantissas) > 1:
        mantissas = np.multiply.reduceat(mantissas, np.arange(0, len(mantissas), 512), axis=0)
        mantissas, shifts = np.frexp(mantissas)
        total += shifts.sum(axis=0, dtype=np.int64)
    return mantissas[0], total


def _times(a: Floats, a_exponents: Longs, b: Floats, b_exponents: Longs) -> tuple[Floats, Longs]:
    mantissas, shifts = np.frexp(a * b)
    return mantissas, a_exponents + b_exponents + shifts


def check_realistic(views: Viewset) -> None:
    expected = views.class_counts.tolist()
    if not any(expected):
        raise ValueError("views: no rows")
    for name, array in views.counts.items():
        sums = column_sums(array) if len(array) else [0] * len(expected)
        for label, mine, total in zip(views.classes, sums, expected, strict=True):
            if mine != total:
                raise ValueError(
                    f"views must be realistic: the counts of attribute {name!r} add up to {mine} in class "
                    f"{label!r}, which has {total} rows"
                )
