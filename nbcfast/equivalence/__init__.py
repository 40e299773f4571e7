"""Exact comparisons of classifiers over their whole product domain, without enumerating it."""

from nbcfast.equivalence.comparing import compare
from nbcfast.equivalence.enumerated import Comparer, Enumerated
from nbcfast.equivalence.margins import bound, margin
from nbcfast.equivalence.results import Comparison, Margin

__all__ = ["Comparer", "Comparison", "Enumerated", "Margin", "bound", "compare", "margin"]
