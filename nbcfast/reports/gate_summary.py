"""Whether releases keep a policy, for whoever demands that they do."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._wire.messages import printable
from nbcfast.policies import Policy, PolicyRule
from nbcfast.policies.policy_rules import RuleState
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.gating import GateVerdict
from nbcfast.reports.certificate_words import in_decimals
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state

# What is claimed is never kept: whoever demands it may take it, or not.
STATE: dict[RuleState, State] = {
    "no": "shows",
    "unmeasured": "unmeasured",
    "claimed": "unmeasured",
    "yes": "kept",
}
OF_VERDICT: dict[str, State] = {"not kept": "shows", "not fully checked": "unmeasured", "kept": "kept"}


def state_of(rule: PolicyRule, accepted: bool) -> State:
    """What a demand comes to; a claim is to be weighed where claims are accepted, and open where not."""
    return "warned" if rule.state == "claimed" and accepted else STATE[rule.state]


def _text_of(rule: PolicyRule) -> str:
    """What was found of a demand, in decimals where it is about odds."""
    return in_decimals(rule.text) if rule.name == "amplification" else rule.text


def of_gate(found: GateVerdict, decisions: Sequence[Decision] = ()) -> Summary:
    """Whether a release keeps a policy, demand by demand."""
    accepted = found.policy.accept_claims
    findings = [
        GateFinding(
            rule.name,
            state_of(rule, accepted),
            f"claimed, checked by nobody: {rule.text}" if rule.state == "claimed" else _text_of(rule),
        )
        for rule in found.rules
    ]
    findings += [GateFinding("warning", "warned", text) for text in found.verification.warnings]
    findings += found.minded
    ordered = sorted_findings(findings)
    return Summary(
        verdict=conclusion_of(found),
        state=worst_state(ordered),
        about=f"{printable(found.path)}, by {printable(found.policy.where)}",
        findings=ordered,
        decisions=tuple(decisions),
    )


def of_gates(
    verdicts: Sequence[GateVerdict],
    policy: Policy,
    decisions: Sequence[Decision] = (),
    unread: Sequence[tuple[str, str]] = (),
) -> Summary:
    """Whether each of several releases keeps a policy, the worst first; of those not read, why."""
    if len(verdicts) == 1 and not unread:
        return of_gate(verdicts[0], decisions)
    findings = [GateFinding(printable(path), "unmeasured", f"not read: {why}") for path, why in unread]
    for found in verdicts:
        state = OF_VERDICT[found.verdict]
        minded = state == "kept" and of_gate(found).state != "kept"
        findings.append(
            GateFinding(printable(found.path), "warned" if minded else state, conclusion_of(found))
        )
    ordered = sorted_findings(findings)
    many = f"of {len(findings):,} releases"
    counts = {name: sum(found.verdict == name for found in verdicts) for name in OF_VERDICT}
    if counts["not kept"]:
        verdict = f"NOT KEPT by {counts['not kept']:,} {many}"
    elif unread:
        verdict = f"not read: {len(unread):,} {many}"
    elif counts["not fully checked"]:
        verdict = f"not fully checked: {counts['not fully checked']:,} {many}"
    else:
        verdict = f"kept by all {len(verdicts):,} releases"
    if not counts["not kept"] and worst_state(ordered) == "warned":
        verdict += "; mind what is marked !"
    return Summary(
        verdict=verdict,
        state=worst_state(ordered),
        about=f"by {printable(policy.where)}",
        findings=ordered,
        decisions=tuple(decisions),
    )


def conclusion_of(found: GateVerdict) -> str:
    """The verdict on a release in a sentence, and what it does not cover."""
    text = found.conclusion.replace("not kept", "NOT KEPT")
    minded = found.verdict == "kept" and (found.verification.warnings or found.minded)
    return f"{text}; mind what is marked !" if minded else text
