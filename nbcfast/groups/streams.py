"""Groups of streams and files: batch by batch, and in parts where all groups are more than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nbcfast._reading.csv_files import typed
from nbcfast._reading.source import Source, as_bytes
from nbcfast.groups.groups import Groups, group_names, grouped
from nbcfast.table import Domain
from nbcfast.table.arrow import encoded_batches
from nbcfast.table.encode import DomainBuilder, recode, used_values
from nbcfast.views.counting import weights_of

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[Any]

INT64_MAX = 2**63 - 1
COPIES = 3  # of the groups of a part that exist at once while they are put together
MOST_PARTS = 1 << 30


def group_parts(
    path: Any,
    by: Iterable[str],
    sensitive: str,
    *,
    memory_limit: int | str,
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Groups]:
    r"""The groups of a file, some at a time: each group is whole, and in one part only.

    For files whose groups are together more than memory holds: `Statistics` take the parts one by one. Every
    part reads the file from its start; a part that would be too large is halved. Only the distinct values of
    the columns are always held.

    Parameters
    ----------
    path : str or path
        A .csv (with a header; as `nbcfast.read_csv` reads it) or .parquet file.
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
    source = Source(path)
    builders = {name: DomainBuilder(name) for name in [*names, sensitive]}
    open_parts = [(0, 1)]
    found = False
    while open_parts:
        place, n_parts = open_parts.pop()
        try:
            counted = _counted(source, builders, weights, threads, progress, limit, place, n_parts)
        except _TooLargeError:
            if not names or n_parts > MOST_PARTS:
                raise ValueError(f"memory_limit: a few groups alone take more than {limit} bytes") from None
            # The groups of one part are those of two parts of twice as many.
            open_parts += [(place + n_parts, 2 * n_parts), (place, 2 * n_parts)]
            continue
        if counted is not None:
            found = True
            yield _finished(counted, builders, names, sensitive, source.texts)
    if not found:
        raise ValueError("no rows")


class _TooLargeError(Exception):
    """The groups of a part take more than the limit."""


class Stream:
    """A stream of Arrow batches, which can be read once."""

    texts, n_rows = False, 0

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def batches(self, names: Iterable[str]) -> Iterator[Any]:
        return encoded_batches(self._stream, names)


def group_stream(
    source: Stream | Source,
    names: list[str],
    sensitive: str,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
) -> Groups:
    builders = {name: DomainBuilder(name) for name in [*names, sensitive]}
    counted = _counted(source, builders, weights, threads, progress)
    if counted is None:
        raise ValueError("no rows")
    return _finished(counted, builders, names, sensitive, source.texts)


def _counted(
    source: Stream | Source,
    builders: dict[str, DomainBuilder],
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
    limit: int | None = None,
    place: int = 0,
    n_parts: int = 1,
) -> tuple[list[Codes], Longs] | None:
    """The distinct rows of codes of values in the order they were first met, by column, and their counts.

    Of the groups of one part; None where it has none.
    """
    parts: list[tuple[list[Codes], Longs]] = []
    waiting = merged = done = total = held = 0
    for batch in source.batches([*builders, *([] if weights is None else [weights])]):
        n_rows = len(next(iter(batch.values()))[0])
        if n_rows == 0:
            continue
        weighted, weight = None, n_rows
        if weights is not None:
            codes, values = batch[weights]
            if source.texts:
                values = typed(values, "int", weights) or values
            weighted, weight = weights_of(codes, values)
        total += weight
        if total > INT64_MAX:
            raise ValueError("weights must add up to less than 2^63")
        columns = []
        for name, builder in builders.items():
            codes, values = batch[name]
            places = builder.add(values, used_values(codes, len(values)))
            # Positions that no row has are -1 and never looked up.
            columns.append(recode(codes, np.maximum(places, 0), max(len(builder), 1)))
        if n_parts > 1:
            mine = _part_of(columns[:-1], n_parts) == place
            columns = [np.ascontiguousarray(codes[mine]) for codes in columns]
            weighted = None if weighted is None else weighted[mine]
        done += n_rows
        if len(columns[-1]):
            parts.append(added(columns, builders, weighted, threads))
            waiting += len(parts[-1][1])
            held += _bytes_of(parts[-1])
            if waiting > max(2 * merged, 1 << 16) or (limit is not None and held * COPIES > limit):
                parts = [all_added(parts, builders)]
                waiting = merged = len(parts[0][1])
                held = _bytes_of(parts[0])
                if limit is not None and held * COPIES > limit:
                    raise _TooLargeError
        if progress is not None:
            progress(done, source.n_rows)
    return all_added(parts, builders) if parts else None


def _bytes_of(part: tuple[list[Codes], Longs]) -> int:
    return part[1].nbytes + sum(codes.nbytes for codes in part[0])


def _part_of(columns: list[Codes], n_parts: int) -> npt.NDArray[np.uint64]:
    """The part that a row's group belongs to: a power of two of them."""
    key = np.zeros(len(columns[0]), np.uint64)
    for codes in columns:
        key = (key ^ codes) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return (key >> np.uint64(7)) & np.uint64(n_parts - 1)


def _finished(
    counted: tuple[list[Codes], Longs],
    builders: dict[str, DomainBuilder],
    names: list[str],
    sensitive: str,
    texts: bool,
) -> Groups:
    """Groups with sorted domains; texts of a file become numbers where all of a column are."""
    columns, counts = counted
    domains, coded = [], []
    for (name, builder), codes in zip(builders.items(), columns, strict=True):
        domain, places = typed_domain(builder, name) if texts else builder.finish(None)
        domains.append(domain)
        coded.append(recode(codes, places, len(domain)))
    return grouped(coded[:-1], domains[:-1], coded[-1], domains[-1], tuple(names), sensitive, weights=counts)


def typed_domain(builder: DomainBuilder, name: str) -> tuple[Domain, Longs]:
    values = typed(builder.texts(), None, name)
    if values is None:
        return builder.finish(None)
    other = DomainBuilder(name)
    first = other.add(values)
    domain, places = other.finish(None)
    return domain, places[first]


def added(
    columns: list[Codes],
    builders: dict[str, DomainBuilder],
    weights: Longs | None,
    threads: int | None = None,
) -> tuple[list[Codes], Longs]:
    """The distinct rows of codes, by column, and how often each occurs."""
    sizes = [len(builder) for builder in builders.values()]
    places = [Domain("int", np.arange(size), (), False) for size in sizes]
    names = list(builders)
    found = grouped(
        columns[:-1],
        places[:-1],
        columns[-1],
        places[-1],
        tuple(names[:-1]),
        names[-1],
        weights=weights,
        threads=threads,
    )
    codes = [np.repeat(found.codes(name), found.distinct) for name in names[:-1]]
    return [*codes, found.values], found.counts


def all_added(
    parts: list[tuple[list[Codes], Longs]], builders: dict[str, DomainBuilder]
) -> tuple[list[Codes], Longs]:
    if len(parts) == 1:
        return parts[0]
    columns = [np.concatenate([codes[i] for codes, _ in parts]) for i in range(len(builders))]
    return added(columns, builders, np.concatenate([counts for _, counts in parts]))
