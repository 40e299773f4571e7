"""What a fact sheet says of a published table: a partition, a disclosure, disguised answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from nbcfast._core.chances import bound_text, epsilon_text, odds_words
from nbcfast._core.dtypes import Longs
from nbcfast._core.numbers import amount_text
from nbcfast._markup.charts import columns
from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import Content, State, Tile, bold, bullets, card, paragraph, table
from nbcfast._wire.messages import decimal_text
from nbcfast.mondrian.demands import Demands
from nbcfast.mondrian.partition import Partition
from nbcfast.published.points_pieces import value_text
from nbcfast.reports.sheets import NO_DP, Facts, listed
from nbcfast.response import Disguised
from nbcfast.response.coin_groups import Group
from nbcfast.skyline.points import Point
from nbcfast.skyline.results import Report
from nbcfast.table import SUPPRESSED
from nbcfast.table.row_weights import value_weights
from nbcfast.templates import Disclosure
from nbcfast.templates.template import Template
from nbcfast.verification.results import Verification

MOST_LINES = 40  # of a table in a page; the rest is counted
MOST_BINS = 24  # of sizes of groups
MOST_ATTACKS = 6


def partition_facts(made: Partition, verification: Verification) -> Facts:
    """Of a table in which everybody is one of a group."""
    sensitive = value_text(made.sensitive)
    sizes = made.groups.sizes
    people, groups = f"{made.n_rows:,} people", f"{made.n_groups:,} group{'s' * (made.n_groups != 1)}"
    reports = sorted(made.check(), key=lambda report: -report.breach) if made.demands.points else []
    answer: list[Content] = [
        bold(people),
        " stand in ",
        bold(groups),
        f" of {int(sizes.min()):,} to {int(sizes.max()):,}, whose members share what is published of "
        f"{listed([value_text(name) for name in made.quasi])}. ",
    ]
    if reports:
        worst = reports[0]
        answer += [
            "The reader who comes closest, of those who know no more than was thought of, is ",
            bold(bound_text(worst.breach)),
            f" sure of somebody's {sensitive}.",
        ]
    elif not made.demands.needs_values:
        answer.append(f"How many values of {sensitive} a group has was not asked for: all may have the same.")
    return Facts(
        origin="partition",
        title=f"What does this table tell of somebody's {sensitive}?",
        answer=answer,
        tiles=[_size_tile(made), _breach_tile(reports), None, NO_DP],
        cards=lambda room: _partition_cards(made, reports, verification),
    )


def _size_tile(made: Partition) -> Tile:
    least = int(made.groups.sizes.min())
    if made.demands.k is None:
        return Tile("fact", "Smallest group", amount_text(least), "people; no least size was demanded")
    text = f"people; at least {amount_text(made.demands.k)} were demanded, which was checked"
    return Tile("kept", "Smallest group", amount_text(least), text)


def _breach_tile(reports: Sequence[Report]) -> Tile:
    if not reports:
        text = "no limit was demanded on what somebody with some knowledge can tell"
        return Tile("unmeasured", "Closest reader", "not demanded", text)
    worst = reports[0]
    text = f"sure of somebody's value; less than {_limit(worst.point.confidence)} was demanded and checked"
    return Tile("kept", "Closest reader", bound_text(worst.breach), text)


def _partition_cards(made: Partition, reports: Sequence[Report], verification: Verification) -> list[Element]:
    found = {check.name: check.text for check in verification.checks}
    rows = [(text, found.get(name, "")) for name, text in demands_in_words(made.demands, made.sensitive)]
    cards = [card("What was demanded of every group", *_lines(rows, ("demand", "what was found")))]
    cards.append(sizes_card(made.groups.sizes))
    if reports:
        texts = [f"At {report.point!r}: {report.attack.text}." for report in reports[:MOST_ATTACKS]]
        left = len(reports) - len(texts)
        cards.append(
            card(
                "The readers who come closest",
                paragraph("Of all who know no more than was thought of, nobody is surer than these:"),
                bullets(texts),
                _left(left, "demands"),
            )
        )
    cells = [(value_text(name), f"{len(made.cells[name]):,}") for name in made.quasi]
    cells.append((value_text(made.sensitive), f"{len(made.groups.domain):,}, published as they are"))
    cards.append(card("The columns", *_lines(cells, ("column", "different entries"))))
    return cards


def demands_in_words(demands: Demands, sensitive: str) -> Iterator[tuple[str, str]]:
    """Each demand, by the name of its check and in words."""
    if demands.k is not None:
        yield "k", f"at least {amount_text(demands.k)} people"
    if demands.diversity is not None:
        c, l = demands.diversity
        yield (
            "diversity",
            f"({decimal_text(c)}, {amount_text(l)})-diversity: the most frequent value of "
            f"{value_text(sensitive)} has fewer people than {decimal_text(c)} times all but the "
            f"{amount_text(l - 1)} most frequent together",
        )
    if demands.closeness is not None:
        t, distance = demands.closeness
        yield (
            "closeness",
            f"shares of values at most {decimal_text(t)} from those of the whole table, {distance} distances",
        )
    for point in demands.points:
        known = knowledge_text(point)
        yield (
            repr(tuple(point[:3])),
            f"less than {_limit(point.confidence)} sure, to a reader who knows {known}",
        )


def knowledge_text(point: Point) -> str:
    """What a reader knows, in words."""
    parts = []
    if point.l:
        parts.append(f"{_number(point.l, 'value')} that somebody does not have")
    if point.k:
        parts.append(f"the values of {_number(point.k, 'other')}")
    if point.m:
        parts.append(f"of {_number(point.m, 'other')} that he has a value if one of them has it")
    known = f"{'; '.join(parts)}; and" if parts else "nothing but"
    return f"{known} everybody's group"


def _number(of: int, what: str) -> str:
    return f"{amount_text(of)} {what}{'s' * (of != 1)}"


def sizes_card(sizes: Longs, private: bool = False) -> Element:
    """How many groups there are of each size, or range of sizes, in a sentence and as columns."""
    least, most, half = int(sizes.min()), int(sizes.max()), int(np.median(sizes))
    width = -(-(most - least + 1) // MOST_BINS)
    counts = np.bincount((sizes - least) // width)
    firsts = range(least, most + 1, width)
    names = [f"{first:,}" if width == 1 else f"{first:,}..{first + width - 1:,}" for first in firsts]
    groups = f"{len(sizes):,} group{'s' * (len(sizes) != 1)}"
    text = f"{groups} of {least:,} to {most:,} people, half of them of at most {half:,}"
    foot = "people in a group, and how many groups"
    picture = columns(counts.tolist(), names, text, foot)
    return card("The groups by their size", paragraph(f"{text}."), picture, private=private)


def disclosure_facts(made: Disclosure, verification: Verification) -> Facts:
    """Of a table in which values were suppressed until templates held."""
    columns_told = listed(sorted({value_text(template.sensitive[0]) for template in made.templates}))
    worst = max(made.templates, key=lambda template: made.confidences[template])
    reached = made.confidences[worst]
    answer: list[Content] = [
        f"Of {made.n_rows:,} people, at most ",
        bold(share(reached)),
        f" of those who share {listed([value_text(name) for name in worst.quasi])} have ",
        bold(f"{value_text(worst.sensitive[0])} = {value_text(worst.sensitive[1])}"),
        f"; {share(worst.limit)} was allowed.",
    ]
    cells, people = withheld(made), made.n_rows
    hidden = sum(cells.values())
    return Facts(
        origin="disclosure",
        title=f"What does this table tell of somebody's {columns_told}?",
        answer=answer,
        tiles=[
            _templates_tile(verification),
            Tile(
                "fact",
                "Suppressed",
                share(Fraction(hidden, max(people * max(len(cells), 1), 1))),
                f"{hidden:,} cells of {listed([value_text(name) for name in cells])}",
            ),
            None,
            NO_DP,
        ],
        cards=lambda room: _disclosure_cards(made, cells),
    )


def _templates_tile(verification: Verification) -> Tile:
    """How many templates hold, of all; there is no page where one does not."""
    checked = [check.passed for check in verification.checks if check.name.startswith("template")]
    holding, n = sum(passed is True for passed in checked), len(checked)
    figure = f"{holding:,} of {n:,} hold"
    if holding < n:
        return Tile("unmeasured", "Templates", figure, "the others were too much work to be checked")
    return Tile("kept", "Templates", figure, "checked in the table, exactly")


def _disclosure_cards(made: Disclosure, cells: dict[str, int]) -> list[Element]:
    rows = [(inference(one), share(one.limit), reached_text(made.confidences[one])) for one in made.templates]
    hidden = [
        (value_text(name), f"{cells[name]:,}", share(Fraction(cells[name], max(made.n_rows, 1))))
        for name in made.masked
        if name in cells
    ]
    cuts = [(value_text(name), f"{len(intervals):,}") for name, intervals in made.intervals.items()]
    return [
        card(
            "What cannot be inferred with more confidence",
            *_lines(rows, ("of those who share", "allowed", "reached")),
        ),
        card("What was suppressed", *_lines(hidden, ("column", "cells", "of the people"))),
        *([card("What was cut into intervals", *_lines(cuts, ("column", "intervals")))] if cuts else []),
    ]


def inference(template: Template) -> str:
    """A template in words: from what, to what."""
    name, value = template.sensitive
    quasi = listed([value_text(one) for one in template.quasi])
    return f"{quasi}: {value_text(name)} = {value_text(value)}"


def reached_text(confidence: Fraction) -> str:
    return f"{share(confidence)} ({confidence})" if confidence.denominator < 10**9 else share(confidence)


def withheld(made: Disclosure) -> dict[str, int]:
    """People whose cell of a column is suppressed, for each column of which some might have been."""
    found = {}
    for name in made.masked:
        column = made.table.column(name)
        place = column.domain.index.get(SUPPRESSED)
        if place is not None:
            found[name] = int(value_weights(column, made.table.weights)[place])
        elif name not in made.intervals:
            found[name] = 0
    return found


def disguised_facts(made: Disguised, verification: Verification) -> Facts:
    """Of answers that were disguised before they were told."""
    scheme, privacy = made.scheme, made.scheme.privacy()
    odds = privacy.odds
    answer: list[Content] = [
        f"{made.n_rows:,} people have answered. ",
        theta_text(scheme.groups[0], scheme.sizes(scheme.groups[0]), scheme.lie).capitalize(),
    ]
    if odds is None:
        answer.append(": what the answers together tell of a truth has no bound.")
    else:
        answer += [
            ": all answers of a person together make no truth more than ",
            bold(f"{odds_text(odds)} times"),
            f" as likely as another: {odds_words(odds)}.",
        ]
    told = [value_text(name) for name in made.untouched]
    untouched: State = "warned" if told else "kept"
    return Facts(
        origin="disguised answers",
        title="What do these answers tell of one person?",
        answer=answer,
        tiles=[
            Tile(
                "warned" if privacy.is_weak else "kept",
                "Odds of two truths",
                "no bound" if odds is None else f"times {odds_text(odds)}",
                "at most, by all answers of a person that are under coins; of the scheme, checked",
            ),
            Tile(
                untouched,
                "Told as they are",
                str(len(told)),
                listed(told) if told else "every column is under a coin",
            ),
            None,
            _local_tile(odds is not None, privacy.epsilon),
        ],
        cards=lambda room: _disguised_cards(made),
    )


def _local_tile(bounded: bool, epsilon: float) -> Tile:
    if not bounded:
        return Tile("warned", "Differential privacy", "no", "the scheme has no epsilon; each group is below")
    text = "local, of the columns under coins; claimed: no file can show that these were thrown"
    return Tile("unmeasured", "Differential privacy", f"epsilon {epsilon_text(epsilon)}", text)


def _disguised_cards(made: Disguised) -> list[Element]:
    scheme = made.scheme
    rows = []
    for group, privacy in zip(scheme.groups, scheme.privacy().groups, strict=True):
        names = listed([value_text(name) for name in group.columns])
        bound = "no bound" if privacy.odds is None else odds_text(privacy.odds)
        epsilon = "none" if privacy.odds is None else epsilon_text(privacy.epsilon)
        rows.append((names, theta_text(group, scheme.sizes(group), scheme.lie), bound, epsilon))
    head = ("columns", "what is told", "odds times", "epsilon")
    parts = _lines(rows, head, texts=2)
    endless = [one.text for one in scheme.privacy().groups if one.odds is None]
    told = [value_text(name) for name in made.untouched]
    return [
        card("How each answer was disguised", *parts, bullets(endless) if endless else None),
        card(
            "What is told as it is",
            paragraph(
                f"{listed(told, 40)}: under no coin, and in the table as they were told."
                if told
                else "Nothing: every column is under a coin."
            ),
        ),
        card(
            "What can be made of it",
            paragraph(
                "Shares of all people are estimated from their answers: nbcfast response estimate DIR "
                "--class NAME."
            ),
        ),
    ]


def theta_text(group: Group, sizes: Sequence[int], lie: str | None) -> str:
    """What a coin does, in words."""
    theta = f"{group.theta} ({float(group.theta):.1%})"
    if len(group.columns) == 1:
        others = sizes[0] - 1
        else_told = "the other one" if others == 1 else f"one of the {others:,} others, each as likely"
        return f"with probability {theta} the true answer, else {else_told}"
    together = f"with probability {theta} the true answers to all {len(group.columns)}"
    if lie == "tuple":
        return f"{together}, else another combination of values, each as likely"
    return f"{together}, else another value for every one of them"


def odds_text(odds: Fraction) -> str:
    return decimal_text(odds) if odds.denominator < 10**6 and odds < 10**9 else f"{float(odds):.6g}"


def share(of: Fraction) -> str:
    """A share in per cent, exactly where that is short, and never below it."""
    tenths = of * 1000
    if tenths.denominator == 1:
        return f"{decimal_text(of * 100)}%"
    return bound_text(of)


def _limit(confidence: Fraction) -> str:
    return f"{decimal_text(confidence * 100)}%" if confidence.denominator < 10**6 else bound_text(confidence)


def _lines(rows: Sequence[Sequence[str]], header: Sequence[str], texts: int | None = None) -> list[Element]:
    """A table of so many lines as are read, and how many there are besides."""
    texts = len(header) if texts is None and len(header) == 2 else texts or 1
    parts = [table(header, rows[:MOST_LINES], texts=texts)]
    left = _left(len(rows) - MOST_LINES, "lines")
    return parts if left is None else [*parts, left]


def _left(number: int, what: str) -> Element | None:
    return paragraph(f"{number:,} more {what} are not shown here.", kind="nbc-quiet") if number > 0 else None
