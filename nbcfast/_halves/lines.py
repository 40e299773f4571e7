"""f = ln X_c - ln X_d as a sum over the attributes, in fixed point, listed half by half."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from nbcfast._core.dtypes import Int32s, Longs, Words
from nbcfast._core.threads import helped
from nbcfast._halves.codes import clamped, summed
from nbcfast._halves.split import TwoHalves
from nbcfast._halves.terms import FixedLogs, Term
from nbcfast._margin import Exact, Lists, settle

First = TypeVar("First")
Second = TypeVar("Second")

BITS = 128  # of the fixed point that the int64 numbers are rounded from
MOST_SCALE = 118  # so that such a rounding is off by hardly more than a half
REAL_BITS = 59  # all sums of logarithms stay below half of REAL

LARGE = 200_000  # sums: a second thread is worth its waking


class Line:
    """f for one viewset and two classes, over groups of values: base + a term for each attribute.

    `error` bounds how far the int64 sum of a tuple is from 2^scale f. With `sizes` |f| of two tuples can be
    compared as well as f with 0.
    """

    def __init__(
        self,
        base: Term,
        terms: Sequence[Sequence[Term]],
        parts: TwoHalves,
        logs: FixedLogs,
        *,
        sizes: bool = False,
    ) -> None:
        self._logs = logs
        self._compare_sizes = sizes
        self.terms = terms
        self.parts = parts
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
        self._bases: Callable[[tuple[int, ...]], Words] = lambda codes: _NO_LIMBS

    def _sizes(self, positions: Iterable[int]) -> Longs:
        return np.array([len(self.terms[position]) for position in positions], dtype=np.int64)

    def _without_limbs(self) -> Exact:
        a, b = self._sizes(self.parts.a), self._sizes(self.parts.b)
        empty = np.zeros((0, 0), np.uint64)
        return Exact(a, b, empty, empty, 0)

    def blocks(self) -> Iterable[tuple[int, ...]]:
        """The codes outside, block after block."""
        return itertools.product(*(range(len(self.terms[position])) for position in self.parts.outside))

    def list_b(self) -> tuple[Longs, Int32s]:
        """The sums of half b in exact order, and their indices."""
        sums = summed(self._b)
        order = np.argsort(sums).astype(np.int32)
        ordered = sums[order]
        while not settle(order, ordered, 2 * self.error, self._exact):
            self._make_limbs()
        return ordered, order

    def list_a(self) -> tuple[Longs, Int32s]:
        """The sums of half a in rising order, and their indices."""
        sums = summed(self._a)
        order = np.argsort(sums).astype(np.int32)
        return sums[order], order

    def lists(self, threads: int) -> Lists:
        large = self.parts.n + self.parts.m >= LARGE
        first, second = both(self.list_a, self.list_b, threads if large else 1)
        return self.lists_of(*first, *second)

    def lists_of(self, x: Longs, x_order: Int32s, u: Longs, u_order: Int32s) -> Lists:
        return Lists(x, x_order, u, u_order, self.error)

    def thresholds(self, lists: Lists, codes: tuple[int, ...]) -> Int32s:
        """For each index of half a the place in half b, exactly ordered, from which on X_c > X_d."""
        above = np.zeros(self.parts.n, np.int32)
        shift = self.shift_at(codes)
        while not lists.thresholds(shift, self.base, self._exact, self._bases(codes), above):
            self._make_limbs()
        return above

    def nearest(self, lists: Lists, codes: tuple[int, ...], all_pairs: bool) -> tuple[int, int, int] | None:
        """The least |f| that is not zero in fixed point, and the indices in both halves."""
        shift = self.shift_at(codes)
        while True:
            result = lists.nearest(shift, self.base, self._exact, self._bases(codes), all_pairs)
            if result is not False:
                return result
            self._make_limbs()

    def term(self, codes: Sequence[int]) -> Term:
        """X_c / X_d of the tuple of groups with these codes, one for each attribute."""
        factors = [
            of_attribute[code]
            for of_attribute, code in zip(self.terms, codes, strict=True)
            if len(of_attribute) > 1
        ]
        return Term.product([self.base_term, *factors])

    def shift_at(self, codes: tuple[int, ...]) -> int:
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
            # Limbs decide whatever a kernel asks, so it cannot ask again.
            raise RuntimeError(
                "logarithms that are precise enough to decide did not decide, which is a fault of nbcfast; "
                "please report it with the viewset"
            )
        parts = self.parts
        ups, downs = self.base_term.up.bit_length(), self.base_term.down.bit_length()
        in_half = 0  # bits
        for position in (*parts.outside, *parts.a, *parts.b):
            up = max(term.up for term in self.terms[position]).bit_length()
            down = max(term.down for term in self.terms[position]).bit_length()
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

        def packed(numbers: Iterable[int]) -> Words:
            data = b"".join(number.to_bytes(8 * n_limbs, "little", signed=True) for number in numbers)
            return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, n_limbs)

        def of(positions: Iterable[int]) -> Words:
            return packed(
                self._logs.of(term, bits) for position in positions for term in self.terms[position]
            )

        base = self._logs.of(self.base_term, bits)

        def of_block(codes: tuple[int, ...]) -> Words:
            terms = (self.terms[position][code] for position, code in zip(parts.outside, codes, strict=True))
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
