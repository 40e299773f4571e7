"""`budgeted`: points of few bits that are those of their own answers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.boxes.types import AnyBox
from nbcfast.canonical.weights.results import Scorecard, Solution
from nbcfast.canonical.weights.scorecard import differing, integers, shortened
from nbcfast.canonical.weights.solve import solve

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

SHORTER = Fraction(7, 8)


def budgeted(
    box: AnyBox, solution: Solution, bits: int, *, progress: Progress | None = None
) -> tuple[Scorecard, bool]:
    """Points of at most so many bits which are what `integers` makes of their own answers, to these bits.

    Where the bits are too few for the answers of the box, `integers` changes some. What it makes of the
    changed answers may be other points again, and then nobody could tell from a file whether its points are
    rounded or were chosen to say something else. So a rounding is taken only for its answers: the first whose
    answers the bits are enough for, where one after another is shorter by an eighth. The last has points of 0
    alone, and those are enough for themselves, so this ends; it needs no memory of what it has tried.

    All of it is a function of the box and of public parameters, as the theorem on canonical releases asks:
    who has the answers makes the same points, and who has the points knows their answers.

    That it ends, and is what anybody can check from the file: docs/mathematics/canonical.md, section 8.

    Returns
    -------
    Scorecard
        `changed` are the tuples that it decides otherwise than the box.
    bool
        Whether every machine comes to it.
    """
    card = integers(box, solution, bits, progress=progress)
    reproducible, most = solution.reproducible, Fraction((1 << bits) - 1)
    if not card.changed:
        return card, reproducible
    rough = card
    while True:
        # Never `card` itself: what a rounding changed may round to other points again.
        decided = answers(rough, box)
        solution_of_decided = solve(decided, progress=progress)
        reproducible = reproducible and solution_of_decided.reproducible
        card = integers(decided, solution_of_decided, bits, progress=progress)
        if not card.changed:
            return replace(card, changed=differing(box, card)), reproducible
        most *= SHORTER
        rough = shortened(box, solution, most)
