"""The plain measures of `Statistics`: those of all groups together, however they were divided and merged."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast.groups import Groups
from nbcfast.skyline import Statistics

LIMITS = [Fraction(1, 2), 1, "1.5", 2, Fraction(200001, 100000), "2.5", 3, 4]
COUNTS = st.lists(st.integers(0, 4) | st.sampled_from([0, 1, 90]), min_size=4, max_size=4)
RELEASES = st.lists(COUNTS.filter(any), min_size=1, max_size=8)
SHUFFLE = st.randoms(use_true_random=False)


def divided(release, random, n_parts, ls):
    """Statistics of each part of the groups, whose values are those that the part has."""
    parts = [[] for _ in range(n_parts)]
    for number, counts in enumerate(release):
        parts[random.randrange(n_parts)].append((number, counts))
    return [
        Statistics(ls).update(
            Groups([(number, value, n) for number, counts in part for value, n in enumerate(counts)])
            if part
            else None
        )
        for part in parts
    ]


def merged(parts, random):
    """All of them, in any order and in any brackets, some more than once."""
    parts = [copy.deepcopy(part) for part in parts]
    while len(parts) > 1:
        one = parts.pop(random.randrange(len(parts)))
        place = random.randrange(len(parts))
        parts[place] = one | parts[place] if random.random() < 0.5 else parts[place] | one
        if random.random() < 0.3:
            parts.append(copy.deepcopy(parts[place]))
    return parts[0]


def assert_same_measures(statistics, groups):
    assert statistics.entropy_l == groups.entropy_l
    for limit in [*LIMITS, groups.entropy_l]:
        assert statistics.is_entropy_diverse(limit) == groups.is_entropy_diverse(limit)
    for l in range(1, 6):
        found = statistics.recursive_c(l)
        assert found == groups.recursive_c(l)
        for c in (1, "1.5", 3):
            assert statistics.is_recursive_diverse(c, l) == groups.is_recursive_diverse(c, l)
        if found != math.inf:
            assert not statistics.is_recursive_diverse(found, l)
    assert statistics.alpha() == groups.alpha()
    for value in statistics.domain:
        assert statistics.alpha([value]) == groups.alpha([value])
        assert statistics.is_alpha_k("0.5", 2, [value]) == groups.is_alpha_k("0.5", 2, [value])
    assert statistics.is_alpha_k("0.75", 1) == groups.is_alpha_k("0.75", 1)
    assert statistics.alpha([]) == groups.alpha([]) == 0


@given(RELEASES, st.integers(1, 5), SHUFFLE)
def test_measures_are_those_of_all_groups(release, n_parts, random):
    triples = [(number, value, n) for number, counts in enumerate(release) for value, n in enumerate(counts)]
    groups = Groups(triples)
    whole = Statistics(range(4)).update(groups)
    parts = divided(release, random, n_parts, range(4))
    statistics = merged(parts, random)
    assert statistics == whole == merged(parts, random)
    assert statistics | whole == whole
    assert pickle.loads(pickle.dumps(statistics)) == whole
    assert repr(statistics) == repr(whole)
    assert_same_measures(statistics, groups)


@pytest.mark.parametrize("n", [10**3, 3 * 10**4])
def test_entropies_that_floats_cannot_tell_apart(n):
    # Of n and n + 1 people the entropy is below log 2 by about 1 / 8 n^2; of 2 n and 2 n + 1 by less.
    even, odd, nearer = [[n, n]], [[n, n + 1]], [[2 * n, 2 * n + 1]]
    for rows in (even, odd, nearer, even + odd, odd + nearer, even + nearer + odd):
        groups = Groups(rows)
        statistics = Statistics([0])
        for row in rows:
            statistics = Statistics([0]).update(Groups([row])) | statistics
        for limit in (2, Fraction(2) - Fraction(1, 10**12), Fraction(2) - Fraction(1, 8 * n * n)):
            assert statistics.is_entropy_diverse(limit) == groups.is_entropy_diverse(limit)
        assert statistics.is_entropy_diverse(2) is (rows == even)
        assert statistics == Statistics([0]).update(groups)


def test_few_histograms_are_kept():
    statistics, without = Statistics([0]), Statistics([0], entropy=False)
    for n in range(1, 300):  # all of the same shares
        for one in (statistics, without):
            one.update(Groups([[n, n, 0], [0, 3 * n, 3 * n]]))
    assert len(pickle.dumps(statistics)) < len(pickle.dumps(without)) + 100
    large = Groups(np.random.default_rng(3).integers(1, 99, (20_000, 6)))
    assert len(large.least_entropies()) == 1


def test_groups_judge_as_before():
    rng = np.random.default_rng(5)
    for _ in range(50):
        groups = Groups(rng.integers(0, 3, (6, 4)) + np.eye(6, 4, dtype=int) + np.eye(6, 4, -4, dtype=int))
        for limit in LIMITS:
            below = [
                n**n * limit.denominator**n
                < limit.numerator**n * math.prod(count**count for count in histogram.values())
                for limit in [Fraction(limit)]
                for histogram in map(groups.histogram, range(len(groups)))
                for n in [sum(histogram.values())]
            ]
            assert groups.is_entropy_diverse(limit) is not any(below)


def test_what_was_not_looked_at():
    statistics = Statistics([0, 3]).update(Groups([[3, 2, 1]]))
    assert statistics.recursive_c(1) == Fraction(1, 2)
    with pytest.raises(
        ValueError,
        match=r"l must be 1 or 2 above an l that was looked at, which are \(0, 3\), got 3: give Statistics 1",
    ):
        statistics.recursive_c(3)
    with pytest.raises(ValueError, match="l must be at least 1, got 0"):
        statistics.recursive_c(0)
    with pytest.raises(ValueError, match="c must be positive, got 0"):
        statistics.is_recursive_diverse(0, 2)
    with pytest.raises(ValueError, match="l must be positive, got -1"):
        statistics.is_entropy_diverse(-1)
    with pytest.raises(ValueError, match="values: 7 is not a sensitive value"):
        statistics.alpha([7])
    with pytest.raises(TypeError, match="values must be a sequence of sensitive values, got 'ab'"):
        statistics.alpha("ab")
    without = Statistics([0], entropy=False).update(Groups([[3, 2, 1]]))
    assert without.alpha() == Fraction(1, 2)
    with pytest.raises(ValueError, match="entropy was not looked at: make Statistics with entropy=True"):
        _ = without.entropy_l
    with pytest.raises(ValueError, match="other: expected statistics with entropy=False, got True"):
        without.merge(Statistics([0]))
    assert without != Statistics([0]).update(Groups([[3, 2, 1]]))


def test_no_groups_yet():
    empty = Statistics([0])
    for measure in (empty.alpha, lambda: empty.entropy_l, lambda: empty.recursive_c(2)):
        with pytest.raises(ValueError, match="no rows: the statistics have seen no groups"):
            measure()


def test_people_with_sets_of_values():
    sets = Groups.from_sets([0, 0, 0, 0], [{"a"}, {"a", "b"}, {"b"}, set()])
    statistics = Statistics([0]).update(Groups([("g", "a", 1), ("g", "c", 3)])) | Statistics([0]).update(sets)
    assert statistics.alpha(["a"]) == Fraction(1, 2)  # of the sets, half the people have it
    assert statistics.alpha() == Fraction(3, 4)
    for measure in (lambda: statistics.entropy_l, lambda: statistics.is_entropy_diverse(2)):
        with pytest.raises(ValueError, match="entropy is not measured of people with sets of values"):
            measure()
    with pytest.raises(ValueError, match="recursive diversity is not measured of people with sets of values"):
        statistics.recursive_c(2)
