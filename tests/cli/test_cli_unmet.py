"""Demands that nothing meets: a first screen like any other, and what it says to type does it."""

import json
import shlex

import pytest
from frozen import prepare

THREE = (
    "publish patients.csv --accept-answers --class diagnosis --amplification 4 "
    "--columns age,glucose,relatives"
)
MENU = "patients.csv --class diagnosis --menu fine.json"
TEMPLATES = "--template 'Job,Country -> Bankruptcy=Discharged <= {}%' --weights n"
PRIOR = "closeness small.csv --class diagnosis --columns sex,glucose --prior healthy=60%,diabetes=40%"
ENTERED = (
    "publish small.csv --class diagnosis --amplification 4 --columns sex --accept-answers "
    "--ledger book --window 1"
)
# What cannot be had -> what is said of it, and the best that was found.
UNMET = {
    f"{THREE} --rows 40 --out few": ("no 40 rows were found", "a release of 40 rows; not identical"),
    f"{THREE} --rows 4 --out fewer": ("4 rows are too few", "a release of 107 rows; identical"),
    f"publish {MENU} --amplification 4 --out of-menu": (
        "none of 2 domains",
        "4 kinds of people, 2 values of",
    ),
    f"advise {MENU} --out domain.json": ("none of 2 domains", "4 kinds of people, 2 values of one class"),
    f"{ENTERED} --ledger-policy calendar --out again": ("policy 'calendar': window 1 must", None),
    f"{PRIOR} --r 1.01": ("r = 1.01 cannot be kept", "by EST"),
    f"{PRIOR} --r 40 --rows 3": ("3 rows are too few", "by EST"),
    "skyline anonymize patients.csv --by age,sex --sensitive bmi --point 0,5,0,20% --diversity 1/2 2 "
    "--k 9999 --no-attack --out groups": (
        "fewer than k = 9999",
        "kept by the whole table: (0, 5, 0, 0.375); k = 1200",
    ),
    "skyline anonymize people.csv --by Job --sensitive Bankruptcy --weights n --point 3,4,2,50% --k 5 "
    "--diversity 1 5 --no-attack --out none": (
        "then not (3, 4, 2, 0.5); (1, 5)-diversity, and Bankruptcy may show to whoever that was to stop",
        "(2.21, 3)-diversity",
    ),
    "skyline anonymize patients.csv --by age,sex --sensitive bmi --k 1201 --no-attack --memory-limit 1GiB "
    "--out on-disk": ("fewer than k = 1201", "kept by the whole table: k = 1200"),
    f"templates disclose people.csv {TEMPLATES.format(1)} --no-attack": ("1 of 1 templates break", "5/24"),
    "response disguise survey.csv --theta 100%,70% --groups 'smokes;drinks' --keep health --out told": (
        "hides nothing of smokes",
        None,
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("unmet")
    prepare(path)
    return path


@pytest.mark.parametrize("command", UNMET)
def test_the_screen_says_why_what_was_found_and_what_to_type(run, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    why, best = UNMET[command]
    if "--ledger" in command:
        assert run(*shlex.split(f"{ENTERED} --out entered"))[0] == 0
    before = sorted(folder.rglob("*"))
    code, out, err = run(*shlex.split(command))
    assert (code, err) == (1, "")
    assert out.startswith("CANNOT BE HAD: ")
    assert "nothing was written" in out.splitlines()[0]
    assert why in out
    assert best is None or best in out
    # A table was looked at wherever its rows say why.
    assert ("this judges the demand, and no table" in out) == command.startswith("response")
    assert sorted(folder.rglob("*")) == before
    code, out, err = run(*shlex.split(command), "--json")
    said = json.loads(out)
    assert (code, err, said["feasible"]) == (1, "", False)
    assert why in out
    assert said["files"] == []
    assert said["summary"]["decisions"]
    for decision in said["summary"]["decisions"]:
        assert decision["commands"]
        for line in decision["commands"]:
            # What two ways of mending write is the same folder.
            again = [*shlex.split(line)[1:], *(["--overwrite"] if "--out " in line else [])]
            left, _, err = run(*again)
            # Answers that were entered once are not published again.
            assert (left, err) == (4 if "--ledger " in line else 0, ""), line


def test_a_report_of_it_is_written_and_said(run, folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    page = tmp_path / "unmet.html"
    asked = "skyline anonymize patients.csv --by age,sex --sensitive bmi --k 5000 --out none.csv --report"
    code, out, _ = run(*shlex.split(asked), page)
    assert (code, "(nothing was written but the report)" in out) == (1, True)
    text = page.read_text(encoding="utf-8")
    for part in (
        "CANNOT BE HAD",
        "Can what was demanded be had?",
        "kept by the whole table: k = 1200",
        "PRIVATE",
    ):
        assert part in text
    assert not (folder / "none.csv").exists()
