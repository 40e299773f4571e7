"""Naive Bayes views: the counts of a table, and the classifier that they are.

`counting` makes a `viewset` of the `tallying` of columns, or of batches, whose counts `batch_counts` merges;
`aggregated` makes one of rows that an engine has grouped. Classes are put in their `precedence`.
`given_counts` are arrays, `held_counts` what a viewset has of them; `redeclared` are views in other domains.
Counts are `integers`, `flat` those of all attributes below each other; `merging` adds and subtracts two
viewsets, `totalling` adds up many; `exchanged` are bytes of them, `shown_views` a line of text. `scoring`
predicts exactly, by `score_tables` of logarithms and integers, for which `costing` chooses units in which
most rows are decided; `kept_scores` serve again, and `record_scorer` one record after the other; `quality` is
what a classifier is worth on a table, `sureness` how sure it is of each row, `loss` what it is to be expected
to lose; `smoothing` adds the same to each count, and `noise` says what is known of noise in them.
"""

from nbcfast.views.counting import count
from nbcfast.views.record_scorer import RecordScorer
from nbcfast.views.totalling import total
from nbcfast.views.viewset import Viewset

__all__ = ["RecordScorer", "Viewset", "count", "total"]
