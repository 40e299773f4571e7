"""The cross-ratio attack: quotients of quotients of published counts that are powers of small rationals.

The gauge multiplies all counts of a value by the same number, which hides columns. What is left of them are
cross ratios (N_c(t) N_d(t')) / (N_d(t) N_c(t')), rationals of small numbers among small counts, raised to
1/k: of all k that SafetyTransform uses one is looked for with which too many fall on such rationals
(docs/mathematics/safety.md, section m).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast.attack.inversion import (
    BLOCK,
    CONVINCED,
    NOTHING,
    Allowance,
    Guesses,
    Inversion,
    errors_of,
)
from nbcfast.views import Viewset
from nbcfast.views.integers import logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

PairPlace = tuple[str, tuple[int, int]]  # of a pair of columns: their attribute and both classes

MOST_ODDS = 16  # pairs of columns that k is looked for in
RATIONALS = 12  # cross ratios are looked for among quotients of numbers up to this
SMALL = 40  # then counts up to this
MOST_PAIRS = 12_000  # of values of the attributes, for all pairs of classes together
MOST_CLASS_PAIRS = 10  # beyond, only neighbouring classes are paired
CHANCE = 0.02  # of a hit: pairs that hit more often by chance say little
FEW_PAIRS = 20
DENSITY = 10.0  # of the logarithms of small rationals, at the least
CROSS_EVIDENCE = (
    150.0  # nats of all pairs together: they share values, so that chance reaches more than CONVINCED
)
COPRIME = 6 / math.pi**2  # the share of pairs of numbers that are in lowest terms


def _quotients(most: int, *, both: bool) -> tuple[Floats, Longs]:
    """Logarithms of quotients in lowest terms of numbers up to `most`, rising, and the numbers."""
    quotients = [
        (math.log(u / v), u, v)
        for u in range(1, most + 1)
        for v in range(1, most + 1)
        if math.gcd(u, v) == 1 and (both or u > v)
    ]
    quotients.sort()
    return np.array([x for x, _, _ in quotients]), np.array([(u, v) for _, u, v in quotients], np.int64)


def _nearest(sorted_values: Floats, x: Floats) -> Longs:
    """Where the nearest of the sorted values stands."""
    after = np.clip(np.searchsorted(sorted_values, x), 1, len(sorted_values) - 1)
    nearer = x - sorted_values[after - 1] < sorted_values[after] - x
    result: Longs = after - nearer
    return result


class ColumnPair:
    """ln of the odds of two published columns, value by value, and the differences of pairs of them."""

    def __init__(self, logs: Floats, classes: tuple[int, int], most_pairs: int) -> None:
        both = logs[:, classes]
        self.rows = np.flatnonzero(np.isfinite(both).all(axis=1))
        levels, first, self.level, times = np.unique(
            both[self.rows], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        z, sd = levels[:, 0] - levels[:, 1], np.hypot(*errors_of(levels).T)
        self.z, self.sd, self.first, self.times = z, sd, first, times
        if len(self.rows) * (len(self.rows) - 1) // 2 <= most_pairs:
            z, sd = z[self.level], sd[self.level]  # of many values each level counts once
        i, j = _some_pairs(len(z), most_pairs)
        size, sd = np.abs(z[i] - z[j]), np.hypot(sd[i], sd[j])
        apart = size > 5 * sd  # equal levels are equal for every k
        self.size, self.pair_sd = size[apart], sd[apart]
        # From here on fewer than FEW_PAIRS pairs could be told from chance.
        few = np.sort(self.pair_sd)[FEW_PAIRS - 1] if len(self.size) >= FEW_PAIRS else math.inf
        self.most_k = CHANCE / (6 * DENSITY * float(few))


def _some_pairs(n: int, most: int) -> tuple[Longs, Longs]:
    """Pairs i < j of n things, evenly from all of them: none of the others is ever made."""
    number = n * (n - 1) // 2
    places = np.arange(0, number, max(1, -(-number // most)))
    starts = np.cumsum(np.arange(n - 1, 0, -1)) - np.arange(n - 1, 0, -1)  # where the pairs of each i begin
    i = np.searchsorted(starts, places, side="right") - 1
    return i, places - starts[i] + i + 1


def _ks() -> Iterator[float]:
    """The exponents that SafetyTransform uses, up to 4,000."""
    yield from (i / 64 for i in range(65, 64 * 64))
    yield from (float(k) for k in range(64, 4001))


def _hits(odds: ColumnPair, k: float, table: Floats) -> tuple[int, float]:
    """How many pairs fall on small rationals, and how many would by chance."""
    x = k * odds.size
    tolerance = 3 * k * odds.pair_sd
    inside = (x > table[0] - 0.01) & (x < table[-1] + 0.01)
    x, tolerance = x[inside], tolerance[inside]
    if len(x) < FEW_PAIRS:
        return 0, 0.0
    density = (np.searchsorted(table, x + 0.3) - np.searchsorted(table, x - 0.3)) / 0.6
    chance = 2 * tolerance * density
    clear = chance < CHANCE
    if clear.sum() < FEW_PAIRS:
        return 0, 0.0
    x, tolerance = x[clear], tolerance[clear]
    hits = np.abs(table[_nearest(table, x)] - x) < tolerance
    return int(hits.sum()), float(chance[clear].sum())


def cross_ratio_attack(views: Viewset, ledger: Allowance, progress: Progress | None) -> Inversion | None:
    """The counts that cross ratios give away; None where nothing convinces."""
    odds = _odds_of(views)
    tellers = sorted(odds.values(), key=lambda pair: -len(pair.size))[:MOST_ODDS]
    most_k = max((pair.most_k for pair in tellers), default=0.0)
    ks = [k for k in _ks() if k <= most_k]
    if not ks:
        return None
    ledger.tried.append("cross-ratio")
    if len(tellers) < len(odds):
        ledger.untried.append(
            f"cross ratios were looked for in {len(tellers):,} of {len(odds):,} pairs of columns"
        )
    evidence, k = _best_k(tellers, ks, progress)
    if evidence < CROSS_EVIDENCE:
        return None
    # Pairs share values, so their hits are not independent: the square root is kept of what they say.
    confidence = -math.expm1(math.log(len(ks)) - 2 * math.sqrt(evidence))
    reconstructions, starts, all_starts = [], 0, 0
    for done, (place, pair) in enumerate(odds.items()):
        reconstruction, tried, possible = _reconstructed(pair, k, ledger.work // len(odds))
        reconstructions.append((place, reconstruction))
        starts += tried
        all_starts += possible
        if progress is not None:
            progress(len(ks) + len(ks) * done // len(odds), 2 * len(ks))
    if starts < all_starts:
        ledger.untried.append(
            f"{starts:,} of {all_starts:,} starting points of the reconstruction were tried"
        )
    guesses = Guesses(views)
    # A value is in several pairs of classes: what is surest speaks first, and is not overwritten.
    for place, reconstruction in sorted(reconstructions, key=lambda entry: -entry[1].gain):
        if reconstruction.gain >= CONVINCED:
            _note(guesses, place, odds[place].rows, reconstruction, confidence)
    return guesses.inversion("cross-ratio", k, confidence, evidence)


def _odds_of(views: Viewset) -> dict[PairPlace, ColumnPair]:
    """The pairs of columns of each attribute that have enough to look at."""
    n_classes = len(views.classes)
    pairs = [(c, d) for c in range(n_classes) for d in range(c + 1, n_classes)]
    if len(pairs) > MOST_CLASS_PAIRS:
        pairs = [(c, c + 1) for c in range(n_classes - 1)]
    most = max(200, MOST_PAIRS // max(1, len(pairs) * len(views.attributes)))
    logs = {name: logarithms(array) for name, array in views.counts.items()}
    odds = {(name, pair): ColumnPair(array, pair, most) for name, array in logs.items() for pair in pairs}
    return {place: pair for place, pair in odds.items() if len(pair.size) >= FEW_PAIRS}


def _best_k(tellers: list[ColumnPair], ks: list[float], progress: Progress | None) -> tuple[float, float]:
    """The nats by which the best k explains these, and that k."""
    table, _ = _quotients(RATIONALS, both=False)
    best, best_k = 0.0, 0.0
    for done, k in enumerate(ks):
        total = 0.0
        for pair in tellers:
            if k > pair.most_k:
                continue
            hits, chance = _hits(pair, k, table)
            if hits > 10 * chance + 10:
                total += hits * math.log(hits / max(chance, 0.1)) - hits
        if total > best:
            best, best_k = total, k
        if progress is not None and done % 64 == 0:
            progress(done, 2 * len(ks))
    return best, best_k


def _note(
    guesses: Guesses, place: PairPlace, rows: Longs, reconstruction: Reconstruction, confidence: float
) -> None:
    """Take over the counts of a pair of columns of which nothing is said yet."""
    name, pair = place
    both = np.array(pair)
    numbers = reconstruction.numbers
    is_free = (guesses.counts[name][np.ix_(rows, both)] == NOTHING).all(axis=1) & (numbers[:, 0] > 0)
    guesses.counts[name][np.ix_(rows[is_free], both)] = numbers[is_free]
    guesses.certainty[name][np.ix_(rows[is_free], both)] = (
        confidence * reconstruction.sure[is_free, np.newaxis]
    )


class Reconstruction(NamedTuple):
    """The nats for all, and of each value the counts in two columns and how sure they are if k is right."""

    gain: float
    numbers: Longs
    sure: Floats


def _reconstructed(odds: ColumnPair, k: float, work: int) -> tuple[Reconstruction, int, int]:
    """Pairs of counts in lowest terms: the constant for which most values have small ones.

    The prior of a count n is 1 / (n (n + 1)). Also how many constants were tried, for which `work` numbers
    were looked up, and how many there are: one for each level as each pair of the smallest counts. Those of
    the levels that most values have come first.
    """
    table, numbers = _quotients(SMALL, both=True)
    log_prior = -np.log(numbers * (numbers + 1)).sum(axis=1)
    x, sd = k * odds.z, np.maximum(k * odds.sd, 1e-12)
    anchors = table[(numbers <= 8).all(axis=1)]
    most = max(1, work // len(x))
    order = np.lexsort((odds.first, -odds.times))[: -(-most // len(anchors))]
    constants = (x[order, np.newaxis] - anchors).ravel()[:most]
    alike = np.rint(odds.z / (6 * odds.sd.max()))
    levels = np.unique(alike, return_index=True)[1]
    precision = np.zeros(len(x))
    precision[levels] = np.log(8 / (6 * sd[levels]))  # equal levels say it once
    best, chosen = -math.inf, 0.0
    step = max(1, BLOCK // len(x))
    for start in range(0, len(constants), step):
        some = constants[start : start + step]
        shifted = x - some[:, np.newaxis]
        places = _nearest(table, shifted)
        near = np.abs(table[places] - shifted) < 3 * sd
        worth = np.where(near, odds.times * log_prior[places] + precision, 0.0).sum(axis=1)
        if worth.max() > best:
            best, chosen = float(worth.max()), float(some[worth.argmax()])
    places = _nearest(table, x - chosen)
    near = np.abs(table[places] - (x - chosen)) < 3 * sd
    odds_of_chance = np.exp(-np.minimum(log_prior[places] + np.log(8 / (6 * sd)), 50))
    result = np.where(near[:, np.newaxis], numbers[places], NOTHING)[odds.level]
    sure = np.where(near, COPRIME / (1 + odds_of_chance), 0.0)[odds.level]
    gain = best - math.log(len(constants))
    return Reconstruction(gain, result, sure), len(constants), len(x) * len(anchors)
