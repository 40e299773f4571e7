"""The deFinetti attack on people whose groups are published."""

import json

import numpy as np
import pytest
from partition_cases import adult

import nbcfast
from nbcfast import Table
from nbcfast.attack.definetti import SecretsModel, definetti, numbered_groups
from nbcfast.mondrian import anonymize


def test_adult_against_the_definetti_attack(data):
    quasi = ["age", "education_num", "hours_per_week", "sex", "workclass"]
    train, test = adult(data, quasi)
    partition = anonymize(train, quasi, "occupation", [(1, 2, 1, 0.9)], k=8)
    found = definetti(train, partition.group_ids, "occupation", holdout=test)
    assert 0.2 < found.held_out < found.accuracy < 0.6
    assert found.gain == found.accuracy - found.held_out
    assert found.worst > 0.5
    # Who knew of each group only what is published of the whole would guess worse than who reads the groups.
    assert found.baseline > 0.2


def smokers(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    smokes = rng.random(n) < 0.5
    ill = np.where(smokes, rng.random(n) < 0.9, rng.random(n) < 0.1)
    return Table({"smokes": smokes, "ill": np.where(ill, "cancer", "flu")}), np.arange(n) // 4


def test_the_attack_learns_what_the_groups_together_say():
    table, ids = smokers()
    found = definetti(table, ids, "ill", holdout=smokers(seed=1)[0])
    assert found.accuracy > 0.88
    assert found.baseline < 0.72
    assert found.held_out == pytest.approx(0.9, abs=0.03)
    assert found.gain == found.accuracy - found.held_out
    assert found.worst < 1
    assert found.predicted.shape == found.confidence.shape == (2000,)
    assert repr(found).startswith("DeFinetti(accuracy 9")
    json.dumps(found.to_dict())


def test_the_attack_does_not_look_at_the_order_within_groups():
    table, ids = smokers(400)
    secrets = np.array(table.domain("ill"))[table.codes("ill")]
    order = np.concatenate([np.random.default_rng(g).permutation(4) + 4 * g for g in range(100)])
    mixed = Table({"smokes": np.array(table.domain("smokes"))[table.codes("smokes")], "ill": secrets[order]})
    one, two = definetti(table, ids, "ill"), definetti(mixed, ids, "ill", truth=secrets.tolist())
    assert np.array_equal(one.predicted, two.predicted)
    assert one.accuracy == two.accuracy


def test_the_attack_on_rows_that_tell_nothing_is_the_baseline():
    table = Table({"x": [nbcfast.SUPPRESSED] * 8, "ill": list("aaabbbbc")})
    found = definetti(table, [0] * 4 + [1] * 4, "ill")
    assert (found.accuracy, found.baseline, found.worst) == (0.75, 0.75, 0.75)
    certain = definetti(Table({"x": [1, 2], "ill": ["a", "a"]}), [0, 0], "ill")
    assert (certain.accuracy, certain.worst) == (1.0, 1.0)


def test_guesses_add_up_to_what_is_published():
    table, ids = smokers(400)
    groups, n = numbered_groups(ids, 400)
    model = SecretsModel(table, ["smokes"], groups, n, table.codes("ill"), 2, np.ones(400))
    model.learn(5, None)
    sums = np.add.reduceat(model.probabilities * model.people[:, None], model.starts, axis=0)
    assert np.allclose(sums, model.histograms, atol=1e-3)
    assert np.allclose(model.probabilities.sum(axis=1), 1)


def test_weights_are_people_of_the_attack():
    table = Table({"x": [0, 1, 0], "ill": ["a", "b", "b"]}, weights=[3, 2, 1])
    plain = Table({"x": [0, 0, 0, 1, 1, 0], "ill": list("aaabbb")})
    one, two = definetti(table, [0, 0, 1], "ill"), definetti(plain, [0, 0, 0, 0, 0, 1], "ill")
    assert one.accuracy == pytest.approx(two.accuracy)
    assert one.baseline == pytest.approx(two.baseline)


def test_held_out_people_with_a_group():
    table, ids = smokers(400)
    others = Table({"smokes": [True, False], "ill": ["cancer", "flu"]})
    assert definetti(table, ids, "ill", holdout=(others, [0, -1])).held_out == 1.0
    unknown = Table({"smokes": ["perhaps"], "ill": ["cholera"]})
    ill = np.array(table.domain("ill"))[table.codes("ill")]
    said = Table({"smokes": np.array(["no", "yes"])[table.codes("smokes")], "ill": ill})
    assert definetti(said, ids, "ill", holdout=unknown).held_out == 0.0
    with pytest.raises(TypeError, match="'smokes' holds values of kind text, and the table of kind bool"):
        definetti(table, ids, "ill", holdout=unknown)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_ids": [0]}, r"group_ids: expected one for each of 3 rows, got shape \(1,\)"),
        ({"group_ids": [0.5] * 3}, "group_ids must be integers, got float64"),
        ({"sensitive": "z"}, "expected a column of"),
        ({"rounds": 0}, "rounds must be an int of at least 1, got 0"),
        ({"truth": ["a"]}, "truth: expected one value for each of 3 rows, got 1"),
        ({"holdout": {"x": [], "ill": []}}, "holdout: no rows"),
        ({"holdout": (1, 2, 3)}, r"holdout: expected a Table, or \(Table, group ids\), got a tuple of 3"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, [0.5])}, "holdout: group ids must be integers, got float64"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, ["0"])}, "holdout: group ids must be integers, got <U1"),
        ({"holdout": ({"x": [1], "ill": ["a"]}, [1, 2])}, r"holdout: expected a group for each of 1 rows"),
        ({"table": {"x": [], "ill": []}}, "no rows"),
    ],
)
def test_bad_input_of_the_attack(arguments, message):
    given = {"table": {"x": [1, 2, 3], "ill": list("aab")}, "group_ids": [0, 0, 0], "sensitive": "ill"}
    given |= arguments
    with pytest.raises((TypeError, ValueError), match=message):
        definetti(given.pop("table"), given.pop("group_ids"), given.pop("sensitive"), **given)
