"""Distinct pairs of a group and a value: rows of codes are sorted or hashed, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import _groups
from nbcfast._columns import Columns
from nbcfast._core.dtypes import Codes, Longs, UInt32s, Words
from nbcfast._core.threads import n_threads, over_rows
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


# A dense table is cleared and read once a cell, 0.8 ns; sorting costs a row 2.5 ns more than counting it.
CELLS_A_ROW, MOST_CELLS = 3, 1 << 22
SHORT_BITS = 32  # keys that sort at half the price
SAMPLE = 4096  # rows that are looked at before long keys are sorted or hashed
MOST_BITS = 63  # of a group and a value in one key


@dataclass(frozen=True)
class Pairs:
    """The distinct pairs of rows of codes, sorted by group and then value.

    Attributes
    ----------
    arrays : tuple of ndarray
        Offsets of the groups, values, how often each pair occurs, and rows of each group.
    packed : ndarray or None
        The codes of each group in mixed radix, or
    codes : list of ndarray or None
        the same by column.
    """

    arrays: tuple[Longs, UInt32s, Longs, Longs]
    packed: Words | None
    codes: list[Codes] | None


def sorted_pairs(
    columns: list[Codes],
    sizes: list[int],
    value_codes: Codes,
    n_values: int,
    names: Sequence[str],
    *,
    weights: Longs | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Pairs:
    """The pairs of rows, whose `columns` make the groups; a code out of range is an error that names its
    column.
    """
    packed = _pair_bits(sizes, n_values) <= MOST_BITS
    rows: Longs | None = None
    keys, key_sizes = columns, sizes
    if not packed:
        for name, codes, size in zip(names[:-1], columns, sizes, strict=True):
            _check_codes(name, codes, size)
        key, size, rows = _ranked(columns, sizes, n_values)
        keys, key_sizes = [key], [size]
    arrays, group_keys = _pairs(keys, key_sizes, value_codes, n_values, names, weights, threads, progress)
    if rows is None:
        return Pairs(arrays, group_keys, None)
    firsts = rows[group_keys.astype(np.int64)]
    return Pairs(arrays, None, [codes[firsts] for codes in columns])


def unpacked(packed: Words | None, sizes: Sequence[int]) -> list[Codes]:
    """The codes by column of groups that are packed in mixed radix."""
    assert packed is not None  # else there are codes by column
    codes: list[Codes] = []
    keys = packed
    for size in reversed(sizes):
        keys, digits = np.divmod(keys, np.uint64(size))
        codes.append(digits.astype(code_dtype(size)))
    return codes[::-1]


def _pair_bits(sizes: Sequence[int], n_values: int) -> int:
    """Bits of a group in mixed radix and a value."""
    total = 1
    for size in sizes:
        total *= max(size, 1)
    return (total - 1).bit_length() + max(n_values - 1, 0).bit_length()


def _ranked(columns: list[Codes], sizes: list[int], n_values: int) -> tuple[Codes, int, Longs]:
    """Where the columns have too many combinations for one key: a code for each that occurs, in their order.

    Returns the code of each row, the number of codes, and a row of each.
    """
    room = (1 << (MOST_BITS - max(n_values - 1, 0).bit_length())) - 1
    key, size = columns[0].astype(np.int64), sizes[0]
    for codes, more in zip(columns[1:], sizes[1:], strict=True):
        # Ranks only where the next column would not fit: each costs a sort.
        if size * more > room:
            distinct_keys, key = np.unique(key, return_inverse=True)
            size = len(distinct_keys)
        key = key * more + codes
        size *= more
    _, rows, key = np.unique(key, return_index=True, return_inverse=True)
    return key.astype(np.int64, copy=False), len(rows), rows


def _pairs(
    columns: list[Codes],
    sizes: list[int],
    value_codes: Codes,
    n_values: int,
    names: Sequence[str],
    weights: Longs | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[tuple[Longs, UInt32s, Longs, Longs], Words]:
    """The arrays of a Groups, and the key of each group: its codes in mixed radix."""
    n_rows = len(value_codes)
    held = Columns([*columns, value_codes], [*sizes, n_values], n_rows)
    method = _groups.HASH if weights is not None else _method(columns, sizes, value_codes, n_values, n_rows)
    n_bytes = sum(column.itemsize for column in (*columns, value_codes)) * n_rows

    def add(part: _groups.Grouper, start: int, stop: int) -> None:
        bad = part.add(start, stop)
        if bad >= 0:
            codes, size = [*columns, value_codes][bad], [*sizes, n_values][bad]
            _check_codes(names[bad] if len(names) == len(sizes) + 1 else names[-1], codes, size)
            raise ValueError(f"column {names[bad]!r} changed while it was read")

    first, *others = over_rows(
        lambda: _groups.Grouper(held, method, weights),
        add,
        n_rows,
        threads=n_threads(threads, n_bytes),
        progress=progress,
    )
    for other in others:
        first.absorb(other)
    offsets, values, counts, group_sizes, keys = first.finish()
    return (offsets, values, counts, group_sizes), keys


def _method(columns: list[Codes], sizes: list[int], value_codes: Codes, n_values: int, n_rows: int) -> int:
    cells = n_values
    for size in sizes:
        cells *= size
    if cells <= min(CELLS_A_ROW * n_rows + 4096, MOST_CELLS):
        return _groups.DENSE
    if _pair_bits(sizes, n_values) <= SHORT_BITS or n_rows <= 4 * SAMPLE:
        return _groups.RADIX
    step = n_rows // SAMPLE
    key = value_codes[::step].astype(np.uint64)
    for codes, size in zip(columns, sizes, strict=True):
        key = key * np.uint64(size) + codes[::step].astype(np.uint64)
    # Few pairs that come again and again: their table stays in the cache, and long keys need many passes.
    return _groups.HASH if len(np.unique(key)) < len(key) // 4 else _groups.RADIX


def _check_codes(name: str, codes: Codes, size: int) -> None:
    bad = np.flatnonzero((codes < 0) | (codes >= size))
    if len(bad):
        raise ValueError(f"column {name!r}: codes must be 0..{size - 1}, got {codes[bad[0]]} in row {bad[0]}")
