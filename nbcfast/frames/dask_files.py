"""Files that workers of Dask write: a folder that takes its name when all of them are complete."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence

from nbcfast._core.files import place_of
from nbcfast._core.untyped import Dask, Pandas, PyArrow
from nbcfast.frames.engines import Mapped
from nbcfast.table.arrow import load_pyarrow

ROWS = 1 << 17  # of a partition that are worked on at once


def written_parts(frame: Dask, schema: PyArrow, mapped: Mapped) -> list[str]:
    """The files of Parquet that are written of the partitions, in a folder that has taken its name.

    Until then its name starts with a dot and ends in ``.part``. Files are written on the workers, and counted
    here: both have to see the folder. What a worker left that was killed while it wrote has other answers of
    the same people, and never was in it.
    """
    import dask
    from pyarrow import parquet

    if "://" in mapped.path:
        raise ValueError(
            f"path: expected a folder that this process and all workers of Dask see, got {mapped.path!r}"
        )
    target = place_of(mapped.path)
    _expect_nothing(target)
    folder, name = os.path.split(target)
    own = os.path.join(folder, f".{name}.{uuid.uuid4().hex}.part")
    trials = f"{own}.trials"
    try:
        os.mkdir(own)
        os.mkdir(trials)
        counted, write = dask.delayed(len, pure=False), dask.delayed(_write, pure=False)
        types = _types(schema, mapped)
        parts = frame.to_delayed()
        files = [os.path.join(own, f"part-{number:06d}.parquet") for number in range(len(parts))]
        answers = dask.compute(
            [counted(part) for part in parts],
            [write(part, mapped.work, types, file, trials) for part, file in zip(parts, files, strict=True)],
        )
        missing = [file for file in files if not os.path.exists(file)]
        if missing:
            raise ValueError(f"path: workers of Dask do not see the folder {folder!r} of this process")
        n_written = [parquet.read_metadata(file).num_rows for file in files]
        if n_written != answers[0] or sum(n_written) != mapped.n_rows:
            raise ValueError(
                f"path: {sum(n_written):,} rows were written of {mapped.n_rows:,}: the frame has changed "
                "while it was read, and nothing is left of them. Give a table that stays as it is"
            )
        _expect_nothing(target)
        os.rename(own, target)
    except BaseException:
        shutil.rmtree(own, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(trials, ignore_errors=True)
    return [os.path.join(target, os.path.basename(file)) for file in files]


def read_part(file: str, columns: Sequence[str] | None = None) -> Pandas:
    """The rows of a file, or some of their columns."""
    from pyarrow import parquet

    return parquet.ParquetFile(file).read(None if columns is None else list(columns)).to_pandas()


def _expect_nothing(target: str) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists, and nothing is overwritten", target)


def _types(schema: PyArrow, mapped: Mapped) -> dict[str, PyArrow]:
    """The type of each column, so that all files have the same; null where only the rows know it."""
    pa = load_pyarrow()
    known = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
    types = {}
    for place, field in enumerate(schema):
        type_ = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        types[field.name] = (
            known.get(str(mapped.kinds[place]), pa.string()) if place in mapped.kinds else type_
        )
    return types


def _write(
    rows: Pandas,
    work: Callable[[Iterator[PyArrow]], Iterator[PyArrow]],
    types: dict[str, PyArrow],
    file: str,
    trials: str,
) -> None:
    """The file of a partition, on the worker that has it; what is tried again writes it again, as a whole."""
    from pyarrow import parquet

    pa = load_pyarrow()
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    named = [table.slice(start, ROWS).combine_chunks() for start in range(0, table.num_rows, ROWS)]
    batches: Iterator[PyArrow] = (batch for part in named for batch in part.to_batches())
    made = [pa.Table.from_batches([batch]) for batch in work(batches)]
    found = pa.concat_tables(made) if made else table
    arrays = []
    for name in types:
        array = found.column(name)
        wanted = types[name]
        if pa.types.is_null(wanted):
            wanted = pa.string() if pa.types.is_null(array.type) else array.type
        arrays.append(array.cast(wanted))
    trial = os.path.join(trials, uuid.uuid4().hex)
    try:
        parquet.write_table(pa.Table.from_arrays(arrays, names=list(types)), trial)
        os.replace(trial, file)
    except BaseException:
        if os.path.exists(trial):
            os.remove(trial)
        raise
