"""Naive Bayes views: the counts of a table, and the classifier that they are."""

from nbcfast.views.counting import count
from nbcfast.views.viewset import Viewset

__all__ = ["Viewset", "count"]
