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


@pytest.mark.parametrize("method", ["canonical", "safetytransform", "est"])
def test_values_of_the_rows_are_published_as_if_no_file_named_them(method, tmp_path):
    """A file that has what the rows have, and says so, makes no other release than no file."""
    values = {name: [*nbcfast.Table(PATIENTS).domain(name)] for name in PATIENTS}
    more = {"prior": {"no": 0.5, "yes": 0.5}} if method == "est" else {}

    def made(domains):
        return publish(PATIENTS, "ill", 4, method=method, domains=domains, accept_answers=True, **more)

    plain = made(None)
    for unused in ({}, {"age": [*values["age"], 97], "ill": ["maybe", *values["ill"]]}):
        begun = made({"domain": {**values, **unused}, "from_rows": list(values)})
        assert begun.release == plain.release
        assert begun.findings == plain.findings
        assert begun.release.views.domain("age") == (20, 30, 40, 50)
    assert any(finding.about == "not declared" for finding in plain.findings)
    begun.save(tmp_path / "out")
    verification = nbcfast.verify(tmp_path / "out", PATIENTS, class_name="ill")
    assert verification.ok
    assert not any("were declared, and" in text for text in verification.claims)


def test_columns_that_were_checked_are_declared_beside_those_that_were_not(tmp_path):
    made = publish(
        PATIENTS, "ill", 4, domains={"domain": DOMAIN, "from_rows": ["job", "ill"]}, accept_answers=True
    )
    assert made.release.certificate.canonical.undeclared == ("job", None)
    made.save(tmp_path / "out")
    verification = nbcfast.verify(tmp_path / "out")
    assert verification.ok
    assert any(text.startswith("The values of age were declared, and do not") for text in verification.claims)
    assert any("The values of job and the class come from the rows" in text for text in verification.warnings)


def test_the_order_of_an_unchecked_class_is_that_of_the_file():
    views = [
        publish(
            PATIENTS,
            "ill",
            4,
            domains={"domain": {"ill": order}, "from_rows": ["ill"]},
            columns=["age", "job"],
            accept_answers=True,
        ).release.views
        for order in (["no", "yes"], ["yes", "no"])
    ]
    assert [one.classes for one in views] == [("no", "yes"), ("yes", "no")]


def test_strata_by_an_unchecked_column_say_so():
    domain = {"town": ["p", "q", "r"], "age": [20, 30, 40, 50], "job": ["a", "b", "c"], "ill": ["no", "yes"]}
    for from_rows in (["town"], ["job"]):
        made = publish(
            PATIENTS,
            "ill",
            4,
            by="town",
            domains={"domain": {**domain, "town": ["p", "q"]}, "from_rows": from_rows},
            accept_answers=True,
        )
        assert made.release.undeclared == ("town" in from_rows)
        undeclared = {one.certificate.canonical.undeclared for one in made.release.strata.values()}
        assert undeclared == {tuple(name for name in from_rows if name != "town")}


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
