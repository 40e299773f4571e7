"""What of a page there is room for: long tables and lists end early, long texts are cut, and both say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nbcfast._markup.elements import Element, element

CELLS = frozenset({"caption", "td", "th"})  # which hold names and values, where others hold sentences
NAMED = frozenset({"aria-label"})  # attributes that are read aloud
LEAST_ITEMS = 24  # of a list: findings, of which the worst are the first


class PageRoom(NamedTuple):
    """How much is shown.

    Attributes
    ----------
    rows : int
        Of a table, and panels of bars beside each other.
    cell, text : int
        Letters of what stands in a table, and of a sentence.
    """

    rows: int
    cell: int
    text: int


# From what is nearly all to the least, until the page is small enough.
PAGE_ROOMS = (
    PageRoom(1000, 100_000, 100_000),
    PageRoom(300, 300, 10_000),
    PageRoom(300, 120, 4_000),
    PageRoom(100, 120, 2_000),
    PageRoom(40, 120, 1_000),
    PageRoom(12, 120, 1_000),
    PageRoom(3, 24, 300),
    PageRoom(3, 24, 80),
)

Fitting = Callable[[PageRoom], Element | None]  # what chooses by itself what it shows


def fitted(part: Element, room: PageRoom) -> Element:
    """An element with as much of it as there is room for.

    Examples
    --------
    >>> print(fitted(element("ul", element("li", "a" * 9), "b"), PageRoom(rows=3, cell=3, text=5)).html())
    <ul><li>aaaaa.. (9 letters)</li>b</ul>
    """
    letters = room.cell if part.tag in CELLS else room.text
    most = _most(part, room)
    shown = [
        fitted(child, room) if isinstance(child, Element) else _cut(child, letters)
        for child in part.children[:most]
    ]
    left = len(part.children) - len(shown)
    attributes = tuple(
        (name, _cut(value, room.cell) if name in NAMED and value is not None else value)
        for name, value in part.attributes
    )
    return Element(part.tag, attributes, (*shown, _left_out(part, left)) if left else tuple(shown))


def _most(part: Element, room: PageRoom) -> int | None:
    """How many children of an element are shown; None where it is no list of anything."""
    if part.tag == "tbody" or (part.tag == "div" and "nbc-bars" in (_class_of(part) or "").split()):
        return room.rows
    return max(room.rows, LEAST_ITEMS) if part.tag == "ul" else None


def _class_of(part: Element) -> str | None:
    return dict(part.attributes).get("class")


def _left_out(part: Element, left: int) -> Element:
    """What stands in the place of children that are not shown."""
    what = {"tbody": "row", "ul": "line"}.get(part.tag, "attribute")
    text = f"{left:,} more {what}{'s are' if left > 1 else ' is'} not shown here"
    if part.tag == "ul":
        return element("li", text)
    if part.tag == "div":
        return element("p", text, class_="nbc-quiet")
    first = part.children[0]
    width = len(first.children) if isinstance(first, Element) else 1
    return element("tr", element("td", text, colspan=width))


def _cut(text: str, letters: int) -> str:
    """A text that is not too long; of one that is it is said how long it is."""
    return text if len(text) <= letters else f"{text[:letters]}.. ({len(text):,} letters)"
