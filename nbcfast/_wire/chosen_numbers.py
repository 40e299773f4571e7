"""Numbers that a publisher chose, such as limits: they are printed in full, and may not hide a text."""

from __future__ import annotations

from fractions import Fraction

from nbcfast._wire.json_entries import Refused, rational, shown, whole
from nbcfast._wire.messages import short

MOST_PEOPLE = 2**61  # of a table, less than this
# Of both parts of a limit, a prior, or another number that somebody chose: longer ones hide a text. The limit
# that `safety.limit` rounds at 2^-64 has fewer.
MOST_DIGITS = 38


def chosen(entry: object, where: str, factors: int = 1) -> Fraction:
    """A rational that the publisher chose, or the product of so many: it may carry that many digits."""
    digits = MOST_DIGITS * factors
    if type(entry) is str and len(entry) > 4 * digits:  # before numbers of any length are looked at
        raise _carries(entry, digits, where)
    number = rational(entry, where)
    if carries_more(number, factors):
        raise _carries(entry, digits, where)
    return number


def carries_more(number: Fraction, factors: int = 1) -> bool:
    """Whether a number has more digits than one that somebody chose may have."""
    least: int = 10 ** (MOST_DIGITS * factors)
    return max(abs(number.numerator), number.denominator) >= least


def long_point(number: Fraction) -> bool:
    """Whether a point, at which numbers are cut in two, has more digits than it may, but for zeros.

    The numbers may be as small or as large as doubles are, and then their middle is; of digits that are not
    zeros before or behind all others it has no more than another number that somebody chose.
    """
    if not carries_more(number):
        return False
    up, down = abs(number.numerator), number.denominator
    twos, fives = (down & -down).bit_length() - 1, 0
    down >>= twos
    while down % 5 == 0:
        down, fives = down // 5, fives + 1
    if down != 1:
        return True
    digits: int = up * 5 ** max(twos - fives, 0) * 2 ** max(fives - twos, 0)
    while digits % 10 == 0:
        digits //= 10
    least: int = 10**MOST_DIGITS
    return digits >= least


def _carries(entry: object, digits: int, where: str) -> Refused:
    return Refused(
        f"{where}: beyond what a limit may carry: expected numbers of up to {digits} digits in "
        f'"num/den", got {shown(entry)}'
    )


def demanded(entry: object, where: str) -> int:
    """A number of people, values or pieces of knowledge that the publisher chose."""
    number = whole(entry, where)
    if number > MOST_PEOPLE:
        raise Refused(f"{where}: beyond what a limit may carry: expected up to 2^61, got {short(number)}")
    return number
