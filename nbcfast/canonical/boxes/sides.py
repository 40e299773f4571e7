"""Who wins over whom where, on a product of two halves: the least of a sum over all tuples of a kind.

Three kinds of sides answer one question. For an ordered pair of classes (w, d) and numbers over half b, what
is the least over the b that make (a, b) a tuple where w must beat d, for each a; and the same for each b over
half a. The answers are defined by labels alone: the least number, at the least index among equals. Whatever a
side keeps to be quick (places in an order of half b) cannot be seen from outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from nbcfast import _classes
from nbcfast._core.dtypes import Array, Int8s, Int32s, Longs

Pair = tuple[int, int]

Order = tuple[
    Int32s, Int32s, Int32s, Int32s, Int32s, Int32s
]  # what `_classes.sweep` wants to know of a region

LARGEST = np.iinfo(np.int64).max


class LeastSums(NamedTuple):
    """One row an ordered pair: the least number for each index of a half, and where it is; -1 for nowhere."""

    low_a: Array
    at_a: Int32s
    low_b: Array
    at_b: Int32s


class Sides(Protocol):
    """Two halves and the labels over their product."""

    n: int
    m: int
    n_classes: int

    def batches(self) -> Iterator[list[Pair]]:
        """The ordered pairs of classes, in the portions that `least` takes them in."""

    def least(self, pairs: list[Pair], da: Array, db: Array) -> LeastSums:
        """The least of db (pairs, m) for each a, and of da (pairs, n) for each b."""

    def changed(self, za: Longs, zb: Longs) -> int:
        """How many tuples the totals za (n, classes) + zb (m, classes) answer differently."""


def ordered_pairs(n_classes: int) -> list[Pair]:
    return [(w, d) for w in range(n_classes) for d in range(n_classes) if w != d]


def pair_number(n_classes: int) -> dict[Pair, int]:
    """The place of each pair c < d."""
    pairs = [(c, d) for c in range(n_classes) for d in range(c + 1, n_classes)]
    return {pair: p for p, pair in enumerate(pairs)}


def _blank(like: Array, shape: tuple[int, ...]) -> tuple[Array, Int32s]:
    most = np.inf if like.dtype.kind == "f" else LARGEST
    return np.full(shape, most, like.dtype), np.full(shape, -1, np.int32)


class TableSides:
    """Labels of all tuples, one by one.

    Parameters
    ----------
    known : ndarray of int8, shape (n, m)
    n_classes : int
    """

    def __init__(self, known: Int8s, n_classes: int) -> None:
        self.n, self.m = known.shape
        self.n_classes = n_classes
        self._known = known

    def batches(self) -> Iterator[list[Pair]]:
        yield ordered_pairs(self.n_classes)

    def least(self, pairs: list[Pair], da: Array, db: Array) -> LeastSums:
        low_a, at_a = _blank(da, (self.n, len(pairs)))
        low_b, at_b = _blank(da, (self.m, len(pairs)))
        da, db = np.ascontiguousarray(da.T), np.ascontiguousarray(db.T)
        _classes.least(self._known, da, db, low_a, at_a, low_b, at_b)
        return LeastSums(low_a.T, at_a.T, low_b.T, at_b.T)

    def changed(self, za: Longs, zb: Longs) -> int:
        return _classes.changed_labels(self._known, za, zb)


class Ranked:
    """Places: of the pair c < d, X_c > X_d at (a, b) where rank[b, pair] >= above[a, pair].

    Every column of `rank` is a permutation.
    """

    def __init__(self, above: Int32s, rank: Int32s, n_classes: int) -> None:
        self.n, self.m = len(above), len(rank)
        self.n_classes = n_classes
        self.above, self.rank = above, rank
        self._number = pair_number(n_classes)

    def batches(self) -> Iterator[list[Pair]]:
        for pair in ordered_pairs(self.n_classes):
            yield [pair]

    def taken(self, a: Longs, b: Longs) -> tuple[Int32s, Int32s]:
        """`above` and `rank` of some indices of the halves only."""
        above, rank = np.empty((len(a), self.above.shape[1]), np.int32), np.empty_like(self.rank[b])
        for p in range(self.above.shape[1]):
            places = np.sort(self.rank[b, p])
            rank[:, p] = np.searchsorted(places, self.rank[b, p])
            above[:, p] = np.searchsorted(places, self.above[a, p])
        return above, rank

    def over(self, w: int, d: int) -> tuple[Int32s, Int32s]:
        """(p, s): w is over d where p[b] >= s[a]."""
        if w < d:
            pair = self._number[w, d]
            return np.ascontiguousarray(self.rank[:, pair]), np.ascontiguousarray(self.above[:, pair])
        pair = self._number[d, w]
        return (self.m - 1 - self.rank[:, pair]).astype(np.int32), (self.m - self.above[:, pair]).astype(
            np.int32
        )

    def _changed(self, za: Longs, zb: Longs, *, order: bool) -> int:
        return _classes.changed(self.above, self.rank, order, za, zb, 0, self.n)


class PairSides(Ranked):
    """Order mode: w must beat d wherever it does."""

    def __init__(self, above: Int32s, rank: Int32s, n_classes: int) -> None:
        super().__init__(above, rank, n_classes)
        self._orders: dict[Pair, tuple[Int32s, Int32s, Longs]] = {}

    def least(self, pairs: list[Pair], da: Array, db: Array) -> LeastSums:
        rows = [self._of_pair(pair, da[k], db[k]) for k, pair in enumerate(pairs)]
        return LeastSums(*(np.stack(column) for column in zip(*rows, strict=True)))

    def _of_pair(self, pair: Pair, da: Array, db: Array) -> LeastSums:
        p, s = self.over(*pair)
        if pair not in self._orders:
            falling_p = np.argsort(-p, kind="stable").astype(np.int32)
            rising_s = np.argsort(s, kind="stable").astype(np.int32)
            self._orders[pair] = falling_p, rising_s, np.searchsorted(s[rising_s], p, side="right")
        falling_p, rising_s, below = self._orders[pair]
        low, at = _blank(db, (self.m + 1,))
        _classes.prefixes(db, falling_p, low, at)
        places = self.m - s
        low_b, at_b = _blank(da, (self.n + 1,))
        _classes.prefixes(da, rising_s, low_b, at_b)
        return LeastSums(low[places], at[places], low_b[below], at_b[below])

    def changed(self, za: Longs, zb: Longs) -> int:
        return self._changed(za, zb, order=True)


class SweptSides(Ranked):
    """Label mode with three classes: where w wins, it is over both others, a dominance in two dimensions."""

    def __init__(self, above: Int32s, rank: Int32s) -> None:
        super().__init__(above, rank, 3)
        self._regions = [self._region(w) for w in range(3)]

    def _region(self, w: int) -> tuple[Order, Order]:
        d, e = (c for c in range(3) if c != w)
        (p, s), (q, t) = self.over(w, d), self.over(w, e)
        over_a = (_falling(s), s, t, _falling(p), p, q)
        # The same from the side of b: s[a] <= p[b] as places of a from the end, so that it reads "at least".
        (place_s, limit_s), (place_t, limit_t) = self._turned(s, p), self._turned(t, q)
        over_b = (_falling(limit_s), limit_s, limit_t, _falling(place_s), place_s, place_t)
        return over_a, over_b

    def _turned(self, s: Int32s, p: Int32s) -> tuple[Int32s, Int32s]:
        rising = np.argsort(s, kind="stable")
        place = np.empty(self.n, np.int32)
        place[rising] = self.n - 1 - np.arange(self.n, dtype=np.int32)
        return place, (self.n - np.searchsorted(s[rising], p, side="right")).astype(np.int32)

    def counts(self) -> tuple[Longs, Longs]:
        """How many b, for each a, and how many a, for each b, have each label."""
        K, L = np.empty((3, self.n), np.int64), np.empty((3, self.m), np.int64)
        for w, (over_a, over_b) in enumerate(self._regions):
            _classes.sweep_count(*over_a, K[w])
            _classes.sweep_count(*over_b, L[w])
        return np.ascontiguousarray(K.T), np.ascontiguousarray(L.T)

    def least(self, pairs: list[Pair], da: Array, db: Array) -> LeastSums:
        low_a, at_a = _blank(da, (len(pairs), self.n))
        low_b, at_b = _blank(da, (len(pairs), self.m))
        for k, (w, _) in enumerate(pairs):
            over_a, over_b = self._regions[w]
            _classes.sweep(*over_a, db[k], low_a[k], at_a[k])
            _classes.sweep(*over_b, da[k], low_b[k], at_b[k])
        return LeastSums(low_a, at_a, low_b, at_b)

    def changed(self, za: Longs, zb: Longs) -> int:
        return self._changed(za, zb, order=False)


def _falling(places: Int32s) -> Int32s:
    return np.argsort(-places, kind="stable").astype(np.int32)


def cubed(flat: Array, sizes: Sequence[int], axis: int) -> Array:
    """Of what stands in C order of these sizes the axes (before, this one, after, ..)."""
    # Not one axis an attribute: NumPy takes 64 of them.
    return flat.reshape(math.prod(sizes[:axis]), sizes[axis], math.prod(sizes[axis + 1 :]), *flat.shape[1:])


def halves_summed(rows: Sequence[Array], n_classes: int, dtype: npt.DTypeLike) -> Array:
    """Sums over all combinations of the attributes of a half, shape (combinations, classes)."""
    sums = np.zeros((1, n_classes), dtype)
    for row in rows:
        sums = (sums[:, np.newaxis] + row[np.newaxis]).reshape(-1, n_classes)
    return sums
