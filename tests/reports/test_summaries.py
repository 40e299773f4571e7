"""`summary_of`: what any result comes to, in words that calm nobody wrongly."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import nbcfast
from nbcfast import associations, attack, canonical, response, skyline, templates
from nbcfast.canonical import Limits
from nbcfast.published.exported import Exported
from nbcfast.publishing.findings import Adversaries
from nbcfast.publishing.gate import STATES, GateFinding
from nbcfast.reports import Decision, Refusal, Summary, summary_of
from nbcfast.reports.advice_summary import of_advice
from nbcfast.reports.attack_summary import odds_finding, of_adversaries
from nbcfast.reports.response_summary import of_scheme
from nbcfast.reports.risk_summary import of_risk
from nbcfast.reports.summary import worst_state
from nbcfast.reports.template_summary import of_disclosure, of_violations
from nbcfast.reports.use_summary import of_exported

DECLARED = {"age": ["young", "middle", "old"], "glucose": ["low", "high"], "ill": ["no", "yes"]}
ROWS = 600


def rows():
    """People whose illness their age and glucose make likelier."""
    rng = np.random.default_rng(20_261_119)
    age, glucose = rng.integers(0, 3, ROWS), rng.random(ROWS) < 0.4
    ill = rng.random(ROWS) < 0.15 + 0.2 * age + 0.2 * glucose
    codes = {"age": age, "glucose": glucose.astype(int), "ill": ill.astype(int)}
    return {name: [DECLARED[name][code] for code in column] for name, column in codes.items()}


PATIENTS = rows()
NO_LIMITS = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)


@pytest.fixture(scope="module")
def table():
    return nbcfast.Table(PATIENTS)


def worst_first(summary):
    places = [STATES.index(finding.state) for finding in summary.findings]
    return places == sorted(places)


def test_a_refused_release_is_not_to_be_published():
    summary = summary_of(nbcfast.publish({**PATIENTS, "id": range(ROWS)}, "ill", 4, limits=None))
    assert (summary.verdict, summary.state) == ("DO NOT PUBLISH YET", "shows")
    assert summary.about == "a table, ill (nothing was written)"
    assert summary.findings[0].about == "names people"
    assert worst_first(summary)


def test_what_is_accepted_is_never_green(table):
    made = nbcfast.publish(table, "ill", 4, limits=Limits(max_bits=0), accept_answers=True)
    assert made.shows
    summary = summary_of(made)
    assert (summary.verdict, summary.state) == (
        "would be published although this shows (accepted)",
        "shows",
    )
    assert any(text.startswith("The publisher accepted whatever") for text in summary.remarks)


def test_every_limit_that_is_kept_is_named_and_what_is_not_bounded_said_once(table, tmp_path):
    made = nbcfast.publish(nbcfast.Table(PATIENTS, domains=DECLARED), "ill", 4)
    assert summary_of(made).verdict == "would be published, every check green"
    summary = summary_of(made.save(tmp_path / "release"), "patients.csv, ill -> release")
    assert (summary.verdict, summary.state, summary.about) == (
        "published, every check green",
        "kept",
        "patients.csv, ill -> release",
    )
    found = {finding.about: finding.text for finding in summary.findings}
    assert found["limit kept"].startswith("nobody above ")
    assert "identical: the best class on all 6 tuples" in found["same decisions"]
    assert "accuracy" in found["same decisions"]
    assert summary.remarks[0].startswith("Its answers say the class of every tuple, which no limit bounds")
    assert "not differential privacy" in summary.remarks[-1]
    undeclared = summary_of(nbcfast.publish(table, "ill", 4).save(tmp_path / "other"))
    assert undeclared.verdict == "published, every limit kept; mind what is marked !"
    assert undeclared.findings[0].about == "not declared"


def test_nobody_is_above_what_is_said_rounded_up():
    made = nbcfast.publish(PATIENTS, "ill", 4, limits=NO_LIMITS)
    [kept] = [finding for finding in summary_of(made).findings if finding.about == "limit kept"]
    said = Fraction(kept.text.removeprefix("nobody above ").partition("%")[0]) / 100
    assert made.after.worst_of_all.probability <= said < made.after.worst_of_all.probability + 0.002


def test_warnings_of_a_release_are_findings(tmp_path):
    flat = nbcfast.publish(
        {"a": ["x", "y"] * 30, "c": ["n", "n", "y", "y"] * 15}, "c", "1.01", limits=NO_LIMITS
    )
    texts = {finding.text: finding.state for finding in summary_of(flat).findings}
    for text in flat.release.remarks:
        assert texts[text] == "warned"


def test_strata_and_noise_have_summaries(table, tmp_path):
    declared = nbcfast.Table(PATIENTS, domains=DECLARED)
    strata = summary_of(nbcfast.publish(declared, "ill", 4, by="age", limits=NO_LIMITS))
    assert strata.about == "a table, ill by age (nothing was written)"
    assert {"limit kept", "same decisions"} <= {finding.about for finding in strata.findings}
    noisy = nbcfast.publish(declared, "ill", 4, dp={"epsilon": 1})
    summary = summary_of(noisy)
    assert summary.verdict == "not written yet: published with noise of epsilon 1"
    [agreed] = [finding for finding in summary.findings if finding.about == "same decisions"]
    assert agreed.text.endswith("(for you alone)")
    assert summary_of(noisy.save(tmp_path / "noisy")).verdict == "published with noise of epsilon 1"


def test_what_was_changed_is_not_verified_and_what_is_claimed_is_no_check(table, tmp_path):
    nbcfast.publish(table, "ill", 4, limits=NO_LIMITS).save(tmp_path / "release")
    summary = summary_of(nbcfast.verify(tmp_path / "release"))
    assert summary.verdict.startswith("verified: what the files can show")
    claims = [finding.state for finding in summary.findings if finding.about == "claim, unchecked"]
    assert claims
    assert set(claims) == {"warned"}
    assert summary.state == "warned"
    certificate = tmp_path / "release" / "certificate.json"
    certificate.write_text(certificate.read_text(encoding="utf-8").replace("old", "odd"), encoding="utf-8")
    summary = summary_of(nbcfast.verify(tmp_path / "release"))
    assert (summary.verdict, summary.state) == ("NOT VERIFIED", "shows")
    assert summary.findings[0].state == "shows"
    assert "Do not use it" in summary.decisions[0].question


def test_adversaries_say_the_worst_first(table):
    views = nbcfast.count(table, "ill")
    of_table = summary_of(Adversaries.of(views, views, table))
    assert of_table.verdict.startswith(("AS IT IS", "COUNTS COME BACK"))
    assert of_table.state == "shows"
    release = nbcfast.safety_transform(views, 4)
    of_release = summary_of(Adversaries.of(release, None))
    assert "no proof that none does" in of_release.remarks[0]
    assert "safe" not in json.dumps(of_release.to_dict())


def test_the_meter_calms_nobody(table):
    views = nbcfast.count(table, "ill")
    summary = summary_of(canonical.leak(views, table=table, class_name="ill"))
    assert summary.verdict in (
        "nothing was found in the answers by what was tried",
        "THE ANSWERS GIVE PEOPLE AWAY",
    )
    one = nbcfast.count({"a": ["x", "y"], "c": ["n", "n"]}, "c")
    assert summary_of(canonical.leak(one)).state == "unmeasured"
    assert isinstance(attack.worst(views).known, dict)


def test_an_advice_names_its_domain_and_its_limits(table):
    menu = {name: [values, {"out": True}] for name, values in DECLARED.items() if name != "ill"}
    menu["ill"] = [DECLARED["ill"]]
    summary = summary_of(nbcfast.advise(table, "ill", menu=menu, folds=0))
    assert summary.verdict == "the best domain keeps every limit"
    about = [finding.about for finding in summary.findings]
    assert {"domain", "worth", "counts come back", "class shows", "bits a weight"} <= {*about}


def test_tables_by_skyline_and_templates(table, tmp_path):
    groups = skyline.group(table, ["age"], "glucose")
    summary = summary_of(skyline.check(groups, [(0, 0, 0, "0.5"), (0, 0, 0, 1)]), "x")
    assert (summary.verdict, summary.state) == ("UNSAFE: 1 of 2 points is not kept", "shows")
    assert summary.findings[0].about == "worst attack"
    safe = summary_of(skyline.check(groups, [(0, 0, 0, 1)]))
    assert (safe.verdict, safe.state) == ("safe at 1 point", "kept")
    partition = skyline.anonymize(table, ["age"], "glucose", k=5)
    assert summary_of(partition).findings[-1].state == "kept"
    template = templates.Template(("age",), ("glucose", "low"), "5%")
    broken = templates.violations(table, [template])
    assert of_violations(broken).verdict.startswith("DO NOT PUBLISH AS IT IS: ")
    assert of_violations(()).verdict == "all templates hold"
    assert of_violations((), remarks=["?"]).verdict == "all templates hold, if every row counts once"
    disclosure = templates.disclose(
        table, [templates.Template(("age",), ("glucose", "low"), "90%")], utility="distortion"
    )
    assert summary_of(disclosure).verdict.startswith("made, every template holds")


def test_templates_that_hold_do_not_calm_where_guesses_are_good(table):
    template = templates.Template(("age",), ("ill", "yes"), 1)
    made = templates.disclose(table, [template], utility="distortion")
    found = attack.definetti(table, made, "ill")
    sure = replace(found, accuracy=0.97, baseline=0.6)
    summary = of_disclosure(made, guesses={"ill": sure})
    assert "mind what is marked !" in summary.verdict
    question = summary.decisions[-1].question
    assert question.startswith("Decide whether the guesses of ill may be made")
    assert "`nbcfast verify` checks templates and does not see such guesses" in question
    assert not of_disclosure(made, guesses={"ill": replace(found, accuracy=0.5, baseline=0.6)}).decisions


def test_an_advice_says_how_many_show(table):
    made = canonical.advise(table, "ill", {name: [values] for name, values in DECLARED.items()})
    best = replace(made.best, flip=0.995, trace=0.9)
    found = {one.about: one for one in of_advice(replace(made, best=best, here=None)).findings}
    shows = "that of 0.50% of people (at most 1.00% of people may show; mind them)"
    assert (found["class shows"].state, found["class shows"].text) == ("warned", shows)
    presence = "that of 10.00% of people (no limit was asked for)"
    assert (found["presence shows"].state, found["presence shows"].text) == ("warned", presence)


def test_answers_that_hide_nothing_say_so(table):
    scheme = response.Scheme("0.8", [["glucose"]])
    told = response.disguise(table.select(["glucose", "ill"]), scheme, None)
    summary = summary_of(told)
    assert summary.verdict == "600 answers disguised, epsilon = 1.3863"
    assert summary.findings[0].about == "told as they are"
    estimate = summary_of(response.estimate(told, scheme, "ill"))
    assert [finding.about for finding in estimate.findings] == ["share", "share"]
    seeded = response.disguise(table.select(["glucose"]), scheme, np.random.default_rng(1))
    assert summary_of(seeded).verdict.startswith("A SIMULATION: ")


def test_risk_says_who_is_given_away():
    people = {"name": ["A", "B", "C"], "age": [1, 1, 2], "has": ["x", "y", "z"]}
    risk = associations.risk(people, [("name", "age"), ("age", "has")], "name", "has", model="restricted")
    summary = summary_of(risk)
    assert (summary.verdict, summary.state) == (
        "SOMEBODY IS GIVEN AWAY: some of 3 identities are known for sure",
        "shows",
    )
    assert any(finding.text == "name C has has z with probability 1" for finding in summary.findings)
    above = of_risk(risk, level=Fraction(1, 3))
    assert above.verdict == "TOO LIKELY: 5 associations are above 1/3, of 3 identities"


def test_the_form_of_a_summary():
    found = (GateFinding("a", "kept", "x"), GateFinding("b", "unmeasured", "y"))
    assert worst_state(found) == "unmeasured"
    assert worst_state(()) == "kept"
    decision = Decision("What?", ("nbcfast verify x", "look at it"))
    assert decision.commands == ("nbcfast verify x",)
    summary = Summary("v", "kept", "a", found, (decision,), ("r",))
    assert json.loads(json.dumps(summary.to_dict())) == {
        "verdict": "v",
        "state": "kept",
        "about": "a",
        "findings": [finding.to_dict() for finding in found],
        "decisions": [
            {
                "question": "What?",
                "steps": ["nbcfast verify x", "look at it"],
                "commands": ["nbcfast verify x"],
            }
        ],
        "remarks": ["r"],
    }
    refusal = Refusal(
        file="f.csv", class_name="c", about="f.csv, c -> out", findings=found, whole=True, mends=decision,
        accept="nbcfast publish --accept-answers", limits=Limits(),
    )  # fmt: skip
    assert refusal.script == "nbcfast verify x\n# look at it"
    assert summary_of(refusal).about == "f.csv, c -> out (nothing was written)"
    assert replace(refusal, mends=Decision("None.")).script is None
    with pytest.raises(TypeError, match="result must be what nbcfast"):
        summary_of(3)


def test_odds_are_the_most_only_where_nothing_larger_is_possible(table):
    worst = attack.worst(nbcfast.count(table, "ill"), "worlds")
    assert worst.certified
    assert f"by {worst.text} at most, to whoever" in odds_finding(worst).text
    open_ = replace(worst, certified=False, log_bound=worst.log + 1)
    text = odds_finding(open_).text
    assert "at most" not in text
    assert f"by {worst.text}, and nowhere above " in text


def test_a_table_that_was_not_compared_is_no_ok(table):
    found = Adversaries.of(nbcfast.count(table, "ill"), None, None, None, "ill")
    for checked, state in ((True, "kept"), (False, "unmeasured")):
        summary = of_adversaries(found, same="beside the table", same_was_checked=checked)
        (finding,) = (one for one in summary.findings if one.about == "same table")
        assert finding.state == state


def test_coins_that_hide_hardly_anything_are_no_ok():
    domains = {"ill": ["no", "yes"], "age": ["young", "old"]}
    for theta, state in (("0.9", "kept"), ("0.99999", "warned")):
        scheme = response.Scheme.per_attribute(theta, domains, domains=domains)
        assert {finding.state for finding in of_scheme(scheme)} == {state}
        ill = response.Scheme.per_attribute(theta, {"ill": ["no", "yes"]})
        page = response.disguise(nbcfast.Table(PATIENTS).select(["ill"]), ill)._repr_html_()
        assert re.findall(r'"nbc-mark nbc-(\w+)"', page) == [state] * page.count('"nbc-mark ')


@pytest.mark.parametrize(
    ("runtime", "said"),
    [("java 1", "java 1 gives 6 of 6"), ("java 1 and lua 2", "java 1 and lua 2 give 6 of 6")],
)
def test_one_program_gives_classes_and_several_give_them(runtime, said):
    made = Exported("a.pmml", "pmml", 9, "ab", 6, 6, runtime, True)
    found = of_exported(
        made, GateFinding("release", "kept", "every check holds"), "release -> a.pmml"
    ).findings
    finding = next(one for one in found if one.about == "same decisions")
    assert finding.text == f"{said} tuples the class of the release"
