"""What the answers of a release say by themselves, whoever reads them: values that decide the class alone."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from nbcfast.published.release import Release
from nbcfast.publishing.words import label
from nbcfast.table.values import Value

MOST_NAMED = 4


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


def rules_text(release: Release) -> str:
    """What the answers say by themselves, in a sentence."""
    found = rules(release)
    if not found:
        return "the class of every tuple, which no limit bounds"
    named = [f"{label(rule.name)} = {label(rule.value)} is answered {label(rule.of_class)}" for rule in found]
    more = f", and of {len(named) - MOST_NAMED:,} more values" if len(named) > MOST_NAMED else ""
    return (
        "the class of every tuple, which no limit bounds: whoever has "
        f"{', whoever has '.join(named[:MOST_NAMED])}{more}"
    )
