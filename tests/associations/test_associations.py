"""Associations in published views: every probability is the one of all worlds listed."""

import pickle
import random
import subprocess
import sys
import time
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import _associations, associations
from nbcfast.associations import (
    advise,
    compact,
    costs,
    covers,
    interesting_covers,
    joins,
    probability,
    risk,
    risks,
    sizes,
    stars,
)
from nbcfast.reference import associations as reference

MODELS = ["unrestricted", "restricted"]
FIGURE_1 = {
    "name": ["George", "John", "Kate", "Bill", "Alan"],
    "age": [45, 45, 45, 30, 27],
    "job": ["Manager", "Manager", "Lawyer", "Lawyer", "Clerk"],
    "problem": ["HIV", "Cold", "Obesity", "Cold", "Cold"],
}
VIEWS_1 = [("name", "age"), ("age", "problem")]
TWO_JOINS = {"who": ["i", "x", "i", "y"], "key": [1, 1, 2, 2], "what": ["p", "q", "p", "r"]}
TWO_VIEWS = [("who", "key"), ("key", "what")]
TWO_VIEWS_OF_NUMBERS = [("i", "a"), ("a", "p")]


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def listed_edge_covers(m, n):
    return reference.listed_covers((m, n))


# --- numbers of worlds


@pytest.mark.parametrize(
    ("m", "n"), [(m, n) for m in range(1, 10) for n in range(1, 10) if m * n <= 16] + [(3, 6), (6, 3)]
)
def test_covers_are_the_sets_of_edges(m, n):
    worlds = listed_edge_covers(m, n)
    single = [world for world in worlds if sum(one == 0 for one, _ in world) == 1]
    assert covers(m, n) == len(worlds)
    assert interesting_covers(m, n) == sum((0, 0) in world for world in worlds)
    assert covers(m, n, model="restricted") == len(single)
    assert interesting_covers(m, n, model="restricted") == sum((0, 0) in world for world in single)
    assert probability(m, n, exact=True) == reference.probability(m, n)
    expected = Fraction(sum((0, 0) in world for world in single), len(single)) if single else None
    assert probability(m, n, model="restricted", exact=True) == expected


def test_table_of_numbers_of_worlds():
    pairs = [(1, 4), (2, 2), (2, 3), (3, 3), (3, 4)]
    assert [covers(*pair) for pair in pairs] == [1, 7, 25, 265, 2161]
    assert [interesting_covers(*pair) for pair in pairs] == [1, 5, 17, 161, 1265]
    assert [probability(*pair) for pair in pairs] == pytest.approx(
        [1, 0.714286, 0.68, 0.607547, 0.585377], abs=1e-6
    )
    single = {(2, 2): (2, 4), (3, 3): (32, 96), (2, 3): (2, 6), (3, 2): (8, 16), (4, 4): (2426, 9704)}
    for pair, expected in single.items():
        assert (interesting_covers(*pair, model="restricted"), covers(*pair, model="restricted")) == expected


@pytest.mark.parametrize(("m", "n"), [(210, 200), (201, 250), (90, 700), (40, 1500), (200, 200)])
def test_large_numbers_of_worlds(m, n):
    assert covers(m, n) == covers(n, m) == reference.covers(n, m)
    assert interesting_covers(m, n) == reference.interesting_covers(n, m)


def test_covers_without_anybody():
    assert [covers(0, 0), covers(0, 3), covers(3, 0)] == [1, 0, 0]
    assert covers(0, 0, model="restricted") == 1
    assert covers(0, 3, model="restricted") == covers(3, 0, model="restricted") == 0


def test_a_value_alone_has_no_restricted_world():
    assert probability(1, 2, model="restricted") is None
    assert probability(1, 2, model="restricted", exact=True) is None
    assert covers(1, 2, model="restricted") == 0
    assert probability(1, 1, model="restricted") == 1
    assert np.isnan(probability([1], 2, model="restricted")).all()


def printed_interesting_covers(m, n):
    """Lemma 5.2 as it is printed, in its two sums."""
    return sum(
        (-1) ** b * comb(n - 1, b) * 2 ** (n - b - 1) * (2 ** (n - b) - 1) ** (m - 1) for b in range(n)
    )


def test_lemmas_as_printed_equal_ours():
    for m in range(1, 25):
        for n in range(1, 25):
            u = {(a, b): reference.covers(a, b) for a in (m - 1, m) for b in (n - 1, n)}
            assert covers(m, n) == u[m, n] == covers(n, m)
            expected = printed_interesting_covers(m, n)
            assert interesting_covers(m, n) == expected == reference.interesting_covers(m, n)
            assert 2 * expected == sum(u.values())
            assert interesting_covers(m, n, model="restricted") == u[m - 1, n] + u[m - 1, n - 1]


def test_the_parts_of_lemma_5_2_cannot_be_swapped():
    assert Fraction(2, 6) == Fraction(
        interesting_covers(2, 3, model="restricted"), covers(2, 3, model="restricted")
    )
    assert (interesting_covers(3, 2, model="restricted"), covers(3, 2, model="restricted")) == (8, 16)


def test_every_small_float_is_the_exact_one_rounded():
    for m in range(1, sizes.SMALL + 1):
        for n in range(m, sizes.SMALL + 1, 7):
            assert probability(m, n) == probability(n, m) == float(probability(m, n, exact=True))


def test_bounds_of_the_series_hold_at_every_size():
    """Q (1 - (s-1)/2 rho^(t-1)) <= P <= q / (1 - s rho^t), and what we return of it beyond SMALL."""
    for s, t in [(2, 2), (2, 65), (3, 66), (5, 40), (20, 65), (65, 65), (66, 200), (64, 65), (100, 100)]:
        q = Fraction(2 ** (s - 1), 2**s - 1)
        rho = Fraction(2 ** (s - 1) - 1, 2**s - 1)
        exact = probability(s, t, exact=True)
        assert q * (1 - Fraction(s - 1, 2) * rho ** (t - 1)) <= exact <= q / (1 - s * rho**t)
        assert abs(exact / q - 1) <= Fraction(s, 2**t) / (1 - Fraction(s, 2**t))
        assert abs(Fraction(probability(s, t)) / exact - 1) <= Fraction(1, 10**15)
        assert exact > q


@pytest.mark.parametrize(
    ("m", "n", "expected"), [(2, 10**9, 2 / 3), (10**9, 3, 4 / 7), (10**9, 10**9, 0.5), (10**30, 10**40, 0.5)]
)
def test_huge_sizes(m, n, expected):
    assert probability(m, n) == pytest.approx(expected, rel=1e-15)


def test_probability_falls_strictly_and_stays_above_a_half():
    exact = {(m, n): probability(m, n, exact=True) for m in range(2, 24) for n in range(2, 24)}
    assert all(value > Fraction(1, 2) for value in exact.values())
    for m, n in exact:
        assert exact.get((m + 1, n), Fraction(0)) < exact[m, n] > exact.get((m, n + 1), Fraction(0))


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 200)), max_size=30), st.sampled_from(MODELS))
def test_arrays_equal_scalars(pairs, model):
    array = np.array(pairs, np.int64).reshape(-1, 2)
    found = probability(array[:, 0], array[:, 1], model=model)
    expected = [probability(m, n, model=model) for m, n in pairs]
    assert [None if np.isnan(one) else one for one in found.tolist()] == expected
    small = array[(array < 12).all(axis=1)]
    exact = covers(small[:, 0], small[:, 1], model=model)
    assert exact.tolist() == [covers(m, n, model=model) for m, n in small.tolist()]


def test_arrays_broadcast():
    assert probability([[1], [2]], [1, 2]).tolist() == [[1, 1], [1, 5 / 7]]
    assert covers([2, 3], 2).tolist() == [7, 25]
    assert probability([], []).shape == (0,)
    assert probability([3], [3], exact=True)[0] == Fraction(161, 265)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: probability(0, 1), ValueError, "m must be at least 1, got 0"),
        (lambda: probability(1, -2), ValueError, "n must be at least 1, got -2"),
        (lambda: probability(2.5, 1), TypeError, "m must be an int or integers, got 2.5"),
        (lambda: probability([1, 0], 1), ValueError, "m must be at least 1, got 0"),
        (lambda: probability(np.uint64(2**63), [1]), ValueError, "m: an array holds sizes up to 2\\^62"),
        (lambda: probability(1, 1, model="both"), ValueError, "model must be 'unrestricted' or 'restricted'"),
        (lambda: covers(-1, 1), ValueError, "m must be at least 0, got -1"),
        (lambda: covers(10**5, 10**4), ValueError, "m n must be at most 100000000 .* got 100000 x 10000"),
        (lambda: covers(True, 1), TypeError, "m must be an int or integers, got True"),
    ],
)
def test_bad_sizes(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "sizes_", [(2, 2, 2), (1, 2, 3), (3, 2, 2), (2, 3, 2), (2, 2, 3), (2, 2, 2, 2), (3, 3, 1)]
)
def test_stars_are_the_sets_of_cells(sizes_):
    worlds = reference.listed_covers(sizes_)
    hidden = [world for world in worlds if not any(cell[:2] == (0, 0) for cell in world)]
    assert stars.star_covers(sizes_) == len(worlds)
    assert stars.star_covers(sizes_, (1, 1)) == len(hidden)
    assert stars.star_probability(sizes_) == 1 - Fraction(len(hidden), len(worlds))


def test_more_tuples_between_raise_the_probability():
    found = [stars.star_probability((3, 3, k)) for k in range(1, 5)]
    assert found == sorted(found)
    assert found[0] == Fraction(161, 265)


@pytest.mark.parametrize(
    "given_sizes", [(30, 30, 9), (200, 150, 3), (40, 3, 30), (12, 12, 12, 12), (10**6, 10**5, 40)]
)
def test_bounds_of_large_stars(given_sizes):
    low, high = stars.star_enclosed(*given_sizes, 64)
    assert low <= high <= low + Fraction(1, 2**60)
    if given_sizes[0] < 50:
        assert low <= stars.star_probability(given_sizes) <= high


# --- risk against all worlds

SHAPES = [
    [("i", "a"), ("a", "p")],
    [("i", "x", "a"), ("a", "y", "p")],
    [("i", "a", "b"), ("b", "a", "p")],
    [("i", "a"), ("b", "p")],
    [("i", "a"), ("i", "a", "p")],
    [("i", "a", "p"), ("p", "a")],
    [("i", "a"), ("a", "p"), ("a", "x")],
    [("a", "x", "y"), ("i", "a"), ("a", "p")],
    [("i", "a"), ("a", "b"), ("b", "p")],
    [("i", "a"), ("a", "b", "x"), ("b", "p", "y")],
    [("i", "a"), ("a", "b", "y"), ("b", "x", "y"), ("x", "p")],
    [("b", "x"), ("i", "a"), ("y", "p"), ("a", "b"), ("x", "y")],
    [("i", "a"), ("a", "b"), ("b", "x"), ("x", "p")],
    [("i", "a"), ("a", "p"), ("p", "i", "a")],
    [("i", "a"), ("a", "b"), ("p", "i")],
    [("i", "a"), ("a", "b", "p"), ("b", "x"), ("x", "y")],
    [("i", "a"), ("i", "b"), ("b", "p")],
    [("i", "a"), ("a", "p"), ("p", "x")],
    [("i", "x", "a"), ("b", "i", "y"), ("b", "p")],
]
small_rows = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.sampled_from(["u", "v", "w"]),
            "p": st.sampled_from(["P", "Q", None]),
            "a": st.sampled_from([0, 1, 2]),
            "b": st.sampled_from([0, 1]),
            "x": st.sampled_from([None, "x"]),
            "y": st.sampled_from([0, 1]),
        }
    ),
    min_size=1,
    max_size=6,
)


def assert_equals_worlds(rows, views, model, worlds):
    parts = reference.projected_views(views, "i", "p", worlds)
    tuples = reference.join(rows, parts)
    if len(tuples) > 10:
        return None
    expected = reference.risk(rows, views, "i", "p", model, worlds)
    found = risk(columns(rows), views, "i", "p", model=model, worlds=worlds)
    pairs = {(one["i"], one["p"]) for one in tuples}
    for (person, value), probability_ in expected.items():
        one = found.of(person, value)
        assert one.exact == probability_
        assert one.probability == (
            None if probability_ is None else pytest.approx(float(probability_), rel=1e-14)
        )
        assert (one.probability == 0) == (probability_ == 0)
        assert (one.probability == 1) == (probability_ == 1)
        assert set(one.cover) == {other for who, other in pairs if who == person}
    listed = list(found.table())
    assert {(row["i"], row["p"]) for row in listed} == pairs
    assert len(listed) == found.n_associations == len(pairs)
    for row in listed:
        assert row["probability"] == found.of(row["i"], row["p"]).probability
    assert found.n_without_world == len({who for (who, _), one in expected.items() if one is None})
    for threshold in {*expected.values(), Fraction(1, 2), Fraction(0)} - {None}:
        above = {(row["i"], row["p"]) for row in found.above(threshold)}
        assert above == {pair for pair in pairs if expected[pair] is not None and expected[pair] > threshold}
        assert found.n_above(threshold) == len(above)
    ranked = sorted((float(expected[pair]) for pair in pairs if expected[pair] is not None), reverse=True)
    assert [row["probability"] for row in found.worst(4)] == pytest.approx(ranked[:4])
    return found


@given(small_rows, st.sampled_from(SHAPES), st.sampled_from(MODELS), st.sampled_from(["projected", "full"]))
@settings(max_examples=150)
def test_risk_equals_all_worlds(rows, views, model, worlds):
    assert_equals_worlds(rows, views, model, worlds)


@pytest.mark.thorough
@given(small_rows, st.sampled_from(SHAPES), st.sampled_from(MODELS), st.sampled_from(["projected", "full"]))
@settings(max_examples=4_000)
def test_risk_equals_all_worlds_thoroughly(rows, views, model, worlds):
    assert_equals_worlds(rows, views, model, worlds)


# --- the worked examples


def test_figure_1():
    found = risk(FIGURE_1, VIEWS_1, "name", "problem")
    single = risk(FIGURE_1, VIEWS_1, "name", "problem", model="restricted")
    for name in ("George", "John", "Kate"):
        for problem in ("HIV", "Cold", "Obesity"):
            assert found.of(name, problem).exact == Fraction(161, 265)
            assert single.of(name, problem).exact == Fraction(1, 3)
    for name in ("Bill", "Alan"):
        assert found.of(name, "Cold").probability == single.of(name, "Cold").probability == 1
    none = found.of("Alan", "HIV")
    assert (none.probability, none.exact, none.case) == (0, 0, "not in the join: no join value has both")
    assert found.cover("Alan") == none.cover == ("Cold",)
    assert found.n_associations == len(found.table()) == 11
    assert found.of("George", "HIV").joins == ({"age": 45},)
    assert "3 x 3 at the one join value" in found.of("George", "HIV").case


def test_figure_2_has_seven_worlds():
    rows = {"A": ["a1", "a2"], "B": ["b", "b"], "C": ["c1", "c2"]}
    listed = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    _, worlds = reference.worlds_of(listed, [("A", "B"), ("B", "C")])
    assert len(worlds) == covers(2, 2) == 7
    views = [("A", "B"), ("B", "C")]
    for pair in (("a1", "c1"), ("a1", "c2")):  # the second is not in the table
        assert risk(rows, views, "A", "C").of(*pair).exact == Fraction(5, 7)
        assert risk(rows, views, "A", "C", model="restricted").of(*pair).exact == Fraction(1, 2)


def test_two_join_values():
    found = risk(TWO_JOINS, TWO_VIEWS, "who", "what")
    single = risk(TWO_JOINS, TWO_VIEWS, "who", "what", model="restricted")
    assert found.of("i", "p").exact == Fraction(45, 49)
    assert found.of("i", "q").exact == Fraction(5, 7)
    assert (single.of("i", "p").exact, single.of("i", "q").exact) == (1, 0)
    assert found.of("i", "p").cover == ("p", "q", "r")
    assert found.of("i", "p").case == "at 2 of 2 join values"
    assert single.of("i", "q").case == "a join value of the identity does not have the value"


def test_worlds_of_whole_tuples():
    more = {
        name: [*values, extra]
        for (name, values), extra in zip(FIGURE_1.items(), ["Sue", 45, "Professor", "Cold"], strict=True)
    }
    views = [("name", "age"), ("age", "job", "problem")]
    projected = risk(more, views, "name", "problem")
    single = risk(more, views, "name", "problem", model="restricted")
    assert projected.of("George", "HIV").exact == Fraction(1265, 2161)
    assert single.of("George", "HIV").exact == Fraction(1, 3)
    full = risk(more, views, "name", "problem", worlds="full")
    assert full.of("George", "HIV").exact == Fraction(2095, 3773)
    assert full.of("George", "Cold").exact == Fraction(3085, 3773)
    single = risk(more, views, "name", "problem", worlds="full", model="restricted")
    assert single.of("George", "HIV").exact == Fraction(1213, 6210)
    assert single.of("George", "Cold").exact == Fraction(1892, 3105)


def test_no_restricted_world():
    alone = {"i": ["u", "u", "v"], "a": [1, 1, 2], "p": ["P", "Q", "P"]}
    found = risk(alone, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    assert found.of("u", "P").probability is found.of("u", "P").exact is None
    assert found.of("u", "P").case == "no world: alone with 2 values at a join value"
    assert (found.of("v", "P").probability, found.n_without_world) == (1, 1)
    assert found.table().column("probability") == (None, None, 1)
    assert (found.n_above(0), len(found.worst())) == (1, 1)
    apart = {"i": ["u", "u", "v", "w"], "a": [1, 2, 1, 2], "p": ["P", "Q", "P", "Q"]}
    found = risk(apart, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    assert found.of("u", "P").case == "no world: no value is common to all join values"
    assert (found.of("u", "Q").probability, found.n_without_world) == (None, 1)


def test_identity_or_attribute_inside_the_join_is_known():
    for views in ([("name", "age"), ("name", "age", "problem")], [("name", "problem"), ("problem", "age")]):
        found = risk(FIGURE_1, views, "name", "problem")
        truth = set(zip(FIGURE_1["name"], FIGURE_1["problem"], strict=True))
        for name in FIGURE_1["name"]:
            for problem in FIGURE_1["problem"]:
                assert found.of(name, problem).probability == ((name, problem) in truth)


def test_no_common_column_is_one_group():
    found = risk(FIGURE_1, [("name", "age"), ("job", "problem")], "name", "problem")
    assert found.join == ()
    assert {row["probability"] for row in found.table()} == {probability(5, 3)}
    assert list(found.by_join_value()) == [
        {"identities": 5, "values": 3, "associations": 15, "probability": probability(5, 3)}
    ]


def test_nulls_are_values():
    rows = {"i": ["u", None], "a": [None, None], "p": ["P", None]}
    found = risk(rows, [("i", "a"), ("a", "p")], "i", "p")
    assert found.of(None, None).exact == Fraction(5, 7)
    assert found.by_join_value()[0]["a"] is None


def test_columns_of_no_view_duplicates_weights_and_order_do_not_matter():
    rng = random.Random(4)
    rows = [{name: rng.randrange(5) for name in "iapz"} for _ in range(40)]
    expected = risk(columns(rows), [("i", "a"), ("a", "p")], "i", "p").table()
    shuffled = [*rows, *rows[::2]]
    rng.shuffle(shuffled)
    table = nbcfast.Table({**columns(shuffled), "w": list(range(1, 61))}, weights="w")
    assert risk(table, [("p", "a"), ("a", "i")], "i", "p").table() == expected


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_large_tables_equal_the_rules_step_by_step(threads, model):
    rng = np.random.default_rng(8)
    data = {
        "i": rng.integers(0, 1_000, 6_000),
        "a": rng.integers(0, 150, 6_000),
        "p": rng.integers(0, 60, 6_000),
    }
    data["a"][data["i"] % 3 > 0] = data["i"][data["i"] % 3 > 0] % 150
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p", model=model, threads=threads)
    people, values, joins_ = {}, {}, {}
    for i, a, p in zip(*(data[name].tolist() for name in "iap"), strict=True):
        people.setdefault(a, set()).add(i)
        values.setdefault(a, set()).add(p)
        joins_.setdefault(i, set()).add(a)
    expected = {}
    for i, mine in joins_.items():
        common = set.intersection(*(values[a] for a in mine))
        stuck = not common or any(len(people[a]) == 1 < len(values[a]) for a in mine)
        for p in set.union(*(values[a] for a in mine)):
            if model == "restricted":
                expected[i, p] = None if stuck else 1 / len(common) if p in common else 0
            else:
                rest = 1.0
                for a in sorted(mine):
                    if p in values[a]:
                        rest *= 1 - probability(len(people[a]), len(values[a]))
                expected[i, p] = 1 - rest
    rows = {(row["i"], row["p"]): row["probability"] for row in found.table()}
    assert list(rows) == sorted(expected)
    assert {pair for pair, one in rows.items() if one is None} == {
        pair for pair, one in expected.items() if one is None
    }
    numbers = [expected[pair] or 0 for pair in rows]
    assert [one or 0 for one in rows.values()] == pytest.approx(numbers, rel=1e-14)
    assert found.n_associations == len(expected)
    some = {pair: one for pair, one in expected.items() if one is not None and one > 0.8}
    assert {(row["i"], row["p"]) for row in found.above("0.8")} == set(some)
    assert found.n_above("0.8") == len(some)
    ranked = sorted(((-one, pair) for pair, one in rows.items() if one is not None))[:50]
    assert [(row["i"], row["p"]) for row in found.worst(50)] == [pair for _, pair in ranked]


def test_by_join_value():
    found = risk(FIGURE_1, VIEWS_1, "name", "problem").by_join_value()
    assert found.to_dict() == {
        "age": [27, 30, 45],
        "identities": [1, 1, 3],
        "values": [1, 1, 3],
        "associations": [1, 1, 9],
        "probability": [1, 1, 161 / 265],
    }
    full = risk(FIGURE_1, VIEWS_1, "name", "problem", worlds="full").by_join_value()
    assert full.column("tuples of view 1") == (1, 1, 3)
    assert full.column("probability") == (1, 1, 161 / 265)
    other = risk(FIGURE_1, [("name", "age"), ("age", "job"), ("job", "problem")], "name", "problem")
    with pytest.raises(ValueError, match="do not all share one join key"):
        other.by_join_value()


def test_where_is_the_secret_query():
    where = {"name": "George", "problem": ["HIV", "Cold"]}
    for views in (VIEWS_1, [("name", "age"), ("age", "job"), ("job", "problem")]):
        everything = {
            (row["name"], row["problem"]): row for row in risk(FIGURE_1, views, "name", "problem").table()
        }
        found = risk(FIGURE_1, views, "name", "problem", where=where)
        asked = {
            pair: row
            for pair, row in everything.items()
            if pair[0] == "George" and pair[1] in ("HIV", "Cold")
        }
        assert {(row["name"], row["problem"]): row for row in found.table()} == asked
        assert found.n_associations == found.n_above(0) == len(asked)
        assert (found.n_identities, len(found.worst())) == (1, len(asked))
        # Others can still be looked up.
        assert found.of("Bill", "Cold").probability == everything["Bill", "Cold"]["probability"]


@given(st.integers(0, 10**6), st.sampled_from(MODELS))
@settings(max_examples=20)
def test_where_only_chooses(seed, model):
    rng = np.random.default_rng(seed)
    data = {"i": rng.integers(0, 6, 30), "a": rng.integers(0, 5, 30), "p": rng.integers(0, 5, 30)}
    views = [("i", "a"), ("a", "p")]
    chosen = {"i": [0, 3, 4], "p": lambda value: value in (1, 2)}
    chosen = {
        name: [v for v in one if v in data[name]] if name == "i" else one for name, one in chosen.items()
    }
    everything = risk(data, views, "i", "p", model=model)
    found = risk(data, views, "i", "p", model=model, where=chosen)
    rows = [row for row in everything.table() if row["i"] in (0, 3, 4) and row["p"] in (1, 2)]
    assert list(found.table()) == rows
    assert found.n_associations == len(rows)
    worlds = [row for row in rows if row["probability"] is not None]
    expected = sorted(worlds, key=lambda row: (-row["probability"], row["i"], row["p"]))[:4]
    assert list(found.worst(4)) == expected
    assert found.n_above("0.7") == len(found.above("0.7")) == sum(row["probability"] > 0.7 for row in worlds)


# --- thresholds


def test_thresholds_are_decided_exactly():
    found = risk(TWO_JOINS, TWO_VIEWS, "who", "what")
    assert found.n_above("45/49") == 0
    assert found.n_above(Fraction(45, 49) - Fraction(1, 10**40)) == 1
    assert found.n_above("5/7") == 1
    assert found.n_above("1/2") == found.n_associations
    many = {"i": np.arange(3_000) % 1_000, "a": np.arange(3_000) % 2, "p": np.arange(3_000) % 700}
    found = risk(many, [("i", "a"), ("a", "p")], "i", "p")
    assert found.worst(1)[0]["probability"] == 0.5
    assert found.n_above("1/2") == found.n_associations  # above it by 2^-349, which no float tells
    assert found.n_above(Fraction(1, 2) + Fraction(1, 2**300)) == 0


@pytest.mark.parametrize(
    "pairs", [[(2, 2)], [(2, 10**6)], [(70, 90), (3, 200)], [(10**5, 10**6)] * 2, [(5, 10**7), (2, 3)]]
)
def test_exceeds_near_the_first_term(pairs):
    rest = Fraction(1)
    for m, n in pairs:
        s = min(m, n)
        rest *= 1 - (Fraction(2 ** (s - 1), 2**s - 1) if s < 1000 else Fraction(1, 2))
    assert sizes.exceeds(pairs, 1 - rest, sizes.enclosed)  # each P is above the first term of its series
    assert not sizes.exceeds(pairs, 1 - rest + Fraction(1, 4), sizes.enclosed)


def test_thresholds_of_several_join_values_are_decided_together():
    n = 150 * 90  # 75 people and 90 values a join value, then again with 60 of the values
    data = {"i": np.arange(2 * n) % 150, "a": np.arange(2 * n) % 2, "p": np.arange(2 * n) // 150 % 90}
    data["a"][n:] += 2
    data["p"][n:] %= 60
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
    twice = [row for row in found.table() if row["p"] < 60]
    assert len(found.of(0, 59).joins) == 2
    assert {row["probability"] for row in twice} == {0.75}  # above it by less than a float tells
    assert found.n_above("3/4") == len(found.above("3/4")) == len(twice)
    assert found.n_above(Fraction(3, 4) + Fraction(1, 2**200)) == len(twice) < found.n_associations
    assert found.n_above(Fraction(3, 4) + Fraction(1, 2**50)) == 0


def test_a_restricted_threshold_is_exact():
    data = {"i": list(range(7)), "a": [0] * 7, "p": list(range(7))}
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    assert (found.n_above("1/7"), found.n_above(1 / 7)) == (0, 49)  # 0.14285714285714285 is below 1/7


@pytest.mark.parametrize(
    ("threshold", "error"), [(1.5, ValueError), (-1, ValueError), (True, TypeError), ("x", ValueError)]
)
def test_bad_thresholds(threshold, error):
    with pytest.raises(error, match="threshold must be"):
        risk(FIGURE_1, VIEWS_1, "name", "problem").above(threshold)


# Two join values with 3 x 3 and 3 x 3: 1 - (104/265)^2 and others, some of whose floats are rounded up.
@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_threshold_equal_to_a_probability_is_not_exceeded(m, n):
    for others in range(2, 5):
        sizes_ = [(m, n), (others, 5 - others % 2)]
        data = {"i": [], "a": [], "p": []}
        for place, (people, values) in enumerate(sizes_):
            for one in range(people * values):
                person, value = one % people, one // people
                data["i"].append((place, person) if person else "both")
                data["a"].append(place)
                data["p"].append((place, value) if value else "both")
        data = {name: list(map(str, values)) for name, values in data.items()}
        found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
        exact = found.of("both", "both").exact
        tiny = Fraction(1, 10**30)
        above = [found.n_above(level) for level in (exact - tiny, exact, exact + tiny)]
        assert above == [above[1] + 1, above[1], above[1]]
        assert len(found.above(exact)) == above[1]


def test_natural_thresholds_of_large_full_worlds():
    numbers = range(1_000)
    found = risk({"i": numbers, "p": numbers}, [("i",), ("p",)], "i", "p", worlds="full")
    assert (found.n_above("1/2"), found.n_above("3/4")) == (10**6, 0)
    two = {"i": np.arange(400), "p": np.arange(400) // 2, "x": np.arange(400)}
    found = risk(two, [("i",), ("p", "x")], "i", "p", worlds="full")
    assert (found.n_above("3/4"), found.n_above("7/8")) == (400 * 200, 0)
    found = risk(two, [("i",), ("p", "x")], "i", "p", worlds="full", model="restricted")
    assert found.of(0, 0).exact == Fraction(1, 200)
    assert (found.n_above("1/200"), found.n_above(Fraction(1, 200) - Fraction(1, 10**40))) == (0, 400 * 200)
    n = 30  # several join values, all alike
    same = {
        "i": np.arange(2 * n * n) % n,
        "a": np.arange(2 * n * n) % 2,
        "p": np.arange(2 * n * n) // n % n,
        "x": np.arange(2 * n * n) // n % n,
    }
    found = risk(same, [("i", "a"), ("a", "p", "x")], "i", "p", worlds="full", model="restricted")
    assert {found.n_above(Fraction(1, len(found.cover(0)))), found.n_above("1/31")} == {
        0,
        found.n_associations,
    }


def test_natural_thresholds_of_large_stars():
    n = np.arange(1_000)
    found = risk({"i": n, "p": n, "x": n % 2}, [("i",), ("p",), ("x",)], "i", "p")
    assert [found.n_above(level) for level in ("1/2", "3/4", "7/8")] == [10**6, 10**6, 0]
    with pytest.raises(ValueError, match="threshold: a probability agrees with it to 512 bits"):
        found.n_above(Fraction(3, 4) + Fraction(1, 2**2500))


@pytest.mark.parametrize(
    ("given_sizes", "own"),
    [
        ((40, 9), (1, 2)),
        ((9, 40), (2, 1)),
        ((30, 4, 3), (1, 1)),
        ((3, 4, 30), (1, 2)),
        ((35, 20), (2, 5)),
        ((4, 60, 2), (3, 7)),
    ],
)
def test_bounds_of_uneven_sizes(given_sizes, own):
    hidden = Fraction(int(stars.star_covers(given_sizes, own)), int(stars.star_covers(given_sizes)))
    assert stars.covers_without(given_sizes, own) == stars.star_covers(given_sizes, own)
    for bits in (1, 4, 10):
        low, high = stars.tuples_enclosed(given_sizes, own, bits)
        assert low == 1 - hidden == high or low < 1 - hidden <= high <= low + Fraction(4, 2**bits)
    for shares in ([1], [1, 2, 3]):
        exact = [
            Fraction(int(stars.covers_without(given_sizes, (own[0], given_sizes[1] - b)))) for b in shares
        ]
        found, _ = stars.single_weights(given_sizes, own[0], shares, 10)
        quotients = [
            Fraction(int(w.numerator), int(w.denominator)) / one for w, one in zip(found, exact, strict=True)
        ]
        assert max(quotients) / min(quotients) <= 1 + Fraction(4, 2**10)


@given(st.integers(1, 7), st.integers(1, 7), st.data())
def test_covers_without_shared_cells_are_the_sum_over_both_sides(m, n, data):
    a, b = data.draw(st.integers(0, m)), data.draw(st.integers(0, n))
    assert stars.covers_without((m, n), (a, b)) == stars.star_covers((m, n), (a, b))


@pytest.mark.parametrize("tuples", [(20, 3), (40, 3)])
def test_stars_of_uneven_sizes_are_not_refused(tuples):
    n, (values, more) = np.arange(100_000), tuples
    found = risk({"i": n, "p": n % values, "x": n % more}, [("i",), ("p",), ("x",)], "i", "p")
    cells = values * more
    exact = 1 - Fraction(2 ** (cells - more) - 1, 2**cells - 1)  # but for 2^-100000
    assert found.of(0, 0).probability == float(exact)
    assert found.n_above("7/8") == found.n_associations


@pytest.mark.parametrize("model", MODELS)
def test_full_worlds_of_uneven_sizes_are_not_refused(model):
    n = np.arange(100_000)
    found = risk(
        {"i": n, "p": n % 60 // 2 % 7, "x": n % 60},
        [("i",), ("p", "x")],
        "i",
        "p",
        worlds="full",
        model=model,
    )
    rows = {value: found.of(5, value).probability for value in (0, 6)}
    if model == "unrestricted":  # 10 and 8 tuples
        assert rows == {
            value: pytest.approx(1 - (2 ** (60 - b) - 1) / (2**60 - 1), rel=1e-15)
            for value, b in ((0, 10), (6, 8))
        }
    else:
        assert rows[0] / rows[6] == pytest.approx((2**10 - 1) / (2**8 - 1), rel=1e-14)
        assert sum(found.of(5, value).probability for value in range(7)) == pytest.approx(1, rel=1e-14)


def test_full_worlds_of_many_rows_take_little_time():
    rng = np.random.default_rng(1)
    n = 6_000
    data = {
        "i": rng.integers(0, n // 6, n),
        "a": rng.integers(0, n // 50, n),
        "b": rng.integers(0, 4, n),
        "p": rng.integers(0, 30, n),
    }
    views = [("i", "a"), ("a", "p", "b")]
    group = {"i": np.arange(20_000), "x": rng.integers(0, 11, 20_000), "p": rng.integers(0, 7, 20_000)}
    for model in MODELS:
        start = time.process_time()
        found = risk(data, views, "i", "p", worlds="full", model=model)
        one = risk(group, [("i",), ("p", "x")], "i", "p", worlds="full", model=model)
        assert time.process_time() - start < 60  # of this process alone; it was minutes
        assert one.n_associations == 140_000
        some = risk(data, views, "i", "p", worlds="full", model=model, where={"i": data["i"][:5].tolist()})
        for row in some.table():
            exact = found.of(row["i"], row["p"]).exact
            assert row["probability"] == (None if exact is None else pytest.approx(float(exact), rel=1e-14))
            if exact is not None:
                assert (row in list(some.above(exact))) is False
                assert row in list(some.above(max(exact - Fraction(1, 10**50), Fraction(0)))) or exact == 0


@pytest.mark.parametrize(
    "views",
    [
        [("i", "a"), ("i", "b"), ("b", "p")],
        [("i", "a"), ("a", "p"), ("p", "x")],
        [("i", "a"), ("a", "p"), ("p", "b"), ("i", "x")],
        [("i", "a", "x"), ("i", "b", "y"), ("a", "b", "p")],
    ],
)
@pytest.mark.parametrize("worlds", ["projected", "full"])
def test_the_order_of_views_never_matters(views, worlds):
    data = {"i": [0, 0, 1], "a": [2, 1, 0], "b": [0, 1, 1], "p": [1, 0, 2], "x": [1, 0, 0], "y": [1, 2, 2]}
    for model in MODELS:
        found = [risk(data, order, "i", "p", model=model, worlds=worlds) for order in permutations(views)]
        for row in found[0].table():
            assert len({one.of(row["i"], row["p"]).exact for one in found}) == 1
        assert len({one.method for one in found}) == 1


def test_numbers_of_views_are_those_given():
    rows = {"i": [0, 1], "a": [0, 0], "b": [1, 2], "p": [3, 4]}
    found = risk(rows, [("a", "b"), ("i", "a"), ("a", "p")], "i", "p")
    assert found.by_join_value().names[3] == "tuples of view 1"
    full_ = risk(rows, [("a", "b"), ("i", "a"), ("a", "p")], "i", "p", worlds="full").by_join_value()
    assert full_.names[3:] == (
        "tuples of view 1",
        "tuples of view 2",
        "tuples of view 3",
        "associations",
        "probability",
    )


def test_many_associations_are_counted_in_little_memory(monkeypatch):
    sizes_ = []
    listed = compact.Compact.listed
    monkeypatch.setattr(compact, "BLOCK", 500)

    def spied(self, codes=None):
        found = listed(self, codes)
        sizes_.append(len(found))
        return found

    n = 40  # identities with two join values, and 100 values each
    data = {"i": [], "a": [], "p": []}
    for i in range(n):
        for p in range(100):
            data["i"] += [i, i]
            data["a"] += [0, 1]
            data["p"] += [p, p]
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
    expected = list(found.worst(n * 100))
    monkeypatch.setattr(compact.Compact, "listed", spied)
    assert found.n_above("3/4") == n * 100
    assert max(sizes_) <= 500
    sizes_.clear()
    assert list(found.worst(30)) == expected[:30]
    assert sum(sizes_) <= 500  # the first ones decide
    assert list(found.worst(1_111)) == expected[:1_111]


def test_worst_of_ties_is_in_order(monkeypatch):
    monkeypatch.setattr(compact, "BLOCK", 3)
    rng = random.Random(5)
    for _ in range(20):
        data = {name: [rng.randrange(4) for _ in range(14)] for name in "iap"}
        for model in MODELS:
            found = risk(data, [("i", "a"), ("a", "p")], "i", "p", model=model)
            rows = [row for row in found.table() if row["probability"] is not None]
            rows.sort(key=lambda row: (-row["probability"], row["i"], row["p"]))
            for n in (1, 2, 5, 9):
                assert list(found.worst(n)) == rows[:n]


def test_identities_without_a_world_are_counted_alike():
    data = {"n": ["x", "x", "y", "z"], "a": [1, 1, 2, 2], "p": ["u", "v", "w", "t"]}
    views = [("n", "a"), ("a", "p")]
    for worlds in ("projected", "full"):
        found = risk(data, views, "n", "p", model="restricted", worlds=worlds, where={"p": "w"})
        assert (found.n_identities, found.n_without_world, found.n_above(1)) == (3, 1, 0)
    chain = [("n", "a"), ("a", "b"), ("b", "p")]
    found = risk({**data, "b": data["a"]}, chain, "n", "p", model="restricted", where={"p": "w"})
    assert (found.method, found.n_without_world) == ("chain", 1)


# --- streams


def test_streams_and_files_equal_the_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    rng = np.random.default_rng(2)
    data = pa.table(
        {
            "name": [f"n{i}" for i in rng.integers(0, 300, 4_000)],
            "age": pa.array([*rng.integers(0, 40, 3_999).tolist(), None]),
            "job": rng.integers(0, 5, 4_000),
            "ill": [["flu", "cold", "gout", "none"][i] for i in rng.integers(0, 4, 4_000)],
        }
    )
    parquet.write_table(data, tmp_path / "people.parquet", row_group_size=500)
    csv.write_csv(data, tmp_path / "people.csv")
    views = [("name", "age"), ("age", "job", "ill")]
    for worlds in ("projected", "full"):
        expected = risk(data.slice(0, 600), views, "name", "ill", worlds=worlds)
        for batches in (
            data.slice(0, 600).to_batches(max_chunksize=7),
            iter(data.slice(0, 600).to_batches()),
        ):
            found = risk(batches, views, "name", "ill", worlds=worlds)
            assert found.table() == expected.table()
            assert found.by_join_value() == expected.by_join_value()
    expected = risk(nbcfast.Table(data), views, "name", "ill")
    seen = []
    for source in (tmp_path / "people.parquet", str(tmp_path / "people.csv"), data):
        found = risk(source, views, "name", "ill", progress=lambda *done: seen.append(done))
        assert found.table() == expected.table()
        assert found.by_join_value() == expected.by_join_value()
    assert seen[-1][0] == seen[-1][1]
    three = [("name", "age"), ("age", "job"), ("age", "ill")]
    assert risk(data, three, "name", "ill").table() == risk(nbcfast.Table(data), three, "name", "ill").table()


def test_columns_of_views_are_looked_for_in_streams_and_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv

    data = pa.table({"name": ["x"], "age": [1], "problem": ["y"]})
    csv.write_csv(data, tmp_path / "people.csv")
    views = [("name", "age", "pet"), ("age", "problem")]
    for source in (nbcfast.Table(data), data, iter(data.to_batches()), tmp_path / "people.csv"):
        with pytest.raises(ValueError, match="'pet'"):
            risk(source, views, "name", "problem")


def test_empty_streams_have_no_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    empty = pa.table(
        {
            "name": pa.array([], pa.string()),
            "age": pa.array([], pa.int64()),
            "problem": pa.array([], pa.string()),
        }
    )
    for source in (empty, iter(empty.to_batches()), nbcfast.Table(empty)):
        with pytest.raises(ValueError, match=r"no rows|batch"):
            risk(source, VIEWS_1, "name", "problem")


def test_arrow_export():
    pa = pytest.importorskip("pyarrow")
    alone = {"i": ["u", "u", "v"], "a": [1, 1, 2], "p": ["P", "Q", None]}
    found = risk(alone, [("i", "a"), ("a", "p")], "i", "p", model="restricted")
    table = pa.table(found)
    assert table.to_pydict() == {
        "i": ["u", "u", "v"],
        "p": ["P", "Q", None],
        "probability": [None, None, 1.0],
    }
    assert pa.table(found.by_join_value()).to_pydict() == found.by_join_value().to_dict()
    clash = {"i": [1], "probability": [2], "p": [3]}
    names = risk(clash, [("i", "probability"), ("probability", "p")], "i", "p").by_join_value().names
    assert names == ("probability", "identities", "values", "associations", "probability_")


# --- joins that are neither star nor chain


CYCLE = [("i", "a"), ("a", "b"), ("b", "p"), ("p", "c"), ("c", "i")]


def random_table(seed, n_rows, n_values, names="iabcxp"):
    rng = random.Random(seed)
    return {name: [rng.randrange(n_values) for _ in range(n_rows)] for name in names}


def test_a_chain_is_the_join_enumerated(monkeypatch):
    for seed in range(8):
        views = [("i", "a"), ("a", "b", "x"), ("b", "p")]
        if seed % 2:
            views = [("i", "a"), ("a", "b"), ("b", "x"), ("x", "p")]
        data = random_table(seed, 9, 4)
        for model in MODELS:
            expected = risk(data, views, "i", "p", model=model)
            assert expected.method == "chain"
            monkeypatch.setattr("nbcfast.associations.chains.MOST_WORK", 0)
            monkeypatch.setattr(joins, "ENUMERATED", 16)
            found = risk(data, views, "i", "p", model=model)
            monkeypatch.undo()
            assert found.method in ("enumeration", "sampling")
            for row in expected.table() if found.method == "enumeration" else []:
                assert found.of(row["i"], row["p"]).exact == expected.of(row["i"], row["p"]).exact


def test_enumeration_equals_inclusion_and_exclusion(monkeypatch):
    for seed in range(4):
        data = random_table(seed, 7, 3)
        for model in MODELS:
            monkeypatch.setattr(joins, "EXCLUDED", 0)
            expected = risk(data, CYCLE, "i", "p", model=model)
            monkeypatch.setattr(joins, "ENUMERATED", 0)
            monkeypatch.setattr(joins, "EXCLUDED", 16)
            found = risk(data, CYCLE, "i", "p", model=model)
            monkeypatch.undo()
            if "sampling" not in expected.method + found.method:
                assert found.table() == expected.table()
                assert [found.of(r["i"], r["p"]).exact for r in found.table()] == [
                    expected.of(r["i"], r["p"]).exact for r in found.table()
                ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("flips", [False, True])
def test_sampling_is_as_near_as_it_says(monkeypatch, model, flips):
    views = [("i", "a"), ("a", "b"), ("b", "x"), ("x", "p")]
    data = random_table(3, 9, 3)
    expected = risk(data, views, "i", "p", model=model)
    assert (expected.method, expected.confidence) == ("chain", None)
    monkeypatch.setattr("nbcfast.associations.chains.MOST_WORK", 0)
    monkeypatch.setattr(joins, "ENUMERATED", 0)
    monkeypatch.setattr(joins, "EXCLUDED", 0)
    if flips and model == "unrestricted":
        monkeypatch.setattr(joins, "FEWEST_KEPT", 1.0)
    rng = np.random.default_rng(1)
    found = risk(data, views, "i", "p", model=model, rng=rng, confidence="0.999", error="0.02")
    sampled = found.method.startswith("sampling")
    assert sampled
    assert (found.method == "sampling with flips") == (flips and model == "unrestricted")
    assert found.confidence == Fraction(999, 1000)
    for row in expected.table():
        one = found.of(row["i"], row["p"])
        if row["probability"] is None:
            assert one.probability is None
            continue
        low, high = one.interval or (one.probability, one.probability)
        assert low - 1e-12 <= row["probability"] <= high + 1e-12
        assert one.interval is None or one.exact is None
        assert one.probability == pytest.approx(row["probability"], abs=0.05)
    rows = list(found.table())
    assert {"low", "high"} < set(rows[0])
    reaching = {(row["i"], row["p"]) for row in rows if row["high"] is not None and row["high"] > 0.9}
    assert {(row["i"], row["p"]) for row in found.above("0.9")} == reaching


def test_a_join_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(joins, "MOST_TUPLES", 10)
    with pytest.raises(ValueError, match="their join has more than 10 tuples"):
        risk(random_table(1, 30, 3), CYCLE, "i", "p")


CYCLE_OF_THREE = [("i", "a", "b"), ("b", "c", "p"), ("c", "a")]


def crowd(n, keys, seed=0):
    """People with three attributes of few values each, and one of twelve values."""
    rng = np.random.default_rng(seed)
    data = {name: rng.integers(0, keys, n) for name in "abc"}
    return {"i": [f"p{number}" for number in range(n)], **data, "p": rng.integers(0, 12, n)}


def test_what_takes_long_is_estimated_and_not_begun(monkeypatch):
    """500 people took 77 s and 3 GB without a word."""
    with monkeypatch.context() as without:
        without.setattr(joins.Join, "outcomes", None)
        with pytest.raises(associations.TooCostlyError) as refused:
            risk(crowd(500, 15), CYCLE_OF_THREE, "i", "p", model="restricted")
    cost = refused.value.cost
    assert 60 < cost.seconds < 1000
    assert cost.bytes > 10**8
    assert str(refused.value) == (
        f"views: this is estimated to take {cost}, and without error it ends at 10 s and 1.0 GB: "
        "error=0.01 goes on, where asks for fewer people"
    )
    assert pickle.loads(pickle.dumps(refused.value)).cost == cost
    # The unrestricted model takes one draw for all, and a few people are not many.
    assert risk(crowd(500, 15), CYCLE_OF_THREE, "i", "p").method == "sampling"
    few = risk(crowd(500, 15), CYCLE_OF_THREE, "i", "p", model="restricted", where={"i": ["p7"]})
    assert few.n_associations > 0


@pytest.mark.parametrize("limits", [{"MOST_SECONDS": 0.0}, {"MOST_BYTES": 0}])
def test_an_error_that_is_given_goes_on(monkeypatch, limits):
    for name, value in limits.items():
        monkeypatch.setattr(costs, name, value)
    for model in MODELS:
        with pytest.raises(associations.TooCostlyError):
            risk(crowd(60, 5), CYCLE_OF_THREE, "i", "p", model=model)
        assert risk(crowd(60, 5), CYCLE_OF_THREE, "i", "p", model=model, error="0.01").method == "sampling"


def test_the_estimate_names_an_error_that_fits(monkeypatch):
    data, views = crowd(200, 100), [("i", "a"), ("a", "b"), ("b", "p")]
    monkeypatch.setattr("nbcfast.associations.chains.MOST_WORK", 0)
    monkeypatch.setattr(costs, "MOST_SECONDS", 1.0)
    with pytest.raises(associations.TooCostlyError) as refused:
        risk(data, views, "i", "p")
    error, cost = refused.value.wider
    assert cost.seconds <= 1 < refused.value.cost.seconds
    assert f"(error={error}: {cost})" in str(refused.value)
    assert risk(data, views, "i", "p", error=error).method.startswith("sampling")


def test_the_estimate_is_that_of_the_steps_that_are_made(monkeypatch):
    """Steps of the interpreter are counted as they are made; no clock is asked."""
    for name in ("NAME", "CALL", "BYTE", "DRAW", "SET", "WITHIN", "FLIP"):
        monkeypatch.setattr(costs, name, 0.0)
    monkeypatch.setattr(costs, "STEP", 1.0)
    estimates, steps = [], []
    monkeypatch.setattr(
        risks, "cost_of", lambda *given: estimates.append(costs.cost_of(*given)) or associations.Cost(0, 0)
    )
    apart = joins.Join.taken_apart

    def counted(self, removed):
        steps.append(sum(map(len, self.nodes)))
        return apart(self, removed)

    monkeypatch.setattr(joins.Join, "taken_apart", counted)
    risk(crowd(60, 5), CYCLE_OF_THREE, "i", "p", model="restricted")
    assert estimates[0].seconds == sum(steps[1:])  # the first is the join itself
    assert estimates[0].bytes > 0


def test_a_chain_ends_once_its_first_people_say_that_it_is_too_much(monkeypatch):
    data, views = crowd(200, 150), [("i", "a"), ("a", "b"), ("b", "p")]
    assert risk(data, views, "i", "p").method == "chain"
    monkeypatch.setattr(costs, "MOST_SECONDS", 0.1)
    done = []
    with pytest.raises(associations.TooCostlyError) as refused:
        risk(data, views, "i", "p", progress=lambda some, every: done.append((some, every)))
    assert refused.value.cost.seconds > 0.1
    assert done[-1][0] < 100
    assert risk(data, views, "i", "p", error="0.01").method == "chain"


def test_pieces_are_looked_up_by_digests():
    piece, same = (joins.Piece((1, 2), ((0, 1), (1,)), (0, 1)) for _ in range(2))
    other = joins.Piece((1, 2), ((0, 1), (1,)), (0, 2))
    assert (piece == same, hash(piece) == hash(same), piece == other, piece == 1) == (
        True,
        True,
        False,
        False,
    )


def test_identities_share_draws():
    rng = np.random.default_rng(3)
    data = {**{name: rng.integers(0, 5, 60) for name in "abxp"}, "i": np.arange(60)}
    views = [("i", "a", "b"), ("a", "x", "p"), ("b", "x")]
    start = time.process_time()
    found = risk(data, views, "i", "p", model="restricted", rng=np.random.default_rng(1))
    assert time.process_time() - start < 60  # of this process alone; it was two seconds an identity
    assert found.method == "sampling"
    for person in range(0, 60, 7):
        rows = [found.of(person, value) for value in found.cover(person)]
        assert sum(row.probability for row in rows) == pytest.approx(1, abs=0.05)
        assert all(low <= row.probability <= high for row in rows for low, high in [row.interval or (0, 1)])


def test_shared_draws_cover_as_often_as_they_should(monkeypatch):
    views = [("i", "a"), ("a", "b"), ("b", "x"), ("x", "p")]
    data = random_table(3, 9, 3)
    exact = risk(data, views, "i", "p", model="restricted")
    monkeypatch.setattr("nbcfast.associations.chains.MOST_WORK", 0)
    monkeypatch.setattr(joins, "ENUMERATED", 0)
    monkeypatch.setattr(joins, "EXCLUDED", 0)
    monkeypatch.setattr(joins, "FEWEST_KEPT", 0)
    missed = drawn = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = risk(data, views, "i", "p", model="restricted", rng=rng, error="0.05", confidence="0.8")
        for row in exact.table():
            if (interval := found.of(row["i"], row["p"]).interval) is not None:
                drawn += 1
                missed += not interval[0] <= row["probability"] <= interval[1]
    assert drawn >= 20
    assert missed <= 0.2 * drawn


def test_a_large_join_is_sampled_where_worlds_are_frequent():
    n = 20
    grid = np.arange(n**3)
    data = {"i": grid % n, "a": grid // n % n, "p": grid // n**2 % n, "b": grid % 3}
    views = [("i", "a"), ("a", "p", "b"), ("p", "i")]
    found = risk(data, views, "i", "p", error="0.05", rng=np.random.default_rng(2), where={"i": [3]})
    assert (found.method, found.n_associations) == ("sampling", n)
    assert all(row["low"] <= 1 - 2**-60 <= row["high"] for row in found.table())


def test_a_large_join_of_rare_worlds_is_refused(monkeypatch):
    monkeypatch.setattr(joins, "MOST_RARE", 2)
    monkeypatch.setattr(joins, "FEWEST_KEPT", 1.0)
    monkeypatch.setattr(joins, "ENUMERATED", 0)
    monkeypatch.setattr(joins, "EXCLUDED", 0)
    monkeypatch.setattr("nbcfast.associations.chains.MOST_WORK", 0)
    with pytest.raises(ValueError, match="tuples of their join hang together, and too many tuples of a view"):
        risk(random_table(3, 9, 3), [("i", "a"), ("a", "b"), ("b", "x"), ("x", "p")], "i", "p")


def test_long_chains_take_no_time():
    n = 3_000
    data = {
        "i": list(range(n)),
        "a": [i % 300 for i in range(n)],
        "b": [i % 300 // 2 for i in range(n)],
        "p": [i * i % 9 for i in range(n)],
    }
    found = risk(data, [("i", "a"), ("a", "b"), ("b", "p")], "i", "p")
    assert found.method == "chain"
    assert 0.5 < found.worst(1)[0]["probability"] < 1


# --- advise


def advised_by_hand(rows, names, threshold):
    """All splits, each judged and measured by its own join."""
    found = {}
    for places in range(3 ** len(names)):
        digits = [places // 3**k % 3 for k in range(len(names))]
        one = ("i", *(name for name, digit in zip(names, digits, strict=True) if digit != 1))
        other = (*(name for name, digit in zip(names, digits, strict=True) if digit != 0), "p")
        probabilities = risk(columns(rows), [one, other], "i", "p", model="restricted")
        worst = [probabilities.of(row["i"], row["p"]).exact for row in probabilities.table()]
        if probabilities.n_without_world or max(worst) > threshold:
            continue
        joined = {tuple(sorted(row.items())) for row in reference.join(rows, [one, other])}
        distinct = {tuple(sorted((name, row[name]) for name in ("i", *names, "p"))) for row in rows}
        found[one, other] = max(worst), Fraction(len(distinct), len(joined))
    return found


@given(st.integers(0, 10**6), st.sampled_from(["1/2", "1/3", "1"]))
@settings(max_examples=15)
def test_advise_finds_all_splits(seed, threshold):
    rng = random.Random(seed)
    rows = [{name: rng.randrange(3) for name in "abc"} | {"i": k, "p": rng.randrange(4)} for k in range(12)]
    found = advise(columns(rows), "i", "p", ["a", "b", "c"], threshold=threshold)
    expected = advised_by_hand(rows, ("a", "b", "c"), Fraction(threshold))
    assert {split.views: (split.worst, split.let_out) for split in found} == expected
    assert [split.let_out for split in found] == sorted((split.let_out for split in found), reverse=True)
    assert found.method == "exhaustive"


def test_advise_searches_greedily_beyond_a_few_columns(monkeypatch):
    rng = random.Random(3)
    names = ["a", "b", "c", "d"]
    rows = [{name: rng.randrange(2) for name in names} | {"i": k, "p": rng.randrange(5)} for k in range(40)]
    everything = advise(columns(rows), "i", "p", names, threshold="1/3")
    monkeypatch.setattr("nbcfast.associations.advising.MOST_COLUMNS", 2)
    found = advise(columns(rows), "i", "p", names, threshold="1/3")
    assert found.method == "greedy"
    assert {(split.views, split.worst, split.let_out) for split in found} <= {
        (split.views, split.worst, split.let_out) for split in everything
    }
    assert found[0].let_out <= everything[0].let_out
    assert len(found) >= 1


def test_advise_refuses():
    with pytest.raises(ValueError, match="columns must be others than the identity and the attribute"):
        advise(FIGURE_1, "name", "problem", ["age", "name"])
    with pytest.raises(TypeError, match="columns must be a sequence of names, got 'age'"):
        advise(FIGURE_1, "name", "problem", "age")
    with pytest.raises(ValueError, match="got 'age' twice"):
        advise(FIGURE_1, "name", "problem", ["age", "age"])
    with pytest.raises(ValueError, match=r"expected a column of .* got 'pet'"):
        advise(FIGURE_1, "name", "problem", ["pet"])
    assert advise({"i": [1], "a": [1], "p": [1]}, "i", "p", ["a"]) == ()


# --- results and bad input


def test_results_read_well():
    found = risk(FIGURE_1, VIEWS_1, "name", "problem")
    assert repr(found) == (
        "Risk(problem of name from (name, age), (age, problem): 11 associations, worst 1, unrestricted, "
        "by join values)"
    )
    assert repr(found.of("George", "HIV")).startswith("Association('George' has 'HIV': 0.607547, 3 x 3")
    plain = found.to_dict()
    assert (plain["associations"], plain["join"], len(plain["worst"])) == (11, ["age"], 10)
    assert found.of("Bill", "Cold").to_dict()["probability"] == 1
    assert pickle.loads(pickle.dumps(advise(FIGURE_1, "name", "problem", ["age"]))).method == "exhaustive"
    rows = found.table()
    assert (len(rows), rows[-1]["name"]) == (11, "Kate")
    assert "... 11 rows" in repr(rows)
    with pytest.raises(IndexError, match=r"row must be -11\.\.10, got 11"):
        rows[11]
    with pytest.raises(ValueError, match="expected a column of 'name', 'problem', 'probability'; got 'age'"):
        rows.column("age")
    assert associations.Rows.__hash__ is None


def test_probabilities_that_round_to_one_half_say_so():
    data = {"i": list(range(60)), "a": [0] * 60, "p": list(range(60))}
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p").worst(1)
    assert found[0]["probability"] == 0.5
    assert found[0]["probability"] < probability(60, 60, exact=True)


def test_probabilities_never_round_to_one():
    data = {"i": [0, *range(1, 71)] + [0] * 69, "a": [0, *range(70), *range(1, 70)], "p": [9] * 140}
    data["p"][1:71] = [k % 3 for k in range(70)]
    found = risk(data, [("i", "a"), ("a", "p")], "i", "p")
    rows = [row for row in found.table() if row["i"] == 0 and row["p"] == 9]
    assert rows[0]["probability"] < 1
    assert found.of(0, 9).exact < 1
    assert rows[0]["probability"] == found.of(0, 9).probability


@pytest.mark.parametrize(
    ("views", "error", "message"),
    [
        ([("name", "age")], ValueError, "views must be at least two, got 1"),
        ([], ValueError, "views must be at least two, got 0"),
        ("name", TypeError, "views must be a sequence of sequences of names, got 'name'"),
        (["name", "age"], TypeError, r"views\[0\] must be a sequence of names, got 'name'"),
        ([("name", 3), ("age", "problem")], TypeError, r"views\[0\] must be names of columns, got 3"),
        ([("name", "name"), ("age", "problem")], ValueError, r"views\[0\] names 'name' twice"),
        ([("name", "age"), ()], ValueError, r"views\[1\] must have at least one column"),
        ([("name", "pet"), ("age", "problem")], ValueError, "expected a column of .*; got 'pet'"),
        (
            [("name", "age"), ("age", "job")],
            ValueError,
            "attribute: expected a column of one of the views, got 'problem'",
        ),
        ([("job", "age"), ("age", "problem")], ValueError, "identity: expected a column of one of the views"),
        ([("name", "problem"), ("age", "job")], ValueError, "'name' and 'problem' are in one view alone"),
        (5, TypeError, "views must be a sequence of sequences of names, got 5"),
    ],
)
def test_bad_views(views, error, message):
    with pytest.raises(error, match=message):
        risk(FIGURE_1, views, "name", "problem")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "none"}, ValueError, "model must be 'unrestricted' or 'restricted', got 'none'"),
        ({"worlds": "all"}, ValueError, "worlds must be 'projected' or 'full', got 'all'"),
        ({"where": {"age": 45}}, ValueError, "where: expected 'name' or 'problem', got 'age'"),
        ({"where": {"name": "Zoe"}}, ValueError, "column 'name': expected one of its 5 values, got 'Zoe'"),
        ({"where": "name"}, TypeError, "where must be a mapping"),
        ({"error": 0}, ValueError, "error must be between 0 and 1, got 0"),
        ({"confidence": "2"}, ValueError, "confidence must be between 0 and 1"),
        ({"rng": 5}, TypeError, "rng must be a numpy.random.Generator, got int"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        risk(FIGURE_1, VIEWS_1, "name", "problem", **options)


def test_bad_input_names_its_argument():
    with pytest.raises(ValueError, match=r"views\[1\]: expected a column of 'name', .* got 'pet'"):
        risk(FIGURE_1, [("name", "age"), ("pet", "problem")], "name", "problem")
    with pytest.raises(ValueError, match=r"columns: expected a column of 'name', .* got 'pet'"):
        advise(FIGURE_1, "name", "problem", ["pet"])
    with pytest.raises(ValueError, match=r"identity: expected a column of 'name', .* got 'pet'"):
        advise(FIGURE_1, "pet", "problem", ["age"])
    with pytest.raises(
        ValueError, match="identity and attribute must be different columns, got 'name' twice"
    ):
        advise(FIGURE_1, "name", "name", ["age"])
    for call in (
        lambda: risk(FIGURE_1, VIEWS_1, "name", "problem", progress=3),
        lambda: advise(FIGURE_1, "name", "problem", ["age"], progress=3),
    ):
        with pytest.raises(TypeError, match="progress must be callable or None, got 3"):
            call()
    with pytest.raises(ValueError, match=r"m: an array holds sizes up to 2\^62"):
        probability(10**30, [1, 2])
    with pytest.raises(ValueError, match=r"must have shapes that broadcast, got \(2,\) and \(3,\)"):
        covers([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"n must be below 2\^1022"):
        probability(10**400, 10**400, model="restricted")
    assert probability(10**400, 10**400, model="restricted", exact=True) == Fraction(1, 10**400)


def test_integers_of_numpy_are_integers():
    found = risk({"i": [0, 1], "a": [0, 0], "p": [0, 1]}, TWO_VIEWS_OF_NUMBERS, "i", "p")
    assert len(found.worst(np.int64(3))) == 3
    one = found.of(1.0, np.int64(0))
    assert (type(one.identity), type(one.value)) == (int, int)


@pytest.mark.parametrize("model", MODELS)
def test_results_can_be_pickled(model):
    data = random_table(3, 9, 3)
    layouts = [
        ([("i", "a"), ("a", "p")], "projected"),
        ([("i", "a"), ("a", "p", "x")], "full"),
        ([("i", "a"), ("a", "b"), ("b", "p")], "projected"),
        (CYCLE, "projected"),
    ]
    for views, worlds in layouts:
        found = risk(data, views, "i", "p", model=model, worlds=worlds)
        again = pickle.loads(pickle.dumps(found))
        assert again.table() == found.table()
        assert again.n_above("1/2") == found.n_above("1/2")
        row = found.table()[0]
        one = found.of(row["i"], row["p"])
        copy = pickle.loads(pickle.dumps(one))
        assert (copy, copy.exact) == (one, again.of(row["i"], row["p"]).exact)


def test_bad_names_and_values():
    with pytest.raises(
        ValueError, match="identity and attribute must be different columns, got 'name' twice"
    ):
        risk(FIGURE_1, VIEWS_1, "name", "name")
    with pytest.raises(TypeError, match="identity must be the name of a column, got 3"):
        risk(FIGURE_1, VIEWS_1, 3, "problem")
    found = risk(FIGURE_1, VIEWS_1, "name", "problem")
    with pytest.raises(ValueError, match="column 'name': expected one of its 5 values, got 'Zoe'"):
        found.of("Zoe", "HIV")
    with pytest.raises(ValueError, match=r"column 'problem': expected one of its 3 values, got \['HIV'\]"):
        found.of("George", ["HIV"])
    numbers = risk({"i": [0, 1], "a": [0, 0], "p": [0, 1]}, [("i", "a"), ("a", "p")], "i", "p")
    with pytest.raises(ValueError, match="got True"):
        numbers.of(True, 1)
    for n, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="n must be"):
            found.worst(n)
    with pytest.raises(ValueError, match="no rows"):
        risk(nbcfast.Table({"i": [], "a": [], "p": []}), [("i", "a"), ("a", "p")], "i", "p")


def test_declared_identities_without_a_row_have_no_association():
    table = nbcfast.Table({"i": ["u"], "a": [1], "p": ["P"]}, domains={"i": ["u", "z"], "p": ["P", "Q"]})
    for model, expected in (("unrestricted", 0), ("restricted", None)):
        found = risk(table, [("i", "a"), ("a", "p")], "i", "p", model=model)
        assert found.of("z", "P").probability == expected
        assert found.of("u", "Q").probability == 0
        assert (found.n_identities, found.n_associations, found.cover("z")) == (1, 1, ())


def test_progress_and_interrupts():
    rng = np.random.default_rng(1)
    data = nbcfast.Table({name: rng.integers(0, 50_000, 300_000) for name in "iap"})

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        risk(data, [("i", "a"), ("a", "p")], "i", "p", progress=interrupt)
    seen = []
    risk(data, [("i", "a"), ("a", "p")], "i", "p", progress=lambda *done: seen.append(done))
    assert seen[-1][0] == seen[-1][1]


# --- the kernel


def joiner(id_offsets, joins_, offsets, values, factors, n_values):
    return _associations.Joiner(
        np.array(id_offsets, np.int64),
        np.array(joins_, np.uint32),
        np.array(offsets, np.int64),
        np.array(values, np.uint32),
        np.array(factors, np.float64),
        np.ones(n_values, np.uint8),
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([], [], [0], [], [], 0), "offsets must rise"),
        (([0, 2], [0], [0, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1], [0], [0, 1, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1, 0, 1], [0], [0, 1], [0], [0.5], 1), "offsets must rise"),
        (([0, 1], [1], [0, 1], [0], [0.5], 1), "outside its range"),
        (([0, 1], [0], [0, 1], [1], [0.5], 1), "outside its range"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(parts, message):
    with pytest.raises(ValueError, match=message):
        joiner(*parts)


def test_the_kernel_writes_only_where_there_is_room():
    made = joiner([0, 2], [0, 1], [0, 2, 3], [0, 1, 1], [0.5, 0.25], 2)
    longs = [np.zeros(1, np.int64) for _ in range(3)]
    worst = np.zeros(1)
    made.scan(0, 1, *longs, worst)
    assert ([one.tolist() for one in longs], worst.tolist()) == ([[2], [1], [1]], [1 - 0.125])
    values, probabilities, times = np.zeros(2, np.uint32), np.zeros(2), np.zeros(2, np.uint32)
    made.fill(0, 1, np.array([0, 2]), values, probabilities, times)
    assert (values.tolist(), probabilities.tolist(), times.tolist()) == ([0, 1], [0.5, 0.875], [1, 2])
    with pytest.raises(ValueError, match="no room for the values"):
        made.fill(0, 1, np.array([0, 1]), values, probabilities, times)
    with pytest.raises(ValueError, match="no room for the values"):
        made.fill(0, 1, np.array([-1, 1]), values, probabilities, times)
    with pytest.raises(ValueError, match="no places for 1 identities"):
        made.fill(0, 1, np.array([0]), values, probabilities, times)
    with pytest.raises(ValueError, match="no room for the results"):
        made.scan(0, 1, *longs, np.zeros(0))
    for start, stop in ((0, 2), (-1, 1), (1, 0)):
        with pytest.raises(ValueError, match=r"identities must be within 0\.\.1"):
            made.scan(start, stop, *longs, worst)


def test_the_room_is_entered_when_it_is_asked_for():
    script = (
        "import sys, nbcfast; assert 'nbcfast.associations' not in sys.modules; "
        "from nbcfast import associations; "
        "associations.risk({'i': [1], 'a': [1], 'p': [1]}, [('i', 'a'), ('a', 'p')], 'i', 'p').worst(); "
        "print(*sorted({'pyarrow', 'pandas', 'polars', 'click', 'concurrent.futures'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_views_in_any_order():
    expected = risk(FIGURE_1, [("name", "age"), ("age", "job"), ("job", "problem")], "name", "problem")
    for views in permutations([("name", "age"), ("age", "job"), ("job", "problem")]):
        assert risk(FIGURE_1, views, "name", "problem").table() == expected.table()
