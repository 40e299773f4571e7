"""Two halves of the attributes with few sums each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST_HALF = 25_000_000  # sums in one half: some 40 bytes each
MOST_WORK = 2_000_000_000  # sums looked at for all pairs of classes, some 20 ns each


class TwoHalves(NamedTuple):
    """Positions of the attributes: outside, in half a, in half b."""

    outside: tuple[int, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    blocks: int  # combinations of the values outside
    n: int  # of those in half a
    m: int  # of those in half b


def split(sizes: Sequence[int], most: int, work: int) -> TwoHalves | None:
    """Two halves with few sums, the second not longer; attributes outside where these are too many."""
    outside: tuple[int, ...] = ()
    inside = [position for position, size in enumerate(sizes) if size != 1]
    # Then no split keeps both halves below `most` and the blocks below `work`, whatever is tried.
    if sum(math.log2(sizes[position]) for position in inside) > math.log2(most) * 2 + math.log2(max(work, 1)):
        return None
    while True:
        a, b = _halves([sizes[position] for position in inside])
        parts = TwoHalves(
            outside,
            tuple(inside[place] for place in a),
            tuple(inside[place] for place in b),
            math.prod(sizes[position] for position in outside),
            math.prod(sizes[inside[place]] for place in a),
            math.prod(sizes[inside[place]] for place in b),
        )
        if parts.blocks * (parts.n + parts.m) > work:
            return None
        if parts.n <= most:
            return parts
        largest = max(inside, key=lambda position: sizes[position])
        inside.remove(largest)
        outside += (largest,)


def _halves(sizes: list[int]) -> tuple[list[int], list[int]]:
    """Places of two groups with products as equal as can be found, the first the larger."""
    groups = [[place] for place in range(len(sizes))]
    weights = [math.log(size) for size in sizes]
    while len(groups) > 14:  # all ways to part more of them would take long: the smallest go together
        order = sorted(range(len(groups)), key=weights.__getitem__)
        i, j = order[:2]
        groups.append(groups[i] + groups[j])
        weights.append(weights[i] + weights[j])
        for place in sorted((i, j), reverse=True):
            del groups[place], weights[place]
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums, sums + weight])
    total = sum(weights)
    # The least sum of at least half; rounding must not leave an equal parting out.
    best = int(np.argmin(np.where(sums >= total / 2 - 1e-9, sums, np.inf)))
    a = sorted(place for k, group in enumerate(groups) if best >> k & 1 for place in group)
    b = [place for place in range(len(sizes)) if place not in a]
    while len(groups) < len(sizes):  # some went together: one of them may have to change sides
        gap = math.log(math.prod(sizes[place] for place in a) / math.prod(sizes[place] for place in b))
        better = [place for place in a if math.log(sizes[place]) < gap - 1e-9]
        if not better:
            break
        moved = min(better, key=lambda place: abs(gap / 2 - math.log(sizes[place])))
        a.remove(moved)
        b.append(moved)
        if math.log(sizes[moved]) > gap / 2:
            a, b = b, a
    return sorted(a), sorted(b)
