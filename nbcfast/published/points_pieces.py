"""A points table as people read it: the rule in sentences and bars, and a form that adds up points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._markup.charts import ValueBars, value_bars
from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import bold, paragraph
from nbcfast._markup.trying import AddedPoints, Ends, Question, trying
from nbcfast._wire.messages import printable
from nbcfast.published.value_texts import NULL, texts_of
from nbcfast.table.values import Interval, Value

if TYPE_CHECKING:
    from nbcfast.published.points_table import PointsTable

    Leads = Mapping[tuple[int, int], "Lead"]

MOST_COLUMNS = 8  # classes whose bars stand side by side
MOST_NAMED = 6  # values of an attribute that a sentence names
MOST_LETTERS = 120  # of a name or value; of a longer one it is said how long it is


class Lead(NamedTuple):
    """By how much one class leads another at least: over the domain, and in each attribute."""

    least: int
    each: list[int]


def value_text(value: object) -> str:
    """A value or a name as a piece of a page."""
    if value is None:
        return NULL
    text = str(value)
    if not text.strip():
        return repr(text)
    if len(text) > MOST_LETTERS:
        return f"{printable(text[:MOST_LETTERS])}.. ({len(text):,} letters)"
    return printable(text)


def value_texts(values: Sequence[Value]) -> list[str]:
    """Values as pieces of a page, no two of which look alike."""
    return texts_of(values, value_text)


def rule_text(points: PointsTable) -> str:
    """How the totals decide, in a sentence or two."""
    names = value_texts(points.classes)
    if len(names) == 1:
        return f"Everybody is {names[0]}: there is no other class."
    if points.threshold is not None:
        return (
            f"Add the points of a person's values. From {points.threshold:,} points on the answer is "
            f"{names[0]}, below it is {names[1]}."
        )
    starts = ", ".join(f"{name} {start:,}" for name, start in zip(names, points.constants, strict=True))
    return (
        f"Each class has a total, which begins with {starts}. Add to each what a person's values have for "
        "it: the largest total is the answer, and of equal ones the later class."
    )


def rule_pieces(
    points: PointsTable, most_values: int | None = None, most_attributes: int | None = None
) -> list[Element]:
    """The rule: how totals decide, which values decide alone, and the points as bars, the weightiest first.

    Of more attributes and values than these the weightiest are shown, and it is said that there are more.
    """
    pieces = [paragraph(rule_text(points))]
    if len(points.classes) == 1:
        return pieces
    if len(points.classes) > MOST_COLUMNS:
        text = f"The points of {len(points.classes):,} classes are not drawn: nbcfast points DIR lists them."
        return [*pieces, paragraph(text, kind="nbc-quiet")]
    alone = list(alone_texts(points))
    if alone:
        pieces.append(paragraph("By itself, whatever the rest: ", bold("; ".join(alone[:12])), "."))
    if len(alone) > 12:
        pieces.append(paragraph(f"So do values of {len(alone) - 12:,} more attributes.", kind="nbc-quiet"))
    by_weight = sorted(points.attributes, key=lambda attribute: -_weight(attribute[2]))
    shown = by_weight[:most_attributes]
    bars = [ValueBars(value_text(name), value_texts(values), rows) for name, values, rows in shown]
    series = value_texts(points.classes) if points.threshold is None else ()
    pieces.append(value_bars(bars, series, most_values))
    if len(shown) < len(by_weight):
        text = f"{len(by_weight) - len(shown):,} attributes of less weight are not shown here."
        pieces.append(paragraph(text, kind="nbc-quiet"))
    return pieces


def alone_texts(points: PointsTable) -> Iterator[str]:
    """The values that decide by themselves, an attribute and class at a time: "glucose high makes it ill"."""
    totals = [_as_totals(points, rows) for _, _, rows in points.attributes]
    leads = _least_leads(points, totals)
    always = one_answer(points)
    if always is not None:
        yield f"every value makes it {value_texts(points.classes)[always]}"
        return
    for i, (name, values, _) in enumerate(points.attributes):
        found = [_decided(leads, i, row) for row in totals[i]]
        named = value_texts(values)
        for c, label in enumerate(value_texts(points.classes)):
            texts = [text for text, of in zip(named, found, strict=True) if of == c]
            if texts:
                many = f" and {len(texts) - MOST_NAMED:,} more" if len(texts) > MOST_NAMED else ""
                listed = " or ".join(texts[:MOST_NAMED])
                yield f"{value_text(name)} {listed}{many} makes it {label}"


def one_answer(points: PointsTable) -> int | None:
    """The place of the class that every case is answered with, where it is one."""
    leads = _least_leads(points, [_as_totals(points, rows) for _, _, rows in points.attributes])
    return next((c for c in range(len(points.classes)) if _always(leads, c)), None)


def points_form(
    points: Sequence[PointsTable], by: tuple[str, Sequence[Value]] | None = None
) -> Element | None:
    """The form that adds up points; None where there is nothing to decide.

    Parameters
    ----------
    points : sequence of PointsTable
        One, or one for each value of the column `by`, of the same attributes and classes.
    by : (str, sequence of values), optional
        The column, and its values.
    """
    first = points[0]
    if len(first.classes) == 1:
        return None
    questions = [
        Question(value_text(name), value_texts(values), _ends_of(values))
        for name, values, _ in first.attributes
    ]
    rules = [
        AddedPoints(
            [rows for _, _, rows in one.attributes],
            one.threshold,
            (0,) if one.threshold is not None else one.constants,
        )
        for one in points
    ]
    selecting = None if by is None else Question(value_text(by[0]), value_texts(by[1]))
    return trying(questions, value_texts(first.classes), rules, selecting)


def form_told(points: PointsTable, by: tuple[str, Sequence[Value]] | None = None) -> str:
    """What stands above the form: how it is used, what looks like no value, and that nothing is sent."""
    domains = [values for _, values, _ in points.attributes] + ([] if by is None else [by[1]])
    null = f", where {NULL} is a missing one" if any(None in values for values in domains) else ""
    return f"Choose a value of each attribute{null}. Nothing leaves this page, and nothing is fetched."


def _ends_of(values: Sequence[Value]) -> list[Ends | None] | None:
    if not any(isinstance(value, Interval) for value in values):
        return None
    return [(value.low, value.high) if isinstance(value, Interval) else None for value in values]


def _weight(rows: Sequence[Sequence[int]]) -> int:
    """How far apart the values of an attribute are, at most."""
    return max((max(column) - min(column) for column in zip(*rows, strict=True)), default=0)


def _as_totals(points: PointsTable, rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Points for every class, where the two classes of a threshold have one number."""
    return [(row[0], 0) for row in rows] if points.threshold is not None else [tuple(row) for row in rows]


def _least_leads(points: PointsTable, totals: Sequence[Sequence[tuple[int, ...]]]) -> Leads:
    """By how much a class leads another at least."""
    # From the threshold on the first class wins: one point before it is a tie, and that is the second's.
    starts = points.constants if points.threshold is None else (1 - points.threshold, 0)
    leads = {}
    for c, d in permutations(range(len(points.classes)), 2):
        each = [min(row[c] - row[d] for row in rows) for rows in totals]
        leads[c, d] = Lead(starts[c] - starts[d] + sum(each), each)
    return leads


def _always(leads: Leads, c: int) -> bool:
    """Whether every tuple has this class."""
    return all(lead.least >= (0 if c > d else 1) for (one, d), lead in leads.items() if one == c)


def _decided(leads: Leads, i: int, row: tuple[int, ...]) -> int | None:
    """The class that a value of attribute i makes it whatever the rest, if there is one."""
    for c in range(len(row)):
        if all(
            lead.least - lead.each[i] + row[c] - row[d] >= (0 if c > d else 1)
            for (one, d), lead in leads.items()
            if one == c
        ):
            return c
    return None
