"""Select, take, drop_nulls, concat and collapse: tables of some rows or columns, or of several tables."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_cases import columns, listed, shown, two_columns

from nbcfast import SUPPRESSED, Table, concat
from nbcfast.reference import table as reference


def rows_of(table):
    return [
        tuple(table.domain(name)[table.codes(name)[row]] for name in table.names)
        for row in range(table.n_rows)
    ]


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
    with pytest.raises(TypeError, match=r"tables: expected a Table, got dict: nbcfast.Table\("):
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
