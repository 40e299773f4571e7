"""What counting chooses by the caches that are there changes no count, and 16-bit counters never overflow."""

import os
from itertools import pairwise

import numpy as np
import pytest
from few_rows import counted_by_plans
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _columns
from nbcfast._columns import Columns
from nbcfast._count import Tally
from nbcfast.views.tallying import CACHES, LEAST_ENTRIES, MOST_ENTRIES, counting_plan, tally

ADULT = [16, 7, 14, 6, 5, 9, 2, 41, 73, 94]
INTEL, EPYC, SMALL = (48 << 10, 2 << 20, False), (48 << 10, 1 << 20, True), (32 << 10, 256 << 10, False)
FORCED = [INTEL, EPYC, SMALL, (1, 1, False), (1, 1 << 30, True), (1 << 30, 1 << 30, False)]


def tables_of(sizes, n_classes, n_rows, caches):
    """Entries of each group's table."""
    plan = counting_plan(sizes, n_classes, n_rows, caches=caches)
    members = plan.members.tolist()
    return [
        n_classes * int(np.prod([sizes[a] for a in members[start:stop]]))
        for start, stop in pairwise(plan.first.tolist())
    ]


def by_bincount(columns, sizes, y, n_classes):
    return [
        np.bincount(x.astype(np.int64) * n_classes + y, minlength=size * n_classes).reshape(size, n_classes)
        for x, size in zip(columns, sizes, strict=True)
    ]


@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from([1, 2, 3, 7, 40, 300, 5_000]), min_size=1, max_size=12),
    st.sampled_from([1, 2, 5, 30]),
    st.sampled_from([1, 3, 4, 5, 4_097, 30_000]),
    st.sampled_from([np.uint8, np.int32, np.int64]),
    st.booleans(),
)
def test_no_cache_changes_a_count(seed, sizes, n_classes, n_rows, dtype, row_major):
    rng = np.random.default_rng(seed)
    if dtype is np.uint8:
        sizes = [min(size, 256) for size in sizes]
    matrix = np.stack([rng.integers(0, size, n_rows) for size in sizes], axis=1).astype(dtype)
    columns = list(matrix.T) if row_major else [column.copy() for column in matrix.T]
    y = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    expected = by_bincount(columns, sizes, y, n_classes)
    for caches in FORCED:
        with counted_by_plans():
            class_counts, counts = tally(columns, sizes, y, n_classes, n_rows, threads=1, caches=caches)
        assert class_counts.tolist() == np.bincount(y, minlength=n_classes).tolist()
        for array, other in zip(counts, expected, strict=True):
            assert np.array_equal(array, other)


def test_tables_follow_the_caches():
    for first, second, is_fast in (INTEL, EPYC, SMALL):
        for n_classes in (2, 10):
            tables = tables_of(ADULT, n_classes, 10**6, (first, second, is_fast))
            assert is_fast or max(tables) * 8 <= first  # four counters of 16 bits each
            assert sum(tables) <= min(MOST_ENTRIES, second // 8)
    # Where nothing is gained by small tables, fewer look-ups are what counts.
    assert len(tables_of(ADULT, 2, 10**6, EPYC)) == 3
    assert len(tables_of(ADULT, 2, 10**6, (1, 2 << 20, False))) == 3
    assert len(tables_of(ADULT, 2, 10**6, INTEL)) == 4
    assert len(tables_of(ADULT, 10, 10**6, SMALL)) > len(tables_of(ADULT, 10, 10**6, INTEL))
    # Many threads share the memory that one may take.
    for threads in (2, 5, 64):
        plan = counting_plan(ADULT, 2, 10**7, threads=threads, caches=EPYC)
        members, first = plan.members.tolist(), plan.first.tolist()
        entries = sum(2 * int(np.prod([ADULT[a] for a in members[i:j]])) for i, j in pairwise(first))
        assert entries <= max(MOST_ENTRIES // threads, LEAST_ENTRIES)
    # Where all are beyond it, they are joined as before.
    assert len(tables_of([90] * 6, 30, 10**6, (1_000, 2 << 20, False))) == 6
    assert len(tables_of([20] * 6, 30, 10**6, (1_000, 2 << 20, False))) < 6


@pytest.mark.parametrize("row_major", [False, True])
@pytest.mark.parametrize(
    "pieces",
    [
        [65_535 * 4 - 1],
        [65_535 * 4 + 9],
        [600_001],
        [4_096] * 70 + [1, 2, 3, 4_095, 4_097],
        [3] * 30_000,  # rows that are left over go to one counter of the four
        [1] * 30_000 + [500_000],
    ],
    ids=["full", "beyond", "many", "blocks", "threes", "ones"],
)
def test_counters_of_16_bits_are_added_up_in_time(pieces, row_major):
    """All rows are equal, so one counter of each table gets all it can."""
    n_rows = sum(pieces)
    if row_major:
        matrix = np.zeros((n_rows, 3), np.uint8)
        matrix[:, 1] = 2
        columns = list(matrix.T)
    else:
        columns = [np.broadcast_to(np.uint8(code), n_rows).copy() for code in (0, 2, 0)]
    held = Columns([*columns, np.ones(n_rows, np.uint8)], [2, 3, 4, 2], n_rows)
    counter = Tally(held, np.array([0, 2, 3]), np.array([0, 1, 2]))
    start = 0
    for piece in pieces:
        assert counter.add(start, start + piece) == -1
        start += piece
    counts = np.zeros(2 * (2 + 3 + 4), np.int64)
    counter.add_to(counts)
    expected = np.zeros(18, np.int64)
    expected[[1, 9, 11]] = n_rows
    assert counts.tolist() == expected.tolist()
    counter.add(0, 5)
    counter.add_to(counts)
    expected[[1, 9, 11]] += 5
    assert counts.tolist() == expected.tolist()


def test_caches_are_those_of_the_processor():
    first, second, is_fast = _columns.caches()
    assert (first, second, is_fast) == CACHES
    assert isinstance(is_fast, bool)
    assert 8 << 10 <= first <= 1 << 20
    assert 64 << 10 <= second <= 1 << 28
    for name, told in (("SC_LEVEL1_DCACHE_SIZE", first), ("SC_LEVEL2_CACHE_SIZE", second)):
        system = os.sysconf(name) if name in getattr(os, "sysconf_names", {}) else 0
        assert told == system or system <= 0
