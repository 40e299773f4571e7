"""In words what a scheme of randomised response does not hide of the columns that it groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbcfast._wire.coins import exposed
from nbcfast._wire.messages import named, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction


def unbounded(theta: Fraction, sizes: Sequence[int], lie: str | None) -> str | None:
    """Why a group of columns with so many values is not epsilon-LDP for any epsilon; None if it is.

    `lie` is "each" or "tuple", or None in a binary scheme.
    """
    if all(exposed(theta, sizes, lie)):
        least = ", and there are two values" if theta == 0 and lie is not None else ""
        return f"not hidden at all: theta = {theta}{least}"
    n = len(sizes)
    if n > 1 and lie is None:
        odds = max(theta, 1 - theta) / min(theta, 1 - theta)
        return (
            "not epsilon-LDP for any epsilon: whether two columns agree is published for every pair (all "
            f"XORs, {n - 1} of {n} bits); hidden is only which of the answer and its opposite is true, at "
            f"odds of {number_text(odds)} times those before"
        )
    if n > 1 and lie == "each":
        return (
            "not epsilon-LDP for any epsilon: either all of its columns are true or none is, so a truth "
            "that shares some of the answer's values and not all is ruled out"
        )
    if theta == 0:
        return "not epsilon-LDP for any epsilon: theta = 0, so the answer is never the truth"
    return None


def disguised_warnings(
    untouched: Sequence[str], groups: Sequence[tuple[Sequence[str], str | None]]
) -> list[str]:
    """Columns without a coin, and groups of columns that are without an epsilon, each with the reason."""
    found = [f"Told as they are: {', '.join(map(named, untouched))}."] if untouched else []
    return found + [f"{', '.join(map(named, names))}: {why}." for names, why in groups if why is not None]
