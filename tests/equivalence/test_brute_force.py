"""Margins and comparisons against brute force with Fractions, with every way of finding them forced."""

import itertools
import math
import random

import numpy as np
import pytest
from equivalence_cases import MARGIN_WAYS, WAYS
from how_many import how_many
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Viewset
from nbcfast.equivalence import Comparer, Enumerated, bound, compare
from nbcfast.equivalence.comparing import compared
from nbcfast.equivalence.margins import margin_of
from nbcfast.reference import equivalence as reference
from nbcfast.reference import views as reference_views

KINDS = {
    "small, with zeros": lambda r: r.randint(0, 4),
    "positive": lambda r: r.randint(1, 6),
    "huge": lambda r: 10**15 + r.randint(-2, 2),
    "ties": lambda r: r.choice([0, 1, 2, 4, 8, 16]),
    "beyond 64 bits": lambda r: 3**200 + r.randint(0, 2),
    "huge, with zeros": lambda r: r.choice([0, 10**15, 10**15 + 1, 10**15 - 1, 1]),
    "bits": lambda r: r.randint(0, 1),
}


OPEN = ("short lists", "too large")


def some_views(r, n_classes, sizes, kinds):
    """Views that need not be realistic: rows of zeros, equal rows and equal columns among them."""
    number = KINDS[r.choice(kinds)]
    of_class = [number(r) for _ in range(n_classes)]
    if r.random() < 0.9:
        of_class = [max(count, 1) for count in of_class]
    if r.random() < 0.5:
        of_class = [of_class[0] or 1] * n_classes
    of_class[-1] = of_class[-1] if any(of_class) else 1
    arrays = []
    for size in sizes:
        number = KINDS[r.choice(kinds)]
        array = [[number(r) for _ in range(n_classes)] for _ in range(size)]
        if r.random() < 0.2:
            array[r.randrange(size)] = [0] * n_classes
        if r.random() < 0.3:
            array[r.randrange(size)] = list(array[0])
        if r.random() < 0.3:
            array = [[count if r.random() < 0.8 else row[0] for count in row] for row in array]
        arrays.append(array)
    return Viewset(of_class, arrays)


def changed(r, views):
    """Nearly the same views: some counts a little off, or all multiplied."""
    factor, keep = r.choice([1, 1, 10, 1000]), r.random() < 0.3

    def count(number):
        chance = r.random()
        number = int(number) * factor
        if keep or chance < 0.85:
            return number
        return max(0, number + r.choice([-1, 1])) if chance < 0.97 else number * 3

    return Viewset(
        [max(1, int(number) * factor) for number in views.class_counts],
        [[[count(number) for number in row] for row in views.counts[name]] for name in views.attributes],
    )


def drawn(seed):
    """Two viewsets of the same shape, at most 5 classes and 4 attributes."""
    r = random.Random(seed)
    n_classes, n = r.randint(1, 5), r.randint(0, 4)
    sizes = [r.randint(1, 4) for _ in range(n)]
    while math.prod(sizes) * n_classes**2 > 600:
        sizes[r.randrange(n)] = 1
    kinds = list(KINDS) if r.random() < 0.2 else [r.choice(list(KINDS))]
    a = some_views(r, n_classes, sizes, kinds)
    return a, changed(r, a) if r.random() < 0.7 else some_views(r, n_classes, sizes, kinds)


SEEDS = st.integers(0, 2**32)


def check_margin(seed):
    views, _ = drawn(seed)
    expected = reference.margin(views)
    for way in MARGIN_WAYS:
        found = margin_of(views, **way)
        assert found.exact
        assert found.tuples == len(reference_views.tuples(views))
        if expected is None:
            assert (found.log, found.log2, found.witness, found.classes) == (math.inf, math.inf, None, None)
            continue
        c, d = map(views.classes.index, found.classes)
        assert reference.ratio(views, found.witness, c, d) == expected[0]
        # Both are logarithms of the same Fraction, rounded once or twice.
        assert found.log == pytest.approx(reference.log(expected[0]), rel=2**-51)
        assert found.log2 == pytest.approx(math.log2(found.log), rel=1e-12, abs=1e-12)


def check_bound(seed):
    views, _ = drawn(seed)
    expected, nearest = reference.bound(views), reference.margin(views)
    found = bound(views)
    assert found.method == "bound"
    if expected is None:
        assert found.log == math.inf
        assert nearest is None
        return
    assert reference.log(expected) * (1 - 2**-48) <= found.log <= reference.log(expected)
    if nearest is not None:
        assert expected <= nearest[0]


def check_comparison(seed):
    a, b = drawn(seed)
    n_tuples = len(reference_views.tuples(a))
    all_differing = {preserve: reference.differing(a, b, preserve) for preserve in ("order", "label")}
    for preserve, (name, limits) in itertools.product(("order", "label"), WAYS.items()):
        differing = all_differing[preserve]
        found = compared(a, b, preserve, limits=limits)
        where = (seed, preserve, name, found)
        assert found.tuples == n_tuples, where
        assert found.preserve == preserve
        if found.equal is None:
            assert name in OPEN, where
            assert found.differing is None
            assert not found.bound.exact or found.bound.log == math.inf
            continue
        assert found.equal is (not differing), where
        if found.differing is None:
            assert name in OPEN, where
        else:
            assert found.differing == len(differing), where
        if not differing:
            assert (found.witness, found.classes) == (None, None)
            continue
        assert found.witness in differing, where
        positions = tuple(map(a.classes.index, found.classes))
        if preserve == "label" and len(a.classes) > 2:
            assert positions == (reference.label(a, found.witness), reference.label(b, found.witness)), where
        else:
            assert positions[0] < positions[1]
            pairs = list(itertools.combinations(range(len(a.classes)), 2))
            number = pairs.index(positions)
            orders = reference.order(a, found.witness), reference.order(b, found.witness)
            assert orders[0][number] != orders[1][number], where


def check_enumerated(seed):
    a, b = drawn(seed)
    for preserve in ("order", "label"):
        held = Enumerated(a, preserve)
        differing = reference.differing(a, b, preserve)
        assert held.violations(b) == len(differing)
        assert held.violations(a) == 0
        assert held.violations(
            (b.class_counts.tolist(), [array.tolist() for array in b.counts.values()])
        ) == len(differing)
        of = Comparer(a, preserve)
        for other in (b, a):
            assert of.compare(other) == compare(a, other, preserve)
        rows = reference_views.tuples(a)
        if not a.attributes:
            continue
        places = [
            tuple(a.domain(name).index(row[name]) for name in a.attributes)
            for row, differs in zip(rows, held.mismatches(b).ravel(), strict=True)
            if differs
        ]
        assert [
            tuple(a.domain(name).index(row[name]) for name in a.attributes) for row in differing
        ] == places
        if held.truth is not None:
            assert held.truth.shape == (len(held.pairs), *held.shape)
            for row, bits in zip(rows, np.moveaxis(held.truth, 0, -1).reshape(len(rows), -1), strict=True):
                assert reference.order(a, row) == bits.tolist()
        else:
            assert held.labels.ravel().tolist() == [reference.label(a, row) for row in rows]


@pytest.mark.parametrize("check", [check_margin, check_bound, check_comparison, check_enumerated])
def test_equals_brute_force(check):
    for seed in range(how_many(60, 120)):
        check(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("check", [check_margin, check_bound, check_comparison, check_enumerated])
def test_equals_brute_force_at_length(check):
    for seed in range(1_000, 6_000):
        check(seed)


@given(SEEDS)
def test_equals_brute_force_of_any_seed(seed):
    check_margin(seed)
    check_comparison(seed)
