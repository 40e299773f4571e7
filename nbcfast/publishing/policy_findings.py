"""What a policy demands of a release besides the limits on answers, as findings and as rules."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._core.numbers import Number
from nbcfast.attack import Membership
from nbcfast.canonical.publish import undeclared
from nbcfast.policies import Policy, PolicyRule
from nbcfast.policies.policy_rules import RuleState, undeclared_columns_text, worst_rule
from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.views import Viewset

NO_HOLDOUT = "not measured: rows that are not those of the table have to be given, with --holdout FILE"
DEVIATIONS = 2  # standard errors above what was measured that have to be below the limit too
OF_RULES: dict[RuleState, State] = {"no": "shows", "unmeasured": "unmeasured", "yes": "kept"}


def policy_findings(
    policy: Policy,
    views: Viewset,
    release: Release,
    members: Membership | None,
    from_rows_beside: Sequence[str] = (),
) -> list[GateFinding]:
    """Of a release that was just made of private counts: what keeps it from leaving, and what is kept.

    `from_rows_beside` are columns that are published with it and are none of its own, with values of rows.
    """
    rules = []
    most = policy.undeclared_columns
    if most is not None:
        from_rows = [*undeclared(views), *from_rows_beside]
        state: RuleState = "no" if len(from_rows) > most else "yes"
        rules.append(PolicyRule("undeclared_columns", state, undeclared_columns_text(from_rows, most)))
    if policy.worst_posterior is not None:
        rules.append(worst_rule(release.views, policy.worst_posterior))
    if policy.membership_auc is not None:
        rules.append(membership_rule(members, policy.membership_auc))
    return [GateFinding(rule.name.replace("_", " "), OF_RULES[rule.state], rule.text) for rule in rules]


def membership_rule(members: Membership | None, most: Number) -> PolicyRule:
    """Whether an adversary tells members no better than this; what may be so by chance is open."""
    name = "membership_auc"
    if members is None:
        return PolicyRule(name, "unmeasured", NO_HOLDOUT)
    if not members.measured or members.left_out:
        return PolicyRule(name, "unmeasured", members.text)
    most_likely = members.auc + DEVIATIONS * members.standard_error
    text = (
        f"{members.auc:.4f}, and {most_likely:.4f} with two standard errors more; "
        f"at most {float(most):.4f} may be"
    )
    if members.auc > most:
        return PolicyRule(name, "no", text)
    return PolicyRule(name, "yes" if most_likely <= most else "unmeasured", text)
