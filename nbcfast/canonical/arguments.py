"""Checks of arguments that the functions of this room share."""

from __future__ import annotations

from collections.abc import Iterable

from nbcfast._core.validation import callable_or_none
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.table import Table


def expect_progress(progress: object) -> None:
    """TypeError unless it can be called, or is None."""
    callable_or_none(progress)


def table_of(given: AnyTable, name: str, columns: Iterable[str] | None = None) -> Table:
    """The table that an argument is or makes, of a Frame with these columns; errors begin with its name."""
    try:
        return table_from(given, name, columns=columns)
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"{name}: "):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None
