"""What adversaries find in something that was, or may be, published."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

from nbcfast import attack
from nbcfast._core.threads import Progress
from nbcfast.published.release import Release
from nbcfast.table.table import Table
from nbcfast.table.values import plain
from nbcfast.views import Viewset

# What a step of the work is called -> how it is told how far it is, for as long as it takes.
Stages = Callable[[str], AbstractContextManager[Progress | None]]

CONVENTIONS: tuple[Literal["row", "worlds"], ...] = ("row", "worlds")
EVALUATED = 2_000  # posteriors behind the worst case in a report


def silent(what: str) -> AbstractContextManager[Progress | None]:
    """Nobody is told how far a step is."""
    return nullcontext()


@dataclass(frozen=True)
class Adversaries:
    """What they found.

    Attributes
    ----------
    worst : dict of convention -> Worst
        Known values, and the pair of classes with the largest ratio of posteriors.
    inversion : Inversion
        Private counts back from published ones.
    membership : Membership or None
        Whether rows of the table can be told from others; None without others.
    of_table : bool
        Whether these are counts of a table, and not what was made of them.
    """

    worst: dict[Literal["row", "worlds"], attack.Worst]
    inversion: attack.Inversion
    membership: attack.Membership | None
    of_table: bool = False

    @classmethod
    def of(
        cls,
        published: Release | Viewset,
        truth: Viewset | None,
        table: Table | None = None,
        holdout: Table | None = None,
        class_name: str | None = None,
        *,
        stages: Stages = silent,
    ) -> Adversaries:
        """All of them, of what was published; what is recovered is compared with the `truth`."""
        with stages("attacking") as progress:
            largest = {
                convention: attack.worst(published, convention, evaluations=EVALUATED, progress=progress)
                for convention in CONVENTIONS
            }
        with stages("inverting") as progress:
            inversion = attack.invert(published, truth=truth, progress=progress)
        members = None
        if holdout is not None and table is not None:
            with stages("telling members") as progress:
                members = attack.membership(published, table, holdout, class_name, progress=progress)
        return cls(largest, inversion, members, isinstance(published, Viewset))

    @property
    def inversion_text(self) -> str:
        inversion = self.inversion
        if self.of_table and inversion.attack is None:
            return "nothing to undo; those of a private table leave as they are"
        how = "no powers of counts found" if inversion.attack is None else f"{inversion.attack} attack"
        if not inversion.tried:
            how = "not tried: too few different counts"
        if inversion.untried:
            how += "; not all was tried"
        if inversion.recovered is not None:
            return f"{inversion.recovered:,} of {inversion.positive:,} ({how})" if inversion.tried else how
        if inversion.attack is None:
            return how
        return f"{inversion.claimed:,} counts claimed by the {how}"

    @property
    def membership_text(self) -> str:
        return "not measured" if self.membership is None else self.membership.text

    @property
    def untried(self) -> list[str]:
        """What the inversion left out, for people."""
        return [f"Inversion is capped by counted work: {text}." for text in self.inversion.untried]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        inversion = self.inversion.to_dict()
        for name in ("counts", "certainty"):  # long, and to be had in Python
            del inversion[name]
        return {
            "worst": {convention: _worst_found(largest) for convention, largest in self.worst.items()},
            "inversion": {**inversion, "evidence": finite(self.inversion.evidence)},
            "membership": None if self.membership is None else self.membership.to_dict(),
        }


def _worst_found(largest: attack.Worst) -> dict[str, object]:
    entries = largest.to_dict()
    del entries["posterior"]
    entries["known"] = {name: plain(value) for name, value in largest.known.items()}
    entries["classes"] = [plain(value) for value in largest.classes]
    return entries


def finite(number: float | None) -> float | None:
    """The number for JSON, which has no infinity."""
    return None if number is None or math.isinf(number) else number
