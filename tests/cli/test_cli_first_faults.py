"""What a first user does wrong: the first line says what it is, and what is printed can be pasted."""

import json
import shlex

import pytest

MENU = {"job": [["cook", "smith", "?"], {"out": True}], "ill": [["no", "yes"]]}
LIMITED = ("--amplification", "4", "--out", "release")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs, classes = ("cook", "smith", "?"), ("no", "yes", "no", "yes", "yes")
    rows = [(jobs[place % 3], 20 + place % 2, place, classes[place % 5]) for place in range(1200)]
    for name, mark, header in (("people.csv", ",", "job,age,id,ill"), ("semi.csv", ";", "job;age;id;ill")):
        lines = [header, *(mark.join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    return tmp_path


def commands(printed):
    return [line.strip() for line in printed.splitlines() if line.strip().startswith("nbcfast ")]


@pytest.mark.parametrize("verb", ["publish", "advise", "inspect", "domain", "init"])
def test_the_delimiter_is_said_before_anything_of_people(run, folder, verb):
    more = LIMITED if verb == "publish" else ()
    code, printed, errors = run(verb, "semi.csv", "--class", "ill", *more)
    assert (code, printed) == (2, "")
    assert errors.startswith("nbcfast: --class: semi.csv has no column 'ill'; it has 'job;age;id;ill'")
    assert "give --delimiter ';'" in errors
    assert "names people" not in errors


def test_inspect_says_the_delimiter_first(run, folder):
    code, printed, _ = run("inspect", "semi.csv")
    assert (code, "nearly an id" in printed, "several columns in one" in printed) == (0, False, True)
    assert commands(printed) == ["nbcfast inspect semi.csv --delimiter ';'"]
    code, printed, _ = run(*shlex.split(commands(printed)[0])[1:])
    assert (code, "columns  4" in printed) == (0, True)
    (folder / "tabs.csv").write_text("a\tb\n1\t2\n", encoding="utf-8")
    assert commands(run("inspect", "tabs.csv")[1]) == ["nbcfast inspect tabs.csv --delimiter '\\t'"]


@pytest.mark.parametrize("verb", ["domain", "init"])
def test_a_file_to_begin_with_of_one_column_says_its_delimiter(run, found, folder, verb):
    named = () if verb == "domain" else ("--class", "job;age;id;ill")
    code, printed, _ = run(verb, "semi.csv", *named, "--out", "begun")
    assert code == 0
    said = (
        "semi.csv was read, but it looks like a file with ';' between fields: give --delimiter ';' if it is."
    )
    assert f"  1  {said} Then begin again.\n" in printed
    again = commands(printed)[0]
    assert again.startswith(f"nbcfast {verb} semi.csv ")
    assert again.endswith(" --out begun --delimiter ';' --overwrite")
    assert found(verb, "semi.csv", *named, "--out", "begun", "--overwrite")["warnings"][0].startswith(said)
    named = ("--class", "ill")
    code, printed, _ = run(verb, "semi.csv", *named, "--out", "begun", "--delimiter", ";", "--overwrite")
    assert (code, "between fields" in printed) == (0, False)


def test_verbs_that_publish_nothing_answer_in_the_same_way(run, found, folder):
    prior = ("--prior", "no=1/2,yes=1/2")
    code, printed, errors = run("closeness", "people.csv", "--class", "ill", *prior)
    assert (code, errors) == (1, "")
    assert printed.startswith(
        "NOTHING WAS COUNTED: columns name people   people.csv, ill\n  x  names people  id has 1,200 values"
    )
    again = "nbcfast closeness people.csv --class ill --prior no=1/2,yes=1/2 --leave-out id"
    assert commands(printed) == [again]
    code, printed, _ = run("closeness", "people.csv", "--class", "ill", *prior, "--json")
    said = json.loads(printed)
    assert (code, said["refused"], said["names_people"], said["mend"]) == (1, True, ["id"], again)
    assert run(*shlex.split(again)[1:])[0] == 0
    code, printed, _ = run("inspect", "people.csv", "--class", "ill", "--max-values", "9")
    assert (code, commands(printed)[0].endswith("--leave-out id")) == (1, True)
    (folder / "many.csv").write_text("id,ill\n" + "".join(f"{n},{n % 2}\n" for n in range(70_000)))
    code, printed, _ = run("attack", "many.csv", "--class", "ill")
    assert (code, printed.splitlines()[-1]) == (1, "  1  No command mends that.")


def test_the_class_is_looked_for_before_columns_that_name_people(run, folder):
    code, _, errors = run("publish", "people.csv", "--class", "il", *LIMITED)
    assert (code, "did you mean 'ill'?" in errors, "names people" in errors) == (2, True, False)


def test_what_is_proposed_is_quoted(run, folder):
    name = "id; touch pasted"
    text = (folder / "people.csv").read_text(encoding="utf-8").replace("job,age,id", f"job,age,{name}", 1)
    (folder / "named.csv").write_text(text, encoding="utf-8")
    code, printed, _ = run("publish", "named.csv", "--class", "ill", *LIMITED)
    assert code == 1
    assert commands(printed)[0].endswith(f"--leave-out '{name}'")


def test_columns_that_name_people_have_one_kind_of_answer(run, found, folder):
    """Whether they are seen before anything is counted, as this one, or after."""
    code, printed, errors = run("publish", "people.csv", "--class", "ill", *LIMITED)
    assert (code, errors) == (1, "")
    assert printed.startswith(
        "DO NOT PUBLISH YET   people.csv, ill -> release (nothing was written)\n  x  names"
    )
    leave_out, advise, publish = commands(printed)
    assert leave_out.endswith("--leave-out id")
    assert (advise.split()[1], publish.split()[-2]) == ("advise", "--menu")
    assert "--accept-answers" not in printed
    assert run(*shlex.split(advise)[1:])[0] == 0
    code, printed, errors = run("publish", "people.csv", "--class", "ill", *LIMITED, "--json")
    said = json.loads(printed)
    assert (code, errors, said["refused"], said["accept"]) == (1, "", True, None)
    assert said["mend"] == leave_out
    assert said["shows"][0].startswith("id has 1,200 values in 1,200 rows")
    # Of few rows too.
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines()[:301]
    (folder / "few.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, printed, _ = run("publish", "few.csv", "--class", "ill", *LIMITED)
    few = commands(printed)
    assert (code, few[0].endswith("--leave-out id"), few[1].split()[1]) == (1, True, "advise")


class TestTextsForNulls:
    def test_publish_and_files_to_begin_with_mention_them(self, run, folder):
        text = "'?' is a value of job: if '?' says that a value is missing, give --null '?'."
        asked = ("people.csv", "--class", "ill")
        assert text in run("publish", *asked, "--leave-out", "id", *LIMITED)[1]
        assert text in run("init", *asked, "--out", "begun.toml")[1]
        assert text in run("domain", *asked, "--out", "begun.json")[1]
        assert text not in run("publish", *asked, "--leave-out", "id", *LIMITED, "--null", "?")[1]

    def test_the_empty_text_stays_null_where_it_occurs(self, run, folder):
        text = (folder / "people.csv").read_text(encoding="utf-8").replace("smith,", ",", 3)
        (folder / "empty.csv").write_text(text, encoding="utf-8")
        printed = run("publish", "empty.csv", "--class", "ill", "--leave-out", "id", *LIMITED)[1]
        assert "give --null '' --null '?'." in printed
        assert "--null '' --null '?'" in run("inspect", "empty.csv")[1]
        assert "--null ''" not in run("inspect", "people.csv")[1]

    def test_a_menu_that_has_them_says_so(self, run, folder):
        asked = ("people.csv", "--class", "ill", "--menu", "menu.json", "--null", "?")
        code, _, errors = run("publish", *asked, *LIMITED)
        assert (code, "and '?' is: read '?' as the text that it is, and not as null" in errors) == (2, True)

    def test_rows_to_predict_that_have_them_say_so(self, run, folder):
        asked = ("publish", "people.csv", "--class", "ill", "--leave-out", "id", "--accept-answers")
        assert run(*asked, *LIMITED, "--null", "?")[0] == 0
        code, _, errors = run("predict", "release", "people.csv", "--name", "said", "--out", "said.csv")
        assert (code, "if '?' says that a value is missing, give --null '' --null '?'" in errors) == (2, True)
        assert (
            run("predict", "release", "people.csv", "--name", "said", "--out", "said.csv", "--null", "?")[0]
            == 0
        )

    def test_verify_says_it_in_options(self, run, folder):
        sets = {"groups": {"hands": ["cook", "smith"], "none": [None]}}
        (folder / "menu.json").write_text(json.dumps({**MENU, "job": [sets]}), encoding="utf-8")
        asked = ("publish", "people.csv", "--class", "ill", "--menu", "menu.json", "--accept-answers")
        limits = [
            word for name in ("max-found", "min-flip", "max-one-class") for word in (f"--{name}", "none")
        ]
        assert run(*asked, *LIMITED, *limits, "--null", "?")[0] == 0
        code, _, errors = run("verify", "release", "--against", "people.csv", "--menu", "menu.json")
        assert (code, "give --null '?'" in errors, "null_values" in errors) == (2, True, False)


def test_what_does_not_go_with_a_menu_is_what_was_typed(run, folder):
    asked = ("publish", "people.csv", "--class", "ill", "--menu", "menu.json", *LIMITED)
    for more, named in ((("--leave-out", "id"), "--leave-out"), (("--bin", "age=tens"), "--bin")):
        code, _, errors = run(*asked, *more)
        assert (code, f"and {named} does not go with it" in errors) == (2, True)


def test_without_a_limit_one_to_begin_with_is_said(run, folder):
    code, _, errors = run("publish", "people.csv", "--class", "ill", "--out", "release")
    assert (code, "got neither; to begin with, --amplification 4" in errors) == (2, True)


def test_without_a_class_the_columns_are_said(run, folder):
    columns = "Expected one of the columns of people.csv: 'job', 'age', 'id', 'ill'"
    for verb in (("advise",), ("publish", *LIMITED), ("init",)):
        code, _, errors = run(verb[0], "people.csv", *verb[1:])
        assert (code, columns in errors) == (2, True)
    assert "give --delimiter ';'" in run("advise", "semi.csv")[2]


def test_a_command_of_another_name_is_pointed_at(run):
    code, _, errors = run("anonymize", "people.csv")
    assert (code, "did you mean 'nbcfast skyline anonymize'?" in errors) == (2, True)
    assert "did you mean 'nbcfast publish'?" in run("pubish")[2]
    assert "did you mean 'nbcfast skyline find'?" in run("skyline", "fnd")[2]
    assert run("zzz")[2] == "nbcfast: No such command 'zzz': `nbcfast --help` lists all\n"
    for words in (("help",), ("help", "publish"), ("help", "skyline", "anonymize")):
        code, printed, _ = run(*words)
        assert (code, printed.startswith("Usage: nbcfast")) == (0, True)


def test_what_is_published_is_checked_shown_and_used(run, folder):
    asked = ("publish", "people.csv", "--class", "ill", "--leave-out", "id", "--accept-answers", *LIMITED)
    printed = run(*asked)[1]
    typed = commands(printed)[-3:-1]  # the last one enters it in a ledger
    assert typed == ["nbcfast verify release", "nbcfast report release --out facts.html"]
    assert "`nbcfast predict`" in printed
    for command in typed:
        assert run(*shlex.split(command)[1:])[0] in (0, 3)


def test_a_name_that_no_file_has_names_those_that_are_near(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adult.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    code, _, error = run("inspect", "adutl.csv")
    assert (code, error) == (
        2,
        "nbcfast: adutl.csv: No such file or directory; did you mean adult.csv?\n",
    )
    assert (
        run("inspect", "nothing-like-it.csv")[2]
        == "nbcfast: nothing-like-it.csv: No such file or directory\n"
    )


def test_an_empty_text_that_null_has_made_a_value_is_named(run, tmp_path, monkeypatch):
    """--null ? stands in place of the empty text, which many files have too."""
    monkeypatch.chdir(tmp_path)
    rows = ["a,n", "?,y", ",n", "b,y"] * 20
    (tmp_path / "rows.csv").write_text("\n".join(["job,ill", *rows]) + "\n", encoding="utf-8")
    given = ("--class", "ill", "--null", "?")
    said = "'' is a value of job: if '' says that a value is missing, give --null '?' --null ''."
    for verb in (
        ("publish", "rows.csv", *given, "--amplification", "4", "--dry-run"),
        ("domain", "rows.csv", *given),
    ):
        asked = (*verb, "--out", "out") if verb[0] == "publish" else verb
        assert said in " ".join(run(*asked)[1].split()), verb
    assert "'' is a value" not in run("domain", "rows.csv", *given, "--null", "", "--out", "d.json")[1]
