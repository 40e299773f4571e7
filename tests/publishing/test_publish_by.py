"""`nbcfast.publish(by=)`: each stratum is judged as one release alone, and what shows in one refuses all."""

import json
import math

import pytest
from strata_cases import declared

import nbcfast
from nbcfast import Infeasible, Table
from nbcfast.canonical import Limits
from nbcfast.publishing import StratifiedPublication

NONE = Limits(max_bits=None, max_found=None, min_flip=None, min_trace=None, max_one_class=None)
PEOPLE = {
    "town": ["a", "b"] * 60,
    "job": ["p", "p", "q", "q"] * 30,
    "age": [1, 1, 1, 2, 2, 2] * 20,
    "ill": ["n", "y", "n", "y", "y", "n", "y", "n"] * 15,
}
DOMAINS = {"town": ["a", "b"], "job": ["p", "q"], "age": [1, 2], "ill": ["n", "y"]}


@pytest.fixture(scope="module")
def made():
    return nbcfast.publish(PEOPLE, "ill", 4, by="town", domains=DOMAINS, limits=NONE)


def test_each_stratum_is_published_as_its_rows_alone(made):
    assert isinstance(made, StratifiedPublication)
    for value, one in made.strata.items():
        kept = [place for place, town in enumerate(PEOPLE["town"]) if town == value]
        rows = {name: [PEOPLE[name][place] for place in kept] for name in ("job", "age", "ill")}
        domains = {name: DOMAINS[name] for name in rows}
        alone = nbcfast.publish(rows, "ill", 4, domains=domains, limits=NONE)
        assert one.release == alone.release
        assert one.leak == alone.leak
        # Whether one answer for everybody is as good is asked of all strata together.
        found = tuple(
            finding for finding in alone.findings if finding.about not in ("one answer", "nobody has it")
        )
        assert (one.before, one.after, one.findings) == (alone.before, alone.after, found)
    assert made.release.strata["a"] == made.strata["a"].release


def test_its_text_counts_what_is_marked_to_mind(made):
    marked = [finding for finding in made.findings if finding.state == "warned"]
    assert marked
    assert repr(made).endswith(f"; {len(marked) + len(made.minded)} to mind)")


def test_all_together_are_the_worst_of_each_and_the_quality_of_all(made):
    each = list(made.strata.values())
    assert made.before.quality.rows == 120
    assert made.before.quality.correct == sum(one.before.quality.correct for one in each)
    mean = sum(one.after.quality.log_loss * one.after.quality.rows for one in each) / 120
    assert math.isclose(made.after.quality.log_loss, mean)
    assert made.after.amplification.log == max(one.after.amplification.log for one in each)
    for c, worst in enumerate(made.after.worst):
        assert worst.probability == max(one.after.worst[c].probability for one in each)
    assert made.after.rows == sum(one.release.views.n_rows for one in each)
    assert (
        made.together.correct
        == nbcfast.published.evaluate(
            nbcfast.count(Table(PEOPLE, domains=DOMAINS), "ill"), PEOPLE, "ill"
        ).correct
    )


def test_prices_are_said(made):
    said = "\n".join(made.warnings)
    assert "60 to 60 of 120" in said
    assert "not comparable" in said
    assert "selects which of 2 releases decides" in said
    assert len(set(made.warnings)) == len(made.warnings)


def test_values_that_nobody_in_a_stratum_has_are_named_to_the_owner():
    domains = {**DOMAINS, "job": ["p", "q", "r"]}
    made = nbcfast.publish(PEOPLE, "ill", 4, by="town", domains=domains, limits=NONE)
    assert any(text.startswith("Nobody with town = a has job = r: whoever has") for text in made.warnings)


def test_what_shows_in_one_stratum_refuses_all(tmp_path):
    rows = {name: [*values] for name, values in PEOPLE.items()}
    for town, ill in (("b", "n"), ("a", "y"), ("a", "n")):
        for name, value in (("town", town), ("job", "r"), ("age", 1), ("ill", ill)):
            rows[name].append(value)
    domains = {**DOMAINS, "job": ["p", "q", "r"]}
    limits = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=0)
    made = nbcfast.publish(rows, "ill", 4, by="town", domains=domains, limits=limits)
    (finding,) = made.refused
    assert finding.text.startswith("town = b: whoever knows that one person has job = r reads the class")
    with pytest.raises(
        Infeasible, match="nothing is written, as the limits are not kept: values of one class"
    ):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    accepted = nbcfast.publish(rows, "ill", 4, by="town", domains=domains, limits=limits, accept_answers=True)
    accepted.save(tmp_path / "out")
    assert all(one.certificate.accepted for one in nbcfast.load(tmp_path / "out").strata.values())


def test_it_is_saved_and_read_again(made, tmp_path):
    saved = made.save(tmp_path / "out", dataset=tmp_path / "rows.csv")
    assert [file.path.rsplit("/", 1)[1] for file in saved.files] == ["certificate.json", "rows.csv"]
    assert nbcfast.verify(tmp_path / "out", Table(PEOPLE)).ok


def test_it_is_plain_values(made):
    plain = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert [one["value"] for one in plain["strata"]] == ["a", "b"]
    assert plain["by"] == "town"
    assert plain["strata"][0]["leak"]["tuples"] == 4


def test_values_that_come_from_rows_are_a_finding():
    made = nbcfast.publish(PEOPLE, "ill", 4, by="town", limits=NONE)
    texts = [finding.text for finding in made.findings if finding.about == "not declared"]
    assert any(text.startswith("The values of town come from the rows") for text in texts)
    assert made.release.undeclared


def test_rows_held_out_are_those_of_each_stratum():
    others = {name: values[1:] + values[:1] for name, values in PEOPLE.items()}
    others["town"] = ["a"] * 120
    made = nbcfast.publish(PEOPLE, "ill", 4, by="town", domains=DOMAINS, limits=NONE, holdout=others)
    assert made.strata["a"].adversaries.membership is not None
    assert made.strata["b"].adversaries.membership is None


WRONG = {
    "no such column": ({"by": "city"}, ValueError, "by: expected a column of .*; got 'city'"),
    "no such column of those used": (
        {"by": "city", "columns": ["job"]},
        ValueError,
        "by: expected a column of",
    ),
    "the class": ({"by": "ill"}, ValueError, "by must be another column than the class, got 'ill'"),
    "no text": ({"by": 3}, TypeError, "by must be the name of a column, got 3"),
    "another method": (
        {"by": "town", "method": "safetytransform"},
        ValueError,
        "by goes with method='canonical', not with method='safetytransform'",
    ),
    "a list": ({"by": "town", "tuples": {"job": ["p"]}}, ValueError, "by goes without tuples, got both"),
    "a menu": ({"by": "town", "menu": {"job": [["p", "q"]]}}, ValueError, "menu does not go with by"),
    "powers": (
        {"by": "town", "gauge": False},
        ValueError,
        "by goes with method='canonical', not with gauge=False",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_go_with_it_is_named(name):
    options, kind, text = WRONG[name]
    with pytest.raises(kind, match=f"^{text}"):
        nbcfast.publish(PEOPLE, "ill", 4, **options)


def test_a_column_that_the_domain_leaves_out_is_not_said_to_be_missing():
    with pytest.raises(ValueError, match=r"^by: column 'town' is left out, by domains"):
        nbcfast.publish(PEOPLE, "ill", 4, by="town", domains={**DOMAINS, "town": {"out": True}})


def test_a_stratum_that_cannot_be_published_is_named():
    with pytest.raises(Infeasible, match=r"^stratum town = b: "):
        nbcfast.publish(declared(), "ill", 4, by="town", rows=3)
