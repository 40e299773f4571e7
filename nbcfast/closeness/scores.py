"""What EST has to know of the scores: for two classes the largest X_c / X_d, the least above 1, and ties.

What each of these decides is proved in docs/mathematics/safety.md, section h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Int32s, Longs, Places
from nbcfast._core.untyped import Exact
from nbcfast._halves.codes import tuple_of
from nbcfast._halves.lines import Line
from nbcfast._halves.split import MOST_HALF, MOST_WORK, split
from nbcfast._halves.terms import FixedLogs, Plain, Term
from nbcfast.equivalence.margins import bound
from nbcfast.equivalence.results import ClassPair
from nbcfast.transform.powers import Power
from nbcfast.transform.zeros import Filled, largest_score_ratio

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_EXACT = 100_000  # tuples that fixed point cannot tell from the nearest
ONE = Power(0, gmpy2.mpq(1))

LogBounds = tuple[Exact, Exact]  # two mpq, below and above a logarithm


class NearestAbove(NamedTuple):
    """The tuples where both classes are positive.

    `above` is the least X_c / X_d above 1 (None where there is none), `tied` whether X_c = X_d anywhere.
    Where it is not `exact`, `above` is a bound that it is not below, and `tied` may be true without need.
    """

    above: Term | None
    tied: bool
    exact: bool


class ScoreRatios:
    """Ratios of scores after Step 1, each found when it is first asked for."""

    def __init__(
        self,
        filled: Filled,
        numbers: tuple[int, ...],
        progress: Progress | None = None,
        most: float = math.inf,
    ) -> None:
        self.filled, self.numbers, self.progress = filled, numbers, progress
        self._met = filled.views.n_tuples <= most
        self.n_classes = filled.flat.n_classes
        self.pairs = [(c, d) for c in range(self.n_classes) for d in range(self.n_classes) if c != d]
        self._plain, self._logs = Plain.of(filled.views), FixedLogs()
        self._nearest_above: dict[ClassPair, NearestAbove] = {}

    @cached_property
    def largest(self) -> dict[ClassPair, Power]:
        """The largest X_c / X_d of every ordered pair, zeros replaced."""
        return {pair: largest_score_ratio(self.filled, *pair) for pair in self.pairs}

    def inverted(self, pair: ClassPair) -> bool:
        """Whether the first class has the smaller prior, and a larger score somewhere."""
        return self.numbers[pair[0]] < self.numbers[pair[1]] and self.largest[pair] > ONE

    @cached_property
    def inversions(self) -> list[ClassPair]:
        return [pair for pair in self.pairs if self.inverted(pair)]

    def nearest_above(self, pair: ClassPair) -> NearestAbove:
        if pair not in self._nearest_above:
            self._nearest_above[pair] = self._searched(*pair)
            if self.progress is not None:
                self.progress(len(self._nearest_above), len(self.pairs))
        return self._nearest_above[pair]

    @cached_property
    def wrong_ties(self) -> bool:
        """Whether some class ties with a later one of smaller prior: any y > 0 would lift it above."""
        return any(
            self.nearest_above((d, c)).tied
            for c, d in self.pairs
            if c < d and self.numbers[c] > self.numbers[d]
        )

    @cached_property
    def exact(self) -> bool:
        """Whether all margins found so far are true ones."""
        return all(side.exact for side in self._nearest_above.values())

    def least(self, pair: ClassPair) -> Term:
        """S(c, d): the least X_c / X_d above 1, for a pair where there is one.

        A comparison in which a replaced zero takes part counts with 2^guard, which it is at least.
        """
        above, cap = self.nearest_above(pair).above, None
        if self.filled.flat.zero[:, list(pair)].any():
            cap = Term(0, 1 << self.filled.guard, 1)
            # For preserve="label" scores of zero may be compared at less than the guard, and need not be.
            largest = self.largest[pair]
            if largest < Power(self.filled.guard, gmpy2.mpq(1)):
                ratio = largest.mantissa * (1 << largest.exponent)
                cap = Term(0, int(ratio.numerator), int(ratio.denominator))
        if above is None or (cap is not None and cap.up * above.down < above.up * cap.down):
            above = cap
        if above is None:
            raise ValueError(f"pair must be of a class that is above the other somewhere, got {pair}")
        return above

    def _searched(self, c: int, d: int) -> NearestAbove:
        plain = self._plain
        base = plain.base(c, d)
        terms = []
        for rows in plain.rows:
            distinct = dict.fromkeys(Term.of(row[c], row[d]) for row in rows)
            kept = [term for term in distinct if not term.mark]
            if not kept:
                return NearestAbove(None, False, True)
            terms.append(kept)
        sizes = [len(of_attribute) for of_attribute in terms]
        parts = split(sizes, MOST_HALF, MOST_WORK) if self._met else None
        side = None if parts is None else _met(Line(base, terms, parts, self._logs))
        return self._bounded if side is None else side

    @cached_property
    def _bounded(self) -> NearestAbove:
        """What holds for every pair of classes, where the domain is too large to know more."""
        least = bound(self.filled.views)
        if least.log == math.inf:
            return NearestAbove(None, True, False)
        # exp(log) > 1 + log; a logarithm too small for a float is known by its own.
        log = Fraction(least.log) if least.log > 1e-290 else Fraction(1, 1 << -math.floor(least.log2))
        ratio = 1 + log * (1 - Fraction(1, 1 << 40))
        return NearestAbove(Term(0, ratio.numerator, ratio.denominator), True, False)

    # Logarithms, as intervals of rationals ----------------------------------------------------------------

    def log_prior(self, pair: ClassPair, bits: int) -> LogBounds:
        """The prior's g = ln(F_c / F_d)."""
        c, d = pair
        return log_bounds(gmpy2.mpq(self.numbers[c], self.numbers[d]), 0, bits)

    def log_largest(self, pair: ClassPair, bits: int) -> LogBounds:
        """D."""
        largest = self.largest[pair]
        return log_bounds(largest.mantissa, largest.exponent, bits)

    def log_least(self, pair: ClassPair, bits: int) -> LogBounds:
        least = self.least(pair)
        return log_bounds(gmpy2.mpq(least.up, least.down), 0, bits)

    def slope(self, bits: int) -> LogBounds | None:
        """m: the order stays where y < m x; None where nothing limits y, 0 where only y = 0 will do."""
        if self.wrong_ties:
            return gmpy2.mpq(0), gmpy2.mpq(0)
        ends = []
        for pair in self.inversions:
            low, high = self.log_least(pair, bits)
            small, large = self.log_prior((pair[1], pair[0]), bits)
            ends.append((low / large, high / small))
        if not ends:
            return None
        return min(low for low, _ in ends), min(high for _, high in ends)


def _met(line: Line) -> NearestAbove | None:
    """By meeting in the middle: for each sum of one half the nearest of the other on either side of a tie.

    None where more tuples than are compared exactly are as near as fixed point can tell.
    """
    parts = line.parts
    x, x_order = line.list_a()
    u, u_order = line.list_b()
    lists = line.lists_of(x, x_order, u, u_order)
    of_index = np.empty_like(x)
    of_index[x_order] = x
    best: Term | None = None
    tied, nearest = False, np.iinfo(np.int64).max
    for codes in line.blocks():
        above = line.thresholds(lists, codes)
        sums = of_index + (line.shift_at(codes) + line.base)
        if not tied:
            rows = np.flatnonzero(above > 0)
            rows = rows[sums[rows] + u[above[rows] - 1] >= -line.error]
            some = rows[:MOST_EXACT]
            tied = any(term.up == term.down for term in _terms(line, codes, some, u_order[above[some] - 1]))
            if not tied and len(rows) > len(some):
                return None
        rows = np.flatnonzero(above < parts.m)
        if not len(rows):
            continue
        values = sums[rows] + u[above[rows]]
        nearest = min(nearest, int(values.min()))
        rows = rows[values <= nearest + 2 * line.error]
        if len(rows) > MOST_EXACT:
            return None
        for term in _terms(line, codes, rows, u_order[above[rows]]):
            if best is None or term.up * best.down < best.up * term.down:
                best = term
    return NearestAbove(best, tied, True)


def _terms(line: Line, codes: tuple[int, ...], rows: Longs | Places, others: Int32s) -> Iterator[Term]:
    """X_c / X_d at these pairs of halves."""
    sizes = [len(of_attribute) for of_attribute in line.terms]
    for i, j in zip(rows.tolist(), others.tolist(), strict=True):
        yield line.term(tuple_of(line.parts, sizes, codes, i, j))


def log_bounds(number: Exact, exponent: int, bits: int) -> LogBounds:
    """Lower and upper bound of ln(number 2^exponent), to about so many bits after the point."""
    if number == 1 and exponent == 0:
        return gmpy2.mpq(0), gmpy2.mpq(0)
    precision = bits + 64 + exponent.bit_length()
    with gmpy2.context(precision=precision):
        near = exponent == 0 and abs(number - 1) < gmpy2.mpq(1, 4)
        value = gmpy2.log1p(gmpy2.mpfr(number - 1)) if near else gmpy2.log(gmpy2.mpfr(number))
        value += gmpy2.const_log2() * exponent
        # A few roundings, of numbers that are at most `exponent` and a little.
        size = abs(value) if near else max(1, abs(value))
        error = gmpy2.exp2(9 + exponent.bit_length() - precision) * size
        low, high = value - error, value + error
        return gmpy2.mpq(low), gmpy2.mpq(high)
