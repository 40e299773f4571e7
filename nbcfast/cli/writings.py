"""What a command has written: whoever loses what it prints is still told."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path

_WRITTEN: ContextVar[tuple[str, ...]] = ContextVar("written", default=())


def note(paths: Iterable[Path | str]) -> None:
    """Remember files and folders that are whole now."""
    _WRITTEN.set((*_WRITTEN.get(), *map(str, paths)))


def forget() -> None:
    """Nothing has been written yet, or it was told."""
    _WRITTEN.set(())


def noted() -> str:
    """What was written, with commas between; empty where nothing was."""
    return ", ".join(_WRITTEN.get())
