"""How close to a prior posteriors are, how close they can be, and what was made."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast.closeness import Achieved, Best, LowerBound
from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.reports.certificate_words import same_line
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state

PRIVATE = (
    "Not for publication: every r but that of what was made comes from the private table, and so does what "
    "these lines say of its rows and values."
)
WHAT_R_IS = (
    "r is by how much somebody's values may multiply or divide the odds that his classes have in the prior. "
    "It bounds what the counts say, and is not differential privacy."
)


def of_closeness(
    before: Achieved,
    bound: LowerBound,
    best: Best,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    release: Release | None = None,
    after: Achieved | None = None,
    why: str | None = None,
    written: bool = False,
    remarks: Sequence[str] = (),
) -> Summary:
    """How close counts are to a prior, and `after` how close a release is; `why` says that there is none."""
    as_it_is = f"r = {before.statement11.text}"
    sign = "above" if bound.strict else "at least"
    findings = [
        GateFinding(
            "can be had",
            "kept",
            f"r = {best.text}{'' if best.attained else ', not attained'}, by EST; any equivalent classifier "
            f"has {sign} {float(bound.statement11):.6g}",
        ),
    ]
    if why is not None:
        findings.append(GateFinding("not to be had", "shows", why))
    if release is None or after is None:
        state: State = "shows" if before.statement11.infinite else "warned"
        findings.append(GateFinding("as it is", state, as_it_is))
    else:
        made = release.certificate
        text = f"r = {after.statement11.text} (was {before.statement11.text})"
        findings.append(GateFinding("what was made", "kept", text))
        same: State = "kept" if made.equal else "warned"
        findings.append(GateFinding("same decisions", same, same_line(release)))
    findings += [GateFinding("mind this", "warned", text) for text in remarks if text != PRIVATE]
    ordered = sorted_findings(findings)
    return Summary(
        _verdict(as_it_is, best, release, why, written),
        "shows" if why is not None else worst_state(ordered),
        about,
        ordered,
        tuple(decisions),
        (WHAT_R_IS, PRIVATE),
    )


def _verdict(as_it_is: str, best: Best, release: Release | None, why: str | None, written: bool) -> str:
    if why is not None:
        return "CANNOT BE HAD: nothing was written"
    if release is not None:
        return f"{'written' if written else 'made, and not written'}, as close to the prior as was asked for"
    return f"as it is, {as_it_is}; {best.text} can be had"
