"""`Option`: one way to put the values of a column into finitely many."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import Number, exact
from nbcfast._wire import menus, typed_values
from nbcfast.domains.missing import like_nulls
from nbcfast.domains.places import is_number, places_between, places_of_dates
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, recode, used_values
from nbcfast.table.table import Table
from nbcfast.table.values import DATE, SUPPRESSED, Interval, Value

MOST_SAID = 5  # values of a column that an error names


@dataclass(frozen=True, eq=False)
class Option:
    """A map from the raw values of a column to finitely many values, or its leaving out.

    Parameters
    ----------
    entry : dict
        As files have it, with nothing left to look up: ``{"values": [..]}``, ``{"edges": [..]}`` with
        ``"labels"`` and ``"null"`` where wanted, ``{"groups": {..}}`` with ``"other"`` where wanted, or
        ``{"out": True}``. `Menu.read` and `declared` take the other forms, and check all of them.

    Examples
    --------
    >>> tens = Option({"edges": [None, 20, 30, None]})
    >>> tens.domain_values, tens.n_values, tens.out
    (((-inf, 20), [20, 30), [30, inf)), 3, False)
    >>> table = Table({"age": [17, 25, 38]})
    >>> tens.codes(table.column("age").domain)
    array([0, 1, 2])
    >>> tens.applied(table, "age").domain("age")
    ((-inf, 20), [20, 30), [30, inf))
    """

    entry: Mapping[str, object]
    domain: Domain | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        values = self.entry.get("values") if isinstance(self.entry, dict) else None
        if isinstance(values, list) and any(isinstance(v, Interval) or v is SUPPRESSED for v in values):
            # Values of Python, which JSON has no kind for.
            object.__setattr__(self, "domain", Domain.of(values, where="values"))
            return
        object.__setattr__(self, "entry", menus.resolved_option(self.entry, _no_file, "option"))
        object.__setattr__(self, "domain", self._declared())

    def _declared(self) -> Domain | None:
        """The finite domain; None of what is left out."""
        if self.out:
            return None
        typed = typed_values.domain(menus.domain_of(dict(self.entry)), "domain")
        return Domain.of([Interval(*value) if kind == "interval" else value for kind, value in typed])

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Option) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def text(self) -> str:
        """The entry in one line of JSON."""
        return json.dumps(self.entry, ensure_ascii=True, separators=(",", ":"), default=repr)

    @property
    def out(self) -> bool:
        """Whether the column is left out."""
        return self.entry.get("out") is True

    @property
    def is_of_texts(self) -> bool:
        """Whether raw values are texts that are named one by one, whatever they look like."""
        groups = self.entry.get("groups")
        listed = [*groups.values()] if isinstance(groups, Mapping) else [self.entry.get("values")]
        return any(
            isinstance(value, str) for values in listed if isinstance(values, list) for value in values
        )

    @property
    def domain_values(self) -> tuple[Value, ...]:
        """The finitely many values in their order; none where the column is left out."""
        return () if self.domain is None else self.domain.values

    @property
    def n_values(self) -> int | None:
        """How many values there are; None where the column is left out."""
        return None if self.domain is None else len(self.domain)

    def codes(self, raw: Domain) -> Longs:
        """For each value of a column its position among `domain_values`; -1 where the option has none for it.

        Parameters
        ----------
        raw : Domain
            Of the column as it was read, whose values of one column are put there once for all rows.
        """
        if self.domain is None:
            return np.full(len(raw), -1, np.int64)
        if "edges" in self.entry:
            return self._binned(raw)
        if "groups" in self.entry:
            return self._grouped(raw)
        return raw.positions_in(self.domain)

    def applied(self, table: Table, name: str, strays: bool = False, *, from_rows: bool = False) -> Table:
        """The table with this column in the option's domain, or without it.

        Parameters
        ----------
        table : Table
            As it was read.
        name : str
            The column.
        strays : bool
            Whether values that the option has no place for are no error, but SUPPRESSED: of other rows than
            those that it was declared for.
        from_rows : bool
            Whether the option was taken from rows, and not from what is known of the column: its domain is
            then undeclared, and has no value that no row has.

        Raises
        ------
        NoColumnError
            If the table has no such column.
        ValueError
            If a row has a value that the option has no place for; the first ones are named.
        """
        column = table.column(name)
        names = [each for each in table.names if each != name or not self.out]
        if self.domain is None:
            return table.select(names)
        codes, domain = self.codes(column.domain), self.domain
        if (why := self.uncovered(column, codes)) is not None:
            if not strays:
                raise ValueError(f"column {name!r}: {why}")
            domain = Domain.of([*domain.values, SUPPRESSED])
            codes = np.where(codes < 0, domain.index[SUPPRESSED], codes)
        if from_rows:
            occurring = np.unique(codes[used_values(column.codes, len(column.domain)) != 0])
            domain, codes = domain.as_undeclared().subset(occurring), np.searchsorted(occurring, codes)
        columns = {each: table.column(each) for each in names}
        columns[name] = Column(recode(column.codes, codes, len(domain)), domain)
        return Table.from_columns(columns, table.weights, table.n_rows)

    def uncovered(self, column: Column, codes: Longs | None = None) -> str | None:
        """What rows have and the option has no place for, in words; None where all have one.

        Parameters
        ----------
        column : Column
            As it was read.
        codes : ndarray of int64, optional
            What `codes` gives for its domain, if the caller has it.
        """
        if self.domain is None:
            return None
        codes = self.codes(column.domain) if codes is None else codes
        absent = (codes < 0) & (used_values(column.codes, len(column.domain)) != 0)
        if not absent.any():
            return None
        places = np.flatnonzero(absent)
        listed = [column.domain.values[place] for place in places]
        if "edges" in self.entry:
            return self._outside(listed, column.domain)
        values = listed[:MOST_SAID]
        named = _named(values, len(places))
        if "groups" in self.entry:
            verb = "is" if len(places) == 1 else "are"
            return f"{named} {verb} in none of its {len(self.domain)} groups"
        if len(places) == 1:
            return (
                f"{named} is not in its declared domain of {len(self.domain)} values{self._as_null(listed)}"
            )
        hints = f"{self._as_null(listed)}{self._as_edges(listed)}"
        return f"{named} are not in its declared domain of {len(self.domain)} values{hints}"

    def _as_edges(self, values: list[Value]) -> str:
        """That a list is one of values, where most numbers of a column lie between those of it."""
        listed = [value for value in self.domain_values or () if type(value) in (int, float)]
        numbers = [value for value in values if type(value) in (int, float)]
        if len(listed) < 2 or len(numbers) <= len(listed):
            return ""
        low, high = min(listed), max(listed)  # type: ignore[type-var]
        if sum(low < number < high for number in numbers) <= len(listed):  # type: ignore[operator]
            return ""
        return '; a list is one of values: bins are written {"edges": [..]}'

    def _as_null(self, values: list[Value]) -> str:
        """That a text which is a value may have been read as a null."""
        texts = like_nulls(self.domain_values or ()) if None in values else []
        if not texts:
            return ""
        return f", and {texts[0]!r} is: read {texts[0]!r} as the text that it is, and not as null"

    def _outside(self, values: list[Value], raw: Domain) -> str:
        """Why values have no place between edges."""
        expected = "dates" if self._dates else "numbers"
        if values == [None]:
            one = "date" if self._dates else "number"
            return (
                f'expected a {one} in every row, got null: declare it with "null": true beside the edges, '
                "and it is a value whether a row has it or not"
            )
        others = [value for value in values if value is not None]
        no_bins = [value for value in others if not self._could_lie_between(value)]
        if no_bins:
            null = ", and null" if None in values else ""
            return f"expected {expected} to bin, got {raw.kind}, such as {_listed(no_bins)}{null}"
        edges = self._edges
        low, high = (_end(edges[0], "-inf"), _end(edges[-1], "inf"))
        null = ', and null is declared with "null": true beside the edges' if None in values else ""
        verb = "lies" if len(others) == 1 else "lie"
        return f"{_named(others, len(others))} {verb} outside the edges {low}, {high}){null}"

    def _could_lie_between(self, value: Value) -> bool:
        """Whether a value is of the kind that the edges are."""
        if self._dates:
            return isinstance(value, str) and DATE.fullmatch(value) is not None
        return is_number(value) or (isinstance(value, int | float | Interval) and not isinstance(value, bool))

    @property
    def _edges(self) -> list[object]:
        edges = self.entry["edges"]
        return list(edges) if isinstance(edges, Sequence) else []

    @property
    def _dates(self) -> bool:
        """Whether the edges are dates."""
        return any(isinstance(edge, str) for edge in self._edges)

    @cached_property
    def _intervals(self) -> list[Interval]:
        """The bins of numbers."""
        bounds: list[Number | None] = [
            None if edge is None else exact(edge, "each edge") for edge in self._edges
        ]
        return [Interval(low, high) for low, high in pairwise(bounds)]

    def _binned(self, raw: Domain) -> Longs:
        if self._dates:
            dates = [None if edge is None else str(edge) for edge in self._edges]
            codes = places_of_dates(raw, list(pairwise(dates)))
        else:
            codes = places_between(raw, self._intervals)
        if self.entry.get("null") is True and None in raw.tail and self.domain is not None:
            codes[raw.index[None]] = len(self.domain) - 1
        return codes

    def _grouped(self, raw: Domain) -> Longs:
        groups, other = self.entry["groups"], self.entry.get("other")
        place_of = {} if self.domain is None else self.domain.index
        if not isinstance(groups, Mapping):
            return np.full(len(raw), -1, np.int64)
        elsewhere = -1 if other is None else place_of[str(other)]
        group_of = {
            (isinstance(member, bool), member): place_of[str(group)]
            for group, members in groups.items()
            for member in members
        }
        by_value = [group_of.get((isinstance(value, bool), value), -1) for value in raw.values]
        if raw.kind not in ("text", None):
            # A file of a hierarchy has texts alone, whatever the column holds.
            by_text = [-1 if value is None else group_of.get((False, str(value)), -1) for value in raw.values]
            by_value = [max(pair) for pair in zip(by_value, by_text, strict=True)]
        codes = np.array([elsewhere if place < 0 else place for place in by_value], np.int64)
        # A null is in the set of all others only where it says so: nobody else would notice that it is there.
        if None in raw.tail:
            codes[raw.index[None]] = group_of.get((False, None), -1)
        return codes


def _no_file(path: str) -> str:
    raise ValueError(f"option: expected the sets of a hierarchy, got the file {path!r} that has them")


def _named(values: Sequence[Value], n: int) -> str:
    """Some of n values."""
    shown = [repr(value) for value in values[:MOST_SAID]]
    if n == 1:
        return f"value {shown[0]}"
    if n > len(shown):
        return f"values {', '.join(shown)} and {n - len(shown):,} more"
    return f"values {', '.join(shown[:-1])} and {shown[-1]}"


def _listed(values: Sequence[Value]) -> str:
    """The first of some values, and how many more there are."""
    more = f" and {len(values) - MOST_SAID:,} more" if len(values) > MOST_SAID else ""
    return ", ".join(map(repr, values[:MOST_SAID])) + more


def _end(edge: object, infinite: str) -> str:
    if edge is None:
        return f"({infinite}" if infinite.startswith("-") else infinite
    text = str(edge) if not isinstance(edge, str) else edge
    return f"[{text}" if infinite.startswith("-") else text
