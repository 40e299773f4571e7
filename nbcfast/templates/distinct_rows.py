"""The distinct rows of each quasi-identifier, as the kernel takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nbcfast import _codes, _disclose
from nbcfast._core.dtypes import Array, Codes, Longs, UInt32s, Words

BLOCK_ROWS = 1 << 21  # sorted at a time: they stay near the cache, and Ctrl-C is answered
DENSE_BITS = 20  # of a key, up to which counting is quicker than sorting


@dataclass(frozen=True)
class Part:
    """A column for a key: its codes, what each stands for, and how many different ones there are."""

    codes: Codes
    map: Longs
    size: int

    @property
    def width(self) -> int:
        return (self.size - 1).bit_length()


def distinct_rows(
    parts: Sequence[Part], weights: Longs | None, n_rows: int, wide: bool
) -> tuple[Array, Longs]:
    """The distinct rows, sorted where their keys fit into 64 bits, and the weight of each."""
    dtype = np.uint32 if wide else np.uint16
    widths = np.array([part.width for part in parts], np.int64)
    total = int(widths.sum())
    if total > 64:
        return _grouped(parts, weights, n_rows, dtype)
    shifts = total - np.cumsum(widths)
    bits = [
        part.map.astype(np.uint64) << np.uint64(shift % 64)
        for part, shift in zip(parts, shifts.tolist(), strict=True)
    ]
    columns = [part.codes for part in parts]
    keys: Words
    if total <= DENSE_BITS and n_rows >> 2 >= 1 << total >> 6:
        table = np.zeros(1 << total, np.uint64)
        for start in range(0, n_rows, BLOCK_ROWS):
            _disclose.tally(columns, bits, start, min(start + BLOCK_ROWS, n_rows), weights, table)
        found = np.flatnonzero(table)
        keys, totals = found.astype(np.uint64), table[found]
    else:
        blocks = [
            _disclose.distinct(columns, bits, start, min(start + BLOCK_ROWS, n_rows), weights, total)
            for start in range(0, n_rows, BLOCK_ROWS)
        ]
        keys, totals = blocks[0]
        if len(blocks) > 1:
            keys = np.concatenate([block[0] for block in blocks])
            totals = np.concatenate([block[1] for block in blocks])
            del blocks
            keys, totals = _disclose.merged(keys, totals, total)
    rows = np.empty((len(keys), len(parts)), dtype)
    _disclose.unpacked(keys, shifts, widths, rows)
    return rows, totals.astype(np.int64)


def _grouped(
    parts: Sequence[Part], weights: Longs | None, n_rows: int, dtype: type[Any]
) -> tuple[Array, Longs]:
    """The same by hashing, for keys of any length."""
    columns = [part.map.astype(np.uint32)[part.codes] for part in parts]
    grouper = _codes.RowGrouper(columns)
    for start in range(0, n_rows, BLOCK_ROWS):
        grouper.add(start, min(start + BLOCK_ROWS, n_rows), weights)
    firsts, totals = grouper.found()
    rows = np.empty((len(firsts), len(parts)), dtype)
    for place, codes in enumerate(columns):
        rows[:, place] = codes[firsts]
    return rows, totals


def numbered(rows: Array) -> tuple[UInt32s, int]:
    """The number of each distinct row, and how many there are."""
    if not rows.shape[1]:
        return np.zeros(len(rows), np.uint32), 1
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.zeros(len(rows), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(rows), np.uint32)
    numbers[order] = np.cumsum(new, dtype=np.uint32)
    return numbers, int(numbers.max()) + 1
