"""How far the process grows above its input while it counts and predicts (Linux)."""

import ctypes
import gc
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from shared.census import CLASS, SIZES, census
from shared.clock import power

import nbcfast

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def kib(field: str) -> int:
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[field].split()[0])


def growth(run: Callable[[], Any]) -> int:
    """The highest resident size during a call, less that before it and less the result: bytes."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or the call would be served from pages that others have left
    CLEAR.write_text("5")  # the high-water mark becomes the present size
    before = kib("VmRSS")
    result = run()
    peak = kib("VmHWM")
    return (peak - before) * 1024 - (result.nbytes if isinstance(result, np.ndarray) else 0)


def main(rows: list[int]) -> dict[str, int]:
    found = {}
    few = census(10_000).table()
    for n_rows in rows:
        data = census(n_rows)
        table, matrix, y = data.table(), data.matrix(), data.classes.astype(np.int64)
        views = nbcfast.count(table, CLASS)
        from_codes = partial(nbcfast.Viewset.from_codes, sizes=SIZES, n_classes=data.n_classes)
        for threads in (1, 2):
            # Imports and threads are not of the call.
            nbcfast.count(few, CLASS, threads=threads).predict(few, threads=threads)
            jobs = {
                "count": partial(nbcfast.count, table, CLASS, threads=threads),
                "count int64 row-major": partial(from_codes, matrix, y, threads=threads),
                "predict": partial(views.predict, table, codes=True, threads=threads),
            }
            for job, run in jobs.items():
                found[f"{job} {power(n_rows)} rows, threads={threads}"] = growth(run)
    return found


if __name__ == "__main__":
    if not CLEAR.exists():
        sys.exit("memory: needs /proc/self/clear_refs, as Linux has it")
    json.dump(main([int(float(rows)) for rows in sys.argv[1:]] or [1_000_000]), sys.stdout, indent=2)
    print()
