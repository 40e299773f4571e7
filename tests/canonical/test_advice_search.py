"""The search over all combinations of options: against the plain reference, and against nbcfast.count."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.canonical.advice import leaf_costs, option_terms, search
from nbcfast.canonical.advice.search import Candidates, Loss
from nbcfast.reference import advice as reference
from nbcfast.views.quality import evaluate

SEED = 20261119


@st.composite
def menus(draw):
    """Codes, classes and maps, with as many classes, weights and folds."""
    n_classes = draw(st.integers(2, 4))
    maps = []
    for _ in range(draw(st.integers(1, 4))):
        n_codes = draw(st.integers(1, 4))
        option = st.lists(st.integers(0, n_codes - 1), min_size=n_codes, max_size=n_codes)
        options = draw(st.lists(option, min_size=1, max_size=3))
        if draw(st.booleans()):
            options.insert(draw(st.integers(0, len(options))), None)
        maps.append(options)
    row = st.tuples(
        st.integers(0, n_classes - 1),
        st.integers(1, draw(st.sampled_from([1, 3, 10**6]))),
        *(st.integers(0, len(next(m for m in options if m is not None)) - 1) for options in maps),
    )
    rows = draw(st.lists(row, min_size=1, max_size=14))
    codes = [list(values) for _, _, *values in rows]
    weights = [weight for _, weight, *_ in rows]
    return codes, [c for c, *_ in rows], maps, n_classes, weights, draw(st.sampled_from([0, 2, 5]))


def units(loss, bits):
    return loss.infinite, round(loss.finite * 2.0**bits)


def order_of(leaves):
    return list(leaves.best_first())


@given(menus())
def test_every_combination_equals_the_reference(menu):
    codes, classes, maps, n_classes, weights, folds = menu
    candidates = Candidates(codes, classes, maps, n_classes, weights=weights, folds=folds)
    rows = reference.dealt(reference.distinct(codes, classes, maps, weights), folds)
    assert candidates.rows == sum(weights)
    assert candidates.n_distinct == len(rows)
    bits = candidates.bits
    for leaf in reference.leaves(maps):
        assert candidates.correct(leaf) == reference.correct(rows, leaf, n_classes, folds)
        assert units(candidates.loss(leaf), bits) == reference.losses(rows, leaf, n_classes, folds, bits)
        assert candidates.tuples(leaf) == reference.tuples(maps, leaf)


@given(menus())
def test_the_order_equals_the_references(menu):
    codes, classes, maps, n_classes, weights, folds = menu
    candidates = Candidates(codes, classes, maps, n_classes, weights=weights, folds=folds)
    known = {"weights": weights, "folds": folds, "bits": candidates.bits, "dropped": candidates.dropped_bits}
    expected = reference.best_first(codes, classes, maps, n_classes, **known)
    assert order_of(candidates.search()) == expected
    found = [(leaf, units(loss, candidates.bits)) for leaf, loss in order_of(candidates.search("log-loss"))]
    assert found == reference.best_first(codes, classes, maps, n_classes, by="log-loss", **known)


def drawn(seed, n_rows=300, n_classes=2, n_attributes=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, n_attributes)
    classes = rng.integers(0, n_classes, n_rows)
    codes = np.stack([(rng.integers(0, n, n_rows) + classes) % n for n in sizes], axis=1)
    maps = [[np.arange(n), np.arange(n) // 2, np.arange(n) // 3, None] for n in sizes]
    return codes, classes, maps, n_classes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by", ["correct", "log-loss"])
def test_no_order_of_rows_and_no_thread_changes_anything(n_classes, by):
    codes, classes, maps, _ = drawn(SEED, n_classes=n_classes)
    expected = order_of(Candidates(codes, classes, maps, n_classes).search(by, threads=1))
    assert len(expected) == 4**4 - 1
    shuffled = np.random.default_rng(1).permutation(len(codes))
    again = Candidates(codes[shuffled], classes[shuffled], maps, n_classes)
    assert order_of(again.search(by, threads=3)) == expected
    tuples = Counter(map(tuple, np.column_stack([classes, codes]).tolist()))
    rows = np.array(list(tuples))
    weighted = Candidates(rows[:, 1:], rows[:, 0], maps, n_classes, weights=list(tuples.values()))
    assert order_of(weighted.search(by)) == expected
    # Numbers of raw codes are nobody's business.
    renamed = [[None if m is None else m[::-1] for m in options] for options in maps]
    mirrored = np.array([len(options[0]) - 1 for options in maps]) - codes
    assert order_of(Candidates(mirrored, classes, renamed, n_classes).search(by)) == expected


@pytest.mark.parametrize("by", ["correct", "log-loss"])
def test_no_cut_of_the_work_changes_anything(by, monkeypatch):
    candidates = Candidates(*drawn(SEED))
    expected = order_of(candidates.search(by))
    monkeypatch.setattr(leaf_costs, "ROWS_A_PIECE", 1)
    monkeypatch.setattr(leaf_costs, "LOSSES_A_PIECE", 10_000)
    monkeypatch.setattr(search, "FIRST_BLOCK", 2)
    monkeypatch.setattr(search, "MOST_BLOCK", 7)
    monkeypatch.setattr(search, "LOOKED_AT", 10)
    assert order_of(candidates.search(by)) == expected
    # Rows collapsed for the options of one attribute, of two, of all but one.
    for worth in (30, 100, 300, 1000, 1e12):
        monkeypatch.setattr(leaf_costs, "WORTH_COLLAPSING", worth)
        assert order_of(candidates.search(by, threads=2)) == expected
    assert all(
        (candidates.correct(leaf) if by == "correct" else candidates.loss(leaf)) == utility
        for leaf, utility in expected
    )


def test_progress_ends_at_the_number_of_combinations():
    told = []
    Candidates(*drawn(SEED)).search(threads=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (256, 256)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_folds_are_dealt_round_robin_in_sorted_order():
    rows = option_terms.dealt((np.array([0, 1, 2, 0]),), np.array([0, 0, 0, 1]), np.array([1, 3, 1, 2]), 2)
    found = zip(rows.classes, rows.codes[0], rows.folds, rows.weights, strict=True)
    assert [tuple(map(int, row)) for row in found] == [
        (0, 0, 0, 1),
        (0, 1, 0, 1),
        (0, 1, 1, 2),
        (0, 2, 0, 1),
        (1, 0, 0, 1),
        (1, 0, 1, 1),
    ]


def test_rows_are_judged_by_the_other_folds():
    # In-sample each row has its own value, and all are right; held out the class of one's value is unknown.
    codes, classes = [[0], [1], [2], [3]], [0, 0, 1, 1]
    maps = [[[0, 1, 2, 3], [0, 0, 1, 1]]]
    inside = Candidates(codes, classes, maps, 2, folds=0)
    assert (inside.correct((0,)), inside.correct((1,))) == (4, 4)
    outside = Candidates(codes, classes, maps, 2, folds=2)
    # All counts of its value are zero: both classes have X = 0, and the later one is predicted.
    assert (outside.correct((0,)), outside.correct((1,))) == (2, 4)
    assert outside.loss((0,)) == Loss(4, 0.0)


def test_ties_go_to_the_later_class():
    codes, maps = [[0], [0]], [[[0], None]]
    for n_classes in (2, 3):
        for pair in itertools.combinations(range(n_classes), 2):
            assert Candidates(codes, pair, maps, n_classes, folds=0).correct((0,)) == 1
    weighted = Candidates([[0], [0]], [0, 1], maps, 2, weights=[3, 3], folds=0)
    assert weighted.correct((0,)) == 3
    assert Candidates([[0], [0]], [0, 1], maps, 2, weights=[5, 3], folds=0).correct((0,)) == 5


@pytest.mark.parametrize("swapped", [False, True])
def test_scores_that_no_float_can_tell_apart_are_compared_exactly(swapped):
    """Products of three counts that differ by 1, and are about 10^12."""
    rng = np.random.default_rng(SEED)
    for _ in range(60):
        a, b, c, d = (2 * rng.integers(500, 3_000, 4) + [1, 1, 0, 0]).tolist()
        if math.gcd(a * b, c * d) > 1:
            continue
        e = pow(a * b, -1, c * d)
        triples = [(a, b, e), (c, d, (a * b * e - 1) // (c * d))]
        n_rows = 2 * max(map(max, triples))
        rows = []
        for label, counts in enumerate(triples[::-1] if swapped else triples):
            # One or two rows have value 0 everywhere, the others of a count in its attribute alone.
            n_zeros = 1 + label
            rows.append((label, (0, 0, 0), n_zeros))
            rows += [(label, tuple(int(i != k) for k in range(3)), counts[i] - n_zeros) for i in range(3)]
            rows.append((label, (1, 1, 1), 4 * n_rows - sum(counts) + 2 * n_zeros))
        classes, codes, weights = zip(*rows, strict=True)
        maps = [[[0, 1]]] * 3
        candidates = Candidates(codes, classes, maps, 2, weights=weights, folds=0)
        copies = reference.dealt(reference.distinct(codes, classes, maps, weights), 0)
        assert candidates.correct((0, 0, 0)) == reference.correct(copies, (0, 0, 0), 2, 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_attributes_of_nearly_equal_scores(n_classes):
    rng = np.random.default_rng(SEED)
    codes = rng.integers(0, 2, (40, 40))
    classes = rng.integers(0, n_classes, 40)
    maps = [[[0, 1]] for _ in range(38)] + [[[0, 1], None]] * 2
    # Each tuple once more in every other class: all scores of a value are nearly equal, many are.
    codes, classes = np.repeat(codes, n_classes, axis=0), np.tile(np.arange(n_classes), 40)
    weights = rng.integers(1, 3, len(codes))
    candidates = Candidates(codes, classes, maps, n_classes, weights=weights, folds=0)
    rows = reference.dealt(reference.distinct(codes, classes, maps, weights), 0)
    for leaf in reference.leaves(maps):
        assert candidates.correct(leaf) == reference.correct(rows, leaf, n_classes, 0)
        expected = reference.losses(rows, leaf, n_classes, 0, candidates.bits)
        assert units(candidates.loss(leaf), candidates.bits) == expected


@pytest.mark.parametrize("weight", [1, 2**20, 2**33])
def test_weights_of_any_size(weight):
    codes, classes, maps, n_classes = drawn(SEED, n_rows=60, n_attributes=3)
    plain = Candidates(codes, classes, maps, n_classes, folds=0)
    heavy = Candidates(codes, classes, maps, n_classes, folds=0, weights=np.full(60, weight))
    for leaf in ((0, 1, 2), (3, 0, 0), (2, 2, 3)):
        assert heavy.correct(leaf) == weight * plain.correct(leaf)
        one, all_of_them = plain.loss(leaf), heavy.loss(leaf)
        assert all_of_them.infinite == weight * one.infinite
        assert all_of_them.finite / weight == pytest.approx(one.finite, abs=60 * 2.0**-heavy.bits)
    pairs = zip(plain.search().best_first(), heavy.search().best_first(), strict=True)
    assert all(a == b and weight * n == m for (a, n), (b, m) in pairs)
    # Losses may be kept in fewer bits than they have been added up with.
    order = [leaf for leaf, _ in itertools.islice(heavy.search("log-loss").best_first(), 5)]
    assert heavy.loss(order[0]) <= min(map(heavy.loss, order))


def test_fewer_tuples_come_first_and_then_the_menus_order():
    codes, classes = [[0, 0], [1, 0], [0, 0], [1, 0]], [0, 1, 0, 1]
    maps = [[[0, 1], [0, 1], [1, 0]], [[0], None]]
    candidates = Candidates(codes, classes, maps, 2, folds=0, n_values=[[3, 2, 2], [2, None]])
    expected = [(1, 1), (2, 1), (0, 1), (1, 0), (2, 0), (0, 0)]
    assert order_of(candidates.search()) == [(leaf, 4) for leaf in expected]
    assert candidates.tuples((0, 0)) == 6


def test_numbers_of_tuples_beyond_64_bits_are_alike():
    maps = [[[0, 1], None]] * 3
    sizes = [[2**40, None]] * 3
    candidates = Candidates([[0, 0, 0], [1, 1, 1]], [0, 1], maps, 2, folds=0, n_values=sizes)
    assert candidates.tuples((0, 0, 0)) == 2**120
    assert [leaf for leaf, _ in candidates.search().best_first()] == [
        *((0, 1, 1), (1, 0, 1), (1, 1, 0)),
        *((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)),
    ]


@pytest.mark.parametrize("by", ["correct", "log-loss"])
def test_a_beam_finds_what_it_keeps_and_says_so(by, monkeypatch):
    candidates = Candidates(*drawn(SEED, n_attributes=5))
    everything = candidates.search(by)
    assert everything.exhaustive
    assert everything.n_leaves == 4**5 - 1
    monkeypatch.setattr(search, "MOST_LEAVES", 100)
    monkeypatch.setattr(leaf_costs, "BEAM_LEAVES", 4)
    # As wide as the menu the beam loses nothing.
    wide = candidates.search(by, threads=2)
    assert not wide.exhaustive
    assert order_of(wide) == order_of(everything)
    monkeypatch.setattr(leaf_costs, "BEAM_WIDTH", 3)
    told = []
    narrow = candidates.search(by, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4 + 3 * 4 * 4,) * 2
    worth = dict(everything.best_first())
    found = order_of(narrow)
    # Of the first attribute four; then of three choices that go on four each, of which one leaves out the
    # next attribute and is there already; that which leaves out all of them is no domain.
    assert narrow.n_leaves == len(found) == 4 + 4 * 3 * 3 - 1
    assert all(worth[leaf] == utility for leaf, utility in found)
    codes, classes, maps, _ = drawn(SEED, n_attributes=5)
    backwards = Candidates(codes[::-1], classes[::-1], maps, 2)
    assert order_of(backwards.search(by, threads=3)) == found


def test_polynomials_are_as_close_as_they_say():
    xs = np.linspace(-64, 0, 20_001).tolist()
    assert max(abs(reference.power(x) - math.exp(x)) for x in xs) < 3e-9
    shares = np.linspace(0, 1, 20_001).tolist()
    assert max(abs(reference.logarithm_of_two(s) - math.log1p(s)) for s in shares) < 4e-9
    numbers = np.exp(np.linspace(-0.1, 12, 20_001)).tolist()
    assert max(abs(reference.logarithm(y) - math.log(y)) for y in numbers) < 1e-9


@pytest.mark.parametrize("n_classes", [2, 5])
def test_losses_are_those_of_evaluate(n_classes):
    codes, classes, maps, _ = drawn(SEED, n_rows=5_000, n_classes=n_classes)
    candidates = Candidates(codes, classes, maps, n_classes, folds=0)
    for leaf in ((0, 1, 2, 3), (1, 1, 0, 0)):
        table = table_of(codes, classes, maps, leaf)
        quality = evaluate(nbcfast.count(table, "class"), table, "class")
        loss = candidates.loss(leaf)
        assert candidates.correct(leaf) == quality.correct
        assert loss.infinite == 0
        assert loss.finite / candidates.rows == pytest.approx(quality.log_loss, abs=2e-8)


def table_of(codes, classes, maps, leaf):
    columns = {
        str(a): options[o][codes[:, a]]
        for a, (options, o) in enumerate(zip(maps, leaf, strict=True))
        if options[o] is not None
    }
    return nbcfast.Table({**columns, "class": classes})


def mapped(value, option):
    """The value of an option, as the menu writes it."""
    if "groups" in option:
        return next(i for i, values in enumerate(option["groups"].values()) if value in values)
    if "edges" in option:
        return sum(edge is not None and int(value) >= edge for edge in option["edges"][1:])
    return [str(v) for v in option["values"]].index(value)


@pytest.fixture(scope="module")
def adult(data):
    if not (data / "adult-menu.json").is_file():
        pytest.skip("needs adult-menu.json among the public data sets")
    menu = json.loads((data / "adult-menu.json").read_text(encoding="utf-8"))
    lines = (data / "adult-train.csv").read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    columns = dict(zip(names, zip(*(line.split(",") for line in lines[1:]), strict=True), strict=True))
    codes, maps = [], []
    for name, options in menu.items():
        values, places = np.unique(columns[name], return_inverse=True)
        codes.append(places)
        maps.append(
            [None if "out" in option else np.array([mapped(v, option) for v in values]) for option in options]
        )
    classes = np.array([income == ">50K" for income in columns["income"]]).astype(np.int64)
    return np.stack(codes, axis=1), classes, maps, list(menu)


def test_combinations_of_adult_are_worth_what_evaluate_says(adult):
    codes, classes, maps, _ = adult
    candidates = Candidates(codes, classes, maps, 2, folds=0)
    assert (candidates.n_choices, candidates.rows) == (345_600, 32_561)
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        leaf = tuple(int(rng.integers(len(options))) for options in maps)
        table = table_of(codes, classes, maps, leaf)
        quality = evaluate(nbcfast.count(table, "class"), table, "class")
        assert candidates.correct(leaf) == quality.correct
        loss = candidates.loss(leaf)
        if loss.infinite:
            assert quality.log_loss == math.inf
        else:
            assert loss.finite / candidates.rows == pytest.approx(quality.log_loss, abs=2e-8)


def test_the_best_domain_of_adult_has_640_tuples(adult):
    codes, classes, maps, names = adult
    sizes = {"age": 4, "education": 4, "occupation": 5, "capital_gain": 4, "relationship": 2}
    leaf = tuple(
        next(o for o, m in enumerate(options) if (0 if m is None else m.max() + 1) == sizes.get(name, 0))
        for name, options in zip(names, maps, strict=True)
    )
    candidates = Candidates(codes, classes, maps, 2, folds=0)
    leaves = candidates.search()
    assert leaves.exhaustive
    assert leaves.n_leaves == 345_599
    assert next(leaves.best_first()) == (leaf, 27_678)
    assert candidates.tuples(leaf) == 640
    assert round(27_678 / candidates.rows, 4) == 0.85
    # The same for rows in another order.
    order = np.random.default_rng(1).permutation(len(codes))
    again = Candidates(codes[order], classes[order], maps, 2, folds=0).search(threads=1)
    assert list(itertools.islice(again.best_first(), 100)) == list(itertools.islice(leaves.best_first(), 100))


GOOD = {"codes": [[0], [1]], "class_codes": [0, 1], "maps": [[[0, 1], None]], "n_classes": 2}


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"codes": [0, 1]}, ValueError, "codes must be an array of dimension 2, got 1"),
        ({"codes": [[0.5], [1]]}, TypeError, "codes must be integers, got an array of float64"),
        ({"codes": [[0], [2]]}, ValueError, "codes of attribute 0 must be 0..1, got 2"),
        ({"codes": [[-1], [1]]}, ValueError, "codes of attribute 0 must be 0..1, got -1"),
        ({"codes": np.array([[2**63], [1]], np.uint64)}, ValueError, r"codes must be below 2\^63, got 9223"),
        ({"codes": np.zeros((0, 1), int), "class_codes": []}, ValueError, "codes: no rows"),
        ({"class_codes": [0, 2]}, ValueError, "class_codes must be 0..1, got 2"),
        ({"class_codes": [0]}, ValueError, "codes has 2 rows, class_codes 1"),
        ({"maps": []}, ValueError, "maps must be of the 1 attributes of codes, and at least 1, got 0"),
        ({"maps": [[]]}, ValueError, r"maps\[0\] must have an option, got none"),
        (
            {"maps": [[None, [0, 1], None]]},
            ValueError,
            r"maps\[0\] must leave the attribute out in one",
        ),
        (
            {"maps": [[[0, 1], [0]]]},
            ValueError,
            r"maps\[0\] must map equally many codes .* \[1, 2\]",
        ),
        ({"maps": [[[0, -1]]]}, ValueError, r"maps\[0\]\[0\] must be 0..16777215, got -1"),
        ({"maps": [[["a", "b"]]]}, TypeError, r"maps\[0\]\[0\] must be integers, got an array of <U1"),
        ({"n_classes": 1}, ValueError, "n_classes must be 2..65536, got 1"),
        ({"n_classes": 2.0}, TypeError, "n_classes must be an int, got 2.0"),
        ({"folds": 1}, ValueError, "folds must be 0 or at least 2, got 1"),
        ({"folds": 101}, ValueError, "folds must be 0..100, got 101"),
        ({"weights": [1]}, ValueError, "codes has 2 rows, weights 1"),
        ({"weights": [1, 0]}, ValueError, "weights must be at least 1, got 0"),
        (
            {"weights": [2**40, 1]},
            ValueError,
            r"weights must add up to 1,099,511,627,776 \(2\^40\) at most, .* got 1,099,511,627,777: publish",
        ),
        ({"n_values": [[2]]}, ValueError, r"n_values must be of \[2\] options, got \[1\]"),
        ({"n_values": [[1, None]]}, ValueError, r"n_values\[0\]\[0\] must be 2..4611686018427387904, got 1"),
    ],
)
def test_wrong_arguments_are_named(changed, error, words):
    with pytest.raises(error, match=words):
        Candidates(**{**GOOD, **changed})


def test_wrong_questions_are_named():
    candidates = Candidates(**GOOD)
    with pytest.raises(ValueError, match="by must be 'correct' or 'log-loss', got 'accuracy'"):
        candidates.search("accuracy")
    with pytest.raises(TypeError, match="progress must be callable or None, got int"):
        candidates.search(progress=1)
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        candidates.search(threads=0)
    with pytest.raises(ValueError, match="leaf must be 1 options, got 2"):
        candidates.correct((0, 0))
    with pytest.raises(ValueError, match=r"leaf: the option of attribute 0 must be 0..1, got 2"):
        candidates.loss((2,))


def test_an_error_of_progress_ends_the_search():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Candidates(*drawn(SEED)).search(threads=2, progress=stop)


def test_options_that_take_too_much_memory_are_refused_before_any_is_made():
    values = np.arange(2_000)
    options = [values // width for width in range(1, 201)]
    arguments = (values[:, np.newaxis], values % 2, [options], 2)
    with pytest.raises(nbcfast.Infeasible, match="take 80,000,000 numbers, and 67,108,864 are held"):
        Candidates(*arguments, folds=100)
    menu = {"age": [{"edges": [None, cut, None]} for cut in range(1, 1_001)]}
    table = {"age": np.arange(40_000), "ill": np.arange(40_000) % 2}
    with pytest.raises(nbcfast.Infeasible, match="take 40,000,000 numbers, and 33,554,432 are held"):
        nbcfast.canonical.advise(table, "ill", menu)
