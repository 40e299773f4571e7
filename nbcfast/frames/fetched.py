"""Tables of what an engine has counted, held to what they must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.untyped import PyArrow
from nbcfast.frames.engines import ABOUT, LEAST, NUMBER, NUMBERS, PRESENT, ROWS
from nbcfast.table.arrow import ColumnReader, load_pyarrow
from nbcfast.table.domain import Domain
from nbcfast.table.row_weights import value_weights
from nbcfast.table.table import Table
from nbcfast.table.values import INT64_MAX

WRAPPED = float(1 << 62)


def expect_weights(type_: PyArrow) -> None:
    """Refuse a column of weights that has no integers."""
    types = load_pyarrow().types
    is_whole = types.is_integer(type_) or (types.is_decimal(type_) and type_.scale <= 0)
    if not (is_whole or types.is_null(type_)):
        raise TypeError(f"weights: expected integers, got {type_}")


def expect_readable(schema: PyArrow, names: Sequence[str]) -> None:
    """Refuse columns of types that are no values, before an engine is asked to group by them."""
    for name in names:
        ColumnReader(name, schema.field(schema.names.index(name)).type)


def table_of(found: PyArrow, names: Sequence[str], domains: Mapping[str, Domain]) -> Table:
    """The distinct rows that an engine has found, and how many people each stands for.

    Raises
    ------
    ValueError
        If weights are below 1, missing, or too many in all, or a value is not in its declared domain.
    """
    weights = _weights(found)
    present = [name for name in found.column_names if name not in NUMBERS]
    columns = found.select(present).rename_columns(list(names))
    declared = {name: domain for name, domain in domains.items() if name in names}
    # An engine may tell values apart that are one here, as zeros of different signs.
    return Table(columns, declared, weights).collapse()


def _weights(found: PyArrow) -> Longs:
    pa = load_pyarrow()
    if LEAST in found.column_names and found.num_rows:
        if pa.compute.any(pa.compute.not_equal(found.column(PRESENT), found.column(ROWS))).as_py():
            raise ValueError(
                "weights: expected integers of at least 1 and below 2^63, got a null or a larger one"
            )
        least = pa.compute.min(found.column(LEAST)).as_py()
        if least < 1:
            raise ValueError(f"weights: expected integers of at least 1, got {least}")
        # A sum that has wrapped is away by 2^64 from that of floats, which is near to the true one.
        number = pa.compute.cast(found.column(NUMBER), pa.float64(), safe=False)
        away = pa.compute.abs(pa.compute.subtract(found.column(ABOUT), number))
        if pa.compute.any(pa.compute.is_null(number)).as_py():
            most = pa.compute.max(found.column(ABOUT)).as_py()
            raise ValueError(f"weights: expected sums below 2^63, got one of about {most:.7g}")
        if pa.compute.max(away).as_py() > WRAPPED:
            raise ValueError("weights: expected a total below 2^63, got a larger one")
    numbers = found.column(NUMBER)
    if pa.types.is_decimal(numbers.type):
        numbers = pa.compute.cast(numbers, pa.decimal128(38, 0))
        if found.num_rows and pa.compute.max(numbers).as_py() > INT64_MAX:
            raise ValueError("weights: expected a total below 2^63, got a larger one")
    weights: Longs = np.asarray(numbers.cast(pa.int64()).to_numpy(), np.int64)
    return weights


def expect_same_rows(tables: Sequence[Table], kind: str) -> None:
    """Refuse the answers to several questions where rows came or went between them.

    They have to agree in how many people there are, and in how many have each value of a column that several
    of them have.
    """
    totals = {int(_people(table).sum()) for table in tables}
    if len(totals) > 1:
        raise _changed(kind, "")
    known: dict[str, tuple[Domain, Longs]] = {}
    several = Counter(name for table in tables for name in table.names)
    for table in tables:
        for name in table.names:
            if several[name] < 2:
                continue
            column = table.column(name)
            now = column.domain, value_weights(column, _people(table))
            domain, people = known.setdefault(name, now)
            if domain != now[0] or not np.array_equal(people, now[1]):
                raise _changed(kind, f" in the column {name!r}")


def _people(table: Table) -> Longs:
    assert table.weights is not None  # of a collapsed table
    return table.weights


def _changed(kind: str, where: str) -> ValueError:
    return ValueError(
        f"{kind} has changed while it was counted: two answers are of other rows{where}. Count a table that "
        "stays as it is: a version of it, or a copy that was written"
    )
