"""Where rows go that were answered: a CSV file, compressed or not, or a Parquet file, block by block."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Protocol

import numpy as np

from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import Ending
from nbcfast._reading.row_blocks import RowFile, TextBatch
from nbcfast.published.added_columns import AddedColumns, Coded
from nbcfast.published.raw_rows import RowAnswers
from nbcfast.table.arrow import load_pyarrow, one_line

Stream = IO[bytes] | gzip.GzipFile

# A text that a spreadsheet would run; numbers are none, whatever their sign.
FORMULA = "^([=@\t\r\n\uff1d\uff0b\uff0d\uff20]|[+-]($|[^0-9.]))"

_runs = re.compile(FORMULA).match


class Sink(Protocol):
    """Takes blocks of a file with what they are answered.

    Attributes
    ----------
    formulas : dict of name -> text
        Columns that have a text which a spreadsheet would run: the first one of each.
    """

    formulas: dict[str, str]

    def write(self, batch: TextBatch | PyArrow, answers: RowAnswers) -> None:
        """Some more rows."""


@contextmanager
def sink_of(
    stream: IO[bytes], ending: Ending, file: RowFile, added: AddedColumns, delimiter: str
) -> Iterator[Sink]:
    """What writes the columns of a file, and those that are added, to a stream of the kind of an ending."""
    if ending.kind == "parquet":
        sink = ParquetSink(stream, file, added)
        try:
            yield sink
        finally:
            sink.close()
        return
    lines = TextSink if file.is_csv else ArrowLinesSink
    if ending.compression is None:
        yield lines(stream, file, added, delimiter)
    else:
        with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
            yield lines(packed, file, added, delimiter)


class ParquetSink:
    """Columns with the types of the file, or texts where that is a CSV file, and those that are added."""

    def __init__(self, stream: IO[bytes], file: RowFile, added: AddedColumns) -> None:
        self._pa = pa = load_pyarrow()
        from pyarrow import parquet

        self.formulas: dict[str, str] = {}
        self._added = added
        schema = file.schema
        self._own = list(schema)
        fields = [pa.field(*one) for one in added.fields()]
        self._schema = pa.schema([*schema, *fields], metadata=schema.metadata)
        self._writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, batch: TextBatch | PyArrow, answers: RowAnswers) -> None:
        """Some more rows."""
        rows = batch.to_arrow() if isinstance(batch, TextBatch) else batch
        own = [
            array if array.type == one.type else array.cast(one.type)
            for array, one in zip(rows.columns, self._own, strict=True)
        ]
        if rows.num_rows:
            arrays = [*own, *self._added.arrow(answers)]
            self._writer.write_batch(self._pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what stands at its end."""
        self._writer.close()


class TextSink:
    """Lines of a CSV file as they were, but for quotes that are not needed, with what is added."""

    def __init__(self, stream: Stream, file: RowFile, added: AddedColumns, delimiter: str) -> None:
        self._stream = stream
        self._added = added
        self._delimiter = delimiter
        self._special = _special(delimiter)
        self._names = [*file.names, *added.names]
        self.formulas: dict[str, str] = {}
        names = [self._quoted(name).encode() for name in self._names]  # an error has that name alone
        stream.write(delimiter.encode().join(names) + b"\n")

    def write(self, batch: TextBatch, answers: RowAnswers) -> None:
        """Some more rows."""
        if not batch.n_rows:
            return
        columns = [*batch.columns.values(), *self._added.texts(answers)]
        fields = [self._fields(name, column) for name, column in zip(self._names, columns, strict=True)]
        lines = map(self._delimiter.join, zip(*fields, strict=True))
        self._stream.write(("\n".join(lines) + "\n").encode())

    def _fields(self, name: str, column: Coded) -> list[str]:
        """The fields of a column, row by row."""
        codes, texts = column
        running = [] if name in self.formulas else [place for place, text in enumerate(texts) if _runs(text)]
        if running:
            rows = np.flatnonzero(np.isin(codes, running))
            if len(rows):
                self.formulas[name] = texts[codes[rows[0]]]
        fields: list[str] = np.array([*map(self._quoted, texts)], object)[codes].tolist()
        return fields

    def _quoted(self, text: str) -> str:
        """A text as it stands in CSV, quoted where it has to be."""
        return '"' + text.replace('"', '""') + '"' if self._special.search(text) else text


def _special(delimiter: str) -> re.Pattern[str]:
    """What has to be quoted."""
    return re.compile(f'["\r\n{re.escape(delimiter)}]')


class ArrowLinesSink:
    """Lines of a Parquet file and what is added; a null is an empty field, and an empty text a quoted one."""

    def __init__(self, stream: Stream, file: RowFile, added: AddedColumns, delimiter: str) -> None:
        self._pa = load_pyarrow()
        self._stream = stream
        self._added = added
        self._delimiter = delimiter
        self._names = [*file.names, *added.names]
        self.formulas: dict[str, str] = {}
        header = self._quoted(self._pa.array(self._names)).to_pylist()
        stream.write((delimiter.join(header) + "\n").encode())

    def write(self, batch: PyArrow, answers: RowAnswers) -> None:
        """Some more rows."""
        from pyarrow import compute

        if not batch.num_rows:
            return
        arrays = [*batch.columns, *self._added.arrow(answers)]
        columns = [self._fields(name, array) for name, array in zip(self._names, arrays, strict=True)]
        pa, large = self._pa, self._pa.large_string()
        columns[-1] = compute.binary_join_element_wise(
            columns[-1], pa.scalar("\n", large), pa.scalar("", large)
        )
        lines = compute.binary_join_element_wise(*columns, pa.scalar(self._delimiter, large))
        _, offsets, data = lines.buffers()
        ends = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
        self._stream.write(memoryview(data)[ends[0] : ends[-1]])

    def _fields(self, name: str, array: PyArrow) -> PyArrow:
        """The fields of a column."""
        from pyarrow import compute

        pa, types = self._pa, self._pa.types
        if types.is_dictionary(array.type) and types.is_string(array.type.value_type):
            texts = self._quoted(array.dictionary, name)
            return compute.fill_null(texts.take(array.indices), "")
        try:
            plain = array.cast(array.type.value_type) if types.is_dictionary(array.type) else array
            is_text = types.is_string(plain.type) or types.is_large_string(plain.type)
            texts = plain.cast(pa.large_string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueError(f"column {name!r}: {array.type} is no CSV field: {one_line(error)}") from None
        return compute.fill_null(self._quoted(texts, name) if is_text else texts, "")

    def _quoted(self, texts: PyArrow, name: str | None = None) -> PyArrow:
        """Texts as they stand in CSV, quoted where they have to be; nulls stay."""
        from pyarrow import compute

        pa = self._pa
        texts = texts.cast(pa.large_string())
        if name is not None and name not in self.formulas:
            runs = compute.match_substring_regex(texts, FORMULA)
            if compute.any(runs).as_py():
                self.formulas[name] = texts.filter(runs)[0].as_py()
        special = compute.or_(
            compute.match_substring_regex(texts, _special(self._delimiter).pattern),
            compute.equal(compute.binary_length(texts), 0),  # a null is no empty text
        )
        if compute.any(special).as_py():
            inside = compute.replace_substring(texts, '"', '""')
            mark = pa.scalar('"', pa.large_string())
            quoted = compute.binary_join_element_wise(mark, inside, mark, pa.scalar("", pa.large_string()))
            texts = compute.if_else(special, quoted, texts)
        return texts
