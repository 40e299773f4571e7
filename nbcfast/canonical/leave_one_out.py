"""People whose class is exchanged, or who are left out, one at a time. For the leak meter alone.

Shares of a sample stand beside a bound of the share of everybody: `at_most`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Bools, Floats, Longs
from nbcfast._reading.source import AnyTable
from nbcfast.canonical.arguments import table_of
from nbcfast.canonical.exchanges import PeopleRows
from nbcfast.views import Viewset
from nbcfast.views.loss import uniform_log_loss

CONFIDENCE = 0.95
STEPS = 60  # of a bisection: beyond, a float64 cannot tell its ends apart


def rows_of(table: AnyTable, class_name: str | None, views: Viewset) -> PeopleRows:
    """The distinct rows of the table that the views count, in an order that is theirs and not the table's."""
    names = [*views.attributes, *(() if class_name is None else (class_name,))]
    table = table_of(table, "table", names)
    if class_name is None:
        raise ValueError("class_name must name the class column of the table, got None")
    if table.n_rows == 0:
        raise ValueError("table: no rows")
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
    # Neither the order of rows nor that of a declared domain says who is drawn.
    order = np.lexsort(codes[::-1])
    of_attributes = np.stack(codes[:-1], axis=1)[order].astype(np.int64)
    return PeopleRows(of_attributes, codes[-1][order].astype(np.int64), distinct.weights[order])


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


def sample_of(rows: PeopleRows, count: int) -> PeopleRows:
    """So many people of these rows, drawn with repetition: a row with a weight is so many people."""
    return _collapsed(rows, drawn_places(rows.weights, count))


def drawn_places(weights: Longs, count: int) -> Longs:
    """The rows of so many people, drawn with repetition from rows that stand for so many each.

    By SplitMix64 with a fixed seed, so that they are the same ones in every run and with every NumPy.
    """
    ends, people = np.cumsum(weights), sum(weights.tolist())
    # Python's integers: a place times the people may be beyond 2^63.
    drawn = np.array(
        [int(math.ldexp(u, 53)) * people >> 53 for u in uniform_log_loss(count, 0, 2).tolist()], np.int64
    )
    places: Longs = np.searchsorted(ends, drawn, side="right").astype(np.int64)
    return places


def drawn_rows(views: Viewset, count: int) -> PeopleRows:
    """So many people, drawn as the classifier sees them: values independent within a class.

    By SplitMix64 with fixed seeds, so that they are the same ones in every run and with every NumPy.
    """

    def places(weights: npt.ArrayLike, uniform: Floats) -> Longs:
        ends = np.cumsum(np.asarray(weights, np.float64))
        reached: Longs = np.searchsorted(ends, uniform * ends[-1], side="right")
        return np.minimum(reached, len(ends) - 1)

    of_class = places(views.class_counts, uniform_log_loss(count, 0, 0)).astype(np.int64)
    codes = np.empty((count, len(views.attributes)), np.int64)
    for i, array in enumerate(views.counts.values()):
        uniform = uniform_log_loss(count, i + 1, 1)
        for c in range(len(views.classes)):
            here = of_class == c
            codes[here, i] = places(array[:, c], uniform[here])
    return _collapsed(PeopleRows(codes, of_class, np.ones(count, np.int64)), np.arange(count))


def _collapsed(rows: PeopleRows, taken: Longs) -> PeopleRows:
    """Each of the rows at these places once, with as many people as there are places."""
    joint = np.column_stack([rows.codes[taken], rows.of_class[taken]])
    distinct, weights = np.unique(joint, axis=0, return_counts=True)
    return PeopleRows(distinct[:, :-1], distinct[:, -1], weights.astype(np.int64))


def at_most(shown: int, looked_at: int) -> float:
    """The share of all of whom so many of a sample show: the exact 95 % upper bound of Clopper and Pearson.

    Examples
    --------
    >>> round(at_most(0, 64), 4)
    0.0457
    """
    if shown >= looked_at:
        return 1.0
    k = np.arange(shown + 1)
    logs = np.array([math.lgamma(j + 1) + math.lgamma(looked_at - j + 1) for j in range(shown + 1)])
    ways = math.lgamma(looked_at + 1) - logs
    low, high = shown / looked_at, 1.0
    for _ in range(STEPS):
        share = (low + high) / 2
        chance = np.exp(ways + k * math.log(share) + (looked_at - k) * math.log1p(-share)).sum()
        if chance > 1 - CONFIDENCE:
            low = share
        else:
            high = share
    return high


def of_one_class(views: Viewset) -> list[Bools]:
    """Of each attribute the values that people of one class only have."""
    return [np.asarray((array > 0).sum(axis=1) == 1, bool) for array in views.counts.values()]


def people_of_one_class(views: Viewset, values: list[Bools], rows: PeopleRows | None) -> int:
    """How many have such a value: exactly by all rows, and without these as many as there can be."""
    if rows is not None:
        have = np.zeros(len(rows.weights), bool)
        for i, flags in enumerate(values):
            have |= flags[rows.codes[:, i]]
        return sum(rows.weights[have].tolist())
    of_class = views.class_counts.tolist()
    most = [0] * len(of_class)
    for array, flags in zip(views.counts.values(), values, strict=True):
        for row in array[flags].tolist():
            for c, count in enumerate(row):
                most[c] += count
    return sum(map(min, most, of_class))
