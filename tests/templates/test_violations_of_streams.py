"""`violations` and `disclose` of tables with weights, and of what is read batch by batch."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table
from nbcfast.templates import Template, disclose, violations

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["cook", "clerk", None]), st.integers(0, 2), st.sampled_from("ynm"), st.integers(1, 9)
    ),
    min_size=1,
    max_size=20,
)
NAMES = ["job", "age", "ill", "n"]
TEMPLATES = [
    Template(["job"], ("ill", "y"), "1/3"),
    Template(["age", "job"], ("ill", "n"), "1/2"),
    Template(["ill"], ("age", 0), 0),
]


def columns_of(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}


def held(rows):
    """The templates whose values some row has."""
    values = {("ill", row[2]) for row in rows} | {("age", row[1]) for row in rows}
    return [template for template in TEMPLATES if template.sensitive in values]


@given(ROWS, st.integers(1, 7), st.booleans())
def test_streams_and_weights_give_what_tables_give(rows, size, weighted):
    templates = held(rows)
    if not templates:
        return
    columns = columns_of(rows)
    weights = "n" if weighted else None
    expected = violations(Table(columns, weights=weights), templates)
    batches = pa.table(columns).to_batches(max_chunksize=size)
    for source in (columns, pa.table(columns), iter([batches[0][:0], *batches])):
        assert violations(source, templates, weights=weights) == expected
    if weighted:
        expanded = [row for row in rows for _ in range(row[3])]
        assert violations(columns_of(expanded), templates) == expected


def test_files(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("job,age,ill,n\ncook,1,y,2\ncook,1.0,n,1\nclerk,2,n,5\n")
    templates = [Template(["age"], ("ill", "y"), "1/2"), Template(["job"], ("age", 1), "1/2")]
    found = violations(path, templates, weights="n")
    assert [(one.support, one.count) for one in found] == [(3, 2), (3, 3)]
    table = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"job": ["a"] * 3, "ill": ["y", "y", "n"], "n": [1, 2, 9]}), table)
    template = Template(["job"], ("ill", "y"), "1/9")
    assert violations(table, [template], weights="n")[0].support == 12


@given(ROWS)
def test_disclose_with_weights(rows):
    templates = [template for template in held(rows)[:2] if template.sensitive[0] == "ill"]
    if not templates:
        return
    loose = [Template(one.quasi, one.sensitive, 1) for one in templates]
    columns = columns_of(rows)
    expected = disclose(Table(columns, weights="n"), loose, utility="distortion")
    for source in (columns, pa.table(columns), iter(pa.table(columns).to_batches(max_chunksize=2))):
        found = disclose(source, loose, utility="distortion", weights="n")
        assert (found.steps, found.table) == (expected.steps, expected.table)


def test_memory_is_that_of_the_distinct_rows():
    def stream(n_batches):
        rng = np.random.default_rng(1)
        batch = pa.record_batch(
            {
                "job": rng.integers(0, 20, 50_000),
                "ill": rng.integers(0, 2, 50_000),
                "id": pa.array([f"person {i}" for i in range(50_000)]),
            }
        )
        for _ in range(n_batches):
            yield batch

    peaks = []
    template = Template(["job"], ("ill", 1), "1/2")
    for n_batches in (4, 80):
        tracemalloc.start()
        found = violations(stream(n_batches), [template])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sum(one.support for one in found) % n_batches == 0
    # A table would hold a code for each of 4 million rows, 76 batches more than for the first.
    assert peaks[1] < peaks[0] + 1_000_000


@pytest.mark.parametrize("form", [dict, pa.table])
def test_errors(form):
    table = form({"job": ["cook"], "ill": ["y"], "n": [1]})
    template = Template(["job"], ("ill", "y"), "1/2")
    with pytest.raises(ValueError, match="template 1: expected columns of 'job', 'ill', 'n'; got 'age'"):
        violations(table, [template, Template(["age"], ("ill", "y"), "1/2")])
    with pytest.raises(ValueError, match="template 0: 'x' is none of the 1 values of column 'ill'"):
        violations(table, [Template(["job"], ("ill", "x"), "1/2")])
    with pytest.raises(ValueError, match="'w'"):
        violations(table, [template], weights="w")
    with pytest.raises(TypeError, match="templates must be a sequence of Templates, got Template"):
        violations(table, template)


def test_errors_of_weights_and_empty_streams():
    template = Template(["job"], ("ill", "y"), "1/2")
    columns = {"job": ["cook"], "ill": ["y"], "n": [1]}
    with pytest.raises(ValueError, match="weights: 'job' is a column of the templates as well"):
        violations(pa.table(columns), [template], weights="job")
    for run in (violations, lambda table, templates, **options: disclose(table, templates, "n", **options)):
        with pytest.raises(ValueError, match="weights: a Table has its own weights"):
            run(Table(columns), [template], weights="n")
    with pytest.raises(ValueError, match="no rows"):
        violations(iter([pa.record_batch(columns)[:0]]), [template])
