"""Columns of files whose codes are on disk, and the files that they are spilled to.

What is spilled are codes of all private rows. The files have no name that would outlive the process, however
it ends, nobody else may read them, and they never lie in the folder of what is published.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import IO, Any

import numpy as np

from nbcfast._core.dtypes import Array, Codes
from nbcfast._core.files import NO_ROOM
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.csv_files import CsvFile, CsvForm, typed
from nbcfast._reading.hints import table_ending
from nbcfast._reading.parquet import ParquetFile
from nbcfast.table.arrow import add_batches, chosen_names, load_readers
from nbcfast.table.domain import Domain
from nbcfast.table.encode import ColumnBuilder, DomainBuilder

SHORTER = "a spill file is shorter than what was written to it"


class SpilledColumn(ColumnBuilder):
    """A column whose codes, as they were first met, go to a file; only the distinct values are in memory."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        super().__init__(name)
        self._file = file
        self._blocks: list[tuple[int, np.dtype[np.generic]]] = []
        self.domain = Domain(None, (), (), False)
        self.table = np.empty(0, np.int64)  # code as first met -> code in the domain

    def _keep(self, codes: Codes) -> None:
        write_all(self._file.write, np.ascontiguousarray(codes))
        if self._blocks and self._blocks[-1][1] == codes.dtype:
            self._blocks[-1] = self._blocks[-1][0] + len(codes), codes.dtype
        else:
            self._blocks.append((len(codes), codes.dtype))
        self.n_rows += len(codes)

    def settle(self, values: Sequence[object] | None) -> None:
        """Decide the domain. `values` puts others in the place of those of distinct_texts()."""
        if self._builder is None:
            self._builder = DomainBuilder(self.name)
        if values is None:
            self.domain, self.table = self._builder.finish(None)
        else:
            other = DomainBuilder(self.name)
            first = other.add(values)
            self.domain, table = other.finish(None)
            self.table = table[first]

    def chunks(self, n: int) -> Iterator[Codes]:
        """The codes as they were first met, n rows at a time."""
        widest = max((dtype for _, dtype in self._blocks), key=lambda dtype: dtype.itemsize)
        position = 0  # of our own: a column may be read twice at once
        out, filled = np.empty(n, widest), 0
        for size, dtype in self._blocks:
            left = size
            while left:
                part = np.empty(min(left, n - filled), dtype)
                read_at(self._file.fileno(), part, position)
                position += part.nbytes
                out[filled : filled + len(part)] = part
                filled += len(part)
                left -= len(part)
                if filled == n:
                    yield out
                    out, filled = np.empty(n, widest), 0
        if filled:
            yield out[:filled]

    def close(self) -> None:
        self._file.close()


class Spill:
    """Files for what does not fit into memory, which are gone when they are closed, or with the process."""

    def __init__(self, folder: str | None) -> None:
        self.folder = temporary_folder() if folder is None else folder
        if not os.path.isdir(self.folder):
            raise ValueError(f"spill: expected a folder, got {self.folder!r}")
        self._files: list[IO[bytes]] = []

    def new(self) -> IO[bytes]:
        """A file that has no name, or loses it before anything is in it."""
        flags = os.O_RDWR | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        handle = -1
        if hasattr(os, "O_TMPFILE"):
            with suppress(OSError):  # not on every file system
                handle = os.open(self.folder, flags | os.O_TMPFILE, 0o600)
        if handle < 0:
            name = os.path.join(self.folder, f".nbcfast-{os.urandom(8).hex()}")
            try:
                handle = os.open(name, flags | os.O_CREAT, 0o600)
            except OSError as error:
                raise self._about(error) from None  # and not about a name that nobody has seen
            finally:
                try:
                    _remove(name)
                except BaseException:  # a signal
                    _remove(name)
                    raise
        file = os.fdopen(handle, "w+b", buffering=0)
        self._files.append(file)
        return file

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        for file in self._files:
            file.close()
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise self._about(error) from error

    def _about(self, error: OSError) -> OSError:
        return OSError(
            error.errno,
            f"{os.strerror(error.errno or 0)}, and rows are spilled to this folder: --spill DIR (in Python "
            "spill=) names another one",
            self.folder,
        )


def temporary_folder() -> str:
    """Where the system keeps temporary files.

    `tempfile.gettempdir` finds it by writing a file there, and takes the working folder if all else fails,
    where something may be published.
    """
    if tempfile.tempdir is not None:
        return os.fsdecode(tempfile.tempdir)
    for name in (*map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp", "/var/tmp", "/usr/tmp"):
        if name and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK):
            return os.path.abspath(name)
    raise ValueError("spill: no folder for temporary files can be written: --spill DIR (spill=) names one")


def _remove(name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name)


CSV_OPTIONS = ("delimiter", "null_values", "types", "encoding")


def read_columns(
    path: str, names: list[str], weights: str | None, spill: Spill, options: Mapping[str, Any]
) -> dict[str, SpilledColumn]:
    """The columns of a file, their codes spilled; `options` are those of a CSV file."""
    kind = table_ending(path, "table").kind
    with open(path, "rb"):  # the usual OSError, with its path
        pass
    if kind == "parquet":
        if options:
            raise ValueError(f"csv: options are for CSV files, got {sorted(options)} for {path!r}")
        load_readers()
        columns = _read_parquet(path, names, [spill.new() for _ in names])
        for column in columns.values():
            column.settle(None)
    else:
        columns = _read_csv(path, names, weights, [spill.new() for _ in names], options)
    if next(iter(columns.values())).n_rows == 0:
        raise ValueError("no rows")
    return columns


def _read_parquet(path: str, names: list[str], files: Sequence[IO[bytes]]) -> dict[str, SpilledColumn]:
    file = ParquetFile(path, eager=False)
    chosen_names(file.names, names)
    file.expect_readable(names)
    return _filled(names, files, file.batches(names))


def _read_csv(
    path: str, names: list[str], weights: str | None, files: Sequence[IO[bytes]], options: Mapping[str, Any]
) -> dict[str, SpilledColumn]:
    for option in options:
        if option not in CSV_OPTIONS:
            raise ValueError(f"csv: expected options of {', '.join(CSV_OPTIONS)}; got {option!r}")
    rules = dict(options.get("types") or {})
    form = CsvForm.of(path, **{name: value for name, value in options.items() if name != "types"})

    file = CsvFile(path, form)
    chosen_names(file.names, names)
    columns = _columns(names, files)
    with closing(file.batches(names)) as batches:
        for batch in batches:
            for name, (codes, values) in batch.items():
                columns[name].add_coded(codes, values)
    for name, column in columns.items():
        rule = rules.get(name, "int" if name == weights else None)
        column.settle(typed(column.distinct_texts(), rule, name))
    return columns


def _filled(
    names: list[str], files: Sequence[IO[bytes]], batches: Generator[PyArrow, None, None]
) -> dict[str, SpilledColumn]:
    columns = _columns(names, files)
    with closing(batches):
        for _ in add_batches(columns, batches):
            pass
    return columns


def _columns(names: list[str], files: Sequence[IO[bytes]]) -> dict[str, SpilledColumn]:
    return {name: SpilledColumn(name, file) for name, file in zip(names, files, strict=True)}


def read_at(descriptor: int, into: Array, position: int) -> None:
    view, done = into.data.cast("B"), 0
    while done < len(view):
        data = os.pread(descriptor, min(len(view) - done, 1 << 30), position + done)
        if not data:
            raise OSError(SHORTER)
        view[done : done + len(data)] = data
        done += len(data)


def write_all(write: Callable[[memoryview], int | None], rows: Array) -> None:
    view, done = rows.data.cast("B"), 0
    while done < len(view):
        done += write(view[done : done + (1 << 30)]) or 0
