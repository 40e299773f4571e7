"""Exact comparisons of classifiers over their whole product domain, without enumerating it.

- `margins`: how close classes come to a tie; `comparing`: whether two classifiers are the same, `pairwise` by
  pair of classes, where `ranks` count; `enumerated`: many with one, on domains that fit in memory
- `interval` proves it in linear time, for domains of any size; `witness` looks for a tuple that refutes it
- `results`: what is answered
"""

from nbcfast.equivalence.comparing import compare
from nbcfast.equivalence.enumerated import Comparer, Enumerated
from nbcfast.equivalence.margins import bound, margin
from nbcfast.equivalence.results import Comparison, Margin

__all__ = ["Comparer", "Comparison", "Enumerated", "Margin", "bound", "compare", "margin"]
