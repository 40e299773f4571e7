"""Views that are read from a table each, and are views of the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.errors import NoColumnError
from nbcfast._reading.source import AnyTable, batches_from, is_batch, is_path
from nbcfast.associations.projections import Columns, Layout, Names, distinct
from nbcfast.associations.results import check_columns
from nbcfast.associations.streamed_views import read
from nbcfast.frames import Frame
from nbcfast.table import Domain, Table
from nbcfast.table.arrays import is_arrow
from nbcfast.table.elsewhere import engine_of
from nbcfast.table.encode import recode

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def are_tables(table: object) -> bool:
    """Whether this is a list of tables, and none of the record batches of one, or of records."""
    if not isinstance(table, (list, tuple)) or not table or is_batch(table[0]):
        return False
    first = table[0]
    if isinstance(first, Mapping):  # a record has plain values where a table has columns
        return all(isinstance(one, Iterable) and not isinstance(one, (str, bytes)) for one in first.values())
    if engine_of(first) is not None:  # and be it one that is refused by its name
        return True
    return isinstance(first, Table | Frame | Iterator) or is_arrow(first) or is_path(first)


def read_tables(
    tables: Sequence[AnyTable], plan: Layout, threads: int | None, progress: Progress | None
) -> list[Columns]:
    """The columns of each part, of the table of its view, in the domains of all tables together."""
    if len(tables) != len(plan.views):
        raise ValueError(f"table: expected a table for each of {len(plan.views)} views, got {len(tables)}")
    parts = [
        _part(tables[number - 1], plan.views[number - 1], part, f"table[{number - 1}]", threads, progress)
        for part, number in zip(plan.parts, plan.numbers, strict=True)
    ]
    for name in plan.names:
        having = [columns for columns in parts if name in columns.domains]
        joined = partial(Domain.joined, where=f"column {name!r}")
        domain = reduce(joined, [columns.domains[name] for columns in having])
        for columns in having:
            places = columns.domains[name].positions_in(domain)
            columns.codes[name] = recode(columns.codes[name], places, len(domain))
            columns.domains[name] = domain
    for (one, mine), (other, theirs) in combinations(zip(plan.numbers, parts, strict=True), 2):
        shared = [name for name in mine.domains if name in theirs.domains]
        if shared:
            _expect_equal(distinct(mine, shared, threads), distinct(theirs, shared, threads), one, other)
    return parts


def _part(
    table: AnyTable, view: Names, part: Names, where: str, threads: int | None, progress: Progress | None
) -> Columns:
    """The columns of a part, of a table that must have all of its view."""
    if isinstance(table, Frame):  # before anything is fetched, which is no more than the part
        check_columns(table.names, view, where)
        return Columns.of(table.weighted(part), part)
    source = batches_from(table, where)
    if isinstance(source, Table):
        check_columns(source.names, view, where)
        return Columns.of(source, part)
    try:
        return read(source, (part,), threads, progress, [name for name in view if name not in part])[0]
    except NoColumnError as error:
        raise NoColumnError(error.name, error.present, where) from None


def _expect_equal(mine: Columns, theirs: Columns, one: int, other: int) -> None:
    """Refuse tables of which one has a tuple of the columns of both that the other has not.

    No rows at all give such views, and the closed forms of the worlds would be of nothing.
    """
    names = list(mine.domains)
    if all(np.array_equal(mine.codes[name], theirs.codes[name]) for name in names):  # both are sorted
        return
    tuples = [set(columns.rows(names)) for columns in (mine, theirs)]
    for number, odd in ((one, tuples[0] - tuples[1]), (other, tuples[1] - tuples[0])):
        if odd:
            values = zip(names, min(odd), strict=True)
            text = ", ".join(f"{name}={mine.domains[name].values[code]!r}" for name, code in values)
            raise ValueError(
                f"table[{one - 1}] and table[{other - 1}] are not of the same rows: {text} is in "
                f"table[{number - 1}] alone"
            )
