"""What published tables have in common: the lines of table.csv, and their folder."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING

import numpy as np

from nbcfast._core.files import written
from nbcfast._core.untyped import PyArrow
from nbcfast._core.validation import choice
from nbcfast._wire.json_entries import TooLong
from nbcfast._wire.regular_files import MOST_OF_TABLE, PARQUET, TABLE, regular
from nbcfast._wire.table_csv import MOST_LINES, copy_hash
from nbcfast._wire.table_form import TableForm
from nbcfast.published.dataset import SUPPRESSED_TEXT, csv_field, csv_texts, generator_of
from nbcfast.published.document import expect_fit
from nbcfast.published.typed import json_value
from nbcfast.table import SUPPRESSED, Column, Domain, Table
from nbcfast.table.encode import code_dtype

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BLOCK_ROWS = 1 << 18
MOST_CHARACTERS = 1 << 17  # of a field, as Python's csv module has it
LONGEST_FOOTER = 1 << 26  # bytes of what Parquet files say of themselves that are compared
WRITER = re.compile(rb"parquet-cpp-arrow version ([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})")
LONGEST_NAME = 40  # bytes of that
LONGEST_TAIL = 1 << 20  # bytes behind which that is looked for


def ordered_by(order: str, rng: np.random.Generator | None) -> np.random.Generator | None:
    """The generator that shuffles, if the order is not the canonical one."""
    choice(order, ("canonical", "shuffled"), "order")
    if rng is not None and order != "shuffled":
        raise ValueError("rng goes with order='shuffled'")
    return generator_of(rng) if order == "shuffled" else None


class Lines:
    """The lines of table.csv: those of a table that has each distinct row once, in canonical order."""

    def __init__(self, table: Table, weights: str | None = None) -> None:
        names = list(table.names)
        if weights is not None:
            if not isinstance(weights, str):
                raise TypeError(f"weights must be the name of a new column, got {weights!r}")
            if not weights or weights in names:
                raise ValueError(f"weights: expected the name of a new column, got {weights!r}")
            names.append(weights)
        for name in names:
            _readable(name, "name of a column")
        self.header = (",".join(map(csv_field, names)) + "\n").encode()
        self.table = table
        self.weights = weights
        instead = "put another value in the place of one of them"
        self.texts = {
            name: csv_texts(self.table.column(name).domain, name, instead) for name in self.table.names
        }
        for name, texts in self.texts.items():
            if len(set(texts)) < len(texts):
                raise ValueError(f"column {name!r}: two of its values have the same text in CSV")
            for text in texts:
                _readable(text, f"value of column {name!r}")
        assert self.table.weights is not None
        self.counts: list[int] = self.table.weights.tolist()
        self.n_rows = sum(self.counts)

    def check(self) -> None:
        """Refuse to write a line for each person where these are more than anybody wants in a file."""
        if self.weights is None:
            check_lines(self.n_rows)

    def __iter__(self) -> Iterator[str]:
        """Each distinct row once, its line without a weight."""
        columns = []
        for name in self.table.names:
            texts = self.texts[name]
            columns.append([texts[code] for code in self.table.codes(name).tolist()])
        return map(",".join, zip(*columns, strict=True))

    def sha256(self) -> str:
        """That of the table in canonical order."""
        total = hashlib.sha256(self.header)
        for block in self.blocks(None):
            total.update(block.encode())
        return total.hexdigest()

    def write(self, file: IO[bytes], generator: np.random.Generator | None) -> str:
        """Write them; the sha256 of all."""
        total = hashlib.sha256(self.header)
        file.write(self.header)
        for block in self.blocks(generator):
            data = block.encode()
            total.update(data)
            file.write(data)
        return total.hexdigest()

    def write_files(
        self, files: Mapping[str, IO[bytes]], generator: np.random.Generator | None
    ) -> dict[str, str]:
        """Write table.csv, and table.parquet if it is among the files; the hashes for the certificate."""
        hashes = {"table_sha256": self.write(files[TABLE], generator)}
        expect_fit(TABLE, files[TABLE].tell(), MOST_OF_TABLE)
        if PARQUET in files:
            hashed = Hashed(files[PARQUET])
            _write_parquet(self.table, hashed, self.weights)
            expect_fit(PARQUET, files[PARQUET].tell(), MOST_OF_TABLE)
            hashes["parquet_sha256"] = hashed.total.hexdigest()
        return hashes

    def blocks(self, generator: np.random.Generator | None) -> Iterator[str]:
        lines = list(self)
        if self.weights is not None:
            lines = [f"{line},{count}" for line, count in zip(lines, self.counts, strict=True)]
            if generator is not None:
                lines = [lines[place] for place in generator.permutation(len(lines)).tolist()]
            for start in range(0, len(lines), BLOCK_ROWS):
                yield "\n".join(lines[start : start + BLOCK_ROWS]) + "\n"
        elif generator is not None:
            places = np.repeat(np.arange(len(lines), dtype=np.uint32), self.counts)
            generator.shuffle(places)
            for start in range(0, len(places), BLOCK_ROWS):
                yield "".join(lines[place] + "\n" for place in places[start : start + BLOCK_ROWS].tolist())
        else:
            for line, count in zip(lines, self.counts, strict=True):
                for start in range(0, count, BLOCK_ROWS):
                    yield (line + "\n") * min(count - start, BLOCK_ROWS)


def check_lines(rows: int) -> None:
    """Refuse that many lines."""
    if rows > MOST_LINES:
        raise ValueError(
            f"not saved: a line for each person would be {rows:,} lines, more than {MOST_LINES:,}; with "
            "weights='people' (--counts people) each distinct row is written once, with its number of people"
        )


def _readable(text: str, where: str) -> None:
    """Refuse what readers of CSV files, Python's among them, take no field of."""
    if "\0" in text:
        raise ValueError(f"a {where} has a zero byte, which table.csv cannot have: {text[:40]!r}")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(
            f"a {where} has {len(text):,} characters in table.csv, where readers take {MOST_CHARACTERS:,}: "
            f"it starts with {text[:40]!r}"
        )


def cells(domain: Domain) -> list[list[object]]:
    """The values of a column: the field as a reader of CSV gives it back, and the typed value.

    Intervals of data may overlap, as those of a partition do; in a certificate they may not.
    """
    domain.check_intervals("not saved")
    return [
        [
            "" if value is None else SUPPRESSED_TEXT if value is SUPPRESSED else str(value),
            json_value(value, domain),
        ]
        for value in domain.values
    ]


def repeated(distinct: Table, rows: int = BLOCK_ROWS) -> Iterator[Table]:
    """The rows of a table of distinct ones as often as they count, so many at a time."""
    assert distinct.weights is not None
    ends = np.cumsum(distinct.weights)
    total = int(ends[-1])
    for start in range(0, total, rows):
        stop = min(start + rows, total)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left")) + 1
        some = np.minimum(ends[first:last], stop)
        lengths = np.diff(some, prepend=start)
        columns = {
            name: Column(np.repeat(distinct.codes(name)[first:last], lengths), distinct.column(name).domain)
            for name in distinct.names
        }
        yield Table.from_columns(columns, None, stop - start)


def write_csv(
    table: Table,
    path: str | os.PathLike[str],
    *,
    order: str = "canonical",
    rng: np.random.Generator | None = None,
    weights: str | None = None,
    overwrite: bool = False,
) -> str:
    """A table of distinct rows as a CSV file, whole or not at all; its sha256."""
    generator = ordered_by(order, rng)
    lines = Lines(table, weights)
    lines.check()
    with written(path, overwrite=overwrite) as file:
        return lines.write(file, generator)


def write_parquet(
    table: Table, path: str | os.PathLike[str], *, weights: str | None = None, overwrite: bool = False
) -> None:
    """A table of distinct rows, in their order, as a Parquet file, whole or not at all."""
    if weights is None:
        assert table.weights is not None
        check_lines(sum(table.weights.tolist()))
    with written(path, overwrite=overwrite) as file:
        _write_parquet(table, file, weights)


def _write_parquet(table: Table, file: IO[bytes] | io.RawIOBase, weights: str | None) -> None:
    """Row groups of BLOCK_ROWS rows; uncompressed, as the bytes of codecs depend on how pyarrow was built."""
    from pyarrow import parquet

    writer = None
    try:
        for block in arrow_blocks(table, weights):
            if writer is None:
                writer = parquet.ParquetWriter(file, block.schema, compression="none")
            writer.write_table(block)
    finally:
        if writer is not None:
            writer.close()


def arrow_blocks(table: Table, weights: str | None) -> Iterator[PyArrow]:
    """The row groups of a Parquet file, which follow from rows and domains alone: the widths of codes too."""
    columns = {}
    for name in table.names:
        column = table.column(name)
        codes = column.codes.astype(code_dtype(len(column.domain)), copy=False)
        columns[name] = Column(codes, column.domain)
    table = Table.from_columns(columns, table.weights, table.n_rows)
    if weights is None:
        yield from (block.to_arrow() for block in repeated(table, BLOCK_ROWS))
        return
    whole = table.to_arrow(weights)
    for start in range(0, table.n_rows, BLOCK_ROWS):
        yield whole.slice(start, BLOCK_ROWS)


class Hashed(io.RawIOBase):
    """A file to write to that knows the sha256 of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.total = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self.total.update(data)
        return self.file.write(data)


class Compared(io.RawIOBase):
    """Takes what would be written, and compares it with a file that is there.

    Nothing is kept of what is equal; of the rest, from the first write that differs, no more than a footer.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.equal = 0  # bytes
        self.rest = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        data = bytes(data)
        if not self.rest and self.file.read(len(data)) == data:
            self.equal += len(data)
        elif len(self.rest) < LONGEST_FOOTER:
            self.rest += data
        return len(data)

    def version(self) -> str | None:
        """The pyarrow that wrote the file, if that is all that differs; "" if nothing does, None if more."""
        if not self.rest:
            return None if self.file.read(1) else ""
        # A footer, its length in 4 bytes, and PAR1.
        length = int.from_bytes(self.rest[-8:-4], "little")
        own = written_by(self.rest)
        if len(self.rest) != length + 8 or own is None:
            return None
        self.file.seek(self.equal)
        found = self.file.read(len(self.rest) + LONGEST_NAME)
        other = written_by(found)
        if other is None:
            return None
        head, tail = self.rest[: own.start() - 1], self.rest[own.end() : -8]
        length += len(other[0]) - len(own[0])
        footer = b"".join([head, bytes([len(other[0])]), other[0], tail])
        return other[1].decode() if found == footer + length.to_bytes(4, "little") + b"PAR1" else None


def written_by(data: bytes | bytearray) -> re.Match[bytes] | None:
    """The name of the pyarrow that wrote a footer, which is the last text in it, behind its length."""
    names = [
        name for name in WRITER.finditer(data) if name.start() and data[name.start() - 1] == len(name[0])
    ]
    return names[-1] if names else None


def parquet_check(folder: str, document: TableForm, distinct: Table) -> tuple[bool | None, str]:
    """Whether a table.parquet is what is written for the table.csv beside it (None: not decided), and a
    sentence. `distinct` are the rows of that, each once with its weight.

    That is decided by its bytes alone, of which the version of the pyarrow that wrote it may be another.
    pyarrow does not read it: some files abort it, and the interpreter with it.
    """
    name = PARQUET
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        return None, f"the sha256 of {name} matches; more takes pyarrow: pip install pyarrow"
    with regular(os.path.join(folder, name)) as file:
        try:
            holds, text = copy_hash(document, file)  # of what is compared
        except TooLong as error:
            return None, str(error)
        if holds is False:
            return holds, text
        file.seek(0)
        compared = Compared(file)
        _write_parquet(distinct, compared, document.weights)
        version = compared.version()
        if version is not None:
            by = f", by pyarrow {version}" if version else ""
            return True, f"{name} is what is written for {TABLE}, byte for byte{by}"
        file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_TAIL))
        writer = written_by(file.read())
    here = pyarrow.__version__
    if writer is None or writer[1].decode() == here:
        return False, f"{name} is not what is written for {TABLE}"
    other = writer[1].decode()
    return None, (
        f"the sha256 of {name} matches; pyarrow {other} wrote it, and {here} writes other bytes for "
        f"{TABLE}: pip install pyarrow=={other} to compare it, or delete it and rely on {TABLE}"
    )
