"""The gate: what a release would give away, in words, and that nothing leaves unseen."""

import json
from dataclasses import replace

import numpy as np
import pytest

import nbcfast
from nbcfast.canonical import Limits
from nbcfast.canonical.leave_one_out import at_most
from nbcfast.publishing.gate import STATES, GateFinding, ReleaseMeasures, judged

# No value is of one class, no class shows, and nobody is remembered.
KEPT = {"job": ["cook", "clerk"] * 50, "ill": (["no", "no", "yes", "no"] * 25)}
DECLARED = {"job": ["clerk", "cook"], "ill": ["no", "yes"]}
NO_LIMITS = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)


def made(table, **named):
    return nbcfast.publish(table, "ill", 4, **named)


def about(publication, what, state=None):
    """The texts of the findings about something."""
    return [
        finding.text
        for finding in publication.findings
        if finding.about == what and state in (None, finding.state)
    ]


def patterned(n_rows, **columns):
    """So many rows of two values and two classes that depend on each other, and these columns."""
    job = [place % 2 for place in range(n_rows)]
    ill = [("yes", "no")[(place % 2 + (place % 5 == 0)) % 2] for place in range(n_rows)]
    return {"job": job, **columns, "ill": ill}


class TestKept:
    def test_every_limit_is_said_to_be_kept(self, tmp_path):
        found = made(patterned(200), domains={"job": [0, 1], "ill": ["no", "yes"]})
        assert found.shows == found.refused == ()
        assert {finding.state for finding in found.findings} == {"kept"}
        whats = [finding.about for finding in found.findings]
        assert whats == [
            "values of one class",
            "counts come back",
            "class shows",
            "remembers its rows",
            "bits a weight",
        ]
        assert found.save(tmp_path / "out").files
        assert not found.release.certificate.accepted

    def test_values_from_rows_are_warned_of_and_leave(self, tmp_path):
        found = made(patterned(200))
        assert found.refused == ()
        assert found.findings[0].about == "not declared"
        assert found.findings[0].state == "warned"
        assert found.save(tmp_path / "out").files

    def test_an_attribute_of_one_value_is_said(self):
        found = made(patterned(200, town=["here"] * 200))
        assert about(found, "one value only", "warned") == [
            "everybody has town = here: it decides nothing, and can be left out"
        ]


class TestRefused:
    def test_nothing_is_written_and_what_shows_is_said(self, tmp_path):
        columns = patterned(200, age=[90, 90, 90] + [30, 40] * 98 + [50])
        columns["ill"][:3] = ["yes"] * 3
        found = made(columns)
        text = "whoever knows how many people have age = 90 reads the class of all 3 of them: yes"
        assert text in about(found, "values of one class", "shows")
        assert found.refused
        assert found.refused == found.shows
        with pytest.raises(nbcfast.Infeasible) as refused:
            found.save(tmp_path / "out")
        assert text in str(refused.value)
        assert "accept_answers=True" in str(refused.value)
        assert not (tmp_path / "out").exists()

    def test_it_is_published_where_that_is_accepted(self, tmp_path):
        columns = patterned(200, age=[90, 90, 90] + [30, 40] * 98 + [50])
        found = made(columns, accept_answers=True)
        assert found.shows
        assert found.refused == ()
        found.save(tmp_path / "out")
        loaded = nbcfast.load(tmp_path / "out")
        assert loaded.certificate.accepted
        # The same words whatever was found: no number of the private rows, and no name of what shows.
        kept = made(patterned(200), accept_answers=True).release.certificate
        accepted = loaded.certificate.warnings[0]
        assert kept.warnings[0] == accepted
        assert "accepted" in accepted

    def test_a_value_of_one_person_is_his(self):
        found = made(patterned(200, age=[90] + [30, 40] * 99 + [30]))
        text = "whoever knows that one person has age = 90 reads the class of that person: no"
        assert text in about(found, "values of one class", "shows")

    def test_of_many_values_some_are_named_and_all_counted(self):
        ages = [100 + place for place in range(10)] + [30, 40] * 95
        texts = about(made(patterned(200, age=ages)), "values of one class", "shows")
        assert len(texts) == 4
        assert texts[-1] == "and of 7 more values of one class each, with 7 people"

    def test_the_least_total_of_the_note_is_no_calm(self):
        """The third job's only holder is of the first class for certain, whatever his sex."""
        views = nbcfast.Viewset(
            [50, 50],
            {"job": [[25, 25], [24, 25], [1, 0]], "sex": [[30, 20], [20, 30]]},
            classes=["no", "yes"],
        )
        leak = nbcfast.canonical.leak(views)
        findings = judged(views, "ill", ReleaseMeasures(leak, None, None, None), Limits())
        assert (
            findings[0].text == "whoever knows that one person has job = 2 reads the class of that person: no"
        )

    def test_a_limit_that_is_looser_lets_it_leave(self, tmp_path):
        columns = patterned(200, age=[90] + [30, 40] * 99 + [30])
        found = made(columns, limits=Limits(max_one_class=1, min_flip=None, max_found=9))
        assert found.shows == ()
        [text] = about(found, "values of one class", "warned")
        assert text.startswith(
            "whoever knows that one person has age = 90 reads the class of that person: no"
        )
        assert text.endswith("(and the limit that was asked for allows it)")
        assert found.save(tmp_path / "out").files

    def test_no_limit_is_so_wide_that_all_is_green(self):
        columns = {"a": ["x", "x", "y", "y", "z"] * 2 + ["x"], "b": ["p", "q"] * 5 + ["p"]}
        columns["ill"] = [*("no", "yes", "yes", "no", "no") * 2, "yes"]
        wide = Limits(max_bits=99, max_found=99, min_flip=0, min_trace=0, max_one_class=99)
        found = made(columns, limits=wide)
        assert found.shows == ()
        warned = {finding.about for finding in found.findings if finding.state == "warned"}
        assert {"values of one class", "counts come back", "class shows", "remembers its rows"} <= warned
        [text] = about(found, "class shows", "warned")
        assert text.endswith("reads it off them (and the limit that was asked for allows it)")
        assert not about(found, "class shows", "kept")

    def test_everybody_of_one_class_is_never_green(self):
        found = made({"age": [30, 40] * 20, "ill": ["no"] * 40}, limits=Limits(max_one_class=99))
        [text] = about(found, "one class only", "warned")
        assert text.endswith("(and the limit that was asked for allows it)")

    def test_without_a_limit_it_is_warned_of(self, tmp_path):
        columns = patterned(200, age=[90] + [30, 40] * 99 + [30])
        found = made(columns, limits=NO_LIMITS)
        assert found.shows == ()
        [text] = about(found, "values of one class", "warned")
        assert text.endswith("reads the class of that person: no (and no limit was asked for)")
        assert found.save(tmp_path / "out").files

    def test_presence_is_a_limit_where_it_is_asked_for(self):
        columns = patterned(21)
        assert about(made(columns), "presence shows") == []
        found = made(columns, limits=Limits(min_trace=1))
        assert len(about(found, "presence shows")) == 1


class TestWithinTheLimit:
    """Whoever shows is warned of, within the limit too: more risk is never fewer warnings."""

    VIEWS = nbcfast.Viewset([50, 50], {"sex": [[30, 20], [20, 30]]}, classes=["no", "yes"])

    def findings(self, limits, **measured):
        leak = replace(nbcfast.canonical.leak(self.VIEWS), sampled=1000, exact=True, **measured)
        found = judged(self.VIEWS, "ill", ReleaseMeasures(leak, None, None, None), limits)
        return {one.about: one for one in found}

    def test_a_class_that_shows_is_warned_of_and_the_limit_named(self):
        found = self.findings(Limits(), flip=0.995, trace=1.0)["class shows"]
        assert found.state == "warned"
        assert found.text.startswith("of all 1,000 people the class of 5 shows in the answers")
        assert found.text.endswith("(within the usual limit: at most 1.00% of people may show; mind them)")
        assert self.findings(Limits(), flip=1.0, trace=1.0)["class shows"].state == "kept"
        asked = self.findings(Limits(min_flip="0.98"), flip=0.995, trace=1.0)["class shows"]
        assert asked.state == "warned"
        assert asked.text.endswith("(and the limit that was asked for allows it)")

    def test_so_is_presence_though_no_limit_was_asked_for(self):
        found = self.findings(Limits(), flip=1.0, trace=0.93)["presence shows"]
        assert found.state == "warned"
        assert "the presence of 70 shows" in found.text
        assert found.text.endswith("(and no limit was asked for)")
        assert "presence shows" not in self.findings(Limits(), flip=1.0, trace=1.0)


class TestNames:
    def test_an_identifier_is_no_0_bits(self):
        found = made(patterned(300, id=[7 * place for place in range(300)]))
        assert found.leak.bits < 8
        [text] = about(found, "names people", "shows")
        assert text.startswith(
            "id has 300 values in 300 rows, 300 of them of one person each: it names people"
        )
        assert found.findings[0].about == "names people"

    @pytest.mark.parametrize("n_rows", [30, 300, 900])
    def test_more_rows_are_looked_at_as_closely(self, n_rows):
        found = made(patterned(n_rows, id=[f"p{place}" for place in range(n_rows)]))
        assert about(found, "names people", "shows")
        assert about(found, "remembers its rows", "shows")

    def test_nearly_every_row_is_enough(self):
        """Two people a value, on average: 150 values in 300 rows."""
        found = made(patterned(300, salary=[place // 2 for place in range(300)]))
        assert about(found, "names people", "shows")[0].startswith("salary has 150 values in 300 rows")

    def test_values_that_nobody_has_name_nobody(self):
        columns = patterned(200, age=[30, 40] * 100)
        domains = {"age": list(range(100))}
        assert about(made(columns, domains=domains, limits=NO_LIMITS), "names people") == []


class TestRemembers:
    def test_accuracy_that_is_gone_without_ones_own_row(self):
        random = np.random.default_rng(1)
        columns = patterned(200, place=random.integers(0, 60, 200).tolist())
        columns["ill"] = [("no", "yes")[int(draw)] for draw in random.integers(0, 2, 200)]
        found = made(columns)
        [text] = about(found, "remembers its rows", "shows")
        assert "are answered right only because they were counted themselves" in text

    def test_whoever_is_remembered_shows(self):
        """It can be measured on any domain, and is never less than what the meter finds."""
        random = np.random.default_rng(2)
        columns = patterned(100, place=random.integers(0, 20, 100).tolist())
        found = made(columns)
        [text] = about(found, "remembers its rows")
        shown = [finding for finding in found.findings if finding.about == "class shows"]
        assert found.leak.exact
        if not text.startswith("none"):
            count = int(text.split(" of ")[0])
            assert shown[0].state == "shows"
            assert count <= found.leak.shows_class


class TestNotMeasured:
    def test_too_many_tuples_are_no_reason_to_be_calm(self, monkeypatch):
        """The fallback: never fewer checks for larger domains."""
        random = np.random.default_rng(3)
        columns = {f"a{i}": random.integers(0, 8, 400).tolist() for i in range(14)}
        columns["ill"] = [("no", "yes")[int(draw)] for draw in random.integers(0, 2, 400)]
        found = made(columns)
        assert found.release.certificate.method == "safetytransform"
        assert found.leak is None
        [text] = about(found, "not measured", "unmeasured")
        assert "take it that all counts are known to whoever holds the release" in text
        assert found.refused
        assert len(about(found, "counts come back")) == 1
        assert len(about(found, "remembers its rows", "shows")) == 1
        assert about(found, "not declared", "warned")

    def test_powers_of_the_counts_are_measured_as_answers_are(self):
        columns = patterned(200, age=[90, 90, 90] + [30, 40] * 98 + [50])
        by_answers = made(columns)
        by_powers = made(columns, method="safetytransform")
        assert by_powers.leak.bits == by_answers.leak.bits
        assert by_powers.refused

    def test_original_counts_come_back(self):
        columns = patterned(200)
        found = nbcfast.publish(columns, "ill", 1000, method="safetytransform", gauge=False)
        assert found.release.certificate.identity
        [text] = about(found, "counts come back", "shows")
        assert text.endswith("for 2 of 2 values")

    def test_a_list_is_not_what_the_meter_measures(self):
        listed = {"job": [0, 1], "town": ["a", "b"]}
        columns = patterned(200, town=["a", "b", "b", "a"] * 50)
        found = made(columns, tuples=listed)
        assert found.refused
        assert len(about(found, "not measured", "unmeasured")) == 1
        assert made(columns, tuples=listed, limits=NO_LIMITS).refused == ()


class TestOneClass:
    def test_everybody_is_of_it(self):
        found = made({"job": ["cook", "clerk"] * 20, "ill": ["yes"] * 40})
        [text] = about(found, "one class only", "shows")
        assert text.startswith("everybody in the table is of ill yes")

    @pytest.mark.parametrize(
        "classes",
        [["yes"] * 20 + ["no"] * 20, ["yes", "no", "no"] * 10, ["a", "b", "c"] * 7, ["a", "b"] * 9 + ["a"]],
    )
    @pytest.mark.parametrize(
        "asked", [{"preserve": "label"}, {"preserve": "order", "method": "safetytransform"}]
    )
    def test_without_an_attribute_as_much_shows_as_with_a_constant(self, classes, asked):
        limits = Limits(min_trace=0.99)
        found = made({"ill": classes}, columns=[], limits=limits, **asked)
        beside = made({"k": ["same"] * len(classes), "ill": classes}, limits=limits, **asked)
        assert about(found, "no attribute", "kept")
        for what in ("class shows", "presence shows", "remembers its rows", "bits a weight"):
            assert about(found, what) == about(beside, what)
            assert about(found, what, "shows") == about(beside, what, "shows")
        [text] = about(found, "counts come back", "shows")
        assert (
            text == "whoever knows how many are of each class knows all that was counted, without any release"
        )
        assert found.leak.levels == {}
        [text] = about(beside, "one value only")
        assert text == "everybody has k = same: it decides nothing"  # and leaving it out mends nothing

    def test_a_constant_beside_others_can_be_left_out(self):
        [text] = about(made(patterned(200, town=["here"] * 200)), "one value only")
        assert text == "everybody has town = here: it decides nothing, and can be left out"


def test_findings_stand_in_the_order_of_their_weight():
    columns = patterned(300, id=list(range(300)), town=["here"] * 300)
    states = [STATES.index(finding.state) for finding in made(columns).findings]
    assert states == sorted(states)


def test_it_goes_through_json():
    found = made(patterned(60, age=[90] + [30] * 59))
    entries = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert entries["refused"] is True
    assert entries["accepted"] is False
    assert entries["shows"] == [finding.text for finding in found.shows]
    assert entries["limits"] == Limits().to_dict()
    assert entries["findings"][0] == {
        "about": "values of one class",
        "state": "shows",
        "text": found.shows[0].text,
    }


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({"limits": {"max_bits": 8}}, "limits must be a Limits"),
        ({"accept_answers": 1}, "accept_answers must be a bool"),
    ],
)
def test_what_is_no_limit_is_refused(named, error):
    with pytest.raises(TypeError, match=error):
        made(patterned(20), **named)


def test_a_finding_refuses_by_its_state():
    assert [GateFinding("x", state, "y").refuses for state in STATES] == [True, True, False, False]


class TestSamples:
    """What a sample does not prove is not kept."""

    def measured(self, n_people, shows):
        views = nbcfast.count(
            nbcfast.Table(patterned(200), domains={"job": [0, 1], "ill": ["no", "yes"]}), "ill"
        )
        leak = nbcfast.canonical.leak(views)
        share, most = 1 - shows / n_people, at_most(shows, n_people)
        sampled = replace(leak, exact=False, sampled=n_people, flip=share, flip_shows_at_most=most)
        return views, ReleaseMeasures(sampled, None, None, None)

    @pytest.mark.parametrize(
        ("n_people", "shows", "state"),
        [
            (64, 0, "unmeasured"),
            (298, 0, "unmeasured"),
            (299, 0, "kept"),
            (1000, 5, "unmeasured"),
            (64, 3, "shows"),
        ],
    )
    def test_of_a_sample_it_counts_what_it_proves(self, n_people, shows, state):
        views, measured = self.measured(n_people, shows)
        found = [one for one in judged(views, "ill", measured, Limits()) if one.about == "class shows"]
        assert [one.state for one in found] == [state]
        assert "not all were looked at, and of all people up to" in found[0].text

    @pytest.mark.parametrize(
        ("least", "n_people", "shows", "state"),
        [
            (0.9, 64, 0, "warned"),  # 95.4 % are proved
            (0.98, 64, 0, "unmeasured"),
            (0.9, 64, 2, "warned"),  # 96.9 % are seen, and 90.5 % proved
            (0.9, 64, 4, "unmeasured"),
            (0.9, 64, 10, "shows"),
            (0.9, 299, 0, "kept"),
        ],
    )
    def test_a_wider_limit_is_to_be_proved_as_well(self, least, n_people, shows, state):
        views, measured = self.measured(n_people, shows)
        found = judged(views, "ill", measured, Limits(min_flip=least))
        assert [one.state for one in found if one.about == "class shows"] == [state]
