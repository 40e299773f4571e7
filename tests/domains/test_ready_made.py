"""Menus that nobody wrote: of public facts, and of rows where nothing else is known."""

import numpy as np
import pytest

import nbcfast
from nbcfast.domains import Menu, declared, ready_made

RNG = np.random.default_rng(3)


def edges(menu, name):
    return [option.entry["edges"] for option in menu.options[name] if "edges" in option.entry]


def of(values, name="x", **known):
    table = nbcfast.Table({name: values, "y": ["a", "b"] * (len(values) // 2)})
    return ready_made(table, "y", declared(known) if known else None)


def test_numbers_of_the_rows_are_cut_at_round_numbers_with_open_ends():
    menu = of(RNG.integers(17, 91, 400))
    assert menu.undeclared == ("x", "y")
    assert edges(menu, "x")[-2:] == [[None, 20, 40, 60, 80, None], [None, 50, None]]
    assert menu.options["x"][-1].out
    found = [option.n_values for option in menu.options["x"][:-1]]
    assert found == sorted(found, reverse=True)
    assert max(found) <= 21


def test_only_the_rounded_range_of_the_rows_shows():
    """Whose number is the largest does not show as long as it is rounded to the same."""
    assert of([17, 90] * 50).document == of([3, 99] * 50).document


def test_skewed_numbers_are_cut_at_powers_of_ten_and_none_is_told_from_some():
    menu = of([0] * 90 + [5_000, 99_999] * 5)
    assert edges(menu, "x") == [
        [None, 1, 10, 100, 1000, 10000, None],
        [None, 1, 5000, 10000, None],
        [None, 5000, None],
        [None, 20000, 40000, 60000, 80000, None],
        [None, 50000, None],
        [None, 1, None],
    ]
    years = of([1900, 2010] * 50)
    assert edges(years, "x")[-1] == [None, 2000, None]  # large, and not skewed


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.25] * 9,
        [-3, -9] * 9,
        [10**17, -(10**17)] * 9,
        [1e-9, 2e-9] * 9,
        [7, 7] * 9,
        [1e300, -1e300] * 9,
        [float("inf"), 2.0] * 9,
        [None, 3] * 9,
        ["16.00", "015.99"] * 9,
        [True, False] * 9,
        ["2001-05-06", "2001-06-05", None] * 6,
        ["1990-01-01", "2020-12-31"] * 9,
    ],
)
def test_every_option_has_a_place_for_every_row(values):
    table = nbcfast.Table({"x": values, "y": ["a", "b"] * (len(values) // 2)})
    menu = ready_made(table, "y")
    assert len(menu.options["x"]) >= 2
    for option in menu.options["x"]:
        assert option.applied(table, "x").n_rows == len(values)
    assert Menu.read(menu.document) == menu


def test_dates_are_cut_at_years_and_months():
    menu = of([f"{year}-06-01" for year in range(1990, 2022)])
    assert edges(menu, "x")[-1] == [None, "2000-01-01", None]
    assert [None, "2000-01-01", "2010-01-01", "2020-01-01", None] in edges(menu, "x")
    menu = of([f"2020-{month:02d}-17T10:00:00" for month in range(3, 9)])
    assert [cut[1:-1] for cut in edges(menu, "x")] == [
        ["2020-04-01", "2020-05-01", "2020-06-01", "2020-07-01", "2020-08-01"],
        ["2020-04-01", "2020-07-01"],
        ["2020-07-01"],
    ]


def test_texts_occur_or_are_left_out():
    menu = of(["b", "a", None, "a"] * 5)
    assert [option.entry for option in menu.options["x"]] == [{"values": ["a", "b", None]}, {"out": True}]
    many = of([f"t{place // 4}" for place in range(800)])
    assert [option.entry for option in many.options["x"]] == [{"out": True}]
    assert many.undeclared == ("x", "y")  # that there are so many texts, the rows have told


def test_what_is_declared_is_a_public_fact():
    menu = of([30, 40] * 9, x={"edges": [0, 18, 65, 100]})
    assert menu.undeclared == ()
    assert edges(menu, "x")[0] == [0, 18, 65, 100]
    assert all(cut[0] == 0 and cut[-1] == 100 for cut in edges(menu, "x"))
    assert [0, 20, 40, 60, 80, 100] in edges(menu, "x")
    menu = of([1, 2] * 9, x=list(range(10)))
    assert menu.options["x"][0].n_values == 10
    assert edges(menu, "x")[-1] == [None, 1, None]
    assert of([1, 2] * 9, x={"out": True}).document == {"x": [{"out": True}]}
    assert of(["u", "v"] * 9, x={"groups": {"w": ["u", "v"]}}).options["x"][0].domain_values == ("w",)


def test_what_was_taken_from_rows_and_not_checked_stays_undeclared():
    known = declared(
        {"domain": {"x": [1, 2, 3], "y": ["n", "y"], "z": {"out": True}}, "from_rows": ["x", "y"]}
    )
    table = nbcfast.Table({"x": [1, 2] * 9, "y": ["n", "y"] * 9, "z": [5, 6] * 9})
    menu = ready_made(table, "y", known)
    assert menu.undeclared == ("x", "y")
    assert menu.options["x"][0].entry == {"values": [1, 2, 3]}
    assert (menu.class_values, menu.chosen([0, 0]).from_rows) == (("n", "y"), ("x", "y"))
    # What is left out has no values that could come from anywhere.
    assert menu.chosen([len(menu.options["x"]) - 1, 0]).from_rows == ("y",)
    checked = declared({"domain": known.entries, "from_rows": []})
    assert ready_made(table, "y", checked).undeclared == ()


def test_bins_of_the_rows_stay_as_they_are():
    table = nbcfast.Table({"x": [3, 14, 35, 8], "y": [0, 1, 0, 1]}).bin("x", width=10)
    menu = ready_made(table, "y")
    assert edges(menu, "x") == [[None, 10, 20, 30, None]]
    assert menu.options["x"][0].applied(table, "x").codes("x").tolist() == [0, 1, 3, 0]
    assert menu.undeclared == ("x", "y")


def test_the_class_has_no_options_but_its_values():
    table = nbcfast.Table({"x": [1, 2], "y": ["a", "b"]})
    assert ready_made(table, "y").attributes == ("x",)
    assert (ready_made(table, "y").class_values, ready_made(table, "y").undeclared) == (
        ("a", "b"),
        ("x", "y"),
    )
    # Where nothing else comes from rows, the class is what the menu lacks, and the menu is fixed.
    known = ready_made(table, "y", declared({"x": [1, 2]}))
    assert (known.class_values, known.undeclared) == (None, ())
    # What somebody declared in Python is no value of the rows, and many are no class.
    given = nbcfast.Table({"x": [1, 2], "y": ["a", "b"]}, domains={"y": ["b", "a", "c"]})
    assert ready_made(given, "y").class_values is None
    many = nbcfast.Table({"x": [1, 2] * 150, "y": list(range(300))})
    assert ready_made(many, "y").class_values is None
    binned = nbcfast.Table({"x": [1, 2], "y": [3, 14]}).bin("y", width=10)
    assert ready_made(binned, "y").class_values is None
    assert ready_made(table, "y", declared({"y": ["b", "a"]})).class_values == ("b", "a")
    with pytest.raises(ValueError, match="got 'z'"):
        ready_made(table, "z")


def test_whole_numbers_have_whole_edges_everywhere():
    """From 5.5 on no whole number is that is not from 6 on: the menu would be the same, and look fine."""
    years = {
        "years": list(range(5, 15)) * 5,
        "text": list(map(str, range(5, 15))) * 5,
        "ill": ["n", "y"] * 25,
    }
    table = nbcfast.Table(years)
    begun_menu = ready_made(table, "ill")
    edges = {"edges": [None, 5, 10, 15, None]}
    of_declared = ready_made(table, "ill", declared({"years": edges, "text": {"values": years["text"][:10]}}))
    for menu in (begun_menu, of_declared):
        for name in ("years", "text"):
            cuts = [cut for option in menu.options[name] for cut in option.entry.get("edges", ())]
            assert cuts
            assert all(cut is None or isinstance(cut, int) for cut in cuts), (name, cuts)
    halves = ready_made(nbcfast.Table({"x": [5.0, 5.5, 6.0, 7.0] * 5, "ill": ["n", "y"] * 10}), "ill")
    assert 4.2 in halves.options["x"][0].entry["edges"]  # of others they may lie anywhere
