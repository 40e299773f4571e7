"""Naive Bayes views: the counts of a table, and the classifier that they are.

`counting` makes a `viewset` of the `tallying` of columns, `aggregated` of rows that an engine has grouped;
both put classes in their `precedence`. `given_counts` are arrays; `redeclared` are views in other domains.
Counts are `integers`, `flat` those of all attributes below each other; `merging` adds and subtracts two
viewsets, `totalling` adds up many; `exchanged` are bytes of them, `shown_views` a line of text. `scoring`
predicts exactly, and `costing` chooses units in which most rows are decided; `quality` is what a classifier
is worth on a table, `sureness` how sure it is of each row, `loss` what it is to be expected to lose;
`smoothing` adds the same to each count, and `noise` says what is known of noise in them.
"""

from nbcfast.views.counting import count
from nbcfast.views.totalling import total
from nbcfast.views.viewset import Viewset

__all__ = ["Viewset", "count", "total"]
