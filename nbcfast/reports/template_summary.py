"""What privacy templates come to: which inferences are too confident, and what was suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from nbcfast._core.chances import bound_text
from nbcfast._core.numbers import exact, number_text
from nbcfast.attack.definetti import DeFinetti
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import label
from nbcfast.reports.skyline_summary import COUNTS_ONCE, of_guess
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state
from nbcfast.templates import Disclosure, Template, Violation

MOST_LISTED = 5  # inferences and values that are named
NOT_PRIVATE = "That is said of inferences that the templates name alone. It is not differential privacy."


def limit_text(template: Template) -> str:
    """The limit as a percentage, or as a fraction where that would be long."""
    if template.limit.denominator > 10**6:
        return number_text(exact(template.limit, "limit"))
    return f"{number_text(exact(template.limit * 100, 'limit'))}%"


def inference(template: Template) -> str:
    """What is inferred from what."""
    column, value = template.sensitive
    return f"{', '.join(map(label, template.quasi))} -> {label(column)}={label(value)}"


def percent(confidence: Fraction) -> str:
    """A share for people: exact, and as a percentage that is not below it."""
    return f"{bound_text(confidence, 2)} ({confidence.numerator}/{confidence.denominator})"


def by_confidence(broken: Sequence[Violation]) -> list[Violation]:
    """The worst first."""
    return sorted(broken, key=lambda violation: (-violation.confidence, -violation.support))


def of_violations(
    broken: Sequence[Violation],
    about: str = "",
    decisions: Sequence[Decision] = (),
    remarks: Sequence[str] = (),
) -> Summary:
    """Which inferences are too confident, the worst first; `remarks` are those on the file."""
    findings = []
    for violation in by_confidence(broken)[:MOST_LISTED]:
        column, value = violation.template.sensitive
        known = ", ".join(f"{label(name)}={label(shared)}" for name, shared in violation.known.items())
        text = (
            f"of {violation.support:,} people with {known or 'anything'} {violation.count:,} have "
            f"{label(column)}={label(value)}: {bound_text(violation.confidence, 2)}, and at most "
            f"{limit_text(violation.template)} may"
        )
        findings.append(GateFinding("too confident", "shows", text))
    if len(broken) > MOST_LISTED:
        findings.append(GateFinding("too confident", "shows", f"and {len(broken) - MOST_LISTED:,} more"))
    findings += [GateFinding("mind this", "warned", text) for text in remarks]
    if broken:
        several = "1 inference is" if len(broken) == 1 else f"{len(broken):,} inferences are"
        verdict = f"DO NOT PUBLISH AS IT IS: {several} too confident"
    else:
        verdict = f"all templates hold{f', {COUNTS_ONCE}' if remarks else ''}"
    ordered = tuple(findings)
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decisions), (NOT_PRIVATE,))


def of_disclosure(
    made: Disclosure,
    about: str = "",
    decisions: Sequence[Decision] = (),
    *,
    guesses: Mapping[str, DeFinetti | str] | None = None,
    remarks: Sequence[str] = (),
    written: bool = False,
) -> Summary:
    """What a table with suppressed values comes to; `remarks` are on the file and what leaves as it is."""
    findings = [
        GateFinding(
            "template kept",
            "kept",
            f"{inference(template)}: at most {percent(made.confidences[template])} sure, and "
            f"{limit_text(template)} may be",
        )
        for template in made.templates
    ]
    suppressed = _suppressed(made)
    findings.append(GateFinding("suppressed", "kept", suppressed or "nothing"))
    as_is = [name for name in made.table.names if name not in made.masked]
    findings.append(GateFinding("as it is", "kept", ", ".join(map(label, as_is)) or "no column"))
    if not made.complete:
        text = "the search was stopped early: the templates hold, and more could be disclosed"
        findings.append(GateFinding("stopped early", "warned", text))
    guessed = {name: of_guess(found, name) for name, found in (guesses or {}).items()}
    findings += guessed.values()
    sure = [name for name, finding in guessed.items() if finding.state == "warned"]
    findings += [GateFinding("mind this", "warned", text) for text in remarks]
    ordered = sorted_findings(findings)
    minded = "; mind what is marked !" if any(one.state != "kept" for one in ordered) else ""
    verdict = f"{'written' if written else 'made'}, every template holds{minded}"
    decided = [*decisions, *([_about_guesses(sure)] if sure else [])]
    return Summary(verdict, worst_state(ordered), about, ordered, tuple(decided), (NOT_PRIVATE,))


def _about_guesses(columns: Sequence[str]) -> Decision:
    """What to do about somebody who learns from the whole table: templates do not speak of him."""
    named = ", ".join(map(label, columns))
    return Decision(
        f"Decide whether the guesses of {named} may be made: templates bound what follows from the counts of "
        "people who look alike, and not what is learned from all rows together, and `nbcfast verify` checks "
        "templates and does not see such guesses. Give more columns to the templates, publish fewer or "
        "coarser ones, or do not rely on the templates where a guess would hurt."
    )


def _suppressed(made: Disclosure) -> str:
    """Which values are withheld, column by column; private, as the table does not name them."""
    texts = []
    for name in made.masked:
        values = () if made.suppressed is None else made.suppressed.get(name, ())
        if values:
            more = f" and {len(values) - MOST_LISTED:,} more" if len(values) > MOST_LISTED else ""
            texts.append(f"{label(name)} {', '.join(map(label, values[:MOST_LISTED]))}{more}")
        elif name in made.intervals:
            texts.append(f"{label(name)} in {len(made.intervals[name]):,} intervals")
    return "; ".join(texts)
