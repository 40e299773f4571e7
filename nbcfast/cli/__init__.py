"""The command line: `nbcfast VERB ...`. The verbs are in `*_verb` and `*_verbs`, which parse, call and print.

`options` has their group, and its `load` imports each that its tuple names. `grammar` has what groups, verbs
and options are, and what a verb leaves with; `version` what --version says; `standard_input` has tables for
which a dash is typed, and `completing` the words that a shell completes. `naming` puts errors in the words
of options (for the argument that a message begins with), and has `Options` for `nbcfast.publishing`.
`reading`, `declaring` and `parsing` take in, `printing` and `bars` give out; `targets` says what may be
written, `writings` what was. Parts of what verbs print are in `adversaries`, `against`, `leak_tables`,
`publish_screens`, `noise_screens`, `strata_screens`, `advice_screens`, `seen_screens` and `schemes_asked`;
`limits_asked` has the options of limits, `reports_asked` that of private pages, `policy_asked` what a policy
says of them, and `asked_again` the commands that are printed to be typed next. `publish_noisy` is `publish`
with noise, `publish_outputs` what both have, and `released_again` what is proposed beside what was written;
`unmet` is what they and others say where nothing meets a demand. `published_in` has the release that is
used, and `predict_screens` what `predict` prints; `attacked_models` is `attack` of a plain model.

This file imports none of the packages of the `cli` extra, so that a missing one is named in one line.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NoReturn

from nbcfast._core.stopping import at_once, begin_anew, stopped_text
from nbcfast._wire.messages import printable
from nbcfast._wire.standard_streams import complain, let_go, silence
from nbcfast.cli.writings import forget, noted

__all__ = ["main", "printable"]

EXTRA = ("click", "rich")
LETTERS = 30  # around one that cannot be written
ENDING = ("SIGTERM", "SIGHUP")
Handler = Callable[[int, FrameType | None], object] | int | None  # of a signal, as Python takes it


class Ended(BaseException):
    """A signal asks the process to end; nothing but `main` takes it for anything else."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave: 0 for yes, 1 for no, 2 for bad input, 3 where it is open, 130 after Ctrl-C.

    SIGTERM and SIGHUP end a command as Ctrl-C does, with what it has begun removed, by 143 and 129. Without
    `arguments` (those of the process are taken) the process is the command: further signals change nothing,
    until it is gone. Whatever goes wrong is one line on stderr, which names what is written all the same;
    with the environment variable NBCFAST_TRACEBACK set, the traceback comes before it.
    """
    if not _open_streams():
        complain("nbcfast: stdout is closed: give it a file, or /dev/null")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label that the terminal cannot spell is escaped
            stream.reconfigure(errors="backslashreplace")
    signals = _Signals()
    ended: int | None = None
    try:
        code = _code_of(sys.argv[1:] if arguments is None else list(arguments), signals)
    except KeyboardInterrupt:
        ended = signal.SIGINT
    except Ended as error:
        ended = error.number
    # Nothing is raised from here on: what comes now was recorded.
    if ended is None:
        ended = signals.late
    if ended is not None:
        code = 128 + ended
        if noted():
            complain(f"nbcfast: {printable(noted())}: written")
        elif ended == signal.SIGINT:
            complain(stopped_text())
        if ended != signal.SIGINT:
            complain(f"nbcfast: ended by {signal.Signals(ended).name}")
        let_go(sys.stdout)
    signals.give_back(alone=arguments is None)
    sys.exit(code)


def _code_of(arguments: list[str], signals: "_Signals") -> int:
    """Run one command; its exit code."""
    signals.look()
    forget()
    begin_anew()
    of_stdout = False
    try:
        from nbcfast.cli.options import run

        code = run(arguments)
        of_stdout = True
        sys.stdout.flush()
    except BrokenPipeError as error:
        # The reader has left, and so has its interest; the interpreter would complain once more on exit.
        silence(sys.stdout)
        if noted():
            complain(f"nbcfast: written: {printable(noted())}; stdout: {error.strerror}")
        return 2
    except Exception as error:
        if os.environ.get("NBCFAST_TRACEBACK"):
            import traceback

            traceback.print_exc()
        text = _one_line(error)
        # What is written is whole before anything is printed, and all other files have names.
        if isinstance(error, OSError) and error.filename is None and (of_stdout or noted()):
            text = f"stdout: {text}"
        complain(f"nbcfast: {f'written: {printable(noted())}; ' if noted() else ''}{text}")
        let_go(sys.stdout)  # which may be what went wrong
        return 2
    return code


class _Signals:
    """Signals that would end the process raise in `_code_of`, so that nothing half-written is left.

    What comes before and after it is recorded: nothing could be left half-written there, and nobody waits for
    an exception. What somebody else handles, or nohup ignores, stays as it is, and so does everything in a
    thread, which gets no signals.
    """

    def __init__(self) -> None:
        self.late: int | None = None  # that came outside
        self._first, self._came = 0, 0
        self._before: dict[int, Handler] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        usual: dict[int, Handler] = {signal.SIGINT: signal.default_int_handler}
        usual |= {getattr(signal, name): signal.SIG_DFL for name in ENDING if hasattr(signal, name)}
        for number, handler in usual.items():
            if signal.getsignal(number) in (handler, at_once):
                self._before[number] = handler
                signal.signal(number, self._take)

    def _take(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not _code_of.__code__:
            frame = frame.f_back
        if frame is None:
            self.late = self.late or number
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            self._came += 1
            self._first = self._first or number
            # A terminal that closes may send both, and what comes during the cleaning up would cut it short.
            # The third is somebody who insists: the first may have come where Python drops exceptions.
            if self._came in (1, 3):
                raise Ended(self._first)

    def look(self) -> None:
        """Raise what came before."""
        if self.late == signal.SIGINT:
            raise KeyboardInterrupt
        if self.late is not None:
            raise Ended(self.late)

    def give_back(self, alone: bool) -> None:
        """Let signals do what they did before, or nothing any more if the process has only to leave."""
        for number, handler in self._before.items():
            # The interpreter would take a handler of Python away before it ends, but leaves this as it is.
            signal.signal(number, signal.SIG_IGN if alone else handler)


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


def _near(error: OSError) -> str:
    """The files beside it that may be meant by a name that none has."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str | bytes):
        return ""
    from nbcfast._core.spelling import nearest

    place, name = os.path.split(os.fsdecode(error.filename))
    try:
        found = nearest(name, os.listdir(place or "."))
    except OSError:
        return ""
    return f"; did you mean {' or '.join(os.path.join(place, one) for one in found)}?" if found else ""


def _one_line(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.split(".")[0] in EXTRA:
        missing = error.name.split(".")[0]
        return f"the command line needs {missing}, which is missing: pip install {' '.join(EXTRA)}"
    if isinstance(error, OSError) and error.strerror:
        name = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        # What came into being while we worked is refused in the words of Python.
        text = error.strerror.replace("overwrite=True", "--overwrite")
        return printable(f"{name}{text}{_near(error)}")
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, UnicodeEncodeError):
        around = error.object[max(0, error.start - LETTERS) : error.end + LETTERS]
        return printable(f"a text has a character that cannot be written in {error.encoding}: {around!r}")
    text = " ".join(str(error).split())
    if isinstance(error, RuntimeError) and text.startswith("can't start new thread"):
        from nbcfast._core.threads import NO_THREAD

        return NO_THREAD
    if isinstance(error, ValueError | TypeError | OSError | OverflowError | ImportError) and text:
        return printable(text)
    return printable(
        f"{type(error).__name__}: {text} (not expected: set NBCFAST_TRACEBACK=1 and report the traceback)"
    )
