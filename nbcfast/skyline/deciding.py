"""The worst breach of a point from `Statistics`: by floats where they are sure, else by integers.

For a group with c people of value s among n, N = n - c, and W as in `Statistics`:

    CF1 = (W - k) / c * F(N - 1 - k)        everybody in one group
    CF2 = (W - k) / c,  CF3 = F(N)          target and k people; m people
    CF4 = W / c,        CF5 = F(N - k)      target; k and m people
    F(N) = prod_{i<m} (N - i) / (N + c - i)

The odds of the worst attack are the least of min CF1, min CF2 min CF3 and min CF4 min CF5, minima over the
groups with the same s; the breach is 1 / (1 + odds). Section 4 of docs/mathematics/skyline.md (#skyline-4)
proves that, and section 5 (#skyline-5) bounds every float and says in which order a verdict is looked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import gmpy2
import numpy as np

from nbcfast import _skyline
from nbcfast._core.dtypes import Floats, Longs
from nbcfast._core.numbers import ROUND_OFF
from nbcfast._core.untyped import Exact
from nbcfast._wire.falling_products import Least
from nbcfast.groups.scanning import MOST_PEOPLE

if TYPE_CHECKING:
    from nbcfast.skyline.statistics import Statistics


MOST = MOST_PEOPLE  # more pieces of knowledge than people of a group: sums of two stay within 63 bits
FEW = 20_000  # pieces of knowledge whose factors are multiplied out to choose among attacks that seem alike
BAND = 1e-9  # a probability this near to the confidence is compared by integers
MULTIPLIED = 1 << 14  # factors that kernels multiply one by one; of more they add up logarithms, to 2^-36
MOST_BOUNDS = 20_000  # products that are bounded to 192 digits; with more left open groups are unsafe
WRITTEN = 1 << 20  # factors of a breach that is given as a Fraction
TIE = 1e-8  # odds as floats that are within this of each other may really be in the other order
TINY = 1e-270  # odds below are all looked at by rationals: such floats lose digits


@dataclass(frozen=True)
class LeastOdds:
    """The least odds of a point, and the entries of the tables that attain them.

    `t` is an entry of MO in case 1 and of TW else, `v` one of VN; `value` is -1 in case 1, where it is that
    of the group's mode.
    """

    odds: float
    case: int
    value: int
    t: int
    v: int
    certain: bool
    exact: Exact = None  # the odds as an mpq, where they were computed


def worst(statistics: Statistics, l: int, k: int, m: int, *, exact: bool = False) -> LeastOdds:
    """The worst attack; ties go to the lowest case, then to the first value and the first entry."""
    kernel = statistics.of(l)[0]
    k, m = min(k, MOST), min(m, MOST)
    odds, case, value, t, v, ambiguous, certain = kernel.breach(k, m)
    if certain:
        return LeastOdds(0.0, case, value, t, v, True, gmpy2.mpq(0))
    if exact and min(m, int(statistics.of(l)[3][2].max())) > WRITTEN:
        raise ValueError(f"exact: a breach of more than {WRITTEN:,} factors is too long, got m = {m:,}")
    # Of attacks that floats cannot tell apart integers find the worst, unless these would be enormous. It
    # only decides which attack is told: no verdict depends on it.
    if exact or (ambiguous and m <= FEW):
        return exactly(statistics, l, k, m)
    return LeastOdds(odds, case, value, t, v, False)


def is_safe(statistics: Statistics, l: int, k: int, m: int, confidence: Fraction) -> bool:
    """Whether the breach is below the confidence."""
    kernel, _, _, mo = statistics.of(l)
    k, m = min(k, MOST), min(m, MOST)
    if confidence == 1:  # integers alone: odds below the least float are not 0 (Statement 4.3)
        _, w, _, n = mo
        return not bool(((k >= w) | ((m > 0) & (k + m >= n))).any())
    unsafe_from = float(confidence) + 2 * band_of(m)
    # Odds that are certainly too small: products are not worked out below.
    enough = (1 - unsafe_from) / unsafe_from if unsafe_from < 1 else 0.0
    odds, _, _, _, _, _, certain = kernel.breach(k, m, enough)
    return verdict(statistics, l, k, m, confidence, odds, certain)


def verdict(
    statistics: Statistics, l: int, k: int, m: int, confidence: Fraction, odds: float, certain: bool
) -> bool:
    """Whether these odds, as floats have them, are safe; integers decide what floats cannot."""
    if certain:
        return False
    if confidence == 1:
        return True
    breach = 1 / (1 + odds)
    if abs(breach - float(confidence)) > band_of(m):
        return breach < confidence
    k, m = min(k, MOST), min(m, MOST)
    if m > FEW:
        return _by_bounds(statistics, l, k, m, confidence)
    return is_breach_below(exactly(statistics, l, k, m).exact, confidence)


def _by_bounds(statistics: Statistics, l: int, k: int, m: int, confidence: Fraction) -> bool:
    """Whether the breach is below the confidence, by bounds to 192 digits, where integers would be enormous.

    What the bounds leave open is unsafe: `nbcfast.verify` decides alike, and nobody waits for millions of
    factors.
    """
    limit = (1 - confidence) / confidence
    _, vn, tw, mo = statistics.of(l)
    near = float(limit) * (1 + TIE)
    least = Least(limit, m)
    falls = _Falls(m)
    a, w, c, n = mo
    for t in np.flatnonzero((w - k) / a * falls.floats(n - 1 - k, c) <= near).tolist():
        least.take(Fraction(int(w[t]) - k, int(a[t])), int(n[t]) - 1 - k, int(c[t]))
    first, last = _parts(tw[0]), _parts(vn[0])  # the values of both are those that occur
    seen: set[tuple[Fraction, int, int]] = set()  # values that are alike
    for of_t, of_v in ((k, 0), (0, k))[: 2 if k else 1]:
        lefts = np.minimum.reduceat((tw[2] - of_t) / tw[1], first[:-1])
        others = falls.floats(vn[2] - of_v, vn[1])
        values = np.repeat(np.arange(len(lefts)), np.diff(last))
        places = np.flatnonzero(lefts[values] * others <= near)
        for value in np.unique(values[places]).tolist():
            of_value = slice(first[value], first[value + 1])
            pairs = zip(tw[2, of_value].tolist(), tw[1, of_value].tolist(), strict=True)
            left = min(Fraction(w - of_t, c) for w, c in pairs)
            for v in places[values[places] == value].tolist():
                odds = left, int(vn[2, v]) - of_v, int(vn[1, v])
                if odds not in seen:
                    if len(seen) >= MOST_BOUNDS:
                        return False
                    seen.add(odds)
                    least.take(*odds)
    return least.above and not least.close


def is_breach_below(odds: Exact, confidence: Fraction) -> bool:
    """Whether 1 / (1 + odds) is below the confidence."""
    numerator, denominator = confidence.numerator, confidence.denominator
    return bool(odds.numerator * numerator > odds.denominator * (denominator - numerator))


def band_of(m: int) -> float:
    """How far from the confidence a breach must be for floats to decide."""
    # A product of 2 m + 3 rounded operations is off by 2 m + 4 ROUND_OFF at most, the probability by less.
    return max(BAND, (4.0 * min(m, MULTIPLIED) + 32) * ROUND_OFF)


class OddsSoFar(NamedTuple):
    """The least exact odds so far, with what attains them, as in `LeastOdds`."""

    odds: Exact
    case: int
    value: int
    t: int
    v: int


def exactly(statistics: Statistics, l: int, k: int, m: int) -> LeastOdds:
    """The worst attack by rationals: floats only leave out what cannot be the least."""
    _, vn, tw, mo = statistics.of(l)
    a, w, c, n = mo
    zero = np.flatnonzero((k >= w) | ((m > 0) & (k + m >= n)))  # Statement 4.3: the value is certain
    if len(zero):
        return LeastOdds(0.0, 1, -1, int(zero[0]), -1, True, gmpy2.mpq(0))
    falls = _Falls(m)
    best: OddsSoFar | None = None
    near = (w - k) / a * falls.floats(n - 1 - k, c)
    for t in _least(near):
        odds = gmpy2.mpq(int(w[t]) - k, int(a[t])) * falls.exact(int(n[t]) - 1 - k, int(c[t]))
        if best is None or odds < best.odds:
            best = OddsSoFar(odds, 1, -1, t, -1)
    assert best is not None
    if m > 0:
        cases = [(2, k, 0)] if k == 0 else [(2, k, 0), (3, 0, k)]
        for case, of_t, of_v in cases:
            best = _paired(best, case, tw, vn, of_t, of_v, falls)
    odds, case, value, t, v = best
    return LeastOdds(float(odds), case, value, t, v, False, odds)


def _paired(
    best: OddsSoFar, case: int, tw: Longs, vn: Longs, of_t: int, of_v: int, falls: _Falls
) -> OddsSoFar:
    """The least of min (W - of_t) / c * min F(N - of_v) over the values, if it is less than `best`."""
    first, last = _parts(tw[0]), _parts(vn[0])  # the values of both are those that occur
    lefts = (tw[2] - of_t) / tw[1]
    others = falls.floats(vn[2] - of_v, vn[1])
    products = np.minimum.reduceat(lefts, first[:-1]) * np.minimum.reduceat(others, last[:-1])
    seen: set[tuple[bytes, bytes]] = set()
    for place in _least(products, float(best.odds)):
        t_part, v_part = slice(first[place], first[place + 1]), slice(last[place], last[place + 1])
        key = (tw[1:, t_part].tobytes(), vn[1:, v_part].tobytes())
        if key not in seen:  # values that are alike, as in uniform groups, are worked out once
            exact_lefts = [
                (gmpy2.mpq(int(tw[2, t]) - of_t, int(tw[1, t])), t)
                for t in (first[place] + _least(lefts[t_part])).tolist()
            ]
            exact_others = [
                (falls.exact(int(vn[2, v]) - of_v, int(vn[1, v])), v)
                for v in (last[place] + _least(others[v_part])).tolist()
            ]
            seen.add(key)
            (left, t), (other, v) = min(exact_lefts), min(exact_others)
            if left * other < best.odds:
                best = OddsSoFar(left * other, case, int(tw[0, t]), t, v)
    return best


class _Falls:
    """F(N) = prod_{i<m} (N - i) / (N + c - i) for one m: as floats of many, and as quotients."""

    def __init__(self, m: int) -> None:
        self.m = m
        self._quotients: dict[tuple[int, int], Exact] = {}

    def floats(self, n: Longs, c: Longs) -> Floats:
        out = np.empty(len(n))
        _skyline.falls(np.ascontiguousarray(n), np.ascontiguousarray(c), self.m, out)
        return out

    def exact(self, n: int, c: int) -> Exact:
        key = (n, c)
        if key not in self._quotients:
            m = self.m
            if m == 0:
                pair = (1, 1)
            elif m > n:
                pair = (0, 1)
            elif m <= c:
                pair = (math.perm(n, m), math.perm(n + c, m))
            else:  # the same with c factors
                pair = (math.perm(n - m + c, c), math.perm(n + c, c))
            self._quotients[key] = gmpy2.mpq(*pair)
        return self._quotients[key]


def _parts(values: Longs) -> Longs:
    """Where each value starts in a sorted array, and its end."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.append(starts, len(values))


def _least(numbers: Floats, bound: float = math.inf) -> Longs:
    """Positions that may be the least, or below the bound: floats lose digits where they are tiny."""
    limit = min(float(numbers.min()), bound)
    return np.flatnonzero(numbers <= max(limit * (1 + TIE), TINY))
