"""`statistics`: what decides every point, of groups that are more than this process holds."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbcfast._core.validation import callable_or_none, whole
from nbcfast._reading.source import AnyTable, expect_own_weights, is_path
from nbcfast.frames import Frame
from nbcfast.frames.buckets import MOST_TASKS
from nbcfast.groups.grouping import group, group_names, group_parts, group_tasks
from nbcfast.skyline.statistics import Statistics
from nbcfast.table import Table
from nbcfast.table.row_weights import value_weights

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.groups.groups import Groups
    from nbcfast.table.values import Value

FILE_MEMORY = "1GiB"  # of the groups of a file that are held at once


def statistics(
    table: AnyTable,
    by: Iterable[str],
    sensitive: str,
    ls: Iterable[int],
    *,
    tasks: int | None = None,
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """The tables that decide whether groups are safe, of groups that are more than this process holds.

    Equal to ``Statistics(ls).update(group(table, by, sensitive))``, and made task by task: all rows of a
    group are in one task, which groups them and gives one `Statistics`; these are merged.

    Parameters
    ----------
    table : Frame, path, or any other table
        A Frame, a Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an
        iterable of record batches, or the path of a file (.csv, .tsv, .parquet ..). On Spark and Dask each
        task is one of the engine, and its workers need nbcfast. DuckDB, Polars and ibis give the rows of one
        task after the other, and read the table for each. A file is read once for each task. What is already
        in memory is held there once more.
    by : iterable of str
        The columns that make the groups; none puts all rows into one.
    sensitive : str
        The column of the sensitive values.
    ls : iterable of int
        The l of all points that are to be checked.
    tasks : int, optional
        The result does not depend on it. By default, on Spark what ``spark.sql.shuffle.partitions`` says; on
        Dask the number of partitions; on other engines 1, and halves of a task that would have more than
        `most_rows` distinct rows of the Frame; of a file as many as it takes for the groups of each to need
        less than 1 GiB; of all else 1.
    weights : str, optional
        The column of the weights; a Table and a Frame have their own.
    threads : int, optional
        Of work in this process: by default NBCFAST_THREADS, or all cores, one for little work. A task of
        Spark or Dask has one.
    progress : callable, optional
        Of a Frame called as progress(done_tasks, all_tasks), by Spark and Dask when all are done; of other
        tables as `group` calls it, for each task anew.

    Returns
    -------
    Statistics

    Raises
    ------
    ValueError
        If there are no rows, a column is missing or named twice, `sensitive` is in `by`, a task has more than
        `most_rows` distinct rows, or the people of all tasks are not those that the engine counts.
    ModuleNotFoundError
        If workers of Spark or Dask lack nbcfast.

    Notes
    -----
    A group that was spread over tasks would be judged as two smaller ones. So values are made those of Table
    before rows are divided: NaN and null are one value, -0.0 is 0.0, and 1 is 1.0 where partitions of Dask
    have different types. A column whose texts the engine compares by a collation is refused.

    Examples
    --------
    >>> people = {"age": [30, 30, 40, 40, 40], "ill": ["flu", "cold", "flu", "gout", "flu"]}
    >>> statistics(people, ["age"], "ill", [0, 1], tasks=3)
    Statistics(l of (0, 1); groups of at least 2 people with 2 values, 3 entries)
    >>> import polars
    >>> from nbcfast.frames import Frame
    >>> statistics(Frame(polars.LazyFrame(people)), ["age"], "ill", [0, 1]).k
    2
    """
    made = Statistics(ls)
    names = group_names(by, sensitive, weights)
    n_tasks = None if tasks is None else whole(tasks, "tasks", 1, MOST_TASKS)
    callable_or_none(progress)
    if isinstance(table, Frame):
        expect_own_weights(weights, "Frame")
        return _of_frame(table, names, sensitive, made, n_tasks, progress)
    for part in _parts(table, names, sensitive, n_tasks, weights, threads, progress):
        made.update(part, threads=threads)
    return made


def _parts(
    table: AnyTable,
    names: list[str],
    sensitive: str,
    tasks: int | None,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
) -> Iterator[Groups]:
    if tasks is not None and tasks > 1:
        yield from group_tasks(
            table, names, sensitive, tasks, weights=weights, threads=threads, progress=progress
        )
    elif tasks is None and is_path(table):
        yield from group_parts(
            table,
            names,
            sensitive,
            memory_limit=FILE_MEMORY,
            weights=weights,
            threads=threads,
            progress=progress,
        )
    else:
        yield group(table, names, sensitive, weights=weights, threads=threads, progress=progress)


@dataclass(frozen=True)
class TaskGroups:
    """What is done in a task: its groups are complete there."""

    by: tuple[str, ...]
    sensitive: str
    ls: tuple[int, ...]
    threads: int | None = 1

    def __call__(self, table: Table) -> bytes:
        """The statistics of its groups, and how many people have each sensitive value, pickled."""
        groups = group(table, self.by, self.sensitive, threads=self.threads)
        found = Statistics(self.ls).update(groups, threads=self.threads)
        return pickle.dumps((found, _people(table, self.sensitive)))


def _people(table: Table, sensitive: str) -> dict[Value, int]:
    """How many people have each value."""
    column, weights = table.column(sensitive), table.weights
    assert weights is not None  # of distinct rows
    counts = value_weights(column, weights).tolist()
    return {value: n for value, n in zip(column.domain.values, counts, strict=True) if n}


def _of_frame(
    frame: Frame,
    names: list[str],
    sensitive: str,
    made: Statistics,
    tasks: int | None,
    progress: Progress | None,
) -> Statistics:
    work = TaskGroups(tuple(names), sensitive, made.ls)
    seen: Counter[Value] = Counter()
    for told in frame.in_tasks([*names, sensitive], names, work, tasks=tasks, progress=progress):
        found, people = pickle.loads(told)
        made.merge(found)
        seen.update(people)
    expected = _people(frame.weighted([sensitive]), sensitive)
    if seen != expected:
        raise ValueError(
            f"the tasks have {seen.total():,} people, and {frame.kind} has {sum(expected.values()):,}, or "
            f"other values in the column {sensitive!r}: it has changed while it was read, or can be read "
            "once only. Give a table that stays as it is: a version of it, or a copy that was written"
        )
    if not seen:
        raise ValueError("no rows")
    return made
