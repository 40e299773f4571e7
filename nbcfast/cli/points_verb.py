"""The verb `points`: what people add up by hand to decide as a release does."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click
from rich.text import Text

from nbcfast._core.errors import Infeasible
from nbcfast._core.files import written
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.bars import progress
from nbcfast.cli.options import as_json, verbs
from nbcfast.cli.printing import tell
from nbcfast.cli.published_in import AnyRelease, used
from nbcfast.cli.targets import REPLACES, check_targets, expect_picture, keep_outside
from nbcfast.cli.unmet import PREDICT, tell_unmet
from nbcfast.cli.writings import note
from nbcfast.exports import points_of
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.published.points_picture import draw, draw_strata
from nbcfast.published.points_table import PointsTable
from nbcfast.published.release import Release
from nbcfast.published.value_texts import markdown_text, texts_of
from nbcfast.publishing.report import Written
from nbcfast.publishing.words import MOST_LETTERS, label
from nbcfast.reports.summary import Summary
from nbcfast.reports.use_summary import release_checked
from nbcfast.table.values import Value, plain

Form = Literal["text", "markdown", "csv"]
ENDINGS: Mapping[str, Form] = {".csv": "csv", ".md": "markdown"}
INERT = "written with an apostrophe before them, which is no part of them"
Cards = Mapping[Value, PointsTable]  # one a stratum; of a release without strata one for None


@verbs.command(
    short_help="Print the points that people add up to decide.",
    example="nbcfast points release",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "markdown", "csv")),
    help="How it is written.  [default: what the ending of --out says, .md or .csv, else text]",
)
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path), help="A file for it.  [default: it is printed]"
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A picture of the points as well, of strata below each other: .png, .svg or .pdf; needs matplotlib.",
)
@REPLACES
@as_json
def points(
    folder: Path, form: Form | None, out: Path | None, plot: Path | None, overwrite: bool, json_only: bool
) -> int:
    """Print the points of the release in DIR: small whole numbers that decide as its classifier does.

    Look up the points of each value of a row, add them up, and compare: how the total decides stands below
    the table. Nothing is rounded, so no row is decided otherwise than by the published counts.

    The release is verified first; points of a folder that does not verify are not printed, which leaves
    with 1.
    """
    targets = {"--out": out, "--plot": plot}
    check_targets([folder / "certificate.json"], overwrite, files=targets)
    expect_picture(plot)
    for option, file in targets.items():
        if file is not None:
            keep_outside(folder, file, option)
    form = form or ("text" if out is None else ENDINGS.get(out.suffix.lower(), "text"))
    found = used(folder, "no points are printed")
    if found is None:
        return 1
    release, verification = found
    by = None if isinstance(release, Release) else release.by
    try:
        cards = cards_of(release)
    except Infeasible as error:
        return tell_unmet(
            error, printable(str(folder)), [PREDICT], {"folder": str(folder)}, as_json=json_only
        )
    figure: Any = None
    if plot is not None:
        figure = draw(cards[None]) if by is None else draw_strata(by, cards)
    written_text = text_of(cards, by, form)
    on_screen = text_of({value: in_short(card) for value, card in cards.items()}, by, "text")
    if out is not None:
        with written(out, overwrite=overwrite) as stream:
            stream.write(written_text.encode("utf-8"))
        note([out])
    if plot is not None:
        with written(plot, overwrite=overwrite) as drawn:
            figure.savefig(drawn, format=plot.suffix[1:])
        note([plot])
    remarks = remarks_of(release) if form == "csv" else ()
    if not json_only and out is None and form != "text":
        print(written_text, end="")  # for another program, which wants nothing else
        for remark in remarks:
            print(f"nbcfast: {printable(remark)}", file=sys.stderr)
        return 0
    checked = release_checked(verification, printable(str(folder)))
    written_files = [file for file in (out, plot) if file is not None]
    tell(
        Summary(
            head_of(release),
            checked.state,
            " -> ".join([str(folder), *([" and ".join(map(str, written_files))] if written_files else [])]),
            () if verification.ok else (checked,),
            remarks=remarks,
        ),
        lambda: document_of(folder, cards, by, out, plot, remarks),
        as_json=json_only,
        body=lambda: [] if out is not None else [Text(on_screen.rstrip("\n"))],
        written=list(map(Written.of, written_files)),
    )
    return 0


def cards_of(release: AnyRelease) -> Cards:
    """The points of a release, or those of each stratum; those without any get them from their answers."""
    with progress("solving"):
        if isinstance(release, Release):
            return {None: points_of(release)}
        return {value: points_of(one) for value, one in release.strata.items()}


def head_of(release: AnyRelease) -> str:
    """What the points decide."""
    views = release.views if isinstance(release, Release) else release.first.views
    what = "class" if release.class_name is None else label(release.class_name)
    n = len(views.attributes)
    by = "" if isinstance(release, Release) else f", by {label(release.by)}"
    return f"points for {what}, from {n} {'attribute' if n == 1 else 'attributes'}{by}"


def text_of(cards: Cards, by: str | None, form: Form) -> str:
    """The tables in one of the forms, with a line end at their end."""
    texts = texts_of(list(cards), label)
    if form == "csv":
        lines: list[str] = []
        for text, card in zip(texts, cards.values(), strict=True):
            own = card.csv() if by is None else card.csv({by: text})
            lines += own.splitlines(keepends=True)[1 if lines else 0 :]
        return "".join(lines)
    parts = []
    for value, card in zip(texts, cards.values(), strict=True):
        text = card.text() if form == "text" else card.markdown()
        if by is not None:
            head = f"{label(by)} = {value}"
            text = f"{head}\n{text}" if form == "text" else f"## {markdown_text(head)}\n\n{text}"
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def in_short(card: PointsTable) -> PointsTable:
    """The same with texts of a few lines at most, for a screen."""

    def short(values: tuple[Value, ...]) -> tuple[Value, ...]:
        long = any(len(str(value)) > MOST_LETTERS for value in values)
        return tuple(texts_of(values, label)) if long else values

    attributes = tuple((label(name), short(domain), rows) for name, domain, rows in card.attributes)
    return replace(card, classes=short(card.classes), attributes=attributes)


def remarks_of(release: AnyRelease) -> tuple[str, ...]:
    """What to know of texts that a spreadsheet would run."""
    views = release.views if isinstance(release, Release) else release.columns
    names = "attribute", "value"
    return spreadsheet_remarks({name: [name, *views.domain(name)] for name in views.attributes}, names, INERT)


def document_of(
    folder: Path, cards: Cards, by: str | None, out: Path | None, plot: Path | None, remarks: tuple[str, ...]
) -> Document:
    """Plain values, for JSON."""
    tables = [card_document(card) for card in cards.values()]
    if by is None:
        found = tables[0]
    else:
        found = {
            "by": by,
            "strata": [{"value": plain(one), **table} for one, table in zip(cards, tables, strict=True)],
        }
    files = [str(file) for file in (out, plot) if file is not None]
    return {"release": str(folder), **found, "files": files, "warnings": list(remarks)}


def card_document(card: PointsTable) -> Document:
    """A table of points, for JSON."""
    document = card.to_dict()
    document["classes"] = [plain(one) for one in card.classes]
    for attribute in document["attributes"]:
        attribute["values"] = [plain(one) for one in attribute["values"]]
    return {**document, "rule": card.rule}
