"""Tables of ibis, whatever its backend: a query for each set, which ibis writes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from nbcfast._core.untyped import Ibis, PyArrow
from nbcfast.frames.buckets import MOST_TASKS, of_buckets
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
    unreadable,
)
from nbcfast.table.arrow import load_pyarrow
from nbcfast.table.values import INT64_MAX

# A sum of floats is this near to the sum of the integers, however many rows of an engine there are.
NEARLY_ALL = float(1 << 63) * (1 - 2.0**-20)

MOST_HASH = MOST_TASKS**2


class IbisRows(Engine):
    """A table expression."""

    kind = "a table of ibis"

    def __init__(self, table: Ibis) -> None:
        import ibis

        self._ibis = ibis
        self._table = table
        self._types = table.schema().types
        self.names = tuple(table.columns)

    def schema(self) -> PyArrow:
        pa = load_pyarrow()
        fields = []
        for name, type_ in zip(self.names, self._types, strict=True):
            try:
                fields.append((name, type_.to_pyarrow()))
            except (KeyError, TypeError, NotImplementedError):
                fields.append((name, unreadable(str(type_), "ibis")))
        return pa.schema(fields)

    def collated(self, places: Sequence[int]) -> list[int]:
        texts = [place for place in places if self._types[place].is_string()]
        if not texts:
            return []
        ibis, none = self._ibis, self._chosen(texts).limit(0)
        tests = {}
        for place in texts:
            # Of no rows the largest is null, and has the collation of the column all the same.
            largest = none[column(place)].max()
            tests[column(place)] = (
                (ibis.coalesce(largest, "A") == "a")
                | (ibis.coalesce(largest, "a") == "\xe1")
                | (ibis.coalesce(largest, "e\u0301") == "\xe9")
                | (ibis.coalesce(largest, "a ") == "a")
            )
        (answers,) = none.aggregate(**tests).to_pyarrow().to_pylist()
        return [place for place in texts if answers[column(place)]]

    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int]:
        some = self._chosen(places).limit(n_rows)
        names = [column(place) for place in places]
        (found,) = some.aggregate(**{name: some[name].nunique() for name in names}).to_pyarrow().to_pylist()
        return [found[name] for name in names]

    def _chosen(self, places: Sequence[int]) -> Ibis:
        return self._table.select(**{column(place): self._cleaned(place) for place in places})

    def _cleaned(self, place: int) -> Ibis:
        """A column in which NaN is null, where the backend knows NaN, and -0.0 is 0.0."""
        values = self._table[self.names[place]]
        if self._types[place].is_string() and self._table.get_backend().name == "sqlite":
            # A column has a collation there, which its largest text has not; texts put together have none.
            return values + ""
        if not self._types[place].is_floating():
            return values
        backend = self._table.get_backend()
        if backend.has_operation(self._ibis.expr.operations.IsNan):
            values = values.isnan().ifelse(self._ibis.null("float64"), values)
        return values.cast("float64") + 0.0

    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        def bucket(part: int, n_parts: int) -> PyArrow:
            rows = copy.copy(self)
            if n_parts > 1:
                self._expect_one_drawing()
                rows._table = self._table.filter(self._hash(divided.together) % n_parts == part)
            (found,) = rows.grouped(divided.asked)
            return found

        return of_buckets(divided, bucket)

    def _hash(self, places: Sequence[int]) -> Ibis:
        """A number from 0 to 2^32 - 1, the same for rows that are equal in these columns."""
        backend = self._table.get_backend()
        if not backend.has_operation(self._ibis.expr.operations.Hash):
            raise ValueError(
                f"tasks: expected 1, as the backend {backend.name} has no hash by which rows are divided"
            )
        key = self._ibis.literal(0, "int64")
        for place in places:
            # A time of day may have a zone, which Arrow has not: two that it takes for one are hashed apart.
            if self._types[place].is_time():
                continue
            # Remainders first: sums of hashes leave 64 bits. A null may have a null for its hash.
            one = self._cleaned(place).hash().cast("int64") % MOST_HASH
            key = (key * 31 + self._ibis.coalesce((one + MOST_HASH) % MOST_HASH, 7)) % MOST_HASH
        return key

    def _expect_one_drawing(self) -> None:
        """Refuse rows that are drawn at random where several queries are asked: each would draw others."""
        operations = self._ibis.expr.operations
        drawing = (operations.RandomScalar, operations.RandomUUID, operations.Sample)
        if self._table.op().find(drawing):
            raise ValueError(
                f"{self.kind} draws rows at random, and each of several queries would draw others: write "
                "what was drawn, and give that table"
            )

    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        if len(asked.sets) > 1:
            self._expect_one_drawing()
        chosen = self._chosen(asked.columns)
        numbers = {NUMBER: chosen.count()}
        if asked.weights is not None:
            numbers = self._weighed(chosen, column(asked.weights))
        found = []
        for place, one in enumerate(asked.sets):
            groups = chosen.group_by([column(name) for name in one]).aggregate(**numbers)
            rows = groups.limit(min(asked.most + 1, INT64_MAX)).to_pyarrow()
            if rows.num_rows > asked.most:
                raise TooManyRowsError(place)
            found.append(rows)
        return found

    def _weighed(self, chosen: Ibis, name: str) -> dict[str, Ibis]:
        """NUMBERS of weights."""
        weight = counted = chosen[name]
        if weight.type().is_decimal() or weight.type().is_unsigned_integer():
            # What is no weight of 64 bits is null here, and refused for that: PRESENT is short of ROWS.
            counted = (weight <= INT64_MAX).ifelse(weight, self._ibis.null(weight.type())).cast("int64")
        about = weight.cast("float64").sum()
        return {
            # A sum that may not fit would not arrive; fetched without it, it is refused for ABOUT.
            NUMBER: (about <= NEARLY_ALL).ifelse(counted.sum(), self._ibis.null("int64")),
            LEAST: weight.min(),
            PRESENT: counted.count(),
            ROWS: chosen.count(),
            ABOUT: about,
        }
