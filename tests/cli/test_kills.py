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

pytestmark = [
    pytest.mark.apart,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals and forks of POSIX"),
]

HERE = Path(__file__).resolve().parents[1] / "support"
VERBS = [
    "publish",
    "publish deep",
    "publish dataset",
    "publish again",
    "publish both again",
    "publish by a policy",
    "init",
    "init again",
    "anonymize",
    "anonymize csv",
    "anonymize csv again",
    "anonymize on disk",
    "anonymize on disk, in tmp",
    "disclose",
    "disguise",
    "closeness",
    "export again",
    "report again",
    "plot",
    "predict again",
    "points again",
]


def driven(tmp_path_factory, *hows):
    done = subprocess.run(
        [sys.executable, HERE / "kill_driver.py", tmp_path_factory.mktemp("kills"), *hows],
        capture_output=True,
        text=True,
        timeout=3600,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Where files may have no name until they are whole, and, at fewer moments, where they must have one.
SOME = ("some", "few-plain")


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    return driven(tmp_path_factory, *SOME)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("how", SOME)
def test_a_verb_that_is_killed(some, how, verb):
    assert sorted(some[how]) == sorted(VERBS)
    assert some[how][verb]["wrong"] == []
    assert some[how][verb]["tried"] in (4, 8)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["every", "every-plain"])
def test_each_verb_is_killed_at_20_moments_in_4_ways(tmp_path_factory, how):
    assert driven(tmp_path_factory, how) == {how: {verb: {"wrong": [], "tried": 80} for verb in VERBS}}


@pytest.fixture
def ending(monkeypatch):
    """Run `main` with a verb that is a function; the exit code."""

    def ending(verb):
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        monkeypatch.setattr("nbcfast.cli.options.run", lambda arguments: verb())
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
    assert capsys.readouterr() == ("", "nbcfast: stopped; nothing was written\n")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_while_it_is_imported_is_one_line():
    """The first half second of a command goes into imports, of which nobody wants a traceback."""
    script = (
        "import signal, sys; sys.argv = ['/usr/bin/nbcfast']\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'gmpy2': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from nbcfast.cli import main\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (130, "nbcfast: stopped; nothing was written\n")
    imported = script.replace("/usr/bin/nbcfast", "/home/me/notebook.py")  # whose Ctrl-C is not ours
    done = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, timeout=300)
    assert done.stderr.startswith("Traceback")


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


# A process of its own, which sends itself signals: the first while files are given their names, the others at
# every call that touches one from then on, or when `main` has left and the interpreter does, or all but has.
ENDED = """
import atexit, os, signal, sys
where, first, then, *arguments = sys.argv[1:]
first, then = signal.Signals[first], signal.Signals[then]
begun = False

class Late:
    def __del__(self, send=signal.raise_signal):
        send(then)

def sends(name, call):
    def sending(*arguments, **options):
        global begun
        if not begun and name == "link":
            begun = True
            signal.raise_signal(first)
        elif begun and where == "cleaning":
            signal.raise_signal(then)
        return call(*arguments, **options)
    return sending

for name in ("link", "lstat", "rename", "unlink", "rmdir", "walk"):
    setattr(os, name, sends(name, getattr(os, name)))
if where == "exit":
    atexit.register(signal.raise_signal, then)
if where == "modules":
    signal.late = Late()  # it goes when the modules do
sys.argv = ["nbcfast", *arguments]
from nbcfast.cli import main
main()
"""


@pytest.fixture(scope="module")
def python(served):
    """A Python, which is a fork of one that has imported the package."""
    return os.path.join(served, "warm-python") if served else sys.executable


@pytest.mark.parametrize("then", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("where", ["exit", "modules"])
@pytest.mark.parametrize("first", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_further_signals_change_nothing_until_the_process_is_gone(python, tmp_path, first, where, then):
    ends_by(first, python, tmp_path, first, where, then)


@pytest.mark.parametrize("then", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("first", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_at_every_call_do_not_cut_the_cleaning_up_short(python, tmp_path, first, then):
    ends_by(then if first == "SIGINT" else first, python, tmp_path, first, "cleaning", then)


def ends_by(name, python, tmp_path, first, where, then):
    """A verb that is sent these signals leaves as one says, and no file."""
    rows = tmp_path / "private.csv"
    rows.write_text("job,ill\n" + "a,no\nb,yes\n" * 9)
    for place in ("out", "tmp"):
        (tmp_path / place).mkdir()
    verb = ["skyline", "anonymize", rows, "--by", "job", "--sensitive", "ill", "--k", "2", "--no-attack"]
    target = ["--memory-limit", "1GiB", "--out", tmp_path / "out" / "made"]
    done = subprocess.run(
        [python, "-c", ENDED, where, first, then, *verb, *target],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    words = "nbcfast: stopped" if name == "SIGINT" else f"nbcfast: ended by {name}"
    assert done.returncode == 128 + signal.Signals[name]
    assert done.stderr.partition("; nothing was written")[0].rstrip("\n") == words
    assert [*(tmp_path / "out").iterdir(), *(tmp_path / "tmp").iterdir()] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_with_lines_left_for_a_full_device(name):
    script = (
        "import signal, sys; from nbcfast.cli import main, options; sys.argv = ['nbcfast']\n"
        f"options.run = lambda _: (print('a line'), signal.raise_signal(signal.{name})); main()"
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
    words = "nbcfast: stopped; nothing was written\n" if name == "SIGINT" else f"nbcfast: ended by {name}\n"
    assert (done.returncode, done.stderr) == (128 + signal.Signals[name], words)


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
