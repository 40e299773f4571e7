"""Published values beside raw ones, each of which stands for one or for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import edge
from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import SUPPRESSED, Interval, Kind, Value, kind_of_values

Raw = bool | int | float | str | None  # a value as other programs have it


def raw_values(value: Value) -> tuple[Raw, ...]:
    """Raw values that are this published one: itself, or of an interval its ends and some number between.

    Examples
    --------
    >>> raw_values("high"), raw_values(Interval(20, 30)), raw_values(Interval(None, 20))
    (('high',), (20.0, 29.999999999999996, 25.0), (19.999999999999996, 19.0))
    """
    if not isinstance(value, Interval):
        assert value is not SUPPRESSED
        return (value,)  # type: ignore[return-value]
    low = None if value.low is None else float(edge(value.low))
    last = None if value.high is None else math.nextafter(float(edge(value.high)), -math.inf)
    if low is not None and last is not None:
        tried = [low, last, (low + last) / 2]
        if float(round(tried[2])) in value:
            tried[2] = float(round(tried[2]))
    elif last is not None:
        tried = [last, float(math.floor(last))]
    elif low is not None:
        tried = [low, low + 1]
    else:
        tried = [0.0, -1e300, 1e300]
    found = tuple(number for number in tried if number in value)
    if not found:
        raise ValueError(f"no double lies in the bin {value!r}")
    return found


class RawColumn(NamedTuple):
    """A column of raw values, each of which stands once.

    Attributes
    ----------
    name : str
        Of the attribute.
    kind : {"bool", "int", "float", "text"} or None
        Of its values; floats where bins are published, None where all are null.
    values : tuple
    places : ndarray of int64
        Of the value of each row.
    """

    name: str
    kind: Kind | None
    values: tuple[Raw, ...]
    places: Longs

    def rows(self) -> list[Raw]:
        """The value of each row."""
        return [self.values[place] for place in self.places.tolist()]


def raw_columns(points: PointsTable, codes: Longs, null_values: Sequence[str] = ()) -> list[RawColumn]:
    """Columns of raw values that are in the published ones at these positions.

    Of a bin rows have its ends and a number between by turns; of null, in columns of texts, these texts too.

    Examples
    --------
    >>> points = PointsTable((True,), (("age", (Interval(0, 2), Interval(2, 4)), ((0,), (0,))),), None, (0,))
    >>> (column,) = raw_columns(points, np.array([[0], [0], [0], [1]]))
    >>> column.rows()
    [0.0, 1.9999999999999998, 1.0, 3.9999999999999996]
    """
    columns = []
    for i, (name, domain, _) in enumerate(points.attributes):
        kind = kind_of_values(name, domain)
        nulls = (None, *null_values) if kind == "text" else (None,)
        each = [nulls if value is None else raw_values(value) for value in domain]
        firsts = np.cumsum([0, *map(len, each)])[:-1]
        widths = np.array([len(some) for some in each], np.int64)
        turns = _turns(len(codes), i)
        places = firsts[codes[:, i]] + turns % widths[codes[:, i]]
        values = tuple(value for some in each for value in some)
        columns.append(RawColumn(name, "float" if kind == "interval" else kind, values, places))
    return columns


def _turns(rows: int, attribute: int) -> Longs:
    """Numbers without a pattern that any order of tuples has; the first rows go by turns."""
    numbers = np.arange(rows, dtype=np.int64)
    return numbers + numbers // 3 * (attribute + 1) + numbers // 101
