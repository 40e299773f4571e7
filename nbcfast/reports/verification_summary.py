"""What the checks of a published thing come to, for whoever holds it."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._wire.folder import ignored_text
from nbcfast._wire.messages import printable
from nbcfast._wire.outcomes import outcome
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.reports.certificate_words import grouped, in_decimals
from nbcfast.reports.summary import Decision, Summary, sorted_findings
from nbcfast.verification.results import STATE_OF, Check, Verification

MOST_CLAIMS = 8  # that are listed on a screen
MOST_LETTERS = 600  # of a claim on a screen: one that lists all values may have thousands
FAILED = (
    "Do not use it as it is: ask the publisher for the files as they were written. If you are the publisher, "
    "publish once more."
)
OPEN = (
    "Take what is marked ? as not shown: it takes more work than is done, or what is not in the files, as "
    "the private table, the list of tuples or the menu."
)


def of_verification(
    found: Verification,
    about: str = "",
    decisions: Sequence[Decision] = (),
    hint: str | None = None,
    claims_below: bool = False,
) -> Summary:
    """What the checks come to; what nothing has checked is named a claim, and `hint` says what may be amiss.

    A claim is never marked as kept: it is for whoever trusts the publisher. It is no reason of the verdict,
    and stands below what was checked. Where all stand in full below (`claims_below`) none is here.
    """
    findings = [GateFinding(check.name, STATE_OF[check.passed], check_text(check)) for check in found.checks]
    if found.ignored:
        findings.append(GateFinding("folder", "warned", ignored_text(list(found.ignored))))
    if hint is not None:
        findings.append(GateFinding("read otherwise", "warned", hint))
    findings += [GateFinding("warning", "warned", text) for text in found.warnings]
    claims = [shortened(grouped(text)) for text in found.claims[:MOST_CLAIMS]]
    if claims_below:
        claims = []
    elif len(found.claims) > MOST_CLAIMS:
        more = len(found.claims) - MOST_CLAIMS
        claims.append(f"and {more:,} more claim{'' if more == 1 else 's'} of the publisher")
    made = found.release
    if found.classifier is not None and made is not None and made.certificate.privacy is not None:
        findings.append(GateFinding("same decisions", "warned", found.classifier))
    holds = outcome(check.passed for check in found.checks)
    state: State = STATE_OF[holds]
    if holds and (found.claims or any(finding.state != "kept" for finding in findings)):
        state = "warned"
    do = {False: [Decision(FAILED)], None: [Decision(OPEN)], True: []}[holds]
    return Summary(
        verdict=found.conclusion.replace("not verified", "NOT VERIFIED"),
        state=state,
        about=about or printable(found.path),
        findings=(
            *sorted_findings(findings),
            *(GateFinding("claim, unchecked", "warned", text) for text in claims),
        ),
        decisions=(*do, *decisions),
    )


def check_text(check: Check) -> str:
    """What a check found, in decimals where it is about odds and shares; --verbose has the exact numbers."""
    odds = check.name in ("amplification", "closeness")
    return in_decimals(check.text) if odds else grouped(check.text)


def shortened(text: str) -> str:
    """The beginning of a text that would fill the screen; all of it is among the details."""
    if len(text) <= MOST_LETTERS:
        return text
    return f"{text[:MOST_LETTERS].rstrip()} .. ({len(text) - MOST_LETTERS:,} letters more: --verbose)"
