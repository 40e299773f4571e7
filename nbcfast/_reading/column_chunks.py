"""Text columns of Parquet files as the codes that they are stored as.

pyarrow unpacks codes to 32 bits, with a bit for each that it is there, and takes ten times as long over that
as counting takes. What is read here is a flat column of text all of whose pages are codes of one dictionary,
plain or compressed by Snappy, which most writers make of what has few values; of all else, and of whatever is
not as it should be, `coded` says nothing, and pyarrow reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from nbcfast import _parquet
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.footers import Chunk
from nbcfast.table.arrow import load_pyarrow

if TYPE_CHECKING:
    from nbcfast._core.dtypes import Array

MOST_ROWS, MOST_BYTES = 1 << 22, 1 << 26  # of a chunk: it is held whole
MOST_CELLS = 1 << 26  # of all columns of a group of rows
MOST_VALUES = 1 << 16
BYTE_ARRAY = 6  # these are numbers of Parquet
UNCOMPRESSED, SNAPPY = 0, 1
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
ENCODINGS = {PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY}  # the dictionary is plain


def may_be_coded(chunk: Chunk, type_: PyArrow, schema: PyArrow) -> bool:
    """Whether what a file says of a chunk leaves room for `coded`."""
    types = load_pyarrow().types
    if types.is_dictionary(type_):  # as pandas writes categories
        type_ = type_.value_type
    return bool(
        (types.is_string(type_) or types.is_large_string(type_))
        and chunk.type_ == BYTE_ARRAY
        and schema.max_repetition_level == 0
        and schema.max_definition_level <= 1
        and chunk.start > 0
        and chunk.compression in (UNCOMPRESSED, SNAPPY)
        and chunk.encodings <= ENCODINGS
        and 0 < chunk.n_values <= MOST_ROWS
        and 0 < chunk.n_bytes <= MOST_BYTES
    )


class Scratch:
    """Memory that one chunk after the other uses."""

    def __init__(self) -> None:
        self._held: dict[str, Array] = {}

    def of(self, name: str, size: int) -> Array:
        if name not in self._held or len(self._held[name]) < size:
            self._held[name] = np.empty(size, np.uint8)
        return self._held[name][:size]


def coded(file: BinaryIO, chunk: Chunk, optional: bool, scratch: Scratch) -> PyArrow | None:
    """The rows of a chunk as an Arrow array of a dictionary, or None where another has to read them."""
    file.seek(chunk.start)
    stored = file.read(chunk.n_bytes)
    plan = _parquet.plan(stored)
    if plan is None:
        return None
    start, n_stored, n_raw, n_values, most_raw, n_rows = plan
    if n_rows != chunk.n_values or not 1 <= n_values <= MOST_VALUES or max(n_raw, most_raw) > MOST_BYTES:
        return None
    is_snappy = chunk.compression == SNAPPY
    page: bytes | Array = stored[start : start + n_stored]
    if is_snappy:
        page = np.empty(n_raw, np.uint8)
        if not _parquet.snappy(stored[start : start + n_stored], page):
            return None
    values = texts(bytes(page), n_values)
    if values is None:
        return None
    codes: Array = np.empty(n_rows, np.uint8 if n_values <= 256 else np.uint16)
    valid, space = scratch.of("valid", n_rows), scratch.of("space", max(most_raw, 1))
    nulls = _parquet.codes(stored, is_snappy, optional, n_values, space, codes, valid)
    if nulls is None:
        return None
    return array_of(codes, valid if nulls else None, values)


def texts(page: bytes, n_values: int) -> PyArrow | None:
    """The texts of the page of a dictionary: before each stand four bytes with its length."""
    pa = load_pyarrow()
    found, at = [], 0
    for _ in range(n_values):
        size = int.from_bytes(page[at : at + 4], "little")
        if at + 4 + size > len(page):
            return None
        found.append(page[at + 4 : at + 4 + size])
        at += 4 + size
    try:
        return pa.array(found, pa.binary()).cast(pa.string()) if at == len(page) else None
    except pa.ArrowInvalid:  # no UTF-8
        return None


def array_of(codes: Array, valid: Array | None, values: PyArrow) -> PyArrow:
    """An Arrow array on the memory of these codes, null where they are not valid."""
    pa = load_pyarrow()
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    type_ = pa.uint8() if codes.dtype == np.uint8 else pa.uint16()
    indices = pa.Array.from_buffers(type_, len(codes), [bits, pa.py_buffer(codes)])
    return pa.DictionaryArray.from_arrays(indices, values, safe=False)  # each code is below n_values
