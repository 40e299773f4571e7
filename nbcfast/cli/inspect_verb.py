"""The verb `inspect`."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast._core.untyped import Document
from nbcfast._reading.hints import look_at
from nbcfast._reading.seen import seen
from nbcfast._reading.source import InMemory
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import empty_too, mended_by_leaving_out
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.naming import OPTIONS, about
from nbcfast.cli.options import reads_any_table, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import decided, listing, pairs, readable, remarked, show, warned
from nbcfast.cli.reading import Reading, counted
from nbcfast.cli.seen_screens import SeenScreen
from nbcfast.publishing.beginnings import header_of
from nbcfast.publishing.remarks import all_once, numbers_as_text
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.table.values import Value, plain

MOST_COLUMNS = 10_000  # that are looked at
MOST_LISTED = 1_000  # attributes of which a line is printed
TUPLES_COUNTED = 1_000_000  # ties are looked for in the whole domain up to here


@verbs.command(
    short_help="Say what a file holds, column by column.",
    example="nbcfast inspect patients.csv --class diagnosis",
)
@reads_any_table
@declares
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
@click.pass_context
def inspect(
    context: click.Context,
    file: Path,
    class_name: str | None,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declaring: Declaring,
    as_json: bool,
) -> int:
    """Say what FILE (CSV or Parquet) holds, and what it takes to publish a classifier of it.

    Prints of each column its kind, how many values it has, which of them are missing or may be, its range or
    the most frequent values, what it looks like, and the commands to be typed next. With --class also the
    classes, attributes with the sizes of their domains, (value, class) pairs without any row, and ties: rows,
    and tuples of the whole domain, whose best score is shared by several classes.

    What is printed comes from the private table and is not meant for publication.
    """
    header = None if columns is not None else header_of(file, reading.delimiter, reading.encoding)
    if header is not None and len(header) > MOST_COLUMNS:
        print(
            f"{file}: {len(header):,} columns, and up to {MOST_COLUMNS:,} are looked at: name some with "
            "--columns",
            file=sys.stderr,
        )
        return 3
    names = None if columns is None else names_in(columns)
    look = look_at(str(file), reading.csv_delimiter(file), reading.encoding or "utf8")
    remarks = [] if look is None else [f"{printable(str(file))} was read, but {look.text(OPTIONS)}."]
    contents = None
    if class_name is None:
        if declaring != Declaring():
            raise ValueError(
                "--domain, --bin, --group and --leave-out go with --class NAME, the column to predict"
            )
        columns_seen = reading.seen(file, names)
        remarks += reading.uncounted(file, names or [], implied=columns is None)
    else:
        # Read once: what is counted is made of the rows that were looked at.
        with about(file):
            raw = reading.with_class(file, class_name, names)
        columns_seen = seen(InMemory(raw))
        with mended_by_leaving_out(context):
            table, views = counted(
                file, class_name, columns, reading, max_values, declaring.declared, raw=raw
            )
        contents = Contents.of(table, views)
        remarks += all_once(
            file, reading.weights, reading.delimiter, class_name, names, OPTIONS, reading.encoding
        )
        remarks += numbers_as_text(table, file, reading.texts, OPTIONS)
    other = look.reading[1] if look is not None and look.reading and look.reading[0] == "delimiter" else None
    screen = SeenScreen(columns_seen, class_name, reading, other if len(columns_seen) == 1 else None)
    empty = [column.name for column in columns_seen if "" in column.values]
    decisions = [*empty_too(context, empty), *screen.decisions(context)]
    n_rows = columns_seen[0].rows
    if as_json:
        found = {} if contents is None else {"class": class_name, **contents.to_dict()}
        document = {"file": str(file), "rows": n_rows, "columns": screen.to_list(), **found}
        document["next"] = [command for decision in decisions for command in decision.commands]
        print(json.dumps({**document, **warned([*remarks, *screen.notes()])}, indent=2))
        return 0
    head = Text(f"{printable(str(file))} (private: what stands here is not for publication)", style="bold")
    sizes = pairs([("rows", f"{n_rows:,}"), ("columns", f"{len(columns_seen):,}")])
    added = [] if contents is None else contents.parts(str(class_name), reading.weights is not None)
    remarks = [*remarks, *screen.notes()]
    show(head, sizes, screen.grid(), *added, *remarked(remarks), *decided(decisions))
    return 0


@dataclass(frozen=True)
class Contents:
    """What a table holds for a classifier.

    Parameters
    ----------
    n_rows, total : int
        The rows, and how often they count in all.
    classes : sequence of (value, int)
        Each class, and how often it counts.
    sizes, zeros : dict of attribute -> int
        How many values it has, and how many (value, class) pairs without a row.
    tied_rows : int
        The rows whose best score is shared by several classes.
    tied_tuples : int or None
        Such tuples of the whole domain; None where that is too large.
    """

    n_rows: int
    total: int
    classes: Sequence[tuple[Value, int]]
    sizes: dict[str, int]
    zeros: dict[str, int]
    tied_rows: int
    tied_tuples: int | None

    @classmethod
    def of(cls, table: nbcfast.Table, views: nbcfast.Viewset) -> "Contents":
        return cls(
            table.n_rows,
            int(views.n_rows),
            [(value, int(count)) for value, count in zip(views.classes, views.class_counts, strict=True)],
            {name: len(views.domain(name)) for name in views.attributes},
            {name: int((views.counts[name] == 0).sum()) for name in views.attributes},
            int(views.tied(table).sum()),
            views.tied_tuples(TUPLES_COUNTED),
        )

    @property
    def smallest(self) -> tuple[Value, int]:
        """The class that counts least."""
        return min(self.classes, key=lambda entry: entry[1])

    @property
    def cells(self) -> int:
        """The (value, class) pairs."""
        return sum(self.sizes.values()) * len(self.classes)

    @property
    def tuples(self) -> int:
        """The tuples of the whole domain."""
        return math.prod(self.sizes.values())

    def to_dict(self) -> Document:
        value, count = self.smallest
        return {
            "rows": self.n_rows,
            "total_weight": self.total,
            "classes": [{"label": plain(value), "count": count} for value, count in self.classes],
            "smallest_class": {"label": plain(value), "count": count},
            "attributes": [
                {"name": name, "values": size, "zero_counts": self.zeros[name]}
                for name, size in self.sizes.items()
            ],
            "zero_counts": sum(self.zeros.values()),
            "cells": self.cells,
            "tuples": exact(self.tuples),
            "tied_rows": self.tied_rows,
            "tied_tuples": self.tied_tuples,
        }

    def parts(self, class_name: str, weighted: bool) -> list[Text | Grid]:
        """For people: the whole, the classes, the attributes."""
        unit = "weight" if weighted else "rows"
        by_class = listing(label(class_name), unit, "share")
        for value, count in self.classes:
            by_class.add_row(Text(label(value)), f"{count:,}", f"{count / self.total:.1%}")
        by_attribute = listing("attribute", "values", "zero counts")
        for name in list(self.sizes)[:MOST_LISTED]:
            by_attribute.add_row(Text(label(name)), f"{self.sizes[name]:,}", f"{self.zeros[name]:,}")
        parts: list[Text | Grid] = [pairs(self._summary(unit, weighted)), by_class, by_attribute]
        if len(self.sizes) > MOST_LISTED:
            n_left = len(self.sizes) - MOST_LISTED
            parts.append(Text(f"{n_left:,} more attributes: --json lists them all"))
        return parts

    def _summary(self, unit: str, weighted: bool) -> list[tuple[str, str]]:
        value, count = self.smallest
        tied = f"not counted (more than {TUPLES_COUNTED:,} tuples)"
        if self.tied_tuples is not None:
            tied = f"{self.tied_tuples:,}"
        return [
            *([("total weight", f"{self.total:,}")] if weighted else []),
            ("attributes", f"{len(self.sizes):,}"),
            ("tuples in the domain", readable(self.tuples)),
            ("smallest class", f"{label(value)} ({count:,} {unit})"),
            ("zero counts", f"{sum(self.zeros.values()):,} of {self.cells:,} (value, class) pairs"),
            ("rows with tied scores", f"{self.tied_rows:,}"),
            ("tuples with tied scores", tied),
        ]
