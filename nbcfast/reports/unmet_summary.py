"""What it comes to where nothing meets what was demanded: why, and the best that was found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import amount_text
from nbcfast._core.untyped import Document
from nbcfast.canonical.limits_of_answers import BROKEN
from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding, State
from nbcfast.publishing.words import amount
from nbcfast.reports.certificate_words import same_line
from nbcfast.reports.owner_page import owner_page
from nbcfast.reports.refusals import NOT_WRITTEN
from nbcfast.reports.summary import Decision, Summary

CANNOT_BE = "CANNOT BE HAD: nothing meets what was demanded"
NOT_DECIDED = "NOT DECIDED: nothing was found that meets what was demanded, and more is not tried"
NOTHING_MADE = "Nothing was made, so that nothing else was looked at"
IN_WORDS = {
    "demands": "kept by the whole table",
    "coarsest": "the coarsest domain of the menu",
    "confidences": "the most suppressed table has",
    "tuples": "kinds of people",
    "one_class": "values of one class",
    "bits": "bits a weight",
    "found": "values whose counts come back",
    "flip": "of people whose class does not show",
    "trace": "of people who could be left out",
}
SHARES = ("flip", "trace")
# What the words of why say already, or a release that was found, or a command that is printed.
TOLD_ALREADY = frozenset({"decided", "attack", "point", "domains", "limits", *BROKEN})
BY_ANOTHER = {"release": ("rows", "differing_tuples"), "demands": ("k", "c", "t", "breach")}


def is_decided(error: Infeasible) -> bool:
    """Whether nothing can meet it; else that would take more work than is done."""
    return bool(error.best.get("decided", True))


def best_found(best: Mapping[str, object]) -> Iterator[str]:
    """What could be had in place of a demand that nothing meets, in words."""
    passed = {told for name, others in BY_ANOTHER.items() if best.get(name) is not None for told in others}
    for name, one in best.items():
        about = IN_WORDS.get(name, name.replace("_", " "))
        if isinstance(one, Release):
            yield f"a release of {amount_text(one.views.n_rows)} rows; {same_line(one)}"
        elif name in passed | TOLD_ALREADY or (name == "release" and one is None):
            continue
        elif isinstance(one, Mapping):
            yield f"{about}: {', '.join(_of(key, value) for key, value in one.items())}"
        else:
            yield f"{about}: {_text(one)}"


def of_infeasible(
    error: Infeasible,
    about: str = "",
    decisions: Sequence[Decision] = (),
    unwritten: str = NOT_WRITTEN,
    *,
    of_rows: bool = True,
) -> Summary:
    """That nothing meets what was demanded, or that this was not decided, with the best that was found.

    `of_rows` says whether why may come from rows: else the demand says it by itself.
    """
    decided = is_decided(error)
    state: State = "shows" if decided else "unmeasured"
    why = " ".join(error.why.split())
    return Summary(
        verdict=CANNOT_BE if decided else NOT_DECIDED,
        state=state,
        about=f"{about} ({unwritten})".strip(),
        findings=(
            GateFinding(
                "not to be had" if decided else "not decided", state, why.removeprefix("not decided: ")
            ),
            *(GateFinding("best found", "warned", text) for text in best_found(error.best)),
        ),
        decisions=tuple(decisions),
        remarks=(f"{NOTHING_MADE}{'.' if of_rows else ': this judges the demand, and no table.'}",),
    )


def infeasible_document(error: Infeasible) -> Document:
    """The same for JSON; `feasible` is None where it was not decided."""
    return {
        "feasible": False if is_decided(error) else None,
        "why": " ".join(error.why.split()),
        "best": {name: _plain(one) for name, one in error.best.items()},
        "files": [],
    }


def unmet_page(summary: Summary) -> bytes:
    """The private report of it."""
    return owner_page("Can what was demanded be had?", summary, kind="demands that nothing meets")


def _of(name: object, value: object) -> str:
    """One of several figures, with what it is of."""
    word = IN_WORDS.get(str(name))
    if word is None:
        return f"{_text(value)} of {name}"
    if name in SHARES and isinstance(value, float):
        return f"{math.floor(100 * value)}% {word}"
    return f"{_text(value)} {word}"


def _text(one: object) -> str:
    if one is None:
        return "not known"
    if isinstance(one, Fraction) and 0 < one < 1:
        return f"{amount(one)} ({float(one):.4g})"
    return f"{one:.6g}" if isinstance(one, float) else amount(one)


def _plain(one: object) -> object:
    if isinstance(one, Release):
        return {"rows": str(one.views.n_rows), "same_decisions": same_line(one)}
    if isinstance(one, Mapping):
        return {str(key): _plain(value) for key, value in one.items()}
    if isinstance(one, tuple | list):
        return [_plain(value) for value in one]
    if isinstance(one, float):
        return one if math.isfinite(one) else None
    return one if one is None or isinstance(one, bool | int) else str(one)
