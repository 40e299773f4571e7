"""`anonymize`: a partition that keeps demands, by Mondrian."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._columns import Columns
from nbcfast._core.dtypes import Bytes, Longs
from nbcfast._core.numbers import Numeral
from nbcfast._core.threads import n_threads
from nbcfast._partition import Scratch
from nbcfast._reading.source import AnyTable, is_path, table_from
from nbcfast.frames import Frame
from nbcfast.groups.measures import check_natural
from nbcfast.groups.scanning import MOST_PEOPLE
from nbcfast.mondrian.demands import Demands, Distance, refuse
from nbcfast.mondrian.growing import fill, grow, numbered, problem_of
from nbcfast.mondrian.ondisk import anonymize_file
from nbcfast.mondrian.partition import Partition, PrivateRows, SplitContent
from nbcfast.mondrian.quasi import describe, useful_map
from nbcfast.mondrian.task import Task
from nbcfast.skyline.points import AnyPoint
from nbcfast.table import SUPPRESSED, Column, Table
from nbcfast.table.encode import used_values
from nbcfast.table.row_weights import value_weights

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_ROWS = 2**32 - 1  # a record has the number of its row in 32 bits


def anonymize(
    table: AnyTable,
    quasi: Iterable[str],
    sensitive: str,
    points: Iterable[AnyPoint] = (),
    *,
    k: int | None = None,
    diversity: tuple[Numeral, int] | None = None,
    closeness: Numeral | tuple[Numeral, Distance] | None = None,
    hierarchies: Mapping[str, object] | None = None,
    target: str | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    memory_limit: int | str | None = None,
    spill: str | os.PathLike[str] | None = None,
    weights: str | None = None,
    csv: Mapping[str, object] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Partition:
    """Generalise quasi-identifiers until nobody's sensitive value can be inferred.

    Mondrian: the table is split by one quasi-identifier after the other, as long as the parts keep every
    demand. The result cannot be split further, keeps the demands exactly, and is the same for any number of
    threads and any limit of memory.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). A file is split on disk, in the memory of `memory_limit`.
    quasi : iterable of str
        The columns that an adversary may know.
    sensitive : str
        The column whose values must not be inferred. All other columns are left out of what is published.
    points : iterable of (l, k, m, confidence)
        The skyline; see `check`.
    k : int, optional
        At least so many people in every group.
    diversity : (c, l), optional
        Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + ...).
    closeness : number or (number, "equal" or "ordered"), optional
        t-closeness, by default with equal distances. Values that nobody has do not count. Ordered distances
        take the order of numbers and intervals, a null after them, and of texts the declared one.
    hierarchies : mapping of name -> mapping or path, optional
        For a categorical quasi-identifier the sets that its values are generalised to: nested mappings with
        sequences of values at the end, or a CSV file as ARX has it, ``value;set;larger set;*``. Others are
        generalised to ranges in the order of their domain, numbers to intervals.
    target : str, optional
        A column that the partition shall tell much of: attributes are tried by their information gain on it.
        By default they are tried by the range of their values. It is not published.
    out : str or path, optional
        For a file: a Parquet file to write. Without one, and with a `memory_limit`, nothing is written;
        `Partition.save` does.
    overwrite : bool
        Replace the file `out` if it is there; otherwise that is a FileExistsError, before any work.
    memory_limit : int or str
        For a file: bytes that the process may take, or a text such as "2GiB"; by default "1GiB". Half of it
        is for rows; what is known of the groups, about 200 bytes each, has to fit too.
    spill : str or path, optional
        For a file: a folder with room for two copies of the rows' codes; by default that of the system for
        temporary files. What is spilled has no name there and is gone with the process, however that ends.
    weights : str, optional
        For a file: the column that says for how many people a row stands. A Table has its own.
    csv : mapping, optional
        For a CSV file: ``delimiter``, ``null_values``, ``types`` and ``encoding``, as of `read_csv`.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    Partition

    Raises
    ------
    Infeasible
        If the table as one group breaks a demand: then every partition does. `best` holds the breach.
    FileExistsError
        If the file `out` is there, and `overwrite` does not say that it may be replaced.
    OSError
        If a file cannot be read or written, or the folder of `spill` is full.
    ValueError
        If nothing is demanded, there are no rows, a name is unknown or given twice, the sensitive column is
        among the quasi-identifiers, `out` is the file that is read, or with ordered distances the numbers or
        intervals of the sensitive column are declared in another order than their own.

    Notes
    -----
    After Chen, LeFevre and Ramakrishnan, "Privacy Skyline", VLDB 2007, and LeFevre, DeWitt and Ramakrishnan,
    "Mondrian multidimensional k-anonymity", ICDE 2006. What a group is tested for depends on other groups
    where a point has m >= 1; so the rule is fixed:

    - Groups are decided level by level and from left to right, the first safe split being made. A split that
      was refused stays unsafe whatever else is split, so none is tried twice.
    - A group's attributes are tried in the order of the width of its values there, the widest first and equal
      ones in the order of `quasi`. A number lies at floor(2^30 (x - min) / (max - min)) between the least and
      the greatest of the table, another value by its place in the domain, a null beside numbers at 2^30.
    - With `target`, the order is that of the information gain of the split, then that of the width.
      Logarithms have 24 binary places.
    - Ordered values are cut beside their lower median: before it or after it, whichever leaves the parts more
      equal, and after it if both do. In a hierarchy the lowest set that holds all of a group's values is
      split into all its parts that have people.

    Examples
    --------
    >>> ill = ["flu", "cold", "gout", "gout", "cold", "flu"]
    >>> table = Table({"age": [21, 25, 38, 44, 52, 61], "ill": ill})
    >>> partition = anonymize(table, ["age"], "ill", [(0, 1, 0, 0.9)], k=3)
    >>> partition
    Partition(2 groups of 6 people by age; ill: (0, 1, 0, 0.9); k = 3)
    >>> partition.boxes.domain("age"), partition.group_ids
    (((-inf, 44), [44, inf)), array([0, 0, 0, 1, 1, 1], dtype=uint32))
    """
    task = Task.of(quasi, sensitive, Demands.of(points, k, diversity, closeness), hierarchies, target)
    if is_path(table):
        if out is None and memory_limit is None:
            raise ValueError(
                "out: a file is split on disk, and needs a Parquet file to write, or a memory_limit; got none"
            )
        return anonymize_file(
            os.fsdecode(table),
            task,
            weights,
            None if out is None else os.fsdecode(out),
            overwrite,
            memory_limit,
            None if spill is None else os.fsdecode(spill),
            csv or {},
            n_threads(threads, 1 << 30),
            progress,
        )
    for name, value in (
        ("out", out),
        ("overwrite", overwrite or None),
        ("memory_limit", memory_limit),
        ("spill", spill),
        ("weights", weights),
        ("csv", csv),
    ):
        if value is not None:
            what = "a Frame" if isinstance(table, Frame) else "a table in memory"
            raise ValueError(f"{name}: only for the path of a file, got {value!r} with {what}")
    needed = [*task.names, task.sensitive, *(() if task.target is None else (task.target,))]
    return _in_memory(table_from(table, columns=dict.fromkeys(needed)), task, threads, progress)


def _in_memory(table: Table, task: Task, threads: int | None, progress: Progress | None) -> Partition:
    columns = [table.column(name) for name in task.names]
    secret = table.column(task.sensitive)
    targets = [] if task.target is None else [table.column(task.target)]
    _check_table(table, secret, task)
    quasi = [
        describe(name, column.domain, _used(column), task.hierarchies.get(name))
        for name, column in zip(task.names, columns, strict=True)
    ]
    totals = _people_of_values(table, secret, task.demands)
    if task.demands.is_hopeless(totals):
        refuse(task.demands, totals, secret.domain, task.sensitive)
    secret_map = None
    if task.demands.needs_values and not totals.all():
        # Values that nobody has are left out: they would widen the scale of closeness in their order.
        secret_map = np.maximum(np.cumsum(totals > 0) - 1, 0).astype(np.uint32)
    problem = problem_of(
        quasi,
        task.demands,
        totals if secret_map is None else totals[totals > 0],
        n_targets=len(targets[0].domain) if targets else 0,
        weighted=table.weights is not None,
    )
    n_workers = n_threads(threads, table.n_rows * problem.stride)
    scratches = [Scratch(problem) for _ in range(n_workers)]
    if not problem.admit(scratches[0]):
        refuse(task.demands, totals, secret.domain, task.sensitive)
    # Records go to and fro between two arrays, from a level of the tree to the next one.
    even, odd = (np.empty((table.n_rows, problem.stride), np.uint8) for _ in range(2))
    all_columns = [*columns, secret, *targets]
    fill(
        problem,
        Columns(
            [column.codes for column in all_columns],
            [len(column.domain) for column in all_columns],
            table.n_rows,
        ),
        [*map(useful_map, quasi), secret_map, *[None] * len(targets)],
        table.weights,
        even,
        n_workers,
    )
    people = int(totals.sum())
    leaves = grow(problem, scratches, [column.size for column in quasi], even, odd, people, progress)
    ids = numbered(problem, leaves, even, odd, n_workers)
    content = SplitContent(
        quasi,
        leaves.boxes,
        task.sensitive,
        secret.domain,
        leaves.people,
        PrivateRows(columns, secret, table.weights, ids),
    )
    return Partition(tuple(task.names), task.sensitive, task.demands, ids, None, content)


def _check_table(table: Table, secret: Column, task: Task) -> None:
    """Refuse a table that cannot be split, or of whose sensitive values the demands say nothing."""
    if table.n_rows == 0:
        raise ValueError("no rows")
    if table.n_rows > MOST_ROWS:
        raise ValueError(
            f"a table has at most {MOST_ROWS:,} rows here, got {table.n_rows:,}: split it on disk"
        )
    if SUPPRESSED in secret.domain.tail:
        raise ValueError(
            f"sensitive: column {task.sensitive!r} holds SUPPRESSED, and demands would hold because nobody "
            "can count what is withheld"
        )
    if task.demands.closeness is not None and task.demands.closeness[1] == "ordered":
        check_natural(secret.domain, task.sensitive)


def _people_of_values(table: Table, secret: Column, demands: Demands) -> Longs:
    """People of each sensitive value; all at the first one where no demand looks at values."""
    people = table.n_rows if table.weights is None else int(table.weights.sum())
    if people >= MOST_PEOPLE:
        raise ValueError(f"a table must have less than 2^61 people, got {people}")
    if demands.needs_values:
        return value_weights(secret, table.weights)
    totals = np.zeros(len(secret.domain), np.int64)
    totals[0] = people
    return totals


def _used(column: Column) -> Bytes:
    """Which values have rows; a domain that was not declared has no others."""
    if not column.domain.declared:
        return np.ones(len(column.domain), np.uint8)
    return used_values(column.codes, len(column.domain))
