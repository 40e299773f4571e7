"""The parts of a viewset whose counts are given as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy.typing as npt

from nbcfast._core.dtypes import Counts
from nbcfast.table import Domain
from nbcfast.views.integers import as_counts
from nbcfast.views.precedence import listed


def given_parts(
    class_counts: npt.ArrayLike,
    attribute_counts: Mapping[str, npt.ArrayLike] | Sequence[npt.ArrayLike],
    classes: Iterable[object] | None,
    attributes: Iterable[str] | None,
    domains: Mapping[str, Iterable[object]] | None,
) -> tuple[Counts, dict[str, Counts], Domain, dict[str, Domain]]:
    """The parts of the viewset that Viewset promises, checked."""
    counts_of_classes = as_counts(class_counts, "class_counts")
    if counts_of_classes.ndim != 1 or len(counts_of_classes) == 0:
        raise ValueError(
            f"class_counts must be 1-D with at least one class, got shape {counts_of_classes.shape}"
        )
    n_classes = len(counts_of_classes)
    class_domain = listed(range(n_classes) if classes is None else classes, "classes", in_order=False)
    if len(class_domain) != n_classes:
        raise ValueError(f"classes must be {n_classes} labels, got {len(class_domain)}")
    arrays = _named(attribute_counts, attributes)
    unknown = sorted(set(domains or {}) - set(arrays))
    if unknown:
        raise ValueError(f"domains: expected names of {', '.join(map(repr, arrays))}; got {unknown[0]!r}")
    counts, own_domains = {}, {}
    for name, obj in arrays.items():
        where = f"counts of attribute {name!r}"
        array = as_counts(obj, where)
        if array.ndim != 2 or array.shape[1] != n_classes:
            raise ValueError(f"{where} must have shape (values, {n_classes}), got {array.shape}")
        declared = (domains or {}).get(name, range(len(array)))
        domain = listed(declared, f"domains[{name!r}]")
        if len(domain) != len(array):
            raise ValueError(f"domains[{name!r}] must be {len(array)} values, got {len(domain)}")
        counts[name], own_domains[name] = array, domain
    return counts_of_classes, counts, class_domain, own_domains


def _named(
    arrays: Mapping[str, npt.ArrayLike] | Sequence[npt.ArrayLike], names: Iterable[str] | None
) -> dict[str, npt.ArrayLike]:
    if isinstance(arrays, Mapping):
        listed = list(arrays.values())
        names = list(arrays) if names is None else names
    else:
        listed = list(arrays)
    chosen = [f"A{i + 1}" for i in range(len(listed))] if names is None else list(names)
    for name in chosen:
        if not isinstance(name, str):
            raise TypeError(f"attributes must be names, got {name!r}")
    if len(chosen) != len(listed):
        raise ValueError(f"attributes must be {len(listed)} names, got {len(chosen)}")
    result = dict(zip(chosen, listed, strict=True))
    if len(result) < len(chosen):
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise ValueError(f"attributes must be distinct, got {twice!r} twice")
    if isinstance(arrays, Mapping):
        unknown = [name for name in chosen if name not in arrays]
        if unknown:
            raise ValueError(f"attributes: expected names of attribute_counts, got {unknown[0]!r}")
        return {name: arrays[name] for name in chosen}
    return result
