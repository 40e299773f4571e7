"""Mondrian on disk: records in leaf order in a spill file that is written anew level by level.

Where no demand looks at other groups, a node that fits into memory is finished there. Else every level is one
scan of the file: nodes are read in their order, decided, split and written. Of a node that does not fit only
counts are in memory, gathered while its rows were written. The partition is that of the table in memory:
docs/mathematics/skyline.md, Statement 9.4 (#skyline-9).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import IO, TYPE_CHECKING

import numpy as np

from nbcfast._columns import Columns
from nbcfast._core.dtypes import Bytes, Longs, UInt32s
from nbcfast._core.files import check_file
from nbcfast._partition import Joint, Level, Problem, Scratch
from nbcfast._reading.endings import is_parquet
from nbcfast._reading.source import as_bytes
from nbcfast._reading.spilled import SHORTER, Spill, SpilledColumn, read_columns, write_all
from nbcfast.mondrian.demands import refuse
from nbcfast.mondrian.growing import decide_shared, over, problem_of, spans_of
from nbcfast.mondrian.partition import Partition, PrivateCounts, SplitContent
from nbcfast.mondrian.quasi import describe, useful_map
from nbcfast.mondrian.task import Task
from nbcfast.published.table_lines import write_parquet
from nbcfast.table.arrow import load_pyarrow

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


DEFAULT_LIMIT = "1GiB"
INTERPRETER = 128 << 20  # bytes that a process takes which has done nothing yet
LEAST_ROWS = 1 << 12  # of a buffer: with fewer the file would be read in crumbs
CHUNK = 1 << 17  # rows made into records at a time


def usable(limit: int) -> int:
    """What is left of a limit beside Python, NumPy and pyarrow themselves."""
    return max(limit - INTERPRETER, limit // 2)


def anonymize_file(
    path: str,
    task: Task,
    weights: str | None,
    out: str | None,
    overwrite: bool,
    memory_limit: int | str | None,
    spill: str | None,
    options: Mapping[str, object],
    threads: int,
    progress: Progress | None,
) -> Partition:
    """Split a file; see `anonymize`."""
    limit = as_bytes(DEFAULT_LIMIT if memory_limit is None else memory_limit, "memory_limit")
    if out is not None:
        if not is_parquet(out):
            raise ValueError(f"out must be a Parquet file (.parquet or .pq), got {out!r}")
        if is_same_file(path, out):
            raise ValueError(f"out: expected another file than the private one, got {out!r}")
        check_file(out, overwrite)
    load_pyarrow()
    wanted = list(
        dict.fromkeys([*task.names, task.sensitive, *([] if task.target is None else [task.target])])
    )
    if weights is not None:
        if weights in wanted:
            raise ValueError(f"weights: {weights!r} is also another column of the partition")
        wanted.append(weights)
    with Spill(spill) as files:
        columns = read_columns(path, wanted, weights, files, options)
        partition = _DiskRun(columns, task, weights, limit, threads, files, progress).run()
    if out is None:
        return partition
    write_parquet(partition.counted, out, overwrite=overwrite)
    return replace(partition, path=out)


def is_same_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether both names are those of one file that there is."""
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


# ---- splitting ----


@dataclass
class _DiskLeaves:
    """Leaves of one stretch of the work: (start, rows, people, level), boxes, numbers of values, pairs."""

    leaves: Longs
    boxes: UInt32s
    lengths: Longs
    pairs: Longs


class _DiskRun:
    """One run over the spilled columns of a file."""

    def __init__(
        self,
        columns: dict[str, SpilledColumn],
        task: Task,
        weights: str | None,
        limit: int,
        threads: int,
        spill: Spill,
        progress: Progress | None,
    ) -> None:
        self.columns, self.task, self.weights = columns, task, weights
        self.spill, self.progress = spill, progress
        secret = columns[task.sensitive].domain
        self.n_rows = columns[task.sensitive].n_rows
        self.settled = 0
        self.people = self._count_people()
        self.quasi = [
            describe(name, columns[name].domain, self.people[name], task.hierarchies.get(name))
            for name in task.names
        ]
        totals = self.people[task.sensitive]
        self.total = int(totals.sum())
        if task.demands.is_hopeless(totals):
            refuse(task.demands, totals, secret, task.sensitive)
        self.problem: Problem = problem_of(
            self.quasi,
            task.demands,
            totals,
            n_targets=0 if task.target is None else len(columns[task.target].domain),
            weighted=weights is not None,
        )
        self.scratches = [Scratch(self.problem) for _ in range(threads)]
        if not self.problem.admit(self.scratches[0]):
            refuse(task.demands, totals, secret, task.sensitive)
        self.stride = self.problem.stride
        # Two buffers of a quarter of what is left to us each; the rest is for counts, levels and leaves.
        self.room = usable(limit) // (4 * self.stride)
        self._check_room(limit)

    def _check_room(self, limit: int) -> None:
        """Counts of all nodes that are too large for a buffer must fit into a quarter of the limit."""
        target = self.task.target
        n_targets = 0 if target is None else len(self.columns[target].domain)
        cells = 1 + len(self.columns[self.task.sensitive].domain) + n_targets
        counts = 8 * int(self.problem.first[-1]) * cells

        def enough(limit: int) -> bool:
            room = usable(limit) // (4 * self.stride)
            # So many nodes of a level can be too large, and as many of the next.
            return self.n_rows <= room or (
                room >= LEAST_ROWS and 2 * (self.n_rows // room + 1) * counts <= usable(limit) // 4
            )

        least = limit
        while not enough(least):
            least *= 2
        if least > limit:
            raise ValueError(
                f"memory_limit: {limit} bytes are too few for the counts of this table; {least} are enough"
            )

    def _count_people(self) -> dict[str, Longs]:
        """People of each value of each column."""
        people = {name: np.zeros(len(column.domain), np.int64) for name, column in self.columns.items()}
        names = [name for name in self.columns if name != self.weights]
        for part in zip(*(self.columns[name].chunks(CHUNK) for name in names), self._weights(), strict=True):
            *codes, weights = part
            for name, chunk in zip(names, codes, strict=True):
                table, size = self.columns[name].table, len(self.columns[name].domain)
                if weights is None:
                    people[name] += np.bincount(table[chunk], minlength=size)
                else:
                    np.add.at(people[name], table[chunk], weights)
        return people

    def _weights(self) -> Iterator[Longs | None]:
        """The weights of each chunk, or None."""
        if self.weights is None:
            for _ in range(0, self.n_rows, CHUNK):
                yield None
            return
        column = self.columns[self.weights]
        domain = column.domain
        if domain.kind not in ("int", None) or domain.tail or (domain.numbers < 1).any():
            wrong = domain.tail[0] if domain.tail else domain.values[0]
            raise ValueError(f"weights: expected integers of at least 1, got {wrong!r}")
        of_code = domain.numbers[column.table]
        for codes in column.chunks(CHUNK):
            yield np.ascontiguousarray(of_code[codes])

    def run(self) -> Partition:
        """Level by level down to the leaves, and these in the order of their rows."""
        stretches = list(self._levels())
        leaves = np.concatenate([stretch.leaves for stretch in stretches])
        boxes = np.concatenate([stretch.boxes for stretch in stretches])
        lengths = np.concatenate([stretch.lengths for stretch in stretches])
        pairs = np.concatenate([stretch.pairs for stretch in stretches])
        stretches.clear()  # their arrays are there twice by now
        order = np.argsort(leaves[:, 0])
        starts = np.cumsum(lengths) - lengths
        lengths = lengths[order]
        ends = np.cumsum(lengths)
        places = np.repeat(starts[order] - (ends - lengths), lengths) + np.arange(len(pairs))
        people = [self.people[name] for name in self.task.names]
        content = SplitContent(
            self.quasi,
            boxes[order].reshape(len(order), -1, 2),
            self.task.sensitive,
            self.columns[self.task.sensitive].domain,
            np.ascontiguousarray(leaves[order, 2]),
            PrivateCounts(lengths, pairs[places], people),
        )
        return Partition(tuple(self.task.names), self.task.sensitive, self.task.demands, None, None, content)

    def _records(self) -> Iterator[Bytes]:
        """All rows as records, a chunk at a time."""
        task = self.task
        names = [*task.names, task.sensitive, *([] if task.target is None else [task.target])]
        maps: list[UInt32s | None] = []
        for i, name in enumerate(names):
            table = self.columns[name].table
            reordered = useful_map(self.quasi[i]) if i < len(self.quasi) else None
            maps.append((table if reordered is None else reordered[table]).astype(np.uint32))
        for *codes, weights in zip(
            *(self.columns[name].chunks(CHUNK) for name in names), self._weights(), strict=True
        ):
            n = len(codes[0])
            records = np.empty((n, self.stride), np.uint8)
            sizes = [len(self.columns[name].table) for name in names]
            self.problem.fill(Columns(list(codes), sizes, n), maps, weights, 0, n, records)
            yield records

    def _levels(self) -> Iterator[_DiskLeaves]:
        level = Level.root([column.size for column in self.quasi], self.n_rows, self.total)
        joints: dict[int, Joint] = {}
        rows = self.spill.new()
        if self.n_rows > self.room:
            joints[0] = Joint(self.problem)
        for records in self._records():
            if joints:
                self.problem.gather(records, joints[0])
            write_all(rows.write, records)
        for column in self.columns.values():
            column.close()
        size = min(self.room, self.n_rows)
        buffers = np.empty((size, self.stride), np.uint8), np.empty((size, self.stride), np.uint8)
        while level.n:
            following = self.spill.new()
            rows.seek(0)
            step = _LevelScan(self, level, joints, rows, following, buffers)
            yield from step.run()
            rows.close()
            level, joints, rows = step.following(), step.joints_after, following

    def settle(self, rows: int) -> None:
        self.settled += rows
        if self.progress is not None:
            self.progress(self.settled, self.n_rows)


class _LevelScan:
    """One scan of the file: the nodes of a level are read, decided, split, and written anew."""

    def __init__(
        self,
        disk_run: _DiskRun,
        level: Level,
        joints: dict[int, Joint],
        source: IO[bytes],
        sink: IO[bytes],
        buffers: tuple[Bytes, Bytes],
    ) -> None:
        self.disk_run, self.level, self.joints = disk_run, level, joints
        self.source, self.sink, self.buffers = source, sink, buffers
        self.problem, self.scratches = disk_run.problem, disk_run.scratches
        self.parts: list[Level] = []
        self.n_children = 0
        self.joints_after: dict[int, Joint] = {}
        self.written = 0  # rows

    def run(self) -> Iterator[_DiskLeaves]:
        for first, last in spans_of(self.level.rows, self.disk_run.room):
            if int(self.level.rows[first]) > self.disk_run.room:
                stretch = self._large(first)
            elif self.problem.shared:
                stretch = self._shared(first, last)
            else:
                stretch = self._alone(first, last)
            for scratch in self.scratches:
                scratch.forget()
            if len(stretch.leaves):
                self.disk_run.settle(int(stretch.leaves[:, 1].sum()))
                yield stretch

    def following(self) -> Level:
        """The nodes of the next level."""
        level = Level(self.n_children, len(self.disk_run.task.names), self.level.depth + 1)
        start = 0
        for part in self.parts:
            for name in ("start", "rows", "people", "boxes"):
                getattr(level, name)[start : start + part.n] = getattr(part, name)
            start += part.n
        return level

    def _children(self, first: int, last: int) -> Level:
        part = self.problem.children(self.level, self.scratches, first, last)
        self.parts.append(part)
        self.n_children += part.n
        return part

    def _read(self, into: Bytes) -> None:
        view, done = into.data.cast("B"), 0
        while done < len(view):
            n = self.source.readinto(view[done:])  # type: ignore[attr-defined]
            if not n:
                raise OSError(SHORTER)
            done += n

    def _load(self, first: int, last: int) -> tuple[Bytes, Bytes]:
        sizes = self.level.rows[first:last]
        n = int(sizes.sum())
        rows, other = self.buffers[0][:n], self.buffers[1][:n]
        self._read(rows)
        self.level.at[first:last] = np.cumsum(sizes) - sizes
        return rows, other

    def _counted(self, leaves: Longs, boxes: UInt32s, at: Longs, even: Bytes, odd: Bytes) -> _DiskLeaves:
        """The values of leaves whose rows stand from `at` on."""
        if not len(leaves):
            return _DiskLeaves(leaves, boxes, np.empty(0, np.int64), np.empty((0, 2), np.int64))
        rows, levels = np.ascontiguousarray(leaves[:, 1]), np.ascontiguousarray(leaves[:, 3])
        spans = spans_of(rows, max(int(rows.sum()) // (4 * len(self.scratches)), 1))
        counted: dict[int, tuple[Longs, Longs]] = {}

        def work(number: int, span: tuple[int, int]) -> None:
            counted[span[0]] = self.problem.counts(self.scratches[number], at, rows, levels, even, odd, *span)

        over(spans, self.scratches, work)
        ordered = [counted[first] for first in sorted(counted)]
        return _DiskLeaves(
            leaves,
            boxes,
            np.concatenate([part[0] for part in ordered]),
            np.concatenate([part[1] for part in ordered]),
        )

    def _taken(self) -> tuple[Longs, UInt32s]:
        """The leaves that all threads have found by now, and their boxes."""
        parts = [scratch.take_leaves() for scratch in self.scratches]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _alone(self, first: int, last: int) -> _DiskLeaves:
        """Nodes that fit, down to their leaves."""
        rows, other = self._load(first, last)
        threads = len(self.scratches)
        sizes = self.level.rows[first:last]
        spans = [
            (first + a, first + b) for a, b in spans_of(sizes, max(int(sizes.sum()) // (8 * threads), 1))
        ]
        over(
            spans,
            self.scratches,
            lambda number, span: self.problem.finish(self.level, self.scratches[number], rows, other, *span),
        )
        leaves, boxes = self._taken()
        node = first + np.searchsorted(self.level.start[first:last], leaves[:, 0], side="right") - 1
        at = leaves[:, 0] - self.level.start[node] + self.level.at[node]
        pair = (other, rows) if self.level.depth & 1 else (rows, other)
        return self._counted(leaves, boxes, at, *pair)

    def _shared(self, first: int, last: int) -> _DiskLeaves:
        """Nodes that fit, one level down."""
        rows, other = self._load(first, last)
        decide_shared(self.problem, self.scratches, self.level, rows, first, last)
        self._children(first, last)
        leaves, boxes = self._taken()
        whole = first + np.flatnonzero(self.level.split()[first:last] < 0)
        stretch = self._counted(leaves, boxes, self.level.at[whole], rows, rows)
        self.problem.move(self.level, self.scratches, rows, other, first, last)
        # What stands between two leaves is written in one go.
        edges = [first - 1, *whole.tolist(), last]
        for before, after in pairwise(edges):
            if after - before > 1:
                start = int(self.level.at[before + 1])
                stop = int(self.level.at[after - 1] + self.level.rows[after - 1])
                self._write(other[start:stop])
        return stretch

    def _write(self, rows: Bytes) -> None:
        write_all(lambda view: self.sink.write(view), rows)
        self.written += len(rows)

    def _large(self, node: int) -> _DiskLeaves:
        """A node of which only counts are in memory."""
        level, joint = self.level, self.joints.pop(node)
        self.problem.evaluate_joint(level, self.scratches[0], 0, joint, node)
        self.problem.commit_joint(level, self.scratches, joint, node)
        n_before = self.n_children
        part = self._children(node, node + 1)
        leaves, boxes = self._taken()
        if len(leaves):
            self.source.seek(int(level.rows[node]) * self.disk_run.stride, os.SEEK_CUR)
            people = joint.people[: self.disk_run.quasi[0].size].sum(axis=0)
            values = np.flatnonzero(people)
            return _DiskLeaves(
                leaves, boxes, np.array([len(values)]), np.stack([values, people[values]], axis=1)
            )
        for i in range(part.n):
            if int(part.rows[i]) > self.disk_run.room:
                self.joints_after[n_before + i] = Joint(self.problem)
        starts = self.written + np.cumsum(part.rows) - part.rows
        left = int(level.rows[node])
        descriptor = self.sink.fileno()
        while left:
            n = min(left, len(self.buffers[0]), CHUNK)
            rows, out = self.buffers[0][:n], self.buffers[1][:n]
            self._read(rows)
            counts = self.problem.move_some(level, self.scratches, node, rows, out)
            done = 0
            for i, count in enumerate(counts.tolist()):
                child_rows = out[done : done + count]
                if n_before + i in self.joints_after:
                    self.problem.gather(child_rows, self.joints_after[n_before + i])
                position = int(starts[i]) * self.disk_run.stride
                _write_at(descriptor, child_rows, position)
                starts[i] += count
                done += count
            left -= n
        self.written += int(level.rows[node])
        self.sink.seek(self.written * self.disk_run.stride)
        return _DiskLeaves(leaves, boxes, np.empty(0, np.int64), np.empty((0, 2), np.int64))


def _write_at(descriptor: int, rows: Bytes, position: int) -> None:
    done = 0

    def write(view: memoryview) -> int:
        nonlocal done
        n = os.pwrite(descriptor, view, position + done)
        done += n
        return n

    write_all(write, rows)
