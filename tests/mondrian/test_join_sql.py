"""Rows in an engine joined to their groups: each is published once, and as in the table of the partition."""

import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from sql_tables import partition, texts_of, types_of

import nbcfast
from nbcfast import Interval
from nbcfast._core.sql_text import identifier
from nbcfast.mondrian import anonymize

SEEDS = range(30)


def arrow_of(columns, types):
    pa = pytest.importorskip("pyarrow")
    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
    return pa.table({name: pa.array(values, kinds[types[name]]) for name, values in columns.items()})


def by_duckdb(text, columns, types, groups):
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect()) as connection:
        connection.register("people", arrow_of(columns, types))
        connection.register("groups of them", groups.to_arrow())
        found = connection.execute(text)
        names = [column[0] for column in found.description]
        return names, found.fetchall()


def by_sqlite(text, columns, types, groups):
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, table in (("people", arrow_of(columns, types)), ("groups of them", groups.to_arrow())):
            listed = {each: table.column(each).to_pylist() for each in table.column_names}
            declared = ", ".join(f"{identifier(each)} {types.get(each, '')}" for each in listed)
            connection.execute(f"CREATE TABLE {identifier(name)} ({declared})")
            rows = list(zip(*listed.values(), strict=True))
            marks = ", ".join("?" * len(listed))
            connection.executemany(f"INSERT INTO {identifier(name)} VALUES ({marks})", rows)
        found = connection.execute(text)
        names = [column[0] for column in found.description]
        return names, found.fetchall()


def published(made):
    return Counter(zip(*(texts_of(made.table, name) for name in made.table.names), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_is_published_once(seed):
    made, columns, kinds = partition(seed)
    groups, types = made.assignments(), types_of(kinds)
    for dialect, unseen in (("duckdb", "error"), ("duckdb", "null"), ("ansi", "null")):
        text = made.join_sql(dialect, "people", "groups of them", unseen=unseen)
        names, rows = by_duckdb(text, columns, types, groups)
        assert (tuple(names), Counter(rows)) == (made.table.names, published(made))
    names, rows = by_sqlite(text, columns, types, groups)
    assert (tuple(names), Counter(rows)) == (made.table.names, published(made))


@pytest.mark.parametrize("seed", SEEDS)
def test_assignments_have_each_tuple_once(seed):
    made, _, _ = partition(seed)
    groups = made.assignments()
    private = made._content.source.columns
    tuples = list(zip(*(column.codes.tolist() for column in private), strict=True))
    assert groups.n_rows == len(set(tuples))
    assert groups.weights is None
    group_of = dict(zip(tuples, made.group_ids.tolist(), strict=True))
    listed = zip(*(decoded(groups, name) for name in made.quasi), strict=True)
    values = [column.domain.values for column in private]
    expected = {
        tuple(of[code] for of, code in zip(values, codes, strict=True)): group
        for codes, group in group_of.items()
    }
    assert dict(zip(listed, decoded(groups, "group"), strict=True)) == expected
    for name in made.quasi:
        boxes = decoded(made.boxes, name)
        assert decoded(groups, f"published_{name}") == [boxes[group] for group in decoded(groups, "group")]


def decoded(table, name):
    domain = table.domain(name)
    return [domain[code] for code in table.codes(name).tolist()]


def ages():
    table = nbcfast.Table({"age": [21.0, 25.0, None, -0.0], "ill": [0.5, float("nan"), -0.0, 0.5]})
    return anonymize(table, ["age"], "ill", [], k=2)


@pytest.mark.parametrize("dialect", ["duckdb", "ansi"])
def test_nan_is_null_and_no_zero_has_a_sign(dialect):
    made = ages()
    text = made.join_sql(dialect, "people", "groups of them", unseen="null")
    types = {"age": "DOUBLE", "ill": "DOUBLE"}
    for null in (None, float("nan")):
        rows = {"age": [21.0, 25.0, null, -0.0, 0.0], "ill": [0.5, float("nan"), -0.0, None, 0.5]}
        _, found = by_duckdb(text, rows, types, made.assignments())
        assert all(cell is not None for cell, _ in found)
        assert Counter(str(value) for _, value in found) == {"0.5": 2, "None": 2, "0.0": 1}


def test_rows_of_no_group_are_not_published():
    duckdb = pytest.importorskip("duckdb")
    made = ages()
    rows, types = {"age": [21.0, 22.0], "ill": [0.5, 0.25]}, {"age": "DOUBLE", "ill": "DOUBLE"}
    with pytest.raises(
        duckdb.InvalidInputException, match="a row has quasi-identifiers that are in no group"
    ):
        by_duckdb(made.join_sql("duckdb", "people", "groups of them"), rows, types, made.assignments())
    for dialect in ("duckdb", "ansi"):
        text = made.join_sql(dialect, "people", "groups of them", unseen="null")
        _, found = by_duckdb(text, rows, types, made.assignments())
        assert sorted(found, key=str) == [("(-inf, 25)", 0.5), (None, None)]


def test_rows_of_another_type_are_in_no_group():
    made = ages()
    rows = {"age": ["21", "25"], "ill": [0.5, 0.25]}
    text = made.join_sql("duckdb", "people", "groups of them", unseen="null")
    _, found = by_duckdb(text, rows, {"age": "VARCHAR", "ill": "DOUBLE"}, made.assignments())
    assert found == [(None, None)] * 2


def test_large_integers_are_compared_as_such():
    numbers = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3]
    table = nbcfast.Table({"n": numbers * 2, "ill": list("aabb") * 2})
    made = anonymize(table, ["n"], "ill", [], k=2)
    assert made.n_groups == 4
    for dialect in ("duckdb", "ansi"):
        text = made.join_sql(dialect, "people", "groups of them", unseen="null")
        types = {"n": "BIGINT", "ill": "VARCHAR"}
        _, found = by_duckdb(text, {"n": numbers, "ill": list("abab")}, types, made.assignments())
        assert len({cell for cell, _ in found}) == 4


def test_bins_that_are_sensitive_are_published_as_texts():
    bins = [Interval(0, 10), Interval(10, 20)]
    table = nbcfast.Table({"sex": list("ffmm"), "pay": [bins[0], bins[1]] * 2})
    made = anonymize(table, ["sex"], "pay", [], k=2)
    rows = {"sex": ["f", "m", "m"], "pay": [9.5, 10, 20]}
    for dialect in ("duckdb", "ansi"):
        text = made.join_sql(dialect, "people", "groups of them", unseen="null")
        types = {"sex": "VARCHAR", "pay": "DOUBLE"}
        _, found = by_duckdb(text, rows, types, made.assignments())
        assert Counter(found) == Counter([("f", "[0, 10)"), ("m", "[10, 20)"), ("m", None)])


def test_weights_and_names_that_are_taken():
    table = nbcfast.Table(
        {"group": [1, 1, 2], "Published_GROUP": list("aab"), "ill": list("xyz")}, weights=[5, 2, 4]
    )
    made = anonymize(table, ["group", "Published_GROUP"], "ill", [], k=2)
    groups = made.assignments()
    assert groups.names == (
        "group",
        "Published_GROUP",
        "group_",
        "published_group_",
        "published_Published_GROUP",
    )
    assert (groups.n_rows, groups.weights) == (2, None)
    types = {"group": "BIGINT", "Published_GROUP": "VARCHAR", "ill": "VARCHAR"}
    columns = {name: decoded(table, name) for name in table.names}
    _, found = by_duckdb(made.join_sql("duckdb", "people", "groups of them"), columns, types, groups)
    boxes = [("(-inf, 2)", "{a, b}"), ("(-inf, 2)", "{a, b}"), ("[2, inf)", "{a, b}")]
    assert sorted(found, key=str) == [(*box, ill) for box, ill in zip(boxes, "xyz", strict=True)]


def test_what_is_refused(tmp_path):
    made = ages()
    with pytest.raises(ValueError, match="unseen must be 'null' for dialect 'ansi', got 'error'"):
        made.join_sql("ansi", "people", "groups")
    with pytest.raises(ValueError, match="dialect must be"):
        made.join_sql("db2", "people", "groups")
    with pytest.raises(ValueError, match="unseen must be 'error' or 'null', got 'skip'"):
        made.join_sql("spark", "people", "groups", unseen="skip")
    with pytest.raises(ValueError, match="table must be a name"):
        made.join_sql("spark", "people.", "groups")
    made.save(tmp_path / "out")
    loaded = nbcfast.load(tmp_path / "out")
    with pytest.raises(ValueError, match="assignments: a partition that was loaded does not know"):
        loaded.assignments()
    with pytest.raises(ValueError, match="join_sql: a partition that was loaded does not know"):
        loaded.join_sql("spark", "people", "groups")
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "".join(f"{age},{age % 3}\n" for age in np.arange(40)))
    on_disk = anonymize(path, ["age"], "ill", [], k=2, memory_limit="1GiB")
    with pytest.raises(
        ValueError, match="assignments: the rows of a partition that was made of a file are not"
    ):
        on_disk.assignments()
    table = nbcfast.Table({"Age": [1, 1, 2, 2], "age": list("xyxy")})
    with pytest.raises(ValueError, match="SQL does not tell the columns 'Age' and 'age' apart"):
        anonymize(table, ["Age"], "age", [], k=2).join_sql("duckdb", "people", "groups")
