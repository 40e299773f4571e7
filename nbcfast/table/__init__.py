"""Tables: values to codes, domains, nulls and weights.

A `table` has columns and `row_weights`; `chosen_rows` are some of it. They come from `arrays` or by `arrow`;
`encode` makes codes of `values`, in the order of their `domain`; `bins` makes intervals of numbers, and
`plain_rows` has the way back to arrays, frames and text. `sql_cases` finds values in columns of an engine,
and `elsewhere` knows tables of engines.
"""

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
