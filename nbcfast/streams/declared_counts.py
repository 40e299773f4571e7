"""Rows of a batch counted in domains that were declared before the first row came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Bools, Codes, Longs
from nbcfast._reading.csv_files import typed
from nbcfast.domains import Declared, Option
from nbcfast.table import Column, Domain
from nbcfast.table.arrow import check_codes
from nbcfast.table.encode import recode, used_values
from nbcfast.table.values import normalise
from nbcfast.views import Viewset
from nbcfast.views.tallying import MAX_VALUES, tally

if TYPE_CHECKING:
    from nbcfast.table.values import Value

# A dictionary is tallied as it is, and its counts are put in their places, unless that is longer than to
# give each row its place first.
SHORT = 256
MOST_KNOWN = 16  # dictionaries of a column whose places are remembered

Places = tuple[Longs, bool]  # where each value belongs, -1 for nowhere; whether that is where it is


class DeclaredCounts:
    """Counts of rows, in declared domains.

    Parameters
    ----------
    declarations : Declared
        Of the class and of each attribute; those left out are not read.
    class_name : str
    attributes : iterable of str, optional
        By default all that are declared, in their order.
    weighted : bool
        Whether a row may count for more than one.

    Attributes
    ----------
    names : tuple of str
        The attributes, and the class at the end.
    """

    def __init__(
        self,
        declarations: Declared,
        class_name: str,
        attributes: Iterable[str] | None = None,
        *,
        weighted: bool = False,
    ) -> None:
        self.declarations, self.class_name, self.weighted = declarations, class_name, weighted
        present = [name for name in declarations.names if name not in declarations.out]
        undeclared = [*declarations.widths, *declarations.from_rows]
        if undeclared:
            raise ValueError(
                f"domains: column {undeclared[0]!r} would take its values from rows, and blocks of a stream "
                "have other rows: declare all values, or both ends of the bins"
            )
        if class_name not in present:
            raise ValueError(f"domains must declare the class {class_name!r}; got {_listed(present)}")
        if isinstance(attributes, str):
            raise TypeError(f"attributes must be a sequence of names, got the text {attributes!r}")
        chosen = [name for name in present if name != class_name] if attributes is None else list(attributes)
        for name in chosen:
            if name not in present or name == class_name or chosen.count(name) > 1:
                others = [each for each in present if each != class_name]
                raise ValueError(f"attributes must be distinct names of {_listed(others)}; got {name!r}")
        self.names = (*chosen, class_name)
        self.options: dict[str, Option] = {name: declarations.options[name] for name in self.names}
        self.domains: dict[str, Domain] = {}
        for name, option in self.options.items():
            assert option.domain is not None  # those left out are not present
            self.domains[name] = option.domain
            if not 1 <= len(option.domain) <= MAX_VALUES:
                raise ValueError(f"domains: column {name!r} must have 1..{MAX_VALUES} values")
        self._known: dict[str, dict[tuple[object, ...], Places]] = {name: {} for name in self.names}

    def none(self) -> Viewset:
        """The counts of no rows."""
        n_classes = len(self.domains[self.class_name])
        counts = {name: np.zeros((len(self.domains[name]), n_classes), np.int64) for name in self.names[:-1]}
        return self.views(np.zeros(n_classes, np.int64), counts)

    def views(self, class_counts: Longs, counts: dict[str, Longs]) -> Viewset:
        """The viewset of finished counts, whose domains are those of every other one."""
        domains = {name: self.domains[name] for name in self.names[:-1]}
        classes = self.domains[self.class_name]
        return Viewset.from_parts(class_counts, counts, classes, domains, weighted=self.weighted)

    def placed(self, columns: dict[str, tuple[Codes, list[Value]]], texts: bool) -> Placed:
        """The rows of a batch, each of whose values has a place.

        Parameters
        ----------
        columns : dict of name -> (codes, values)
            Of all names; others do not matter.
        texts : bool
            Whether all values are those of a file of text, where 38 may be a number.

        Raises
        ------
        ValueError
            If a row has a value that was not declared.
        """
        rows, places, sizes = [], [], []
        for name in self.names:
            codes, values = columns[name]
            where, same = self._places(name, values, texts)
            if len(values) > max(SHORT, len(self.domains[name])):
                check_codes(name, codes, len(values))
                self.expect_covered(name, values, where, used_values(codes, len(values)) > 0, texts)
                codes, where, same = recode(codes, np.maximum(where, 0), len(self.domains[name])), where, True
            size = len(self.domains[name]) if same else len(values)
            rows.append(codes)
            places.append(None if same else (where, values))
            sizes.append(size)
        return Placed(self, rows, places, sizes, texts)

    def _places(self, name: str, values: list[Value], texts: bool) -> Places:
        key = (texts, *map(type, values), *values)
        known = self._known[name]
        if len(values) <= SHORT and key in known:
            return known[key]
        plain = normalise(self._typed(name, values) if texts else values, f"column {name!r}")[1]
        raw = Domain.sorted(plain, where=f"column {name!r}")
        codes = self.options[name].codes(raw)
        where = codes[np.fromiter(map(raw.index.__getitem__, plain), np.int64, len(plain))]
        size = len(self.domains[name])
        places = where, len(where) == size and bool((where == np.arange(size)).all())
        if len(values) <= SHORT:
            if len(known) >= MOST_KNOWN:
                known.pop(next(iter(known)))
            known[key] = places
        return places

    def _typed(self, name: str, values: list[Value]) -> list[Value]:
        """The texts of a file as what was declared: numbers only where numbers were."""
        option = self.options[name]
        edges = option.entry.get("edges")
        dated = isinstance(edges, Iterable) and any(isinstance(edge, str) for edge in edges)
        if option.is_of_texts or dated:
            return values
        return typed(values, None, name) or values

    def expect_covered(self, name: str, values: list[Value], where: Longs, used: Bools, texts: bool) -> None:
        """Refuse values that rows have and that were not declared."""
        wrong = np.flatnonzero((where < 0) & used)
        if len(wrong):
            listed = [values[place] for place in wrong.tolist()]
            raw = Domain.sorted(self._typed(name, listed) if texts else listed)
            why = self.options[name].uncovered(Column(np.arange(len(raw), dtype=np.uint32), raw))
            raise ValueError(f"column {name!r}: {why}")


class Placed:
    """Rows whose values have places, to be counted part by part."""

    def __init__(
        self,
        counts: DeclaredCounts,
        codes: list[Codes],
        places: list[tuple[Longs, list[Value]] | None],
        sizes: list[int],
        texts: bool,
    ) -> None:
        self._counts, self._codes, self._places, self._sizes, self._texts = (
            counts,
            codes,
            places,
            sizes,
            texts,
        )

    def views(self, rows: slice | Longs, n_rows: int, weights: Longs | None, threads: int | None) -> Viewset:
        """The counts of some of the rows.

        Parameters
        ----------
        rows : slice or ndarray of int64
            Which they are.
        n_rows : int
            How many they are.
        weights : ndarray of int64 or None
            Of all rows.
        threads : int, optional
            As for `nbcfast.count`.
        """
        counting = self._counts
        *codes, labels = [np.ascontiguousarray(column[rows]) for column in self._codes]
        *sizes, n_labels = self._sizes
        try:
            class_counts, counts = tally(
                codes,
                sizes,
                labels,
                n_labels,
                n_rows,
                weights=None if weights is None else np.ascontiguousarray(weights[rows]),
                threads=threads,
            )
        except ValueError:
            for name, column, size in zip(counting.names, self._codes, self._sizes, strict=True):
                check_codes(name, column, size)
            raise
        class_counts = self._settled(-1, class_counts[:, np.newaxis])[:, 0]
        result = {}
        for place, (name, array) in enumerate(zip(counting.names, counts, strict=False)):
            by_value = self._settled(place, array)
            result[name] = np.ascontiguousarray(self._settled(-1, by_value.T).T)
        return counting.views(class_counts, result)

    def _settled(self, column: int, counts: Longs) -> Longs:
        """Counts of the values of a batch as those of the declared values."""
        there = self._places[column]
        if there is None:
            return counts
        where, values = there
        name = self._counts.names[column]
        self._counts.expect_covered(name, values, where, np.asarray(counts.any(axis=1)), self._texts)
        result = np.zeros((len(self._counts.domains[name]), counts.shape[1]), np.int64)
        inside = where >= 0
        np.add.at(result, where[inside], counts[inside])  # several values may have one place
        return result


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names)) or "no column"
