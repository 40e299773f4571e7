"""Step 1: zero counts become powers of two so small that no comparison of classes changes.

The rule, its proof and the counterexample to the paper's are in docs/mathematics/safety.md, section a; what
the whole order costs, in section b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import gmpy2
import numpy as np

from nbcfast import _zeros
from nbcfast._core.choices import Preserve
from nbcfast._core.dtypes import Array, Bools, Longs
from nbcfast._core.errors import expect
from nbcfast._core.numbers import number_text
from nbcfast._core.untyped import Document, Exact
from nbcfast._core.validation import choice, type_name, whole
from nbcfast.table.values import Value
from nbcfast.transform.powers import Power, power, product_of_powers
from nbcfast.views import Viewset
from nbcfast.views.flat import UNIT, Flat, usable

NONE = -(1 << 62)
MOST_GUARD = 1024  # more only makes posteriors flatter
MOST_BITS = 20_000  # a value with a longer exponent is not written out as a Fraction


@dataclass(frozen=True, repr=False)
class Filled:
    """Views whose zeros stand for nu(t) 2^-e_c, nu(t) the smallest positive count of the value.

    Parameters
    ----------
    views : Viewset
        As they were, zeros and all.
    preserve : {"order", "label"}
        Which comparisons the zeros keep.
    guard : int
        Each comparison in which a replaced zero takes part is decided by a factor of at least 2^guard.
    exponents : tuple of int
        e_c for each class, 0 for a class without zeros; the values are never written out.
    """

    views: Viewset
    preserve: Preserve
    guard: int
    exponents: tuple[int, ...]

    @property
    def n_zeros(self) -> int:
        """How many counts were 0."""
        return int(self.flat.zero.sum())

    @cached_property
    def flat(self) -> Flat:
        return Flat(self.views)

    def value(self, name: str, value: Value, label: Value) -> Fraction:
        """The count of one value in one class after Step 1, exactly.

        Raises
        ------
        ValueError
            If one of the three is unknown, or the exponent too large to write the number out.
        """
        places = []
        for what, listed, wanted in (
            ("attribute", self.views.attributes, name),
            ("value", self.views.domain(name) if name in self.views.attributes else (), value),
            ("class", self.views.classes, label),
        ):
            if wanted not in listed:
                raise ValueError(f"expected a known {what}, got {wanted!r}")
            places.append(listed.index(wanted))
        i, t, c = places
        row = int(self.flat.starts[i]) + t
        count = int(self.flat.counts[row, c])
        if count:
            return Fraction(count)
        if self.exponents[c] > MOST_BITS:
            unit = int(self.flat.unit[row])
            raise ValueError(f"the value is {unit} * 2^-{self.exponents[c]}: too long to write out")
        return Fraction(int(self.flat.unit[row]), 1 << self.exponents[c])

    @cached_property
    def log_amplification(self) -> float:
        """The logarithm of Lambda of the views after Step 1; inf where it is beyond a float."""
        try:
            return float(log_amplification(self, 64))
        except OverflowError:
            return float("inf")

    def to_dict(self) -> Document:
        return {
            "preserve": self.preserve,
            "guard": self.guard,
            "exponents": list(self.exponents),
            "zeros": self.n_zeros,
            "log_amplification": self.log_amplification,
        }

    def __repr__(self) -> str:
        return (
            f"Filled({self.n_zeros} zeros; exponents {list(self.exponents)}, guard {self.guard}, "
            f"preserve {self.preserve!r}; ln Lambda {self.log_amplification:.6g})"
        )


def fill_zeros(views: Viewset, *, preserve: Preserve = "order", guard: int = 1) -> Filled:
    """Step 1: replace every zero count of class c by nu(t) 2^-e_c, with the least e_c that keep the order.

    Corrects the paper, whose bound leaves out P_c^(1-n). Classes are taken in falling precedence; for each
    pair the worst tuple with any number of zeros is found attribute by attribute, exactly.

    Parameters
    ----------
    views : Viewset
        Realistic, with rows in every class.
    preserve : {"order", "label"}
        "order" keeps X_c > X_d true or false for every tuple and c < d (Definition 2). "label" keeps that
        only among classes with positive score, those of score zero below them, and the best class; its
        exponents do not grow from class to class.
    guard : int
        Bits by which each comparison with a replaced zero is decided, 1 to 1024.

    Returns
    -------
    Filled

    Raises
    ------
    ValueError
        If there are no rows, a class has none, or counts do not add up to the class counts.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> fill_zeros(Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]]))
    Filled(3 zeros; exponents [2, 2], guard 1, preserve 'order'; ln Lambda 2.07944)
    """
    expect(views, Viewset, "views")
    choice(preserve, ("order", "label"), "preserve")
    guard = whole(guard, "guard", got=type_name)
    if not 1 <= guard <= MOST_GUARD:
        raise ValueError(f"guard must be 1 to {MOST_GUARD}, got {number_text(guard)}")
    usable(views)
    flat = Flat(views)
    exponents = [0] * flat.n_classes
    lacking: list[bool] = np.asarray(flat.zero.any(axis=0)).tolist()
    # From the last class down: where two are zero the earlier has to fall below the later, whose exponent is
    # known by then. The proof rests on this order.
    for c in range(flat.n_classes - 1, -1, -1):
        if not lacking[c]:
            continue
        for d in range(flat.n_classes):
            if d == c:
                continue
            # Where both are zero the later class has to win; "label" asks that of the last class alone.
            both = d > c if preserve == "order" else d == flat.n_classes - 1
            exponents[c] = max(exponents[c], _exponent(flat, c, d, exponents[d], both, guard))
    filled = Filled(views, preserve, guard, tuple(exponents))
    filled.__dict__["flat"] = flat  # what the cached property would make again
    return filled


def _exponent(flat: Flat, c: int, d: int, shift: int, both: bool, guard: int) -> int:
    """The least e >= 0 with which every tuple that has a zero of c leaves c a factor 2^guard below d."""
    without, with_zero = _gains(flat, c, d, shift, both)
    can, can_zero = without != NONE, with_zero != NONE
    if not (can | can_zero).all() or not can_zero.any():
        return 0
    forced, free = can_zero & ~can, can_zero & can
    n_forced = int(forced.sum())
    more = np.sort(with_zero[free] - without[free])[::-1]
    most = flat.class_log_ratio(c, d) + int(without[can].sum()) + int(with_zero[forced].sum())
    sums = np.concatenate([np.zeros(1, more.dtype), np.cumsum(more)]) + most
    n_zeros = np.arange(n_forced, n_forced + len(sums))
    sums, n_zeros = sums[n_zeros > 0], n_zeros[n_zeros > 0]
    # Each sum is of 2 n logarithms within a unit and of the class counts: within `error`.
    error = 4 * (flat.n + 1)
    lowest = _ceil(sums - error + (guard << UNIT), n_zeros)
    highest = _ceil(sums + error + (guard << UNIT), n_zeros)
    least = max(int(lowest.max()), 0)
    open_ = n_zeros[highest > least]
    if not len(open_):
        return least
    return max(least, _exact_exponent(flat, c, d, shift, both, guard, open_.tolist()))


def _ceil(sums: Array, n_zeros: Longs) -> Array:
    rounded_up: Array = -(-sums // (n_zeros.astype(sums.dtype) * (1 << UNIT)))
    return rounded_up


def _gains(flat: Flat, c: int, d: int, shift: int, both: bool) -> tuple[Array, Array]:
    """`_zeros.gains`, of Python ints where 64 bits might not hold the sums."""
    without, with_zero = np.empty(flat.n, np.int64), np.empty(flat.n, np.int64)
    zero = flat.zero.view(np.uint8)
    largest = int(np.abs(flat.logs).max(initial=0)) >> UNIT
    if (flat.n + 1) * (4 * largest + 200) << UNIT >= 1 << 61 or flat.counts.dtype.kind == "O":
        small = False
    else:
        small = (flat.n + 1) * (shift + 4 * largest + 200) << UNIT < 1 << 61
    if small:
        _zeros.gains(flat.logs, zero, flat.starts, c, d, shift << UNIT, both, without, with_zero)
        return without, with_zero
    if not both or not shift:
        _zeros.gains(flat.logs, zero, flat.starts, c, d, 0, both, without, with_zero)
        return _as_objects(without), _as_objects(with_zero)
    _zeros.gains(flat.logs, zero, flat.starts, c, d, 0, False, without, with_zero)
    # Values where d is zero, on their own: d then counts as a class of ones.
    ones = np.ascontiguousarray(np.where(flat.zero[:, [d]], flat.logs, 0))
    shifted, shifted_zero = np.empty(flat.n, np.int64), np.empty(flat.n, np.int64)
    ones[:, d] = 0
    marks = np.ascontiguousarray(flat.zero).view(np.uint8).copy()
    marks[:, d] = ~flat.zero[:, d]
    _zeros.gains(ones, marks, flat.starts, c, d, 0, False, shifted, shifted_zero)
    result = []
    for plain, moved in ((without, shifted), (with_zero, shifted_zero)):
        joined = [
            max(a, b + (shift << UNIT) if b != NONE else NONE)
            for a, b in zip(plain.tolist(), moved.tolist(), strict=True)
        ]
        result.append(_as_objects(joined))
    return result[0], result[1]


def _as_objects(numbers: list[int] | Longs) -> Array:
    listed = numbers if isinstance(numbers, list) else numbers.tolist()
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _exact_exponent(flat: Flat, c: int, d: int, shift: int, both: bool, guard: int, open_: list[int]) -> int:
    """`_exponent` for tuples with these numbers of zeros, by rationals."""
    allowed = np.ones(len(flat.counts), bool) if both else ~flat.zero[:, d]
    zero_of_c = flat.zero[:, c]
    without = _best_ratios(flat, c, d, 0, shift, allowed & ~zero_of_c)
    with_zero = _best_ratios(flat, c, d, 0, shift, allowed & zero_of_c)
    fixed, more, n_forced = [power(gmpy2.mpq(flat.of_class[d], flat.of_class[c])) ** (flat.n - 1)], [], 0
    for i in range(flat.n):
        if i in without:
            fixed.append(without[i])
            if i in with_zero:
                more.append(with_zero[i] / without[i])
        else:
            n_forced += 1
            fixed.append(with_zero[i])
    more.sort(reverse=True)
    least, taken, so_far = 0, 0, product_of_powers(fixed)
    for n_zeros in sorted(open_):
        wanted = n_zeros - n_forced
        so_far = so_far * product_of_powers(more[taken:wanted])
        taken = wanted
        least = max(least, -(-(so_far.log2_ceil() + guard) // n_zeros))
    return least


def _best_ratios(flat: Flat, c: int, d: int, c_shift: int, d_shift: int, allowed: Bools) -> dict[int, Power]:
    """For each attribute the largest N_c / N_d over the rows allowed, exactly; zeros are nu 2^-shift."""
    zero, rows = flat.zero, np.flatnonzero(allowed)
    if not len(rows):
        return {}
    logs: Array = flat.logs[rows, c] - flat.logs[rows, d]
    if max(c_shift, d_shift) >> (60 - UNIT):
        logs = logs.astype(object)
    logs[zero[rows, d]] += d_shift << UNIT
    logs[zero[rows, c]] -= c_shift << UNIT
    attribute = np.repeat(np.arange(flat.n), np.diff(flat.starts))[rows]
    first = np.flatnonzero(np.diff(attribute, prepend=-1))
    best = np.repeat(np.maximum.reduceat(logs, first), np.diff(np.append(first, len(rows))))
    # A logarithm is within a unit, a difference within two: no other value can have the largest ratio.
    near = logs >= best - 8
    best_ratios: dict[int, Power] = {}
    seen: set[tuple[int, int, int, int]] = set()
    columns = attribute, flat.counts[rows, c], flat.counts[rows, d], flat.unit[rows]
    for i, x, y, unit in dict.fromkeys(zip(*(column[near].tolist() for column in columns), strict=True)):
        exponent = 0
        if not x:
            x, exponent = unit, -c_shift
        if not y:
            y, exponent = unit, exponent + d_shift
        common = math.gcd(x, y)
        key = i, x // common, y // common, exponent
        if key in seen:
            continue
        seen.add(key)
        ratio = power(gmpy2.mpq(x, y), exponent)
        if i not in best_ratios or ratio > best_ratios[i]:
            best_ratios[i] = ratio
    return best_ratios


def log_amplification(filled: Filled, precision: int) -> Exact:
    """The logarithm of Lambda after Step 1, as an mpfr of about `precision` good bits."""
    flat, exponents = filled.flat, filled.exponents
    if flat.n_classes == 1:
        return gmpy2.mpfr(0)
    best: Exact | None = None
    candidates = [
        (_largest_log(flat, exponents, c, d), c, d)
        for c in range(flat.n_classes)
        for d in range(flat.n_classes)
        if c != d
    ]
    error = 4 * (flat.n + 2) + 4
    top = max(log for log, _, _ in candidates)
    # The integer part may be far longer than the precision asked for.
    longest = max(exponents).bit_length() + flat.n.bit_length() + 8
    with gmpy2.context(precision=precision + longest, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min()):
        for log, c, d in candidates:
            if log < top - 2 * error:
                continue
            ratio = largest_score_ratio(filled, c, d)
            value = gmpy2.log(gmpy2.mpfr(ratio.mantissa.numerator)) - gmpy2.log(
                gmpy2.mpfr(ratio.mantissa.denominator)
            )
            value += gmpy2.const_log2() * ratio.exponent
            best = value if best is None or value > best else best
    return best


def _largest_log(flat: Flat, exponents: tuple[int, ...], c: int, d: int) -> int:
    """log2 of the largest X_c / X_d after Step 1, in fixed point within 4 (n + 1) units."""
    if not flat.n:
        return flat.class_log_ratio(c, d)
    # A zero of c counts as -e_c, one of d as -e_d: kept apart, as they may be far beyond 64 bits.
    logs, zero = flat.logs, flat.zero
    total = flat.class_log_ratio(c, d)
    difference = logs[:, c] - logs[:, d]
    best: list[float] = [-math.inf] * flat.n  # integers of any length, where an attribute has a value
    for mine in (False, True):
        for theirs in (False, True):
            here = (zero[:, c] == mine) & (zero[:, d] == theirs)
            if not here.any():
                continue
            largest = np.maximum.reduceat(np.where(here, difference, NONE), flat.starts[:-1]).tolist()
            shift = ((exponents[d] if theirs else 0) - (exponents[c] if mine else 0)) << UNIT
            moved = [number + shift if number > NONE // 2 else -math.inf for number in largest]
            best = list(map(max, best, moved))
    return total + int(sum(best))


def largest_score_ratio(filled: Filled, c: int, d: int) -> Power:
    """The largest X_c / X_d after Step 1, exactly."""
    flat, exponents = filled.flat, filled.exponents
    everywhere = np.ones(len(flat.counts), bool)
    best = _best_ratios(flat, c, d, exponents[c], exponents[d], everywhere)
    return product_of_powers(
        [power(gmpy2.mpq(flat.of_class[d], flat.of_class[c])) ** (flat.n - 1), *best.values()]
    )
