"""People who are left out one at a time: whose absence the answers show. For the leak meter alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Floats, Longs
from nbcfast._reading.source import AnyTable
from nbcfast.canonical.arguments import table_of
from nbcfast.views import Viewset
from nbcfast.views.loss import uniform_log_loss


class Person(NamedTuple):
    """A row, as positions in the domains of the views."""

    codes: tuple[int, ...]
    of_class: int


def people_of(table: AnyTable, class_name: str | None, views: Viewset, count: int) -> list[Person]:
    """So many people of the table, evenly apart: of a row with a weight there are as many."""
    table = table_of(table, "table")
    if class_name is None:
        raise ValueError("class_name must name the class column of the table")
    if table.n_rows == 0:
        raise ValueError("table: no rows")
    names = [*views.attributes, class_name]
    distinct, codes = table.select(names).collapse(), []
    assert distinct.weights is not None
    for name, domain in zip(names, (*views.domains.values(), views.class_domain), strict=True):
        column = distinct.column(name)
        places = column.domain.positions_in(domain)[column.codes]
        if (places < 0).any():
            value = column.domain.values[column.codes[np.flatnonzero(places < 0)[0]]]
            raise ValueError(f"table: value {value!r} of {name!r} is not in the views")
        codes.append(places)
    _expect_counts(views, codes, distinct.weights)
    # In the order of the views: neither that of rows nor that of a declared domain says who it is.
    order = np.lexsort(codes[::-1])
    ends = np.cumsum(distinct.weights[order])
    people = int(ends[-1])
    count = min(count, people)
    apart = max(count - 1, 1)
    # Python's integers: a place times the people may be beyond 2^63.
    chosen = np.array(sorted({place * (people - 1) // apart for place in range(count)}), np.int64)
    rows = order[np.searchsorted(ends, chosen, side="right")]
    taken = [places[rows].tolist() for places in codes]
    return [Person(row[:-1], row[-1]) for row in zip(*taken, strict=True)]


def _expect_counts(views: Viewset, codes: list[Longs], weights: Longs) -> None:
    """ValueError unless the views count these rows: of other people nothing would be measured."""
    *of_attributes, of_class = codes
    for name, places in zip(views.attributes, of_attributes, strict=True):
        counts = np.zeros(views.counts[name].shape, np.int64)
        np.add.at(counts, (places, of_class), weights)
        if not np.array_equal(counts, views.counts[name]):
            value, c = np.argwhere(counts != views.counts[name])[0]
            raise ValueError(
                "table must be the one that the views count: of value "
                f"{views.domain(name)[value]!r} of {name!r} in class {views.classes[c]!r} they have "
                f"{views.counts[name][value, c]} rows, and it has {counts[value, c]}"
            )


def drawn_people(views: Viewset, count: int) -> list[Person]:
    """So many rows, drawn as the classifier sees them: values independent within a class.

    By SplitMix64 with fixed seeds, so that they are the same ones in every run and with every NumPy.
    """

    def places(weights: npt.ArrayLike, uniform: Floats) -> Longs:
        ends = np.cumsum(np.asarray(weights, np.float64))
        reached: Longs = np.searchsorted(ends, uniform * ends[-1], side="right")
        return np.minimum(reached, len(ends) - 1)

    classes = places(views.class_counts, uniform_log_loss(count, 0, 0))
    draws = [uniform_log_loss(count, i + 1, 1) for i in range(len(views.attributes))]
    return [
        Person(
            tuple(
                int(places(views.counts[name][:, c], draw[row : row + 1])[0])
                for name, draw in zip(views.attributes, draws, strict=True)
            ),
            c,
        )
        for row, c in enumerate(classes.tolist())
    ]


def without(views: Viewset, person: Person) -> Viewset | None:
    """The views of all others; None where these have nobody of the class, or the person cannot be counted."""
    c = person.of_class
    class_counts = views.class_counts.copy()
    class_counts[c] -= 1
    counts = {}
    for name, code in zip(views.attributes, person.codes, strict=True):
        counts[name] = views.counts[name].copy()
        counts[name][code, c] -= 1
        if counts[name][code, c] < 0:
            return None
    if class_counts[c] <= 0:
        return None
    return Viewset.from_parts(class_counts, counts, views.class_domain, views.domains)
