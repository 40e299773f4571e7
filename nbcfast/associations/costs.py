"""What a join of views will take, estimated from its own numbers before it is worked out.

Counted are the steps of the interpreter, the numbers that NumPy passes over and the bytes that are kept;
nothing is timed, so that the same views are always accepted, or refused, alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nbcfast.associations.sampling import CHAINS, DRAWS_AT_ONCE, SWEEPS, covering, is_rare

if TYPE_CHECKING:
    from nbcfast.associations.joins import Join
    from nbcfast.associations.pieces import Piece
    from nbcfast.associations.sampling import Sampling
    from nbcfast.associations.sizes import WorldModel

MOST_SECONDS = 10.0  # that nobody has asked for
MOST_BYTES = 10**9

# Seconds of CPU time of one thread, fitted on an AMD EPYC with Python 3.11 to 30 joins of 40 to 500 people in
# three views, chains and cycles, both models, errors of 0.1 and 0.01: what was estimated at 1 to 60 s took
# 0.6 to 1.6 times that. They only decide what is refused; nothing is timed.
STEP = 0.7e-6  # a join tuple of a view, taken apart
NAME = 0.4e-6  # a join tuple of a view tuple that is looked up in shared draws
CALL = 3e-6  # of NumPy
BYTE = 0.15e-9  # of packed draws, combined
DRAW = 8e-9  # a join tuple in a draw that is not packed
SET = 4e-9  # a set of a piece's join tuples that is enumerated, for each of its view tuples
WITHIN = 0.25e-6  # a set of a piece's view tuples, for inclusion and exclusion
FLIP = 2e-9  # a join tuple of a chain, for each view
ENTRY = 0.5e-6  # of a table of a chain, multiplied
PILOT = 256  # draws that say how many cover a piece


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes, about."""

    seconds: float
    bytes: int

    @property
    def fits(self) -> bool:
        return self.seconds <= MOST_SECONDS and self.bytes <= MOST_BYTES

    def __str__(self) -> str:
        gigabytes = self.bytes / 1e9
        memory = f"{gigabytes:.1f} GB" if gigabytes >= 0.1 else "less than 0.1 GB"
        return f"{readable(self.seconds)} and {memory}"


def readable(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"


class TooCostlyError(ValueError):
    """More work than nobody has asked for.

    Attributes
    ----------
    cost : Cost
        What it is estimated to take, in `seconds` and `bytes`.
    wider : (error, Cost) or None
        An error with which it takes less than that.
    """

    def __init__(self, cost: Cost, wider: tuple[str, Cost] | None = None) -> None:
        super().__init__(cost, wider)
        self.cost, self.wider = cost, wider

    def __str__(self) -> str:
        return self.text("error=", "where=")

    def text(self, error: str, where: str) -> str:
        """What is the matter, where the two options have these names."""
        wider = f" ({error}{self.wider[0]}: {self.wider[1]})" if self.wider is not None else ""
        return (
            f"views: this is estimated to take {self.cost}, and without {error.strip(' =')} it ends at "
            f"{MOST_SECONDS:.0f} s and {MOST_BYTES / 1e9:.1f} GB: {error}0.01 goes on{wider}, "
            f"{where.strip(' =')} asks for fewer people"
        )


def cost_of(join: Join, model: WorldModel, people: Iterable[int], sampling: Sampling) -> Cost:
    """What the outcomes of some people take, at the error that the sampling has."""
    return _single(join, people, sampling) if model == "restricted" else _any(join, people, sampling)


def _single(join: Join, people: Iterable[int], sampling: Sampling) -> Cost:
    """Somebody has a single value: for each of his values the join is taken apart without all others."""
    entries = sum(map(len, join.nodes))
    seconds, memory = 0.0, 0
    for code in people:
        cells = join.cells.get(code, {})
        seconds += len(cells) * entries * STEP
        if len(cells) < 2:  # the worlds of a single value are not compared with others
            continue
        numbers = [number for numbers in cells.values() for number in numbers]
        touched = {join.piece_of[number] for number in numbers if number in join.piece_of}
        drawn = [piece for piece in touched if not piece.is_exact]
        draws = sampling.shared_draws(len(cells) * len(drawn)) // 8 if drawn else 0
        for piece in touched:
            seconds += len(cells) * (_exactly(piece) if piece.is_exact else _looked_up(piece, draws))
        # The draws are remembered, up to a pool's size, and those of what is left out stand beside them.
        memory = max(memory, 2 * draws * sum(len(piece.tuples) + len(piece.nodes) for piece in drawn))
    return Cost(seconds, memory)


def _any(join: Join, people: Iterable[int], sampling: Sampling) -> Cost:
    """Somebody may have several values: every piece is worked out once, and then asked for each of them."""
    seconds, memory = 0.0, 0
    ways: dict[Piece, _DrawCost] = {}
    for code in people:
        for numbers in join.cells.get(code, {}).values():
            touched = Counter(join.piece_of[number] for number in numbers if number in join.piece_of)
            seconds += CALL
            for piece, places in touched.items():
                if piece.is_exact:
                    seconds += _exactly(piece)
                    continue
                if piece not in ways:
                    ways[piece] = _draws(piece, sampling.draws(join.sampled))
                    seconds += ways[piece].seconds
                    memory += ways[piece].memory
                seconds += places * (CALL + ways[piece].a_tuple)
    return Cost(seconds, memory)


def _exactly(piece: Piece) -> float:
    if piece.is_enumerated:
        return CALL * len(piece.nodes) + SET * 2.0 ** len(piece.tuples)
    return CALL * len(piece.nodes) + WITHIN * 2.0 ** len(piece.nodes)


def _looked_up(piece: Piece, draws: int) -> float:
    """Shared draws, so many bytes of each join tuple, of which are picked those that cover the piece."""
    return sum(map(len, piece.nodes)) * NAME + len(piece.nodes) * (CALL + draws * BYTE)


@dataclass(frozen=True)
class _DrawCost:
    """Draws of a piece: what they take once, and then for each join tuple that is asked for."""

    seconds: float
    memory: int
    a_tuple: float


def _draws(piece: Piece, wanted: int) -> _DrawCost:
    t, entries = len(piece.tuples), sum(map(len, piece.nodes))
    rare = sum(2.0 ** -len(node) for node in piece.nodes)
    if rare < 0.5:
        each = math.ceil(wanted / (1 - rare)) // 8
        seconds = t * (CALL + each * BYTE) + entries * (CALL + each * BYTE)
        return _DrawCost(seconds, each * (t + len(piece.nodes)), each * BYTE)
    # Coins of its own: the estimate must not depend on the sampling, nor the sampling on it.
    pilot = len(covering(piece, PILOT, np.random.default_rng(0), PILOT))
    if not is_rare(pilot, PILOT):
        drawn = wanted * PILOT / pilot
        return _DrawCost(drawn * t * DRAW, 2 * wanted * t + DRAWS_AT_ONCE, wanted * BYTE * 8)
    n = min(wanted, CHAINS)
    flips = SWEEPS * t * CALL + SWEEPS * n * (t + entries) * FLIP
    tried = max(DRAWS_AT_ONCE, 4096 * t) * DRAW
    return _DrawCost(tried + flips, n * (2 * t + 8 * len(piece.nodes)) + 2 * DRAWS_AT_ONCE, n * BYTE * 8)
