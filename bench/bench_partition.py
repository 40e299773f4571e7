"""Mondrian, native and reference, and the steps around it.

pytest bench/bench_partition.py
"""

import numpy as np
import pytest
from against.partition import POINTS, QUASI, SENSITIVE, K, numpy_mondrian, people, split

import nbcfast
from nbcfast.mondrian import anonymize
from nbcfast.reference import mondrian as reference
from nbcfast.skyline import check

ROWS = 500_000


@pytest.mark.parametrize("points", [(), POINTS], ids=["k_alone", "skyline"])
def bench_partition(benchmark, points):
    """At most 60 ns a row for k alone, and three times that with a skyline."""
    data = people(ROWS)
    partition = benchmark(split, data, points)
    assert partition.groups.k >= K
    if points:
        assert check(partition.groups, points).safe
    else:
        assert np.array_equal(partition.group_ids, numpy_mondrian(data.columns))


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_partition_reference(benchmark, way):
    """Two thousand rows, where the reference takes seconds."""
    data = people(50_000)
    rows = [column[:2000].tolist() for column in data.columns]
    secrets = data.secrets[:2000].tolist()
    orders = [sorted(set(column)) for column in rows]
    points = [(l, k, m, reference.Fraction(c)) for l, k, m, c in POINTS]
    table = nbcfast.Table({**dict(zip(QUASI, rows, strict=True)), SENSITIVE: secrets})

    def native():
        return anonymize(table, QUASI, SENSITIVE, points, k=K)

    def plain():
        return reference.partition(list(zip(*rows, strict=True)), secrets, orders, points=points, k=K)

    groups, _ = plain()
    expected = np.empty(2000, np.uint32)
    for number, (members, _) in enumerate(groups):
        expected[members] = number
    found = native()
    assert np.array_equal(found.group_ids, expected)
    if way == "native":
        benchmark(native)
    else:
        benchmark.pedantic(plain, rounds=1)


@pytest.mark.parametrize("target", [None, SENSITIVE])
def bench_order_of_attributes(benchmark, target):
    """By range, and by information gain."""
    data = people(50_000)
    partition = benchmark(anonymize, data.table, QUASI, SENSITIVE, k=K, target=target, threads=1)
    assert partition.groups.k >= K


def bench_generalised_table(benchmark):
    partition = split(people(50_000))
    assert benchmark(lambda: partition.table).n_rows == 50_000


def bench_utility(benchmark):
    partition = split(people(50_000))
    assert benchmark(partition.utility).discernibility > 50_000


def bench_save_and_verify(benchmark, tmp_path):
    partition = split(people(50_000), POINTS)

    def run():
        partition.save(tmp_path, overwrite=True)
        return nbcfast.verify(tmp_path)

    assert benchmark.pedantic(run, rounds=3).ok
