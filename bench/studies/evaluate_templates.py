"""python bench/study.py templates: section 5 of the paper on templates, with Adult, CRX and German credit.

For each set, and h = 10 .. 90 %: the classification error of scikit-learn's decision tree and of our naive
Bayes on the suppressed table, where the attributes at the top of the paper's trees are sensitive (TopN), and
where random ones are (RanN, averaged over those with a table). The table is suppressed whole, and
then split into rows for training and for testing: Adult and CRX by their files, German credit by ten seeded
random splits. Counts of inferences as in the paper's Table 3. Needs NBCFAST_DATA and the extra `bench`.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from against import expanding

import nbcfast
from nbcfast.templates import Disclosure, disclose, violations

Splits = list[npt.NDArray[np.bool_]]
LEVELS = [f"{tenth}/10" for tenth in range(1, 10)]


def errors(table: nbcfast.Table, names: Sequence[str], target: str, splits: Splits) -> tuple[float, float]:
    """Of a decision tree and of naive Bayes, averaged over the splits."""
    found = [split_errors(table, names, target, train) for train in splits]
    tree, bayes = zip(*found, strict=True)
    return statistics.mean(tree), statistics.mean(bayes)


def split_errors(
    table: nbcfast.Table, names: Sequence[str], target: str, train: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """On the rows that are not for training."""
    from sklearn.tree import DecisionTreeClassifier

    labels = table.codes(target)
    test = ~train
    coded = np.concatenate(
        [np.eye(len(table.domain(name)), dtype=np.uint8)[table.codes(name)] for name in names], axis=1
    )
    tree = DecisionTreeClassifier(min_samples_leaf=2, ccp_alpha=1e-4, random_state=0)
    tree.fit(coded[train], labels[train])
    wrong = float((tree.predict(coded[test]) != labels[test]).mean())
    views = nbcfast.count(table.take(train, keep_domains=True), target, list(names))
    guessed = views.predict(table.take(test, keep_domains=True), codes=True, unseen="zero")
    classes = np.array([table.domain(target).index(label) for label in views.classes])
    return wrong, float((classes[guessed] != labels[test]).mean())


def published(name: str, sensitive: Sequence[str], level: str) -> Disclosure | None:
    """The suppressed table; None where even the most suppressed one breaks a template."""
    table = expanding.complete(name)
    assert table is not None
    wanted = expanding.templates(table, expanding.ATTRIBUTES[name], sensitive, level)
    try:
        return disclose(table, wanted, expanding.CLASS[name])
    except nbcfast.Infeasible:
        return None


def curve(name: str, chosen: list[list[str]]) -> list[tuple[float, float] | None]:
    """Errors for each level, averaged over the choices for which there is a table."""
    result: list[tuple[float, float] | None] = []
    names, target = expanding.ATTRIBUTES[name], expanding.CLASS[name]
    for level in LEVELS:
        found = []
        for sensitive in chosen:
            made = published(name, sensitive, level)
            if made is not None:
                # The paper leaves the sensitive attributes in the table.
                found.append(errors(made.table, names, target, expanding.trained(name)))
        result.append(tuple(map(statistics.mean, zip(*found, strict=True))) if found else None)  # type: ignore[arg-type]
    return result


def percent(number: float) -> str:
    return f"{number:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="crx,german,adult", help="by default %(default)s")
    parser.add_argument("--random", type=int, default=5, help="choices of RanN, by default %(default)s")
    parser.add_argument("--plot", type=Path, help="a file for the plot")
    given = parser.parse_args()
    if expanding.folder() is None:
        sys.exit("NBCFAST_DATA is not set")
    curves = {}
    for name in given.sets.split(","):
        table = expanding.complete(name)
        assert table is not None
        attributes, top = expanding.ATTRIBUTES[name], list(expanding.TOP[name])
        counts = [
            len(violations(table, expanding.templates(table, attributes, top, level)))
            for level in expanding.LEVELS
        ]
        paper = expanding.TABLE_3.get(name)
        print(f"\n{name}: {table.n_rows:,} rows; inferences above 10, 30, 50, 70, 90 %: {counts}", end="")
        print(f", as in the paper: {counts == list(paper)}" if paper else ", not those of the paper")
        before = errors(table, attributes, expanding.CLASS[name], expanding.trained(name))
        print(f"error before: tree {percent(before[0])}, naive Bayes {percent(before[1])}")
        rng = np.random.default_rng(1)
        drawn = [sorted(map(str, rng.permutation(attributes)[: len(top)])) for _ in range(given.random)]
        n = len(top)
        curves[name] = before, curve(name, [top]), curve(name, drawn)
        print(f"| h | Top{n}, tree | Top{n}, naive Bayes | Ran{n}, tree | Ran{n}, naive Bayes |")
        print("|---|---|---|---|---|")
        for place, level in enumerate(LEVELS):
            cells = []
            for one in curves[name][1:]:
                pair = one[place]
                cells += ["infeasible"] * 2 if pair is None else list(map(percent, pair))
            print(f"| {int(level.split('/')[0]) * 10} % | " + " | ".join(cells) + " |")
    if given.plot is not None:
        draw(curves, given.plot)


def draw(curves, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(curves), figsize=(5 * len(curves), 4), squeeze=False)
    for axis, (name, (before, top, drawn)) in zip(axes[0], curves.items(), strict=True):
        for what, points in (("Top", top), ("Random", drawn)):
            for place, classifier in enumerate(("tree", "naive Bayes")):
                shown = [(10 * (i + 1), pair[place]) for i, pair in enumerate(points) if pair is not None]
                if shown:
                    axis.plot(*zip(*shown, strict=True), marker="o", label=f"{what}, {classifier}")
        for place, style in enumerate(("--", ":")):
            axis.axhline(before[place], color="grey", linestyle=style)
        axis.set(title=name, xlabel="limit h, %", ylabel="classification error")
        axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
