"""Distinct rows and how often each occurs, batch by batch, while the domains of the columns grow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Codes, Longs
from nbcfast._reading.csv_files import typed
from nbcfast._reading.pairs import sorted_pairs, unpacked
from nbcfast.table.encode import DomainBuilder, recode, used_values

if TYPE_CHECKING:
    from nbcfast._reading.source import Batch
    from nbcfast.table import Domain

CodedRows = tuple[list[Codes], Longs]  # codes by column, and how often each row occurs

WAITING = 1 << 16  # rows that wait to be merged, at least


class GrowingDomains:
    """The values of columns in the order they were first met, over batches that have values of their own.

    Parameters
    ----------
    names : iterable of str
    texts : bool
        Whether the values are the texts of a file, which become numbers where all of a column are.
    """

    def __init__(self, names: Iterable[str], texts: bool) -> None:
        self.builders = {name: DomainBuilder(name) for name in names}
        self.texts = texts

    def size(self, name: str) -> int:
        return len(self.builders[name])

    def codes(self, batch: Batch) -> dict[str, Codes]:
        """The rows of a batch as codes of the values in the order they were first met."""
        coded = {}
        for name, builder in self.builders.items():
            codes, values = batch.columns[name]
            places = builder.add(values, used_values(codes, len(values)))
            # Positions that no row has are -1 and never looked up.
            coded[name] = recode(codes, np.maximum(places, 0), max(len(builder), 1))
        return coded

    def finished(self, name: str, declared: Domain | None = None) -> tuple[Domain, Longs]:
        """The domain of a column, and the place in it of each value; texts of one number have one place.

        Every value must be in a domain that was declared.
        """
        builder = self.builders[name]
        # Only now: whether all texts of a column are numbers is known when the last batch has come.
        values = typed(builder.texts(), None, name) if self.texts else None
        if values is None:
            return builder.finish(declared)
        numbers = DomainBuilder(name)
        first = numbers.add(values)
        domain, places = numbers.finish(declared)
        return domain, places[first]


class DistinctRows:
    """The distinct rows of some columns, as codes of values in the order they were first met."""

    def __init__(self, domains: GrowingDomains, names: Iterable[str], threads: int | None) -> None:
        self.domains, self.names, self.threads = domains, list(names), threads
        self._parts: list[CodedRows] = []
        self._waiting = self._merged = 0

    def add(self, codes: dict[str, Codes], weights: Longs | None) -> None:
        """Add rows, each as often as its weight says, or once."""
        self._parts.append(self._distinct([codes[name] for name in self.names], weights))
        self._waiting += len(self._parts[-1][1])
        # Merging once as much has come again as there was keeps the work linear in the rows, and what is held
        # below twice what is distinct, and a batch.
        if self._waiting > max(2 * self._merged, WAITING):
            self.merge()

    def merge(self) -> None:
        """Put together what has come so far: rows of several batches are there once."""
        if len(self._parts) > 1:
            columns = [np.concatenate([codes[i] for codes, _ in self._parts]) for i in range(len(self.names))]
            self._parts = [self._distinct(columns, np.concatenate([counts for _, counts in self._parts]))]
        self._waiting = self._merged = sum(len(counts) for _, counts in self._parts)

    def rows(self) -> CodedRows | None:
        """What there is, sorted; None without a row."""
        self.merge()
        return self._parts[0] if self._parts else None

    @property
    def n_bytes(self) -> int:
        return sum(counts.nbytes + sum(one.nbytes for one in codes) for codes, counts in self._parts)

    def _distinct(self, columns: list[Codes], weights: Longs | None) -> CodedRows:
        sizes = [self.domains.size(name) for name in self.names]
        *sizes, n_values = sizes
        pairs = sorted_pairs(
            columns[:-1], sizes, columns[-1], n_values, self.names, weights=weights, threads=self.threads
        )
        offsets, values, counts, _ = pairs.arrays
        groups = unpacked(pairs.packed, sizes) if pairs.codes is None else pairs.codes
        return [*(np.repeat(codes, np.diff(offsets)) for codes in groups), values], counts
