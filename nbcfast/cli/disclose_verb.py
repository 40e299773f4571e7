"""The verb `templates disclose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import click
import numpy as np
from rich.table import Table as Grid

import nbcfast
from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import decimal_above
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text, printable
from nbcfast.attack.definetti import DeFinetti
from nbcfast.cli.adversaries import guess_rows, guessed, guesses
from nbcfast.cli.asked_again import asked, checked, free
from nbcfast.cli.bars import progress
from nbcfast.cli.options import verbose
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import Parts, listing, pairs, tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import with_report
from nbcfast.cli.targets import NO_CERTIFICATE, REPLACES, Output, check_targets, counts_remarks, output
from nbcfast.cli.template_verbs import group, named_by, takes_templates, templates_in, texts_grid
from nbcfast.cli.unmet import tell_unmet
from nbcfast.cli.writings import note
from nbcfast.published.table_lines import write_csv, write_parquet
from nbcfast.publishing.remarks import names_people
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import disclosure_page
from nbcfast.reports.summary import Decision
from nbcfast.reports.template_summary import inference, limit_text, of_disclosure, percent
from nbcfast.table.values import plain
from nbcfast.templates import Disclosure, Template, disclose
from nbcfast.verification.load import load

SHOWN = 8  # values of a column that are named
NOTHING = "nothing was written: --out DIR writes the table and its certificate"


# Long by its options, each of which is an argument.
@group.command(
    name="disclose",
    short_help="Suppress just so much of a table that all templates hold.",
    example="nbcfast templates disclose people.csv"
    ' --template "Job,Country -> Bankruptcy=Discharged <= 75%" --out disclosed',
)
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
@with_report
@verbose
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
    written = expect_written(out, counts)
    utility = kept_by(utility, target)
    check_targets([file, holdout], overwrite, folder=written.folder, files={"--out": written.file})
    table = reading.rows(file, None if columns is None else names_in(columns))
    if counts is not None and counts in table.names:
        raise ValueError(f"--counts: expected the name of a new column, got {counts!r}")
    templates = templates_in(wanted, table)
    cut = [] if continuous is None else names_in(continuous, "--continuous")
    used = {*named_by(templates), *cut, *([] if target is None else [target])}
    used |= set() if columns is None else set(table.names)
    remarks = reading.uncounted(file, used, implied=columns is None)
    judged = JudgedColumns.by(templates, table)
    held = None
    if holdout is not None and not no_attack:  # before anything is written: it may not fit
        held = reading.people(holdout, file, judged.columns)
    try:
        with progress("disclosing") as report:
            disclosure = disclose(
                table,
                templates,
                target,
                utility=utility,
                require_beneficial=not maximal,
                continuous=cut,
                progress=report,
            )
    except Infeasible as error:
        about = f"{printable(str(file))}{'' if out is None else f' -> {printable(str(out))}'}"
        helps = weaker_limits(error, wanted, templates)
        return tell_unmet(error, about, helps, infeasible_document(file, error), as_json=as_json)
    with progress("writing"):
        files = written.save(disclosure, overwrite)
    guess_on = {} if no_attack else judged.guesses(table, disclosure, held)
    remarks = [*remarks, *disclosure.remarks, *counts_remarks(counts)]
    summary = of_disclosure(
        disclosure,
        f"{printable(str(file))} -> {NOTHING if out is None else printable(str(out))}",
        next_steps(out, written.kind),
        guesses=guess_on,
        remarks=[*naming_notes(disclosure), *remarks, *([NO_CERTIFICATE] if len(files) == 1 else [])],
        written=bool(files),
    )
    tell(
        summary,
        lambda: {
            "file": str(file),
            "feasible": True,
            **disclosure_document(disclosure),
            "files": files,
            "warnings": remarks,
            "definetti": {name: guesses(guess) for name, guess in guess_on.items()},
        },
        lambda: disclosure_details(disclosure, guess_on),
        as_json=as_json,
        written=list(map(Written.of, files)),
        page=lambda summary: disclosure_page(disclosure, summary),
    )
    return 0


def next_steps(out: Path | None, kind: str) -> list[Decision]:
    """What there is to do once values are suppressed."""
    if out is None:
        more = ["--out", free("disclosed")]
        command = asked(click.get_current_context(), more=more)
        return [Decision("Write the table and its certificate.", (command,))]
    return [checked(out)] if kind == "folder" else []


def kept_by(
    utility: Literal["information", "distortion"] | None, target: str | None
) -> Literal["information", "distortion"]:
    """What --utility asks to keep, with or without a --target."""
    if utility is None:
        return "distortion" if target is None else "information"
    if utility == "information" and target is None:
        raise ValueError("--utility information needs --target NAME")
    return utility


@dataclass(frozen=True)
class WrittenDisclosure:
    """What is written of a disclosure, and where: nothing, a folder, or a file for the table alone."""

    out: Path | None
    kind: Literal["folder", "csv", "parquet"]
    counts: str | None

    @property
    def folder(self) -> Path | None:
        return self.out if self.kind == "folder" else None

    @property
    def file(self) -> Path | None:
        return None if self.kind == "folder" else self.out

    def save(self, disclosure: Disclosure, overwrite: bool) -> list[str]:
        """Write what may be published; the files."""
        out, files = self.out, [str(self.out)]
        if out is None:
            return []
        if self.kind == "folder":
            disclosure.save(out, weights=self.counts, overwrite=overwrite)
            load(out)  # reads and checks what was written
            files = [str(out / "table.csv"), str(out / "certificate.json")]
        elif self.kind == "csv":
            write_csv(disclosure.collapsed, out, weights=self.counts, overwrite=overwrite)
        else:
            write_parquet(disclosure.collapsed, out, weights=self.counts, overwrite=overwrite)
        note(files)
        return files


def expect_written(out: Path | None, counts: str | None) -> WrittenDisclosure:
    """Where --out and --counts ask to write."""
    if counts is not None and out is None:
        raise ValueError("--counts goes with --out FILE")
    if counts == "":
        raise ValueError("--counts: expected the name of a new column, got ''")
    return WrittenDisclosure(out, "folder" if out is None else output(out), counts)


@dataclass(frozen=True)
class JudgedColumns:
    """The columns of templates: what may be known, as the table has it, and what must not be inferred."""

    known: list[str]
    sensitive: list[str]

    @classmethod
    def by(cls, templates: list[Template], table: nbcfast.Table) -> JudgedColumns:
        known = [name for name in table.names if any(name in template.quasi for template in templates)]
        return cls(known, list(dict.fromkeys(template.sensitive[0] for template in templates)))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys([*self.known, *self.sensitive]))

    def guesses(
        self, table: nbcfast.Table, disclosure: Disclosure, held: nbcfast.Table | None
    ) -> dict[str, DeFinetti | str]:
        """How well a deFinetti attack guesses each sensitive column of the private table."""
        guess_on = {}
        for name in self.sensitive:
            private = table.select(list(dict.fromkeys([*self.known, name])))
            others = None if held is None else held.select(private.names)
            guess_on[name] = guessed(private, disclosure, name, others)
        return guess_on


def infeasible_document(file: Path, error: Infeasible) -> Document:
    """That no table keeps the templates, for JSON: how confident each inference is in the most suppressed."""
    confidences = error.best["confidences"]
    assert isinstance(confidences, Mapping)
    shares = {str(template): str(share) for template, share in confidences.items()}
    return {"file": str(file), "confidences": shares}


def weaker_limits(error: Infeasible, wanted: Sequence[str], templates: Sequence[Template]) -> list[Decision]:
    """The command with limits that the most suppressed table keeps."""
    confidences = error.best["confidences"]
    assert isinstance(confidences, Mapping)
    words = []
    for text, template in zip(wanted, templates, strict=True):
        typed = text
        if template in confidences:
            least = min(decimal_above(100 * confidences[template]), Fraction(100))
            typed = f"{text.rpartition('<=')[0]}<= {decimal_text(least)}%"
        words += ["--template", typed]
    command = asked(click.get_current_context(), without={"wanted"}, more=words)
    return [Decision("Allow what the most suppressed table has, or leave these templates out.", (command,))]


def disclosure_document(disclosure: Disclosure) -> Document:
    """What was suppressed, step by step, for JSON."""
    assert disclosure.suppressed is not None  # as of one that was loaded
    templates = [
        {
            "template": str(template),
            "limit": str(template.limit),
            "confidence": str(disclosure.confidences[template]),
        }
        for template in disclosure.templates
    ]
    return {
        "rows": disclosure.n_rows,
        "complete": disclosure.complete,
        "templates": templates,
        "suppressed": {
            name: [plain(value) for value in values] for name, values in disclosure.suppressed.items()
        },
        "intervals": {name: list(map(str, cuts)) for name, cuts in disclosure.intervals.items()},
        "steps": [
            {
                "attribute": step.attribute,
                "value": plain(step.value),
                "gain": step.gain,
                "loss": step.loss,
                "score": step.score,
            }
            for step in disclosure.steps
        ],
    }


def disclosure_details(disclosure: Disclosure, guess_on: dict[str, DeFinetti | str]) -> Parts:
    """What was suppressed and why, how confident inferences are now, and how well an attack guesses."""
    inferences = listing("inference", "limit", "highest confidence")
    for template in disclosure.templates:
        confidence = percent(disclosure.confidences[template])
        inferences.add_row(inference(template), limit_text(template), confidence)
    early = "" if disclosure.complete else ", stopped early, and the templates hold"
    lines = [
        ("people", f"{disclosure.n_rows:,}"),
        ("steps", f"{len(disclosure.steps):,}{early}"),
    ]
    rows = [
        row for name, guess in guess_on.items() for row in guess_rows(guess, f"deFinetti on {label(name)}")
    ]
    return [suppressed_grid(disclosure), inferences, pairs(lines), *([pairs(rows)] if rows else [])]


def suppressed_grid(disclosure: Disclosure) -> Grid:
    """Column by column, what was suppressed and why."""
    rows = texts_grid("column", "suppressed", "why")
    for name in disclosure.masked:
        if name in disclosure.intervals:
            cuts = disclosure.intervals[name]
            n = len(cuts)
            text = ", ".join(map(str, cuts[:SHOWN])) + (", .." if n > SHOWN else "")
            rows.add_row(label(name), "", f"in {n} {'interval' if n == 1 else 'intervals'}: {text}")
            continue
        reasons = reasons_of(disclosure, name)
        if not reasons:
            rows.add_row(label(name), "nothing", "")
        for text, values in reasons.items():
            more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
            rows.add_row(label(name), ", ".join(values[:SHOWN]) + more, text)
    return rows


def reasons_of(disclosure: Disclosure, name: str) -> dict[str, list[str]]:
    """Why values of a column are suppressed -> which."""
    assert disclosure.reasons is not None  # as of one that was loaded
    reasons: dict[str, list[str]] = {}
    for value, broken in disclosure.reasons[name].items():
        reason = "of no use for the target" if disclosure.complete else "not come to"
        if broken is not None:
            reason = f"{inference(broken[0])} would exceed {limit_text(broken[0])}"
        reasons.setdefault(reason, []).append(label(value))
    return reasons


def naming_notes(disclosure: Disclosure) -> list[str]:
    """On columns that are published as they are and may tell who somebody is."""
    table = disclosure.table
    as_is = [name for name in table.names if name not in disclosure.masked]
    judged = {disclosure.target, *(template.sensitive[0] for template in disclosure.templates)}
    return [
        f"{label(name)} has {len(table.domain(name)):,} values in {disclosure.n_rows:,} rows, and is "
        "published as it is: leave it out with --columns if it tells who somebody is."
        for name in as_is
        if name not in judged
        and names_people(len(table.domain(name)), disclosure.n_rows, alone_in(table, name))
    ]


def alone_in(table: nbcfast.Table, name: str) -> int:
    """How many values of a column stand in a single row, each row as often as it counts."""
    counted = np.bincount(table.codes(name), weights=table.weights, minlength=len(table.domain(name)))
    return int((counted == 1).sum())
