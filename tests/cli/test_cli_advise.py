"""`advise`, and `publish --menu`: from a table and a menu to a domain that keeps the limits."""

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import nbcfast
from nbcfast import verify_release
from nbcfast.canonical.advice import walk
from nbcfast.domains import Menu

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ASKED = ("advise", "patients.csv", "--class", "diagnosis", "--menu", "menu.json")
MENU = {
    "age": [
        {"groups": {"18-39": ["18-29", "30-39"], "40-59": ["40-49", "50-59"], "60+": ["60-69", "70+"]}},
        {"out": True},
    ],
    "glucose": [{"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}}, {"out": True}],
    "diagnosis": [["healthy", "diabetes"]],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (EXAMPLES / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "patients.csv").write_text("".join(lines[:1201]), encoding="utf-8")
    (tmp_path / "others.csv").write_text("".join((lines[0], *lines[1201:2401])), encoding="utf-8")
    (tmp_path / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    return tmp_path


def test_what_advise_writes_is_what_publish_takes_and_verify_checks(run, found, folder):
    said = found(*ASKED, "--out", "domain.json")
    advice = nbcfast.canonical.advise("patients.csv", "diagnosis", "menu.json")
    domain = json.loads((folder / "domain.json").read_text(encoding="utf-8"))
    assert domain["advice"] == advice.document["advice"] == said["advice"]
    others = ("sex", "bmi", "smoking", "blood_pressure", "relatives", "exercise_days")
    left_out = {name: {"out": True} for name in others}
    assert domain["domain"] == {**advice.menu.chosen(advice.best.choice).document, **left_out}
    publish = ("publish", "patients.csv", "--class", "diagnosis", "--amplification", "4")
    assert run(*publish, "--domain", "domain.json", "--out", "by-domain")[0] == 0
    assert run(*publish, "--menu", "menu.json", "--out", "by-menu")[0] == 0
    by_domain, by_menu = (
        (folder / name / "certificate.json").read_bytes() for name in ("by-domain", "by-menu")
    )
    assert by_domain == by_menu
    assert run("verify", "by-menu", "--menu", "menu.json")[0] == 0
    other = {**MENU, "age": MENU["age"][::-1]}
    (folder / "other.json").write_text(json.dumps(other), encoding="utf-8")
    assert run("verify", "by-menu", "--menu", "other.json")[0] == 1


def typed(printed):
    """The commands that are printed to be typed next."""
    return [line.strip()[8:] for line in printed.splitlines() if line.strip().startswith("nbcfast ")]


def test_the_next_command_that_is_printed_works(in_full, folder):
    code, printed, _ = in_full(*ASKED, "--out", "my domain.json")
    assert code == 0
    command = typed(printed)[-1]
    assert in_full(*shlex.split(command))[0] == 0
    assert (folder / "release" / "certificate.json").is_file()


def test_strata_are_tried_too_and_the_command_that_is_printed_publishes_them(in_full, folder):
    menu = str(EXAMPLES / "patients-menu.json")
    (folder / "patients.csv").write_bytes((EXAMPLES / "patients.csv").read_bytes())
    asked = ("advise", "patients.csv", "--class", "diagnosis", "--menu", menu, "--max-bits", "5")
    code, printed, _ = in_full(*asked, "--strata", "age,glucose", "--out", "domain.json")
    assert code == 0
    assert (
        "of 1,944 domains, for one classifier or one for each value of age or glucose, the best has one for "
        "each value of age and tells 108 kinds of people apart; it answers 90.06% right"
    ) in printed
    assert "what its answers give away, all classifiers together (for you alone)" in printed
    assert "3, a classifier each" in printed
    assert "chosen, by age" in printed
    assert (
        "Not tried is a classifier for each value of 'glucose', option 1 of the menu: 'low' has none"
        in printed
    )
    assert "tells at most 12.6 bits" in printed
    command = typed(printed)[-1]
    assert "--strata age" in command
    assert in_full(*shlex.split(command))[0] == 0
    code, printed, _ = in_full("verify", "release", "--menu", menu)
    assert code == 0
    assert (
        "with it one for each value of age, of one classifier for all and one for each value of age"
        in " ".join(printed.split())
    )
    publish = (
        "publish",
        "patients.csv",
        "--class",
        "diagnosis",
        "--amplification",
        "4",
        "--domain",
        "domain.json",
    )
    code, _, errors = in_full(*publish, "--out", "another")
    assert code == 2
    assert "the column whose values have a classifier each was 'age', got none" in errors


def test_with_strata_one_classifier_may_be_best_and_the_screen_says_so(in_full, found, folder):
    code, printed, _ = in_full(*ASKED, "--strata", "age")
    assert code == 0
    assert "the best has one classifier and tells" in printed
    assert "chosen, one classifier" in printed
    said = found(*ASKED, "--strata", "age")
    assert said["best"]["by_column"] is None
    assert (said["advice"]["strata"], said["advice"]["by_column"]) == (["age"], None)
    command = typed(printed)[-1]
    assert "--strata" not in command


def test_nothing_is_written_where_no_domain_keeps_the_limits(run, folder):
    fine = {"glucose": [["low", "normal", "raised", "high"]]}
    (folder / "fine.json").write_text(json.dumps(fine), encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    asked = ("--class", "diagnosis", "--menu", "fine.json")
    code, printed, errors = run(
        "advise", "patients.csv", *asked, "--out", "domain.json", "--plot", "front.svg"
    )
    text = (
        "not to be had  none of 1 domains of the menu keeps the limits; broken first: values of one class (1)"
    )
    assert (code, errors, text in printed) == (1, "", True)
    code, printed, errors = run("publish", "patients.csv", *asked, "--amplification", "4", "--out", "release")
    assert (code, errors, text in printed) == (1, "", True)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_picture_the_menu_and_the_domain_are_written_together_or_not_at_all(run, folder):
    targets = ("--out", "domain.json", "--plot", "front.svg", "--write-menu", "made.json")
    assert run(*ASKED, *targets)[0] == 0
    assert ElementTree.parse(folder / "front.svg").getroot().tag.endswith("svg")
    assert json.loads((folder / "made.json").read_text(encoding="utf-8"))["age"][1] == {"out": True}
    (folder / "domain.json").unlink()
    code, _, errors = run(*ASKED, *targets)
    assert (code, (folder / "domain.json").exists()) == (2, False)
    assert "--overwrite" in errors
    assert run(*ASKED, *targets, "--overwrite")[0] == 0


def test_inputs_are_not_written_over(run, folder):
    for target in ("patients.csv", "menu.json"):
        code, _, errors = run(*ASKED, "--out", target, "--overwrite")
        assert (code, "must not write over" in errors) == (2, True)


def test_other_rows_choose_and_the_screen_says_what_that_means(in_full, found, folder):
    code, printed, _ = in_full(*ASKED, "--on", "others.csv")
    assert (code, "tells nothing of yours" in printed, "chosen, on your rows" in printed) == (0, True, True)
    said = found(*ASKED, "--on", "others.csv")
    assert said["advice"]["rows"] == "other"
    assert said["here"]["tuples"] == said["best"]["tuples"]


def test_votes_are_said_to_be_private_and_of_the_choice_alone(run, found, folder):
    code, printed, _ = run(*ASKED, "--votes", "50", "--blocks", "8")
    assert (code, "Votes choose with epsilon 50" in printed) == (0, True)
    assert "draws once more" in printed
    assert "both have epsilon 100." in printed
    assert "publish will refuse it" not in printed
    fine = {"glucose": [["low", "normal", "raised", "high"]], "diagnosis": MENU["diagnosis"]}
    (folder / "fine.json").write_text(json.dumps(fine), encoding="utf-8")
    kept = run(*ASKED[:-1], "fine.json", "--votes", "50", "--out", "drawn.json")[1]
    assert "draws once more" not in kept
    assert re.search(r"does not keep the limits \(.*values of one class.*\): publish will refuse it", kept)
    said = found(*ASKED, "--votes", "1/2")
    assert (said["advice"]["by"], said["advice"]["epsilon"], said["advice"]["blocks"]) == (
        "votes",
        "1/2",
        100,
    )


def test_without_a_menu_options_come_from_what_is_declared_and_from_the_rows(run, found, folder):
    code, printed, _ = run(
        "advise",
        "patients.csv",
        "--class",
        "diagnosis",
        "--columns",
        "age,smoking",
        "--max-one-class",
        "none",
        "--max-found",
        "none",
        "--min-flip",
        "none",
    )
    assert code == 0
    assert "The options of age, smoking, diagnosis were made from the rows" in printed
    assert "--write-menu menu-2.json" in printed  # nothing that is there is named


def test_a_domain_of_a_ready_made_menu_is_published_as_what_it_is(in_full, found, folder):
    limits = ("--max-one-class", "none", "--max-found", "none", "--min-flip", "none")
    asked = ("advise", "patients.csv", "--class", "diagnosis", *limits)
    code, printed, _ = in_full(*asked, "--columns", "age,glucose", "--out", "domain.json")
    assert code == 0
    assert "the choice tells at most" not in printed
    assert "has no bound on what the choice tells" in printed
    domain = json.loads((folder / "domain.json").read_text(encoding="utf-8"))
    assert [*domain] == ["domain", "from_rows"]
    assert found(*asked, "--columns", "age,glucose")["from_rows"] == domain["from_rows"]
    assert domain["from_rows"] == ["age", "glucose", "diagnosis"]

    publish = ("publish", "patients.csv", "--class", "diagnosis", "--amplification", "4", "--accept-answers")
    warning = "The values of age, glucose and the class come from the rows and were not declared"
    code, text, _ = in_full(*publish, "--domain", "domain.json", "--out", "unchecked")
    assert (code, warning in text, "The choice of the domain" in text) == (0, True, False)
    code, text, _ = in_full("verify", "unchecked", "--against", "patients.csv", "--domain", "domain.json")
    assert (code, warning in text) == (0, True)


def test_a_menu_of_the_rows_stays_one_until_somebody_has_checked_it(in_full, run, folder):
    """Written and read back as it is, it is as undeclared as the rows that it was made from."""
    limits = ("--max-one-class", "none", "--max-found", "none", "--min-flip", "none")
    asked = ("advise", "patients.csv", "--class", "diagnosis", *limits, "--columns", "age,glucose")
    printed = in_full(*asked)[1]
    write, publish = typed(printed)  # one search: the first only writes the menu
    assert "check every option in menu-2.json" in printed
    assert "then remove the name of its column from from_rows" in printed
    code, printed, _ = run(*shlex.split(write))
    assert (code, "nothing was searched yet" in printed) == (0, True)
    assert typed(printed) == [publish]
    menu = json.loads((folder / "menu-2.json").read_text(encoding="utf-8"))
    assert menu["from_rows"] == ["age", "glucose", "diagnosis"]
    assert menu["menu"]["diagnosis"] == [{"values": ["diabetes", "healthy"]}]
    assert "--out release" in publish
    # To look at what is found first writes no second menu.
    printed = in_full("advise", "patients.csv", "--class", "diagnosis", *limits, "--menu", "menu-2.json")[1]
    assert (typed(printed), "check every option in menu-2.json" in printed) == ([publish], True)
    code, printed, _ = in_full(*shlex.split(publish), "--accept-answers")
    assert (code, "and were not declared" in printed, "fixed before anybody" in printed) == (0, True, False)
    certificate = nbcfast.load("release").certificate
    assert (certificate.canonical.undeclared, certificate.advice) == (("age", "glucose", None), None)
    assert [*verdicts(run, "release", "menu-2.json")] == [("menu", None)]

    # Of what somebody has checked the choice is known: both verifiers find the menu as its file has it.
    (folder / "menu-2.json").write_text(json.dumps({**menu, "from_rows": []}), encoding="utf-8")
    code, printed, _ = in_full(*shlex.split(publish), "--accept-answers", "--overwrite")
    assert (code, "were not declared" in printed) == (0, False)
    certificate = nbcfast.load("release").certificate
    assert (certificate.canonical.undeclared, certificate.advice.menu) == (
        (),
        Menu.read(folder / "menu-2.json").digest,
    )
    assert [*verdicts(run, "release", "menu-2.json")] == [("menu", True)]
    (folder / "plain.json").write_text(json.dumps(menu["menu"]), encoding="utf-8")
    assert [*verdicts(run, "release", "plain.json")] == [("menu", True)]


def verdicts(run, release, menu):
    """What both verifiers say of a menu, which is the same."""
    said = json.loads(run("verify", release, "--menu", menu, "--json")[1])
    found = [(one["name"], one["passed"]) for one in said["checks"] if one["name"] == "menu"]
    script = subprocess.run(
        [sys.executable, verify_release.__file__, release, "--menu", menu], capture_output=True, text=True
    )
    assert (script.returncode == 1) == (("menu", False) in found)
    assert (" menu " in script.stdout) == bool(found)
    return found


def test_a_menu_is_written_without_a_search_where_nothing_else_is_asked_for(run, found, folder):
    asked = ("advise", "patients.csv", "--class", "diagnosis", "--columns", "age", "--write-menu", "new.json")
    said = found(*asked)
    assert (said["from_rows"], "best" in said) == (["age", "diagnosis"], False)
    assert said["menu"] == json.loads((folder / "new.json").read_text(encoding="utf-8"))["menu"]
    assert run(*asked)[0] == 2  # it is there
    again = run(*asked, "--overwrite", "--strata", "age")[1]
    assert [step.split()[0] for step in typed(again)] == ["advise"]  # publish --menu knows of no strata
    known = {
        "age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"],
        "diagnosis": ["healthy", "diabetes"],
    }
    (folder / "known.json").write_text(json.dumps(known), encoding="utf-8")
    code, printed, _ = run(
        *asked[:4], "--domain", "known.json", "--columns", "age", "--write-menu", "known-menu.json"
    )
    assert (code, "check every option" in printed, "to be checked" in printed) == (0, False, False)
    assert [*json.loads((folder / "known-menu.json").read_text(encoding="utf-8"))] == ["age", "diagnosis"]


def test_a_menu_of_what_nobody_checked_is_not_fixed_in_advance(run, folder):
    limits = ("--max-one-class", "none", "--max-found", "none", "--min-flip", "none")
    asked = ("advise", "patients.csv", "--class", "diagnosis", *limits, "--domain", "begun.json")
    assert run("domain", "patients.csv", "--class", "diagnosis", "--out", "begun.json")[0] == 0
    begun = json.loads((folder / "begun.json").read_text(encoding="utf-8"))
    kept = ("age", "glucose", "diagnosis")
    columns = {name: entry if name in kept else {"out": True} for name, entry in begun["domain"].items()}
    for from_rows in (["age", "glucose", "diagnosis"], ["diagnosis"], []):
        text = json.dumps({"domain": columns, "from_rows": from_rows})
        (folder / "begun.json").write_text(text, encoding="utf-8")
        code, printed, _ = run(*asked, "--out", "domain.json", "--overwrite")
        assert (code, "the choice tells at most" in printed) == (0, not from_rows)
        written = json.loads((folder / "domain.json").read_text(encoding="utf-8"))
        assert written.get("from_rows") == (from_rows or None)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("--columns", "age"), "--menu says what each column may be"),
        (("--folds", "1"), "folds"),
        (("--max-bits", "many"), "--max-bits"),
        (("--strata", "sex"), "--strata must be attributes of the menu, got 'sex'"),
        (("--strata", "age,age"), "--strata"),
        (("--strata", "age", "--votes", "1"), "no strata"),
        (("--blocks", "5"), "nbcfast: --votes goes with blocks"),
        (("--votes", "-1"), "--votes"),
        (("--on", "absent.csv"), "absent.csv"),
        (("--on", "patients.csv"), "nbcfast: --on must have other rows than the table"),
    ],
)
def test_what_is_refused(run, folder, more, text):
    code, printed, errors = run(*ASKED, *more)
    assert (code, printed) == (2, "")
    assert text in errors
    assert errors.count("\n") == 1


def test_text_that_looks_like_numbers_stays_text_where_the_menu_says_so(run, found, folder):
    (folder / "codes.csv").write_text(
        "code,ill\n" + "".join(f"{k % 3:02d},{'ny'[k % 2]}\n" for k in range(60))
    )
    menu = {
        "code": [["00", "01", "02"], {"groups": {"low": ["00", "01"], "high": ["02"]}}],
        "ill": [["n", "y"]],
    }
    (folder / "codes.json").write_text(json.dumps(menu), encoding="utf-8")
    asked = ("--class", "ill", "--menu", "codes.json", "--max-found", "none", "--min-flip", "none")
    assert found("advise", "codes.csv", *asked)["best"]["sizes"] == {"code": 2}


def test_weights_are_people(found, folder):
    lines = (folder / "patients.csv").read_text(encoding="utf-8").splitlines()
    (folder / "weighted.csv").write_text(
        "\n".join([f"{lines[0]},n", *(f"{line},1" for line in lines[1:])]) + "\n", encoding="utf-8"
    )
    plain = found(*ASKED)
    weighted = found(
        "advise", "weighted.csv", "--class", "diagnosis", "--menu", "menu.json", "--weights", "n"
    )
    assert weighted["best"] == plain["best"]
    assert weighted["domain"] == plain["domain"]


@pytest.mark.parametrize(
    "options", [("--out", "--plot"), ("--out", "--write-menu"), ("--plot", "--write-menu")]
)
def test_two_files_are_not_written_to_one_place(run, folder, options):
    one, other = options
    code, printed, errors = run(*ASKED, one, "a.json", other, folder / "." / "a.json", "--overwrite")
    assert (code, printed) == (2, "")
    assert f"{other} and {one} must be two files, got" in errors
    assert not (folder / "a.json").exists()


def test_an_infinite_log_loss_is_explained(run, folder):
    """Of one value no row of the other parts has the class of the one who is judged."""
    rows = [
        "job,age,ill",
        *(f"cook,{1 + i % 2},{'no' if i % 3 else 'yes'}" for i in range(60)),
        "smith,1,yes",
    ]
    (folder / "few.csv").write_text("\n".join([*rows, *["smith,1,no"] * 9]) + "\n", encoding="utf-8")
    (folder / "few.json").write_text('{"job": [["cook", "smith"]], "age": [[1, 2]]}', encoding="utf-8")
    limits = [f"--{name}" for name in ("max-bits", "max-found", "min-flip", "max-one-class")]
    unlimited = [word for name in limits for word in (name, "none")]
    code, printed, _ = run("advise", "few.csv", "--class", "ill", "--menu", "few.json", *unlimited)
    assert (code, " infinite " in printed, "A log-loss is infinite where" in printed) == (0, True, True)
    assert "A log-loss is infinite where" not in run(*ASKED)[1]


def test_a_menu_without_the_class_is_told_how_to_declare_it(run, folder):
    (folder / "classless.json").write_text(json.dumps({"glucose": MENU["glucose"]}), encoding="utf-8")
    asked = (*ASKED[:-1], "classless.json")
    assert 'a line "diagnosis": [[..]] with its values does' in run(*asked)[1]
    assert "does not declare the class" not in run(*ASKED)[1]


def test_a_domain_file_is_no_menu(run, folder):
    assert run(*ASKED, "--out", "domain.json")[0] == 0
    code, printed, errors = run(*ASKED[:-1], "domain.json")
    assert (code, printed) == (2, "")
    assert (
        errors == "nbcfast: --menu domain.json: it is a domain file, with one option a column, and no menu\n"
    )


def test_what_other_rows_chose_and_ones_own_refuse_is_said_beside_the_command(in_full, folder):
    limits = ("--min-flip", "1", "--max-bits", "none", "--max-found", "none", "--max-one-class", "none")
    own = (folder / "others.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:40]
    (folder / "few.csv").write_text("".join(own), encoding="utf-8")
    code, printed, _ = in_full("advise", "few.csv", *ASKED[2:], "--on", "patients.csv", *limits)
    assert code == 0
    assert printed.startswith(
        "DO NOT PUBLISH ON IT YET: the best domain does not keep every limit on your rows"
    )
    assert "on your rows it does not keep the limits" in printed
    assert "as it is, to publish on it is refused" in printed


@pytest.mark.parametrize("verb", [("advise",), ("publish", "--amplification", "4", "--out", "release")])
def test_what_took_too_much_work_is_not_decided(run, folder, monkeypatch, verb):
    monkeypatch.setattr(walk, "PATIENCE", 0)
    code, printed, errors = run(*verb, *ASKED[1:])
    assert (code, errors) == (3, "")
    assert "?  not decided  of 0 domains, from the most accurate down, none keeps the limits" in printed
    assert not (folder / "release").exists()


@pytest.mark.parametrize("more", [(), ("--columns", "age,glucose"), ("--strata", "sex")])
def test_what_is_not_decided_of_ready_made_options_says_what_to_do(run, folder, monkeypatch, more):
    with monkeypatch.context() as impatient:
        impatient.setattr(walk, "PATIENCE", 0)
        code, printed, errors = run("advise", "patients.csv", "--class", "diagnosis", *more, "--json")
    said = json.loads(printed)
    assert (code, errors, said["feasible"]) == (3, "", None)
    first = said["summary"]["decisions"][0]
    begun, again = first["commands"]
    assert first["question"].startswith("Begin a menu, and take options out of it")
    assert "take options out of menu-2.json, the finest of columns" in first["steps"][1]
    assert run(*shlex.split(begun)[1:])[0] == 0
    begun_menu = json.loads((folder / "menu-2.json").read_text(encoding="utf-8"))
    kept = {name: begun_menu["menu"][name] for name in ("age", "sex") if name in begun_menu["menu"]}
    (folder / "menu-2.json").write_text(json.dumps({**begun_menu, "menu": kept, "from_rows": []}))
    assert run(*shlex.split(again)[1:])[0] == 0


def test_what_other_rows_chose_is_shown_as_it_is_on_ones_own(in_full, found, folder):
    on = (*ASKED, "--on", "others.csv", "--min-flip", "none")
    here = found(*on)["here"]
    printed = in_full(*on)[1]
    shares = next(line for line in printed.splitlines() if line.startswith("people whose class could be"))
    assert f"{math.floor(here['flip'] * 10_000) / 100:.2f}%" in shares
    assert "what its answers give away on your rows (for you alone)" in printed
    assert "of the other rows right" in printed


@pytest.mark.parametrize(
    "command",
    [
        "advise empty.csv --class diagnosis",
        "advise patients.csv --class diagnosis --columns age --on empty.csv",
        "publish patients.csv --class diagnosis --columns age --amplification 4 --out o --holdout empty.csv",
        "publish patients.csv --class diagnosis --columns age --amplification 4 --out o --tuples empty.csv",
        "risk empty.csv --identity id --attribute diagnosis --view id,age --view age,diagnosis",
    ],
)
def test_files_without_rows_are_named_before_anything_is_written(run, folder, command):
    (folder / "empty.csv").write_text("id,age,diagnosis\n", encoding="utf-8")
    assert run(*shlex.split(command)) == (2, "", "nbcfast: empty.csv: no rows\n")
    assert not (folder / "o").exists()
