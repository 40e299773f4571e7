"""What stands beside the rows of a file that were answered: labels, posteriors, and what was unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from nbcfast._core.dtypes import Array, Bools, Floats, Longs
from nbcfast._core.untyped import PyArrow
from nbcfast.published.raw_rows import Answering, RowAnswers
from nbcfast.table.arrow import load_pyarrow
from nbcfast.table.values import Interval, Value

UNSEEN = "unseen"  # the column that says why a row has no class, or what its class was decided without
BETWEEN = "; "  # the attributes named there
POINT_FROM, POINT_TO = -6, 10  # decimal exponents of the floats that Arrow writes without one

Coded = tuple[Array, list[str]]  # codes of rows, and their texts


@dataclass(frozen=True, kw_only=True)
class AddedNames:
    """The columns that come after those of the file.

    Parameters
    ----------
    name : str
        Of the label.
    probabilities : sequence of str
        Of the posterior of each class, in the order of the classes; none where these are not wanted.
    says_unseen : bool
        Whether the last column names the attributes whose value is unknown.
    """

    name: str
    probabilities: Sequence[str] = ()
    says_unseen: bool = False

    @property
    def names(self) -> list[str]:
        """All of them, in their order."""
        return [self.name, *self.probabilities, *([UNSEEN] if self.says_unseen else [])]


class AddedColumns:
    """Makes columns of answers, as Arrow arrays or as texts.

    Parameters
    ----------
    answering : Answering
        That of a release.
    added : AddedNames
        Which columns.
    """

    def __init__(self, answering: Answering, added: AddedNames) -> None:
        self.names = added.names
        self._added = added
        self._attributes = answering.names
        self._labels = [str(one) if isinstance(one, Interval) else one for one in answering.views[0].classes]
        self._label_texts = [*map(value_text, self._labels), ""]

    def fields(self) -> list[tuple[str, PyArrow]]:
        """The names and Arrow types of the columns."""
        pa = load_pyarrow()
        types = [pa.array(self._labels).type, *[pa.float64() for _ in self._added.probabilities]]
        types += [pa.string()] if self._added.says_unseen else []
        return list(zip(self.names, types, strict=True))

    def arrow(self, answers: RowAnswers) -> list[PyArrow]:
        """The arrays of some rows."""
        pa = load_pyarrow()
        unknown = answers.unknown
        arrays = [pa.array(self._labels).take(pa.array(answers.codes, mask=unknown))]
        if self._added.probabilities and answers.probabilities is not None:
            columns = map(np.ascontiguousarray, answers.probabilities.T)
            arrays += [pa.array(column, mask=unknown) for column in columns]
        if self._added.says_unseen:
            arrays.append(pa.array(unseen_texts(answers, self._attributes), pa.string()))
        return arrays

    def texts(self, answers: RowAnswers) -> list[Coded]:
        """The fields of some rows in a CSV file; what a row has not is an empty text."""
        unknown = answers.unknown
        codes = answers.codes
        if unknown is not None:
            codes = np.where(unknown, len(self._labels), codes)
        columns: list[Coded] = [(codes, self._label_texts)]
        if self._added.probabilities and answers.probabilities is not None:
            columns += [_float_texts(column, unknown) for column in answers.probabilities.T]
        if self._added.says_unseen:
            columns.append(_unseen(answers, self._attributes))
        return columns


def value_text(value: Value) -> str:
    """A value in a CSV file, as Arrow writes those of its type."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return float_text(value) if isinstance(value, float) else str(value)


def float_text(number: float) -> str:
    """The shortest digits of a finite float, as Arrow writes them: 0.00001 is such a text, and 1e-7."""
    if 1e-4 <= number < 1:
        return repr(number)
    digits = Decimal(repr(number)).normalize()
    return f"{digits:f}" if not digits or POINT_FROM <= digits.adjusted() < POINT_TO else f"{digits:e}"


def _float_texts(column: Floats, unknown: Bools | None) -> Coded:
    """Those of rows that are answered, each number once; it is the same in many rows."""
    numbers, codes = np.unique(column if unknown is None else column[~unknown], return_inverse=True)
    texts = [*map(float_text, numbers.tolist()), ""]
    if unknown is None:
        return codes, texts
    of_row = np.full(len(column), len(numbers))
    of_row[~unknown] = codes
    return of_row, texts


def unseen_texts(answers: RowAnswers, names: Sequence[str]) -> Array:
    """For each row the names of the attributes whose value is unknown; empty where there are none."""
    codes, texts = _unseen(answers, names)
    return np.array(texts, object)[codes]


def _unseen(answers: RowAnswers, names: Sequence[str]) -> tuple[Longs, list[str]]:
    codes = np.zeros(len(answers.codes), np.int64)
    astray = answers.astray
    if astray is None:
        return codes, [""]
    rows = np.flatnonzero(astray)
    own = [name for name in names if name in answers.strays]
    which = np.stack([answers.strays[name][rows] for name in own], axis=1)
    kinds, of_row = np.unique(which, axis=0, return_inverse=True)
    codes[rows] = of_row.ravel() + 1
    said = [BETWEEN.join(name for name, is_so in zip(own, one, strict=True) if is_so) for one in kinds]
    return codes, ["", *said]
