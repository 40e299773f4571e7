"""Counts of batches whose values are in dictionaries of their own, merged by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from nbcfast._core.dtypes import Longs
from nbcfast._reading.distinct import GrowingDomains
from nbcfast.table import Domain
from nbcfast.table.values import Value
from nbcfast.views.precedence import check_values
from nbcfast.views.tallying import MAX_VALUES


class GrowingCounts:
    """Counts by first-seen codes, with room for more values and classes than there are yet."""

    def __init__(self) -> None:
        self.counts = np.zeros((0, 0), np.int64)

    def add(self, rows: Longs, columns: Longs, counts: Longs) -> None:
        """Add counts[i, j] to the cell rows[i], columns[j]; a row or column may come more than once."""
        need = (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
        if need[0] > self.counts.shape[0] or need[1] > self.counts.shape[1]:
            room = [
                have if want <= have else max(want, 2 * have)
                for have, want in zip(self.counts.shape, need, strict=True)
            ]
            grown = np.zeros(room, np.int64)
            grown[: self.counts.shape[0], : self.counts.shape[1]] = self.counts
            self.counts = grown
        np.add.at(self.counts, np.ix_(rows, columns), counts)

    def arranged(self, rows: Longs, columns: Longs, shape: tuple[int, int]) -> Longs:
        result = np.zeros(shape, np.int64)
        cells, counts = np.ix_(rows, columns), self.counts[: len(rows), : len(columns)]
        if not counts.size:
            return result
        if all(len(np.unique(places)) == len(places) for places in (rows, columns)):
            result[cells] = counts
        else:  # two texts of a file that are one number have one place
            np.add.at(result, cells, counts)
        return result


class BatchCounts:
    """The counts of all columns, while batches come and the domains grow.

    Parameters
    ----------
    domains : GrowingDomains
        Of all columns, that of the class too.
    class_name : str
    max_values : int
        Of an attribute.
    """

    def __init__(self, domains: GrowingDomains, class_name: str, max_values: int) -> None:
        self.domains, self.class_name, self.max_values = domains, class_name, max_values
        self._grown = {name: GrowingCounts() for name in domains.builders}
        self._held: dict[str, tuple[list[Value], list[Value], Longs]] = {}

    @property
    def names(self) -> list[str]:
        return list(self._grown)

    def add(self, name: str, values: list[Value], labels: list[Value], counts: Longs) -> None:
        """Add the counts of a batch: of these values with these labels; of the class one row.

        The array is kept, and added to while the next batches have the very same lists: most have, and
        looking up all values again would take as long as counting some ten thousand rows. Such a list may
        have grown at its end meanwhile.
        """
        held = self._held.get(name)
        if held is None or held[0] is not values or held[1] is not labels:
            self._merge(name)
            self._held[name] = values, labels, counts
        elif held[2].shape == counts.shape:
            np.add(held[2], counts, out=held[2])
        else:
            counts[: held[2].shape[0], : held[2].shape[1]] += held[2]
            self._held[name] = values, labels, counts

    def _merge(self, name: str) -> None:
        """Put what is held of a column where its values and labels are among those of all batches."""
        held = self._held.pop(name, None)
        if held is None:
            return
        values, labels, counts = held
        n_values, n_labels = counts.shape
        builders = self.domains.builders
        with_label = counts.any(axis=0)
        seen = np.flatnonzero(with_label)
        places = builders[self.class_name].add(_first(labels, n_labels), with_label)[seen]
        if name == self.class_name:
            check_values(name, len(builders[name]), MAX_VALUES)
            self._grown[name].add(np.zeros(1, np.int64), places, counts[:, seen])
            return
        used = counts.any(axis=1)
        rows = np.flatnonzero(used)
        at = builders[name].add(_first(values, n_values), used)[rows]
        check_values(name, len(builders[name]), self.max_values)
        self._grown[name].add(at, places, counts[np.ix_(rows, seen)])

    def finished(
        self, attributes: Iterable[str], given: Mapping[str, Domain]
    ) -> tuple[Domain, Longs, dict[str, Domain], dict[str, Longs]]:
        """The classes and how many rows each has, and of each attribute its domain and its counts.

        Domains are those that were given, or sorted.
        """
        for name in self.names:
            self._merge(name)
        classes, places = self.domains.finished(self.class_name, given.get(self.class_name))
        check_values(self.class_name, len(classes), MAX_VALUES)
        counts, domains = {}, {}
        for name in attributes:
            domains[name], rows = self.domains.finished(name, given.get(name))
            check_values(name, len(domains[name]), self.max_values)
            counts[name] = self._grown[name].arranged(rows, places, (len(domains[name]), len(classes)))
        class_counts = self._grown[self.class_name].arranged(
            np.zeros(1, np.int64), places, (1, len(classes))
        )[0]
        return classes, class_counts, domains, counts


def _first(values: list[Value], n: int) -> list[Value]:
    """The first so many, without those that came after the counts."""
    return values if len(values) == n else values[:n]
