"""The endings of files that hold tables, and what each says of its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from typing import Literal

AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}


@dataclass(frozen=True)
class Ending:
    """What the ending of a name says of the file.

    Attributes
    ----------
    kind : "csv" or "parquet"
    delimiter : str
        Between the fields of a CSV file.
    compression : str or None
        Of a CSV file, as pyarrow names it. Parquet compresses inside the file.
    """

    kind: Literal["csv", "parquet"]
    delimiter: str = ","
    compression: str | None = None


ENDINGS = {
    text + suffix: Ending("csv", delimiter, compression)
    for (text, delimiter), (suffix, compression) in product(
        {".csv": ",", ".tsv": "\t", ".txt": ","}.items(), {"": None, **COMPRESSED}.items()
    )
} | {".parquet": Ending("parquet"), ".pq": Ending("parquet")}
READ = ".csv, .tsv, .txt (or these with .gz, .bz2, .zst, .lz4 or .br), .parquet or .pq"  # in words
STANDARD_INPUT = "/dev/stdin"  # a name without an ending
WRITTEN = (".parquet", ".pq", ".csv", ".csv.gz")  # by those who write tables without a certificate

_of_standard_input: ContextVar[Ending | None] = ContextVar("of_standard_input", default=None)


@contextmanager
def standard_input_like(ending: str) -> Iterator[None]:
    """Let standard input be read as a file of this ending inside."""
    before = _of_standard_input.set(ENDINGS[ending])
    try:
        yield
    finally:
        _of_standard_input.reset(before)


def ending_of(path: AnyPath) -> Ending | None:
    r"""What the ending of a name says, whatever its case; None where it is that of no table.

    Examples
    --------
    >>> ending_of("people.TSV.gz")
    Ending(kind='csv', delimiter='\t', compression='gzip')
    """
    name = os.fsdecode(path).lower()
    if name == STANDARD_INPUT:
        return _of_standard_input.get()
    return next((ending for text, ending in ENDINGS.items() if name.endswith(text)), None)


def is_parquet(path: AnyPath) -> bool:
    ending = ending_of(path)
    return ending is not None and ending.kind == "parquet"


def delimiter_of(path: AnyPath) -> str:
    """The delimiter of a text file: a tab where its name says so, else a comma."""
    ending = ending_of(path)
    return "," if ending is None else ending.delimiter
