"""A proof of equivalence in linear time, for domains of any size: safety.md, sections c and g."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from gmpy2 import mpz

from nbcfast.equivalence.lines import Logs, Plain, Term
from nbcfast.equivalence.margins import product

MOST_BITS = 100_000  # of a logarithm


def proved(a: Plain, b: Plain, *, labels: bool, logs: Logs) -> bool:
    """Whether b is seen to be equivalent to a; False says nothing.

    f' of b is x f of a, shifted so that ties fall on the right side, up to an error that adds up over the
    attributes. All of f' - x f lies in [low, high]. Where f > 0, f >= m, the bound of the margin, and
    f' >= x m + low must be positive; where f <= 0, f' <= high must not be. Tuples with X_c = 0 or X_d = 0 are
    looked at through the largest and the least f' among them.
    """
    n_classes = len(a.of_class)
    for c, d in combinations(range(n_classes), 2):
        if b.base(c, d).mark or any(row[c] == 0 or row[d] == 0 for rows in b.rows for row in rows):
            return False
        if not _proved_pair(a, b, c, d, labels and d != n_classes - 1, logs):
            return False
    return True


def _proved_pair(a: Plain, b: Plain, c: int, d: int, judged: bool, logs: Logs) -> bool:
    """The same for two classes; `judged`: tuples where both are zero do not matter."""
    base = a.base(c, d)
    terms = [[Term.of(row[c], row[d]) for row in rows] for rows in a.rows]
    both = [[term for term in of_attribute if not term.mark] for of_attribute in terms]
    positive = not base.mark and all(both)
    least = 1
    if positive:
        ups = product([mpz(base.up), *(mpz(max(term.up for term in row)) for row in both)])
        downs = product([mpz(base.down), *(mpz(max(term.down for term in row)) for row in both)])
        least = (min(ups, downs) + 1).bit_length()  # |f| >= 2^-least where it is not zero
    bits = least + 64 + len(terms).bit_length()
    if bits > MOST_BITS:
        return False
    after = [[logs.of(Term.of(row[c], row[d]), bits) for row in rows] for rows in b.rows]
    base_after = logs.of(b.base(c, d), bits)
    error = 2 * (len(terms) + 1)
    if not _zeros_proved(a, after, base_after, error, c, d, judged):
        return False
    if not positive:
        return True
    before = [[None if term.mark else logs.of(term, bits) for term in row] for row in terms]
    base_before = logs.of(base, bits)
    for x in _scales(before, after):
        p, q = x.numerator, x.denominator
        low = high = q * base_after - p * base_before
        for row, row_after in zip(before, after, strict=True):
            rest = [q * new - p * old for old, new in zip(row, row_after, strict=True) if old is not None]
            low, high = low + min(rest), high + max(rest)
        slack = error * (p + q)
        if low - slack + (p << (bits - least)) > 0 and high + slack <= 0:
            return True
    return False


def _scales(before: list[list[int | None]], after: list[list[int]]) -> Iterable[Fraction]:
    """What x may be: 1/k for the k of a transform, and the ratio of the widest attribute."""
    widest: tuple[int, int] | None = None
    for row, row_after in zip(before, after, strict=True):
        known = [(old, new) for old, new in zip(row, row_after, strict=True) if old is not None]
        low, high = min(known), max(known)
        if widest is None or high[0] - low[0] > widest[0]:
            widest = high[0] - low[0], high[1] - low[1]
    if widest is None or widest[0] <= 0 or widest[1] <= 0:
        yield Fraction(1)
        return
    k = Fraction(*widest)
    if k >= Fraction(1, 2):
        yield Fraction(64, max(1, round(64 * k)))
        yield Fraction(1, max(1, round(k)))
    yield 1 / k


def _zeros_proved(
    a: Plain, after: list[list[int]], base: int, error: int, c: int, d: int, judged: bool
) -> bool:
    """Whether f' < 0 wherever X_c = 0 in a, and f' > 0 where X_c > 0 = X_d."""
    worst = _most(a, after, c, d if judged else None, 1)
    if worst is not None and worst + base + error >= 0:
        return False
    worst = _most(a, after, d, c, -1)
    return worst is None or -worst + base - error > 0


def _most(a: Plain, after: list[list[int]], zero: int, positive: int | None, sign: int) -> int | None:
    """The largest sign * f', less its base, where one class is zero and the other, if given, is not."""
    if positive is not None and a.of_class[positive] == 0:
        return None
    # Of the tuples without a zero so far, and of those with one.
    without: int | None = 0
    with_zero: int | None = 0 if a.of_class[zero] == 0 else None
    for rows, numbers in zip(a.rows, after, strict=True):
        may = [
            (sign * number, row[zero] == 0)
            for row, number in zip(rows, numbers, strict=True)
            if positive is None or row[positive] > 0
        ]
        most = max((number for number, _ in may), default=None)
        most_zero = max((number for number, is_zero in may if is_zero), default=None)
        most_other = max((number for number, is_zero in may if not is_zero), default=None)
        ends = [
            x + y for x, y in ((with_zero, most), (without, most_zero)) if x is not None and y is not None
        ]
        with_zero = max(ends, default=None)
        without = None if without is None or most_other is None else without + most_other
    return with_zero


def sample_size(n_attributes: int) -> int:
    """How many tuples are looked at in a domain too large to decide."""
    return max(10, min(2_000, 200_000 // max(1, n_attributes)))


def proportional(a: Plain, b: Plain) -> bool:
    """Whether all counts of the one are the same multiple of those of the other: then every X is."""
    p, q = math.gcd(*a.of_class), math.gcd(*b.of_class)
    return [q * count for count in a.of_class] == [p * count for count in b.of_class] and all(
        [q * count for count in row] == [p * count for count in row_too]
        for rows, rows_too in zip(a.rows, b.rows, strict=True)
        for row, row_too in zip(rows, rows_too, strict=True)
    )
