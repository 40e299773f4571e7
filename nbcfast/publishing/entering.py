"""A release and the ledger of its table: looked at beside all earlier ones, and entered before it leaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nbcfast._core.errors import expect
from nbcfast._core.spelling import Arguments
from nbcfast._wire.json_entries import digest
from nbcfast.ledger import Ledger, LedgerPolicy, LedgerReport, ReleaseTerms, WindowLabels
from nbcfast.ledger.spent import AnyNoise
from nbcfast.published.document import fields_of
from nbcfast.published.release import Release
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast.publishing.prepared import Prepared

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LedgerAsked:
    """A ledger, and what a release is to be in it.

    Parameters
    ----------
    ledger : Ledger
    window : WindowLabels or None
        The labels of its rows.
    policy : LedgerPolicy or None
        When a release may be made.
    """

    ledger: Ledger
    window: WindowLabels | None = None
    policy: LedgerPolicy | None = None

    @classmethod
    def of(
        cls,
        ledger: Ledger | str | os.PathLike[str] | None,
        window: object,
        policy: LedgerPolicy | None,
        words: Arguments,
    ) -> LedgerAsked | None:
        """What the arguments of a caller say; ValueError or TypeError where they do not go together."""
        if ledger is None:
            for name, given in (("window", window), ("ledger_policy", policy)):
                if given is not None:
                    raise ValueError(f"{words.named(name)} goes with {words.named('ledger')}, got none")
            return None
        if policy is not None:
            expect(policy, LedgerPolicy, words.named("ledger_policy"))
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        return cls(ledger=book, window=WindowLabels.of(window), policy=policy)

    def entry(self, prepared: Prepared, release: Release, noise: AnyNoise | None = None) -> LedgerEntry:
        """What the ledger says of a release that was just made.

        Raises
        ------
        Infeasible
            If it may not stand beside those that are in the ledger, or it is not the time.
        LedgerError, OSError
            If the ledger is none, or cannot be read.
        """
        terms = ReleaseTerms.of(release.certificate)
        sha256 = digest(fields_of(release))
        with prepared.caller.stages("reading the ledger") as progress:
            report = self.ledger.check(
                prepared.views,
                table=prepared.table,
                class_name=prepared.class_name,
                window=self.window,
                noise=noise,
                terms=terms,
                policy=self.policy,
                release=sha256,
                progress=progress,
            )
        return LedgerEntry(
            asked=self, views=prepared.views, terms=terms, sha256=sha256, noise=noise, report=report
        )


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """A release that is entered when it is saved, with what was found beside all earlier ones.

    Parameters
    ----------
    asked : LedgerAsked
    views : Viewset
        The private counts, which the ledger keeps; or noisy ones, of which it keeps none.
    terms : ReleaseTerms
    sha256 : str
        Of the certificate.
    noise : Noise or None
    report : LedgerReport
    """

    asked: LedgerAsked
    views: Viewset
    terms: ReleaseTerms
    sha256: str
    noise: AnyNoise | None
    report: LedgerReport

    def save(
        self,
        folder: str | os.PathLike[str],
        dataset: str | os.PathLike[str] | None,
        write: Callable[[], T],
    ) -> T:
        """Enter the release, and write it.

        Raises
        ------
        ValueError
            If the ledger would be in what is published, or has another release since it was looked at.
        """
        path = self.asked.ledger.path
        expect_outside(path, folder, dataset)
        written: list[T] = []
        self.asked.ledger.append(
            self.views,
            self.sha256,
            folder=folder,
            save=lambda: written.append(write()),
            window=self.asked.window,
            noise=self.noise,
            terms=self.terms,
            after=self.report,
        )
        return written[0]


def saved_beside(
    entry: LedgerEntry | None,
    folder: str | os.PathLike[str],
    dataset: str | os.PathLike[str] | None,
    write: Callable[[], T],
) -> T:
    """Write a release, which is entered first where there is a ledger."""
    return write() if entry is None else entry.save(folder, dataset, write)


def expect_outside(
    ledger: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    dataset: str | os.PathLike[str] | None = None,
    words: tuple[str, str, str] = ("ledger", "path", "dataset"),
) -> None:
    """Refuse a ledger among what is published: it has the private counts of all releases."""
    place, out = os.path.realpath(ledger), os.path.realpath(folder)
    if Path(place).is_relative_to(out):
        raise ValueError(
            f"{words[0]} must not be in {os.fsdecode(folder)!r}, the folder of {words[1]}: it has private "
            f"counts, and that folder is published; got {os.fsdecode(ledger)!r}"
        )
    if dataset is not None and os.path.realpath(dataset) == place:
        raise ValueError(f"{words[0]} and {words[2]} must be two files, got {os.fsdecode(ledger)!r} for both")
