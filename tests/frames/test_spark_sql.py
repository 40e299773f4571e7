"""Expressions of SQL in Spark: every row is decided as the library does, however Spark is set."""

import math
import re
from collections import Counter
from functools import reduce

import numpy as np
import pytest
from scorecard_cases import card
from sql_rows import SPARK_TYPES, raw_rows, release
from sql_tables import disclosure, partition, texts_of, types_of

import nbcfast
from nbcfast import Interval
from nbcfast._core.sql_text import identifier, number_literal, text_literal

pytestmark = pytest.mark.filterwarnings(
    "ignore:::pyspark",
    "ignore:::py4j",
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",  # left open by Spark 3.5
)

SEEDS = (2, 3, 4, 5, 7)


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
    rows = [(1, 2, "2020-02-29"), (2, 1, "2020-02-29"), (None, 0, "2020-02-29"), (3, 2, "2020-02-29")]
    frame = spark.createDataFrame(rows, "n INT, size INT, day STRING")
    text = points.sql("spark", unseen="null", table="typed")
    numbers = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5,0)", "DECIMAL(15,2)")
    wanted = {(number, day): ["ill", "well", "ill", None] for number in numbers for day in ("STRING", "DATE")}
    wanted |= {(wrong, "STRING"): [None, None, "ill", None] for wrong in ("DECIMAL(18,3)", "BOOLEAN")}
    wanted["STRING", "DATE"] = [None, None, "ill", None]
    wanted["INT", "STRING COLLATE UTF8_LCASE"] = [None] * 4
    if spark.version < "4":
        del wanted["INT", "STRING COLLATE UTF8_LCASE"]
    parts = []
    for place, (number, day) in enumerate(wanted):
        size = number if number in numbers else "INT"
        typed = frame.selectExpr(
            "n AS given",
            f"CAST(n AS {number}) AS n",
            f"CAST(size AS {size}) AS size",
            f"CAST(day AS {day}) AS day",
        ).alias("typed")
        parts.append(typed.selectExpr(f"{place} AS part", "given", f"{text} AS class"))
    found = {key: {} for key in wanted}
    for part, given, label in reduce(lambda one, other: one.unionAll(other), parts).collect():
        found[list(wanted)[part]][given] = label
    assert found == {key: dict(zip([1, 2, None, 3], labels, strict=True)) for key, labels in wanted.items()}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("99", "value 99 is not published"),
        ("CAST(NULL AS INT)", "null is not published"),
        ("CAST('NaN' AS DOUBLE)", "null is not published"),
        ("'1'", "expected numbers, got the type string"),
    ],
)
def test_spark_stops_with_column_and_value(spark, value, message):
    name = "it's \U0001f40d a.b"
    text = card({name: ([1, 2, 3], [0, 3, 5])}, threshold=3).sql("spark")
    frame = spark.range(1).selectExpr(f"{value} AS {identifier(name, 'spark')}")
    # Of another class in each version, and with Connect.
    with pytest.raises(Exception, match=re.escape(f"column {name}: {message}")):
        frame.selectExpr(text).collect()


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
    """As text, 100 attributes are no deep tree for the wire of Spark Connect."""
    names = [f"attribute {i}" for i in range(100)]
    points = card({name: ([0, 1], [0, 1]) for name in names}, threshold=50)
    rows = np.random.default_rng(1).integers(0, 2, (20, 100)).tolist()
    schema = ", ".join(f"`{name}` BIGINT" for name in names)
    found = spark.createDataFrame(rows, schema).selectExpr(points.sql("spark")).collect()
    assert [row[0] for row in found] == [points.decide(dict(zip(names, row, strict=True))) for row in rows]


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_spark_shows_each_row_as_the_disclosure(spark, seed):
    made, columns, kinds = disclosure(seed)
    texts = made.expressions("spark")
    assert texts
    found = decided(spark, columns, types_of(kinds, spark=True), list(texts.values()))
    assert found == [texts_of(made.table, name) for name in texts]
    strange = {name: [None, *values[1:]] for name, values in columns.items()}
    for name, shown in zip(
        texts, decided(spark, strange, types_of(kinds, spark=True), list(texts.values())), strict=True
    ):
        assert shown[0] == (None if None in made.table.domain(name) else "*")


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_spark_publishes_each_row_once(spark, seed):
    made, columns, kinds = partition(seed)
    frame_of(spark, columns, types_of(kinds, spark=True)).createOrReplaceTempView("people")
    groups = made.assignments()
    names = groups.names
    values = [[groups.domain(name)[code] for code in groups.codes(name).tolist()] for name in names]
    shown = [
        [str(one) if name.startswith("published") else one for one in listed]
        for name, listed in zip(names, values, strict=True)
    ]
    shown = [[str(one) if isinstance(one, Interval) else one for one in listed] for listed in shown]
    typed = [
        "STRING"
        if name.startswith("published") or kinds.get(name) == "interval"
        else "BIGINT"
        if name == "group"
        else types_of(kinds, spark=True)[name]
        for name in names
    ]
    schema = ", ".join(f"{identifier(name, 'spark')} {of}" for name, of in zip(names, typed, strict=True))
    spark.createDataFrame(list(zip(*shown, strict=True)), schema).createOrReplaceTempView("groups_of_them")
    wanted = Counter(zip(*(texts_of(made.table, name) for name in made.table.names), strict=True))
    found = spark.sql(made.join_sql("spark", "people", "groups_of_them"))
    assert tuple(found.columns) == made.table.names
    assert Counter(map(tuple, found.collect())) == wanted
    spark.createDataFrame([], schema).createOrReplaceTempView("groups_of_them")
    none = spark.sql(made.join_sql("spark", "people", "groups_of_them", unseen="null")).collect()
    assert Counter(map(tuple, none)) == {(None,) * len(made.table.names): made.n_rows}
