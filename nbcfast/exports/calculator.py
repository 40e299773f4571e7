"""A page in which a person adds up the points of a release: a form, the rule, and nothing that is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._core.untyped import Document
from nbcfast._markup.elements import Element, element, shown
from nbcfast._markup.page_parts import card, code, more, paragraph
from nbcfast._markup.pages import MOST_BYTES, PUBLIC, page
from nbcfast._markup.trying import trying_script
from nbcfast.exports.about import About
from nbcfast.exports.loaded_python import python_name
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.points_pieces import form_told, points_form, rule_pieces, value_text, value_texts
from nbcfast.published.points_table import PointsTable
from nbcfast.table.values import Value

MOST_VALUES = MOST_BYTES // len('<option value="0">0</option>[0],')  # that a page has room for
SHOWN = (None, 60, 12, 4)  # values of an attribute that have bars, until the page is small
BLOCK = re.compile(rb'<script type="application/json" id="points">(.*?)</script>', re.DOTALL)


def content(points: PointsTable, about: About) -> bytes:
    """The page: every value can be chosen in its form, whatever the size of the rest."""
    form = points_form([points])
    return _fitting(form, form_told(points), lambda most: rule_pieces(points, most), about)


def content_by(strata: StrataPoints, about: About) -> bytes:
    """The page in which the value of a column is chosen first, and selects the points."""
    by = (strata.by, strata.values)
    form = points_form(strata.points, by)

    def rules(most: int | None) -> list[Element]:
        return [
            more(f"Where {value_text(strata.by)} is {text}", *rule_pieces(points, most))
            for text, points in zip(value_texts(strata.values), strata.points, strict=True)
        ]

    return _fitting(form, form_told(strata.points[0], by), rules, about)


def _fitting(
    form: Element | None, told: str, rules: Callable[[int | None], Sequence[Element]], about: About
) -> bytes:
    """The page with as many bars as leave it small; ValueError where its form alone is too large."""
    data = _page([], about, form, told)
    if len(data) <= MOST_BYTES:
        for most in SHOWN:
            data = _page(rules(most), about, form, told)
            if len(data) <= MOST_BYTES:
                return data
    raise ValueError(
        f"the page would have {len(data):,} bytes, and may have {MOST_BYTES:,}: its values are too many or "
        "too long; .csv, .xlsx and .py files have room for them"
    )


def _page(rules: Sequence[Element], about: About, form: Element | None, told: str) -> bytes:
    title = f"What does this classifier say of {value_text(about.class_name)}?"
    tried = [] if form is None else [card("Try it", paragraph(told, kind="nbc-quiet"), form, kind="no-print")]
    footer = element(
        "footer",
        "Made of the release whose certificate has the sha256 ",
        code(about.sha256),
        f", by nbcfast {about.version}. What it promises, and what it does not, is in that certificate.",
    )
    rule = card("The rule that is published", *rules)
    script = None if form is None else trying_script()
    return page(title, PUBLIC, element("h1", title), *tried, rule, footer, script=script)


def _stratum(named: list[str], value: Value) -> int:
    """Which value of the column this is: null stands last, and what looks like another has more said."""
    text = shown(value_text(value))
    if value is None:
        return len(named) - 1
    return named.index(text) if text in named else [one.startswith(f"{text} (") for one in named].index(True)


def page_name() -> str:
    """What reads pages here: none of their scripts is run."""
    return f"{python_name()} by its numbers alone"


def page_decides(data: bytes, points: PointsTable, about: About, codes: Longs) -> Longs:
    """The position of the class of each row of codes, by the numbers that stand in the page."""
    found = BLOCK.search(data)
    if found is None:
        return np.zeros(len(codes), np.int64)
    block = json.loads(found[1])
    if block["by"] is None:
        return _rule_decides(block["rules"][0], codes)
    decided = np.zeros(len(codes), np.int64)
    for place, value in enumerate(points.attributes[0][1]):  # of the column that selects the rule
        rows = codes[:, 0] == place
        decided[rows] = _rule_decides(block["rules"][_stratum(block["by"], value)], codes[rows, 1:])
    return decided


def _rule_decides(rule: Document, codes: Longs) -> Longs:
    """The position of the class of each row of codes by one rule of the page."""
    totals = np.array([[int(start) for start in rule["starts"]]] * len(codes), np.int64)
    for place, rows in enumerate(rule["points"]):
        totals += np.array([[int(number) for number in row] for row in rows], np.int64)[codes[:, place]]
    if rule["threshold"] is not None:
        return np.where(totals[:, 0] >= int(rule["threshold"]), 0, 1)
    # Of equal totals the later class: the first from behind.
    winners: Longs = totals.shape[1] - 1 - np.argmax(totals[:, ::-1], axis=1)
    return winners
