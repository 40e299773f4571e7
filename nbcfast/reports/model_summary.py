"""What a plain model gives away, the worst first."""

from __future__ import annotations

from collections.abc import Sequence

from nbcfast.attack import ModelAttack
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import amount, label
from nbcfast.reports.attack_summary import NOT_ALL
from nbcfast.reports.summary import Decision, Summary, sorted_findings, worst_state

USUAL = Decision(
    "Do not hand out the model: publish a classifier of the table that it was fitted to (publish)."
)


def of_model(found: ModelAttack, about: str = "", decisions: Sequence[Decision] = (USUAL,)) -> Summary:
    """Which counts of its table come back from the weights of a model."""
    findings = sorted_findings([*_of_counts(found), *_of_what_is_open(found)])
    return Summary(_verdict(found), worst_state(findings), about, findings, tuple(decisions), (NOT_ALL,))


def _verdict(found: ModelAttack) -> str:
    """The worst of what was found, in a sentence."""
    if found.found == found.cells:
        factor = ", up to a factor" if found.up_to_factor else ""
        return (
            f"COUNTS COME BACK: every count that the model was fitted to is read out of it{factor}, if these "
            f"are of at most {found.max_rows:,} rows"
        )
    if found.found:
        return (
            f"COUNTS COME BACK: {found.found:,} of {found.cells:,} are read out of the model, if these are "
            f"of at most {found.max_rows:,} rows"
        )
    if not found.possible:
        return "NOT UNDONE: the weights are those of no table that was looked at"
    return "NOT DECIDED: several tables have these weights"


def _of_counts(found: ModelAttack) -> list[GateFinding]:
    """What is known of the table."""
    findings = []
    if found.rows is not None:
        of_classes = ", ".join(
            f"{label(name)} {amount(rows)}"
            for name, rows in zip(found.classes, found.class_counts, strict=True)
        )
        findings.append(GateFinding("rows", "shows", f"{amount(found.rows)}: {of_classes}"))
    if found.found:
        text = (
            f"{found.found:,} of {found.cells:,}, of each value and class, by the floats of the model alone"
        )
        findings.append(GateFinding("counts come back", "shows", text))
    if found.zeros_found:
        text = f"{found.zeros_found:,} of the counts found: nobody of a class has the value"
        findings.append(GateFinding("zero counts", "shows", text))
    if found.in_plain:
        text = f"{', '.join(found.in_plain)}: whoever has the object reads them, and needs no attack"
        findings.append(GateFinding("in plain", "shows", text))
    return findings


def _of_what_is_open(found: ModelAttack) -> list[GateFinding]:
    """What the claims hold for, and what the floats leave open."""
    tried = "the one that was given" if found.alphas == 1 else f"the one of {found.alphas:,} tried that fits"
    findings = []
    if found.rows is not None and found.alpha is not None:
        text = f"{amount(found.alpha)}, {tried}"
        if found.up_to_factor:
            text += "; all counts and it may be the same multiple of those found"
        findings.append(GateFinding("added to counts", "warned" if found.up_to_factor else "kept", text))
    elif found.possible:
        tables = " or ".join(
            f"{amount(rows)} rows with {amount(alpha)} added to counts" for rows, alpha in found.possible
        )
        findings.append(GateFinding("several tables", "unmeasured", f"{tables}, and perhaps others"))
    else:
        which = "the number that was given" if found.alphas == 1 else f"any of {found.alphas:,} numbers"
        text = f"none, with {which} added to counts, has these weights"
        findings.append(GateFinding("no table", "unmeasured", text))
    if found.possible and not found.prior_is_shares:
        text = "not the shares of the classes: what was found does not rest on them"
        findings.append(GateFinding("priors of the model", "warned", text))
    elif found.rows is not None and len(found.classes) > 1:
        text = "taken for the shares of the classes: if they were given, other counts are possible"
        findings.append(GateFinding("priors of the model", "warned", text))
    if found.found < found.cells and found.rows is not None:
        text = f"{found.cells - found.found:,} counts, as {found.bits}-bit floats leave several numbers"
        findings.append(GateFinding("not told", "unmeasured", text))
    text = f"up to {amount(found.max_rows)} rows, and no larger ones"
    if found.rows is not None and len(found.possible) > 1:
        other, alpha = found.possible[1]
        text += f": one of {amount(other)} rows with {amount(alpha)} added to counts has these weights too"
    findings.append(GateFinding("tables looked at", "warned", text))
    return findings
