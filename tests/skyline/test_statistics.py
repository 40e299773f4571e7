"""`Statistics`: merged in any order they decide every point."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skyline_cases import POINTS, brief

from nbcfast import _skyline
from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import Statistics, check, find


def some_groups(rng, n):
    counts = rng.integers(0, 9, (n, 5)) * rng.integers(0, 2, (n, 5))
    counts[:, 0] += 1
    return Groups(counts), counts


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6))
def test_statistics_merge_in_any_order(seed, n, n_parts):
    rng = np.random.default_rng(seed)
    groups, counts = some_groups(rng, n)
    ls = {point[0] for point in POINTS}
    whole = Statistics(ls).update(groups)
    part_of = rng.integers(0, n_parts, n)
    parts = []
    for part in rng.permutation(n_parts):
        mine = np.flatnonzero(part_of == part)
        if len(mine):  # other labels, another order: only the histograms matter
            parts.append(Statistics(ls).update(Groups(rng.permutation(counts[mine]))))
    left = copy.deepcopy(parts[0])
    for part in parts[1:]:
        left.merge(part)
    right = copy.deepcopy(parts[-1])
    for part in reversed(parts[:-1]):
        right = part | right
    assert left == right == whole
    assert left.merge(whole).merge(left) == whole
    assert (Statistics(ls) | whole) == whole
    for index in range(len(POINTS)):
        mine = check(left, POINTS[index : index + 1], exact=True)
        assert brief(mine)[0][:4] == brief(check(groups, POINTS[index : index + 1], exact=True))[0][:4]
    assert (left.k, left.l) == (groups.k, groups.l)


def test_one_scan_serves_any_number_of_points():
    groups, counts = some_groups(np.random.default_rng(1), 200)
    release = [dict(enumerate(row)) for row in counts.tolist()]
    points = [(l, k, m, 0.9) for l in range(6) for k in range(4) for m in range(4)]
    reports = check(groups, points, exact=True)
    for point, report in zip(points, reports, strict=True):
        assert report.exact == reference.breach(release, *point[:3])
    assert reports.safe is all(report.safe for report in reports)
    assert reports.worst in reports


def test_a_group_over_chunks_is_put_together_first():
    whole = Groups([("g", "a", 6), ("g", "b", 6), ("h", "a", 1), ("h", "c", 3)])
    chunks = [Groups([("g", "a", 6), ("h", "c", 1)]), Groups([("g", "b", 6), ("h", "a", 1), ("h", "c", 2)])]
    assert Statistics([0]).update(Groups.merge(chunks)) == Statistics([0]).update(whole)
    apart = Statistics([0]).update(chunks[0]).update(chunks[1])
    assert apart != Statistics([0]).update(whole)
    assert not check(apart, [(0, 0, 0, 1)]).safe  # half a group has one value
    assert check(whole, [(0, 0, 0, 1)]).safe


def test_statistics_of_different_domains():
    one = Statistics([0, 1]).update(Groups([("g", "b", 3), ("g", "d", 2)]))
    two = Statistics([0, 1]).update(Groups([("h", "c", 1), ("h", "b", 4), ("h", "a", 1)]))
    both = Groups([("g", "b", 3), ("g", "d", 2), ("h", "c", 1), ("h", "b", 4), ("h", "a", 1)])
    assert (one | two) == (two | one) == Statistics([0, 1]).update(both)
    assert (one | two).domain == ("a", "b", "c", "d")


def test_statistics_pickle_and_do_not_change_by_threads():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 4, (30_000, 6)) * rng.integers(1, 400, (30_000, 1))
    counts[:, 2] += 1
    groups = Groups(counts)
    alone = Statistics([0, 2, 5]).update(groups, threads=1)
    for threads in (2, 3):
        assert Statistics([0, 2, 5]).update(groups, threads=threads) == alone
    assert pickle.loads(pickle.dumps(alone)) == alone
    seen = []
    Statistics([0]).update(groups, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (30_000, 30_000)
    one, two = check(groups, POINTS, threads=1, exact=True), check(groups, POINTS, threads=2, exact=True)
    assert one == two


def test_pruned_entries_never_decide():
    """Against all entries, kept one by one."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        groups, counts = some_groups(rng, 12)
        statistics = Statistics([1]).update(groups)
        everything = set()
        for row in counts.tolist():
            members = {value: count for value, count in enumerate(row) if count}
            for s in members:
                _, c, N, W = reference.numbers(members, s, 1)
                everything.add((s, c, N, W))
        for table, place in ((statistics.vn, 2), (statistics.tw[1], 3)):
            least = {}
            for entry in everything:
                key = entry[:2]
                least[key] = min(least.get(key, 10**9), entry[place])
            kept = {(s, c): x for s, c, x in table.T.tolist()}
            assert all(least[key] == x for key, x in kept.items())
            for (s, c), x in least.items():
                assert any(t == s and d >= c and y <= x for (t, d), y in kept.items())
                if (s, c) in kept:
                    assert not any(t == s and d > c and y <= x for (t, d), y in least.items())


def test_statistics_errors():
    with pytest.raises(ValueError, match="ls must be at least one l"):
        Statistics([])
    with pytest.raises(ValueError, match="ls must be at least 0, got -1"):
        Statistics([-1])
    with pytest.raises(TypeError, match="ls must be a sequence of ints, got 3"):
        Statistics(3)
    empty = Statistics([0])
    assert repr(empty) == "Statistics(l of (0,); no groups yet)"
    with pytest.raises(ValueError, match="no rows: the statistics have seen no groups"):
        check(empty, [(0, 0, 0, 1)])
    with pytest.raises(TypeError, match="groups: expected Groups, got list"):
        empty.update([[1, 2]])
    with pytest.raises(TypeError, match="other: expected Statistics, got int"):
        empty.merge(1)
    with pytest.raises(ValueError, match=r"expected statistics for l of \(0,\), got \(1,\)"):
        empty.merge(Statistics([1]))
    full = Statistics([0]).update(Groups([[1, 1, 1, 1]]))
    with pytest.raises(ValueError, match=r"these statistics are for l of \(0,\), got 1"):
        check(full, [(1, 0, 0, 1)])
    with pytest.raises(ValueError, match=r"expected statistics for l of 0..2, 1 is missing"):
        find(full, 0.5)
    assert full != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(full)
    with pytest.raises(ValueError, match="read-only"):
        full.vn[0, 0] = 1


def test_kernel_errors():
    whole = (np.array([0, 2]), np.array([0, 1], np.uint32), np.array([1, 1]), np.array([2]))
    held = _skyline.Histograms(*whole)
    for arrays, message in [
        ((np.array([0]), *whole[1:3], np.empty(0, np.int64)), "expected at least one group"),
        ((np.array([0, 1]), *whole[1:]), "offsets must run from 0"),
        ((np.array([0, 2, 2]), *whole[1:3], np.array([2, 0])), "group 1 has no values"),
        ((np.array([0, 1, 2]), *whole[1:]), "do not belong to 1 groups"),
    ]:
        with pytest.raises(ValueError, match=message):
            _skyline.Histograms(*arrays)
    with pytest.raises(ValueError, match=r"values must be 0..0, got a larger one"):
        _skyline.Scan(held, 1, np.array([0])).add(0, 1)
    for ls in ([], [1, 1], [-1]):
        with pytest.raises(ValueError, match=r"ls must rise|at least one l"):
            _skyline.Scan(held, 2, np.array(ls, np.int64))
    with pytest.raises(ValueError, match=r"groups must be within 0..1, got 0..2"):
        _skyline.Scan(held, 2, np.array([0])).add(0, 2)
    with pytest.raises(ValueError, match=r"values must rise within 0..1"):
        _skyline.Tables(2, np.array([[2], [1], [1]]), np.array([[0], [1], [1]]), np.ones((4, 1), np.int64))
    with pytest.raises(ValueError, match="expected entries of 3, 3 and 4 rows"):
        _skyline.Tables(2, np.zeros((3, 0), np.int64), np.zeros((3, 1), np.int64), np.ones((4, 1), np.int64))
