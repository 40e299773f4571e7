"""The library in the plainest exact Python: the executable specification, and what the tests compare with."""

from nbcfast.reference import (
    associations,
    attack,
    canonical,
    canonical_classes,
    closeness,
    equivalence,
    mondrian,
    response,
    safety,
    skyline,
    table,
    templates,
    transform,
    views,
)

__all__ = [
    "associations",
    "attack",
    "canonical",
    "canonical_classes",
    "closeness",
    "equivalence",
    "mondrian",
    "response",
    "safety",
    "skyline",
    "table",
    "templates",
    "transform",
    "views",
]
