"""Steps 2 and 3, bit for bit against the exact reference; k, precision and margin."""

import math
import random
from fractions import Fraction

import gmpy2
import pytest
from transform_cases import SEVEN_SIX, SIX_ROWS, THREE_ROWS, drawn, verified

from nbcfast import Viewset
from nbcfast.reference import transform as reference
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale
from nbcfast.transform import gauge as gauge_module
from nbcfast.transform import ladder as ladder_module
from nbcfast.transform import margin_bound as margin_module
from nbcfast.transform.ladder import paper_k
from nbcfast.transform.margin_bound import LN2_BELOW, deciding_margin, least_ratio
from nbcfast.transform.scaled import precision_for


def fraction(number):
    return Fraction(int(number.numerator), int(number.denominator))


def fractions(arrays):
    return [[[fraction(number) for number in row] for row in array] for array in arrays]


@pytest.mark.parametrize("gauge", [True, False])
@pytest.mark.parametrize("preserve", ["order", "label"])
def test_steps_equal_reference_bit_for_bit(gauge, preserve):
    rng = random.Random(11)
    for _ in range(25):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(1, 4))
        limit = rng.choice([Fraction(3, 2), 2, 4, 30])
        of_class, counts, k, bits, exponents = reference.steps(views, limit, preserve=preserve, gauge=gauge)
        if bits is None:
            continue
        filled = fill_zeros(views, preserve=preserve)
        scaled = scale(filled, limit, gauge=gauge)
        assert (list(filled.exponents), scaled.k, scaled.bits) == (exponents, k, bits)
        weights, factors = reference.scale(views, exponents, k, bits, gauge=gauge)
        assert [fraction(w) for w in scaled.weights] == weights
        assert fractions(scaled.factors.values()) == factors
        adjusted = adjust(scaled)
        assert [fraction(p) for p in adjusted.class_counts] == of_class
        assert fractions(adjusted.counts.values()) == counts
        assert adjusted.is_realistic()


def test_scaled_views_keep_the_order_at_the_fewest_bits():
    rng = random.Random(12)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 4))
        scaled = scale(fill_zeros(views), rng.choice([2, 4, 30]), gauge=rng.random() < 0.5)
        weights, counts = [fraction(w) for w in scaled.weights], fractions(scaled.factors.values())
        assert not reference.differing(views, (weights, counts))
        assert reference.amplification(weights, counts) <= scaled.amplification


def test_gauge_with_many_bits_equals_the_kernel():
    """The way for more bits than the kernel knows gives the same numbers."""
    rng = random.Random(13)
    for _ in range(15):
        views = drawn(rng)
        filled = fill_zeros(views)
        k = Fraction(rng.randint(64, 400), 64)
        powers = gauge_module.RootedCounts(filled, k)
        for bits in (30, 100):
            weights = []
            for width in (64 * 4, 250):
                with gmpy2.context(precision=width):
                    weights.append(
                        [gauge_module._real(*powers.weight(c, width)) for c in range(len(views.classes))]
                    )
            numbers, lowest, floats = gauge_module._gauged_by_kernel(powers, weights[0], 4, bits)
            assert (numbers, lowest) == gauge_module._gauged_by_mpfr(powers, weights[1], 250, bits)
            for row, of_row in zip(numbers, floats.tolist(), strict=True):
                for number, value in zip(row, of_row, strict=True):
                    assert value == pytest.approx(float(gmpy2.mpq(number) * gmpy2.mpq(2) ** lowest))


def test_ties_are_recognised():
    """4 * 4 = 2 * 8 with class weights that are equal: rounded roots alone would decide by luck."""
    views = Viewset([20, 20], [[[4, 2], [16, 18]], [[4, 8], [16, 12]]])
    for k in (2, 3, 5, 7, "3.25"):
        scaled = scale(fill_zeros(views), 30, k=k)
        counts = fractions(scaled.factors.values())
        row = (0, 0)
        x = reference.scores([fraction(w) for w in scaled.weights], counts, row)
        assert x[0] < x[1]


def test_k_is_the_least_of_the_grid():
    rng = random.Random(14)
    for _ in range(30):
        views = drawn(rng, n=rng.randint(1, 3))
        filled = fill_zeros(views)
        scaled = scale(filled, 3)
        assert (scaled.k * 64).denominator == 1
        assert scaled.k <= 64 or scaled.k.denominator == 1
        assert scaled.at_most(3)
        below = scaled.k - Fraction(1, 64) if scaled.k <= 64 else scaled.k - 1
        if below >= 1 and scale(filled, 3, k=below).at_most(3):
            # Few bits may round Lambda down; k is not chosen by such luck.
            assert filled.log_amplification > float(below) * math.log(3)


def test_at_most_by_floats_is_exact():
    scaled = scale(fill_zeros(SEVEN_SIX), 4)
    weights, counts = [fraction(w) for w in scaled.weights], fractions(scaled.factors.values())
    found = reference.amplification(weights, counts)
    assert scaled.at_most(found)
    assert not scaled.at_most(found - Fraction(1, 10**40))
    assert not scaled.at_most("0.5")


def test_precision_of_adult_3():
    """B = 22 with the true margin, 70 with the bound (docs/mathematics/safety.md, section c, k = 34)."""
    margin = Fraction(1.9513960496864301e-4)
    assert precision_for(3, 2, Fraction(34), margin, Fraction(4))[0] == 22
    assert precision_for(3, 2, Fraction(34), Fraction(1, 2) ** 60, Fraction(4))[0] in (70, 69, 71)


def test_margin_and_bound():
    filled = fill_zeros(SEVEN_SIX)
    exact = reference.least_margin(SEVEN_SIX)
    assert float(deciding_margin(filled, True)) == pytest.approx(math.log(exact), rel=1e-12)
    assert deciding_margin(filled, True) <= math.log(exact)
    rng = random.Random(15)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3))
        least = least_ratio(fill_zeros(views))
        exact = reference.least_margin(views)
        assert exact is None or exact >= 1 + Fraction(1, int(least))


def test_margin_without_comparisons():
    assert deciding_margin(fill_zeros(Viewset([3], [[[3]]])), True) is None
    assert deciding_margin(fill_zeros(Viewset([3, 3], [[[3, 3]]])), True) is None
    assert deciding_margin(fill_zeros(Viewset([3, 3], [[[3, 0], [0, 3]]]), guard=2), True) == 2 * LN2_BELOW
    assert least_ratio(fill_zeros(Viewset([3, 3], [[[3, 0], [0, 3]]]))) is None


def test_large_domains_take_the_bound(monkeypatch):
    monkeypatch.setattr(margin_module, "MARGIN_DOMAIN", 1)
    filled = fill_zeros(SEVEN_SIX)
    assert deciding_margin(filled, False) == Fraction(1, int(least_ratio(filled)) + 1)
    assert deciding_margin(filled, True) == Fraction(1, int(margin_module.least_of_ratios(filled)) + 1)
    release = safety_transform(SEVEN_SIX, 4, rows="proven")
    assert verified(SEVEN_SIX, release.views, 4, "order")


def test_paper_k():
    filled = fill_zeros(SEVEN_SIX)
    expected = math.ceil(2 * 7 * math.log(76) / math.log(4))
    assert paper_k(filled, Fraction(4)) == expected
    assert scale(filled, 4, k="paper").k == expected
    filled = fill_zeros(THREE_ROWS)
    expected = math.ceil(2 * 7 * (math.log(2) + max(filled.exponents) * math.log(2)) / math.log(4))
    assert scale(filled, 4, k="paper").k == expected


def test_scale_refuses():
    filled = fill_zeros(SIX_ROWS)
    for arguments, error, message in (
        ({"amplification": 1}, ValueError, "amplification must be above 1, got 1"),
        ({"amplification": 4, "k": "0.5"}, ValueError, "k must be at least 1, got 0.5"),
        ({"amplification": 4, "bits": 2}, ValueError, "bits must be at least"),
        ({"amplification": 4, "bits": 30.0}, TypeError, "bits must be an int, got float"),
    ):
        with pytest.raises(error, match=message):
            scale(filled, **arguments)


def test_what_scaled_and_adjusted_say():
    scaled = scale(fill_zeros(SEVEN_SIX), 4, bits=40)
    assert scaled.bits == 40
    assert "40 bits" in repr(scaled)
    assert scaled.to_dict()["k"] == scaled.k
    adjusted = adjust(scaled)
    assert adjusted.attributes == ("A1", "A2")
    assert adjusted.classes == (0, 1)
    assert "2 attributes" in repr(adjusted)
    assert adjusted.to_dict()["class_counts"] == list(adjusted.class_counts)


def test_the_bound_from_ratios_is_below_the_margin():
    rng = random.Random(77)
    for _ in range(80):
        views = drawn(
            rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 3), kind=rng.choice(["more", "huge"])
        )
        filled = fill_zeros(views)
        exact = reference.least_margin(views)
        if filled.n_zeros or exact is None:
            continue
        assert exact >= 1 + Fraction(1, int(margin_module.least_of_ratios(filled)))


def test_steps_of_k_that_grow_come_back_to_the_least_one():
    low, high = Fraction(63), Fraction(70)
    while (middle := ladder_module.k_between(low, high)) is not None:
        assert low < middle < high
        assert middle == ladder_module.on_grid(middle)
        low, high = (middle, high) if middle < Fraction(257, 4) else (low, middle)
    assert (low, high) == (64, 65)
    assert ladder_module.k_between(Fraction(3, 64), Fraction(4, 64)) is None
    assert ladder_module.k_between(Fraction(3, 64), Fraction(5, 64)) == Fraction(4, 64)
    assert ladder_module.on_grid(Fraction(4096 + 1, 64)) == 65
