"""Where sums of one half stand among those of both classifiers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nbcfast._halves.codes import I32, I64
from nbcfast._margin import listed

HIGHEST = np.iinfo(np.int32).max


class Ranks(NamedTuple):
    """The places of half b in the second viewset, by their places in the first.

    Where some of half b do not count, they are above all in `low` and below all in `high`.
    """

    low: I32
    high: I32
    lowest: I32  # one more than there are: the least of `low` from a place on
    highest: I32  # likewise the greatest of `high` before a place

    @classmethod
    def of(cls, ranks: I32, counts: npt.NDArray[np.bool_] | None) -> Ranks:
        low = high = ranks
        if counts is not None:
            low = np.where(counts, ranks, np.int32(HIGHEST))
            high = np.where(counts, ranks, np.int32(-1))
        lowest = np.full(len(ranks) + 1, HIGHEST, np.int32)
        lowest[:-1] = np.minimum.accumulate(low[::-1])[::-1]
        highest = np.full(len(ranks) + 1, -1, np.int32)
        highest[1:] = np.maximum.accumulate(high)
        return cls(low, high, lowest, highest)


class Part(NamedTuple):
    """Some rows of half a against half b."""

    outside: tuple[int, ...]
    rows: npt.NDArray[np.intp] | None
    above: I32
    above_too: I32
    ranks: Ranks

    @property
    def size(self) -> int:
        return len(self.above) + len(self.ranks.low)

    def hit(self) -> tuple[int, int] | None:
        """An index of half a and a place of half b that the two viewsets compare differently, or None."""
        ranks = self.ranks
        lost = ranks.lowest[self.above] < self.above_too
        won = ranks.highest[self.above] >= self.above_too
        for differ, gained in ((lost, False), (won, True)):
            row = int(np.argmax(differ))
            if not differ[row]:
                continue
            start, limit = int(self.above[row]), int(self.above_too[row])
            if gained:
                place = int(np.flatnonzero(ranks.high[:start] >= limit)[0])
            else:
                place = start + int(np.flatnonzero(ranks.low[start:] < limit)[0])
            return (row if self.rows is None else int(self.rows[row])), place
        return None

    def listed(self, order: I32, found_i: I64, found_j: I64, steps: int) -> int:
        ranks = self.ranks
        return listed(
            self.above,
            self.above_too,
            ranks.low,
            ranks.high,
            ranks.lowest[:-1],
            ranks.highest[1:],
            order,
            found_i,
            found_j,
            steps,
        )


def merged(keys: I64, more: I64) -> I64:
    """Both in rising order, each once."""
    keys = np.concatenate([keys, more])
    keys.sort()
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def inverse(order: I32) -> I32:
    """The place of each index."""
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def suffix_sums(weights: I64) -> I64:
    """One more than there are: the sum from each place on."""
    sums = np.zeros(len(weights) + 1, np.int64)
    sums[:-1] = np.cumsum(weights[::-1])[::-1]
    return sums
