"""The library in the plainest exact Python: the executable specification, and what the tests compare with.

A module has the name of the room that it is the twin of; `canonical_classes` is `nbcfast.canonical` for more
than two classes, `advice` is `nbcfast.canonical.advice`, `csv_text` is the reader of CSV files, and
`column_chunks` a module of `nbcfast._reading`.
"""

from nbcfast.reference import (
    advice,
    associations,
    attack,
    canonical,
    canonical_classes,
    closeness,
    column_chunks,
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
    "column_chunks",
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
