"""The canonical release: a viewset made from the answers of a classifier, and from nothing else."""

from nbcfast.canonical.box import box
from nbcfast.canonical.leak import Leak, attacked, leak
from nbcfast.canonical.points import PointsTable
from nbcfast.canonical.publish import release
from nbcfast.canonical.scorecard import integers
from nbcfast.canonical.solve import solve
from nbcfast.canonical.types import Box, EnumeratedBox, ListedBox, Scorecard, Solution

__all__ = [
    "Box",
    "EnumeratedBox",
    "Leak",
    "ListedBox",
    "PointsTable",
    "Scorecard",
    "Solution",
    "attacked",
    "box",
    "integers",
    "leak",
    "release",
    "solve",
]
