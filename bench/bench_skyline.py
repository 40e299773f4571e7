"""Groups, checks and skylines: native alone, and against the program over placements and the reference.

pytest bench/bench_skyline.py
"""

import numpy as np
import pytest
from against import skyline_dp
from against.skyline import POINT, SENSITIVE, answer, release, rows

from nbcfast.groups import Groups, group
from nbcfast.reference import skyline as reference
from nbcfast.skyline import Statistics, check, find

ROWS, PEOPLE = 1_000_000, 1_000_000


@pytest.mark.parametrize("n_quasi", [3, 5, 7])
def bench_group(benchmark, n_quasi):
    """A million rows, one thread."""
    data = rows(ROWS, n_quasi)
    found = benchmark(group, data.table, data.quasi, SENSITIVE, threads=1)
    key = np.zeros(ROWS, np.int64)
    for name in data.quasi:
        key = key * data.sizes[name] + data.columns[name]
    _, sizes = np.unique(key, return_counts=True)
    assert (found.n_groups, found.k) == (len(sizes), sizes.min())
    pairs = np.unique(key * data.sizes[SENSITIVE] + data.columns[SENSITIVE])
    assert answer(found)[1] == len(pairs)


@pytest.mark.parametrize("measure", ["l", "recursive_c", "t", "t_ordered", "alpha", "entropy_l"])
def bench_measures(benchmark, measure):
    """A million rows in groups by seven columns."""
    data = rows(ROWS, 7)
    groups = group(data.table, data.quasi, SENSITIVE)
    run = {
        "l": lambda: groups.l,
        "recursive_c": lambda: groups.recursive_c(1),
        "t": groups.t,
        "t_ordered": lambda: groups.t(ordered=True),
        "alpha": groups.alpha,
        "entropy_l": lambda: groups.entropy_l,
    }[measure]
    assert benchmark(run) is not None
    small = Groups(groups.to_array()[:200])
    plain = [small.histogram(g) for g in range(small.n_groups)]
    assert small.t() == reference.closeness(plain, small.domain)
    assert small.recursive_c(1) == reference.recursive_diversity(plain, 1)


def bench_merge(benchmark):
    """Ten parts of a hundred thousand rows."""
    data = rows(ROWS, 5)
    step = ROWS // 10
    parts = [
        group(data.table.take(slice(start, start + step), keep_domains=True), data.quasi, SENSITIVE)
        for start in range(0, ROWS, step)
    ]
    assert benchmark(Groups.merge, parts) == group(data.table, data.quasi, SENSITIVE)


@pytest.mark.parametrize("how", ["check", "placements"])
def bench_check(benchmark, how):
    """(10, 10, 10), a million people."""
    groups = release(PEOPLE)
    expected = skyline_dp.breach(groups, *POINT[:3])
    if how == "check":
        (report,) = benchmark(check, groups, [POINT], threads=1)
        found = report.breach
    else:
        found = benchmark.pedantic(skyline_dp.breach, (groups, *POINT[:3]), rounds=1)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_check_small(benchmark, how):
    """Two groups at (2, 3, 3): what a call costs."""
    groups = Groups([[7, 7, 6, 2, 1], [4, 1, 1, 1, 1]])
    histograms = [groups.histogram(g) for g in range(2)]
    expected = reference.breach(histograms, 2, 3, 3)
    if how == "native":
        (report,) = benchmark(check, groups, [(2, 3, 3, 0.9)], exact=True)
        assert report.exact == expected
    else:
        assert benchmark(reference.breach_by_placements, histograms, 2, 3, 3) == expected


def bench_statistics(benchmark):
    """The scan for ten l."""
    groups = release(PEOPLE)
    found = benchmark(lambda: Statistics(range(10)).update(groups, threads=1))
    assert found.k == groups.k


def bench_find(benchmark):
    groups = release(PEOPLE)
    skyline = benchmark(find, groups, 0.95, threads=1)
    assert check(groups, [(*point, 0.95) for point in skyline]).safe


@pytest.mark.parametrize("confidence", [0.95, 1])
def bench_find_in_large_groups(benchmark, confidence):
    """20,000 people of three values: a long skyline at confidence 1."""
    groups = Groups([[10_000, 10_000, 500]])
    skyline = benchmark.pedantic(find, (groups, confidence), rounds=3)
    assert check(groups, [(*skyline[0], confidence), (*skyline[-1], confidence)]).safe
