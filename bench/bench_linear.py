"""pytest bench/bench_linear.py: time against rows, over three decades, and the exponent that fits it.

Least squares of log(time) on log(rows); 1 is linear. Every call pays for set-up (tables that are cleared and
summed, logarithms, domains), which is most of a small one; so there are three fits: of all times as they are,
of the sizes where the set-up is at most a tenth, and of all times less the set-up, which is the time of ten
rows. Answers are asserted, times never. With --benchmark-disable it stops at 1e5 rows and fits nothing.
"""

import statistics
import sys
import time

import numpy as np
import pytest

import nbcfast

ROWS = [10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000]
SET_UP = 10  # rows
ROUNDS = 5


def count(data, views):
    table = data.table()

    def check(found):
        assert found.class_counts.tolist() == np.bincount(data.classes, minlength=2).tolist()
        assert all(array.sum() == data.n_rows for array in found.counts.values())

    return lambda: nbcfast.count(table, "income", threads=1), check


def predict(data, views):
    table = data.table()

    def check(labels):
        # No two scores are so close here that rounding hides which is larger, and no count is 0.
        score = np.full(len(labels), 9 * np.log(views.class_counts[0] / views.class_counts[1]))
        for counts, column in zip(views.counts.values(), data.columns, strict=True):
            score += (np.log(counts[:, 1]) - np.log(counts[:, 0]))[column]
        assert np.array_equal(labels, score > 0)

    return lambda: views.predict(table, codes=True, threads=1), check


def build(data, views):
    columns = {name: codes.astype(np.int64) for name, codes in data.named().items()}

    def check(table):
        for name, codes in data.named().items():
            assert np.array_equal(np.array(table.domain(name))[table.codes(name)], codes)

    return lambda: nbcfast.Table(columns), check


def seconds(run, check):
    """The median of a few rounds of CPU time, each long enough for the clock."""
    check(run())
    start = time.process_time()
    run()
    loops = max(1, round(0.005 / max(time.process_time() - start, 1e-7)))
    samples = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(loops):
            run()
        samples.append((time.process_time() - start) / loops)
    return statistics.median(samples)


def fits(rows, times, set_up):
    """Name of a fit -> the sizes it takes, and the exponent."""
    parts = {
        "as it is": (rows, times),
        "set-up at most a tenth": (rows[times >= 10 * set_up], times[times >= 10 * set_up]),
        "less the set-up": (rows[times > set_up], times[times > set_up] - set_up),
    }
    return {
        what: (sizes, float(np.polyfit(np.log(sizes), np.log(spent), 1)[0]))
        for what, (sizes, spent) in parts.items()
        if len(sizes) > 1
    }


@pytest.mark.parametrize("job", [count, predict, build], ids=["count", "predict", "table"])
def bench_linear(benchmark, census, capsys, job):
    sizes = [rows for rows in ROWS if rows <= 100_000 or not benchmark.disabled]
    views = nbcfast.count(census(1_000_000).table(), "income")

    def measure():
        return [seconds(*job(census(rows), views)) for rows in [SET_UP, *sizes]]

    set_up, *times = benchmark.pedantic(measure, rounds=1)
    lines = [
        f"{job.__name__}: {SET_UP} rows {set_up * 1e6:.0f} us; ns a row at "
        + ", ".join(f"{rows:.1e} {spent / rows * 1e9:.2f}" for rows, spent in zip(sizes, times, strict=True))
    ]
    found = {} if benchmark.disabled else fits(np.array(sizes), np.array(times), set_up)
    for what, (fitted, exponent) in found.items():
        lines.append(f"  exponent {exponent:.3f} from {fitted[0]:.1e} to {fitted[-1]:.1e} rows, {what}")
        benchmark.extra_info[f"exponent, {what}"] = exponent
    with capsys.disabled():
        print("", *lines, sep="\n")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
