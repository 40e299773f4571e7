"""A private choice by votes: which block a person is in, what one person changes, and the law of the draw."""

import hashlib
import itertools
import random
from collections import Counter
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.canonical.advice.votes import choose_by_votes, exponential, first_blocks, votes_of
from nbcfast.published import evaluate

getcontext().prec = 60


def factor(epsilon, votes):
    """exp(epsilon votes / 2), to 60 digits."""
    return (Decimal(epsilon.numerator) * votes / (2 * epsilon.denominator)).exp()


def law(votes, n_options, epsilon):
    """The probability of each option by its definition."""
    weights = [factor(epsilon, votes.get(option, 0)) for option in range(n_options)]
    return [weight / sum(weights) for weight in weights]


class Chunks:
    """Draws that are given: the first bits, and then places."""

    def __init__(self, *drawn):
        self.left = list(drawn)

    def __call__(self, below):
        drawn = self.left.pop(0)
        assert 0 <= drawn < below
        return drawn


@given(st.fractions(0, 400), st.integers(1, 200))
def test_exponentials_lie_between_their_bounds(exponent, places):
    low, high = exponential(exponent, places)
    with localcontext() as context:
        context.prec = 300
        exact = (-Decimal(exponent.numerator) / exponent.denominator).exp() * 2**places
        assert low <= exact <= high
    assert 0 <= low < high <= low + 3


def test_the_bounds_of_large_and_small_exponents():
    assert exponential(Fraction(0), 8) in ((255, 257), (256, 257))
    assert exponential(Fraction(10**30), 64) == (0, 1)
    low, high = exponential(Fraction(1, 10**30), 64)
    assert low <= 2**64 <= high


@pytest.mark.parametrize(
    ("votes", "n_options", "epsilon"),
    [
        ({0: 3, 2: 3, 4: 1}, 6, Fraction(1, 2)),
        ({1: 5}, 4, Fraction(1)),
        ({0: 1, 1: 2, 2: 3}, 3, Fraction(7, 3)),
        ({}, 5, Fraction(1)),
        ({0: 10}, 1, Fraction(1)),
    ],
)
def test_the_draw_is_the_inverse_of_the_distribution(votes, n_options, epsilon):
    """For every uniform number of a grid: the level of votes is that in whose part of [0, 1) it lies."""
    probability = law(votes, n_options, epsilon)
    levels = sorted({votes.get(option, 0) for option in range(n_options)}, reverse=True)
    ends, total = [], Decimal(0)
    for level in levels:
        total += sum(probability[option] for option in range(n_options) if votes.get(option, 0) == level)
        ends.append(total)
    for step in range(512):
        uniform = (2 * step + 1) << 54  # the middle of a part, by 2^64
        drawn = choose_by_votes(votes, n_options, epsilon, below=Chunks(uniform, 0, 0))
        expected = next(
            (level for level, end in zip(levels, ends, strict=True) if Decimal(uniform) / 2**64 < end),
            levels[-1],
        )
        assert votes.get(drawn, 0) == expected
        assert drawn == min(option for option in range(n_options) if votes.get(option, 0) == expected)


def test_bits_are_drawn_until_it_is_decided():
    """At the end of the first part all 64 bits of the border do not decide, and the next ones do."""
    votes, epsilon = {0: 1}, Fraction(1)
    border = law(votes, 2, epsilon)[0]
    first, second = int(border * 2**64), int(border * 2**128) % 2**64
    for step, option in ((-1000, 0), (1000, 1)):
        below = Chunks(first, second + step, 0)
        assert choose_by_votes(votes, 2, epsilon, below=below) == option
        assert not below.left


def test_the_frequencies_are_those_of_the_law():
    """Chi-square with a fixed seed: 1 - 10^-3 of the distribution with 5 degrees of freedom is 20.5."""
    votes, n_options, epsilon, times = {1: 4, 3: 2, 4: 4}, 6, Fraction(1, 2), 20_000
    dice = random.Random(5)
    counts = Counter(choose_by_votes(votes, n_options, epsilon, below=dice.randrange) for _ in range(times))
    expected = [float(p) * times for p in law(votes, n_options, epsilon)]
    assert sum((counts[i] - e) ** 2 / e for i, e in enumerate(expected)) < 20.5
    # Another law is told apart: that of exp(epsilon v), and that of options without votes left out.
    for other in (law(votes, n_options, 2 * epsilon), law({**votes, 0: -99}, n_options, epsilon)):
        assert (
            sum((counts[i] - float(p) * times) ** 2 / (float(p) * times) for i, p in enumerate(other)) > 100
        )


def test_options_without_votes_are_drawn_evenly_and_never_listed():
    n_options = 10**15
    votes = {0: 1, 1: 1, 5: 1, n_options - 1: 1}
    last = 2**64 - 1  # the level of no votes is the last
    ranks = [(0, 2), (1, 3), (2, 4), (3, 6), (n_options - 6, n_options - 3), (n_options - 5, n_options - 2)]
    for rank, option in ranks:
        assert choose_by_votes(votes, n_options, "1/2", below=Chunks(last, rank)) == option
    for few in itertools.chain.from_iterable(itertools.combinations(range(6), size) for size in range(6)):
        left = [option for option in range(6) if option not in few]
        found = [
            choose_by_votes(dict.fromkeys(few, 1), 6, 1, below=Chunks(last, rank))
            for rank in range(len(left))
        ]
        assert found == left


def test_an_array_of_votes_is_a_mapping_of_them():
    votes = np.array([0, 3, 0, 1], np.int64)
    for seed in range(50):
        one = choose_by_votes(votes, 4, 1, below=random.Random(seed).randrange)
        assert one == choose_by_votes({1: 3, 3: 1}, 4, 1, below=random.Random(seed).randrange)
    assert choose_by_votes({2: 5000}, 3, 1) == 2  # by the coins of the operating system


@st.composite
def neighbours(draw):
    """Votes, and those after one block has voted otherwise, for the first time, or no longer."""
    n_options = draw(st.integers(1, 5))
    votes = {option: draw(st.integers(0, 6)) for option in range(n_options)}
    other = dict(votes)
    taken = draw(st.sampled_from([None, *(option for option in votes if votes[option])]))
    given_to = draw(st.sampled_from([None, *votes]))
    if taken is not None:
        other[taken] -= 1
    if given_to is not None:
        other[given_to] += 1
    return n_options, votes, other


@given(neighbours(), st.fractions(Fraction(1, 50), 4, max_denominator=50))
def test_one_row_changes_no_probability_by_more_than_e_to_the_epsilon(case, epsilon):
    n_options, votes, other = case
    most = factor(epsilon, 2)
    for one, two in zip(law(votes, n_options, epsilon), law(other, n_options, epsilon), strict=True):
        assert 1 / most < one / two < most


def test_the_bound_is_reached_nearly_and_a_replaced_row_exceeds_it():
    epsilon = Fraction(1)
    many, most = 200, factor(Fraction(1), 2)
    one, two = law({0: many}, 2, epsilon)[1], law({0: many - 1, 1: 1}, 2, epsilon)[1]
    assert most * Decimal("0.999999") < two / one < most
    replaced = law({0: many - 2, 1: 2}, 2, epsilon)[1] / one
    assert most * 2 < replaced < most**2
    half = law({0: many - 2, 1: 2}, 2, epsilon / 2)[1] / law({0: many}, 2, epsilon / 2)[1]
    assert half < most


def blocks_seen(values, weights, blocks):
    """The rows of each block that votes, with their weights."""
    found = []

    def best(block):
        found.append(
            {tuple(row): int(weight) for row, weight in zip(values.tolist(), block, strict=True) if weight}
        )
        return len(found)

    votes = votes_of(values, weights, blocks, best)
    assert sum(votes.values()) == len(found)
    return found


def test_copies_of_a_row_go_round_the_blocks():
    values = np.array([[3, 1], [0, -1]], np.int64)
    starts = first_blocks(values, 4)
    text = b"".join(number.to_bytes(8, "little", signed=True) for number in (0, -1))
    assert starts[1] == int.from_bytes(hashlib.sha256(text).digest(), "big") % 4
    seen = Counter()
    for block in blocks_seen(values, np.array([6, 1], np.int64), 4):
        seen.update(block)
        assert block.get((3, 1), 1) in (1, 2)
    assert seen == {(3, 1): 6, (0, -1): 1}


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)


@given(rows, st.tuples(st.integers(0, 2), st.integers(0, 2)), st.integers(1, 5))
def test_one_person_more_changes_one_block(people, one, blocks):
    """Whatever order rows are given in: all blocks but one hold the same people."""

    def held(listed):
        counts = Counter(listed)
        values = np.array(list(counts), np.int64)
        found = [
            frozenset(block.items()) for block in blocks_seen(values, np.array(list(counts.values())), blocks)
        ]
        return Counter(found)

    before, after = held(people), held([one, *people])
    assert sum((after - before).values()) == 1
    assert sum((before - after).values()) <= 1
    assert held(people[::-1]) == before


def test_codes_that_depend_on_other_rows_would_move_all_people():
    """Places in a domain that was found in the rows: a new first value changes those of all rows."""
    names = [f"{number:02}" for number in range(40)]
    found = [np.unique(listed, return_inverse=True)[1].reshape(-1, 1) for listed in (names, ["!", *names])]
    moved = first_blocks(found[0].astype(np.int64), 8) != first_blocks(found[1].astype(np.int64), 8)[1:]
    assert moved.sum() > 20


def test_blocks_without_rows_do_not_vote():
    assert votes_of(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), 5, lambda block: 1 / 0) == {}
    assert votes_of(np.array([[1]]), np.array([2]), 5, lambda block: 3) == {3: 2}
    assert votes_of(np.array([[1]]), np.array([0]), 5, lambda block: 3) == {}


def test_rows_decided_correctly_change_by_more_than_one():
    """Why blocks vote: as a score of the mechanism, accuracy on all rows has a sensitivity above 1."""

    def correct(people):
        table = nbcfast.Table(dict(zip("abc", zip(*people, strict=True), strict=True)))
        return round(evaluate(nbcfast.count(table, "c"), table, "c").accuracy * len(people))

    people = [(0, 0, 1)] * 2 + [(0, 1, 0)] * 2 + [(1, 0, 0)] * 3 + [(1, 1, 1)] * 2
    assert correct([*people, (0, 1, 1)]) - correct(people) == 5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({0: 1}, 0, 1), ValueError, "n_options must be at least 1, got 0"),
        (({0: 1}, 1, 0), ValueError, "epsilon must be above 0, got 0"),
        (({0: 1}, 1, "x"), ValueError, "epsilon must be a"),
        (({0: 1}, 1, 10**40), ValueError, "epsilon: exact limits have at most 38 digits"),
        (({1: 1}, 1, 1), ValueError, r"an option with votes must be 0..0, got 1"),
        (({0: -1}, 1, 1), ValueError, "votes must be at least 0, got -1"),
        (({0: 1.5}, 1, 1), TypeError, "votes must be an int"),
        (([1], 1, 1), TypeError, "votes must be a mapping or an array, got list"),
        (
            (np.array([1, 2]), 3, 1),
            ValueError,
            r"votes must be 3 numbers, one an option, got the shape \(2,\)",
        ),
    ],
)
def test_wrong_votes(arguments, error, message):
    with pytest.raises(error, match=message):
        choose_by_votes(*arguments)


def test_wrong_rows():
    values = np.array([[1], [2]], np.int64)
    weights = np.array([1, 1], np.int64)
    with pytest.raises(ValueError, match="values must be distinct rows"):
        votes_of(np.array([[1], [1]]), weights, 2, int)
    with pytest.raises(ValueError, match="values must have a line for each of the weights"):
        votes_of(values, weights[:1], 2, int)
    with pytest.raises(ValueError, match="weights must be at least 0, got -1"):
        votes_of(values, -weights, 2, int)
    with pytest.raises(ValueError, match="blocks must be at least 1"):
        votes_of(values, weights, 0, int)
    with pytest.raises(ValueError, match="the option that a block votes for must be at least 0"):
        votes_of(values, weights, 2, lambda block: -1)
