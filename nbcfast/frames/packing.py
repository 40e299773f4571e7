"""Which columns an engine groups together: a few at a time, for it reads its rows once for each group."""

from __future__ import annotations

from collections.abc import Sequence

MOST_TOGETHER = 5  # columns beside those that all groups have
MOST_CELLS = 1 << 14  # combinations of their values: what is fetched, and a hash table in the cache


def packed(sizes: Sequence[int | None], *, beside: int = 1) -> list[list[int]]:
    """Groups of columns, each column in one: their values have few combinations together.

    Of five columns at once an engine that copies a row for each group copies a fifth as many. Whatever the
    groups are, the numbers that come of them are the same.

    Parameters
    ----------
    sizes : sequence of int or None
        How many values each column has, or what that is estimated to be; None where it may be anything.
    beside : int
        How many combinations the columns have that are in each group as well, as the class.

    Returns
    -------
    list of lists of positions
        Large columns are alone; in a group positions rise.

    Examples
    --------
    >>> packed([70, 9, 16, 40_000, 2, None], beside=2)
    [[3], [5], [0, 2, 4], [1]]
    """
    alone = [[place] for place, size in enumerate(sizes) if size is None or size * beside > MOST_CELLS // 2]
    known = [(size, place) for place, size in enumerate(sizes) if size is not None and [place] not in alone]
    groups: list[tuple[int, list[int]]] = []
    for size, place in sorted(known, key=lambda one: (-one[0], one[1])):
        for number, (cells, members) in enumerate(groups):
            if len(members) < MOST_TOGETHER and cells * size <= MOST_CELLS:
                groups[number] = (cells * size, [*members, place])
                break
        else:
            groups.append((max(size, 1) * max(beside, 1), [place]))
    return [*alone, *(sorted(members) for _, members in groups)]
