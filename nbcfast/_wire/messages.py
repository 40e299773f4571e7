"""Names, numbers and intervals as pieces of a message, short enough to print and forging no line."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_SAID = 10_000  # characters of a sentence
SOME_NAMES = 5  # attributes that a warning names


def brief(text: str) -> str:
    """A sentence that names and values of a file may fill: its middle is left out where it is very long."""
    if len(text) <= MOST_SAID:
        return text
    half = MOST_SAID // 2 - 20  # with room for what is said in between
    return f"{text[:half]} .. ({len(text) - 2 * half:,} characters) .. {text[-half:]}"


def listing(names: Sequence[str | None]) -> str:
    """Names of attributes, and the class if None is there, in words."""
    words = [named(name) for name in names if name is not None][:SOME_NAMES]
    more = len(names) - len(words) - (None in names)
    if more > 0:
        words.append(f"{more} more")
    if None in names:
        words.append("the class")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def short(number: int) -> str:
    """An integer as a piece of a message: Python refuses to print very long ones."""
    return str(number) if number.bit_length() <= 128 else f"about 2^{number.bit_length() - 1}"


def number_text(number: Fraction) -> str:
    """A rational as a piece of a message."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= 128:
        return str(number)
    return f"{short(number.numerator)}/{short(number.denominator)}"


def quoted(name: str) -> str:
    """The name of a file as a piece of a message: in quotes, so that it ends where it ends."""
    return json.dumps(name, ensure_ascii=False)


# Blanks by their numbers: what a certificate says in words must not depend on the tables of one Python.
PLAIN_NAME = re.compile(r'[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000:;,=>"]+')


def named(name: str) -> str:
    """The name of a column as a piece of what a check says: one that could pass for more is in quotes."""
    return name if PLAIN_NAME.fullmatch(name) else quoted(name)


def in_quotes(name: str) -> str:
    """The name as `repr` has it, but for characters that only newer Pythons know to be printable.

    A certificate that one Python has written is to be the same to all others.
    """
    mark = '"' if "'" in name and '"' not in name else "'"
    text = name.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return mark + UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text) + mark


def interval_text(low: Fraction | None, high: Fraction | None) -> str:
    """An interval as the library prints it."""
    start = "(-inf" if low is None else f"[{decimal_text(low)}"
    return f"{start}, {'inf' if high is None else decimal_text(high)})"


def decimal_text(number: Fraction) -> str:
    """Decimal text where the expansion ends within 40 digits, else "num/den"; rough for very long ones."""
    up, down = number.numerator, number.denominator
    if max(up.bit_length(), down.bit_length()) > 4096:
        return f"about {'-' if up < 0 else ''}2^{up.bit_length() - down.bit_length()}"
    twos = (down & -down).bit_length() - 1
    fives, rest = 0, down >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    digits = max(twos, fives)
    if rest != 1 or digits > 40:
        return f"{up}/{down}"
    whole, part = divmod(abs(up) * 10**digits // down, 10**digits)
    return f"{'-' if up < 0 else ''}{whole}" + (f".{part:0{digits}d}" if digits else "")


# What is not seen where it is printed. str.isprintable knows more characters in newer Pythons: one would
# spell a cell in a way that another refuses.
UNSEEN = re.compile(
    r"[\0-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680"
    r"\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    r"\U000f0000-\U0010ffff]"
)


def printable(text: str) -> str:
    """`text` with what a terminal may act on, line breaks among it, escaped: data cannot forge a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
