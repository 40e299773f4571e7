"""From points to shares of rows: which part of the rows each class has, and each value within a class.

X_c is to be proportional to exp(unit z_c) with z_c the points of class c at a tuple. That leaves one free
factor for each value, and the gauge takes it so that every value is equally frequent: what is published then
says nothing but the points. N^i_{t,c} = rho_c e_{t,c} / sum_d rho_d e_{t,d} with e = exp(unit points), where
rho and the shares P_c of the classes are found by Newton's steps: rho makes the columns add up to P, and P
moves by what is left of (1 - n) ln P_c + sum_i ln rho^i_c = unit base_c + const. The Hessian of that problem
is at least that of the entropy, so that the solution is unique. Step 3 then makes scores and sums exact
wherever the steps end; and where they end so early that a value would be off by a part of a row, as with
three classes and more from a Lambda of some 10^6 on, Newton's method for all unknowns at once takes over
(`even_values`; docs/mathematics/canonical.md, section 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import add, mul, sub

import gmpy2
import numpy as np

from nbcfast._rounding.apportion import Counted, apportioned, round_up
from nbcfast._rounding.nearest import spread_of
from nbcfast.canonical.even_values import EvenGauge, GaugedLevels, Matrix, Vector
from nbcfast.canonical.weights.results import Scorecard

# Bits of everything here, at the least. With another number other releases would come out, and who checks one
# that was published could not make it again.
PRECISION = 160
SPARE = 64  # bits beyond those of the rows: 160 are enough up to rows of 96 bits
OFF = 0.25  # rows, by which a value may miss its part of them before they are rounded
SWEEPS = 100
STEPS = 4  # of rho between two of the classes
LONGEST = gmpy2.mpfr(2)  # step, in logarithms
SHORTEST = -LONGEST
ENOUGH = 2.0**-48  # a sweep that changes no logarithm by more is the last: flatter is not better


@dataclass(frozen=True)
class IntegerScores:
    """Integers to whose sums the logarithms of the scores are to be proportional: never 0 between classes.

    Attributes
    ----------
    base : tuple of int
        One number a class.
    points : tuple
        points[i][t] is what value t of attribute i adds, one number a class.
    gap : int
        What two classes differ by at the least, wherever that decides.
    """

    base: tuple[int, ...]
    points: tuple[tuple[tuple[int, ...], ...], ...]
    gap: int

    @classmethod
    def of(cls, card: Scorecard) -> IntegerScores:
        """The scores of a scorecard, symmetric about its threshold."""
        if len(card.constants) == 1:
            centre = card.centre if card.gap is not None else 2 * card.threshold - 1
            columns = tuple(tuple((2 * int(row[0]), 0) for row in array.tolist()) for array in card.points)
            return cls((-centre, 0), columns, card.gap or 1)
        if card.gap is not None:
            points = tuple(tuple((*map(int, row), 0) for row in array.tolist()) for array in card.points)
            return cls((*map(int, card.constants), 0), points, card.gap)
        # The later class wins ties of totals: c is added to so many times the total of class c.
        times = len(card.constants) + 1
        base = (*(times * int(number) + c for c, number in enumerate(card.constants)), times - 1)
        rows = tuple(
            tuple((*(times * int(number) for number in row), 0) for row in array.tolist())
            for array in card.points
        )
        return cls(base, rows, 1)

    @classmethod
    def single(cls, sizes: Sequence[int]) -> IntegerScores:
        """Of one class."""
        return cls((0,), tuple(((0,),) * size for size in sizes), 1)

    @cached_property
    def range(self) -> int:
        """The largest difference of two classes over all tuples."""
        most = 0
        classes = range(len(self.base))
        for c, d in ((c, d) for c in classes for d in classes if c != d):
            tops = (max(row[c] - row[d] for row in rows) for rows in self.points)
            most = max(most, self.base[c] - self.base[d] + sum(tops))
        return most


class EvenShares:
    """What each class and each value in it would have of the rows, if rows could be split.

    Fields and names are those that `nbcfast._rounding` searches rows by.

    Parameters
    ----------
    scores : IntegerScores
    amplification : Fraction
    power : Fraction
        Lambda is to be the amplification to the power 1 / `power`, exactly.
    rows : int
        To so many, or to those that are proven, they are going to be rounded.
    """

    def __init__(
        self, scores: IntegerScores, amplification: Fraction, power: Fraction, rows: int = 0
    ) -> None:
        self.scores = scores
        self.n, self.n_classes = len(scores.points), len(scores.base)
        sizes = [len(points) for points in scores.points]
        self.starts: list[int] = np.cumsum([0, *sizes]).tolist()
        self.least_rows = max(sizes, default=1)
        # Least rows times Lambda times the range is about what `proven_rows` comes to, at the most.
        largest = (self.n + 1) * self.least_rows * self.n_classes * math.ceil(amplification) * scores.range
        self.precision = max(PRECISION, SPARE + max(largest, rows).bit_length())
        with gmpy2.context(precision=self.precision):
            log = gmpy2.log(gmpy2.mpq(amplification)) / gmpy2.mpq(power)
            unit = log / scores.range if scores.range else gmpy2.mpfr(0)
            self.unit = float(unit)
            # Attributes with the same points get the same shares: thousands may have but one value.
            same = {points: _EqualRows(points, unit) for points in dict.fromkeys(scores.points)}
            levels = [same[points] for points in scores.points]
            base = [gmpy2.exp(unit * (number - max(scores.base))) for number in scores.base]
            _balance(levels, base)
            classes, shares_of = _ended(levels, base)
            self._take(levels, classes, shares_of)
            off = _off(classes, shares_of)
            # Proven rows are 100 and more: the first only spares a look at them where shares are wild.
            if off > 0.01 or off * max(rows, 2 * self.proven_rows()) > OFF:
                point = EvenGauge(list(levels), [unit * number for number in scores.base]).solve()
                shares_of = {level: level.of_values(point.shares[level]) for level in shares_of}
                self._take(levels, point.classes, shares_of)

    def _take(self, levels: list[_EqualRows], classes: Vector, shares_of: dict[_EqualRows, Matrix]) -> None:
        """Keep shares, exact to the precision and as floats."""
        self.of_class = [self._integer(share) for share in classes]
        self.floats = np.array([float(share) for share in classes])
        exact = {
            level: [[self._integer(share) for share in row] for row in level.per_value(shares)]
            for level, shares in shares_of.items()
        }
        floats = {
            level: np.array([[float(share) for share in row] for row in level.per_value(shares)])
            for level, shares in shares_of.items()
        }
        self.exact = [exact[level] for level in levels]
        self.values = [floats[level] for level in levels]

    def _integer(self, share: gmpy2.mpfr) -> gmpy2.mpz:
        """A share in units of 2^-precision, at least one of them."""
        return max(gmpy2.mpz(gmpy2.rint(gmpy2.mul_2exp(share, self.precision))), gmpy2.mpz(1))

    def proven_rows(self) -> int:
        """Largest remainder moves every logarithm of a ratio by less than 2 A / R."""
        room = Fraction(self.unit) * self.scores.gap if self.unit else Fraction(1)
        spread = spread_of(self)
        least = Fraction(spread) * Fraction(9, 4) / room
        return round_up(max(math.ceil(least), 16 * math.ceil(spread), self.least_rows * self.n_classes))

    def plain(self, rows: int) -> Counted | None:
        """Largest remainder, of exact shares; None where a class is too small for a count of 1 everywhere."""
        of_class = apportioned(self.of_class, rows)
        if min(of_class) < self.least_rows:
            return None
        columns: list[tuple[int, ...]] = []
        for attribute in self.exact:
            by_class = [
                apportioned([row[c] for row in attribute], count, 1) for c, count in enumerate(of_class)
            ]
            columns.extend(zip(*by_class, strict=True))
        return Counted(of_class, columns, np.zeros((0, 0)))


class _EqualRows(GaugedLevels):
    """The distinct rows of points of an attribute: equal rows are one level, and get equal shares."""

    def __init__(self, rows: Sequence[tuple[int, ...]], unit: gmpy2.mpfr) -> None:
        distinct = sorted(set(rows))
        place = {row: number for number, row in enumerate(distinct)}
        self.of_value = [place[row] for row in rows]
        times = np.bincount(self.of_value, minlength=len(distinct)).tolist()
        # Only differences between classes count: the largest factor is 1.
        super().__init__(times, [[unit * (number - max(row)) for number in row] for row in distinct])
        self.factors = [[gmpy2.exp(number) for number in row] for row in self.scaled]
        self.rho = [gmpy2.mpfr(1) for _ in rows[0]]
        self.weights = [gmpy2.mpq(each, self.size) for each in times]
        self._sums: tuple[Vector, Vector] | None = None

    def sums(self) -> tuple[Vector, Vector]:
        """What each class has of the attribute, each value having 1 / size; and how far rho moves that."""
        if self._sums is None:
            total = slope = [gmpy2.mpfr(0)] * len(self.rho)
            for weight, factors in zip(self.weights, self.factors, strict=True):
                parts = list(map(mul, self.rho, factors))
                whole = sum(parts)
                parts = [part / whole for part in parts]
                weighted = [weight * part for part in parts]
                total = list(map(add, total, weighted))
                slope = [x + w * (1 - part) for x, w, part in zip(slope, weighted, parts, strict=True)]
            self._sums = total, slope
        return self._sums

    def fit(self, classes: Vector) -> float:
        """A few steps of rho towards columns that add up to `classes`; the largest, in logarithms."""
        size = 0.0
        for _ in range(STEPS):
            total, slope = self.sums()
            # With two classes this is Newton's step. The covariances of a softmax are at most twice their
            # diagonal, which makes it a safe one for more.
            steps = [
                (share - column) / (2 * by) for share, column, by in zip(classes, total, slope, strict=True)
            ]
            steps = [min(max(step, SHORTEST), LONGEST) for step in steps]
            self.rho = [rho * gmpy2.exp(step) for rho, step in zip(self.rho, steps, strict=True)]
            self._sums = None
            size = max(abs(float(step)) for step in steps)
            if size < ENOUGH:
                break
        return size

    def stiffness(self, classes: Vector) -> float:
        """By how much ln rho moves with the logarithm of a share of a class, at the most; 1 or more."""
        _, slope = self.sums()
        return max(float(share * (1 - share) / by) for share, by in zip(classes, slope, strict=True))

    def shares(self) -> tuple[Vector, Matrix]:
        """The sum of each class over the values, and the share of each level's values in its class."""
        sums, _ = self.sums()
        shares = []
        for factors in self.factors:
            parts = list(map(mul, self.rho, factors))
            whole = self.size * sum(parts)
            shares.append([part / (whole * column) for part, column in zip(parts, sums, strict=True)])
        return sums, shares

    def of_values(self, shares: Matrix) -> Matrix:
        """From the shares of levels to those of single values."""
        return [[share / times for share in row] for row, times in zip(shares, self.times, strict=True)]

    def per_value(self, shares: Matrix) -> Matrix:
        """One row a value."""
        return [shares[level] for level in self.of_value]


def _balance(levels: list[_EqualRows], base: Vector) -> None:
    """Sweeps over rho and the shares of the classes, until every value is equally frequent.

    Attributes that share their levels are one object, many times.
    """
    n_classes = len(base)
    classes = [gmpy2.mpfr(1) / n_classes for _ in base]
    if not levels or n_classes == 1:
        return
    damping, before, distinct = 1.0, math.inf, list(dict.fromkeys(levels))
    base_logs = [gmpy2.log(weight) for weight in base]
    for _ in range(SWEEPS):
        moved = max(level.fit(classes) for level in distinct)
        logs = {level: [gmpy2.log(rho) for rho in level.rho] for level in distinct}
        gradient = [(1 - len(levels)) * gmpy2.log(share) for share in classes]
        for level in levels:
            gradient = list(map(add, gradient, logs[level]))
        gradient = list(map(sub, gradient, base_logs))
        mean = sum(gradient) / n_classes
        gradient = [x - mean for x in gradient]
        size = max(abs(float(x)) for x in gradient)
        if max(moved, size) < ENOUGH:
            break
        # Where the problem is stiff whole steps would go to and fro.
        damping = damping / 2 if size > before else min(1.0, 1.25 * damping)
        before = size
        stiffness = {level: level.stiffness(classes) for level in distinct}
        steep = sum(stiffness[level] for level in levels) + 1 - len(levels)
        steps = [min(max(-damping * x / steep, SHORTEST), LONGEST) for x in gradient]
        classes = [share * gmpy2.exp(step) for share, step in zip(classes, steps, strict=True)]
        whole = sum(classes)
        classes = [share / whole for share in classes]


def _ended(levels: list[_EqualRows], base: Vector) -> tuple[Vector, dict[_EqualRows, Matrix]]:
    """Shares of the classes and of the values in them where the sweeps ended, with exact scores and sums."""
    columns = {level: level.shares() for level in dict.fromkeys(levels)}
    weights = list(base)
    for level in levels:
        sums, _ = columns[level]
        weights = [w * s / rho for w, s, rho in zip(weights, sums, level.rho, strict=True)]
    whole = sum(weights)
    return [weight / whole for weight in weights], {level: shares for level, (_, shares) in columns.items()}


def _off(classes: Vector, shares_of: dict[_EqualRows, Matrix]) -> float:
    """The share of the rows by which some value misses its part of them, at the most."""
    return max(
        (
            abs(float(sum(p * q for p, q in zip(row, classes, strict=True)) - gmpy2.mpq(1, level.size)))
            for level, shares in shares_of.items()
            for row in shares
        ),
        default=0.0,
    )
