"""From numbers of sums to the values that they are sums over, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._halves.split import TwoHalves
from nbcfast._margin import NONE, ONLY, REAL, outer


def clamped(number: int) -> int:
    """A sum as kernels take it: NONE, ONLY or less than REAL in size."""
    return NONE if number <= -REAL else ONLY if number >= REAL else number


def unravelled(places: Longs, sizes: Sequence[int]) -> Longs:
    """The codes of tuples at places in C order, one a column; NumPy's own function stops at 64 attributes."""
    codes = np.empty((len(places), len(sizes)), np.int64)
    for i in reversed(range(len(sizes))):
        places, codes[:, i] = np.divmod(places, sizes[i])
    return codes


def summed(numbers: Sequence[Longs]) -> Longs:
    """The sums over all combinations, the last attribute's code the fastest."""
    sums = np.zeros(1, np.int64)
    for of_attribute in numbers:
        result = np.empty(len(sums) * len(of_attribute), np.int64)
        outer(sums, of_attribute, result)
        sums = result
    return sums


def codes_of(index: int, sizes: Sequence[int]) -> list[int]:
    """The code of each attribute of a half at an index."""
    codes = []
    for size in reversed(sizes):
        index, code = divmod(index, size)
        codes.append(code)
    return codes[::-1]


def tuple_of(parts: TwoHalves, sizes: Sequence[int], outside: Sequence[int], i: int, j: int) -> list[int]:
    """The code of every attribute at indices i and j of the halves."""
    codes = [0] * len(sizes)
    for position, code in zip(parts.outside, outside, strict=True):
        codes[position] = code
    for positions, index in ((parts.a, i), (parts.b, j)):
        of_half = codes_of(index, [sizes[position] for position in positions])
        for position, code in zip(positions, of_half, strict=True):
            codes[position] = code
    return codes
