"""`group`: tables, streams and files by groups, and in parts where all groups are more than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from nbcfast._core.choices import EMPTY, Empty
from nbcfast._core.dtypes import Codes, Words
from nbcfast._core.errors import NoRowsError
from nbcfast._core.validation import choice
from nbcfast._reading.distinct import CodedRows, DistinctRows, GrowingDomains
from nbcfast._reading.source import (
    AnyTable,
    File,
    InMemory,
    Source,
    as_bytes,
    batches_from,
    is_path,
    table_from,
)
from nbcfast.groups.groups import Groups, grouped
from nbcfast.table import Table
from nbcfast.table.encode import recode

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


COPIES = 3  # of the groups of a part that exist at once while they are put together
MOST_PARTS = 1 << 30  # a part of one in so many groups that is still too large does not get smaller


@overload
def group(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    *,
    weights: str | None = None,
    empty: Literal["error"] = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Groups: ...


@overload
def group(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    *,
    weights: str | None = None,
    empty: Empty,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Groups | None: ...


def group(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    *,
    weights: str | None = None,
    empty: Empty = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Groups | None:
    """Put the rows with equal values in the columns `by` into one group, and count its sensitive values.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). All but the first three are read batch by batch, in memory of the order of the groups; a group
        may be spread over batches. See `group_parts` for more groups than memory holds.
    by : iterable of str
        The columns that make the groups; none puts all rows into one.
    sensitive : str
        The column of the sensitive values.
    weights : str, optional
        The column of the weights; a Table has its own.
    empty : {"error", "none"}
        What to do without a row, as in an empty part of a table: refuse it, or give None, which
        `Groups.merge` and `Statistics.update` pass over.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores, one for less than about 2 MB of codes. The result does not
        depend on it.
    progress : callable, optional
        Called as progress(done_rows, all_rows); all_rows is 0 where the end is not known.

    Returns
    -------
    Groups, or None

    Raises
    ------
    ValueError
        If there are no rows and `empty` is not "none", a column is missing or named twice, or `sensitive` is
        in `by`.

    Notes
    -----
    Nulls are values: people without a known age are a group of their own.

    Examples
    --------
    >>> table = Table({"age": [30, 30, 40, 40], "ill": ["flu", "flu", "cold", "flu"]})
    >>> groups = group(table, by=["age"], sensitive="ill")
    >>> groups.k, groups.l
    (2, 1)
    """
    names = group_names(by, sensitive, weights)
    choice(empty, EMPTY, "empty")
    try:
        return _grouped(table, names, sensitive, weights, threads, progress)
    except NoRowsError:
        if empty == "none":
            return None
        raise


def _grouped(
    table: AnyTable,
    names: list[str],
    sensitive: str,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
) -> Groups:
    """The groups of a table, or of what is read batch by batch."""
    source = batches_from(table, weights=weights, columns=[*names, sensitive])
    if not isinstance(source, Table):
        domains = GrowingDomains([*names, sensitive], source.texts)
        rows = _counted(source, domains, weights, threads, progress)
        if rows is None:
            raise NoRowsError("no rows")
        return _groups_of(rows, domains, names, sensitive)
    columns = [source.column(name) for name in names]
    values = source.column(sensitive)
    if source.n_rows == 0:
        raise NoRowsError("no rows")
    return grouped(
        [column.codes for column in columns],
        [column.domain for column in columns],
        values.codes,
        values.domain,
        tuple(names),
        sensitive,
        weights=source.weights,
        threads=threads,
        progress=progress,
    )


def group_names(by: Iterable[str], sensitive: str, weights: str | None) -> list[str]:
    """The columns that make the groups, checked to be other ones than the sensitive one and the weights."""
    if isinstance(by, str):
        raise TypeError(f"by must be a sequence of names, got the text {by!r}")
    if not isinstance(sensitive, str):
        raise TypeError(f"sensitive must be the name of a column, got {sensitive!r}")
    names = list(by)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"by must be distinct names, got {name!r} twice")
        if name == sensitive:
            raise ValueError(f"the sensitive column {name!r} cannot make the groups as well")
    if weights is not None and weights in (sensitive, *names):
        raise ValueError(f"weights: {weights!r} is the sensitive column or makes the groups as well")
    return names


def group_parts(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    *,
    memory_limit: int | str,
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Groups]:
    r"""The groups of a table, some at a time: each group is whole, and in one part only.

    For files whose groups are together more than memory holds: `Statistics` take the parts one by one. Every
    part reads the file from its start; a part that would be too large is halved. Only the distinct values of
    the columns are always held.

    Parameters
    ----------
    table : path, or any other table
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). All but files are held in memory as a Table.
    by, sensitive, weights, threads, progress
        As of `group`.
    memory_limit : int or str
        Bytes that the groups may take, as a number or a text such as "2GiB".

    Yields
    ------
    Groups

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nbcfast.skyline import Statistics, check
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,ill\n30,flu\n30,cold\n40,flu\n40,gout\n")
    ...     statistics = Statistics([0])
    ...     for part in group_parts(path, ["age"], "ill", memory_limit="100MiB"):
    ...         _ = statistics.update(part)
    >>> check(statistics, [(0, 0, 0, 0.6)]).safe
    True
    """
    names = group_names(by, sensitive, weights)
    limit = as_bytes(memory_limit, "memory_limit")
    source: Source
    if is_path(table):
        source = File(table)
    else:
        source, weights = InMemory(table_from(table, weights=weights, columns=[*names, sensitive])), None
    domains = GrowingDomains([*names, sensitive], source.texts)
    open_parts = [(0, 1)]  # the number of a part, and among how many
    has_rows = False
    while open_parts:
        part, n_parts = open_parts.pop()
        try:
            rows = _counted(source, domains, weights, threads, progress, limit, part, n_parts)
        except _TooManyRowsError:
            if not names or n_parts > MOST_PARTS:
                raise ValueError(f"memory_limit: a few groups alone take more than {limit} bytes") from None
            # The groups of one part are those of two parts of twice as many.
            open_parts += [(part + n_parts, 2 * n_parts), (part, 2 * n_parts)]
            continue
        if rows is not None:
            has_rows = True
            yield _groups_of(rows, domains, names, sensitive)
    if not has_rows:
        raise ValueError("no rows")


def group_tasks(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    tasks: int,
    *,
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Groups]:
    """The groups of a table in so many parts: each group is whole, and in one part only.

    Parameters
    ----------
    table : path, or any other table
        A file is read from its start for every part; all but files are held in memory as a Table.
    by, sensitive, weights, threads, progress
        As of `group`.
    tasks : int
        How many parts; one that has no groups is left out.

    Yields
    ------
    Groups

    Examples
    --------
    >>> table = Table({"age": [30, 30, 40, 50], "ill": ["flu", "cold", "flu", "flu"]})
    >>> sum(groups.n_groups for groups in group_tasks(table, ["age"], "ill", 7))
    3
    """
    names = group_names(by, sensitive, weights)
    if not is_path(table):
        held = table_from(table, weights=weights, columns=[*names, sensitive]).select([*names, sensitive])
        if held.n_rows == 0:
            raise ValueError("no rows")
        part_of = (
            _part_of([held.column(name).codes for name in names], tasks) if names else np.zeros(held.n_rows)
        )
        for part in range(tasks):
            rows = np.flatnonzero(part_of == part)
            if len(rows):
                yield group(held.take(rows), names, sensitive, threads=threads, progress=progress)
        return
    source = File(table)
    domains = GrowingDomains([*names, sensitive], source.texts)
    n_parts = tasks if names else 1
    has_rows = False
    for part in range(n_parts):
        rows_of_part = _counted(source, domains, weights, threads, progress, None, part, n_parts)
        if rows_of_part is not None:
            has_rows = True
            yield _groups_of(rows_of_part, domains, names, sensitive)
    if not has_rows:
        raise ValueError("no rows")


class _TooManyRowsError(Exception):
    """The groups of a part take more than the limit."""


def _counted(
    source: Source,
    domains: GrowingDomains,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
    limit: int | None = None,
    part: int = 0,
    n_parts: int = 1,
) -> CodedRows | None:
    """The distinct rows of the groups of one part; None where it has none."""
    names = list(domains.builders)
    rows = DistinctRows(domains, names, threads)
    for batch in source.batches(names, weights, progress):
        coded, weighted = domains.codes(batch), batch.weights
        if n_parts > 1:
            in_part = _part_of([coded[name] for name in names[:-1]], n_parts) == part
            coded = {name: np.ascontiguousarray(codes[in_part]) for name, codes in coded.items()}
            weighted = None if weighted is None else weighted[in_part]
        if len(coded[names[-1]]):
            rows.add(coded, weighted)
            if limit is not None and rows.n_bytes * COPIES > limit:
                # Rows of several batches count twice until they are merged.
                rows.merge()
                if rows.n_bytes * COPIES > limit:
                    raise _TooManyRowsError
    return rows.rows()


def _part_of(columns: list[Codes], n_parts: int) -> Words:
    """The part that a row's group belongs to.

    A hash of the group alone, so that a group is in one part however its rows lie in the file. Codes stand in
    the order in which the values were first met, which is the same whenever the file is read again.
    """
    key = np.zeros(len(columns[0]), np.uint64)
    for codes in columns:
        key = (key ^ codes) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return (key >> np.uint64(7)) % np.uint64(n_parts)


def _groups_of(rows: CodedRows, domains: GrowingDomains, names: list[str], sensitive: str) -> Groups:
    """The groups of distinct rows, with sorted domains."""
    columns, counts = rows
    sorted_domains, coded = [], []
    for name, codes in zip([*names, sensitive], columns, strict=True):
        domain, places = domains.finished(name)
        sorted_domains.append(domain)
        coded.append(recode(codes, places, len(domain)))
    return grouped(
        coded[:-1],
        sorted_domains[:-1],
        coded[-1],
        sorted_domains[-1],
        tuple(names),
        sensitive,
        weights=counts,
    )
