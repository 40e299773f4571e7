"""Which attributes share a table: every plan is valid, keeps its limits, and is never dearer than none."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nbcfast._core.joint import INDEX_LIMIT, TABLE_LIMIT, plan
from nbcfast.views import tallying

SIZES = st.lists(
    st.one_of(st.integers(0, 3), st.integers(1, 300), st.sampled_from([65_536, 10**6])), max_size=50
)
ADULT = [16, 7, 14, 6, 5, 9, 2, 41, 73, 94]


def groups_of(result):
    first = result.first.tolist()
    members = result.members.tolist()
    return [members[start:stop] for start, stop in pairwise(first)]


def cost(groups, sizes, n_rows, per_entry, row_cost, entry_cost):
    entries = [per_entry * math.prod(sizes[a] for a in group) for group in groups]
    return len(groups) * row_cost * n_rows + entry_cost * sum(entries)


@given(
    SIZES,
    st.sampled_from([0, 1, 1_000, 10**5, 10**7, 10**10]),
    st.sampled_from([1, 2, 3, 16, 256, 65_536]),
    st.sampled_from([0, 1_000, 50_000]),
    st.booleans(),
)
def test_every_plan_is_valid(sizes, n_rows, per_entry, most_entries, by_four):
    options = {"per_entry": per_entry, "row_cost": 0.3, "entry_cost": 2.0}
    result = plan(sizes, n_rows, most_entries=most_entries, by_four=by_four, **options)
    groups = groups_of(result)
    assert result.first[0] == 0
    assert result.first[-1] == len(result.members)
    assert all(groups)
    shared = [a for group in groups for a in group]
    # All attributes whose own table has an index of 16 bits, each once.
    assert sorted(shared) == [a for a, size in enumerate(sizes) if 0 < size * per_entry <= INDEX_LIMIT]
    for group in groups:
        entries = per_entry * math.prod(sizes[a] for a in group)
        assert entries <= (INDEX_LIMIT if len(group) == 1 else TABLE_LIMIT)
        if by_four:
            assert len(group) <= 4
            assert len({a // 16 for a in group}) == 1
    joint = [group for group in groups if len(group) > 1]
    entries = [per_entry * math.prod(sizes[a] for a in group) for group in joint]
    assert sum(entries) <= most_entries
    alone = [[a] for a in shared]
    assert cost(groups, sizes, n_rows, **options) <= cost(alone, sizes, n_rows, **options)


def test_the_size_of_the_work_decides():
    def n_groups(n_rows, by_four=False):
        caches = 48 << 10, 1 << 20, False
        return len(groups_of(tallying.counting_plan(ADULT, 2, n_rows, by_four=by_four, caches=caches)))

    assert n_groups(100) > n_groups(10**5) >= n_groups(10**7)
    assert n_groups(10**7) == 4
    assert n_groups(0) == len(ADULT)
    assert n_groups(10**7, by_four=True) == 4


@given(
    SIZES,
    st.sampled_from([0, 1_000, 10**6]),
    st.sampled_from([1, 4, 16, 64]),
    st.sampled_from([100, 20_480, 10**6]),
    st.sampled_from([0, 64, 3_000]),
    st.sampled_from([0.0, 0.2]),
)
def test_plans_of_wide_entries_keep_their_limits(sizes, n_rows, width, most_table, near_table, far_cost):
    options = {"most_entries": 50_000, "row_cost": 0.3, "entry_cost": 1.0}
    result = plan(
        sizes, n_rows, width=width, most_table=most_table, near_table=near_table, far_cost=far_cost, **options
    )
    groups = groups_of(result)
    # An index counts entries, whatever they hold.
    shared = [a for a, size in enumerate(sizes) if 0 < size <= INDEX_LIMIT]
    assert sorted(a for group in groups for a in group) == shared
    joint = [math.prod(sizes[a] for a in group) for group in groups if len(group) > 1]
    assert all(entries <= INDEX_LIMIT and entries * width <= most_table for entries in joint)
    assert sum(joint) * width <= 50_000

    def priced(groups):
        numbers = [width * math.prod(sizes[a] for a in group) for group in groups]
        far = far_cost * n_rows * sum(number > near_table for number in numbers)
        return len(groups) * 0.3 * n_rows + far + sum(numbers)

    assert priced(groups) <= priced([[a] for a in shared])


def test_tables_that_stay_near_are_worth_another():
    def n_groups(near_table, far_cost):
        return len(groups_of(plan(ADULT, 10**6, per_entry=2, most_entries=50_000, row_cost=0.3,
                                  entry_cost=1.0, near_table=near_table, far_cost=far_cost)))  # fmt: skip

    assert n_groups(3_000, 0.2) == 4
    assert n_groups(3_000, 0.0) == n_groups(20_000, 0.2) == 3


def test_no_attributes():
    for sizes in ([], [0], [0, 0], [10**6]):
        result = plan(sizes, 1_000, most_entries=1_000, row_cost=1.0, entry_cost=1.0)
        assert result.first.tolist() == [0]
        assert result.members.tolist() == []
        assert result.first.dtype == result.members.dtype == "int64"


def test_attributes_of_one_value_are_free():
    result = plan([1] * 40, 10**6, most_entries=1_000, row_cost=1.0, entry_cost=1.0)
    assert len(groups_of(result)) == 1


@given(SIZES)
def test_a_plan_does_not_depend_on_chance(sizes):
    def made():
        result = plan(sizes, 10**6, per_entry=2, most_entries=50_000, row_cost=0.3, entry_cost=2.0)
        return result.first.tolist(), result.members.tolist()

    assert made() == made()
