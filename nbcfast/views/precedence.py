"""Labels of classes in the precedence asked for, and how many values there may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._core.errors import NoRowsError
from nbcfast.table import Domain
from nbcfast.table.values import normalise
from nbcfast.views.integers import zeros


def listed(values: Iterable[object], where: str, in_order: bool = True) -> Domain:
    """A declared domain in exactly this order: the rows of an array go with it.

    Intervals may stand in another order than theirs without `in_order`: that of classes is the precedence.
    """
    labels = values if isinstance(values, (str, bytes, range)) else list(values)
    domain = Domain.of(labels, where=where, in_order=in_order)
    if domain.tail and tuple(normalise(labels, where)[1][-len(domain.tail) :]) != domain.tail:
        raise ValueError(f"{where}: None and then SUPPRESSED come last, got {labels!r}")
    return domain


def in_precedence(
    class_counts: Counts,
    counts: Mapping[str, Counts],
    occurring: Domain,
    classes: Iterable[object] | None,
    class_name: str,
) -> tuple[Counts, dict[str, Counts], Domain]:
    """Class counts, counts and labels with the classes in the precedence asked for."""
    if classes is None:
        if len(occurring) == 0:
            raise no_classes(class_name)
        return class_counts, dict(counts), occurring
    wanted = listed(classes, "classes", in_order=False)
    if len(wanted) == 0:
        raise ValueError("classes must be at least one label, got no classes")
    places = occurring.positions_in(wanted)
    for position in np.flatnonzero((places < 0) & (class_counts > 0)).tolist():
        raise ValueError(
            f"classes must name every label of {class_name!r}, {occurring.values[position]!r} is missing"
        )
    placed = np.flatnonzero(places >= 0)

    def arranged(array: Counts) -> Counts:
        result = zeros((*array.shape[:-1], len(wanted)), array)
        result[..., places[placed]] = array[..., placed]
        return result

    return arranged(class_counts), {name: arranged(array) for name, array in counts.items()}, wanted


def check_values(name: str, n_values: int, max_values: int) -> None:
    """Refuse an attribute, or classes, of more values than that."""
    if n_values > max_values:
        raise ValueError(
            f"column {name!r} has {n_values} values, expected at most {max_values}: leave it out, or make "
            f"intervals with table.bin({name!r}, edges | quantiles=... | width=...)"
        )


def no_classes(class_name: str) -> NoRowsError:
    """What is wrong with a table without rows and without declared classes."""
    return NoRowsError(f"column {class_name!r} has no rows and no declared domain: no classes")
