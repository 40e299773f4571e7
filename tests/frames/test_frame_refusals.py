"""Columns that an engine would count in another way than memory does are refused where they are asked for."""

import contextlib
import datetime

import pyarrow as pa
import pytest

import nbcfast
from nbcfast import Table
from nbcfast.frames import Frame

KINDS = "expected bools, integers, floats, text, dates, times or decimals, got "
NESTED = {
    "struct": pa.array([{"a": 1}, None]),
    "list": pa.array([[1], [2, 3]]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([b"a", b"b"]),
}


@pytest.mark.parametrize("kind", NESTED)
def test_nested_values_and_bytes_are_refused_where_they_are_asked_for(engine, kind):
    rows = pa.table({"it": NESTED[kind], "c": ["u", "v"]})
    frame = engine.frame(rows)
    assert frame.weighted(["c"]) == Table(rows.select(["c"])).collapse()
    if engine.name.startswith("polars") and kind == "map":
        kind = "list of pairs"  # which is what Polars makes of it
    with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
        frame.weighted(["it"])
    with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
        nbcfast.count(frame, "c")


def duckdb_of(engine, columns):
    return Frame(engine.connection.sql(f"SELECT {columns} FROM range(12) AS t(i)"))


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize(
    "sql",
    [
        "INTERVAL 1 MONTH",
        "to_months(CAST(i AS INTEGER))",
        "union_value(num := i)",
        "'101'::BIT",
        "'a'::BLOB",
        "[i]::BIGINT[1]",
        "to_json(i)::JSON::VARIANT",
        "12345678901234567890123456789012345678901234567890::BIGNUM",
    ],
)
def test_other_types_of_duckdb_are_refused(engine, sql):
    try:
        engine.connection.sql(f"SELECT {sql} FROM range(1) AS t(i)").fetchall()
    except Exception as error:  # of a release that has no such type
        pytest.skip(f"this DuckDB has it not: {type(error).__name__}")
    frame = duckdb_of(engine, f"{sql} AS it, i % 2 AS c")
    with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
        frame.weighted(["it"])
    assert frame.weighted(["c"]).weights.tolist() == [6, 6]


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("CASE WHEN i % 3 = 0 THEN 'b' ELSE 'a' END::ENUM('b', 'a', 'z')", ("a", "b")),
        ("(i % 2)::HUGEINT * 9007199254740993", (0, 2**53 + 1)),
        ("(i % 2)::UBIGINT", (0, 1)),
        ("(i % 2)::UTINYINT", (0, 1)),
        ("'00000000-0000-0000-0000-00000000000' || (i % 2)", None),
        ("('00000000-0000-0000-0000-00000000000' || (i % 2))::UUID", None),
        ("TIMESTAMPTZ '2024-11-03 05:30:00+00' + to_hours(i % 2)", None),
        ("TIMESTAMP '2024-03-10 02:30:00.5'", ("2024-03-10T02:30:00.5",)),
        ("TIMESTAMP_NS '2024-03-10 02:30:00.123456789'", ("2024-03-10T02:30:00.123456789",)),
        ("TIMESTAMP_S '2024-03-10 02:30:00'", ("2024-03-10T02:30:00",)),
        ("DATE '2024-02-29'", ("2024-02-29",)),
        ("TIME '12:34:56.5'", ("12:34:56.5",)),
        ("(i % 2)::FLOAT / 10", None),
        ("(i % 2)::DECIMAL(4, 1) / 10", None),
        ("NULL", (None,)),
    ],
)
def test_types_of_duckdb_are_what_they_are_in_memory(engine, sql, values):
    frame = duckdb_of(engine, f"{sql} AS it, i % 2 AS c")
    expected = Table(pa.RecordBatchReader.from_stream(frame.native)).collapse()
    assert frame.weighted() == expected
    if values is not None:
        assert frame.weighted(["it"]).domain("it") == values


@pytest.mark.parametrize("engine", ["duckdb", "ibis"], indirect=True)
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "C"])
def test_collations_of_duckdb(engine, collation):
    import duckdb

    connection = duckdb.connect() if engine.name == "duckdb" else engine.connection.con
    connection.execute(f"CREATE OR REPLACE TABLE t (a TEXT COLLATE {collation}, b TEXT, n INT)")
    connection.execute("INSERT INTO t VALUES ('x', 'x', 1), ('X', 'X', 1)")
    frame = Frame(connection.table("t") if engine.name == "duckdb" else engine.connection.table("t"))
    assert frame.weighted(["b", "n"]).n_rows == 2
    if collation == "C":
        assert frame.weighted(["a"]).n_rows == 2
    else:
        message = f"column 'a' has a collation, by which {engine.kind} takes different texts for one: cast it"
        with pytest.raises(ValueError, match=message):
            frame.weighted(["a"])
        with pytest.raises(ValueError, match=message):
            frame.counts("b")


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_a_collation_of_the_whole_connection(engine, collation):
    import duckdb

    connection = duckdb.connect()
    connection.execute("""CREATE TABLE t AS SELECT 'x' AS a, '"x"'::JSON AS j, 1 AS n""")
    assert Frame(connection.table("t")).weighted().n_rows == 1
    connection.execute(f"PRAGMA default_collation={collation}")
    frame = Frame(connection.table("t"))
    assert frame.weighted(["n"]).n_rows == 1
    for name in ("a", "j"):
        with pytest.raises(ValueError, match=f"column '{name}' has a collation"):
            frame.weighted([name])


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")  # of pandas, which ibis asks
@pytest.mark.parametrize("engine", ["ibis"], indirect=True)
def test_texts_of_sqlite_are_compared_letter_by_letter(engine, tmp_path):
    """The largest value of a column has no collation there, so that nothing shows that the column has one."""
    import sqlite3

    import ibis

    with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("CREATE TABLE t (job TEXT COLLATE NOCASE, zone TEXT COLLATE RTRIM, ill TEXT)")
        rows = [("Cook", "a", "no"), ("cook", "a ", "no"), ("COOK", "a", "yes"), (None, None, "yes")]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.commit()
    table = Table(dict(zip(("job", "zone", "ill"), zip(*rows, strict=True), strict=True)))
    backend = ibis.sqlite.connect(tmp_path / "people.db")
    try:
        frame = Frame(backend.table("t"))
        assert frame.weighted(["job"]) == table.select(["job"]).collapse()
        assert frame.counts("ill") == nbcfast.count(table, "ill")
    finally:
        backend.disconnect()


@pytest.mark.parametrize("engine", ["duckdb"], indirect=True)
def test_a_reader_that_can_be_read_once_is_counted_right(engine):
    rows = pa.table({name: ["x", "y", None] * 4_000 for name in ("a", "b", "d", "c")})

    def relation():
        reader = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=500))
        return engine.connection.from_arrow(reader)

    assert Frame(relation()).weighted(["a", "c"]) == Table(rows).select(["a", "c"]).collapse()
    assert Frame(relation()).counts("c") == nbcfast.count(Table(rows), "c")


def polars_of(engine, values):
    import polars as pl

    frame = pl.DataFrame({"it": values, "c": ["u", "v", "u", "v"]})
    return (frame.lazy() if engine.name == "polars-lazy" else frame), frame


@pytest.mark.parametrize("engine", ["polars", "polars-lazy"], indirect=True)
def test_types_of_polars_are_what_they_are_in_memory(engine):
    pl = pytest.importorskip("polars")
    moment = datetime.datetime(2024, 11, 3, 1, 30)
    for values in (
        pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["b", "z", "a"])),
        pl.Series(["1.50", "2.00", None, "1.50"]).str.to_decimal(scale=2),
        pl.Series(
            [moment - moment, datetime.timedelta(days=1, microseconds=1), None, None], dtype=pl.Duration("us")
        ),
        pl.Series([datetime.time(1, 2, 3, 4), None, datetime.time(0), None]),
        pl.Series([moment] * 4, dtype=pl.Datetime("ns")),
        pl.Series([moment] * 4, dtype=pl.Datetime("ms", "America/New_York")),
        pl.Series([2**63 - 1, 0, None, 0], dtype=pl.UInt64),
        pl.Series([None] * 4, dtype=pl.Null),
    ):
        native, rows = polars_of(engine, values)
        assert Frame(native).weighted() == Table(rows).collapse(), values.dtype
        assert Frame(native).counts("c") == nbcfast.count(rows, "c")
    native, rows = polars_of(engine, pl.Series([[1], [2], None, [1]]))
    with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
        Frame(native).weighted()


@pytest.mark.parametrize("engine", ["polars", "polars-lazy"], indirect=True)
def test_objects_in_polars_are_refused(engine):
    pl = pytest.importorskip("polars")
    native, _ = polars_of(engine, pl.Series([object(), object(), None, None], dtype=pl.Object))
    frame = Frame(native)
    assert frame.weighted(["c"]).n_rows == 2
    with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
        frame.weighted(["it"])


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("INTERVAL '1' YEAR", None),
        ("INTERVAL '1 12' DAY TO HOUR", ("PT129600S",)),
        ("parse_json('1')", None),
        ("named_struct('a', id)", None),
        ("map(1, 2)", None),
        ("X'01'", None),
        ("NULL", (None,)),
        ("'a  '", ("a  ",)),
        ("TIMESTAMP '2024-11-03 05:30:00 UTC'", ("2024-11-03T05:30:00+00:00",)),
        ("TIMESTAMP_NTZ '2024-03-10 02:30:00'", ("2024-03-10T02:30:00",)),
        ("CAST('NaN' AS DOUBLE)", (None,)),
    ],
)
def test_types_of_spark(engine, sql, values):
    try:
        native = engine.session.range(4).selectExpr(f"{sql} AS it", "id % 2 AS c")
        assert native.schema  # where Connect asks the server
    except Exception as error:  # of a release that has no such type
        pytest.skip(f"this Spark has it not: {type(error).__name__}")
    frame = Frame(native)
    assert frame.weighted(["c"]).weights.tolist() == [2, 2]
    if values is None:
        with pytest.raises(TypeError, match=f"column 'it': {KINDS}"):
            frame.weighted(["it"])
    else:
        assert frame.weighted(["it"]).domain("it") == values


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
def test_collations_of_spark_are_refused(engine):
    if engine.session.version < "4":
        pytest.skip("Spark 3 has no collations")
    native = engine.session.range(4).selectExpr(
        "CAST(id AS STRING) COLLATE UTF8_LCASE AS a",
        "CAST(id AS STRING) COLLATE UTF8_BINARY AS b",
        "id % 2 AS c",
    )
    frame = Frame(native)
    assert frame.weighted(["b"]).n_rows == 4
    with pytest.raises(ValueError, match="column 'a' has a collation, by which a frame of PySpark takes"):
        frame.counts("c")


def test_what_is_no_table_of_an_engine():
    expected = "native: expected a relation of DuckDB, a frame of Polars, PySpark or Dask, or a table of ibis"
    for given in ([1, 2], {"a": [1]}, pa.table({"a": [1]}), Table({"a": [1]}), "people.parquet", None):
        with pytest.raises(TypeError, match=f"{expected}, got {type(given).__name__}"):
            Frame(given)
