"""`estimate`: unbiased over all coins, with the variances of the formulas."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from response_cases import GROUPINGS, THETAS, both_schemes, numbers_of, table_of

import nbcfast
from nbcfast import Table, Viewset, response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.planning import worst_variance
from nbcfast.response.two_way import contributions


def test_the_number_examples_of_one_group():
    """Theta = .8, P*(E) = .5, P*(E-bar) = .2 -> (.6, .1)."""
    told = table_of([(1, 1)] * 5 + [(0, 1)] * 2 + [(0, 0)] * 3, ("a", "c"))
    found = response.estimate(told, Scheme(0.8, [["a"]]), "c")
    assert found.raw.joint["a"][:, 1].tolist() == [Fraction(1, 10), Fraction(6, 10)]
    assert found.raw.prior.tolist() == [Fraction(3, 10), Fraction(7, 10)]


@pytest.mark.parametrize(
    ("shares", "raw", "projected"),
    [
        (
            (8, 6, 4, 2),
            (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0)),
            (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(0)),
        ),
        (
            (10, 6, 3, 1),
            (Fraction(25, 36), Fraction(11, 36), Fraction(1, 18), Fraction(-1, 18)),
            (Fraction(73, 108), Fraction(31, 108), Fraction(4, 108), Fraction(0)),
        ),
    ],
)
def test_the_number_examples_of_two_groups(shares, raw, projected):
    cells = [(1, 1), (1, 0), (0, 1), (0, 0)]
    told = table_of([cell for cell, n in zip(cells, shares, strict=True) for _ in range(n)], ("a", "c"))
    found = response.estimate(told, Scheme("0.8", [["a"], ["c"]]), "c")
    assert tuple(found.raw.joint["a"][cell] for cell in cells) == raw
    assert tuple(found.joint["a"][cell] for cell in cells) == projected


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_estimates_over_all_coins_average_to_the_truth(grouping):
    names = ("a", "b", "c")
    plain, scheme = both_schemes(GROUPINGS[grouping], names)
    records = [(1, 0, 1), (1, 1, 0), (0, 0, 1)]
    if len(plain) == 3:
        records = records[:2]
    truth = [reference.share(records, {2: c}) for c in (0, 1)]
    for column in (0, 1):
        truth += [reference.share(records, {column: a, 2: c}) for a in (0, 1) for c in (0, 1)]

    def ours(told):
        return numbers_of(told, scheme, names)

    def butterflies(told):
        found = [reference.proportion(told, plain, {2: c}) for c in (0, 1)]
        for column in (0, 1):
            found += [reference.proportion(told, plain, {column: a, 2: c}) for a in (0, 1) for c in (0, 1)]
        return found

    assert reference.expectation(ours, records, plain) == truth
    for _, told in reference.outcomes(records, plain):
        assert ours(told) == butterflies(told)


@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=2, max_size=12),
    st.sampled_from(
        [[(0, 1, 3)], [(0, 1, 2)], [(0,), (1, 2), (3,)], [(0, 3), (1,)], [(3,)], [(0,), (1,), (2,)]]
    ),
    st.lists(st.sampled_from(THETAS), min_size=3, max_size=3),
)
def test_estimates_and_variances_equal_the_reference(told, columns, thetas):
    names = ("a", "b", "d", "c")
    groups = list(zip(thetas, columns, strict=False))
    plain, scheme = both_schemes(groups, names)
    found = response.estimate(table_of(told, names), scheme, "c")
    for c in (0, 1):
        assert found.raw.prior[c] == reference.proportion(told, plain, {3: c})
        assert found.variance.prior[c] == reference.sample_variance(told, plain, {3: c})
        for place, name in enumerate(names[:3]):
            for a in (0, 1):
                event = {place: a, 3: c}
                assert found.raw.joint[name][a, c] == reference.proportion(told, plain, event)
                assert found.variance.joint[name][a, c] == reference.sample_variance(told, plain, event)
    # The unprojected joints add up to the unprojected prior; nothing projected is negative.
    for name in names[:3]:
        assert found.raw.joint[name].sum(axis=0).tolist() == found.raw.prior.tolist()
        assert min(found.joint[name].flat) >= 0
        assert sum(found.joint[name].flat) == 1
    assert min(found.prior) >= 0
    assert sum(found.prior) == 1


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_variances_over_all_coins(grouping):
    """The part of the coins is unbiased; where pairs add up to a known sum it is known exactly."""
    names = ("a", "b", "c")
    plain, scheme = both_schemes(GROUPINGS[grouping], names)
    records = [(1, 0, 1), (0, 1, 1)]
    n = len(records)

    def coins(told):
        found = response.estimate(table_of(told, names), scheme, "c").coin_variance
        return [*found.prior.tolist(), *(share for name in names[:-1] for share in found.joint[name].flat)]

    true = reference.variance(lambda told: numbers_of(told, scheme, names), records, plain)
    assert reference.expectation(coins, records, plain) == true
    if grouping in ("one group, class out", "one group, class in"):
        v = Fraction(4, 25) / Fraction(3, 5) ** 2
        flipped = plain[0][1]
        for place, (column, a, c) in enumerate(product((0, 1), (0, 1), (0, 1))):
            opposite = {column: 1 - a, 2: 1 - c if 2 in flipped else c}
            pair = reference.share(records, {column: a, 2: c}) + reference.share(records, opposite)
            assert true[2 + place] == v * pair / n
        for _, told in reference.outcomes(records, plain):
            assert coins(told) == true


def test_a_class_left_alone_is_not_reversed():
    """The opposite of (a, c) is then (a-bar, c): the formula of 3.4 with (a-bar, c-bar) misses the truth.

    Four people with a = c, all of whom tell the truth with 4/5: on average 2/5 say (1, 1) and 2/5 say (0, 0).
    """
    records = [(1, 1), (1, 1), (0, 0), (0, 0)]
    p, delta = Fraction(4, 5), Fraction(3, 5)

    def shares(told):
        return [Fraction(told.count(cell), len(told)) for cell in ((1, 1), (0, 1), (0, 0))]

    both, same_class, reverse = reference.expectation(shares, records, [(p, (0,))])
    assert (p * both - (1 - p) * same_class) / delta == Fraction(1, 2)
    assert (p * both - (1 - p) * reverse) / delta == Fraction(2, 5)  # the half of them would be right
    told = table_of([(1, 1)] * 4 + [(0, 1)] + [(0, 0)] * 4 + [(1, 0)], ("a", "c"))
    assert response.estimate(told, Scheme(p, [["a"]]), "c").raw.joint["a"][1, 1] == Fraction(1, 2)


def test_variances_within_a_class_and_the_coin_that_columns_share():
    """Var P-hat(A = 1 | c) = v / n_c for each attribute, covariance (v / n_c) (1 - 2 share that differ)."""
    records = [(1, 0, 1), (0, 0, 1), (1, 1, 1), (0, 1, 0)]
    plain, scheme = both_schemes([(Fraction(7, 10), (0, 1))], ("a", "b", "c"))
    v = Fraction(21, 100) / Fraction(4, 10) ** 2
    n_c, differ = 3, Fraction(1, 3)

    def given(told):
        joint = response.estimate(table_of(told, ("a", "b", "c")), scheme, "c").raw.joint
        a, b = (joint[name][1, 1] * len(records) / n_c for name in "ab")
        return [a, b, a + b]

    of_a, of_b, of_sum = reference.variance(given, records, plain)
    assert of_a == of_b == v / n_c
    assert (of_sum - of_a - of_b) / 2 == v / n_c * (1 - 2 * differ)


def test_the_variance_that_a_coin_adds():
    """V = theta (1 - theta) / (2 theta - 1)^2; one answer about nobody's value shows it alone."""
    for theta, v in [
        (".9", 0.1406), (".8", 0.4444), (".7", 1.3125), (".6", 6), (".55", 24.75), (".51", 624.75)
    ]:  # fmt: skip
        p = Fraction(theta)
        exact = p * (1 - p) / (2 * p - 1) ** 2
        assert float(exact) == pytest.approx(v, abs=5e-5)
        worst = response.plan(1, Scheme(p, [["a"]])).standard_error
        assert worst**2 == pytest.approx(float(exact + Fraction(1, 4)))
        # Two groups: records needed grow as delta^-4.
        needed = response.plan(None, Scheme(p, [["a"], ["b"]]), accuracy="0.1").n
        assert needed == math.ceil(Fraction(25) / (2 * p - 1) ** 4)


def test_variance_of_two_groups_by_the_formula():
    records = [(1, 1), (1, 0), (0, 1), (0, 0), (1, 1)]
    plain, scheme = both_schemes([(Fraction(4, 5), (0,)), (Fraction(7, 10), (1,))], ("a", "c"))
    n = len(records)
    v1, v2 = Fraction(4, 25) / Fraction(9, 25), Fraction(21, 100) / Fraction(16, 100)
    p = {cell: reference.share(records, dict(enumerate(cell))) for cell in product((0, 1), repeat=2)}
    square = p[1, 1] * (1 + v1) * (1 + v2) + p[1, 0] * (1 + v1) * v2 + p[0, 1] * v1 * (1 + v2)
    expected = (square + p[0, 0] * v1 * v2 - p[1, 1]) / n

    def cell(told):
        return [response.estimate(table_of(told, ("a", "c")), scheme, "c").raw.joint["a"][1, 1]]

    assert reference.variance(cell, records, plain) == [expected]


def test_what_the_coins_never_change():
    names = ("a", "b", "c")
    records = [(1, 0, 1), (0, 1, 1), (1, 1, 0)]
    plain, scheme = both_schemes([(Fraction(4, 5), (0, 1, 2))], names)
    for _, told in reference.outcomes(records, plain):
        for kind in ("raw", "projected"):
            found = response.estimate(table_of(told, names), scheme, "c")
            joint = found.raw.joint if kind == "raw" else found.joint
            for place, name in enumerate(names[:2]):
                agree = Fraction(sum(record[place] == record[2] for record in records), 3)
                assert joint[name][0, 0] + joint[name][1, 1] == agree
    plain, scheme = both_schemes([(Fraction(4, 5), (0, 1))], names)
    for _, told in reference.outcomes(records, plain):
        found = response.estimate(table_of(told, names), scheme, "c")
        for name in ("a", "b"):
            assert found.joint[name].sum(axis=0).tolist() == [Fraction(1, 3), Fraction(2, 3)]


@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=10), st.sampled_from(THETAS))
def test_theta_and_its_complement_are_the_same_with_reversed_answers(told, theta):
    names = ("a", "b", "c")
    for columns in ((0, 1), (0, 1, 2)):
        one, other = (Scheme(t, [[names[c] for c in columns]]) for t in (theta, 1 - theta))
        reverse = [reference.reversed_record(record, columns) for record in told]
        assert numbers_of(told, one, names) == numbers_of(reverse, other, names)


def test_theta_0_and_1_recover_the_truth():
    rng = np.random.default_rng(5)
    true = table_of(rng.integers(0, 2, (200, 3)).tolist(), ("a", "b", "c"))
    plain = nbcfast.count(true, "c")
    for theta in (0, 1):
        scheme = Scheme(theta, [["a", "b"]])
        found = response.estimate(response.disguise(true, scheme), scheme, "c")
        for name in ("a", "b"):
            assert (found.joint[name] * 200).tolist() == plain.counts[name].tolist()
            assert found.coin_variance.joint[name].tolist() == [[0, 0], [0, 0]]


def test_tables_viewsets_sums_and_bits_give_one_estimate():
    rng = np.random.default_rng(6)
    told = table_of(rng.integers(0, 2, (1000, 4)).tolist(), ("a", "b", "d", "c"))
    scheme = Scheme(["4/5", "2/3"], [["a", "c"], ["b"]])
    expected = response.estimate(told, scheme, "c").to_dict()
    first, second = told.take(slice(0, 300)), told.take(slice(300, None))
    merged = nbcfast.count(first, "c") + nbcfast.count(second, "c")
    assert response.estimate(merged, scheme, "c").to_dict() == expected
    assert response.estimate(response.pack(told), scheme, "c").to_dict() == expected
    assert (
        response.estimate({name: told.codes(name) for name in told.names}, scheme, "c").to_dict() == expected
    )
    only = response.estimate(told, scheme, "c", attributes=["b"])
    assert only.attributes == ("b",)
    assert only.to_dict()["joint"]["b"] == expected["joint"]["b"]


def test_values_are_those_of_the_scheme_and_may_be_missing_from_the_answers():
    scheme = Scheme("0.8", [["a"]], domains={"a": ["yes", "no"]})
    found = response.estimate({"a": ["no", "no"], "c": [0, 1]}, scheme, "c")
    assert found.domain("a") == ("yes", "no")
    assert found.raw.joint["a"].tolist() == [[Fraction(-1, 6)] * 2, [Fraction(2, 3)] * 2]
    assert found.joint["a"].tolist() == [[Fraction(0)] * 2, [Fraction(1, 2)] * 2]


def test_confidence_intervals_and_text():
    told = table_of([(1, 1)] * 50 + [(0, 1)] * 20 + [(0, 0)] * 30, ("a", "c"))
    found = response.estimate(told, Scheme("0.8", [["a"]]), "c")
    low, high = found.interval("0.9")
    centre = float(found.raw.joint["a"][1, 1])
    away = 1.6448536269514722 * math.sqrt(found.variance.joint["a"][1, 1])
    assert float(low.joint["a"][1, 1]) == pytest.approx(centre - away, rel=1e-9)
    assert float(high.joint["a"][1, 1]) == pytest.approx(centre + away, rel=1e-9)
    assert repr(found).startswith("Estimate(100 answers, 1 attributes, class 'c': 0: 0.3000 +- 0.0461")
    json.dumps(found.to_dict())
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 95"):
        found.interval(95)


@pytest.mark.parametrize("lie", ["each", "tuple"])
@pytest.mark.parametrize("groups", [[["a"]], [["c"]], [["a"], ["c"]], [["a", "c"]], [["a", "b", "c"]]])
def test_kary_estimates_average_to_the_truth(groups, lie):
    names, sizes = ("a", "b", "c"), [3, 2, 4]
    domains = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    thetas = [Fraction(3, 5), Fraction(1, 5)][: len(groups)]
    scheme = KaryScheme(
        thetas, {name: domains[name] for group in groups for name in group}, groups=groups, lie=lie
    )
    plain = [
        (theta, tuple(names.index(name) for name in group))
        for theta, group in zip(thetas, groups, strict=True)
    ]
    for record in [(0, 1, 3), (2, 0, 0)]:
        total, square, weights = 0, 0, 0
        for weight, answer in reference.kary_answers(record, plain, sizes, lie):
            found = response.estimate(table_of([answer], names, sizes), scheme, "c").raw.joint["a"]
            total = total + weight * found
            square = square + weight * found * found
            weights += weight
        assert weights == 1
        for a, c in product(range(3), range(4)):
            assert total[a, c] == int((a, c) == (record[0], record[2]))
        # The mean square is what the plan takes for the worst.
        worst = worst_variance(3, 4, scheme.shrinkage("a", "c"))
        assert max((square - total * total).flat) <= worst


def test_attribute_by_class_in_closed_form():
    """T-hat = [T* - q_A T*_+j - q_C T*_i+ + q_A q_C] / ((p_A - q_A) (p_C - q_C)), of shares."""
    told = [(0, 0)] * 4 + [(1, 2)] * 3 + [(2, 1)] * 5 + [(0, 2)] * 2
    scheme = KaryScheme(["1/2", "3/5"], {"a": [0, 1, 2], "c": [0, 1, 2]})
    found = response.estimate(table_of(told, ("a", "c"), 3), scheme, "c").raw
    n, (pa, qa), (pc, qc) = len(told), (Fraction(1, 2), Fraction(1, 4)), (Fraction(3, 5), Fraction(1, 5))
    for i, j in product(range(3), repeat=2):
        cell = Fraction(told.count((i, j)), n)
        row, column = (Fraction(sum(record[at] == x for record in told), n) for at, x in ((0, i), (1, j)))
        expected = (cell - qa * column - qc * row + qa * qc) / ((pa - qa) * (pc - qc))
        assert found.joint["a"][i, j] == expected
    assert found.prior[1] == (Fraction(5, n) - qc) / (pc - qc)


def test_variance_of_kary_answers():
    """Var = [P p (1 - p) + (1 - P) q (1 - q)] / (n (p - q)^2)."""
    p, k = Fraction(1, 2), 4
    q = (1 - p) / (k - 1)
    scheme = KaryScheme(p, {"c": list(range(k))})
    for truth in (0, 1):
        first = second = Fraction(0)
        for weight, answer in reference.kary_answers((truth,), [(p, (0,))], [k]):
            share = response.estimate(table_of([answer], ("c",), k), scheme, "c").raw.prior[0]
            first, second = first + weight * share, second + weight * share * share
        own = p * (1 - p) if truth == 0 else q * (1 - q)
        assert second - first * first == own / (p - q) ** 2


def test_missing_answers_are_a_value_of_kary_schemes():
    table = Table({"a": ["x", None, "y", "x"] * 100, "c": [0, 1] * 200})
    scheme = KaryScheme("4/5", {"a": ["x", "y", None]})
    told = response.disguise(table, scheme, np.random.default_rng(1))
    assert told.domain("a") == ("x", "y", None)
    found = response.estimate(told, scheme, "c")
    assert float(found.raw.joint["a"][2].sum()) == pytest.approx(0.25, abs=0.1)


def test_one_answer_tells_nothing_of_its_variance():
    told, scheme = table_of([(1, 1)], ("a", "c")), Scheme("0.8", [["a"], ["c"]])
    found = response.estimate(told, scheme, "c")
    assert found.variance.prior.tolist() == [math.inf, math.inf]
    low, high = found.interval()
    assert (low.prior[1], high.joint["a"][0, 0]) == (-math.inf, math.inf)
    assert "+- inf" in repr(found)
    assert found.to_dict()["variance"]["prior"] == [None, None]
    assert found.coin_variance.prior[1] == Fraction(4, 9)
    json.dumps([found.to_dict(), low.to_dict()], allow_nan=False)
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1]]})
    measured = response.accuracy(rule, told, scheme, "c")
    assert measured.standard_error == math.inf
    assert measured.to_dict()["standard_error"] is None
    assert "+- inf from 1 answers" in repr(measured)


def test_contributions_undo_what_coins_do():
    for shrinkage in (
        (Fraction(3, 5), Fraction(1), Fraction(3, 5)),
        (Fraction(3, 5), Fraction(2, 5), Fraction(6, 25)),
        (Fraction(3, 5), Fraction(3, 5), Fraction(1)),
    ):
        u, told = (contributions(2, 2, shrinkage, inverse=inverse) for inverse in (True, False))
        # One truth; answers by how they agree with it. Those of agreeing nowhere are as likely as told[0, 0].
        assert sum(u[key] * told[key] for key in u) == 1
