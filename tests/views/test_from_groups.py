"""`Viewset.from_groups` against `count` of the rows that were grouped, and what it refuses."""

import math
import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Interval, Table, Viewset

pa = pytest.importorskip("pyarrow")

VALUES = {
    "text": st.sampled_from(["b", "a", "", "é", None, SUPPRESSED]),
    "int": st.sampled_from([-2, 0, 7, None]),
    "bool": st.sampled_from([True, False, None]),
    "float": st.sampled_from([0.0, -0.0, 1.5, math.nan, None]),
    "interval": st.sampled_from([Interval(None, 0), Interval(0, 5), Interval(5, None), None]),
}
SHUFFLE = st.randoms(use_true_random=False)


@st.composite
def tables(draw, least_attributes=0):
    """Columns of equal length, the last of them the class `y`."""
    n_rows = draw(st.integers(1, 12))
    columns = {}
    for name in [*(f"x{i}" for i in range(draw(st.integers(least_attributes, 3)))), "y"]:
        values = VALUES[draw(st.sampled_from(sorted(VALUES)))]
        columns[name] = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
    return columns


def grouped(columns, name, random=None, split=False):
    """What GROUP BY gives of an attribute: values, classes and numbers."""
    rows = Counter(zip(map(repr, columns[name]), map(repr, columns["y"]), strict=True))
    values = {repr(value): value for value in columns[name]}
    labels = {repr(label): label for label in columns["y"]}
    triples = [(values[value], labels[label], number) for (value, label), number in rows.items()]
    if split:  # numbers of the same value and class come more than once
        triples = [(value, label, part) for value, label, number in triples for part in (1, number - 1)]
    if random is not None:
        random.shuffle(triples)
    return tuple(map(list, zip(*triples, strict=True)))


def shown(views):
    """All that views have, in a form in which 1, 1.0 and True differ."""
    domains = {**views.domains, "": views.class_domain}
    return repr(views.to_dict()), [(name, one.kind, one.declared) for name, one in domains.items()]


def class_counts(columns):
    numbers = Counter(map(repr, columns["y"]))
    labels = {repr(label): label for label in columns["y"]}
    return [labels[text] for text in numbers], list(numbers.values())


@given(tables(), SHUFFLE, st.booleans())
def test_groups_equal_the_rows_they_are_of(columns, random, split):
    names = [name for name in columns if name != "y"]
    groups = {name: grouped(columns, name, random, split) for name in names}
    totals = class_counts(columns) if not names or random.random() < 0.5 else None
    views = Viewset.from_groups(groups, "y", class_counts=totals)
    assert views == nbcfast.count(columns, "y")
    assert shown(views) == shown(nbcfast.count(columns, "y"))
    assert views.is_realistic()
    assert not views.weighted


@given(tables(1), tables(1))
def test_parts_add(one, other):
    def parts(columns):
        return Viewset.from_groups({"x0": grouped(columns, "x0")}, "y")

    try:
        expected = nbcfast.count(one, "y", ["x0"]) + nbcfast.count(other, "y", ["x0"])
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            parts(one) + parts(other)
    else:
        assert shown(parts(one) + parts(other)) == shown(expected)
        assert parts(one) + nbcfast.count(other, "y", ["x0"]) == expected


@given(tables(1), SHUFFLE)
def test_declared_domains_and_precedence(columns, random):
    table = Table(columns)
    domains = {name: list(table.column(name).domain.head) for name in columns}
    for name, values in domains.items():
        if table.column(name).domain.kind != "interval":
            random.shuffle(values)
        values += table.column(name).domain.tail
    names = [name for name in columns if name != "y"]
    some = {name: domains[name] for name in columns if random.random() < 0.5}
    groups = {name: grouped(columns, name, random) for name in names}
    classes = domains["y"] if random.random() < 0.5 else None
    expected = nbcfast.count(Table(columns, some), "y", classes=classes)
    views = Viewset.from_groups(groups, "y", domains=some, classes=classes)
    assert shown(views) == shown(expected)
    all_declared = Viewset.from_groups(groups, "y", declared=True)
    assert all_declared == nbcfast.count(columns, "y")
    assert all(one.declared for one in [all_declared.class_domain, *all_declared.domains.values()])


def test_arrow_tables_and_tuples_are_alike():
    values, labels, numbers = ["b", "a", "b"], [1, 1, 0], [2, 3, 4]
    expected = Viewset.from_groups({"x": (values, labels, numbers)}, "y")
    columns = {"x": values, "y": labels, "n": numbers}
    decimals = pa.array([Decimal(2), Decimal(3), Decimal(4)], pa.decimal128(38, 0))
    forms = [
        pa.table(columns),
        pa.table({**columns, "n": decimals}),
        pa.table({"value": values, "label": labels, "count": numbers}),
        Table(columns),
        Table(columns, weights="n"),
        (np.array(values), np.array(labels), np.array(numbers, np.uint64)),
        (pa.array(values), pa.array(labels), decimals),
        (values, labels, [Decimal(2), Decimal(3), Decimal(4)]),
    ]
    for form in forms:
        assert Viewset.from_groups({"x": form}, "y") == expected
    assert expected.to_dict() == {
        "classes": [0, 1],
        "class_counts": [4, 5],
        "attributes": {"x": {"values": ["a", "b"], "counts": [[0, 3], [4, 2]]}},
    }
    for form in [
        ([0, 1], [4, 5]),
        pa.table({"y": [1, 0], "n": [5, 4]}),
        Table({"y": [1, 0], "n": [5, 4]}, weights="n"),
    ]:
        assert Viewset.from_groups({"x": (values, labels, numbers)}, "y", class_counts=form) == expected


def test_a_declared_domain_of_a_table_is_kept():
    table = Table({"x": ["b"], "y": [1], "n": [2]}, {"x": ["b", "a"]})
    views = Viewset.from_groups({"x": table}, "y")
    assert views.domain("x") == ("b", "a")
    assert views.domains["x"].declared


def test_no_attributes():
    views = Viewset.from_groups({}, "y", class_counts=(["no", "yes"], [3, 2]))
    assert views == nbcfast.count({"y": ["no"] * 3 + ["yes"] * 2}, "y")
    with pytest.raises(
        ValueError, match="class_counts must be given where there are no attributes, got None"
    ):
        Viewset.from_groups({})


def test_a_number_of_0_is_no_row():
    groups = {"x": (["a", "b"], ["no", "yes"], [2, 0])}
    views = Viewset.from_groups(groups, "y")
    assert (views.domain("x"), views.classes) == (("a",), ("no",))
    declared = Viewset.from_groups(groups, "y", declared=True)
    assert (declared.domain("x"), declared.classes) == (("a", "b"), ("no", "yes"))
    assert declared.counts["x"].tolist() == [[2, 0], [0, 0]]
    named = Viewset.from_groups(groups, "y", domains={"x": ["a"], "y": ["yes", "no"]})
    assert (named.domain("x"), named.classes) == (("a",), ("yes", "no"))
    with pytest.raises(ValueError, match="column 'y' has no rows and no declared domain: no classes"):
        Viewset.from_groups({"x": (["a"], ["no"], [0])}, "y")
    assert Viewset.from_groups({"x": ([], [], [])}, classes=["no"]).n_rows == 0


def test_numbers_of_64_bits():
    views = Viewset.from_groups({"x": (["a", "b"], [0, 0], [2**63 - 2, 1])})
    assert views.n_rows == 2**63 - 1
    with pytest.raises(ValueError, match=r"groups\['x'\]: numbers must add up to less than 2\^63"):
        Viewset.from_groups({"x": (["a", "b"], [0, 0], [2**63 - 2, 2])})
    with pytest.raises(ValueError, match="64 bits"):
        Viewset.from_groups({"x": (["a"], [0], [2**63])})


def test_weights_are_said():
    assert Viewset.from_groups({"x": (["a"], [0], [2])}, weighted=True).weighted


@pytest.mark.parametrize(
    ("groups", "options", "error", "message"),
    [
        (
            {"x": (["a"], ["no"], [2]), "z": (["b"], ["no"], [3])},
            {},
            ValueError,
            r"groups: 'x' and 'z' have other class counts \(2 and 3 rows of 'no'\): the rows changed between "
            "two queries, or are not of the same table",
        ),
        (
            {"x": (["a"], ["no"], [2]), "z": (["b"], ["yes"], [2])},
            {},
            ValueError,
            r"groups: 'x' and 'z' have other class counts \(2 and 0 rows of 'no'\)",
        ),
        (
            {"x": (["a"], ["no"], [2])},
            {"class_counts": (["no"], [4])},
            ValueError,
            r"groups: class_counts and 'x' have other class counts \(4 and 2 rows of 'no'\)",
        ),
        ([], {}, TypeError, "groups: expected a mapping of name -> groups, got list"),
        ({1: ()}, {}, TypeError, "groups: expected names of attributes, got 1"),
        ({"y": ()}, {}, ValueError, "the class 'y' cannot be an attribute as well"),
        (
            {"x": (["a"], [0])},
            {},
            ValueError,
            r"groups\['x'\]: expected \(values, classes, numbers\), got a tuple of 2",
        ),
        (
            {"x": [1, 2, 3]},
            {},
            TypeError,
            r"groups\['x'\]: expected \(values, classes, numbers\), or Arrow data or a Table with these "
            "columns, got list",
        ),
        (
            {},
            {"class_counts": 5},
            TypeError,
            r"class_counts: expected \(labels, numbers\), or Arrow data or a Table with these columns, "
            "got int",
        ),
        (
            {"x": (["a", "b"], [0], [1])},
            {},
            ValueError,
            r"groups\['x'\]: expected as many numbers as entries of 'x', got 1 and 2",
        ),
        ({"x": (["a"], [0], [1.0])}, {}, TypeError, r"groups\['x'\]: numbers must be integers, got 1\.0"),
        ({"x": (["a"], [0], [True])}, {}, TypeError, r"groups\['x'\]: numbers must be integers, got True"),
        ({"x": (["a"], [0], [None])}, {}, TypeError, r"groups\['x'\]: numbers must be integers, got None"),
        ({"x": (["a"], [0], [Decimal("1.5")])}, {}, TypeError, "Decimal"),
        ({"x": (["a"], [0], [-1])}, {}, ValueError, r"groups\['x'\]: numbers must be 0\.\.2\^63-1, got -1"),
        ({"x": (["a", 1], [0, 0], [1, 1])}, {}, TypeError, "column 'x': expected values of one kind"),
        (
            {"x": (["a"], [0], [1])},
            {"domains": {"x": ["b"]}},
            ValueError,
            "column 'x': value 'a' is not in its declared domain of 1 values",
        ),
        (
            {"x": (["a"], [0], [1])},
            {"domains": {"y": [1]}},
            ValueError,
            "column 'y': value 0 is not in its declared domain of 1 values",
        ),
        (
            {"x": (["a"], [0], [1])},
            {"domains": {"z": [1]}},
            ValueError,
            "domains: expected a column of 'x', 'y'; got 'z'",
        ),
        (
            {"x": (["a"], [0], [1])},
            {"classes": [1]},
            ValueError,
            "classes must name every label of 'y', 0 is",
        ),
        (
            {"x": Table({"y": [0], "x": ["a"], "n": [1]})},
            {},
            ValueError,
            r"groups\['x'\]: expected the columns the value 'x', the class 'y', numbers in this order, "
            "got 'y', 'x', 'n'",
        ),
        (
            {"x": Table({"x": ["a"], "y": [1]})},
            {},
            ValueError,
            "expected the columns the value 'x', the class 'y', numbers in this order, got 'x', 'y'",
        ),
    ],
)
def test_errors(groups, options, error, message):
    with pytest.raises(error, match=message):
        Viewset.from_groups(groups, "y", **options)


def test_the_class_name_is_a_text():
    with pytest.raises(TypeError, match="class_name must be a text, got 3"):
        Viewset.from_groups({}, 3)


@pytest.mark.parametrize("place", [0, 1])
def test_too_many_values(place):
    cells = [np.zeros(65_537, np.int64), np.zeros(65_537, np.int64)]
    cells[place] = np.arange(65_537)
    name = "xy"[place]
    with pytest.raises(ValueError, match=f"column '{name}' has 65537 values, expected at most 65536"):
        Viewset.from_groups({"x": (*cells, np.ones(65_537, np.int64))}, "y")
