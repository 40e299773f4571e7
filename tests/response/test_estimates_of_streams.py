"""`estimate` of answers with weights, and of what is read batch by batch."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table, Viewset
from nbcfast.response import Scheme, estimate

pa = pytest.importorskip("pyarrow")

SCHEME = Scheme("0.8", [["a"], ["c"]])
ROWS = st.lists(st.tuples(*[st.integers(0, 1)] * 3, st.integers(1, 9)), min_size=1, max_size=20).filter(
    lambda rows: all({row[place] for row in rows} == {0, 1} for place in (0, 2))
)


def columns_of(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate("abcn")}


def shown(found):
    return found.to_dict(), found.raw.joint["a"].tolist(), found.n_rows


@given(ROWS, st.integers(1, 7), st.sampled_from([None, ["a"]]))
def test_streams_and_weights_give_what_tables_give(rows, size, attributes):
    columns = columns_of(rows)
    expected = shown(estimate(Table(columns, weights="n"), SCHEME, "c", attributes=attributes))
    batches = pa.table(columns).to_batches(max_chunksize=size)
    for source in (columns, pa.table(columns), iter([batches[0][:0], *batches])):
        assert shown(estimate(source, SCHEME, "c", attributes=attributes, weights="n")) == expected
    expanded = columns_of([row for row in rows for _ in range(row[3])])
    del expanded["n"]
    assert shown(estimate(expanded, SCHEME, "c", attributes=attributes)) == expected
    assert (
        shown(estimate(iter(pa.table(expanded).to_batches()), SCHEME, "c", attributes=attributes)) == expected
    )


def test_files(tmp_path):
    path = tmp_path / "told.csv"
    path.write_text("a,c,n\n0,1,2\n1,0,3\n1,1,4\n")
    expected = estimate({"a": [0, 1, 1], "c": [1, 0, 1], "n": [2, 3, 4]}, SCHEME, "c", weights="n")
    assert estimate(path, SCHEME, "c", weights="n").to_dict() == expected.to_dict()
    assert expected.n_rows == 9


def test_memory_is_constant():
    def stream(n_batches):
        rng = np.random.default_rng(1)
        batch = pa.record_batch({name: rng.integers(0, 2, 50_000) for name in "abc"})
        for _ in range(n_batches):
            yield batch

    peaks = []
    for n_batches in (4, 80):
        tracemalloc.start()
        assert estimate(stream(n_batches), SCHEME, "c").n_rows == n_batches * 50_000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A table would hold three codes for each of 4 million rows.
    assert peaks[1] < peaks[0] + 1_000_000


def test_errors():
    columns = {"a": [0, 1], "c": [1, 0], "n": [1, 2]}
    for form in (dict, pa.table):
        with pytest.raises(ValueError, match="the disguised table has no column 'a', which the scheme has"):
            estimate(form({"b": [0, 1], "c": [1, 0]}), SCHEME, "c")
        with pytest.raises(ValueError, match="'w'"):
            estimate(form(columns), SCHEME, "c", weights="w")
    with pytest.raises(ValueError, match="weights: a Table has its own weights"):
        estimate(Table(columns), SCHEME, "c", weights="n")
    with pytest.raises(ValueError, match="weights goes with a table, got 'n' beside Viewset"):
        estimate(Viewset([1, 1], {"a": [[1, 0], [0, 1]]}), SCHEME, "c", weights="n")
    with pytest.raises(ValueError, match="weights: 'a' is the class or an attribute as well"):
        estimate(pa.table(columns), SCHEME, "c", attributes=["a"], weights="a")
    with pytest.raises(ValueError, match="no rows"):
        estimate(iter([pa.record_batch(columns)[:0]]), SCHEME, "c", weights="n")
    with pytest.raises(ValueError, match="disguised: expected at least one record batch, got none"):
        estimate(iter([]), SCHEME, "c")
    with pytest.raises(TypeError, match="disguised: expected Bits, a Viewset, a Table"):
        estimate(3, SCHEME, "c")
