"""A classifier without attributes is measured as one of a single constant attribute: the same one answer."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from nbcfast.canonical import Leak
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column
from nbcfast.table.table import Table
from nbcfast.views import Viewset

EVERYBODY = "everybody"  # the only value


def measurable(views: Viewset, table: Table, class_name: str) -> tuple[Viewset, Table]:
    """Counts and rows that decide alike, and have an attribute, without which nothing is measured.

    A value that everybody has multiplies every score by P_c / P_c, smoothed or not: no answer changes, and
    whoever leaves, or is of another class, changes the same ones.
    """
    if views.attributes:
        return views, table
    name = f"not {class_name}"
    domain = Domain("text", [EVERYBODY], (), True)
    like = Viewset.from_parts(
        views.class_counts,
        {name: views.class_counts[np.newaxis, :]},
        views.class_domain,
        {name: domain},
    )
    columns = {
        name: Column(np.zeros(table.n_rows, np.uint8), domain),
        class_name: table.column(class_name),
    }
    return like, Table.from_columns(columns, table.weights, table.n_rows)


def without_constant(leak: Leak, views: Viewset) -> Leak:
    """What was measured of `measurable`, without the attribute that there is not."""
    return leak if views.attributes else replace(leak, levels=MappingProxyType({}), intervals=None)
