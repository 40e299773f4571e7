"""`advise`: which two views of a table hide who has what."""

import random
from fractions import Fraction

import pytest
from association_cases import FIGURE_1, columns
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcfast.associations import advise, risk
from nbcfast.reference import associations as reference


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
