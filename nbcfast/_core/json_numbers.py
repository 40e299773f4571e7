"""Integers in JSON that people write: so long ones are refused that no Python is asked to read them."""

from __future__ import annotations

from dataclasses import dataclass

MOST_DIGITS = 4300  # as Pythons read by default, if they have a limit at all


@dataclass(frozen=True)
class LongInteger:
    """Stands where a document has an integer that is not read.

    Parameters
    ----------
    digits : int
        How many it has.
    """

    digits: int


def integer_of(text: str) -> int | LongInteger:
    """The integer that JSON spells so, for `parse_int`; `long_integer` finds those that are too long."""
    digits = len(text.lstrip("-"))
    if digits > MOST_DIGITS:
        return LongInteger(digits)
    try:
        return int(text)
    except ValueError:  # whoever runs this Python has set a lower limit
        return LongInteger(digits)


def long_integer(document: object) -> tuple[tuple[str, ...], str] | None:
    """Where a document has an integer that was not read: the names above it, and what is wrong; or None."""
    pending: list[tuple[tuple[str, ...], object]] = [((), document)]
    while pending:
        names, entry = pending.pop()
        if isinstance(entry, LongInteger):
            return names, (f"expected numbers of at most {MOST_DIGITS:,} digits, got one of {entry.digits:,}")
        if isinstance(entry, dict):
            pending += [((*names, str(name)), one) for name, one in reversed(entry.items())]
        elif isinstance(entry, list):
            pending += [(names, one) for one in reversed(entry)]
    return None
