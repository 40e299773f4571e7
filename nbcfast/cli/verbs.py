"""The verbs of the command line, one function a verb, on the public interface alone."""

import json
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._wire.folder import ignored_text
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, WARNING
from nbcfast.cli.against import private_table, read_otherwise
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import reads_file, reads_table, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import limit_line, listing, pairs, readable, show
from nbcfast.cli.reading import Reading, counted
from nbcfast.published.release import Release
from nbcfast.publishing.beginnings import header_of
from nbcfast.publishing.inputs import listed_of
from nbcfast.publishing.remarks import all_once, too_long
from nbcfast.publishing.words import json_integer as exact
from nbcfast.publishing.words import label
from nbcfast.table.values import plain
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.load import load
from nbcfast.verification.results import Verification

if TYPE_CHECKING:
    from nbcfast.mondrian.partition import Partition
    from nbcfast.response import Disguised
    from nbcfast.templates import Disclosure
MOST_COLUMNS = 10_000  # that inspect looks at
MOST_LISTED = 1_000  # attributes of which it prints a line
TUPLES_COUNTED = 1_000_000  # ties are looked for in the whole domain up to here


@verbs.command()
@reads_table
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def inspect(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
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
    table, views = counted(file, class_name, columns, reading, max_values)
    sizes = {name: len(views.domain(name)) for name in views.attributes}
    zeros = {name: int((views.counts[name] == 0).sum()) for name in views.attributes}
    classes = [(value, int(count)) for value, count in zip(views.classes, views.class_counts, strict=True)]
    smallest = min(classes, key=lambda entry: entry[1])
    tuples = math.prod(sizes.values())
    cells = sum(sizes.values()) * len(classes)
    tied_rows = int(views.tied(table).sum())
    tied_tuples = views.tied_tuples(TUPLES_COUNTED)
    names = None if columns is None else names_in(columns)
    said = [
        *all_once(file, reading.weights, reading.delimiter, class_name, names, OPTIONS),
        *too_long(table, file, reading.texts, OPTIONS),
    ]

    if as_json:
        found = {
            "file": str(file),
            "class": class_name,
            "rows": table.n_rows,
            "total_weight": int(views.n_rows),
            "classes": [{"label": plain(value), "count": count} for value, count in classes],
            "smallest_class": {"label": plain(smallest[0]), "count": smallest[1]},
            "attributes": [
                {"name": name, "values": sizes[name], "zero_counts": zeros[name]} for name in sizes
            ],
            "zero_counts": sum(zeros.values()),
            "cells": cells,
            "tuples": exact(tuples),
            "tied_rows": tied_rows,
            "tied_tuples": tied_tuples,
            **({"warnings": said} if said else {}),
        }
        print(json.dumps(found, indent=2))
        return 0

    unit = "rows" if reading.weights is None else "weight"
    summary = [("rows", f"{table.n_rows:,}")]
    if reading.weights is not None:
        summary.append(("total weight", f"{int(views.n_rows):,}"))
    summary += [
        ("attributes", f"{len(sizes):,}"),
        ("tuples in the domain", readable(tuples)),
        ("smallest class", f"{label(smallest[0])} ({smallest[1]:,} {unit})"),
        ("zero counts", f"{sum(zeros.values()):,} of {cells:,} (value, class) pairs"),
        ("rows with tied scores", f"{tied_rows:,}"),
        (
            "tuples with tied scores",
            f"not counted (more than {TUPLES_COUNTED:,} tuples)"
            if tied_tuples is None
            else f"{tied_tuples:,}",
        ),
    ]
    by_class = listing(label(class_name), unit, "share")
    for value, count in classes:
        by_class.add_row(Text(label(value)), f"{count:,}", f"{count / int(views.n_rows):.1%}")
    by_attribute = listing("attribute", "values", "zero counts")
    for name in list(sizes)[:MOST_LISTED]:
        by_attribute.add_row(Text(label(name)), f"{sizes[name]:,}", f"{zeros[name]:,}")
    left = [Text(f"{len(sizes) - MOST_LISTED:,} more attributes: --json lists them all")]

    words = [Text("\n".join(f"- {text}" for text in said))] if said else []
    more = left if len(sizes) > MOST_LISTED else []
    head = Text(printable(str(file)), style="bold")
    show(head, pairs(summary), by_class, by_attribute, *more, *words)
    return 0


class Named(click.Path):
    """A path that is no empty text, which `Path` takes for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("expected the name of a folder or a file, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


@verbs.command()
@click.argument("folder", metavar="DIR", type=Named(path_type=Path))
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The private table, CSV or Parquet: also check that the classifier is the same.",
)
@click.option(
    "--class", "class_name", metavar="NAME", help="Its class column.  [default: that of the release]"
)
@click.option(
    "--tuples",
    "listed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The public list of tuples that a canonical release keeps its answers on.",
)
@click.option(
    "--ignore-extra",
    is_flag=True,
    help="Pass over files in DIR that the certificate does not name: listed, and covered by nothing.",
)
@reads_file
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def verify(
    folder: Path,
    against: Path | None,
    class_name: str | None,
    reading: Reading,
    listed: Path | None,
    ignore_extra: bool,
    as_json: bool,
) -> int:
    """Check what is published in DIR, a release or a table, from its own files alone.

    Checked are the form of the certificate and its sha256; of a release that all counts are positive and
    those of some table, that Lambda keeps the limit and a canonical one is what its answers give, and with
    --against also what it says about the private classifier; of a partition that its table keeps every
    demand, of a disclosure every template; of disguised answers that their scheme hides what the certificate
    says. Nothing else may be in the folder: what the certificate does not name, or is no regular file, is
    named and fails. The path of a certificate.json stands for its folder.

    What the publisher claims and no file can show is printed as a claim, and is no check. Warnings of the
    certificate stand below the verdict. Leaves with 0 if
    every check was made and holds, with 1 if one does not hold, and with 3 if none fails but not all could
    be made ("not fully checked").
    """
    if against is None and (class_name is not None or reading.weights is not None):
        raise ValueError("--class and --weights go with --against FILE")
    if against is None and listed is None and reading.is_of_csv:
        raise ValueError("--null, --delimiter and --text go with --against FILE or --tuples FILE")
    published = public = table = None
    if against is not None or listed is not None:
        with suppress(ValueError):  # the checks say what is wrong
            published = load(folder)
    if isinstance(published, Release):
        class_name = published.class_name if class_name is None else class_name
        if against is not None and class_name is None:
            raise ValueError("the release does not name its class column: give --class NAME")
        if listed is not None and not keeps_list(published):
            raise ValueError(
                "--tuples is for a release that keeps its answers on a list of tuples, and this one claims "
                "nothing of a list"
            )
        if listed is not None:
            public = listed_of(listed, published.views, None, reading.caller)
        if against is not None and class_name is not None:
            table = private_table(published, against, class_name, reading)
        with progress("comparing") as report:
            found = verified(
                folder,
                table,
                tuples=public,
                class_name=None if table is None else class_name,
                ignore_extra=ignore_extra,
                progress=report,
            )
    else:
        found = verified(folder, ignore_extra=ignore_extra)
        for option, given in (("--against", against), ("--tuples", listed)):
            if given is not None and found.kind not in (None, "release"):
                raise ValueError(
                    f"{option} is for releases: kind {found.kind!r} is checked from its own files alone"
                )
    hint = None
    if isinstance(published, Release) and against is not None and table is not None:
        hint = read_otherwise(found, published, against, table, reading)
    if as_json:
        print(json.dumps({**found.to_dict(), **({} if hint is None else {"hint": hint})}, indent=2))
    else:
        show_verification(found, hint)
    return found.exit_code


def keeps_list(release: Release) -> bool:
    """Whether what a release claims is claimed on a public list of tuples."""
    made = release.certificate.canonical
    return made is not None and made.listed is not None


def of_partition(made: "Partition") -> list[tuple[str, str]]:
    """What a partition says of itself."""
    return [
        ("people", f"{made.n_rows:,}"),
        ("groups", f"{made.n_groups:,} by {', '.join(map(label, made.quasi))}"),
        ("demands", str(made.demands)),
    ]


def of_disclosure(made: "Disclosure") -> list[tuple[str, str]]:
    """What a disclosure says of itself."""
    return [("people", f"{made.n_rows:,}"), ("may be suppressed", ", ".join(map(label, made.masked)))]


def of_disguised(made: "Disguised") -> list[tuple[str, str]]:
    """What disguised answers say of themselves."""
    return [
        ("answers", f"{made.n_rows:,}"),
        ("told as they are", ", ".join(map(label, made.untouched)) or "none"),
    ]


SUMMARIES: dict[str, Callable[[Any], list[tuple[str, str]]]] = {
    "partition": of_partition,
    "disclosure": of_disclosure,
    "disguised": of_disguised,
}


def show_verification(found: Verification, hint: str | None = None) -> None:
    """The checks, one a line, and what the release says of itself."""
    said = {True: "yes", False: "NO", None: "?"}
    rows = [(said[check.passed], check.name, check.text) for check in found.checks]
    if found.ignored:
        rows.append(("--", "folder", ignored_text(list(found.ignored))))
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    parts: list[Text | Grid] = [Text(printable(found.path), style="bold"), grid]
    if found.release is not None:
        made = found.release.certificate
        lines = [("limit of Lambda", limit_line(made.limit, made.amplification, made.attacker))]
        if found.classifier is not None:
            lines.append(("classifier", found.classifier))
        parts.append(pairs([*lines, ("rows", readable(found.release.views.n_rows))]))
    if found.published is not None and found.kind in SUMMARIES:
        parts.append(pairs(SUMMARIES[found.kind](found.published)))
    for head, texts in ((CLAIMED, found.claims), (NOTE, found.notes)):
        if texts:
            parts.append(Text("\n".join(f"{head} {printable(text)}" for text in texts)))
    if hint is not None:
        parts.append(Text(f"- {printable(hint)}"))
    parts.append(Text(found.conclusion, style="bold"))
    if found.warnings:
        parts.append(Text("\n".join(f"{WARNING} {printable(text)}" for text in found.warnings)))
    show(*parts)
