"""The distinct tuples of the views of a table that is read batch by batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nbcfast._reading.distinct import DistinctRows, GrowingDomains
from nbcfast._reading.source import File, Source
from nbcfast.associations.projections import Columns, Names
from nbcfast.table.encode import recode

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def read(
    source: Source,
    parts: tuple[Names, ...],
    threads: int | None,
    progress: Progress | None,
    others: Iterable[str] = (),
) -> list[Columns]:
    """The distinct tuples of each part, in memory of their order; of other columns, that they are there."""
    names = list(dict.fromkeys(name for part in parts for name in part))
    growing = GrowingDomains(names, source.texts)
    tuples_of = [DistinctRows(growing, part, threads) for part in parts]
    for batch in source.batches([*names, *others], None, progress):
        coded = growing.codes(batch)
        for tuples in tuples_of:
            tuples.add(coded, None)
    domains, places = {}, {}
    for name in names:
        domains[name], places[name] = growing.finished(name)
    views = []
    for tuples in tuples_of:
        rows = tuples.rows()
        if rows is None:
            raise ValueError(f"{source.path}: no rows" if isinstance(source, File) else "no rows")
        codes = {
            name: recode(column, places[name], len(domains[name]))
            for name, column in zip(tuples.names, rows[0], strict=True)
        }
        views.append(Columns(codes, {name: domains[name] for name in tuples.names}))
    return views
