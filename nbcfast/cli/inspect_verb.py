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
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import mended_by_leaving_out
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import reads_table, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import listing, pairs, readable, remarked, show, warned
from nbcfast.cli.reading import Reading, counted
from nbcfast.publishing.beginnings import header_of
from nbcfast.publishing.remarks import all_once, too_long
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.table.values import Value, plain

MOST_COLUMNS = 10_000  # that are looked at
MOST_LISTED = 1_000  # attributes of which a line is printed
TUPLES_COUNTED = 1_000_000  # ties are looked for in the whole domain up to here


@verbs.command()
@reads_table
@declares
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def inspect(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declaring: Declaring,
    as_json: bool,
) -> int:
    """Say what FILE (CSV or Parquet) holds for a classifier of the column NAME.

    Prints rows, classes, attributes with the sizes of their domains, (value, class) pairs without any
    row, and ties: rows, and tuples of the whole domain, whose best score is shared by several classes.

    What is printed comes from the private table and is not meant for publication.
    """
    header = None if columns is not None else header_of(file, reading.delimiter)
    if header is not None and len(header) > MOST_COLUMNS:
        print(
            f"{file}: {len(header):,} columns, and up to {MOST_COLUMNS:,} are looked at: name some with "
            "--columns",
            file=sys.stderr,
        )
        return 3
    with mended_by_leaving_out(click.get_current_context()):
        table, views = counted(file, class_name, columns, reading, max_values, declaring.declared)
    contents = Contents.of(table, views)
    names = None if columns is None else names_in(columns)
    remarks = [
        *all_once(file, reading.weights, reading.delimiter, class_name, names, OPTIONS),
        *too_long(table, file, reading.texts, OPTIONS),
    ]
    if as_json:
        document = {"file": str(file), "class": class_name, **contents.to_dict(), **warned(remarks)}
        print(json.dumps(document, indent=2))
    else:
        head = Text(printable(str(file)), style="bold")
        show(head, *contents.parts(class_name, reading.weights is not None), *remarked(remarks))
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
            ("rows", f"{self.n_rows:,}"),
            *([("total weight", f"{self.total:,}")] if weighted else []),
            ("attributes", f"{len(self.sizes):,}"),
            ("tuples in the domain", readable(self.tuples)),
            ("smallest class", f"{label(value)} ({count:,} {unit})"),
            ("zero counts", f"{sum(self.zeros.values()):,} of {self.cells:,} (value, class) pairs"),
            ("rows with tied scores", f"{self.tied_rows:,}"),
            ("tuples with tied scores", tied),
        ]
