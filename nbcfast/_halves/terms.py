"""X_c / X_d as a product of factors, and their logarithms in fixed point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import gmpy2
import numpy as np
import numpy.typing as npt

from nbcfast._core.products import product
from nbcfast._core.untyped import Exact
from nbcfast._margin import NONE, ONLY
from nbcfast.views.viewset import Viewset

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
    up: Exact
    down: Exact

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
        up, down = product([term.up for term in terms]), product([term.down for term in terms])
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
    def of(cls, views: Viewset | tuple[Iterable[int], Iterable[npt.ArrayLike]]) -> Plain:
        """From a Viewset, or from class counts and a list of arrays."""
        if isinstance(views, tuple):
            of_class, arrays = views
            return cls(list(map(int, of_class)), [np.asarray(array).tolist() for array in arrays])
        return cls(views.class_counts.tolist(), [array.tolist() for array in views.counts.values()])

    def terms(self, c: int, d: int) -> list[list[Term]]:
        """N_c / N_d of every value of every attribute, all at once."""
        return [[Term.of(row[c], row[d]) for row in rows] for rows in self.rows]

    def base(self, c: int, d: int) -> Term:
        """(P_d / P_c)^(n-1): a class without rows has X = 0."""
        n = len(self.rows)
        term = Term.of(self.of_class[c], self.of_class[d])
        if term.mark or n == 0:
            return term
        return Term(0, gmpy2.mpz(term.down) ** (n - 1), gmpy2.mpz(term.up) ** (n - 1))


class FixedLogs:
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
        logarithm = known.get(key)
        if logarithm is None:
            logarithm = known[key] = self._made(number, bits)
        return logarithm

    @staticmethod
    def _made(number: int, bits: int) -> int:
        if number == 1:
            return 0
        with gmpy2.context(precision=bits + number.bit_length().bit_length() + 8):
            return int(gmpy2.rint(gmpy2.mul_2exp(gmpy2.log(gmpy2.mpz(number)), bits)))
