"""Peers against ours: who takes part, the clock, and the printed table."""

import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

AT_LEAST = 0.02  # seconds: a shorter call is repeated until a round takes this long

PACKAGES = ["numpy", "numba", "polars", "duckdb", "pyarrow", "pandas", "scikit-learn"]


class Form(NamedTuple):
    """One way in which a peer does a job."""

    how: str
    run: Callable[[], Any]
    # Its result in the shape that all forms of the job are compared in; outside the clock.
    answer: Callable[[Any], Any] = lambda result: result


class Peers:
    """The peers of one job: functions that take its input and give the forms they know, the best one wins."""

    def __init__(self) -> None:
        self._peers: dict[str, Callable[[Any], Iterable[Form]]] = {}

    def peer(self, name: str) -> Callable[[Callable[[Any], Iterable[Form]]], None]:
        def register(forms: Callable[[Any], Iterable[Form]]) -> None:
            self._peers[name] = forms

        return register

    def forms(self, data: Any) -> dict[str, list[Form]]:
        """The forms of each peer that is installed. What they prepare here is not timed."""
        found = {}
        for name, forms in self._peers.items():
            try:
                found[name] = list(forms(data))
            except ImportError as error:
                print(f"{name}: skipped, {error}", file=sys.stderr)
        return found


class Row(NamedTuple):
    """A line of the table; `ratio` is how many times ahead we are, and at least `target` is wanted."""

    job: str
    peer: str
    theirs: str
    ours: str
    ratio: float
    target: float | None

    def cells(self) -> list[str]:
        if self.target is None:
            return [*self[:4], f"{self.ratio:.2f}", "", ""]
        verdict = "met" if self.ratio >= self.target else "missed"
        return [*self[:4], f"{self.ratio:.2f}", f"{self.target:g}", verdict]


HEADINGS = ["job", "peer, its best form", "theirs", "ours", "ratio", "target", ""]


def race(
    job: str,
    n_rows: int,
    ours: Form,
    peers: dict[str, list[Form]],
    equal: Callable[[Any, Any], bool],
    *,
    rounds: int,
    targets: dict[str, float] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> Iterator[Row]:
    """Time all forms and give a row for the best of each peer; answers must be equal.

    Every form has its turn once a round, in an order that changes from round to round; figures are medians
    over rounds, by default of the CPU time of all threads of the process.
    """
    entrants = [("ours", ours), *((who, form) for who, forms in peers.items() for form in forms)]
    expected = ours.answer(ours.run())
    loops = []
    for who, form in entrants:
        start = clock()
        result = form.run()
        once = clock() - start
        if not equal(form.answer(result), expected):
            raise AssertionError(f"{job}: {who} ({form.how}) gives another answer than nbcfast")
        del result
        # The first call pays for imports and first touches: the second tells how long one takes.
        if once < AT_LEAST:
            start = clock()
            form.run()
            once = clock() - start
        loops.append(max(1, round(AT_LEAST / max(once, 1e-7))))
    times: list[list[float]] = [[] for _ in entrants]
    order = list(range(len(entrants)))
    shuffled = random.Random(1)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for number in order:
            run = entrants[number][1].run
            start = clock()
            for _ in range(loops[number]):
                run()
            times[number].append((clock() - start) / loops[number])
    medians = [statistics.median(samples) for samples in times]
    for who in peers:
        number = min(
            (number for number, entrant in enumerate(entrants) if entrant[0] == who), key=medians.__getitem__
        )
        yield Row(
            job,
            f"{who}, {entrants[number][1].how}",
            shown(medians[number], n_rows),
            shown(medians[0], n_rows),
            medians[number] / medians[0],
            (targets or {}).get(who),
        )


def shown(seconds: float, n_rows: int) -> str:
    """Nanoseconds a row, or for few rows the time of the call."""
    if n_rows >= 1_000_000:
        return f"{seconds / n_rows * 1e9:.2f} ns/row"
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def machine() -> list[str]:
    """What the figures were measured on."""
    model, flags = platform.processor() or platform.machine(), ""
    try:
        with open("/proc/cpuinfo") as lines:
            found = dict(line.split(":", 1) for line in lines if ":" in line)
        about = {key.strip(): value.strip() for key, value in found.items()}
        model = about.get("model name", model)
        best = [name for name in ("avx2", "avx512bw") if name in about.get("flags", "").split()]
        flags = f" with {best[-1]}" if best else ""
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    load = f"; load {os.getloadavg()[0]:.2f} at the start" if hasattr(os, "getloadavg") else ""
    return [f"{model}{flags}, {cores} cores, {platform.system()}{load}", ", ".join(versions)]


class Printer:
    """Rows as they come: in Markdown, or in columns."""

    WIDTHS = (38, 42, 14, 14, 7, 6, 6)

    def __init__(self, markdown: bool) -> None:
        self.markdown = markdown
        self._line(HEADINGS)
        self._line(["---"] * len(HEADINGS) if markdown else ["-" * width for width in self.WIDTHS])

    def row(self, row: Row) -> None:
        self._line(row.cells())

    def _line(self, cells: list[str]) -> None:
        if self.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
            return
        padded = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, self.WIDTHS, strict=True))
        ]
        print("  ".join(padded).rstrip(), flush=True)
