"""The stages of the solver: rows that bind, integers that prove it, digits that become fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from canonical_checks import check_card, from_rows, total, weights

from nbcfast import Viewset
from nbcfast._box import Separator
from nbcfast._solve import Program, System
from nbcfast.canonical import ListedBox, box, integers, solve
from nbcfast.canonical.weights.exact import Active, Stuck, corrected, reconstructed
from nbcfast.canonical.weights.levels import Levels, packed, unpacked
from nbcfast.canonical.weights.listed import Listed
from nbcfast.canonical.weights.solver import minimum_norm
from nbcfast.reference import canonical as reference


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
