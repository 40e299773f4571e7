"""CSV files in the plainest Python: `csv` of the standard library, and the few rules that it leaves open.

Fields are bytes until they are looked at, so that text which is not UTF-8 is an error of its field alone.
"""

import csv
import io
import sys

from nbcfast.reference import table


class WrongError(Exception):
    """What is wrong: "empty", "ragged", "nul" or "utf8"; and in which row, where that of the names is 0."""

    def __init__(self, kind, row):
        super().__init__(kind, row)
        self.kind, self.row = kind, row


def rows_of(data, delimiter=","):
    """All rows as lists of bytes, those of empty lines empty."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")  # a letter a byte
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [[field.encode("latin-1") for field in row] for row in reader]
    finally:
        csv.field_size_limit(before)


def texts_of(data, delimiter=",", null_values=("",)):
    """The names, and of each column its fields: str, or None for a null."""
    rows = rows_of(data, delimiter)
    while rows and not rows[0]:
        rows.pop(0)
    if not rows:
        raise WrongError("empty", 0)
    names = [checked(field, 0) for field in rows[0]]
    columns = [[] for _ in names]
    number = 0
    for row in rows[1:]:
        if not row:
            if len(names) > 1:
                continue
            row = [b""]  # with one column an empty line is a row, and no row is dropped
        number += 1
        if len(row) != len(names):
            raise WrongError("ragged", number)
        for column, field in zip(columns, row, strict=True):
            text = checked(field, number)
            column.append(None if text in null_values else text)
    return names, columns


def checked(field, row):
    """A field as text."""
    if b"\0" in field:
        # Whatever comes first is what is said.
        try:
            field[: field.index(b"\0")].decode()
        except UnicodeDecodeError:
            raise WrongError("utf8", row) from None
        raise WrongError("nul", row)
    try:
        return field.decode()
    except UnicodeDecodeError:
        raise WrongError("utf8", row) from None


def read(data, delimiter=",", null_values=("",)):
    """Name -> (codes, domain) of all columns, typed by the rule."""
    names, columns = texts_of(data, delimiter, null_values)
    if len(set(names)) < len(names):
        raise WrongError("names", 0)
    return {name: table.column(table.numbers_of(fields)) for name, fields in zip(names, columns, strict=True)}
