"""`binarise` and `cuts`: columns made two-valued, for a binary scheme.

A column is cut at the middle of its range, as in the paper, or at its median.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

import numpy as np

from nbcfast._core.numbers import exact
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, rows_from, table_from
from nbcfast._wire.chosen_numbers import MOST_DIGITS, long_point
from nbcfast._wire.messages import decimal_text
from nbcfast.frames import Frame
from nbcfast.table import Column, Domain, Table
from nbcfast.table.row_weights import value_weights
from nbcfast.table.values import Value, in_order

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
    values: tuple[Value, ...] = ()

    def to_dict(self) -> Document:
        return {"point": decimal_text(self.point), "values": list(self.values)}

    @classmethod
    def from_dict(cls, fields: Document) -> Cut:
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
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Weights count.
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
    if isinstance(names, str):
        raise TypeError(f"names: expected a sequence of names, got the text {names!r}")
    if isinstance(table, Frame):  # each column by itself: together nearly every row may be distinct
        listed = list(table.names if names is None else names)
        alone = table.tables([[name] for name in listed])
        return {name: _cut_of(one, name, at) for name, one in zip(listed, alone, strict=True)}
    table = table_from(table)
    return {name: _cut_of(table, name, at) for name in (table.names if names is None else names)}


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
        Where `points` are not given: which columns, by default all, and where `cuts` cuts them. Other columns
        stay as they are.

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
    table = rows_from(table, "cut its columns in the engine, at the points of nbcfast.response.cuts")
    cut_of = cuts(table, names, at=at) if points is None else dict(points)
    for name, cut in cut_of.items():
        if not isinstance(cut, Cut):
            raise TypeError(f"points: expected a Cut for {name!r}, got {type(cut).__name__}")
    columns = {name: table.column(name) for name in table.names}
    for name, cut in cut_of.items():
        column = table.column(name)
        above = np.fromiter((rank > cut.point for rank in _ranks(column.domain, name, cut)), np.uint8)
        columns[name] = Column(above[column.codes], Domain("int", [0, 1], (), True))
    return Table.from_columns(columns, table.weights, table.n_rows)


def _ranks(domain: Domain, name: str, cut: Cut | None = None) -> list[int | Fraction]:
    """For each value what is compared with the point: a number itself, of another value its place."""
    if domain.tail:
        raise ValueError(f"column {name!r} has missing answers: drop_nulls() drops such rows")
    has_numbers = _has_numbers(domain)
    if cut is not None and has_numbers != (not cut.values) and len(domain):
        raise ValueError(f"column {name!r}: the cut is of {'values' if cut.values else 'numbers'}")
    if has_numbers:
        return [exact(value, f"column {name!r}") for value in domain.values]
    ordered = in_order(domain.values) if cut is None else cut.values
    places = {value: place for place, value in enumerate(ordered)}
    for value in domain.values:
        if value not in places:
            raise ValueError(f"column {name!r}: value {value!r} is unknown to its cut")
    return [places[value] for value in domain.values]


def _has_numbers(domain: Domain) -> bool:
    return domain.kind in ("int", "float")


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


def _cut_of(table: Table, name: str, at: At) -> Cut:
    column = table.column(name)
    ranks = _ranks(column.domain, name)
    totals = value_weights(column, table.weights).tolist()
    weighted = sorted((rank, total) for rank, total in zip(ranks, totals, strict=True) if total)
    if not weighted:
        raise ValueError("no rows")
    values = () if _has_numbers(column.domain) else tuple(in_order(column.domain.values))
    if at == "midrange":
        return Cut(_rounded(Fraction(weighted[0][0] + weighted[-1][0]) / 2), values)
    return Cut(Fraction(_median(weighted)), values)


def _median(weighted: list[tuple[int | Fraction, int]]) -> int | Fraction:
    """The lower weighted median of sorted ranks, or the one before it if nothing lies above.

    Of a column that is mostly its greatest value a cut there would leave no 1.
    """
    half = Fraction(sum(total for _, total in weighted), 2)
    passed = accumulate(total for _, total in weighted)
    place = next(place for place, total in enumerate(passed) if total >= half)
    if place == len(weighted) - 1 and place:
        place -= 1
    return weighted[place][0]
