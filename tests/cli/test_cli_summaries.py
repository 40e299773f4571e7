"""The first screen of every verb: a verdict, what was looked at, what to do; and dry runs."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

import nbcfast
from nbcfast.cli.options import verbs
from nbcfast.cli.publish_outputs import WET

pytest.importorskip("rich")
pytest.importorskip("pyarrow")

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
DOMAIN = {
    "age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"],
    "glucose": {"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}},
    "diagnosis": ["healthy", "diabetes"],
}
PUBLISH = "publish patients.csv --class diagnosis --columns age,glucose --amplification 4 --out release"
KEPT = f"{PUBLISH} --domain domain.json"
NOISE = f"{KEPT} --dp-epsilon 1"
FIG1 = """\
name,age,job,problem
George,45,Manager,HIV
John,45,Manager,Cold
Kate,45,Lawyer,Obesity
Bill,30,Lawyer,Cold
Alan,27,Clerk,Cold
"""
SCREENS = {
    "refused": PUBLISH,
    "accepted": f"{PUBLISH} --accept-answers",
    "kept": KEPT,
    "dry": f"{KEPT} --dry-run",
    "strata": f"{PUBLISH} --by sex --columns age,sex",
    "strata, refused": f"{PUBLISH} --by sex --columns age,glucose,sex",
    "noise": NOISE,
    "noise, dry": f"{NOISE} --dry-run",
    "advise": "advise patients.csv --class diagnosis --columns age,glucose",
    "domain": "domain patients.csv --class diagnosis --out begun.json",
    "attack": "attack patients.csv --class diagnosis --columns age,glucose",
    "closeness": "closeness patients.csv --class diagnosis --columns age,sex --r 9 --out close "
    "--prior healthy=0.6,diabetes=0.4",
    "skyline check": "skyline check patients.csv --by age,sex --sensitive bmi --point 3,4,2,0.5",
    "skyline find": "skyline find patients.csv --by age,sex --sensitive bmi --confidence 0.2",
    "skyline anonymize": "skyline anonymize patients.csv --quasi age,sex --sensitive bmi --k 9 --out people",
    "check": "check patients.csv --template 'age,sex -> bmi=obese <= 10%'",
    "disclose": "disclose patients.csv --columns age,sex,bmi --template 'age,sex -> bmi=obese <= 40%'",
    "disguise": "disguise patients.csv --theta 0.8 --groups sex --keep diagnosis --out told",
    "plan": "response plan --theta 0.8 --groups a,b --each --n 100",
    "risk": "risk fig1.csv --view name,age --view age,problem --identity name --attribute problem "
    "--threshold 0.5",
    "risk, advised": "risk fig1.csv --identity name --attribute problem --advise age,job",
}
# Verbs that take what was published, and a policy.
USES = {
    "predict": "predict release patients.csv --domain domain.json",
    "predict to a file": "predict release patients.csv --domain domain.json --name p --out scored.csv",
    "points": "points release",
    "export": "export release --out rule.py",
    "report": "report release --out facts.html",
    "gate": "gate release --policy demands.toml",
    "gate, measured": "gate release --policy demands.toml --against patients.csv",
    "gates": "gate release/certificate.json release --policy strict.toml",
    "init": "init patients.csv --class diagnosis --out begun.toml",
}
DEMANDS = '[release]\nclass = "diagnosis"\namplification = {}\n[limits]\nundeclared_columns = "none"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = PATIENTS.read_text(encoding="utf-8").splitlines(keepends=True)
    Path("patients.csv").write_text("".join(lines[:601]), encoding="utf-8")
    Path("domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    Path("fig1.csv").write_text(FIG1, encoding="utf-8")
    return tmp_path


def said(run, command):
    code, printed, errors = run(*shlex.split(command), "--json")
    assert errors == ""
    return code, json.loads(printed)


def parsed(command):
    """What the real command line makes of a command: its verb, with all options taken."""
    words = shlex.split(command)
    assert words[0] == "nbcfast"
    with verbs.make_context("nbcfast", words[1:]) as context:
        group, words = verbs, [*context._protected_args, *context.args]
        while True:
            name, group, words = group.resolve_command(context, words)
            if not hasattr(group, "commands"):
                return group.make_context(name, words, parent=context)


@pytest.mark.parametrize("name", USES)
def test_verbs_that_use_what_was_published_say_the_same(run, folder, name):
    assert run(*shlex.split(KEPT))[0] == 0
    Path("demands.toml").write_text(DEMANDS.format(4), encoding="utf-8")
    Path("strict.toml").write_text(DEMANDS.format(3), encoding="utf-8")
    expect_one_screen(run, folder, name, USES[name], replacing="--out" in USES[name])


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_says_what_json_says_and_its_commands_are_commands(run, folder, name):
    expect_one_screen(run, folder, name, SCREENS[name], replacing=name == "domain")


def expect_one_screen(run, folder, name, command, replacing):
    """What a verb prints is what its JSON says, and what it says to type can be typed."""
    code, found = said(run, command)
    summary = found["summary"]
    for path in ("release", "close", "people", "told"):
        assert not (folder / path).exists() or "dry" not in name
        # A folder that the verb has just written itself.
        run_over = " --overwrite" if name in SCREENS and (folder / path).exists() else ""
        command += run_over
    if replacing:
        command += " --overwrite"
    left, printed, errors = run(*shlex.split(command))
    assert (left, errors) == (code, "")
    lines = printed.splitlines()
    assert lines[0] == f"{summary['verdict']}   {summary['about']}"
    marks = {"shows": "x", "unmeasured": "?", "warned": "!", "kept": "ok"}
    if "noise" not in name:  # which is drawn anew
        for finding in summary["findings"]:
            start = re.escape(f"  {marks[finding['state']]}")
            line = rf"^{start} +{re.escape(finding['about'])} +{re.escape(finding['text'])}$"
            assert re.search(line, printed, re.MULTILINE), finding
    for decision in summary["decisions"]:
        assert decision["question"] in printed
        for step in decision["steps"]:
            # A file that is there is not named twice, and what was typed is typed again.
            assert f"     {step}" in printed or "--overwrite" in printed
        for typed in decision["commands"]:
            assert parsed(typed).command.name
    for remark in summary["remarks"]:
        assert f"- {remark}" in printed
    if code == 0:
        assert summary["state"] in ("kept", "warned") or "accepted" in summary["verdict"] or name == "attack"


def test_details_are_for_whoever_asks(run, folder):
    _, brief, _ = run(*shlex.split(KEPT))
    assert "--verbose shows the details" in brief
    assert "adversary" not in brief
    _, long, _ = run(*shlex.split(KEPT), "--verbose", "--overwrite")
    assert long.startswith(brief.removesuffix("--verbose shows the details\n"))
    assert "adversary" in long
    assert nbcfast.load("release").certificate.notes[0] in long


def test_boilerplate_stands_once(run, folder):
    _, printed, _ = run(*shlex.split(PUBLISH))
    assert printed.count("not differential privacy") <= 1
    _, printed, _ = run(*shlex.split(KEPT))
    assert printed.count("not differential privacy") == 1


class TestColours:
    @pytest.fixture
    def terminal(self, monkeypatch):
        for name in ("COLUMNS", "NO_COLOR", "TTY_COMPATIBLE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setenv("TERM", "xterm-256color")

    def test_marks_and_words_say_the_same_without_them(self, run, folder, terminal, monkeypatch):
        plain = run(*shlex.split(PUBLISH))[1]
        assert "\x1b" not in plain
        monkeypatch.setenv("FORCE_COLOR", "1")
        coloured = run(*shlex.split(PUBLISH))[1]
        assert "\x1b[31mx" in coloured
        assert "\x1b[1;31mDO NOT PUBLISH YET" in coloured
        assert "\x1b[32mok" in coloured
        monkeypatch.setenv("NO_COLOR", "1")
        bare = run(*shlex.split(PUBLISH))[1]
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", bare)
        assert "  x   values of one class" in bare

    def test_a_folded_command_can_be_copied(self, run, folder, terminal, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "60")
        printed = re.sub(r"\x1b\[[0-9;]*m", "", run(*shlex.split(PUBLISH))[1])
        whole = printed.replace("\\\n", " ")
        [accept] = [line for line in whole.splitlines() if line.endswith("--accept-answers")]
        assert shlex.split(accept) == shlex.split(f"nbcfast {PUBLISH} --accept-answers")
        assert max(map(len, printed.splitlines())) <= 60

    def test_marks_are_those_of_every_terminal(self, run, folder):
        printed = run(*shlex.split(PUBLISH))[1]
        assert printed.isascii()


class TestDryRuns:
    @pytest.mark.parametrize(
        ("command", "code"),
        [
            (PUBLISH, 1),
            (KEPT, 0),
            (f"{PUBLISH} --accept-answers", 0),
            (f"{PUBLISH} --by sex --columns age,sex", 0),
            (f"{PUBLISH} --by sex --columns age,glucose,sex", 1),
        ],
    )
    def test_everything_is_as_it_would_be_but_nothing_is_written(self, run, folder, command, code):
        before = sorted(os.listdir())
        left, dry = said(run, f"{command} --dry-run --dataset rows.csv")
        assert (left, sorted(os.listdir())) == (code, before)
        left, wet = said(run, command)
        assert left == code
        assert dry["findings"] == wet["findings"]
        assert dry["summary"]["findings"] == wet["summary"]["findings"]
        assert dry["files"] == []
        assert dry["summary"]["about"].endswith("(dry run: nothing was written)")
        if code == 0:
            assert dry["summary"]["verdict"] == f"would be {wet['summary']['verdict']}"
            again = next(one for one in dry["summary"]["decisions"] if one["question"] == WET)["commands"][0]
            assert "--dry-run" not in again
            assert run(*shlex.split(again)[1:], "--overwrite")[0] == 0
        else:
            assert dry["summary"]["verdict"] == wet["summary"]["verdict"] == "DO NOT PUBLISH YET"

    def test_a_menu_is_searched(self, run, folder):
        menu = {
            "age": [DOMAIN["age"], {"out": True}],
            "glucose": [DOMAIN["glucose"]],
            "diagnosis": [DOMAIN["diagnosis"]],
        }
        Path("menu.json").write_text(json.dumps(menu), encoding="utf-8")
        command = KEPT.replace(" --columns age,glucose", "").replace(
            "--domain domain.json", "--menu menu.json"
        )
        left, dry = said(run, f"{command} --dry-run")
        assert left == 0
        assert "domain" in {finding["about"] for finding in dry["summary"]["findings"]}
        assert not Path("release").exists()

    def test_with_noise_nothing_is_drawn(self, run, folder, monkeypatch):
        def refuse(*_):
            raise AssertionError("noise was drawn for a release")

        monkeypatch.setattr("nbcfast.publishing.noisy_prepared.noisy_counts", refuse)
        left, dry = said(run, f"{NOISE} --dry-run")
        assert left == 0
        summary = dry["summary"]
        assert summary["verdict"] == "would be published with noise of epsilon 1"
        assert dry["not_for_publication"]["agreement"]["runs"] == 10
        assert "the release is drawn only when it is written" in summary["remarks"][0]
        assert not Path("release").exists()

    @pytest.mark.parametrize("noise", [(), ("--dp-epsilon", "1")])
    def test_nothing_is_entered_into_a_ledger(self, run, folder, noise):
        command = (*shlex.split(KEPT), "--ledger", "book", *noise)
        assert run(*command, "--dry-run")[0] == 0
        assert not Path("book").exists()
        assert run(*command)[0] == 0
        before = Path("book").read_bytes()
        left = run(*command, "--dry-run", "--overwrite")[0]
        assert left == (0 if noise else 4)
        assert Path("book").read_bytes() == before

    def test_what_would_be_refused_is_bad_input_here_too(self, run, folder):
        Path("release").mkdir()
        Path("release/mine").touch()
        code, printed, errors = run(*shlex.split(KEPT), "--dry-run")
        assert (code, printed) == (2, "")
        assert "release" in errors


def test_what_is_no_certificate_is_named_and_nobody_accused(run, refused, tmp_path):
    menu, domain, text = tmp_path / "menu.json", tmp_path / "domain.json", tmp_path / "copy.json"
    menu.write_text(json.dumps({"sex": [["female", "male"], {"out": True}]}))
    domain.write_text(json.dumps(DOMAIN))
    for path, seems in (
        (menu, "a menu or a domain: --menu takes"),
        (domain, "a domain: `publish --domain` takes it"),
        (PATIENTS, "a table: `nbcfast inspect` says what it holds"),
    ):
        said = refused("verify", path)
        assert said.startswith(
            f"{path}: expected a folder, or the certificate.json in it; this looks like {seems}"
        )
        assert "publisher" not in said
    text.write_text('{"kind": "release"}\n')  # a certificate that was damaged is one all the same
    code, out, _ = run("verify", text)
    assert code == 1
    assert "NOT VERIFIED" in out


def test_the_details_of_verify_say_each_claim_once_and_numbers_exactly(run, tmp_path):
    made = nbcfast.Viewset([7, 6], {"job": [[5, 3], [2, 3]]}, classes=["no", "yes"])
    nbcfast.safety_transform(made, 4, gauge=False).save(tmp_path / "out")
    _, plain, _ = run("verify", tmp_path / "out")
    _, full, _ = run("verify", tmp_path / "out", "--verbose")
    assert "claim, unchecked" in plain
    assert "claim, unchecked" not in full
    for claim in nbcfast.verify(tmp_path / "out").claims:
        assert full.count(claim) == 1
    exact = next(one.text for one in nbcfast.verify(tmp_path / "out").checks if one.name == "amplification")
    assert re.search(r" = [0-9]+/[0-9]+ <= 4", exact)
    assert exact in full
    assert exact not in plain


def test_values_that_may_be_known_are_listed(refused, tmp_path):
    given = ("attack", PATIENTS, "--class", "diagnosis", "--columns", "glucose,age")
    expected = "expected 'high' or 'low' or 'normal' or 'raised'"
    assert f"'rised' is none of its 4 values: {expected}" in refused(*given, "--given", "glucose=rised")
    template = ("templates", "check", PATIENTS, "--template", "age -> glucose=rised <= 75%")
    assert f"'rised' is none of its 4 values: {expected}" in refused(*template)


def test_what_is_generalised_next_has_the_words_of_today(run):
    judged = "--by age,sex --sensitive bmi --point 3,4,2,0.5"
    _, out, _ = run("skyline", "check", PATIENTS, *shlex.split(judged))
    assert "nbcfast skyline anonymize" in out
    assert "--by age,sex" in out
    assert "--quasi" not in out
