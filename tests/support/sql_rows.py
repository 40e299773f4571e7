"""Releases with hostile names and values, raw rows for them, and engines that run expressions."""

import functools
import math
import sqlite3
from contextlib import closing
from itertools import product

import numpy as np

import nbcfast
from nbcfast import Interval, canonical
from nbcfast._core.sql_text import identifier

NAMES = [
    "a.b",
    'quo"ted',
    "it's",
    "back`tick",
    "Age",
    "é",
    "blank here",
    "select",
    "points",
    "points 1",
    "scored",
    "line\nbreak",
    "a;b -- c",
    "%s",
    "back\\slash",
    "$1 {x}",
]
TEXTS = [
    "plain",
    "Plain",
    "it's",
    "back\\slash",
    "\\'",
    "",
    " ",
    "trail ",
    "two\nlines",
    "a;b",
    "-- no",
    "/* no */",
    "%",
    "_",
    'say "x"',
    "`k`",
    "${spark.app.name}",
    "é",
    "日本",
    "1",
    "1.0",
    "TRUE",
    "NULL",
    "2020-02-29",
    "NaN",
    ":x ?",
]
LABELS = ["yes", "it's", 'a "b"', "-- no", "\\", "${spark.app.name}", "null", "Yes", ""]
INTS = [0, 1, -1, 7, 2**24 + 1, -(2**31), 10**12]
LARGE = [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1, -(2**63), 5]
FLOATS = [0.0, 0.1, 0.3, -2.5, 1e-7, 1e300, 5.0, float(2**53)]
BINS = [
    [Interval(None, "0.1"), Interval("0.1", "0.3"), Interval("0.3", None)],
    [Interval(0, 18), Interval(18, 65), Interval(65, None)],
    [Interval(None, 0), Interval(1, 5)],
    [Interval("1/3", "2/3"), Interval("2/3", 7)],
    [Interval(None, None)],
]
# Values that a column may have besides, by its kind.
STRANGE = {
    "text": ["no such", "PLAIN", "plain ", "trail", None],
    "int": [3, -7, 2**53 + 4, 2**24, None],
    "float": [0.30000000000000004, -0.0, math.nan, math.inf, -math.inf, None],
    "interval": [-0.0, 17.999999999999996, -1e9, 1e9, math.nan, math.inf, -math.inf, None],
    "bool": [None],
    "null": [None, "x"],
}
TYPES = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "interval": "DOUBLE",
    "bool": "BOOLEAN",
    "null": "VARCHAR",
}
NUMBER = "number of row"
SPARK_TYPES = {**TYPES, "text": "STRING", "null": "STRING"}


def some(rng, values, size):
    return [values[place] for place in rng.choice(len(values), min(size, len(values)), replace=False)]


def domain(rng, kind):
    """Published values of a kind, in some cases with null."""
    if kind == "null":
        return [None]
    if kind == "interval":
        values = list(BINS[int(rng.integers(len(BINS)))])
    elif kind == "int" and rng.random() < 0.4:
        values = some(rng, LARGE, 4)
    else:
        of_kind = {"text": TEXTS, "int": INTS, "float": FLOATS, "bool": [True, False]}[kind]
        values = some(rng, of_kind, int(rng.integers(1, 5)))
    return values + [None] * (rng.random() < 0.4)


@functools.cache
def release(seed):
    """A canonical release of 2 to 4 classes, and of each attribute its kind."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    kinds = some(rng, ["text", "int", "float", "bool", "interval", "null", "text"], int(rng.integers(1, 4)))
    kinds = dict(zip(some(rng, NAMES, len(kinds)), kinds, strict=True))
    domains = {name: domain(rng, kind) for name, kind in kinds.items()}
    totals = rng.integers(3, 12, n_classes)
    if seed % 5 == 0:  # ties
        totals[:] = totals[0]
    counts = {}
    for name, values in domains.items():
        shares = np.full(len(values), 1 / len(values))
        counts[name] = np.stack([rng.multinomial(total, shares) for total in totals], axis=1)
        if seed % 5 == 0:
            counts[name][:] = counts[name][:, :1]
    labels = some(rng, LABELS, n_classes)
    views = nbcfast.Viewset(totals, counts, classes=labels, domains=domains)
    return canonical.release(views, 4, class_name="class"), kinds


def raw_of(value):
    """Raw values that are this published one."""
    if not isinstance(value, Interval):
        return [value]
    low = -1e9 if value.low is None else float(value.low)
    high = 1e9 if value.high is None else float(value.high)
    tried = [low, (low + high) / 2, math.nextafter(high, -math.inf), float(math.floor(high))]
    return sorted({number for number in tried if number in value})


def raw_rows(made, kinds, seed, most=4000):
    """Columns of raw rows: every tuple of published and strange values, or so many of them."""
    rng = np.random.default_rng(seed)
    views = made.views
    each = []
    for name, kind in kinds.items():
        values = [raw for value in views.domain(name) for raw in raw_of(value)]
        each.append([*values, *STRANGE[kind]])
    rows = list(product(*each))
    if len(rows) > most:
        rows = [rows[place] for place in np.sort(rng.choice(len(rows), most, replace=False))]
    return dict(zip(kinds, map(list, zip(*rows, strict=True)), strict=True))


def by_duckdb(expressions, columns, types, setting=None):
    """The values of these expressions for each row, as lists."""
    import duckdb

    # To start the engine takes longer than most of what it is asked: one that nothing is set in serves all.
    if setting is None:
        with _engine().cursor() as connection:
            return _by_lists(connection, expressions, columns, types)
    with closing(duckdb.connect()) as connection:
        connection.execute(setting)
        return _by_lists(connection, expressions, columns, types)


@functools.cache
def _engine():
    import duckdb

    return duckdb.connect(":memory:")


def _by_lists(connection, expressions, columns, types):
    _make(connection, columns, types)
    try:
        # Whole columns at once: rows one by one take ten times as long as all that is asked of them.
        lists = ", ".join(["unnest(?)"] * (len(columns) + 1))
        numbers = list(range(len(next(iter(columns.values())))))
        connection.execute(f"INSERT INTO input SELECT {lists}", [numbers, *map(list, columns.values())])
        return _asked(connection, expressions)
    finally:
        connection.execute("DROP TABLE input")


def by_sqlite(expressions, columns, types):
    """The same by SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _make(connection, columns, types)
        rows = [(place, *row) for place, row in enumerate(zip(*columns.values(), strict=True))]
        marks = ", ".join("?" * (len(columns) + 1))
        connection.executemany(f"INSERT INTO input VALUES ({marks})", rows)
        return _asked(connection, expressions)


def _make(connection, columns, types):
    declared = ", ".join(f"{identifier(name)} {types[name]}" for name in columns)
    connection.execute(f"CREATE TABLE input ({identifier(NUMBER)} INTEGER, {declared})")


def _asked(connection, expressions):
    listed = ", ".join(f"{text} AS {identifier(f'added {i}')}" for i, text in enumerate(expressions))
    found = connection.execute(
        f"SELECT {identifier(NUMBER)}, {listed} FROM input ORDER BY {identifier(NUMBER)}"
    ).fetchall()
    return [list(column) for column in list(zip(*found, strict=True))[1:]]
