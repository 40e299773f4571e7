"""Points of raw values: those of the set, or of the bin with a name, that each is put into."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from nbcfast.domains import Declared, Option
from nbcfast.published.placing import option_of
from nbcfast.table.domain import Domain
from nbcfast.table.values import Interval, Value

if TYPE_CHECKING:
    from nbcfast.published.points_table import PointsTable

Rows = tuple[tuple[int, ...], ...]
Attribute = tuple[str, tuple[Value, ...], Rows]


def opened_points(points: PointsTable, declared: Declared) -> PointsTable:
    """Points for raw values, each of which has those of the value that it is put into.

    Raises
    ------
    ValueError
        If a column was declared with other values than are published, or takes values that nobody listed.
    """
    return replace(points, attributes=tuple(opened(each, declared) for each in points.attributes))


def opened(attribute: Attribute, declared: Declared) -> Attribute:
    """An attribute with raw values for the names of sets and bins."""
    name, values, rows = attribute
    option = option_of(name, values, declared)
    if option is None:
        return attribute
    where = f"{declared.place(name)}: column {name!r}"
    points = dict(zip(values, rows, strict=True))
    found = [(raw, points[value]) for raw, value in _raw_of(option, where) if value in points]
    domain = Domain.of([raw for raw, _ in found], where=where, in_order=False)
    by_place = {domain.index[raw]: row for raw, row in found}
    return name, domain.values, tuple(by_place[place] for place in range(len(domain)))


def _raw_of(option: Option, where: str) -> list[tuple[Value, Value]]:
    """Raw values, each with that which it is put into."""
    entry = option.entry
    groups, edges, labels = entry.get("groups"), entry.get("edges"), entry.get("labels")
    if isinstance(groups, dict):
        if "other" in entry:
            raise ValueError(
                f"{where}: {entry['other']!r} takes every value that is not listed, and files give no class "
                "to values that they do not know: list them, or put rows into the sets before"
            )
        return [(raw, group) for group, raws in groups.items() for raw in raws]
    if isinstance(edges, list) and isinstance(labels, list) and not is_of_dates(option):
        bins = [Interval(low, high) for low, high in pairwise(edges)]
        null: list[tuple[Value, Value]] = [(None, None)] if "null" in entry else []
        return [*zip(bins, labels, strict=True), *null]
    return [(value, value) for value in option.domain_values]


def is_of_dates(option: Option) -> bool:
    """Whether an option has bins of dates."""
    edges = option.entry.get("edges")
    return isinstance(edges, list) and any(isinstance(edge, str) for edge in edges)
