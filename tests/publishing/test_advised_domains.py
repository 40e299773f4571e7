"""A domain file that was advised: `publish` uses the domain, and carries the choice into the certificate."""

import json

import pytest

import nbcfast
from nbcfast import publish
from nbcfast._wire.menus import menu_digest, n_choices, resolved
from nbcfast.domains import declared
from nbcfast.published import Advised

PATIENTS = {
    "age": [20, 30, 40, 50] * 30,
    "job": ["a", "b", "c"] * 40,
    "town": ["p", "q"] * 60,
    "ill": ["no", "yes", "yes", "no", "yes", "no"] * 20,
}
MENU = {
    "age": [[20, 30, 40, 50], {"edges": [None, 35, None]}],
    "job": [["a", "b", "c"], {"groups": {"x": ["a", "b"], "y": ["c"]}}, {"out": True}],
}
DOMAIN = {
    "age": {"edges": [None, 35, None]},
    "job": {"groups": {"x": ["a", "b"], "y": ["c"]}},
    "town": {"out": True},
    "ill": ["no", "yes"],
}


@pytest.fixture
def advice():
    menu = resolved(MENU, None)
    return Advised(menu=menu_digest(menu), options=n_choices(menu), chosen=[1, 1], by="correct")


@pytest.fixture
def file(tmp_path, advice):
    path = tmp_path / "domain.json"
    path.write_text(json.dumps({"domain": DOMAIN, "advice": advice.to_json()}))
    return path


@pytest.mark.parametrize("method", ["canonical", "safetytransform"])
def test_the_certificate_says_which_choice_it_is(method, file, advice, tmp_path):
    made = publish(PATIENTS, "ill", 4, method=method, domains=file, accept_answers=True)
    assert made.release.certificate.advice == advice
    assert made.release.views.attributes == ("age", "job")
    assert any(text.startswith("The choice of the domain tells at most 2.6 bits") for text in made.warnings)
    made.save(tmp_path / "out")
    found = nbcfast.verify(tmp_path / "out", menu=MENU)
    assert {check.name: check.passed for check in found.checks}["menu"]
    assert found.ok


def test_a_plain_domain_file_has_no_advice(tmp_path):
    made = publish(PATIENTS, "ill", 4, domains=DOMAIN, accept_answers=True)
    assert made.release.certificate.advice is None
    assert "advice" not in json.dumps(made.to_dict())


def test_columns_that_were_not_advised_are_refused(file):
    with pytest.raises(ValueError, match="column 'job' is one of the advised columns, and not used"):
        publish(PATIENTS, "ill", 4, domains=file, columns=["age"])
    with pytest.raises(ValueError, match="column 'new' was not advised"):
        publish({**PATIENTS, "new": ["r", "s"] * 60}, "ill", 4, domains=file)


def test_an_advised_domain_is_not_mended_by_hand(file):
    """With bins of another column the certificate would name a choice that the domain is not."""
    advised, more = declared(file), declared({"new": {"edges": [0, 1]}})
    for one, other in ((advised, more), (more, advised)):
        with pytest.raises(
            ValueError, match=r"domain\.json: its domain is used as it was advised or not at all"
        ):
            one.with_others(other)
    assert advised.with_others(declared({"new": {"out": True}})).advice == advised.advice


def test_advice_that_is_none_is_refused_with_the_name_of_the_file(file, advice):
    file.write_text(json.dumps({"domain": DOMAIN, "advice": {**advice.to_json(), "bits_at_most": "2.5"}}))
    with pytest.raises(ValueError, match=r"domain\.json: field 'advice': expected bits_at_most \"2\.6\""):
        publish(PATIENTS, "ill", 4, domains=file)


def test_the_command_line_carries_it_too(file, advice, tmp_path, run):
    pytest.importorskip("click")
    table = tmp_path / "patients.csv"
    lines = [",".join(PATIENTS), *(",".join(map(str, row)) for row in zip(*PATIENTS.values(), strict=True))]
    table.write_text("\n".join(lines) + "\n")
    command = (
        "publish",
        table,
        "--class",
        "ill",
        "--amplification",
        "4",
        "--accept-answers",
        "--domain",
        file,
    )
    code, out, err = run(*command, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "The choice of the domain tells at most 2.6 bits more" in out
    assert nbcfast.load(tmp_path / "out").certificate.advice == advice
