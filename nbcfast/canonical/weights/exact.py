"""The exact stage: which rows bind, decided by integers, and the weights that follow from them.

Dixon's lifting modulo a prime, fractions from digits, and Goldfarb and Idnani's steps. Why multipliers of at
least 0 prove the optimum is in docs/mathematics/canonical.md, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Floats, Int8s, Int32s, Longs
from nbcfast._core.untyped import Exact
from nbcfast._solve import System

DemandRows = tuple[Int32s, Int8s]  # for each row its columns and signs

PRIMES = (2147483647, 2147483629, 2147483587)  # the largest below 2^31
FIRST_DIGITS = 8


class Oracle(Protocol):
    """What knows all rows, though it need not list them."""

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        """Columns and signs of rows below the limit, the worst for each value, and the lowest of all rows."""

    def exactly(self, numbers: Sequence[int], limit: int) -> DemandRows:
        """Rows below the limit, decided by integers: none if and only if there are none."""


class ExactWeights(NamedTuple):
    """Weights and multipliers over one denominator."""

    g: list[int]
    multipliers: list[int]
    denominator: int


class Active:
    """Rows that are to hold with equality, none of which depends on the others.

    Parameters
    ----------
    weights : ndarray of int64
        The factor of each squared weight.
    columns, signs : ndarray, shape (rows, entries)
        The rows; those that depend on earlier ones are left out.
    """

    def __init__(self, weights: Longs, columns: Int32s, signs: Int8s) -> None:
        self.weights = weights
        self.columns = np.ascontiguousarray(columns, np.int32)
        self.signs = np.ascontiguousarray(signs, np.int8)
        self._system: System | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def without(self, place: int) -> Active:
        """All rows but one."""
        return Active(self.weights, np.delete(self.columns, place, 0), np.delete(self.signs, place, 0))

    def with_row(self, column: Int32s, sign: Int8s) -> Active:
        """One more row, at the end."""
        return Active(self.weights, np.vstack([self.columns, column]), np.vstack([self.signs, sign]))

    def independent(self) -> Active:
        """Without the rows that depend on others."""
        active = self
        while active.system().dependent >= 0:
            active = active.without(active.system().dependent)
        return active

    def system(self) -> System:
        """The equations modulo a prime.

        What is regular there is regular. A row that depends on others for each of three primes is taken to do
        so for integers too: if it does not, the weights lack a row, and that shows.
        """
        if self._system is None:
            for prime in PRIMES:
                self._system = System(self.weights, self.columns, self.signs, prime)
                self._prime = prime
                if self._system.dependent < 0:
                    break
        assert self._system is not None
        return self._system

    def optimum(self) -> ExactWeights:
        """The weights of least norm for which all rows are 1, and the multipliers."""
        first = np.zeros(len(self.weights), np.int64)
        return self.solved(first, np.ones(len(self), np.int64))

    def direction(self, column: Int32s, sign: Int8s) -> ExactWeights:
        """W^-1 times the part of a row outside the others, and minus its coordinates in them."""
        first = np.zeros(len(self.weights), np.int64)
        first[column] = sign
        return self.solved(first, np.zeros(len(self), np.int64))

    def solved(self, first: Longs, second: Longs) -> ExactWeights:
        """W g - A' multipliers = first and A g = second."""
        system = self.system()
        n, q = len(self.weights), len(self)
        system.start(first, second)
        digits = np.empty((0, n + q), np.int64)
        more = FIRST_DIGITS
        while True:
            new = np.empty((more, n + q), np.int64)
            system.digits(new)
            digits = np.concatenate([digits, new])
            more = len(digits)
            fractions = reconstructed(digits, self._prime)
            if fractions is None:
                continue
            numbers, denominator = fractions
            exact = ExactWeights(numbers[:n], numbers[n:], denominator)
            # Integers decide: nothing rests on how many digits were enough, or on the prime.
            if self._holds(exact, first, second):
                return exact

    def _holds(self, exact: ExactWeights, first: Longs, second: Longs) -> bool:
        missing = [
            int(w) * g - exact.denominator * int(x)
            for w, g, x in zip(self.weights, exact.g, first, strict=True)
        ]
        for column, sign, u, x in zip(
            self.columns.tolist(), self.signs.tolist(), exact.multipliers, second.tolist(), strict=True
        ):
            for v, s in zip(column, sign, strict=True):
                missing[v] -= s * u
            if sum(s * exact.g[v] for v, s in zip(column, sign, strict=True)) != exact.denominator * x:
                return False
        return not any(missing)


def reconstructed(digits: Longs, prime: int) -> tuple[list[int], int] | None:
    """Fractions over one denominator with these digits to the base `prime`; None if they are too long."""
    modulus = gmpy2.mpz(prime) ** len(digits)
    most = gmpy2.isqrt(modulus // 2)
    numbers = valued(digits, prime)
    denominator = gmpy2.mpz(1)
    for x in numbers:
        y = denominator * x % modulus
        if y <= most or modulus - y <= most:
            continue
        factor = fraction(y, modulus, most)
        if factor is None:
            return None
        denominator *= factor
        if denominator > most:
            return None
    result = []
    for x in numbers:
        y = denominator * x % modulus
        if 2 * y > modulus:
            y -= modulus
        result.append(int(y))
    return result, int(denominator)


def valued(digits: Longs, prime: int) -> list[gmpy2.mpz]:
    """Each column's number."""
    base = gmpy2.mpz(prime)
    columns: list[list[gmpy2.mpz]] = [[gmpy2.mpz(digit) for digit in row] for row in digits.T.tolist()]
    while columns and len(columns[0]) > 1:
        columns = [
            [row[k] + base * row[k + 1] if k + 1 < len(row) else row[k] for k in range(0, len(row), 2)]
            for row in columns
        ]
        base *= base
    return [row[0] for row in columns]


def fraction(y: gmpy2.mpz, modulus: gmpy2.mpz, most: gmpy2.mpz) -> gmpy2.mpz | None:
    """The denominator of the fraction of two numbers up to `most` that is y; None if there is none."""
    r0, r1 = modulus, y
    t0, t1 = gmpy2.mpz(0), gmpy2.mpz(1)
    while r1 > most:
        quotient, rest = gmpy2.f_divmod(r0, r1)
        r0, r1 = r1, rest
        t0, t1 = t1, t0 - quotient * t1
    denominator = abs(t1)
    return denominator if 0 < denominator <= most and gmpy2.gcd(r1, t1) == 1 else None


class Stuck(Exception):  # noqa: N818  # it is no error: there is a second best
    """The exact stage has made all the steps it may."""


def corrected(active: Active, oracle: Oracle, most_steps: int) -> tuple[ExactWeights, Active]:
    """The optimum, from rows that are nearly the binding ones.

    Goldfarb and Idnani's steps (see solve.h) in rationals: rows whose multiplier is negative go, the row that
    fails most comes in, until none fails. Then multipliers of at least 0 prove that these are the weights of
    least norm.
    """
    active = active.independent()
    exact = active.optimum()
    steps = 0
    while exact.multipliers and min(exact.multipliers) < 0:
        steps += 1
        if steps > most_steps:
            raise Stuck
        active = active.without(exact.multipliers.index(min(exact.multipliers)))
        exact = active.optimum()
    while True:
        columns, signs = oracle.exactly(exact.g, exact.denominator)
        if not len(columns):
            return exact, active
        values = [total(exact.g, column, sign) for column, sign in zip(columns, signs, strict=True)]
        worst = values.index(min(values))
        column, sign = columns[worst], signs[worst]
        g = [gmpy2.mpq(x, exact.denominator) for x in exact.g]
        multipliers = [gmpy2.mpq(x, exact.denominator) for x in exact.multipliers]
        while True:
            steps += 1
            if steps > most_steps:
                raise Stuck
            step = active.direction(column, sign)
            back = [gmpy2.mpq(-x, step.denominator) for x in step.multipliers]
            gain = total(step.g, column, sign)
            ratios = [(u / r, j) for j, (u, r) in enumerate(zip(multipliers, back, strict=True)) if r > 0]
            first = min(ratios, default=None)
            full = (1 - total(g, column, sign)) * step.denominator / gain if gain else None
            if full is None and first is None:
                raise ValueError("the labels contradict each other: no weights give all of them")
            if first is None or (full is not None and full <= first[0]):
                active = active.with_row(column, sign)
                exact = active.optimum()
                break
            t = first[0]
            g = [x + t * z / step.denominator for x, z in zip(g, step.g, strict=True)]
            multipliers = [u - t * r for u, r in zip(multipliers, back, strict=True)]
            del multipliers[first[1]]
            active = active.without(first[1])


def total(numbers: Sequence[Exact], column: Int32s, sign: Int8s) -> Exact:
    """The value of a row."""
    return sum(s * numbers[v] for v, s in zip(column.tolist(), sign.tolist(), strict=True))
