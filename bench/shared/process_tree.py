"""CPU time of a process and of all that it has started: a JVM, and the Pythons that this starts (Linux)."""

import os
import time
from pathlib import Path

PROC = Path("/proc")


def tree_time() -> float:
    """Seconds that this process, those below it, and those that they waited for have worked.

    Of others than this one the kernel tells hundredths of a second.

    Raises
    ------
    ImportError
        Where the system does not tell: what needs the clock is skipped as if a package was missing.
    """
    if not (PROC / "self" / "stat").exists():
        raise ImportError("CPU time of a process tree needs /proc, as Linux has it")
    waited = os.times()
    ticks = sum(_ticks_below())
    return (
        time.process_time() + waited.children_user + waited.children_system + ticks / os.sysconf("SC_CLK_TCK")
    )


def _ticks_below() -> list[int]:
    """Of each process below this one its ticks, and those of children that it has waited for."""
    found = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except OSError:  # it has ended since
                continue
            fields = text[text.rindex(")") + 2 :].split()  # behind the name, which may hold anything
            found[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    below, new = {os.getpid()}, {os.getpid()}
    while new:
        new = {process for process, (parent, _) in found.items() if parent in new} - below
        below |= new
    return [ticks for process, (_, ticks) in found.items() if process in below - {os.getpid()}]
