"""The search over all combinations of options: against the same sums in plain NumPy, on Adult.

Needs NBCFAST_DATA with adult-menu.json. To add a peer, write one function that gives its forms; its answer is
how many rows each combination gets right.
"""

import math
import os
import sys
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from against.publishing import within
from shared.clock import Form, Peers, Row, medians, race

import nbcfast
from nbcfast.canonical.advice.search import Candidates
from nbcfast.domains import Menu

CLASS = "income"
# All but age and hours: 17,280 combinations.
SOME = ("education", "marital_status", "occupation", "sex", "race")
SOME += ("capital_gain", "relationship", "workclass")
BEST, TUPLES = 27_678, 640  # of the whole menu, in-sample
LIMIT, LIMIT_OF_LOSSES = 2.0, 20.0  # seconds of processor time, of two cores together half as much each

searching = Peers()


class Task(NamedTuple):
    """Raw codes, classes, and maps of every option: raw code -> value, or None."""

    codes: Any
    classes: Any
    maps: list[list[Any]]

    def candidates(self, folds: int = 0) -> Candidates:
        return Candidates(self.codes, self.classes, self.maps, 2, folds=folds)


@lru_cache(maxsize=2)
def task(names: tuple[str, ...] | None = None) -> Task | None:
    """The training rows of Adult, for all attributes of the menu or some; None without the data."""
    folder = os.environ.get("NBCFAST_DATA")
    if not folder or not (Path(folder) / "adult-menu.json").is_file():
        return None
    menu = Menu.read(Path(folder) / "adult-menu.json")
    names = names or menu.attributes
    table = nbcfast.read_csv(Path(folder) / "adult-train.csv", columns=[*names, CLASS])
    codes, maps = [], []
    for name in names:
        raw = table.column(name).codes.astype(np.int64)
        options = []
        for option in menu.options[name]:
            if option.out:
                options.append(None)
                continue
            of_code = np.zeros(len(table.domain(name)), np.int64)
            of_code[raw] = option.applied(table, name).column(name).codes
            options.append(of_code)
        codes.append(raw)
        maps.append(options)
    return Task(np.stack(codes, axis=1), table.column(CLASS).codes.astype(np.int64), maps)


def plain(data: Task) -> Any:
    """Rows collapsed, a vector of log-odds for each option, and one vector addition a combination."""
    distinct, weights = np.unique(np.column_stack([data.codes, data.classes]), axis=0, return_counts=True)
    classes = distinct[:, -1]
    totals = np.bincount(classes, weights)
    terms = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for a, options in enumerate(data.maps):
            vectors = []
            for option in options:
                if option is None:
                    vectors.append(np.zeros(len(distinct)))
                    continue
                values = option[distinct[:, a]]
                counts = np.bincount(values * 2 + classes, weights, 2 * (int(option.max()) + 1))
                counts = counts.reshape(-1, 2)
                logs = np.log(counts / totals)
                odds = logs[:, 0] - logs[:, 1]
                # A zero of the second class decides, unless there is one of the first.
                odds[counts[:, 1] == 0] = 1e30
                odds[counts[:, 0] == 0] = -np.inf
                vectors.append(odds[values])
            terms.append(vectors)
    signed = np.where(classes == 0, weights, -weights).astype(np.int64)
    right = np.empty(math.prod(map(len, terms)), np.int64)
    of_later = int(weights[classes == 1].sum())
    place = 0

    def walk(depth: int, sums: Any) -> None:
        nonlocal place
        if depth == len(terms):
            right[place] = of_later + signed[sums > 0].sum()
            place += 1
            return
        for vector in terms[depth]:
            walk(depth + 1, sums + vector)

    walk(0, np.full(len(distinct), math.log(totals[0] / totals[1])))
    return right


@searching.peer("numpy")
def numpy_search(data: Task) -> Iterator[Form]:
    yield Form("depth first, one vector a combination", partial(plain, data))


def right_of_all(data: Task, candidates: Candidates) -> Any:
    """How many rows each combination gets right, in the order of options, as `search` keeps it."""
    ranking = candidates.search(threads=1)
    right = np.empty(candidates.sizes, np.int64)
    nothing = [[option is None for option in options].index(True) for options in data.maps]
    right[tuple(nothing)] = candidates.correct(nothing)
    for leaf, correct in ranking.best_first():
        right[leaf] = correct
    return right.ravel()


def advising(rounds: int, quick: bool) -> Iterator[Row]:
    """Rows for peers.py."""
    some = task(SOME)
    if some is None:
        print("Adult's menu: skipped, NBCFAST_DATA has none", file=sys.stderr)
        return
    candidates = some.candidates()
    yield from race(
        f"{candidates.n_choices:,} combinations of eight attributes of Adult",
        1,
        Form("search", partial(candidates.search, threads=1), lambda _: right_of_all(some, candidates)),
        searching.forms(some),
        np.array_equal,
        min(rounds, 3),
        {"numpy": 10},
    )
    if quick:
        return
    everything = task()
    assert everything is not None
    for folds, what in ((0, "in-sample"), (5, "held out")):
        run = everything.candidates(folds).search
        leaf, correct = next(run().best_first())
        assert (everything.candidates().tuples(leaf), everything.candidates().correct(leaf)) == (TUPLES, BEST)
        assert folds or correct == BEST
        yield within(f"345,600 combinations of Adult, {what}", LIMIT, *medians([run], rounds))
        if folds:
            losses = partial(run, "log-loss")
            what = "345,600 combinations of Adult, log-loss, held out"
            yield within(what, LIMIT_OF_LOSSES, *medians([losses], 1))
