"""All tables with given counts, for teaching and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from nbcfast._core.validation import whole
from nbcfast.attack.queries import viewset
from nbcfast.table import Table
from nbcfast.table.encode import Column, code_dtype

if TYPE_CHECKING:
    from nbcfast.published.release import Release
    from nbcfast.views import Viewset

MOST_ROWS = 100_000


class Worlds(Sequence[Table]):
    """The possible worlds of a viewset, d1, d2, .., each made when it is asked for.

    Attributes
    ----------
    n_worlds : int
        How many there are; `len` works up to 2^63 - 1.
    views : Viewset
        The counts that all of them have.
    class_name : str
        The name of the class column.
    """

    __slots__ = ("_choices", "class_name", "n_worlds", "views")

    def __init__(self, views: Viewset, class_name: str) -> None:
        self.views, self.class_name = views, class_name
        # The first column of each class stays; of each other one, how many different arrangements it has.
        self._choices = [
            (c, name, _arrangements(views.counts[name][:, c].tolist()))
            for c in range(len(views.classes))
            for name in views.attributes[1:]
        ]
        self.n_worlds: int = math.prod(number for _, _, number in self._choices)

    def __len__(self) -> int:
        return self.n_worlds

    @overload
    def __getitem__(self, index: int) -> Table: ...
    @overload
    def __getitem__(self, index: slice) -> list[Table]: ...
    def __getitem__(self, index: int | slice) -> Table | list[Table]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self.n_worlds))]
        index = whole(index, "index", expected="an int or a slice")
        position = index + self.n_worlds if index < 0 else index
        if not 0 <= position < self.n_worlds:
            raise IndexError(f"index must be in 0..{self.n_worlds - 1}, got {index}")
        chosen = []
        for _, _, number in reversed(self._choices):
            position, place = divmod(position, number)
            chosen.append(place)
        return self._table(chosen[::-1])

    def __iter__(self) -> Iterator[Table]:
        return (self[i] for i in range(self.n_worlds))

    def _table(self, chosen: list[int]) -> Table:
        views = self.views
        sizes = views.class_counts.tolist()
        parts: dict[str, list[int]] = {name: [] for name in views.attributes}
        places = {(c, name): place for (c, name, _), place in zip(self._choices, chosen, strict=True)}
        for c in range(len(sizes)):
            for name in views.attributes:
                counts = views.counts[name][:, c].tolist()
                parts[name] += _arrangement(counts, places.get((c, name), 0))
        columns = {
            name: Column(np.array(codes, code_dtype(len(views.domain(name)))), views.domains[name])
            for name, codes in parts.items()
        }
        labels = np.repeat(np.arange(len(sizes), dtype=code_dtype(len(sizes))), sizes)
        columns[self.class_name] = Column(labels, views.class_domain)
        return Table.from_columns(columns, None, views.n_rows)

    def __repr__(self) -> str:
        shown = self.n_worlds if self.n_worlds < 10**15 else f"about 2^{self.n_worlds.bit_length() - 1}"
        return f"Worlds({shown} of {self.views.n_rows} rows)"


def _arrangements(counts: list[int]) -> int:
    """How many different orders a column with these counts has."""
    result, n = 1, 0
    for count in counts:
        n += count
        result *= math.comb(n, count)
    return result


def _arrangement(counts: list[int], place: int) -> list[int]:
    """The order at this place among all, which stand as words in a dictionary do."""
    counts = list(counts)
    left, number = sum(counts), _arrangements(counts)
    result = []
    while left:
        value, starting = 0, number * counts[0] // left
        while place >= starting:
            place -= starting
            value += 1
            starting = number * counts[value] // left
        result.append(value)
        counts[value] -= 1
        left, number = left - 1, starting
    return result


def worlds(views: Viewset | Release, *, class_name: str | None = None) -> Worlds:
    """All possible worlds of tiny views: the paper's d1, d2, .. .

    In each class the first column stays where it is and every other one is arranged in all ways that look
    different, each as likely as any other. (To arrange the first one too would repeat each world equally
    often, up to the order of its rows.)

    Parameters
    ----------
    views : Viewset or Release
        Realistic, with at most 100,000 rows.
    class_name : str, optional
        The name of the class column: by default that of the release, or "class".

    Returns
    -------
    Worlds
        A sequence of tables. It is counted without being made, and any of them can be had by its index.

    Raises
    ------
    ValueError
        If the views have no rows, too many, or are not realistic, or the class has the name of an attribute.

    Examples
    --------
    >>> from nbcfast import Viewset
    >>> views = Viewset([5, 2], [[[1, 1], [4, 1]], [[1, 1], [4, 1]]])
    >>> d = worlds(views)
    >>> len(d), d[0].codes("A2").tolist(), d[9].codes("A2").tolist()
    (10, [0, 1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1, 0])
    """
    counted = viewset(views)
    if counted.n_rows > MOST_ROWS:
        raise ValueError(f"views must have at most {MOST_ROWS:,} rows to list worlds, got {counted.n_rows}")
    name = getattr(views, "class_name", None) or "class" if class_name is None else class_name
    if not isinstance(name, str):
        raise TypeError(f"class_name must be a text, got {name!r}")
    if name in counted.attributes:
        raise ValueError(f"class_name must be no attribute, got {name!r}")
    return Worlds(counted, name)
