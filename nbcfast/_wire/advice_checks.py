"""What a release says of the choice of its domain, held against what the file itself shows of it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast._wire.logarithms import log2_below
from nbcfast._wire.messages import decimal_text, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nbcfast._wire.outcomes import Judged
    from nbcfast._wire.release_form import ReleaseDocument

ADVICE_CHECK = "advice"
MOST_TAKEN_APART = 1 << 20  # choices, up to which it is looked whether numbers of options give them
LOGARITHM_PLACES = 64  # binary, of a logarithm


def bits_limit(document: ReleaseDocument) -> Fraction | None:
    """How many bits a weight the published answers may take at most, by what is said of their choice.

    None where nothing says so of these answers: where there is no such limit, where it was kept on other
    rows, where the publisher says that limits need not be kept, and where points decide other than, or are
    known on a list alone.
    """
    advice, made = document.advice, document.canonical
    if advice is None or made is None or advice.rows != "private" or document.accepted:
        return None
    limit = advice.limits["max_bits"]
    if limit is None or document.differing_tuples != 0 or len(document.classes) == 1:
        return None
    return Fraction(limit)


def other_than_said(document: ReleaseDocument) -> str | None:
    """What the file shows otherwise than it says of the choice, or None; that nothing does proves nothing."""
    advice = document.advice
    if advice is None:
        return None
    if advice.options <= MOST_TAKEN_APART // document.sharing and not _is_product(
        advice.options, advice.chosen
    ):
        return (
            f"no numbers of options for {len(advice.chosen):,} columns, with those that were chosen, give "
            f"{short(advice.options)} choices"
        )
    limit = bits_limit(document)
    if limit is None:
        return None
    steps = _steps(document)
    if log2_below(steps, LOGARITHM_PLACES) <= limit * (1 << LOGARITHM_PLACES):
        return None
    return (
        f"weights that give these answers have {short(steps)} steps or more, which is above the limit of "
        f"{decimal_text(limit)} bits a weight"
    )


def judge_advice(document: ReleaseDocument) -> Judged:
    """The check of what is said of the choice of a domain, where there is something to check."""
    fault = other_than_said(document)
    if fault is not None:
        return [(ADVICE_CHECK, False, fault)]
    if bits_limit(document) is None:
        return []
    return [(ADVICE_CHECK, None, "bits a weight are not worked out here: nbcfast verify does that")]


def _steps(document: ReleaseDocument) -> int:
    """A lower bound of the range of weights over their margin; 1 where nothing is known.

    Of two classes. Points are rounded weights, so values of different points have different weights, and
    some tuples of the other attributes tell each level from the next: they are two margins apart. Scores
    spread over the sum of all that, and one end is at half of it or beyond.
    """
    made = document.canonical
    if made is None or len(document.classes) != 2:
        return 1
    # By their texts, as whoever writes the file chooses numbers that share their hash.
    return max(1, sum(len({f"{row[0]:x}" for row in rows}) - 1 for rows in made["points"]))


def _is_product(options: int, places: Iterable[int]) -> bool:
    """Whether a number of choices is a product of one for each column, each above the place of its option."""
    divisors = [number for number in range(1, int(options**0.5) + 2) if options % number == 0]
    divisors = sorted({*divisors, *(options // number for number in divisors)})
    left = {options}
    for place in sorted((place for place in places if place), reverse=True):
        left = {one // number for one in left for number in divisors if number > place and one % number == 0}
        if not left:
            return False
    return True
