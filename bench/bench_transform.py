"""SafetyTransform: each step and the whole, native against reference and gmpy2; every answer is checked.

`pytest bench/bench_transform.py` for the clocks; `python bench/bench_transform.py` fits the exponent of the
four steps over three decades and runs the wide views. Needs NBCFAST_DATA for the rows of Adult.
"""

import os
import random
import resource
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import gmpy2
import numpy as np
import pytest

import nbcfast
from nbcfast import Viewset, equivalence, safety
from nbcfast.reference import transform as reference
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale
from nbcfast.transform.roots import roots
from nbcfast.transform.rounding import Shares, proven, viewset

BITS = 256


def counted(n_values, n=8, n_classes=2):
    """Views of n attributes, n_values counts a class, some of them 0; their bound needs 200 bits."""
    rng = np.random.default_rng(n_values)
    size, total = n_values // n, 10**8
    arrays = []
    for _ in range(n):
        array = rng.integers(1, 2 * total // size, (size, n_classes))
        array[rng.random(array.shape) < 0.02] = 0
        array[0] = 1
        arrays.append(array)
    most = max(int(array.sum(axis=0).max()) for array in arrays)
    of_class = most * (1 + 2 * np.arange(n_classes))
    for array in arrays:
        array[0] += of_class - array.sum(axis=0)
    return Viewset(of_class, arrays)


def four_steps(views, limit=4):
    scaled = scale(fill_zeros(views), limit, bits=BITS)
    adjusted = adjust(scaled)
    found = proven(Shares(scaled))
    return adjusted, viewset(views, found.of_class, found.rows)


def wide(n, n_classes, rows=1000):
    """Binary attributes."""
    rng = np.random.default_rng(n_classes)
    classes = rng.integers(0, n_classes, rows)
    classes[:n_classes] = range(n_classes)
    chance = rng.uniform(0.05, 0.95, (n, n_classes))
    codes = (rng.random((rows, n)) < chance[:, classes].T).astype(np.int64)
    return Viewset.from_codes(codes, classes, sizes=[2] * n, n_classes=n_classes)


def adult_3():
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        pytest.skip("needs NBCFAST_DATA")
    names = ["age", "education_num", "hours_per_week", "income"]
    table = nbcfast.read_csv(Path(folder) / "adult-train.csv", columns=names)
    return nbcfast.count(table, "income", classes=(">50K", "<=50K"))


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
    release = benchmark(safety_transform, views, 4, rows=rows)
    assert equivalence.compare(views, release.views).equal
    assert safety.at_most(release.views, 4)
    assert rows == "proven" or release.views.n_rows <= 3_000_000


def main():
    times = []
    for n_values in (50, 500, 5_000, 50_000):
        views = counted(max(n_values, 64))
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            _, published = four_steps(views)
            best = min(best, time.perf_counter() - start)
        assert safety.at_most(published, 5)
        times.append((2 * max(n_values, 64), best))
        print(f"four steps, {times[-1][0]} counts at {BITS} bits: {1000 * best:.1f} ms")
    sizes, seconds = np.log(np.array(times)).T
    print(
        f"exponent {np.polyfit(sizes[1:], seconds[1:], 1)[0]:.2f} over the last two decades, "
        f"{np.polyfit(sizes, seconds, 1)[0]:.2f} over three"
    )
    for n_classes, preserve in ((2, "order"), (12, "label")):
        views = wide(1000, n_classes)
        start = time.perf_counter()
        release = safety_transform(views, 4, rows="proven", preserve=preserve)
        middle = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            release.save(Path(folder) / "release")
            size = (Path(folder) / "release" / "certificate.json").stat().st_size
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"1000 binary attributes, {n_classes} classes, {preserve}: {middle - start:.1f} s, "
            f"file of {size // 2**20} MiB in {time.perf_counter() - middle:.1f} s, at most {memory} MiB"
        )


if __name__ == "__main__":
    sys.exit(main())
