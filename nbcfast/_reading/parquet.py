"""Tables from Parquet files, row group by row group."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from nbcfast._core.threads import Progress
from nbcfast.table import arrow
from nbcfast.table.domain import Domain
from nbcfast.table.encode import ColumnBuilder
from nbcfast.table.table import Table, declared_domains, split_weights

PARQUET_ROWS = 1 << 17


def read_parquet(
    path: str | os.PathLike[str],
    columns: Iterable[str] | None = None,
    *,
    domains: Mapping[str, Iterable[Any]] | None = None,
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
    pa = arrow.load_readers()
    with open(where, "rb"):  # the usual OSError, with its path
        pass
    declared = declared_domains(domains)
    try:
        builders = _read_groups(where, columns, declared, weights, progress)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{where}: {arrow.one_line(error)}") from None
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{where}: {arrow.one_line(error)}") from None
    finished = {name: builders.pop(name).finish(declared.get(name)) for name in list(builders)}
    n_rows = len(next(iter(finished.values())).codes)
    kept, checked = split_weights(finished, weights, n_rows)
    return Table._of(kept, checked, n_rows)


def _read_groups(
    path: str,
    columns: Iterable[str] | None,
    declared: Mapping[str, Domain],
    weights: str | None,
    progress: Progress | None,
) -> dict[str, ColumnBuilder]:
    import pyarrow.parquet as parquet

    pa = arrow.load_pyarrow()
    size = os.stat(path).st_size
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        wanted = arrow.chosen_names(list(schema.names), columns, arrow.index_columns(schema))
        if not wanted:
            raise ValueError(f"{path}: expected at least one column, got none")
        if weights is not None and weights not in wanted:
            wanted += arrow.chosen_names(list(schema.names), [weights])
    declared_domains(declared, [name for name in wanted if name != weights])
    for name in wanted:
        arrow.ColumnReader(name, schema.field(name).type)  # refuses what cannot be read before reading
    texts = [name for name in wanted if pa.types.is_string(schema.field(name).type)]
    texts += [name for name in wanted if pa.types.is_large_string(schema.field(name).type)]
    builders = {name: ColumnBuilder(name) for name in wanted}
    readers: dict[str, arrow.ColumnReader] = {}
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        total, done = max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=wanted):
            for name in wanted:
                array = batch.column(batch.schema.get_field_index(name))
                if name not in readers:
                    readers[name] = arrow.ColumnReader(name, array.type)
                arrow.add_batch(builders[name], readers[name], array)
            done += batch.num_rows
            if progress is not None:
                progress(size * done // total, size)
    return builders
