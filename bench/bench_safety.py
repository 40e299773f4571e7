"""Amplification: native beside the linear formula in Fractions, decisions alone, and time against counts."""

import statistics
import time
from fractions import Fraction

import numpy as np
import pytest

from nbcfast import Viewset, safety
from nbcfast.reference import safety as reference

# Values of an attribute, attributes, classes, largest count.
SHAPES = {
    "adult_3": (61, 3, 2, 10_000),
    "1e5_counts": (2_500, 20, 2, 10_000),
    "1e5_counts_of_18_digits": (2_500, 20, 2, 10**18),
    "1e5_counts_12_classes": (417, 20, 12, 10_000),
    "1000_binary": (2, 1_000, 2, 1_000),
}


def drawn(n_values, n_attributes, n_classes, most):
    """Positive views; nothing here needs them to be realistic."""
    rng = np.random.default_rng([n_values, n_attributes, n_classes])
    counts = [rng.integers(1, most, (n_values, n_classes)) for _ in range(n_attributes)]
    return Viewset(rng.integers(most, 2 * most, n_classes), counts)


def product(views, found):
    """X_c / X_d at the tuple that was found, from the counts themselves."""
    c, d = found.classes
    ratio = Fraction(int(views.class_counts[d]), int(views.class_counts[c])) ** (len(views.attributes) - 1)
    for name, value in found.tuple.items():
        row = views.counts[name][value]
        ratio *= Fraction(int(row[c]), int(row[d]))
    return ratio


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("how", ["native", "reference"])
def bench_amplification(benchmark, how, shape):
    views = drawn(*SHAPES[shape])
    if how == "reference":
        assert benchmark.pedantic(reference.linear, (views,)) > 1
        return
    found = benchmark(safety.amplification, views)
    expected = reference.linear(views)
    assert product(views, found) == expected
    assert found.value in (expected, None)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("near", ["far", "equal"])
def bench_at_most(benchmark, near, shape):
    """A limit that an interval tells apart, and the exact value, for which it takes the product."""
    views = drawn(*SHAPES[shape])
    exact = reference.linear(views)
    limit = Fraction(4) if near == "far" else exact
    assert benchmark(safety.at_most, views, limit) == (limit >= exact)


@pytest.mark.parametrize("near", ["far", "equal"])
def bench_at_most_of_long_counts(benchmark, near):
    """1,000 binary attributes with counts of 20,000 bits, as a release proven by the bound has them."""
    small = drawn(2, 1_000, 2, 1_000)
    views = Viewset(
        [int(count) << 20_000 for count in small.class_counts],
        [array.astype(object) << 20_000 for array in small.counts.values()],
    )
    exact = reference.linear(small)
    limit = Fraction(4) if near == "far" else exact
    assert benchmark.pedantic(safety.at_most, (views, limit), rounds=3) == (limit >= exact)


def bench_linear_in_the_counts(benchmark, request, capsys):
    """The exponent of the time against the number of counts, over three decades."""
    sizes = [100, 316, 1_000, 3_162, 10_000, 31_623, 100_000]
    if request.config.getoption("benchmark_disable"):
        sizes = sizes[:3]
    seconds = []
    for size in sizes:
        views = drawn(max(1, size // 20), 10, 2, 10_000)
        times = []
        for _ in range(9):
            start = time.perf_counter()
            found = safety.amplification(views)
            times.append(time.perf_counter() - start)
        assert product(views, found) == found.value
        seconds.append(statistics.median(times))
    benchmark.pedantic(safety.amplification, (views,))
    logs = np.log(sizes), np.log(seconds)
    fit = np.polyfit(*logs, 1)[0]
    tail = np.polyfit(logs[0][-3:], logs[1][-3:], 1)[0]
    with capsys.disabled():
        shown = ", ".join(f"{size}: {1e3 * s:.2f} ms" for size, s in zip(sizes, seconds, strict=True))
        print(f"\namplification, {shown}; exponent {fit:.2f}, of the three largest {tail:.2f}")
