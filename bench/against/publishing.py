"""Safe releases: against the exact reference, gmpy2's roots, and limits of time, rows and memory."""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
from shared.clock import Form, Row, medians, race, shown
from shared.memory import STATUS, kib
from shared.processes import run_module
from shared.publishing import BITS, adult_3, counted, four_steps, nearly, of_domain, views_of, wide

import nbcfast
from nbcfast import Viewset, compare, margin, safety
from nbcfast.reference import equivalence as plain_equivalence
from nbcfast.reference import safety as plain_safety
from nbcfast.reference import transform as plain
from nbcfast.transform import adjust, fill_zeros, safety_transform, scale
from nbcfast.transform.roots import roots

NUMBERS = 20_000  # of which roots are taken
SIZES = (50, 500, 5_000, 50_000)  # counts a class: three decades
WIDE = ((2, "order"), (12, "label"))  # classes, and what is preserved
LARGE = {"1e12": 2.0, "1e14": 30.0}  # tuples: seconds for a margin
WIDE_SECONDS, WIDE_BYTES = 30.0, 1 << 30


def same(a: Any, b: Any) -> bool:
    return bool(a == b)


def against_reference(rounds: int) -> Iterator[Row]:
    """What the reference can do: small domains."""
    some = views_of([6, 10, 10], 3)
    other = nearly(some, 2)
    many = counted(5_000)
    full = Viewset(many.class_counts, [np.maximum(array, 1) for array in many.counts.values()])

    def steps() -> list[Fraction]:
        found = adjust(scale(fill_zeros(some), 4))
        return [Fraction(int(count.numerator), int(count.denominator)) for count in found.class_counts]

    def compared() -> tuple[int, int | None]:
        found = compare(some, other)
        return found.tuples, found.differing

    jobs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "steps 1 to 3, 600 tuples, 3 classes": (steps, lambda: plain.steps(some, 4)[0]),
        "margin, 600 tuples, 3 classes": (
            lambda: margin(some).log,
            lambda: plain_equivalence.log(plain_equivalence.margin(some)[0]),
        ),
        "compare, 600 tuples, 3 classes": (compared, lambda: plain_equivalence.compare(some, other)),
        "Lambda of 1e4 counts": (lambda: safety.amplification(full).value, lambda: plain_safety.linear(full)),
    }
    for job, (ours, reference) in jobs.items():
        how = "Fractions over all tuples" if "tuples" in job else "Fractions"
        peers = {"nbcfast.reference": [Form(how, reference)]}
        yield from race(job, 1, Form("native", ours), peers, same, rounds)


def against_gmpy2(rounds: int) -> Iterator[Row]:
    for k in (7, 10, 41):
        numbers = random.Random(k).sample(range(1, 10**6), NUMBERS)

        def loop(k: int = k, numbers: list[int] = numbers) -> list[Any]:
            with gmpy2.context(precision=BITS):
                return [gmpy2.rootn(gmpy2.mpfr(number), k) for number in numbers]

        def pairs(found: Any) -> list[tuple[int, int]]:
            if isinstance(found, list):
                values = [number.as_mantissa_exp() for number in found]
                return [
                    (int(m) << (BITS - m.bit_length()), int(e) - BITS + m.bit_length()) for m, e in values
                ]
            return list(zip(map(int, found.mantissas), found.exponents, strict=True))

        yield from race(
            f"2e4 roots, k = {k}, {BITS} bits",
            1,
            Form("roots", partial(roots, numbers, Fraction(k), BITS), pairs),
            {"gmpy2": [Form("a loop of rootn", loop, pairs)]},
            same,
            rounds,
            {"gmpy2": 3},
        )


def within(job: str, limit: float, seconds: float) -> Row:
    return Row(job, "time, a limit", shown(limit, 1), shown(seconds, 1), limit / seconds, 1)


def limits(rounds: int, quick: bool) -> Iterator[Row]:
    """Time, rows and memory that the work may take."""
    sizes = SIZES[:2] if quick else SIZES
    seconds = []
    for size in sizes:
        views = counted(max(size, 64))
        assert safety.at_most(four_steps(views)[1], 5)
        seconds.extend(medians([partial(four_steps, views)], rounds, time.perf_counter))
    if not quick:
        yield within(f"the four steps, 1e5 counts, {BITS} bits", 0.5, seconds[-1])
        logs = np.log([max(size, 64) for size in sizes]), np.log(seconds)
        for what, last in (("three decades", 4), ("the last two", 3)):
            slope = float(np.polyfit(logs[0][-last:], logs[1][-last:], 1)[0])
            yield Row(
                f"the four steps, exponent over {what}", "linear", "1.00", f"{slope:.2f}", 1 / slope, None
            )
    adult = adult_3()
    if adult is None:
        print("Adult: skipped, NBCFAST_DATA is not set", file=sys.stderr)
    else:
        for rows, limit in (("proven", 0.03), ("smallest", 1.0)):
            release = safety_transform(adult, 4, rows=rows)
            assert compare(adult, release.views).equal
            assert safety.at_most(release.views, 4)
            run = partial(safety_transform, adult, 4, rows=rows)
            yield within(f'Adult-3, rows="{rows}"', limit, *medians([run], rounds, time.perf_counter))
            if rows == "smallest":
                n_rows = release.views.n_rows
                yield Row('Adult-3, rows="smallest"', "rows, a limit", "3e6", f"{n_rows:,}", 3e6 / n_rows, 1)
    for domain, limit in LARGE.items() if not quick else ():
        views = of_domain(domain)
        found: list[Any] = []
        run = lambda views=views, found=found: found.append(margin(views, threads=1))  # noqa: E731
        (once,) = medians([run], min(rounds, 3), time.perf_counter)
        ratio = plain_equivalence.ratio(views, found[-1].witness, *found[-1].classes)
        assert abs(found[-1].log - plain_equivalence.log(ratio)) <= 2**-50 * found[-1].log
        yield within(f"margin, {domain} tuples, one thread", limit, once)
        for what, factor in (("that differ", 10**4), ("nearly equal", 10**13)):
            other = nearly(views, factor)
            start = time.perf_counter()
            answer = compare(views, other, threads=1)
            once = time.perf_counter() - start
            assert answer.differing is not None
            assert answer.equal == (answer.differing == 0)
            yield within(f"compare two {what}, {domain} tuples", 2 * limit, once)


def wide_views() -> Iterator[Row]:
    """1,000 binary attributes, on the proven path, the file included."""
    for n_classes, preserve in WIDE:
        done = run_module("against.publishing", str(n_classes), preserve)
        if done.returncode:
            raise AssertionError(done.stderr)
        found = json.loads(done.stdout)
        job = f"1,000 binary attributes, {n_classes} classes, {preserve}, saved"
        yield within(job, WIDE_SECONDS, found["seconds"])
        cells = [f"{size / (1 << 20):.0f} MiB" for size in (WIDE_BYTES, found["bytes"])]
        yield Row(job, "memory of the process, a limit", *cells, WIDE_BYTES / found["bytes"], 1)


def one_wide(n_classes: int, preserve: Any) -> dict[str, float]:
    views = wide(1000, n_classes)
    start = time.perf_counter()
    release = safety_transform(views, 4, rows="proven", preserve=preserve)
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release")
        seconds = time.perf_counter() - start
        assert nbcfast.load(Path(folder) / "release") == release
    return {"seconds": seconds, "bytes": kib("VmHWM") * 1024}


def publishing(rounds: int, quick: bool) -> Iterator[Row]:
    yield from against_reference(rounds)
    yield from against_gmpy2(rounds)
    yield from limits(rounds, quick)
    if quick:
        return
    if STATUS.exists():
        yield from wide_views()
    else:
        print(f"wide views: skipped, no {STATUS}", file=sys.stderr)


if __name__ == "__main__":
    print(json.dumps(one_wide(int(sys.argv[1]), sys.argv[2])))
