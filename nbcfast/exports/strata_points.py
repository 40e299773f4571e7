"""Points for each value of a column, which selects those that decide a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.exports.domain_tuples import tuples_to_compare
from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import Value


class StrataPoints(NamedTuple):
    """The points of strata: the same classes, attributes and values in each.

    Attributes
    ----------
    by : str
        The column.
    values : tuple
        Its values, in their order.
    points : tuple of PointsTable
        Of each.
    """

    by: str
    values: tuple[Value, ...]
    points: tuple[PointsTable, ...]

    @property
    def columns(self) -> PointsTable:
        """All columns that a file reads, this one first: its points are none, and decide nothing."""
        first = self.points[0]
        nothing = ((0,) * max(1, len(first.constants)),) * len(self.values)
        attributes = ((self.by, self.values, nothing), *first.attributes)
        return PointsTable(first.classes, attributes, first.threshold, first.constants)

    def tuples_to_compare(self, most: int) -> tuple[Longs, Longs]:
        """Tuples of all strata and their classes, those of each as of `domain_tuples`, `most` together."""
        each = [tuples_to_compare(points, max(most // len(self.points), 1)) for points in self.points]
        codes = [np.insert(codes, 0, place, axis=1) for place, (codes, _) in enumerate(each)]
        return np.concatenate(codes), np.concatenate([classes for _, classes in each])
