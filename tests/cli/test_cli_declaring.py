"""Bins, sets and what is left out, as they are typed: --domain, --bin, --group and --leave-out."""

import json
import shlex

import pytest

import nbcfast

HEADER = "id,age,job,sex,ill\n"
JOBS = ["cook", "clerk", "smith", "nurse"]
ROWS = [
    (f"p{row}", 20 + 7 * row % 60, JOBS[row % 4], "fm"[row % 2], "yn"[(row // 4 + row) % 3 > 0])
    for row in range(400)
]
SETS = "cook;hand;work\nsmith;hand;work\nclerk;desk;work\nnurse;ward;work\n"


def lines(rows):
    return HEADER + "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(lines(ROWS[:300]), encoding="utf-8")
    (tmp_path / "others.csv").write_text(
        lines([(*row[:2], "pilot", *row[3:]) for row in ROWS[300:]]), encoding="utf-8"
    )
    (tmp_path / "sets.csv").write_text(SETS, encoding="utf-8")
    (tmp_path / "sets.json").write_text(
        '{"hand": ["cook", "smith"], "else": ["clerk", "nurse"]}', encoding="utf-8"
    )
    return tmp_path


PUBLISH = ("publish", "people.csv", "--class", "ill", "--amplification", "4", "--accept-answers")
TYPED = ("--bin", "age=40,60", "--group", "job=sets.csv", "--leave-out", "id,sex")


@pytest.fixture
def published(run, here):
    """The views of what is published with some options."""

    def published(*options):
        code, _, errors = run(*PUBLISH, "--out", "out", "--overwrite", *options)
        assert code == 0, errors
        return nbcfast.load("out").views

    return published


def test_words_typed_are_a_domain(published, here):
    views = published(*TYPED)
    assert {name: [str(value) for value in views.domain(name)] for name in views.attributes} == {
        "age": ["(-inf, 40)", "[40, 60)", "[60, inf)"],
        "job": ["hand", "desk", "ward"],
    }
    document = {
        "age": {"bin": "40,60"},
        "job": {"hierarchy": "sets.csv", "level": 1},
        "id": {"out": True},
        "sex": {"out": True},
    }
    (here / "domain.json").write_text(json.dumps(document), encoding="utf-8")
    assert published("--domain", "domain.json") == views


def test_levels_and_sets_in_json(published):
    assert published(*TYPED[:2], "--leave-out", "id", "--group", "job=sets.csv:2").domain("job") == ("work",)
    assert published("--leave-out", "id", "--bin", "age=40", "--group", "job=sets.json").domain("job") == (
        "hand",
        "else",
    )


def test_a_width_takes_its_range_from_the_rows_and_says_so(run, published):
    views = published("--bin", "age=twenties", "--leave-out", "id")
    assert [str(value) for value in views.domain("age")] == ["(-inf, 40)", "[40, 60)", "[60, inf)"]
    assert not views.domains["age"].declared
    assert "The values of age, job, sex and the class come from the rows" in run("verify", "out")[1]
    views = published("--bin", "age=twenties:0:100", "--leave-out", "id")
    assert len(views.domain("age")) == 5


def test_columns_that_are_not_used_may_stand_in_the_file(run, published, here):
    (here / "domain.json").write_text(
        '{"age": {"edges": [null, 40, null]}, "id": {"out": true}}', encoding="utf-8"
    )
    assert published("--domain", "domain.json", "--columns", "job,sex").attributes == ("job", "sex")
    (here / "domain.json").write_text('{"aeg": {"edges": [null, 40, null]}}', encoding="utf-8")
    code, _, errors = run(*PUBLISH, "--out", "o", "--domain", "domain.json", "--columns", "job,sex")
    assert (code, errors) == (
        2,
        "nbcfast: --domain domain.json: the table has no column 'aeg'; did you mean 'age'? It also "
        "has 'id', 'job', 'sex', 'ill'\n",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bin", "age"), "--bin must be NAME=BINS, got 'age'"),
        (("--bin", "=3"), "--bin must be NAME=BINS, got '=3'"),
        (("--bin", "age=old"), "--bin age: expected edges as 25,35,50"),
        (("--bin", "age=40,20"), "--bin age: expected edges that increase, got [40,20]"),
        (("--bin", "shoe=40"), "--bin: the table has no column 'shoe'; it has 'id', 'age'"),
        (
            ("--bin", "job=40"),
            "--bin: column 'job': expected numbers to bin, got text, such as 'clerk'",
        ),
        (
            ("--bin", "age=tens:0:50"),
            "--bin: column 'age': values 50, 51, 52, 53, 54 and 25 more lie outside",
        ),
        (("--bin", "age=40", "--bin", "age=50"), "--bin: column 'age' is declared twice"),
        (("--bin", "age=40", "--leave-out", "age"), "--bin and --leave-out: column 'age' is declared twice"),
        (
            ("--leave-out", "age", "--columns", "age,job"),
            "--leave-out: column 'age' is left out, and --columns names",
        ),
        (("--leave-out", "ill"), "--leave-out: column 'ill' is left out, and --class names it"),
        (
            ("--leave-out", "id", "--weights", "id"),
            "--leave-out: column 'id' is left out, and --weights names it",
        ),
        (("--leave-out", "ages"), "--leave-out: the table has no column 'ages'"),
        (("--leave-out", "age,,job"), "--leave-out must be names with commas between them"),
        (("--group", "job"), "--group must be NAME=FILE, got 'job'"),
        (("--group", "job=none.csv"), "none.csv: No such file"),
        (
            ("--group", "job=sets.csv:3"),
            '--group job: "sets.csv": line 1: expected a value and 3 sets or more',
        ),
        (("--group", "job=sets.csv:0"), "--group job: expected a level from 1"),
        (("--group", "job=sets.json:1"), "--group job: a level is for lines of value;set;larger set"),
        (
            ("--group", "sex=sets.csv"),
            "--group: column 'sex': values 'f' and 'm' are in none of its 3 groups",
        ),
        (
            ("--group", "age=sets.csv"),
            "more are in none of its 3 groups; the column was read as numbers: --text age",
        ),
        (("--domain", "people.csv"), "people.csv: not JSON"),
    ],
)
def test_what_is_typed_wrongly_is_said_in_one_line(run, here, options, message):
    code, printed, errors = run(*PUBLISH, "--out", "out", *options)
    assert (code, printed) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
    assert not (here / "out").exists()


def test_what_is_left_out_is_not_read(published, monkeypatch):
    """A column of a million names took as long to read as all others."""
    asked = []
    read = nbcfast.read_csv

    def read_csv(file, columns=None, **options):
        asked.append(columns)
        return read(file, columns=columns, **options)

    monkeypatch.setattr(nbcfast, "read_csv", read_csv)
    published(*TYPED)
    assert asked[0] == ["age", "job", "ill"]


def test_a_file_that_is_read_is_not_written_over(run, here):
    code, _, errors = run(*PUBLISH, *TYPED, "--out", "out", "--dataset", "sets.csv", "--overwrite")
    assert code == 2
    assert "sets.csv" in errors
    assert (here / "sets.csv").read_text(encoding="utf-8") == SETS


def test_verify_and_attack_put_raw_rows_into_sets(in_full, published, found):
    published(*TYPED)
    code, printed, _ = in_full("verify", "out", "--against", "people.csv")
    assert code == 1
    assert "value 'clerk' is not in the release" in printed
    assert (
        "with --weights NAME, --null TEXT, --delimiter CHAR, --text NAME, --domain FILE or --group NAME=FILE"
        in printed
    )
    code, printed, _ = in_full("verify", "out", "--against", "people.csv", "--group", "job=sets.csv")
    assert code == 0
    assert "ok  equivalence" in printed
    attacked = found(
        "attack", "out", "--against", "people.csv", "--group", "job=sets.csv", "--holdout", "others.csv"
    )
    assert attacked["against"]["answers_are_its"] is True
    code, _, errors = in_full("verify", "out", "--against", "people.csv", "--group", "job=sets.csv:2")
    assert code == 2
    assert "--group: column 'job': the release has other values: give what it was published with" in errors
    code, _, errors = in_full("verify", "out", "--bin", "age=40,60")
    assert code == 2
    assert "--domain, --bin, --group and --leave-out go with --against FILE or --tuples FILE" in errors


@pytest.mark.parametrize("method", ["canonical", "safetytransform"])
def test_raw_rows_are_put_into_sets_that_nobody_has_checked(in_full, found, published, here, method):
    """Bins that no row is in are not published then, and the file has them all the same."""
    edges = [None, 10, 40, 60, None]
    sets = {"groups": {"hand": ["cook", "smith"], "else": ["clerk", "nurse"], "none": ["pilot"]}}
    columns = {"age": {"edges": edges}, "job": sets, "sex": {"out": True}, "id": {"out": True}}
    document = {"domain": columns, "from_rows": ["age", "job"]}
    (here / "begun.json").write_text(json.dumps(document), encoding="utf-8")
    views = published("--domain", "begun.json", "--method", method)
    assert views.domain("job") == ("hand", "else")
    assert [str(value) for value in views.domain("age")] == ["[10, 40)", "[40, 60)", "[60, inf)"]
    code, printed, _ = in_full("verify", "out", "--against", "people.csv")
    assert (code, "--domain FILE or --group" in printed) == (1, True)
    asked = ("verify", "out", "--against", "people.csv", "--domain", "begun.json")
    code, printed, _ = in_full(*asked)
    assert (code, "ok  equivalence" in printed) == (0, True)
    attack = ("attack", "out", "--against", "people.csv", "--domain", "begun.json", "--holdout", "others.csv")
    attacked = found(*attack)
    assert attacked["against"]["answers_are_its"] is True
    assert attacked["membership"]["impossible"] == attacked["membership"]["others"] > 0
    # Who says that they were checked says that empty ones are public too, and it is no such release.
    (here / "begun.json").write_text(json.dumps({**document, "from_rows": ["job"]}), encoding="utf-8")
    code, _, errors = in_full(*asked)
    assert (code, "column 'age': the release has other values" in errors) == (2, True)
    columns["age"]["edges"] = [None, 50, None]
    (here / "begun.json").write_text(json.dumps(document), encoding="utf-8")
    code, _, errors = in_full(*asked)
    assert (code, "column 'age': the release has other values" in errors) == (2, True)


def test_rows_held_out_are_put_into_sets_too(here, found):
    """Pilots are in no set: a value that no row of the release has, as a number outside its bins is."""
    attack = ("attack", "out", "--against", "people.csv", "--group", "job=sets.csv", "--holdout")
    made = found(*PUBLISH, *TYPED, "--out", "out", "--holdout", "others.csv")["adversaries"]["membership"]
    assert made["impossible"] == made["others"] > 0
    assert found(*attack, "others.csv")["membership"] == made
    cooks = lines([(*row[:2], "cook", *row[3:]) for row in ROWS[300:]])
    (here / "cooks.csv").write_text(cooks, encoding="utf-8")
    assert found(*attack, "cooks.csv")["membership"]["impossible"] == 0


def test_closeness_and_attacks_on_tables_take_them(run, in_full, here):
    words = ("--class", "ill", *TYPED)
    code, printed, errors = in_full("closeness", "people.csv", *words, "--prior", "y=0.5,n=0.5")
    assert code == 0, errors
    assert "r of probabilities" in printed
    assert in_full("attack", "people.csv", *words, "--given", "job=hand")[0] == 0
    code, printed, _ = run("inspect", "people.csv", *words)
    assert code == 0
    assert "tuples in the domain     9\n" in printed


def test_a_column_that_names_people_is_refused_with_the_option(run, here):
    rows = [(f"p{row}", row % 50, "cook", "f", "yn"[row % 2]) for row in range(2000)]
    (here / "many.csv").write_text(lines(rows), encoding="utf-8")
    code, printed, errors = run("publish", "many.csv", *PUBLISH[2:], "--out", "out")
    assert (code, errors) == (1, "")
    command = "publish many.csv --class ill --amplification 4 --out out --accept-answers --leave-out id"
    assert f"     nbcfast {command}\n" in printed
    assert run(*shlex.split(command))[0] == 0
    for verb, more in (("closeness", ("--prior", "y=0.5,n=0.5")), ("inspect", ("--max-values", "50"))):
        code, printed, errors = run(verb, "many.csv", "--class", "ill", *more)
        assert (code, errors) == (1, "")
        assert run(*shlex.split(printed.splitlines()[-1])[1:])[0] == 0


def test_numbers_that_no_python_reads_are_named(run, here):
    long = "1" * 5000
    texts = {
        "menu.json": f'{{"job": [["a"]], "age": [{{"edges": [null, {long}, null]}}]}}',
        "domain.json": f'{{"domain": {{"age": {{"edges": [null, -{long}, null]}}}}}}',
        "sets.json": f'{{"old": [{long}]}}',
        "scheme.json": f'{{"kind": "binary", "groups": [[{long}, ["age"]]]}}',
        "cuts.json": f'{{"age": {{"cut": {long}}}}}',
    }
    for name, text in texts.items():
        (here / name).write_text(text, encoding="utf-8")
    said = "expected numbers of at most 4,300 digits, got one of 5,000"
    disguise = ("response", "disguise", "people.csv", "--out", "answers")
    for command, where in (
        (("advise", *PUBLISH[1:4], "--menu", "menu.json"), "menu.json: column 'age': "),
        ((*PUBLISH, "--out", "out", "--domain", "domain.json"), "domain.json: column 'age': "),
        ((*PUBLISH, "--out", "out", "--group", "age=sets.json"), "sets.json: set 'old': "),
        ((*disguise, "--scheme", "scheme.json"), "scheme.json: 'groups': "),
        (
            (*disguise, "--theta", "0.8", "--groups", "age", "--cuts", "cuts.json"),
            "cuts.json: not cuts as they",
        ),
    ):
        code, printed, errors = run(*command)
        assert (code, printed) == (2, ""), errors
        assert where in errors
        assert said in errors
        assert "sys." not in errors
