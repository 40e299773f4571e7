"""What can be written: for each ending what makes the file, and what loads it back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from types import MappingProxyType
from typing import NamedTuple

from nbcfast._core.dtypes import Longs
from nbcfast.exports import (
    calculator,
    onnx_graph,
    pmml_scorecard,
    python_file,
    scorecard_csv,
    spreadsheet,
    sql_query,
)
from nbcfast.exports.about import About
from nbcfast.exports.domain_tuples import MOST
from nbcfast.exports.loaded_onnx import onnx_decides, onnxruntime_name
from nbcfast.exports.loaded_pmml import engine_names, pmml_decides
from nbcfast.exports.loaded_python import csv_decides, python_decides, python_name
from nbcfast.exports.loaded_sql import database_name, sql_decides
from nbcfast.exports.loaded_workbook import libreoffice_name, workbook_decides
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.points_table import PointsTable


class Format(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    content : callable
        Makes the file of points, with what is said `About` their release: the same bytes of the same two.
        A ValueError says what the format cannot have, such as a class that is null; an ImportError, what has
        to be installed to write it.
    runtime : callable
        The name and version of what loads such files here, or None.
    decides : callable
        Loads a file, and gives the position of the class of each row of codes, -1 where it gives none.
    loads : str
        What has to be installed for that.
    content_by : callable or None
        The same of the points of strata; None where the format has no place for them.
    rows : int
        How many rows of codes `decides` gets at a time.
    most : int
        How many tuples are compared: fewer where what loads the files is slow.
    values : int or None
        How many values a file has room for at most, where it has not for all: known before points are made.
    adds : bool
        Whether it reads tables, and adds a column to them, which `name` calls.
    null : str
        What a row has to have, in these files, where a value is missing.
    texts : bool
        Whether rows come with texts, of which some may mean null: not where a person looks values up.
    """

    content: Callable[[PointsTable, About], bytes]
    runtime: Callable[[], str | None]
    decides: Callable[[bytes, PointsTable, About, Longs], Longs]
    loads: str
    content_by: Callable[[StrataPoints, About], bytes] | None = None
    rows: int = 1 << 17
    most: int = MOST
    values: int | None = None
    adds: bool = False
    null: str = "a real null"
    texts: bool = True


FORMATS = MappingProxyType(
    {
        ".sql": Format(
            sql_query.content,
            database_name,
            sql_decides,
            "duckdb or sqlite3",
            sql_query.content_by,
            adds=True,
            null="a real NULL",
        ),
        ".onnx": Format(
            onnx_graph.content,
            onnxruntime_name,
            onnx_decides,
            "onnxruntime",
            null="an empty text, or NaN among numbers",
        ),
        ".pmml": Format(
            pmml_scorecard.content,
            engine_names,
            pmml_decides,
            "java with jpmml_evaluator or pypmml",
            rows=20_000,
            null="a missing value",
        ),
        ".xlsx": Format(
            spreadsheet.content,
            libreoffice_name,
            workbook_decides,
            "libreoffice",
            rows=5_000,
            most=20_000,
            null="an empty cell",
        ),
        ".csv": Format(
            scorecard_csv.content,
            python_name,
            csv_decides,
            "python",
            null="the points of the line of kind null",
            texts=False,
        ),
        ".html": Format(
            calculator.content,
            calculator.page_name,
            calculator.page_decides,
            "python",
            calculator.content_by,
            values=calculator.MOST_VALUES,
            null="the choice that says missing",
            texts=False,
        ),
        ".py": Format(
            python_file.content,
            python_name,
            python_decides,
            "python",
            python_file.content_by,
            adds=True,
            null="None, or an empty field",
        ),
    }
)


def format_of(path: str, to: str | None = None, argument: str = "to") -> str:
    """The ending that says how a file is written: that of its name, or what `to` asks for.

    Raises
    ------
    ValueError
        If neither says it, or they contradict each other.

    Examples
    --------
    >>> format_of("rule.sql"), format_of("rule.txt", "sql")
    ('.sql', '.sql')
    """
    known = ", ".join(ending[1:] for ending in FORMATS)
    ending = PurePath(path).suffix.lower()
    if to is None:
        if ending not in FORMATS:
            raise ValueError(f"the name must end in one of {', '.join(FORMATS)}, got {path!r}")
        return ending
    if f".{to}" not in FORMATS:
        raise ValueError(f"{argument} must be one of {known}, got {to!r}")
    if ending in FORMATS and ending != f".{to}":
        raise ValueError(f"{argument} is {to!r}, and the name ends in {ending!r}: {path!r}")
    return f".{to}"
