"""The tables of `_score`: logarithms with their error bound, the integers behind them, and costs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._columns import Columns, caches
from nbcfast._core.dtypes import Counts, Floats, Longs, Words
from nbcfast._core.joint import JointTables, plan
from nbcfast._core.numbers import ROUND_OFF, Numeral, exact
from nbcfast._score import Scores
from nbcfast.table.values import INT64_MAX
from nbcfast.views.costing import NO_SCALE, scale
from nbcfast.views.integers import as_counts, as_limbs, logarithms

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

# Nanoseconds: a look-up; a table entry. Entries beyond MOST_ENTRIES doubles would leave the second cache.
ROW_COST, ENTRY_COST, MOST_ENTRIES = 0.35, 1.0, 60_000
# The same for costs of sixteen classes, of two bytes each: tables take half of the second cache at most.
COSTS_ROW_COST, COST_COST, MOST_COSTS = 0.35, 0.7, min(240_000, caches()[1] // 4)

NONE = Fraction(0)  # smoothing


def smoothing_of(alpha: Numeral) -> Fraction:
    """The smoothing that an argument asks for."""
    if type(alpha) is int and alpha == 0:
        return NONE
    exactly = Fraction(exact(alpha, "alpha"))
    if exactly < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    return exactly


def score_tables(
    views: Viewset,
    columns: Columns,
    tables: list[Longs],
    n_rows: int,
    smoothing: Fraction,
    leave_out: bool = False,
    by_costs: bool = False,
) -> tuple[Scores, int]:
    """The tables for columns whose code x stands for row tables[a][x] of the counts, or for no row (-1).

    They are cheapest for `n_rows` rows, and right for any; `by_costs`, of more than two classes, for the best
    class alone. The second is how many bytes they have, but for the joint ones, which have MOST_ENTRIES
    doubles or MOST_COSTS costs at most where attributes share any.
    """
    n, n_classes = len(tables), len(views.classes)
    if n_classes == 1:
        return _of_one_class(columns, sum(map(len, tables))), 0
    counts = [_looked_up(array, table) for array, table in zip(views.counts.values(), tables, strict=True)]
    sizes = [len(table) for table in tables]
    joint: Counts = np.concatenate(counts) if counts else np.zeros((0, n_classes), np.int64)
    joint, up, down = _factors(views, joint, smoothing)
    if leave_out and any((table < 0).any() for table in tables):
        joint = _left_out(views, joint, tables, smoothing)

    logs = logarithms(joint)
    base = logarithms(_objects(up)) - logarithms(_objects(down))
    # A sum of n + 1 terms, each of at most two logarithms that were rounded twice: every one of the at most
    # n + 5 roundings of a term or partial sum is within ROUND_OFF of 2 * most.
    most = sum(_largest(part) for part in np.split(logs, np.cumsum(sizes[:-1]))) if n else 0.0
    most += _largest(base) + _largest(logarithms(_objects(down)))
    bound = 1.01 * (n + 5) * ROUND_OFF * 2 * most
    singles, wide_base = _laid_out(logs, base)
    # All numbers of N and up have equally many limbs.
    limbs, up_limbs = as_limbs(joint), as_limbs(_objects(up))
    room = max(limbs.shape[-1], up_limbs.shape[-1])
    by_costs = by_costs and n_classes > 2 and n > 0
    groups = _plan(sizes, n_rows, n_classes, by_costs)
    unit, cap = scale(logs, base, sizes, groups) if by_costs else NO_SCALE
    limbs, up_limbs = _widened(limbs, room), _widened(up_limbs, room)
    scores = Scores(
        columns,
        groups.first,
        groups.members,
        np.ascontiguousarray(singles),
        np.ascontiguousarray(wide_base),
        bound,
        limbs,
        up_limbs,
        as_limbs(_objects(down)),
        unit,
        cap,
    )
    return scores, singles.nbytes + limbs.nbytes + (2 * _lanes(n_classes) * len(singles) if by_costs else 0)


def _plan(sizes: list[int], n_rows: int, n_classes: int, by_costs: bool) -> JointTables:
    """Which attributes share a table: of costs, or of doubles."""
    if by_costs:
        lanes = _lanes(n_classes)
        return plan(
            sizes,
            n_rows,
            width=lanes,
            most_entries=MOST_COSTS,
            most_table=MOST_COSTS // 2,
            row_cost=COSTS_ROW_COST * max(1, lanes / 16),
            entry_cost=COST_COST,
        )
    width = _width(n_classes)
    return plan(
        sizes,
        n_rows,
        width=width,
        most_entries=MOST_ENTRIES,
        row_cost=ROW_COST * max(1, width / 4),
        entry_cost=ENTRY_COST,
    )


def _lanes(n_classes: int) -> int:
    """Costs of an entry."""
    return 4 if n_classes <= 4 else -(-n_classes // 8) * 8


def _width(n_classes: int) -> int:
    """Doubles of an entry."""
    if n_classes == 2:
        return 1
    return next((width for width in (4, 8, 16) if width >= n_classes), -(-n_classes // 8) * 8)


def _of_one_class(columns: Columns, n_codes: int) -> Scores:
    """One class beside a second that never wins: the kernel compares two at least."""
    ones = np.ones((2, 1), np.uint64)
    limbs = np.ones((n_codes, 2, 1), np.uint64)
    first, members = np.zeros(1, np.int64), np.zeros(0, np.int64)
    return Scores(columns, first, members, np.zeros((n_codes, 1)), np.full(1, np.inf), 0.0, limbs, ones, ones)


def _factors(views: Viewset, counts: Counts, alpha: Fraction) -> tuple[Counts, list[int], list[int]]:
    """Counts N of these values, and up and down of each class with X_c = up_c / down_c prod_i N^i.

    Without smoothing up is 1 and down P_c^(n-1). With alpha = a / b, X_c = P_c prod_i (b N + a) / (b P_c + a
    |A_i|). A class without rows has X = 0.
    """
    of_class: list[int] = views.class_counts.tolist()
    n = len(views.counts)
    if alpha:
        a, b = alpha.numerator, alpha.denominator
        if counts.dtype.kind != "O" and max(b, b * int(counts.max(initial=0)) + a) > INT64_MAX:
            counts = counts.astype(object)
        counts = as_counts(counts * b + a, "smoothed counts")
        sizes = [len(array) for array in views.counts.values()]
        up, down = of_class, [math.prod(b * p + a * size for size in sizes) for p in of_class]
    elif n:
        up, down = [int(p > 0) for p in of_class], [int(gmpy2.mpz(p) ** (n - 1)) for p in of_class]
    else:
        up, down = of_class, [1] * len(of_class)
    return counts, up, [d or 1 for d in down]


def _left_out(views: Viewset, counts: Counts, tables: list[Longs], alpha: Fraction) -> Counts:
    """The same with b P_c + a |A_i| for no row: what an attribute divides by, so it is no factor of X_c."""
    a, b = alpha.numerator, alpha.denominator
    of_class: list[int] = views.class_counts.tolist()
    result, start = counts.astype(object), 0
    for array, table in zip(views.counts.values(), tables, strict=True):
        result[start : start + len(table)][table < 0] = [b * p + a * len(array) for p in of_class]
        start += len(table)
    return as_counts(result, "counts")


def _laid_out(logs: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Logarithms as the kernel adds them: of two classes their difference alone, of more in whole vectors."""
    n_classes = len(base)
    if n_classes == 2:
        with np.errstate(invalid="ignore"):
            return logs[:, :1] - logs[:, 1:], base[:1] - base[1:]
    width = _width(n_classes)
    singles, wide = np.full((len(logs), width), -np.inf), np.full(width, -np.inf)
    singles[:, :n_classes], wide[:n_classes] = logs, base
    return singles, wide


def _looked_up(counts: Counts, table: Longs) -> Counts:
    result: Counts = counts[table] if len(counts) else np.zeros((len(table), counts.shape[1]), counts.dtype)
    result[table < 0] = 0
    return result


def _objects(numbers: list[int]) -> Counts:
    array = np.empty(len(numbers), object)
    array[:] = numbers
    return array


def _largest(logs: Floats) -> float:
    """The largest size of a finite entry."""
    return float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0))


def _widened(limbs: Words, size: int) -> Words:
    missing = size - limbs.shape[-1]
    if not missing:
        return np.ascontiguousarray(limbs)
    return np.concatenate([limbs, np.zeros((*limbs.shape[:-1], missing), np.uint64)], axis=-1)
