"""What `predict` prints: how many rows have a class, how many of each, and the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table as Grid
from rich.text import Text

from nbcfast._core.chances import rounded_share
from nbcfast._core.untyped import Document
from nbcfast._wire.messages import printable
from nbcfast.cli.printing import Parts, listing
from nbcfast.cli.published_in import AnyRelease
from nbcfast.published.added_columns import AddedNames, unseen_texts
from nbcfast.published.formulas import spreadsheet_remarks
from nbcfast.published.points_table import PointsTable
from nbcfast.published.raw_rows import Answering, RowAnswers
from nbcfast.published.release import Release
from nbcfast.published.right_answers import RightAnswers
from nbcfast.published.scored_file import Tally
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision, Summary
from nbcfast.reports.use_summary import of_predicted, predicted_text, release_checked
from nbcfast.table.values import plain
from nbcfast.verification.results import Verification

N_FIRST = 10  # rows that are printed where none are written
MOST_SHOWN = 20  # classes that have a line
PARTIAL = (
    "Where an attribute is left out, the class is that of the published classifier without it. What the "
    "certificate says of equal answers is of whole rows, and so are points."
)
POSTERIORS = "A probability is the posterior by the published counts, and no share of the people in the data."


@dataclass(frozen=True)
class Prediction:
    """A file that was predicted."""

    folder: Path
    file: Path
    out: Path | None
    release: AnyRelease
    verification: Verification
    answering: Answering
    added: AddedNames
    tally: Tally
    formulas: dict[str, str]

    def summary(self, decisions: Sequence[Decision]) -> Summary:
        """How many rows have a class, and why others have none."""
        where = "" if self.out is None else f" -> {printable(str(self.out))}"
        folder = printable(str(self.folder))
        return of_predicted(
            self.tally,
            release_checked(self.verification, folder),
            f"{printable(str(self.file))}, by {folder}{where}",
            decisions,
            [
                *([PARTIAL] if self.tally.partial else []),
                *([POSTERIORS] if self.first or self.added.probabilities else []),
                *self.remarks,
            ],
        )

    @property
    def n_left(self) -> int:
        """How many rows are not among the first."""
        return self.tally.rows - len(self.first)

    @property
    def remarks(self) -> list[str]:
        """What is to be known besides."""
        classes = self.answering.views[0].classes
        written = self.out is not None and not self.out.name.lower().endswith((".parquet", ".pq"))
        texts = {name: [text] for name, text in self.formulas.items()}
        texts[self.added.name] = [*texts.get(self.added.name, []), *map(plain_text, classes)]
        return [*spreadsheet_remarks(texts, self.added.names, "written as they are")] if written else []

    def to_dict(self) -> Document:
        """Plain values."""
        tally = self.tally
        classes = self.answering.views[0].classes
        rows = tally.of_class.tolist()
        return {
            "release": str(self.folder),
            "file": str(self.file),
            "out": None if self.out is None else str(self.out),
            "verdict": predicted_text(self.tally),
            "verified": self.verification.verdict,
            "rows": tally.rows,
            "with_class": tally.rows - tally.unknown,
            "without_class": tally.unknown,
            "with_attributes_left_out": tally.partial,
            "by_class_counts_alone": tally.by_prior,
            "classes": [{"class": plain(one), "rows": n} for one, n in zip(classes, rows, strict=True)],
            "accuracy": accuracy(tally.right),
            "unseen": [
                {"attribute": name, "rows": n, "first": plain(tally.strays.first[name])}
                for name, n in tally.strays.rows.items()
            ],
            "columns": self.added.names,
            "first": [row.to_dict() for row in self.first],
            "warnings": self.remarks,
        }

    @property
    def first(self) -> list[FirstRow]:
        """The first rows, where none are written."""
        return [] if self.out is not None else first_rows(self)

    def parts(self) -> Parts:
        """What each class has, and the first rows."""
        parts: list[Text | Grid] = [classes_grid(self)] if self.tally.rows else []
        if self.first:
            cards = tables_of(self.release)
            parts.append(first_grid(self.first, self.added.name))
            if len(cards) == 1:
                parts.append(Text(f"Points: {printable(cards[0].rule)}."))
        return parts


def accuracy(found: RightAnswers | None) -> Document | None:
    """For how many rows the label is the class that they have; None where the file has none."""
    if found is None:
        return None
    return {
        "column": found.name,
        "rows": found.rows,
        "right": found.right,
        "share": found.right / found.rows if found.rows else None,
        "most_frequent": found.most,
        "other_values": found.others,
    }


def plain_text(value: object) -> str:
    """A label as it is written; numbers are no texts for a spreadsheet."""
    return value if isinstance(value, str) else ""


def classes_grid(predicted: Prediction) -> Grid:
    """How many rows have each class."""
    grid = listing(label(predicted.added.name), "rows", "share")
    tally = predicted.tally
    classes = predicted.answering.views[0].classes
    for value, n in list(zip(classes, tally.of_class.tolist(), strict=True))[:MOST_SHOWN]:
        grid.add_row(Text(label(value)), f"{n:,}", rounded_share(n, tally.rows))
    if len(classes) > MOST_SHOWN:
        grid.add_row(f"and {len(classes) - MOST_SHOWN:,} more classes")
    if tally.unknown:
        grid.add_row("no class", f"{tally.unknown:,}", rounded_share(tally.unknown, tally.rows))
    return grid


@dataclass(frozen=True)
class FirstRow:
    """One of the first rows: its number from 1, and its answer, if it has one."""

    number: int
    answered: bool
    value: object
    points: int | None
    probability: float | None
    unseen: str

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "row": self.number,
            "class": plain(self.value) if self.answered else None,
            "points": self.points,
            "probability": self.probability,
            "unseen": self.unseen,
        }


def first_rows(predicted: Prediction) -> list[FirstRow]:
    """The first rows with what they were answered."""
    rows: list[FirstRow] = []
    cards = tables_of(predicted.release)
    for answers in predicted.tally.first:
        unseen = unseen_texts(answers, predicted.answering.names)
        unknown = answers.unknown
        for row in range(min(len(answers.codes), N_FIRST - len(rows))):
            known = unknown is None or not unknown[row]
            code = int(answers.codes[row])
            assert answers.probabilities is not None
            rows.append(
                FirstRow(
                    len(rows) + 1,
                    known,
                    predicted.answering.views[0].classes[code] if known else None,
                    None if unseen[row] else points_at(predicted, cards, answers, row, code),
                    float(answers.probabilities[row, code]) if known else None,
                    str(unseen[row]),
                )
            )
    return rows


def tables_of(release: AnyRelease) -> list[PointsTable]:
    """The points tables of a release, one a stratum; none where it has no points."""
    releases = [release] if isinstance(release, Release) else list(release.strata.values())
    if any(one.certificate.canonical is None for one in releases):
        return []
    return [one.scorecard() for one in releases]


def points_at(
    predicted: Prediction, cards: list[PointsTable], answers: RowAnswers, row: int, code: int
) -> int | None:
    """The points of a row: its total, or that of its class where each has one."""
    if not cards:
        return None
    answering = predicted.answering
    places = {name: int(answers.places[name][answers.columns[name].codes[row]]) for name in answering.names}
    stratum = 0 if answering.by is None else places.pop(answering.by)
    totals = cards[stratum].totals(list(places.values()))
    return totals[0] if len(totals) == 1 else totals[code]


def first_grid(rows: list[FirstRow], name: str) -> Grid:
    """The first rows as a table."""
    has_points = any(row.points is not None for row in rows)
    has_unseen = any(row.unseen for row in rows)
    grid = listing("row")
    grid.columns[0].justify = "right"
    grid.add_column(label(name), overflow="fold")
    for header in (["points"] if has_points else []) + ["probability"]:
        grid.add_column(header, justify="right", no_wrap=True)
    if has_unseen:
        grid.add_column("unseen", overflow="fold")
    for row in rows:
        cells: list[str | Text] = [str(row.number), Text(label(row.value) if row.answered else "no class")]
        if has_points:
            cells.append("" if row.points is None else f"{row.points:,}")
        cells.append("" if row.probability is None else f"{row.probability:.1%}")
        grid.add_row(*cells, *([Text(printable(row.unseen))] if has_unseen else []))
    return grid
