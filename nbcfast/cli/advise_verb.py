"""The verb `advise`."""

from pathlib import Path
from typing import Literal, TypedDict

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.files import together, written
from nbcfast._wire.messages import printable
from nbcfast.canonical import Advice, Limits
from nbcfast.cli.advice_screens import AdviceScreen, menu_parts, of_menu
from nbcfast.cli.asked_again import empty_too
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.grammar import Renamed
from nbcfast.cli.limits_asked import with_limits
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import Whole, reads_table, verbose, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.printing import tell
from nbcfast.cli.reading import Reading
from nbcfast.cli.reports_asked import report_asked, with_report
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.unmet import other_domains, tell_unmet
from nbcfast.cli.writings import note
from nbcfast.domains import Declared, Menu
from nbcfast.publishing.domain_search import By, DomainSearch, advised, begun_menu
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import label
from nbcfast.reports.advice_page import advice_page
from nbcfast.reports.advice_summary import of_advice
from nbcfast.reports.domain_summary import of_begun_menu
from nbcfast.reports.summary import Decision
from nbcfast.views.smoothing import constant


# Long by its options, each of which is an argument.
@verbs.command(
    name="advise",
    short_help="Find the values to tell apart, so that answers tell little.",
    example="nbcfast advise patients.csv --class diagnosis --menu patients-menu.json --out domain.json",
)
@reads_table
@declares
@click.option(
    "--menu",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="JSON, fixed in advance: options of every attribute, as values, edges, groups, out.  [default: "
    "ready-made ones]",
)
@with_limits
@click.option(
    "--score",
    "by",
    cls=Renamed,
    former=("--by",),
    type=click.Choice(["accuracy", "log-loss"]),
    default="accuracy",
    show_default=True,
    help="What the best domain has most of.",
)
@click.option(
    "--folds",
    type=Whole(0, 100),
    default=5,
    show_default=True,
    help="Parts of the rows, each judged by a classifier of the others; 0: by one that has seen them.",
)
@click.option(
    "--on",
    "other",
    metavar="OTHER",
    type=click.Path(path_type=Path),
    help="Choose on the rows of this file alone, which may be public: the choice then tells nothing of FILE.",
)
@click.option(
    "--strata",
    metavar="NAMES",
    help="Also try a classifier for each value of a column of these, of its rows alone: `publish "
    "--strata`. They are public and fixed in advance, as the menu is.",
)
@click.option(
    "--smooth",
    "alpha",
    metavar="A",
    help="For `publish --smooth A`: limits are those of the classifier with A added to every count.",
)
@click.option(
    "--votes",
    metavar="EPSILON",
    help="Choose privately in place of the best: blocks of rows vote, and a domain is drawn by their votes. "
    "Asks for --menu with the values of the class.",
)
@click.option(
    "--blocks",
    type=Whole(1, 1_000_000),
    help="With --votes: how many blocks vote, a public number.  [default: 100]",
)
@click.option(
    "--write-menu",
    metavar="menu.json",
    type=click.Path(path_type=Path),
    help="Also write the menu, with which `verify --menu` checks the choice.",
)
@click.option(
    "--out",
    metavar="domain.json",
    type=click.Path(path_type=Path),
    help="The file to write, for `publish --domain`.",
)
@click.option(
    "--plot", metavar="FRONT.svg", type=click.Path(path_type=Path), help="Also draw accuracy against bits."
)
@REPLACES
@with_report
@verbose
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def advise_verb(
    file: Path,
    class_name: str,
    columns: str | None,
    reading: Reading,
    max_values: int,
    declaring: Declaring,
    menu: Path | None,
    limits: Limits,
    by: Literal["accuracy", "log-loss"],
    folds: int,
    other: Path | None,
    strata: str | None,
    alpha: str | None,
    votes: str | None,
    blocks: int | None,
    write_menu: Path | None,
    out: Path | None,
    plot: Path | None,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Find the best domain to publish a classifier of NAME on, of all that a menu offers.

    A canonical release tells what its classifier answers, so the values that it tells apart decide what it
    gives away. Every combination of the menu's options is tried; from the most accurate down their answers
    are measured, and the first that keeps the limits is the best there is. Where they are too many for that,
    it says "the best found". `publish --domain` takes the file.

    What is printed comes from the private table and is not meant for publication. The file may leave, where
    the menu was fixed in advance: the choice is in the certificate, which says how much it tells. Without
    --menu the columns whose options come from the rows stand in its list from_rows, and the certificate says
    that their values were not declared.

    With --write-menu alone nothing is searched: the menu is written, to be checked, and `publish --menu` then
    finds the best that it offers.

    Leaves with 1 if no domain of the menu keeps the limits, and with 3 if that took more work than is done;
    nothing is written then.
    """
    check_targets(
        [file, other, menu, *declaring.files],
        overwrite,
        files={"--out": out, "--plot": plot, "--write-menu": write_menu},
    )
    worth: By = "correct" if by == "accuracy" else by
    added = None if alpha is None else constant(alpha, OPTIONS.named("alpha"))
    search = DomainSearch(
        limits=limits,
        by=worth,
        folds=folds,
        alpha=added,
        epsilon=votes,
        blocks=blocks,
        strata=() if strata is None else names_in(strata, "--strata"),
    )
    offered = None if menu is None else Menu.read(menu, class_name, OPTIONS)
    if menu is not None and (declaring.declared is not None or columns is not None):
        raise ValueError(
            "--menu says what each column may be: --columns, --domain, --bin, --group and --leave-out do not "
            "go with it"
        )
    rows: RowsAsked = {
        "declared": declaring.declared,
        "columns": None if columns is None else names_in(columns),
        "weights": reading.weights,
        "delimiter": reading.delimiter,
    }
    if write_menu is not None and (offered, out, plot, report_asked()) == (None,) * 4:
        _, begun = begun_menu(file, class_name, reading.caller, **rows)
        return tell_menu(begun, file, write_menu, overwrite, as_json)
    try:
        advice = advised(file, class_name, offered, search, reading.caller, on=other, **rows)
    except Infeasible as error:
        about = f"{printable(str(file))}, {label(class_name)}"
        document = {"file": str(file), "class": class_name}
        return tell_unmet(error, about, other_domains(error), document, as_json=as_json)
    write(advice, out, plot, write_menu, overwrite)
    screen = AdviceScreen(advice, out, write_menu)
    empty = [] if menu is not None else with_empty(advice.menu)
    place = "" if out is None else f" -> {printable(str(out))}"
    tell(
        of_advice(
            advice,
            f"{printable(str(file))}, {label(class_name)}{place}",
            [*empty, *screen.decisions()],
            out is not None,
        ),
        lambda: {"file": str(file), "class": class_name, **advice.to_dict()},
        screen.details,
        as_json=as_json,
        written=[Written.of(path) for path in (out, write_menu, plot) if path is not None],
        page=lambda summary: advice_page(advice, summary),
    )
    return 0


class RowsAsked(TypedDict):
    """Which columns of the rows a ready-made menu is of, in the words of `begun_menu`."""

    declared: Declared | None
    columns: list[str] | None
    weights: str | None
    delimiter: str | None


def tell_menu(menu: Menu, file: Path, target: Path, overwrite: bool, as_json: bool) -> int:
    """Write a menu that is to be checked, and say so; the exit code."""
    with written(target, overwrite=overwrite) as stream:
        stream.write(menu.text.encode("utf-8"))
    note([target])
    about = f"{printable(str(file))}, {label(str(menu.class_name))} -> {printable(str(target))}"
    then = [*with_empty(menu), of_menu(click.get_current_context(), str(target), menu.undeclared)]
    tell(
        of_begun_menu(menu, about, then),
        lambda: {
            "file": str(file),
            "class": menu.class_name,
            "choices": menu.n_choices,
            "menu": menu.entries,
            "from_rows": list(menu.undeclared),
        },
        lambda: menu_parts(menu),
        as_json=as_json,
        written=[Written.of(target)],
    )
    return 0


def with_empty(menu: Menu) -> list[Decision]:
    """That an empty text is a value of columns of a menu that was made from the rows."""
    names = [
        name for name in menu.undeclared if any("" in one.domain_values for one in menu.options.get(name, ()))
    ]
    context = click.get_current_context()
    asked_for = context.params
    there = any(asked_for[name] is not None for name in ("out", "plot", "write_menu"))
    return empty_too(context, names, *(["--overwrite"] if there and not asked_for["overwrite"] else []))


def write(
    advice: Advice, out: Path | None, plot: Path | None, write_menu: Path | None, overwrite: bool
) -> None:
    """The files that were asked for, all of them or none."""
    texts = {out: advice.text(), plot: str(advice.svg()), write_menu: advice.menu.text}
    with together():
        for path, text in texts.items():
            if path is not None:
                with written(path, overwrite=overwrite) as target:
                    target.write(text.encode("utf-8"))
    note([path for path in texts if path is not None])
