"""Releases of strata as one published thing: what it predicts, what is written, and what is read again."""

import json
from dataclasses import replace

import numpy as np
import pytest
from strata_cases import TOWNS, declared

import nbcfast
from nbcfast import Interval, Table, canonical
from nbcfast.published import StratifiedRelease

MADE = canonical.release_by(declared(), "ill", "town", 4)


def test_each_row_is_decided_by_the_release_of_its_value():
    labels = MADE.predict(declared()).tolist()
    for place, town in enumerate(TOWNS["town"]):
        one = {name: [TOWNS[name][place]] for name in ("job", "age")}
        assert labels[place] == MADE.strata[town].predict(one)[0]
    assert MADE.predict(TOWNS, codes=True).tolist() == [["y", "n"].index(one) for one in labels]
    assert MADE.predict({name: [] for name in TOWNS}).tolist() == []


def test_a_value_without_a_release_is_named():
    with pytest.raises(
        ValueError, match="column 'town': value 'c' has no release; there are releases of 'b', 'a' and None"
    ):
        MADE.predict({"town": ["a", "c"], "job": ["p", "p"], "age": [1, 1]})
    with pytest.raises(ValueError, match="got 'town'"):
        MADE.predict({"job": ["p"], "age": [1]})
    with pytest.raises(ValueError, match="value 'z' is unknown"):
        MADE.predict({"town": ["a"], "job": ["z"], "age": [1]})
    assert MADE.predict({"town": ["a"], "job": ["z"], "age": [1]}, unseen="zero").tolist() == ["n"]


def test_numbers_are_put_into_the_bins_of_the_column_and_of_attributes():
    rows = {"years": [1, 2, 30, 40, 1, 33], "dose": [0.5, 7, 0.5, 7, 7, 0.5], "ill": [0, 1, 1, 0, 1, 1]}
    binned = Table(rows).bin("years", edges=[0, 18, 99]).bin("dose", edges=[0, 5, 9])
    made = canonical.release_by(binned, "ill", "years", 4)
    assert list(made.strata) == [Interval(0, 18), Interval(18, 99)]
    assert made.predict(rows).tolist() == made.predict(binned).tolist() == [0, 1, 1, 0, 1, 1]


def test_a_folder_is_read_as_it_was_written(tmp_path):
    MADE.save(tmp_path / "out")
    assert nbcfast.load(tmp_path / "out") == MADE
    first = (tmp_path / "out" / "certificate.json").read_bytes()
    with pytest.raises(FileExistsError):
        MADE.save(tmp_path / "out")
    MADE.save(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "certificate.json").read_bytes() == first


def test_an_entry_is_the_certificate_that_its_release_has_alone(tmp_path):
    MADE.save(tmp_path / "all")
    entries = json.loads((tmp_path / "all" / "certificate.json").read_text())["strata"]
    for entry, release in zip(entries, MADE.strata.values(), strict=True):
        release.save(tmp_path / "one", overwrite=True)
        assert json.loads((tmp_path / "one" / "certificate.json").read_text()) == entry["release"]


def test_a_stratum_that_breaks_its_limit_is_not_written(tmp_path):
    flat = canonical.release_by(declared(), "ill", "town", "11/10")
    sharper = {
        value: replace(release, certificate=flat.strata[value].certificate)
        for value, release in MADE.strata.items()
    }
    with pytest.raises(ValueError, match=r"^not saved: stratum 'b': Lambda of the counts exceeds the limit"):
        StratifiedRelease("town", sharper).save(tmp_path / "out", dataset=tmp_path / "rows.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_synthetic_table_has_the_column_and_gives_the_same_releases(tmp_path):
    rows = MADE.dataset(np.random.default_rng(1))
    assert rows.names == ("town", "job", "age", "ill")
    assert canonical.release_by(rows, "ill", "town", 4) == MADE
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet"):
        MADE.save(tmp_path / f"out-{name}", dataset=tmp_path / name)
        reader = nbcfast.read_parquet if name.endswith("parquet") else nbcfast.read_csv
        read = reader(tmp_path / name)
        assert read.n_rows == rows.n_rows
        for value, release in MADE.strata.items():
            kept = np.flatnonzero(read.codes("town") == read.domain("town").index(value))
            own = nbcfast.count(read.take(kept).select(["job", "age", "ill"]), "ill", classes=["y", "n"])
            assert own.class_counts.tolist() == release.views.class_counts.tolist()


def test_a_parquet_table_names_the_certificate(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    MADE.save(tmp_path / "out", dataset=tmp_path / "rows.parquet")
    named = json.loads(parquet.read_schema(tmp_path / "rows.parquet").metadata[b"nbcfast"])
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert named["certificate_sha256"] == certificate["sha256"]


def test_a_synthetic_table_in_the_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="dataset must not be in the folder of the release"):
        MADE.save(tmp_path / "out", dataset=tmp_path / "out" / "rows.csv")
    with pytest.raises(ValueError, match=r"dataset must end in \.parquet"):
        MADE.save(tmp_path / "out", dataset=tmp_path / "rows.txt")
    assert list(tmp_path.iterdir()) == []


def test_strata_that_do_not_go_together_are_refused():
    strata = dict(MADE.strata)
    other = canonical.release_by(declared(), "ill", "town", 5).strata["a"]
    with pytest.raises(
        ValueError, match="same attributes, domains, classes and parameters, got others for 'a'"
    ):
        StratifiedRelease("town", {**strata, "a": other})
    powers = nbcfast.safety_transform(nbcfast.count(declared().select(["job", "age", "ill"]), "ill"), 4)
    with pytest.raises(ValueError, match="expected canonical releases of whole domains, got Release"):
        StratifiedRelease("town", {"a": powers})
    with pytest.raises(ValueError, match="by must be neither the class nor an attribute, got 'job'"):
        StratifiedRelease("job", strata)
    with pytest.raises(ValueError, match="strata must be 1 to 1,000 releases, got 0"):
        StratifiedRelease("town", {})
    with pytest.raises(TypeError, match="strata must be a mapping of values to releases, got list"):
        StratifiedRelease("town", list(strata.values()))
    with pytest.raises(TypeError):
        MADE.strata["c"] = other


def test_what_is_claimed_is_said_once_or_of_the_strata_that_it_is_about():
    made = canonical.release_by(TOWNS, "ill", "town", 4, bits=1)
    certificate = made.certificate
    assert certificate.kind == "strata"
    assert certificate.notes[0].startswith("The value that somebody has of town selects which of 3 releases")
    assert len(set(certificate.notes)) == len(certificate.notes)
    assert "not comparable" in certificate.notes[1]
    differing = [value for value, one in made.strata.items() if one.certificate.differing_tuples]
    for value in differing:
        assert any(repr(value) in text for text in certificate.warnings) == (len(differing) < 3)
    assert certificate.tuples == 3 * 4
    assert str(certificate.equal) in repr(made).replace("not identical", "False").replace(
        "identical)", "True)"
    )
