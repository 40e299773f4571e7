"""What respondents do with their answers: `Scheme` for two-valued columns, `KaryScheme` for others."""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nbcfast._core.files import written
from nbcfast._core.numbers import exact, exact_share
from nbcfast._core.numbers import number_text as decimal_text
from nbcfast._core.validation import choice
from nbcfast._wire.coins import LIES, exposed, greatest_odds, useless
from nbcfast._wire.json_entries import rational
from nbcfast._wire.messages import printable
from nbcfast._wire.regular_files import SCHEME
from nbcfast._wire.scheme import unbounded
from nbcfast._wire.typed_values import domain as domain_of_entry
from nbcfast.published.document import own_file, published_copy
from nbcfast.published.typed import domain_of_json, json_rational, json_value
from nbcfast.table import Domain, Table

Lie = Literal["each", "tuple"]

MOST_DENOMINATOR = 2**63 - 1


def number_text(number: Fraction) -> str:
    """Decimal text where the expansion ends, else "num/den"; exact."""
    return decimal_text(number.numerator if number.denominator == 1 else number)


@dataclass(frozen=True)
class Group:
    """Columns under one coin, which is thrown once a record.

    Attributes
    ----------
    columns : tuple of str
    theta : Fraction
        The probability that all of them are told as they are.
    """

    columns: tuple[str, ...]
    theta: Fraction

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "theta": json_rational(self.theta)}


@dataclass(frozen=True)
class GroupPrivacy:
    """What the coin of one group hides.

    Attributes
    ----------
    columns : tuple of str
    odds : Fraction or None
        The most that an answer can multiply the odds of any two truths by, e^epsilon; None where it has no
        bound.
    text : str
        The same in words.
    """

    columns: tuple[str, ...]
    odds: Fraction | None
    text: str

    @property
    def epsilon(self) -> float:
        """Ln odds; infinite where the group is not epsilon-LDP for any epsilon."""
        return (
            math.inf if self.odds is None else math.log(self.odds.numerator) - math.log(self.odds.denominator)
        )

    @property
    def is_ldp(self) -> bool:
        return self.odds is not None

    def to_dict(self) -> dict[str, Any]:
        odds = None if self.odds is None else number_text(self.odds)
        return {"columns": list(self.columns), "odds": odds, "epsilon": self.epsilon, "text": self.text}


@dataclass(frozen=True)
class Privacy:
    """What a scheme hides, group by group; groups have coins of their own, so their epsilons add up.

    Attributes
    ----------
    groups : tuple of GroupPrivacy
    """

    groups: tuple[GroupPrivacy, ...]

    @property
    def odds(self) -> Fraction | None:
        """The product of those of the groups; None if one of them has no bound."""
        total = Fraction(1)
        for group in self.groups:
            if group.odds is None:
                return None
            total *= group.odds
        return total

    @property
    def epsilon(self) -> float:
        return math.fsum(group.epsilon for group in self.groups)

    @property
    def is_ldp(self) -> bool:
        return self.odds is not None

    @property
    def text(self) -> str:
        lines = [printable(f"{', '.join(group.columns)}: {group.text}") for group in self.groups]
        if self.is_ldp:
            lines.append(f"all columns of the scheme together: epsilon = {self.epsilon:.6g}")
        else:
            lines.append("all columns of the scheme together: not epsilon-LDP for any epsilon")
        lines.append("columns outside the scheme are told as they are")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "is_ldp": self.is_ldp,
            "groups": [group.to_dict() for group in self.groups],
            "text": self.text,
        }

    def __repr__(self) -> str:
        return f"Privacy(\n  {self.text.replace(chr(10), chr(10) + '  ')}\n)"


class AnyScheme(ABC):
    """What both kinds of schemes share: groups of columns, each with its coin."""

    groups: tuple[Group, ...]
    domains: Mapping[str, Domain]
    kind: str

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

    @abstractmethod
    def remains(self, group: Group, names: Sequence[str]) -> Fraction:
        """What the coin leaves of the interaction of these of its columns, 1 to tell all of it."""

    @abstractmethod
    def privacy(self) -> Privacy:
        """What the scheme hides, in exact odds and in plain words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The scheme as its JSON file holds it."""

    @abstractmethod
    def posterior_odds(self, column: str, prior_odds: Any = 1) -> Fraction | None:
        """See the subclasses."""

    @abstractmethod
    def declared(self, table: Table) -> AnyScheme:
        """The scheme with the domains of a table, which must fit it."""

    @property
    def exposed(self) -> tuple[str, ...]:
        """The columns whose coin hides nothing: at theta = 1, and at 0 where there is but one lie.

        Examples
        --------
        >>> Scheme([1, "0.8"], [["smokes"], ["ill"]]).exposed
        ('smokes',)
        """
        lie = getattr(self, "lie", None)
        return tuple(
            name
            for group in self.groups
            for name, told in zip(
                group.columns,
                exposed(group.theta, [self.size(name) for name in group.columns], lie),
                strict=True,
            )
            if told
        )

    def shrinkage(self, first: str | None, second: str | None) -> tuple[Fraction, Fraction, Fraction]:
        """By what the row, column and interaction components of a two-way table shrink in expectation."""
        one, other = (None if name is None else self.group_of(name) for name in (first, second))
        rows = Fraction(1) if one is None else self._shrinks(one, [str(first)])
        columns = Fraction(1) if other is None else self._shrinks(other, [str(second)])
        if one is not None and one == other:
            return rows, columns, self._shrinks(one, [str(first), str(second)])
        return rows, columns, rows * columns

    def _shrinks(self, place: int, names: list[str]) -> Fraction:
        return self.remains(self.groups[place], names)

    def check_table(self, table: Table, what: str = "the table") -> None:
        """Raise ValueError where a table does not match."""
        for name in self.columns:
            if name not in table.names:
                raise ValueError(f"{what} has no column {name!r}, which the scheme has; it has {table.names}")
            self.check_domain(name, table.column(name).domain)

    def check_domain(self, name: str, domain: Domain) -> None:
        """Raise ValueError where the values of a column are not those of the scheme."""
        own = self.domains.get(name)
        if own is not None:
            missing = np.flatnonzero(domain.positions_in(own) < 0)
            if len(missing):
                raise ValueError(
                    f"column {name!r}: value {domain.values[missing[0]]!r} is none of the {len(own)} values "
                    f"{_listed(own.values)} of the scheme"
                )

    def check_made(self, answers: Any) -> None:
        """Raise ValueError where answers say that they were made by another scheme than this one."""
        other = getattr(answers, "scheme", None)
        if not isinstance(other, AnyScheme):
            return
        same = self._law() == other._law()
        for name in self.domains.keys() & other.domains.keys():
            same = same and set(self.domains[name].values) == set(other.domains[name].values)
        if not same:
            raise ValueError(f"scheme: the answers were made by another, {other!r}; got {self!r}")

    def _law(self) -> tuple[Any, ...]:
        """What is done, whatever the values are called."""
        groups = {(frozenset(group.columns), group.theta) for group in self.groups}
        together = any(len(group.columns) > 1 for group in self.groups)
        return self.kind, groups, getattr(self, "lie", None) if together else None

    def order(self, name: str, domain: Domain) -> Domain:
        """The domain whose positions count: that of the scheme, or of the data where the scheme has none."""
        return self.domains.get(name, domain)

    def to_json(self) -> str:
        """The text of the scheme's file; `from_json` of the module reads it."""
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

    def _groups_text(self) -> str:
        return ", ".join(f"{list(group.columns)} at {number_text(group.theta)}" for group in self.groups)


class Scheme(AnyScheme):
    """Randomised response of two-valued columns (Zhan, Chang, Matwin 2004).

    Each respondent throws one coin a group: with probability theta the columns of the group are told as they
    are, else every one of them is reversed. Columns in no group, the class perhaps, are told as they are.

    Parameters
    ----------
    theta : int, Fraction, str or float, or a sequence of them
        The probability of the truth, one for all groups or one each; a float means its shortest decimal text,
        so 0.8 is 4/5. 1/2 would tell nothing, and is refused.
    groups : sequence of sequences of str
        Columns under one coin.
    domains : mapping of name -> sequence of two values, optional
        The values 0 and 1 of the paper, in this order. By default those of the table.

    Raises
    ------
    ValueError
        If theta is outside [0, 1] or within 5e-10 of 1/2, a column is in two groups, or a domain has not two
        values.

    Examples
    --------
    >>> scheme = Scheme("0.8", [["smokes", "drinks"], ["ill"]])
    >>> scheme.theta
    (Fraction(4, 5), Fraction(4, 5))
    >>> print(scheme.privacy().groups[1].text)
    epsilon-LDP with epsilon = ln 4 = 1.386: no answer makes one truth more than 4 times as likely
    """

    kind = "binary"

    def __init__(
        self,
        theta: Any,
        groups: Iterable[Iterable[str]],
        *,
        domains: Mapping[str, Iterable[Any]] | None = None,
    ) -> None:
        self.groups = _groups(theta, groups)
        self.domains = _domains(domains, self.groups)
        for name, domain in self.domains.items():
            _two(name, domain)
        for group in self.groups:
            if any(useless(group.theta, [2] * len(group.columns), None)):
                raise ValueError(
                    f"theta must not be 1/2 (or within 5e-10 of it): such answers tell nothing, and there is "
                    f"no model; got {number_text(group.theta)}"
                )

    @classmethod
    def per_attribute(
        cls, theta: Any, names: Iterable[str], *, domains: Mapping[str, Iterable[Any]] | None = None
    ) -> Scheme:
        """A coin for each column: epsilon-LDP, with epsilons that add up over the columns.

        Examples
        --------
        >>> Scheme.per_attribute(0.8, ["a", "b"]).privacy().odds
        Fraction(16, 1)
        """
        return cls(theta, [[name] for name in _sequence(names, "names")], domains=domains)

    def size(self, name: str) -> int:
        return 2

    def remains(self, group: Group, names: Sequence[str]) -> Fraction:
        return Fraction(1) if len(names) == 2 else 2 * group.theta - 1

    def check_domain(self, name: str, domain: Domain) -> None:
        super().check_domain(name, domain)
        if name not in self.domains:
            _two(name, domain)

    def declared(self, table: Table) -> Scheme:
        """The scheme with the domains of a table."""
        self.check_table(table)
        domains = {name: self.order(name, table.column(name).domain).values for name in self.columns}
        return Scheme(self.theta, [group.columns for group in self.groups], domains=domains)

    def privacy(self) -> Privacy:
        """What the scheme hides; honestly, of groups of two columns or more.

        Examples
        --------
        >>> print(Scheme("0.8", [["a", "b"]]).privacy().groups[0].text)  # doctest: +ELLIPSIS
        not epsilon-LDP for any epsilon: whether two columns agree is published for every pair (all XORs, ...
        """
        return Privacy(tuple(map(self._privacy_of, self.groups)))

    def _privacy_of(self, group: Group) -> GroupPrivacy:
        text = unbounded(group.theta, [2] * len(group.columns), None)
        if text is not None:
            return GroupPrivacy(group.columns, None, text)
        odds = greatest_odds(group.theta, [2], None)
        return GroupPrivacy(group.columns, odds, _ldp_text(odds))

    def posterior_odds(self, column: str, prior_odds: Any = 1) -> Fraction | None:
        """The odds, after an answer, that its group was told as it is and not reversed.

        Parameters
        ----------
        column : str
            Names the group.
        prior_odds : number
            Those of the answer against its opposite before: P(r) / P(r-bar).

        Returns
        -------
        Fraction
            prior_odds * theta / (1 - theta); None where theta is 1 and the answer is the truth.

        Examples
        --------
        >>> Scheme("0.8", [["a", "b"]]).posterior_odds("a", "1/2")
        Fraction(2, 1)
        """
        group = self.groups[_own_group(self, column)]
        prior = _odds(prior_odds)
        return None if group.theta == 1 else prior * group.theta / (1 - group.theta)

    def to_dict(self) -> dict[str, Any]:
        return {
            "domains": _written(self.domains),
            "format": 1,
            "groups": [group.to_dict() for group in self.groups],
            "kind": self.kind,
        }

    def __repr__(self) -> str:
        return printable(f"Scheme({self._groups_text()})")


class KaryScheme(AnyScheme):
    """k-ary randomised response: columns of any number of values, nulls among them.

    With probability theta a column is told as it is, else as one of its other values, each as likely.

    Parameters
    ----------
    theta : int, Fraction, str or float, or a sequence of them
        The probability of the truth, one for all groups or one each.
    domains : mapping of name -> sequence
        The values of each column.
    groups : sequence of sequences of str, optional
        Columns under one coin; by default each has its own.
    lie : {"each", "tuple"}
        What a lie about several columns is: another value of each, or another tuple of their values; the
        latter is epsilon-LDP.

    Raises
    ------
    ValueError
        If theta is outside [0, 1] or such that answers tell nothing, a column is in two groups, or a domain
        has less than 2 values.

    Examples
    --------
    >>> scheme = KaryScheme("1/2", {"job": ["clerk", "cook", "nurse", None]})
    >>> scheme.privacy().odds
    Fraction(3, 1)
    """

    kind = "k-ary"

    def __init__(
        self,
        theta: Any,
        domains: Mapping[str, Iterable[Any]],
        *,
        groups: Iterable[Iterable[str]] | None = None,
        lie: Lie = "each",
    ) -> None:
        if not isinstance(domains, Mapping):
            raise TypeError(f"domains must be a mapping of name -> values, got {type(domains).__name__}")
        choice(lie, LIES, "lie")
        self.lie: Lie = lie
        self.groups = _groups(theta, [[name] for name in domains] if groups is None else groups)
        self.domains = _domains(domains, self.groups)
        for name in self.columns:
            if name not in self.domains:
                raise ValueError(f"domains: expected the values of {name!r}, which is in a group")
            if len(self.domains[name]) < 2:
                raise ValueError(f"domains[{name!r}] must have at least 2 values, got 1")
        for group in self.groups:
            if self.tuples(group) >= 2**62:
                raise ValueError(
                    f"the columns of a group must have fewer than 2^62 tuples of values: {group}"
                )
            # What two columns share never vanishes unless each does: theta + (1 - theta) / .. is positive.
            told = useless(group.theta, [self.size(name) for name in group.columns], lie)
            for name, nothing in zip(group.columns, told, strict=True):
                if nothing:
                    raise ValueError(
                        f"theta must not be {number_text(group.theta)} (or near): answers about {name!r} "
                        "would tell nothing, and there is no model"
                    )

    @classmethod
    def with_epsilon(cls, epsilon: Any, domains: Mapping[str, Iterable[Any]]) -> KaryScheme:
        """A coin for each column, each epsilon-LDP by itself: all of them together have the sum.

        Theta is e^epsilon / (e^epsilon + k - 1), rounded down to 40 bits. For a total of epsilon over n
        columns give epsilon / n.

        Parameters
        ----------
        epsilon : int, Fraction, str or float
            Of each column, above 0 and at most 25.
        domains : mapping of name -> sequence
            The values of each column, two at least.

        Examples
        --------
        >>> scheme = KaryScheme.with_epsilon(1, {"job": ["clerk", "cook", "nurse"]})
        >>> 0.999999 < scheme.privacy().epsilon <= 1
        True
        """
        if not isinstance(domains, Mapping):
            raise TypeError(f"domains must be a mapping of name -> values, got {type(domains).__name__}")
        number = float(exact(epsilon, "epsilon"))
        if not 0 < number <= 25:
            raise ValueError(f"epsilon must be above 0 and at most 25, got {epsilon}")
        # Below e^epsilon for sure: exp is off by less than that.
        grown = Fraction(math.exp(number)) * (1 - Fraction(1, 2**50))
        listed = {name: list(values) for name, values in domains.items()}
        for name, values in listed.items():
            if len(values) < 2:
                raise ValueError(f"domains[{name!r}] must have at least 2 values, got {len(values)}")
        thetas = [
            Fraction(math.floor(grown / (grown + len(values) - 1) * 2**40), 2**40)
            for values in listed.values()
        ]
        return cls(thetas, listed)

    def size(self, name: str) -> int:
        return len(self.domains[name])

    def tuples(self, group: Group) -> int:
        """How many tuples of values the columns of a group have."""
        return math.prod(len(self.domains[name]) for name in group.columns)

    def remains(self, group: Group, names: Sequence[str]) -> Fraction:
        p = group.theta
        if self.lie == "tuple":
            return p - (1 - p) / (self.tuples(group) - 1)
        return p + (1 - p) * math.prod(Fraction(-1, self.size(name) - 1) for name in names)

    def declared(self, table: Table) -> KaryScheme:
        """The scheme itself: its domains are declared."""
        self.check_table(table)
        return self

    def privacy(self) -> Privacy:
        """What the scheme hides."""
        return Privacy(tuple(map(self._privacy_of, self.groups)))

    def _privacy_of(self, group: Group) -> GroupPrivacy:
        text = unbounded(group.theta, [self.size(name) for name in group.columns], self.lie)
        if text is not None:
            return GroupPrivacy(group.columns, None, text)
        odds = greatest_odds(group.theta, [self.size(name) for name in group.columns], self.lie)
        return GroupPrivacy(group.columns, odds, _ldp_text(odds))

    def posterior_odds(self, column: str, prior_odds: Any = 1) -> Fraction | None:
        """The odds, after an answer, that it is the truth and not one particular other value (or tuple).

        With lie="each" and several columns the other tuple is one without any value in common.

        Examples
        --------
        >>> KaryScheme("1/2", {"job": [1, 2, 3, 4]}).posterior_odds("job")
        Fraction(3, 1)
        """
        group = self.groups[_own_group(self, column)]
        prior = _odds(prior_odds)
        if group.theta == 1:
            return None
        others = (
            self.tuples(group) - 1
            if self.lie == "tuple"
            else math.prod(self.size(name) - 1 for name in group.columns)
        )
        return prior * group.theta * others / (1 - group.theta)

    def to_dict(self) -> dict[str, Any]:
        return {
            "domains": _written(self.domains),
            "format": 1,
            "groups": [group.to_dict() for group in self.groups],
            "kind": self.kind,
            "lie": self.lie,
        }

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(domain)} values" for name, domain in self.domains.items())
        return printable(f"KaryScheme({self._groups_text()}; {sizes}; lie={self.lie!r})")


def from_dict(fields: Any, where: str = "scheme") -> Scheme | KaryScheme:
    """The scheme that `to_dict` wrote."""
    if not isinstance(fields, Mapping) or fields.get("kind") not in ("binary", "k-ary"):
        raise ValueError(f"{where}: expected an object with kind 'binary' or 'k-ary'")
    wanted = {"domains", "format", "groups", "kind"} | ({"lie"} if fields["kind"] == "k-ary" else set())
    told = fields.get("format")
    if set(fields) != wanted or type(told) is not int or told != 1:
        raise ValueError(f"{where}: expected the fields {', '.join(sorted(wanted))}, and format 1")
    try:
        groups = [(group["theta"], group["columns"]) for group in fields["groups"]]
        domains = {
            name: domain_of_json(domain_of_entry(values, f"domain of {name!r}"), where).values
            for name, values in fields["domains"].items()
        }
        columns = [names for _, names in groups]
        if not all(isinstance(theta, str) for theta, _ in groups):
            raise ValueError(f"{where}: expected thetas as texts, such as '4/5'")
        # Long whole numbers are written as hexadecimal texts, which people need not type.
        thetas = [rational(theta, "theta") if "0x" in theta else theta for theta, _ in groups]
        if fields["kind"] == "binary":
            return Scheme(thetas, columns, domains=domains)
        return KaryScheme(thetas, domains, groups=columns, lie=fields["lie"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: not a scheme as it was written ({error})") from None
    except ValueError as error:
        raise ValueError(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None


def from_json(text: str, where: str = "scheme") -> Scheme | KaryScheme:
    """The scheme in the text of a JSON file.

    Examples
    --------
    >>> from_json(Scheme("0.8", [["a"]]).to_json())
    Scheme(['a'] at 0.8)
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON ({error})") from None
    return from_dict(fields, where)


def load_scheme(path: str | os.PathLike[str]) -> Scheme | KaryScheme:
    """The scheme in a JSON file that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file, or a folder with a scheme.json.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is no scheme, or that of published answers and not the scheme of their certificate: who answered
        by it would hide something else than was said, or nothing.
    """
    name = os.fsdecode(path)
    if os.path.isdir(name):
        name = os.path.join(name, SCHEME)
    data = published_copy(name, SCHEME)
    if data is None:
        data = own_file(name)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not JSON ({error})") from None
    return from_json(text, name)


def _groups(theta: Any, groups: Any) -> tuple[Group, ...]:
    listed = [tuple(_sequence(group, "groups")) for group in _sequence(groups, "groups")]
    if not listed:
        raise ValueError("groups must be at least one, got none")
    seen: set[str] = set()
    for group in listed:
        if not group:
            raise ValueError("groups must have at least one column each, got an empty one")
        for name in group:
            if not isinstance(name, str):
                raise TypeError(f"groups: expected names of columns, got {name!r}")
            if name in seen:
                raise ValueError(f"groups must not overlap, got {name!r} twice")
            seen.add(name)
    if isinstance(theta, (list, tuple)):
        thetas = list(theta)
        if len(thetas) != len(listed):
            raise ValueError(f"theta: expected one for each of {len(listed)} groups, got {len(thetas)}")
    else:
        thetas = [theta] * len(listed)
    return tuple(Group(group, _probability(one, "theta")) for group, one in zip(listed, thetas, strict=True))


def _probability(number: Any, where: str) -> Fraction:
    found = Fraction(exact_share(number, where))
    if not 0 <= found <= 1:
        raise ValueError(f"{where} must be in [0, 1], got {number}")
    if found.denominator > MOST_DENOMINATOR:
        raise ValueError(f"{where} must have a denominator below 2^63, got {number}")
    return found


def _odds(prior_odds: Any) -> Fraction:
    prior = Fraction(exact(prior_odds, "prior_odds"))
    if prior < 0:
        raise ValueError(f"prior_odds must be at least 0, got {prior_odds}")
    return prior


def _own_group(scheme: AnyScheme, column: str) -> int:
    place = scheme.group_of(column)
    if place is None:
        raise ValueError(f"expected a column of {', '.join(map(repr, scheme.columns))}; got {column!r}")
    return place


def _sequence(obj: Any, where: str) -> list[Any]:
    if isinstance(obj, (str, bytes)) or not isinstance(obj, Iterable):
        raise TypeError(f"{where}: expected a sequence of names, got {obj!r}")
    return list(obj)


def _domains(domains: Mapping[str, Iterable[Any]] | None, groups: tuple[Group, ...]) -> dict[str, Domain]:
    if domains is not None and not isinstance(domains, Mapping):
        raise TypeError(f"domains must be a mapping of name -> values, got {type(domains).__name__}")
    names = [name for group in groups for name in group.columns]
    unknown = sorted(map(str, set(domains or {}) - set(names)))
    if unknown:
        raise ValueError(f"domains: expected columns of the groups, got {unknown[0]!r}")
    given = domains or {}
    return {name: Domain.of(given[name], where=f"domains[{name!r}]") for name in names if name in given}


def _two(name: str, domain: Domain) -> None:
    if domain.tail:
        raise ValueError(
            f"column {name!r} has missing answers, which a binary scheme cannot hide: drop_nulls() drops "
            "such rows, a KaryScheme takes None for a value"
        )
    if len(domain) != 2:
        hint = "declare its domain" if len(domain) < 2 else "binarise() it, or use a KaryScheme"
        raise ValueError(
            f"column {name!r} must have two values in a binary scheme, got {len(domain)}: "
            f"{_listed(domain.values)}; {hint}"
        )


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:5])
    return f"({shown}{', ..' if len(values) > 5 else ''})"


def _ldp_text(odds: Fraction) -> str:
    text = number_text(odds)
    return (
        f"epsilon-LDP with epsilon = ln {text} = {math.log(odds):.4g}: no answer makes one truth more than "
        f"{text} times as likely"
    )


def _written(domains: Mapping[str, Domain]) -> dict[str, Any]:
    return {name: [json_value(value, domain) for value in domain.values] for name, domain in domains.items()}
