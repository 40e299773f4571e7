"""The totals attack: counts back from public totals, of whatever is a power of them."""

from fractions import Fraction

import numpy as np
import pytest
from canonical_cases import ILL_OR_WELL, adult

import nbcfast
from nbcfast import Viewset, attack, canonical
from nbcfast.attack import scale_equation
from nbcfast.attack.totals import totals_of_scores
from nbcfast.reference import attack as reference

SEVEN = ["workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country"]


def realistic(rng, sizes, n_classes=2, most=60):
    """Views of so many values, some of one class only and some that nobody has."""
    of_class = rng.integers(1, most, n_classes)
    arrays = [
        np.stack([rng.multinomial(p, rng.dirichlet(np.ones(size))) for p in of_class], axis=1)
        for size in sizes
    ]
    return Viewset(of_class, arrays)


def answers(views):
    """Scores that a canonical release is made of: all that its answers say."""
    solution = canonical.solve(canonical.box(views))
    points = [np.array(rows, np.float64).reshape(len(rows), -1) for rows in solution.scores]
    points = [np.pad(array, ((0, 0), (0, len(views.classes) - array.shape[1]))) for array in points]
    return points, np.zeros(len(views.classes))


def added_to(views, alpha):
    """Scores of the classifier with so much added to each count, and what they begin with."""
    arrays = [array + alpha for array in views.counts.values()]
    base = np.log(views.class_counts.astype(float)) - sum(np.log(array.sum(axis=0)) for array in arrays)
    return [np.log(array) for array in arrays], base


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("alpha", [None, Fraction(3, 10)])
def test_it_is_the_plain_attack_on_random_tables(n_classes, alpha):
    compared = 0
    for seed in range(10 if n_classes == 2 else 5):
        rng = np.random.default_rng(seed)
        views = realistic(rng, rng.integers(1, 6, rng.integers(1, 4)), n_classes)
        cases = [added_to(views, float(alpha or 0.01))]
        if alpha is None and canonical.box(views).n_classes == n_classes:
            cases.append(answers(views))
        for points, base in cases:
            found = totals_of_scores(points, base, views, alpha)
            expected = reference.totals([array.tolist() for array in points], base, views, alpha or 0)
            assert (found.found, found.near, found.cells, found.null_found, found.null_near) == expected
            compared += found.cells
    assert compared > 30


def test_what_is_not_changed_is_inverted():
    rng = np.random.default_rng(3)
    arrays = [rng.integers(1, 50, (size, 2)) for size in (4, 5, 6)]
    most = np.max([array.sum(axis=0) for array in arrays], axis=0)
    for array in arrays:
        array[0] += most - array.sum(axis=0)
    views = Viewset(most, arrays)
    found = attack.totals(views, views)
    assert (found.found, found.near, found.cells) == (15, 15, 15)
    assert found.null_found < 15
    # A power of the counts is inverted by its public totals too, gauge or not.
    release = nbcfast.safety_transform(views, 4, rows="proven")
    assert attack.totals(release, views).found >= 12


def test_counts_that_no_float_holds_are_inverted_as_others_are():
    views = realistic(np.random.default_rng(5), [4, 3, 5], most=300)
    many = 10**400
    arrays = {name: np.array(rows, object) * many for name, rows in views.counts.items()}
    larger = Viewset(np.array(views.class_counts, object) * many, arrays)
    found = attack.totals(larger, views)
    assert found == attack.totals(views, views)
    assert found.found == found.cells == 12


def test_values_of_one_class_are_cells_and_values_of_nobody_are_none():
    views = Viewset([50, 50], {"job": [[25, 25], [24, 25], [1, 0], [0, 0]], "sex": [[30, 20], [20, 30]]})
    found = attack.totals(views, views)
    assert (found.cells, found.zeros, found.zeros_found, found.found) == (5, 1, 1, 5)


def test_totals_alone_give_what_does_not_depend_on_the_class():
    alike = {"a": [[200, 100], [200, 100]], "c": [[205, 100], [195, 100]]}
    views = Viewset([400, 200], {**alike, "b": [[390, 10], [10, 190]]})
    found = attack.totals(views, views)
    assert (found.null_found, found.null_near) == (2, 4)  # of c they give (203, 102) and (197, 98)
    assert found.found == found.cells == 6


def test_who_knows_what_was_added_takes_it_away():
    rng = np.random.default_rng(7)
    views = realistic(rng, [4, 5, 3, 4], most=400)
    logs, base = added_to(views, 1.5)
    found = totals_of_scores(logs, base, views, Fraction(3, 2))
    assert found.found == found.cells == 16
    assert totals_of_scores(logs, base, views).found < 16


def test_classes_without_rows_are_known():
    counts = {"a": [[3, 0, 4], [9, 0, 2]], "b": [[6, 0, 1], [6, 0, 5]]}
    views = Viewset([12, 0, 6], counts)
    assert attack.totals(views, views).found == 4
    one = Viewset([12, 0], {"a": [[3, 0], [9, 0]]})
    found = attack.totals(one, one)
    assert found.found == found.null_found == found.cells == 2


def test_few_scores_at_once_are_what_many_are(monkeypatch):
    views = realistic(np.random.default_rng(1), [4, 5, 3])
    for n_classes in (2, 3):
        views = realistic(np.random.default_rng(1), [4, 5, 3], n_classes)
        found = attack.totals(views, views)
        monkeypatch.setattr(scale_equation, "BLOCK", 1)
        assert attack.totals(views, views) == found
        monkeypatch.undo()


def test_offsets_of_steep_scores_of_several_classes_are_reached(monkeypatch):
    """Also at the largest scales, whose offsets are hundreds away from where they would begin alone."""
    added_up = []
    sums = scale_equation.Equation.sums
    monkeypatch.setattr(scale_equation.Equation, "sums", lambda *given: added_up.append(1) or sums(*given))
    for seed in range(7):
        views = realistic(np.random.default_rng(seed), [4, 5, 3], 3)
        arrays = [array + 0.5 for array in views.counts.values()]
        columns = np.array([array.sum(axis=0) for array in arrays])
        equation = scale_equation.Equation.of(
            [np.log(array) for array in arrays],
            np.zeros(3),
            [array.sum(axis=1) for array in arrays],
            columns,
            columns[0],
        )
        scales = np.geomspace(scale_equation.NARROWEST, scale_equation.WIDEST, scale_equation.SCALES)
        scales /= equation.span
        before = len(added_up)
        offsets = equation.followed(scales)
        assert len(added_up) - before < 2_000  # and 3,000 where all of 500 steps are tried
        for scale, of_scale in zip(scales, offsets, strict=True):
            logits = scale * equation.scores + of_scale[equation.attribute]
            parts = np.exp(logits - logits.max(axis=1, keepdims=True))
            parts *= equation.row_sums[:, np.newaxis] / parts.sum(axis=1, keepdims=True)
            columns_there = np.add.reduceat(parts, equation.starts)
            assert np.abs(np.log(columns_there / equation.column_sums)).max() < 1e-3


def test_the_totals_attack_has_its_former_name_for_one_version():
    with pytest.warns(DeprecationWarning, match=r"canonical\.attacked is now nbcfast\.attack\.totals"):
        assert canonical.attacked is attack.totals
    with pytest.raises(AttributeError, match="no attribute 'attack'"):
        canonical.attack  # noqa: B018


def test_the_attack_wants_the_same_names():
    views = ILL_OR_WELL
    with pytest.raises(TypeError, match="release must be a Release or a Viewset, got int"):
        attack.totals(5, views)
    with pytest.raises(ValueError, match="release must have the classes"):
        attack.totals(Viewset(views.class_counts, dict(views.counts)), views)
    for counts, message in (
        ({"age": views.counts["age"]}, "got no 'sex' of 2 values"),
        ({**views.counts, "more": views.counts["sex"]}, "release must have the attributes"),
        ({"age": views.counts["sex"], "sex": views.counts["sex"]}, "got no 'age' of 3 values"),
    ):
        with pytest.raises(ValueError, match=message):
            attack.totals(Viewset(views.class_counts, counts, views.classes), views)
    made = canonical.release(views, 4)
    turned = Viewset(views.class_counts, {name: views.counts[name] for name in ("sex", "age")}, views.classes)
    assert attack.totals(made, turned) == attack.totals(made, views)


def test_what_was_added_is_a_positive_number():
    views = ILL_OR_WELL
    for alpha, message in (
        (0, "alpha must be positive, got 0"),
        ("-1/2", "alpha must be positive, got '-1/2'"),
        ("1e9999", "alpha must be a quotient of integers up to 1,000,000,000, got '1e9999'"),
        (float("nan"), "alpha must be a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            attack.totals(views, views, alpha=alpha)


def test_public_totals_give_back_part_of_three_attributes_and_nothing_of_two(data):
    views = adult(data)
    found = attack.totals(canonical.release(views, 4), views)
    assert (found.cells, found.zeros) == (183, 24)
    assert (found.found, found.zeros_found) == (124, 22)  # 102 of 159 values with rows in every class
    assert (found.near, found.null_found, found.null_near) == (173, 18, 22)
    safe = attack.totals(nbcfast.safety_transform(views, 4, rows="proven"), views)
    assert safe.found - safe.zeros_found == 159
    views = adult(data, ["age", "education_num"])
    found = attack.totals(canonical.release(views, 4), views)
    assert (found.found - found.zeros_found, found.cells - found.zeros) == (0, 80)


def test_public_totals_give_back_all_of_ten_attributes(data):
    views = adult(data, ["age", "education_num", "hours_per_week", *SEVEN])
    found = attack.totals(canonical.release(views, 4), views)
    assert (found.found, found.cells) == (269, 269)
    assert (found.null_found, found.null_near) == (21, 27)
