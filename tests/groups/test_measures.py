"""The plain measures of groups: those of the reference, exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference

releases = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=5).filter(
    lambda release: any(map(any, release))
)


@given(releases, st.integers(1, 5), st.sets(st.integers(0, 2)))
def test_measures_are_the_references(release, l, chosen):
    groups = Groups(release)
    plain = [dict(enumerate(row)) for row in release]
    assert groups.k == reference.k_anonymity(plain)
    assert groups.l == reference.l_diversity(plain)
    assert groups.entropy_l == pytest.approx(reference.entropy_diversity(reference.cleaned(plain)))
    assert groups.recursive_c(l) == reference.recursive_diversity(plain, l)
    assert groups.alpha() == reference.alpha(plain)
    if chosen:
        found = reference.alpha(plain, chosen) if _occur(plain, chosen) else 0
        chosen = [value for value in chosen if value in groups.domain]
        assert groups.alpha(chosen) == found
    present = [value for value in range(3) if _occur(plain, [value])]
    for ordered in (False, True):
        assert groups.t(ordered=ordered) == reference.closeness(plain, present, ordered)


def _occur(release, values):
    return any(group.get(value) for group in release for value in values)


def test_measures_of_larger_groups():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 40, (300, 12))
    groups = Groups(counts)
    plain = [dict(enumerate(row)) for row in counts.tolist()]
    for l in (1, 2, 5, 12, 13):
        assert groups.recursive_c(l) == reference.recursive_diversity(plain, l)
    for ordered in (False, True):
        assert groups.t(ordered=ordered) == reference.closeness(plain, range(12), ordered)


def test_ratios_that_floats_cannot_tell_apart():
    n = 10**16
    groups = Groups([[3 * n, n + 1], [3 * n + 1, n], [n, n]])
    plain = [groups.histogram(g) for g in range(3)]
    assert groups.alpha() == reference.alpha(plain) == Fraction(3 * n + 1, 4 * n + 1)
    assert groups.recursive_c(2) == reference.recursive_diversity(plain, 2) == Fraction(3 * n + 1, n)


def test_closeness_beyond_64_bits():
    counts = [[2**40, 3, 2**39], [1, 2**41, 0]]
    plain = [dict(enumerate(row)) for row in counts]
    for ordered in (False, True):
        assert Groups(counts).t(ordered=ordered) == reference.closeness(plain, range(3), ordered)
    assert Groups([[5]]).t(ordered=True) == 0


@pytest.mark.parametrize("values", [0, "ab", 1.5])
def test_alpha_is_of_a_sequence_of_values(values):
    with pytest.raises(TypeError, match="values must be a sequence of sensitive values, got "):
        Groups([[1, 2]]).alpha(values)


def test_values_that_nobody_has_do_not_count_for_closeness():
    counts = np.zeros((2, 200), np.int64)
    counts[0, 3], counts[1, 150] = 2, 3
    groups, plain = Groups(counts), Groups([[2, 0], [0, 3]])
    for ordered in (False, True):
        assert groups.t(ordered=ordered) == plain.t(ordered=ordered) == Fraction(3, 5)
    huge = Groups(counts << 58)
    assert huge.t(ordered=True) == Fraction(3, 5)


def test_diversity_is_strict_and_exact():
    groups = Groups([[3, 2, 1]])
    assert groups.recursive_c(2) == 1
    assert not groups.is_recursive_diverse(1, 2)  # r_1 = c (r_2 + r_3)
    assert groups.is_recursive_diverse("1.0001", 2)
    assert groups.recursive_c(4) == math.inf
    assert not groups.is_recursive_diverse(10**9, 4)
    uniform = Groups([[5, 5, 5], [4, 4, 4]])
    assert uniform.is_entropy_diverse(3)  # equality, which floats cannot tell
    assert not uniform.is_entropy_diverse("3.000000000001")
    assert uniform.is_entropy_diverse("2.999999999999")
    # 4^4 against l^4 3^3 1^1: l = 4 / 27^(1/4)
    assert not Groups([[3, 1]]).is_entropy_diverse("1.7547653506034")
    assert Groups([[3, 1]]).is_entropy_diverse("1.7547653506033")
    assert not Groups([[3, 1]]).is_entropy_diverse(2)


def test_alpha_k():
    groups = Groups([[3, 1], [1, 1]], values=["no", "yes"])
    assert groups.is_alpha_k("1/2", 2, ["yes"])
    assert not groups.is_alpha_k("1/2", 2)
    assert not groups.is_alpha_k("1/2", 3, ["yes"])
    assert groups.is_alpha_k(Fraction(3, 4), 2)


def test_bad_limits_of_measures():
    groups = Groups([[1, 1]])
    for call, message in [
        (lambda: groups.recursive_c(0), "l must be at least 1, got 0"),
        (lambda: groups.is_recursive_diverse(0, 1), "c must be positive, got 0"),
        (lambda: groups.is_entropy_diverse(0), "l must be positive, got 0"),
        (lambda: groups.alpha(["x"]), "values: 'x' is not a sensitive value"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    assert nbcfast.skyline.Groups is Groups
