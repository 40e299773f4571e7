"""A release as one SELECT: it reads a table, keeps its columns and adds the class last.

Standard SQL: DuckDB, SQLite and PostgreSQL run it as it is. A row that has a value which is not published
gets NULL, for no WHEN has it and there is no ELSE. Numbers stand behind a sign +, by which SQLite does not
compare a text with a number as if both were texts, and DuckDB and PostgreSQL refuse a column of texts. Texts
that look like numbers stand behind LIKE, which refuses a column of numbers there, and for SQLite in a CASE,
whose numbers are equal to no text. Several databases sort NaN above all numbers, so a bin that is open above
says what is in it. SQLite takes TRUE for a column of that name, and doubles have no odd integers beyond 2^53
(those of 32 bits beyond 2^24).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nbcfast._core.numbers import edge
from nbcfast._core.sql_text import expect_names, identifier, table_name
from nbcfast._wire.messages import printable
from nbcfast.exports.about import About
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.points_sql import decided, indented, total_lines
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit, most_total
from nbcfast.table.sql_cases import conditions_of
from nbcfast.table.values import Interval, Value

INPUT = "input"


def content(points: PointsTable, about: About) -> bytes:
    """The query; ValueError where SQL takes two columns for one, or cannot have a value."""
    names = [name for name, _, _ in points.attributes]
    expect_fit(points, where="SQL")
    label = decided(
        points.classes, lambda c: total_lines(points, c, INPUT, about.null_values), points.threshold
    )
    return _query(header(points, about), names, label, about)


def content_by(strata: StrataPoints, about: About) -> bytes:
    """The query in which the value of a column selects the points that decide a row."""
    first = strata.points[0]
    expect_fit(max(strata.points, key=most_total), where="SQL")
    whens = conditions_of(
        strata.by, f"{identifier(INPUT)}.{identifier(strata.by)}", strata.values, about.null_values
    )

    def selected(c: int) -> list[str]:
        """The total of a class by the points of the stratum: less its threshold where there is one."""
        lines = ["CASE"]
        for when, points in zip(whens, strata.points, strict=True):
            less = -(points.threshold or 0)
            lines += [
                f"  WHEN {when} THEN",
                *indented(total_lines(points, c, INPUT, about.null_values, less), 4),
            ]
        return [*lines, "END"]

    label = decided(first.classes, selected, 0 if first.threshold is not None else None)
    names = [strata.by, *(name for name, _, _ in first.attributes)]
    return _query(header(first, about, strata), names, label, about)


def _query(comments: Sequence[str], names: Sequence[str], label: Sequence[str], about: About) -> bytes:
    expect_names(names)
    about.expect_added([name.casefold() for name in names], str.casefold)
    lines = [
        *comments,
        f"SELECT {identifier(INPUT)}.*,",
        *indented([*label, f"AS {identifier(about.added)}"], 2),
        f"FROM {table_name(INPUT if about.table is None else about.table)} AS {identifier(INPUT)}",
    ]
    return ("\n".join(lines) + "\n").encode()


def header(points: PointsTable, about: About, strata: StrataPoints | None = None) -> list[str]:
    """What a reader has to know, as comments: no text of the release ends one."""
    lines = [
        f"nbcfast {about.version}: the class {printable(repr(about.class_name))} by adding up points",
        f"certificate sha256 {about.sha256}",
        "NULL is the answer where a value is none of those below: it is no class",
        "texts are equal letter by letter: use a column whose collation tells 'A' from 'a' and 'a ' from 'a'",
        f"the class comes last, in a column {printable(repr(about.added))}",
        "a table that has a column of this name already gives two of it: export with another --name",
        "the order of rows is not kept: no SQL table has one, so sort by a column of yours",
        "numbers must be in columns of numbers, texts in those of texts: in SQLite others get no class, and",
        "elsewhere it is an error; an integer that a double may have rounded gets no class",
    ]
    if strata is not None:
        lines.append(f"the column {printable(repr(strata.by))} selects the points that decide a row")
    if about.null_values:
        texts = ", ".join(printable(repr(text)) for text in about.null_values)
        lines.append(f"these texts are read as NULL: {texts}")
    listed = [*points.classes, *(value for _, domain, _ in points.attributes for value in domain)]
    listed += () if strata is None else strata.values
    if any(isinstance(value, str) and "\\" in value for value in listed):
        lines.append("a backslash is a letter, as in standard SQL")
    odd = [name for name, domain, _ in points.attributes if any(map(_odd, domain))]
    if odd:
        lines.append(
            f"bins of {', '.join(printable(repr(name)) for name in odd)} are exact for doubles alone"
        )
    return [f"-- {line}" for line in lines]


def _odd(value: Value) -> bool:
    """Whether a bin has an end that no double is."""
    ends = (value.low, value.high) if isinstance(value, Interval) else ()
    return any(end is not None and Fraction(repr(float(edge(end)))) != end for end in ends)
