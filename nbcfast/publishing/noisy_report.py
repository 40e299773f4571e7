"""`NoisyPublication`: a release of noisy counts, and what its publisher should know before it leaves."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._core.numbers import ratio_text
from nbcfast._core.untyped import Document
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, findings
from nbcfast.attack import Membership
from nbcfast.dp import Agreement
from nbcfast.ledger import LedgerReport
from nbcfast.published.noised import privacy_json
from nbcfast.published.release import Release
from nbcfast.publishing.demand import Choice
from nbcfast.publishing.entering import LedgerEntry, saved_beside
from nbcfast.publishing.one_answer import OneAnswer
from nbcfast.publishing.report import Written, quotient, saved
from nbcfast.publishing.words import json_integer
from nbcfast.table.values import plain
from nbcfast.views.noise import Noise
from nbcfast.views.quality import Quality

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

FEW_ROWS = 1_000  # of which noise that hides one leaves little
OFTEN = Fraction(9, 10)  # of the answers, below which the classifier is hardly the same
MOST_PEOPLE = Fraction(1, 10)  # who may be published as they are, by what delta allows
NO_LIMITS = (
    "Limits on what answers give away do not apply, and the leak meter is not read: these are the answers of "
    "noisy counts, and the noise bounds what they tell of anybody."
)
HUNDREDS = (
    "Of hundreds of rows noise that hides one of them leaves little: such a classifier is often no better "
    "than one that always says the same."
)
ANOTHER = "More than one answer in ten is to be expected to be another than that of the exact classifier."


class OwnersFigures(NamedTuple):
    """What is computed from the private table, and is not for publication: no noise hides it.

    Attributes
    ----------
    rows : int
    agreement : Agreement or None
        How often noise of this kind leaves the class as it was; None of no rows, as the next two.
    exact, published : Quality or None
        What the exact classifier and the release are worth on the private table.
    membership : Membership or None
        Whether its rows can be told from others, where some were held out.
    worth : OneAnswer or None
        Whether the release is right more often than one answer for everybody.
    """

    rows: int
    agreement: Agreement | None
    exact: Quality | None
    published: Quality | None
    membership: Membership | None
    worth: OneAnswer | None = None

    @property
    def warnings(self) -> list[str]:
        """What to think of before publishing."""
        said = [HUNDREDS] if self.rows < FEW_ROWS else []
        if self.worth is not None and self.worth.is_worthless:
            said.append(f"one answer: {self.worth.text}")
        if self.agreement is not None and self.agreement.expected < OFTEN:
            said.append(ANOTHER)
        if self.agreement is not None and self.agreement.noise.delta * self.rows >= MOST_PEOPLE:
            delta = ratio_text(self.agreement.noise.delta, 0)
            said.append(
                f"A delta of {delta} allows of {self.rows:,} rows that some are published as they are: it "
                "has to be far below one in their number."
            )
        return said

    def to_dict(self) -> Document:
        """Plain values; None for what there is not."""
        agreed = self.agreement
        return {
            "rows": json_integer(self.rows),
            "agreement": None
            if agreed is None
            else {
                "expected": float(agreed.expected),
                "deviation": agreed.deviation,
                "runs": len(agreed.shares),
            },
            "accuracy": None if self.exact is None else self.exact.accuracy,
            "log_loss": None if self.exact is None else plain(self.exact.log_loss),
            "accuracy_published": None if self.published is None else self.published.accuracy,
            "log_loss_published": None if self.published is None else plain(self.published.log_loss),
            "membership": None if self.membership is None else self.membership.to_dict(),
            "warnings": self.warnings,
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NoisyPublication:
    """A release made of counts with noise: differentially private, as far as its coins were secret.

    Attributes
    ----------
    release : Release
        What leaves, with its certificate: a function of noisy counts and of public facts.
    class_name : str
        The class column.
    source : str or None
        The path of the private table, where it was read from a file.
    choice : Choice
        The method, and why it is this one: by public facts alone.
    noise : Noise
        What was added to every count.
    owners : OwnersFigures
        What is computed from the private table. Not for publication.
    warnings : tuple of str
        What else the publisher should know: what is said to him alone, then the words of the certificate.
    files : tuple of Written
        Where it was saved; empty until then.
    entry : LedgerEntry or None
        Where a ledger was given, what will be entered into it: the noise, and no counts.
    """

    release: Release
    class_name: str
    source: str | None
    choice: Choice
    noise: Noise
    owners: OwnersFigures
    warnings: tuple[str, ...]
    files: tuple[Written, ...] = ()
    entry: LedgerEntry | None = None

    @property
    def ledger(self) -> LedgerReport | None:
        """What the ledger says, where one was given."""
        return None if self.entry is None else self.entry.report

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        dataset: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> NoisyPublication:
        """Write the release to a folder, and read and check what was written; as `Publication.save`.

        Parameters
        ----------
        path, dataset, overwrite, progress
            As for `Release.save`.

        Returns
        -------
        NoisyPublication
            This one, with its files.

        Raises
        ------
        FileExistsError, ValueError, OSError
            As `Publication.save`.
        """

        def write() -> tuple[Written, ...]:
            return saved(self.release, path, dataset=dataset, overwrite=overwrite, progress=progress)

        return replace(self, files=saved_beside(self.entry, path, dataset, write))

    def to_dict(self) -> Document:
        """Plain values, those that the command line prints with ``--json``; None for what is not known."""
        made = self.release.certificate
        differing = made.differing_tuples
        return {
            "file": self.source,
            "class": self.class_name,
            "amplification": quotient(made.amplification),
            "attacker": made.attacker,
            "limit": quotient(made.limit),
            "privacy": privacy_json(self.noise),
            "method": made.method,
            "why": self.choice.why,
            "preserve": made.preserve,
            "identical": made.equal,
            "equivalence": made.equivalence,
            "tuples": json_integer(made.tuples),
            "differing_tuples": None if differing is None else json_integer(differing),
            "not_for_publication": self.owners.to_dict(),
            **({} if self.ledger is None else {"ledger": self.ledger.to_dict()}),
            "warnings": [NO_LIMITS, *self.warnings],
            "files": [file._asdict() for file in self.files],
        }

    @property
    def minded(self) -> tuple[str, ...]:
        """The warnings of this release alone, those for its owner last, without what is said of every one."""
        said = {*self.release.certificate.notes}
        return (*(text for text in self.warnings if text not in said), *self.owners.warnings)

    def _repr_html_(self) -> str:
        found: list[tuple[State, str, str]] = [("warned", "mind this", text) for text in self.minded]
        verdict = f"{'' if self.files else 'would be '}published with noise of {self.noise.level}"
        listed = findings([*found, ("kept", "noise", self.noise.text)])
        return result("warned" if found else "kept", verdict, listed, private=True)

    def __repr__(self) -> str:
        return f"NoisyPublication({self.release!r}; {len(self.minded)} to mind)"
