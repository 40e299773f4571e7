"""Tables: native beside reference, and native alone on a million rows of each kind of input."""

import numpy as np
import pytest

import nbcfast
from nbcfast.reference import table as reference


def texts(codes, name="education"):
    return np.array([f"{name}_{code:02d}" for code in range(100)])[codes]


def inputs(data):
    """One column of 73 values as each kind of array."""
    codes = data.columns[8]
    return {
        "uint8": codes,
        "int64": codes.astype(np.int64) * 1_000_003,
        "float64": codes / 8,
        "bool": codes > 36,
        "text": texts(codes),
        "list of int": codes.tolist(),
        "list of text": texts(codes).tolist(),
    }


KINDS = ["uint8", "int64", "float64", "bool", "text", "list of int", "list of text"]


def assert_column(table, name, values):
    """The domain is the sorted distinct values, and the codes point at the values."""
    domain, places = np.unique(values, return_inverse=True)
    assert list(table.domain(name)) == domain.tolist()
    assert np.array_equal(table.codes(name), places)


@pytest.mark.parametrize("package", ["native", "reference"])
@pytest.mark.parametrize("kind", KINDS)
def bench_column_1_000_rows(benchmark, census, package, kind):
    values = inputs(census(1_000))[kind]
    plain = values if isinstance(values, list) else values.tolist()
    if package == "native":
        table = benchmark(nbcfast.Table, {"x": values})
        found = table.codes("x").tolist(), list(table.domain("x"))
    else:
        found = benchmark(reference.column, plain)
    assert found == reference.column(plain)


@pytest.mark.parametrize("package", ["native", "reference"])
def bench_collapse_10_000_rows(benchmark, census, package):
    table = census(10_000).table()
    rows = list(zip(*(table.codes(name).tolist() for name in table.names), strict=True))
    expected, weights = reference.collapse(rows)
    if package == "native":
        found = benchmark(table.collapse)
        assert list(zip(*(found.codes(name).tolist() for name in found.names), strict=True)) == expected
        assert found.weights.tolist() == weights
    else:
        assert benchmark(reference.collapse, rows) == (expected, weights)


@pytest.mark.parametrize("kind", KINDS)
def bench_column_1_000_000_rows(benchmark, census, kind):
    values = inputs(census(1_000_000))[kind]
    assert_column(benchmark(nbcfast.Table, {"x": values}), "x", values)


def bench_table_of_codes_1_000_000_rows(benchmark, census):
    data = census(1_000_000)
    table = benchmark(data.table)
    assert all(np.array_equal(table.codes(name), codes) for name, codes in data.named().items())


def bench_distinct_floats_1_000_000_rows(benchmark):
    values = np.random.default_rng(7).normal(size=1_000_000)
    table = benchmark(nbcfast.Table, {"x": values})
    assert_column(table, "x", values)


def bench_collapse_1_000_000_rows(benchmark, census):
    table = census(1_000_000).table()
    found = benchmark(table.collapse)
    assert int(found.weights.sum()) == table.n_rows
    assert nbcfast.count(found, "income") == nbcfast.count(table, "income")


def bench_take_1_000_000_rows(benchmark, census):
    table = census(1_000_000).table()
    backwards = np.arange(table.n_rows)[::-1]
    found = benchmark(table.take, backwards)
    assert all(np.array_equal(found.codes(name), table.codes(name)[::-1]) for name in table.names)


def bench_bin_quantiles_1_000_000_rows(benchmark):
    values = np.random.default_rng(7).integers(0, 100_000, 1_000_000)
    table = nbcfast.Table({"x": values})
    found = benchmark(table.bin, "x", quantiles=10)
    sizes = np.bincount(found.codes("x"))
    assert len(sizes) == 10
    assert abs(sizes - 100_000).max() < 100  # ties at a cut are a few dozen rows


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def bench_frame_100_000_rows(benchmark, census, library):
    module = pytest.importorskip(library)
    pytest.importorskip("pyarrow")
    data = census(100_000)
    columns = {name: texts(codes, name) for name, codes in data.named().items()}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    table = benchmark(nbcfast.Table, frame)
    for name, values in columns.items():
        assert_column(table, name, values)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def bench_file_100_000_rows(benchmark, census, tmp_path, kind):
    pa, module = pytest.importorskip("pyarrow"), pytest.importorskip(f"pyarrow.{kind}")
    data = census(100_000)
    columns = {name: texts(codes, name) for name, codes in data.named().items()}
    path = tmp_path / f"census.{kind}"
    write, read = {
        "csv": ("write_csv", nbcfast.read_csv),
        "parquet": ("write_table", nbcfast.read_parquet),
    }[kind]
    getattr(module, write)(pa.table(columns), path)
    table = benchmark(read, path)
    for name, values in columns.items():
        assert_column(table, name, values)
