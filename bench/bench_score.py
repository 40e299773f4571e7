"""Predicting: native beside reference, and native alone on a million rows, or where all rows are tied."""

import numpy as np
import pytest

import nbcfast
from nbcfast.reference import views as reference


def rows_of(data, n_rows):
    """The first rows as the reference takes them."""
    named = {name: codes[:n_rows].tolist() for name, codes in data.named().items()}
    return [dict(zip(named, values, strict=True)) for values in zip(*named.values(), strict=True)]


@pytest.mark.parametrize("package", ["native", "reference"])
@pytest.mark.parametrize("method", ["predict", "order", "tied"])
def bench_score_200_rows(benchmark, census, package, method):
    views = nbcfast.count(census(10_000, 10).table(), "income")
    data = census(200, 10)
    expected = getattr(reference, method)(views, rows_of(data, 200))
    if package == "native":
        assert benchmark(getattr(views, method), data.table()).tolist() == expected
    else:
        assert benchmark(getattr(reference, method), views, rows_of(data, 200)) == expected


@pytest.mark.parametrize("threads", [1, 2])
def bench_predict_1_000_000_rows(benchmark, million, threads):
    table = million.table()
    views = nbcfast.count(table, "income")
    found = benchmark(views.predict, table, codes=True, threads=threads)
    assert found[:200].tolist() == reference.predict(views, rows_of(million, 200))
    # All rows by logarithms: with these counts no two scores are so close that rounding tells them apart.
    scores = np.tile((1 - len(million.columns)) * np.log(views.class_counts), (million.n_rows, 1))
    for counts, column in zip(views.counts.values(), million.columns, strict=True):
        scores += np.log(counts)[column]
    assert np.array_equal(found, scores.argmax(axis=1))


def bench_predict_smoothed_1_000_000_rows(benchmark, million):
    table = million.table()
    views = nbcfast.count(table, "income")
    found = benchmark(views.predict, table, codes=True, alpha="1/2", threads=1)
    assert found[:200].tolist() == reference.predict(views, rows_of(million, 200), alpha="1/2")


def bench_order_1_000_000_rows(benchmark, million):
    table = million.table()
    views = nbcfast.count(table, "income")
    found = benchmark(views.order, table, threads=1)
    assert found[:200].tolist() == reference.order(views, rows_of(million, 200))
    assert np.array_equal(found[:, 0], views.predict(table, codes=True))


@pytest.mark.parametrize("n_classes", [2, 10])
def bench_predict_100_000_rows_all_tied(benchmark, census, n_classes):
    """Every class has the same counts: floats decide nothing, each row takes the exact way."""
    data = census(100_000, n_classes)
    alike = nbcfast.count(data.table(), "income")
    counts = {
        name: np.repeat(array.sum(axis=1)[:, None], n_classes, axis=1) for name, array in alike.counts.items()
    }
    views = nbcfast.Viewset([data.n_rows] * n_classes, counts)
    found = benchmark(views.predict, data.table(), codes=True, threads=1)
    assert (found == n_classes - 1).all()  # a tie goes to the class of highest precedence


def bench_predict_100_rows(benchmark, census):
    """What a call costs, above all the tables of logarithms."""
    views = nbcfast.count(census(1_000_000).table(), "income")
    data = census(100)
    found = benchmark(views.predict, data.table(), codes=True)
    assert found.tolist() == reference.predict(views, rows_of(data, 100))


def bench_tied_tuples_84_672_tuples(benchmark, census):
    names = ["education", "workclass", "occupation", "relationship", "marital"]
    views = nbcfast.count(census(1_000).table(), "income", names)
    found = benchmark(views.tied_tuples)
    few = nbcfast.count(census(1_000).table(), "income", names[1:3])
    assert found >= 0
    assert few.tied_tuples() == reference.tied_tuples(few)
