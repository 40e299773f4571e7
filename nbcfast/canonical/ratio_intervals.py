"""Intervals of log-ratios: how far all rules with the same answers pin down ln N_0(t) / N_1(t).

By linear programmes over levels (docs/mathematics/canonical.md, section 9). For the leak meter alone: it
reads private counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast._halves.codes import unravelled
from nbcfast.canonical.boxes.sides import cubed
from nbcfast.canonical.boxes.types import Box
from nbcfast.canonical.weights.results import Solution
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

SOME_VALUES = 12  # of an attribute, whose intervals are looked at
MOST_CUBE = 2_000_000  # combinations of levels up to which intervals are looked at
MOST_WORK = 5_000_000  # linear programmes times the numbers in each: some ten seconds
COMMON = 0.01  # share of the rows from which a value gives the scale


class Optimised(Protocol):
    """What SciPy says of a linear programme."""

    @property
    def status(self) -> int: ...
    @property
    def fun(self) -> float: ...


class SparseRows(Protocol):
    """A sparse matrix of SciPy."""

    @property
    def nnz(self) -> int: ...


class Programmes(NamedTuple):
    """What solves linear programmes, and what holds them."""

    solve: Callable[..., Optimised]
    matrix: Callable[..., SparseRows]


class Contrast(NamedTuple):
    """Two levels of an attribute, and by how much the private log-ratios of their values differ."""

    attribute: int
    high: int
    low: int
    difference: float


class ComparedLevels(NamedTuple):
    """The levels of an attribute whose intervals are measured, and the level they are measured against."""

    reference: int
    levels: list[int]


def programmes() -> Programmes:
    """SciPy's, or an ImportError that says how to get them."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ImportError:
        raise ImportError("intervals of log-ratios need scipy: pip install scipy", name="scipy") from None
    return Programmes(linprog, csr_matrix)


def median_lengths(
    asked: Box, solution: Solution, views: Viewset, progress: Progress | None
) -> tuple[dict[str, float] | None, str | None]:
    """The median length of the intervals of each attribute, over all rules with these answers.

    Or None and why they are not measured.
    """
    solver = programmes()
    sizes = [max(levels) + 1 for levels in solution.levels]
    contrast = _contrast(solution, views)
    if contrast is None:
        return None, "no two common values of an attribute are told apart, and so nothing gives a scale"
    if math.prod(sizes) > MOST_CUBE:
        return None, f"the levels have {math.prod(sizes):,} combinations, more than {MOST_CUBE:,}"
    starts = np.cumsum([0, *sizes]).tolist()
    demands, n_demands = _demands(asked, solution, sizes, starts, solver)
    comparisons = _comparisons(solution, views)
    total = sum(len(comparison.levels) for comparison in comparisons)
    work = 2 * total * demands.nnz
    if work > MOST_WORK:
        return None, (
            f"{2 * total:,} linear programmes of {demands.nnz:,} numbers each are more than {MOST_WORK:,} "
            "numbers together"
        )
    # Answers do not change when all weights are multiplied, so without one known contrast every interval
    # with more than one point would have no end.
    scale = np.zeros((1, starts[-1]))
    scale[0, starts[contrast.attribute] + contrast.high] = 1
    scale[0, starts[contrast.attribute] + contrast.low] = -1

    def end(goal: Floats, sign: int) -> float:
        optimum = solver.solve(
            sign * goal,
            A_ub=demands,
            b_ub=np.zeros(n_demands),
            A_eq=scale,
            b_eq=[contrast.difference],
            bounds=(None, None),
            method="highs",
        )
        return sign * optimum.fun if optimum.status == 0 else -sign * math.inf

    medians, done = {}, 0
    for name, start, comparison in zip(views.attributes, starts[:-1], comparisons, strict=True):
        lengths = []
        for level in comparison.levels:
            goal = np.zeros(starts[-1])
            goal[start + level], goal[start + comparison.reference] = 1, -1
            lowest, highest = end(goal, 1), end(goal, -1)
            lengths.append(max(highest - lowest, 0.0))
            done += 1
            if progress is not None:
                progress(done, total)
        medians[name] = float(np.median(lengths)) if lengths else math.inf
    return medians, None


def _comparisons(solution: Solution, views: Viewset) -> list[ComparedLevels]:
    """For each attribute the level of its most frequent value, and those that are compared with it."""
    comparisons = []
    for name, levels in zip(views.attributes, solution.levels, strict=True):
        reference = levels[int(np.asarray(views.counts[name].sum(axis=1), np.float64).argmax())]
        values = np.linspace(0, len(levels) - 1, min(SOME_VALUES, len(levels))).astype(int)
        comparisons.append(
            ComparedLevels(reference, sorted({levels[t] for t in values.tolist()} - {reference}))
        )
    return comparisons


def _contrast(solution: Solution, views: Viewset) -> Contrast | None:
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
            return Contrast(i, levels[high], levels[low], float(logs.max() - logs.min()))
    return None


def _demands(
    asked: Box, solution: Solution, sizes: list[int], starts: list[int], solver: Programmes
) -> tuple[SparseRows, int]:
    """What every rule with these answers satisfies: M x <= 0; and the number of rows of M.

    The sum of a tuple has the sign of its label, or is 0, and levels of an attribute rise.
    """
    data, places, columns = [], [], []
    essential = _essential(asked, solution, sizes)
    for place, (sign, codes) in enumerate(essential):
        for i, code in enumerate(codes):
            data.append(-sign)
            places.append(place)
            columns.append(starts[i] + code)
    n_demands = len(essential)
    for start, size in zip(starts[:-1], sizes, strict=True):
        for level in range(size - 1):
            data += [1, -1]
            places += [n_demands, n_demands]
            columns += [start + level, start + level + 1]
            n_demands += 1
    return solver.matrix((data, (places, columns)), shape=(n_demands, starts[-1])), n_demands


def _essential(asked: Box, solution: Solution, sizes: list[int]) -> list[tuple[int, tuple[int, ...]]]:
    """The lowest combinations of levels of label 0, and the highest of label 1: they imply all others.

    With the sign of their sums. As levels rise, what is above one of label 0 has label 0 too
    (docs/mathematics/canonical.md, section 3).
    """
    first = [
        [levels.index(level) for level in range(size)]
        for levels, size in zip(solution.levels, sizes, strict=True)
    ]
    combinations = unravelled(np.arange(math.prod(sizes)), sizes)
    codes = np.stack(
        [np.array(values)[column] for values, column in zip(first, combinations.T, strict=True)], axis=1
    )
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
    positives = [(1, tuple(row)) for row in combinations[lowest].tolist()]
    return positives + [(-1, tuple(row)) for row in combinations[highest].tolist()]
