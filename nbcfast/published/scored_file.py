"""A file of rows with the answers of a release beside them, written block by block in constant memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Bools, Longs
from nbcfast._reading.row_blocks import Finishing, RowFile
from nbcfast.published.added_columns import AddedNames
from nbcfast.published.raw_rows import Answering, RowAnswers, Strays
from nbcfast.published.right_answers import RightAnswers
from nbcfast.published.row_sinks import Sink

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


@dataclass
class Tally:
    """What the rows of a file were answered.

    Attributes
    ----------
    rows, unknown : int
        Of the file, and those without a class.
    partial, by_prior : int
        Rows with a class from which some attribute was left out, and those from which all were.
    of_class : ndarray of int64
        How many have each class.
    strays : Strays
        The values that the release does not know.
    first : list of RowAnswers
        Those of the first rows.
    right : RightAnswers or None
        Where the file has the class: how many rows were answered with it.
    """

    of_class: Longs
    rows: int = 0
    unknown: int = 0
    partial: int = 0
    by_prior: int = 0
    strays: Strays = field(default_factory=Strays)
    first: list[RowAnswers] = field(default_factory=list)
    right: RightAnswers | None = None

    def add(self, answers: RowAnswers) -> None:
        """Those of some more rows."""
        unknown = answers.unknown
        codes = answers.codes if unknown is None else answers.codes[~unknown]
        n_unknown = _number(unknown)
        self.of_class += np.bincount(codes, minlength=len(self.of_class))
        self.rows += len(answers.codes)
        self.unknown += n_unknown
        self.partial += _number(answers.astray) - n_unknown
        self.by_prior += _number(answers.by_prior)
        self.strays.add(answers)


def _number(mask: Bools | None) -> int:
    return 0 if mask is None else int(np.count_nonzero(mask))


def score(
    answering: Answering,
    file: RowFile,
    added: AddedNames,
    sink: Sink | None,
    *,
    unseen: str,
    n_first: int = 0,
    right: RightAnswers | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Answer the rows of a file, and hand them to a sink.

    Parameters
    ----------
    answering : Answering
        That of a release.
    file : RowFile
        The rows.
    added : AddedNames
        What comes beside them.
    sink : Sink, optional
        Without one rows are only counted.
    unseen : {"error", "ignore", "null"}
        Whether rows with a value that is unknown are refused, once all were counted, answered without its
        attribute, or given no class.
    n_first : int
        Of how many rows at the beginning the answers are kept.
    right : RightAnswers, optional
        Counts the rows that are answered with the class that they have in the file.
    progress : callable, optional
        Called as progress(bytes_read, bytes_in_all).

    Raises
    ------
    ValueError
        If rows have unknown values, with "error", or with "ignore" in the column that selects, or the file
        is not what its ending says.
    """
    tally = Tally(np.zeros(answering.n_classes, np.int64), right=right)
    finishing = Finishing(file.null_values)
    for batch in file.batches():
        block = finishing.block(batch, [*answering.names, *([] if right is None else [right.name])])
        kept = tally.rows < n_first
        leave_out = unseen == "ignore"
        answers = answering.answers(block, proba=bool(added.probabilities) or kept, leave_out=leave_out)
        tally.add(answers)
        if right is not None:
            right.add(block.columns[right.name], answers)
        if kept:
            tally.first.append(answers)
        if sink is not None and not answering.refused(tally.strays, unseen):
            sink.write(batch, answers)
        if progress is not None:
            progress(file.done, file.size)
    answering.refuse(tally.strays, unseen)
    return tally
