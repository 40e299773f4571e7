"""Boxes, weights and points: native against the reference on small domains, and alone on large ones.

pytest bench/bench_canonical.py
"""

from functools import cache

import pytest
from against.canonical import CENSUS, RICH_FIRST, RICH_LAST, TEN, THREE, views_of_adult
from shared.publishing import views_of

from nbcfast import Viewset
from nbcfast.canonical import Box, Solution, box, integers, solve
from nbcfast.reference import canonical as reference

# Tuples, range of the weights to three digits, and how often a round repeats.
DOMAINS = {
    "Adult-3, >50K first": (109_792, 3565, 20),
    "Adult-3, >50K last": (109_792, 1781, 20),
    "census, 1e7": (10_160_640, None, 5),
    "Adult-10, >50K first": (261_458_668_800, 5.57e9, 2),
    "Adult-10, >50K last": (261_458_668_800, 2.24e9, 2),
}


@cache
def views_named(name: str) -> Viewset:
    if name.startswith("census"):
        return views_of(CENSUS)
    found = views_of_adult(TEN if "10" in name else THREE, RICH_FIRST if "first" in name else RICH_LAST)
    if found is None:
        pytest.skip("needs the public data sets: set NBCFAST_DATA")
    return found


@cache
def solved(name: str) -> tuple[Box, Solution]:
    asked = box(views_named(name))
    return asked, solve(asked)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_solve_small(benchmark, how):
    """60 tuples."""
    views = views_of([3, 4, 5], 2)
    labels = reference.box(views)
    asked = box(views)
    expected = reference.solve(labels)
    if how == "native":
        found = [[g for (g,) in row] for row in benchmark(solve, asked).scores]
    else:
        found = benchmark.pedantic(reference.solve, (labels,), rounds=2)
    assert found == expected


@pytest.mark.parametrize("name", DOMAINS)
def bench_box(benchmark, name):
    """From counts to labels, one thread."""
    tuples, _, rounds = DOMAINS[name]
    found = benchmark.pedantic(box, (views_named(name),), {"threads": 1}, rounds=rounds)
    assert found.tuples == tuples
    assert int(found.K.sum()) == int(found.L.sum()) == found.n_of(0)


@pytest.mark.parametrize("name", DOMAINS)
def bench_solve(benchmark, name):
    """From labels to exact weights."""
    asked = box(views_named(name))
    found = benchmark.pedantic(solve, (asked,), rounds=DOMAINS[name][2])
    assert found.reproducible
    assert found.margin == 1
    widest = DOMAINS[name][1]
    if widest is not None:
        assert float(found.range) == pytest.approx(widest, rel=5e-3)


@pytest.mark.parametrize("how", ["smallest", "within a tenth", "8 bits"])
@pytest.mark.parametrize("name", DOMAINS)
def bench_integers(benchmark, name, how):
    """From weights to points that are verified over the whole domain."""
    asked, solution = solved(name)
    options = {"smallest": {}, "within a tenth": {"within": "1.1"}, "8 bits": {"bits": 8}}[how]
    card = benchmark.pedantic(integers, (asked, solution), options, rounds=DOMAINS[name][2])
    if how == "8 bits":
        assert card.bits <= 8
        assert 0 < card.changed < asked.tuples / 100
    else:
        assert card.changed == 0
        assert card.gap >= 1
        if how != "smallest":
            assert card.range / card.gap <= 1.1 * float(solution.range)
