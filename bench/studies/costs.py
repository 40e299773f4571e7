"""python bench/study.py costs > measured.json: time and memory of each method against its input.

`python tools/costs_page.py measured.json` writes docs/costs.json and the tables of docs/costs.md. One thread;
CPU time of the process, the median of three; memory is the highest resident size during a call above that
before it. Each method has a process of its own, and a line on stderr. An axis ends where the next size would
take seconds, and says so. --quick takes the two smallest sizes of each axis.
"""

import argparse
import json
import math
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from shared.clock import machine
from shared.memory import growth
from shared.processes import run_module
from studies.costed_methods import METHODS, Axis, Method, Run, Size

AT_LEAST = 0.02  # seconds: a shorter call is repeated until a round takes this long
ONCE = 0.3  # a call that takes longer is timed once
MOST = 2.0  # seconds that a call may be expected to take
CUT = 60  # seconds, by the clock on the wall, after which a size is given up
MOST_CELLS = 200_000_000  # rows times columns

Point = tuple[int, float, int]  # size, seconds, bytes


class TooLongError(Exception):
    pass


@contextmanager
def cut(seconds: int) -> Iterator[None]:
    """Give up after so many; kernels that run long look for signals.

    By the clock on the wall: while a timer of CPU time runs, the system tells CPU time by its ticks alone.
    """

    def stop(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def seconds_of(run: Run) -> float:
    """CPU seconds of a call, after one that may import, or keep something for the next."""
    start = time.process_time()
    run()
    first = time.process_time() - start
    if first > ONCE:
        return first
    loops = max(1, round(AT_LEAST / max(first, 1e-6)))
    times = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(loops):
            run()
        times.append((time.process_time() - start) / loops)
    return statistics.median(times)


def measured(method: Method, size: Size) -> tuple[float, int]:
    """Seconds and bytes of a call."""
    with tempfile.TemporaryDirectory() as folder, cut(CUT):
        run = method.make(size, Path(folder))
        seconds = seconds_of(run)
        return seconds, max(growth(run), 0)


def expected(points: list[Point], number: int) -> float:
    """Seconds that the next size may take: as the last step grew, and of a second size in proportion."""
    if not points:
        return 0.0
    last, seconds, _ = points[-1]
    if len(points) == 1:
        return seconds * number / last
    before, earlier, _ = points[-2]
    return seconds * (seconds / earlier) ** max(1.0, math.log(number / last) / math.log(last / before))


def along(method: Method, axis: str, of: Axis, numbers: tuple[int, ...]) -> tuple[list[Point], str]:
    """The points of an axis, and why there are no more."""
    points: list[Point] = []
    for number in numbers:
        size = of.base.along(axis, number)
        if size.rows * size.columns > MOST_CELLS and method.takes_rows:
            return points, f"{number:,}: more than {MOST_CELLS:,} cells"
        soon = expected(points, number)
        if soon > MOST:
            return points, f"{number:,}: expected to take {soon:.0f} s"
        try:
            points.append((number, *measured(method, size)))
        except TooLongError:
            return points, f"{number:,}: given up after {CUT} s"
        except (ValueError, MemoryError) as error:
            return points, f"{number:,}: {type(error).__name__}: {error}"
    return points, of.why


def all_axes(method: Method, most: int | None) -> dict[str, Any]:
    """Axis -> its points, and why there are no more."""
    found = {}
    for axis, of in method.axes.items():
        points, why = along(method, axis, of, of.numbers[:most])
        found[axis] = {"base": of.base._asdict() if of.numbers else None, "points": points, "ends": why}
    return found


def own_process(name: str, quick: bool) -> dict[str, Any]:
    done = run_module("studies.costs", "--method", name, *(["--quick"] if quick else []))
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two sizes of each axis")
    parser.add_argument("--methods", default=",".join(METHODS), help="by default all")
    parser.add_argument("--method", choices=METHODS, help="one, in this process")
    given = parser.parse_args()
    os.environ["NBCFAST_THREADS"] = "1"
    if given.method is not None:
        json.dump(all_axes(METHODS[given.method], 2 if given.quick else None), sys.stdout)
        return
    names = given.methods.split(",")
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        parser.error(f"--methods must be of {', '.join(METHODS)}; got {unknown[0]}")
    begun = time.monotonic()
    found: dict[str, Any] = {"date": date.today().isoformat(), "machine": machine(), "methods": {}}
    for name in names:
        found["methods"][name] = own_process(name, given.quick)
        print(f"{time.monotonic() - begun:5.0f} s  {name}", file=sys.stderr)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
