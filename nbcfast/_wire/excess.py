"""Whether the largest ratio of two classes' scores exceeds a limit: by floats, products or logarithms.

Floats with a proven bound decide most; of what they leave open exact products decide, as long as they are
few, and then bounds of logarithms.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import frexp, gcd, ldexp
from operator import truediv
from typing import TYPE_CHECKING

from nbcfast._wire.json_entries import LONGEST_PART
from nbcfast._wire.logarithms import log2_below
from nbcfast._wire.long_products import product_of
from nbcfast._wire.release_form import ReleaseDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


DIGITS = 512  # binary digits after the point of logarithms of what floats leave open
# How much is looked at in a second or so of Python; what takes more is not decided.
MOST_RATIOS = 1 << 22  # quotients of counts, over all pairs of classes
MOST_LOGARITHMS = 1 << 12  # with these digits
MOST_MULTIPLIED = 1 << 23  # bits of all products that are taken because logarithms are too near to the limit


def excess(
    document: ReleaseDocument, limits: Callable[[tuple[int, int]], Fraction] | None = None
) -> tuple[tuple[int, int] | None, bool | None]:
    """Two classes whose largest ratio of scores exceeds the limit, or None; and whether products decided.

    The limit is that of Lambda, or what `limits` says of the two classes. Where products would be needed that
    take too long, and no other two classes exceed it, this is (None, None).
    """
    size, n = len(document.classes), len(document.attributes)
    # What two classes take, where looking at a quotient is one: as measured.
    each = 8 + sum(len(values) + 6 for _, values, _ in document.attributes)
    if limits is not None and document.prior is not None:
        each += 8 + (max(number.denominator.bit_length() for number in document.prior) ** 2 >> 14)
    if size * (size - 1) * each > MOST_RATIOS // document.sharing:
        return None, None
    if limits is None:
        limits = lambda pair: document.limit  # noqa: E731
    columns = [list(zip(*counts)) for _, _, counts in document.attributes]  # noqa: B905
    # A quotient is within 2^-51 of its mantissa, and so are each product and the limit.
    room = 16 * (n + 2) * 2.0**-53
    left = []
    for c in range(size):
        for d in range(size):
            if c == d:
                continue
            odds = _Odds(document, c, d, [_largest(column[c], column[d]) for column in columns])
            limit = limits((c, d))
            mantissa, exponent = _about(limit.numerator, limit.denominator)
            found, shift = odds.about()
            found = ldexp(found, max(-1000, min(shift - exponent, 1000)))
            if found > mantissa * (1 + room):
                return (c, d), False
            if found >= mantissa * (1 - room):
                left.append((odds, limit))
    logs, bits = Logs(document, DIGITS), MOST_MULTIPLIED // document.sharing
    open_ones, multiplied = False, False
    above: bool | None
    for odds, limit in left:
        size_of_it = odds.bits + limit.numerator.bit_length() + limit.denominator.bit_length()
        if size_of_it <= bits:
            bits -= size_of_it
            above, multiplied = odds.above(limit), True
        else:
            above = odds.compared(limit, logs)
        if above:
            return odds.pair, multiplied
        open_ones |= above is None
    return None, None if open_ones else multiplied


def _about(x: int, y: int) -> tuple[float, int]:
    """Mantissa and exponent of x / y, within 2^-51 of it."""
    by_x, by_y = max(x.bit_length() - 64, 0), max(y.bit_length() - 64, 0)
    mantissa, exponent = frexp((x >> by_x) / (y >> by_y))
    return mantissa, exponent + by_x - by_y


def _largest(above: Sequence[int], below: Sequence[int]) -> tuple[int, int]:
    """The pair of numbers, none 0, with the largest quotient."""
    places: Iterable[int] = range(len(above))
    try:
        quotients = list(map(truediv, above, below))  # each is the double nearest to the truth
        near = max(quotients) * (1 - 2.0**-50)
        if near > 1e-290:
            places = [t for t in places if quotients[t] >= near]
    except OverflowError:
        pass
    x, y = 0, 1
    # By their texts, as whoever writes the file chooses numbers that share their hash.
    for a, b in {f"{above[t]:x}/{below[t]:x}": (above[t], below[t]) for t in places}.values():
        if a * y > x * b:
            x, y = a, b
    return x, y


def _bits(factors: Counter[str]) -> int:
    return sum(int(text, 16).bit_length() * times for text, times in factors.items())


class _Odds:
    """The largest X_c / X_d: (P_d / P_c)^(n-1) times the largest N_c / N_d of each attribute."""

    def __init__(self, document: ReleaseDocument, c: int, d: int, largest: list[tuple[int, int]]) -> None:
        self.pair = c, d
        p, q = document.class_counts[c], document.class_counts[d]
        # For no attribute a score is P. What stands above and below is left out.
        self.largest = largest if largest else [(p, q)]
        self.base = (q, p) if p != q and largest else (1, 1)
        self.power = len(largest) - 1 if self.base != (1, 1) else 0
        self.left: tuple[Counter[str], Counter[str]] | None = None

    @property
    def bits(self) -> int:
        """Of all factors that are left."""
        return sum(map(_bits, self.factors)) + self.power * sum(number.bit_length() for number in self.base)

    @property
    def factors(self) -> tuple[Counter[str], Counter[str]]:
        """What stands above, and below, but for what stands in both; in lowest terms if that is less.

        By hexadecimal text, as whoever writes the file chooses numbers that share their hash.
        """
        if self.left is None:
            up, down = Counter(f"{x:x}" for x, _ in self.largest), Counter(f"{y:x}" for _, y in self.largest)
            self.left = up - down, down - up
            if sum(map(_bits, self.left)) > LONGEST_PART:
                common = [gcd(x, y) if max(x, y) >> LONGEST_PART == 0 else 1 for x, y in self.largest]
                up = Counter(f"{x // one:x}" for (x, _), one in zip(self.largest, common))  # noqa: B905
                down = Counter(f"{y // one:x}" for (_, y), one in zip(self.largest, common))  # noqa: B905
                self.left = min(self.left, (up - down, down - up), key=lambda both: sum(map(_bits, both)))
        return self.left

    def about(self) -> tuple[float, int]:
        """Mantissa and exponent, off by 2^-51 for each factor and 2^-53 for each product at most."""
        mantissa, exponent = 1.0, 0
        for x, y in self.largest:
            one, shift = _about(x, y)
            mantissa, more = frexp(mantissa * one)
            exponent += shift + more
        one, shift = _about(*self.base)
        power = self.power
        while power:
            if power & 1:
                mantissa, more = frexp(mantissa * one)
                exponent += shift + more
            one, more = frexp(one * one)
            shift = 2 * shift + more
            power >>= 1
        return mantissa, exponent

    def above(self, limit: Fraction) -> bool:
        """Whether they exceed the limit, by exact products."""
        up, down = (
            product_of([1, *(int(text, 16) for text in factors.elements())]) for factors in self.factors
        )
        above: int = up * self.base[0] ** self.power * limit.denominator
        below: int = down * self.base[1] ** self.power * limit.numerator
        return above > below

    def compared(self, limit: Fraction, logs: Logs) -> bool | None:
        """The same by bounds of logarithms, as many as are left; None where these do not tell."""
        up, down = ([(int(text, 16), times) for text, times in factors.items()] for factors in self.factors)
        found = room = 0
        most = MOST_LOGARITHMS // logs.document.sharing
        for sign, factors in ((1, up), (-1, down), (1, [(self.base[0], self.power)]),
                              (-1, [(self.base[1], self.power)]), (-1, [(limit.numerator, 1)]),
                              (1, [(limit.denominator, 1)])):  # fmt: skip
            for factor, times in factors:
                if len(logs.of_number) >= most and f"{factor:x}" not in logs.of_number:
                    return None
                found += sign * times * logs.below(factor)
                room += 2 * times
        return True if found > room else False if found < -room else None


class Logs:
    """Lower bounds of base-2 logarithms of the counts of a document, in units of 2^-digits."""

    def __init__(self, document: ReleaseDocument, digits: int) -> None:
        self.document = document
        self.digits = digits
        self.of_number: dict[str, int] = {}  # by hexadecimal text, as numbers may share their hash
        self.of_count: dict[tuple[int, int, int], int] = {}

    def below(self, number: int) -> int:
        text = f"{number:x}"
        if text not in self.of_number:
            self.of_number[text] = log2_below(number, self.digits)
        return self.of_number[text]

    def at(self, i: int, t: int, c: int) -> int:
        key = i, t, c
        if key not in self.of_count:
            self.of_count[key] = self.below(self.document.attributes[i][2][t][c])
        return self.of_count[key]
