"""What a classifier knows of people only because it has counted them: answers with and without a row."""

from __future__ import annotations

import math
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
        a row falls when the row leaves, N / P being at most 1, and that of another class rises when it comes.
        """
        return self.correct - self.without


def remembered(views: Viewset, table: Table, class_name: str) -> Remembered:
    """Accuracy on the rows that were counted, and when each is left out; exact, in linear time.

    Leaving out a row of class c changes one score: from P_c^(1-n) prod N_c it goes to (P_c - 1)^(1-n)
    prod (N_c - 1), so that no classifier is made again. A row of a weight stands for so many people, each of
    whom is left out by himself.

    Parameters
    ----------
    views : Viewset
        The counts
    table : Table
        of these rows.
    class_name : str
        Their class column.
    """
    distinct = table.select([*views.attributes, class_name]).collapse()
    weights = distinct.weights
    assert weights is not None
    codes = []
    domains = {**views.domains, class_name: views.class_domain}
    for name in (*views.attributes, class_name):
        column = distinct.column(name)
        codes.append(column.domain.positions_in(domains[name])[column.codes])
    correct = without = 0
    for start in range(0, distinct.n_rows, BLOCK):
        block = slice(start, start + BLOCK)
        rows = [places[block] for places in codes]
        for left_out in (False, True):
            right = int(weights[block][_right(views, rows, left_out)].sum())
            if left_out:
                without += right
            else:
                correct += right
    return Remembered(int(weights.sum()), correct, without)


def _right(views: Viewset, rows: list[Longs], left_out: bool) -> Bools:
    """Of which rows the class wins: with these in the counts, or each of them left out."""
    *of_attributes, truth = rows
    places = np.arange(len(truth))
    counts = [array[of_value] for array, of_value in zip(views.counts.values(), of_attributes, strict=True)]
    class_counts = np.tile(views.class_counts, (len(truth), 1))
    if left_out:
        for array in (*counts, class_counts):
            array[places, truth] -= 1
    scores = _logarithms(counts, class_counts)
    own = scores[places, truth][:, np.newaxis]
    # A class without rows has score 0, and of two such the later class wins, as of any that are equal.
    later = np.arange(scores.shape[1]) > truth[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        apart = own - scores
    largest = np.log(np.maximum(class_counts.max(axis=1), 2).astype(np.float64))[:, np.newaxis]
    near = np.abs(apart) <= NEAR * (2 * len(counts) + 1) * largest
    wins: Bools = (own > scores) | ((own == scores) & ~later)  # equal: of two zeros too
    wins[places, truth] = True
    near[places, truth] = False
    for row, c in np.argwhere(near & np.isfinite(own) & np.isfinite(scores)):
        t = int(truth[row])
        one, other = (_crossed(counts, class_counts, int(row), a, b) for a, b in ((t, int(c)), (int(c), t)))
        wins[row, c] = one >= other if c < t else one > other
    every: Bools = np.asarray(wins.all(axis=1))
    return every


def _logarithms(counts: list[Counts], class_counts: Counts) -> Floats:
    """The logarithm of the score of each class for each row; -inf where it is 0."""
    with np.errstate(divide="ignore"):
        of_classes = np.log(class_counts.astype(np.float64))
        shares = [np.log(array.astype(np.float64)) for array in counts]
    empty = class_counts <= 0
    of_classes[empty] = 0.0
    total = (1 - len(counts)) * of_classes
    for array in shares:
        total += array
    total[empty] = -np.inf
    return total


def _crossed(counts: list[Counts], class_counts: Counts, row: int, one: int, other: int) -> int:
    """The score of class `one`, times what `one` and `other` are divided by, as an integer."""
    factors = [int(array[row, one]) for array in counts]
    if not factors:
        return int(class_counts[row, one])
    return math.prod(factors) * math.prod([int(class_counts[row, other])] * (len(factors) - 1))
