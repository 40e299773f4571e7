"""Where sums of one half stand among those of both classifiers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Int32s, Longs, Places
from nbcfast._margin import listed

HIGHEST = np.iinfo(np.int32).max


class Ranks(NamedTuple):
    """The places of half b in the second viewset, by their places in the first.

    Where some of half b do not count, they are above all in `low` and below all in `high`.
    """

    low: Int32s
    high: Int32s
    lowest: Int32s  # one more than there are: the least of `low` from a place on
    highest: Int32s  # likewise the greatest of `high` before a place

    @classmethod
    def of(cls, ranks: Int32s, counts: Bools | None) -> Ranks:
        low = high = ranks
        if counts is not None:
            low = np.where(counts, ranks, np.int32(HIGHEST))
            high = np.where(counts, ranks, np.int32(-1))
        lowest = np.full(len(ranks) + 1, HIGHEST, np.int32)
        lowest[:-1] = np.minimum.accumulate(low[::-1])[::-1]
        highest = np.full(len(ranks) + 1, -1, np.int32)
        highest[1:] = np.maximum.accumulate(high)
        return cls(low, high, lowest, highest)


class RowsOfHalf(NamedTuple):
    """Some rows of half a against half b."""

    outside: tuple[int, ...]
    rows: Places | None
    above: Int32s
    above_too: Int32s
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

    def listed(self, order: Int32s, found_i: Longs, found_j: Longs, steps: int) -> int:
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


def merged_keys(keys: Longs, more: Longs) -> Longs:
    """Both in rising order, each once."""
    keys = np.concatenate([keys, more])
    keys.sort()
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def inverse(order: Int32s) -> Int32s:
    """The place of each index."""
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def suffix_sums(weights: Longs) -> Longs:
    """One more than there are: the sum from each place on."""
    sums = np.zeros(len(weights) + 1, np.int64)
    sums[:-1] = np.cumsum(weights[::-1])[::-1]
    return sums
