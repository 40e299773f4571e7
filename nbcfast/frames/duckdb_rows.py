"""Relations of DuckDB: one statement for all sets, fetched batch by batch."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import re
from collections.abc import Iterator, Sequence

from nbcfast._core.untyped import Document, PyArrow
from nbcfast.frames.buckets import of_buckets
from nbcfast.frames.engines import ABOUT, LEAST, NUMBER, PRESENT, ROWS, AskedRows, DividedRows, Engine, column
from nbcfast.frames.group_queries import branches, grouping_sets, of_each_set
from nbcfast.table.arrow import load_pyarrow

ROWS_NAME = "nbcfast_rows"
# Texts that are one by a collation: without case, without accents, composed.
TAKEN_FOR_ONE = (("A", "a"), ("a", "\xe1"), ("e\u0301", "\xe9"))
# Steps of a plan that give the same rows again and cost little: reading some columns twice is less than
# copying each row for every set. No projection, of which a plan shows names: a coin may be thrown there.
CHEAP = {"PARQUET_SCAN", "READ_PARQUET", "SEQ_SCAN", "TABLE_SCAN", "PANDAS_SCAN", "FILTER"}
SAMPLED = '"Sample Method"'
ONCE = {"ARROW_SCAN", "PYTHON_ARROW_SCAN"}  # of a reader, perhaps, whose rows come a single time


class DuckDBRows(Engine):
    """A relation."""

    kind = "a relation of DuckDB"

    def __init__(self, relation: PyArrow) -> None:
        self._relation = relation
        self.names = tuple(relation.columns)
        self._columns = self._columns_now()
        # By their places: DuckDB takes "Age" and "age" for one name, and a dot for a part of a struct.
        listed = ", ".join(map(column, range(len(self.names))))
        self._source = f"{ROWS_NAME} AS given({listed})"

    def _read(self, query: str) -> PyArrow:
        return load_pyarrow().RecordBatchReader.from_stream(self._relation.query(ROWS_NAME, query))

    def _columns_now(self) -> list[tuple[str, str]]:
        """Names and types, as a query on the relation finds them."""
        now = self._relation.query(ROWS_NAME, f"SELECT * FROM {ROWS_NAME} LIMIT 0")
        return list(zip(now.columns, map(str, now.types), strict=True))

    def _expect_same_columns(self) -> None:
        """Refuse a relation whose table or file was replaced: it is read anew, by the places of columns."""
        now = self._columns_now()
        if now == self._columns:
            return
        pairs = itertools.zip_longest(self._columns, now)
        before, after = next((before, after) for before, after in pairs if before != after)
        name = (before or after)[0]
        was, is_ = (" ".join((repr(one[0]), one[1])) if one else "nothing" for one in (before, after))
        raise ValueError(
            f"column {name!r}: the columns of {self.kind} have changed since the Frame was made: expected "
            f"{was}, got {is_}"
        )

    @functools.cached_property
    def _schema(self) -> PyArrow:
        with self._read(f"SELECT * FROM {self._source} LIMIT 0") as reader:
            read = reader.schema
        fields = [field.with_name(name) for field, name in zip(read, self.names, strict=True)]
        return load_pyarrow().schema(fields)

    def schema(self) -> PyArrow:
        return self._schema

    @functools.cached_property
    def _plan(self) -> str:
        """The plan of the relation, as JSON; no text where this DuckDB does not tell."""
        told = self._relation.query(ROWS_NAME, f"EXPLAIN (FORMAT JSON) SELECT * FROM {ROWS_NAME}")
        try:
            return "" if told is None else str(told.fetchall()[0][1])
        except IndexError:
            return ""

    @functools.cached_property
    def _steps(self) -> set[str]:
        """What the plan of the relation does; nothing where this DuckDB does not tell."""
        try:
            return {name for plan in json.loads(self._plan) for name in _named(plan)}
        except (KeyError, TypeError, ValueError):
            return set()

    @functools.cached_property
    def _gives_same_rows(self) -> bool:
        """Whether each SELECT of one statement sees the same rows: none are drawn at random, or numbered."""
        if SAMPLED in self._plan:  # by the scan itself, which has no step of its own for it
            return False
        query = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'"
        listed = self._relation.query(ROWS_NAME, query).fetchall()
        names = "|".join(re.escape(name) for (name,) in listed)
        return not re.search(rf"\b({names})\b", self._plan)

    def collated(self, places: Sequence[int]) -> list[int]:
        # Others arrive as texts too, as UUID, and are compared as what they are.
        types = {place: str(self._relation.types[place]) for place in places}
        texts = [place for place in places if types[place] in ("VARCHAR", "JSON")]
        if not texts:
            return []
        tests = ", ".join(
            # Of no rows the largest is null, and has the collation of the column all the same.
            " OR ".join(
                f"coalesce(max({column(place)}), {_literal(one, type_)}) = {_literal(other, type_)}"
                for one, other in TAKEN_FOR_ONE
            )
            for place, type_ in ((place, types[place]) for place in texts)
        )
        with self._read(f"SELECT {tests} FROM (SELECT * FROM {self._source} LIMIT 0) AS nobody") as reader:
            found = reader.read_all()
        return [place for place, answer in zip(texts, found.columns, strict=True) if answer[0].as_py()]

    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int] | None:
        if not self._steps or self._steps & ONCE:
            return None
        names = [column(place) for place in places]
        numbers = ", ".join(f"approx_count_distinct({name})" for name in names)
        most = "" if n_rows is None else f" LIMIT {n_rows}"
        some = f"(SELECT {', '.join(names)} FROM {self._source}{most}) AS looked_at"
        with self._read(f"SELECT {numbers} FROM {some}") as reader:
            return [answer[0].as_py() for answer in reader.read_all().columns]

    def cleaned(self, place: int) -> str:
        """A column in which NaN is null, and -0.0 is 0.0, as SQL."""
        name = column(place)
        if not load_pyarrow().types.is_floating(self._schema.types[place]):
            return name
        return f"CASE WHEN NOT isnan({name}) THEN CAST({name} AS DOUBLE) + 0e0 END"

    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        self._expect_same_columns()
        numbers = [f"count(*) AS {NUMBER}"]
        if asked.weights is not None:
            weight = column(asked.weights)
            numbers = [
                # What is no weight of 64 bits is null here, and refused for that: PRESENT is short of ROWS.
                f"try_cast(sum(try_cast({weight} AS BIGINT)) AS BIGINT) AS {NUMBER}",
                f"min({weight}) AS {LEAST}",
                f"count(try_cast({weight} AS BIGINT)) AS {PRESENT}",
                f"count(*) AS {ROWS}",
                f"sum(CAST({weight} AS DOUBLE)) AS {ABOUT}",
            ]
        is_cheap = self._steps and self._steps <= CHEAP and self._gives_same_rows
        written = branches if is_cheap else grouping_sets
        found: list[PyArrow] = []
        for start, part in asked.parts():
            # Closed where too many rows are not read to their end: a connection has one open answer.
            with self._read(written(part, self.cleaned, numbers, self._source)) as reader:
                found += of_each_set(part, reader, reader.schema, start)
        return found

    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        # Arrow has no zone beside a time of day: two that it takes for one are hashed apart.
        types = self._relation.types
        places = [place for place in divided.together if str(types[place]) != "TIME WITH TIME ZONE"]
        key = ", ".join(map(self.cleaned, places)) or "0"

        def bucket(part: int, n_parts: int) -> PyArrow:
            rows = copy.copy(self)
            if n_parts > 1:
                chosen = f"SELECT * FROM {self._source} WHERE hash({key}) % {n_parts} = {part}"
                rows._source = f"({chosen}) AS bucket"
            (found,) = rows.grouped(divided.asked)
            return found

        return of_buckets(divided, bucket)


def _literal(text: str, type_: str) -> str:
    return f"""'"{text}"'::JSON""" if type_ == "JSON" else f"'{text}'"


def _named(plan: Document) -> Iterator[str]:
    """The names of a step and of those below it."""
    yield plan["name"]
    for below in plan.get("children", ()):
        yield from _named(below)
