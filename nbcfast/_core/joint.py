"""Which attributes share a table: several columns of codes looked up, or counted, with one index."""

import heapq
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Longs

INDEX_LIMIT = 65_536  # a joint index is 16 bits wide
MANY = 256  # attributes, beyond which not all numbers of groups are tried
TABLE_LIMIT = 20_480  # larger tables miss the second cache more often than they save a look-up


class JointTables(NamedTuple):
    """Groups of attribute numbers: group g is members[first[g]:first[g + 1]].

    Attributes in no group have a table too large to share.
    """

    first: Longs
    members: Longs


def plan(
    sizes: Sequence[int],
    n_rows: int,
    *,
    per_entry: int = 1,
    width: int = 1,
    most_entries: int,
    most_table: int = TABLE_LIMIT,
    row_cost: float,
    entry_cost: float,
    near_table: int = TABLE_LIMIT,
    far_cost: float = 0.0,
    by_four: bool = False,
) -> JointTables:
    """The cheapest number of groups, with tables about equally large.

    Parameters
    ----------
    sizes
        Number of codes of each attribute.
    n_rows
        How many rows will be looked up.
    per_entry
        How many entries each combination of codes takes (one a class).
    width
        How many numbers an entry is.
    most_entries
        How many numbers all tables together may hold, if attributes share tables at all: they should stay
        in the second cache.
    most_table
        And each table that attributes share.
    row_cost, entry_cost
        Nanoseconds to look up a row in one table, and to make and clear a number of one.
    near_table, far_cost
        What a table may hold to stay in the first cache, and nanoseconds more to look up a row in a
        larger one.
    by_four
        At most four attributes a group, all of one sixteen: what the row-major kernel can index at once.

    Plans are remembered: batches of one length need one plan.
    """
    return _planned(
        tuple(sizes),
        n_rows,
        per_entry,
        width,
        most_entries,
        most_table,
        row_cost,
        entry_cost,
        near_table,
        far_cost,
        by_four,
    )


@lru_cache(maxsize=64)
def _planned(
    sizes: tuple[int, ...],
    n_rows: int,
    per_entry: int,
    width: int,
    most_entries: int,
    most_table: int,
    row_cost: float,
    entry_cost: float,
    near_table: int,
    far_cost: float,
    by_four: bool,
) -> JointTables:
    shared = [a for a, size in enumerate(sizes) if 0 < size * per_entry <= INDEX_LIMIT]
    window = 16 if by_four else max(len(sizes), 1)
    windows = [[a for a in shared if a // window == w] for w in range(-(-len(sizes) // window))]
    groups: list[list[int]] = []
    for members in windows:
        groups += _cheapest(
            sorted(members, key=lambda a: -sizes[a]),
            sizes,
            per_entry,
            width,
            4 if by_four else len(members),
            most_entries // len(windows),
            min(most_table, INDEX_LIMIT * width),
            row_cost * n_rows,
            entry_cost,
            near_table,
            far_cost * n_rows,
        )
    first = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    together = np.array([a for group in groups for a in group], dtype=np.int64)
    first.flags.writeable = together.flags.writeable = False  # whoever asks next gets the same
    return JointTables(first, together)


def _cheapest(
    members: list[int],
    sizes: Sequence[int],
    per_entry: int,
    width: int,
    most_members: int,
    most_entries: int,
    most_table: int,
    group_cost: float,
    entry_cost: float,
    near_table: int,
    far_cost: float,
) -> list[list[int]]:
    """Try ever more groups until the groups alone cost more than the best so far.

    Of many members only a few numbers of groups are tried, those first that may cost least.
    """
    best, least = [[a] for a in members], float("inf")
    bits = sum(math.log2(sizes[a]) for a in members)
    numbers = np.arange(max(1, int(bits / math.log2(max(2, most_table)))), len(members))
    per_entry *= width
    if len(members) > MANY:
        # Tables are smallest if all are equally large.
        costs = numbers * (group_cost + entry_cost * per_entry * np.exp2(bits / numbers))
        numbers = numbers[np.argsort(costs, kind="stable")[: max(2, MANY * MANY // len(members))]]
    for n_groups in numbers.tolist():
        if n_groups * group_cost >= least:
            if len(members) > MANY:
                continue
            break
        groups, entries = _spread(members, sizes, per_entry, most_members, n_groups)
        n_far = sum(table > near_table for table in entries) if far_cost else 0
        cost = n_groups * group_cost + n_far * far_cost + entry_cost * sum(entries)
        if cost < least and max(entries) <= most_table and sum(entries) <= most_entries:
            best, least = groups, cost
    n_far = sum(sizes[a] * per_entry > near_table for a in members) if far_cost else 0
    alone = (
        len(members) * group_cost + n_far * far_cost + entry_cost * per_entry * sum(sizes[a] for a in members)
    )
    return best if least < alone else [[a] for a in members]


def _spread(
    members: list[int], sizes: Sequence[int], per_entry: int, most_members: int, n_groups: int
) -> tuple[list[list[int]], list[int]]:
    """Each attribute, by falling size, to the group with the smallest table so far."""
    groups: list[list[int]] = [[] for _ in range(n_groups)]
    entries = [per_entry] * n_groups
    heap = [(per_entry, g) for g in range(n_groups)]
    for a in members:
        if not heap:  # all groups are full: no such plan
            return groups, [INDEX_LIMIT * per_entry + 1]
        _, g = heap[0]
        groups[g].append(a)
        entries[g] *= sizes[a]
        if len(groups[g]) < most_members:
            heapq.heapreplace(heap, (entries[g], g))
        else:
            heapq.heappop(heap)
    return groups, entries
