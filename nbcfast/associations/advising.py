"""`advise`: which two views of a table hide who has what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING

from nbcfast._core.dtypes import Numbers
from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, table_from
from nbcfast._wire.messages import printable
from nbcfast.associations.projections import Columns, Names, tuples_a_join_value
from nbcfast.associations.results import check_columns, check_progress, check_threshold
from nbcfast.associations.risks import risk
from nbcfast.frames import Frame
from nbcfast.table import Table

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_COLUMNS = 6  # 729 splits; more are searched greedily


@dataclass(frozen=True, repr=False)
class Split:
    """Two views, and what they give away.

    Attributes
    ----------
    views : ((str, ...), (str, ...))
        The one with the identity and the one with the attribute.
    join : tuple of str
        The columns in both.
    worst : Fraction
        The greatest restricted probability of any association.
    let_out : Fraction
        Of the rows in the join of the two views, the share that are rows of the table: 1 if the join is
        the table itself.
    """

    views: tuple[Names, Names]
    join: Names
    worst: Fraction
    let_out: Fraction

    def to_dict(self) -> Document:
        """Plain values; fractions as "num/den"."""
        return {
            "views": [list(view) for view in self.views],
            "join": list(self.join),
            "worst": str(self.worst),
            "let_out": str(self.let_out),
        }

    def __repr__(self) -> str:
        first, second = (f"({', '.join(view)})" for view in self.views)
        return printable(
            f"Split({first} and {second}: worst {self.worst}, lets out {float(self.let_out):.4g})"
        )


class Splits(tuple[Split, ...]):
    """Splits, those that let out most first.

    Attributes
    ----------
    method : {"exhaustive", "greedy"}
        Whether all splits were looked at.
    looked_at : int
        Sets of join columns whose associations were worked out.
    """

    method: str
    looked_at: int

    @classmethod
    def of(cls, splits: Iterable[Split], method: str, looked_at: int) -> Splits:
        """Splits in this order, with what is to be said of the search."""
        ranked = cls(splits)
        ranked.method, ranked.looked_at = method, looked_at
        return ranked

    def __reduce__(self) -> tuple[object, ...]:
        return Splits.of, (tuple(self), self.method, self.looked_at)

    def to_dict(self) -> Document:
        """Plain values of all splits, and how they were looked for."""
        return {
            "method": self.method,
            "looked_at": self.looked_at,
            "splits": [split.to_dict() for split in self],
        }

    def __repr__(self) -> str:
        lines = "\n".join(f"  {split!r}" for split in self[:20])
        more = f"\n  ... {len(self)} in all" if len(self) > 20 else ""
        return f"Splits({self.method}, {len(self)} found\n{lines}{more})"


def advise(
    table: AnyTable,
    identity: str,
    attribute: str,
    columns: Iterable[str],
    *,
    threshold: Numeral = "1/2",
    progress: Progress | None = None,
) -> Splits:
    """Ways to split columns into two views that keep every association at or below a threshold.

    One view has the identity, the other the attribute; each of `columns` is in one of them or in both. The
    model is the restricted one: an identity has a single value. A split that leaves some identity no
    restricted world is no way: such a one is known to have several values.

    Parameters
    ----------
    table : Table, or what it is made of
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). Weights are ignored.
    identity, attribute : str
        The columns whose association is private.
    columns : iterable of str
        The others to be published.
    threshold : number
        What no probability may exceed.
    progress : callable, optional
        Called as progress(done, all); all is an upper bound.

    Returns
    -------
    Splits
        Ranked by `let_out`, then by more join columns, then in the order of `columns`. Empty where even views
        without a common column are above the threshold.

    Notes
    -----
    The probabilities depend on the columns in both views alone, and one more of them never lowers the
    greatest one of an identity, nor gives it a world: so sets of join columns are grown, and none is tried
    that holds one above the threshold. Up to 6 columns that is done for all of them, and every place of the
    other columns is compared. Beyond, columns are made common one at a time, always the one that lets out
    most of those that keep the threshold, and each other column is then put where it lets out more; the
    result has the best split found at each step.

    Examples
    --------
    >>> people = Table(
    ...     {
    ...         "name": ["Ann", "Bob", "Cid", "Dan"],
    ...         "age": [30, 30, 40, 40],
    ...         "job": ["cook", "clerk", "cook", "clerk"],
    ...         "ill": ["flu", "cold", "flu", "cold"],
    ...     }
    ... )
    >>> advise(people, "name", "ill", ["age", "job"])[0]
    Split((name, age) and (age, job, ill): worst 1/2, lets out 0.5)
    """
    level = check_threshold(threshold)
    check_progress(progress)
    if isinstance(table, Frame):
        table = table.weighted(dict.fromkeys([identity, attribute, *_names(columns, identity, attribute)]))
    table = table_from(table)
    for name, where in ((identity, "identity"), (attribute, "attribute")):
        check_columns(table.names, [name], where)
    if identity == attribute:
        raise ValueError(f"identity and attribute must be different columns, got {identity!r} twice")
    names = _names(columns, identity, attribute)
    check_columns(table.names, names, "columns")
    search = _SplitSearch(table, identity, attribute, names, level, progress)
    if len(names) <= MOST_COLUMNS:
        return Splits.of(_ranked(search.exhaustive(), names), "exhaustive", len(search.worst))
    return Splits.of(_ranked(search.greedy(), names), "greedy", len(search.worst))


def _names(columns: Iterable[str], identity: str, attribute: str) -> Names:
    if isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable):
        raise TypeError(f"columns must be a sequence of names, got {columns!r}")
    names = tuple(columns)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"columns must be distinct names, got {name!r} twice")
        if name in (identity, attribute):
            raise ValueError(f"columns must be others than the identity and the attribute, got {name!r}")
    return names


def _ranked(splits: Iterable[Split], names: Names) -> list[Split]:
    def rank(split: Split) -> tuple[Fraction, int, list[list[int]]]:
        places = [[names.index(name) for name in view if name in names] for view in split.views]
        return -split.let_out, -len(split.join), places

    return sorted(splits, key=rank)


class _SplitSearch:
    """The splits of a table that keep a threshold."""

    def __init__(
        self,
        table: Table,
        identity: str,
        attribute: str,
        names: Names,
        threshold: Fraction,
        progress: Progress | None,
    ) -> None:
        if table.n_rows == 0:
            raise ValueError("no rows")
        self.table = table.select([identity, *names, attribute]).collapse()
        self.rows = Columns.of(self.table, self.table.names)
        self.identity, self.attribute, self.names = identity, attribute, names
        self.threshold, self.progress = threshold, progress
        self.worst: dict[frozenset[str], Fraction | None] = {}
        self._sizes: dict[tuple[frozenset[str], Names], Numbers] = {}
        self.most = 2 ** len(names) if len(names) <= MOST_COLUMNS else len(names) * (len(names) + 1) // 2 + 1

    def worst_of(self, join: Names) -> Fraction | None:
        """The greatest probability; None where some identity has no world."""
        key = frozenset(join)
        if key not in self.worst:
            views = [(self.identity, *join), (*join, self.attribute)]
            risks = risk(self.table, views, self.identity, self.attribute, model="restricted")
            (worst,) = risks.worst(1) if not risks.n_without_world else [None]
            self.worst[key] = None
            if worst is not None:
                self.worst[key] = risks.of(worst[self.identity], worst[self.attribute]).exact
            if self.progress is not None:
                self.progress(len(self.worst), self.most)
        return self.worst[key]

    def keeps(self, join: Names) -> bool:
        """Whether no probability of views with these common columns is above the threshold."""
        worst = self.worst_of(join)
        return worst is not None and worst <= self.threshold

    def split(self, join: Names, first: Names) -> Split:
        """Join columns in both, those of `first` with the identity, all others with the attribute."""
        of_identity = (self.identity, *(name for name in self.names if name in join or name in first))
        of_attribute = (*(name for name in self.names if name in join or name not in first), self.attribute)
        joined = int(self._tuples(join, of_identity) @ self._tuples(join, of_attribute))
        worst = self.worst_of(join)
        assert worst is not None
        return Split((of_identity, of_attribute), join, worst, Fraction(self.table.n_rows, joined))

    def _tuples(self, join: Names, view: Names) -> Numbers:
        """Tuples of a view at each join value, as Python ints: joins of large tables are beyond 64 bits."""
        key = frozenset(join), view
        if key not in self._sizes:
            self._sizes[key] = tuples_a_join_value(self.rows, view, join).astype(object)
        return self._sizes[key]

    def exhaustive(self) -> Iterator[Split]:
        kept: set[Names] = set()
        for size in range(len(self.names) + 1):
            for join in combinations(self.names, size):
                fewer = (join[:place] + join[place + 1 :] for place in range(size))
                # One more common column never lowers the greatest probability, nor makes a world.
                if all(narrower in kept for narrower in fewer) and self.keeps(join):
                    kept.add(join)
                    yield from self._placed(join)

    def _placed(self, join: Names) -> Iterator[Split]:
        """Every place of the columns that are not common."""
        others = [name for name in self.names if name not in join]
        for sides in product((True, False), repeat=len(others)):
            first = tuple(name for name, is_first in zip(others, sides, strict=True) if is_first)
            yield self.split(join, first)

    def greedy(self) -> Iterator[Split]:
        join: Names = ()
        if not self.keeps(join):
            return
        left = set(self.names)
        while True:
            yield self._best_placed(join)
            wider = []
            for name in sorted(left, key=self.names.index):
                more = tuple(column for column in self.names if column in join or column == name)
                if self.keeps(more):
                    wider.append((name, self._best_placed(more)))
                else:  # nor will any wider one
                    left.discard(name)
            if not wider:
                return
            name, best = max(wider, key=lambda entry: entry[1].let_out)
            join = best.join
            left.discard(name)

    def _best_placed(self, join: Names) -> Split:
        """Columns one at a time to the side where they let out more."""
        others = [name for name in self.names if name not in join]
        first: Names = tuple(others)
        best = self.split(join, first)
        for name in others:
            fewer = tuple(column for column in first if column != name)
            moved = self.split(join, fewer)
            if moved.let_out > best.let_out:
                best, first = moved, fewer
        return best
