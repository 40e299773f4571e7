"""Releases with names and values that other programs trip over, and what they decide."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import nbcfast
from nbcfast import Interval, canonical, closeness
from nbcfast._core.sql_text import identifier
from nbcfast.exports import About
from nbcfast.exports.formats import FORMATS
from nbcfast.exports.loaded_onnx import of_type
from nbcfast.exports.onnx_graph import InputColumn, outputs_of
from nbcfast.exports.raw_values import raw_values
from nbcfast.table.values import kind_of_values

# LibreOffice starts anew for every file.
ENDINGS = [pytest.param(one, marks=pytest.mark.thorough) if one == ".xlsx" else one for one in FORMATS]
NAMES = [
    "select",
    'quo"ted',
    "it's",
    "back`tick",
    "größe",
    "a;b -- c",
    "line\nbreak",
    "class",
    "points",
    "blank here",
    "日本",
    "{x}",
    "%s",
    "input",
    "scored",
    "back\\slash",
]
TEXTS = [
    "Male",
    "male",
    "",
    " ",
    "=1+1",
    "'quoted'",
    'say "x"',
    "ünï",
    "a;b",
    "NULL",
    "new\nline",
    "\\",
    "@x",
    "NaN",
]
LABELS = ["yes", "it's", 'a "b"', "größer", "-- no", "x;y", "two\nlines", "=sum", "Yes", "null"]
BINS = [
    [Interval(None, "0.1"), Interval("0.1", "0.3"), Interval("0.3", None)],
    [Interval(0, 18), Interval(18, 65), Interval(65, None)],
    [Interval(None, -5), Interval(-5, 5)],
    [Interval("1/3", "2/3"), Interval("2/3", 7)],
]


def domain(rng, kind):
    """Values of one kind, in some cases with null."""
    if kind == "text":
        values = [TEXTS[place] for place in rng.choice(len(TEXTS), 3, replace=False)]
    elif kind == "int":
        values = sorted(rng.choice(9, 3, replace=False).tolist())
    elif kind == "float":
        values = [-1.5, 0.1, 0.3, 2.0][: int(rng.integers(2, 5))]
    elif kind == "bool":
        values = [False, True]
    else:
        values = list(BINS[int(rng.integers(len(BINS)))])
    if rng.random() < 0.3 and "" not in values:
        values.append(None)
    return values


def views(rng, n_classes):
    """A viewset with odd names, and few enough rows that classes tie."""
    kinds = rng.permutation(["text", "int", "float", "bool", "bin", "text", "bin"])[: int(rng.integers(2, 5))]
    names = [NAMES[place] for place in rng.choice(len(NAMES), len(kinds), replace=False)]
    domains = {name: domain(rng, kind) for name, kind in zip(names, kinds, strict=True)}
    totals = rng.integers(3, 12, n_classes)
    counts = {
        name: np.stack(
            [rng.multinomial(total, np.full(len(values), 1 / len(values))) for total in totals], axis=1
        )
        for name, values in domains.items()
    }
    labels = [LABELS[place] for place in rng.choice(len(LABELS), n_classes, replace=False)]
    return nbcfast.Viewset(totals, counts, classes=labels, domains=domains)


def release(seed):
    """A release of 2 to 5 classes: every third one by another method than the canonical."""
    rng = np.random.default_rng(seed)
    private = views(rng, 2 + seed % 4)
    name = "class; 'x'" if seed % 2 else None
    if seed % 3:
        return canonical.release(private, 4, class_name=name)
    if seed % 2:
        return nbcfast.safety_transform(private, 4, class_name=name)
    n = private.n_rows
    prior = {
        label: Fraction(int(rows), n)
        for label, rows in zip(private.classes, private.class_counts, strict=True)
    }
    return closeness.est(private, prior, 3)


def about(made, table=None):
    """What the files say of it."""
    return About("ab" * 32, made.class_name or "class", "0.1.0", table)


def all_codes(points):
    """Every tuple of the domain."""
    return np.array(list(product(*(range(len(values)) for _, values, _ in points.attributes))), np.int64)


def expected(made, points, codes):
    """What the release itself decides: positions of classes, by its counts."""
    columns = {
        name: [values[code] for code in codes[:, i].tolist()]
        for i, (name, values, _) in enumerate(points.attributes)
    }
    domains = {name: values for name, values, _ in points.attributes}
    return made.predict(nbcfast.Table(columns, domains=domains), codes=True)


TYPES = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "interval": "DOUBLE",
    "bool": "BOOLEAN",
    None: "VARCHAR",
}


def kinds_of(points):
    """Of each attribute the kind of its values."""
    return [kind_of_values(name, values) for name, values, _ in points.attributes]


def first_row(points):
    """A raw row in which every value is published."""
    return [raw_values(values[0])[0] for _, values, _ in points.attributes]


def unknown_rows(points):
    """Raw rows with one value each that is not published, whatever bins there are."""
    rows = []
    for i, ((_, values, _), kind) in enumerate(zip(points.attributes, kinds_of(points), strict=True)):
        unknown = {
            "text": ["no such", "MALE "],
            "int": [10**6, -(10**6)],
            "float": [0.30000000000000004],
        }.get(kind, [])
        if kind == "interval":
            unknown = [
                end
                for value in (-1e9, 1e9)
                for end in [value]
                if not any(end in one for one in values if one)
            ]
        if kind == "interval" or (kind == "float" and None not in values):
            unknown = [*unknown, float("nan")] if None not in values else unknown
        if None not in values:
            unknown = [*unknown, None]
        for value in unknown:
            row = first_row(points)
            row[i] = value
            rows.append(row)
    return rows


def by_database(database, content, points, rows, types=None):
    """The last column that the query adds to raw rows, in their order; and the columns before it."""
    types = [TYPES[kind] for kind in kinds_of(points)] if types is None else types
    names = [identifier(name) for name, _, _ in points.attributes]
    columns = ", ".join(f"{name} {of}" for name, of in zip(names, types, strict=True))
    duckdb = pytest.importorskip("duckdb") if database == "duckdb" else None
    connection = sqlite3.connect(":memory:") if duckdb is None else duckdb.connect()
    with closing(connection):
        connection.execute(f'CREATE TABLE input ("row number" INTEGER, {columns})')
        marks = ", ".join("?" * (len(names) + 1))
        connection.executemany(
            f"INSERT INTO input VALUES ({marks})", [(number, *row) for number, row in enumerate(rows)]
        )
        answer = connection.execute(content.decode()).fetchall()
    assert all(len(row) == len(names) + 2 for row in answer)
    return [row[-1] for row in sorted(answer, key=lambda row: row[0])]


def by_python(content, points, rows):
    """What `decide` of the file says of raw rows."""
    space = {"__name__": "a file"}
    exec(compile(content, "a file", "exec"), space)
    names = [name for name, _, _ in points.attributes]
    return [space["decide"](dict(zip(names, row, strict=True))) for row in rows]


def in_onnx(value, attribute):
    """Whether an input of ONNX can hold a raw value."""
    name, values, _ = attribute
    kind = InputColumn.of(name, values).type
    return value is not None or kind == "double" or (kind == "string" and "" not in values)


def by_onnx(content, points, rows):
    """The label that the model gives raw rows, None where it knows none."""
    session = pytest.importorskip("onnxruntime").InferenceSession(content, providers=["CPUExecutionProvider"])
    given = {}  # a null as NaN, or the empty text
    for (name, values, _), column in zip(points.attributes, zip(*rows, strict=True), strict=True):
        given[name] = of_type(InputColumn.of(name, values).type, column)
    names = outputs_of(points)
    wanted = [names[name] for name in ("label", "class", "points", "known")]
    labels, classes, _, known = session.run(wanted, given)
    assert [label == "" and place == -1 for label, place in zip(labels, classes, strict=True)] == [
        not one for one in known
    ]
    return [label if one else None for label, one in zip(labels, known, strict=True)]
