"""The kernel that turns values into codes: edges, errors, and what comes from outside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _codes

DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
OUT = [np.uint8, np.uint16, np.uint32]


def first_seen(values):
    order = {}
    return [order.setdefault(value, len(order)) for value in values], list(order)


@pytest.mark.parametrize("near", [True, False])
@given(data=st.lists(st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.none())))
def test_key_encoder_equals_a_dictionary(near, data):
    encoder = _codes.KeyEncoder(near)
    keys = np.array([0 if key is None else key for key in data], np.int64)
    nulls = np.array([key is None for key in data], np.uint8)
    out = np.empty(len(data), np.uint32)
    middle = len(data) // 2
    encoder.encode(keys[:middle], nulls[:middle], out[:middle])
    encoder.encode(keys[middle:], nulls[middle:], out[middle:])
    codes, distinct = first_seen(data)
    found, null = encoder.found()
    assert out.tolist() == codes
    assert len(encoder) == len(distinct)
    assert [None if code == null else key for code, key in enumerate(found.tolist())] == distinct


@pytest.mark.parametrize("near", [True, False])
def test_key_encoder_grows(near):
    keys = np.arange(-100_000, 100_000, dtype=np.int64) * 7919
    encoder = _codes.KeyEncoder(near)
    out = np.empty(len(keys), np.uint32)
    encoder.encode(keys, None, out)
    assert np.array_equal(out, np.arange(len(keys)))
    encoder.encode(keys[::-1].copy(), None, out)
    assert np.array_equal(out, np.arange(len(keys))[::-1])
    assert np.array_equal(encoder.found()[0], keys)


def test_null_is_not_the_key_zero():
    encoder = _codes.KeyEncoder(False)
    out = np.empty(3, np.uint32)
    encoder.encode(np.zeros(3, np.int64), np.array([1, 0, 1], np.uint8), out)
    assert out.tolist() == [0, 1, 0]


def test_key_encoder_refuses_other_lengths():
    with pytest.raises(ValueError, match="2 keys, no nulls, room for 3 codes"):
        _codes.KeyEncoder().encode(np.zeros(2, np.int64), None, np.zeros(3, np.uint32))
    with pytest.raises(ValueError, match="2 keys, 1 nulls, room for 2 codes"):
        _codes.KeyEncoder().encode(np.zeros(2, np.int64), np.zeros(1, np.uint8), np.zeros(2, np.uint32))
    with pytest.raises(TypeError):
        _codes.KeyEncoder().encode(None, None, np.zeros(3, np.uint32))


@given(st.lists(st.text(st.sampled_from("ab\U0001f600\0"), max_size=5)), st.integers(5, 8))
def test_record_encoder_equals_a_dictionary(texts, width):
    array = np.array(texts, f"=U{width}")
    out = np.empty(len(texts), np.uint32)
    encoder = _codes.RecordEncoder(width)
    encoder.encode(array.view(np.uint32).reshape(-1, width), out)
    codes, distinct = first_seen(array.tolist())
    assert out.tolist() == codes
    assert encoder.found().view(f"=U{width}").ravel().tolist() == distinct


def test_record_encoder_grows_and_refuses():
    records = np.arange(60_000, dtype=np.uint32).reshape(-1, 2) % 4000
    out = np.empty(len(records), np.uint32)
    encoder = _codes.RecordEncoder(2)
    encoder.encode(records, out)
    assert len(encoder) == 2000
    assert np.array_equal(encoder.found()[out], records)
    with pytest.raises(ValueError, match="expected 5 records of 2 words, got 5 of 3"):
        encoder.encode(np.zeros((5, 3), np.uint32), np.zeros(5, np.uint32))
    with pytest.raises(ValueError, match="width must be"):
        _codes.RecordEncoder(0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out_dtype", OUT)
def test_remap_every_type(dtype, out_dtype):
    codes = np.array([0, 2, 1, 100], dtype)
    codes.flags.writeable = False
    table = np.arange(101).astype(out_dtype)[::-1].copy()
    out = np.empty(4, out_dtype)
    _codes.remap(codes, table, out)
    assert out.tolist() == [100, 98, 99, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_codes_from_outside_are_checked(dtype):
    info = np.iinfo(dtype)
    for wrong in {info.min, info.max, 5, -1} - {0}:
        if not info.min <= wrong <= info.max:
            continue
        codes = np.array([0, 4, wrong], dtype)
        message = f"row 2: code {wrong} outside a dictionary of 5 values"
        assert _codes.check_range(codes, 5) == 2
        with pytest.raises(ValueError, match=message):
            _codes.mark(codes, np.zeros(5, np.uint8))
        with pytest.raises(ValueError, match=message):
            _codes.remap(codes, np.zeros(5, np.uint8), np.zeros(3, np.uint8))
        with pytest.raises(ValueError, match=message):
            _codes.fill_nulls(codes, np.array([7], np.uint8), 0, 5, np.zeros(3, np.int64))
        # What stands in a null slot is nobody's business.
        out = np.zeros(3, np.int64)
        _codes.fill_nulls(codes, np.array([3], np.uint8), 0, 5, out)
        assert out.tolist() == [0, 4, 5]
    assert _codes.check_range(np.array([0, 4], dtype), 5) == -1
    assert _codes.check_range(np.array([], dtype), 0) == -1
    assert _codes.check_range(np.array([0], dtype), 0) == 0


def test_mark():
    used = np.zeros(4, np.uint8)
    _codes.mark(np.array([3, 1, 1], np.int16), used)
    assert used.tolist() == [0, 1, 0, 1]


def test_remap_refuses_other_lengths():
    with pytest.raises(ValueError, match="2 codes but room for 3"):
        _codes.remap(np.zeros(2, np.uint8), np.zeros(1, np.uint8), np.zeros(3, np.uint8))


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 17))
def test_fill_nulls_reads_bits(valid, offset):
    bits = np.packbits(np.array([False] * offset + valid, bool), bitorder="little")
    out = np.zeros(len(valid), np.int64)
    _codes.fill_nulls(np.zeros(len(valid), np.int8), bits, offset, 3, out)
    assert out.tolist() == [0 if bit else 3 for bit in valid]


def test_fill_nulls_refuses_a_short_bitmap():
    with pytest.raises(ValueError, match="9 codes from bit 0 of 8, room for 9"):
        _codes.fill_nulls(np.zeros(9, np.int8), np.zeros(1, np.uint8), 0, 3, np.zeros(9, np.int64))
    with pytest.raises(ValueError, match="1 codes from bit -1"):
        _codes.fill_nulls(np.zeros(1, np.int8), np.zeros(1, np.uint8), -1, 3, np.zeros(1, np.int64))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([], (-1, 0)),
        ([1, 2], (-1, 3)),
        ([1, 0, -1], (1, 1)),
        ([2**63 - 2, 1], (-1, 2**63 - 1)),
        ([2**63 - 1, 1], (-1, -1)),
        ([2**63 - 1, 2**63 - 1, 2**63 - 1], (-1, -1)),
        ([2**63 - 1, 1, 0], (2, -1)),
    ],
)
def test_check_weights(weights, expected):
    assert _codes.check_weights(np.array(weights, np.int64)) == expected


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 1)), min_size=1),
    st.booleans(),
)
def test_row_grouper_equals_a_dictionary(rows, weighted):
    columns = [
        np.array(column, dtype)
        for column, dtype in zip(zip(*rows, strict=True), (np.uint8, np.uint16, np.uint32), strict=True)
    ]
    weights = np.arange(1, len(rows) + 1) if weighted else None
    grouper = _codes.RowGrouper(columns)
    grouper.add(0, 1, weights)
    grouper.add(1, len(rows), weights)
    firsts, totals = grouper.found()
    expected = {}
    for place, row in enumerate(rows):
        expected[row] = expected.get(row, 0) + (place + 1 if weighted else 1)
    assert [rows[first] for first in firsts] == list(expected)
    assert totals.tolist() == list(expected.values())


def test_row_grouper_grows():
    column = np.arange(50_000, dtype=np.uint32)
    grouper = _codes.RowGrouper([column, column.astype(np.uint8)])
    grouper.add(0, 50_000, None)
    grouper.add(0, 50_000, None)
    assert len(grouper) == 50_000
    assert (grouper.found()[1] == 2).all()


def test_row_grouper_errors():
    one = np.zeros(2, np.uint8)
    with pytest.raises(ValueError, match="at least one column, got none"):
        _codes.RowGrouper([])
    with pytest.raises(ValueError, match="columns of 2 rows, got 3"):
        _codes.RowGrouper([one, np.zeros(3, np.uint8)])
    with pytest.raises(TypeError, match="uint8, uint16 or uint32, got int64"):
        _codes.RowGrouper([np.zeros(2, np.int64)])
    grouper = _codes.RowGrouper([one])
    with pytest.raises(ValueError, match="rows 0 to 3 of 2"):
        grouper.add(0, 3, None)
    with pytest.raises(ValueError, match="expected 2 weights, got 1"):
        grouper.add(0, 2, np.ones(1, np.int64))
    with pytest.raises(ValueError, match="less than 2\\^63, got a larger total"):
        grouper.add(0, 2, np.array([2**63 - 1, 1]))
