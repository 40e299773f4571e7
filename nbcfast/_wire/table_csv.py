"""The table.csv of a published thing, read as its certificate says, and the sha256 of its copy."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from typing import IO, TYPE_CHECKING

from nbcfast._wire.chosen_numbers import MOST_PEOPLE
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import Refused, TooLong, shown
from nbcfast._wire.messages import short
from nbcfast._wire.regular_files import PARQUET, TABLE, blocks_of, regular
from nbcfast._wire.table_form import TableForm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.table_form import RowCounts


MOST_LINES = 10**8  # of a table; with more people than that it is written with weights
SHORT_LINE = 1 << 16  # characters of a record up to which its fields are looked at, whatever they may hold


def judge_parquet(document: Form, folder: str) -> Judged:
    """The check of the table's copy, of which there is more than a sha256 only in `nbcfast verify`."""
    if PARQUET not in document.files:
        return []
    try:
        with regular(os.path.join(folder, PARQUET)) as file:
            return [("parquet", *copy_hash(document, file))]
    except FileNotFoundError:
        return [("parquet", True, f"the certificate names a {PARQUET}, and there is none to check")]
    except OSError as error:
        return [("parquet", False, f"{PARQUET}: {error.strerror}")]
    except TooLong as error:
        return [("parquet", None, str(error))]
    except Refused as error:
        return [("parquet", False, str(error))]


def copy_hash(document: Form, file: IO[bytes]) -> tuple[bool | None, str]:
    """Whether a file has the sha256 of the table's copy: False, or None because that alone shows little."""
    total = hashlib.sha256()
    for block in blocks_of(file, PARQUET):
        total.update(block)
    if total.hexdigest() != document.fields["parquet_sha256"]:
        return False, f"the sha256 of {PARQUET} does not match: it was changed"
    return None, (
        f"the sha256 of {PARQUET} matches; that it is {TABLE}, and holds nothing more, is not checked here: "
        f"nbcfast verify does that, or delete it and rely on {TABLE}"
    )


def read_table(document: TableForm, path: str, rows: RowCounts) -> str | None:
    """Count the rows of the table; a sentence about what is wrong with it, or None."""
    total = hashlib.sha256()
    try:
        data = regular(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    except Refused as error:
        return str(error)
    # Opened once: what is hashed is what is read.
    with data, io.TextIOWrapper(data, encoding="utf-8", newline="") as file:
        for block in blocks_of(data, TABLE):
            if b"\0" in block:  # which csv refuses in Pythons before 3.11, and reads in later ones
                return f"{TABLE}: line contains NUL"
            total.update(block)
        if total.hexdigest() != document.fields["table_sha256"]:
            return f"the sha256 of {TABLE} does not match: it was changed"
        data.seek(0)
        records = _Records(file, document)
        lines = csv.reader(records, strict=True)
        try:
            header = next(lines, None) or [""]
            if header != document.header:
                return f"{TABLE}: expected the columns {shown(document.header)}, got {shown(header)}"
            written = hashlib.sha256(_line(header))
            fault = _count_rows(document, records.each(lines), rows, written.update)
        except (csv.Error, UnicodeDecodeError) as error:
            return f"{TABLE}: {error}"
    if fault is not None:
        return fault
    if not rows:
        return f"{TABLE} has no rows"
    if written.hexdigest() != total.hexdigest():  # a choice between spellings could tell rows apart
        return (
            f"{TABLE}: expected line ends \\n, also of the last line, and quotes only where they are needed"
        )
    return None


class _Records:
    """The lines of a table, none longer than what the certificate has values for."""

    def __init__(self, file: IO[str], document: TableForm) -> None:
        self.file = file
        longest = max(
            sum(2 * len(name) + 3 for name in document.header),
            sum(2 * max(map(len, texts)) + 3 for texts in document.places) + len(f",{MOST_PEOPLE}"),
        )
        self.longest = max(longest, SHORT_LINE)
        self.left = self.longest

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.file.readline(self.left + 1)
        self.left -= len(line)
        if self.left < 0:
            raise csv.Error(f"a line has more than the {self.longest:,} characters of the longest values")
        if not line:
            raise StopIteration
        return line

    def each(self, lines: Iterable[list[str]]) -> Iterator[list[str]]:
        """The records below the header, of one line or, with line ends in quotes, more."""
        self.left = self.longest
        for number, line in enumerate(lines, 1):
            if number > MOST_LINES:
                raise TooLong(f"{TABLE}: not checked here: more than {MOST_LINES:,} lines")
            self.left = self.longest
            yield line


def _count_rows(
    document: TableForm, lines: Iterable[list[str]], rows: RowCounts, hash_bytes: Callable[[bytes], None]
) -> str | None:
    """Count the rows of the lines below the header, and hash them as they are to be written."""
    weighted = document.weights is not None
    header, places = document.header, document.places
    people, count, data = 0, 1, b""
    before: list[str] | None = None
    row: tuple[int, ...] = ()
    for number, line in enumerate(lines, 2):
        if weighted or line != before:
            before, last = line, row
            # An empty line of a table of one column is its null.
            fields = line or [""]
            if len(fields) != len(header):
                return f"{TABLE}: line {number} has {len(line)} fields, expected {len(header)}"
            found = []
            for i, of_text in enumerate(places):
                place = of_text.get(fields[i])
                if place is None:
                    return f"{TABLE}: line {number}: {fields[i]!r} is no value of {header[i]!r}"
                found.append(place)
            row = tuple(found)
            if document.canonical_order and (row < last or (weighted and row == last)):
                return f"{TABLE}: line {number} is not in order: rows may stand as in the data"
            if weighted:
                if not re.fullmatch(r"[1-9][0-9]{0,18}", fields[-1]):
                    return f"{TABLE}: line {number}: expected a number of people, got {fields[-1]!r}"
                count = int(fields[-1])
            data = _line(fields)
        hash_bytes(data)
        people += count
        if people >= MOST_PEOPLE:
            return f"{TABLE}: line {number}: expected less than 2^61 people, got {short(people)}"
        rows[row] = rows.get(row, 0) + count
    return None


def _line(fields: list[str]) -> bytes:
    return (",".join(map(field, fields)) + "\n").encode()


def field(text: str) -> str:
    """A text as table.csv has it: in quotes where it holds commas, quotes or ends of lines."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


def judge_rows(document: TableForm, rows: RowCounts) -> tuple[str, bool, str]:
    """Whether there are as many as the certificate says."""
    people = sum(rows.values())
    text = f"{short(people)} people in {len(rows)} distinct rows"
    if people != document.rows:
        text += f"; the certificate says {short(document.rows)} people"
    return "rows", people == document.rows, text
