"""Streams: the counts of a moving window over rows that come for ever, block by block, and no row kept.

A `window` is `moving`: it adds the newest block and subtracts the oldest. `numbering` says which block a row
lies in, `declared_counts` counts the rows of a batch in domains that were declared before, `incoming` reads
what a batch may be. `saved` writes a window to a file and reads it again; `calendars` says when something is
published, `releasing` does it. `experts` multiplies classifiers.
"""

from nbcfast.streams.calendars import AtLeast, Disjoint, Every
from nbcfast.streams.experts import product
from nbcfast.streams.releasing import WindowRelease
from nbcfast.streams.window import Added, Window

__all__ = ["Added", "AtLeast", "Disjoint", "Every", "Window", "WindowRelease", "product"]
