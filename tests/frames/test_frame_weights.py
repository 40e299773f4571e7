"""A column of weights says how many people a row stands for, and is held to what Table demands of it."""

from decimal import Decimal

import pyarrow as pa
import pytest
from frame_cases import collapsed, shown

import nbcfast
from nbcfast import Table
from nbcfast._core.errors import NoColumnError

GROUPS = pa.array(["x", "x", "y", None])
WHOLE = {
    "int64": pa.array([1, 2**62, 3, 4]),
    "up to 2^63 - 1": pa.array([2**62, 2**62 - 3, 1, 1]),
    "int8": pa.array([100, 127, 127, 1], pa.int8()),
    "uint8": pa.array([200, 255, 1, 255], pa.uint8()),
    "uint64": pa.array([2**62, 1, 1, 1], pa.uint64()),
    "decimal of scale 0": pa.array(
        [Decimal(10**17), Decimal(1), Decimal(2), Decimal(3)], pa.decimal128(20, 0)
    ),
}
FLOAT = "weights: expected integers, got "
LEAST = "weights: expected integers of at least 1"
TOO_LARGE = (
    r"weights: expected (a total below 2\^63, got a larger one"
    r"|sums below 2\^63, got one of about (9\.22337|1\.84467))"
)
REFUSED = {
    "null": (pa.array([1, None, 2, 3]), ValueError, f"{LEAST}.* got (a null or a larger one|None)"),
    "zero": (pa.array([1, 0, 2, 3]), ValueError, f"{LEAST}, got 0"),
    "negative": (pa.array([1, -5, 9, 3]), ValueError, f"{LEAST}, got -5"),
    "sum of a group": (pa.array([2**62, 2**62, 1, 1]), ValueError, TOO_LARGE),
    "sum of groups": (pa.array([2**62, 1, 2**62, 1]), ValueError, TOO_LARGE),
    "sum that wraps twice": (
        pa.array([2**63 - 1, 2**63 - 1, 1, 1]),
        ValueError,
        TOO_LARGE,
    ),
    "beyond 64 bits": (
        pa.array([Decimal(10**37), Decimal(10**37), Decimal(1), Decimal(1)], pa.decimal128(38, 0)),
        ValueError,
        "got (a null or a larger one|10000000000000000000000000000000000000)",
    ),
    "float": (pa.array([1.0, 2.0, 3.0, 4.0]), TypeError, FLOAT),
    "decimal": (pa.array([Decimal("1.00")] * 4, pa.decimal128(9, 2)), TypeError, FLOAT),
    "bool": (pa.array([True] * 4), TypeError, FLOAT),
    "text": (pa.array(["1"] * 4), TypeError, FLOAT),
}


def weighted(column):
    return pa.table({"a": GROUPS, "n": column, "c": ["u", "v", "u", "v"]})


@pytest.mark.parametrize("kind", WHOLE)
def test_weights_are_added_up(engine, kind):
    if engine.name == "ibis" and kind == "up to 2^63 - 1":
        pytest.skip("sums that are hardly below 2^63 are refused there: test_a_sum_hardly_below_the_limit_..")
    rows = weighted(WHOLE[kind])
    frame, table = engine.frame(rows, weights="n"), Table(rows, weights="n")
    assert frame.names == ("a", "c")
    for names in (["a"], ["c", "a"]):
        assert shown(frame.weighted(names)) == shown(collapsed(table, names))
    assert frame.counts("c") == nbcfast.count(table, "c")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_weight_is_refused_as_in_memory(engine, kind):
    column, error, message = REFUSED[kind]
    rows = weighted(column)
    with pytest.raises(error):
        Table(rows, weights="n")
    with pytest.raises(error, match=message):
        engine.frame(rows, weights="n").weighted(["a"])


def test_a_sum_hardly_below_the_limit_is_given_or_refused_as_what_it_is(engine):
    """Through ibis no sum arrives that may be too large, and floats alone tell that beforehand."""
    frame = engine.frame(weighted(pa.array([2**62, 2**62 - 3, 1, 1])), weights="n")
    if engine.name != "ibis":
        assert frame.weighted(["c"]).weights.sum() == 2**63 - 1
        return
    with pytest.raises(ValueError, match=r"expected sums below 2\^63, got one of about 9\.223372e\+18"):
        frame.weighted(["a"])


def test_the_column_of_the_weights_is_none_of_the_columns(engine):
    rows = weighted(pa.array([1, 2, 3, 4]))
    frame = engine.frame(rows, weights="n")
    assert repr(frame) == f"Frame({engine.kind}; 2 columns, weighted by 'n': 'a', 'c')"
    with pytest.raises(ValueError, match="columns: 'n' is the column of the weights"):
        frame.weighted(["a", "n"])
    with pytest.raises(
        ValueError, match="weights: a Frame has its own weights; name a column when making it"
    ):
        nbcfast.count(frame, "c", weights="n")
    with pytest.raises(NoColumnError, match=r"weights: expected a column of .*; got 'zzz'"):
        engine.frame(rows, weights="zzz")
