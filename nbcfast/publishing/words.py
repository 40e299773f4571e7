"""Pieces of what a caller is told: names, values and numbers of any size."""

from __future__ import annotations

import math
from fractions import Fraction

from nbcfast._core.numbers import amount_text, number_text
from nbcfast._wire.messages import printable

MOST_LETTERS = 200  # of a value or a name
EXACT = 2**53  # up to which many readers of JSON hold every integer


def label(value: object) -> str:
    """A value or a name as one piece of text; of a very long one the beginning, and how long it is.

    Examples
    --------
    >>> label("cook"), label(None), label("b" * 10_000)[-23:]
    ('cook', '(null)', 'bbb .. (10,000 letters)')
    """
    if value is None:
        return "(null)"
    text = str(value)
    if len(text) > MOST_LETTERS:
        return f"{printable(text[: MOST_LETTERS - 20])} .. ({len(text):,} letters)"
    return printable(text) if text.strip() else repr(value)


def json_integer(number: int) -> int | str:
    """An integer for JSON: hexadecimal text beyond 2^53, which many readers would round.

    Examples
    --------
    >>> json_integer(7), json_integer(2**60)
    (7, '0x1000000000000000')
    """
    return number if number <= EXACT else hex(number)


def amount(number: object) -> str:
    """A number of any size for people."""
    if isinstance(number, Fraction):
        if number >= 10**15:
            return amount_text(math.floor(number))
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > 64:
            return f"about {float(number):.6g}"
        return number_text(number)
    return amount_text(number) if isinstance(number, int) and not isinstance(number, bool) else str(number)
