"""Random small tables of random kinds: each engine in this process gives what memory gives."""

import datetime
import decimal
import math

import pyarrow as pa
import pytest
from frame_cases import collapsed, shown
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table

FLOATS = st.floats() | st.sampled_from([0.0, -0.0, math.nan, math.inf, 0.1, 1.0])
TEXTS = st.text(st.sampled_from(" aA\xe1\xe9e\u0301\\'\"`\n\U0001f600N0"), max_size=3)
KINDS = {
    "bool": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)),
    "float32": (pa.float32(), st.floats(width=32) | st.sampled_from([0.0, -0.0, math.nan])),
    "float64": (pa.float64(), FLOATS),
    "decimal": (
        pa.decimal128(9, 2),
        st.decimals(-9999, 9999, places=2).map(lambda value: decimal.Decimal(str(value))),
    ),
    "whole decimal": (pa.decimal128(18, 0), st.integers(-(10**17), 10**17).map(decimal.Decimal)),
    "date": (pa.date32(), st.dates(datetime.date(1600, 1, 1), datetime.date(2200, 1, 1))),
    "moment": (
        pa.timestamp("us"),
        st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2200, 1, 1)),
    ),
    "moment of a zone": (
        pa.timestamp("us", "UTC"),
        st.datetimes(
            datetime.datetime(1600, 1, 1), datetime.datetime(2200, 1, 1), timezones=st.just(datetime.UTC)
        ),
    ),
    "text": (pa.string(), TEXTS),
}
NAMES = st.sampled_from(
    ["a", "A", "a.b", 'a"', "`", " ", "^a$", "*", "\xe9", "e\u0301", "n", "c1", "sets", "'"]
)


@st.composite
def tables(draw):
    """Up to 4 columns with few or many values, the last one the class."""
    n_rows = draw(st.integers(0, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.lower))
    columns = {}
    for name in [*names, "c"]:
        type_, values = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        few = draw(st.lists(values | st.none(), min_size=1, max_size=4))
        chosen = draw(st.lists(st.sampled_from(few), min_size=n_rows, max_size=n_rows))
        columns[name] = pa.array(chosen, type_)
    return pa.table(columns)


# Each query takes Spark most of a second: its values are those of test_frame_values.py.
@pytest.mark.parametrize("engine", ["duckdb", "polars", "polars-lazy", "dask", "ibis"], indirect=True)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(
    rows=tables(),
    weights=st.none() | st.lists(st.integers(1, 2**40), min_size=12, max_size=12),
    drawn=st.data(),
)
def test_a_frame_is_its_table(engine, rows, weights, drawn):
    options = {}
    if weights is not None:
        rows = rows.append_column("weight of it", pa.array(weights[: rows.num_rows], pa.int64()))
        options = {"weights": "weight of it"}
    frame, table = engine.frame(rows, **options), Table(rows, **options)
    names = drawn.draw(st.lists(st.sampled_from(table.names), min_size=1, unique=True))
    assert shown(frame.weighted(names)) == shown(collapsed(table, names))
    if rows.num_rows:
        assert frame.counts("c") == nbcfast.count(table, "c")
        assert frame.counts("c").to_dict() == nbcfast.count(table, "c").to_dict()
