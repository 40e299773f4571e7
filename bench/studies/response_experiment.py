"""python bench/study.py response: figures 1 and 2 of Zhan, Chang, Matwin (2004), section 4.2.

For 13 thetas and 100 repetitions: disguise the training records (two-valued by the middle of each range, a
coin for all attributes, the class left alone), train naive Bayes, test on plain records. Prints mean and
variance of the accuracy and draws both figures (--plot FILE.svg). Beside the paper's scheme stand, at the
same theta, the class put into the group and a coin for each attribute; and, at the epsilon of that coin,
k-ary answers about the values themselves (epsilon for each attribute), and answers of which all together are
epsilon-LDP (each attribute has its share of epsilon). Needs NBCFAST_DATA.

The paper names no split and prints no numbers. Ours is one for both data sets, fixed before its figures were
looked at: numpy's default_rng(0).permutation of the rows, the first two thirds for training. Means of other
splits lie further off than the coins make them vary (--split S takes another seed), so what the figures have
to show is a shape: plain naive Bayes at 0 and 1, the same law at theta and 1 - theta, and towards 1/2 a mean
that falls and a variance that rises, to about the majority share and its peak at .51. TABLE holds
the means of another split; a star marks those that are off it by more than 4 standard errors.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

import nbcfast
from nbcfast import Table, response
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.schemes import AnyScheme

THETAS = ("0", "0.1", "0.2", "0.3", "0.4", "0.45", "0.51", "0.55", "0.6", "0.7", "0.8", "0.9", "1")
REPETITIONS = 100

# Of another split: theta -> mean, variance.
TABLE = {
    "Breast Cancer": {
        "1": (0.9649, 0.0),
        "0.9": (0.960, 8e-5),
        "0.8": (0.956, 1.5e-4),
        "0.7": (0.950, 3.9e-4),
        "0.6": (0.923, 2.6e-3),
        "0.55": (0.845, 2.0e-2),
        "0.51": (0.668, 7.6e-2),
    },
    "Breast Cancer, class in the group": {
        "1": (0.9649, 0.0),
        "0.9": (0.963, 3e-5),
        "0.8": (0.961, 7e-5),
        "0.7": (0.958, 1e-4),
        "0.6": (0.943, 1.6e-3),
        "0.55": (0.909, 8e-3),
        "0.51": (0.647, 3.5e-2),
    },
    "Adult": {
        "1": (0.7573, 0.0),
        "0.9": (0.745, 1.4e-4),
        "0.8": (0.745, 1.4e-4),
        "0.7": (0.742, 1.5e-4),
        "0.6": (0.740, 2.3e-4),
        "0.55": (0.722, 1.1e-3),
        "0.51": (0.651, 1.0e-2),
    },
}
FIGURES = tuple(TABLE)
SCHEMES = ("paper", "class in", "own coins", "k-ary, e each", "LDP, e in all")


@dataclass
class Figure:
    """One data set, split and made two-valued."""

    name: str
    class_name: str
    train: Table
    test: Table
    raw: tuple[Table, Table]  # the values themselves
    class_in: bool = False

    @property
    def attributes(self) -> list[str]:
        return [name for name in self.train.names if name != self.class_name]

    def run(
        self,
        theta: str,
        rng: np.random.Generator,
        scheme: str = "paper",
        repetitions: int = REPETITIONS,
    ) -> npt.NDArray[np.float64]:
        """The accuracies of all repetitions, to 12 digits: those without coins are all the same."""
        train, test = self.raw if scheme == "k-ary, e each" else (self.train, self.test)
        made = self.scheme(theta, scheme)
        runs = response.simulate(train, test, made, self.class_name, repetitions=repetitions, rng=rng)
        return runs.round(12)

    def scheme(self, theta: str, scheme: str) -> AnyScheme:
        names, p = self.attributes, max(Fraction(theta), 1 - Fraction(theta))
        if scheme == "paper":
            return Scheme(theta, [[*names, self.class_name] if self.class_in else names])
        if scheme == "class in":
            return Scheme(theta, [[*names, self.class_name]])
        if scheme == "own coins":
            return Scheme.per_attribute(theta, names)
        if scheme == "k-ary, e each":
            domains = {name: self.raw[0].domain(name) for name in names}
            domains = {name: values for name, values in domains.items() if len(values) > 1}
            if p == 1:
                return KaryScheme(1, domains)
            odds = p / (1 - p)  # e^epsilon of one coin
            return KaryScheme([odds / (odds + len(values) - 1) for values in domains.values()], domains)
        if p == 1:
            return Scheme.per_attribute(1, names)
        odds = float(p / (1 - p)) ** (1 / len(names))
        # Rounded towards 1/2, so never more than epsilon.
        share = Fraction(int(odds / (odds + 1) * 2**40), 2**40)
        return Scheme.per_attribute(share, names)


def halves(n: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows to train and to test on."""
    places = np.random.default_rng(seed).permutation(n)
    return places[: round(n * 2 / 3)], places[round(n * 2 / 3) :]


def figures(folder: Path, seed: int = 0) -> Iterator[Figure]:
    cancer = nbcfast.read_csv(folder / "breast-cancer-wisconsin.csv")
    nuclei = np.array(cancer.domain("bare_nuclei"))[cancer.codes("bare_nuclei")]
    cancer = cancer.take(nuclei != "?")
    columns = {
        name: np.array(cancer.domain(name))[cancer.codes(name)].astype(np.int64)
        for name in cancer.names
        if name != "sample_code_number"
    }
    split = halves(cancer.n_rows, seed)
    for class_in in (False, True):
        name = "Breast Cancer, class in the group" if class_in else "Breast Cancer"
        yield _figure(name, Table(columns), "class", *split, class_in)
    adult = nbcfast.read_csv(folder / "adult-train.csv").take(np.arange(10_000))
    yield _figure("Adult", adult, "income", *halves(adult.n_rows, seed), False)


def _figure(name: str, table: Table, class_name: str, train, test, class_in: bool) -> Figure:
    attributes = [column for column in table.names if column != class_name]
    two = response.binarise(table, names=attributes)
    halves = [two.take(rows, keep_domains=True) for rows in (train, test)]
    raw = tuple(table.take(rows, keep_domains=True) for rows in (train, test))
    return Figure(name, class_name, halves[0], halves[1], raw, class_in)


def variance_of(runs: npt.NDArray[np.float64]) -> float:
    """That of the sample; exactly 0 where all are the same, whatever their mean is rounded to."""
    return float(runs.var(ddof=1)) if np.ptp(runs) else 0.0


Results = dict[str, dict[str, npt.NDArray[np.float64]]]  # scheme -> theta -> accuracies


COLOURS = ("#1b6ca8", "#d1495b", "#3f8f5f", "#8d6a9f", "#b07d00")
WIDE, HIGH, LEFT, TOP, ACROSS, DOWN = 420, 250, 70, 50, 90, 80


def plot(results: dict[str, Results], file: Path) -> None:
    """Mean and variance against theta, a column for each data set, as an SVG file."""
    parts: list[str] = []
    for column, (name, found) in enumerate(results.items()):
        x0 = LEFT + column * (WIDE + ACROSS)
        means = {
            scheme: [float(runs.mean()) for runs in by_theta.values()] for scheme, by_theta in found.items()
        }
        low = np.floor(min(map(min, means.values())) * 20) / 20
        most = np.ceil(max(map(max, means.values())) * 20) / 20
        steps = [low + 0.05 * i for i in range(round((most - low) * 20) + 1)]
        steps = steps[:: -(-len(steps) // 9)]
        _panel(parts, x0, TOP, f"{name}: mean accuracy", means, low, most, [(y, f"{y:.2f}") for y in steps])
        # Those at 0 and 1 are 0, for which a scale of logarithms has no place.
        spread = {
            scheme: [float(np.log10(v)) if (v := variance_of(runs)) else None for runs in rows.values()]
            for scheme, rows in found.items()
        }
        known = [y for values in spread.values() for y in values if y is not None]
        low, most = np.floor(min(known)), np.ceil(max(known))
        ticks = [(y, f"1e{y:.0f}") for y in np.arange(low, most + 1)]
        title = f"{name}: variance of accuracy (0 at theta 0 and 1)"
        _panel(parts, x0, TOP + HIGH + DOWN, title, spread, low, most, ticks)
    y = TOP + 2 * (HIGH + DOWN) - 6
    for place, (colour, scheme) in enumerate(zip(COLOURS, SCHEMES, strict=True)):
        x = LEFT + 150 * place
        parts.append(f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(_text(x + 30, y + 4, scheme, "start", 13))
    width, height = LEFT + len(results) * (WIDE + ACROSS) - ACROSS + 30, y + 24
    body = "\n".join(parts)
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{body}\n</svg>\n",
        encoding="utf-8",
    )


def _text(x: float, y: float, what: str, anchor: str = "middle", size: int = 11) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{what}</text>'


def _panel(
    parts: list[str],
    x0: float,
    y0: float,
    title: str,
    values: Mapping[str, Sequence[float | None]],
    low: float,
    most: float,
    ticks: list[tuple[float, str]],
) -> None:
    """One pair of axes, and a line a scheme."""

    def at(y: float) -> float:
        return y0 + HIGH - (y - low) / (most - low) * HIGH

    parts.append(_text(x0 + WIDE / 2, y0 - 14, title, size=14))
    for y, text in ticks:
        parts.append(f'<path d="M{x0} {at(y):.1f}h{WIDE}" stroke="#e4e4e4"/>')
        parts.append(_text(x0 - 8, at(y) + 4, text, "end"))
    for tenth in range(0, 11, 2):
        x = x0 + tenth / 10 * WIDE
        parts.append(f'<path d="M{x:.1f} {y0}v{HIGH}" stroke="#e4e4e4"/>')
        parts.append(_text(x, y0 + HIGH + 17, f"{tenth / 10:g}"))
    parts.append(_text(x0 + WIDE / 2, y0 + HIGH + 36, "theta", size=12))
    parts.append(f'<rect x="{x0}" y="{y0}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#777"/>')
    for colour, (scheme, numbers) in zip(COLOURS, values.items(), strict=True):
        points = [
            (x0 + float(theta) * WIDE, at(y))
            for theta, y in zip(THETAS, numbers, strict=True)
            if y is not None
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{scheme}</title></polyline>"
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in points]


def beside(figure: Figure, found: dict[str, npt.NDArray[np.float64]]) -> Iterator[str]:
    """A line for each theta of the table: our mean and variance, theirs, and by how much the means differ."""
    yield "theta     mean +- error   variance   table: mean  variance   apart, standard errors"
    for theta, (mean, variance) in TABLE[figure.name].items():
        runs = found[theta]
        own = variance_of(runs)
        error = np.sqrt((own + variance) / len(runs))
        apart = f"{(runs.mean() - mean) / error:+.1f}" if error else f"{runs.mean() - mean:+.4f} (no coins)"
        star = " *" if error and abs(runs.mean() - mean) > 4 * error + 5e-4 else ""
        yield (
            f"{theta:<5}  {runs.mean():.4f} +- {np.sqrt(own / len(runs)):.4f}   {own:7.1e}    "
            f"{mean:.4f}       {variance:7.1e}   {apart}{star}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=2004)
    parser.add_argument("--split", type=int, default=0, help="seed of the split, by default %(default)s")
    parser.add_argument("--plot", type=Path, default=Path("response.svg"), help="by default %(default)s")
    given = parser.parse_args()
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        sys.exit("set NBCFAST_DATA to the folder that holds adult-train.csv")
    results: dict[str, Results] = {}
    for figure in figures(Path(folder), given.split):
        rng = np.random.default_rng(given.seed)
        found: Results = {}
        seconds = {}
        for scheme in ("paper",) if figure.class_in else SCHEMES:
            start = time.perf_counter()
            found[scheme] = {theta: figure.run(theta, rng, scheme, given.repetitions) for theta in THETAS}
            seconds[scheme] = time.perf_counter() - start
        shares = np.bincount(figure.test.codes(figure.class_name)) / figure.test.n_rows
        print(
            f"{figure.name}: {figure.train.n_rows} training records, {figure.test.n_rows} test records, "
            f"{len(figure.attributes)} attributes, majority share {shares.max():.4f}"
        )
        for line in beside(figure, found["paper"]):
            print(line)
        print()
        if figure.class_in:
            continue
        results[figure.name] = found
        print("theta  " + "  ".join(f"{scheme:>20}" for scheme in SCHEMES) + "   (mean / variance)")
        for theta in THETAS:
            cells = (found[scheme][theta] for scheme in SCHEMES)
            print(
                f"{theta:<5}  "
                + "  ".join(f"{runs.mean():>10.4f} / {variance_of(runs):<7.1e}" for runs in cells)
            )
        took = ", ".join(f"{scheme} {time_:.2f} s" for scheme, time_ in seconds.items())
        print(f"13 thetas x {given.repetitions} repetitions: {took}\n")
    plot(results, given.plot)
    print(f"drawn: {given.plot}")


if __name__ == "__main__":
    main()
