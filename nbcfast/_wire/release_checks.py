"""The checks of a release."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.advice_checks import judge_advice
from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.excess import excess
from nbcfast._wire.points_and_counts import scorecard
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast._wire.typed_values import label

if TYPE_CHECKING:
    from nbcfast._wire.outcomes import Judged


def limit_text(document: ReleaseDocument) -> str:
    """The limit in words."""
    text = str(document.limit)  # in full, however many digits: a limit is what is relied on
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of the amplification, for attacker 'worlds')"
    return text


def r_text(document: ReleaseDocument) -> str:
    """R in words."""
    text = str(document.r or Fraction(0))
    if document.fields["attacker"] == "worlds":
        return f"{text} (half of that demanded, for attacker 'worlds')"
    return text


NOT_COMPARED = "not decided here: the products of these counts would take too long"


def judge(document: ReleaseDocument) -> Judged:
    """(name, holds, sentence) of each check of a ReleaseDocument."""
    results: Judged = []
    fault = unpositive(document)
    results.append(("positive", fault is None, fault or "no count is 0"))
    fault = unrealistic(document)
    text = fault or "for every attribute the counts of a class add up to the count of the class"
    results.append(("realistic", fault is None, text))
    results += judge_advice(document)
    if not results[0][1]:
        results.append(("amplification", False, "Lambda has no limit where a count is 0"))
        return results
    pair, multiplied = excess(document)
    limit = limit_text(document)
    if pair is not None:
        c, d = (label(document.classes[place]) for place in pair)
        text = f"Lambda exceeds the limit {limit}: some tuple amplifies class {c} against {d} by more"
        results.append(("amplification", False, text))
    elif multiplied is None:
        results.append(("amplification", None, NOT_COMPARED))
    else:
        how = "exact product" if multiplied else "interval"
        results.append(("amplification", True, f"Lambda <= {limit} ({how})"))
    if document.r is not None:
        pair, multiplied = excess(document, document.odds)
        text = f"odds of two classes are those of the prior up to a factor r = {r_text(document)}"
        if pair is not None:
            c, d = (label(document.classes[place]) for place in pair)
            text = f"some tuple moves the odds of class {c} against {d} by more than r = {r_text(document)}"
        elif multiplied is None:
            text = NOT_COMPARED
        results.append(("closeness", None if pair is None and multiplied is None else pair is None, text))
    if document.canonical is not None:
        results.append(("canonical", None, "not made again here: nbcfast verify does that"))
        results += scorecard(document)
    return results
