"""Tasks of engines within this process: the rows of one bucket after the other, each bucket by a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nbcfast._core.untyped import PyArrow
from nbcfast.frames.engines import DividedRows, TooManyRowsError

MOST_TASKS = 1 << 16  # hashes are cut to twice as many bits where an engine multiplies them

Bucket = Callable[
    [int, int], PyArrow
]  # the distinct rows of a bucket, by its number and among how many it is


def of_buckets(divided: DividedRows, bucket: Bucket) -> Iterator[tuple[bytes | None, int]]:
    """What `Engine.in_tasks` gives; where nobody says how many, buckets that are too large are halved."""
    n_tasks = 1 if divided.tasks is None or not divided.together else divided.tasks
    waiting = [(part, n_tasks) for part in reversed(range(n_tasks))]
    while waiting:
        part, n_parts = waiting.pop()
        try:
            rows = bucket(part, n_parts)
        except TooManyRowsError:
            if divided.tasks is not None or not divided.together or 2 * n_parts > MOST_TASKS:
                raise
            # A hash modulo n is its remainder modulo 2 n, or n less than that.
            waiting += [(part + n_parts, 2 * n_parts), (part, 2 * n_parts)]
            n_tasks += 1
            continue
        yield (divided.work(rows) if rows.num_rows else None), n_tasks
