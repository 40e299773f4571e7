"""One classifier for all or one for each value of a column: against every way measured by itself."""

import functools
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast.canonical import Limits, advise, leak, leak_by
from nbcfast.canonical.by_strata import split, views_by
from nbcfast.domains import declared
from nbcfast.views.quality import evaluate

DATA = Path(os.environ.get("NBCFAST_DATA", "absent"))
MENU = {
    "job": [["clerk", "cook"], {"out": True}],
    "age": [[20, 30, 40, 50], {"edges": [None, 35, None]}, {"out": True}],
    "sex": [["f", "m"], {"out": True}],
    "town": [["north", "south"], {"groups": {"any": ["north", "south"]}}],
}
STRATA = ("sex", "age", "town")
NO_LIMITS = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)


def people(n, seed, classes=("no", "yes")):
    """A table in which the class leans on the job for some, and away from it for others."""
    generator = np.random.default_rng(seed)
    job, sex, town = (generator.integers(0, 2, n) for _ in range(3))
    age = generator.integers(0, 4, n)
    leaning = np.where(sex == 1, job, 1 - job) + age // 2 + generator.integers(0, 2, n)
    return {
        "job": [MENU["job"][0][j] for j in job.tolist()],
        "age": [MENU["age"][0][a] for a in age.tolist()],
        "sex": [MENU["sex"][0][s] for s in sex.tolist()],
        "town": [MENU["town"][0][t] for t in town.tolist()],
        "ill": [classes[min(c * len(classes) // 4, len(classes) - 1)] for c in leaning.tolist()],
    }


def ways(menu, strata):
    """Every choice of options, for one classifier and for one a value of each column that may select."""
    for choice in itertools.product(*(range(len(options)) for options in menu.values())):
        used = [name for name, place in zip(menu, choice, strict=True) if "out" not in menu[name][place]]
        if used:
            yield choice, None
        for by in strata:
            if by in used and len(used) > 1:
                yield choice, by


def measured(table, menu, choice, by, classes):
    """What one way is worth and gives away, by the public functions; None where it cannot be published."""
    domain = {name: menu[name][place] for name, place in zip(menu, choice, strict=True)}
    rows = declared({**domain, "ill": list(classes)}).applied(nbcfast.Table(table))
    if by is None:
        views = nbcfast.count(rows, "ill")
        return (
            evaluate(views, rows, "ill").correct,
            views.n_tuples,
            [leak(views, table=rows, class_name="ill")],
        )
    present = {*zip(rows.codes(by).tolist(), rows.codes("ill").tolist(), strict=True)}
    if len(present) < len(rows.domain(by)) * len({of for _, of in present}):
        with pytest.raises(ValueError, match="rows of every class"):
            leak_by(rows, "ill", by)
        return None
    gives = leak_by(rows, "ill", by)
    strata, (_, views) = split(rows, by), views_by(rows, "ill", by, None, None, None)
    correct = sum(evaluate(views[value], strata[value], "ill").correct for value in strata)
    return correct, sum(of.n_tuples for of in views.values()), list(gives.values())


def together(leaks):
    """The numbers of all strata together."""
    return {
        "max_bits": max(one.bits for one in leaks),
        "max_found": sum(one.found for one in leaks),
        "min_flip": min(one.flip for one in leaks),
        "min_trace": min(one.trace for one in leaks),
        "max_one_class": sum(one.one_class_values for one in leaks),
    }


@functools.cache
def measured_by_itself(n, seed, classes):
    """Every way for some people, and what was measured of it; that does not depend on limits."""
    found = []
    for choice, by in ways(MENU, STRATA):
        of_way = measured(people(n, seed, classes), MENU, choice, by, classes)
        if of_way is not None:
            found.append((choice, by, *of_way))
    return found


def searched(measurements, limits):
    """The best way, and all that keep the limits."""
    kept = []
    for choice, by, correct, tuples, leaks in measurements:
        if not limits.broken(together(leaks)):
            place = -1 if by is None else list(MENU).index(by)
            kept.append((-correct, by is not None, tuples, choice, place, together(leaks)))
    return sorted(kept, key=lambda one: one[:5])


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("classes", "limits"),
    [
        (("no", "yes"), Limits()),
        (("no", "yes"), Limits(max_bits=3, min_flip=0.5, max_found=1, max_one_class=1)),
        (("no", "yes"), Limits(max_bits=None, max_found=None, min_flip=None, min_trace=0.9)),
        (("no", "yes"), NO_LIMITS),
        (("no", "some", "yes"), Limits(max_found=2, min_flip=0.8)),
    ],
    ids=["usual", "few bits", "traces", "none", "three classes"],
)
def test_the_best_is_that_of_all_ways_measured_one_by_one(seed, classes, limits):
    table = people(40 + 40 * seed, seed, classes)
    kept = searched(measured_by_itself(40 + 40 * seed, seed, classes), limits)
    asked = dict(classes=list(classes), folds=0, strata=STRATA, front=False, **limits.to_dict())
    if not kept:
        with pytest.raises(nbcfast.Infeasible, match="keeps the limits"):
            advise(table, "ill", MENU, **asked)
        return
    cost, by_strata, tuples, choice, place, found = kept[0]
    best = advise(table, "ill", MENU, **asked).best
    by = list(MENU)[place] if by_strata else None
    assert (best.choice, best.by_column) == (choice, by)
    assert (best.correct, best.tuples) == (-cost, tuples)
    assert (max(found["max_bits"], 0), found["max_found"], found["max_one_class"]) == (
        best.bits,
        best.found,
        best.one_class,
    )
    assert (found["min_flip"], found["min_trace"]) == (best.flip, best.trace)


def test_both_kinds_of_ways_are_chosen_on_these_tables():
    chosen = {
        advise(
            people(40 + 40 * seed, seed), "ill", MENU, folds=0, strata=STRATA, front=False, **limits.to_dict()
        ).by_column
        for seed in range(5)
        for limits in (NO_LIMITS, Limits(max_bits=3, min_flip=0.5, max_found=1, max_one_class=1))
    }
    assert None in chosen
    assert len(chosen) > 1
