"""Arrays of Python objects: what is told by addresses is what the same values in a list are."""

import gc
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table
from nbcfast.table.arrays import FEW_OBJECTS, add_objects
from nbcfast.table.encode import BLOCK, ColumnBuilder


def objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def fresh(text):
    """An object of its own, whatever else is equal to it."""
    return "".join([text, "!"])[:-1] if len(text) > 1 else text


@given(
    st.sampled_from([st.text(max_size=3), st.integers(-3, 3), st.floats(-2, 2), st.booleans()]).flatmap(
        lambda values: st.lists(st.none() | values)
    ),
    st.sampled_from([1, -1, 2]),
)
def test_an_array_is_its_list(values, step):
    array = objects(values)[::step]
    assert Table({"x": array}) == Table({"x": array.tolist()})
    array.flags.writeable = False
    assert Table({"x": array}) == Table({"x": array.tolist()})


@pytest.mark.parametrize("n_values", [3, FEW_OBJECTS + 9, BLOCK // 2])
@pytest.mark.parametrize("shared", [True, False])
def test_of_several_blocks_too(n_values, shared):
    rng = np.random.default_rng(n_values)
    texts = [f"text {place}" for place in range(n_values)]
    values = [texts[place] for place in np.sort(rng.integers(0, n_values, 2 * BLOCK + 77))[::-1]]
    array = objects(values if shared else [fresh(text) for text in values])
    assert Table({"x": array}) == Table({"x": values})
    assert Table({"x": array[::-3]}) == Table({"x": values[::-3]})


def test_columns_beside_one_another():
    rng = np.random.default_rng(2)
    for order in ("C", "F"):
        matrix = np.array(["a", "b", None, "c"], object)[rng.integers(0, 4, (40_000, 7))]
        matrix[:, 3] = [fresh(f"text {place}") for place in rng.integers(0, 9, len(matrix))]
        matrix = np.array(matrix, order=order)[::2]
        builders = [ColumnBuilder(f"x{place}") for place in range(matrix.shape[1])]
        add_objects(builders, matrix)
        expected = Table({f"x{place}": column.tolist() for place, column in enumerate(matrix.T)})
        for builder in builders:
            column = builder.finish()
            assert column.domain == expected.column(builder.name).domain
            assert np.array_equal(column.codes, expected.codes(builder.name))


def test_nan_among_texts_or_bools_is_a_null_and_kinds_are_not_mixed():
    nan = float("nan")
    assert Table({"x": objects(["a", nan, None, np.float64("nan")])}) == Table({"x": ["a", None, None, None]})
    assert Table({"x": objects([nan, True, False])}) == Table({"x": [None, True, False]})
    late = objects([nan] * (BLOCK + 5) + ["a"])
    assert Table({"x": late}).domain("x") == ("a", None)
    assert Table({"x": objects([1, nan])}).domain("x") == (1.0, None)
    for values, kinds in (
        ([1, "a"], "int and text"),
        ([True, 1], "bool and int"),
        ([1.5, "a"], "float and text"),
    ):
        with pytest.raises(TypeError, match=f"column 'x': expected values of one kind, got {kinds}"):
            Table({"x": objects(values)})
    for values in ([{}], [b"a"], [(1, 2)], ["a", {}]):
        with pytest.raises(TypeError, match="column 'x': expected values of bool, int, float, str"):
            Table({"x": objects(values)})
    assert Table({"x": np.empty(0, object)}).n_rows == 0
    assert Table({"x": np.empty(3, object)}).domain("x") == (None,)


def test_nothing_of_the_objects_is_kept_or_lost():
    text = fresh("a text of its own")
    array = objects([text] * 1000)
    before = sys.getrefcount(text)
    for _ in range(20):
        Table({"x": array})
    gc.collect()
    assert sys.getrefcount(text) == before
