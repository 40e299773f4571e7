"""What executors of Spark do with the rows of a partition: nbcfast has to be installed there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nbcfast._core.untyped import PyArrow
from nbcfast.frames.wheels import lacks_nbcfast, wheel_error
from nbcfast.table.arrow import load_pyarrow

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


@contextmanager
def expect_nbcfast() -> Iterator[None]:
    """One sentence in place of the error of executors that cannot import nbcfast."""
    try:
        yield
    except Exception as error:  # of Spark's own, which has other names in other releases
        if lacks_nbcfast(error):
            raise wheel_error("the executors of Spark") from error
        raise
