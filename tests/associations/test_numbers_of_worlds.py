"""Numbers of worlds and probabilities by sizes: those of all worlds listed, with bounds of huge ones."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from association_cases import MODELS
from hypothesis import given
from hypothesis import strategies as st

from nbcfast.associations import covers, interesting_covers, probability, sizes, stars
from nbcfast.reference import associations as reference


def listed_edge_covers(m, n):
    return reference.listed_covers((m, n))


@pytest.mark.parametrize(
    ("m", "n"), [(m, n) for m in range(1, 10) for n in range(1, 10) if m * n <= 16] + [(3, 6), (6, 3)]
)
def test_covers_are_the_sets_of_edges(m, n):
    worlds = listed_edge_covers(m, n)
    single = [world for world in worlds if sum(one == 0 for one, _ in world) == 1]
    assert covers(m, n) == len(worlds)
    assert interesting_covers(m, n) == sum((0, 0) in world for world in worlds)
    assert covers(m, n, model="restricted") == len(single)
    assert interesting_covers(m, n, model="restricted") == sum((0, 0) in world for world in single)
    assert probability(m, n, exact=True) == reference.probability(m, n)
    expected = Fraction(sum((0, 0) in world for world in single), len(single)) if single else None
    assert probability(m, n, model="restricted", exact=True) == expected


def test_table_of_numbers_of_worlds():
    pairs = [(1, 4), (2, 2), (2, 3), (3, 3), (3, 4)]
    assert [covers(*pair) for pair in pairs] == [1, 7, 25, 265, 2161]
    assert [interesting_covers(*pair) for pair in pairs] == [1, 5, 17, 161, 1265]
    assert [probability(*pair) for pair in pairs] == pytest.approx(
        [1, 0.714286, 0.68, 0.607547, 0.585377], abs=1e-6
    )
    single = {(2, 2): (2, 4), (3, 3): (32, 96), (2, 3): (2, 6), (3, 2): (8, 16), (4, 4): (2426, 9704)}
    for pair, expected in single.items():
        assert (interesting_covers(*pair, model="restricted"), covers(*pair, model="restricted")) == expected


@pytest.mark.parametrize(("m", "n"), [(210, 200), (201, 250), (90, 700), (40, 1500), (200, 200)])
def test_large_numbers_of_worlds(m, n):
    assert covers(m, n) == covers(n, m) == reference.covers(n, m)
    assert interesting_covers(m, n) == reference.interesting_covers(n, m)


@pytest.mark.parametrize("model", ["unrestricted", "restricted"])
@pytest.mark.parametrize("number", [covers, interesting_covers])
@pytest.mark.parametrize("pair", [(40, 30), (30, 40), (1, 1), ([[3], [30]], [1, 2, 40, 2])])
def test_progress_ends_with_all_terms(pair, number, model):
    told = []
    found = number(*pair, model=model, progress=lambda *done: told.append(done))
    assert np.array_equal(found, number(*pair, model=model))
    assert told == [(done, len(told)) for done in range(1, len(told) + 1)]
    assert told or pair == (1, 1)
    with pytest.raises(TypeError, match="progress must be callable or None, got int"):
        number(*pair, model=model, progress=3)


def test_covers_without_anybody():
    assert [covers(0, 0), covers(0, 3), covers(3, 0)] == [1, 0, 0]
    assert covers(0, 0, model="restricted") == 1
    assert covers(0, 3, model="restricted") == covers(3, 0, model="restricted") == 0


def test_a_value_alone_has_no_restricted_world():
    assert probability(1, 2, model="restricted") is None
    assert probability(1, 2, model="restricted", exact=True) is None
    assert covers(1, 2, model="restricted") == 0
    assert probability(1, 1, model="restricted") == 1
    assert np.isnan(probability([1], 2, model="restricted")).all()


def printed_interesting_covers(m, n):
    """Lemma 5.2 as it is printed, in its two sums."""
    return sum(
        (-1) ** b * comb(n - 1, b) * 2 ** (n - b - 1) * (2 ** (n - b) - 1) ** (m - 1) for b in range(n)
    )


def test_lemmas_as_printed_equal_ours():
    for m in range(1, 25):
        for n in range(1, 25):
            u = {(a, b): reference.covers(a, b) for a in (m - 1, m) for b in (n - 1, n)}
            assert covers(m, n) == u[m, n] == covers(n, m)
            expected = printed_interesting_covers(m, n)
            assert interesting_covers(m, n) == expected == reference.interesting_covers(m, n)
            assert 2 * expected == sum(u.values())
            assert interesting_covers(m, n, model="restricted") == u[m - 1, n] + u[m - 1, n - 1]


def test_the_parts_of_lemma_5_2_cannot_be_swapped():
    assert Fraction(2, 6) == Fraction(
        interesting_covers(2, 3, model="restricted"), covers(2, 3, model="restricted")
    )
    assert (interesting_covers(3, 2, model="restricted"), covers(3, 2, model="restricted")) == (8, 16)


def test_every_small_float_is_the_exact_one_rounded():
    for m in range(1, sizes.SMALL + 1):
        for n in range(m, sizes.SMALL + 1, 7):
            assert probability(m, n) == probability(n, m) == float(probability(m, n, exact=True))


def test_bounds_of_the_series_hold_at_every_size():
    """Q (1 - (s-1)/2 rho^(t-1)) <= P <= q / (1 - s rho^t), and what we return of it beyond SMALL."""
    for s, t in [(2, 2), (2, 65), (3, 66), (5, 40), (20, 65), (65, 65), (66, 200), (64, 65), (100, 100)]:
        q = Fraction(2 ** (s - 1), 2**s - 1)
        rho = Fraction(2 ** (s - 1) - 1, 2**s - 1)
        exact = probability(s, t, exact=True)
        assert q * (1 - Fraction(s - 1, 2) * rho ** (t - 1)) <= exact <= q / (1 - s * rho**t)
        assert abs(exact / q - 1) <= Fraction(s, 2**t) / (1 - Fraction(s, 2**t))
        assert abs(Fraction(probability(s, t)) / exact - 1) <= Fraction(1, 10**15)
        assert exact > q


@pytest.mark.parametrize(
    ("m", "n", "expected"), [(2, 10**9, 2 / 3), (10**9, 3, 4 / 7), (10**9, 10**9, 0.5), (10**30, 10**40, 0.5)]
)
def test_huge_sizes(m, n, expected):
    assert probability(m, n) == pytest.approx(expected, rel=1e-15)


def test_probability_falls_strictly_and_stays_above_a_half():
    exact = {(m, n): probability(m, n, exact=True) for m in range(2, 24) for n in range(2, 24)}
    assert all(value > Fraction(1, 2) for value in exact.values())
    for m, n in exact:
        assert exact.get((m + 1, n), Fraction(0)) < exact[m, n] > exact.get((m, n + 1), Fraction(0))


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 200)), max_size=30), st.sampled_from(MODELS))
def test_arrays_equal_scalars(pairs, model):
    array = np.array(pairs, np.int64).reshape(-1, 2)
    found = probability(array[:, 0], array[:, 1], model=model)
    expected = [probability(m, n, model=model) for m, n in pairs]
    assert [None if np.isnan(one) else one for one in found.tolist()] == expected
    small = array[(array < 12).all(axis=1)]
    exact = covers(small[:, 0], small[:, 1], model=model)
    assert exact.tolist() == [covers(m, n, model=model) for m, n in small.tolist()]


def test_arrays_broadcast():
    assert probability([[1], [2]], [1, 2]).tolist() == [[1, 1], [1, 5 / 7]]
    assert covers([2, 3], 2).tolist() == [7, 25]
    assert probability([], []).shape == (0,)
    assert probability([3], [3], exact=True)[0] == Fraction(161, 265)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: probability(0, 1), ValueError, "m must be at least 1, got 0"),
        (lambda: probability(1, -2), ValueError, "n must be at least 1, got -2"),
        (lambda: probability(2.5, 1), TypeError, "m must be an int or integers, got 2.5"),
        (lambda: probability([1, 0], 1), ValueError, "m must be at least 1, got 0"),
        (lambda: probability(np.uint64(2**63), [1]), ValueError, "m: an array holds sizes up to 2\\^62"),
        (lambda: probability(1, 1, model="both"), ValueError, "model must be 'unrestricted' or 'restricted'"),
        (lambda: covers(-1, 1), ValueError, "m must be at least 0, got -1"),
        (lambda: covers(10**5, 10**4), ValueError, "m n must be at most 100000000 .* got 100000 x 10000"),
        (lambda: covers(True, 1), TypeError, "m must be an int or integers, got True"),
    ],
)
def test_bad_sizes(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "sizes_", [(2, 2, 2), (1, 2, 3), (3, 2, 2), (2, 3, 2), (2, 2, 3), (2, 2, 2, 2), (3, 3, 1)]
)
def test_stars_are_the_sets_of_cells(sizes_):
    worlds = reference.listed_covers(sizes_)
    hidden = [world for world in worlds if not any(cell[:2] == (0, 0) for cell in world)]
    assert stars.star_covers(sizes_) == len(worlds)
    assert stars.star_covers(sizes_, (1, 1)) == len(hidden)
    assert stars.star_probability(sizes_) == 1 - Fraction(len(hidden), len(worlds))


def test_more_tuples_between_raise_the_probability():
    found = [stars.star_probability((3, 3, k)) for k in range(1, 5)]
    assert found == sorted(found)
    assert found[0] == Fraction(161, 265)


@pytest.mark.parametrize(
    "given_sizes", [(30, 30, 9), (200, 150, 3), (40, 3, 30), (12, 12, 12, 12), (10**6, 10**5, 40)]
)
def test_bounds_of_large_stars(given_sizes):
    low, high = stars.star_enclosed(*given_sizes, 64)
    assert low <= high <= low + Fraction(1, 2**60)
    if given_sizes[0] < 50:
        assert low <= stars.star_probability(given_sizes) <= high
