"""`Limits`: how much answers may give away before a classifier is published, or a domain advised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from nbcfast._core.numbers import Numeral, exact, exact_share
from nbcfast._core.untyped import Document
from nbcfast._core.validation import whole

MUCH = 8.0  # bits a weight, above which counts come back: docs/mathematics/canonical.md, section 9
NEARLY_ALL = 0.99  # of people whose class does not show

# What it is for each limit to be broken, in a few words; "tuples" are too many to measure anything, and
# "strata" lack rows of some class.
BROKEN = {
    "max_bits": "too many bits",
    "max_found": "counts come back",
    "min_flip": "classes show",
    "min_trace": "people show",
    "max_one_class": "values of one class",
    "tuples": "too large to measure",
    "strata": "values without rows of every class",
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much the answers of a classifier may give away. For each of these None is no such limit.

    Parameters
    ----------
    max_bits : number or None
        Bits a weight, as `Leak.bits`.
    max_found : int or None
        Values whose counts public totals and the answers give back, as `Leak.found`.
    min_flip : number from 0 to 1, or None
        The share of people whose class can be exchanged without any answer changing, as `Leak.flip`.
    min_trace : number from 0 to 1, or None
        The share of people who can be left out without any answer changing, as `Leak.trace`.
    max_one_class : int or None
        Values with people of one class only, as `Leak.one_class_values`.

    Raises
    ------
    ValueError, TypeError
        If one of them is none of these.

    Examples
    --------
    >>> limits = Limits(min_flip="95%", max_one_class=None)
    >>> limits.min_flip, limits.kept("min_flip", 0.96), limits.kept("max_found", 2)
    (0.95, True, False)
    >>> limits.kept("max_bits", None)  # not measured
    >>> limits.kept("max_one_class", 7)  # no such limit
    True
    """

    max_bits: float | None = MUCH
    max_found: int | None = 0
    min_flip: float | None = NEARLY_ALL
    min_trace: float | None = None
    max_one_class: int | None = 0

    def __post_init__(self) -> None:
        for name in ("max_found", "max_one_class"):
            if getattr(self, name) is not None:
                expected = "an int of at least 0, or None"
                object.__setattr__(self, name, whole(getattr(self, name), name, 0, expected=expected))
        if self.max_bits is not None:
            object.__setattr__(self, "max_bits", _number(self.max_bits, "max_bits"))
        for name in ("min_flip", "min_trace"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _number(getattr(self, name), name, 1.0))

    def kept(self, name: str, measured: float | None) -> bool | None:
        """Whether what was measured keeps the limit of this name; None where it was not measured.

        Where there is no such limit anything keeps it. A number that is none (nan) keeps no limit.
        """
        limit = getattr(self, name)
        if limit is None:
            return True
        if measured is None:
            return None
        return bool(measured >= limit if name.startswith("min_") else measured <= limit)

    def broken(self, measured: Mapping[str, float | None]) -> tuple[str, ...]:
        """The names of the limits that are not kept, or were not measured."""
        names = [field.name for field in fields(self)]
        return tuple(name for name in names if self.kept(name, measured.get(name)) is not True)

    def to_dict(self) -> Document:
        """Plain values; None for no such limit."""
        return asdict(self)


def _number(number: Numeral, where: str, most: float | None = None) -> float:
    """The number, or the share that may be written as a percentage."""
    try:
        value = float(exact_share(number, where) if most is not None else exact(number, where))
    except OverflowError:
        value = math.inf
    if not 0 <= value <= (math.inf if most is None else most) or math.isinf(value):
        expected = "at least 0" if most is None else f"from 0 to {most:g}"
        raise ValueError(f"{where} must be a number {expected}, or None; got {number}")
    return value
