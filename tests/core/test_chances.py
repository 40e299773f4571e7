"""Epsilon and shares in words: exact, and never rounded to the side that calms."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast._core.chances import (
    chance_text,
    epsilon_words,
    factor_of,
    moved,
    odds_words,
    people_text,
    rounded_up,
    share_text,
)

SHARES = st.fractions(0, 1)


@given(st.fractions(0, 60))
def test_the_factor_is_just_above(epsilon):
    import gmpy2

    factor = factor_of(epsilon)
    with gmpy2.context(precision=200, round=gmpy2.RoundDown):
        below = gmpy2.exp(gmpy2.mpq(epsilon))
    with gmpy2.context(precision=200, round=gmpy2.RoundUp):
        above = gmpy2.exp(gmpy2.mpq(epsilon))
    assert gmpy2.mpq(factor) >= gmpy2.mpq(below)
    assert gmpy2.mpq(factor) <= gmpy2.mpq(above) * (1 + gmpy2.mpq(1, 2**90))


@given(SHARES)
def test_a_chance_is_never_said_to_be_less(chance):
    text = chance_text(chance)
    if text == "certainty":
        assert chance > 1 - Fraction(1, 10**6)
        return
    top, bottom = (int(number.replace(",", "")) for number in re.findall("[0-9,]+", text))
    assert chance <= Fraction(top, bottom) < chance + Fraction(1, bottom)
    assert top < bottom


@given(st.fractions(0, 10**6), st.integers(0, 6))
def test_a_number_is_never_said_to_be_less(number, digits):
    said = Fraction(rounded_up(number, digits).replace(",", ""))
    assert number <= said < number + Fraction(1, 10**digits)


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.booleans())
def test_a_share_is_rounded_to_its_side(part, whole, up):
    part = min(part, whole)
    text = share_text(part, whole, up=up)
    assert re.fullmatch(r"[0-9]{1,3}\.[0-9]%", text)
    said, share = Fraction(text.removesuffix("%")) / 100, Fraction(part, whole)
    assert (said == 0) == (part == 0)
    assert (said == 1) == (part == whole)
    if Fraction(1, 1000) < share < Fraction(999, 1000):
        assert (said >= share) if up else (said <= share)
    assert abs(said - share) < Fraction(1, 500)


@given(SHARES, st.fractions(1, 1000))
def test_odds_are_multiplied(chance, factor):
    after = moved(chance, factor)
    assert chance <= after <= 1
    assert after * (1 - chance) == factor * chance * (1 - after)


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        ("1", "factor of 2.72: from 1 in 2 to at most 74 in 100, from 1 in 100 to at most 3 in 100"),
        ("1/10", "factor of 1.11: from 1 in 2 to at most 53 in 100, from 1 in 100 to at most 2 in 100"),
        (
            "10",
            "factor of 22,026.47: from 1 in 2 to at most 99,996 in 100,000, from 1 in 100 to at most 996 in",
        ),
        ("51", "odds may move by a factor so large that hardly anything is hidden"),
        ("1000000000", "odds may move by a factor so large that hardly anything is hidden"),
    ],
)
def test_epsilon_in_words(epsilon, words):
    assert words in epsilon_words(Fraction(epsilon))


def test_delta_and_small_words():
    assert epsilon_words(Fraction(1), Fraction(3, 10**6)).endswith(
        "; but for a chance of 1 in 333,333 of more"
    )
    assert odds_words(Fraction(1)).startswith(
        "odds move by at most a factor of 1: from 1 in 2 to at most 50 in"
    )
    assert people_text(7, 10) == "7 of 10 people"
