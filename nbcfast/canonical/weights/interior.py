"""The rows that will bind, for many unknowns: cutting planes with an interior point method in doubles.

The active set method of `solver` adds one row at a time, which is quick for some hundred unknowns and slow
for a thousand, where dozens of rows leave for each that stays. An interior point method (Mehrotra's predictor
and corrector, SIAM J. Optimization 2, 1992) takes some twenty steps, one Cholesky factor each, whatever the
number of rows. Nothing is decided here: `solver` is given these rows to begin with, and finds and proves the
optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast import _interior
from nbcfast._core.dtypes import Floats, Int8s, Int32s, Longs

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.canonical.weights.exact import Oracle


MOST_STEPS = 60
MOST_ROUNDS = 40
TO_THE_WALL = 0.99
FAR_IN = 1e3  # slacks and multipliers at the beginning
GAPS = 1.0, 1e-2, 1e-9  # of the duality, relative to the norm: a finer one when all rows are above 0
MISSED = 1 - 1e-6
FEW = 50  # times the rows that are still missed: fewer than all, so that they may be left to the solver


class InteriorPoint(NamedTuple):
    """Weights, slacks and multipliers."""

    x: Floats
    slack: Floats
    multipliers: Floats


class InteriorProgram:
    """Least norm of weights in differences from the last class, subject to rows >= 1.

    Half the square of the norm is x' K x / 2, K block after block of weight (1 - 1/C) on the diagonal and
    -weight / C beside it. An entry of a row in column -1 is none.
    """

    def __init__(
        self, of_level: Floats, n_classes: int, columns: Int32s, signs: Int8s, n_blocks: int = 0
    ) -> None:
        self.of_level, self.n_classes, self.n_blocks = of_level, n_classes, n_blocks
        level, of_class = np.divmod(columns, n_classes)
        reduced = np.where(of_class == n_classes - 1, -1, level * (n_classes - 1) + of_class)
        self.columns, self.signs = reduced.astype(np.int32), np.ascontiguousarray(signs)
        block = np.eye(n_classes - 1) - 1 / n_classes
        self.K = np.asarray(np.kron(np.diag(of_level), block), np.float64)

    def stretched(self, x: Floats) -> Floats:
        """K x, without the threads of BLAS, which wait for each other on a busy machine."""
        h = x.reshape(-1, self.n_classes - 1)
        centred: Floats = h - h.sum(axis=1, keepdims=True) / self.n_classes
        result: Floats = centred * self.of_level[:, np.newaxis]
        return result.ravel()

    def times(self, x: Floats) -> Floats:
        values = np.empty(len(self.columns))
        _interior.times(self.columns, self.signs, x, values)
        return values

    def transposed(self, factors: Floats) -> Floats:
        x = np.zeros(len(self.of_level) * (self.n_classes - 1))
        _interior.transposed(self.columns, self.signs, factors, x)
        return x

    def factor(self, d: Floats) -> Floats:
        """The Cholesky factor of K + A' diag(d) A.

        No row has two levels of one attribute, so those of the first attribute are blocks apart. LAPACK is
        not asked: its threads wait for each other on a busy machine, and its last bits depend on them.
        """
        H = self.K.copy()
        _interior.normal(self.columns, self.signs, d, H)
        if not _interior.factor(H, self.n_classes - 1, self.n_blocks):
            raise np.linalg.LinAlgError("a block is not positive")
        return H

    def solve(self, enough: float) -> InteriorPoint:
        """A point whose duality gap is at most `enough` of its norm, or the last that doubles could reach."""
        x = np.zeros(len(self.of_level) * (self.n_classes - 1))
        s, u = np.full(len(self.columns), FAR_IN), np.full(len(self.columns), FAR_IN)
        for _ in range(MOST_STEPS):
            dual, primal = self.stretched(x) - self.transposed(u), self.times(x) - s - 1
            total = float((s * u).sum())
            if (
                total <= enough * (1 + float((x * self.stretched(x)).sum()))
                and np.abs(primal).max() <= enough
            ):
                break
            try:
                lower = self.factor(u / s)
            except np.linalg.LinAlgError:
                break
            ds, du = self._step(lower, s, u, dual, primal, s * u)[1:]
            aim = float(((s + reach(s, ds) * ds) * (u + reach(u, du) * du)).sum())
            centre = (aim / total) ** 3 * total / len(s)
            dx, ds, du = self._step(lower, s, u, dual, primal, s * u + ds * du - centre)
            if not (np.isfinite(dx).all() and np.isfinite(du).all()):
                break
            a, b = TO_THE_WALL * reach(s, ds), TO_THE_WALL * reach(u, du)
            x, s, u = x + a * dx, s + a * ds, u + b * du
        return InteriorPoint(x, s, u)

    def _step(
        self, lower: Floats, s: Floats, u: Floats, dual: Floats, primal: Floats, product: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """K dx - A' du = -dual, A dx - ds = -primal, u ds + s du = -product."""
        dx = -dual - self.transposed((product + u * primal) / s)
        _interior.substitute(lower, dx)
        ds = self.times(dx) + primal
        return dx, ds, -(product + u * ds) / s


def reach(x: Floats, dx: Floats) -> float:
    """How far x + a dx stays at 0 or more, up to 1."""
    falls = dx < 0
    return min(1.0, float((-x[falls] / dx[falls]).min(initial=1.0)))


def likely(
    weights: Longs,
    sizes: Sequence[int],
    n_classes: int,
    oracle: Oracle,
    g: Floats,
    *,
    progress: Progress | None = None,
) -> tuple[Int32s, Int8s]:
    """Rows of the oracle that are likely to bind at the optimum, the heaviest first.

    Parameters
    ----------
    weights : ndarray of int64
        Of the unknowns, which stand class after class within each level; equal over the classes.
    sizes : sequence of int
        How many levels each attribute has.
    n_classes : int
        How many unknowns a level has.
    oracle : Oracle
        Of all rows.
    g : ndarray of float64
        Where to look for the first rows.
    progress : callable, optional
        Called as progress(rounds, rounds expected).
    """
    C = n_classes
    of_level = weights.reshape(-1, C)[:, 0].astype(np.float64)
    # The attribute with most levels comes first.
    ends = np.cumsum(sizes)
    largest = int(np.argmax(sizes))
    place = np.empty(len(of_level), np.int64)
    order = np.concatenate(
        [
            np.arange(ends[largest] - sizes[largest], ends[largest]),
            np.arange(ends[largest] - sizes[largest]),
            np.arange(ends[largest], ends[-1]),
        ]
    )
    place[order] = np.arange(len(order))
    columns, signs, lowest = oracle.violated(g, np.inf)
    stage = 0
    for round_ in range(1, MOST_ROUNDS + 1):
        there = (place[columns // C] * C + columns % C).astype(np.int32)
        point = InteriorProgram(of_level[order], C, there, signs, sizes[largest]).solve(GAPS[stage])
        h = np.concatenate([point.x.reshape(-1, C - 1)[place], np.zeros((len(of_level), 1))], axis=1)
        more, more_signs, lowest = oracle.violated((h - h.mean(axis=1, keepdims=True)).reshape(-1), MISSED)
        if progress is not None:
            progress(round_, MOST_ROUNDS)
        known = np.unique(np.hstack([np.vstack([columns, more]), np.vstack([signs, more_signs])]), axis=0)
        if lowest > 0 or len(known) == len(columns):
            if stage + 1 == len(GAPS):
                break
            stage += 1
        elif stage + 1 == len(GAPS) and FEW * (len(known) - len(columns)) < len(columns):
            break
        width = columns.shape[1]
        columns = np.ascontiguousarray(known[:, :width])
        signs = np.ascontiguousarray(known[:, width:].astype(np.int8))
    kept = np.flatnonzero(point.multipliers > point.slack)
    kept = kept[np.argsort(-point.multipliers[kept], kind="stable")]
    return np.ascontiguousarray(columns[kept]), np.ascontiguousarray(signs[kept])


class Begun:
    """An oracle whose first answer is some rows that are known already."""

    def __init__(self, oracle: Oracle, columns: Int32s, signs: Int8s) -> None:
        self._oracle, self._rows = oracle, (columns, signs)

    def violated(self, g: Floats, limit: float) -> tuple[Int32s, Int8s, float]:
        columns, signs = self._rows
        if len(columns):
            self._rows = columns[:0], signs[:0]
            return columns, signs, 0.0
        return self._oracle.violated(g, limit)

    def exactly(self, numbers: Sequence[int], limit: int) -> tuple[Int32s, Int8s]:
        return self._oracle.exactly(numbers, limit)
