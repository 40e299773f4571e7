"""Rows of a small stream, and what a window has to hold of them, counted from scratch."""

import pyarrow as pa
from hypothesis import strategies as st

from nbcfast import Viewset

DOMAINS = {
    "job": ["clerk", "cook", None],
    "age": {"edges": [0, 20, 40, None]},
    "ill": ["no", "yes"],
}
JOBS, ILL = ("clerk", "cook", None), ("no", "yes")

people = st.tuples(st.sampled_from(JOBS), st.integers(0, 60), st.sampled_from(ILL))
timed = st.lists(st.tuples(st.integers(-30, 30), people), max_size=12)


def as_columns(rows):
    """The columns of (day, (job, age, ill)) rows."""
    return {
        "day": [day for day, _ in rows],
        "job": [job for _, (job, _, _) in rows],
        "age": [age for _, (_, age, _) in rows],
        "ill": [ill for _, (_, _, ill) in rows],
    }


def as_batch(rows, day=None):
    columns = as_columns(rows)
    types = {"day": day or pa.int64(), "job": pa.string(), "age": pa.int32(), "ill": pa.string()}
    return pa.record_batch({name: pa.array(values, types[name]) for name, values in columns.items()})


def from_scratch(rows, weights=None):
    """The views of people, counted one by one."""
    class_counts = [0, 0]
    jobs, ages = ([[0, 0] for _ in range(3)] for _ in range(2))
    for place, (job, age, ill) in enumerate(rows):
        c, weight = ILL.index(ill), 1 if weights is None else weights[place]
        class_counts[c] += weight
        jobs[JOBS.index(job)][c] += weight
        ages[min(age // 20, 2)][c] += weight
    return class_counts, jobs, ages


def plain(views):
    assert isinstance(views, Viewset)
    return views.class_counts.tolist(), views.counts["job"].tolist(), views.counts["age"].tolist()


class PlainWindow:
    """A window that keeps all rows, in the plainest Python."""

    def __init__(self, width, n_blocks, open_blocks, late_blocks):
        self.width, self.n_blocks, self.open_blocks, self.late_blocks = (
            width,
            n_blocks,
            open_blocks,
            late_blocks,
        )
        self.newest, self.rows, self.n_late, self.n_too_late = None, [], 0, 0

    @property
    def end(self):
        return self.newest - self.open_blocks + 1

    def add(self, rows):
        before = None if self.newest is None else self.end - self.late_blocks
        for day, person in sorted(rows, key=lambda row: row[0] // self.width):
            block = day // self.width
            if before is not None and block < before:
                self.n_too_late += 1
                continue
            self.newest = block if self.newest is None else max(self.newest, block)
            self.n_late += block < self.end
            self.rows.append((block, person))

    def expected(self):
        """The people of the closed blocks in the window, and those of the open ones."""
        if self.newest is None:
            return [], []
        closed = [p for block, p in self.rows if self.end - self.n_blocks <= block < self.end]
        return closed, [p for block, p in self.rows if block >= self.end]
