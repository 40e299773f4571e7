"""Margins and comparisons: native against the reference on small domains, and alone where that cannot follow.

pytest bench/bench_equivalence.py
"""

import math

import numpy as np
import pytest
from shared.publishing import DOMAINS, SIZES, nearly, of_domain, views_of

from nbcfast import Table, count, safety_transform
from nbcfast.equivalence import Comparer, Enumerated, compare, margin
from nbcfast.reference import equivalence as reference


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_margin_small(benchmark, how):
    """600 tuples, 3 classes."""
    views = views_of([6, 10, 10], 3)
    expected, _, _ = reference.margin(views)
    if how == "native":
        found = benchmark(margin, views).log
    else:
        found = reference.log(benchmark.pedantic(reference.margin, (views,), rounds=3)[0])
    assert found == pytest.approx(reference.log(expected), rel=2**-51)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_compare_small(benchmark, how):
    """600 tuples, 3 classes."""
    a = views_of([6, 10, 10], 3)
    b = nearly(a, 2)
    expected = reference.compare(a, b)
    if how == "native":
        answer = benchmark(compare, a, b)
        assert (answer.tuples, answer.differing) == expected
    else:
        assert benchmark.pedantic(reference.compare, (a, b), rounds=3) == expected


@pytest.mark.parametrize("domain", DOMAINS)
def bench_margin(benchmark, domain):
    """Two classes, one thread."""
    views = of_domain(domain)
    found = benchmark.pedantic(margin, (views,), {"threads": 1}, rounds=3, warmup_rounds=1)
    assert found.exact
    ratio = reference.ratio(views, found.witness, *found.classes)
    assert found.log == pytest.approx(reference.log(ratio), rel=2**-51)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("factor", [10**4, 10**13], ids=["differing", "nearly_equal"])
def bench_compare(benchmark, domain, factor):
    """Two classes, one thread; those that differ are counted."""
    a = of_domain(domain)
    b = nearly(a, factor)
    found = benchmark.pedantic(compare, (a, b), {"threads": 1}, rounds=3)
    assert found.equal == (found.differing == 0)
    assert found.tuples == math.prod(len(array) for array in a.counts.values())
    if not found.equal:
        assert reference.order(a, found.witness) != reference.order(b, found.witness)


@pytest.mark.parametrize("against", ["right", "wrong"])
@pytest.mark.parametrize("shape", [(1000, 2), (120, 12)], ids=["1000x2", "120x12"])
def bench_compare_large(benchmark, shape, against):
    """A release of many binary attributes, whose counts have up to thousands of digits, and 1,000 rows."""
    n, n_classes = shape
    views = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        columns = {f"A{i}": rng.integers(0, 2, 1000) for i in range(n)}
        views.append(count(Table({**columns, "class": rng.integers(0, n_classes, 1000)}), "class"))
    release = safety_transform(views[0], 4, rows="proven").views
    private = views[0] if against == "right" else views[1]
    found = benchmark.pedantic(compare, (private, release), rounds=2)
    assert (found.equal, found.method) == ((True, "interval") if against == "right" else (False, "sample"))


@pytest.mark.parametrize("how", ["compare", "Comparer", "Enumerated"])
def bench_search_step(benchmark, how):
    """One candidate against the same viewset, 109,792 tuples: the step of a local search."""
    a = views_of(SIZES[:3])
    b = nearly(a, 100)
    held, of = Enumerated(a), Comparer(a)
    steps = {
        "compare": lambda: compare(a, b).differing,
        "Comparer": lambda: of.compare(b).differing,
        "Enumerated": lambda: held.violations(b),
    }
    assert benchmark(steps[how]) == compare(a, b).differing
