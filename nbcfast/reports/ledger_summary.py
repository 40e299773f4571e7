"""What releases of one table come to together, as their ledger has them."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast.ledger import LedgerLine, LedgerReport
from nbcfast.ledger.spent import Spent, spent, sums_text
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state

WAITS = "was to be written, and nobody knows that it was"
AGAIN = "to publish it again mends that"
SPENT = "its noise is spent, and to publish again spends as much once more"
OPEN = "others may read it, and it has the counts of all tables: chmod 600"
END_UNSEEN = (
    "note it elsewhere, and as private: nothing in the file shows that lines are gone from its end, or that "
    "all of it was written anew"
)


def releases_text(lines: Sequence[LedgerLine]) -> str:
    """How many there are."""
    return f"{len(lines):,} release{'' if len(lines) == 1 else 's'}"


def spent_by(lines: Sequence[LedgerLine]) -> tuple[Spent, ...]:
    """What all releases with noise cost that count."""
    return spent((line.noise, line.terms.choice) for line in lines if line.counts and line.noise is not None)


def _waiting(lines: Sequence[LedgerLine]) -> list[GateFinding]:
    """The releases of which nobody knows whether they left."""
    return [
        GateFinding(
            "not known",
            "shows",
            f"line {line.n} {WAITS}: it counts as released; {AGAIN if line.noise is None else SPENT}",
        )
        for line in lines
        if line.state == "intended"
    ]


def of_lines(
    lines: Sequence[LedgerLine], open_to_others: bool, about: str = "", decisions: Sequence[Decision] = ()
) -> Summary:
    """What all releases cost together."""
    bare = sum(line.counts and line.noise is None for line in lines)
    findings = [*_waiting(lines), *_open(open_to_others)]
    findings += [GateFinding("together", "warned", text) for text in sums_text(spent_by(lines), bare)]
    if bare > 1:
        text = f"{bare:,} releases have no noise: what they give away together is measured when one is made"
        findings.append(GateFinding("without noise", "warned", text))
    ordered = sorted_findings(findings)
    return Summary(releases_text(lines), worst_state(ordered), about, ordered, tuple(decisions))


def of_chain(
    lines: Sequence[LedgerLine],
    open_to_others: bool,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    mended: Sequence[str] = (),
    last: str | None = None,
) -> Summary:
    """That a ledger is whole; `mended` says what was done, and `last` is the sha256 of its last line."""
    waiting = _waiting(lines)
    findings = [*waiting, *_open(open_to_others)]
    findings += [GateFinding("mended", "kept", text) for text in mended]
    if last is not None:
        findings.append(GateFinding("its end", "warned", f"sha256 of its last line: {last}; {END_UNSEEN}"))
    verdict = f"{releases_text(lines)}; every line is whole, and follows the one before it"
    if waiting:
        verdict = f"NOT KNOWN: {verdict}; of {len(waiting):,} nobody knows whether it was written"
    ordered = sorted_findings(findings)
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions))


def _open(open_to_others: bool) -> list[GateFinding]:
    return [GateFinding("open to others", "shows", OPEN)] if open_to_others else []


def of_report(found: LedgerReport, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """What a release gives away beside all earlier ones of its table."""
    if found.nothing_to_publish:
        return nothing_new(found, about)
    shows = found.sign is not None and found.sign.decides
    findings = [GateFinding("together", _state(found, shows), text) for text in found.findings]
    verdict = f"beside {found.releases:,} earlier release{'' if found.releases == 1 else 's'}"
    if shows:
        verdict = f"ONE ROW ALONE SHOWS, {verdict}"
    ordered = sorted_findings(findings)
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions))


def _state(found: LedgerReport, shows: bool) -> State:
    return "shows" if shows else "warned" if found.releases or found.care else "kept"


def nothing_new(report: LedgerReport, about: str) -> Summary:
    """That the last release has these answers already."""
    said = tuple(GateFinding("same answers", "warned", text) for text in report.findings)
    return Summary("NOTHING TO PUBLISH", "warned", about, said)
