"""The layout of views, which is a star, a chain or neither; and the distinct tuples of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Codes, Longs
from nbcfast.groups.groups import grouped
from nbcfast.table import Domain, Table

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast.groups.groups import Groups

Names = tuple[str, ...]

MOST_BETWEEN = 6  # views, all of whose orders are tried (720); of more the join is worked with


@dataclass(frozen=True)
class Layout:
    """Which columns of which view matter.

    Attributes
    ----------
    views : tuple of tuple of str
        As they were given.
    parts : tuple of tuple of str
        The columns that make the tuples of each view: that of the identity first, that of the attribute
        second, the others in their order. Of a view that has the identity or the attribute, only these and
        the columns of other views, unless whole tuples count.
    numbers : list of int
        For each part the number of its view as given, from 1.
    join : tuple of str, or None
        The columns that every two views share, where that is the same for all pairs.
    shape : {"star", "chain", "other"}
        Chain: from the identity's view to the attribute's there is a path of all views in which what two of
        them share is in all between them. The further parts are then in that order.
    """

    identity: str
    attribute: str
    views: tuple[Names, ...]
    parts: tuple[Names, ...]
    numbers: list[int]
    join: Names | None
    shape: str

    @property
    def names(self) -> list[str]:
        """All columns that matter, once each."""
        return list(dict.fromkeys(name for part in self.parts for name in part))


def layout(views: Iterable[Iterable[str]], identity: str, attribute: str, worlds: str) -> Layout:
    """Which columns of which views matter, and how these hang together: a star, a chain, or neither."""
    checked = _checked_views(views)
    for name, what in ((identity, "identity"), (attribute, "attribute")):
        if not isinstance(name, str):
            raise TypeError(f"{what} must be the name of a column, got {name!r}")
        if not any(name in view for view in checked):
            raise ValueError(f"{what}: expected a column of one of the views, got {name!r}")
    if identity == attribute:
        raise ValueError(f"identity and attribute must be different columns, got {identity!r} twice")
    pairs = [
        pair
        for pair in product(range(len(checked)), repeat=2)
        if pair[0] != pair[1] and identity in checked[pair[0]] and attribute in checked[pair[1]]
    ]
    if not pairs:
        raise ValueError(
            f"views: {identity!r} and {attribute!r} are in one view alone, which publishes their "
            "associations as they are; expected them in two different views"
        )
    shared = [
        tuple(name for name in checked[a] if name in checked[b])
        for a, b in combinations(range(len(checked)), 2)
    ]
    star = all(set(names) == set(shared[0]) for names in shared)
    # Of several, the views that have only one of the two, then that make a chain, then by their names.
    least = min(_both(checked, pair, identity, attribute) for pair in pairs)
    pairs = [pair for pair in pairs if _both(checked, pair, identity, attribute) == least]
    pairs.sort(key=lambda pair: [sorted(checked[place]) for place in pair])
    order, path = list(pairs[0]), None
    for first, second in [] if star else pairs:
        further = [place for place in range(len(checked)) if place not in (first, second)]
        path = _path(checked, first, further, second)
        if path is not None:
            order = [first, second, *path]
            break
    order += [place for place in range(len(checked)) if place not in order]
    parts = []
    for place in order:
        elsewhere = {name for view in order if view != place for name in checked[view]}
        private = [name for name in (identity, attribute) if name in checked[place]]
        # Of a view with neither, whole tuples count in any case: docs/mathematics/associations.md, section 0.
        whole = worlds == "full" or not private
        parts.append(tuple(name for name in checked[place] if whole or name in elsewhere or name in private))
    shape = "star" if star else "other" if path is None else "chain"
    numbers = [place + 1 for place in order]
    return Layout(identity, attribute, checked, tuple(parts), numbers, shared[0] if star else None, shape)


def _both(views: tuple[Names, ...], pair: tuple[int, ...], identity: str, attribute: str) -> int:
    return (attribute in views[pair[0]]) + (identity in views[pair[1]])


def _path(views: tuple[Names, ...], first: int, further: list[int], last: int) -> list[int] | None:
    """An order of the further views that makes a chain of all."""
    if len(further) > MOST_BETWEEN:
        return None
    for between in permutations(further):
        sets = [set(views[place]) for place in (first, *between, last)]
        if all(sets[a] & sets[c] <= sets[b] for a, b, c in combinations(range(len(sets)), 3)):
            return list(between)
    return None


def _checked_views(views: Iterable[Iterable[str]]) -> tuple[Names, ...]:
    if isinstance(views, (str, bytes)) or not isinstance(views, Iterable):
        raise TypeError(f"views must be a sequence of sequences of names, got {views!r}")
    checked = []
    for number, view in enumerate(views):
        if isinstance(view, (str, bytes)) or not isinstance(view, Iterable):
            raise TypeError(f"views[{number}] must be a sequence of names, got {view!r}")
        names = tuple(view)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"views[{number}] must be names of columns, got {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"views[{number}] names {name!r} twice")
        if not names:
            raise ValueError(f"views[{number}] must have at least one column, got none")
        checked.append(names)
    if len(checked) < 2:
        raise ValueError(f"views must be at least two, got {len(checked)}")
    return tuple(checked)


class Columns:
    """Codes and domains by name: of a table, or of the distinct tuples of a stream."""

    def __init__(self, codes: dict[str, Codes], domains: dict[str, Domain]) -> None:
        self.codes = codes
        self.domains = domains

    @classmethod
    def of(cls, table: Table, names: Iterable[str]) -> Columns:
        columns = {name: table.column(name) for name in names}
        if table.n_rows == 0:
            raise ValueError("no rows")
        return cls(
            {name: column.codes for name, column in columns.items()},
            {name: column.domain for name, column in columns.items()},
        )

    def rows(self, names: Sequence[str]) -> list[tuple[int, ...]]:
        """The codes of some columns, row by row."""
        n_rows = len(next(iter(self.codes.values())))
        listed = [self.codes[name].tolist() for name in names]
        return list(zip(*listed, strict=True)) if listed else [()] * n_rows

    def pairs(
        self, by: Sequence[str], key: str, threads: int | None = None, progress: Progress | None = None
    ) -> Groups:
        """The distinct tuples of some columns: values of `key` in groups by the others."""
        return grouped(
            [self.codes[name] for name in by],
            [self.domains[name] for name in by],
            self.codes[key],
            self.domains[key],
            tuple(by),
            key,
            threads=threads,
            progress=progress,
        )


@dataclass(frozen=True, eq=False)
class StarSide:
    """One side of a star: which identities (or values) each join value has, and with how many tuples.

    Attributes
    ----------
    groups : Groups
        By the join columns; of the identity or attribute.
    tuples : ndarray of int64
        For each entry of the groups, how many tuples of the view it stands for.
    """

    groups: Groups
    tuples: Longs

    @property
    def sizes(self) -> Longs:
        """Tuples of each join value."""
        return np.add.reduceat(self.tuples, self.groups.offsets[:-1])


def side(
    columns: Columns,
    part: Names,
    join: Names,
    key: str,
    threads: int | None = None,
    progress: Progress | None = None,
) -> StarSide:
    """The tuples of a view as entries (join value, key)."""
    extra = [name for name in part if name != key and name not in join]
    if not extra:
        groups = columns.pairs(join, key, threads, progress)
        return StarSide(groups, np.ones(len(groups.values), np.int64))
    tuples = distinct(columns, [*join, *extra, key], threads, progress)
    groups = tuples.pairs(join, key, threads)
    return StarSide(groups, groups.counts)


def distinct(
    columns: Columns, names: Sequence[str], threads: int | None = None, progress: Progress | None = None
) -> Columns:
    """The distinct tuples of these columns, sorted."""
    *by, key = names
    groups = columns.pairs(by, key, threads, progress)
    repeats = groups.distinct
    codes = {name: np.repeat(groups.codes(name), repeats) for name in by}
    return Columns({**codes, key: groups.values}, {name: columns.domains[name] for name in names})


def tuples_a_join_value(
    columns: Columns,
    part: Names,
    join: Names,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Longs:
    """How many distinct tuples of a view each join value has, in the order of the join values."""
    extra = [name for name in part if name not in join]
    groups = columns.pairs([*join, *extra[:-1]], extra[-1], threads, progress) if extra else None
    if groups is None:
        *by, key = join
        return np.ones(len(columns.pairs(by, key, threads).values), np.int64)
    if not join:
        return np.array([len(groups.values)], np.int64)
    starts = np.zeros(groups.n_groups, np.bool_)
    starts[0] = True
    for name in join:
        codes = groups.codes(name)
        starts[1:] |= codes[1:] != codes[:-1]
    return np.add.reduceat(groups.distinct, np.flatnonzero(starts))
