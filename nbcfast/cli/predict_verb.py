"""The verb `predict`: rows of a file with the class that a release gives them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from nbcfast._core.errors import NoColumnError
from nbcfast._core.files import written
from nbcfast._reading.csv_files import CsvForm
from nbcfast._reading.endings import delimiter_of
from nbcfast._reading.row_blocks import RowFile
from nbcfast.cli.asked_again import asked, free
from nbcfast.cli.bars import progress
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.naming import OPTIONS, about
from nbcfast.cli.options import reads_file, verbs
from nbcfast.cli.predict_screens import N_FIRST, Prediction
from nbcfast.cli.printing import tell
from nbcfast.cli.published_in import AnyRelease, domains_of, used
from nbcfast.cli.reading import Reading
from nbcfast.cli.targets import REPLACES, check_targets, keep_outside
from nbcfast.cli.writings import note
from nbcfast.domains.missing import if_missing
from nbcfast.published.added_columns import UNSEEN, AddedColumns, AddedNames
from nbcfast.published.dataset import streamed_ending
from nbcfast.published.raw_rows import Answering
from nbcfast.published.release import Release
from nbcfast.published.right_answers import RightAnswers
from nbcfast.published.row_sinks import sink_of
from nbcfast.published.scored_file import score
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision


@verbs.command(
    short_help="Predict the class of the rows of a file.",
    example="nbcfast predict release new.csv --out predicted.csv",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file to write: .csv, .csv.gz or .parquet.  [default: the first rows are printed]",
)
@click.option("--proba", is_flag=True, help="Add a column for each class: its posterior, p_CLASS.")
@click.option("--name", metavar="NAME", help="The column of the label.  [default: that of the class]")
@click.option(
    "--unseen",
    type=click.Choice(("error", "ignore", "null")),
    default="error",
    show_default=True,
    help="Rows with a value that the release does not know: refuse the file, decide them without the "
    f"attribute, or give them no class; a column '{UNSEEN}' names their attributes.",
)
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The menu that the domain of the release was chosen from, for its sets.",
)
@reads_file
@declares
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the screen.")
def predict(
    folder: Path,
    file: Path,
    out: Path | None,
    proba: bool,
    name: str | None,
    unseen: Literal["error", "ignore", "null"],
    menu: Path | None,
    reading: Reading,
    declaring: Declaring,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Predict the class of every row of FILE (CSV or Parquet) by the release in DIR.

    Rows are as they were before anything was binned: numbers and dates are put into the bins of the release.
    What is in its sets, and in bins that have names, is not in the certificate: give --domain, --bin, --group
    or --menu as it was published. All columns of FILE are kept, and the label comes last.

    The release is verified first, and nothing is predicted from a folder that does not verify: that leaves
    with 1. Rows with values that are unknown to the release leave with 2, and nothing is written, unless
    --unseen null gives them no class, or --unseen ignore decides them without the attribute. Where FILE has
    the class column too, it is said for how many rows the label is that class.
    """
    if reading.weights is not None or reading.texts:
        raise ValueError(
            "--weights and --text say nothing here: every row of FILE is predicted, and its values are read "
            "as the release has them"
        )
    check_targets([file, menu, *declaring.files], overwrite, files={"--out": out})
    if out is not None:
        keep_outside(folder, out, "--out")
    ending = None if out is None else streamed_ending(str(out), "--out")
    rows = rows_in(file, reading)
    found = used(folder, "nothing is predicted", menu)
    if found is None:
        return 1
    release, verification = found
    domains = domains_of(release, declaring.declared, menu)
    answering = release.answering(domains, OPTIONS)
    expect_columns(file, rows, answering)
    right = None
    if release.class_name is not None and release.class_name in rows.names:
        right = RightAnswers(release.class_name, answering.views[0].class_domain, domains)
    added = added_to(release, name, proba, unseen)
    if out is not None:
        expect_free(file, rows, added)

    formulas: dict[str, str] = {}
    with progress("predicting") as report, about(file):
        if out is None or ending is None:
            tally = score(
                answering, rows, added, None, unseen=unseen, n_first=N_FIRST, right=right, progress=report
            )
        else:
            columns = AddedColumns(answering, added)
            delimiter = delimiter_of(out) if reading.delimiter is None else rows.form.delimiter
            with written(out, overwrite=overwrite) as stream:
                with sink_of(stream, ending, rows, columns, delimiter) as sink:
                    tally = score(answering, rows, added, sink, unseen=unseen, right=right, progress=report)
                formulas = sink.formulas
            note([out])
    predicted = Prediction(folder, file, out, release, verification, answering, added, tally, formulas)
    tell(
        predicted.summary([*missing(predicted), *to_write(out, predicted.n_left)]),
        predicted.to_dict,
        as_json=as_json,
        body=predicted.parts,
        written=[] if out is None else [Written.of(out)],
    )
    return 0


def missing(predicted: Prediction) -> list[Decision]:
    """What reads texts as null that may say so."""
    strays, answering = predicted.tally.strays, predicted.answering
    texts = dict.fromkeys(
        text for name in strays.rows if answering.missing(name, strays) for text in strays.like_nulls[name]
    )
    if not texts:
        return []
    more = [part for text in ("", *texts) for part in ("--null", text)]
    text = if_missing([*texts], OPTIONS, empty=True)
    command = asked(click.get_current_context(), more=more)
    return [Decision(f"{text[:1].upper()}{text[1:]}.", (command,))]


def to_write(out: Path | None, n_left: int) -> list[Decision]:
    """How rows that are not printed are had."""
    if out is not None or not n_left:
        return []
    more = "1 more row is" if n_left == 1 else f"{n_left:,} more rows are"
    command = asked(click.get_current_context(), more=["--out", free("predicted.csv")])
    return [Decision(f"{more} not shown: write all of them to a file.", (command,))]


def rows_in(file: Path, reading: Reading) -> RowFile:
    """A file of rows, as the options say that it is written."""
    options = reading.csv_options(file)
    with about(file):
        if options is None:
            return RowFile(file, "FILE")
        form = {name: value for name, value in options.items() if name != "types"}
        return RowFile(file, "FILE", CsvForm.of(str(file), **form))  # type: ignore[arg-type]


def expect_columns(file: Path, rows: RowFile, answering: Answering) -> None:
    """Refuse a file that lacks an attribute of the release."""
    for name in answering.names:
        if name not in rows.names:
            error = NoColumnError(name, rows.names)
            error.file = file
            raise error


def added_to(release: AnyRelease, name: str | None, proba: bool, unseen: str) -> AddedNames:
    """The columns that are added."""
    if name is None:
        name = "class" if release.class_name is None else release.class_name
    if not name:
        raise ValueError("--name must be the name of a column, got ''")
    views = release.views if isinstance(release, Release) else release.first.views
    posteriors = [f"p_{label(one)}" for one in views.classes] if proba else []
    return AddedNames(name=name, probabilities=posteriors, says_unseen=unseen != "error")


def unused(names: Sequence[str]) -> str:
    """A name for the predicted class that no column has."""
    name = "predicted"
    while name in names:
        name += "_"
    return name


def expect_free(file: Path, rows: RowFile, added: AddedNames) -> None:
    """Refuse names that FILE has, or that would stand there twice."""
    if added.name in rows.names:
        raise ValueError(
            f"{file} has a column {added.name!r} already: --name gives the predicted class another: "
            f"{asked(click.get_current_context(), without={'name'}, more=['--name', unused(rows.names)])}"
        )
    for place, other in enumerate(added.names):
        if other in rows.names or other in added.names[:place]:
            raise ValueError(
                f"a column {other!r} would be added, and there is one already: rename that of {file}, or "
                "give another --name"
            )
