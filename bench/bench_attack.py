"""Adversaries: posteriors, worst case, breaches, inversion and membership, native beside the reference."""

from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import Viewset, attack
from nbcfast.attack import moments
from nbcfast.attack.branching import Search
from nbcfast.attack.membership import auc_of
from nbcfast.attack.totals import totals_of_scores
from nbcfast.reference import attack as reference
from nbcfast.reference import safety

# Rows of each class, and how many of them have each known value.
TABLES = {
    "adult_3_values": ([7_841, 24_720], [[1_257, 2_551], [2_000, 8_000], [2_837, 12_000]]),
    "1e5_rows_4_values": (
        [100_000] * 2,
        [[50_000, 40_000], [50_000, 30_000], [60_000, 50_000], [40_000, 70_000]],
    ),
    "1e5_rows_4_values_10_classes": ([100_000] * 10, [[40_000 + 1_000 * c for c in range(10)]] * 4),
    "1e12_rows_3_values": ([10**12] * 2, [[10**11, 10**10]] * 3),
}


def views_of(of_class, rows):
    """Two values an attribute: the known one, and all others."""
    return Viewset(of_class, [[row, [p - n for p, n in zip(of_class, row, strict=True)]] for row in rows])


@pytest.fixture(scope="module")
def adult_like():
    """Views of 32,561 rows with Adult's three attributes, zeros among them, and their release."""
    rng = np.random.default_rng(1)
    of_class, arrays = np.array([7_841, 24_720]), []
    for size in (73, 16, 94):
        shares = np.exp(-np.arange(size) / (size / 9)) * rng.uniform(0.3, 1.7, (2, size))
        columns = [rng.multinomial(p, own / own.sum()) for p, own in zip(of_class, shares, strict=True)]
        array = np.array(columns).T
        arrays.append(array[array.any(axis=1)])
    views = Viewset(of_class, arrays, classes=["over", "under"])
    return views, nbcfast.safety_transform(views, 4, rows=10**6, allow_differences=True)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_posterior_of_a_small_table(benchmark, how):
    """90 rows, three values known: exact fractions both ways."""
    of_class, rows = [30, 60], [[12, 20], [15, 33], [11, 40]]
    views = views_of(of_class, rows)
    known = dict.fromkeys(views.attributes, 0)
    expected = reference.posterior(views, known, "worlds")
    if how == "reference":
        benchmark.pedantic(reference.posterior, (views, known, "worlds"))
    else:
        assert list(benchmark(attack.posterior, views, known).values()) == expected


@pytest.mark.parametrize("shape", TABLES)
@pytest.mark.parametrize("how", ["native", "moments"])
def bench_posterior_of_a_large_table(benchmark, how, shape):
    """The kernel, where the table is not too large for it, and moments; within both bounds of each other."""
    of_class, rows = TABLES[shape]
    views = views_of(of_class, rows)
    known = dict.fromkeys(views.attributes, 0)
    shares, error = moments.shares(of_class, rows)
    if how == "moments":
        benchmark(moments.shares, of_class, rows)
        return
    found = benchmark(attack.posterior, views, known, exact=False)
    for p, q in zip(found.values(), shares, strict=True):
        assert abs(p - q) <= (found.error + error) * q


def every_posterior(views):
    """The largest ratio over all tuples and all sets of attributes, one posterior each."""
    search = Search(views, "worlds")
    nodes = search.root()
    for _ in search.tables:
        nodes = search.children(nodes)
    shares, _ = search.shares(nodes.codes)
    return float((shares.max(axis=1) / shares.min(axis=1)).max())


@pytest.mark.parametrize("how", ["searched", "every_posterior"])
def bench_worst_over_worlds_of_a_small_domain(benchmark, how):
    rng = np.random.default_rng(3)
    of_class = np.array([900, 1_500])
    columns = [
        [rng.multinomial(p - size, np.ones(size) / size) + 1 for p in of_class] for size in (20, 8, 10)
    ]
    views = Viewset(of_class, [np.array(pair).T for pair in columns])
    expected = every_posterior(views)
    if how == "every_posterior":
        benchmark.pedantic(every_posterior, (views,))
        return
    found = benchmark(attack.worst, views, "worlds")
    assert found.certified
    assert abs(float(found.ratio) / expected - 1) < 1e-9


@pytest.mark.parametrize("convention", ["row", "worlds"])
def bench_worst_of_109792_tuples(benchmark, adult_like, convention):
    _, release = adult_like
    found = benchmark(attack.worst, release, convention)
    assert found.certified
    lambda_ = safety.linear(release.views)
    if convention == "row":
        assert found.ratio == lambda_
    else:
        assert 0.5 < float(found.ratio) / float(lambda_) < 2


@pytest.mark.parametrize("convention", ["row", "worlds"])
def bench_breach_of_109792_tuples(benchmark, adult_like, convention):
    """At levels that the release just does not keep."""
    _, release = adult_like
    found = benchmark(attack.breach, release, "0.5", "0.78", convention)
    assert found.breached == (attack.worst(release, convention).ratio > Fraction(78, 22))


@pytest.mark.parametrize("gauge", [False, True], ids=["no_gauge", "gauge"])
def bench_invert(benchmark, adult_like, gauge):
    views, _ = adult_like
    release = nbcfast.safety_transform(views, 4, rows=10**6, gauge=gauge, allow_differences=True)
    found = benchmark.pedantic(attack.invert, (release,), {"truth": views}, rounds=3)
    assert found.recovered <= 5 if gauge else found.recovered > 100


@pytest.mark.parametrize("how", ["native", "reference"])
@pytest.mark.parametrize("n_classes", [2, 3])
def bench_totals_of_a_small_domain(benchmark, how, n_classes):
    """19 cells, as the advisor measures them by the hundred."""
    rng = np.random.default_rng(2)
    arrays = [rng.integers(1, 400, (size, n_classes)) for size in (4, 4, 5, 4, 2)]
    most = np.max([array.sum(axis=0) for array in arrays], axis=0)
    for array in arrays:
        array[0] += most - array.sum(axis=0)
    views = Viewset(most, arrays)
    points = [np.round(3 * np.log(array)) for array in arrays]
    base = np.round(3 * (1 - len(arrays)) * np.log(most))
    expected = reference.totals([array.tolist() for array in points], base, views)
    if how == "reference":
        benchmark.pedantic(reference.totals, ([array.tolist() for array in points], base, views))
        return
    found = benchmark(totals_of_scores, points, base, views)
    assert (found.found, found.near, found.cells, found.null_found, found.null_near) == expected


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_auc(benchmark, how):
    """500 against 400 rows, with ties."""
    rng = np.random.default_rng(4)
    members, others = rng.integers(0, 60, 500), rng.integers(0, 55, 400)
    value, square = reference.auc(members.tolist(), others.tolist())
    if how == "reference":
        benchmark.pedantic(reference.auc, (members.tolist(), others.tolist()))
        return
    ones = np.ones(500, np.int64)
    found = benchmark(auc_of, members.astype(float), ones, others.astype(float), ones[:400])
    assert found == pytest.approx((float(value), float(square) ** 0.5), rel=1e-12)


def bench_membership_of_1e5_rows(benchmark):
    rng = np.random.default_rng(5)

    def drawn(n):
        return nbcfast.Table(
            {"x": rng.integers(0, 70, n), "z": rng.integers(0, 16, n), "y": rng.integers(0, 2, n)}
        )

    table, holdout = drawn(100_000), drawn(50_000)
    views = nbcfast.count(table, "y")
    found = benchmark(attack.membership, views, table, holdout, "y")
    assert (found.members, found.others) == (100_000, 25_000)
    assert abs(found.auc - 0.5) < 0.05
