"""Bins in a few words, as they are typed: ``25,35,50``, ``tens``, ``width:10:0:100``."""

from __future__ import annotations

from fractions import Fraction

from nbcfast._core.numbers import Number, exact, plainly

WIDTHS = {
    "twos": 2,
    "fives": 5,
    "tens": 10,
    "twenties": 20,
    "fifties": 50,
    "hundreds": 100,
    "thousands": 1000,
}
EXPECTED = (
    "expected edges as 25,35,50 (numbers or dates that increase; null at the end where null is a value), a "
    "width as tens or width:10, or one over a declared range as tens:0:100 or width:10:0:100"
)


def bins_in(words: str, where: str) -> dict[str, object] | Number:
    """The option that words stand for, or a width alone, whose range is that of the rows.

    Parameters
    ----------
    words : str
        Edges with commas between, whose outer bins are open; the name of a width (twos, fives, tens,
        twenties, fifties, hundreds, thousands) or ``width:W``; both with ``:FROM:TO`` over a declared range,
        and ``:open`` where the outer bins of that are open. ``null`` after the last comma where null is a
        value.
    where : str
        What the words are of, for errors.

    Examples
    --------
    >>> bins_in("25,35,null", "--bin age"), bins_in("tens", "--bin age")
    ({'edges': [None, 25, 35, None], 'null': True}, 10)
    >>> bins_in("width:0.5:0:2", "--bin bmi")
    {'width': 0.5, 'from': 0, 'to': 2}
    """
    parts = [part.strip(" ") for part in words.split(",")]
    null = len(parts) > 1 and parts[-1] == "null"
    if null:
        parts.pop()
    if len(parts) == 1 and _names_a_width(parts[0]):
        option = _of_width(parts[0], where)
        if not isinstance(option, dict) and null:
            raise ValueError(f"{where}: null goes with edges, or with a declared range; got {words[:60]!r}")
    else:
        option = {"edges": [None, *(_edge(part, words, where) for part in parts), None]}
    if isinstance(option, dict) and null:
        option["null"] = True
    return option


def _names_a_width(part: str) -> bool:
    return part.partition(":")[0] in ("width", *WIDTHS)


def _of_width(text: str, where: str) -> dict[str, object] | Number:
    """A width, over a range where one is declared."""
    name, *others = text.split(":")
    width: object = WIDTHS.get(name)
    if width is None and others:
        width = _number(others.pop(0), text, where)
    is_open = others[-1:] == ["open"]
    if is_open:
        others.pop()
    if width is None or len(others) not in (0, 2) or (is_open and not others):
        raise ValueError(f"{where}: {EXPECTED}; got {text[:60]!r}")
    if not others:
        alone = exact(width, where)
        if alone <= 0:
            raise ValueError(f"{where}: a width must be above 0, got {text[:60]!r}")
        return alone
    low, high = (_number(other, text, where) for other in others)
    option: dict[str, object] = {"width": width, "from": low, "to": high}
    if is_open:
        option["open"] = True
    return option


def _edge(part: str, words: str, where: str) -> int | float | str:
    """An edge: a number, or the text of a date, which whoever reads the option checks."""
    if len(part) == 10 and part[4:5] == part[7:8] == "-":
        return part
    return _number(part, words, where)


def _number(text: str, words: str, where: str) -> int | float:
    """A number as JSON would have it."""
    refused = ValueError(f"{where}: {EXPECTED}; got {words[:60]!r}")
    if not plainly(text):
        raise refused
    try:
        number = exact(text, where)
    except ValueError:
        raise refused from None
    if isinstance(number, int):
        return number
    nearest = float(number)
    if Fraction(repr(nearest)) != number:
        raise ValueError(f"{where}: expected numbers of at most 15 digits, got {text[:60]!r}")
    return nearest
