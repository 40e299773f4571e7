"""What is typed in options, as what it stands for: lists of names, values of columns, beliefs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import nbcfast
from nbcfast._core.numbers import exact
from nbcfast._core.spelling import meant
from nbcfast.table.values import Value

MOST_ROWS = 10**300
FEW_VALUES = 6  # that an error lists


def fields_in(text: str, option: str, delimiter: str = ",") -> list[str]:
    """The fields between the delimiters of a text; one that holds a delimiter stands in double quotes."""
    try:
        return next(csv.reader([text], delimiter=delimiter, skipinitialspace=delimiter == ","), [])
    except csv.Error:
        # The words of the csv module are about files that were opened wrongly.
        raise ValueError(
            f"{option} must be one line, where a name with a line break stands in double quotes; got {text!r}"
        ) from None


def names_in(text: str, option: str = "--columns") -> list[str]:
    """The names in a comma-separated list that an option was given; one with a comma stands in quotes."""
    names = [name.strip() for name in fields_in(text, option)]
    if not names or not all(names):
        raise ValueError(f"{option} must be names with commas between them, got {text!r}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{option} names {name!r} twice")
    return names


def listed(names: Sequence[str]) -> str:
    """Names as --columns takes them: quoted where they hold what stands between them."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') or name != name.strip() else name
        for name in names
    )


def groups_in(text: str, each: bool) -> list[list[str]]:
    """The groups in --groups "a,b;c": columns with commas between, groups with semicolons."""
    groups: list[list[str]] = []
    for part in fields_in(text, "--groups", ";"):
        names = [name.strip() for name in fields_in(part, "--groups")]
        if not names or not all(names):
            raise ValueError(
                f"--groups must be names with commas between, and semicolons between groups, got {text!r}"
            )
        groups += [[name] for name in names] if each else [names]
    if not groups:
        raise ValueError(f"--groups must name columns, got {text!r}")
    return groups


def value_in(text: str, domain: Sequence[Value], where: str) -> Value:
    """The value of a domain that a text stands for."""
    for value in domain:
        if value is None:
            if text in ("", "(null)"):
                return None
        elif str(value) == text:
            return value
    try:
        number: int | Fraction | None = exact(text, where)
    except ValueError:
        number = None
    for value in domain:
        if number is not None and type(value) in (int, float) and Fraction(str(value)) == number:
            return value
    values = ["(null)" if value is None else str(value) for value in domain]
    near = meant(text, values)
    if len(values) <= FEW_VALUES:
        near = f": expected {' or '.join(map(repr, values))}"
    elif not near:
        near = f", such as {', '.join(map(repr, values[:FEW_VALUES]))}"
    raise ValueError(f"{where}: {text!r} is none of its {len(domain):,} values{near}")


def known_in(texts: tuple[str, ...], views: nbcfast.Viewset) -> dict[str, Value]:
    """The known values in --given NAME=VALUE."""
    known: dict[str, Value] = {}
    for text in texts:
        # The longest name that fits: names may hold an equals sign.
        names = [name for name in views.attributes if text.startswith(f"{name}=")]
        if not names:
            attributes = ", ".join(views.attributes)
            raise ValueError(f"--given must be NAME=VALUE with NAME one of {attributes}; got {text!r}")
        name = max(names, key=len)
        if name in known:
            raise ValueError(f"--given names {name!r} twice")
        known[name] = value_in(text[len(name) + 1 :], views.domain(name), f"--given {name}")
    return known


def prior_in(text: str, views: nbcfast.Viewset) -> dict[Value, str]:
    """The prior in --prior "a=0.75,b=0.25"; a label with a comma stands in double quotes."""
    prior: dict[Value, str] = {}
    for part in fields_in(text, "--prior"):
        name, equals, number = part.rpartition("=")
        if not equals:
            raise ValueError(f"--prior must be CLASS=NUMBER with commas between, got {text!r}")
        value = value_in(name.strip(), views.classes, "--prior")
        if value in prior:
            raise ValueError(f"--prior names {name.strip()!r} twice")
        prior[value] = number.strip(" ")
    return prior


def rows_of(rows: str, allow_differences: bool) -> Literal["smallest", "proven"] | int:
    """The value of --rows."""
    if rows in ("smallest", "proven"):
        if allow_differences:
            raise ValueError("--allow-differences goes with --rows R, a number")
        return "smallest" if rows == "smallest" else "proven"
    try:
        number = exact(rows.replace(",", ""), "--rows")
    except ValueError:
        number = -1
    if not isinstance(number, int) or not 1 <= number <= MOST_ROWS:
        raise ValueError(
            f"--rows must be 'smallest', 'proven' or a number from 1 to 10^300, got {rows[:60]!r}"
        )
    return number
