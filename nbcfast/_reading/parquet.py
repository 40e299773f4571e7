"""Tables from Parquet files, row group by row group."""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import BinaryIO

from nbcfast._core.dtypes import Codes
from nbcfast._core.threads import Progress, ahead, usual
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.column_chunks import MOST_CELLS, Scratch, coded, may_be_coded
from nbcfast._reading.footers import chunks
from nbcfast._reading.hints import UnreadableError, look_at, refuse_folder
from nbcfast.table import arrow
from nbcfast.table.encode import ColumnBuilder
from nbcfast.table.row_weights import split_weights
from nbcfast.table.table import Table, declared_domains
from nbcfast.table.values import Value

PARQUET_ROWS = 1 << 17
# To begin a group takes as long as thousands of rows: many small ones are read in one go, by pyarrow.
MANY_GROUPS, FEW_ROWS = 64, 1 << 13


def read_parquet(
    path: str | os.PathLike[str],
    columns: Iterable[str] | None = None,
    *,
    domains: Mapping[str, Iterable[object]] | None = None,
    weights: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a Parquet file; text columns stay dictionaries on the way.

    Parameters
    ----------
    path : str or path
        The file.
    columns : sequence of str, optional
        The columns to read, in this order; by default all that are not a pandas index.
    domains : mapping of name -> sequence, optional
        Declared domains, as of Table.
    weights : str, optional
        The column of weights.
    progress : callable, optional
        Called with the bytes read (estimated from the rows) and the bytes in all after each batch.

    Returns
    -------
    Table

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a Parquet file, or names are unknown or given twice.
    TypeError
        If a column is nested or binary.
    """
    where = os.fsdecode(path)
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"weights: expected the name of a column, got {type(weights).__name__}")
    arrow.load_readers()
    declared = declared_domains(domains)
    file = ParquetFile(where)
    present = file.names
    wanted = arrow.chosen_names(present, columns, file.index_names)
    if not wanted:
        raise ValueError(f"{where}: expected at least one column, got none")
    if weights is not None and weights not in wanted:
        wanted += arrow.chosen_names(present, [weights])
    declared_domains(declared, [name for name in wanted if name != weights])
    file.expect_readable(wanted)
    size, done = os.stat(where).st_size, 0
    builders = {name: ColumnBuilder(name) for name in wanted}
    with closing(file.arrays(wanted)) as arrays:
        for n_rows in arrow.add_arrays(builders, arrays):
            done += n_rows
            if progress is not None:
                progress(size * done // max(file.n_rows, 1), size)
    finished = {name: builders.pop(name).finish(declared.get(name)) for name in list(builders)}
    n_rows = len(next(iter(finished.values())).codes)
    kept, checked = split_weights(finished, weights, n_rows)
    return Table.from_columns(kept, checked, n_rows)


class ParquetFile:
    """A Parquet file that is read batch by batch, as often as need be; texts stay dictionaries.

    Parameters
    ----------
    path : str
    eager : bool
        Whether the next batch is read while the present one is looked at, on several threads and in more
        memory.

    Attributes
    ----------
    schema : pyarrow.Schema
    n_rows : int
    """

    def __init__(self, path: str, *, eager: bool = True) -> None:
        self.path, self.eager = path, eager
        refuse_folder(path)
        with open(path, "rb"):  # the usual OSError, with its path
            pass
        with self._errors():
            import pyarrow.parquet as parquet

            with parquet.ParquetFile(path) as file:
                self.schema = file.schema_arrow
                self.n_rows, n_groups = int(file.metadata.num_rows), int(file.metadata.num_row_groups)
                self._has_small_groups = n_groups > MANY_GROUPS and self.n_rows < FEW_ROWS * n_groups

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def index_names(self) -> set[str]:
        """The columns that are a pandas index."""
        return arrow.index_columns(self.schema)

    def expect_readable(self, names: Iterable[str]) -> None:
        """TypeError for a column of a type that cannot be read, before anything is."""
        for name in names:
            arrow.ColumnReader(name, self.schema.field(name).type)

    def batches(
        self, names: Sequence[str], groups: list[int] | None = None, opened: PyArrow | None = None
    ) -> Generator[PyArrow, None, None]:
        """Record batches of these columns, of some groups of rows; at least one, so that they have types.

        `opened` is what `open` gave of these columns and others.
        """
        pa = arrow.load_pyarrow()
        with ExitStack() as stack:
            file = opened
            if file is None:  # else whoever has opened it says what is wrong
                stack.enter_context(self._errors())
                file = stack.enter_context(self.open(names))
            empty = True
            several = self.eager and usual() > 1
            batches = file.iter_batches(
                batch_size=PARQUET_ROWS, row_groups=groups, columns=names, use_threads=several
            )
            # Closed before the file: the batch that is being read ahead is still of it.
            with closing(ahead(batches) if several and groups is None else batches) as read:
                for batch in read:
                    empty = False
                    yield batch
            if empty:
                yield pa.RecordBatch.from_pylist([], schema=pa.schema(map(self.schema.field, names)))

    def open(self, names: Sequence[str]) -> PyArrow:
        """The file, opened so that texts of these columns stay dictionaries."""
        import pyarrow.parquet as parquet

        types = arrow.load_pyarrow().types
        fields = [self.schema.field(name) for name in names]
        texts = [
            field.name for field in fields if types.is_string(field.type) or types.is_large_string(field.type)
        ]
        return parquet.ParquetFile(self.path, read_dictionary=texts, pre_buffer=self.eager)

    def arrays(self, names: Sequence[str]) -> Generator[dict[str, PyArrow], None, None]:
        """As `batches`, name -> array; texts that are stored as codes come as these, many rows at once."""
        empty = True
        if not self._has_small_groups:
            with closing(self._grouped(names)) as grouped:
                for arrays in grouped:
                    empty = False
                    yield arrays
        if empty:
            with closing(self.batches(names)) as batches:
                for batch in batches:
                    yield dict(zip(batch.schema.names, batch.columns, strict=True))

    def _grouped(self, names: Sequence[str]) -> Generator[dict[str, PyArrow], None, None]:
        """Group by group, some columns as codes."""
        several = self.eager and usual() > 1
        with self._errors(), self.open(names) as file, open(self.path, "rb") as stored:
            leaves = map(file.schema.column, range(len(file.schema)))
            # A column "a.b" has the path of what is "b" in a column "a".
            places = {leaf.path: place for place, leaf in enumerate(leaves) if leaf.name == leaf.path}
            grouped = _Groups(self, file, stored, {name: places[name] for name in names if name in places})
            with closing(ahead(grouped.arrays(names)) if several else grouped.arrays(names)) as read:
                yield from read

    def encoded(
        self, names: Sequence[str], *, check: bool = True
    ) -> Generator[dict[str, tuple[Codes, list[Value]]], None, None]:
        """Batches of name -> (codes, values), none of them empty."""
        readers: dict[str, arrow.ColumnReader] = {}
        with closing(self.arrays(names)) as batches:
            for arrays in batches:
                for name, array in arrays.items():
                    if name not in readers:
                        readers[name] = arrow.ColumnReader(name, array.type)
                if len(array):
                    yield {name: readers[name].encode(array, check=check) for name, array in arrays.items()}

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """What is wrong with the file, in one line that names it."""
        pa = arrow.load_pyarrow()
        try:
            yield
        except pa.ArrowInvalid as error:
            raise UnreadableError(f"{self.path}: {arrow.one_line(error)}", look_at(self.path)) from None
        except (pa.ArrowException, OSError) as error:
            raise OSError(f"{self.path}: {arrow.one_line(error)}") from None


class _Groups:
    """The groups of rows of an open file."""

    def __init__(self, opened: ParquetFile, file: PyArrow, stored: BinaryIO, places: dict[str, int]) -> None:
        self.opened, self.file, self.stored, self.places = opened, file, stored, places
        self._scratch = Scratch()
        self._chunks = chunks(stored)

    def arrays(self, names: Sequence[str]) -> Generator[dict[str, PyArrow], None, None]:
        for group in range(self.file.metadata.num_row_groups):
            n_rows = self.file.metadata.row_group(group).num_rows
            few = n_rows * len(names) <= MOST_CELLS  # else batches of them are smaller than the group
            coding = names if few else ()
            own = {name: array for name in coding if (array := self._coded(group, name, n_rows)) is not None}
            others = [name for name in names if name not in own]
            if not others:
                if n_rows:
                    yield own
                continue
            start = 0
            for batch in self.opened.batches(others, [group], self.file):
                if batch.num_rows:
                    stop = start + batch.num_rows
                    sliced = {name: array.slice(start, stop - start) for name, array in own.items()}
                    read = dict(zip(batch.schema.names, batch.columns, strict=True))
                    yield {name: sliced[name] if name in sliced else read[name] for name in names}
                    start = stop
            if start != n_rows:
                raise arrow.load_pyarrow().ArrowInvalid(
                    f"group {group} of rows: expected {n_rows:,} rows, got {start:,}"
                )

    def _coded(self, group: int, name: str, n_rows: int) -> PyArrow | None:
        place = self.places.get(name)
        if place is None or group >= len(self._chunks) or place >= len(self._chunks[group]):
            return None  # nested, or not understood
        chunk, schema = self._chunks[group][place], self.file.schema.column(place)
        if chunk is None or chunk.n_values != n_rows:  # pyarrow says what is wrong
            return None
        if not may_be_coded(chunk, self.opened.schema.field(name).type, schema):
            return None
        return coded(self.stored, chunk, schema.max_definition_level == 1, self._scratch)
