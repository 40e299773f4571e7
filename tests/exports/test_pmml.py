"""PMML: what the file says, and what two engines answer with it."""

import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest
from canonical_cases import ILL_OR_WELL
from scorecard_cases import ABOUT, card, random_points

from nbcfast import SUPPRESSED, Interval, canonical
from nbcfast._core.numbers import edge
from nbcfast.exports import loaded_pmml
from nbcfast.exports.about import About
from nbcfast.exports.domain_tuples import tuples_to_compare
from nbcfast.exports.exporting import export
from nbcfast.exports.labels import label_texts
from nbcfast.exports.pmml_scorecard import content

SPACE = {"p": "http://www.dmg.org/PMML-4_4"}
MISSING = "needs Java, and pip install jpmml_evaluator pypmml"
needs_an_engine = pytest.mark.skipif(not loaded_pmml.engines(), reason=MISSING)

BINS = [Interval(None, "0.1"), Interval("0.1", "1/3"), Interval("1/3", 7)]


@pytest.fixture(scope="module", params=["JPMML", "PMML4S"])
def engine(request):
    if request.param not in loaded_pmml.engines():
        pytest.skip(MISSING)
    return request.param


@pytest.fixture
def ask(engine):
    """The answers of an engine: each alone, as one that is an error must not be for others."""

    def ask(points, rows):
        names = [name for name, _, _ in points.attributes]
        asked, found = loaded_pmml.opened(engine, content(points, ABOUT)), []
        for row in rows:
            try:
                found += asked(names, [row])
            except Exception as error:
                found.append(None if type(error).__name__ in ("Py4JJavaError", "JavaError") else error)
        return found

    return ask


def parsed(points, about=ABOUT):
    return ET.fromstring(content(points, about))


def test_it_is_whole_numbers_and_the_same_bytes():
    points = random_points(1)
    assert content(points, ABOUT) == content(points, ABOUT)
    scores = [one.get("partialScore") for one in parsed(points).iterfind(".//p:Attribute", SPACE)]
    assert scores
    assert all(re.fullmatch(r"-?[0-9]+", score) for score in scores)
    large = content(card({"x": (["a", "b"], [2**31, 2**31 - 1])}, threshold=2**32 + 1), ABOUT)
    for written in (b'"2147483648.0"', b'"2147483647"', b'"4294967297.0"'):
        assert written in large


def test_it_names_the_certificate_and_nothing_of_this_machine():
    about = About("0123" * 16, "ill", "9.8", None)
    root = parsed(card({"age": (["old", "new"], [3, 0])}, threshold=2), about)
    assert root.find("p:Header/p:Extension", SPACE).get("value") == about.sha256
    assert root.find("p:Header/p:Annotation", SPACE).text.endswith(about.sha256)
    assert root.find("p:Header/p:Application", SPACE).attrib == {"name": "nbcfast", "version": "9.8"}
    assert root.find("p:Header/p:Timestamp", SPACE) is None
    fields = [field.get("name") for field in root.iterfind(".//p:OutputField", SPACE)]
    assert fields == ["points", "ill"]


def test_null_is_a_value_where_it_is_published_alone():
    root = parsed(card({"age": (["old", None], [3, 0]), "job": (["cook", "clerk"], [1, 0])}, threshold=2))
    missing = root.findall(".//p:SimplePredicate[@operator='isMissing']", SPACE)
    assert [one.get("field") for one in missing] == ["age"]
    fields = root.findall(".//p:MiningField", SPACE)
    assert [field.get("missingValueTreatment") for field in fields] == [None, "returnInvalid"]


def test_answers_have_names_that_no_attribute_has():
    points = card({"points": (["a", "b"], [1, 0]), "diagnosis": (["a", "b"], [1, 0])}, threshold=2)
    fields = [field.get("name") for field in parsed(points).iterfind(".//p:OutputField", SPACE)]
    assert fields == ["points_", "diagnosis_"]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (card({"age": ([SUPPRESSED, "a"], [1, 0])}, threshold=1), "'age' has suppressed values"),
        (card({"age": (["a\x01", "b"], [1, 0])}, threshold=1), "no characters such as in 'a.x01'"),
        (card({"age": (["a\r", "b"], [1, 0])}, threshold=1), "no characters such as in"),
        (card({"age": (["\ud800", "b"], [1, 0])}, threshold=1), "no characters such as in"),
        (card({"age": ([2**53 + 1, 0], [1, 0])}, threshold=1), "'age' has 9007199254740993"),
        (card({"age": ([math.inf, 0.0], [1, 0])}, threshold=1), "'age' has inf"),
        (card({"age": ([Interval(0, 10**400)], [1])}, threshold=1), "an edge of a bin must be a double"),
        (
            card({"age": (["a", "b"], [2**52, 0]), "job": (["a"], [2**52])}, threshold=1),
            "totals must be below .* for PMML",
        ),
        (card({"age": (["a", "b"], [1, 0])}, threshold=1, classes=[None, "null"]), "a class that is null"),
        (card({}, threshold=1), "expected a release with attributes"),
    ],
)
def test_what_it_cannot_say_exactly_is_refused(points, said):
    with pytest.raises(ValueError, match=said):
        content(points, ABOUT)


@pytest.mark.parametrize("seed", range(20))
def test_engines_answer_as_the_points_on_the_whole_domain(engine, seed):
    points = random_points(seed)
    codes, expected = tuples_to_compare(points)
    names, rows = loaded_pmml.asked_rows(points, codes)
    found = loaded_pmml.opened(engine, content(points, ABOUT))(names, rows)
    texts = label_texts(points.classes)
    assert found == [texts[place] for place in expected.tolist()]


@needs_an_engine
def test_an_export_is_compared(tmp_path):
    release = canonical.release(ILL_OR_WELL, 4)
    done = export(release, tmp_path / "rule.pmml")
    assert (done.identical, done.compared) == (True, 6)
    assert re.search(r"\((jpmml_evaluator|pypmml) [0-9.]+", done.text)


def test_no_engine_is_no_comparison(monkeypatch):
    monkeypatch.setattr(loaded_pmml.shutil, "which", lambda name: None)
    assert loaded_pmml.engine_names() is None


def test_engines_that_differ_are_found(monkeypatch):
    points = card({"age": ([30, 31], [0, 2])}, threshold=2)
    monkeypatch.setattr(loaded_pmml, "engines", lambda: {"JPMML": "1", "PMML4S": "2"})
    given = {"JPMML": ["well", "ill"], "PMML4S": ["ill", "ill"]}
    monkeypatch.setattr(loaded_pmml, "opened", lambda engine, content: lambda names, rows: given[engine])
    found = loaded_pmml.pmml_decides(b"", points, ABOUT, np.array([[0], [1]]))
    assert found.tolist() == [-1, 0]


def test_what_is_not_published_has_no_class(ask):
    points = card(
        {
            "job": (["Cook", "", "39"], [5, 0, 0]),
            "age": ([39, 1], [5, 0]),
            "size": ([0.5, 0.0], [5, 0]),
            "smokes": ([True, False], [5, 0]),
            "sugar": (BINS, [5, 0, 0]),
        },
        threshold=20,
    )
    row = ["Cook", 39, 0.5, True, 0.25]
    assert ask(points, [row]) == ["ill"]  # and engines take the number 39 for the text "39"
    unknown = [
        *(("job", value) for value in ("cook", " Cook", "*", "C?ok", None, 40, True)),
        *(("age", value) for value in (39.5, 40, None, 2**32 + 39, "x", "")),
        *(("size", value) for value in (0.25, 0.5000001, None, math.nan)),
        *(("smokes", value) for value in (None, "yes", 1, "TRUE")),
        *(("sugar", value) for value in (7.0, 1e9, None, math.nan, "x")),
    ]
    places = {name: place for place, (name, _, _) in enumerate(points.attributes)}
    rows = [[*row[: places[name]], value, *row[places[name] + 1 :]] for name, value in unknown]
    assert ask(points, rows) == [None] * len(rows)
    # Three classes decide in another way.
    many = card({"job": (["cook", "clerk"], [(0, 1, 2), (2, 1, 0)])}, classes="abc", constants=(1, 1, 0))
    assert ask(many, [["cook"], ["clerk"], ["Cook"], [None], [1]]) == ["c", "a", None, None, None]


def test_null_is_answered_where_it_is_published(ask):
    points = card(
        {
            "job": (["cook", None], [0, 1]),
            "sugar": ([*BINS, None], [0, 0, 0, 1]),
            "age": ([39, None], [0, 1]),
        },
        threshold=3,
    )
    rows = [[None, None, None], ["cook", None, None], [None, 5.0, None], [None, None, 39], [None, None, 40]]
    assert ask(points, rows) == ["ill", "well", "well", "well", None]


def test_numbers_beside_an_edge_are_on_their_side(ask):
    points = card({"sugar": (BINS, [(2, 0, 0), (0, 2, 0), (0, 0, 2)])}, classes="abc", constants=(0, 0, 0))
    edges = [0.1, edge(Fraction(1, 3)), 7.0]
    numbers = [near for edge in edges for near in (math.nextafter(edge, -math.inf), edge)]
    assert ask(points, [[x] for x in numbers]) == ["a", "b", "b", "c", "c", None]
    assert 1 / 3 in BINS[1]
    assert ask(points, [[1 / 3]]) == ["b"]


def test_the_last_point_counts_and_ties_go_to_the_later_class(ask):
    large = 2**51
    values = (["a", "b", "c"], [large, large - 1, 0])
    points = card({"x": values, "y": values}, threshold=2 * large - 1)
    assert ask(points, [["a", "a"], ["a", "b"], ["b", "b"]]) == ["ill", "ill", "well"]
    # JPMML reads the lowest 32 bits of larger integers.
    for power in (2**30, 2**32, 2**40, 2**45):
        values = (["a", "b"], [power, 1])
        points = card({"w": values, "x": values, "y": values}, threshold=2 * power + 2)
        rows = [["a", "a", "a"], ["a", "b", "a"], ["b", "b", "b"]]
        assert ask(points, rows) == ["ill", "well", "well"]
        starts = card({"x": (["a", "b"], [(power, 3), (0, 3)])}, classes="ab", constants=(-power, 0))
        assert ask(starts, [["a"], ["b"]]) == ["b", "b"]
    totals = [(large, large, large), (large, large - 1, large - 1), (large - 1, large, large - 1), (0, 0, -1)]
    many = card({"x": (list("pqrs"), totals)}, classes="abc", constants=(0, 0, 0))
    assert ask(many, [[value] for value in "pqrs"]) == ["c", "a", "b", "b"]


def test_a_single_class_is_answered_for_published_values_alone(ask):
    points = card({"x": (["a", "b"], [(0,), (0,)])}, classes=["ill"], constants=(0,))
    assert ask(points, [["a"], ["c"], [None]]) == ["ill", None, None]
