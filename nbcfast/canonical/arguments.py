"""Checks of arguments that the functions of this room share."""

from __future__ import annotations

from nbcfast._reading.source import AnyTable, table_from
from nbcfast.table import Table


def expect_progress(progress: object) -> None:
    """TypeError unless it can be called, or is None."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable or None, got {type(progress).__name__}")


def table_of(given: AnyTable, name: str) -> Table:
    """The table that an argument is or makes; errors begin with its name."""
    try:
        return table_from(given, name)
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"{name}: "):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None
