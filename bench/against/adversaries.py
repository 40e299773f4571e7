"""Adversaries and r-closeness: against the exact reference and against limits of time."""

import random
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from against.publishing import same, within
from shared.clock import Form, Row, medians, race
from shared.publishing import adult_3

import nbcfast
from nbcfast import Viewset, attack, closeness, compare
from nbcfast.reference import attack as plain_attack
from nbcfast.reference import closeness as plain_closeness

QUARTER = {">50K": "0.25", "<=50K": "0.75"}
TENTHS = {c: Fraction(c + 1, 10) for c in range(4)}


def known_and_others(of_class: list[int], rows: list[list[int]]) -> Viewset:
    """Two values an attribute: the known one, and all others."""
    return Viewset(of_class, [[row, [p - n for p, n in zip(of_class, row, strict=True)]] for row in rows])


def four_classes() -> Viewset:
    """1,080 tuples without a zero count."""
    rng, total = random.Random(7), 3_000
    arrays = []
    for size in (12, 10, 9):
        columns = [[1 + rng.randrange(total // size) for _ in range(size)] for _ in range(4)]
        for column in columns:
            column[0] += total - sum(column)
        arrays.append([list(row) for row in zip(*columns, strict=True)])
    return Viewset([total] * 4, arrays)


def against_reference(rounds: int) -> Iterator[Row]:
    small = known_and_others([30, 60], [[12, 20], [15, 33], [11, 40]])
    known = dict.fromkeys(small.attributes, 0)
    classes = four_classes()

    def achieved() -> tuple[Fraction | None, Fraction | None]:
        found = closeness.achieved(classes, TENTHS)
        return found.definition5.value, found.r

    jobs = {
        "posterior over worlds, 90 rows, 3 values known": (
            lambda: list(attack.posterior(small, known).values()),
            lambda: plain_attack.posterior(small, known, "worlds"),
            "Fractions",
        ),
        "achieved r, 1,080 tuples, 4 classes": (
            achieved,
            lambda: plain_closeness.achieved(classes, TENTHS),
            "Fractions over all tuples",
        ),
    }
    for job, (ours, reference, how) in jobs.items():
        peers = {"nbcfast.reference": [Form(how, reference)]}
        yield from race(job, 1, Form("native", ours), peers, same, rounds)


def limits(rounds: int) -> Iterator[Row]:
    large = known_and_others(
        [100_000] * 2, [[50_000, 40_000], [50_000, 30_000], [60_000, 50_000], [40_000, 70_000]]
    )
    known = dict.fromkeys(large.attributes, 0)
    run = partial(attack.posterior, large, known, exact=False)
    assert run().error < 1e-12
    yield within(
        "posterior over worlds, 1e5 rows a class, n = 4", 0.5, *medians([run], rounds, time.perf_counter)
    )
    adult = adult_3()
    if adult is None:
        print("Adult: skipped, NBCFAST_DATA is not set", file=sys.stderr)
        return
    values = {"age": 39, "education_num": 13, "hours_per_week": 40}
    run = partial(attack.posterior, adult, values, exact=False)
    yield within("posterior over worlds, Adult-3", 0.05, *medians([run], rounds, time.perf_counter))
    release = nbcfast.safety_transform(adult, 4)
    for convention, limit in (("row", 2.0), ("worlds", 2.0)):
        search = partial(attack.worst, release, convention)
        found = search()
        assert found.certified
        assert float(found.ratio) <= (4 if convention == "row" else 8)
        yield within(
            f"worst case, Adult-3, all subsets, {convention}",
            limit,
            *medians([search], rounds, time.perf_counter),
        )
    made = partial(closeness.est, adult, QUARTER, 4, rows="proven")
    published = made()
    assert compare(adult, published.views).equal
    assert closeness.achieved(published.views, QUARTER).r <= 4
    yield within("EST, Adult-3, r = 4, proven", 0.05, *medians([made], rounds, time.perf_counter))


def adversaries(rounds: int) -> Iterator[Row]:
    yield from against_reference(rounds)
    yield from limits(rounds)
