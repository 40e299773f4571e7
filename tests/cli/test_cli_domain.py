"""`nbcfast domain`: a domain file to begin with."""

import json

import pytest

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
    assert "Check every line of domain.json against the code book" in printed
    assert json.loads((tmp_path / "domain.json").read_text(encoding="utf-8")) == {
        "id": {"out": True},
        "age": {"edges": [None, 20, 40, 60, 80, None]},
        "job": {"values": ["clerk", "cook"]},
        "ill": {"values": ["n", "y"]},
    }
    arguments = ("publish", "people.csv", "--class", "ill", "--amplification", "4", "--accept-answers")
    assert run(*arguments, "--out", "out", "--domain", "domain.json")[0] == 0


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
    assert len(document["warnings"]) == 2


def test_how_the_file_is_read_is_asked_as_everywhere(run, people, tmp_path):
    (tmp_path / "odd.csv").write_text("a;n;y\n?;1;u\n3;2;v\n4;3;v\n", encoding="utf-8")
    options = ("--delimiter", ";", "--null", "?", "--weights", "n", "--text", "a")
    assert run("domain", "odd.csv", *options)[0] == 0
    written = json.loads((tmp_path / "domain.json").read_text(encoding="utf-8"))
    assert written == {"a": {"values": ["3", "4", None]}, "y": {"values": ["u", "v"]}}


def test_a_file_without_rows_or_class_is_refused(run, people, tmp_path):
    (tmp_path / "none.csv").write_text(HEADER, encoding="utf-8")
    assert run("domain", "none.csv")[2] == "nbcfast: none.csv: no rows\n"
    code, _, errors = run("domain", "people.csv", "--class", "dx")
    assert code == 2
    assert "no column 'dx'" in errors
    assert not (tmp_path / "domain.json").exists()
