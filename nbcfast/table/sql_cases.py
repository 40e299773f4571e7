"""A column of an engine beside published values: a CASE of SQL that finds each value as the library does.

In Spark and DuckDB a CASE asks for the type of its column first, which the engine knows before it reads a
row: implicit casts find '1' equal to 1. NaN is a null. Doubles hold every integer up to 2^53, so numbers are
compared as doubles as long as none that is published lies beyond; else integers are compared as such.

Standard SQL has no word for a type. There numbers stand behind a sign +, by which SQLite does not compare a
text with a number as if both were texts, and DuckDB and PostgreSQL refuse a column of texts. Texts that look
like numbers stand behind LIKE, which refuses a column of numbers there, and for SQLite in a CASE, whose
numbers are equal to no text. Several databases sort NaN above all numbers, so a bin that is open above says
what is in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.numbers import WHOLE, edge, first_double
from nbcfast._core.sql_text import Dialect, Plain, identifier, literal, number_literal, raised
from nbcfast._wire.messages import printable
from nbcfast.table.values import Interval, Kind, Value, kind_of_values

LARGEST = "1.7976931348623157E308"
SINGLE = 1 << 24  # from here on integers are not all floats of 32 bits
FAR = 1 << 100  # engines have literals for integers up to here, and tables have none beyond 64 bits
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Texts that no database takes for a number, a moment or a truth: all others stand behind LIKE.
PLAIN = re.compile(
    "(?!(?:t|f|y|n|true|false|yes|no|on|off|nan|inf|infinity|epoch|now|today|null)\\s*$)[^\\W\\d_][^\\0]*",
    re.IGNORECASE | re.DOTALL,
)

DOUBLES = {"spark": "'float', 'double'", "duckdb": "'FLOAT', 'DOUBLE'"}
INTEGERS = {
    "spark": "'tinyint', 'smallint', 'int', 'bigint'",
    "duckdb": "'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', "
    "'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT', 'HUGEINT'",
}
# Decimals of 15 digits are each another double, the one whose shortest text is theirs.
DECIMALS = {
    "spark": "typeof({0}) RLIKE '^decimal[(](1[0-5]|[0-9]),'",
    "duckdb": "regexp_matches(typeof({0}), '^DECIMAL[(](1[0-5]|[0-9]),')",
}
TEXTS = {
    "spark": "typeof({0}) IN ('string', 'date')",  # one with a collation has another name
    "duckdb": "(typeof({0}) IN ('VARCHAR', 'DATE') OR typeof({0}) LIKE 'ENUM(%')",
}
BOOLS = {"spark": "typeof({0}) = 'boolean'", "duckdb": "typeof({0}) = 'BOOLEAN'"}
AS_TEXT = {"spark": "CAST({0} AS STRING)", "duckdb": 'CAST({0} AS VARCHAR) COLLATE "C"'}
AS_INTEGER = {"spark": "CAST({0} AS BIGINT)", "duckdb": "CAST({0} AS HUGEINT)"}
NAN_TEXT = {"spark": "NaN", "duckdb": "nan"}
EXPECTED: dict[Kind | None, str] = {"text": "texts", "bool": "bools", None: "nulls"}  # all others: numbers


@dataclass(frozen=True)
class SqlColumn:
    """A column with published values; ValueError where one is `SUPPRESSED`, which no engine has.

    Attributes
    ----------
    name : str
    values : tuple
        Intervals stand for the numbers in them.
    dialect : {"spark", "duckdb", "ansi"}
    table : str or None
        The alias that stands before the name of the column.

    Examples
    --------
    >>> print(SqlColumn("sex", ("male", "female"), "ansi").case(["0", "7"], "NULL"))
    CASE WHEN "sex" = 'male' THEN 0 WHEN "sex" = 'female' THEN 7 END
    """

    name: str
    values: tuple[Value, ...]
    dialect: Dialect
    table: str | None = None

    @property
    def kind(self) -> Kind | None:
        """What the values are."""
        return kind_of_values(self.name, self.values)

    @property
    def text(self) -> str:
        """The column itself."""
        before = "" if self.table is None else f"{identifier(self.table, self.dialect)}."
        return f"{before}{identifier(self.name, self.dialect)}"

    @property
    def as_double(self) -> str:
        """The column as a double, where its type is one of numbers."""
        return f"CAST({self.text} AS DOUBLE)"

    @property
    def is_large(self) -> bool:
        """Whether a published number is so large that doubles beside it are no integers any more."""
        for value in self.values:
            ends = [value.low, value.high] if isinstance(value, Interval) else [value]
            if any(isinstance(end, (int, float, Fraction)) and not -WHOLE < end < WHOLE for end in ends):
                return True
        return False

    def as_text(self) -> str:
        """The column as a text that is compared letter by letter."""
        return self._filled(AS_TEXT)

    def as_integer(self) -> str:
        """The column as an integer, where its type is one of integers."""
        return self._filled(AS_INTEGER)

    def as_number(self) -> str:
        """The column as a double that is no NaN and no -0.0, where its type is one of numbers."""
        return f"CASE WHEN NOT isnan({self.as_double}) THEN {self.as_double} + CAST(0 AS DOUBLE) END"

    def standard_key(self) -> str:
        """The column in standard SQL, where numbers are equal to no text, and NaN is a null."""
        if self.kind == "int":
            return f"+{self.text}"
        if self.kind == "float":
            return f"CASE WHEN NOT {_is_nan(f'+{self.text}')} THEN {self.text} + 0E0 END"
        return self.text

    def _filled(self, templates: dict[str, str]) -> str:
        """The template of the dialect, with this column."""
        return templates[self.dialect].replace("{0}", self.text)

    def is_double(self) -> str:
        """Whether the type is one of doubles, or of decimals that each are one."""
        return f"(typeof({self.text}) IN ({DOUBLES[self.dialect]}) OR {self._filled(DECIMALS)})"

    def is_of_kind(self) -> str:
        """Whether the type of the column is one whose values may be published ones."""
        if self.kind == "text":
            return self._filled(TEXTS)
        if self.kind == "bool":
            return self._filled(BOOLS)
        listed = f"{INTEGERS[self.dialect]}, {DOUBLES[self.dialect]}"
        return f"(typeof({self.text}) IN ({listed}) OR {self._filled(DECIMALS)})"

    def is_null(self) -> str:
        """Whether a row has a null: NaN is one. Of numbers it may be asked once the type is known."""
        if self.kind in ("int", "float", "interval"):
            return f"{self.text} IS NULL OR isnan({self.as_double})"
        if None not in self.values:  # where a column of doubles is as unknown as its nulls are
            return f"{self.text} IS NULL"
        is_nan = f"typeof({self.text}) IN ({DOUBLES[self.dialect]}) AND {self.as_text()} = "
        return f"{self.text} IS NULL OR ({is_nan}'{NAN_TEXT[self.dialect]}')"

    def case(self, results: Sequence[str], unseen: str | None) -> str:
        """One of these results for each value.

        Parameters
        ----------
        results : sequence of str
            An expression for each value.
        unseen : str or None
            What a row gets that has none of the values; with None the query stops with a message, which
            Spark and DuckDB can.
        """
        if self.dialect == "ansi":
            tests = conditions_of(self.name, self.text, self.values, nan=True)
            whens = [f"WHEN {test} THEN {result}" for test, result in zip(tests, results, strict=True)]
            whens += [] if unseen == "NULL" else [f"ELSE {unseen}"]
            return f"CASE {' '.join(whens)} END"
        of_value = [
            (value, result) for value, result in zip(self.values, results, strict=True) if value is not None
        ]
        where = f"column {printable(self.name)}: "
        null = next(
            (result for value, result in zip(self.values, results, strict=True) if value is None), None
        )
        if null is None:
            null = unseen or raised(f"{where}null is not published", None, "", self.dialect)
        unknown = unseen or raised(f"{where}value ", self.text, " is not published", self.dialect)
        expected = f"{where}expected {EXPECTED.get(self.kind, 'numbers')}, got the type "
        wrong = unseen or raised(expected, f"typeof({self.text})", "", self.dialect)
        if self.kind is None:
            return f"CASE WHEN {self.is_null()} THEN {null} ELSE {unknown} END"
        if self.kind in ("text", "bool"):
            key = self.as_text() if self.kind == "text" else self.text
            found = self._equal(key, [(self._literal(value), result) for value, result in of_value], unknown)
            return (
                f"CASE WHEN {self.is_null()} THEN {null} WHEN NOT {self.is_of_kind()} THEN {wrong} "
                f"ELSE {found} END"
            )
        return (
            f"CASE WHEN {self.text} IS NOT NULL AND NOT {self.is_of_kind()} THEN {wrong} "
            f"WHEN {self.is_null()} THEN {null} ELSE {self._of_numbers(of_value, unknown)} END"
        )

    def _of_numbers(self, of_value: Sequence[tuple[Value, str]], unknown: str) -> str:
        """The CASE of numbers that are no nulls."""
        doubles = self._by_number(self.as_double, of_value, unknown, integers=False)
        if not self.is_large:
            return doubles
        integers = self._by_number(self.as_integer(), of_value, unknown, integers=True)
        return f"CASE WHEN {self.is_double()} THEN {doubles} ELSE {integers} END"

    def _by_number(
        self, key: str, of_value: Sequence[tuple[Value, str]], unknown: str, *, integers: bool
    ) -> str:
        """The CASE of a column of integers, or of doubles."""
        if self.kind == "interval":
            whens = [
                f"WHEN {self._between(key, value, integers=integers)} THEN {result}"
                for value, result in of_value
                if isinstance(value, Interval)
            ]
            return f"CASE {' '.join(whens)} ELSE {unknown} END"
        alike = _as_integer if integers else _as_double
        numbers = [(alike(value), result) for value, result in of_value]
        known = [(self._literal(number), result) for number, result in numbers if number is not None]
        return self._equal(key, known, unknown)

    def _equal(self, key: str, of_literal: Sequence[tuple[str, str]], unknown: str) -> str:
        if not of_literal:
            return unknown
        whens = " ".join(f"WHEN {value} THEN {result}" for value, result in of_literal)
        return f"CASE {key} {whens} ELSE {unknown} END"

    def _between(self, key: str, value: Interval, *, integers: bool) -> str:
        """The test of a bin; NaN was asked for before, and infinities lie in open ones."""
        end_of = _integer_end if integers else _double_end
        tests = [] if value.low is None else [f"{key} >= {self._literal(end_of(value.low))}"]
        tests += [] if value.high is None else [f"{key} < {self._literal(end_of(value.high))}"]
        return " AND ".join(tests) or "TRUE"

    def _literal(self, value: Value) -> str:
        return literal(plain_of(value), self.dialect)


def _as_double(value: Value) -> float | None:
    """The double that is this number, or None."""
    assert isinstance(value, int | float)
    return float(value) if float(value) == value else None


def _as_integer(value: Value) -> int | None:
    """The integer that is this number, or None; those of 64 bits end long before `FAR`."""
    assert isinstance(value, int | float)
    return int(value) if abs(value) < FAR and value == int(value) else None


def _double_end(bound: int | Fraction) -> float:
    return float(first_double(bound))


def _integer_end(bound: int | Fraction) -> int:
    """The first integer that is not below, or one as far away as columns have no integers."""
    return max(min(math.ceil(bound), FAR), -FAR)


def conditions_of(
    name: str, column: str, domain: Sequence[Value], null_values: Sequence[str] = (), *, nan: bool = False
) -> list[str]:
    """For each published value the test of standard SQL that a column has it.

    Parameters
    ----------
    name, column : str
        The column, for messages and as SQL has it.
    domain : sequence
        The values.
    null_values : sequence of str
        These texts are read as null.
    nan : bool
        Whether NaN is read as null.
    """
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
    if nan and kind in ("int", "float", "interval"):
        is_null.append(_is_nan(f"+{column}"))
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
    return f"{given} = {literal(plain_of(value))}"


def _within(column: str, value: Interval) -> str:
    """The test of a bin: NaN is in none, and what is infinite in one that is open there."""
    tests = [] if value.low is None else [f"{column} >= {number_literal(edge(value.low))}"]
    if value.high is not None:
        tests.append(f"{column} < {number_literal(edge(value.high))}")
    else:
        tests.append(f"({column} <= {LARGEST} OR 0E0 - {column} < -{LARGEST})")
    return " AND ".join(tests)


def _is_nan(column: str) -> str:
    """Where it sorts above all numbers. A text of SQLite does so too, but less itself it is 0."""
    return f"({column} > {LARGEST} AND NOT 0E0 - {column} < -{LARGEST} AND NOT {column} - {column} = 0)"


def plain_of(value: Value) -> Plain:
    """A value that is no bin, and not suppressed."""
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def signed(number: int) -> str:
    """An integer behind a sign of arithmetic: two signs - would begin a comment."""
    return str(number) if number >= 0 else f"({number})"
