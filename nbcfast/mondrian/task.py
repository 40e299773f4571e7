"""`Task`: which columns of a table are generalised, for whose sake, and under which demands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nbcfast.mondrian.demands import Demands


@dataclass(frozen=True)
class Task:
    """What is asked of a partition, checked as far as no data is needed for it.

    Attributes
    ----------
    names : list of str
        The quasi-identifiers.
    sensitive : str
    demands : Demands
    hierarchies : mapping of name -> mapping or path
        Of some quasi-identifiers; `hierarchy.tree_of` checks each against the values of its column.
    target : str or None
        The column that the partition shall tell much of.
    """

    names: list[str]
    sensitive: str
    demands: Demands
    hierarchies: Mapping[str, object]
    target: str | None

    @classmethod
    def of(
        cls,
        quasi: Iterable[str],
        sensitive: str,
        demands: Demands,
        hierarchies: Mapping[str, object] | None,
        target: str | None,
    ) -> Task:
        """The task with these arguments of `anonymize`, or the error that says what is wrong with them."""
        names = _names(quasi, sensitive)
        return cls(names, sensitive, demands, _hierarchies(hierarchies, names), target)


def _names(quasi: Iterable[str], sensitive: str) -> list[str]:
    if isinstance(quasi, str):
        raise TypeError(f"quasi: expected a sequence of names, got the text {quasi!r}")
    names = list(quasi)
    if not names:
        raise ValueError("quasi: expected at least one column, got none")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"quasi: expected distinct columns, got {name!r} twice")
    if sensitive in names:
        raise ValueError(f"sensitive: {sensitive!r} is among the quasi-identifiers")
    return names


def _hierarchies(hierarchies: Mapping[str, object] | None, names: list[str]) -> Mapping[str, object]:
    if hierarchies is None:
        return {}
    if not isinstance(hierarchies, Mapping):
        raise TypeError(f"hierarchies must be a mapping of columns, got {type(hierarchies).__name__}")
    for name in hierarchies:
        if name not in names:
            raise ValueError(f"hierarchies: expected quasi-identifiers, got {name!r}")
    return dict(hierarchies)
