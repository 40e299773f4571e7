"""What executors of Spark do with the rows of a partition: nbcfast has to be installed there."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from nbcfast._core.untyped import PyArrow, Spark
from nbcfast.frames.engines import column
from nbcfast.frames.wheels import lacks_nbcfast, wheel_error
from nbcfast.table.arrow import load_pyarrow
from nbcfast.table.values import Kind

TOLD = "told"  # the column of what comes back


@dataclass(frozen=True)
class OnPartition:
    """What `mapInArrow` calls: one row of bytes for a partition, none for one without rows."""

    work: Callable[[PyArrow], bytes]

    def __call__(self, batches: Iterator[PyArrow]) -> Iterator[PyArrow]:
        pa = load_pyarrow()
        present = [batch for batch in batches if batch.num_rows]
        if present:
            told = self.work(pa.Table.from_batches(present))
            yield pa.RecordBatch.from_arrays([pa.array([told], pa.binary())], names=[TOLD])


@dataclass(frozen=True)
class WithNames:
    """What `mapInArrow` calls where all columns come out again: work that knows them by their own names."""

    work: Callable[[Iterator[PyArrow]], Iterator[PyArrow]]
    names: tuple[str, ...]

    def __call__(self, batches: Iterator[PyArrow]) -> Iterator[PyArrow]:
        pa = load_pyarrow()
        places = [column(place) for place in range(len(self.names))]
        named = (pa.RecordBatch.from_arrays(batch.columns, names=list(self.names)) for batch in batches)
        for batch in self.work(named):
            yield pa.RecordBatch.from_arrays(batch.columns, names=places)


def types_of_kinds(kinds: Mapping[int, Kind | None]) -> dict[int, Spark]:
    """The types of Spark that hold values of these kinds."""
    from pyspark.sql import types

    known = {"bool": types.BooleanType(), "int": types.LongType(), "float": types.DoubleType()}
    return {place: known.get(str(kind), types.StringType()) for place, kind in kinds.items()}


def write_parquet(rows: Spark, path: str) -> None:
    """Write a frame into a folder that does not exist.

    Files take their names when all tasks are done: by the other algorithm of the committer those of a task
    that is done stay where the job fails.
    """
    writer = rows.write.mode("error").option("mapreduce.fileoutputcommitter.algorithm.version", "1")
    try:
        with expect_nbcfast():
            writer.parquet(path)
    except Exception as error:  # of Spark's own, which has other names in other releases
        if "PATH_ALREADY_EXISTS" in str(error):
            raise FileExistsError(errno.EEXIST, "exists, and nothing is overwritten", path) from None
        raise


@contextmanager
def expect_nbcfast() -> Iterator[None]:
    """One sentence in place of the error of executors that cannot import nbcfast."""
    try:
        yield
    except Exception as error:  # of Spark's own, which has other names in other releases
        if lacks_nbcfast(error):
            raise wheel_error("the executors of Spark") from error
        raise
