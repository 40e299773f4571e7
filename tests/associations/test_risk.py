"""`risk` against all worlds listed, on the worked examples, and with what it is asked for."""

import random
from fractions import Fraction

import numpy as np
import pytest
from association_cases import FIGURE_1, MODELS, TWO_JOINS, TWO_VIEWS, VIEWS_1, columns
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast.associations import covers, one_join_key, probability, risk
from nbcfast.reference import associations as reference

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
    listed = one_join_key.OneJoinKey.listed
    monkeypatch.setattr(one_join_key, "BLOCK", 500)

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
    monkeypatch.setattr(one_join_key.OneJoinKey, "listed", spied)
    assert found.n_above("3/4") == n * 100
    assert max(sizes_) <= 500
    sizes_.clear()
    assert list(found.worst(30)) == expected[:30]
    assert sum(sizes_) <= 500  # the first ones decide
    assert list(found.worst(1_111)) == expected[:1_111]


def test_worst_of_ties_is_in_order(monkeypatch):
    monkeypatch.setattr(one_join_key, "BLOCK", 3)
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
