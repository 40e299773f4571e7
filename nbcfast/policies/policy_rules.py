"""`shown_rules`: what a release, by itself, shows of a policy: kept, not kept, claimed, or not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Number, number_text
from nbcfast._wire.messages import listing, named
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.publish import not_here
from nbcfast.canonical.weights.solve import solve
from nbcfast.domains import Menu
from nbcfast.domains.option import Option
from nbcfast.policies.menu_choices import chosen_in, said_of_rows
from nbcfast.policies.policy import OF_ANSWERS, Policy
from nbcfast.published.points_pieces import value_text
from nbcfast.published.release import Release
from nbcfast.published.strata import StratifiedRelease
from nbcfast.safety.amplification import amplification, at_most
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.noise import Noise
from nbcfast.views.quality import worst_posterior

# "yes" and "no" were checked; what is "claimed" or "unmeasured" was not.
RuleState = Literal["no", "unmeasured", "claimed", "yes"]
STATES: tuple[RuleState, ...] = ("no", "unmeasured", "claimed", "yes")  # the worst first

MOST_NAMED = 4  # values that differ
AGAINST = "measured beside the private rows alone: --against FILE"


@dataclass(frozen=True)
class PolicyRule:
    """One demand of a policy, and what there is to say of it.

    Attributes
    ----------
    name : str
        The key of the policy, or what else was looked at.
    state : {"no", "unmeasured", "claimed", "yes"}
        "claimed" is what only the certificate says: it is never a "yes" by itself.
    text : str
    """

    name: str
    state: RuleState
    text: str

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return {"name": self.name, "state": self.state, "text": self.text}


def shown_rules(
    policy: Policy, published: Release | StratifiedRelease, menu: Menu | None = None
) -> tuple[PolicyRule, ...]:
    """Every demand of a policy, as far as what is published shows it.

    Of strata a demand is kept where every stratum keeps it.

    Parameters
    ----------
    policy : Policy
        What is demanded.
    published : Release or StratifiedRelease
        Of which a verifier has found nothing wrong.
    menu : Menu, optional
        That its domain was chosen from, as a verifier has found: its options are declared where it says so.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([50, 90], {"job": [[9, 70], [41, 20]]}, classes=["ill", "well"])
    >>> release = nbcfast.canonical.release(views, 4, class_name="health")
    >>> policy = Policy.of({"release": {"class": "health", "amplification": 5, "preserve": "label"}})
    >>> [(rule.name, rule.state) for rule in shown_rules(policy, release)][:4]
    [('class', 'yes'), ('amplification', 'yes'), ('preserve', 'claimed'), ('undeclared_columns', 'claimed')]
    """
    releases = [published] if isinstance(published, Release) else list(published.strata.values())
    each = [list(_of_release(policy, release, published, menu)) for release in releases]
    rules = [min(alike, key=lambda rule: STATES.index(rule.state)) for alike in zip(*each, strict=True)]
    if policy.by is not None:
        by = None if isinstance(published, Release) else published.by
        text = "one release for all" if by is None else f"a release for each value of {named(by)}"
        rules.append(_is("by", by == policy.by, text))
    return tuple(rules)


def _of_release(
    policy: Policy, release: Release, published: Release | StratifiedRelease, menu: Menu | None
) -> Iterator[PolicyRule]:
    made, views = release.certificate, release.views
    yield _is("class", release.class_name == policy.class_name, f"the class is {_text(release.class_name)}")
    text = f"Lambda = {amplification(views).text}, and at most {number_text(policy.limit)} may be"
    yield _is("amplification", at_most(views, policy.limit), text)
    if policy.columns is not None:
        others = [name for name in views.attributes if name not in policy.columns]
        text = f"also {listing(others)}" if others else "no others"
        yield _is("columns", not others, text)
    if policy.domains is not None:
        fault = _other_values(policy, release)
        yield _is("domain", fault is None, fault or "every value is one of [domain], in its order")
    if policy.menu is not None:
        yield _menu_rule(policy, release)
    for name, says, stated in (
        ("method", policy.method, made.method),
        ("preserve", policy.preserve, made.preserve),
        ("smooth", policy.smooth, made.smoothing),
    ):
        if says is not None:
            text = f"{stated if stated is not None else 'none'}, as the certificate says"
            yield PolicyRule(name, "claimed" if stated == says else "no", text)
    if made.policy is not None:
        text = "the certificate names this policy, which shows nothing of the other demands"
        other = f"the certificate names another policy, with the sha256 {made.policy}"
        yield _is("policy", made.policy == policy.sha256, text if made.policy == policy.sha256 else other)
    yield from _noise_rules(policy, made.privacy)
    if made.privacy is None:
        yield from _limit_rules(policy, release, published, menu)
    if policy.ledger is not None and policy.ledger.required:
        yield PolicyRule("ledger", "unmeasured", "whether it was entered is in the ledger, beside the rows")


def _is(name: str, kept: bool, text: str) -> PolicyRule:
    return PolicyRule(name, "yes" if kept else "no", text)


def _text(name: str | None) -> str:
    return "not named" if name is None else named(name)


def _other_values(policy: Policy, release: Release) -> str | None:
    domains = policy.domains
    assert domains is not None
    columns: dict[str, tuple[Value, ...]] = {
        name: release.views.domain(name) for name in release.views.attributes
    }
    if domains.options.get(policy.class_name) is not None:
        columns[policy.class_name] = release.views.classes
    for name, values in columns.items():
        option = domains.options.get(name)
        if option is None:
            return f"{named(name)} is not declared there"
        if option.out:
            return f"{named(name)} is left out there, and published"
        expected = option.domain_values
        if name in domains.from_rows:  # values that no row had were not published
            expected = tuple(value for value in expected if value in {*values})
        # The order of classes is their precedence.
        same = {*values} == {*expected} if name == policy.class_name else values == expected
        if not same:
            return f"{named(name)}: {_difference(values, expected)}"
    return None


def _difference(values: Sequence[Value], expected: Sequence[Value]) -> str:
    """What the values that are published have that others do not, and the other way round."""
    parts = []
    for one, other, what in (
        (values, expected, "published and not in [domain]: "),
        (expected, values, "in [domain] and not published: "),
    ):
        more = [value_text(value) for value in one if value not in other]
        if more:
            shown = (
                more if len(more) <= MOST_NAMED else [*more[:MOST_NAMED], f"{len(more) - MOST_NAMED:,} more"]
            )
            parts.append(what + ", ".join(shown))
    return "; ".join(parts) or "the values of [domain], in another order"


def _menu_rule(policy: Policy, release: Release) -> PolicyRule:
    advice, menu = release.certificate.advice, policy.menu
    assert menu is not None
    rows = said_of_rows(menu)
    if advice is None:  # the values show what the domain is of
        try:
            chosen_in(menu, release)
        except ValueError as error:
            return PolicyRule("menu", "no", str(error))
        if rows:  # no certificate names such a menu
            return PolicyRule("menu", "yes", f"the values are those of one domain of this menu{rows}")
        text = (
            "the certificate names no menu; all that shows is that the values are of one domain of this one"
        )
        return PolicyRule("menu", "unmeasured", text)
    if advice.menu != menu.digest:
        return PolicyRule("menu", "no", "the certificate names another menu")
    return PolicyRule("menu", "claimed", f"the certificate names this menu, by its sha256{rows}")


def _noise_rules(policy: Policy, privacy: Noise | None) -> Iterator[PolicyRule]:
    says = policy.noise
    if says is None:
        if privacy is not None:
            yield PolicyRule("dp", "no", "it was made of noisy counts, and the policy has no [dp]")
        return
    if privacy is None:
        if says.required:
            yield PolicyRule("dp", "no", "it was made of exact counts")
        return
    too_much = []
    for name in ("epsilon", "delta", "rho"):
        most, stated = getattr(says, name), getattr(privacy, name)
        if most is None and name == "delta":
            most = 0 if says.rho is None else None
        if most is not None and (stated is None or stated > most):
            shown = "none" if stated is None else number_text(stated)
            too_much.append(f"{name} {shown}, and at most {number_text(most)} may be")
    if privacy.neighbours != says.neighbours:
        too_much.append(f"neighbours {privacy.neighbours}, and not {says.neighbours}")
    if privacy.rows_per_person < says.rows_per_person:
        too_much.append(
            f"{privacy.rows_per_person:,} rows of a person, and {says.rows_per_person:,} may be there"
        )
    if too_much:
        yield PolicyRule("dp", "no", "; ".join(too_much))
    else:
        yield PolicyRule(
            "dp",
            "claimed",
            f"{privacy.level}, as the certificate says; no file shows that noise was drawn, and no key of "
            "[limits] is asked of noisy counts",
        )


def _limit_rules(
    policy: Policy, release: Release, published: Release | StratifiedRelease, menu: Menu | None
) -> Iterator[PolicyRule]:
    made = release.certificate
    if made.accepted and not policy.accept_answers:
        text = "the publisher accepted whatever the answers give away, which the policy does not allow"
        yield PolicyRule("accept_answers", "no", text)
    if policy.undeclared_columns is not None:
        yield _undeclared_rule(policy, release, published, policy.undeclared_columns, menu)
    if policy.worst_posterior is not None:
        yield worst_rule(release.views, policy.worst_posterior)
    claimed = made.policy == policy.sha256 and not made.accepted
    for name in OF_ANSWERS:
        limit = getattr(policy.limits, name)
        if limit is None:
            continue
        if name == "max_bits":
            yield _bits_rule(release, limit)
        else:
            yield _unseen(name, claimed)
    if policy.membership_auc is not None:
        yield _unseen("membership_auc", claimed, " --holdout FILE")


def _unseen(name: str, claimed: bool, more: str = "") -> PolicyRule:
    """What no file shows: claimed by whoever says that he published under this policy."""
    if claimed:
        return PolicyRule(name, "claimed", f"kept, if it was published under this policy; {AGAINST}{more}")
    return PolicyRule(name, "unmeasured", f"{AGAINST}{more}")


def _undeclared_rule(
    policy: Policy,
    release: Release,
    published: Release | StratifiedRelease,
    most: int,
    menu: Menu | None,
) -> PolicyRule:
    """How many columns have values that come from the rows, by the policy itself and by the certificate."""
    canonical = release.certificate.canonical
    options: Mapping[str, Option] = {}
    of_menu = () if policy.menu is None else policy.menu.undeclared  # whatever the certificate says
    if policy.domains is not None and _other_values(policy, release) is None:
        options = policy.domains.options
    of_checked: set[str] = set()  # columns with options that a menu declares, of which the domain is one
    if menu is not None:
        of_class = set() if menu.class_option is None else {policy.class_name}
        of_menu = (*of_menu, *menu.undeclared)
        of_checked = {*menu.options} | of_class
    from_rows: list[str | None] = []
    claimed = unknown = 0
    for name in (*release.views.attributes, None):
        column = policy.class_name if name is None else name
        if column in options:  # its values are those of [domain], which says whether they are declared
            from_rows += [name] if column in policy.from_rows else []
        elif column in of_menu:
            from_rows.append(name)
        elif column in of_checked:
            continue
        elif canonical is None:
            unknown += 1
        elif name in canonical.undeclared:
            from_rows.append(name)
        else:
            claimed += 1
    if isinstance(published, StratifiedRelease):
        option = options.get(published.by)
        if option is not None and {*option.domain_values} >= {*published.strata}:
            from_rows += [published.by] if published.by in policy.from_rows else []
        else:
            from_rows += [published.by] if published.undeclared else []
            claimed += not published.undeclared
    state: RuleState = "yes"
    if len(from_rows) > most:
        state = "no"
    elif len(from_rows) + unknown > most:
        state = "unmeasured"
    elif len(from_rows) + claimed > most:
        state = "claimed"
    return PolicyRule("undeclared_columns", state, undeclared_columns_text(from_rows, most, unknown, claimed))


def undeclared_columns_text(
    names: Sequence[str | None], most: int, unknown: int = 0, claimed: int = 0
) -> str:
    """Which columns have values that come from the rows, and how many may."""
    what = "no column takes its values from the rows"
    if names:
        what = f"the values of {listing(names)} come from the rows"
    elif unknown or claimed:
        what = "no column is known to take its values from the rows"
    allowed = "no column may" if most == 0 else "1 column may" if most == 1 else f"{most:,} columns may"
    more = f"; of {_columns(unknown)} the certificate does not say where they come from" if unknown else ""
    if claimed:
        more += f"; that the values of {_columns(claimed)} were declared only the certificate says"
    return f"{what} ({allowed}){more}"


def _columns(many: int) -> str:
    return "1 column" if many == 1 else f"{many:,} columns"


def worst_rule(views: Viewset, most: Number) -> PolicyRule:
    """Whether no class is more probable than this to a reader of the published numbers."""
    worst = worst_posterior(views)
    text = f"{worst.probability:.4f}, and at most {float(most):.4f} may be"
    # Doubles, so far from the limit that no rounding matters; and of several classes it is a bound.
    if Fraction(worst.probability) + Fraction(1, 10**9) <= most:
        return PolicyRule("worst_posterior", "yes", text)
    return PolicyRule(
        "worst_posterior", "no" if worst.exact else "unmeasured", text if worst.exact else f"at most {text}"
    )


def _bits_rule(release: Release, most: float) -> PolicyRule:
    """How many bits a weight the published answers take, which they show themselves."""
    name, canonical = "max_bits", release.certificate.canonical
    if canonical is not None and canonical.listed is not None:
        return PolicyRule(
            name, "unmeasured", "answers are kept on a list alone, and are measured on all tuples"
        )
    if len(release.views.classes) == 1 or not release.views.attributes:
        return PolicyRule(name, "yes", "every answer is the same")
    reason = not_here(release.views, preserve="label")
    if reason is not None:
        return PolicyRule(name, "unmeasured", f"not measured: {reason}")
    try:
        found = max(float(solve(box(release.views)).log2_range), 0.0)
    except Infeasible as error:
        return PolicyRule(name, "unmeasured", f"not measured: {error.why}")
    return _is(
        name, found <= most, f"the published answers take {found:.1f} bits a weight, and {most:g} may be"
    )
