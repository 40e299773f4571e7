"""Inversion: private counts back from published ones.

Within a column of a release that SafetyTransform made, q_t / q_t' = (N_t / N_t')^(1/k) up to rounding. The
column attack takes two low levels of a column for small integers, which gives k; where that is right, the
other levels fall on integers too. The gauge hides columns; what is left of them are cross ratios
(N_c(t) N_d(t')) / (N_d(t) N_c(t')), rationals of small numbers among small counts, raised to 1/k. The
cross-ratio attack tries all k that SafetyTransform uses and looks for one with which too many cross ratios
fall on such rationals. Evidence is measured in nats against numbers that fall where they like.

The work is capped by a count of the numbers looked at, WORK, never by a clock, so that the same release
gives the same result everywhere; what was left out for it is said in `Inversion.untried`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.attack.queries import check_kinds, viewset
from nbcfast.published.release import Release
from nbcfast.views import Viewset, count
from nbcfast.views.integers import logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Column = tuple[str, int]

NOTHING = -1  # a count of which nothing is said

ROUNDING = 0.35  # standard deviation of a published count: rounded to integers, some moved by a row
FLOAT = 1e-15  # of its logarithm, which is a float64
SAME = 2  # rows within which published counts are one level
LOW_LEVELS = 18  # of a column, tried as small integers
ANCHORS = 12  # a level is tried as each of 1 .. ANCHORS
READABLE = 0.25  # standard deviation of a count up to which it tells integers from other numbers
OUTLIERS = 0.02  # share of readable levels that fit no integer
KEPT = 30  # hypotheses of a column that are refined
KEPT_KS = 4  # of all columns
MOST_COLUMNS = 60  # that k is looked for in, those with the most levels
MOST_ODDS = 16  # the same for pairs of columns
MOST_POWER = 50.0  # logarithm of the largest count looked at

CONVINCING = 3.0  # nats of a column above what chance gives it
FITTED = 5.8  # nats that a level has at most, also where a parameter was fitted to it
CONVINCED = 12.0  # nats above what the best of all wrong hypotheses has

RATIONALS = 12  # cross ratios are looked for among quotients of numbers up to this
SMALL = 40  # then counts up to this
MOST_PAIRS = 12_000  # of values of the attributes, for all pairs of classes together
CHANCE = 0.02  # of a hit: pairs that hit more often by chance say little
FEW_PAIRS = 20
DENSITY = 10.0  # of the logarithms of small rationals, at the least
CROSS_EVIDENCE = 150.0
BLOCK = 1 << 17  # numbers looked up together
MOST_LEVELS = 1_000  # of a column, the lowest: more prove nothing further about k
WORK = 10**8  # numbers looked at by each attack, some 50 ns each
COPRIME = 6 / math.pi**2  # the share of pairs of numbers that are in lowest terms


@dataclass(frozen=True, repr=False)
class Inversion:
    """What `invert` found.

    Attributes
    ----------
    attack : {"column", "cross-ratio", "identity"} or None
        What worked; None where nothing did.
    k : float or None
        The exponent 1/k that was undone.
    confidence : float
        How probable it is that k is right, from 0 to 1.
    evidence : float
        In nats, above what the best of so many wrong hypotheses would have.
    counts : mapping of name -> ndarray of int64, shape (values, classes)
        The reconstruction, of each value and class as published; -1 where nothing is said.
    certainty : mapping of name -> ndarray of float64
        How probable each of these counts is.
    claimed : int
        How many positive counts the reconstruction has.
    recovered, positive : int or None
        How many positive counts of the truth are equal to the reconstruction, and how many there are; None
        without a truth.
    by_attribute : mapping of name -> (recovered, positive)
    tried : tuple of str
        The attacks that had something to look at: with none of them, nothing was tried, and that nothing was
        found says nothing.
    untried : tuple of str
        What was left out because it would have been too much work, in words.
    """

    attack: str | None
    k: float | None
    confidence: float
    evidence: float
    counts: Mapping[str, Longs]
    certainty: Mapping[str, Floats]
    recovered: int | None = None
    positive: int | None = None
    by_attribute: Mapping[str, tuple[int, int]] | None = None
    tried: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()

    @property
    def claimed(self) -> int:
        return sum(int((array > 0).sum()) for array in self.counts.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for counts of which nothing is said."""
        return {
            "attack": self.attack,
            "k": self.k,
            "confidence": self.confidence,
            "evidence": self.evidence,
            "claimed": self.claimed,
            "counts": {
                name: [[None if n == NOTHING else n for n in row] for row in array.tolist()]
                for name, array in self.counts.items()
            },
            "certainty": {name: array.tolist() for name, array in self.certainty.items()},
            "recovered": self.recovered,
            "positive": self.positive,
            "by_attribute": None
            if self.by_attribute is None
            else {name: list(pair) for name, pair in self.by_attribute.items()},
            "tried": list(self.tried),
            "untried": list(self.untried),
        }

    def __repr__(self) -> str:
        if self.attack is None:
            how = "nothing found" if self.tried else "nothing to try"
        elif self.attack == "identity":
            how = "the counts are the private ones"
        else:
            how = f"{self.attack} attack, k = {self.k:.6g}, confidence {self.confidence:.4g}"
        score = "" if self.recovered is None else f"; {self.recovered} of {self.positive} counts right"
        left = f"; not tried: {'; '.join(self.untried)}" if self.untried else ""
        return f"Inversion({how}; {self.claimed} counts claimed{score}{left})"


def invert(
    published: Release | Viewset | AnyTable,
    class_name: str | None = None,
    *,
    truth: Viewset | AnyTable | None = None,
    progress: Progress | None = None,
) -> Inversion:
    """Try to get the private counts back from what was published.

    Parameters
    ----------
    published : Release, Viewset, or Table or what it is made of
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). A release, its counts, or a synthetic
        table made of it.
    class_name : str, optional
        The class column, of tables.
    truth : Viewset, or Table or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The private counts: how many of them
        were recovered is then counted. The attack does not use them.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Inversion
        Deterministic. A viewset is taken for one that SafetyTransform made; a release whose certificate says
        that its counts are the private ones is read off.

    Raises
    ------
    TypeError, ValueError
        If `published` is none of these, is not realistic or has no rows, if a table comes without the name
        of its class, or if the truth has other attributes or classes.

    Notes
    -----
    A count N can be read once 2 k N eps < 1, with eps the relative error of what was published. The gauge
    (the default of `safety_transform`) leaves nothing for the column attack. Each attack looks at some 10^8
    numbers at the most, counted and not timed: what it leaves out for that is in `untried`.

    Examples
    --------
    A column of counts 1, 2, 3, .. to the power 1/5, in some 10^9 rows, and what is found of it:

    >>> from nbcfast import Viewset
    >>> roots = [round(10**8 * n ** 0.2) for n in (1, 2, 3, 4, 5, 7, 9, 12, 20)]
    >>> found = invert(Viewset([sum(roots)], [[[root] for root in roots]]))
    >>> found.attack, round(found.k, 4), found.counts["A1"][:, 0].tolist()
    ('column', 5.0, [1, 2, 3, 4, 5, 7, 9, 12, 20])
    """
    views = _published(published, class_name)
    private = None if truth is None else _truth(truth, views, class_name, published)
    if isinstance(published, Release) and published.certificate.identity:
        arrays = {name: np.asarray(array) for name, array in views.counts.items()}
        found = Inversion(
            "identity",
            1.0,
            1.0,
            math.inf,
            arrays,
            {name: np.ones(arrays[name].shape) for name in arrays},
            tried=("identity",),
        )
    else:
        ledger = _Ledger()
        found = _column_attack(views, ledger) or _cross_attack(views, progress, ledger) or _nothing(views)
        found = replace(found, tried=tuple(ledger.tried), untried=tuple(ledger.untried))
    return found if private is None else _scored(found, views, private)


@dataclass
class _Ledger:
    """What was tried, and what was not."""

    tried: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)


def _published(published: Any, class_name: str | None) -> Viewset:
    if class_name is not None and not isinstance(class_name, str):
        raise TypeError(f"class_name must be a text, got {class_name!r}")
    if isinstance(published, (Release, Viewset)):
        return viewset(published, "published")
    table = table_from(published, "published", also="a Release, a Viewset")
    if class_name is None:
        raise ValueError("class_name must be given for a table")
    return viewset(count(table, class_name), "published")


def _truth(truth: Any, views: Viewset, class_name: str | None, published: Any) -> Viewset:
    private: Viewset
    if not isinstance(truth, Viewset):
        table = table_from(truth, "truth", also="a Viewset")
        name = class_name or getattr(published, "class_name", None)
        if name is None:
            raise ValueError("class_name must be given for a table")
        private = count(table, name, list(views.attributes))
    else:
        private = truth
    missing = [name for name in views.attributes if name not in private.attributes]
    if missing:
        raise ValueError(f"truth must have the attributes that were published, got none named {missing[0]!r}")
    for name in views.attributes:
        own = private.domains[name]
        check_kinds(own, views.domains[name], f"truth: attribute {name!r}", "what was published")
    lost = np.flatnonzero(views.class_domain.positions_in(private.class_domain) < 0)
    if len(lost):
        label = views.classes[lost[0]]
        raise ValueError(f"truth must have the classes that were published, got no {label!r}")
    return private


def _nothing(views: Viewset) -> Inversion:
    arrays = {name: np.full(array.shape, NOTHING, np.int64) for name, array in views.counts.items()}
    zeros = {name: np.zeros(array.shape) for name, array in views.counts.items()}
    return Inversion(None, None, 0.0, 0.0, MappingProxyType(arrays), MappingProxyType(zeros))


def _scored(found: Inversion, views: Viewset, truth: Viewset) -> Inversion:
    classes = views.class_domain.positions_in(truth.class_domain)
    by_attribute = {}
    for name, guess in found.counts.items():
        places = views.domains[name].positions_in(truth.domains[name])
        array = truth.counts[name][:, classes]
        own = array[places]
        own[places < 0] = 0
        by_attribute[name] = int(((guess == own) & (own > 0)).sum()), int((array > 0).sum())
    return replace(
        found,
        recovered=sum(hits for hits, _ in by_attribute.values()),
        positive=sum(number for _, number in by_attribute.values()),
        by_attribute=MappingProxyType(by_attribute),
    )


# The column attack.


class _Levels:
    """A published column: the logarithms of its counts, and its distinct levels, lowest first."""

    def __init__(self, counts: Any) -> None:
        self.logs = logarithms(counts)
        self.error = _errors(self.logs)
        levels: list[int] = []
        for number in sorted(set(counts.tolist())):
            if number > 0 and (not levels or number - levels[-1] > SAME):
                levels.append(number)
        array = np.empty(min(len(levels), MOST_LEVELS), object)
        array[:] = levels[:MOST_LEVELS]
        self.level_logs = logarithms(array)
        self.level_error = _errors(self.level_logs)


def _errors(logs: Floats) -> Floats:
    """Standard deviations of logarithms of published counts."""
    with np.errstate(over="ignore"):  # of a count of 0, which no release has
        result: Floats = ROUNDING * np.exp(-logs) + FLOAT * np.maximum(np.abs(logs), 1)
    return result


def _counts_at(logs: Floats, errors: Floats, k: Floats | float, a: Floats | float) -> tuple[Floats, Floats]:
    """What the counts would be, and their standard deviations, where ln q = a + ln N / k."""
    numbers = np.exp(np.minimum((logs - a) * k, MOST_POWER))
    return numbers, np.maximum(numbers * k * errors, 1e-3)


def _evidence(column: _Levels, k: Floats, a: Floats) -> Floats:
    """Nats by which each hypothesis (k, a), columns of shape (n, 1), explains the levels as integers."""
    step = max(1, BLOCK // len(column.level_logs))
    parts = [_evidence_of(column, k[i : i + step], a[i : i + step]) for i in range(0, len(k), step)]
    return np.concatenate(parts)


def _evidence_of(column: _Levels, k: Floats, a: Floats) -> Floats:
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


def _pairs(column: _Levels) -> tuple[Floats, Floats]:
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


def _refined(column: _Levels, k: float, a: float, *, fixed: bool) -> tuple[float, float, float]:
    """Least squares over the levels that fall on integers; with `fixed` for a alone."""
    for _ in range(6):
        numbers, sd = _counts_at(column.level_logs, column.level_error, k, a)
        whole = np.rint(numbers)
        fits = (whole >= 1) & (sd < READABLE) & (np.abs(numbers - whole) < 4 * sd)
        if fits.sum() < (1 if fixed else 3):
            break
        y, x = column.level_logs[fits], np.log(whole[fits])
        weights = column.level_error[fits] ** -2.0
        weights /= weights.max()
        if fixed:
            a = float(np.average(y - x / k, weights=weights))
            continue
        x_mean, y_mean = np.average(x, weights=weights), np.average(y, weights=weights)
        spread = float(np.average((x - x_mean) ** 2, weights=weights))
        slope = float(np.average((x - x_mean) * (y - y_mean), weights=weights)) / spread if spread else 0.0
        if slope <= 0:
            break
        k, a = 1 / slope, float(y_mean - slope * x_mean)
    return k, a, float(_evidence(column, np.array([[k]]), np.array([[a]]))[0])


def _candidates(column: _Levels) -> list[float]:
    """The k that explain a column best by itself."""
    k, a = _pairs(column)
    if not len(k):
        return []
    evidence = _evidence(column, k, a)
    best = np.argsort(-evidence, kind="stable")[:KEPT]
    refined = [_refined(column, float(k[i, 0]), float(a[i, 0]), fixed=False) for i in best]
    refined.sort(key=lambda found: -found[2])
    return [k for k, _, _ in refined[:3]]


def _anchors(column: _Levels, k: float) -> tuple[Floats, Floats]:
    """Every a that makes a low level a small integer, and its evidence."""
    logs = column.level_logs[:LOW_LEVELS]
    starts = (logs[:, np.newaxis] - np.log(np.arange(1, ANCHORS + 1)) / k).reshape(-1, 1)
    return starts, _evidence(column, np.full_like(starts, k), starts)


def _anchored(column: _Levels, k: float) -> tuple[float, float]:
    """The best a of a column for a given k, and its evidence."""
    starts, evidence = _anchors(column, k)
    best = (0.0, -math.inf)
    for i in np.argsort(-evidence, kind="stable")[:5]:
        _, a, found = _refined(column, k, float(starts[i, 0]), fixed=True)
        if found > best[1]:
            best = a, found
    return best


def _common_factor(column: _Levels, k: float, a: float) -> int:
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


def _tellers(columns: list[_Levels]) -> list[_Levels]:
    """The columns that k is looked for in: as many of the longest as WORK allows."""
    columns = sorted(columns, key=lambda column: -len(column.level_logs))[:MOST_COLUMNS]
    levels = 0
    for i, column in enumerate(columns):
        levels += len(column.level_logs)
        # Numbers a level: pairs and refined k of the column by itself, then every k in every column.
        if i and levels * (6_000 + 650 * (i + 1)) > WORK:
            return columns[:i]
    return columns


def _column_attack(views: Viewset, ledger: _Ledger) -> Inversion | None:
    columns = {
        (name, c): _Levels(array[:, c]) for name, array in views.counts.items() for c in range(array.shape[1])
    }
    # Two levels fit two integers whatever k is.
    columns = {place: column for place, column in columns.items() if len(column.level_logs) > 2}
    if not columns:
        return None
    tellers = _tellers(list(columns.values()))
    ledger.tried.append("column")
    if len(tellers) < len(columns):
        ledger.untried.append(f"k was looked for in {len(tellers):,} of {len(columns):,} columns")
    # What the best of so many wrong hypotheses may come to: of anchors in each column, of k, and of the pairs
    # of levels that k comes from. An anchor fits its own level, and a pair two.
    free = math.log(LOW_LEVELS * ANCHORS) + FITTED + CONVINCING
    chance = math.log(3 * len(tellers) + 13) + math.log(LOW_LEVELS * 84) + FITTED

    def total(k: float) -> float:
        return sum(max(_anchored(column, k)[1] - free, 0.0) for column in tellers)

    def promise(k: float) -> float:
        return sum(max(float(_anchors(column, k)[1].max()) - free, 0.0) for column in tellers)

    candidates = sorted({k for column in tellers for k in _candidates(column)}, key=promise)
    scored = [(total(k), k) for k in candidates[-KEPT_KS:]]
    if not scored:
        return None
    best = max(scored, key=lambda entry: entry[0])
    on_ladder = [(total(k), k) for k in _ladder(best[1])]
    evidence, k = max([best, *on_ladder], key=lambda entry: entry[0])
    if evidence < chance + CONVINCED:
        return None
    fits, left = {}, WORK
    for place, column in columns.items():
        left -= 250 * len(column.level_logs)  # of which 216 are anchors
        if left >= 0:
            fits[place] = _anchored(column, k)
    if len(fits) < len(columns):
        ledger.untried.append(f"{len(fits):,} of {len(columns):,} columns were read with that k")
    confidence = -math.expm1(chance - evidence)
    counts = {name: np.full(array.shape, NOTHING, np.int64) for name, array in views.counts.items()}
    certainty = {name: np.zeros(array.shape) for name, array in views.counts.items()}
    for (name, c), (a, found) in fits.items():
        if found < free:  # this column by itself says nothing
            continue
        column = columns[name, c]
        a += math.log(_common_factor(column, k, a)) / k
        numbers, sd = _counts_at(column.logs, column.error, k, a)
        whole = np.rint(numbers)
        gap = numbers - whole
        others = np.zeros(len(gap))
        for i in (-2, -1, 1, 2):
            others += np.exp(((gap**2) - (gap - i) ** 2) / (2 * sd**2))
        said = numbers < math.exp(MOST_POWER - 12)
        counts[name][said, c] = whole[said].astype(np.int64)
        certainty[name][said, c] = (confidence / (1 + others))[said]
    return Inversion(
        "column", k, confidence, evidence - chance, MappingProxyType(counts), MappingProxyType(certainty)
    )


# The cross-ratio attack.


def _quotients(most: int, *, both: bool) -> tuple[Floats, Longs]:
    """Logarithms of quotients in lowest terms of numbers up to `most`, rising, and the numbers."""
    found = [
        (math.log(u / v), u, v)
        for u in range(1, most + 1)
        for v in range(1, most + 1)
        if math.gcd(u, v) == 1 and (both or u > v)
    ]
    found.sort()
    return np.array([x for x, _, _ in found]), np.array([(u, v) for _, u, v in found], np.int64)


def _nearest(sorted_values: Floats, x: Floats) -> Longs:
    """Where the nearest of the sorted values stands."""
    after = np.clip(np.searchsorted(sorted_values, x), 1, len(sorted_values) - 1)
    nearer = x - sorted_values[after - 1] < sorted_values[after] - x
    result: Longs = after - nearer
    return result


class _Odds:
    """ln of the odds of two published columns, value by value, and the differences of pairs of them."""

    def __init__(self, logs: Floats, classes: tuple[int, int], most_pairs: int) -> None:
        both = logs[:, classes]
        self.rows = np.flatnonzero(np.isfinite(both).all(axis=1))
        levels, first, self.level, times = np.unique(
            both[self.rows], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        z, sd = levels[:, 0] - levels[:, 1], np.hypot(*_errors(levels).T)
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


def _hits(odds: _Odds, k: float, table: Floats) -> tuple[int, float]:
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


def _cross_attack(views: Viewset, progress: Progress | None, ledger: _Ledger) -> Inversion | None:
    n_classes = len(views.classes)
    pairs = [(c, d) for c in range(n_classes) for d in range(c + 1, n_classes)]
    if len(pairs) > 10:
        pairs = [(c, c + 1) for c in range(n_classes - 1)]
    most = max(200, MOST_PAIRS // max(1, len(pairs) * len(views.attributes)))
    logs = {name: logarithms(array) for name, array in views.counts.items()}
    odds = {(name, pair): _Odds(array, pair, most) for name, array in logs.items() for pair in pairs}
    odds = {place: own for place, own in odds.items() if len(own.size) >= FEW_PAIRS}
    table, _ = _quotients(RATIONALS, both=False)
    tellers = sorted(odds.values(), key=lambda own: -len(own.size))[:MOST_ODDS]
    most_k = max((own.most_k for own in tellers), default=0.0)
    ks = [k for k in _ks() if k <= most_k]
    if not ks:
        return None
    ledger.tried.append("cross-ratio")
    if len(tellers) < len(odds):
        ledger.untried.append(
            f"cross ratios were looked for in {len(tellers):,} of {len(odds):,} pairs of columns"
        )
    best, best_k = 0.0, 0.0
    for done, k in enumerate(ks):
        total = 0.0
        for own in tellers:
            if k > own.most_k:
                continue
            hits, chance = _hits(own, k, table)
            if hits > 10 * chance + 10:
                total += hits * math.log(hits / max(chance, 0.1)) - hits
        if total > best:
            best, best_k = total, k
        if progress is not None and done % 64 == 0:
            progress(done, 2 * len(ks))
    if best < CROSS_EVIDENCE:
        return None
    # Pairs share values, so their hits are not independent: the square root is kept of what they say.
    confidence = -math.expm1(math.log(len(ks)) - 2 * math.sqrt(best))
    counts = {name: np.full(array.shape, NOTHING, np.int64) for name, array in views.counts.items()}
    certainty = {name: np.zeros(array.shape) for name, array in views.counts.items()}
    found, starts, all_starts = [], 0, 0
    for done, (place, own) in enumerate(odds.items()):
        reconstruction, tried, there = _reconstructed(own, best_k, WORK // len(odds))
        found.append((place, reconstruction))
        starts += tried
        all_starts += there
        if progress is not None:
            progress(len(ks) + len(ks) * done // len(odds), 2 * len(ks))
    if starts < all_starts:
        ledger.untried.append(
            f"{starts:,} of {all_starts:,} starting points of the reconstruction were tried"
        )
    for (name, pair), (gain, numbers, sure) in sorted(found, key=lambda entry: -entry[1][0]):
        rows = odds[name, pair].rows
        both = np.array(pair)
        free = (counts[name][np.ix_(rows, both)] == NOTHING).all(axis=1) & (numbers[:, 0] > 0)
        if gain < CONVINCED:
            continue
        counts[name][np.ix_(rows[free], both)] = numbers[free]
        certainty[name][np.ix_(rows[free], both)] = confidence * sure[free, np.newaxis]
    return Inversion(
        "cross-ratio", best_k, confidence, best, MappingProxyType(counts), MappingProxyType(certainty)
    )


Reconstruction = tuple[float, Longs, Floats]


def _reconstructed(odds: _Odds, k: float, work: int) -> tuple[Reconstruction, int, int]:
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
    return (gain, result, sure), len(constants), len(x) * len(anchors)
