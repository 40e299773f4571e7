"""`Bits`: columns of two values as one bit a record, and their counts by population counts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from nbcfast import _response
from nbcfast._core.dtypes import Bytes, Words
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, rows_from
from nbcfast._wire.messages import printable
from nbcfast.response.coin_groups import as_list, expect_two_values
from nbcfast.response.schemes import AnyScheme
from nbcfast.table import Column, Domain, Table
from nbcfast.views import Viewset


@dataclass(frozen=True, eq=False, repr=False)
class Bits(HasReadOnlyMappings):
    """Two-valued columns, 64 records a word: record i is bit i % 64 of word i // 64.

    Made by `pack`; takes the place of a Table in `disguise` and `estimate`, at an eighth of the memory.

    Attributes
    ----------
    n_rows : int
    words : mapping of name -> read-only ndarray of uint64
        Bits beyond the last record are 0.
    domains : mapping of name -> Domain
        Two values each.
    scheme : AnyScheme or None
        What the bits were disguised by.
    seeded : bool
        Whether the coins were those of a simulation.
    """

    n_rows: int
    words: Mapping[str, Words]
    domains: Mapping[str, Domain]
    scheme: AnyScheme | None = field(default=None)
    seeded: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.words)

    def counts(self, class_name: str) -> Viewset:
        """The views of a naive Bayes classifier, as `nbcfast.count` of the table has them.

        Examples
        --------
        >>> bits = pack(Table({"a": [0, 1, 1], "c": [0, 0, 1]}))
        >>> bits.counts("c").counts["a"].tolist()
        [[1, 0], [1, 1]]
        """
        if class_name not in self.words:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.names))}; got {class_name!r}")
        of_class = self.words[class_name]
        ones, n = _response.ones(of_class), self.n_rows
        counts = {}
        for name, words in self.words.items():
            if name != class_name:
                true, both = _response.ones(words), _response.common(words, of_class)
                counts[name] = np.array(
                    [[n - ones - (true - both), ones - both], [true - both, both]], np.int64
                )
        domains = {name: self.domains[name] for name in counts}
        return Viewset.from_parts(
            np.array([n - ones, ones], np.int64), counts, self.domains[class_name], domains
        )

    def to_table(self) -> Table:
        """The records as a table, one code a byte."""
        columns = {}
        for name, words in self.words.items():
            codes = np.unpackbits(_bytes(words), count=self.n_rows, bitorder="little")
            columns[name] = Column(codes, self.domains[name])
        return Table.from_columns(columns, None, self.n_rows)

    def to_dict(self) -> Document:
        return {"columns": list(self.names), "n_rows": self.n_rows, "seeded": self.seeded}

    def __repr__(self) -> str:
        seeded = ", seeded" if self.seeded else ""
        return printable(f"Bits({self.n_rows} rows of {', '.join(self.names)}{seeded})")


def pack(table: AnyTable, names: Iterable[str] | None = None) -> Bits:
    """Columns of two values, one bit a record.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). Without weights.
    names : iterable of str, optional
        By default all columns.

    Returns
    -------
    Bits

    Raises
    ------
    ValueError
        If a column has not two values, or there are weights.

    Examples
    --------
    >>> pack(Table({"a": ["no", "yes", "yes"]})).words["a"]
    array([6], dtype=uint64)
    """
    table = rows_from(table, "nbcfast.response.disguise_frame disguises each where it lies")
    if table.weights is not None:
        raise ValueError("the table has weights, and each record needs bits of its own")
    words, domains = {}, {}
    for name in table.names if names is None else as_list(names, "names"):
        column = table.column(name)
        expect_two_values(name, column.domain)
        packed = np.zeros(-(-table.n_rows // 64) * 8, np.uint8)
        bits = np.packbits(column.codes, bitorder="little")
        packed[: len(bits)] = bits
        words[name], domains[name] = _words(packed), column.domain
    return bits_of(table.n_rows, words, domains)


def bits_of(
    n_rows: int,
    words: dict[str, Words],
    domains: dict[str, Domain],
    scheme: AnyScheme | None = None,
    seeded: bool = False,
) -> Bits:
    """Bits of finished words, which nothing checks again; the words become read-only."""
    for array in words.values():
        array.flags.writeable = False
    return Bits(n_rows, MappingProxyType(words), MappingProxyType(domains), scheme, seeded)


def _words(packed: Bytes) -> Words:
    """Packed bits as words: record i is bit i % 64, whatever the order of bytes on this machine."""
    words: Words = packed.view(np.uint64)
    return words if sys.byteorder == "little" else words.byteswap()


def _bytes(words: Words) -> Bytes:
    """Words as the packed bits that they were made of."""
    packed: Bytes = (words if sys.byteorder == "little" else words.byteswap()).view(np.uint8)
    return packed
