"""What the answers show of each row: the kernel against a box a row, and the whole meter.

pytest bench/bench_leak.py
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from against.canonical import CLASS, RICH_FIRST, THREE, table_of

import nbcfast
from nbcfast import Table, Viewset, canonical
from nbcfast.canonical.exchanges import Change, PeopleRows, exchanged, flip_and_trace
from nbcfast.canonical.leave_one_out import rows_of

PATIENTS = Path(__file__).resolve().parents[1] / "examples" / "patients.csv"
SHOWN = {
    "patients": (0, 32),
    "Adult-3": (88, 17_118),
}  # people whose class, and whose presence, does not show
EVERY = 40  # row is asked by boxes


@cache
def private(name: str) -> tuple[Table, str, Viewset]:
    if name == "patients":
        table, class_name, classes = nbcfast.read_csv(PATIENTS), "diagnosis", None
    else:
        found = table_of(THREE)
        if found is None:
            pytest.skip("needs the public data sets: set NBCFAST_DATA")
        table, class_name, classes = found, CLASS, RICH_FIRST
    return table, class_name, nbcfast.count(table, class_name, classes=classes)


def by_boxes(views: Viewset, rows: PeopleRows) -> tuple[np.ndarray, np.ndarray]:
    """Of two classes: a box for each row that is exchanged, and for each that is left out."""
    asked = canonical.box(views)
    shown = []
    for codes, c in zip(rows.codes.tolist(), rows.of_class.tolist(), strict=True):
        changed = [exchanged(views, codes, Change(c, to)) for to in (1 - c, None)]
        shown.append([other is not None and canonical.box(other) == asked for other in changed])
    flip, trace = np.array(shown).T
    return flip, trace


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("how", ["kernel", "boxes"])
def bench_flip_and_trace(benchmark, how, name):
    """3,814 rows on 41,472 tuples, 9,392 on 109,792; by boxes one row of 40."""
    table, class_name, views = private(name)
    rows = rows_of(table, class_name, views)
    asked = canonical.box(views)
    if how == "kernel":
        found = benchmark(flip_and_trace, asked, views, rows)
        assert (found.flipped, found.traceless) == SHOWN[name]
    else:
        few = PeopleRows(*(column[::EVERY] for column in rows))
        flip, trace = benchmark.pedantic(by_boxes, (views, few), rounds=1)
        expected = flip_and_trace(asked, views, few)
        assert np.array_equal(flip, expected.flip)
        assert np.array_equal(trace, expected.trace)


@pytest.mark.parametrize("name", SHOWN)
def bench_leak(benchmark, name):
    """Answers, weights, points, the totals attack, and everybody's class and presence."""
    table, class_name, views = private(name)
    found = benchmark(canonical.leak, views, table=table, class_name=class_name)
    assert found.exact
    assert (found.sampled - found.shows_class, found.sampled - found.shows_presence) == SHOWN[name]
