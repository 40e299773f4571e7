"""Published views: how likely each private association is for somebody who joins them.

`risks` takes what `risk` is given and chooses the way, by the layout that `projections` finds:

- views that all share one join key (a star): `one_join_key`, in closed forms of `sizes` (two views) and
  `stars` (more of them); with `worlds="full"` it is `whole_tuples`;
- views in a row: `chains`, by message passing;
- any others: `joins` takes their join apart into `pieces`, which are counted or drawn (`sampling`), if
  `costs` says that this ends in time.

The last two list their associations one by one in `explicit`. What a caller gets is in `results`; a table
that is read batch by batch comes by `streamed_views`, a table for each view by `tables_of_views`; `advising`
looks for views that hide enough.
"""

from nbcfast.associations.advising import Split, Splits, advise
from nbcfast.associations.costs import Cost, TooCostlyError
from nbcfast.associations.results import Association, Risk, Rows
from nbcfast.associations.risks import risk
from nbcfast.associations.sizes import TooLargeError, covers, interesting_covers, probability

__all__ = [
    "Association",
    "Cost",
    "Risk",
    "Rows",
    "Split",
    "Splits",
    "TooCostlyError",
    "TooLargeError",
    "advise",
    "covers",
    "interesting_covers",
    "probability",
    "risk",
]
