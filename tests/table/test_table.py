"""`Table` against the reference: what goes in, what comes out, and what is refused."""

import copy
import datetime
import decimal
import gc
import math
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_cases import columns, frame, listed, shown, two_columns

from nbcfast import SUPPRESSED, Table
from nbcfast.reference import table as reference
from nbcfast.table import Column, Domain
from nbcfast.table.encode import BLOCK, NumberBuilder

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


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


def test_a_repr_says_that_there_is_more_where_there_is():
    table = Table({"few": [*range(10)], "many": [*range(10)]})
    assert repr(table).endswith("many: 10 values: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9")
    assert repr(Table({"many": [*range(20)]})).endswith("many: 20 values: 0, 1, 2, 3, 4, 5, ...")


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
