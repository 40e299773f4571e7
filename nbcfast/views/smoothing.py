"""Counts with the same number added to each: Laplace's classifier, as the views of whole rows.

Laplace's classifier is P_c prod_i (N^i_c(t) + a) / (P_c + a |A_i|). With L_c the least common multiple of the
P_c + a |A_i| (all times the denominator of a), counts (N + a) L_c / (P_c + a |A_i|) of a class of L_c rows
add up, and have the scores of Laplace's classifier but for P_c / L_c. Each class is taken so many times, K_c
with K_c L_c proportional to P_c: then these are the same (docs/mathematics/canonical.md, section 11).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.errors import Infeasible
from nbcfast._core.numbers import Number, exact
from nbcfast.views.integers import as_counts

if TYPE_CHECKING:
    from nbcfast._core.dtypes import Counts
    from nbcfast.views.viewset import Viewset

MOST = 10**9  # of the numerator and of the denominator: counts grow with both
MOST_BITS = 1 << 33  # of all counts together


def constant(alpha: object, where: str = "alpha") -> Number:
    """What is added to every count, exactly: a positive quotient of numbers that are not too long."""
    number = exact(alpha, where)
    if number <= 0:
        raise ValueError(f"{where} must be positive, got {alpha!r}")
    if max(number.numerator, number.denominator) > MOST:
        raise ValueError(f"{where} must be a quotient of integers up to {MOST:,}, got {alpha!r}")
    return number


def rows_of_classes(sums: Sequence[Collection[int]], shares: Sequence[int], cells: int) -> list[int]:
    """How many rows each class has, so that they are whole in every attribute, and least.

    Class c has multiples of each of its `sums`, and all classes together are in proportion to `shares`. So
    are counts of `cells` values, refused where they would be too long.
    """
    bits = sum(sum(number.bit_length() for number in column) for column in sums) * cells
    if bits > MOST_BITS:
        raise Infeasible(
            f"smoothed counts may take {bits:,} bits, and up to {MOST_BITS:,} are made: take fewer "
            "attributes, or domains of fewer different sizes",
            {},
        )
    rows = [math.lcm(*column) for column in sums]
    # K_c = P_c M / L_c, with the least M that makes all of them whole, and no factor in common.
    whole = math.lcm(*(row // math.gcd(row, share) for row, share in zip(rows, shares, strict=True)))
    taken = [share * whole // row for row, share in zip(rows, shares, strict=True)]
    common = math.gcd(*taken) or 1
    return [number // common * row for number, row in zip(taken, rows, strict=True)]


def smoothed(views: Viewset, alpha: object) -> Viewset:
    """The views whose classifier is Laplace's, with `alpha` added to every count; see `Viewset.smoothed`."""
    number = constant(alpha)
    if not views.is_realistic():
        raise ValueError(
            "views must be realistic, as only then a class has so many rows in every attribute: for some "
            "attribute they do not add up to the class counts"
        )
    added, times = number.numerator, number.denominator
    of_class = [int(count) for count in views.class_counts]
    sizes = [len(array) for array in views.counts.values()]
    columns = [{size: times * count + added * size for size in set(sizes)} for count in of_class]
    totals = rows_of_classes([column.values() for column in columns], of_class, sum(sizes))
    counts: dict[str, Counts] = {}
    for (name, array), size in zip(views.counts.items(), sizes, strict=True):
        factors = np.empty(len(of_class), object)
        factors[:] = [total // column[size] for total, column in zip(totals, columns, strict=True)]
        scaled = (array.astype(object) * times + added) * factors
        counts[name] = as_counts(scaled, f"counts of attribute {name!r}")
    class_counts = np.empty(len(totals), object)
    class_counts[:] = totals
    of_classes = as_counts(class_counts, "class_counts")
    return type(views).from_parts(
        of_classes, counts, views.class_domain, views.domains, views.noise, weighted=True
    )
