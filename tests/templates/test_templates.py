"""Templates, violations, and the worked examples of top-down disclosure."""

import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Infeasible, closeness, response, safety, skyline
from nbcfast.reference import templates as reference
from nbcfast.templates import Template, disclose, templates_for, violations
from nbcfast.templates.inferences import at_most

# Table 1 of the paper: job, country, child, bankruptcy, good and bad ratings.
TABLE_1 = [
    ("Cook", "US", "No", "Current", 0, 4),
    ("Artist", "France", "No", "Current", 1, 3),
    ("Doctor", "US", "Yes", "Never", 4, 2),
    ("Trader", "UK", "No", "Discharged", 4, 0),
    ("Trader", "UK", "No", "Never", 1, 0),
    ("Trader", "Canada", "No", "Never", 1, 0),
    ("Clerk", "Canada", "No", "Never", 3, 0),
    ("Clerk", "Canada", "No", "Discharged", 1, 0),
]
NAMES = ("Job", "Country", "Child", "Bankruptcy", "Rating")
DISCHARGED = ("Bankruptcy", "Discharged")
FIRST, SECOND = ("Job", "Country"), ("Job", "Child")


def columns():
    rows = [
        (*values, label)
        for *values, good, bad in TABLE_1
        for label, n in (("Good", good), ("Bad", bad))
        for _ in range(n)
    ]
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def table():
    return nbcfast.Table(columns())


def one(limit):
    return [Template(FIRST, DISCHARGED, limit)]


def two(limit):
    return [*one(limit), Template(SECOND, DISCHARGED, limit)]


def order(found):
    return [step.value for step in found.steps]


# ---------------------------------------------------------------- templates


def test_a_template_says_what_it_limits():
    template = Template(["job", "country"], ("bankruptcy", "Discharged"), 0.1)
    assert template.quasi == ("job", "country")
    assert template.limit == Fraction(1, 10)
    assert str(template) == "job, country -> bankruptcy=Discharged <= 0.1"
    assert template == Template(("job", "country"), ("bankruptcy", "Discharged"), "1/10")
    assert pickle.loads(pickle.dumps(template)) == template
    assert template.to_dict()["limit"] == "1/10"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("job", ("a", 1), 1), TypeError, "quasi must be a sequence of column names, got 'job'"),
        (([], ("a", 1), 1), ValueError, "quasi must be at least one column, got none"),
        ((["b", "b"], ("a", 1), 1), ValueError, "quasi must be distinct columns, got 'b' twice"),
        ((["b", 3], ("a", 1), 1), TypeError, "quasi must be column names, got 3"),
        ((["b"], "a", 1), TypeError, "sensitive must be a pair"),
        ((["a", "b"], ("a", 1), 1), ValueError, "quasi must not hold the sensitive column, got 'a'"),
        ((["b"], ("a", 1), "1.5"), ValueError, "limit must be 0 to 1, got 1.5"),
        ((["b"], ("a", 1), -0.5), ValueError, "limit must be 0 to 1, got -0.5"),
        ((["b"], ("a", 1), True), TypeError, "limit must be a number"),
        ((["b"], ("a", SUPPRESSED), 1), ValueError, "must be a value, got SUPPRESSED"),
    ],
)
def test_bad_templates_are_refused(arguments, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        Template(*arguments)


def test_templates_for_several_values():
    found = templates_for(["job"], "ill", ["flu", "hiv"], "0.2")
    assert found == (Template(["job"], ("ill", "flu"), "0.2"), Template(["job"], ("ill", "hiv"), "0.2"))
    with pytest.raises(TypeError, match="values must be a sequence of values, got 'flu'"):
        templates_for(["job"], "ill", "flu", 1)
    with pytest.raises(ValueError, match="values must be at least one value of 'ill', got none"):
        templates_for(["job"], "ill", [], 1)


@given(st.fractions(0, 1, max_denominator=500), st.integers(1, 80))
def test_limits_are_rounded_down_to_what_counts_can_be(limit, most):
    above, below = at_most(limit, most)
    assert below <= most
    assert Fraction(above, below) == max(
        Fraction(limit.numerator * d // limit.denominator, d) for d in range(1, most + 1)
    )


# --------------------------------------------------------------- violations


def test_violations_of_table_1(table):
    (found,) = violations(table, one("1/2"))
    assert dict(found.known) == {"Job": "Trader", "Country": "UK"}
    assert (found.support, found.count, found.confidence) == (5, 4, Fraction(4, 5))
    assert repr(found) == "Violation(Job=Trader, Country=UK -> Bankruptcy=Discharged: 4 of 5)"
    assert violations(table, one("4/5")) == []
    assert len(violations(table, one("0.7999999999999999999"))) == 1
    assert pickle.loads(pickle.dumps(found)) == found


records = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(1, 3)),
    min_size=1,
    max_size=25,
)


@given(records, st.fractions(0, 1, max_denominator=12))
def test_violations_equal_reference(rows, limit):
    plain = {name: [row[i] for row in rows] for i, name in enumerate("abs")}
    weights = [row[3] for row in rows]
    value = plain["s"][0]
    wanted = [(("a", "b"), ("s", value), limit), (("b",), ("s", value), limit)]
    expected = reference.violations(plain, wanted, weights)
    found = violations(nbcfast.Table(plain, weights=weights), [Template(*one) for one in wanted])
    assert [(one.template.quasi, tuple(one.known.values()), one.support, one.count) for one in found] == [
        (template[0], key, total, hits) for template, key, total, hits in expected
    ]


def test_violations_of_weights_beyond_32_bits():
    table = nbcfast.Table({"a": [0, 0, 1], "s": [0, 1, 1]}, weights=[2**61, 2**61 - 1, 1])
    (found, other) = violations(table, [Template(["a"], ("s", 1), Fraction(2**61 - 2, 2**62 - 1))])
    assert found.confidence == Fraction(2**61 - 1, 2**62 - 1)
    assert other.confidence == 1
    assert len(violations(table, [Template(["a"], ("s", 1), Fraction(2**61 - 1, 2**62 - 1))])) == 1


# ---------------------------------------------------------- worked examples


def test_the_most_suppressed_table_has_5_of_24(table):
    found = disclose(table, one("5/24"), "Rating")
    assert found.steps == ()
    assert list(found.confidences.values()) == [Fraction(5, 24)]
    with pytest.raises(Infeasible, match="even with everything suppressed") as error:
        disclose(table, one("0.2083333333333333333333333333"), "Rating")
    assert list(error.value.best["confidences"].values()) == [Fraction(5, 24)]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("1/4", "Cook Clerk"),
        ("3/10", "Cook Canada Clerk"),
        ("2/5", "Cook Artist Canada France Clerk"),
        ("1/2", "Cook Artist Doctor US France"),
        ("3/4", "Cook Artist Doctor US France"),
        ("0.7999999999999999999999", "Cook Artist Doctor US France"),
        ("4/5", "Cook Artist Doctor Canada UK France US"),
        (1, "Cook Artist Doctor Canada UK France US"),
    ],
)
def test_the_order_of_disclosures_for_each_limit(table, limit, expected):
    assert order(disclose(table, one(limit), "Rating")) == expected.split()


@pytest.mark.parametrize("limit", ["1/2", "3/4"])
def test_table_2(table, limit):
    found = disclose(table, one(limit), "Rating")
    assert dict(found.suppressed) == {"Job": ("Clerk", "Trader"), "Country": ("Canada", "UK")}
    assert list(found.confidences.values()) == [Fraction(1, 2)]
    rows = Counter(
        zip(*([found.table.domain(n)[c] for c in found.table.codes(n)] for n in FIRST), strict=True)
    )
    assert rows == {
        ("Cook", "US"): 4,
        ("Artist", "France"): 4,
        ("Doctor", "US"): 6,
        (SUPPRESSED, SUPPRESSED): 10,
    }
    assert found.table.domain("Job") == ("Artist", "Cook", "Doctor", SUPPRESSED)
    assert found.table.domain("Child") == ("No", "Yes")
    assert found.collapsed.weights.sum() == 24
    assert Counter(found.group_ids.tolist()) == {0: 4, 1: 4, 2: 6, 3: 10}


def test_why_values_are_suppressed(table):
    found = disclose(table, one("1/2"), "Rating")
    assert found.reasons["Country"]["Canada"] == (found.templates[0], Fraction(4, 5))
    assert found.reasons["Job"]["Clerk"] is None  # all of them have a good rating


def test_example_3(table):
    found = disclose(table, two("1/2"), "Rating")
    assert order(found) == ["Cook", "Artist", "Doctor", "US", "France", "No", "Yes"]
    scores = [0.267234, 0.201573, 0.167750, 0.112607, 0.517802, 0.001801, 0.0]
    assert [step.score for step in found.steps] == pytest.approx(scores, abs=1e-6)
    first = found.steps[0]
    assert (first.attribute, str(first)) == ("Job", "Job=Cook")
    assert first.gain == pytest.approx(0.278369, abs=1e-6)
    assert first.loss == pytest.approx(1 / 24, abs=1e-15)
    assert list(first.confidences.values()) == [Fraction(1, 4)] * 2
    assert list(found.steps[2].confidences.values()) == [Fraction(1, 2)] * 2


FIRST_SCORES = {
    "Cook": (0.278369, Fraction(1, 24), 0.267234),
    "Canada": (0.164350, Fraction(1, 456), 0.163990),
    "Trader": (0.204434, Fraction(11, 24), 0.140183),
    "Clerk": (0.127122, Fraction(1, 24), 0.122037),
    "UK": (0.164350, Fraction(71, 120), 0.103257),
    "US": (0.112607, Fraction(25, 168), 0.098021),
    "Artist": (0.084812, Fraction(1, 24), 0.081419),
    "France": (0.084812, Fraction(1, 24), 0.081419),
    "Doctor": (0.001801, Fraction(5, 72), 0.001684),
    "No": (0.001801, Fraction(5, 72), 0.001684),
    "Yes": (0.001801, Fraction(5, 72), 0.001684),
}


def test_the_scores_of_the_first_iteration():
    plain = columns()
    wanted = [(FIRST, DISCHARGED, Fraction(1, 2)), (SECOND, DISCHARGED, Fraction(1, 2))]
    state = reference.State(plain, wanted, "Rating", None, "information", True, ())
    before = state.confidences()
    found = {}
    for name, value, gain in state.candidates():
        after = state.confidences((name, value))
        losses = [b - a for a, b, (quasi, _, _) in zip(before, after, wanted, strict=True) if name in quasi]
        loss = sum(losses) / len(losses)
        found[value] = (pytest.approx(gain, abs=1e-6), loss, pytest.approx(gain / float(loss + 1), abs=1e-6))
    assert {value: tuple(scores) for value, scores in FIRST_SCORES.items()} == found


def test_the_partitions_of_figures_1_and_2():
    """Groups and, in each, records with the sensitive value, as Clerk and Canada are disclosed."""
    plain = columns()
    wanted = [(FIRST, DISCHARGED, Fraction(1)), (SECOND, DISCHARGED, Fraction(1))]
    state = reference.State(plain, wanted, "Rating", None, "information", True, ())

    def leaves(quasi):
        released = {name: state.released(name) for name in plain}
        keys = list(zip(*(released[name] for name in quasi), strict=True))
        hits = Counter(
            key for key, value in zip(keys, plain["Bankruptcy"], strict=True) if value == "Discharged"
        )
        return {key: (n, hits[key]) for key, n in Counter(keys).items()}

    no = reference.BOTTOM
    assert leaves(FIRST) == leaves(SECOND) == {(no, no): (24, 5)}
    state.disclosed["Job"].add("Clerk")
    assert leaves(FIRST) == leaves(SECOND) == {("Clerk", no): (4, 1), (no, no): (20, 4)}
    state.disclosed["Country"].add("Canada")
    assert leaves(FIRST) == {("Clerk", "Canada"): (4, 1), (no, "Canada"): (1, 0), (no, no): (19, 4)}
    assert leaves(SECOND) == {("Clerk", no): (4, 1), (no, no): (20, 4)}
    assert leaves(("Job", "Country", "Child")) == {
        ("Clerk", "Canada", no): (4, 1),
        (no, "Canada", no): (1, 0),
        (no, no, no): (19, 4),
    }


def test_all_suppressions_of_table_1(table):
    """What is disclosed only raises confidences, and a maximal table leaves nothing that could be."""
    limit = Fraction(1, 2)
    wanted = [(FIRST, DISCHARGED, limit), (SECOND, DISCHARGED, limit)]
    plain = columns()
    weights = [1] * 24
    confidences = dict(reference.every_suppression(plain, wanted, "Rating"))
    assert len(confidences) == 2048
    assert sum(weights) == len(plain["Job"])
    pairs = max(confidences, key=len)
    assert len(pairs) == 11
    for chosen, before in confidences.items():
        for pair in pairs - chosen:
            assert all(a <= b for a, b in zip(before, confidences[chosen | {pair}], strict=True))
    found = disclose(table, two(limit), "Rating", require_beneficial=False)
    chosen = frozenset((step.attribute, step.value) for step in found.steps)
    assert confidences[chosen] == list(found.confidences.values())
    for pair in pairs - chosen:
        assert max(confidences[chosen | {pair}]) > limit


def test_crx_as_in_the_paper(data):
    """Section 5.1: Top4, 70 %."""
    expanding = pytest.importorskip("against.expanding", reason="needs the benches")
    expanding.complete.cache_clear()
    table = expanding.complete("crx")
    assert table.n_rows == 653
    wanted = expanding.templates(table, expanding.CRX, expanding.TOP["crx"], "0.7")
    found = disclose(table, wanted, "class")
    assert found.suppressed["a4"] == ("l", "u")
    assert found.suppressed["a5"] == ("g", "gg")
    assert found.suppressed["a13"] == ("g", "p", "s")
    assert found.suppressed["a1"] == found.suppressed["a12"] == ()
    assert [str(step) for step in found.steps] == ["a4=y", "a5=p", "a12=f", "a1=a", "a1=b", "a12=t"]


@pytest.mark.parametrize("name", ["crx", "german"])
def test_table_3(data, name):
    """How many inferences have a confidence above each level."""
    expanding = pytest.importorskip("against.expanding", reason="needs the benches")
    table = expanding.complete(name)
    found = [
        len(
            violations(
                table, expanding.templates(table, expanding.ATTRIBUTES[name], expanding.TOP[name], level)
            )
        )
        for level in expanding.LEVELS
    ]
    assert found == list(expanding.TABLE_3[name])


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((one(1),), {}, ValueError, "target must name a column for utility 'information', got None"),
        ((one(1), "Rank"), {}, ValueError, "expected a column of"),
        (([], "Rating"), {}, ValueError, "templates must be at least one Template, got none"),
        ((one(1)[0], "Rating"), {}, TypeError, "templates must be a sequence of Templates, got Template"),
        ((["x"], "Rating"), {}, TypeError, "templates must be Templates, got str"),
        (
            ([Template(["Town"], DISCHARGED, 1)], "Rating"),
            {},
            ValueError,
            "template 0: expected columns of 'Job', .*; got 'Town'",
        ),
        (
            ([Template(["Job"], ("Bankrupt", "Discharged"), 1)], "Rating"),
            {},
            ValueError,
            "template 0: expected columns of .*; got 'Bankrupt'",
        ),
        (
            ([*one(1), Template(["Job"], ("Bankruptcy", "Often"), 1)], "Rating"),
            {},
            ValueError,
            "template 1: 'Often' is none of the 3 values of column 'Bankruptcy'",
        ),
        ((one(1), "Rating"), {"utility": "best"}, ValueError, "utility must be one of"),
        ((one(1), "Rating"), {"max_steps": -1}, ValueError, "max_steps must be at least 0, got -1"),
        ((one(1), "Rating"), {"max_steps": 1.5}, TypeError, "max_steps must be an int or None, got 1.5"),
        ((one(1), "Rating"), {"continuous": "Job"}, TypeError, "continuous must be a sequence"),
        ((one(1), "Rating"), {"continuous": ["Rating"]}, ValueError, "that may be suppressed, got 'Rating'"),
        ((one(1), "Rating"), {"continuous": ["Job"]}, ValueError, "'Job' holds text"),
    ],
)
def test_bad_input_is_refused(table, arguments, options, error, text):
    with pytest.raises(error, match=text):
        disclose(table, *arguments, **options)


def test_numbers_and_tables_that_cannot_be_cut():
    wanted = [Template(["a"], ("s", 1), 1)]
    for column, text in (([1, None], "has nulls"), ([1.0, float("inf")], "not finite")):
        table = nbcfast.Table({"a": column, "s": [0, 1]})
        with pytest.raises(ValueError, match=text):
            disclose(table, wanted, utility="distortion", continuous=["a"])
    with pytest.raises(ValueError, match="holds SUPPRESSED already"):
        disclose({"a": [1, SUPPRESSED], "s": [0, 1]}, wanted, utility="distortion")
    with pytest.raises(ValueError, match="no rows"):
        disclose(
            nbcfast.Table({"a": [], "s": []}, domains={"a": [1], "s": [1]}), wanted, utility="distortion"
        )
    with pytest.raises(ValueError, match="no rows"):
        violations(nbcfast.Table({"a": [], "s": []}, domains={"a": [1], "s": [1]}), wanted)
    # True is no 1, although Python says so.
    with pytest.raises(ValueError, match="True is none of the 2 values"):
        violations(nbcfast.Table({"a": [1, 2], "s": [0, 1]}), [Template(["a"], ("s", True), 1)])


def test_an_empty_array_of_steps_is_no_special_case(table):
    found = disclose(table, one(1), utility="distortion", max_steps=np.int64(0))
    assert (found.steps, found.complete) == ((), False)
    assert found.table.domain("Job") == (SUPPRESSED,)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("60%", Fraction(3, 5)),
        ("0%", 0),
        ("100%", 1),
        ("12.5%", Fraction(1, 8)),
        ("1/3%", Fraction(1, 300)),
        ("60 %", Fraction(3, 5)),
    ],
)
def test_limits_are_percentages_too(text, limit):
    """Wherever a share is asked for, as on the command line."""
    template = Template(["a"], ("s", 1), text)
    assert (template.limit, template) == (limit, Template(["a"], ("s", 1), limit))
    (made,) = templates_for(["a"], "s", [1], text)
    assert made == template
    if 0 < limit < 1:
        assert skyline.points.as_confidence(text) == limit
        views = nbcfast.Viewset([1, 1], [[[1, 1]]])
        assert closeness.achieved(views, {0: text, 1: 1 - limit}).prior[0] == limit
        assert safety.limit("0.01%", text) == safety.limit("1/10000", limit)
        assert response.Scheme(theta=text, groups=[["a"]]) == response.Scheme(theta=limit, groups=[["a"]])


@pytest.mark.parametrize(
    "text",
    ["60  %", "%", " %", "60 % ", "60\u00a0%", "60%%", " 60%", "\uff16\uff10%", "x%", "101%", "-1%", "6_0%"],
)
def test_percentages_that_are_none(text):
    with pytest.raises(ValueError, match="limit must be "):
        Template(["a"], ("s", 1), text)


@pytest.mark.parametrize(
    ("limit", "shown"), [("101%", "1.01"), ("-1%", "-0.01"), ("400/3%", "4/3"), (2, "2"), (-0.5, "-0.5")]
)
def test_limits_beyond_0_to_1_are_named(limit, shown):
    with pytest.raises(ValueError, match=f"^limit must be 0 to 1, got {shown}$"):
        Template(["a"], ("s", 1), limit)
