"""Quasi-identifiers: the order of their values, how far apart they are, and what a range of them is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nbcfast._core.dtypes import Array, Codes, Longs, UInt32s
from nbcfast._core.numbers import exact
from nbcfast._wire.messages import UNSEEN
from nbcfast._wire.typed_values import LISTED
from nbcfast.mondrian.hierarchy import Tree, tree_of
from nbcfast.table.domain import Domain
from nbcfast.table.encode import code_dtype
from nbcfast.table.values import SUPPRESSED, Interval, Kind, Value

FAR = 1 << 30  # from the first position to the last
MARKED = 1 << 20  # pairs of ends, up to which the ones that occur are marked in a table of all
AMOUNT = re.compile(r"-?P(?!T[0-9.]+S$)T?[0-9][0-9TDHMSWY.,]+")  # of time; seconds are sorted by it
PLAIN = re.compile(r"[^\s{}\[\]()\",;\\][^{}\",;\\]*", re.DOTALL)


@dataclass(frozen=True)
class Cell:
    """What a group has in a column: a text, and the values (or the one interval) that it stands for.

    Two cells of a column never have one text: the certificate says by the text what was published.
    """

    text: str
    values: tuple[Value, ...]


def range_by_letters(cells: Iterable[Cell]) -> str | None:
    """A cell that is written as a range of texts, whose order is not that of what they mean, or None.

    "10 min" comes before "2 min", and PT30M after PT1H.

    Examples
    --------
    >>> range_by_letters([Cell("{a1 .. a7}", tuple(f"a{number}" for number in range(1, 8)))])
    >>> range_by_letters([Cell("{10 .. 9 min}", ("10 min", *(f"{number} min" for number in range(4, 10))))])
    '{10 .. 9 min}'
    """
    for cell in cells:
        texts = [value for value in cell.values if isinstance(value, str)]
        is_range = len(cell.values) > LISTED and cell.text.startswith("{") and len(texts) == len(cell.values)
        if is_range and (any(map(AMOUNT.fullmatch, texts)) or sorted(texts, key=_by_number) != texts):
            return cell.text
    return None


def _by_number(text: str) -> list[tuple[int, str]]:
    """What a text with numbers in it is sorted by where these are meant as such."""
    parts = re.split(r"([0-9]+)", text)
    return [(int(part) if place % 2 else 0, part) for place, part in enumerate(parts)]


@dataclass(frozen=True, eq=False)
class Quasi:
    """A quasi-identifier as Mondrian sees it: codes in an order in which ranges make sense.

    Attributes
    ----------
    name : str
    kind : str or None
        Of the values, as of a Domain.
    values : tuple
        In that order: numbers rising, others as in the table's domain or as the leaves of the hierarchy.
        Nulls come last but in a hierarchy.
    n_head : int
        How many values there are before the nulls.
    map : ndarray of uint32
        Code of the table -> code here.
    positions : ndarray of int64
        Where each code lies between the least (0) and the greatest (2^30) that a row has: for numbers by
        their size, rounded down, for others by their place. Nulls beside numbers are at 2^30.
    tree : Tree or None
    """

    name: str
    kind: Kind | None
    values: tuple[Value, ...]
    n_head: int
    map: UInt32s
    positions: Longs
    tree: Tree | None

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether ranges are intervals."""
        return self.tree is None and self.kind in ("int", "float", "interval")

    def cell(self, lo: int, hi: int) -> Cell:
        """What the codes lo .. hi are called."""
        if self.tree is not None:
            text = element(self.values[lo]) if lo == hi else self.tree.labels[lo, hi]
            return Cell(text, self.values[lo : hi + 1])
        if self.is_numeric and lo < self.n_head:
            values = (self._interval(lo, min(hi, self.n_head - 1)), *self.values[self.n_head : hi + 1])
        else:
            values = self.values[lo : hi + 1]
        if len(values) == 1:
            return Cell(element(values[0]), values)
        if len(values) <= LISTED:
            return Cell("{" + ", ".join(map(element, values)) + "}", values)
        return Cell(f"{{{element(values[0])} .. {element(values[-1])}}}", values)

    def _interval(self, lo: int, hi: int) -> Interval:
        """From the number at `lo` up to the next one after `hi`; the outer ends are open."""
        if self.kind == "interval":
            intervals = [value for value in self.values[lo : hi + 1] if isinstance(value, Interval)]
            # An earlier one may reach further than the last one, where intervals overlap.
            highs = [interval.high for interval in intervals if interval.high is not None]
            return Interval(intervals[0].low, max(highs) if len(highs) == len(intervals) else None)
        low, high = self.values[lo], None if hi == self.n_head - 1 else self.values[hi + 1]
        return Interval(None if lo == 0 else low, high)

    def generalised(self, lo: Codes, hi: Codes) -> tuple[Domain, Codes, tuple[Cell, ...]]:
        """The column of ranges: its domain, a code for each pair of ends, and the cells, ranges rising."""
        keys = lo.astype(np.uint64) * np.uint64(self.size) + hi.astype(np.uint64)
        if self.size**2 <= MARKED:  # sorting the groups would take longer
            marks = np.zeros(self.size**2, np.bool_)
            marks[keys] = True
            distinct = np.flatnonzero(marks)
            codes = (np.cumsum(marks, dtype=np.uint32) - 1)[keys]
        else:
            distinct, codes = np.unique(keys, return_inverse=True)
        cells = tuple(self.cell(*divmod(key, self.size)) for key in distinct.tolist())
        seen = set()
        for cell in cells:
            if cell.text in seen:
                raise ValueError(
                    f"column {self.name!r}: two different sets of its values would both be published as "
                    f"{cell.text!r}: give intervals that do not overlap, or a hierarchy of distinct names"
                )
            seen.add(cell.text)
        return generalised_domain(cells), codes.astype(code_dtype(len(cells))), cells


def generalised_domain(cells: tuple[Cell, ...]) -> Domain:
    """Intervals where all cells are some, else texts; in the order of the cells."""
    if all(len(cell.values) == 1 and isinstance(cell.values[0], Interval) for cell in cells):
        return Domain("interval", [cell.values[0] for cell in cells], (), True)
    return Domain("text", [cell.text for cell in cells], (), True)


def element(value: Value) -> str:
    """A value as text that no other value, and no set of values, has."""
    if value is None:
        return "null"
    if value is SUPPRESSED:
        return "suppressed"
    if not isinstance(value, str):
        return repr(value)
    plain = PLAIN.fullmatch(value) and value == value.strip() and ".." not in value
    if plain and value not in ("null", "suppressed") and not UNSEEN.search(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def describe(name: str, domain: Domain, used: Array, hierarchy: object = None) -> Quasi:
    """A quasi-identifier whose column has this domain; `used` says which values some row has."""
    if len(domain) == 0:
        raise ValueError(f"column {name!r}: no values")
    values, n_head, tree = domain.values, len(domain.head), None
    order: list[int] = list(range(len(domain)))
    if hierarchy is not None:
        tree = tree_of(hierarchy, domain, name)
        order, n_head = tree.order, len(domain)
        labels = set(tree.labels.values())
        for value in values:
            if element(value) in labels:
                raise ValueError(
                    f"hierarchies: column {name!r}: {element(value)!r} is the name of a set and of a value"
                )
    elif domain.kind in ("int", "float"):
        if domain.kind == "float" and not np.isfinite(domain.numbers).all():
            value = domain.numbers[~np.isfinite(domain.numbers)][0]
            raise ValueError(f"column {name!r}: expected finite numbers, got {value}")
        order[:n_head] = np.argsort(domain.numbers, kind="stable").tolist()
    elif domain.kind == "interval":
        order[:n_head] = sorted(order[:n_head], key=domain.head.__getitem__)  # type: ignore[arg-type]
    codes = np.empty(len(domain), np.uint32)
    codes[order] = np.arange(len(domain))
    present = np.sort(codes[np.flatnonzero(used)]).tolist()
    ordered = tuple(map(values.__getitem__, order))
    by_number = tree is None and domain.kind in ("int", "float")
    positions = _positions(ordered, n_head if by_number else 0, present)
    return Quasi(name, domain.kind, ordered, n_head, codes, positions, tree)


def _positions(values: tuple[Value, ...], n_numbers: int, present: list[int]) -> Longs:
    """Where each value lies, as `Quasi.positions` says; the first values are numbers, `n_numbers` of them.

    In integers, so that the order in which attributes are tried is that of every machine:
    docs/mathematics/skyline.md, section 9 (#skyline-9).
    """
    positions = np.full(len(values), FAR, np.int64)
    if not n_numbers:
        low, high = present[0], present[-1]
        positions[:] = [_scaled(place, low, high) for place in range(len(values))]
        return positions
    numbers = [exact(number, "value") for number in values[:n_numbers]]
    inside = [place for place in present if place < n_numbers]
    least, most = (numbers[inside[0]], numbers[inside[-1]]) if inside else (0, 0)
    positions[:n_numbers] = [_scaled(number, least, most) for number in numbers]
    return positions


def _scaled(number: int | Fraction, low: int | Fraction, high: int | Fraction) -> int:
    """Where a number lies between low (0) and high (2^30), rounded down; those outside are at the ends."""
    if number <= low:
        return 0
    if number >= high:
        return FAR
    return FAR * (number - low) // (high - low)


def useful_map(one: Quasi) -> UInt32s | None:
    """The codes of a quasi-identifier; None where they are those of the table."""
    return None if np.array_equal(one.map, np.arange(one.size)) else one.map
