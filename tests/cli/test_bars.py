"""Bars: one for every step that may take a second, none that stands at 100 %, and none off a terminal."""

import io
import shlex
import sys
import threading
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from nbcfast.cli import bars

pytest.importorskip("pyarrow")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Timer:
    """In place of a clock: it is up when a test says so."""

    made = ()

    def __init__(self, _, function):
        self.function, self.daemon, self.cancelled = function, False, False
        Timer.made = (*Timer.made, self)

    def start(self):
        pass

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def terminal(monkeypatch):
    """A stderr that is a terminal, and a clock that stands."""
    found = Terminal()
    monkeypatch.setattr(bars, "sys", SimpleNamespace(stderr=found))
    monkeypatch.setattr(bars, "Console", lambda **_: Console(file=found, force_terminal=True, width=80))
    monkeypatch.setattr(bars.threading, "Timer", Timer)
    monkeypatch.setattr(Timer, "made", ())
    return found


def test_off_a_terminal_there_is_none(monkeypatch):
    found = io.StringIO()
    monkeypatch.setattr(sys, "stderr", found)
    with bars.progress("working") as report:
        assert report is None
    assert found.getvalue() == ""


def test_a_step_that_is_short_draws_nothing(terminal):
    with bars.progress("working"):
        pass
    assert terminal.getvalue() == ""
    assert Timer.made[0].cancelled


def test_a_step_that_counts_nothing_shows_that_it_works(terminal):
    with bars.progress("working"):
        Timer.made[0].function()
        assert "working" in terminal.getvalue()
    assert "%" not in terminal.getvalue()


def test_a_timer_that_comes_too_late_draws_nothing(terminal):
    with bars.progress("working"):
        pass
    Timer.made[0].function()
    assert terminal.getvalue() == ""


def test_a_bar_never_stands_at_its_end(terminal):
    """Behind the last number there may be work that nobody counts."""
    bar = bars.StageBar("working")
    seen = []
    for done, total in ((0, 4), (1, 4), (3, 4), (4, 4), (5, 4), (0, 0), (2, 0), (2, 9)):
        bar.report(done, total)
        seen.append((bar._task.completed, bar._task.total))
    bar._bar.refresh()
    bar.close()
    assert seen == [(0, 4), (1, 4), (3, 4), (0, None), (0, None), (0, None), (0, None), (2, 9)]
    assert "100%" not in terminal.getvalue()


def test_a_process_that_may_start_no_thread_works_without(terminal, monkeypatch):
    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(Timer, "start", refused)
    with bars.progress("working") as report:
        report(1, 2)


ASKED = "patients.csv --class diagnosis --columns age,glucose --amplification 4 --accept-answers"

# Each verb that may be at work for a second, and the steps that it says.
VERBS = {
    "inspect patients.csv --class diagnosis": {"reading"},
    "domain patients.csv --class diagnosis": {"reading"},
    "init patients.csv --class diagnosis": {"reading"},
    f"publish {ASKED} --out out": {
        *("reading", "solving", "measuring leaks", "writing", "judging", "attacking", "inverting"),
    },
    f"publish {ASKED} --method safetytransform --holdout later.csv --out powers": {
        "transforming",
        "telling members",
    },
    f"publish {ASKED} --ledger book --out entered": {"reading the ledger"},
    "verify out": {"verifying"},
    "verify out --against patients.csv": {"loading", "reading", "comparing"},
    "gate out --policy policy.toml --against patients.csv": {
        *("loading", "reading", "comparing", "looking at the policy", "measuring leaks"),
    },
    "attack out --against patients.csv": {"loading", "attacking", "inverting", "comparing"},
    "closeness patients.csv --class diagnosis --columns age --prior healthy=1/2,diabetes=1/2 --r 5 "
    "--out cl": {"writing"},
    "skyline check patients.csv --by age,sex --sensitive bmi --point 3,4,2,0.5": {"checking"},
    "skyline find patients.csv --by age,sex --sensitive bmi --confidence 0.95": {"searching"},
    "skyline anonymize patients.csv --quasi age,sex --sensitive bmi --k 5 --out an": {
        *("splitting", "attacking", "writing"),
    },
    "verify an": {"verifying"},
    "check patients.csv --template 'age,sex -> glucose=high <= 75%'": {"checking"},
    "disclose patients.csv --template 'age -> glucose=high <= 40%' --out dis": {"disclosing", "writing"},
    "disguise survey.csv --theta 0.8 --groups smokes,drinks --each --keep health --out told": {
        *("reading", "disguising", "writing"),
    },
    "verify told": {"verifying"},
    "estimate told --class health": {"loading", "counting"},
    "risk patients.csv --view age,bmi --view bmi,sex --identity age --attribute sex": {"joining"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bars")
    for name in ("patients.csv", "survey.csv"):
        lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:400]), encoding="utf-8")
    lines = (EXAMPLES / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "later.csv").write_text("".join([lines[0], *lines[400:700]]), encoding="utf-8")
    (folder / "policy.toml").write_text(
        '[release]\nclass = "diagnosis"\namplification = 4\n', encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("line", VERBS)
def test_steps_rise_to_their_ends(line, place, monkeypatch, run):
    """Numbers rise from 0 to a total and never past it; where the total changes, it is another count."""
    steps = []

    class Recorded:
        def __init__(self, what):
            self.what, self.seen = what, []
            steps.append(self)

        def report(self, done, total):
            self.seen.append((done, total))

        def close(self):
            self.seen = [*self.seen, None]

    monkeypatch.chdir(place)
    monkeypatch.setattr(bars, "StageBar", Recorded)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, _, error = run(*shlex.split(line))
    assert code in (0, 1, 3), error
    assert {step.what for step in steps} >= VERBS[line]
    for step in steps:
        *seen, last = step.seen
        assert last is None  # every bar is taken away again
        for done, total in seen:
            assert 0 <= done <= total or total == 0, (step.what, done, total)
        for (done, total), (later, other) in pairwise(seen):
            assert later >= done or other != total or later == 0, (step.what, done, later, total)
