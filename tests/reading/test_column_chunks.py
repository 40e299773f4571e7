"""Parquet files whose texts are stored as codes, beside columns that pyarrow reads."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import read_parquet
from nbcfast._reading import column_chunks, footers
from nbcfast._reading.parquet import ParquetFile

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(name="path")
def file_path(tmp_path):
    return tmp_path / "rows.parquet"


def by_pyarrow(path):
    return nbcfast.Table(pq.read_table(path))


def whole(path):
    """The table of the arrays of a file, group by group."""
    parts = list(ParquetFile(str(path)).arrays(pq.read_schema(path).names))
    return {name: [value for part in parts for value in part[name].to_pylist()] for name in parts[0]}


def only_coded(monkeypatch):
    """Refuse to read anything by pyarrow."""

    def refused(self, names, groups=None, opened=None):
        raise AssertionError(f"{names} were to be read as they are stored")

    monkeypatch.setattr(ParquetFile, "batches", refused)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_texts_are_read_as_they_are_stored(path, monkeypatch, threads, version, compression):
    monkeypatch.setenv("NBCFAST_THREADS", threads)
    rng = np.random.default_rng(1)
    columns = {
        "few": [f"v{code}" for code in rng.integers(0, 3, 5000)],
        "many": [f"v{code}" for code in rng.integers(0, 900, 5000)],
        "nulls": [f"v{code}" if code < 4 else None for code in rng.integers(0, 6, 5000)],
        "same": ["ä⊥"] * 5000,
        "none": pa.array([None] * 5000, pa.string()),
    }
    options = {"compression": compression, "data_page_version": version, "row_group_size": 1300}
    pq.write_table(pa.table(columns), path, **options)
    assert whole(path) == pq.read_table(path).to_pydict()
    del columns["none"]  # of which no page has a code, and pyarrow no dictionary
    pq.write_table(pa.table(columns), path, **options)
    only_coded(monkeypatch)
    assert read_parquet(path) == by_pyarrow(path)
    assert nbcfast.count(path, "few") == nbcfast.count(by_pyarrow(path), "few")


DRAWN = {
    "text": st.sampled_from(["a", "b", "c", "", "ä", None]),
    "number": st.one_of(st.none(), st.integers(-3, 3)),
    "class": st.sampled_from(["no", "yes"]),
}


@given(
    st.lists(st.fixed_dictionaries(DRAWN), min_size=1, max_size=60),
    st.integers(1, 30),
    st.sampled_from(["snappy", "none", "zstd"]),
    st.sampled_from([True, False, ["class"]]),
    st.booleans(),
)
def test_columns_that_are_stored_in_several_ways(tmp_path_factory, rows, group, compression, use, category):
    """Codes beside numbers and plain texts, and groups with dictionaries of their own."""
    path = tmp_path_factory.getbasetemp() / "drawn.parquet"
    columns = {name: pa.array([row[name] for row in rows]) for name in DRAWN}
    columns["text"] = columns["text"].cast(pa.string())
    columns["number"] = columns["number"].cast(pa.int64())
    if category:
        columns["text"] = columns["text"].dictionary_encode()
    pq.write_table(pa.table(columns), path, row_group_size=group, compression=compression, use_dictionary=use)
    plain = {name: [row[name] for row in rows] for name in DRAWN}
    assert read_parquet(path) == nbcfast.Table(columns)
    assert whole(path) == plain
    assert nbcfast.count(path, "class") == nbcfast.count(plain, "class")


def test_dictionaries_that_outgrow_a_byte(path, monkeypatch):
    """Codes of 8 bits in one group and of 16 in the next."""
    texts = [f"v{place % 5}" for place in range(400)] + [f"v{place}" for place in range(400)]
    pq.write_table(pa.table({"x": texts, "y": ["n", "p"] * 400}), path, row_group_size=400)
    only_coded(monkeypatch)
    arrays = list(ParquetFile(str(path)).arrays(["x"]))
    assert [array["x"].indices.type for array in arrays] == [pa.uint8(), pa.uint16()]
    assert nbcfast.count(path, "y") == nbcfast.count({"x": texts, "y": ["n", "p"] * 400}, "y")


def test_a_dictionary_that_was_given_up(path):
    """Beyond its size a writer goes on with texts as they are: pyarrow reads the chunk."""
    texts = [f"{place:020d}" for place in range(3000)]
    pq.write_table(pa.table({"x": texts}), path, dictionary_pagesize_limit=1000, write_batch_size=64)
    assert whole(path) == {"x": texts}


def test_what_is_too_large_is_left_to_pyarrow(path, monkeypatch):
    texts = ["a", "b", "a"] * 20
    pq.write_table(pa.table({"x": texts}), path)
    seen = []
    batches = ParquetFile.batches
    monkeypatch.setattr(
        ParquetFile,
        "batches",
        lambda self, names, *others: seen.append(1) or batches(self, names, *others),
    )
    for limit in ("MOST_ROWS", "MOST_BYTES", "MOST_VALUES"):
        with monkeypatch.context() as patch:
            patch.setattr(column_chunks, limit, 1)
            assert whole(path) == {"x": texts}
    assert len(seen) == 3
    assert whole(path) == {"x": texts}
    assert len(seen) == 3


def test_texts_that_are_no_utf8(path):
    """The error is that of pyarrow, which reads the chunk."""
    bad = pa.array([b"a", b"\xff"], pa.binary())
    schema = pa.schema([("x", pa.string())])
    pq.write_table(pa.Table.from_arrays([bad.view(pa.string())], schema=schema), path)
    with pytest.raises(ValueError, match="UTF8"):
        read_parquet(path)


def test_files_of_others(tmp_path):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    rng = np.random.default_rng(2)
    columns = {
        "x": [f"v{code}" for code in rng.integers(0, 40, 20_000)],
        "y": ["n" if code else "p" for code in rng.integers(0, 3, 20_000)],
    }
    frame = polars.DataFrame(columns)
    for compression in ("snappy", "zstd", "uncompressed"):
        frame.write_parquet(tmp_path / f"polars-{compression}.parquet", compression=compression)
        target = tmp_path / f"duckdb-{compression}.parquet"
        duckdb.sql(f"COPY frame TO '{target}' (FORMAT parquet, COMPRESSION {compression})")
    expected = nbcfast.count(columns, "y")
    for path in sorted(tmp_path.glob("*.parquet")):
        assert nbcfast.count(path, "y") == expected, path


def test_a_file_that_is_cut_short(path):
    """Its end says where things are that are not there."""
    pq.write_table(pa.table({"x": ["a", "b"] * 5000}), path)
    data = path.read_bytes()
    for cut in (8, 60):
        path.write_bytes(data[:4] + data[4 + cut :])
        with pytest.raises((ValueError, OSError)):
            read_parquet(path)


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("order", [1, -1])
def test_a_dot_in_a_name_is_no_path(path, order, nullable):
    """What is "b" in a column "a" has the path of a column "a.b", and is another."""
    inner = pa.StructArray.from_arrays([pa.array(["x", "y", "x"])], fields=[pa.field("b", pa.string())])
    columns = [("a.b", pa.array(["p", "q", "q"])), ("a", inner), ("class", pa.array(["n", "n", "m"]))][
        ::order
    ]
    schema = pa.schema([pa.field(name, array.type, nullable=nullable) for name, array in columns])
    pq.write_table(pa.table([array for _, array in columns], schema=schema), path)
    table = read_parquet(path, ["a.b", "class"])
    assert [table.domain("a.b")[code] for code in table.codes("a.b")] == ["p", "q", "q"]
    assert nbcfast.count(path, "class", ["a.b"]) == nbcfast.count(table, "class")


def test_a_file_of_many_groups_is_opened_once(path, monkeypatch):
    """To open a file takes as long as it has groups."""
    columns = {"x": ["a", "b"] * 50, "y": [1, 2, 3, 4] * 25, "class": ["n", "p"] * 50}
    pq.write_table(pa.table(columns), path, row_group_size=2)
    seen = []
    opened = ParquetFile.open
    monkeypatch.setattr(ParquetFile, "open", lambda self, names: seen.append(names) or opened(self, names))
    assert whole(path) == columns
    assert seen == [["x", "y", "class"]]


def test_a_file_of_very_many_small_groups_is_read_at_once(path, monkeypatch):
    columns = {"x": ["a", "b"] * 65, "y": [1, 2] * 65}
    pq.write_table(pa.table(columns), path, row_group_size=2)
    seen = []
    batches = ParquetFile.batches
    monkeypatch.setattr(
        ParquetFile,
        "batches",
        lambda self, names, *others: seen.append(others) or batches(self, names, *others),
    )
    assert nbcfast.count(path, "x") == nbcfast.count(columns, "x")
    assert seen == [()]


def test_a_chunk_of_other_rows_than_its_group(path):
    """Two rows fewer in one column than in the other: no table is made of it."""
    table = pa.table({"x": ["a"] * 61, "y": ["b"] * 61})
    pq.write_table(table, path, compression="none", write_statistics=False)
    data = path.read_bytes()
    # 61 is written 0x7a: in the header of a page before its encoding, and of a chunk behind its compression.
    for before, after in ((b"\x15\x7a\x15", b"\x15\x76\x15"), (b"\x15\x00\x16\x7a", b"\x15\x00\x16\x76")):
        assert data.count(before) >= 2
        data = data.replace(before, after, 1)
    path.write_bytes(data)
    for read in (read_parquet, lambda path: nbcfast.count(path, "y")):
        with pytest.raises(ValueError, match="group 0 of rows: expected 61 rows, got 59"):
            read(path)


def test_a_compression_that_there_is_none_of(path):
    """Its name is nothing to ask pyarrow for, which ends the process then."""
    pq.write_table(pa.table({"x": ["a"] * 61, "y": ["b"] * 61}), path, compression="none")
    data = path.read_bytes()
    place = data.rindex(b"\x15\x00\x16\x7a")  # before 61 rows
    path.write_bytes(data[: place + 1] + b"\x7f" + data[place + 2 :])
    for read in (read_parquet, lambda path: nbcfast.count(path, "x")):
        with pytest.raises(OSError, match=r"^[^:]*rows\.parquet: Unsupported compression codec value: "):
            read(path)


def test_a_chunk_that_does_not_fit_its_column(path):
    """Nor for such a chunk: a column of which nothing may be null has no counts of nulls."""
    schema = pa.schema([pa.field("x", pa.string(), nullable=False), pa.field("y", pa.string())])
    pq.write_table(pa.table({"x": ["a"] * 61, "y": ["b"] * 61}, schema=schema), path, compression="none")
    data = path.read_bytes()
    place = data.rindex(b"\x25\x02\x18\x01y")  # may be null, and the name
    path.write_bytes(data[: place + 1] + b"\x00" + data[place + 2 :])
    with suppress(ValueError, OSError):
        read_parquet(path)


@pytest.mark.parametrize(("name", "number"), [("none", 0), ("snappy", 1), ("gzip", 2), ("zstd", 6)])
def test_chunks_are_as_pyarrow_says(path, name, number):
    compression = {"x": name, "y": "none", "z.list.element": "gzip", "w": "none"}
    columns = {"x": ["a"] * 40, "y": list(range(40)), "z": [[1, 2]] * 40, "w": ["b"] * 40}
    pq.write_table(
        pa.table(columns), path, row_group_size=2, compression=compression, use_dictionary=list("xyz")
    )
    with open(path, "rb") as file:
        found = footers.chunks(file)
    assert [[chunk and chunk.compression for chunk in group] for group in found] == [
        [number, 0, None, None]
    ] * 20
    metadata = pq.read_metadata(path)
    for place, group in enumerate(found):
        for one, chunk in enumerate(group[:2]):
            said = metadata.row_group(place).column(one)
            assert chunk.n_values == said.num_values == 2
            assert (chunk.start, chunk.n_bytes) == (said.dictionary_page_offset, said.total_compressed_size)
            assert chunk.encodings == {0, 3, 8}
            assert set(said.encodings) == {"PLAIN", "RLE", "RLE_DICTIONARY"}
            assert (chunk.type_, said.physical_type) == [(6, "BYTE_ARRAY"), (2, "INT64")][one]


@given(st.data())
def test_footers_that_are_damaged(tmp_path_factory, data):
    """Whatever stands there, it is understood or not."""
    path = tmp_path_factory.getbasetemp() / "footer.parquet"
    pq.write_table(pa.table({"x": ["a", "b"], "y": [1, 2]}), path)
    stored = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.sampled_from([0, 25, 28, 127, 255]))
    path.write_bytes(stored[data.draw(st.sampled_from([0, 0, len(stored) - 7, len(stored) - 30])) :])
    with open(path, "rb") as file:
        for group in footers.chunks(file):
            assert all(
                chunk is None or min(chunk.start, chunk.n_bytes, chunk.n_values) >= 0 for chunk in group
            )
