"""`nbcfast report`: a page about a folder, outside of it, and nothing of what does not verify."""

import json
import shlex

import pytest
from folder_cases import PEOPLE, SAVED

from nbcfast import Table, canonical, count
from nbcfast.reports import fact_sheet

pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in SAVED:
        SAVED[kind](tmp_path / kind)
    return tmp_path


@pytest.mark.parametrize("kind", SAVED)
def test_a_page_is_written(kind, folder, run):
    code, out, err = run("report", kind, "--out", "facts.html")
    assert (code, err) == (0, "")
    assert out.startswith(f"fact sheet written   {kind} -> facts.html\n")
    content = (folder / "facts.html").read_bytes()
    assert f"written  facts.html ({len(content):,} bytes)" in out
    assert content == fact_sheet(folder / kind).content


def test_a_file_of_a_certificate_stands_for_its_folder(folder, run):
    assert run("report", "release/certificate.json", "--out", "facts.html")[0] == 0
    assert run("report", "release", "--out", "again.html")[0] == 0
    assert (folder / "facts.html").read_bytes() == (folder / "again.html").read_bytes()


def test_a_missing_value_is_a_choice_of_the_page_and_a_text_of_rows(folder, found, run):
    none = {**PEOPLE, "town": ["x"] * 6 + [None] * 6}
    releases = {
        "nulls": (canonical.release(count(none, "ill", ["job"]), 4, class_name="ill"), "job"),
        "by-town": (canonical.release_by(Table(none), "ill", "town", 4, columns=["job"]), "town and job"),
    }
    for name, (release, columns) in releases.items():
        release.save(folder / name)
        (decision,) = found("report", name, "--out", f"{name}.html")["summary"]["decisions"]
        assert decision["question"].startswith(f"A missing value is one of {columns}: on the page that is ")
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert "Choose a value of each attribute, where (null) is a missing one." in page
        (folder / "FILE.csv").write_text("job,town\n?,\ncook,x\n", encoding="utf-8")
        (line,) = decision["commands"]
        code, out, _ = run(*shlex.split(line.replace("FILE", "FILE.csv"))[1:])
        assert (code, out.splitlines()[0].split("   ")[0]) == (0, "predicted: all 2 rows")
    assert found("report", "release", "--out", "facts.html")["summary"]["decisions"] == []
    assert "(null)" not in (folder / "facts.html").read_text(encoding="utf-8")


def test_json_says_all(folder, found):
    said = found("report", "partition", "--out", "facts.html")
    assert said["written"] == "facts.html"
    assert said["kind"] == "partition"
    assert said["bytes"] == (folder / "facts.html").stat().st_size
    assert said["whole"] is True
    assert said["verification"]["ok"] is True
    assert said["sha256"] == json.loads((folder / "partition" / "certificate.json").read_text())["sha256"]


def test_what_does_not_verify_leaves_with_1_and_writes_nothing(folder, run):
    (folder / "release" / "more").touch()
    code, out, err = run("report", "release", "--out", "facts.html")
    assert (code, out) == (1, "")
    assert err.startswith("nbcfast: not written: release/certificate.json: folder: not named by")
    assert not (folder / "facts.html").exists()


def test_where_a_page_may_not_be_written(folder, run):
    (folder / "facts.html").touch()
    for out, why in (
        ("facts.html", "facts.html: exists; --overwrite replaces it"),
        ("facts.txt", "--out must be a .html file, got 'facts.txt'"),
        ("release/facts.html", "--out must not be in 'release': its certificate does not cover that file"),
        ("none/facts.html", "--out must be in a folder that exists, got 'none/facts.html'"),
    ):
        code, _, err = run("report", "release", "--out", out)
        assert code == 2
        assert err.startswith(f"nbcfast: {why}"), err
    assert (folder / "facts.html").read_bytes() == b""
    assert run("report", "release", "--out", "facts.html", "--overwrite")[0] == 0
    assert run("report", "nowhere", "--out", "other.html") == (
        2,
        "",
        "nbcfast: nowhere: No such file or directory\n",
    )


def test_a_private_page_is_kept_out_of_what_was_published_before(folder, run):
    rows = "age,ill\n" + "".join(f"{number % 3},{number % 2}\n" for number in range(60))
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    asked = ("skyline", "check", "rows.csv", "--by", "age", "--sensitive", "ill", "--point", "0,1,0,100%")
    code, out, errors = run(*asked, "--report", "release/mine.html")
    assert (code, out) == (2, "")
    assert "--report must not be in 'release': its certificate does not cover that file" in errors
    assert run(*asked, "--report", "mine.html")[2] == ""
    assert (folder / "mine.html").exists()
