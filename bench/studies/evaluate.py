"""python bench/study.py evaluate: what is left of a published classifier, on Adult (section 8).

The 48,842 rows of adult-train.csv and adult-test.csv are split in halves; naive Bayes is trained on the one
and measured on the other: accuracy, recall of >50K, log-loss, and how far posteriors are off the shares of
the classes (r, in both forms). Prints a table and draws a plot (--plot, needs matplotlib). Needs
NBCFAST_DATA.

Every release has to give the labels that the private classifier gives, so accuracy and recall do not depend
on lambda: what it costs is certainty, which the log-loss shows. That of the original is infinite where a row
has a value that its class never had in the first half.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from shared.boxes import of_boxes

import nbcfast
from nbcfast import Table, Viewset, closeness, safety, skyline
from nbcfast.views.quality import evaluate

CLASS, RICH = "income", ">50K"
COLUMNS = (
    "age",
    "workclass",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
)
LAMBDAS = ("1.5", "2", "4", "8", "16", "32", "64", "128", "238", "512", "1000")
TIMES = ("1.1", "1.5", "2", "4", "16", "64")  # r of EST, as multiples of the least that it comes to
KS = (2, 5, 10, 20, 50, 100, 200)
SEED = 2009


@dataclass(frozen=True)
class Halves:
    """The same domains in both halves, and what is trained on the first."""

    train: Table
    test: Table
    views: Viewset

    @property
    def prior(self) -> dict[str, Fraction]:
        counts = self.views.class_counts.tolist()
        return {
            label: Fraction(count, sum(counts))
            for label, count in zip(self.views.classes, counts, strict=True)
        }


@dataclass(frozen=True)
class Point:
    """One classifier, measured on the second half; R is infinite where some posterior is 0."""

    series: str
    parameter: str
    accuracy: float
    recall: float
    log_loss: float
    odds: float  # ln r of Statement 11
    posterior: float  # ln r of Definition 5
    rows: int | None = None


def halves(folder: Path, columns: tuple[str, ...], seed: int = SEED) -> Halves:
    names = [*columns, CLASS]
    both = nbcfast.concat(
        [nbcfast.read_csv(folder / name, columns=names) for name in ("adult-train.csv", "adult-test.csv")]
    )
    order = np.random.default_rng(seed).permutation(both.n_rows)
    domains = {name: both.domain(name) for name in names}
    parts = [
        Table(
            {name: [domains[name][code] for code in both.codes(name)[rows].tolist()] for name in names},
            domains=domains,
        )
        for rows in (np.sort(order[: both.n_rows // 2]), np.sort(order[both.n_rows // 2 :]))
    ]
    views = nbcfast.count(parts[0], CLASS, columns, classes=(RICH, "<=50K"))
    return Halves(parts[0], parts[1], views)


def truth(data: Halves) -> np.ndarray:
    """Whether each row of the second half is rich."""
    place = data.test.domain(CLASS).index(RICH)
    return np.asarray(data.test.codes(CLASS) == place)


def measured(data: Halves, views: Viewset, series: str, parameter: str, rows: int | None = None) -> Point:
    quality = evaluate(views, data.test, CLASS)
    rich, said = truth(data), views.predict(data.test) == RICH
    assert quality.correct == int((rich == said).sum())
    found = closeness.achieved(views, data.prior)
    return Point(
        series,
        parameter,
        quality.accuracy,
        float(said[rich].mean()),
        quality.log_loss,
        found.statement11.log,
        found.definition5.log,
        rows,
    )


# One function a series: from the halves to its points. ----------------------------------------------------


def original(data: Halves) -> Iterator[Point]:
    yield measured(data, data.views, "original", "")


def safety_transform(data: Halves) -> Iterator[Point]:
    labels = data.views.predict(data.test)
    for amplification in LAMBDAS:
        release = nbcfast.safety_transform(data.views, amplification, rows="proven")
        assert release.certificate.equal
        assert safety.at_most(release.views, amplification)
        assert np.array_equal(release.predict(data.test), labels)
        yield measured(data, release.views, "SafetyTransform", amplification, release.views.n_rows)


def est(data: Halves) -> Iterator[Point]:
    labels = data.views.predict(data.test)
    least = closeness.best(data.views, data.prior).r
    assert isinstance(least, Fraction)
    for times in TIMES:
        r = (least * Fraction(times)).limit_denominator(1000)
        release = closeness.est(data.views, data.prior, r, rows="proven")
        assert release.certificate.equal
        assert np.array_equal(release.predict(data.test), labels)
        point = measured(data, release.views, "EST", f"{float(r):.4g}", release.views.n_rows)
        assert point.posterior <= point.odds <= math.log(r) + 1e-12
        yield point


def mondrian(data: Halves) -> Iterator[Point]:
    """Naive Bayes on k-anonymous tables: a person counts for each value of his box in equal parts."""
    for k in KS:
        partition = skyline.anonymize(data.train, data.views.attributes, CLASS, k=k)
        assert int(partition.groups.sizes.min()) >= k
        views = of_boxes(data.train, data.views, CLASS, partition)
        assert views.is_realistic()
        yield measured(data, views, "k-anonymous", str(k), partition.n_groups)


SERIES: tuple[Callable[[Halves], Iterator[Point]], ...] = (original, safety_transform, est, mondrian)


# What is shown --------------------------------------------------------------------------------------------


def number(value: float, digits: int = 4) -> str:
    return "∞" if math.isinf(value) else f"{value:.{digits}f}"


def ratio(log: float) -> str:
    if math.isinf(log):
        return "∞"
    return f"{math.exp(log):.4g}" if log < 20 else f"e^{log:.1f}"


def table(points: list[Point]) -> str:
    head = (
        "classifier",
        "lambda, r or k",
        "accuracy",
        "recall of >50K",
        "log-loss",
        "r (odds)",
        "r (posterior)",
    )
    lines = ["| " + " | ".join(head) + " |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for point in points:
        cells = (
            point.series,
            point.parameter,
            number(point.accuracy),
            number(point.recall),
            number(point.log_loss),
            ratio(point.odds),
            ratio(point.posterior),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def height(log: float) -> float:
    """As a ratio that can be drawn; what is infinite, or nearly so, is left out."""
    return math.exp(log) if log < 14 else math.nan


def draw(points: list[Point], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    whole = next(point for point in points if point.series == "original")
    for axes, what, field in ((left, "accuracy", "accuracy"), (left, "recall of >50K", "recall")):
        line = axes.axhline(getattr(whole, field), linestyle=":", color="C7" if field == "recall" else "C0")
        line.set_label(f"original, {what}")
    for name in dict.fromkeys(point.series for point in points if point.parameter):
        chosen = [point for point in points if point.series == name]
        at = [float(point.parameter) for point in chosen]
        left.plot(at, [point.accuracy for point in chosen], marker=".", label=f"{name}, accuracy")
        left.plot(at, [point.recall for point in chosen], marker=".", label=f"{name}, recall")
        middle.plot(at, [point.log_loss for point in chosen], marker=".", label=name)
        right.plot(at, [height(point.odds) for point in chosen], marker=".", label=f"{name}, odds")
        right.plot(at, [height(point.posterior) for point in chosen], marker=".", label=f"{name}, posterior")
    middle.axhline(math.log(2), linestyle=":", color="black", label="a coin")
    for axes, title in ((left, "decisions"), (middle, "log-loss"), (right, "r achieved")):
        axes.set_xscale("log")
        axes.set_xlabel("lambda, r of EST, or k")
        axes.set_title(title)
        axes.legend(fontsize=7)
    left.set_ylim(0, 1)
    right.set_yscale("log")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--columns", default=",".join(COLUMNS), help="attributes, separated by commas")
    parser.add_argument("--plot", type=Path, default=Path("evaluate.png"), help="where the plot goes")
    parser.add_argument("--no-plot", action="store_true", help="the table alone")
    options = parser.parse_args()
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        print("set NBCFAST_DATA to the folder that holds adult-train.csv", file=sys.stderr)
        return 2
    data = halves(Path(folder), tuple(options.columns.split(",")))
    bound = closeness.lower_bound(data.views, data.prior)
    points = [point for series in SERIES for point in series(data)]
    print(table(points))
    print()
    shares = ", ".join(f"{label} {float(share):.4f}" for label, share in data.prior.items())
    print(
        f"{data.train.n_rows} rows to learn from, {data.test.n_rows} to measure on, prior {shares}. "
        f"No equivalent classifier has r below {float(bound.statement11):.4f} (odds) or "
        f"{float(bound.definition5):.4f} (posterior)."
    )
    if not options.no_plot:
        draw(points, options.plot)
        print(f"plot: {options.plot}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
