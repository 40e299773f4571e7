"""Condition (10) of the paper, and why it does not decide: docs/mathematics/safety.md, sections d and j.

It is shown beside the verdict because readers of the paper ask for it, and is never part of the verdict.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NotRequired, TypedDict

import numpy as np

from nbcfast._core.numbers import log_of, ratio_text
from nbcfast.safety.amplification import Amplification
from nbcfast.safety.ratios import EXACT_QUOTIENTS, RATIO_ERROR, Quotient
from nbcfast.table.values import Value
from nbcfast.views import Viewset


class RatioPlace(TypedDict):
    """Where a ratio of two counts is: of one value, or with no attribute of the classes themselves."""

    attribute: str | None
    value: Value
    classes: list[Value]


class Condition10(TypedDict):
    """What condition (10) would have said; see `Report`."""

    safe: bool
    ratio: Fraction | None
    amplification: Fraction | None
    where: RatioPlace
    log_reachable: float
    why: NotRequired[str]


def condition10_of(views: Viewset, demanded: Fraction) -> Condition10:
    """Condition (10) of the paper: all ratios of class counts and of counts of a value <= limit^(1/n)."""
    n = max(len(views.attributes), 1)
    ratio, where = largest_ratio(views)
    safe, least_limit = False, None
    if ratio is not None:
        # ratio^n against the limit, not ratio against its n-th root, which is irrational.
        power = Quotient([], [], ratio.numerator, ratio.denominator, n, np.zeros(0, np.int64))
        safe = power.compare(demanded.numerator, demanded.denominator) <= 0
        least_limit = power.value()
    return {
        "safe": safe,
        "ratio": ratio,
        "amplification": least_limit,
        "where": where,
        "log_reachable": (2 - 1 / n) * log_of(demanded),
    }


def largest_ratio(views: Viewset) -> tuple[Fraction | None, RatioPlace]:
    """The largest ratio of two class counts, or of two counts of one value, and where; None if infinite."""
    labels, of_class = views.classes, views.class_counts.tolist()

    def place(name: str | None, value: Value, c: int, d: int) -> RatioPlace:
        return {"attribute": name, "value": value, "classes": [labels[c], labels[d]]}

    c, d = of_class.index(max(of_class)), of_class.index(min(of_class))
    where = place(None, None, c, d)
    if of_class[d] == 0:
        return None, where
    best = Fraction(of_class[c], of_class[d])
    if len(labels) == 1:
        return best, where
    for name, array in views.counts.items():
        # Within a row the largest ratio is that of its extremes.
        high, low = array.max(axis=1), array.min(axis=1)
        used = np.flatnonzero(high > 0)
        if not len(used):
            continue
        high, low = high[used], low[used]
        if (low == 0).any():
            row = int(used[np.argmax(low == 0)])
            counts = array[row].tolist()
            return None, place(
                name, views.domain(name)[row], counts.index(max(counts)), counts.index(min(counts))
            )
        sides = zip(high.tolist(), low.tolist(), strict=True)
        if array.dtype.kind == "O":
            quotients = [Fraction(x, y) for x, y in sides]
            first = quotients.index(max(quotients))
        else:
            # Of quotients that agree to the error of a double the exact one decides.
            floats = high / low
            near = np.flatnonzero(floats >= floats.max() * (1 - RATIO_ERROR))
            first, x, y = int(near[0]), int(high[near[0]]), int(low[near[0]])
            if len(near) > 1 and int(high.max()) >= EXACT_QUOTIENTS:
                for other, a, b in zip(near.tolist(), high[near].tolist(), low[near].tolist(), strict=True):
                    if a * y > x * b:
                        first, x, y = other, a, b
            else:
                first = int(np.argmax(floats))
        if Fraction(int(high[first]), int(low[first])) > best:
            row = int(used[first])
            counts = array[row].tolist()
            best = Fraction(max(counts), min(counts))
            where = place(name, views.domain(name)[row], counts.index(max(counts)), counts.index(min(counts)))
    return best, where


def why_undecided(
    condition10: Condition10,
    demanded: Fraction,
    attacker: str,
    n: int,
    safe: bool,
    amplification: Amplification,
) -> str:
    """Why condition (10) does not decide."""
    shown = ratio_text(demanded, math.inf)
    verdict = "passes" if condition10["safe"] else "refuses"
    if n <= 1:
        reason = "with at most one attribute no class count is left in X and (10) bounds the odds themselves"
    else:
        reached = ratio_text(None, condition10["log_reachable"])
        reason = (
            f"(10) bounds each ratio of counts by {shown}^(1/{n}), but X_c = P_c^(1-n) prod N holds the "
            f"class count n - 1 times more, so together they may move the odds by up to "
            f"{shown}^(2 - 1/{n}) = {reached}"
        )
    if attacker == "worlds":
        reason += "; averaged over worlds the odds can be up to twice X_c / X_d on small tables"
    outcome = f"(10) {verdict} these views at {shown}, where the odds move by {amplification.text}"
    if condition10["safe"] == safe:
        return f"{outcome}; {reason}"
    if safe:
        return f"{outcome}; it looks at each ratio apart, and only their product counts; {reason}"
    return f"{outcome}: a breach that it does not see; {reason}"
