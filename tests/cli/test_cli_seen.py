"""`nbcfast inspect` without a class: what columns look like, and what to type next."""

import json
import shlex
from pathlib import Path

import pytest

import nbcfast
from nbcfast._reading import seen
from nbcfast._reading.seen import SeenColumn
from nbcfast.publishing.looks import looks_of

pytest.importorskip("pyarrow")
pytest.importorskip("click")

ROWS = 60
COLUMNS = {
    "id": [f"P{row}" for row in range(ROWS)],
    "age": [str(20 + row % 30) for row in range(ROWS)],
    "hours": ["?" if row % 20 == 0 else str(row % 40) for row in range(ROWS)],
    "job": [" ?" if row % 10 == 0 else "abc"[row % 3] for row in range(ROWS)],
    "since": ["" if row == 3 else f"20{row % 20:02d}-01-31" for row in range(ROWS)],
    "same": ["x"] * ROWS,
    "none": [""] * ROWS,
    "n": [str(1 + row % 3) for row in range(ROWS)],
    "ill": ["no", "yes", "no"] * (ROWS // 3),
}
LOOKS = {
    "id": "nearly an id: leave it out",
    "age": "numbers: bin it",
    "hours": "numbers but for '?': --null '?'",
    "job": "' ?' as missing? --null ' ?'",
    "since": "dates: bin it",
    "same": "one value only: leave it out",
    "none": "no value in any row: leave it out",
    "n": "how often a row counts? --weights n",
    "ill": "categories",
}


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [",".join(COLUMNS), *(",".join(row) for row in zip(*COLUMNS.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "people.csv"


def test_each_column_looks_like_something(run, file):
    code, out, err = run("inspect", file)
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert {name for name, look in LOOKS.items() if not lines[name].endswith(look)} == set()
    assert "20 .. 49" in lines["age"]
    assert "0 .. 39" not in lines["hours"]
    assert "1 .. 39" in lines["hours"]
    assert "2000-01-31 .. 2019-01-31" in lines["since"]
    assert " 3 ?" in lines["hours"]
    assert out.count("not for publication") == 1


def test_the_next_commands_run_as_they_are_printed(run, file):
    answer = json.loads(run("inspect", file, "--class", "ill", "--json")[1])
    assert answer["next"] == [
        "nbcfast domain people.csv --class ill --null '' --null '?' --null ' ?'",
        "nbcfast advise people.csv --class ill --null '' --null '?' --null ' ?' --leave-out id,same,none "
        "--write-menu menu.json",
    ]
    assert run(*shlex.split(answer["next"][0])[1:])[0] == 0
    asked = json.loads(run("inspect", file, "--json", "--null", "?", "--null", "")[1])
    said = "people.csv --class ill --null '?' --null '' --null ' ?'"
    assert asked["next"][:2] == [f"nbcfast inspect {said}", f"nbcfast domain {said}"]


def test_json_is_complete(run, file):
    code, out, err = run("inspect", file, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert (answer["file"], answer["rows"]) == ("people.csv", ROWS)
    found = {column.pop("name"): column for column in answer["columns"]}
    assert list(found) == list(COLUMNS)
    assert found["hours"] == {
        "kind": "text",
        "values": 39,
        "more_values": False,
        "missing": 0,
        "maybe_missing": {"?": 3},
        "least": 1,
        "greatest": 39,
        "first": [{"value": "?", "rows": 3}, *({"value": str(value), "rows": 2} for value in (1, 2, 3, 4))],
        "looks_like": "numbers but for '?'",
        "to_do": "--null '?'",
        "leave_out": False,
    }
    assert found["since"]["missing"] == 1
    with_class = json.loads(run("inspect", file, "--class", "ill", "--json")[1])
    assert [column["name"] for column in with_class["columns"]] == list(COLUMNS)
    assert with_class["columns"][-1]["looks_like"] == "the class"
    assert (with_class["rows"], with_class["class"]) == (ROWS, "ill")


def test_columns_and_weights(run, file):
    answer = json.loads(run("inspect", file, "--columns", "job,age", "--weights", "n", "--json")[1])
    assert [column["name"] for column in answer["columns"]] == ["job", "age", "n"]
    assert answer["columns"][2]["looks_like"] == "how often a row counts"
    assert "warnings" not in answer


def test_more_values_than_are_kept_are_said(run, file, monkeypatch):
    monkeypatch.setattr(seen, "MOST_KEPT", 5)
    _, out, _ = run("inspect", file)
    assert "over 5 " in out
    assert "so many are told apart, those that came first" in out


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a,b\n", (), "x.csv: no rows"),
        ("", (), "x.csv: the file is empty, and a line with the names of columns is wanted"),
        (
            "a,b\n1,2\n",
            ("--columns", "A"),
            "--columns: x.csv has no column 'A'; did you mean 'a'? It also has 'b'",
        ),
        ("a,b\n1,2\n", ("--leave-out", "a"), "--domain, --bin, --group and --leave-out go with --class NAME"),
    ],
)
def test_what_is_refused(refused, tmp_path, monkeypatch, content, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(content)
    assert message in refused("inspect", "x.csv", *arguments)


def test_what_a_file_that_was_read_looks_like_is_said(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a;b\n1;2\n3;4\n")
    code, out, _ = run("inspect", "x.csv")
    assert code == 0
    assert (
        "x.csv was read, but it looks like a file with ';' between fields: give --delimiter ';' if it is."
        in out
    )
    assert "was read, but" not in run("inspect", "x.csv", "--delimiter", ";")[1]


def test_a_column_of_numbers_but_for_a_mark_is_said_wherever_it_is_counted(run, file):
    said = (
        "hours holds numbers but for '?', and is read as text: if '?' says that a value is missing, give "
        "--null '?'; --text hours says that text is meant."
    )
    asked = ("--class", "ill", "--columns", "hours,n")
    assert f"- {said}\n" in run("inspect", file, *asked)[1]
    answer = json.loads(run("inspect", file, *asked, "--json")[1])
    assert said in answer["warnings"]
    for options in (("--null", "?", "--null", ""), ("--text", "hours")):
        assert "is read as text" not in run("inspect", file, *asked, *options)[1]


def test_another_encoding_everywhere(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "größe,ill\n" + "1,ja\n2,nein\n1,nein\n" * 20
    (tmp_path / "u.csv").write_bytes(text.encode("utf-16"))
    (tmp_path / "w.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    expected = run("inspect", "p.csv", "--class", "ill")[1]
    for name, encoding in (("u.csv", "utf-16"), ("w.csv", "cp1252")):
        found = run("inspect", name, "--class", "ill", "--encoding", encoding)[1]
        assert found.replace(f" --encoding {encoding}", "").replace(name, "p.csv") == expected
        judged = ("--by", "größe", "--sensitive", "ill", "--confidence", "0.9", "--encoding", encoding)
        assert run("skyline", "find", name, *judged)[0] in (0, 1)


@pytest.mark.parametrize(
    ("texts", "example"), [(("67", "01", "02"), "01"), (("1", "16.00"), "16.00"), (("2", "1e3"), "1e3")]
)
def test_numbers_that_are_texts_are_shown_by_one_of_the_column(texts, example):
    column = SeenColumn("x", "text", 2_000, texts, (9,) * len(texts), False, 0, "1", "67", True)
    assert looks_of(column).text == f"numbers, as {example}: bin it"


@pytest.mark.parametrize(
    ("texts", "look"),
    [
        (["31.12.2020", "01.02.2021"], "dates: write them as 2020-12-31"),
        (["12/31/2020", "1/2/2021"], "dates: write them as 2020-12-31"),
        (["01:30:00", "100:00:01"], "times or durations: write them as numbers"),
        (["1 days 02:00:00", "2 days 03:00:00.5"], "times or durations: write them as numbers"),
        (["PT1H", "P2DT3S"], "times or durations: write them as numbers"),
        (["1,5", "1.234,25"], "numbers with a decimal comma: write them with a point"),
        (["Male", "male "], "'Male' and 'male ' are one value? write them alike"),
        (["a" * 60, "b" * 60], "free text: leave it out"),
        ([f"t{place}" for place in range(101)], "101 texts: put them into sets, or leave it out"),
        (["a", "b"], "categories"),
    ],
)
def test_texts_look_like_what_they_are(texts, look):
    column = SeenColumn("x", "text", 2_000, tuple(texts), (1,) * len(texts), False, 0, None, None, False)
    assert looks_of(column).text == look


@pytest.fixture
def missing(tmp_path, monkeypatch):
    """A table in which two texts say that a value is missing, and a release that has null for both."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{('u', 'v', '?', '')[i % 4]},{'kl'[i % 3 > 0]},{'pq'[i % 5 < 2]}" for i in range(240)]
    Path("p.csv").write_text("\n".join(["a,b,y", *rows]) + "\n", encoding="utf-8")
    Path("p.toml").write_text(
        '[release]\nclass = "y"\namplification = 4\n[limits]\nundeclared_columns = "none"\n', encoding="utf-8"
    )
    table = nbcfast.read_csv("p.csv", null_values=["", "?"])
    nbcfast.canonical.release(nbcfast.count(table, "y"), 4, class_name="y").save("release")


@pytest.mark.parametrize(
    "verb", ["inspect p.csv --class y", "inspect p.csv", "advise p.csv --class y --write-menu menu.json"]
)
def test_an_empty_text_that_other_nulls_made_a_value_is_said(run, missing, verb):
    code, printed, _ = run(*verb.split(), "--null", "?")
    replacing = " --overwrite" if "advise" in verb else ""
    assert code == 0
    assert "where --null is given it is a value, here of a." in printed
    assert f"     nbcfast {verb} --null '?' --null ''{replacing}\n" in printed.replace(
        "--null '?' --write-menu menu.json", "--write-menu menu.json --null '?'"
    )
    for nulls in (["--null", "?", "--null", ""], []):
        again = ["--overwrite"] if "advise" in verb else []
        assert "where --null is given" not in run(*verb.split(), *nulls, *again)[1]


@pytest.mark.parametrize(
    "verb", ["verify release --against p.csv", "gate release --policy p.toml --against p.csv"]
)
def test_missing_values_of_a_table_beside_a_release_are_a_whole_command(run, missing, verb):
    printed = run(*verb.split())[1]
    assert "If '?' of p.csv says that a value is missing, compare again." in printed
    assert f"     nbcfast {verb} --null '' --null '?'\n" in printed
    assert "compare again" not in run(*verb.split(), "--null", "", "--null", "?")[1]
