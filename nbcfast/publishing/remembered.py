"""What a classifier knows of people only because it has counted them: answers with and without a row."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Counts, Floats, Longs
from nbcfast.table.table import Table
from nbcfast.views import Viewset

BLOCK = 1 << 14  # distinct rows looked at together
# Of two sums of logarithms relative to the number of their terms: further apart, rounding decides nothing.
NEAR = 1e-9


class Remembered(NamedTuple):
    """How often a classifier is right about the people that it has counted.

    Attributes
    ----------
    people : int
    correct : int
        Those who are answered with their own class.
    without : int
        Those who still are if their own row, and no other, is not counted.
    """

    people: int
    correct: int
    without: int

    @property
    def by_own_row(self) -> int:
        """How many are answered with their class only because their own row was counted.

        The class of each of them shows: where it is another, so is the answer. For the score of the class of
        a row falls when the row leaves, as each (N + a) / (P + a m) is at most 1, and that of another class
        rises when it comes.
        """
        return self.correct - self.without


def remembered(
    views: Viewset, table: Table, class_name: str, alpha: Fraction | int | None = None
) -> Remembered:
    """Accuracy on the rows that were counted, and when each is left out; exact, in linear time.

    Leaving out a row of class c changes one score, P_c times (N + a) / (P_c + a m) for each attribute of m
    values: there P_c and N are less by one, and no classifier is made again. A row of a weight stands for so
    many people, each of whom is left out by himself.

    Parameters
    ----------
    views : Viewset
        The counts
    table : Table
        of these rows.
    class_name : str
        Their class column.
    alpha : int or Fraction, optional
        What is added to each count, where the classifier is a smoothed one.
    """
    distinct = table.select([*views.attributes, class_name]).collapse()
    weights = distinct.weights
    assert weights is not None
    codes = []
    domains = {**views.domains, class_name: views.class_domain}
    for name in (*views.attributes, class_name):
        column = distinct.column(name)
        codes.append(column.domain.positions_in(domains[name])[column.codes])
    added = Fraction(0 if alpha is None else alpha)
    correct = without = 0
    for start in range(0, distinct.n_rows, BLOCK):
        block = slice(start, start + BLOCK)
        rows = [places[block] for places in codes]
        correct += int(weights[block][_Scored(views, rows, added, left_out=False).right].sum())
        without += int(weights[block][_Scored(views, rows, added, left_out=True).right].sum())
    return Remembered(int(weights.sum()), correct, without)


class _Scored:
    """The scores of all classes for some rows: with these in the counts, or each of them left out."""

    def __init__(self, views: Viewset, rows: list[Longs], added: Fraction, *, left_out: bool) -> None:
        *of_attributes, self.truth = rows
        self.places = np.arange(len(self.truth))
        self.added, self.sizes = added, [len(array) for array in views.counts.values()]
        self.counts = [
            array[of_value] for array, of_value in zip(views.counts.values(), of_attributes, strict=True)
        ]
        self.class_counts: Counts = np.tile(views.class_counts, (len(self.truth), 1))
        if left_out:
            for array in (*self.counts, self.class_counts):
                array[self.places, self.truth] -= 1

    @property
    def right(self) -> Bools:
        """Of which rows the class wins."""
        scores, places, truth = self._logarithms(), self.places, self.truth
        own = scores[places, truth][:, np.newaxis]
        # A class without rows has score 0, and of two such the later class wins, as of any that are equal.
        later = np.arange(scores.shape[1]) > truth[:, np.newaxis]
        wins: Bools = (own > scores) | ((own == scores) & ~later)
        with np.errstate(invalid="ignore"):
            apart = np.abs(own - scores)
        largest = np.log(np.maximum(self.class_counts.max(axis=1), 2).astype(np.float64))[:, np.newaxis]
        near = apart <= NEAR * (2 * len(self.counts) + 1) * (largest + 1)
        wins[places, truth] = True
        near[places, truth] = False
        for row, c in np.argwhere(near & np.isfinite(own) & np.isfinite(scores)).tolist():
            t = int(truth[row])
            one, other = self._exact(row, t), self._exact(row, c)
            wins[row, c] = one >= other if c < t else one > other
        return np.asarray(wins.all(axis=1))

    def _logarithms(self) -> Floats:
        """The logarithm of each score; -inf where it is 0."""
        added = float(self.added)
        empty = self.class_counts <= 0
        of_classes = np.where(empty, 1, self.class_counts).astype(np.float64)
        total: Floats = np.log(of_classes)
        with np.errstate(divide="ignore"):
            for array, size in zip(self.counts, self.sizes, strict=True):
                total += np.log(array + added) - np.log(of_classes + added * size)
        total[empty] = -np.inf
        return total

    def _exact(self, row: int, c: int) -> Fraction:
        """A score that is not 0."""
        of_class = int(self.class_counts[row, c])
        score = Fraction(of_class)
        for array, size in zip(self.counts, self.sizes, strict=True):
            score *= (int(array[row, c]) + self.added) / (of_class + self.added * size)
        return score
