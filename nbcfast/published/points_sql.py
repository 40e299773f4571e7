"""A points table as one expression of SQL: the class of a row from its columns.

Spark and DuckDB look a class up by its number, so that the total stands in the text once; with more classes
that of the largest total is the rest of the largest of `total * classes + place`, and of equal totals the
later place wins. Standard SQL has no such look-up: there a query within the row compares totals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from nbcfast._core.sql_text import (
    Dialect,
    expect_dialect,
    expect_names,
    expect_raises,
    identifier,
    literal,
    unlike,
)
from nbcfast._core.validation import choice
from nbcfast.published.points_totals import MOST_SMALL, MOST_TOTAL, expect_fit, least_total, most_total
from nbcfast.published.value_texts import label_value
from nbcfast.table.sql_cases import SqlColumn, conditions_of
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast.published.points_table import PointsTable

Unseen = Literal["error", "null"]
SCORED = '"scored"'


def class_of(points: PointsTable, dialect: Dialect, unseen: Unseen, table: str | None) -> str:
    """The expression; see `PointsTable.sql`."""
    expect_asked(dialect, unseen)
    expect_fit(points, where="SQL")
    names = [name for name, _, _ in points.attributes]
    if dialect != "spark":  # which can be told to compare names with their case
        expect_names(names)
    if dialect == "ansi":
        taken = names if table is None else ()
        lines = decided(
            points.classes,
            lambda c: total_lines(points, c, table, nan=True) or ["0"],
            points.threshold,
            taken,
        )
        return "\n".join(lines)
    labels = [literal(label_value(label), dialect) for label in points.classes]
    if points.threshold is not None:
        reached = f"{_total(points, 0, dialect, unseen, table)} >= {points.threshold}"
        return _looked_up(labels[::-1], reached, dialect)  # false comes before true
    return _looked_up(labels, _largest(points, dialect, unseen, table), dialect)


def class_by(
    by: str,
    points: Mapping[Value, PointsTable],
    dialect: Dialect,
    unseen: Unseen,
    table: str | None,
) -> str:
    """The expression in which the value of a column selects the points; see `StratifiedRelease.sql`."""
    expect_asked(dialect, unseen)
    attributes = [name for one in points.values() for name, _, _ in one.attributes]
    if dialect != "spark":
        expect_names([by, *dict.fromkeys(attributes)])
    texts = [class_of(one, dialect, unseen, table) for one in points.values()]
    return SqlColumn(by, tuple(points), dialect, table).case(texts, None if unseen == "error" else "NULL")


def expect_asked(dialect: Dialect, unseen: Unseen) -> None:
    """Refuse what is no dialect, and what it cannot do with a value that is not published."""
    expect_dialect(dialect)
    choice(unseen, ("error", "null"), "unseen")
    if unseen == "error":
        expect_raises(dialect, "null")


def _looked_up(labels: Sequence[str], place: str, dialect: Dialect) -> str:
    """The label at a place that is counted from 0; NULL where that is NULL."""
    if dialect == "spark":
        # Of an array of labels Spark holds that no look-up is NULL, and gives some label where the place is.
        listed = ", ".join(f"{number}, {label}" for number, label in enumerate(labels))
        return f"map({listed})[CAST({place} AS INT)]"
    return f"list_extract([{', '.join(labels)}], 1 + CAST({place} AS INT))"


def _largest(points: PointsTable, dialect: Dialect, unseen: Unseen, table: str | None) -> str:
    """The place of the class with the largest total, the later one of equal ones."""
    n, least = len(points.classes), least_total(points)
    # Rests of negative numbers differ from one engine to the next.
    shift = -min(least, 0)
    wide = 2 * n * most_total(points) >= MOST_TOTAL
    type_of_keys = {"spark": "DECIMAL(38, 0)", "duckdb": "HUGEINT"}[dialect] if wide else "BIGINT"
    keys = []
    for c in range(n):
        # One total that stops the query is enough: all are NULL for the same rows.
        total = _total(points, c, dialect, "null" if c else unseen, table, shift)
        keys.append(f"CAST({total} AS {type_of_keys}) * {n} + {c}")
    largest = keys[0] if n == 1 else f"greatest({', '.join(keys)})"
    return f"({largest}) % {n}"


def _total(
    points: PointsTable, c: int, dialect: Dialect, unseen: Unseen, table: str | None, start: int = 0
) -> str:
    """The points of all attributes for a class added up."""
    start += points.constants[c] if points.constants else 0
    parts = [f"CAST({start} AS BIGINT)"] if most_total(points) >= MOST_SMALL else [str(start)] * bool(start)
    for name, values, rows in points.attributes:
        column = SqlColumn(name, values, dialect, table)
        parts.append(column.case([str(row[c]) for row in rows], None if unseen == "error" else "NULL"))
    return " + ".join(parts) or "0"


def decided(
    classes: Sequence[Value],
    total_of: Callable[[int], list[str]],
    threshold: int | None,
    taken: Sequence[str] = (),
) -> list[str]:
    """The class by totals in standard SQL: one query within the row, for databases plan and run each.

    Parameters
    ----------
    classes : sequence
        In rising precedence.
    total_of : callable
        The total of a class, by its position, as lines of an expression.
    threshold : int or None
        From which on the one total gives the first class.
    taken : sequence of str
        Names of columns that stand without their table in these lines: no total is called so.
    """
    labels = [literal(label_value(label)) for label in classes]
    if threshold is None:
        return _of_many(labels, total_of, taken)
    points = identifier(unlike("points", taken))
    total = f"{SCORED}.{points}"
    return [
        f"(SELECT CASE WHEN {total} >= {threshold} THEN {labels[0]}",
        f"             WHEN {total} < {threshold} THEN {labels[1]} END",
        " FROM (SELECT",
        *indented(total_of(0), 3),
        f"   AS {points}) AS {SCORED})",
    ]


def _of_many(labels: Sequence[str], total_of: Callable[[int], list[str]], taken: Sequence[str]) -> list[str]:
    """With a total for each class: the later of equal ones wins, so each must reach those before it."""
    n = len(labels)
    names = [identifier(unlike(f"points {c + 1}", taken)) for c in range(n)]
    whens = []
    for c in range(n):
        total = f"{SCORED}.{names[c]}"
        tests = [f"{total} >= {SCORED}.{names[d]}" for d in range(c)]
        tests += [f"{total} > {SCORED}.{names[d]}" for d in range(c + 1, n)]
        whens.append(f"WHEN {' AND '.join(tests) or f'{total} IS NOT NULL'} THEN {labels[c]}")
    sums = []
    for c in range(n):
        sums += [*indented(total_of(c), 4), f"    AS {names[c]}{',' if c < n - 1 else ''}"]
    return ["(SELECT CASE", *indented(whens, 3), "   END", " FROM (SELECT", *sums, f"   ) AS {SCORED})"]


def total_lines(
    points: PointsTable,
    c: int,
    table: str | None,
    null_values: Sequence[str] = (),
    start: int = 0,
    *,
    nan: bool = False,
) -> list[str]:
    """The points of all attributes for a class added up in standard SQL, as lines; `start` is added too."""
    start += points.constants[c] if points.constants else 0
    lines = [str(start)] if start else []
    if most_total(points) >= MOST_SMALL:
        lines = [f"CAST({start} AS BIGINT)"]
    for name, domain, rows in points.attributes:
        column = SqlColumn(name, domain, "ansi", table)
        tests = conditions_of(name, column.text, domain, null_values, nan=nan)
        whens = [f"WHEN {test} THEN {row[c]}" for test, row in zip(tests, rows, strict=True)]
        lines += [f"{'+ ' if lines else ''}CASE", *indented(whens, 2), "END"]
    return lines


def indented(lines: Sequence[str], blanks: int) -> list[str]:
    return [" " * blanks + line for line in lines]
