"""Which Lambda keeps to a demand: docs/mathematics/safety.md, section k."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from nbcfast._core.numbers import Numeral, exact, exact_share, number_text, ratio_text
from nbcfast._core.validation import choice, whole


def limit(
    l1: Numeral, l2: Numeral, *, n_classes: int | None = None, rule: Literal["sharp", "paper"] = "sharp"
) -> Fraction:
    """The amplification that prevents an L1-to-L2 breach: a class set of probability at most L1 before the
    release and above L2 after it.

    Parameters
    ----------
    l1, l2 : int, Fraction, str or float
        0 < l1 < l2 < 1; a float means its shortest decimal text.
    n_classes : int, optional
        Needed by rule="paper" only, at least 2.
    rule : {"sharp", "paper"}
        "sharp": L2 (1 - L1) / (L1 (1 - L2)), right for every number of classes; Lambda may be equal to it.
        "paper": the supremum of formula (7), which Lambda has to stay below; it falls with the number of
        classes without need. Irrational, it is rounded down at 2^-64 and may then be used as it is.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        If not 0 < l1 < l2 < 1, or the number of classes is missing or below 2.

    Examples
    --------
    >>> limit(0.5, 0.8)
    Fraction(4, 1)
    >>> [round(float(limit(0.5, 0.8, n_classes=C, rule="paper")), 3) for C in (2, 3, 5, 10)]
    [4.0, 2.886, 2.41, 2.174]
    """
    low, high = Fraction(exact_share(l1, "l1")), Fraction(exact_share(l2, "l2"))
    if not 0 < low < high < 1:
        shown = " and ".join(number_text(exact(level, "level")) for level in (low, high))
        raise ValueError(f"l1 and l2 must be 0 < l1 < l2 < 1, got {shown}")
    choice(rule, ("sharp", "paper"), "rule")
    if n_classes is not None:
        n_classes = whole(n_classes, "n_classes", 2)
    odds = high * (1 - low) / (low * (1 - high))
    if rule == "sharp":
        return odds
    if n_classes is None:
        raise ValueError("rule='paper' needs n_classes: formula (7) depends on the number of classes")
    # The positive root of (C-1) x^2 + (1-g) x - g (C-1).
    others = int(n_classes) - 1
    square = (odds - 1) ** 2 + 4 * odds * others**2
    return (odds - 1 + root_below(square)) / (2 * others)


def allowed_amplification(demanded: Fraction, attacker: str) -> Fraction:
    """The largest Lambda that keeps this attacker to the limit demanded."""
    choice(attacker, ("row", "worlds"), "attacker")
    if demanded <= 1:
        raise ValueError(f"amplification must be above 1, got {ratio_text(demanded, math.nan)}")
    if attacker == "row":
        return demanded
    # Averaged over worlds, odds are within a factor of 2 of X_c / X_d, and may come near to it: section j.
    if demanded <= 2:
        raise ValueError(
            "amplification must be above 2 for attacker='worlds', whose odds can be twice X_c / X_d; "
            f"got {ratio_text(demanded, math.nan)}"
        )
    return demanded / 2


def root_below(square: Fraction) -> Fraction:
    """The root, exactly where it is rational, else its largest multiple of 2^-64 below."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt((square.numerator << 128) // square.denominator), 1 << 64)
