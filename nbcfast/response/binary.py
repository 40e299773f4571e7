"""Columns made two-valued: by the middle of their range, as in the paper, or by their median."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from nbcfast._core.numbers import exact
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._wire.chosen_numbers import MOST_DIGITS, long_point
from nbcfast.response.schemes import number_text
from nbcfast.table import Column, Domain, Table
from nbcfast.table.table import value_weights
from nbcfast.table.values import in_order

At = Literal["midrange", "median"]


@dataclass(frozen=True)
class Cut:
    """Where a column is cut in two.

    Attributes
    ----------
    point : Fraction
        Of a column of numbers their value; of any other the place in the sorted domain, counted from 0.
    values : tuple
        The domain whose places are meant; empty for numbers.
    """

    point: Fraction
    values: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"point": number_text(self.point), "values": list(self.values)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Cut:
        """The cut that `to_dict` wrote."""
        if set(fields) != {"point", "values"} or not isinstance(fields["values"], list):
            raise ValueError(f"expected a point and values, got {sorted(fields)}")
        return cls(Fraction(exact(fields["point"], "point")), tuple(fields["values"]))


def cuts(table: AnyTable, names: Iterable[str] | None = None, *, at: At = "midrange") -> dict[str, Cut]:
    """Where to cut columns: values above the point are 1, others 0.

    Respondents need the points before they answer, so take them from public data or from a pilot: those of
    the private table tell its range.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). Weights count.
    names : iterable of str, optional
        By default all columns.
    at : {"midrange", "median"}
        (least + greatest) / 2, rounded down where it has more than 38 digits besides zeros before and behind
        them, which cuts all doubles and integers of 64 bits alike; or the lower weighted median. If nothing
        lies above the median the greatest value below it takes its place.

    Returns
    -------
    dict of name -> Cut

    Examples
    --------
    >>> cuts({"age": [17, 25, 90]})["age"].point, cuts({"age": [17, 25, 90]}, at="median")["age"].point
    (Fraction(107, 2), Fraction(25, 1))
    """
    choice(at, ("midrange", "median"), "at")
    table = table_from(table)
    if isinstance(names, str):
        raise TypeError(f"names: expected a sequence of names, got the text {names!r}")
    return {name: _cut(table, name, at) for name in (table.names if names is None else names)}


def binarise(
    table: AnyTable,
    points: Mapping[str, Cut] | None = None,
    *,
    names: Iterable[str] | None = None,
    at: At = "midrange",
) -> Table:
    """The table with columns of 0 and 1, for a binary scheme.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). What is made two-valued.
    points : mapping of name -> Cut, optional
        Those that `cuts` found, perhaps in another table; by default found in this one.
    names, at
        As for `cuts`, without `points`. Other columns stay as they are.

    Returns
    -------
    Table
        Each cut column with the declared domain (0, 1).

    Raises
    ------
    ValueError
        If a column has missing answers, or values that its cut does not know.

    Examples
    --------
    >>> binarise({"age": [17, 25, 90], "sex": ["f", "m", "f"]}).codes("age")
    array([0, 0, 1], dtype=uint8)
    """
    table = table_from(table)
    found = cuts(table, names, at=at) if points is None else dict(points)
    for name, cut in found.items():
        if not isinstance(cut, Cut):
            raise TypeError(f"points: expected a Cut for {name!r}, got {type(cut).__name__}")
    columns = {name: table.column(name) for name in table.names}
    for name, cut in found.items():
        column = table.column(name)
        places = _ranks(column.domain, name, cut)
        above = np.fromiter((place is not None and place > cut.point for place in places), np.uint8)
        columns[name] = Column(above[column.codes], Domain("int", [0, 1], (), True))
    return Table.from_columns(columns, table.weights, table.n_rows)


def _ranks(domain: Domain, name: str, cut: Cut | None = None) -> list[int | Fraction]:
    """For each value what is compared with the point."""
    if domain.tail:
        raise ValueError(f"column {name!r} has missing answers: drop_nulls() drops such rows")
    numbers = domain.kind in ("int", "float")
    if cut is not None and numbers != (not cut.values) and len(domain):
        raise ValueError(f"column {name!r}: the cut is of {'values' if cut.values else 'numbers'}")
    if numbers:
        return [exact(value, f"column {name!r}") for value in domain.values]
    order: list[Any] = in_order(domain.values) if cut is None else list(cut.values)
    places = {value: place for place, value in enumerate(order)}
    for value in domain.values:
        if value not in places:
            raise ValueError(f"column {name!r}: value {value!r} is unknown to its cut")
    return [places[value] for value in domain.values]


def _rounded(middle: Fraction) -> Fraction:
    """The middle of two numbers, down to the digits that a certificate takes.

    Numbers of no more digits that are not above the middle are not above this either: those between would
    be in the decade of the middle, and numbers of so many digits there are the ones it is rounded to.
    """
    if not long_point(middle):
        return middle
    size, unit = abs(middle), Fraction(10) ** -MOST_DIGITS
    while size >= unit * 10**MOST_DIGITS:
        unit *= 10
    while size < unit * 10 ** (MOST_DIGITS - 1):
        unit /= 10
    return middle // unit * unit


def _cut(table: Table, name: str, at: At) -> Cut:
    column = table.column(name)
    ranks = _ranks(column.domain, name)
    totals = value_weights(column, table.weights).tolist()
    used = sorted((rank, total) for rank, total in zip(ranks, totals, strict=True) if total)
    if not used:
        raise ValueError("no rows")
    values: tuple[Any, ...] = ()
    if column.domain.kind not in ("int", "float"):
        values = tuple(in_order(column.domain.values))
    if at == "midrange":
        return Cut(_rounded(Fraction(used[0][0] + used[-1][0]) / 2), values)
    half, passed = Fraction(sum(total for _, total in used), 2), 0
    for place, (rank, total) in enumerate(used):
        passed += total
        if passed >= half:
            if place == len(used) - 1 and place:
                rank = used[place - 1][0]
            return Cut(Fraction(rank), values)
    raise AssertionError("unreachable")
