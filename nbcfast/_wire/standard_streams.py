"""One line on stderr, and streams whose reader has left."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO

from nbcfast._wire.messages import printable


def complain(text: str) -> None:
    """One line on stderr, if there is one that takes it."""
    if sys.stderr is None:  # print would take stdout in its place
        return
    try:
        print(printable(text), file=sys.stderr)
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: IO[str]) -> None:
    """Let the interpreter not try once more, on its way out, to write what could not be written.

    Its exit code would be another then.
    """
    with suppress(OSError, ValueError, AttributeError):  # of a stream without a file behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def let_go(stream: IO[str]) -> None:
    """Write what is left in the buffer of a stream, or see that the interpreter does not try it again."""
    try:
        stream.flush()
    except (OSError, ValueError):
        silence(stream)
