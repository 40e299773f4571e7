"""Associations of streams and files are those of the table; and what leaves by Arrow."""

import numpy as np
import pytest
from association_cases import VIEWS_1

import nbcfast
from nbcfast.associations import risk


def test_streams_and_files_equal_the_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    rng = np.random.default_rng(2)
    data = pa.table(
        {
            "name": [f"n{i}" for i in rng.integers(0, 300, 4_000)],
            "age": pa.array([*rng.integers(0, 40, 3_999).tolist(), None]),
            "job": rng.integers(0, 5, 4_000),
            "ill": [["flu", "cold", "gout", "none"][i] for i in rng.integers(0, 4, 4_000)],
        }
    )
    parquet.write_table(data, tmp_path / "people.parquet", row_group_size=500)
    csv.write_csv(data, tmp_path / "people.csv")
    views = [("name", "age"), ("age", "job", "ill")]
    for worlds in ("projected", "full"):
        expected = risk(data.slice(0, 600), views, "name", "ill", worlds=worlds)
        for batches in (
            data.slice(0, 600).to_batches(max_chunksize=7),
            iter(data.slice(0, 600).to_batches()),
        ):
            found = risk(batches, views, "name", "ill", worlds=worlds)
            assert found.table() == expected.table()
            assert found.by_join_value() == expected.by_join_value()
    expected = risk(nbcfast.Table(data), views, "name", "ill")
    seen = []
    for source in (tmp_path / "people.parquet", str(tmp_path / "people.csv"), data):
        found = risk(source, views, "name", "ill", progress=lambda *done: seen.append(done))
        assert found.table() == expected.table()
        assert found.by_join_value() == expected.by_join_value()
    assert seen[-1][0] == seen[-1][1]
    three = [("name", "age"), ("age", "job"), ("age", "ill")]
    assert risk(data, three, "name", "ill").table() == risk(nbcfast.Table(data), three, "name", "ill").table()


def test_columns_of_views_are_looked_for_in_streams_and_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv

    data = pa.table({"name": ["x"], "age": [1], "problem": ["y"]})
    csv.write_csv(data, tmp_path / "people.csv")
    views = [("name", "age", "pet"), ("age", "problem")]
    for source in (nbcfast.Table(data), data, iter(data.to_batches()), tmp_path / "people.csv"):
        with pytest.raises(ValueError, match="'pet'"):
            risk(source, views, "name", "problem")


def test_empty_streams_have_no_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    empty = pa.table(
        {
            "name": pa.array([], pa.string()),
            "age": pa.array([], pa.int64()),
            "problem": pa.array([], pa.string()),
        }
    )
    for source in (empty, iter(empty.to_batches()), nbcfast.Table(empty)):
        with pytest.raises(ValueError, match=r"no rows|batch"):
            risk(source, VIEWS_1, "name", "problem")


@pytest.mark.parametrize(
    ("withheld", "shown"),
    [
        (nbcfast.SUPPRESSED, ["⊥", "31", None]),
        (nbcfast.Interval(20, 30), ["[20, 30)", "[31, inf)", None]),
        (30, [30, 31, None]),
    ],
    ids=["suppressed", "intervals", "numbers"],
)
def test_values_that_arrow_has_no_type_for_are_texts(withheld, shown):
    pa = pytest.importorskip("pyarrow")
    other = nbcfast.Interval(31, None) if isinstance(withheld, nbcfast.Interval) else 31
    data = {"i": ["u", "v", "w"], "a": [1, 2, 3], "p": [withheld, other, None]}
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
    assert pa.table(found).to_pydict()["p"] == shown


def test_arrow_export():
    pa = pytest.importorskip("pyarrow")
    alone = {"i": ["u", "u", "v"], "a": [1, 1, 2], "p": ["P", "Q", None]}
    found = risk(alone, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    table = pa.table(found)
    assert table.to_pydict() == {
        "i": ["u", "u", "v"],
        "p": ["P", "Q", None],
        "probability": [None, None, 1.0],
    }
    assert pa.table(found.by_join_value()).to_pydict() == found.by_join_value().to_dict()
    clash = {"i": [1], "probability": [2], "p": [3]}
    names = risk(clash, [("i", "probability"), ("probability", "p")], "i", "p").by_join_value().names
    assert names == ("probability", "identities", "values", "associations", "probability_")
