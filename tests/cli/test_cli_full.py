"""Where stdout takes nothing more, or its reader has left, stderr says what was written all the same."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nbcfast
from nbcfast.cli.writings import noted
from nbcfast.policies import Policy
from nbcfast.verification.checks import verify

pytest.importorskip("pyarrow")

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
SURVEY = PATIENTS.with_name("survey.csv")
VERBS = {
    "publish": "publish patients.csv --accept-answers --class diagnosis --columns sex,glucose "
    "--amplification 4 --out out",
    "publish as JSON": "publish patients.csv --accept-answers --class diagnosis --columns sex,glucose "
    "--amplification 4 --out out --json",
    "publish by a policy": "publish patients.csv --policy policy.toml --accept-answers --out out",
    "init": "init patients.csv --class glucose --out out",
    "closeness": "closeness patients.csv --class diagnosis --columns sex,glucose "
    "--prior healthy=0.75,diabetes=0.25 --r 9 --out out",
    "disclose": "templates disclose patients.csv --columns sex,glucose --out out "
    "--template 'sex -> glucose=high <= 90%'",
    "anonymize": "skyline anonymize patients.csv --by age,sex --sensitive glucose --k 3 --out out",
    "disguise": "response disguise survey.csv --theta 0.8 --groups smokes,drinks --each --keep health "
    "--out out",
    "export": "export release --out out.sql",
}
ROWS = "predict release patients.csv --name predicted --out out.csv"


POLICY = """\
[release]
class = "diagnosis"
columns = ["sex", "glucose"]
amplification = 4
[limits]
undeclared_columns = "none"
accept_answers = true
"""


@pytest.fixture
def folder(tmp_path):
    for path in (PATIENTS, SURVEY):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[:400]
        (tmp_path / path.name).write_text("".join(lines), encoding="utf-8")
    views = nbcfast.Viewset([2, 3], {"was": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    nbcfast.Release(views, nbcfast.Certificate(amplification=4, tuples=2)).save(tmp_path / "release")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


@pytest.fixture
def command(folder, served):
    """Run a command in the folder: what it leaves with, and what it says on stderr."""
    start = [os.path.join(served, "nbcfast")] if served else [sys.executable, "-m", "nbcfast"]

    def command(line, stdout):
        done = subprocess.run(
            [*start, *shlex.split(line)],
            cwd=folder,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stderr

    return command


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("verb", VERBS)
def test_a_full_stdout(verb, command, folder):
    with open("/dev/full", "wb") as full:
        code, said = command(VERBS[verb], full)
    assert code == 2
    assert said.startswith("nbcfast: written: out")
    assert said.endswith("; stdout: No space left on device\n")
    assert said.count("\n") == 1
    if verb == "export":
        assert (folder / "out.sql").read_text(encoding="utf-8").endswith('FROM "input" AS "input"\n')
    elif verb == "init":
        assert Policy.of(folder / "out").class_name == "glucose"
    else:
        assert verify(folder / "out").exit_code in (0, 3)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_stdout_of_a_page(command, folder):
    command(VERBS["publish"], subprocess.DEVNULL)
    with open("/dev/full", "wb") as full:
        code, said = command("report out --out facts.html", full)
    assert (code, said) == (2, "nbcfast: written: facts.html; stdout: No space left on device\n")
    assert (folder / "facts.html").read_bytes().endswith(b"</html>\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_stdout_of_predictions(command, folder):
    views = nbcfast.Viewset([2, 3], {"sex": [[1, 2], [1, 1]]}, domains={"sex": ["female", "male"]})
    nbcfast.canonical.release(views, 4).save(folder / "release", overwrite=True)
    with open("/dev/full", "wb") as full:
        code, said = command(ROWS, full)
    assert (code, said) == (2, "nbcfast: written: out.csv; stdout: No space left on device\n")
    assert len((folder / "out.csv").read_text(encoding="utf-8").splitlines()) == 400
    code, said = command(f"{ROWS} --overwrite", subprocess.DEVNULL)
    assert (code, said) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_stdout_of_a_verb_that_writes_nothing(command):
    with open("/dev/full", "wb") as full:
        code, said = command("inspect patients.csv --class diagnosis", full)
    assert (code, said) == (2, "nbcfast: stdout: No space left on device\n")


def test_a_reader_that_has_left(command):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as left:
        code, said = command(VERBS["disclose"], left)
    assert code == 2
    assert said == "nbcfast: written: out/table.csv, out/certificate.json; stdout: Broken pipe\n"


def test_what_is_written_before_a_signal(folder, monkeypatch, run):
    """Ctrl-C in the attack that comes after the writing."""
    monkeypatch.chdir(folder)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with monkeypatch.context() as patch:
            patch.setattr(
                "nbcfast.cli.disclose_verb.guessed", lambda *_, number=number: signal.raise_signal(number)
            )
            left, out, said = run(*shlex.split(VERBS["disclose"]), "--overwrite")
        assert (left, out) == (code, "")
        assert said.startswith("nbcfast: out/table.csv, out/certificate.json: written\n")
    # The next command begins anew.
    left, _, said = run("inspect", "nothing.csv", "--class", "a")
    assert (left, noted()) == (2, "")
    assert "written" not in said


def test_what_goes_wrong_after_the_writing(folder, monkeypatch, run):
    monkeypatch.chdir(folder)

    def fails(*_):
        raise ValueError("too much")

    monkeypatch.setattr("nbcfast.cli.disclose_verb.guessed", fails)
    left, _, said = run(*shlex.split(VERBS["disclose"]))
    assert (left, said) == (2, "nbcfast: written: out/table.csv, out/certificate.json; too much\n")
