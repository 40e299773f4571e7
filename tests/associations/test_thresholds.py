"""Thresholds are decided exactly, and sizes that are uneven are not refused."""

import time
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from association_cases import FIGURE_1, MODELS, TWO_JOINS, TWO_VIEWS, VIEWS_1
from hypothesis import given
from hypothesis import strategies as st

from nbcfast.associations import risk, sizes, stars


def test_thresholds_are_decided_exactly():
    found = risk(TWO_JOINS, TWO_VIEWS, "who", "what")
    assert found.n_above("45/49") == 0
    assert found.n_above(Fraction(45, 49) - Fraction(1, 10**40)) == 1
    assert found.n_above("5/7") == 1
    assert found.n_above("1/2") == found.n_associations
    many = {"i": np.arange(3_000) % 1_000, "a": np.arange(3_000) % 2, "p": np.arange(3_000) % 700}
    found = risk(many, [("i", "a"), ("a", "p")], "i", "p")
    assert found.worst(1)[0]["probability"] == 0.5
    assert found.n_above("1/2") == found.n_associations  # above it by 2^-349, which no float tells
    assert found.n_above(Fraction(1, 2) + Fraction(1, 2**300)) == 0


@pytest.mark.parametrize(
    "pairs", [[(2, 2)], [(2, 10**6)], [(70, 90), (3, 200)], [(10**5, 10**6)] * 2, [(5, 10**7), (2, 3)]]
)
def test_exceeds_near_the_first_term(pairs):
    rest = Fraction(1)
    for m, n in pairs:
        s = min(m, n)
        rest *= 1 - (Fraction(2 ** (s - 1), 2**s - 1) if s < 1000 else Fraction(1, 2))
    assert sizes.exceeds(pairs, 1 - rest, sizes.enclosed)  # each P is above the first term of its series
    assert not sizes.exceeds(pairs, 1 - rest + Fraction(1, 4), sizes.enclosed)


def test_thresholds_of_several_join_values_are_decided_together():
    n = 150 * 90  # 75 people and 90 values a join value, then again with 60 of the values
    data = {"i": np.arange(2 * n) % 150, "a": np.arange(2 * n) % 2, "p": np.arange(2 * n) // 150 % 90}
    data["a"][n:] += 2
    data["p"][n:] %= 60
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
    twice = [row for row in found.table() if row["p"] < 60]
    assert len(found.of(0, 59).joins) == 2
    assert {row["probability"] for row in twice} == {0.75}  # above it by less than a float tells
    assert found.n_above("3/4") == len(found.above("3/4")) == len(twice)
    assert found.n_above(Fraction(3, 4) + Fraction(1, 2**200)) == len(twice) < found.n_associations
    assert found.n_above(Fraction(3, 4) + Fraction(1, 2**50)) == 0


def test_a_restricted_threshold_is_exact():
    data = {"i": list(range(7)), "a": [0] * 7, "p": list(range(7))}
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    assert (found.n_above("1/7"), found.n_above(1 / 7)) == (0, 49)  # 0.14285714285714285 is below 1/7


@pytest.mark.parametrize(
    ("threshold", "error"), [(1.5, ValueError), (-1, ValueError), (True, TypeError), ("x", ValueError)]
)
def test_bad_thresholds(threshold, error):
    with pytest.raises(error, match="threshold must be"):
        risk(FIGURE_1, VIEWS_1, "name", "problem").above(threshold)


# Two join values with 3 x 3 and 3 x 3: 1 - (104/265)^2 and others, some of whose floats are rounded up.
@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_threshold_equal_to_a_probability_is_not_exceeded(m, n):
    for others in range(2, 5):
        sizes_ = [(m, n), (others, 5 - others % 2)]
        data = {"i": [], "a": [], "p": []}
        for place, (people, values) in enumerate(sizes_):
            for one in range(people * values):
                person, value = one % people, one // people
                data["i"].append((place, person) if person else "both")
                data["a"].append(place)
                data["p"].append((place, value) if value else "both")
        data = {name: list(map(str, values)) for name, values in data.items()}
        found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
        exact = found.of("both", "both").exact
        tiny = Fraction(1, 10**30)
        above = [found.n_above(level) for level in (exact - tiny, exact, exact + tiny)]
        assert above == [above[1] + 1, above[1], above[1]]
        assert len(found.above(exact)) == above[1]


def test_natural_thresholds_of_large_full_worlds():
    numbers = range(1_000)
    found = risk({"i": numbers, "p": numbers}, [("i",), ("p",)], "i", "p", worlds="full")
    assert (found.n_above("1/2"), found.n_above("3/4")) == (10**6, 0)
    two = {"i": np.arange(400), "p": np.arange(400) // 2, "x": np.arange(400)}
    found = risk(two, [("i",), ("p", "x")], "i", "p", worlds="full")
    assert (found.n_above("3/4"), found.n_above("7/8")) == (400 * 200, 0)
    found = risk(two, [("i",), ("p", "x")], "i", "p", worlds="full", model="restricted")
    assert found.of(0, 0).exact == Fraction(1, 200)
    assert (found.n_above("1/200"), found.n_above(Fraction(1, 200) - Fraction(1, 10**40))) == (0, 400 * 200)
    n = 30  # several join values, all alike
    same = {
        "i": np.arange(2 * n * n) % n,
        "a": np.arange(2 * n * n) % 2,
        "p": np.arange(2 * n * n) // n % n,
        "x": np.arange(2 * n * n) // n % n,
    }
    found = risk(same, [("i", "a"), ("a", "p", "x")], "i", "p", worlds="full", model="restricted")
    assert {found.n_above(Fraction(1, len(found.cover(0)))), found.n_above("1/31")} == {
        0,
        found.n_associations,
    }


def test_natural_thresholds_of_large_stars():
    n = np.arange(1_000)
    found = risk({"i": n, "p": n, "x": n % 2}, [("i",), ("p",), ("x",)], "i", "p")
    assert [found.n_above(level) for level in ("1/2", "3/4", "7/8")] == [10**6, 10**6, 0]
    with pytest.raises(ValueError, match="threshold: a probability agrees with it to 512 bits"):
        found.n_above(Fraction(3, 4) + Fraction(1, 2**2500))


@pytest.mark.parametrize(
    ("given_sizes", "own"),
    [
        ((40, 9), (1, 2)),
        ((9, 40), (2, 1)),
        ((30, 4, 3), (1, 1)),
        ((3, 4, 30), (1, 2)),
        ((35, 20), (2, 5)),
        ((4, 60, 2), (3, 7)),
    ],
)
def test_bounds_of_uneven_sizes(given_sizes, own):
    hidden = Fraction(int(stars.star_covers(given_sizes, own)), int(stars.star_covers(given_sizes)))
    assert stars.covers_without(given_sizes, own) == stars.star_covers(given_sizes, own)
    for bits in (1, 4, 10):
        low, high = stars.tuples_enclosed(given_sizes, own, bits)
        assert low == 1 - hidden == high or low < 1 - hidden <= high <= low + Fraction(4, 2**bits)
    for shares in ([1], [1, 2, 3]):
        exact = [
            Fraction(int(stars.covers_without(given_sizes, (own[0], given_sizes[1] - b)))) for b in shares
        ]
        found, _ = stars.single_weights(given_sizes, own[0], shares, 10)
        quotients = [
            Fraction(int(w.numerator), int(w.denominator)) / one for w, one in zip(found, exact, strict=True)
        ]
        assert max(quotients) / min(quotients) <= 1 + Fraction(4, 2**10)


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_covers_without_shared_cells_are_the_sum_over_both_sides(m, n, data):
    a, b = data.draw(st.integers(0, m)), data.draw(st.integers(0, n))
    assert stars.covers_without((m, n), (a, b)) == stars.star_covers((m, n), (a, b))


@pytest.mark.parametrize("tuples", [(20, 3), (40, 3)])
def test_stars_of_uneven_sizes_are_not_refused(tuples):
    n, (values, more) = np.arange(100_000), tuples
    found = risk({"i": n, "p": n % values, "x": n % more}, [("i",), ("p",), ("x",)], "i", "p")
    cells = values * more
    exact = 1 - Fraction(2 ** (cells - more) - 1, 2**cells - 1)  # but for 2^-100000
    assert found.of(0, 0).probability == float(exact)
    assert found.n_above("7/8") == found.n_associations


@pytest.mark.parametrize("model", MODELS)
def test_full_worlds_of_uneven_sizes_are_not_refused(model):
    n = np.arange(100_000)
    found = risk(
        {"i": n, "p": n % 60 // 2 % 7, "x": n % 60},
        [("i",), ("p", "x")],
        "i",
        "p",
        worlds="full",
        model=model,
    )
    rows = {value: found.of(5, value).probability for value in (0, 6)}
    if model == "unrestricted":  # 10 and 8 tuples
        assert rows == {
            value: pytest.approx(1 - (2 ** (60 - b) - 1) / (2**60 - 1), rel=1e-15)
            for value, b in ((0, 10), (6, 8))
        }
    else:
        assert rows[0] / rows[6] == pytest.approx((2**10 - 1) / (2**8 - 1), rel=1e-14)
        assert sum(found.of(5, value).probability for value in range(7)) == pytest.approx(1, rel=1e-14)


def test_full_worlds_of_many_rows_take_little_time():
    rng = np.random.default_rng(1)
    n = 6_000
    data = {
        "i": rng.integers(0, n // 6, n),
        "a": rng.integers(0, n // 50, n),
        "b": rng.integers(0, 4, n),
        "p": rng.integers(0, 30, n),
    }
    views = [("i", "a"), ("a", "p", "b")]
    group = {"i": np.arange(20_000), "x": rng.integers(0, 11, 20_000), "p": rng.integers(0, 7, 20_000)}
    for model in MODELS:
        start = time.process_time()
        found = risk(data, views, "i", "p", worlds="full", model=model)
        one = risk(group, [("i",), ("p", "x")], "i", "p", worlds="full", model=model)
        assert time.process_time() - start < 60  # of this process alone; it was minutes
        assert one.n_associations == 140_000
        some = risk(data, views, "i", "p", worlds="full", model=model, where={"i": data["i"][:5].tolist()})
        for row in some.table():
            exact = found.of(row["i"], row["p"]).exact
            assert row["probability"] == (None if exact is None else pytest.approx(float(exact), rel=1e-14))
            if exact is not None:
                assert (row in list(some.above(exact))) is False
                assert row in list(some.above(max(exact - Fraction(1, 10**50), Fraction(0)))) or exact == 0


@pytest.mark.parametrize(
    "views",
    [
        [("i", "a"), ("i", "b"), ("b", "p")],
        [("i", "a"), ("a", "p"), ("p", "x")],
        [("i", "a"), ("a", "p"), ("p", "b"), ("i", "x")],
        [("i", "a", "x"), ("i", "b", "y"), ("a", "b", "p")],
    ],
)
@pytest.mark.parametrize("worlds", ["projected", "full"])
def test_the_order_of_views_never_matters(views, worlds):
    data = {"i": [0, 0, 1], "a": [2, 1, 0], "b": [0, 1, 1], "p": [1, 0, 2], "x": [1, 0, 0], "y": [1, 2, 2]}
    for model in MODELS:
        found = [risk(data, order, "i", "p", model=model, worlds=worlds) for order in permutations(views)]
        for row in found[0].table():
            assert len({one.of(row["i"], row["p"]).exact for one in found}) == 1
        assert len({one.method for one in found}) == 1
