"""Smoothed views: Laplace's classifier, exactly, as the counts of whole rows."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Infeasible, Viewset
from nbcfast.views import smoothing

ALPHAS = st.fractions(Fraction(1, 50), 20, max_denominator=60)


@st.composite
def tables(draw):
    """Realistic views of few rows, with zeros, in all numbers of classes and attributes."""
    n_classes = draw(st.integers(1, 3))
    of_class = draw(st.lists(st.integers(1, 9), min_size=n_classes, max_size=n_classes))
    sizes = draw(st.lists(st.integers(1, 4), max_size=3))
    arrays = []
    for size in sizes:
        array = np.zeros((size, n_classes), np.int64)
        for c, count in enumerate(of_class):
            for _ in range(count):
                array[draw(st.integers(0, size - 1)), c] += 1
        arrays.append(array)
    return Viewset(of_class, arrays)


def posteriors(scores):
    return [score / sum(scores) for score in scores]


def textbook(views, alpha, rows):
    """Laplace's posteriors, written down."""
    scores = []
    for c, count in enumerate(views.class_counts.tolist()):
        factors = [
            (array[row, c].item() + alpha) / (count + alpha * len(array))
            for array, row in zip(views.counts.values(), rows, strict=True)
        ]
        scores.append(Fraction(count, views.n_rows) * math.prod(factors))
    return posteriors(scores)


def of_counts(views, rows):
    """Posteriors of P_c^(1-n) prod N."""
    n = len(views.counts)
    return posteriors(
        [
            Fraction(count) ** (1 - n)
            * math.prod(int(array[row, c]) for array, row in zip(views.counts.values(), rows, strict=True))
            for c, count in enumerate(map(int, views.class_counts))
        ]
    )


@given(tables(), ALPHAS)
def test_every_posterior_is_laplaces(views, alpha):
    made = views.smoothed(alpha)
    assert made.is_realistic()
    assert (made.classes, made.attributes) == (views.classes, views.attributes)
    for rows in itertools.product(*(range(len(array)) for array in views.counts.values())):
        assert of_counts(made, rows) == textbook(views, alpha, rows)


@given(tables(), ALPHAS)
def test_it_decides_as_predict_with_alpha(views, alpha):
    if views.attributes:
        rows = list(itertools.product(*(range(len(array)) for array in views.counts.values())))
        columns = dict(zip(views.attributes, map(list, zip(*rows, strict=True)), strict=True))
        assert views.smoothed(alpha).predict(columns).tolist() == views.predict(columns, alpha=alpha).tolist()


def test_the_classes_have_their_shares():
    made = Viewset([3, 2], {"job": [[3, 1], [0, 1]]}).smoothed(1)
    assert (made.class_counts.tolist(), made.counts["job"].tolist()) == ([30, 20], [[24, 10], [6, 10]])


def test_a_number_is_meant_as_it_is_written():
    views = Viewset([3, 2], {"job": [[3, 1], [0, 1]]})
    for alpha in ("0.1", 0.1, Fraction(1, 10), "1/10", np.float32(0.1)):
        assert views.smoothed(alpha) == views.smoothed("1/10")
    with pytest.raises(TypeError, match="alpha must be an int, a Fraction, a float or its text"):
        views.smoothed(Decimal("0.1"))


def test_counts_may_be_longer_than_64_bits():
    rng = np.random.default_rng(1)
    arrays = [np.array([rng.multinomial(p, np.ones(s) / s) for p in (701, 1009)]).T for s in range(2, 12)]
    views = Viewset([701, 1009], arrays)
    made = views.smoothed("1/3")
    assert made.class_counts.dtype == object
    assert made.is_realistic()
    assert of_counts(made, [0] * 10) == textbook(views, Fraction(1, 3), [0] * 10)


def test_a_class_without_rows_stays_one():
    made = Viewset([4, 0], {"a": [[3, 0], [1, 0]]}).smoothed(1)
    assert made.class_counts[1] == 0
    assert made.is_realistic()


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (0, "alpha must be positive, got 0"),
        (-1, "alpha must be positive, got -1"),
        ("1e10", "alpha must be a quotient of integers up to 1,000,000,000, got '1e10'"),
        ("1/10000000000", "alpha must be a quotient of integers up to 1,000,000,000"),
        (math.inf, "alpha must be a finite number"),
        ("one", "alpha must be a finite number"),
    ],
)
def test_other_numbers_are_refused(alpha, message):
    with pytest.raises(ValueError, match=message):
        Viewset([3, 2], {"job": [[3, 1], [0, 1]]}).smoothed(alpha)


def test_views_have_to_be_realistic():
    with pytest.raises(ValueError, match="views must be realistic"):
        Viewset([3, 2], {"job": [[3, 1], [1, 1]]}).smoothed(1)


def test_too_long_counts_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(smoothing, "MOST_BITS", 10)
    with pytest.raises(Infeasible, match="smoothed counts may take 12 bits, and up to 10 are made"):
        Viewset([3, 2], {"job": [[3, 1], [0, 1]]}).smoothed(1)


def test_canonical_takes_them_as_they_are(tmp_path):
    views = Viewset([30, 20], {"job": [[30, 10], [0, 10]], "sex": [[11, 9], [19, 11]]})
    made = nbcfast.canonical.release(views.smoothed(1), 4)
    assert nbcfast.compare(views.smoothed(1), made.views, preserve="label").equal
