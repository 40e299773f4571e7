"""Frames of Dask: nbcfast counts each partition on the worker that has it, and numbers are added up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from nbcfast._core.untyped import Dask, Pandas, PyArrow
from nbcfast.frames.dask_files import read_part, written_parts
from nbcfast.frames.dask_tasks import Division, shared_out, worked
from nbcfast.frames.engines import (
    NUMBER,
    AskedRows,
    DividedRows,
    Mapped,
    TooManyRowsError,
    WorkerEngine,
    column,
)
from nbcfast.frames.packing import packed
from nbcfast.frames.wheels import lacks_nbcfast, wheel_error
from nbcfast.table.arrow import load_pyarrow
from nbcfast.table.table import Table, concat

TOGETHER = 8  # parts that are added up at once

Named = tuple[list[list[str]], str | None]  # the columns of each set, and that of the weights
Part = list[Table | None]  # the distinct rows of each set; None where there are no rows


class DaskRows(WorkerEngine):
    """A frame of partitions, each a frame of pandas."""

    kind = "a frame of Dask"

    def __init__(self, frame: Dask) -> None:
        for name in frame.columns:
            if not isinstance(name, str):
                raise TypeError(f"expected column names of str, got {name!r} of {type(name).__name__}")
        self.frame = frame
        self.names = tuple(frame.columns)

    def schema(self) -> PyArrow:
        pa = load_pyarrow()
        from dask.dataframe.utils import make_meta

        known = pa.Schema.from_pandas(make_meta(self.frame), preserve_index=False)
        objects = {name for name, type_ in self.frame.dtypes.items() if type_.name == "object"}
        # Of objects only the rows know what they are.
        return pa.schema([pa.field(one.name, pa.null()) if one.name in objects else one for one in known])

    def collated(self, places: Sequence[int]) -> list[int]:
        return []  # texts are equal letter by letter

    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int] | None:
        return None  # the first rows are had by reading a partition whole, and each knows its own sizes

    def chosen(self, places: Sequence[int]) -> Dask:
        """The frame of these columns: of a file no others are read."""
        return self.frame[[self.names[place] for place in places]]

    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        import dask

        counted, added = dask.delayed(_counted, pure=False), dask.delayed(_added, pure=False)
        named = self._asked(asked)
        parts = [counted(part, named, asked.most) for part in self.chosen(asked.columns).to_delayed()]
        while len(parts) > 1:
            parts = [added(parts[i : i + TOGETHER], asked.most) for i in range(0, len(parts), TOGETHER)]
        found: Part = list(dask.compute(parts[0])[0]) if parts else [None] * len(asked.sets)
        empty = self._empty()
        return [
            _by_places(table, one) if table is not None else empty.select([*map(column, one), NUMBER])
            for table, one in zip(found, asked.sets, strict=True)
        ]

    def _asked(self, asked: AskedRows) -> Named:
        names = [[self.names[place] for place in one] for one in asked.sets]
        return names, None if asked.weights is None else self.names[asked.weights]

    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        import dask

        n_tasks = (divided.tasks or max(self.frame.npartitions, 1)) if divided.together else 1
        named = {place: self.names[place] for place in divided.asked.columns}
        division = Division(named, divided.together, divided.asked.weights, n_tasks)
        in_tasks, done = dask.delayed(shared_out, pure=False), dask.delayed(worked, pure=False)
        parts = [in_tasks(part, division) for part in self.chosen(divided.asked.columns).to_delayed()]
        told = [done([part[task] for part in parts], division, divided.work) for task in range(n_tasks)]
        try:
            answers = dask.compute(*told)
        except Exception as error:  # of schedulers, which wrap what a worker could not import
            if lacks_nbcfast(error):
                raise wheel_error("the workers of Dask") from error
            raise
        yield from ((answer, n_tasks) for answer in answers)

    def written(self, mapped: Mapped) -> Dask:
        import dask.dataframe

        try:
            files = written_parts(self.frame, self.schema(), mapped)
        except Exception as error:  # of schedulers, which wrap what a worker could not import
            if lacks_nbcfast(error):
                raise wheel_error("the workers of Dask") from error
            raise
        return dask.dataframe.from_map(read_part, files, meta=read_part(files[0]).head(0))

    def _empty(self) -> PyArrow:
        pa = load_pyarrow()
        fields = [field.with_name(column(place)) for place, field in enumerate(self.schema())]
        return pa.schema([*fields, pa.field(NUMBER, pa.int64())]).empty_table()


def _by_places(table: Table, places: Sequence[int]) -> PyArrow:
    """Distinct rows and their numbers, by the names of queries: a column may be called NUMBER."""
    columns = {column(place): table.column(name) for place, name in zip(places, table.names, strict=True)}
    return Table.from_columns(columns, table.weights, table.n_rows).to_arrow(weights=NUMBER)


def _counted(rows: Pandas, named: Named, most: int) -> Part:
    """Of one partition, on the worker that has it: its distinct rows."""
    sets, weights = named
    if not len(rows):
        return [None] * len(sets)
    table = Table(rows, weights=weights)
    found = dict(_collapsed(table, sets))
    return [_expected_few(found[place], most, place) for place in range(len(sets))]


def _collapsed(table: Table, sets: Sequence[Sequence[str]]) -> Iterator[tuple[int, Table]]:
    """The distinct rows of each set, with its place.

    Sets whose columns have few combinations together are collapsed as one first: all rows are gone through
    once for them, and each set is found in what is left.
    """
    shared = set(sets[0]).intersection(*sets[1:])
    n_values = {name: table.column(name).domain.size for one in sets for name in one}
    sizes = [math.prod(n_values[name] for name in one if name not in shared) for one in sets]
    for places in packed(sizes, beside=math.prod(n_values[name] for name in shared)):
        names = dict.fromkeys(name for place in places for name in sets[place])
        rows = table.select(names).collapse()
        if len(places) == 1:
            yield places[0], rows
        else:
            yield from ((place, rows.select(sets[place]).collapse()) for place in places)


def _added(parts: Sequence[Part], most: int) -> Part:
    """The distinct rows of several parts, which may have other values in other places."""
    sums: Part = []
    for place, tables in enumerate(zip(*parts, strict=True)):
        present = [table for table in tables if table is not None]
        sums.append(_expected_few(concat(present).collapse(), most, place) if present else None)
    return sums


def _expected_few(table: Table, most: int, place: int) -> Table:
    if table.n_rows > most:
        raise TooManyRowsError(place)
    return table
