"""Canonical releases by strata: the classifier with one attribute as a parent of all others, exactly."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from how_many import how_many
from hypothesis import given, settings
from strata_cases import TOWNS, declared, stratified_rows

import nbcfast
from nbcfast import Infeasible, Table, canonical
from nbcfast.reference import canonical as plain

DATA = os.environ.get("NBCFAST_DATA")
ADULT = ["age", "workclass", "education", "marital_status", "occupation", "race", "sex", "capital_gain"]
TEN = [*ADULT, "hours_per_week", "relationship"]


@settings(max_examples=how_many(30, 60), deadline=None)
@given(stratified_rows())
def test_strata_decide_as_the_exact_formula(drawn):
    """Every tuple of the whole domain, those that no row has among them; of equal scores the later class."""
    rows, values = drawn
    names = [name for name in values if name not in ("r", "c")]
    table = Table({name: [row[name] for row in rows] for name in values}, domains=values)
    made = canonical.release_by(table, "c", "r", 4)
    tuples = [
        dict(zip(["r", *names], cells, strict=True))
        for cells in product(values["r"], *map(values.get, names))
    ]
    expected = []
    for one in tuples:
        scores = plain.super_parent(rows, "r", names, "c", values["c"], one)
        expected.append(max(values["c"], key=lambda c, scores=scores: (scores[c], c)))
    asked = Table({name: [one[name] for one in tuples] for name in ["r", *names]}, domains={"r": values["r"]})
    assert made.predict(asked).tolist() == expected
    assert made.certificate.equal


def test_each_stratum_is_the_release_of_its_rows():
    made = canonical.release_by(declared(), "ill", "town", 4)
    assert list(made.strata) == ["b", "a", None]
    for value, release in made.strata.items():
        kept = [place for place, town in enumerate(TOWNS["town"]) if town == value]
        rows = declared().take(kept).select(["job", "age", "ill"])
        alone = canonical.release(nbcfast.count(rows, "ill"), 4, class_name="ill")
        assert release == alone
        assert release.views.domain("job") == ("q", "p", "r")
    assert made.certificate.warnings == ()


def test_domains_that_come_from_rows_are_those_of_the_whole_table():
    columns = {**TOWNS, "job": ["z", *TOWNS["job"][1:]]}  # only one town has it
    made = canonical.release_by(columns, "ill", "town", 4)
    assert {release.views.domain("job") for release in made.strata.values()} == {("p", "q", "z")}
    assert "town" in made.certificate.own_warnings[0]
    assert made.undeclared


def test_rows_and_weights_do_not_depend_on_order():
    made = canonical.release_by(declared(), "ill", "town", 4)
    order = np.random.default_rng(1).permutation(len(TOWNS["town"]))
    assert canonical.release_by(declared().take(order, keep_domains=True), "ill", "town", 4) == made
    twice = Table(
        TOWNS,
        weights=[2] * 12,
        domains={"town": ["b", "a", None], "job": ["q", "p", "r"], "age": [1, 2], "ill": ["y", "n"]},
    )
    assert canonical.release_by(twice, "ill", "town", 4) == made


def test_columns_and_classes_are_as_asked():
    made = canonical.release_by(
        TOWNS, "ill", "town", 9, columns=["age", "town"], classes=["y", "n"], attacker="worlds", bits=2
    )
    assert made.first.views.attributes == ("age",)
    assert made.first.views.classes == ("y", "n")
    assert made.certificate.attacker == "worlds"
    assert made.certificate.strata[1].canonical.bits == 2


LACKS = {
    "one class": (
        {**TOWNS, "ill": ["n"] * 3 + TOWNS["ill"][3:10] + ["n", "y"]},
        {},
        "'a' has none of class 'y'",
    ),
    "no rows": (TOWNS, {"town": ["a", "b", "c", None]}, "'c' has no rows"),
}


@pytest.mark.parametrize("name", LACKS)
def test_a_stratum_without_rows_of_some_class_is_refused_by_name(name):
    columns, domains, text = LACKS[name]
    with pytest.raises(
        ValueError, match=f"^by: every value of 'town' needs rows of every class, and {text}: put"
    ):
        canonical.release_by(declared(columns, **domains), "ill", "town", 4)


def test_a_class_that_nobody_has_is_said_of_the_class():
    with pytest.raises(ValueError, match="class 'm' has no rows; leave it out of the classes"):
        canonical.release_by(declared(ill=["y", "n", "m"]), "ill", "town", 4)


def test_what_is_asked_wrongly_is_named():
    with pytest.raises(ValueError, match="by must be another column than the class, got 'ill'"):
        canonical.release_by(TOWNS, "ill", "ill", 4)
    with pytest.raises(TypeError, match="by must be the name of a column, got 3"):
        canonical.release_by(TOWNS, "ill", 3, 4)
    with pytest.raises(ValueError, match="got 'city'"):
        canonical.release_by(TOWNS, "ill", "city", 4)
    with pytest.raises(ValueError, match="by: 'n' has 1,001 values, more than 1,000 strata"):
        canonical.release_by({"n": range(1001), "x": [0] * 1001, "ill": [0] * 1001}, "ill", "n", 4)
    with pytest.raises(ValueError, match="by: 'town' has no values: no rows"):
        canonical.release_by({"town": [], "job": [], "ill": []}, "ill", "town", 4)
    with pytest.raises(Infeasible, match=r"^stratum 'a': no canonical release: there is no attribute"):
        canonical.release_by(TOWNS, "ill", "town", 4, columns=[])


def test_the_meter_is_that_of_the_rows_of_each_stratum():
    found = canonical.leak_by(declared(), "ill", "town")
    assert list(found) == ["b", "a", None]
    kept = [place for place, town in enumerate(TOWNS["town"]) if town == "b"]
    rows = declared().take(kept).select(["job", "age", "ill"])
    assert found["b"] == canonical.leak(nbcfast.count(rows, "ill"), table=rows, class_name="ill")
    told = []
    canonical.leak_by(declared(), "ill", "town", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.skipif(DATA is None, reason="NBCFAST_DATA names no folder with Adult")
def test_adult_by_relationship():
    """Ten attributes, age and hours in tens: .8173 of the test rows rightly, and .8471 by relationship."""
    edges = {
        "age": [-np.inf, *range(20, 90, 10), np.inf],
        "hours_per_week": [-np.inf, *range(10, 90, 10), np.inf],
        "capital_gain": [-np.inf, 1, 5000, 7500, np.inf],
    }

    def rows(name):
        table = nbcfast.read_csv(Path(DATA, name), columns=[*TEN, "income"])
        for column, ends in edges.items():
            table = table.bin(column, edges=ends)
        return table

    train, test = rows("adult-train.csv"), rows("adult-test.csv")
    truth = np.array(test.domain("income"), object)[test.codes("income")]
    classes = [">50K", "<=50K"]
    whole = canonical.release(nbcfast.count(train, "income", TEN, classes=classes), 4)
    made = canonical.release_by(train, "income", "relationship", 4, columns=TEN, classes=classes)
    assert round((whole.predict(test, unseen="zero") == truth).mean(), 4) == 0.8173
    assert round((made.predict(test, unseen="zero") == truth).mean(), 4) == 0.8471
