"""Newton's method for the gauge: shares of rows with which every value is equally frequent, to any precision.

Take any numbers a_i(t). Classes with shares P_c proportional to exp(b_c) prod_i Z_ic, and values with shares
exp(a_i(t) + e_i(t, c)) / Z_ic within a class, Z_ic being the sum of these, have scores whose logarithms
differ between classes as b_c + sum_i e_i(t_i, c) do. Where value t is to have u of the rows, the a that give
it are those with the largest

    sum_i sum_t u a_i(t) - ln sum_c exp(b_c) prod_i Z_ic,

a concave function whose gradient is wanted less actual shares. Its Hessian comes down to a system of the size
of the classes for each attribute, and one for all of them (docs/mathematics/canonical.md, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import gmpy2

STEPS = 500  # on what was measured 15 were enough, up to a Lambda of 2^64
HALVINGS = 60  # of a step
SLACK = 40  # bits of the precision that are left to rounding errors

Vector = list[gmpy2.mpfr]
Matrix = list[Vector]


class GaugedLevels:
    """The values of an attribute, those with equal points being one level.

    Parameters
    ----------
    times : list of int
        How many values each level has.
    scaled : list of list of mpfr
        scaled[l][c], what the values of level l add to the logarithm of the score of class c.
    """

    def __init__(self, times: list[int], scaled: Matrix) -> None:
        self.times, self.scaled = times, scaled
        self.size = sum(times)

    @cached_property
    def wanted(self) -> list[gmpy2.mpq]:
        """The share of the rows that each level is to have."""
        return [gmpy2.mpq(times, self.size) for times in self.times]

    def start(self) -> Vector:
        """Factors that are right if all classes have as many rows, and nothing else adds to a score."""
        tops = [max(row) for row in self.scaled]
        return [
            -top - gmpy2.log(sum(gmpy2.exp(number - top) for number in row))
            for row, top in zip(self.scaled, tops, strict=True)
        ]

    def within_classes(self, logs: Vector) -> tuple[Matrix, Vector]:
        """The share of each level in every class, and the logarithm of what they were divided by."""
        weights = [
            [times * gmpy2.exp(log + number) for number in row]
            for times, log, row in zip(self.times, logs, self.scaled, strict=True)
        ]
        sums = [sum(column) for column in zip(*weights, strict=True)]
        shares = [[weight / whole for weight, whole in zip(row, sums, strict=True)] for row in weights]
        return shares, [gmpy2.log(whole) for whole in sums]


@dataclass(frozen=True)
class EvenPoint:
    """Factors of all levels, with the shares that they give.

    Attributes
    ----------
    logs : dict
        The logarithms of the factors of an attribute.
    shares : dict
        The share of each level of an attribute in every class.
    classes : list of mpfr
        The shares of the classes.
    value : mpfr
        Of the function that is to be largest.
    """

    logs: dict[GaugedLevels, Vector]
    shares: dict[GaugedLevels, Matrix]
    classes: Vector
    value: gmpy2.mpfr


@dataclass(frozen=True)
class Slope:
    """What one attribute has in a step: its gradient, and what its block of the Hessian is made of."""

    joint: Matrix  # (levels, classes), shares of all rows
    actual: Vector  # shares of the levels
    gradient: Vector  # wanted less actual
    solved: Matrix  # the inverse of its reduced system times [diag(P) - P P' | joint' gradient / actual]


class EvenGauge:
    """The problem of the gauge; a context of gmpy2 says to what precision it is solved.

    Parameters
    ----------
    attributes : list of GaugedLevels
        Attributes with the same points are one object, many times.
    base : list of mpfr
        What every class has besides, in logarithms.
    """

    def __init__(self, attributes: list[GaugedLevels], base: Vector) -> None:
        self.base, self.n = base, len(attributes)
        self.often = {levels: attributes.count(levels) for levels in dict.fromkeys(attributes)}

    def point(self, logs: dict[GaugedLevels, Vector]) -> EvenPoint:
        totals, value, shares = list(self.base), gmpy2.mpfr(0), {}
        for levels, often in self.often.items():
            shares[levels], sums = levels.within_classes(logs[levels])
            totals = [total + often * log for total, log in zip(totals, sums, strict=True)]
            value += often * _product(levels.wanted, logs[levels])
        top = max(totals)
        weights = [gmpy2.exp(total - top) for total in totals]
        whole = sum(weights)
        classes = [weight / whole for weight in weights]
        return EvenPoint(logs, shares, classes, value - top - gmpy2.log(whole))

    def solve(self) -> EvenPoint:
        """The point at which all levels have what they are to have, to the precision of the context."""
        precision = gmpy2.get_context().precision
        enough, unseen = gmpy2.exp2(SLACK - precision), gmpy2.exp2(-(precision // 2))
        point = self.point({levels: levels.start() for levels in self.often})
        for _ in range(STEPS):
            slopes = {levels: _slope(levels, point) for levels in self.often}
            if max(_farthest(levels, slope) for levels, slope in slopes.items()) < enough:
                break
            step = self._step(slopes, point.classes)
            gain = sum(
                often * _product(slopes[levels].gradient, step[levels])
                for levels, often in self.often.items()
            )
            length = gmpy2.mpfr(1)
            for _ in range(HALVINGS):
                there = self.point(
                    {
                        levels: [log + length * by for log, by in zip(logs, step[levels], strict=True)]
                        for levels, logs in point.logs.items()
                    }
                )
                # So near the optimum rounding errors of the value decide, and whole steps double the digits.
                if gain < unseen or there.value >= point.value + length * gain / 8:
                    break
                length /= 2
            else:
                break  # the precision is spent: no step leads up any more
            point = there
        return point

    def _step(self, slopes: dict[GaugedLevels, Slope], classes: Vector) -> dict[GaugedLevels, Vector]:
        """Newton's step: how far the logarithms of the classes' shares go, then each attribute by itself."""
        free = len(classes) - 1  # only differences of classes count: the last one stays
        system = [[gmpy2.mpfr(c == d) * (1 - self.n) for d in range(free)] for c in range(free)]
        right = [[gmpy2.mpfr(0)] for _ in range(free)]
        for levels, often in self.often.items():
            for c, row in enumerate(slopes[levels].solved):
                right[c][0] += often * row[free]
                system[c] = [
                    entry + often * number for entry, number in zip(system[c], row[:free], strict=True)
                ]
        moved = [row[0] for row in _solved(system, right)]
        steps = {}
        for levels, slope in slopes.items():
            own = [
                row[free] - _product(row[:free], moved) + x
                for row, x in zip(slope.solved, moved, strict=True)
            ]
            mean = _product(classes[:free], moved)
            differences = [z - x + mean for z, x in zip(own, moved, strict=True)] + [mean]
            steps[levels] = [
                (over + _product(row, differences)) / whole
                for over, row, whole in zip(slope.gradient, slope.joint, slope.actual, strict=True)
            ]
        return steps


def _slope(levels: GaugedLevels, point: EvenPoint) -> Slope:
    classes = point.classes
    free = range(len(classes) - 1)
    joint = [
        [share * whole for share, whole in zip(row, classes, strict=True)] for row in point.shares[levels]
    ]
    actual = [sum(row) for row in joint]
    gradient = [wanted - whole for wanted, whole in zip(levels.wanted, actual, strict=True)]
    rows = list(zip(joint, actual, strict=True))
    # Sums of products, not differences: where one class has nearly all of a level the digits are kept.
    system = [
        [
            sum(row[c] * (sum(row[:c]) + sum(row[c + 1 :])) / whole for row, whole in rows)
            if c == d
            else -sum(row[c] * row[d] / whole for row, whole in rows)
            for d in free
        ]
        for c in free
    ]
    right = [
        [classes[c] * ((c == d) - classes[d]) for d in free]
        + [sum(row[c] * over / whole for (row, whole), over in zip(rows, gradient, strict=True))]
        for c in free
    ]
    return Slope(joint, actual, gradient, _solved(system, right))


def _farthest(levels: GaugedLevels, slope: Slope) -> gmpy2.mpfr:
    """By how much of its own share a level is off, at the most."""
    return max(abs(over) / wanted for over, wanted in zip(slope.gradient, levels.wanted, strict=True))


def _solved(system: Matrix, right: Matrix) -> Matrix:
    """X with system X = right, by elimination."""
    rows = [list(row) + list(values) for row, values in zip(system, right, strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [number / rows[k][k] for number in rows[k]]
        for r, row in enumerate(rows):
            if r != k and row[k]:
                rows[r] = [number - row[k] * by for number, by in zip(row, rows[k], strict=True)]
    return [row[len(rows) :] for row in rows]


def _product(left: list[gmpy2.mpfr] | list[gmpy2.mpq], right: Vector) -> gmpy2.mpfr:
    return sum((x * y for x, y in zip(left, right, strict=True)), gmpy2.mpfr(0))
