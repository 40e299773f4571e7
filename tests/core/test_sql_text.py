"""Names and values as texts of SQL: DuckDB and SQLite read back what was written."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast._core.sql_text import (
    expect_names,
    identifier,
    literal,
    number_literal,
    table_name,
    text_literal,
    unlike,
)

# All but what SQL cannot have.
TEXTS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)))


@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_texts_are_read_back(texts):
    duckdb = pytest.importorskip("duckdb")
    listed = ", ".join(text_literal(text, "duckdb") for text in texts)
    assert duckdb.sql(f"SELECT {listed}").fetchall() == [tuple(texts)]
    with closing(sqlite3.connect(":memory:")) as connection:
        listed = ", ".join(map(text_literal, texts))
        assert list(connection.execute(f"SELECT {listed}").fetchone()) == texts


@given(TEXTS.filter(bool))
def test_names_are_read_back(name):
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"SELECT 1 AS {identifier(name, 'duckdb')}").columns == [name]
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT 1 AS {identifier(name)}").description[0][0] == name


@given(TEXTS)
def test_texts_of_spark_have_nothing_that_its_settings_change(text):
    written = text_literal(text, "spark")
    if written.startswith("'"):
        assert written == f"'{text}'"
        assert not set(text) & set("'\\$\n")
    else:
        assert bytes.fromhex(written.removeprefix("decode(X'").removesuffix("', 'UTF-8')")).decode() == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_read_back(number):
    duckdb = pytest.importorskip("duckdb")
    written = number_literal(number, "duckdb")
    assert duckdb.sql(f"SELECT {written}, typeof({written})").fetchall() == [(number, "DOUBLE")]
    with closing(sqlite3.connect(":memory:")) as connection:
        (found,) = connection.execute(f"SELECT {number_literal(number)}").fetchone()
    assert found == pytest.approx(number, rel=1e-15)  # SQLite 3.40 misses the last bit of some


@given(st.integers(-(2**126), 2**126))
def test_integers_are_read_back(number):
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"SELECT {number_literal(number, 'duckdb')}").fetchall() == [(number,)]


def test_the_other_values():
    assert [literal(value, "spark") for value in (None, True, False, -5)] == ["NULL", "TRUE", "FALSE", "-5"]
    assert [literal(value) for value in (None, True, False, -5)] == ["NULL", "(1=1)", "(1=0)", "-5"]
    assert number_literal(float("inf"), "spark") == "CAST('Infinity' AS DOUBLE)"
    assert unlike("a", ["A", "a_"]) == "a__"
    assert table_name("my.visits", "spark") == "`my`.`visits`"


def test_what_is_refused():
    with pytest.raises(ValueError, match="a column of SQL must have a name, got ''"):
        identifier("", "spark")
    for text in ("a\0b", "\ud800"):
        for write in (identifier, text_literal):
            for dialect in ("spark", "duckdb", "ansi"):
                with pytest.raises(ValueError, match="SQL cannot have this text"):
                    write(text, dialect)
    with pytest.raises(ValueError, match=r"a column of Spark must have a name without '\$\{'"):
        identifier("${x}", "spark")
    with pytest.raises(ValueError, match="an integer must have at most 38 digits for dialect 'spark', got 1"):
        number_literal(10**38, "spark")
    with pytest.raises(
        ValueError, match="an integer must have at most 38 digits for dialect 'duckdb', got 1"
    ):
        number_literal(2**127, "duckdb")
    with pytest.raises(ValueError, match="NaN is no value of SQL"):
        literal(float("nan"), "duckdb")
    with pytest.raises(ValueError, match="SQL has no word for infinity"):
        literal(float("inf"))
    with pytest.raises(ValueError, match="table must be a name"):
        table_name("a..b")
    with pytest.raises(ValueError, match="SQL does not tell the columns 'A' and 'a' apart"):
        expect_names(["A", "b", "a"])
