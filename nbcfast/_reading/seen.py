"""What the columns of a table hold, seen batch by batch: kinds, ranges, and the values that are frequent.

Memory is bounded by the distinct values of a column, of which no more than `MOST_KEPT` are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nbcfast._core.dtypes import Codes
from nbcfast._core.numbers import Number, exact
from nbcfast._core.threads import Progress
from nbcfast._reading.csv_files import typed
from nbcfast._reading.source import Source
from nbcfast.domains.missing import like_nulls
from nbcfast.domains.places import is_number
from nbcfast.table.values import DATE, DURATION, Value, date_key, duration_key

MOST_KEPT = 100_000  # distinct values of a column that are told apart
MOST_FIRST = 5  # values that are named, the most frequent ones
LARGEST = 2**53  # up to which floats hold every integer


@dataclass(frozen=True)
class SeenColumn:
    """What a column holds.

    Parameters
    ----------
    name : str
    kind : str
        "int", "float", "bool", "interval", "date", "duration", "text", or "null" where no row has a value.
    rows : int
    values : tuple of value
        The distinct values that were kept, as they were first met; a null is none.
    counts : tuple of int
        How many rows have each; those of values that were not kept are in none.
    more : bool
        Whether there are more values than were kept.
    nulls : int
        Rows without a value.
    low, high : value
        The least and the greatest number, date or duration; None of other columns. Of a column that is text
        because of a few texts as "?" alone, of its numbers.
    numbers : bool
        Whether all values are numbers but for nulls and texts that may stand for one.
    """

    name: str
    kind: str
    rows: int
    values: tuple[Value, ...]
    counts: tuple[int, ...]
    more: bool
    nulls: int
    low: Value
    high: Value
    numbers: bool

    @property
    def n_values(self) -> int:
        """How many distinct values there are, at least; a null is one."""
        return len(self.values) + (self.nulls > 0)

    @property
    def missing_texts(self) -> dict[str, int]:
        """The texts that may stand for a null, and how many rows have each.

        One that most rows have is none where not all others are numbers, nor is "-" beside "+".
        """
        texts = set(like_nulls(self.values))
        if "+" in self.values:
            texts -= {"-"}
        return {
            str(value): count
            for value, count in zip(self.values, self.counts, strict=True)
            if isinstance(value, str) and value in texts and (self.numbers or 2 * count <= self.rows)
        }

    @property
    def first(self) -> list[tuple[Value, int]]:
        """The most frequent values, and how many rows have each."""
        order = sorted(range(len(self.values)), key=lambda place: -self.counts[place])
        return [(self.values[place], self.counts[place]) for place in order[:MOST_FIRST]]


def seen(
    source: Source,
    names: Sequence[str] | None = None,
    *,
    as_text: Collection[str] = (),
    progress: Progress | None = None,
) -> list[SeenColumn]:
    """What each column holds, after one walk through the rows; some stay text whatever they look like.

    Examples
    --------
    >>> from nbcfast._reading.source import InMemory
    >>> from nbcfast.table import Table
    >>> (column,) = seen(InMemory(Table({"age": [30, 17, None, 30]})))
    >>> column.kind, column.low, column.high, column.nulls, column.first
    ('int', 17, 30, 1, [(30, 2), (17, 1)])
    """
    growing: dict[str, _SeenSoFar] = {}
    for batch in source.batches(names, progress=progress, check=True):
        for name, (codes, values) in batch.columns.items():
            if name not in growing:
                growing[name] = _SeenSoFar(name, source.texts and name not in as_text)
            growing[name].add(codes, values)
    return [column.finished() for column in growing.values()]


@dataclass
class _Range:
    """The least and the greatest of values of one kind, and whether all are of it."""

    low: Value = None
    high: Value = None
    holds: bool = True
    found: bool = False

    def add(self, values: Iterable[Value], key: Callable[[Any], Any] | None = None) -> None:
        """Widen it by some values, compared by their `key`, or as the numbers that they are."""
        known: list[Any] = [self.low, self.high] if self.found else []
        known += values
        self.low, self.high, self.found = min(known, key=key), max(known, key=key), True


@dataclass
class _SeenSoFar:
    """A column of which some rows were seen."""

    name: str
    texts: bool  # as of a CSV file, of which numbers are made where all are numbers
    rows: int = 0
    nulls: int = 0
    more: bool = False
    places: dict[Value, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)  # of the batches, without texts that may be nulls
    missing: bool = False  # whether there are such texts
    numbers: _Range = field(default_factory=_Range)
    decimals: _Range = field(default_factory=_Range)  # numbers in texts, some of them written as 16.00
    written: _Range = field(default_factory=_Range)  # the ends of `numbers` in a file, as they stand there
    dates: _Range = field(default_factory=_Range)
    durations: _Range = field(default_factory=_Range)

    def add(self, codes: Codes, values: Sequence[Value]) -> None:
        n_rows = np.bincount(np.asarray(codes, np.int64), minlength=len(values)).tolist()
        self.rows += len(codes)
        met = []
        for value, count in zip(values, n_rows, strict=True):
            if not count:
                continue
            if value is None:
                self.nulls += count
                continue
            met.append(value)
            place = self.places.get(value)
            if place is not None:
                self.counts[place] += count
            elif len(self.places) < MOST_KEPT:
                self.places[value] = len(self.places)
                self.counts.append(count)
            else:
                self.more = True
        missing = set(like_nulls(met))
        self.missing = self.missing or bool(missing)
        self._look([value for value in met if not isinstance(value, str) or value not in missing])

    def _look(self, values: list[Value]) -> None:
        """Widen the ranges, as long as there may be any."""
        if not values:
            return
        if not isinstance(values[0], str):
            self.kinds.add(_kind(values[0]))
            if _kind(values[0]) in ("int", "float"):
                self.numbers.add(values)
            return
        if self.texts and self.numbers.holds:
            found = typed(values, None, self.name)
            self.numbers.holds = found is not None
            if found is not None:
                self.kinds.add(_kind(found[0]))
                self.numbers.add(found)
                known: list[Any] = found
                ends = (known.index(min(known)), known.index(max(known)))
                self.written.add((values[place] for place in ends), _number)
                return
        self.kinds.add("text")
        if self.decimals.holds:
            self._look_at_decimals([str(value) for value in values])
        numbers = self.numbers.found or self.decimals.found
        for times, pattern, key in self._times:
            times.holds = times.holds and not numbers and all(pattern.fullmatch(str(one)) for one in values)
            if times.holds:
                times.add(values, key)

    @property
    def _times(self) -> tuple[tuple[_Range, re.Pattern[str], Callable[[str], object]], ...]:
        return ((self.dates, DATE, date_key), (self.durations, DURATION, duration_key))

    def _look_at_decimals(self, texts: list[str]) -> None:
        self.decimals.holds = all(map(is_number, texts))
        if self.decimals.holds:
            before = [self.written.low, self.written.high] if self.written.found else []  # of numbers alone
            self.decimals.add([*before, *texts], _number)  # of equal ones the first

    def finished(self) -> SeenColumn:
        kinds = self.kinds
        if kinds == {"int", "float"}:
            large = any(isinstance(end, int | float) and abs(end) > LARGEST for end in self._ends)
            kinds = {"text"} if large else {"float"}
        found, time = _Range(), ""
        if kinds in ({"int"}, {"float"}):
            found = self.numbers
        elif kinds and self.texts and self.decimals.holds and (self.decimals.found or self.written.found):
            found = self.decimals if self.decimals.found else self.written  # each batch was one of numbers
        elif kinds == {"text"}:
            for one, name in ((self.dates, "date"), (self.durations, "duration")):
                if one.holds and one.found:
                    found, time = one, name
        kind = "text" if self.places else "null"
        if not self.missing and len(kinds) == 1:
            kind = time or next(iter(kinds))
        counts: dict[Value, int] = {}
        for value, count in zip(self._values(kind), self.counts, strict=True):
            counts[value] = counts.get(value, 0) + count  # 1 and 1.0 are one number
        return SeenColumn(
            self.name,
            kind,
            self.rows,
            tuple(counts),
            tuple(counts.values()),
            self.more,
            self.nulls,
            found.low,
            found.high,
            found.found and not time,
        )

    @property
    def _ends(self) -> tuple[Value, Value]:
        return self.numbers.low, self.numbers.high

    def _values(self, kind: str) -> list[Value]:
        """The values that were kept, as numbers where the column is one of numbers."""
        values = list(self.places)
        if not self.texts or kind not in ("int", "float"):
            return values
        return typed(values, kind, self.name) or values


def _number(text: Any) -> Number:
    return exact(text, "value")


def _kind(value: Value) -> str:
    kinds = {bool: "bool", int: "int", float: "float", str: "text"}
    return kinds.get(type(value), "interval")
