"""`find` is an exhaustive search; `frontier_table` and `plot` show what it finds."""

import random
from fractions import Fraction

import pytest
from skyline_cases import GENERATORS, groups_of, hist, random_release

from nbcfast.groups import Groups
from nbcfast.reference import skyline as reference
from nbcfast.skyline import FrontierTable, Statistics, check, deciding, find, frontier_table, plot


@pytest.mark.parametrize(
    ("release", "confidence", "expected"),
    [
        ([dict.fromkeys("abcdef", 1)], 1, [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]),
        ([dict.fromkeys("abcdef", 1)], 0.95, [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 3), (4, 0, 4)]),
        (
            [hist("a3 b2 c1 d1"), hist("a1 b2 c2 d2 e1")],
            "19/20",
            [(0, 0, 3), (0, 1, 2), (0, 2, 1), (0, 3, 0), (1, 1, 1), (2, 0, 2)],
        ),
        (
            [dict.fromkeys("abcde", 2), dict.fromkeys("abcdefgh", 1)],
            0.9,
            [
                (0, 6, 0),
                (1, 3, 3),
                (1, 4, 2),
                (1, 5, 1),
                (2, 0, 6),
                (2, 1, 5),
                (2, 2, 4),
                (2, 3, 2),
                (3, 0, 5),
                (3, 1, 3),
            ],
        ),
    ],
)
def test_known_skylines(release, confidence, expected):
    assert find(groups_of(release), confidence) == expected


def found_by_search(n_releases, seed):
    rng = random.Random(seed)
    for _ in range(n_releases):
        release = random_release(rng, 5, 3, 4)
        confidence = rng.choice(
            [
                Fraction(1),
                Fraction(9, 10),
                Fraction(1, 2),
                Fraction(rng.randint(1, 60), 60),
                Fraction(99, 100),
            ]
        )
        assert find(groups_of(release), confidence) == reference.find(release, confidence)


def test_find_is_exhaustive_search():
    found_by_search(120, 1)


@pytest.mark.thorough
def test_find_is_exhaustive_search_on_many():
    found_by_search(3_000, 2)


def test_find_in_hard_releases():
    rng = random.Random(9)
    for name in ("third case", "second case", "alike"):
        release, _, _, _ = GENERATORS[name](rng)
        while sum(release[0].values()) > 30:
            release, _, _, _ = GENERATORS[name](rng)
        for confidence in (0.9, 1):
            assert find(groups_of(release), confidence) == reference.find(release, confidence)


def test_find_from_statistics_and_its_progress():
    groups = Groups([[3, 2, 1, 1], [2, 2, 2, 1]])
    seen = []
    expected = find(groups, 0.9, progress=lambda *step: seen.append(step))
    assert seen[-1] == (3, 3)
    assert find(Statistics(range(3)).update(groups), 0.9) == expected
    assert find(Statistics(range(9)).update(groups), 0.9) == expected


def test_nothing_is_safe():
    assert find(Groups([[5, 0], [1, 1]]), 1) == []
    assert find(Groups([[5, 5]]), 0.5) == []
    assert repr(frontier_table([])) == "FrontierTable(nothing is safe)"


def test_find_bisects_large_groups(monkeypatch):
    asked = []
    original = deciding.is_safe
    monkeypatch.setattr("nbcfast.skyline.finding.is_safe", lambda *given: asked.append(1) or original(*given))
    groups = Groups([[500_000, 500_000, 30_000]])
    skyline = find(groups, 0.95)
    assert len(asked) < 400
    points = [(*point, 0.95) for point in skyline]
    assert check(groups, points).safe
    beyond = [
        (l + a, k + b, m + c, 0.95) for l, k, m in skyline for a, b, c in ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ]
    assert not any(report.safe for report in check(groups, beyond))


def test_a_long_skyline():
    """At confidence 1 every k has its m."""
    skyline = find(Groups([[2_000, 2_000]]), 1)
    assert skyline == [(0, k, 1_999 - k) for k in range(2_000)]


def test_the_shape_of_the_slides_table():
    """A group of 6 different values forces l + k <= 4, and m = 0 or k + m <= 4."""
    groups = Groups([[1] * 6, [9, 8, 7, 6, 5, 4], [3, 3, 2, 2, 2, 2]])
    for l, k, m in find(groups, 0.95):
        assert l + k <= 4
        assert m == 0 or k + m <= 4


def test_frontier_table():
    table = frontier_table(find(Groups([[1] * 6]), 0.95))
    assert table.ls == table.ks == (0, 1, 2, 3, 4)
    assert table.m[2] == (4, 3, 2, None, None)
    assert table.to_dict()["m"][4] == [4, None, None, None, None]
    groups = Groups([[50, 30, 20, 10, 5], [9, 8, 7, 6, 5]])
    skyline = find(groups, 0.95)
    table = frontier_table(skyline)
    for l in table.ls:
        for k in range(max(table.ks) + 2):
            after = [place for place, column in enumerate(table.ks) if column >= k]
            m = table.m[l][after[0]] if after else None
            assert check(groups, [(l, k, 0 if m is None else m, 0.95)]).safe is (m is not None)
            if m is not None:
                assert not check(groups, [(l, k, m + 1, 0.95)]).safe
    long = frontier_table([(0, k, 100 - k) for k in range(100)])
    assert isinstance(long, FrontierTable)
    assert len(long.ks) == 100
    assert len(repr(long).splitlines()[0]) < 200
    first, *rest = repr(long).splitlines()
    assert first.split()[-1] == "99", "beyond the last k nothing is safe"
    narrow = long.text(40)
    assert max(map(len, narrow.splitlines())) <= 40
    blocks = [block.splitlines() for block in narrow.split("\n\n")]
    assert len(blocks) > 2
    assert {block[1].split()[0] for block in blocks} == {"0"}
    assert [k for block in blocks for k in block[0].split()[3:]] == first.split()[3:]
    assert [m for block in blocks for m in block[1].split()[1:]] == rest[0].split()[1:]
    with pytest.raises(ValueError, match=r"points\[0\]: expected \(l, k, m\), got \(1, 2\)"):
        frontier_table([(1, 2)])


def test_plot():
    pytest.importorskip("matplotlib")
    skyline = find(Groups([[1] * 6]), 0.95)
    axes = plot(skyline, title="six")
    assert axes.get_title() == "six"
    assert [text.get_text() for text in axes.texts][:5] == ["4", "3", "2", "1", "0"]
    assert plot(skyline, axes) is axes
    assert [text.get_text() for text in plot([]).texts] == ["nothing is safe"]
    wide = plot([(0, k, 1000 - k) for k in range(1000)])
    assert wide.texts[:] == []
    assert wide.figure.get_size_inches()[0] < 30


def test_find_looks_at_few_values_of_l_where_more_are_unsafe(monkeypatch):
    seen = []
    plain = Statistics.__init__

    def counted(self, ls, **options):
        plain(self, ls, **options)
        seen.append(self.ls)

    monkeypatch.setattr(Statistics, "__init__", counted)
    assert find(Groups([[1] * 20_000]), "1/19999") == [(0, 0, 0)]
    assert sum(map(len, seen)) <= 4


@pytest.mark.parametrize("room", [1, 50, 1000])
def test_find_in_parts_of_any_size(monkeypatch, room):
    groups = Groups([[1] * 30, [2] * 30])
    expected = find(Statistics(range(29)).update(groups), 0.9)
    monkeypatch.setattr("nbcfast.skyline.finding.SCANNED", room)
    assert find(groups, 0.9) == expected
    assert len(expected) > 50
