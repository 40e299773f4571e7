"""`Refusal`: a release that did not leave, and how it could."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nbcfast._core.untyped import Document
from nbcfast.canonical import Limits
from nbcfast.publishing.gate import GateFinding
from nbcfast.reports.summary import Decision, Summary, is_command, worst_state

REFUSED = "DO NOT PUBLISH YET"
NOT_WRITTEN = "nothing was written"
ACCEPT = "Or accept what is marked x or ?: the certificate says that it was accepted."
UNCOUNTED = "NOTHING WAS COUNTED: columns name people"
MEASURED_LATER = "What else shows is measured once that is mended."


def of_people(found: Sequence[str]) -> tuple[GateFinding, ...]:
    """What is said of columns that name people at first sight."""
    return tuple(GateFinding("names people", "shows", text) for text in found)


def of_uncounted(found: Sequence[str], about: str, mends: Decision) -> Summary:
    """A table of which nothing is said before such columns are left out."""
    return Summary(UNCOUNTED, "shows", about, of_people(found), (mends,))


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A release that did not leave: nothing was written.

    Parameters
    ----------
    file : str
        The table,
    class_name : str
        and its class.
    about : str
        What was to be published, and where: "patients.csv, diagnosis -> release".
    unwritten : str
        That nothing was written.
    findings : tuple of GateFinding
        What was looked at; what refuses it first.
    whole : bool
        Whether that is all there is to look at.
    mends : Decision
        What mends it, with the steps; none where no command does.
    others : tuple of Decision
        What mends it otherwise.
    accept : str or None
        The command that publishes all the same; None where a policy does not allow it.
    limits : Limits
    remarks : tuple of str
        What there is to say of the file, which may be the reason.
    """

    file: str
    class_name: str
    about: str
    findings: tuple[GateFinding, ...]
    whole: bool
    mends: Decision
    accept: str | None
    limits: Limits
    remarks: Sequence[str] = ()
    others: tuple[Decision, ...] = ()
    unwritten: str = NOT_WRITTEN

    @property
    def script(self) -> str | None:
        """What mends it, for a shell.

        What a person does between two commands is a comment on a line of its own: nothing runs past it.
        """
        steps = self.mends.steps
        if all(map(is_command, steps)):
            return " && ".join(steps) or None
        return "\n".join(step if is_command(step) else f"# {step}" for step in steps)

    @property
    def summary(self) -> Summary:
        """What shows, what mends it, and how it is published all the same."""
        accepted = () if self.accept is None else (Decision(ACCEPT, (self.accept,)),)
        return Summary(
            verdict=REFUSED,
            state=worst_state(self.findings),
            about=f"{self.about} ({self.unwritten})",
            findings=self.findings,
            decisions=(self.mends, *self.others, *accepted),
            remarks=(*(() if self.whole else (MEASURED_LATER,)), *self.remarks),
        )

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "file": self.file,
            "class": self.class_name,
            "verdict": self.summary.verdict,
            "limits": self.limits.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "accepted": False,
            "refused": True,
            "shows": [finding.text for finding in self.findings if finding.refuses],
            "mend": self.script,
            "accept": self.accept,
            "warnings": list(self.remarks),
            "files": [],
        }
