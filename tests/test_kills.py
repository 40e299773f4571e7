"""Whatever ends a verb, and when: what it publishes is whole or not there, and nothing private is left."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nbcfast import cli

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals and forks of POSIX")

HERE = Path(__file__).resolve().parent
VERBS = [
    "publish",
    "publish deep",
    "publish dataset",
    "publish again",
    "publish both again",
    "anonymize",
    "anonymize csv",
    "anonymize csv again",
    "anonymize on disk",
    "anonymize on disk, in tmp",
    "disclose",
    "disguise",
    "closeness",
    "plot",
]


def driven(tmp_path_factory, how, system):
    done = subprocess.run(
        [sys.executable, HERE / "kill_driver.py", tmp_path_factory.mktemp("kills"), how, system],
        capture_output=True,
        text=True,
        timeout=3600,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=["some", "few"])
def some(request, tmp_path_factory):
    """Where files may have no name until they are whole, and, at fewer moments, where they must have one."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    return driven(tmp_path_factory, request.param, {"some": "", "few": "plain"}[request.param])


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_is_killed(some, verb):
    assert sorted(some) == sorted(VERBS)
    assert some[verb]["wrong"] == []
    assert some[verb]["tried"] in (4, 8)


@pytest.mark.thorough
@pytest.mark.parametrize("system", ["", "plain"])
def test_each_verb_is_killed_at_20_moments_in_4_ways(tmp_path_factory, system):
    assert driven(tmp_path_factory, "every", system) == {verb: {"wrong": [], "tried": 80} for verb in VERBS}


@pytest.fixture
def ending(monkeypatch):
    """Run `main` with a verb that is a function; the exit code."""

    def ending(verb):
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        monkeypatch.setattr("nbcfast.cli.verbs.run", lambda arguments: verb())
        with pytest.raises(SystemExit) as left:
            cli.main([])
        assert {number: signal.getsignal(number) for number in before} == before
        return left.value.code

    return ending


def test_signals_end_with_one_line_and_128_and_their_number(ending, capsys):
    for number, code, name in ((signal.SIGTERM, 143, "SIGTERM"), (signal.SIGHUP, 129, "SIGHUP")):
        assert ending(lambda number=number: signal.raise_signal(number)) == code
        assert capsys.readouterr() == ("", f"nbcfast: ended by {name}\n")
    assert ending(lambda: signal.raise_signal(signal.SIGINT)) == 130
    assert capsys.readouterr() == ("", "")


def test_a_second_signal_does_not_cut_the_cleaning_up_short(ending, capsys):
    cleaned = []

    def verb():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGHUP)
            cleaned.append(True)

    def swallowed():
        for _ in range(2):
            try:
                signal.raise_signal(signal.SIGTERM)
            except cli.Ended:  # as in a destructor
                cleaned.append(False)
        signal.raise_signal(signal.SIGTERM)
        return 0

    assert ending(verb) == 143
    assert cleaned == [True]
    assert ending(swallowed) == 143
    assert cleaned == [True, False]
    assert capsys.readouterr().err.count("ended by") == 2


def test_signals_that_somebody_else_handles_stay_with_him(ending, capsys):
    seen = []
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    signal.signal(signal.SIGTERM, lambda *_: seen.append(True))

    def verb():
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        return 0

    try:
        assert ending(verb) == 0
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert seen == [True]
    codes = []
    thread = threading.Thread(target=lambda: codes.append(ending(lambda: 0)))
    thread.start()
    thread.join()
    assert codes == [0]
    assert capsys.readouterr() == ("", "")


def test_importing_takes_no_signals():
    script = (
        "import signal; before = {n: signal.getsignal(n) for n in signal.valid_signals()}; "
        "import nbcfast, nbcfast.cli, nbcfast.skyline, nbcfast.response, nbcfast.canonical; "
        "assert before == {n: signal.getsignal(n) for n in signal.valid_signals()}"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
