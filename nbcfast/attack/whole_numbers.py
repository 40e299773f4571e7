"""Which numbers of rows make whole counts of logarithms of shares, within the rounding of the floats.

With n_c rows of class c and alpha added to each count, the share of a value is r = (count + alpha) / (n_c +
alpha k). So count = r (n_c + alpha k) - alpha has to be whole for every value of every attribute, and n_c =
n prior_c too. Numbers n that leave each of these an integer within its interval are what the floats can be
of. All of them are looked at; intervals are a little too wide, so that none is ever left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Floats, Longs
from nbcfast.attack.model_weights import Weights

BLOCK = 1 << 18
SLACK = 2.0**-48  # of a count and of alpha: ten operations of doubles, and an exponential


class RowNumbers(NamedTuple):
    """Numbers of rows that the floats can be of: of all, and of each class (numbers, classes)."""

    rows: Longs
    of_class: Longs


class Cells:
    """The shares of the values of an attribute, or of the classes, and by which factor each may be off."""

    def __init__(self, logs: Floats, errors: Floats) -> None:
        self.shares, self.errors = np.exp(logs), np.expm1(errors)
        self.order = np.argsort(
            self.shares, axis=0, kind="stable"
        )  # small counts have few whole numbers near

    def bounds(self, value: int, c: int, rows: Floats, alpha: float) -> tuple[Floats, Floats]:
        """The least and the most rows of a value in class c, which has `rows`; crossed if there is none."""
        smoothed = self.shares[value, c] * (rows + alpha * len(self.shares))
        off = smoothed * self.errors[value, c] + (smoothed + alpha) * SLACK
        least = np.maximum(np.ceil(smoothed - alpha - off), 0.0)
        return least, np.minimum(np.floor(smoothed - alpha + off), rows)


class WholeNumbers:
    """The shares of a model, against which numbers of rows are held."""

    def __init__(self, weights: Weights, max_rows: int, alphas: Sequence[Fraction]) -> None:
        size = max(len(logs) for logs in weights.conditional.values())
        largest = np.log(max_rows + float(max(alphas)) * size + 1)
        positive = [float(alpha) for alpha in alphas if alpha > 0]
        largest = max(float(largest), -float(np.log(min(positive, default=1.0))))
        self.cells = {
            name: Cells(logs, weights.errors(logs, len(logs), largest))
            for name, logs in weights.conditional.items()
        }
        self.n_classes, self.max_rows = len(weights.prior), max_rows
        prior = weights.prior
        self.prior, off = np.exp(prior), np.expm1(weights.errors(prior, len(prior), largest))
        self.prior_off = self.prior * (off + SLACK)
        # Up to here no prior leaves a class two numbers of rows.
        self.horizon = min(max_rows, int(0.49 / self.prior_off.max()))
        self.n_blocks = -(-self.horizon // BLOCK)

    @property
    def even_prior(self) -> bool:
        """Whether classes are equally probable, as of even tables, or of any with fit_prior=False."""
        return self.n_classes > 1 and float(np.ptp(self.prior)) <= 2 * float(self.prior_off.max())

    def by_prior(self) -> Iterator[RowNumbers]:
        """Numbers of rows that are whole in each class, rising, if the priors are shares of the classes."""
        for numbers in _blocks(1, self.horizon):
            middle = np.multiply.outer(numbers.astype(np.float64), self.prior)
            nearest = np.rint(middle)
            near = np.abs(middle - nearest) <= np.multiply.outer(numbers, self.prior_off)
            holds = near.all(axis=1) & (nearest.sum(axis=1) == numbers)
            yield RowNumbers(numbers[holds], nearest[holds].astype(np.int64))

    def held(self, numbers: RowNumbers, alpha: Fraction) -> RowNumbers:
        """Those of them that leave every count of every class a whole number."""
        rows, of_class = numbers
        for c in range(self.n_classes):
            holds = self.holds(c, of_class[:, c], alpha)
            rows, of_class = rows[holds], of_class[holds]
        return RowNumbers(rows, of_class)

    def apart(self, alpha: Fraction) -> RowNumbers:
        """The same where priors say nothing: none, the only one, or two where a class leaves several."""
        found = []
        for c in range(self.n_classes):
            of_class: Longs = np.zeros(0, np.int64)
            for numbers in self._of_smallest(c, float(alpha)):
                of_class = np.append(of_class, numbers[self.holds(c, numbers, alpha)])
                if len(of_class) > 1:
                    break
            found.append(of_class[:2])
        if not all(map(len, found)):
            return RowNumbers(np.zeros(0, np.int64), np.zeros((0, self.n_classes), np.int64))
        first = np.array([of_class[0] for of_class in found])
        made = [first]
        for c, of_class in enumerate(found):
            if len(of_class) > 1:
                made.append(first.copy())
                made[-1][c] = of_class[1]
        several = np.array(made[:2])
        return RowNumbers(several.sum(axis=1), several)

    def _of_smallest(self, c: int, alpha: float) -> Iterator[Longs]:
        """Numbers of rows of a class that leave the smallest of its counts a whole number, rising."""
        smallest = [(cells.shares[cells.shares[:, c] > 0, c].min(), cells) for cells in self.cells.values()]
        share, cells = min(smallest, key=lambda each: float(each[0]))
        off = float(cells.errors[cells.shares[:, c] == share, c].max()) + 4 * SLACK
        added, last = alpha * len(cells.shares), 0
        for counts in _blocks(0, int(share * (self.max_rows + added) * (1 + off)) + 1, share):
            least = np.ceil((counts + alpha) / (share * (1 + off)) - added).astype(np.int64)
            most = np.floor((counts + alpha) / (share * (1 - off)) - added).astype(np.int64)
            most = np.minimum(most, self.max_rows)
            least = np.maximum(least, np.append(last, most[:-1] + 1))  # no number twice
            last = max(last, int(most[-1]) + 1)
            lengths = np.maximum(most - least + 1, 0)
            ends = np.cumsum(lengths)
            yield np.repeat(least - (ends - lengths), lengths) + np.arange(ends[-1])

    def holds(self, c: int, of_class: Longs, alpha: Fraction) -> Bools:
        """Which numbers of rows of one class leave each of its counts a whole number, and their sum right."""
        places, rows, added = np.arange(len(of_class)), of_class.astype(np.float64), float(alpha)
        if not alpha:  # nobody has no shares
            places, rows = places[rows > 0], rows[rows > 0]
        for cells in self.cells.values():
            for value in cells.order[:, c].tolist():
                least, most = cells.bounds(value, c, rows, added)
                left = least <= most
                places, rows = places[left], rows[left]
            sums = np.zeros((2, len(rows)))
            for value in range(len(cells.shares)):
                sums += cells.bounds(value, c, rows, added)
            left = (sums[0] <= rows) & (rows <= sums[1])
            places, rows = places[left], rows[left]
        holds = np.zeros(len(of_class), bool)
        holds[places] = True
        return holds

    def ranges(self, name: str, of_class: Longs, alpha: Fraction) -> tuple[Longs, Longs]:
        """The least and the most that each count of an attribute can be, (values, classes)."""
        cells, added = self.cells[name], float(alpha)
        least, most = np.zeros_like(cells.shares), np.zeros_like(cells.shares)
        for c, rows in enumerate(of_class.astype(np.float64)):
            for value in range(len(cells.shares)):
                least[value, c], most[value, c] = cells.bounds(value, c, rows, added)
        # The counts of a class add up to its rows: what the others leave.
        narrowed = np.maximum(least, of_class - (most.sum(axis=0) - most))
        most = np.minimum(most, of_class - (least.sum(axis=0) - least))
        return narrowed.astype(np.int64), most.astype(np.int64)

    def multiples(self, name: str, numbers: RowNumbers, alpha: Fraction, counts: Longs, rows: int) -> Bools:
        """Which counts of an attribute are the same multiples of these, of so many rows, for all numbers."""
        cells, added = self.cells[name], float(alpha)
        same = np.ones(counts.shape, bool)
        for value, c in np.ndindex(*counts.shape):
            least, most = cells.bounds(value, c, numbers.of_class[:, c].astype(np.float64), added)
            exactly = least.astype(np.int64) * rows == counts[value, c] * numbers.rows
            same[value, c] = bool(((least == most) & exactly).all())
        return same


def _blocks(first: int, last: int, share: float = 1.0) -> Iterator[Longs]:
    """All numbers from the first to the last, in blocks that stand for as many rows if they are a share."""
    step = max(1, int(BLOCK * share))
    for start in range(first, last + 1, step):
        yield np.arange(start, min(start + step, last + 1))
