"""Worlds of whole tuples of views that share one join key (Def. 3.2 literally).

An identity that has several tuples at a join value has the more cells, so associations of one join value
differ: each is worked out, once for every combination of sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import gmpy2

from nbcfast.associations.explicit import NEVER, NOWHERE, Explicit, Outcome
from nbcfast.associations.sizes import FIRST_BITS, Longs, Model
from nbcfast.associations.stars import Sizes, single_weights, tuples_enclosed

if TYPE_CHECKING:
    from nbcfast._threads import Progress
    from nbcfast.associations.compact import Flags
    from nbcfast.associations.projections import Part

Owned = dict[int, int]  # code of a value -> its tuples


def full(
    identities: Part,
    values: Part,
    sizes: list[Longs],
    model: Model,
    wanted_ids: Flags,
    wanted_values: Flags,
    progress: Progress | None,
) -> Explicit:
    """All associations, identity by identity."""
    owned = list(_by_join_value(values))
    held: dict[int, list[tuple[int, int]]] = defaultdict(list)  # identity -> join values, tuples there
    for place, mine in enumerate(_by_join_value(identities)):
        for code, tuples in mine.items():
            held[code].append((place, tuples))
    each = [tuple(int(size[place]) for size in sizes) for place in range(len(owned))]
    people = [code for code in sorted(held) if wanted_ids[code]]
    find = _unrestricted if model == "unrestricted" else _restricted
    groups = identities.groups
    keys = [
        (name, (groups.codes(name), domain)) for name, domain in zip(groups.by, groups._domains, strict=True)
    ]
    numbers: list[tuple[str, Any]] = [
        ("identities", groups.distinct),
        ("values", values.groups.distinct),
        *((f"tuples of view {place + 1}", size) for place, size in enumerate(sizes)),
        ("associations", groups.distinct * values.groups.distinct),
    ]
    return Explicit(
        lambda code: dict(find(held[code], owned, each)) if code in held else {},
        people,
        "worlds of whole tuples",
        wanted_ids,
        wanted_values,
        (keys, numbers),
        progress,
    )


def _by_join_value(part: Part) -> Iterator[Owned]:
    offsets = part.groups.offsets.tolist()
    codes, tuples = part.groups.values.tolist(), part.tuples.tolist()
    for start, stop in pairwise(offsets):
        yield dict(zip(codes[start:stop], tuples[start:stop], strict=True))


def _unrestricted(
    mine: list[tuple[int, int]], owned: list[Owned], sizes: list[Sizes]
) -> Iterator[tuple[int, Outcome]]:
    where: dict[int, list[tuple[Sizes, int, int]]] = defaultdict(list)
    for place, a in mine:
        for value, b in owned[place].items():
            where[value].append((sizes[place], a, b))
    for value, cells in where.items():
        yield value, _shared(tuple(sorted(cells)))


@cache
def _shared(cells: tuple[tuple[Sizes, int, int], ...]) -> Outcome:
    """1 - prod(1 - P) over join values of sizes, tuples of the identity and tuples of the value."""
    most = least = gmpy2.mpq(1)
    for sizes, a, b in cells:
        low, high = tuples_enclosed(sizes, (a, b), FIRST_BITS)
        most, least = most * (1 - low), least * (1 - high)
    return Outcome(1 - most, 1 - least)


def _restricted(
    mine: list[tuple[int, int]], owned: list[Owned], sizes: list[Sizes]
) -> Iterator[tuple[int, Outcome]]:
    places = [place for place, _ in mine]
    cover = set().union(*(owned[place] for place in places))
    common = set(owned[places[0]]).intersection(*(owned[place] for place in places))
    weights, narrow = {}, True
    tables = []
    for place, a in mine:
        table, exact = _weights(sizes[place], a, tuple(sorted(set(owned[place].values()))))
        tables.append(table)
        narrow &= exact
    for value in common:
        weights[value] = prod(
            (table[owned[place][value]] for table, place in zip(tables, places, strict=True)),
            start=gmpy2.mpq(1),
        )
    total = sum(weights.values())
    outcomes: dict[Any, Outcome] = {}
    for value in cover:
        weight = weights.get(value, gmpy2.mpq(0))
        if total == 0:
            outcomes[weight] = NOWHERE
        elif weight == 0:
            outcomes[weight] = NEVER
        elif weight not in outcomes:
            share = weight / total
            off = 0 if narrow else share * len(mine) / (gmpy2.mpz(1) << (FIRST_BITS - 2))
            outcomes[weight] = Outcome(share - off, share + off)
        yield value, outcomes[weight]


@cache
def _weights(sizes: Sizes, a: int, owned: tuple[int, ...]) -> tuple[dict[int, Any], bool]:
    """For each number of tuples of a value its worlds, and whether they are exact."""
    found, exact = single_weights(sizes, a, list(owned), FIRST_BITS)
    return dict(zip(owned, found, strict=True)), exact
