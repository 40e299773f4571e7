"""Canonical releases: limits of time, and what they are worth beside the k-th root, on Adult.

`python bench/study.py canonical` prints the comparison as a table in Markdown. Needs NBCFAST_DATA.
"""

import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from against.publishing import within
from shared.clock import Row, medians
from shared.publishing import views_of

import nbcfast
from nbcfast import Viewset, attack, canonical, compare, margin, safety
from nbcfast.published.release import Release
from nbcfast.reference import canonical as plain
from nbcfast.transform import fill_zeros, scale
from nbcfast.views.quality import evaluate

CLASS = "income"
RICH_FIRST, RICH_LAST = (">50K", "<=50K"), ("<=50K", ">50K")
SMALL = ["age", "education_num"]
THREE = [*SMALL, "hours_per_week"]
SEVEN = ["workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country"]
TEN = [*THREE, *SEVEN]
LAMBDAS = (4, 10, 100)
CENSUS = [16, 7, 14, 6, 5, 9, 2, 12]  # 1e7 tuples, as of a binned census
RANGES = {
    (RICH_FIRST, "3"): 3565,
    (RICH_LAST, "3"): 1781,
    (RICH_FIRST, "2"): 9,
}  # of least weights, to be met


def table_of(names: list[str], class_name: str = CLASS) -> nbcfast.Table | None:
    """Columns of the training rows of Adult; None without NBCFAST_DATA."""
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        return None
    return nbcfast.read_csv(Path(folder) / "adult-train.csv", columns=[*names, class_name])


def views_of_adult(names: list[str], classes: tuple[str, ...]) -> Viewset | None:
    table = table_of(names)
    return None if table is None else nbcfast.count(table, CLASS, classes=classes)


@dataclass(frozen=True)
class Worth:
    """What a release is worth, and what it gives away."""

    margin_over_range: float  # of the logarithms of scores: what few rows and few bits depend on
    bits: int  # of a number: of points, or of roots
    n_rows: int
    log_loss: float
    recovered: attack.TotalsAttack

    @classmethod
    def of(cls, release: Release, views: Viewset, table: nbcfast.Table, amplification: int) -> "Worth":
        published = release.views
        assert compare(views, published, preserve="label").equal
        assert safety.at_most(published, amplification)
        if release.certificate.method == "canonical":
            points = [
                number for _, _, rows in release.scorecard().attributes for row in rows for number in row
            ]
            bits = max(points).bit_length()
            solution = canonical.solve(canonical.box(views))
            ratio = float(solution.margin / solution.range)
        else:
            filled = fill_zeros(views)
            bits = scale(filled, amplification).bits
            ratio = min(margin(views).log, math.log(2)) / filled.log_amplification
        loss = evaluate(published, table, CLASS).log_loss
        return cls(ratio, bits, published.n_rows, loss, attack.totals(release, views))

    def cells(self) -> list[str]:
        attacked = self.recovered
        return [
            f"{self.margin_over_range:.2g}",
            str(self.bits),
            f"{self.n_rows:,}",
            f"{self.log_loss:.4f}",
            f"{attacked.found} of {attacked.cells}",
        ]


def in_tens(table: nbcfast.Table) -> nbcfast.Table:
    """Age and hours in bins that are fixed in advance: a coarse domain."""
    table = table.bin("age", edges=range(10, 101, 10))
    return table.bin("hours_per_week", edges=[*range(0, 90, 10), math.inf])


def both(
    names: list[str], classes: tuple[str, ...], amplification: int, coarse: bool = False
) -> tuple[Worth, Worth] | None:
    """Of the k-th root and of the canonical release."""
    table = table_of(names)
    if table is None:
        return None
    if coarse:
        table = in_tens(table)
    views = nbcfast.count(table, CLASS, classes=classes)
    releases = (nbcfast.safety_transform(views, amplification), canonical.release(views, amplification))
    old, new = (Worth.of(release, views, table, amplification) for release in releases)
    return old, new


def comparison() -> Iterator[str]:
    """The table of docs/evaluation.md."""
    heads = ["margin / range", "bits", "rows", "log-loss", "counts recovered"]
    yield "| Adult | lambda | method | " + " | ".join(heads) + " |"
    yield "| --- | ---: | --- | " + " | ".join(["---:"] * len(heads)) + " |"
    cases = [
        (SMALL, RICH_FIRST, (4,), False),
        (THREE, RICH_FIRST, (4,), True),
        (THREE, RICH_FIRST, LAMBDAS, False),
        (THREE, RICH_LAST, LAMBDAS, False),
        (TEN, RICH_FIRST, (4,), False),
    ]
    for names, classes, lambdas, coarse in cases:
        for amplification in lambdas:
            found = both(names, classes, amplification, coarse)
            if found is None:
                return
            bins = ", in tens" if coarse else ""
            what = f"{len(names)} attributes{bins}, ties to `{classes[-1]}`"
            for method, worth in zip(("k-th root", "canonical"), found, strict=True):
                yield f"| {what} | {amplification} | {method} | " + " | ".join(worth.cells()) + " |"


def small_against_reference() -> None:
    """Labels and weights are those of exact fractions over all tuples."""
    for seed in range(5):
        sizes = [2 + seed % 3, 3, 2]
        views = views_of(sizes)
        rng = np.random.default_rng(seed)
        arrays = [array + rng.integers(0, 900, array.shape) for array in views.counts.values()]
        most = np.max([array.sum(axis=0) for array in arrays], axis=0)
        for array in arrays:
            array[0] += most - array.sum(axis=0)
        views = Viewset(most, arrays)
        found = canonical.box(views)
        labels = plain.box(views)
        assert found.enumerate().reshape(-1).tolist() == list(labels.values())
        weights = plain.solve(labels)
        for i, row in enumerate(weights):
            assert [score for (score,) in canonical.solve(found).scores[i]] == list(map(Fraction, row))
        made = canonical.release(views, 4)
        assert compare(views, made.views, preserve="label").equal
        assert canonical.release(made.views, 4).views == made.views


def canonical_releases(rounds: int, quick: bool) -> Iterator[Row]:
    """Rows for peers.py: limits of time, and ratios against the k-th root."""
    small_against_reference()
    census = views_of(CENSUS)
    run = partial(canonical.release, census, 4)
    assert canonical.release(run().views, 4).views == run().views
    yield within(
        "canonical release, binned census, 1e7 tuples", 0.5, *medians([run], rounds, time.perf_counter)
    )
    patients = nbcfast.read_csv(Path(__file__).resolve().parents[2] / "examples" / "patients.csv")
    metered = partial(
        canonical.leak, nbcfast.count(patients, "diagnosis"), table=patients, class_name="diagnosis"
    )
    assert (metered().exact, metered().flip, metered().trace) == (True, 0, 0.0064)
    yield within("leak meter, patients, everybody", 0.1, *medians([metered], rounds, time.process_time))
    adult = views_of_adult(THREE, RICH_FIRST)
    if adult is None:
        print("Adult: skipped, NBCFAST_DATA is not set", file=sys.stderr)
        return
    for (classes, number), expected in RANGES.items():
        views = views_of_adult(THREE if number == "3" else SMALL, classes)
        assert views is not None
        solution = canonical.solve(canonical.box(views))
        assert solution.reproducible
        assert solution.range / solution.margin == expected
    found = canonical.box(adult)
    solved = partial(canonical.solve, found)
    yield within("canonical weights, Adult-3", 0.2, *medians([solved], rounds, time.perf_counter))
    made = partial(canonical.release, adult, 4)
    yield within("canonical release, Adult-3", 1.0, *medians([made], rounds, time.perf_counter))
    table = table_of(THREE, "marital_status")
    assert table is not None
    marital = nbcfast.count(table, "marital_status")
    seven = partial(canonical.release, marital, 4)
    assert compare(marital, seven().views, preserve="label").equal
    yield within(
        "canonical release, 7 classes, 1.1e5 tuples",
        3.0,
        *medians([seven], min(rounds, 3), time.perf_counter),
    )
    worth = both(THREE, RICH_FIRST, 4)
    assert worth is not None
    old, new = worth
    assert new.log_loss < old.log_loss
    assert (new.recovered.found, new.recovered.cells) == (124, 183)
    attacking = partial(attack.totals, canonical.release(adult, 4), adult)
    yield within("totals attack, Adult-3", 0.05, *medians([attacking], rounds, time.process_time))
    people = table_of(THREE)
    assert people is not None
    metered = partial(canonical.leak, adult, table=people, class_name=CLASS)
    assert round(metered().flip, 4) == 0.0027
    yield within("leak meter, Adult-3, everybody", 1.0, *medians([metered], rounds, time.process_time))
    ratio = new.margin_over_range / old.margin_over_range
    cells = [f"{one.margin_over_range:.2g}" for one in worth]
    yield Row("margin / range, Adult-3", "k-th root", *cells, ratio, 40)
    cells = [f"{one.n_rows:,}" for one in worth]
    yield Row("rows at lambda = 4, Adult-3", "k-th root", *cells, old.n_rows / new.n_rows, 2)
    if quick:
        return
    ten = views_of_adult(TEN, RICH_FIRST)
    assert ten is not None
    largest = partial(canonical.release, ten, 4)
    yield within("canonical release, Adult-10", 15.0, *medians([largest], 1, time.perf_counter))


if __name__ == "__main__":
    for line in comparison():
        print(line, flush=True)
