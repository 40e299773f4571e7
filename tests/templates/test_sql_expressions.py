"""What a disclosure shows, as expressions of SQL: DuckDB and SQLite show of each row what its table does."""

import math

import pytest
from sql_rows import LARGE, by_duckdb, by_sqlite
from sql_tables import disclosure, texts_of, types_of

import nbcfast
from nbcfast import SUPPRESSED, Interval
from nbcfast.templates import Template, disclose

SEEDS = range(30)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_is_shown_as_in_the_table(seed):
    made, columns, kinds = disclosure(seed)
    texts = made.expressions("duckdb")
    changed = [
        name
        for name in made.table.names
        if SUPPRESSED in made.table.domain(name) or isinstance(made.table.domain(name)[0], Interval)
    ]
    assert list(texts) == changed
    if not changed:
        return
    wanted = [texts_of(made.table, name) for name in changed]
    for each in (texts, made.expressions("duckdb", table="input")):
        assert by_duckdb(list(each.values()), columns, types_of(kinds)) == wanted
    if any(set(columns[name]) & {10**12, 1e300, *LARGE} and name in made.intervals for name in changed):
        return  # of such cuts standard SQL cannot say what is below them
    standard = list(made.expressions("ansi").values())
    assert by_duckdb(standard, columns, types_of(kinds)) == wanted
    assert by_sqlite(standard, columns, types_of(kinds)) == wanted


def test_the_cases_suppress_and_cut():
    made = [disclosure(seed)[0] for seed in SEEDS]
    assert sum(any(one.suppressed.values()) for one in made) > 10
    assert sum(any(len(intervals) > 1 for intervals in one.intervals.values()) for one in made) > 2


def jobs():
    columns = {
        "job": ["cook", "clerk", "cook", None],
        "age": [30, 40, 50, 30],
        "ill": ["no", "yes", "no", "no"],
    }
    made = [Template(["job"], ("ill", "yes"), "1/2"), Template(["age"], ("ill", "yes"), "1/2")]
    return disclose(nbcfast.Table(columns), made, utility="distortion", continuous=["age"])


def bin_of(made, age):
    return next(interval for interval in made.intervals["age"] if age in interval)


@pytest.mark.parametrize("dialect", ["duckdb", "ansi"])
def test_what_the_table_did_not_have_is_suppressed(dialect):
    made = jobs()
    texts = made.expressions(dialect)
    (found,) = by_duckdb([texts["job"]], {"job": ["cook", "clerk", "COOK", "*", ""]}, {"job": "VARCHAR"})
    assert found == ["cook", "*", "*", "*", "*"]
    ages = [-math.inf, 30.5, 1e300, math.inf, -0.0, None, math.nan]
    (found,) = by_duckdb([texts["age"]], {"age": ages}, {"age": "DOUBLE"})
    assert found[:5] == [str(bin_of(made, age)) for age in ages[:5]]
    assert found[5:] == ["*", "*"]


def test_columns_of_another_type_are_suppressed():
    texts = jobs().expressions("duckdb")
    rows = {"job": [1, 2], "age": ["30", "40"]}
    assert by_duckdb(list(texts.values()), rows, {"job": "BIGINT", "age": "VARCHAR"}) == [["*", "*"]] * 2


def test_a_loaded_disclosure_has_the_same_expressions(tmp_path):
    made = jobs()
    made.save(tmp_path / "out")
    again = nbcfast.load(tmp_path / "out")
    for dialect in ("spark", "duckdb", "ansi"):
        assert again.expressions(dialect) == made.expressions(dialect)


def test_withheld_values_are_in_no_text():
    made = jobs()
    assert "clerk" in made.suppressed["job"]
    for dialect in ("spark", "duckdb", "ansi"):
        assert not any("clerk" in text for text in made.expressions(dialect).values())


def test_all_values_suppressed():
    table = nbcfast.Table({"job": ["a", "b"] * 2, "ill": ["no", "yes"] * 2})
    made = disclose(table, [Template(["job"], ("ill", "yes"), "1/2")], utility="distortion")
    assert made.expressions("duckdb", suppressed="it's") == {"job": "'it''s'"}


def test_bins_that_are_not_masked_are_published_as_such():
    table = nbcfast.Table({"age": [3, 30, 40], "pay": [1, 1, 1], "ill": ["no", "yes", "no"]})
    made = disclose(table.bin("age", edges=[0, 18, 65]), [Template(["pay"], ("ill", "yes"), "1/2")], "ill")
    (found,) = by_duckdb(list(made.expressions("duckdb").values()), {"age": [3, 18, 99]}, {"age": "BIGINT"})
    assert found == ["[0, 18)", "[18, 65)", "*"]


def test_what_is_refused():
    made = jobs()
    with pytest.raises(ValueError, match="column 'job': its domain holds the text 'cook' of SUPPRESSED"):
        made.expressions("spark", suppressed="cook")
    with pytest.raises(ValueError, match="dialect must be 'spark', 'duckdb' or 'ansi', got 'hive'"):
        made.expressions("hive")
    with pytest.raises(TypeError, match="suppressed must be a text, got NoneType"):
        made.expressions("spark", suppressed=None)
