"""What is worth no more than one answer for everybody says so, and values that nobody has are named."""

from fractions import Fraction

import pytest

import nbcfast
from nbcfast.canonical import Limits
from nbcfast.publishing import gate
from nbcfast.publishing.one_answer import OneAnswer

ANY = dict.fromkeys(("max_bits", "max_found", "min_flip", "max_one_class"))
NONE = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)
# Each job has more people who are well than ill: everybody is answered "no".
FLAT = {"job": ["cook"] * 50 + ["clerk"] * 50, "ill": ["no"] * 30 + ["yes"] * 20 + ["no"] * 40 + ["yes"] * 10}
STEEP = {"job": FLAT["job"], "ill": ["no"] * 20 + ["yes"] * 30 + ["no"] * 40 + ["yes"] * 10}
DECLARED = {"job": ["clerk", "cook"], "ill": ["no", "yes"]}
POLICY = {"release": {"class": "ill", "amplification": 4}, "gate": {"accept_claims": True}}


def made(table, domains=DECLARED, **named):
    return nbcfast.publish(table, "ill", 4, domains=domains, limits=NONE, **named)


def about(findings, what="one answer"):
    return [(finding.state, finding.text) for finding in findings if finding.about == what]


def test_what_answers_everybody_alike_is_never_green():
    found = made(FLAT)
    text = "answers no to everybody, and is right for 70 of 100 people: no better than that"
    assert about(found.findings) == [("warned", text)]
    assert not found.refused
    assert "mind what is marked !" in found._repr_html_()
    assert about(made(STEEP).findings) == []


def test_the_very_numbers_are_compared():
    table = nbcfast.Table(STEEP, domains=DECLARED)
    release = made(STEEP).release
    one = OneAnswer.of([(release, table)], "ill")
    assert one == (100, 70, "no", 60, ("no", "yes"))
    assert not one.is_worthless
    assert one._replace(right=61).is_worthless is False
    assert one._replace(right=60).is_worthless
    assert one._replace(right=60).text == (
        "right for 60 of 100 people, and always to say no would be for 60: no better than that"
    )
    # Where all have one class nothing can be better.
    assert not one._replace(people=100, right=100).is_worthless


def test_weights_are_people():
    rows = {name: list(values) for name, values in FLAT.items()}
    weighted = {
        "job": ["cook", "cook", "clerk", "clerk"],
        "ill": ["no", "yes", "no", "yes"],
        "n": [30, 20, 40, 10],
    }
    named = {"domains": DECLARED, "limits": NONE}
    alone = nbcfast.publish(weighted, "ill", 4, weights="n", **named)
    assert about(alone.findings) == about(nbcfast.publish(rows, "ill", 4, **named).findings) != []


def test_without_attributes_the_one_answer_is_said_to_be_one():
    found = nbcfast.publish({"ill": FLAT["ill"]}, "ill", 4, domains={"ill": ["no", "yes"]}, limits=NONE)
    assert about(found.findings)[0][0] == "warned"


def test_strata_are_judged_together():
    table = {"town": ["a"] * 50 + ["b"] * 50, "job": ["cook", "clerk"] * 50}
    table["ill"] = ["no"] * 40 + ["yes"] * 10 + ["no"] * 10 + ["yes"] * 40
    domains = {**DECLARED, "town": ["a", "b"]}
    # In either town everybody is answered alike, and the town says who is ill.
    assert about(made(table, domains, by="town").findings) == []
    table["ill"] = ["no"] * 40 + ["yes"] * 10 + ["no"] * 30 + ["yes"] * 20
    assert about(made(table, domains, by="town").findings) == [
        ("warned", "answers no to everybody, and is right for 70 of 100 people: no better than that")
    ]


def test_gate_says_it_from_points_alone_and_beside_the_rows(tmp_path):
    folder = tmp_path / "flat"
    made(FLAT).save(folder)
    alone = gate(folder, POLICY)
    assert about(alone.minded) == [
        ("warned", "every case that there may be is answered no: it tells nobody from anybody else")
    ]
    assert alone.to_dict()["minded"][0]["about"] == "one answer"
    assert about(gate(folder, POLICY, against=FLAT).minded)[0][1].endswith(
        "70 of 100 people: no better than that"
    )
    made(STEEP).save(tmp_path / "steep")
    assert gate(tmp_path / "steep", POLICY).minded == ()


@pytest.mark.parametrize(("table", "worthless"), [(FLAT, True), (STEEP, False)])
def test_advice_compares_with_the_most_frequent_class(table, worthless):
    advice = nbcfast.canonical.advise(table, "ill", {"job": [["clerk", "cook"], {"out": True}]}, **ANY)
    assert advice.frequent == ("no", 70 if worthless else 60)
    assert advice.is_worthless is worthless


def test_values_that_no_row_has_are_named():
    domains = {"job": ["clerk", "cook", "smith"], "ill": ["no", "yes"]}
    ((state, text),) = about(made(STEEP, domains).findings, "nobody has it")
    assert state == "warned"
    assert text.startswith(
        "no row has job = smith: whoever has it is answered yes, the class of highest precedence"
    )
    ((_, smoothed),) = about(made(STEEP, domains, alpha=Fraction(1)).findings, "nobody has it")
    assert "is answered by what was added to the counts" in smoothed
    assert about(made(STEEP).findings, "nobody has it") == []
