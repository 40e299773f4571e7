"""Boxes, weights and points of more than two classes: against the reference on a small domain, and alone.

pytest bench/bench_canonical_classes.py
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from shared.publishing import views_of

import nbcfast
from nbcfast import Viewset
from nbcfast.canonical import box, integers, solve
from nbcfast.canonical.boxes import ranked as boxes
from nbcfast.canonical.boxes.types import SweptBox
from nbcfast.canonical.weights import several as classes
from nbcfast.canonical.weights.violated import HalvedDemands
from nbcfast.reference import canonical_classes as reference

ROLES = "education occupation relationship"
SIX = "workclass education occupation relationship race sex"
THREE = "age education_num hours_per_week"

# Class, attributes, mode, tuples, the range of the weights of least norm, and how often a round repeats.
DOMAINS = {
    "marital, 1440, label": ("marital_status", ROLES, "label", 1_440, 37.0, 20),
    "marital, 1440, order": ("marital_status", ROLES, "order", 1_440, 3383.642857, 5),
    "marital, 1.1e5, label": (
        "marital_status",
        "age education hours_per_week",
        "label",
        109_792,
        4440.159574,
        2,
    ),
    "marital, 1.3e5, label": ("marital_status", SIX, "label", 129_600, 7713.831575, 3),
    "race, 1.8e5, label": ("race", SIX.replace("race", "marital_status"), "label", 181_440, 14930.583333, 5),
    "3 classes, 1.1e5, label": ("three", THREE, "label", 108_288, 3437.231077, 5),
    "3 classes, 1.1e5, order": ("three", THREE, "order", 108_288, 9262.551515, 3),
}


@cache
def views_named(name: str) -> Viewset:
    """Marital status as it is, or ("three") the rows of its three most frequent values."""
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        pytest.skip("needs the public data sets: set NBCFAST_DATA")
    table = nbcfast.read_csv(Path(folder) / "adult-train.csv")
    of_class, attributes = DOMAINS[name][:2]
    names = attributes.split()
    if of_class != "three":
        return nbcfast.count(table, of_class, names)
    status = np.array(table.domain("marital_status"))[table.codes("marital_status")]
    kept = np.flatnonzero(np.isin(status, ["Married-civ-spouse", "Never-married", "Divorced"]))
    columns = {of: np.array(table.domain(of), object)[table.codes(of)][kept] for of in names}
    return nbcfast.count(nbcfast.Table({**columns, "three": status[kept]}), "three", names)


@pytest.mark.parametrize("how", ["native", "reference"])
def bench_solve_small(benchmark, how):
    """24 tuples, 3 classes, exactly."""
    views = views_of([2, 3, 4], 3)
    answers, asked = reference.box(views), box(views)
    expected = reference.solve(answers, 3)
    if how == "native":
        found = benchmark(solve, asked)
        assert found.scores == tuple(
            tuple(tuple(x - row[-1] for x in row[:-1]) for row in rows) for rows in expected
        )
    else:
        assert benchmark.pedantic(reference.solve, (answers, 3), rounds=2) == expected


@pytest.mark.parametrize("name", DOMAINS)
def bench_box(benchmark, name):
    """From counts to labels."""
    found = benchmark.pedantic(box, (views_named(name),), {"mode": DOMAINS[name][2]}, rounds=DOMAINS[name][5])
    assert found.tuples == DOMAINS[name][3]


@pytest.mark.parametrize("name", DOMAINS)
def bench_solve(benchmark, name):
    """From labels to exact weights."""
    asked = box(views_named(name), mode=DOMAINS[name][2])
    found = benchmark.pedantic(solve, (asked,), rounds=DOMAINS[name][5])
    assert found.reproducible
    assert found.margin == 1
    assert float(found.range) == pytest.approx(DOMAINS[name][4], rel=1e-8)


@pytest.mark.parametrize("name", [name for name in DOMAINS if "1.1e5" not in name])
def bench_integers(benchmark, name):
    """From weights to points that are verified over the whole domain."""
    asked = box(views_named(name), mode=DOMAINS[name][2])
    solution = solve(asked)
    card = benchmark.pedantic(integers, (asked, solution), rounds=DOMAINS[name][5])
    assert card.gap >= 1
    assert classes.differing(asked, card) == 0


@pytest.mark.parametrize("how", ["sweep", "enumeration"])
def bench_separation(benchmark, how):
    """One search for violated demands, 9 261 000 tuples and 3 classes: the same rows by either way."""
    views = views_of([210, 210, 210], 3)
    known = box(views)
    above, rank = boxes._places(boxes.Plain.of(views), boxes._in_order(known.sizes), None, None)
    K, L = classes.SweptSides(above, rank).counts()
    swept = SweptBox(known.sizes, (0, 1, 1), 3, "label", K, L, (above, rank))
    demands: dict[str, HalvedDemands] = {
        "sweep": classes.demands_of(swept).demands,
        "enumeration": classes.demands_of(known).demands,
    }
    g = np.random.default_rng(5).normal(size=int(demands["sweep"].unknowns.offsets[-1]))
    columns, signs, lowest = benchmark.pedantic(demands[how].violated, (g, 1.0), rounds=5)
    others = demands["sweep" if how == "enumeration" else "enumeration"].violated(g, 1.0)
    assert lowest == others[2]
    assert np.array_equal(columns[:100], others[0][:100])
    assert np.array_equal(signs[:100], others[1][:100])
