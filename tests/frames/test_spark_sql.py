"""Expressions of SQL in Spark: every row is decided as the library does, however Spark is set."""

import math

import numpy as np
import pytest
from scorecard_cases import card
from sql_rows import SPARK_TYPES, raw_rows, release

import nbcfast
from nbcfast import Interval
from nbcfast._core.sql_text import identifier, number_literal, text_literal

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark", "ignore:::py4j")

SEEDS = (1, 2, 3, 4, 5, 7, 10, 12)


def frame_of(spark, columns, types):
    """A frame of these rows, with their number."""
    rows = [(place, *row) for place, row in enumerate(zip(*columns.values(), strict=True))]
    schema = ", ".join(f"{identifier(name, 'spark')} {types[name]}" for name in columns)
    return spark.createDataFrame(rows, f"`number of row` BIGINT, {schema}")


def decided(spark, columns, types, texts):
    """The values of expressions for each row, as lists."""
    frame = frame_of(spark, columns, types)
    found = sorted(frame.selectExpr("`number of row`", *texts).collect())
    return [list(column) for column in list(zip(*found, strict=True))[1:]]


@pytest.mark.parametrize("seed", SEEDS)
def test_spark_decides_as_the_release(spark, seed):
    made, kinds = release(seed)
    columns = raw_rows(made, kinds, seed, most=600)
    types = {name: SPARK_TYPES[kind] for name, kind in kinds.items()}
    wanted = made.predict(nbcfast.Table(columns), unseen="null").tolist()
    points = made.scorecard()
    (found,) = decided(spark, columns, types, [points.sql("spark", unseen="null")])
    assert found == wanted
    known = np.flatnonzero([label is not None for label in wanted])
    columns = {name: [values[place] for place in known] for name, values in columns.items()}
    (found,) = decided(spark, columns, types, [points.sql("spark")])
    assert found == [wanted[place] for place in known]


def test_spark_takes_every_type_that_the_library_does(spark):
    points = card(
        {
            "n": ([1, 2, None], [0, 3, 5]),
            "size": ([Interval(0, 2), Interval(2, None)], [0, 9]),
            "day": (["2020-02-29", "it's"], [0, 0]),
        },
        threshold=5,
    )
    text = points.sql("spark", unseen="null")
    rows = [(1, 2, "2020-02-29"), (2, 1, "2020-02-29"), (None, 0, "2020-02-29"), (3, 2, "2020-02-29")]
    frame = spark.createDataFrame(rows, "n INT, size INT, day STRING")
    for number in (
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(5,0)",
        "DECIMAL(15,2)",
    ):
        for day in ("STRING", "DATE"):
            typed = frame.selectExpr(
                f"CAST(n AS {number}) AS n", f"CAST(size AS {number}) AS size", f"CAST(day AS {day}) AS day"
            )
            assert [row[0] for row in typed.selectExpr(text).collect()] == ["ill", "well", "ill", None]
    for wrong in ("STRING", "DECIMAL(18,3)", "BOOLEAN"):
        typed = frame.selectExpr(f"CAST(n AS {wrong}) AS n", "size", "day")
        assert [row[0] for row in typed.selectExpr(text).collect()] == [None, None, "ill", None]
    collated = frame.selectExpr("n", "size", "day COLLATE UTF8_LCASE AS day")
    assert {row[0] for row in collated.selectExpr(text).collect()} == {None}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("99", "column it's \\u{1f40d} a.b: value 99 is not published"),
        ("CAST(NULL AS INT)", "column it's \\u{1f40d} a.b: null is not published"),
        ("CAST('NaN' AS DOUBLE)", "column it's \\u{1f40d} a.b: null is not published"),
        ("'1'", "column it's \\u{1f40d} a.b: expected numbers, got the type string"),
    ],
)
def test_spark_stops_with_column_and_value(spark, value, message):
    from pyspark.errors import PySparkException

    name = "it's \U0001f40d a.b"
    message = message.replace("\\u{1f40d}", "\U0001f40d")
    text = card({name: ([1, 2, 3], [0, 3, 5])}, threshold=3).sql("spark")
    frame = spark.range(1).selectExpr(f"{value} AS {identifier(name, 'spark')}")
    with pytest.raises(PySparkException) as caught:
        frame.selectExpr(text).collect()
    assert message in str(caught.value)


@pytest.mark.parametrize("setting", ["true", "false"])
@pytest.mark.parametrize("name", ["spark.sql.parser.escapedStringLiterals", "spark.sql.ansi.enabled"])
def test_texts_mean_the_same_however_spark_is_set(spark, name, setting):
    texts = [
        "it's",
        "a\\b",
        "\\'",
        "",
        "trail ",
        "${spark.app.name}",
        "--",
        "/*",
        "é\n",
        "%",
        '"',
        "`",
        "${x}",
    ]
    before = spark.conf.get(name)
    spark.conf.set(name, setting)
    try:
        listed = [text_literal(text, "spark") for text in texts]
        assert list(spark.range(1).selectExpr(*listed).collect()[0]) == texts
        assert list(spark.sql(f"SELECT {', '.join(listed)}").collect()[0]) == texts
        points = card({"t": (texts, list(range(len(texts))))}, threshold=6)
        rows = {"t": [*texts, "no such", "it''s", "its", None]}
        (found,) = decided(spark, rows, {"t": "STRING"}, [points.sql("spark", unseen="null")])
        assert found == ["well"] * 6 + ["ill"] * 7 + [None] * 4
    finally:
        spark.conf.set(name, before)


def test_numbers_and_names_are_read_back(spark):
    numbers = [0, -(2**63), 2**63 - 1, 10**38 - 1, 0.1, -1e-7, 5e-324, 1.7976931348623157e308, math.inf]
    listed = [number_literal(number, "spark") for number in numbers]
    assert [float(found) for found in spark.range(1).selectExpr(*listed).collect()[0]] == [
        float(number) for number in numbers
    ]
    names = ["a.b", "a`b", 'a"b', "it's", "é", " ", "Age", "a\\b", "select", "$1", "{x}", "--"]
    frame = spark.range(1).selectExpr(*(f"1 AS {identifier(name, 'spark')}" for name in names))
    assert frame.columns == names
    assert frame.selectExpr(*(identifier(name, "spark") for name in names)).columns == names


def test_many_attributes(spark):
    """As text, 300 attributes are no deep tree for the wire of Spark Connect."""
    names = [f"attribute {i}" for i in range(300)]
    points = card({name: ([0, 1], [0, 1]) for name in names}, threshold=150)
    rows = np.random.default_rng(1).integers(0, 2, (20, 300)).tolist()
    schema = ", ".join(f"`{name}` BIGINT" for name in names)
    found = spark.createDataFrame(rows, schema).selectExpr(points.sql("spark")).collect()
    assert [row[0] for row in found] == [points.decide(dict(zip(names, row, strict=True))) for row in rows]
