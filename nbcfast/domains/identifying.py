"""Columns that name people: nearly every row has a value of its own."""

from __future__ import annotations

# A value that one row has gives that row's class away in any counts. Below so many values that is measured of
# a release, in seconds; above it takes minutes, and no release of such a column can be safe.
MANY_VALUES = 1_000
MOST_OF_ROWS = 0.5  # values a row: then half of the people at least are alone with theirs, or nearly so


def names_people(n_values: int, n_rows: int) -> bool:
    """Whether a column of so many values in so many rows gives nearly each row its own.

    Examples
    --------
    >>> names_people(40_000, 60_000), names_people(21_648, 32_561), names_people(73, 100)
    (True, True, False)
    """
    return n_values >= MANY_VALUES and n_values > MOST_OF_ROWS * n_rows
