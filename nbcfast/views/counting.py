"""`count`: from columns of codes to a Viewset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nbcfast import _count
from nbcfast._codes import check_weights
from nbcfast._columns import Columns
from nbcfast._core.joint import plan
from nbcfast._core.threads import n_threads, over_rows
from nbcfast.table import Domain, Table
from nbcfast.table.arrow import check_codes, encoded_batches
from nbcfast.table.encode import DomainBuilder, recode, used_values
from nbcfast.views.integers import INT64_MAX
from nbcfast.views.viewset import Viewset, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbcfast._core.threads import Progress

MAX_VALUES = 65_536

# Nanoseconds: an increment; clearing and summing out a pair of counters. Tables beyond MOST_ENTRIES would
# leave the second cache, and two threads would take more than a megabyte.
ROW_COST, ENTRY_COST, MOST_ENTRIES = 0.3, 2.0, 50_000


def count(
    table: Any,
    class_name: str,
    attributes: Iterable[str] | None = None,
    classes: Iterable[Any] | None = None,
    *,
    weights: str | None = None,
    max_values: int = MAX_VALUES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Viewset:
    """Count a table: how many rows each class has, and each value of each attribute with each class.

    Parameters
    ----------
    table : Table, or a stream of Arrow batches
        A stream (anything with ``__arrow_c_stream__``, or an iterable of record batches) is read batch by
        batch in constant memory; a mapping of columns is made a Table.
    class_name : str
        The column of the classes.
    attributes : iterable of str, optional
        By default all other columns.
    classes : iterable, optional
        Class labels in rising precedence; by default the domain of the class column, which is sorted unless
        it was declared. Labels without a row may be named; every label of a row must be.
    weights : str, optional
        For a stream, the column of the weights. A Table has its own.
    max_values : int
        An attribute with more values is refused; `Table.bin` makes fewer.
    threads : int, optional
        By default all cores the process may use, one for less than about 2 MB of codes. The result does not
        depend on it.
    progress : callable, optional
        Called as progress(done_rows, all_rows); all_rows is 0 for a stream, whose end is not known.

    Returns
    -------
    Viewset

    Raises
    ------
    ValueError
        If a column is missing or named twice, an attribute has too many values, or a label of a row is not
        among `classes`.

    Examples
    --------
    >>> views = count({"job": ["clerk", "cook", "cook"], "ill": ["no", "no", "yes"]}, "ill")
    >>> views.classes, views.counts["job"].tolist()
    (('no', 'yes'), [[1, 0], [1, 1]])
    """
    if isinstance(max_values, bool) or not isinstance(max_values, int):
        raise TypeError(f"max_values must be an int, got {max_values!r}")
    if not 1 <= max_values <= MAX_VALUES:
        raise ValueError(f"max_values must be 1..{MAX_VALUES}, got {max_values}")
    named = None if attributes is None else _names(attributes, class_name)
    if weights is not None and weights in (class_name, *(named or ())):
        raise ValueError(f"weights: {weights!r} is the class or an attribute as well")
    if isinstance(table, (str, bytes, os.PathLike)):
        raise TypeError("expected a table, got a path: read it with nbcfast.read_csv or read_parquet")
    if not isinstance(table, Table):
        from collections.abc import Mapping

        if not isinstance(table, Mapping):
            return _count_stream(table, class_name, named, classes, weights, max_values, threads, progress)
        table = Table(table, weights=weights)
    elif weights is not None:
        raise ValueError("weights: a Table has its own weights; name a column when making it")
    class_column = table.column(class_name)
    chosen = [name for name in table.names if name != class_name] if named is None else named
    columns = [table.column(name) for name in chosen]
    for name, column in zip(chosen, columns, strict=True):
        _check_values(name, len(column.domain), max_values)
    _check_values(class_name, len(class_column.domain), MAX_VALUES)
    class_counts, counts = tally(
        [column.codes for column in columns],
        [len(column.domain) for column in columns],
        class_column.codes,
        len(class_column.domain),
        table.n_rows,
        weights=table.weights,
        threads=threads,
        progress=progress,
    )
    domains = {name: column.domain for name, column in zip(chosen, columns, strict=True)}
    return _with_classes(
        class_counts,
        dict(zip(chosen, counts, strict=True)),
        class_column.domain,
        domains,
        classes,
        class_name,
    )


def tally(
    codes: Sequence[npt.NDArray[Any]],
    sizes: Sequence[int],
    class_codes: npt.NDArray[Any],
    n_classes: int,
    n_rows: int,
    *,
    weights: npt.NDArray[np.int64] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.int64]]]:
    """Class counts, and a (values, classes) array an attribute."""
    if n_rows == 0:
        return np.zeros(n_classes, np.int64), [np.zeros((size, n_classes), np.int64) for size in sizes]
    if not codes:
        # The class is then counted as an attribute beside a class that is always the same.
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
        return counts[0][:, 0].copy(), []
    columns = Columns([*codes, class_codes], [*sizes, n_classes], n_rows)
    groups = plan(
        sizes if weights is None else [0] * len(sizes),
        n_rows,
        per_entry=n_classes,
        most_entries=MOST_ENTRIES,
        row_cost=ROW_COST,
        entry_cost=ENTRY_COST,
        by_four=columns.is_matrix(len(sizes)),
    )
    n_bytes = sum(column.itemsize for column in (*codes, class_codes)) * n_rows

    def add(part: _count.Tally, start: int, stop: int) -> None:
        bad = part.add(start, stop)
        if bad >= 0:
            raise _OutOfRangeError(bad)

    try:
        parts = over_rows(
            lambda: _count.Tally(columns, groups.first, groups.members, weights),
            add,
            n_rows,
            threads=n_threads(threads, n_bytes),
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


class _OutOfRangeError(Exception):
    def __init__(self, column: int) -> None:
        self.column = column


def _describe(
    columns: Columns,
    column: int,
    codes: Sequence[npt.NDArray[Any]],
    class_codes: npt.NDArray[Any],
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


def _bad_code(what: str, size: int, array: npt.NDArray[Any], row: int) -> ValueError:
    return ValueError(f"{what} must be 0..{size - 1}, got {array[row]} in row {row}")


def _names(attributes: Iterable[str], class_name: str) -> list[str]:
    if isinstance(attributes, str):
        raise TypeError(f"attributes must be a sequence of names, got the text {attributes!r}")
    names = list(attributes)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"attributes must be distinct, got {name!r} twice")
        if name == class_name:
            raise ValueError(f"the class {name!r} cannot be an attribute as well")
    return names


def _check_values(name: str, n_values: int, max_values: int) -> None:
    if n_values > max_values:
        raise ValueError(
            f"column {name!r} has {n_values} values, expected at most {max_values}: leave it out, or make "
            f"intervals with table.bin({name!r}, edges | quantiles=... | width=...)"
        )


def _with_classes(
    class_counts: npt.NDArray[np.int64],
    counts: Mapping[str, npt.NDArray[np.int64]],
    found: Domain,
    domains: dict[str, Domain],
    classes: Iterable[Any] | None,
    class_name: str,
) -> Viewset:
    """The viewset with the classes in the precedence asked for."""
    if classes is None:
        if len(found) == 0:
            raise _no_classes(class_name)
        return Viewset._of(class_counts, dict(counts), found, domains)
    wanted = listed(classes, "classes", in_order=False)
    if len(wanted) == 0:
        raise ValueError("classes must be at least one label, got no classes")
    places = found.positions_in(wanted)
    for position in np.flatnonzero((places < 0) & (class_counts > 0)).tolist():
        raise ValueError(
            f"classes must name every label of {class_name!r}, {found.values[position]!r} is missing"
        )
    known = np.flatnonzero(places >= 0)

    def arranged(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        result = np.zeros((*array.shape[:-1], len(wanted)), np.int64)
        result[..., places[known]] = array[..., known]
        return result

    ordered = {name: arranged(array) for name, array in counts.items()}
    return Viewset._of(arranged(class_counts), ordered, wanted, domains)


def _no_classes(class_name: str) -> ValueError:
    return ValueError(f"column {class_name!r} has no rows and no declared domain: no classes")


def _compact(codes: npt.NDArray[Any], values: list[Any], n_rows: int) -> tuple[npt.NDArray[Any], list[Any]]:
    """Without the values that no row has, where a dictionary is so long that its counts could be too many."""
    if len(values) <= max(256, min(n_rows, MAX_VALUES)):
        return codes, values
    used = used_values(codes, len(values))
    positions = np.flatnonzero(used)
    places = np.cumsum(used, dtype=np.int64) - 1
    return recode(codes, places, len(positions)), [values[position] for position in positions.tolist()]


class _Growing:
    """Counts by first-seen codes, with room for more values and classes than there are yet."""

    def __init__(self) -> None:
        self.counts = np.zeros((0, 0), np.int64)

    def add(
        self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
    ) -> None:
        """Add counts[i, j] to the cell rows[i], columns[j]; a row or column may come more than once."""
        need = (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
        if need[0] > self.counts.shape[0] or need[1] > self.counts.shape[1]:
            room = [
                have if want <= have else max(want, 2 * have)
                for have, want in zip(self.counts.shape, need, strict=True)
            ]
            grown = np.zeros(room, np.int64)
            grown[: self.counts.shape[0], : self.counts.shape[1]] = self.counts
            self.counts = grown
        np.add.at(self.counts, np.ix_(rows, columns), counts)

    def arranged(
        self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], shape: tuple[int, int]
    ) -> npt.NDArray[np.int64]:
        result = np.zeros(shape, np.int64)
        result[np.ix_(rows, columns)] = self.counts[: len(rows), : len(columns)]
        return result


def _count_stream(
    stream: Any,
    class_name: str,
    attributes: list[str] | None,
    classes: Iterable[Any] | None,
    weights: str | None,
    max_values: int,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """Count batch by batch with the batch's own dictionaries, and merge by value."""
    wanted = None
    if attributes is not None:
        wanted = [*attributes, class_name, *([] if weights is None else [weights])]
    builders: dict[str, DomainBuilder] = {}
    parts: dict[str, _Growing] = {}
    done = total = 0
    for batch in encoded_batches(stream, wanted, check=False):  # the tally checks
        for name in (class_name, *([] if weights is None else [weights])):
            if name not in batch:
                raise ValueError(f"expected a column of {', '.join(map(repr, batch))}; got {name!r}")
        if not builders:
            builders = {name: DomainBuilder(name) for name in batch if name != weights}
            parts = {name: _Growing() for name in builders}
        n_rows = len(batch[class_name][0])
        names = [name for name in builders if name != class_name]
        try:
            if weights is not None:
                check_codes(weights, batch[weights][0], len(batch[weights][1]))
            batch = {name: _compact(codes, values, n_rows) for name, (codes, values) in batch.items()}
            labels = batch[class_name][1]
            _check_values(class_name, len(labels), MAX_VALUES)
            weighted, weight = (None, n_rows) if weights is None else weights_of(*batch[weights])
            class_counts, counts = tally(
                [batch[name][0] for name in names],
                [len(batch[name][1]) for name in names],
                batch[class_name][0],
                len(labels),
                n_rows,
                weights=weighted,
                threads=threads,
            )
        except ValueError:
            for name, (codes, values) in batch.items():  # what is wrong is named by its column
                check_codes(name, codes, len(values))
            raise
        total += weight
        if total > INT64_MAX:
            raise ValueError("weights must add up to less than 2^63")
        seen = np.flatnonzero(class_counts)
        columns = builders[class_name].add(labels, class_counts > 0)[seen]
        parts[class_name].add(np.zeros(1, np.int64), columns, class_counts[seen][np.newaxis])
        for name, array in zip(names, counts, strict=True):
            used = array.any(axis=1)
            rows = np.flatnonzero(used)
            places = builders[name].add(batch[name][1], used)[rows]
            _check_values(name, len(builders[name]), max_values)
            parts[name].add(places, columns, array[np.ix_(rows, seen)])
        _check_values(class_name, len(builders[class_name]), MAX_VALUES)
        done += n_rows
        if progress is not None:
            progress(done, 0)
    if not builders:
        raise _no_classes(class_name)
    class_domain, columns = builders[class_name].finish(None)
    n_classes = len(class_domain)
    result, domains = {}, {}
    for name in attributes if attributes is not None else [name for name in builders if name != class_name]:
        domains[name], rows = builders[name].finish(None)
        result[name] = parts[name].arranged(rows, columns, (len(rows), n_classes))
    class_counts = parts[class_name].arranged(np.zeros(1, np.int64), columns, (1, n_classes))[0]
    return _with_classes(class_counts, result, class_domain, domains, classes, class_name)


def weights_of(codes: npt.NDArray[Any], values: Sequence[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """The weights of a batch, and their sum: 2^63 where it is that or more."""
    weights = np.zeros(len(values), np.int64)
    for position in np.flatnonzero(used_values(codes, len(values))).tolist():
        value = values[position]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"weights must be integers, got {value!r}")
        if not 1 <= value <= INT64_MAX:
            raise ValueError(f"weights must be 1..2^63-1, got {value}")
        weights[position] = value
    result: npt.NDArray[np.int64] = weights[codes]
    _, total = check_weights(result)
    return result, total if total >= 0 else INT64_MAX + 1


def count_codes(
    codes: Any,
    class_codes: npt.ArrayLike,
    *,
    sizes: Sequence[int] | None,
    n_classes: int | None,
    weights: npt.ArrayLike | None,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """What Viewset.from_codes promises."""
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
    domains = {name: Domain.of(range(size)) for name, size in zip(names, widths, strict=True)}
    return Viewset._of(class_counts, dict(zip(names, counts, strict=True)), Domain.of(range(many)), domains)


def _is_list_of_arrays(obj: Any) -> bool:
    return isinstance(obj, (list, tuple)) and all(isinstance(column, np.ndarray) for column in obj)


def _as_codes(obj: Any, where: str) -> npt.NDArray[Any]:
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


def _size(given: Any, i: int, column: npt.NDArray[Any], n: int, where: str = "sizes") -> int:
    if given is None:
        size = int(column.max()) + 1 if len(column) else 0
        if size > MAX_VALUES:
            what = f"attribute {i}" if where == "sizes" else "class_codes"
            raise ValueError(f"{what} has a code of {size - 1}, expected at most {MAX_VALUES - 1}")
        return max(size, 1 if len(column) else 0)
    if len(given) != n:
        raise ValueError(f"{where} must be {n} integers, got {len(given)}")
    size = given[i]
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise TypeError(f"{where} must be integers, got {size!r}")
    if not 1 <= size <= MAX_VALUES:
        raise ValueError(f"{where} must be 1..{MAX_VALUES}, got {size}")
    return int(size)
