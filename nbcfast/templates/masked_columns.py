"""`MaskedColumn`: a column that may be suppressed, and what of it is released.

What is masked, and how intervals are cut: docs/mathematics/templates.md, sections 1 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import exact
from nbcfast.table import SUPPRESSED, Column, Domain, Interval, Table
from nbcfast.table.encode import recode, used_values
from nbcfast.table.values import Value


@dataclass(frozen=True)
class MaskedColumn:
    """A column that may be suppressed. Its values are known by codes: their numbers among those that occur.

    Attributes
    ----------
    name : str
    column : Column
    continuous : bool
        Whether it is released as intervals.
    positions : ndarray of int64
        Those, in the domain, of the values that occur: in the order of the domain, or rising for a continuous
        column.
    code_of : ndarray of int64
        For each position in the domain its code.
    """

    name: str
    column: Column
    continuous: bool
    positions: Longs
    code_of: Longs

    @classmethod
    def of(cls, table: Table, name: str, continuous: bool) -> MaskedColumn:
        """A column of a table; ValueError where it cannot be suppressed, or not be cut."""
        column = table.column(name)
        domain = column.domain
        if SUPPRESSED in domain.tail:
            raise ValueError(f"table: column {name!r} holds SUPPRESSED already, and is to be suppressed")
        positions = np.flatnonzero(used_values(column.codes, len(domain)))
        if continuous:
            if domain.kind not in ("int", "float"):
                raise ValueError(f"continuous: expected a column of numbers, {name!r} holds {domain.kind}")
            if None in domain.tail and (positions == len(domain) - 1).any():
                raise ValueError(f"continuous: column {name!r} has nulls: drop them, or leave it categorical")
            numbers = domain.numbers[positions]
            if domain.kind == "float" and not np.isfinite(numbers).all():
                raise ValueError(f"continuous: column {name!r} has numbers that are not finite")
            positions = positions[np.argsort(numbers, kind="stable")]
        code_of = np.zeros(len(domain), np.int64)
        code_of[positions] = np.arange(len(positions))
        return cls(name, column, continuous, positions, code_of)

    @property
    def most_steps(self) -> int:
        """How many values can be disclosed, or how often the column can be cut."""
        return len(self.positions) - self.continuous

    def value(self, code: int) -> Value | Fraction:
        """The value with this code, or the number of a cut as intervals hold it."""
        value = self.column.domain.values[self.positions[code]]
        return exact(value, "cut") if self.continuous else value

    def released(self, disclosed: list[int]) -> Column:
        """The column once the values with these codes are disclosed, or the column cut there."""
        return self._in_intervals(disclosed) if self.continuous else self._suppressed(disclosed)

    def _in_intervals(self, disclosed: list[int]) -> Column:
        """The column cut below each of these values."""
        cuts = sorted(disclosed)
        numbers = [exact(self.column.domain.values[self.positions[cut]], "cut") for cut in cuts]
        intervals: list[Value] = [Interval(low, high) for low, high in pairwise([None, *numbers, None])]
        released = Domain("interval", intervals, (), False)
        intervals_of = np.searchsorted(np.array(cuts, np.int64), self.code_of, side="right")
        return Column(recode(self.column.codes, intervals_of, len(released)), released)

    def _suppressed(self, disclosed: list[int]) -> Column:
        """The column with SUPPRESSED in place of all other values than these."""
        domain = self.column.domain
        shown = np.sort(self.positions[np.array(disclosed, np.int64)])
        kept = domain.subset(shown)
        # A domain is what occurs: none is left that is declared, and SUPPRESSED only where some row has it.
        everything = len(shown) == len(self.positions)
        released = Domain(kept.kind, kept.head, kept.tail if everything else (*kept.tail, SUPPRESSED), False)
        released_code_of = np.full(len(domain), 0 if everything else len(shown), np.int64)
        released_code_of[shown] = np.arange(len(shown))
        return Column(recode(self.column.codes, released_code_of, len(released)), released)

    def withheld(self, disclosed: list[int]) -> dict[int, Value]:
        """The values that are not disclosed, by their codes."""
        values = self.column.domain.values
        withheld = np.delete(np.arange(len(self.positions)), np.array(disclosed, np.int64))
        return {code: values[self.positions[code]] for code in withheld.tolist()}
