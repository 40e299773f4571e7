"""The parts of a page: cards, tiles, findings, tables, steps; each is an `Element`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from nbcfast._markup.elements import Element, element

# Of what was looked at: it gives somebody away, was not measured, is to be weighed, or keeps its limit.
State = Literal["shows", "unmeasured", "warned", "kept"]
# What is shown besides: a figure that nothing was demanded of.
Shown = State | Literal["fact"]
WORDS: dict[Shown, str] = {
    "shows": "shows",
    "unmeasured": "not measured",
    "warned": "mind",
    "kept": "ok",
    "fact": "a fact, no check",
}
# On a square of 20; a state is never told by its colour alone.
MARKS: dict[Shown, str] = {
    "shows": "M5.5 5.5L14.5 14.5M14.5 5.5L5.5 14.5",
    "unmeasured": "M4.5 10H15.5",
    "warned": "M10 4V11.5M10 14.6V16",
    "kept": "M4.5 10.5L8.5 14.5L15.5 6",
    "fact": "M8.6 10A1.4 1.4 0 1 0 11.4 10A1.4 1.4 0 1 0 8.6 10",
}
Content = Element | str
COMMANDS = ("nbcfast ", "python ")  # how a line begins that is typed


class Tile(NamedTuple):
    """One of the few figures at the top of a page.

    Attributes
    ----------
    state : State or "fact"
        A fact is no check: nothing was demanded of the figure.
    about : str
        What the figure is of, in two or three words.
    figure : str
    text : str
        What it means, in a line.
    """

    state: Shown
    about: str
    figure: str
    text: str


def mark(state: Shown, word: str | None = None) -> Element:
    """The mark of a state, with a word: its own, which is read with the mark where another is given."""
    path = element(
        "path", d=MARKS[state], fill="none", stroke="currentColor", stroke_width=2.2, stroke_linecap="round"
    )
    read = {"aria_hidden": "true"} if word is None else {"role": "img", "aria_label": WORDS[state]}
    icon = element("svg", path, viewBox="0 0 20 20", **read)
    return element("span", icon, WORDS[state] if word is None else word, class_=f"nbc-mark nbc-{state}")


def card(heading: str, *content: Content | None, private: bool = False, kind: str = "") -> Element:
    """A section of the page under a heading; `private` is what comes from the private table."""
    head = element("header", element("h2", heading), private_tag() if private else None)
    return element("section", head, *content, class_=f"card {kind}".strip())


def private_tag() -> Element:
    """What stands beside numbers that must not leave."""
    return element("span", "from the private table", class_="nbc-tag")


def tiles(of: Iterable[Tile]) -> Element:
    """A row of tiles."""
    return element(
        "div",
        *(
            element(
                "div",
                mark(tile.state, tile.about),
                element("strong", tile.figure),
                element("span", tile.text, class_="what"),
                class_="tile",
            )
            for tile in of
        ),
        class_="tiles",
    )


def findings(of: Iterable[tuple[State, str, str]]) -> Element:
    """What was looked at: the state, what it is about, and what it means."""
    return element(
        "ul",
        *(
            element("li", mark(state), element("b", about), element("span", text))
            for state, about, text in of
        ),
        class_="nbc-findings",
    )


def paragraph(*content: Content, kind: str | None = None) -> Element:
    """A paragraph."""
    return element("p", *content, class_=kind)


def bullets(texts: Iterable[Content], kind: str | None = None) -> Element:
    """A list of texts."""
    return element("ul", *(element("li", text) for text in texts), class_=kind)


def steps(lines: Iterable[str]) -> Element:
    """Commands to be typed, one a line, and what a person does between them; no option is broken in two."""
    pieces: list[Content] = []
    for place, line in enumerate(lines):
        pieces += ["\n"] if place else []
        if not line.startswith(COMMANDS):
            pieces.append(element("em", line))
            continue
        for number, word in enumerate(line.split(" ")):
            pieces += [" "] if number else []
            pieces.append(element("span", word, class_="nbc-word") if "-" in word else word)
    return element("pre", *pieces, class_="nbc-steps")


def decisions(of: Iterable[tuple[str, Sequence[str]]]) -> Element:
    """What is to be decided, numbered: a sentence, and the commands that do it."""
    return element(
        "ol",
        *(
            element("li", element("b", *_typed(question)), steps(commands) if commands else None)
            for question, commands in of
        ),
        class_="decisions",
    )


def _typed(text: str) -> Iterator[Content]:
    """A text in which what stands between backticks is typed."""
    for place, piece in enumerate(text.split("`")):
        if piece:
            yield code(piece) if place % 2 else piece


def facts(rows: Iterable[tuple[str, str]], caption: str | None = None) -> Element:
    """A table of two columns without a head: names, and what they are."""
    lines = [element("tr", element("th", name, scope="row"), element("td", text)) for name, text in rows]
    head = None if caption is None else element("caption", caption)
    return _wide(element("table", head, element("tbody", *lines), class_="nbc-table"))


def table(
    header: Sequence[str], rows: Iterable[Sequence[Content]], *, texts: int = 1, caption: str | None = None
) -> Element:
    """A table whose first `texts` columns are texts, and all others numbers."""

    def cell(tag: str, place: int, content: Content, scope: str | None = None) -> Element:
        return element(tag, content, class_="nbc-number" if place >= texts else None, scope=scope)

    head = element("tr", *(cell("th", place, name, "col") for place, name in enumerate(header)))
    lines = [
        element(
            "tr",
            *(
                cell("th" if place == 0 else "td", place, content, "row" if place == 0 else None)
                for place, content in enumerate(row)
            ),
        )
        for row in rows
    ]
    above = None if caption is None else element("caption", caption)
    return _wide(
        element("table", above, element("thead", head), element("tbody", *lines), class_="nbc-table")
    )


def _wide(content: Element) -> Element:
    """What may be wider than a phone, and is moved by itself then."""
    return element("div", content, class_="nbc-wide")


def more(summary: str, *content: Content) -> Element:
    """What is there, and not shown at first."""
    return element("details", element("summary", summary), *content, class_="nbc-more")


def code(text: str) -> Element:
    """Something typed, or a hash."""
    return element("code", text)


def bold(text: str) -> Element:
    return element("b", text)


def signatures(*of: str) -> Element:
    """Lines to sign on."""
    return element("div", *(element("div", text) for text in of), class_="signatures")
