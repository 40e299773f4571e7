"""SQL that groups rows by several sets of columns at once, and what comes back of it, set by set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nbcfast._core.untyped import PyArrow
from nbcfast.frames.engines import NUMBERS, AskedRows, TooManyRowsError, column
from nbcfast.table.arrow import load_pyarrow

SETS = "sets"  # the column that says which columns a row is a group by


def grouping_sets(
    asked: AskedRows, cleaned: Callable[[int], str], numbers: Sequence[str], source: str
) -> str:
    """One SELECT for all sets, of which no two are equal.

    Parameters
    ----------
    asked : AskedRows
        The sets.
    cleaned : callable
        The expression of a column in which NaN is null and -0.0 is 0.0.
    numbers : sequence of str
        The expressions of NUMBERS.
    source : str
        What stands behind FROM: rows with the columns c0, c1, ..
    """
    used = ", ".join(f"{cleaned(place)} AS {column(place)}" for place in asked.columns)
    names = [column(place) for place in asked.grouped]
    by, mark = ", ".join(names), "0"
    if len(asked.sets) > 1:
        sets = ", ".join("(" + ", ".join(column(place) for place in one) + ")" for one in asked.sets)
        by = f"GROUPING SETS ({sets})"
        mark = " + ".join(f"CAST(grouping({name}) AS BIGINT) * {1 << bit}" for bit, name in enumerate(names))
    listed = ", ".join([*names, f"{mark} AS {SETS}", *numbers])
    return f"SELECT {listed} FROM (SELECT {used} FROM {source}) AS cleaned GROUP BY {by}"


def branches(asked: AskedRows, cleaned: Callable[[int], str], numbers: Sequence[str], source: str) -> str:
    """What `grouping_sets` gives, as one SELECT a set in one statement: each reads its own columns alone."""
    selects = []
    for one in asked.sets:
        read = one if asked.weights is None or asked.weights in one else (*one, asked.weights)
        used = ", ".join(f"{cleaned(place)} AS {column(place)}" for place in read)
        listed = [column(place) if place in one else f"NULL AS {column(place)}" for place in asked.grouped]
        listed += [f"CAST({_mark(asked, one)} AS BIGINT) AS {SETS}", *numbers]
        by = ", ".join(map(column, one))
        selects.append(
            f"SELECT {', '.join(listed)} FROM (SELECT {used} FROM {source}) AS cleaned GROUP BY {by}"
        )
    return " UNION ALL ".join(selects)


def of_each_set(asked: AskedRows, batches: Iterable[PyArrow], schema: PyArrow, first: int) -> list[PyArrow]:
    """The tables of each set, of the batches that answer `grouping_sets`; `first` is the place of the first.

    Raises
    ------
    TooManyRowsError
        As soon as a set has more rows than are fetched: the rest is not read.
    """
    pa = load_pyarrow()
    present = [name for name in NUMBERS if name in schema.names]
    wanted = [[*map(column, one), *present] for one in asked.sets]
    marks = [_mark(asked, one) for one in asked.sets]
    parts: list[list[PyArrow]] = [[] for _ in asked.sets]
    n_rows = [0] * len(asked.sets)
    for batch in batches:
        for place, names in enumerate(wanted):
            rows = batch.select(names)
            if len(asked.sets) > 1:
                rows = rows.filter(pa.compute.equal(batch.column(SETS), marks[place]))
            n_rows[place] += rows.num_rows
            if n_rows[place] > asked.most:
                raise TooManyRowsError(first + place)
            if rows.num_rows:
                parts[place].append(rows)
    return [
        pa.Table.from_batches(rows, pa.schema([schema.field(name) for name in names]))
        for rows, names in zip(parts, wanted, strict=True)
    ]


def _mark(asked: AskedRows, one: Sequence[int]) -> int:
    """What SETS has in the rows of a set: a bit for each column that is not in it."""
    if len(asked.sets) == 1:
        return 0
    return sum(1 << bit for bit, place in enumerate(asked.grouped) if place not in one)
