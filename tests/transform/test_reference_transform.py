"""The exact specification of SafetyTransform does what it claims: all tuples, before and after."""

import math
from fractions import Fraction

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Viewset, safety
from nbcfast.reference import transform as reference


@st.composite
def tables(draw, most=8, least=0):
    """Views of a table in which every class has a row; zeros (unless `least` is 1) and ties are frequent."""
    n, n_classes = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    sizes = [draw(st.integers(1, 3)) for _ in range(n)]
    of_class = [
        draw(st.integers(max([1, *(least * size for size in sizes)]), most)) for _ in range(n_classes)
    ]
    counts = []
    for size in sizes:
        array = [[least] * n_classes for _ in range(size)]
        for c, total in enumerate(of_class):
            for _ in range(total - least * size):
                array[draw(st.integers(0, size - 1))][c] += 1
        counts.append(array)
    return Viewset(of_class, counts)


MODES = st.sampled_from(["order", "label"])
LIMITS = st.sampled_from([Fraction(101, 100), Fraction(3, 2), Fraction(4)])


@given(tables(), MODES, LIMITS, st.booleans(), st.integers(1, 3))
def test_steps_keep_the_order_and_the_limit(views, preserve, limit, gauge, guard):
    of_class, counts, k, b, exponents = reference.steps(
        views, limit, preserve=preserve, gauge=gauge, guard=guard
    )
    assert reference.verified(views, of_class, counts, limit, preserve)
    if b is None:
        assert (of_class, counts) == reference.lists(views)
        return
    # No smaller k of the grid does it, even without any rounding, or rounding is what stands in the way.
    positive = reference.filled(views, exponents)
    before = reference.amplification(reference.weights_of(reference.lists(views)[0], len(counts)), positive)
    assert k >= reference.least_k(before, limit)
    # What is lost to rounding is a step of the grid, here and there two.
    log = (math.log(before.numerator) - math.log(before.denominator)) / math.log(limit)
    assert k <= max(log, 1) + Fraction(3, 64) if k < 64 else k <= log + 3
    # Every factor is a number of b bits.
    _, scaled = reference.scale(views, exponents, k, b, gauge=gauge)
    for number in (x for array in scaled for row in array for x in row):
        assert number == reference.rounded(number, b)


@given(tables(most=4), MODES, st.integers(1, 3))
def test_exponents_are_least(views, preserve, guard):
    # One bit less for any class breaks the guard somewhere; the comparisons themselves are kept.
    exponents = reference.fill_zeros(views, preserve=preserve, guard=guard)
    class_counts, counts = reference.lists(views)
    weights = reference.weights_of(class_counts, len(counts))

    def compared(exponents):
        """The least X_d / X_c over the comparisons in which a replaced zero of c has to stay below d."""
        filled, least = reference.filled(views, exponents), [math.inf] * len(class_counts)
        for row in reference.tuples(counts):
            x, before = reference.scores(weights, filled, row), reference.scores(weights, counts, row)
            for c, mine in enumerate(before):
                for d, theirs in enumerate(before):
                    above = d > c if preserve == "order" else d == len(before) - 1
                    if mine == 0 and c != d and (theirs > 0 or above):
                        least[c] = min(least[c], x[d] / x[c])
        return least

    assert all(margin >= 2**guard for margin in compared(exponents))
    for c, exponent in enumerate(exponents):
        if exponent:
            fewer = [e - (i == c) for i, e in enumerate(exponents)]
            assert compared(fewer)[c] < 2**guard


def test_the_printed_step_1_breaks_three_rows_and_the_corrected_one_does_not():
    views = Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]])
    printed = [[[Fraction(x or 1) for x in row] for row in array] for array in reference.lists(views)[1]]
    weights = reference.weights_of([2, 1], 2)
    assert (1, 0) in reference.differing(views, (weights, printed))
    exponents = reference.fill_zeros(views)
    assert reference.differing(views, (weights, reference.filled(views, exponents))) == []


@pytest.mark.parametrize(("n_classes", "expected"), [(2, [3, 1]), (3, [13, 4, 1]), (5, [121, 40, 13, 4, 1])])
def test_exponents_compound_over_classes(n_classes, expected):
    # Every attribute has for every set of classes but all of them a value with 0 there and 1 elsewhere.
    rows = [[0 if mask >> c & 1 else 1 for c in range(n_classes)] for mask in range(2**n_classes - 1)]
    if n_classes == 5:
        # The empty set, single classes and neighbours are what it takes.
        sets = [(), *((j,) for j in range(5)), *((j, j + 1) for j in range(4))]
        rows = [[int(c not in chosen) for c in range(5)] for chosen in sets]
    total = len(rows)
    views = Viewset([total] * n_classes, [rows] * 3)
    assert reference.fill_zeros(views) == expected
    assert max(reference.fill_zeros(views, preserve="label")) <= 3 * expected[-1] + 1


def test_ties_of_unequal_factors_stay_ties():
    # 4 * 4 = 2 * 8: the rounded roots of the two sides differ, and the later class has to win.
    views = Viewset([10, 10], [[[4, 2], [6, 8]], [[4, 8], [6, 2]]])
    assert reference.scores_of(views)[1]((0, 0)) == [Fraction(8, 5)] * 2
    for turned in (views, Viewset([10, 10], [[[2, 4], [8, 6]], [[8, 4], [2, 6]]])):
        for gauge in (True, False):
            of_class, counts, *_ = reference.steps(turned, Fraction(3, 2), gauge=gauge)
            assert reference.verified(turned, of_class, counts, Fraction(3, 2))


def test_a_tilt_of_weights_decides_ties_where_added_constants_do_not():
    counts = [[[1, 4]], [[16, 4]]]
    added = [
        [
            [x + delta for x, delta in zip(row, (Fraction(9, 10000), Fraction(1, 1000)), strict=True)]
            for row in array
        ]
        for array in counts
    ]
    before = reference.scores([Fraction(1, 20)] * 2, counts, (0, 0))
    assert before[0] == before[1] == Fraction(4, 5)
    # delta_1 = 0.9 delta_2, and yet the lower class wins.
    wrong = reference.scores([1 / (20 + Fraction(9, 10000)), 1 / (20 + Fraction(1, 1000))], added, (0, 0))
    assert reference.ranking(wrong) == [0, 1]
    assert [round(float(x), 5) for x in wrong] == [0.80073, 0.80036]
    eta = Fraction(1, 1000)
    tilted = reference.scores([Fraction(1, 20), Fraction(1, 20) * (1 + eta)], counts, (0, 0))
    assert reference.ranking(tilted) == [1, 0]


@pytest.mark.parametrize(
    ("views", "attackers"),
    [
        (([3, 3], [[[1, 2], [2, 1]]] * 2), ["worlds"]),
        (([40, 76], [[[2, 1], [38, 75]]] * 2), ["row", "worlds"]),
        (([1000, 1960], [[[20, 10], [980, 1950]]] * 3), ["row", "worlds"]),
    ],
)
def test_what_condition10_passes_is_transformed(views, attackers):
    views, limit = Viewset(*views), 8 if len(views[1]) == 3 else 4
    for attacker in ("row", "worlds"):
        for gauge in (True, False):
            of_class, counts, k, *_ = reference.steps(views, limit, attacker=attacker, gauge=gauge)
            # A limit that is met with equality leaves no room for rounding: the gauge then needs a larger k.
            assert (k > 1) == (attacker in attackers or gauge)
            assert k < Fraction(17, 16) or attacker in attackers
            assert reference.verified(
                views, of_class, counts, Fraction(limit, 2 if attacker == "worlds" else 1)
            )
            unchanged = (of_class, counts) == reference.lists(views)
            assert unchanged == (attacker not in attackers and not gauge)


@given(tables(least=1), LIMITS, st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_gauged_results_depend_on_score_ratios_only(views, limit, factors):
    # Other counts with the same ratios of scores: every value times a number of its own, then Step 3.
    class_counts, counts = reference.lists(views)
    moved = [[[Fraction(x * factors[t]) for x in row] for t, row in enumerate(array)] for array in counts]
    of_class, other = reference.adjust(reference.weights_of(class_counts, len(counts)), moved)
    whole = math.lcm(*(x.denominator for x in [*of_class, *(x for a in other for row in a for x in row)]))
    twin = Viewset(
        [int(p * whole) for p in of_class],
        [[[int(x * whole) for x in row] for row in array] for array in other],
    )
    assert twin.is_realistic()
    assert reference.steps(twin, limit) == reference.steps(views, limit)


# Parts


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**20), st.integers(64, 64 * 40), st.integers(2, 80)
)
def test_root_is_correctly_rounded(number, grid, b):
    k = Fraction(grid, 64)
    found = reference.root(number, k, b)
    assert found == reference.rounded(found, b)
    # Half way to the neighbours: found - half <= number^(1/k) <= found + half, in integer powers.
    exponent = reference.at_least_log2(found)
    power_of_two = found == Fraction(2) ** exponent
    for side in (-1, 1):
        half = side * Fraction(2) ** (exponent - b - 1 + (power_of_two and side > 0))
        beyond = (found + half) ** k.numerator
        assert (beyond - number**k.denominator) * side >= 0


def test_roots_that_are_exact_or_tie():
    assert reference.root(27, 3, 2) == 3
    assert reference.root(Fraction(8, 27) ** 3, 3, 60) == reference.rounded(Fraction(8, 27), 60)
    assert reference.root(5**64, Fraction(64), 2) == 4  # 5 lies between 4 and 6: even
    assert reference.root(7**64, Fraction(64), 2) == 8
    assert reference.root(2**64, Fraction(128, 2), 5) == 2
    assert reference.root(4, -2, 10) == Fraction(1, 2)
    with gmpy2.context(precision=100):
        assert reference.root(10, 7, 100) == reference.as_fraction(gmpy2.rootn(gmpy2.mpfr(10), 7))


@given(
    st.lists(st.fractions(min_value=Fraction(1, 100), max_value=100), min_size=1, max_size=6),
    st.integers(0, 100),
)
def test_largest_remainder(shares, total):
    found = reference.largest_remainder(shares, total)
    assert sum(found) == total
    assert all(abs(x - share * total / sum(shares)) < 1 for x, share in zip(found, shares, strict=True))


def test_equal_remainders_go_to_the_first():
    assert reference.largest_remainder([1, 1, 1, 1], 6) == [2, 2, 1, 1]
    assert reference.to_rows([1, 1], [[[Fraction(1, 2)] * 2] * 2], 6) == ([3, 3], [[[2, 2], [1, 1]]])


@given(st.fractions(min_value=1, max_value=10**12), LIMITS)
def test_least_k(value, limit):
    k = reference.least_k(value, limit)
    assert k >= 1
    assert (k * (64 if k < 64 else 1)).denominator == 1
    assert safety.at_most(Viewset([1], {}), 1)
    assert k * math.log(limit) >= math.log(value) * (1 - 1e-12)
    if k > 1:
        before = k - (Fraction(1, 64) if k <= 64 else 1)
        assert before * math.log(limit) <= math.log(value) * (1 + 1e-12)
        assert reference.grid_above(before) == k


def test_few_bits_do_not_stand_in_the_way_of_the_limit():
    # All scores tie: any number of bits keeps the order, and with 2 of them the tilt alone exceeds the limit.
    views = Viewset([1, 1], [[[1, 1]]])
    for gauge in (True, False):
        of_class, counts, k, *_ = reference.steps(views, Fraction(1001, 1000), gauge=gauge)
        assert k <= 1 + Fraction(1, 64)
        assert reference.verified(views, of_class, counts, Fraction(1001, 1000))


@given(st.integers(1, 6), st.integers(1, 5), LIMITS, st.integers(1, 10**9), LIMITS)
def test_precision_is_least(n, size, k, near, limit):
    ratio = 1 + Fraction(1, near)
    b = reference.precision(n, size, k, ratio, limit)
    assert reference.precise(b, n, size, k, ratio, limit)
    assert b == 2 or not reference.precise(b - 1, n, size, k, ratio, limit)
    E, eta = reference.errors(b, n, size)
    assert eta / (1 + size * eta) >= 2 * E
