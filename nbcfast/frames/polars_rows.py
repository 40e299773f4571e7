"""Frames of Polars, lazy and eager: a group_by for each set, all of one plan, by the streaming engine."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator, Sequence

from nbcfast._core.untyped import Polars, PyArrow
from nbcfast.frames.buckets import of_buckets
from nbcfast.frames.engines import (
    ABOUT,
    LEAST,
    NUMBER,
    PRESENT,
    ROWS,
    AskedRows,
    DividedRows,
    Engine,
    TooManyRowsError,
    column,
)

MOST_HEAD = (1 << 32) - 1  # rows: Polars has no longer frames, but in a build of its own
ONCE = "PYTHON SCAN"  # of a generator, perhaps, whose rows come a single time
# What a plan says of coins, which each query of one plan would throw for itself.
DRAWN = re.compile(r"\.(shuffle|sample)\(")


class PolarsRows(Engine):
    """A frame; an eager one is asked as if it was lazy, and nothing of it is copied."""

    kind = "a frame of Polars"

    def __init__(self, frame: Polars) -> None:
        import polars

        self._polars = polars
        self._frame = frame.lazy()
        self._schema = self._frame.collect_schema()
        self.names = tuple(self._schema.names())

    def schema(self) -> PyArrow:
        return self._polars.DataFrame(schema=self._schema).to_arrow().schema

    def collated(self, places: Sequence[int]) -> list[int]:
        return []  # texts are equal letter by letter

    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int] | None:
        if ONCE in self._frame.explain(optimized=False):
            return None
        some = self._chosen(places)
        if n_rows is not None:
            some = some.head(n_rows)
        (found,) = self._collected([some.select(self._polars.all().n_unique())])
        return list(found.row(0))

    def _chosen(self, places: Sequence[int]) -> Polars:
        return self._frame.select([self._cleaned(place).alias(column(place)) for place in places])

    def _cleaned(self, place: int) -> Polars:
        """A column by its place, for a name that begins with ^ and ends with $ would be a pattern."""
        values = self._polars.nth(place)
        if self._schema.dtypes()[place].is_float():
            return values.fill_nan(None) + 0.0
        return values

    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        pl = self._polars
        numbers = [pl.len().cast(pl.Int64).alias(NUMBER)]
        if asked.weights is not None:
            weight = pl.col(column(asked.weights))
            numbers = [
                # What is no weight of 64 bits is null here, and refused for that: PRESENT is short of ROWS.
                weight.cast(pl.Int64, strict=False).sum().alias(NUMBER),
                weight.min().alias(LEAST),
                weight.cast(pl.Int64, strict=False).count().cast(pl.Int64).alias(PRESENT),
                pl.len().cast(pl.Int64).alias(ROWS),
                weight.cast(pl.Float64).sum().alias(ABOUT),
            ]
        chosen = self._chosen(asked.columns)
        if len(asked.sets) > 1 and DRAWN.search(self._frame.explain(optimized=False)):
            chosen = chosen.cache()  # all of them read one drawing, in the memory of these columns
        queries = [
            chosen.group_by([column(place) for place in one])
            .agg(numbers)
            .head(min(asked.most + 1, MOST_HEAD))
            for one in asked.sets
        ]
        found = []
        for place, (one, frame) in enumerate(zip(asked.sets, self._collected(queries), strict=True)):
            if frame.height > asked.most:
                raise TooManyRowsError(place)
            names = [*map(column, one), *(expression.meta.output_name() for expression in numbers)]
            found.append(frame.select(names).to_arrow())
        return found

    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        pl, types = self._polars, self._schema.dtypes()
        # A text has one place in the list of a frame, and may have another in that of a part of it.
        keys = [
            self._cleaned(place).cast(pl.String).alias(column(place))
            if types[place] in (pl.Categorical, pl.Enum)
            else self._cleaned(place).alias(column(place))
            for place in divided.together
        ]

        def bucket(part: int, n_parts: int) -> PyArrow:
            rows = copy.copy(self)
            if n_parts > 1:
                rows._frame = self._frame.filter(pl.struct(keys).hash() % n_parts == part)
            (found,) = rows.grouped(divided.asked)
            return found

        return of_buckets(divided, bucket)

    def _collected(self, queries: Sequence[Polars]) -> list[Polars]:
        """The answers, in the memory of the groups; releases before 1.23 have another word for that."""
        taken = inspect.signature(self._polars.collect_all).parameters
        streaming = {"engine": "streaming"} if "engine" in taken else {"streaming": True}
        answers: list[Polars] = self._polars.collect_all(queries, **streaming)
        return answers
