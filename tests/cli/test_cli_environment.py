"""What the environment and --threads say of how work is done, and never of what comes out."""

import io
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from frozen import prepare
from rich.console import Console
from rich.text import Text

import nbcfast
from nbcfast._core import threads
from nbcfast.cli import options
from nbcfast.cli.bars import progress
from nbcfast.cli.grammar import leaves

ROOT = Path(__file__).resolve().parents[2]
options.load()
COMPUTING = {
    path
    for path, command in leaves(options.verbs).items()
    if any("--threads" in param.opts for param in command.params)
}
JOBS = {
    ("inspect",): "patients.csv --class diagnosis",
    ("domain",): "patients.csv --out domain.json --overwrite",
    ("advise",): "small.csv --class diagnosis --columns age,sex --folds 2",
    ("publish",): "small.csv --class diagnosis --amplification 4 --accept-answers --columns age,sex "
    "--out release --overwrite",
    ("verify",): "release --against small.csv",
    ("attack",): "release --against small.csv",
    ("closeness",): "small.csv --class diagnosis --columns sex,glucose --prior healthy=1/2,diabetes=1/2",
    ("risk",): "fig1.csv --view name,age --view age,problem --identity name --attribute problem",
    ("skyline", "check"): "patients.csv --by age,sex --sensitive bmi --point 3,4,2,0.5",
    ("skyline", "find"): "patients.csv --by age,sex --sensitive bmi --confidence 0.95",
    ("skyline", "anonymize"): "patients.csv --by age,sex --sensitive bmi --k 5 --out groups.csv --overwrite",
    ("templates", "check"): "people.csv --template 'Job -> Bankruptcy=Discharged <= 75%'",
    ("templates", "disclose"): "people.csv --template 'Job -> Bankruptcy=Discharged <= 75%'",
    ("response", "disguise"): "survey.csv --theta 0.8 --groups smokes --seed 1 --out told --overwrite",
    ("response", "estimate"): "told --class smokes",
}


@pytest.fixture(scope="module")
def once():
    """Not here, where the same is to come out again."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("work")
    prepare(path)
    (path / "small.csv").rename(path / "few.csv")
    (path / "small.csv").write_text("".join((path / "few.csv").read_text().splitlines(keepends=True)[:121]))
    return path


def test_verbs_that_compute_have_threads():
    assert set(JOBS) <= COMPUTING
    others = {("ledger", "show"), ("ledger", "check"), ("response", "plan"), ("completion",)}
    assert not others & COMPUTING


def test_no_result_depends_on_threads(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(threads, "ONE_THREAD_BYTES", 1)  # several work, however little there is to do
    seen, used = [], set()
    count = threads.n_threads

    def counted(asked, n_bytes):
        seen.append(count(asked, n_bytes))
        return seen[-1]

    for module in list(sys.modules.values()):
        if getattr(module, "n_threads", None) is count:
            monkeypatch.setattr(module, "n_threads", counted)
    for path, words in JOBS.items():
        found = []
        for n in (1, 3):
            found.append(run(*path, *shlex.split(words), "--threads", n))
            assert set(seen) <= {1, n}, (path, n)
            used |= set(seen)
            seen.clear()
        assert found[0] == found[1]
        assert found[0][0] in (0, 1), found[0]
    assert used == {1, 3}


def test_the_variable_is_the_option_that_is_not_typed(run, refused, folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = ("inspect", "few.csv", "--class", "diagnosis")
    found = run(*asked)
    for value in ("1", "2", ""):
        monkeypatch.setenv("NBCFAST_THREADS", value)
        assert run(*asked) == found
    monkeypatch.setenv("NBCFAST_THREADS", "many")
    assert refused(*asked) == "NBCFAST_THREADS must be a whole number from 1 to 4,096, got 'many'"
    assert refused("response", "plan", "--n", 5, "--theta", "0.8", "--groups", "a").startswith(
        "NBCFAST_THREADS"
    )
    monkeypatch.delenv("NBCFAST_THREADS")
    for wrong in ("0", "4097", "x", "-1"):
        assert "'--threads'" in refused(*asked, "--threads", wrong)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("value", "drawn"), [(None, True), ("", True), ("1", False)])
def test_no_bar_is_drawn_where_the_variable_says_so(value, drawn, monkeypatch):
    monkeypatch.delenv("NBCFAST_NO_PROGRESS", raising=False)
    if value is not None:
        monkeypatch.setenv("NBCFAST_NO_PROGRESS", value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress("counting") as report:
        assert (report is not None) is drawn


def test_no_color_takes_colours_away(monkeypatch):
    for value, coloured in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", value)
        monkeypatch.setenv("TERM", "xterm-256color")
        out = Terminal()
        Console(file=out).print(Text("x", style="red"))
        assert ("\x1b[31m" in out.getvalue()) is coloured


def test_a_real_terminal_without_colour_and_bars(folder, monkeypatch):
    pty = pytest.importorskip("pty")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("NBCFAST_NO_PROGRESS", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    read = bytearray()

    def keep(number):
        data = os.read(number, 4096)
        read.extend(data)
        return b"\0"  # none of it is shown here

    code = pty.spawn([sys.executable, "-m", "nbcfast", "inspect", "few.csv", "--class", "diagnosis"], keep)
    assert os.waitstatus_to_exitcode(code) == 0
    assert b"few.csv" in read
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]", read)
    assert b"reading" not in read


def test_the_page_names_every_variable():
    """Those that the package reads, and no other."""
    page = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    read = {
        name
        for path in Path(nbcfast.__file__).parent.rglob("*.py")
        for name in re.findall(r"\b_?NBCFAST_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert read == set(re.findall(r"\b_?NBCFAST_[A-Z_]+\b", page.split("## For tests and builds")[0]))
