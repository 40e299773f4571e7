"""People with sets of values."""

import random

import pytest
from skyline_cases import groups_of, random_release

from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import check, find


def random_sets(rng, n_groups=2, most_people=4, values="abc"):
    return [
        [frozenset(v for v in values if rng.random() < 0.5) for _ in range(rng.randint(1, most_people))]
        for _ in range(rng.randint(1, n_groups))
    ]


def set_groups(release):
    labels = [place for place, group in enumerate(release) for _ in group]
    return Groups.from_sets(labels, [held for group in release for held in group])


def test_sets_against_every_attack():
    rng, seen = random.Random(21), 0
    while seen < 60:
        release = random_sets(rng, 2, 3)
        if not any(held for group in release for held in group):
            continue
        l, k, m = rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2)
        expected = reference.set_breach_by_worlds(release, l, k, m)
        assert reference.set_breach(release, l, k, m) == expected
        (report,) = check(set_groups(release), [(l, k, m, 1)], exact=True)
        assert report.exact == expected, (release, l, k, m)
        seen += 1


def test_sets_against_the_closed_form():
    rng = random.Random(22)
    for _ in range(150):
        release = random_sets(rng, 3, 12, "abcde")
        if not any(held for group in release for held in group):
            continue
        l, k, m = rng.randint(0, 3), rng.randint(0, 4), rng.randint(0, 4)
        (report,) = check(set_groups(release), [(l, k, m, 1)], exact=True)
        assert report.exact == reference.set_breach(release, l, k, m)
        attack = report.attack
        assert attack.value not in attack.excluded
        assert len(attack.excluded) <= l
        assert sum(people for _, people in attack.known) == attack.pieces[1] <= k


def test_single_values_are_sets_of_one():
    rng = random.Random(23)
    for _ in range(60):
        release = random_release(rng, 4, 3, 4)
        sets = [[frozenset({v}) for v, count in group.items() for _ in range(count)] for group in release]
        sets = [group for group in sets if group]
        points = [(l, k, m, 1) for l in range(4) for k in (0, 2) for m in (0, 1, 3)]
        mine = check(set_groups(sets), points, exact=True)
        assert [r.exact for r in mine] == [r.exact for r in check(groups_of(release), points, exact=True)]


def test_the_best_excluded_values_of_sets_are_not_the_most_frequent():
    """Here b is the most frequent other value, but c and d are those that leave fewest without a."""
    release = [[frozenset(s) for s in ("a", "a", "a", "a", "a", "a", "bc", "bc", "bd", "bd", "c", "d")]]
    (report,) = check(set_groups(release), [(2, 0, 0, 1)], exact=True)
    assert report.exact == reference.set_breach(release, 2, 0, 0) == 1
    assert (report.attack.value, report.attack.excluded) == ("a", ("c", "d"))


def test_sets_are_checked_and_found():
    groups = Groups.from_sets([1, 1, 1, 2, 2], [{"a"}, {"b"}, {"a", "b"}, ["b", "b"], set()])
    assert repr(groups) == "SetGroups(2 groups, 5 people, 2 values)"
    assert (groups.k, groups.l, groups.domain) == (2, 1, ("a", "b"))
    (report,) = check(groups, [(0, 1, 0, 1)])
    assert "{" in report.attack.text or report.attack.known[0][0] == ()
    skyline = find(groups, "9/10")
    assert skyline == [(0, 0, 0)]
    with pytest.raises(ValueError, match="sets of values: l must be at most 3, got 4"):
        check(groups, [(4, 0, 0, 1)])
    with pytest.raises(ValueError, match="2 groups but 1 sets"):
        Groups.from_sets([1, 2], [{1}])
    with pytest.raises(TypeError, match=r"sets\[0\]: expected a set of values, got 'flu'"):
        Groups.from_sets([1], ["flu"])
    with pytest.raises(ValueError, match="expected a value in some set, all are empty"):
        Groups.from_sets([1], [set()])
    with pytest.raises(ValueError, match="no rows"):
        Groups.from_sets([], [])
