"""Where the microseconds of a small call go: its steps by themselves, 100 rows of ten attributes.

python bench/study.py calls [--rows 100] [--classes 2]

CPU time of each step, the least of several rounds; a step holds those that are set in below it.
"""

import argparse
import time
import timeit
from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from shared.census import CLASS, NAMES, SIZES, census
from shared.clock import machine

import nbcfast
from nbcfast import _count
from nbcfast._columns import Columns
from nbcfast._core.threads import n_threads
from nbcfast.views.scoring import decide
from nbcfast.views.tallying import tally

ROUNDS, SECONDS = 9, 0.02


def least(run: Callable[[], Any]) -> float:
    """Microseconds of CPU time a call."""
    timer = timeit.Timer(run, timer=time.process_time)
    number = max(1, int(SECONDS / max(timer.timeit(100) / 100, 1e-8)))
    return min(timer.repeat(ROUNDS, number)) / number * 1e6


def steps(n_rows: int, n_classes: int) -> list[tuple[str, Callable[[], Any]]]:
    """The steps of each call, by what is printed."""
    table = census(n_rows, n_classes).table()
    views = nbcfast.count(census(1_000_000, n_classes).table(), CLASS)
    release = nbcfast.Release(views, nbcfast.Certificate(amplification=10**9, tuples=views.n_tuples))
    columns, y = table.several(NAMES), table.column(CLASS)
    codes = [column.codes for column in columns]
    held = Columns([*codes, y.codes], [*SIZES, n_classes], n_rows)
    together = np.zeros((sum(SIZES) + 1, n_classes), np.int64)
    attributes = Columns(codes, SIZES, n_rows)
    served = views.kept.served(views, Fraction(0), "none")
    assert served is not None
    match = views.kept.matching.of(columns)
    labels = np.zeros(n_rows, np.uint8)
    parts = views.class_counts, views.counts, views.class_domain, views.domains
    scorer, matrix = release.scorer(), census(n_rows, n_classes).matrix(np.uint8)
    row = [int(column[0]) for column in codes]
    record = dict(zip(NAMES, row, strict=True))
    one = {name: [value] for name, value in record.items()}
    return [
        ("count(table)", lambda: nbcfast.count(table, CLASS)),
        ("  columns of the table", lambda: table.several(NAMES)),
        ("  tally", lambda: tally(codes, SIZES, y.codes, n_classes, n_rows)),
        ("    buffers of the columns", lambda: Columns([*codes, y.codes], [*SIZES, n_classes], n_rows)),
        ("    kernel", lambda: _count.tally_few(held, together)),
        ("    threads asked for", lambda: n_threads(None, 0)),
        ("    an array of zeros", lambda: np.zeros((sum(SIZES) + 1, n_classes), np.int64)),
        ("  a Viewset of the parts", lambda: nbcfast.Viewset.from_parts(*parts)),
        (
            "    two mappings",
            lambda: (MappingProxyType(dict(views.counts)), MappingProxyType(dict(views.domains))),
        ),
        ("views.predict(table)", lambda: views.predict(table)),
        ("  codes matched", lambda: views.kept.matching.of(table.several(NAMES))),
        ("  decided", lambda: decide(views, codes, match, n_rows, 0, None, None)),
        ("    buffers of the columns", lambda: Columns(codes, SIZES, n_rows)),
        ("    kernel", lambda: served.decide_columns(attributes, labels)),
        ("  labels", lambda: views.kept.labels(views.class_domain)[labels]),
        ("release.predict(table)", lambda: release.predict(table)),
        ("release.predict({name: [value], ..})", lambda: release.predict(one)),
        ("scorer.predict_one({name: value, ..})", lambda: scorer.predict_one(record)),
        ("scorer.predict_one([code, ..])", lambda: scorer.predict_one(row)),
        ("  kernel", lambda: served.decide_record(row)),
        ("scorer.predict_codes(array, out=)", lambda: scorer.predict_codes(matrix, out=labels)),
        ("  kernel", lambda: served.decide_matrix(matrix, labels)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--classes", type=int, default=2)
    given = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    for what, run in steps(given.rows, given.classes):
        print(f"{what:40} {least(run):8.2f} us", flush=True)


if __name__ == "__main__":
    main()
