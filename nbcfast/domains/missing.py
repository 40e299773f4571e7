"""Texts that stand for a missing value in many files, and columns that they make texts of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nbcfast._core.spelling import Arguments
from nbcfast.table.table import Table

# Whatever their case, and the blanks around them.
LIKE_NULLS = frozenset({"?", "na", "n/a", "nan", "-", "--", ".", "..", "null", "none", "#n/a", "<na>", "nil"})

LONGEST = 12  # letters, with the blanks around


def like_nulls(texts: Iterable[object]) -> list[str]:
    """Those of some texts that stand for a missing value in many files, as they are spelled.

    Examples
    --------
    >>> like_nulls(["38", " ?", "NA", None, "Nancy"])
    [' ?', 'NA']
    """
    short = (text for text in texts if isinstance(text, str) and len(text) <= LONGEST)
    return [text for text in short if text.strip().lower() in LIKE_NULLS]


def if_missing(texts: Sequence[str], words: Arguments, empty: bool, given: Sequence[str] = ()) -> str:
    """What to give if such texts say that a value is missing; `empty` says whether the empty text did.

    Where texts were `given` that did so, they are given again.
    """
    listed = " and ".join(map(repr, texts))
    verb = "says" if len(texts) == 1 else "say"
    before = given or ([""] if empty else [])
    return f"if {listed} {verb} that a value is missing, give {words.nulls([*before, *texts])}"


def has_nulls(table: Table) -> bool:
    """Whether some column has a null: of a CSV file that is what the empty text was read as."""
    return any(None in table.column(name).domain.tail for name in table.names)
