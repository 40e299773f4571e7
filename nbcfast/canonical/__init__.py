"""The canonical release: a viewset made from the answers of a classifier, and from nothing else.

`publish` has `release`, in this order: `arguments` are checked, `boxes` make answers of counts, and from
there `from_answers` sees answers alone: `weights` makes points, `budget` keeps them short, `row_shares` (with
`even_values`) and `rounding` make rows of them, as many as `in_rows` asks for (with `every_way` where these
are very few). `leak` is the meter of what answers give away, `leakage`, by `ratio_intervals` and `exchanges`
of rows that `leave_one_out` draws; `limits_of_answers` says how much that may be. `by_strata` has both for
each value of a column. `advice` looks for domains whose answers are worth most.
"""

import warnings
from typing import TYPE_CHECKING

from nbcfast.attack.totals import totals as _totals
from nbcfast.canonical.advice.advise import advise
from nbcfast.canonical.advice.results import Advice, DomainChoice
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.types import Box, EnumeratedBox, ListedBox
from nbcfast.canonical.by_strata import leak_by, release_by
from nbcfast.canonical.leak import leak
from nbcfast.canonical.leakage import Leak
from nbcfast.canonical.limits_of_answers import Limits
from nbcfast.canonical.publish import release
from nbcfast.canonical.weights.results import Scorecard, Solution
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.published.points_table import PointsTable

__all__ = [
    "Advice",
    "Box",
    "DomainChoice",
    "EnumeratedBox",
    "Leak",
    "Limits",
    "ListedBox",
    "PointsTable",
    "Scorecard",
    "Solution",
    "advise",
    "box",
    "integers",
    "leak",
    "leak_by",
    "release",
    "release_by",
    "solve",
]


if not TYPE_CHECKING:  # which would take every wrong name for an object

    def __getattr__(name: str) -> object:
        if name != "attacked":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        told = "nbcfast.canonical.attacked is now nbcfast.attack.totals"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return _totals
