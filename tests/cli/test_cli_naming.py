"""Errors of the command line name the option as it is typed, and the file."""

import random

import pytest
from accepting import ANYHOW

pytest.importorskip("pyarrow")
pytest.importorskip("click")

HAS = "has no column 'nope'; it has 'age', 'job', 'sex', 'ill'"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("naming")
    rng = random.Random(1)
    rows = [f"{rng.randrange(20, 26)},{rng.choice('abc')},{rng.choice('fm')},{i % 2}" for i in range(80)]
    (path / "p.csv").write_text(
        "\n".join(["age,job,sex,ill", *rows]).replace(",0", ",no").replace(",1", ",yes")
    )
    (path / "h.csv").write_text("age,job\n20,a\n21,b\n")
    return path


@pytest.fixture
def there(run, place, monkeypatch):
    monkeypatch.chdir(place)
    if not (place / "rel").exists():
        assert run(*ANYHOW, "p.csv", "--class", "ill", "--amplification", 4, "--out", "rel")[0] == 0
        assert (
            run("response", "disguise", "p.csv", "--theta", "0.8", "--groups", "ill", "--out", "told")[0] == 0
        )
    return place


PUBLISH = (*ANYHOW, "p.csv", "--amplification", 4, "--out", "no", "--class")
JUDGED = ("p.csv", "--by", "age", "--sensitive", "ill")
SPLIT = ("skyline", "anonymize", "p.csv", "--sensitive", "ill", "--out", "no")
HALF = "age -> ill=yes <= 50%"
LIES = ("response", "disguise", "p.csv", "--out", "no", "--groups")
CLOSE = ("closeness", "p.csv", "--class", "ill", "--prior")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*PUBLISH, "nope"), f"--class: p.csv {HAS}"),
        ((*PUBLISH, "ill", "--columns", "age,nope"), f"--columns: p.csv {HAS}"),
        ((*PUBLISH, "ill", "--weights", "nope"), f"--weights: p.csv {HAS}"),
        ((*PUBLISH, "ill", "--text", "nope"), f"--text: p.csv {HAS}"),
        (
            (*PUBLISH, "ill", "--holdout", "h.csv"),
            "--holdout: h.csv has no column 'sex'; it has 'age', 'job'",
        ),
        ((*PUBLISH, "ill", "--tuples", "h.csv"), "--tuples: h.csv has no column 'sex'; it has 'age', 'job'"),
        (("inspect", "p.csv", "--class", "nope"), f"--class: p.csv {HAS}"),
        (
            ("verify", "rel", "--against", "h.csv"),
            "--against: h.csv has no column 'sex'; it has 'age', 'job'",
        ),
        (("verify", "rel", "--against", "p.csv", "--weights", "nope"), f"--weights: p.csv {HAS}"),
        (
            ("attack", "rel", "--against", "h.csv"),
            "--against: h.csv has no column 'sex'; it has 'age', 'job'",
        ),
        (("attack", "p.csv", "--class", "ill", "--breach", "x", 1), "--breach: L1 must be a finite number, "),
        ((*CLOSE, "no=.5,yes=x"), "--prior of class 'yes' must be a finite number, got 'x'"),
        ((*CLOSE, "no=1/2,yes=1/2", "--r", "x"), "--r must be a finite number, got 'x'"),
        (
            ("skyline", "check", "p.csv", "--by", "nope", *JUDGED[3:], "--point", "0,0,0,1"),
            f"--by: p.csv {HAS}",
        ),
        (("skyline", "check", *JUDGED, "--weights", "nope", "--point", "0,0,0,1"), f"--weights: p.csv {HAS}"),
        (
            ("skyline", "check", *JUDGED, "--point", "0,0,0,1", "--point", "0,0,0,2"),
            "--point '0,0,0,2': confidence must be in (0, 1], got 2",
        ),
        (("skyline", "find", *JUDGED, "--confidence", 2), "--confidence must be in (0, 1], got '2'"),
        (
            ("skyline", "find", *JUDGED, "--confidence", "0.5", "--plot", "x.xyz"),
            "--plot must end in .png, .svg, .pdf, got 'x.xyz'",
        ),
        ((*SPLIT, "--by", "nope", "--k", 2), f"--by: p.csv {HAS}"),
        ((*SPLIT, "--by", "nope", "--k", 2, "--memory-limit", "1GiB"), f"--by: p.csv {HAS}"),
        ((*SPLIT, "--by", "age", "--k", 2, "--target", "nope"), f"--target: p.csv {HAS}"),
        (
            (*SPLIT, "--by", "age", "--k", 2, "--memory-limit", "x"),
            "--memory-limit must be bytes such as ",
        ),
        ((*SPLIT, "--by", "age", "--k", 2, "--memory-limit", 3), "--memory-limit: 3 bytes are too few "),
        ((*SPLIT, "--by", "age"), "expected a demand: --point, --k, --diversity or --closeness; got none"),
        (
            (*SPLIT, "--by", "age", "--k", 2, "--hierarchy", "job=h.csv"),
            "--hierarchy: expected quasi-ident",
        ),
        (
            ("templates", "check", "p.csv", "--template", "nope -> ill=yes <= 50%"),
            "--template 'nope -> ill=yes <= 50%': expected columns of 'age', 'job', 'sex', 'ill'; got 'nope'",
        ),
        (
            ("templates", "check", "p.csv", "--template", "ill -> ill=yes <= 50%"),
            "--template 'ill -> ill=yes <= 50%': what is known must not hold the sensitive column",
        ),
        (("templates", "check", "p.csv", "--weights", "nope", "--template", HALF), f"--weights: p.csv {HAS}"),
        (
            ("templates", "disclose", "p.csv", "--template", HALF, "--columns", "nope"),
            f"--columns: p.csv {HAS}",
        ),
        (
            ("templates", "disclose", "p.csv", "--template", HALF, "--continuous", "job"),
            "--continuous: expected columns ",
        ),
        ((*LIES, "nope", "--theta", "0.8"), f"--groups: p.csv {HAS}"),
        ((*LIES, "ill", "--theta", "2"), "--theta must be in [0, 1], got 2"),
        ((*LIES, "ill", "--theta", "x"), "--theta must be a finite number, got 'x'"),
        ((*LIES, "ill", "--theta", "0.8,0.9"), "--theta: expected one for each of 1 groups, got 2"),
        ((*LIES, "ill", "--theta", "0.8", "--keep", "nope"), f"--keep: p.csv {HAS}"),
        ((*LIES, "age", "--theta", "0.8"), "column 'age' must have two values in a binary scheme, got 6: "),
        (
            ("response", "estimate", "told", "--class", "ill", "--confidence", 2),
            "--confidence must be in (0, 1), got 2",
        ),
        (
            ("response", "estimate", "told", "--class", "ill", "--columns", "nope"),
            "--columns: told has no column 'nope'",
        ),
        (
            ("response", "estimate", "told", "--class", "ill", "--holdout", "h.csv"),
            "--holdout: h.csv has no column 'ill'; it ",
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_option_and_the_file(refused, there, arguments, message):
    assert refused(*arguments).startswith(message)
    assert not (there / "no").exists()


def test_no_message_speaks_python(refused, there):
    said = refused(*LIES, "age", "--theta", "0.8")
    assert said.endswith("; --binarise cuts it in two, and --k-ary takes it as it is")


def test_of_many_columns_some_are_named(refused, there):
    (there / "wide.csv").write_text(",".join(f"c{number}" for number in range(99)) + "\n" + "1," * 98 + "1\n")
    said = refused("inspect", "wide.csv", "--class", "nope")
    assert said.endswith("'c18', 'c19' and 79 more")


@pytest.fixture
def bad(tmp_path, monkeypatch):
    """Files that are not as they should be, in the current folder."""
    monkeypatch.chdir(tmp_path)
    contents = {
        "ok.csv": b"a,dx\n1,y\n2,n\n",
        "twice.csv": b"a,a,dx\n1,2,y\n2,1,n\n",
        "latin.csv": b"a,dx\ncaf\xe9,y\nb,n\n",
        "head.csv": b"caf\xe9,dx\n1,y\n",
        "semi.csv": b"a;dx\n1;y\n",
        "other.csv": b"a,x\n1,2\n",
        "bad.json": b"nope",
        "unknown.json": b'{"b": [1]}',
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)


MADE = ("--class", "dx", "--amplification", "4", "--out", "o")
DELIMITER = "it has 'a;dx'; it looks like a file with ';' between fields: give --delimiter ';' if it is"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ANYHOW, "twice.csv", *MADE), "twice.csv: expected distinct column names, got 'a' twice"),
        (
            (*ANYHOW, "latin.csv", *MADE),
            "latin.csv: line 2, column 'a', byte 9: 0xE9 is not UTF-8; it looks like ",
        ),
        (
            ("templates", "check", "head.csv", "--template", "a -> dx=y <= 1"),
            "give --encoding cp1252 if it is",
        ),
        ((*ANYHOW, "semi.csv", *MADE), f"--class: semi.csv has no column 'dx'; {DELIMITER}"),
        (
            ("templates", "check", "semi.csv", "--template", "a -> dx=y <= 1"),
            "give --delimiter ';' if that stands between",
        ),
        (
            (*ANYHOW, "ok.csv", *MADE, "--domain", "bad.json"),
            "--domain: bad.json: not JSON: Expecting value",
        ),
        (
            (*ANYHOW, "ok.csv", *MADE, "--domain", "bad.json"),
            'expected as {"sex": ["female", "male"], "age": {"edges": [0, 18, 65, null]}}',
        ),
        (
            (*ANYHOW, "ok.csv", *MADE, "--domain", "unknown.json"),
            "--domain unknown.json: the table has no column 'b'; it has 'a', 'dx'",
        ),
        (
            *[
                (
                    *("skyline", "anonymize", "ok.csv", "--by", "a", "--sensitive", "dx", "--k", "2"),
                    *("--out", "o", "--holdout", "other.csv"),
                )
            ],
            "--holdout: other.csv has no column 'dx'; did you mean 'x'? It also has 'a'",
        ),
        (
            ("response", "plan", "--theta", "0.8", "--groups", "a", "--error", "2"),
            "--error must be above 0 and below 1, or 100%, got 2",
        ),
        (
            ("response", "plan", "--theta", "0.8", "--groups", "a", "--accuracy", "100%"),
            "--accuracy must be above 0 and below 1, or 100%, got 100%",
        ),
    ],
)
def test_what_is_wrong_with_a_file_or_a_number_is_said_in_words_to_act_on(bad, refused, arguments, message):
    assert message in refused(*arguments)


def test_an_error_may_be_a_percentage(run):
    plan = ("response", "plan", "--theta", "0.8", "--groups", "a", "--error")
    assert run(*plan, "2%") == run(*plan, "0.02")
    assert run(*plan, "2%")[0] == 0


TWO_LINES = "must be one line, where a name with a line break stands in double quotes; got 'a\\rb'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # What was typed is not taken for the name of another option.
        (
            ("skyline", "check", "p.csv", "--by", "--columns,,a", *JUDGED[3:], "--point", "0,0,0,1"),
            "--by must be names with commas between them, got '--columns,,a'",
        ),
        (
            (*LIES, "ill", "--theta", "0.8", "--keep", ",,"),
            "--keep must be names with commas between them, got ",
        ),
        ((*LIES, "ill", "--theta", "0.8", "--keep", "age,age"), "--keep names 'age' twice"),
        ((*LIES, "ill", "--theta", "0.8", "--keep", "a\rb"), f"--keep {TWO_LINES}"),
        ((*LIES, "a\rb", "--theta", "0.8"), f"--groups {TWO_LINES}"),
        ((*CLOSE, "a\rb"), f"--prior {TWO_LINES}"),
        (("inspect", "p.csv", "--class", "ill", "--columns", "a\rb"), f"--columns {TWO_LINES}"),
        (("inspect", "p.csv", "--class", "ill", "--null", "a\rb", "--text", "nope"), f"--text: p.csv {HAS}"),
        (
            ("templates", "disclose", "p.csv", "--template", HALF, "--continuous", "a\rb"),
            f"--continuous {TWO_LINES}",
        ),
    ],
)
def test_a_list_is_named_by_its_own_option(refused, there, arguments, message):
    assert refused(*arguments).startswith(message)
