"""What the beginning of a file says before it is read: its columns, and which of them look like counts."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path

from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._reading.endings import delimiter_of, is_parquet
from nbcfast._reading.opened import open_file
from nbcfast._wire.messages import printable
from nbcfast.table.arrow import load_readers
from nbcfast.table.table import Table

LONGEST_HEADER = 1 << 24  # bytes
BLOCK = 1 << 16
LONGEST = 1 << 20  # bytes of a beginning
MOST_ROWS = 1_000  # of a beginning
LIKE_COUNTS = re.compile(
    r"(n|cnt|counts?|weights?|wt|wgt|freqs?|frequency|frequencies|times|occurrences|multiplicity|people|"
    r"persons)|(n|num|number)_?(rows|people|persons|records|of_(rows|people|persons|records))|row_?counts?",
    re.IGNORECASE,
)
WHOLE = re.compile(r"0*[1-9][0-9]{0,17}")


def header_of(file: Path, delimiter: str | None, encoding: str | None = None) -> list[str] | None:
    """The columns of a file, from its beginning alone; None where reading it will say what is wrong."""
    if not file.is_file():  # nobody writes to a pipe twice
        return None
    if is_parquet(file):
        pa = load_readers()
        with suppress(OSError, pa.ArrowException):
            return list(import_module("pyarrow.parquet").read_schema(file).names)
        return None
    with suppress(OSError, csv.Error, TypeError, LookupError, UnicodeError):
        header = _first_bytes(file, LONGEST_HEADER, encoding, line=True).decode("utf-8-sig")
        return next(csv.reader(io.StringIO(header, newline=""), delimiter=_mark(file, delimiter)), [])
    return None


def _first_bytes(file: Path, most: int, encoding: str | None, line: bool = False) -> bytes:
    """The first bytes of a file, decompressed and in UTF-8: so many, or those of its first line of fields."""
    read = bytearray()
    start = quotes = 0
    with open_file(str(file), encoding or "utf8") as source:
        while len(read) < most and (block := source.read(BLOCK)):
            read += block
            # A line ends where no quote is open, as a quoted name may have lines of its own.
            while line and (end := read.find(b"\n", start)) >= 0:
                quotes += read.count(b'"', start, end)
                start = end + 1
                if quotes % 2 == 0:
                    return bytes(read[:start])
    return bytes(read[:most])


def _mark(file: Path, delimiter: str | None) -> str:
    """What stands between fields."""
    mark = delimiter_of(file) if delimiter is None else delimiter
    return mark.replace("\\t", "\t")


def beginning_of(file: Path, delimiter: str | None, encoding: str | None = None) -> dict[str, list[str]]:
    """The texts of the first rows, column by column; nothing where reading the file will say what is wrong.

    A number that a Parquet file holds as a float is none of the whole ones, even if it has no fraction.
    """
    if not file.is_file():  # what else is read, as a pipe, can be read once
        return {}
    if is_parquet(file):
        pa = load_readers()
        with suppress(OSError, StopIteration, pa.ArrowException):
            opened = import_module("pyarrow.parquet").ParquetFile(file)
            with opened:
                batch = next(opened.iter_batches(batch_size=MOST_ROWS))
                return {
                    column: ["" if value is None else str(value) for value in texts]
                    for column, texts in batch.to_pydict().items()
                }
        return {}
    with suppress(OSError, csv.Error, TypeError, LookupError, UnicodeError):
        read = _first_bytes(file, LONGEST, encoding)
        if len(read) == LONGEST:  # the last line is not whole
            read = read[: read.rfind(b"\n") + 1]
        lines = csv.reader(
            io.StringIO(read.decode("utf-8-sig"), newline=""), delimiter=_mark(file, delimiter)
        )
        header = next(lines, [])
        rows = [row for row in islice(lines, MOST_ROWS) if len(row) == len(header)]
        if len(set(header)) == len(header):
            return {column: [row[place] for row in rows] for place, column in enumerate(header)}
    return {}


def uncounted(
    file: Path,
    weights: str | None,
    delimiter: str | None,
    used: Collection[str],
    implied: bool = False,
    words: Arguments = ARGUMENTS,
    encoding: str | None = None,
) -> list[str]:
    """A remark on each column that may say how often a row counts, and was not asked to.

    That is a column of whole numbers from 1, not all of them 1, that the command does not name, and that is
    called as counts are. Where columns are not used at all one of any name is meant if it is the only one of
    such numbers and the rows differ without it, though no column by itself tells them apart: so looks a table
    in which equal rows were counted, and not one of people with an age.

    `used` are the columns that the command names; `implied` says that it uses those it does not name too;
    `words` are those of the caller.
    """
    if weights is not None:
        return []
    return like_counts(beginning_of(file, delimiter, encoding), used, implied, words)


def beginning_of_table(table: Table) -> dict[str, list[str]]:
    """The texts of the first rows of a table that was no file; what is text there is never a whole number."""
    columns = {}
    for name in table.names:
        values = table.domain(name)
        first = [values[code] for code in table.codes(name)[:MOST_ROWS].tolist()]
        columns[name] = [repr(value) if isinstance(value, str) else str(value) for value in first]
    return columns


def like_counts(
    columns: dict[str, list[str]],
    used: Collection[str],
    implied: bool,
    words: Arguments = ARGUMENTS,
    *,
    of_table: bool = False,
) -> list[str]:
    """A remark on each of these columns that may say how often a row counts; see `uncounted`.

    A Table has its own weights from the start, so `of_table` says that they are given where it is made.
    """
    numbers = [
        name
        for name, texts in columns.items()
        if texts and all(map(WHOLE.fullmatch, texts)) and any(int(text) > 1 for text in texts)
    ]
    counting = [name for name in numbers if name not in used and LIKE_COUNTS.fullmatch(name.strip())]
    if not counting and not implied and len(numbers) == 1 and numbers[0] not in used:
        others = [texts for name, texts in columns.items() if name != numbers[0]]
        n_rows = len(columns[numbers[0]])
        by_one = any(len(set(texts)) == n_rows for texts in others)
        if n_rows > 1 and not by_one and len(set(zip(*others, strict=True))) == n_rows:
            counting = numbers
    verb = "make the Table with" if of_table else "give"
    return [
        f"Every row counts once, and column {printable(repr(name))} holds whole numbers: if it says how "
        f"often a row counts, {verb} {words.given('weights', name)}; without it nothing said here is right "
        "then."
        for name in counting
    ]
