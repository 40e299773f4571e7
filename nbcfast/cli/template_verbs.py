"""The verbs `disclose` and `check` about privacy templates, on the public interface alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import exact, exact_share, number_text
from nbcfast._wire.messages import printable
from nbcfast.cli.adversaries import guess_rows, guessed, guesses
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import as_options, split_otherwise
from nbcfast.cli.options import Command, reads_file, verbs
from nbcfast.cli.parsing import names_in, value_in
from nbcfast.cli.printing import label, listing, pairs, show
from nbcfast.cli.reading import Reading
from nbcfast.cli.remarks import names_people
from nbcfast.cli.targets import REPLACES, Output, check_targets, counts_remarks, output
from nbcfast.cli.writings import note
from nbcfast.published.table_lines import write_csv, write_parquet
from nbcfast.table.values import plain
from nbcfast.templates import Disclosure, Template, Violation, disclose, violations
from nbcfast.verification.load import load

FORM = '"A,B -> NAME=VALUE <= 75%"'
LISTED = 20  # inferences that `check` shows
SHOWN = 8  # values of a column that are named


def takes_templates(command: Command) -> Command:
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


def parts_of(text: str) -> tuple[list[str], str, Fraction]:
    """The known columns, NAME=VALUE, and the limit."""
    known, arrow, rest = text.partition("->")
    inferred, at_most, limit = rest.rpartition("<=")
    if not arrow or not at_most:
        raise ValueError(f"--template must be {FORM}, got {text!r}")
    number = limit.strip(" ")
    if number.endswith("%"):
        number = number.removesuffix("%").rstrip(" ") + "%"
    found = Fraction(exact_share(number, f"--template {text!r}: the limit"))
    if not 0 <= found <= 1:
        raise ValueError(f"--template {text!r}: the limit must be 0 to 1, or 0% to 100%, got {number}")
    return names_in(known.strip(), f"--template {text!r}:"), inferred.strip(), found


def template_of(text: str, table: nbcfast.Table) -> Template:
    known, inferred, limit = parts_of(text)
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
    own = inferred.removeprefix(name).lstrip()[1:]
    value = value_in(
        own if inferred.startswith(f"{name}=") else own.lstrip(), table.domain(name), f"--template: {name}"
    )
    with as_options(quasi=f"--template {text!r}: what is known"):
        return Template(known, (name, value), limit)


def templates_of(wanted: tuple[str, ...], table: nbcfast.Table) -> list[Template]:
    return [template_of(text, table) for text in wanted]


def percent(confidence: Fraction) -> str:
    """A share for people: exact, and as a percentage."""
    return f"{float(confidence):.2%} ({confidence.numerator}/{confidence.denominator})"


def limit_text(template: Template) -> str:
    if template.limit.denominator > 10**6:
        return number_text(exact(template.limit, "limit"))
    return f"{number_text(exact(template.limit * 100, 'limit'))}%"


def left(*names: str) -> Grid:
    """An empty table of texts."""
    grid = listing(names[0])
    for name in names[1:]:
        grid.add_column(name, overflow="fold")
    return grid


def inference(template: Template) -> str:
    column, value = template.sensitive
    return f"{', '.join(map(label, template.quasi))} -> {label(column)}={label(value)}"


@verbs.command(name="check")
@takes_templates
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def check_verb(
    file: Path,
    wanted: tuple[str, ...],
    reading: Reading,
    as_json: bool,
) -> int:
    """Say which inferences from FILE are more confident than their templates allow.

    Leaves with 0 if none is, and with 1 otherwise.
    """
    table = reading.rows(file, None)
    templates = templates_of(wanted, table)
    found = violations(table, templates)
    said = reading.uncounted(file, named_by(templates))
    people = table.n_rows if table.weights is None else int(table.weights.sum())
    if as_json:
        result = {
            "file": str(file),
            "holds": not found,
            "rows": table.n_rows,
            "people": people,
            "violations": list(map(_found, found)),
            **({"warnings": said} if said else {}),
        }
        print(json.dumps(result, indent=2))
        return int(bool(found))
    each = "each counts once" if reading.weights is None else f"counted by {label(reading.weights)}"
    counted = pairs([("people", f"{people:,}"), ("rows", f"{table.n_rows:,}, {each}")])
    parts: list[Any] = [Text(printable(str(file)), style="bold"), counted]
    if found:
        grid = left("known", "inferred", "people", "of them", "confidence", "limit")
        for one in sorted(found, key=lambda one: (-one.confidence, -one.support))[:LISTED]:
            column, value = one.template.sensitive
            known = ", ".join(f"{label(name)}={label(shared)}" for name, shared in one.known.items())
            grid.add_row(
                known,
                f"{label(column)}={label(value)}",
                f"{one.support:,}",
                f"{one.count:,}",
                f"{float(one.confidence):.2%}",
                limit_text(one.template),
            )
        parts.append(grid)
        if len(found) > LISTED:
            parts.append(Text(f"and {len(found) - LISTED:,} more"))
    n = len(found)
    verdict = (
        f"all templates hold{', if every row counts once' if said else ''}"
        if not n
        else f"{n:,} {'inference is' if n == 1 else 'inferences are'} too confident"
    )
    show(
        *parts,
        *([Text("\n".join(f"- {text}" for text in said))] if said else []),
        Text(verdict, style="bold"),
    )
    return int(bool(found))


def alone_in(table: nbcfast.Table, name: str) -> int:
    """How many values of a column stand in a single row, each row as often as it counts."""
    counted = np.bincount(table.codes(name), weights=table.weights, minlength=len(table.domain(name)))
    return int((counted == 1).sum())


def named_by(templates: Sequence[Template]) -> set[str]:
    """The columns that templates name."""
    return {name for template in templates for name in (*template.quasi, template.sensitive[0])}


def _found(one: Violation) -> dict[str, object]:
    return {
        "template": str(one.template),
        "known": {name: plain(value) for name, value in one.known.items()},
        "support": one.support,
        "count": one.count,
        "confidence": str(one.confidence),
    }


@verbs.command(name="disclose")
@takes_templates
@click.option("--target", metavar="NAME", help="The column that the table is published to predict.")
@click.option(
    "--columns", metavar="A,B,C", help="The columns to publish; all others are left out.  [default: all]"
)
@click.option(
    "--continuous", metavar="A,B", help="Columns of numbers to publish as intervals instead of single values."
)
@click.option(
    "--utility",
    type=click.Choice(("information", "distortion")),
    help="What to keep: what tells the target, or as many values as possible.  "
    "[default: information with --target, else distortion]",
)
@click.option("--maximal", is_flag=True, help="Go on while anything can be disclosed, of use or not.")
@click.option(
    "--out",
    metavar="FILE",
    type=Output(),
    help="A .csv or .parquet file for the table alone, or else a folder for the table and its certificate.",
)
@click.option(
    "--counts",
    metavar="NAME",
    help="With --out: write each distinct row once, with its count in this column.",
)
@click.option(
    "--holdout", type=click.Path(path_type=Path), help="People not in FILE, for the deFinetti attack."
)
@click.option("--no-attack", is_flag=True, help="Leave out the deFinetti attack.")
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def disclose_verb(
    file: Path,
    wanted: tuple[str, ...],
    reading: Reading,
    target: str | None,
    columns: str | None,
    continuous: str | None,
    utility: Literal["information", "distortion"] | None,
    maximal: bool,
    out: Path | None,
    counts: str | None,
    holdout: Path | None,
    no_attack: bool,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Suppress just so many values of FILE that all templates hold.

    Prints what was suppressed and why, and how well a deFinetti attack guesses: that comes from the private
    table, as do the values that are suppressed, and is not meant for publication.

    Leaves with 1 if even the most suppressed table breaks one. Ctrl-C while values are disclosed ends with
    the table so far, in which all templates hold; before, nothing is written.
    """
    if counts is not None and out is None:
        raise ValueError("--counts goes with --out FILE")
    if counts == "":
        raise ValueError("--counts: expected the name of a new column, got ''")
    if utility is None:
        utility = "distortion" if target is None else "information"
    if utility == "information" and target is None:
        raise ValueError("--utility information needs --target NAME")
    written_as = "folder" if out is None else output(out)
    if written_as == "folder":
        check_targets([file, holdout], overwrite, folder=out)
    else:
        check_targets([file, holdout], overwrite, files={"--out": out})
    table = reading.rows(file, None if columns is None else names_in(columns))
    if counts is not None and counts in table.names:
        raise ValueError(f"--counts: expected the name of a new column, got {counts!r}")
    templates = templates_of(wanted, table)
    cut = () if continuous is None else names_in(continuous, "--continuous")
    used = {*named_by(templates), *cut, *([] if target is None else [target])}
    used |= set() if columns is None else set(table.names)
    said = reading.uncounted(file, used, implied=columns is None)
    known = [name for name in table.names if any(name in template.quasi for template in templates)]
    secrets = list(dict.fromkeys(template.sensitive[0] for template in templates))
    held = None
    if holdout is not None and not no_attack:  # before anything is written: it may not fit
        held = reading.people(holdout, file, _once([*known, *secrets]))
    try:
        with progress("disclosing") as report:
            made = disclose(
                table,
                templates,
                target,
                utility=utility,
                require_beneficial=not maximal,
                continuous=cut,
                progress=report,
            )
    except Infeasible as error:
        if as_json:
            shares: Any = error.best["confidences"]
            found = {str(template): str(share) for template, share in shares.items()}
            infeasible = {"file": str(file), "feasible": False, "why": error.why, "confidences": found}
            print(json.dumps(infeasible, indent=2))
        print(f"nbcfast: infeasible: {printable(error.why)}", file=sys.stderr)
        return 1
    files = [] if out is None else written(made, out, counts, written_as, overwrite)
    note(files)
    attacks = {}
    for name in [] if no_attack else secrets:
        own = table.select(_once([*known, name]))
        attacks[name] = guessed(own, made, name, None if held is None else held.select(own.names))
    if as_json:
        result = {"file": str(file), "feasible": True, **described(made), "files": files}
        result["warnings"] = [*said, *made.remarks, *counts_remarks(counts)]
        result["definetti"] = {name: guesses(attack) for name, attack in attacks.items()}
        print(json.dumps(result, indent=2))
        return 0
    rows = [
        row for name, attack in attacks.items() for row in guess_rows(attack, f"deFinetti on {label(name)}")
    ]
    show(*shown(file, made, files, counts, said), *([pairs(rows)] if rows else []))
    return 0


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def written(made: Disclosure, out: Path, counts: str | None, kind: str, overwrite: bool) -> list[str]:
    """The files that were written."""
    if kind == "folder":
        made.save(out, weights=counts, overwrite=overwrite)
        load(out)  # reads and checks what was written
        return [str(out / "table.csv"), str(out / "certificate.json")]
    if kind == "csv":
        write_csv(made.collapsed, out, weights=counts, overwrite=overwrite)
    else:
        write_parquet(made.collapsed, out, weights=counts, overwrite=overwrite)
    return [str(out)]


def described(made: Disclosure) -> dict[str, object]:
    """For JSON."""
    assert made.suppressed is not None
    return {
        "rows": made.n_rows,
        "complete": made.complete,
        "templates": [
            {
                "template": str(template),
                "limit": str(template.limit),
                "confidence": str(made.confidences[template]),
            }
            for template in made.templates
        ],
        "suppressed": {name: [plain(value) for value in made.suppressed[name]] for name in made.suppressed},
        "intervals": {name: list(map(str, found)) for name, found in made.intervals.items()},
        "steps": [
            {
                "attribute": step.attribute,
                "value": plain(step.value),
                "gain": step.gain,
                "loss": step.loss,
                "score": step.score,
            }
            for step in made.steps
        ],
    }


def shown(
    file: Path, made: Disclosure, files: list[str], counts: str | None, said: Sequence[str]
) -> list[Any]:
    """What was suppressed and why, and how confident inferences are now."""
    assert made.suppressed is not None
    assert made.reasons is not None
    rows = left("column", "suppressed", "why")
    for name in made.masked:
        if name in made.intervals:
            n = len(made.intervals[name])
            text = ", ".join(map(str, made.intervals[name][:SHOWN])) + (", .." if n > SHOWN else "")
            rows.add_row(label(name), "", f"in {n} {'interval' if n == 1 else 'intervals'}: {text}")
            continue
        reasons: dict[str, list[str]] = {}
        for value, why in made.reasons[name].items():
            text = "of no use for the target" if made.complete else "not come to"
            if why is not None:
                text = f"{inference(why[0])} would exceed {limit_text(why[0])}"
            reasons.setdefault(text, []).append(label(value))
        if not reasons:
            rows.add_row(label(name), "nothing", "")
        for text, values in reasons.items():
            more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
            rows.add_row(label(name), ", ".join(values[:SHOWN]) + more, text)
    inferences = listing("inference", "limit", "highest confidence")
    for template in made.templates:
        inferences.add_row(inference(template), limit_text(template), percent(made.confidences[template]))
    as_is = [name for name in made.table.names if name not in made.masked]
    judged = {made.target, *(template.sensitive[0] for template in made.templates)}
    naming = [
        f"- {label(name)} has {len(made.table.domain(name)):,} values in {made.n_rows:,} rows, and is "
        "published as it is: leave it out with --columns if it tells who somebody is."
        for name in as_is
        if name not in judged
        and names_people(len(made.table.domain(name)), made.n_rows, alone_in(made.table, name))
    ]
    lines = [
        ("people", f"{made.n_rows:,}"),
        (
            "steps",
            f"{len(made.steps):,}{'' if made.complete else ', stopped early, and the templates hold'}",
        ),
        ("published as it is", ", ".join(map(label, as_is))),
    ]
    nothing = "nothing: --out DIR writes the table and its certificate"
    lines.append(("written", ", ".join(map(printable, files)) or nothing))
    naming += [f"- {printable(text)}" for text in (*said, *made.remarks, *counts_remarks(counts))]
    if len(files) == 1:
        naming.append("- No certificate: only a folder gets one.")
    notes = [Text("\n".join(naming))] if naming else []
    return [Text(printable(str(file)), style="bold"), rows, inferences, pairs(lines), *notes]
