"""The parts of a viewset in declared domains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from nbcfast.table.table import declared_domains
from nbcfast.views.integers import zeros
from nbcfast.views.merging import Parts
from nbcfast.views.precedence import in_precedence

if TYPE_CHECKING:
    from nbcfast.table import Domain
    from nbcfast.views.viewset import Viewset


def redeclared(
    views: Viewset, domains: Mapping[str, Iterable[object] | Domain], classes: Iterable[object] | None
) -> Parts:
    """Class counts, counts, labels and domains, with some domains declared."""
    given = declared_domains(domains, views.attributes)
    counts = dict(views.counts)
    for name, domain in given.items():
        before, array = views.domains[name], views.counts[name]
        places = before.positions_in(domain)
        for place in np.flatnonzero((places < 0) & (array != 0).any(axis=1)).tolist():
            raise ValueError(
                f"column {name!r}: value {before.values[place]!r} is not in its declared domain of "
                f"{len(domain)} values"
            )
        kept = np.flatnonzero(places >= 0)
        counts[name] = zeros((len(domain), array.shape[1]), array)
        counts[name][places[kept]] = array[kept]
    parts = in_precedence(views.class_counts, counts, views.class_domain, classes, "class")
    return (*parts, {**views.domains, **given})
