"""Mondrian in memory: levels and subtrees of one table, over threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Bytes, Longs, UInt32s
from nbcfast._core.threads import over_spans
from nbcfast._partition import Level, Problem, Scratch
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.quasi import Quasi

if TYPE_CHECKING:
    from nbcfast._columns import Columns
    from nbcfast._core.threads import Progress

Span = tuple[int, int]

SUBTREE_ROWS = 1 << 22  # a subtree of so many rows is done in one go: tens of milliseconds
LEAST_SUBTREE = 1 << 14  # rows below which a thread is not worth its start
SPAN_ROWS = 1 << 20  # that are made into records, or decided, in one go


@dataclass(frozen=True, eq=False)
class Leaves:
    """The groups of a partition, from the lowest box to the highest.

    Attributes
    ----------
    starts, rows, people, levels : ndarray of int64
        Where the rows of each stand among the records, how many they are, for how many people they stand, and
        how often they were split off; records of even levels stand in one array, of odd ones in the other.
    boxes : ndarray of uint32, shape (leaves, attributes, 2)
        The lowest and the highest code of each.
    """

    starts: Longs
    rows: Longs
    people: Longs
    levels: Longs
    boxes: UInt32s

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, parts: list[tuple[Longs, UInt32s]]) -> Leaves:
        """From what scratches found, in any order."""
        leaves = np.concatenate([part[0] for part in parts])
        boxes = np.concatenate([part[1] for part in parts])
        order = np.argsort(leaves[:, 0])
        starts, rows, people, levels = (np.ascontiguousarray(column) for column in leaves[order].T)
        return cls(starts, rows, people, levels, boxes[order].reshape(len(leaves), -1, 2))


def problem_of(
    quasi: list[Quasi],
    demands: Demands,
    totals: Longs,
    *,
    n_targets: int,
    weighted: bool,
) -> Problem:
    """What the kernel has to know. Its sums of products stay within 128 bits, which is why people are few."""
    least, diversity, closeness, points = demands.arguments(len(totals))
    total = int(totals.sum())
    if total >= 2**61 or (closeness is not None and total**2 * max(len(totals), 2) >= 2**126):
        raise ValueError(f"weights add up to {total}, too many people to split")
    return Problem(
        [column.size for column in quasi],
        [column.positions for column in quasi],
        [
            None if column.tree is None or len(column.tree.nodes) == 1 else column.tree.nodes
            for column in quasi
        ],
        len(totals),
        n_targets,
        weighted,
        n_targets > 0,
        least,
        diversity,
        closeness,
        totals,
        points,
    )


def spans_of(rows: Longs, most: int) -> list[Span]:
    """Runs of nodes of about `most` rows; a longer node is a run of its own."""
    ends = np.cumsum(rows)
    spans, first, done = [], 0, 0
    while first < len(rows):
        last = max(int(np.searchsorted(ends, done + most, side="right")), first + 1)
        spans.append((first, last))
        first, done = last, int(ends[last - 1])
    return spans


def over(
    spans: list[Span],
    scratches: Sequence[object],
    work: Callable[[int, Span], object],
    done: Callable[[Span], object] | None = None,
) -> None:
    """Call work(number of the scratch, span) for all spans, one thread a scratch; the caller's thread too."""
    numbers = range(max(1, min(len(scratches), len(spans))))
    over_spans(
        spans,
        numbers,
        lambda number, start, stop: work(number, (start, stop)),
        None if done is None else lambda start, stop: done((start, stop)),
    )


def fill(
    problem: Problem,
    columns: Columns,
    maps: list[UInt32s | None],
    weights: Longs | None,
    records: Bytes,
    threads: int,
) -> None:
    """Make the records of all rows."""
    n_rows = len(records)
    step = max(min(-(-n_rows // (4 * threads)), SPAN_ROWS), 1)
    spans = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]

    def work(_: int, span: Span) -> None:
        problem.fill(columns, maps, weights, *span, records[span[0] : span[1]])

    over(spans, [None] * threads, work)


def grow(
    problem: Problem,
    scratches: list[Scratch],
    sizes: list[int],
    even: Bytes,
    odd: Bytes,
    people: int,
    progress: Progress | None = None,
) -> Leaves:
    """Split the records, which stand in `even` and move to and fro, until no part can be split.

    Nodes are decided level by level and from left to right, so that the result depends neither on threads nor
    on memory; where no demand looks at other groups the order does not matter, and subtrees are finished one
    by one. Two splits, each safe, may be unsafe together: docs/mathematics/skyline.md,
    section 9 (#skyline-9), has the rule and its proof.
    """
    n_rows, threads = len(even), len(scratches)
    subtree = SUBTREE_ROWS if threads == 1 else max(min(n_rows // (8 * threads), SUBTREE_ROWS), LEAST_SUBTREE)
    parts = []
    settled = 0

    def report(rows: int) -> None:
        nonlocal settled
        settled += rows
        if progress is not None:
            progress(settled, n_rows)

    level = Level.root(sizes, n_rows, people)
    while level.n:
        rows, out = (odd, even) if level.depth & 1 else (even, odd)
        if problem.shared:
            decide_shared(problem, scratches, level, rows, 0, level.n)
        else:
            _decide_alone(problem, scratches, level, rows, out, subtree, report)
        following = problem.children(level, scratches, 0, level.n)
        move = partial(_move, problem, level, scratches, rows, out)
        over(spans_of(level.rows, max(n_rows // (4 * threads), 1)), scratches, move)
        for scratch in scratches:
            scratch.forget()
            leaves, boxes = scratch.take_leaves()
            if len(leaves):
                parts.append((leaves, boxes))
                if problem.shared:
                    report(int(leaves[:, 1].sum()))
        level = following
    return Leaves.of(parts)


def _move(
    problem: Problem,
    level: Level,
    scratches: list[Scratch],
    rows: Bytes,
    out: Bytes,
    _: int,
    span: Span,
) -> None:
    problem.move(level, scratches, rows, out, *span)


def decide_shared(
    problem: Problem, scratches: list[Scratch], level: Level, rows: Bytes, first: int, last: int
) -> None:
    """What is local in parallel, and then what all groups share, node by node."""
    threads = len(scratches)
    sizes = level.rows[first:last]
    most = SPAN_ROWS if threads == 1 else max(int(sizes.sum()) // (8 * threads), 1)
    spans = [(first + a, first + b) for a, b in spans_of(sizes, most)]
    if threads == 1:
        for span in spans:
            problem.evaluate(level, scratches[0], 0, rows, *span)
            problem.commit(level, scratches, rows, *span)
        return
    over(
        spans, scratches, lambda number, span: problem.evaluate(level, scratches[number], number, rows, *span)
    )
    for span in spans:
        problem.commit(level, scratches, rows, *span)


def _decide_alone(
    problem: Problem,
    scratches: list[Scratch],
    level: Level,
    rows: Bytes,
    out: Bytes,
    subtree: int,
    report: Callable[[int], object],
) -> None:
    """Large nodes are split once, small ones finished."""

    def is_small(span: Span) -> bool:
        return int(level.rows[span[0]]) <= subtree  # a larger node is a span of its own

    def work(number: int, span: Span) -> None:
        if is_small(span):
            problem.finish(level, scratches[number], rows, out, *span)
        else:
            problem.evaluate(level, scratches[number], number, rows, *span)

    def done(span: Span) -> None:
        if is_small(span):
            report(int(level.rows[span[0] : span[1]].sum()))

    over(spans_of(level.rows, subtree), scratches, work, done)


def numbered(problem: Problem, leaves: Leaves, even: Bytes, odd: Bytes, threads: int) -> UInt32s:
    """The number of the leaf of each row."""
    ids = np.empty(len(even), np.uint32)
    spans = spans_of(leaves.rows, max(len(even) // (4 * threads), 1))
    over(
        spans,
        [None] * threads,
        lambda _, span: problem.number(leaves.starts, leaves.rows, leaves.levels, even, odd, ids, *span),
    )
    return ids
