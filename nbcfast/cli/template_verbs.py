"""The verb `check` about privacy templates, and what `disclose` takes alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast._core.numbers import exact, exact_share, number_text
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.naming import as_options, split_otherwise
from nbcfast.cli.options import Command, reads_file, verbs
from nbcfast.cli.parsing import names_in, value_in
from nbcfast.cli.printing import listing, pairs, remarked, show, warned
from nbcfast.cli.reading import Reading
from nbcfast.publishing.words import label
from nbcfast.table.values import plain
from nbcfast.templates import Template, Violation, violations

FORM = '"A,B -> NAME=VALUE <= 75%"'
LISTED = 20  # inferences that `check` shows


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
    if number.endswith("%"):
        number = number.removesuffix("%").rstrip(" ") + "%"
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
            f"{split_otherwise(table.names)}"
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


def limit_text(template: Template) -> str:
    """The limit as a percentage, or as a fraction where that would be long."""
    if template.limit.denominator > 10**6:
        return number_text(exact(template.limit, "limit"))
    return f"{number_text(exact(template.limit * 100, 'limit'))}%"


def texts_grid(*names: str) -> Grid:
    """An empty table of texts."""
    grid = listing(names[0])
    for name in names[1:]:
        grid.add_column(name, overflow="fold")
    return grid


@verbs.command(name="check")
@takes_templates
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def check_verb(file: Path, wanted: tuple[str, ...], reading: Reading, as_json: bool) -> int:
    """Say which inferences from FILE are more confident than their templates allow.

    Leaves with 0 if none is, and with 1 otherwise.
    """
    table = reading.rows(file, None)
    templates = templates_in(wanted, table)
    broken = violations(table, templates)
    remarks = reading.uncounted(file, named_by(templates))
    people = table.n_rows if table.weights is None else int(table.weights.sum())
    if as_json:
        document = {
            "file": str(file),
            "holds": not broken,
            "rows": table.n_rows,
            "people": people,
            "violations": list(map(violation_document, broken)),
            **warned(remarks),
        }
        print(json.dumps(document, indent=2))
        return int(bool(broken))
    each = "each counts once" if reading.weights is None else f"counted by {label(reading.weights)}"
    n = len(broken)
    verdict = f"{n:,} {'inference is' if n == 1 else 'inferences are'} too confident"
    if not broken:  # where a column may say how often a row counts, no verdict stands alone
        verdict = f"all templates hold{', if every row counts once' if remarks else ''}"
    show(
        Text(printable(str(file)), style="bold"),
        pairs([("people", f"{people:,}"), ("rows", f"{table.n_rows:,}, {each}")]),
        *([violations_grid(broken)] if broken else []),
        *([Text(f"and {n - LISTED:,} more")] if n > LISTED else []),
        *remarked(remarks),
        Text(verdict, style="bold"),
    )
    return int(bool(broken))


def violations_grid(broken: Sequence[Violation]) -> Grid:
    """The inferences that are too confident, the worst first."""
    grid = texts_grid("known", "inferred", "people", "of them", "confidence", "limit")
    for violation in sorted(broken, key=lambda violation: (-violation.confidence, -violation.support))[
        :LISTED
    ]:
        column, value = violation.template.sensitive
        known = ", ".join(f"{label(name)}={label(shared)}" for name, shared in violation.known.items())
        grid.add_row(
            known,
            f"{label(column)}={label(value)}",
            f"{violation.support:,}",
            f"{violation.count:,}",
            f"{float(violation.confidence):.2%}",
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
