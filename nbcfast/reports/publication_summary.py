"""What a release comes to, and releases of strata, and releases of noisy counts."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast._core.chances import bound_text
from nbcfast._wire.messages import printable
from nbcfast._wire.release_words import ACCEPTED
from nbcfast.canonical import Advice
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.published.strata import StrataCertificate, StratifiedRelease
from nbcfast.publishing.answered import rules_text
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.noisy_report import NO_LIMITS, OFTEN, NoisyPublication, OwnersFigures
from nbcfast.publishing.report import Publication
from nbcfast.publishing.standing import Standing, posterior_text
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.publishing.words import amount, label
from nbcfast.reports.advice_summary import domain_line
from nbcfast.reports.attack_summary import members_finding, undone_finding
from nbcfast.reports.certificate_words import same_line
from nbcfast.reports.ledger_summary import nothing_new
from nbcfast.reports.refusals import NOT_WRITTEN, REFUSED
from nbcfast.reports.summary import ABOUT_ONE, Decision, Summary, sorted_findings, worst_state
from nbcfast.views.noise import Noise

MIND = "mind this"
MOST_NAMED = 4  # columns of a menu
NOT_BOUNDED = (
    "The limit is on what the counts say; what all answers tell is bounded by nothing but what is measured "
    "here. This is not differential privacy, and a second release from changed data reveals a second "
    "classifier."
)
NOT_DRAWN = (
    "Nothing was drawn and nothing entered: the release is drawn only when it is written, and each draw "
    "counts. What needs one, whether the demands can be met and what it is worth, is seen then."
)
BY_STRATA = "The limits are kept or not in each stratum. This is not differential privacy."


def of_publication(
    made: Publication | StratifiedPublication,
    about: str = "",
    decisions: Sequence[Decision] = (),
    unwritten: str = NOT_WRITTEN,
) -> Summary:
    """What a release comes to, whether it was saved or not.

    Without `about`, that says the file and the class; `decisions` has the commands, and `unwritten` what is
    said where it was not saved.
    """
    if isinstance(made, Publication) and made.nothing_to_publish and made.ledger is not None:
        return nothing_new(made.ledger, f"{about or _of(made)} ({unwritten})")
    single = made if isinstance(made, Publication) else None
    worth = worth_of(made.release, made.before, made.after)
    if single is not None and single.advice is not None:
        worth.append(GateFinding("domain", "kept", domain_text(single.advice)))
        if not single.advice.fixed_in_advance:
            worth.append(GateFinding("the menu", "warned", unnamed_menu(single.advice)))
    adversaries = [] if single is None else _found_by_adversaries(single)
    certificate = made.release.certificate
    totals = () if single is None or single.ledger is None else single.ledger.totals
    # What only this release has to be told of is a finding; what is said of every one is said once.
    minded = [GateFinding(MIND, "warned", text) for text in made.minded]
    findings = sorted_findings([*made.findings, *worth, *adversaries, *minded])
    if made.refused:
        verdict, state = REFUSED, worst_state(findings)
    else:
        verdict, state = _left(bool(made.shows), findings, bool(made.files)), worst_state(findings)
    answers = [] if single is None else [f"Its answers say {rules_text(single.release)}."]
    return Summary(
        verdict=verdict,
        state=state,
        about=f"{about or _of(made)}{'' if made.files else f' ({unwritten})'}",
        findings=findings,
        decisions=tuple(decisions),
        remarks=(
            *answers,
            *totals,
            *_of_the_choice(certificate),
            *([ACCEPTED] if made.accepted else []),
            NOT_BOUNDED if single is not None else BY_STRATA,
        ),
    )


def _of_the_choice(certificate: Certificate | StrataCertificate) -> list[str]:
    """What the choice of a domain tells, which differs from release to release."""
    first = certificate.strata[0] if isinstance(certificate, StrataCertificate) else certificate
    if first.advice is None:
        return []
    return [note for note in certificate.notes if note in first.advice.notes]


def of_noisy(made: NoisyPublication, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """What a release of noisy counts comes to; what is for the owner alone is marked so."""
    minded = [GateFinding(MIND, "warned", text) for text in made.minded]
    ordered = sorted_findings([*_of_noise(made.noise, made.owners), *minded])
    return Summary(
        verdict=f"{'' if made.files else 'not written yet: '}published with noise of {made.noise.level}",
        state=worst_state(ordered),
        about=f"{about or _of(made)}{'' if made.files else f' ({NOT_WRITTEN})'}",
        findings=ordered,
        decisions=tuple(decisions),
        remarks=(NO_LIMITS,),
    )


def of_noise_to_draw(
    noise: Noise, owners: OwnersFigures, about: str, decisions: Sequence[Decision] = ()
) -> Summary:
    """What a release of noisy counts would come to, of which nothing was drawn."""
    minded = [GateFinding(MIND, "warned", text) for text in owners.warnings]
    findings = sorted_findings([*_of_noise(noise, owners), *minded])
    return Summary(
        verdict=f"would be published with noise of {noise.level}",
        state=worst_state(findings),
        about=about,
        findings=findings,
        decisions=tuple(decisions),
        remarks=(NOT_DRAWN, NO_LIMITS),
    )


def _of_noise(noise: Noise, owners: OwnersFigures) -> list[GateFinding]:
    """The noise, and what is expected of it, which is for the owner alone."""
    # Of a rho alone nothing is said of one person, and where the noise is weak it hardly hides him.
    of_one: State = "warned" if noise.is_weak or noise.epsilon is None else "kept"
    findings = [
        GateFinding("noise", "kept", noise.text),
        GateFinding(ABOUT_ONE, of_one, noise.words),
    ]
    if owners.agreement is None:
        text = "expected agreement: not measured, as there are no rows"
        findings.append(GateFinding("same decisions", "warned", text))
    else:
        text = f"to be expected: {owners.agreement.share_text} (for you alone)"
        few = owners.agreement.expected < OFTEN
        findings.append(GateFinding("same decisions", "warned" if few else "kept", text))
    if owners.exact is not None and owners.published is not None:
        text = (
            f"{owners.published.accuracy:.2%} on the input, and {owners.exact.accuracy:.2%} without noise "
            "(for you alone)"
        )
        findings.append(GateFinding("accuracy", "kept", text))
    if owners.membership is not None:
        findings.append(members_finding(owners.membership))
    return findings


def _of(made: Publication | StratifiedPublication | NoisyPublication) -> str:
    """The table and its class."""
    by = f" by {label(made.by)}" if isinstance(made, StratifiedPublication) else ""
    source = "a table" if made.source is None else printable(str(made.source))
    return f"{source}, {label(made.class_name)}{by}"


def _left(shows: bool, findings: Sequence[GateFinding], written: bool) -> str:
    """The verdict on what leaves."""
    published = "published" if written else "would be published"
    if shows:
        return f"{published} although this shows (accepted)"
    if any(finding.state != "kept" for finding in findings):
        return f"{published}, every limit kept; mind what is marked !"
    return f"{published}, every check green"


def domain_text(advice: Advice) -> str:
    """Which of the domains of a menu was chosen; `publish` judges rows by classifiers that hold them out."""
    best = advice.best
    which = "the best" if advice.exhaustive else "the best found"
    return (
        f"{which} of {advice.n_choices:,} of the menu that keeps the limits: {domain_line(advice)}; "
        f"{best.accuracy:.2%} of rows that were held out are answered right"
    )


def unnamed_menu(advice: Advice) -> str:
    """What follows where the options of a menu come from rows: its certificate cannot name it."""
    names = advice.menu.undeclared
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    listed = ", ".join(map(label, names[:MOST_NAMED]))
    return (
        f"the certificate does not name it, as its options of {listed}{more} come from the rows (from_rows): "
        "nothing bounds what the choice of the domain tells, and nobody can check the choice by `verify "
        "--menu`; check the options, and empty from_rows first"
    )


def worth_of(release: Release | StratifiedRelease, before: Standing, after: Standing) -> list[GateFinding]:
    """What holds of a release whatever its answers give away."""
    return [limit_kept(release.certificate, before, after), same_decisions(release, before, after)]


def limit_kept(
    certificate: Certificate | StrataCertificate, before: Standing, after: Standing
) -> GateFinding:
    """How sure a reader of the counts can be, before and after."""
    sure = bound_text(after.worst_of_all.probability)
    text = (
        f"nobody above {sure} of a class to a reader of the counts (was "
        f"{posterior_text(before.worst_of_all)}): Lambda {after.lambda_text} of at most "
        f"{amount(certificate.limit)} (was {before.lambda_text})"
    )
    return GateFinding("limit kept", "kept", text)


def same_decisions(release: Release | StratifiedRelease, before: Standing, after: Standing) -> GateFinding:
    """Whether the classifier decides as before, and what it is worth."""
    certificate = release.certificate
    state: State = "kept" if certificate.equal else "warned"
    if isinstance(release, Release):
        same = same_line(release)
    else:
        what = "the order of all classes" if certificate.preserve == "order" else "the best class"
        how = {True: "as before in every stratum", False: "another in some stratum", None: "not compared"}
        same = f"{what} is {how[certificate.equal]}"
    was = "" if after.accuracy_text == before.accuracy_text else f" (was {before.accuracy_text})"
    worth = f"accuracy {after.accuracy_text}{was}, log-loss {after.loss_text} (was {before.loss_text})"
    return GateFinding("same decisions", state, f"{same}; {worth} on the input")


def _found_by_adversaries(made: Publication) -> list[GateFinding]:
    """What was tried and found something."""
    found = made.adversaries
    undone = None if found.inversion.attack is None else undone_finding(found)
    members = None if found.membership is None else members_finding(found.membership)
    return [finding for finding in (undone, members) if finding is not None]
