"""How `publish` prints the leak meter."""

import math

from rich.table import Table as Grid
from rich.text import Text

from nbcfast.canonical import Leak
from nbcfast.cli.printing import listing
from nbcfast.publishing.words import label

SHOWN = 20  # attributes of which the meter is printed
EXACT = 1e-7  # of an interval, below which the answers fix a log-ratio as well as solvers can tell
NO_METER = "not measured: with --tuples only answers on the list are published, and the meter takes all"


def leak_grids(found: Leak, rounded: bool) -> list[Grid]:
    """The meter as tables: of the whole, and of each attribute.

    `rounded` says that not what is published is measured.
    """
    whole = listing("what the answers give away (for you alone)", "")
    if found.cells is None:
        whole.add_row("", "not measured: there is one class, and nothing is told apart")
        return [whole]
    bits = "none" if math.isinf(found.log2_range) else f"{found.log2_range:.1f}"
    if rounded:
        whole.add_row("measured on", "the answers before --bits rounded them")
    whole.add_row("bits a weight (warning above 8)", bits)
    if found.recovered is not None:
        text = f"{found.recovered:,} of {found.cells:,}"
        if found.cells < found.values:
            left = found.values - found.cells
            text += f"; not measured of {left:,} of all {found.values:,}, without rows in some class"
        whole.add_row("values whose counts public totals and answers give", text)
    whole.add_row("people who leave no trace", f"{found.unchanged:.0%} of a sample of {found.sampled}")
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
    return [whole, each]


def _width(interval: float | None) -> str:
    """How wide the answers leave the log-ratio of counts of an attribute's values, at the median."""
    if interval is None:
        return "-"
    if math.isinf(interval):
        return "open"
    # What programmes of doubles leave of 0 is no width.
    return f"{interval:.2g}" + (" (gives the scale, or is fixed)" if interval < EXACT else "")
