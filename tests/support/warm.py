"""The command `nbcfast` from one process that has imported it already: `python -P warm.py FOLDER [MODULE..]`.

In FOLDER are made: `nbcfast`, a command for the front of PATH, `warm-python`, which takes "-c SCRIPT" and
its arguments, and the socket that both call. A fork serves each call: it has the caller's arguments,
folder, environment and three streams, runs what the command `nbcfast` runs, or the script, and ends as a
process of its own does; the caller leaves with the number that a shell shows of that. So a shell sees what
it would see, without the time in which Python starts and imports. The process ends when its stdin does.

What is not the same: a verb finds imported what another verb imports, its objects end with the process, a
signal to the caller does not reach it, and none of the streams may be closed. tests/house/test_warm.py
compares both, and pages are read with commands that start by themselves where HYPOTHESIS_PROFILE is thorough,
and README.md by `.ci/run`.
"""

import array
import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

CALLER = """#!{python} -IS
import array, json, os, socket, sys
call = socket.socket(socket.AF_UNIX)
call.connect({address!r})
streams = array.array("i", [0, 1, 2])
call.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
asked = {{"arguments": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}}
call.sendall(json.dumps(asked).encode("ascii"))
call.shutdown(socket.SHUT_WR)
code = int(call.makefile().read())
os._exit(code if code >= 0 else 128 - code)
"""


@contextlib.contextmanager
def commands(*modules):
    """A folder for the front of PATH, whose `nbcfast` is served until the block is left.

    By a process that has imported these modules too.
    """
    with tempfile.TemporaryDirectory() as folder:  # a short name: that of a socket has at most 100 characters
        yield from served(folder, *modules)


def served(folder, *modules):
    command = [sys.executable, "-P", __file__, folder, *modules]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if server.stdout.readline() != "ready\n":
            raise RuntimeError(f"nothing serves: it left with {server.wait()}")
        yield folder
    finally:
        server.communicate()


def main(folder, *modules):
    """Serve until stdin ends; returns in each fork that is to be the command."""
    from nbcfast import cli

    listening = socket.socket(socket.AF_UNIX)
    address = str(Path(folder) / "socket")
    listening.bind(address)
    listening.listen()
    for name in ("nbcfast", "warm-python"):
        caller = Path(folder) / name
        caller.write_text(CALLER.format(python=sys.executable, address=address), encoding="utf-8")
        caller.chmod(0o755)
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), contextlib.suppress(SystemExit):
        cli.main(["--help"])  # imports all verbs
    for module in modules:
        importlib.import_module(module)
    gc.freeze()  # a fork that collects would copy all that is imported
    print("ready", flush=True)
    while True:
        if sys.stdin in select.select([sys.stdin, listening], [], [])[0]:
            return
        call, _ = listening.accept()
        if not os.fork():
            listening.close()
            serve(call)  # returns in the fork of the fork
            if Path(sys.argv[0]).name == "nbcfast":
                ended(cli.main)
            script, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
            exec(script, {"__name__": "__main__"})
            sys.exit()
        call.close()
        with contextlib.suppress(ChildProcessError):  # those that waited are let go
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def ended(main):
    """End as Python does after `main`, but for the objects, which it would destroy one by one."""
    code = 0
    try:
        main()
    except SystemExit as left:
        if left.code is not None and not isinstance(left.code, int):
            raise
        code = left.code or 0
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # Python says so in its own way
    os._exit(code & 255)


def serve(call):
    """Return in a fork that is as the caller asks; the process itself waits for it and never returns."""
    _, given, _, _ = call.recvmsg(1, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    streams = array.array("i", given[0][2])
    asked = json.loads(call.makefile("rb").read())
    command = os.fork()
    if command:
        for stream in (0, 1, 2, *streams):
            os.close(stream)  # a pipe ends when the command does
        code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            call.sendall(str(code).encode("ascii"))
        os._exit(0)
    call.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        fresh = opened(number, getattr(sys, name))
        setattr(sys, name, fresh)
        setattr(sys, f"__{name}__", fresh)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = asked["arguments"]


def opened(number, model):
    """A standard stream as Python opens it; `model`, which it had, remembers whether another could seek."""
    size = 0 if number and model.write_through else -1
    raw = open(number, "wb" if number else "rb", buffering=size, closefd=False)  # noqa: SIM115
    words = {"encoding": model.encoding, "errors": model.errors, "write_through": model.write_through}
    lines = number == 2 or raw.isatty() or model.write_through
    return io.TextIOWrapper(raw, newline="\n" if number else None, line_buffering=lines, **words)


if __name__ == "__main__":
    main(*sys.argv[1:])
