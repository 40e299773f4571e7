"""Domains that were declared: values and bins of columns, from a mapping or a JSON file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nbcfast.publishing.words import ARGUMENTS, Arguments
from nbcfast.table.table import Table
from nbcfast.table.values import Value

MOST_NAMED = 20  # columns that an error lists

# What may stand for declared domains.
Declarations = Mapping[str, object] | str | bytes | os.PathLike[str]


@dataclass(frozen=True)
class Declared:
    """Values and bins that were declared, column by column.

    Parameters
    ----------
    values : dict of name -> list
    edges : dict of name -> list
    nulls : frozenset of str
        The names of the binned columns in which null is a value.
    file : str or None
        Where they stand.
    words : Arguments
        Those of the caller.
    """

    values: dict[str, list[Value]]
    edges: dict[str, list[float | None]]
    nulls: frozenset[str]
    file: str | None = None
    words: Arguments = ARGUMENTS

    @property
    def where(self) -> str:
        """What an error is about: the file, or else the argument."""
        return self.words.named("domains") if self.file is None else self.file

    def applied(self, table: Table, every: bool = True) -> Table:
        """The table with these domains.

        Raises
        ------
        ValueError
            If a column is missing (with `every`), or a value is not among those declared.
        """
        missing = [name for name in (*self.values, *self.edges) if name not in table.names]
        if missing and every:
            more = f" and {len(table.names) - MOST_NAMED:,} more" if len(table.names) > MOST_NAMED else ""
            raise ValueError(
                f"{self.words.named('domains')}{'' if self.file is None else f' {self.file}'}: the table has "
                f"no column {missing[0]!r}; it has {', '.join(map(repr, table.names[:MOST_NAMED]))}{more}"
            )
        for name, values in self.values.items():
            if name in table.names:
                table = self._listed(table, name, values)
        for name, edges in self.edges.items():
            if name in table.names:
                table = self._binned(table, name, edges)
        return table

    def _listed(self, table: Table, name: str, values: list[Value]) -> Table:
        try:
            return Table(table, domains={name: values})
        except (TypeError, ValueError) as error:
            kinds = {type(value) for value in table.domain(name) if value is not None}
            hint = ""
            if str not in kinds and any(isinstance(value, str) for value in values):
                hint = f"; the column was read as numbers: {self.words.as_text(name)} keeps it as text"
            raise ValueError(f"{self.where}: {error}{hint}") from None

    def _binned(self, table: Table, name: str, edges: list[float | None]) -> Table:
        where = f"{self.where}: column {name!r}"
        if None in table.domain(name) and name not in self.nulls:
            raise ValueError(
                f'{where}: expected a number in every row, got null: declare it with "null": true beside the '
                "edges, and it is a value whether a row has it or not"
            )
        try:
            table = table.bin(name, edges=edges)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.where}: {error}") from None
        if name in self.nulls:
            bins = [value for value in table.domain(name) if value is not None]
            table = Table(table, domains={name: [*bins, None]})
        return table


def declared(domains: Declarations, words: Arguments = ARGUMENTS) -> Declared:
    """The declarations that an argument is, or names the file of.

    Parameters
    ----------
    domains : mapping, or path of a JSON file that holds one
        Name of a column -> the list of its values, or {"edges": [..]} for bins, with None at an open end, and
        "null": true beside the edges where null is a value too.
    words : Arguments
        Those of the caller.

    Examples
    --------
    >>> menu = declared({"sex": ["female", "male"], "age": {"edges": [0, 18, None]}})
    >>> menu.values, menu.edges
    ({'sex': ['female', 'male']}, {'age': [0, 18, inf]})
    """
    if isinstance(domains, Mapping):
        return _declared(domains, None, words)
    if not isinstance(domains, str | bytes | os.PathLike):
        raise TypeError(
            f"{words.named('domains')} must be a mapping of column names to values or bins, or the path of a "
            f"JSON file, got {type(domains).__name__}"
        )
    path = Path(os.fsdecode(domains))
    try:
        document: object = json.loads(
            path.read_text(encoding="utf-8-sig"),  # some editors begin with a mark
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise ValueError(f"{path}: not JSON of columns: it is nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{words.named('domains')}: {path}: not JSON: {error}; expected as "
            '{"sex": ["female", "male"], "age": {"edges": [0, 18, 65, null]}}'
        ) from None
    except ValueError as error:  # a number of more digits than Python reads, or one of those below
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: expected an object of columns, got {type(document).__name__}")
    return _declared(document, str(path), words)


def _declared(columns: Mapping[str, object], file: str | None, words: Arguments) -> Declared:
    values: dict[str, list[Value]] = {}
    edges: dict[str, list[float | None]] = {}
    nulls = set()
    for name, entry in columns.items():
        where = f"{words.named('domains') if file is None else file}: column {name!r}"
        if isinstance(entry, list | tuple):
            if any(isinstance(value, list | tuple | dict) for value in entry):
                raise ValueError(f"{where}: expected plain values, got {_short(entry)}")
            values[name] = list(entry)
            continue
        bins = _bins(entry)
        if bins is None:
            raise ValueError(
                f'{where}: expected a list of values or {{"edges": [..]}}, with "null": true where null is a '
                f"value; got {_short(entry)}"
            )
        edges[name], with_null = bins
        if with_null:
            nulls.add(name)
    return Declared(values, edges, frozenset(nulls), file, words)


def _bins(entry: object) -> tuple[list[float | None], bool] | None:
    """The edges of bins and whether null is a value beside them; None where an entry is no bins."""
    if not isinstance(entry, Mapping) or not set(entry) <= {"edges", "null"}:
        return None
    edges, null = entry.get("edges"), entry.get("null", False)
    if not isinstance(edges, list | tuple) or not isinstance(null, bool):
        return None
    ends = list(edges)
    if ends and ends[0] is None:
        ends[0] = -math.inf
    if ends and ends[-1] is None:
        ends[-1] = math.inf
    return ends, null


def _short(entry: object) -> str:
    try:
        return json.dumps(entry, default=str)[:60]
    except (
        RecursionError,
        TypeError,
        ValueError,
    ):  # of a nested one, of keys that are no texts, of long numbers
        return "something very long"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names are distinct."""
    entries: dict[str, object] = {}
    for name, entry in pairs:
        if name in entries:
            raise ValueError(f"expected distinct names, got {name!r} twice")
        entries[name] = entry
    return entries


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"expected finite numbers, got {text[:60]}: an open end of the edges is null")
    return number


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON: an open end of the edges is null")
