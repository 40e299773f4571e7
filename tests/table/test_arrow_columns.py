"""Columns from Arrow, pandas, polars and DuckDB, and back: whatever brings them, the table is the same."""

import decimal
import math
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_cases import columns, frame, listed, shown

from nbcfast import SUPPRESSED, Interval, Table, concat, count
from nbcfast.reference import table as reference
from nbcfast.table.arrow import encoded_batches
from nbcfast.table.encode import DomainBuilder

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")


TEXTS = st.lists(st.one_of(st.none(), st.sampled_from(["b", "a", "", "é", "\U0001f600", "Z"])))


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
        with pytest.raises(ValueError, match=r"column 'x': row 0: expected a text of UTF-8"):
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
        "             lambda: nbcfast.read_parquet('x.parquet')):\n"
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


# --- codes and values, batch by batch --------------------------------------------------------------------


@given(st.lists(TEXTS, max_size=4))
def test_encoded_batches_and_domain_builder(parts):
    batches = [pa.record_batch({"x": pa.array(part, pa.string())}) for part in parts if part]
    if not batches:
        return
    builder = DomainBuilder("x")
    first_seen = []
    for batch in encoded_batches(iter(batches)):
        codes, values = batch["x"]
        assert values.count(None) <= 1
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


# --- what other libraries hand over at their edges -------------------------------------------------------


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
