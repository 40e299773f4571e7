"""Raw rows answered by a release that bins by itself: a million of a mapping, a CSV and a Parquet file."""

from itertools import pairwise

import numpy as np
import pytest

import nbcfast

N_ROWS = 1_000_000
AGES, HOURS = np.array([0, 18, 30, 45, 65, 120]), np.array([0, 10, 35, 45, 100])
JOBS = np.array(["cook", "clerk", "smith", "nurse"])


@pytest.fixture(scope="module")
def raw():
    """Ages in tenths, hours and jobs, and the classes that logarithms of the counts give them."""
    rng = np.random.default_rng(17)
    rows = {
        "age": rng.integers(0, 1200, N_ROWS) / 10,
        "hours": rng.integers(0, 100, N_ROWS),
        "job": JOBS[rng.integers(0, len(JOBS), N_ROWS)],
    }
    counts = {
        "age": rng.integers(1, 1000, (len(AGES) - 1, 3)),
        "hours": rng.integers(1, 1000, (len(HOURS) - 1, 3)),
        "job": rng.integers(1, 1000, (len(JOBS), 3)),
    }
    domains = {
        name: [nbcfast.Interval(int(a), int(b)) for a, b in pairwise(edges)]
        for name, edges in (("age", AGES), ("hours", HOURS))
    }
    views = nbcfast.Viewset(
        [400, 500, 600], counts, ["a", "b", "c"], domains={**domains, "job": sorted(JOBS.tolist())}
    )
    release = nbcfast.Release(views, nbcfast.Certificate(amplification=4, tuples=views.n_tuples))
    places = {
        "age": np.searchsorted(AGES, rows["age"], side="right") - 1,
        "hours": np.searchsorted(HOURS, rows["hours"], side="right") - 1,
        "job": np.searchsorted(np.sort(JOBS), rows["job"]),
    }
    scores = np.tile(-2 * np.log(views.class_counts), (N_ROWS, 1))
    for name, codes in places.items():
        scores += np.log(counts[name])[codes]
    return release, rows, scores


@pytest.fixture(scope="module")
def files(raw, tmp_path_factory):
    pa, csv, parquet = (pytest.importorskip(f"pyarrow{name}") for name in ("", ".csv", ".parquet"))
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table(raw[1])
    csv.write_csv(table, folder / "rows.csv")
    parquet.write_table(table, folder / "rows.parquet")
    return folder


@pytest.mark.parametrize("given", ["mapping", "csv", "parquet"])
def bench_raw_predict_1_000_000_rows(benchmark, raw, files, given):
    release, rows, scores = raw
    table = rows if given == "mapping" else files / f"rows.{given}"
    assert np.array_equal(benchmark(release.predict, table, codes=True), scores.argmax(axis=1))


def bench_raw_predict_proba_1_000_000_rows(benchmark, raw, files):
    release, _, scores = raw
    found = benchmark(release.predict_proba, files / "rows.parquet")
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def bench_raw_predict_batches_1_000_000_rows(benchmark, raw, files):
    release, _, scores = raw

    def all_blocks():
        return np.concatenate(list(release.predict_batches(files / "rows.parquet", codes=True)))

    assert np.array_equal(benchmark(all_blocks), scores.argmax(axis=1))
