"""The values a column may hold, and the two that are ours: `Interval` and `SUPPRESSED`."""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from types import NoneType
from typing import Any, Literal, cast

import numpy as np

from nbcfast._core.numbers import exact, number_text

Kind = Literal["bool", "int", "float", "text", "interval"]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

# The texts that Arrow's durations, dates and moments become: seconds, and years before 0 and after 9999.
DURATION = re.compile(r"(-?)PT([0-9]+(?:\.[0-9]+)?)S")
DATE = re.compile(r"([0-9]{4,}|-[0-9]{3,})(-[0-9]{2}-[0-9]{2}(?:T.*)?)")


class Suppressed:
    """The type of `SUPPRESSED`, the value that stands for one that was withheld."""

    _instance: "Suppressed | None" = None

    def __new__(cls) -> "Suppressed":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "⊥"

    def __reduce__(self) -> str:
        return "SUPPRESSED"


SUPPRESSED = Suppressed()


def plain(value: object) -> str | int | float | None:
    """A value as JSON holds it; what JSON has no kind for becomes text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def _hashed_text(number: int | Fraction | None) -> str:
    """A bound as a text: hexadecimal, as Python refuses to write very long numbers in another way."""
    return "" if number is None else f"{number.numerator:x}/{number.denominator:x}"


@total_ordering
class Interval:
    """The numbers from `low` up to but not including `high`; None is open to infinity.

    Bounds are kept exactly, as int or Fraction. A float, as a bound or as a number asked for with `in`,
    means its shortest decimal text, so that 0.3 lies in [0.3, 0.4) and not below it.

    Parameters
    ----------
    low, high : int, Fraction, float, str or None
        `low` must be below `high`.

    Examples
    --------
    >>> Interval(20, 30), Interval(None, 20), Interval("0.5", None)
    ([20, 30), (-inf, 20), [0.5, inf))
    >>> 20 in Interval(20, 30), 30 in Interval(20, 30)
    (True, False)
    """

    __slots__ = ("high", "low")

    low: int | Fraction | None
    high: int | Fraction | None

    def __init__(self, low: object, high: object) -> None:
        if isinstance(low, float) and low == -math.inf:
            low = None
        if isinstance(high, float) and high == math.inf:
            high = None
        low = None if low is None else exact(low, "low")
        high = None if high is None else exact(high, "high")
        if low is not None and high is not None and low >= high:
            raise ValueError(f"low must be below high, got {number_text(low)} and {number_text(high)}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Interval does not change: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an Interval does not change: cannot delete {name}")

    def __reduce__(self) -> tuple[object, ...]:
        return Interval, (self.low, self.high)

    def __repr__(self) -> str:
        low = "(-inf" if self.low is None else f"[{number_text(self.low)}"
        high = "inf" if self.high is None else number_text(self.high)
        return f"{low}, {high})"

    def __contains__(self, number: object) -> bool:
        if isinstance(number, (float, np.floating)) and not math.isfinite(number):
            return (number == math.inf and self.high is None) or (number == -math.inf and self.low is None)
        if isinstance(number, bool) or not isinstance(
            number, (int, float, Fraction, np.integer, np.floating)
        ):
            return False
        point = exact(number, "number")
        return (self.low is None or self.low <= point) and (self.high is None or point < self.high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        return self.low == other.low and self.high == other.high

    def __hash__(self) -> int:
        # Of texts, as whoever writes a file chooses numbers that share their hash, and no text that does.
        return hash((Interval, _hashed_text(self.low), _hashed_text(self.high)))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Interval):
            return NotImplemented
        if self.low != other.low:
            return self.low is None or (other.low is not None and self.low < other.low)
        return self.high is not None and (other.high is None or self.high < other.high)


Value = bool | int | float | str | Interval | Suppressed | None


def kind_of(cls: type, where: str) -> Kind | None:
    """The kind of a Python or NumPy scalar type; None for the types of nulls and of SUPPRESSED."""
    if cls is NoneType or cls is Suppressed:
        return None
    if issubclass(cls, (bool, np.bool_)):
        return "bool"
    if issubclass(cls, (int, np.integer)) and not issubclass(cls, np.timedelta64):
        return "int"
    if issubclass(cls, (float, np.float16, np.float32)):
        return "float"
    if issubclass(cls, str):
        return "text"
    if cls is Interval:
        return "interval"
    if cls.__name__ in ("NAType", "NaTType") and cls.__module__.split(".")[0] == "pandas":
        return None
    raise TypeError(
        f"{where}: expected values of bool, int, float, str, Interval, None or SUPPRESSED, got {cls.__name__}"
    )


def kind_of_values(name: str, values: Sequence[Value]) -> Kind | None:
    """What the values of an attribute are; None where null is the only one.

    Raises
    ------
    ValueError
        If one is `SUPPRESSED`: other programs have no such value, and a row that has it is in no column of
        theirs.
    """
    if any(value is SUPPRESSED for value in values):
        raise ValueError(
            f"attribute {name!r} has suppressed values, for which other programs have no word: release rows "
            "in which they are null, or of some text"
        )
    return next((kind_of(type(value), name) for value in values if value is not None), None)


def join_kinds(kinds: Iterable[Kind | None], where: str) -> Kind | None:
    """The one kind that holds all of these: ints and floats are floats, other mixtures are refused."""
    distinct = {kind for kind in kinds if kind is not None}
    if len(distinct) <= 1:
        return distinct.pop() if distinct else None
    if distinct == {"int", "float"}:
        return "float"
    raise TypeError(f"{where}: expected values of one kind, got {' and '.join(sorted(distinct))}")


def normalise(values: Sequence[object], where: str) -> tuple[Kind | None, list[Value]]:
    """The kind of these values, and each as a plain Python value: NaN is None, -0.0 is 0.0."""
    types = set(map(type, values))
    kinds = {cls: kind_of(cls, where) for cls in types}
    kind = join_kinds(kinds.values(), where)
    plain = cast("list[Value]", list(values))  # of these types, or they become so
    if not types <= {str, bool, int, float, Interval, Suppressed, NoneType}:
        plain = [_plain(value, kinds[type(value)]) for value in plain]
    return kind, as_kind(plain, kind, where)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Values of one kind, no None and no SUPPRESSED, sorted: text by code point, but times by time.

    It depends on which values there are and on nothing else, so that parts merge into one order.
    """
    ordered = sorted(values)
    if ordered and isinstance(ordered[0], str):
        for pattern, key in ((DURATION, duration_key), (DATE, date_key)):
            if all(map(pattern.fullmatch, ordered)):
                ordered.sort(key=key)
    return ordered


def duration_key(text: str) -> tuple[Decimal, str]:
    """What a duration is sorted by, if `DURATION` matches its text.

    Examples
    --------
    >>> duration_key("-PT5S") < duration_key("PT9S") < duration_key("PT90S") < duration_key("PT100S")
    True
    """
    sign, seconds = DURATION.fullmatch(text).groups()  # type: ignore[union-attr]
    return Decimal(f"{sign}{seconds}"), text


def date_key(text: str) -> tuple[Decimal, str]:
    """What a date or moment is sorted by, if `DATE` matches its text.

    Examples
    --------
    >>> date_key("2020-01-31") < date_key("2020-02-01T12:00:00") < date_key("12020-01-01")
    True
    """
    year, day = DATE.fullmatch(text).groups()  # type: ignore[union-attr]
    return Decimal(year), day


def _plain(value: Any, kind: Kind | None) -> Value:
    if kind == "bool":
        return bool(value)
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    if kind == "text":
        return str.__str__(value)
    return SUPPRESSED if value is SUPPRESSED else value if kind == "interval" else None


def as_kind(values: list[Value], kind: Kind | None, where: str) -> list[Value]:
    """Plain values of one kind, ints beside floats made floats, sizes checked."""
    if kind == "float":
        return [
            v if v is None or v is SUPPRESSED else None if v != v else _exact_float(v, where) + 0.0
            for v in values
        ]
    if kind == "int":
        for v in values:
            if type(v) is int and not INT64_MIN <= v <= INT64_MAX:
                raise ValueError(f"{where}: expected integers of 64 bits with sign, got {v}")
    return values


def _exact_float(value: Any, where: str) -> float:
    if type(value) is float:
        return value
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if number != value:
        raise ValueError(f"{where}: the integer {value} stands among floats and has no exact float64")
    return number
