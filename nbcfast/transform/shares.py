"""Step 4: integers in R rows by largest remainder, and the proof of their order in linear time.

Proved in docs/mathematics/safety.md, section f.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import mul

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast._rounding.apportion import Counted, apportioned, apportioned_column, round_up
from nbcfast._rounding.nearest import spread_of
from nbcfast.transform.adjusted import attribute_sums
from nbcfast.transform.scaled import Scaled, tilt_for


class ScaledShares:
    """What each class and each value in it would have of the rows, if rows could be split."""

    def __init__(self, scaled: Scaled) -> None:
        self.scaled = scaled
        flat = scaled.filled.flat
        self.n, self.n_classes, self.starts = flat.n, flat.n_classes, flat.starts.tolist()
        self.sums = attribute_sums(scaled)
        # Products of many long sums, to far more bits than anything below looks at.
        precision = scaled.bits + 128 + flat.n.bit_length()
        with gmpy2.context(precision=precision):
            classes = [
                reduce(mul, (gmpy2.mpfr(row[c]) for row in self.sums), gmpy2.mpfr(weight))
                for c, weight in enumerate(scaled.integers.weights)
            ]
            whole = sum(classes)
            self.of_class = [gmpy2.mpz(gmpy2.mul_2exp(share / whole, precision)) for share in classes]
            self.floats = np.array([float(share / whole) for share in classes])
        floats = scaled.integers.floats
        self.values: list[Floats] = []
        for start, stop, sums in zip(self.starts, self.starts[1:], self.sums, strict=False):
            if floats is not None:
                self.values.append(floats[start:stop] / floats[start:stop].sum(axis=0))
                continue
            self.values.append(
                np.array(
                    [
                        [int(number) / int(whole) for number, whole in zip(row, sums, strict=True)]
                        for row in scaled.integers.numbers[start:stop]
                    ]
                )
            )
        self.least_rows = max(np.diff(self.starts).tolist(), default=1)

    def classes_at(self, rows: int, tilt: Fraction) -> list[int]:
        """Class counts that add up to `rows`."""
        numbers = [share * (tilt.denominator + c * tilt.numerator) for c, share in enumerate(self.of_class)]
        return apportioned(numbers, rows)

    def rounded(self, of_class: list[int]) -> Counted | None:
        """Counts for each value, one a class; None where a class is too small for a count of 1 everywhere."""
        if min(of_class) < self.least_rows:
            return None
        columns: list[list[list[int]]] = [[] for _ in of_class]
        excess = np.empty((self.starts[-1], self.n_classes))
        for i, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            block = zip(*self.scaled.integers.numbers[start:stop], strict=True)
            for c, (column, count) in enumerate(zip(block, of_class, strict=True)):
                numbers, over = apportioned_column(column, count, self.sums[i][c])
                columns[c].append(numbers)
                excess[start:stop, c] = over
        rows = list(zip(*(chain.from_iterable(parts) for parts in columns), strict=True))
        return Counted(of_class, rows, excess)

    def proven_rows(self) -> int:
        """About as many rows as a proof needs: 2C (sum_i 1/p + 1/pi) k / delta, up to three digits."""
        scaled = self.scaled
        margin = scaled.margin if scaled.margin is not None else Fraction(1)
        spread = Fraction(spread_of(self)) * Fraction(65, 64)
        least = 2 * self.n_classes * spread * scaled.k / margin
        return round_up(max(math.ceil(least), math.ceil(16 * spread), self.least_rows * self.n_classes))

    def plain(self, rows: int) -> Counted | None:
        """Largest remainder, with the tilt that ties need as far as the margin has room for it."""
        tilt = tilt_at(self, rows) if self.n_classes > 1 else Fraction(0)
        scaled = self.scaled
        room = None if scaled.margin is None else scaled.margin / scaled.k
        if room is not None:
            tilt = min(tilt, room / (4 * self.n_classes))
        return self.rounded(self.classes_at(rows, tilt))


def proves_order(shares: ScaledShares, counted: Counted) -> bool:
    """Whether no tuple can have changed: what ties has gone down, and nothing else has moved by the margin.

    ln X'_c = ln P_c + sum_i ln (N^i_{t,c} / P_c), and each of these quotients is what it should be up to a
    factor 1 + U, one U for each published integer. Sums of R U over the attributes are largest where each
    is. `slack` allows for the errors of floats and of the roots.
    """
    scaled, borders = shares.scaled, np.array(shares.starts[:-1], np.int64)
    total, n_classes = sum(counted.of_class), shares.n_classes
    whole = sum(shares.of_class)
    rows = float(total) if total.bit_length() < 1000 else math.inf
    moved = counted.excess * np.array([total / count for count in counted.of_class])
    for start, stop, values in zip(shares.starts, shares.starts[1:], shares.values, strict=False):
        moved[start:stop] /= values
    class_moved = [
        float(gmpy2.mpq(count * whole - share * total, share))
        for count, share in zip(counted.of_class, shares.of_class, strict=True)
    ]
    sizes = np.abs(moved)
    if max(float(sizes.max(initial=0)), *map(abs, class_moved)) > rows / 2:
        return False
    tops = np.maximum.reduceat(sizes, borders, axis=0) if shares.n else np.zeros((0, n_classes))
    # ln(1 + U) lies in [U - U^2, U] where |U| <= 1/2.
    squares = [
        float((tops[:, c] / rows * tops[:, c]).sum()) + class_moved[c] / rows * class_moved[c]
        for c in range(n_classes)
    ]
    size = [float(tops[:, c].sum()) + abs(class_moved[c]) for c in range(n_classes)]
    roots = _float(2 * scaled.error * total)
    room = math.inf if scaled.margin is None else _float(scaled.margin / scaled.k * total)
    for c in range(n_classes):
        for d in range(c + 1, n_classes):
            most = least = class_moved[c] - class_moved[d]
            if shares.n:
                difference = moved[:, c] - moved[:, d]
                most += float(np.maximum.reduceat(difference, borders).sum())
                least += float(np.minimum.reduceat(difference, borders).sum())
            slack = squares[c] + squares[d] + roots + 1e-9 * (size[c] + size[d] + shares.n + 1)
            if most + slack > 0 or least - slack <= -room * (1 - 1e-9):
                return False
    return True


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def tilt_at(shares: ScaledShares, rows: int) -> Fraction:
    """The tilt that puts ties right whatever the rounding to so many rows does."""
    error = shares.scaled.error + Fraction(spread_of(shares)) * Fraction(65, 64) / rows
    return tilt_for(error, shares.n_classes)


def proven_counts(shares: ScaledShares) -> Counted:
    """Counts whose order is proven, in as many rows as that takes."""
    rows = shares.proven_rows()
    while True:
        counted = proven_counts_in(shares, rows)
        if counted is not None:
            return counted
        rows = round_up(rows + rows // 8)


def proven_counts_in(shares: ScaledShares, rows: int) -> Counted | None:
    """Counts of so many rows whose order is proven; None if this number of rows does not do."""
    tilt = tilt_at(shares, rows) if shares.n_classes > 1 else Fraction(0)
    counted = shares.rounded(shares.classes_at(rows, tilt))
    return counted if counted is not None and proves_order(shares, counted) else None
