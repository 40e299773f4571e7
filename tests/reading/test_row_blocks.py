"""Rows block by block: whatever a table may be, with the columns that are wanted."""

import pytest

from nbcfast import Table
from nbcfast._core.errors import NoColumnError
from nbcfast._reading.csv_files import CsvForm
from nbcfast._reading.row_blocks import RowFile, blocks_from

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = {"age": [1, None, 3], "job": ["a", "b", None]}


def values(blocks):
    return [Table.from_columns(dict(block.columns), None, block.n_rows)["job"].tolist() for block in blocks]


def test_all_kinds_of_rows(tmp_path):
    arrow = pa.table(ROWS)
    parquet.write_table(arrow, tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("age,job\n1,a\n,b\n3,\n", encoding="utf-8")
    given = [
        ROWS,
        Table(ROWS),
        arrow,
        iter(arrow.to_batches()),
        tmp_path / "rows.parquet",
        tmp_path / "rows.csv",
    ]
    for one in given:
        assert values(blocks_from(one, ["job", "age"])) == [["a", "b", None]]
    assert [block.n_rows for block in blocks_from(arrow, [])] == [3]
    assert [block.n_rows for block in blocks_from(tmp_path / "rows.csv", [])] == [3]
    for one in (ROWS, arrow, tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        with pytest.raises(NoColumnError):
            list(blocks_from(one, ["town"]))
    with pytest.raises(TypeError, match="rows: expected a Table, a mapping"):
        list(blocks_from(3, ["job"], "rows"))
    with pytest.raises(ValueError, match="rows: expected at least one record batch, got none"):
        list(blocks_from([], ["job"], "rows"))


def test_a_csv_file_stays_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("age;job\n01;NA\n;x\n", encoding="utf-8")
    file = RowFile(path, form=CsvForm(";", ("NA", "")))
    (batch,) = file.batches()
    assert batch.to_arrow().to_pydict() == {"age": ["01", ""], "job": ["NA", "x"]}
    assert (file.done, file.size) == (path.stat().st_size, path.stat().st_size)
    assert file.schema.names == file.names == ["age", "job"]
    monkeypatch.setattr("nbcfast._reading.row_blocks.MOST_HELD", 2)
    monkeypatch.setattr("nbcfast._reading.csv_files.BLOCK_BYTES", 8)
    jobs = [f"job {row}" for row in range(200)]
    path.write_text("age,job\n" + "".join(f"1,{job}\n" for job in jobs), encoding="utf-8")
    batches = list(RowFile(path).batches())
    assert len(batches) > 2
    assert [job for batch in batches for job in batch.to_arrow().to_pydict()["job"]] == jobs
    assert all(len(batch.columns["job"][1]) == batch.n_rows for batch in batches)  # its own texts alone
    blocks = RowFile(path).blocks(["job"])
    assert [job for block in values(blocks) for job in block] == jobs


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        RowFile(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match="rows: expected a file of"):
        RowFile(tmp_path / "rows.xls", "rows")
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises((ValueError, OSError), match=r"rows\.parquet"):
        RowFile(tmp_path / "rows.parquet")
