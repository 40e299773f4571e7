"""Every verb that judges writes the page of --report: what the screen says, and what it rests on."""

import json
import math
import random
import re
import shlex
from pathlib import Path

import pytest
from page_cases import text_of

import nbcfast
from nbcfast._markup.page_parts import decisions
from nbcfast._markup.pages import MOST_BYTES, private_band
from nbcfast.cli import main
from nbcfast.reports.owner_page import TABLE

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PEOPLE = """\
Job,Country,Bankruptcy,n
Cook,US,Current,4
Trader,UK,Discharged,4
Trader,UK,Never,1
Clerk,Canada,Discharged,1
Clerk,Canada,Never,3
"""
FIG1 = """\
name,age,job,problem
George,45,Manager,HIV
John,45,Manager,Cold
Bill,30,Lawyer,Cold
Al,27,Clerk,Cold
"""
TEMPLATE = "Job,Country -> Bankruptcy=Discharged <= 75%"
GROUPS = "patients.csv --by age,sex --sensitive bmi"
SURVEY = "--theta 0.8 --groups smokes,drinks --each"
WHO = "--identity name --attribute problem"

# The command -> what it leaves with, and a text of the page that no summary has.
COMMANDS = {
    "advise patients.csv --class diagnosis --menu menu.json --out d.json": (0, "What else there was"),
    f"skyline check {GROUPS} --point 3,4,2,0.5 --point 0,1,0,0.9": (1, "Each point"),
    f"skyline find {GROUPS} --confidence 0.95": (0, "The most that somebody may know"),
    "skyline anonymize patients.csv --quasi age,sex --sensitive bmi --k 5 --out part": (
        0,
        "The groups by their size",
    ),
    f"check people.csv --weights n --template '{TEMPLATE}'": (1, "Inferences that are too sure"),
    f"disclose people.csv --weights n --template '{TEMPLATE}' --out kept": (0, "What is withheld"),
    f"disguise survey.csv {SURVEY} --keep health --seed 1 --out told": (0, "What each coin hides"),
    "estimate told --class health": (0, "The classes"),
    f"response plan {SURVEY} --error 0.02": (0, "What each coin hides"),
    f"risk fig1.csv --view name,age --view age,job,problem {WHO} --threshold 1/2": (1, "The likeliest"),
    f"risk fig1.csv {WHO} --advise age,job": (0, "What came of it?"),
    "attack patients.csv --class diagnosis": (0, "Where the odds are largest"),
    "attack made": (0, "Where the odds are largest"),
    "attack made/certificate.json --against patients.csv": (0, "Where the odds are largest"),
}
# What was read, where it was not the private table, and which of that has nothing private.
NOT_PRIVATE = ("the release alone", "the scheme alone", "disguised answers alone")
READ = {
    "attack patients.csv": "the table that was attacked",
    "attack made": "the release alone",
    "attack made/certificate.json": "the release and the private table",
    "response plan": "the scheme alone",
    "estimate told": "disguised answers alone",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands read; later ones read what earlier ones wrote."""
    place = tmp_path_factory.mktemp("judged")
    rows = (EXAMPLES / "patients.csv").read_text().splitlines()
    (place / "patients.csv").write_text("\n".join(rows[:1201]) + "\n")
    menu = json.loads((EXAMPLES / "patients-menu.json").read_text())
    few = {name: menu[name] for name in ("age", "bmi", "glucose")}
    (place / "menu.json").write_text(json.dumps(few))
    (place / "people.csv").write_text(PEOPLE)
    (place / "fig1.csv").write_text(FIG1)
    draw = random.Random(1)
    told = [
        ",".join((draw.choice("yn"), draw.choice("yn"), draw.choice(["good", "bad"]))) for _ in range(500)
    ]
    release = nbcfast.publish(
        place / "patients.csv", "diagnosis", 4, columns=["sex", "glucose"], accept_answers=True
    )
    release.save(place / "made")
    (place / "survey.csv").write_text("smokes,drinks,health\n" + "\n".join(told) + "\n")
    return place


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.split()[:2]))
def test_the_page_says_what_the_screen_says(command, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    report = folder / f"{list(COMMANDS).index(command)}.html"
    code, own = COMMANDS[command]
    with pytest.raises(SystemExit) as left:
        main([*shlex.split(command), "--report", report.name, "--json"])
    assert left.value.code == code
    found = json.loads(capsys.readouterr().out)
    assert found["report"] == {"path": report.name, "bytes": report.stat().st_size}
    assert report.stat().st_size < MOST_BYTES
    text = text_of(report)
    read = READ.get(" ".join(command.split()[:2]), TABLE)
    assert private_band(read).text in text
    assert ("from the private table" in text) == (read not in NOT_PRIVATE)
    assert own in text
    summary = found["summary"]
    said = [summary["verdict"], summary["about"], *summary["remarks"]]
    said += [finding["text"] for finding in summary["findings"]]
    said += [step for decision in summary["decisions"] for step in decision["steps"]]
    for one in said:
        assert " ".join(one.split()) in text


def test_a_page_that_is_there_is_replaced_only_when_asked(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "mine.html").write_text("mine")
    asked = shlex.split(f"skyline find {GROUPS} --confidence 0.95 --report mine.html")
    with pytest.raises(SystemExit) as left:
        main(asked)
    assert left.value.code == 2
    assert "mine.html" in capsys.readouterr().err
    assert (folder / "mine.html").read_text() == "mine"
    with pytest.raises(SystemExit) as left:
        main([*asked, "--overwrite"])
    assert left.value.code == 0
    assert "PRIVATE" in (folder / "mine.html").read_text()


def test_a_figure_on_top_never_says_less_than_what_was_looked_at(folder, monkeypatch, capsys):
    """Coins of a seed bound nothing, and of two readers the odds are those of whom they move most."""
    monkeypatch.chdir(folder)
    for line in (
        f"response disguise survey.csv {SURVEY} --keep health --seed 2 --out seeded --report seeded.html",
        "attack made --report odds.html --json",
    ):
        with pytest.raises(SystemExit) as left:
            main(shlex.split(line))
        assert left.value.code == 0
        out = capsys.readouterr().out
    seeded = text_of(folder / "seeded.html")
    assert "All coins together no bound" in seeded
    assert "nobody has seen the true answers" not in seeded
    worst = json.loads(out)["worst"]
    largest = max(math.exp(one["log"]) for one in worst.values())
    shown = re.search("Largest odds ([0-9.]+)", text_of(folder / "odds.html"))
    assert float(shown[1]) == pytest.approx(largest, rel=1e-4)


def test_what_is_typed_stands_out_in_a_sentence():
    assert decisions([("Use `nbcfast predict`.", ())]).html() == (
        '<ol class="decisions"><li><b>Use <code>nbcfast predict</code>.</b></li></ol>'
    )
