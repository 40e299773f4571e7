"""Counts of two viewsets put together, whose values may stand in other places."""

import numpy as np

from nbcfast._core.dtypes import Counts, Longs
from nbcfast.table import Domain
from nbcfast.views.integers import added, zeros


def places(mine: Domain, theirs: Domain, joined: Domain) -> tuple[Longs, Longs] | None:
    """Where the values of two domains are in the one of both; None where all are where they were.

    Parts of one stream have equal domains: looking up each value would take longer than adding the counts.
    """
    if mine == joined and theirs == joined:
        return None
    return mine.positions_in(joined), theirs.positions_in(joined)


def merged_counts(
    mine: Counts,
    theirs: Counts,
    rows: tuple[Longs, Longs] | None,
    columns: tuple[Longs, Longs] | None,
    shape: tuple[int, int],
    subtract: bool,
    where: str,
) -> Counts:
    """The counts of both, or of one without the other, in the rows and columns of the joined domains."""
    if columns is None and (rows is None or shape[0] == 1 == len(mine) == len(theirs)):
        return added(mine, theirs, subtract, where)
    as_they_were = tuple(np.arange(size, dtype=np.int64) for size in shape)
    spread = [zeros(shape, mine, theirs) for _ in range(2)]
    for side, (cells, array) in enumerate(zip(spread, (mine, theirs), strict=True)):
        at = [
            there[side] if there else same for there, same in zip((rows, columns), as_they_were, strict=True)
        ]
        cells[np.ix_(*at)] = array
    return added(spread[0], spread[1], subtract, where)
