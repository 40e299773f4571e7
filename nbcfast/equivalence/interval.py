"""A proof of equivalence in linear time, for domains of any size: docs/mathematics/safety.md, section g."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Numbers, Places
from nbcfast._core.products import product
from nbcfast._halves.terms import Plain

ROUGH_BITS = 256  # of the logarithms of a first look, which most viewsets that differ do not pass
MOST_BITS = 100_000  # of a logarithm
MOST_MEMORY = 1 << 31  # bits of all logarithms
MOST_SECONDS = 30.0  # for all logarithms


class FlatCounts(NamedTuple):
    """The counts of all values, attribute after attribute."""

    of_class: list[int]
    counts: Numbers  # (values, classes); int64 where all fit
    zero: Bools
    starts: Places  # the first value of each attribute

    @classmethod
    def of(cls, plain: Plain) -> FlatCounts:
        rows = [row for of_attribute in plain.rows for row in of_attribute]
        counts = as_array(rows, len(plain.of_class))
        starts = np.cumsum([0, *map(len, plain.rows)])[:-1]
        return cls(plain.of_class, counts, counts == 0, starts)

    def logs(self, bits: int) -> Logarithms:
        """In units of 2^-bits, each within 1; 0 for a count of 0."""
        numbers: list[int] = self.counts.ravel().tolist()
        known = {0: 0, 1: 0}
        longest = max(number.bit_length() for number in (1, *numbers, *self.of_class))
        with gmpy2.context(precision=bits + longest.bit_length() + 8):
            for number in {*numbers, *self.of_class} - {0, 1}:
                known[number] = int(gmpy2.rint(gmpy2.mul_2exp(gmpy2.log(gmpy2.mpz(number)), bits)))
        logs = np.empty(len(numbers), object)
        logs[:] = [known[number] for number in numbers]
        n = len(self.starts)
        factor = 1 - n if n else 1
        return Logarithms(logs.reshape(self.counts.shape), [factor * known[count] for count in self.of_class])


class Logarithms(NamedTuple):
    of_counts: Numbers
    of_class: list[int]  # of P^(1-n)

    def of_pair(self, c: int, d: int) -> tuple[Numbers, int]:
        """The terms of f, one a value, and its constant: off by at most 4n + 2 units in all."""
        return self.of_counts[:, c] - self.of_counts[:, d], self.of_class[c] - self.of_class[d]


def proved_equivalent(a: Plain, b: Plain, *, labels: bool, step: Callable[[], object] = lambda: None) -> bool:
    """Whether b is seen to be equivalent to a; False says nothing.

    f' of b is x f of a, shifted so that ties fall on the right side, up to an error that adds up over the
    attributes. All of f' - x f lies in [low, high]. Where f > 0, f >= m, the bound of the margin, and
    f' >= x m + low must be positive; where f <= 0, f' <= high must not be. Tuples with X_c = 0 or X_d = 0 are
    looked at through the largest and the least f' among them.

    With `labels`, tuples where both are zero matter for the last class only. `step` is called for each pair.
    """
    first, second = FlatCounts.of(a), FlatCounts.of(b)
    n_classes = len(a.of_class)
    if 0 in second.of_class or second.zero.any():
        return False
    pairs = list(combinations(range(n_classes), 2))
    least = [_least(first, c, d) for c, d in pairs]
    longest = max((number.bit_length() for number in second.counts.ravel().tolist()), default=1)
    # Logarithms have to show the margin of the first viewset, and the tilt that puts ties right, which may be
    # as small as the last digit of the published counts.
    bits = max(longest, *(of_pair or 0 for of_pair in least)) + 64 + len(first.starts).bit_length()
    if bits > MOST_BITS or _too_long(first, second, bits):
        return False
    for precision in (ROUGH_BITS, bits):
        if precision > bits // 4 and precision != bits:
            continue  # a first look that costs nearly as much as the proof
        before, after = first.logs(precision), second.logs(precision)
        for (c, d), of_pair in zip(pairs, least, strict=True):
            pair = _PairProof(first, before, after, c, d, of_pair, precision)
            if precision < bits:
                if pair.hopeless():
                    return False
                continue
            if not pair.proved(skip_zeros=labels and d != n_classes - 1):
                return False
            step()
    return True


def _too_long(first: FlatCounts, second: FlatCounts, bits: int) -> bool:
    """Whether so many logarithms would take too much time or memory."""
    known = len(set(first.counts.ravel().tolist())) + len(set(second.counts.ravel().tolist()))
    # 0.2 ms for one of 2^14 bits; the difference of two columns at a time.
    seconds = known * 2e-4 * (bits / 2**14) ** 1.7
    return seconds > MOST_SECONDS or (known + 8 * len(first.counts)) * bits > MOST_MEMORY


def _least(flat: FlatCounts, c: int, d: int) -> int | None:
    """|f| >= 2^-least where both classes are positive and f is not zero; None where they never both are."""
    p, q = flat.of_class[c], flat.of_class[d]
    if p == 0 or q == 0:
        return None
    n = len(flat.starts)
    if n == 0:
        return (min(p, q) + 1).bit_length()
    positive = ~(flat.zero[:, c] | flat.zero[:, d])
    x, y = (np.where(positive, flat.counts[:, k], 0) for k in (c, d))
    if flat.counts.dtype.kind != "O":  # of long numbers this would take long
        common_factors = np.maximum(np.gcd(x, y), 1)
        x, y = x // common_factors, y // common_factors
    tops = [np.maximum.reduceat(numbers, flat.starts).tolist() for numbers in (x, y)]
    if 0 in tops[0]:
        return None
    common = math.gcd(p, q)
    up = product(tops[0]) * gmpy2.mpz(q // common) ** (n - 1)
    down = product(tops[1]) * gmpy2.mpz(p // common) ** (n - 1)
    return int((min(up, down) + 1).bit_length())


class _PairProof:
    """Two classes, with logarithms of so many bits."""

    def __init__(
        self,
        flat: FlatCounts,
        before: Logarithms,
        after: Logarithms,
        c: int,
        d: int,
        least: int | None,
        bits: int,
    ) -> None:
        self._flat, self._c, self._d, self._least, self._bits = flat, c, d, least, bits
        self._f, self._base = before.of_pair(c, d)
        self._g, self._base_after = after.of_pair(c, d)
        self._starts = flat.starts
        self._positive = ~(flat.zero[:, c] | flat.zero[:, d])
        self._error = 4 * len(flat.starts) + 2

    def proved(self, skip_zeros: bool) -> bool:
        """Whether all tuples are seen to be ordered alike; `skip_zeros`: but those where both are zero."""
        if not self._zeros_proved(skip_zeros):
            return False
        if self._least is None:
            return True
        for x in self._scales():
            p, q = x.numerator, x.denominator
            low, high = self._rest(p, q)
            slack = self._error * (p + q)
            if low - slack + (p << (self._bits - self._least)) > 0 and high + slack <= 0:
                return True
        return False

    def hopeless(self) -> bool:
        """Whether f' - x f is for no x so near to zero that more bits could prove anything."""
        if self._least is None or self._least < 2 * self._bits:
            return False
        for x in self._scales():
            p, q = x.numerator, x.denominator
            low, high = self._rest(p, q)
            # What a better x could change is far below this.
            slack = q << (self._bits // 2)
            if low > -slack and high < slack:
                return False
        return True

    def _rest(self, p: int, q: int) -> tuple[int, int]:
        """The least and the greatest q f' - p f where both classes are positive."""
        low = high = q * self._base_after - p * self._base
        if len(self._starts):
            terms = q * self._g - p * self._f
            low += sum(self._extremes(np.minimum, terms, self._positive))
            high += sum(self._extremes(np.maximum, terms, self._positive))
        return low, high

    def _extremes(self, extreme: np.ufunc, numbers: Numbers, counted: Bools) -> list[int]:
        """The least or greatest number of each attribute, of those that are counted; there must be one."""
        far = 1 << 8 * self._bits  # beyond all numbers times p or q
        numbers = np.where(counted, numbers, far if extreme is np.minimum else -far)
        extremes: list[int] = extreme.reduceat(numbers, self._starts).tolist()
        return extremes

    def _scales(self) -> Iterator[Fraction]:
        """What x may be: 1/k for the k of a transform, and the ratio of the widest attribute."""
        best: tuple[int, int] | None = None
        if len(self._starts):
            low = self._extremes(np.minimum, self._f, self._positive)
            high = self._extremes(np.maximum, self._f, self._positive)
            widths = [top - bottom for bottom, top in zip(low, high, strict=True)]
            widest = max(range(len(widths)), key=widths.__getitem__)
            ends = [*self._starts.tolist(), len(self._f)]
            of_attribute = slice(ends[widest], ends[widest + 1])
            ends_of_both = list(
                zip(
                    self._f[of_attribute][self._positive[of_attribute]].tolist(),
                    self._g[of_attribute][self._positive[of_attribute]].tolist(),
                    strict=True,
                )
            )
            best = widths[widest], max(ends_of_both)[1] - min(ends_of_both)[1]
        if best is None or best[0] <= 0 or best[1] <= 0:
            yield Fraction(1)
            return
        k = Fraction(*best)
        if k >= Fraction(1, 2):
            yield Fraction(64, max(1, round(64 * k)))
            yield Fraction(1, max(1, round(k)))
        yield 1 / k

    def _zeros_proved(self, skip_zeros: bool) -> bool:
        """Whether f' < 0 wherever X_c = 0 in a, and f' > 0 where X_c > 0 = X_d."""
        worst = self._most(self._c, self._d if skip_zeros else None, 1)
        if worst is not None and worst + self._base_after + self._error >= 0:
            return False
        worst = self._most(self._d, self._c, -1)
        return worst is None or -worst + self._base_after - self._error > 0

    def _most(self, zero: int, positive: int | None, sign: int) -> int | None:
        """The largest sign * f', less its base, where one class is zero and the other, if given, is not."""
        flat = self._flat
        if positive is not None and flat.of_class[positive] == 0:
            return None
        is_zero = flat.zero[:, zero]
        may = np.ones(len(is_zero), bool) if positive is None else ~flat.zero[:, positive]
        if flat.of_class[zero] and not (is_zero & may).any():
            return None
        if len(self._starts) == 0:
            return 0
        if not np.logical_or.reduceat(may, self._starts).all():
            return None
        numbers = sign * self._g
        most = self._extremes(np.maximum, numbers, may)
        total = sum(most)
        if flat.of_class[zero] == 0:
            return total
        # One attribute at least must have a value of count 0, where that costs the least.
        with_zero = np.logical_or.reduceat(is_zero & may, self._starts)
        most_zero = self._extremes(np.maximum, numbers, is_zero & may)
        return total - min(
            best - best_zero
            for best, best_zero, has in zip(most, most_zero, with_zero.tolist(), strict=True)
            if has
        )


def as_array(rows: list[list[int]], width: int) -> Numbers:
    """Of int64 where all fit, else of Python ints."""
    try:
        return np.array(rows, dtype=np.int64).reshape(-1, width)
    except OverflowError:
        array = np.empty((len(rows), width), object)
        array[:] = rows
        return array


def proportional(a: Plain, b: Plain) -> bool:
    """Whether all counts of the one are the same multiple of those of the other: then every X is."""
    p, q = math.gcd(*a.of_class), math.gcd(*b.of_class)
    return [q * count for count in a.of_class] == [p * count for count in b.of_class] and all(
        [q * count for count in row] == [p * count for count in row_too]
        for rows, rows_too in zip(a.rows, b.rows, strict=True)
        for row, row_too in zip(rows, rows_too, strict=True)
    )
