"""Shares of at least 0: the nearest ones, and those of maximum likelihood."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from response_cases import table_of

from nbcfast import Viewset, response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.bounded_shares import nearest_shares
from nbcfast.response.simulation import nearest_floats


@given(st.lists(st.fractions(-2, 2, max_denominator=20), min_size=1, max_size=6))
def test_the_simplex_is_the_nearest_point(point):
    total = max(sum(point), Fraction(0))
    found = nearest_shares(point, total).tolist()
    assert found == reference.simplex(point, total)
    assert sum(found) == total
    # No other point of the simplex is nearer: the gradient there says so.
    slope = [a - b for a, b in zip(found, point, strict=True)]
    for place, share in enumerate(found):
        if share:
            assert slope[place] == min(slope)
    if sum(point) >= 0:
        near = nearest_floats(np.array(point, float)[:, np.newaxis])[:, 0]
        assert np.allclose(near, np.array(found, float), atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40),
    st.sampled_from([[["a"]], [["a", "c"]], [["c"]], [["a"], ["c"]]]),
    st.sampled_from([Fraction(4, 5), Fraction(1, 5), Fraction(2, 3)]),
)
def test_maximum_likelihood(told, groups, theta):
    """Equal to the closed form of a pair, and nowhere less likely than the projection."""
    table, scheme = table_of(told, ("a", "c")), Scheme(theta, groups)
    best = response.estimate(table, scheme, "c", method="em")
    near = response.estimate(table, scheme, "c")
    if min(near.raw.joint["a"].flat) >= 0:
        assert best.joint["a"].tolist() == near.raw.joint["a"].tolist()
    elif groups != [["a"], ["c"]]:
        assert np.allclose(best.joint["a"].astype(float), near.joint["a"].astype(float), atol=2e-4)
    names = {"a": 0, "c": 1}
    plain = [(theta, tuple(names[name] for name in group)) for group in groups]

    def likelihood(shares):
        chances = dict.fromkeys(product((0, 1), repeat=2), 0.0)
        for record in chances:
            for weight, answer in reference.answers(record, plain):
                chances[answer] += float(weight) * float(shares[record])
        return sum(math.log(max(chances[record], 1e-300)) for record in told)

    assert likelihood(best.joint["a"]) >= likelihood(near.joint["a"]) - 1e-6


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=5),
    st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(3, 5)]),
)
def test_maximum_likelihood_of_kary_answers(counts, theta):
    k = len(counts)
    if not sum(counts) or theta == Fraction(1, k):
        return
    views = Viewset(counts, {})
    found = response.estimate(views, KaryScheme(theta, {"c": list(range(k))}), "c", method="em")
    expected = reference.kary_maximum_likelihood(counts, theta)
    if theta > Fraction(1, k):
        assert np.allclose(found.prior.astype(float), np.array(expected, float), atol=2e-3)


def test_maximum_likelihood_is_not_the_projection():
    views, scheme = Viewset([10, 6, 1], {}), KaryScheme("1/2", {"c": [0, 1, 2]})
    near = response.estimate(views, scheme, "c").prior.tolist()
    best = response.estimate(views, scheme, "c", method="em").prior.astype(float)
    assert reference.kary_maximum_likelihood([10, 6, 1], Fraction(1, 2)) == [
        Fraction(7, 8),
        Fraction(1, 8),
        0,
    ]
    assert near == [Fraction(33, 34), Fraction(1, 34), 0]
    assert best == pytest.approx([7 / 8, 1 / 8, 0], abs=1e-6)


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=4),
    st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(1, 10), Fraction(0), Fraction(1)]),
)
def test_no_shares_are_more_likely_than_those_of_the_closed_form(counts, theta):
    k = len(counts)
    if not sum(counts) or theta == Fraction(1, k):
        return
    q = (1 - theta) / (k - 1)
    scheme = KaryScheme(theta, {"c": list(range(k))})
    found = response.estimate(Viewset(counts, {}), scheme, "c", method="em").prior.tolist()
    assert min(found) >= 0
    assert sum(found) == 1
    # The likelihood is concave: its slope is largest, and the same, wherever there is a share.
    told = [(theta - q) * share + q for share in found]
    assert all(chance or not count for chance, count in zip(told, counts, strict=True))
    slope = [
        (theta - q) * count / chance if chance else Fraction(0)
        for count, chance in zip(counts, told, strict=True)
    ]
    assert {one for share, one in zip(found, slope, strict=True) if share} == {max(slope)}


@pytest.mark.parametrize("groups", [[["a"]], [["c"]]])
def test_maximum_likelihood_with_a_column_told_as_it_is(groups):
    told = table_of([(0, 0)] * 9 + [(1, 0)] + [(0, 1)] * 4 + [(1, 1)] * 5, ("a", "c"))
    found = response.estimate(told, Scheme("0.8", groups), "c", method="em")
    near = response.estimate(told, Scheme("0.8", groups), "c")
    assert min(near.raw.joint["a"].flat) < 0
    # Of two values it is the projection, which keeps the sums that are known.
    assert found.joint["a"].tolist() == near.joint["a"].tolist()
    assert found.converged


def test_em_says_whether_it_settled(monkeypatch):
    told = table_of([(0, 0)] * 9 + [(1, 1)] * 9 + [(0, 1)], ("a", "c"))
    scheme, seen = Scheme("0.7", [["a"], ["c"]]), []
    settled = response.estimate(told, scheme, "c", method="em", progress=lambda *done: seen.append(done))
    assert settled.converged
    assert seen[-1] == (1, 1)
    monkeypatch.setattr("nbcfast.response.bounded_shares.EM_STEPS", 3)
    found = response.estimate(told, scheme, "c", method="em")
    assert not found.converged
    assert found.to_dict()["converged"] is False
    assert response.estimate(told, scheme, "c").converged
