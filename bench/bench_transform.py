"""SafetyTransform: each step and the whole, native against reference and gmpy2; every answer is checked.

Adult needs NBCFAST_DATA. `python bench/peers.py --jobs publishing` prints the same as a table.
"""

import random
from fractions import Fraction

import gmpy2
import pytest
from shared.publishing import BITS, adult_3, counted, four_steps

from nbcfast import Viewset, equivalence, safety
from nbcfast.reference import transform as reference
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale
from nbcfast.transform.roots import roots


def by_gmpy2(numbers, k, bits):
    with gmpy2.context(precision=bits):
        return [gmpy2.rootn(gmpy2.mpfr(number), k) for number in numbers]


@pytest.mark.parametrize("k", [7, 10, 41])
@pytest.mark.parametrize("way", ["native", "gmpy2"])
def bench_roots(benchmark, way, k):
    """At least 3x: 20,000 distinct counts at 256 bits."""
    numbers = random.Random(k).sample(range(1, 10**6), 20_000)
    found = (
        benchmark(roots, numbers, Fraction(k), BITS)
        if way == "native"
        else benchmark(by_gmpy2, numbers, k, BITS)
    )
    if way == "native":
        for i in range(0, len(numbers), 997):
            value = Fraction(int(found.mantissas[i])) * Fraction(2) ** found.exponents[i]
            assert value == reference.root(Fraction(numbers[i]), k, BITS)


def bench_roots_reference(benchmark):
    numbers = random.Random(7).sample(range(1, 10**6), 200)
    expected = roots(numbers, Fraction(7), BITS)
    found = benchmark(lambda: [reference.root(Fraction(number), 7, BITS) for number in numbers])
    for value, mantissa, exponent in zip(found, expected.mantissas, expected.exponents, strict=True):
        assert value == Fraction(int(mantissa)) * Fraction(2) ** exponent


@pytest.mark.parametrize("way", ["native", "reference"])
def bench_steps(benchmark, way):
    """Steps 1 to 3 of a small viewset, where the reference can go through all tuples."""
    views = Viewset(
        [40, 76, 30], [[[2, 1, 0], [38, 75, 30]], [[2, 0, 10], [38, 76, 20]], [[9, 7, 1], [31, 69, 29]]]
    )
    expected = reference.steps(views, 4)

    def native():
        return adjust(scale(fill_zeros(views), 4))

    if way == "reference":
        assert benchmark(reference.steps, views, 4) == expected
    else:
        found = benchmark(native)
        assert [Fraction(int(p.numerator), int(p.denominator)) for p in found.class_counts] == expected[0]


@pytest.mark.parametrize("n_values", [500, 5_000, 50_000])
def bench_four_steps(benchmark, n_values):
    """Two classes, so 1e5 counts at last: under 0.5 s."""
    views = counted(n_values)
    _, published = benchmark.pedantic(four_steps, (views,), rounds=3, warmup_rounds=1)
    assert published.is_realistic()


@pytest.mark.parametrize("rows", ["proven", "smallest"])
def bench_adult_3(benchmark, rows):
    """Under 30 ms, and under 1 s with at most 3e6 rows."""
    views = adult_3()
    if views is None:
        pytest.skip("needs NBCFAST_DATA")
    release = benchmark(safety_transform, views, 4, rows=rows)
    assert equivalence.compare(views, release.views).equal
    assert safety.at_most(release.views, 4)
    assert rows == "proven" or release.views.n_rows <= 3_000_000
