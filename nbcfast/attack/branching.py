"""Branch and bound over what an adversary may know: tuples of values, of all attributes or of some.

The odds of two classes over possible worlds are (X_c / X_d) (e_c / e_d), with e_c = E[1 / (1 + S_c)] and S_c
the matching rows beside one of class c. With T = sum X and d_c = X_c less its value beside one matching row,
e_c / e_d is at most each of

    2                   Yh_c <= Y_c <= Yh_c + 1 in distribution, so S_c + 1 >= S_d,
    1 + T               1/(1 + mu) <= e <= 1, by Jensen's inequality,
    (T + 1) / (T - 1)   e_c <= (1 - e^-mu) / mu with mu >= T - 1: S is a sum of independent indicators,
    1 + d_c (1 + T) / 2  S_d exceeds a variable below S_c by one with probability d_c, else not at all,

and d_c <= min(1, X_c sum_i 1/N_i), proved in docs/mathematics/safety.md, section j. Nothing here is decided
by rounding: bounds are widened by `slack`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from nbcfast import _worlds
from nbcfast._core.dtypes import Array, Floats, Int32s
from nbcfast.attack import moments
from nbcfast.attack.posteriors import MOST_COST
from nbcfast.table.values import Value
from nbcfast.views.integers import logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views import Viewset


MOST_NODES = 1 << 21  # doubles that are looked at together
MOST_WORK = 1 << 28  # doubles that are looked at in all; 10^7 tuples of two classes
UNKNOWN = -1  # the code of an attribute that the adversary does not know


class Tuples:
    """Nodes of the search: partial tuples with their scores.

    Attributes
    ----------
    codes : (nodes, attributes decided), UNKNOWN where the value is not known
    logs : (nodes, classes), ln X_c
    inverse : (nodes, classes), the sum of 1 / N over the known values
    """

    __slots__ = ("codes", "inverse", "logs")

    def __init__(self, codes: Int32s, logs: Floats, inverse: Floats) -> None:
        self.codes, self.logs, self.inverse = codes, logs, inverse

    def __len__(self) -> int:
        return len(self.logs)

    def take(self, which: slice | Array) -> Tuples:
        return Tuples(self.codes[which], self.logs[which], self.inverse[which])


class Search:
    """All tuples of values, in the row convention, or with unknown values too, in the worlds convention."""

    def __init__(self, views: Viewset, convention: str) -> None:
        self.views = views
        self.worlds = convention == "worlds"
        self.class_counts: list[int] = views.class_counts.tolist()
        self.log_counts = logarithms(views.class_counts)
        self.per_count = np.exp(-self.log_counts)
        tables, inverses, spreads = [], [], []
        largest = float(np.abs(self.log_counts[np.isfinite(self.log_counts)]).max(initial=1.0))
        finite = np.where(np.isfinite(self.log_counts), self.log_counts, 0.0)
        for name in views.attributes:
            logs = logarithms(views.counts[name])
            table = logs - finite
            inverse = np.exp(-logs)
            if self.worlds:
                table = np.vstack([table, np.zeros(table.shape[1])])
                inverse = np.vstack([inverse, np.zeros(table.shape[1])])
            elif not len(table):
                raise ValueError(f"views: attribute {name!r} has no values")
            tables.append(table)
            inverses.append(inverse)
            with np.errstate(invalid="ignore"):
                spread = np.nan_to_num(table.max(axis=0) - table.min(axis=0)) if len(table) else np.zeros(1)
            spreads.append(float(spread.max()))
        # What tells classes apart most comes first: its other values are soon out of the race.
        self.order = sorted(range(len(tables)), key=lambda i: -spreads[i])
        self.tables = [tables[i] for i in self.order]
        self.inverses = [inverses[i] for i in self.order]
        self.gains = self._gains()
        self.lowest = self._lowest()
        # A logarithm is rounded once, so are a difference and each of the sums.
        self.slack = 1e-12 + (len(tables) + 4) * 8 * largest * 2.0**-52

    def _gains(self) -> list[Floats]:
        """gains[k][c, d]: the most that attributes k .. add to ln X_c - ln X_d where X_c stays positive."""
        n_classes = len(self.class_counts)
        result = [np.zeros((n_classes, n_classes))]
        for table in reversed(self.tables):
            most = np.full((n_classes, n_classes), -np.inf)
            for c in range(n_classes):
                possible = table[np.isfinite(table[:, c])]
                if len(possible):
                    most[c] = (possible[:, c : c + 1] - possible).max(axis=0)
            with np.errstate(invalid="ignore"):
                total = result[-1] + most
            total[np.isneginf(most) | np.isneginf(result[-1])] = -np.inf  # X_c is 0 wherever one goes
            result.append(total)
        return result[::-1]

    def _lowest(self) -> list[Floats]:
        """lowest[k][c]: the least that attributes k .. add to ln X_c."""
        result = [np.zeros(len(self.class_counts))]
        for table in reversed(self.tables):
            result.append(result[-1] + table.min(axis=0))
        return result[::-1]

    def root(self) -> Tuples:
        n_classes = len(self.class_counts)
        return Tuples(
            np.zeros((1, 0), np.int32), self.log_counts[np.newaxis].copy(), np.zeros((1, n_classes))
        )

    def children(self, nodes: Tuples) -> Tuples:
        """Each node with each option for the next attribute."""
        k = nodes.codes.shape[1]
        table, inverse = self.tables[k], self.inverses[k]
        n, options, n_classes = len(nodes), len(table), len(self.class_counts)
        labels = np.arange(options, dtype=np.int32)
        if self.worlds:
            labels[-1] = UNKNOWN
        codes = np.empty((n, options, k + 1), np.int32)
        codes[:, :, :k] = nodes.codes[:, np.newaxis]
        codes[:, :, k] = labels
        logs = nodes.logs[:, np.newaxis] + table
        inverses = nodes.inverse[:, np.newaxis] + inverse
        return Tuples(
            codes.reshape(n * options, k + 1),
            logs.reshape(n * options, n_classes),
            inverses.reshape(n * options, n_classes),
        )

    def log_factor(self, nodes: Tuples) -> Floats:
        """(nodes, classes): a bound of ln e_c / e_d below each node, whatever d."""
        if not self.worlds:
            return np.zeros_like(nodes.logs)
        k = nodes.codes.shape[1]
        left = len(self.tables) - k
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            x = np.exp(nodes.logs)
            most = x.sum(axis=1, keepdims=True)
            least = np.exp(nodes.logs + self.lowest[k]).sum(axis=1, keepdims=True)
            # One more known value adds at most X / P to X sum 1/N.
            fewer = np.minimum(1.0, x * (nodes.inverse + left * self.per_count))
            fewer = np.where(np.isnan(fewer), 1.0, fewer)
            bounds = np.minimum(np.minimum(2.0, 1.0 + most), 1.0 + fewer * (1.0 + most) / 2.0)
            large = np.where(least > 3.0, (least + 1.0) / (least - 1.0), 2.0)
            large = np.where(np.isinf(least), 1.0, large)
            result: Floats = np.log(np.where(np.isnan(bounds), 2.0, np.minimum(bounds, large)))
        return result

    def log_odds(self, nodes: Tuples) -> Floats:
        """(nodes, classes, classes): a bound of ln p_c / p_d below each node; -inf where p_c is 0."""
        k = nodes.codes.shape[1]
        logs = nodes.logs
        with np.errstate(invalid="ignore"):
            odds: Floats = logs[:, :, np.newaxis] - logs[:, np.newaxis] + self.gains[k]
        odds += self.log_factor(nodes)[:, :, np.newaxis]
        never = np.isneginf(logs)[:, :, np.newaxis] | np.isneginf(self.gains[k])
        odds[never | np.eye(logs.shape[1], dtype=bool)] = -np.inf
        return odds

    def leaves(
        self,
        bound: Callable[[Tuples], Floats],
        least: float,
        progress: Progress | None = None,
    ) -> tuple[Tuples, Floats, float]:
        """Tuples whose bound exceeds `least`, their bounds, the highest first, and what others may reach.

        Where a level grows too large its lower end is given up: the third result bounds everything there, and
        is -inf where nothing was given up.
        """
        nodes, values, missed = self.root(), np.full(1, np.inf), -math.inf
        n_classes = len(self.class_counts)
        size = n_classes * n_classes + 2 * n_classes + len(self.tables)
        for k, table in enumerate(self.tables):
            kept: list[Tuples] = []
            bounds: list[Floats] = []
            step = max(MOST_NODES // (len(table) * size), 1)
            for start in range(0, len(nodes), step):
                grown = self.children(nodes.take(slice(start, start + step)))
                value = bound(grown)
                above = value > least
                kept.append(grown.take(above))
                bounds.append(value[above])
            nodes = Tuples(
                np.concatenate([part.codes for part in kept]),
                np.concatenate([part.logs for part in kept]),
                np.concatenate([part.inverse for part in kept]),
            )
            values = np.concatenate(bounds)
            following = len(self.tables[k + 1]) if k + 1 < len(self.tables) else 1
            most = max(MOST_WORK // (len(self.tables) * following * size), 1)
            if len(nodes) > most:
                best = np.argpartition(-values, most)
                missed = max(missed, float(values[best[most:]].max()))
                nodes, values = nodes.take(np.sort(best[:most])), values[np.sort(best[:most])]
            if progress is not None:
                progress(k + 1, len(self.tables) + 1)
            if not len(nodes):
                break
        if not self.tables:
            values = bound(nodes)
            nodes, values = nodes.take(values > least), values[values > least]
        if nodes.codes.shape[1] < len(self.tables):  # all are ruled out
            nodes = Tuples(np.zeros((0, len(self.tables)), np.int32), nodes.logs[:0], nodes.inverse[:0])
            values = values[:0]
        order = np.argsort(-values, kind="stable")
        return nodes.take(order), values[order], missed

    def places(self, codes: Int32s) -> dict[str, int]:
        """The known values of a tuple, as attribute -> place, in the order of the attributes."""
        by_attribute = dict(zip(self.order, codes.tolist(), strict=True))
        return {
            name: by_attribute[i]
            for i, name in enumerate(self.views.attributes)
            if by_attribute[i] != UNKNOWN
        }

    def known(self, codes: Int32s) -> dict[str, Value]:
        return {name: self.views.domain(name)[place] for name, place in self.places(codes).items()}

    def rows(self, codes: Int32s) -> list[list[int]]:
        return [self.views.counts[name][place].tolist() for name, place in self.places(codes).items()]

    def log_ratios(self, codes: Int32s) -> Floats:
        """For each of several tuples the logarithm of the largest ratio of two posteriors."""
        shares, _ = self.shares(codes)
        least = shares.min(axis=1)
        ratios: Floats = np.log(shares.max(axis=1)) - np.log(np.maximum(least, moments.LEAST))
        for j in np.flatnonzero(least < moments.LEAST).tolist():
            logs = moments.log_shares(self.class_counts, self.rows(codes[j]))
            ratios[j] = -math.inf if logs is None else max(logs) - min(logs)
        return ratios

    def shares(self, codes: Int32s) -> tuple[Floats, Floats]:
        """Posteriors over worlds of several tuples, (tuples, classes), and bounds of their relative error."""
        n_classes = len(self.class_counts)
        shares, errors = np.empty((len(codes), n_classes)), np.empty(len(codes))
        states = np.full(len(codes), _worlds.BEYOND, np.int8)
        if max(self.class_counts) <= _worlds.MOST:
            class_counts = np.array(self.class_counts, np.int64)
            counts = np.empty((len(codes), len(self.tables), n_classes), np.int64)
            for k, i in enumerate(self.order):
                with_all = np.vstack([self.views.counts[self.views.attributes[i]], class_counts])
                counts[:, k] = with_all[codes[:, k]]  # UNKNOWN is the last row: all rows of the class
            _worlds.posteriors(class_counts, counts, MOST_COST, shares, errors, states)
        for j in np.flatnonzero(states != _worlds.OK).tolist():
            by_moments = moments.shares(self.class_counts, self.rows(codes[j]))
            shares[j], errors[j] = by_moments if by_moments is not None else (np.zeros(n_classes), 0.0)
        return shares, errors


def batches(n: int, first: int = 16, most: int = 512) -> Iterator[slice]:
    """0 .. n in growing parts: a good value found early saves the rest."""
    start, size = 0, first
    while start < n:
        yield slice(start, min(start + size, n))
        start, size = start + size, min(2 * size, most)
