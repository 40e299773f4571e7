"""`skeleton`: a domain for every column of a table, to begin with: whoever knows the columns decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast.domains.declarations import Declared
from nbcfast.domains.identifying import MOST_OF_ROWS, names_people
from nbcfast.domains.json_files import lines_of
from nbcfast.domains.option import Option
from nbcfast.domains.places import is_number
from nbcfast.domains.ready_made import options_of_rows
from nbcfast.table.encode import Column, used_values
from nbcfast.table.table import Table, expect_table
from nbcfast.table.values import DATE, Value

FEW_NUMBERS = 10  # distinct integers that are listed, as grades and numbers of children are
FEW_TEXTS = 100  # distinct texts that are listed; more are seldom kinds of people
ENOUGH_ROWS = 50  # that each have a value of their own before it is said that the column names people
WANTED_BINS = 5
MOST_STRANGE = 3  # texts of a column of numbers, as "?" and "unknown"


@dataclass(frozen=True)
class Proposal:
    """What a skeleton has for a column.

    Parameters
    ----------
    name : str
    kind : str
        What the column holds.
    n_values : int
        How many distinct values there are, a null among them.
    option : Option
    reason : str
        Why it is this, and what there is to decide.
    """

    name: str
    kind: str
    n_values: int
    option: Option
    reason: str

    @property
    def text(self) -> str:
        """What is proposed, in a few words."""
        if self.option.out:
            return "left out"
        return f"{self.option.n_values:,} {'bins' if 'edges' in self.option.entry else 'values'}"


def skeleton(table: Table, class_name: str | None = None) -> list[Proposal]:
    """A domain for every column: the values of those with few, round bins of numbers and dates, or nothing.

    Values and ranges come from the rows, and `begun` says so of each. They become public facts when somebody
    who knows what the columns may hold has checked them.

    Parameters
    ----------
    table : Table
        As it was read.
    class_name : str, optional
        The class keeps its values.

    Raises
    ------
    NoColumnError
        If the table has no such class.

    Examples
    --------
    >>> table = Table({"age": list(range(100)), "sex": ["f", "m"] * 50, "id": [f"P{x}" for x in range(100)]})
    >>> for proposal in skeleton(table):
    ...     print(proposal.name, proposal.kind, proposal.text)
    age int left out
    sex text 2 values
    id text left out
    """
    expect_table(table)
    if class_name is not None:
        table.column(class_name)
    return [_proposal(name, table.column(name), table.n_rows, name == class_name) for name in table.names]


def begun(proposals: list[Proposal]) -> Declared:
    """What is proposed, as declarations of which nobody has checked one."""
    options = {proposal.name: proposal.option for proposal in proposals}
    return Declared(options, from_rows=tuple(name for name, option in options.items() if not option.out))


def skeleton_text(proposals: list[Proposal]) -> str:
    """The file that `declared` reads: JSON with a line for each column."""
    found = begun(proposals)
    # The list stands there where it is empty too: whoever adds a column knows where to say that of it.
    return lines_of({"domain": found.entries, "from_rows": list(found.from_rows)})


def _proposal(name: str, column: Column, n_rows: int, is_class: bool) -> Proposal:
    places = np.flatnonzero(used_values(column.codes, len(column.domain)))
    n_values, kind = len(places), str(column.domain.kind or "null")

    def proposed(entry: dict[str, object], reason: str) -> Proposal:
        return Proposal(name, kind, n_values, Option(entry), reason)

    out: dict[str, object] = {"out": True}
    alone = n_values == n_rows >= ENOUGH_ROWS and kind in ("text", "int")
    if not is_class and (alone or names_people(n_values, n_rows)):
        return proposed(out, f"names people: {n_values:,} values in {n_rows:,} rows")
    strange = [] if is_class or kind != "text" else _no_numbers(column, places)
    if strange:
        listed = ", ".join(map(repr, strange))
        return proposed(out, f"numbers but for {listed}: read again with that as a null, or as sets")
    if n_values > FEW_TEXTS and (kind == "text" or is_class):
        bins = [] if is_class else _bins(column, n_rows)
        if bins:  # dates, or numbers that are written as 16.00
            return proposed(bins[0], "round edges over the range of the rows: set your own")
        return proposed(out, f"{n_values:,} texts, which are not listed: put them into sets")
    if kind == "interval":
        bins = _bins(column, n_rows)
        return proposed(bins[0], "bins of the rows: check them") if bins else proposed(out, "no bins")
    values: list[Value] = [column.domain.values[place] for place in places.tolist()]
    if not values:
        return proposed(out, "no row")
    if n_values == 1 and not is_class:
        return proposed(out, "the same in every row: it says nothing")
    bins = _bins(column, n_rows)  # of numbers and dates, which texts may be
    dated = all(value is None or DATE.fullmatch(str(value)) for value in values)
    few = 0 if kind == "float" else FEW_NUMBERS if bins or dated or kind == "int" else FEW_TEXTS
    if is_class or n_values <= few:
        return proposed({"values": values}, "values of the rows: check them against the code book")
    if not bins:
        return proposed(out, "no bins fit: set your own")
    if kind == "int" and n_rows >= ENOUGH_ROWS and n_values > MOST_OF_ROWS * n_rows:
        return proposed(bins[0], f"{n_values:,} values in {n_rows:,} rows: leave it out if these name people")
    return proposed(bins[0], "round edges over the range of the rows: set your own")


def _no_numbers(column: Column, places: Longs) -> list[Value]:
    """The few texts of a column that is one of numbers but for these."""
    texts = [column.domain.values[place] for place in places.tolist()]
    strange = [text for text in texts if text is not None and not is_number(text)]
    return strange if 0 < len(strange) <= MOST_STRANGE and len(texts) > 2 * MOST_STRANGE else []


def _bins(column: Column, n_rows: int) -> list[dict[str, object]]:
    """Bins of a column, those with the number that is wanted first."""
    options = [entry for entry in options_of_rows(column, n_rows) if "edges" in entry]
    return sorted(options, key=lambda entry: abs(_n_bins(entry) - WANTED_BINS))


def _n_bins(entry: dict[str, object]) -> int:
    edges = entry["edges"]
    return len(edges) - 1 if isinstance(edges, list) else 0
