"""The verb `nbcfast risk`, on the public interface alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from click.core import ParameterSource
from rich.text import Text

from nbcfast import associations
from nbcfast._wire.messages import printable
from nbcfast.associations.results import check_threshold, probability_text
from nbcfast.cli.bars import progress
from nbcfast.cli.beginnings import header_of
from nbcfast.cli.naming import no_column
from nbcfast.cli.options import Whole, reads_file, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import label, listing, pairs, show
from nbcfast.cli.reading import Reading
from nbcfast.cli.skyline_verbs import as_json
from nbcfast.table.values import plain

OF_VIEWS = ("model", "worlds", "wheres", "worst", "error", "confidence")
ADVICE = 10  # splits that are shown
CERTAIN = 1_000  # associations of probability 1 that are counted at first
MOST_CERTAIN = 100_000
HALF = (
    "The unrestricted probability of an association in the join is never below 1/2, however many share a "
    "join value; --model restricted measures how well it hides."
)


@verbs.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--view", "views", metavar="A,B,C", multiple=True, help="The columns of a view; twice or more.")
@click.option("--identity", metavar="NAME", required=True, help="The column that says who.")
@click.option("--attribute", metavar="NAME", required=True, help="The column that says what.")
@click.option("--threshold", metavar="P", help="Leave with 1 if an association is above: 0.5 or 1/2.")
@click.option(
    "--model",
    type=click.Choice(["unrestricted", "restricted"]),
    default="unrestricted",
    show_default=True,
    help="Whether somebody may have several values, or has a single one.",
)
@click.option(
    "--worlds",
    type=click.Choice(["projected", "full"]),
    default="projected",
    show_default=True,
    help="Whether only the columns that join, and who and what, make a world, or whole tuples.",
)
@click.option(
    "--where", "wheres", metavar="NAME=VALUE", multiple=True, help="Ask for this one; may be repeated."
)
@click.option("--worst", metavar="N", type=Whole(min=1), default=10, show_default=True, help="To list.")
@click.option(
    "--error",
    metavar="E",
    help="How far a probability may be off where worlds must be sampled. What is estimated to take more than "
    "ten seconds or 1 GB is done only where this is given.  [default: 0.01]",
)
@click.option(
    "--confidence",
    metavar="P",
    default="0.95",
    show_default=True,
    help="How sure that is.",
)
@click.option(
    "--advise",
    "columns",
    metavar="A,B,C",
    help="Instead of views: split these columns so that nothing is above the threshold.",
)
@reads_file
@as_json
@click.pass_context
def risk(
    context: click.Context,
    file: Path,
    views: tuple[str, ...],
    identity: str,
    attribute: str,
    threshold: str | None,
    model: Literal["unrestricted", "restricted"],
    worlds: Literal["projected", "full"],
    wheres: tuple[str, ...],
    worst: int,
    error: str | None,
    confidence: str,
    columns: str | None,
    reading: Reading,
    json_only: bool,
) -> int:
    """Say how likely it is, for somebody who sees views of FILE, that somebody has something.

    Leaves with 1 if an association is above --threshold, or has no world in the restricted model (that
    somebody is known to have several values), with 3 if that is too much work, at all or without --error,
    and with 0 otherwise. With --advise it leaves with 1 if there is no split. Associations of probability 1
    are warned of whatever the threshold. Weights are ignored: views are sets.
    """
    level = None if threshold is None else check_threshold(threshold)
    if columns is not None:
        if views:
            raise ValueError("--advise takes the place of --view")
        for option in OF_VIEWS:
            if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
                raise ValueError(
                    f"--{'where' if option == 'wheres' else option} is for --view, not for --advise"
                )
        try:
            return advised(file, columns, identity, attribute, level, reading, json_only)
        except associations.TooManyGuessesError as large:
            return too_large(large)
    listed = [names_in(view, "--view") for view in views]
    names = list(dict.fromkeys(name for view in listed for name in view))
    if len(listed) < 2:
        raise ValueError(f"--view must be given at least twice, got {len(listed)}")
    of_views = dict(zip((f"--view {view}" for view in views), listed, strict=True))
    for name, option in ((identity, "--identity"), (attribute, "--attribute")):
        if name not in names:
            expect_columns(file, of_views, reading)
            raise ValueError(f"{option}: expected a column of a view, got {name!r}")
    where = {name: Asked(chosen) for name in (identity, attribute) if (chosen := asked(name, wheres))}
    for text in wheres:
        if text.partition("=")[0] not in (identity, attribute):
            raise ValueError(f"--where must be {identity}=VALUE or {attribute}=VALUE, got {text!r}")
    try:
        table = reading.source(file, names)
        with progress("joining") as report:
            found = associations.risk(
                table,
                listed,
                identity,
                attribute,
                model=model,
                worlds=worlds,
                where=where,
                error=error,
                confidence=confidence,
                progress=report,
            )
        above = None if level is None else found.n_above(level)
        top = found.worst(worst)
        warning = certain(found)
    except associations.TooCostlyError as costly:
        print(f"nbcfast: {costly.text('--error ', '--where ')}", file=sys.stderr)
        return 3
    except associations.TooManyGuessesError as large:
        return too_large(large)
    for name, one in where.items():
        if one.missing:
            raise ValueError(f"--where: no row of FILE has {one.missing[0]!r} in column {name!r}")
    bad = level is not None and bool(above or found.n_without_world)
    if json_only:
        said = {
            "file": str(file),
            **found.to_dict(),
            "worst": [{name: plain(value) for name, value in row.items()} for row in top],
            "threshold": None if level is None else str(level),
            "above": above,
            "warnings": [] if warning is None else [warning],
        }
        print(json.dumps(said, indent=2))
        return int(bad)
    show(
        Text(printable(str(file)), style="bold"),
        pairs(about(found, level, above)),
        table_of(top, identity, attribute),
        *(
            [Text(f"{len(top):,} of {found.n_associations:,} shown: --worst N")]
            if len(top) < found.n_associations
            else []
        ),
        *([Text(HALF)] if model == "unrestricted" else []),
        *([] if warning is None else [Text(f"- {warning}")]),
    )
    return int(bad)


def too_large(error: Exception) -> int:
    """Say that something is too much to be worked out; the exit code."""
    print(f"nbcfast: {printable(str(error))}", file=sys.stderr)
    return 3


def certain(found: associations.Risk) -> str | None:
    """What to know of associations of probability 1, whatever the threshold."""
    n = CERTAIN
    while True:
        top = found.worst(n)  # the likeliest come first
        number = int(np.count_nonzero(top.array(top.names[2]) == 1)) if len(top) else 0
        if number < n or n >= MOST_CERTAIN:
            break
        n *= 10
    if not number:
        return None
    many = "1 association has" if number == 1 else f"{number:,} associations have"
    if number == n:
        many = f"at least {many}"
    sampled = ", where it was sampled in every world that was drawn" if found.confidence is not None else ""
    return f"{many} probability 1{sampled}: whoever sees the views knows who has what there."


def expect_columns(file: Path, asked: Mapping[str, Sequence[str]], reading: Reading) -> None:
    """Refuse a column that the file has not, if its beginning says so."""
    header = header_of(file, reading.delimiter)
    for option, names in asked.items():
        for name in names:
            if header is not None and name not in header:
                raise ValueError(f"{option}: {no_column(file, name, header)}")


class Asked:
    """The values of a column that --where names, by the text that they print as."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.missing = texts  # that no value prints as

    def __call__(self, value: Any) -> bool:
        text = "" if value is None else str(value)
        self.missing = [one for one in self.missing if one != text]
        return text in self.texts


def asked(name: str, wheres: tuple[str, ...]) -> list[str]:
    """What --where asks of a column."""
    chosen = []
    for text in wheres:
        column, found, value = text.partition("=")
        if not found:
            raise ValueError(f"--where must be NAME=VALUE, got {text!r}")
        if column == name:
            chosen.append(value)
    return chosen


def about(found: associations.Risk, level: Fraction | None, above: int | None) -> list[tuple[str, str]]:
    join = "not the same for all" if found.join is None else ", ".join(map(label, found.join)) or "none"
    lines = [
        ("views", "; ".join(", ".join(map(label, view)) for view in found.views)),
        ("common columns", join),
        ("associations", f"{found.n_associations:,} of {found.n_identities:,} identities"),
        ("model", f"{found.model}, {found.worlds} worlds"),
    ]
    if found.n_without_world:
        lines.append(
            ("without a world", f"{found.n_without_world:,} identities, known to have several values")
        )
    if found.confidence is not None:
        lines.append(("sampled", f"{found.method}, each interval with confidence {found.confidence}"))
    if level is not None:
        lines.append((f"above {level}", f"{above:,}"))
    return lines


def table_of(rows: associations.Rows, identity: str, attribute: str) -> Any:
    grid = listing(label(identity), label(attribute), "probability")
    for row in rows:
        who, what, probability, *_ = row.values()
        grid.add_row(Text(label(who)), Text(label(what)), probability_text(probability))
    return grid


def advised(
    file: Path,
    columns: str,
    identity: str,
    attribute: str,
    level: Fraction | None,
    reading: Reading,
    json_only: bool,
) -> int:
    """Splits of columns into two views."""
    names = names_in(columns, "--advise")
    table = reading.rows(file, list(dict.fromkeys([identity, *names, attribute])))
    level = Fraction(1, 2) if level is None else level
    with progress("splitting") as report:
        found = associations.advise(table, identity, attribute, names, threshold=level, progress=report)
    if json_only:
        said = {"file": str(file), "threshold": str(level), **found.to_dict()}
        print(json.dumps(said, indent=2))
        return int(not found)
    grid = listing("view with the identity", "view with the attribute", "worst", "lets out")
    for split in found[:ADVICE]:
        cells = [", ".join(map(label, view)) for view in split.views]
        grid.add_row(*map(Text, cells), str(split.worst), f"{float(split.let_out):.4g}")
    how = f"{len(found):,} splits keep restricted probabilities at or below {level}, by {found.method} search"
    show(Text(printable(str(file)), style="bold"), grid, Text(how))
    return int(not found)
