"""A shell sees the same of a command `nbcfast` that a warm process serves as of one that starts by itself."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import warm

import nbcfast

pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks of POSIX")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LINES = (
    "nbcfast publish patients.csv --class diagnosis --amplification 4 --columns age,bmi --out made/release",
    "nbcfast verify made/release >told; echo left with $?",
    "COLUMNS=50 nbcfast inspect patients.csv --class diagnosis | tail -n 4",
    "nbcfast verify none 2>&1 >/dev/full | cat; exit ${PIPESTATUS[0]}",
    "cd made && nbcfast inspect ../patients.csv --class sex --json </dev/null",
)


@pytest.fixture(scope="module")
def place():
    with warm.commands() as place:
        yield place


def seen(lines, folder, places):
    """What is printed, said and left with, line by line, and the files that are then there."""
    (folder / "made").mkdir(parents=True)
    shutil.copy(EXAMPLES / "patients.csv", folder)
    path = os.pathsep.join((*map(str, places), os.path.dirname(sys.executable), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path}
    done = [
        subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True)
        for line in lines
    ]
    printed = [(one.returncode, one.stdout, one.stderr) for one in done]
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return printed, files


def test_commands_of_both_kinds_print_write_and_leave_alike(place, tmp_path):
    cold = seen(LINES, tmp_path / "cold", [])
    assert [code for code, _, _ in cold[0]] == [0, 0, 0, 2, 0]
    assert all(out or said for _, out, said in cold[0])
    assert seen(LINES, tmp_path / "warm", [place]) == cold


def test_it_is_the_warm_command_that_a_page_finds(place, tmp_path):
    ((code, out, _),) = seen(["type -P nbcfast && nbcfast --version"], tmp_path / "run", [place])[0]
    assert (code, out.decode().splitlines()[0]) == (0, f"{place}/nbcfast")
    assert out.endswith(f"version {nbcfast.__version__}\n".encode())


def test_a_script_runs_as_if_python_had_started_for_it(place, tmp_path):
    script = (
        "import atexit, os, sys; atexit.register(os.write, 2, b'last'); "
        "print(sys.argv[1:], __name__, sys.stdin.read()); sys.exit(7)"
    )
    for python in (sys.executable, place + "/warm-python"):
        command = [python, "-c", script, "one", "two"]
        done = subprocess.run(command, input="all", capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (7, "['one', 'two'] __main__ all\n", "last")


@pytest.mark.parametrize(("ended", "shown"), [("0", 0), ("3", 3), ("-9", 137)])
def test_the_caller_leaves_with_what_a_shell_shows(ended, shown, tmp_path):
    """Also of a command that a signal ends."""
    caller = tmp_path / "nbcfast"
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listening:
        address = str(Path(short) / "socket")
        caller.write_text(warm.CALLER.format(python=sys.executable, address=address))
        listening.bind(address)
        listening.listen()
        process = subprocess.Popen([sys.executable, "-IS", caller, "verify", "it"], cwd=tmp_path)
        call, _ = listening.accept()
        with call:
            call.recv(1)
            asked = json.loads(call.makefile("rb").read())
            call.sendall(ended.encode())
        assert process.wait() == shown
    assert (asked["arguments"], asked["folder"]) == ([str(caller), "verify", "it"], str(tmp_path))


def test_nothing_is_yielded_where_nothing_serves(tmp_path, monkeypatch):
    monkeypatch.setattr(warm, "__file__", str(tmp_path / "none.py"))
    with pytest.raises(RuntimeError, match="nothing serves: it left with 2"), warm.commands():
        pass
