"""Privacy Skyline: every breach is the one of all attacks listed, of all placements, and of the closed forms.

Random small releases hide what is hard about it, so structured ones are made too.
"""

import copy
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _skyline
from nbcfast.groups import Groups, group
from nbcfast.reference import skyline as reference
from nbcfast.skyline import FrontierTable, Statistics, check, deciding, find, frontier_table, plot

NEAR_ONE = 1 - 2.0**-53


def hist(text):
    """A histogram: of "a20 b3", {"a": 20, "b": 3}."""
    return {part[0]: int(part[1:]) for part in text.split()}


def singles(n, letter="c"):
    return {f"{letter}{i}": 1 for i in range(n)}


def groups_of(release):
    values = reference.values_of(release)
    return Groups([[group.get(value, 0) for value in values] for group in release], values=values)


def only(release, l, k, m, confidence=1):
    (report,) = check(groups_of(release), [(l, k, m, confidence)], exact=True)
    return report


def attack_breach(release, attack):
    """What the attack that was described really gives."""
    filled = [place for place, group in enumerate(release) if any(group.values())]

    def place(key):
        return None if key is None else filled.index(key["group"])

    return reference.breach_of(
        reference.cleaned(release),
        place(attack.group),
        attack.value,
        attack.excluded,
        dict(attack.known),
        place(attack.known_group),
        attack.pieces[2],
        place(attack.implied_group),
    )


def assert_right(release, l, k, m, expected):
    """The breach, its float, its attack, and the verdicts at, just above and just below it."""
    report = only(release, l, k, m)
    assert report.exact == expected
    assert report.breach == pytest.approx(float(expected), rel=1e-12)
    assert (report.breach == 1) == (expected == 1)
    attack = report.attack
    assert attack_breach(release, attack) == expected
    assert all(used <= most for used, most in zip(attack.pieces, (l, k, m), strict=True))
    assert len(attack.excluded) == attack.pieces[0]
    assert sum(people for _, people in attack.known) == attack.pieces[1]
    assert attack.value not in (*attack.excluded, *(value for value, _ in attack.known))
    near = Fraction(1, 10**15)
    points = [(l, k, m, expected)] + [(l, k, m, c) for c in (expected - near, expected + near) if 0 < c <= 1]
    assert [report.safe for report in check(groups_of(release), points)] == [
        expected < point[3] for point in points
    ]


# --- generators of what is hard


def random_release(rng, most_values=5, most_groups=4, most=6):
    values = "abcde"[: rng.randint(1, most_values)]
    while True:
        release = [
            {value: rng.choice([0, 0, 1, 1, 2, 3, rng.randint(1, most)]) for value in values}
            for _ in range(rng.randint(1, most_groups))
        ]
        if reference.cleaned(release):
            return release


def third_case(rng):
    """A large group where the value is one of few, and a small one of many values that each occur once."""
    a = rng.choice([7, 10, 20, 50])
    others = rng.randint(1, 3)
    large = {"s": a, **{f"x{i}": a for i in range(others)}, "w": rng.randint(a // 2, a)}
    small = {"s": rng.randint(1, 4), **singles(rng.randint(4, 10))}
    return [large, small], rng.randint(1, others), rng.randint(1, 4), rng.randint(1, 4)


def second_case(rng):
    a = rng.choice([7, 9, 12])
    large = {"s": a, "x": a, "w": rng.randint(1, 4)}
    small = {"s": rng.randint(2, 5), **singles(rng.randint(3, 8))}
    return [large, small], 1, rng.randint(0, 2), rng.randint(1, 4)


def same_value(rng):
    """Minima that belong to different values."""
    values = "abcdefgh"[: rng.randint(3, 8)]
    one = {value: rng.choice([1, 2, 3, 10, 20]) for value in values}
    two = {value: rng.choice([1, 3, 5, 10, 40]) for value in values}
    return [one, two], rng.randint(0, len(values) - 2), rng.randint(0, 3), rng.randint(1, 3)


def alike(rng):
    """Many groups and values with equal statistics: ties everywhere."""
    n, d = rng.randint(1, 3), rng.randint(2, 6)
    group = dict.fromkeys("abcdef"[:d], n)
    return (
        [dict(group) for _ in range(rng.randint(1, 4))],
        rng.randint(0, 2),
        rng.randint(0, 4),
        rng.randint(0, 4),
    )


GENERATORS = {"third case": third_case, "second case": second_case, "same value": same_value, "alike": alike}


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
    against_placements(1_500, 1)


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
    for _ in range(400):
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


# --- statistics


def some_groups(rng, n):
    counts = rng.integers(0, 9, (n, 5)) * rng.integers(0, 2, (n, 5))
    counts[:, 0] += 1
    return Groups(counts), counts


POINTS = [(0, 0, 0, 0.9), (1, 2, 3, 0.95), (3, 0, 2, 0.8), (0, 4, 1, 1), (7, 1, 1, 0.5), (1, 1, 0, 0.99)]


def brief(reports):
    return [
        (report.safe, report.breach, report.exact, report.case, report.attack.value) for report in reports
    ]


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
def test_statistics_merge_in_any_order(seed, n, n_parts):
    rng = np.random.default_rng(seed)
    groups, counts = some_groups(rng, n)
    ls = {point[0] for point in POINTS}
    whole = Statistics(ls).update(groups)
    part_of = rng.integers(0, n_parts, n)
    parts = []
    for part in rng.permutation(n_parts):
        mine = np.flatnonzero(part_of == part)
        if len(mine):  # other labels, another order: only the histograms matter
            parts.append(Statistics(ls).update(Groups(rng.permutation(counts[mine]))))
    left = copy.deepcopy(parts[0])
    for part in parts[1:]:
        left.merge(part)
    right = copy.deepcopy(parts[-1])
    for part in reversed(parts[:-1]):
        right = part | right
    assert left == right == whole
    assert left.merge(whole).merge(left) == whole
    assert (Statistics(ls) | whole) == whole
    for index in range(len(POINTS)):
        mine = check(left, POINTS[index : index + 1], exact=True)
        assert brief(mine)[0][:4] == brief(check(groups, POINTS[index : index + 1], exact=True))[0][:4]
    assert (left.k, left.l) == (groups.k, groups.l)


def test_one_scan_serves_any_number_of_points():
    groups, counts = some_groups(np.random.default_rng(1), 200)
    release = [dict(enumerate(row)) for row in counts.tolist()]
    points = [(l, k, m, 0.9) for l in range(6) for k in range(4) for m in range(4)]
    reports = check(groups, points, exact=True)
    for point, report in zip(points, reports, strict=True):
        assert report.exact == reference.breach(release, *point[:3])
    assert reports.safe is all(report.safe for report in reports)
    assert reports.worst in reports


def test_a_group_over_chunks_is_put_together_first():
    whole = Groups([("g", "a", 6), ("g", "b", 6), ("h", "a", 1), ("h", "c", 3)])
    chunks = [Groups([("g", "a", 6), ("h", "c", 1)]), Groups([("g", "b", 6), ("h", "a", 1), ("h", "c", 2)])]
    assert Statistics([0]).update(Groups.merge(chunks)) == Statistics([0]).update(whole)
    apart = Statistics([0]).update(chunks[0]).update(chunks[1])
    assert apart != Statistics([0]).update(whole)
    assert not check(apart, [(0, 0, 0, 1)]).safe  # half a group has one value
    assert check(whole, [(0, 0, 0, 1)]).safe


def test_statistics_of_different_domains():
    one = Statistics([0, 1]).update(Groups([("g", "b", 3), ("g", "d", 2)]))
    two = Statistics([0, 1]).update(Groups([("h", "c", 1), ("h", "b", 4), ("h", "a", 1)]))
    both = Groups([("g", "b", 3), ("g", "d", 2), ("h", "c", 1), ("h", "b", 4), ("h", "a", 1)])
    assert (one | two) == (two | one) == Statistics([0, 1]).update(both)
    assert (one | two).domain == ("a", "b", "c", "d")


def test_statistics_pickle_and_do_not_change_by_threads():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 4, (30_000, 6)) * rng.integers(1, 400, (30_000, 1))
    counts[:, 2] += 1
    groups = Groups(counts)
    alone = Statistics([0, 2, 5]).update(groups, threads=1)
    for threads in (2, 3):
        assert Statistics([0, 2, 5]).update(groups, threads=threads) == alone
    assert pickle.loads(pickle.dumps(alone)) == alone
    seen = []
    Statistics([0]).update(groups, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (30_000, 30_000)
    one, two = check(groups, POINTS, threads=1, exact=True), check(groups, POINTS, threads=2, exact=True)
    assert one == two


def test_pruned_entries_never_decide():
    """Against all entries, kept one by one."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        groups, counts = some_groups(rng, 12)
        statistics = Statistics([1]).update(groups)
        everything = set()
        for row in counts.tolist():
            members = {value: count for value, count in enumerate(row) if count}
            for s in members:
                _, c, N, W = reference.numbers(members, s, 1)
                everything.add((s, c, N, W))
        for table, place in ((statistics.vn, 2), (statistics.tw[1], 3)):
            least = {}
            for entry in everything:
                key = entry[:2]
                least[key] = min(least.get(key, 10**9), entry[place])
            kept = {(s, c): x for s, c, x in table.T.tolist()}
            assert all(least[key] == x for key, x in kept.items())
            for (s, c), x in least.items():
                assert any(t == s and d >= c and y <= x for (t, d), y in kept.items())
                if (s, c) in kept:
                    assert not any(t == s and d > c and y <= x for (t, d), y in least.items())


def test_statistics_errors():
    with pytest.raises(ValueError, match="ls must be at least one l"):
        Statistics([])
    with pytest.raises(ValueError, match="ls must be at least 0, got -1"):
        Statistics([-1])
    with pytest.raises(TypeError, match="ls must be a sequence of ints, got 3"):
        Statistics(3)
    empty = Statistics([0])
    assert repr(empty) == "Statistics(l of (0,); no groups yet)"
    with pytest.raises(ValueError, match="no rows: the statistics have seen no groups"):
        check(empty, [(0, 0, 0, 1)])
    with pytest.raises(TypeError, match="groups: expected Groups, got list"):
        empty.update([[1, 2]])
    with pytest.raises(TypeError, match="other: expected Statistics, got int"):
        empty.merge(1)
    with pytest.raises(ValueError, match=r"expected statistics for l of \(0,\), got \(1,\)"):
        empty.merge(Statistics([1]))
    full = Statistics([0]).update(Groups([[1, 1, 1, 1]]))
    with pytest.raises(ValueError, match=r"these statistics are for l of \(0,\), got 1"):
        check(full, [(1, 0, 0, 1)])
    with pytest.raises(ValueError, match=r"expected statistics for l of 0..2, 1 is missing"):
        find(full, 0.5)
    assert full != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(full)
    with pytest.raises(ValueError, match="read-only"):
        full.vn[0, 0] = 1


def test_kernel_errors():
    whole = (np.array([0, 2]), np.array([0, 1], np.uint32), np.array([1, 1]), np.array([2]))
    held = _skyline.Histograms(*whole)
    for arrays, message in [
        ((np.array([0]), *whole[1:3], np.empty(0, np.int64)), "expected at least one group"),
        ((np.array([0, 1]), *whole[1:]), "offsets must run from 0"),
        ((np.array([0, 2, 2]), *whole[1:3], np.array([2, 0])), "group 1 has no values"),
        ((np.array([0, 1, 2]), *whole[1:]), "do not belong to 1 groups"),
    ]:
        with pytest.raises(ValueError, match=message):
            _skyline.Histograms(*arrays)
    with pytest.raises(ValueError, match=r"values must be 0..0, got a larger one"):
        _skyline.Scan(held, 1, np.array([0])).add(0, 1)
    for ls in ([], [1, 1], [-1]):
        with pytest.raises(ValueError, match=r"ls must rise|at least one l"):
            _skyline.Scan(held, 2, np.array(ls, np.int64))
    with pytest.raises(ValueError, match=r"groups must be within 0..1, got 0..2"):
        _skyline.Scan(held, 2, np.array([0])).add(0, 2)
    with pytest.raises(ValueError, match=r"values must rise within 0..1"):
        _skyline.Tables(2, np.array([[2], [1], [1]]), np.array([[0], [1], [1]]), np.ones((4, 1), np.int64))
    with pytest.raises(ValueError, match="expected entries of 3, 3 and 4 rows"):
        _skyline.Tables(2, np.zeros((3, 0), np.int64), np.zeros((3, 1), np.int64), np.ones((4, 1), np.int64))


# --- what check says


def test_the_attack_names_groups_and_values():
    table = {
        "age": [30] * 20 + [40] * 11,
        "ill": ["flu"] * 7 + ["cold"] * 7 + ["gout"] * 6 + ["flu"] * 4 + [f"rare {i}" for i in range(7)],
    }
    (report,) = check(group(table, ["age"], "ill"), [(1, 1, 3, 0.875)])
    assert report.attack.text == (
        "target in the group of age 30 (20 people, 7 with flu); known: that the target has not cold; the "
        "value of 1 person of the group of age 40: 1 x rare 0; that if any of 3 other people of that other "
        "group too had flu, the target would have it; then the target has flu with probability 0.875"
    )
    assert str(report.attack) == report.attack.text
    assert report.attack.to_dict()["known"] == [["rare 0", 1]]
    assert report.to_dict()["point"] == [1, 1, 3, "0.875"]
    assert report.to_dict()["exact"] is None
    assert repr(report) == "Report((1, 1, 3, 0.875): unsafe, breach 0.875)"


def test_statistics_alone_name_no_group():
    release = [hist("s7 x7 w6"), {"s": 4, **singles(7)}]
    statistics = Statistics([1]).update(groups_of(release))
    (report,) = check(statistics, [(1, 1, 3, 0.875)], exact=True)
    assert (report.safe, report.exact, report.case) == (False, Fraction(7, 8), 3)
    assert (report.attack.group, report.attack.known, report.attack.value) == (None, None, "s")
    assert "target in a group; known: that the target has none of 1 values there" in report.attack.text
    (certain,) = check(statistics, [(1, 30, 0, 1)])
    assert certain.attack.pieces == (1, 6, 0)
    assert certain.attack.people == (20, 7)


def test_reports():
    reports = check(Groups([[3, 2, 2]]), [(0, 0, 0, 0.5), (1, 0, 0, 0.5)], exact=True)
    assert isinstance(reports, tuple)
    assert not reports.safe
    assert [report.exact for report in reports] == [Fraction(3, 7), Fraction(3, 5)]
    assert reports.worst is reports[1]
    assert reports.to_dict()["safe"] is False
    assert "unsafe" in repr(reports)
    assert pickle.loads(pickle.dumps(reports)) == reports
    with pytest.raises(AttributeError):
        reports[0].safe = True


@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ((0, 0, 0, 0), ValueError, r"points\[0\]: confidence must be in \(0, 1\], got 0"),
        ((0, 0, 0, 1.5), ValueError, r"must be in \(0, 1\], got 1.5"),
        ((0, 0, 0, -0.5), ValueError, r"must be in \(0, 1\]"),
        ((0, 0, 0, float("nan")), ValueError, "finite number"),
        ((0, 0, 0, "x"), ValueError, "finite number"),
        ((0, 0, 0, None), TypeError, "must be an int, a Fraction, a float"),
        ((-1, 0, 0, 1), ValueError, r"points\[0\]: l must be at least 0, got -1"),
        ((0, -1, 0, 1), ValueError, "k must be at least 0, got -1"),
        ((0, 0, -2, 1), ValueError, "m must be at least 0, got -2"),
        ((0.0, 0, 0, 1), TypeError, r"l must be an int, got 0.0"),
        ((0, True, 0, 1), TypeError, "k must be an int, got True"),
        ((0, 0, 1), ValueError, r"expected \(l, k, m, confidence\), got 3 numbers"),
        ("abcd", TypeError, "got 'abcd'"),
        (5, TypeError, "got 5"),
    ],
)
def test_bad_points(point, error, message):
    with pytest.raises(error, match=message):
        check(Groups([[1, 1]]), [point])


def test_bad_arguments():
    groups = Groups([[1, 1]])
    with pytest.raises(ValueError, match="expected at least one"):
        check(groups, [])
    with pytest.raises(TypeError, match=r"one point is written \[\(1, 2, 3, 0.5\)\]"):
        check(groups, (1, 2, 3, 0.5))
    with pytest.raises(TypeError, match="got the text"):
        check(groups, "1,2,3,0.5")
    with pytest.raises(TypeError, match="got int"):
        check(groups, 7)
    with pytest.raises(TypeError, match="groups: expected Groups or Statistics, got ndarray"):
        check(np.ones((2, 2)), [(0, 0, 0, 1)])
    with pytest.raises(TypeError, match="groups: expected Groups or Statistics, got list"):
        find([[1, 1]], 0.5)
    for confidence in (0, 1.01, -1):
        with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\]"):
            find(groups, confidence)


# --- find


@pytest.mark.parametrize(
    ("release", "confidence", "expected"),
    [
        ([dict.fromkeys("abcdef", 1)], 1, [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]),
        ([dict.fromkeys("abcdef", 1)], 0.95, [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]),
        (
            [hist("a3 b2 c1 d1"), hist("a1 b2 c2 d2 e1")],
            "19/20",
            [(0, 0, 3), (0, 1, 2), (0, 2, 1), (0, 3, 0), (1, 1, 1), (2, 0, 2)],
        ),
        (
            [dict.fromkeys("abcde", 2), dict.fromkeys("abcdefgh", 1)],
            0.9,
            [
                (0, 6, 0),
                (1, 3, 3),
                (1, 4, 2),
                (1, 5, 1),
                (2, 0, 6),
                (2, 1, 5),
                (2, 2, 4),
                (2, 3, 2),
                (3, 0, 5),
                (3, 1, 3),
            ],
        ),
    ],
)
def test_known_skylines(release, confidence, expected):
    assert find(groups_of(release), confidence) == expected


def found_by_search(n_releases, seed):
    rng = random.Random(seed)
    for _ in range(n_releases):
        release = random_release(rng, 5, 3, 4)
        confidence = rng.choice(
            [
                Fraction(1),
                Fraction(9, 10),
                Fraction(1, 2),
                Fraction(rng.randint(1, 60), 60),
                Fraction(99, 100),
            ]
        )
        assert find(groups_of(release), confidence) == reference.find(release, confidence)


def test_find_is_exhaustive_search():
    found_by_search(120, 1)


@pytest.mark.thorough
def test_find_is_exhaustive_search_on_many():
    found_by_search(3_000, 2)


def test_find_in_hard_releases():
    rng = random.Random(9)
    for name in ("third case", "second case", "alike"):
        release, _, _, _ = GENERATORS[name](rng)
        while sum(release[0].values()) > 30:
            release, _, _, _ = GENERATORS[name](rng)
        for confidence in (0.9, 1):
            assert find(groups_of(release), confidence) == reference.find(release, confidence)


def test_find_from_statistics_and_its_progress():
    groups = Groups([[3, 2, 1, 1], [2, 2, 2, 1]])
    seen = []
    expected = find(groups, 0.9, progress=lambda *step: seen.append(step))
    assert seen[-1] == (3, 3)
    assert find(Statistics(range(3)).update(groups), 0.9) == expected
    assert find(Statistics(range(9)).update(groups), 0.9) == expected


def test_nothing_is_safe():
    assert find(Groups([[5, 0], [1, 1]]), 1) == []
    assert find(Groups([[5, 5]]), 0.5) == []
    assert repr(frontier_table([])) == "FrontierTable(nothing is safe)"


def test_find_bisects_large_groups(monkeypatch):
    asked = []
    original = deciding.is_safe
    monkeypatch.setattr("nbcfast.skyline.finding.is_safe", lambda *given: asked.append(1) or original(*given))
    groups = Groups([[500_000, 500_000, 30_000]])
    skyline = find(groups, 0.95)
    assert len(asked) < 400
    points = [(*point, 0.95) for point in skyline]
    assert check(groups, points).safe
    beyond = [
        (l + a, k + b, m + c, 0.95) for l, k, m in skyline for a, b, c in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ]
    assert not any(report.safe for report in check(groups, beyond))


def test_a_long_skyline():
    """At confidence 1 every k has its m."""
    skyline = find(Groups([[2_000, 2_000]]), 1)
    assert skyline == [(0, k, 1_999 - k) for k in range(2_000)]


def test_the_shape_of_the_slides_table():
    """A group of 6 different values forces l + k <= 4, and m = 0 or k + m <= 4."""
    groups = Groups([[1] * 6, [9, 8, 7, 6, 5, 4], [3, 3, 2, 2, 2, 2]])
    for l, k, m in find(groups, 0.95):
        assert l + k <= 4
        assert m == 0 or k + m <= 4


def test_frontier_table():
    table = frontier_table(find(Groups([[1] * 6]), 0.95))
    assert table.ls == table.ks == (0, 1, 2, 3, 4)
    assert table.m[2] == (4, 3, 2, None, None)
    assert table.to_dict()["m"][4] == [4, None, None, None, None]
    groups = Groups([[50, 30, 20, 10, 5], [9, 8, 7, 6, 5]])
    skyline = find(groups, 0.95)
    table = frontier_table(skyline)
    for l in table.ls:
        for k in range(max(table.ks) + 2):
            after = [place for place, column in enumerate(table.ks) if column >= k]
            m = table.m[l][after[0]] if after else None
            assert check(groups, [(l, k, 0 if m is None else m, 0.95)]).safe is (m is not None)
            if m is not None:
                assert not check(groups, [(l, k, m + 1, 0.95)]).safe
    long = frontier_table([(0, k, 100 - k) for k in range(100)])
    assert isinstance(long, FrontierTable)
    assert len(long.ks) == 100
    assert len(repr(long).splitlines()[0]) < 200
    first, *rest = repr(long).splitlines()
    assert first.split()[-1] == "99", "beyond the last k nothing is safe"
    narrow = long.text(40)
    assert max(map(len, narrow.splitlines())) <= 40
    blocks = [block.splitlines() for block in narrow.split("\n\n")]
    assert len(blocks) > 2
    assert {block[1].split()[0] for block in blocks} == {"0"}
    assert [k for block in blocks for k in block[0].split()[3:]] == first.split()[3:]
    assert [m for block in blocks for m in block[1].split()[1:]] == rest[0].split()[1:]
    with pytest.raises(ValueError, match=r"points\[0\]: expected \(l, k, m\), got \(1, 2\)"):
        frontier_table([(1, 2)])


def test_plot():
    pytest.importorskip("matplotlib")
    skyline = find(Groups([[1] * 6]), 0.95)
    axes = plot(skyline, title="six")
    assert axes.get_title() == "six"
    assert [text.get_text() for text in axes.texts][:5] == ["4", "3", "2", "1", "0"]
    assert plot(skyline, axes) is axes
    assert [text.get_text() for text in plot([]).texts] == ["nothing is safe"]
    wide = plot([(0, k, 1000 - k) for k in range(1000)])
    assert wide.texts[:] == []
    assert wide.figure.get_size_inches()[0] < 30


# --- sets of values


def random_sets(rng, n_groups=2, most_people=4, values="abc"):
    return [
        [frozenset(v for v in values if rng.random() < 0.5) for _ in range(rng.randint(1, most_people))]
        for _ in range(rng.randint(1, n_groups))
    ]


def set_groups(release):
    labels = [place for place, group in enumerate(release) for _ in group]
    return Groups.from_sets(labels, [held for group in release for held in group])


def test_sets_against_every_attack():
    rng, seen = random.Random(21), 0
    while seen < 60:
        release = random_sets(rng, 2, 3)
        if not any(held for group in release for held in group):
            continue
        l, k, m = rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2)
        expected = reference.set_breach_by_worlds(release, l, k, m)
        assert reference.set_breach(release, l, k, m) == expected
        (report,) = check(set_groups(release), [(l, k, m, 1)], exact=True)
        assert report.exact == expected, (release, l, k, m)
        seen += 1


def test_sets_against_the_closed_form():
    rng = random.Random(22)
    for _ in range(150):
        release = random_sets(rng, 3, 12, "abcde")
        if not any(held for group in release for held in group):
            continue
        l, k, m = rng.randint(0, 3), rng.randint(0, 4), rng.randint(0, 4)
        (report,) = check(set_groups(release), [(l, k, m, 1)], exact=True)
        assert report.exact == reference.set_breach(release, l, k, m)
        attack = report.attack
        assert attack.value not in attack.excluded
        assert len(attack.excluded) <= l
        assert sum(people for _, people in attack.known) == attack.pieces[1] <= k


def test_single_values_are_sets_of_one():
    rng = random.Random(23)
    for _ in range(60):
        release = random_release(rng, 4, 3, 4)
        sets = [[frozenset({v}) for v, count in group.items() for _ in range(count)] for group in release]
        sets = [group for group in sets if group]
        points = [(l, k, m, 1) for l in range(4) for k in (0, 2) for m in (0, 1, 3)]
        mine = check(set_groups(sets), points, exact=True)
        assert [r.exact for r in mine] == [r.exact for r in check(groups_of(release), points, exact=True)]


def test_the_best_excluded_values_of_sets_are_not_the_most_frequent():
    """Here b is the most frequent other value, but c and d are those that leave fewest without a."""
    release = [[frozenset(s) for s in ("a", "a", "a", "a", "a", "a", "bc", "bc", "bd", "bd", "c", "d")]]
    (report,) = check(set_groups(release), [(2, 0, 0, 1)], exact=True)
    assert report.exact == reference.set_breach(release, 2, 0, 0) == 1
    assert (report.attack.value, report.attack.excluded) == ("a", ("c", "d"))


def test_sets_are_checked_and_found():
    groups = Groups.from_sets([1, 1, 1, 2, 2], [{"a"}, {"b"}, {"a", "b"}, ["b", "b"], set()])
    assert repr(groups) == "SetGroups(2 groups, 5 people, 2 values)"
    assert (groups.k, groups.l, groups.domain) == (2, 1, ("a", "b"))
    (report,) = check(groups, [(0, 1, 0, 1)])
    assert "{" in report.attack.text or report.attack.known[0][0] == ()
    skyline = find(groups, "9/10")
    assert skyline == [(0, 0, 0)]
    with pytest.raises(ValueError, match="sets of values: l must be at most 3, got 4"):
        check(groups, [(4, 0, 0, 1)])
    with pytest.raises(ValueError, match="2 groups but 1 sets"):
        Groups.from_sets([1, 2], [{1}])
    with pytest.raises(TypeError, match=r"sets\[0\]: expected a set of values, got 'flu'"):
        Groups.from_sets([1], ["flu"])
    with pytest.raises(ValueError, match="expected a value in some set, all are empty"):
        Groups.from_sets([1], [set()])
    with pytest.raises(ValueError, match="no rows"):
        Groups.from_sets([], [])


# --- the size of it


def test_hundreds_of_thousands_of_groups_against_a_few():
    """Equal statistics however often they occur."""
    counts = np.tile([[3, 2, 2, 1], [1, 2, 2, 2], [5, 4, 1, 1]], (100_000, 1))
    few, many = Groups(counts[:3]), Groups(counts)
    assert brief(check(many, POINTS, exact=True)) == brief(check(few, POINTS, exact=True))
    assert find(many, 0.95) == find(few, 0.95)


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


def test_find_looks_at_few_values_of_l_where_more_are_unsafe(monkeypatch):
    seen = []
    plain = Statistics.__init__

    def counted(self, ls):
        plain(self, ls)
        seen.append(self.ls)

    monkeypatch.setattr(Statistics, "__init__", counted)
    assert find(Groups([[1] * 20_000]), "1/19999") == [(0, 0, 0)]
    assert sum(map(len, seen)) <= 4


@pytest.mark.parametrize("room", [1, 50, 1000])
def test_find_in_parts_of_any_size(monkeypatch, room):
    groups = Groups([[1] * 30, [2] * 30])
    expected = find(Statistics(range(29)).update(groups), 0.9)
    monkeypatch.setattr("nbcfast.skyline.finding.SCANNED", room)
    assert find(groups, 0.9) == expected
    assert len(expected) > 50
