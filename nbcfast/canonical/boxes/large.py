"""Domains in two halves, and boxes of more than two classes that are counts of labels over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Int8s, Int32s
from nbcfast._core.errors import Infeasible
from nbcfast._halves.split import MOST_HALF, Split, split
from nbcfast._wire.messages import short
from nbcfast.canonical.boxes.sides import pair_number
from nbcfast.canonical.boxes.types import Halved

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


@dataclass(frozen=True, eq=False, repr=False)
class PairsBox(Halved):
    r"""The whole order of the classes at every tuple: for each pair of them the two vectors of a `Box`.

    Of the pair c < d and a tuple with indices a and b in the halves, c is before d if and only if b is among
    the first K[pair, a] of B sorted by falling L[pair], the first index first among equals. Pairs are (0, 1),
    (0, 2), .., (1, 2), ..

    Attributes
    ----------
    K : ndarray of int64, shape (pairs, \|A\|), read only
        How many b, for each a, put c before d.
    L : ndarray of int64, shape (pairs, \|B\|), read only
        How many a, for each b, put c before d.
    """

    @cached_property
    def places(self) -> tuple[Int32s, Int32s]:
        """`above` (n, pairs) and `rank` (m, pairs): c is before d where the rank reaches what is above."""
        m = self.L.shape[1]
        rank = np.empty(self.L.shape, np.int32)
        for row, of_pair in zip(rank, self.L, strict=True):
            row[np.argsort(-of_pair, kind="stable")[::-1]] = np.arange(m, dtype=np.int32)
        return np.ascontiguousarray((m - self.K).T.astype(np.int32)), np.ascontiguousarray(rank.T)

    def orders(self, codes: npt.ArrayLike) -> Int8s:
        """The classes of each row of codes, the best first."""
        a, b = self.indices(codes)
        above, rank = self.places
        lost = np.zeros((len(a), self.n_classes), np.int8)
        for (c, d), p in pair_number(self.n_classes).items():
            before = rank[b, p] >= above[a, p]
            lost[:, d] += before
            lost[:, c] += ~before
        return np.argsort(lost, axis=1, kind="stable").astype(np.int8)

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The first class of each row of codes, one code an attribute."""
        return np.ascontiguousarray(self.orders(codes)[:, 0])


@dataclass(frozen=True, eq=False, repr=False)
class SweptBox(Halved):
    r"""The labels of three classes on a large domain, as how often each occurs over either half.

    K and L determine every label: among all ways of giving labels to the tuples with these counts, the one in
    which x(a) + y(b) decides has the largest total of the scores it picks, which depends on the counts alone,
    and every other way has less. So two boxes are equal if and only if their labels are. Computing labels
    from the counts is another matter: for that the box keeps, out of sight, places in an order of half B. Any
    places that give these labels serve, and no answer depends on which.

    Attributes
    ----------
    K : ndarray of int64, shape (\|A\|, 3), read only
        How many b, for each a, have each label.
    L : ndarray of int64, shape (\|B\|, 3), read only
        How many a, for each b, have each label.
    """

    places: tuple[Int32s, Int32s] = field(repr=False, compare=False)

    def labels(self, codes: npt.ArrayLike) -> Int8s:
        """The label of each row of codes, one code an attribute."""
        a, b = self.indices(codes)
        (above, rank), number = self.places, pair_number(3)
        best = np.full(len(a), 2, np.int8)
        for c in (1, 0):
            p = np.array([number.get((c, w), 0) for w in range(3)])[best]
            best[rank[b, p] >= above[a, p]] = c
        return best


def halves(sizes: tuple[int, ...]) -> Split:
    """Two halves with few combinations each, from public sizes alone."""
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
