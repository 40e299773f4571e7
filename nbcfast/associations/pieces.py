"""Pieces of a join: join tuples that only together decide whether some view tuples are covered.

Numbers of worlds multiply over pieces: docs/mathematics/associations.md, section 6 (#associations-6).
"""

from __future__ import annotations

import marshal
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import gmpy2
import numpy as np

from nbcfast._core.dtypes import UInt32s
from nbcfast._core.untyped import Exact

ENUMERATED = 20  # join tuples of a piece
EXCLUDED = 14  # view tuples of a piece, over whose sets inclusion and exclusion runs
POOL = 1 << 28  # bytes of draws, and of enumerated sets, that are remembered


@dataclass(frozen=True, eq=False)
class Piece:
    """Join tuples that only together decide whether some view tuples are covered.

    Attributes
    ----------
    tuples : tuple of int
    nodes : tuple of tuple of int
        The join tuples, by position among `tuples`, of each view tuple that they must cover.
    views : tuple of int
        The view of each of these.
    """

    tuples: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]
    views: tuple[int, ...]

    @cached_property
    def digest(self) -> bytes:
        """What stands for the piece where it is looked up, and takes no memory."""
        # Version 2 writes equal tuples alike; later ones do not.
        return blake2b(marshal.dumps((self.tuples, self.nodes, self.views), 2), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Piece) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def is_enumerated(self) -> bool:
        """Whether all sets of its join tuples are listed."""
        return len(self.tuples) <= ENUMERATED

    @property
    def is_exact(self) -> bool:
        """Whether its worlds are counted, one way or the other, and not drawn."""
        return self.is_enumerated or len(self.nodes) <= EXCLUDED


@dataclass(frozen=True)
class Pieces:
    """A join taken apart; None where something cannot be covered."""

    forced: frozenset[int]
    free: frozenset[int]
    pieces: tuple[Piece, ...]


def listed_covers(piece: Piece) -> UInt32s:
    sets = np.arange(1 << len(piece.tuples), dtype=np.uint32)
    for node in piece.nodes:
        sets = sets[sets & np.uint32(sum(1 << place for place in node)) != 0]
    return sets


def covers_by_exclusion(piece: Piece, without: set[int]) -> Exact:
    """Inclusion and exclusion over the sets of view tuples that are left out."""
    n = len(piece.nodes)
    touches = np.zeros(len(piece.tuples), np.int64)
    for number, node in enumerate(piece.nodes):
        touches[list(node)] |= 1 << number
    present = np.array([place not in without for place in range(len(piece.tuples))])
    within = np.bincount(touches[present], minlength=1 << n)  # join tuples that touch just this set
    for bit in range(n):  # ... that touch no more than this set
        halves = within.reshape(-1, 2, 1 << bit)
        halves[:, 1] += halves[:, 0]
    sizes = np.array([set_.bit_count() for set_ in range(1 << n)])
    signed = np.bincount(within, weights=np.where((n - sizes) % 2, -1.0, 1.0))
    return sum(
        (int(times) * (gmpy2.mpz(1) << power) for power, times in enumerate(signed.tolist()) if times),
        gmpy2.mpz(0),
    )


def rarest_view(piece: Piece) -> int:
    """The view of which a tuple is most often left out."""
    missing: dict[int, float] = defaultdict(float)
    for view, node in zip(piece.views, piece.nodes, strict=True):
        missing[view] += 2.0 ** -len(node)
    return max(missing, key=lambda view: missing[view])
