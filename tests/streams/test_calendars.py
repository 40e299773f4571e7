"""When a window is published, and of which rows."""

import pytest
from stream_cases import DOMAINS, as_batch, plain

import nbcfast
from nbcfast import canonical
from nbcfast.streams import AtLeast, Disjoint, Every, Window

PEOPLE = [("cook", 7, "no"), ("clerk", 30, "yes"), (None, 50, "no"), ("cook", 45, "yes")]


def blocks(window, numbers, calendar, n=4):
    """What is published after each of these days, on which n people come."""
    published = []
    for day in numbers:
        window.add(as_batch([(day, PEOPLE[i % 4]) for i in range(n)]))
        published.append(window.publish(lambda views: views, calendar=calendar))
    return published


def window_of(n_blocks, **options):
    return Window("ill", DOMAINS, by="day", width=1, n_blocks=n_blocks, ahead=50, **options)


def test_a_fixed_calendar_publishes_each_closed_block_once():
    window = window_of(3)
    published = blocks(window, [0, 0, 1, 1, 2, 5], Every())
    assert [p.why_not for p in published] == [
        "no block is closed yet",
        "no block is closed yet",
        None,
        "0 of 1 blocks were closed since the last release",
        None,
        None,
    ]
    assert [(p.first, p.last, p.n_rows, p.n_came, p.n_left) for p in published if p.release] == [
        (0, 0, 8, 8, 0),
        (0, 1, 16, 8, 0),
        (2, 4, 4, 4, 16),
    ]
    assert [p.why_not is None for p in blocks(window_of(3), range(7), Every(2))] == [
        *(False, True, False, True, False, True, False)
    ]
    assert [p.why_not is None for p in blocks(window_of(3), range(5), Every(only_full=True))] == [
        *(False, False, False, True, True)
    ]


def test_enough_rows_come_and_enough_leave_or_none():
    calendar = AtLeast(8)
    published = blocks(window_of(10), range(6), calendar)
    assert [p.why_not is None for p in published] == [False, False, True, False, True, False]
    window = window_of(2)
    window.add(as_batch([(0, PEOPLE[0]), *((1, person) for person in PEOPLE), *((2, p) for p in PEOPLE)]))
    window.add(as_batch([(3, PEOPLE[0])]))
    assert window.publish(lambda views: views, calendar=AtLeast(4)).n_rows == 8
    window.add(as_batch([(4, PEOPLE[0])]))
    later = window.publish(lambda views: views, calendar=AtLeast(1))
    assert (later.n_came, later.n_left, later.why_not) == (1, 4, None)
    window.add(as_batch([(9, PEOPLE[0])] * 9))
    window.add(as_batch([(10, PEOPLE[0])]))
    refused = window.publish(lambda views: views, calendar=AtLeast(6))
    assert (refused.n_came, refused.n_left) == (9, 5)
    assert refused.why_not == "some rows left since the last release, and fewer than 6"


def test_disjoint_windows_have_each_row_once():
    window = window_of(2, late_blocks=0, open_blocks=2)
    published = [p for p in blocks(window, range(9), Disjoint()) if p.release is not None]
    assert [(p.first, p.last) for p in published] == [(0, 1), (2, 3), (4, 5)]
    total = published[0].release + published[1].release + published[2].release
    assert total.n_rows == 24
    with pytest.raises(ValueError, match="would be in no release: make the window with late_blocks=0"):
        blocks(window_of(1), range(2), Disjoint())


def test_rows_that_come_late_are_rows_that_came():
    window = window_of(3)
    window.add(as_batch([(0, PEOPLE[0]), (1, PEOPLE[0]), (2, PEOPLE[0])]))
    window.publish(lambda views: views)
    window.add(as_batch([(0, PEOPLE[1]), (1, PEOPLE[1])]))
    again = window.publish(lambda views: views, calendar=AtLeast(2))
    assert (again.n_came, again.n_left, again.why_not) == (2, 0, None)


def test_a_canonical_release_is_saved_and_verified(tmp_path):
    window = Window("ill", {**DOMAINS, "job": ["clerk", "cook"]}, rows=40, n_blocks=2)
    people = [(0, PEOPLE[i]) for i in (0, 1, 1, 3, 0, 0, 3, 1)] * 10
    window.add(as_batch(people))
    published = window.publish(
        lambda views: canonical.release(views, 4, class_name="ill"), tmp_path / "release"
    )
    assert nbcfast.verify(tmp_path / "release").ok
    assert published.release == canonical.release(window.views, 4, class_name="ill")
    assert (published.n_rows, published.first, published.last) == (80, 0, 40)
    assert plain(window.views) != plain(window.open_views)


def test_a_release_that_could_not_be_made_was_never_made():
    window = window_of(1)
    window.add(as_batch([(0, PEOPLE[0]), (1, PEOPLE[0])]))

    def fails(views):
        raise nbcfast.Infeasible("no", {})

    with pytest.raises(nbcfast.Infeasible):
        window.publish(fails)
    assert window.publish(lambda views: views).why_not is None


def test_what_is_no_calendar_is_refused():
    with pytest.raises(TypeError, match="calendar must be Every, AtLeast or Disjoint, got str"):
        window_of(1).publish(lambda views: views, calendar="daily")
    with pytest.raises(ValueError, match="n_rows must be"):
        AtLeast(0)
    with pytest.raises(ValueError, match="n_blocks must be"):
        Every(0)
