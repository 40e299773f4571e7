"""An estimator of a release on a million rows of texts, and what is stored and read of one."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from against.estimators import Texts, plain, published

from nbcfast.sklearn import DeclaredBinner, PublishableNBClassifier

N_ROWS = 1_000_000


@pytest.fixture(scope="module")
def texts():
    return Texts(N_ROWS)


@pytest.fixture(scope="module")
def expected(texts):
    """What the classifier of scikit-learn answers, which has the same counts."""
    return plain(texts.array, texts.classes)


@pytest.mark.parametrize("container", ["array", "frame"])
def bench_fit_and_predict_1_000_000_rows(benchmark, texts, expected, container):
    found = benchmark(published, getattr(texts, container), texts.classes)
    assert (found == expected).all()


def bench_pickle_and_back(benchmark, texts, expected):
    """What travels to another process, and is verified there."""
    model = PublishableNBClassifier().fit(texts.array, texts.classes)
    made = benchmark(lambda: pickle.loads(pickle.dumps(model)))
    assert (made.predict(texts.array[:1000]) == expected[:1000]).all()


def bench_declared_binner_1_000_000_rows(benchmark):
    numbers = np.random.default_rng(4).integers(0, 1000, (N_ROWS, 3)) / 10
    edges = [0, 12.5, 37.5, 60, None]
    found = benchmark(DeclaredBinner(edges).fit_transform, numbers)
    assert (found == np.searchsorted(edges[1:-1], numbers, side="right")).all()
