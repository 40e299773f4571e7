"""Which rows a release has, by the labels of its first and last block, and when one may be made at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nbcfast._core.errors import Infeasible
from nbcfast._core.validation import type_name, whole

Label = str | int
LONGEST = 200  # letters of a label
DIGITS = re.compile(r"[0-9]{1,15}")


class WindowLabels(NamedTuple):
    """The labels of the first and of the last block of rows in a release.

    Labels of a ledger are all numbers, or all texts that sort as their blocks follow each other, such as
    2026-03: blocks of two windows are told apart by them, and their rows are known to be others.
    """

    first: Label
    last: Label

    @classmethod
    def of(cls, given: object) -> WindowLabels | None:
        """What was given for a window: a label, a pair of labels, or ``{"first": .., "last": ..}``.

        Raises
        ------
        TypeError, ValueError
            If it is none of these, or its end comes before its beginning.
        """
        if given is None or isinstance(given, WindowLabels):
            return given
        if isinstance(given, Mapping):
            if set(given) != {"first", "last"}:
                raise ValueError(f"window must have first and last, got {sorted(map(str, given))}")
            given = (given["first"], given["last"])
        ends = given if isinstance(given, tuple) and len(given) == 2 else (given, given)
        first, last = (_label(one) for one in ends)
        if type(first) is not type(last):
            raise ValueError(f"window must have labels of one kind, got {first!r} and {last!r}")
        if last < first:  # type: ignore[operator]
            raise ValueError(f"window must end where it begins or later, got {first!r} to {last!r}")
        return cls(first, last)

    @classmethod
    def parsed(cls, text: str) -> WindowLabels:
        """A window as it is typed: ``2026-03``, or ``2026-01..2026-03``; whole numbers are numbers.

        Examples
        --------
        >>> WindowLabels.parsed("3..12"), WindowLabels.parsed("2026-03").text
        (WindowLabels(first=3, last=12), '2026-03')
        """
        first, dots, last = text.partition("..")
        ends = [int(one) if DIGITS.fullmatch(one) else one for one in (first, last or first)]
        if (dots and not last) or not first:
            raise ValueError(f"window must be LABEL or FIRST..LAST, got {text!r}")
        window = cls.of((ends[0], ends[1]))
        assert window is not None
        return window

    @property
    def text(self) -> str:
        """For people."""
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"

    def to_dict(self) -> dict[str, Label]:
        """As a line has it."""
        return {"first": self.first, "last": self.last}

    def comes_after(self, other: WindowLabels) -> bool:
        """Whether no block is in both, and those of the other come first."""
        self.expect_kind(other)
        return self.first > other.last  # type: ignore[operator]

    def apart_from(self, other: WindowLabels) -> bool:
        """Whether no block is in both."""
        return self.comes_after(other) or other.comes_after(self)

    def expect_kind(self, other: WindowLabels) -> None:
        """Refuse labels of which nobody knows whether they come before those of another window."""
        if type(self.first) is not type(other.first):
            raise ValueError(
                f"window must have labels of one kind in all lines, got {self.first!r} and {other.first!r}"
            )


def _label(given: object) -> Label:
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TypeError(
            f"window must be a label (text or int), or a first and a last, got {type_name(given)}"
        )
    if isinstance(given, int):
        return whole(given, "window", -(2**53), 2**53)
    if not given or len(given) > LONGEST or re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", given):
        raise ValueError(f"window must have labels of 1 to {LONGEST} letters in one line, got {given[:40]!r}")
    return given


@dataclass(frozen=True, kw_only=True)
class LedgerPolicy:
    """When a release may be made at all, decided before anything is computed from its rows.

    Parameters
    ----------
    calendar : bool
        Each release has a window, which ends later than that of the release before: a block is the last of
        one release at most, and nothing that was missed is made up for.
    disjoint : bool
        Each release has a window of its own: each row is in one release.
    new_rows : int, optional
        At least so many rows came since the last release.

    Examples
    --------
    >>> LedgerPolicy.parsed(["disjoint", "new-rows=500"])
    LedgerPolicy(calendar=False, disjoint=True, new_rows=500)
    """

    calendar: bool = False
    disjoint: bool = False
    new_rows: int | None = None

    def __post_init__(self) -> None:
        for name in ("calendar", "disjoint"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be a bool, got {type_name(getattr(self, name))}")
        if self.new_rows is not None:
            whole(self.new_rows, "new_rows", 1)

    @classmethod
    def parsed(cls, words: list[str] | tuple[str, ...]) -> LedgerPolicy:
        """Policies as they are typed: ``calendar``, ``disjoint``, ``new-rows=M``."""
        calendar = disjoint = False
        new_rows = None
        for word in words:
            name, equals, number = word.partition("=")
            if word == "calendar":
                calendar = True
            elif word == "disjoint":
                disjoint = True
            elif name == "new-rows" and equals and DIGITS.fullmatch(number) and int(number) > 0:
                new_rows = int(number)
            else:
                raise ValueError(f"ledger-policy must be calendar, disjoint or new-rows=M, got {word!r}")
        return cls(calendar=calendar, disjoint=disjoint, new_rows=new_rows)

    def expect(self, window: WindowLabels | None, earlier: list[tuple[int, WindowLabels | None]]) -> None:
        """Refuse a window that does not keep the policy; `earlier` are lines with theirs.

        Raises
        ------
        ValueError
            If a policy needs a window, and there is none.
        Infeasible
            If it is not the time.
        """
        if not (self.calendar or self.disjoint):
            return
        kind = "calendar" if self.calendar else "disjoint"
        if window is None:
            raise ValueError(f"policy {kind!r} needs a window, got none")
        for n, other in earlier:
            if other is None:
                raise Infeasible(f"policy {kind!r}: line {n} has no window, and may have any row", {})
            if self.disjoint and not window.apart_from(other):
                raise Infeasible(
                    f"policy 'disjoint': window {window.text} and {other.text} of line {n} share blocks, and "
                    "each row may be in one release",
                    {},
                )
            if self.calendar and not WindowLabels(window.last, window.last).comes_after(
                WindowLabels(other.last, other.last)
            ):
                raise Infeasible(
                    f"policy 'calendar': window {window.text} must end after {other.text} of line {n}", {}
                )

    def expect_new(self, came: int | None, at_least: bool) -> None:
        """Refuse too few new rows, or none that are known; Infeasible."""
        if self.new_rows is not None and came is None:
            raise Infeasible(
                f"policy 'new-rows={self.new_rows}': how many rows came since the last release is not "
                "known, as that is of noisy counts, or this one is, or it is over another domain: policy "
                "'calendar' needs no counts",
                {},
            )
        if self.new_rows is not None and came is not None and came < self.new_rows:
            known = "are known to have come" if at_least else "came"
            raise Infeasible(
                f"policy 'new-rows={self.new_rows}': {came:,} {known} since the last release", {}
            )
