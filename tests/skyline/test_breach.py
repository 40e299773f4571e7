"""Every breach is the one of all attacks listed, of all placements, and of the closed forms.

Random small releases hide what is hard about it, so structured ones are made too.
"""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skyline_cases import (
    GENERATORS,
    POINTS,
    assert_right,
    brief,
    groups_of,
    hist,
    only,
    random_release,
    same_value,
    singles,
)

from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import check, find

# --- the three cases: docs/mathematics/skyline.md, section 3


THIRD = [
    ([hist("s7 x7 w6"), {"s": 4, **singles(7)}], (1, 1, 3), Fraction(7, 8), Fraction(1904, 2179)),
    (
        [{"s": 1000, "x": 1000, "y": 1000, "z": 1000, "w": 500}, {"s": 1, **singles(9)}],
        (3, 5, 3),
        Fraction(5, 6),
        None,
    ),
    (
        [{"s": 10000, **{f"x{i}": 10000 for i in range(8)}, "w": 3000}, {"s": 1, **singles(39)}],
        (8, 30, 8),
        Fraction(50, 53),
        Fraction(9, 10),
    ),
]


@pytest.mark.parametrize(("release", "pieces", "expected", "printed"), THIRD, ids=["31", "4510", "93040"])
def test_the_third_case_is_the_target_alone(release, pieces, expected, printed):
    """The slides' third case says less: case 1, or case 2."""
    report = only(release, *pieces)
    assert (report.exact, report.case) == (expected, 3)
    first, second, _ = reference.cases(release, *pieces)
    if printed is not None:
        assert 1 / (1 + min(first, second)) == printed
    assert 1 / (1 + min(first, second)) < expected
    assert report.attack.group == {"group": 0}
    assert report.attack.known_group == report.attack.implied_group == {"group": 1}
    assert_right(release, *pieces, expected)


def test_the_smallest_third_case_by_placements():
    release, pieces, expected, _ = THIRD[0]
    assert reference.breach_by_placements(release, *pieces) == expected


def test_the_second_case_alone_decides():
    release = [hist("s7 x7 w2"), {"s": 4, **singles(4)}]
    assert reference.cases(release, 1, 1, 2) == [Fraction(3, 91), Fraction(3, 98), Fraction(2, 49)]
    report = only(release, 1, 1, 2)
    assert (report.exact, report.case) == (Fraction(98, 101), 2)
    assert (report.attack.known_group, report.attack.implied_group) == ({"group": 0}, {"group": 1})
    assert_right(release, 1, 1, 2, Fraction(98, 101))


@pytest.mark.parametrize(
    ("release", "pieces", "expected", "independent"),
    [
        ([hist("a2 b1 c1 d1"), hist("a1 b2 c3 d3")], (2, 0, 1), Fraction(24, 29), Fraction(5, 6)),
        (
            [hist("a20 c3 d1 e4 f1 g20 h20 i20"), hist("a10 b11 c3 d8 e40 g12 h11 i5")],
            (3, 2, 2),
            Fraction(14620, 17623),
            Fraction(3300, 3713),
        ),
    ],
    ids=["14", "189"],
)
def test_minima_are_those_of_one_value(release, pieces, expected, independent):
    factors = [reference.factors(group, s, *pieces) for group in release for s in group if group[s]]
    cf = [min(column) for column in zip(*factors, strict=True)]
    assert 1 / (1 + min(cf[0], cf[1] * cf[2], cf[3] * cf[4])) == independent
    assert expected < independent
    assert_right(release, *pieces, expected)


def test_the_tables_slide_needs_different_people():
    """With u = v the knowledge would imply the value; the group aabbbbcccc gives 8/13 at (0, 1, 1)."""
    assert only([hist("a2 b4 c4")], 0, 1, 1).exact == Fraction(8, 13)
    assert reference.breach_by_worlds([hist("a2 b4 c4")], 0, 1, 1) == Fraction(8, 13)


# --- small releases against everything


def test_small_releases_against_every_attack():
    """Every attack listed, each judged by listing all worlds."""
    rng = random.Random(11)
    for _ in range(120):
        release = random_release(rng, 3, 2, 3)
        if sum(map(sum, (group.values() for group in release))) > 7:
            continue
        l, k, m = rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2)
        expected = reference.breach_by_worlds(release, l, k, m)
        assert reference.breach(release, l, k, m) == expected
        assert_right(release, l, k, m, expected)


@pytest.mark.thorough
def test_more_small_releases_against_every_attack():
    rng = random.Random(12)
    for _ in range(3_000):
        release = random_release(rng, 4, 3, 3)
        if sum(map(sum, (group.values() for group in release))) > 7:
            continue
        l, k, m = rng.randint(0, 3), rng.randint(0, 2), rng.randint(0, 2)
        assert_right(release, l, k, m, reference.breach_by_worlds(release, l, k, m))


def against_placements(n_releases, seed):
    rng = random.Random(seed)
    for _ in range(n_releases):
        release = random_release(rng)
        l, k, m = rng.randint(0, 4), rng.randint(0, 4), rng.randint(0, 4)
        expected = reference.breach_by_placements(release, l, k, m)
        assert reference.breach(release, l, k, m) == expected
        assert only(release, l, k, m).exact == expected, (release, l, k, m)


def test_small_releases_against_all_placements():
    against_placements(600, 1)


@pytest.mark.thorough
def test_tens_of_thousands_of_small_releases():
    against_placements(40_000, 2)


@pytest.mark.parametrize("name", GENERATORS)
def test_hard_releases_against_all_placements(name):
    rng, decided = random.Random(name), {1: 0, 2: 0, 3: 0}
    for _ in range(150):
        release, l, k, m = GENERATORS[name](rng)
        expected = reference.breach_by_placements(release, l, k, m)
        assert_right(release, l, k, m, expected)
        decided[only(release, l, k, m).case] += 1
    if name == "third case":
        assert decided[3] >= 5
    if name == "second case":
        assert decided[2] >= 10


def test_same_value_generator_tells_independent_minima_apart():
    rng, told = random.Random(5), 0
    for _ in range(200):
        release, l, k, m = same_value(rng)
        factors = [reference.factors(group, s, l, k, m) for group in release for s in group if group[s]]
        cf = [min(column) for column in zip(*factors, strict=True)]
        told += 1 / (1 + min(cf[0], cf[1] * cf[2], cf[3] * cf[4])) != only(release, l, k, m).exact
    assert told >= 5


@pytest.mark.thorough
@pytest.mark.parametrize("name", GENERATORS)
def test_many_hard_releases(name):
    rng = random.Random(name + "!")
    for _ in range(4_000):
        release, l, k, m = GENERATORS[name](rng)
        assert only(release, l, k, m).exact == reference.breach(release, l, k, m)


@given(st.integers(0, 2**32), st.integers(0, 9), st.integers(0, 30), st.integers(0, 30))
def test_larger_groups_against_the_closed_form(seed, l, k, m):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, (rng.integers(1, 6), rng.integers(2, 9)))
    counts[0, 0] += 1
    release = [{f"v{j}": int(count) for j, count in enumerate(row)} for row in counts]
    report = only(release, l, k, m)
    assert report.exact == reference.breach(release, l, k, m)
    assert report.breach == pytest.approx(float(report.exact), rel=1e-11)


def test_groups_of_more_values_than_are_ranked_at_once():
    """More than 48 different values take other ways to the largest counts."""
    rng = np.random.default_rng(4)
    for d in (2, 3, 4, 7, 8, 9, 47, 48, 49, 80):
        counts = rng.integers(1, 30, (3, d))
        release = [{f"v{j:03}": int(count) for j, count in enumerate(row)} for row in counts]
        for l in (0, 1, 5, 14, 15, 16, 17, 40):
            assert only(release, l, 2, 2).exact == reference.breach(release, l, 2, 2)
    huge = [[1 << 57, 3, 1 << 58, 5, 1 << 57]]  # beyond what ranks hold
    release = [dict(enumerate(row)) for row in huge]
    (report,) = check(Groups(huge), [(2, 1, 2, 1)], exact=True)
    assert report.exact == reference.breach(release, 2, 1, 2)


# --- monotone


def test_splitting_groups_is_never_safer():
    rng = random.Random(6)
    for _ in range(300):
        release = reference.cleaned(random_release(rng, 4, 3, 8))
        place = rng.randrange(len(release))
        part = {value: rng.randint(0, count) for value, count in release[place].items()}
        rest = {value: count - part[value] for value, count in release[place].items()}
        split = [*release[:place], part, rest, *release[place + 1 :]]
        pieces = rng.randint(0, 3), rng.randint(0, 4), rng.randint(0, 4)
        assert only(split, *pieces).exact >= only(release, *pieces).exact


def test_harmless_splits_together_are_not():
    """A breach is not a matter of each group: docs/mathematics/skyline.md, section 9."""
    padding = [singles(20, "p"), singles(20, "q")]
    a, c = hist("s7 x7 w6"), {"s": 4, **singles(7)}
    point = (1, 1, 3, 0.8745)

    def state(*split):
        release = []
        for members, extra, apart in zip((a, c), padding, split, strict=True):
            release += [members, extra] if apart else [{**members, **extra}]
        return only(release, *point[:3], point[3])

    assert [state(*split).safe for split in ((0, 0), (1, 0), (0, 1), (1, 1))] == [True, True, True, False]
    assert float(state(1, 0).exact) == pytest.approx(0.87380, abs=5e-6)
    assert float(state(0, 1).exact) == pytest.approx(0.87047, abs=5e-6)
    assert state(1, 1).exact == Fraction(7, 8)


def test_more_knowledge_is_never_safer():
    rng = random.Random(7)
    for _ in range(200):
        groups = groups_of(random_release(rng))
        l, k, m = rng.randint(0, 2), rng.randint(0, 3), rng.randint(0, 3)
        base, *more = check(
            groups, [(l, k, m, 1), (l + 1, k, m, 1), (l, k + 1, m, 1), (l, k, m + 1, 1)], exact=True
        )
        assert all(report.exact >= base.exact for report in more)


# --- the size of it


def test_hundreds_of_thousands_of_groups_against_a_few():
    """Equal statistics however often they occur."""
    counts = np.tile([[3, 2, 2, 1], [1, 2, 2, 2], [5, 4, 1, 1]], (100_000, 1))
    few, many = Groups(counts[:3]), Groups(counts)
    assert brief(check(many, POINTS, exact=True)) == brief(check(few, POINTS, exact=True))
    assert find(many, 0.95) == find(few, 0.95)
