"""What adversaries find in what is, or may be, published."""

from rich.table import Table as Grid

import nbcfast
from nbcfast._core.dtypes import UInt32s
from nbcfast.attack.definetti import DeFinetti, TooManyGuessesError, definetti
from nbcfast.cli.bars import progress
from nbcfast.cli.printing import listing
from nbcfast.publishing.findings import CONVENTIONS, Adversaries
from nbcfast.reports.attack_summary import worst_text
from nbcfast.templates import Disclosure


def adversaries_grid(found: Adversaries, membership: bool = True) -> Grid:
    """What adversaries found, as a table."""
    grid = listing("adversary", "")
    for convention, name in zip(CONVENTIONS, ("one particular row", "average over worlds"), strict=True):
        grid.add_row(f"largest ratio of posteriors, {name}", worst_text(found.worst[convention]))
    grid.add_row("private counts by inversion, value x class", found.inversion_text)
    if membership:
        grid.add_row("membership in the private table, AUC", found.membership_text)
    return grid


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
