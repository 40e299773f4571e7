"""Bars on a terminal that say how far work has come."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

NO_PROGRESS = "NBCFAST_NO_PROGRESS"
ProgressCallback = Callable[[int, int], None]

PATIENCE = 0.5  # seconds until a step that counts nothing shows that it works


@contextmanager
def progress(what: str) -> Iterator[ProgressCallback | None]:
    """A `progress=` callback that draws a bar on stderr, or None where stderr is not a terminal.

    Nor is there one where the environment variable NBCFAST_NO_PROGRESS is set, and is not empty.
    """
    if os.environ.get(NO_PROGRESS) or not sys.stderr.isatty():
        yield None
        return
    bar = StageBar(what)
    try:
        yield bar.report
    finally:
        bar.close()


class StageBar:
    """The bar of one step. It moves to and fro where how far the step is, is not known.

    That is so before the first report, which may be a while, and after the last: whoever has counted to the
    end may have work left that nobody counts, and a bar that stands at 100 % says nothing of it.

    Parameters
    ----------
    what : str
        The step, in a word or two.
    """

    def __init__(self, what: str) -> None:
        # No time that is left: where steps grow harder, it would be that of the easy ones.
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task(what, total=None)
        self._task = self._bar.tasks[0]
        self._turn, self._is_over = threading.Lock(), False
        self._waiting = threading.Timer(PATIENCE, self._start)
        self._waiting.daemon = True
        with suppress(RuntimeError):  # a limit of the process may not allow a thread
            self._waiting.start()

    def _start(self) -> None:
        with self._turn, suppress(RuntimeError):  # it draws in a thread
            if not self._is_over:
                self._bar.start()

    def report(self, done: int, total: int) -> None:
        """How much is done; a total of 0 is not known."""
        self._start()  # here, so that nothing flickers when the work cannot even begin
        is_known = 0 <= done < total
        self._task.total = total if is_known else None
        self._bar.update(self._task.id, completed=done if is_known else 0)

    def close(self) -> None:
        """Take the bar away, if it was drawn."""
        self._waiting.cancel()
        with self._turn:
            self._is_over = True
        if self._bar.live.is_started:
            self._bar.stop()
