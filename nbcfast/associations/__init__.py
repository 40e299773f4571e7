"""Published views: how likely each private association is for somebody who joins them."""

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
