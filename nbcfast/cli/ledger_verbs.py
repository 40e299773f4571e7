"""The verbs of `nbcfast ledger`."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.options import as_json, verbs
from nbcfast.cli.printing import listing, readable, tell
from nbcfast.ledger import Ledger, LedgerError, LedgerLine
from nbcfast.ledger.sign_theorem import moved
from nbcfast.reports.ledger_summary import WAITS, of_chain, of_lines, spent_by

STATES = {
    "written": "written",
    "intended": WAITS,
    "not written": "not written",
}


@verbs.group("ledger", short_help="What several releases of one table say together.")
def group() -> None:
    """The ledger of releases: what several releases of one table give away together; see publish --ledger."""


@group.command(
    "show",
    short_help="List the releases of one table, and what their noise cost.",
    example="nbcfast ledger show patients.ledger",
)
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def show_verb(file: Path, json_only: bool) -> int:
    """Say which releases FILE has, of how many rows, and what those with noise cost together.

    What is printed comes from private tables and is not meant for publication.
    """
    ledger = of(file)
    lines = ledger.lines
    tell(
        of_lines(lines, ledger.open_to_others, printable(str(file))),
        lambda: document_of(file, lines),
        as_json=json_only,
        body=lambda: [lines_grid(lines)],
    )
    return 0


def lines_grid(lines: tuple[LedgerLine, ...]) -> Grid:
    """The releases, one a line."""
    grid = listing("release", "line", "rows", "came", "went", "window", "noise", "state")
    for line, change in zip(lines, differences(lines), strict=True):
        grid.add_row(
            Text(line.release[:16]),
            f"{line.n}",
            "not known" if line.rows is None else readable(line.rows),
            *change,
            "" if line.window is None else printable(line.window.text),
            "" if line.noise is None else line.noise.text,
            STATES[line.state],
        )
    return grid


@group.command(
    "check",
    short_help="Say whether a ledger is whole.",
    example="nbcfast ledger check patients.ledger",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--mend",
    is_flag=True,
    help="Cut off a last line that was begun and not ended, and enter which releases stand after all.",
)
@as_json
def check_verb(file: Path, mend: bool, json_only: bool) -> int:
    """Say whether FILE is a ledger as it was written: every line whole, and the one that the next follows.

    Leaves with 0 if it is, and nothing waits; with 1 if a line was changed, or was not ended, or one before
    the last is gone, or if nobody knows of a release whether it was written. That lines are gone from its
    end, or that all of it was written anew, FILE cannot show: note its last sha256 elsewhere.
    """
    ledger = of(file)
    try:
        done = ledger.mend() if mend else []
        lines = ledger.lines
    except LedgerError as error:
        print(printable(f"nbcfast: {error}"), file=sys.stderr)
        return 1
    summary = of_chain(
        lines, ledger.open_to_others, printable(str(file)), mended=done, last=ledger.last_sha256
    )
    tell(
        summary,
        lambda: {"file": str(file), "releases": len(lines), "last_sha256": ledger.last_sha256},
        as_json=json_only,
    )
    return 1 if any(line.state == "intended" for line in lines) else 0


def of(file: Path) -> Ledger:
    """The ledger of a file that is there."""
    if not os.path.lexists(file):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
    return Ledger(file)


def differences(lines: tuple[LedgerLine, ...]) -> list[tuple[str, str]]:
    """How many rows came and went before each release, at least."""
    found, before = [], None
    for line in lines:
        after = line.views
        if before is None or after is None or before.domain != line.domain or before.views is None:
            found.append(("", ""))
        else:
            change = moved(before.views, after)
            found.append((f">= {change.came:,}", f">= {change.went:,}"))
        if line.counts:
            before = line
    return found


def document_of(file: Path, lines: tuple[LedgerLine, ...]) -> Document:
    """Plain values."""
    return {
        "file": str(file),
        "releases": [
            {
                "n": line.n,
                "release": line.release,
                "rows": line.rows,
                "domain": line.domain,
                "parameters": line.terms.parameters,
                "answers": line.answers,
                "window": None if line.window is None else line.window.to_dict(),
                "noise": None if line.noise is None else line.noise.to_dict(),
                "state": line.state,
            }
            for line in lines
        ],
        "spent": [one.to_dict() for one in spent_by(lines)],
    }
