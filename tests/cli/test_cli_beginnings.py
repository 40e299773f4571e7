"""A column that may say how often a row counts is named where nobody said so, and no other column is."""

import gzip
import json

import pytest

import nbcfast
from nbcfast.publishing.beginnings import beginning_of, header_of, uncounted

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COUNTED = """job,land,ill,{}
cook,US,no,40
cook,UK,yes,10
clerk,US,yes,1
clerk,UK,no,1
clerk,UK,yes,8
cook,UK,no,2
"""
TEMPLATE = "land -> ill=yes <= 75%"
WORDS = "Every row counts once, and column {!r} holds whole numbers: if it says how often a row counts, give"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(COUNTED.format("n"), encoding="utf-8")
    return path


def remark(file, **options):
    arguments = {"weights": None, "delimiter": None, "used": ["job"], **options}
    return uncounted(file, **arguments)


def test_check_says_what_it_counted(in_full, file):
    code, out, _ = in_full("templates", "check", file, "--template", TEMPLATE)
    assert code == 0
    assert "6 people in 6 rows, each counts once\n" in out
    assert WORDS.format("n") in out
    assert "all templates hold, if every row counts once" in out
    found = json.loads(in_full("templates", "check", file, "--template", TEMPLATE, "--json")[1])
    assert (found["rows"], found["people"]) == (6, 6)
    assert found["warnings"][0].startswith(WORDS.format("n"))
    code, out, _ = in_full(
        "templates", "check", file, "--template", "land -> ill=yes <= 80%", "--weights", "n"
    )
    assert code == 1
    assert "62 people in 6 rows, counted by n\n" in out
    assert "counts once" not in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("templates", "check", "--template", TEMPLATE),
        ("templates", "disclose", "--template", TEMPLATE, "--no-attack"),
        ("templates", "disclose", "--template", TEMPLATE, "--no-attack", "--columns", "land,ill"),
        ("skyline", "check", "--by", "job", "--sensitive", "ill", "--point", "0,0,0,0.99"),
        ("skyline", "find", "--by", "job", "--sensitive", "ill", "--confidence", "0.99"),
        ("skyline", "anonymize", "--by", "job", "--sensitive", "ill", "--k", "2", "--out", "made"),
        ("inspect", "--class", "ill"),
        ("publish", "--class", "ill", "--amplification", "40", "--out", "made"),
        ("publish", "--class", "ill", "--amplification", "40", "--out", "made", "--columns", "job,land"),
        ("closeness", "--class", "ill", "--prior", "yes=0.5,no=0.5"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_verb_names_the_column(run, file, arguments, monkeypatch):
    monkeypatch.chdir(file.parent)
    verb = arguments[: 2 if arguments[0] in ("skyline", "templates") else 1]
    command = (*verb, file, *arguments[len(verb) :])
    _, out, _ = run(*command)
    assert WORDS.format("n") in out
    again = ("--overwrite",) if "--out" in command else ()
    _, out, _ = run(*command, *again, "--json")
    assert [text for text in json.loads(out)["warnings"] if text.startswith(WORDS.format("n"))]
    _, out, _ = run(*command, *again, "--weights", "n")
    assert "counts once," not in out


def test_a_column_that_is_named_is_no_count(run, file):
    _, out, _ = run("templates", "check", file, "--template", "n -> ill=yes <= 75%")
    assert "if it says how often" not in out


def test_which_columns_look_like_counts(tmp_path):
    path = tmp_path / "people.csv"

    def found(text, **options):
        path.write_text(text, encoding="utf-8")
        return [one.split("column ")[1].split("'")[1] for one in remark(path, **options)]

    for name in ("n", "N", "count", "weight", "freq", "Frequency", "n_people", "number_of_rows"):
        assert found(COUNTED.format(name)) == [name]
        assert found(COUNTED.format(name), implied=True) == [name]
        assert found(COUNTED.format(name), used=[name]) == []
        assert found(COUNTED.format(name), weights=name) == []
    # Of another name: only where it stands unused beside rows that are distinct without it.
    assert found(COUNTED.format("anzahl")) == ["anzahl"]
    assert found(COUNTED.format("anzahl"), implied=True) == []
    assert found(COUNTED.format("anzahl") + "cook,UK,no,7\n") == []  # two rows are equal without it
    people = "name,job,age\nann,cook,30\nbob,cook,31\ncid,clerk,30\n"
    assert found(people) == []  # rows are people: a name tells them apart
    assert found("job,land,age,size\ncook,US,30,170\ncook,UK,31,180\nclerk,US,30,170\n") == []
    # Numbers that are no counts, whatever they are called.
    for numbers in ("1,1,1", "0,2,1", "1.5,2,1", "-1,2,1", "x,2,1", ",2,1"):
        one, two, three = numbers.split(",")
        assert found(f"job,n\ncook,{one}\nclerk,{two}\nvicar,{three}\n") == []


def test_the_beginning_of_each_kind_of_file(tmp_path):
    plain = {"job": ["cook", "clerk"], "n": ["4", "2"]}
    text = "job,n\ncook,4\nclerk,2\n"
    (tmp_path / "a.csv").write_text("\ufeff" + text, encoding="utf-8")
    (tmp_path / "b.tsv").write_text(text.replace(",", "\t"), encoding="utf-8")
    (tmp_path / "c.txt").write_text(text.replace(",", ";"), encoding="utf-8")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text.encode()))
    pq.write_table(pa.table({"job": ["cook", "clerk"], "n": [4, 2]}), tmp_path / "e.parquet")
    for name, mark in (
        ("a.csv", None),
        ("b.tsv", None),
        ("c.txt", ";"),
        ("d.csv.gz", None),
        ("e.parquet", None),
    ):
        assert beginning_of(tmp_path / name, mark) == plain, name
        assert header_of(tmp_path / name, mark) == ["job", "n"], name
    for name, content in (
        ("f.csv", b"\xff\xfe"),
        ("g.csv.gz", b"no gzip"),
        ("h.parquet", b"no parquet"),
        ("i.csv", b""),
        ("j.csv", b"a,a\n1,2\n"),
    ):
        (tmp_path / name).write_bytes(content)
        assert remark(tmp_path / name) == []
    assert remark(tmp_path / "nothing.csv") == []
    assert remark(tmp_path) == []


def test_a_long_file_is_read_at_its_beginning_alone(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("job,n\n" + "cook,2\n" * 300_000 + "cook,x\n", encoding="utf-8")
    found = beginning_of(path, None)
    assert len(found["n"]) == 1_000
    assert [text for text in remark(path) if WORDS.format("n") in text]
    path.write_text("job,n\n" + f"{'c' * 100_000},2\n" * 30, encoding="utf-8")
    assert beginning_of(path, None)["n"] == ["2"] * 10  # the eleventh line is cut


def test_names_that_a_terminal_takes_for_commands_are_escaped(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(COUNTED.format("\x1b[2J"), encoding="utf-8")
    (said,) = remark(path)
    assert "\x1b" not in said
    assert nbcfast.read_csv(path).n_rows == 6


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_quoted_name_may_have_lines(run, tmp_path, ending):
    file = tmp_path / "a.csv"
    rows = ["x,1,no", "y,2,yes", "x,2,no", "y,1,yes", "x,1,yes", "y,2,no"] * 30
    file.write_text(ending.join(['"b\n""c""",n,ill', *rows, ""]), encoding="utf-8", newline="")
    assert header_of(file, None) == ['b\n"c"', "n", "ill"] == list(nbcfast.read_csv(file).names)
    domain, out = tmp_path / "domain.json", tmp_path / "out"
    asked = ("--min-flip", "none", "--max-found", "none")
    code, _, errors = run("advise", file, "--class", "ill", *asked, "--out", domain)
    assert (code, errors) == (0, "")
    asked += ("--amplification", "4", "--domain", domain, "--out", out, "--accept-answers")
    code, _, errors = run("publish", file, "--class", "ill", *asked)
    assert (code, errors) == (0, "")
