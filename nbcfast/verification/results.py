"""What is found of a published thing: its checks, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass

from nbcfast._core.untyped import Document
from nbcfast._markup.fragments import result
from nbcfast._markup.page_parts import State, bullets, findings, more
from nbcfast._wire.folder import ignored_text
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import CLAIMED, NOTE, VERDICTS, WARNING, outcome, verdict
from nbcfast.mondrian.partition import Partition
from nbcfast.published.base import Published
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.response.disguising import Disguised
from nbcfast.table.values import Value, plain
from nbcfast.templates.results import Disclosure

STATE_OF: dict[bool | None, State] = {True: "kept", False: "shows", None: "unmeasured"}


@dataclass(frozen=True)
class Check:
    """One check of a release.

    Attributes
    ----------
    name : str
    passed : bool or None
        None where it could not be decided.
    text : str
        What was found.
    """

    name: str
    passed: bool | None
    text: str

    def to_dict(self) -> Document:
        return {"name": self.name, "passed": self.passed, "text": self.text}


@dataclass(frozen=True, repr=False)
class Verification:
    """The checks of a release, in their order; later ones are missing where they make no sense.

    Attributes
    ----------
    path : str
        The file.
    checks : tuple of Check
    kind : str or None
        What its certificate is of: "release", "strata", "partition", "disclosure", "disguised"; None where
        that cannot be read.
    published : Release, StratifiedRelease, Partition, Disclosure, Disguised or None
        What was read; None where it could not be.
    claims : tuple of str
        What the certificate says and nothing has checked.
    warnings, notes : tuple of str
        What it says in words besides, which were checked to be those that go with it. Of one that does not
        hold these are warnings alone. Numbers of tuples that are decided otherwise are only among them where
        they were counted.
    ignored : tuple of str
        With ``ignore_extra=True``: the names, in quotes, of what is in the folder and covered by nothing.
    classifier : str or None
        What was found of the classifier of a release beside the private one; None where that was not
        compared, or is not what the certificate says. Of noisy counts it is for the owner of the rows alone.
    each : tuple of (value, tuple of Check)
        Of strata the checks of each, which `checks` has of them all together; empty for other kinds.
    """

    path: str
    checks: tuple[Check, ...]
    kind: str | None = None
    published: Published | None = None
    claims: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    classifier: str | None = None
    each: tuple[tuple[Value, tuple[Check, ...]], ...] = ()

    @property
    def release(self) -> Release | None:
        """What was read, if that is a release."""
        return self.published if isinstance(self.published, Release) else None

    @property
    def strata(self) -> StratifiedRelease | None:
        """What was read, if that are releases of strata."""
        return self.published if isinstance(self.published, StratifiedRelease) else None

    @property
    def partition(self) -> Partition | None:
        """What was read, if that is a partition."""
        return self.published if isinstance(self.published, Partition) else None

    @property
    def disclosure(self) -> Disclosure | None:
        """What was read, if that is a disclosure."""
        return self.published if isinstance(self.published, Disclosure) else None

    @property
    def disguised(self) -> Disguised | None:
        """What was read, if that are disguised answers."""
        return self.published if isinstance(self.published, Disguised) else None

    @property
    def ok(self) -> bool:
        """Whether every check was decided and holds; also the truth of the object. Claims are no checks."""
        return self._outcome is True

    @property
    def _outcome(self) -> bool | None:
        return outcome(check.passed for check in self.checks)

    @property
    def verdict(self) -> str:
        """What comes of it: "verified", "not verified", or "not fully checked".

        The last where no check fails, but some could not be made.
        """
        return VERDICTS[self._outcome][0]

    @property
    def exit_code(self) -> int:
        """0, 1 or 3: what `nbcfast verify` leaves with at these three verdicts."""
        return VERDICTS[self._outcome][1]

    @property
    def words(self) -> tuple[str, ...]:
        """What the certificate says in words and was checked: its warnings, and its notes."""
        return (*self.warnings, *self.notes)

    @property
    def conclusion(self) -> str:
        """The verdict, and what it does not cover."""
        found = [check.passed for check in self.checks]
        return verdict(found, len(self.claims), len(self.warnings), len(self.ignored))

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> Document:
        strata = [
            {"value": plain(value), "checks": [check.to_dict() for check in checks]}
            for value, checks in self.each
        ]
        return {
            "path": self.path,
            "ok": self.ok,
            "verdict": self.verdict,
            "checks": [check.to_dict() for check in self.checks],
            "claims": list(self.claims),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "ignored": list(self.ignored),
            **({"strata": strata} if strata else {}),
        }

    def _repr_html_(self) -> str:
        found = [(STATE_OF[check.passed], check.name, check.text) for check in self.checks]
        if self.ignored:
            found.append(("warned", "folder", ignored_text(list(self.ignored))))
        found += [("warned", "warning", text) for text in self.warnings]
        verdict = self.conclusion.replace("not verified", "NOT VERIFIED")
        claims = more("what the publisher claims, unchecked", bullets(self.claims)) if self.claims else None
        notes = more("what it does not promise", bullets(self.notes)) if self.notes else None
        state: State = STATE_OF[self._outcome]
        if state == "kept" and (self.warnings or self.ignored):
            state = "warned"
        return result(state, verdict, findings(found), claims, notes)

    def __repr__(self) -> str:
        said = {True: "yes", False: "NO", None: "?"}
        lines = [f"  {said[check.passed]:<4} {check.name:<13} {check.text}" for check in self.checks]
        if self.ignored:
            lines.append(f"  {'--':<4} {'folder':<13} {ignored_text(list(self.ignored))}")
        lines += [f"  {CLAIMED} {text}" for text in self.claims]
        lines += [f"  {NOTE} {text}" for text in self.notes]
        lines += [f"  {WARNING} {text}" for text in self.warnings]
        head = f"Verification({self.path}: {self.conclusion})"
        return "\n".join(map(printable, [head, *lines]))
