"""What workers of Dask do: rows divided over tasks by their values, and the rows of a task put together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nbcfast._core.dtypes import Words
from nbcfast._core.untyped import Pandas, PyArrow
from nbcfast.frames.engines import NUMBER, column
from nbcfast.table.domain import Domain
from nbcfast.table.table import Table, concat

MIXING = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Division:
    """How the rows of a partition are divided.

    Attributes
    ----------
    names : mapping of int -> str
        The columns that are read, by their places.
    together : tuple of int
        Places of columns: rows that are equal in them are in one task.
    weights : int or None
        The place of the column that says how many people a row stands for.
    tasks : int
    """

    names: Mapping[int, str]
    together: tuple[int, ...]
    weights: int | None
    tasks: int


def shared_out(rows: Pandas, division: Division) -> list[Table | None]:
    """The distinct rows of a partition, a table for each task; None for those that get no rows of it.

    A row is divided by the values that it has and not by their codes, which each partition has in an order of
    its own: so rows that are equal in the columns that stay together are in one task, on every worker.
    """
    if not len(rows):
        return [None] * division.tasks
    weights = None if division.weights is None else division.names[division.weights]
    table = Table(rows, weights=weights).collapse()
    key = np.zeros(table.n_rows, np.uint64)
    for place in division.together:
        values = table.column(division.names[place])
        key = (key ^ hashed(values.domain)[values.codes]) * MIXING
        key ^= key >> np.uint64(29)
    task = (key >> np.uint64(7)) % np.uint64(division.tasks)
    order = np.argsort(task, kind="stable")
    ends = np.cumsum(np.bincount(task.astype(np.int64), minlength=division.tasks))
    return [
        table.take(order[end - n_rows : end]) if n_rows else None
        for end, n_rows in zip(ends, np.diff(ends, prepend=0), strict=True)
    ]


def hashed(domain: Domain) -> Words:
    """A number for each value, the same for values that a Table takes for one.

    Integers are hashed as the floats next to them: 1 beside 1.5 in another partition is 1.0. Bools are no
    numbers, and refused beside them.
    """
    if domain.kind in ("int", "float"):
        found = (np.asarray(domain.head, np.float64) + 0.0).view(np.uint64)
    else:
        found = np.array([_digest(repr(value)) for value in domain.head], np.uint64)
    # Behind them None and SUPPRESSED.
    tail = np.array([_digest(repr(value)) for value in domain.values[len(found) :]], np.uint64)
    return np.concatenate([found, tail])


def _digest(text: str) -> int:
    # Of Python's own hash each worker has another.
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


def worked(
    parts: Sequence[Table | None], division: Division, work: Callable[[PyArrow], bytes]
) -> bytes | None:
    """What comes of the rows of a task, which several partitions have."""
    present = [table for table in parts if table is not None]
    if not present:
        return None
    table = concat(present).collapse()
    columns = {
        column(place): table.column(name)
        for place, name in division.names.items()
        if place != division.weights
    }
    return work(Table.from_columns(columns, table.weights, table.n_rows).to_arrow(weights=NUMBER))
