"""What the search for a domain comes to: which was chosen, by what, and what that choice tells."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction

from nbcfast._core.chances import bound_text
from nbcfast._wire.messages import printable
from nbcfast.canonical import Advice, Limits
from nbcfast.canonical.advice.results import DomainChoice, MostFrequent
from nbcfast.canonical.limits_of_answers import BROKEN
from nbcfast.publishing.gate import GateFinding, State, limit_text, shown_state
from nbcfast.publishing.one_answer import ABOUT, NO_BETTER
from nbcfast.publishing.words import label
from nbcfast.reports.summary import FURTHER, Decision, Summary, sorted_findings, worst_state
from nbcfast.verification.results import STATE_OF

ALONE = "What stands beside limits is measured on your rows, and for you alone."
NOT_ALL = (
    "These are the attacks that were tried, and this is not differential privacy: whoever knows other rows, "
    "or a second release, may learn more."
)
INFINITE = (
    "A log-loss is infinite where a classifier gives somebody's class no probability at all, as no row that "
    "it was made of has his class and one of his values. No count that is published is 0."
)


def own_choice(advice: Advice) -> DomainChoice:
    """What is chosen, as it is on the rows that would be published from."""
    return advice.best if advice.here is None else advice.here


def of_advice(
    advice: Advice, about: str = "", decisions: Sequence[Decision] = (), kept: bool = True
) -> Summary:
    """Which domain was chosen, and what its answers give away; `kept` says whether the choice was kept."""
    own = own_choice(advice)
    findings = [*_of_limits(advice.limits, own), GateFinding("domain", "kept", domain_line(advice))]
    findings.append(GateFinding("worth", "kept", worth_line(advice)))
    if advice.is_worthless and advice.frequent is not None:
        findings.append(GateFinding(ABOUT, "warned", _one_answer_text(advice.best, advice.frequent)))
    if not own.keeps:
        broken = ", ".join(BROKEN[name] for name in own.broken) or "not all was measured"
        text = f"on your rows it does not keep the limits ({broken}): publish will refuse it"
        findings.append(GateFinding("limits", "shows" if own.broken else "unmeasured", text))
    findings += [GateFinding("the menu", "warned", text) for text in _of_the_menu(advice)]
    findings += [GateFinding("the choice", "warned", text) for text in _of_the_rule(advice, kept)]
    if any(math.isinf(choice.log_loss) for choice in advice.front):
        findings.append(GateFinding("log-loss", "warned", INFINITE))
    ordered = sorted_findings(findings)
    return Summary(
        _verdict(advice, own),
        worst_state(ordered),
        about,
        ordered,
        tuple(decisions),
        (ALONE, NOT_ALL, FURTHER),
    )


def _one_answer_text(best: DomainChoice, frequent: MostFrequent) -> str:
    """That to answer everybody alike would be as good."""
    return (
        f"the best is right for {best.correct:,} people, and always to say {label(frequent.label)} would be "
        f"for {frequent.people:,}: {NO_BETTER}"
    )


def _verdict(advice: Advice, own: DomainChoice) -> str:
    """The outcome in one sentence."""
    how = "the best domain" if advice.exhaustive else "the best domain found"
    if advice.by == "votes":
        how = f"the domain drawn by the votes of {advice.blocks:,} blocks of rows"
    if own.keeps:
        return f"{how} keeps every limit"
    return f"DO NOT PUBLISH ON IT YET: {how} does not keep every limit on your rows"


def domain_line(advice: Advice) -> str:
    """What the domain tells apart."""
    sizes = advice.best.sizes
    kept = ", ".join(f"{label(name)} {size:,}" for name, size in sizes.items())
    left_out = [label(name) for name in (*advice.menu.attributes, *advice.beside) if name not in sizes]
    out = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"{kept or 'no attribute'} = {advice.best.tuples:,} kinds of people{out}"


def worth_line(advice: Advice) -> str:
    """What its classifier is worth, of how many domains, and by which rows that was judged."""
    best = advice.best
    how = "the best" if advice.exhaustive else "the best found"
    if advice.by == "votes":
        how = f"the one drawn by the votes of {advice.blocks:,} blocks of rows"
    of_menu = f"of {advice.n_choices:,} domains {how}"
    of_others = "" if advice.rows == "private" else " of the other rows"
    if advice.strata:
        columns = " or ".join(map(label, advice.strata))
        of_menu = (
            f"of {advice.menu.n_choices:,} domains, for one classifier or one for each value of "
            f"{columns}, {how} has {_classifiers(best)} and"
        )
    return (
        f"{of_menu} tells {best.tuples:,} kinds of people apart; it answers {best.accuracy:.2%}{of_others} "
        f"right, {_judged(advice)}"
    )


def _classifiers(choice: DomainChoice) -> str:
    """How many there are on a domain."""
    if choice.by_column is None:
        return "one classifier"
    return f"one for each value of {label(choice.by_column)}"


def _judged(advice: Advice) -> str:
    """By which classifier rows were judged."""
    if advice.folds:
        return f"each row by a classifier of the other {advice.folds - 1} of {advice.folds} parts"
    return "by a classifier that has seen them"


def _of_limits(limits: Limits, own: DomainChoice) -> list[GateFinding]:
    """What the answers give away, beside the limits."""
    measured: list[tuple[str, str, float | None, str]] = [
        ("values of one class", "max_one_class", own.one_class, f"{own.one_class:,}"),
        ("counts come back", "max_found", own.found, f"{counts_text(own)} values"),
        ("class shows", "min_flip", own.flip, f"that of {shows_text(own.flip)}"),
        ("presence shows", "min_trace", own.trace, f"that of {shows_text(own.trace)}"),
        ("bits a weight", "max_bits", own.bits, number(own.bits)),
    ]
    findings = []
    for about, name, value, text in measured:
        limit = getattr(limits, name)
        state: State = STATE_OF[limits.kept(name, value)]
        if limit is None:
            state, allowed = ("kept" if Limits().kept(name, value) else "warned"), "no limit was asked for"
        else:
            allowed = limit_text(name, limit)
        if name.startswith("min_"):
            state = shown_state(state, value) or state
        mind = "; mind them" if state == "warned" and limit is not None else ""
        findings.append(GateFinding(about, state, f"{text} ({allowed}{mind})"))
    return findings


def _of_the_menu(advice: Advice) -> list[str]:
    """What there was to choose from."""
    said = []
    if advice.fixed_in_advance and advice.menu.class_values is None:
        said.append(
            f"The menu does not declare the class: a line {json.dumps(advice.class_name)}: [[..]] with its "
            "values does; without it publish warns that they come from the rows."
        )
    if not advice.fixed_in_advance:
        names = ", ".join(map(label, advice.menu.undeclared))
        said.append(
            f"The options of {names} were made from the rows, and no menu was fixed in advance. So the "
            "domain file names the columns whose values come from the rows (from_rows), and the "
            "certificate says that these were not declared, and has no bound on what the choice tells. "
            "That is mended by a menu: write this one, check it against the code book, and advise once "
            "more with it."
        )
    if advice.by_column is not None:
        said.append(
            "Counts are those of all classifiers together, bits the most and shares the least of any: "
            "each of them keeps the limits. Scores of different ones are not comparable."
        )
    if advice.lacking:
        said.append(
            "Not tried is a classifier for each value of "
            f"{'; '.join(map(printable, advice.lacking))}. Every value needs rows of every class: "
            "offer coarser groups that are fixed in advance."
        )
    if not advice.exhaustive:
        said.append(
            "Not every domain of the menu was tried and measured, as there are too many: this is the "
            "best found, and there may be a better one."
        )
    return said


def _of_the_rule(advice: Advice, kept: bool) -> list[str]:
    """By what it was chosen, and what that tells."""
    if advice.by == "votes":
        said = [
            f"Votes choose with epsilon {advice.epsilon}: to add or remove a person changes the "
            "probability of no choice by more than a factor of e^epsilon, and to replace one by "
            "e^(2 epsilon). Limits had no part in it. That is said of the choice alone, and of nothing "
            "else that is published."
        ]
        if not kept and advice.epsilon is not None:
            said.append(
                "Without --out this draw is not kept: the command below draws once more, which tells as "
                f"much again, so that both have epsilon {2 * Fraction(advice.epsilon)}."
            )
        return said
    if advice.rows == "other":
        so = ", and so the choice tells nothing of yours" if advice.fixed_in_advance else ""
        return [
            f"The domain was chosen on other rows{so}. On yours it is measured in the last line of the "
            "table, and by publish once more."
        ]
    if advice.fixed_in_advance:
        return [
            f"Which domain is best depends on your rows: the choice tells at most {advice.bits_at_most} "
            "bits beside the answers, and the certificate says so. --on OTHER chooses on other rows, and "
            "tells nothing."
        ]
    return []


def counts_text(choice: DomainChoice) -> str:
    """How many counts come back, of how many."""
    return "not measured" if choice.found is None else f"{choice.found} of {choice.cells}"


def share(part: float | None) -> str:
    """A share of people, rounded down: nobody is all of them."""
    if part is None:
        return "not measured"
    return f"{math.floor(part * 10_000) / 100:.2f}%"


def shows_text(part: float | None) -> str:
    """How many people show, where this part of them does not; rounded up.

    Examples
    --------
    >>> shows_text(1.0), shows_text(0.9928), shows_text(None)
    ('nobody', '0.72% of people', 'nobody knows how many: not measured')
    """
    if part is None:
        return "nobody knows how many: not measured"
    return "nobody" if part == 1 else f"{bound_text(1 - part, 2)} of people"


def number(bits: float | None) -> str:
    """Bits, rounded up."""
    return "not measured" if bits is None else f"{math.ceil(bits * 100) / 100:.2f}"


def at_most(limit: float | None) -> str:
    """A limit from above."""
    return "none" if limit is None else f"at most {limit:g}"


def at_least(limit: float | None) -> str:
    """A limit from below, of a share."""
    return "none" if limit is None else f"at least {limit:.2%}"
