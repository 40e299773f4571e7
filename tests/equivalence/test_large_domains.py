"""Margins and comparisons of domains that nobody enumerates."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from equivalence_cases import MARGIN_WAYS, WAYS, census, nearly

import nbcfast
from nbcfast import Viewset
from nbcfast.equivalence import Enumerated, bound, compare, margin
from nbcfast.equivalence.comparing import compared
from nbcfast.equivalence.margins import margin_of
from nbcfast.reference import equivalence as reference


def ratios(views, c, d):
    """Log-ratios over the whole domain in floats; -inf where X_c = 0, inf where X_d alone is."""
    n = len(views.attributes)
    sums = np.array((1 - n) * (math.log(views.class_counts[c]) - math.log(views.class_counts[d])))
    with np.errstate(divide="ignore", invalid="ignore"):
        for array in views.counts.values():
            sums = np.add.outer(sums, np.log(array[:, c]) - np.log(array[:, d]))
    return np.where(np.isnan(sums), -np.inf, sums)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "way", ["halves", "halves, nothing listed", "halves, everything listed", "attributes outside"]
)
def test_a_million_tuples(n_classes, way):
    a = census((41, 73, 16, 9, 3), n_classes)
    limits = WAYS[way]._replace(most=5_000) if way == "attributes outside" else WAYS[way]
    for factor in (3, 1_000):
        b = nearly(a, factor)
        differs = np.zeros(a_shape := tuple(len(array) for array in a.counts.values()), bool)
        lost = np.zeros((2, n_classes, *a_shape), bool)
        nearest = math.inf
        for c, d in itertools.combinations(range(n_classes), 2):
            f, g = ratios(a, c, d), ratios(b, c, d)
            finite = np.abs(f[np.isfinite(f)])
            # Floats are enough: no tuple is nearer to a tie than their error, or it is an exact tie.
            assert not ((finite > 1e-12) & (finite < 1e-11)).any()
            nearest = min(nearest, finite[finite > 1e-11].min())
            above, above_too = f > 1e-12, g > 1e-12
            differs |= above != above_too
            for which, is_above in enumerate((above, above_too)):
                lost[which, d] |= is_above
                lost[which, c] |= ~is_above
        assert margin(a).log == pytest.approx(nearest, rel=1e-6)
        found = compared(a, b, "order", limits=limits)
        assert (found.equal, found.differing) == (not differs.any(), np.count_nonzero(differs))
        found = compared(a, b, "label", limits=limits)
        assert found.differing == np.count_nonzero((lost[0] != lost[1]).any(axis=0))


def test_adult(data):
    table = nbcfast.read_csv(data / "adult-train.csv")
    views = nbcfast.count(
        table, "income", ["age", "education_num", "hours_per_week"], classes=(">50K", "<=50K")
    )
    for way in ({}, {"enumerate_up_to": 0}, {"enumerate_up_to": 10**6}):
        found = margin_of(views, **way)
        # The published figure is the logarithm of a rounded quotient, right to 12 digits.
        assert found.log == pytest.approx(1.9513960496864301e-4, rel=1e-11)
        assert found.log == reference.log(Fraction(82002333737088, 81986333395277))
        assert found.tuples == 109_792
    assert 2**-60.3 < bound(views).log < 2**-60.1
    same = compare(views, views + views, on=table)
    assert (same.equal, same.differing, same.tuples, len(same.rows)) == (True, 0, 109_792, 0)
    other = nbcfast.count(
        table.take(np.arange(30_000)), "income", views.attributes, classes=(">50K", "<=50K")
    )
    other = Viewset(
        other.class_counts,
        {name: _spread(other, views, name) for name in views.attributes},
        classes=views.classes,
        domains={name: views.domain(name) for name in views.attributes},
    )
    found = compare(views, other, on=table)
    differ = np.flatnonzero(views.predict(table, codes=True) != other.predict(table, codes=True))
    assert found.rows.tolist() == differ.tolist()
    assert found.differing == Enumerated(views).violations(other) > 0


def _spread(views, like, name):
    array = np.zeros((len(like.domain(name)), len(like.classes)), np.int64)
    for value, row in zip(views.domain(name), views.counts[name], strict=True):
        array[like.domain(name).index(value)] = row
    return array


def test_huge_counts_that_nearly_tie():
    """The nearest pair is 2^-145 apart; 10^4 tuples, so brute force with integers is quick."""
    rng = np.random.default_rng(3)
    views = Viewset([5 * 10**15] * 2, [rng.integers(10**15, 10**15 + 50, (10, 2)) for _ in range(4)])
    best = None
    for rows in itertools.product(*(views.counts[name].tolist() for name in views.attributes)):
        x, y = math.prod(row[0] for row in rows), math.prod(row[1] for row in rows)
        x, y = max(x, y), min(x, y)
        if x > y and (best is None or x * best[1] < best[0] * y):
            best = x, y
    for way in MARGIN_WAYS[:3]:
        found = margin_of(views, **way)
        c, d = map(views.classes.index, found.classes)
        assert reference.ratio(views, found.witness, c, d) == Fraction(*best)


def test_ties_in_a_large_domain():
    """2^36 tuples with 37 different scores: all that is equal must be seen to be so."""
    views = Viewset([300, 300], [[[100, 200], [200, 100]]] * 36)
    found = margin(views)
    assert (found.log, found.tuples, found.method) == (
        pytest.approx(math.log(4)),
        2**36,
        "meet in the middle",
    )
    other = Viewset([300, 300], [[[101, 199], [199, 101]]] * 35 + [[[102, 198], [198, 102]]])
    found = compare(views, other)
    # With as many values of either kind the other viewset breaks the tie, half of the time for class 0.
    assert (found.equal, found.differing) == (False, math.comb(35, 17))


def test_more_tuples_than_can_be_counted():
    """10^40 tuples, but few proportions of counts: decided, and counted where 64 bits allow it."""
    a = Viewset([15, 15], [[[1, 2], [2, 1]] + [[1, 1]] * 98] * 20)
    assert margin(a).log == reference.log(Fraction(2))
    assert compare(a, Viewset([30, 30], [[[2, 4], [4, 2]] + [[1, 1]] * 98] * 20)).equal
    other = Viewset([15, 15], [[[1, 2], [2, 1]] + [[1, 1]] * 98] * 19 + [[[1, 2], [3, 1]] + [[1, 1]] * 98])
    found = compare(a, other)
    assert (found.equal, found.differing, found.tuples) == (False, None, 100**20)
    assert reference.order(a, found.witness) != reference.order(other, found.witness)
    few, few_too = (Viewset([15, 15], list(views.counts.values())[-3:]) for views in (a, other))
    assert compare(few, few_too).differing == Enumerated(few).violations(few_too) > 0
