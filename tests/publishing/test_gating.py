"""Whether what was published keeps a policy: each demand yes, no, claimed or not measured."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from folder_cases import rewritten

import nbcfast
from nbcfast import Table, canonical, dp, skyline, verify
from nbcfast.ledger import Ledger
from nbcfast.policies import Policy
from nbcfast.publishing import gate
from nbcfast.publishing.policy_findings import membership_rule

pytest.importorskip("pyarrow")

PATIENTS = Path(__file__).resolve().parents[2] / "examples" / "patients.csv"
AGES = ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"]
DOMAIN = {
    "age": AGES,
    "glucose": {"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}},
    "diagnosis": ["healthy", "diabetes"],
}
RELEASE = {"class": "diagnosis", "columns": ["age", "glucose"], "amplification": 4, "preserve": "label"}
POLICY = {"release": RELEASE, "domain": DOMAIN}
MEASURED = {"max_found", "min_flip", "max_one_class"}


@pytest.fixture(scope="module")
def rows():
    return nbcfast.read_csv(PATIENTS)


@pytest.fixture(scope="module")
def published(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gated") / "release"
    made = nbcfast.publish(rows, policy=POLICY)
    assert made.refused == ()
    made.save(folder)
    return folder


def states(found):
    return {rule.name: rule.state for rule in found.rules}


def changed(section, **keys):
    return {**POLICY, section: {**POLICY.get(section, {}), **keys}}


def test_what_files_show_is_checked_and_the_rest_claimed(published):
    found = gate(published, POLICY)
    assert states(found) == {
        "verified": "yes",
        "class": "yes",
        "amplification": "yes",
        "columns": "yes",
        "domain": "yes",
        "preserve": "claimed",
        "policy": "yes",
        "undeclared_columns": "yes",
        "max_bits": "yes",
        **dict.fromkeys(MEASURED, "claimed"),
    }
    assert (found.verdict, found.exit_code, bool(found)) == ("not fully checked", 3, False)
    assert found.conclusion == "not fully checked: 4 are claimed, checked by nobody"
    assert found.to_dict()["policy"]["sha256"] == Policy.of(POLICY).sha256
    assert "claimed  preserve" in repr(found)


def test_claims_are_enough_where_the_owner_says_so(rows, tmp_path):
    policy = changed("gate", accept_claims=True)
    nbcfast.publish(rows, policy=policy).save(tmp_path / "out")
    found = gate(tmp_path / "out", policy)
    assert found.exit_code == 0
    assert found.conclusion == "kept: 4 are claimed, checked by nobody; the policy accepts claims"


def test_the_private_rows_decide_the_rest(published):
    found = gate(published, POLICY, against=PATIENTS)
    assert set(states(found).values()) == {"yes"}
    assert (found.verdict, found.exit_code) == ("kept", 0)


def test_other_rows_are_none_of_the_release(rows, published):
    some = rows.take(list(range(40)))
    found = gate(published, POLICY, against=some)
    assert found.exit_code == 1
    assert [rule.name for rule in found.named("no")] == ["verified"]


def test_rows_with_values_that_the_release_does_not_have(published):
    rows = {"age": ["18-29", "5"], "glucose": ["low", "high"], "diagnosis": ["healthy", "diabetes"]}
    found = gate(published, POLICY, against=rows)
    assert found.exit_code == 1
    assert "these are not the rows of the release" in next(r.text for r in found.rules if r.name == "against")


def test_rows_that_may_have_been_read_otherwise_are_not_called_others(tmp_path):
    lines = [f"{job},{ill}" for job, ill in [("a", "n"), ("a", "y"), ("?", "y"), ("b", "n")] * 30]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["job,ill", *lines]) + "\n", encoding="utf-8")
    table = nbcfast.read_csv(path, null_values=["", "?"])
    canonical.release(nbcfast.count(table, "ill"), 4, class_name="ill").save(tmp_path / "out")
    policy = {"release": {"class": "ill", "amplification": 4}, "limits": {"undeclared_columns": "none"}}
    found = gate(tmp_path / "out", policy, against=path)
    rule = next(rule for rule in found.rules if rule.name == "against")
    assert (rule.state, found.named("no")) == ("unmeasured", ())
    assert rule.text == (
        "not compared: value '?' of 'job' is unknown to the release, which has a null there; if it was "
        "published with null_values=('', '?'), give the same here"
    )
    assert "against" not in states(gate(tmp_path / "out", policy, against=table))
    path.write_text("job,ill\nc,n\nd,y\ne,y\nf,n\ng,n\n", encoding="utf-8")
    assert states(gate(tmp_path / "out", policy, against=path))["against"] == "no"


def test_values_that_differ_from_the_policy_are_named(published):
    domain = {**DOMAIN, "age": [*AGES[:-1], "70-79", "80+"]}
    found = {rule.name: rule for rule in gate(published, {**POLICY, "domain": domain}).rules}
    said = "age: published and not in [domain]: 70+; in [domain] and not published: 70-79, 80+"
    assert (found["domain"].state, found["domain"].text) == ("no", said)
    other = {**POLICY, "domain": {**DOMAIN, "age": AGES[::-1]}}
    found = {rule.name: rule for rule in gate(published, other).rules}
    assert found["domain"].text == "age: the values of [domain], in another order"


def test_whose_word_it_is_that_values_are_declared(published):
    free = {"release": RELEASE, "limits": {"undeclared_columns": 1}}
    found = {rule.name: rule for rule in gate(published, free).rules}
    assert found["undeclared_columns"].state == "claimed"
    assert (
        "that the values of 3 columns were declared only the certificate says"
        in found["undeclared_columns"].text
    )
    assert "the word of the certificate" not in repr(gate(published, POLICY))


WRONG = [
    (changed("release", **{"class": "bmi"}), "class"),
    (changed("release", amplification=2), "amplification"),
    (changed("release", amplification=4, attacker="worlds"), "amplification"),
    (changed("release", columns=["age"]), "columns"),
    (changed("release", preserve="order"), "preserve"),
    (changed("release", method="safetytransform"), "method"),
    (changed("release", smooth=1), "smooth"),
    (changed("release", by="sex"), "by"),
    (changed("domain", age=[*AGES, "80+"]), "domain"),
    (changed("domain", age=AGES[::-1]), "domain"),
    (changed("domain", glucose={"out": True}), "domain"),
    (changed("domain", diagnosis=["healthy", "other"]), "domain"),
    (changed("limits", max_bits=1), "max_bits"),
    (changed("limits", worst_posterior="60%"), "worst_posterior"),
    ({**POLICY, "dp": {"epsilon": 1}}, "dp"),
]


@pytest.mark.parametrize(("policy", "name"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_what_is_not_kept(published, policy, name):
    policy = {**policy, "release": {**policy["release"]}}
    if "columns" in policy["release"] and policy.get("domain", {}).get("glucose") == {"out": True}:
        del policy["release"]["columns"]
    if policy.get("dp"):
        policy = {**policy}
    found = gate(published, policy)
    assert states(found)[name] == "no", found
    assert found.exit_code == 1
    assert not nbcfast.verify(published, policy=policy).ok


def test_a_release_that_does_not_verify_keeps_nothing(published, tmp_path):
    folder = tmp_path / "out"
    nbcfast.load(published).save(folder)
    rewritten(folder, lambda fields: fields.update(amplification="3/1"))
    found = gate(folder, POLICY)
    assert (found.exit_code, [rule.name for rule in found.rules]) == (1, ["verified"])


def test_a_release_that_names_no_policy(rows, published, tmp_path):
    """Nothing is claimed for it: what no file shows is open, and the private rows may decide all of it."""
    release = nbcfast.load(published)
    replace(release, certificate=replace(release.certificate, policy=None)).save(tmp_path / "out")
    found = gate(tmp_path / "out", POLICY)
    assert {name for name, state in states(found).items() if state == "unmeasured"} == MEASURED
    assert found.exit_code == 3
    assert gate(tmp_path / "out", POLICY, against=rows).exit_code == 0
    checks = {check.name: check for check in nbcfast.verify(tmp_path / "out", policy=POLICY).checks}
    assert (checks["policy"].passed, checks["policy"].text) == (
        False,
        "the certificate names no policy that it was published under",
    )


def test_verify_with_a_policy(published):
    checks = {check.name: check for check in nbcfast.verify(published, policy=POLICY).checks}
    assert checks["policy"].passed
    assert "of 4 other demands it shows nothing" in checks["policy"].text
    claims = nbcfast.verify(published, policy=POLICY).claims
    assert any("was published under the policy with the sha256" in text for text in claims)


def test_values_of_the_rows_are_counted(rows, tmp_path):
    policy = {"release": {**RELEASE, "columns": ["age", "sex"]}, "limits": {"undeclared_columns": 3}}
    made = nbcfast.publish(rows, policy=policy)
    replace(made, accepted=True).save(tmp_path / "out")
    assert states(gate(tmp_path / "out", policy))["undeclared_columns"] == "yes"
    fewer = {**policy, "limits": {"undeclared_columns": 2}}
    assert states(gate(tmp_path / "out", fewer))["undeclared_columns"] == "no"
    shows = nbcfast.publish(rows, policy=fewer).refused
    assert "undeclared columns" in {finding.about for finding in shows}


def test_that_values_were_declared_is_a_claim_without_a_domain(rows, tmp_path):
    policy = {"release": RELEASE}
    nbcfast.publish(rows, policy=policy, domains=DOMAIN).save(tmp_path / "out")
    assert states(gate(tmp_path / "out", policy))["undeclared_columns"] == "claimed"


def test_powers_of_counts_do_not_say_which_values_come_from_the_rows(tmp_path):
    views = nbcfast.Viewset([50, 90], {"job": [[9, 70], [41, 20]]}, classes=["ill", "well"])
    nbcfast.safety_transform(views, 4, class_name="diagnosis").save(tmp_path / "out")
    found = states(gate(tmp_path / "out", {"release": {"class": "diagnosis", "amplification": 4}}))
    assert found["undeclared_columns"] == "unmeasured"


def test_accepted_answers_keep_no_limit(rows, tmp_path):
    free = {**POLICY, "limits": {"accept_answers": True, "max_bits": 1}}
    made = nbcfast.publish(rows, policy=free, accept_answers=True)
    made.save(tmp_path / "out")
    found = states(gate(tmp_path / "out", free))
    assert (found["max_bits"], found["max_found"]) == ("no", "unmeasured")
    strict = {**POLICY, "limits": {"max_bits": 1}}
    assert states(gate(tmp_path / "out", strict))["accept_answers"] == "no"


def test_limits_are_measured_beside_the_rows(rows, tmp_path):
    policy = {"release": {"class": "diagnosis", "amplification": 4}, "limits": {"undeclared_columns": "none"}}
    columns = ["age", "glucose", "relatives"]
    made = nbcfast.publish(rows, policy=policy, columns=columns)
    assert made.refused
    with pytest.raises(nbcfast.Infeasible, match="nothing is written"):
        made.save(tmp_path / "out")
    made.release.save(tmp_path / "out")
    found = gate(tmp_path / "out", policy, against=rows)
    assert {"max_found", "max_one_class"} <= {rule.name for rule in found.named("no")}


def test_strata_are_judged_one_by_one(rows, tmp_path):
    policy = {
        "release": {**RELEASE, "columns": ["age", "glucose", "sex"], "by": "sex"},
        "domain": {**DOMAIN, "sex": ["female", "male"]},
        "limits": {"max_one_class": "none", "min_flip": 0.5},
    }
    made = nbcfast.publish(rows, policy=policy)
    made.save(tmp_path / "out")
    assert {one.certificate.policy for one in made.release.strata.values()} == {Policy.of(policy).sha256}
    found = states(gate(tmp_path / "out", policy))
    assert (found["by"], found["domain"], found["verified"]) == ("yes", "yes", "yes")
    assert nbcfast.verify(tmp_path / "out", policy=policy).checks[-1].passed
    measured = gate(tmp_path / "out", policy, against=rows)
    assert measured.exit_code == 0, measured
    other = {**policy, "release": {**policy["release"], "by": "age"}}
    assert states(gate(tmp_path / "out", other))["by"] == "no"


def test_noise_is_claimed(rows, tmp_path):
    policy = {**POLICY, "dp": {"epsilon": 1}}
    made = nbcfast.publish(rows, policy=policy)
    made.save(tmp_path / "out")
    found = states(gate(tmp_path / "out", policy, against=rows))
    assert found["dp"] == "claimed"
    assert not MEASURED & set(found)
    for other in (
        {"epsilon": 0.5},
        {"rho": 1},
        {"epsilon": 1, "rows_per_person": 2},
        {"epsilon": 1, "neighbours": "replace"},
    ):
        assert states(gate(tmp_path / "out", {**POLICY, "dp": other}))["dp"] == "no", other
    assert states(gate(tmp_path / "out", POLICY))["dp"] == "no"
    assert (
        states(gate(tmp_path / "out", {**POLICY, "dp": {"epsilon": 2, "required": False}}))["dp"] == "claimed"
    )


def test_delta_has_to_be_allowed(tmp_path):
    views = nbcfast.Viewset(
        [50, 90], {"job": [[9, 70], [41, 20]]}, classes=["ill", "well"], domains={"job": ["a", "b"]}
    )
    noisy = dp.counts(views, rho="1/8", delta="1e-6")
    canonical.release(noisy, 4, class_name="c").save(tmp_path / "out")
    release = {"class": "c", "amplification": 4}
    assert states(gate(tmp_path / "out", {"release": release, "dp": {"epsilon": 9}}))["dp"] == "no"
    allowed = {"release": release, "dp": {"epsilon": 9, "delta": "1e-6"}}
    assert states(gate(tmp_path / "out", allowed))["dp"] == "claimed"


def test_a_ledger_says_whether_it_was_entered(rows, published, tmp_path):
    book = str(tmp_path / "book")
    policy = {**POLICY, "ledger": {"file": book}}
    assert states(gate(published, policy))["ledger"] == "unmeasured"
    nbcfast.publish(rows, policy=policy).save(tmp_path / "out")
    assert len(Ledger(book).lines) == 1
    assert states(gate(tmp_path / "out", policy))["ledger"] == "yes"
    assert states(gate(published, policy))["ledger"] == "no"


def test_menus(rows, tmp_path):
    (tmp_path / "m.json").write_text(
        '{"age": [{"out": true}], "glucose": [{"groups": {"usual": ["low", "normal"], "raised": ["raised", '
        '"high"]}}, {"out": true}], "diagnosis": [["healthy", "diabetes"]]}',
        encoding="utf-8",
    )
    path = tmp_path / "p.toml"
    head = '[release]\nclass = "diagnosis"\namplification = 4\n'
    path.write_text(f'menu = "m.json"\n{head}', encoding="utf-8")
    nbcfast.publish(rows.select(["age", "glucose", "diagnosis"]), policy=path).save(tmp_path / "out")
    found = gate(tmp_path / "out", path, against=PATIENTS)
    assert (states(found)["menu"], states(found)["verified"]) == ("yes", "yes")
    (tmp_path / "m.json").write_text('{"glucose": [["low", "normal", "raised", "high"]]}', encoding="utf-8")
    assert states(gate(tmp_path / "out", path))["verified"] == "no"


def test_a_menu_that_nobody_has_checked_is_never_called_declared(rows, tmp_path):
    menu = {
        "age": [{"groups": {"young": AGES[:3], "old": AGES[3:]}}, ["0-17", *AGES]],
        "glucose": [DOMAIN["glucose"], {"out": True}],
        "diagnosis": [["healthy", "diabetes"]],
    }
    write = {
        "checked.json": menu,
        "begun.json": {"menu": menu, "from_rows": ["age"]},
        "others.json": {"menu": {**menu, "age": [AGES[1:]]}, "from_rows": ["age"]},
        "without.json": {"menu": {"glucose": menu["glucose"]}, "from_rows": ["glucose"]},
    }
    policies = {}
    for name, document in write.items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
        policies[name] = tmp_path / f"{name}.toml"
        limits = "[limits]\nundeclared_columns = 3\n"
        policies[name].write_text(
            f'menu = "{name}"\n[release]\nclass = "diagnosis"\namplification = 4\n{limits}', encoding="utf-8"
        )
    table = rows.select(["age", "glucose", "diagnosis"])
    for name in ("begun", "checked"):
        made = nbcfast.publish(table, policy=policies[f"{name}.json"])
        assert made.refused == ()
        made.save(tmp_path / name)
    # Published under it, a release keeps it: and that its values come from the rows is counted, and said.
    begun = policies["begun.json"]
    found = gate(tmp_path / "begun", begun, against=PATIENTS)
    said = {rule.name: rule.text for rule in found.rules}
    assert (found.verdict, states(found)["menu"]) == ("kept", "yes")
    assert said["menu"] == (
        "the values are those of one domain of this menu, whose options of age come from the rows"
    )
    assert said["undeclared_columns"].startswith("the values of age come from the rows")
    assert verify(tmp_path / "begun", policy=begun).ok
    for name, text in (
        ("others.json", "age has values of no one option of the menu"),
        ("without.json", "the menu has no column age, which is an attribute"),
        ("checked.json", "age has values of no one option of the menu"),
    ):
        found = gate(tmp_path / "begun", policies[name])
        assert [rule.text for rule in found.rules if rule.name == "menu"] == [text]
        assert states(found)["menu"] == "no"
    # Nor does the word of a certificate make one declared that its owner has marked.
    stricter = begun.read_text(encoding="utf-8").replace("undeclared_columns = 3", "undeclared_columns = 0")
    begun.write_text(stricter, encoding="utf-8")
    found = gate(tmp_path / "checked", begun)
    said = {rule.name: rule.text for rule in found.rules}
    assert states(found)["undeclared_columns"] == states(found)["policy"] == "no"
    assert said["menu"] == "the domain is one of this menu, whose options of age come from the rows"
    assert Policy.of(policies["checked.json"]).sha256 != Policy.of(policies["begun.json"]).sha256


def test_members_are_told_apart_from_others(rows, tmp_path):
    half, other = rows.take(list(range(2500))), rows.take(list(range(2500, 5000)))
    policy = {**POLICY, "limits": {"membership_auc": "55%"}}
    without = nbcfast.publish(half, policy=policy)
    assert [finding.about for finding in without.refused] == ["membership auc"]
    made = nbcfast.publish(half, policy=policy, holdout=other)
    assert made.refused == ()
    made.save(tmp_path / "out")
    assert states(gate(tmp_path / "out", policy))["membership_auc"] == "claimed"
    assert states(gate(tmp_path / "out", policy, against=half))["membership_auc"] == "unmeasured"
    assert gate(tmp_path / "out", policy, against=half, holdout=other).exit_code == 0
    low = {**POLICY, "limits": {"membership_auc": "1/2"}}
    found = gate(tmp_path / "out", low, against=half, holdout=other)
    assert states(found)["membership_auc"] in ("no", "unmeasured")


def test_what_may_be_by_chance_is_open():
    class Found:
        measured, left_out, text = True, 0, "so"
        auc, standard_error = 0.52, 0.02

    states_ = [membership_rule(Found(), most).state for most in (0.51, 0.55, 0.57)]
    assert states_ == ["no", "unmeasured", "yes"]
    Found.left_out = 1
    assert membership_rule(Found(), 0.9).state == "unmeasured"


def test_other_kinds_are_none_of_a_policy(tmp_path):
    people = Table({"job": ["a", "a", "b", "b"], "ill": ["y", "n", "y", "n"]})
    skyline.anonymize(people, ["job"], "ill", k=2).save(tmp_path / "out")
    found = gate(tmp_path / "out", POLICY)
    assert (found.exit_code, states(found)["kind"]) == (1, "no")
    assert nbcfast.verify(tmp_path / "out", policy=POLICY).exit_code == 1


def test_listed_answers_are_not_measured(rows, tmp_path):
    pairs = {"age": AGES[:3], "glucose": ["low"] * 3}
    release = nbcfast.publish(rows, policy=POLICY, tuples=pairs).release
    release.save(tmp_path / "out")
    found = states(gate(tmp_path / "out", POLICY, against=rows))
    assert {found[name] for name in ("max_bits", *MEASURED)} == {"unmeasured"}


def test_arguments(published, tmp_path):
    with pytest.raises(ValueError, match="holdout goes with against, got none"):
        gate(published, POLICY, holdout=PATIENTS)
    with pytest.raises(OSError, match="nothing"):
        gate(tmp_path / "nothing", POLICY)
    with pytest.raises(TypeError, match="policy must be"):
        gate(published, 4)
    with pytest.raises(
        TypeError, match="class_name must be a text, got None; with a policy it may be left out"
    ):
        nbcfast.publish(PATIENTS, amplification=4)


def test_it_is_a_name_of_the_library():
    assert nbcfast.gate is gate
