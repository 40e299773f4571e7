"""Tallies of columns of codes: how many rows each class has, and each value of a column with each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import numpy.typing as npt

from nbcfast import _columns, _count
from nbcfast._columns import Columns
from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.joint import JointTables, plan
from nbcfast._core.threads import n_threads, over_rows
from nbcfast._core.validation import whole
from nbcfast.table import Domain, Table

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Caches = tuple[int, int, bool]  # bytes of the first and of the second, and whether the second is fast
CACHES: Caches = _columns.caches()

MAX_VALUES = 65_536  # of an attribute, and classes: two bytes a code

# So few fields, codes and classes, are counted one by one: joint tables take longer to plan and to make.
FEW_FIELDS = 20_000

# Nanoseconds: an increment; clearing and summing out the counters of an entry; what an increment takes more
# in a table beyond the first cache, where the second is known to be fast, and elsewhere.
ROW_COST, ENTRY_COST, FAR_COST, FAR_COST_USUAL = 0.27, 1.5, 0.05, 0.15
ENTRY_BYTES = 8  # four counters of 16 bits
MOST_ENTRIES = 40_000  # of all threads, so that they take half a megabyte, with a sum of 32 bits an entry
LEAST_ENTRIES = 6_000  # of one


def tally(
    codes: Sequence[Array],
    sizes: Sequence[int],
    class_codes: Array,
    n_classes: int,
    n_rows: int,
    *,
    weights: Longs | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    caches: Caches | None = None,
) -> tuple[Longs, list[Longs]]:
    """Class counts, and a (values, classes) array an attribute.

    `caches`: if not those of this processor. The counts are the same.
    """
    if n_rows == 0:
        return np.zeros(n_classes, np.int64), [np.zeros((size, n_classes), np.int64) for size in sizes]
    if n_rows * (len(sizes) + 1) <= FEW_FIELDS:
        return _tally_few(codes, sizes, class_codes, n_classes, n_rows, weights, threads, progress)
    if not codes:
        return _tally_classes(class_codes, n_classes, n_rows, weights, threads, progress), []
    columns = Columns([*codes, class_codes], [*sizes, n_classes], n_rows)
    n_bytes = sum(column.itemsize for column in (*codes, class_codes)) * n_rows
    most_threads = n_threads(threads, n_bytes)
    groups = counting_plan(
        sizes if weights is None else [0] * len(sizes),
        n_classes,
        n_rows,
        threads=most_threads,
        by_four=columns.is_matrix(len(sizes)),
        caches=caches,
    )

    def add(part: _count.Tally, start: int, stop: int) -> None:
        bad = part.add(start, stop)
        if bad >= 0:
            raise _OutOfRangeError(bad)

    try:
        parts = over_rows(
            lambda: _count.Tally(columns, groups.first, groups.members, weights),
            add,
            n_rows,
            threads=most_threads,
            progress=progress,
        )
    except _OutOfRangeError as error:
        raise _describe(columns, error.column, codes, class_codes, sizes, n_classes) from None
    flat = np.zeros(sum(sizes) * n_classes, np.int64)
    for part in parts:
        part.add_to(flat)
    bounds = np.cumsum([0, *sizes]) * n_classes
    counts = [
        flat[start:stop].reshape(size, n_classes)
        for start, stop, size in zip(bounds[:-1], bounds[1:], sizes, strict=True)
    ]
    return counts[0].sum(axis=0), counts


def _tally_few(
    codes: Sequence[Array],
    sizes: Sequence[int],
    class_codes: Array,
    n_classes: int,
    n_rows: int,
    weights: Longs | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Longs, list[Longs]]:
    """The same in this thread, into one array."""
    n_threads(threads, 0)
    together = np.zeros((sum(sizes) + 1, n_classes), np.int64)
    columns = Columns([*codes, class_codes], [*sizes, n_classes], n_rows)
    bad = _count.tally_few(columns, together, weights)
    if bad >= 0:
        raise _describe(columns, bad, codes, class_codes, sizes, n_classes)
    if progress is not None:
        progress(n_rows, n_rows)
    counts, start = [], 0
    for size in sizes:
        counts.append(together[start : start + size])
        start += size
    return together[start], counts


def counting_plan(
    sizes: Sequence[int],
    n_classes: int,
    n_rows: int,
    *,
    threads: int = 1,
    by_four: bool = False,
    caches: Caches | None = None,
) -> JointTables:
    """Which attributes are counted in one table, with these caches or those of this processor.

    Each thread has tables of its own, which it clears and sums out.
    """
    first, second, is_fast = caches or CACHES
    return plan(
        sizes,
        -(-n_rows // threads),
        per_entry=n_classes,
        # Half of a cache: the codes, and indices of a block, pass through both.
        most_entries=min(max(MOST_ENTRIES // threads, LEAST_ENTRIES), second // (3 * ENTRY_BYTES)),
        row_cost=ROW_COST,
        entry_cost=ENTRY_COST,
        near_table=first // (2 * ENTRY_BYTES),
        far_cost=FAR_COST if is_fast else FAR_COST_USUAL,
        by_four=by_four,
    )


def _tally_classes(
    class_codes: Array,
    n_classes: int,
    n_rows: int,
    weights: Longs | None,
    threads: int | None,
    progress: Progress | None,
) -> Longs:
    """Class counts alone: the class is counted as an attribute beside a class that is always the same."""
    same = np.broadcast_to(np.uint8(0), n_rows)
    try:
        _, counts = tally(
            [class_codes],
            [n_classes],
            same,
            1,
            n_rows,
            weights=weights,
            threads=threads,
            progress=progress,
        )
    except ValueError:
        row = _count.first_bad(Columns([class_codes], [n_classes], n_rows), 0)
        if row < 0:
            raise
        raise _bad_code("class_codes", n_classes, class_codes, row) from None
    return counts[0][:, 0].copy()


class _OutOfRangeError(Exception):
    def __init__(self, column: int) -> None:
        self.column = column


def _describe(
    columns: Columns,
    column: int,
    codes: Sequence[Array],
    class_codes: Array,
    sizes: Sequence[int],
    n_classes: int,
) -> ValueError:
    """Which code is out of range; of several, the first of the first such column."""
    for number in range(len(sizes) + 1):
        row = _count.first_bad(columns, number)
        if row >= 0:
            is_class = number == len(sizes)
            array, size = (class_codes, n_classes) if is_class else (codes[number], sizes[number])
            what = "class_codes" if is_class else f"codes of attribute {number}"
            return _bad_code(what, size, array, row)
    return ValueError(f"column {column} changed while it was counted")


def _bad_code(what: str, size: int, array: Array, row: int) -> ValueError:
    return ValueError(f"{what} must be 0..{size - 1}, got {array[row]} in row {row}")


def tally_codes(
    codes: npt.ArrayLike | Sequence[npt.ArrayLike],
    class_codes: npt.ArrayLike,
    *,
    sizes: Sequence[int] | None,
    n_classes: int | None,
    weights: npt.ArrayLike | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Longs, dict[str, Longs], Domain, dict[str, Domain]]:
    """The parts of the viewset that Viewset.from_codes promises."""
    y = _as_codes(class_codes, "class_codes")
    if y.ndim != 1:
        raise ValueError(f"class_codes must be 1-D, got {y.ndim} dimensions")
    if isinstance(codes, np.ndarray) or not _is_list_of_arrays(codes):
        matrix = _as_codes(codes, "codes")
        if matrix.ndim != 2:
            raise ValueError(f"codes must be 2-D (rows, attributes), got {matrix.ndim} dimensions")
        columns = list(matrix.T)
    else:
        columns = [_as_codes(column, f"codes of attribute {i}") for i, column in enumerate(codes)]
    for i, column in enumerate(columns):
        if column.ndim != 1 or len(column) != len(y):
            raise ValueError(f"codes of attribute {i} must be {len(y)} rows, got shape {column.shape}")
    widths = [
        _size(None if sizes is None else sizes, i, column, len(columns)) for i, column in enumerate(columns)
    ]
    many = _size(None if n_classes is None else [n_classes], 0, y, 1, "n_classes")
    if many < 1:
        raise ValueError("no rows: n_classes must be given")
    checked = None
    if weights is not None:
        # A Table of one column checks weights as it checks those of any other table.
        checked = Table({"class": np.zeros(len(y), np.uint8)}, weights=weights).weights
    class_counts, counts = tally(
        columns, widths, y, many, len(y), weights=checked, threads=threads, progress=progress
    )
    names = [f"A{i + 1}" for i in range(len(columns))]
    # Which code is the largest is found in the rows, and tells of them.
    domains = {
        name: Domain.of(range(size), sizes is not None) for name, size in zip(names, widths, strict=True)
    }
    class_domain = Domain.of(range(many), n_classes is not None)
    return class_counts, dict(zip(names, counts, strict=True)), class_domain, domains


def _is_list_of_arrays(obj: object) -> TypeGuard[Sequence[Array]]:
    return isinstance(obj, (list, tuple)) and all(isinstance(column, np.ndarray) for column in obj)


def _as_codes(obj: object, where: str) -> Array:
    if isinstance(obj, np.ma.MaskedArray) and np.ma.getmaskarray(obj).any():
        raise ValueError(f"{where} must have no masked entries")
    array = np.asarray(obj)
    if array.size == 0 and not isinstance(obj, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{where} must be integers, got {array.dtype}")
    if not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _size(sizes: Sequence[object] | None, i: int, column: Array, n: int, where: str = "sizes") -> int:
    if sizes is None:
        size = int(column.max()) + 1 if len(column) else 0
        if size > MAX_VALUES:
            what = f"attribute {i}" if where == "sizes" else "class_codes"
            raise ValueError(f"{what} has a code of {size - 1}, expected at most {MAX_VALUES - 1}")
        return max(size, 1 if len(column) else 0)
    if len(sizes) != n:
        raise ValueError(f"{where} must be {n} integers, got {len(sizes)}")
    return whole(sizes[i], where, 1, MAX_VALUES, expected="integers")
