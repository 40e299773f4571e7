"""`--policy`: the options of `publish`, as a policy has them where they were not typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import click

from nbcfast._wire.messages import printable
from nbcfast.canonical import Limits
from nbcfast.canonical.publish import undeclared
from nbcfast.cli.asked_again import MENU, OF_THE_TABLE, asked, free, looked_through
from nbcfast.cli.declaring import Declaring
from nbcfast.cli.limits_asked import OPTIONS as LIMITS
from nbcfast.cli.limits_asked import name_of
from nbcfast.cli.naming import OPTIONS
from nbcfast.cli.options import verbs
from nbcfast.cli.parsing import listed, names_in
from nbcfast.cli.publish_outputs import Asked
from nbcfast.domains import Menu
from nbcfast.ledger import LedgerPolicy
from nbcfast.policies import Policy, Terms, terms_of
from nbcfast.policies.begun_policy import toml_key
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.noise_asked import NoiseAsked
from nbcfast.publishing.prepared import Prepared
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision
from nbcfast.views.noise import Neighbours

POLICY = click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="TOML: what every release has to keep; `nbcfast init` writes one to begin with. It says these "
    "options where they are not typed, and what it says is not asked otherwise.",
)

UNDECLARED = "undeclared columns"


class UnderPolicy(NamedTuple):
    """What is asked of a publication, with what its policy says."""

    asked: Asked
    limits: Limits
    noise: NoiseAsked | None
    policy: Policy | None


def under_policy(
    file: Path | None, asked: Asked, limits: Limits, noise: NoiseAsked | None, accept_answers: bool
) -> UnderPolicy:
    """The options, as a policy has them where they were not typed; refused where they say otherwise."""
    if file is None:
        if asked["class_name"] is None:
            raise click.MissingParameter(
                param_type="option", param_hint="'--class'", ctx=click.get_current_context()
            )
        return UnderPolicy(asked, limits, noise, None)
    policy = Policy.of(file)
    typed = click.get_current_context().params
    given = [name_of(option) for option in LIMITS if typed[name_of(option)] is not None]
    terms = Terms(
        class_name=asked["class_name"],
        amplification=asked["amplification"],
        breach=asked["breach"],
        attacker=asked["attacker"],
        method=asked["method"],
        preserve=asked["preserve"],
        alpha=asked["alpha"],
        by=asked["by"],
        columns=None if asked["columns"] is None else names_in(asked["columns"]),
        domains=asked["declaring"].declared,
        menu=asked["menu"],
        # Of those that were not typed the policy says all.
        limits=replace(policy.limits, **{name: getattr(limits, name) for name in given}) if given else None,
        accept_answers=accept_answers,
        dp=None if noise is None else noise.keywords,
        ledger=asked["ledger"],
        ledger_policy=LedgerPolicy.parsed(asked["ledger_policy"]) if asked["ledger_policy"] else None,
    )
    found = terms_of(policy, terms, OPTIONS)
    if noise is None and found.dp is not None:
        noise = _noise(policy)
    return UnderPolicy(_as_options(asked, policy, found), policy.limits, noise, policy)


def _noise(policy: Policy) -> NoiseAsked:
    assert policy.noise is not None
    says = policy.noise
    neighbours: Neighbours = says.neighbours
    return NoiseAsked(
        epsilon=says.epsilon,
        delta=says.delta,
        rho=says.rho,
        neighbours=neighbours,
        rows_per_person=says.rows_per_person,
        words=OPTIONS,
    )


def _as_options(asked: Asked, policy: Policy, terms: Terms) -> Asked:
    """The options as they would be typed; values and menus of a policy are those that were read with it."""
    found = asked.copy()
    found["class_name"] = policy.class_name
    found["amplification"], found["breach"] = str(Fraction(policy.amplification)), None
    found["attacker"] = terms.attacker
    found["method"] = terms.method if terms.method != "est" else None
    found["preserve"] = terms.preserve
    found["alpha"] = None if terms.alpha is None else str(terms.alpha)
    found["by"] = terms.by
    found["columns"] = None if terms.columns is None else listed(list(terms.columns))
    if policy.domains is not None:
        found["declaring"] = Declaring(policy.domains, asked["declaring"].files)
    if policy.menu is not None:
        found["menu"] = Path(str(policy.menu.file))
    if terms.ledger is not None and policy.ledger is not None:
        found["ledger"] = Path(policy.ledger.path)
        rule = policy.ledger.policy
        words = [] if rule is None else [name for name in ("calendar", "disjoint") if getattr(rule, name)]
        if rule is not None and rule.new_rows is not None:
            words.append(f"new-rows={rule.new_rows}")
        found["ledger_policy"] = tuple(words)
    return found


def mends_under(policy: Policy, named: Sequence[str]) -> Decision:
    """What mends a refusal under a policy: values that the policy says, as it says the domain and limits.

    Parameters
    ----------
    policy : Policy
        What was published under.
    named : sequence of str
        Attributes that name people, which nothing but leaving them out mends.
    """
    context, where = click.get_current_context(), printable(policy.where)
    again = asked(context)
    if named:
        lines = ", ".join(f"{toml_key(name)} = {{ out = true }}" for name in named)
        return Decision(f"Leave out what names people: {lines} in [domain] of {where}.", (again,))
    if policy.menu is not None:
        text = f"What helps: coarser options in {printable(str(policy.menu.file))}, the menu of {where}."
        return Decision(text, (again,))
    if policy.by is not None:
        text = f"What helps: coarser values, or fewer columns, in [domain] of {where}, or no strata."
        return Decision(text, (again,))
    return Decision(
        f"What helps: coarser values, or fewer columns, in [domain] of {where}. In place of it a menu has "
        "the best that keep the limits found. Options that ask for less than a policy are refused.",
        (*_with_menu(policy), again),
    )


def declaring_columns(prepared: Prepared, findings: Sequence[GateFinding]) -> Decision | None:
    """What mends that more columns have values of rows than the policy lets, where they do."""
    if prepared.policy is None or not any(one.refuses and one.about == UNDECLARED for one in findings):
        return None
    columns = [*undeclared(prepared.views), *prepared.from_rows_beside]
    names = [prepared.class_name if name is None else name for name in columns]
    return declaring(prepared.policy, names, (asked(click.get_current_context()),))


def declaring(
    policy: Policy, from_rows: Sequence[str], steps: Sequence[str], menu: Menu | None = None
) -> Decision:
    """What mends columns whose values come from the rows: somebody who knows which there can be says them.

    Parameters
    ----------
    policy : Policy
        Which lets fewer columns be so.
    from_rows : sequence of str
        Their names.
    steps : sequence of str
        What is typed then.
    menu : Menu, optional
        What the domain was chosen from, where the policy does not say.
    """
    where, menu = printable(policy.where), policy.menu or menu
    listed_there, place, inside = policy.from_rows, f"[domain] of {where}", "undeclared in [release]"
    if menu is not None:
        listed_there, place, inside = menu.undeclared, printable(str(menu.file)), "its from_rows"
    elif policy.domains is not None and policy.domains.file is not None:
        place, inside = printable(str(policy.domains.file)), "its from_rows"
    begun = [name for name in from_rows if name in listed_there]
    others = [name for name in from_rows if name not in listed_there]
    to_do = []
    if begun:
        to_do.append(
            f"check all values of {_names(begun)} in {place} against the code book, then take "
            f"{'this name' if len(begun) == 1 else 'these names'} out of {inside}"
        )
    if others:
        to_do.append(f"say in {place} which values {_names(others)} can have")
    text = "; ".join(to_do)
    most = f"Or raise undeclared_columns in [limits] of {where}: then which values occur is published."
    return Decision(f"{text[0].upper()}{text[1:]}. {most}", tuple(steps))


def _names(names: Sequence[str]) -> str:
    """All of them, as each is looked for in a file."""
    return ", ".join(map(label, names))


def _with_menu(policy: Policy) -> tuple[str, ...]:
    """How the columns of a policy are chosen from a menu."""
    context, where = click.get_current_context(), printable(policy.where)
    file = free(str(Path(policy.where).parent / MENU))
    taken = {str(param.name) for param in verbs.commands["advise"].params} & OF_THE_TABLE
    more = ["--class", policy.class_name]
    if policy.smooth is not None:
        more += ["--smooth", str(policy.smooth)]
    if policy.columns is not None:
        more += ["--columns", listed(list(policy.columns))]
    elif policy.domains is not None and policy.domains.out:
        more += ["--leave-out", listed([*policy.domains.out])]
    taken -= {"class_name", "alpha", "columns"}
    gone = ["[domain]"] if policy.domains is not None else []
    gone += ["undeclared of [release]"] if policy.domains is not None and policy.from_rows else []
    gone += ["columns of [release]"] if policy.columns is not None else []
    place = f" in place of {' and '.join(gone)}" if gone else ""
    return (
        asked(context, "advise", only=taken, more=[*more, "--write-menu", file]),
        looked_through(file),
        f"in {where}: menu = {json.dumps(Path(file).name)} as its first line{place}",
    )
