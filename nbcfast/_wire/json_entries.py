"""Entries of a certificate in JSON: integers and rationals of any length, and the one text they have.

Readers that hold numbers as doubles would round integers beyond 2^53: those are hexadecimal text.
"""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

from nbcfast._wire.messages import brief

if TYPE_CHECKING:
    Fields = dict[str, Any]  # a JSON object of a file: whatever is in it, until it is checked

FORMAT = 1
WHOLE_IN_JSON = 2**53  # readers that hold numbers as doubles would round integers beyond it
LONGEST_PART = 1 << 15  # bits of a part of a rational, whose lowest terms take quadratic time


class Refused(ValueError):  # noqa: N818
    """The file is not a release as it was written."""

    def __init__(self, text: str) -> None:
        super().__init__(brief(text))


class TooLong(Refused):
    """The file would take too long to read: nothing is known of it."""


# One for all: json.dumps makes another for each of the hundreds of thousands of values of a file.
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(document: object) -> str:
    """The one text of a document: sorted keys, no spaces, ASCII."""
    return ENCODER.encode(document)


def digest(document: Fields) -> str:
    """The sha256 of the canonical text without the field of that name."""
    rest = {name: entry for name, entry in document.items() if name != "sha256"}
    return hashlib.sha256(canonical_json(rest).encode("ascii")).hexdigest()


def shown(entry: object, length: int = 60) -> str:
    """An entry of the file, short enough for a message."""
    text = canonical_json(entry)
    return text if len(text) <= length else text[: length - 2] + ".."


def whole(entry: object, where: str) -> int:
    """An integer of at least 0: a JSON number, or hexadecimal text beyond 2^53."""
    if type(entry) is int and 0 <= entry <= WHOLE_IN_JSON:
        return entry
    if type(entry) is str and re.fullmatch(r"0x[1-9a-f][0-9a-f]*", entry):
        number = int(entry, 16)
        if number > WHOLE_IN_JSON:
            return number
    raise Refused(f"{where}: expected an integer (as text 0x.. beyond 2^53), got {shown(entry)}")


def signed(entry: object, where: str) -> int:
    """An integer of either sign, as text with a sign beyond 2^53."""
    if type(entry) is int and -WHOLE_IN_JSON <= entry < 0:
        return entry
    if type(entry) is str and entry.startswith("-0x"):
        return -whole(entry[1:], where)
    return whole(entry, where)


def signed_list(entry: object, length: int, where: str) -> tuple[int, ...]:
    """So many integers of either sign."""
    if type(entry) is not list or len(entry) != length:
        raise Refused(f"{where}: expected {length} integers, got {shown(entry)}")
    return tuple(signed(number, where) for number in entry)


def _part(text: str) -> int:
    if text.startswith("0x"):
        return whole(text, "part of a rational")
    if re.fullmatch(r"0|[1-9][0-9]{0,15}", text) and int(text) <= WHOLE_IN_JSON:
        return int(text)
    raise Refused("part of a rational")


SHORT_RATIONAL = re.compile(r"(0|[1-9][0-9]{0,14})/([1-9][0-9]{0,14})")  # of most intervals


def rational(entry: object, where: str) -> Fraction:
    """A number of at least 0, as "num/den" in lowest terms."""
    if type(entry) is str and entry.count("/") == 1:
        plain = SHORT_RATIONAL.fullmatch(entry)
        if plain:
            up, down = int(plain[1]), int(plain[2])
            if gcd(up, down) == 1:
                return Fraction(up, down)
        try:
            numerator, denominator = map(_part, entry.split("/"))
        except Refused:
            numerator, denominator = 0, 0
        if max(numerator.bit_length(), denominator.bit_length()) > LONGEST_PART:
            raise TooLong(f"{where}: not checked here: a rational of more than {LONGEST_PART:,} bits")
        if denominator and gcd(numerator, denominator) == 1:
            return Fraction(numerator, denominator)
    raise Refused(f'{where}: expected a rational "num/den" in lowest terms, got {shown(entry)}')
