"""The partition of a file on disk is that of the table in memory."""

import os

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from partition_cases import JOBS, POINTS, people

import nbcfast
from nbcfast import Infeasible, Table
from nbcfast.mondrian import anonymize, ondisk
from nbcfast.published.table_lines import write_csv


def on_disk(table, tmp_path, name, *arguments, limit, **demands):
    path = tmp_path / name
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(table.to_arrow(demands.get("weights")), path, row_group_size=777)
    else:
        pyarrow.csv.write_csv(table.to_arrow(demands.get("weights")), path)
    out = tmp_path / "out.parquet"
    return anonymize(path, *arguments, out=out, overwrite=True, memory_limit=limit, **demands)


@pytest.mark.parametrize("points", [[], POINTS])
@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
@pytest.mark.parametrize("weights", [None, "people"])
def test_on_disk_the_partition_is_the_same(tmp_path, monkeypatch, points, name, weights):
    monkeypatch.setattr(ondisk, "LEAST_ROWS", 16)
    monkeypatch.setattr(ondisk, "CHUNK", 1000)
    table = people(8000, weights=weights is not None)
    table = table.bin("hours", width=5).select(["age", "job", "ill"])
    given = (["age", "job"], "ill", points)
    demands = {"k": 5, "hierarchies": {"job": JOBS}}
    expected = anonymize(table, *given, **demands)
    if weights is not None:
        demands["weights"] = weights
    for limit in ("1GiB", 400_000, 600_000):
        for threads in (1, 2):
            found = on_disk(table, tmp_path, name, *given, limit=limit, threads=threads, **demands)
            assert found.certificate == expected.certificate
            assert np.array_equal(found._content.boxes, expected._content.boxes)
            assert found.utility() == expected.utility()
            assert found.group_ids is None
    written = nbcfast.read_parquet(found.path)
    assert written.n_rows == expected.n_rows
    texts = expected.table.to_arrow()
    for column in written.names:
        given_values = np.array(written.domain(column), object)[written.codes(column)]
        assert [str(value) for value in given_values] == [str(value) for value in texts[column].to_pylist()]
    assert sorted(os.listdir(tmp_path)) == sorted([name, "out.parquet"])


def test_on_disk_by_gain_and_with_nodes_that_end_large(tmp_path, monkeypatch):
    monkeypatch.setattr(ondisk, "LEAST_ROWS", 16)
    rng = np.random.default_rng(4)
    n = 6000
    # More than a buffer of rows are equal: a leaf that is never in memory.
    columns = {"x": np.where(rng.random(n) < 0.7, 3, rng.integers(0, 9, n)), "y": rng.integers(0, 2, n)}
    table = Table({**columns, "rich": rng.integers(0, 2, n), "ill": rng.integers(0, 4, n)})
    for points in ([], [(1, 1, 1, 0.9)]):
        given = (["x", "y"], "ill", points)
        expected = anonymize(table, *given, k=20, target="rich")
        found = on_disk(table, tmp_path, "x.parquet", *given, limit=120_000, k=20, target="rich")
        assert found.certificate == expected.certificate
        assert found.groups.sizes.max() > 60_000 // (4 * 16)


def test_on_disk_refusals(tmp_path, monkeypatch):
    table = people(6000)
    pyarrow.parquet.write_table(table.to_arrow(), tmp_path / "x.parquet")
    pyarrow.csv.write_csv(table.to_arrow(), tmp_path / "x.csv")
    given = {"out": tmp_path / "out.parquet", "k": 5}
    with pytest.raises(ValueError, match=r"memory_limit: 200000 bytes are too few .*; [0-9]+ are enough"):
        anonymize(tmp_path / "x.parquet", ["age", "hours"], "ill", memory_limit=200_000, **given)
    with pytest.raises(ValueError, match="expected a column of"):
        anonymize(tmp_path / "x.parquet", ["years"], "ill", **given)
    with pytest.raises(ValueError, match="csv: options are for CSV files"):
        anonymize(tmp_path / "x.parquet", ["age"], "ill", csv={"delimiter": ";"}, **given)
    with pytest.raises(ValueError, match=r"csv: expected options of delimiter, .*; got 'quote'"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", csv={"quote": "'"}, **given)
    private = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "link.parquet").symlink_to(tmp_path / "x.parquet")
    for out in ("x.parquet", "link.parquet"):
        with pytest.raises(ValueError, match="out: expected another file than the private one"):
            anonymize(tmp_path / "x.parquet", ["age"], "ill", k=5, out=tmp_path / out)
    assert (tmp_path / "x.parquet").read_bytes() == private
    with pytest.raises(ValueError, match="weights: 'age' is also another column"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", weights="age", **given)
    with pytest.raises(Infeasible, match="the whole table as one group"):
        anonymize(tmp_path / "x.csv", ["age"], "ill", out=tmp_path / "out.parquet", k=7000)
    with pytest.raises(FileNotFoundError):
        anonymize(tmp_path / "y.csv", ["age"], "ill", **given)
    (tmp_path / "empty.csv").write_text("age,ill\n")
    with pytest.raises(ValueError, match="no rows"):
        anonymize(tmp_path / "empty.csv", ["age"], "ill", **given)
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(ValueError, match=r"bad\.parquet"):
        anonymize(tmp_path / "bad.parquet", ["age"], "ill", **given)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".nbcfast")]


def test_csv_options_on_disk(tmp_path):
    lines = [f"{i % 9};0{i % 3};{'?' if i % 5 == 0 else 'abc'[i % 3]}" for i in range(600)]
    (tmp_path / "x.csv").write_text("\n".join(["x;y;ill", *lines]))
    options = {"delimiter": ";", "null_values": ["?"], "types": {"y": "text"}}
    table = nbcfast.read_csv(tmp_path / "x.csv", **options)
    found = anonymize(tmp_path / "x.csv", ["x", "y"], "ill", k=9, out=tmp_path / "out.parquet", csv=options)
    assert found.certificate == anonymize(table, ["x", "y"], "ill", k=9).certificate


def test_write_csv_gives_the_hash(partition, tmp_path):
    assert write_csv(partition.counted, tmp_path / "x.csv") == partition.certificate.table_sha256
