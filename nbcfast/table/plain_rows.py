"""Rows of a table as values: arrays, a pandas frame, and text to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast._core.untyped import Pandas
from nbcfast._wire.messages import printable
from nbcfast.table.encode import Column
from nbcfast.table.values import SUPPRESSED, Value

if TYPE_CHECKING:
    from nbcfast.table.table import Table

MOST_LETTERS = 24  # of a value that is shown


def plain_values(column: Column) -> Array:
    """The values of a column, row by row.

    Numbers and bools are arrays of these, and floats with nulls have NaN there; whatever else there is, whole
    numbers with nulls too, is an array of Python values.
    """
    domain = column.domain
    if domain.kind in ("int", "float") and not domain.tail:
        found: Array = domain.numbers[column.codes]
        return found
    if domain.kind == "float" and domain.tail == (None,):
        return np.append(domain.numbers, np.nan)[column.codes]
    if domain.kind == "bool" and not domain.tail:
        return np.array(domain.values)[column.codes]
    values = np.empty(len(domain), object)
    values[:] = domain.values
    return values[column.codes]


def rows_text(table: Table) -> str:
    """The rows in columns of text: numbers to the right, with their weights last."""
    columns = [[_cell(name), *_shown(table.column(name))] for name in table.names]
    right = [table.column(name).domain.kind in ("int", "float") for name in table.names]
    if table.weights is not None:
        columns.append(["(weight)", *map(str, table.weights.tolist())])
        right.append(True)
    if not columns:
        return f"Table: {table.n_rows} rows without columns"
    widths = [max(map(len, cells)) for cells in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in zip(*columns, strict=True)
    ]
    return "\n".join(lines if table.n_rows else [*lines, "(no rows)"])


def _shown(column: Column) -> list[str]:
    texts = [_cell(value) for value in column.domain.values]
    return [texts[code] for code in column.codes.tolist()]


def _cell(value: Value) -> str:
    text = "(null)" if value is None else printable(str(value))
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 2] + ".."


def to_pandas(table: Table, weights: str | None, suppressed: str) -> Pandas:
    """A pandas frame; see `Table.to_pandas`."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ImportError("to_pandas needs pandas: pip install pandas", name="pandas") from None
    if weights is not None and weights in table.names:
        raise ValueError(f"weights: expected the name of a new column, got {weights!r}")
    data = {name: _series(pd, table.column(name), name, suppressed) for name in table.names}
    if weights is not None:
        own = np.ones(table.n_rows, np.int64) if table.weights is None else table.weights.copy()
        data[weights] = pd.Series(own)
    return pd.DataFrame(data, index=pd.RangeIndex(table.n_rows))


def _series(pd: Pandas, column: Column, name: str, suppressed: str) -> Pandas:
    domain = column.domain
    if SUPPRESSED in domain.tail and suppressed in [str(value) for value in domain.head]:
        raise ValueError(f"column {name!r}: its domain holds the text {suppressed!r} of SUPPRESSED")
    if domain.kind == "interval" or SUPPRESSED in domain.tail:
        values = [suppressed if value is SUPPRESSED else value for value in domain.values]
        texts = [str(value) for value in values if value is not None]
        codes = column.codes.astype(np.int64)
        if None in domain.tail:
            place = domain.index[None]
            codes = np.where(codes == place, -1, np.where(codes > place, codes - 1, codes))
        return pd.Series(pd.Categorical.from_codes(codes, texts, ordered=domain.kind == "interval"))
    values_of_rows = plain_values(column)
    if None in domain.tail and domain.kind in ("int", "bool"):
        return pd.Series(pd.array(values_of_rows, "Int64" if domain.kind == "int" else "boolean"))
    return pd.Series(values_of_rows)
