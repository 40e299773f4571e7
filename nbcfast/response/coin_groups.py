"""`Group`: columns under one coin; and the arguments of which both kinds of schemes make their groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.untyped import Document
from nbcfast.published.typed import json_rational
from nbcfast.table import Domain
from nbcfast.table.values import Value

# The coins of the kernel compare with 64-bit integers, and a certificate takes no more.
MOST_DENOMINATOR = 2**63 - 1

VALUES_SHOWN = 5  # of a domain, in a message


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

    def to_dict(self) -> Document:
        return {"columns": list(self.columns), "theta": json_rational(self.theta)}


def groups_of(
    theta: Numeral | Sequence[Numeral], column_groups: Iterable[Iterable[str]]
) -> tuple[Group, ...]:
    """The groups of a scheme, each with its theta; no column is in two of them."""
    listed = [tuple(as_list(columns, "groups")) for columns in as_list(column_groups, "groups")]
    if not listed:
        raise ValueError("groups must be at least one, got none")
    seen: set[str] = set()
    for columns in listed:
        if not columns:
            raise ValueError("groups must have at least one column each, got an empty one")
        for name in columns:
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
    return tuple(
        Group(columns, _probability(number, "theta")) for columns, number in zip(listed, thetas, strict=True)
    )


def _probability(number: Numeral, where: str) -> Fraction:
    share = Fraction(exact_share(number, where))
    if not 0 <= share <= 1:
        raise ValueError(f"{where} must be in [0, 1], got {number}")
    if share.denominator > MOST_DENOMINATOR:
        raise ValueError(f"{where} must have a denominator below 2^63, got {number}")
    return share


def domains_of(domains: Mapping[str, Iterable[Value]] | None, groups: tuple[Group, ...]) -> dict[str, Domain]:
    """The domains that are declared, in the order of the columns of the groups."""
    if domains is not None:
        expect_mapping(domains)
    declared = domains or {}
    names = [name for group in groups for name in group.columns]
    unknown = sorted(map(str, set(declared) - set(names)))
    if unknown:
        raise ValueError(f"domains: expected columns of the groups, got {unknown[0]!r}")
    return {name: Domain.of(declared[name], where=f"domains[{name!r}]") for name in names if name in declared}


def expect_mapping(domains: object) -> None:
    """TypeError where the argument `domains` names no columns."""
    if not isinstance(domains, Mapping):
        raise TypeError(f"domains must be a mapping of name -> values, got {type(domains).__name__}")


def as_list(names: object, where: str) -> list[str]:
    """A list of what an argument that names columns holds; a text, which is a sequence too, is refused."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise TypeError(f"{where}: expected a sequence of names, got {names!r}")
    return list(names)


def expect_two_values(name: str, domain: Domain) -> None:
    """ValueError where a binary scheme, or a bit, cannot tell the values of a column."""
    if domain.tail:
        raise ValueError(
            f"column {name!r} has missing answers, which a binary scheme cannot hide: drop_nulls() drops "
            "such rows, a KaryScheme takes None for a value"
        )
    if len(domain) != 2:
        hint = "declare its domain" if len(domain) < 2 else "binarise() it, or use a KaryScheme"
        raise ValueError(
            f"column {name!r} must have two values in a binary scheme, got {len(domain)}: "
            f"{values_text(domain.values)}; {hint}"
        )


def values_text(values: Sequence[Value]) -> str:
    """The first values of a domain, as a piece of a message."""
    shown = ", ".join(repr(value) for value in values[:VALUES_SHOWN])
    return f"({shown}{', ..' if len(values) > VALUES_SHOWN else ''})"
