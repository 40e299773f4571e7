"""The kernel of posteriors over worlds: bounds of its error, states, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast import _worlds
from nbcfast.attack import exactly, moments
from nbcfast.reference import attack as reference


def posterior(of_class, rows, most_cost=1e9):
    """Shares, error and state of one query."""
    of_class = np.array(of_class, np.int64)
    counts = np.array(rows, np.int64).reshape(1, len(rows), len(of_class))
    shares, errors, states = np.full((1, len(of_class)), np.nan), np.zeros(1), np.zeros(1, np.int8)
    _worlds.posteriors(of_class, counts, most_cost, shares, errors, states)
    return shares[0].tolist(), float(errors[0]), int(states[0])


@settings(max_examples=300)
@given(
    total=st.integers(0, 9),
    parts=st.lists(st.integers(0, 9), max_size=4),
)
def test_two_formulas_for_the_matching_rows(total, parts):
    sizes = [min(part, total) for part in parts]
    assert reference.matching(total, sizes) == reference.matching_by_moments(total, sizes)
    low, ways = exactly.ways(total, sizes)
    whole = sum(ways)
    assert {low + i: Fraction(int(n), int(whole)) for i, n in enumerate(ways) if n} == reference.matching(
        total, sizes
    )


@settings(max_examples=500)
@given(data=st.data())
def test_within_the_stated_error(data):
    n_classes = data.draw(st.integers(1, 4))
    of_class = data.draw(st.lists(st.integers(0, 300), min_size=n_classes, max_size=n_classes))
    rows = [
        [data.draw(st.integers(0, count)) for count in of_class] for _ in range(data.draw(st.integers(0, 3)))
    ]
    shares, error, state = posterior(of_class, rows)
    expected = exactly.shares(of_class, rows) if any(of_class) else None
    if expected is None:
        assert state == _worlds.NONE
        return
    assert state == _worlds.OK
    assert error < 1e-12
    for p, q in zip(shares, expected, strict=True):
        assert abs(Fraction(p) - q) <= Fraction(error) * q


@settings(max_examples=60)
@given(data=st.data())
def test_within_the_stated_error_for_large_tables(data):
    """Against moments, which share nothing with the kernel; all shapes of windows."""
    n_classes = data.draw(st.integers(2, 3))
    of_class = [data.draw(st.integers(1, 10**5)) for _ in range(n_classes)]
    rows = []
    for _ in range(data.draw(st.integers(1, 4))):
        near = data.draw(st.sampled_from(["none", "some", "all"]))
        row = []
        for count in of_class:
            most = min(count, 50) if near != "some" else count
            number = data.draw(st.integers(0, most))
            row.append(count - number if near == "all" else number)
        rows.append(row)
    shares, error, state = posterior(of_class, rows)
    expected = moments.shares(of_class, rows)
    if expected is None:
        assert state == _worlds.NONE
        return
    assert state == _worlds.OK
    assert error < 2e-12
    for p, q in zip(shares, expected[0], strict=True):
        assert abs(p - q) <= (error + expected[1]) * q


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize(("size", "n"), [(50_000, 4), (50_000, 2), (90_000, 6), (5_000, 3)])
def test_the_widest_windows(n_classes, size, n):
    """10^5 rows a class, and as many as half of them match: the error is what `posterior` promises."""
    of_class, rows = [10**5] * n_classes, [[size + c for c in range(n_classes)]] * n
    shares, error, state = posterior(of_class, rows)
    assert state == _worlds.OK
    assert error < 2e-12
    expected, bound = moments.shares(of_class, rows)
    assert abs(shares[0] - expected[0]) <= (error + bound) * expected[0]


def test_all_rows_match():
    assert posterior([3, 5], [[3, 5], [3, 5]]) == ([0.375, 0.625], pytest.approx(0, abs=1e-13), _worlds.OK)
    assert posterior([3, 5], [])[0] == [0.375, 0.625]


def test_what_is_too_much_is_left_alone():
    assert posterior([10**6] * 2, [[5 * 10**5] * 2] * 3, most_cost=1000)[2] == _worlds.BEYOND
    assert posterior([2**51, 2], [[5, 1]])[2] == _worlds.BEYOND
    # A mean of 10^-300 leaves the range of doubles.
    assert posterior([10**15, 5], [[1, 1]] * 22)[2] == _worlds.BEYOND


def test_many_queries_and_read_only_input():
    rng = np.random.default_rng(2)
    of_class = np.array([50, 70, 90], np.int64)
    counts = rng.integers(1, 50, (40, 2, 3))
    of_class.flags.writeable = counts.flags.writeable = False
    shares, errors, states = np.empty((40, 3)), np.empty(40), np.empty(40, np.int8)
    _worlds.posteriors(of_class, counts, 1e9, shares, errors, states)
    assert (states == _worlds.OK).all()
    for q in range(40):
        assert posterior(of_class, counts[q].tolist()) == (shares[q].tolist(), errors[q], _worlds.OK)


@pytest.mark.parametrize(
    ("of_class", "counts", "n", "text"),
    [
        ([3, 5], [[[1, 6]]], 1, "query 0: a count of 6 in a class of 5 rows"),
        ([3, 5], [[[1, 1]], [[-1, 1]]], 2, "query 1: a count of -1 in a class of 3 rows"),
        ([3, 5], [[[1, 1, 1]]], 1, "expected counts and shares of 2 classes, at least one"),
        ([], np.zeros((1, 1, 0)), 1, "expected counts and shares of 0 classes, at least one"),
        ([3, 5], [[[1, 1]]], 2, "expected room for 1 queries"),
    ],
)
def test_what_the_kernel_refuses(of_class, counts, n, text):
    of_class = np.array(of_class, np.int64)
    with pytest.raises(ValueError, match=text):
        _worlds.posteriors(
            of_class,
            np.array(counts, np.int64),
            1e9,
            np.empty((n, len(of_class))),
            np.empty(n),
            np.empty(n, np.int8),
        )
