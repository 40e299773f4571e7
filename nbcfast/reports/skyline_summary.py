"""What the judges and the makers of tables by skyline come to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from nbcfast.attack.definetti import DeFinetti
from nbcfast.mondrian.partition import Partition
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import label
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state
from nbcfast.skyline import Groups
from nbcfast.skyline.finding import Knowledge
from nbcfast.skyline.results import Reports, breach_text

MOST_POINTS = 8  # of a skyline that are listed
COUNTS_ONCE = "if every row counts once"
NOT_PRIVATE = (
    "That is said of what the points let an adversary know, and of nothing else: whoever knows more learns "
    "more. It is not differential privacy."
)


def groups_text(groups: Groups) -> str:
    """Which groups a table has: what stands beside its name."""
    return (
        f"{groups.n_rows:,} people in {groups.n_groups:,} groups by {', '.join(map(label, groups.by))}; the "
        f"smallest has {groups.k:,}, and {groups.l:,} values of {label(groups.sensitive)} at the fewest"
    )


def of_reports(
    found: Reports, about: str = "", decisions: Sequence[Decision] = (), remarks: Sequence[str] = ()
) -> Summary:
    """Whether a table is safe at some points, the worst attack first.

    `remarks` are those on the file: where a column may say how often a row counts, no verdict stands alone.
    """
    unsafe = sum(not report.safe for report in found)
    points = "1 point" if len(found) == 1 else f"{len(found):,} points"
    worst = found.worst
    findings = [
        GateFinding(
            "worst attack", "kept" if worst.safe else "shows", f"at {worst.point!r}: {worst.attack.text}"
        )
    ]
    for report in found:
        asked = float(report.point.confidence)
        text = (
            f"{report.point!r}: a value is inferred with probability {breach_text(report.breach)}, and "
            f"below {asked:g} was asked for"
        )
        findings.append(GateFinding("point", "kept" if report.safe else "shows", text))
    findings += [GateFinding("mind this", "warned", text) for text in remarks]
    if unsafe:
        verdict = f"UNSAFE: {unsafe:,} of {points} {'is' if unsafe == 1 else 'are'} not kept"
    else:
        verdict = f"safe at {points}{f', {COUNTS_ONCE}' if remarks else ''}"
    ordered = sorted_findings(findings)
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), (NOT_PRIVATE,))


def of_skyline(
    points: Sequence[Knowledge],
    confidence: object,
    about: str = "",
    decisions: Sequence[Decision] = (),
    remarks: Sequence[str] = (),
) -> Summary:
    """Against which knowledge (l, k, m) a table is just safe at a confidence."""
    minded = [GateFinding("mind this", "warned", text) for text in remarks]
    if not points:
        text = "even whoever knows nothing but the groups infers a value with that confidence"
        findings = (GateFinding("skyline", "shows", text), *minded)
        verdict = f"UNSAFE: nothing is safe at {confidence}"
        return Summary(verdict, "shows", about, findings, tuple(decisions), (NOT_PRIVATE,))
    listed = ", ".join(map(str, points[:MOST_POINTS]))
    more = f" and {len(points) - MOST_POINTS:,} more" if len(points) > MOST_POINTS else ""
    text = f"{listed}{more}: values excluded, people known, people who imply; one more of any is not safe"
    once = f", {COUNTS_ONCE}" if remarks else ""
    several = "1 kind" if len(points) == 1 else f"{len(points):,} kinds"
    ordered = sorted_findings([GateFinding("skyline", "kept", text), *minded])
    return Summary(
        f"just safe at {confidence} against {several} of knowledge{once}",
        worst_state(ordered),
        about,
        ordered,
        tuple(decisions),
        (NOT_PRIVATE,),
    )


def of_partition(
    made: Partition,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    skyline: tuple[Fraction, Sequence[Knowledge]] | None = None,
    guess: DeFinetti | str | None = None,
    remarks: Sequence[str] = (),
    written: bool = False,
) -> Summary:
    """What a generalised table comes to: what it keeps, what it cost, and how well an attack guesses.

    `skyline` is a confidence and the knowledge that the table withstands at it, and `remarks` are those on
    the file and the names in it.
    """
    utility = made.utility()
    findings = [
        GateFinding(
            "demands kept",
            "kept",
            f"{made.demands}: {made.n_rows:,} people in {made.n_groups:,} groups by "
            f"{', '.join(map(label, made.quasi))}; the smallest has {made.groups.k:,}, and "
            f"{float(utility.average_size):,.1f} on average",
        )
    ]
    if skyline is not None:
        confidence, points = skyline
        reached = ", ".join(map(str, points[:MOST_POINTS])) or "nothing"
        more = f" and {len(points) - MOST_POINTS:,} more" if len(points) > MOST_POINTS else ""
        text = f"withstands {reached}{more} at {float(confidence):g}"
        findings.append(GateFinding("skyline", "kept" if points else "warned", text))
    if utility.ncp is not None:
        text = f"certainty penalty {utility.ncp:.4f}, from 0 (as it was) to 1 (nothing is told apart)"
        findings.append(GateFinding("coarser", "kept", text))
    if guess is not None:
        findings.append(of_guess(guess))
    findings += [GateFinding("mind this", "warned", text) for text in remarks]
    ordered = sorted_findings(findings)
    minded = "; mind what is marked !" if any(one.state != "kept" for one in ordered) else ""
    verdict = f"{'written' if written else 'made'}, every demand kept{minded}"
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), (NOT_PRIVATE,))


def of_guess(found: DeFinetti | str, column: str | None = None) -> GateFinding:
    """How well a deFinetti attack guesses, which is for the owner alone."""
    about = "guessing"
    of = "" if column is None else f" of {label(column)}"
    if isinstance(found, str):
        return GateFinding(about, "unmeasured", f"deFinetti attack{of}: {found}")
    text = (
        f"a deFinetti attack guesses {found.accuracy:.2%} of the values{of}, and the groups alone give "
        f"{found.baseline:.2%}; it is at most {found.worst:.2%} sure (for you alone)"
    )
    if found.held_out is not None and found.gain is not None:
        text += f"; of held-out people {found.held_out:.2%}, so being in the table costs {found.gain:+.2%}"
    return GateFinding(about, "warned" if found.accuracy > found.baseline else "kept", text)
