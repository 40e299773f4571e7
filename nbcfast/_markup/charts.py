"""Pictures in SVG: bars of points, how sure a classifier is, a scale, columns, and dots.

Colours are classes of the stylesheet, so that pictures follow the screen; what a picture says is in its
label, which is read to who cannot see it. Coordinates are rounded to a hundredth, so that equal numbers give
equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nbcfast._markup.elements import Element, element
from nbcfast._markup.page_parts import more

WIDTH = 720.0
PHONE = 320.0  # wide is what a phone shows, where letters of the other would be half as large
LETTER = 6.2  # wide is one on average
FIRST = 12  # values of an attribute that are shown at first
FEW = 3  # series that fit beside each other on a phone


class ValueBars(NamedTuple):
    """The numbers of the values of one attribute.

    Attributes
    ----------
    name : str
    values : sequence of str
    numbers : sequence of sequences of int
        Of each value one number a series.
    """

    name: str
    values: Sequence[str]
    numbers: Sequence[Sequence[int]]


def value_bars(
    attributes: Sequence[ValueBars], series: Sequence[str] = (), most: int | None = None
) -> Element:
    """Small multiples of bars on one common scale, a row a value; the numbers stand beside them.

    Parameters
    ----------
    attributes : sequence of ValueBars
        Of more than twelve values those furthest from the middle are shown at first, and all of them in
        print.
    series : sequence of str
        What the numbers of a value are of, where it has several: they stand side by side.
    most : int, optional
        Values of an attribute that are shown at all; how many are not is said.
    """
    numbers = [number for attribute in attributes for row in attribute.numbers for number in row]
    low, high = min([0, *numbers]), max([0, *numbers])
    kind = f"nbc-bars{' nbc-series' if series else ''}{' nbc-many' if len(series) > FEW else ''}"
    drawn = (_attribute_bars(attribute, series, (low, high), most) for attribute in attributes)
    return element("div", *drawn, class_=kind)


def _attribute_bars(
    attribute: ValueBars, series: Sequence[str], ends: tuple[int, int], most: int | None
) -> Element:
    rows = list(zip(attribute.values, attribute.numbers, strict=True))
    if len(rows) <= FIRST + 2 and (most is None or len(rows) <= most):
        return element("div", _bar_table(attribute.name, rows, series, ends))
    # By weight, and those of equal weight in their order. Points may begin at 0, and then a value of none
    # speaks as loudly for one class as that of the most does for the other.
    middles = [min(column) + max(column) for column in zip(*attribute.numbers, strict=True)]
    order = sorted(range(len(rows)), key=lambda place: -_from_the_middle(rows[place][1], middles))
    kept = len(rows) if most is None else most
    at_first = min(FIRST, kept)
    first, rest = sorted(order[:at_first]), sorted(order[at_first:kept])
    left = len(rows) - kept
    return element(
        "div",
        _bar_table(attribute.name, [rows[place] for place in first], series, ends),
        more(
            f"{len(rest):,} more values, of less weight",
            _bar_table(f"{attribute.name}, the others", [rows[place] for place in rest], series, ends),
        )
        if rest
        else None,
        element("p", f"{left:,} values of less weight are not shown here", class_="nbc-quiet")
        if left > 0
        else None,
    )


def _from_the_middle(numbers: Sequence[int], middles: Sequence[int]) -> int:
    """How far the numbers of a value are from the middle of all values, at most and twice."""
    return max((abs(2 * number - middle) for number, middle in zip(numbers, middles, strict=True)), default=0)


def _bar_table(
    name: str, rows: Sequence[tuple[str, Sequence[int]]], series: Sequence[str], ends: tuple[int, int]
) -> Element:
    lines = []
    for value, numbers in rows:
        if series:
            cells = [element("td", f"{number:,}", _bar(number, ends)) for number in numbers]
        else:
            cells = [element("td", _bar(numbers[0], ends)), element("td", f"{numbers[0]:,}")]
        lines.append(element("tr", element("th", value, scope="row"), *cells))
    head = None
    if series:
        named = (element("th", text, scope="col") for text in series)
        head = element("thead", element("tr", element("td"), *named))
    whole = element("table", element("caption", name), head, element("tbody", *lines))
    if len(series) <= FEW:
        return whole
    # What may be moved sideways can be reached by the keyboard.
    return element("div", whole, class_="nbc-wide", tabindex=0, role="group", aria_label=name)


def _bar(number: int, ends: tuple[int, int]) -> Element:
    """One bar from 0, where negative numbers go to the left; one of 0 is seen all the same."""
    low, high = ends
    span = max(high - low, 1)
    start, end = sorted(((0 - low) / span * 100, (number - low) / span * 100))
    rect = element(
        "rect",
        x=f"{_at(start)}%" if start else None,
        width=f"{_at(max(end - start, 0.6))}%",
        height="9",
        class_=None if number else "none",
    )
    return element("svg", rect, aria_hidden="true")


def how_sure(
    before: Sequence[float],
    after: Sequence[float],
    ends: tuple[str, str],
    band: tuple[float, float] | None,
    label: str,
) -> Element:
    """Shares of rows by the probability that they have: before upwards, after downwards, around one axis.

    Heights are square roots of the shares, so that rare cases show.

    Parameters
    ----------
    before, after : sequence of float
        Shares of rows, one a bin of equal width from 0 to 1.
    ends : (str, str)
        What the two ends of the axis mean.
    band : (float, float), optional
        The probabilities that the limit allows.
    label : str
        What the picture says, for who cannot see it.
    """
    return _twice(lambda wide: _how_sure(wide, before, after, ends, band, label))


def _how_sure(
    wide: float,
    before: Sequence[float],
    after: Sequence[float],
    ends: tuple[str, str],
    band: tuple[float, float] | None,
    label: str,
) -> Element:
    top, axis, foot = 24.0, 150.0, 290.0
    most = max([*before, *after, 1e-12])
    parts = []
    if band is not None:
        low, high = band
        parts.append(_rect(low * wide, top, (high - low) * wide, foot - top, "band"))
    width = wide / len(before)
    for shares, kind in ((before, "before"), (after, "after")):
        for place, share in enumerate(shares):
            height = math.sqrt(share / most) * (axis - top - 14)
            above = axis - 9 - height if kind == "before" else axis + 9
            if share:
                parts.append(_rect(place * width + 1, above, width - 2, max(height, 1.5), kind))
    for tenth in range(0, 11, 2):
        anchor = "start" if tenth == 0 else "end" if tenth == 10 else "middle"
        parts.append(_text(tenth / 10 * wide, axis + 4, f"{tenth * 10}%", anchor))
    if band is not None:
        for probability in band:
            x = _at(probability * wide)
            parts.append(element("line", x1=x, x2=x, y1=_at(top), y2=_at(foot), class_="nbc-line-after"))
    left, right = f"← {ends[0]}", f"{ends[1]} →"
    # Beside each other where there is room, else one below the other.
    room = max(len(left), len(right)) * LETTER < wide / 2 - 30
    lines = (14.0, 14.0) if room else (28.0, 42.0)
    parts += [
        _text(wide / 2, top - 8, "before", "middle", True),
        _text(wide / 2, foot + 14, "after", "middle", True),
        _text(0, foot + lines[0], left, "start", True),
        _text(wide, foot + lines[1], right, "end", True),
    ]
    return _chart(wide, foot + lines[1] + 8, label, parts)


def scale(
    value: float | None, limit: float | None, most: float, words: tuple[str, str], label: str
) -> Element:
    """A measure on its scale from 0: what keeps the limit on the left of it, what does not on the right."""
    return _twice(lambda wide: _scale(wide, value, limit, most, words, label))


def _scale(
    wide: float, value: float | None, limit: float | None, most: float, words: tuple[str, str], label: str
) -> Element:
    parts = []
    foot = 68.0 if sum(map(len, words)) * LETTER < wide else 83.0
    limit_at = wide if limit is None else min(limit / most, 1.0) * wide
    parts.append(_rect(0, 26, limit_at, 10, "kept"))
    if limit_at < wide:
        parts.append(_rect(limit_at, 26, wide - limit_at, 10, "warned"))
        parts.append(_text(wide, foot, words[1], "end", True))
    for place in range(0, int(most) + 1, max(int(most) // 8, 1)):
        anchor = "start" if place == 0 else "end" if place == most else "middle"
        parts.append(_text(place / most * wide, 51, str(place), anchor, True))
    parts.append(_text(0, 68, words[0], "start", True))
    if value is not None:
        at = min(max(value / most, 0.0), 1.0) * wide
        parts.append(
            element("path", d=f"M{_at(at - 7)} 8L{_at(at + 7)} 8L{_at(at)} 24Z", class_="nbc-fill-ink")
        )
        near_end = at > wide - 70
        parts.append(
            _text(at + (-10 if near_end else 10), 18, f"{value:.1f}", "end" if near_end else "start")
        )
    return _chart(wide, foot + 6, label, parts)


def columns(heights: Sequence[float], names: Sequence[str], label: str, foot: str) -> Element:
    """Columns side by side, such as groups by their size; `names` stand where there is room."""
    return _twice(lambda wide: _columns(wide, heights, names, label, foot))


def _columns(wide: float, heights: Sequence[float], names: Sequence[str], label: str, foot: str) -> Element:
    top, base = 10.0, 150.0
    most = max([*heights, 1e-12])
    width = wide / max(len(heights), 1)
    parts, named_to = [], 0.0
    for place, (height, name) in enumerate(zip(heights, names, strict=True)):
        tall = height / most * (base - top)
        if height:
            parts.append(_rect(place * width + 1, base - tall, max(width - 2, 1), max(tall, 1.5), "after"))
        half = len(name) * LETTER / 2
        middle = min(max((place + 0.5) * width, half), wide - half)
        if name and middle - half >= named_to:
            parts.append(_text(middle, base + 15, name, "middle", True))
            named_to = middle + half + 2 * LETTER
    parts.append(_rule(0, base, wide, base))
    parts.append(_text(wide / 2, base + 33, foot, "middle", True))
    return _chart(wide, base + 40, label, parts)


class Dot(NamedTuple):
    """A point of `dots`: where it is, whether it was chosen, and what it is."""

    x: float
    y: float
    chosen: bool
    text: str


def dots(points: Sequence[Dot], across: str, up: str, label: str, limit: float | None = None) -> Element:
    """Points of two measures, such as accuracy against bits; those at the right of `limit` break it."""
    return _twice(lambda wide: _dots(wide, points, across, up, label, limit))


def _dots(
    wide: float, points: Sequence[Dot], across: str, up: str, label: str, limit: float | None
) -> Element:
    left, right, top, base = 62.0, wide - 10, 14.0, 230.0
    low_x, high_x = 0.0, max([*(point.x for point in points), limit or 0.0, 1e-9]) * 1.05
    low_y, high_y = min(point.y for point in points), max(point.y for point in points)
    margin = (high_y - low_y) * 0.12 or 0.01
    low_y, high_y = low_y - margin, high_y + margin

    def x_of(x: float) -> float:
        return left + (x - low_x) / (high_x - low_x) * (right - left)

    def y_of(y: float) -> float:
        return base - (y - low_y) / (high_y - low_y) * (base - top)

    parts = []
    if limit is not None:
        parts.append(_rect(left, top, x_of(limit) - left, base - top, "band"))
        parts.append(_text(x_of(limit) - 6, top + 12, "within the limit", "end", True))
    parts += [_rule(left, base, right, base), _rule(left, top, left, base)]
    for step in range(5):
        x, y = high_x * step / 4, low_y + (high_y - low_y) * step / 4
        parts.append(_text(x_of(x), base + 15, f"{x:.1f}", "middle", True))
        parts.append(_text(left - 6, y_of(y) + 4, f"{y:.1%}", "end", True))
    for point in sorted(points, key=lambda point: point.chosen):
        kind, radius = ("points", 7) if point.chosen else ("after", 4)
        parts.append(
            element(
                "circle",
                element("title", point.text),
                cx=_at(x_of(point.x)),
                cy=_at(y_of(point.y)),
                r=radius,
                class_=f"nbc-fill-{kind}",
            )
        )
    parts += [_text((left + right) / 2, base + 32, across, "middle", True), _text(0, 8, up, "start", True)]
    return _chart(wide, base + 38, label, parts)


def _twice(draw: Callable[[float], Element]) -> Element:
    """A picture for a screen or paper, and the same for a phone: one of them is shown, and read."""
    return element(
        "div",
        element("div", draw(WIDTH), class_="nbc-screen"),
        element("div", draw(PHONE), class_="nbc-phone"),
    )


def _chart(width: float, height: float, label: str, parts: Sequence[Element]) -> Element:
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {_at(width)} {_at(height)}",
        role="img",
        aria_label=label,
        class_="nbc-chart",
    )


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Element:
    return element(
        "rect", x=_at(x), y=_at(y), width=_at(width), height=_at(height), class_=f"nbc-fill-{kind}"
    )


def _rule(x1: float, y1: float, x2: float, y2: float) -> Element:
    return element("line", x1=_at(x1), y1=_at(y1), x2=_at(x2), y2=_at(y2), class_="nbc-line-ink")


def _text(x: float, y: float, text: str, anchor: str, small: bool = False) -> Element:
    kind = "nbc-small" if small else None
    return element("text", text, x=_at(x), y=_at(y), text_anchor=anchor, class_=kind)


def _at(number: float) -> str:
    """A coordinate, to a hundredth."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
