"""The distinct rows of each quasi-identifier, as the kernel takes them.

Each quasi-identifier has rows of its own, as the search splits each by itself: docs/mathematics/templates.md,
section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nbcfast import _codes, _disclose
from nbcfast._core.dtypes import Array, Codes, Longs, UInt16s, UInt32s, Words
from nbcfast.table import Table
from nbcfast.templates.masked_columns import MaskedColumn
from nbcfast.templates.template import Template, position

BLOCK_ROWS = 1 << 21  # sorted at a time: they stay near the cache, and Ctrl-C is answered
DENSE_BITS = 20  # of a key, up to which counting is quicker than sorting


@dataclass(frozen=True)
class KeyColumn:
    """A column of the rows that are told apart.

    Attributes
    ----------
    codes : ndarray of unsigned integers
        One a row.
    number_of : ndarray of int64
        For each code what it counts as: rows with equal numbers are equal here.
    size : int
        How many numbers there are.
    """

    codes: Codes
    number_of: Longs
    size: int

    @classmethod
    def of_codes(cls, codes: Codes, size: int) -> KeyColumn:
        """A column whose codes are all different things."""
        return cls(codes, np.arange(size), size)

    @property
    def width(self) -> int:
        """The bits that a number takes."""
        return (self.size - 1).bit_length()


class LeafRows(NamedTuple):
    """The distinct rows of one quasi-identifier, in the order in which the kernel takes them.

    Attributes
    ----------
    masked : list of int
        The numbers of its columns that may be suppressed.
    codes : ndarray, shape (rows, masked)
    marks : ndarray of uint16, shape (rows, sensitive columns)
        Which template's sensitive value a row has, counted from 1; 0 for none.
    n_templates : int
    weights : ndarray
        How many people each row stands for.
    groups : ndarray of uint32
        The number of the group of each row by the columns that are published as they are.
    n_groups : int
    """

    masked: list[int]
    codes: Array
    marks: UInt16s
    n_templates: int
    weights: Array
    groups: UInt32s
    n_groups: int

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.codes, self.marks, self.weights, self.groups))


@dataclass(frozen=True)
class RowSource:
    """The rows of which those of a quasi-identifier are made: all of the table, or distinct ones.

    Attributes
    ----------
    table : Table
    columns : dict of name -> KeyColumn
    weights : ndarray of int64 or None
    n_rows : int
    masked : dict of name -> int
        The numbers of the columns that may be suppressed.
    wide : bool
        Whether the kernel takes codes of 32 bits and weights of 64.
    marks : dict of name -> ndarray of int64
        For the sensitive columns of which no more is left than the sensitive values: the number of each code
        of the table.
    """

    table: Table
    columns: dict[str, KeyColumn]
    weights: Longs | None
    n_rows: int
    masked: dict[str, int]
    wide: bool
    marks: dict[str, Longs]

    @classmethod
    def of(
        cls,
        table: Table,
        templates: tuple[Template, ...],
        masked: list[MaskedColumn],
        wide: bool,
        shared: bool,
    ) -> RowSource:
        """The rows of a table; the distinct ones where several quasi-identifiers are made of them."""
        columns = {
            column.name: KeyColumn(column.column.codes, column.code_of, len(column.positions))
            for column in masked
        }
        known = {name for template in templates for name in template.quasi}
        used = {*known, *(template.sensitive[0] for template in templates)}
        for name in table.names:
            if name not in columns and name in used:
                columns[name] = KeyColumn.of_codes(table.codes(name), len(table.column(name).domain))
        numbers = {column.name: number for number, column in enumerate(masked)}
        whole = cls(table, columns, table.weights, table.n_rows, numbers, wide, {})
        return whole._distinct(templates, known) if shared else whole

    def _distinct(self, templates: tuple[Template, ...], known: set[str]) -> RowSource:
        """The distinct rows of all that some template needs."""
        # Sensitive columns that nobody is assumed to know matter for their sensitive values alone.
        keys = dict(self.columns)
        marks: dict[str, Longs] = {}
        for name, column in self.columns.items():
            if name not in known:
                sensitive = sorted(
                    {position(self.table, one) for one in templates if one.sensitive[0] == name}
                )
                marks[name] = np.zeros(column.size, np.int64)
                marks[name][sensitive] = np.arange(1, len(sensitive) + 1)
                keys[name] = KeyColumn(column.codes, marks[name], len(sensitive) + 1)
        wide = self.wide or any(column.size > 1 << 16 for column in self.columns.values())
        rows, totals = distinct_rows(list(keys.values()), self.weights, self.n_rows, wide)
        columns = _columns_of(rows, keys)
        return RowSource(self.table, columns, totals, len(totals), self.masked, self.wide, marks)

    def leaf_rows(
        self, quasi: frozenset[str], templates: list[Template], *, keep: bool
    ) -> tuple[LeafRows, RowSource]:
        """The rows of one quasi-identifier for the kernel; and as a source, to be kept for others."""
        if len(templates) >= 1 << 16:
            raise ValueError(
                f"templates: expected fewer than 65,536 of one quasi-identifier, got {len(templates)}"
            )
        masked = [name for name in self.masked if name in quasi]
        published = [name for name in self.columns if name in quasi and name not in self.masked]
        sensitive = list(dict.fromkeys(template.sensitive[0] for template in templates))
        marked, marks = [], {}
        for name in sensitive:
            column, marks[name] = self._marked(name, templates)
            marked.append(column)
        keys = [*(self.columns[name] for name in (*published, *masked)), *marked]
        wide = self.wide or any(column.size > 1 << 16 for column in keys)
        rows, totals = distinct_rows(keys, self.weights, self.n_rows, wide)
        groups, n_groups = numbered(rows[:, : len(published)])
        end = len(published) + len(masked)
        leaf_rows = LeafRows(
            [self.masked[name] for name in masked],
            np.ascontiguousarray(rows[:, len(published) : end], np.uint32 if self.wide else np.uint16),
            np.ascontiguousarray(rows[:, end:], np.uint16),
            len(templates),
            totals.astype(np.uint64 if self.wide else np.uint32),
            groups,
            n_groups,
        )
        if not keep:
            return leaf_rows, self
        columns = _columns_of(rows, dict(zip([*published, *masked, *sensitive], keys, strict=True)))
        return leaf_rows, RowSource(self.table, columns, totals, len(totals), self.masked, self.wide, marks)

    def _marked(self, name: str, templates: list[Template]) -> tuple[KeyColumn, Longs]:
        """A sensitive column, of which only the sensitive values matter; and its marks by codes of the table.

        A row has at most one of a column's values, and so one mark for each sensitive column.
        """
        number_of = np.zeros(self.columns[name].size, np.int64)
        marks = np.zeros(len(self.table.column(name).domain), np.int64)
        for mark, template in enumerate(templates, 1):
            if template.sensitive[0] == name:
                code = position(self.table, template)
                number_of[self.marks[name][code] if name in self.marks else code] = mark
                marks[code] = mark
        return KeyColumn(self.columns[name].codes, number_of, len(templates) + 1), marks


def _columns_of(rows: Array, keys: dict[str, KeyColumn]) -> dict[str, KeyColumn]:
    """The columns of distinct rows."""
    matrix = np.ascontiguousarray(rows.T)
    return {
        name: KeyColumn.of_codes(codes, column.size)
        for (name, column), codes in zip(keys.items(), matrix, strict=True)
    }


def distinct_rows(
    columns: Sequence[KeyColumn], weights: Longs | None, n_rows: int, wide: bool
) -> tuple[Array, Longs]:
    """The distinct rows, sorted where their keys fit into 64 bits, and the weight of each."""
    dtype = np.uint32 if wide else np.uint16
    widths = np.array([column.width for column in columns], np.int64)
    total = int(widths.sum())
    if total > 64:
        return _grouped(columns, weights, n_rows, dtype)
    shifts = total - np.cumsum(widths)
    bits = [
        column.number_of.astype(np.uint64) << np.uint64(shift % 64)
        for column, shift in zip(columns, shifts.tolist(), strict=True)
    ]
    codes = [column.codes for column in columns]
    keys: Words
    if total <= DENSE_BITS and n_rows >> 2 >= 1 << total >> 6:
        table = np.zeros(1 << total, np.uint64)
        for start in range(0, n_rows, BLOCK_ROWS):
            _disclose.tally(codes, bits, start, min(start + BLOCK_ROWS, n_rows), weights, table)
        occurring = np.flatnonzero(table)
        keys, totals = occurring.astype(np.uint64), table[occurring]
    else:
        blocks = [
            _disclose.distinct(codes, bits, start, min(start + BLOCK_ROWS, n_rows), weights, total)
            for start in range(0, n_rows, BLOCK_ROWS)
        ]
        keys, totals = blocks[0]
        if len(blocks) > 1:
            keys = np.concatenate([block[0] for block in blocks])
            totals = np.concatenate([block[1] for block in blocks])
            del blocks
            keys, totals = _disclose.merged(keys, totals, total)
    rows = np.empty((len(keys), len(columns)), dtype)
    _disclose.unpacked(keys, shifts, widths, rows)
    return rows, totals.astype(np.int64)


def _grouped(
    columns: Sequence[KeyColumn], weights: Longs | None, n_rows: int, dtype: type[np.uint16 | np.uint32]
) -> tuple[Array, Longs]:
    """The distinct rows and their weights by hashing, for keys of any length."""
    numbers = [column.number_of.astype(np.uint32)[column.codes] for column in columns]
    grouper = _codes.RowGrouper(numbers)
    for start in range(0, n_rows, BLOCK_ROWS):
        grouper.add(start, min(start + BLOCK_ROWS, n_rows), weights)
    firsts, totals = grouper.found()
    rows = np.empty((len(firsts), len(columns)), dtype)
    for place, array in enumerate(numbers):
        rows[:, place] = array[firsts]
    return rows, totals


def numbered(rows: Array) -> tuple[UInt32s, int]:
    """The number of each distinct row, and how many there are."""
    if not rows.shape[1]:
        return np.zeros(len(rows), np.uint32), 1
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    differs = np.zeros(len(rows), np.bool_)  # from the row before
    differs[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(rows), np.uint32)
    numbers[order] = np.cumsum(differs, dtype=np.uint32)
    return numbers, int(numbers.max()) + 1
