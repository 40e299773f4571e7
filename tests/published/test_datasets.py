"""Synthetic tables of a release."""

import json
import os

import numpy as np
import pytest
from release_cases import VIEWS, release_of

import nbcfast
from nbcfast import Table, Viewset
from nbcfast.published.document import text_of
from nbcfast.table import SUPPRESSED


def test_a_dataset_has_exactly_the_counts():
    release = release_of()
    table = release.dataset(np.random.default_rng(1))
    assert table.names == ("job", "age", "ill")
    assert table.n_rows == 8
    assert nbcfast.count(table, "ill") == VIEWS
    assert release.dataset(np.random.default_rng(1)) == table
    assert nbcfast.count(release.dataset(), "ill") == VIEWS


def test_the_columns_of_a_dataset_are_permuted_independently():
    views = Viewset([4, 1], {"x": [[2, 1], [2, 0]], "y": [[2, 1], [2, 0]]})
    release, rng = release_of(views), np.random.default_rng(3)
    met = {}
    for _ in range(3_600):
        table = release.dataset(rng)
        rows = tuple(table.codes("x")[:4].tolist()), tuple(table.codes("y")[:4].tolist())
        met[rows] = met.get(rows, 0) + 1
    assert len(met) == 36  # 6 x 6 arrangements, each expected 100 times; the sd is 10
    assert min(met.values()) > 50
    assert max(met.values()) < 150


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_a_streamed_dataset_has_exactly_the_counts(tmp_path, ending, monkeypatch):
    from nbcfast.published import dataset as datasets

    monkeypatch.setattr(datasets, "BLOCK_CELLS", 1)  # blocks of 1,024 rows: 150,000 rows are both ways dealt
    rng = np.random.default_rng(11)
    counts = rng.multinomial(150_000, [0.3, 0.2, 0.5]), rng.multinomial(2_000, [0.1, 0.5, 0.4])
    other = rng.multinomial(150_000, [0.5, 0.5]), rng.multinomial(2_000, [0.5, 0.5])
    views = Viewset(
        [150_000, 2_000],
        {"x,y": np.transpose(counts), "z": np.transpose(other)},
        classes=["no", "yes"],
        domains={"x,y": ['a "quote"', "b\nreak", "é"], "z": [1, None]},
    )
    path = tmp_path / f"synthetic.{ending}"
    seen = []
    release_of(views).write_dataset(path, rng, progress=lambda done, total: seen.append((done, total)))
    assert os.listdir(tmp_path) == [path.name]
    table = nbcfast.read_parquet(path) if ending == "parquet" else nbcfast.read_csv(path)
    assert nbcfast.count(table, "ill") == views
    assert seen[-1] == (152_000, 152_000)
    # Early and late rows of a class look alike.
    first = table.codes("z")[:75_000].mean()
    assert abs(first - table.codes("z")[75_000:150_000].mean()) < 0.02
    if ending == "parquet":
        import pyarrow.parquet as pq

        made = json.loads(pq.read_schema(path).metadata[b"nbcfast"])
        assert made["seeded"] is True
        assert made["certificate_sha256"] == json.loads(text_of(release_of(views)))["sha256"]


def test_a_streamed_dataset_is_uniform(tmp_path, monkeypatch):
    from nbcfast.published import dataset as datasets

    monkeypatch.setattr(datasets, "PERMUTED_BLOCKS", 0)
    rng = np.random.default_rng(2)
    met = {}
    for _ in range(2_400):
        stock = datasets._Stock(np.array([2, 1, 1]), rng, 1)
        order = tuple(int(stock.deal(1)[0]) for _ in range(4))
        met[order] = met.get(order, 0) + 1
    assert len(met) == 12  # each expected 200 times; the sd is 14
    assert min(met.values()) > 130
    assert max(met.values()) < 270


def test_datasets_say_what_they_cannot_hold(tmp_path):
    huge = Viewset([2**70, 2**70], [[[2**70, 2**70]]])
    with pytest.raises(ValueError, match=r"has about 2\^71 rows, more than 2,147,483,648$"):
        release_of(huge).dataset()
    with pytest.raises(ValueError, match="more than 2,147,483,648; write_dataset streams it"):
        release_of(Viewset([2**31, 1], [[[2**31, 1]]])).dataset()
    with pytest.raises(ValueError, match="more than 10,000,000,000"):
        release_of(huge).write_dataset(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"path must end in \.parquet"):
        release_of().write_dataset(tmp_path / "x.xlsx")
    with pytest.raises(ValueError, match=r"^dataset must end in \.parquet, \.pq, \.csv or \.csv\.gz, got '"):
        release_of().save(tmp_path / "x", dataset=tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator or None, got int"):
        release_of().dataset(1)
    named = Viewset([1, 1], {"class": [[1, 1]]})
    with pytest.raises(ValueError, match="class_name must be given, because 'class' is an attribute"):
        release_of(named, None).dataset()
    with pytest.raises(ValueError, match="not realistic"):
        release_of(Viewset([2, 2], [[[1, 1], [1, 2]]])).dataset()
    for values, message in (
        ([None, "", "x"], "cannot tell the empty text from a null"),
        (["*", SUPPRESSED, "x"], r"holds the text '\*' of SUPPRESSED"),
    ):
        table = Table({"x": values, "y": ["a", "b", "a"]})
        views = nbcfast.count(table, "y")
        with pytest.raises(ValueError, match=message):
            release_of(views).write_dataset(tmp_path / "x.csv")
    odd = Viewset([1, 1], {"x": [[1, 1]]}, domains={"x": ["\ud800"]})
    with pytest.raises(ValueError, match=r"column 'x': value .* cannot be written as UTF-8"):
        release_of(odd).write_dataset(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_a_failed_stream_leaves_no_file(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    for ending in ("csv", "parquet"):
        with pytest.raises(KeyboardInterrupt):
            release_of().write_dataset(tmp_path / f"x.{ending}", progress=stop)
    assert os.listdir(tmp_path) == []
