"""What views of a table give away of who has what."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nbcfast.associations import Risk
from nbcfast.associations.advising import Splits
from nbcfast.associations.results import probability_text
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state

MOST_NAMED = 5  # associations and splits that are named
CERTAIN = 1_000  # associations of probability 1 that are counted at first
MOST_CERTAIN = 100_000
HALF = (
    "The unrestricted probability of an association in the join is never below 1/2, however many share a "
    "join value; --model restricted measures how well it hides."
)
WHO_SEES = "That is said of somebody who sees these views and knows nothing else."


def certain(risk: Risk) -> str | None:
    """What to know of associations of probability 1, whatever the threshold."""
    n = CERTAIN  # most tables have fewer, and listing them all may be long
    while True:
        top = risk.worst(n)  # the likeliest come first
        number = int(np.count_nonzero(top.array(top.names[2]) == 1)) if len(top) else 0
        if number < n or n >= MOST_CERTAIN:
            break
        n *= 10
    if not number:
        return None
    many = "1 association has" if number == 1 else f"{number:,} associations have"
    if number == n:
        many = f"at least {many}"
    sampled = ", where it was sampled in every world that was drawn" if risk.confidence is not None else ""
    return f"{many} probability 1{sampled}: whoever sees the views knows who has what there."


def of_risk(
    found: Risk, about: str = "", decisions: Sequence[Decision] = (), level: Fraction | None = None
) -> Summary:
    """Who is given away, the likeliest first, beside a threshold if there is one."""
    above = None if level is None else found.n_above(level)
    known = certain(found)
    findings = []
    if known is not None:
        findings.append(GateFinding("known for sure", "shows", known))
    if found.n_without_world:
        text = f"{found.n_without_world:,} identities are known to have several values: nothing hides them"
        findings.append(GateFinding("without a world", "shows", text))
    for row in found.worst(MOST_NAMED):
        who, what, probability, *_ = row.values()
        text = (
            f"{label(found.identity)} {label(who)} has {label(found.attribute)} {label(what)} with "
            f"probability {probability_text(probability)}"
        )
        findings.append(GateFinding("likeliest", _state(probability, level), text))
    if level is not None:
        text = f"{above:,} of {found.n_associations:,} associations are above {level}"
        findings.append(GateFinding("above", "shows" if above else "kept", text))
    ordered = sorted_findings(findings)
    remarks = (WHO_SEES, *([HALF] if found.model == "unrestricted" else []))
    return Summary(
        _verdict(found, level, above, known is not None),
        worst_state(ordered),
        about,
        ordered,
        tuple(decisions),
        remarks,
    )


def _state(probability: object, level: Fraction | None) -> State:
    """What a probability is beside a threshold, which alone says that one is low enough."""
    if not isinstance(probability, int | float):
        return "unmeasured"
    if probability == 1 or (level is not None and probability > level):
        return "shows"
    return "warned" if level is None else "kept"


def _verdict(found: Risk, level: Fraction | None, above: int | None, known: bool) -> str:
    people = "1 identity" if found.n_identities == 1 else f"{found.n_identities:,} identities"
    if above:
        several = "1 association is" if above == 1 else f"{above:,} associations are"
        return f"TOO LIKELY: {several} above {level}, of {people}"
    if found.n_without_world:
        return f"TOO LIKELY: {found.n_without_world:,} of {people} are known to have several values"
    if known:
        return f"SOMEBODY IS GIVEN AWAY: some of {people} are known for sure"
    if level is not None:
        return f"no association is above {level}, of {people}"
    return f"measured, of {people}: no threshold was asked for"


def of_splits(found: Splits, level: Fraction, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """Which two views keep every association low enough, those that let out most first."""
    searched = f"by {found.method} search"
    if not found:
        text = f"no two views of these columns keep restricted probabilities at or below {level}, {searched}"
        none = (GateFinding("no split", "shows", text),)
        return Summary("NO SPLIT KEEPS THE LIMIT", "shows", about, none, tuple(decisions), (WHO_SEES,))
    findings = tuple(
        GateFinding(
            "split",
            "kept",
            f"({', '.join(map(label, split.views[0]))}) and ({', '.join(map(label, split.views[1]))}): the "
            f"likeliest association has {split.worst}; lets out {float(split.let_out):.4g}",
        )
        for split in found[:MOST_NAMED]
    )
    several = "1 split keeps" if len(found) == 1 else f"{len(found):,} splits keep"
    verdict = f"{several} restricted probabilities at or below {level}, {searched}"
    return Summary(verdict, "kept", about, findings, tuple(decisions), (WHO_SEES,))
