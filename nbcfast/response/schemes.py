"""`AnyScheme`: what a scheme is, whatever the kind of its columns: groups of columns, each with its coin.

Its two kinds are `Scheme`, in binary_scheme.py, and `KaryScheme`, in kary_scheme.py.
"""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from nbcfast._core.files import written
from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.untyped import Document
from nbcfast._wire.coins import exposed
from nbcfast._wire.messages import decimal_text
from nbcfast.published.typed import json_value
from nbcfast.response.coin_groups import Group, values_text
from nbcfast.response.privacy import GroupPrivacy, Privacy
from nbcfast.table import Domain, Table

Lie = Literal["each", "tuple"]


class AnyScheme(ABC):
    """What both kinds of schemes share: groups of columns, each with its coin.

    Attributes
    ----------
    groups : tuple of Group
    domains : mapping of name -> Domain
        Those that are declared; a binary scheme may leave them to the table.
    kind : {"binary", "k-ary"}
    lie : {"each", "tuple"} or None
        What a lie about several columns is; None in a binary scheme, where there is but one.
    """

    groups: tuple[Group, ...]
    domains: Mapping[str, Domain]
    kind: str
    lie: Lie | None = None

    @property
    def theta(self) -> tuple[Fraction, ...]:
        """The theta of each group."""
        return tuple(group.theta for group in self.groups)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns with a coin, group by group."""
        return tuple(name for group in self.groups for name in group.columns)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, group in enumerate(self.groups) for name in group.columns}

    def group_of(self, name: str) -> int | None:
        """The number of the group that a column is in; None for one that is told as it is."""
        return self._place.get(name)

    @abstractmethod
    def size(self, name: str) -> int:
        """How many values a column of the scheme has."""

    def sizes(self, group: Group) -> list[int]:
        """How many values each column of a group has."""
        return [self.size(name) for name in group.columns]

    def tuples(self, group: Group) -> int:
        """How many tuples of values the columns of a group have."""
        return math.prod(self.sizes(group))

    def lies(self, group: Group) -> int:
        """How many lies there are to a truth; each is as likely as any other."""
        if self.lie == "tuple":
            return self.tuples(group) - 1
        return math.prod(size - 1 for size in self.sizes(group))

    def remains(self, group: Group, names: Sequence[str]) -> Fraction:
        """What the coin leaves of the interaction of these of its columns, 1 to tell all of it.

        docs/mathematics/response.md, statement 1.3; two values are its case of k = 2.
        """
        truth = group.theta
        if self.lie == "tuple":
            return truth - (1 - truth) / self.lies(group)
        return truth + (1 - truth) * math.prod(Fraction(-1, self.size(name) - 1) for name in names)

    def shrinkage(self, first: str | None, second: str | None) -> tuple[Fraction, Fraction, Fraction]:
        """By what the row, column and interaction components of a two-way table shrink in expectation."""
        row_group, column_group = (None if name is None else self.group_of(name) for name in (first, second))
        rows = Fraction(1) if row_group is None else self._shrinks(row_group, [str(first)])
        columns = Fraction(1) if column_group is None else self._shrinks(column_group, [str(second)])
        if row_group is not None and row_group == column_group:
            return rows, columns, self._shrinks(row_group, [str(first), str(second)])
        return rows, columns, rows * columns

    def _shrinks(self, place: int, names: list[str]) -> Fraction:
        return self.remains(self.groups[place], names)

    def privacy(self) -> Privacy:
        """What the scheme hides, in exact odds and in plain words; honestly, of groups of several columns.

        Examples
        --------
        >>> from nbcfast.response import Scheme
        >>> print(Scheme("0.8", [["a", "b"]]).privacy().groups[0].text)  # doctest: +ELLIPSIS
        not epsilon-LDP for any epsilon: whether two columns agree is published for every pair (all XORs, ...
        """
        return Privacy(tuple(GroupPrivacy.of(group, self.sizes(group), self.lie) for group in self.groups))

    def posterior_odds(self, column: str, prior_odds: Numeral = 1) -> Fraction | None:
        """The odds, after an answer, that its group was told as it is and not as one particular lie.

        Parameters
        ----------
        column : str
            Names the group.
        prior_odds : number
            Those of the answer against that other truth before. In a binary scheme it is the opposite of the
            answer; with lie="each" and several columns, a tuple without any value in common with it.

        Returns
        -------
        Fraction
            prior_odds * theta * lies / (1 - theta), where each of so many lies is as likely; None where theta
            is 1 and the answer is the truth.

        Examples
        --------
        >>> from nbcfast.response import KaryScheme, Scheme
        >>> Scheme("0.8", [["a", "b"]]).posterior_odds("a", "1/2")
        Fraction(2, 1)
        >>> KaryScheme("1/2", {"job": [1, 2, 3, 4]}).posterior_odds("job")
        Fraction(3, 1)
        """
        place = self.group_of(column)
        if place is None:
            raise ValueError(f"expected a column of {', '.join(map(repr, self.columns))}; got {column!r}")
        prior = Fraction(exact(prior_odds, "prior_odds"))
        if prior < 0:
            raise ValueError(f"prior_odds must be at least 0, got {prior_odds}")
        group = self.groups[place]
        return None if group.theta == 1 else prior * group.theta * self.lies(group) / (1 - group.theta)

    @property
    def exposed(self) -> tuple[str, ...]:
        """The columns whose coin hides nothing: at theta = 1, and at 0 where there is but one lie.

        Examples
        --------
        >>> from nbcfast.response import Scheme
        >>> Scheme([1, "0.8"], [["smokes"], ["ill"]]).exposed
        ('smokes',)
        """
        return tuple(
            name
            for group in self.groups
            for name, is_exposed in zip(
                group.columns, exposed(group.theta, self.sizes(group), self.lie), strict=True
            )
            if is_exposed
        )

    @abstractmethod
    def declared(self, table: Table) -> AnyScheme:
        """The scheme with the domains of a table, which must fit it."""

    def check_table(self, table: Table, what: str = "the table") -> None:
        """Raise ValueError where a table does not match."""
        self.check_names(table.names, what)
        for name in self.columns:
            self.check_domain(name, table.column(name).domain)

    def check_names(self, names: tuple[str, ...], what: str = "the table") -> None:
        """Raise ValueError where one of the columns is not among these."""
        for name in self.columns:
            if name not in names:
                raise ValueError(f"{what} has no column {name!r}, which the scheme has; it has {names}")

    def check_domain(self, name: str, domain: Domain) -> None:
        """Raise ValueError where the values of a column are not those of the scheme."""
        declared = self.domains.get(name)
        if declared is not None:
            missing = np.flatnonzero(domain.positions_in(declared) < 0)
            if len(missing):
                raise ValueError(
                    f"column {name!r}: value {domain.values[missing[0]]!r} is none of the {len(declared)} "
                    f"values {values_text(declared.values)} of the scheme"
                )

    def check_made(self, answers: object) -> None:
        """Raise ValueError where answers say that they were made by another scheme than this one."""
        other = getattr(answers, "scheme", None)
        if not isinstance(other, AnyScheme):
            return
        same = self._law() == other._law()
        for name in self.domains.keys() & other.domains.keys():
            same = same and set(self.domains[name].values) == set(other.domains[name].values)
        if not same:
            raise ValueError(f"scheme: the answers were made by another, {other!r}; got {self!r}")

    def _law(self) -> tuple[str, set[tuple[frozenset[str], Fraction]], Lie | None]:
        """What is done, whatever the values are called."""
        groups = {(frozenset(group.columns), group.theta) for group in self.groups}
        # Of one column every lie is another value of it, and another tuple of values as well.
        has_tuples = any(len(group.columns) > 1 for group in self.groups)
        return self.kind, groups, self.lie if has_tuples else None

    def order(self, name: str, domain: Domain) -> Domain:
        """The domain whose positions count: that of the scheme, or of the data where the scheme has none."""
        return self.domains.get(name, domain)

    def to_json(self) -> str:
        """The text of the scheme's file; `nbcfast.response.from_json` reads it."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=True) + "\n"

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the scheme to a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        overwrite : bool
            Replace a file that is there; otherwise that is a FileExistsError.
        """
        with written(path, overwrite=overwrite) as file:
            file.write(self.to_json().encode("ascii"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnyScheme):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.groups))

    def to_dict(self) -> Document:
        """The scheme as its JSON file holds it."""
        fields: Document = {
            "domains": {
                name: [json_value(value, domain) for value in domain.values]
                for name, domain in self.domains.items()
            },
            "format": 1,
            "groups": [group.to_dict() for group in self.groups],
            "kind": self.kind,
        }
        return fields if self.lie is None else {**fields, "lie": self.lie}

    def _groups_text(self) -> str:
        return ", ".join(f"{list(group.columns)} at {decimal_text(group.theta)}" for group in self.groups)
