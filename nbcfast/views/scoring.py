"""Exact predictions: what goes into the tables of `_score`, and the error bound of its floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import gmpy2
import numpy as np

from nbcfast._columns import Columns, caches
from nbcfast._core.dtypes import Array, Bools, Bytes, Counts, Floats, Longs, UInt16s, Words
from nbcfast._core.joint import JointTables, plan
from nbcfast._core.numbers import ROUND_OFF, Numeral, exact
from nbcfast._core.threads import MOST_ROWS, n_threads, over_rows
from nbcfast._core.validation import choice
from nbcfast._reading.source import DECIDED_THERE, AnyTable, rows_from
from nbcfast._score import Scorer, Scores
from nbcfast.table.encode import used_values
from nbcfast.table.values import INT64_MAX
from nbcfast.views.costing import NO_SCALE, scale
from nbcfast.views.integers import as_counts, as_limbs, logarithms

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.views.viewset import Viewset

# Nanoseconds: a look-up; a table entry. Entries beyond MOST_ENTRIES doubles would leave the second cache.
ROW_COST, ENTRY_COST, MOST_ENTRIES = 0.35, 1.0, 60_000
# The same for costs of sixteen classes, of two bytes each: tables take half of the second cache at most.
COSTS_ROW_COST, COST_COST, MOST_COSTS = 0.35, 0.7, min(240_000, caches()[1] // 4)


def predict(
    views: Viewset,
    table: AnyTable,
    alpha: Numeral,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
    ties: bool = False,
) -> tuple[Array, Bools | None]:
    """The best class of every row, and with `ties` whether it shares its X."""
    columns, tables, n_rows = matched(views, table, unseen)
    leave_out = unseen == "ignore"
    return _predict(views, columns, tables, n_rows, alpha, threads, progress, ties=ties, leave_out=leave_out)


def predict_placed(
    views: Viewset,
    columns: list[Array],
    tables: list[Longs],
    n_rows: int,
    threads: int | None,
    progress: Progress | None,
    leave_out: bool = False,
) -> Array:
    """The best class of every row of columns of codes, one an attribute.

    Each table says for a code the position of its value in the views, or -1, which counts as 0 everywhere, or
    with `leave_out` is no factor of any class.
    """
    return _predict(views, columns, tables, n_rows, 0, threads, progress, leave_out=leave_out)[0]


def predict_codes(views: Viewset, columns: list[Array], n_rows: int) -> Array:
    """The best class of every row of unsigned columns, one an attribute, of positions in their domains."""
    tables = [np.arange(len(array)) for array in views.counts.values()]
    return _predict(views, columns, tables, n_rows, 0, None, None)[0]


def order(
    views: Viewset,
    table: AnyTable,
    alpha: Numeral,
    unseen: str,
    threads: int | None,
    progress: Progress | None,
) -> UInt16s:
    """All classes of every row, best first."""
    columns, tables, n_rows = matched(views, table, unseen)
    result = np.zeros((n_rows, len(views.classes)), np.uint16)
    if len(views.classes) > 1:
        scores = _scores(views, columns, tables, n_rows, alpha, unseen == "ignore")
        _run(
            scores,
            lambda scorer, start, stop: scorer.order(start, stop, result),
            columns,
            n_rows,
            threads,
            progress,
            len(views.classes),
        )
    else:
        _check_options(alpha, threads)
    return result


def tied_tuples(views: Viewset, limit: int) -> int | None:
    """Tuples of the product domain whose largest X is shared; None where there are more than `limit`."""
    sizes = [len(array) for array in views.counts.values()]
    n_tuples = math.prod(sizes)
    if n_tuples > limit:
        return None
    columns, after = [], n_tuples
    for size in sizes:
        after = after // size if size else 0
        codes = np.arange(size, dtype=np.uint16 if size <= 1 << 16 else np.uint32)
        columns.append(np.tile(np.repeat(codes, after), n_tuples // max(size * after, 1)))
    tables = [np.arange(size) for size in sizes]
    _, tied = _predict(views, columns, tables, n_tuples, 0, None, None, ties=True)
    return 0 if tied is None else int(np.count_nonzero(tied))


def _predict(
    views: Viewset,
    columns: list[Array],
    tables: list[Longs],
    n_rows: int,
    alpha: Numeral,
    threads: int | None,
    progress: Progress | None,
    *,
    ties: bool = False,
    leave_out: bool = False,
) -> tuple[Array, Bools | None]:
    n_classes = len(views.classes)
    labels: Bytes | UInt16s = np.zeros(n_rows, np.uint8) if n_classes <= 256 else np.zeros(n_rows, np.uint16)
    tied = np.zeros(n_rows, np.uint8) if ties else None
    if n_classes > 1:
        scores = _scores(views, columns, tables, n_rows, alpha, leave_out, by_costs=n_classes > 2)
        _run(
            scores,
            lambda scorer, start, stop: scorer.predict(start, stop, labels, tied),
            columns,
            n_rows,
            threads,
            progress,
            n_classes,
        )
    else:
        _check_options(alpha, threads)
    return labels, None if tied is None else tied.view(np.bool_)


def _run(
    scores: Scores,
    work: Callable[[Scorer, int, int], int],
    columns: list[Array],
    n_rows: int,
    threads: int | None,
    progress: Progress | None,
    n_classes: int,
) -> None:
    def checked(scorer: Scorer, start: int, stop: int) -> None:
        bad = work(scorer, start, stop)
        if bad >= 0:
            raise ValueError(f"column {bad} has a code outside its domain")

    n_bytes = sum(column.itemsize for column in columns) * n_rows
    over_rows(
        lambda: Scorer(scores),
        checked,
        n_rows,
        threads=n_threads(threads, n_bytes),
        progress=progress,
        # Where rows are close, each takes exact products of every class.
        most_rows=MOST_ROWS // n_classes,
    )


def matched(views: Viewset, table: AnyTable, unseen: str) -> tuple[list[Array], list[Longs], int]:
    """The codes of each attribute, and for each code the position of its value in the views or -1."""
    choice(unseen, ("error", "ignore", "zero"), "unseen")
    table = rows_from(table, DECIDED_THERE)
    codes, tables = [], []
    for name in views.attributes:
        if name not in table.names:
            raise ValueError(f"the table has no column {name!r}, which the views need; it has {table.names}")
        column = table.column(name)
        places = column.domain.positions_in(views.domains[name])
        if unseen == "error" and (places < 0).any():
            used = used_values(column.codes, len(column.domain)).astype(bool)
            theirs, ours = column.domain.kind, views.domains[name].kind
            for position in np.flatnonzero((places < 0) & used).tolist():
                hint = (
                    "Viewset.predict(.., unseen='ignore') leaves the attribute out of such rows; values that "
                    "are known in advance can be declared before they are counted"
                )
                if ours == "interval" != theirs:
                    hint = "the views hold intervals: bin the table with their domain as edges"
                elif {theirs, ours} not in ({ours}, {None, ours}, {"int", "float"}):
                    hint = f"the views hold values of kind {ours}, the table {theirs}"
                value = column.domain.values[position]
                raise ValueError(f"column {name!r}: value {value!r} is unknown to the views; {hint}")
        codes.append(column.codes)
        tables.append(places)
    return codes, tables, table.n_rows


def _smoothing(alpha: Numeral) -> Fraction:
    exactly = Fraction(exact(alpha, "alpha"))
    if exactly < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    return exactly


def _check_options(alpha: Numeral, threads: int | None) -> None:
    """What a single class has no use for."""
    _smoothing(alpha)
    n_threads(threads, 0)


def _scores(
    views: Viewset,
    codes: list[Array],
    tables: list[Longs],
    n_rows: int,
    alpha: Numeral,
    leave_out: bool = False,
    by_costs: bool = False,
) -> Scores:
    """The tables for columns whose code x stands for row tables[a][x] of the counts, or for no row (-1)."""
    n, n_classes = len(codes), len(views.classes)
    counts = [_looked_up(array, table) for array, table in zip(views.counts.values(), tables, strict=True)]
    sizes = [len(table) for table in tables]
    joint: Counts = np.concatenate(counts) if counts else np.zeros((0, n_classes), np.int64)
    joint, up, down = _factors(views, joint, _smoothing(alpha))
    if leave_out and any((table < 0).any() for table in tables):
        joint = _left_out(views, joint, tables, _smoothing(alpha))

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
    by_costs = by_costs and n > 0
    groups = _plan(sizes, n_rows, n_classes, by_costs)
    unit, cap = scale(logs, base, sizes, groups) if by_costs else NO_SCALE
    return Scores(
        Columns(codes, sizes, n_rows),
        groups.first,
        groups.members,
        np.ascontiguousarray(singles),
        np.ascontiguousarray(wide_base),
        bound,
        _widened(limbs, room),
        _widened(up_limbs, room),
        as_limbs(_objects(down)),
        unit,
        cap,
    )


def _plan(sizes: list[int], n_rows: int, n_classes: int, by_costs: bool) -> JointTables:
    """Which attributes share a table: of costs, or of doubles."""
    if by_costs:
        lanes = 4 if n_classes <= 4 else -(-n_classes // 8) * 8
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


def _width(n_classes: int) -> int:
    """Doubles of an entry."""
    if n_classes == 2:
        return 1
    return next((width for width in (4, 8, 16) if width >= n_classes), -(-n_classes // 8) * 8)


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
