"""Random worlds: sets of join tuples that are drawn, and how many draws keep an error with a confidence.

The bounds, and what is not proven of flips: docs/mathematics/associations.md, section 6 (#associations-6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Bytes
from nbcfast._core.untyped import Exact
from nbcfast.associations.pieces import POOL, Piece, rarest_view

FEWEST_KEPT = 1 / 64  # of the draws, below which flips take over, or restricted worlds are refused
CHAINS = 4096  # of flips, side by side
SWEEPS = 64  # flips of every join tuple, from the set of all
DRAWS_AT_ONCE = 1 << 24  # bits

DrawnTogether = tuple[int, ...]  # join tuples of one view tuple, of which one at least is in


@dataclass(frozen=True)
class Sampling:
    """How far a sampled probability may be off, with which confidence, and by whose coins."""

    error: Fraction
    confidence: Fraction
    rng: np.random.Generator

    def draws(self, n_pieces: int) -> int:
        """Hoeffding: so many, for each of so many pieces, keep all of them within the error together."""
        missed = float(1 - self.confidence) / max(n_pieces, 1)
        return math.ceil(math.log(2 / missed) / (2 * float(self.error) ** 2))

    def shared_draws(self, n_pieces: int) -> int:
        """As many for numbers of pieces that are alike, so that these share them."""
        return self.draws(1 << (n_pieces - 1).bit_length())


def is_rare(n_kept: int, n_drawn: int) -> bool:
    """Whether so few draws are worlds that more of them are no way to find worlds."""
    return n_kept < FEWEST_KEPT * n_drawn


def most_draws(wanted: int) -> int:
    """How many draws are worth their while for so many worlds."""
    return math.ceil(wanted / FEWEST_KEPT)


class SharedDraws:
    """Random sets of join tuples, n of them, that several pieces may share.

    In each all tuples of one view of the piece are covered (each has join tuples of its own).
    """

    def __init__(self, least: int, rng: np.random.Generator) -> None:
        self.n_bytes = -(-least // 8)
        self.n = 8 * self.n_bytes
        self.rng = rng
        self._columns: dict[DrawnTogether, dict[int, Bytes]] = {}
        self._covered: dict[frozenset[tuple[DrawnTogether, int]], Bytes] = {}
        self._held = 0
        self._last: tuple[Piece, dict[int, DrawnTogether]] | None = None

    def accepted(self, piece: Piece) -> tuple[Exact, Bytes]:
        """The number of sets that are drawn from, and which draws cover the whole piece."""
        groups = self._groups(piece)
        number = gmpy2.mpz(1) << sum(not group for group in groups.values())
        for group in set(groups.values()) - {()}:
            number *= (gmpy2.mpz(1) << len(group)) - 1
        if self._held > POOL:
            self._columns, self._covered, self._held = {}, {}, 0
        accepted = np.full(self.n_bytes, 255, np.uint8)
        base = rarest_view(piece)
        for view, node in zip(piece.views, piece.nodes, strict=True):
            if view != base:
                name = frozenset((groups[piece.tuples[place]], piece.tuples[place]) for place in node)
                if name not in self._covered:
                    self._covered[name] = self._any(name)
                    self._held += self.n_bytes
                accepted &= self._covered[name]
        return number, accepted

    def covered(self, piece: Piece, numbers: Iterable[int]) -> Bytes:
        """Which draws of the piece that was accepted last have any of some join tuples."""
        groups = self._groups(piece)
        return self._any((groups[number], number) for number in numbers)

    def _groups(self, piece: Piece) -> dict[int, DrawnTogether]:
        """With which others each join tuple is drawn; with none that one must be in: ()."""
        if self._last is not None and self._last[0] is piece:
            return self._last[1]
        base = rarest_view(piece)
        groups: dict[int, DrawnTogether] = dict.fromkeys(piece.tuples, ())
        for view, node in zip(piece.views, piece.nodes, strict=True):
            if view == base:
                group = tuple(piece.tuples[place] for place in node)
                groups.update(dict.fromkeys(group, group))
        self._last = piece, groups
        return groups

    def _any(self, members: Iterable[tuple[DrawnTogether, int]]) -> Bytes:
        """The draws that have any of some join tuples."""
        covered = np.zeros(self.n_bytes, np.uint8)
        for group, number in members:
            covered |= self._column(group, number)
        return covered

    def _column(self, group: DrawnTogether, number: int) -> Bytes:
        """The draws that have a join tuple."""
        columns = self._columns.setdefault(group, {})
        if number not in columns:
            members = group or (number,)
            bits = self.rng.integers(0, 256, (len(members), self.n_bytes), dtype=np.uint8)
            if group:
                self._fill(bits)
            columns.update(zip(members, bits, strict=True))
            self._held += bits.nbytes
        return columns[number]

    def _fill(self, bits: Bytes) -> None:
        """Draw again where none is in."""
        empty = np.flatnonzero(np.unpackbits(np.bitwise_or.reduce(bits, axis=0)) == 0)
        while len(empty):
            again = self.rng.integers(0, 2, (len(bits), len(empty)), dtype=np.uint8)
            for row, drawn in zip(bits, again, strict=True):
                row_bits = np.unpackbits(row)
                row_bits[empty] = drawn
                row[:] = np.packbits(row_bits)
            empty = empty[~again.any(axis=0)]


def n_set(bits: Bytes) -> int:
    """How many draws are in a packed column."""
    return int(np.count_nonzero(np.unpackbits(bits)))


def covering(piece: Piece, wanted: int, rng: np.random.Generator, most: int) -> Bools:
    """Random sets of the join tuples that cover all view tuples: `wanted` of them, from `most` draws.

    Drawn so that all of one view's tuples are covered (each tuple of a view has join tuples of its own), and
    kept if the other views' are.
    """
    t = len(piece.tuples)
    base = rarest_view(piece)
    arrays = [(view, np.array(node)) for view, node in zip(piece.views, piece.nodes, strict=True)]
    of_base = [places for view, places in arrays if view == base]
    others = [places for view, places in arrays if view != base]
    kept, n_kept, drawn = [], 0, 0
    step = max(1, min(DRAWS_AT_ONCE // t, most))
    while n_kept < wanted and drawn < most:
        n = min(step, most - drawn)
        bits = rng.integers(0, 2, (n, t), dtype=np.uint8).view(np.bool_)
        for places in of_base:
            empty = np.flatnonzero(~bits[:, places].any(axis=1))
            while len(empty):
                drawn_again = rng.integers(0, 2, (len(empty), len(places)), dtype=np.uint8).view(np.bool_)
                bits[np.ix_(empty, places)] = drawn_again
                empty = empty[~drawn_again.any(axis=1)]
        drawn += n
        for places in others:
            bits = bits[bits[:, places].any(axis=1)]
        kept.append(bits)
        n_kept += len(bits)
        if drawn >= min(most, 4096) and is_rare(n_kept, drawn):
            break
    return np.concatenate(kept) if kept else np.zeros((0, t), np.bool_)


def flipped(piece: Piece, wanted: int, rng: np.random.Generator) -> Bools:
    """Covers by flips of one join tuple at a time, in as many chains side by side, from the set of all.

    Every cover can be reached through that one. How soon a chain has forgotten its start is not proven, which
    is why "flips" stands in `Risk.method`.
    """
    t, n = len(piece.tuples), min(wanted, CHAINS)
    of_tuple: list[list[int]] = [[] for _ in range(t)]
    for number, node in enumerate(piece.nodes):
        for place in node:
            of_tuple[place].append(number)
    bits = np.ones((t, n), np.bool_)
    counts = np.array([len(node) for node in piece.nodes], np.int32)[:, None].repeat(n, axis=1)
    for _ in range(SWEEPS):
        for place in range(t):
            drawn = rng.integers(0, 2, n, dtype=np.uint8).view(np.bool_)
            needed = (counts[of_tuple[place]] - bits[place] == 0).any(axis=0)
            after = drawn | needed
            counts[of_tuple[place]] += after.astype(np.int32) - bits[place]
            bits[place] = after
    return np.ascontiguousarray(bits.T)
