"""The verb `advise`."""

import json
from pathlib import Path
from typing import Literal

import click

from nbcfast._core.errors import Infeasible
from nbcfast._core.files import together, written
from nbcfast.canonical import Advice, Limits
from nbcfast.cli.advice_screens import AdviceScreen, no_domain
from nbcfast.cli.declaring import Declaring, declares
from nbcfast.cli.limits_asked import with_limits
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import Whole, reads_table, verbs
from nbcfast.cli.parsing import names_in
from nbcfast.cli.reading import Reading
from nbcfast.cli.targets import REPLACES, check_targets
from nbcfast.cli.writings import note
from nbcfast.domains import Menu
from nbcfast.publishing.domain_search import By, DomainSearch, advised
from nbcfast.views.smoothing import constant


# Long by its options, each of which is an argument.
@verbs.command(name="advise")
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
    "--by",
    type=click.Choice(["accuracy", "log-loss"]),
    default="accuracy",
    show_default=True,
    help="What is best.",
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
    help="Also try a classifier for each value of a column of these, of its rows alone: `publish --by`. They "
    "are public and fixed in advance, as the menu is.",
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
    try:
        advice = advised(
            file,
            class_name,
            offered,
            search,
            reading.caller,
            declared=declaring.declared,
            on=other,
            columns=None if columns is None else names_in(columns),
            weights=reading.weights,
            delimiter=reading.delimiter,
        )
    except Infeasible as error:
        return no_domain(error)
    write(advice, out, plot, write_menu, overwrite)
    if as_json:
        print(json.dumps({"file": str(file), "class": class_name, **advice.to_dict()}, indent=2))
    else:
        AdviceScreen(advice, file, class_name, out, write_menu).show()
    return 0


def write(
    advice: Advice, out: Path | None, plot: Path | None, write_menu: Path | None, overwrite: bool
) -> None:
    """The files that were asked for, all of them or none."""
    menu_text = json.dumps(advice.menu.document, ensure_ascii=False, indent=1) + "\n"
    texts = {out: advice.text(), plot: str(advice.svg()), write_menu: menu_text}
    with together():
        for path, text in texts.items():
            if path is not None:
                with written(path, overwrite=overwrite) as target:
                    target.write(text.encode("utf-8"))
    note([path for path in texts if path is not None])
