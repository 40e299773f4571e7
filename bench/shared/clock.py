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


def unchanged(result: Any) -> Any:
    return result


class Form(NamedTuple):
    """One way in which a peer does a job."""

    how: str
    run: Callable[[], Any]
    # Turns the result into what all forms of the job must agree on, outside the clock; None: a floor, which
    # does only a part of the job.
    answer: Callable[[Any], Any] | None = unchanged


class Peers:
    """The peers of one job: functions that take its input and give the forms they know, the best one wins."""

    def __init__(self) -> None:
        self._peers: dict[str, Callable[[Any], Iterable[Form]]] = {}
        self._missing: set[str] = set()

    def peer(self, name: str) -> Callable[[Callable[[Any], Iterable[Form]]], Callable[[Any], Iterable[Form]]]:
        def register(forms: Callable[[Any], Iterable[Form]]) -> Callable[[Any], Iterable[Form]]:
            self._peers[name] = forms
            return forms

        return register

    def forms(self, data: Any) -> dict[str, list[Form]]:
        """The forms of each peer that is installed. What they prepare here is not timed."""
        found = {}
        for name, forms in self._peers.items():
            try:
                found[name] = list(forms(data))
            except ImportError as error:
                if name not in self._missing:
                    print(f"{name}: skipped, {error}", file=sys.stderr)
                self._missing.add(name)
        return found


class Row(NamedTuple):
    """A line of the table; `ratio` is how many times ahead we are, and at least `target` is wanted."""

    job: str
    peer: str
    theirs: str
    ours: str
    ratio: float
    target: float | None = None

    def cells(self) -> list[str]:
        if self.target is None:
            return [*self[:4], f"{self.ratio:.2f}", "", ""]
        verdict = "met" if self.ratio >= self.target else "missed"
        return [*self[:4], f"{self.ratio:.2f}", f"{self.target:g}", verdict]


HEADINGS = ["job", "peer, its best form", "theirs", "ours", "ratio", "target", ""]


def medians(
    runs: list[Callable[[], Any]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
    *,
    after_itself: bool = False,
) -> list[float]:
    """Seconds a call: the median over rounds, in each of which every run has its turn.

    The order changes from round to round, so that nobody always follows the same neighbour. By default the
    CPU time of all threads of the process. `after_itself`: each turn begins with a call that is not timed,
    as some keep memory when they are done, and give it up later, at the cost of whoever comes next.
    """
    loops = []
    for run in runs:
        for _ in range(2):  # the first call may compile, import or touch memory for the first time
            start = clock()
            run()
            once = clock() - start
            if once > AT_LEAST:
                break
        loops.append(max(1, round(AT_LEAST / max(once, 1e-7))))
    times: list[list[float]] = [[] for _ in runs]
    order = list(range(len(runs)))
    shuffled = random.Random(1)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for number in order:
            if after_itself:
                runs[number]()
            start = clock()
            for _ in range(loops[number]):
                runs[number]()
            times[number].append((clock() - start) / loops[number])
    return [statistics.median(samples) for samples in times]


def race(
    job: str,
    n_rows: int,
    ours: Form,
    peers: dict[str, list[Form]],
    equal: Callable[[Any, Any], bool],
    rounds: int,
    targets: dict[str, float] | None = None,
    clock: Callable[[], float] = time.process_time,
    *,
    after_itself: bool = False,
) -> Iterator[Row]:
    """A row for the best form of each peer; all answers must be equal."""
    entrants = [(who, form) for who, forms in peers.items() for form in forms]
    expected = (ours.answer or unchanged)(ours.run())
    for who, form in entrants:
        if form.answer is not None and not equal(form.answer(form.run()), expected):
            raise AssertionError(f"{job}: {who} ({form.how}) gives another answer than nbcfast")
    runs = [ours.run, *(form.run for _, form in entrants)]
    own, *others = medians(runs, rounds, clock, after_itself=after_itself)
    for who, forms in peers.items():
        times = [seconds for (name, _), seconds in zip(entrants, others, strict=True) if name == who]
        best = min(times)
        yield Row(
            job,
            f"{who}, {forms[times.index(best)].how}",
            shown(best, n_rows),
            shown(own, n_rows),
            best / own,
            (targets or {}).get(who),
        )


def shown(seconds: float, n_rows: int) -> str:
    """Nanoseconds a row, or for few rows the time of the call."""
    if n_rows >= 1_000_000:
        return f"{seconds / n_rows * 1e9:.2f} ns/row"
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


def power(number: int) -> str:
    """As people write it: 1e6."""
    digits, exponent = f"{number:e}".split("e")
    return f"{float(digits):g}e{int(exponent)}"


def machine() -> list[str]:
    """What the figures were measured on."""
    model, flags = platform.processor() or platform.machine(), ""
    try:
        with open("/proc/cpuinfo") as lines:
            about = dict([part.strip() for part in line.split(":", 1)] for line in lines if ":" in line)
        model = about.get("model name", model)
        best = [name for name in ("avx2", "avx512bw") if name in about.get("flags", "").split()]
        flags = f" with {best[-1]}" if best else ""
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"; load {os.getloadavg()[0]:.2f} at the start" if hasattr(os, "getloadavg") else ""
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    return [f"{model}{flags}, {cores} cores, {platform.system()}{load}", ", ".join(versions)]


class Printer:
    """Rows as they come: in Markdown, or in columns."""

    WIDTHS = (44, 44, 13, 13, 7, 6, 6)

    def __init__(self, markdown: bool) -> None:
        self.markdown = markdown
        self._line(HEADINGS)
        self._line(["---"] * len(HEADINGS) if markdown else ["-" * width for width in self.WIDTHS])

    def __call__(self, rows: Iterable[Row]) -> None:
        for row in rows:
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
