"""Ctrl-C: whether something may have been written by then, and one line for it while imports still go on."""

from __future__ import annotations

import os
import signal
import threading
from contextvars import ContextVar
from itertools import pairwise
from os import _exit as leave_now
from types import FrameType

STOPPED = "nbcfast: stopped"
NOTHING = f"{STOPPED}; nothing was written"
_TOUCHED: ContextVar[bool] = ContextVar("touched", default=False)


def touch() -> None:
    """From now on something may have been written under its name."""
    _TOUCHED.set(True)


def begin_anew() -> None:
    """Nothing has been written yet."""
    _TOUCHED.set(False)


def stopped_text() -> str:
    """What is said of a command that Ctrl-C has ended."""
    return STOPPED if _TOUCHED.get() else NOTHING


def is_command(given: list[str], typed: list[str]) -> bool:
    """Whether a process is the command, by `sys.argv` and `sys.orig_argv`, and no program that imports us.

    Examples
    --------
    >>> is_command(["/usr/bin/nbcfast", "verify"], []), is_command(["-m"], ["python", "-m", "nbcfast"])
    (True, True)
    >>> is_command(["notebook.py"], ["python", "notebook.py"])
    False
    """
    first = given[0] if given else ""
    if first == "-m":
        return ("-m", "nbcfast") in pairwise(typed)
    return os.path.basename(first) in ("nbcfast", "nbcfast.exe", "nbcfast-script.py")


def at_once(number: int, frame: FrameType | None) -> None:
    """What Ctrl-C does before `main` begins: nothing is open yet, and libraries make other errors of it."""
    os.write(2, f"{NOTHING}\n".encode())
    leave_now(130)


def stop_at_once() -> None:
    """Let Ctrl-C end the imports of the command, where nobody else has said what it does."""
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, at_once)
