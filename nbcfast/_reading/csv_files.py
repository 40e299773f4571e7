"""CSV files: the one reader, batch by batch, and tables made of what it reads; pyarrow reads."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from nbcfast._core.errors import NoColumnError
from nbcfast._core.threads import Progress, usual
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import delimiter_of
from nbcfast._reading.hints import Look, UnreadableError, expect_encoding, look_at, misread, refuse_folder
from nbcfast._reading.opened import compression_of, open_file
from nbcfast.table import arrow
from nbcfast.table.encode import ColumnBuilder
from nbcfast.table.row_weights import split_weights
from nbcfast.table.table import Table, declared_domains
from nbcfast.table.values import INT64_MAX, INT64_MIN, Value

BLOCK_BYTES = 1 << 20
LARGEST_BLOCK = 1 << 30

Result = TypeVar("Result")

# Of pyarrow, which goes on with the row itself: that is private, and what is printed is kept.
_FIELDS = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns?, got (\d+)")

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
        As Python names it, as "utf-16" or "cp1252"; the file is decoded as it is read.
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
        It says what the file looks like, where that is something else.

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
    refuse_folder(where)
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
        expect_encoding(encoding)
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
                with csv.open_csv(stream, *self._options(False), any_types) as batches:
                    self._names = list(batches.schema.names)
        return list(self._names)

    def batches(self, names: Sequence[str]) -> Generator[PyArrow, None, None]:
        """Record batches of these columns, each a dictionary of texts."""
        from pyarrow import csv

        present = self.names
        pa = arrow.load_pyarrow()
        read, parse = self._options(self.threads)
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

    def _options(self, threads: bool) -> tuple[PyArrow, PyArrow]:
        from pyarrow import csv

        read = csv.ReadOptions(block_size=self.block, use_threads=threads)
        return read, csv.ParseOptions(delimiter=self.form.delimiter, newlines_in_values=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What is wrong with the file, in one line that names it."""
        pa = arrow.load_pyarrow()
        try:
            yield
        except UnicodeError as error:
            raise self._undecodable(arrow.one_line(error)) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
            message = arrow.one_line(error)
            if "invalid UTF8" in message:
                raise self._undecodable(message) from None
            if message == "Empty CSV file":
                message = "the file is empty, and a line with the names of columns is wanted"
            cls = UnreadableError
            if "straddling" in message or "or block" in message:
                cls = LongRowError
                message = (
                    f"a row is longer than {self.block:,} bytes, and no longer ones are read; a quote that "
                    "is opened and never closed makes one row of all that follows"
                )
            elif (found := _FIELDS.search(message)) is not None:
                row, expected, got = found.groups()
                if self.threads and row is None:
                    cls = LostRowError
                where = "a row" if row is None else f"row {int(row):,}, where the names are row 1"
                message = f"{where}: expected {int(expected):,} fields as there are names, got {int(got):,}"
            raise cls(f"{self.path}: {message}", self._look) from None
        except pa.ArrowException as error:
            raise OSError(f"{self.path}: {arrow.one_line(error)}") from None
        except (KeyError, IndexError) as error:
            raise ValueError(f"{self.path}: {arrow.one_line(error)}") from None
        except OSError as error:
            if error.filename is not None:
                raise
            hint = "" if (look := self._look) is None or look.reading else f"; {look.text()}"
            raise OSError(f"{self.path}: {arrow.one_line(error)}{hint}") from None

    @property
    def _look(self) -> Look | None:
        return look_at(self.path, self.form.delimiter, self.form.encoding)

    def _undecodable(self, message: str) -> ValueError:
        """Where the file is not of its encoding, or else what was said of that."""
        found = misread(self.path, self.form.encoding)
        return UnreadableError(f"{self.path}: {message}", self._look) if found is None else found


class LongRowError(UnreadableError):
    """A row is longer than a block."""


class LostRowError(UnreadableError):
    """A row has too many or too few fields, and only one thread would know its number."""


def located(file: CsvFile, error: UnreadableError) -> UnreadableError:
    """The error for whoever cannot read again, with the number of the row, for which it is counted anew."""
    if isinstance(error, LostRowError) and os.path.isfile(file.path):
        again = CsvFile(file.path, file.form, block=file.block, threads=False)
        try:
            with closing(again.batches(again.names[:1])) as batches:
                for _ in batches:
                    pass
        except UnreadableError as found:
            error = found
    return UnreadableError(error.told, error.look)


def read_whole(
    path: str, form: CsvForm, read: Callable[[CsvFile], Result], again: Callable[[], None] | None = None
) -> Result:
    """What `read` makes of a file; it is called again for rows that are longer than a block.

    `again` is called before that, so that what the attempt has left can be thrown away.
    """
    largest = LARGEST_BLOCK
    if compression_of(path) is None:  # else there is more in it than its size
        largest = min(os.stat(path).st_size, LARGEST_BLOCK)
    block, threads = BLOCK_BYTES, usual() > 1
    while True:
        try:
            return read(CsvFile(path, form, block=block, threads=threads))
        except LongRowError as error:
            if block >= largest:
                raise UnreadableError(error.told, error.look) from None
            block = min(block * 8, LARGEST_BLOCK)
        except LostRowError:
            threads = False
        if again is not None:
            again()


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
