"""Bars on a terminal that say how far work has come."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

ProgressCallback = Callable[[int, int], None]


@contextmanager
def progress(what: str) -> Iterator[ProgressCallback | None]:
    """A `progress=` callback that draws a bar on stderr, or None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)

    def report(done: int, total: int) -> None:
        with suppress(RuntimeError):  # it draws in a thread, which a limit of the process may not allow
            bar.start()  # here, so that nothing flickers when the work cannot even begin
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
