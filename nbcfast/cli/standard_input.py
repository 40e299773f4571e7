"""A table that comes through standard input, which is typed as -."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbcfast._reading.endings import STANDARD_INPUT, standard_input_like

DASH = Path("-")
FORMATS = {"csv": ".csv", "tsv": ".tsv", "parquet": ".parquet"}
STDIN = 0  # the number of the stream, whatever Python makes of it
BLOCK = 1 << 20


@contextmanager
def spooled(form: str | None) -> Iterator[Path | None]:
    """A path by which standard input can be read, as often as a verb likes; None without a format.

    A file that is put there is read where it is. What comes through a pipe is first copied to a temporary
    file that has no name, and is gone with the process: verbs look at the beginning of a table before they
    read it, and what a Parquet file holds stands at its end.
    """
    if form is None:
        yield None
        return
    if not os.path.exists(f"/proc/self/fd/{STDIN}"):
        raise ValueError("FILE -: this system cannot read standard input twice: give the name of a file")
    if os.isatty(STDIN):
        raise ValueError("FILE - is standard input, and that is a terminal: give it a file or a pipe")
    before = os.dup(STDIN)
    try:
        if not _can_be_read_again():
            with tempfile.TemporaryFile() as copy, open(STDIN, "rb", closefd=False) as stream:
                shutil.copyfileobj(stream, copy, BLOCK)
                copy.flush()
                os.dup2(copy.fileno(), STDIN)
        with standard_input_like(FORMATS[form]):
            yield Path(STANDARD_INPUT)
    finally:
        os.dup2(before, STDIN)
        os.close(before)


def _can_be_read_again() -> bool:
    """Whether standard input is a file, of which nobody has read the beginning."""
    return stat.S_ISREG(os.fstat(STDIN).st_mode) and os.lseek(STDIN, 0, os.SEEK_CUR) == 0
