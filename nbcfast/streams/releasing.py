"""A release of the rows in a window, if it is the time for it, and what is kept of it for the next one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nbcfast._wire.json_entries import digest
from nbcfast.ledger import Ledger, LedgerReport, ReleaseTerms
from nbcfast.published import Release
from nbcfast.published.document import fields_of
from nbcfast.streams.calendars import Calendar, WindowStanding

if TYPE_CHECKING:
    from nbcfast.streams.moving import Moving
    from nbcfast.views import Viewset

Label = str | int
Path = str | os.PathLike[str]


class Saves(Protocol):
    """What a release can do."""

    def save(self, path: Path, overwrite: bool = False) -> object: ...


Made = TypeVar("Made", bound=Saves)


@dataclass(frozen=True, kw_only=True)
class WindowRelease(Generic[Made]):
    """What came of an attempt to publish a window.

    Attributes
    ----------
    release : object or None
        What was made; None where nothing was published.
    why_not : str or None
        Why nothing was.
    first, last : str or int
        Where the first and the last block of the window begin.
    n_rows, n_came, n_left : int
        Rows of the window; those not in the release before; those in that and not in this.
    ledger : LedgerReport or None
        What the release gives away beside all that are in the ledger; it is not for publication.
    """

    release: Made | None
    why_not: str | None
    first: Label
    last: Label
    n_rows: int
    n_came: int
    n_left: int
    ledger: LedgerReport | None = None


@dataclass(frozen=True)
class LastRelease:
    """The blocks of the last release, of which `end` is none, and how many rows each had then."""

    begin: int
    end: int
    n_rows: dict[int, int]


def attempt(
    moving: Moving,
    last: LastRelease | None,
    make: Callable[[Viewset], Made],
    folder: Path | None,
    *,
    begins: Callable[[int], Label],
    calendar: Calendar,
    takes_late_rows: bool,
    overwrite: bool,
    ledger: Ledger | None,
) -> tuple[WindowRelease[Made], LastRelease | None]:
    """See `Window.publish`; also what is the last release from now on."""
    if not isinstance(calendar, Calendar):
        raise TypeError(f"calendar must be Every, AtLeast or Disjoint, got {type(calendar).__name__}")
    end = moving.end
    begin = end - moving.n_closed
    now = {number: block.n_rows for number, block in moving.blocks.items() if begin <= number < end}
    then = {} if last is None else last.n_rows
    came = sum(max(0, n_rows - then.get(number, 0)) for number, n_rows in now.items())
    left = sum(n_rows for number, n_rows in then.items() if number not in now)
    release, why_not, report = None, None, None
    first, last_label = begins(begin), begins(max(begin, end - 1))
    if begin == end:
        why_not = "no block is closed yet"
    else:
        why_not = calendar.why_not(
            WindowStanding(
                begin=begin,
                end=end,
                is_full=moving.n_closed == moving.extent.n_blocks,
                released=None if last is None else (last.begin, last.end),
                came=came,
                left=left,
                takes_late_rows=moving.extent.late_blocks > 0 and takes_late_rows,
            )
        )
    if why_not is None:
        release = make(moving.views)
        if ledger is not None:
            report = _entered(ledger, moving.views, release, (first, last_label), folder, overwrite)
        elif folder is not None:
            release.save(folder, overwrite=overwrite)
        if report is not None and report.same_as is not None:
            release, why_not = (
                None,
                f"it has the answers of line {report.same_as} of the ledger: there is nothing to publish",
            )
        else:
            last = LastRelease(begin, end, now)
    attempted = WindowRelease(
        release=release,
        why_not=why_not,
        first=first,
        last=last_label,
        n_rows=moving.views.n_rows,
        n_came=came,
        n_left=left,
        ledger=report,
    )
    return attempted, last


def _entered(
    ledger: Ledger,
    views: Viewset,
    release: Saves,
    window: tuple[Label, Label],
    folder: Path | None,
    overwrite: bool,
) -> LedgerReport:
    """What a ledger says of a release, which is entered before it is saved, unless it says nothing new."""
    if not isinstance(release, Release):
        raise TypeError(
            f"make must give a Release, such as canonical.release makes, where there is a ledger, got "
            f"{type(release).__name__}"
        )
    terms, sha256 = ReleaseTerms.of(release.certificate), digest(fields_of(release))
    noise = release.certificate.privacy
    # One writer from the question to the entry: nobody else's release comes between them.
    with ledger:
        report = ledger.check(views, window=window, noise=noise, terms=terms, release=sha256)
        if report.same_as is None:
            save = None if folder is None else partial(release.save, folder, overwrite=overwrite)
            ledger.append(
                views,
                sha256,
                folder=folder,
                save=save,
                window=window,
                noise=noise,
                terms=terms,
                after=report,
            )
    return report
