"""Amplification, limits and verdicts against brute force over all tuples, and against the two attackers."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset, safety
from nbcfast.reference import safety as reference
from nbcfast.reference.views import scores
from nbcfast.safety.condition10 import largest_ratio
from nbcfast.safety.ratios import MOST_BITS

PASSED_BY_10 = [
    # (views, the limit that condition (10) grants, odds of a labelled row, odds in the paper's convention)
    (([3, 3], [[[1, 2], [2, 1]]] * 2), 4, Fraction(4), Fraction(23, 4)),
    (([40, 76], [[[2, 1], [38, 75]]] * 2), 4, Fraction(38, 5), None),
    (([1000, 1960], [[[20, 10], [980, 1950]]] * 3), 8, Fraction(98, 50) ** 2 * 8, None),
]
IDS = ["6_rows", "116_rows", "2960_rows"]

SIZES = st.sampled_from([2, 5, 40, 2**26 + 1, 2**53 + 5, 10**15, 10**19, 2**450])


@st.composite
def viewsets(draw, least=0):
    """Any counts at all; many near one another, so that ratios tie or nearly do."""
    n, n_classes, most = draw(st.integers(0, 4)), draw(st.integers(1, 4)), draw(SIZES)
    few = draw(st.lists(st.integers(least, most), min_size=1, max_size=4))
    number = st.one_of(
        st.integers(least, most), st.sampled_from(few), st.integers(max(least, most - 3), most)
    )
    row = st.lists(number, min_size=n_classes, max_size=n_classes)
    counts = {f"a{i}": draw(st.lists(row, min_size=1, max_size=4)) for i in range(n)}
    return Viewset(draw(row), counts)


@st.composite
def realistic(draw, least=0, most=6):
    """Counts of a table, and every class has a row."""
    n, n_classes = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 3)) for _ in range(n)]
    arrays = [[[least] * n_classes for _ in range(size)] for size in sizes]
    of_class = [
        draw(st.integers(max([1, *(least * size for size in sizes)]), most + 3 * least))
        for _ in range(n_classes)
    ]
    for array, size in zip(arrays, sizes, strict=True):
        for c, total in enumerate(of_class):
            for _ in range(total - least * size):
                array[draw(st.integers(0, size - 1))][c] += 1
    return Viewset(of_class, {f"a{i}": array for i, array in enumerate(arrays)})


def brute(views):
    try:
        return reference.amplification(views)
    except ValueError:
        assume(False)


# Amplification


@given(viewsets())
def test_amplification_is_the_largest_ratio_over_all_tuples(views):
    expected = brute(views)
    found = safety.amplification(views)
    x = scores(views, found.tuple)
    c, d = (views.classes.index(label) for label in found.classes)
    if expected == math.inf:
        assert (found.infinite, found.log, found.value) == (True, math.inf, None)
        assert x[c] > 0
        assert x[d] == 0
    else:
        assert not found.infinite
        assert found.value == expected
        assert len(x) == 1 or x[c] / x[d] == expected
        assert found.log == pytest.approx(
            math.log(expected.numerator) - math.log(expected.denominator), abs=1e-9
        )
        assert found.log == 0 if expected == 1 else found.log > 0


@given(viewsets(least=1))
def test_linear_formula_equals_all_tuples(views):
    assert reference.linear(views) == reference.amplification(views) == safety.amplification(views).value


@given(viewsets(), st.fractions(min_value=0, max_value=10**6), st.integers(1, 4000))
def test_at_most_is_exact(views, other, bits):
    expected = brute(views)
    assert safety.at_most(views, other) == (expected <= other)
    if expected != math.inf:
        assert safety.at_most(views, expected)
        assert safety.at_most(views, expected + Fraction(1, 2**bits))
        assert not safety.at_most(views, expected - Fraction(1, 2**bits))


@pytest.mark.parametrize("step", [1, 2**30, 2**70, 2**500])
def test_nearly_equal_ratios_are_told_apart(step):
    # Doubles do not see which of the first two quotients is the larger one; the third equals the second.
    rows = [[step * 10**9 + 1, step * 10**9], [step * 10**9 + 2, step * 10**9 + 1], [3, 2]]
    rows = [[a, b] for a, b in rows] if step == 1 else rows
    views = Viewset([10**25, 10**25], {"a": [*rows[:2], [1, 1]], "b": [[7, 7], [5, 5]]})
    found = safety.amplification(views)
    assert found.tuple == {"a": 0, "b": 0}
    assert found.value == Fraction(step * 10**9 + 1, step * 10**9)
    assert 0 < found.log == pytest.approx(1 / (step * 10**9), rel=1e-8)


def test_first_of_equal_maxima_is_the_witness():
    views = Viewset([6, 6, 6], {"a": [[2, 1, 2], [4, 2, 4], [2, 3, 2]], "b": [[1, 1, 1]] * 6})
    found = safety.amplification(views)
    assert (found.tuple, found.classes, found.value) == ({"a": 0, "b": 0}, (0, 1), 2)
    many = 2**40
    views = Viewset(
        [1, 1], {"a": [[5 * many, 3 * many], [10 * many, 6 * many], [5 * many + 5, 3 * many + 3]]}
    )
    assert safety.amplification(views).tuple == {"a": 0}


def test_infinite_with_witness():
    views = Viewset(
        [3, 2], {"job": [[3, 0], [0, 2]], "sex": [[1, 1], [2, 1]]}, domains={"job": ["clerk", "cook"]}
    )
    found = safety.amplification(views)
    assert found.infinite
    assert found.log == math.inf
    assert found.value is None
    assert found.classes == (0, 1)
    assert found.tuple == {"job": "clerk", "sex": 1}
    assert repr(found) == "Amplification(infinite: 0 over 1 at job='clerk', sex=1)"
    assert not safety.at_most(views, 10**100)
    report = safety.check(views, 10**100)
    assert not report.safe
    assert report.condition10["ratio"] is None
    assert not report.condition10["safe"]


def test_values_that_no_row_has_do_not_matter():
    views = Viewset([3, 2], {"a": [[1, 1], [0, 0], [2, 1]], "b": [[3, 2], [0, 0]]})
    assert safety.amplification(views).value == 2
    assert safety.check(views, 2).safe
    assert safety.check(views, 2).condition10["ratio"] == 2


def test_class_without_rows_is_infinitely_unlikely():
    for empty in (0, 1):
        of_class = [0, 0]
        of_class[1 - empty] = 2
        array = [[x] for x in [2, 0]]
        counts = [[row[0] if c != empty else 0 for c in range(2)] for row in array]
        found = safety.amplification(Viewset(of_class, {"a": counts}))
        assert found.infinite
        assert found.classes == (1 - empty, empty)
        assert found.tuple == {"a": 0}


def test_one_class_and_no_attributes():
    one = safety.amplification(Viewset([5], {"a": [[0], [2], [3]], "b": [[5]]}))
    assert (one.log, one.value, one.infinite) == (0, 1, False)
    assert one.tuple == {"a": 2, "b": 0}
    assert one.classes == (0, 0)
    none = safety.amplification(Viewset([5, 15], {}))
    assert (none.value, none.tuple, none.classes) == (3, {}, (1, 0))
    assert safety.at_most(Viewset([5, 15], {}), 3)
    assert not safety.at_most(Viewset([5, 15], {}), "2.999")
    assert safety.check(Viewset([5, 15], {}), 3).condition10["safe"]
    assert safety.at_most(Viewset([5], {"a": [[5]]}), 1)


def test_no_rows_and_no_positive_score_are_errors():
    for views in (Viewset([0, 0], {}), Viewset([0, 0], {"a": [[0, 0]]})):
        for judge in (safety.amplification, lambda v: safety.at_most(v, 4), lambda v: safety.check(v, 4)):
            with pytest.raises(ValueError, match="views: no rows"):
                judge(views)
    for array in ([[0, 0]], np.zeros((0, 2), np.int64)):
        with pytest.raises(ValueError, match="no tuple has a positive score in any class"):
            safety.amplification(Viewset([1, 1], {"a": array, "b": [[1, 1]]}))


def test_huge_counts_and_many_attributes():
    rng = np.random.default_rng(5)
    small = [rng.integers(1, 1000, (2, 2)) for _ in range(1000)]
    views = Viewset([2000, 3000], small)
    found = safety.amplification(views)
    expected = reference.linear(views)
    bits = expected.numerator.bit_length() + expected.denominator.bit_length()
    assert found.value == (expected if bits <= MOST_BITS else None)
    top, bottom = expected.numerator, expected.denominator
    assert found.log == pytest.approx(math.log(top) - math.log(bottom), rel=1e-14)
    # Decided exactly although the limit is the value itself: no interval can do that.
    assert safety.at_most(views, expected)
    assert not safety.at_most(views, expected - Fraction(1, 10**9000))

    long = [array.astype(object) << 20_000 for array in small]
    huge = safety.amplification(Viewset([2000 << 20_000, 3000 << 20_000], long))
    assert huge.value is None
    assert not huge.infinite
    assert huge.log == pytest.approx(found.log, rel=1e-14)
    assert huge.tuple == found.tuple
    assert safety.at_most(Viewset([2000 << 20_000, 3000 << 20_000], long), expected)


def test_value_is_given_up_to_20000_bits():
    for bits, written in ((9_999, True), (10_001, False)):
        views = Viewset([1 << 20_000] * 2, {"a": [[1 << bits, (1 << bits) - 1], [1, 1]]})
        found = safety.amplification(views)
        assert (found.value is not None) == written
        assert 0 <= found.log < 1e-300
        assert "Amplification(1:" in repr(found)
        json.dumps(found.to_dict())


def test_values_larger_than_a_double_are_shown():
    views = Viewset([1] * 2, {"a": [[10**2000, 1]]})
    assert repr(safety.amplification(views)) == "Amplification(1.000e+2000: 0 over 1 at a=0)"
    assert not safety.at_most(views, 10**2000 - 1)
    assert safety.at_most(views, 10**2000)


@given(viewsets())
def test_order_of_values_and_names_does_not_matter(views):
    expected = brute(views)
    turned = Viewset(
        views.class_counts, {name: views.counts[name][::-1] for name in reversed(views.attributes)}
    )
    found = safety.amplification(turned)
    assert (math.inf if found.infinite else found.value) == expected


# Limits


def test_limit_of_breach_levels():
    for n_classes, paper in ((2, 4), (3, 2.886), (5, 2.410), (10, 2.174)):
        assert safety.limit(0.5, 0.8, n_classes=n_classes) == 4
        assert float(safety.limit(0.5, 0.8, n_classes=n_classes, rule="paper")) == pytest.approx(
            paper, abs=5e-4
        )
    assert safety.limit("0.5", Fraction(4, 5)) == Fraction(4)
    assert isinstance(safety.limit(0.5, 0.8), Fraction)
    assert safety.limit(0.1, 0.9) == 81


@given(
    st.fractions(min_value=0, max_value=1, max_denominator=100),
    st.fractions(min_value=0, max_value=1, max_denominator=100),
    st.integers(2, 20),
)
def test_limit_equals_reference(a, b, n_classes):
    low, high = sorted((a, b))
    assume(0 < low < high < 1)
    assert safety.limit(low, high) == reference.limit(low, high)
    odds = safety.limit(low, high)
    found = safety.limit(low, high, n_classes=n_classes, rule="paper")
    # Formula (7) holds just below the supremum and fails just above.
    assert reference.formula7(found - Fraction(1, 2**60), odds, n_classes)
    assert not reference.formula7(found + Fraction(1, 2**60), odds, n_classes)
    assert found == odds if n_classes == 2 else found < odds
    assert abs(found - reference.limit(low, high, n_classes=n_classes, rule="paper")) < Fraction(1, 2**60)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=5), st.data())
def test_sharp_limit_prevents_the_breach(prior, data):
    # Bayes with likelihood ratios up to the limit: no set of classes goes from L1 to above L2.
    low, high = Fraction(1, 2), Fraction(4, 5)
    ratio = safety.limit(low, high)
    likelihood = [data.draw(st.sampled_from([Fraction(1), ratio, ratio / 2 + Fraction(1, 2)])) for _ in prior]
    total = sum(p * x for p, x in zip(prior, likelihood, strict=True))
    for chosen in product([0, 1], repeat=len(prior)):
        before = Fraction(sum(p for p, inside in zip(prior, chosen, strict=True) if inside), sum(prior))
        after = sum(p * x for p, x, inside in zip(prior, likelihood, chosen, strict=True) if inside) / total
        assert before > low or after <= high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"l1": 0.8, "l2": 0.5}, "l1 and l2 must be 0 < l1 < l2 < 1, got 0.8 and 0.5"),
        ({"l1": 0, "l2": 0.5}, "0 < l1 < l2 < 1"),
        ({"l1": 0.5, "l2": 1}, "0 < l1 < l2 < 1"),
        ({"l1": 0.5, "l2": 0.8, "rule": "paper"}, "rule='paper' needs n_classes"),
        ({"l1": 0.5, "l2": 0.8, "rule": "both"}, "rule must be 'sharp' or 'paper', got 'both'"),
        ({"l1": 0.5, "l2": 0.8, "n_classes": 1}, "n_classes must be at least 2, got 1"),
        ({"l1": math.nan, "l2": 0.8}, "l1 must be a finite number"),
    ],
)
def test_limit_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        safety.limit(**arguments)


def test_limit_refuses_other_types():
    with pytest.raises(TypeError, match=r"n_classes must be an int, got 2\.0"):
        safety.limit(0.5, 0.8, n_classes=2.0)
    with pytest.raises(TypeError, match="l1 must be"):
        safety.limit(None, 0.8)


# Verdicts


@given(realistic(), st.fractions(min_value=1, max_value=40), st.sampled_from(["row", "worlds"]))
def test_check_equals_reference(views, demanded, attacker):
    assume(demanded > (2 if attacker == "worlds" else 1))
    report = safety.check(views, demanded, attacker=attacker)
    assert report.safe == reference.check(views, demanded, attacker)
    assert report.condition10["safe"] == reference.condition10(views, demanded)
    ratio = reference.largest_ratio(views)
    assert report.condition10["ratio"] == (None if ratio == math.inf else ratio)
    assert report.smallest_class == min(views.class_counts)
    assert report.witness == report.amplification.tuple
    assert report.allowed == (demanded / 2 if attacker == "worlds" else demanded)
    where = report.condition10["where"]
    row = (
        views.class_counts if where["attribute"] is None else views.counts[where["attribute"]][where["value"]]
    )
    x, y = (int(row[label]) for label in where["classes"])
    assert ratio == (Fraction(x, y) if y else math.inf)
    json.dumps(report.to_dict())


@given(viewsets(least=1))
def test_condition10_of_any_counts(views):
    ratio, where = largest_ratio(views)
    assert ratio == reference.largest_ratio(views)
    row = (
        views.class_counts if where["attribute"] is None else views.counts[where["attribute"]][where["value"]]
    )
    x, y = (int(row[label]) for label in where["classes"])
    assert ratio == Fraction(x, y)


@given(realistic())
def test_a_row_learns_at_most_the_amplification(views):
    # The theorem of the labelled row, over every set of known values.
    amplification = reference.amplification(views)
    worst, _ = reference.worst_odds(views, "row")
    assert worst <= amplification
    if views.attributes and len(views.classes) > 1:
        full = max(
            max(p) / q if (q := min(p)) else math.inf
            for known in map(
                dict, product(*([(name, value) for value in views.domain(name)] for name in views.attributes))
            )
            if any(scores(views, known))
            for p in [reference.posterior(views, known, "row")]
        )
        assert full == worst == amplification or amplification == math.inf


@given(realistic(least=1, most=4))
def test_worlds_are_within_a_factor_of_two(views):
    for known in map(
        dict, product(*([(name, value) for value in views.domain(name)] for name in views.attributes))
    ):
        x, p = scores(views, known), reference.posterior(views, known, "worlds")
        for c, d in product(range(len(x)), repeat=2):
            if c != d:
                assert Fraction(1, 2) < (p[c] / p[d]) / (x[c] / x[d]) < 2
    amplification = reference.amplification(views)
    assert safety.check(views, 2 * amplification + 1, attacker="worlds").safe
    assert reference.worst_odds(views, "worlds")[0] < 2 * amplification or amplification == 1


def test_worlds_by_listing_them():
    views = Viewset(*PASSED_BY_10[0][0])
    for known in ({}, {"A1": 0}, {"A1": 0, "A2": 0}, {"A1": 0, "A2": 1}):
        for convention in ("row", "worlds"):
            listed = reference.posterior_by_listing(views, known, convention)
            assert listed == reference.posterior(views, known, convention)
        x = [math.prod(int(views.counts[name][value][c]) for name, value in known.items()) for c in range(2)]
        assert reference.posterior(views, known, "row") == [Fraction(y, sum(x)) for y in x]


@pytest.mark.parametrize(("views", "limit", "row", "worlds"), PASSED_BY_10, ids=IDS)
def test_viewsets_that_condition10_passes(views, limit, row, worlds):
    views = Viewset(*views)
    for attacker in ("row", "worlds"):
        report = safety.check(views, limit, attacker=attacker)
        assert report.amplification.value == row
        assert report.condition10["safe"]
        assert report.condition10["amplification"] == limit
        assert report.safe == (attacker == "row" and row <= limit)
        if not report.safe:
            assert "a breach that it does not see" in report.condition10["why"]
            assert "P_c^(1-n)" in report.condition10["why"]
    if worlds is not None:
        assert reference.worst_odds(views, "worlds")[0] == worlds
    posterior = row / (1 + row)
    assert float(posterior) == pytest.approx({4: 0.8, 7.6: 0.884, 30.7328: 0.9685}[float(row)], abs=5e-4)


def test_worlds_of_the_second_viewset():
    views = Viewset(*PASSED_BY_10[1][0])
    p = reference.posterior(views, {"A1": 0, "A2": 0}, "worlds")
    assert float(p[0] / p[1]) == pytest.approx(7.84, abs=5e-3)
    assert float(p[0]) == pytest.approx(0.887, abs=5e-4)
    larger = Viewset([1000, 1900], [[[50, 25], [950, 1875]]] * 2)
    p = reference.posterior(larger, {"A1": 0, "A2": 0}, "worlds")
    assert float(p[0] / p[1]) == pytest.approx(7.76, abs=5e-3)


def two_by_two(n_rows):
    """All positive viewsets of two binary attributes and two classes."""
    for p in range(2, n_rows - 1):
        cells = range(1, p), range(1, n_rows - p), range(1, p), range(1, n_rows - p)
        for a, b, c, d in product(*cells):
            rest = n_rows - p
            yield Viewset([p, rest], [[[a, b], [p - a, rest - b]], [[c, d], [p - c, rest - d]]])


def test_all_small_viewsets_at_the_limit_that_condition10_grants():
    # 6 rows: in the paper's own convention 4 of 30 are breached; of labelled rows none.
    seen = breached = 0
    for views in two_by_two(6):
        granted = safety.check(views, 100).condition10["amplification"]
        if granted == 1:
            continue
        seen += 1
        worst, _ = reference.worst_odds(views, "worlds")
        breached += worst > granted
        assert reference.worst_odds(views, "row")[0] <= granted
        assert safety.check(views, granted).safe
        if granted > 2 and worst > granted:
            assert not safety.check(views, granted, attacker="worlds").safe
    assert (seen, breached) == (30, 4)


def test_all_viewsets_of_14_rows():
    seen = breached = 0
    for views in two_by_two(14):
        ratio = reference.largest_ratio(views)
        if ratio == 1:
            continue
        seen += 1
        expected = reference.linear(views)
        safe = safety.at_most(views, ratio**2)
        assert safe == (expected <= ratio**2)
        breached += not safe
    # Of labelled rows; ratio 2 - 1/n in the exponent is not reached at this size.
    assert (seen, breached) == (8258, 40)


def test_condition10_reasons():
    views = Viewset(*PASSED_BY_10[1][0])
    assert safety.check(views, 4).condition10["why"] == (
        "(10) passes these views at 4, where the odds move by 7.6: a breach that it does not see; "
        "(10) bounds each ratio of counts by 4^(1/2), but X_c = P_c^(1-n) prod N holds the class count n - 1 "
        "times more, so together they may move the odds by up to 4^(2 - 1/2) = 8"
    )
    assert safety.check(views, 4).condition10["log_reachable"] == pytest.approx(math.log(8))
    needless = Viewset([10, 10], {"a": [[5, 5], [4, 2], [1, 3]], "b": [[5, 5]] * 2})
    report = safety.check(needless, 4)
    assert report.safe
    assert not report.condition10["safe"]
    assert "only their product counts" in report.condition10["why"]
    single = safety.check(Viewset([3, 3], {"a": [[1, 2], [2, 1]]}), 3)
    assert single.safe
    assert "at most one attribute" in single.condition10["why"]


def test_condition10_is_not_monotone_in_k():
    # Step 3 after taking k-th roots: the largest ratio of (10) first grows.
    from nbcfast.reference import transform

    views = Viewset([100, 100], [[[50, 95], [50, 5]]] * 8)
    found = []
    for k in ("1", "3/2", "2", "3"):
        weights, scaled = transform.scale(views, [0, 0], Fraction(k), 60, gauge=False)
        of_class, counts = transform.adjust(weights, scaled)
        ratios = [max(row) / min(row) for row in [of_class, *(row for array in counts for row in array)]]
        found.append(float(max(ratios)))
        assert transform.amplification(weights, scaled) < transform.amplification(
            *transform.scale(views, [0, 0], Fraction(k) - Fraction(1, 64), 60, gauge=False)
        )
    assert found == pytest.approx([10.0, 11.84, 10.09, 6.6], abs=5e-2)


def test_report_reads_well():
    report = safety.check(Viewset(*PASSED_BY_10[1][0], classes=["no", "yes"]), "4")
    assert repr(report) == (
        "Report(unsafe, attacker 'row': amplification 7.6 > 4, 'no' over 'yes' at A1=0, A2=0; "
        "condition (10) says safe; smallest class 40)"
    )
    assert report.to_dict()["amplification"] == {
        "log": pytest.approx(math.log(7.6)),
        "value": "38/5",
        "infinite": False,
        "tuple": {"A1": 0, "A2": 0},
        "classes": ["no", "yes"],
    }
    assert report.to_dict()["limit"] == "4/1"
    with pytest.raises(AttributeError):
        report.safe = True
    many = safety.amplification(Viewset([3, 3], [[[1, 2], [2, 1]]] * 12))
    assert ".. 12 in all" in repr(many)


@pytest.mark.parametrize(
    ("demanded", "attacker", "error", "message"),
    [
        (1, "row", ValueError, "amplification must be above 1, got 1"),
        ("0.5", "row", ValueError, "amplification must be above 1, got 0.5"),
        (2, "worlds", ValueError, "amplification must be above 2 for attacker='worlds'.*got 2"),
        (1, "worlds", ValueError, "amplification must be above 1, got 1"),
        (4, "anyone", ValueError, "attacker must be 'row' or 'worlds', got 'anyone'"),
        (math.nan, "row", ValueError, "amplification must be a finite number, got nan"),
        (math.inf, "row", ValueError, "amplification must be a finite number, got inf"),
        ("four", "row", ValueError, "amplification must be a finite number, got 'four'"),
        (None, "row", TypeError, "amplification must be an int"),
    ],
)
def test_check_refuses(demanded, attacker, error, message):
    with pytest.raises(error, match=message):
        safety.check(Viewset(*PASSED_BY_10[0][0]), demanded, attacker=attacker)


def test_check_refuses_unrealistic_views():
    with pytest.raises(
        ValueError, match="the counts of attribute 'a' add up to 4 in class 'yes', which has 3 rows"
    ):
        safety.check(Viewset([3, 3], {"a": [[1, 2], [2, 2]]}, classes=["no", "yes"]), 4)


def test_adult(data):
    names = ["age", "education_num", "hours_per_week"]
    table = nbcfast.read_csv(data / "adult-train.csv", columns=[*names, "income"])
    views = nbcfast.count(table, "income", classes=[">50K", "<=50K"])
    found = safety.amplification(views)
    assert found.infinite
    x = scores(views, found.tuple)
    c, d = (views.classes.index(label) for label in found.classes)
    assert x[c] > 0 == x[d]
    # The 24 zero counts left out: ln Lambda of the tuples without one.
    kept = {name: array[(array > 0).all(axis=1)] for name, array in views.counts.items()}
    assert sum(int((array == 0).sum()) for array in views.counts.values()) == 24
    assert safety.amplification(Viewset(views.class_counts, kept)).log == pytest.approx(10.5, abs=0.05)
