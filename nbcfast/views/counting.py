"""`count`: from columns of codes to a Viewset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from nbcfast._core.choices import EMPTY, Empty
from nbcfast._core.dtypes import Array
from nbcfast._core.errors import NoRowsError
from nbcfast._core.validation import choice, whole
from nbcfast._reading.distinct import GrowingDomains
from nbcfast._reading.source import AnyTable, File, Source, batches_from, expect_own_weights
from nbcfast.frames import Frame
from nbcfast.table import Domain, Table
from nbcfast.table.arrow import check_codes
from nbcfast.table.encode import recode, used_values
from nbcfast.table.table import declared_domains
from nbcfast.table.values import Value
from nbcfast.views.batch_counts import BatchCounts
from nbcfast.views.precedence import check_values, in_precedence, no_classes
from nbcfast.views.tallying import MAX_VALUES, tally
from nbcfast.views.viewset import Viewset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nbcfast._core.threads import Progress


@overload
def count(
    table: AnyTable,
    class_name: str,
    attributes: Iterable[str] | None = None,
    classes: Iterable[object] | None = None,
    *,
    domains: Mapping[str, Iterable[object] | Domain] | None = None,
    weights: str | None = None,
    max_values: int = MAX_VALUES,
    empty: Literal["error"] = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Viewset: ...


@overload
def count(
    table: AnyTable,
    class_name: str,
    attributes: Iterable[str] | None = None,
    classes: Iterable[object] | None = None,
    *,
    domains: Mapping[str, Iterable[object] | Domain] | None = None,
    weights: str | None = None,
    max_values: int = MAX_VALUES,
    empty: Empty,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Viewset | None: ...


def count(
    table: AnyTable,
    class_name: str,
    attributes: Iterable[str] | None = None,
    classes: Iterable[object] | None = None,
    *,
    domains: Mapping[str, Iterable[object] | Domain] | None = None,
    weights: str | None = None,
    max_values: int = MAX_VALUES,
    empty: Empty = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Viewset | None:
    """Count a table: how many rows each class has, and each value of each attribute with each class.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). All but the first three are read batch by batch in constant memory.
    class_name : str
        The column of the classes.
    attributes : iterable of str, optional
        By default all other columns.
    classes : iterable, optional
        Class labels in rising precedence; by default the domain of the class column, which is sorted unless
        it was declared. Labels without a row may be named; every label of a row must be.
    domains : mapping of name -> sequence, optional
        The values that an attribute, or the class, may have, in this order, as of a Table.
    weights : str, optional
        The column of the weights; a Table has its own.
    max_values : int
        An attribute with more values is refused; `Table.bin` makes fewer.
    empty : {"error", "none"}
        What to do without a row and without declared classes, as an empty part of a table is: refuse it, or
        give None, which `views.total` passes over.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores, one for less than about 2 MB of codes. The result does not
        depend on it.
    progress : callable, optional
        Called as progress(done_rows, all_rows); all_rows is 0 where the end is not known.

    Returns
    -------
    Viewset, or None

    Raises
    ------
    ValueError
        If a column is missing or named twice, an attribute has too many values or one that is not in its
        declared domain, or a label of a row is not among `classes`.

    Examples
    --------
    >>> views = count({"job": ["clerk", "cook", "cook"], "ill": ["no", "no", "yes"]}, "ill")
    >>> views.classes, views.counts["job"].tolist()
    (('no', 'yes'), [[1, 0], [1, 1]])
    """
    if max_values is not MAX_VALUES:
        max_values = whole(max_values, "max_values", 1, MAX_VALUES)
    named = None if attributes is None else _names(attributes, class_name)
    if weights is not None and weights in (class_name, *(named or ())):
        raise ValueError(f"weights: {weights!r} is the class or an attribute as well")
    if empty != "error":
        choice(empty, EMPTY, "empty")
    given = {} if domains is None else declared_domains(domains)
    try:
        if isinstance(table, Table):
            if weights is not None:
                expect_own_weights(weights)
            return _count_table(table, class_name, named, classes, given, max_values, threads, progress)
        if isinstance(table, Frame):
            expect_own_weights(weights, "Frame")
            return _count_frame(table, class_name, named, classes, given, max_values, threads, progress)
        source = batches_from(table, weights=weights)
        if isinstance(source, Table):
            return _count_table(source, class_name, named, classes, given, max_values, threads, progress)
        return _count_batches(
            source, class_name, named, classes, given, weights, max_values, threads, progress
        )
    except NoRowsError:
        if empty == "none":
            return None
        raise


def _count_table(
    table: Table,
    class_name: str,
    named: list[str] | None,
    classes: Iterable[object] | None,
    given: dict[str, Domain],
    max_values: int,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """Count the columns of a table, all of whose codes are in memory."""
    class_column = table.column(class_name)
    chosen = [name for name in table.names if name != class_name] if named is None else named
    if given:
        table = Table(table.select([*chosen, class_name]), given)
        class_column = table.column(class_name)
    columns = table.several(chosen)
    domains = [column.domain for column in columns]
    sizes = [domain.size for domain in domains]
    n_classes = class_column.domain.size
    if max(sizes, default=0) > max_values:
        for name, size in zip(chosen, sizes, strict=True):
            check_values(name, size, max_values)
    if n_classes > MAX_VALUES:
        check_values(class_name, n_classes, MAX_VALUES)
    class_counts, counts = tally(
        [column.codes for column in columns],
        sizes,
        class_column.codes,
        n_classes,
        table.n_rows,
        weights=table.weights,
        threads=threads,
        progress=progress,
    )
    class_domain, named_counts = class_column.domain, dict(zip(chosen, counts, strict=True))
    if classes is not None or n_classes == 0:
        class_counts, named_counts, class_domain = in_precedence(
            class_counts, named_counts, class_domain, classes, class_name
        )
    return Viewset.from_parts(
        class_counts,
        named_counts,
        class_domain,
        dict(zip(chosen, domains, strict=True)),
        weighted=table.weights is not None,
    )


def _count_frame(
    frame: Frame,
    class_name: str,
    attributes: list[str] | None,
    classes: Iterable[object] | None,
    given: dict[str, Domain],
    max_values: int,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """Count what an engine has counted: each attribute is in one of its answers, beside the class."""
    names = [name for name in frame.names if name != class_name] if attributes is None else attributes
    declared_domains(given, [*names, class_name])
    labels = classes if classes is None else list(classes)
    parts = [
        _count_table(table, class_name, None, labels, _of(given, table), max_values, threads, None)
        for table in frame.packs(names, [class_name], most_values=max_values)
    ]
    counts = {name: array for part in parts for name, array in part.counts.items()}
    domains = {name: domain for part in parts for name, domain in part.domains.items()}
    whole = parts[0]  # all have the same classes: a frame refuses answers of other rows
    if progress is not None:
        progress(whole.n_rows, whole.n_rows)
    return Viewset.from_parts(
        whole.class_counts,
        {name: counts[name] for name in names},
        whole.class_domain,
        {name: domains[name] for name in names},
        weighted=frame.weights is not None,
    )


def _of(given: dict[str, Domain], table: Table) -> dict[str, Domain]:
    """The declared domains of the columns of a table."""
    return {name: domain for name, domain in given.items() if name in table.names}


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


def _compact(codes: Array, values: list[Value], n_rows: int) -> tuple[Array, list[Value]]:
    """Without the values that no row has, where a dictionary is so long that its counts could be too many."""
    if len(values) <= max(256, min(n_rows, MAX_VALUES)):
        return codes, values
    used = used_values(codes, len(values))
    positions = np.flatnonzero(used)
    places = np.cumsum(used, dtype=np.int64) - 1
    return recode(codes, places, len(positions)), [values[position] for position in positions.tolist()]


def _count_batches(
    source: Source,
    class_name: str,
    attributes: list[str] | None,
    classes: Iterable[object] | None,
    given: dict[str, Domain],
    weights: str | None,
    max_values: int,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """Count batch by batch with the batch's own dictionaries, and merge by value."""
    if isinstance(source, File):
        source.expect([class_name])
    wanted = None if attributes is None else [*attributes, class_name]
    merged: BatchCounts | None = None
    for batch in source.batches(wanted, weights, progress, check=False):  # the tally checks
        columns = batch.columns
        if class_name not in columns:
            raise ValueError(f"expected a column of {', '.join(map(repr, columns))}; got {class_name!r}")
        if merged is None:
            merged = BatchCounts(_growing(source, columns, weights), class_name, max_values)
        names = [name for name in merged.names if name != class_name]
        try:
            columns = {name: _compact(*columns[name], batch.n_rows) for name in merged.names}
            labels = columns[class_name][1]
            check_values(class_name, len(labels), MAX_VALUES)
            class_counts, counts = tally(
                [columns[name][0] for name in names],
                [len(columns[name][1]) for name in names],
                columns[class_name][0],
                len(labels),
                batch.n_rows,
                weights=batch.weights,
                threads=threads,
            )
        except ValueError:
            for name, (codes, values) in columns.items():  # what is wrong is named by its column
                check_codes(name, codes, len(values))
            raise
        merged.add(class_name, columns[class_name][1], labels, class_counts[np.newaxis])
        for name, array in zip(names, counts, strict=True):
            merged.add(name, columns[name][1], labels, array)
    if merged is None:
        if source.names is None or class_name not in source.names:
            raise no_classes(class_name)
        merged = BatchCounts(_growing(source, source.names, weights), class_name, max_values)
    declared_domains(given, merged.names)
    chosen = attributes if attributes is not None else [name for name in merged.names if name != class_name]
    class_domain, of_classes, final, found = merged.finished(chosen, given)
    of_classes, found, labelled = in_precedence(of_classes, found, class_domain, classes, class_name)
    # A source has no weights of its own.
    return Viewset.from_parts(of_classes, found, labelled, final, weighted=weights is not None)


def _growing(source: Source, names: Iterable[str], weights: str | None) -> GrowingDomains:
    """The domains of all columns but the weights: no value yet."""
    return GrowingDomains((name for name in names if name != weights), source.texts)
