"""CSV files: the one reader, batch by batch, and tables made of what it reads."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from nbcfast import _csv_rows
from nbcfast._core.dtypes import Array, Codes, Longs
from nbcfast._core.errors import NoColumnError
from nbcfast._core.threads import Progress, n_threads, usual
from nbcfast._reading import csv_blocks
from nbcfast._reading.csv_blocks import (
    BATCH_BYTES,
    CsvRows,
    CsvText,
    Fault,
    FaultError,
    LongRowError,
    TextColumn,
)
from nbcfast._reading.endings import delimiter_of
from nbcfast._reading.hints import Look, UnreadableError, expect_encoding, look_at, misread, refuse_folder
from nbcfast._reading.opened import FileBytes, compression_of, open_file
from nbcfast.table.arrow import chosen_names
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, number_domain, put_together, settle
from nbcfast.table.row_weights import split_weights
from nbcfast.table.table import Table, declared_domains
from nbcfast.table.values import INT64_MAX, INT64_MIN, Value, in_order

BLOCK_BYTES = 1 << 20
PIECE = 1 << 20  # bytes in which lines are counted
COMPRESSED_TO = 4  # how many times as much is in a file that is compressed, about

_NO_CODES = np.empty(0, np.uint8)

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
    refuse_folder(where)
    file = CsvFile(where, form)
    declared = declared_domains(domains)
    size = os.stat(where).st_size
    wanted = file.chosen(columns)
    if not wanted:
        raise ValueError("columns: expected at least one name, got none")
    if weights is not None and weights not in wanted:
        wanted += file.chosen([weights])
    for name in types or ():
        if name not in wanted:
            raise NoColumnError(name, wanted, "types")
    declared_domains(declared, [name for name in wanted if name != weights])
    parts: list[list[Codes]] = []
    found: list[TextColumn] = []
    n_rows = 0
    with closing(file.coded(wanted)) as batches:
        for rows, codes, columns_so_far in batches:
            n_rows += rows
            parts.append(codes)
            found = columns_so_far
            if progress is not None:
                progress(min(file.done, size), size)
    finished = {}
    for place, name in enumerate(wanted):
        rule = (types or {}).get(name)
        if rule is None and name in declared:
            rule = _rule_of(declared[name].kind, name)
        if rule is None and name == weights:
            rule = "int"
        domain, table = settle(
            *_domain(found[place] if found else None, rule, name), declared.get(name), name
        )
        by_column = [codes[place] for codes in parts]
        for codes in parts:
            codes[place] = _NO_CODES  # so that it can go once it is put together
        finished[name] = Column(put_together(by_column, table, len(domain)), domain)
    if progress is not None:
        progress(size, size)
    kept, checked = split_weights(finished, weights, n_rows)
    return Table.from_columns(kept, checked, n_rows)


def _domain(column: TextColumn | None, rule: str | None, name: str) -> tuple[Domain, Longs]:
    """The values of a column by the rule asked for or that which fits, and the place of each code."""
    if column is not None and rule != "text":
        numbers = _numbers(column, rule, name)
        if numbers is not None:
            return number_domain(numbers, column.null)
    texts = [] if column is None else column.texts()
    head = in_order([text for text in texts if text is not None])
    domain = Domain("text" if head else None, head, (None,) if None in texts else (), False)
    return domain, np.fromiter(map(domain.index.__getitem__, texts), np.int64, len(texts))


def _numbers(column: TextColumn, rule: str | None, name: str) -> Array | None:
    """The values of a column as numbers (a null is 0); None where they stay text. As `typed`."""
    if rule is None and column.n == (column.null >= 0):
        return None
    if rule != "float":
        numbers, wrong = column.integers()
        if wrong < 0:
            return numbers
        if rule == "int":
            text = column.texts()[wrong]
            raise ValueError(f"column {name!r}: expected integers of 64 bits, got {text!r}")
    numbers, wrong = column.floats()
    if wrong < 0:
        return numbers
    if rule is None:
        return None
    text = column.texts()[wrong]
    raise ValueError(f"column {name!r}: expected floats as Python writes them, got {text!r}")


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
        if isinstance(null_values, (str, bytes)) or not isinstance(null_values, Iterable):
            raise TypeError(f"null_values: expected a sequence of texts, got {null_values!r}")
        null_values = tuple(null_values)
        for null in null_values:
            if not isinstance(null, str):
                raise TypeError(f"null_values: expected a sequence of texts, got {null!r} in it")
        if delimiter is None:
            delimiter = delimiter_of(path)
        if not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}")
        if not delimiter.isascii() or delimiter in '"\r\n\0':
            raise ValueError(f"delimiter must be an ASCII character that ends no line, got {delimiter!r}")
        if not isinstance(encoding, str):
            raise TypeError(f"encoding must be the name of a text encoding, got {encoding!r}")
        expect_encoding(encoding)
        return cls(delimiter, null_values, encoding)


class CsvFile:
    """A CSV file whose fields are read as text, batch by batch, as often as need be.

    Parameters
    ----------
    path : str
    form : CsvForm
    batch_bytes : int
        How much text is read for a batch, about.
    threads : int, optional
        By default as many as usual.

    Attributes
    ----------
    done : int
        Bytes of the file that were read for the last batch and those before it.
    """

    def __init__(
        self, path: str, form: CsvForm, *, batch_bytes: int = BATCH_BYTES, threads: int | None = None
    ) -> None:
        self.path, self.form = path, form
        self.done = 0
        self._batch_bytes, self._threads = batch_bytes, threads
        self._names: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """The columns: the fields of the first line."""
        if self._names is None:
            with self._errors(), open_file(self.path, self.form.encoding) as source:
                self._names = self._header(self._text(source))
        return list(self._names)

    def chosen(self, names: Iterable[str] | None) -> list[str]:
        """The columns asked for, or all; where the whole header is one name the error says how to read it."""
        try:
            return chosen_names(self.names, names)
        except NoColumnError as error:
            if (
                (look := self._look) is not None
                and look.reading is not None
                and look.reading[0] == "delimiter"
            ):
                mark = look.reading[1]
                error.look = f"it looks like {look.like}: nbcfast.read_csv reads it with delimiter={mark!r}"
            raise

    def batches(
        self, names: Sequence[str], most_held: int | None = None
    ) -> Generator[dict[str, tuple[Codes, list[Value]]], None, None]:
        """Batches of name -> (codes, values): a list of texts a column, which is the same in all and grows.

        Once a column has more than `most_held` texts those of all columns are let go, and lists begin anew.
        """
        with closing(self.coded(names, most_held)) as batches:
            for _, codes, columns in batches:
                yield {name: (codes[place], columns[place].texts()) for place, name in enumerate(names)}

    def coded(
        self, names: Sequence[str], most_held: int | None = None
    ) -> Generator[tuple[int, list[Codes], list[TextColumn]], None, None]:
        """Batches of a number of rows, codes, and what is known of the columns so far; none is empty."""
        present = self.names
        form = self.form
        with self._errors(names), open_file(self.path, form.encoding) as source:
            text = self._text(source)
            if self._header(text) != present:
                raise OSError(f"{self.path}: it was changed while it was read")
            places = [present.index(name) for name in names] or [0]  # one at least, which counts the rows
            size = os.stat(self.path).st_size if os.path.isfile(self.path) else None
            threads = usual() if self._threads is None else self._threads
            if size is not None and self._threads is None:
                threads = n_threads(None, size * (1 if compression_of(self.path) is None else COMPRESSED_TO))
            rows = CsvRows(text, form.delimiter, len(present), places, form.null_values, threads)
            for n_rows, codes in rows.batches(most_held, self._batch_bytes):
                self.done = text.done
                yield n_rows, codes, rows.columns

    def _text(self, source: FileBytes) -> CsvText:
        return CsvText(source, self.form.delimiter, min(BLOCK_BYTES, self._batch_bytes))

    def _header(self, text: CsvText) -> list[str]:
        fields, quote = text.header()
        if not fields:
            raise self._unreadable("the file is empty, and a line with the names of columns is wanted")
        if quote >= 0:
            raise self._unreadable(
                f"{self._at(quote) or 'the names'}: a quote that is opened and never closed makes one name "
                "of all that follows"
            )
        names = [name.decode() for name in fields]
        for name in names:
            if "\0" in name:
                raise self._unreadable(f"expected names of columns without a NUL, got {name!r}")
        return names

    @contextmanager
    def _errors(self, names: Sequence[str] = ()) -> Iterator[None]:
        """What is wrong with the file, in one line that names it."""
        try:
            yield
        except UnicodeError as error:
            found = misread(self.path, self.form.encoding)
            raise self._unreadable(str(error)) if found is None else found from None
        except LongRowError:
            raise self._unreadable(
                f"a row is longer than {csv_blocks.LARGEST_BLOCK:,} bytes, and no longer ones are read; a "
                "quote that is opened and never closed makes one row of all that follows"
            ) from None
        except FaultError as error:
            raise self._told(error.fault, error.rows, names) from None
        except OSError as error:
            if error.filename is not None or str(error).startswith(self.path):
                raise
            hint = "" if (look := self._look) is None or look.reading else f"; {look.text()}"
            raise OSError(f"{self.path}: {error}{hint}") from None

    @property
    def _look(self) -> Look | None:
        return look_at(self.path, self.form.delimiter, self.form.encoding)

    def _unreadable(self, message: str) -> UnreadableError:
        return UnreadableError(f"{self.path}: {message}", self._look)

    def _told(self, fault: Fault, rows: int, names: Sequence[str]) -> UnreadableError:
        """What is wrong in a row: its line, and no field of it, which is private."""
        if fault.kind == _csv_rows.RAGGED:
            where = self._at(fault.row) or f"row {rows + 2:,}, where the names are row 1"
            message = f"{where}: expected {len(self.names):,} fields as there are names, got {fault.fields:,}"
            if fault.quote >= 0:
                line = self._at(fault.quote)
                message += f", as a quote{line and ' in '}{line} is opened and never closed"
            return self._unreadable(message)
        name = names[fault.column] if names else self.names[0]
        if fault.kind == _csv_rows.NO_UTF8:
            found = misread(self.path, self.form.encoding, (fault.place, name))
            if found is not None:
                return found
        what = "a NUL, which no text has" if fault.kind == _csv_rows.NUL else "bytes that are not UTF-8"
        line = self._at(fault.place)
        return self._unreadable(f"{line}{line and ', '}column {name!r}: {what}")

    def _at(self, place: int) -> str:
        """The line in which a byte of the text stands; nothing where the file can be read once."""
        if not os.path.isfile(self.path):
            return ""
        lines, after_cr = 1, False
        with open_file(self.path, self.form.encoding) as source:
            while place > 0 and (piece := source.read(min(place, PIECE))):
                lines += piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
                lines -= after_cr and piece.startswith(b"\n")
                after_cr = piece.endswith(b"\r")
                place -= len(piece)
        return f"line {lines:,}"


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
