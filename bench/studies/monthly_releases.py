"""python bench/study.py ledger: what monthly releases give away together, on Adult.

20,000 rows of adult-train.csv and 1,000 more each month, of age and hours in tens and of a third column; each
month is a canonical release over the declared domain, as `publish --ledger` makes it. Prints for each month
the single meter (counts found, trace) and the joint one of the ledger (trace, flip). Then, of persons whose
absence shows in one release, those whose class the sign theorem decides, and how many of these wrongly. Needs
NBCFAST_DATA.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import canonical
from nbcfast.ledger import Ledger
from nbcfast.ledger.sign_theorem import moved, sign_shown

CLASS = "income"
FIRST, MORE = 20_000, 1_000
LAST = {"age": 80, "hours_per_week": 70}  # where the last of eight bins of ten begins


def adult(third: str) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """The columns of Adult train, binned, and their domains."""
    folder = os.environ.get("NBCFAST_DATA")
    if folder is None:
        raise SystemExit("set NBCFAST_DATA to the folder that holds adult-train.csv")
    names = ["age", "hours_per_week", third]
    table = nbcfast.read_csv(Path(folder) / "adult-train.csv", columns=[*names, CLASS])
    columns: dict[str, list[object]] = {}
    for name in (*names, CLASS):
        values = [table.domain(name)[code] for code in table.codes(name)]
        columns[name] = [min(value // 10 * 10, LAST[name]) for value in values] if name in LAST else values
    domains = {name: sorted(set(column)) for name, column in columns.items()}
    domains[CLASS] = [">50K", "<=50K"]
    return columns, domains


def months(columns: dict[str, list[object]], domains: dict[str, list[object]], n_months: int) -> None:
    """A release a month, each entered."""
    print(f"{'month':>5} {'rows':>7} {'found':>9} {'trace alone':>12} {'trace':>8} {'flip':>8}")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(os.path.join(folder, "ledger"))
        for month in range(n_months):
            n_rows = FIRST + MORE * month
            table = nbcfast.Table(
                {name: column[:n_rows] for name, column in columns.items()}, domains=domains
            )
            views = nbcfast.count(table, CLASS)
            leak = canonical.leak(views, table=table, class_name=CLASS)
            report = ledger.check(views, table=table, class_name=CLASS, window=(0, month))
            if report.joint is None:
                print(f"{month:5} {n_rows:7,} the answers are those of line {report.same_as}")
                continue
            print(
                f"{month:5} {n_rows:7,} {f'{leak.found} of {leak.cells}':>9} {leak.trace:12.4f} "
                f"{report.joint.trace:8.4f} {report.joint.flip:8.4f}"
            )
            ledger.append(views, f"{month:064x}", window=(0, month))


def persons(columns: dict[str, list[object]], domains: dict[str, list[object]]) -> None:
    """Of all kinds of persons, those whose absence shows, and what the sign theorem says of them."""
    table = nbcfast.Table(columns, domains=domains)
    views = nbcfast.count(table, CLASS)
    names = [*views.attributes, CLASS]
    codes = np.stack([table.codes(name) for name in names], axis=1)
    distinct, people = np.unique(codes, axis=0, return_counts=True)
    answers = canonical.box(views)
    shows = decided = wrong = 0
    for row, n_people in zip(distinct.tolist(), people.tolist(), strict=True):
        person = {name: [domains[name][code]] for name, code in zip(names, row, strict=True)}
        without = views - nbcfast.count(nbcfast.Table(person, domains=domains), CLASS)
        left = canonical.box(without)
        if left == answers:
            continue
        shows += n_people
        found = moved(without, views).one_row
        assert found is not None
        shown = sign_shown(without, views, found)
        if not shown.decides:
            continue
        decided += n_people
        before, after = left.enumerate(), answers.enumerate()
        changed = np.argwhere(before != after)
        agree = (changed == row[:-1]).sum(axis=1)
        read = {int(after[tuple(at)]) for at in changed[agree >= len(names) - 2]}
        read |= {int(before[tuple(at)]) for at in changed[agree == 0]}
        wrong += n_people * (read != {row[-1]})
    print(
        f"{len(columns[CLASS]):,} people: the absence of {shows:,} shows, the class of {decided:,} of them "
        f"is decided by the sign theorem alone, of {wrong:,} wrongly"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--months", type=int, default=13)
    parser.add_argument("--third", default="education_num", help="the third column")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="rows in an order drawn with this seed")
    asked = parser.parse_args()
    columns, domains = adult(asked.third)
    if asked.shuffle is not None:
        order = np.random.default_rng(asked.shuffle).permutation(len(columns[CLASS])).tolist()
        columns = {name: [column[place] for place in order] for name, column in columns.items()}
    months(columns, domains, asked.months)
    persons(columns, domains)


if __name__ == "__main__":
    main()
