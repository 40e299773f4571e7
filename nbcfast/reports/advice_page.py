"""The private report of `advise`: which domain, what else there was, and what its answers give away."""

from __future__ import annotations

from nbcfast._markup.charts import Dot, dots
from nbcfast._markup.elements import Element
from nbcfast._markup.page_parts import State, Tile, card, facts, paragraph, table
from nbcfast.canonical import Advice
from nbcfast.canonical.advice.results import DomainChoice
from nbcfast.publishing.words import label
from nbcfast.reports.advice_summary import own_choice, shows_text
from nbcfast.reports.owner_page import owner_page
from nbcfast.reports.summary import Summary

MOST = 40  # choices of the front that stand in the table


def advice_page(made: Advice, summary: Summary) -> bytes:
    """The report of a domain that was advised."""
    own = own_choice(made)
    return owner_page(
        "Which values may be told apart?",
        summary,
        kind="advice on the domain",
        figures=(
            Tile("fact", "Kinds of people", f"{made.best.tuples:,}", "that the domain tells apart"),
            Tile("fact", "Right answers", f"{made.best.accuracy:.2%}", _of_rows(made)),
            _measure(
                "Class shows",
                own.flip == 1,
                own.flip is None,
                "not measured" if own.flip is None else f"of {shows_text(own.flip)}",
            ),
            _measure(
                "Counts come back",
                own.found == 0,
                own.found is None,
                "not measured" if own.found is None else f"{own.found:,} of {own.cells:,}",
            ),
        ),
        sections=(_chosen(made), front_section(made)),
        checklist=(
            "The menu was fixed before anybody looked at the rows, or it may be known what it tells of them.",
            "The values of each column are those of the code book.",
        ),
    )


def _of_rows(made: Advice) -> str:
    held_out = (
        f"on rows that were held out, in {made.folds} parts" if made.folds else "on the rows themselves"
    )
    return held_out if made.rows == "private" else f"{held_out}, of the other table"


def _measure(about: str, kept: bool, unmeasured: bool, figure: str) -> Tile:
    state: State = "unmeasured" if unmeasured else "kept" if kept else "warned"
    return Tile(state, about, figure, "in its answers, on your rows")


def _chosen(made: Advice) -> Element:
    sizes = made.best.sizes
    rows = [(label(name), f"{size:,} values") for name, size in sizes.items()]
    rows += [(label(name), "left out") for name in (*made.menu.attributes, *made.beside) if name not in sizes]
    tells = made.bits_at_most
    told = "The menu was made from the rows: what the choice tells of them is not bounded."
    if tells is not None:
        told = f"Which of the menu's domains it is tells at most {tells} bits, whatever the answers tell."
    return card("The domain", facts(rows), paragraph(told), private=True)


def front_section(made: Advice) -> Element | None:
    """What else the menu has: accuracy against bits."""
    measured = [choice for choice in (made.best, *made.front) if choice.bits is not None]
    if len(measured) < 2:
        return None
    points = [
        Dot(float(choice.bits or 0), choice.accuracy, choice is made.best, _line(choice))
        for choice in measured
    ]
    rows = [
        (
            " x ".join(map(str, choice.sizes.values())),
            f"{choice.tuples:,}",
            f"{choice.accuracy:.2%}",
            "not measured" if choice.bits is None else f"{choice.bits:.1f}",
            "not measured" if choice.found is None else f"{choice.found:,} of {choice.cells:,}",
            f"{choice.one_class:,}",
            "not measured" if choice.flip is None else shows_text(choice.flip),
        )
        for choice in made.front[:MOST]
    ]
    header = [
        "values of each attribute",
        "kinds of people",
        "right",
        "bits",
        "counts come back",
        "of one class",
        "class shows",
    ]
    text = f"{len(points):,} domains by bits a weight and accuracy; the chosen one has {_line(made.best)}"
    return card(
        "What else there was",
        paragraph(
            "Each point is a domain of the menu. Further left is less told, further up is more often right."
        ),
        dots(points, "bits a weight", "right answers", text, made.limits.max_bits),
        table(header, rows),
        private=True,
    )


def _line(choice: DomainChoice) -> str:
    bits = "no bits measured" if choice.bits is None else f"{choice.bits:.1f} bits"
    return f"{choice.tuples:,} kinds of people, {bits}, {choice.accuracy:.2%} right"
