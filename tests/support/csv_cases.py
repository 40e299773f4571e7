"""CSV files at random, whole and broken, and what the reader and its plain twin say of them."""

import io

import numpy as np

from nbcfast._reading.csv_blocks import CsvRows, CsvText, FaultError
from nbcfast.reference import csv_text

KINDS = {1: "ragged", 2: "nul", 3: "utf8"}
ENDS = ["\n", "\r\n", "\r"]
PLAIN = [
    "",
    "0",
    "-7",
    "007",
    "1.5",
    "a",
    "b",
    "ab",
    "NA",
    "ä",
    "\u20ac",
    "\U0001f600",
    "\ufeff",
    " x",
    "x ",
    "x" * 14,
]
LONG = [15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 300]


class Memory:
    """A source of bytes that gives some at a time."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    @property
    def done(self):
        return self.file.tell()

    def readinto(self, view):
        return self.file.readinto(view)


def field(rng, delimiter, values):
    """One field as it stands in a file."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(values)
    if kind < 0.75:
        inside = "".join(
            rng.choice(["a", "ä", ",", ";", delimiter, '""', "\n", "\r", "\r\n", " "])
            for _ in range(rng.randrange(6))
        )
        return f'"{inside}"'
    if kind < 0.85:
        return rng.choice("xyz") * rng.choice(LONG)
    if kind < 0.9:
        return '"' + "q" * rng.choice(LONG) + '""' + '"'
    if kind < 0.97:
        return f'"{rng.choice(values)}"'
    return rng.choice(['x"y', 'x"y"z', '"x"y', '"x"y"z', ' "x"', 'x""y', '""x', '"""', '"x""y"z"'])


def table_like(rng):
    """A file that is mostly right."""
    delimiter = rng.choice(",,,;\t|")
    n_columns = rng.choice([1, 2, 2, 3, 3, 5, 17])
    values = rng.sample(PLAIN, rng.randrange(1, len(PLAIN)))
    end = rng.choice(ENDS)
    mixed = rng.random() < 0.2
    lines = [delimiter.join(f"c{place}" for place in range(n_columns))]
    quoted = rng.random() < 0.6
    for _ in range(rng.choice([0, 1, 3, 10, 30, 120])):
        if rng.random() < 0.03:
            lines.append("")
        n = n_columns + (rng.random() < 0.001) * rng.choice([-1, 1])
        lines.append(
            delimiter.join(
                field(rng, delimiter, values) if quoted else rng.choice(PLAIN[:8]) for _ in range(n)
            )
        )
    text = "".join(line + (rng.choice(ENDS) if mixed else end) for line in lines)
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    if rng.random() < 0.05:
        text += '1,"' + rng.choice(["", "x", "x\r", 'x""', "x\ny,z\n"])
    data = text.encode()
    if rng.random() < 0.2:
        data = b"\xef\xbb\xbf" + data
    if rng.random() < 0.05:
        data = data.replace(b"7", rng.choice([b"\0", b"\xff", b"\xed\xa0\x80", b"\xe4x"]))
    return delimiter, data


def soup(rng):
    """Bytes of which most are marks."""
    delimiter = rng.choice(",;")
    letters = [delimiter.encode(), b'"', b"\n", b"\r", b"a", b"b", b"\xc3\xa9", b" "]
    weights = [rng.random() for _ in letters]
    letters += [b"\0", b"\xff", b"\xef\xbb\xbf", b"long" * 9]
    weights += [0.002, 0.002, 0.01, 0.01]
    return delimiter, b"".join(rng.choices(letters, weights, k=rng.choice([0, 1, 2, 5, 20, 70, 150, 700])))


def read(data, delimiter, nulls, block, threads, level):
    """The names, the codes and texts of all columns; or what is wrong, and in which row."""
    text = CsvText(Memory(data), delimiter, block)
    text.level = level
    names, quote = text.header()
    if not names:
        return "empty", 0
    if quote >= 0:
        return "open", 0
    rows = CsvRows(text, delimiter, len(names), range(len(names)), nulls, threads)
    parts, wrong = [], None
    try:
        parts = [codes for _, codes in rows.batches()]
    except FaultError as error:
        wrong = error
    if wrong is not None:
        return told(wrong, data, delimiter, len(names))
    columns = []
    for place, column in enumerate(rows.columns):
        codes = np.concatenate([part[place] for part in parts]) if parts else np.empty(0, np.uint8)
        columns.append((codes.tolist(), column.texts()))
    return names, columns


def told(error, data, delimiter, n_fields):
    """What is wrong, and in which row; where rows are counted they are counted right."""
    fault = error.fault
    before = csv_text.rows_of(data[: fault.row], delimiter)
    number = sum(1 for row in before if row or n_fields == 1)
    if n_fields == 1:  # empty lines before the names are no rows
        number -= next(place for place, row in enumerate(before) if row)
    if fault.kind == 1:
        after = csv_text.rows_of(
            b"x\n" + data[fault.row :], delimiter
        )  # what looks like a mark there is none
        assert (error.rows, fault.fields) == (number - 1, len(after[1]))
    return KINDS[fault.kind], number


def expected(data, delimiter, nulls):
    """The same of the plain twin."""
    names = next((row for row in csv_text.rows_of(data, delimiter) if row), [])
    try:
        _, columns = csv_text.texts_of(data, delimiter, nulls)
    except csv_text.WrongError as error:
        return error.kind, error.row
    coded = []
    for column in columns:
        index = {}
        codes = [index.setdefault(text, len(index)) for text in column]
        coded.append((codes, list(index)))
    return names, coded


def check(rng, level):
    """Read one file at random in some way; False where there is nothing to compare."""
    delimiter, data = rng.choice([table_like, table_like, soup])(rng)
    nulls = rng.choice([("",), (), ("NA", ""), ("a", "ä")])
    block = rng.choice([1, 2, 3, 7, 16, 63, 64, 65, 200, 1000, 1 << 20])
    threads = rng.choice([1, 1, 1, 2, 3])
    given = delimiter, nulls, block, threads, level, data
    got = read(data, delimiter, nulls, block, threads, level)
    if got == ("open", 0):
        assert sum(map(bool, csv_text.rows_of(data, delimiter))) == 1, given
        return False
    wanted = expected(data, delimiter, nulls)
    if wanted[1] == 0 and wanted[0] in ("nul", "utf8"):
        return False  # names, which are looked at elsewhere
    assert got == wanted, given
    return True
