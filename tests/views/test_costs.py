"""Predictions of many classes by costs of 16 bits: what they prove holds, and no choice of units changes an
answer.
"""

import math
import random
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations
from unittest import mock

import gmpy2
import numpy as np
import pytest
from few_rows import made_anew
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table, Viewset
from nbcfast._score import Scorer, Scores
from nbcfast.reference import views as reference
from nbcfast.views import costing, score_tables, scoring
from nbcfast.views.costing import Scale

WIDTHS = [3, 4, 5, 8, 9, 10, 16, 17, 24, 25, 32, 33, 40, 48, 63, 64, 65, 100]


@contextmanager
def scorers():
    """Those that are made inside."""
    made = []

    def remembered(scores):
        made.append(Scorer(scores))
        return made[-1]

    with made_anew(), mock.patch.object(scoring, "Scorer", remembered):
        yield made


@contextmanager
def scaled(unit, cap=costing.MOST_COST):
    """All tables that are made inside have this scale."""
    with mock.patch.object(score_tables, "scale", return_value=Scale(unit, cap)):
        yield


def made_scores(views, table, **options):
    """The tables that a prediction makes."""
    made = []

    def remembered(*arguments):
        made.append(Scores(*arguments))
        return made[-1]

    with made_anew(), mock.patch.object(score_tables, "Scores", remembered):
        views.predict(table, **options)
    (scores,) = made
    return scores


def both_ways(views, table, ask=Viewset.predict, **options):
    """What is answered by tables for just these rows, and by tables of a copy that keeps them."""
    with made_anew():
        answer = ask(views, table, **options).tolist()
    copy = Viewset.from_parts(views.class_counts, views.counts, views.class_domain, views.domains)
    with mock.patch.object(scoring, "Scorer", side_effect=AssertionError("tables were not kept")):
        assert ask(copy, table, **options).tolist() == answer
    return answer


def random_views(seed, n_classes, n, zeros, most=2_000):
    rng = random.Random(seed)

    def row():
        return [0 if rng.random() < zeros else rng.randint(1, most) for _ in range(n_classes)]

    counts = [[row() for _ in range(rng.randint(1, 4))] for _ in range(n)]
    return Viewset([rng.randint(1, most) for _ in range(n_classes)], counts)


def random_rows(seed, views, n_rows):
    rng = random.Random(seed)
    rows = [{name: rng.choice(views.domain(name)) for name in views.attributes} for _ in range(n_rows)]
    return {name: [row[name] for row in rows] for name in views.attributes}, rows


def exact_logarithm(ratio):
    """Of a positive fraction, to 200 bits."""
    with gmpy2.context(precision=200):
        return gmpy2.log(gmpy2.mpz(ratio.numerator)) - gmpy2.log(gmpy2.mpz(ratio.denominator))


SCALES = [(0.001, 65_535), (1.0, 1), (7.0, 20), (300.0, 900), (5_000.0, 65_535), (1e9, 65_535), (1e300, 3)]


# --- what is proven --------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**64),
    st.integers(3, 9),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.0, 0.05, 0.5]),
    st.sampled_from([None, *SCALES]),
    st.sampled_from([0, 0, "1/3"]),
)
def test_the_bound_holds_of_exact_ratios(seed, n_classes, n, zeros, scale, alpha):
    views = random_views(seed, n_classes, n, zeros)
    columns, rows = random_rows(seed, views, 6)
    if scale is None:
        scores = made_scores(views, columns, alpha=alpha)
    else:
        with scaled(*scale):
            scores = made_scores(views, columns, alpha=alpha)
    sums = np.zeros((len(rows), n_classes), np.uint32)
    assert Scorer(scores).costs(0, len(rows), sums) == -1
    # What the sums prove must not be nothing.
    assert scores.near <= n or scale is not None
    for row, costs in zip(rows, sums.tolist(), strict=True):
        exact = reference.scores(views, row, alpha=alpha)
        for c, d in permutations(range(n_classes), 2):
            if costs[c] >= scores.cap:
                continue
            assert exact[c] > 0
            if costs[d] - costs[c] > scores.near:
                assert exact[c] > exact[d]
            if costs[d] < scores.cap and scores.near < costing.MOST_COST:
                ratio = exact_logarithm(Fraction(exact[c]) / Fraction(exact[d]))
                # `near` is rounded down.
                assert abs(ratio * scores.unit - (costs[d] - costs[c])) <= scores.near + 1


def test_half_the_bound_would_be_wrong():
    """Two classes next to each other, of which each table rounds the one up and the other down."""
    unit, n = 10.0, 8
    top = 10**12
    # Of three values each, so that for one row no attributes share a table.
    counts = [[[top, round(top * math.exp(-0.049)), round(top * math.exp(-0.051))]] * 3 for _ in range(n)]
    views = Viewset([top] * 3, counts)
    names = list(views.attributes)
    with scaled(unit):
        scores = made_scores(
            views, Table({name: [0] for name in names}, domains=dict.fromkeys(names, range(3)))
        )
    sums = np.zeros((1, 3), np.uint32)
    assert Scorer(scores).costs(0, 1, sums) == -1
    assert sums.tolist() == [[0, 0, n]]
    error = n - unit * n * (0.051 - 0.049)
    assert scores.near / 2 < error <= scores.near == n


# --- no choice changes an answer -------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", WIDTHS)
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_no_scale_changes_an_answer(n_classes, zeros):
    rng = random.Random(f"{n_classes} {zeros}")
    for n in (1, 3, 12):
        views = random_views(rng.randrange(1 << 32), n_classes, n, zeros, most=rng.choice([3, 2_000]))
        columns, rows = random_rows(rng.randrange(1 << 32), views, 8)
        expected, tied = reference.predict(views, rows), reference.tied(views, rows)
        assert both_ways(views, columns) == expected
        for unit, cap in SCALES:
            with scaled(unit, cap):
                assert both_ways(views, columns) == expected
                assert both_ways(views, columns, Viewset.tied) == tied
                assert views.scorer().predict_one(rows[0]) == expected[0]


def by_floats(views, matrix):
    """The best class by sums of logarithms: of counts without near ties."""
    scores = np.tile((1 - matrix.shape[1]) * np.log(views.class_counts), (len(matrix), 1))
    for counts, column in zip(views.counts.values(), matrix.T, strict=True):
        scores += np.log(counts)[column]
    ordered = np.sort(scores, axis=1)
    assert (ordered[:, -1] - ordered[:, -2]).min() > 1e-9
    return scores.argmax(axis=1)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1_023, 1_024, 1_025, 3_000])
@pytest.mark.parametrize("n_classes", [3, 7, 10, 20, 40, 70])
def test_tiles_and_blocks(n_rows, n_classes):
    rng = np.random.default_rng([n_rows, n_classes])
    sizes = rng.integers(2, 9, 8)
    views = Viewset(
        rng.integers(1, 10**9, n_classes), [rng.integers(1, 10**9, (size, n_classes)) for size in sizes]
    )
    matrix = rng.integers(0, sizes, (n_rows, 8))
    columns = {f"A{i + 1}": column for i, column in enumerate(matrix.T)}
    expected = by_floats(views, matrix)
    for options in ({"threads": 1}, {"threads": 3}):
        assert both_ways(views, columns, **options) == expected.tolist()
    with scaled(20_000.0, 50_000):  # several sums a row
        assert both_ways(views, columns) == expected.tolist()


@pytest.mark.parametrize("n_classes", [3, 6, 11, 33])
def test_many_attributes_take_several_sums(n_classes):
    rng = np.random.default_rng(n_classes)
    n, n_rows = 120, 2_000
    views = Viewset(
        rng.integers(1, 10**9, n_classes), [rng.integers(10**6, 10**7, (5, n_classes)) for _ in range(n)]
    )
    matrix = rng.integers(0, 5, (n_rows, n))
    columns = {f"A{i + 1}": column for i, column in enumerate(matrix.T)}
    with scorers() as made:
        assert np.array_equal(views.predict(columns, threads=1), by_floats(views, matrix))
    assert made_scores(views, columns).n_chunks > 1
    assert sum(scorer.n_close for scorer in made) < 0.05 * n_rows


@pytest.mark.parametrize("n_classes", [3, 10, 20])
def test_attributes_too_large_for_an_index(n_classes):
    rng = np.random.default_rng(n_classes)
    size = 70_000  # an index has 16 bits
    # Of 1,000 counts a class, as the logarithm of each is what takes time; no two classes have one in common.
    counts = rng.integers(1, 1_000, (size, n_classes)) * n_classes + np.arange(n_classes)
    views = Viewset(rng.integers(1, 10**6, n_classes), [counts, rng.integers(1, 10**6, (3, n_classes))])
    matrix = np.stack([rng.integers(0, size, 1_500), rng.integers(0, 3, 1_500)], axis=1)
    matrix[0, 0] = size - 1
    table = Table({"A1": matrix[:, 0], "A2": matrix[:, 1]}, domains={"A1": range(size), "A2": range(3)})
    expected = by_floats(views, matrix).tolist()
    assert both_ways(views, table) == expected
    with scaled(60_000.0):
        assert both_ways(views, table) == expected
    large = Viewset(views.class_counts, {"A1": views.counts["A1"]})
    assert np.array_equal(large.predict(table), by_floats(large, matrix[:, :1]))


def test_codes_out_of_range_are_told_by_costs_too():
    views = random_views(1, 5, 3, 0.0)
    columns, _ = random_rows(1, views, 50)
    made = []

    def remembered(columns, *arguments):
        made.append(arguments)
        return Scores(columns, *arguments)

    with made_anew(), mock.patch.object(score_tables, "Scores", remembered):
        views.predict(columns)
    arguments = made[0]
    sizes = [len(array) for array in views.counts.values()]
    for bad in range(3):
        codes = [np.zeros(50, np.uint8) for _ in sizes]
        codes[bad][40] = sizes[bad]
        scorer = Scorer(Scores(scoring.Columns(codes, sizes, 50), *arguments))
        assert scorer.predict(0, 50, np.zeros(50, np.uint8)) == bad
        assert scorer.predict(0, 40, np.zeros(50, np.uint8)) == -1
        assert scorer.costs(0, 50, np.zeros((50, 5), np.uint32)) == bad


# --- how often costs decide ------------------------------------------------------------------------------


def test_costs_decide_nearly_all_rows():
    rng = np.random.default_rng(3)
    sizes = [16, 7, 14, 6, 5, 9, 2, 41, 73, 94]
    views = Viewset(rng.integers(1_000, 10**5, 10), [rng.integers(1, 10**5, (size, 10)) for size in sizes])
    matrix = rng.integers(0, sizes, (20_000, 10)).astype(np.uint8)
    columns = {f"A{i + 1}": column for i, column in enumerate(matrix.T)}
    domains = {name: views.domain(name) for name in views.attributes}
    with scorers() as made:
        found = views.predict(Table(columns, domains=domains), threads=1)
    assert np.array_equal(found, by_floats(views, matrix))
    assert 0 < sum(scorer.n_close for scorer in made) < 0.01 * len(matrix)


def test_a_class_with_entries_that_are_cut_wins_without_floats():
    """Where N = 0 stands elsewhere, the rows of the class are decided by a look at its own entries."""
    counts = [[[100, 90, 3], [0, 90, 80]] for _ in range(30)]
    views = Viewset([1_000, 1_000, 1_000], counts)
    codes = np.zeros(500, np.uint8)
    columns = {f"A{i + 1}": codes for i in range(30)}
    table = Table(columns, domains={name: [0, 1] for name in columns})
    with scorers() as made:
        assert views.predict(table, codes=True, threads=1).tolist() == [0] * 500
    assert sum(scorer.n_close for scorer in made) == 0
    # The lowest sum is that of a class whose X is 0: all classes are asked for.
    only = Viewset([9, 9, 9], [[[0, 0, 5], [3, 2, 1]], [[9, 9, 1], [1, 1, 1]]])
    with scaled(1.0, 1), scorers() as made:
        assert only.predict({"A1": [0, 1], "A2": [0, 0]}, threads=1).tolist() == [2, 0]
    assert sum(scorer.n_close for scorer in made) >= 1


# --- scales ----------------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**64),
    st.integers(3, 6),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([1, 3, 10**6]),
)
def test_scales_are_finite_and_within_16_bits(seed, n_classes, n, zeros, most):
    views = random_views(seed, n_classes, n, zeros, most)
    kept = []

    def remembered(*given):
        kept.append(costing.scale(*given))
        return kept[-1]

    columns, rows = random_rows(seed, views, 3)
    with mock.patch.object(score_tables, "scale", remembered):
        answer = both_ways(views, columns)
    assert answer == reference.predict(views, rows)
    assert len(kept) == 2
    for unit, cap in kept:
        assert 0 < unit < float("inf")
        assert 1 <= cap <= costing.MOST_COST


def test_counts_beyond_doubles_are_decided():
    big = 10**400
    views = Viewset([big, big, big + 1], [[[big, big + 1, 5], [1, 2, big]]])
    table = {"A1": [0, 1]}
    expected = reference.predict(views, [{"A1": 0}, {"A1": 1}])
    assert both_ways(views, table) == expected
    for unit, cap in SCALES:
        with scaled(unit, cap):
            assert both_ways(views, table) == expected
