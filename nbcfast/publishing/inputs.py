"""What is published, and what it is measured with: the table, the public list, the rows held out."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nbcfast._core.errors import NoColumnError
from nbcfast._core.spelling import ARGUMENTS, Arguments
from nbcfast._core.validation import type_name
from nbcfast._reading.csv_files import read_csv
from nbcfast._reading.hints import UnreadableError, look_at, table_ending
from nbcfast._reading.parquet import read_parquet
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.attack.membership import SAME, expect_others, same_rows
from nbcfast.domains import Declared, names_people
from nbcfast.frames import Frame
from nbcfast.published.placing import in_domains
from nbcfast.publishing.beginnings import header_of
from nbcfast.publishing.findings import Stages, silent
from nbcfast.publishing.words import label
from nbcfast.table.table import Table
from nbcfast.views import Viewset, count

MOST_CLASSES = 256


class Reads(Protocol):
    """How what was given becomes a table."""

    def __call__(
        self,
        given: AnyTable,
        where: str,
        class_name: str,
        columns: Sequence[str] | None,
        *,
        texts: Collection[str] = (),
        weighted: bool = True,
    ) -> Table: ...


@dataclass(frozen=True)
class AsGiven:
    """Tables are taken as they are, and files read as their endings say.

    Parameters
    ----------
    weights : str or None
        The column of the weights.
    stages : Stages
        Who is told how far the reading is.
    """

    weights: str | None = None
    stages: Stages = silent

    def __post_init__(self) -> None:
        # An array of weights would be taken for those of the rows held out too.
        if self.weights is not None and not isinstance(self.weights, str):
            raise TypeError(f"weights must be the name of a column or None, got {type_name(self.weights)}")

    def __call__(
        self,
        given: AnyTable,
        where: str,
        class_name: str,
        columns: Sequence[str] | None,
        *,
        texts: Collection[str] = (),
        weighted: bool = True,
    ) -> Table:
        """The table, or these columns of it and the class; of a CSV file some are kept as text."""
        weights = self.weights if weighted else None
        names = None if columns is None else [*columns, class_name]
        if weights is not None and weights in (class_name, *(names or ())):
            raise ValueError(f"weights: {weights!r} is the class or an attribute as well")
        if columns is not None and class_name in columns:
            raise ValueError(f"columns: {class_name!r} is the class as well")
        try:
            table = self._read(given, where, names, weights, texts)
            if names is None:
                table.column(class_name)
        except NoColumnError as error:
            asking = {class_name: "class_name", weights: "weights"}.get(str(error.name), "columns")
            raise NoColumnError(error.name, error.present, asking if where == "table" else where) from None
        return table

    def _read(
        self,
        given: AnyTable,
        where: str,
        names: list[str] | None,
        weights: str | None,
        texts: Collection[str],
    ) -> Table:
        if isinstance(given, Viewset):
            raise TypeError(
                f"{where}: expected rows, got a Viewset, in whose counts nothing shows what answers tell of "
                "people: nbcfast.canonical.release(views, amplification) bounds Lambda, and measures no more"
            )
        if not isinstance(given, str | bytes | os.PathLike):
            # A Table comes with its weights.
            named = None if isinstance(given, Table) else weights
            table = table_from(given, where, weights=named, columns=names)
            return table if names is None else table.select(names)
        path = os.fsdecode(given)
        with self.stages("reading") as progress:
            if table_ending(path, where).kind == "parquet":
                return read_parquet(path, columns=names, weights=weights, progress=progress)
            types = dict.fromkeys(texts, "text")
            return read_csv(path, columns=names, weights=weights, types=types, progress=progress)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks: how he is spoken to, how what he gives is read, and who is told how far the work is."""

    words: Arguments = ARGUMENTS
    reads: Reads = AsGiven()
    stages: Stages = silent
    encoding: str | None = None  # of CSV files, None for UTF-8
    nulls: tuple[str, ...] = ()  # texts of CSV files that mean null; none for the empty one
    threads: int | None = None  # that a release is made on, which does not depend on it


def place(given: object, argument: str) -> str:
    """What an error about a table is about: its file, or else the argument."""
    return os.fsdecode(given) if isinstance(given, str | bytes | os.PathLike) else argument


def same_file(one: object, other: object) -> bool:
    """Whether two things that were given are the same file."""
    paths = [place(one, ""), place(other, "")]
    with suppress(OSError):  # that one of them is not there is said when it is read
        return all(paths) and os.path.samefile(*paths)
    return False


class NamesPeopleError(ValueError):
    """Columns have nearly as many values as there are rows.

    Attributes
    ----------
    names, attributes : list of str
        Those columns, and all that would be counted.
    found : list of str
        Of each of them how many values it has, and what to do.
    """

    def __init__(self, text: str, names: list[str], attributes: list[str], found: list[str]) -> None:
        super().__init__(text)
        self.names, self.attributes, self.found = names, attributes, found


def counts_of(
    table: Table,
    where: str,
    class_name: str,
    columns: Sequence[str] | None,
    max_values: int,
    words: Arguments = ARGUMENTS,
    *,
    publishing: bool = False,
) -> Viewset:
    """The counts of a table that people can look at: some rows, and not too many values.

    Raises
    ------
    ValueError
        If there is no row, the class has more than 256 values, or an attribute more than `max_values`; with
        `publishing` also if an attribute names people.
    """
    if table.n_rows == 0:
        raise UnreadableError(f"{where}: no rows", look_at(where))
    n_classes = len(table.domain(class_name)) if class_name in table.names else 0
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"{words.form('class_name', repr(class_name))} has {n_classes:,} values, more than "
            f"{MOST_CLASSES} classes: bin it first"
        )
    sizes = {name: len(table.column(name).domain) for name in table.names if name != class_name}
    naming = [
        name for name, size in sizes.items() if named_people(size, table.n_rows, max_values, publishing)
    ]
    for name, size in sizes.items():
        if name in naming:
            raise NamesPeopleError(
                f"column {name!r} has {size:,} values in {table.n_rows:,} rows and so names people: declare "
                f"bins or sets of its values, or leave it out ({words.left_out(name)})",
                naming,
                [*sizes],
                [
                    f"{label(each)} has {sizes[each]:,} values in {table.n_rows:,} rows: it names people, "
                    "and the answers say the class of each: leave it out, or bin it"
                    for each in naming
                ],
            )
        if size > max_values:
            raise ValueError(
                f"column {name!r} has {size:,} values, more than "
                f"{words.form('max_values', f'{max_values:,}')}: put them into bins or sets, leave it out "
                f"({words.left_out(name)}), or raise the limit"
            )
    return count(table, class_name, columns, max_values=max_values)


def named_people(size: int, n_rows: int, max_values: int, publishing: bool) -> bool:
    """Whether a column of so many values is refused because it names people, and not for its size alone."""
    return names_people(size, n_rows) and (publishing or size > max_values)


def texts_in(views: Viewset, class_name: str | None = None, declared: Declared | None = None) -> list[str]:
    """The columns whose raw values are texts, though they may look like numbers."""
    domains = {name: views.domain(name) for name in views.attributes}
    if class_name is not None:
        domains[class_name] = views.classes
    options = {} if declared is None else declared.options
    return [
        name
        for name, values in domains.items()
        if (options[name].is_of_texts if name in options else any(isinstance(value, str) for value in values))
    ]


def read_declared(
    given: AnyTable,
    class_name: str,
    columns: Sequence[str] | None,
    declared: Declared | None,
    caller: Caller,
    *,
    weights: str | None = None,
    delimiter: str | None = None,
    keep_texts: bool = False,
) -> Table:
    """The private rows with the domains that were declared; what is left out is not even read of a file.

    With `keep_texts` columns that were declared as texts are texts whatever the rows of a file hold. Without
    it one of numbers alone is one of numbers, and refused.

    Raises
    ------
    ValueError
        If the class, the weights or one of `columns` is left out, or something declared does not fit.
    """
    if declared is None:
        return caller.reads(given, "table", class_name, columns)
    asked: dict[str | None, str] = {class_name: "class_name", weights: "weights"}
    for name in declared.out:
        if name in asked or name in (columns or ()):
            named = caller.words.named(asked.get(name, "columns"))
            raise ValueError(f"{declared.place(name)}: column {name!r} is left out, and {named} names it")
    present = present_in(given, delimiter, caller.encoding)
    if columns is None and present is not None:
        others = (*declared.out, class_name, weights)
        columns = [name for name in present if name not in others] if declared.out else None
    wanted = present if columns is None else [*columns, class_name]
    options = declared.options if keep_texts else {}
    texts = [name for name in wanted or () if name in options and options[name].is_of_texts]
    table = caller.reads(given, "table", class_name, columns, texts=texts)
    return declared.applied(table, besides=declared.names if present is None else present)


def present_in(given: AnyTable, delimiter: str | None, encoding: str | None = None) -> list[str] | None:
    """The columns of what was given; None where only reading it will tell."""
    if isinstance(given, Table | Frame):
        return list(given.names)
    if isinstance(given, str | bytes | os.PathLike):
        return header_of(Path(os.fsdecode(given)), delimiter, encoding)
    return [str(name) for name in given] if isinstance(given, Mapping) else None


def read_like(
    views: Viewset,
    given: AnyTable,
    argument: str,
    class_name: str,
    caller: Caller,
    declared: Declared | None = None,
) -> Table:
    """The columns that were counted, of other rows of the same kind, put into bins and sets as they were.

    What has no place there is a value that no row of the release has: it is counted, and not an error. Bins
    are those of `views`; what is in a set only `declared` says.
    """
    names = list(views.attributes)
    texts = texts_in(views, class_name, declared)
    try:
        table = caller.reads(given, argument, class_name, names, texts=texts)
    except (NoColumnError, UnreadableError):
        raise
    except ValueError as error:  # whoever judges rows tells it from rows that are others
        raise UnreadableError(str(error)) from None
    try:
        return in_domains(table, views.domains, declared, strays=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place(given, argument)}: {error}") from None


def others_of(
    given: AnyTable,
    source: object,
    table: Table,
    views: Viewset,
    class_name: str,
    caller: Caller,
    declared: Declared | None = None,
) -> Table:
    """Rows held out; of the table itself nothing could be told, and that would look like safety."""
    named = caller.words.named("holdout")
    if same_file(source, given):
        raise ValueError(f"{named}: {SAME}")
    others = read_like(views, given, "holdout", class_name, caller, declared)
    if others.n_rows == 0:
        raise ValueError(f"{place(given, named)}: no rows")
    try:
        expect_others(table, others, [*views.attributes, class_name])
    except ValueError as error:
        file = place(given, "")
        about = caller.words.form("holdout", repr(file)) if file else named
        raise ValueError(f"{about}: {error}") from None
    return others


def listed_of(given: AnyTable, views: Viewset, declared: Declared | None, caller: Caller) -> Table:
    """A public list of tuples, read as the table is."""
    names = list(views.attributes)
    texts = texts_in(views, declared=declared)
    table = caller.reads(given, "tuples", names[-1], names[:-1], texts=texts, weighted=False)
    if declared is not None:
        table = declared.applied(table, every=False)
    return in_domains(table, views.domains)


def public_list(
    given: AnyTable, table: Table, views: Viewset, declared: Declared | None, caller: Caller
) -> Table:
    """The list, which is not made of the private rows."""
    public = listed_of(given, views, declared, caller)
    if public.n_rows == 0:
        raise ValueError(f"{place(given, caller.words.named('tuples'))}: no rows")
    if same_rows(table, public, views.attributes):
        raise ValueError(
            f"{caller.words.named('tuples')} must be a public list, which whoever verifies needs: "
            f"{repr(place(given, '')) if place(given, '') else 'it'} has the rows of the input"
        )
    return public
