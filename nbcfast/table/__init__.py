"""Tables: values to codes, domains, nulls and weights."""

from nbcfast.table.domain import Domain
from nbcfast.table.encode import Column
from nbcfast.table.table import Table, concat
from nbcfast.table.values import SUPPRESSED, Interval

__all__ = [
    "SUPPRESSED",
    "Column",
    "Domain",
    "Interval",
    "Table",
    "concat",
]
