"""Draws of noise: the same by kernel, Python and specification, and with the laws that they claim."""

import math
from collections import Counter
from fractions import Fraction
from itertools import repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _coins, _noise, dp
from nbcfast.dp import draws
from nbcfast.reference import dp as reference

KEY = bytes(range(32))
SCALES = [
    Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(6), Fraction(7, 3), Fraction(1100),
    Fraction(2**33, 5), Fraction(2**55 + 1, 2**53 + 3),
]  # fmt: skip
SQUARES = [
    Fraction(1, 1000), Fraction(1, 3), Fraction(2), Fraction(7, 3), Fraction(226), Fraction(10**9, 7),
    11 / (2 * dp.rho_of(1, "1e-6")),
]  # fmt: skip
LAWS = {"laplace": draws.laplace, "gaussian": draws.gaussian}


def stream(key=KEY, n=1 << 17):
    words = np.empty(n, np.uint64)
    _coins.Coins(key).words(words)
    return iter(words.tolist())


@pytest.mark.parametrize(
    ("name", "parameter"), [*zip(repeat("laplace"), SCALES), *zip(repeat("gaussian"), SQUARES)]
)
def test_the_kernel_takes_the_same_words_as_the_specification(name, parameter):
    up, down = parameter.numerator, parameter.denominator
    assert getattr(_noise, f"fits_{name}")(up, down)
    out = np.empty(300, np.int64)
    assert getattr(_noise, name)(_coins.Coins(KEY), up, down, out) == 300
    words = stream()
    expected = [getattr(reference, name)(parameter, words) for _ in range(300)]
    assert out.tolist() == expected
    # And Python, where the numbers would not fit.
    assert LAWS[name](parameter, 300, stream().__next__).tolist() == expected


@given(
    st.sampled_from(["laplace", "gaussian"]),
    st.fractions(Fraction(1, 10**6), 10**9, max_denominator=10**9),
    st.binary(min_size=32, max_size=32),
)
def test_kernel_and_specification_agree_on_any_parameter(name, parameter, key):
    words = stream(key, 1 << 12)
    expected = [getattr(reference, name)(parameter, words) for _ in range(10)]
    assert LAWS[name](parameter, 10, _coins.Coins(key)).tolist() == expected


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("laplace", Fraction(2**62 - 1)),  # the kernel leaves nearly all of these
        ("laplace", Fraction(2**61 - 1, 3)),  # and some of these
        ("laplace", Fraction(2**62 - 1, 2**40)),
        ("laplace", Fraction(10**40, 7)),  # and takes no scale like this one
        ("gaussian", Fraction(2**120 + 1)),
        ("gaussian", Fraction(10**25 + 1, 10**24)),
        ("gaussian", Fraction(2**41 + 1)),
    ],
)
def test_what_does_not_fit_is_drawn_by_python_from_the_same_words(name, parameter):
    words = stream()
    expected = [getattr(reference, name)(parameter, words) for _ in range(400)]
    coins = _coins.Coins(KEY)
    drawn = LAWS[name](parameter, 400, coins)
    assert drawn.tolist() == expected
    assert drawn.dtype == (np.int64 if max(map(abs, expected)) < 2**63 else object)
    after = np.empty(1, np.uint64)
    coins.words(after)
    assert int(after[0]) == next(words)  # none was lost on the way from one to the other


def test_the_kernel_goes_back_over_a_block_of_words():
    """What it leaves has taken words of the next block: these come again."""
    up = 2**62 - 1
    for skipped in range(500, 515):
        coins, words = _coins.Coins(KEY), stream()
        coins.words(np.empty(skipped, np.uint64))
        for _ in range(skipped):
            next(words)
        out = np.empty(1, np.int64)
        if _noise.laplace(coins, up, 1, out) == 0:
            after = np.empty(8, np.uint64)
            coins.words(after)
            assert after.tolist() == [next(words) for _ in range(8)]


def chi_squared(drawn, law):
    """Pearson's statistic and its degrees of freedom; values are put together until 10 are expected."""
    counts, n = Counter(drawn.tolist()), len(drawn)
    cells, observed, expected = [], 0, 0.0
    for x in sorted(law, key=lambda x: (abs(x), x)):
        observed += counts.pop(x, 0)
        expected += n * law[x]
        if expected >= 10:
            cells.append((observed, expected))
            observed, expected = 0, 0.0
    last_observed, last_expected = cells.pop()
    cells.append((last_observed + observed + sum(counts.values()), last_expected + expected))
    return sum((seen - due) ** 2 / due for seen, due in cells), len(cells) - 1


@pytest.mark.parametrize(
    ("name", "parameter"),
    [*zip(repeat("laplace"), SCALES[1:6]), *zip(repeat("gaussian"), [*SQUARES[1:5], SQUARES[6]])],
)
def test_draws_have_their_law(name, parameter):
    """Of 1e5 draws under a fixed key, within 4 standard deviations of what chi-square is expected to be."""
    drawn = LAWS[name](parameter, 100_000, _coins.Coins(b"\x11" * 32))
    statistic, degrees = chi_squared(drawn, getattr(reference, f"{name}_law")(parameter))
    assert statistic < degrees + 4 * math.sqrt(2 * degrees)
    # A parameter a tenth off is told apart.
    other, _ = chi_squared(drawn, getattr(reference, f"{name}_law")(parameter * Fraction(11, 10)))
    assert other > degrees + 6 * math.sqrt(2 * degrees)


@pytest.mark.parametrize("name", list(LAWS))
def test_noise_that_is_nearly_none_is_nearly_none(name):
    assert not LAWS[name](Fraction(1, 1000), 100_000, _coins.Coins(KEY)).any()


@pytest.mark.parametrize(("num", "den"), [(0, 1), (1, 1), (1, 2), (3, 7), (10**12, 10**12 + 39)])
def test_an_exponential_chance_is_the_sum_of_its_series(num, den):
    """The coins say yes for odd n, the first not below: n and below once more for every factor gamma / n."""
    gamma, chance, term = Fraction(num, den), Fraction(0), Fraction(1)
    for n in range(1, 40):  # P(n is the first to fail) = gamma^(n-1)/(n-1)! - gamma^n/n!
        following = term * gamma / n
        chance += term - following if n % 2 else 0
        term = following
    assert abs(float(chance) - math.exp(-gamma)) < 1e-15
    words = stream(n=1 << 20)
    tries = 20_000
    yes = sum(reference.happens(gamma, den, words) for _ in range(tries))
    assert abs(yes - tries * float(chance)) <= 5 * math.sqrt(tries * float(chance * (1 - chance)))


def test_numbers_below_a_bound_are_uniform_and_take_the_fewest_words():
    for bound in (2, 3, 1000, 2**32, 2**32 + 1, 2**64, 2**64 + 1, 10**30):
        words = stream(n=1 << 14)
        numbers = [draws.below(bound, words.__next__) for _ in range(2_000)]
        again = stream(n=1 << 14)
        assert numbers == [reference.below(bound, again) for _ in range(2_000)]
        assert max(numbers) < bound
        assert abs(sum(numbers) / 2_000 / bound - (bound - 1) / bound / 2) < 5 / math.sqrt(24_000)
    assert draws.below(1, None) == 0
    # Lemire's rejection: of 2^32 halves of words 2^32 mod 3 = 1 is refused.
    assert draws.below(3, iter([0, 5 << 32]).__next__) == 0


def test_coins_of_a_simulation_are_refused():
    with pytest.raises(ValueError, match="coins of a simulation can be foretold"):
        draws.laplace(Fraction(1), 3, _coins.Coins(KEY, seeded=True))


def test_the_kernel_refuses_what_it_cannot_take():
    coins, out = _coins.Coins(KEY), np.empty(3, np.int64)
    for up, down in ((0, 1), (1, 0), (2**62, 1), (1, 2**62), (-1, 1)):
        with pytest.raises(ValueError, match=r"integers from 1 to below 2\^62"):
            _noise.laplace(coins, up, down, out)
        with pytest.raises(ValueError, match="do not fit 127 bits"):
            _noise.gaussian(coins, up, down, out)
    assert _noise.laplace(coins, 1, 1, out[:0]) == 0


def test_no_key_is_taken_twice():
    exact = np.zeros(40, np.int64)
    first, second = (dp.noisy(exact, epsilon="0.01", sensitivity=1) for _ in range(2))
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize("name", list(LAWS))
def test_a_part_of_an_integer_is_refused_and_not_lost(name):
    """2.5 would be 2 in the kernel, and the law of less noise than was asked for."""
    draw = getattr(_noise, name)
    for up, down in ((2.5, 1), (5, 2.0), (np.float64(5), 1)):
        assert not getattr(_noise, f"fits_{name}")(up, down)
        with pytest.raises(ValueError, match=r"scale must be|chances of sigma"):
            draw(_coins.Coins(KEY), up, down, np.empty(3, np.int64))
