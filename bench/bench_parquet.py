"""Codes of Parquet column chunks: native beside the reference, and a file beside pyarrow's reading of it.

pytest bench/bench_parquet.py
"""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcfast import _parquet, count, read_parquet
from nbcfast.reference import column_chunks as reference


def chunk(n_rows: int, n_values: int) -> tuple[bytes, list[int]]:
    """The bytes of a column of texts, and the codes in it."""
    texts = [f"v{value}" for value in range(n_values)]
    codes = np.concatenate(
        [np.arange(n_values), np.random.default_rng(1).integers(0, n_values, n_rows - n_values)]
    )
    file = io.BytesIO()
    pq.write_table(pa.table({"x": pa.DictionaryArray.from_arrays(codes.astype(np.int32), texts)}), file)
    column = pq.ParquetFile(file).metadata.row_group(0).column(0)
    file.seek(column.dictionary_page_offset)
    return file.read(column.total_compressed_size), codes.tolist()


@pytest.mark.parametrize("n_values", [2, 90, 3000])
@pytest.mark.parametrize("how", ["native", "reference"])
def bench_codes(benchmark, how, n_values):
    """1e6 rows; 2e4 of Python."""
    stored, expected = chunk(1_000_000 if how == "native" else 20_000, n_values)

    def native():
        _, _, _, _, most_raw, n_rows = _parquet.plan(stored)
        out = np.empty(n_rows, np.uint8 if n_values <= 256 else np.uint16)
        space, valid = np.empty(most_raw, np.uint8), np.empty(n_rows, np.uint8)
        assert _parquet.codes(stored, True, True, n_values, space, out, valid) == 0
        return out

    if how == "native":
        assert benchmark(native).tolist() == expected
    else:
        assert benchmark.pedantic(reference.chunk, (stored, True, True), rounds=1)[2] == expected


@pytest.mark.parametrize("how", ["count", "read_parquet", "pyarrow reads, and counts nothing"])
def bench_file(benchmark, how, census, tmp_path):
    """1e6 rows of ten attributes and a class."""
    from against.files import COLUMNS, write
    from shared.census import CLASS

    data = census(1_000_000)
    path = write(data, tmp_path).parquet
    runs = {
        "count": lambda: count(path, CLASS),
        "read_parquet": lambda: read_parquet(path),
    }
    found = benchmark(runs.get(how, lambda: pq.read_table(path, read_dictionary=COLUMNS)))
    if how == "count":
        assert found.class_counts.tolist() == np.bincount(data.classes).tolist()
    else:
        assert (found.n_rows if how == "read_parquet" else found.num_rows) == 1_000_000
