"""`leak`: what the answers of a classifier give away by themselves. For the eyes of the publisher alone."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast._core.choices import Preserve
from nbcfast._core.errors import expect
from nbcfast._core.numbers import Number, Numeral
from nbcfast._core.validation import choice, positive
from nbcfast._reading.source import AnyTable
from nbcfast.attack.totals import TotalsAttack, totals_of_scores
from nbcfast.canonical.arguments import expect_progress
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import AnyBox, Box
from nbcfast.canonical.exchanges import PeopleRows, Shown, TooManyTiesError, flip_and_trace, work
from nbcfast.canonical.leakage import Leak
from nbcfast.canonical.leave_one_out import (
    at_most,
    drawn_rows,
    of_one_class,
    people_of_one_class,
    rows_of,
    sample_of,
)
from nbcfast.canonical.ratio_intervals import median_lengths, programmes
from nbcfast.canonical.row_shares import IntegerScores
from nbcfast.canonical.weights.results import Solution
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.views import Viewset
from nbcfast.views.flat import usable
from nbcfast.views.integers import as_counts
from nbcfast.views.smoothing import constant

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_WORK = 500_000_000  # sums looked at for all changes of rows together, some second
MOST_SAMPLE, SAMPLE, LARGE_SAMPLE = 1000, 64, 12  # people of a sample: as the work allows
LARGE = 2 * MOST_WORK  # work of SAMPLE people, above which they are LARGE_SAMPLE


# Long by its result, which is written field by field.
def leak(
    views: Viewset,
    *,
    preserve: Preserve = "label",
    alpha: Numeral | None = None,
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
    alpha : int, Fraction, str or float, optional
        Those of the classifier with so much added to every count, as of `release`. It is public, and the
        totals attack knows it; people are exchanged and left out of the counts before it is added.
    table : Table, or what it is made of, optional
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The private table, which the views count, and
    class_name : str, optional
        its class column: people whose class is exchanged, and who are left out, are those of it. By default
        they are drawn as the classifier sees them, values independent within a class.
    sample : int, optional
        How many people are looked at, one at a time: drawn at random, the same ones in every run. By default
        everybody in the table, as far as some second of work goes, and beyond that a sample.
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
    >>> found.levels["job"], found.exact
    ((1, 2), False)
    """
    expect(views, Viewset, "views")
    expect(intervals, bool, "intervals")
    expect_progress(progress)
    choice(preserve, ("label", "order"), "preserve")
    usable(views)
    sample = None if sample is None else positive(sample, "sample")
    added = None if alpha is None else constant(alpha)
    if intervals:
        programmes()  # now, and not after everything else
    asked = box(
        views if added is None else views.smoothed(added), mode=preserve, threads=threads, progress=progress
    )
    sizes = {name: len(views.domain(name)) for name in views.attributes}
    counting = _Counting.of(sizes, asked.n_classes, preserve)
    if asked.n_classes == 1:
        levels = {name: (1, size) for name, size in sizes.items()}
        return _of_one_class(views, levels, counting)
    solution = solve(asked, progress=progress)
    levels = {
        name: (max(of_attribute) + 1, size)
        for (name, size), of_attribute in zip(sizes.items(), solution.levels, strict=True)
    }
    medians, why_not = None, None
    if intervals:
        medians, why_not = _intervals(asked, solution, _with(views, added), progress)
    totals = totals_of(asked, solution, views, progress, added)
    everybody = None if table is None else rows_of(table, class_name, views)
    shown, exact = shown_of(asked, views, everybody, sample, alpha=added, threads=threads, progress=progress)
    looked_at = shown.n_people
    values = of_one_class(views)
    return Leak(
        tuples=counting.tuples,
        bits=float(solution.log2_range),
        counting_bound=counting.bound,
        total_bits=counting.total,
        levels=MappingProxyType(levels),
        intervals=None if medians is None else MappingProxyType(medians),
        found=totals.found,
        found_near=totals.near,
        cells=totals.cells,
        null_found=totals.null_found,
        null_near=totals.null_near,
        flip=share_of(shown.flipped, looked_at),
        trace=share_of(shown.traceless, looked_at),
        flip_shows_at_most=None if exact else at_most(looked_at - shown.flipped, looked_at),
        trace_shows_at_most=None if exact else at_most(looked_at - shown.traceless, looked_at),
        exact=exact,
        sampled=looked_at,
        of_table=everybody is not None,
        one_class_values=sum(int(flags.sum()) for flags in values),
        one_class_people=people_of_one_class(views, values, everybody),
        alone=_alone(views),
        no_intervals=why_not,
        smoothed=added is not None,
    )


def _intervals(
    asked: AnyBox, solution: Solution, views: Viewset, progress: Progress | None
) -> tuple[dict[str, float] | None, str | None]:
    """The median intervals of log-ratios, or why there are none."""
    if not isinstance(asked, Box):
        return None, "they are of two classes"
    return median_lengths(asked, solution, views, progress)


def share_of(people: int, of: int) -> float:
    """1 for all of them alone: of 2^60 people one who shows is lost to rounding, and may not be."""
    share = people / of
    return math.nextafter(1, 0) if share == 1 and people < of else share


class _Counting(NamedTuple):
    """How many rules of this form there can be: docs/mathematics/canonical.md, section 9."""

    tuples: int
    bound: float  # bits a free weight
    total: float

    @classmethod
    def of(cls, sizes: dict[str, int], n_classes: int, preserve: Preserve) -> _Counting:
        tuples = math.prod(sizes.values())
        if n_classes == 1:
            return cls(tuples, 0.0, 0.0)
        weights = (n_classes - 1) * (sum(sizes.values()) - len(sizes) + 1)  # one-hot tuples span so many
        comparisons = tuples * n_classes * (n_classes - 1) // 2
        bound = math.log2(math.e * comparisons / weights)
        answers = math.factorial(n_classes) if preserve == "order" else n_classes
        return cls(tuples, bound, min(1 + weights * bound, tuples * math.log2(answers)))


def most_told(sizes: dict[str, int], n_classes: int, preserve: Preserve) -> float:
    """The bits that all answers on a domain can say at most, whatever they are: `Leak.total_bits`.

    Examples
    --------
    >>> round(most_told({"job": 2, "sex": 2}, 2, "label"), 6)
    4.0
    """
    return _Counting.of(sizes, n_classes, preserve).total


def _of_one_class(views: Viewset, levels: dict[str, tuple[int, int]], counting: _Counting) -> Leak:
    """Of one class nothing is told apart, and nothing measured."""
    return Leak(
        tuples=counting.tuples,
        bits=-math.inf,
        counting_bound=counting.bound,
        total_bits=counting.total,
        levels=MappingProxyType(levels),
        intervals=None,
        found=None,
        found_near=None,
        cells=None,
        null_found=None,
        null_near=None,
        flip=1.0,
        trace=1.0,
        flip_shows_at_most=None,
        trace_shows_at_most=None,
        exact=False,
        sampled=0,
        of_table=False,
        one_class_values=0,
        one_class_people=0,
        alone=_alone(views),
    )


def _with(views: Viewset, alpha: Number | None) -> Viewset:
    """Counts of which log-ratios are those of the smoothed ones, in short integers."""
    if alpha is None:
        return views
    times, more = alpha.denominator, alpha.numerator
    counts = {
        name: as_counts(array.astype(object) * times + more, name) for name, array in views.counts.items()
    }
    class_counts = as_counts(views.class_counts.astype(object) * times, "class_counts")
    return Viewset.from_parts(class_counts, counts, views.class_domain, views.domains)


def _alone(views: Viewset) -> int:
    """Values that a single person has."""
    return sum(int((array.sum(axis=1) == 1).sum()) for array in views.counts.values())


def totals_of(
    asked: AnyBox,
    solution: Solution,
    views: Viewset,
    progress: Progress | None,
    alpha: Number | None = None,
) -> TotalsAttack:
    """What public totals and the points of these answers give back of the counts."""
    scores = IntegerScores.of(integers(asked, solution, progress=progress))
    points = [np.array(rows, np.float64).reshape(len(rows), -1) for rows in scores.points]
    return totals_of_scores(points, np.array(scores.base, np.float64), views, alpha)


def shown_of(
    asked: AnyBox,
    views: Viewset,
    everybody: PeopleRows | None,
    sample: int | None,
    *,
    alpha: Number | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Shown, bool]:
    """What shows of everybody, or of a sample where that is much work, and whether it is of everybody."""
    people, exact = _looked_at_of(asked, views, everybody, sample)
    try:
        most = MOST_WORK if exact and sample is None else None
        shown = flip_and_trace(
            asked, views, people, alpha=alpha, most_work=most, threads=threads, progress=progress
        )
        return shown, exact
    except TooManyTiesError:
        people = sample_of(people, SAMPLE)
        shown = flip_and_trace(asked, views, people, alpha=alpha, threads=threads, progress=progress)
        return shown, False


def _looked_at_of(
    asked: AnyBox, views: Viewset, everybody: PeopleRows | None, sample: int | None
) -> tuple[PeopleRows, bool]:
    """Whose class and presence is looked at, and whether these are all in the table.

    By counted work, so that on every machine the same people are looked at.
    """
    if everybody is not None:
        few = work(asked, len(everybody.weights)) <= MOST_WORK
        if few if sample is None else sample >= everybody.n_people:
            return everybody, True
    if sample is None:
        one = work(asked, 1)
        least = SAMPLE if SAMPLE * one <= LARGE else LARGE_SAMPLE
        sample = max(least, min(MOST_WORK // one, MOST_SAMPLE))
    return (drawn_rows(views, sample) if everybody is None else sample_of(everybody, sample)), False
