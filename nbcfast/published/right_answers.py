"""`RightAnswers`: how many rows of a file, that has their class, were answered with it."""

from __future__ import annotations

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.domains import Declared
from nbcfast.published.placing import Placing, options_of
from nbcfast.published.raw_rows import RowAnswers
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column
from nbcfast.table.values import Value


class RightAnswers:
    """What the rows of a file are answered beside the class that they have.

    Parameters
    ----------
    name : str
        The column of the class.
    classes : Domain
        Of the release.
    declared : Declared, optional
        What the release was published with, of which the class may be a part.

    Attributes
    ----------
    rows, right : int
        Rows with a class of the release and an answer; and those of which both are the same.
    of_class : ndarray of int64
        How many of these rows have each class.
    others : int
        Rows whose value is no class of the release, but for nulls.
    first : value
        The first of these values.

    Examples
    --------
    >>> from nbcfast import Table
    >>> found = RightAnswers("ill", Domain.of(["no", "yes"]))
    >>> column = Table({"ill": ["no", "no", "maybe"]}).column("ill")
    >>> found.add(column, RowAnswers(np.array([0, 1, 1]), {}, None, {}, {}))
    >>> found.rows, found.right, found.others, found.first
    (2, 1, 1, 'maybe')
    """

    def __init__(self, name: str, classes: Domain, declared: Declared | None = None) -> None:
        self.name, self.classes = name, classes
        self._placing = Placing(classes, options_of({name: classes}, declared).get(name))
        self.rows = self.right = self.others = 0
        self.of_class: Longs = np.zeros(len(classes), np.int64)
        self.first: Value = None

    def add(self, column: Column, answers: RowAnswers) -> None:
        """The rows of a block: the column of their class, and their answers."""
        places = self._placing.places(column.domain)[column.codes]
        unknown = answers.unknown
        had = (places >= 0) if unknown is None else (places >= 0) & ~unknown
        self.rows += int(np.count_nonzero(had))
        self.right += int(np.count_nonzero(had & (places == answers.codes)))
        self.of_class += np.bincount(places[had], minlength=len(self.classes))
        values = column.domain.values
        strange = np.array([value is not None for value in values], bool)[column.codes] & (places < 0)
        if strange.any():
            if not self.others:
                self.first = values[int(column.codes[int(strange.argmax())])]
            self.others += int(np.count_nonzero(strange))

    @property
    def most(self) -> int:
        """How many of the rows have the class that is the most frequent among them."""
        return int(self.of_class.max())
