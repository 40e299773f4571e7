"""Counting: native beside reference, and native alone on a million rows."""

import numpy as np
import pytest

import nbcfast
from nbcfast.reference import views as reference

SHAPE = [16, 7, 14, 6, 5, 9, 2, 41, 73, 94]


def by_bincount(data):
    return [
        np.bincount(
            x.astype(np.int64) * data.n_classes + data.classes, minlength=size * data.n_classes
        ).reshape(size, -1)
        for x, size in zip(data.columns, SHAPE, strict=True)
    ]


def assert_counted(views, data):
    assert views.class_counts.tolist() == np.bincount(data.classes).tolist()
    for array, expected in zip(views.counts.values(), by_bincount(data), strict=True):
        assert np.array_equal(array, expected)


@pytest.mark.parametrize("package", ["native", "reference"])
def bench_count_codes_10_000_rows(benchmark, census, package):
    data = census(10_000)
    shape = {"sizes": SHAPE, "n_classes": 2}
    if package == "native":
        views = benchmark(nbcfast.Viewset.from_codes, data.columns, data.classes, **shape)
        found = views.class_counts.tolist(), [array.tolist() for array in views.counts.values()]
    else:
        columns, classes = [x.tolist() for x in data.columns], data.classes.tolist()
        found = benchmark(reference.count_codes, columns, classes, **shape)
    assert found == reference.count_codes(data.columns, data.classes, **shape)


@pytest.mark.parametrize("package", ["native", "reference"])
def bench_count_values_1_000_rows(benchmark, census, package):
    columns = {name: codes.tolist() for name, codes in census(1_000).named().items()}
    count = nbcfast.count if package == "native" else reference.count
    views = benchmark(count, columns, "income")
    assert reference.to_dict(views) == reference.to_dict(reference.count(columns, "income"))


@pytest.mark.parametrize("package", ["native", "reference"])
def bench_merge_10_attributes(benchmark, census, package):
    columns = [{name: x.tolist() for name, x in census(rows).named().items()} for rows in (500, 1_000)]
    expected = reference.add(*(reference.count(part, "income") for part in columns))
    if package == "native":
        a, b = (nbcfast.count(part, "income") for part in columns)
        views = benchmark(lambda: a + b)
    else:
        views = benchmark(reference.add, *(reference.count(part, "income") for part in columns))
    assert reference.to_dict(views) == expected.to_dict()


@pytest.mark.parametrize("threads", [1, 2])
def bench_count_table_1_000_000_rows(benchmark, million, threads):
    views = benchmark(nbcfast.count, million.table(), "income", threads=threads)
    assert_counted(views, million)


def bench_count_table_100_000_rows(benchmark, census):
    data = census(100_000)
    assert_counted(benchmark(nbcfast.count, data.table(), "income"), data)


def bench_count_weights_1_000_000_rows(benchmark, census):
    data = census(1_000_000)
    weights = np.arange(data.n_rows) % 5 + 1
    table = nbcfast.Table({**data.named(), "weight": weights}, weights="weight")
    views = benchmark(nbcfast.count, table, "income", threads=1)
    expected = [int(weights[data.classes == c].sum()) for c in range(2)]
    assert views.class_counts.tolist() == expected
    assert all(array.sum(axis=0).tolist() == expected for array in views.counts.values())


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("layout", ["columns", "row-major"])
def bench_count_layouts_1_000_000_rows(benchmark, census, dtype, layout):
    data = census(1_000_000)
    codes = data.matrix(dtype)
    if layout == "columns":
        codes = [np.ascontiguousarray(column) for column in codes.T]
    views = benchmark(
        nbcfast.Viewset.from_codes, codes, data.classes.astype(dtype), sizes=SHAPE, n_classes=2, threads=1
    )
    assert_counted(views, data)


@pytest.mark.parametrize("rows", [16_384, 131_072])
def bench_count_stream_1_000_000_rows(benchmark, census, rows):
    pa = pytest.importorskip("pyarrow")
    data = census(1_000_000)
    table = pa.table(
        {
            name: pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), list(range(100)))
            for name, codes in data.named().items()
        }
    )
    batches = table.to_batches(max_chunksize=rows)
    views = benchmark(lambda: nbcfast.count(iter(batches), "income", threads=1))
    assert views == nbcfast.count(nbcfast.Table(data.named()), "income")
