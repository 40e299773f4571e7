"""A prior over the classes, exactly: docs/mathematics/safety.md, section h."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, as_limit, exact, exact_share, number_text
from nbcfast.safety.amplification import at_most
from nbcfast.table.domain import Domain
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts

LabelT = TypeVar("LabelT", bound=Hashable)  # of a mapping's keys: a type of labels, or several


def prior_of(views: Viewset, prior: Mapping[LabelT, Numeral]) -> tuple[Fraction, ...]:
    """F_c of every class, in the order of the classes.

    Raises
    ------
    TypeError
        If it is no mapping, or a number is of another kind.
    ValueError
        If a class is missing or unknown, a number is not above 0, or they do not add up to 1.
    """
    expect(views, Viewset, "views")
    if not isinstance(prior, Mapping):
        raise TypeError(f"prior must be a mapping of class to number, got {type(prior).__name__}")
    classes = views.classes
    known = {_key(label): place for place, label in enumerate(classes)}
    shares: dict[int, Fraction] = {}
    for label, number in prior.items():
        place = known.get(_key(label))
        if place is None:
            raise ValueError(f"prior: expected classes of {_listed(classes)}; got {label!r}")
        where = f"prior of class {label!r}"
        shares[place] = as_limit(exact_share(number, where), where)
    for place, wanted in enumerate(classes):
        if place not in shares:
            raise ValueError(
                f"prior: class {wanted!r} is missing; expected a number for each of {_listed(classes)}"
            )
    return checked_prior((shares[place] for place in range(len(classes))), classes)


def checked_prior(numbers: Iterable[Fraction], classes: tuple[Value, ...]) -> tuple[Fraction, ...]:
    """The shares of all classes, or ValueError where one is not above 0 or they do not add up to 1."""
    result = tuple(numbers)
    for label, number in zip(classes, result, strict=True):
        if number <= 0:
            raise ValueError(f"prior of class {label!r} must be above 0, got {_text(number)}")
    if sum(result) != 1:
        raise ValueError(
            f"prior must add up to 1 exactly, got {_text(sum(result, Fraction(0)))}; "
            "give fractions as texts, such as '1/3', where decimals do not end"
        )
    return result


def prior_in_integers(prior: tuple[Fraction, ...]) -> tuple[int, ...]:
    """The prior as integers in the same proportions, without a common factor."""
    common = math.lcm(*(number.denominator for number in prior))
    whole = [number.numerator * (common // number.denominator) for number in prior]
    shared = math.gcd(*whole)
    return tuple(number // shared for number in whole)


def _key(label: Hashable) -> tuple[bool, Hashable]:
    # 1 and True are different classes, as in domains.
    return type(label) is bool, label


def _text(number: Fraction) -> str:
    return number_text(exact(number, "number"))


def _listed(classes: tuple[Value, ...]) -> str:
    return ", ".join(map(repr, classes))


def over_prior(views: Viewset, prior: tuple[Fraction, ...]) -> Viewset:
    """Views with X_c / F_c for X_c up to a common factor: one more attribute, of a single value.

    They are not realistic, but Lambda of them is the r of Statement 11.
    """
    whole = prior_in_integers(prior)
    common = math.lcm(*whole)
    name = "prior"
    while name in views.counts:
        name += "_"
    of_class = views.class_counts.tolist()
    row = [[count * (common // number) for count, number in zip(of_class, whole, strict=True)]]
    return Viewset.from_parts(
        views.class_counts,
        {**views.counts, name: as_counts(row, "prior")},
        views.class_domain,
        {**views.domains, name: Domain.of([0])},
    )


def within(views: Viewset, prior: tuple[Fraction, ...], r: Fraction) -> bool:
    """Whether the r of Statement 11 is at most this, exactly."""
    return at_most(over_prior(views, prior), r)
