"""Texts that a spreadsheet would run: said to the owner; what is no published table has them inert."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# The full-width signs are taken for the others where Chinese, Japanese or Korean is set.
STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def spreadsheet_remarks(
    columns: Mapping[str, Iterable[object]], names: Iterable[str] = (), done: str = "published as they are"
) -> tuple[str, ...]:
    """What to know of published columns and their values, and of other names; nothing in most cases.

    Numbers are no texts, whatever their sign; the text "-5" is one.

    Examples
    --------
    >>> spreadsheet_remarks({"loss": [-5, 3], "job": ["cook", "=1+1"]})[0][:85]
    'A spreadsheet may take texts that start with =, +, -, @, a tab or a line end for form'
    >>> spreadsheet_remarks({"loss": [-5, 3]})
    ()
    """
    parts = []
    for name, values in columns.items():
        found = next((value for value in values if isinstance(value, str) and value.startswith(STARTS)), None)
        if found is not None:
            parts.append(f"values of {name!r} ({_short(found)})")
    all_names = dict.fromkeys((*columns, *names))
    parts += [f"the column name {_short(name)}" for name in all_names if name.startswith(STARTS)]
    if not parts:
        return ()
    return (
        "A spreadsheet may take texts that start with =, +, -, @, a tab or a line end for formulas, and run "
        f"them: {', '.join(parts)}. They are {done}.",
    )


def inert(text: str) -> str:
    """A text that no spreadsheet runs: behind an apostrophe, as is one that begins with it.

    Examples
    --------
    >>> inert("=1+1"), inert("plain")
    ("'=1+1", 'plain')
    """
    return f"'{text}" if text.startswith(("'", *STARTS)) else text


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "..")
