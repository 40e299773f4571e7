"""Which of some bins holds a raw value: a number or its text, a date, or an interval."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Generic, TypeVar

import numpy as np

from nbcfast._core.dtypes import Array, Longs
from nbcfast._core.numbers import Number, exact
from nbcfast.table.bins import place_between
from nbcfast.table.domain import Domain
from nbcfast.table.values import DATE, Interval, Value, date_key

DateKey = tuple[Decimal, str]
Key = TypeVar("Key", Number, DateKey)


def places_between(raw: Domain, bins: Sequence[Interval]) -> Longs:
    """For each raw value the number of the bin that it lies in, -1 where it lies in none.

    Parameters
    ----------
    raw : Domain
        Numbers, texts of numbers (16.00 makes a column one of texts), or intervals, which lie in a bin as a
        whole or not at all. A float means its shortest decimal text. None and SUPPRESSED lie in no bin.
    bins : sequence of Interval
        They increase and do not overlap; there may be gaps between them.

    Examples
    --------
    >>> places_between(Domain.of([0.3, 0.5, 7]), [Interval("0.3", "0.4"), Interval("0.4", None)])
    array([0, 1, 1])
    >>> places_between(Domain.of(["0.30", "much"]), [Interval("0.3", "0.4")])
    array([ 0, -1])
    """
    places = np.full(len(raw), -1, np.int64)
    if raw.kind in ("int", "float"):
        numbers: Array = raw.numbers
        order = np.argsort(numbers, kind="stable")
        places[order] = place_between(numbers[order], list(bins))
    elif raw.kind == "interval":
        whole = _Bins[Number]([(one.low, one.high) for one in bins])
        places[: len(raw.head)] = [whole.around(one) for one in raw.head if isinstance(one, Interval)]
    elif raw.kind == "text":
        by_number = _Bins[Number]([(one.low, one.high) for one in bins])
        places[: len(raw.head)] = [
            by_number.of(exact(text, "value")) if is_number(text) else -1 for text in raw.head
        ]
    return places


def places_of_dates(raw: Domain, bins: Sequence[tuple[str | None, str | None]]) -> Longs:
    """For each raw value the number of the bin between two dates that it lies in, -1 where it lies in none.

    Parameters
    ----------
    raw : Domain
        Texts of dates or moments, as Arrow's become.
    bins : sequence of (first date, first date of the next bin)
        They increase and do not overlap; None is an open end.

    Examples
    --------
    >>> places_of_dates(Domain.of(["2020-05-01", "1999-01-01T12:00:00", "May"]), [(None, "2020-01-01")])
    array([-1,  0, -1])
    """
    places = np.full(len(raw), -1, np.int64)
    if raw.kind == "text":
        keys = [tuple(None if end is None else date_key(end) for end in one) for one in bins]
        by_date = _Bins[DateKey]([(low, high) for low, high in keys])
        places[: len(raw.head)] = [
            by_date.of(date_key(str(text))) if DATE.fullmatch(str(text)) else -1 for text in raw.head
        ]
    return places


def is_number(value: Value) -> bool:
    """Whether a value is the text of a number in plain digits."""
    with suppress(ValueError):
        return isinstance(value, str) and exact(value, "value") is not None
    return False


class _Bins(Generic[Key]):
    """Half-open bins that increase, with None at an open end."""

    def __init__(self, bins: Sequence[tuple[Key | None, Key | None]]) -> None:
        self._ends: list[Key | None] = [high for _, high in bins]
        self._lows: list[Key] = [low for low, _ in bins if low is not None]
        self._open = len(bins) - len(self._lows)  # 1 where the first bin has no lower end

    def of(self, key: Key) -> int:
        """The bin that holds a key, or -1."""
        place = bisect_right(self._lows, key) + self._open - 1
        end = self._ends[place] if place >= 0 else None
        return -1 if end is not None and not key < end else place

    def around(self: _Bins[Number], value: Interval) -> int:
        """The bin that holds a whole interval, or -1."""
        place = (self._open if value.low is None else bisect_right(self._lows, value.low) + self._open) - 1
        end = self._ends[place] if place >= 0 else None
        return -1 if end is not None and (value.high is None or end < value.high) else place
