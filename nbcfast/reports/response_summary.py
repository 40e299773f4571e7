"""What randomised response comes to: answers that were disguised, estimated or planned."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nbcfast._core.chances import epsilon_text, odds_words
from nbcfast._core.numbers import amount_text
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.words import label
from nbcfast.reports.summary import ABOUT_ONE, Decision, Summary, sorted_findings, worst_state
from nbcfast.response import Disguised, Estimate
from nbcfast.response.estimating import Proportions
from nbcfast.response.measured_accuracy import Accuracy
from nbcfast.response.planning import Plan
from nbcfast.response.schemes import AnyScheme

MOST_CLASSES = 8  # whose shares are named
NO_LDP = "not epsilon-LDP for any epsilon"
ALONE = "That is said of one answer by each person: who answers again with new coins tells more."


def exposed_text(scheme: AnyScheme) -> str:
    """That a scheme hides nothing of some columns."""
    return f"the scheme hides nothing of {_exposed(scheme)}"


def _exposed(scheme: AnyScheme) -> str:
    return ", ".join(map(label, scheme.exposed))


def together_text(scheme: AnyScheme) -> str:
    """What all coins of a scheme hide together."""
    whole = scheme.privacy()
    return f"epsilon = {epsilon_text(whole.epsilon)}" if whole.is_ldp else NO_LDP


def error_text(error: float) -> str:
    """A standard error; above 1 it is of no use, and its digits neither."""
    return f"{error:.5f}" if error < 1 else f"{error:.2g} (useless)"


def of_scheme(scheme: AnyScheme) -> list[GateFinding]:
    """What each coin hides, and where it hides nothing."""
    findings = [
        GateFinding(
            "hidden",
            "warned" if hidden.is_weak else "kept",
            f"{', '.join(map(label, hidden.columns))}: {hidden.text}",
        )
        for hidden in scheme.privacy().groups
    ]
    whole = scheme.privacy()
    if whole.odds is not None:
        state: State = "warned" if whole.is_weak else "kept"
        together = "by all answers " if len(whole.groups) > 1 else ""
        findings.append(GateFinding(ABOUT_ONE, state, f"{together}{odds_words(whole.odds)}"))
    if scheme.exposed:
        findings.append(GateFinding("not hidden", "shows", exposed_text(scheme)))
    return findings


def of_disguised(
    made: Disguised, about: str = "", decisions: Sequence[Decision] = (), written: bool = False
) -> Summary:
    """What disguised answers hide; columns that are told as they are are no part of it."""
    findings = of_scheme(made.scheme)
    if made.untouched:
        text = f"{', '.join(map(label, made.untouched))}: no coin hides anything of these"
        findings.append(GateFinding("told as they are", "warned", text))
    if made.seeded:
        text = "the coins came from a seed, and hide nothing from who knows it"
        findings.append(GateFinding("simulation", "shows", text))
    findings += [GateFinding("mind this", "warned", text) for text in made.remarks]
    ordered = sorted_findings(findings)
    how = "written, " if written else ""
    verdict = f"{how}{made.n_rows:,} answers disguised, {together_text(made.scheme)}"
    if made.seeded:
        verdict = f"A SIMULATION: {verdict}"
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), (ALONE,))


def of_estimate(
    found: Estimate,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    scheme: AnyScheme | None = None,
    interval: tuple[Proportions, Proportions] | None = None,
    level: str = "0.95",
    measured: Accuracy | None = None,
) -> Summary:
    """The shares that were estimated, of the classes, and what they do not say."""
    low, high = found.interval(level) if interval is None else interval
    findings = []
    shares = zip(found.classes, found.prior, low.prior, high.prior, strict=True)
    for value, share, least, most in list(shares)[:MOST_CLASSES]:
        text = f"{label(found.class_name)} {label(value)}: {float(share):.2%}"
        findings.append(
            GateFinding(
                "share", "kept", f"{text}, between {float(least):.2%} and {float(most):.2%} at {level}"
            )
        )
    if scheme is not None and scheme.exposed:
        findings.append(GateFinding("not hidden", "shows", exposed_text(scheme)))
    if not found.converged:
        text = "EM stopped before its shares did; --method projection is exact"
        findings.append(GateFinding("not settled", "warned", text))
    if measured is not None:
        text = (
            f"{measured.shown:.4f} +- {measured.standard_error:.4f} on the truth, from "
            f"{amount_text(measured.n_rows)} answers"
        )
        findings.append(GateFinding("accuracy", "kept", text))
    ordered = sorted_findings(findings)
    verdict = f"shares of {amount_text(found.n_rows)} disguised answers, estimated"
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions))


def of_plan(found: Plan, scheme: AnyScheme, about: str = "", decisions: Sequence[Decision] = ()) -> Summary:
    """How many respondents a scheme takes, and how good their answers are."""
    error = found.accuracy_error
    findings = [
        *of_scheme(scheme),
        GateFinding(
            "of a share",
            "kept" if found.standard_error < 1 else "shows",
            f"standard error at most {error_text(found.standard_error)}, whatever the truth is",
        ),
    ]
    if error is not None:
        text = f"standard error at most {error_text(error)}"
        useful = math.isfinite(error) and error < 1
        findings.append(GateFinding("of an accuracy", "kept" if useful else "warned", text))
    text = f"{found.blow_up:.3g} respondents in place of each who would tell the truth"
    findings.append(GateFinding("price", "kept", text))
    ordered = sorted_findings(findings)
    people = "1 respondent" if found.n == 1 else f"{found.n:,} respondents"
    verdict = f"{people}, {together_text(scheme)}"
    if scheme.exposed:
        verdict = f"HIDES NOTHING of {_exposed(scheme)}: {verdict}"
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), (ALONE,))
