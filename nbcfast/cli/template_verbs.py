"""The group `templates`, its verb `check`, and what `disclose` takes alike."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast._core.chances import bound_text
from nbcfast._core.numbers import exact_share
from nbcfast._core.spelling import meant
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import as_options, split_otherwise
from nbcfast.cli.options import READING, Command, reads_file, verbose, verbs
from nbcfast.cli.parsing import names_in, value_in
from nbcfast.cli.printing import listing, tell, warned
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import with_report_alone
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import violations_page
from nbcfast.reports.summary import Decision
from nbcfast.reports.template_summary import by_confidence, limit_text, of_violations
from nbcfast.table.values import plain
from nbcfast.templates import Template, Violation, violations

FORM = '"A,B -> NAME=VALUE <= 75%"'
LISTED = 20  # inferences that `check` shows


@verbs.group("templates", short_help="Named inferences: check, disclose.")
def group() -> None:
    """Privacy templates: named inferences that must not be too confident."""


def takes_templates(command: Command) -> Command:
    """The argument and options of the verbs about templates."""
    decorators = [
        click.argument("file", type=click.Path(path_type=Path)),
        click.option(
            "--template",
            "wanted",
            metavar=FORM,
            multiple=True,
            required=True,
            help="Of the people who share A and B, at most 75 % may have VALUE; may be repeated.",
        ),
    ]
    command = reads_file(command)
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def parts_in(text: str) -> tuple[list[str], str, Fraction]:
    """The known columns, NAME=VALUE, and the limit."""
    known, arrow, inference = text.partition("->")
    inferred, at_most, limit = inference.rpartition("<=")
    if not arrow or not at_most:
        raise ValueError(f"--template must be {FORM}, got {text!r}")
    number = limit.strip(" ")
    share = Fraction(exact_share(number, f"--template {text!r}: the limit"))
    if not 0 <= share <= 1:
        raise ValueError(f"--template {text!r}: the limit must be 0 to 1, or 0% to 100%, got {number}")
    return names_in(known.strip(), f"--template {text!r}:"), inferred.strip(), share


def template_in(text: str, table: nbcfast.Table) -> Template:
    """The template that is typed as "A,B -> NAME=VALUE <= 75%", of columns of a table."""
    known, inferred, limit = parts_in(text)
    # The longest name that fits: names may hold an equals sign, which may stand between spaces.
    fitting = [name for name in table.names if inferred.removeprefix(name).lstrip().startswith("=")]
    fitting = [name for name in fitting if inferred.startswith(name)]
    if not fitting:
        names = ", ".join(table.names)
        raise ValueError(
            f"--template must be {FORM} with NAME one of {names}; got {inferred.partition('=')[0]!r}"
            f"{meant(inferred.partition('=')[0].strip(), table.names)}{split_otherwise(table.names)}"
        )
    name = max(fitting, key=len)
    typed = inferred.removeprefix(name).lstrip()[1:]
    if not inferred.startswith(f"{name}="):  # blanks around the sign, and none of them is of the value
        typed = typed.lstrip()
    value = value_in(typed, table.domain(name), f"--template: {name}")
    with as_options(quasi=f"--template {text!r}: what is known"):
        return Template(known, (name, value), limit)


def templates_in(wanted: tuple[str, ...], table: nbcfast.Table) -> list[Template]:
    """The templates of each --template."""
    return [template_in(text, table) for text in wanted]


def texts_grid(*names: str) -> Grid:
    """An empty table of texts."""
    grid = listing(names[0])
    for name in names[1:]:
        grid.add_column(name, overflow="fold")
    return grid


@group.command(
    name="check",
    short_help="List the inferences above the limits of templates.",
    example='nbcfast templates check people.csv --template "Job,Country -> Bankruptcy=Discharged <= 75%"',
)
@takes_templates
@with_report_alone
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def check_verb(file: Path, wanted: tuple[str, ...], reading: Reading, as_json: bool) -> int:
    """Say which inferences from FILE are more confident than their templates allow.

    Leaves with 0 if none is, and with 1 otherwise.
    """
    table = reading.rows(file, None)
    templates = templates_in(wanted, table)
    with progress("checking") as report:
        broken = violations(table, templates, progress=report)
    remarks = reading.uncounted(file, named_by(templates))
    people = table.n_rows if table.weights is None else int(table.weights.sum())
    each = "each counts once" if reading.weights is None else f"counted by {label(reading.weights)}"
    rows = f"{people:,} people in {table.n_rows:,} rows, {each}"
    n = len(broken)
    tell(
        of_violations(broken, f"{printable(str(file))}, {rows}", suppressing() if broken else [], remarks),
        lambda: {
            "file": str(file),
            "holds": not broken,
            "rows": table.n_rows,
            "people": people,
            "violations": list(map(violation_document, broken)),
            **warned(remarks),
        },
        lambda: [
            *([violations_grid(broken)] if broken else []),
            *([Text(f"and {n - LISTED:,} more")] if n > LISTED else []),
        ],
        as_json=as_json,
        page=lambda summary: violations_page(by_confidence(broken), len(templates), summary),
    )
    return int(bool(broken))


def suppressing() -> list[Decision]:
    """How a table comes to keep its templates."""
    more = ["--out", free("disclosed")]
    command = asked(click.get_current_context(), "templates disclose", only=(*READING, "wanted"), more=more)
    return [Decision("Suppress just so much that all of them hold.", (command,))]


def violations_grid(broken: Sequence[Violation]) -> Grid:
    """The inferences that are too confident, the worst first."""
    grid = texts_grid("known", "inferred", "people", "of them", "confidence", "limit")
    for violation in by_confidence(broken)[:LISTED]:
        column, value = violation.template.sensitive
        known = ", ".join(f"{label(name)}={label(shared)}" for name, shared in violation.known.items())
        grid.add_row(
            known,
            f"{label(column)}={label(value)}",
            f"{violation.support:,}",
            f"{violation.count:,}",
            bound_text(violation.confidence, 2),
            limit_text(violation.template),
        )
    return grid


def violation_document(violation: Violation) -> Document:
    """An inference that is too confident, for JSON."""
    return {
        "template": str(violation.template),
        "known": {name: plain(value) for name, value in violation.known.items()},
        "support": violation.support,
        "count": violation.count,
        "confidence": str(violation.confidence),
    }


def named_by(templates: Sequence[Template]) -> set[str]:
    """The columns that templates name."""
    return {name for template in templates for name in (*template.quasi, template.sensitive[0])}
