"""Margins and comparisons against brute force with Fractions, with every way of finding them forced."""

import itertools
import math
import random
import signal
import threading
import time
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Table, Viewset, _margin
from nbcfast._core.products import product
from nbcfast._halves.lines import Line
from nbcfast._halves.split import Split, split
from nbcfast._halves.terms import Logs, Term
from nbcfast.equivalence import Comparer, Comparison, Enumerated, Margin, bound, compare, margin
from nbcfast.equivalence.comparing import compared
from nbcfast.equivalence.margins import margin_of
from nbcfast.equivalence.pairwise import Limits
from nbcfast.reference import equivalence as reference
from nbcfast.reference import views as reference_views

KINDS = {
    "small, with zeros": lambda r: r.randint(0, 4),
    "positive": lambda r: r.randint(1, 6),
    "huge": lambda r: 10**15 + r.randint(-2, 2),
    "ties": lambda r: r.choice([0, 1, 2, 4, 8, 16]),
    "beyond 64 bits": lambda r: 3**200 + r.randint(0, 2),
    "huge, with zeros": lambda r: r.choice([0, 10**15, 10**15 + 1, 10**15 - 1, 1]),
    "bits": lambda r: r.randint(0, 1),
}

# Each way through `compare`. The last two may leave the answer, or the number, open.
WAYS = {
    "as it is": Limits(),
    "halves": Limits(enumerate=0),
    "halves, everything listed": Limits(enumerate=0, looks=0, labels=0),
    "halves, nothing listed": Limits(enumerate=0, list=1),
    "nothing kept": Limits(enumerate=0, looks=0, labels=0, memory=0),
    "attributes outside": Limits(most=2, enumerate=0, memory=0),
    "attributes outside, enumerated": Limits(most=1),
    "short lists": Limits(enumerate=0, looks=0, labels=0, list=2),
    "too large": Limits(work=1),
}
OPEN = ("short lists", "too large")

MARGIN_WAYS = [
    {},
    {"enumerate_up_to": 0},
    {"most": 2},
    {"most": 3, "enumerate_up_to": 0},
    {"most": 1, "enumerate_up_to": 0},
]


def some_views(r, n_classes, sizes, kinds):
    """Views that need not be realistic: rows of zeros, equal rows and equal columns among them."""
    number = KINDS[r.choice(kinds)]
    of_class = [number(r) for _ in range(n_classes)]
    if r.random() < 0.9:
        of_class = [max(count, 1) for count in of_class]
    if r.random() < 0.5:
        of_class = [of_class[0] or 1] * n_classes
    of_class[-1] = of_class[-1] if any(of_class) else 1
    arrays = []
    for size in sizes:
        number = KINDS[r.choice(kinds)]
        array = [[number(r) for _ in range(n_classes)] for _ in range(size)]
        if r.random() < 0.2:
            array[r.randrange(size)] = [0] * n_classes
        if r.random() < 0.3:
            array[r.randrange(size)] = list(array[0])
        if r.random() < 0.3:
            array = [[count if r.random() < 0.8 else row[0] for count in row] for row in array]
        arrays.append(array)
    return Viewset(of_class, arrays)


def changed(r, views):
    """Nearly the same views: some counts a little off, or all multiplied."""
    factor, keep = r.choice([1, 1, 10, 1000]), r.random() < 0.3

    def count(number):
        chance = r.random()
        number = int(number) * factor
        if keep or chance < 0.85:
            return number
        return max(0, number + r.choice([-1, 1])) if chance < 0.97 else number * 3

    return Viewset(
        [max(1, int(number) * factor) for number in views.class_counts],
        [[[count(number) for number in row] for row in views.counts[name]] for name in views.attributes],
    )


def drawn(seed):
    """Two viewsets of the same shape, at most 5 classes and 4 attributes."""
    r = random.Random(seed)
    n_classes, n = r.randint(1, 5), r.randint(0, 4)
    sizes = [r.randint(1, 4) for _ in range(n)]
    while math.prod(sizes) * n_classes**2 > 600:
        sizes[r.randrange(n)] = 1
    kinds = list(KINDS) if r.random() < 0.2 else [r.choice(list(KINDS))]
    a = some_views(r, n_classes, sizes, kinds)
    return a, changed(r, a) if r.random() < 0.7 else some_views(r, n_classes, sizes, kinds)


SEEDS = st.integers(0, 2**32)


def check_margin(seed):
    views, _ = drawn(seed)
    expected = reference.margin(views)
    for way in MARGIN_WAYS:
        found = margin_of(views, **way)
        assert found.exact
        assert found.tuples == len(reference_views.tuples(views))
        if expected is None:
            assert (found.log, found.log2, found.witness, found.classes) == (math.inf, math.inf, None, None)
            continue
        c, d = map(views.classes.index, found.classes)
        assert reference.ratio(views, found.witness, c, d) == expected[0]
        # Both are logarithms of the same Fraction, rounded once or twice.
        assert found.log == pytest.approx(reference.log(expected[0]), rel=2**-51)
        assert found.log2 == pytest.approx(math.log2(found.log), rel=1e-12, abs=1e-12)


def check_bound(seed):
    views, _ = drawn(seed)
    expected, nearest = reference.bound(views), reference.margin(views)
    found = bound(views)
    assert found.method == "bound"
    if expected is None:
        assert found.log == math.inf
        assert nearest is None
        return
    assert reference.log(expected) * (1 - 2**-48) <= found.log <= reference.log(expected)
    if nearest is not None:
        assert expected <= nearest[0]


def check_comparison(seed):
    a, b = drawn(seed)
    n_tuples = len(reference_views.tuples(a))
    all_differing = {preserve: reference.differing(a, b, preserve) for preserve in ("order", "label")}
    for preserve, (name, limits) in itertools.product(("order", "label"), WAYS.items()):
        differing = all_differing[preserve]
        found = compared(a, b, preserve, limits=limits)
        where = (seed, preserve, name, found)
        assert found.tuples == n_tuples, where
        assert found.preserve == preserve
        if found.equal is None:
            assert name in OPEN, where
            assert found.differing is None
            assert not found.bound.exact or found.bound.log == math.inf
            continue
        assert found.equal is (not differing), where
        if found.differing is None:
            assert name in OPEN, where
        else:
            assert found.differing == len(differing), where
        if not differing:
            assert (found.witness, found.classes) == (None, None)
            continue
        assert found.witness in differing, where
        positions = tuple(map(a.classes.index, found.classes))
        if preserve == "label" and len(a.classes) > 2:
            assert positions == (reference.label(a, found.witness), reference.label(b, found.witness)), where
        else:
            assert positions[0] < positions[1]
            pairs = list(itertools.combinations(range(len(a.classes)), 2))
            number = pairs.index(positions)
            orders = reference.order(a, found.witness), reference.order(b, found.witness)
            assert orders[0][number] != orders[1][number], where


def check_enumerated(seed):
    a, b = drawn(seed)
    for preserve in ("order", "label"):
        held = Enumerated(a, preserve)
        differing = reference.differing(a, b, preserve)
        assert held.violations(b) == len(differing)
        assert held.violations(a) == 0
        assert held.violations(
            (b.class_counts.tolist(), [array.tolist() for array in b.counts.values()])
        ) == len(differing)
        of = Comparer(a, preserve)
        for other in (b, a):
            assert of.compare(other) == compare(a, other, preserve)
        rows = reference_views.tuples(a)
        if not a.attributes:
            continue
        places = [
            tuple(a.domain(name).index(row[name]) for name in a.attributes)
            for row, differs in zip(rows, held.mismatches(b).ravel(), strict=True)
            if differs
        ]
        assert [
            tuple(a.domain(name).index(row[name]) for name in a.attributes) for row in differing
        ] == places
        if held.truth is not None:
            assert held.truth.shape == (len(held.pairs), *held.shape)
            for row, bits in zip(rows, np.moveaxis(held.truth, 0, -1).reshape(len(rows), -1), strict=True):
                assert reference.order(a, row) == bits.tolist()
        else:
            assert held.labels.ravel().tolist() == [reference.label(a, row) for row in rows]


@pytest.mark.parametrize("check", [check_margin, check_bound, check_comparison, check_enumerated])
def test_equals_brute_force(check):
    for seed in range(250):
        check(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("check", [check_margin, check_bound, check_comparison, check_enumerated])
def test_equals_brute_force_at_length(check):
    for seed in range(1_000, 6_000):
        check(seed)


@given(SEEDS)
def test_equals_brute_force_of_any_seed(seed):
    check_margin(seed)
    check_comparison(seed)


# --- larger domains --------------------------------------------------------------------------------------


def census(sizes, n_classes=2, seed=1, n_rows=30_000):
    """Realistic views with some zero counts."""
    rng = np.random.default_rng(seed)
    of_class = np.maximum(rng.multinomial(n_rows, np.full(n_classes, 1 / n_classes)), 1)
    return Viewset(
        of_class,
        [
            np.array(
                [rng.multinomial(count, rng.dirichlet(np.full(size, 0.7))) for count in of_class]
            ).T.copy()
            for size in sizes
        ],
    )


def nearly(views, factor, seed=2):
    rng = np.random.default_rng(seed)
    return Viewset(
        views.class_counts * factor,
        [
            array * factor + (array > 0) * rng.integers(0, 2, array.shape, np.int64)
            for array in views.counts.values()
        ],
    )


def ratios(views, c, d):
    """Log-ratios over the whole domain in floats; -inf where X_c = 0, inf where X_d alone is."""
    n = len(views.attributes)
    sums = np.array((1 - n) * (math.log(views.class_counts[c]) - math.log(views.class_counts[d])))
    with np.errstate(divide="ignore", invalid="ignore"):
        for array in views.counts.values():
            sums = np.add.outer(sums, np.log(array[:, c]) - np.log(array[:, d]))
    return np.where(np.isnan(sums), -np.inf, sums)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "way", ["halves", "halves, nothing listed", "halves, everything listed", "attributes outside"]
)
def test_a_million_tuples(n_classes, way):
    a = census((41, 73, 16, 9, 3), n_classes)
    limits = WAYS[way]._replace(most=5_000) if way == "attributes outside" else WAYS[way]
    for factor in (3, 1_000):
        b = nearly(a, factor)
        differs = np.zeros(a_shape := tuple(len(array) for array in a.counts.values()), bool)
        lost = np.zeros((2, n_classes, *a_shape), bool)
        nearest = math.inf
        for c, d in itertools.combinations(range(n_classes), 2):
            f, g = ratios(a, c, d), ratios(b, c, d)
            finite = np.abs(f[np.isfinite(f)])
            # Floats are enough: no tuple is nearer to a tie than their error, or it is an exact tie.
            assert not ((finite > 1e-12) & (finite < 1e-11)).any()
            nearest = min(nearest, finite[finite > 1e-11].min())
            above, above_too = f > 1e-12, g > 1e-12
            differs |= above != above_too
            for which, is_above in enumerate((above, above_too)):
                lost[which, d] |= is_above
                lost[which, c] |= ~is_above
        assert margin(a).log == pytest.approx(nearest, rel=1e-6)
        found = compared(a, b, "order", limits=limits)
        assert (found.equal, found.differing) == (not differs.any(), np.count_nonzero(differs))
        found = compared(a, b, "label", limits=limits)
        assert found.differing == np.count_nonzero((lost[0] != lost[1]).any(axis=0))


def test_adult(data):
    table = nbcfast.read_csv(data / "adult-train.csv")
    views = nbcfast.count(
        table, "income", ["age", "education_num", "hours_per_week"], classes=(">50K", "<=50K")
    )
    for way in ({}, {"enumerate_up_to": 0}, {"enumerate_up_to": 10**6}):
        found = margin_of(views, **way)
        # The published figure is the logarithm of a rounded quotient, right to 12 digits.
        assert found.log == pytest.approx(1.9513960496864301e-4, rel=1e-11)
        assert found.log == reference.log(Fraction(82002333737088, 81986333395277))
        assert found.tuples == 109_792
    assert 2**-60.3 < bound(views).log < 2**-60.1
    same = compare(views, views + views, on=table)
    assert (same.equal, same.differing, same.tuples, len(same.rows)) == (True, 0, 109_792, 0)
    other = nbcfast.count(
        table.take(np.arange(30_000)), "income", views.attributes, classes=(">50K", "<=50K")
    )
    other = Viewset(
        other.class_counts,
        {name: _spread(other, views, name) for name in views.attributes},
        classes=views.classes,
        domains={name: views.domain(name) for name in views.attributes},
    )
    found = compare(views, other, on=table)
    differ = np.flatnonzero(views.predict(table, codes=True) != other.predict(table, codes=True))
    assert found.rows.tolist() == differ.tolist()
    assert found.differing == Enumerated(views).violations(other) > 0


def _spread(views, like, name):
    array = np.zeros((len(like.domain(name)), len(like.classes)), np.int64)
    for value, row in zip(views.domain(name), views.counts[name], strict=True):
        array[like.domain(name).index(value)] = row
    return array


def test_huge_counts_that_nearly_tie():
    """The nearest pair is 2^-145 apart; 10^4 tuples, so brute force with integers is quick."""
    rng = np.random.default_rng(3)
    views = Viewset([5 * 10**15] * 2, [rng.integers(10**15, 10**15 + 50, (10, 2)) for _ in range(4)])
    best = None
    for rows in itertools.product(*(views.counts[name].tolist() for name in views.attributes)):
        x, y = math.prod(row[0] for row in rows), math.prod(row[1] for row in rows)
        x, y = max(x, y), min(x, y)
        if x > y and (best is None or x * best[1] < best[0] * y):
            best = x, y
    for way in MARGIN_WAYS[:3]:
        found = margin_of(views, **way)
        c, d = map(views.classes.index, found.classes)
        assert reference.ratio(views, found.witness, c, d) == Fraction(*best)


def test_ties_in_a_large_domain():
    """2^40 tuples with 41 different scores: all that is equal must be seen to be so."""
    views = Viewset([300, 300], [[[100, 200], [200, 100]]] * 40)
    found = margin(views)
    assert (found.log, found.tuples, found.method) == (
        pytest.approx(math.log(4)),
        2**40,
        "meet in the middle",
    )
    other = Viewset([300, 300], [[[101, 199], [199, 101]]] * 39 + [[[102, 198], [198, 102]]])
    found = compare(views, other)
    # With as many values of either kind the other viewset breaks the tie, half of the time for class 0.
    assert (found.equal, found.differing) == (False, math.comb(39, 19))


def test_more_tuples_than_can_be_counted():
    """10^40 tuples, but few proportions of counts: decided, and counted where 64 bits allow it."""
    a = Viewset([15, 15], [[[1, 2], [2, 1]] + [[1, 1]] * 98] * 20)
    assert margin(a).log == reference.log(Fraction(2))
    assert compare(a, Viewset([30, 30], [[[2, 4], [4, 2]] + [[1, 1]] * 98] * 20)).equal
    other = Viewset([15, 15], [[[1, 2], [2, 1]] + [[1, 1]] * 98] * 19 + [[[1, 2], [3, 1]] + [[1, 1]] * 98])
    found = compare(a, other)
    assert (found.equal, found.differing, found.tuples) == (False, None, 100**20)
    assert reference.order(a, found.witness) != reference.order(other, found.witness)
    few, few_too = (Viewset([15, 15], list(views.counts.values())[-3:]) for views in (a, other))
    assert compare(few, few_too).differing == Enumerated(few).violations(few_too) > 0


# --- what does not fit -----------------------------------------------------------------------------------


def test_undecided():
    views = census((20,) * 30)
    found = margin(views)
    assert (found.exact, found.method, found.witness, found.tuples) == (False, "bound", None, 20**30)
    assert found == bound(views)
    # An attribute changed so little that no sampled tuple shows it.
    arrays = [array * 10**6 + 1 for array in views.counts.values()]
    arrays[0] = arrays[0] + np.array([[1, 0]] + [[0, 0]] * 19)
    undecided = compare(views, Viewset(views.class_counts * 10**6, arrays))
    if undecided.equal is None:
        assert (undecided.differing, undecided.method, undecided.bound) == (None, "undecided", bound(views))
        assert repr(undecided) == "Comparison(undecided: about 1.1 * 10^39 tuples are too many)"
    else:  # a zero count made positive was met by chance
        assert (undecided.equal, undecided.method, undecided.differing) == (False, "sample", None)
    assert compare(views, views + views).method == "interval"
    found = compare(views, nearly(views, 2))
    assert (found.equal, found.differing, found.method) == (False, None, "sample")
    differing = (reference.order(views, found.witness), reference.order(nearly(views, 2), found.witness))
    assert differing[0] != differing[1]


def powers(views, k, bits, tilt):
    """N^(1/k) in units of 2^-bits, class c tilted by c * tilt of them: docs/mathematics/safety.md, c."""
    with gmpy2.context(precision=bits + 80):

        def root(number, n=1, c=0, spare=0):
            value = gmpy2.exp(gmpy2.log(gmpy2.mpfr(number)) * n / k) * (1 + c * gmpy2.exp2(-tilt))
            return int(gmpy2.rint(value * gmpy2.exp2(bits + spare)))

        n = len(views.attributes)
        arrays = [[[root(int(number)) for number in row] for row in array] for array in views.counts.values()]
        # The class weight is an attribute of one value more, so that the class counts may be equal.
        weights = [root(int(number), 1 - n, c, 12 * n) for c, number in enumerate(views.class_counts)]
    # X of the first has one attribute more: P^(-n) N.., so its values of one carry P.
    ones = [[int(count) for count in views.class_counts]]
    same = Viewset(views.class_counts, [*views.counts.values(), ones])
    return same, Viewset([1] * len(weights), [*arrays, [weights]])


@pytest.mark.parametrize("k", [1, 34, Fraction(17 * 64 + 1, 64)])
def test_interval_proof_of_a_transform(k):
    """Roots with enough digits are proven equivalent whatever the domain; with few they are not."""
    rng = np.random.default_rng(5)
    views = Viewset([2000, 3000], [rng.integers(1, 1000, (12, 2)) for _ in range(25)])
    needed = int(-bound(views).log2) + 40
    same, other = powers(views, k, needed, needed - 30)
    found = compare(same, other)
    assert (found.equal, found.differing, found.method, found.tuples) == (True, 0, "interval", 12**25)
    same, other = powers(views, k, 60, 40)
    assert compare(same, other).equal is None


def test_interval_proofs_are_sound():
    """Whatever is perturbed, an answer of the interval proof is the answer of the enumeration."""
    proven = 0
    for seed in range(300):
        r = random.Random(seed)
        views = Viewset(
            [r.randint(1, 9) for _ in range(3)],
            [
                [[r.randint(1, 9) for _ in range(3)] for _ in range(r.randint(1, 4))]
                for _ in range(r.randint(1, 3))
            ],
        )
        bits = r.choice([4, 6, 8, 10, 12, 16, 20, 30])
        same, other = powers(views, r.choice([1, 2, 3, 7]), bits, bits - r.choice([1, 2, 3, 4]))
        for preserve in ("order", "label"):
            found = compared(same, other, preserve, limits=WAYS["too large"])
            expected = compare(same, other, preserve)
            if found.equal is not None:
                assert found.equal == expected.equal
            proven += found.method == "interval"
    assert proven > 100


@pytest.fixture(scope="module", params=[(600, 2, "order"), (120, 12, "order"), (120, 12, "label")])
def large_release(request):
    """The views of a thousand rows with many binary attributes, others of the same shape, and a release."""
    n, n_classes, preserve = request.param
    views = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        columns = {f"A{i}": rng.integers(0, 2, 1000) for i in range(n)}
        views.append(nbcfast.count(Table({**columns, "class": rng.integers(0, n_classes, 1000)}), "class"))
    release = nbcfast.safety_transform(views[0], 4, preserve=preserve, rows="proven")
    return *views, release, preserve


def test_releases_of_many_attributes(large_release):
    """Counts of thousands of digits: the right views are proven, wrong ones refuted, both in seconds."""
    right, wrong, release, preserve = large_release
    start = time.process_time()
    found = compare(right, release.views, preserve)
    assert (found.equal, found.differing, found.method) == (True, 0, "interval")
    assert compare(release.views, right, preserve).equal
    found = compare(wrong, release.views, preserve)
    assert (found.equal, found.differing, found.method) == (False, None, "sample")
    assert differs(wrong, release.views, found)
    found = compare(wrong, right, preserve)
    assert found.equal is False
    assert differs(wrong, right, found)
    # Some seconds of this process alone; minutes where the time grows with the square of the digits.
    assert time.process_time() - start < 60


def test_verification_against_the_wrong_table(large_release, tmp_path):
    right, wrong, release, _ = large_release
    release.save(tmp_path / "release")
    start = time.process_time()
    assert nbcfast.verify(tmp_path / "release", against=right).ok
    found = nbcfast.verify(tmp_path / "release", against=wrong)
    assert not found.ok
    assert "differs on some of" in next(check for check in found.checks if not check.passed).text
    assert time.process_time() - start < 60


def differs(a, b, found):
    """Whether the witness and its classes are right, by integers."""
    n, classes = len(a.attributes), [a.classes.index(label) for label in found.classes]
    of = []
    for views in (a, b):
        counts = [views.counts[name][views.domain(name).index(found.witness[name])] for name in a.attributes]
        up = [product(int(row[c]) for row in counts) for c in range(len(a.classes))]
        down = [gmpy2.mpz(int(count)) ** (n - 1) for count in views.class_counts]

        def above(c, d, up=up, down=down):
            return up[c] * down[d] > up[d] * down[c]

        if found.preserve == "order" or len(a.classes) == 2:
            of.append(above(*classes))
        else:
            best = 0
            for c in range(1, len(a.classes)):
                best = best if above(best, c) else c
            of.append(best)
    return of[0] != of[1] and (type(of[0]) is bool or of == classes)


@pytest.mark.parametrize(
    ("sizes", "n_classes", "zeros", "factor"),
    [
        ((20,) * 40, 2, True, 10**2),
        ((20,) * 40, 2, False, 10**3),
        ((5,) * 60, 2, True, 10**6),
        ((2,) * 300, 2, False, 10**5),
        ((6,) * 60, 4, True, 10**6),
        ((6,) * 60, 4, False, 10**6),
    ],
)
def test_small_differences_in_a_large_domain(sizes, n_classes, zeros, factor):
    """Views with all counts changed by one part in `factor` of themselves or less are told apart."""
    a = census(sizes, n_classes)
    if not zeros:
        a = Viewset(a.class_counts, [array + 1 for array in a.counts.values()])
    b = nearly(a, factor)
    found = compare(a, b)
    assert (found.equal, found.differing, found.method) == (False, None, "sample")
    assert differs(a, b, found)
    found = compare(a, b, "label")
    assert found.equal is not True
    assert found.equal is None or differs(a, b, found)


def test_broken_ties_and_lost_zeros_in_a_large_domain():
    ties = Viewset([300, 300], [[[100, 200], [200, 100]]] * 120)
    broken = Viewset(
        [300, 300], [[[100, 200], [200, 100]]] * 119 + [[[10**9, 2 * 10**9], [2 * 10**9 + 1, 10**9]]]
    )
    found = compare(ties, broken)
    assert (found.equal, found.method) == (False, "sample")
    assert differs(ties, broken, found)
    # Ahead of a class that was zero there by a value that hardly any tuple has.
    r = random.Random(3)
    arrays = [[[r.randint(50, 60), r.randint(10, 20)] for _ in range(12)] for _ in range(40)]
    arrays[7][5][1] = 0
    zero = Viewset([600, 200], arrays)
    arrays[7][5] = [1, 10**40]
    found = compare(zero, Viewset([600, 200], arrays))
    assert (found.equal, found.witness["A8"]) == (False, 5)
    assert differs(zero, Viewset([600, 200], arrays), found)


def test_what_takes_too_long_is_undecided(monkeypatch):
    """Logarithms of as many digits as a proof would need."""
    from nbcfast.equivalence import interval

    rng = np.random.default_rng(5)
    views = Viewset([2000, 3000], [rng.integers(1, 1000, (12, 2)) for _ in range(25)])
    needed = int(-bound(views).log2) + 40
    same, other = powers(views, 34, needed, needed - 30)
    for name in ("MOST_SECONDS", "MOST_MEMORY", "MOST_BITS"):
        with monkeypatch.context() as patch:
            patch.setattr(interval, name, 0)
            found = compare(same, other)
            assert (found.equal, found.method, found.bound) == (None, "undecided", bound(same))
    assert compare(same, other).equal


def test_lists_that_are_given_up():
    """A witness was met all the same."""
    given_up = 0
    for seed in range(40):
        r = random.Random(seed)
        a = Viewset([600] * 3, [[[r.randint(1, 40) for _ in range(3)] for _ in range(60)] for _ in range(2)])
        arrays = [array.copy() for array in a.counts.values()]
        arrays[r.randrange(2)][r.randrange(60), 0] += r.choice([-1, 1, 2])
        b = Viewset([600] * 3, arrays)
        expected = compare(a, b)
        found = compared(a, b, "order", limits=Limits(enumerate=0, looks=0, list=1))
        assert found.equal == expected.equal
        assert found.differing in (None, expected.differing)
        if not found.equal:
            assert differs(a, b, found)
        given_up += found.differing is None
    assert given_up > 5


def test_split_finds_even_halves():
    parts = split([73, 16, 94, 1, 9, 7], 10**6, 10**9)
    assert parts.blocks == 1
    assert parts.n * parts.m == 73 * 16 * 94 * 9 * 7
    assert (parts.n, parts.m) == (94 * 9 * 7, 73 * 16) or parts.n < 94 * 9 * 7
    assert sorted(parts.a + parts.b) == [0, 1, 2, 4, 5]
    parts = split([1000, 1000, 1000], 1000, 10**9)
    assert (parts.blocks, parts.n, parts.m) == (1000, 1000, 1000)
    assert split([1000] * 3, 1000, 10**5) is None
    assert split([2] * 2000, 10**6, 10**9) is None
    parts = split([2] * 30, 10**6, 10**9)
    assert (parts.n, parts.m) == (2**15, 2**15)
    assert split([], 10, 10) == ((), (), (), 1, 1, 1)


# --- the interface ---------------------------------------------------------------------------------------


def test_safety_note_cases():
    """docs/mathematics/safety.md, a and c: Step 1 as printed, ties 4 * 4 = 2 * 8, the additive tie rule."""
    a = Viewset([2, 1], [[[0, 1], [2, 0]], [[1, 1], [1, 0]]])
    b = Viewset([2, 1], [[[0, 1], [2, 1]], [[1, 1], [1, 0]]])
    found = compare(a, b)
    assert (found.differing, found.witness) == (1, {"A1": 1, "A2": 0})
    four = Viewset([20, 20], [[[4, 2], [16, 18]], [[4, 8], [16, 12]]])
    assert not Enumerated(four).truth[0, 0, 0]
    delta = Viewset([200_000, 200_000], [[[10_000, 40_000]], [[160_000, 40_000]]])
    tilted = Viewset([200_000, 200_000], [[[10_009, 40_010]], [[160_009, 40_010]]])
    assert reference.compare(delta, tilted) == (1, 1)
    assert compare(delta, tilted).differing == 1


def test_attributes_and_values_are_found_by_name():
    a = Viewset(
        [5, 5],
        {"job": [[2, 3], [3, 2]], "age": [[1, 0], [4, 5]]},
        domains={"job": ["clerk", None], "age": [1, 2]},
    )
    b = Viewset(
        [5, 5],
        {"age": [[4, 5], [1, 0]], "job": [[2, 3], [3, 2]]},
        domains={"job": ["clerk", None], "age": [2.0, 1.0]},
    )
    assert compare(a, b) == Comparison(True, 0, 4, None, None, "order", "enumeration")
    found = compare(
        a,
        Viewset(
            [5, 5],
            {"job": [[3, 2], [2, 3]], "age": [[1, 0], [4, 5]]},
            domains={"job": ["clerk", None], "age": [1, 2]},
        ),
    )
    assert (found.differing, found.witness) == (2, {"job": "clerk", "age": 2})
    assert found.witness in [{"job": job, "age": 2} for job in ("clerk", None)]


def test_rows_of_a_table():
    a = Viewset([5, 5, 5], {"job": [[2, 3, 1], [3, 2, 4]]})
    b = Viewset([5, 5, 5], {"job": [[3, 2, 1], [3, 2, 4]]})
    found = compare(a, b, on={"job": [0, 1, 0], "other": [1, 2, 3]})
    assert found.rows.tolist() == [0, 2]
    assert compare(a, b, "label", on=Table({"job": [1, 1]})).rows.tolist() == []
    assert compare(a, b, "label").differing == 1
    c = Viewset([5, 5, 5], {"job": [[2, 3, 1], [2, 3, 4]]})
    assert compare(a, c, "label").equal
    assert compare(a, c, on={"job": [1]}).rows.tolist() == [0]


def test_single_class_one_value_and_nothing():
    one = Viewset([3], [[[1], [2]]])
    assert compare(one, Viewset([7], [[[0], [7]]])).equal
    assert margin(one).log == math.inf
    flat = Viewset([3, 3], [[[3, 3]]])
    assert margin(flat) == Margin(math.inf, math.inf, None, None, True, "enumeration", 1)
    assert compare(flat, flat, "label").tuples == 1
    bare = Viewset([3, 4], [])
    assert margin(bare).log == reference.log(Fraction(4, 3))
    assert margin(bare).witness == {}
    assert compare(bare, Viewset([4, 3], [])).witness == {}
    empty = Viewset([3, 4], [np.zeros((0, 2), int)])
    assert (compare(empty, empty).tuples, compare(empty, empty).equal) == (0, True)
    assert margin(empty).log == math.inf
    assert Enumerated(empty).violations(empty) == 0
    without_rows = Viewset([3, 0, 3], [[[1, 0, 2], [2, 0, 1]]])
    assert margin(without_rows).log == math.log(2)
    assert compare(without_rows, without_rows).equal


def test_results_read_well():
    views = Viewset(
        [5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"], domains={"job": ["a", SUPPRESSED]}
    )
    found = margin(views)
    assert repr(found) == (
        "Margin(0.4054651081081644: 'yes' over 'no' at {'job': 'a'}; 2 tuples, enumeration)"
    )
    assert found.to_dict()["classes"] == ["yes", "no"]
    assert "at least" in repr(bound(views))
    assert "no two positive scores differ" in repr(margin(Viewset([1, 1], [])))
    other = compare(views, views, on={"job": ["a"]})
    assert repr(other) == "Comparison(equal order on all 2 tuples, enumeration; 0 rows of the table differ)"
    assert other.to_dict()["rows"] == []
    with pytest.raises(AttributeError):
        other.equal = None
    tiny = bound(Viewset([999, 1000], [[[400, 500], [599, 500]]] * 400))
    assert tiny.log == 0.0
    assert -9000 < tiny.log2 < -7000
    assert repr(tiny).startswith("Margin(at least 2^-")


def test_refusals():
    a = Viewset([5, 5], {"job": [[2, 3], [3, 2]]})
    with pytest.raises(ValueError, match="preserve must be 'order' or 'label', got 'rank'"):
        compare(a, a, "rank")
    with pytest.raises(ValueError, match="same classes in the same precedence, got"):
        compare(a, Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=[1, 0]))
    with pytest.raises(ValueError, match="same attributes, got 'age' in one of them"):
        compare(a, Viewset([5, 5], {"age": [[2, 3], [3, 2]]}))
    with pytest.raises(ValueError, match="attribute 'job': value 2 is in the domain of one viewset only"):
        compare(a, Viewset([5, 5], {"job": [[2, 3], [3, 2], [0, 0]]}))
    with pytest.raises(ValueError, match="attribute 'job': value 1 is in the domain of one viewset only"):
        compare(a, Viewset([5, 5], {"job": [[2, 3]]}))
    nothing = Viewset([0, 0], {"job": [[0, 0], [0, 0]]})
    for ask in (margin, bound, Enumerated, Comparer, lambda b: compare(a, b), lambda b: compare(b, a)):
        with pytest.raises(ValueError, match="no rows"):
            ask(nothing)
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        margin(a, threads=0)
    with pytest.raises(ValueError, match="at most 10000000 tuples can be held, got 1000000000000"):
        Enumerated(Viewset([1], [np.ones((10**6, 1), int)] * 2))
    with pytest.raises(ValueError, match=r"expected counts of 2 classes and \(2,\) values"):
        Enumerated(a).violations(([5, 5], [[[1, 2]]]))


def test_kernel_refuses_what_does_not_fit():
    i32, i64 = np.zeros(2, np.int32), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="out must have 4 places, got 2"):
        _margin.outer(i64, i64, i64)
    with pytest.raises(ValueError, match="place 1: index 5 outside"):
        _margin.Lists(i64, np.array([0, 5], np.int32), i64, i32, 1)
    with pytest.raises(ValueError, match="a half must have"):
        _margin.Exact(
            np.array([0]), np.array([1]), np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), 1
        )
    exact = _margin.Exact(
        np.array([2]), np.array([2]), np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), 1
    )
    lists = _margin.Lists(i64, i32, i64, i32, 1)
    with pytest.raises(ValueError, match="above must have 2 places, got 3"):
        lists.thresholds(0, 0, exact, np.zeros(0, np.uint64), np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="base must be 0 limbs, got 1"):
        lists.nearest(0, 0, exact, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="place 0: index 9 outside"):
        _margin.dominance(i32, np.array([9, 0], np.int32), i32, i64, i32, i64)
    two, one = np.zeros((1, 2), np.int32), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="start and stop must be in"):
        _margin.enumerated(two, two, two, two, one, one, 2, False, i64, i64, 0, 3)


def fewer_classes(views, n_classes):
    return Viewset(
        views.class_counts[:n_classes], [array[:, :n_classes].copy() for array in views.counts.values()]
    )


def test_long_work_goes_on_after_a_look_for_interrupts():
    """More comparisons than are made at a time: sums that only limbs tell apart, and dominance."""
    rng = np.random.default_rng(4)
    terms = [Term.of(*row) for row in (10**15 + rng.integers(0, 10**6, (40_000, 2))).tolist()]
    line = Line(Term(0, 1, 1), [terms], Split((), (), (0,), 1, 1, len(terms)), Logs())
    _, order = line.list_b()
    assert sorted(order.tolist()) == list(range(len(terms)))
    ordered = [terms[place] for place in order.tolist()]
    assert all(x.up * y.down <= y.up * x.down for x, y in itertools.pairwise(ordered))
    n, m = 600_000, 30
    above, above_too = rng.integers(0, m + 1, (2, n)).astype(np.int32)
    weight, rank_weight = rng.integers(1, 4, n), rng.integers(1, 4, m)
    rank = rng.permutation(m).astype(np.int32)
    found = _margin.dominance(
        np.argsort(-above).astype(np.int32), above, above_too, weight, rank, rank_weight
    )
    k, t = np.mgrid[: m + 1, : m + 1]
    counted = (np.arange(m) >= k[..., np.newaxis]) & (rank < t[..., np.newaxis])
    assert found == np.dot(weight, (counted * rank_weight).sum(axis=2)[above, above_too])


def test_threads_and_progress_change_nothing():
    a = census((73, 94, 16, 14, 9, 7), 3)
    b = nearly(a, 100)
    calls = []
    results = {
        threads: (margin(a, threads=threads), compare(a, b, threads=threads)) for threads in (1, 2, None)
    }
    assert len(set(map(repr, results.values()))) == 1
    assert margin(a, progress=lambda done, total: calls.append((done, total))) == results[1][0]
    assert calls == [(done, 6) for done in range(1, 7)]
    for other, n_classes, preserve in ((a, 3, "order"), (b, 3, "order"), (b, 3, "label"), (b, 2, "order")):
        calls.clear()
        mine, theirs = (fewer_classes(views, n_classes) for views in (a, other))
        found = compare(mine, theirs, preserve, progress=lambda done, total: calls.append((done, total)))
        assert found.equal is (other is a)
        assert len(calls) > 2
        assert calls == sorted(calls)
        assert all(0 < done <= total for done, total in calls)
        assert calls[-1][0] == calls[-1][1]
    # Halves so long that a second thread is worth while.
    wide = census((73, 94, 16, 14, 9, 7, 50, 11))
    wide_too = nearly(wide, 10**5)
    results_of_wide = [(margin(wide, threads=k), compare(wide, wide_too, threads=k)) for k in (1, 2)]
    assert repr(results_of_wide[0]) == repr(results_of_wide[1])
    assert results_of_wide[0][1].differing > 0
    # Callers in threads of their own share nothing that changes.
    found = []
    workers = [threading.Thread(target=lambda: found.append(compare(a, b))) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [results[1][1]] * 3


def test_interrupt_is_answered():
    """Between two attributes; the kernels look for signals themselves (test_interrupts.py)."""
    views = census((73, 94, 16, 14, 9, 7), 3)
    calls = []

    def pressed(*call):
        calls.append(call)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        margin(views, progress=pressed)
    assert calls == [(1, 6), (2, 6), (3, 6)]
