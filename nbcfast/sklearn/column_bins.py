"""Bins for columns of floats that nobody has declared: quantiles of the rows, and the warning of that."""

from __future__ import annotations

import warnings
from collections.abc import Collection

from nbcfast._core.spelling import Arguments, listed
from nbcfast._core.validation import whole
from nbcfast.table.domain import Domain
from nbcfast.table.table import Table

MOST_CODES = 1000  # values of a column that a warning takes for codes


class UndeclaredDomainWarning(UserWarning):
    """Values of private rows decide what is published besides its counts: edges of bins, cut at quantiles.

    A quantile is the value of somebody. To declare edges that are known without looking at the rows ends it.
    """


def in_quantile_bins(
    table: Table, names: Collection[str], bins: int | None, words: Arguments, stacklevel: int
) -> Table:
    """The table with these columns, if they hold floats, in bins of about equal weight with open ends.

    Parameters
    ----------
    table : Table
        The private rows.
    names : collection of str
        The columns that nobody has declared.
    bins : int or None
        How many bins there are at most; None refuses floats.
    words : Arguments
        Those of the caller.
    stacklevel : int
        Of the warning, counted from here.

    Raises
    ------
    ValueError
        If a column holds floats, and there are to be no bins; it says the line to write.
    """
    floats = [name for name in table.names if name in names and table.column(name).domain.kind == "float"]
    if bins is not None:
        whole(bins, "bins", 2, expected="an int or None")
    if not floats:
        return table
    line = f"{words.named('domains')}={{{floats[0]!r}: {{'edges': [0, 18, 65, None]}}}}"
    if bins is None:
        one = "column" if len(floats) == 1 else "columns"
        raise ValueError(
            f"{one} {listed(floats)}: floats are put into bins, of which bins=None makes none: declare them, "
            f"with the edges that you know, as {line}"
        )
    codes = _of_codes([name for name in floats if _may_be_codes(table.column(name).domain)])
    for name in floats:
        table = table.bin(name, quantiles=bins)
    one, is_cut = ("column", "is") if len(floats) == 1 else ("columns", "are")
    warnings.warn(
        f"{one} {listed(floats)} {is_cut} cut into bins at quantiles of the rows, and the edges, which are "
        f"values of people, are published: no limit bounds what they tell. Declare edges that are known "
        f"without the rows, as {line}{codes}",
        UndeclaredDomainWarning,
        stacklevel=stacklevel + 1,
    )
    return table


def _may_be_codes(domain: Domain) -> bool:
    """Whether floats are 0, 1, 2 .. without a gap, as an encoder has them."""
    return len(domain) <= MOST_CODES and [*domain.head] == [*range(len(domain.head))]


def _of_codes(names: list[str]) -> str:
    """How codes stay values, where columns may hold them: left alone, OrdinalEncoder makes floats."""
    if not names:
        return ""
    holds = "holds" if len(names) == 1 else "hold"
    return f". If {listed(names)} {holds} codes, they are values as integers: OrdinalEncoder(dtype=int)"
