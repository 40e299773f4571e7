"""What adversaries find in what is, or may be, published; on the public interface alone."""

import math
from dataclasses import dataclass
from typing import Literal

from rich.table import Table as Grid

import nbcfast
from nbcfast import attack
from nbcfast._core.dtypes import UInt32s
from nbcfast.attack.definetti import DeFinetti, TooManyGuessesError, definetti
from nbcfast.cli.bars import progress
from nbcfast.cli.printing import listing
from nbcfast.published.release import Release
from nbcfast.table.values import plain
from nbcfast.templates import Disclosure

CONVENTIONS: tuple[Literal["row", "worlds"], ...] = ("row", "worlds")
EVALUATED = 2_000  # posteriors behind the worst case in a report


@dataclass(frozen=True)
class Adversaries:
    """What they found in something that was, or may be, published."""

    worst: dict[str, attack.Worst]
    inversion: attack.Inversion
    membership: attack.Membership | None
    of_table: bool = False  # whether these are counts of a table, and not what was made of them

    @classmethod
    def of(
        cls,
        published: Release | nbcfast.Viewset,
        truth: nbcfast.Viewset | None,
        table: nbcfast.Table | None = None,
        holdout: nbcfast.Table | None = None,
        class_name: str | None = None,
    ) -> "Adversaries":
        with progress("attacking") as report:
            worst: dict[str, attack.Worst] = {
                convention: attack.worst(published, convention, evaluations=EVALUATED, progress=report)
                for convention in CONVENTIONS
            }
        with progress("inverting") as report:
            inversion = attack.invert(published, truth=truth, progress=report)
        found = None
        if holdout is not None and table is not None:
            with progress("telling members") as report:
                found = attack.membership(published, table, holdout, class_name, progress=report)
        return cls(worst, inversion, found, isinstance(published, nbcfast.Viewset))

    @property
    def inversion_text(self) -> str:
        found = self.inversion
        if self.of_table and found.attack is None:
            return "nothing to undo; those of a private table leave as they are"
        how = "no powers of counts found" if found.attack is None else f"{found.attack} attack"
        if not found.tried:
            how = "not tried: too few different counts"
        if found.untried:
            how += "; not all was tried"
        if found.recovered is not None:
            return f"{found.recovered:,} of {found.positive:,} ({how})" if found.tried else how
        if found.attack is None:
            return how
        return f"{found.claimed:,} counts claimed by the {how}"

    @property
    def membership_text(self) -> str:
        return "not measured" if self.membership is None else self.membership.text

    def grid(self, membership: bool = True) -> Grid:
        grid = listing("adversary", "")
        for convention, name in (("row", "one particular row"), ("worlds", "average over worlds")):
            grid.add_row(f"largest ratio of posteriors, {name}", worst_text(self.worst[convention]))
        grid.add_row("private counts by inversion, value x class", self.inversion_text)
        if membership:
            grid.add_row("membership in the private table, AUC", self.membership_text)
        return grid

    @property
    def untried(self) -> list[str]:
        """What the inversion left out, for people."""
        return [f"Inversion is capped by counted work: {text}." for text in self.inversion.untried]

    def to_dict(self) -> dict[str, object]:
        inversion = self.inversion.to_dict()
        for name in ("counts", "certainty"):  # long, and to be had in Python
            del inversion[name]
        return {
            "worst": {convention: found_worst(worst) for convention, worst in self.worst.items()},
            "inversion": {**inversion, "evidence": plain_float(self.inversion.evidence)},
            "membership": None if self.membership is None else self.membership.to_dict(),
        }


def worst_text(worst: attack.Worst) -> str:
    if worst.certified:
        return worst.text
    bound = math.exp(worst.log_bound) if worst.log_bound < 700 else math.inf
    return f"{worst.text}, and nowhere above {bound:.6g}"


def found_worst(worst: attack.Worst) -> dict[str, object]:
    """The worst case for JSON."""
    found = worst.to_dict()
    del found["posterior"]
    found["known"] = {name: plain(value) for name, value in worst.known.items()}
    found["classes"] = [plain(value) for value in worst.classes]
    return found


def plain_float(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number


def guessed(
    table: nbcfast.Table, groups: UInt32s | Disclosure, sensitive: str, holdout: nbcfast.Table | None
) -> DeFinetti | str:
    """The deFinetti attack on groups of a private table, or why there is none."""
    with progress("attacking") as report:
        try:
            return definetti(table, groups, sensitive, holdout=holdout, progress=report)
        except TooManyGuessesError as error:
            return f"not measured: {error}"


def guesses(found: DeFinetti | str | None) -> object:
    """For JSON."""
    return found.to_dict() if isinstance(found, DeFinetti) else found


def guess_rows(found: DeFinetti | str, what: str = "deFinetti attack") -> list[tuple[str, str]]:
    """What the attack found, for people."""
    if isinstance(found, str):
        return [(what, found)]
    rows = [
        (what, f"guesses {found.accuracy:.2%} of the values"),
        ("    from the groups alone", f"{found.baseline:.2%}"),
        ("    worst confidence", f"{found.worst:.2%}"),
    ]
    if found.held_out is not None and found.gain is not None:
        text = f"{found.held_out:.2%}, so being in FILE costs {found.gain:+.2%}"
        rows.append(("    on held-out people", text))
    return rows
