"""Verdicts beside the confidence: ties, limits, underflow; special cases, and what the slides show."""

import random
from fractions import Fraction

import pytest
from how_many import how_many
from skyline_cases import assert_right, attack_breach, groups_of, hist, only, random_release, singles

from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import check, deciding, find

NEAR_ONE = 1 - 2.0**-53


# --- ties, limits, underflow


@pytest.mark.parametrize(
    ("release", "pieces", "confidence"),
    [
        ([dict.fromkeys("abcdefghij", 1)], (0, 0, 0), 0.1),
        ([dict.fromkeys("abcdefghij", 3), dict.fromkeys("abcdefghij", 3)], (0, 0, 0), 0.1),
        ([hist("a19 b1")], (0, 0, 0), 0.95),
        ([hist("a1 b1")], (0, 0, 0), 0.5),
        ([hist("a2 b1 c1 d1")], (1, 0, 0), "1/2"),
    ],
)
def test_a_breach_of_the_confidence_is_unsafe(release, pieces, confidence):
    report = only(release, *pieces, confidence)
    assert (report.safe, report.exact) == (False, report.point.confidence)
    assert not reference.is_safe(release, *pieces, confidence)


def test_floats_are_their_shortest_text():
    """0.95 as a binary number is below 19/20, 0.1 above 1/10."""
    (report,) = check(groups_of([hist("a19 b1")]), [(0, 0, 0, Fraction(0.95))])
    assert not report.safe
    (report,) = check(groups_of([dict.fromkeys("abcdefghij", 1)]), [(0, 0, 0, Fraction(0.1))])
    assert report.safe


def test_odds_that_no_float_holds():
    groups = groups_of([{"a": 1000, "b": 1000}])
    safe, unsafe = check(groups, [(0, 0, 999, 1), (0, 0, 1000, 1)])
    assert (safe.safe, safe.breach) == (True, NEAR_ONE)
    assert (unsafe.safe, unsafe.breach) == (False, 1.0)
    (exact,) = check(groups, [(0, 0, 999, 1)], exact=True)
    assert exact.exact == reference.breach([{"a": 1000, "b": 1000}], 0, 0, 999) < 1
    assert exact.breach == NEAR_ONE
    assert [
        r.safe for r in check(groups, [(0, 0, 999, 1 - Fraction(1, 2**1993)), (0, 0, 999, exact.exact)])
    ] == [
        exact.exact < 1 - Fraction(1, 2**1993),
        False,
    ]
    assert find(groups, 1)[0] == (0, 0, 999)


def test_the_verdict_is_exact_next_to_the_confidence(monkeypatch):
    """Also where floats would have said the contrary: one part in 10^30."""
    release = [hist("s7 x7 w6"), {"s": 4, **singles(7)}]
    step = Fraction(1, 10**30)
    above, below = check(
        groups_of(release), [(1, 1, 3, Fraction(7, 8) + step), (1, 1, 3, Fraction(7, 8) - step)]
    )
    assert (above.safe, below.safe) == (True, False)
    asked = []
    original = deciding.exactly
    monkeypatch.setattr(deciding, "exactly", lambda *given: asked.append(given) or original(*given))
    check(groups_of(release), [(1, 1, 3, 0.5), (1, 1, 3, 0.99), (1, 1, 3, 1)])
    assert not asked
    check(groups_of(release), [(1, 1, 3, Fraction(7, 8) + Fraction(1, 10**10))])
    assert len(asked) == 1


def test_near_ties_are_broken_by_integers():
    """Two groups whose odds differ by less than floats show."""
    n = 10**9
    release = [{"a": n, "b": n + 1}, {"a": n + 1, "b": n}, {"a": 10**17 + 1, "b": 10**17, "c": 1}]
    for pieces in [(0, 0, 0), (0, 1, 1), (0, 5, 0), (0, 0, 3)]:
        assert only(release, *pieces).exact == reference.breach(release, *pieces)
    report = only([{"a": 3 * 10**16, "b": 10**16 + 1}, {"a": 3 * 10**16 + 1, "b": 10**16}], 0, 0, 0)
    assert report.attack.group == {"group": 1}


def test_more_knowledge_than_people():
    release = [hist("a3 b2 c1"), hist("a1 b1")]
    for pieces in [(0, 100, 0), (0, 0, 100), (100, 0, 0), (10**30, 10**30, 10**30), (0, 2, 0), (1, 0, 0)]:
        report = only(release, *pieces)
        assert (report.exact, report.breach, report.safe, report.case) == (1, 1.0, False, 1)
        assert attack_breach(release, report.attack) == 1
    assert only(release, 0, 0, 0).exact == Fraction(1, 2)
    assert only([hist("a1")], 0, 0, 0).exact == 1  # one person
    assert only([hist("a9")], 0, 0, 0).exact == 1  # one value
    one_there = [hist("a3 b3"), hist("c3 d3")]  # values of one group only
    for pieces in [(0, 0, 2), (0, 1, 1), (0, 2, 0), (1, 0, 0)]:
        assert_right(one_there, *pieces, reference.breach_by_placements(one_there, *pieces))


def test_the_integer_test_of_certainty():
    rng = random.Random(8)
    for _ in range(400):
        release = random_release(rng)
        l, k, m = rng.randint(0, 5), rng.randint(0, 6), rng.randint(0, 6)
        certain = False
        for members in reference.cleaned(release):
            ranked = sorted(members.values(), reverse=True)
            n = sum(ranked)
            certain |= k >= n - sum(ranked[: l + 1]) or (m >= 1 and k + m >= n - ranked[0])
        (report,) = check(groups_of(release), [(l, k, m, 1)])
        assert report.safe is not certain
        assert (report.breach == 1) is certain


# --- special cases, and what the slides show


def test_k_anonymity_is_a_special_case():
    for K in range(2, 7):
        for sizes in ([K, K + 3], [K - 1, K + 5], [K]):
            release = [singles(n, letter) for n, letter in zip(sizes, "xyz", strict=False)]
            report = only(release, 0, K - 2, 0)
            assert report.safe is (min(sizes) >= K)
            assert report.exact == (Fraction(1, min(sizes) - K + 2) if min(sizes) >= K else 1)
    assert only([singles(5)], 0, 3, 0).exact == Fraction(1, 2)


def test_recursive_diversity_is_a_special_case():
    rng = random.Random(3)
    for _ in range(how_many(150, 400)):
        release = random_release(rng)
        groups = groups_of(release)
        for L in (2, 3, 4):
            ratio = groups.recursive_c(L)
            for c in (Fraction(2), Fraction(3), Fraction(1, 2), ratio):
                if c in (0, float("inf")):
                    continue
                (report,) = check(groups, [(L - 2, 0, 0, c / (c + 1))])
                assert report.safe is (ratio < c) is groups.is_recursive_diverse(c, L)
    assert check(Groups([[4, 2]]), [(0, 0, 0, "2/3")])[0].safe is False  # r_1 = 2 r_2


def test_the_slides_example():
    release = [{"flu": 1, "cancer": 2, "aids": 1}]
    assert only(release, 0, 0, 0).exact == Fraction(1, 2)
    report = only(release, 1, 1, 0)
    assert report.exact == 1
    assert report.attack.text.startswith("target in group 0 (4 people, ")


def test_knowledge_of_millions_ends():
    groups = Groups([[10**9, 10**9]])
    (report,) = check(groups, [(0, 0, 10**6, "0.9")])
    assert not report.safe
    assert report.breach < 1
    (report,) = check(groups, [(0, 10**9 - 1, 0, 1)])
    assert report.safe
    (report,) = check(groups, [(0, 10**9, 0, 1)])
    assert not report.safe


def test_groups_of_more_people_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match=r"a group must have less than 2\^61 people"):
        check(Groups([[2**62, 2**61 + 5]]), [(0, 2**61 + 5, 0, 1)])
    (report,) = check(Groups([[2**60, 2**59]]), [(0, 2**59, 0, 1)])
    assert not report.safe
    (report,) = check(Groups([[2**60, 2**59]]), [(0, 2**59 - 1, 0, 1)])
    assert report.safe
