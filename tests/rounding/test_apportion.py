"""Integers in so many rows by largest remainder, against the exact reference."""

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast._rounding import apportion as apportion_module
from nbcfast._rounding import nearest as nearest_module
from nbcfast.reference import transform as reference


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
        of_floats = nearest_module.apportioned_columns(
            np.array(shares)[:, np.newaxis] / sum(shares), np.array([total])
        )
        assert int(of_floats.sum()) == total
        assert of_floats.min() >= 1


def test_round_up():
    assert [apportion_module.round_up(n) for n in (1, 999, 1000, 1001, 123456, 10**20 + 1)] == [
        1, 999, 1000, 1010, 124000, 101 * 10**18,
    ]  # fmt: skip
