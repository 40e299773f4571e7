"""What the answers give away, as sections of a private report: meter, values of one class, adversaries."""

from __future__ import annotations

import math
from collections.abc import Iterator

from nbcfast._markup.charts import scale
from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import State, card, facts, findings, more, paragraph, table
from nbcfast.canonical import Leak, Limits
from nbcfast.canonical.leakage import percent
from nbcfast.publishing.gate import OneClassValue
from nbcfast.publishing.words import label

FIRST = 20  # rows of a table that are shown at first
MOST = 300  # and at most: a page is sent by mail
LEAST_SCALE = 16.0  # bits that the scale has room for


def meter_section(leak: Leak | None, limits: Limits, why_not: str | None = None) -> Element:
    """How fine the answers are, and what comes back from them."""
    heading = "What the answers give away"
    if leak is None or not leak.measured:
        text = why_not or "Not measured: there is one class, and nothing is told apart."
        return card(heading, paragraph(text), private=True)
    bits = None if math.isinf(leak.bits) else leak.bits
    most = max(LEAST_SCALE, 4.0 * math.ceil((bits or 0.0) / 4))
    limit = "no limit was set" if limits.max_bits is None else f"the limit is {limits.max_bits:g}"
    shown = scale(
        bits,
        limits.max_bits,
        most,
        ("little more than which value beats which", "so fine that counts begin to come back"),
        f"{'no' if bits is None else f'{bits:.1f}'} bits a weight on a scale to {most:.0f}; {limit}",
    )
    kept = [(label(name), f"{kept:,} of {size:,}") for name, (kept, size) in leak.levels.items()]
    return card(
        heading,
        paragraph(
            "Whoever holds the release can ask it about every case, and so learns all its answers; no limit "
            "takes them back. How fine they are is measured in bits a weight: few bits alone are no safety, "
            "many are a warning."
        ),
        shown,
        facts(leak_lines(leak)),
        more("values that the answers tell apart", table(["attribute", "values told apart"], kept)),
        private=True,
    )


def leak_lines(found: Leak) -> Iterator[tuple[str, str]]:
    """What a steward does something about: who is shown, by what, and how much there is in all."""
    looked_at = " looked at" if found.of_table else " drawn as the classifier sees them"
    for name, shown, most in (
        ("class", found.shows_class, found.flip_shows_at_most),
        ("presence", found.shows_presence, found.trace_shows_at_most),
    ):
        text = f"{shown:,} of {found.sampled:,}"
        if most is not None:
            text += f"{looked_at}; at most {percent(most)} can show, 95 % sure"
        yield f"people whose {name} shows if all others are known", text
    people = f"{found.one_class_people:,} {'person' if found.one_class_people == 1 else 'people'}"
    if not found.of_table and found.one_class_people:
        people = f"at most {people}"
    yield "values of one class only", f"{found.one_class_values:,} of {found.values:,} ({people})"
    yield (
        "values whose counts public totals and answers give",
        f"{found.found:,} of {found.cells:,}, {found.found_near:,} within 5 % "
        f"(totals alone: {found.null_found:,}, {found.null_near:,})",
    )
    bits = "none" if math.isinf(found.bits) else f"{found.bits:.1f}"
    yield "bits a weight (warning above 8; few are no safety)", bits
    yield "bits that all answers together can carry, at most", f"{found.total_bits:,.0f}"


def one_class_section(values: list[OneClassValue]) -> Element | None:
    """The values that people of one class alone have, by name: each is a rule that the answers show."""
    if not values:
        return None
    rows = [
        (f"{label(one.name)} = {label(one.value)}", label(one.of_class), f"{one.people:,}") for one in values
    ]
    header = ["value", "everybody who has it is of", "people"]
    rest = None
    if len(rows) > FIRST:
        left = rows[FIRST:MOST]
        beyond = f", of which at most {len(left):,} stand here" if len(rows) > MOST else ""
        rest = more(f"{len(rows) - FIRST:,} more values{beyond}", table(header, left, texts=2))
    return card(
        "Values of one class",
        paragraph(
            "Whoever knows how many people have such a value reads their class off the answers. A coarser "
            "domain puts it together with others, or leaves the column out."
        ),
        table(header, rows[:FIRST], texts=2),
        rest,
        private=True,
    )


def adversaries_section(tried: list[tuple[State, str, str]]) -> Element:
    """What adversaries were tried, and what they find: the state, who, what."""
    return card("What adversaries make of it", findings(tried), private=True)
