"""A form in which a reader adds up the points of a classifier: one script of our own, whole numbers alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nbcfast._markup.elements import Element, element, shown

MOST_BUTTONS = 8  # values up to which each has a button; more are in a list to choose from
MOST_LETTERS = 60  # of these buttons together, or they are in a list too
WHOLE_IN_SCRIPTS = 2**53  # beyond, numbers are texts: JSON is read into doubles

# The numbers that a value stands for: from the first on, below the second; None where it has no end.
Ends = tuple[int | Fraction | None, int | Fraction | None]


class Question(NamedTuple):
    """What is asked: one of some values.

    Attributes
    ----------
    name : str
    values : sequence of str
    ends : sequence of (Ends or None), optional
        Where values are intervals of numbers: the ends of each, and None for a value that is none.
    """

    name: str
    values: Sequence[str]
    ends: Sequence[Ends | None] | None = None


class AddedPoints(NamedTuple):
    """How one classifier decides.

    Attributes
    ----------
    points : sequence of sequences of sequences of int
        Of each question, of each value, a number for each total.
    threshold : int or None
        With one total: it is the first class from there on. Else the largest wins, of equal ones the later.
    starts : sequence of int
        What each total begins with.
    """

    points: Sequence[Sequence[Sequence[int]]]
    threshold: int | None
    starts: Sequence[int]


def trying(
    questions: Sequence[Question],
    classes: Sequence[str],
    rules: Sequence[AddedPoints],
    selecting: Question | None = None,
) -> Element:
    """The form; a page that has it needs `trying_script`.

    Parameters
    ----------
    questions : sequence of Question
        What is asked.
    classes : sequence of str
        In rising precedence.
    rules : sequence of AddedPoints
        One, or one for each value of `selecting`, all of one kind.
    selecting : Question, optional
        Which rule decides.
    """
    numbers = [question.ends for question in questions]
    data = {
        "by": None if selecting is None else [shown(text) for text in selecting.values],
        "classes": [shown(text) for text in classes],
        "ends": [None if ends is None else [_ends(one) for one in ends] for ends in numbers],
        "rules": [_rule(rule) for rule in rules],
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    asked = [] if selecting is None else [_question(selecting, "by", None)]
    asked += [_question(question, f"a{place}", place) for place, question in enumerate(questions)]
    return element(
        "form",
        element("script", text, type="application/json", id="points"),
        element("div", *asked, class_="asked"),
        _result(classes, rules[0].threshold is not None),
        id="trying",
        class_="trying no-print",
        autocomplete="off",
    )


@cache
def trying_script() -> str:
    """What the form runs."""
    text = Path(__file__).with_name("trying.js").read_text(encoding="utf-8")
    return re.sub(r"^\s+|^//.*\n", "", text, flags=re.MULTILINE)


def _question(question: Question, name: str, place: int | None) -> Element:
    """One question; the name of its field is no text of the data."""
    letters = sum(len(value) + 3 for value in question.values)
    few = len(question.values) <= MOST_BUTTONS and letters <= MOST_LETTERS
    typed = _typed(place, question.name) if question.ends is not None and place is not None else None
    kind = "by" if place is None else None
    if few:
        buttons = (
            element("label", element("input", type="radio", name=name, value=code), element("span", value))
            for code, value in enumerate(question.values)
        )
        return element(
            "fieldset",
            element("legend", question.name),
            element("div", *buttons, class_="buttons"),
            typed,
            data_asks=True,
            class_=kind,
        )
    options = (element("option", value, value=code) for code, value in enumerate(question.values))
    return element(
        "fieldset",
        element("legend", question.name),
        element(
            "select",
            element("option", "choose ..", value="", selected=True, disabled=True),
            *options,
            name=name,
            aria_label=question.name,
        ),
        typed,
        data_asks=True,
        class_=kind,
    )


def _typed(place: int, name: str) -> Element:
    """A field for a number, which finds the value that it is in."""
    field = element(
        "input",
        type="text",
        inputmode="decimal",
        id=f"n{place}",
        data_of=place,
        size=8,
        maxlength=80,
        aria_label=f"{name}, as a number",
        aria_describedby=f"w{place}",
    )
    told = element("span", id=f"w{place}", class_="wrong", aria_live="polite")
    return element("div", element("span", "or a number", aria_hidden="true"), field, told, class_="typed")


def _result(classes: Sequence[str], one_total: bool) -> Element:
    """Where the answer appears, which is read out."""
    if one_total:
        bar = element("rect", id="bar", y=3, width=0, height=8, class_="nbc-fill-points")
        needed = element("line", id="needed", x1=0, x2=0, y1=0, y2=14, class_="nbc-line-ink")
        well = element("rect", y=3, width="100%", height=8, class_="nbc-fill-well")
        totals = element("svg", well, bar, needed, class_="sum", aria_hidden="true")
    else:
        lines = (
            element("tr", element("th", label, scope="row"), element("td", class_="nbc-number", data_total=c))
            for c, label in enumerate(classes)
        )
        totals = element("table", element("caption", "points"), element("tbody", *lines), class_="nbc-table")
    said = element(
        "output",
        element("span", id="open"),
        element("strong", id="class"),
        element("span", id="sum"),
        aria_live="polite",
    )
    scripts = element("noscript", "This form needs JavaScript, which runs in this page alone.")
    return element(
        "div", said, totals, element("button", "Clear", type="button", id="clear"), scripts, class_="result"
    )


def _rule(rule: AddedPoints) -> dict[str, object]:
    return {
        "points": [[[_number(n) for n in numbers] for numbers in values] for values in rule.points],
        "threshold": None if rule.threshold is None else _number(rule.threshold),
        "starts": [_number(n) for n in rule.starts],
    }


def _number(number: int) -> int | str:
    return number if abs(number) <= WHOLE_IN_SCRIPTS else str(number)


def _ends(ends: Ends | None) -> list[object] | None:
    """Both ends as quotients, exactly."""
    return None if ends is None else [_quotient(end) for end in ends]


def _quotient(number: int | Fraction | None) -> list[int | str] | None:
    return None if number is None else [_number(number.numerator), _number(number.denominator)]
