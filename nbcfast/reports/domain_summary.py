"""What a domain file or a policy to begin with comes to: it is as good as whoever checks it makes it."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._core.numbers import amount_text
from nbcfast.domains import Menu
from nbcfast.domains.skeleton import Proposal, begun
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision, Summary, worst_state

MOST_NAMED = 8


def of_proposals(
    proposals: Sequence[Proposal],
    about: str = "",
    decisions: Sequence[Decision] = (),
    what: str = "a domain file",
) -> Summary:
    """What was proposed of each column, and what has to be checked."""
    findings = _not_declared(begun(list(proposals)).from_rows)
    many = "1 column" if len(proposals) == 1 else f"{len(proposals):,} columns"
    verdict = f"{what} of {many} to begin with, which is to be checked"
    return Summary(verdict, worst_state(findings), about, findings, tuple(decisions))


def of_begun_menu(menu: Menu, about: str, decisions: Sequence[Decision]) -> Summary:
    """What a menu offers that was made of what is declared and of rows; nothing was searched."""
    n_columns = len(menu.options)
    columns = "1 column" if n_columns == 1 else f"{n_columns:,} columns"
    choices = GateFinding("the menu", "kept", f"{amount_text(menu.n_choices)} domains of {columns}")
    findings = (*_not_declared(menu.undeclared), choices)
    checked = ", which is to be checked" if menu.undeclared else ""
    verdict = f"a menu of {columns} to begin with{checked}: nothing was searched yet"
    return Summary(verdict, worst_state(findings), about, findings, tuple(decisions))


def of_menu_policy(menu: Menu, about: str, decisions: Sequence[Decision]) -> Summary:
    """What a policy says that names a menu in place of a domain."""
    choices = GateFinding(
        "the menu", "kept", f"{amount_text(menu.n_choices)} domains, of which the best is found"
    )
    findings = (*_not_declared(menu.undeclared), choices)
    checked = ", which is to be checked" if menu.undeclared else ""
    verdict = f"a policy with a menu to begin with{checked}"
    return Summary(verdict, worst_state(findings), about, findings, tuple(decisions))


def _not_declared(from_rows: Sequence[str]) -> tuple[GateFinding, ...]:
    """That values come from rows."""
    names = ", ".join(map(label, from_rows[:MOST_NAMED]))
    more = f" and {len(from_rows) - MOST_NAMED:,} more" if len(from_rows) > MOST_NAMED else ""
    text = f"{names}{more}: their values come from the rows until somebody has checked them"
    return (GateFinding("not declared", "warned", text),) if from_rows else ()
