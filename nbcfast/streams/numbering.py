"""Which block a row lies in: so many rows each, or the values of a column of times or integers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import numpy as np

from nbcfast._core.dtypes import Array, Longs
from nbcfast.table.values import INT64_MAX, Value

# Microseconds: of the times that Arrow has only nanoseconds are finer, and no block begins between two.
SECOND = 1_000_000
UNITS = {
    "second": SECOND,
    "minute": 60 * SECOND,
    "hour": 3_600 * SECOND,
    "day": 86_400 * SECOND,
    "week": 7 * 86_400 * SECOND,
}
MONTHS = {"month": 1, "year": 12}
A_MONDAY = 4 * UNITS["day"]  # 1970-01-05
MOST_TICKS = 1 << 61  # so that a difference of two, and a block more, fits 64 bits
MOST_WIDTH = 1 << 60

WIDTH = re.compile(r"(?:([1-9][0-9]{0,17}) +)?(second|minute|hour|day|week|month|year)s?")
TIME = re.compile(
    r"(-?[0-9]{4,})-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?)?"
)
A_WIDTH = "a width such as 3600 for integers, 'day', '7 days', 'month' or a timedelta for times"
A_TIME = "a date or a moment such as '2026-01-31' or '2026-01-31T12:00:00+00:00'"


@dataclass(frozen=True)
class Ticks:
    """The times of some rows as integers.

    Attributes
    ----------
    numbers : ndarray of integers
        Of any unit.
    scale : (int, int)
        By what they are multiplied and divided to be microseconds since 1970, or integers.
    least, most : int
        The ends of them all, in that unit.
    zoned : bool or None
        Whether the times have a zone; None of integers.
    """

    numbers: Array
    scale: tuple[int, int]
    least: int
    most: int
    zoned: bool | None

    def all(self) -> Longs:
        """Microseconds since 1970, or the integers themselves, of each row."""
        times, over = self.scale
        ticks = self.numbers.astype(np.int64, copy=False)
        return ticks * times if times > 1 else ticks // over if over > 1 else ticks


@dataclass(frozen=True)
class Numbering:
    """Blocks of equal width, numbered by where they begin.

    Parameters
    ----------
    width : int
        Integers, microseconds or months.
    unit : {"integers", "time", "months"}
    origin : int
        Where block 0 begins, in the same unit.
    """

    width: int
    unit: Literal["integers", "time", "months"]
    origin: int

    @property
    def of_times(self) -> bool:
        """Whether rows have times, and not integers."""
        return self.unit != "integers"

    def blocks(self, ticks: Longs) -> Longs:
        """The block of each row."""
        numbers = ticks
        if self.unit == "months":
            numbers = ticks.astype("M8[us]").astype("M8[M]").astype(np.int64)
        result: Longs = (numbers - self.origin) // self.width
        return result

    def block(self, tick: int) -> int:
        """The block of one time."""
        return int(self.blocks(np.array([tick], np.int64))[0])

    def begins(self, block: int) -> int | str:
        """Where a block begins: an integer, or a date or moment."""
        start = self.origin + block * self.width
        if self.unit == "integers":
            return start
        moment = np.datetime64(start, "us" if self.unit == "time" else "M").astype("M8[us]")
        return str(np.datetime_as_string(moment)).removesuffix(".000000").removesuffix("T00:00:00")


def numbering(width: object, origin: object) -> Numbering:
    """The blocks of a width that begin at an origin."""
    if isinstance(width, (int, np.integer)) and not isinstance(width, bool):
        start = 0 if origin is None else origin
        if isinstance(start, bool) or not isinstance(start, (int, np.integer)):
            raise TypeError(f"origin must be an int where width is one, got {origin!r}")
        if not 1 <= width <= MOST_WIDTH or abs(int(start)) > MOST_TICKS:
            raise ValueError(
                f"width must be 1..2^60 and origin within 2^61 of 0, got {int(width)} and {int(start)}"
            )
        return Numbering(int(width), "integers", int(start))
    if isinstance(width, timedelta):
        count, unit, is_week = width // timedelta(microseconds=1), 1, False
    elif isinstance(width, str) and (match := WIDTH.fullmatch(width)) is not None:
        count = int(match[1] or 1)
        if match[2] in MONTHS:
            return _of_months(count * MONTHS[match[2]], origin, width)
        unit, is_week = UNITS[match[2]], match[2] == "week"
    else:
        kind = TypeError if not isinstance(width, str) else ValueError
        raise kind(f"width must be {A_WIDTH}, got {width!r}")
    if not 1 <= count * unit <= MOST_WIDTH:
        raise ValueError(f"width must be a microsecond to 2^60 of them, got {width!r}")
    start = A_MONDAY if is_week else 0
    if origin is not None:
        start, _ = tick_of(origin, "origin")
    return Numbering(count * unit, "time", start)


def _of_months(count: int, origin: object, width: str) -> Numbering:
    if count > 12_000:
        raise ValueError(f"width must be at most 1000 years, got {width!r}")
    if origin is None:
        return Numbering(count, "months", 0)
    start, _ = tick_of(origin, "origin")
    moment = np.datetime64(start, "us")
    month = moment.astype("M8[M]")
    if month.astype("M8[us]") != moment:
        raise ValueError(
            f"origin must be the first moment of a month where width is {width!r}, got {origin!r}"
        )
    return Numbering(count, "months", int(month.astype(np.int64)))


def tick_of(text: object, where: str) -> tuple[int, bool]:
    """The microseconds since 1970 of a date or moment in ISO 8601, and whether it has a zone."""
    match = TIME.fullmatch(text) if isinstance(text, str) and text.isascii() else None
    if match is None:
        raise ValueError(f"{where}: expected {A_TIME}, got {text!r}")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if len(year) > 7:
        raise ValueError(f"{where}: expected a year of at most six digits, got {text!r}")
    try:
        days = int(np.datetime64(f"{year}-{month}-{day or '01'}", "D").astype(np.int64))
    except ValueError:
        raise ValueError(f"{where}: {text!r} is no date") from None
    clock = [int(part or 0) for part in (hour, minute, second)]
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        raise ValueError(f"{where}: {text!r} is no time of a day")
    seconds = days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    if zone is not None and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if hours > 23 or minutes > 59:
            raise ValueError(f"{where}: {text!r} has no zone that there is")
        seconds += (-1 if zone[0] == "+" else 1) * (hours * 3_600 + minutes * 60)
    return seconds * SECOND + int((fraction or "0")[:6].ljust(6, "0")), zone is not None


def ticks_of_values(codes: Array, values: list[Value], of_times: bool, where: str) -> Ticks:
    """The ticks of rows that come as codes of values: each value is read once."""
    used = np.zeros(len(values), np.bool_)
    used[codes] = True
    numbers = np.zeros(len(values), np.int64)
    zones = set()
    for place in np.flatnonzero(used).tolist():
        value = values[place]
        if value is None:
            row = int(np.flatnonzero(codes == place)[0])
            raise ValueError(
                f"{where}: expected a {'time' if of_times else 'number'} in every row, got null in row {row}"
            )
        if of_times:
            numbers[place], zoned = tick_of(value, where)
            zones.add(zoned)
        elif isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{where}: expected integers, as width is one, got {value!r}")
        elif abs(value) > MOST_TICKS:
            raise ValueError(f"{where}: expected integers within 2^61 of 0, got {value}")
        else:
            numbers[place] = value
    if len(zones) > 1:
        raise ValueError(f"{where}: expected times that all have a zone, or none, got both")
    present = numbers[used]
    return Ticks(
        numbers[codes], (1, 1), int(present.min()), int(present.max()), zones.pop() if zones else None
    )


def ticks_of_array(
    numbers: Array, nulls: Array | None, scale: tuple[int, int], zoned: bool | None, where: str
) -> Ticks:
    """The ticks of rows that come as numbers of some unit.

    Parameters
    ----------
    numbers : ndarray of integers
        One a row.
    nulls : ndarray or None
        Where there is none.
    scale : (int, int)
        By what they are multiplied, and divided.
    zoned : bool or None
        As in `Ticks`.
    where : str
        For errors.
    """
    if nulls is not None and nulls.any():
        what = "number" if zoned is None else "time"
        row = int(np.flatnonzero(nulls)[0])
        raise ValueError(f"{where}: expected a {what} in every row, got null in row {row}")
    times, over = scale
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    limit = min(MOST_TICKS // times * over, INT64_MAX)
    if least < -limit or most > limit:
        wrong = least if least < -limit else most
        what = "integers" if zoned is None else "times"
        raise ValueError(f"{where}: expected {what} within 2^61 of 0, got {wrong}")
    return Ticks(numbers, scale, least * times // over, most * times // over, zoned)
