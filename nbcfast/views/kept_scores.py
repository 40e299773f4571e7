"""What a classifier needs to decide rows, made when it is first asked and kept for the next time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal
from weakref import ref

import numpy as np

from nbcfast._columns import Columns
from nbcfast._core.dtypes import Array, Longs
from nbcfast._score import Served, Translation
from nbcfast.table import Column, Domain
from nbcfast.views.score_tables import score_tables
from nbcfast.views.shown_views import plain_labels

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

Unknown = Literal["none", "zero", "ignore"]  # what a position behind the last value of an attribute means

# Joint tables that are cheapest for so many rows: larger ones would take longer to make than they save.
USUAL_ROWS = 16_384
MOST_KEPT = 3  # tables of a classifier: of other smoothing, and with unknown values
MOST_BYTES = 32 << 20  # of one of them, without joint tables; larger ones are made anew


class Match:
    """Where the values of some columns have their positions in a classifier.

    Attributes
    ----------
    tables : list of ndarray of int64
        For each code of an attribute the position of its value, or -1.
    sizes : list of int
        How many codes each has.
    is_complete : bool
        Whether every value has a position.
    is_same : bool
        Whether every code is the position of its value.
    """

    __slots__ = ("_known", "_with_unknown", "is_complete", "is_same", "sizes", "tables")

    _known: Translation | None
    _with_unknown: Translation | None

    def __init__(self, tables: list[Longs]) -> None:
        self.tables = tables
        self.sizes = [len(table) for table in tables]
        self.is_complete = all(not (table < 0).any() for table in tables)
        self.is_same = all(np.array_equal(table, np.arange(len(table))) for table in tables)
        self._known = self._with_unknown = None

    def translation(self, behind: Sequence[int] | None) -> Translation:
        """The tables as the kernel takes them; values without a position come behind so many others."""
        if behind is None:
            if self._known is None:
                self._known = Translation(self.tables)
            return self._known
        if self._with_unknown is None:
            moved = [
                np.where(table < 0, size, table) for table, size in zip(self.tables, behind, strict=True)
            ]
            self._with_unknown = Translation(moved)
        return self._with_unknown


class Matching:
    """Finds the positions of the values of columns, and remembers those of the last domains.

    Domains are remembered by what they are, not by what they hold, and are not kept alive.

    Parameters
    ----------
    names : sequence of str
        The attributes.
    place : callable
        Called as place(name, domain): for each value its position, or -1.
    """

    __slots__ = ("_last", "_names", "_place")

    def __init__(self, names: Sequence[str], place: Callable[[str, Domain], Longs]) -> None:
        self._names, self._place = names, place
        # Replaced as a whole: another thread sees one or the other.
        self._last: tuple[list[ref[Domain]], Match] | None = None

    def of(self, columns: Sequence[Column]) -> Match:
        """Where the values of these columns have their positions; one column an attribute."""
        last = self._last
        if last is not None:
            for column, known in zip(columns, last[0], strict=True):
                if known() is not column.domain:
                    break
            else:
                return last[1]
        pairs = zip(self._names, columns, strict=True)
        match = Match([self._place(name, column.domain) for name, column in pairs])
        self._last = [ref(column.domain) for column in columns], match
        return match


class KeptScores:
    """Of one viewset: the tables of its scores, the domains of the last table, and its labels.

    All of it is made when it is first needed. Threads that need the same at once make it each for itself,
    and one of them is kept: nobody waits.
    """

    __slots__ = ("_labels", "_own", "_served", "matching", "sizes")

    def __init__(self, domains: Mapping[str, Domain], sizes: list[int]) -> None:
        def place(name: str, domain: Domain) -> Longs:
            return domain.positions_in(domains[name])

        self.matching = Matching(tuple(domains), place)
        self.sizes = sizes
        self._served: dict[tuple[Fraction, Unknown], Served | None] = {}
        self._labels: Array | None = None
        self._own: Match | None = None

    @property
    def own(self) -> Match:
        """Where the values of the own domains have their positions."""
        if self._own is None:
            self._own = Match([np.arange(size) for size in self.sizes])
        return self._own

    def labels(self, class_domain: Domain) -> Array:
        """The labels as an array that nobody may write to."""
        if self._labels is None:
            labels = plain_labels(class_domain)
            labels.flags.writeable = False
            self._labels = labels
        return self._labels

    def served(self, views: Viewset, smoothing: Fraction, unknown: Unknown) -> Served | None:
        """The tables of these views, which own this; None where they would be too large to be kept."""
        try:
            return self._served[smoothing, unknown]
        except KeyError:
            made, n_bytes = made_to_serve(views, smoothing, unknown)
            kept = made if n_bytes <= MOST_BYTES else None
            others = list(self._served.items())[-MOST_KEPT + 1 :]
            self._served = {**dict(others), (smoothing, unknown): kept}
            return kept


def made_to_serve(views: Viewset, smoothing: Fraction, unknown: Unknown) -> tuple[Served, int]:
    """The tables of a classifier for positions in its own domains, and how many bytes they have.

    With `unknown` values each attribute has a position behind its last one, which counts as 0 in every class
    or is no factor of any.
    """
    tables = [np.arange(len(array)) for array in views.counts.values()]
    if unknown != "none":
        tables = [np.append(table, -1) for table in tables]
    nothing = [np.zeros(0, np.uint8) for _ in tables]
    columns = Columns(nothing, [len(table) for table in tables], 0)
    scores, n_bytes = score_tables(
        views, columns, tables, USUAL_ROWS, smoothing, unknown == "ignore", by_costs=True
    )
    return Served(scores), n_bytes
