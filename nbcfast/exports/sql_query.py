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

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from nbcfast._wire.messages import printable
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_value
from nbcfast.exports.points_of_release import expect_fit, most_total
from nbcfast.exports.raw_values import WHOLE, edge, kind_of_values
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import Interval, Value

LARGEST = "1.7976931348623157E308"
SINGLE = 1 << 24  # from here on integers are not all floats of 32 bits
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Texts that no database takes for a number, a moment or a truth: all others stand behind LIKE.
PLAIN = re.compile(
    "(?!(?:t|f|y|n|true|false|yes|no|on|off|nan|inf|infinity|epoch|now|today|null)\\s*$)[^\\W\\d_][^\\0]*",
    re.IGNORECASE | re.DOTALL,
)
INPUT, SCORED, TOTAL = '"input"', '"scored"', '"points"'


def content(points: PointsTable, about: About) -> bytes:
    """The query; ValueError where SQL takes two columns for one, or cannot have a value."""
    names = [name for name, _, _ in points.attributes]
    return _query(header(points, about), names, label_of(points, about.null_values), about)


def content_by(strata: StrataPoints, about: About) -> bytes:
    """The query in which the value of a column selects the points that decide a row."""
    first = strata.points[0]
    expect_fit(max(strata.points, key=most_total), where="SQL")
    whens = tests_of(strata.by, f"{INPUT}.{identifier(strata.by)}", strata.values, about.null_values)

    def selected(c: int) -> list[str]:
        """The total of a class by the points of the stratum: less its threshold where there is one."""
        lines = ["CASE"]
        for when, points in zip(whens, strata.points, strict=True):
            less = -(points.threshold or 0)
            lines += [f"  WHEN {when} THEN", *indented(_sum(points, c, about.null_values, less), 4)]
        return [*lines, "END"]

    label = _decided(first.classes, selected, 0 if first.threshold is not None else None)
    names = [strata.by, *(name for name, _, _ in first.attributes)]
    return _query(header(first, about, strata), names, label, about)


def _query(comments: Sequence[str], names: Sequence[str], label: Sequence[str], about: About) -> bytes:
    expect_names(names)
    about.expect_added([name.casefold() for name in names], str.casefold)
    lines = [
        *comments,
        f"SELECT {INPUT}.*,",
        *indented([*label, f"AS {identifier(about.added)}"], 2),
        f"FROM {table_name('input' if about.table is None else about.table)} AS {INPUT}",
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


def label_of(points: PointsTable, null_values: Sequence[str] = ()) -> list[str]:
    """The class of a row of the input, as lines of an expression; these texts are read as null."""
    expect_fit(points, where="SQL")
    return _decided(points.classes, lambda c: _sum(points, c, null_values), points.threshold)


def _decided(
    classes: Sequence[Value], total_of: Callable[[int], list[str]], threshold: int | None
) -> list[str]:
    """The class by totals; one query within the row, for databases plan each and run them all."""
    labels = [literal(label_value(label)) for label in classes]
    if threshold is None:
        return _of_many(labels, total_of)
    total = f"{SCORED}.{TOTAL}"
    return [
        f"(SELECT CASE WHEN {total} >= {threshold} THEN {labels[0]}",
        f"             WHEN {total} < {threshold} THEN {labels[1]} END",
        " FROM (SELECT",
        *indented(total_of(0), 3),
        f"   AS {TOTAL}) AS {SCORED})",
    ]


def _of_many(labels: Sequence[str], total_of: Callable[[int], list[str]]) -> list[str]:
    """With a total for each class: the later of equal ones wins, so each must reach those before it."""
    n = len(labels)
    names = [f'"points {c + 1}"' for c in range(n)]
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


def _sum(points: PointsTable, c: int, null_values: Sequence[str], start: int = 0) -> list[str]:
    """The points of all attributes for a class added up, as lines; `start` is added too."""
    start += points.constants[c] if points.constants else 0
    lines = [str(start)] if start else []
    if most_total(points) >= 1 << 31:  # which integers of a database may not hold before they are told to
        lines = [f"CAST({start} AS BIGINT)"]
    for name, domain, rows in points.attributes:
        tests = tests_of(name, f"{INPUT}.{identifier(name)}", domain, null_values)
        whens = [f"WHEN {test} THEN {row[c]}" for test, row in zip(tests, rows, strict=True)]
        lines += [f"{'+ ' if lines else ''}CASE", *indented(whens, 2), "END"]
    return lines


def tests_of(name: str, column: str, domain: Sequence[Value], null_values: Sequence[str]) -> list[str]:
    """For each published value the test that a column has it; these texts are read as null."""
    kind = kind_of_values(name, domain)
    given = column
    if kind in ("int", "float"):
        given = f"+{column}"
    elif any(isinstance(value, str) and not PLAIN.fullmatch(value) for value in domain) and not all(
        DAY.fullmatch(str(value)) for value in domain if value is not None
    ):
        given = f"CASE WHEN {column} LIKE '%' THEN {column} END"  # days may stand in a column of dates
    # A column of numbers has no such text, and where databases have types it would be no number.
    is_null = [f"{column} IS NULL", *(f"CAST({column} AS VARCHAR) = {literal(text)}" for text in null_values)]
    return [" OR ".join(is_null) if value is None else _test(column, given, value) for value in domain]


def _test(column: str, given: str, value: Value) -> str:
    """The test of a value that is no null; `given` is the column as its kind of values is compared."""
    if isinstance(value, Interval):
        return _within(f"+{column}", value)
    if isinstance(value, int) and abs(value) >= SINGLE and not isinstance(value, bool):
        # One that is beside it: of rounded numbers the difference is another.
        away = 1 if value > 0 else -1
        beside = value + away if abs(value) in (SINGLE, WHOLE) else value - away
        return f"CASE WHEN {given} = {value} THEN {given} - {signed(beside)} END = {value - beside}"
    return f"{given} = {literal(value)}"


def _within(column: str, value: Interval) -> str:
    """The test of a bin: NaN is in none, and what is infinite in one that is open there."""
    tests = [] if value.low is None else [f"{column} >= {number_literal(edge(value.low))}"]
    if value.high is not None:
        tests.append(f"{column} < {number_literal(edge(value.high))}")
    else:
        tests.append(f"({column} <= {LARGEST} OR 0E0 - {column} < -{LARGEST})")
    return " AND ".join(tests)


def signed(number: int) -> str:
    """An integer behind a sign of arithmetic: two signs - would begin a comment."""
    return str(number) if number >= 0 else f"({number})"


def literal(value: Value) -> str:
    """A value that is no interval, as SQL writes it.

    Examples
    --------
    >>> literal("it's"), literal(True), literal(-3), literal(0.1)
    ("'it''s'", '(1=1)', '-3', '0.1E0')
    """
    if isinstance(value, bool):
        return "(1=1)" if value else "(1=0)"
    if isinstance(value, int | float):
        return number_literal(value)
    assert isinstance(value, str)
    _expect_writable(value)
    return "'" + value.replace("'", "''") + "'"


def number_literal(number: int | float) -> str:
    """A number; with an E it is a double, and no decimal that some database would round otherwise."""
    if isinstance(number, int):
        return str(number)
    if math.isinf(number):
        raise ValueError("SQL has no word for infinity: declare bins, or leave that value out")
    text = repr(number)
    return text.upper() if "e" in text else f"{text}E0"


def identifier(name: str) -> str:
    """A name of a column, as it is.

    Examples
    --------
    >>> identifier('a"b')
    '"a""b"'
    """
    if not name:
        raise ValueError("a column of SQL must have a name, got ''")
    _expect_writable(name)
    return '"' + name.replace('"', '""') + '"'


def table_name(text: str) -> str:
    """A table, with its schema before a dot."""
    if not all(text.split(".")):
        raise ValueError(f"table must be a name, or a schema and a name with a dot between, got {text!r}")
    return ".".join(identifier(part) for part in text.split("."))


def expect_names(names: Sequence[str]) -> None:
    """Refuse columns that SQL would not tell apart."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.casefold(), name)
        if other != name:
            raise ValueError(f"SQL does not tell the columns {other!r} and {name!r} apart: rename one")


def indented(lines: Sequence[str], blanks: int) -> list[str]:
    return [" " * blanks + line for line in lines]


def _odd(value: Value) -> bool:
    """Whether a bin has an end that no double is."""
    ends = (value.low, value.high) if isinstance(value, Interval) else ()
    return any(end is not None and Fraction(repr(float(edge(end)))) != end for end in ends)


def _expect_writable(text: str) -> None:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"SQL cannot have this text: {printable(repr(text))}")
