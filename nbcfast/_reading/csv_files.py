"""CSV files: the one reader, batch by batch, and tables made of what it reads; pyarrow reads."""

from __future__ import annotations

import atexit
import codecs
import math
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import FileIO
from typing import TypeVar

from nbcfast._core.errors import NoColumnError
from nbcfast._core.threads import Progress
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import COMPRESSED, delimiter_of
from nbcfast.table import arrow
from nbcfast.table.encode import ColumnBuilder
from nbcfast.table.row_weights import split_weights
from nbcfast.table.table import Table, declared_domains
from nbcfast.table.values import INT64_MAX, INT64_MIN, Value

BLOCK_BYTES = 1 << 20
LARGEST_BLOCK = 1 << 30

Result = TypeVar("Result")

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def read_csv(
    path: str | os.PathLike[str],
    columns: Iterable[str] | None = None,
    null_values: Sequence[str] = ("",),
    *,
    types: Mapping[str, str] | None = None,
    domains: Mapping[str, Iterable[object]] | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf8",
    progress: Progress | None = None,
) -> Table:
    r"""Read a CSV file with a header; quotes, line breaks inside quotes, and .gz are understood.

    A quote that is opened and never closed reaches to the end of the file, as everywhere in CSV.
    An empty line is no row, unless the file has a single column: there it is a null.

    A column becomes int if all its values are written as integers are (``-12``, not ``007``), else float if
    all are written as Python writes floats, or are such integers up to 2^53; otherwise it stays text. Dates
    and bools stay text.

    Parameters
    ----------
    path : str or path
        The file.
    columns : sequence of str, optional
        The columns to read, in this order; all by default.
    null_values : sequence of str
        Fields that are nulls, quoted or not. They take the place of the default, the empty field.
    types : mapping of name -> "text", "int" or "float", optional
        The type of a column, whatever its values look like.
    domains : mapping of name -> sequence, optional
        Declared domains, as of Table; they decide the types of their columns.
    weights : str, optional
        The column of weights.
    delimiter : str, optional
        One character; by default a tab for a file of .tsv (also compressed), else a comma.
    encoding : str
        As Python names it.
    progress : callable, optional
        Called with the bytes read and the bytes in all after each batch.

    Returns
    -------
    Table

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a CSV file of this encoding, rows differ in length, or names are unknown or given twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,zip\n39,02138\n,10115\n")
    ...     table = read_csv(path)
    >>> table.domain("age"), table.domain("zip")
    ((39, None), ('02138', '10115'))
    """
    where = os.fsdecode(path)
    _check_types(types)
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"weights: expected the name of a column, got {type(weights).__name__}")
    form = CsvForm.of(where, delimiter, null_values, encoding)
    arrow.load_readers()
    # It may be an iterator, and reading may start again.
    columns = columns if columns is None or isinstance(columns, str) else list(columns)
    declared = declared_domains(domains)
    size = os.stat(where).st_size

    def read(file: CsvFile) -> dict[str, ColumnBuilder]:
        """All fields as text, dictionary-encoded block by block."""
        wanted = arrow.chosen_names(file.names, columns)
        if not wanted:
            raise ValueError("columns: expected at least one name, got none")
        if weights is not None and weights not in wanted:
            wanted += arrow.chosen_names(file.names, [weights])
        for name in types or ():
            if name not in wanted:
                raise NoColumnError(name, wanted, "types")
        declared_domains(declared, [name for name in wanted if name != weights])
        builders = {name: ColumnBuilder(name) for name in wanted}
        with closing(file.batches(wanted)) as batches:
            for _ in arrow.add_batches(builders, batches):
                if progress is not None:
                    progress(min(file.done, size), size)
        return builders

    builders = read_whole(where, form, read)
    finished = {}
    for name in list(builders):
        rule = (types or {}).get(name)
        if rule is None and name in declared:
            rule = _rule_of(declared[name].kind, name)
        if rule is None and name == weights:
            rule = "int"
        values = typed(builders[name].distinct_texts(), rule, name)
        finished[name] = builders.pop(name).finish(declared.get(name), values)
    n_rows = len(next(iter(finished.values())).codes)
    if progress is not None:
        progress(size, size)
    kept, checked = split_weights(finished, weights, n_rows)
    return Table.from_columns(kept, checked, n_rows)


def _check_types(types: Mapping[str, str] | None) -> None:
    for name, rule in (types or {}).items():
        if rule not in ("text", "int", "float"):
            raise ValueError(f"types: expected 'text', 'int' or 'float' for column {name!r}, got {rule!r}")


def _rule_of(kind: str | None, name: str) -> str:
    if kind in ("bool", "interval"):
        raise ValueError(
            f"domain of column {name!r}: expected text or numbers, as CSV files hold, got {kind}"
        )
    return kind or "text"


@dataclass(frozen=True)
class CsvForm:
    """How a CSV file is written."""

    delimiter: str = ","
    null_values: tuple[str, ...] = ("",)
    encoding: str = "utf8"

    @classmethod
    def of(
        cls,
        path: str,
        delimiter: str | None = None,
        null_values: Sequence[str] = ("",),
        encoding: str = "utf8",
    ) -> CsvForm:
        """The form that was asked for, checked; the delimiter is by default that of the file's ending."""
        if isinstance(null_values, (str, bytes)):
            raise TypeError(f"null_values: expected a sequence of texts, got {null_values!r}")
        if delimiter is None:
            delimiter = delimiter_of(path)
        if not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}")
        if not delimiter.isascii() or delimiter in '"\r\n\0':
            raise ValueError(f"delimiter must be an ASCII character that ends no line, got {delimiter!r}")
        if not isinstance(encoding, str):
            raise TypeError(f"encoding must be the name of a text encoding, got {encoding!r}")
        return cls(delimiter, tuple(null_values), encoding)


class CsvFile:
    """A CSV file whose fields are read as text, batch by batch, as often as need be.

    Attributes
    ----------
    done : int
        Bytes of the file that were read for the last batch and those before it.
    """

    def __init__(self, path: str, form: CsvForm, *, block: int = BLOCK_BYTES, threads: bool = True) -> None:
        self.path, self.form, self.block, self.threads = path, form, block, threads
        self.done = 0
        self._names: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """The columns: the fields of the first line."""
        if self._names is None:
            from pyarrow import csv

            # Only the names: whatever types pyarrow guesses, it guesses them from the first block.
            with self._errors(), open_file(self.path, self.form.encoding) as (_, stream):
                any_types = csv.ConvertOptions(check_utf8=False)
                with csv.open_csv(stream, *self._options(), any_types) as batches:
                    self._names = list(batches.schema.names)
        return list(self._names)

    def batches(self, names: Sequence[str]) -> Generator[PyArrow, None, None]:
        """Record batches of these columns, each a dictionary of texts."""
        from pyarrow import csv

        present = self.names
        pa = arrow.load_pyarrow()
        read, parse = self._options()
        # With one column an empty line is a row, and no row is dropped.
        parse.ignore_empty_lines = len(present) > 1
        convert = csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
            null_values=list(self.form.null_values),
            strings_can_be_null=True,
        )
        with (
            self._errors(),
            open_file(self.path, self.form.encoding) as (source, stream),
            csv.open_csv(stream, read, parse, convert) as batches,
        ):
            for batch in batches:
                self.done = source.done
                yield batch

    def _options(self) -> tuple[PyArrow, PyArrow]:
        from pyarrow import csv

        read = csv.ReadOptions(block_size=self.block, use_threads=self.threads)
        return read, csv.ParseOptions(delimiter=self.form.delimiter, newlines_in_values=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What is wrong with the file, in one line that names it."""
        pa = arrow.load_pyarrow()
        try:
            yield
        except UnicodeError as error:
            raise ValueError(f"{self.path}: {arrow.one_line(error)}") from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
            message = arrow.one_line(error)
            cls: type[ValueError] = ValueError
            if "straddling" in message or "or block" in message:
                cls = LongRowError
            elif self.threads and "Expected" in message and "Row #" not in message:
                cls = LostRowError
            raise cls(f"{self.path}: {message}") from None
        except pa.ArrowException as error:
            raise OSError(f"{self.path}: {arrow.one_line(error)}") from None
        except LookupError as error:
            if isinstance(error, (KeyError, IndexError)):
                raise ValueError(f"{self.path}: {arrow.one_line(error)}") from None
            raise ValueError(f"encoding: {error}") from None
        except OSError as error:
            if error.filename is not None:
                raise
            raise OSError(f"{self.path}: {arrow.one_line(error)}") from None


class LongRowError(ValueError):
    """A row is longer than a block."""


class LostRowError(ValueError):
    """A row has too many or too few fields, and only one thread would know its number."""


def read_whole(
    path: str, form: CsvForm, read: Callable[[CsvFile], Result], again: Callable[[], None] | None = None
) -> Result:
    """What `read` makes of a file; it is called again for rows that are longer than a block.

    `again` is called before that, so that what the attempt has left can be thrown away.
    """
    largest = LARGEST_BLOCK
    if compression_of(path) is None:  # else there is more in it than its size
        largest = min(os.stat(path).st_size, LARGEST_BLOCK)
    block, threads = BLOCK_BYTES, True
    while True:
        try:
            return read(CsvFile(path, form, block=block, threads=threads))
        except LongRowError as error:
            if block >= largest:
                raise ValueError(str(error)) from None
            block = min(block * 8, LARGEST_BLOCK)
        except LostRowError:
            threads = False
        if again is not None:
            again()


def compression_of(path: str) -> str | None:
    """How a file is compressed by its name, whatever comes before: "people.data.gz" is as well."""
    return COMPRESSED.get(os.path.splitext(path)[1].lower())


@contextmanager
def open_file(path: str, encoding: str) -> Iterator[tuple[_Source, PyArrow]]:
    """The source, and it as a stream of UTF-8 (decompressed where the name says so)."""
    pa = arrow.load_pyarrow()
    compression = compression_of(path)
    with open(path, "rb", buffering=0) as file:
        inner = pa.PythonFile(file, mode="r")
        if compression:
            inner = pa.CompressedInputStream(inner, compression)
        if codecs.lookup(encoding).name != "utf-8":
            inner = pa.transcoding_input_stream(inner, encoding, "utf8")
        with closing(_Source(file, inner)) as source:
            yield source, pa.PythonFile(source, mode="r")


_live: weakref.WeakSet[_Source] = weakref.WeakSet()


@atexit.register
def _settle(seconds: float = 1.0, closed_seconds: float = 30.0) -> None:
    """Wait, no longer than so many seconds, for pyarrow's threads to let go of what they read from.

    A thread that asks for the interpreter's lock when the interpreter is gone aborts the process. A stream
    that is closed and still there is held by such a thread alone, which on a busy machine comes late; one
    that is open may be held by somebody who left a reader half-way, and that may be for ever.
    """
    start = time.monotonic()
    while len(_live):
        most = closed_seconds if any(source.closed for source in _live) else seconds
        if time.monotonic() - start >= most:
            break
        time.sleep(0.001)


class _Source:
    """The bytes of a stream, in blocks that suit pyarrow's CSV reader, until it is closed.

    The reader goes on reading ahead in threads of its own for a while after it is closed. A file that is
    opened next gets the same descriptor, and such a late read would take a block out of it. And the reader
    drops a line feed at the start of a block if the one before ended in a carriage return, also inside
    quotes; so no block ends in one.
    """

    def __init__(self, file: FileIO, stream: PyArrow) -> None:
        self._lock = threading.Lock()
        self._file = file
        self._stream = stream
        self._kept = b""
        self.closed = False
        _live.add(self)

    @property
    def done(self) -> int:
        """Bytes of the file that were read."""
        with self._lock:
            return 0 if self.closed else int(self._file.tell())

    def read(self, n: int = -1) -> bytes:
        with self._lock:
            if self.closed:
                return b""
            block: bytes = self._kept + self._stream.read(n if n < 0 else max(n - len(self._kept), 1))
            self._kept = b""
            while block.endswith(b"\r") and (more := self._stream.read(1)):
                before = block.rstrip(b"\r")
                if before:
                    block, self._kept = before, block[len(before) :] + more
                else:
                    block += more
            return block

    def close(self) -> None:
        with self._lock:
            self.closed = True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """Nothing is written."""


def typed(texts: list[Value], rule: str | None, name: str) -> list[Value] | None:
    """The distinct texts as numbers, by the rule asked for or the one that fits; None where they stay text.

    A canonical integer is ``0`` or digits without leading zero, possibly after a minus; a canonical decimal
    is how Python writes that float, or a canonical integer of at most 2^53 in size.
    """
    if rule == "text":
        return None
    present = [text for text in texts if isinstance(text, str)]
    if rule is None and not present:
        return None
    if rule != "float":
        if all(map(_INTEGER.fullmatch, present)):
            integers = [
                None if text is None else int(str(text)) if len(str(text)) < 21 else 2**64 for text in texts
            ]
            if all(number is None or INT64_MIN <= number <= INT64_MAX for number in integers):
                return list(integers)
        if rule == "int":
            wrong = next(text for text in present if not _is_int64(text))
            raise ValueError(f"column {name!r}: expected integers of 64 bits, got {wrong!r}")
    floats: list[Value] = []
    for text in texts:
        number = None if text is None else _float_of(str(text))
        if number is None and text is not None:
            if rule is None:
                return None
            raise ValueError(f"column {name!r}: expected floats as Python writes them, got {text!r}")
        floats.append(number)
    return floats


def _is_int64(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text)) and len(text) < 21 and INT64_MIN <= int(text) <= INT64_MAX


def _float_of(text: str) -> float | None:
    """The float that a text is the canonical writing of, or None."""
    if len(text) < 18 and _INTEGER.fullmatch(text):
        return float(text) if abs(int(text)) <= 2**53 else None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if repr(number) == text and math.isfinite(number) else None
