"""What a table argument may be, and rows that are read batch by batch."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from nbcfast._codes import check_weights
from nbcfast._core.dtypes import Array, Codes, Longs
from nbcfast._core.errors import NoRowsError
from nbcfast._core.untyped import Arrow, PyArrow
from nbcfast._core.validation import whole
from nbcfast._reading.csv_files import CsvFile, CsvForm, read_csv, typed
from nbcfast._reading.endings import AnyPath
from nbcfast._reading.hints import UnreadableError, look_at, table_ending
from nbcfast._reading.parquet import ParquetFile, read_parquet
from nbcfast.frames import Frame
from nbcfast.table import Table
from nbcfast.table.arrays import is_arrow
from nbcfast.table.arrow import (
    check_codes,
    chosen_names,
    encoded,
    load_pyarrow,
    load_readers,
    open_batches,
    open_columns,
)
from nbcfast.table.elsewhere import refuse_far
from nbcfast.table.encode import used_values
from nbcfast.table.values import INT64_MAX

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.table.values import Value


AnyTable = Table | Frame | Mapping[str, object] | Arrow | Iterable[PyArrow] | AnyPath

# What there is in place of a class for each row of a Frame.
DECIDED_THERE = (
    "publish the classifier, and the engine decides its rows by the SQL of release.scorecard().sql(dialect)"
)

MOST_HELD = 1 << 20  # distinct texts of a column of a CSV file, after which they are told anew
MEMORY_ROWS = 1 << 20  # of a table in memory, at a time
UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
A_TABLE = (
    "a Table, a mapping of column names to values, anything with __arrow_c_stream__, an iterable of record "
    "batches, or the path of a file (.csv, .tsv, .parquet ..)"
)


def as_bytes(limit: int | str, where: str) -> int:
    """A number of bytes, or its text: "2GiB", "500 MB".

    Examples
    --------
    >>> as_bytes("2GiB", "memory_limit")
    2147483648
    """
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+)\s*([A-Za-z]*)\s*", limit)
        if match is None or match[2] not in UNITS:
            raise ValueError(f"{where} must be bytes such as 2147483648 or '2GiB', got {limit!r}")
        limit = int(match[1]) * UNITS[match[2]]
    return whole(limit, where, 1, expected="an int or its text")


def is_path(obj: object) -> TypeGuard[AnyPath]:
    return isinstance(obj, (str, bytes, os.PathLike))


def table_from(
    obj: AnyTable,
    where: str = "table",
    *,
    weights: str | None = None,
    also: str = "",
    columns: Iterable[str] | None = None,
) -> Table:
    """The table that an argument is, or is made into.

    Parameters
    ----------
    obj : Table, Frame, mapping, Arrow data, iterable of record batches, or path
        A file is read as `read_csv` and `read_parquet` do, by its ending. Of a Frame distinct rows are
        fetched, with their numbers as weights: that is for whoever counts rows, and `rows_from` for others.
    where : str
        The name of the argument, for errors.
    weights : str, optional
        The column of the weights; a Table and a Frame have their own.
    also : str
        What else the argument may be, which the caller has looked for: for errors.
    columns : iterable of str, optional
        Those that are needed: of a Frame no others are fetched. A table has its others all the same.

    Raises
    ------
    TypeError
        If it is something else.
    ValueError
        If it is the path of a file with another ending, or no table can be made of it.

    Examples
    --------
    >>> table_from({"age": [30, 40]}).n_rows
    2
    """
    if isinstance(obj, Table):
        expect_own_weights(weights)
        return obj
    if isinstance(obj, Frame):
        expect_own_weights(weights, "Frame")
        return obj.weighted(columns)
    refuse_far(obj, where)
    if is_path(obj):
        path = os.fsdecode(obj)
        if table_ending(path, where).kind == "csv":
            return read_csv(path, weights=weights)
        return read_parquet(path, weights=weights)
    # Before iterables: frames can be iterated over, and give the names of their columns.
    if isinstance(obj, Mapping) or is_arrow(obj):
        return Table(obj, weights=weights)
    schema, batches = open_batches(record_batches(obj, where, also))
    return Table(load_pyarrow().RecordBatchReader.from_batches(schema, batches), weights=weights)


def rows_from(obj: AnyTable, instead: str, where: str = "table", *, also: str = "") -> Table:
    """The table that an argument is, for whoever has something to say of each row by itself.

    Raises
    ------
    TypeError
        As of `table_from`, and for a Frame, whose rows are in no order and stay where they are; `instead`
        says what there is in place of that.
    """
    expect_rows(obj, instead, where)
    return table_from(obj, where, also=also)


def expect_rows(obj: object, instead: str, where: str = "table") -> None:
    """Refuse a Frame where each row counts by itself."""
    if isinstance(obj, Frame):
        raise TypeError(
            f"{where}: expected rows, got a Frame, of which distinct rows alone are fetched: {instead}"
        )


def batches_from(
    obj: AnyTable,
    where: str = "table",
    *,
    weights: str | None = None,
    also: str = "",
    columns: Iterable[str] | None = None,
) -> Table | Source:
    """The table that an argument is, or rows of it batch by batch for whoever needs them once.

    As of `table_from`, but files, Arrow data and record batches are not read yet; `weights` is then left to
    whoever reads them.
    """
    if isinstance(obj, Table | Frame) or (isinstance(obj, Mapping) and not is_path(obj)):
        return table_from(obj, where, weights=weights, also=also, columns=columns)
    if is_path(obj):
        return File(obj, where)
    refuse_far(obj, where)
    return Stream(obj if is_arrow(obj) else record_batches(obj, where, also))


def expect_own_weights(weights: str | None, what: str = "Table") -> None:
    """Refuse weights beside those of a table."""
    if weights is not None:
        raise ValueError(f"weights: a {what} has its own weights; name a column when making it")


def is_batch(obj: object) -> bool:
    """Whether this is a record batch; pyarrow is loaded only for what may be one."""
    return hasattr(obj, "schema") and isinstance(obj, load_pyarrow().RecordBatch)


def record_batches(obj: AnyTable, where: str, also: str = "") -> Iterator[PyArrow]:
    """The batches of an iterable, of which there is at least one."""
    expected = f"{where}: expected {f'{also}, ' if also else ''}{A_TABLE}"
    if not isinstance(obj, Iterable):
        raise TypeError(f"{expected}, got {type(obj).__name__}")
    batches = iter(obj)
    first = next(batches, None)
    if first is None:
        raise NoRowsError(f"{where}: expected at least one record batch, got none")
    if not is_batch(first):
        raise TypeError(f"{expected}, got {type(obj).__name__} of {type(first).__name__}")
    return chain([first], batches)


class EmptyFileError(UnreadableError, NoRowsError):
    """A file without a row."""


@dataclass(frozen=True)
class Batch:
    """Some rows: name -> (codes, values), and the weights of the rows where they have some."""

    columns: dict[str, tuple[Codes, list[Value]]]
    n_rows: int
    weights: Longs | None


class Source(ABC):
    """Something that gives its rows batch by batch.

    Attributes
    ----------
    texts : bool
        Whether all values are text, whose types are found at the end, as in a CSV file.
    n_rows : int
        0 where it is not known.
    names : tuple of str or None
        The columns that were asked for, or all, once the first batch was; what is empty has some too.
    """

    texts = False
    n_rows = 0
    names: tuple[str, ...] | None = None

    def batches(
        self,
        names: Iterable[str] | None,
        weights: str | None = None,
        progress: Progress | None = None,
        *,
        check: bool = True,
    ) -> Iterator[Batch]:
        """The rows from the first one on; no batch is empty.

        Parameters
        ----------
        names : iterable of str or None
            The columns; by default all, that of the weights too.
        weights : str, optional
            The column of the weights.
        progress : callable, optional
            Called after each batch.
        check : bool
            Whether codes are positions in the values beside them; without it that is left to the caller.
        """
        wanted = None if names is None else [*names, *([] if weights is None else [weights])]
        done = total = 0
        weighing = _Weighing(self.texts)
        for columns in self.encoded(wanted, check=check):
            n_rows = weight = len(next(iter(columns.values()))[0])
            weighted = None
            if weights is not None:
                if weights not in columns:
                    raise ValueError(f"expected a column of {', '.join(map(repr, columns))}; got {weights!r}")
                codes, values = columns[weights]
                if not check:
                    check_codes(weights, codes, len(values))
                weighted, weight = weights_of(codes, weighing.numbers(values, weights))
            total += weight
            if total > INT64_MAX:
                raise ValueError("weights must add up to less than 2^63")
            yield Batch(columns, n_rows, weighted)
            done += n_rows
            if progress is not None:
                progress(done, self.n_rows)

    @abstractmethod
    def encoded(
        self, names: list[str] | None, *, check: bool = True
    ) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
        """Batches of name -> (codes, values), from the first row on."""


class _Weighing:
    """The values of a column of weights, batch by batch; texts become integers once."""

    def __init__(self, texts: bool) -> None:
        self._texts = texts
        self._last: list[Value] = []
        self._numbers: list[Value] = []

    def numbers(self, values: list[Value], name: str) -> list[Value]:
        """The values of a batch as they count; a list that was seen before may have grown."""
        if not self._texts:
            return values
        if values is not self._last:
            self._last, self._numbers = values, []
        new = values[len(self._numbers) :]
        self._numbers += typed(new, "int", name) or new
        return self._numbers


def weights_of(codes: Array, values: list[Value]) -> tuple[Longs, int]:
    """The weights of a batch, and their sum: 2^63 where it is that or more."""
    weights = np.zeros(len(values), np.int64)
    for position in np.flatnonzero(used_values(codes, len(values))).tolist():
        value = values[position]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"weights must be integers, got {value!r}")
        if not 1 <= value <= INT64_MAX:
            raise ValueError(f"weights must be 1..2^63-1, got {value}")
        weights[position] = value
    result: Longs = weights[codes]
    _, total = check_weights(result)
    return result, total if total >= 0 else INT64_MAX + 1


class Stream(Source):
    """Arrow data, or record batches; those of an iterator can be read once.

    Attributes
    ----------
    stream : object
        As it was given, for whoever reads a column in another way.
    """

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def encoded(
        self, names: list[str] | None, *, check: bool = True
    ) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
        readers, batches = open_columns(self.stream, names)
        self.names = tuple(readers)
        return encoded(readers, batches, check=check)


class InMemory(Source):
    """A Table, with its own weights."""

    def __init__(self, table: Table) -> None:
        self.table, self.n_rows = table, table.n_rows

    def batches(
        self,
        names: Iterable[str] | None,
        weights: str | None = None,
        progress: Progress | None = None,
        *,
        check: bool = True,
    ) -> Iterator[Batch]:
        expect_own_weights(weights)
        own, start = self.table.weights, 0
        if own is not None and int(check_weights(own)[1]) < 0:
            raise ValueError("weights must add up to less than 2^63")
        for columns in self.encoded(None if names is None else list(names)):
            stop = min(start + MEMORY_ROWS, self.n_rows)
            yield Batch(columns, stop - start, None if own is None else own[start:stop])
            start = stop
            if progress is not None:
                progress(stop, self.n_rows)

    def encoded(
        self, names: list[str] | None, *, check: bool = True
    ) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
        columns = {name: self.table.column(name) for name in (self.table.names if names is None else names)}
        values = {name: list(column.domain.values) for name, column in columns.items()}
        for start in range(0, self.n_rows, MEMORY_ROWS):
            yield {
                name: (column.codes[start : start + MEMORY_ROWS], values[name])
                for name, column in columns.items()
            }


class File(Source):
    """A file, which can be read as often as need be; a CSV file as its ending says, or in another form."""

    def __init__(self, path: AnyPath, where: str = "table", form: CsvForm | None = None) -> None:
        self.path = os.fsdecode(path)
        self.texts = table_ending(self.path, where).kind == "csv"
        with open(self.path, "rb"):  # the usual OSError, with its path
            pass
        self._file: CsvFile | ParquetFile
        if self.texts:
            self._file = CsvFile(self.path, form or CsvForm.of(self.path))
        else:
            load_readers()
            self._file = ParquetFile(self.path)
            self.n_rows = self._file.n_rows

    @property
    def share(self) -> tuple[int, int]:
        """How many bytes of a CSV file were read, and how many there are; nothing of another."""
        if isinstance(self._file, ParquetFile):
            return 0, 0
        size = os.stat(self.path).st_size
        return min(self._file.done, size), size

    def expect(self, names: Iterable[str]) -> None:
        """Refuse columns that are not there."""
        file = self._file
        if isinstance(file, CsvFile):
            file.chosen(names)
        else:
            chosen_names(file.names, names)

    def encoded(
        self, names: list[str] | None, *, check: bool = True
    ) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
        file = self._file
        empty = True
        if isinstance(file, CsvFile):
            wanted = file.chosen(names)
            coded = file.batches(wanted, MOST_HELD)
        else:
            wanted = chosen_names(file.names, names, file.index_names)
            coded = file.encoded(wanted, check=check)
        self.names = tuple(wanted)
        with closing(coded) as columns_of_batches:
            for columns in columns_of_batches:
                empty = False
                yield columns
        if empty:
            raise EmptyFileError(f"{self.path}: no rows", look_at(self.path))
