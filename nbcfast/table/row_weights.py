"""How many records each row of a table stands for."""

import numpy as np
import numpy.typing as npt

from nbcfast import _codes
from nbcfast._core.dtypes import Longs
from nbcfast._core.errors import NoColumnError
from nbcfast.table.arrays import add_values
from nbcfast.table.encode import Column, ColumnBuilder, used_values
from nbcfast.table.values import INT64_MAX

GROUPED_ROWS = 1 << 20  # rows looked at between two looks at Ctrl-C


def split_weights(
    columns: dict[str, Column], weights: object, n_rows: int
) -> tuple[dict[str, Column], Longs | None]:
    """The columns without the one that `weights` names, and the weights."""
    if weights is None:
        return columns, None
    if isinstance(weights, str):
        if weights not in columns:
            raise NoColumnError(weights, columns, "weights")
        column = columns[weights]
        columns = {name: other for name, other in columns.items() if name != weights}
    elif isinstance(weights, np.ndarray) and weights.ndim == 1 and weights.dtype.kind in "iu":
        if isinstance(weights, np.ma.MaskedArray) and np.ma.getmaskarray(weights).any():
            raise ValueError("weights: expected integers of at least 1, got a null")
        plain = np.asarray(np.ma.getdata(weights))
        if plain.dtype == np.uint64 and len(plain) and plain.max() > INT64_MAX:
            raise ValueError(f"weights: expected integers of 64 bits with sign, got {int(plain.max())}")
        return columns, checked_weights(plain.astype(np.int64), n_rows)
    else:
        builder = ColumnBuilder("weights")
        add_values(builder, weights)
        column = builder.finish()
    domain = column.domain
    if domain.kind not in ("int", None):
        raise TypeError(f"weights: expected integers, got {domain.kind}")
    if domain.tail and used_values(column.codes, len(domain))[len(domain) - len(domain.tail) :].any():
        raise ValueError(f"weights: expected integers of at least 1, got {domain.tail[0]!r}")
    numbers = domain.numbers if domain.kind == "int" else np.empty(0, np.int64)
    return columns, checked_weights(numbers[column.codes].astype(np.int64), n_rows)


def checked_weights(weights: Longs, n_rows: int) -> Longs:
    """The weights themselves: at least 1 each, one a row, and fewer than 2^63 people in all."""
    if len(weights) != n_rows:
        raise ValueError(f"weights: expected one for each of {n_rows} rows, got {len(weights)}")
    bad, total = _codes.check_weights(weights)
    if bad >= 0:
        raise ValueError(f"weights: expected integers of at least 1, got {weights[bad]} in row {bad}")
    if total < 0:
        raise ValueError("weights: expected a total below 2^63, got a larger one")
    return weights


def own_weights(weights: Longs | None, more: npt.ArrayLike | str | None) -> npt.ArrayLike | str | None:
    """The weights of a table, or those that are asked for beside it; it cannot have both."""
    if weights is not None and more is not None:
        raise ValueError("weights: expected none beside those of the table, got some")
    return weights if more is None else more


def value_weights(column: Column, weights: Longs | None) -> Longs:
    """The weight of each value of a column, in blocks: bincount makes 64-bit indices of its input."""
    totals = np.zeros(len(column.domain), np.int64)
    for start in range(0, len(column.codes), GROUPED_ROWS):
        part = slice(start, start + GROUPED_ROWS)
        if weights is None:
            totals += np.bincount(column.codes[part], minlength=len(totals))
        else:
            np.add.at(totals, column.codes[part], weights[part])
    return totals
