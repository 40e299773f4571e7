"""What `publish --strata --verbose` prints below the summary: a line for each stratum."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.table import Table as Grid
from rich.text import Text

from nbcfast.canonical import Leak
from nbcfast.canonical.leakage import percent
from nbcfast.cli.printing import Parts, listing, pairs, readable, remarked
from nbcfast.publishing.report import Publication
from nbcfast.publishing.strata_report import StratifiedPublication
from nbcfast.publishing.words import amount, label
from nbcfast.reports.certificate_words import limit_line
from nbcfast.table.values import Value

SHOWN = 60  # strata of which a line is printed


def strata_details(publication: StratifiedPublication, unit: str) -> Parts:
    """What stands below the summary; `unit` is what the private counts are of."""
    made = publication.release.certificate
    decisions = [
        ("method", publication.choice.text),
        ("limit of Lambda, in every stratum", limit_line(made.limit, made.amplification, made.attacker)),
        ("classifiers", f"{len(publication.strata):,}, of {amount(made.strata[0].tuples)} tuples each"),
    ]
    return [
        worth_grid(publication, unit),
        pairs(decisions),
        leaks_grid(publication),
        attacks_grid(publication),
        *remarked(made.notes),
    ]


def worth_grid(publication: StratifiedPublication, unit: str) -> Grid:
    """How the private classifiers and the published ones stand: all strata first, then each."""
    grid = listing(
        "worth",
        unit,
        "rows published",
        "Lambda before",
        "after",
        "log-loss before",
        "after",
        "accuracy on the input",
    )
    every = [("all strata", publication.before, publication.after)]
    every += [(stratum(publication, value), one.before, one.after) for value, one in _some(publication)]
    for name, before, after in every:
        grid.add_row(
            Text(name),
            readable(before.quality.rows),
            readable(after.rows),
            before.lambda_text,
            after.lambda_text,
            before.loss_text,
            after.loss_text,
            after.accuracy_text,
        )
    together = publication.together
    grid.add_row(
        Text("one classifier for all"), readable(together.rows), "-", "-", "-",
        f"{together.log_loss:.4f}", "-", f"{together.accuracy:.2%}",
    )  # fmt: skip
    return grid


def leaks_grid(publication: StratifiedPublication) -> Grid:
    """What the answers of each stratum give away: the worst of any stratum first."""
    grid = listing(
        "what the answers give away (for you alone)",
        "bits a weight",
        "counts given back",
        "class shows",
        "presence shows",
        "values of one class",
    )
    leaks = [one.leak for _, one in publication.strata.items() if one.leak is not None]
    measured = [leak for leak in leaks if leak.measured]
    if measured:
        grid.add_row("the worst of any stratum", *_worst(measured))
    for value, one in _some(publication):
        cells = ["-"] * 5
        if one.leak is not None and one.leak.measured:
            cells = [cell[0] for cell in _cells(one.leak)]
        grid.add_row(Text(stratum(publication, value)), *cells)
    return grid


def attacks_grid(publication: StratifiedPublication) -> Grid:
    """What adversaries find in each stratum."""
    grid = listing("adversaries", "counts that they find by undoing powers", "members told from others")
    for value, one in _some(publication):
        found = one.adversaries
        grid.add_row(Text(stratum(publication, value)), found.inversion_text, found.membership_text)
    return grid


def _worst(leaks: list[Leak]) -> Iterator[str]:
    """Of each column the cell of the stratum that gives away most."""
    for column in zip(*map(_cells, leaks), strict=True):
        yield max(column, key=lambda cell: cell[1])[0]


def _cells(leak: Leak) -> list[tuple[str, float]]:
    """The cells of a line, each with the number that says how bad it is."""
    found = leak.found or 0
    return [
        ("none" if math.isinf(leak.bits) else f"{leak.bits:.1f}", leak.bits),
        (f"{found:,} of {leak.cells:,}", found),
        (_shown(leak.shows_class, leak.sampled, leak.flip_shows_at_most), 1 - leak.flip),
        (_shown(leak.shows_presence, leak.sampled, leak.trace_shows_at_most), 1 - leak.trace),
        (f"{leak.one_class_values:,} ({leak.one_class_people:,} people)", leak.one_class_people),
    ]


def _shown(shown: int, sampled: int, most: float | None) -> str:
    """How many of the people looked at show, and what a sample leaves open."""
    return f"{shown:,} of {sampled:,}" + ("" if most is None else f"; at most {percent(most)}")


def stratum(publication: StratifiedPublication, value: Value) -> str:
    """A stratum as the beginning of a line."""
    return f"{label(publication.by)} = {label(value)}"


def _some(publication: StratifiedPublication) -> list[tuple[Value, Publication]]:
    """The strata that have a line of their own; what is kept from sight is in JSON."""
    return list(publication.strata.items())[:SHOWN]
