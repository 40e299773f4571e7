"""Files that are read batch by batch, as often as need be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbcfast._reading.csv_files import COMPRESSED, open_file
from nbcfast._reading.parquet import PARQUET_ROWS
from nbcfast.table import arrow

if TYPE_CHECKING:
    from nbcfast.table.encode import Codes
    from nbcfast.table.values import Value

Batch = dict[str, tuple["Codes", "list[Value]"]]

CSV_BLOCK = 16 << 20  # bytes; a row must fit
UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}


def as_bytes(limit: int | str, where: str) -> int:
    """A number of bytes, or its text: "2GiB", "500 MB".

    Examples
    --------
    >>> as_bytes("2GiB", "memory_limit")
    2147483648
    """
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9]+)\s*([A-Za-z]*)\s*", limit)
        if found is None or found[2] not in UNITS:
            raise ValueError(f"{where} must be bytes such as 2147483648 or '2GiB', got {limit!r}")
        limit = int(found[1]) * UNITS[found[2]]
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise TypeError(f"{where} must be an int or its text, got {limit!r}")
    if limit < 1:
        raise ValueError(f"{where} must be at least 1 byte, got {limit}")
    return limit


class Source:
    """Something that gives its rows as often as it is asked: a file.

    Attributes
    ----------
    texts : bool
        Whether all values are text, whose types are found at the end, as in a CSV file.
    n_rows : int
        0 where it is not known.
    """

    def __init__(self, path: Any) -> None:
        self.path = os.fsdecode(path)
        suffixes = [suffix.lower() for suffix in Path(self.path).suffixes]
        if suffixes and suffixes[-1] in COMPRESSED:
            suffixes.pop()
        kind = suffixes[-1] if suffixes else ""
        if kind not in (".csv", ".parquet"):
            raise ValueError(f"expected a file of .csv or .parquet, got {self.path!r}")
        with open(self.path, "rb"):  # the usual OSError, with its path
            pass
        self.texts = kind == ".csv"
        self.n_rows = 0 if self.texts else self._parquet_rows()

    def _parquet_rows(self) -> int:
        def read() -> Iterator[int]:
            from pyarrow import parquet

            with parquet.ParquetFile(self.path) as file:
                yield int(file.metadata.num_rows)

        return int(next(self._wrapped(read)))

    def batches(self, names: Iterable[str]) -> Iterator[Batch]:
        """The rows from the first one on: name -> (codes, values)."""
        wanted = list(names)
        read = self._csv if self.texts else self._parquet
        return arrow.encoded_batches(self._wrapped(lambda: read(wanted)), wanted)

    def _wrapped(self, read: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        pa = arrow.load_readers()
        try:
            yield from read()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
            raise ValueError(f"{self.path}: {arrow.one_line(error)}") from None
        except pa.ArrowException as error:
            raise OSError(f"{self.path}: {arrow.one_line(error)}") from None

    def _parquet(self, names: list[str]) -> Iterator[Any]:
        from pyarrow import parquet

        pa = arrow.load_pyarrow()
        with parquet.ParquetFile(self.path) as file:
            schema = file.schema_arrow
        arrow.chosen_names(list(schema.names), names)
        types = pa.types
        texts = [
            name
            for name in names
            if types.is_string(schema.field(name).type) or types.is_large_string(schema.field(name).type)
        ]
        with parquet.ParquetFile(self.path, read_dictionary=texts) as file:
            empty = True
            for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=names):
                empty = False
                yield batch
            if empty:
                yield pa.RecordBatch.from_pylist([], schema=pa.schema([schema.field(name) for name in names]))

    def _csv(self, names: list[str]) -> Iterator[Any]:
        from pyarrow import csv

        pa = arrow.load_pyarrow()
        read = csv.ReadOptions(block_size=CSV_BLOCK)
        parse = csv.ParseOptions(newlines_in_values=True)
        with open_file(self.path, "utf8") as (_, stream), csv.open_csv(stream, read, parse) as batches:
            header = list(batches.schema.names)
        arrow.chosen_names(header, names)
        parse.ignore_empty_lines = len(header) > 1
        text = pa.dictionary(pa.int32(), pa.string())
        convert = csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, text),
            null_values=[""],
            strings_can_be_null=True,
        )
        with (
            open_file(self.path, "utf8") as (_, stream),
            csv.open_csv(stream, read, parse, convert) as batches,
        ):
            yield from batches
