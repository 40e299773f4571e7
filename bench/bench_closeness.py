"""R-closeness and EST against the reference over all tuples, every answer checked.

`pytest bench/bench_closeness.py` for the clocks. Needs NBCFAST_DATA for the rows of Adult.
"""

import random
from fractions import Fraction

import pytest
from shared.publishing import adult_3

from nbcfast import Viewset, closeness, equivalence
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps

SMALL = Viewset(
    [40, 76, 30], [[[2, 1, 5], [38, 75, 25]], [[2, 3, 10], [38, 73, 20]], [[9, 7, 1], [31, 69, 29]]]
)
PRIOR = {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
QUARTER = {">50K": "0.25", "<=50K": "0.75"}


def adult() -> Viewset:
    views = adult_3()
    if views is None:
        pytest.skip("needs NBCFAST_DATA")
    return views


def four_classes(sizes=(12, 10, 9)):
    """1,080 tuples without a zero count."""
    rng, total = random.Random(7), 3_000
    arrays = []
    for size in sizes:
        columns = [[1 + rng.randrange(total // size) for _ in range(size)] for _ in range(4)]
        for column in columns:
            column[0] += total - sum(column)
        arrays.append([list(row) for row in zip(*columns, strict=True)])
    return Viewset([total] * 4, arrays)


TENTHS = {0: Fraction(1, 10), 1: Fraction(2, 10), 2: Fraction(3, 10), 3: Fraction(4, 10)}


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_achieved(benchmark, way):
    """Both forms of r, four classes."""
    views = four_classes()
    expected = reference.achieved(views, TENTHS)
    if way == "reference":
        assert benchmark(reference.achieved, views, TENTHS) == expected
    else:
        found = benchmark(closeness.achieved, views, TENTHS)
        assert (found.definition5.value, found.r) == expected


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_lower_bound(benchmark, way):
    views = four_classes()
    square, other, odds = reference.lower_bounds(views, TENTHS)
    if way == "reference":
        assert benchmark(reference.lower_bounds, views, TENTHS) == (square, other, odds)
    else:
        found = benchmark(closeness.lower_bound, views, TENTHS)
        assert found.statement11 == odds
        assert other <= found.definition5 <= max(odds, other)


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_best(benchmark, way):
    """A linear program whose optimum lies inside."""
    views, prior = (
        Viewset([600, 500, 100], [[[300, 200, 30], [300, 300, 70]]]),
        {0: "0.3", 1: "0.6", 2: "0.1"},
    )
    expected = reference.best(views, prior)
    if way == "reference":
        assert benchmark(reference.best, views, prior) == expected
    else:
        found = benchmark(closeness.best, views, prior)
        assert 0 < found.y < 1
        assert float(found.interval[0]) <= float(expected) <= float(found.interval[1])


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_est(benchmark, way):
    """The whole EST against the paper's own steps: powers, split, SafetyTransform, merge."""
    release = closeness.est(SMALL, PRIOR, 6, rows="proven")
    assert reference.achieved(release.views, PRIOR)[1] <= 6
    assert not steps.differing(SMALL, release.views)
    if way == "native":
        assert benchmark(closeness.est, SMALL, PRIOR, 6, rows="proven") == release
    else:
        x, y = Fraction(1, 3), Fraction(0)
        of_class, counts = benchmark(reference.steps, SMALL, PRIOR, x, y)
        assert not steps.differing(SMALL, (steps.weights_of(of_class, len(counts)), counts))


@pytest.mark.parametrize("rows", ["proven", "smallest"])
def bench_est_adult_3(benchmark, rows):
    """Under 50 ms by the proven path."""
    views = adult()
    release = benchmark(closeness.est, views, QUARTER, 4, rows=rows)
    assert equivalence.compare(views, release.views).equal
    assert closeness.achieved(release.views, QUARTER).r <= 4


@pytest.mark.parametrize("what", ["achieved", "lower_bound", "best"])
def bench_adult_3(benchmark, what):
    views = adult()
    released = closeness.est(views, QUARTER, 4, rows="proven").views
    found = benchmark(getattr(closeness, what), released if what == "achieved" else views, QUARTER)
    if what == "achieved":
        assert 3.9 < found.r <= 4
    else:
        assert (found.statement11 if what == "lower_bound" else found.r) == 3
