"""Raw values to published ones: numbers into bins, dates into theirs, and what was declared into its sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._reading.csv_files import typed
from nbcfast.domains import Declared, Option
from nbcfast.domains.places import places_between, places_of_dates
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, recode, used_values
from nbcfast.table.table import Table
from nbcfast.table.values import SUPPRESSED, Interval, Value

# A bin of dates as it is called where it has no name of its own.
DATES = re.compile(r"(?:\(-inf|\[(\d{4}-\d\d-\d\d)), (?:inf|(\d{4}-\d\d-\d\d))\)")


class Placing:
    """Where the raw values of a column have their place among published ones.

    Parameters
    ----------
    domain : Domain
        The published values.
    option : Option, optional
        What the column was put into before it was counted: which values are in a set, or in a bin that has a
        name, is not in a certificate.

    Examples
    --------
    >>> ages = Placing(Domain.of([Interval(None, 18), Interval(18, 65)]))
    >>> ages.places(Domain.of([7, 18.5, 99])), ages.places(Domain.of(["17.50", "[18, 65)", "old"]))
    (array([ 0,  1, -1]), array([ 0,  1, -1]))
    """

    def __init__(self, domain: Domain, option: Option | None = None) -> None:
        self.domain = domain
        self.option = option
        self._bins = [value for value in domain.head if isinstance(value, Interval)]
        self._in_order = sorted(range(len(self._bins)), key=self._bins.__getitem__)

    def places(self, raw: Domain) -> Longs:
        """For each raw value its position among the published ones, -1 where it has none.

        A text that is written as `read_csv` takes numbers stands for its number where the text itself has no
        place: which kind the rest of a column is does not matter.
        """
        places = self._of_kind(raw)
        if raw.kind != "text" or (self.domain.kind == "text" and self.option is None):
            return places
        left = np.flatnonzero(places[: len(raw.head)] < 0)
        if len(left):
            texts: list[Value] = [raw.head[place] for place in left.tolist()]
            numbers = typed(texts, None, "")
            if numbers is None:
                numbers = [(typed([text], None, "") or [None])[0] for text in texts]
            for kind in (int, float):
                some = [place for place, number in enumerate(numbers) if type(number) is kind]
                if some:
                    found = Domain(
                        "int" if kind is int else "float", [numbers[one] for one in some], (), False
                    )
                    places[left[some]] = self._of_kind(found)
        return places

    def _of_kind(self, raw: Domain) -> Longs:
        """The same of values as they are."""
        ways: list[Callable[[Domain], Longs]] = []
        if self.option is not None and self.option.domain is not None:
            return self._by_option(raw)
        if self._bins:
            ways.append(self._between)
        elif self.dates is not None:
            ways.append(self._between_dates)
        ways.append(lambda values: values.positions_in(self.domain))
        if raw.kind == "text" and self.domain.kind in ("interval", "bool"):
            ways.append(self._by_text)
        places = np.full(len(raw), -1, np.int64)
        for way in ways:
            if (places >= 0).all():
                break
            places = np.where(places < 0, way(raw), places)
        return places

    def _by_option(self, raw: Domain) -> Longs:
        assert self.option is not None
        assert self.option.domain is not None
        codes = self.option.codes(raw)
        return np.where(codes < 0, -1, self.option.domain.positions_in(self.domain)[codes])

    def _between(self, raw: Domain) -> Longs:
        order = np.array(self._in_order)
        found = places_between(raw, [self._bins[place] for place in self._in_order])
        return np.where(found < 0, -1, order[found])

    @cached_property
    def dates(self) -> list[tuple[str | None, str | None]] | None:
        """The bins of dates, where all published values are called by such."""
        found = [DATES.fullmatch(value) if isinstance(value, str) else None for value in self.domain.head]
        bins = [(one[1], one[2]) for one in found if one is not None]
        rising = all(
            high is not None and low is not None and high <= low for (_, high), (low, _) in pairwise(bins)
        )
        return bins if bins and len(bins) == len(found) and rising else None

    def _between_dates(self, raw: Domain) -> Longs:
        return places_of_dates(raw, self.dates or [])

    def _by_text(self, raw: Domain) -> Longs:
        """By how a bin is written, as in a synthetic table's CSV file, or what is true and false."""
        index = {str(value): place for place, value in enumerate(self.domain.head)}
        if self.domain.kind == "bool":
            index |= {text.lower(): place for text, place in index.items()}
        found = [index.get(str(text), -1) for text in raw.head]
        return np.array([*found, *[-1] * len(raw.tail)], np.int64)


def options_of(domains: Mapping[str, Domain], declared: Declared | None) -> dict[str, Option]:
    """What was declared of columns with these published values; see `option_of`."""
    if declared is None:
        return {}
    found = {name: option_of(name, domain.values, declared) for name, domain in domains.items()}
    return {name: option for name, option in found.items() if option is not None}


def option_of(name: str, values: Sequence[Value], declared: Declared) -> Option | None:
    """What was declared of a column with these published values; None where nothing was.

    Raises
    ------
    ValueError
        If the column was left out, or its declared values are others than those that were published.
    """
    option = declared.options.get(name)
    if option is None:
        return None
    others = {*values} ^ {*option.domain_values}
    if name in declared.from_rows:  # values that no row had were not published
        others &= {*values}
    if others:
        raise ValueError(
            f"{declared.place(name)}: column {name!r}: the release has other values: give what it was "
            "published with"
        )
    return option


def in_domains(
    table: Table, domains: Mapping[str, Domain], declared: Declared | None = None, *, strays: bool = False
) -> Table:
    """A table whose raw values are in the bins and sets of a release, where it has some.

    Columns without bins or sets stay as they are, values that were put there before as well.

    Parameters
    ----------
    table : Table
        It may lack columns, and have others.
    domains : mapping of name -> Domain
        Those of the release.
    declared : Declared, optional
        What it was published with: of sets, and of bins that have names, nothing else says what is in them.
    strays : bool
        Whether what has no place there is no error, but SUPPRESSED: a value that no row of the release has.

    Raises
    ------
    ValueError
        If a value has no place (without `strays`), or what was declared is not what was published.

    Examples
    --------
    >>> rows = Table({"age": [7, 18]})
    >>> in_domains(rows, {"age": Domain.of([Interval(0, 18), Interval(18, 65)])}).codes("age").tolist()
    [0, 1]
    """
    options = options_of(domains, declared)
    if declared is not None and not strays:
        # All columns with values that were not declared are named at once.
        own = {name: option for name, option in options.items() if name in table.names}
        table = replace(declared, options=own, widths={}).applied(table)
    for name, domain in domains.items():
        if name not in table.names:
            continue
        if name in options:
            if strays and "values" not in options[name].entry:
                table = options[name].applied(table, name, strays=True)
        elif domain.kind == "interval" and table.column(name).domain.kind != "interval":
            table = _with_column(table, name, _binned(table.column(name), name, domain, strays))
    return table


def _with_column(table: Table, name: str, column: Column) -> Table:
    columns = {each: table.column(each) for each in table.names}
    return Table.from_columns({**columns, name: column}, table.weights, table.n_rows)


def _binned(column: Column, name: str, domain: Domain, strays: bool) -> Column:
    """A column in published bins; nulls that are no value of theirs come beside them."""
    raw = column.domain
    places = Placing(domain).places(raw)
    absent = (places < 0) & (used_values(column.codes, len(raw)) != 0)
    if not absent.any():
        return Column(recode(column.codes, places, len(domain)), domain)
    if strays:
        wider = domain if SUPPRESSED in domain.tail else Domain.of([*domain.values, SUPPRESSED])
        places = np.where(places < 0, wider.index[SUPPRESSED], places)
        return Column(recode(column.codes, places, len(wider)), wider)
    missing = [raw.values[place] for place in np.flatnonzero(absent).tolist()]
    if missing != [None]:
        value = next(one for one in missing if one is not None)
        bins = [one for one in domain.head if isinstance(one, Interval)]
        if raw.kind not in ("int", "float", None) and not isinstance(value, str):
            raise ValueError(f"column {name!r}: expected numbers to bin, got {raw.kind}")
        raise ValueError(
            f"column {name!r}: value {value!r} lies outside the edges "
            f"{Interval(bins[0].low, bins[-1].high)}, or between its intervals"
        )
    with_null = Domain(
        "interval", domain.head, (None, *domain.tail), True, open_tail=True, tail_found=(None,)
    )
    shifted = np.where(places >= len(domain.head), places + 1, places)
    places = np.where(places < 0, len(domain.head), shifted)
    return Column(recode(column.codes, places, len(with_null)), with_null)
