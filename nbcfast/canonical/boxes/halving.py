"""Domains in two halves: as far as the canonical release reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nbcfast._core.errors import Infeasible
from nbcfast._halves.split import MOST_HALF, TwoHalves, split
from nbcfast._wire.messages import short

MOST_TUPLES = 500_000_000_000  # measured up to here; beyond, doubles are soon too short
ADVICE = "declare coarser values (bins fixed in advance), fewer attributes, or a list of tuples"


def contiguous(sizes: Sequence[int]) -> tuple[int, int, int]:
    """Two halves in the order of the attributes, with as few combinations as can be.

    Returns how many attributes the first has, and the combinations of both.
    """

    def parts(k: int) -> tuple[int, int]:
        return math.prod(sizes[:k]), math.prod(sizes[k:])

    k = min(range(len(sizes) + 1), key=lambda k: sum(parts(k)))
    return k, *parts(k)


def halves(sizes: tuple[int, ...]) -> TwoHalves:
    """Two halves with few combinations each, from public sizes alone: of the box nobody may read more."""
    n_tuples = math.prod(sizes)
    best: dict[str, object] = {"tuples": n_tuples, "most_tuples": MOST_TUPLES}
    if n_tuples > MOST_TUPLES:
        raise Infeasible(
            f"the domain has {short(n_tuples)} tuples, and the canonical release reaches {MOST_TUPLES}: "
            f"{ADVICE}",
            best,
        )
    parts = split(sizes, MOST_HALF, 2 * MOST_HALF)
    if parts is None or parts.blocks != 1:
        raise Infeasible(
            f"an attribute has {max(sizes)} values, and a half of the domain may have {MOST_HALF} "
            f"combinations: {ADVICE}",
            best,
        )
    return parts


def half_of_each(parts: TwoHalves, n_attributes: int) -> tuple[int, ...]:
    """0 for an attribute of half A, 1 for one of half B."""
    in_b = set(parts.b)
    return tuple(int(i in in_b) for i in range(n_attributes))
