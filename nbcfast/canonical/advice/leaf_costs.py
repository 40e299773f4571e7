"""What combinations cost, the lower the better: all of them, or those that a beam reaches."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nbcfast._advise import Choices
from nbcfast._core.dtypes import Array, Int32s, Longs
from nbcfast._core.threads import Progress, over_spans
from nbcfast.canonical.advice.option_terms import OptionTerms

MOST_LEAVES = 100_000_000  # of an exhaustive search
BEAM_WIDTH = 1000  # choices that go on to the next attributes
BEAM_LEAVES = 256  # combinations of attributes that are chosen together
ROWS_A_PIECE, LOSSES_A_PIECE = 1 << 28, 1 << 23  # of one call of the kernel: some ten milliseconds
MOST_TUPLES = 1 << 62

# Nanoseconds, about: of a row in one combination, and of collapsing; and how much of the work that may be.
NS_A_ROW, NS_A_LOSS, NS_COLLAPSED, NS_COLLAPSED_ROW = 0.1, 1.2, 300_000, 150
WORTH_COLLAPSING = 0.1


class Loss(NamedTuple):
    """Log-loss of all rows together, by weight.

    Attributes
    ----------
    infinite : int
        Rows of infinite loss: those of a class that the classifier holds for impossible.
    finite : float
        The sum of the others, in nats.
    """

    infinite: int
    finite: float


class CostForm(NamedTuple):
    """How the cost of a combination is kept.

    By correct rows it is how many are wrong; by log-loss the rows of infinite loss stand in the high bits of
    an int64, and the loss of the others in those below.

    Attributes
    ----------
    by : {"correct", "log-loss"}
    rows : int
        The total weight.
    bits, dropped_bits : int
        Losses are multiples of 2^-bits, without their lowest `dropped_bits` bits.
    """

    by: str
    rows: int
    bits: int
    dropped_bits: int

    @property
    def finite_bits(self) -> int:
        return 63 - self.rows.bit_length()

    def utility(self, cost: int) -> int | Loss:
        if self.by == "correct":
            return self.rows - cost
        finite = (cost & ((1 << self.finite_bits) - 1)) << self.dropped_bits
        return Loss(cost >> self.finite_bits, math.ldexp(finite, -self.bits))


class Judge:
    """Calls of the kernel."""

    def __init__(self, terms: OptionTerms, sizes: tuple[int, ...], by: str) -> None:
        self.terms, self.sizes, self.by = terms, sizes, by
        self.form = CostForm(by, terms.rows, terms.bits, terms.dropped_bits)
        self.dtype = np.dtype(np.int64 if by == "log-loss" or terms.rows >= 2**32 else np.uint32)
        self.work = LOSSES_A_PIECE if by == "log-loss" else ROWS_A_PIECE

    def costs(self, choices: Choices, chosen: Int32s, inner: Int32s, room: Longs) -> Longs:
        """Of the combinations of the inner attributes; `room` has two lines for at least as many numbers."""
        n = math.prod(self.sizes[a] for a in inner.tolist())
        first, second = room[0, :n], room[1, :n]
        if self.by == "correct":
            choices.correct(chosen, inner, first)
            np.subtract(self.terms.rows, first, out=first)
        else:
            choices.losses(chosen, inner, self.terms.bits, first, second)
            np.right_shift(first, self.terms.dropped_bits, out=first)
            np.left_shift(second, self.form.finite_bits, out=second)
            np.add(first, second, out=first)
        return first

    def exhaustive(self, threads: int, progress: Progress | None) -> Array:
        """The costs of all combinations, the option of the last attribute fastest.

        Where options of the outer attributes are fixed, rows that are alike then are collapsed once for all
        combinations of the others.
        """
        n_leaves = math.prod(self.sizes)
        costs: Array = np.empty(n_leaves, self.dtype)
        outer = self._outer()
        rest = [a for a in range(len(self.sizes)) if a not in outer]
        most = self.work // (self.terms.n_distinct * (self.terms.n_classes - 1))
        if threads > 1:
            most = min(most, n_leaves // (8 * threads))
        split = len(rest) - 1
        while split > 0 and math.prod(self.sizes[a] for a in rest[split - 1 :]) <= most:
            split -= 1
        steps, inner = [*outer, *rest[:split]], rest[split:]
        n_inner = math.prod(self.sizes[a] for a in inner)
        # Attributes of one option have no dimension, of which NumPy has few; of others there are 26 at most.
        several = [a for a in range(len(self.sizes)) if self.sizes[a] > 1]
        order = [several.index(a) for a in (*steps, *inner) if a in several]
        places = costs.reshape([self.sizes[a] for a in several]).transpose(order)
        shape = [self.sizes[a] for a in inner if a in several]
        narrowed = _Latest(
            lambda options: self.terms.narrowed(dict(zip(outer, options, strict=True))), threads
        )

        def piece(room: Longs, start: int, stop: int) -> None:
            chosen: Int32s = np.full(len(self.sizes), -1, np.int32)
            place = start
            for a in reversed(steps):
                place, chosen[a] = divmod(place, self.sizes[a])
            choices = narrowed.of(tuple(chosen[outer].tolist())) if outer else self.terms.choices
            found = self.costs(choices, chosen, np.array(inner, np.int32), room)
            places[tuple(int(chosen[a]) for a in steps if a in several)] = found.reshape(shape)

        self._in_pieces(n_leaves // n_inner, n_inner, piece, threads, progress)
        return costs

    def _outer(self) -> list[int]:
        """Attributes whose options are fixed first: those of most values, while collapsing costs little."""
        n_rows = self.terms.n_distinct
        of_a_row = (NS_A_LOSS if self.by == "log-loss" else NS_A_ROW) * (self.terms.n_classes - 1)
        all_leaves = math.prod(self.sizes) * n_rows * of_a_row
        most = all_leaves * WORTH_COLLAPSING / (NS_COLLAPSED + NS_COLLAPSED_ROW * n_rows)
        outer: list[int] = []
        n_prefixes = 1
        for a in sorted(range(len(self.sizes)), key=lambda a: (-self.terms.sizes[a], a)):
            if self.sizes[a] > 1 and n_prefixes * self.sizes[a] <= most and len(outer) < len(self.sizes) - 1:
                outer.append(a)
                n_prefixes *= self.sizes[a]
        return outer

    def grown(
        self, kept: Int32s, group: Int32s, threads: int, progress: Progress | None
    ) -> tuple[Int32s, Longs]:
        """Every one of some choices with every combination of the attributes of a group, and their costs."""
        n_inner = math.prod(self.sizes[a] for a in group.tolist())
        costs: Longs = np.empty(len(kept) * n_inner, np.int64)

        def piece(room: Longs, start: int, stop: int) -> None:
            costs[start * n_inner : stop * n_inner] = self.costs(self.terms.choices, kept[start], group, room)

        self._in_pieces(len(kept), n_inner, piece, threads, progress)
        choices = np.repeat(kept, n_inner, axis=0)
        places = np.tile(np.arange(n_inner), len(kept))
        for a in group.tolist()[::-1]:
            places, choices[:, a] = np.divmod(places, self.sizes[a])
        return choices, costs

    def _in_pieces(
        self,
        n_pieces: int,
        n_inner: int,
        piece: Callable[[Longs, int, int], None],
        threads: int,
        progress: Progress | None,
    ) -> None:
        n_done = 0

        def done(start: int, stop: int) -> None:
            nonlocal n_done
            n_done += (stop - start) * n_inner
            if progress is not None:
                progress(n_done, n_pieces * n_inner)

        rooms = [np.empty((2, n_inner), np.int64) for _ in range(max(1, min(threads, n_pieces)))]
        over_spans(((i, i + 1) for i in range(n_pieces)), rooms, piece, done)


class _Latest:
    """What was made last for some keys: threads that come to one together wait for one of them to make it."""

    def __init__(self, make: Callable[[tuple[int, ...]], Choices], n_kept: int) -> None:
        self._make, self._n_kept = make, n_kept + 1
        self._made: dict[tuple[int, ...], Choices] = {}
        self._guard = threading.Lock()

    def of(self, key: tuple[int, ...]) -> Choices:
        with self._guard:
            if key not in self._made:
                while len(self._made) >= self._n_kept:
                    del self._made[next(iter(self._made))]
                self._made[key] = self._make(key)
            return self._made[key]


def beam(
    judge: Judge, n_values: list[list[int]], threads: int, progress: Progress | None
) -> tuple[Int32s, Longs]:
    """The choices of a search that keeps the best so far, in the order of their options, and their costs.

    Attributes are taken by the least cost that one of them alone has, in groups of at most BEAM_LEAVES
    combinations. After each group BEAM_WIDTH choices are kept; the attributes to come are left out. All
    choices of all groups are the result, where every attribute to come can be left out: those of few
    attributes are of small domains, which limits may ask for.
    """
    n = len(judge.sizes)
    nothing: Int32s = np.full((1, n), -1, np.int32)
    alone = [int(judge.grown(nothing, np.array([a], np.int32), 1, None)[1].min()) for a in range(n)]
    groups: list[list[int]] = []
    n_leaves = MOST_LEAVES
    for a in sorted(range(n), key=lambda a: (alone[a], a)):
        if n_leaves * judge.sizes[a] > BEAM_LEAVES:
            groups.append([])
            n_leaves = 1
        groups[-1].append(a)
        n_leaves *= judge.sizes[a]
    leaves = [math.prod(judge.sizes[a] for a in group) for group in groups]
    total, width = 0, 1
    for n_leaves in leaves:
        total += width * n_leaves
        width = min(width * n_leaves, BEAM_WIDTH)
    # One place more, for -1: an attribute that is not chosen yet.
    numbers = [np.array([*options, 0], np.int64) for options in n_values]
    kept, costs, n_done = nothing, np.zeros(1, np.int64), 0
    out = [options.index(0) if 0 in options else -1 for options in n_values]
    found: list[tuple[Int32s, Longs]] = []
    for group in groups:
        # Which of equal choices is kept depends on nothing but their options.
        order = np.lexsort((*kept.T[::-1], products(kept, numbers), costs))[:BEAM_WIDTH]
        so_far = after(n_done, total, progress)
        kept, costs = judge.grown(kept[order], np.array(group, np.int32), threads, so_far)
        n_done += len(kept)
        whole = np.where(kept < 0, np.array(out, np.int32), kept).astype(np.int32)
        if (whole >= 0).all():
            found.append((whole, costs))
    choices, first = np.unique(np.concatenate([whole for whole, _ in found]), axis=0, return_index=True)
    return np.ascontiguousarray(choices), np.concatenate([costs for _, costs in found])[first]


def after(n_before: int, total: int, progress: Progress | None) -> Progress | None:
    """What tells of a part of the work, so many combinations of `total` being done before."""
    return None if progress is None else lambda done, _: progress(n_before + done, total)


def products(choices: Int32s, n_values: Sequence[Longs]) -> Longs:
    """How many tuples each choice has: its options' numbers of values multiplied, 0 for an option left out.

    MOST_TUPLES stands for more.
    """
    tuples: Longs = np.ones(len(choices), np.int64)
    for a, numbers in enumerate(n_values):
        factors = np.maximum(numbers[choices[:, a]], 1)
        tuples = np.where(tuples > MOST_TUPLES // factors, MOST_TUPLES, tuples * factors)
    return tuples
