"""A query run over tuples of the domain: by DuckDB where that is installed, else by SQLite."""

from __future__ import annotations

import importlib
import importlib.util
from contextlib import closing
from typing import Any

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.sql_text import identifier, table_name
from nbcfast.exports.about import About
from nbcfast.exports.raw_values import RawColumn, raw_columns
from nbcfast.published.points_table import PointsTable
from nbcfast.published.value_texts import label_value
from nbcfast.table.values import Kind

TYPES: dict[Kind | None, str] = {
    "bool": "BOOLEAN",
    "int": "BIGINT",
    "float": "DOUBLE",
}  # all others are texts


def database_name() -> str | None:
    """What runs queries here."""
    if _has_duckdb():
        return f"duckdb {importlib.import_module('duckdb').__version__}"
    if importlib.util.find_spec("sqlite3") is not None:
        return f"sqlite {importlib.import_module('sqlite3').sqlite_version}"
    return None


def sql_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class that the query gives each row of codes, -1 for NULL."""
    return query_decides(content, points, about, codes, "duckdb" if _has_duckdb() else "sqlite3")


def query_decides(content: bytes, points: PointsTable, about: About, codes: Longs, database: str) -> Longs:
    """The same by one of the databases; a label that is no class, or columns that are lost, raise."""
    text = _of_own_table(content.decode(), about)
    place = {label_value(label): position for position, label in enumerate(points.classes)}
    columns = raw_columns(points, codes, about.null_values)
    run = _by_duckdb if database == "duckdb" else _by_sqlite
    width, numbers, labels = run(text, _number(points), columns, len(codes))
    if width != len(columns) + 2:
        raise ValueError(f"the query gives {width} columns of {len(columns) + 1}, expected one more")
    found = np.full(len(codes), -1, np.int64)
    found[numbers] = [-1 if label is None else place[label] for label in labels]
    return found


def _has_duckdb() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("duckdb", "pyarrow"))


def _of_own_table(text: str, about: About) -> str:
    """The query, reading from a table of the name that is taken where none is given."""
    end = f'FROM {table_name("input" if about.table is None else about.table)} AS "input"\n'
    if not text.endswith(end):
        raise ValueError(f"the query does not end in {end!r}")
    return text.removesuffix(end) + 'FROM "input" AS "input"\n'


def _number(points: PointsTable) -> str:
    """The name of a column with the number of the row, which no attribute has."""
    number, names = "number", {name.casefold() for name, _, _ in points.attributes}
    while number in names:
        number += "_"
    return number


def _by_duckdb(
    text: str, number: str, columns: list[RawColumn], rows: int
) -> tuple[int, list[int], list[Any]]:
    duckdb, pa = importlib.import_module("duckdb"), importlib.import_module("pyarrow")
    types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
    given = {number: pa.array(np.arange(rows))}
    for column in columns:
        values = pa.array(column.values, types.get(str(column.kind), pa.string()))
        given[column.name] = values.take(pa.array(column.places))
    with closing(duckdb.connect()) as connection:
        connection.register("input", pa.table(given))
        answer = connection.sql(text).to_arrow_table()
    return answer.num_columns, answer.column(0).to_pylist(), answer.column(answer.num_columns - 1).to_pylist()


def _by_sqlite(
    text: str, number: str, columns: list[RawColumn], rows: int
) -> tuple[int, list[int], list[Any]]:
    sqlite3 = importlib.import_module("sqlite3")
    declared = [f"{identifier(number)} INTEGER"]
    declared += [f"{identifier(column.name)} {TYPES.get(column.kind, 'VARCHAR')}" for column in columns]
    marks = ", ".join("?" * len(declared))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f'CREATE TABLE "input" ({", ".join(declared)})')
        given = zip(range(rows), *(column.rows() for column in columns), strict=True)
        connection.executemany(f'INSERT INTO "input" VALUES ({marks})', given)
        answer = connection.execute(text)
        width = len(answer.description)
        numbers, labels = [], []
        for row in answer:
            numbers.append(row[0])
            labels.append(row[-1])
    return width, numbers, labels
