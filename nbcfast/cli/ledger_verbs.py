"""The verbs of `nbcfast ledger`."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import click
from rich.text import Text

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.naming import Verb
from nbcfast.cli.options import as_json, verbs
from nbcfast.cli.printing import listing, readable, remarked, show
from nbcfast.ledger import Ledger, LedgerError, LedgerLine
from nbcfast.ledger.sign_theorem import moved
from nbcfast.ledger.spent import Spent, spent, sums_text

STATES = {
    "written": "written",
    "intended": "was to be written, and nobody knows that it was",
    "not written": "not written",
}
END_UNSEEN = (
    "note it elsewhere, and as private: nothing in the file shows that lines are gone from its end, or that "
    "all of it was written anew"
)
AGAIN = "to publish it again mends that"
SPENT = "its noise is spent, and to publish again spends as much once more"
OPEN = "others may read it, and it has the counts of all tables: chmod 600"


@verbs.group("ledger")
def group() -> None:
    """The ledger of releases: what several releases of one table give away together; see publish --ledger."""


group.command_class = Verb


@group.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@as_json
def show_verb(file: Path, json_only: bool) -> int:
    """Say which releases FILE has, of how many rows, and what those with noise cost together.

    What is printed comes from private tables and is not meant for publication.
    """
    ledger = of(file)
    lines = ledger.lines
    if json_only:
        print(json.dumps(document_of(file, lines), indent=2))
        return 0
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
    totals = sums_text(spent_by(lines), sum(line.counts and line.noise is None for line in lines))
    head = Text(printable(f"{file}: {len(lines):,} release{'' if len(lines) == 1 else 's'}"), style="bold")
    show(head, grid, *remarked([*totals, *([OPEN] if ledger.open_to_others else [])]))
    return 0


@group.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--mend",
    is_flag=True,
    help="Cut off a last line that was begun and not ended, and enter which releases stand after all.",
)
def check_verb(file: Path, mend: bool) -> int:
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
    waiting = [line for line in lines if line.state == "intended"]
    remarks = [
        *done,
        *(
            f"line {line.n} {STATES['intended']}: it counts as released; "
            f"{AGAIN if line.noise is None else SPENT}"
            for line in waiting
        ),
        *([OPEN] if ledger.open_to_others else []),
        *(
            []
            if ledger.last_sha256 is None
            else [f"sha256 of its last line: {ledger.last_sha256}; {END_UNSEEN}"]
        ),
    ]
    verdict = "every line is whole, and follows the one before it"
    of_lines = f"{len(lines):,} release{'' if len(lines) == 1 else 's'}"
    show(Text(printable(f"{file}: {of_lines}; {verdict}"), style="bold"), *remarked(remarks))
    return 1 if waiting else 0


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


def spent_by(lines: tuple[LedgerLine, ...]) -> tuple[Spent, ...]:
    """What all releases with noise cost that count."""
    return spent((line.noise, line.terms.choice) for line in lines if line.counts and line.noise is not None)


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
