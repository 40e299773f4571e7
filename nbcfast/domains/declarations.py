"""`Declared`: what was declared of each column of a table, from a mapping, a JSON file or words typed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from nbcfast._core.numbers import Number
from nbcfast._core.spelling import ARGUMENTS, Arguments, in_place
from nbcfast._wire import menus
from nbcfast.domains.bin_words import bins_in
from nbcfast.domains.json_files import as_mapping, object_in, shown, text_in
from nbcfast.domains.missing import has_nulls, if_missing, like_nulls
from nbcfast.domains.option import Option
from nbcfast.table.table import Table
from nbcfast.table.values import SUPPRESSED, Interval, Value

MOST_NAMED = 20  # columns that an error lists
EXAMPLE = '{"sex": ["female", "male"], "age": {"edges": [0, 18, 65, null]}}'

# What may stand for declared domains.
Declarations = Mapping[str, object] | str | bytes | os.PathLike[str]


@dataclass(frozen=True)
class Declared:
    """What was declared, column by column.

    Parameters
    ----------
    options : dict of name -> Option
    widths : dict of name -> number
        Columns in bins of equal width whose range is that of the rows: they stay undeclared.
    file : str or None
        Where they stand.
    words : Arguments
        Those of the caller.
    advice : mapping or None
        How the options were chosen, of a file that was advised.
    places : dict of name -> str
        What an error about a column is about, where it is not `where`.
    from_rows : tuple of str
        Columns whose options were taken from the rows, and that nobody has checked: their values are put
        where the options say, and stay undeclared.
    """

    options: Mapping[str, Option]
    widths: Mapping[str, Number] = field(default_factory=dict)
    file: str | None = None
    words: Arguments = ARGUMENTS
    advice: Mapping[str, object] | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    from_rows: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """What an error is about: the file, or else the argument."""
        return self.words.named("domains") if self.file is None else self.file

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that something is said of, those left out as well."""
        return (*self.options, *self.widths)

    @property
    def out(self) -> tuple[str, ...]:
        """The columns that are left out."""
        return tuple(name for name, option in self.options.items() if option.out)

    @property
    def entries(self) -> dict[str, object]:
        """The options as plain values; widths without a range are none."""
        return {name: option.entry for name, option in self.options.items()}

    @property
    def document(self) -> dict[str, object]:
        """The same as a JSON file of domains has them, with the columns that come from rows if any do."""
        if not self.from_rows:
            return self.entries
        return {"domain": self.entries, "from_rows": list(self.from_rows)}

    def with_others(self, other: Declared) -> Declared:
        """These declarations and those.

        Raises
        ------
        ValueError
            If both declare a column, or one was advised and the other declares what the menu does not have.
        """
        for advised, besides in ((self, other), (other, self)):
            more = [name for name in besides.names if name not in besides.out]
            if advised.advice is not None and more:
                raise ValueError(
                    f"{advised.where}: its domain is used as it was advised or not at all: "
                    f"{besides.place(more[0])} declares column {more[0]!r}"
                )
        for name in other.names:
            if name in self.names:
                mine, theirs = self.place(name), other.place(name)
                where = theirs if mine == theirs else f"{mine} and {theirs}"
                raise ValueError(f"{where}: column {name!r} is declared twice")
        return replace(
            self,
            options={**self.options, **other.options},
            widths={**self.widths, **other.widths},
            file=self.file if other.file is None else other.file,
            advice=self.advice if other.advice is None else other.advice,
            places={name: each.place(name) for each in (self, other) for name in each.names},
            from_rows=(*self.from_rows, *other.from_rows),
        )

    def place(self, name: str) -> str:
        """What an error about a column is about."""
        return self.places.get(name, self.where)

    def applied(self, table: Table, every: bool = True, besides: Collection[str] = ()) -> Table:
        """The table with these domains, and without the columns that are left out.

        Parameters
        ----------
        table : Table
            As it was read.
        every : bool
            Whether the table has all of the columns.
        besides : collection of str
            Columns that the table may lack all the same: those of its file that were not read.

        Raises
        ------
        ValueError
            If a column is missing (with `every`), or values are not among those declared: all columns with
            such values are named, with the first values of each.
        """
        missing = [name for name in self.names if name not in table.names and name not in besides]
        if missing and every:
            raise ValueError(self._no_column(missing[0], [*besides] or [*table.names]))
        wrong: dict[str, list[str]] = {}
        for name, option in self.options.items():
            if name in table.names:
                try:
                    table = option.applied(table, name, from_rows=name in self.from_rows)
                except ValueError as error:
                    wrong.setdefault(self.place(name), []).append(f"{error}{self._hint(table, name, option)}")
        for name, width in self.widths.items():
            if name in table.names:
                try:
                    table = table.bin(name, width=width)
                except (TypeError, ValueError) as error:
                    wrong.setdefault(self.place(name), []).append(f"{error}{self._hint(table, name)}")
        if wrong:
            raise ValueError("; ".join(_some(place, texts) for place, texts in wrong.items()))
        return table

    def _no_column(self, name: str, present: list[str]) -> str:
        place = self.place(name)
        where = f"{self.words.named('domains')} {place}" if place == self.file else place
        return f"{where}: the table has no column {name!r}{in_place(name, present)}"

    def _hint(self, table: Table, name: str, option: Option | None = None) -> str:
        """That texts may stand for nulls, or that a column of numbers was declared as one of texts."""
        raw = table.column(name).domain
        values = raw.values
        places = range(len(raw)) if option is None else np.flatnonzero(option.codes(raw) < 0).tolist()
        if missing := like_nulls(values[place] for place in places)[:MOST_NAMED]:
            return f"; {if_missing(missing, self.words, has_nulls(table))}"
        kinds = {type(value) for value in values if value is not None}
        if str in kinds or option is None or not option.is_of_texts:
            return ""
        return f"; the column was read as numbers: {self.words.as_text(name)} keeps it as text"


def _some(place: str, texts: list[str]) -> str:
    """What is wrong with columns that stand in one place."""
    more = f"; and {len(texts) - MOST_NAMED:,} columns more" if len(texts) > MOST_NAMED else ""
    return f"{place}: {'; '.join(texts[:MOST_NAMED])}{more}"


def declared(domains: Declarations | Declared, words: Arguments = ARGUMENTS) -> Declared:
    """The declarations that an argument is, or names the file of.

    Parameters
    ----------
    domains : mapping, or path of a JSON file that holds one, or Declared
        Name of a column -> one of these:

        - a list, or ``{"values": [..]}``: the values as they are, with null where it is one
        - ``{"edges": [0, 18, 65, None]}``: half-open bins, with None at an open end; edges of dates are
          texts, "2020-01-31". ``"labels": [..]`` names the bins; with ``"null": True`` null is a value.
        - ``{"width": 10, "from": 0, "to": 100}``: bins of equal width; with ``"open": True`` open at the ends
        - ``{"groups": {"name": [values], ..}}``: sets of values; ``"other": "name"`` takes all others but
          null, which may stand in a set
        - ``{"hierarchy": "FILE", "level": 2}``: the sets of a hierarchy's file, relative to the JSON file
        - ``{"bin": "25,35,50"}``, or other words that `bins_in` takes
        - ``{"out": True}``: the column is left out

        Or two entries, of which the first is all this: ``{"domain": {..}, "from_rows": ["age", ..]}`` names
        columns whose values or bins were taken from the rows and that nobody has checked, which stay
        undeclared; ``{"domain": {..}, "advice": {..}}`` was chosen from a menu.
    words : Arguments
        Those of the caller.

    Raises
    ------
    TypeError
        If it is neither a mapping nor a path.
    ValueError
        If something is not as described; the file and the column are named.

    Examples
    --------
    >>> found = declared({"sex": ["female", "male"], "age": {"edges": [0, 18, None]}, "id": {"out": True}})
    >>> found.options["age"].domain_values, found.out
    (([0, 18), [18, inf)), ('id',))
    """
    if isinstance(domains, Declared):
        return domains
    if isinstance(domains, Mapping):
        return _declared(domains, None, Path(), words)
    if not isinstance(domains, str | bytes | os.PathLike):
        raise TypeError(
            f"{words.named('domains')} must be a mapping of column names to values or bins, or the path of a "
            f"JSON file, got {type(domains).__name__}"
        )
    path = Path(os.fsdecode(domains))
    document = object_in(path, words.named("domains"), EXAMPLE)
    return _declared(document, str(path), path.parent, words)


def _declared(document: Mapping[str, object], file: str | None, folder: Path, words: Arguments) -> Declared:
    options: dict[str, Option] = {}
    widths: dict[str, Number] = {}
    about = words.named("domains") if file is None else file
    columns, advice, from_rows = _parts(document, about)
    for name, entry in as_mapping(columns, f"{about}: expected names of columns").items():
        found = entry_of(entry, f"{about}: column {name!r}", reader_in(folder))
        if isinstance(found, Option):
            options[name] = found
        else:
            widths[name] = found
    return Declared(options, widths, file, words, advice, from_rows=from_rows)


def _parts(
    document: Mapping[str, object], about: str
) -> tuple[Mapping[str, object], Mapping[str, object] | None, tuple[str, ...]]:
    """The columns, how they were chosen in a file that was advised, and which of them come from rows.

    No option of a column has a menu, so columns named domain and advice are no such file. Of two columns
    named domain and from_rows the second is never a list beside an object: its values then stand in an object
    too, ``{"values": [..]}``. So nothing that says "from the rows" is taken for columns, which are declared.
    """
    columns, advice, listed = (document.get(key) for key in ("domain", "advice", "from_rows"))
    keys, is_advised = set(document), isinstance(advice, Mapping) and "menu" in advice
    if keys == {"domain", "advice"} and isinstance(advice, Mapping) and is_advised:
        return as_mapping(columns, "domain: expected an object of columns"), advice, ()
    if not isinstance(columns, Mapping) or not isinstance(listed, list | tuple):
        return document, None, ()
    if keys == {"domain", "advice", "from_rows"} and is_advised:
        raise ValueError(
            f"{about}: expected advice or from_rows, got both: advice is of a menu that was fixed in "
            "advance, and not made from the rows"
        )
    if keys == {"domain", "from_rows"}:
        return columns, None, _named_in(listed, columns, about)
    return document, None, ()


def _named_in(listed: Sequence[object], columns: Mapping[str, object], about: str) -> tuple[str, ...]:
    """The names of columns that come from rows: by a mistyped one what nobody checked would be declared."""
    names: list[str] = []
    for name in listed:
        if not isinstance(name, str) or name not in columns:
            raise ValueError(f"{about}: from_rows: expected names of columns of domain, got {shown(name)}")
        if name in names:
            raise ValueError(f"{about}: from_rows: expected distinct names, got {shown(name)} twice")
        names.append(name)
    return tuple(names)


def reader_in(folder: Path) -> Callable[[str], str]:
    """What gives the text of a hierarchy's file, by its path from a folder."""
    return lambda path: text_in(folder / path)


def entry_of(entry: object, where: str, read: Callable[[str], str]) -> Option | Number:
    """The option that an entry is, or the width of bins over the range of the rows.

    Parameters
    ----------
    entry : object
        As `declared` has it.
    where : str
        What it is of, for errors.
    read : callable
        The text of a hierarchy's file, by the path that stands in the entry.
    """
    if isinstance(entry, Mapping) and set(entry) == {"bin"}:
        words = entry["bin"]
        if not isinstance(words, str):
            raise ValueError(f'{where}: expected "bin" to be a text as "25,35,50", got {shown(words)}')
        found = bins_in(words, where)
        if not isinstance(found, dict):
            return found
        entry = found
    if isinstance(entry, list | tuple) and any(isinstance(value, list | tuple | Mapping) for value in entry):
        menu = "; several options stand in a menu" if any(isinstance(one, Mapping) for one in entry) else ""
        raise ValueError(f"{where}: expected plain values, got {shown(entry)}{menu}")
    values = entry.get("values") if isinstance(entry, Mapping) else entry
    if isinstance(values, list | tuple) and any(
        isinstance(value, Interval) or value is SUPPRESSED for value in values
    ):
        return _as_they_are(list(values), where)
    if not isinstance(entry, Mapping | list | tuple):
        raise ValueError(
            f'{where}: expected a list of values or {{"edges": [..]}}, with "null": true where null is a '
            f"value; got {shown(entry)}"
        )
    try:
        return Option(menus.resolved_option(plain_json(entry), read, where))
    except RecursionError:
        raise ValueError(f"{where}: it is nested too deeply") from None


def _as_they_are(values: list[Value], where: str) -> Option:
    """Values of Python that JSON has no kind for."""
    try:
        return Option({"values": values})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def plain_json(entry: object) -> object:
    """An entry as JSON would have it: no tuples, no scalars of NumPy, no infinite edges."""
    if isinstance(entry, Mapping):
        ends = {"edges": _open_ends(entry["edges"])} if "edges" in entry else {}
        return {name: plain_json(ends.get(str(name), one)) for name, one in entry.items()}
    if isinstance(entry, np.ndarray):
        return plain_json(entry.tolist())
    if isinstance(entry, list | tuple):
        return [plain_json(one) for one in entry]
    return entry.item() if isinstance(entry, np.generic) else entry


def _open_ends(edges: object) -> object:
    """Edges with None where an outer one is infinite."""
    if not isinstance(edges, Sequence | np.ndarray) or isinstance(edges, str) or not len(edges):
        return edges
    listed = list(edges)
    for place, infinite in ((0, -math.inf), (-1, math.inf)):
        if isinstance(listed[place], float) and listed[place] == infinite:
            listed[place] = None
    return listed
