"""The canonical release's core: boxes, weights and points against enumeration and the exact reference."""

import ast
import inspect
import itertools
import math
import signal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import Viewset, canonical
from nbcfast._box import Separator
from nbcfast._core import dtypes
from nbcfast._core.errors import Infeasible
from nbcfast._solve import Program, System
from nbcfast.canonical import Box, ListedBox, Solution, box, integers, solve
from nbcfast.canonical.boxes.halving import MOST_TUPLES
from nbcfast.canonical.weights.exact import Active, Stuck, corrected, reconstructed
from nbcfast.canonical.weights.levels import Levels, packed, unpacked
from nbcfast.canonical.weights.listed import Listed
from nbcfast.canonical.weights.solver import minimum_norm
from nbcfast.reference import canonical as reference

THOROUGH = pytest.param(20_000, marks=pytest.mark.thorough)


def from_rows(rng, most_attributes=3, most_values=5, most_rows=60):
    """Counts of a few rows: zeros and ties abound."""
    n = int(rng.integers(1, most_attributes + 1))
    sizes = rng.integers(1, most_values + 1, n).tolist()
    rows = int(rng.integers(1, most_rows))
    codes = [rng.integers(0, size, rows) for size in sizes]
    return Viewset.from_codes(codes, rng.integers(0, 2, rows), sizes=sizes, n_classes=2)


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


def weights(solution):
    return [[g for (g,) in of_attribute] for of_attribute in solution.scores]


def total(numbers, codes):
    return sum(row[t] for row, t in zip(numbers, codes, strict=True))


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


def check_card(card, labels):
    points = [array[:, 0].tolist() for array in card.points]
    for codes, label in labels.items():
        assert reference.answer(points, card.constants[0], codes) == label
    assert card.labels(list(labels)).tolist() == list(labels.values())
    assert all(min(row) == 0 for row in points)
    sums = {label: [total(points, codes) for codes in labels if labels[codes] == label] for label in (0, 1)}
    if sums[0] and sums[1]:
        assert card.gap == min(sums[0]) - max(sums[1]) >= 1
        assert card.centre == min(sums[0]) + max(sums[1])
    else:
        assert card.gap is None
    assert card.range == max(abs(2 * x - card.centre) for x in sums[0] + sums[1])
    assert all((2 * x > card.centre) == (label == 0) for label in (0, 1) for x in sums[label])
    assert card.bits == max(max(row) for row in points).bit_length()
    assert card.changed == 0


@pytest.mark.parametrize("number", [1_000, THOROUGH])
def test_rows_of_all_kinds(number):
    rng = np.random.default_rng(1)
    for _ in range(number):
        check(from_rows(rng))


@pytest.mark.parametrize("number", [700, THOROUGH])
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
    for _ in range(150):
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
    assert moved > 100


def test_renaming_and_permuting():
    """The weights go with the values, whatever half they land in, and nothing else changes."""
    rng = np.random.default_rng(5)
    for _ in range(200):
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


# What a module after the box may import besides modules after the box.
PLAIN = {
    *(f"_core.dtypes.{name}" for name in dir(dtypes)),
    "_core.errors.Infeasible",
    "_core.errors.expect",
    "_core.threads.Progress",
    "_core.untyped.Document",
    "_core.untyped.Exact",
    "_wire.messages.short",
    "_core.numbers.exact",
}
AFTER_THE_BOX = {
    "boxes.decided": set(),
    "boxes.halving": {"_halves.split.MOST_HALF", "_halves.split.Split", "_halves.split.split"},
    "boxes.sides": {"_classes"},
    "boxes.types": {"_halves.codes.unravelled"},
    "budget": set(),
    # Its views are those that `boxed` is given: counts to be published, and names without any.
    "from_answers": {
        "_rounding.rows.Rounded",
        "_rounding.rows.RowsArgument",
        "_rounding.rows.Short",
        "published.release.Canonical",
        "published.release.Certificate",
        "published.release.PublicList",
        "published.release.Release",
        "views.Viewset",
    },
    # It makes the counts that are published, and compares these.
    "rounding": {
        "_halves.codes.unravelled",
        "_rounding.apportion.Counted",
        "_rounding.apportion.round_up",
        "_rounding.apportion.viewset",
        "_rounding.rows.RowSearch",
        "_rounding.rows.Rounded",
        "_rounding.rows.RowsArgument",
        "_rounding.rows.least_rows",
        "_rounding.rows.longer",
        "_rounding.rows.unsafe",
        "_rounding.search.MOST_ROWS",
        "_rounding.search.Nearest",
        "safety",
        "_core.numbers.number_text",
        "views.Viewset",
    },
    "row_shares": {
        "_rounding.apportion.Counted",
        "_rounding.apportion.apportioned",
        "_rounding.apportion.round_up",
    },
    "weights.exact": {"_solve.System"},
    "weights.interior": {"_interior"},
    "weights.levels": {
        "_box.MOST_ATTRIBUTES",
        "_box.Separator",
        "_halves.codes.summed",
        "_margin.dominance",
    },
    "weights.listed": set(),
    "weights.results": set(),
    "weights.scorecard": set(),
    "weights.several": set(),
    "weights.solve": set(),
    "weights.solver": {"_solve.Program"},
    "weights.violated": {"_halves.codes.unravelled"},
}
SEE_VIEWS = {
    "boxes.box",
    "boxes.ranked",
    "arguments",
    "leak",
    "leave_one_out",
    "publish",
    "ratio_intervals",
}


def test_nothing_after_the_box_can_see_counts():
    """By signature, by import and by behaviour."""
    assert list(inspect.signature(solve).parameters) == ["box", "progress"]
    assert list(inspect.signature(integers).parameters) == ["box", "solution", "bits", "within", "progress"]
    assert list(Box.__dataclass_fields__) == ["sizes", "half", "n_classes", "mode", "K", "L"]
    folder = Path(canonical.__file__).parent
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for path in folder.rglob("*.py")
        if path.stem != "__init__"
    }
    assert set(files) == SEE_VIEWS | set(AFTER_THE_BOX)
    for name, allowed in AFTER_THE_BOX.items():
        tree = ast.parse(files[name].read_text(encoding="utf-8"))
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                found = {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found = {alias.name for alias in node.names}
            else:
                continue
            imported |= {entry.removeprefix("nbcfast.") for entry in found if entry.startswith("nbcfast")}
        own = {entry for entry in imported if entry.startswith("canonical.")}
        seen = [entry.removeprefix("canonical.") for entry in own]
        assert all(any(f"{entry}.".startswith(f"{after}.") for after in AFTER_THE_BOX) for entry in seen), (
            name
        )
        assert imported - own - PLAIN == allowed, name
    # A box that was never counted: label 0 where a + b >= 2, of three values each.
    made = Box((3, 3), (0, 1), 2, "label", np.array([1, 2, 3]), np.array([1, 2, 3]))
    assert made.enumerate().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert weights(solve(made)) == reference.solve(
        {c: int(sum(c) < 2) for c in itertools.product(range(3), repeat=2)}
    )


def test_a_box_that_no_classifier_has_is_refused():
    counts = np.array([1, 3, 3, 1]), np.array([1, 3, 3, 1])
    with pytest.raises(ValueError, match="expected K and L of one classifier"):
        solve(Box((2, 2, 2, 2), (0, 0, 1, 1), 2, "label", *counts))


def test_the_proof_of_the_optimum():
    """Multipliers of at least 0 that make up the weights, and no tuple below 1: nothing else can be least."""
    rng = np.random.default_rng(16)
    for sizes in ([2] * 10, [3] * 6, [12, 12, 12], [40, 30], [5, 4, 3, 2, 6], [300, 2]):
        for rows in (30, 3_000):
            codes = [rng.integers(0, size, rows) for size in sizes]
            lean = sum(rng.normal(size=size)[code] for size, code in zip(sizes, codes, strict=True))
            labels = (lean + rng.normal(size=rows) > 0).astype(int)
            views = Viewset.from_codes(codes, labels, sizes=sizes, n_classes=2)
            found = box(views)
            oracle = Levels(found)
            best = minimum_norm(oracle.weights, oracle.width, oracle)
            assert best.exact
            assert min(best.multipliers) >= 0
            pulled = [Fraction(0)] * len(oracle.weights)
            for row, sign, u in zip(
                best.columns.tolist(), best.signs.tolist(), best.multipliers, strict=True
            ):
                for v, s in zip(row, sign, strict=True):
                    pulled[v] += s * u
                assert sum(s * best.numbers[v] for v, s in zip(row, sign, strict=True)) == best.denominator
            g = [Fraction(number, best.denominator) for number in best.numbers]
            assert [int(w) * x for w, x in zip(oracle.weights, g, strict=True)] == pulled
            scaled = [np.array(row, object) for row in oracle.per_value(best.numbers)]
            totals = np.zeros((), object)
            for row in scaled:
                totals = np.add.outer(totals, row)
            signed = totals * (1 - 2 * found.enumerate().astype(int))
            assert signed.min() >= best.denominator
            exact = reference_labels(views)
            assert np.array_equal(found.enumerate(), exact)


def reference_labels(views):
    """Labels of all tuples by products of Python integers."""
    n = len(views.attributes)
    score = []
    for c in (0, 1):
        product = np.array(
            Fraction(int(views.class_counts[c])) ** (1 - n) if views.class_counts[c] else 0, object
        )
        for name in views.attributes:
            product = np.multiply.outer(product, views.counts[name][:, c].astype(object))
        score.append(product)
    return (score[0] <= score[1]).astype(np.int8)


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
    for _ in range(250):
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


def test_contradicting_labels_have_no_weights():
    codes = np.array(list(itertools.product(range(2), repeat=2)))
    with pytest.raises(ValueError, match="contradict"):
        solve(ListedBox((2, 2), 2, "label", codes, np.array([0, 1, 1, 0], np.int8)))
    views = Viewset([1, 1], [[[1, 1]]])
    with pytest.raises(ValueError, match="tuples: expected at least one, got none"):
        box(views, tuples=np.zeros((0, 1), int))
    with pytest.raises(ValueError, match=r"codes must have shape \(tuples, 1\), got \(3,\)"):
        box(views, tuples=[0, 0, 0])


def test_the_exact_stage_mends_any_start():
    """From no rows, from random ones, and from many that depend on each other, it ends at the one optimum."""
    rng = np.random.default_rng(10)
    for _ in range(60):
        views = from_rows(rng)
        found = box(views)
        oracle = Levels(found)
        expected = solve(found)
        rows, signs = Listed(box(views, tuples=np.array(list(reference.box(views))))).exactly(
            [0] * sum(found.sizes), 1
        )
        starts = np.concatenate([[0], np.cumsum(found.sizes)])
        level = np.concatenate([np.array(row) for row in oracle.levels()])
        columns = np.array([[level[v] for v in row] for row in rows.tolist()], np.int32)
        assert columns.max() < starts[-1]
        for most in (0, 2, len(columns)):
            start = rng.permutation(len(columns))[:most]
            active = Active(oracle.weights, columns[start], signs[start])
            exact, last = corrected(active, oracle, 10_000)
            assert min(exact.multipliers) >= 0
            assert len(last) == len(exact.multipliers)
            g = oracle.per_value([Fraction(x, exact.denominator) for x in exact.g])
            assert g == weights(expected)
    with pytest.raises(Stuck):
        corrected(Active(oracle.weights, columns[:0], signs[:0]), oracle, 0)


def test_without_the_exact_stage_weights_are_feasible(monkeypatch):
    def stuck(*_):
        raise Stuck

    monkeypatch.setattr("nbcfast.canonical.weights.solver.corrected", stuck)
    rng = np.random.default_rng(11)
    for _ in range(150):
        views = from_rows(rng)
        labels = reference.box(views)
        found = box(views)
        solution = solve(found)
        assert not solution.reproducible
        g = weights(solution)
        signed = [total(g, codes) * (1 - 2 * label) for codes, label in labels.items()]
        assert solution.margin == min(signed) >= 1
        assert solution.range == max(map(abs, signed))
        assert float(solution.range) == pytest.approx(float(reference_range(labels)), rel=1e-3)
        check_card(integers(found, solution), labels)


def reference_range(labels):
    g = reference.solve(labels)
    return max(abs(total(g, codes)) for codes in labels)


def test_long_numbers_are_separated_as_short_ones_are():
    rng = np.random.default_rng(12)
    for _ in range(150):
        oracle = Levels(box(from_rows(rng)))
        numbers = rng.integers(-9, 10, len(oracle.weights)).tolist()
        for limit in (-5, 0, 3, 100):
            (rows, signs), *lowest = oracle.extremes(numbers, limit)
            (few, its), *same = oracle._extremes_of_long(oracle.leaned(numbers), limit)
            assert same == lowest
            assert (len(few) > 0) == (len(rows) > 0)
            listed = {(*row, sign[0]) for row, sign in zip(rows.tolist(), signs.tolist(), strict=True)}
            values = {sign: [] for sign in (1, -1)}
            for row in listed:
                values[row[-1]].append(row[-1] * sum(numbers[v] for v in row[:-1]))
            for row, sign in zip(few.tolist(), its.tolist(), strict=True):
                assert sign[0] * sum(numbers[v] for v in row) == min(values[sign[0]])
            large = 3**90
            (again, _), *lowest_too = oracle.extremes([x * large + 1 for x in numbers], limit * large)
            by_hand = oracle.extremes([x * large + 1 for x in numbers], -(10**60))[1:]
            assert lowest_too == list(by_hand)
            assert len(again) <= max(2, len(rows) + len(oracle.weights))


def test_separation_finds_the_worst_tuple_of_each_value():
    rng = np.random.default_rng(13)
    for _ in range(120):
        views = from_rows(rng)
        labels = reference.box(views)
        oracle = Levels(box(views))
        g = rng.integers(-4, 5, len(oracle.weights)).astype(float)
        limit = float(rng.integers(-3, 4))
        columns, signs, lowest = oracle.violated(g, limit)
        rows = oracle.per_value(g.tolist())
        values = {codes: (1 - 2 * label) * total(rows, codes) for codes, label in labels.items()}
        assert lowest == min(values.values())
        level = oracle.levels()
        found = {}
        for row, sign in zip(columns.tolist(), signs.tolist(), strict=True):
            assert len(set(sign)) == 1
            assert sum(g[v] for v in row) * sign[0] < limit
            for v in row:
                key = (v, sign[0])
                found[key] = min(found.get(key, math.inf), sum(g[v] for v in row) * sign[0])
        expected = {}
        for codes, value in values.items():
            if value < limit:
                for i, t in enumerate(codes):
                    key = (level[i][t], 1 - 2 * labels[codes])
                    expected[key] = min(expected.get(key, math.inf), value)
        assert found == expected


def test_digits_solve_equations():
    """Against elimination in Fractions, with right sides of any sign."""
    rng = np.random.default_rng(14)
    regular = 0
    for _ in range(200):
        n, width = int(rng.integers(2, 9)), 2
        q = int(rng.integers(0, n))
        columns = np.array([rng.permutation(n)[:width] for _ in range(q)], np.int32).reshape(q, width)
        signs = rng.choice([-1, 1], (q, width)).astype(np.int8)
        w = rng.integers(1, 2_000, n)
        first, second = rng.integers(-9, 10, n), rng.integers(-9, 10, q)
        active = Active(w, columns, signs).independent()
        if len(active) < q:
            assert rank(columns, signs, n) < q
            continue
        regular += 1
        found = active.solved(first, second)
        g = [Fraction(x, found.denominator) for x in found.g]
        mu = [Fraction(x, found.denominator) for x in found.multipliers]
        for row, sign, x in zip(columns.tolist(), signs.tolist(), second.tolist(), strict=True):
            assert sum(s * g[v] for v, s in zip(row, sign, strict=True)) == x
        for v in range(n):
            pulled = sum(
                s * u
                for row, sign, u in zip(columns.tolist(), signs.tolist(), mu, strict=True)
                for at, s in zip(row, sign, strict=True)
                if at == v
            )
            assert int(w[v]) * g[v] - pulled == int(first[v])
    assert regular > 100


def rank(columns, signs, n):
    matrix = np.zeros((len(columns), n))
    for k, (row, sign) in enumerate(zip(columns, signs, strict=True)):
        matrix[k, row] = sign
    return np.linalg.matrix_rank(matrix)


def test_fractions_come_back_from_digits():
    prime, numbers = 2147483647, [Fraction(-3, 7), Fraction(10**20, 21), Fraction(5), Fraction(0)]
    for n_digits, known in ((2, False), (8, True)):
        digits = np.array(
            [
                [
                    x.numerator
                    * pow(x.denominator, -1, prime**n_digits)
                    % prime**n_digits
                    // prime**k
                    % prime
                    for x in numbers
                ]
                for k in range(n_digits)
            ]
        )
        found = reconstructed(digits, prime)
        if known:
            assert [Fraction(x, found[1]) for x in found[0]] == numbers
        else:
            assert found is None or [Fraction(x, found[1]) for x in found[0]] != numbers
    for number in (0, 1, -1, 2**63, -(2**63), 2**126, -(2**126) + 1):
        assert unpacked(packed([number])[0]) == number


def test_kernels_refuse_what_does_not_fit():
    one, two = np.array([1, 0], np.int32), np.array([2], np.int32)
    side = (np.array([1, 0], np.int32), np.array([0, 1], np.int32), two)
    good = Separator(*side, *side)
    found = np.zeros((4, 2, 2), np.int32)
    assert good.separate(np.array([1.0, 2.0, 3.0, 4.0]), 0.0, found) == (4.0, -6.0)
    with pytest.raises(ValueError, match="2 counts but an order of 1"):
        Separator(one, two, two, *side)
    with pytest.raises(ValueError, match="place 0: count 3 of 2"):
        Separator(np.array([3, 0], np.int32), side[1], two, *side)
    with pytest.raises(ValueError, match="product 3, expected 2"):
        Separator(side[0], side[1], np.array([3], np.int32), *side)
    with pytest.raises(ValueError, match="must be positive"):
        Separator(side[0], side[1], np.array([0], np.int32), *side)
    with pytest.raises(ValueError, match="numbers must be 4, got 3"):
        good.separate(np.zeros(3), 0.0, found)
    with pytest.raises(ValueError, match=r"found must have shape \(4, 2, 2\), got \(3, 2, 2\)"):
        good.separate(np.zeros(4), 0.0, found[:3])
    with pytest.raises(ValueError, match="two words"):
        good.separate_exactly(
            np.zeros((4, 3), np.uint64), np.zeros(2, np.uint64), found, np.zeros((2, 2), np.uint64)
        )
    columns, signs = np.zeros((1, 1), np.int32), np.ones((1, 1), np.int8)
    with pytest.raises(ValueError, match="got 0 and 1"):
        Program(np.zeros(0), 1, 0.0)
    program = Program(np.ones(2), 1, 0.0)
    with pytest.raises(ValueError, match=r"row 0: column 2 outside 0\.\.1"):
        program.add(columns + 2, signs)
    with pytest.raises(ValueError, match="rows must have 1 columns and signs"):
        program.add(columns, np.ones((2, 1), np.int8))
    program.add(columns, signs)
    assert program.solve(0.0, 10, 10) == 0
    assert program.weights().tolist() == [1.0, 0.0]
    program.add(columns, -signs)
    assert program.solve(0.0, 10, 10) == 2
    w = np.array([1, 2])
    with pytest.raises(ValueError, match="prime must be 3"):
        System(w, columns, signs, 2)
    with pytest.raises(ValueError, match=r"weight 1 must be 1\.\.4, got 5"):
        System(np.array([1, 5]), columns, signs, 5)
    with pytest.raises(ValueError, match="row 0: column 2 of 2"):
        System(w, columns + 2, signs, 7)
    twice = System(w, np.zeros((2, 1), np.int32), np.ones((2, 1), np.int8), 101)
    assert twice.dependent == 1
    with pytest.raises(ValueError, match="row 1 depends"):
        twice.digits(np.zeros((1, 4), np.int64))
    system = System(w, columns, signs, 101)
    with pytest.raises(ValueError, match="right sides must be 2 and 1 numbers"):
        system.start(np.zeros(1, np.int64), np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="out must have 3 columns, got 2"):
        system.digits(np.zeros((1, 2), np.int64))


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
