"""What is shown of columns: what `inspect` sees and the commands to be typed next, and what is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.untyped import Document
from nbcfast._reading.hints import look_at
from nbcfast._reading.seen import MOST_KEPT, SeenColumn
from nbcfast._wire.messages import printable
from nbcfast.canonical.boxes.ranked import MOST_CLASSES
from nbcfast.cli.asked_again import MENU, OF_THE_TABLE, asked, free, with_delimiter
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import verbs
from nbcfast.cli.parsing import listed
from nbcfast.cli.printing import Parts, listing
from nbcfast.cli.reading import Reading
from nbcfast.domains.skeleton import Proposal
from nbcfast.publishing.looks import ColumnLook, looks_of
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision
from nbcfast.table.values import plain

MOST_LISTED = 1_000  # columns of which a line is printed
FEW_CLASSES = 20
NAMED = 3  # of the most frequent values
LETTERS = 20  # of a value


@dataclass(frozen=True)
class SeenScreen:
    """Columns as they were seen, for a class if one was named.

    Parameters
    ----------
    columns : list of SeenColumn
    class_name : str or None
    reading : Reading
        How the file was read.
    other_mark : str or None
        What seems to stand between fields in its place, where a whole line was read as one.
    """

    columns: list[SeenColumn]
    class_name: str | None
    reading: Reading
    other_mark: str | None = None

    def look(self, column: SeenColumn) -> ColumnLook:
        """What a column looks like; the class, and one that counts rows, are what the command says."""
        if self.other_mark is not None:
            return ColumnLook("several columns in one", OPTIONS.reading("delimiter", self.other_mark))
        if column.name == self.class_name:
            few = len(column.values) > 1 and not column.more
            return ColumnLook("the class") if few else ColumnLook("the class", "is it the one that is meant?")
        if column.name == self.reading.weights:
            return ColumnLook("how often a row counts")
        return looks_of(column, OPTIONS)

    def grid(self) -> Grid:
        """A line a column."""
        grid = listing("column", "kind", "values", "missing")
        grid.columns[1].justify = "left"
        grid.add_column("holds", overflow="fold")
        grid.add_column("looks like", overflow="fold")
        for column in self.columns[:MOST_LISTED]:
            n_values = f"{'over ' if column.more else ''}{column.n_values:,}"
            cells = (missing_text(column), holds_text(column), self.look(column).text)
            grid.add_row(Text(label(column.name)), column.kind, n_values, *map(Text, cells))
        return grid

    def notes(self) -> list[str]:
        """What holds of the lines."""
        said = []
        if any(column.more for column in self.columns):
            said.append(
                f"Of a column with more than {MOST_KEPT:,} values so many are told apart, those that came "
                "first; its range and its nulls are those of all rows."
            )
        if len(self.columns) > MOST_LISTED:
            said.append(f"{len(self.columns) - MOST_LISTED:,} more columns: --json lists them all")
        return said

    def to_list(self) -> list[Document]:
        """Plain values, for JSON."""
        found = []
        for column in self.columns:
            look = self.look(column)
            found.append(
                {
                    "name": column.name,
                    "kind": column.kind,
                    "values": column.n_values,
                    "more_values": column.more,
                    "missing": column.nulls,
                    "maybe_missing": column.missing_texts,
                    "least": plain(column.low),
                    "greatest": plain(column.high),
                    "first": [{"value": plain(value), "rows": rows} for value, rows in column.first],
                    "looks_like": look.like,
                    "to_do": look.todo,
                    "leave_out": look.out,
                }
            )
        return found

    @property
    def likely_class(self) -> str | None:
        """The column that is most likely to be predicted: the last with few values, as many files have it."""
        return next(
            (
                column.name
                for column in reversed(self.columns)
                if 2 <= column.n_values <= FEW_CLASSES and not column.more and not column.missing_texts
            ),
            None,
        )

    def decisions(self, context: click.Context) -> list[Decision]:
        """What to do next; where no class was named, with the one that is likely, or NAME."""
        if self.other_mark is not None:
            command = with_delimiter(context, self.other_mark)
            return [Decision("Read it with what stands between its fields, and look again.", (command,))]
        out = [column.name for column in self.columns if self.look(column).out]
        missing = dict.fromkeys(text for column in self.columns for text in column.missing_texts)
        nulls: list[str] = []
        if missing:
            empty = not self.reading.nulls and any(column.nulls for column in self.columns)
            nulls = [*self.reading.nulls, *([""] if empty else []), *missing]
        said = [word for text in nulls for word in ("--null", text)]
        without = {"nulls"} if nulls else set()
        decisions = []
        if self.class_name is None:
            likely = self.likely_class
            said = ["--class", likely or "NAME", *said]
            guess = (
                "none has few values" if likely is None else f"{label(likely)} is the last with few values"
            )
            command = asked(context, without=without, more=said)
            decisions.append(Decision(f"Say which column is to be predicted: {guess}.", (command,)))
        menu = free(MENU)
        for verb, what, more in (
            ("domain", "Write a file of values and bins, and check it against the code book.", []),
            (
                "advise",
                "Or a menu of such domains, of which `advise` finds the best once it is checked.",
                [*(["--leave-out", listed(out)] if out else []), "--write-menu", menu],
            ),
        ):
            taken = {str(param.name) for param in verbs.commands[verb].params} & OF_THE_TABLE
            command = asked(context, verb, only=taken, without=without, more=[*said, *more])
            decisions.append(Decision(what, (command,)))
        return decisions


def begun_of_one_column(file: Path, reading: Reading, proposals: Sequence[Proposal]) -> list[Decision]:
    """That a file of one column may have several, with another mark between them."""
    if len(proposals) != 1:
        return []
    look = look_at(str(file), reading.csv_delimiter(file), reading.encoding or "utf8")
    if look is None or look.reading is None or look.reading[0] != "delimiter":
        return []
    context = click.get_current_context()
    replacing = [] if context.params["overwrite"] else ["--overwrite"]
    command = with_delimiter(context, look.reading[1], *replacing)
    return [Decision(f"{file} was read, but {look.text(OPTIONS)}. Then begin again.", (command,))]


def coarser_class(proposals: Sequence[Proposal], class_name: str | None, how: str) -> list[Decision]:
    """What is done with a class of more values than any publication takes; nothing where it has fewer."""
    many = next((one.n_values for one in proposals if one.name == class_name), 0)
    if many <= MOST_CLASSES:
        return []
    return [
        Decision(
            f"Put the {many:,} values of {label(str(class_name))} into {MOST_CLASSES} sets at most, better "
            f"into a few, or predict another column: the canonical release takes no more classes. {how}"
        )
    ]


def proposals_parts(proposals: Sequence[Proposal], class_name: str | None, all_in: str) -> Parts:
    """What is proposed for each column; `all_in` says where more of them are listed."""
    grid = listing("column", "kind", "values", "written")
    grid.add_column("why", overflow="fold")
    for proposal in proposals[:MOST_LISTED]:
        reason = f"the class; {proposal.reason}" if proposal.name == class_name else proposal.reason
        of_class = proposal.name == class_name and proposal.option.out  # and the class is never left out
        written = "not listed" if of_class else proposal.text
        cells = (proposal.kind, f"{proposal.n_values:,}", written)
        grid.add_row(Text(label(proposal.name)), *cells, Text(printable(reason)))
    if len(proposals) <= MOST_LISTED:
        return [grid]
    return [grid, Text(f"{len(proposals) - MOST_LISTED:,} more columns: {all_in}")]


def missing_text(column: SeenColumn) -> str:
    """How many rows have no value, or a text that may stand for none."""
    parts = [f"{column.nulls:,}"] if column.nulls else []
    parts += [f"{count:,} {label(text)!s}" for text, count in column.missing_texts.items()]
    return ", ".join(parts) or "-"


def holds_text(column: SeenColumn) -> str:
    """The range of numbers and dates, or the values that most rows have."""
    if column.low is not None:
        return f"{column.low} .. {column.high}"
    shown = [f"{_short(label(value))} {count:,}" for value, count in column.first[:NAMED]]
    return ", ".join(shown) + (", .." if len(column.values) > NAMED else "")


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 2]}.."
