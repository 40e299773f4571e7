"""What the answers of a release say by themselves, whoever reads them: values that decide the class alone."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from nbcfast.published.release import Release
from nbcfast.publishing.gate import GateFinding
from nbcfast.publishing.words import label
from nbcfast.table.values import Value
from nbcfast.views import Viewset

MOST_NAMED = 4
MOST_UNUSED = 8  # values that no row has and that are named


class Rule(NamedTuple):
    """Every tuple with a value of an attribute is answered with a class."""

    name: str
    value: Value
    of_class: Value


def rules(release: Release) -> list[Rule] | None:
    """The values that decide the class alone; None of a release that has no points, where that is not known.

    A value decides for class c where its total beats that of every other class d even if all other attributes
    have the values that are worst for c beside d. These are attained one by one, so nothing is only bounded.
    """
    made, views = release.certificate.canonical, release.views
    if made is None or len(views.classes) == 1:
        return None
    n_classes = len(views.classes)
    points = [[(*row, 0) for row in rows] for rows in made.points]
    constants = (*made.constants, 0)
    # worst[c, d][i]: how far attribute i puts c ahead of d, at the least.
    worst = {
        (c, d): [min(row[c] - row[d] for row in rows) for rows in points]
        for one, other in combinations(range(n_classes), 2)
        for c, d in ((one, other), (other, one))
    }

    def always(i: int, row: tuple[int, ...], c: int) -> bool:
        """Whether class c wins wherever attribute i adds this row."""
        return all(
            constants[c] - constants[d] + sum(worst[c, d]) - worst[c, d][i] + row[c] - row[d]
            >= (1 if c < d else 0)  # of equal totals the later class wins
            for d in range(n_classes)
            if d != c
        )

    return [
        Rule(name, value, views.classes[c])
        for i, (name, rows) in enumerate(zip(views.attributes, points, strict=True))
        for value, row in zip(views.domain(name), rows, strict=True)
        for c in range(n_classes)
        if always(i, row, c)
    ]


def nobody_has(views: Viewset, smoothed: bool = False) -> list[GateFinding]:
    """Values of a declared domain that no row has: they are answered all the same.

    Without smoothing every class has score 0 where such a value stands, and of equal ones the last wins.
    """
    if len(views.classes) == 1:
        return []
    unused = [
        f"{label(name)} = {label(value)}"
        for name in views.attributes
        for value, row in zip(views.domain(name), views.counts[name], strict=True)
        if not row.any()
    ]
    if not unused:
        return []
    more = f" and {len(unused) - MOST_UNUSED:,} more" if len(unused) > MOST_UNUSED else ""
    answer = f"is answered {label(views.classes[-1])}, the class of highest precedence, whatever the rest"
    if smoothed:
        answer = "is answered by what was added to the counts"
    one = "it" if len(unused) == 1 else "one"
    text = (
        f"no row has {', '.join(unused[:MOST_UNUSED])}{more}: whoever has {one} {answer}, and no person "
        "stands behind that answer; join such values with others, or accept it"
    )
    return [GateFinding("nobody has it", "warned", text)]


def rules_text(release: Release) -> str:
    """What the answers say by themselves, in a sentence."""
    found = rules(release)
    if found and len(found) == sum(len(release.views.domain(name)) for name in release.views.attributes):
        return f"the same of everybody, {label(found[0].of_class)}"
    if not found:
        return "the class of every tuple, which no limit bounds"
    named = [f"{label(rule.name)} = {label(rule.value)} is answered {label(rule.of_class)}" for rule in found]
    more = f", and of {len(named) - MOST_NAMED:,} more values" if len(named) > MOST_NAMED else ""
    return (
        "the class of every tuple, which no limit bounds: whoever has "
        f"{', whoever has '.join(named[:MOST_NAMED])}{more}"
    )
