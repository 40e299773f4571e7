"""Tables from Parquet files, row group by row group."""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from nbcfast._core.threads import Progress, ahead, usual
from nbcfast._core.untyped import PyArrow
from nbcfast._reading.hints import UnreadableError, look_at, refuse_folder
from nbcfast.table import arrow
from nbcfast.table.encode import ColumnBuilder
from nbcfast.table.row_weights import split_weights
from nbcfast.table.table import Table, declared_domains

PARQUET_ROWS = 1 << 17


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
    with closing(file.batches(wanted)) as batches:
        for batch in arrow.add_batches(builders, batches):
            done += batch.num_rows
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
                self.n_rows = int(file.metadata.num_rows)

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

    def batches(self, names: Sequence[str]) -> Generator[PyArrow, None, None]:
        """Record batches of these columns; at least one, so that they have types."""
        import pyarrow.parquet as parquet

        pa = arrow.load_pyarrow()
        types, fields = pa.types, [self.schema.field(name) for name in names]
        texts = [
            field.name for field in fields if types.is_string(field.type) or types.is_large_string(field.type)
        ]
        with (
            self._errors(),
            parquet.ParquetFile(self.path, read_dictionary=texts, pre_buffer=self.eager) as file,
        ):
            empty = True
            several = self.eager and usual() > 1
            batches = file.iter_batches(batch_size=PARQUET_ROWS, columns=names, use_threads=several)
            # Closed before the file: the batch that is being read ahead is still of it.
            with closing(ahead(batches) if several else batches) as read:
                for batch in read:
                    empty = False
                    yield batch
            if empty:
                yield pa.RecordBatch.from_pylist([], schema=pa.schema(fields))

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
