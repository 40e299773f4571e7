"""The verb `nbcfast risk`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Literal

import click
from click.core import ParameterSource
from rich.table import Table as Grid
from rich.text import Text

from nbcfast import associations
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.associations.results import check_threshold, probability_text
from nbcfast.cli.asked_again import asked
from nbcfast.cli.bars import progress
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.naming import no_column
from nbcfast.cli.options import READING, Whole, as_json, reads_file, verbose, verbs
from nbcfast.cli.parsing import listed, names_in
from nbcfast.cli.printing import Parts, listing, pairs, tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import with_report_alone
from nbcfast.publishing.beginnings import header_of
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import risk_page
from nbcfast.reports.risk_summary import certain, of_risk, of_splits
from nbcfast.reports.summary import Decision
from nbcfast.table.values import plain

OF_VIEWS = ("model", "worlds", "wheres", "worst", "error", "confidence")
ADVICE = 10  # splits that are shown


@verbs.command(
    short_help="Say how likely each pair is to whoever joins views.",
    example="nbcfast risk visits.csv --view name,age --view age,problem --identity name --attribute problem",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--view", "views", metavar="A,B,C", multiple=True, help="The columns of a view; twice or more.")
@click.option("--identity", metavar="NAME", required=True, help="The column that says who.")
@click.option("--attribute", metavar="NAME", required=True, help="The column that says what.")
@click.option("--threshold", metavar="P", help="Leave with 1 if an association is above: 50%, 0.5, 1/2.")
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
    "--given",
    "wheres",
    cls=Renamed,
    former=("--where",),
    metavar="NAME=VALUE",
    multiple=True,
    help="Ask for this one; may be repeated.",
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
@with_report_alone
@verbose
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
        refuse_options_of_views(context, views)
        try:
            return advised(file, columns, identity, attribute, level, reading, json_only)
        except associations.TooLargeError as large:
            return too_large(large)
    wanted = views_in(views, (identity, attribute), file, reading)
    where = asked_in(wheres, (identity, attribute))
    try:
        with progress("joining") as report:
            measured = associations.risk(
                reading.source(file, list(dict.fromkeys(chain.from_iterable(wanted)))),
                wanted,
                identity,
                attribute,
                model=model,
                worlds=worlds,
                where=where,
                error=error,
                confidence=confidence,
                progress=report,
            )
        judged = JudgedRisk.of(measured, level, worst)
    except associations.TooCostlyError as costly:
        print(f"nbcfast: {costly.text('--error ', '--given ')}", file=sys.stderr)
        return 3
    except associations.TooLargeError as large:
        return too_large(large)
    for name, values in where.items():
        if values.missing:
            raise ValueError(f"--given: no row of FILE has {values.missing[0]!r} in column {name!r}")
    summary = of_risk(measured, what(file, measured.views), splitting(judged), level)
    tell(
        summary,
        lambda: {"file": str(file), **judged.to_dict()},
        lambda: risk_details(judged),
        as_json=json_only,
        page=lambda summary: risk_page(judged.risk, summary, judged.level),
    )
    return int(judged.is_above)


def what(file: Path, views: Iterable[Sequence[str]]) -> str:
    """The table, and what is seen of it."""
    return f"{printable(str(file))}, seen as {'; '.join(', '.join(map(label, view)) for view in views)}"


def splitting(judged: JudgedRisk) -> list[Decision]:
    """Views that give nobody away, if these do."""
    risk = judged.risk
    if not judged.is_above and judged.warning is None:
        return []
    association = (risk.identity, risk.attribute)
    columns = [name for name in dict.fromkeys(chain.from_iterable(risk.views)) if name not in association]
    if not columns:
        return []
    command = asked(
        click.get_current_context(),
        only=(*READING, "identity", "attribute", "threshold"),
        more=["--advise", listed(columns)],
    )
    return [Decision("Look for other views of these columns that give nobody away.", (command,))]


def refuse_options_of_views(context: click.Context, views: tuple[str, ...]) -> None:
    """Refuse what goes with --view alone."""
    if views:
        raise ValueError("--advise takes the place of --view")
    for option in OF_VIEWS:
        if context.get_parameter_source(option) is not ParameterSource.DEFAULT:
            raise ValueError(f"--{'given' if option == 'wheres' else option} is for --view, not for --advise")


def views_in(
    views: tuple[str, ...], association: tuple[str, str], file: Path, reading: Reading
) -> list[list[str]]:
    """The columns of each --view; both of the association are in some."""
    listed = [names_in(view, "--view") for view in views]
    if len(listed) < 2:
        raise ValueError(f"--view must be given at least twice, got {len(listed)}")
    for name, option in zip(association, ("--identity", "--attribute"), strict=True):
        if not any(name in names for names in listed):
            # A name that was mistyped in a view is more likely than one that was left out.
            expect_columns(file, zip(views, listed, strict=True), reading)
            raise ValueError(f"{option}: expected a column of a view, got {name!r}")
    return listed


def too_large(error: Exception) -> int:
    """Say that something is too much to be worked out; the exit code."""
    print(f"nbcfast: {printable(str(error))}", file=sys.stderr)
    return 3


@dataclass(frozen=True)
class JudgedRisk:
    """Associations beside a threshold.

    Parameters
    ----------
    risk : Risk
    level : Fraction or None
        The threshold.
    above : int or None
        How many associations are above it.
    top : Rows
        The likeliest.
    warning : str or None
        What to know of those of probability 1.
    """

    risk: associations.Risk
    level: Fraction | None
    above: int | None
    top: associations.Rows
    warning: str | None

    @classmethod
    def of(cls, risk: associations.Risk, level: Fraction | None, worst: int) -> JudgedRisk:
        above = None if level is None else risk.n_above(level)
        return cls(risk, level, above, risk.worst(worst), certain(risk))

    @property
    def is_above(self) -> bool:
        """Whether some association is above the threshold, or hides nothing as it has no world."""
        return self.level is not None and bool(self.above or self.risk.n_without_world)

    def to_dict(self) -> Document:
        return {
            **self.risk.to_dict(),
            "worst": [{name: plain(value) for name, value in row.items()} for row in self.top],
            "threshold": None if self.level is None else str(self.level),
            "above": self.above,
            "warnings": [] if self.warning is None else [self.warning],
        }


def risk_details(judged: JudgedRisk) -> Parts:
    """How likely associations are, for people."""
    risk, top = judged.risk, judged.top
    notes = []
    if len(top) < risk.n_associations:
        notes.append(f"{len(top):,} of {risk.n_associations:,} shown: --worst N")
    return [pairs(about(risk, judged.level, judged.above)), table_of(top), *map(Text, notes)]


def expect_columns(file: Path, views: Iterable[tuple[str, list[str]]], reading: Reading) -> None:
    """Refuse a view with a column that the file has not, if its beginning says so."""
    header = header_of(file, reading.delimiter, reading.encoding)
    for view, names in views:
        for name in names:
            if header is not None and name not in header:
                raise ValueError(f"--view {view}: {no_column(file, name, header)}")


class AskedValues:
    """The values of a column that --given names, by the text that they print as."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.missing = texts  # that no value prints as

    def __call__(self, value: object) -> bool:
        text = "" if value is None else str(value)
        self.missing = [other for other in self.missing if other != text]
        return text in self.texts


def asked_in(wheres: tuple[str, ...], association: tuple[str, str]) -> dict[str, AskedValues]:
    """What each --given NAME=VALUE asks of the two columns of the association."""
    texts: dict[str, list[str]] = {name: [] for name in association}
    for text in wheres:
        column, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--given must be NAME=VALUE, got {text!r}")
        if column in texts:
            texts[column].append(value)
    for text in wheres:
        if text.partition("=")[0] not in texts:
            identity, attribute = association
            raise ValueError(f"--given must be {identity}=VALUE or {attribute}=VALUE, got {text!r}")
    return {name: AskedValues(values) for name, values in texts.items() if values}


def about(risk: associations.Risk, level: Fraction | None, above: int | None) -> list[tuple[str, str]]:
    """What was measured, in pairs."""
    join = "not the same for all" if risk.join is None else ", ".join(map(label, risk.join)) or "none"
    lines = [
        ("views", "; ".join(", ".join(map(label, view)) for view in risk.views)),
        ("common columns", join),
        ("associations", f"{risk.n_associations:,} of {risk.n_identities:,} identities"),
        ("model", f"{risk.model}, {risk.worlds} worlds"),
    ]
    if risk.n_without_world:
        lines.append(
            ("without a world", f"{risk.n_without_world:,} identities, known to have several values")
        )
    if risk.confidence is not None:
        lines.append(("sampled", f"{risk.method}, each interval with confidence {risk.confidence}"))
    if level is not None:
        lines.append((f"above {level}", f"{above:,}"))
    return lines


def table_of(rows: associations.Rows) -> Grid:
    """Associations with their probabilities."""
    identity, attribute = rows.names[:2]
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
        splits = associations.advise(table, identity, attribute, names, threshold=level, progress=report)

    def details() -> Parts:
        grid = listing("view with the identity", "view with the attribute", "worst", "lets out")
        for split in splits[:ADVICE]:
            cells = [", ".join(map(label, view)) for view in split.views]
            grid.add_row(*map(Text, cells), str(split.worst), f"{float(split.let_out):.4g}")
        return [grid] if splits else []

    tell(
        of_splits(splits, level, printable(str(file)), measuring(splits, level)),
        lambda: {"file": str(file), "threshold": str(level), **splits.to_dict()},
        details,
        as_json=json_only,
    )
    return int(not splits)


def measuring(splits: associations.Splits, level: Fraction) -> list[Decision]:
    """How the views of a split are measured."""
    if not splits:
        return []
    views = [word for view in splits[0].views for word in ("--view", listed(view))]
    command = asked(
        click.get_current_context(),
        only=(*READING, "identity", "attribute"),
        more=[*views, "--model", "restricted", "--threshold", str(level)],
    )
    return [Decision("Measure the views of the first.", (command,))]
