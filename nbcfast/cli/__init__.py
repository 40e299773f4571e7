"""The command line: `nbcfast VERB ...`. The verbs are in `nbcfast.cli.verbs`, one function a verb.

This file imports none of the packages of the `cli` extra, so that a missing one is named in one line.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from nbcfast.verify_release import complain, printable, silence

__all__ = ["main", "printable"]

EXTRA = ("click", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave: 0 for yes, 1 for no, 2 for bad input, 130 after Ctrl-C.

    Whatever goes wrong is one line on stderr; with the environment variable NBCFAST_TRACEBACK set, the
    traceback comes before it.
    """
    if not _open_streams():
        complain("nbcfast: stdout is closed: give it a file, or /dev/null")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label that the terminal cannot spell is escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        from nbcfast.cli.verbs import run

        code = run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader has left, and so has its interest; the interpreter would complain once more on exit.
        silence(sys.stdout)
        code = 2
    except Exception as error:
        if os.environ.get("NBCFAST_TRACEBACK"):
            import traceback

            traceback.print_exc()
        complain(f"nbcfast: {_one_line(error)}")
        code = 2
    sys.exit(code)


def _open_streams() -> bool:
    """Whether there is a stdout; what else is closed of the three streams goes to nowhere.

    A file that is opened takes the lowest free number: one that is written could get that of stdout or of
    stderr, and the words of some library would stand in it.
    """
    open_ = sys.stdout is not None
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        number = 0
        while number <= 2:
            number = os.open(os.devnull, os.O_RDWR)
        os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    return open_


def _one_line(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.split(".")[0] in EXTRA:
        missing = error.name.split(".")[0]
        return f"the command line needs {missing}, which is missing: pip install {' '.join(EXTRA)}"
    if isinstance(error, OSError) and error.strerror:
        name = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return printable(f"{name}{error.strerror}")
    if isinstance(error, MemoryError):
        return "not enough memory"
    text = " ".join(str(error).split())
    if isinstance(error, RuntimeError) and text.startswith("can't start new thread"):
        from nbcfast._threads import NO_THREAD

        return NO_THREAD
    if isinstance(error, ValueError | TypeError | OSError | OverflowError | ImportError) and text:
        return printable(text)
    return printable(
        f"{type(error).__name__}: {text} (not expected: set NBCFAST_TRACEBACK=1 and report the traceback)"
    )
