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
    """The shares of the values of an attribute, (values, classes), and by which factor each may be off.

    Of values with the same share one is looked at: `distinct` has of each class (share, error, how many).
    """

    def __init__(self, logs: Floats, errors: Floats) -> None:
        self.shares, self.errors = np.exp(logs), np.expm1(errors)
        self.distinct = [_distinct(*columns) for columns in zip(self.shares.T, self.errors.T, strict=True)]

    def bounds(
        self, share: float | Floats, error: float | Floats, rows: Floats, alpha: float
    ) -> tuple[Floats, Floats]:
        """The least and the most rows of a value in a class that has so many; crossed if there is none."""
        smoothed = share * (rows + alpha * len(self.shares))
        off = smoothed * error + (smoothed + alpha) * SLACK
        least = np.maximum(np.ceil(smoothed - alpha - off), 0.0)
        return least, np.minimum(np.floor(smoothed - alpha + off), rows)

    def sums(self, c: int, rows: Floats, alpha: float) -> tuple[Floats, Floats]:
        """The least and the most that the rows of all values add up to."""
        least, most = np.zeros(len(rows)), np.zeros(len(rows))
        for share, error, times in self.distinct[c]:
            low, high = self.bounds(share, error, rows, alpha)
            least, most = least + times * low, most + times * high
        return least, most

    def ranges(self, of_class: Longs, alpha: float) -> tuple[Floats, Floats]:
        """The least and the most of each count, where the classes have so many rows."""
        return self.bounds(self.shares, self.errors, of_class.astype(np.float64), alpha)


def _distinct(shares: Floats, errors: Floats) -> list[tuple[float, float, int]]:
    """Rising: small counts have few whole numbers near, and rule most out."""
    found, places, times = np.unique(shares, return_inverse=True, return_counts=True)
    largest = np.zeros(len(found))
    np.maximum.at(largest, places, errors)
    return list(zip(found.tolist(), largest.tolist(), times.tolist(), strict=True))


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
        self.smallest_first = [
            sorted(
                ((cells, *share) for cells in self.cells.values() for share in cells.distinct[c]),
                key=lambda each: each[1],
            )
            for c in range(self.n_classes)
        ]
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
        """The same where priors say nothing: none, or the two of fewest rows, if there are two.

        A class may have no rows, as ``partial_fit`` leaves it, but not all of them.
        """
        found = []
        for c in range(self.n_classes):
            of_class: Longs = np.zeros(0, np.int64)
            for numbers in self._of_smallest(c, float(alpha)):
                of_class = np.append(of_class, numbers[self.holds(c, numbers, alpha)])
                if len(of_class) > 2:
                    break
            found.append(of_class[:3])
        if not all(map(len, found)):
            return RowNumbers(np.zeros(0, np.int64), np.zeros((0, self.n_classes), np.int64))
        first = np.array([of_class[0] for of_class in found])
        made = [first]
        for c, of_class in enumerate(found):
            for rows in of_class[1:].tolist():
                made.append(first.copy())
                made[-1][c] = rows
        rising = sorted((of_class for of_class in made if of_class.any()), key=lambda each: int(each.sum()))
        several = np.array(rising[:2], np.int64).reshape(-1, self.n_classes)
        return RowNumbers(several.sum(axis=1), several)

    def _of_smallest(self, c: int, alpha: float) -> Iterator[Longs]:
        """Numbers of rows of a class that leave the smallest of its counts a whole number, rising."""
        cells, share, error, _ = next(each for each in self.smallest_first[c] if each[1] > 0)
        off = error + 4 * SLACK
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
        for cells, share, error, _ in self.smallest_first[c]:
            least, most = cells.bounds(share, error, rows, added)
            left = least <= most
            places, rows = places[left], rows[left]
            if not len(rows):  # as for nearly all numbers, long before the last value
                return np.zeros(len(of_class), bool)
        for cells in self.cells.values():
            least, most = cells.sums(c, rows, added)
            left = (least <= rows) & (rows <= most)
            places, rows = places[left], rows[left]
        holds = np.zeros(len(of_class), bool)
        holds[places] = True
        return holds

    def ranges(self, name: str, of_class: Longs, alpha: Fraction) -> tuple[Longs, Longs]:
        """The least and the most that each count of an attribute can be, (values, classes)."""
        least, most = self.cells[name].ranges(of_class, float(alpha))
        # The counts of a class add up to its rows: what the others leave.
        narrowed = np.maximum(least, of_class - (most.sum(axis=0) - most))
        most = np.minimum(most, of_class - (least.sum(axis=0) - least))
        return narrowed.astype(np.int64), most.astype(np.int64)

    def multiples(self, name: str, numbers: RowNumbers, alpha: Fraction, counts: Longs, rows: int) -> Bools:
        """Which counts of an attribute are the same multiples of these, of so many rows, for all numbers."""
        same, step = np.ones(counts.shape, bool), max(1, BLOCK // counts.size)
        for start in range(0, len(numbers.rows), step):
            some = slice(start, start + step)
            least, most = self.cells[name].ranges(numbers.of_class[some, np.newaxis], float(alpha))
            exactly = least.astype(np.int64) * rows == np.multiply.outer(numbers.rows[some], counts)
            same &= ((least == most) & exactly).all(axis=0)
        return same


def _blocks(first: int, last: int, share: float = 1.0) -> Iterator[Longs]:
    """All numbers from the first to the last, in blocks that stand for as many rows if they are a share."""
    step = max(1, int(BLOCK * share))
    for start in range(first, last + 1, step):
        yield np.arange(start, min(start + step, last + 1))
