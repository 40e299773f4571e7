"""What `publish` has for the canonical release: the choice of it, declared domains, lists, the leak meter."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.table import Table as Grid
from rich.text import Text

import nbcfast
from nbcfast import canonical
from nbcfast.canonical import Leak
from nbcfast.canonical.publish import not_here
from nbcfast.canonical.ratio_intervals import programmes
from nbcfast.cli.bars import progress
from nbcfast.cli.naming import no_column
from nbcfast.cli.printing import label, listing
from nbcfast.cli.reading import Reading

SHOWN = 20  # attributes of which the meter is printed


class Choice:
    """The method: the one that was asked for, or canonical where it applies, by public facts alone.

    Parameters
    ----------
    method : {"canonical", "safetytransform"} or None
    no_gauge, allow_differences, listed, intervals : bool
    bits : int or None
        Options that go with one of the methods only.

    Raises
    ------
    ValueError
        If options do not go together.
    ImportError
        If SciPy is missing, which the intervals need.
    """

    def __init__(
        self,
        method: Literal["canonical", "safetytransform"] | None,
        no_gauge: bool,
        allow_differences: bool,
        bits: int | None,
        listed: bool,
        intervals: bool,
    ) -> None:
        self.method, self.listed = method, listed
        old = {"--no-gauge": no_gauge, "--allow-differences": allow_differences}
        new = {"--bits": bits is not None, "--tuples": listed}
        self.old = [name for name, given in old.items() if given]
        wanted = [name for name, given in new.items() if given]
        if wanted and (self.old or method == "safetytransform"):
            other = self.old[0] if self.old else "--method safetytransform"
            raise ValueError(f"{wanted[0]} goes with --method canonical, not with {other}")
        if self.old and method == "canonical":
            raise ValueError(f"{self.old[0]} goes with --method safetytransform, not with --method canonical")
        if intervals and (listed or self.old or method == "safetytransform"):
            other = "--tuples" if listed else self.old[0] if self.old else "--method safetytransform"
            raise ValueError(f"--intervals goes with the leak meter, and that not with {other}")
        if intervals:
            programmes()  # refused now, and not after everything else
        self.asked = method is not None or bool(wanted)
        self.canonical = method == "canonical" or bool(wanted)
        self.why: str | None = None

    def settle(self, views: nbcfast.Viewset, preserve: str | None) -> None:
        """Decide where nothing was asked for."""
        if self.asked:
            return
        if self.old:
            self.why = f"{self.old[0]} goes with it alone"
        else:
            reason = not_here(views, preserve=preserve or "label")
            self.why = None if reason is None else f"canonical does not apply: {reason}"
        self.canonical = self.why is None

    @property
    def line(self) -> str:
        """The method in words, and why it is this one."""
        if self.canonical:
            how = "as asked" if self.asked else "by default"
            return f"canonical ({how}): from the classifier's answers and nothing else"
        return f"safetytransform ({self.why or 'as asked'}): from powers of the counts"


@dataclass(frozen=True)
class Declared:
    """Values and bins that were declared, column by column.

    Parameters
    ----------
    values : dict of name -> list
    edges : dict of name -> list
    nulls : frozenset of str
        The names of the binned columns in which null is a value.
    where : str
        The file.
    """

    values: dict[str, list[Any]]
    edges: dict[str, list[Any]]
    nulls: frozenset[str]
    where: str

    def applied(self, table: nbcfast.Table, every: bool = True) -> nbcfast.Table:
        """The table with these domains.

        Raises
        ------
        ValueError
            If a column is missing (with `every`), or a value is not among those declared.
        """
        missing = [name for name in (*self.values, *self.edges) if name not in table.names]
        if missing and every:
            raise ValueError(
                f"--domain {self.where}: the table has {no_column(None, missing[0], table.names)}"
            )
        for name, values in self.values.items():
            if name in table.names:
                table = self._listed(table, name, values)
        for name, edges in self.edges.items():
            if name in table.names:
                table = self._binned(table, name, edges)
        return table

    def _listed(self, table: nbcfast.Table, name: str, values: list[Any]) -> nbcfast.Table:
        try:
            return nbcfast.Table(table, domains={name: values})
        except (TypeError, ValueError) as error:
            kinds = {type(value) for value in table.domain(name) if value is not None}
            hint = ""
            if str not in kinds and any(isinstance(value, str) for value in values):
                hint = f"; the column was read as numbers: --text {name} keeps it as text"
            raise ValueError(f"{self.where}: {error}{hint}") from None

    def _binned(self, table: nbcfast.Table, name: str, edges: list[Any]) -> nbcfast.Table:
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
            table = nbcfast.Table(table, domains={name: [*bins, None]})
        return table


def declared_in(path: Path) -> Declared:
    """The declarations in a JSON file."""
    try:
        found = json.loads(
            path.read_text(encoding="utf-8-sig"),  # some editors begin with a mark
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise ValueError(f"{path}: not JSON of columns: it is nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"--domain: {path}: not JSON: {error}; expected as "
            '{"sex": ["female", "male"], "age": {"edges": [0, 18, 65, null]}}'
        ) from None
    except ValueError as error:  # a number of more digits than Python reads, or one of those below
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected an object of columns, got {type(found).__name__}")
    values: dict[str, list[Any]] = {}
    edges: dict[str, list[Any]] = {}
    nulls = set()
    for name, entry in found.items():
        where = f"{path}: column {name!r}"
        if isinstance(entry, list):
            if any(isinstance(value, list | dict) for value in entry):
                raise ValueError(f"{where}: expected plain values, got {_short(entry)}")
            values[name] = entry
        elif _is_bins(entry):
            edges[name] = _ends(entry["edges"])
            if entry.get("null", False):
                nulls.add(name)
        else:
            raise ValueError(
                f'{where}: expected a list of values or {{"edges": [..]}}, with "null": true where null is a '
                f"value; got {_short(entry)}"
            )
    return Declared(values, edges, frozenset(nulls), str(path))


def _is_bins(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and "edges" in entry
        and set(entry) <= {"edges", "null"}
        and isinstance(entry["edges"], list)
        and isinstance(entry.get("null", False), bool)
    )


def _short(entry: Any) -> str:
    try:
        return json.dumps(entry)[:60]
    except (RecursionError, ValueError):  # of a nested one, and of a number that is too long to be printed
        return "something very long"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are distinct."""
    found: dict[str, Any] = {}
    for name, entry in pairs:
        if name in found:
            raise ValueError(f"expected distinct names, got {name!r} twice")
        found[name] = entry
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"expected finite numbers, got {text[:60]}: an open end of the edges is null")
    return number


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON: an open end of the edges is null")


def _ends(edges: list[Any]) -> list[Any]:
    """Edges with an open end written as null."""
    ends = list(edges)
    if ends and ends[0] is None:
        ends[0] = -math.inf
    if ends and ends[-1] is None:
        ends[-1] = math.inf
    return ends


def listed_in(
    path: Path,
    views: nbcfast.Viewset,
    declared: Declared | None,
    reading: Reading,
) -> nbcfast.Table:
    """A public list of tuples, read as the table is."""
    names = list(views.attributes)
    domains = {name: views.domain(name) for name in names}
    table = reading.unweighted.like(path, domains).table(path, names)
    if declared is not None:
        return declared.applied(table, every=False)
    for name in names:
        if any(isinstance(value, nbcfast.Interval) for value in views.domain(name)):
            table = table.bin(name, edges=views.domain(name))
    return table


@dataclass(frozen=True)
class Leaks:
    """The leak meter, and of what."""

    found: Leak
    rounded: bool

    @property
    def verdict(self) -> str:
        return self.found.verdict

    def grids(self) -> list[Grid]:
        """The meter as tables: of the whole, and of each attribute."""
        found = self.found
        whole = listing("what the answers give away (for you alone)", "")
        if found.cells is None:
            whole.add_row("", "not measured: there is one class, and nothing is told apart")
            return [whole]
        bits = "none" if math.isinf(found.log2_range) else f"{found.log2_range:.1f}"
        if self.rounded:
            whole.add_row("measured on", "the answers before --bits rounded them")
        whole.add_row("bits a weight (warning above 8)", bits)
        if found.recovered is not None:
            text = f"{found.recovered:,} of {found.cells:,}"
            if found.cells < found.values:
                left = found.values - found.cells
                text += f"; not measured of {left:,} of all {found.values:,}, without rows in some class"
            whole.add_row("values whose counts public totals and answers give", text)
        whole.add_row("people who leave no trace", f"{found.unchanged:.0%} of a sample of {found.sampled}")
        if found.no_intervals is not None:
            whole.add_row("intervals of log-ratios", f"not measured: {found.no_intervals}")
        each = listing(
            "attribute",
            "values told apart",
            *([] if found.intervals is None else ["interval of a log-ratio, median"]),
        )
        for name, (kept, size) in list(found.levels.items())[:SHOWN]:
            widths = [] if found.intervals is None else [_width(found.intervals.get(name))]
            each.add_row(Text(label(name)), f"{kept:,} of {size:,}", *widths)
        if len(found.levels) > SHOWN:
            each.add_row(f"and {len(found.levels) - SHOWN:,} more")
        return [whole, each]

    def to_dict(self) -> dict[str, Any]:
        return self.found.to_dict()


EXACT = 1e-7  # of an interval, below which the answers fix a log-ratio as well as solvers can tell
NO_METER = "not measured: with --tuples only answers on the list are published, and the meter takes all"


def _width(interval: float | None) -> str:
    """How wide the answers leave the log-ratio of counts of an attribute's values, at the median."""
    if interval is None:
        return "-"
    if math.isinf(interval):
        return "open"
    # What programmes of doubles leave of 0 is no width.
    return f"{interval:.2g}" + (" (gives the scale, or is fixed)" if interval < EXACT else "")


def leaks(
    views: nbcfast.Viewset,
    table: nbcfast.Table,
    class_name: str,
    preserve: Literal["label", "order"],
    rounded: bool,
    intervals: bool,
) -> Leaks:
    """The leak meter. `rounded`: not what is published is measured."""
    with progress("measuring leaks") as report:
        found = canonical.leak(
            views,
            preserve=preserve,
            table=table,
            class_name=class_name,
            intervals=intervals,
            progress=report,
        )
    return Leaks(found, rounded)
