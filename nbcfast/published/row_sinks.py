"""Where rows go that were answered: a CSV file, compressed or not, or a Parquet file, block by block."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Protocol

import numpy as np

from nbcfast._core.untyped import PyArrow
from nbcfast._reading.endings import Ending
from nbcfast._reading.row_blocks import RowFile
from nbcfast.table.arrow import load_pyarrow, one_line

Fields = Sequence[tuple[str, PyArrow]]  # names and types

# A text that a spreadsheet would run; numbers are none, whatever their sign.
FORMULA = "^([=@\t\r\n\uff1d\uff0b\uff0d\uff20]|[+-]($|[^0-9.]))"


class Sink(Protocol):
    """Takes blocks of a file with what is added to them.

    Attributes
    ----------
    formulas : dict of name -> text
        Columns that have a text which a spreadsheet would run: the first one of each.
    """

    formulas: dict[str, str]

    def write(self, batch: PyArrow, added: Sequence[PyArrow]) -> None:
        """Some more rows."""


@contextmanager
def sink_of(
    stream: IO[bytes], ending: Ending, file: RowFile, added: Fields, delimiter: str
) -> Iterator[Sink]:
    """What writes the columns of a file, and those that are added, to a stream of the kind of an ending."""
    if ending.kind == "parquet":
        sink = ParquetSink(stream, file, added)
        try:
            yield sink
        finally:
            sink.close()
    elif ending.compression is None:
        yield CsvSink(stream, file, added, delimiter)
    else:
        with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
            yield CsvSink(packed, file, added, delimiter)


class ParquetSink:
    """Columns with the types of the file, or texts where that is a CSV file, and those that are added."""

    def __init__(self, stream: IO[bytes], file: RowFile, added: Fields) -> None:
        from pyarrow import parquet

        pa = load_pyarrow()
        self.formulas: dict[str, str] = {}
        schema = file.schema
        self._own = list(schema)
        self._schema = pa.schema([*schema, *(pa.field(*one) for one in added)], metadata=schema.metadata)
        self._pa = pa
        self._writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, batch: PyArrow, added: Sequence[PyArrow]) -> None:
        """Some more rows."""
        own = [
            array if array.type == one.type else array.cast(one.type)
            for array, one in zip(batch.columns, self._own, strict=True)
        ]
        if batch.num_rows:
            self._writer.write_batch(self._pa.RecordBatch.from_arrays([*own, *added], schema=self._schema))

    def close(self) -> None:
        """Write what stands at its end."""
        self._writer.close()


class CsvSink:
    """Lines of text: what was read of a CSV file stays as it was, but for quotes that are not needed."""

    def __init__(
        self, stream: IO[bytes] | gzip.GzipFile, file: RowFile, added: Fields, delimiter: str
    ) -> None:
        self._pa = load_pyarrow()
        self._stream = stream
        self._is_csv = file.is_csv
        self._delimiter = delimiter
        self._names = [*file.names, *(name for name, _ in added)]
        self.formulas: dict[str, str] = {}
        header = self._quoted(self._pa.array(self._names)).to_pylist()
        stream.write((delimiter.join(header) + "\n").encode())

    def write(self, batch: PyArrow, added: Sequence[PyArrow]) -> None:
        """Some more rows."""
        from pyarrow import compute

        if not batch.num_rows:
            return
        columns = [
            self._fields(name, array)
            for name, array in zip(self._names, [*batch.columns, *added], strict=True)
        ]
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
        special = compute.match_substring_regex(texts, f'["\r\n{re.escape(self._delimiter)}]')
        if not self._is_csv:  # where a null is no empty text
            special = compute.or_(special, compute.equal(compute.binary_length(texts), 0))
        if compute.any(special).as_py():
            inside = compute.replace_substring(texts, '"', '""')
            mark = pa.scalar('"', pa.large_string())
            quoted = compute.binary_join_element_wise(mark, inside, mark, pa.scalar("", pa.large_string()))
            texts = compute.if_else(special, quoted, texts)
        return texts
