"""The picture of points, of one table or of one a stratum: a panel for each attribute, all on one scale."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nbcfast._wire.messages import printable
from nbcfast.published.value_texts import texts_of
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.published.points_table import PointsTable

MOST_COLUMNS = 3  # panels beside each other
LONGEST = 28  # letters of a value or a name
SHORTER = 16  # of long classes in a title, whose letters may all be wide
BAR, HEAD = 0.26, 0.75  # inches of a value, and of what stands above and below its panel
TITLE = 0.9  # inches of what is said above a table
MOST_INCHES = 60  # of a table
MOST_STRATA = 24
BLUE = "#0072b2"  # of Okabe and Ito, whose other colours tell classes apart
COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#595959")


def draw(card: PointsTable, title: str | None = None) -> Any:
    """A matplotlib figure of a points table; see `PointsTable.plot`."""
    return _figure([(card, title or _rule(card))])


def draw_strata(by: str, cards: Mapping[Value, PointsTable]) -> Any:
    """The tables of the values of a column below each other, all on one scale."""
    if len(cards) > MOST_STRATA:
        raise ValueError(
            f"a picture has room for the points of {MOST_STRATA} strata, and there are {len(cards):,}: in "
            "Python release.strata[VALUE].scorecard().plot(FILE) draws those of one"
        )
    values = texts_of(list(cards), _cut)
    return _figure(
        [
            (card, f"{_cut(by)} = {value}: {_rule(card)}")
            for value, card in zip(values, cards.values(), strict=True)
        ]
    )


def _figure(cards: Sequence[tuple[PointsTable, str]]) -> Any:
    """A figure with a table below each title."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a picture needs matplotlib: pip install matplotlib", name="matplotlib") from None
    first = cards[0][0]
    width = 1 if len(first.classes) <= 2 else len(first.classes)
    columns = min(max(len(first.attributes), 1), MOST_COLUMNS)
    heights = [_heights(card, columns, width) for card, _ in cards]
    shrunk = [min(1.0, MOST_INCHES / sum(lines)) for lines in heights]
    totals = [TITLE + by * sum(lines) for by, lines in zip(shrunk, heights, strict=True)]
    inches = 3.6 * columns + 0.4
    figure = Figure(figsize=(inches, sum(totals) + 0.25 * (width > 1)), layout="constrained")
    FigureCanvasAgg(figure)
    points = [number for card, _ in cards for _, _, rows in card.attributes for row in rows for number in row]
    parts = figure.subfigures(len(cards), 1, height_ratios=totals, squeeze=False)[:, 0]
    for part, (card, title), lines in zip(parts, cards, heights, strict=True):
        _fill(part, card, columns, lines, (min([0, *points]), max([0, *points])))
        said = textwrap.wrap(_plain(title), int(13 * inches))
        part.suptitle("\n".join(said), fontsize="medium")
    if width > 1:
        panels = parts[0].axes
        handles, labels = panels[0].get_legend_handles_labels() if panels else ([], [])
        figure.legend(handles, labels, loc="outside lower center", ncols=min(width, 4), title="points for")
    return figure


def _heights(card: PointsTable, columns: int, width: int) -> list[float]:
    """The inches of each line of panels: as many as its longest domain needs."""
    sizes = [len(domain) for _, domain, _ in card.attributes] or [1]
    lines = [sizes[start : start + columns] for start in range(0, len(sizes), columns)]
    return [HEAD + BAR * max(1, 0.5 * width) * max(line) for line in lines]


def _fill(
    figure: Any, card: PointsTable, columns: int, heights: Sequence[float], ends: tuple[int, int]
) -> None:
    """The panels of a table, whose points are between these ends."""
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    low, high = ends
    room = 0.14 * (high - low or 1)
    for place, (name, domain, rows) in enumerate(card.attributes):
        axes = figure.add_subplot(grid[place // columns, place % columns])
        _panel(axes, card, rows, 1 if len(card.classes) <= 2 else len(card.classes))
        axes.set_yticks(range(len(domain)), texts_of(domain, _shown))
        axes.invert_yaxis()
        axes.set_xlim(low - (room if low < 0 else 0), high + room)
        axes.set_title(_shown(name), loc="left", fontsize="medium", fontweight="bold")
        if place + columns >= len(card.attributes):
            axes.set_xlabel("points")


def _panel(axes: Any, card: PointsTable, rows: tuple[tuple[int, ...], ...], width: int) -> None:
    """The bars of one attribute, each with its number."""
    labels = texts_of(card.classes, _shown)
    for c in range(width):
        places = [number + (c - (width - 1) / 2) * 0.8 / width for number in range(len(rows))]
        label = labels[c] if width > 1 else None
        bars = axes.barh(
            places, [row[c] for row in rows], height=0.8 / width, label=label, color=COLOURS[c % len(COLOURS)]
        )
        if width * len(rows) <= 60:
            axes.bar_label(bars, [f"{row[c]:,}" for row in rows], padding=2, fontsize=8 if width == 1 else 6)
    axes.axvline(0, color="#595959", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.locator_params(axis="x", nbins=5, integer=True)


def _rule(card: PointsTable) -> str:
    """How the totals decide, in short names of classes."""
    if all(len(str(label)) <= LONGEST for label in card.classes):
        return card.rule
    return replace(card, classes=tuple(texts_of(card.classes, lambda value: _cut(value, SHORTER)))).rule


def _plain(text: str) -> str:
    """A text in which matplotlib sees no formula."""
    return printable(text).replace("$", r"\$")


def _shown(value: object) -> str:
    return _plain(_cut(value))


def _cut(value: object, most: int = LONGEST) -> str:
    text = str(value)
    return text if len(text) <= most else text[: most - 2] + ".."
