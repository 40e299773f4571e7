"""`risk` of views that are read from a table each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import Table
from nbcfast.associations import risk

pa = pytest.importorskip("pyarrow")

ROWS = st.lists(
    st.tuples(*[st.integers(0, 2)] * 2, st.sampled_from(["x", "y", None]), st.sampled_from("abc")),
    min_size=1,
    max_size=7,
)
NAMES = ["name", "age", "town", "ill"]
VIEWS = [
    [("name", "age"), ("age", "ill")],
    [("ill", "age", "town"), ("name", "age")],
    [("name", "age"), ("age", "town"), ("town", "ill")],
    [("name", "age", "town"), ("age", "ill"), ("age", "town", "ill")],
    [("name",), ("ill",)],
]
FORMS = {
    "table": Table,
    "mapping": dict,
    "arrow": pa.table,
    "batches": lambda columns: iter(pa.table(columns).to_batches(max_chunksize=2)),
    "batch": pa.record_batch,
}


def columns_of(rows, names=NAMES):
    return {name: [row[NAMES.index(name)] for row in rows] for name in names}


def shown(found):
    return [
        (row["name"], row["ill"], row["probability"], found.of(row["name"], row["ill"]).exact)
        for row in found.above(0)
    ]


@given(ROWS, st.sampled_from(VIEWS), st.sampled_from(["unrestricted", "restricted"]), st.data())
def test_tables_that_are_one_table(rows, views, model, data):
    options = {"model": model, "worlds": data.draw(st.sampled_from(["projected", "full"]))}
    expected = risk(columns_of(rows), views, "name", "ill", **options)
    tables = []
    for view in views:
        more = data.draw(st.sampled_from([[], NAMES]))
        names = list(dict.fromkeys([*view, *more]))
        mixed = data.draw(st.permutations(rows)) + data.draw(st.lists(st.sampled_from(rows), max_size=3))
        form = FORMS[data.draw(st.sampled_from([*FORMS] if tables else [*FORMS][:-1]))]
        tables.append(form(columns_of(mixed, names)))
    found = risk(data.draw(st.sampled_from([list, tuple]))(tables), views, "name", "ill", **options)
    assert shown(found) == shown(expected)
    assert (found.n_associations, found.method) == (expected.n_associations, expected.method)
    assert found.n_without_world == expected.n_without_world


def test_domains_of_the_tables_are_joined():
    rows = [(0, 1, "x", "a"), (1, 1, "y", "b"), (2, 2, None, "a")]
    one = Table(columns_of(rows, ["name", "age"]), {"age": [2, 1, 0]})
    other = Table(columns_of(rows, ["age", "ill"]), {"ill": ["b", "a", "c"]})
    found = risk([one, other], VIEWS[0], "name", "ill")
    assert sorted(map(repr, shown(found))) == sorted(
        map(repr, shown(risk(columns_of(rows), VIEWS[0], "name", "ill")))
    )
    floats = Table({"age": [1.0, 1.0, 2.0], "ill": ["a", "b", "a"]})
    assert risk([one.select(["name", "age"]), floats], VIEWS[0], "name", "ill").n_associations == 5


def test_a_list_of_batches_is_one_table():
    rows = [(0, 1, "x", "a"), (1, 1, "y", "b"), (2, 2, None, "a")]
    batches = pa.table(columns_of(rows)).to_batches(max_chunksize=2)
    assert len(batches) == 2
    expected = shown(risk(columns_of(rows), VIEWS[0], "name", "ill"))
    assert shown(risk(batches, VIEWS[0], "name", "ill")) == expected
    assert shown(risk(tuple(batches), VIEWS[0], "name", "ill")) == expected


def test_files(tmp_path):
    paths = [tmp_path / "ages.csv", tmp_path / "ills.csv"]
    paths[0].write_text("name,age\nann,1\nbob,1\n")
    paths[1].write_text("ill,age\nflu,1\ncold,1\n")
    found = risk(paths, VIEWS[0], "name", "ill")
    assert found.of("ann", "flu").exact == found.of("bob", "cold").exact
    with pytest.raises(ValueError, match=r"table\[1\]: expected a column of 'name', 'age'; got 'ill'"):
        risk([paths[0], paths[0]], VIEWS[0], "name", "ill")


AGES, ILLS = {"name": ["ann"], "age": [1]}, {"age": [1], "ill": ["flu"]}


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ([AGES], ValueError, "table: expected a table for each of 2 views, got 1"),
        ([AGES, ILLS, ILLS], ValueError, "table: expected a table for each of 2 views, got 3"),
        ([AGES, AGES], ValueError, r"table\[1\]: expected a column of 'name', 'age'; got 'ill'"),
        ([pa.table(AGES), pa.table(AGES)], ValueError, r"table\[1\]: expected a column of 'name', 'age'"),
        ([AGES, 5], TypeError, r"table\[1\]: expected a Table, a mapping"),
        ([{"name": "ann", "age": 1}], TypeError, "table: expected .*, got list of dict"),
        ([], ValueError, "table: expected at least one record batch, got none"),
        ([AGES, {"age": [], "ill": []}], ValueError, "no rows"),
        ([AGES, {"age": ["1"], "ill": ["flu"]}], TypeError, "column 'age': expected values of one kind"),
        (
            [AGES, {"age": [1, 2], "ill": ["flu", "flu"]}],
            ValueError,
            r"table\[0\] and table\[1\] are not of the same rows: age=2 is in table\[1\] alone",
        ),
        (
            [{"name": ["ann", "bob"], "age": [1, None]}, ILLS],
            ValueError,
            r"table\[0\] and table\[1\] are not of the same rows: age=None is in table\[0\] alone",
        ),
    ],
)
def test_errors(tables, error, message):
    with pytest.raises(error, match=message):
        risk(tables, VIEWS[0], "name", "ill")
