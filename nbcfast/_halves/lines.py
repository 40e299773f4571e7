"""f = ln X_c - ln X_d as a sum over the attributes, in fixed point, and the split into halves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast._core.products import product
from nbcfast._core.threads import helped
from nbcfast._margin import NONE, ONLY, REAL, Exact, Lists, outer, settle

First = TypeVar("First")
Second = TypeVar("Second")
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

BITS = 128  # of the fixed point that the int64 numbers are rounded from
MOST_SCALE = 118  # so that such a rounding is off by hardly more than a half
REAL_BITS = 59  # all sums of logarithms stay below half of REAL

MOST_HALF = 25_000_000  # sums in one half: some 40 bytes each
MOST_WORK = 2_000_000_000  # sums looked at for all pairs of classes, some 20 ns each

LARGE = 200_000  # sums: a second thread is worth its waking

SMALL = 1 << 512  # below, Python's own arithmetic is quick; above, its time grows with the square
MOST_REDUCED = 1 << 18  # bits: a common factor of longer numbers takes too long to find


def common_factor(*numbers: int) -> int:
    """The greatest common factor, of long numbers too."""
    if all(number < SMALL for number in numbers):
        return math.gcd(*numbers)
    return int(gmpy2.gcd(*map(gmpy2.mpz, numbers)))


class Term(NamedTuple):
    """A factor up / down of X_c / X_d; `mark` is NONE where N_c = 0, ONLY where N_d alone is."""

    mark: int
    up: Any  # int or mpz
    down: Any

    @classmethod
    def of(cls, x: int, y: int) -> Term:
        """In lowest terms."""
        if x == 0:
            return _NO
        if y == 0:
            return _YES
        common = common_factor(x, y)
        if common == 1:
            return cls(0, x, y)
        if x < SMALL and y < SMALL:
            return cls(0, x // common, y // common)
        return cls(0, gmpy2.mpz(x) // common, gmpy2.mpz(y) // common)

    @classmethod
    def product(cls, terms: Sequence[Term]) -> Term:
        """In lowest terms unless its numbers are very long."""
        marks = {term.mark for term in terms}
        if NONE in marks:
            return _NO
        if ONLY in marks:
            return _YES
        up, down = product(term.up for term in terms), product(term.down for term in terms)
        if min(up.bit_length(), down.bit_length()) <= MOST_REDUCED:
            common = gmpy2.gcd(up, down)
            up, down = up // common, down // common
        return cls(0, up, down)


_NO, _YES = Term(NONE, 1, 1), Term(ONLY, 1, 1)


class Plain:
    """A viewset as lists of Python integers."""

    def __init__(self, of_class: list[int], rows: list[list[list[int]]]) -> None:
        self.of_class = of_class
        self.rows = rows

    @classmethod
    def of(cls, views: Any) -> Plain:
        """From a Viewset, or from class counts and a list of arrays."""
        if isinstance(views, tuple):
            of_class, arrays = views
            return cls(list(map(int, of_class)), [np.asarray(array).tolist() for array in arrays])
        return cls(views.class_counts.tolist(), [array.tolist() for array in views.counts.values()])

    def base(self, c: int, d: int) -> Term:
        """(P_d / P_c)^(n-1): a class without rows has X = 0."""
        n = len(self.rows)
        term = Term.of(self.of_class[c], self.of_class[d])
        if term.mark or n == 0:
            return term
        return Term(0, gmpy2.mpz(term.down) ** (n - 1), gmpy2.mpz(term.up) ** (n - 1))


class Logs:
    """Natural logarithms in fixed point, each made once."""

    def __init__(self) -> None:
        self._of: dict[int, dict[int | str, int]] = {}

    def of(self, term: Term, bits: int) -> int:
        """2^bits ln(up / down), within 2."""
        return self.log(term.up, bits) - self.log(term.down, bits) if term.up != term.down else 0

    def log(self, number: int, bits: int) -> int:
        known = self._of.setdefault(bits, {})
        # By text where whoever writes a file can choose numbers that share their hash.
        key = number if number < 1 << 60 else hex(number)
        found = known.get(key)
        if found is None:
            found = known[key] = self._made(number, bits)
        return found

    @staticmethod
    def _made(number: int, bits: int) -> int:
        if number == 1:
            return 0
        with gmpy2.context(precision=bits + number.bit_length().bit_length() + 8):
            return int(gmpy2.rint(gmpy2.mul_2exp(gmpy2.log(gmpy2.mpz(number)), bits)))


class Split(NamedTuple):
    """Positions of the attributes: outside, in half a, in half b."""

    outside: tuple[int, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    blocks: int  # combinations of the values outside
    n: int  # of those in half a
    m: int  # of those in half b


def split(sizes: Sequence[int], most: int, work: int) -> Split | None:
    """Two halves with few sums, the second not longer; attributes outside where these are too many."""
    outside: tuple[int, ...] = ()
    inside = [position for position, size in enumerate(sizes) if size != 1]
    if sum(math.log2(sizes[position]) for position in inside) > math.log2(most) * 2 + math.log2(max(work, 1)):
        return None
    while True:
        a, b = _halves([sizes[position] for position in inside])
        found = Split(
            outside,
            tuple(inside[place] for place in a),
            tuple(inside[place] for place in b),
            math.prod(sizes[position] for position in outside),
            math.prod(sizes[inside[place]] for place in a),
            math.prod(sizes[inside[place]] for place in b),
        )
        if found.blocks * (found.n + found.m) > work:
            return None
        if found.n <= most:
            return found
        largest = max(inside, key=lambda position: sizes[position])
        inside.remove(largest)
        outside += (largest,)


def _halves(sizes: list[int]) -> tuple[list[int], list[int]]:
    """Places of two groups with products as equal as can be found, the first the larger."""
    groups = [[place] for place in range(len(sizes))]
    weights = [math.log(size) for size in sizes]
    while len(groups) > 14:  # all ways to part more of them would take long: the smallest go together
        order = sorted(range(len(groups)), key=weights.__getitem__)
        i, j = order[:2]
        groups.append(groups[i] + groups[j])
        weights.append(weights[i] + weights[j])
        for place in sorted((i, j), reverse=True):
            del groups[place], weights[place]
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums, sums + weight])
    total = sum(weights)
    # The least sum of at least half; rounding must not leave an equal parting out.
    best = int(np.argmin(np.where(sums >= total / 2 - 1e-9, sums, np.inf)))
    a = sorted(place for k, group in enumerate(groups) if best >> k & 1 for place in group)
    b = [place for place in range(len(sizes)) if place not in a]
    while len(groups) < len(sizes):  # some went together: one of them may have to change sides
        gap = math.log(math.prod(sizes[place] for place in a) / math.prod(sizes[place] for place in b))
        better = [place for place in a if math.log(sizes[place]) < gap - 1e-9]
        if not better:
            break
        moved = min(better, key=lambda place: abs(gap / 2 - math.log(sizes[place])))
        a.remove(moved)
        b.append(moved)
        if math.log(sizes[moved]) > gap / 2:
            a, b = b, a
    return sorted(a), sorted(b)


class Line:
    """f for one viewset and two classes, over groups of values: base + a term for each attribute.

    `error` bounds how far the int64 sum of a tuple is from 2^scale f. With `sizes` |f| of two tuples can be
    compared as well as f with 0.
    """

    def __init__(
        self, base: Term, terms: Sequence[Sequence[Term]], parts: Split, logs: Logs, *, sizes: bool = False
    ) -> None:
        self._logs = logs
        self._compare_sizes = sizes
        self._terms = terms
        self._parts = parts
        # What has one group of values is in no part.
        base = Term.product([base, *(of_attribute[0] for of_attribute in terms if len(of_attribute) == 1)])
        self.base_term = base
        used = [terms[position] for position in (*parts.outside, *parts.a, *parts.b)]
        wide = [[logs.of(term, BITS) for term in of_attribute] for of_attribute in used]
        wide_base = logs.of(base, BITS)
        most = abs(wide_base) + sum(max(map(abs, numbers)) for numbers in wide) + 4 * len(used) + 4
        self._whole_bits = max(1, (most >> BITS).bit_length())
        self.scale = min(BITS + REAL_BITS - most.bit_length(), MOST_SCALE)
        shift = BITS - self.scale
        half = 1 << (shift - 1)
        numbers = [
            np.array(
                [term.mark or (number + half) >> shift for term, number in zip(row, logs_of_row, strict=True)]
            )
            for row, logs_of_row in zip(used, wide, strict=True)
        ]
        n_outside, n_a = len(parts.outside), len(parts.a)
        self.base = base.mark or (wide_base + half) >> shift
        self._outside = numbers[:n_outside]
        self._a, self._b = numbers[n_outside : n_outside + n_a], numbers[n_outside + n_a :]
        self.error = (51 * (len(used) + 1)) // 100 + 2
        self._exact = self._without_limbs()
        self._bases: Callable[[tuple[int, ...]], npt.NDArray[np.uint64]] = lambda codes: _NO_LIMBS

    def _sizes(self, positions: Iterable[int]) -> I64:
        return np.array([len(self._terms[position]) for position in positions], dtype=np.int64)

    def _without_limbs(self) -> Exact:
        a, b = self._sizes(self._parts.a), self._sizes(self._parts.b)
        empty = np.zeros((0, 0), np.uint64)
        return Exact(a, b, empty, empty, 0)

    def blocks(self) -> Iterable[tuple[int, ...]]:
        """The codes outside, block after block."""
        return itertools.product(*(range(len(self._terms[position])) for position in self._parts.outside))

    def list_b(self) -> tuple[I64, I32]:
        """The sums of half b in exact order, and their indices."""
        sums = summed(self._b)
        order = np.argsort(sums).astype(np.int32)
        ordered = sums[order]
        while not settle(order, ordered, 2 * self.error, self._exact):
            self._make_limbs()
        return ordered, order

    def list_a(self) -> tuple[I64, I32]:
        """The sums of half a in rising order, and their indices."""
        sums = summed(self._a)
        order = np.argsort(sums).astype(np.int32)
        return sums[order], order

    def lists(self, threads: int) -> Lists:
        large = self._parts.n + self._parts.m >= LARGE
        first, second = both(self.list_a, self.list_b, threads if large else 1)
        return self.lists_of(*first, *second)

    def lists_of(self, x: I64, x_order: I32, u: I64, u_order: I32) -> Lists:
        return Lists(x, x_order, u, u_order, self.error)

    def thresholds(self, lists: Lists, codes: tuple[int, ...]) -> I32:
        """For each index of half a the place in half b, exactly ordered, from which on X_c > X_d."""
        above = np.zeros(self._parts.n, np.int32)
        shift = self._shift(codes)
        while not lists.thresholds(shift, self.base, self._exact, self._bases(codes), above):
            self._make_limbs()
        return above

    def nearest(self, lists: Lists, codes: tuple[int, ...], all_pairs: bool) -> tuple[int, int, int] | None:
        """The least |f| that is not zero in fixed point, and the indices in both halves."""
        shift = self._shift(codes)
        while True:
            found = lists.nearest(shift, self.base, self._exact, self._bases(codes), all_pairs)
            if found is not False:
                return found
            self._make_limbs()

    def term(self, codes: Sequence[int]) -> Term:
        """X_c / X_d of the tuple of groups with these codes, one for each attribute."""
        factors = [
            of_attribute[code]
            for of_attribute, code in zip(self._terms, codes, strict=True)
            if len(of_attribute) > 1
        ]
        return Term.product([self.base_term, *factors])

    def _shift(self, codes: tuple[int, ...]) -> int:
        shift = 0
        for numbers, code in zip(self._outside, codes, strict=True):
            shift = clamped(shift + int(numbers[code]))
        return shift

    def _make_limbs(self) -> None:
        """Logarithms so precise that what is zero up to their error is zero.

        Where X_c / X_d = A / B is not 1, |ln A/B| >= ln(1 + 1/min(A, B)) >= 1 / (min(A, B) + 1); in the same
        way for two sums over half b, whose ratio has numerator and denominator of at most prod up * down,
        and for the difference and the sum of f at two tuples.
        """
        if self._exact_made:
            raise AssertionError("limbs were asked for twice")
        parts = self._parts
        ups, downs = self.base_term.up.bit_length(), self.base_term.down.bit_length()
        in_half = 0  # bits
        for position in (*parts.outside, *parts.a, *parts.b):
            up = max(term.up for term in self._terms[position]).bit_length()
            down = max(term.down for term in self._terms[position]).bit_length()
            ups, downs = ups + up, downs + down
            if position in parts.b:
                in_half += up + down
        n_terms = 2 * (len(parts.outside) + len(parts.a) + len(parts.b) + 1)
        slack = 4 * n_terms
        enough = max(min(ups, downs), in_half)
        if self._compare_sizes:
            enough = max(enough, ups + downs)
        bits = enough + slack.bit_length() + 4
        n_limbs = -(-(bits + self._whole_bits + 3) // 64)

        def packed(numbers: Iterable[int]) -> npt.NDArray[np.uint64]:
            data = b"".join(number.to_bytes(8 * n_limbs, "little", signed=True) for number in numbers)
            return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, n_limbs)

        def of(positions: Iterable[int]) -> npt.NDArray[np.uint64]:
            return packed(
                self._logs.of(term, bits) for position in positions for term in self._terms[position]
            )

        base = self._logs.of(self.base_term, bits)

        def of_block(codes: tuple[int, ...]) -> npt.NDArray[np.uint64]:
            terms = (self._terms[position][code] for position, code in zip(parts.outside, codes, strict=True))
            return packed([base + sum(self._logs.of(term, bits) for term in terms)]).reshape(-1)

        self._bases = of_block
        self._exact = Exact(self._sizes(parts.a), self._sizes(parts.b), of(parts.a), of(parts.b), slack)
        self._exact_made = True

    _exact_made = False


_NO_LIMBS = np.zeros(0, np.uint64)


def both(first: Callable[[], First], second: Callable[[], Second], threads: int) -> tuple[First, Second]:
    """Two results, made at the same time where there is more than one thread.

    An interrupt is not kept waiting for the second, which shares nothing with anybody.
    """
    if threads == 1:
        return first(), second()
    helpers = helped(lambda make: make(), [second])
    if not helpers:
        return first(), second()
    try:
        mine = first()
    except BaseException:
        helpers[0].cancel()
        raise
    return mine, helpers[0].result()


def clamped(number: int) -> int:
    return NONE if number <= -REAL else ONLY if number >= REAL else number


def unravelled(places: npt.NDArray[np.int64], sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """The codes of tuples at places in C order, one a column; NumPy's own function stops at 64 attributes."""
    codes = np.empty((len(places), len(sizes)), np.int64)
    for i in reversed(range(len(sizes))):
        places, codes[:, i] = np.divmod(places, sizes[i])
    return codes


def summed(numbers: Sequence[I64]) -> I64:
    """The sums over all combinations, the last attribute's code the fastest."""
    sums = np.zeros(1, np.int64)
    for of_attribute in numbers:
        result = np.empty(len(sums) * len(of_attribute), np.int64)
        outer(sums, of_attribute, result)
        sums = result
    return sums


def codes_of(index: int, sizes: Sequence[int]) -> list[int]:
    """The code of each attribute of a half at an index."""
    codes = []
    for size in reversed(sizes):
        index, code = divmod(index, size)
        codes.append(code)
    return codes[::-1]


def tuple_of(parts: Split, sizes: Sequence[int], outside: Sequence[int], i: int, j: int) -> list[int]:
    """The code of every attribute at indices i and j of the halves."""
    codes = [0] * len(sizes)
    for position, code in zip(parts.outside, outside, strict=True):
        codes[position] = code
    for positions, index in ((parts.a, i), (parts.b, j)):
        of_half = codes_of(index, [sizes[position] for position in positions])
        for position, code in zip(positions, of_half, strict=True):
            codes[position] = code
    return codes
