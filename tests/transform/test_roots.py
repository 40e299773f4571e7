"""Correctly rounded roots, by the kernel, by MPFR and by the reference."""

import random
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast import _roots
from nbcfast.reference import transform as reference
from nbcfast.transform import roots as roots_module

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
    mantissas, exponents = roots_module.roots_in_limbs(numbers, Fraction(7, 2), 2)
    assert roots_module.from_limbs(mantissas) == roots_module.roots(numbers, Fraction(7, 2), 128).mantissas
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
