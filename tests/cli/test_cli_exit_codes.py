"""What every verb leaves with, verb by verb: as the page of the command line says."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from frozen import prepare

from nbcfast.cli import options
from nbcfast.cli.grammar import CODES, leaves
from nbcfast.exports import exporting
from nbcfast.exports.formats import FORMATS

walk = import_module("nbcfast.canonical.advice.walk")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-line.md"
options.load()
LEAVES = leaves(options.verbs)

PUBLISH = "publish small.csv --class diagnosis --amplification 4 --columns age,sex"
TABLES = "--template 'Job,Country -> Bankruptcy=Discharged <= {}%' --weights n"
VIEWS = "risk fig1.csv --view name,age --view age,problem --identity name --attribute problem"
MENU = (
    "small.csv --class diagnosis --menu coarse-menu.json --min-flip none --min-trace none "
    "--max-one-class none"
)
LEDGER = (
    "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose --domain sets.json "
    "--ledger book"
)
POLICY = """\
[release]
class = "diagnosis"
amplification = {}
[limits]
undeclared_columns = "none"
accept_answers = true
"""
NO_LIMITS = "".join(
    f'{name} = "none"\n' for name in ("max_bits", "max_found", "min_flip", "min_trace", "max_one_class")
)
# Verb -> code -> a command. In this order, in one folder.
LEFT = {
    "inspect": {
        0: "inspect small.csv --class diagnosis",
        1: "inspect named.csv --class ill --max-values 9",
        3: "inspect wide.csv --class c0",
    },
    "domain": {0: "domain small.csv --out begun.json"},
    "init": {0: "init small.csv --class diagnosis --out begun.toml"},
    "advise": {
        0: f"advise {MENU}",
        1: "advise patients.csv --class diagnosis --menu fine.json",
        3: f"advise {MENU} --max-bits 1/7",
    },
    "publish": {
        0: f"{PUBLISH} --out release --accept-answers",
        1: "publish patients.csv --class diagnosis --amplification 4 --out refused",
        3: f"publish {MENU} --amplification 4 --out undecided",
        4: f"{LEDGER} --out again",
    },
    "verify": {0: "verify release", 1: "verify changed", 3: "verify listed"},
    "gate": {
        0: "gate release --policy easy.toml",
        1: "gate release --policy strict.toml",
        3: "gate release --policy measured.toml",
    },
    "predict": {0: "predict release small.csv", 1: "predict changed small.csv"},
    "points": {0: "points release", 1: "points changed"},
    "export": {
        0: "export release --out rule.py",
        1: "export changed --out none.py",
        3: "export release --out rule.sql",
    },
    "report": {0: "report release --out facts.html", 1: "report changed --out none.html"},
    "attack": {
        0: "attack release",
        1: "attack small.csv --class diagnosis --columns sex --breach 0.5 0.50001",
        3: "attack patients.onnx --smooth 0.3",
    },
    "closeness": {
        0: "closeness small.csv --class diagnosis --columns sex --prior healthy=1/2,diabetes=1/2",
        1: "closeness patients.csv --class diagnosis --columns glucose "
        "--prior healthy=60%,diabetes=40% --r 1.1",
    },
    "risk": {
        0: VIEWS,
        1: f"{VIEWS} --threshold 10%",
        3: f"{VIEWS} --view age,job --view job,problem --error 1%",
    },
    "skyline check": {
        0: "skyline check patients.csv --by sex --sensitive bmi --point 0,0,0,1",
        1: "skyline check patients.csv --by sex --sensitive bmi --point 0,0,0,1%",
    },
    "skyline find": {
        0: "skyline find patients.csv --by sex --sensitive bmi --confidence 95%",
        1: "skyline find patients.csv --by sex --sensitive bmi --confidence 1%",
    },
    "skyline anonymize": {
        0: "skyline anonymize patients.csv --by age,sex --sensitive bmi --k 5 --out groups.csv",
        1: "skyline anonymize patients.csv --by age,sex --sensitive bmi --k 5000 --out none.csv",
    },
    "templates check": {
        0: f"templates check people.csv {TABLES.format(100)}",
        1: f"templates check people.csv {TABLES.format(75)}",
    },
    "templates disclose": {
        0: f"templates disclose people.csv {TABLES.format(75)}",
        1: f"templates disclose people.csv {TABLES.format(1)}",
    },
    "response plan": {
        0: "response plan --theta 80% --groups a --n 9",
        1: "response plan --theta 100% --groups a --n 9",
    },
    "response disguise": {
        0: "response disguise survey.csv --theta 80% --groups smokes --keep health --out told",
        1: "response disguise survey.csv --theta 100% --groups smokes --keep health --out told-1",
    },
    "response estimate": {0: "response estimate told --class health"},
    "ledger show": {0: "ledger show book"},
    "ledger check": {0: "ledger check book", 1: "ledger check broken"},
    "explain": {0: "explain epsilon"},
    "completion": {0: "completion bash"},
}
PATIENCE = {"advise": {3}, "publish": {3}}  # what takes more work than is done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("codes")
    prepare(path)
    menu = '{"sex": [["female", "male"], {"out": true}], "glucose": [["low", "normal", "raised", "high"]]}'
    (path / "coarse-menu.json").write_text(menu)
    for name, limit, more in (("easy", 4, ""), ("strict", 2, ""), ("measured", 4, "max_found = 0\n")):
        (path / f"{name}.toml").write_text(POLICY.format(limit) + (more or NO_LIMITS))
    (path / "named.csv").write_text("id,ill\n" + "".join(f"p{n},{n % 2}\n" for n in range(1100)))
    (path / "wide.csv").write_text(",".join(f"c{n}" for n in range(10_001)) + "\n")
    return path


def test_every_verb_leaves_with_what_the_page_says(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for verb, commands in LEFT.items():
        for code, command in commands.items():
            with monkeypatch.context() as patched:
                if code in PATIENCE.get(verb, ()):
                    patched.setattr(walk, "PATIENCE", 0)
                if (verb, code) == ("risk", 3):
                    patched.setattr("nbcfast.associations.joins.MOST_TUPLES", 2)
                if (verb, code) == ("export", 3):
                    alone = FORMATS[".sql"]._replace(runtime=lambda: None)
                    patched.setattr(exporting, "FORMATS", {**FORMATS, ".sql": alone})
                if (verb, code) == ("publish", 4):
                    assert run(*shlex.split(f"{LEDGER} --out entered"))[0] == 0
                left, out, err = run(*shlex.split(command))
            assert left == code, (command, out, err)
            assert "Traceback" not in err
        if verb == "publish":
            more = f"{PUBLISH} --columns glucose,sex --tuples pairs.csv --out listed --accept-answers"
            (folder / "pairs.csv").write_text("glucose,sex\nlow,female\nhigh,male\nnormal,male\n")
            assert run(*shlex.split(more))[0] == 0
            text = (folder / "release" / "certificate.json").read_text()
            (folder / "changed").mkdir()
            (folder / "changed" / "certificate.json").write_text(text.replace("diagnosis", "class"))
            lines = (folder / "book").read_text()
            (folder / "broken").write_text(lines.replace('"n":1', '"n":2'))
    said = {}
    for verb, *cells in re.findall(r"^\| `([a-z ]+)` \|([^|]*)\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE):
        said[verb] = {code for code, cell in zip((1, 3), cells, strict=True) if cell.strip()}
    assert said == {verb: set(commands) & {1, 3} for verb, commands in LEFT.items()}
    assert set(LEFT) == {" ".join(path) for path in LEAVES}


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_bad_input_is_2_everywhere(path, refused, run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    unknown = "no entry for '--bogus'" if path == ("explain",) else "No such option '--bogus'"
    assert unknown in refused(*path, "--bogus")
    command = shlex.split(LEFT[" ".join(path)][0].replace("--out ", "--out new-"))
    required = [param for param in LEAVES[path].params if param.required]
    if required:
        assert re.search("Missing (argument|option)", refused(*path))
    if path not in (("completion",), ("response", "plan")):
        assert "nothing-here" in refused(*(path), "nothing-here.csv", *command[len(path) + 1 :])


def test_the_page_and_the_help_have_the_same_codes():
    rows = re.findall(r"^\| ([0-9]+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {code: text.replace("`", "") for code, text in rows} == CODES
