"""How `publish` prints the leak meter."""

import math

from rich.table import Table as Grid
from rich.text import Text

from nbcfast.canonical import Leak
from nbcfast.cli.printing import listing
from nbcfast.publishing.words import label
from nbcfast.reports.leak_sections import leak_lines

SHOWN = 20  # attributes of which the meter is printed
EXACT = 1e-7  # of an interval, below which the answers fix a log-ratio as well as solvers can tell
NO_METER = "not measured: with --tuples only answers on the list are published, and the meter takes all"


def leak_grids(found: Leak, rounded: bool) -> list[Grid]:
    """The meter as tables: of the whole, and of each attribute.

    `rounded` says that not what is published is measured.
    """
    whole = listing("what the answers give away (for you alone)", "")
    if not found.measured:
        whole.add_row("", "not measured: there is one class, and nothing is told apart")
        return [whole]
    if rounded:
        whole.add_row("measured on", "the answers before --bits rounded them")
    for line in leak_lines(found):
        whole.add_row(*line)
    if found.no_intervals is not None:
        whole.add_row("intervals of log-ratios", f"not measured: {found.no_intervals}")
    each = listing(
        "attribute",
        "values told apart",
        *([] if found.intervals is None else ["interval of a log-ratio, median"]),
    )
    for name, (kept, size) in list(found.levels.items())[:SHOWN]:
        widths = [] if found.intervals is None else [_width(found.intervals.get(name))]
        each.add_row(Text(label(name)), f"{kept:,} of {size:,}", *widths)
    if len(found.levels) > SHOWN:
        each.add_row(f"and {len(found.levels) - SHOWN:,} more")
    return [whole, each] if found.levels else [whole]


def _width(interval: float | None) -> str:
    """How wide the answers leave the log-ratio of counts of an attribute's values, at the median."""
    if interval is None:
        return "-"
    if math.isinf(interval):
        return "open"
    # What programmes of doubles leave of 0 is no width.
    return f"{interval:.2g}" + (" (gives the scale, or is fixed)" if interval < EXACT else "")
