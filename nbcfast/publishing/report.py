"""`Publication`: a release, and all that its publisher should know before it leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._core.errors import Infeasible
from nbcfast._core.untyped import Document
from nbcfast._wire.release_words import ACCEPTED
from nbcfast.canonical import Advice, Leak, Limits
from nbcfast.canonical.leakage import REMEDY
from nbcfast.ledger import LedgerReport
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.publishing.demand import Choice
from nbcfast.publishing.entering import LedgerEntry, saved_beside
from nbcfast.publishing.findings import Adversaries
from nbcfast.publishing.gate import GateFinding, gate_html
from nbcfast.publishing.standing import Standing
from nbcfast.publishing.words import json_integer
from nbcfast.table.values import plain
from nbcfast.verification.load import load

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


class Written(NamedTuple):
    """A file that a publication was written to.

    Attributes
    ----------
    path : str
    bytes : int
    """

    path: str
    bytes: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Written:
        """A file that is there."""
        return cls(os.fspath(path), os.path.getsize(path))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Publication:
    """A release with what it takes to decide whether it may leave.

    What is in `before`, and what `leak` and `adversaries` say of counts recovered and of members, comes from
    the private table and is not meant for publication; the release is.

    Attributes
    ----------
    release : Release
        What leaves, with its certificate.
    class_name : str
        The class column.
    source : str or None
        The path of the private table, where it was read from a file.
    choice : Choice
        The method, and why it is this one.
    before, after : Standing
        Lambda, worst posteriors, rows, log-loss and accuracy of the private counts and of those published;
        before, of the smoothed private counts where these were smoothed, but for the rows.
    limits : Limits
        How much the answers may give away.
    findings : tuple of GateFinding
        What was looked at by these limits, and besides: what shows, or was not measured, first.
    accepted : bool
        Whether the publisher accepts whatever that is; the certificate says so, and nothing of what it is.
    leak : Leak or None
        What the answers give away, whatever publishes them; None where only answers on a list are published,
        or where there are more tuples than can be measured. Of rounded points it is that of the answers
        before.
    adversaries : Adversaries
        What they make of the release.
    log_loss_with_label : float or None
        What preserve="label" would give in place of an order that leaves nothing.
    warnings : tuple of str
        What else the publisher should know: what is said to him alone, then the words of the certificate.
    files : tuple of Written
        Where it was saved; empty until then.
    advice : Advice or None
        How the domain was chosen, where a menu was given; what stands beside the best was not measured.
    entry : LedgerEntry or None
        Where a ledger was given, what will be entered into it: with the private counts.
    """

    release: Release
    class_name: str
    source: str | None
    choice: Choice
    before: Standing
    after: Standing
    limits: Limits
    findings: tuple[GateFinding, ...]
    accepted: bool
    leak: Leak | None
    adversaries: Adversaries
    log_loss_with_label: float | None
    warnings: tuple[str, ...]
    files: tuple[Written, ...] = ()
    advice: Advice | None = None
    entry: LedgerEntry | None = None

    @property
    def ledger(self) -> LedgerReport | None:
        """What the ledger says, where one was given."""
        return None if self.entry is None else self.entry.report

    @property
    def nothing_to_publish(self) -> bool:
        """Whether the ledger's last release has the same answers: then `save` writes nothing."""
        return self.ledger is not None and self.ledger.nothing_to_publish

    @property
    def shows(self) -> tuple[GateFinding, ...]:
        """The findings that keep it from leaving, unless they are accepted."""
        return tuple(finding for finding in self.findings if finding.refuses)

    @property
    def refused(self) -> tuple[GateFinding, ...]:
        """The findings that keep it from leaving: `shows`, and none where they are accepted."""
        return () if self.accepted else self.shows

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Publication:
        """Write the release to a folder, and read and check what was written.

        Nothing but the release is written: what is said of private counts stays here. Nothing is written
        where something is `refused`, or where a ledger was given and there is nothing to publish. With a
        ledger the release is entered before it is written.

        Parameters
        ----------
        path, dataset, overwrite, progress
            As for `Release.save`.

        Returns
        -------
        Publication
            This one, with its files.

        Raises
        ------
        FileExistsError
            If something is there, and `overwrite` does not say that it may be replaced.
        Infeasible
            If something is `refused`: it says what shows, and what can be done.
        ValueError
            If the counts do not have what the certificate claims, or another release was entered into the
            ledger since.
        OSError
            If the folder or file cannot be written.
        """
        expect_kept(self.refused)
        if self.nothing_to_publish:
            return self

        def write() -> tuple[Written, ...]:
            return saved(self.release, path, dataset=dataset, overwrite=overwrite, progress=progress)

        return replace(self, files=saved_beside(self.entry, path, dataset, write))

    def to_dict(self) -> Document:
        """Plain values, those that the command line prints with ``--json``; None for what is not known."""
        made = self.release.certificate
        differing = made.differing_tuples
        near: Document = {}
        if made.r is not None and made.prior is not None:
            classes = self.release.views.classes
            near = {
                "r": quotient(made.r),
                "prior": [
                    {"class": plain(value), "probability": quotient(share)}
                    for value, share in zip(classes, made.prior, strict=True)
                ],
            }
        smoothed: Document = {} if made.smoothing is None else {"smoothing": str(made.smoothing)}
        return {
            "file": self.source,
            "class": self.class_name,
            "amplification": quotient(made.amplification),
            **near,
            "attacker": made.attacker,
            "limit": quotient(made.limit),
            **smoothed,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "method": made.method,
            "why": self.choice.why,
            "preserve": made.preserve,
            "identical": made.equal,
            "equivalence": made.equivalence,
            "tuples": json_integer(made.tuples),
            "differing_tuples": None if differing is None else json_integer(differing),
            "differing_rows": made.differing_rows,
            "log_loss_with_label": self.log_loss_with_label,
            "limits": self.limits.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "accepted": self.accepted,
            "refused": bool(self.refused),
            "shows": [finding.text for finding in self.shows],
            "leak": None if self.leak is None else self.leak.to_dict(),
            "adversaries": self.adversaries.to_dict(),
            **({} if self.ledger is None else {"ledger": self.ledger.to_dict()}),
            "warnings": list(self.warnings),
            "files": [file._asdict() for file in self.files],
        }

    @property
    def minded(self) -> tuple[str, ...]:
        """The warnings of this release alone: what is said of every one is left out."""
        said = {
            *self.release.certificate.notes,
            REMEDY,
            ACCEPTED,
            *(() if self.ledger is None else self.ledger.totals),
        }
        return tuple(text for text in self.warnings if text not in said)

    def _repr_html_(self) -> str:
        return gate_html(
            self.findings, refused=bool(self.refused), shows=bool(self.shows), written=bool(self.files)
        )

    def __repr__(self) -> str:
        n_shown = len(self.shows)
        gate = "limits kept"
        if n_shown:
            gate = f"{n_shown} findings {'accepted' if self.accepted else 'refuse it'}"
        n_minded = len(self.minded) + sum(finding.state == "warned" for finding in self.findings)
        return (
            f"Publication({self.release!r}; Lambda {self.before.lambda_text} before, "
            f"{self.after.lambda_text} after; {gate}; {n_minded} to mind)"
        )


def expect_kept(refused: Sequence[GateFinding]) -> None:
    """Infeasible where something keeps a publication from leaving."""
    if refused:
        shows = "; ".join(f"{finding.about}: {finding.text}" for finding in refused)
        raise Infeasible(
            f"nothing is written, as the limits are not kept: {shows}. Declare coarser domains, or leave "
            "attributes out; accept_answers=True publishes all the same, and the certificate says so",
            {},
        )


def saved(
    release: Release | StratifiedRelease,
    path: str | os.PathLike[str],
    *,
    dataset: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    done: Callable[[list[str]], object] | None = None,
) -> tuple[Written, ...]:
    """Write a release, as of `Release.save`, read and check it; the files.

    `done` is called with their names as soon as they are whole, whatever comes of the check.
    """
    release.save(path, dataset=dataset, overwrite=overwrite, progress=progress)
    files = [os.path.join(os.fsdecode(path), "certificate.json")]
    if dataset is not None:
        files.append(os.fsdecode(dataset))
    if done is not None:
        done(files)
    load(path)
    return tuple(Written(file, os.path.getsize(file)) for file in files)


def quotient(number: Fraction) -> str:
    """A rational as JSON of a publication has it."""
    return f"{number.numerator}/{number.denominator}"
