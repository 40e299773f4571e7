"""A release as a scorecard in CSV: for spreadsheets, and a few lines of R.

The columns are attribute, kind, value, low, high, and points; with more than two classes points_1, points_2,
.. instead, a column for each class. Of the kind "bin" low is inside and high is not, and an empty one is
open; "null" is a missing value. Rows without an attribute have the rule. Of two classes, a row of kind
"class" has the totals that give it: from low on, and below high. Of more, it has in the column of its class
what the total of that begins with; the largest total wins, and of equal ones the class that stands later.
A text that a spreadsheet would run, or that begins with an apostrophe, has an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import edge
from nbcfast.exports.about import About
from nbcfast.exports.labels import label_texts
from nbcfast.exports.raw_values import Raw, raw_columns
from nbcfast.published.formulas import inert
from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import Interval, Value, kind_of_values

KINDS = ("text", "int", "float", "bool", "bin", "null")  # of rows with points


def content(points: PointsTable, about: About) -> bytes:
    """The scorecard: a row a value, and below them those of the rule."""
    n = 1 if points.threshold is not None else len(points.classes)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    named = ["points"] if points.threshold is not None else [f"points_{c + 1}" for c in range(n)]
    writer.writerow(["attribute", "kind", "value", "low", "high", *named])
    for name, domain, rows in points.attributes:
        kind = kind_of_values(name, domain)
        for value, row in zip(domain, rows, strict=True):
            writer.writerow([inert(name), *_cells(value, str(kind)), *row])
    for c, label in enumerate(label_texts(points.classes)):
        if points.threshold is not None:
            ends = (points.threshold, "") if c == 0 else ("", points.threshold)
            writer.writerow(["", "class", inert(label), *ends, ""])
        else:
            starts = [points.constants[c] if c == other else "" for other in range(n)]
            writer.writerow(["", "class", inert(label), "", "", *starts])
    writer.writerow(["", "class column", inert(about.class_name), "", "", *[""] * n])
    writer.writerow(["", "certificate", f"sha256 {about.sha256}", "", "", *[""] * n])
    writer.writerow(["", "made by", f"nbcfast {about.version}", "", "", *[""] * n])
    return file.getvalue().encode()


def meant(cell: str) -> str:
    """What a cell says that `inert` made."""
    return cell.removeprefix("'")


def _cells(value: Value, kind: str) -> list[str | int | float]:
    """Kind, value, low and high."""
    if value is None:
        return ["null", "", "", ""]
    if isinstance(value, Interval):
        low, high = ("" if end is None else edge(end) for end in (value.low, value.high))
        return ["bin", repr(value), low, high]
    if isinstance(value, bool):
        return [kind, "true" if value else "false", "", ""]
    return [kind, inert(value) if isinstance(value, str) else repr(value), "", ""]


def decided_by(rows: Sequence[Sequence[str]], points: PointsTable, codes: Longs) -> Longs:
    """The position of the class that a scorecard gives each row of codes, -1 where it has no points.

    Parameters
    ----------
    rows : sequence of sequence of str
        Of the file, with its header. Nothing else of the rule is known.
    points : PointsTable
        Which attributes and values there are.
    codes : ndarray of int64, shape (tuples, attributes)
        Positions in their domains.

    Returns
    -------
    ndarray of int64
    """
    width = len(rows[0]) - 5
    ends = [row for row in rows[1:] if row[0] == "" and row[1] == "class"]
    totals = np.zeros((len(codes), width), np.int64)
    if width > 1 or rows[0][5] == "points_1":
        totals += np.array([int(row[5 + c]) for c, row in enumerate(ends)], np.int64)
    known = np.ones(len(codes), np.bool_)
    for column in raw_columns(points, codes):
        own = [row for row in rows[1:] if row[1] in KINDS and meant(row[0]) == column.name]
        found = [_numbers(own, value) for value in column.values]
        known &= np.array([numbers is not None for numbers in found])[column.places]
        totals += np.array([numbers or [0] * width for numbers in found], np.int64)[column.places]
    texts = label_texts(points.classes)
    order = np.array([texts.index(meant(row[2])) for row in ends], np.int64)
    if rows[0][5] == "points":
        places = np.where(totals[:, 0] >= int(ends[0][3]), 0, 1)
    else:
        places = width - 1 - np.argmax(totals[:, ::-1], axis=1)
    return np.where(known, order[places], -1)


def _numbers(rows: Sequence[Sequence[str]], value: Raw) -> list[int] | None:
    """The points of the first row that a value is in."""
    for row in rows:
        if _holds(row, value):
            return [int(cell) for cell in row[5:]]
    return None


def _holds(row: Sequence[str], value: Raw) -> bool:
    _, kind, cell, low, high = row[:5]
    if value is None or kind == "null":
        return value is None and kind == "null"
    if kind == "text" or isinstance(value, str):
        return kind == "text" and meant(cell) == value
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and (cell == "true") == value
    if kind == "bin":
        return (low == "" or float(low) <= value) and (high == "" or value < float(high))
    return float(cell) == value if kind == "float" else int(cell) == value
