"""The canonical release: a viewset made from the answers of a classifier, and from nothing else."""

from nbcfast.canonical.box import box
from nbcfast.canonical.scorecard import integers
from nbcfast.canonical.solve import solve
from nbcfast.canonical.types import Box, EnumeratedBox, ListedBox, Scorecard, Solution

__all__ = [
    "Box",
    "EnumeratedBox",
    "ListedBox",
    "Scorecard",
    "Solution",
    "box",
    "integers",
    "solve",
]
