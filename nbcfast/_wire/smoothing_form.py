"""What a release says of smoothing: the form of the number, and its words.

Counts that were smoothed, or have noise, are those of another classifier than the private one:
`private_text` says of which.
"""

from __future__ import annotations

import re
from fractions import Fraction

from nbcfast._wire.json_entries import Refused, shown
from nbcfast._wire.privacy_form import NoiseEntry

SMOOTHING = re.compile(r"([1-9][0-9]{0,9})(?:/([1-9][0-9]{0,9}))?")
MOST_SMOOTHING = 10**9  # of both numbers of the quotient: longer ones hide a text


def smoothing_of(entry: object) -> Fraction:
    """What was added to every count: "1" or "1/2", in lowest terms."""
    parts = SMOOTHING.fullmatch(entry) if type(entry) is str else None
    if parts is not None:
        number = Fraction(int(parts[1]), int(parts[2] or 1))
        if str(number) == entry and max(number.numerator, number.denominator) <= MOST_SMOOTHING:
            return number
    raise Refused(
        'field \'smoothing\': expected a positive number as "1" or "1/2", in lowest terms and of integers up '
        f"to 10^9, got {shown(entry)}"
    )


def private_text(altered: Fraction | NoiseEntry | None, what: str = "the private views") -> str:
    """What a release is compared with, in words: `altered` is what the private counts went through first."""
    if isinstance(altered, NoiseEntry):
        return what.replace("private", "noisy")
    return what if altered is None else f"{what} smoothed by {altered}"


def smoothing_note(smoothing: Fraction) -> str:
    """What a recipient has to know of smoothing."""
    return (
        f"The classifier was smoothed first: {smoothing} was added to every count of the data, zeros among "
        "them. That makes it another classifier, and protects nobody: who gets counts back and knows this "
        "number takes it away."
    )
