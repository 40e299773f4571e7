"""`Summary`: a verdict in one sentence, what was looked at, and what to decide."""

from __future__ import annotations

from dataclasses import dataclass

from nbcfast._core.untyped import Document
from nbcfast.publishing.gate import STATES, GateFinding, State, sorted_findings

# What stands before a finding: it is read where there are no colours, and no letters but those of ASCII.
MARKS: dict[State, str] = {"shows": "x", "unmeasured": "?", "warned": "!", "kept": "ok"}
ABOUT_ONE = "about one person"  # the finding that says an epsilon in words
# Wherever another release of the same rows is proposed.
_ADDS = (
    "Each further release of the same people adds to what is known of them: replace the former by it and "
    "never hand out both"
)
REPLACED = f"{_ADDS}."  # where no ledger takes it
FURTHER = f"{_ADDS}, or enter each in a ledger (publish --ledger), which says what they tell together."


@dataclass(frozen=True)
class Decision:
    """One thing to decide, or to do, and how.

    Attributes
    ----------
    question : str
        What, in one sentence.
    steps : tuple of str
        Commands to be typed, and what a person does between them; none where no command does it.
    """

    question: str
    steps: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        """The steps that are typed."""
        return tuple(step for step in self.steps if is_command(step))

    def to_dict(self) -> Document:
        """Plain values."""
        return {"question": self.question, "steps": list(self.steps), "commands": list(self.commands)}


@dataclass(frozen=True)
class Summary:
    """What a result comes to.

    Attributes
    ----------
    verdict : str
        In one sentence.
    state : {"shows", "unmeasured", "warned", "kept"}
        What the verdict is: bad, open, to be weighed, or good.
    about : str
        What it is about: "patients.csv, diagnosis -> release".
    findings : tuple of GateFinding
        What was looked at; what is worst first.
    decisions : tuple of Decision
        What to decide or to do, in the order in which it is tried.
    remarks : tuple of str
        What is true of every such result, each said once.
    """

    verdict: str
    state: State
    about: str
    findings: tuple[GateFinding, ...] = ()
    decisions: tuple[Decision, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """Plain values."""
        return {
            "verdict": self.verdict,
            "state": self.state,
            "about": self.about,
            "findings": [finding.to_dict() for finding in self.findings],
            "decisions": [decision.to_dict() for decision in self.decisions],
            "remarks": list(self.remarks),
        }


def is_command(step: str) -> bool:
    """Whether a step is a command for a shell."""
    return step.startswith("nbcfast ")


def worst_state(findings: tuple[GateFinding, ...]) -> State:
    """That of the worst of them; kept where there are none."""
    return min((finding.state for finding in findings), key=STATES.index, default="kept")


__all__ = [
    "ABOUT_ONE",
    "FURTHER",
    "MARKS",
    "REPLACED",
    "Decision",
    "Summary",
    "is_command",
    "sorted_findings",
    "worst_state",
]
