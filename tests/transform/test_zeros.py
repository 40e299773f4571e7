"""Step 1, against the exact reference and over all tuples."""

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from transform_cases import SIX_ROWS, THREE_ROWS, drawn

from nbcfast import Viewset, _zeros
from nbcfast.reference import transform as reference
from nbcfast.transform import fill_zeros, safety_transform


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
    return Viewset([sum(row[c] for row in rows) for c in range(n_classes)], [np.array(rows)] * n)


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
