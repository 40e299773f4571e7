"""Partitions from their certificate and the rows of their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast._wire.partition_checks import histograms
from nbcfast.groups.groups import Groups
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.partition import Partition, PublishedGroups
from nbcfast.mondrian.quasi import Cell, generalised_domain
from nbcfast.published.typed import domain_of_json
from nbcfast.skyline.points import Point
from nbcfast.table import SUPPRESSED, Interval
from nbcfast.table.values import Value

if TYPE_CHECKING:
    from nbcfast._wire.partition_form import PartitionDocument
    from nbcfast._wire.table_form import RowCounts
    from nbcfast._wire.typed_values import Typed


def _value(typed: Typed) -> Value:
    kind, plain = typed
    if kind == "interval":
        return Interval(*plain)
    return SUPPRESSED if kind == "suppressed" else plain


def partition_of(document: PartitionDocument, rows: RowCounts, where: str) -> Partition:
    """The partition that a document of checked form describes, with these rows of its table."""
    domain = domain_of_json([typed for _, typed in document.values], f"{where}: sensitive")
    cells = {
        name: tuple(Cell(text, tuple(map(_value, typed))) for text, typed in listed)
        for name, listed in document.columns
    }
    counts = histograms(rows)
    keys = sorted(counts)
    ordered = [counts[key] for key in keys]
    codes = np.array(keys, np.uint32).reshape(len(keys), len(cells))
    found = [sorted(group.items()) for group in ordered]
    pairs = np.array([pair for group in found for pair in group], np.int64).reshape(-1, 2)
    names = tuple(name for name, _ in document.columns)
    sensitive = document.sensitive
    groups = Groups.from_parts(
        names,
        tuple(generalised_domain(cells[name]) for name in names),
        sensitive,
        domain,
        (
            np.concatenate([[0], np.cumsum([len(group) for group in found])]).astype(np.int64),
            pairs[:, 0].astype(np.uint32),
            np.ascontiguousarray(pairs[:, 1]),
            np.array([sum(group.values()) for group in ordered], np.int64),
        ),
        None,
        [np.ascontiguousarray(codes[:, i]) for i in range(len(names))],
    )
    demands = Demands(
        tuple(Point(*point) for point in document.points),
        document.k,
        document.diversity,
        document.closeness,  # type: ignore[arg-type]
    )
    return Partition(names, sensitive, demands, None, None, PublishedGroups(groups, cells))
