"""Products of experts are one viewset; votes are none."""

from fractions import Fraction
from itertools import product as tuples
from math import log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nbcfast import Infeasible, Viewset, canonical, count, dp
from nbcfast.streams import product
from nbcfast.table import Domain


def scores(views, values):
    """X_c of one tuple of positions, exactly; 0 where a class has no rows."""
    n = len(views.attributes)
    result = []
    for c, rows in enumerate(views.class_counts.tolist()):
        score = Fraction(rows) ** (1 - n) if rows else Fraction(0)
        for name, value in zip(views.attributes, values, strict=True):
            score *= int(views.counts[name][value, c])
        result.append(score)
    return result


SIZES = (2, 3)
rows_of = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES), st.integers(0, 1)), max_size=12)


def views_of(rows):
    columns = [[row[i] for row in rows] for i in range(3)]
    matrix = [list(row) for row in zip(*columns[:2], strict=True)]
    return Viewset.from_codes(matrix, columns[2], sizes=SIZES, n_classes=2) if rows else None


@given(st.lists(rows_of.filter(bool), min_size=1, max_size=4))
def test_scores_are_the_products_of_those_of_the_experts(samples):
    experts = [views_of(rows) for rows in samples]
    views = product(experts)
    assert views.is_realistic()
    ratios = set()
    for values in tuples(*map(range, SIZES)):
        wanted = [Fraction(1), Fraction(1)]
        for expert in experts:
            wanted = [a * b for a, b in zip(wanted, scores(expert, values), strict=True)]
        for score, expected in zip(scores(views, values), wanted, strict=True):
            assert (score == 0) == (expected == 0)
            if expected:
                ratios.add(score / expected)
    assert len(ratios) <= 1  # one K for all tuples and classes


@given(rows_of.filter(bool), st.integers(1, 4))
def test_equal_experts_decide_as_one(rows, n):
    one = views_of(rows)
    many = product([one] * n)
    table = {"A1": [a for a in range(2) for _ in range(3)], "A2": [0, 1, 2] * 2}
    assert many.order(table).tolist() == one.order(table).tolist()


@given(st.lists(rows_of.filter(bool), min_size=2, max_size=4))
def test_a_sum_is_the_classifier_of_all_rows(samples):
    total = views_of(samples[0])
    for rows in samples[1:]:
        total = total + views_of(rows)
    assert total == views_of([row for rows in samples for row in rows])


def test_a_sum_is_no_product_of_experts():
    """Two experts that disagree: the larger sample wins in the sum, the surer expert in the product."""
    large = Viewset([110, 100], [[[60, 50], [50, 50]]])
    sure = Viewset([1, 10], [[[1, 9], [0, 1]]])
    table = {"A1": [0]}
    assert (large + sure).predict(table).tolist() == [0]
    assert product([large, sure]).predict(table).tolist() == [1]


@given(st.lists(rows_of.filter(bool), min_size=2, max_size=3))
def test_between_sum_and_product_there_is_at_most_what_the_page_says(samples):
    """The mean logarithm of the experts' scores, and that of the scores of their mean counts."""
    experts = [
        views_of([*rows, *((a, b, c) for a in range(2) for b in range(3) for c in range(2))])
        for rows in samples
    ]
    total = experts[0]
    for expert in experts[1:]:
        total = total + expert
    size = len(experts)
    spread = max(
        abs(Fraction(size * int(x), int(mean)) - 1)
        for expert in experts
        for ours, theirs in [
            (expert.class_counts, total.class_counts),
            *((expert.counts[name], total.counts[name]) for name in total.attributes),
        ]
        for x, mean in zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True)
    )
    assume(spread < 1)
    eta = float(spread**2 / (2 * (1 - spread) ** 2))
    n = len(total.attributes)
    for values in tuples(*map(range, SIZES)):
        own = [scores(expert, values) for expert in experts]
        for c, score in enumerate(scores(total, values)):
            of_experts = sum(log(each[c]) for each in own) / size
            of_mean = log(score / size)
            assert -n * eta - 1e-9 <= of_experts - of_mean <= (n - 1) * eta + 1e-9


def xor_experts():
    """Three classifiers of two bits: or, not both, and never. Most of them say "xor"."""
    grid = [(a, b) for a in (0, 1) for b in (0, 1)]
    either = Viewset([4, 4], [[[3, 1], [1, 3]], [[3, 1], [1, 3]]])
    not_both = Viewset([4, 4], [[[1, 3], [3, 1]], [[1, 3], [3, 1]]])
    never = Viewset([6, 1], [[[3, 1], [3, 0]], [[3, 1], [3, 0]]])
    return grid, [either, not_both, never]


def test_a_vote_of_naive_bayes_classifiers_is_exclusive_or():
    grid, experts = xor_experts()
    table = {"A1": [a for a, _ in grid], "A2": [b for _, b in grid]}
    votes = sum(expert.predict(table) for expert in experts)
    assert (votes >= 2).tolist() == [a != b for a, b in grid]
    # Neither their sum nor their product decides so: no viewset at all does.
    for views in (experts[0] + experts[1] + experts[2], product(experts)):
        assert views.predict(table).tolist() != [int(a != b) for a, b in grid]


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=2),
    st.lists(st.integers(0, 6), min_size=8, max_size=8),
)
def test_no_viewset_is_exclusive_or(class_counts, cells):
    views = Viewset(class_counts, [[cells[0:2], cells[2:4]], [cells[4:6], cells[6:8]]])
    assert views.predict({"A1": [0, 0, 1, 1], "A2": [0, 1, 0, 1]}).tolist() not in (
        [0, 1, 1, 0],
        [1, 0, 0, 1],
    )


def test_a_product_can_be_released():
    blocks = [
        count({"job": ["a", "b", "b", "a"], "sex": ["f", "m", "f", "m"], "ill": ["n", "y", "n", last]}, "ill")
        for last in ("y", "n")
    ]
    views = product(block.smoothed(1) for block in blocks)
    release = canonical.release(views, 4, class_name="ill")
    table = {"job": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}
    assert release.views.predict(table).tolist() == views.predict(table).tolist()


def test_what_is_no_set_of_experts_is_named():
    one = Viewset([1, 1], [[[1, 0], [0, 1]]])
    for experts, error, why in (
        ([], ValueError, "experts must be at least one Viewset, got none"),
        ([one, 3], TypeError, "experts must be Viewsets, got int at 1"),
        ([one, Viewset([1], [[[1]]])], ValueError, "that at 1 has the classes"),
        (
            [one, Viewset([1, 1], {"B": [[1, 0], [0, 1]]})],
            ValueError,
            "expected viewsets of the same attributes",
        ),
        ([one, Viewset([1, 1], [[[1, 1]]])], ValueError, "has other values of 'A1'"),
        ([one, Viewset([1, 1], [[[1, 0], [0, 2]]])], ValueError, "that at 1 is not realistic"),
    ):
        with pytest.raises(error, match=why):
            product(experts)


def test_counts_that_would_be_too_long_are_refused():
    one = Viewset([2**900, 2**900], [[[2**900, 2**900]]] * 300)
    with pytest.raises(Infeasible, match="take fewer experts"):
        product([one] * 30)


def test_products_of_noisy_counts_are_refused_and_others_are_no_counts_of_people():
    classes, values = Domain.of(["no", "yes"]), {"job": Domain.of(["a", "b"])}
    one = Viewset.from_parts(np.array([3, 2]), {"job": np.array([[2, 1], [1, 1]])}, classes, values)
    with pytest.raises(ValueError, match="got noisy counts at 1"):
        product([one, dp.counts(one, epsilon=1)])
    with pytest.raises(ValueError, match="whole rows"):
        dp.counts(product([one, one]), epsilon=1)
