"""Options: raw values of a column put into finitely many."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast.domains import Option
from nbcfast.table.values import SUPPRESSED, Interval

BEFORE, SINCE = "(-inf, 2000-01-01)", "[2000-01-01, inf)"


def of(values, **more):
    return nbcfast.Table({"x": values}, **more)


def put(entry, values):
    """The values of a column where an option has put them."""
    table = Option(entry).applied(of(values), "x")
    assert table.column("x").domain.declared
    return [table.domain("x")[code] for code in table.codes("x")]


@pytest.mark.parametrize(
    ("entry", "values", "expected"),
    [
        (["a", "b", None], ["b", None], ["b", None]),
        ({"values": [2, 1]}, [1, 1, 2], [1, 1, 2]),
        ({"values": [1, 2.5]}, [1, 1], [1.0, 1.0]),
        ({"values": [False, True]}, [True], [True]),
        ({"edges": [None, 0.3, 1]}, [0.3, 0.1 + 0.2, 0], [Interval("0.3", 1)] * 2 + [Interval(None, "0.3")]),
        ({"edges": [0, 10, None]}, [0, 9, 10, 10**12], [Interval(0, 10)] * 2 + [Interval(10, None)] * 2),
        ({"edges": [None, 0, None]}, [float("-inf"), float("inf")], [Interval(None, 0), Interval(0, None)]),
        ({"edges": [0, 5, 9], "labels": ["low", "high"]}, [0, 5, 8], ["low", "high", "high"]),
        (
            {"edges": [0, 16, 99]},
            ["015.99", "16.00", "1e1"],
            [Interval(0, 16), Interval(16, 99), Interval(0, 16)],
        ),
        ({"edges": [0, 9], "null": True}, [3, None], [Interval(0, 9), None]),
        ({"edges": [0, 9], "null": True}, [None, None], [None, None]),
        ({"width": 10, "from": 0, "to": 30, "open": True}, [-4, 11, 99], ["lo", Interval(10, 20), "hi"]),
        ({"groups": {"low": [1, 2], "high": [3]}}, [3, 1, 2], ["high", "low", "low"]),
        ({"groups": {"low": ["1", "2"], "high": ["3"]}}, [3, 1, 2], ["high", "low", "low"]),
        ({"groups": {"yes": ["True"], "no": ["False"]}}, [True, False], ["yes", "no"]),
        ({"groups": {"a": ["x", None]}, "other": "else"}, ["x", None, "y", "z"], ["a", "a", "else", "else"]),
        ({"groups": {"a": ["x"], "b": ["y"]}, "other": "a"}, ["x", "y", "z"], ["a", "b", "a"]),
    ],
)
def test_values_are_put_where_the_option_says(entry, values, expected):
    named = {"lo": Interval(None, 10), "hi": Interval(20, None)} if "width" in entry else {}
    assert put(entry, values) == [named.get(value, value) for value in expected]


@pytest.mark.parametrize(
    ("edges", "values", "expected"),
    [
        (
            [None, "2000-01-01", None],
            ["1999-12-31", "2000-01-01"],
            ["(-inf, 2000-01-01)", "[2000-01-01, inf)"],
        ),
        (["2000-01-01", "2000-01-02"], ["2000-01-01T23:59:59.9"], ["[2000-01-01, 2000-01-02)"]),
        (
            [None, "2000-01-01", None],
            ["-044-03-15", "10000-01-01"],
            ["(-inf, 2000-01-01)", "[2000-01-01, inf)"],
        ),
    ],
)
def test_dates_lie_between_dates(edges, values, expected):
    assert put({"edges": edges}, values) == expected


NUMBERS = st.integers(-20, 20) | st.decimals(-2, 2, places=1).map(float)


@given(st.lists(NUMBERS, min_size=1, max_size=5, unique=True), st.lists(NUMBERS, min_size=1), st.booleans())
def test_bins_are_those_of_table_bin(cuts, values, is_open):
    """Whoever binned before, with Table.bin, gets the same; and a float lies where its decimal text does."""
    edges = [-50, *sorted(cuts), 50]
    option = Option({"edges": [None, *edges[1:-1], None] if is_open else edges})
    table = of(values)
    ends = [-math.inf, *edges[1:-1], math.inf] if is_open else edges
    expected = table.bin("x", ends)
    assert option.applied(table, "x") == expected
    texts = of([str(value) for value in values])
    assert option.applied(texts, "x").codes("x").tolist() == expected.codes("x").tolist()


def test_values_that_no_row_has_stay_and_weights_too():
    table = of(["b", "b"], weights=[2, 3])
    applied = Option(["a", "b"]).applied(table, "x")
    assert applied.domain("x") == ("a", "b")
    assert applied.weights.tolist() == [2, 3]
    assert applied.codes("x").tolist() == [1, 1]


def test_what_is_left_out_is_gone():
    table = nbcfast.Table({"x": [1, 2], "y": [3, 4]})
    out = Option({"out": True})
    assert (out.out, out.n_values, out.domain_values) == (True, None, ())
    assert out.applied(table, "x") == nbcfast.Table({"y": [3, 4]})
    assert out.codes(table.column("x").domain).tolist() == [-1, -1]


def test_codes_are_of_the_raw_domain_in_its_order():
    option = Option({"edges": [None, 20, 30]})
    raw = nbcfast.Table({"x": [25]}, domains={"x": [40, 25, 3, None]}).column("x").domain
    assert option.codes(raw).tolist() == [-1, 1, 0, -1]


def test_a_value_that_no_row_has_needs_no_place():
    table = of([25], domains={"x": [25, 99]})
    assert Option({"edges": [20, 30]}).applied(table, "x").domain("x") == (Interval(20, 30),)


def test_bins_take_the_intervals_of_a_column_that_was_binned():
    table = of([3, 14, 25]).bin("x", [0, 10, 20, 30])
    option = Option({"edges": [None, 20, None]})
    assert option.applied(table, "x").codes("x").tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"column 'x': value \[10, 20\) lies outside the edges \(-inf, 15\)"):
        Option({"edges": [None, 15]}).applied(of([3, 14]).bin("x", [0, 10, 20]), "x")


def test_lists_of_python_may_hold_intervals_and_what_was_withheld():
    assert put({"values": [Interval(0, 9), SUPPRESSED]}, [SUPPRESSED]) == [SUPPRESSED]


def test_of_values_that_were_forgotten_no_edges_are_spoken():
    for entry, values in (([1, 2, 9], [3, 4, 5]), ([1, 2], [3, 4, 5, 6]), (["1", "9"], ["3", "4", "5"])):
        with pytest.raises(ValueError, match=r"declared domain of \d values$"):
            put(entry, values)


@pytest.mark.parametrize(
    ("entry", "values", "message"),
    [
        (["a"], ["b"], "column 'x': value 'b' is not in its declared domain of 1 values"),
        (["a"], ["b", "c"], "column 'x': values 'b' and 'c' are not in its declared domain of 1 values"),
        (
            [0],
            list(range(1, 40)),
            "3, 4, 5 and 34 more are not in its declared domain of 1 values",
        ),
        (["a"], [None], "column 'x': value None is not in its declared domain of 1 values"),
        (
            [0, 30, 60.5],
            [7, 8, 29.5, 30, 31, 99],
            'in its declared domain of 3 values; a list is one of values: bins are written {"edges": [..]}',
        ),
        ({"edges": [0, 9]}, [9], "column 'x': value 9 lies outside the edges [0, 9)"),
        ({"edges": [0, None]}, [-1, -2, 3], "column 'x': values -2 and -1 lie outside the edges [0, inf)"),
        (
            {"edges": [0, 9]},
            [None],
            "column 'x': expected a number in every row, got null: declare it with \"null\": true",
        ),
        ({"edges": [0, 9]}, [None, 11], "value 11 lies outside the edges [0, 9), and null is declared with"),
        ({"edges": [0, 9]}, ["3", "?"], "column 'x': expected numbers to bin, got text, such as '?'"),
        ({"edges": [0, 9]}, [True], "column 'x': expected numbers to bin, got bool, such as True"),
        (
            {"edges": [None, "2000-01-01"]},
            ["today"],
            "column 'x': expected dates to bin, got text, such",
        ),
        ({"edges": [None, "2000-01-01"]}, [3], "column 'x': expected dates to bin, got int, such as 3"),
        (
            {"edges": [None, "2000-01-01"]},
            ["2001-01-01"],
            "value '2001-01-01' lies outside the edges (-inf, 2000-01-01)",
        ),
        ({"groups": {"a": ["x"]}}, ["y"], "column 'x': value 'y' is in none of its 1 groups"),
        ({"groups": {"a": ["x"]}, "other": "b"}, [None], "column 'x': value None is in none of its 2 groups"),
        ({"groups": {"a": [1]}}, [True], "column 'x': value True is in none of its 1 groups"),
    ],
)
def test_all_values_without_a_place_are_told_at_once(entry, values, message):
    with pytest.raises(ValueError, match="column 'x': ") as error:
        Option(entry).applied(of(values), "x")
    assert message in str(error.value)


def test_other_takes_no_null_that_nobody_declared():
    """It would be in the release, and no certificate would say that a missing value is a value."""
    with pytest.raises(ValueError, match="value None is in none of its 2 groups"):
        Option({"groups": {"a": ["x"]}, "other": "b"}).applied(of(["x", None]), "x")


@pytest.mark.parametrize(
    "entry", [{}, {"hierarchy": "f.csv", "level": 1}, 3, None, {"edges": [0]}, {"out": 1}]
)
def test_entries_that_are_none_are_refused(entry):
    with pytest.raises(ValueError, match=r"^option"):
        Option(entry)


def test_options_are_equal_by_what_they_say():
    assert Option({"edges": [0, 1]}) == Option({"width": 1, "from": 0, "to": 1})
    assert len({Option(["a"]), Option({"values": ["a"]}), Option(["b"])}) == 2
    assert Option(["a"]) != ["a"]
