"""Few rows: largest remainder, then moves of a few rows within a column until no tuple is out of order.

Floats choose what to try; nothing leaves before it has been compared exactly: docs/mathematics/safety.md,
section f.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import permutations, product
from typing import Protocol

import numpy as np

from nbcfast._core.dtypes import Bools, Floats, Longs

MOST_ROWS = 1 << 44  # beyond, floats no longer see a row
MOST_CLOSE = 300_000  # comparisons that are watched
CLOSE = 1e-11  # logarithms of ratios nearer to 0 than this are decided by integers
MOST_EXACT = 5_000
AT_ONCE = 1 << 16  # comparisons times attributes that a move is tried on, for the memory
MOVES = 60
WORTH = 48  # wrong comparisons up to which moves are tried
STEPS = (1, 2, 4, 8)
_STEPS = np.array(STEPS, np.float64)
SHIFTS = (1, 2, 3)  # rows from one class to another
FARTHEST = 4  # of them
PULL = 1e-3  # what distance weighs against the number of wrong comparisons


class RowShares(Protocol):
    """What each class and each value in it would have of the rows, if rows could be split."""

    n: int
    n_classes: int
    starts: list[int]
    least_rows: int
    floats: Floats
    values: list[Floats]


def spread_of(shares: RowShares) -> float:
    """A = sum_i 1 / (pi_c min_t p) + 1 / pi_c: ln X of R rows is within about A / R of what it should be."""
    total = 1 / shares.floats
    for array in shares.values:
        total = total + 1 / (shares.floats * array.min(axis=0))
    return float(total.max())


@dataclass
class ClosePair:
    """The comparisons of two classes that rounding may turn, the nearest to a tie first."""

    c: int
    d: int
    distance: Floats
    rows: Longs  # (close comparisons, attributes): rows of the flat counts
    above: Bools  # whether X_c > X_d is asked for


class Nearest:
    """The comparisons that rounding may turn: those whose logarithm of a ratio is below a band.

    Where too many are, the band becomes narrower.

    Parameters
    ----------
    compared : iterable of (c, d, distance, above)
        For each pair of classes how far every tuple is from a tie, and whether X_c > X_d is asked for there.
    band : float
    rows_of : callable
        From numbers of tuples to the rows of the flat counts that each of them has.
    """

    def __init__(
        self,
        compared: Iterable[tuple[int, int, Floats, Bools]],
        band: float,
        rows_of: Callable[[Longs], Longs],
    ) -> None:
        self.band = band
        kept = []
        for c, d, distance, above in compared:
            places = np.flatnonzero(distance <= self.band)
            if len(places) > MOST_CLOSE:
                places = np.sort(places[np.argpartition(distance[places], MOST_CLOSE)[:MOST_CLOSE]])
                self.band = min(self.band, float(distance[places].max()))
            kept.append((c, d, distance[places], places, above[places]))
        self.pairs: list[ClosePair] = []
        for c, d, distance, places, above in kept:
            order = np.argsort(distance, kind="stable")
            order = order[: int(np.searchsorted(distance[order], self.band, side="right"))]
            self.pairs.append(ClosePair(c, d, distance[order], rows_of(places[order]), above[order]))

    def within(self, band: float) -> list[ClosePair]:
        """The comparisons below a narrower band."""
        result = []
        for pair in self.pairs:
            stop = int(np.searchsorted(pair.distance, band, side="right"))
            result.append(
                ClosePair(pair.c, pair.d, pair.distance[:stop], pair.rows[:stop], pair.above[:stop])
            )
        return result


class Candidate:
    """Counts for some number of rows, with how wrong they are."""

    def __init__(self, pairs: list[ClosePair], shares: RowShares, of_class: Longs, counts: Longs) -> None:
        self.pairs, self.shares, self.of_class, self.counts = pairs, shares, of_class, counts
        with np.errstate(divide="ignore"):
            self.logs = np.log(counts.astype(np.float64))
        logs = np.log(of_class.astype(np.float64))
        base = (1 - shares.n) * logs
        self.ratios = [
            base[pair.c] - base[pair.d] + (self.logs[:, pair.c] - self.logs[:, pair.d])[pair.rows].sum(axis=1)
            for pair in pairs
        ]
        self.wrong = 0
        self.hinge = 0.0
        self._judge()

    def copy(self) -> Candidate:
        other = copy(self)
        other.counts, other.logs, other.ratios = self.counts.copy(), self.logs.copy(), list(self.ratios)
        return other

    def _judge(self) -> None:
        self.wrong, self.hinge = 0, 0.0
        for pair, ratios in zip(self.pairs, self.ratios, strict=True):
            wrong = (ratios > 0) != pair.above
            near = np.abs(ratios) < CLOSE
            if near.any():
                wrong |= near
                same = self.counts[:, pair.c] == self.counts[:, pair.d]
                places = np.flatnonzero(near)
                for place in places[:MOST_EXACT].tolist():
                    wrong[place] = self._above(pair, place) != pair.above[place]
                if len(places) > MOST_EXACT and self.of_class[pair.c] == self.of_class[pair.d]:
                    # Equal columns tie for certain; of other near ties so many are taken to be wrong.
                    unsure = places[MOST_EXACT:]
                    wrong[unsure] = ~(same[pair.rows[unsure]].all(axis=1) & ~pair.above[unsure])
            self.wrong += int(wrong.sum())
            # A tie that is wrong lies at distance 0, and has to count all the same.
            self.hinge += float(np.abs(ratios[wrong]).sum()) + 1e-15 * int(wrong.sum())

    def _above(self, pair: ClosePair, place: int) -> bool:
        """X_c > X_d, by integers."""
        left = right = 1
        for row in pair.rows[place].tolist():
            left *= int(self.counts[row, pair.c])
            right *= int(self.counts[row, pair.d])
        power = self.shares.n - 1
        p, q = int(self.of_class[pair.c]), int(self.of_class[pair.d])
        if power < 0:
            return p > q
        return bool(left * q**power > right * p**power)

    def improve(self) -> None:
        """Move rows between values of a column, the best move first, while any helps."""
        for _ in range(MOVES):
            if not self.wrong:
                return
            move = self._best_move()
            if move is None:
                return
            before = self.wrong, self.hinge
            saved = self.counts.copy(), self.logs.copy(), self.ratios
            self._apply(*move)
            self._judge()
            if (self.wrong, self.hinge) >= before:
                self.counts, self.logs, self.ratios = saved
                self.wrong, self.hinge = before
                return

    def _apply(self, c: int, to: int, come_from: int, step: int) -> None:
        old = self.logs[[to, come_from], c]
        self.counts[to, c] += step
        self.counts[come_from, c] -= step
        self.logs[[to, come_from], c] = np.log(self.counts[[to, come_from], c].astype(np.float64))
        shift = np.zeros(len(self.counts))
        shift[[to, come_from]] = self.logs[[to, come_from], c] - old
        ratios = []
        for pair, ratio in zip(self.pairs, self.ratios, strict=True):
            if c in (pair.c, pair.d):
                sign = 1.0 if c == pair.c else -1.0
                ratio = ratio + sign * shift[pair.rows].sum(axis=1)
            ratios.append(ratio)
        self.ratios = ratios

    def _best_move(self) -> tuple[int, int, int, int] | None:
        """(class, value that gains, value that loses, rows) of the most comparisons put right."""
        best, best_move = -1e-13, None  # what gains less may be a rounding error, and go to and fro for ever
        if not len(self.counts):
            return None
        starts = self.shares.starts
        for c in range(self.shares.n_classes):
            column = self.counts[:, c].astype(np.float64)
            up = np.log1p(_STEPS[:, np.newaxis] / column)
            # Below 1, so that the logarithm is finite; steps that would leave no row are `impossible`.
            down = np.log1p(-np.minimum(_STEPS[:, np.newaxis] / column, 0.999))
            moves = np.concatenate([up, down])  # (up and down by each step, rows)
            impossible = column <= _STEPS[:, np.newaxis]
            gained = self._gained(moves, c)
            gained[len(STEPS) :][impossible] = np.inf
            lows = np.minimum.reduceat(gained, starts[:-1], axis=1)
            totals = (lows[: len(STEPS)] + lows[len(STEPS) :]).min(axis=0).tolist()
            for start, stop, least in zip(starts, starts[1:], totals, strict=False):
                if stop - start < 2 or least >= best:  # two values of the attribute cannot do better
                    continue
                table = gained[:, start:stop]
                order = table.argsort(axis=1, kind="stable")[:, :2].tolist()
                gains = table.tolist()
                for s, step in enumerate(STEPS):
                    for t in order[s]:
                        for u in order[s + len(STEPS)]:
                            total = gains[s][t] + gains[s + len(STEPS)][u]
                            if t != u and total < best:
                                best, best_move = total, (c, start + t, start + u, step)
        return best_move

    def _gained(self, moves: Floats, c: int) -> Floats:
        """What each move of class `c` alone costs, less what is wrong now; as `moves`."""
        farthest = 2 * float(np.abs(moves).max())
        firsts = (np.arange(len(moves)) * moves.shape[1])[:, np.newaxis, np.newaxis]
        gained = np.zeros(moves.size)
        for pair, all_ratios in zip(self.pairs, self.ratios, strict=True):
            if c not in (pair.c, pair.d):
                continue
            signs, ratios, bad, rows = self._near(pair, all_ratios, c, farthest)
            at_once = max(AT_ONCE // max(len(rows), 1), 1)
            for i in range(0, rows.shape[1], at_once):
                at = rows[:, i : i + at_once].T
                cost = moves.take(at, axis=1)  # and in place from here on, in the innermost loop of all
                cost *= signs
                cost += ratios
                turned = cost > -CLOSE
                np.abs(cost, out=cost)
                cost *= PULL
                cost += 1
                cost *= turned
                cost -= bad
                gained += np.bincount((firsts + at).ravel(), cost.ravel(), moves.size)
        return gained.reshape(moves.shape)

    def _near(
        self, pair: ClosePair, ratios: Floats, c: int, farthest: float
    ) -> tuple[Floats, Floats, Floats, Longs]:
        """The comparisons of a pair that a move can turn, and what those cost that are wrong now.

        Of each the sign of a move of class `c` in it, and its logarithm, so that what is above 0 is wrong.
        """
        wrong = (ratios > 0) != pair.above
        near = np.flatnonzero((np.abs(ratios) <= farthest) | wrong)
        ratios, above = ratios[near], pair.above[near]
        bad = ((ratios > -CLOSE) & ~above) | ((ratios < CLOSE) & above)
        signs = np.where(above, -1.0, 1.0)
        cost = bad * (1 + PULL * np.abs(ratios))
        return signs if c == pair.c else -signs, signs * ratios, cost, pair.rows[near]


def candidates(shares: RowShares, rows: int) -> Iterator[tuple[Longs, Longs]]:
    """Class counts and counts by largest remainder, with and without a tilt for ties."""
    seen = set()
    error = spread_of(shares) / rows
    for tilt in (0.0, error / 8, error / 2):
        weights = shares.floats * (1 + tilt * np.arange(shares.n_classes))
        of_class = apportioned_columns(weights[:, np.newaxis] / weights.sum(), np.array([rows]))[:, 0]
        key = tuple(of_class.tolist())
        if key in seen or min(key) < shares.least_rows:
            continue
        seen.add(key)
        blocks = [apportioned_columns(array, of_class) for array in shares.values]
        yield of_class, np.concatenate(blocks) if blocks else np.zeros((0, shares.n_classes), np.int64)


def shifted(shares: RowShares, rows: int) -> Iterator[tuple[Longs, Longs]]:
    """Class counts and counts by largest remainder, with a few rows of one class in another."""
    of_class = class_counts(shares, rows)
    for moved, (c, d) in product(SHIFTS, permutations(range(shares.n_classes), 2)):
        if of_class[d] - moved >= shares.least_rows:
            other = of_class.copy()
            other[c] += moved
            other[d] -= moved
            yield other, np.concatenate([apportioned_columns(array, other) for array in shares.values])


def shaken(shares: RowShares, rows: int) -> Iterator[tuple[Longs, Longs]]:
    """Class counts and counts by largest remainder, of shares that are off by half a row and less.

    Endless, and the same ones every time.
    """
    # Not NumPy's generators, whose numbers a version may change: releases are made again from their answers.
    generator = random.Random(rows)
    nearest = class_counts(shares, rows)
    while True:
        of_class = nearest.copy()
        for c in range(1, shares.n_classes):
            moved = generator.randint(-FARTHEST, FARTHEST)
            if min(of_class[c] + moved, of_class[0] - moved) >= shares.least_rows:
                of_class[c] += moved
                of_class[0] -= moved
        blocks = []
        for array in shares.values:
            noise = np.array([generator.uniform(-0.5, 0.5) for _ in range(array.size)]).reshape(array.shape)
            rounded = np.maximum(array * of_class + noise, 0.25)
            blocks.append(apportioned_columns(rounded / rounded.sum(axis=0), of_class))
        yield of_class, np.concatenate(blocks)


def class_counts(shares: RowShares, rows: int) -> Longs:
    """Sizes of the classes by largest remainder, each with a row for every value of an attribute."""
    weights = shares.floats[:, np.newaxis] / shares.floats.sum()
    of_class = apportioned_columns(weights, np.array([rows]))[:, 0]
    while of_class.min() < shares.least_rows:
        of_class[of_class.argmin()] += 1
        of_class[of_class.argmax()] -= 1
    return of_class


def apportioned_columns(shares: Floats, totals: Longs) -> Longs:
    """Columns of integers that add up to the totals, at least 1 each, by largest remainder.

    In floats, unlike `apportion.apportioned`: thousands of these are tried, and what is chosen is compared
    exactly.
    """
    unrounded = shares * totals
    counts = np.floor(unrounded)
    fractions = np.round(unrounded - counts, 9)  # near ties are decided alike in all classes
    low = counts < 1
    counts[low], fractions[low] = 1, -1
    result = counts.astype(np.int64)
    missing = totals - result.sum(axis=0)
    for c in range(result.shape[1]):
        if missing[c] > 0:
            order = np.argsort(-fractions[:, c], kind="stable")
            lots, some = divmod(int(missing[c]), len(order))
            result[:, c] += lots
            result[order[:some], c] += 1
        left = -int(missing[c])
        while left > 0:
            order = np.argsort(np.where(result[:, c] > 1, fractions[:, c], np.inf), kind="stable")
            order = order[result[order, c] > 1][:left]
            result[order, c] -= 1
            left -= len(order)
    return result


def best_at(
    close: Nearest, shares: RowShares, rows: int, safe: Callable[[Candidate], bool], anything: bool = False
) -> Candidate | None:
    """The candidate of so many rows with the fewest wrong comparisons; None where rows are too few.

    A safe one is preferred where nothing is wrong with it; with `anything`, before all else.
    """
    best: Candidate | None = None
    best_key: tuple[bool, int, float] | None = None
    pairs = close.within(2 * spread_of(shares) / rows)
    for of_class, counts in candidates(shares, rows):
        candidate = Candidate(pairs, shares, of_class, counts)
        variants = [candidate]
        if 0 < candidate.wrong <= WORTH:
            improved = candidate.copy()
            improved.improve()
            variants.append(improved)
        for each in reversed(variants):
            unsafe = (anything or not each.wrong) and not safe(each)
            key = (
                (unsafe, each.wrong, each.hinge)
                if anything
                else (each.wrong > 0, each.wrong, each.hinge + unsafe)
            )
            if best_key is None or key < best_key:
                best, best_key = each, key
            if not anything and not each.wrong:
                break
        if best_key is not None and not best_key[1] and best_key[2] < 1 and not best_key[0]:
            break
    return best
