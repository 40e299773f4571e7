"""Codes of Parquet column chunks: the kernel, the plain reference, and pyarrow, which wrote them."""

import io
import random

import file_arguments
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_world import World

from nbcfast import _parquet
from nbcfast.reference import column_chunks as reference

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def native(chunk, is_snappy, optional, bits):
    """As the reference: the dictionary's page, how many values it has, and the codes; None where refused."""
    plan = _parquet.plan(chunk)
    if plan is None:
        return None
    start, stored, raw, n_values, most_raw, n_rows = plan
    if not 1 <= n_values <= 65536 or n_rows == 0 or max(raw, most_raw) > 1 << 20 or n_rows > 1 << 20:
        return None
    page = bytes(chunk[start : start + stored])
    if is_snappy:
        out = np.empty(raw, np.uint8)
        if not _parquet.snappy(page, out):
            return None
        page = out.tobytes()
    codes = np.full(n_rows, 99, f"u{bits // 8}")
    valid = np.full(n_rows, 1, np.uint8)
    space = np.empty(max(most_raw, 1), np.uint8)
    nulls = _parquet.codes(chunk, is_snappy, optional, n_values, space, codes, valid)
    if nulls is None:
        return None
    assert nulls == (n_rows - valid.sum() if optional else 0)
    rows = [code if there else None for code, there in zip(codes.tolist(), valid.tolist(), strict=True)]
    assert all(code == 0 for code, there in zip(codes.tolist(), valid.tolist(), strict=True) if not there)
    return page, n_values, rows


def plain(chunk, is_snappy, optional, bits):
    try:
        dictionary, n_values, codes = reference.chunk(bytes(chunk), is_snappy, optional, bits)
    except ValueError:
        return None
    # What the kernel is not asked for, whatever is there.
    if not 1 <= n_values <= 65536 or not codes or (is_snappy and not dictionary):
        return None
    return dictionary, n_values, codes


def written(values, required=False, **options):
    """The bytes of the only chunk of a column, and whether it may have nulls."""
    file = io.BytesIO()
    schema = pa.schema([pa.field("x", pa.string(), not required)])
    pq.write_table(pa.table({"x": pa.array(values, pa.string())}, schema), file, **options)
    column = pq.ParquetFile(file).metadata.row_group(0).column(0)
    file.seek(column.dictionary_page_offset)
    return file.read(column.total_compressed_size), not required


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 300)), min_size=1, max_size=400),
    st.sampled_from(["snappy", "none"]),
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from([1, 40, 1000, 1 << 20]),
    st.integers(1, 301),
    st.booleans(),
)
def test_chunks_as_pyarrow_writes_them(numbers, compression, version, page_size, n_values, has_nulls):
    """Runs and packed groups, one page and many, with nulls and without, of one value and of hundreds."""
    if not has_nulls:
        numbers = [number or 0 for number in numbers]
    texts = [None if number is None else f"v{number % n_values}" for number in numbers]
    chunk, optional = written(
        texts,
        not has_nulls,
        compression=compression,
        data_page_version=version,
        data_page_size=page_size,
        write_batch_size=16,
    )
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    for bits in (8, 16):
        found = native(chunk, compression == "snappy", optional, bits)
        assert found == plain(chunk, compression == "snappy", optional, bits)
        if not distinct or (bits == 8 and len(distinct) > 256):
            continue
        _, _, codes = found
        assert [None if code is None else distinct[code] for code in codes] == texts


@pytest.mark.parametrize("n_values", [1, 2, 3, 5, 9, 17, 33, 65, 129, 256, 257, 1025, 5000, 16_385, 40_000])
def test_codes_of_every_width(n_values):
    rng = np.random.default_rng(n_values)
    numbers = np.concatenate([np.arange(n_values), rng.integers(0, n_values, 3001)])
    texts = [f"{number}" for number in numbers.tolist()]
    for compression in ("none", "snappy"):
        chunk, optional = written(texts, compression=compression, dictionary_pagesize_limit=1 << 22)
        _, n_found, codes = native(chunk, compression == "snappy", optional, 8 if n_values <= 256 else 16)
        assert (n_found, codes) == (n_values, numbers.tolist())


@given(st.integers(0, 2**32), st.sampled_from(["snappy", "none"]), st.sampled_from(["1.0", "2.0"]))
def test_changed_bytes(seed, compression, version):
    """Both refuse the same, and of what is left make the same: the kernel never reads beyond its bytes."""
    rng = random.Random(seed)
    texts = [rng.choice(["a", "bb", "ccc", None]) for _ in range(rng.randrange(1, 60))]
    if not any(texts):
        texts.append("a")
    options = {"compression": compression, "data_page_version": version, "data_page_size": 8}
    chunk, optional = written(texts, **options, write_batch_size=8)
    changed = bytearray(chunk)
    for _ in range(rng.randrange(1, 4)):
        way, place = rng.randrange(4), rng.randrange(len(changed))
        if way == 0:
            changed[place] = rng.randrange(256)
        elif way == 1:
            changed[place] ^= 1 << rng.randrange(8)
        elif way == 2:
            del changed[place : place + rng.randrange(1, 9)]
            changed += b"\0" * (not changed)
        else:
            changed[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
    # On memory of its own size, in which the sanitizers see the first byte too many.
    alone = np.frombuffer(bytes(changed), np.uint8).copy()
    for may_be_null in (optional, not optional):
        for bits in (8, 16):
            found = native(alone, compression == "snappy", may_be_null, bits)
            assert found == plain(changed, compression == "snappy", may_be_null, bits)


@given(st.binary(max_size=300), st.integers(0, 2**32))
def test_snappy(data, seed):
    """What pyarrow has compressed, with pieces that come again, and the same with bytes changed."""
    rng = random.Random(seed)
    raw = b"".join(data[(at := rng.randrange(len(data) + 1)) : at + 40] for _ in range(9)) + b"!"
    stored = pa.compress(raw, "snappy", asbytes=True)
    out = np.empty(len(raw), np.uint8)
    assert _parquet.snappy(stored, out)
    assert out.tobytes() == reference.snappy(stored) == raw
    changed = bytearray(stored)
    changed[rng.randrange(len(changed))] = rng.randrange(256)
    try:
        expected = reference.snappy(bytes(changed))
    except ValueError:
        expected = None
    assert _parquet.snappy(bytes(changed), out) == (expected is not None and len(expected) == len(raw))
    if expected is not None and len(expected) == len(raw):
        assert out.tobytes() == expected


def test_the_chunk_of_the_recipes():
    """It is one, so that the calls of the fuzz test go where they should."""
    world = World(random.Random(1))
    for bits in (8, 16):
        found = native(file_arguments.column_chunk(world), False, True, bits)
        assert found == (b"\1\0\0\0a\2\0\0\0bb", 2, [0, 1, 1, 0, None, 1])
    out = np.empty(12, np.uint8)
    assert _parquet.snappy(file_arguments.compressed(world), out)
    assert out.tobytes() == b"abcabcabcabc"


def test_what_the_kernel_is_asked_for():
    chunk = file_arguments.column_chunk(World(random.Random(1)))
    space, out, valid = np.empty(16, np.uint8), np.empty(6, np.uint8), np.empty(6, np.uint8)
    for n_values in (0, 65_537):
        with pytest.raises(ValueError, match=rf"n_values must be 1\.\.65536, got {n_values}"):
            _parquet.codes(chunk, False, True, n_values, space, out, valid)
    with pytest.raises(ValueError, match="6 codes but 5 valid"):
        _parquet.codes(chunk, False, True, 2, space, out, valid[:5])
    with pytest.raises(ValueError, match="expected rows, bytes and space, got 0, 48 and 16"):
        _parquet.codes(chunk, False, True, 2, space, out[:0], valid[:0])
    with pytest.raises(ValueError, match="valid and out must be arrays of their own"):
        _parquet.codes(chunk, False, True, 2, space, out, out)
    with pytest.raises(ValueError, match="stored and out must be arrays of their own"):
        _parquet.snappy(out, out)
    assert _parquet.plan(b"") is None
    assert not _parquet.snappy(b"", out)
    assert _parquet.codes(chunk, False, True, 1, space, out, valid) is None  # a code beyond the dictionary
    assert _parquet.codes(chunk, False, True, 2, space, np.empty(7, np.uint8), np.empty(7, np.uint8)) is None
