"""A private table as a menu sees it: distinct rows, and for each option what it makes of their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Longs
from nbcfast.canonical.advice.option_terms import MOST_MAPPED, expect_room, refined
from nbcfast.canonical.exchanges import PeopleRows
from nbcfast.domains import Menu
from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column, recode
from nbcfast.table.table import Table

MOST_NAMED = 8  # values that an error lists


class Way(NamedTuple):
    """A choice of options, and whether there is one classifier on them or several.

    Attributes
    ----------
    choice : tuple of int
        The option of each attribute.
    by : int or None
        The attribute of which each value has a classifier of its own, made of the rows that have it.
    """

    choice: tuple[int, ...]
    by: int | None = None

    @property
    def of_others(self) -> tuple[int, ...]:
        """The options of the attributes that classifiers have."""
        return self.choice if self.by is None else self.choice[: self.by] + self.choice[self.by + 1 :]


@dataclass(frozen=True, eq=False)
class Space:
    """Distinct rows in the finest values that any option tells apart.

    Attributes
    ----------
    attributes : tuple of str
        Those of the menu, in its order, without the class.
    options : tuple of tuple of (ndarray or None)
        options[i][o][v] is the value that option o of attribute i makes of its finest value v; None where
        the attribute is left out.
    sizes : tuple of tuple of int
        How many values an option has, whether rows have them or not; 0 where it is left out.
    codes : ndarray of int64, shape (rows, attributes)
        Finest values.
    classes : ndarray of int64
        Of each row.
    weights : ndarray of int64
        How many people a row stands for.
    class_domain : Domain
        In rising precedence.
    """

    attributes: tuple[str, ...]
    options: tuple[tuple[Longs | None, ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    codes: Longs
    classes: Longs
    weights: Longs
    class_domain: Domain

    @classmethod
    def of(cls, table: Table, class_name: str, menu: Menu) -> Space:
        """The rows of a table that has a column for every attribute of the menu.

        Raises
        ------
        ValueError
            If there are no rows, a column is missing, or options have no place for values that rows have:
            all of these at once.
        Infeasible
            If a column has so many options and values that they do not fit into memory.
        """
        attributes = menu.attributes
        if not attributes:
            raise ValueError("menu: expected options of at least one attribute, got none")
        missing = [name for name in attributes if name not in table.names]
        if missing:
            raise ValueError(f"menu: the table has no column {', '.join(map(repr, missing[:MOST_NAMED]))}")
        if all(option.out for name in attributes for option in menu.options[name]):
            raise ValueError(
                'menu: every option leaves its column out: expected one of "values", "edges" or "groups"'
            )
        if table.n_rows == 0:
            raise ValueError("table: no rows")
        places = (len(menu.options[name]) * len(table.column(name).domain) for name in attributes)
        expect_room(sum(places), MOST_MAPPED)
        homeless: list[str] = []
        options, sizes, columns = [], [], {}
        for name in attributes:
            column, of_raw = table.column(name), []
            for place, option in enumerate(menu.options[name], 1):
                codes = None if option.out else option.codes(column.domain)
                if (why := option.uncovered(column, codes)) is not None:
                    homeless.append(f"column {name!r}, option {place}: {why}")
                # Values that no row has may have no place; any does for them.
                of_raw.append(None if codes is None else np.maximum(codes, 0))
            finest, of_finest = refined(of_raw, len(column.domain))
            options.append(tuple(of_finest))
            sizes.append(tuple(option.n_values or 0 for option in menu.options[name]))
            n_finest = int(finest.max(initial=0)) + 1
            domain = Domain("int", np.arange(n_finest), (), True)
            columns[name] = Column(recode(column.codes, finest, n_finest), domain)
        if homeless:
            raise ValueError(f"{menu.file or 'menu'}: {'; '.join(homeless)}")
        columns[class_name] = table.column(class_name)
        rows = Table.from_columns(columns, table.weights, table.n_rows).collapse()
        assert rows.weights is not None
        order = np.lexsort([rows.codes(name) for name in (*attributes, class_name)][::-1])
        stacked = [rows.codes(name)[order].astype(np.int64) for name in attributes]
        return cls(
            attributes=attributes,
            options=tuple(options),
            sizes=tuple(sizes),
            codes=np.stack(stacked, axis=1),
            classes=rows.codes(class_name)[order].astype(np.int64),
            weights=rows.weights[order],
            class_domain=rows.column(class_name).domain,
        )

    @property
    def n_classes(self) -> int:
        return len(self.class_domain)

    def strata(self, attribute: int, option: int) -> tuple[Space, ...]:
        """The rows of each value of an option, which may be none, as the other attributes see them."""
        codes = self.options[attribute][option]
        assert codes is not None
        values = codes[self.codes[:, attribute]]
        return tuple(
            self._of_rows(values == value, attribute) for value in range(self.sizes[attribute][option])
        )

    def _of_rows(self, kept: Bools, without: int) -> Space:
        """Some rows, and all attributes but one."""
        return Space(
            attributes=self.attributes[:without] + self.attributes[without + 1 :],
            options=self.options[:without] + self.options[without + 1 :],
            sizes=self.sizes[:without] + self.sizes[without + 1 :],
            codes=np.delete(self.codes[kept], without, axis=1),
            classes=self.classes[kept],
            weights=self.weights[kept],
            class_domain=self.class_domain,
        )

    def public_places(self) -> Longs:
        """Each row as its values in all options of the menu, and its class: none depends on other rows."""
        places = [
            codes[self.codes[:, i]]
            for i, of_attribute in enumerate(self.options)
            for codes in of_attribute
            if codes is not None
        ]
        return np.stack([*places, self.classes], axis=1)

    def tuples(self, choice: Sequence[int]) -> int:
        """How many kinds of people a choice tells apart."""
        return math.prod(sizes[place] or 1 for sizes, place in zip(self.sizes, choice, strict=True))

    def class_counts(self) -> Longs:
        """How many people each class has."""
        return np.bincount(self.classes, self.weights, self.n_classes).astype(np.int64)

    def counts(self, attribute: int, option: int) -> Longs | None:
        """How often each value of an option occurs with each class."""
        codes = self.options[attribute][option]
        if codes is None:
            return None
        shape = (self.sizes[attribute][option], self.n_classes)
        place = codes[self.codes[:, attribute]].astype(np.int64) * self.n_classes + self.classes
        counts = np.zeros(shape[0] * shape[1], np.int64)
        np.add.at(counts, place, self.weights)
        return counts.reshape(shape)

    def rows(self, choice: Sequence[int]) -> PeopleRows:
        """The distinct rows that a choice leaves, and how many people they are."""
        picked = [
            codes[self.codes[:, i]]
            for i, (of_attribute, place) in enumerate(zip(self.options, choice, strict=True))
            if (codes := of_attribute[place]) is not None
        ]
        stacked = np.stack([*picked, self.classes], axis=1)
        sizes = [self.sizes[i][place] for i, place in enumerate(choice) if self.options[i][place] is not None]
        key: Longs = np.zeros(len(stacked), np.int64)
        for codes, size in zip(picked, sizes, strict=True):
            key = key * size + codes
        key = key * self.n_classes + self.classes
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        weights = np.zeros(len(first), np.int64)
        np.add.at(weights, inverse.reshape(-1), self.weights)
        kept = stacked[first]
        return PeopleRows(np.ascontiguousarray(kept[:, :-1]), np.ascontiguousarray(kept[:, -1]), weights)
