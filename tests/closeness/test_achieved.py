"""What publishing comes to, against the exact reference over all tuples."""

import math
import random
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from closeness_cases import cases, drawn_prior, log, positive

from nbcfast import Viewset
from nbcfast.closeness import achieved
from nbcfast.closeness import reached as reached_module
from nbcfast.reference import closeness as reference
from nbcfast.reference import transform as steps


def test_achieved_equals_reference():
    infinite = finite = 0
    for _, views, prior in cases(1, 1_000):
        found = achieved(views, prior)
        fifth, odds = reference.achieved(views, prior)
        if fifth == math.inf:
            infinite += 1
            assert found.definition5.infinite
            assert found.statement11.infinite
            assert found.r is None
            assert found.log_r == math.inf
            continue
        finite += 1
        assert found.definition5.exact
        assert (found.definition5.value, found.r) == (fifth, odds)
        assert found.definition5.log == pytest.approx(log(fifth), abs=1e-14)
        assert found.log_r == pytest.approx(log(odds), abs=1e-14)
        assert fifth <= odds <= fifth**2
    assert min(infinite, finite) > 100


def test_achieved_names_a_tuple_that_attains_it():
    for _, views, prior in cases(2, 200):
        found = achieved(views, prior)
        _, score = steps.scores_of(views)

        def at(one, views=views, score=score):
            row = tuple(views.domain(name).index(one.tuple[name]) for name in views.attributes)
            return dict(zip(views.classes, score(row), strict=True))

        x, (c, d) = at(found.statement11), found.statement11.classes
        if found.r is None:
            assert x[c] > 0 == x[d]
        else:
            assert x[c] * prior[d] == found.r * x[d] * prior[c]
        x, (c,) = at(found.definition5), found.definition5.classes
        posterior = x[c] / sum(x.values())
        if found.definition5.infinite:
            assert (posterior, found.definition5.direction) == (0, "down")
        else:
            ratio = posterior / prior[c]
            ratio = ratio if found.definition5.direction == "up" else 1 / ratio
            assert ratio == found.definition5.value


def test_single_classes_at_full_tuples_decide_definition_5():
    """No property of the class and nothing less known goes further: mediants and means."""
    for _, views, prior in cases(3, 60):
        found = achieved(views, prior).definition5
        if found.infinite:
            continue
        codes = [range(len(views.counts[name])) for name in views.attributes]
        seen = Fraction(1)
        for size in range(len(codes) + 1):
            for places in combinations(range(len(codes)), size):
                for values in product(*(codes[i] for i in places)):
                    known = {views.attributes[i]: value for i, value in zip(places, values, strict=True)}
                    for n in range(1, len(views.classes)):
                        for classes in combinations(range(len(views.classes)), n):
                            ratio = reference.subset_closeness(views, prior, known, classes)
                            if ratio is not None:
                                seen = max(seen, ratio, 1 / ratio)
        assert seen == found.value


def test_values_and_classes_without_rows():
    views = Viewset([6, 6], [[[4, 2], [2, 4], [0, 0]]])
    prior = {0: "0.5", 1: "0.5"}
    assert achieved(views, prior).r == 2  # no row has the third value: nobody is known by it
    empty = Viewset([6, 0], [[[4, 0], [2, 0]]])
    assert achieved(empty, prior).statement11.infinite
    assert achieved(empty, prior).definition5.classes == (1,)
    one = Viewset([6], [[[4], [2]]], classes=["only"])
    assert achieved(one, {"only": 1}).definition5.value == achieved(one, {"only": 1}).r == 1
    none = Viewset([4, 2], [])
    assert achieved(none, prior).definition5.value == Fraction(3, 2)
    assert achieved(none, prior).r == 2


def test_a_column_of_any_name_may_be_there():
    views = Viewset([6, 6], {"prior": [[4, 2], [2, 4]], "prior_": [[3, 3], [3, 3]]})
    assert achieved(views, {0: "0.5", 1: "0.5"}).statement11.tuple == {"prior": 0, "prior_": 0}


def test_a_search_that_is_cut_says_so(monkeypatch):
    rng = random.Random(4)
    cut = 0
    for _ in range(60):
        views = positive(rng, [4, 4, 4, 4], 4)
        prior = drawn_prior(rng, views, most=3)
        whole = achieved(views, prior).definition5
        with monkeypatch.context() as patch:
            patch.setattr(reached_module, "BEAM", 1)
            patch.setattr(reached_module, "NARROW", 1)
            found = achieved(views, prior).definition5
        assert whole.exact
        assert found.least <= whole.log + 1e-12 <= found.log + 2e-12
        assert found.exact == (found.value is not None)
        if found.exact:
            assert found.value == whole.value
        else:
            cut += 1
            assert "at most" in repr(found)
    assert cut > 3


def test_definition_5_over_a_large_domain():
    """Three classes, 3^14 tuples: the same as over all of them, block by block."""
    rng = np.random.default_rng(5)
    arrays = []
    for _ in range(14):
        array = rng.integers(1, 90, (3, 3))
        array[0] += 300 - array.sum(axis=0)
        arrays.append(array)
    views = Viewset([300, 300, 300], arrays)
    prior = {0: "0.5", 1: "0.3", 2: "0.2"}
    found = achieved(views, prior).definition5
    assert found.exact
    sums = np.zeros((1, 3))
    for array in arrays:
        sums = (sums[:, np.newaxis] + np.log(array)[np.newaxis]).reshape(-1, 3)
    sums -= sums.max(axis=1, keepdims=True)
    ratios = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True) / [0.5, 0.3, 0.2]
    assert math.exp(found.log) == pytest.approx(max(ratios.max(), 1 / ratios.min()), rel=1e-9)


def test_numbers_too_long_to_write_out():
    views = Viewset([2000] * 3, [[[1301, 700, 1000], [699, 1300, 1000]]] * 1_500)
    found = achieved(views, {0: "0.5", 1: "0.25", 2: "0.25"})
    assert found.r is None
    assert found.log_r == pytest.approx(1_500 * math.log(1300 / 699) + math.log(2), rel=1e-12)
    assert found.definition5.value is None
    assert found.definition5.log == pytest.approx(found.log_r - math.log(2) + math.log(0.5), rel=1e-6)
