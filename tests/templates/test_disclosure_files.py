"""The files of a disclosure: saved, loaded, verified, and forged."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast import SUPPRESSED, verify_release
from nbcfast.templates import Template, disclose


@pytest.fixture
def found():
    table = nbcfast.Table(
        {
            "job": ["cook", "a, b", None, "cook", "clerk", "clerk"],
            "age": [20, 31, 42, 53, 64, 75],
            "ill": ["no", "no", "no", "yes", "no", "yes"],
            "y": [True, False, True, False, True, False],
        }
    )
    return disclose(table, [Template(["job", "age"], ("ill", "yes"), "1/2")], "y", continuous=["age"])


@pytest.mark.parametrize(
    "options", [{}, {"weights": "n"}, {"order": "shuffled"}, {"order": "shuffled", "weights": "n"}]
)
def test_what_is_saved_can_be_loaded_and_verified(found, tmp_path, options):
    found.save(tmp_path / "out", **options)
    checked = nbcfast.verify(tmp_path / "out")
    assert checked.ok, checked
    assert [check.name for check in checked.checks] == ["file", "folder", "table", "rows", "template 1"]
    loaded = nbcfast.load(tmp_path / "out")
    assert loaded.table == found.collapsed
    assert loaded.confidences == found.confidences
    assert (loaded.masked, loaded.target, loaded.utility) == (found.masked, "y", "information")
    assert loaded.intervals == found.intervals
    assert loaded.suppressed is None
    assert checked.disclosure.table == loaded.table
    assert verify_release.main([str(tmp_path / "out")]) == 0
    loaded.save(tmp_path / "again")
    found.save(tmp_path / "first")
    for name in ("table.csv", "certificate.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()


def test_the_files_do_not_depend_on_the_order_of_rows(tmp_path, large):
    table, wanted = large
    order = np.random.default_rng(1).permutation(table.n_rows)
    for name, one in (("a", table), ("b", table.take(order))):
        disclose(one, wanted, "y").save(tmp_path / name)
    for name in ("table.csv", "certificate.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_suppressed_values_are_in_no_file(tmp_path):
    table = nbcfast.Table({"job": ["cook", "cook", "spy"], "ill": ["no", "no", "yes"], "y": [0, 1, 0]})
    found = disclose(table, [Template(["job"], ("ill", "yes"), "1/3")], "y")
    assert found.suppressed["job"] == ("cook", "spy")
    found.save(tmp_path)
    for path in tmp_path.iterdir():
        assert b"spy" not in path.read_bytes()


def test_verify_release_needs_nothing_but_itself(found, tmp_path):
    found.save(tmp_path / "out")
    script = Path(verify_release.__file__)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(tmp_path / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "template 1     job, age -> ill='yes': 1/2 <= 1/2" in done.stdout


def forged(folder, change=None, table=None):
    """The files with other fields or another table, the hashes made to fit."""
    path = folder / "certificate.json"
    document = json.loads(path.read_text())
    if table is not None:
        (folder / "table.csv").write_text(table(Path(folder, "table.csv").read_text()))
        document["table_sha256"] = hashlib.sha256((folder / "table.csv").read_bytes()).hexdigest()
    if change is not None:
        change(document)
    document["sha256"] = verify_release.digest(document)
    path.write_text(verify_release.canonical_json(document) + "\n")


def template_with(**fields):
    return lambda document: document["templates"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "table", "text"),
    [
        (template_with(limit="1/3"), None, "1/2 > 1/3"),
        (template_with(confidence="1/3"), None, "; the certificate says 1/3"),
        (
            None,
            lambda text: "".join([*text.splitlines(True)[:1], *text.splitlines(True)[:0:-1]]),
            "not in order",
        ),
        (
            None,
            lambda text: text + text.splitlines()[-1] + "\n",
            "7 people in 6 distinct rows; the certificate says 6",
        ),
        (None, lambda text: text.replace("yes", "maybe", 1), "'maybe' is no value of 'ill'"),
        (None, lambda text: text.replace("True", "True,1", 1), "has 5 fields, expected 4"),
        (None, lambda text: text.replace("ill", "well", 1), "expected the columns"),
        (None, lambda text: text.splitlines()[0] + "\n", "table.csv has no rows"),
        (lambda d: d.update(utility="none"), None, "field 'utility': expected one of"),
        (lambda d: d.update(format=2), None, "field 'format': expected 1, got 2"),
        (lambda d: d.update(extra=1), None, "field 'extra' is unknown"),
        (lambda d: d.pop("rows"), None, "field 'rows' is missing"),
        (lambda d: d.update(templates=[]), None, "field 'templates': expected a list"),
        (lambda d: d.update(masked=["x"]), None, "expected names of columns"),
        (lambda d: d.update(weights="ill"), None, "expected distinct names of columns"),
        (lambda d: d.update(seeded=0), None, "field 'seeded': expected true or false"),
        (template_with(value=["text", "maybe"]), None, "expected a value of 'ill'"),
        (template_with(attribute="job"), None, "expected distinct columns"),
        (template_with(quasi=["town"]), None, "expected names of columns"),
        (template_with(limit="3/2"), None, "up to 1"),
        (
            lambda d: d["columns"][2]["cells"][0].__setitem__(0, "yes"),
            None,
            "expected distinct texts",
        ),
        (
            lambda d: d["columns"][2]["cells"][0].__setitem__(0, "nay"),
            None,
            "expected the text 'no' of 'no', got 'nay'",
        ),
    ],
)
def test_forged_files_are_found_out(found, tmp_path, change, table, text):
    found.save(tmp_path)
    forged(tmp_path, change, table)
    checked = nbcfast.verify(tmp_path)
    assert not checked.ok
    assert re.search(text, repr(checked)), checked
    with pytest.raises(ValueError, match=text):
        nbcfast.load(tmp_path)
    assert verify_release.main([str(tmp_path)]) == 1


def test_changed_and_missing_files_are_found_out(found, tmp_path):
    found.save(tmp_path)
    path = tmp_path / "table.csv"
    data = path.read_bytes()
    path.write_bytes(data + b"\n")
    with pytest.raises(ValueError, match=r"the sha256 of table.csv does not match: it was changed"):
        nbcfast.load(tmp_path)
    path.unlink()
    assert not nbcfast.verify(tmp_path).ok
    path.write_bytes(data)
    certificate = tmp_path / "certificate.json"
    certificate.write_text(certificate.read_text().replace('"rows":6', '"rows":7'))
    with pytest.raises(ValueError, match="sha256 does not match, the file was changed"):
        nbcfast.load(tmp_path)


def test_a_disclosure_is_no_release(found, tmp_path):
    found.save(tmp_path)
    with pytest.raises(ValueError, match="expected 'release'; got \"disclosure\""):
        verify_release.parse((tmp_path / "certificate.json").read_bytes())
    with pytest.raises(TypeError, match="kind 'disclosure' is checked from its own files alone"):
        nbcfast.verify(tmp_path, found.table)


def test_what_cannot_be_saved_leaves_nothing(found, tmp_path):
    broken = type(found)(
        found.table,
        (Template(["job"], ("ill", "yes"), 0),),
        {},
        found.masked,
        found.target,
        found.utility,
    )
    with pytest.raises(ValueError, match="not saved: job -> ill=yes <= 0 has a confidence of"):
        broken.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="weights: expected the name of a new column, got 'job'"):
        found.save(tmp_path / "out", weights="job")
    with pytest.raises(ValueError, match="order must be 'canonical' or 'shuffled', got 'sorted'"):
        found.save(tmp_path / "out", order="sorted")
    with pytest.raises(ValueError, match="rng goes with order='shuffled'"):
        found.save(tmp_path / "out", rng=np.random.default_rng())
    assert not (tmp_path / "out").exists()


def test_the_star_of_a_value_is_no_suppression(tmp_path):
    table = nbcfast.Table({"a": ["*", "*", "x", "z"], "s": [0, 0, 1, 0], "y": [0, 0, 0, 1]})
    made = disclose(table, [Template(["a"], ("s", 1), "1/2")], "y", utility="distortion", max_steps=1)
    assert made.table.domain("a") == ("*", SUPPRESSED)
    with pytest.raises(ValueError, match=r"holds the text '\*' of SUPPRESSED"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_parquet_beside_the_table(found, tmp_path):
    pytest.importorskip("pyarrow")
    found.save(tmp_path, parquet=True)
    assert nbcfast.read_parquet(tmp_path / "table.parquet").n_rows == 6
