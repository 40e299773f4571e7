"""A tuple that two viewsets order, or label, differently: looked for in a domain too large to decide.

Candidates come from floats, along walks that change one value at a time; what is handed out was compared
with integers. That nothing is found says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Array, Bools, Floats, Places
from nbcfast._core.products import product
from nbcfast._core.untyped import Exact
from nbcfast._halves.codes import codes_of
from nbcfast._halves.terms import Plain
from nbcfast.equivalence.interval import as_array
from nbcfast.equivalence.results import ClassPair
from nbcfast.views.integers import logarithms

Walk = tuple[Places, Places]  # from one tuple to another
Choices = list[tuple[int, Places]]  # attributes, and the values each may have

MOST_WALKS = 128  # between random tuples
MOST_SCORES = 1_000_000  # held at a time
RANDOM_POINTS = 100_000  # tuples looked at before anything else
WALKED_VALUES = 1_000_000  # looked at for each pair of classes
HALF_BOX = 1 << 16  # the square of it: tuples of a box around a candidate
FAR = 1e9  # what counts as an infinite log-ratio
TRIES = 8  # tuples that are as good as ties in both viewsets, compared exactly for each pair of classes
NOISE = 2.0**-49  # of the largest sum of logarithms
TINY = 1e-300
SURE_BITS = 192


class DifferingTuple(NamedTuple):
    """A tuple that differs: the code of each attribute, and two classes as in Comparison.classes."""

    codes: list[int]
    classes: ClassPair


class ScoredTuples(NamedTuple):
    """Scores of some tuples in either viewset: logarithms without the zero factors, and whether X is 0."""

    logs: tuple[Floats, Floats]  # (tuples, classes)
    zero: tuple[Bools, Bools]
    noise: tuple[float, float]  # of two logarithms that are not farther apart, nothing is known

    def above(self, view: int, c: int, d: int) -> Bools:
        """What is not known is taken for a tie."""
        logs, zero = self.logs[view], self.zero[view]
        above: Bools = ~zero[:, c] & (zero[:, d] | (logs[:, c] - logs[:, d] > self.noise[view]))
        return above

    def depth(self, view: int, c: int | Places, d: int | Places) -> Floats:
        """How far apart two classes are, which may differ from tuple to tuple."""
        logs, zero = self.logs[view], self.zero[view]
        each = np.arange(len(logs))
        size: Floats = np.abs(logs[each, c] - logs[each, d])
        return np.where(zero[each, c] | zero[each, d], np.inf, size)

    def deepest(self, pair: ClassPair | None) -> tuple[float, int]:
        """Of the tuples whose two classes, or with None whose labels, differ: the one surest to, and how far.

        Minus infinity where there is none.
        """
        if pair is not None:
            c: int | Places = pair[0]
            d: int | Places = pair[1]
            differs = self.above(0, *pair) != self.above(1, *pair)
        else:
            c, d = best, best_too = self._best(0), self._best(1)
            differs = best != best_too
        if not differs.any():
            return -math.inf, -1
        depths = np.minimum(self.depth(0, c, d), self.depth(1, c, d))
        place = int(np.argmax(np.where(differs, depths, -1.0)))
        return float(depths[place]), place

    def _best(self, view: int) -> Places:
        scores = np.where(self.zero[view], -np.inf, self.logs[view])
        near = scores >= scores.max(axis=1, keepdims=True) - self.noise[view]
        best: Places = scores.shape[1] - 1 - np.argmax(near[:, ::-1], axis=1)
        return best


class WitnessSearch:
    """For tuples that differ in one comparison of classes, or with `labels` in the best class."""

    def __init__(self, a: Plain, b: Plain, *, labels: bool) -> None:
        self._plain = a, b
        self._labels = labels
        self._n_classes = len(a.of_class)
        self._pairs = list(combinations(range(self._n_classes), 2))
        self._sizes = np.array([len(rows) for rows in a.rows], dtype=np.intp)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._attribute = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._rng = np.random.default_rng(0)  # the same tuples every time
        self._logs, self._zero, self._base, self._base_zero = [], [], [], []
        noise = []
        for plain in (a, b):
            counts = as_array([row for rows in plain.rows for row in rows], self._n_classes)
            of_class = as_array([plain.of_class], self._n_classes)[0]
            n = len(plain.rows)
            self._zero.append(np.asarray(counts == 0, dtype=bool))
            self._base_zero.append(np.asarray(of_class == 0, dtype=bool))
            with np.errstate(invalid="ignore"):
                self._logs.append(np.where(self._zero[-1], 0.0, _logs(counts)))
                base = (1 - n if n else 1) * _logs(of_class)
            self._base.append(np.where(self._base_zero[-1], 0.0, base))
            most = np.maximum.reduceat(np.abs(self._logs[-1]).max(axis=1), self._starts).sum() if n else 0.0
            noise.append(NOISE * float(most + np.abs(self._base[-1]).max()))
        self._noise = noise[0], noise[1]

    # --- scores -------------------------------------------------------------------------------------------

    def _walks(
        self, walks: list[Walk], order: Places, classes: list[int]
    ) -> Iterator[tuple[list[Walk], ScoredTuples]]:
        """All tuples met on the way, attribute after attribute in this order; several walks at a time."""
        n = len(order)
        columns = np.array(classes, np.intp)
        most = max(1, MOST_SCORES // ((n + 1) * len(classes)))
        for first in range(0, len(walks), most):
            some = walks[first : first + most]
            start, stop = (np.array([walk[k] for walk in some])[:, order, np.newaxis] for k in range(2))
            logs, zero = [], []
            for view in range(2):
                terms, is_zero = self._logs[view], self._zero[view]
                steps = np.empty((len(some), n + 1, len(classes)))
                steps[:, 0] = self._base[view][classes] + terms[start, columns].sum(axis=1)
                steps[:, 1:] = terms[stop, columns] - terms[start, columns]
                logs.append(np.cumsum(steps, axis=1).reshape(-1, len(classes)))
                zeros = np.empty(steps.shape, np.intp)
                zeros[:, 0] = self._base_zero[view][classes] + is_zero[start, columns].sum(axis=1)
                zeros[:, 1:] = is_zero[stop, columns].astype(np.intp) - is_zero[start, columns]
                zero.append((np.cumsum(zeros, axis=1) > 0).reshape(-1, len(classes)))
            yield some, ScoredTuples((logs[0], logs[1]), (zero[0], zero[1]), self._noise)

    def _met(self, walks: list[Walk], order: Places, place: int) -> Places:
        """The tuple at a place of some walks."""
        walk, steps = divmod(place, len(order) + 1)
        start, stop = walks[walk]
        values = start.copy()
        values[order[:steps]] = stop[order[:steps]]
        return values

    def _around(self, values: Places, choices: Choices, classes: list[int]) -> ScoredTuples:
        """Of all tuples with these values, or with any choice for some attributes, the last the fastest."""
        logs, zero = [], []
        columns = np.array(classes, np.intp)
        fixed = np.ix_(np.delete(values, [attribute for attribute, _ in choices]), columns)
        for view in range(2):
            sums = (self._base[view][classes] + self._logs[view][fixed].sum(axis=0))[np.newaxis]
            zeros = (self._base_zero[view][classes] | self._zero[view][fixed].any(axis=0))[np.newaxis]
            for _, allowed in choices:
                chosen = np.ix_(allowed, columns)
                sums = (sums[:, np.newaxis] + self._logs[view][chosen]).reshape(-1, len(classes))
                zeros = (zeros[:, np.newaxis] | self._zero[view][chosen]).reshape(-1, len(classes))
            logs.append(sums)
            zero.append(zeros)
        return ScoredTuples((logs[0], logs[1]), (zero[0], zero[1]), self._noise)

    def _highest(self, scores: Floats) -> Places:
        """For each attribute the first value of largest score."""
        tops = np.maximum.reduceat(scores, self._starts)
        places = np.flatnonzero(scores == tops[self._attribute])
        attributes = self._attribute[places]
        first = np.ones(len(places), bool)
        first[1:] = attributes[1:] != attributes[:-1]
        return places[first]

    # --- the search ---------------------------------------------------------------------------------------

    def at_random(self) -> DifferingTuple | None:
        """Along walks between random tuples."""
        n = len(self._sizes)
        order = self._rng.permutation(n)
        best = DeepestTuple()
        n_walks = max(8, min(MOST_WALKS, RANDOM_POINTS // (n + 1)))
        tuples = self._starts + self._rng.integers(self._sizes, size=(n_walks + 1, n))
        for walks, points in self._walks(list(pairwise(tuples)), order, list(range(self._n_classes))):
            for pair in [None] if self._labels else self._pairs:
                depth, place = points.deepest(pair)
                if depth > best.depth:
                    best = DeepestTuple(depth, self._met(walks, order, place))
        return self._proven(best)

    def of_pair(self, c: int, d: int) -> DifferingTuple | None:
        """Along walks between the tuples where two classes are farthest apart, in either viewset or both."""
        classes = list(range(self._n_classes)) if self._labels else [c, d]
        pair = None if self._labels else (0, 1)
        first, second = (c, d) if self._labels else (0, 1)
        best = DeepestTuple()
        for values in (*self._of_zeros(c, d), *self._of_zeros(d, c)):
            depth, _ = self._around(values, [], classes).deepest(pair)
            if depth > best.depth:
                best = DeepestTuple(depth, values)
        candidates = [best]
        lines = self._lines(c, d)
        if lines is None:
            return self._proven(*candidates)
        order = self._rng.permutation(len(self._sizes))
        best = DeepestTuple()
        unsure: list[DeepestTuple] = []  # as good as ties in both
        near = [
            DeepestTuple(),
            DeepestTuple(),
        ]  # to f = 0, seen from where f' would be; f' below and above x f
        for walks, points in self._walks(self._corners(lines, c, d), order, classes):
            depth, place = points.deepest(pair)
            if depth > best.depth:
                best = DeepestTuple(depth, self._met(walks, order, place))
            f, g = (logs[:, first] - logs[:, second] for logs in points.logs)
            unsure += [
                DeepestTuple(-math.inf, self._met(walks, order, place))
                for place in np.flatnonzero(
                    (np.abs(f) <= self._noise[0]) & (np.abs(g) <= self._noise[1])
                ).tolist()[:TRIES]
            ]
            off_the_line = g - lines.x * f
            nearness = np.abs(off_the_line) / (np.abs(f) + TINY)
            for sign, on_this_side in enumerate((off_the_line < 0, off_the_line > 0)):
                place = int(np.argmax(np.where(on_this_side, nearness, -1.0)))
                if on_this_side[place] and nearness[place] > near[sign].depth:
                    near[sign] = DeepestTuple(float(nearness[place]), self._met(walks, order, place))
        candidates.append(best)
        differing = self._proven(*candidates, *unsure[:TRIES])
        if differing is not None:
            return differing
        halves = self._halves(lines)
        return self._proven(
            *(
                self._of_box(near_one.values, halves, classes, first, second, pair)
                for near_one in near
                if near_one.values is not None
            )
        )

    def _of_box(
        self,
        values: Places,
        halves: tuple[Choices, Choices],
        classes: list[int],
        first: int,
        second: int,
        pair: ClassPair | None,
    ) -> DeepestTuple:
        """Of all choices around a tuple those that bring f nearest to 0: the halves meet in the middle."""
        a, b = (self._around(values, choices, classes) for choices in halves)
        here = self._around(values, [], classes)
        x = a.logs[0][:, first] - a.logs[0][:, second]
        u = b.logs[0][:, first] - b.logs[0][:, second]
        of_x = np.argsort(x)
        k = np.searchsorted(x[of_x], here.logs[0][0, first] - here.logs[0][0, second] - u, side="right")
        best = DeepestTuple()
        for beside in (-2, -1, 0, 1):
            j = np.flatnonzero((k + beside >= 0) & (k + beside < len(x)))
            if len(j) == 0:
                continue
            i = of_x[k[j] + beside]
            points = ScoredTuples(
                tuple(p[i] + q[j] - r for p, q, r in zip(a.logs, b.logs, here.logs, strict=True)),
                tuple(p[i] | q[j] for p, q in zip(a.zero, b.zero, strict=True)),
                self._noise,
            )
            depth, place = points.deepest(pair)
            if depth > best.depth:
                met = values.copy()
                for choices, index in zip(halves, (i[place], j[place]), strict=True):
                    codes = codes_of(int(index), [len(allowed) for _, allowed in choices])
                    for (attribute, allowed), code in zip(choices, codes, strict=True):
                        met[attribute] = allowed[code]
                best = DeepestTuple(depth, met)
        return best

    def _of_zeros(self, zero: int, other: int) -> Iterator[Places]:
        """Tuples where one viewset has X = 0 for a class and the other puts it highest above the other."""
        if len(self._sizes) == 0:
            return
        for view in range(2):
            is_zero, too = self._zero[view], self._zero[1 - view]
            logs = self._logs[1 - view]
            scores = logs[:, zero] - logs[:, other] + FAR * (too[:, other] - 1.0 * too[:, zero])
            # The other class is positive, or does not matter.
            for may in (~is_zero[:, other], np.ones(len(is_zero), bool)):
                if not (is_zero[:, zero] & may).any() or not np.logical_or.reduceat(may, self._starts).all():
                    continue
                values = self._highest(np.where(may, scores, -np.inf))
                of_zero = np.where(is_zero[:, zero] & may, scores, -np.inf)
                loss = scores[values] - np.maximum.reduceat(of_zero, self._starts)
                cheapest = int(np.argmin(loss))
                values[cheapest] = self._highest(of_zero)[cheapest]
                yield values

    def _lines(self, c: int, d: int) -> PairTerms | None:
        """Of f = ln X_c / X_d and f' - x f over the values where all four counts are positive."""
        if len(self._sizes) == 0 or any(base[c] or base[d] for base in self._base_zero):
            return None
        positive = ~(self._zero[0][:, [c, d]] | self._zero[1][:, [c, d]]).any(axis=1)
        count = np.add.reduceat(positive.astype(np.intp), self._starts)
        if (count == 0).any():
            return None
        f, g = (np.where(positive, logs[:, c] - logs[:, d], 0.0) for logs in self._logs)
        centred, centred_too = (
            np.where(positive, line - (np.add.reduceat(line, self._starts) / count)[self._attribute], 0.0)
            for line in (f, g)
        )
        size = float(np.dot(centred, centred))
        x = float(np.dot(centred, centred_too)) / size if size > 0 else 1.0
        return PairTerms(positive, f, g - x * f, x)

    def _corners(self, lines: PairTerms, c: int, d: int) -> list[Walk]:
        """From corner to corner of what (f, f' - x f) can be."""
        spans = [float(self._spans(lines, line).sum()) or 1.0 for line in (lines.f, lines.rest)]
        n_corners = max(8, min(16 if self._labels else 64, WALKED_VALUES // len(lines.f)))
        ways: list[Floats] = [np.zeros(len(lines.f))]
        if self._labels:  # the two classes should be above the others
            for logs in self._logs:
                way = logs[:, c] + logs[:, d] - 2 * logs.mean(axis=1)
                ways.append(2 * way / (float(self._spans(lines, way).sum()) or 1.0))
        walks = []
        for way in ways:
            corners: list[Places] = []
            for k in range(n_corners + 1):
                angle = 2 * math.pi * k / n_corners
                scores = math.cos(angle) * lines.f / spans[0] + math.sin(angle) * lines.rest / spans[1] + way
                corners.append(self._highest(np.where(lines.positive, scores, -np.inf)))
            walks += [walk for walk in pairwise(corners) if (walk[0] != walk[1]).any()] or [(corners[0],) * 2]
        return walks

    def _spans(self, lines: PairTerms, line: Floats) -> Floats:
        """For each attribute how far its values lie apart."""
        most = np.maximum.reduceat(np.where(lines.positive, line, -np.inf), self._starts)
        least = np.minimum.reduceat(np.where(lines.positive, line, np.inf), self._starts)
        spans: Floats = most - least
        return spans

    def _halves(self, lines: PairTerms) -> tuple[Choices, Choices]:
        """Attributes, each with its values, that change f but hardly f' - x f."""
        spans, moves = self._spans(lines, lines.rest), self._spans(lines, lines.f)
        halves: tuple[Choices, Choices] = [], []
        sizes = [1, 1]
        for attribute in np.argsort(spans, kind="stable").tolist():
            if moves[attribute] <= 0:
                continue
            start = int(self._starts[attribute])
            allowed = start + np.flatnonzero(lines.positive[start : start + int(self._sizes[attribute])])
            half = int(sizes[1] < sizes[0])
            if sizes[half] * len(allowed) > HALF_BOX:
                break
            sizes[half] *= len(allowed)
            halves[half].append((attribute, allowed))
        return halves

    def _proven(self, *candidates: DeepestTuple) -> DifferingTuple | None:
        """The first of these tuples, the deepest first, that differs indeed."""
        for candidate in sorted(candidates, key=lambda one: -one.depth):
            differing = None if candidate.values is None else self._compared(candidate.values)
            if differing is not None:
                return differing
        return None

    def _compared(self, values: Places) -> DifferingTuple | None:
        """The tuple, if it differs: exactly."""
        codes: list[int] = (values - self._starts).tolist()
        a, b = self._plain
        rows, rows_too = (
            [of_attribute[code] for of_attribute, code in zip(plain.rows, codes, strict=True)]
            for plain in self._plain
        )
        classes = differing_classes(rows, rows_too, a.of_class, b.of_class, labels=self._labels)
        return None if classes is None else DifferingTuple(codes, classes)


class DeepestTuple(NamedTuple):
    """A candidate, and how deep in the one or the other order it lies."""

    depth: float = -math.inf
    values: Places | None = None


class PairTerms(NamedTuple):
    """Two classes: terms of f and of f' - x f, one a value, where all counts are positive."""

    positive: Bools
    f: Floats
    rest: Floats
    x: float


def differing_classes(
    rows: list[list[int]],
    rows_too: list[list[int]],
    of_class: list[int],
    of_class_too: list[int],
    *,
    labels: bool,
) -> ClassPair | None:
    """The first comparison of two classes that differs, or both labels; None where they are alike: exactly.

    `rows` are the counts of the tuple's values in either viewset.
    """
    scores = TupleScores(rows, of_class), TupleScores(rows_too, of_class_too)
    if labels:
        best = scores[0].best(), scores[1].best()
        return None if best[0] == best[1] else best
    for c, d in combinations(range(len(of_class)), 2):
        if scores[0].above(c, d) != scores[1].above(c, d):
            return c, d
    return None


class TupleScores:
    """X_c = P_c^(1-n) prod N_c of one tuple, compared exactly: by logarithms where these are sure."""

    def __init__(self, rows: list[list[int]], of_class: list[int]) -> None:
        self._rows, self._of_class = rows, of_class
        self._n = len(rows)
        self._logs: list[Exact | None] = []  # None where X is 0
        self._error: Exact = 0
        with gmpy2.context(precision=SURE_BITS):
            for c, count in enumerate(of_class):
                if count == 0 or any(row[c] == 0 for row in rows):
                    self._logs.append(None)
                    continue
                up = sum((gmpy2.log(gmpy2.mpfr(row[c])) for row in rows), gmpy2.mpfr(0))
                down = abs(self._n - 1) * gmpy2.log(gmpy2.mpfr(count))
                self._logs.append(up - down if self._n else down)
                # At most n + 4 roundings of numbers that are not above this sum.
                size = (self._n + 8) * (up + down + 1)
                self._error = max(self._error, gmpy2.mul_2exp(size, 2 - SURE_BITS))

    def above(self, c: int, d: int) -> bool:
        """Whether X_c > X_d."""
        x, y = self._logs[c], self._logs[d]
        if x is None or y is None:
            return x is not None
        with gmpy2.context(precision=SURE_BITS):
            gap = x - y
            if abs(gap) > 4 * self._error:
                return bool(gap > 0)
        up, down = (product(row[k] for row in self._rows) for k in (c, d))
        p, q = gmpy2.mpz(self._of_class[c]), gmpy2.mpz(self._of_class[d])
        if self._n == 0:
            return bool(p > q)
        return bool(up * q ** (self._n - 1) > down * p ** (self._n - 1))

    def best(self) -> int:
        """The class of largest X, of several the last."""
        best = 0
        for c in range(1, len(self._of_class)):
            if not self.above(best, c):
                best = c
        return best


def _logs(numbers: Array) -> Floats:
    """As floats, nearly."""
    if numbers.dtype.kind == "O":
        return logarithms(numbers)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(numbers.astype(np.float64))
    return logs
