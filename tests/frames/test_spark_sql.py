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
