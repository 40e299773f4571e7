"""Domains beyond meeting in the middle: interval proofs, witnesses, and what stays undecided."""

import random
import time
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from equivalence_cases import WAYS, census, differs, nearly
from how_many import how_many

import nbcfast
from nbcfast import Table, Viewset
from nbcfast._halves.split import split
from nbcfast.equivalence import bound, compare, margin
from nbcfast.equivalence.comparing import compared
from nbcfast.equivalence.pairwise import WorkLimits
from nbcfast.reference import equivalence as reference


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
    for seed in range(how_many(100, 300)):
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
    assert proven > how_many(33, 100)


@pytest.fixture(scope="module", params=[(300, 2, "order"), (80, 12, "order"), (80, 12, "label")])
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
        found = compared(a, b, "order", limits=WorkLimits(enumerate=0, looks=0, list=1))
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
