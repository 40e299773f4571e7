"""What a plain naive Bayes model gives away by its weights alone: `model`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nbcfast._core.dtypes import Bools, Longs
from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._core.validation import whole
from nbcfast.attack.model_weights import Weights
from nbcfast.attack.whole_numbers import RowNumbers, WholeNumbers
from nbcfast.table.values import Value, plain

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Step = TypeVar("Step")

NOTHING = -1  # a count of which nothing is said
MOST_ROWS = 10**9  # products of two such numbers are integers of 64 bits
MOST_ALPHA = 10**6
USUAL_ROWS = 1_000_000
CLEARLY = 2  # times as many rows as were found are looked at, or nothing is claimed
USUAL = Fraction(1)  # what scikit-learn adds unless it is told otherwise


def _usual_alphas() -> tuple[Fraction, ...]:
    """What is tried where alpha is not known: the usual one, then decimals of up to two digits, and 0."""
    short = {Fraction(digit) * Fraction(10) ** power for digit in range(1, 10) for power in range(-10, 2)}
    longer = {Fraction(digits) * Fraction(10) ** power for digits in range(10, 100) for power in range(-4, 1)}
    return (USUAL, *sorted((short | longer) - {USUAL}), Fraction(0))


ALPHAS = _usual_alphas()


@dataclass(frozen=True, eq=False, repr=False)
class ModelAttack(HasReadOnlyMappings):
    """What `model` found: a count is found where one whole number alone is within the rounding of the floats.

    Attributes
    ----------
    rows : int or None
        How many rows the model was fitted to; None where the floats leave several numbers, or none.
    alpha : Fraction or None
        What was added to every count.
    class_counts : tuple of int or None
        Rows of each class.
    counts : mapping of name -> ndarray of int64, shape (values, classes)
        -1 where several numbers are possible.
    candidates : mapping of name -> ndarray of int64
        How many whole numbers each count may be at the least: 1 of those that are found.
    classes : tuple
        Labels, as far as the model has them, or 0, 1, ..
    up_to_factor : bool
        Whether multiples of all counts and of alpha give the same floats: what was found are then the least
        with an alpha that was tried. It is so where alpha is not known, and without smoothing.
    possible : tuple of (int, Fraction)
        Numbers of rows and alphas that the floats can be of: the least, and the next that is no multiple.
    prior_is_shares : bool
        Whether the priors are taken for the shares of the classes, as some table has them: what was found
        holds if they are. Otherwise each class is looked at by itself: they were given, or are all equal, as
        `fit_prior=False` makes them too, and the classes by themselves leave other tables as well.
    max_rows : int
        Among tables of up to so many rows what was found is the only one; nothing is claimed of larger ones.
    alphas : int
        How many alphas were tried.
    bits : int
        Of the floats: 64, 32 or 16.
    in_plain : tuple of str
        What stands in the object besides, and was not looked at: counts as they are, and alpha.
    """

    rows: int | None
    alpha: Fraction | None
    class_counts: tuple[int | None, ...]
    counts: Mapping[str, Longs]
    candidates: Mapping[str, Longs]
    classes: tuple[Value, ...]
    up_to_factor: bool
    possible: tuple[tuple[int, Fraction], ...]
    prior_is_shares: bool
    max_rows: int
    alphas: int
    bits: int
    in_plain: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        """How many counts the model has: of each value in each class."""
        return sum(array.size for array in self.counts.values())

    @property
    def found(self) -> int:
        """How many of them are known."""
        return sum(int((array != NOTHING).sum()) for array in self.counts.values())

    @property
    def zeros_found(self) -> int:
        """How many of those that are found are 0: nobody of the class has the value."""
        return sum(int((array == 0).sum()) for array in self.counts.values())

    def to_dict(self) -> Document:
        """Plain values; None for counts that are not found."""
        return {
            "rows": self.rows,
            "alpha": None if self.alpha is None else str(self.alpha),
            "found": self.found,
            "cells": self.cells,
            "zeros_found": self.zeros_found,
            "classes": [plain(label) for label in self.classes],
            "class_counts": list(self.class_counts),
            "counts": {
                name: [[None if n == NOTHING else n for n in row] for row in array.tolist()]
                for name, array in self.counts.items()
            },
            "candidates": {name: array.tolist() for name, array in self.candidates.items()},
            "up_to_factor": self.up_to_factor,
            "possible": [[rows, str(alpha)] for rows, alpha in self.possible],
            "prior_is_shares": self.prior_is_shares,
            "max_rows": self.max_rows,
            "alphas": self.alphas,
            "bits": self.bits,
            "in_plain": list(self.in_plain),
        }

    def __repr__(self) -> str:
        said = "nothing fits" if not self.possible else "several numbers of rows fit"
        if self.rows is not None:
            factor = ", or a multiple of all" if self.up_to_factor else ""
            said = f"{self.rows:,} rows, alpha {self.alpha}{factor}"
        return (
            f"ModelAttack({said}; {self.found} of {self.cells} counts, {self.zeros_found} of them 0; floats "
            f"of {self.bits} bits, tables of up to {self.max_rows:,} rows)"
        )


def model(
    model: object,
    *,
    alpha: Numeral | None = None,
    max_rows: int | None = None,
    progress: Progress | None = None,
) -> ModelAttack:
    """What a plain naive Bayes model tells of the table that it was fitted to, by its weights alone.

    The weights are logarithms of (count + alpha) / (rows + alpha k). Counts are whole numbers, and few
    numbers of rows make all of them whole: each one up to `max_rows` is tried, with the interval that the
    rounding of logarithms in double precision, and to the floats of the model, leaves each count. What a
    CategoricalNB has besides, its counts as they are, is not looked at; `in_plain` names it.

    Parameters
    ----------
    model : CategoricalNB, or path of an ONNX file
        Fitted: any object with ``class_log_prior_`` and a list ``feature_log_prob_``. Of a file the tensors
        that are logarithms of probabilities of classes and of values, as skl2onnx writes them; it needs
        onnx. A pickle is never loaded.
    alpha : int, Fraction, str or float, optional
        What was added to every count, if the attacker knows it; a float means its shortest decimal text. By
        default 1 is tried, as in scikit-learn, and some 500 decimals of up to two digits. All counts and
        alpha can then be multiples of what was found.
    max_rows : int, optional
        The table has no more rows than these, as the attacker knows; up to 10^9. By default tables up to
        1,000,000 rows are looked at, and where several are left the smallest is taken, if every other has
        more than twice its rows: `max_rows` of the result is up to how many rows it is the only one.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    ModelAttack

    Raises
    ------
    TypeError
        If the model is none of these.
    ValueError
        If it is not fitted, its weights are no logarithms of probabilities, or the file is a pickle or no
        ONNX model.
    ImportError
        If onnx is missing, of a file.

    Examples
    --------
    >>> class Fitted:  # as CategoricalNB(alpha=1) of 5 rows has them
    ...     class_log_prior_ = np.log(np.float32([2 / 5, 3 / 5]))
    ...     feature_log_prob_ = [np.log(np.float32([[3 / 5, 1 / 5, 1 / 5], [1 / 6, 2 / 6, 3 / 6]]))]
    >>> found = model(Fitted(), alpha=1, max_rows=20)
    >>> found
    ModelAttack(5 rows, alpha 1; 6 of 6 counts, 3 of them 0; floats of 32 bits, tables of up to 20 rows)
    >>> found.counts["x0"].tolist()
    [[2, 0], [0, 1], [0, 2]]
    """
    most = USUAL_ROWS if max_rows is None else whole(max_rows, "max_rows", 1, MOST_ROWS)
    alphas = ALPHAS
    if alpha is not None:
        given = Fraction(exact(alpha, "alpha"))
        if not 0 <= given <= MOST_ALPHA:
            raise ValueError(f"alpha must be from 0 to {MOST_ALPHA:,}, got {alpha!r}")
        alphas = (given,)
    weights = Weights.of(model)
    numbers = WholeNumbers(weights, most, alphas)
    found = Fits()
    for some in _told(numbers.by_prior(), numbers.n_blocks, progress):
        for each in alphas:
            found.add(each, numbers.held(some, each))
        if found.other is not None:  # of more rows are the blocks to come
            break
    is_shares = found.base is not None
    # Equal priors are those of any table with fit_prior=False; those of few digits do not reach all rows.
    if not is_shares or numbers.even_prior or numbers.horizon < most:
        apart = Fits()
        for each in _told(alphas, len(alphas), progress):
            apart.add(each, numbers.apart(each))
        # The classes by themselves leave at least what they leave as shares: one table is the same one.
        if not is_shares or apart.other is not None:
            found, is_shares = apart, False
    bound = _bound(found, most, is_given=max_rows is not None)
    known = _known(numbers, found, bound)
    multiples = sum(len(each.rows) for _, each in found.below(bound or most))
    return ModelAttack(
        *known,
        classes=weights.classes,
        up_to_factor=known[0] is not None and (alpha is None or multiples > 1),
        possible=found.possible,
        prior_is_shares=is_shares,
        max_rows=bound or most,
        alphas=len(alphas),
        bits=weights.bits,
        in_plain=weights.in_plain,
    )


def _bound(found: Fits, looked_at: int, *, is_given: bool) -> int | None:
    """Up to how many rows one table alone is left, with its multiples; None where that says too little."""
    if found.base is not None and found.base[1] > looked_at:  # each class by itself has fewer
        return None
    if found.base is None or found.other is None or found.other[0] > looked_at:
        return looked_at
    bound = found.other[0] - 1
    return None if is_given or bound < CLEARLY * found.base[1] else bound


class Fits:
    """What the floats can be of: the table of fewest rows, its multiples, and the next that is none of them.

    Attributes
    ----------
    base : (alpha, rows, rows of each class) or None
    alike : list of (alpha, RowNumbers)
        The base, and what is a multiple of it, alpha included.
    other : (rows, alpha) or None
        No table of fewer rows is anything else.
    """

    def __init__(self) -> None:
        self.base: tuple[Fraction, int, Longs] | None = None
        self.alike: list[tuple[Fraction, RowNumbers]] = []
        self.other: tuple[int, Fraction] | None = None

    def add(self, alpha: Fraction, numbers: RowNumbers) -> None:
        """Take in numbers of rows, rising, that go with an alpha."""
        if not len(numbers.rows):
            return
        first = RowNumbers(numbers.rows[:1], numbers.of_class[:1])
        if self.base is None or first.rows[0] < self.base[1]:
            if self.base is not None and not self._are_multiples(alpha, first).all():
                self._note(self.base[1], self.base[0])
                self.alike = []
            self.base = (alpha, int(first.rows[0]), first.of_class[0])
        same = self._are_multiples(alpha, numbers)
        if same.any():
            self.alike.append((alpha, RowNumbers(numbers.rows[same], numbers.of_class[same])))
        if not same.all():
            self._note(int(numbers.rows[~same][0]), alpha)

    def below(self, rows: int) -> list[tuple[Fraction, RowNumbers]]:
        """The alike ones of at most so many rows."""
        kept = [(alpha, numbers, numbers.rows <= rows) for alpha, numbers in self.alike]
        return [
            (alpha, RowNumbers(numbers.rows[few], numbers.of_class[few]))
            for alpha, numbers, few in kept
            if few.any()
        ]

    @property
    def possible(self) -> tuple[tuple[int, Fraction], ...]:
        """The base, and the next."""
        if self.base is None:
            return ()
        base = (self.base[1], self.base[0])
        return (base,) if self.other is None else (base, self.other)

    def _are_multiples(self, alpha: Fraction, numbers: RowNumbers) -> Bools:
        assert self.base is not None
        base_alpha, rows, of_class = self.base
        same: Bools = (numbers.of_class * rows == of_class * numbers.rows[:, np.newaxis]).all(axis=1)
        if alpha or base_alpha:  # without smoothing every multiple gives the same shares
            same &= np.array([alpha * rows == base_alpha * n for n in numbers.rows.tolist()])
        return same

    def _note(self, rows: int, alpha: Fraction) -> None:
        if self.other is None or rows < self.other[0]:
            self.other = (rows, alpha)


def _told(steps: Iterable[Step], total: int, progress: Progress | None) -> Iterator[Step]:
    for done, step in enumerate(steps):
        yield step
        if progress is not None:
            progress(done + 1, total)


def _known(
    numbers: WholeNumbers, found: Fits, max_rows: int | None
) -> tuple[int | None, Fraction | None, tuple[int | None, ...], Mapping[str, Longs], Mapping[str, Longs]]:
    """The first fields of a `ModelAttack`, of tables up to so many rows; None where several are left."""
    counts: dict[str, Longs] = {}
    candidates: dict[str, Longs] = {}
    if found.base is None or max_rows is None:
        for name, cells in numbers.cells.items():
            impossible = cells.shares == 0  # whatever the number of rows is
            counts[name] = np.where(impossible, 0, NOTHING)
            candidates[name] = np.where(impossible, 1, numbers.max_rows + 1)
        nobody = (None,) * numbers.n_classes
        return None, None, nobody, MappingProxyType(counts), MappingProxyType(candidates)
    alpha, rows, of_class = found.base
    for name in numbers.cells:
        least, most = numbers.ranges(name, of_class, alpha)
        sure = least == most
        for other, multiples in found.below(max_rows):
            sure &= numbers.multiples(name, multiples, other, least, rows)
        counts[name] = np.where(sure, least, NOTHING)
        candidates[name] = np.where(sure, 1, np.maximum(most - least + 1, 2))
    of_classes = tuple(of_class.tolist())
    return rows, alpha, of_classes, MappingProxyType(counts), MappingProxyType(candidates)
