"""Checks of arguments that the functions of this room share."""

from __future__ import annotations

from typing import Any

from nbcfast.table import Table


def expect_progress(progress: object) -> None:
    """TypeError unless it can be called, or is None."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable or None, got {type(progress).__name__}")


def table_of(given: Any, name: str) -> Table:
    """A table, from anything that `Table` takes; errors begin with the name of the argument."""
    if isinstance(given, Table):
        return given
    try:
        return Table(given)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None
