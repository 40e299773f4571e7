"""`LedgerReport`: what a release gives away beside all earlier ones of the same table, for its publisher."""

from __future__ import annotations

from dataclasses import dataclass

from nbcfast._core.untyped import Document
from nbcfast.ledger.joint_trace import JointTrace
from nbcfast.ledger.sign_theorem import RowsMoved, SignShown
from nbcfast.ledger.spent import Spent, sums_text

BESIDE_EARLIER = (
    "What helps: more rows before the next release, windows that share no rows, or noise. The domain stays "
    "that of the ledger."
)
FEW = 20  # rows that came and went, below which each of them is nearly alone between two releases


@dataclass(frozen=True, kw_only=True)
class LedgerReport:
    """What is known of a release that has not left yet, beside those of a ledger.

    All of it is measured on the private table, and nothing of it is for publication.

    Attributes
    ----------
    releases : int
        How many earlier ones count.
    last : int or None
        The line of the last one of them.
    same_as : int or None
        The line of the last release, where there is nothing to publish: it has the same answers, made in the
        same way.
    resumes : int or None
        The line of a release that was to be written, and nobody knows that it was, and that is this one.
    rows : RowsMoved or None
        How many rows came and went since the last release; None of a first one, and where counts are not
        known.
    sign : SignShown or None
        Where it was one row, what answers say of it.
    joint : JointTrace or None
        Who shows in all releases without noise together.
    why_not : str or None
        Why that was not measured.
    counted : int
        How many releases have no noise, this one among them.
    total_bits : float or None
        What the answers of these can say together at most; None where one of them is not made of answers
        alone.
    spent : tuple of Spent
        What releases with noise cost together.
    pending : tuple of int
        Lines of releases that were to be written, and were not found where: they count as released.
    open_to_others : bool
        Whether others may read the ledger, which has the counts of all tables.
    head : str or None
        The sha256 of the line of the last release that was entered, whatever became of it.
    """

    releases: int
    last: int | None
    same_as: int | None
    resumes: int | None
    rows: RowsMoved | None
    sign: SignShown | None
    joint: JointTrace | None
    why_not: str | None
    counted: int
    total_bits: float | None
    spent: tuple[Spent, ...]
    pending: tuple[int, ...]
    open_to_others: bool
    head: str | None

    @property
    def nothing_to_publish(self) -> bool:
        """Whether the last release has these answers already."""
        return self.same_as is not None

    @property
    def few(self) -> bool:
        """Whether fewer than 20 rows, as far as is known, came and went."""
        return self.rows is not None and 0 < self.rows.came + self.rows.went < FEW

    @property
    def moved_text(self) -> str:
        """How many rows came and went, for the publisher; empty where that is not known."""
        if self.rows is None:
            return ""
        text = f"since line {self.last} {self.rows.text}"
        if self.few and self.sign is None and self.same_as is None:
            text += (
                f": fewer than {FEW}, and whoever knows most of them reads off the answers that changed what "
                "they say of the others; wait for more rows"
            )
        return text

    @property
    def why_not_text(self) -> str:
        """Why who shows in all releases was not measured, or what makes it hopeless; empty where it was."""
        if self.why_not is None or self.joint is not None:
            return self.why_not or ""
        return f"who shows in all releases together was not measured: {self.why_not}"

    @property
    def totals(self) -> tuple[str, ...]:
        """Sums over all releases, for the publisher."""
        said = []
        if self.total_bits is not None:
            releases = "1 release" if self.counted == 1 else f"{self.counted:,} releases"
            said.append(f"The answers of {releases} can say {self.total_bits:,.0f} bits in all at most.")
        elif self.counted:
            said.append("No number bounds the bits of all releases: one is not made of answers alone.")
        return (*said, *sums_text(self.spent, self.counted))

    @property
    def care(self) -> tuple[str, ...]:
        """What is not as it should be with the ledger."""
        said = [
            f"line {n} was to be written, and was not found where: it is counted as released"
            for n in self.pending
        ]
        if self.open_to_others:
            said.append("others may read the ledger, which has the counts of all tables: chmod 600")
        return tuple(said)

    @property
    def findings(self) -> tuple[str, ...]:
        """All that there is to say."""
        said = [] if self.same_as is None else [f"nothing to publish: line {self.same_as} has these answers"]
        said += [self.moved_text] if self.rows is not None else []
        said += [self.sign.text] if self.sign is not None else []
        said += [self.joint.class_text, self.joint.presence_text] if self.joint is not None else []
        said += [self.why_not_text] if self.why_not is not None else []
        return (*said, *self.care, *self.totals)

    def to_dict(self) -> Document:
        """Plain values, those that the command line prints with ``--json``."""
        return {
            "releases": self.releases,
            "last": self.last,
            "nothing_to_publish": self.nothing_to_publish,
            "same_as": self.same_as,
            "resumes": self.resumes,
            "rows": None if self.rows is None else self.rows.to_dict(),
            "sign": None if self.sign is None else self.sign.to_dict(),
            "joint": None if self.joint is None else self.joint.to_dict(),
            "why_not": self.why_not,
            "total_bits": self.total_bits,
            "spent": [one.to_dict() for one in self.spent],
            "pending": list(self.pending),
            "open_to_others": self.open_to_others,
            "findings": list(self.findings),
        }
