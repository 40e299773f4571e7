"""Differential privacy: a million draws, native beside plain Python, and counts made of them."""

from fractions import Fraction

import numpy as np
import pytest
from against.noise import SCALE, SIGMA_SQUARED, has_law, words

from nbcfast import Viewset, dp
from nbcfast.dp import draws
from nbcfast.reference import dp as reference

DRAWS = {"native": 1_000_000, "plain Python": 20_000}


@pytest.mark.parametrize("how", list(DRAWS))
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def bench_draws(benchmark, name, how):
    """1e6 draws of the kernel; 2e4 of Python."""
    n, parameter = DRAWS[how], SCALE if name == "laplace" else SIGMA_SQUARED
    coins = draws.own_coins if how == "native" else words
    drawn = benchmark.pedantic(lambda: getattr(draws, name)(parameter, n, coins()), rounds=3, warmup_rounds=1)
    assert has_law(getattr(reference, f"{name}_law")(parameter), drawn)


@pytest.mark.parametrize("cells", [550, 100_000])
def bench_counts(benchmark, cells):
    """275 values in 2 classes, and 1,000 values each of 50 attributes in 2."""
    n_attributes = 5 if cells == 550 else 50
    n_values = cells // n_attributes // 2
    codes = np.random.default_rng(5).integers(0, n_values, (30_000, n_attributes))
    classes = np.random.default_rng(6).integers(0, 2, 30_000)
    views = Viewset.from_codes(codes, classes, sizes=[n_values] * n_attributes, n_classes=2)
    private = benchmark.pedantic(dp.counts, (views,), {"epsilon": 1}, rounds=3, warmup_rounds=1)
    assert private.is_realistic()
    assert min(int(array.min()) for array in private.counts.values()) >= 1


@pytest.mark.parametrize("what", ["epsilon_of", "rho_of"])
def bench_conversion(benchmark, what):
    found = benchmark(getattr(dp, what), 1, "1e-6")
    rho = found if what == "rho_of" else Fraction(1)
    assert abs(dp.epsilon_of(rho, "1e-6") - (1 if what == "rho_of" else found)) < Fraction(1, 10**8)
