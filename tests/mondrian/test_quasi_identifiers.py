"""Cells and hierarchies: what the values of a quasi-identifier are published as."""

import math

import numpy as np
import pytest
from partition_cases import JOBS, people

import nbcfast
from nbcfast import Interval, Table
from nbcfast.mondrian import anonymize
from nbcfast.mondrian.hierarchy import tree_of
from nbcfast.mondrian.quasi import describe, element
from nbcfast.table.domain import Domain

# --- cells


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("null", '"null"'),
        ("", '""'),
        ("a b", "a b"),
        (" a", '" a"'),
        ("a, b", '"a, b"'),
        ("{a}", '"{a}"'),
        ("[1, 2)", '"[1, 2)"'),
        ("a .. b", '"a .. b"'),
        ('say "x"', '"say \\"x\\""'),
        ("line\nbreak", '"line\\nbreak"'),
        ("ü", "ü"),
        (3, "3"),
        (2.5, "2.5"),
        (True, "True"),
        (nbcfast.SUPPRESSED, "suppressed"),
    ],
)
def test_texts_of_values(value, text):
    assert element(value) == text


def cells(values, spans, hierarchy=None):
    domain = Domain.sorted(values)
    one = describe("x", domain, np.ones(len(domain)), hierarchy)
    return [one.cell(lo, hi).text for lo, hi in spans]


def test_cells_of_numbers_are_intervals_up_to_the_next_number():
    assert cells([1, 5, 9], [(0, 0), (1, 1), (1, 2), (0, 2)]) == [
        "(-inf, 5)",
        "[5, 9)",
        "[5, inf)",
        "(-inf, inf)",
    ]
    assert cells([0.1, 0.3], [(1, 1)]) == ["[0.3, inf)"]
    assert cells([1, 5, None], [(2, 2), (1, 2), (0, 1)]) == ["null", "{[5, inf), null}", "(-inf, inf)"]
    bins = [Interval(0, 10), Interval(10, 30), Interval(30, None)]
    assert cells(bins, [(0, 1), (1, 2)]) == ["[0, 30)", "[10, inf)"]


def test_cells_of_intervals_that_overlap_hold_all_of_them():
    table = Table({"x": [Interval(0, 10), Interval(0, 20), Interval(5, 10)] * 2, "ill": list("abcabc")})
    found = anonymize(table, ["x"], "ill", k=6)
    assert [cell.text for cell in found.cells["x"]] == ["[0, 20)"]
    assert found.boxes.domain("x") == (Interval(0, 20),)
    table = Table({"x": [Interval(0, None), Interval(2, 4)] * 2, "ill": list("abab")})
    assert anonymize(table, ["x"], "ill", k=4).boxes.domain("x") == (Interval(0, None),)


def test_cells_with_one_text_for_two_sets_are_refused(tmp_path):
    one = describe(
        "x", Domain("interval", [Interval(0, 30), Interval(5, 20), Interval(6, 20)], (), True), np.ones(3)
    )
    lo, hi = np.array([0, 0], np.uint32), np.array([1, 2], np.uint32)
    with pytest.raises(ValueError, match=r"column 'x': two different sets of its values .* as '\[0, 30\)'"):
        one.generalised(lo, hi)
    assert one.generalised(lo[:1], hi[:1])[2][0].text == "[0, 30)"


def test_cells_of_values_are_sets_or_ranges():
    letters = list("abcdefgh")
    assert cells(letters, [(0, 0), (1, 3), (0, 7)]) == ["a", "{b, c, d}", "{a .. h}"]
    assert cells(["a", None], [(0, 1), (1, 1)]) == ["{a, null}", "null"]
    assert cells([True, False], [(0, 1)]) == ["{False, True}"]


def test_a_declared_order_decides_for_values_and_not_for_numbers():
    rows = {"size": ["S", "M", "L", "XL"] * 3, "n": [3, 1, 2, 4] * 3, "ill": list("xyz") * 4}
    table = Table(rows, domains={"size": ["S", "M", "L", "XL"], "n": [4, 3, 2, 1]})
    by_size = anonymize(table, ["size"], "ill", k=6)
    assert by_size.boxes.domain("size") == ("{S, M}", "{L, XL}")
    assert anonymize(table, ["n"], "ill", k=6).boxes.domain("n") == (Interval(None, 3), Interval(3, None))


def test_numbers_without_an_end_are_refused():
    with pytest.raises(ValueError, match="column 'x': expected finite numbers, got inf"):
        anonymize({"x": [1.0, math.inf], "ill": [0, 1]}, ["x"], "ill", k=1)


# --- hierarchies


def test_a_mapping_and_its_file_are_the_same_hierarchy(tmp_path):
    table = people()
    lines = ["farmer;outdoor;*", "fisher;outdoor;*", "clerk;office;indoor;*", "lawyer;office;indoor;*"]
    lines += ["baker;shop;indoor;*", "butcher;shop;indoor;*", "sailor;at sea;outdoor;*"]
    (tmp_path / "jobs.csv").write_text("\n".join(lines), encoding="utf-8")
    by_mapping = anonymize(table, ["job", "age"], "ill", k=40, hierarchies={"job": JOBS})
    by_file = anonymize(table, ["job", "age"], "ill", k=40, hierarchies={"job": tmp_path / "jobs.csv"})
    assert by_file.certificate == by_mapping.certificate
    coarse = anonymize(table, ["job"], "ill", k=700, hierarchies={"job": JOBS})
    assert coarse.boxes.domain("job") == ("outdoor", "office", "shop")
    # Three ways apart at once: a set is split into all its parts.
    flat = {"all jobs": sorted(set(table.domain("job")))}
    assert anonymize(table, ["job"], "ill", k=400, hierarchies={"job": flat}).n_groups == 6
    assert anonymize(table, ["job"], "ill", k=600, hierarchies={"job": flat}).n_groups == 1


def test_a_set_with_one_part_is_that_part():
    domain = Domain.sorted(["a", "b", "c"])
    tree = tree_of({"all": {"one": ["a"], "two": {"three": ["b", "c"]}}, "none of these": ["z"]}, domain, "x")
    assert tree.order == [0, 1, 2]
    assert tree.nodes.tolist() == [[0, 2, 1, 2], [0, 0, 0, 0], [1, 2, 3, 2], [1, 1, 0, 0], [2, 2, 0, 0]]
    assert tree.labels == {(0, 2): "all", (1, 2): "three"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"s": ["a"]}, "the value 'b' has no place in the hierarchy"),
        ({"s": ["a", "b"], "t": ["a"]}, "the value 'a' has two places in the hierarchy"),
        ({"s": {"s": ["a", "b"]}, "t": {"s": ["c", None]}}, "the name 's' stands for two different sets"),
        ({"s": ["a", "b"], "c": [None, "c"]}, "'c' is the name of a set and of a value"),
        ({"s": "ab"}, "'s' must have a mapping or a sequence of values, got 'ab'"),
        (["a"], "expected a mapping or the path of a CSV file, got list"),
    ],
)
def test_hierarchies_that_are_none(given, message):
    table = {"x": ["a", "b", "c", None], "ill": list("xyxy")}
    with pytest.raises((TypeError, ValueError), match=message):
        anonymize(table, ["x"], "ill", k=1, hierarchies={"x": given})


def test_sets_that_are_nested_too_deeply():
    given = {"a": None, "b": None}
    for depth in range(5000):
        given = {f"set {depth}": given, f"v{depth}": None}
    values = ["a", "b", *(f"v{depth}" for depth in range(5000))]
    with pytest.raises(ValueError, match="hierarchies: column 'x': sets are nested too deeply"):
        anonymize({"x": values, "ill": values}, ["x"], "ill", k=1, hierarchies={"x": given})


def test_a_value_that_a_file_has_twice(tmp_path):
    (tmp_path / "x.csv").write_text("a;s\nb;s\na;t\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: the value 'a' stands there twice"):
        anonymize({"x": ["a", "b"], "ill": [0, 1]}, ["x"], "ill", k=1, hierarchies={"x": tmp_path / "x.csv"})


def test_numbers_and_nulls_have_places_too(tmp_path):
    (tmp_path / "x.csv").write_text("1;low;*\n2;low;*\n9;high;*\n;high;*\n", encoding="utf-8")
    table = Table({"x": [1, 2, 9, None] * 5, "ill": list("abcd") * 5})
    found = anonymize(table, ["x"], "ill", k=6, hierarchies={"x": tmp_path / "x.csv"})
    assert found.boxes.domain("x") == ("low", "high")
    assert [cell.values for cell in found.cells["x"]] == [(1, 2), (9, None)]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["PT1H", "PT2H", "PT10H", "PT30M", "P1D", "PT1H30M", "P2D"], True),
        (["1 cm", "2 cm", "3 cm", "4 cm", "5 cm", "6 cm", "10 cm"], True),
        ([f"{hour:02}:30" for hour in range(8)], False),
        (["AM", "BM", "CM", "DM", "PM", "QM", "RM"], False),
        ([f"PT{3600 * hours}S" for hours in range(1, 12)], False),  # sorted by time
        ([f"{year}-01-01" for year in range(2000, 2008)], False),
        ([*range(9)], False),
        (["PT1H", "PT2H", "PT10H"], False),  # all of them are listed
    ],
)
def test_a_range_of_texts_is_said_to_be_one_of_letters(texts, said):
    table = nbcfast.Table({"wait": texts * 4, "ill": ["n", "y"] * (2 * len(texts))})
    remarks = anonymize(table, ["wait"], "ill", k=4 * len(texts)).remarks
    assert any("in 'wait' is of texts letter by letter" in remark for remark in remarks) == said
