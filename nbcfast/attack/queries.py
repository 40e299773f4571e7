"""What all adversaries share: the views they look at, and the values they know."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from nbcfast._core.validation import choice
from nbcfast._wire.messages import printable
from nbcfast.published.release import Release
from nbcfast.safety.ratios import check_realistic
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value
from nbcfast.views import Viewset

CONVENTIONS = ("worlds", "row")


def viewset(views: object, where: str = "views") -> Viewset:
    """The counts of a viewset or of a release; realistic, with rows."""
    counted = views.views if isinstance(views, Release) else views
    if not isinstance(counted, Viewset):
        raise TypeError(f"{where} must be a Viewset or a Release, got {type(views).__name__}")
    check_realistic(counted)
    return counted


def convention_of(convention: object) -> str:
    choice(convention, CONVENTIONS, "convention")
    return str(convention)


def places_of(views: Viewset, known: Mapping[str, Value]) -> dict[str, int]:
    """Where each known value stands in its domain, in the order of the attributes."""
    if not isinstance(known, Mapping):
        raise TypeError(f"known must be a mapping of attribute -> value, got {type(known).__name__}")
    unknown = [name for name in known if name not in views.attributes]
    if unknown:
        names = ", ".join(map(repr, views.attributes)) or "no attributes"
        raise ValueError(f"known: expected attributes of {names}; got {unknown[0]!r}")
    places = {}
    for name in views.attributes:
        if name not in known:
            continue
        try:
            place = int(Domain.of([known[name]]).positions_in(views.domains[name])[0])
        except (TypeError, ValueError):
            place = -1
        if place < 0:
            raise ValueError(
                f"known[{name!r}] must be one of the {len(views.domain(name))} values of {name!r}, "
                f"got {known[name]!r}"
            )
        places[name] = place
    return places


def rows_at(views: Viewset, places: Mapping[str, int]) -> list[list[int]]:
    """The counts of the known values: one list an attribute, an integer a class."""
    return [views.counts[name][place].tolist() for name, place in places.items()]


def expected(class_counts: list[int], rows: list[list[int]]) -> list[Fraction]:
    """X_c = P_c^(1-n) prod N over the known values: how many rows match, on average over worlds."""
    if not rows:
        return [Fraction(count) for count in class_counts]
    return [
        Fraction(prod(row[c] for row in rows), count ** (len(rows) - 1)) if count else Fraction(0)
        for c, count in enumerate(class_counts)
    ]


def known_text(known: Mapping[str, Value], most: int = 8) -> str:
    """Known values for people."""
    shown = [f"{printable(name)}={value!r}" for name, value in list(known.items())[:most]]
    if len(known) > most:
        shown.append(f".. {len(known)} in all")
    return ", ".join(shown) or "nothing known"


def check_kinds(theirs: Domain, ours: Domain, where: str, what: str) -> None:
    """Refuse values that are of another kind than ours: none would ever be equal, and nothing would be found.

    Raises
    ------
    TypeError
        If both have values, of kinds that do not compare.
    """
    kinds = {theirs.kind, ours.kind}
    if len(kinds) == 1 or None in kinds or kinds == {"int", "float"}:
        return
    hint = ": bin it with the domain of those as edges" if ours.kind == "interval" else ""
    raise TypeError(f"{where} holds values of kind {theirs.kind}, and {what} of kind {ours.kind}{hint}")
