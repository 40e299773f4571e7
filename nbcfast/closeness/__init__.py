"""R-closeness: how far posteriors are from a prior, how near they can come, and EST, which publishes so.

Two forms of r are told apart. Definition 5 compares a posterior with its prior: for every property of the
class and every set of known attribute values, posterior / prior lies in [1/r, r]. Statement 11 compares odds:
r = max over tuples and classes of (X_c / X_d) / (F_c / F_d). The second is never below the first, nor above
its square; EST keeps to the second, and so to both.

`reached`: the r of a classifier, by both; `bounds`: below which none stays that decides as it does;
`program`: the best that EST could do; `publish`: EST, from `scores` and the `region` of powers; `results`:
what is answered.
"""

from nbcfast.closeness.bounds import lower_bound
from nbcfast.closeness.program import best
from nbcfast.closeness.publish import est
from nbcfast.closeness.reached import achieved
from nbcfast.closeness.results import Achieved, Best, LowerBound, Reached

__all__ = ["Achieved", "Best", "LowerBound", "Reached", "achieved", "best", "est", "lower_bound"]
