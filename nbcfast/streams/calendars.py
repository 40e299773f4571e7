"""When the counts of a window are published: on a fixed calendar, after enough rows, or each row once.

A calendar asks what is known of the stream, and says why it is not the time; with a ledger the ledger has the
last word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from nbcfast._core.validation import whole


@dataclass(frozen=True, kw_only=True)
class WindowStanding:
    """What a calendar is told of a window.

    Attributes
    ----------
    begin, end : int
        The closed blocks of the window, the last one excluded.
    is_full : bool
        Whether they are as many as the window holds.
    released : (int, int) or None
        The same of the last release.
    came, left : int
        Rows of the window that were not in the last release, and rows of that which are not in the window.
    takes_late_rows : bool
        Whether rows may still come into closed blocks.
    """

    begin: int
    end: int
    is_full: bool
    released: tuple[int, int] | None
    came: int
    left: int
    takes_late_rows: bool


class Calendar(ABC):
    """Says when something is published."""

    @abstractmethod
    def why_not(self, standing: WindowStanding) -> str | None:
        """Why it is not the time, in a sentence; None if it is."""


@dataclass(frozen=True)
class Every(Calendar):
    """A fixed calendar: whenever so many blocks were closed since the last release, whatever they hold.

    When something is published says nothing of the rows where blocks are of times.

    Parameters
    ----------
    n_blocks : int
    only_full : bool
        Whether to wait at the beginning until the window has all of its blocks.
    """

    n_blocks: int = 1
    only_full: bool = False

    def __post_init__(self) -> None:
        whole(self.n_blocks, "n_blocks", 1)

    def why_not(self, standing: WindowStanding) -> str | None:
        if self.only_full and not standing.is_full:
            return "the window has not all of its blocks yet"
        if standing.released is not None and standing.end - standing.released[1] < self.n_blocks:
            closed = standing.end - standing.released[1]
            return f"{closed} of {self.n_blocks} blocks were closed since the last release"
        return None


@dataclass(frozen=True)
class AtLeast(Calendar):
    """Whenever at least so many rows came since the last release, and none left or at least as many.

    Two releases between which one row came or left may say which one (the guide of the ledger). That
    something is published says that so many rows came.

    Parameters
    ----------
    n_rows : int
    only_full : bool
        As of `Every`.
    """

    n_rows: int
    only_full: bool = False

    def __post_init__(self) -> None:
        whole(self.n_rows, "n_rows", 1)

    def why_not(self, standing: WindowStanding) -> str | None:
        if self.only_full and not standing.is_full:
            return "the window has not all of its blocks yet"
        if standing.came < self.n_rows:
            return f"fewer than {self.n_rows:,} rows came since the last release"
        if 0 < standing.left < self.n_rows:
            return f"some rows left since the last release, and fewer than {self.n_rows:,}"
        return None


@dataclass(frozen=True)
class Disjoint(Calendar):
    """Each row in one release: whenever all blocks of the window were closed since the last release."""

    def why_not(self, standing: WindowStanding) -> str | None:
        if standing.takes_late_rows:
            raise ValueError(
                "calendar: rows that come late into a block that was published would be in no release: make "
                "the window with late_blocks=0, and with open_blocks=2 to wait for them a block longer"
            )
        if not standing.is_full:
            return "the window has not all of its blocks yet"
        if standing.released is not None and standing.begin < standing.released[1]:
            return "some blocks of the window are in the last release"
        return None
