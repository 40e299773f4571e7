"""The verb `report`: a page for the public about what is published in a folder."""

import shlex
import sys
from pathlib import Path

import click

from nbcfast._core.untyped import Document
from nbcfast._wire.messages import listing, printable
from nbcfast._wire.regular_files import location
from nbcfast.cli.asked_again import as_argument
from nbcfast.cli.bars import progress
from nbcfast.cli.options import verbs
from nbcfast.cli.printing import tell
from nbcfast.cli.targets import REPLACES, check_targets, keep_outside
from nbcfast.cli.writings import note
from nbcfast.published.value_texts import NULL
from nbcfast.publishing.report import Written
from nbcfast.reports.fact_sheet import FactSheet, UnverifiedError, fact_sheet
from nbcfast.reports.summary import Decision
from nbcfast.reports.use_summary import columns_with_null, of_sheet


@verbs.command(
    short_help="Write a page for everybody about what is published.",
    example="nbcfast report release --out facts.html",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="The page to write, a .html file outside DIR.",
)
@REPLACES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lines.")
def report(folder: Path, out: Path, overwrite: bool, as_json: bool) -> int:
    """Write a fact sheet of what is published in DIR: a page for everybody, made of its files alone.

    The page says what is published, what was checked and what it does not promise, and of a classifier it has
    a form in which a reader tries it. It is one file that fetches nothing and sends nothing; the same folder
    gives the same bytes.

    Leaves with 0 if the page is written, and with 1 if a check of DIR fails: of that no page is made. Where
    checks could not be made, the page says so.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--out must be a .html file, got {str(out)!r}")
    place = Path(location(str(folder)))
    if place.exists():
        keep_outside(place, out, "--out")
    check_targets([place], overwrite, files={"--out": out})
    try:
        sheet = fact_sheet(folder, stages=progress)
    except UnverifiedError as error:
        print(f"nbcfast: not written: {printable(str(error))}", file=sys.stderr)
        return 1
    sheet.save(out, overwrite=overwrite)
    note([out])

    def document() -> Document:
        return {"written": str(out), **sheet.to_dict()}

    summary = of_sheet(sheet, f"{folder} -> {out}", with_null(folder, sheet))
    tell(summary, document, as_json=as_json, written=[Written.of(out)])
    return 0


def with_null(folder: Path, sheet: FactSheet) -> list[Decision]:
    """What reads texts as missing where rows are decided, as on the page a missing value is a choice."""
    names = columns_with_null(sheet.verification.published)
    if not names:
        return []
    question = (
        f"A missing value is one of {listing(names)}: on the page that is the choice {NULL}. Where a file of "
        "rows is decided, say which text means missing in it (--null may be repeated)."
    )
    words = ["nbcfast", "predict", as_argument(str(folder)), "FILE", "--null", "", "--null", "?"]
    return [Decision(question, (shlex.join(words),))]
