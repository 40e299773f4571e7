"""Files that Python itself reads, over tuples of the domain: the program, and the scorecard."""

from __future__ import annotations

import csv
import io
import platform
from typing import Any

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.exports.about import About
from nbcfast.exports.raw_values import raw_columns
from nbcfast.exports.scorecard_csv import decided_by
from nbcfast.published.points_table import PointsTable
from nbcfast.published.value_texts import label_value


def python_name() -> str | None:
    """What runs here."""
    return f"python {platform.python_version()}"


def python_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class that `decide` of the file gives each row of codes, -1 for None."""
    space: dict[str, Any] = {"__name__": "loaded"}
    exec(compile(content, "<export>", "exec"), space)
    place = {label_value(label): position for position, label in enumerate(points.classes)}
    names = [name for name, _, _ in points.attributes]
    rows = zip(*(column.rows() for column in raw_columns(points, codes, about.null_values)), strict=True)
    labels = (space["decide"](dict(zip(names, row, strict=True))) for row in rows)
    return np.array([-1 if label is None else place[label] for label in labels], np.int64)


def csv_decides(content: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The same by whoever reads the scorecard and adds up."""
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    return decided_by(rows, points, codes)
