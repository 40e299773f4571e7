"""The counts of a window: one viewset a block, and the sum of those that are closed, moved exactly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nbcfast.views import Viewset


@dataclass(frozen=True)
class Extent:
    """How many blocks a window holds.

    Attributes
    ----------
    n_blocks : int
        Closed blocks in the window.
    open_blocks : int
        The newest ones, which are still filling and are not in the window yet.
    late_blocks : int
        Closed blocks that rows may still be counted into.
    """

    n_blocks: int
    open_blocks: int
    late_blocks: int


@dataclass
class Moving:
    """What a window holds at one moment. Viewsets do not change, so that a copy shares them.

    Attributes
    ----------
    extent : Extent
    none : Viewset
        The counts of no rows.
    views : Viewset
        The sum of the closed blocks in the window.
    blocks : dict of int -> Viewset
        The closed blocks in the window and the open ones; one without rows is not there.
    first, newest : int or None
        The first block that there ever was, and the newest one; None before the first row.
    n_rows, n_late, n_too_late : int
        Rows that were counted, with those of blocks that have left; those of them that came into a closed
        block; and rows that were not counted.
    n_read : int
        The rows that were counted, whatever their weights.
    zoned : bool or None
        Whether times have had a zone.
    label : str, int or None
        Where in the stream this is.
    """

    extent: Extent
    none: Viewset
    views: Viewset
    blocks: dict[int, Viewset] = field(default_factory=dict)
    first: int | None = None
    newest: int | None = None
    n_rows: int = 0
    n_late: int = 0
    n_too_late: int = 0
    n_read: int = 0
    zoned: bool | None = None
    label: str | int | None = None

    def copy(self) -> Moving:
        """The same, which moves on its own."""
        return replace(self, blocks=dict(self.blocks))

    @property
    def end(self) -> int:
        """The oldest block that is not closed; 0 before the first row."""
        return 0 if self.newest is None else self.newest - self.extent.open_blocks + 1

    @property
    def begin(self) -> int:
        """The first block of a window that has all of its blocks."""
        return self.end - self.extent.n_blocks

    @property
    def n_closed(self) -> int:
        """How many closed blocks the window has, those without rows too, from the first there ever was."""
        return 0 if self.first is None else max(0, min(self.extent.n_blocks, self.end - self.first))

    @property
    def oldest_for_rows(self) -> int:
        """The oldest block that rows may still be counted into, once there was one."""
        return self.end - self.extent.late_blocks

    def advance(self, newest: int) -> int:
        """Let a block be the newest one, and say how many were closed by that."""
        if self.newest is None or self.first is None:
            self.first = self.newest = newest
            return 0
        if newest <= self.newest:
            return 0
        before = self.end
        self.newest = newest
        for number in sorted(self.blocks):
            if number >= self.end:
                break
            block = self.blocks[number]
            # A block that is closed and leaves in the same move was never part of the sum.
            if number >= self.begin:
                if number >= before:
                    self.views = self.views + block
                continue
            if number < before:
                self.views = self.views - block
            del self.blocks[number]
        return max(0, self.end - max(before, self.first))

    def add(self, number: int, views: Viewset) -> bool:
        """Count rows into a block that takes them, and say whether it is closed."""
        assert self.first is not None
        known = self.blocks.get(number)
        self.blocks[number] = views if known is None else known + views
        self.n_rows += views.n_rows
        self.first = min(self.first, number)
        if number >= self.end:
            return False
        self.views = self.views + views
        self.n_late += views.n_rows
        return True
