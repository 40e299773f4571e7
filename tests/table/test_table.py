"""`Table` against the reference: what goes in, what comes out, and what is refused."""

import copy
import datetime
import decimal
import gc
import math
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import SUPPRESSED, Interval, Table, concat, count
from nbcfast.reference import table as reference
from nbcfast.table import Column, Domain
from nbcfast.table.arrow import encoded_batches
from nbcfast.table.encode import BLOCK, DomainBuilder, NumberBuilder

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

SPECIAL = st.one_of(st.none(), st.just(SUPPRESSED))
FLOATS = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, math.nan, math.inf, 1.0, 2.0]))
KINDS = {
    "bool": st.booleans(),
    "small": st.integers(-2, 3),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": FLOATS,
    "mixed": st.one_of(st.integers(-(2**53), 2**53), FLOATS),
    "text": st.text(st.sampled_from("abÄz\U0001f600\0\n"), max_size=3),
}
TEXTS = st.lists(st.one_of(st.none(), st.sampled_from(["b", "a", "", "é", "\U0001f600", "Z"])))


def columns(kinds=tuple(KINDS), special=SPECIAL):
    return st.sampled_from(kinds).flatmap(lambda kind: st.lists(st.one_of(KINDS[kind], special)))


def listed(table, name="x"):
    """The codes and the domain, as the reference writes them."""
    return table.codes(name).tolist(), list(table.domain(name))


def shown(result):
    """A form in which 1, 1.0 and True differ."""
    codes, domain = result
    return codes, [repr(value) for value in domain]


def rows_of(table):
    return [
        tuple(table.domain(name)[table.codes(name)[row]] for name in table.names)
        for row in range(table.n_rows)
    ]


# --- values to codes -------------------------------------------------------------------------------------


@given(columns())
def test_lists_equal_reference(values):
    expected = shown(reference.column(values))
    assert shown(listed(Table({"x": values}))) == expected
    assert shown(listed(Table({"x": tuple(values)}))) == expected
    array = np.empty(len(values), object)
    array[:] = values
    assert shown(listed(Table({"x": array}))) == expected


@given(
    st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4", "f8", ">i4", ">f8"]),
    st.data(),
)
def test_arrays_equal_reference(dtype, data):
    kind = np.dtype(dtype).kind
    if kind == "f":
        values = data.draw(st.lists(st.floats(width=8 * min(np.dtype(dtype).itemsize, 8))))
    elif kind == "b":
        values = data.draw(st.lists(st.integers(-5, 5)))
    else:
        info = np.iinfo(dtype)
        values = data.draw(st.lists(st.integers(int(info.min), int(info.max))))
    array = np.array(values, dtype)
    step = data.draw(st.sampled_from([1, 2, -1, -3]))
    wide = np.repeat(array, 3).reshape(-1, 3)[:, 1][::step]
    wide.flags.writeable = False
    expected = shown(reference.column(wide.tolist()))
    assert shown(listed(Table({"x": wide}))) == expected
    mask = np.arange(len(wide)) % 3 == 1
    masked = [None if absent else value for value, absent in zip(wide.tolist(), mask, strict=True)]
    assert shown(listed(Table({"x": np.ma.array(wide, mask=mask)}))) == shown(reference.column(masked))


@pytest.mark.parametrize("dtype", ["?", "<U4", ">U4", "U1", object])
def test_other_arrays_equal_reference(dtype):
    array = np.array(["b", "", "a", "bb", "b"] * 3, "U4")
    array = array == "b" if dtype == "?" else array.astype(dtype)
    for part in (array, array[::-2], array[:0], array[:1], np.stack([array, array], 1)[:, 0]):
        part.flags.writeable = False
        assert shown(listed(Table({"x": part}))) == shown(reference.column(part.tolist()))
    mask = np.arange(len(array)) % 4 == 2
    masked = np.ma.array(array, mask=mask)
    assert shown(listed(Table({"x": masked}))) == shown(reference.column(masked.tolist()))


def test_string_dtype_arrays():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 1 has no StringDType")
    array = np.array(["b", "long " * 20, "b"], np.dtypes.StringDType())
    assert listed(Table({"x": array})) == ([0, 1, 0], ["b", "long " * 20])


def test_ranges_and_objects_with_array():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([2, 1])

    assert listed(Table({"x": range(5, 0, -2)})) == ([2, 1, 0], [1, 3, 5])
    assert listed(Table({"x": Wrapped()})) == ([1, 0], [1, 2])
    assert Table({"x": range(0)}).n_rows == 0


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        (1, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (300, np.uint16),
        (65_536, np.uint16),
        (70_000, np.uint32),
    ],
)
def test_the_smallest_codes(size, dtype):
    order = np.random.default_rng(3).permutation(size)
    for values in (order, order + 0.5, order.astype("U5"), order.tolist(), pa.array(order.astype(str))):
        table = Table({"x": values})
        codes = table.codes("x")
        assert codes.dtype == dtype
        assert codes.flags.c_contiguous
        assert not codes.flags.writeable
        assert len(table.domain("x")) == size
        assert len(set(codes.tolist())) == size
    assert np.array_equal(Table({"x": order}).codes("x"), order)


def test_numpy_and_pandas_scalars_in_lists():
    values = [np.int8(3), 2, np.int64(3), None]
    assert shown(listed(Table({"x": values}))) == ([1, 0, 1, 2], ["2", "3", "None"])
    assert listed(Table({"x": [np.str_("b"), "a", pd.NA, pd.NaT]})) == ([1, 0, 2, 2], ["a", "b", None])
    assert listed(Table({"x": [np.float32(0.5), np.float64("nan"), 1]})) == ([0, 2, 1], [0.5, 1.0, None])
    assert shown(listed(Table({"x": [np.bool_(True), False]}))) == ([1, 0], ["False", "True"])
    assert shown(listed(Table({"x": [1.0, 1]}))) == shown(listed(Table({"x": [1, 1.0]}))) == ([0, 0], ["1.0"])


def test_negative_zero_and_nan():
    for values in ([0.0, -0.0, math.nan], np.array([0.0, -0.0, np.nan]), np.array([0, -0.0, np.nan], "f2")):
        table = Table({"x": values})
        assert table.codes("x").tolist() == [0, 0, 1]
        assert [repr(value) for value in table.domain("x")] == ["0.0", "None"]
    first = Table({"x": [-0.0, 1.0]})
    assert repr(first.domain("x")[0]) == "0.0"


# --- declared domains ------------------------------------------------------------------------------------


@given(columns(("small", "bool", "text", "float")), st.randoms())
def test_declared_domains_equal_reference(values, random):
    domain = [repr(value) for value in reference.column(values)[1]]
    declared = reference.column(values)[1]
    random.shuffle(declared)
    table = Table({"x": values}, domains={"x": declared})
    assert shown(listed(table)) == shown(reference.column(values, declared))
    assert table.column("x").domain.declared
    assert sorted(repr(value) for value in table.domain("x")) == sorted(domain)


def test_declared_domain_keeps_what_no_row_has():
    table = Table({"x": ["a"]}, domains={"x": [SUPPRESSED, None, "z", "a"]})
    assert listed(table) == ([1], ["z", "a", None, SUPPRESSED])
    assert Table({"x": []}, domains={"x": [3, 1]}).domain("x") == (3, 1)
    assert Table({"x": [3]}, domains={"x": [3.0, 0.5]}).domain("x") == (3.0, 0.5)
    assert Table({"x": [1]}, domains={"x": Domain.of([2, 1])}).domain("x") == (2, 1)
    assert Table({"x": [1]}, domains={"x": np.array([2, 1])}).domain("x") == (2, 1)


@pytest.mark.parametrize(
    ("values", "domain", "error", "message"),
    [
        (
            ["a", "q"],
            ["a", "b"],
            ValueError,
            "column 'x': value 'q' is not in its declared domain of 2 values",
        ),
        ([1, True], [1], TypeError, "column 'x': expected values of one kind, got bool and int"),
        ([True], [1], ValueError, "column 'x': value True is not in its declared domain of 1 values"),
        ([1], [True], ValueError, "column 'x': value 1 is not in its declared domain of 1 values"),
        ([None], [1], ValueError, "column 'x': value None is not in its declared domain of 1 values"),
        ([1.5], [1], ValueError, "column 'x': value 1.5 is not in its declared domain"),
        ([1], [1, 2, 1], ValueError, "domain of column 'x': expected distinct values, got 1 twice"),
        ([1], [None, math.nan], ValueError, "domain of column 'x': expected distinct values, got None twice"),
        ([1], [1, "a"], TypeError, "domain of column 'x': expected values of one kind, got int and text"),
        ([1], "ab", TypeError, "domain of column 'x': expected a sequence of values, got str"),
        ([1], 3, TypeError, "domain of column 'x': expected a sequence of values, got int"),
    ],
)
def test_declared_domain_errors(values, domain, error, message):
    with pytest.raises(error, match=message):
        Table({"x": values}, domains={"x": domain})


def test_domains_of_unknown_columns():
    with pytest.raises(ValueError, match="domains: expected a column of 'x'; got 'y'"):
        Table({"x": [1]}, domains={"y": [1]})
    with pytest.raises(TypeError, match="domains: expected a mapping of name -> values, got list"):
        Table({"x": [1]}, domains=[1])


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.zeros((2, 2)), ValueError, r"column 'x': expected a 1-D array, got shape \(2, 2\)"),
        (np.array(3), ValueError, r"column 'x': expected a 1-D array, got shape \(\)"),
        ([[1, 2]], TypeError, "column 'x': expected values of bool, int, .* got list"),
        (["a", 1], TypeError, "column 'x': expected values of one kind, got int and text"),
        ([True, 1], TypeError, "column 'x': expected values of one kind, got bool and int"),
        ([True, 0.5], TypeError, "column 'x': expected values of one kind, got bool and float"),
        ([b"a"], TypeError, "column 'x': expected values of .* got bytes"),
        ([1j], TypeError, "column 'x': expected values of .* got complex"),
        ([decimal.Decimal(1)], TypeError, "column 'x': expected values of .* got Decimal"),
        ([datetime.date(2020, 1, 1)], TypeError, "column 'x': expected values of .* got date"),
        (np.array([b"a"]), TypeError, r"column 'x': expected bools, integers, .* got \|S1"),
        (np.array([1j]), TypeError, "column 'x': expected bools, integers, .* got complex128"),
        (np.zeros(1, "M8[D]"), TypeError, "column 'x': expected bools, integers, .* got datetime64"),
        (np.zeros(1, np.longdouble), TypeError, "column 'x': expected bools, integers, .* got"),
        ("abc", TypeError, "column 'x': expected a 1-D array or a list, got str"),
        ({1: 2}, TypeError, "column 'x': expected a 1-D array or a list, got dict"),
        ({1, 2}, TypeError, "column 'x': expected a 1-D array or a list, got set"),
        (3, TypeError, "column 'x': expected a 1-D array or a list, got int"),
        (None, TypeError, "column 'x': expected a 1-D array or a list, got NoneType"),
        (iter([1]), TypeError, "column 'x': expected a 1-D array or a list, got list_iterator"),
        ([2**63], ValueError, "column 'x': expected integers of 64 bits with sign, got 9223372036854775808"),
        (
            np.array([2**63], np.uint64),
            ValueError,
            "column 'x': expected integers of 64 bits .* 9223372036854775808",
        ),
        (
            pa.array([2**63], pa.uint64()),
            ValueError,
            "column 'x': expected integers of 64 .* 9223372036854775808",
        ),
        ([2**53 + 1, 0.5], ValueError, "column 'x': the integer 9007199254740993 stands among floats"),
        ([10**400, 0.5], ValueError, "stands among floats"),
        (pa.array([b"a"]), TypeError, "column 'x': expected bools, .* got binary"),
        (pa.array([[1]]), TypeError, "column 'x': expected bools, .* got list"),
        (pa.array([{"a": 1}]), TypeError, "column 'x': expected bools, .* got struct"),
        (pa.array([b"a"]).dictionary_encode(), TypeError, "column 'x': expected bools, .* got dictionary"),
        (pd.Series(["a", 1]), (ValueError, TypeError), "column 'x': "),
        (pd.Series([10**30, 1]), (ValueError, TypeError), "column 'x': "),
    ],
)
def test_columns_that_are_refused(values, error, message):
    with pytest.raises(error, match=message):
        Table({"x": values})


def test_tables_that_are_refused():
    with pytest.raises(ValueError, match="column 'y': expected 2 rows as in 'x', got 1"):
        Table({"x": [1, 2], "y": [1]})
    with pytest.raises(TypeError, match="expected column names of str, got 3 of int"):
        Table({3: [1]})
    for obj in ([1], "abc", None, np.zeros(3)):
        with pytest.raises(TypeError, match="expected a mapping of name -> 1-D array, or Arrow data"):
            Table(obj)
    with pytest.raises(TypeError, match="expected a table, got one column "):
        Table(pa.chunked_array([[1]]))
    with pytest.raises(TypeError, match="expected column names of str, got 0 of int"):
        Table(pd.DataFrame({0: [1]}))
    with pytest.raises(TypeError, match=r"expected column names of str, got \('a', 'b'\) of tuple"):
        Table(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))
    with pytest.raises(ValueError, match="expected distinct column names, got 'a' twice"):
        Table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="expected distinct column names, got 'a' twice"):
        Table(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises((ValueError, TypeError), match=r"DataFrame: .*for column a"):
        Table(pd.DataFrame({"a": ["x", 1]}))
    with pytest.raises(TypeError, match=r"column 'a': expected bools, .* got binary"):
        Table(pa.table({"a": [b"x"]}))


# --- weights ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", [[3, 1], (3, 1), np.array([3, 1], np.uint8), np.array([3, 9, 1])[::2], pa.array([3, 1])]
)
def test_weights(weights):
    table = Table({"x": [1, 2]}, weights=weights)
    assert table.weights.tolist() == [3, 1]
    assert table.weights.dtype == np.int64
    assert not table.weights.flags.writeable


def test_weights_of_a_column():
    for obj in ({"x": ["a", "b"], "n": [2, 5]}, pd.DataFrame({"n": [2, 5], "x": ["a", "b"]})):
        table = Table(obj, weights="n")
        assert table.names == ("x",)
        assert table.weights.tolist() == [2, 5]
    assert Table({"x": []}, weights=[]).weights.tolist() == []


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, 2.0], TypeError, "weights: expected integers, got float"),
        (np.array([1.0, 2.0]), TypeError, "weights: expected integers, got float"),
        ([True, True], TypeError, "weights: expected integers, got bool"),
        (["1", "2"], TypeError, "weights: expected integers, got text"),
        ([1, 0], ValueError, "weights: expected integers of at least 1, got 0 in row 1"),
        (np.array([-3, 1]), ValueError, "weights: expected integers of at least 1, got -3 in row 0"),
        ([1, None], ValueError, "weights: expected integers of at least 1, got None"),
        (
            np.ma.array([1, 2], mask=[0, 1]),
            ValueError,
            "weights: expected integers of at least 1, got a null",
        ),
        ([1], ValueError, "weights: expected one for each of 2 rows, got 1"),
        ([2**63 - 1, 1], ValueError, r"weights: expected a total below 2\^63, got a larger one"),
        (np.array([2**63, 1], np.uint64), ValueError, "weights: expected integers of 64 bits with sign"),
        ("y", ValueError, "weights: expected a column of 'x'; got 'y'"),
        ("x", TypeError, "weights: expected integers, got text"),
        (3, TypeError, "column 'weights': expected a 1-D array or a list, got int"),
    ],
)
def test_weights_that_are_refused(weights, error, message):
    with pytest.raises(error, match=message):
        Table({"x": ["a", "b"]}, weights=weights)


# --- Arrow, pandas, polars, DuckDB -----------------------------------------------------------------------


@given(TEXTS, st.integers(1, 4), st.booleans(), st.sampled_from(["string", "large_string", "string_view"]))
def test_arrow_text_equals_reference(values, chunks, dictionary, type_):
    cuts = [len(values) * place // chunks for place in range(chunks + 1)]
    parts = [values[start:stop] for start, stop in pairwise(cuts)]
    arrays = [pa.array(part, getattr(pa, type_)()) for part in parts]
    if dictionary:
        # Each chunk with a dictionary of its own order, an unused entry and a duplicate.
        arrays = []
        for number, part in enumerate(parts):
            known = sorted({value for value in part if value is not None}, reverse=bool(number % 2))
            words = ["unused", *known, *known]
            places = [
                None if v is None else words.index(v) + (i % 2) * len(known) for i, v in enumerate(part)
            ]
            arrays.append(pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(words)))
    data = pa.table({"x": pa.chunked_array(arrays), "y": pa.chunked_array(arrays)})
    expected = reference.column(values)
    table = Table(data)
    assert listed(table) == listed(table, "y") == expected
    assert listed(Table({"x": data["x"]})) == expected
    assert Table(data.to_reader()) == table


@given(columns(("bool", "small", "int", "float"), st.none()), st.integers(0, 3))
def test_arrow_numbers_equal_reference(values, start):
    expected = shown(reference.column(values[start:]))
    array = pa.array(values).slice(start)
    if not len(array) and array.type == pa.null():
        return
    assert shown(listed(Table({"x": array}))) == expected
    encoded = array.dictionary_encode()
    assert shown(listed(Table({"x": encoded}))) == expected
    if array.null_count == 0:
        assert shown(listed(Table({"x": array.to_numpy(zero_copy_only=False)}))) == expected


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["int", "uint"])
def test_dictionary_indices_of_every_width(sign, width):
    indices = pa.array([0, 1, None, 0, 2], getattr(pa, f"{sign}{width}")())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["b", None, "a", "unused"]))
    assert listed(Table({"x": array})) == ([1, 2, 2, 1, 0], ["a", "b", None])
    assert listed(Table({"x": array[1:]})) == ([2, 2, 1, 0], ["a", "b", None])
    assert listed(Table({"x": array[3:]})) == ([1, 0], ["a", "b"])


def test_dictionary_of_floats_with_nan_and_zeros():
    words = pa.array([math.nan, -0.0, 0.0, None, 2.0])
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4], pa.int8()), words)
    assert shown(listed(Table({"x": array}))) == ([2, 0, 0, 2, 1], ["0.0", "2.0", "None"])


def test_dictionary_with_128_values_and_nulls():
    places = [None, *range(128)]
    array = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(range(128)))
    assert Table({"x": array}).codes("x").tolist() == [128, *range(128)]


@pytest.mark.parametrize("code", [-1, 2, 100])
def test_malformed_dictionaries_do_not_crash(code):
    indices = pa.array([0, code], pa.int8())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    with pytest.raises(ValueError, match=f"column 'x': row 1: code {code} outside a dictionary of 2 values"):
        Table({"x": array})
    indices = pa.array([0, code, None], pa.int8())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    with pytest.raises(ValueError, match=f"column 'x': row 1: code {code} outside a dictionary of 2 values"):
        Table(pa.table({"x": array}))


def test_malformed_text_does_not_crash():
    offsets, data = pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")
    array = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    for obj in ({"x": array}, pa.table({"x": array})):
        with pytest.raises(ValueError, match=r"column 'x': .*(codec|UTF8)"):
            Table(obj)


def test_null_and_run_end_types():
    assert listed(Table({"x": pa.nulls(2)})) == ([0, 0], [None])
    array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["b", "a"]))
    assert listed(Table({"x": array})) == ([1, 1, 0], ["a", "b"])
    array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 5]))
    assert listed(Table({"x": array})) == ([1, 1, 0], [5, 7])


@pytest.mark.parametrize(
    ("type_", "tick", "text"),
    [
        (pa.date32(), -1, "1969-12-31"),
        (pa.date64(), 86_400_000, "1970-01-02"),
        (pa.time32("s"), 3723, "01:02:03"),
        (pa.time32("ms"), 45_296_500, "12:34:56.5"),
        (pa.time64("us"), 9_000_001, "00:00:09.000001"),
        (pa.time64("ns"), 10_000_000_000, "00:00:10"),
        (pa.timestamp("s"), 90, "1970-01-01T00:01:30"),
        (pa.timestamp("ms"), 1500, "1970-01-01T00:00:01.5"),
        (pa.timestamp("ns"), 1_500_000_000, "1970-01-01T00:00:01.5"),
        (pa.timestamp("us", "Europe/Berlin"), 0, "1970-01-01T00:00:00+00:00"),
        (pa.duration("s"), 90, "PT90S"),
        (pa.duration("ms"), -1500, "-PT1.5S"),
    ],
)
def test_times_are_iso_text(type_, tick, text):
    integers = pa.array([tick, None], pa.int32() if type_.bit_width == 32 else pa.int64())
    array = integers.view(type_)
    assert listed(Table({"x": array})) == ([0, 1], [text, None])
    assert listed(Table({"x": array.dictionary_encode()})) == ([0, 1], [text, None])


DAY = 86_400
TEMPORAL = {  # and the ticks to draw from: days to the years -1,000 and 12,000, times of a day
    pa.date32(): (-1_100_000, 3_700_000, 1),
    pa.date64(): (-1_100_000, 3_700_000, DAY * 1000),
    pa.time32("s"): (0, DAY - 1, 1),
    pa.time32("ms"): (0, DAY * 1000 - 1, 1),
    pa.time64("us"): (0, DAY * 10**6 - 1, 1),
    pa.time64("ns"): (0, DAY * 10**9 - 1, 1),
    pa.timestamp("s"): (-(10**11), 4 * 10**11, 1),
    pa.timestamp("ms", "UTC"): (-(10**14), 4 * 10**14, 1),
    pa.timestamp("us"): (-(10**17), 4 * 10**17, 1),
    pa.timestamp("ns", "Europe/Berlin"): (-(2**62), 2**62, 1),
    pa.duration("s"): (-(2**62), 2**62, 1),
    pa.duration("ms"): (-(2**62), 2**62, 1),
    pa.duration("us"): (-(2**62), 2**62, 1),
    pa.duration("ns"): (-(2**62), 2**62, 1),
}


@pytest.mark.parametrize("type_", TEMPORAL, ids=str)
@given(data=st.data())
def test_times_stand_in_the_order_of_time(type_, data):
    """As text PT100S stood before PT90S, the year 12000 before 2000 and the year -2 after -1."""
    least, most, step = TEMPORAL[type_]
    ticks = st.one_of(st.integers(least, most), st.integers(max(least, -2000), min(most, 2000)))
    drawn = data.draw(st.lists(ticks, min_size=1, max_size=12))
    drawn = [tick * step for tick in drawn]
    array = pa.array(drawn, pa.int32() if type_.bit_width == 32 else pa.int64()).view(type_)
    ranks = [sorted(set(drawn)).index(tick) for tick in drawn]
    table = Table({"x": array})
    assert table.codes("x").tolist() == ranks
    assert Table(pa.table({"x": array.dictionary_encode()})).codes("x").tolist() == ranks
    codes, listed = reference.column([table.domain("x")[code] for code in table.codes("x")])
    assert (codes, tuple(listed)) == (ranks, table.domain("x"))
    half = len(drawn) // 2
    parts = [Table({"x": part, "y": [0] * len(part)}) for part in (array[half:], array[:half])]
    assert concat(parts).domain("x") == table.domain("x")
    if half:  # a part without rows has no classes
        assert (count(parts[0], "y") + count(parts[1], "y")).domain("x") == table.domain("x")


def test_durations_from_text_are_in_the_same_order():
    texts = ["PT100S", "PT90S", "-PT2S", "PT1.5S", "-PT10S", "PT01.50S"]
    assert Table({"x": texts}).domain("x") == ("-PT10S", "-PT2S", "PT01.50S", "PT1.5S", "PT90S", "PT100S")
    # With one text among them that is none they are texts.
    assert Table({"x": ["PT100S", "PT90S", "never"]}).domain("x") == ("PT100S", "PT90S", "never")


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_decimals(bits):
    if not hasattr(pa, f"decimal{bits}"):
        pytest.skip(f"this pyarrow has no decimal{bits}")
    make = getattr(pa, f"decimal{bits}")
    half, one = decimal.Decimal("1.50"), decimal.Decimal("1.00")
    table = Table({"x": pa.array([half, one, None], make(5, 2))})
    assert shown(listed(table)) == ([1, 0, 2], ["1.0", "1.5", "None"])
    assert shown(listed(Table({"x": pa.array([decimal.Decimal(7)], make(5, 0))}))) == ([0], ["7"])


def test_decimals_that_are_no_floats():
    value = decimal.Decimal("0.12345678901234567890")
    with pytest.raises(
        ValueError, match=r"column 'x': 0.12345678901234567890 .*cast the column to text or float64"
    ):
        Table({"x": pa.array([value])})
    with pytest.raises(ValueError, match="expected integers of 64 bits"):
        Table({"x": pa.array([decimal.Decimal(10**20)], pa.decimal128(30, 0))})


def frame():
    return {
        "i": [3, 1, 2, 1],
        "f": [0.5, None, -0.0, 0.5],
        "s": ["b", None, "a", "b"],
        "b": [True, False, True, None],
    }


def test_every_library_gives_the_same_table():
    expected = Table(frame())
    schema = pa.schema([("i", pa.int64()), ("f", pa.float64()), ("s", pa.string()), ("b", pa.bool_())])
    arrow = pa.table(frame(), schema)
    polars = pl.DataFrame(frame(), strict=False)
    pandas = pd.DataFrame(frame())
    for obj in (
        arrow,
        arrow.to_batches()[0],
        arrow.to_reader(max_chunksize=1),
        pa.concat_tables([arrow[:1], arrow[1:3], arrow[3:]]),
        polars,
        pl.concat([polars[:2], polars[2:]], rechunk=False),
        pandas,
        pandas.set_index(pd.Index([7, 5, 5, 1])),
        pandas.set_index(pd.Index(list("wxyz"), name="key")),
        pandas.convert_dtypes(dtype_backend="pyarrow"),
        pandas.convert_dtypes(),
        pandas.astype({"s": "category"}),
        pandas.astype({"s": pd.CategoricalDtype(["q", "b", "a"], ordered=True)}),
        polars.with_columns(pl.col("s").cast(pl.Categorical)),
        polars.with_columns(pl.col("s").cast(pl.Enum(["z", "b", "a"]))),
        duckdb.from_arrow(arrow),
        {name: arrow[name] for name in arrow.column_names},
        {name: polars[name] for name in polars.columns},
        {name: pandas[name] for name in pandas.columns},
        expected,
    ):
        table = Table(obj)
        assert table == expected, type(obj)
        for name in table.names:
            assert shown(listed(table, name)) == shown(listed(expected, name))


def test_an_index_is_no_column():
    data = pd.DataFrame(
        {"x": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None])
    )
    assert Table(data).names == ("x",)
    assert Table(pd.DataFrame({"x": [1, 2]})[::-1]).codes("x").tolist() == [1, 0]


def test_without_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import nbcfast, numpy as np\n"
        "assert nbcfast.Table({'x': np.array(['a']), 'y': [None]}).n_rows == 1\n"
        "class A:\n"
        "    def __arrow_c_stream__(self, schema=None): pass\n"
        "for call in (lambda: nbcfast.Table(A()), lambda: nbcfast.Table({'x': A()}),\n"
        "             lambda: nbcfast.read_csv('x.csv'), lambda: nbcfast.read_parquet('x.parquet')):\n"
        "    try:\n"
        "        call()\n"
        "    except ImportError as error:\n"
        "        assert 'pip install pyarrow' in str(error)\n"
        "    else:\n"
        "        raise SystemExit('no ImportError')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_import_pulls_in_no_extra():
    code = (
        "import sys, nbcfast\n"
        "assert not {'pyarrow', 'pandas', 'polars', 'duckdb', 'click', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# --- to Arrow and back -----------------------------------------------------------------------------------


@given(columns(special=st.none()), columns(special=st.none()))
def test_arrow_round_trip(a, b):
    n = min(len(a), len(b))
    table = Table({"a": a[:n], "b": b[:n]})
    assert Table(table.to_arrow()) == table
    assert Table({name: table.to_arrow()[name] for name in table.names}) == table


@pytest.mark.parametrize("size", [127, 128, 129, 256, 257, 32_768, 32_769, 65_537])
def test_arrow_round_trip_of_sizes(size):
    table = Table({"x": np.arange(size), "y": [None, *range(1, size)]})
    assert Table(table.to_arrow()) == table
    assert Table(table.to_arrow().to_pandas()) == table or size  # pandas makes floats of ints with nulls


def test_to_arrow():
    table = Table({"x": ["b", None, SUPPRESSED, "a"], "y": [1, 2, SUPPRESSED, None]}, weights=[1, 2, 3, 4])
    arrow = table.to_arrow(weights="n")
    assert arrow.to_pydict() == {
        "x": ["b", None, "*", "a"],
        "y": ["1", "2", "*", None],
        "n": [1, 2, 3, 4],
    }
    assert table.to_arrow(suppressed="withheld")["x"].to_pylist() == ["b", None, "withheld", "a"]
    assert Table({"x": [1]}).to_arrow("n")["n"].to_pylist() == [1]
    assert Table({"x": [Interval(1, 2), None]}).to_arrow().to_pydict() == {"x": ["[1, 2)", None]}
    assert Table({"x": [None, SUPPRESSED, None]}).to_arrow().to_pydict() == {"x": [None, "*", None]}
    assert Table({"x": [None, None]}).to_arrow().to_pydict() == {"x": [None, None]}
    assert pl.DataFrame(Table({"x": ["b", None]})).to_dict(as_series=False) == {"x": ["b", None]}
    with pytest.raises(ValueError, match=r"column 'x': its domain holds the text '\*' of SUPPRESSED"):
        Table({"x": ["*", SUPPRESSED]}).to_arrow()
    with pytest.raises(ValueError, match="weights: expected the name of a new column, got 'x'"):
        Table({"x": ["*"]}).to_arrow("x")
    with pytest.raises(ValueError, match="column 'x': "):
        Table({"x": ["\ud800"]}).to_arrow()


# --- select, take, drop_nulls, concat, collapse ----------------------------------------------------------


def two_columns():
    return Table(
        {"x": ["c", "a", None, "b"], "y": [1, 2, 3, None]},
        domains={"y": [3, 2, 1, 0, None]},
        weights=[1, 2, 3, 4],
    )


@given(columns(), st.data())
def test_take_is_the_table_of_those_rows(values, data):
    table = Table({"x": values, "n": range(len(values))})
    rows = data.draw(st.lists(st.integers(-len(values), len(values) - 1))) if values else []
    chosen = [values[row] for row in rows]
    if reference.kind_of(values) == "float":  # of rows that happen to be ints alone
        chosen = [float(value) if type(value) is int else value for value in chosen]
    expected = shown(reference.column(chosen))
    for index in (rows, np.array(rows, np.int64), np.array(rows, np.int32)):
        taken = table.take(index)
        assert shown(listed(taken)) == expected
        assert taken.codes("x").flags.c_contiguous
        assert not taken.codes("x").flags.writeable
    mask = np.array([row % 2 == 0 for row in range(len(values))], bool)
    by_mask = table.take(mask)
    assert by_mask == table.take(slice(None, None, 2)) == table.take(np.flatnonzero(mask))
    assert by_mask.n_rows == mask.sum()


def test_take_keeps_declared_domains_and_weights():
    table = two_columns()
    taken = table.take([-1, 0])
    assert listed(taken) == ([0, 1], ["b", "c"])
    assert listed(taken, "y") == ([4, 2], [3, 2, 1, 0, None])
    assert taken.weights.tolist() == [4, 1]
    assert table.take([0], keep_domains=True).domain("x") == ("a", "b", "c", None)
    assert table.take([]).n_rows == 0
    assert table.take(slice(0, 0)).domain("x") == ()
    assert table.take(slice(None, None, -1)).codes("x").tolist() == [1, 3, 0, 2]
    assert table.select([]).take([0, 1]).n_rows == 2


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([4], ValueError, "rows: expected positions from -4 to 3, got 4"),
        ([0, -5], ValueError, "rows: expected positions from -4 to 3, got -5"),
        (
            np.array([2**63], np.uint64),
            ValueError,
            "rows: expected positions from -4 to 3, got 9223372036854775808",
        ),
        ([True], ValueError, "rows: expected a mask of 4 rows, got 1"),
        ([0.5], TypeError, "rows: expected integers, bools or a slice, got float64"),
        (["a"], TypeError, "rows: expected integers, bools or a slice, got <U1"),
        (3, ValueError, r"rows: expected a 1-D array, got shape \(\)"),
        (slice(None, None, 0), ValueError, "rows: slice step cannot be zero"),
        (slice("a"), TypeError, "rows: slice indices must be integers"),
    ],
)
def test_take_errors(rows, error, message):
    with pytest.raises(error, match=message):
        two_columns().take(rows)


def test_drop_nulls():
    table = two_columns()
    assert rows_of(table.drop_nulls()) == [("c", 1), ("a", 2)]
    assert table.drop_nulls().domain("x") == ("a", "c")
    assert table.drop_nulls(["y"]).domain("x") == ("a", "c", None)
    assert table.drop_nulls([]) == table
    assert Table({"x": [SUPPRESSED, None]}).drop_nulls().domain("x") == (SUPPRESSED,)
    with pytest.raises(ValueError, match="expected a column of 'x', 'y'; got 'z'"):
        table.drop_nulls(["z"])
    with pytest.raises(TypeError, match="names: expected a sequence of names, got the text 'xy'"):
        table.drop_nulls("xy")


def test_select():
    table = two_columns()
    assert table.select(["y"]).names == ("y",)
    assert table.select(("y", "x")).weights.tolist() == [1, 2, 3, 4]
    assert table.select(["y"]).codes("y") is table.codes("y")
    with pytest.raises(ValueError, match="expected a column of 'x', 'y'; got 'z'"):
        table.select(["z"])
    with pytest.raises(ValueError, match="names: expected distinct column names, got 'x' twice"):
        table.select(["x", "x"])
    with pytest.raises(TypeError, match="names: expected a sequence of names, got the text 'xy'"):
        table.select("xy")


@given(columns(("small", "text", "float", "bool")), st.integers(0, 5), st.integers(0, 5))
def test_concat_is_the_table_of_all_rows(values, first, second):
    cuts = sorted({0, min(first, len(values)), min(second, len(values)), len(values)})
    parts = [Table({"x": values[a:b]}) for a, b in pairwise(cuts)] or [Table({"x": []})]
    assert concat(parts) == Table({"x": values})
    assert shown(listed(concat(parts))) == shown(reference.column(values))


def test_concat_of_large_domains():
    a, b = np.arange(0, 80_000, 2), np.arange(1, 80_000, 2)
    joined = concat([Table({"x": a}), Table({"x": b})])
    assert joined == Table({"x": np.concatenate([a, b])})
    assert concat([Table({"x": a}), Table({"x": a + 0.5})]) == Table({"x": np.concatenate([a, a + 0.5])})


def test_concat_of_declared_domains_names_and_weights():
    declared = Table({"y": [1], "x": ["b"]}, domains={"x": ["b", "a", "q"]})
    other = Table({"x": ["a"], "y": [2]}, weights=[5])
    joined = concat([declared, other])
    assert joined.names == ("y", "x")
    assert listed(joined) == ([0, 1], ["b", "a", "q"])
    assert joined.weights.tolist() == [1, 5]
    assert joined.column("x").domain.declared
    assert concat([other, declared]).column("x").domain.declared
    assert concat(iter([declared])) == declared
    with pytest.raises(ValueError, match="column 'x': value 'z' is not in the declared domain of 3 values"):
        concat([declared, Table({"x": ["z"], "y": [1]})])
    with pytest.raises(ValueError, match="column 'x': expected equal declared domains, got Domain"):
        concat([declared, Table({"x": ["b"], "y": [1]}, domains={"x": ["a", "b", "q"]})])
    # A value that no row has is not asked for.
    unused = Table({"x": ["z", "a"], "y": [1, 1]}).take([1], keep_domains=True)
    assert concat([declared, unused]).n_rows == 2


def test_concat_errors():
    table = Table({"x": [1]}, weights=[2**63 - 1])
    with pytest.raises(ValueError, match="tables: expected at least one, got none"):
        concat([])
    with pytest.raises(TypeError, match="tables: expected Tables, got dict"):
        concat([{"x": [1]}])
    with pytest.raises(ValueError, match=r"tables: expected the columns \('x',\), got \('y',\)"):
        concat([table, Table({"y": [1]})])
    with pytest.raises(TypeError, match="column 'x': expected values of one kind, got int and text"):
        concat([table, Table({"x": ["a"]})])
    with pytest.raises(ValueError, match=r"weights: expected a total below 2\^63"):
        concat([table, Table({"x": [1]})])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", None]), st.integers(0, 400))),
    st.booleans(),
)
def test_collapse_equals_reference(rows, weighted):
    names = ("a", "b", "c")
    weights = list(range(1, len(rows) + 1)) if weighted else None
    data = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    table = Table(data, weights=weights)
    collapsed = table.collapse()
    coded = list(zip(*(table.codes(name).tolist() for name in names), strict=True))
    distinct, totals = reference.collapse(coded, weights)
    assert list(zip(*(collapsed.codes(name).tolist() for name in names), strict=True)) == distinct
    assert collapsed.weights.tolist() == totals
    assert all(collapsed.domain(name) == table.domain(name) for name in names)
    assert collapsed.collapse() == collapsed
    order = np.random.default_rng(1).permutation(len(rows))
    assert table.take(order, keep_domains=True).collapse() == collapsed


def test_collapse_edges():
    assert Table({"x": []}).collapse().weights.tolist() == []
    assert Table({}).collapse().n_rows == 0
    nothing = Table({"x": [1, 2]}, weights=[3, 4]).select([]).collapse()
    assert (nothing.n_rows, nothing.weights.tolist()) == (1, [7])
    many = Table({"x": np.arange(70_000) % 69_999, "y": np.arange(70_000) % 300}).collapse()
    assert many.n_rows == 70_000


# --- the table itself ------------------------------------------------------------------------------------


@given(columns(), st.permutations(["a", "b", "c"]))
def test_column_order_changes_nothing(values, order):
    data = {"a": values, "b": list(range(len(values))), "c": values[::-1]}
    assert Table({name: data[name] for name in order}).select(["a", "b", "c"]) == Table(data)


def test_a_table_of_finished_columns():
    table = Table({"x": ["b", "a"]}, weights=[1, 2])
    columns = {"x": table.column("x")}
    made = Table.from_columns(columns, table.weights, 2)
    assert made == table
    assert made.codes("x") is table.codes("x")  # not copied
    columns.clear()
    assert made == table
    assert Table.from_columns({}, None, 3).n_rows == 3


def test_a_domain_that_was_found_can_be_declared():
    found = Table({"x": [2, None, 1]}).column("x").domain
    declared = found.as_declared()
    assert (declared.declared, declared.values, declared == found) == (True, found.values, True)
    assert Table({"x": [1]}).column("x").domain.declared is False


def test_equality_repr_pickle_and_immutability():
    table = two_columns()
    assert table == two_columns()
    assert table != two_columns().select(["y", "x"])
    assert table != Table(frame())
    assert table.take([0, 1]) != table.take([1, 0])
    assert Table({"x": [1]}) != Table({"x": [1]}, weights=[1])
    assert Table({"x": [1]}, weights=[2]) != Table({"x": [1]}, weights=[1])
    assert Table({"x": [1]}) != Table({"x": [True]})
    assert Table({"x": [1]}) == Table({"x": [1.0]})
    assert Table({"x": [1]}) != 3
    for other in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert other == table
        assert not other.codes("x").flags.writeable
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)
    with pytest.raises(AttributeError, match="cannot delete n_rows"):
        del table.n_rows
    with pytest.raises(AttributeError, match="cannot set n_rows"):
        table.n_rows = 3
    with pytest.raises(ValueError, match="read-only"):
        table.codes("x")[0] = 1
    assert repr(table) == (
        "Table: 4 rows, weighted\n"
        "  x: 4 values: 'a', 'b', 'c', None\n"
        "  y: 5 values, declared: 3, 2, 1, 0, None"
    )
    assert repr(Table({"x": range(20)})).endswith("  x: 20 values: 0, 1, 2, 3, 4, 5, ...")
    assert isinstance(table.column("x"), Column)


def test_the_table_does_not_look_at_its_input_again():
    array = np.array([1, 2, 3])
    weights = np.array([1, 2, 3])
    table = Table({"x": array}, weights=weights)
    array[:] = 7
    weights[:] = 7
    assert table == Table({"x": [1, 2, 3]}, weights=[1, 2, 3])
    assert weights.flags.writeable


def test_table_of_a_table():
    table = Table({"x": ["a", "b"]}, weights=[1, 2])
    assert Table(table) == table
    assert listed(Table(table, domains={"x": ["b", "a", "q"]})) == ([1, 0], ["b", "a", "q"])
    with pytest.raises(ValueError, match="column 'x': value 'a' is not in its declared domain of 1 values"):
        Table(table, domains={"x": ["b"]})
    with pytest.raises(ValueError, match="weights: expected none beside those of the table"):
        Table(table, weights=[1, 1])
    assert Table(Table({"x": [1]}), weights=[3]).weights.tolist() == [3]


def test_suppressed():
    assert repr(SUPPRESSED) == "⊥"
    assert pickle.loads(pickle.dumps(SUPPRESSED)) is SUPPRESSED
    assert copy.copy(SUPPRESSED) is copy.deepcopy(SUPPRESSED) is SUPPRESSED
    assert type(SUPPRESSED)() is SUPPRESSED
    assert SUPPRESSED != "⊥"
    assert Table({"x": [SUPPRESSED, None, 3]}).domain("x") == (3, None, SUPPRESSED)


# --- domains and builders --------------------------------------------------------------------------------


@given(columns(), columns())
def test_positions_in_equals_reference(a, b):
    mine, theirs = Domain.sorted(a), Domain.sorted(b)
    expected = [
        next((place for place, other in enumerate(theirs.values) if reference.same(value, other)), -1)
        for value in mine.values
    ]
    assert mine.positions_in(theirs).tolist() == expected
    assert (mine == theirs) == (len(mine) == len(theirs) and expected == list(range(len(mine))))


@pytest.mark.parametrize("kind", [int, float])
def test_positions_in_large_domains(kind):
    numbers = np.random.default_rng(5).permutation(5000).astype(kind)
    theirs = Domain.of([*numbers.tolist(), None, SUPPRESSED])
    mine = Domain.of([kind(7), kind(-1), kind(4999), kind(6000), SUPPRESSED])
    expected = [int(np.flatnonzero(numbers == 7)[0]), -1, int(np.flatnonzero(numbers == 4999)[0]), -1, 5001]
    assert mine.positions_in(theirs).tolist() == expected
    assert theirs.positions_in(theirs).tolist() == list(range(5002))


def test_domains():
    assert Domain.of([2, None, 1]).values == (2, 1, None)
    assert Domain.of(np.array(["b", "a"])).values == ("b", "a")
    assert Domain.union(Domain.of([3, None]), Domain.of([1.5])).values == (1.5, 3.0, None)
    assert Domain.union(Domain.of(["b"]), Domain.of(["a", SUPPRESSED])).values == ("a", "b", SUPPRESSED)
    assert Domain.of([1, 2]) == Domain.of([1.0, 2.0], declared=False)
    assert hash(Domain.of([1, 2])) == hash(Domain.of([1.0, 2.0]))
    assert Domain.of([1]) != Domain.of([True])
    assert Domain.of([1]) != (1,)
    assert repr(Domain.of(["a", None])) == "Domain('a', None; declared)"
    assert repr(Domain.sorted(range(100))) == "Domain(0, 1, 2, 3, 4, 5, 6, 7, ... 100 in all)"
    with pytest.raises(AttributeError, match="cannot set declared"):
        Domain.of([1]).declared = False
    with pytest.raises(TypeError, match="expected a domain of numbers, got one of kind text"):
        _ = Domain.of(["a"]).numbers


@given(st.lists(TEXTS, max_size=4))
def test_encoded_batches_and_domain_builder(parts):
    batches = [pa.record_batch({"x": pa.array(part, pa.string())}) for part in parts if part]
    if not batches:
        return
    builder = DomainBuilder("x")
    first_seen = []
    for batch in encoded_batches(iter(batches)):
        codes, values = batch["x"]
        assert None not in values[:-1]
        table = builder.add(values, np.bincount(codes, minlength=len(values)) > 0)
        first_seen += table[codes].tolist()
    domain, final = builder.finish()
    values = [value for part in parts for value in part]
    assert (final[first_seen].tolist(), list(domain.values)) == reference.column(values)


def test_encoded_batches():
    words = pa.array(["b", "a", "unused"])
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int16()), words)
    data = pa.record_batch({"x": array, "n": pa.array([5, None, 5]), "t": pa.array([True, False, None])})
    (batch,) = encoded_batches(data)
    codes, values = batch["x"]
    assert (codes.tolist(), values) == ([1, 0, 1], ["b", "a", "unused"])
    assert codes.dtype == np.int16
    assert codes.ctypes.data == array.indices.buffers()[1].address
    assert (batch["n"][0].tolist(), batch["n"][1]) == ([0, 1, 0], [5, None])
    assert (batch["t"][0].tolist(), batch["t"][1]) == ([1, 0, 2], [False, True, None])
    assert list(next(encoded_batches([data], ["t", "x"]))) == ["t", "x"]
    # The same dictionary again is the same list: the builder looks at it once.
    first, second = encoded_batches(pa.Table.from_batches([data, data]))
    assert first["x"][1] is second["x"][1]


def test_encoded_batches_errors():
    data = pa.record_batch({"x": [1]})
    with pytest.raises(ValueError, match="expected a column of 'x'; got 'y'"):
        next(encoded_batches(data, ["y"]))
    with pytest.raises(TypeError, match="columns: expected a sequence of names, got the text 'x'"):
        next(encoded_batches(data, "x"))
    with pytest.raises(ValueError, match="expected distinct column names, got 'x' twice"):
        next(encoded_batches(data, ["x", "x"]))
    with pytest.raises(ValueError, match="expected at least one record batch, got none"):
        next(encoded_batches([]))
    with pytest.raises(TypeError, match="expected record batches, got int"):
        next(encoded_batches([3]))
    with pytest.raises(TypeError, match="expected record batches, got int"):
        list(encoded_batches([data, 3]))
    with pytest.raises(
        ValueError, match="expected record batches of one schema, got another after the first"
    ):
        list(encoded_batches([data, pa.record_batch({"x": ["a"]})]))
    with pytest.raises(TypeError, match="expected an object with __arrow_c_stream__ or an iterable"):
        next(encoded_batches(3))


def test_domain_builder_looks_at_new_positions_of_the_same_values():
    builder = DomainBuilder("x")
    values = ["b", "a", "b", None]
    assert builder.add(values, [0, 0, 1, 0]).tolist() == [-1, -1, 0, -1]
    assert builder.add(values, [1, 0, 0, 1]).tolist() == [0, -1, 0, 1]
    assert builder.add(["a"]).tolist() == [2]
    domain, table = builder.finish()
    assert domain.values == ("a", "b", None)
    assert table.tolist() == [1, 2, 0]
    assert not domain.declared
    with pytest.raises(TypeError, match="column 'x': expected values of one kind, got int and text"):
        builder.add([3])


# --- conduct ---------------------------------------------------------------------------------------------


def test_eight_threads_at_once():
    rng = np.random.default_rng(8)
    numbers, texts = rng.integers(0, 3000, 200_000), rng.integers(0, 500, 200_000).astype("U3")
    expected = Table({"n": numbers, "t": texts})
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda _: Table({"n": numbers, "t": texts}), range(8)))
        collapsed = list(pool.map(lambda table: table.collapse(), tables))
    assert all(table == expected for table in tables)
    assert all(table == collapsed[0] for table in collapsed)


def test_memory_does_not_grow():
    resource = pytest.importorskip("resource")
    numbers, texts = np.arange(2000), np.arange(2000).astype("U4")

    def work(times):
        for _ in range(times):
            Table({"n": numbers, "f": numbers / 7, "t": texts, "l": texts[:50].tolist() * 40}).collapse()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(50)
    # One leaked array of this size alone would be 16 MB.
    assert work(1000) - before < 8192


def test_interrupts(monkeypatch):
    """Between two blocks of a column, none of which is long."""
    numbers = np.random.default_rng(9).random(3 * BLOCK)
    encode, lengths = NumberBuilder.encode, []

    def pressed(builder, block, nulls):
        lengths.append(len(block))
        if len(lengths) == 2:
            signal.raise_signal(signal.SIGINT)
        return encode(builder, block, nulls)

    monkeypatch.setattr(NumberBuilder, "encode", pressed)
    with pytest.raises(KeyboardInterrupt):
        Table({"x": numbers})
    assert lengths == [BLOCK] * 2
    assert BLOCK <= 1 << 20


@pytest.mark.parametrize("offsets", [[0, 100_000_000, 5, 3], [0, 2, 1, 3], [0, 1, 1_000, 3]])
def test_malformed_offsets_do_not_crash(offsets):
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
    array = pa.Array.from_buffers(pa.string(), 3, buffers)
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), array, safe=False)
    for obj in ({"x": array}, pa.table({"x": array}), {"x": dictionary}, pa.table({"x": dictionary})):
        with pytest.raises(ValueError, match="column 'x'"):
            Table(obj)


def test_an_empty_batch_of_string_views_is_none():
    """Pyarrow takes one that was sliced for malformed."""
    texts = pa.array(["a"] * 12 + ["b", None], pa.string_view()).slice(12, 2)
    chunked = pa.chunked_array([texts.slice(0, 1), texts.slice(1, 0), texts.slice(1, 1)])
    for obj in ({"x": chunked}, pa.table({"x": chunked})):
        assert Table(obj) == Table({"x": ["b", None]})
    assert count(pa.table({"x": chunked, "y": [1, 2]}), "y") == count({"x": ["b", None], "y": [1, 2]}, "y")


@pytest.mark.parametrize(
    ("numbers", "type_"),
    [
        ([-(2**63), 5], pa.timestamp("us")),
        ([-1], pa.time64("ns")),
        ([86_400 * 10**9], pa.time64("ns")),
        ([86_400], pa.time32("s")),
    ],
)
def test_times_that_are_none(numbers, type_):
    with pytest.raises(ValueError, match=r"column 'x': (-\d+ is no timestamp|time.* is not within)"):
        Table({"x": pa.array(numbers, type_)})


def test_extension_arrays_keep_their_digits_and_nulls():
    pd = pytest.importorskip("pandas")
    numbers = pd.array([2**53 + 1, 2**53, None], dtype="Int64")
    assert Table({"x": numbers}).domain("x") == (2**53, 2**53 + 1, None)
    assert Table({"x": pd.Categorical(["b", None, "a"])}).domain("x") == ("a", "b", None)


def test_order_of_parts_does_not_choose_the_kind():
    ints, floats = Table({"x": [1, 2]}), Table({"x": [1.0, 2.0]})
    kinds = {concat(parts).column("x").domain.kind for parts in ([ints, floats], [floats, ints])}
    assert kinds == {"float"}
    declared = [Table({"x": [1, 2]}, domains={"x": values}) for values in ([1, 2], [1.0, 2.0])]
    kinds = {concat(parts).column("x").domain.kind for parts in (declared, declared[::-1])}
    assert kinds == {"float"}


@pytest.mark.parametrize(
    "text", ["\uff14", " 4", "4 ", "1 000", "1_000", "\u0664/5", "4\u00a0", "3 / 4", "0.5\n"]
)
def test_a_number_as_text_is_ascii_digits_without_blanks(text):
    with pytest.raises(ValueError, match=r"low must be a number in digits 0 to 9 without blanks, got '"):
        Interval(text, None)


def test_a_number_as_text_may_have_a_sign_a_point_and_an_exponent():
    assert Interval("-1e-2", "+19/20") == Interval(-0.01, 0.95)
