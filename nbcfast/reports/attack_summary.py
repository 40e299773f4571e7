"""What adversaries make of something published, the worst first; and what the leak meter says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from nbcfast._core.numbers import ratio_text
from nbcfast.attack import Breach, Inversion, Membership, Worst
from nbcfast.canonical import Leak
from nbcfast.publishing.findings import CONVENTIONS, Adversaries
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.words import amount, label
from nbcfast.reports.certificate_words import in_decimals
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state
from nbcfast.verification.results import STATE_OF

SURE = 3.0  # standard errors from which members are told from others
MOST_KNOWN = 4  # values of somebody that a sentence lists
NO_LIMITS: Mapping[str, Fraction] = MappingProxyType({})
NOT_ALL = "These are the attacks that were tried. That they find nothing is no proof that none does."
OF_READER = {"row": "one particular row", "worlds": "average over worlds"}


def members_finding(found: Membership) -> GateFinding:
    """Whether rows of the table can be told from others."""
    state: State = "warned" if not found.measured or found.deviations > SURE else "kept"
    return GateFinding("members", state, f"told from others, AUC: {found.text} (for you alone)")


def undone_finding(found: Adversaries) -> GateFinding | None:
    """What undoing the powers of counts found; None where nothing was found, and nothing left out."""
    inversion = found.inversion
    if inversion.attack is None:
        if found.of_table:
            return None
        untried = not inversion.tried or bool(inversion.untried)
        text = f"private counts by inversion: {found.inversion_text}"
        return GateFinding("powers undone", "unmeasured" if untried else "kept", text)
    shows = inversion.recovered is None or inversion.recovered > 0
    text = f"private counts by inversion: {found.inversion_text}; {undone_text(inversion)}"
    return GateFinding("powers undone", "shows" if shows else "warned", text)


def undone_text(inversion: Inversion) -> str:
    """What the inversion took the published counts for, and how sure it is of that."""
    if inversion.attack == "identity" or inversion.k is None:
        return "nothing had to be undone: the certificate says that these are the private counts"
    return (
        f"takes what was published for roots of private counts, with k = {inversion.k:.6g}; its confidence "
        f"in that k is {inversion.confidence:.4g}, which does not say how many counts are right"
    )


def worst_text(worst: Worst) -> str:
    """The largest odds that were found; where others may be larger, what none exceeds."""
    if worst.certified:
        return worst.text
    return f"{worst.text}, and nowhere above {ratio_text(None, worst.log_bound)}"


def odds_finding(worst: Worst, limit: Fraction | None = None) -> GateFinding:
    """The largest odds that somebody can come to, beside the limit of a release if there is one."""
    first, second = worst.classes
    if first == second:  # there is one class alone
        text = f"everybody is {label(first)}: whoever knows nothing of them is sure of it"
        return GateFinding("odds", "shows", text)
    values = [f"{label(name)} = {label(value)}" for name, value in worst.known.items()]
    more = f" and {len(values) - MOST_KNOWN:,} more" if len(values) > MOST_KNOWN else ""
    known = f"{', '.join(values[:MOST_KNOWN])}{more}" or "nothing"
    most = f"{in_decimals(worst.text)} at most" if worst.certified else in_decimals(worst_text(worst))
    moved = f"{label(first)} over {label(second)} by {most}, to whoever knows"
    if math.isinf(worst.log):
        moved = f"{label(second)} is ruled out beside {label(first)}, by whoever knows"
    text = f"{moved} {known} ({OF_READER[worst.convention]})"
    state: State = "shows" if math.isinf(worst.log) else "warned"
    if limit is not None and isinstance(worst.ratio, Fraction) and worst.ratio <= limit:
        state, text = "kept", f"{text}; {amount(limit)} is the limit"
    return GateFinding("odds", state, text)


def of_adversaries(
    found: Adversaries,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    limits: Mapping[str, Fraction] = NO_LIMITS,
    breach: Breach | None = None,
    another: str | None = None,
    in_sets: bool = True,
    same: str | None = None,
    same_was_checked: bool = True,
) -> Summary:
    """What adversaries find; `limits` are those of a release on odds, by how a reader averages.

    `another` says why the release was not compared with the table that it is held against: it was made of
    another, or the rows are not `in_sets`. `same` says that it was made of it, or why that was not checked.
    """
    odds = [odds_finding(found.worst[convention], limits.get(convention)) for convention in CONVENTIONS]
    findings = list(dict.fromkeys(odds))  # of one class there is one
    undone = undone_finding(found)
    if another is not None:
        findings.append(GateFinding("another table" if in_sets else "not compared", "unmeasured", another))
    elif undone is not None:
        findings.append(undone)
    if found.of_table and undone is None:
        text = "they would leave as they are: every count is published"
        findings.append(GateFinding("private counts", "shows", text))
    findings += [GateFinding("not tried", "unmeasured", text) for text in found.inversion.untried]
    if found.membership is not None and another is None:
        findings.append(members_finding(found.membership))
    if same is not None:
        findings.append(GateFinding("same table", "kept" if same_was_checked else "unmeasured", same))
    if breach is not None:
        prevented = None if breach.breached is None else not breach.breached
        findings.append(GateFinding("breach", STATE_OF[prevented], breach.text))
    ordered = sorted_findings(findings)
    return Summary(
        _verdict(found, breach, undone, another is not None, in_sets),
        worst_state(ordered),
        about,
        ordered,
        tuple(decisions),
        (NOT_ALL,),
    )


def _verdict(
    found: Adversaries, breach: Breach | None, undone: GateFinding | None, another: bool, in_sets: bool
) -> str:
    """The worst of what was found, in a sentence."""
    if breach is not None and breach.breached:
        return "A BREACH: known values move somebody across the two levels"
    if another:
        why = "the release was not made of these rows as they were read"
        return f"NOT COMPARED: {why if in_sets else 'the rows could not be put into its sets'}"
    if undone is not None and undone.state == "shows":
        return "COUNTS COME BACK: private counts are found in what was published"
    if found.of_table:
        return "AS IT IS: every count of the table is known to whoever gets it"
    if any(math.isinf(worst.log) for worst in found.worst.values()):
        return "CLASSES ARE KNOWN: some values rule a class out"
    if found.membership is not None and members_finding(found.membership).state != "kept":
        return "MEMBERS ARE TOLD: rows of the table can be told from others, or that was not measured"
    if breach is not None and breach.breached is None:
        return "not decided: whether there is a breach"
    return "nothing was found by the attacks that were tried, but how far odds move"


def of_leak(found: Leak, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """What answers give away, whatever publishes them."""
    if not found.measured:
        findings = (GateFinding("not measured", "unmeasured", found.verdict),)
        return Summary("not measured", "unmeasured", about, findings, tuple(decisions), (NOT_ALL,))
    shown = [GateFinding("gives away", "shows", text) for text in found.findings]
    if not shown:
        findings = (GateFinding("nothing found", "kept", found.verdict),)
        verdict = "nothing was found in the answers by what was tried"
        return Summary(verdict, "kept", about, findings, tuple(decisions), (NOT_ALL,))
    verdict = "THE ANSWERS GIVE PEOPLE AWAY"
    return Summary(verdict, "shows", about, tuple(shown), tuple(decisions), (NOT_ALL,))
