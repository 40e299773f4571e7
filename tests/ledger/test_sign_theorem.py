"""The sign theorem (docs/mathematics/ledger.md): an answer that one row changes says the class of the row."""

from fractions import Fraction

import numpy as np
import pytest
from how_many import how_many
from ledger_cases import binned_adult, first_rows, plain_answers, random_rows, views_of

import nbcfast
from nbcfast.canonical import box
from nbcfast.ledger.sign_theorem import OneRow, far_tuples, moved, near_tuples, sign_shown

SHAPES = [((2,), 2), ((3,), 4), ((2, 2), 2), ((3, 2), 3), ((2, 3, 2), 2), ((3, 2, 2), 4), ((2, 2, 3), 3)]


@pytest.mark.parametrize(("sizes", "n_classes"), SHAPES)
def test_every_answer_that_changes_near_becomes_the_class_and_far_was_it(sizes, n_classes):
    rng = np.random.default_rng(len(sizes) * 100 + n_classes)
    changed, with_zeros, with_ties = 0, 0, 0
    for _ in range(how_many(50, 150)):
        rows = random_rows(rng, int(rng.integers(2, 14)), sizes, n_classes)
        before, after = (views_of(part, sizes, n_classes) for part in (rows[:-1], rows))
        *tau, c = rows[-1].tolist()
        old, new = plain_answers(before), plain_answers(after)
        near = far = 0
        for codes in old:
            agree = sum(one == other for one, other in zip(codes, tau, strict=True))
            if old[codes] == new[codes]:
                continue
            if agree >= len(sizes) - 1:
                assert new[codes] == c
                near += 1
            if agree == 0 and len(sizes) >= 2:
                assert old[codes] == c
                far += 1
        row = moved(before, after).one_row
        assert row == OneRow(tuple(tau), c, came=True)
        assert moved(after, before).one_row == OneRow(tuple(tau), c, came=False)
        for shown, came in (
            (sign_shown(before, after, row), True),
            (sign_shown(after, before, row._replace(came=False)), False),
        ):
            assert (shown.near, shown.far, shown.came) == (near, far, came)
            assert shown.decides == (near + far > 0)
        changed += near + far
        with_zeros += any((array == 0).any() for array in before.counts.values())
        with_ties += before.tied_tuples(1000) > 0
    assert min(changed, with_zeros, with_ties) > how_many(4, 10)


def test_a_smoothed_row_that_came_may_be_answered_its_class_more_often_far_from_it():
    before = nbcfast.Viewset([1, 2], {"a": [[1, 1], [0, 1]], "b": [[1, 1], [0, 1]]})
    after = nbcfast.Viewset([2, 2], {"a": [[2, 1], [0, 1]], "b": [[2, 1], [0, 1]]})
    assert moved(before, after).one_row == OneRow((0, 0), 0, True)

    # Smoothed by 5, class 0 rises by (1 + 1/1) (11/12)^2 > 1 where no value agrees: nothing is said there.
    def score(views, c):
        counts = [array.tolist()[1][c] for array in views.counts.values()]
        of_class = int(views.class_counts[c])
        return of_class * Fraction(counts[0] + 5, of_class + 10) * Fraction(counts[1] + 5, of_class + 10)

    assert score(after, 0) > score(before, 0)
    shown = sign_shown(before, after, OneRow((0, 0), 0, True), Fraction(5))
    assert (shown.far, shown.far_known) == (0, False)


def test_smoothed_answers_near_a_row_that_came_become_its_class():
    rng = np.random.default_rng(7)
    changed = 0
    for _ in range(200):
        rows = random_rows(rng, int(rng.integers(4, 12)), (2, 3), 2)
        before, after = (views_of(part, (2, 3), 2) for part in (rows[:-1], rows))
        if min(before.class_counts) == 0:
            continue
        *tau, c = rows[-1].tolist()
        near = near_tuples(tuple(tau), [2, 3])
        old, new = (box(views.smoothed("1/2"), tuples=near).labels for views in (before, after))
        assert (new[old != new] == c).all()
        changed += int((old != new).sum())
    assert changed > 10


def test_tuples_near_and_far():
    assert near_tuples((0, 2), [2, 3]).tolist() == [[0, 2], [1, 2], [0, 0], [0, 1]]
    assert far_tuples((0, 2), [2, 3]).tolist() == [[1, 0], [1, 1]]
    assert len(far_tuples((0, 0), [1, 3])) == 0


def test_rows_that_are_replaced_are_told_as_at_least():
    rng = np.random.default_rng(3)
    for _ in range(100):
        kept, went, came = (random_rows(rng, int(n), (3, 2), 2) for n in rng.integers(0, 6, 3))
        before, after = (views_of(np.concatenate([kept, other]), (3, 2), 2) for other in (went, came))
        found = moved(before, after)
        assert (found.came <= len(came), found.went <= len(went)) == (True, True)
        assert found.came - found.went == len(came) - len(went)
        assert not found.exact
        assert found.text.startswith("at least")
    same = views_of(kept, (3, 2), 2)
    assert moved(same, same, prefix=True).text == "0 rows came and 0 rows went"


def test_on_adult_nobody_is_told_a_wrong_class(data):
    """Of persons whose absence shows, those whose class is decided by the theorem alone: none wrongly."""
    columns, domains = binned_adult(data)
    whole = first_rows(columns, domains, 4000)
    views = nbcfast.count(whole, "income")
    names = list(views.attributes)
    sizes = [len(views.domain(name)) for name in names]
    codes = np.stack([whole.codes(name) for name in names], axis=1).astype(int)
    truth = whole.codes("income").astype(int)
    answers = box(views)
    flat = answers.enumerate()
    shows = decided = 0
    for place in np.unique(np.column_stack([codes, truth]), axis=0).tolist():
        *tau, c = place
        part = {name: [domains[name][code]] for name, code in zip(names, tau, strict=True)}
        without = views - nbcfast.count(
            nbcfast.Table({**part, "income": [domains["income"][c]]}, domains=domains), "income"
        )
        left = box(without).enumerate()
        if (left == flat).all():
            continue
        shows += 1
        row = moved(without, views).one_row
        assert row == OneRow(tuple(tau), c, True)
        changed = np.argwhere(left != flat)
        agree = (changed == tau).sum(axis=1)
        near, far = changed[agree >= len(sizes) - 1], changed[agree == 0]
        read = {int(flat[tuple(at)]) for at in near} | {int(left[tuple(at)]) for at in far}
        shown = sign_shown(without, views, row)
        assert (shown.near, shown.far) == (len(near), len(far))
        if read:
            assert read == {c}
            decided += 1
    assert shows > 0
    assert decided > 0
