"""What is made of a release: synthetic tables, probabilities, a scikit-learn classifier."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Codes, Counts, Floats, Longs
from nbcfast._core.files import written
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._core.validation import generator_or_none
from nbcfast._reading.endings import WRITTEN, Ending, ending_of
from nbcfast._reading.source import DECIDED_THERE, AnyTable, rows_from
from nbcfast.domains import Declarations, Declared, declared
from nbcfast.published.document import text_of
from nbcfast.published.placing import Placing, options_of
from nbcfast.table import SUPPRESSED, Table, arrow
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, code_dtype
from nbcfast.table.values import Value
from nbcfast.views.quality import shares

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.fitted import PublishedCategoricalNB
    from nbcfast.published.release import Release

MOST_ROWS = 1 << 31  # of a table in memory
MOST_STREAMED_ROWS = 10**10  # a file of this many is hundreds of gigabytes
BLOCK_ROWS, BLOCK_CELLS = 1 << 18, 1 << 22
# A block of m rows out of fewer than this times m is drawn by permuting all that is left. NumPy's choice
# would do that for each block anew below 50 times, and above needs no more memory than the block.
PERMUTED_BLOCKS = 64

SUPPRESSED_TEXT = "*"


def dataset(release: Release, rng: np.random.Generator | None, progress: Progress | None) -> Table:
    """A synthetic table; see `Release.dataset`."""
    views = release.views
    class_name = class_column(release, MOST_ROWS)
    generator = generator_of(rng)
    n_rows = views.n_rows
    sizes = [int(size) for size in views.class_counts]
    done = 0
    columns = {}
    for name, array in views.counts.items():
        dtype = code_dtype(len(array))
        values = np.arange(len(array), dtype=dtype)
        codes = np.empty(n_rows, dtype)
        start = 0
        for c, size in enumerate(sizes):
            part = codes[start : start + size]
            part[:] = np.repeat(values, array[:, c].astype(np.int64))
            generator.shuffle(part)
            start += size
            done += size
            if progress is not None:
                progress(done // len(views.attributes), n_rows)
        columns[name] = Column(codes, views.domains[name])
    labels = np.arange(len(sizes), dtype=code_dtype(len(sizes)))
    columns[class_name] = Column(np.repeat(labels, sizes), views.class_domain)
    return Table.from_columns(columns, None, n_rows)


def write_dataset(
    release: Release,
    path: str | os.PathLike[str],
    rng: np.random.Generator | None,
    progress: Progress | None,
    overwrite: bool = False,
) -> None:
    """Stream a synthetic table; see `Release.write_dataset`."""
    with written(path, overwrite=overwrite) as file:
        stream(release, os.fsdecode(path), file, rng, progress)


def stream(
    release: Release,
    name: str,
    file: IO[bytes],
    rng: np.random.Generator | None,
    progress: Progress | None,
    where: str = "path",
) -> None:
    """Write a synthetic table of the kind that the ending of `name` says; `where` is its argument."""
    ending = streamed_ending(name, where)
    class_name = class_column(release, MOST_STREAMED_ROWS)
    generator = generator_of(rng)
    blocks = blocks_of(release, class_name, generator, progress)
    domains = {**release.views.domains, class_name: release.views.class_domain}
    certificate = partial(_sha256, release)
    write_blocks(blocks, domains, ending, file, certificate, seeded=rng is not None)


def _sha256(release: Release) -> str:
    return str(json.loads(text_of(release))["sha256"])


def streamed_ending(name: str, where: str) -> Ending:
    """The ending of a file whose rows are written block by block; `where` is its argument."""
    ending = ending_of(name)
    if ending is None or not name.lower().endswith(WRITTEN):
        raise ValueError(f"{where} must end in {', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}, got {name!r}")
    return ending


def write_blocks(
    blocks: Iterator[Table],
    domains: Mapping[str, Domain],
    ending: Ending,
    file: IO[bytes],
    certificate: Callable[[], str],
    *,
    seeded: bool,
) -> None:
    """Write blocks of a synthetic table with these columns; `certificate` gives the sha256 of its origin."""
    arrow.load_pyarrow()
    if ending.kind == "parquet":
        _write_parquet(certificate(), blocks, file, seeded=seeded)
        return
    texts = {column: csv_texts(domain, column) for column, domain in domains.items()}
    if ending.compression is None:
        _write_csv(texts, blocks, file)
    else:
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            _write_csv(texts, blocks, packed)


def class_column(release: Release, most: int) -> str:
    """The name of the class column of a table that can be made."""
    views = release.views
    if not views.is_realistic():
        raise ValueError("no table has these counts: they are not realistic")
    rows = views.n_rows
    if rows > most:
        hint = "; write_dataset streams it" if rows <= MOST_STREAMED_ROWS else ""
        size = f"{rows:,}" if rows < 10**18 else f"about 2^{rows.bit_length() - 1}"
        raise ValueError(f"a dataset of this release has {size} rows, more than {most:,}{hint}")
    class_name = "class" if release.class_name is None else release.class_name
    if class_name in views.attributes:
        raise ValueError(f"class_name must be given, because {class_name!r} is an attribute")
    return class_name


def generator_of(rng: np.random.Generator | None) -> np.random.Generator:
    """Who draws: a generator that was given, or one that the operating system seeds."""
    if rng is None:
        return np.random.default_rng()
    generator_or_none(rng)
    return rng


class _Stock:
    """The values of one column of one class that are still to be dealt, in uniformly random order."""

    def __init__(self, counts: Counts, rng: np.random.Generator, block: int) -> None:
        self._counts = counts.astype(np.int64)
        self._left = int(self._counts.sum())
        self._dtype = code_dtype(len(counts))
        self._rng = rng
        self._block = block
        self._dealt = np.empty(0, self._dtype)

    def deal(self, n: int) -> Codes:
        """The next `n` codes."""
        if len(self._dealt):
            codes, self._dealt = self._dealt[:n], self._dealt[n:]
            return codes
        if self._left <= PERMUTED_BLOCKS * self._block:
            rest = np.repeat(np.arange(len(self._counts), dtype=self._dtype), self._counts)
            self._rng.shuffle(rest)
            codes, self._dealt = rest[:n], rest[n:]
            return codes
        ends = np.cumsum(self._counts)
        drawn = self._rng.choice(self._left, n, replace=False)
        codes = np.searchsorted(ends, drawn, side="right").astype(self._dtype)
        self._counts -= np.bincount(codes, minlength=len(self._counts))
        self._left -= n
        return codes


def blocks_of(
    release: Release, class_name: str, rng: np.random.Generator, progress: Progress | None
) -> Iterator[Table]:
    """The synthetic table in blocks; at least one, if an empty one."""
    views = release.views
    block = max(min(BLOCK_ROWS, BLOCK_CELLS // (len(views.attributes) + 1)), 1024)
    total, done = views.n_rows, 0
    labels = code_dtype(len(views.classes))
    for c, size in enumerate(map(int, views.class_counts)):
        stocks = {name: _Stock(array[:, c], rng, block) for name, array in views.counts.items()}
        for start in range(0, size, block):
            n = min(block, size - start)
            columns = {
                name: Column(np.ascontiguousarray(stock.deal(n)), views.domains[name])
                for name, stock in stocks.items()
            }
            columns[class_name] = Column(np.full(n, c, labels), views.class_domain)
            yield Table.from_columns(columns, None, n)
            done += n
            if progress is not None:
                progress(done, total)


def _write_parquet(certificate: str, blocks: Iterator[Table], file: IO[bytes], *, seeded: bool) -> None:
    from pyarrow import parquet

    writer = None
    try:
        for block in blocks:
            arrow_table = block.to_arrow(suppressed=SUPPRESSED_TEXT)
            if writer is None:
                made = {"certificate_sha256": certificate, "seeded": seeded, "synthetic": True}
                schema = arrow_table.schema.with_metadata({"nbcfast": json.dumps(made, sort_keys=True)})
                writer = parquet.ParquetWriter(file, schema)
            writer.write_table(arrow_table.replace_schema_metadata(writer.schema.metadata))
    finally:
        if writer is not None:
            writer.close()


def csv_texts(domain: Domain, name: str, instead: str = "use .parquet") -> list[str]:
    """The fields of a column's values, quoted where CSV needs it; a null is empty.

    `instead` is what to do where it cannot hold them.
    """
    plain = ["" if value is None else str(value) for value in domain.values]
    if SUPPRESSED in domain.tail:
        if SUPPRESSED_TEXT in plain:
            raise ValueError(f"column {name!r}: its domain holds the text {SUPPRESSED_TEXT!r} of SUPPRESSED")
        plain[-1] = SUPPRESSED_TEXT
    if None in domain.tail and plain.count("") > 1:
        raise ValueError(f"column {name!r}: CSV cannot tell the empty text from a null: {instead}")
    for text in plain:
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(f"column {name!r}: value {text!r} cannot be written as UTF-8")
    return [csv_field(text) for text in plain]


def csv_field(text: str) -> str:
    """A text as it stands in CSV, quoted where it has to be."""
    if not text:
        return text
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([text])  # quotes what its line ends are made of
    return line.getvalue().removesuffix("\r\n")


def _write_csv(
    texts: Mapping[str, list[str]], blocks: Iterator[Table], file: IO[bytes] | gzip.GzipFile
) -> None:
    """Rows are joined column by column; what Arrow then holds in one buffer is the text of the file."""
    import pyarrow as pa
    from pyarrow import compute

    file.write((",".join(map(csv_field, texts)) + "\n").encode())
    last = list(texts)[-1]
    fields = {
        name: pa.array([text + "\n" if name == last else text for text in column], pa.large_string())
        for name, column in texts.items()
    }
    for block in blocks:
        columns = [field.take(pa.array(block.codes(name))) for name, field in fields.items()]
        rows = compute.binary_join_element_wise(*columns, pa.scalar(",", pa.large_string()))
        _, offsets, data = rows.buffers()
        ends = np.frombuffer(offsets, np.int64)[rows.offset : rows.offset + len(rows) + 1]
        file.write(memoryview(data)[ends[0] : ends[-1]])


def codes(release: Release, table: AnyTable, domains: Declarations | Declared | None) -> Longs:
    """Positions in the published domains; see `Release.codes`."""
    table = rows_from(table, DECIDED_THERE)
    views = release.views
    options = options_of(views.domains, None if domains is None else declared(domains))
    result = np.empty((table.n_rows, len(views.attributes)), np.int64)
    for i, name in enumerate(views.attributes):
        column = table.column(name)
        places = Placing(views.domains[name], options.get(name)).places(column.domain)
        found = places[column.codes]
        if len(found) and found.min() < 0:
            value = column.domain.values[int(column.codes[int(found.argmin())])]
            raise ValueError(f"column {name!r}: value {value!r} is not in the domain of the release")
        result[:, i] = found
    return result


@dataclass(frozen=True, eq=False)
class Probabilities(HasReadOnlyMappings):
    """A naive Bayes classifier as float64 probabilities.

    Attributes
    ----------
    classes : tuple
        Labels in rising precedence.
    prior : ndarray, shape (classes,)
        P_c / R.
    conditional : mapping of name -> ndarray, shape (values, classes)
        N_{t,c} / P_c.
    domains : mapping of name -> tuple
        The values, one a row of the array.
    """

    classes: tuple[Value, ...]
    prior: Floats
    conditional: Mapping[str, Floats]
    domains: Mapping[str, tuple[Value, ...]]

    def to_dict(self) -> Document:
        return {
            "classes": list(self.classes),
            "prior": self.prior.tolist(),
            "attributes": {
                name: {"values": list(self.domains[name]), "conditional": array.tolist()}
                for name, array in self.conditional.items()
            },
        }


def to_probabilities(release: Release) -> Probabilities:
    """Shares; see `Release.to_probabilities`."""
    views = release.views
    prior = shares(views.class_counts, views.n_rows)
    conditional = {name: shares(array, views.class_counts) for name, array in views.counts.items()}
    for array in (prior, *conditional.values()):
        array.flags.writeable = False
    domains = {name: views.domain(name) for name in views.attributes}
    return Probabilities(views.classes, prior, MappingProxyType(conditional), MappingProxyType(domains))


def to_sklearn(release: Release) -> PublishedCategoricalNB:
    """A fitted classifier of scikit-learn's kind; see `Release.to_sklearn`."""
    try:
        from nbcfast.published.fitted import PublishedCategoricalNB
    except ImportError as error:
        if (error.name or "").split(".")[0] != "sklearn":
            raise
        raise ImportError(
            "to_sklearn needs scikit-learn: pip install scikit-learn", name="sklearn"
        ) from error
    if not release.views.attributes:
        raise ValueError("to_sklearn: expected at least one attribute, got none")
    return PublishedCategoricalNB.of(release)
