"""pytest bench/bench_associations.py: risk tables, numbers of worlds, probabilities and advice."""

from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from against.associations import ours, plain_covers, rows, sizes_up_to
from bench_linear import SET_UP, fits, seconds

from nbcfast.associations import advise, covers, probability, risk
from nbcfast.reference import associations as reference

ROWS = 1_000_000
SIZES = [10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000]


def expected_sizes(data):
    """People and values of each join value."""
    top = [int(data.columns[name].max()) + 1 for name in ("person", "ill")]
    found = []
    for name, size in zip(("person", "ill"), top, strict=True):
        pairs = np.unique(data.columns["area"] * size + data.columns[name])
        found.append(np.unique(pairs // size, return_counts=True)[1])
    return found


@pytest.mark.parametrize("model", ["unrestricted", "restricted"])
@pytest.mark.parametrize("several", [False, True], ids=["one join value", "some with several"])
def bench_risk(benchmark, several, model):
    """A million rows, 1e5 people, 1e4 join values, one thread."""
    data = rows(ROWS, several)
    found = benchmark(risk, data.table, data.views, "person", "ill", model=model, threads=1)
    table = found.by_join_value()
    m, n = expected_sizes(data)
    assert np.array_equal(table.array("identities"), m)
    assert np.array_equal(table.array("values"), n)
    if not several:
        assert found.n_associations == int(m @ n)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_covers(benchmark, how):
    """300 x 300, against the formula in Python's integers."""
    expected = plain_covers(300, 300, gmpy2.mpz)
    assert benchmark(covers if how == "native" else reference.covers, 300, 300) == expected


@pytest.mark.parametrize("model", ["unrestricted", "restricted"])
def bench_full_worlds(benchmark, model):
    """Whole tuples: 20,000 rows, 3,333 people, 400 join values."""
    rng = np.random.default_rng(1)
    n = 20_000
    data = {
        name: rng.integers(0, size, n) for name, size in zip("iabp", (n // 6, n // 50, 4, 30), strict=True)
    }
    views = [("i", "a"), ("a", "p", "b")]
    found = benchmark(risk, data, views, "i", "p", model=model, worlds="full")
    assert found.n_associations == risk(data, views, "i", "p", model=model).n_associations
    row = found.worst(1)[0]
    assert abs(found.of(row["i"], row["p"]).exact - Fraction(row["probability"])) < Fraction(1, 10**15)


@pytest.mark.parametrize("most", [64, 1e9])
def bench_probability(benchmark, most):
    """A million pairs, or all of the small ones."""
    m, n = sizes_up_to(most)
    found = benchmark(probability, m, n)
    for place in range(0, len(m), len(m) // 50):
        s, t = sorted((int(m[place]), int(n[place])))
        if t <= 500:
            exact = probability(s, t, exact=True)
        else:
            exact = Fraction(2 ** (min(s, 500) - 1), 2 ** min(s, 500) - 1)
        assert abs(Fraction(found[place]) / exact - 1) <= Fraction(1, 10**15)


def bench_above(benchmark):
    """All associations above nine tenths, with those of several join values."""
    data = rows(ROWS)
    found = risk(data.table, data.views, "person", "ill")
    above = benchmark(found.above, "0.9")
    assert len(above) == found.n_above("0.9") > 0
    assert above.array("probability").min() > 0.9


def bench_stream(benchmark):
    """A million rows in batches of 65,536."""
    pa = pytest.importorskip("pyarrow")
    data = rows(ROWS)
    batches = pa.table(data.columns).to_batches(max_chunksize=1 << 16)
    found = benchmark.pedantic(risk, (batches, data.views, "person", "ill"), rounds=3)
    assert found.n_associations == risk(data.table, data.views, "person", "ill").n_associations


def bench_chain(benchmark):
    """3,000 people in a chain of three views."""
    place = np.arange(3_000)
    data = {"i": place, "a": place % 300, "b": place % 300 // 2, "p": place * place % 9}
    found = benchmark.pedantic(risk, (data, [("i", "a"), ("a", "b"), ("b", "p")], "i", "p"), rounds=3)
    assert found.method == "chain"
    assert 0.5 < found.worst(1)[0]["probability"] < 1


def bench_advise(benchmark):
    """Five columns of 20,000 people: 243 splits."""
    rng = np.random.default_rng(5)
    data = {name: rng.integers(0, 4, 20_000) for name in "abcde"}
    data |= {"i": np.arange(20_000), "p": rng.integers(0, 12, 20_000)}
    found = benchmark.pedantic(advise, (data, "i", "p", list("abcde")), {"threshold": "1/4"}, rounds=2)
    assert found.method == "exhaustive"
    assert all(split.worst <= Fraction(1, 4) for split in found)


def bench_linear_in_rows(benchmark, capsys):
    """The exponent of rows, from 1e4 to 1e7; with --benchmark-disable to 1e5, and no fit."""
    sizes = [n_rows for n_rows in SIZES if n_rows <= 100_000 or not benchmark.disabled]

    def job(n_rows):
        data = rows(n_rows)
        n_joins = len(np.unique(data.columns["area"]))
        return lambda: ours(data, 1), lambda found: pytest.approx(n_joins) == len(found[0])

    def measure():
        return [seconds(*job(n_rows)) for n_rows in [SET_UP, *sizes]]

    set_up, *times = benchmark.pedantic(measure, rounds=1)
    each = ", ".join(f"{n:.1e} {spent / n * 1e9:.1f}" for n, spent in zip(sizes, times, strict=True))
    lines = [f"risk: {SET_UP} rows {set_up * 1e6:.0f} us; ns a row at {each}"]
    found = {} if benchmark.disabled else fits(np.array(sizes), np.array(times), set_up)
    for what, (fitted, exponent) in found.items():
        lines.append(f"  exponent {exponent:.3f} from {fitted[0]:.1e} to {fitted[-1]:.1e} rows, {what}")
        benchmark.extra_info[f"exponent, {what}"] = exponent
    with capsys.disabled():
        print("", *lines, sep="\n")
