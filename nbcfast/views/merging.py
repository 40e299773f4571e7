"""Counts of two viewsets put together, whose values may stand in other places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Counts, Longs
from nbcfast.table import Domain
from nbcfast.views.integers import added, zeros

if TYPE_CHECKING:
    from nbcfast.views.viewset import Viewset

Parts = tuple[Counts, dict[str, Counts], Domain, dict[str, Domain]]  # of a viewset


def merged_parts(views: Viewset, other: Viewset, subtract: bool) -> Parts:
    """Class counts, counts, labels and domains of the rows of both, or of one without the other."""
    if views.noise is not None or other.noise is not None:
        raise ValueError(
            "views with noise are not merged: what their noise gives holds for the rows of one of them "
            "alone. Add or subtract the exact views first, and make noisy counts of the result"
        )
    if set(views.attributes) != set(other.attributes):
        odd = sorted(set(views.attributes) ^ set(other.attributes))[0]
        raise ValueError(f"expected viewsets of the same attributes, got {odd!r} in one of them")
    class_domain = Domain.joined(views.class_domain, other.class_domain, where="classes")
    columns = places(views.class_domain, other.class_domain, class_domain)
    n_classes = len(class_domain)

    counts, domains = {}, {}
    for name, array in views.counts.items():
        mine, theirs = views.domains[name], other.domains[name]
        domain = Domain.joined(mine, theirs, where=f"attribute {name!r}")
        rows = places(mine, theirs, domain)
        shape = (len(domain), n_classes)
        merged = merged_counts(
            array, other.counts[name], rows, columns, shape, subtract, f"attribute {name!r}"
        )
        if subtract and domain.may_shrink:
            kept = domain.kept((merged != 0).any(axis=1))
            if len(kept) < len(domain):
                merged, domain = merged[kept], domain.subset(kept)
        counts[name], domains[name] = merged, domain
    one = np.zeros(1, np.int64)
    class_counts = merged_counts(
        views.class_counts[np.newaxis],
        other.class_counts[np.newaxis],
        (one, one),
        columns,
        (1, n_classes),
        subtract,
        "classes",
    )[0]
    if subtract and class_domain.may_shrink:
        kept = class_domain.kept(class_counts != 0)
        if 0 < len(kept) < n_classes:
            class_counts, class_domain = class_counts[kept], class_domain.subset(kept)
            counts = {name: np.ascontiguousarray(array[:, kept]) for name, array in counts.items()}
    return class_counts, counts, class_domain, domains


def places(mine: Domain, theirs: Domain, joined: Domain) -> tuple[Longs, Longs] | None:
    """Where the values of two domains are in the one of both; None where all are where they were.

    Parts of one stream have equal domains: looking up each value would take longer than adding the counts.
    """
    if mine == joined and theirs == joined:
        return None
    return mine.positions_in(joined), theirs.positions_in(joined)


def merged_counts(
    mine: Counts,
    theirs: Counts,
    rows: tuple[Longs, Longs] | None,
    columns: tuple[Longs, Longs] | None,
    shape: tuple[int, int],
    subtract: bool,
    where: str,
) -> Counts:
    """The counts of both, or of one without the other, in the rows and columns of the joined domains."""
    if columns is None and (rows is None or shape[0] == 1 == len(mine) == len(theirs)):
        return added(mine, theirs, subtract, where)
    as_they_were = tuple(np.arange(size, dtype=np.int64) for size in shape)
    spread = [zeros(shape, mine, theirs) for _ in range(2)]
    for side, (cells, array) in enumerate(zip(spread, (mine, theirs), strict=True)):
        at = [
            there[side] if there else same for there, same in zip((rows, columns), as_they_were, strict=True)
        ]
        cells[np.ix_(*at)] = array
    return added(spread[0], spread[1], subtract, where)
