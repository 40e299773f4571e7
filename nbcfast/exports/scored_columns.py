"""The attributes of a points table as other programs see them: one kind of value each, and null apart."""

from __future__ import annotations

from typing import NamedTuple

from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import Kind, Value, kind_of_values

Points = tuple[int, ...]


class ScoredColumn(NamedTuple):
    """An attribute: its values of one kind, each with its points, and those of null where it is published.

    Attributes
    ----------
    name : str
    kind : {"bool", "int", "float", "text", "interval"}
        "text" where null is the only value.
    scored : tuple of (value, points)
    null : tuple of int or None
        None: a null is no value of this attribute.
    """

    name: str
    kind: Kind
    scored: tuple[tuple[Value, Points], ...]
    null: Points | None


def scored_columns(points: PointsTable) -> list[ScoredColumn]:
    """The attributes.

    Raises
    ------
    ValueError
        If there is none, or a value is SUPPRESSED, which no other program has.
    """
    if not points.attributes:
        raise ValueError("expected a release with attributes, got one that answers without any")
    return [_column(name, values, rows) for name, values, rows in points.attributes]


def _column(name: str, values: tuple[Value, ...], rows: tuple[Points, ...]) -> ScoredColumn:
    kind = kind_of_values(name, values) or "text"
    scored = tuple(zip(values, rows, strict=True))
    null = next((row for value, row in scored if value is None), None)
    return ScoredColumn(name, kind, tuple((value, row) for value, row in scored if value is not None), null)
