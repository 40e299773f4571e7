"""SafetyTransform: each step against the exact reference, and every release against all tuples."""

import doctest
import math
import random
import subprocess
import sys
from fractions import Fraction
from itertools import product

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Viewset, _roots, _zeros, equivalence, safety
from nbcfast._core.errors import Infeasible
from nbcfast._rounding import apportion as apportion_module
from nbcfast._rounding import rows as rows_module
from nbcfast._rounding import search as search_module
from nbcfast.reference import transform as reference
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale, to_rows
from nbcfast.transform import adjusted as adjusted_module
from nbcfast.transform import gauge as gauge_module
from nbcfast.transform import ladder as ladder_module
from nbcfast.transform import margin_bound as margin_module
from nbcfast.transform import plan as plan_module
from nbcfast.transform import powers as powers_module
from nbcfast.transform import publish as publish_module
from nbcfast.transform import roots as roots_module
from nbcfast.transform import scaled as scaled_module
from nbcfast.transform import shares as rounding_module
from nbcfast.transform import zeros as zeros_module
from nbcfast.transform.ladder import paper_k
from nbcfast.transform.margin_bound import LN2_BELOW, least_ratio, margin_of
from nbcfast.transform.scaled import precision_for, scaled_by
from nbcfast.views.loss import expected_log_loss

THREE_ROWS = Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]])
SIX_ROWS = Viewset([3, 3], [[[1, 2], [2, 1]]] * 2)
SEVEN_SIX = Viewset([40, 76], [[[2, 1], [38, 75]]] * 2)
THIRTY = Viewset([1000, 1960], [[[20, 10], [980, 1950]]] * 3)


def drawn(rng, n=None, n_classes=None, kind=None):
    """Random views of rows, with one of the properties that make trouble."""
    n = rng.randint(1, 4) if n is None else n
    n_classes = rng.randint(2, 5) if n_classes is None else n_classes
    kind = (
        rng.choice(["few", "more", "ties", "equal", "near", "huge", "one", "unseen"])
        if kind is None
        else kind
    )
    most = {"few": 3, "ties": 4, "more": 60}.get(kind, 8)
    of_class = [rng.randint(1, most) for _ in range(n_classes)]
    if kind == "ties":
        of_class = [rng.choice([2, 4])] * n_classes
    attributes = []
    for _ in range(n):
        array = [[0] * n_classes for _ in range(1 if kind == "one" else rng.randint(1, 4))]
        for c, count in enumerate(of_class):
            for _ in range(count):
                array[rng.randrange(len(array))][c] += 1
        if kind == "unseen":
            array.append([0] * n_classes)
        attributes.append(array)
    if kind == "equal":
        c, d = rng.randrange(n_classes), rng.randrange(n_classes)
        of_class[c] = of_class[d]
        for array in attributes:
            for row in array:
                row[c] = row[d]
    if kind in ("near", "huge"):
        factor = 50 if kind == "near" else 10**15
        of_class = [factor * count for count in of_class]
        for array in attributes:
            for row in array:
                row[:] = [factor * count for count in row]
            for c in range(n_classes):
                from_, to = rng.randrange(len(array)), rng.randrange(len(array))
                if array[from_][c]:
                    array[from_][c] -= 1
                    array[to][c] += 1
    return Viewset(of_class, attributes)


def fraction(number):
    return Fraction(int(number.numerator), int(number.denominator))


def fractions(arrays):
    return [[[fraction(number) for number in row] for row in array] for array in arrays]


def verified(views, published, limit, preserve):
    """What has to be true of the integers that leave, over all tuples."""
    counts = [array.tolist() for array in published.counts.values()]
    return published.is_realistic() and reference.verified(
        views, published.class_counts.tolist(), counts, Fraction(limit), preserve
    )


# Step 1 -----------------------------------------------------------------------------------------------------


def test_three_rows_keep_their_class():
    """With S = 2 and s = 1 the printed rule puts (1, 1) in place of (1, 0), and class 2 wins."""
    filled = fill_zeros(THREE_ROWS)
    assert filled.n_zeros == 3
    assert list(filled.exponents) == reference.fill_zeros(THREE_ROWS)
    assert filled.value("A1", 1, 1) == Fraction(2, 2 ** filled.exponents[1])
    assert filled.value("A1", 1, 0) == 2


@pytest.mark.parametrize("preserve", ["order", "label"])
@pytest.mark.parametrize("guard", [1, 2, 5])
def test_exponents_equal_reference(preserve, guard):
    rng = random.Random(guard)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(1, 4))
        expected = reference.fill_zeros(views, preserve=preserve, guard=guard)
        assert list(fill_zeros(views, preserve=preserve, guard=guard).exponents) == expected


def test_zeros_keep_every_comparison():
    rng = random.Random(2)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3), kind=rng.choice(["few", "ties", "unseen"]))
        for preserve, guard in product(("order", "label"), (1, 3)):
            filled = fill_zeros(views, preserve=preserve, guard=guard)
            of_class, _ = reference.lists(views)
            counts = reference.filled(views, filled.exponents)
            weights = reference.weights_of(of_class, len(counts))
            assert not reference.differing(views, (weights, counts), preserve)


def test_log_amplification_is_that_of_all_tuples():
    rng = random.Random(3)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(1, 4))
        filled = fill_zeros(views)
        of_class, _ = reference.lists(views)
        counts = reference.filled(views, filled.exponents)
        found = reference.amplification(reference.weights_of(of_class, len(counts)), counts)
        assert filled.log_amplification == pytest.approx(
            math.log(found.numerator) - math.log(found.denominator)
        )


def cycles(n, n_classes):
    """For every set of classes but all a value just these lack: docs/mathematics/safety.md, section b."""
    rows = [[int(not mask >> c & 1) for c in range(n_classes)] for mask in range(2**n_classes - 1)]
    return Viewset([sum(row[c] for row in rows) for c in range(n_classes)], [rows] * n)


def test_order_compounds_over_classes_and_label_does_not():
    """Exponents 1, 4, 13, 40, 121 for three attributes: docs/mathematics/safety.md, section b."""
    assert fill_zeros(cycles(3, 5)).exponents == (121, 40, 13, 4, 1)
    assert max(fill_zeros(cycles(3, 5), preserve="label").exponents) <= 4


def test_exponents_outgrow_64_bits():
    filled = fill_zeros(cycles(9, 7))
    assert filled.exponents[0] == (9**7 - 1) // 8
    filled = fill_zeros(cycles(600, 8))
    assert filled.exponents[0] == (600**8 - 1) // 599
    assert filled.exponents[0].bit_length() > 64
    assert filled.log_amplification > 1e18
    with pytest.raises(ValueError, match="too long to write out"):
        filled.value("A1", 1, 0)


def test_what_filled_says():
    filled = fill_zeros(THREE_ROWS, guard=2)
    assert filled.to_dict()["exponents"] == list(filled.exponents)
    assert "3 zeros" in repr(filled)
    for wrong, message in ((("B", 1, 0), "attribute"), (("A1", 9, 0), "value"), (("A1", 1, 5), "class")):
        with pytest.raises(ValueError, match=f"expected a known {message}"):
            filled.value(*wrong)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"preserve": "all"}, ValueError, "preserve must be 'order' or 'label', got 'all'"),
        ({"guard": 0}, ValueError, "guard must be 1 to 1024, got 0"),
        ({"guard": 1.5}, TypeError, "guard must be an int, got float"),
    ],
)
def test_fill_zeros_refuses(options, error, message):
    with pytest.raises(error, match=message):
        fill_zeros(SIX_ROWS, **options)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (Viewset([0, 0], [[[0, 0]]]), "no rows"),
        (Viewset([0, 2], [[[0, 2]]]), "class 0 has no rows"),
        (Viewset([3, 2], [[[1, 2]]]), "counts of attribute 'A1' in class 0 add up to 1, not to 3"),
    ],
)
def test_views_that_cannot_be_published(views, message):
    with pytest.raises(ValueError, match=message):
        fill_zeros(views)
    with pytest.raises(ValueError, match=message):
        safety_transform(views, 4)


def test_gains_refuse_what_does_not_fit():
    logs, zero = np.zeros((2, 2), np.int64), np.zeros((2, 2), np.uint8)
    starts, out = np.array([0, 2]), np.zeros(1, np.int64)
    for arguments, message in (
        ((logs, zero[:1], starts, 0, 1, 0, True, out, out), "zero 1 x 2"),
        ((logs, zero, starts, 0, 2, 0, True, out, out), "classes 0 and 2 of 2"),
        ((logs, zero, starts[:1], 0, 1, 0, True, out[:0], out[:0]), "starts must run from 0 to 2"),
        ((logs, zero, np.array([0, 3, 2]), 0, 1, 0, True, *np.zeros((2, 2), np.int64)), "must not fall"),
    ):
        with pytest.raises(ValueError, match=message):
            _zeros.gains(*arguments)


# Roots ------------------------------------------------------------------------------------------------------

ks = st.one_of(st.integers(64, 64 * 64).map(lambda a: Fraction(a, 64)), st.integers(65, 5000).map(Fraction))


@given(
    st.lists(st.integers(1, 2**63 - 1) | st.integers(1, 60), min_size=8, max_size=12), ks, st.integers(2, 200)
)
def test_roots_equal_reference(numbers, k, bits):
    found = roots_module.roots(numbers, k, bits)
    for number, mantissa, exponent in zip(numbers, found.mantissas, found.exponents, strict=True):
        assert mantissa.bit_length() == bits
        assert Fraction(int(mantissa)) * Fraction(2) ** exponent == reference.root(Fraction(number), k, bits)


@settings(max_examples=20)
@given(st.integers(2, 20), st.integers(1, 9), st.sampled_from([1, 2, 4, 64]), st.integers(2, 40))
def test_roots_of_powers(base, degree, top, bits):
    """Exact results, and those half way between two numbers."""
    degree += degree % 2 == 0 and top > 1
    number = base**degree
    numbers = [min(number, 2**63 - 1)] * 8
    k = Fraction(degree, top)
    found = roots_module.roots(numbers, k, bits)
    value = Fraction(int(found.mantissas[0])) * Fraction(2) ** found.exponents[0]
    assert value == reference.root(Fraction(numbers[0]), k, bits)


@pytest.mark.parametrize("bits", [64, 256, 320, 512, 896, 900])
@pytest.mark.parametrize(
    "k", [Fraction(2), Fraction(7), Fraction(1541, 64), Fraction(4095), Fraction(1 << 20)]
)
def test_kernel_equals_mpfr(bits, k):
    rng = random.Random(bits)
    numbers = [1, 2, 3, 2**62, 2**63 - 1, *(rng.getrandbits(rng.randint(2, 63)) | 1 for _ in range(40))]
    found = roots_module.roots(numbers, k, bits)
    for number, *pair in zip(numbers, found.mantissas, found.exponents, strict=True):
        assert roots_module.root(number, k.denominator, k.numerator, bits) == tuple(pair)


def test_roots_beyond_the_kernel():
    numbers = [10**40 + i for i in range(10)]
    found = roots_module.roots(numbers, Fraction(7, 2), 100)
    for number, mantissa, exponent in zip(numbers, found.mantissas, found.exponents, strict=True):
        value = Fraction(int(mantissa)) * Fraction(2) ** exponent
        assert value == reference.root(Fraction(number), Fraction(7, 2), 100)
    mantissas, exponents = roots_module.packed_roots(numbers, Fraction(7, 2), 2)
    assert roots_module.integers(mantissas) == roots_module.roots(numbers, Fraction(7, 2), 128).mantissas
    assert exponents.tolist() == [e + 128 for e in roots_module.roots(numbers, Fraction(7, 2), 128).exponents]


@given(st.integers(1, 10**6), st.integers(-500, 500), st.integers(1, 40), st.integers(2, 60))
def test_roots_of_numbers_with_powers_of_two(number, twos, bottom, bits):
    mantissa, exponent = roots_module.root(number, 1, bottom, bits, twos)
    expected = reference.root(Fraction(number) * Fraction(2) ** twos, Fraction(bottom), bits)
    assert Fraction(int(mantissa)) * Fraction(2) ** exponent == expected


@given(st.integers(1, 10**30), st.integers(1, 10**30), st.integers(2, 80))
def test_rounded_equals_reference(top, bottom, bits):
    mantissa, exponent = roots_module.rounded(top, bottom, bits)
    assert Fraction(int(mantissa)) * Fraction(2) ** exponent == reference.rounded(Fraction(top, bottom), bits)


def test_roots_do_not_depend_on_the_context():
    numbers = list(range(1, 40))
    expected = roots_module.roots(numbers, Fraction(1000), 950)
    with gmpy2.context(precision=7, round=gmpy2.RoundUp):
        found = roots_module.roots(numbers, Fraction(1000), 950)
    assert found.mantissas == expected.mantissas


def test_root_kernel_refuses_what_does_not_fit():
    numbers, out = np.array([2, 3], np.uint64), np.zeros((2, 1), np.uint64)
    exponents, sure = np.zeros(2, np.int64), np.zeros(2, np.uint8)
    for arguments, message in (
        ((numbers, 1, 2, 1, out, exponents, sure), "bits must be 2..900, got 1"),
        ((numbers, 3, 2, 50, out, exponents, sure), "exponent 3/2"),
        ((numbers, 1, 1, 50, out, exponents, sure), "exponent 1/1"),
        ((numbers, 1, 2, 90, out, exponents, sure), "results must be 2 x 2"),
        ((np.array([2, 0], np.uint64), 1, 2, 50, out, exponents, sure), "positive, got 0 at 1"),
    ):
        with pytest.raises(ValueError, match=message):
            _roots.roots(*arguments)


def test_gauge_kernels_refuse_what_does_not_fit():
    numbers, exponents = np.full((2, 2), 1 << 63, np.uint64), np.zeros(2, np.int64)
    places, starts = np.zeros((1, 2), np.int64), np.array([0, 1])
    out, out_exponents = np.zeros((1, 2, 2), np.uint64), np.zeros((1, 2), np.int64)
    ok = [numbers, exponents, places, starts, out, out_exponents]
    for at, wrong, message in (
        (0, np.zeros((2, 1), np.uint64), "2..16 limbs, got 1"),
        (1, exponents[:1], "2 numbers but 1 exponents"),
        (2, places + 2, "place 2 outside 2 numbers"),
        (3, np.array([0, 2]), "starts must run from 0 to 1"),
        (3, np.array([0, 2, 1]), "must not fall"),
        (4, out[:, :1].copy(), "results must be 1 x 2 x 2"),
    ):
        arguments = list(ok)
        arguments[at] = wrong
        with pytest.raises(ValueError, match=message):
            _roots.products(*arguments)
    for bits, snap, results, message in (
        (1, 80, out, "bits and snap"),
        (70, 80, out[:, :, :1].copy(), "1 x 2 x 2"),
    ):
        with pytest.raises(ValueError, match=message):
            _roots.gauge(
                numbers, exponents, places, starts, out, out_exponents, snap, bits, results, out_exponents,
                np.zeros((1, 2)),
            )  # fmt: skip
    with pytest.raises(ValueError, match="inverses must be"):
        _roots.gauge(
            numbers, exponents, places, starts, out[:, :1].copy(), out_exponents, 80, 70, out, out_exponents,
            np.zeros((1, 2)),
        )  # fmt: skip


# Steps 2 and 3 ----------------------------------------------------------------------------------------------


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
    assert float(margin_of(filled, True)) == pytest.approx(math.log(exact), rel=1e-12)
    assert margin_of(filled, True) <= math.log(exact)
    rng = random.Random(15)
    for _ in range(60):
        views = drawn(rng, n=rng.randint(1, 3))
        least = least_ratio(fill_zeros(views))
        exact = reference.least_margin(views)
        assert exact is None or exact >= 1 + Fraction(1, int(least))


def test_margin_without_comparisons():
    assert margin_of(fill_zeros(Viewset([3], [[[3]]])), True) is None
    assert margin_of(fill_zeros(Viewset([3, 3], [[[3, 3]]])), True) is None
    assert margin_of(fill_zeros(Viewset([3, 3], [[[3, 0], [0, 3]]]), guard=2), True) == 2 * LN2_BELOW
    assert least_ratio(fill_zeros(Viewset([3, 3], [[[3, 0], [0, 3]]]))) is None


def test_large_domains_take_the_bound(monkeypatch):
    monkeypatch.setattr(margin_module, "MARGIN_DOMAIN", 1)
    filled = fill_zeros(SEVEN_SIX)
    assert margin_of(filled, False) == Fraction(1, int(least_ratio(filled)) + 1)
    assert margin_of(filled, True) == Fraction(1, int(margin_module.least_of_ratios(filled)) + 1)
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


# Step 4 -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.integers(0, 500))
def test_apportioned_equals_reference(shares, total):
    numbers = [gmpy2.mpz(share) for share in shares]
    expected = reference.largest_remainder(shares, total)
    assert apportion_module.apportioned(numbers, total) == expected
    if total >= len(shares):
        counts, over = apportion_module.apportioned_column(numbers, total, sum(numbers))
        assert sum(counts) == total
        assert min(counts) >= 1
        for count, share, excess in zip(counts, shares, over.tolist(), strict=True):
            assert excess == pytest.approx(count - share * total / sum(shares), abs=1e-9)
        if min(expected) >= 1:
            assert counts == expected
        of_floats = search_module._apportioned(
            np.array(shares)[:, np.newaxis] / sum(shares), np.array([total])
        )
        assert int(of_floats.sum()) == total
        assert of_floats.min() >= 1


def test_round_up():
    assert [apportion_module.round_up(n) for n in (1, 999, 1000, 1001, 123456, 10**20 + 1)] == [
        1, 999, 1000, 1010, 124000, 101 * 10**18,
    ]  # fmt: skip


@pytest.mark.parametrize("rows", ["proven", "smallest"])
@pytest.mark.parametrize("preserve", ["order", "label"])
@pytest.mark.parametrize("gauge", [True, False])
def test_releases_are_safe_and_equivalent(rows, preserve, gauge):
    rng = random.Random(f"{rows} {preserve} {gauge}")
    for _ in range(20 if rows == "proven" else 8):
        views = drawn(rng)
        limit = rng.choice([Fraction(5, 4), 2, 4, 30])
        release = safety_transform(views, limit, preserve=preserve, rows=rows, gauge=gauge)
        assert verified(views, release.views, limit, preserve)
        assert release.certificate.differing_tuples == 0
        assert release.certificate.equivalence != "none"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_many_releases_are_safe_and_equivalent(seed):
    rng = random.Random(100 + seed)
    for _ in range(400):
        views = drawn(rng)
        limit, preserve = rng.choice([Fraction(5, 4), 2, 4, 30]), rng.choice(["order", "label"])
        rows, gauge = rng.choice(["proven", "smallest"]), rng.random() < 0.5
        release = safety_transform(views, limit, preserve=preserve, rows=rows, gauge=gauge)
        assert verified(views, release.views, limit, preserve)


def test_the_proof_of_order_sees_what_is_wrong():
    """Counts moved by hand: whenever a tuple differs, the proof fails."""
    rng = random.Random(21)
    refused = 0
    for _ in range(60):
        views = drawn(rng, n=2, n_classes=rng.randint(2, 3), kind="more")
        filled = fill_zeros(views)
        margin = margin_of(filled, True)
        shares = rounding_module.Shares(scaled_by(filled, Fraction(4), Fraction(3), True, margin, None, 16))
        counted = rounding_module.proven(shares)
        t = rng.randrange(len(counted.rows) - 1)
        size = max(1, counted.rows[t][0] // rng.choice([3, 30, 1000, 10**5]))
        rows, excess = [list(row) for row in counted.rows], counted.excess.copy()
        start = [s for s in shares.starts if s <= t][-1]
        other = start if t != start else start + 1
        if other >= shares.starts[shares.starts.index(start) + 1]:
            continue
        for place, change in ((t, -size), (other, size)):
            rows[place][0] += change
            excess[place, 0] += change
        if min(row[0] for row in rows) < 1:
            continue
        moved = apportion_module.Counted(counted.of_class, [tuple(row) for row in rows], excess)
        published = apportion_module.viewset(views, moved.of_class, moved.rows)
        if rounding_module.proves_order(shares, moved):
            assert not reference.differing(views, published)
        else:
            refused += 1
    assert refused > 20


def test_values_of_no_row_single_values_and_single_classes():
    for views in (
        Viewset([5], [[[2], [3], [0]]]),
        Viewset([5, 9], {}),
        Viewset([9, 5], {}),
        Viewset([9, 9, 5], {}),
        Viewset([1, 10**6, 3], {}),
        Viewset([5, 9, 9], [[[5, 9, 9]]]),
        Viewset([3, 4], [[[3, 0], [0, 4], [0, 0]], [[3, 4]]]),
    ):
        for rows, gauge in product(("smallest", "proven"), (True, False)):
            release = safety_transform(views, "1.5", rows=rows, gauge=gauge)
            assert verified(views, release.views, Fraction(3, 2), "order")


def test_huge_counts():
    views = Viewset(
        [10**30 + 1, 10**30],
        [[[10**30, 1], [1, 10**30 - 1]], [[10**29, 10**29 + 1], [9 * 10**29 + 1, 9 * 10**29 - 1]]],
    )
    for rows in ("smallest", "proven"):
        assert verified(views, safety_transform(views, 4, rows=rows).views, 4, "order")


# safety_transform -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("views", "limit"), [(SEVEN_SIX, 4), (THIRTY, 8)])
@pytest.mark.parametrize("attacker", ["row", "worlds"])
def test_views_that_condition_10_lets_pass_are_transformed(views, limit, attacker):
    """Safe by condition (10), though odds are up to 7.84 and 30.7: docs/mathematics/safety.md, section j."""
    release = safety_transform(views, limit, attacker=attacker, gauge=False)
    assert not release.certificate.identity
    assert release.views != views
    assert verified(views, release.views, Fraction(limit) / (2 if attacker == "worlds" else 1), "order")


def test_six_rows_are_safe_against_one_attacker_only():
    release = safety_transform(SIX_ROWS, 4, gauge=False)
    assert release.certificate.identity
    assert release.views == SIX_ROWS
    assert release.certificate.equivalence == "identity"
    assert any("as they are" in warning for warning in release.certificate.warnings)
    release = safety_transform(SIX_ROWS, 4, gauge=False, attacker="worlds")
    assert not release.certificate.identity
    assert safety.at_most(release.views, 2)
    with pytest.raises(ValueError, match="amplification must be above 2"):
        safety_transform(SIX_ROWS, 2, attacker="worlds")


def test_identity_keeps_its_rows():
    assert safety_transform(SIX_ROWS, 4, gauge=False, rows=6).certificate.identity
    release = safety_transform(SIX_ROWS, 4, gauge=False, rows=60)
    assert not release.certificate.identity
    assert release.views.n_rows == 60
    assert release.views.class_counts.tolist() == [30, 30]


def test_equal_score_ratios_give_equal_releases(tmp_path):
    """V, and Step 3 applied to V times any h_i(t): the same file. docs/mathematics/safety.md, section m."""
    rng = random.Random(31)
    for number in range(12):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 3), kind="more")
        if any((array == 0).any() for array in views.counts.values()):
            continue
        of_class, counts = reference.lists(views)
        factors = [[rng.choice([1, 2, 3, 7]) for _ in array] for array in views.counts.values()]
        counts = [
            [[int(x) * h for x in row] for row, h in zip(array.tolist(), of, strict=True)]
            for array, of in zip(views.counts.values(), factors, strict=True)
        ]
        weights = reference.weights_of(of_class, len(counts))
        new_classes, new_counts = reference.adjust(weights, counts)
        common = math.lcm(
            *(x.denominator for x in new_classes), *(x.denominator for a in new_counts for r in a for x in r)
        )
        other = Viewset(
            [int(x * common) for x in new_classes],
            [[[int(x * common) for x in row] for row in array] for array in new_counts],
        )
        assert other.is_realistic()
        files = []
        for name, of in (("a", views), ("b", other)):
            for rows in ("smallest", "proven"):
                release = safety_transform(of, 3, rows=rows)
                release.save(tmp_path / f"{number}{name}{rows}")
                files.append((tmp_path / f"{number}{name}{rows}" / "certificate.json").read_bytes())
        assert files[:2] == files[2:]


def test_releases_do_not_depend_on_the_context_or_the_run():
    first = safety_transform(THREE_ROWS, 2)
    with gmpy2.context(precision=5, round=gmpy2.RoundUp):
        assert safety_transform(THREE_ROWS, 2).views == first.views
    assert safety_transform(THREE_ROWS, 2).certificate == first.certificate


def test_a_given_number_of_rows():
    rng = random.Random(41)
    refused = 0
    for _ in range(40):
        views = drawn(rng, n=rng.randint(1, 3), n_classes=rng.randint(2, 3))
        rows, preserve = rng.choice([20, 50, 300]), rng.choice(["order", "label"])
        error = None
        try:
            release = safety_transform(views, 4, rows=rows, preserve=preserve)
        except Infeasible as refusal:
            error, release = refusal, refusal.best["release"]
            refused += 1
        assert safety.at_most(release.views, 4)
        assert release.views.is_realistic()
        differing = len(reference.differing(views, release.views, preserve))
        assert release.certificate.differing_tuples == differing
        if error is None:
            assert (release.views.n_rows, differing) == (rows, 0)
        elif differing:
            assert f"{differing} of {release.certificate.tuples} tuples differ" in error.why
            release = safety_transform(views, 4, rows=rows, preserve=preserve, allow_differences=True)
            assert (release.views.n_rows, release.certificate.differing_tuples) == (rows, differing)
            what = "order of classes" if preserve == "order" else "best class"
            assert f"{differing} tuples have another {what} than in" in release.certificate.warnings[0]
        else:
            assert f"no {rows} rows were found with Lambda" in error.why
            assert release.views.n_rows != rows
    assert refused


def test_too_few_rows():
    with pytest.raises(Infeasible, match=r"3 rows are too few: .* 2 classes need 4") as caught:
        safety_transform(SIX_ROWS, 4, rows=3)
    assert caught.value.best["release"].certificate.differing_tuples == 0
    with pytest.raises(Infeasible, match="too few"):
        safety_transform(SIX_ROWS, 4, rows=3, allow_differences=True)
    with pytest.raises(Infeasible, match=r"no 9 rows were found with Lambda up to 1\.01"):
        safety_transform(Viewset([7, 5], [[[7, 1], [0, 4]], [[3, 5], [4, 0]]]), "1.01", rows=9)


def test_rows_of_a_table_that_differ():
    rng = np.random.default_rng(3)
    found = set()
    for weights in (None, rng.integers(1, 9, 60)):
        codes = {"a": rng.integers(0, 6, 60), "b": rng.integers(0, 5, 60), "y": rng.integers(0, 2, 60)}
        table = nbcfast.Table(codes, weights=weights)
        views = nbcfast.count(table, "y")
        assert safety_transform(views, 4, table=table).certificate.differing_rows == 0
        for rows in range(30, 60, 3):
            release = safety_transform(views, 4, rows=rows, allow_differences=True, table=table)
            wrong = (views.order(table) != release.views.order(table)).any(axis=1)
            expected = wrong.sum() if weights is None else weights[wrong].sum()
            assert release.certificate.differing_rows == expected
            found.add(int(expected))
    assert len(found) > 2


@pytest.mark.parametrize("views", [SEVEN_SIX, THREE_ROWS, Viewset([3, 4], [[[1, 2], [2, 2]]])])
@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        *product(("1.001", "1.000000001"), ("smallest", "proven")),
        ("1.0000000000001", "smallest"),
        ("1." + "0" * 36 + "1", "proven"),
    ],
)
def test_limits_near_1_end_in_a_release(views, limit, rows):
    release = safety_transform(views, limit, rows=rows)
    assert verified(views, release.views, Fraction(limit), "order")


@pytest.mark.parametrize("m", [10**6, 10**8, 10**10])
def test_an_order_that_few_rows_have_by_luck_does_not_keep_the_search_going(m):
    first = [[m, m - 4], [m - 4, m - 1], [m - 4, m - 3]]
    half = (3 * m - 8) // 2
    views = Viewset([3 * m - 8] * 2, [first, *[[[half - 1, half + 1], [half + 1, half - 1]]] * 2])
    for limit in ("1.5", "4"):
        assert verified(views, safety_transform(views, limit).views, Fraction(limit), "order")


def test_extreme_demands_end_in_a_release_or_a_clear_error():
    for limit, rows in product(("1e37", 4), ("proven", "smallest", 10**300)):
        for views in (SEVEN_SIX, THREE_ROWS, wide_of(60)):
            release = safety_transform(views, limit, rows=rows, guard=1024, preserve="label")
            assert safety.at_most(release.views, limit)
            assert release.certificate.equal
    for limit in ("1e38", "1e4000"):
        with pytest.raises(ValueError, match="amplification: exact limits have at most 38 digits"):
            safety_transform(SEVEN_SIX, limit)
    with pytest.raises(Infeasible, match="with this k Lambda is above 4 after rounding"):
        to_rows(scale(fill_zeros(THREE_ROWS, guard=1024), 4, k=1), "proven")


def wide_of(n):
    """Binary attributes that all say the same: Lambda 9^n."""
    return Viewset([10, 10], [[[9, 1], [1, 9]]] * n)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: safety_transform(None, 4), TypeError, "views must be a Viewset, got NoneType"),
        (lambda: fill_zeros({}), TypeError, "views must be a Viewset, got dict"),
        (lambda: scale(SIX_ROWS, 4), TypeError, "filled must be a Filled, got Viewset"),
        (lambda: adjust(SIX_ROWS), TypeError, "scaled must be a Scaled, got Viewset"),
        (lambda: to_rows(SIX_ROWS), TypeError, "scaled must be a Scaled, got Viewset"),
        (lambda: safety.amplification(3), TypeError, "views must be a Viewset, got int"),
        (lambda: safety.at_most("x", 4), TypeError, "views must be a Viewset, got str"),
        (lambda: safety.check([], 4), TypeError, "views must be a Viewset, got list"),
        (lambda: safety_transform(SIX_ROWS, 4, allow_differences="no"), TypeError, "allow_differences must"),
        (lambda: safety_transform(SIX_ROWS, 4, gauge=0), TypeError, "gauge must be a bool, got int"),
        (lambda: safety_transform(SIX_ROWS, 4, table=object()), TypeError, "table: expected a Table"),
        (
            lambda: safety_transform(SIX_ROWS, np.timedelta64(5, "s")),
            TypeError,
            "amplification must be an int",
        ),
        (
            lambda: safety_transform(SIX_ROWS, 4, rows=np.timedelta64(5, "s")),
            TypeError,
            "rows must be 'smallest'",
        ),
        (lambda: safety_transform(SIX_ROWS, -(10**5000)), ValueError, r"38 digits .*, got about -2\^16609"),
        (lambda: safety_transform(SIX_ROWS, 4, rows=10**301), ValueError, r"rows must be 1 to 10\^300"),
        (lambda: fill_zeros(SIX_ROWS, guard=1025), ValueError, "guard must be 1 to 1024, got 1025"),
        (lambda: scale(fill_zeros(SIX_ROWS), 4, bits=2**63), ValueError, "bits must be at most 1,048,576"),
        (lambda: scale(fill_zeros(SIX_ROWS), 4, k="0.5"), ValueError, "k must be at least 1, got 0.5"),
        (lambda: safety.limit("1e-5000", "1e-6000"), ValueError, "0 < l1 < l2 < 1, got about 2"),
    ],
)
def test_arguments_of_another_kind_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_equal_score_ratios_give_equal_releases_where_the_margin_is_only_bounded(tmp_path):
    """41 binary attributes, more than 10^12 tuples: counts doubled, and values weighted."""
    n = 41
    counts = [[[10 + i % 7, 5 + i % 5], [20 - i % 7, 20 - i % 5]] for i in range(n)]
    weighted = [[[h * x for x in row] for row, h in zip(array, (3, 2), strict=True)] for array in counts]
    classes, adjusted = reference.adjust(reference.weights_of([30, 25], n), weighted)
    common = math.lcm(
        *(x.denominator for x in classes), *(x.denominator for a in adjusted for r in a for x in r)
    )
    others = (
        Viewset([30, 25], counts),
        Viewset([60, 50], [[[2 * x for x in row] for row in array] for array in counts]),
        Viewset(
            [int(x * common) for x in classes],
            [[[int(x * common) for x in row] for row in array] for array in adjusted],
        ),
    )
    assert all(views.is_realistic() for views in others)
    for rows in ("smallest", "proven"):
        files = []
        for number, views in enumerate(others):
            safety_transform(views, 4, rows=rows).save(tmp_path / f"{rows}{number}")
            files.append((tmp_path / f"{rows}{number}" / "certificate.json").read_bytes())
        assert files[0] == files[1] == files[2]


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
    while (middle := ladder_module.between(low, high)) is not None:
        assert low < middle < high
        assert middle == ladder_module.on_grid(middle)
        low, high = (middle, high) if middle < Fraction(257, 4) else (low, middle)
    assert (low, high) == (64, 65)
    assert ladder_module.between(Fraction(3, 64), Fraction(4, 64)) is None
    assert ladder_module.between(Fraction(3, 64), Fraction(5, 64)) == Fraction(4, 64)
    assert ladder_module.on_grid(Fraction(4096 + 1, 64)) == 65


def test_flat_posteriors_are_warned_of():
    views = Viewset([30, 40, 50], [[[10, 20, 25], [20, 20, 25]]] * 2)
    release = safety_transform(views, "1.001")
    assert any("nearly flat" in text and "'label'" in text for text in release.remarks)
    assert not release.certificate.warnings
    release = safety_transform(views, "1.001", preserve="label")
    assert any("nearly flat" in text and "'label'" not in text for text in release.remarks)
    table = {"A1": [0, 1, 0], "A2": [0, 0, 1], "y": [0, 1, 2]}
    release = safety_transform(views, "1.001", table=table, class_name="y")
    assert any("within 1 % of guessing, 1.0986" in text for text in release.remarks)
    sharp = safety_transform(Viewset([9, 9], [[[8, 1], [1, 8]]]), 40)
    assert not sharp.remarks
    assert not sharp.certificate.warnings


def test_expected_log_loss(monkeypatch):
    rng = random.Random(51)
    for _ in range(10):
        views, published = drawn(rng, n=2, n_classes=3, kind="more"), None
        published = safety_transform(views, 4, rows="proven").views
        of_class, counts = reference.lists(views)
        expected = 0.0
        for row in reference.tuples(counts):
            x = reference.scores(reference.weights_of(of_class, 2), counts, row)
            y = reference.scores(
                reference.weights_of(*((lists := reference.lists(published))[0], 2)), lists[1], row
            )
            for mine, other in zip(x, y, strict=True):
                expected += float(mine) / views.n_rows * -math.log(other / sum(y))
        exact = expected_log_loss(views, published)
        assert exact == pytest.approx(expected)
        with monkeypatch.context() as patch:
            patch.setattr("nbcfast.views.loss.ENUMERATED", 0)
            assert expected_log_loss(views, published) == pytest.approx(exact, rel=0.05)


def test_larger_domains(monkeypatch):
    """The ways for domains that are not searched, on small ones."""
    rng = random.Random(61)
    for _ in range(12):
        views = drawn(rng, kind=rng.choice(["few", "more", "ties", "huge"]))
        with monkeypatch.context() as patch:
            patch.setattr(plan_module, "SEARCHED", 0)
            found = safety_transform(views, 4)
            assert verified(views, found.views, 4, "order")
            rows = found.views.n_rows
            release = safety_transform(views, 4, rows=rows, allow_differences=True)
            assert release.views.n_rows == rows
            patch.setattr(rows_module, "COMPARED", 0)
            assert safety_transform(views, 4).certificate.equivalence == "interval"


def test_to_rows():
    scaled = scale(fill_zeros(SEVEN_SIX), 4, k=2)
    for rows in ("smallest", "proven", 500):
        assert verified(SEVEN_SIX, to_rows(scaled, rows), 4, "order")
    assert to_rows(scaled, 500).n_rows == 500
    scaled = scale(fill_zeros(SEVEN_SIX), 4, k=1)
    for rows in ("proven", 10**9):
        with pytest.raises(Infeasible, match="Lambda"):
            to_rows(scaled, rows)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"amplification": 1}, ValueError, "amplification must be above 1"),
        ({"amplification": "nan"}, ValueError, "amplification must be a finite number"),
        ({"amplification": None}, TypeError, "amplification must be"),
        ({"amplification": 4, "attacker": "me"}, ValueError, "attacker must be 'row' or 'worlds', got 'me'"),
        ({"amplification": 4, "rows": 0}, ValueError, "rows must be 1 to 10\\^300, got 0"),
        (
            {"amplification": 4, "rows": "few"},
            ValueError,
            "rows must be 'smallest', 'proven' or an int, got 'few'",
        ),
        ({"amplification": 4, "rows": 2.5}, TypeError, "rows must be .* got float"),
        ({"amplification": 4, "rows": True}, TypeError, "rows must be .* got bool"),
        ({"amplification": 4, "preserve": "all"}, ValueError, "preserve must be"),
    ],
)
def test_safety_transform_refuses(options, error, message):
    with pytest.raises(error, match=message):
        safety_transform(SIX_ROWS, **options)


def test_many_attributes_and_classes():
    rng = np.random.default_rng(1)
    for n, n_classes, preserve in ((60, 2, "order"), (60, 5, "label"), (12, 6, "order")):
        classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 200)])
        chance = rng.uniform(0.02, 0.98, (n, n_classes))
        codes = (rng.random((len(classes), n)) < chance[:, classes].T).astype(int)
        views = Viewset.from_codes(codes, classes, sizes=[2] * n, n_classes=n_classes)
        release = safety_transform(views, 4, preserve=preserve, rows="proven")
        assert release.certificate.equivalence == "interval"
        assert safety.at_most(release.views, 4)
        assert release.views.is_realistic()
        table = nbcfast.Table({f"A{i + 1}": codes[:, i] for i in range(n)})
        if preserve == "order":
            assert (views.order(table) == release.views.order(table)).all()
        assert (views.predict(table) == release.views.predict(table)).all()


def test_a_published_file_passes_the_single_file_check(tmp_path):
    safety_transform(THREE_ROWS, 4).save(tmp_path / "release")
    script = nbcfast.__path__[0] + "/verify_release.py"
    found = subprocess.run(
        [sys.executable, "-I", script, str(tmp_path / "release")], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_adult_3(data):
    table = nbcfast.read_csv(
        data / "adult-train.csv", columns=["age", "education_num", "hours_per_week", "income"]
    )
    for classes, most, exponents in (
        ((">50K", "<=50K"), 3_000_000, (17, 11)),
        (("<=50K", ">50K"), 3_000_000, (15, 8)),
    ):
        views = nbcfast.count(table, "income", classes=classes)
        filled = fill_zeros(views)
        assert (filled.n_zeros, filled.exponents) == (24, exponents)
        scaled = scale(filled, 4)
        assert float(scaled.margin) == pytest.approx(1.9513960496864301e-4)
        assert float(scaled.k) == pytest.approx({17: 23.84, 15: 10.58}[exponents[0]], abs=0.03)
        for rows in ("smallest", "proven"):
            release = safety_transform(views, 4, rows=rows, table=table, class_name="income")
            assert safety.at_most(release.views, 4)
            assert equivalence.compare(views, release.views).equal
            assert (views.predict(table) == release.views.predict(table)).all()
            assert release.certificate.differing_rows == 0
            assert rows == "proven" or release.views.n_rows <= most


@pytest.mark.parametrize(
    "module",
    [
        powers_module,
        publish_module,
        roots_module,
        rounding_module,
        scaled_module,
        adjusted_module,
        zeros_module,
    ],
)
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
