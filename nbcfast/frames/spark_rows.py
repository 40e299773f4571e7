"""Frames of PySpark, classic and Connect: one query with grouping sets, nothing installed on executors."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nbcfast._core.untyped import PyArrow, Spark
from nbcfast.frames.engines import (
    ABOUT,
    LEAST,
    NUMBER,
    PRESENT,
    ROWS,
    AskedRows,
    DividedRows,
    Mapped,
    WorkerEngine,
    column,
    unreadable,
)
from nbcfast.frames.group_queries import SETS, grouping_sets, of_each_set
from nbcfast.frames.spark_tasks import (
    TOLD,
    OnPartition,
    WithNames,
    expect_nbcfast,
    types_of_kinds,
    write_parquet,
)
from nbcfast.table.arrow import load_pyarrow

MOST_LIMIT = (1 << 31) - 1  # Spark takes no larger one
COLLATING = 4  # the first release with collations
BINARY = "UTF8_BINARY"  # the collation by which texts are equal letter by letter


class SparkRows(WorkerEngine):
    """A frame of a session."""

    kind = "a frame of PySpark"

    def __init__(self, frame: Spark) -> None:
        self.session = frame.sparkSession
        self._types = [field.dataType for field in frame.schema.fields]
        self.names = tuple(frame.schema.names)
        # By their places: Spark takes "Age" and "age" for one name, and a dot for a part of a struct.
        self.frame = frame.toDF(*map(column, range(len(self.names))))

    def schema(self) -> PyArrow:
        return load_pyarrow().schema(
            [(name, _arrow_type(type_)) for name, type_ in zip(self.names, self._types, strict=True)]
        )

    def collated(self, places: Sequence[int]) -> list[int]:
        texts = [place for place in places if self._types[place].typeName() == "string"]
        known = [place for place in texts if hasattr(self._types[place], "collation")]
        found = [place for place in known if self._types[place].collation != BINARY]
        told = [place for place in texts if place not in known]
        if told and int(self.session.version.split(".")[0]) >= COLLATING:  # a client of 3.5 at a later server
            asked = (f"collation(max({column(place)}))" for place in told)
            (answers,) = self.frame.limit(0).selectExpr(*asked).collect()
            found += [place for place, name in zip(told, answers, strict=True) if not name.endswith(BINARY)]
        return found

    def n_values(self, places: Sequence[int], n_rows: int | None) -> list[int]:
        names = [column(place) for place in places]
        some = self.frame.select(*names)
        if n_rows is not None:
            some = some.limit(n_rows)
        (found,) = some.selectExpr(*(f"approx_count_distinct({name})" for name in names)).collect()
        return list(found)

    def cleaned(self, place: int) -> str:
        """A column in which NaN is null, and -0.0 is 0.0, as SQL."""
        name = column(place)
        if self._types[place].typeName() not in ("float", "double"):
            return name
        return f"nanvl(CAST({name} AS DOUBLE), CAST(NULL AS DOUBLE)) + 0.0D"

    def _numbers(self, asked: AskedRows) -> list[str]:
        """The expressions of NUMBERS."""
        numbers = [f"count(*) AS {NUMBER}"]
        if asked.weights is not None:
            weight = column(asked.weights)
            numbers = [
                # What is no weight of 64 bits is null here, and refused for that: PRESENT is short of ROWS.
                # A sum of 64 bits may wrap, and say nothing.
                f"sum(CAST(try_cast({weight} AS BIGINT) AS DECIMAL(38, 0))) AS {NUMBER}",
                f"min({weight}) AS {LEAST}",
                f"count(try_cast({weight} AS BIGINT)) AS {PRESENT}",
                f"count(*) AS {ROWS}",
                f"sum(CAST({weight} AS DOUBLE)) AS {ABOUT}",
            ]
        return numbers

    def grouped(self, asked: AskedRows) -> list[PyArrow]:
        numbers = self._numbers(asked)
        found: list[PyArrow] = []
        for start, part in asked.parts():
            with self.named() as source:
                query = grouping_sets(part, self.cleaned, numbers, source)
                most = part.most * len(part.sets) + 1
                limit = f" LIMIT {most}" if most <= MOST_LIMIT else ""
                answer = to_arrow(self.session.sql(query + limit))
            found += of_each_set(part, answer.to_batches(), answer.schema, start)
        return found

    def in_tasks(self, divided: DividedRows) -> Iterator[tuple[bytes | None, int]]:
        asked = divided.asked
        n_tasks = (divided.tasks or self._n_tasks()) if divided.together else 1
        with self.named() as source, expect_nbcfast():
            rows = self.session.sql(grouping_sets(asked, self.cleaned, self._numbers(asked), source))
            # By the cleaned columns: those of a group are in one partition, whatever its sensitive values.
            rows = rows.drop(SETS).repartition(n_tasks, *map(column, divided.together))
            answer = to_arrow(rows.mapInArrow(OnPartition(divided.work), f"{TOLD} binary"))
        answers = answer.column(TOLD).to_pylist()
        yield from ((told, n_tasks) for told in answers)
        yield from ((None, n_tasks) for _ in range(n_tasks - len(answers)))

    def written(self, mapped: Mapped) -> Spark:
        from pyspark.sql.types import StructField, StructType

        changed = types_of_kinds(mapped.kinds)
        types = [changed.get(place, type_) for place, type_ in enumerate(self._types)]
        fields = StructType([StructField(column(place), type_) for place, type_ in enumerate(types)])
        # Behind the coins there is no shuffle: a part that is asked for once more would throw them anew.
        rows = self.frame.mapInArrow(WithNames(mapped.work, self.names), fields).toDF(*self.names)
        write_parquet(rows, mapped.path)
        return self.session.read.parquet(mapped.path)

    def _n_tasks(self) -> int:
        """Into how many parts this session divides groups; where it decides for itself, Spark's default."""
        told = str(self.session.conf.get("spark.sql.shuffle.partitions"))
        return int(told) if told.isdigit() else 200

    @contextmanager
    def named(self) -> Iterator[str]:
        """A name by which queries find the frame, until they have run: Connect looks it up only then."""
        name = f"nbcfast_{uuid.uuid4().hex}"
        self.frame.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self.session.catalog.dropTempView(name)


def _arrow_type(type_: Spark) -> PyArrow:
    """The type as which values arrive: Spark's own function takes other arguments in each release."""
    pa = load_pyarrow()
    if hasattr(type_, "sqlType"):  # of somebody's own values, which are written as this
        return _arrow_type(type_.sqlType())
    name = type_.typeName()
    if name == "decimal":
        return pa.decimal128(type_.precision, type_.scale)
    known = {
        "void": pa.null(),
        "boolean": pa.bool_(),
        "byte": pa.int8(),
        "short": pa.int16(),
        "integer": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "char": pa.string(),
        "varchar": pa.string(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "daytimeinterval": pa.duration("us"),
        "time": pa.time64("ns"),
    }
    return known.get(name) or unreadable(type_.simpleString(), "Spark")


def to_arrow(frame: Spark) -> PyArrow:
    """The rows of a frame; before 4.0 Spark gives Arrow to its own methods alone, and these ask them."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    if hasattr(frame, "_plan"):  # of Connect
        client = frame.sparkSession.client
        return client.to_table(frame._plan.to_proto(client))[0]
    from pyspark.sql.pandas.types import to_arrow_schema

    pa, schema = load_pyarrow(), to_arrow_schema(frame.schema)
    if hasattr(frame, "_collect_as_arrow"):
        batches = frame._collect_as_arrow()
        return pa.Table.from_batches(batches, batches[0].schema if batches else schema)
    return pa.Table.from_pylist([row.asDict() for row in frame.collect()], schema)
