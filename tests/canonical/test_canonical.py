"""The canonical release's core: boxes, weights and points against enumeration and the exact reference."""

import math
import signal
from fractions import Fraction

import numpy as np
import pytest
from canonical_checks import check_card, from_rows, total, weights
from how_many import how_many

import nbcfast
from nbcfast import Viewset, canonical
from nbcfast._core.errors import Infeasible
from nbcfast.canonical import Box, ListedBox, Solution, box, integers, solve
from nbcfast.canonical.boxes.halving import MOST_TUPLES
from nbcfast.canonical.weights.levels import Levels
from nbcfast.reference import canonical as reference

THOROUGH = pytest.param(20_000, marks=pytest.mark.thorough)


def from_counts(rng):
    """Counts of any kind, realistic or not."""
    kinds = [
        lambda shape: rng.integers(0, 3, shape).tolist(),
        lambda shape: (2 ** rng.integers(0, 5, shape)).tolist(),  # ties
        lambda shape: (10**15 + rng.integers(-1, 2, shape)).tolist(),  # no float can tell
        lambda shape: [[3**200 + int(x) for x in row] for row in rng.integers(0, 2, shape)],
        lambda shape: (rng.integers(0, 2, shape) * 10**15).tolist(),
    ]
    make = kinds[rng.integers(len(kinds))]
    n = int(rng.integers(1, 4))
    classes = [int(x) for x in rng.choice([0, 1, 2, 3, 7, 10**15], 2)]
    return Viewset(
        classes if any(classes) else [1, 0],
        [make((int(rng.integers(1, 5)), 2)) for _ in range(n)],
    )


def check(views):
    """Box, weights and points of a small viewset, against enumeration and the reference."""
    found = box(views)
    labels = reference.box(views)
    enumerated = found.enumerate()
    assert {codes: int(enumerated[codes]) for codes in labels} == labels
    assert found.labels(list(labels)).tolist() == list(labels.values())
    assert found.n_of(0) == sum(label == 0 for label in labels.values())
    solution = solve(found)
    g = weights(solution)
    assert g == reference.solve(labels)
    assert solution.reproducible
    signed = [total(g, codes) * (1 - 2 * label) for codes, label in labels.items()]
    assert solution.margin == min(signed) >= 1
    assert solution.range == max(map(abs, signed))
    for row, levels in zip(g, solution.levels, strict=True):
        assert [sorted(set(row)).index(x) for x in row] == list(levels)
    card = integers(found, solution)
    check_card(card, labels)
    return found, solution, card


@pytest.mark.parametrize("number", [300, THOROUGH])
def test_rows_of_all_kinds(number):
    rng = np.random.default_rng(1)
    for _ in range(number):
        check(from_rows(rng))


@pytest.mark.parametrize("number", [300, THOROUGH])
def test_counts_of_all_kinds(number):
    rng = np.random.default_rng(2)
    for _ in range(number):
        check(from_counts(rng))


@pytest.mark.parametrize("number", [8, pytest.param(200, marks=pytest.mark.thorough)])
def test_larger_domains(number):
    rng = np.random.default_rng(3)
    for _ in range(number):
        check(from_rows(rng, most_attributes=4, most_values=6, most_rows=400))


def test_acceptance_values(data):
    table = nbcfast.read_csv(data / "adult-train.csv", columns=[*ADULT_3, "income"])
    two = nbcfast.count(table, "income", attributes=ADULT_3[:2])
    found = solve(box(two))
    assert (found.range, found.margin, found.reproducible) == (9, 1, True)
    assert [max(levels) + 1 for levels in found.levels] == [5, 5]
    assert integers(box(two), found).range == 9
    for classes, widest, levels in (
        ((">50K", "<=50K"), 3565, [54, 15, 62]),
        (("<=50K", ">50K"), 1781, [53, 14, 62]),
    ):
        views = nbcfast.count(table, "income", attributes=ADULT_3, classes=classes)
        asked = box(views)
        assert asked.tuples == 109_792
        found = solve(asked)
        assert (found.range, found.margin, found.reproducible) == (widest, 1, True)
        assert [max(row) + 1 for row in found.levels] == levels
        card = integers(asked, found)
        assert (card.gap, card.range, card.bits, card.changed) == (1, widest, 10, 0)
        # The labels of all tuples, by another way: the classifier's own scorer.
        codes = np.indices(asked.sizes).reshape(3, -1).T
        plain = Viewset(views.class_counts, [views.counts[name] for name in views.attributes])
        expected = plain.predict({f"A{i + 1}": codes[:, i] for i in range(3)}, codes=True)
        assert np.array_equal(asked.labels(codes), expected)
        sums = sum(card.points[i][codes[:, i], 0] for i in range(3))
        assert np.array_equal(sums >= card.threshold, expected == 0)


ADULT_3 = ["age", "education_num", "hours_per_week"]


def from_points(points, threshold):
    """Counts whose classifier answers as the points do: X_0 = 2^points, X_1 = 2^(threshold - 1/2) nearly."""
    counts = [[[4**p, 1] for p in row] for row in points]
    shift = 2 * threshold - 1
    up, down = (1, 2**shift) if shift >= 0 else (2**-shift, 1)
    counts[0] = [[x * up, y * down] for x, y in counts[0]]
    return Viewset([1, 1], counts)


def test_the_same_labels_give_the_same_solution():
    """From counts, multiples, the points themselves, and from counts moved where labels allow it."""
    rng = np.random.default_rng(4)
    moved = 0
    for _ in range(how_many(40, 150)):
        views = from_rows(rng)
        if 0 in views.class_counts.tolist():
            continue
        found = box(views)
        solution, card = solve(found), integers(found, solve(found))
        arrays = [views.counts[name] for name in views.attributes]
        others = [
            Viewset(views.class_counts * 7, [array * 7 for array in arrays]),
            Viewset(views.class_counts, [array * (10**6 + i) for i, array in enumerate(arrays)]),
            from_points([array[:, 0].tolist() for array in card.points], card.threshold),
        ]
        for _ in range(20):  # one row moves from a value to another
            i, c = rng.integers(len(arrays)), rng.integers(2)
            t, u = rng.integers(len(arrays[i]), size=2)
            changed = [array.copy() for array in arrays]
            if t == u or changed[i][t, c] == 0:
                continue
            changed[i][t, c] -= 1
            changed[i][u, c] += 1
            other = Viewset(views.class_counts, changed)
            if reference.box(other) == reference.box(views):
                others.append(other)
                moved += 1
        for other in others:
            assert box(other) == found
            assert solve(box(other)) == solution
            assert integers(box(other), solve(box(other))).to_dict() == card.to_dict()
    assert moved > how_many(26, 100)


def test_renaming_and_permuting():
    """The weights go with the values, whatever half they land in, and nothing else changes."""
    rng = np.random.default_rng(5)
    for _ in range(how_many(60, 200)):
        views = from_rows(rng, most_attributes=4)
        names, n = views.attributes, len(views.attributes)
        order = rng.permutation(n)
        renamed = [rng.permutation(len(views.counts[name])) for name in names]
        other = Viewset(views.class_counts, [views.counts[names[i]][renamed[i]] for i in order])
        one, two = solve(box(views)), solve(box(other))
        assert weights(two) == [[weights(one)[i][t] for t in renamed[i]] for i in order]
        assert (two.range, two.margin) == (one.range, one.margin)
        card, its = integers(box(views), one), integers(box(other), two)
        assert [array[:, 0].tolist() for array in its.points] == [
            card.points[i][renamed[i], 0].tolist() for i in order
        ]
        assert (its.constants, its.gap, its.range) == (card.constants, card.gap, card.range)


def test_a_box_that_no_classifier_has_is_refused():
    counts = np.array([1, 3, 3, 1]), np.array([1, 3, 3, 1])
    with pytest.raises(ValueError, match="expected K and L of one classifier"):
        solve(Box((2, 2, 2, 2), (0, 0, 1, 1), 2, "label", *counts))


def test_a_constant_classifier():
    """All weights of an attribute are equal, and shared out by the number of its values."""
    for counts, label in (([[2, 1], [2, 1]], 0), ([[1, 2], [1, 2]], 1)):
        found, solution, card = check(Viewset([1, 1], [counts, [[1, 1]] * 3]))
        assert found.n_of(label) == 6
        sign = 1 - 2 * label
        assert weights(solution) == [[sign * Fraction(3, 5)] * 2, [sign * Fraction(2, 5)] * 3]
        assert (solution.range, solution.margin, card.bits) == (1, 1, 0)


def test_a_single_class():
    found = box(Viewset([3], [[[1], [2]]]))
    assert (found.n_classes, found.n_of(0), found.enumerate().tolist()) == (1, 2, [0, 0])
    solution = solve(found)
    assert weights(solution) == [[1, 1]]
    assert integers(found, solution).labels([[0], [1]]).tolist() == [0, 0]


def test_attributes_without_influence_and_equal_levels():
    views = Viewset([10, 10], [[[1, 2], [2, 4], [7, 4], [14, 8]], [[5, 5], [3, 3], [2, 2]]])
    found, solution, _ = check(views)
    assert solution.levels == ((0, 0, 1, 1), (0, 0, 0))
    assert Levels(found).sizes == [2, 1]
    assert weights(solution)[1] == [weights(solution)[1][0]] * 3


def test_ties_go_to_the_later_class():
    check(Viewset([8, 8], [[[4, 2], [4, 6]], [[4, 8], [4, 0]]]))  # 4 * 4 = 2 * 8
    assert box(Viewset([2, 2], [[[1, 1], [1, 1]]])).n_of(0) == 0


@pytest.mark.parametrize("n_values", [1, 2, 7])
def test_many_attributes_of_one_value(n_values):
    views = Viewset([3, 4], [[[2, 1]] * n_values, *([[[1, 1]]] * 70)])
    found = box(views)
    assert found.tuples == n_values
    solution = solve(found)
    assert solution.range == solution.margin == 1
    assert integers(found, solution).label([0] * 71) == found.label([0] * 71)


def test_limits_and_bad_input():
    with pytest.raises(
        Infeasible, match=r"762939453125 tuples.*reaches 500000000000.*declare coarser"
    ) as caught:
        box(Viewset([1, 1], [np.ones((5, 2), int)] * 17))
    assert caught.value.best == {"tuples": 5**17, "most_tuples": MOST_TUPLES}
    with pytest.raises(ValueError, match="no rows"):
        box(Viewset([0, 0], [[[0, 0]]]))
    with pytest.raises(ValueError, match="at least one attribute, got none"):
        box(Viewset([1, 2], {}))
    with pytest.raises(TypeError, match="views must be a Viewset, got int"):
        box(3)
    views = Viewset([1, 2], [[[1, 1], [0, 1]]])
    with pytest.raises(ValueError, match="mode must be 'label' or 'order', got 'both'"):
        box(views, mode="both")
    with pytest.raises(TypeError, match=r"box must be what .* makes, got Viewset"):
        solve(views)
    found = box(views)
    assert box(views, mode="order") == found
    solution = solve(found)
    for bits in (0, 63, -1):
        with pytest.raises(ValueError, match=f"bits must be 1..62, got {bits}"):
            integers(found, solution, bits)
    with pytest.raises(TypeError, match="bits must be an int or None, got str"):
        integers(found, solution, "3")
    with pytest.raises(ValueError, match="within must be above 1, got 1"):
        integers(found, solution, within=1)
    with pytest.raises(TypeError, match="solution must be a Solution, got Box"):
        integers(found, found)
    with pytest.raises(TypeError, match=r"box must be what .* makes, got Viewset"):
        integers(views, solution)
    with pytest.raises(ValueError, match=r"expected one for 2 classes and sizes \(3,\), got 2 and \(2,\)"):
        integers(box(Viewset([1, 1], [[[1, 2], [2, 1], [1, 1]]])), solution)
    with pytest.raises(ValueError, match=r"codes must have shape \(tuples, 1\), got \(1, 2\)"):
        found.label([0, 1])
    with pytest.raises(ValueError, match=r"codes of attribute 0 must be 0..1, got 2..2"):
        found.label([2])
    with pytest.raises(TypeError, match="codes must be integers, got float64"):
        found.labels([[0.5]])


def test_a_domain_at_the_limit():
    """5 * 10^11 tuples are taken; a half of more combinations than memory is not."""
    with pytest.raises(Infeasible, match="an attribute has 30000000 values, and a half"):
        canonical.box.__globals__["halves"]((30_000_000, 2))
    parts = canonical.box.__globals__["halves"]((10, 5) * 6 + (2, 2, 2, 2, 2))
    assert parts.n * parts.m == MOST_TUPLES == 50**6 * 32


def test_solutions_of_other_boxes_are_refused():
    one = box(Viewset([9, 9], [[[2, 3], [3, 2]], [[2, 3], [3, 2]]]))
    two = box(Viewset([9, 9], [[[3, 2], [2, 3]], [[2, 3], [3, 2]]]))
    with pytest.raises(
        ValueError, match="expected weights that give the labels of the box with a margin of 1"
    ):
        integers(one, solve(two))
    constant = box(Viewset([9, 9], [[[1, 3], [1, 3]], [[1, 1], [1, 1]]]))
    with pytest.raises(ValueError, match="expected equal weights for values of attribute 0"):
        integers(constant, solve(one))


def test_bits():
    """The number of changed tuples is exact, the points keep to the bits, and enough bits change nothing."""
    rng = np.random.default_rng(6)
    some = 0
    for _ in range(120):
        views = from_rows(rng, most_attributes=4, most_values=6, most_rows=300)
        found, labels = box(views), reference.box(views)
        solution = solve(found)
        exact = integers(found, solution)
        for bits in (1, 2, 3):
            card = integers(found, solution, bits)
            points = [array[:, 0].tolist() for array in card.points]
            assert max(max(row) for row in points) < 2**bits
            wrong = sum(
                reference.answer(points, card.constants[0], codes) != label for codes, label in labels.items()
            )
            assert card.changed == wrong
            assert (wrong == 0) >= (exact.bits <= bits)
            if wrong:
                some += 1
                assert card.gap is None
                assert max(max(row) for row in points) == 2**bits - 1
    assert some > 20


def test_changed_counts_every_threshold():
    rng = np.random.default_rng(7)
    for _ in range(60):
        views = from_rows(rng, most_attributes=4)
        found, labels = box(views), reference.box(views)
        oracle = Levels(found)
        points = rng.integers(0, 6, len(oracle.weights)).tolist()
        rows = oracle.per_value(points)
        for threshold in range(-2, 20):
            wrong = sum((total(rows, codes) >= threshold) != (label == 0) for codes, label in labels.items())
            assert oracle.changed(points, threshold) == wrong


def test_within():
    rng = np.random.default_rng(8)
    for _ in range(40):
        views = from_rows(rng, most_attributes=4, most_rows=300)
        found = box(views)
        solution = solve(found)
        for within in ("1.5", Fraction(21, 20)):
            card = integers(found, solution, within=within)
            check_card(card, reference.box(views))
            if card.gap is not None:
                assert Fraction(card.range, card.gap) <= Fraction(within) * solution.range / solution.margin
        both = integers(found, solution, 4, within="1.05")
        assert both.bits <= 4
        assert both.changed == 0 or integers(found, solution).bits > 4


def test_listed_boxes():
    """Labels matter on the list alone; a value outside it has weight 0."""
    rng = np.random.default_rng(9)
    for _ in range(how_many(70, 250)):
        views = from_rows(rng)
        labels = reference.box(views)
        chosen = rng.integers(0, len(labels), rng.integers(1, 30))
        codes = np.array(list(labels))[chosen]
        found = box(views, tuples=codes)
        assert isinstance(found, ListedBox)
        asked = {tuple(row): labels[tuple(row)] for row in codes.tolist()}
        assert (
            found.tuples,
            dict(zip(map(tuple, found.codes.tolist()), found.labels.tolist(), strict=True)),
        ) == (
            len(asked),
            asked,
        )
        solution = solve(found)
        g = weights(solution)
        expected = reference.solve(asked)
        for i, row in enumerate(g):
            used = {codes[i] for codes in asked}
            assert all(x == 0 for t, x in enumerate(row) if t not in used)
            assert row[: len(expected[i])] == expected[i]
        signed = [total(g, codes) * (1 - 2 * label) for codes, label in asked.items()]
        assert (solution.margin, solution.range) == (min(signed), max(map(abs, signed)))
        card = integers(found, solution)
        assert all(card.label(codes) == label for codes, label in asked.items())
        short = integers(found, solution, 1)
        assert short.changed == sum(short.label(codes) != label for codes, label in asked.items())


def smooth(sizes, rows=100_000, seed=15):
    """Counts of a classifier with many levels."""
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(4 / s, rows) - 1, s - 1) for s in sizes]
    score = sum((c - s / 4) / (s / 4) for c, s in zip(codes, sizes, strict=True))
    labels = (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(int)
    return Viewset.from_codes(codes, labels, sizes=list(sizes), n_classes=2)


def test_threads_do_not_change_a_box():
    views = smooth((600, 700))
    assert box(views, threads=1) == box(views, threads=2)
    for threads in (0, "2"):
        with pytest.raises((TypeError, ValueError), match="threads must be"):
            box(views, threads=threads)


def test_progress():
    calls = []
    found = box(smooth((40, 40, 40)), progress=lambda *call: calls.append(call))
    assert calls == [(1, 1)]
    calls.clear()
    solution = solve(found, progress=lambda *call: calls.append(call))
    assert len(calls) == solution.rounds
    assert all(done <= of for done, of in calls)
    assert calls[-1][0] == calls[-1][1]


def test_an_interrupt_ends_a_long_solution():
    """Between two rounds; what a round does looks for signals itself (test_interrupts.py)."""
    found = box(smooth((40, 40, 40)))
    assert solve(found).rounds > 2
    calls = []

    def pressed(*call):
        calls.append(call)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solve(found, progress=pressed)
    assert len(calls) == 2


def test_results_read_well():
    found = box(Viewset([5, 5], [[[2, 3], [3, 2]], [[2, 3], [3, 2]]]))
    solution = solve(found)
    card = integers(found, solution)
    assert repr(found) == "Box(2 x 2 = 4 tuples, 1 of label 0)"
    assert repr(solution) == (
        "Solution(exact optimum: range 3 at margin 1, levels 2 x 2 of 2 x 2, 3 tuples of support)"
    )
    assert repr(card) == "Scorecard(points up to 1, 1 bits)"
    assert found.to_dict()["K"] == found.K.tolist()
    assert solution.to_dict()["scores"] == [[["-3/2"], ["1/2"]]] * 2
    assert card.to_dict()["points"] == [[[0], [1]]] * 2
    assert solution.log2_range == pytest.approx(math.log2(3))
    assert solution.score((1, 0)) == (-1,)
    assert solution.weights(1).tolist() == [[Fraction(-3, 2)], [Fraction(1, 2)]]
    assert found != solution
    assert isinstance(solution, Solution)
    with pytest.raises(ValueError, match="read-only"):
        found.K[0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)
