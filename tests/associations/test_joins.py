"""Views that are neither a star nor a chain, chains, sampling, and work that is estimated and refused."""

import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from association_cases import CYCLE, MODELS, random_table

from nbcfast import associations
from nbcfast.associations import costs, joins, pieces, risk, risks, sampling


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
            monkeypatch.setattr(pieces, "ENUMERATED", 16)
            found = risk(data, views, "i", "p", model=model)
            monkeypatch.undo()
            assert found.method in ("enumeration", "sampling")
            for row in expected.table() if found.method == "enumeration" else []:
                assert found.of(row["i"], row["p"]).exact == expected.of(row["i"], row["p"]).exact


def test_enumeration_equals_inclusion_and_exclusion(monkeypatch):
    for seed in range(4):
        data = random_table(seed, 7, 3)
        for model in MODELS:
            monkeypatch.setattr(pieces, "EXCLUDED", 0)
            expected = risk(data, CYCLE, "i", "p", model=model)
            monkeypatch.setattr(pieces, "ENUMERATED", 0)
            monkeypatch.setattr(pieces, "EXCLUDED", 16)
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
    monkeypatch.setattr(pieces, "ENUMERATED", 0)
    monkeypatch.setattr(pieces, "EXCLUDED", 0)
    if flips and model == "unrestricted":
        monkeypatch.setattr(sampling, "FEWEST_KEPT", 1.0)
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
            risk(crowd(40, 5), CYCLE_OF_THREE, "i", "p", model=model)
        assert risk(crowd(40, 5), CYCLE_OF_THREE, "i", "p", model=model, error="0.05").method == "sampling"


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
    risk(crowd(40, 5), CYCLE_OF_THREE, "i", "p", model="restricted")
    assert estimates[0].seconds == sum(steps[1:])  # the first is the join itself
    assert estimates[0].bytes > 0


def test_a_chain_ends_once_its_first_people_say_that_it_is_too_much(monkeypatch):
    data, views = crowd(100, 80), [("i", "a"), ("a", "b"), ("b", "p")]
    assert risk(data, views, "i", "p").method == "chain"
    monkeypatch.setattr(costs, "MOST_SECONDS", 0.03)
    done = []
    with pytest.raises(associations.TooCostlyError) as refused:
        risk(data, views, "i", "p", progress=lambda some, every: done.append((some, every)))
    assert refused.value.cost.seconds > 0.03
    assert done[-1][0] < 50
    assert risk(data, views, "i", "p", error="0.01").method == "chain"


def test_pieces_are_looked_up_by_digests():
    piece, same = (pieces.Piece((1, 2), ((0, 1), (1,)), (0, 1)) for _ in range(2))
    other = pieces.Piece((1, 2), ((0, 1), (1,)), (0, 2))
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
    monkeypatch.setattr(pieces, "ENUMERATED", 0)
    monkeypatch.setattr(pieces, "EXCLUDED", 0)
    monkeypatch.setattr(sampling, "FEWEST_KEPT", 0)
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
    monkeypatch.setattr(sampling, "FEWEST_KEPT", 1.0)
    monkeypatch.setattr(pieces, "ENUMERATED", 0)
    monkeypatch.setattr(pieces, "EXCLUDED", 0)
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
