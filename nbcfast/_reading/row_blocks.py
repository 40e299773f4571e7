"""Rows of a table argument block by block: the columns that are wanted, each finished for its block alone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from nbcfast._core.dtypes import Codes
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.csv_files import CsvFile, CsvForm
from nbcfast._reading.hints import table_ending
from nbcfast._reading.parquet import ParquetFile
from nbcfast._reading.source import (
    DECIDED_THERE,
    AnyTable,
    expect_rows,
    is_path,
    record_batches,
    table_from,
)
from nbcfast.table.arrays import is_arrow
from nbcfast.table.arrow import (
    ColumnReader,
    add_batch,
    chosen_names,
    load_pyarrow,
    load_readers,
    open_columns,
)
from nbcfast.table.elsewhere import refuse_far
from nbcfast.table.encode import Column, ColumnBuilder, recode, used_values
from nbcfast.table.table import Table
from nbcfast.table.values import Value

BATCH_BYTES = 4 << 20  # of text: whoever takes rows has several arrays of them
MOST_HELD = 1 << 16  # distinct texts of a column of a CSV file, after which they are told anew


@dataclass(frozen=True)
class RowBlock:
    """Some rows: the columns that were asked for."""

    columns: Mapping[str, Column]
    n_rows: int


@dataclass(frozen=True)
class TextBatch:
    """Some rows of a CSV file: for each column codes, and the texts of these rows alone."""

    columns: Mapping[str, tuple[Codes, list[str]]]
    n_rows: int

    def to_arrow(self) -> PyArrow:
        """A record batch of dictionaries."""
        pa = load_pyarrow()
        arrays = [
            pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(texts, pa.string()))
            for codes, texts in self.columns.values()
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.columns))


class RowFile:
    """A file of rows that is read block by block, with columns as they stand in it.

    Parameters
    ----------
    path : path
        A CSV or Parquet file, by its ending.
    where : str
        The argument, for errors.
    form : CsvForm, optional
        How a CSV file is written; by default as its ending says.

    Attributes
    ----------
    names : list of str
    size : int
        Bytes of the file.
    is_csv : bool
    null_values : frozenset of str
        Fields of a CSV file that are nulls, which its batches have as they are.
    """

    def __init__(
        self, path: str | os.PathLike[str], where: str = "table", form: CsvForm | None = None
    ) -> None:
        self.path = os.fsdecode(path)
        self.is_csv = table_ending(self.path, where).kind == "csv"
        with open(self.path, "rb"):  # the usual OSError, with its path
            pass
        self._file: CsvFile | ParquetFile
        self.size = os.stat(self.path).st_size
        self.null_values: frozenset[str] = frozenset()
        if self.is_csv:
            form = CsvForm.of(self.path) if form is None else form
            self.form = form
            self.null_values = frozenset(form.null_values)
            as_it_is = CsvForm(form.delimiter, (), form.encoding)
            self._file = CsvFile(self.path, as_it_is, batch_bytes=BATCH_BYTES)
        else:
            load_readers()
            self._file = ParquetFile(self.path, eager=False)
        self.names = chosen_names(self._file.names, None)
        self._rows = 0

    @property
    def done(self) -> int:
        """Bytes that were read, of a Parquet file by its rows."""
        if isinstance(self._file, CsvFile):
            return min(self._file.done, self.size)
        return self.size * self._rows // max(self._file.n_rows, 1)

    @property
    def schema(self) -> PyArrow:
        """The Arrow schema of the columns: texts, of a CSV file."""
        if isinstance(self._file, ParquetFile):
            return self._file.schema
        pa = load_pyarrow()
        return pa.schema([(name, pa.string()) for name in self.names])

    def batches(self, names: Iterable[str] | None = None) -> Iterator[TextBatch | PyArrow]:
        """Batches of these columns (all for None): texts of a CSV file, record batches of any other."""
        wanted = chosen_names(self.names, names)
        self._rows = 0
        if isinstance(self._file, CsvFile):
            yield from _text_batches(self._file, wanted)
            return
        with closing(self._file.batches(wanted)) as batches:
            for batch in batches:
                self._rows += batch.num_rows
                yield batch

    def blocks(self, names: Sequence[str]) -> Iterator[RowBlock]:
        """The columns of all rows, block by block."""
        finishing = Finishing(self.null_values)
        chosen_names(self.names, names)
        for batch in self.batches(names or (self.names[:1] if self.is_csv else None)):
            yield finishing.block(batch, names)


def _text_batches(file: CsvFile, names: list[str]) -> Iterator[TextBatch]:
    with closing(file.batches(names, MOST_HELD)) as batches:
        for batch in batches:
            columns = {name: _of_these(*batch[name]) for name in names}
            yield TextBatch(columns, len(columns[names[0]][0]))


def _of_these(codes: Codes, texts: list[Value]) -> tuple[Codes, list[str]]:
    """The codes of some rows, and the texts of these alone."""
    used = used_values(codes, len(texts))
    positions = np.flatnonzero(used)
    places = np.cumsum(used, dtype=np.int64) - 1
    return recode(codes, places, len(positions)), [str(texts[position]) for position in positions.tolist()]


class Finishing:
    """Makes finished columns of the arrays of a batch; what dictionaries hold is looked at once."""

    def __init__(self, null_values: Collection[str] = ()) -> None:
        self._null_values = null_values
        self._readers: dict[str, ColumnReader] = {}

    def column(self, name: str, array: PyArrow, reader: ColumnReader | None = None) -> Column:
        """The column of an array, with the sorted values of this array alone."""
        if reader is None:
            reader = self._readers.setdefault(name, ColumnReader(name, array.type))
        builder = ColumnBuilder(name)
        add_batch(builder, reader, array)
        return builder.finish()

    def of_texts(self, name: str, codes: Codes, texts: list[str]) -> Column:
        """The column of the fields of a CSV file."""
        builder = ColumnBuilder(name)
        nulls = self._null_values
        builder.add_coded(codes, [None if text in nulls else text for text in texts])
        return builder.finish()

    def block(self, batch: TextBatch | PyArrow, names: Sequence[str]) -> RowBlock:
        """The columns of a batch."""
        if isinstance(batch, TextBatch):
            return RowBlock({name: self.of_texts(name, *batch.columns[name]) for name in names}, batch.n_rows)
        columns = {name: self.column(name, batch.column(name)) for name in names}
        return RowBlock(columns, batch.num_rows)


def blocks_from(obj: AnyTable, names: Sequence[str], where: str = "table") -> Iterator[RowBlock]:
    """The rows of a table argument: a Table or a mapping at once, all else block by block.

    Parameters
    ----------
    obj : Table, mapping, Arrow data, iterable of record batches, or path
        As of `table_from`.
    names : sequence of str
        The columns.
    where : str
        The name of the argument, for errors.

    Raises
    ------
    NoColumnError
        If there is no such column.
    TypeError, ValueError
        As `table_from`; the fields of a CSV file stay texts.
    """
    expect_rows(obj, DECIDED_THERE, where)
    if isinstance(obj, Table) or (not is_path(obj) and isinstance(obj, Mapping)):
        table = table_from(obj, where)
        yield RowBlock({name: table.column(name) for name in names}, table.n_rows)
    elif is_path(obj):
        yield from RowFile(os.fsdecode(obj), where).blocks(names)
    else:
        refuse_far(obj, where)
        yield from _of_arrow(obj if is_arrow(obj) else record_batches(obj, where), names)


def _of_arrow(stream: object, names: Sequence[str]) -> Iterator[RowBlock]:
    finishing = Finishing()
    readers, batches = open_columns(stream, names or None)
    for arrays in batches:
        n_rows = len(next(iter(arrays.values()), ()))
        yield RowBlock({name: finishing.column(name, arrays[name], readers[name]) for name in names}, n_rows)
