"""`Window`: the counts of the last blocks of a stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from nbcfast._core.validation import whole
from nbcfast.domains import Declared, declared
from nbcfast.ledger import Ledger
from nbcfast.streams import saved
from nbcfast.streams.calendars import Calendar, Every
from nbcfast.streams.declared_counts import DeclaredCounts
from nbcfast.streams.incoming import Incoming, incoming
from nbcfast.streams.moving import Extent, Moving
from nbcfast.streams.numbering import MOST_TICKS, Numbering, numbering, tick_of
from nbcfast.streams.releasing import Label, LastRelease, Made, Path, WindowRelease, attempt

if TYPE_CHECKING:
    from nbcfast._core.dtypes import Longs
    from nbcfast._core.untyped import Document
    from nbcfast._reading.source import AnyTable
    from nbcfast.domains import Declarations
    from nbcfast.table.arrow import ColumnReader
    from nbcfast.views import Viewset

Late = Literal["refuse", "report"]
LATE = ("refuse", "report")

MOST_BLOCKS = 1 << 20  # of a window, each with all counts


@dataclass(frozen=True, kw_only=True)
class Added:
    """What came of rows that were added.

    Attributes
    ----------
    n_rows : int
        Rows that were counted; with weights their sum, as everywhere here.
    n_late : int
        Those of them whose block was closed already: they changed the window.
    n_too_late : int
        Rows that were not counted: their block takes none any more.
    n_closed : int
        Blocks that were closed.
    """

    n_rows: int
    n_late: int
    n_too_late: int
    n_closed: int


class Window:
    """The counts of the last blocks of a stream, moved exactly: the newest is added, the oldest subtracted.

    It keeps one Viewset a block, and no row. Rows are counted into the block that they lie in; a block is
    closed as soon as a newer one begins, and then comes into the window. So what is in the window does not
    depend on how the stream was cut into batches. With one block the window tumbles, with more it slides.

    All domains have to be declared: blocks have different rows, and domains found in rows would differ from
    block to block, and say of each which values it has.

    Parameters
    ----------
    class_name : str
        The column of the classes.
    domains : mapping of name -> values or bins, or path of a JSON file that holds one
        The class and every attribute, as `nbcfast.domains.declared` takes them.
    n_blocks : int
        How many closed blocks the window has.
    rows : int, optional
        Each block has so many rows, in the order they come.
    by : str, optional
        The column of times or integers that says which block a row lies in; it need not be declared.
    width : int, str or timedelta, optional
        Of the blocks of `by`: an integer for integers; "day", "7 days", "month" or a timedelta for dates and
        moments. Moments with a zone are taken in UTC, others as they are.
    origin : int or str, optional
        Where a block begins; by default 0, the year 1970, or for weeks a Monday.
    attributes : iterable of str, optional
        By default all that are declared.
    weights : str, optional
        The column of the weights. Blocks of `rows` rows count rows all the same.
    open_blocks : int
        How many of the newest blocks are still open: 2 waits for late rows a block longer.
    late_blocks : int, optional
        How many closed blocks rows may still be counted into, by default all in the window; 0 for none, so
        that a closed block never changes.
    late : {"refuse", "report"}
        What to do with rows whose block takes none any more: an error, and nothing of what was added is
        counted; or they are not counted, and how many they are is reported. None is dropped silently.
    ahead : int, optional
        How many blocks a row may lie beyond the newest, by default as many as the window has: a clock that
        is wrong by years would empty the window. `move` allows any distance.

    Attributes
    ----------
    views : Viewset
        The counts of the closed blocks in the window.
    open_views : Viewset
        The counts of the blocks that are still open.
    blocks : mapping of int -> Viewset
        By number, rising; one without rows is not there.
    n_rows, n_late, n_too_late : int
        The sums of what `add` has reported.
    label : str, int or None
        That of the last addition: where to go on after a restart.

    Examples
    --------
    >>> window = Window("ill", {"job": ["clerk", "cook"], "ill": ["no", "yes"]}, by="day", width=7)
    >>> added = window.add({"day": [1, 6, 8], "job": ["cook", "cook", "clerk"], "ill": ["no", "yes", "no"]})
    >>> added.n_closed, window.views.counts["job"].tolist()
    (1, [[0, 0], [1, 1]])
    >>> window
    Window(1 of 1 closed blocks from 0, 2 rows; 1 row in open blocks)
    """

    def __init__(
        self,
        class_name: str,
        domains: Declarations | Declared,
        *,
        n_blocks: int = 1,
        rows: int | None = None,
        by: str | None = None,
        width: object = None,
        origin: object = None,
        attributes: Iterable[str] | None = None,
        weights: str | None = None,
        open_blocks: int = 1,
        late_blocks: int | None = None,
        late: Late = "refuse",
        ahead: int | None = None,
    ) -> None:
        whole(n_blocks, "n_blocks", 1, MOST_BLOCKS)
        whole(open_blocks, "open_blocks", 1, MOST_BLOCKS)
        if (rows is None) == (by is None) or (by is None) != (width is None):
            raise ValueError(
                "a window has blocks of so many rows, or of a column of times or integers and a width: give "
                f"rows, or by and width; got rows={rows!r}, by={by!r}, width={width!r}"
            )
        if rows is not None:
            whole(rows, "rows", 1, 1 << 60)
            if origin is not None or open_blocks != 1 or late_blocks not in (None, 0) or ahead is not None:
                raise ValueError(
                    "origin, open_blocks, late_blocks and ahead belong to blocks of times: where blocks are "
                    "of so many rows none comes late"
                )
        for name, column in (("class_name", class_name), ("by", by), ("weights", weights)):
            if not isinstance(column, str) and (column is not None or name == "class_name"):
                raise TypeError(f"{name} must be the name of a column, got {column!r}")
        late_blocks = n_blocks if late_blocks is None else whole(late_blocks, "late_blocks", 0, n_blocks)
        self._rows, self._by = rows, by
        self._numbering: Numbering | None = None if rows is not None else numbering(width, origin)
        if late not in LATE:
            raise ValueError(f"late must be 'refuse' or 'report', got {late!r}")
        self._weights, self._late = weights, late
        self._ahead = n_blocks if ahead is None else whole(ahead, "ahead", 1)
        self._counts = DeclaredCounts(declared(domains), class_name, attributes, weighted=weights is not None)
        if weights is not None and weights in (*self._counts.names, by):
            raise ValueError(f"weights: {weights!r} is the class, an attribute or the column of `by` as well")
        none = self._counts.none()
        self._moving = Moving(Extent(n_blocks, open_blocks, late_blocks), none, none)
        self._release: LastRelease | None = None
        self._readers: dict[str, ColumnReader] = {}

    @property
    def class_name(self) -> str:
        return self._counts.class_name

    @property
    def attributes(self) -> tuple[str, ...]:
        return self._counts.names[:-1]

    @property
    def views(self) -> Viewset:
        """The counts of the closed blocks in the window."""
        return self._moving.views

    @property
    def open_views(self) -> Viewset:
        """The counts of the blocks that are still open."""
        moving = self._moving
        total = moving.none
        for number, block in moving.blocks.items():
            if number >= moving.end:
                total = total + block
        return total

    @property
    def blocks(self) -> Mapping[int, Viewset]:
        """The viewsets of the blocks, closed and open ones, by number."""
        return MappingProxyType(dict(sorted(self._moving.blocks.items())))

    @property
    def is_full(self) -> bool:
        """Whether the window has all of its blocks, of which some may be without rows."""
        return self._moving.n_closed == self._moving.extent.n_blocks

    @property
    def n_rows(self) -> int:
        """All rows that were counted, those of blocks that have left as well."""
        return self._moving.n_rows

    @property
    def n_late(self) -> int:
        """Those of them that came into a closed block."""
        return self._moving.n_late

    @property
    def n_too_late(self) -> int:
        """Rows that were not counted."""
        return self._moving.n_too_late

    @property
    def label(self) -> Label | None:
        """That of the last addition that had one."""
        return self._moving.label

    def begins(self, block: int) -> Label:
        """Where a block begins: a date or moment, an integer of `by`, or the number of its first row.

        Examples
        --------
        >>> Window("ill", {"ill": ["no", "yes"]}, by="day", width="month").begins(672)
        '2026-01-01'
        """
        whole(block, "block")
        return block * (self._rows or 1) if self._numbering is None else self._numbering.begins(block)

    def add(self, table: AnyTable, *, label: Label | None = None, threads: int | None = None) -> Added:
        """Count rows, and move the window on where they are newer than it; all of them or none.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a Frame of an engine, a mapping of column names to values, anything with
            ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
            ..). A record batch is one of these. Columns that are not named are not read.
        label : str or int, optional
            Where in the stream these rows end. It is saved with the counts.
        threads : int, optional
            As for `nbcfast.count`.

        Raises
        ------
        ValueError
            If a column is missing, a value was not declared, a row has no time, lies too far ahead, or comes
            too late. Nothing is counted then.
        """
        _check_label(label)
        moving, before, n_closed = self._moving.copy(), self._moving, 0
        for part in self._incoming(table):
            placed = self._counts.placed(part.columns, part.texts)
            if part.ticks is not None and part.ticks.zoned is not None:
                moving.zoned = self._same_zone(moving.zoned, part.ticks.zoned)
            # What comes late is late after what came before this batch: the order of its rows says nothing.
            oldest = None if moving.newest is None else moving.oldest_for_rows
            for number, rows, size in self._by_block(part, moving.n_read):
                too_late = oldest is not None and number < oldest
                if too_late and self._late == "refuse":
                    raise self._too_late(number, size, moving)
                if not too_late:
                    n_closed += self._advance(moving, number)
                # Rows that come too late have to be rows that could have been counted all the same.
                views = placed.views(rows, size, part.weights, threads)
                if too_late:
                    moving.n_too_late += views.n_rows
                else:
                    moving.add(number, views)
            moving.n_read += part.n_rows
            if self._rows is not None:
                n_closed += moving.advance(moving.n_read // self._rows)  # a block that is full is closed
        moving.label = moving.label if label is None else label
        self._moving = moving  # in one step: whoever interrupts this has all of it or nothing
        return Added(
            n_rows=moving.n_rows - before.n_rows,
            n_late=moving.n_late - before.n_late,
            n_too_late=moving.n_too_late - before.n_too_late,
            n_closed=n_closed,
        )

    def move(self, to: str | int) -> Added:
        """Say that this time has come: no row of an earlier block is to be waited for.

        Parameters
        ----------
        to : str or int
            A date or moment, or an integer, of which the block is the newest from now on.
        """
        if self._numbering is None:
            raise ValueError("move: blocks of so many rows move with their rows alone")
        moving = self._moving.copy()
        if self._numbering.of_times:
            tick, zoned = tick_of(to, "to")
            moving.zoned = self._same_zone(moving.zoned, zoned)
        else:
            tick = whole(to, "to", -MOST_TICKS, MOST_TICKS)
        newest = self._numbering.block(tick)
        n_closed = moving.advance(newest)
        self._moving = moving
        return Added(n_rows=0, n_late=0, n_too_late=0, n_closed=n_closed)

    def publish(
        self,
        make: Callable[[Viewset], Made],
        folder: Path | None = None,
        *,
        calendar: Calendar | None = None,
        overwrite: bool = False,
        ledger: Ledger | Path | None = None,
    ) -> WindowRelease[Made]:
        """Make a release of the closed blocks in the window, if it is the time for it.

        Parameters
        ----------
        make : callable
            Called with `views`: ``lambda views: canonical.release(views, 4, class_name="ill")``.
        folder : path, optional
            Where the release is saved.
        calendar : Every, AtLeast or Disjoint, optional
            By default `Every()`: at most once for the same last block.
        overwrite : bool
            As for `save` of the release.
        ledger : Ledger or path, optional
            Where the releases of this stream are entered, each before it is saved: what would say no more
            than the last one is not published, and one over another domain, or made in another way, is
            refused. Windows are entered by where their first and last block begin.

        Returns
        -------
        WindowRelease
            Without a release, and with the reason, where it is not the time.

        Raises
        ------
        Infeasible, ValueError
            As `make` does. The release then counts as never made.
        """
        attempted, release = attempt(
            self._moving,
            self._release,
            make,
            folder,
            begins=self.begins,
            calendar=Every() if calendar is None else calendar,
            takes_late_rows=self._rows is None,
            overwrite=overwrite,
            ledger=ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger),
        )
        self._release = release
        return attempted

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the window to a file, whole or not at all: `load` goes on from there.

        The file holds all counts, and is as private as the rows: only its owner can read it.

        Parameters
        ----------
        path : path
            Of the file.
        overwrite : bool
            Whether to replace the file, as a pipeline does after each batch. The old one stands until the new
            one is complete.
        """
        saved.write(path, self.to_dict(), overwrite=overwrite)

    @classmethod
    def load(cls, path: Path) -> Window:
        """The window that was saved in a file.

        Raises
        ------
        ValueError
            If the file is not as it was written.
        """
        return cls.from_dict(saved.read(path), os.fsdecode(path))

    def to_dict(self) -> Document:
        """The window as plain values, with all counts."""
        moving, extent = self._moving, self._moving.extent
        kept, last = self._numbering, self._release
        return {
            "format": saved.FORMAT,
            "class_name": self.class_name,
            "attributes": list(self.attributes),
            "domains": {name: dict(option.entry) for name, option in self._counts.options.items()},
            "weights": self._weights,
            "rows": self._rows,
            "by": self._by,
            "numbering": None if kept is None else [kept.unit, kept.width, kept.origin],
            "extent": [extent.n_blocks, extent.open_blocks, extent.late_blocks],
            "late": self._late,
            "ahead": self._ahead,
            "label": moving.label,
            "zoned": moving.zoned,
            "n_rows": [moving.n_rows, moving.n_late, moving.n_too_late, moving.n_read],
            "first": moving.first,
            "newest": moving.newest,
            "released": None if last is None else [last.begin, last.end],
            "in_release": [] if last is None else [list(pair) for pair in sorted(last.n_rows.items())],
            "blocks": [[number, saved.counts_of(block)] for number, block in self.blocks.items()],
        }

    @classmethod
    def from_dict(cls, document: Document, where: str = "document") -> Window:
        """The window that `to_dict` gave as plain values."""
        state = saved.checked(document, where)
        window = cls(
            state.class_name,
            Declared(state.options),
            n_blocks=state.extent.n_blocks,
            rows=state.rows,
            by=state.by,
            width=None if state.rows is not None else 1,
            attributes=state.attributes,
            weights=state.weights,
            open_blocks=state.extent.open_blocks,
            late_blocks=None if state.rows is not None else state.extent.late_blocks,
            late=state.late,
            ahead=None if state.rows is not None else state.ahead,
        )
        moving = window._moving
        for number, (class_counts, counts) in state.blocks.items():
            moving.blocks[number] = saved.block_of(
                window._counts, class_counts, counts, f"{where}: block {number}"
            )
        window._numbering = state.numbering
        moving.first, moving.newest = state.first, state.newest
        moving.n_rows, moving.n_late, moving.n_too_late, moving.n_read = state.n_rows
        for number, block in moving.blocks.items():
            if not moving.begin <= number <= (moving.newest if moving.newest is not None else number - 1):
                raise ValueError(f"{where}: block {number} lies outside the window")
            if number < moving.end:
                moving.views = moving.views + block
        moving.zoned, moving.label = state.zoned, state.label
        if state.released is not None:
            window._release = LastRelease(*state.released, state.in_release)
        return window

    def __reduce__(self) -> tuple[object, ...]:
        return Window.from_dict, (self.to_dict(),)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Window) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        moving = self._moving
        n_open = self.open_views.n_rows
        late = f"; {moving.n_too_late:,} too late and not counted" if moving.n_too_late else ""
        since = f" from {self.begins(moving.end - moving.n_closed)}" if moving.n_closed else ""
        return (
            f"Window({moving.n_closed} of {moving.extent.n_blocks} closed blocks{since}, "
            f"{_rows(moving.views.n_rows)}; {_rows(n_open)} in open blocks{late})"
        )

    def _incoming(self, table: AnyTable) -> Iterator[Incoming]:
        return incoming(table, self._counts.names, self._weights, self._by, self._numbering, self._readers)

    def _same_zone(self, known: bool | None, zoned: bool) -> bool:
        if known is not None and known != zoned:
            had, came = ("a zone", "none") if known else ("no zone", "one")
            raise ValueError(f"column {self._by!r}: times had {had} before, and now have {came}")
        return zoned

    def _by_block(self, part: Incoming, n_counted: int) -> Iterable[tuple[int, slice | Longs, int]]:
        """The rows of a batch block by block, in rising order: (number, rows, how many)."""
        if self._rows is not None:
            start = 0
            while start < part.n_rows:
                number, inside = divmod(n_counted + start, self._rows)
                stop = min(part.n_rows, start + self._rows - inside)
                yield number, slice(start, stop), stop - start
                start = stop
            return
        assert self._numbering is not None
        assert part.ticks is not None
        number = self._numbering.block(part.ticks.least)
        if number == self._numbering.block(part.ticks.most):  # as of most batches: no row is divided
            yield number, slice(0, part.n_rows), part.n_rows
            return
        numbers = self._numbering.blocks(part.ticks.all())
        order = np.argsort(numbers, kind="stable")
        bounds = np.flatnonzero(np.diff(numbers[order])) + 1
        for rows in np.split(order, bounds):
            yield int(numbers[rows[0]]), rows, len(rows)

    def _advance(self, moving: Moving, number: int) -> int:
        newest = moving.newest
        if self._rows is None and newest is not None and number - newest > self._ahead:
            raise ValueError(
                f"column {self._by!r}: a row lies {number - newest:,} blocks ahead, in the block that begins "
                f"at {self.begins(number)}, and ahead={self._ahead}: nothing of this is counted; if the "
                "time is right, move(to=..) goes there"
            )
        return moving.advance(number)

    def _too_late(self, number: int, n_rows: int, moving: Moving) -> ValueError:
        return ValueError(
            f"column {self._by!r}: {_rows(n_rows)} came too late, of the block that begins at "
            f"{self.begins(number)}, and blocks before {self.begins(moving.oldest_for_rows)} take none any "
            "more: nothing of this is counted; late='report' counts the others"
        )


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"


def _check_label(label: object) -> None:
    if label is not None and (isinstance(label, bool) or not isinstance(label, (str, int))):
        raise TypeError(f"label must be a str or an int, got {type(label).__name__}")
