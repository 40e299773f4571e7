"""`leak`: what the answers of a classifier give away by themselves. For the eyes of the publisher alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._core.errors import expect
from nbcfast._core.validation import choice, positive
from nbcfast._halves.codes import unravelled
from nbcfast.canonical.arguments import expect_progress, table_of
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.sides import cubed
from nbcfast.canonical.boxes.types import Box, Solution
from nbcfast.canonical.row_shares import Scores
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.published.release import Release
from nbcfast.views import Viewset
from nbcfast.views.flat import usable
from nbcfast.views.loss import uniform_log_loss

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.published.release import Release


MUCH = 8.0  # bits a weight, above which the verdict is a warning
SOME_VALUES = 12  # of an attribute, whose intervals are looked at
MOST_CUBE = 2_000_000  # combinations of levels up to which intervals are looked at
MOST_WORK = 5_000_000  # linear programmes times the numbers in each: some ten seconds
SAMPLE, LARGE_SAMPLE, LARGE = 64, 12, 10_000_000  # rows left out, and the tuples from which they are fewer
COMMON = 0.01  # share of the rows from which a value gives the scale
SWEEPS = 500
NOTHING = 1e-9  # what a published count of 0 is taken for
SCALES = 64  # that the totals attack tries


@dataclass(frozen=True, repr=False)
class Leak:
    """What the answers of a classifier on its domain say about the counts behind them.

    The last three are measured on the private data: nothing of this is for publication.

    Attributes
    ----------
    tuples : int
    log2_range : float
        Bits a weight: log2 of the range of the weights of least norm, whose margin is 1.
    counting_bound : float
        log2(e D / V) for D tuples and V free weights. Of all rules of this form with two classes there are no
        more than 2 (e D / V)^V, which is the bits a weight that tell them apart on average. It bounds no rule
        by itself: `log2_range`, the length of one rule's weights, may be above it.
    total_bits : float
        1 + V log2(e D / V), the logarithm of that number.
    levels : mapping of name -> (int, int)
        How many values of an attribute the answers tell apart, and how many there are.
    intervals : mapping of name -> float, or None
        Of a sample of values of each attribute, the median length of the interval in which all rules with
        these answers have the log-ratio of their two counts, against that of the most frequent value, once
        is known. Infinite where there is no end. None where it was not measured.
    no_intervals : str or None
        Why not, where they were asked for.
    recovered, cells : int or None
        Values whose counts the totals attack finds, and values with rows in every class: of all others it is
        not measured. None where there is one class.
    unchanged : float
        The share of sampled people that can be left out without any answer changing; for all others somebody
        who knows the rest of the table reads membership off the answers. A row with a weight stands for so
        many people, who are left out one at a time.
    sampled : int
        People; 0 where there is one class, and nothing is measured.
    alone : int
        Values that a single person has: the answers say of each which class is its best.
    """

    tuples: int
    log2_range: float
    counting_bound: float
    total_bits: float
    levels: Mapping[str, tuple[int, int]]
    intervals: Mapping[str, float] | None
    recovered: int | None
    cells: int | None
    unchanged: float
    sampled: int
    no_intervals: str | None = None
    alone: int = 0

    @property
    def values(self) -> int:
        """Of all attributes."""
        return sum(size for _, size in self.levels.values())

    @property
    def high(self) -> bool:
        """Whether the answers carry so much that counts come back."""
        return bool(self.log2_range > MUCH)

    @property
    def verdict(self) -> str:
        """What that means, in plain words."""
        if self.cells is None:
            return "Not measured: there is one class, and so the answers say nothing of the values."
        bits = f"{max(self.log2_range, 0.0):.1f} bits a weight"
        found = f"public totals and the answers give back the counts of {self._found} values"
        if not self.high:  # bits say how fine answers are, and not of how many people, or what others know
            against = [found] if self.recovered else []
            if self.alone:
                against.append(
                    f"{self.alone:,} of {self.values:,} values are those of a single person each, and the "
                    "answers name the best class of every value"
                )
            traced = self.sampled - round(self.unchanged * self.sampled)
            if traced:
                against.append(
                    f"of {self.sampled:,} people looked at {traced:,} leave a trace, and whoever knows all "
                    "others reads off the answers whether such a one is among them"
                )
            unmeasured = self.values - self.cells
            left = (
                f" Not measured: what public totals give back of {unmeasured:,} of {self.values:,} values, "
                "which have no rows in some class."
            )
            left = left if unmeasured else ""
            if against:
                return f"The answers carry {bits}, which is few. It is no safety: {'; '.join(against)}.{left}"
            if left:
                return f"The answers carry {bits}, which is few.{left}"
            return f"The answers carry {bits}: little more than which value beats which."
        found = f" {found.capitalize()}." if self.recovered else ""
        return (
            f"The answers alone carry {bits}, which is much.{found} Only a coarser domain changes that: "
            "declare bins that are fixed in advance, leave attributes out, or keep the answers on a public "
            "list of tuples."
        )

    @property
    def _found(self) -> str:
        return f"{self.recovered} of {self.cells}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what is infinite."""
        intervals = self.intervals
        return {
            "tuples": self.tuples,
            "log2_range": None if math.isinf(self.log2_range) else self.log2_range,
            "counting_bound": self.counting_bound,
            "total_bits": self.total_bits,
            "levels": {name: list(pair) for name, pair in self.levels.items()},
            "intervals": None
            if intervals is None
            else {name: None if math.isinf(size) else size for name, size in intervals.items()},
            "no_intervals": self.no_intervals,
            "recovered": self.recovered,
            "cells": self.cells,
            "values": self.values,
            "alone": self.alone,
            "unchanged": self.unchanged if self.sampled else None,
            "sampled": self.sampled,
            "high": self.high,
            "verdict": self.verdict,
        }

    def __repr__(self) -> str:
        levels = " x ".join(f"{found} of {size}" for found, size in self.levels.values())
        recovered = "" if self.recovered is None else f"; totals attack {self._found}"
        if self.cells is None:
            return "Leak(not measured: one class)"
        return (
            f"Leak({self.log2_range:.1f} bits a weight; levels {levels}"
            f"{recovered}; {self.unchanged:.0%} of {self.sampled} people leave no trace)"
        )


def leak(
    views: Viewset,
    *,
    preserve: Literal["label", "order"] = "label",
    table: Any = None,
    class_name: str | None = None,
    sample: int | None = None,
    intervals: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Leak:
    """How much the answers of a classifier on its whole domain give away, whatever publishes them.

    That is what a `release` without `bits` and `tuples` publishes. One with points rounded to `bits`, or with
    a public list of `tuples`, says less than all answers: for these every number here is that of the answers
    before rounding, or beyond the list, and so a bound of what they give away, not a measure.

    Parameters
    ----------
    views : Viewset
        Private, realistic, with rows in every class.
    preserve : {"label", "order"}
        Which answers.
    table : Table, or what it is made of, optional
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The private table, which the views
        count, and
    class_name : str, optional
        its class column: rows that are left out are taken from it. By default they are drawn as the
        classifier sees them, values independent within a class; the same ones in every run.
    sample : int, optional
        How many people are left out, one at a time.
    intervals : bool
        Whether to measure intervals of log-ratios, for two classes. Needs SciPy. Beyond 5 * 10^6 numbers in
        all linear programmes together, some ten seconds, they are not measured; `no_intervals` says so.
    threads, progress
        As for `release`.

    Returns
    -------
    Leak

    Raises
    ------
    ValueError
        If the table is another than that of the views.
    Infeasible
        If the domain is too large for an exact answer.
    ImportError
        If SciPy is missing, which the intervals need.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([50, 50], {"job": [[20, 30], [30, 20]], "sex": [[11, 40], [39, 10]]})
    >>> found = leak(views)
    >>> found.levels["job"], found.high
    ((1, 2), False)
    """
    expect(views, Viewset, "views")
    expect(intervals, bool, "intervals")
    expect_progress(progress)
    choice(preserve, ("label", "order"), "preserve")
    usable(views)
    sample = None if sample is None else positive(sample, "sample")
    if intervals:
        programmes()  # now, and not after everything else
    asked = box(views, mode=preserve, threads=threads, progress=progress)
    sizes = {name: len(views.domain(name)) for name in views.attributes}
    tuples = math.prod(sizes.values())
    weights = max(sum(sizes.values()) - len(sizes) + 1, 1)
    bound = math.log2(math.e * tuples / weights)
    if asked.n_classes == 1:
        flat = {name: (1, size) for name, size in sizes.items()}
        return Leak(tuples, -math.inf, bound, 0.0, MappingProxyType(flat), None, None, None, 1.0, 0)
    solution = solve(asked, progress=progress)
    levels = {
        name: (max(of_attribute) + 1, size)
        for (name, size), of_attribute in zip(sizes.items(), solution.levels, strict=True)
    }
    medians, why = None, None
    if intervals and isinstance(asked, Box):
        medians, why = _medians(asked, solution, views, progress)
    elif intervals:
        why = "they are of two classes"
    scores = Scores.of(integers(asked, solution, progress=progress))
    recovered, cells = totals_attack(
        [np.array(rows, np.float64).reshape(len(rows), -1) for rows in scores.points],
        np.array(scores.base, np.float64),
        views,
    )
    count = sample or (SAMPLE if tuples < LARGE else LARGE_SAMPLE)
    rows = _rows_of(table, class_name, views, count) if table is not None else _drawn(views, count)
    kept = 0
    traceless: dict[tuple[int, ...], bool] = {}  # people with the same values share their answer
    for done, (codes, c) in enumerate(rows):
        key = (*codes, c)
        if key not in traceless:
            fewer = _without(views, codes, c)
            traceless[key] = fewer is not None and box(fewer, mode=preserve, threads=threads) == asked
        kept += traceless[key]
        if progress is not None:
            progress(done + 1, len(rows))
    return Leak(
        tuples,
        float(solution.log2_range),
        bound,
        1 + weights * bound,
        MappingProxyType(levels),
        None if medians is None else MappingProxyType(medians),
        recovered,
        cells,
        kept / len(rows),
        len(rows),
        why,
        sum(int((array.sum(axis=1) == 1).sum()) for array in views.counts.values()),
    )


# The totals attack.


def attacked(release: Release | Viewset, views: Viewset) -> tuple[int, int]:
    """What the totals attack recovers of private counts from published ones, however they were made.

    The attacker knows how many rows every value and every class has (public marginals), and that the
    published scores are a power of the private ones. Within an attribute ln N_c(t) is then scale f_c(t) plus
    one number a value and one a class; the sums of rows and columns give these for each scale, and the
    shares of the classes give the scale.

    Returns
    -------
    recovered, cells : int
        Values of whose counts every one is right, and values with rows in every class.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([40, 76], [[[12, 31], [28, 45]], [[25, 50], [15, 26]]])
    >>> attacked(views, views)  # nothing was changed
    (4, 4)
    """
    expect(views, Viewset, "views")
    if not isinstance(release, Viewset | Release):
        raise TypeError(f"release must be a Release or a Viewset, got {type(release).__name__}")
    published = release if isinstance(release, Viewset) else release.views
    if published.classes != views.classes:
        raise ValueError(f"release must have the classes {views.classes}, got {published.classes}")
    for name in views.attributes:
        size = len(views.counts[name])
        if name not in published.counts or len(published.counts[name]) != size:
            raise ValueError(
                f"release must have the attributes of the views, got no {name!r} of {size} values"
            )
    if len(published.attributes) != len(views.attributes):
        raise ValueError(f"release must have the attributes {views.attributes}, got {published.attributes}")
    made = None if isinstance(release, Viewset) else release.certificate.canonical
    if made is not None and made.points:  # they say the same without the noise of rounding
        of_name = dict(zip(published.attributes, made.points, strict=True))
        points = [np.pad(np.array(of_name[name], np.float64), ((0, 0), (0, 1))) for name in views.attributes]
        return totals_attack(points, np.array([*made.constants, 0.5], np.float64), views)
    logs = [
        np.log(np.maximum(np.asarray(published.counts[name], np.float64), NOTHING))
        for name in views.attributes
    ]
    base = (1 - len(logs)) * np.log(np.asarray(published.class_counts, np.float64))
    return totals_attack(logs, base, views)


def totals_attack(scores: list[Floats], base: Floats, views: Viewset) -> tuple[int, int]:
    """`attacked`, for scores whose sums with the base order the classes."""
    counts = [np.asarray(views.counts[name], np.float64) for name in views.attributes]
    of_class = np.asarray(views.class_counts, np.float64)
    cells = sum(int((array > 0).all(axis=1).sum()) for array in counts)
    totals = [array.sum(axis=1) for array in counts]
    seen = [total > 0 for total in totals]
    centred = [array - array.mean(axis=1, keepdims=True) for array in scores]
    base = base - base.mean()
    spans = [float(array[rows].max(initial=0)) for array, rows in zip(centred, seen, strict=True)]
    span = max(sum(spans), 1e-300)
    found: dict[float, tuple[Floats, list[Floats]]] = {}

    def left(scale: float) -> Floats:
        """What is left of the equation of the classes with this scale; the counts are kept."""
        if scale not in found:
            rest, guesses = (1 - len(counts)) * np.log(of_class) - scale * base, []
            for array, total, rows in zip(centred, totals, seen, strict=True):
                offsets, guess = _fitted(scale * array[rows], total[rows], of_class)
                rest = rest + offsets
                spread = np.zeros(array.shape)
                spread[rows] = guess
                guesses.append(spread)
            found[scale] = rest - rest.mean(), guesses
        return found[scale][0]

    most = 0
    for scale in _scales(left, span):
        left(scale)
        most = max(
            most,
            sum(
                int(((np.rint(guess) == array) & (array > 0)).all(axis=1).sum())
                for guess, array in zip(found[scale][1], counts, strict=True)
            ),
        )
    return most, cells


def _scales(left: Any, span: float) -> list[float]:
    """Where the equation of the classes holds, or comes nearest to it: each is tried."""
    scales = np.geomspace(0.02, 400, SCALES) / span
    rests = np.array([left(scale) for scale in scales.tolist()])
    if rests.shape[1] == 2:
        turns = np.flatnonzero(np.sign(rests[1:, 0]) != np.sign(rests[:-1, 0])).tolist()
        if turns:
            return [
                _root(left, float(scales[turn]), float(scales[turn + 1]), np.sign(rests[turn, 0]))
                for turn in turns
            ]
    sizes = np.abs(rests).sum(axis=1)
    best = int(sizes.argmin())
    low, high = scales[max(best - 1, 0)], scales[min(best + 1, SCALES - 1)]
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        a, b = float(high - golden * (high - low)), float(low + golden * (high - low))
        if np.abs(left(a)).sum() < np.abs(left(b)).sum():
            high = b
        else:
            low = a
    return [float(low)]


def _root(left: Any, low: float, high: float, sign: Any) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        if np.sign(left(middle)[0]) == sign:
            low = middle
        else:
            high = middle
    return low


def _fitted(logs: Floats, rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """Offsets of the columns with which rows and columns of exp(logs + offsets) have these sums."""
    logs = logs - logs.max(axis=1, keepdims=True)
    offsets = np.log(columns)
    parts = np.zeros_like(logs)
    for _ in range(SWEEPS):
        shifted = logs + offsets
        shifted -= shifted.max(axis=1, keepdims=True)
        parts = np.exp(shifted)
        parts *= (rows / parts.sum(axis=1))[:, np.newaxis]
        with np.errstate(divide="ignore"):
            step = np.log(columns) - np.log(np.maximum(parts.sum(axis=0), 1e-300))
        offsets = offsets + step
        if np.abs(step - step.mean()).max() < 1e-13:
            break
    return offsets, parts


# Rows that are left out.


def _rows_of(table: Any, class_name: str | None, views: Viewset, count: int) -> list[tuple[list[int], int]]:
    """So many people of the table, evenly apart: of a row with a weight there are as many."""
    table = table_of(table, "table")
    if class_name is None:
        raise ValueError("class_name must name the class column of the table")
    if table.n_rows == 0:
        raise ValueError("table: no rows")
    names = [*views.attributes, class_name]
    distinct, codes = table.select(names).collapse(), []
    assert distinct.weights is not None
    for name, domain in zip(names, (*views.domains.values(), views.class_domain), strict=True):
        column = distinct.column(name)
        places = column.domain.positions_in(domain)[column.codes]
        if (places < 0).any():
            value = column.domain.values[column.codes[np.flatnonzero(places < 0)[0]]]
            raise ValueError(f"table: value {value!r} of {name!r} is not in the views")
        codes.append(places)
    _expect_counts(views, codes, distinct.weights)
    # In the order of the views: neither that of rows nor that of a declared domain says who it is.
    order = np.lexsort(codes[::-1])
    ends = np.cumsum(distinct.weights[order])
    people = int(ends[-1])
    count = min(count, people)
    apart = max(count - 1, 1)
    chosen = np.array(sorted({place * (people - 1) // apart for place in range(count)}), np.int64)
    rows = order[np.searchsorted(ends, chosen, side="right")]
    taken = [places[rows].tolist() for places in codes]
    return [(list(row[:-1]), row[-1]) for row in zip(*taken, strict=True)]


def _expect_counts(views: Viewset, codes: list[Any], weights: Any) -> None:
    """ValueError unless the views count these rows: of other people nothing would be measured."""
    *of_attributes, of_class = codes
    for name, places in zip(views.attributes, of_attributes, strict=True):
        counts = np.zeros(views.counts[name].shape, np.int64)
        np.add.at(counts, (places, of_class), weights)
        if not np.array_equal(counts, views.counts[name]):
            value, c = np.argwhere(counts != views.counts[name])[0]
            raise ValueError(
                "table must be the one that the views count: of value "
                f"{views.domain(name)[value]!r} of {name!r} in class {views.classes[c]!r} they have "
                f"{views.counts[name][value, c]} rows, and it has {counts[value, c]}"
            )


def _drawn(views: Viewset, count: int) -> list[tuple[list[int], int]]:
    """So many rows, drawn as the classifier sees them: the same ones in every run."""

    def places(weights: Any, drawn: Floats) -> Longs:
        ends = np.cumsum(np.asarray(weights, np.float64))
        found: Longs = np.searchsorted(ends, drawn * ends[-1], side="right")
        return np.minimum(found, len(ends) - 1)

    classes = places(views.class_counts, uniform_log_loss(count, 0, 0))
    rows: list[tuple[list[int], int]] = []
    draws = [uniform_log_loss(count, i + 1, 1) for i in range(len(views.attributes))]
    for row, c in enumerate(classes.tolist()):
        codes = [
            int(places(views.counts[name][:, c], draws[i][row : row + 1])[0])
            for i, name in enumerate(views.attributes)
        ]
        rows.append((codes, c))
    return rows


def _without(views: Viewset, codes: list[int], c: int) -> Viewset | None:
    """The views without a row, or None where nothing is left of its class or it cannot have been there."""
    of_class = views.class_counts.copy()
    of_class[c] -= 1
    counts = {}
    for name, code in zip(views.attributes, codes, strict=True):
        counts[name] = views.counts[name].copy()
        counts[name][code, c] -= 1
        if counts[name][code, c] < 0:
            return None
    if of_class[c] <= 0:
        return None
    return Viewset.from_parts(of_class, counts, views.class_domain, views.domains)


# Intervals of log-ratios.


def programmes() -> tuple[Any, Any]:
    """What solves linear programmes, and holds them."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ImportError:
        raise ImportError("intervals of log-ratios need scipy: pip install scipy", name="scipy") from None
    return linprog, csr_matrix


def _medians(
    asked: Box, solution: Solution, views: Viewset, progress: Progress | None
) -> tuple[dict[str, float] | None, str | None]:
    """Over all rules with these answers: the median length of intervals, by linear programmes over levels.

    Or why they are not measured.
    """
    linprog, csr_matrix = programmes()
    sizes = [max(of_attribute) + 1 for of_attribute in solution.levels]
    given = _contrast(solution, views)
    if given is None:
        return None, "no two common values of an attribute are told apart, and so nothing gives a scale"
    if math.prod(sizes) > MOST_CUBE:
        return None, f"the levels have {math.prod(sizes):,} combinations, more than {MOST_CUBE:,}"
    starts = np.cumsum([0, *sizes])
    rows = _essential(asked, solution, sizes)
    data, places, columns = [], [], []
    for place, (sign, codes) in enumerate(rows):
        for i, code in enumerate(codes):
            data.append(-sign)
            places.append(place)
            columns.append(starts[i] + code)
    n_rows = len(rows)
    for i, size in enumerate(sizes):
        for level in range(size - 1):
            data += [1, -1]
            places += [n_rows, n_rows]
            columns += [starts[i] + level, starts[i] + level + 1]
            n_rows += 1
    above = csr_matrix((data, (places, columns)), shape=(n_rows, starts[-1]))
    asked_of = _asked_of(solution, views)
    total = sum(len(levels) for _, levels in asked_of)
    work = 2 * total * above.nnz
    if work > MOST_WORK:
        return None, (
            f"{2 * total:,} linear programmes of {above.nnz:,} numbers each are more than {MOST_WORK:,} "
            "numbers together"
        )
    name, high, low, contrast = given
    scale = np.zeros((1, int(starts[-1])))
    at = starts[views.attributes.index(name)]
    scale[0, at + high], scale[0, at + low] = 1, -1
    result = {}
    done = 0
    for i, (of_name, (reference, levels)) in enumerate(zip(views.attributes, asked_of, strict=True)):
        lengths = []
        for level in levels:
            goal = np.zeros(int(starts[-1]))
            goal[starts[i] + level], goal[starts[i] + reference] = 1, -1
            ends = []
            for sign in (1, -1):
                found = linprog(
                    sign * goal,
                    A_ub=above,
                    b_ub=np.zeros(n_rows),
                    A_eq=scale,
                    b_eq=[contrast],
                    bounds=(None, None),
                    method="highs",
                )
                ends.append(sign * found.fun if found.status == 0 else -sign * math.inf)
            lengths.append(max(ends[1] - ends[0], 0.0))
            done += 1
            if progress is not None:
                progress(done, total)
        result[of_name] = float(np.median(lengths)) if lengths else math.inf
    return result, None


def _asked_of(solution: Solution, views: Viewset) -> list[tuple[int, list[int]]]:
    """For each attribute the level of its most frequent value, and those that are compared with it."""
    found = []
    for name, levels in zip(views.attributes, solution.levels, strict=True):
        reference = levels[int(np.asarray(views.counts[name].sum(axis=1), np.float64).argmax())]
        values = np.linspace(0, len(levels) - 1, min(SOME_VALUES, len(levels))).astype(int)
        found.append((reference, sorted({levels[t] for t in values.tolist()} - {reference})))
    return found


def _contrast(solution: Solution, views: Viewset) -> tuple[str, int, int, float] | None:
    """What gives the scale: the widest difference of log-ratios of common values, of few values."""
    for i, name in sorted(enumerate(views.attributes), key=lambda entry: len(views.counts[entry[1]])):
        array = np.asarray(views.counts[name], np.float64)
        common = array.sum(axis=1) >= COMMON * views.n_rows
        both = np.flatnonzero((array > 0).all(axis=1) & common)
        if len(both) < 2:
            continue
        logs = np.log(array[both, 0]) - np.log(array[both, 1])
        high, low = int(both[logs.argmax()]), int(both[logs.argmin()])
        levels = solution.levels[i]
        if levels[high] > levels[low]:
            return name, levels[high], levels[low], float(logs.max() - logs.min())
    return None


def _essential(asked: Box, solution: Solution, sizes: list[int]) -> list[tuple[int, tuple[int, ...]]]:
    """The lowest combinations of levels of label 0, and the highest of label 1: they imply all others."""
    first = [
        [of_attribute.index(level) for level in range(size)]
        for of_attribute, size in zip(solution.levels, sizes, strict=True)
    ]
    combinations = unravelled(np.arange(math.prod(sizes)), sizes)
    codes = np.stack([np.array(of)[column] for of, column in zip(first, combinations.T, strict=True)], axis=1)
    positive = asked.labels(codes) == 0
    lowest, highest = positive.copy(), ~positive
    for axis in range(len(sizes)):
        cube = cubed(positive, sizes, axis)
        below = np.zeros(cube.shape, bool)
        above = np.ones(cube.shape, bool)  # there is nothing above the highest level
        below[:, 1:] = cube[:, :-1]
        above[:, :-1] = cube[:, 1:]
        lowest &= ~below.reshape(-1)
        highest &= above.reshape(-1)
    found = [(1, tuple(row)) for row in combinations[lowest].tolist()]
    return found + [(-1, tuple(row)) for row in combinations[highest].tolist()]
