"""What every fact sheet is made of, and how much of it there is room for in a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import Content, Tile

NO_DP = Tile(
    "unmeasured", "Differential privacy", "no", "that is another kind of promise, which this does not make"
)


class Room(NamedTuple):
    """How much is shown; None is all.

    Attributes
    ----------
    attributes, values : int or None
        How many attributes of a rule, and values of each.
    strata : int
        How many rules.
    form : bool
        Whether there is a form to try it.
    """

    attributes: int | None
    values: int | None
    strata: int
    form: bool


# From all to the least, until the page is small enough.
ROOMS = (
    Room(None, None, 60, True),
    Room(None, 60, 12, True),
    Room(60, 12, 6, True),
    Room(24, 12, 1, True),
    Room(24, 12, 1, False),
    Room(8, 6, 1, False),
)
# Of a value, at the least, in the form and as a bar: what cannot fit is not drawn to see it.
OPTION_BYTES, ROW_BYTES = 25, 80


@dataclass(frozen=True)
class Facts:
    """What a fact sheet says of one published thing.

    Attributes
    ----------
    origin : str
        What it is: "canonical release".
    title : str
        A question.
    answer : sequence of Content
        One sentence, or two.
    tiles : sequence of (Tile or None)
        The figures; None is where that of the checks stands.
    cards : callable
        The sections, in the room that there is.
    script : callable, optional
        What a form in them runs.
    least : callable
        How many bytes the sections take at the least, in a room.
    """

    origin: str
    title: str
    answer: Sequence[Content]
    tiles: Sequence[Tile | None]
    cards: Callable[[Room], list[Element]]
    script: Callable[[], str] | None = None
    least: Callable[[Room], int] = lambda room: 0


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a sentence: "age, sex and bmi"."""
    texts = list(names)
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1:,} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else "none"
