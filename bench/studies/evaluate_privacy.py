"""python bench/study.py privacy: every method beside the others, with noise and without.

On Adult, German credit, CRX and Breast Cancer, for the counts as they are, the canonical release,
SafetyTransform, EST, differential privacy (alone, and the canonical release of it), randomised response of
the same epsilon, and k-anonymous tables: accuracy, agreement with the exact classifier and log-loss on rows
that nothing was learned from; counts that the totals attack finds; membership; and whose class could be
another without an answer, or a published number, changing. Prints the tables of docs/evaluation-privacy.md,
and draws them (--plot, needs matplotlib). Needs NBCFAST_DATA.

Coins come from keys that are written down here, so that every figure can be made again.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from shared.clock import machine
from shared.public_sets import SETS, PublicSet
from studies import published
from studies.published import EPSILONS, Published

from nbcfast import Viewset, attack, canonical
from nbcfast.canonical.leakage import Leak
from nbcfast.canonical.leave_one_out import rows_of, sample_of
from nbcfast.published.release import Release
from nbcfast.views.noise import FEW_ATTRIBUTES
from nbcfast.views.quality import evaluate

RUNS = 10
PEOPLE = 10  # whose class is exchanged, to see whether published numbers change
EXACT_NUMBERS = 0.0  # of people whose class can be exchanged without a count changing


class Worth(NamedTuple):
    """One run, measured."""

    accuracy: float
    agreement: float
    log_loss: float
    found: float
    near: float
    auc: float


@dataclass
class Line:
    """A line of the table: the runs of one method with one parameter."""

    series: str
    parameter: str
    runs: list[Worth] = field(default_factory=list)
    # Of people whose class is exchanged, how many change no answer, and how many no published number; or why
    # that is not said.
    answers: str = ""
    numbers: str = ""

    def values(self, name: str) -> list[float]:
        return [getattr(run, name) for run in self.runs]

    def mean(self, name: str) -> float:
        return statistics.fmean(self.values(name))

    def deviation(self, name: str) -> float | None:
        """The standard deviation of one run; None of a single one, and of what is infinite."""
        values = self.values(name)
        return statistics.stdev(values) if len(values) > 1 and math.isfinite(sum(values)) else None


@dataclass
class Measured:
    """All lines of one data set, and what stands beside them."""

    data: PublicSet
    lines: list[Line]
    cells: int
    null_found: int
    null_near: int
    auc_error: float
    seconds: float


class Ruler:
    """Measures what is published of one set."""

    def __init__(self, data: PublicSet) -> None:
        self.data = data
        self.labels = data.views.predict(data.test, codes=True)
        self.auc_error = math.nan
        self.null = attack.totals(data.views, data.views)

    def worth(self, one: Published) -> Worth:
        data, views = self.data, one.views
        quality = evaluate(views, data.test, data.class_name)
        same = views.predict(data.test, codes=True) == self.labels
        found = attack.totals(one.release, data.views, alpha=1 if one.series == published.SMOOTHED else None)
        members = attack.membership(views, data.train, data.test, data.class_name)
        self.auc_error = members.standard_error
        return Worth(
            quality.accuracy, float(same.mean()), quality.log_loss, found.found, found.near, members.auc
        )


# Whose class could be another -----------------------------------------------------------------------------


def exchanged(views: Viewset, codes: Iterable[int], old: int, new: int) -> Viewset:
    """The counts where one person with these values has another class."""
    class_counts = views.class_counts.copy()
    arrays = {name: array.copy() for name, array in views.counts.items()}
    for c, more in ((old, -1), (new, 1)):
        class_counts[c] += more
        for array, code in zip(arrays.values(), codes, strict=True):
            array[code, c] += more
    return Viewset.from_parts(class_counts, arrays, views.class_domain, views.domains)


def unchanged_numbers(data: PublicSet, make: Callable[[Viewset], Release], people: int) -> tuple[int, int]:
    """How many of so many people change no published number by another class, whichever, and of how many.

    Drawn at random, the same ones in every run.
    """
    drawn = sample_of(rows_of(data.train, data.class_name, data.views), people)
    before, kept = make(data.views).views, 0
    n_classes = len(data.views.classes)
    rows = zip(drawn.codes.tolist(), drawn.of_class.tolist(), drawn.weights.tolist(), strict=True)
    for codes, old, weight in rows:
        others = (new for new in range(n_classes) if new != old)
        if all(make(exchanged(data.views, codes, old, new)).views == before for new in others):
            kept += weight
    return kept, drawn.n_people


def share_text(shown: int, people: int, everybody: bool) -> str:
    """The share that does not show, and of how many people where it is a sample."""
    if everybody:
        return figure((people - shown) / people) + (f" ({shown} show)" if 0 < shown < people else "")
    return f"{people - shown} of {people:,}"


def answers_text(leak: Leak) -> str:
    return share_text(leak.shows_class, leak.sampled, leak.exact)


def people_texts(data: PublicSet, lines: list[Line]) -> None:
    """What is known of exchanged classes, in the lines of the methods without coins."""
    leaks = {
        alpha: answers_text(
            canonical.leak(data.views, alpha=alpha, table=data.train, class_name=data.class_name)
        )
        for alpha in (None, 1)
    }
    small = data.views.n_tuples <= published.LARGE
    makers = {published.ROOTS: published.safety_transform, published.EST: published.est}
    for line in lines:
        smoothed = line.series in (published.SMOOTHED, published.CANONICAL_SMOOTHED)
        if line.series in (published.CANONICAL, published.CANONICAL_SMOOTHED):
            line.answers = line.numbers = leaks[1 if smoothed else None]  # numbers are made of answers alone
        elif line.series in (published.EXACT, published.SMOOTHED):
            line.answers, line.numbers = leaks[1 if smoothed else None], figure(EXACT_NUMBERS)
        elif line.series in makers:
            line.answers = leaks[None]
            kept = unchanged_numbers(data, makers[line.series], PEOPLE) if small else None
            line.numbers = "not measured" if kept is None else f"{kept[0]} of {kept[1]}"
        elif line.series == published.BOXES:
            # The table has the classes of every group, so that each exchange changes it.
            line.answers, line.numbers = "not measured", figure(EXACT_NUMBERS)


def odds_text(log_odds: float) -> str:
    """How far what is published moves the odds of two classes at most, for whoever knows all the rest.

    Rounded up, to four digits or, of what bounds nobody, to one.
    """
    digits = 4 if log_odds < math.log(1e4) else 1
    odds = Decimal(math.exp(log_odds)).normalize(Context(digits, ROUND_CEILING))
    return f"odds up to x {odds:f}" if digits == 4 else f"odds up to x {odds:.0e}"


def exception_text(delta: Fraction, epsilon: float) -> str:
    """But for which chance, of two steps that are (epsilon, delta)-private each; nothing where delta is 0."""
    chance = float(delta) * (1 + math.exp(epsilon))
    return f" but for {Decimal(chance).normalize(Context(1, ROUND_CEILING)):.0e}" if delta else ""


# The runs --------------------------------------------------------------------------------------------------


def fixed(data: PublicSet, ruler: Ruler) -> Iterator[Line]:
    """Methods without coins."""
    for one in (*published.equivalent(data), *published.anonymous(data)):
        line = Line(one.series, one.parameter, [ruler.worth(one)])
        if one.series in (published.CANONICAL, published.ROOTS, published.EST):
            assert line.runs[0].agreement == 1
        yield line


def drawn(data: PublicSet, ruler: Ruler, epsilons: Iterable[str], runs: int) -> Iterator[Line]:
    """Methods with coins, one epsilon after the other."""
    n = len(data.views.attributes)
    for epsilon in epsilons:
        parameter, number = f"epsilon {epsilon}", float(epsilon)
        noisy, rounded = Line(published.NOISY, parameter), Line(published.NOISY_CANONICAL, parameter)
        gaussian, told = Line(published.GAUSSIAN, parameter), Line(published.RANDOMISED, parameter)
        canonical_runs = published.runs_of_canonical(data, runs)
        for run in range(runs):
            counts = published.noisy(data, epsilon, run)
            noisy.runs.append(ruler.worth(Published(noisy.series, parameter, counts)))
            if run < canonical_runs:
                release = published.noisy_canonical(counts)
                rounded.runs.append(ruler.worth(Published(rounded.series, parameter, release)))
                assert rounded.runs[-1].accuracy == noisy.runs[-1].accuracy
            if n >= FEW_ATTRIBUTES:
                other = published.with_delta(data, epsilon, run)
                gaussian.runs.append(ruler.worth(Published(gaussian.series, parameter, other)))
                gaussian.numbers = odds_text(2 * number) + exception_text(other.noise.delta, number)
            answers = published.randomised(data, epsilon, run)
            told.runs.append(ruler.worth(Published(told.series, parameter, answers)))
        # Another class is one row less and one more; what is randomised is the class alone.
        noisy.numbers = rounded.numbers = odds_text(2 * number)
        told.numbers = odds_text(number / (n + 1))
        for line in (noisy, gaussian, rounded, told):
            line.answers = "coins"
            if line.runs:
                yield line


def measure(data: PublicSet, epsilons: Iterable[str] = EPSILONS, runs: int = RUNS) -> Measured:
    """All methods on one set; deterministic."""
    start = time.perf_counter()
    ruler = Ruler(data)
    without = list(fixed(data, ruler))
    people_texts(data, without)
    with_coins = list(drawn(data, ruler, epsilons, runs))
    order = list(dict.fromkeys(line.series for line in (*without, *with_coins)))
    order.append(order.pop(order.index(published.BOXES)))  # after the methods with coins
    lines = sorted((*without, *with_coins), key=lambda line: order.index(line.series))
    null = ruler.null
    return Measured(
        data,
        lines,
        null.cells,
        null.null_found,
        null.null_near,
        ruler.auc_error,
        time.perf_counter() - start,
    )


# What is shown ---------------------------------------------------------------------------------------------

HEADS = (
    "method",
    "parameter",
    "accuracy",
    "as the exact one",
    "log-loss",
    "found",
    "near",
    "membership AUC",
    "flip: answers",
    "flip: numbers",
)


def figure(value: float, digits: int = 4) -> str:
    return "∞" if math.isinf(value) else f"{value:.{digits}f}"


def spread(line: Line, name: str, digits: int = 4) -> str:
    """Mean and standard deviation, or the one value."""
    text, deviation = figure(line.mean(name), digits), line.deviation(name)
    return text if deviation is None else f"{text} ± {figure(deviation, digits)}"


def cells(line: Line) -> list[str]:
    whole = 0 if len(line.runs) == 1 else 1
    # Its decisions are those of the noisy classifier, of which there are more runs.
    few = line.series == published.NOISY_CANONICAL and len(line.runs) == 1
    return [
        line.series,
        line.parameter,
        "as DP" if few else spread(line, "accuracy"),
        "as DP" if few else spread(line, "agreement"),
        spread(line, "log_loss") + (" (one run)" if few else ""),
        spread(line, "found", whole),
        spread(line, "near", whole),
        spread(line, "auc", 3),
        line.answers,
        line.numbers,
    ]


def about(found: Measured) -> str:
    """The sentence above a table."""
    data, views = found.data, found.data.views
    error = math.sqrt(data.majority * (1 - data.majority) / data.test.n_rows)
    return (
        f"{data.train.n_rows:,} rows to learn from, {data.test.n_rows:,} to measure on; "
        f"{len(views.attributes)} attributes, {views.n_tuples:,} tuples, {found.cells} values that occur. "
        f"Totals alone find {found.null_found} and come near {found.null_near}. Saying the larger class to "
        f"everybody has an accuracy of {data.majority:.4f}. By the draw of the rows such an accuracy has a "
        f"standard error of {error:.3f}, and an AUC one of {found.auc_error:.3f}."
    )


def table(found: Measured) -> str:
    lines = [HEADS, ("---", "---", *["---:"] * (len(HEADS) - 2)), *(cells(line) for line in found.lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(results: list[Measured]) -> str:
    """Accuracy alone, a column for each set."""
    lines: list[list[str]] = [["method", *(found.data.name for found in results)]]
    lines.append(["---", *["---:"] * len(results)])
    lines.append(["the larger class to everybody", *(figure(found.data.majority) for found in results)])
    names = [(line.series, line.parameter) for line in results[0].lines]
    shown = (published.EXACT, published.SMOOTHED, published.NOISY, published.RANDOMISED, published.BOXES)
    for series, parameter in names:
        if series in shown:
            of_sets = [
                [line for line in found.lines if (line.series, line.parameter) == (series, parameter)]
                for found in results
            ]
            texts = [spread(lines_of[0], "accuracy") if lines_of else "no such k" for lines_of in of_sets]
            lines.append([f"{series} {parameter}".strip(), *texts])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(found: Measured) -> str:
    return f"## {found.data.name}\n\n{about(found)}\n\n{table(found)}\n"


def draw(text: str, path: Path) -> None:
    """The pictures of the page, of what was printed: accuracy, and beside the file what is given away."""
    import matplotlib as mpl

    mpl.use("Agg")
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
    privacy_page = importlib.import_module("privacy_page")
    sets = privacy_page.measured_sets(text)
    with mpl.rc_context({"figure.constrained_layout.use": True}):
        privacy_page.draw_accuracy(sets).savefig(path, dpi=160)
        privacy_page.draw_given_away(sets).savefig(path.with_stem(f"{path.stem}-given-away"), dpi=160)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="by default %(default)s")
    parser.add_argument("--epsilons", default=",".join(EPSILONS), help="by default %(default)s")
    parser.add_argument("--runs", type=int, default=RUNS, help="throws of coins, by default %(default)s")
    parser.add_argument("--plot", type=Path, help="a file for the first picture; the second stands beside it")
    options = parser.parse_args()
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        print("set NBCFAST_DATA to the folder that holds adult-train.csv", file=sys.stderr)
        return 2
    names, epsilons = options.sets.split(","), options.epsilons.split(",")
    unknown = [name for name in names if name not in SETS]
    if unknown or options.runs < 1:
        parser.error(f"expected sets of {', '.join(SETS)} and at least one run")
    print("; ".join(machine()), file=sys.stderr)
    results = []
    for name in names:
        found = measure(SETS[name](Path(folder)), epsilons, options.runs)
        results.append(found)
        print(f"{name}: {found.seconds:.0f} s", file=sys.stderr)
        print(section(found), flush=True)
    print(f"## Accuracy\n\n{summary(results)}\n")
    if options.plot is not None:
        draw("\n".join(map(section, results)), options.plot)
        print(f"plot: {options.plot}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
