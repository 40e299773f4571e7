"""Views of any shape: worlds are the sets of join tuples that leave no tuple of a view out.

Join tuples that alone cover something are in every world, those that cover nothing else are in half of them,
and what is left falls into pieces that are independent of each other. A piece of few join tuples is
enumerated, one that covers few view tuples is summed by inclusion and exclusion, any other is sampled.
"""

from __future__ import annotations

import marshal
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Bytes, UInt32s
from nbcfast._core.untyped import Exact
from nbcfast.associations.chains import rows
from nbcfast.associations.explicit import NEVER, NOWHERE, Outcome
from nbcfast.associations.sizes import Bounds, TooLargeError, WorldModel

if TYPE_CHECKING:
    from nbcfast.associations.projections import Columns

MOST_TUPLES = 1 << 17  # of a join that is worked with
MOST_RARE = 1 << 14  # ... of a piece whose covers are rare among all sets
ENUMERATED = 20  # join tuples of a piece
EXCLUDED = 14  # view tuples of a piece, over whose sets inclusion and exclusion runs
FEWEST_KEPT = 1 / 64  # of the draws, below which flips take over
CHAINS = 4096  # of flips, side by side
SWEEPS = 64
DRAWS_AT_ONCE = 1 << 24  # bits
POOL = 1 << 28  # bytes of draws, and of enumerated sets, that are remembered

DrawnTogether = tuple[int, ...]  # join tuples that are drawn together, so that one at least is in


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
        found = np.full(self.n_bytes, 255, np.uint8)
        base = _rarest_view(piece)
        for view, node in zip(piece.views, piece.nodes, strict=True):
            if view != base:
                name = frozenset((groups[piece.tuples[place]], piece.tuples[place]) for place in node)
                if name not in self._covered:
                    self._covered[name] = self._any(name)
                    self._held += self.n_bytes
                found &= self._covered[name]
        return number, found

    def covered(self, piece: Piece, numbers: Iterable[int]) -> Bytes:
        """Which draws of the piece that was accepted last have any of some join tuples."""
        groups = self._groups(piece)
        return self._any((groups[number], number) for number in numbers)

    def _groups(self, piece: Piece) -> dict[int, DrawnTogether]:
        """With which others each join tuple is drawn; with none that one must be in: ()."""
        if self._last is not None and self._last[0] is piece:
            return self._last[1]
        base = _rarest_view(piece)
        groups: dict[int, DrawnTogether] = dict.fromkeys(piece.tuples, ())
        for view, node in zip(piece.views, piece.nodes, strict=True):
            if view == base:
                group = tuple(piece.tuples[place] for place in node)
                groups.update(dict.fromkeys(group, group))
        self._last = piece, groups
        return groups

    def _any(self, members: Iterable[tuple[DrawnTogether, int]]) -> Bytes:
        found = np.zeros(self.n_bytes, np.uint8)
        for group, number in members:
            found |= self._column(group, number)
        return found

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


def _count(bits: Bytes) -> int:
    return int(np.count_nonzero(np.unpackbits(bits)))


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
    def is_exact(self) -> bool:
        return len(self.tuples) <= ENUMERATED or len(self.nodes) <= EXCLUDED


@dataclass(frozen=True)
class Pieces:
    """A join taken apart; None where something cannot be covered."""

    forced: frozenset[int]
    free: frozenset[int]
    pieces: tuple[Piece, ...]


class Join:
    """The join of some views.

    Parameters
    ----------
    nodes : list of tuple
        For each join tuple, the tuple of each view that it is made of.
    identities, values : list of int
        What each join tuple says.
    """

    def __init__(
        self, nodes: list[tuple[int, ...]], identities: list[int], values: list[int], sampling: Sampling
    ):
        self.nodes, self.sampling = nodes, sampling
        self.cells: dict[int, dict[int, list[int]]] = {}
        for number, (identity, value) in enumerate(zip(identities, values, strict=True)):
            self.cells.setdefault(identity, {}).setdefault(value, []).append(number)
        whole = self.taken_apart(())
        assert whole is not None  # every view tuple is in the join: all are of one table
        self.whole = whole
        self.place_of = {number: piece for piece in whole.pieces for number in piece.tuples}
        self.at = {number: at for piece in whole.pieces for at, number in enumerate(piece.tuples)}
        self.sampled = sum(not piece.is_exact for piece in whole.pieces)
        self.flipped = False
        self._enumerated: dict[Piece, UInt32s] = {}
        self._kept: dict[Piece, Bools] = {}
        self._often: dict[Piece, tuple[SharedDraws, Bytes, int] | None] = {}
        self._pools: dict[int, SharedDraws] = {}
        self._listed_bytes = 0
        # By digests, as there is a piece for each value of each identity.
        self._numbers: dict[tuple[bytes, int], Bounds] = {}
        self._outcomes: dict[tuple[Exact, Exact, Exact], Outcome] = {}

    def outcomes(self, model: WorldModel, code: int) -> dict[int, Outcome]:
        """Value -> outcome, of the values that an identity may have."""
        cells = self.cells.get(code, {})
        if model == "unrestricted":
            return {value: self._shared(frozenset(cells[value])) for value in sorted(cells)}
        apart = {}
        for value in sorted(cells):
            apart[value] = self.taken_apart(
                number for other in cells if other != value for number in cells[other]
            )
        possible = {value: one for value, one in apart.items() if one is not None}
        if not possible:
            return dict.fromkeys(apart, NOWHERE)
        same = frozenset.intersection(*(frozenset(one.pieces) for one in possible.values()))
        own = {value: [piece for piece in one.pieces if piece not in same] for value, one in possible.items()}
        drawn = len({piece for pieces in own.values() for piece in pieces if not piece.is_exact})
        weights = {}
        for value, one in possible.items():
            low = high = gmpy2.mpz(1) << len(one.free)
            for piece in own[value]:
                number = self._number(piece, drawn)
                low, high = low * number[0], high * number[1]
            weights[value] = low, high
        return self._shares(apart, weights)

    def _shares(self, values: Iterable[int], weights: dict[int, Bounds]) -> dict[int, Outcome]:
        found = {}
        for value in values:
            if value not in weights:
                found[value] = NEVER
                continue
            low, high = weights[value]
            others_low = sum(weights[other][0] for other in weights if other != value)
            others_high = sum(weights[other][1] for other in weights if other != value)
            least = gmpy2.mpq(low, 1) / (low + others_high) if low else gmpy2.mpq(0)
            most = gmpy2.mpq(high, 1) / (high + others_low)
            found[value] = self._outcome(least, most, (least + most) / 2)
        return found

    def _outcome(self, low: Exact, high: Exact, likely: Exact) -> Outcome:
        name = low, high, likely
        if name not in self._outcomes:
            self._outcomes[name] = Outcome(low, high, None if low == high else float(likely))
        return self._outcomes[name]

    def _shared(self, mine: frozenset[int]) -> Outcome:
        """1 - the product of the probabilities that none of the join tuples is in."""
        if mine & self.whole.forced:
            return self._outcome(*[gmpy2.mpq(1)] * 3)
        low = high = likely = gmpy2.mpq(1, gmpy2.mpz(1) << len(mine & self.whole.free))
        for piece in dict.fromkeys(self.place_of[number] for number in sorted(mine - self.whole.free)):
            least, most, share = self._none_of(piece, mine)
            low, high, likely = low * least, high * most, likely * share
        return self._outcome(1 - high, 1 - low, 1 - likely)

    def _none_of(self, piece: Piece, mine: frozenset[int]) -> tuple[Exact, Exact, Exact]:
        """The probability that none of some join tuples is in: bounds, and what is likeliest."""
        places = sorted(self.at[number] for number in mine if self.place_of.get(number) is piece)
        if piece.is_exact:
            share = gmpy2.mpq(self._covers(piece, places), self._covers(piece, []))
            return share, share, share
        often = self._often_drawn(piece)
        if often is not None:
            draws, accepted, n_kept = often
            with_any = draws.covered(piece, [piece.tuples[place] for place in places])
            none = _count(accepted & ~with_any)
        else:
            kept = self._drawn(piece)
            none, n_kept = int(np.count_nonzero(~kept[:, places].any(axis=1))), len(kept)
        share = gmpy2.mpq(none, n_kept)
        error = self._error(n_kept, self.sampled)
        return max(share - error, gmpy2.mpq(0)), min(share + error, gmpy2.mpq(1)), share

    def _error(self, n_kept: int, n_pieces: int) -> Exact:
        missed = float(1 - self.sampling.confidence) / max(n_pieces, 1)
        return gmpy2.mpq(math.sqrt(math.log(2 / missed) / (2 * n_kept)))

    def _number(self, piece: Piece, n_pieces: int) -> Bounds:
        """Bounds of the number of covers; of so many pieces all hold with the confidence."""
        name = piece.digest, n_pieces
        if name not in self._numbers:
            self._numbers[name] = self._counted(piece, n_pieces)
        return self._numbers[name]

    def _counted(self, piece: Piece, n_pieces: int) -> Bounds:
        if piece.is_exact:
            exact = self._covers(piece, [])
            return exact, exact
        # Identities share draws: their worlds differ by few join tuples.
        draws = self._pool(self.sampling.shared_draws(n_pieces))
        base, accepted = draws.accepted(piece)
        n_kept = _count(accepted)
        if n_kept < FEWEST_KEPT * draws.n:
            raise TooLargeError(
                "views: the restricted worlds of this join are too many to list and too rare to draw; "
                "publish fewer views, or ask for the unrestricted model"
            )
        share, error = gmpy2.mpq(n_kept, draws.n), self._error(draws.n, n_pieces)
        return base * max(share - error, gmpy2.mpq(0)), base * min(share + error, gmpy2.mpq(1))

    def _pool(self, least: int) -> SharedDraws:
        if least not in self._pools:
            self._pools[least] = SharedDraws(least, self.sampling.rng)
        return self._pools[least]

    def _often_drawn(self, piece: Piece) -> tuple[SharedDraws, Bytes, int] | None:
        """Draws of which so many cover a piece that none need be picked out, with which do and how many."""
        if piece not in self._often:
            wanted = self.sampling.draws(self.sampled)
            rare = sum(2.0 ** -len(node) for node in piece.nodes)
            self._often[piece] = None
            if rare < 0.5:
                draws = SharedDraws(math.ceil(wanted / (1 - rare)), self.sampling.rng)
                _, accepted = draws.accepted(piece)
                if (n_kept := _count(accepted)) >= max(wanted, FEWEST_KEPT * draws.n):
                    self._often[piece] = draws, accepted, n_kept
        return self._often[piece]

    def _covers(self, piece: Piece, without: Sequence[int]) -> Exact:
        """Exactly how many sets of the piece's join tuples cover it, without some of them."""
        if len(piece.tuples) <= ENUMERATED:
            if piece not in self._enumerated:
                if self._listed_bytes > POOL:
                    self._enumerated, self._listed_bytes = {}, 0
                self._enumerated[piece] = _listed_covers(piece)
                self._listed_bytes += self._enumerated[piece].nbytes
            mask = sum(1 << place for place in without)
            return gmpy2.mpz(int(np.count_nonzero(self._enumerated[piece] & np.uint32(mask) == 0)))
        return _excluded(piece, set(without))

    def _drawn(self, piece: Piece) -> Bools:
        """Covers of a piece drawn at random, one a row."""
        if piece not in self._kept:
            if len(piece.tuples) > MOST_RARE:
                raise TooLargeError(
                    f"views: {len(piece.tuples):,} tuples of their join hang together, and too many tuples "
                    f"of a view have few of them; beyond {MOST_RARE:,} such worlds cannot be drawn, unless "
                    "all views share one join key or are a chain"
                )
            wanted = self.sampling.draws(self.sampled)
            kept = covering(piece, wanted, self.sampling.rng, math.ceil(wanted / FEWEST_KEPT))
            if len(kept) < wanted:
                kept, self.flipped = _flipped(piece, min(wanted, CHAINS), self.sampling.rng), True
            self._kept[piece] = kept
        return self._kept[piece]

    def taken_apart(self, removed: Iterable[int]) -> Pieces | None:
        """Without some join tuples: what is in every world, in half of them, and the pieces of the rest."""
        out = set(removed)
        of_node: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, made_of in enumerate(self.nodes):
            for view, node in enumerate(made_of):
                of_node[view, node] += [] if number in out else [number]
        if not all(of_node.values()):
            return None
        forced = {numbers[0] for numbers in of_node.values() if len(numbers) == 1}
        covered = {(view, node) for number in forced for view, node in enumerate(self.nodes[number])}
        parent = {number: number for number in range(len(self.nodes)) if number not in out | forced}

        def root(number: int) -> int:
            while parent[number] != number:
                parent[number] = number = parent[parent[number]]
            return number

        open_nodes = {node: numbers for node, numbers in of_node.items() if node not in covered}
        touched = {number for numbers in open_nodes.values() for number in numbers}
        for numbers in open_nodes.values():
            for number in numbers[1:]:
                parent[root(number)] = root(numbers[0])
        members: dict[int, list[int]] = defaultdict(list)
        for number in sorted(touched):
            members[root(number)].append(number)
        must: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for view_node, numbers in open_nodes.items():
            must[root(numbers[0])].append(view_node)
        pieces = []
        for head, numbers in members.items():
            place = {number: at for at, number in enumerate(numbers)}
            nodes = [tuple(place[number] for number in open_nodes[one]) for one in must[head]]
            pieces.append(Piece(tuple(numbers), tuple(nodes), tuple(view for view, _ in must[head])))
        return Pieces(frozenset(forced), frozenset(set(parent) - touched), tuple(pieces))


def joined(
    parts: Sequence[Columns],
    names: Sequence[tuple[str, ...]],
    identity: str,
    attribute: str,
    sampling: Sampling,
) -> Join:
    """The natural join of the distinct tuples of some views."""
    nodes: list[tuple[int, ...]] = [()]
    known: list[tuple[int, ...]] = [()]
    have: list[str] = []
    waiting = list(range(len(parts)))
    order = []
    while waiting:  # next a view that shares most, so that the join stays small
        place = max(waiting, key=lambda place: sum(name in have for name in names[place]))
        waiting.remove(place)
        order.append(place)
        shared = [name for name in names[place] if name in have]
        new = [name for name in names[place] if name not in have]
        matching = defaultdict(list)
        for number, (key, rest) in enumerate(
            zip(rows(parts[place], shared), rows(parts[place], new), strict=True)
        ):
            matching[key].append((number, rest))
        at = [have.index(name) for name in shared]
        longer, values = [], []
        for one, row in zip(nodes, known, strict=True):
            for number, rest in matching.get(tuple(row[position] for position in at), ()):
                longer.append((*one, number))
                values.append((*row, *rest))
            if len(longer) > MOST_TUPLES:
                raise TooLargeError(
                    f"views: their join has more than {MOST_TUPLES:,} tuples; for tables of this size the "
                    "views must share one join key, or be a chain"
                )
        nodes, known = longer, values
        have += new
    people, has = have.index(identity), have.index(attribute)
    return Join(nodes, [row[people] for row in known], [row[has] for row in known], sampling)


def _listed_covers(piece: Piece) -> UInt32s:
    sets = np.arange(1 << len(piece.tuples), dtype=np.uint32)
    for node in piece.nodes:
        sets = sets[sets & np.uint32(sum(1 << place for place in node)) != 0]
    return sets


def _excluded(piece: Piece, without: set[int]) -> Exact:
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


def covering(piece: Piece, wanted: int, rng: np.random.Generator, most: int) -> Bools:
    """Random sets of the join tuples that cover all view tuples: `wanted` of them, from `most` draws.

    Drawn so that all of one view's tuples are covered (each tuple of a view has join tuples of its own), and
    kept if the other views' are.
    """
    t = len(piece.tuples)
    base = _rarest_view(piece)
    arrays = [(view, np.array(node)) for view, node in zip(piece.views, piece.nodes, strict=True)]
    own = [places for view, places in arrays if view == base]
    others = [places for view, places in arrays if view != base]
    kept, n_kept, drawn = [], 0, 0
    step = max(1, min(DRAWS_AT_ONCE // t, most))
    while n_kept < wanted and drawn < most:
        n = min(step, most - drawn)
        bits = rng.integers(0, 2, (n, t), dtype=np.uint8).view(np.bool_)
        for places in own:
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
        if drawn >= min(most, 4096) and n_kept < FEWEST_KEPT * drawn:
            break
    return np.concatenate(kept) if kept else np.zeros((0, t), np.bool_)


def _rarest_view(piece: Piece) -> int:
    """The view of which a tuple is most often left out."""
    missing: dict[int, float] = defaultdict(float)
    for view, node in zip(piece.views, piece.nodes, strict=True):
        missing[view] += 2.0 ** -len(node)
    return max(missing, key=lambda view: missing[view])


def _flipped(piece: Piece, n: int, rng: np.random.Generator) -> Bools:
    """Sets by flips of one join tuple at a time, in n chains side by side, from the set of all.

    Every cover can be reached through that one; how soon is not proven.
    """
    t = len(piece.tuples)
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
