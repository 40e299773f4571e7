"""Tables of the distinct rows of what is read batch by batch, in memory of their order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nbcfast._core.errors import NoRowsError
from nbcfast._reading.distinct import DistinctRows, GrowingDomains
from nbcfast.table import Column, Table
from nbcfast.table.encode import recode

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._reading.source import Source


def collapsed(
    source: Source,
    names: Iterable[str],
    weights: str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """The distinct rows of these columns as a table whose weights say how often each occurs, sorted.

    Parameters
    ----------
    source : Source
        Whatever gives its rows batch by batch.
    names : iterable of str
        At least one; a column that is not there is an error that names it.
    weights : str, optional
        The column of the weights.
    threads, progress
        As of whoever asks.

    Raises
    ------
    NoRowsError
        If there is no row.

    Examples
    --------
    >>> from nbcfast._reading.source import InMemory
    >>> people = Table({"job": ["cook", "clerk", "cook"], "age": [3, 5, 4]})
    >>> table = collapsed(InMemory(people), ["job"])
    >>> table.domain("job"), table.codes("job"), table.weights
    (('clerk', 'cook'), array([0, 1], dtype=uint8), array([1, 2]))
    """
    listed = list(dict.fromkeys(names))
    domains = GrowingDomains(listed, source.texts)
    distinct = DistinctRows(domains, listed, threads)
    for batch in source.batches(listed, weights, progress):
        distinct.add(domains.codes(batch), batch.weights)
    rows = distinct.rows()
    if rows is None:
        raise NoRowsError("no rows")
    codes, counts = rows
    columns = {}
    for name, by_first in zip(listed, codes, strict=True):
        domain, places = domains.finished(name)
        columns[name] = Column(recode(by_first, places, len(domain)), domain)
    # Once more, by value: two texts of a file may be one number.
    return Table.from_columns(columns, counts, len(counts)).collapse()
