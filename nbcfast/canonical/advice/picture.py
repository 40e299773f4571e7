"""The front as a picture: SVG, drawn with nothing but text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from nbcfast.canonical.limits_of_answers import Limits

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 64, 104  # margins, in which titles, numbers and the legend stand
MOST_TICKS = 7
LETTER = 6.2  # about the width of a character of a label
LONGEST_LINE = 110  # characters of the limits in words
FAR = 2  # times the most bits of a point: where a limit is beyond, no line is drawn for it
# Of Okabe and Ito, told apart by all eyes; and the shapes differ too.
KEEPS, BREAKS, CHOSEN = "#0072b2", "#d55e00", "#000000"
GREY = "#595959"
FONT = "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\""
NAMES = {
    "max_bits": "at most {} bits a weight",
    "max_found": "at most {} counts found",
    "min_flip": "classes of at least {} hidden",
    "min_trace": "presence of at least {} hidden",
    "max_one_class": "at most {} values of one class",
}
SHARES = ("min_flip", "min_trace")


class FrontPoint(NamedTuple):
    """A domain that stands to choose from.

    Attributes
    ----------
    tuples : int
        Kinds of people that it tells apart.
    bits : float
        Bits a weight.
    found, cells : int
        Counts that public totals and the answers give back, and all there are.
    flip, trace : float
        Shares of people whose class can be exchanged, or who can be left out, without any answer changing.
    one_class : int
        Values with people of one class only.
    accuracy, log_loss : float
    keeps : bool
        Whether it keeps all limits.
    """

    tuples: int
    bits: float
    found: int
    cells: int
    flip: float
    trace: float
    one_class: int
    accuracy: float
    log_loss: float
    keeps: bool


class Axis(NamedTuple):
    """What numbers stand between, and where they are drawn."""

    low: float
    high: float
    start: float
    end: float

    def at(self, number: float) -> float:
        """Where a number is drawn."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)


class FrontPicture(str):
    """The text of an SVG picture, which notebooks draw.

    Examples
    --------
    >>> FrontPicture("<svg></svg>")._repr_svg_()
    '<svg></svg>'
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(self)


def front_svg(points: Sequence[FrontPoint], chosen: FrontPoint | None, limits: Limits) -> FrontPicture:
    """Accuracy of domains against the bits a weight of their answers.

    Discs keep all limits, crosses do not; beside each stands how many counts the answers give back. A ring
    marks the chosen one, and a line the limit of bits.

    Parameters
    ----------
    points : sequence of FrontPoint
        The domains; numbers stand beside those with room for them.
    chosen : FrontPoint or None
        It is drawn whether it is among the points or not.
    limits : Limits
        What they have to keep.

    Returns
    -------
    FrontPicture
        SVG text, with a title and a description for those who do not see it.

    Raises
    ------
    ValueError
        If bits or accuracy of a point are not finite.

    Examples
    --------
    >>> coarse = FrontPoint(640, 6.66, 0, 19, 1.0, 1.0, 0, 0.8500, 0.33, True)
    >>> fine = FrontPoint(10**9, 15.2, 205, 205, 0.0, 0.1, 9, 0.8195, 0.66, False)
    >>> picture = front_svg([coarse, fine], coarse, Limits())
    >>> picture.count("<circle"), picture.startswith("<svg ")
    (4, True)
    """
    drawn = list(points) if chosen is None or chosen in points else [*points, chosen]
    for point in drawn:
        if not (math.isfinite(point.bits) and math.isfinite(point.accuracy)):
            raise ValueError(f"points must have finite bits and accuracy, got {point!r}")
    across = [0.0, *(point.bits for point in drawn)]
    most_bits = limits.max_bits
    if most_bits is not None and len(drawn) and most_bits > FAR * max(across):
        most_bits = None  # a line far away would leave the points no room; words name the limit all the same
    x, x_ticks = _axis(across if most_bits is None else [*across, float(most_bits)], LEFT, WIDTH - RIGHT)
    y, y_ticks = _axis([100 * point.accuracy for point in drawn], HEIGHT - BOTTOM, TOP)
    parts = [
        _frame(x, x_ticks, y, y_ticks),
        *([] if most_bits is None else [_limit_line(x, float(most_bits))]),
        *_marks(drawn, chosen, x, y, most_bits),
        _legend(limits, chosen is not None),
    ]
    told = _description(drawn, chosen, limits)
    body = "\n".join(parts)
    return FrontPicture(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{escape(f"{TITLE}. {told}")}" {FONT} font-size="12">\n'
        f"<title>{escape(TITLE)}</title>\n<desc>{escape(told)}</desc>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


TITLE = "What a domain is worth, and what its answers give away"


def _axis(numbers: Sequence[float], start: float, end: float) -> tuple[Axis, list[float]]:
    """An axis for numbers, between two round ones, and the round numbers on it in steps of 1, 2 or 5."""
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    step = 10.0 ** math.floor(math.log10((high - low) / MOST_TICKS))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= MOST_TICKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(place * step, 10) for place in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], start, end), ticks


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more and " " + more}>{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, more: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def _frame(x: Axis, x_ticks: Sequence[float], y: Axis, y_ticks: Sequence[float]) -> str:
    """The title, the axes and their numbers."""
    thin = f'stroke="{GREY}" stroke-width="1"'
    lines = [
        _text(LEFT, 26, TITLE, 'font-size="16" font-weight="bold"'),
        _line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, thin),
        _line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, thin),
    ]
    for number in x_ticks:
        at = x.at(number)
        lines.append(_line(at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 5, thin))
        lines.append(_text(at, HEIGHT - BOTTOM + 19, f"{number:g}", 'text-anchor="middle"'))
    for number in y_ticks:
        at = y.at(number)
        lines.append(_line(LEFT, at, WIDTH - RIGHT, at, 'stroke="#e2e2e2" stroke-width="1"'))
        lines.append(_text(LEFT - 8, at + 4, f"{number:g} %", 'text-anchor="end"'))
    middle = (LEFT + WIDTH - RIGHT) / 2
    words = "bits a weight that the answers give away"
    lines.append(_text(middle, HEIGHT - BOTTOM + 40, words, 'text-anchor="middle"'))
    height = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'text-anchor="middle" transform="rotate(-90 18 {height:.1f})"'
    lines.append(_text(18, height, "people who are answered right", turned))
    return "\n".join(lines)


def _limit_line(x: Axis, most: float) -> str:
    """Where the limit of bits is."""
    at = x.at(most)
    dashes = f'stroke="{GREY}" stroke-width="1.5" stroke-dasharray="6 4"'
    words = f"limit: {most:g} bits"
    end = at + 6 + LETTER * len(words) > WIDTH - RIGHT  # no room to the right of it
    place = (at - 6, 'text-anchor="end"') if end else (at + 6, "")
    return "\n".join(
        [
            _line(at, TOP - 12, at, HEIGHT - BOTTOM, dashes),
            _text(place[0], TOP - 4, words, f'fill="{GREY}" {place[1]}'.strip()),
        ]
    )


def _marks(
    points: Sequence[FrontPoint], chosen: FrontPoint | None, x: Axis, y: Axis, most_bits: float | None
) -> list[str]:
    """The points, each with what it is when a mouse rests on it, and the numbers beside those with room."""
    marks = []
    taken: list[tuple[float, float, float, float]] = []  # left, top, right and bottom of what is drawn
    for point in points:
        at, half = (x.at(point.bits), y.at(100 * point.accuracy)), 11 if point == chosen else 6
        taken.append((at[0] - half, at[1] - half, at[0] + half, at[1] + half))
    if most_bits is not None:
        taken.append((x.at(most_bits) - 2, 0, x.at(most_bits) + 2, HEIGHT))
    # The chosen one is labelled first, where labels have no room for all.
    for point in sorted(points, key=lambda one: one != chosen):
        at = x.at(point.bits), y.at(100 * point.accuracy)
        shape = _disc(*at) if point.keeps else _cross(*at)
        ring = f"\n{_ring(*at)}" if point == chosen else ""
        said = f"<title>{escape(f'chosen: {_told(point)}' if point == chosen else _told(point))}</title>"
        marks.append(f"<g>{said}\n{shape}{ring}\n</g>")
        label = _label(*at, f"{point.found}", taken)
        if label is not None:
            marks.append(label)
    return marks


def _label(x: float, y: float, words: str, taken: list[tuple[float, float, float, float]]) -> str | None:
    """Words beside a point, where they cover nothing; None where there is no such place."""
    width, height = LETTER * len(words) + 2, 12
    beside = ((x + 11, y - 14), (x + 11, y + 2), (x - 11 - width, y - 14), (x - 11 - width, y + 2))
    for left, top in (*beside, (x - width / 2, y - 25), (x - width / 2, y + 13)):
        box = left, top, left + width, top + height
        inside = left >= LEFT and box[2] <= WIDTH - 4 and top >= TOP - 14 and box[3] <= HEIGHT - BOTTOM
        free = all(
            box[2] <= one[0] or one[2] <= box[0] or box[3] <= one[1] or one[3] <= box[1] for one in taken
        )
        if inside and free:
            taken.append(box)
            return _text(left + 1, top + 10, words, 'font-size="11"')
    return None


def _disc(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{KEEPS}"/>'


def _cross(x: float, y: float) -> str:
    stroke = f'stroke="{BREAKS}" stroke-width="2.5" stroke-linecap="round"'
    return _line(x - 4.5, y - 4.5, x + 4.5, y + 4.5, stroke) + _line(
        x - 4.5, y + 4.5, x + 4.5, y - 4.5, stroke
    )


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="10" fill="none" stroke="{CHOSEN}" stroke-width="2"/>'


def _legend(limits: Limits, is_chosen: bool) -> str:
    """What the shapes and numbers mean, and the limits in words."""
    height = HEIGHT - 44
    parts = [_disc(LEFT + 5, height), _text(LEFT + 16, height + 4, "keeps all limits")]
    parts += [_cross(LEFT + 145, height), _text(LEFT + 156, height + 4, "breaks a limit")]
    if is_chosen:
        ring = f'r="8" fill="none" stroke="{CHOSEN}" stroke-width="2"'
        parts.append(f'<circle cx="{LEFT + 274}" cy="{height}" {ring}/>')
        parts.append(_text(LEFT + 288, height + 4, "chosen"))
    parts.append(_text(LEFT + 364, height + 4, "numbers: counts that are found"))
    words = _limits_text(limits)
    lines = textwrap.wrap(f"limits: {words}" if words else "no limits", LONGEST_LINE)
    for place, line in enumerate(lines):
        parts.append(_text(LEFT, HEIGHT - 18 + 14 * place, line, f'fill="{GREY}" font-size="11"'))
    return "\n".join(parts)


def _limits_text(limits: Limits) -> str:
    """The limits in words, without those that there are not."""
    told = []
    for name, words in NAMES.items():
        limit = getattr(limits, name)
        if limit is not None:
            told.append(words.format(f"{100 * float(limit):g} %" if name in SHARES else f"{float(limit):g}"))
    return ", ".join(told)


def _told(point: FrontPoint) -> str:
    """A point in words."""
    return (
        f"{point.tuples:,} kinds of people, {point.bits:.2f} bits a weight, "
        f"{100 * point.accuracy:.2f} % answered right, log-loss {point.log_loss:.4f}, {point.found:,} of "
        f"{point.cells:,} counts found, classes of {100 * point.flip:.2f} % and presence of "
        f"{100 * point.trace:.2f} % hidden, {point.one_class:,} values of one class; "
        f"{'keeps all limits' if point.keeps else 'breaks a limit'}"
    )


def _description(points: Sequence[FrontPoint], chosen: FrontPoint | None, limits: Limits) -> str:
    """The picture in words."""
    keep = sum(point.keeps for point in points)
    text = (
        "The share of people who are answered right, against the bits a weight that the answers give away, "
        f"of {len(points):,} domains, of which {keep:,} keep all limits"
    )
    words = _limits_text(limits)
    text += f" ({words})." if words else "; there are none."
    return text if chosen is None else f"{text} The chosen one: {_told(chosen)}."
