"""The verb `response estimate`."""

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Literal

import click
from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import response
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast._wire.regular_files import TABLE
from nbcfast.cli.bars import progress
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.options import reads_file, verbose
from nbcfast.cli.parsing import names_in
from nbcfast.cli.plan_verb import response_verbs
from nbcfast.cli.printing import listing, tell
from nbcfast.cli.reading import Reading, expect_file
from nbcfast.cli.reports_asked import with_report_alone
from nbcfast.cli.schemes_asked import like_scheme
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import answers_page
from nbcfast.reports.response_summary import of_estimate
from nbcfast.response import Accuracy, Estimate, Proportions
from nbcfast.response.schemes import AnyScheme
from nbcfast.table.values import plain
from nbcfast.verification.load import load

MOST_SHOWN = 12  # values of an attribute in the table of estimates


@response_verbs.command(
    short_help="Estimate what naive Bayes needs from disguised answers.",
    example="nbcfast response estimate told --class health",
)
@click.argument("disguised", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The scheme.json that the answers were made by.  [default: that of a folder]",
)
@click.option("--class", "class_name", metavar="NAME", required=True, help="The column to predict.")
@click.option("--columns", metavar="A,B,C", help="The attributes to use.  [default: all]")
@click.option(
    "--method",
    type=click.Choice(("projection", "em")),
    default="projection",
    show_default=True,
    help="How shares below 0 are avoided: the nearest that are possible, or maximum likelihood.",
)
@click.option(
    "--confidence",
    "level",
    cls=Renamed,
    former=("--level",),
    metavar="P",
    default="0.95",
    show_default=True,
    help="That of the intervals: 0.95 or 95%.",
)
@click.option(
    "--holdout",
    "test_file",
    cls=Renamed,
    former=("--test",),
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Other answers, disguised likewise: measure the accuracy of naive Bayes on the truth behind them.",
)
@reads_file
@with_report_alone
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def estimate(
    disguised: Path,
    scheme_file: Path | None,
    class_name: str,
    columns: str | None,
    method: Literal["projection", "em"],
    level: str,
    test_file: Path | None,
    reading: Reading,
    as_json: bool,
) -> int:
    """Estimate from disguised answers the shares that naive Bayes needs, with confidence intervals.

    DISGUISED is a folder that `response disguise` wrote, or a table (CSV or Parquet, with --scheme).
    """
    if reading.weights is not None:
        raise ValueError("--weights: answers have none")
    table, scheme = answers_and_scheme(disguised, scheme_file, class_name, columns, reading)
    if class_name not in table.names:
        known = ", ".join(table.names)
        raise ValueError(f"--class must be a column of the answers ({known}), got {class_name!r}")
    attributes = None if columns is None else names_in(columns)
    with progress("counting") as report:
        shares = response.estimate(
            table, scheme, class_name, attributes=attributes, method=method, progress=report
        )
    interval = shares.interval(level)
    measured = None
    if test_file is not None:
        keep_other(disguised, test_file)
        others = other_answers(test_file, scheme, class_name, columns, reading)
        with progress("judging") as report:
            measured = response.accuracy(response.classifier(shares), others, scheme, progress=report)

    tell(
        of_estimate(
            shares,
            printable(str(disguised)),
            scheme=scheme,
            interval=interval,
            level=level,
            measured=measured,
        ),
        lambda: estimate_document(shares, level, interval, measured),
        as_json=as_json,
        body=lambda: [shares_grid(shares, interval)],
        page=lambda summary: answers_page(scheme.privacy(), summary, shares),
    )
    return 0


def answers_and_scheme(
    disguised: Path, scheme_file: Path | None, class_name: str, columns: str | None, reading: Reading
) -> tuple[nbcfast.Table, AnyScheme]:
    """The answers in a folder or a file, and the scheme that they were made by."""
    if disguised.is_dir():
        answers = answers_in_folder(disguised, f"{disguised} holds no disguised answers")
        return answers, answers.scheme if scheme_file is None else response.load_scheme(scheme_file)
    if scheme_file is None:
        expect_file(disguised)
        raise ValueError("--scheme FILE must say how the answers of a table were made, got none")
    scheme = response.load_scheme(scheme_file)
    return answers_in_file(disguised, scheme, class_name, columns, reading), scheme


def other_answers(
    tested: Path, scheme: AnyScheme, class_name: str, columns: str | None, reading: Reading
) -> nbcfast.Table:
    """The answers of --holdout, in a folder or a file."""
    if tested.is_dir():
        return answers_in_folder(tested, f"--holdout {tested} holds no disguised answers")
    return answers_in_file(tested, scheme, class_name, columns, reading)


def answers_in_folder(folder: Path, otherwise: str) -> response.Disguised:
    """The answers in a folder that `response disguise` wrote; refused, in these words, if it is another."""
    with progress("loading"):
        answers = load(folder)
    if not isinstance(answers, response.Disguised):
        raise ValueError(otherwise)
    return answers


def answers_in_file(
    file: Path, scheme: AnyScheme, class_name: str, columns: str | None, reading: Reading
) -> nbcfast.Table:
    """The answers in the table of a file."""
    attributes = None if columns is None else names_in(columns)
    names = None if attributes is None else [*attributes, class_name]
    return like_scheme(reading, file, scheme, names).with_class(file, class_name, attributes)


def keep_other(learned: Path, tested: Path) -> None:
    """Refuse to test on the answers that the classifier learned from: the accuracy would be of no use."""
    one, other = (path / TABLE if path.is_dir() else path for path in (learned, tested))
    same = os.path.samefile(one, other)
    if not same and one.stat().st_size == other.stat().st_size:
        same = one.read_bytes() == other.read_bytes()
    if same:
        raise ValueError(
            "--holdout must be other answers than those learned from, on which the estimate of the accuracy "
            f"does not hold; got {str(tested)!r}"
        )


def estimate_document(
    shares: Estimate, level: str, interval: tuple[Proportions, Proportions], measured: Accuracy | None
) -> Document:
    """The estimate for JSON."""
    low, high = interval
    return {
        **shares.to_dict(),
        "classes": [plain(value) for value in shares.classes],
        "values": {name: [plain(value) for value in shares.domain(name)] for name in shares.attributes},
        "interval": {"level": level, "low": low.to_dict(), "high": high.to_dict()},
        "accuracy": None if measured is None else measured.to_dict(),
    }


def shares_grid(shares: Estimate, interval: tuple[Proportions, Proportions]) -> Grid:
    """Each share with its interval: of the classes, and of the first values of each attribute."""
    low, high = interval
    grid = listing("estimated share", *(f"P(.., {label(value)})" for value in shares.classes))
    grid.add_row(Text(f"class {label(shares.class_name)}"), *spans(shares.prior, low.prior, high.prior))
    for name in shares.attributes:
        values = shares.domain(name)
        ends = low.joint[name], high.joint[name]
        for place, value in enumerate(values[:MOST_SHOWN]):
            row = (each[place] for each in (shares.joint[name], *ends))
            grid.add_row(Text(f"{label(name)} = {label(value)}"), *spans(*row))
        if len(values) > MOST_SHOWN:
            grid.add_row(Text(f"{label(name)}: {len(values) - MOST_SHOWN} values more, in --json"))
    return grid


def spans(shares: Iterable[Fraction], low: Iterable[Fraction], high: Iterable[Fraction]) -> list[str]:
    """Shares, each with the ends of its interval."""
    return [
        f"{float(share):.4f} [{float(least):.4f}, {float(most):.4f}]"
        for share, least, most in zip(shares, low, high, strict=True)
    ]
