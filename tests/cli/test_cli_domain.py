"""`nbcfast domain`: a domain file to begin with."""

import json
import subprocess
import sys

import pytest

import nbcfast
from nbcfast import verify_release

HEADER = "id,age,job,ill\n"
LINES = "".join(
    f"p{row},{20 + row % 60},{['cook', 'clerk'][row % 2]},{'yn'[row // 2 % 2]}\n" for row in range(200)
)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(HEADER + LINES, encoding="utf-8")
    return path


def test_publish_takes_what_is_written(run, people, tmp_path):
    code, printed, errors = run("domain", "people.csv", "--class", "ill")
    assert (code, errors) == (0, "")
    assert "names people: 200 values in 200 rows" in printed
    assert "whoever publishes with them as they are says which values occur" in printed
    assert "Check each column of that list against the code book" in printed
    assert "Then remove its name from from_rows" in printed
    written = json.loads((tmp_path / "domain.json").read_text(encoding="utf-8"))
    assert written == {
        "domain": {
            "id": {"out": True},
            "age": {"edges": [None, 20, 40, 60, 80, None]},
            "job": {"values": ["clerk", "cook"]},
            "ill": {"values": ["n", "y"]},
        },
        "from_rows": ["age", "job", "ill"],
    }


def test_what_nobody_has_checked_is_published_as_not_declared(run, in_full, people, tmp_path):
    """A certificate that called the values of the rows declared would calm whoever reads it, wrongly."""
    run("domain", "people.csv", "--class", "ill")
    publish = ("publish", "people.csv", "--class", "ill", "--amplification", "4", "--accept-answers")
    code, printed, _ = in_full(*publish, "--domain", "domain.json", "--out", "begun")
    warning = "The values of age, job and the class come from the rows and were not declared"
    assert (code, printed.count(warning)) == (0, 1)
    code, printed, _ = in_full("verify", "begun", "--against", "people.csv", "--domain", "domain.json")
    assert (code, warning in printed, "were declared, and" in printed) == (0, True, False)
    script = subprocess.run(
        [sys.executable, verify_release.__file__, "begun"], capture_output=True, text=True, check=False
    )
    assert (script.returncode, f"warning: {warning}" in script.stdout) == (3, True)
    assert "were declared, and" not in script.stdout
    assert nbcfast.load("begun").views.domain("age") == (
        nbcfast.Interval(20, 40),
        nbcfast.Interval(40, 60),
        nbcfast.Interval(60, 80),
    )

    document = json.loads((tmp_path / "domain.json").read_text(encoding="utf-8"))
    document["from_rows"].remove("job")
    (tmp_path / "domain.json").write_text(json.dumps(document), encoding="utf-8")
    _, printed, _ = in_full(*publish, "--domain", "domain.json", "--out", "half")
    assert "The values of age and the class come from the rows and were not declared" in printed
    assert "The values of job were declared, and do not come from the rows." in in_full("verify", "half")[1]

    document["from_rows"].clear()
    (tmp_path / "domain.json").write_text(json.dumps(document), encoding="utf-8")
    _, printed, _ = in_full(*publish, "--domain", "domain.json", "--out", "checked")
    assert "not declared" not in printed
    assert nbcfast.load("checked").certificate.canonical.undeclared == ()
    assert len(nbcfast.load("checked").views.domain("age")) == 5  # that nobody is in a bin is not public


def test_nothing_is_overwritten_unasked(run, people, tmp_path):
    (tmp_path / "mine.json").write_text("{}", encoding="utf-8")
    code, printed, errors = run("domain", "people.csv", "--out", "mine.json")
    assert (code, printed) == (2, "")
    assert errors == "nbcfast: mine.json: exists; --overwrite replaces it\n"
    assert (tmp_path / "mine.json").read_text(encoding="utf-8") == "{}"
    assert run("domain", "people.csv", "--out", "mine.json", "--overwrite")[0] == 0
    assert run("domain", "people.csv", "--out", "people.csv", "--overwrite")[0] == 2
    assert people.read_text(encoding="utf-8") == HEADER + LINES


def test_as_json(found, people):
    document = found("domain", "people.csv")
    assert document["written"] == "domain.json"
    assert [column["domain"] for column in document["columns"]][:2] == [
        {"out": True},
        {"edges": [None, 20, 40, 60, 80, None]},
    ]
    assert document["from_rows"] == ["age", "job", "ill"]
    assert len(document["warnings"]) == 3


def test_how_the_file_is_read_is_asked_as_everywhere(run, people, tmp_path):
    (tmp_path / "odd.csv").write_text("a;n;y\n?;1;u\n3;2;v\n4;3;v\n", encoding="utf-8")
    options = ("--delimiter", ";", "--null", "?", "--weights", "n", "--text", "a")
    assert run("domain", "odd.csv", *options)[0] == 0
    written = json.loads((tmp_path / "domain.json").read_text(encoding="utf-8"))
    assert written["domain"] == {"a": {"values": ["3", "4", None]}, "y": {"values": ["u", "v"]}}


def test_a_file_without_rows_or_class_is_refused(run, people, tmp_path):
    (tmp_path / "none.csv").write_text(HEADER, encoding="utf-8")
    assert run("domain", "none.csv")[2] == "nbcfast: none.csv: no rows\n"
    code, _, errors = run("domain", "people.csv", "--class", "dx")
    assert code == 2
    assert "no column 'dx'" in errors
    assert not (tmp_path / "domain.json").exists()


@pytest.mark.parametrize(("verb", "name"), [("init", "p.toml"), ("domain", "d.json")])
def test_a_class_of_too_many_values_is_put_into_sets_before_anything_is_published(run, tmp_path, verb, name):
    file, out = tmp_path / "people.csv", tmp_path / name
    file.write_text("a,y\n" + "".join(f"{'uvw'[i % 3]},c{i % 300}\n" for i in range(900)), encoding="utf-8")
    code, printed, _ = run(verb, file, "--class", "y", "--out", out)
    printed = " ".join(printed.split())
    assert code == 0
    assert "Put the 300 values of y into 127 sets at most" in printed
    assert "nbcfast publish" not in printed
    assert "not listed" in printed
    assert "left out the class" not in printed
