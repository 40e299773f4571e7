"""How the chunks of a Parquet file are compressed, by its footer.

pyarrow ends the process when it is asked for a compression that there is none of, as of a damaged file.
"""

from __future__ import annotations

from typing import BinaryIO

MAGIC = b"PAR1"
UNCOMPRESSED, SNAPPY = 0, 1  # as Parquet numbers them
DEEPEST = 16

# In Thrift's compact protocol: of the file the groups of rows, of each its chunks, of each what is said of
# it, and of that the compression.
_PATH = (4, 1, 3, 4)
_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12

Found = list["int | Found"]


def compressions(file: BinaryIO) -> list[list[int | None]]:
    """Of each group of rows the numbers of its chunks' compressions; none where that is not understood."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(size - 8, 0))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > size - 8:
        return []
    file.seek(size - 8 - length)
    found: Found = []
    try:
        _look(file.read(length), 0, _PATH, found)
    except (IndexError, ValueError):
        return []
    return [[_only(chunk) for chunk in chunks] for chunks in found if isinstance(chunks, list)]


def _only(chunk: int | Found) -> int | None:
    """The one number that was found in a chunk."""
    if isinstance(chunk, list) and len(chunk) == 1 and isinstance(chunk[0], int):
        return chunk[0]
    return None


def _look(data: bytes, at: int, path: tuple[int, ...], found: Found) -> int:
    """What stands on the path in a struct that begins there, a list for each of a list; where that ends."""
    number = 0
    while (head := data[at]) != 0:
        number, at = _field(data, at, number)
        kind = head & 15
        if number != path[0]:
            at = _pass(data, at, kind, 0)
        elif len(path) == 1:
            if kind not in _INTEGERS:
                raise ValueError(f"expected an integer, got {kind}")
            value, at = _number(data, at)
            found.append(_signed(value))
        elif kind == _STRUCT:
            at = _look(data, at, path[1:], found)
        elif kind in _LISTS and data[at] & 15 == _STRUCT:
            n, at = _length(data, at)
            for _ in range(n):
                own: Found = []
                at = _look(data, at, path[1:], own)
                found.append(own)
        else:
            raise ValueError(f"expected structs, got {kind}")
    return at + 1


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
        number = 0
        while (head := data[at]) != 0:
            number, at = _field(data, at, number)
            at = _pass(data, at, head & 15, depth + 1)
        return at + 1
    raise ValueError(f"expected a type of Thrift, got {kind}")
