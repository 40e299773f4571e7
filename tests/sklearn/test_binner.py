"""`DeclaredBinner`: bins that nobody took from the rows."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from nbcfast import Interval, Table
from nbcfast.sklearn import DeclaredBinner

AGES = [0, 18, 65, None]


def test_numbers_become_the_places_of_their_bins():
    binner = DeclaredBinner(AGES)
    rows = [[17, 18.0], [64.5, 10**15], [np.inf, None]]
    assert binner.fit_transform(rows).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert binner.transform(np.array([[0, -0.0], [np.nan, 65]])).tolist() == [[0, 0], [3, 2]]
    assert binner.transform([["17.50", "3"]]).tolist() == [[0, 0]]
    assert binner.transform(np.array([[18, 17]], np.uint8)).dtype == np.int64
    assert DeclaredBinner((-np.inf, 0, np.inf)).fit_transform([[-1], [0]]).tolist() == [[0], [1]]
    assert DeclaredBinner(np.array([0.0, 0.5, 1.0])).fit_transform([[0.5]]).tolist() == [[1]]
    assert not hasattr(binner, "feature_names_in_")


@given(st.lists(st.floats(-5, 5), min_size=1), st.sets(st.floats(-4, 4), min_size=1, max_size=6))
def test_a_float_lies_where_its_shortest_text_does(numbers, cuts):
    edges = [None, *sorted({cut + 0.0 for cut in cuts}), None]
    places = DeclaredBinner(edges).fit_transform(np.array(numbers)[:, np.newaxis])[:, 0]
    table = Table({"x": numbers}).bin("x", [-np.inf, *edges[1:-1], np.inf])
    assert places.tolist() == table.codes("x").tolist()
    bins = [Interval(low, high) for low, high in pairwise(edges)]
    assert all(number in bins[place] for number, place in zip(numbers, places, strict=True))


def test_a_float_means_its_shortest_text():
    assert DeclaredBinner([0, 0.3, 1]).fit_transform(
        [[0.3], [0.1 + 0.2], [0.29999999999999998]]
    ).tolist() == [
        [1],
        [1],
        [1],
    ]


def test_each_column_may_have_edges_of_its_own():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"age": [3, 70], "bmi": [18.5, 31.0]}
    binner = DeclaredBinner({"bmi": [0, 25, 30, None], "age": AGES})
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pd.DataFrame(columns).astype("Float64")):
        assert binner.fit_transform(frame).tolist() == [[0, 0], [2, 2]]
        assert binner.feature_names_in_.tolist() == binner.get_feature_names_out().tolist() == ["age", "bmi"]
    assert DeclaredBinner({"x1": AGES, "x0": [0, 9]}).fit_transform([[1, 70]]).tolist() == [[0, 2]]
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        made = clone(binner).set_output(transform=library).fit_transform(frame(columns))
        assert isinstance(made, frame)
        assert [*made.columns] == ["age", "bmi"]
        assert made["bmi"].to_list() == [0, 2]
    with pytest.raises(ValueError, match="feature names should match"):
        binner.transform(pd.DataFrame({"age": [3], "height": [2.0]}))
    with pytest.raises(ValueError, match="edges must be given for every column, got none for 'height'"):
        binner.fit(pd.DataFrame({"age": [3], "height": [2.0]}))
    with pytest.raises(ValueError, match="edges: X has no column 'bmi'; it has 'age'"):
        binner.fit(pd.DataFrame({"age": [3]}))


def test_it_is_pickled_and_cloned_with_its_edges():
    binner = DeclaredBinner(AGES).fit([[1], [2]])
    made = pickle.loads(pickle.dumps(binner))
    assert made.transform([[70]]).tolist() == [[2]]
    assert clone(binner).edges == AGES


@pytest.mark.parametrize(
    ("edges", "error", "match"),
    [
        ("0, 18", TypeError, "edges must be a sequence of numbers, got str"),
        (5, TypeError, "edges must be a sequence of numbers, got int"),
        ({"x0": 5}, TypeError, r"edges\['x0'\] must be a sequence of numbers, got int"),
        ([18], ValueError, "edges: expected a list of two edges or more"),
        ([18, 3], ValueError, "edges: expected edges that increase"),
        ([0, None, 3], ValueError, "edges: expected null at an end of the edges alone"),
    ],
)
def test_edges_that_are_none_are_refused(edges, error, match):
    with pytest.raises(error, match=match):
        DeclaredBinner(edges).fit([[1], [2]])


def test_values_that_no_bin_has_are_refused():
    binner = DeclaredBinner(AGES).fit([[1], [2]])
    for rows, match in (
        ([[-3], [7]], r"column 'x0': value -3 lies outside the edges \[0, inf\)"),
        ([["old"], ["7"]], "column 'x0': expected numbers to bin, got text, such as 'old'"),
        ([[True], [False]], "column 'x0': expected numbers to bin, got bool"),
    ):
        with pytest.raises(ValueError, match=match):
            binner.transform(rows)
