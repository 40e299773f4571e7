"""Randomised response: coins, lies, estimates and the experiment, native beside the reference."""

from fractions import Fraction

import numpy as np
import pytest
from against.response import random_bits

from nbcfast import Table, Viewset, response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme

ROWS = 1_000_000


@pytest.mark.parametrize("coins", ["simulation", "ChaCha20"])
@pytest.mark.parametrize("form", ["bits", "u8 codes"])
def bench_disguise(benchmark, form, coins):
    """1e6 records of 10 columns, a coin each."""
    bits = random_bits(ROWS, 10)
    scheme = Scheme.per_attribute("0.8", bits.names)
    table = bits if form == "bits" else bits.to_table()
    rng = np.random.default_rng(1) if coins == "simulation" else None
    told = benchmark(response.disguise, table, scheme, rng)
    assert told.seeded is (coins == "simulation")
    told = told if form == "bits" else response.pack(told)
    for name, words in told.words.items():
        lies = np.unpackbits((words ^ bits.words[name]).view(np.uint8)).sum()
        assert abs(int(lies) - 0.2 * ROWS) < 6 * (0.16 * ROWS) ** 0.5


@pytest.mark.parametrize("k", [2, 41, 300])
def bench_kary(benchmark, k):
    """1e6 values."""
    codes = np.random.default_rng(3).integers(0, k, ROWS)
    table = Table({"a": codes}, domains={"a": range(k)})
    scheme = KaryScheme("0.8", {"a": list(range(k))})
    told = benchmark(response.disguise, table, scheme, np.random.default_rng(4))
    assert abs(int((told.codes("a") != codes).sum()) - 0.2 * ROWS) < 6 * (0.16 * ROWS) ** 0.5


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_estimate_of_a_small_table(benchmark, how):
    """500 answers, one cell of each of three attributes."""
    bits = random_bits(500, 4)
    scheme = Scheme("0.8", [["a0", "a1"], ["a2", "a3"]])
    records = list(zip(*(bits.to_table().codes(name).tolist() for name in bits.names), strict=True))
    groups = [(Fraction(4, 5), (0, 1)), (Fraction(4, 5), (2, 3))]

    def plain():
        return [reference.proportion(records, groups, {place: 1, 3: 1}) for place in range(3)]

    if how == "reference":
        benchmark(plain)
    else:
        found = benchmark(response.estimate, bits, scheme, "a3")
        assert [found.raw.joint[name][1, 1] for name in found.attributes] == plain()


@pytest.mark.parametrize("form", ["bits", "u8 codes", "viewset"])
def bench_estimate(benchmark, form):
    """1e6 answers about 15 attributes."""
    bits = random_bits(ROWS, 16)
    scheme = Scheme("0.8", [list(bits.names[:-1])])
    views = bits.counts("a15")
    told = {"bits": bits, "u8 codes": bits.to_table(), "viewset": views}[form]
    found = benchmark(response.estimate, told, scheme, "a15")
    assert found.to_dict() == response.estimate(views, scheme, "a15").to_dict()


def bench_accuracy(benchmark):
    """1e5 answers about 8 attributes in two groups and a class: four test sets."""
    bits = random_bits(100_000, 9)
    names = list(bits.names)
    scheme = Scheme(["0.8", "0.7"], [names[:5], names[5:]])
    rule = Viewset([1, 1], {name: [[3, 1], [1, 3]] for name in names[:-1]})
    found = benchmark(response.accuracy, rule, bits.to_table(), scheme, names[-1])
    assert abs(float(found.estimate) - 0.5) < 6 * found.standard_error


def bench_simulation(benchmark):
    """100 repetitions of the coins of 1e4 records of 14 attributes."""
    bits = random_bits(10_000, 15)
    names = list(bits.names)
    table, scheme = bits.to_table(), Scheme("0.8", [names[:-1]])
    runs = benchmark(response.simulate, table, table, scheme, names[-1], rng=np.random.default_rng(1))
    assert runs.shape == (100,)
