"""The search over all combinations of options: native against the reference, and alone on Adult.

pytest bench/bench_advise.py
"""

import numpy as np
import pytest
from against.advising import BEST, TUPLES, task

from nbcfast.canonical.advice.search import Candidates
from nbcfast.reference import advice as reference

SMALL = [[[0, 1, 2, 3], [0, 0, 1, 1], None]] * 3


@pytest.mark.parametrize("by", ["correct", "log-loss"])
@pytest.mark.parametrize("how", ["native", "reference"])
def bench_small_search(benchmark, how, by):
    """26 combinations, 200 rows, five folds."""
    rng = np.random.default_rng(7)
    classes = rng.integers(0, 2, 200)
    codes = (rng.integers(0, 4, (200, 3)) + classes[:, np.newaxis]) % 4
    candidates = Candidates(codes, classes, SMALL, 2)
    expected = [leaf for leaf, _ in candidates.search(by).best_first()]
    if how == "native":
        found = list(benchmark(lambda: candidates.search(by, threads=1)).best_first())
    else:
        found = benchmark.pedantic(
            reference.best_first, (codes, classes, SMALL, 2), {"by": by, "bits": candidates.bits}, rounds=1
        )
    assert [leaf for leaf, _ in found] == expected


@pytest.mark.parametrize("folds", [0, 5], ids=["in_sample", "held_out"])
def bench_search_of_adult(benchmark, folds):
    """345,600 combinations."""
    data = task()
    if data is None:
        pytest.skip("needs adult-menu.json among the public data sets: set NBCFAST_DATA")
    candidates = data.candidates(folds)
    ranking = benchmark.pedantic(candidates.search, rounds=3)
    leaf, correct = next(ranking.best_first())
    assert candidates.tuples(leaf) == TUPLES
    assert correct == BEST
