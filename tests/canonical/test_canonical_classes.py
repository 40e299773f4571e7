"""The canonical release with more than two classes, against exact enumeration."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from how_many import how_many

import nbcfast
from nbcfast import Infeasible, Viewset, _classes, _interior
from nbcfast.canonical import box as box_of
from nbcfast.canonical import integers, release, solve
from nbcfast.canonical.boxes import ranked as boxes
from nbcfast.canonical.boxes.types import EnumeratedBox, PairsBox, SweptBox
from nbcfast.canonical.weights import several as classes
from nbcfast.canonical.weights import violated as demands
from nbcfast.published.document import text_of
from nbcfast.reference import canonical_classes as reference

MODES = ("label", "order")


def some_views(seed):
    """Few rows over few values: zeros and ties everywhere."""
    draw = random.Random(seed)
    n_classes, n = draw.choice((3, 3, 4)), draw.randint(1, 3)
    counts = [np.zeros((draw.randint(1, 3), n_classes), np.int64) for _ in range(n)]
    labels = [draw.randrange(n_classes) for _ in range(draw.randint(n_classes, 25))]
    for label in labels:
        for array in counts:
            array[draw.randrange(len(array)), label] += 1
    return Viewset(np.bincount(labels, minlength=n_classes), counts)


def expected(answers, n_classes):
    """The scores of the reference, as a Solution has them."""
    f = reference.solve(answers, n_classes)
    return tuple(tuple(tuple(x - row[-1] for x in row[:-1]) for row in rows) for rows in f)


def right(card, answers, mode):
    """How many tuples a scorecard answers as the classifier does."""
    found = {codes: reference.answer(card.points, card.constants, codes) for codes in answers}
    return sum(
        (found[codes][0] if mode == "label" else found[codes]) == known for codes, known in answers.items()
    )


def of_points(card):
    """A viewset whose scores are 2^(total): a release of the scorecard, in long integers."""
    q = [[[2 ** int(x) for x in (*row, 0)] for row in array] for array in card.points]
    sums = [[sum(column) for column in zip(*rows, strict=True)] for rows in q]
    low = min(*card.constants, 0)
    of_class = []
    for c, k in enumerate((*card.constants, 0)):
        number = 2 ** (k - low)
        for of_attribute in sums:
            number *= of_attribute[c]
        of_class.append(number)
    counts = [
        [[of_class[c] * x // of_attribute[c] for c, x in enumerate(row)] for row in rows]
        for rows, of_attribute in zip(q, sums, strict=True)
    ]
    return Viewset(np.array(of_class, object), [np.array(rows, object) for rows in counts])


def swept(views, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(boxes, "MOST_ENUMERATED", 0)
        return boxes.box(views)


def check(seed, mode):
    """Box, weights and points of one random viewset, from counts, from a multiple and from the release."""
    views = some_views(seed)
    n_classes, answers = len(views.classes), reference.box(views, mode)
    box = box_of(views, mode=mode)
    codes = list(answers)
    if mode == "label":
        assert box.labels.tolist() == list(answers.values())
    else:
        assert list(map(tuple, box.orders(codes).tolist())) == list(answers.values())
        assert box.labels(codes).tolist() == [known[0] for known in answers.values()]
    solution = classes.solve(box)
    assert solution.scores == expected(answers, n_classes)
    assert solution.reproducible
    assert solution.margin == 1
    totals = [(*solution.score(tuple_), 0) for tuple_ in codes]
    assert solution.range == max(max(total) - min(total) for total in totals)
    card = classes.integers(box, solution)
    assert right(card, answers, mode) == len(answers)
    assert card.changed == 0
    assert card.gap >= 1
    assert card.range == max(
        max(total) - min(total)
        for total in (
            [
                k + sum(int(a[t, c]) for a, t in zip(card.points, tuple_, strict=True))
                for c, k in enumerate(card.constants)
            ]
            + [0]
            for tuple_ in codes
        )
    )
    for other in (
        Viewset(3 * views.class_counts, [3 * array for array in views.counts.values()]),
        of_points(card),
    ):
        again = box_of(other, mode=mode)
        assert again == box
        assert classes.solve(again) == solution
    listed = box_of(views, mode=mode, tuples=codes)
    assert classes.solve(listed).scores == solution.scores
    for narrow in (box, listed):
        coarse = classes.integers(narrow, solution, bits=1 + seed % 2)
        assert coarse.bits <= 1 + seed % 2
        assert coarse.changed == len(answers) - right(coarse, answers, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "start", [*range(0, 120, 20), *(pytest.param(k, marks=pytest.mark.thorough) for k in range(120, 240, 20))]
)
def test_weights_and_points_are_those_of_the_reference(start, mode):
    for seed in range(start, start + 20):
        check(seed, mode)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", range(1_000, 11_000, 1_000))
def test_weights_and_points_of_thousands(start, mode):
    for seed in range(start, start + 1_000):
        check(seed, mode)


def test_sweep_is_enumeration(monkeypatch):
    n_swept = n_other_places = 0
    for seed in range(how_many(80, 300)):
        views = some_views(seed)
        if len(views.classes) != 3:
            continue
        n_swept += 1
        known, box = boxes.box(views), swept(views, monkeypatch)
        answers = reference.box(views)
        assert isinstance(box, SweptBox)
        assert box.labels(list(answers)).tolist() == list(answers.values())
        table = box.labels(list(answers)).reshape(box.sizes)
        for half, counts in enumerate((box.K, box.L)):
            others = tuple(i for i, h in enumerate(box.half) if h != half)
            for label in range(3):
                assert counts[:, label].tolist() == np.sum(table == label, axis=others).reshape(-1).tolist()
        solution = classes.solve(known)
        assert classes.solve(box).scores == solution.scores
        card = classes.integers(box, solution)
        assert card.to_dict() == classes.integers(known, solution).to_dict()
        coarse = classes.integers(box, solution, bits=1)
        assert coarse.changed == len(answers) - right(coarse, answers, "label")
        # Other counts with the same labels: other places in the box, but nobody can tell.
        other = swept(of_points(card), monkeypatch)
        n_other_places += not np.array_equal(other.places[0], box.places[0])
        assert other == box
        assert classes.solve(other) == classes.solve(box)
    assert n_swept > how_many(25, 100)
    assert n_other_places > how_many(10, 50)


def random_views(seed, sizes, n_classes, low=0, high=60):
    draw = np.random.default_rng(seed)
    counts = [draw.integers(low, high, (size, n_classes)) for size in sizes]
    rows = max(int(array.sum(axis=0).max()) for array in counts)
    for array in counts:
        array[-1] += rows - array.sum(axis=0)
    return Viewset(counts[0].sum(axis=0), counts)


def test_sweep_is_enumeration_on_larger_halves(monkeypatch):
    for seed, sizes in enumerate([(9, 8, 7), (5, 4, 3, 4), (30, 25), (40,)]):
        views = random_views(seed, sizes, 3)
        known, box = boxes.box(views), swept(views, monkeypatch)
        found = classes.solve(box)
        assert found.scores == classes.solve(known).scores
        assert found.reproducible
        assert found.levels == classes.solve(known).levels


def test_renaming_renames():
    for seed in range(60):
        views = some_views(seed)
        draw = np.random.default_rng(seed)
        box = boxes.box(views)
        found = classes.solve(box)
        n_classes, table = box.n_classes, box.labels.reshape(box.sizes)
        of_classes, axes = draw.permutation(n_classes), draw.permutation(len(box.sizes))
        values = [draw.permutation(size) for size in box.sizes]
        renamed = of_classes[table][np.ix_(*values)].transpose(axes).astype(np.int8)
        other = EnumeratedBox(renamed.shape, n_classes, "label", np.ascontiguousarray(renamed).reshape(-1))
        again = classes.solve(other)
        assert again.range == found.range
        for place, i in enumerate(axes):
            for position, t in enumerate(values[i]):
                mine, its = (*found.scores[i][t], 0), (*again.scores[place][position], 0)
                assert [mine[c] - mine[-1] for c in range(n_classes)] == [
                    its[of_classes[c]] - its[of_classes[-1]] for c in range(n_classes)
                ]


def test_two_classes_are_a_case_of_many():
    for seed in range(40):
        views = random_views(seed, (4, 3, 3), 2, high=6)
        box = box_of(views)
        labels = np.ascontiguousarray(box.enumerate()).reshape(-1)
        found = classes.solve(EnumeratedBox(box.sizes, 2, "label", labels))
        assert found.scores == solve(box).scores


def test_integers_of_any_length(monkeypatch):
    """With 64 bits forbidden the search of violated demands finds the same."""
    for seed in range(40):
        for mode in MODES:
            views = some_views(seed)
            found = classes.solve(box_of(views, mode=mode))
            with monkeypatch.context() as patch:
                patch.setattr(demands, "SMALL", 0)
                assert classes.solve(box_of(views, mode=mode)).scores == found.scores
                problem = classes.demands_of(box_of(views, mode=mode)).demands
                numbers = [7 * k % 5 - 2 for k in range(int(problem.unknowns.offsets[-1]))]
                long = problem.lowest(numbers, 1)
            assert problem.lowest(numbers, 1) == long


def test_a_class_that_never_wins_and_values_without_influence():
    views = Viewset([5, 1, 9], [[[2, 0, 4], [3, 1, 5]], [[5, 1, 9]], [[0, 0, 3], [5, 1, 6], [0, 0, 0]]])
    box = boxes.box(views)
    answers = reference.box(views)
    assert 1 not in box.labels
    found = classes.solve(box)
    assert found.scores == expected(answers, 3)
    assert right(classes.integers(box, found), answers, "label") == len(answers)


def test_one_label_everywhere():
    views = Viewset([1, 1, 8], [[[1, 0, 4], [0, 1, 4]], [[1, 1, 8]]])
    box = boxes.box(views)
    assert set(box.labels.tolist()) == {2}
    found = classes.solve(box)
    # x + y = 1 with the least 2 x^2 + y^2, for each of the two others.
    assert found.scores == (((Fraction(-1, 3),) * 2,) * 2, ((Fraction(-2, 3),) * 2,))
    assert found.levels == ((0, 0), (0,))
    card = classes.integers(box, found)
    assert (card.gap, card.range, card.bits) == (1, 1, 0)


def test_domains_beyond_reach():
    wide = [np.ones((4_000, 4), np.int64) for _ in range(2)]
    with pytest.raises(
        Infeasible, match="16000000 tuples, and with 4 classes the canonical release reaches 10000000"
    ):
        boxes.box(Viewset([4_000] * 4, wide))
    three = [np.ones((110_000, 3), np.int64) for _ in range(2)]
    with pytest.raises(
        Infeasible, match="with 3 classes the canonical release reaches 10000000000 in label mode"
    ):
        boxes.box(Viewset([110_000] * 3, three))
    with pytest.raises(Infeasible, match="the classifier has 128 classes"):
        boxes.box(Viewset([1] * 128, [np.ones((1, 128), np.int64)]))


def test_rounding_is_counted_where_that_is_possible(monkeypatch):
    views = random_views(3, (6, 5, 4), 3)
    box = boxes.box(views, mode="order")
    assert isinstance(box, PairsBox)
    monkeypatch.setattr(classes, "MOST_COMPARED", 100)
    with pytest.raises(Infeasible, match="120 tuples, and the effect of rounding is counted to 100"):
        classes.integers(box, classes.solve(box), bits=1)


def test_lists_are_taken_as_they_are():
    views = random_views(5, (6, 5, 4), 4, high=9)
    codes = np.argwhere(np.ones((6, 5, 4)))[::3]
    for mode in MODES:
        box = box_of(views, mode=mode, tuples=np.concatenate([codes, codes[:3]]))
        assert box.codes.tolist() == codes.tolist()
        answers = {
            key: known for key, known in reference.box(views, mode).items() if list(key) in codes.tolist()
        }
        card = classes.integers(box, classes.solve(box))
        assert right(card, answers, mode) == len(codes)
    with pytest.raises(ValueError, match="tuples: expected at least one, got none"):
        box_of(views, tuples=np.zeros((0, 3), np.int64))


def test_progress_and_repr():
    views = random_views(5, (6, 5, 4), 3)
    seen = []
    for mode in MODES:
        box = boxes.box(views, mode=mode, progress=lambda *at: seen.append(at))
        found = classes.solve(box, progress=lambda *at: seen.append(at))
        classes.integers(box, found, progress=lambda *at: seen.append(at))
        assert "6 x 5 x 4 = 120 tuples, 3 classes, " + mode in repr(box)
    assert len(seen) > 8
    assert all(0 < done <= total for done, total in seen)


@pytest.mark.parametrize(
    ("names", "mode", "most", "n_support"),
    [
        (("education", "occupation", "relationship"), "label", Fraction(37), 100),
        (("education", "occupation", "relationship"), "order", Fraction(94742, 28), 180),
    ],
)
def test_marital_status_of_adult(data, names, mode, most, n_support):
    """The ranges of the weights of least norm, as in docs/mathematics/canonical.md, section 6."""
    views = nbcfast.count(nbcfast.read_csv(data / "adult-train.csv"), "marital_status", names)
    box = box_of(views, mode=mode)
    found = classes.solve(box)
    assert found.range == most
    assert found.support >= n_support
    card = classes.integers(box, found)
    assert classes.differing(box, card) == 0


def test_kernels_refuse_what_does_not_fit():
    above, rank = np.zeros((2, 3), np.int32), np.zeros((4, 3), np.int32)
    with pytest.raises(ValueError, match="expected the pairs of 2 to 127 classes, got 3 pairs and 4 classes"):
        _classes.labels(above, rank, 4, np.zeros((2, 4), np.int8))
    with pytest.raises(ValueError, match="expected ranks of 3 pairs and room for 2 x 4 labels"):
        _classes.labels(above, rank, 3, np.zeros((2, 3), np.int8))
    za, zb = np.zeros((2, 3), np.int64), np.zeros((4, 3), np.int64)
    with pytest.raises(ValueError, match=r"start and stop must be in 0..2, got 1 and 3"):
        _classes.changed(above, rank, False, za, zb, 1, 3)
    with pytest.raises(
        ValueError, match="expected ranks of 3 pairs and totals of 2 and 4 rows and 3 classes"
    ):
        _classes.changed(above, rank, False, zb, zb, 0, 2)
    with pytest.raises(ValueError, match="expected totals of 2 and 4 rows and 3 classes"):
        _classes.changed_labels(np.zeros((2, 4), np.int8), zb, zb)

    def least(known, n_pairs, n=2):
        a, b = np.zeros((n, n_pairs)), np.zeros((4, n_pairs))
        _classes.least(known, a, b, a.copy(), a.astype(np.int32), b.copy(), b.astype(np.int32))

    with pytest.raises(ValueError, match=r"expected C \* \(C - 1\) ordered pairs, got 5"):
        least(np.zeros((2, 4), np.int8), 5)
    with pytest.raises(ValueError, match="expected 2 rows of half a"):
        least(np.zeros((2, 4), np.int8), 6, 3)
    with pytest.raises(ValueError, match="label 3 of 3 classes"):
        least(np.full((2, 4), 3, np.int8), 6)
    with pytest.raises(ValueError, match="label -1 of 3 classes"):
        least(np.full((2, 4), -1, np.int8), 6)
    order, h = np.array([0, 2], np.int32), np.zeros(2)
    with pytest.raises(ValueError, match=r"place 1: index 2 outside 0..1"):
        _classes.prefixes(h, order, np.zeros(3), np.full(3, -1, np.int32))
    with pytest.raises(ValueError, match="at must begin with -1, got 0"):
        _classes.prefixes(h, np.array([0, 1], np.int32), np.zeros(3), np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="expected room for 3 prefixes"):
        _classes.prefixes(h, order, np.zeros(2), np.zeros(3, np.int32))
    one = np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="expected arrays of 2 entries"):
        _classes.sweep(one, one, one, one, one, one[:1], h, np.zeros(2), one.copy())
    with pytest.raises(ValueError, match=r"place 1: index 2 outside 0..1"):
        _classes.sweep(order, one, one, one, one, one, h, np.zeros(2), one.copy())
    with pytest.raises(ValueError, match="expected arrays of 2 entries"):
        _classes.sweep_count(one, one, one[:1], one, one, one, np.zeros(2, np.int64))


@pytest.mark.parametrize("kind", [SweptBox, PairsBox])
def test_large_boxes_hide_all_but_answers(kind, monkeypatch):
    """Other counts with the same answers give the same weights, points and bytes."""
    monkeypatch.setattr(boxes, "MOST_ENUMERATED", 0)
    mode, same = "label" if kind is SweptBox else "order", 0
    for seed in range(how_many(90, 250)):
        draw, views = random.Random(seed), some_views(seed)
        if len(views.classes) > 3 or 0 in views.class_counts:
            continue
        arrays = {name: array.copy() for name, array in views.counts.items()}
        for _ in range(draw.choice((1, 1, 2))):
            array, c = draw.choice(list(arrays.values())), draw.randrange(3)
            loses, gains = draw.randrange(len(array)), draw.randrange(len(array))
            if array[loses, c]:
                array[loses, c] -= 1
                array[gains, c] += 1
        other = Viewset(views.class_counts, arrays)
        one, two = box_of(views, mode=mode), box_of(other, mode=mode)
        assert type(one) is kind
        assert (one == two) == (reference.box(views, mode) == reference.box(other, mode))
        if one != two or views == other:
            continue
        same += 1
        found, its = solve(one), solve(two)
        assert its == found
        assert integers(two, its).to_dict() == integers(one, found).to_dict()
        assert text_of(release(other, 4, preserve=mode)) == text_of(release(views, 4, preserve=mode))
    assert same > how_many(2, 8)


def test_box_without_its_places_is_the_same_box():
    """Equality is of labels: what the sweep is helped by is no part of it."""
    views = random_views(7, (6, 5, 4), 3)
    parts = boxes._in_order((6, 5, 4))
    above, rank = boxes._places(boxes.Plain.of(views), parts, None, None)
    K, L = classes.SweptSides(above, rank).counts()
    box = SweptBox((6, 5, 4), (0, 1, 1), 3, "label", K, L, (above, rank))
    assert box == replace(box, places=(above[:0], rank[:0]))
    assert box != replace(box, K=K[::-1].copy())


def test_longer_points_keep_further_from_ties():
    views = random_views(11, (7, 6, 5), 3)
    for mode in MODES:
        box = box_of(views, mode=mode)
        solution = classes.solve(box)
        card = classes.integers(box, solution, within="1.001")
        assert Fraction(card.range, card.gap) <= Fraction("1.001") * solution.range
        assert right(card, reference.box(views, mode), mode) == 210
        assert mode == "order" or classes.integers(box, solution).scale < card.scale
        assert classes.integers(box, solution, bits=2, within="1.001").bits <= 2
    with pytest.raises(ValueError, match=r"within must be above 1, got 1"):
        classes.integers(box, solution, within=1)


def test_rows_that_are_likely_to_bind(monkeypatch):
    """Many unknowns begin with an interior point; the answer is the same."""
    for seed, (sizes, n_classes) in enumerate(
        [((6, 5, 4), 3), ((9, 8), 4), ((3, 3, 3), 3), ((12,), 5), ((1, 1), 3)]
    ):
        views = random_views(seed, sizes, n_classes)
        for mode in MODES:
            box = box_of(views, mode=mode)
            found = classes.solve(box)
            with monkeypatch.context() as patch:
                patch.setattr(classes, "MANY", 0)
                again = classes.solve(box)
            assert again.scores == found.scores
            assert again.reproducible


def test_interior_kernels():
    draw = np.random.default_rng(1)
    columns = np.array([draw.permutation(7)[:4] for _ in range(20)], np.int32)
    signs = draw.choice([-1, 1], (20, 4)).astype(np.int8)
    columns[3, 1] = columns[8, 0] = -1
    A = np.zeros((20, 7))
    for row, of_row, sign in zip(A, columns, signs, strict=True):
        for column, x in zip(of_row, sign, strict=True):
            if column >= 0:
                row[column] = x
    d, x, values = draw.random(20), draw.random(7), np.empty(20)
    H = np.eye(7)
    _interior.normal(columns, signs, d, H)
    whole = np.eye(7) + A.T @ np.diag(d) @ A
    assert np.allclose(np.tril(H), np.tril(whole), rtol=1e-12)
    _interior.times(columns, signs, x, values)
    assert np.allclose(values, A @ x, rtol=1e-12)
    back = np.ones(7)
    _interior.transposed(columns, signs, d, back)
    assert np.allclose(back, 1 + A.T @ d, rtol=1e-12)
    for width, n_apart in ((7, 0), (1, 0), (7, 1)):
        made = H.copy()
        assert _interior.factor(made, width, n_apart)
        assert np.allclose(np.tril(made), np.linalg.cholesky(whole), rtol=1e-12)
    apart = np.eye(12) * 5 + np.kron(np.eye(4), np.ones((3, 3))) + draw.random((12, 12)) / 9
    apart[:6, :6] *= np.kron(np.eye(2), np.ones((3, 3)))
    apart = np.tril(apart) + np.tril(apart, -1).T
    made = apart.copy()
    assert _interior.factor(made, 3, 2)
    assert np.allclose(np.tril(made), np.linalg.cholesky(apart), rtol=1e-12)
    assert not _interior.factor(-np.eye(4), 2, 0)
    with pytest.raises(
        ValueError, match="expected blocks of width 2, 0 of them apart, in a square, got 7 x 7"
    ):
        _interior.factor(H.copy(), 2, 0)
    solved = x.copy()
    _interior.substitute(np.linalg.cholesky(whole), solved)
    assert np.allclose(whole @ solved, x, rtol=1e-10)
    with pytest.raises(ValueError, match=r"row 2: columns outside -1..6"):
        _interior.times(np.where(np.arange(20)[:, None] == 2, 7, columns).astype(np.int32), signs, x, values)
    with pytest.raises(ValueError, match="expected 19 rows of columns and signs, got 20 and 20"):
        _interior.times(columns, signs, x, values[:19])
    with pytest.raises(ValueError, match="H must be square, got 7 x 8"):
        _interior.normal(columns, signs, d, np.zeros((7, 8)))
    with pytest.raises(ValueError, match="lower must be 7 x 7, got 7 x 8"):
        _interior.substitute(np.zeros((7, 8)), x)
