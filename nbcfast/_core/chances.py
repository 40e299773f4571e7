"""Epsilon, factors of odds and shares in plain words, rounded so that none calms wrongly."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2

PRECISION = 96  # bits of e^epsilon
LARGEST = 50  # an epsilon beyond which hardly anything is hidden, and numbers say nothing
DIGITS = 12  # to which a float is taken for what it stands for
FINEST = 10**6  # of how many a chance near certainty is said
EVEN, RARE = Fraction(1, 2), Fraction(1, 100)


def factor_of(epsilon: Fraction) -> Fraction:
    """A number just above e^epsilon.

    Examples
    --------
    >>> float(factor_of(Fraction(1)))
    2.718281828459045
    """
    with gmpy2.context(precision=PRECISION, round=gmpy2.RoundUp):
        top, bottom = gmpy2.exp(gmpy2.mpq(epsilon)).as_integer_ratio()
    return Fraction(int(top), int(bottom))


def moved(chance: Fraction, factor: Fraction) -> Fraction:
    """The chance whose odds are those of another one times a factor.

    Examples
    --------
    >>> moved(Fraction(1, 2), Fraction(4))
    Fraction(4, 5)
    """
    return chance * factor / (chance * factor + 1 - chance)


def chance_text(chance: Fraction) -> str:
    """What a chance is at most, as so many of a hundred, or of more where that would be all.

    Examples
    --------
    >>> chance_text(Fraction(731, 1000)), chance_text(Fraction(9999, 10000)), chance_text(Fraction(1))
    ('74 in 100', '9,999 in 10,000', 'certainty')
    """
    parts = 100
    while parts < FINEST and math.ceil(chance * parts) >= parts > chance * parts:
        parts *= 10
    if math.ceil(chance * parts) >= parts:
        return "certainty"
    return f"{math.ceil(chance * parts):,} in {parts:,}"


def rounded_up(number: Fraction, digits: int = 2) -> str:
    """A positive number with so many decimals, never smaller than it is.

    Examples
    --------
    >>> rounded_up(Fraction(271828, 100000)), rounded_up(Fraction(4))
    ('2.72', '4')
    """
    scaled = math.ceil(number * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    decimals = f"{rest:0{digits}d}".rstrip("0") if digits else ""
    return f"{whole:,}.{decimals}" if decimals else f"{whole:,}"


def odds_words(factor: Fraction) -> str:
    """What it means that odds move by at most a factor.

    Examples
    --------
    >>> odds_words(Fraction(4))
    'odds move by at most a factor of 4: from 1 in 2 to at most 80 in 100, from 1 in 100 to at most 4 in 100'
    """
    if factor > factor_of(Fraction(LARGEST)):
        return "odds may move by a factor so large that hardly anything is hidden"
    even, rare = (chance_text(moved(chance, factor)) for chance in (EVEN, RARE))
    return (
        f"odds move by at most a factor of {rounded_up(factor)}: from 1 in 2 to at most {even}, from 1 in "
        f"100 to at most {rare}"
    )


def epsilon_text(epsilon: float) -> str:
    """An epsilon with four decimals, never smaller than it is.

    Examples
    --------
    >>> epsilon_text(1.94591014)
    '1.9460'
    """
    return f"{math.ceil(epsilon * 10**4) / 10**4:.4f}"


def epsilon_words(epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    """What an epsilon means for one person, and a delta beside it.

    Examples
    --------
    >>> epsilon_words(Fraction(1))[:73]
    'odds move by at most a factor of 2.72: from 1 in 2 to at most 74 in 100, '
    >>> epsilon_words(Fraction(1, 10), Fraction(1, 10**6))[-44:]
    '; but for a chance of 1 in 1,000,000 of more'
    """
    words = odds_words(factor_of(min(epsilon, Fraction(LARGEST + 1))))
    if not delta:
        return words
    return f"{words}; but for a chance of 1 in {math.floor(1 / delta):,} of more"


def share_text(part: int | Fraction, whole: int = 1, *, up: bool = True) -> str:
    """A share in percent with one decimal, rounded up or down: to the side that does not calm.

    Neither all nor none is said where it is not so.

    Examples
    --------
    >>> share_text(1, 3), share_text(1, 3, up=False), share_text(9999, 10000), share_text(1, 9999, up=False)
    ('33.4%', '33.3%', '99.9%', '0.1%')
    """
    share = Fraction(1000 * part) / whole
    tenths = math.ceil(share) if up else math.floor(share)
    if 0 < part < whole:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths // 10}.{tenths % 10}%"


def rounded_share(part: int, whole: int) -> str:
    """A share in percent, rounded: of shares that stand side by side, and no bounds, so that they add up.

    Neither all nor none is said where it is not so.

    Examples
    --------
    >>> rounded_share(26725, 32561), rounded_share(5836, 32561), rounded_share(1, 9999)
    ('82.1%', '17.9%', '0.1%')
    >>> rounded_share(141, 400), rounded_share(259, 400)
    ('35.2%', '64.8%')
    """
    tenths = round(Fraction(1000 * part, whole))  # to even: of two halves one goes down
    if 0 < part < whole:
        tenths = min(max(tenths, 1), 999)
    return f"{tenths // 10}.{tenths % 10}%"


def bound_text(probability: float | Fraction, decimals: int = 1) -> str:
    """A probability in percent that is nowhere smaller than it is: more decimals stand where it would be all.

    A float may be off by its own rounding, which is no part of it.

    Examples
    --------
    >>> bound_text(0.7955), bound_text(0.8), bound_text(0.99999), bound_text(1.0)
    ('79.6%', '80.0%', '99.999%', '100.0%')
    >>> bound_text(Fraction(2, 3), 2)
    '66.67%'
    """
    exactly = probability if isinstance(probability, Fraction) else Fraction(str(round(probability, DIGITS)))
    while True:
        scaled = math.ceil(exactly * 100 * 10**decimals)
        if scaled < 100 * 10**decimals or exactly >= 1 or decimals >= DIGITS:
            whole, rest = divmod(scaled, 10**decimals)
            return f"{whole}.{rest:0{decimals}d}%"
        decimals += 1


def people_text(part: int, whole: int) -> str:
    """How many of how many people: "7 of 10 people".

    Examples
    --------
    >>> people_text(1200, 5000), people_text(1, 1)
    ('1,200 of 5,000 people', '1 of 1 person')
    """
    return f"{part:,} of {whole:,} {'person' if whole == 1 else 'people'}"
