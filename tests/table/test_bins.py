"""`Interval` and `Table.bin` against the reference."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Interval, Table, concat, count, skyline
from nbcfast.reference import table as reference

NUMBERS = st.one_of(st.integers(-20, 20), st.sampled_from([0.1, 0.2, 0.3, 0.7, -0.5, 2.5, 1e-5, 1e15]))
COLUMNS = st.one_of(
    st.lists(st.one_of(st.integers(-20, 20), st.none()), min_size=1),
    st.lists(st.one_of(NUMBERS, st.just(math.inf), st.just(-math.inf), st.none()), min_size=1),
)


def pairs(table, name="x"):
    """The interval of each row, and the domain, as the reference writes them."""
    domain = [None if value is None else (value.low, value.high) for value in table.domain(name)]
    return [domain[code] for code in table.codes(name)], domain


def weights_for(values):
    return [1 + (7 * place) % 5 for place in range(len(values))]


@given(COLUMNS, st.sets(NUMBERS, min_size=2, max_size=6), st.booleans())
def test_edges_equal_reference(values, edges, outer):
    edges = sorted(edges, key=Fraction)
    if outer:
        edges = [-math.inf, *edges, math.inf]
    try:
        expected, intervals = reference.bin_by_edges(values, edges)
    except ValueError:
        with pytest.raises(ValueError, match=r"column 'x': value .* lies outside the edges"):
            Table({"x": values}).bin("x", edges)
        return
    table = Table({"x": values}).bin("x", edges)
    nulls = [None] if None in values else []
    assert pairs(table) == (expected, intervals + nulls)
    assert table.column("x").domain.declared


@given(COLUMNS, st.one_of(st.integers(2, 12), st.just(["0.1", 0.5, Fraction(2, 3)])), st.booleans())
def test_quantiles_equal_reference(values, quantiles, weighted):
    weights = weights_for(values) if weighted else None
    ranks = (
        [Fraction(j, quantiles) for j in range(1, quantiles)]
        if isinstance(quantiles, int)
        else [Fraction(1, 10), Fraction(1, 2), Fraction(2, 3)]
    )
    if any(isinstance(value, float) for value in values):
        values = [float(value) if isinstance(value, int) else value for value in values]
    expected, _ = reference.bin_by_quantiles(values, ranks, weights)
    table = Table({"x": values}, weights=weights).bin("x", quantiles=quantiles)
    assert pairs(table)[0] == expected
    assert not table.column("x").domain.declared
    check_outer(table, values)


@given(COLUMNS, st.sampled_from([1, 7, Fraction(1, 3), "0.1", 0.1, 2.5, 1000]))
def test_width_equals_reference(values, width):
    if isinstance(width, str):
        expected = reference.bin_by_width(values, Fraction(width))
    else:
        expected = reference.bin_by_width(values, width)
    table = Table({"x": values}).bin("x", width=width)
    nulls = [None] if None in values else []
    assert pairs(table) == (expected[0], expected[1] + nulls)
    check_outer(table, values)


def check_outer(table, values):
    """Every value lies in its interval, and the outer ones are open."""
    intervals = [value for value in table.domain("x") if value is not None]
    if intervals:
        assert intervals[0].low is None
        assert intervals[-1].high is None
    for value, code in zip(values, table.codes("x"), strict=True):
        interval = table.domain("x")[code]
        assert (interval is None) if value is None else value in interval


def test_a_float_is_its_shortest_text():
    # As a binary fraction 0.3 is below 3/10, and 0.1 + 0.2 is not 0.3.
    table = Table({"x": [0.3, 0.1 + 0.2, 0.7]}).bin("x", width=0.1)
    assert table.domain("x") == (Interval(None, "0.4"), Interval("0.7", None))
    assert table.codes("x").tolist() == [0, 0, 1]
    assert 0.3 in Interval("0.3", "0.4")
    assert 0.3 not in Interval(0, 0.3)


def test_quantiles_use_weights_and_hide_the_minimum():
    table = Table({"x": [1, 2, 3]}, weights=[1, 1, 8]).bin("x", quantiles=2)
    assert table.domain("x") == (Interval(None, 3), Interval(3, None))
    assert Table({"x": [1, 2]}).bin("x", quantiles=2).domain("x") == (Interval(None, None),)
    assert Table({"x": [1, 2, 3, 4]}).bin("x", quantiles=4).domain("x") == (
        Interval(None, 2),
        Interval(2, 3),
        Interval(3, None),
    )


def test_quantiles_of_large_weights_are_exact():
    big = 2**61
    table = Table({"x": [1, 2, 3]}, weights=[big, 1, big]).bin("x", quantiles=2)
    # Half of the total is big + 1/2: 1 alone does not reach it, with 2 it does. A float64 would not see it.
    assert table.domain("x") == (Interval(None, 2), Interval(2, None))


def test_declared_domains_and_unused_values():
    table = Table({"x": [5, 25, None]}, domains={"x": [99, 25, 5, None]})
    # 99 occurs in no row: it lies outside of no edges and decides no quantile.
    assert table.bin("x", [0, 10, 30]).domain("x") == (Interval(0, 10), Interval(10, 30), None)
    assert table.bin("x", width=10).domain("x") == (Interval(None, 10), Interval(20, None), None)
    assert table.bin("x", quantiles=2).domain("x") == (Interval(None, None), None)
    assert table.bin("x", [0, 10, 30]).codes("x").tolist() == [0, 1, 2]


def test_many_values_many_bins():
    values = np.arange(70_000)
    table = Table({"x": values}).bin("x", width=10)
    assert len(table.domain("x")) == 7000
    assert np.array_equal(table.codes("x"), values // 10)
    with pytest.raises(TypeError, match="column 'x': expected numbers to bin, got interval"):
        table.bin("x", width=2)


def test_empty_and_null_columns():
    for values in ([], [None, None]):
        table = Table({"x": values})
        assert table.bin("x", quantiles=3) == table
        assert table.bin("x", width=3) == table
        assert table.bin("x", [0, 1]).domain("x") == (Interval(0, 1), *table.domain("x"))


def test_other_columns_and_weights_stay():
    table = Table({"x": [1, 2], "y": ["a", "b"]}, weights=[3, 4])
    other = table.bin("x", width=1)
    assert other.names == ("x", "y")
    assert other.domain("y") == ("a", "b")
    assert other.weights.tolist() == [3, 4]
    assert table.domain("x") == (1, 2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "expected one of edges, quantiles and width, got 0"),
        ({"edges": [0, 1], "width": 1}, ValueError, "expected one of edges, quantiles and width, got 2"),
        ({"edges": [1]}, ValueError, "edges must be at least 2 numbers, got 1"),
        ({"edges": [1, 1]}, ValueError, "edges must increase strictly, got 1 then 1"),
        ({"edges": [2, 1]}, ValueError, "edges must increase strictly, got 2 then 1"),
        ({"edges": [0, math.inf, 3]}, ValueError, "each edge must be a finite number, got inf"),
        ({"edges": [math.inf, 3]}, ValueError, "each edge must be a finite number, got inf"),
        ({"edges": [0, math.nan]}, ValueError, "each edge must be a finite number, got nan"),
        ({"edges": [0, None]}, TypeError, "each edge must be an int, a Fraction, a float or its text"),
        ({"edges": [0, True]}, TypeError, "each edge must be a number, got True"),
        ({"edges": [0, "b"]}, ValueError, "each edge must be a finite number, got 'b'"),
        ({"edges": [0, 1]}, ValueError, r"value 3 lies outside the edges \[0, 1\)"),
        ({"quantiles": 1}, ValueError, "quantiles must be at least 2, got 1"),
        ({"quantiles": True}, TypeError, "quantiles must be an int or a sequence of probabilities, got True"),
        ({"quantiles": 0.5}, TypeError, "quantiles must be an int or a sequence of probabilities, got 0.5"),
        ({"quantiles": []}, ValueError, r"probabilities must lie between 0 and 1, got \[\]"),
        ({"quantiles": [0, 0.5]}, ValueError, "probabilities must lie between 0 and 1"),
        ({"quantiles": [0.5, 0.5]}, ValueError, "probabilities must increase strictly"),
        ({"width": 0}, ValueError, "width must be above 0, got 0"),
        ({"width": "x"}, ValueError, "width must be a finite number, got 'x'"),
        ({"width": math.inf}, ValueError, "width must be a finite number, got inf"),
    ],
)
def test_bin_errors(options, error, message):
    with pytest.raises(error, match="column 'x': " + message):
        Table({"x": [3]}).bin("x", **options)


def test_only_numbers_are_binned():
    with pytest.raises(TypeError, match="column 'x': expected numbers to bin, got text"):
        Table({"x": ["a"]}).bin("x", width=1)
    with pytest.raises(TypeError, match="column 'x': expected numbers to bin, got bool"):
        Table({"x": [True]}).bin("x", width=1)
    with pytest.raises(ValueError, match="expected a column of 'x'; got 'y'"):
        Table({"x": ["a"]}).bin("y", width=1)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(20, 30), "[20, 30)"),
        (Interval(None, 20), "(-inf, 20)"),
        (Interval(90, None), "[90, inf)"),
        (Interval(-math.inf, math.inf), "(-inf, inf)"),
        (Interval(0.1, "1/3"), "[0.1, 1/3)"),
        (Interval(Fraction(-5, 4), 1e22), "[-1.25, 10000000000000000000000)"),
        (Interval(np.int8(3), np.float32(0.5) + np.float64(3)), "[3, 3.5)"),
    ],
)
def test_interval_repr_pickle_copy(interval, text):
    assert repr(interval) == text
    for other in (pickle.loads(pickle.dumps(interval)), copy.deepcopy(interval)):
        assert other == interval
        assert hash(other) == hash(interval)


def test_interval_order_and_membership():
    listed = [Interval(None, 1), Interval(None, None), Interval(0, 1), Interval(0, None), Interval(1, 2)]
    shuffled = [listed[place] for place in (3, 1, 4, 0, 2)]
    assert sorted(shuffled) == listed
    assert Interval(0, 1) == Interval(0.0, Fraction(1))
    assert Interval(0, 1) != (0, 1)
    assert Interval(0, 1) <= Interval(0, 1)
    assert math.inf in Interval(0, None)
    assert -math.inf in Interval(None, 0)
    assert math.inf not in Interval(0, 1)
    assert math.nan not in Interval(None, None)
    assert 1 not in Interval(0, 1)
    for other in (None, "0", True, Interval(0, 1)):
        assert other not in Interval(None, None)
    assert np.int8(0) in Interval(0, 1)
    assert np.float32(0.5) in Interval(0, 1)
    with pytest.raises(TypeError):
        assert Interval(0, 1) < 3
    with pytest.raises(ValueError, match=r"low must be below high, got 1 and 0.5"):
        Interval(1, 0.5)
    with pytest.raises(ValueError, match="low must be a finite number, got nan"):
        Interval(math.nan, 1)
    with pytest.raises(AttributeError, match="cannot set low"):
        Interval(0, 1).low = 3
    with pytest.raises(AttributeError, match="cannot delete low"):
        del Interval(0, 1).low


def test_intervals_are_values():
    values = [Interval(3, 4), None, Interval(None, 3)]
    table = Table({"x": values})
    assert table.domain("x") == (Interval(None, 3), Interval(3, 4), None)
    assert [table.domain("x")[code] for code in table.codes("x")] == values


def test_bins_of_another_table():
    first = Table({"age": [17, 25, 38, 61]}).bin("age", width=20)
    later = Table({"age": [33, 5, 99, None]}).bin("age", first.domain("age"))
    assert later.domain("age") == (*first.domain("age"), None)
    assert later.codes("age").tolist() == [1, 0, 2, 3]
    with pytest.raises(ValueError, match=r"value 50 lies outside the edges .*or between its intervals"):
        Table({"age": [50]}).bin("age", first.domain("age"))


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ([Interval(0, 3), Interval(2, 4)], ValueError, r"must increase and not overlap, got \[0, 3\) then"),
        ([Interval(0, None), Interval(2, 4)], ValueError, "must increase and not overlap"),
        ([Interval(0, 3), 5], TypeError, "all numbers or all intervals, got 5"),
        (3, TypeError, "edges must be a sequence of numbers, got 3; .* quantiles="),
    ],
)
def test_edges_that_are_none(edges, error, message):
    with pytest.raises(error, match=message):
        Table({"age": [1]}).bin("age", edges)


EDGES = [0, 18, 65]
BINS = [Interval(0, 18), Interval(18, 65)]


def hospital(ages, edges=EDGES):
    """A table with binned ages; the diagnosis follows from the age."""
    ill = ["none" if age is None else "old" if age > 20 else "young" for age in ages]
    return Table({"age": ages, "ill": ill}, domains={"ill": ["young", "old", "none"]}).bin("age", edges)


PARTS = [[10, None], [30, 40], [None, None], [], [12, 64]]


@pytest.mark.parametrize("a", PARTS)
@pytest.mark.parametrize("b", PARTS)
@pytest.mark.parametrize("edges", [EDGES, BINS, [*BINS, None]])
def test_parts_with_and_without_nulls_merge(a, b, edges):
    """Parts are merged to what the whole gives, and taken out of it to what the rest gives."""
    one, two, whole = hospital(a, edges), hospital(b, edges), hospital(a + b, edges)
    joined = concat([one, two])
    assert joined == whole
    assert (
        count(one, "ill") + count(two, "ill") == count(two, "ill") + count(one, "ill") == count(whole, "ill")
    )
    assert count(whole, "ill") - count(two, "ill") == count(one, "ill")
    assert joined.take(slice(0, len(a))) == one
    for domain in (joined.column("age").domain, count(one, "ill").domains["age"]):
        assert domain.declared
        assert domain.tail_found == ((None,) if None in domain.values and None not in edges else ())
    assert whole.drop_nulls().domain("age") == (*BINS, *([None] if None in edges else []))


def test_a_declared_null_stays():
    table = Table({"age": [10, 30]}).bin("age", [*BINS, None])
    assert table.domain("age") == (*BINS, None)
    assert not table.column("age").domain.tail_found
    assert table.take([0]).drop_nulls().domain("age") == (*BINS, None)
    again = Table({"age": [40]}).bin("age", table.domain("age"))
    assert again.column("age").domain == table.column("age").domain
    # Declared in one part, it is declared.
    found = concat([Table({"age": [None]}).bin("age", EDGES), table]).column("age").domain
    assert (found.values, found.tail_found) == ((*BINS, None), ())


def test_a_binned_class_with_nulls_in_one_part():
    def views(ages):
        return count(Table({"age": ages, "x": ["a"] * len(ages)}).bin("age", EDGES), "age")

    whole = views([10, None, 30])
    assert views([10, None]) + views([30]) == whole
    assert whole - views([None]) == views([10, 30])
    assert whole - views([30]) == views([10, None])


def test_a_domain_without_room_for_nulls_takes_none():
    closed = Table({"age": [BINS[0]]}, domains={"age": BINS})
    with_null, without = (Table({"age": ages}).bin("age", EDGES) for ages in ([10, None], [10]))
    assert concat([closed, without]).domain("age") == tuple(BINS)
    for parts in ([closed, with_null], [with_null, closed], [closed, without, with_null]):
        with pytest.raises(ValueError, match="column 'age': expected equal declared domains, got"):
            concat(parts)
    roomy = Table({"age": [BINS[0]]}, domains={"age": [*BINS, None]})
    for parts in ([roomy, with_null], [without, roomy, with_null]):
        assert concat(parts).domain("age") == (*BINS, None)
    # Values that nobody declared lie in the bins; a null comes along.
    free = Table({"age": [BINS[1], None]})
    assert concat([free, without]) == concat([Table({"age": [30, None]}).bin("age", EDGES), without])
    with pytest.raises(ValueError, match="expected equal declared domains, got"):
        concat([without, Table({"age": [10]}).bin("age", [0, 18])])


def test_overlapping_bins_do_not_merge():
    parts = [Table({"age": ages}).bin("age", width=20) for ages in ([80, 90], [10, 30, 70])]
    with pytest.raises(ValueError, match="overlap: bin all parts with the same edges"):
        concat(parts)


OVERLAPPING = [Interval(0, 10), Interval(5, 20)]
FALLING = [Interval(10, 20), Interval(0, 10)]


@pytest.mark.parametrize(
    ("intervals", "text"),
    [(OVERLAPPING, "overlap"), (FALLING, "increasing order"), ([*FALLING, None], "order")],
)
def test_declared_intervals_neither_overlap_nor_fall(intervals, text):
    with pytest.raises(ValueError, match=f"domain of column 'age': .*{text}"):
        Table({"age": [intervals[0]]}, domains={"age": intervals})
    counts = [[1, 1]] * len(intervals)
    with pytest.raises(ValueError, match=rf"domains\['age'\]: .*{text}"):
        nbcfast.Viewset([2, 2], {"age": counts}, domains={"age": intervals})


def test_classes_of_intervals_stand_in_their_precedence_and_do_not_overlap(tmp_path):
    counts = {"job": [[1, 1], [1, 1]]}
    views = nbcfast.Viewset([2, 2], counts, classes=FALLING)
    nbcfast.Release(views, nbcfast.Certificate(amplification=4, tuples=2)).save(tmp_path)
    assert nbcfast.load(tmp_path).views.classes == tuple(FALLING)
    assert nbcfast.count(Table({"job": [0, 1], "age": FALLING}), "age", classes=FALLING).classes == tuple(
        FALLING
    )
    with pytest.raises(ValueError, match=r"classes: .*overlap"):
        nbcfast.Viewset([2, 2], counts, classes=OVERLAPPING)


def test_intervals_of_data_that_overlap_are_not_published(tmp_path):
    views = nbcfast.count(Table({"age": OVERLAPPING * 2, "y": [0, 0, 1, 1]}), "y")
    with pytest.raises(ValueError, match=r"not saved: attribute 'age': .*overlap"):
        nbcfast.Release(views, nbcfast.Certificate(amplification=4, tuples=2)).save(tmp_path / "new")
    table = Table({"x": [1, 2] * 4, "age": OVERLAPPING * 4})
    with pytest.raises(ValueError, match=r"not saved: .*overlap"):
        skyline.anonymize(table, ["x"], "age", k=2).save(tmp_path / "new")
    assert not (tmp_path / "new").exists()
