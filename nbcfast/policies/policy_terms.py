"""`terms_of`: what somebody asks of a publication, under a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.numbers import Numeral, exact, number_text
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast.canonical import Limits
from nbcfast.domains import Declarations, Declared, Menu
from nbcfast.ledger import Ledger, LedgerPolicy
from nbcfast.policies.policy import AnyPolicy, Policy
from nbcfast.safety.demanded import demanded


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The arguments of a publication that a policy may say; those of `nbcfast.publish`.

    `policy` is the one that they are under.
    """

    class_name: str | None = None
    amplification: Numeral | None = None
    breach: tuple[Numeral, Numeral] | None = None
    attacker: Attacker = "row"
    method: Literal["canonical", "safetytransform", "est"] | None = None
    preserve: Preserve | None = None
    alpha: Numeral | None = None
    by: str | None = None
    columns: Sequence[str] | None = None
    domains: Declarations | Declared | None = None
    menu: Menu | Mapping[str, object] | str | os.PathLike[str] | None = None
    limits: Limits | None = None
    accept_answers: bool = False
    dp: Mapping[str, object] | None = None
    ledger: Ledger | str | os.PathLike[str] | None = None
    ledger_policy: LedgerPolicy | None = None
    policy: Policy | None = None


def terms_of(policy: AnyPolicy | None, asked: Terms, words: Arguments = ARGUMENTS) -> Terms:
    """What was asked with what a policy says in place of what was not.

    What a policy says is not asked otherwise, be it stricter or not: whether a combination of demands is
    stricter than another has no simple answer, and the certificate names one policy. So the same may be said
    once more, and anything else is refused; stricter demands are another policy. Domains and menus are not
    compared, and refused. Limits that a policy does not write are the usual ones, and it says these too.
    What it leaves free is asked as without it, but for noise, which it has to allow, and for accepting what
    answers give away, which it has to allow too.

    Raises
    ------
    ValueError, TypeError
        If something is asked that the policy says otherwise, or the policy is none.
    """
    if policy is None:
        return asked
    under = Policy.of(policy)
    _expect_allowed(under, asked, words)
    if asked.dp is None and under.noise is not None and under.noise.required:
        asked = replace(asked, dp=under.noise.keywords)
    found = replace(
        asked,
        class_name=under.class_name,
        amplification=under.amplification,
        breach=None,
        attacker=under.attacker,
        method=under.method or asked.method,
        preserve=under.preserve or asked.preserve,
        alpha=asked.alpha if under.smooth is None else under.smooth,
        by=under.by or asked.by,
        columns=asked.columns if under.columns is None else under.columns,
        domains=asked.domains if under.domains is None else under.domains,
        menu=asked.menu if under.menu is None else under.menu,
        limits=under.limits if asked.dp is None else None,
        policy=under,
    )
    if under.ledger is not None and (under.ledger.required or asked.ledger is not None):
        found = replace(
            found,
            ledger=under.ledger.path if asked.ledger is None else asked.ledger,
            ledger_policy=under.ledger.policy,
        )
    return found


def _expect_allowed(policy: Policy, asked: Terms, words: Arguments) -> None:
    """Refuse what the policy says otherwise."""

    def refuse(argument: str, says: object, given: object) -> None:
        raise ValueError(
            f"{words.named(argument)} does not go with the policy, which says {_shown(says)}; got "
            f"{_shown(given)}: leave it out, or publish under another policy than {policy.where}"
        )

    texts = {
        "class_name": policy.class_name,
        "method": policy.method,
        "preserve": policy.preserve,
        "by": policy.by,
        "columns": policy.columns,
    }
    for name, says in texts.items():
        given = getattr(asked, name)
        given = tuple(given) if name == "columns" and given is not None else given
        if says is not None and given is not None and given != says:
            refuse(name, says, given)
    if asked.attacker not in ("row", policy.attacker):  # "row" is what it is without being asked
        refuse("attacker", policy.attacker, asked.attacker)
    if asked.amplification is not None or asked.breach is not None:
        limit = demanded(asked.amplification, asked.breach, policy.attacker, words)
        if limit != policy.amplification:
            refuse("breach" if asked.amplification is None else "amplification", policy.amplification, limit)
    smoothed = policy.smooth is not None and asked.alpha is not None
    if smoothed and exact(asked.alpha, words.named("alpha")) != policy.smooth:
        refuse("alpha", policy.smooth, asked.alpha)
    for name in ("domains", "menu", "columns"):
        says_values = policy.domains is not None or policy.menu is not None
        is_its_own = name == "columns" and policy.menu is None
        if says_values and not is_its_own and getattr(asked, name) is not None:
            raise ValueError(
                f"{words.named(name)} does not go with the policy, which says the values itself: leave it "
                f"out, or publish under another policy than {policy.where}"
            )
    if asked.limits is not None:
        for one in fields(Limits):
            says, given = getattr(policy.limits, one.name), getattr(asked.limits, one.name)
            if says != given:
                refuse(one.name, says, given)
    if asked.accept_answers and not policy.accept_answers:
        raise ValueError(
            f"{words.named('accept_answers')} does not go with the policy: {policy.where} has no "
            "accept_answers = true in [limits]"
        )
    _expect_noise(policy, asked, words)
    _expect_ledger(policy, asked, words)


def _expect_noise(policy: Policy, asked: Terms, words: Arguments) -> None:
    if asked.dp is None:
        return
    if policy.noise is None:
        asks = words.noise("epsilon" if asked.dp.get("rho") is None else "rho")
        raise ValueError(
            f"{asks} does not go with the policy: {policy.where} has no [dp], and its limits are on what "
            "exact counts give away"
        )
    says = policy.noise.keywords
    given = {"neighbours": "add-remove", "rows_per_person": 1, **asked.dp}
    given = {name: one for name, one in given.items() if one is not None}
    for name in sorted({*says, *given}):
        one, other = says.get(name), given.get(name)
        same = (
            one == other
            if name == "neighbours" or None in (one, other)
            else exact(one, name) == exact(other, name)
        )
        if not same:
            raise ValueError(
                f"{words.noise(name)} does not go with the policy, which says {_shown(one)}; got "
                f"{_shown(other)}: leave it out, or publish under another policy than {policy.where}"
            )


def _expect_ledger(policy: Policy, asked: Terms, words: Arguments) -> None:
    if policy.ledger is None:
        return
    if asked.ledger is not None:
        path = asked.ledger.path if isinstance(asked.ledger, Ledger) else os.fsdecode(asked.ledger)
        if Path(path).resolve() != Path(policy.ledger.path).resolve():
            raise ValueError(
                f"{words.named('ledger')} does not go with the policy, which says {policy.ledger.path!r}; "
                f"got {path!r}"
            )
    if asked.ledger_policy is not None and asked.ledger_policy != (policy.ledger.policy or LedgerPolicy()):
        raise ValueError(
            f"{words.named('ledger_policy')} does not go with the policy: {policy.where} says in [ledger] "
            "when a release may be made"
        )


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, Fraction):
        return number_text(value)
    return ", ".join(map(repr, value)) if isinstance(value, tuple) else repr(value)
