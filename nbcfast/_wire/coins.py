"""What the coin of a group of columns hides: the rules that makers, verifiers and devices share.

With probability theta all columns of a group are told as they are, else as a lie. `sizes` are the numbers
of values of the columns, and `lie` says what a lie is: "each" another value of every column, "tuple"
another tuple of their values, and None, in a binary scheme, the other of two values of every column.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.long_products import product_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING_TOLD = Fraction(1, 10**9)  # what less than this is left of by coins, no estimate brings back
LIES = ("each", "tuple")  # that a k-ary scheme may name


def scheme_fields(kind: object) -> set[str]:
    """The names in the JSON of a scheme; empty where there is no such kind."""
    if kind not in ("binary", "k-ary"):
        return set()
    return {"domains", "format", "groups", "kind"} | ({"lie"} if kind == "k-ary" else set())


def useless(theta: Fraction, sizes: Sequence[int], lie: str | None) -> list[bool]:
    """Of which columns of a group the answers tell nothing, as the truth is as likely as each of its lies."""
    together = product_of([1, *sizes]) - 1 if lie == "tuple" else None
    others = [size - 1 if together is None else together for size in sizes]
    return [abs(theta - (1 - theta) / number) < NOTHING_TOLD for number in others]


def exposed(theta: Fraction, sizes: Sequence[int], lie: str | None) -> list[bool]:
    """Of which columns of a group the answers say for sure what is true.

    So it is where none is a lie, and where all are and there is but one lie to each truth.
    """
    if theta != 0:
        return [theta == 1] * len(sizes)
    return [lie is None or (size == 2 and (lie == "each" or len(sizes) == 1)) for size in sizes]


def greatest_odds(theta: Fraction, sizes: Sequence[int], lie: str | None) -> Fraction:
    """e^epsilon of a group that has one: the most that an answer multiplies the odds of two truths by."""
    others = product_of([1, *sizes]) - 1 if lie == "tuple" else product_of([1, *(size - 1 for size in sizes)])
    ratio = theta * others / (1 - theta)
    return max(ratio, 1 / ratio)
