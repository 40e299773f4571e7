"""Mondrian: the same algorithm in NumPy, trees that also split at medians, and anonypy.

The answer is the group of each row.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from shared.census import census
from shared.clock import Form, Peers, Row, medians, power, race, shown

import nbcfast
from nbcfast.mondrian import anonymize
from nbcfast.mondrian.partition import Partition

QUASI = ["age", "hours", "education", "country", "occupation"]
SENSITIVE = "marital"
K = 10
POINTS = [(1, 2, 2, "99/100"), (0, 3, 1, "19/20"), (0, 1, 3, "19/20")]
FAR = 1 << 30

# At least so many times ahead: rows -> peer -> ratio.
TARGETS = {
    50_000: {"numpy": 20, "scipy cKDTree": 4, "anonypy": 1000},
    500_000: {"numpy": 10, "scipy cKDTree": 4, "scikit-learn KDTree": 10},
}
LIMIT = 60e-9  # seconds a row
SKYLINE = 1 / 3  # of the speed without points

mondrian = Peers()


class People(NamedTuple):
    table: nbcfast.Table
    columns: list[Any]
    secrets: Any

    @property
    def n_rows(self) -> int:
        return self.table.n_rows


@lru_cache(maxsize=2)
def people(n_rows: int) -> People:
    named = census(n_rows).named()
    columns = {name: named[name] for name in [*QUASI, SENSITIVE]}
    return People(nbcfast.Table(columns), [columns[name] for name in QUASI], columns[SENSITIVE])


def split(data: People, points: Any = ()) -> Partition:
    return anonymize(data.table, QUASI, SENSITIVE, points, k=K, threads=1)


def ids(partition: Partition) -> Any:
    return partition.group_ids


@mondrian.peer("numpy")
def in_numpy(data: People) -> Iterator[Form]:
    yield Form("the same Mondrian", partial(numpy_mondrian, data.columns))


def numpy_mondrian(columns: list[Any]) -> Any:
    """By the rule of `anonymize`: the widest attribute first, cut beside the median, groups of at least K."""
    matrix = np.stack(columns)
    places = []
    for codes in matrix:
        low, high = int(codes.min()), int(codes.max())
        values = np.arange(256, dtype=np.int64)
        places.append(np.clip(FAR * (values - low) // max(high - low, 1), 0, FAR))
    ids = np.empty(matrix.shape[1], np.uint32)
    stack = [np.arange(matrix.shape[1])]
    n_groups = 0
    while stack:
        rows = stack.pop()
        n = len(rows)
        if n >= 2 * K:
            some = matrix[:, rows]
            low, high = some.min(axis=1), some.max(axis=1)
            widths = [-int(place[h] - place[l]) for place, l, h in zip(places, low, high, strict=True)]
            for a in sorted(range(len(matrix)), key=widths.__getitem__):
                if low[a] == high[a]:
                    continue
                upto = np.cumsum(np.bincount(some[a]))
                median = int(np.searchsorted(2 * upto, n))
                below = int(upto[median - 1]) if median else 0
                after = median < high[a] and (median == low[a] or 2 * upto[median] - n <= n - 2 * below)
                left = int(upto[median]) if after else below
                if min(left, n - left) < K:
                    continue
                goes = some[a] <= (median if after else median - 1)
                stack += [rows[~goes], rows[goes]]
                break
            else:
                ids[rows] = n_groups
                n_groups += 1
            continue
        ids[rows] = n_groups
        n_groups += 1
    return ids


@mondrian.peer("scipy cKDTree")
def in_scipy(data: People) -> Iterator[Form]:
    from scipy.spatial import cKDTree

    points = np.stack(data.columns, axis=1).astype(np.float64)
    for compact in (False, True):
        how = "compact build" if compact else "plain build"
        build = partial(cKDTree, points, leafsize=2 * K - 1, compact_nodes=compact)
        yield Form(f"{how}, a proxy", build, None)


@mondrian.peer("scikit-learn KDTree")
def in_sklearn(data: People) -> Iterator[Form]:
    from sklearn.neighbors import KDTree

    points = np.stack(data.columns, axis=1).astype(np.float64)
    yield Form("build, a proxy", partial(KDTree, points, leaf_size=2 * K - 1), None)


def with_anonypy(data: People) -> float:
    """Seconds of its partition alone; its rule of splitting is another, so groups are not compared."""
    import anonypy
    import pandas as pd

    frame = pd.DataFrame({**dict(zip(QUASI, data.columns, strict=True)), SENSITIVE: data.secrets}).astype(int)
    start = time.process_time()
    partitions = anonypy.Preserver(frame, QUASI, SENSITIVE).modrian.partition(K)
    seconds = time.process_time() - start
    assert sum(map(len, partitions)) == data.n_rows
    return seconds


def against_peers(n_rows: int, rounds: int) -> Iterator[Row]:
    data = people(n_rows)
    job = f"Mondrian {power(n_rows)} rows, k = {K}"
    peers = mondrian.forms(data)
    ours = Form("anonymize", partial(split, data), ids)
    yield from race(job, n_rows, ours, peers, np.array_equal, rounds, TARGETS.get(n_rows))
    if n_rows == 50_000:
        try:
            theirs = with_anonypy(data)
        except ImportError as error:
            print(f"anonypy: skipped, {error}")
            return
        (own,) = medians([ours.run], rounds)
        cells = f"{theirs:.2f} s", shown(own, n_rows)
        yield Row(job, "anonypy, partition alone", *cells, theirs / own, TARGETS[n_rows]["anonypy"])


def alone(n_rows: int, rounds: int) -> Iterator[Row]:
    """What a partition costs a row, with and without a skyline; the table and its measures apart."""
    data = people(n_rows)
    partition, safe = split(data), split(data, POINTS)
    assert partition.groups.k >= K
    assert safe.safe
    plain, skyline = medians([partial(split, data), partial(split, data, POINTS)], rounds)
    job = f"Mondrian {power(n_rows)} rows"

    def per_row(seconds: float) -> str:
        return f"{seconds / n_rows * 1e9:.1f} ns/row"

    yield Row(
        f"{job}, group ids",
        "time, a limit",
        per_row(LIMIT * n_rows),
        per_row(plain),
        LIMIT * n_rows / plain,
        1 if n_rows == 500_000 else None,
    )
    yield Row(
        f"{job}, a skyline of 3 points ({safe.n_groups} groups)",
        f"k = {K} alone ({partition.n_groups} groups)",
        per_row(plain),
        per_row(skyline),
        plain / skyline,
        SKYLINE,
    )
    # The generalised table is made when it is asked for, once a partition.
    made = [split(data) for _ in range(rounds)]
    start = time.process_time()
    for one in made:
        assert one.table.n_rows == n_rows
    tables = (time.process_time() - start) / rounds
    start = time.process_time()
    for one in made:
        assert one.utility().ncp is not None
    measures = (time.process_time() - start) / rounds
    for what, seconds in (("generalised table", tables), ("measures", measures)):
        yield Row(f"{job}, {what}", "group ids", per_row(plain), per_row(seconds), plain / seconds)


def partitions(rounds: int, quick: bool) -> Iterator[Row]:
    for n_rows in (50_000,) if quick else (50_000, 500_000):
        yield from against_peers(n_rows, rounds)
        yield from alone(n_rows, rounds)
