"""Top-down disclosure: limits of CPU time, its growth with the rows, memory, equal steps of others."""

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from against import disclosing_arrays, expanding
from against.publishing import same, within
from shared.clock import Form, Row, medians, power, race, shown
from shared.memory import growth

import nbcfast
from nbcfast.reference import templates as reference
from nbcfast.templates import Template, disclose, violations

MANY = 5  # draws of thirty sets of columns, over which the time is averaged


def steps(found: Any) -> list[Any]:
    return [(step.attribute, step.value) for step in found.steps]


def timed(job: str, limit: float, rounds: int, table: nbcfast.Table, wanted: list[Template]) -> Row:
    found = disclose(table, wanted, "income")
    assert violations(found.table, wanted) == []
    run = partial(disclose, table, wanted, "income")
    # The search has one thread; its CPU time is what it takes where nothing else runs.
    (seconds,) = medians([run], rounds)
    return within(job, limit, seconds)


def limits(rounds: int, quick: bool) -> Iterator[Row]:
    sizes = (100_000, 200_000) if quick else (1_000_000, 10_000_000)
    bars = {1_000_000: 0.25, 10_000_000: 2.0}
    for n_rows in sizes:
        table = expanding.expanded(n_rows)
        assert table is not None
        wanted = expanding.large_templates(table, "9/10")
        few = rounds if n_rows <= 1_000_000 else min(rounds, 3)
        yield timed(
            f"disclose {power(n_rows)} rows, 7 known columns, h = 90 %",
            bars.get(n_rows, 0.25),
            few,
            table,
            wanted,
        )
        if n_rows == sizes[0]:
            full = expanding.large_templates(table, 1)
            yield timed(f"disclose {power(n_rows)} rows, h = 100 %", 1.0, rounds, table, full)
            draws = [expanding.many_templates(table, "9/10", seed) for seed in range(MANY)]
            times = medians([partial(disclose, table, many, "income") for many in draws], rounds)
            average = sum(times) / MANY
            yield within(f"disclose {power(n_rows)} rows, 30 sets of 3-6 columns, average", 0.6, average)
            for level, given in (("90 %", wanted), ("100 %", full)):
                found = disclose(table, given, "income")
                held = f"{found.peak_bytes / 2**20:.1f} MiB at most"
                print(f"search held {held}, {power(n_rows)} rows, h = {level}", file=sys.stderr)
            try:
                grown = growth(partial(disclose, table, wanted, "income"))
                print(f"the process grew by {grown / 2**20:.1f} MiB", file=sys.stderr)
            except OSError:
                print("the growth of the process cannot be seen here", file=sys.stderr)
        expanding.expanded.cache_clear()


def fit(quick: bool) -> None:
    """Seconds as a + b times the distinct rows, by least squares."""
    points = []
    for n_rows in [50_000, 100_000, 200_000] if quick else [200_000, 400_000, 800_000, 1_600_000]:
        table = expanding.expanded(n_rows)
        assert table is not None
        wanted = expanding.large_templates(table, "9/10")
        distinct = table.select(expanding.ADULT).collapse().n_rows
        (seconds,) = medians([partial(disclose, table, wanted, "income")], 3)
        points.append((distinct, seconds))
        expanding.expanded.cache_clear()
    x, y = np.array(points).T
    slope, start = np.polyfit(x, y, 1)
    rest = y - (start + slope * x)
    fitted = 1 - rest.var() / y.var()
    print(
        f"cpu time = {start * 1e3:.1f} ms + {slope * 1e9:.0f} ns a distinct row (R^2 = {fitted:.4f}; "
        + ", ".join(f"{int(n):,}: {t * 1e3:.0f} ms" for n, t in points)
        + ")",
        file=sys.stderr,
    )


def peers(rounds: int) -> Iterator[Row]:
    n_rows = 100_000
    table = expanding.expanded(n_rows)
    assert table is not None
    wanted = expanding.large_templates(table, "9/10")
    others = {
        name: [
            Form(
                f"distinct rows by {how}, groups by bincount",
                partial(
                    disclosing_arrays.disclose,
                    table,
                    wanted,
                    "income",
                    getattr(disclosing_arrays, f"distinct_{name}"),
                ),
            )
        ]
        for name, how in (("numpy", "np.unique"), ("pandas", "groupby"))
    }
    ours = Form("native", partial(disclose, table, wanted, "income"), steps)
    yield from race(f"disclose {power(n_rows)} rows, 7 known columns", n_rows, ours, others, same, rounds)

    few = expanding.expanded(1_000)
    assert few is not None
    few = few.select([*expanding.ADULT, "income"])
    wanted = expanding.large_templates(few, "9/10")
    plain = {name: [few.domain(name)[code] for code in few.codes(name).tolist()] for name in few.names}
    templates = [(one.quasi, one.sensitive, one.limit) for one in wanted]

    def exactly(found: Any) -> list[Any]:
        return [
            (step.attribute, step.value, step.gain, step.loss, step.score, list(step.confidences.values()))
            for step in found.steps
        ]

    ours = Form("native", partial(disclose, few, wanted, "income", max_steps=3), exactly)
    slow = Form(
        "from scratch at each step, Fractions",
        partial(reference.disclose, plain, templates, "income", max_steps=3),
        lambda found: found[1],
    )
    yield from race("disclose 1,000 rows, 3 steps", 1_000, ours, {"nbcfast.reference": [slow]}, same, 1)


def templates(rounds: int, quick: bool) -> Iterator[Row]:
    if expanding.folder() is None:
        print("templates: skipped, NBCFAST_DATA is not set", file=sys.stderr)
        return
    yield from limits(rounds, quick)
    yield from peers(min(rounds, 3))
    fit(quick)
    print(
        f"the paper: 150 s for {power(1_000_000)} rows; here {shown(0.25, 1)} is the limit", file=sys.stderr
    )
