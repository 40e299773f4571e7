"""The library in the plainest exact Python: the executable specification, and what the tests compare with.

A module has the name of the room that it is the twin of; `canonical_classes` is `nbcfast.canonical` for more
than two classes, `advice` is `nbcfast.canonical.advice`, and `csv_text` is the reader of CSV files.
"""

from nbcfast.reference import (
    advice,
    associations,
    attack,
    canonical,
    canonical_classes,
    closeness,
    csv_text,
    dp,
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
    "advice",
    "associations",
    "attack",
    "canonical",
    "canonical_classes",
    "closeness",
    "csv_text",
    "dp",
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
