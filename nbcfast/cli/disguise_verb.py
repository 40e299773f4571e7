"""The verb `response disguise`."""

import json
from pathlib import Path
from typing import Literal

import click
import numpy as np

import nbcfast
from nbcfast import response
from nbcfast._core.errors import Infeasible
from nbcfast._core.json_numbers import integer_of, long_integer
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import decimal_text, printable
from nbcfast._wire.regular_files import CUTS
from nbcfast.cli.asked_again import checked
from nbcfast.cli.bars import progress
from nbcfast.cli.options import Whole, reads_file, verbose
from nbcfast.cli.parsing import names_in
from nbcfast.cli.plan_verb import response_verbs
from nbcfast.cli.printing import Parts, pairs, readable, tell
from nbcfast.cli.reading import Reading, expect_rows
from nbcfast.cli.reports_asked import with_report
from nbcfast.cli.schemes_asked import (
    AskedScheme,
    like_scheme,
    other_coins,
    privacy_document,
    privacy_grid,
    privacy_lines,
)
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.unmet import tell_unmet
from nbcfast.cli.writings import note
from nbcfast.published.document import own_file, published_copy
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.judged_pages import answers_page
from nbcfast.reports.response_summary import exposed_text, of_disguised
from nbcfast.response import Cut, Disguised
from nbcfast.response.schemes import AnyScheme
from nbcfast.response.wire import expect_savable
from nbcfast.verification.load import load


@response_verbs.command(
    short_help="Disguise answers by coins, and say what that hides.",
    example="nbcfast response disguise survey.csv --theta 80% --groups smokes,drinks --each"
    " --keep health --out told",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--theta", metavar="P", help="The probability of the truth: 80%, 0.8, 4/5; or one a group, with commas."
)
@click.option(
    "--groups",
    metavar="A,B;C",
    help="Columns under one coin, with commas between; groups with semicolons between.",
)
@click.option("--each", is_flag=True, help="A coin for each column of --groups, which makes it epsilon-LDP.")
@click.option(
    "--k-ary", "kary", is_flag=True, help="Columns of any number of values: a lie is another of them."
)
@click.option(
    "--lie",
    type=click.Choice(("each", "tuple")),
    default="each",
    show_default=True,
    help="With --k-ary, what a lie of several columns is: another value of each, or another tuple.",
)
@click.option(
    "--scheme",
    "scheme_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A scheme.json, in place of --theta and --groups.",
)
@click.option(
    "--keep",
    metavar="A,B",
    help="Columns told as they are; what is named nowhere is left out.  [default: none]",
)
@click.option(
    "--binarise",
    type=click.Choice(("midrange", "median")),
    help="Make the columns of the groups two-valued first; where they are cut tells something of FILE.",
)
@click.option(
    "--cuts",
    "cuts_file",
    metavar="CUTS",
    type=click.Path(path_type=Path),
    help="The same at the points of a cuts.json, which --binarise wrote for other answers.",
)
@click.option(
    "--out", metavar="DIR", required=True, type=click.Path(path_type=Path), help="The folder to write."
)
@click.option("--seed", type=Whole(min=0), help="Simulate: coins from a seed hide nothing from who knows it.")
@reads_file
@REPLACES
@with_report
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def disguise(
    file: Path,
    theta: str | None,
    groups: str | None,
    each: bool,
    kary: bool,
    lie: Literal["each", "tuple"],
    scheme_file: Path | None,
    keep: str | None,
    binarise: Literal["midrange", "median"] | None,
    cuts_file: Path | None,
    out: Path,
    seed: int | None,
    reading: Reading,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Disguise the answers in FILE by randomised response, and say what that hides.

    Each record throws a coin for each group: with the probability theta its columns stay as they are, else
    all of them are reversed. Writes DIR/table.csv with its rows sorted, DIR/certificate.json for `verify` and
    DIR/scheme.json for `response estimate` and for devices on which respondents disguise their own answers;
    with --binarise or --cuts also DIR/cuts.json, by which a classifier of the answers is used on new records.

    Leaves with 1, and writes nothing, if the scheme hides nothing of a column: at theta = 1, or 0 with two
    values.
    """
    if reading.weights is not None:
        raise ValueError("--weights: each record needs coins of its own, and a weight has none")
    check_targets([file, scheme_file, cuts_file], overwrite, folder=out)
    asked = AskedScheme(theta, groups, each, scheme_file, kary, lie)
    scheme = asked.known()
    columns = asked.columns(scheme)
    table = answers_in(file, reading, scheme, columns, kept_in(keep, columns))
    cuts = cuts_of(table, columns, binarise, cuts_file)
    expect_savable(cuts)
    table = response.binarise(table, cuts)
    if scheme is None:
        scheme = asked.kary_of(table)
    if scheme.exposed:
        why = f"{exposed_text(scheme)}; --keep tells columns as they are"
        about = f"{printable(str(file))} -> {printable(str(out))}"
        document = {"file": str(file), "scheme": scheme.to_dict(), "privacy": privacy_document(scheme)}
        return tell_unmet(
            Infeasible(why, {}), about, other_coins(theta), document, as_json=as_json, of_rows=False
        )

    rng = None if seed is None else np.random.default_rng(seed)
    with progress("disguising") as report:
        disguised = response.disguise(table, scheme, rng, progress=report)
    with progress("writing"):
        disguised.save(out, cuts=cuts, overwrite=overwrite)
        note([out])
        load(out)  # reads and checks what was written

    about = f"{printable(str(file))} -> {printable(str(out))}"
    tell(
        of_disguised(disguised, about, [checked(out)], written=True),
        lambda: disguised_document(out, disguised, cuts),
        lambda: disguised_details(disguised, cuts),
        as_json=as_json,
        written=list(map(Written.of, sorted(out.iterdir()))),
        page=lambda summary: answers_page(disguised.scheme.privacy(), summary, disguised),
    )
    return 0


def kept_in(keep: str | None, columns: list[str]) -> list[str]:
    """The columns of --keep, none of which is disguised."""
    kept = [] if keep is None else names_in(keep, "--keep")
    for name in kept:
        if name in columns:
            raise ValueError(f"--keep and the groups both name {name!r}")
    return kept


def answers_in(
    file: Path, reading: Reading, scheme: AnyScheme | None, columns: list[str], kept: list[str]
) -> nbcfast.Table:
    """The truthful answers in a file: the columns that are disguised, and those that are told as they are."""
    names = [*dict.fromkeys(columns), *kept]
    table = expect_rows(file, like_scheme(reading, file, scheme, names).table(file, names))
    return table.select([name for name in table.names if name in names])


def cuts_of(
    table: nbcfast.Table,
    columns: list[str],
    binarise: Literal["midrange", "median"] | None,
    cuts_file: Path | None,
) -> dict[str, Cut]:
    """Where --binarise or --cuts cut columns; nowhere without them."""
    if binarise is not None and cuts_file is not None:
        raise ValueError("--cuts takes the place of --binarise")
    if binarise is not None:
        return response.cuts(table, columns, at=binarise)
    return {} if cuts_file is None else cuts_in(cuts_file, columns)


def cuts_in(file: Path, columns: list[str]) -> dict[str, Cut]:
    """The cuts of these columns in a cuts.json; that of published answers must be their own."""
    data = published_copy(file, CUTS)
    try:
        entries = json.loads((own_file(file) if data is None else data).decode(), parse_int=integer_of)
        too_long = long_integer(entries)
        if too_long is not None:
            names, said = too_long
            raise ValueError("".join(f"{name[:60]!r}: " for name in names) + said)
        cuts = {name: Cut.from_dict(cut) for name, cut in entries.items() if name in columns}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"--cuts {file}: not cuts as they were written ({error})") from None
    if not cuts:
        raise ValueError(f"--cuts {file}: it has none of the columns {', '.join(columns)}")
    return cuts


def disguised_document(out: Path, disguised: Disguised, cuts: dict[str, Cut]) -> Document:
    """What was written, for JSON."""
    return {
        "out": str(out),
        "rows": disguised.n_rows,
        "kept": list(disguised.untouched),
        "seeded": disguised.seeded,
        "cuts": {name: cut.to_dict() for name, cut in cuts.items()},
        "scheme": disguised.scheme.to_dict(),
        "privacy": privacy_document(disguised.scheme),
        "warnings": list(disguised.remarks),
    }


def disguised_details(disguised: Disguised, cuts: dict[str, Cut]) -> Parts:
    """What was written, for people."""
    lines = [("rows", readable(disguised.n_rows)), *privacy_lines(disguised.scheme)]
    if disguised.untouched:
        lines.append(("told as they are", ", ".join(label(name) for name in disguised.untouched)))
    if cuts:
        lines.append(
            ("1 is above", ", ".join(f"{label(name)} {cut_text(cut)}" for name, cut in cuts.items()))
        )
    return [privacy_grid(disguised.scheme), pairs(lines)]


def cut_text(cut: Cut) -> str:
    """Where a column is cut, or which of its values are 1."""
    if not cut.values:
        return decimal_text(cut.point)
    return (
        "(1 is "
        + ", ".join(label(value) for place, value in enumerate(cut.values) if place > cut.point)
        + ")"
    )
