"""`leak`: what the answers of a classifier give away by themselves. For the eyes of the publisher alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.choices import Preserve
from nbcfast._core.errors import expect
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice, positive
from nbcfast._reading.source import AnyTable
from nbcfast.attack.totals import totals_of_scores
from nbcfast.canonical.arguments import expect_progress
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import AnyBox, Box
from nbcfast.canonical.leave_one_out import Person, drawn_people, people_of, without
from nbcfast.canonical.ratio_intervals import median_lengths, programmes
from nbcfast.canonical.row_shares import IntegerScores
from nbcfast.canonical.weights.results import Solution
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.views import Viewset
from nbcfast.views.flat import usable

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MUCH = 8.0  # bits a weight, above which the verdict is a warning: docs/mathematics/canonical.md, section 9
SAMPLE, LARGE_SAMPLE, LARGE = 64, 12, 10_000_000  # rows left out, and the tuples from which they are fewer


@dataclass(frozen=True, repr=False)
class Leak(HasReadOnlyMappings):
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
        # Few bits are no safety: whatever was found, or not measured, stands beside them.
        if self.cells is None:
            return "Not measured: there is one class, and so the answers say nothing of the values."
        bits = f"{max(self.log2_range, 0.0):.1f} bits a weight"
        recovered = f"public totals and the answers give back the counts of {self._recovered} values"
        if not self.high:  # bits say how fine answers are, and not of how many people, or what others know
            against = [recovered] if self.recovered else []
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
            unmeasured_text = (
                f" Not measured: what public totals give back of {unmeasured:,} of {self.values:,} values, "
                "which have no rows in some class."
            )
            rest = unmeasured_text if unmeasured else ""
            if against:
                return f"The answers carry {bits}, which is few. It is no safety: {'; '.join(against)}.{rest}"
            if rest:
                return f"The answers carry {bits}, which is few.{rest}"
            return f"The answers carry {bits}: little more than which value beats which."
        given_back = f" {recovered.capitalize()}." if self.recovered else ""
        return (
            f"The answers alone carry {bits}, which is much.{given_back} Only a coarser domain changes that: "
            "declare bins that are fixed in advance, leave attributes out, or keep the answers on a public "
            "list of tuples."
        )

    @property
    def _recovered(self) -> str:
        return f"{self.recovered} of {self.cells}"

    def to_dict(self) -> Document:
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
        levels = " x ".join(f"{told_apart} of {size}" for told_apart, size in self.levels.values())
        recovered = "" if self.recovered is None else f"; totals attack {self._recovered}"
        if self.cells is None:
            return "Leak(not measured: one class)"
        return (
            f"Leak({self.log2_range:.1f} bits a weight; levels {levels}"
            f"{recovered}; {self.unchanged:.0%} of {self.sampled} people leave no trace)"
        )


def leak(
    views: Viewset,
    *,
    preserve: Preserve = "label",
    table: AnyTable | None = None,
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
    weights = max(sum(sizes.values()) - len(sizes) + 1, 1)  # that are free: one-hot tuples span so many
    bound = math.log2(math.e * tuples / weights)
    if asked.n_classes == 1:
        levels = {name: (1, size) for name, size in sizes.items()}
        return Leak(tuples, -math.inf, bound, 0.0, MappingProxyType(levels), None, None, None, 1.0, 0)
    solution = solve(asked, progress=progress)
    levels = {
        name: (max(of_attribute) + 1, size)
        for (name, size), of_attribute in zip(sizes.items(), solution.levels, strict=True)
    }
    medians, why_not = None, None
    if intervals and isinstance(asked, Box):
        medians, why_not = median_lengths(asked, solution, views, progress)
    elif intervals:
        why_not = "they are of two classes"
    recovered, cells = _totals(asked, solution, views, progress)
    count = sample or (SAMPLE if tuples < LARGE else LARGE_SAMPLE)
    people = drawn_people(views, count) if table is None else people_of(table, class_name, views, count)
    return Leak(
        tuples=tuples,
        log2_range=float(solution.log2_range),
        counting_bound=bound,
        total_bits=1 + weights * bound,
        levels=MappingProxyType(levels),
        intervals=None if medians is None else MappingProxyType(medians),
        recovered=recovered,
        cells=cells,
        unchanged=_unchanged(asked, views, people, preserve, threads, progress),
        sampled=len(people),
        no_intervals=why_not,
        alone=sum(int((array.sum(axis=1) == 1).sum()) for array in views.counts.values()),
    )


def _totals(asked: AnyBox, solution: Solution, views: Viewset, progress: Progress | None) -> tuple[int, int]:
    """What the totals attack recovers from the points of these answers, and of how many values."""
    scores = IntegerScores.of(integers(asked, solution, progress=progress))
    points = [np.array(rows, np.float64).reshape(len(rows), -1) for rows in scores.points]
    result = totals_of_scores(points, np.array(scores.base, np.float64), views)
    return result.found - result.zeros_found, result.cells - result.zeros


def _unchanged(
    asked: AnyBox,
    views: Viewset,
    people: list[Person],
    preserve: Preserve,
    threads: int | None,
    progress: Progress | None,
) -> float:
    """The share of these people without whom, one at a time, every answer is as it was."""
    unchanged = 0
    traceless: dict[Person, bool] = {}  # people with the same values share their answer
    for done, person in enumerate(people):
        if person not in traceless:
            others = without(views, person)
            # Who cannot be left out leaves a trace: the meter may not err towards safety.
            traceless[person] = others is not None and box(others, mode=preserve, threads=threads) == asked
        unchanged += traceless[person]
        if progress is not None:
            progress(done + 1, len(people))
    return unchanged / len(people)
