"""Names of sets and bins, and what is in them."""

import pytest

from nbcfast import Interval
from nbcfast.domains import declared
from nbcfast.exports.raw_sets import of_raw_values
from nbcfast.exports.strata_points import StrataPoints
from nbcfast.published.points_table import PointsTable


def points(*values):
    rows = tuple((place,) for place in range(len(values)))
    return PointsTable(("no", "yes"), (("x", values, rows), ("y", (0, 1), ((0,), (1,)))), 1, ())


def opened(entry, *values):
    """The raw values of an attribute, each with its points."""
    name, found, rows = of_raw_values(
        points(*values), declared({"x": entry, "class": ["no", "yes"]})
    ).attributes[0]
    assert name == "x"
    return [(value, *row) for value, row in zip(found, rows, strict=True)]


def test_sets_bins_with_names_and_values_as_they_are():
    groups = {"groups": {"few": [0, 1], "many": [2, 7.0]}}
    assert opened(groups, "few", "many") == [(0.0, 0), (1.0, 0), (2.0, 1), (7.0, 1)]
    # Values stand in the order of the domain, null last.
    assert opened({"groups": {"none": [None, "-"], "some": ["a"]}}, "none", "some") == [
        ("-", 0),
        ("a", 1),
        (None, 0),
    ]
    bins = {"edges": [0, 18, None], "labels": ["child", "adult"], "null": True}
    young, old = Interval(0, 18), Interval(18, None)
    assert opened(bins, "child", "adult", None) == [(young, 0), (old, 1), (None, 2)]
    assert opened({"edges": [0, 18, None]}, young, old) == [(young, 0), (old, 1)]
    days = {"edges": ["2020-01-01", "2021-01-01"]}  # which each program writes otherwise
    assert opened(days, "[2020-01-01, 2021-01-01)") == [("[2020-01-01, 2021-01-01)", 0)]
    assert opened({**days, "labels": ["in 2020"]}, "in 2020") == [("in 2020", 0)]
    assert opened(["b", "a"], "b", "a") == [("b", 0), ("a", 1)]


def test_values_from_rows_that_no_row_had_are_left_out():
    domains = {"domain": {"x": {"groups": {"few": [0, 1], "many": [2]}}}, "from_rows": ["x"]}
    found = of_raw_values(points("few"), declared(domains)).attributes[0]
    assert found == ("x", (0, 1), ((0,), (0,)))


@pytest.mark.parametrize(
    ("entry", "values", "error"),
    [
        (["a", "b"], ("a", "c"), "column 'x': the release has other values: give what it was published with"),
        ({"out": True}, ("a", "c"), "column 'x': the release has other values"),
        (
            {"groups": {"a": ["u"]}, "other": "rest"},
            ("a", "rest"),
            "'rest' takes every value that is not listed",
        ),
    ],
)
def test_what_cannot_be_listed(entry, values, error):
    with pytest.raises(ValueError, match=f"domains: .*{error}"):
        opened(entry, *values)


def test_the_column_of_strata_may_have_sets_too():
    strata = StrataPoints("sex", ("w", "m"), (points("few", "many"), points("few", "many")))
    found = of_raw_values(strata, declared({"sex": {"groups": {"w": ["f", "w"], "m": ["m"]}}}))
    assert found.values == ("f", "w", "m")
    assert [each is found.points[0] for each in found.points] == [True, True, False]
