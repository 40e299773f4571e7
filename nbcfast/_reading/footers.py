"""What the footer of a Parquet file says of its chunks.

pyarrow ends the process when it is asked for a chunk of a damaged file that does not fit, or for its
compression where there is none of that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, Union

MAGIC = b"PAR1"
DEEPEST = 16

_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12

Wanted = Mapping[int, "Wanted"]
Read = Union[int, None, "list[Read]", "dict[int, Read]"]

# The numbers of fields: of the file its groups of rows, of each its chunks, of each what is said of it.
_GROUPS, _CHUNKS, _ABOUT = 4, 1, 3
_TYPE, _ENCODINGS, _COMPRESSION, _N_VALUES, _STORED, _DICTIONARY = 1, 2, 4, 5, 7, 11
_WANTED: Wanted = {
    _GROUPS: {
        _CHUNKS: {
            _ABOUT: {
                field: {} for field in (_TYPE, _ENCODINGS, _COMPRESSION, _N_VALUES, _STORED, _DICTIONARY)
            }
        }
    }
}


@dataclass(frozen=True)
class Chunk:
    """What is said of a chunk, by the numbers that Parquet gives them.

    Parameters
    ----------
    type_, compression, n_values : int
    encodings : frozenset of int
    start, n_bytes : int
        Where the page of its dictionary begins, and how long it and all others are.
    """

    type_: int
    compression: int
    n_values: int
    encodings: frozenset[int]
    start: int
    n_bytes: int


def chunks(file: BinaryIO) -> list[list[Chunk | None]]:
    """Of each group of rows its chunks, None for one without a dictionary; nothing if not understood."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(size - 8, 0))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > size - 8:
        return []
    file.seek(size - 8 - length)
    try:
        found = _read(file.read(length), 0, _STRUCT, _WANTED)[0]
    except (IndexError, ValueError):
        return []
    groups = [_listed(_in(group, _CHUNKS)) for group in _listed(_in(found, _GROUPS))]
    return [[_chunk(_in(one, _ABOUT)) for one in group] for group in groups]


def _chunk(about: Read) -> Chunk | None:
    numbers = [_in(about, field) for field in (_TYPE, _COMPRESSION, _N_VALUES, _DICTIONARY, _STORED)]
    type_, compression, n_values, start, n_bytes = (n if isinstance(n, int) else -1 for n in numbers)
    if min(type_, compression, n_values, start, n_bytes) < 0:
        return None
    encodings = frozenset(n for n in _listed(_in(about, _ENCODINGS)) if isinstance(n, int))
    return Chunk(type_, compression, n_values, encodings, start, n_bytes)


def _in(struct: Read, field: int) -> Read:
    return struct.get(field) if isinstance(struct, dict) else None


def _listed(values: Read) -> list[Read]:
    return values if isinstance(values, list) else []


def _read(data: bytes, at: int, kind: int, wanted: Wanted) -> tuple[Read, int]:
    """A value of Thrift's compact protocol, of structs the wanted fields; and where it ends."""
    if kind in _INTEGERS:
        number, at = _number(data, at)
        return _signed(number), at
    if kind in _LISTS:
        element = data[at] & 15
        n, at = _length(data, at)
        if element not in _INTEGERS and element != _STRUCT:
            raise ValueError(f"expected a list of integers or structs, got {element}")
        values: list[Read] = []
        for _ in range(n):
            value, at = _read(data, at, element, wanted)
            values.append(value)
        return values, at
    if kind != _STRUCT:
        raise ValueError(f"expected integers, lists or structs, got {kind}")
    found: dict[int, Read] = {}
    field = 0
    while (head := data[at]) != 0:
        field, at = _field(data, at, field)
        if field in wanted:
            found[field], at = _read(data, at, head & 15, wanted[field])
        else:
            at = _pass(data, at, head & 15, 0)
    return found, at + 1


def _field(data: bytes, at: int, before: int) -> tuple[int, int]:
    """The number of a field, and where its value begins."""
    step = data[at] >> 4
    if step:
        return before + step, at + 1
    number, at = _number(data, at + 1)
    return _signed(number), at


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("expected a number of 64 bits")


def _signed(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def _length(data: bytes, at: int) -> tuple[int, int]:
    """How many a list has, and where they begin."""
    n = data[at] >> 4
    return (n, at + 1) if n < 15 else _number(data, at + 1)


def _pass(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value ends."""
    if depth > DEEPEST:
        raise ValueError(f"expected at most {DEEPEST} structs in each other")
    if kind in _BOOLEANS:
        return at
    if kind in _INTEGERS:
        return _number(data, at)[1]
    if kind == _BINARY:
        n, at = _number(data, at)
        return at + n
    if kind in (_BYTE, _DOUBLE):
        return at + (1 if kind == _BYTE else 8)
    if kind in _LISTS:
        element = data[at] & 15
        n, at = _length(data, at)
        for _ in range(n):
            if at >= len(data):
                raise ValueError("expected more bytes")
            at = at + 1 if element in _BOOLEANS else _pass(data, at, element, depth + 1)
        return at
    if kind == _STRUCT:
        field = 0
        while (head := data[at]) != 0:
            field, at = _field(data, at, field)
            at = _pass(data, at, head & 15, depth + 1)
        return at + 1
    raise ValueError(f"expected a type of Thrift, got {kind}")
