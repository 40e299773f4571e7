"""PeopleRows whose class is exchanged, or that are left out: what the kernel says is what boxes say."""

import importlib
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from how_many import how_many
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset, _exchanges, canonical
from nbcfast.canonical import exchanges
from nbcfast.canonical.exchanges import (
    Change,
    PeopleRows,
    TooManyTiesError,
    exchanged,
    flip_and_trace,
    work,
)
from nbcfast.canonical.leave_one_out import rows_of


@st.composite
def tables(draw):
    """Distinct rows with weights, no class empty: zeros, ties and values that nobody has."""
    n_classes = draw(st.integers(2, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    of_each = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = {(*draw(of_each), c): draw(st.integers(1, 3)) for c in range(n_classes)}
    more = st.tuples(of_each, st.integers(0, n_classes - 1), st.sampled_from([1, 1, 2, 7, 100]))
    for codes, c, weight in draw(st.lists(more, max_size=12)):
        rows[(*codes, c)] = rows.get((*codes, c), 0) + weight
    table = np.array(list(rows), np.int64)
    return (
        sizes,
        n_classes,
        PeopleRows(table[:, :-1], table[:, -1], np.array(list(rows.values()), np.int64)),
    )


def views_of(sizes, n_classes, rows):
    counts = [np.zeros((size, n_classes), np.int64) for size in sizes]
    for codes, c, weight in zip(*(column.tolist() for column in rows), strict=True):
        for array, code in zip(counts, codes, strict=True):
            array[code, c] += weight
    return Viewset(np.bincount(rows.of_class, rows.weights, n_classes).astype(np.int64), counts)


def asked_of(views, preserve, alpha):
    return canonical.box(views if alpha is None else views.smoothed(alpha), mode=preserve)


def by_boxes(views, rows, preserve, alpha=None):
    asked = asked_of(views, preserve, alpha)

    def same(codes, change):
        other = exchanged(views, codes, change)
        return other is not None and asked_of(other, preserve, alpha) == asked

    people = list(zip(rows.codes.tolist(), rows.of_class.tolist(), strict=True))
    flip = [all(same(codes, Change(c, d)) for d in range(asked.n_classes) if d != c) for codes, c in people]
    return flip, [same(codes, Change(c, None)) for codes, c in people]


TIES = [2], 2, PeopleRows(np.array([[0], [0], [1], [1]]), np.array([0, 1, 0, 1]), np.array([5, 5, 4, 6]))


@pytest.mark.parametrize("preserve", ["label", "order"])
@given(tables())
@example(TIES)
@settings(max_examples=how_many(50, 150), deadline=None)
def test_what_shows_is_what_boxes_show(preserve, case):
    rows = case[2]
    views = views_of(*case)
    shown = flip_and_trace(canonical.box(views, mode=preserve), views, rows)
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, rows, preserve)
    assert shown.flipped == rows.weights[shown.flip].sum()
    assert shown.traceless == rows.weights[shown.trace].sum()


@given(tables(), st.sampled_from(["label", "order"]), st.sampled_from([1, Fraction(1, 2), Fraction(22, 7)]))
@example(TIES, "label", 1)
@settings(max_examples=how_many(50, 150), deadline=None)
def test_a_smoothed_classifier_is_smoothed_after_a_row_is_changed(case, preserve, alpha):
    rows, views = case[2], views_of(*case)
    shown = flip_and_trace(asked_of(views, preserve, alpha), views, rows, alpha=alpha)
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, rows, preserve, alpha)


@pytest.mark.parametrize("preserve", ["label", "order"])
@given(tables())
@example(TIES)
@settings(max_examples=60, deadline=None)
def test_boxes_decide_what_is_near(preserve, case):
    """Logarithms of few bits leave much undecided, and nothing may come out otherwise."""
    views = views_of(*case)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exchanges, "SUM_BITS", 12)
        shown = flip_and_trace(canonical.box(views, mode=preserve), views, case[2])
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, case[2], preserve)


def test_ties_are_sampled_where_they_are_too_many(monkeypatch):
    """What a box is asked for is counted too: nobody waits for one a row."""
    monkeypatch.setattr(exchanges, "SUM_BITS", 8)
    rng = np.random.default_rng(3)
    table = {"a": rng.integers(0, 3, 200), "b": rng.integers(0, 3, 200), "c": np.arange(200) % 2}
    views = nbcfast.count(table, "c")
    rows = rows_of(table, "c", views)
    asked = canonical.box(views)
    one = exchanges.BOX_WORK + exchanges.BOX_SUM * (3 + 3)
    shown = flip_and_trace(asked, views, rows, most_work=36 * one)  # each row is left out, and exchanged
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, rows, "label")
    with pytest.raises(TooManyTiesError):
        flip_and_trace(asked, views, rows, most_work=one - 1)
    leak = importlib.import_module("nbcfast.canonical.leak")
    monkeypatch.setattr(leak, "MOST_WORK", one - 1)
    found = canonical.leak(views, table=table, class_name="c")
    assert (found.exact, found.sampled) == (False, 64)
    assert found.flip_shows_at_most > 1 - found.flip


def test_halves_of_many_attributes():
    """Attributes of one value, of many, and in an order that is not that of the halves."""
    rng = np.random.default_rng(4)
    sizes, seen = [1, 7, 2, 1, 5, 3, 2], set()
    codes = np.stack([rng.integers(0, size, 80) for size in sizes], axis=1)
    for n_classes in (2, 3):
        joint = np.column_stack([codes, rng.integers(0, n_classes, 80)])
        distinct, weights = np.unique(joint, axis=0, return_counts=True)
        rows = PeopleRows(distinct[:, :-1], distinct[:, -1], (3, 40)[n_classes - 2] * weights)
        views = views_of(sizes, n_classes, rows)
        for preserve in ("label", "order"):
            shown = flip_and_trace(canonical.box(views, mode=preserve), views, rows)
            flip, trace = by_boxes(views, rows, preserve)
            assert (shown.flip.tolist(), shown.trace.tolist()) == (flip, trace)
            seen |= set(trace)
    assert seen == {True, False}


def test_counts_beyond_64_bits():
    views = Viewset([2**70, 2**70 + 5], {"a": [[2**70 - 1, 2], [1, 2**70 + 3]]})
    rows = PeopleRows(np.array([[0], [1]]), np.array([0, 0]), np.array([2**62, 1]))
    shown = flip_and_trace(canonical.box(views), views, rows)
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, rows, "label")


def test_the_last_one_of_a_class_shows():
    views = Viewset([1, 100], {"a": [[1, 50], [0, 50]]})
    rows = PeopleRows(np.array([[0], [1]]), np.array([0, 1]), np.array([1, 50]))
    shown = flip_and_trace(canonical.box(views), views, rows)
    assert (shown.flip.tolist(), shown.trace.tolist()) == ([False, True], [False, True])


def test_rows_that_the_views_do_not_count_show():
    """Nobody can be left out who is not in."""
    views = Viewset([10, 100], {"a": [[10, 50], [0, 50]]})
    rows = PeopleRows(np.array([[1]]), np.array([0]), np.array([1]))
    assert not flip_and_trace(canonical.box(views), views, rows).trace.any()


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(3)
    joint = np.column_stack([rng.integers(0, 3, (60, 2)), rng.integers(0, 3, 60)])
    distinct, weights = np.unique(joint, axis=0, return_counts=True)
    rows = PeopleRows(distinct[:, :-1], distinct[:, -1], 9 * weights)
    return views_of([3, 3], 3, rows), rows


def test_a_swept_box_is_asked_row_by_row(three_classes, monkeypatch):
    views, rows = three_classes
    monkeypatch.setattr(importlib.import_module("nbcfast.canonical.boxes.ranked"), "MOST_ENUMERATED", 1)
    asked = canonical.box(views)
    assert type(asked).__name__ == "SweptBox"
    shown = flip_and_trace(asked, views, rows)
    assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, rows, "label")
    assert 0 < shown.flip.sum() < len(shown.flip)


@pytest.mark.parametrize("preserve", ["label", "order"])
def test_answers_on_a_list_are_asked_on_it(three_classes, preserve):
    views, rows = three_classes
    listed = [[0, 0], [2, 1]]
    asked = canonical.box(views, mode=preserve, tuples=listed)
    shown = flip_and_trace(asked, views, rows)
    for codes, c, trace in zip(rows.codes.tolist(), rows.of_class.tolist(), shown.trace, strict=True):
        other = exchanged(views, codes, Change(c, None))
        assert trace == (canonical.box(other, mode=preserve, tuples=listed) == asked)
    whole = flip_and_trace(canonical.box(views, mode=preserve), views, rows)
    assert shown.flipped > whole.flipped  # few answers show less


def test_work_is_a_function_of_sizes(monkeypatch):
    asked = {
        (n_classes, preserve): canonical.box(
            Viewset([6] * n_classes, [[[2] * n_classes] * 3, [[1] * n_classes] * 6]), mode=preserve
        )
        for n_classes in (2, 3)
        for preserve in ("label", "order")
    }
    assert work(asked[2, "label"], 5) == 5 * 2 * (3 + 6)
    assert work(asked[3, "label"], 5) == 5 * 3 * 18 * 3
    assert work(asked[3, "order"], 5) == 5 * 3 * (3 + 6) * 3
    views = Viewset([6] * 3, [[[2] * 3] * 3, [[1] * 3] * 6])
    listed = canonical.box(views, tuples=[[0, 0], [2, 1]])
    assert work(listed, 5) == 5 * 3 * (exchanges.BOX_WORK + 2 * 3)
    monkeypatch.setattr(importlib.import_module("nbcfast.canonical.boxes.ranked"), "MOST_ENUMERATED", 1)
    swept = canonical.box(views)
    assert work(swept, 5) == 5 * 3 * (exchanges.BOX_WORK + exchanges.BOX_SUM * 3 * (3 + 6))


class TestKernel:
    """`_exchanges` refuses what would lead it out of its arrays."""

    PAIR: ClassVar = {
        "count": np.array([3, 1], np.int32),
        "order": np.array([2, 0, 1], np.int32),
        "sizes": np.array([2, 3], np.int32),
        "n_first": 1,
        "numbers": np.arange(5),
        "codes": np.zeros((2, 2), np.int32),
        "changed": np.zeros((2, 2), np.int64),
        "bases": np.zeros(2, np.int64),
        "error": 0,
        "ties": False,
    }

    @pytest.mark.parametrize(
        ("change", "refusal"),
        [
            ({"count": np.array([4, 1], np.int32)}, r"count must be 0\.\.3, got 4"),
            ({"order": np.array([0, 1, 3], np.int32)}, r"order must be 0\.\.2, got 3"),
            ({"codes": np.full((2, 2), 2, np.int32)}, r"codes of attribute 0 must be 0\.\.1, got 2"),
            ({"codes": np.zeros((2, 3), np.int32)}, "codes must have 2 columns, got 3"),
            ({"n_first": 3}, r"n_first must be 0\.\.2, got 3"),
            ({"n_first": 2}, "sizes of halves have products 6 and 1, expected 2 and 3"),
            ({"sizes": np.array([2, 0], np.int32)}, "a half must have 1 to"),
            ({"error": -1}, "error must be 0"),
            ({"numbers": np.full(5, 2**60)}, "numbers must be NONE, ONLY or below"),
            ({"numbers": np.arange(4)}, "expected numbers of 5 values, and 2 changes of 2 attributes"),
            ({"bases": np.full(2, -(2**60))}, "bases must be NONE, ONLY or below"),
            ({"changed": np.full((2, 2), 2**63 - 1)}, "changed must be NONE, ONLY or below"),
        ],
    )
    def test_pair(self, change, refusal):
        with pytest.raises(ValueError, match=refusal):
            _exchanges.pair(*{**self.PAIR, **change}.values(), np.empty(2, np.int8))

    def test_labels(self):
        result = np.empty(2, np.int8)
        of_classes = {
            **dict(list(self.PAIR.items())[2:]),
            "numbers": np.zeros((5, 3), np.int64),
            "changed": np.zeros((2, 2, 3), np.int64),
            "bases": np.zeros((2, 3), np.int64),
        }
        for known, more, refusal in (
            (3, {}, "known must be labels below 3"),
            (-1, {}, "known must be labels below 3"),
            (0, {"numbers": np.zeros((5, 1), np.int64)}, "2 to 127 classes"),
            (0, {"bases": np.full((2, 3), 2**60)}, "bases must be"),
            (0, {"numbers": np.full((5, 3), 2**60)}, "numbers must be"),
            (0, {"changed": np.full((2, 2, 3), 2**60)}, "changed must be"),
        ):
            with pytest.raises(ValueError, match=refusal):
                _exchanges.labels(np.full((2, 3), known, np.int8), *{**of_classes, **more}.values(), result)


class TestAdult:
    def test_every_97th_distinct_row(self, data):
        """Of a domain of 109,792 tuples: what shows is what boxes show."""
        names = ["age", "education_num", "hours_per_week", "income"]
        table = nbcfast.read_csv(data / "adult-train.csv", columns=names)
        views = nbcfast.count(table, "income", classes=(">50K", "<=50K"))
        rows = rows_of(table, "income", views)
        few = PeopleRows(rows.codes[::97], rows.of_class[::97], rows.weights[::97])
        shown = flip_and_trace(canonical.box(views), views, few)
        assert (shown.flip.tolist(), shown.trace.tolist()) == by_boxes(views, few, "label")
        assert set(shown.trace.tolist()) == {True, False}
