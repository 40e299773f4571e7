"""Views of any shape: worlds are the sets of join tuples that leave no tuple of a view out.

Join tuples that alone cover something are in every world, those that cover nothing else are in half of them,
and what is left falls into pieces that are independent of each other. A piece of few join tuples is
enumerated, one that covers few view tuples is summed by inclusion and exclusion, any other is sampled.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Bools, Bytes, UInt32s
from nbcfast._core.untyped import Exact
from nbcfast.associations.explicit import NEVER, NOWHERE, Outcome
from nbcfast.associations.pieces import POOL, Piece, Pieces, covers_by_exclusion, listed_covers
from nbcfast.associations.sampling import (
    Sampling,
    SharedDraws,
    covering,
    flipped,
    is_rare,
    most_draws,
    n_set,
)
from nbcfast.associations.sizes import Bounds, TooLargeError, WorldModel

if TYPE_CHECKING:
    from nbcfast.associations.projections import Columns

MOST_TUPLES = 1 << 17  # of a join that is worked with
MOST_RARE = 1 << 14  # ... of a piece whose covers are rare among all sets


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
        self.piece_of = {number: piece for piece in whole.pieces for number in piece.tuples}
        self.position_of = {
            number: position for piece in whole.pieces for position, number in enumerate(piece.tuples)
        }
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
        apart = {}  # the join without the identity's other values
        for value in sorted(cells):
            apart[value] = self.taken_apart(
                number for other in cells if other != value for number in cells[other]
            )
        possible = {value: taken for value, taken in apart.items() if taken is not None}
        if not possible:
            return dict.fromkeys(apart, NOWHERE)
        # Pieces that are the same whatever the value are factors of all weights, and need not be counted.
        common = frozenset.intersection(*(frozenset(taken.pieces) for taken in possible.values()))
        differing = {
            value: [piece for piece in taken.pieces if piece not in common]
            for value, taken in possible.items()
        }
        n_drawn = len({piece for pieces in differing.values() for piece in pieces if not piece.is_exact})
        weights = {}
        for value, taken in possible.items():
            low = high = gmpy2.mpz(1) << len(taken.free)
            for piece in differing[value]:
                least, most = self._number(piece, n_drawn)
                low, high = low * least, high * most
            weights[value] = low, high
        return self._shares(apart, weights)

    def _shares(self, values: Iterable[int], weights: dict[int, Bounds]) -> dict[int, Outcome]:
        """Each weight over the sum of all: least where its own is least and the others' are most."""
        outcomes = {}
        for value in values:
            if value not in weights:
                outcomes[value] = NEVER
                continue
            low, high = weights[value]
            others_low = sum(weights[other][0] for other in weights if other != value)
            others_high = sum(weights[other][1] for other in weights if other != value)
            least = gmpy2.mpq(low, 1) / (low + others_high) if low else gmpy2.mpq(0)
            most = gmpy2.mpq(high, 1) / (high + others_low)
            outcomes[value] = self._outcome(least, most, (least + most) / 2)
        return outcomes

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
        for piece in dict.fromkeys(self.piece_of[number] for number in sorted(mine - self.whole.free)):
            least, most, share = self._none_of(piece, mine)
            low, high, likely = low * least, high * most, likely * share
        return self._outcome(1 - high, 1 - low, 1 - likely)

    def _none_of(self, piece: Piece, mine: frozenset[int]) -> tuple[Exact, Exact, Exact]:
        """The probability that none of some join tuples is in: bounds, and what is likeliest."""
        places = sorted(self.position_of[number] for number in mine if self.piece_of.get(number) is piece)
        if piece.is_exact:
            share = gmpy2.mpq(self._covers(piece, places), self._covers(piece, []))
            return share, share, share
        often = self._often_drawn(piece)
        if often is not None:
            draws, accepted, n_kept = often
            with_any = draws.covered(piece, [piece.tuples[place] for place in places])
            none = n_set(accepted & ~with_any)
        else:
            kept = self._drawn(piece)
            none, n_kept = int(np.count_nonzero(~kept[:, places].any(axis=1))), len(kept)
        share = gmpy2.mpq(none, n_kept)
        error = self._error(n_kept, self.sampled)
        return max(share - error, gmpy2.mpq(0)), min(share + error, gmpy2.mpq(1)), share

    def _error(self, n_kept: int, n_pieces: int) -> Exact:
        """Hoeffding: how far the share of so many draws may be off, for all of so many pieces together."""
        missed = float(1 - self.sampling.confidence) / max(n_pieces, 1)
        return gmpy2.mpq(math.sqrt(math.log(2 / missed) / (2 * n_kept)))

    def _number(self, piece: Piece, n_pieces: int) -> Bounds:
        """Bounds of the number of covers; of so many pieces all hold with the confidence."""
        name = piece.digest, n_pieces
        if name not in self._numbers:
            self._numbers[name] = self._counted(piece, n_pieces)
        return self._numbers[name]

    def _counted(self, piece: Piece, n_pieces: int) -> Bounds:
        """The number of covers where it is exact, else of all sets times the share that cover."""
        if piece.is_exact:
            exact = self._covers(piece, [])
            return exact, exact
        # Identities share draws, as their worlds differ by few join tuples; each bound holds all the same.
        draws = self._pool(self.sampling.shared_draws(n_pieces))
        base, accepted = draws.accepted(piece)
        n_kept = n_set(accepted)
        if is_rare(n_kept, draws.n):
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
                n_kept = n_set(accepted)
                if n_kept >= wanted and not is_rare(n_kept, draws.n):
                    self._often[piece] = draws, accepted, n_kept
        return self._often[piece]

    def _covers(self, piece: Piece, without: Sequence[int]) -> Exact:
        """Exactly how many sets of the piece's join tuples cover it, without some of them."""
        if piece.is_enumerated:
            if piece not in self._enumerated:
                if self._listed_bytes > POOL:
                    self._enumerated, self._listed_bytes = {}, 0
                self._enumerated[piece] = listed_covers(piece)
                self._listed_bytes += self._enumerated[piece].nbytes
            mask = sum(1 << place for place in without)
            return gmpy2.mpz(int(np.count_nonzero(self._enumerated[piece] & np.uint32(mask) == 0)))
        return covers_by_exclusion(piece, set(without))

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
            kept = covering(piece, wanted, self.sampling.rng, most_draws(wanted))
            if len(kept) < wanted:
                kept, self.flipped = flipped(piece, wanted, self.sampling.rng), True
            self._kept[piece] = kept
        return self._kept[piece]

    def taken_apart(self, removed: Iterable[int]) -> Pieces | None:
        """Without some join tuples: what is in every world, in half of them, and the pieces of all others.

        None where some view tuple has no join tuple left: no world covers it.
        """
        absent = set(removed)
        of_node: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, made_of in enumerate(self.nodes):
            for view, node in enumerate(made_of):
                of_node[view, node] += [] if number in absent else [number]
        if not all(of_node.values()):
            return None
        forced = {numbers[0] for numbers in of_node.values() if len(numbers) == 1}
        covered = {(view, node) for number in forced for view, node in enumerate(self.nodes[number])}
        parent = {number: number for number in range(len(self.nodes)) if number not in absent | forced}

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
            position = {number: place for place, number in enumerate(numbers)}
            nodes = [tuple(position[number] for number in open_nodes[node]) for node in must[head]]
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
    nodes: list[tuple[int, ...]] = [()]  # of each join tuple, the tuple of each view
    rows: list[tuple[int, ...]] = [()]  # and its codes
    columns: list[str] = []
    waiting = list(range(len(parts)))
    while waiting:  # next a view that shares most, so that the join stays small
        view = max(waiting, key=lambda view: sum(name in columns for name in names[view]))
        waiting.remove(view)
        shared = [name for name in names[view] if name in columns]
        new = [name for name in names[view] if name not in columns]
        matching = defaultdict(list)
        for number, (key, codes) in enumerate(
            zip(parts[view].rows(shared), parts[view].rows(new), strict=True)
        ):
            matching[key].append((number, codes))
        key_places = [columns.index(name) for name in shared]
        longer_nodes, longer_rows = [], []
        for made_of, row in zip(nodes, rows, strict=True):
            for number, codes in matching.get(tuple(row[place] for place in key_places), ()):
                longer_nodes.append((*made_of, number))
                longer_rows.append((*row, *codes))
            if len(longer_nodes) > MOST_TUPLES:
                raise TooLargeError(
                    f"views: their join has more than {MOST_TUPLES:,} tuples; for tables of this size the "
                    "views must share one join key, or be a chain"
                )
        nodes, rows = longer_nodes, longer_rows
        columns += new
    identity_place, value_place = columns.index(identity), columns.index(attribute)
    return Join(nodes, [row[identity_place] for row in rows], [row[value_place] for row in rows], sampling)
