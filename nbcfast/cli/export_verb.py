"""The verb `export`."""

import os
import sys
from pathlib import Path

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.files import check_file
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.options import verbs
from nbcfast.cli.printing import pairs, tell
from nbcfast.cli.published_in import AnyRelease, domains_of
from nbcfast.cli.targets import ASK, keep_outside
from nbcfast.cli.unmet import PREDICT, tell_unmet
from nbcfast.cli.verify_verb import Named
from nbcfast.cli.writings import note
from nbcfast.exports.exporting import DifferingFileError, export
from nbcfast.exports.formats import FORMATS, format_of
from nbcfast.published.exported import Exported
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision
from nbcfast.reports.use_summary import of_exported, of_unverified, release_checked
from nbcfast.verification.checks import verify as verified
from nbcfast.verification.results import Verification

# What is done with a file of each kind.
USES = {
    "sql": "Run it where the table is; rows with a value that is not published get NULL.",
    "onnx": "Inputs are the columns; rows with a value that is not published have known false and class -1.",
    "pmml": "Give it to JPMML, PMML4S or another engine; a value that is not published has no answer.",
    "xlsx": "Open it: Form is for one case, Rows for many; a value that is not published says unknown.",
    "csv": "Add up the points of a row's values; a row with a value that is not listed has no class.",
    "html": "Open it in a browser, or hand it over: it adds up points, and sends nothing anywhere.",
    "py": "Run python FILE [--name NAME] < rows.csv > decided.csv, or import it and call decide(row); None "
    "is no class.",
}


@verbs.command(
    name="export",
    short_help="Write a release as a file that other programs run.",
    example="nbcfast export release --out rule.sql --table patients",
)
@click.argument("folder", metavar="DIR", type=Named(path_type=Path))
@click.option(
    "--to",
    "to",
    type=click.Choice([ending[1:] for ending in FORMATS]),
    help="What to write.  [default: as the ending of --out says]",
)
@click.option("--out", metavar="FILE", type=Named(path_type=Path), required=True, help="The file to write.")
@click.option(
    "--table",
    metavar="NAME",
    help="SQL: the table to read from; SCHEMA.NAME for one in a schema.  [default: input]",
)
@click.option(
    "--name",
    metavar="NAME",
    help="SQL, Python: the column of the label, where the class has one.  [default: that of the class]",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The menu that the domain was chosen from: the file then takes raw values.",
)
@declares
@click.option(
    "--null",
    "nulls",
    metavar="TEXT",
    multiple=True,
    help="A text that means null in rows; may be repeated.  [default: none; of Python the empty text]",
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def export_verb(
    folder: Path,
    to: str | None,
    out: Path,
    table: str | None,
    name: str | None,
    menu: Path | None,
    declaring: Declaring,
    nulls: tuple[str, ...],
    overwrite: bool,
    as_json: bool,
) -> int:
    r"""Write the classifier that is published in DIR as a file that other programs run.

    SQL, an ONNX or PMML model, an Excel workbook, a scorecard in CSV, a page of HTML, or a file of Python:
    integer points and comparisons, which decide as the release does. A value that is not published never
    gets a class. Where names of sets are published, --menu, --domain or --group, as given to `publish`, put
    what is in them into the file. Where a missing value is published, --null says which text means it in
    your rows, as for `predict`: without it rows need a real null.

    DIR is verified first, and nothing is written where a check fails. The file is then loaded by what runs
    such files, where that is installed, and compared with the release on every tuple, or on the million
    nearest to a change of class: one that differs is not kept.

    Leaves with 0 if the file was written and compared, with 1 if nothing was written because DIR does not
    verify or the file differs, and with 3 if it was written and not compared ("written, NOT compared").
    """
    ending = expect_target(folder, out, to, table, name, overwrite)
    if menu is not None and declaring.declared is not None:
        raise ValueError("--menu says what all columns are put into: leave out --domain, --bin and --group")
    with progress("verifying") as report:
        verification = verified(folder, menu=menu, progress=report)
    published = verification.published
    if verification.exit_code == 1 or published is None:
        return not_verified(verification, f"{folder} -> {out}", as_json)
    if not isinstance(published, Release | StratifiedRelease):
        raise ValueError(f"export is for releases, and {str(folder)!r} has kind {verification.kind!r}")
    domains = domains_of(published, declaring.declared, menu)
    try:
        with progress("exporting") as report:
            made = export(
                published,
                out,
                to=ending[1:],
                table="input" if table is None else table,
                name=name,
                domains=domains,
                null_values=nulls,
                overwrite=overwrite,
                progress=report,
            )
    except Infeasible as error:
        about = f"{printable(str(folder))} -> {printable(str(out))}"
        return tell_unmet(error, about, [PREDICT], {"folder": str(folder)}, as_json=as_json)
    except DifferingFileError as error:
        print(f"nbcfast: {printable(str(error))}", file=sys.stderr)
        return 1
    note([out])
    tell(
        of_exported(
            made,
            release_checked(verification, printable(str(folder))),
            f"{printable(str(folder))} -> {printable(str(out))}",
            to_do(made, published),
        ),
        lambda: {**made.to_dict(), "verified": verification.ok, "verdict": verification.verdict},
        as_json=as_json,
        body=lambda: [pairs(decided_of(published))],
        written=[Written(made.path, made.bytes)],
    )
    return 3 if made.identical is None else 0


def expect_target(
    folder: Path, out: Path, to: str | None, table: str | None, name: str | None, overwrite: bool
) -> str:
    """The ending of what is written; refused, before any work, is what cannot be."""
    try:
        ending = format_of(os.fspath(out), to, "--to")
    except ValueError as error:
        told = "--to" in str(error)
        raise ValueError(str(error) if told else f"--out: {error}, or give --to") from None
    if table is not None and ending != ".sql":
        raise ValueError(f"--table is for SQL, got it with {ending[1:]}")
    if name is not None and not FORMATS[ending].adds:
        raise ValueError(f"--name is for SQL and Python, got it with {ending[1:]}")
    keep_outside(folder, out, "--out")
    if not out.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, got {str(out)!r}")
    check_file(out, overwrite, ASK)
    return ending


def not_verified(verification: Verification, about: str, as_json: bool) -> int:
    """Say which checks do not hold; nothing was written."""
    summary = of_unverified(verification, printable(about))

    def document() -> Document:
        failed = [f"{found.about}: {found.text}" for found in summary.findings]
        return {"text": "not written: the release does not verify", "identical": None, "failed": failed}

    tell(summary, document, as_json=as_json)
    return 1


def decided_of(published: AnyRelease) -> list[tuple[str, str]]:
    """What the file decides."""
    class_name = "class" if published.class_name is None else published.class_name
    by = [] if isinstance(published, Release) else [("by", label(published.by))]
    return [("class", label(class_name)), *by]


def to_do(made: Exported, published: AnyRelease) -> list[Decision]:
    """How the file is used, and what would make it better."""
    context = click.get_current_context()
    replacing = [] if context.params["overwrite"] else ["--overwrite"]
    decisions = [Decision(USES[made.format])] if made.format in USES else []
    if made.nulls and not made.null_values and FORMATS[f".{made.format}"].texts:
        question = "Say which text means missing in your rows, where one does (--null may be repeated)."
        decisions.append(Decision(question, (asked(context, more=["--null", "?", *replacing]),)))
    if made.missing is not None:
        question = f"Install {made.missing}, which loads such a file, and export again: then it is compared."
        decisions.append(Decision(question, (asked(context, more=replacing),)))
    if made.sets:
        first = published if isinstance(published, Release) else published.first
        from_menu = first.certificate.advice is not None
        what = "menu that the domain was chosen from" if from_menu else "domain that it was published with"
        question = f"Give the {what}: then the file takes rows as they are."
        option = "--menu" if from_menu else "--domain"
        decisions.append(Decision(question, (asked(context, more=[option, "FILE", *replacing]),)))
    if made.dates:
        other = free(f"{Path(made.path).stem}.py")
        python = asked(context, without={"to", "out", "table", "overwrite"}, more=["--out", other])
        question = "Put dates into their bins before: `nbcfast predict` does, given the domain or the menu"
        if made.format == "py":
            decisions.append(Decision(f"{question}."))
        else:
            question += ", and a file of Python where bins are called by their ends."
            decisions.append(Decision(question, (python,)))
    if made.format == "sql" and context.params["name"] is None:
        column = "class" if published.class_name is None else published.class_name
        question = (
            f"Where the table has a column {label(column)} already, give the one that is added another name."
        )
        decisions.append(Decision(question, (asked(context, more=["--name", "predicted", *replacing]),)))
    return decisions
