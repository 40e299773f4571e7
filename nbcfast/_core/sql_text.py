"""Names, values and errors as texts of SQL, in the dialects of the engines that take them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

from nbcfast._core.numbers import number_text
from nbcfast._core.validation import choice
from nbcfast._wire.messages import printable

Dialect = Literal["spark", "duckdb", "ansi"]
Plain = bool | int | float | str | None

DIALECTS = ("spark", "duckdb", "ansi")
# Spark glues 'it''s' together in one version and not in the next, takes a backslash for an escape or not as
# it is set, and puts its settings in place of ${..}, in texts as well.
SPARK_PLAIN = re.compile(r"[^'\\$\x00-\x1f\x7f]*")
SPARK_DIGITS = 38  # of its largest decimals
HUGE = 1 << 127  # integers of DuckDB end here


def expect_dialect(dialect: object) -> None:
    """Refuse what is no dialect."""
    choice(dialect, DIALECTS, "dialect")


def expect_raises(dialect: Dialect, other: str) -> None:
    """Refuse unseen="error" where a query cannot stop with a message; `other` is what can be asked for."""
    if dialect == "ansi":
        raise ValueError(
            f"unseen must be {other!r} for dialect 'ansi', got 'error': standard SQL has no function that "
            "stops a query with a message; dialects 'spark' and 'duckdb' have one"
        )


def identifier(name: str, dialect: Dialect = "ansi") -> str:
    """A name of a column, as it is.

    Examples
    --------
    >>> identifier('a"b'), identifier("a`b", "spark")
    ('"a""b"', '`a``b`')
    """
    if not name:
        raise ValueError("a column of SQL must have a name, got ''")
    _expect_writable(name)
    if dialect != "spark":
        return '"' + name.replace('"', '""') + '"'
    if "${" in name:
        raise ValueError(
            "a column of Spark must have a name without '${', in whose place it puts a setting of its own, "
            f"got {printable(repr(name))}"
        )
    return "`" + name.replace("`", "``") + "`"


def table_name(text: str, dialect: Dialect = "ansi") -> str:
    """A table, with its schema before a dot."""
    if not all(text.split(".")):
        raise ValueError(f"table must be a name, or a schema and a name with a dot between, got {text!r}")
    return ".".join(identifier(part, dialect) for part in text.split("."))


def expect_names(names: Sequence[str]) -> None:
    """Refuse columns that SQL would not tell apart."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.casefold(), name)
        if other != name:
            raise ValueError(f"SQL does not tell the columns {other!r} and {name!r} apart: rename one")


def unlike(name: str, names: Sequence[str]) -> str:
    """A name that SQL tells from all of these: this one, or with lines behind it.

    Examples
    --------
    >>> unlike("group", ["age", "Group"])
    'group_'
    """
    taken = {one.casefold() for one in names}
    while name.casefold() in taken:
        name += "_"
    return name


def literal(value: Plain, dialect: Dialect = "ansi") -> str:
    """A value, as SQL writes it.

    Examples
    --------
    >>> literal("it's"), literal(True), literal(-3), literal(0.1), literal(None)
    ("'it''s'", '(1=1)', '-3', '0.1E0', 'NULL')
    >>> literal("it's", "spark"), literal(True, "spark"), literal(0.1, "spark")
    ("decode(X'69742773', 'UTF-8')", 'TRUE', '0.1D')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        if dialect == "ansi":  # SQLite takes TRUE for a column of that name
            return "(1=1)" if value else "(1=0)"
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return number_literal(value, dialect)
    return text_literal(value, dialect)


def text_literal(text: str, dialect: Dialect = "ansi") -> str:
    """A text, letter by letter, however the engine is set.

    Examples
    --------
    >>> text_literal("a b", "spark"), text_literal("it's", "spark"), text_literal("it's", "duckdb")
    ("'a b'", "decode(X'69742773', 'UTF-8')", "'it''s'")
    """
    _expect_writable(text)
    if dialect != "spark":
        return "'" + text.replace("'", "''") + "'"
    if SPARK_PLAIN.fullmatch(text):
        return f"'{text}'"
    return f"decode(X'{text.encode().hex().upper()}', 'UTF-8')"


def number_literal(number: int | float, dialect: Dialect = "ansi") -> str:
    """A number: a double where it is a float, and never a decimal that an engine would round otherwise.

    Examples
    --------
    >>> number_literal(1e-7), number_literal(1e-7, "spark"), number_literal(float("-inf"), "duckdb")
    ('1E-07', '1E-07D', "CAST('-Infinity' AS DOUBLE)")
    """
    if isinstance(number, int):
        if (dialect == "spark" and abs(number) >= 10**SPARK_DIGITS) or (
            dialect == "duckdb" and abs(number) >= HUGE
        ):
            raise ValueError(
                f"an integer must have at most 38 digits for dialect {dialect!r}, got {number_text(number)}"
            )
        return str(number)
    if math.isnan(number):
        raise ValueError("NaN is no value of SQL: it is a null, None")
    if math.isinf(number):
        if dialect == "ansi":
            raise ValueError("SQL has no word for infinity: declare bins, or leave that value out")
        return f"CAST('{'-' if number < 0 else ''}Infinity' AS DOUBLE)"
    text = repr(number)
    if dialect == "spark":
        return f"{text.upper()}D"
    return text.upper() if "e" in text else f"{text}E0"


def raised(message: str, shown: str | None, after: str, dialect: Dialect) -> str:
    """What stops a query of Spark or DuckDB with a message; `shown` is an expression whose value is in it.

    Examples
    --------
    >>> print(raised("age: value ", '"age"', " is not published", "duckdb"))
    error(concat('age: value ', CAST("age" AS VARCHAR), ' is not published'))
    """
    function, text = ("raise_error", "STRING") if dialect == "spark" else ("error", "VARCHAR")
    if shown is None:
        return f"{function}({text_literal(message + after, dialect)})"
    parts = [text_literal(message, dialect), f"CAST({shown} AS {text})"]
    parts += [text_literal(after, dialect)] * bool(after)
    return f"{function}(concat({', '.join(parts)}))"


def _expect_writable(text: str) -> None:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"SQL cannot have this text: {printable(repr(text))}")
