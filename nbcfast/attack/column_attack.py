"""The column attack: levels of a column taken for small integers, which gives k, and with it all of them.

Within a column of a release that SafetyTransform made without its gauge, ln q = a + ln N / k. Two low levels
taken for two small integers give k and a; where that is right, the other levels fall on integers too
(docs/mathematics/safety.md, section m).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Counts, Floats
from nbcfast.attack.inversion import BLOCK, CONVINCED, Allowance, Guesses, Inversion, errors_of
from nbcfast.views import Viewset
from nbcfast.views.integers import logarithms

ColumnPlace = tuple[str, int]  # of a column: its attribute and class

SAME = 2  # rows within which published counts are one level
LOW_LEVELS = 18  # of a column, tried as small integers
ANCHORS = 12  # a level is tried as each of 1 .. ANCHORS
READABLE = 0.25  # standard deviation of a count up to which it tells integers from other numbers
OUTLIERS = 0.02  # share of readable levels that fit no integer
KEPT = 30  # hypotheses of a column that are refined
KEPT_KS = 4  # of all columns
MOST_COLUMNS = 60  # that k is looked for in, those with the most levels
MOST_LEVELS = 1_000  # of a column, the lowest: more prove nothing further about k
MOST_POWER = 50.0  # logarithm of the largest count looked at

CONVINCING = 3.0  # nats of a column above what chance gives it
FITTED = 5.8  # nats that a level has at most, also where a parameter was fitted to it


class Exponent(NamedTuple):
    """A k, and the nats by which it explains columns."""

    evidence: float
    k: float


class Fit(NamedTuple):
    """The a of a column for a k, and the nats by which both explain its levels."""

    a: float
    evidence: float


class PublishedColumn:
    """A published column: the logarithms of its counts, and its distinct levels, lowest first."""

    def __init__(self, counts: Counts) -> None:
        self.logs = logarithms(counts)
        self.error = errors_of(self.logs)
        levels: list[int] = []
        for number in sorted(set(counts.tolist())):
            if number > 0 and (not levels or number - levels[-1] > SAME):
                levels.append(number)
        array = np.empty(min(len(levels), MOST_LEVELS), object)
        array[:] = levels[:MOST_LEVELS]
        self.level_logs = logarithms(array)
        self.level_error = errors_of(self.level_logs)


def _counts_at(logs: Floats, errors: Floats, k: Floats | float, a: Floats | float) -> tuple[Floats, Floats]:
    """What the counts would be, and their standard deviations, where ln q = a + ln N / k."""
    numbers = np.exp(np.minimum((logs - a) * k, MOST_POWER))
    return numbers, np.maximum(numbers * k * errors, 1e-3)


def _evidence(column: PublishedColumn, k: Floats, a: Floats) -> Floats:
    """Nats by which each hypothesis (k, a), columns of shape (n, 1), explains the levels as integers."""
    step = max(1, BLOCK // len(column.level_logs))
    parts = [_evidence_of(column, k[i : i + step], a[i : i + step]) for i in range(0, len(k), step)]
    return np.concatenate(parts)


def _evidence_of(column: PublishedColumn, k: Floats, a: Floats) -> Floats:
    numbers, sd = _counts_at(column.level_logs, column.level_error, k, a)
    whole = np.rint(numbers)
    z = (numbers - whole) / sd
    root = math.sqrt(2 * math.pi)
    near = 0.8 * np.exp(-z * z / 2) / (sd * root) + (0.2 - OUTLIERS) * np.exp(-z * z / 18) / (3 * sd * root)
    readable = (numbers > 0.5) & (sd < READABLE)
    readable[:, 1:] &= whole[:, 1:] != whole[:, :-1]  # different levels are different counts
    # Counts that are left as they are fit every table, and say nothing.
    as_published = (np.abs(a) < 1e-9) & (np.abs(k - 1) < 1e-9)
    total: Floats = np.where(readable & ~as_published, np.log(near + OUTLIERS), 0.0).sum(axis=1)
    return total


def _pairs(column: PublishedColumn) -> tuple[Floats, Floats]:
    """Hypotheses: two low levels are two small integers."""
    logs = column.level_logs[:LOW_LEVELS]
    ks, starts = [], []
    for i in range(len(logs)):
        for j in range(i + 1, min(i + 4, len(logs))):
            for low in range(1, 8):
                for high in range(low + 1, 9):
                    k = math.log(high / low) / (logs[j] - logs[i])
                    if 1 - 1e-6 <= k < 1e6:
                        ks.append(k)
                        starts.append(logs[i] - math.log(low) / k)
    return np.array(ks)[:, np.newaxis], np.array(starts)[:, np.newaxis]


def _refined(column: PublishedColumn, k: float, a: float, *, fixed: bool) -> tuple[float, float, float]:
    """Least squares over the levels that fall on integers; with `fixed` for a alone."""
    for _ in range(6):
        before = k, a
        numbers, sd = _counts_at(column.level_logs, column.level_error, k, a)
        whole = np.rint(numbers)
        fits = (whole >= 1) & (sd < READABLE) & (np.abs(numbers - whole) < 4 * sd)
        if fits.sum() < (1 if fixed else 3):
            break
        y, x = column.level_logs[fits], np.log(whole[fits])
        weights = column.level_error[fits] ** -2.0
        weights /= weights.max()
        weight = weights.sum()
        if fixed:
            a = float(((y - x / k) * weights).sum() / weight)
        else:
            x_mean, y_mean = (x * weights).sum() / weight, (y * weights).sum() / weight
            spread = float(((x - x_mean) ** 2 * weights).sum() / weight)
            slope = float(((x - x_mean) * (y - y_mean) * weights).sum() / weight) / spread if spread else 0.0
            if slope <= 0:
                break
            k, a = 1 / slope, float(y_mean - slope * x_mean)
        if (k, a) == before:  # and so it would be in every further step
            break
    return k, a, float(_evidence(column, np.array([[k]]), np.array([[a]]))[0])


def _candidates(column: PublishedColumn) -> list[float]:
    """The k that explain a column best by itself."""
    k, a = _pairs(column)
    if not len(k):
        return []
    evidence = _evidence(column, k, a)
    best = np.argsort(-evidence, kind="stable")[:KEPT]
    refined = [_refined(column, float(k[i, 0]), float(a[i, 0]), fixed=False) for i in best]
    refined.sort(key=lambda hypothesis: -hypothesis[2])
    return [k for k, _, _ in refined[:3]]


def _anchors(column: PublishedColumn, k: float) -> tuple[Floats, Floats]:
    """Every a that makes a low level a small integer, and its evidence."""
    logs = column.level_logs[:LOW_LEVELS]
    starts = (logs[:, np.newaxis] - np.log(np.arange(1, ANCHORS + 1)) / k).reshape(-1, 1)
    return starts, _evidence(column, np.full_like(starts, k), starts)


def _anchored(column: PublishedColumn, k: float) -> Fit:
    """The best a of a column for a given k, and its evidence."""
    starts, evidence = _anchors(column, k)
    best = Fit(0.0, -math.inf)
    for i in np.argsort(-evidence, kind="stable")[:5]:
        _, a, refined = _refined(column, k, float(starts[i, 0]), fixed=True)
        if refined > best.evidence:
            best = Fit(a, refined)
    return best


def _common_factor(column: PublishedColumn, k: float, a: float) -> int:
    """What divides all counts but a few of the lowest: those were zeros, and the factor is theirs."""
    numbers, sd = _counts_at(column.level_logs, column.level_error, k, a)
    whole = [int(n) for n in np.rint(numbers[(numbers > 0.5) & (sd < READABLE)])]
    # Eight numbers have a factor in common by chance once in 250 times.
    factors = [math.gcd(*whole[lowest:]) for lowest in range(7) if len(whole) - lowest >= 8]
    return next((factor for factor in factors if factor > 1), 1)


def _ladder(k: float) -> list[float]:
    """Exponents that SafetyTransform uses, around k: multiples of 1/64 below 64, integers from there on."""
    step = 1 / 64 if k < 64 else 1.0
    base = round(k / step) * step
    return [base + i * step for i in range(-6, 7) if base + i * step >= 1]


def _tellers(columns: list[PublishedColumn], work: int) -> list[PublishedColumn]:
    """The columns that k is looked for in: as many of the longest as the work allows."""
    columns = sorted(columns, key=lambda column: -len(column.level_logs))[:MOST_COLUMNS]
    levels = 0
    for i, column in enumerate(columns):
        levels += len(column.level_logs)
        # Numbers a level: pairs and refined k of the column by itself, then every k in every column.
        if i and levels * (6_000 + 650 * (i + 1)) > work:
            return columns[:i]
    return columns


def column_attack(views: Viewset, ledger: Allowance) -> Inversion | None:
    """The counts that columns give away; None where nothing convinces."""
    columns = {
        (name, c): PublishedColumn(array[:, c])
        for name, array in views.counts.items()
        for c in range(array.shape[1])
    }
    # Two levels fit two integers whatever k is.
    columns = {place: column for place, column in columns.items() if len(column.level_logs) > 2}
    if not columns:
        return None
    tellers = _tellers(list(columns.values()), ledger.work)
    ledger.tried.append("column")
    if len(tellers) < len(columns):
        ledger.untried.append(f"k was looked for in {len(tellers):,} of {len(columns):,} columns")
    # What the best of so many wrong hypotheses may come to: of anchors in each column, of k, and of the pairs
    # of levels that k comes from. An anchor fits its own level, and a pair two. Without this price some
    # hypothesis would seem to explain any column.
    free = math.log(LOW_LEVELS * ANCHORS) + FITTED + CONVINCING
    chance = math.log(3 * len(tellers) + 13) + math.log(LOW_LEVELS * 84) + FITTED
    best = _best_k(tellers, free)
    if best is None or best.evidence < chance + CONVINCED:
        return None
    k = best.k
    fits = _fits(columns, k, ledger)
    confidence = -math.expm1(chance - best.evidence)
    guesses = Guesses(views)
    for (name, c), fit in fits.items():
        if fit.evidence < free:  # this column by itself says nothing
            continue
        numbers, doubt, is_said = _read(columns[name, c], k, fit.a)
        guesses.counts[name][is_said, c] = numbers[is_said].astype(np.int64)
        guesses.certainty[name][is_said, c] = (confidence / (1 + doubt))[is_said]
    return guesses.inversion("column", k, confidence, best.evidence - chance)


def _best_k(tellers: list[PublishedColumn], free: float) -> Exponent | None:
    """The k that explains all of these columns best, of those that explain one and of those that are used."""

    def total(k: float) -> float:
        return sum(max(_anchored(column, k).evidence - free, 0.0) for column in tellers)

    def promise(k: float) -> float:
        return sum(max(float(_anchors(column, k)[1].max()) - free, 0.0) for column in tellers)

    candidates = sorted({k for column in tellers for k in _candidates(column)}, key=promise)
    scored = [Exponent(total(k), k) for k in candidates[-KEPT_KS:]]
    if not scored:
        return None
    best = max(scored, key=lambda exponent: exponent.evidence)
    on_ladder = [Exponent(total(k), k) for k in _ladder(best.k)]
    return max([best, *on_ladder], key=lambda exponent: exponent.evidence)


def _fits(columns: dict[ColumnPlace, PublishedColumn], k: float, ledger: Allowance) -> dict[ColumnPlace, Fit]:
    """The best a of as many columns as the work allows."""
    fits, left = {}, ledger.work
    for place, column in columns.items():
        left -= 250 * len(column.level_logs)  # of which 216 are anchors
        if left >= 0:
            fits[place] = _anchored(column, k)
    if len(fits) < len(columns):
        ledger.untried.append(f"{len(fits):,} of {len(columns):,} columns were read with that k")
    return fits


def _read(column: PublishedColumn, k: float, a: float) -> tuple[Floats, Floats, Bools]:
    """The counts of a column, the odds of other integers for each, and of which anything is said."""
    a += math.log(_common_factor(column, k, a)) / k
    numbers, sd = _counts_at(column.logs, column.error, k, a)
    whole: Floats = np.rint(numbers)
    gap = numbers - whole
    others = np.zeros(len(gap))
    for i in (-2, -1, 1, 2):
        others += np.exp(((gap**2) - (gap - i) ** 2) / (2 * sd**2))
    return whole, others, numbers < math.exp(MOST_POWER - 12)
