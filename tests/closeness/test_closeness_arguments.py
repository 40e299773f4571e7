"""Priors and other arguments of the room, and how its answers show."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from closeness_cases import QUARTER, WORK, cases, positive

from nbcfast import Viewset, safety
from nbcfast.closeness import achieved, best, est, lower_bound

CALLS = [achieved, lower_bound, best, lambda views, prior: est(views, prior, 4)]


@pytest.mark.parametrize("call", CALLS, ids=["achieved", "lower_bound", "best", "est"])
@pytest.mark.parametrize(
    ("prior", "error", "message"),
    [
        ({"ill": 1}, ValueError, "class 'well' is missing"),
        ({"ill": "0.5", "well": "0.5", "odd": 0}, ValueError, "expected classes of 'ill', 'well'; got 'odd'"),
        ({"ill": 1, "well": 0}, ValueError, "prior of class 'well' must be above 0, got 0"),
        ({"ill": "1.5", "well": "-0.5"}, ValueError, r"prior of class 'well' must be above 0, got -0\.5"),
        ({"ill": 0.7, "well": 0.2}, ValueError, r"must add up to 1 exactly, got 0\.9"),
        ({"ill": 0.333, "well": "2/3"}, ValueError, "must add up to 1 exactly, got 2999/3000"),
        ({"ill": "x", "well": 1}, ValueError, "prior of class 'ill' must be a finite number"),
        ({"ill": None, "well": 1}, TypeError, "prior of class 'ill' must be an int"),
        ({"ill": True, "well": 1}, TypeError, "prior of class 'ill' must be a number"),
        ({"ill": float("nan"), "well": 1}, ValueError, "finite number"),
        ([0.5, 0.5], TypeError, "prior must be a mapping of class to number, got list"),
    ],
)
def test_wrong_priors(call, prior, error, message):
    with pytest.raises(error, match=message):
        call(WORK, prior)


def test_numbers_of_every_kind():
    for prior in (
        {"ill": 0.75, "well": 0.25},
        {"ill": "3/4", "well": Fraction(1, 4)},
        {"well": np.float64(0.25), "ill": "0.75"},
    ):
        assert best(WORK, prior).r == 3
    assert best(WORK, {"ill": 0.1, "well": 0.9}).r == 9  # a float means its decimal text


def test_true_is_not_one():
    views = Viewset([6, 6], [[[4, 2], [2, 4]]])
    with pytest.raises(ValueError, match="got True"):
        achieved(views, {0: "0.5", True: "0.5"})


@pytest.mark.parametrize("call", CALLS, ids=["achieved", "lower_bound", "best", "est"])
def test_views_that_no_table_has(call):
    with pytest.raises(ValueError, match="realistic"):
        call(Viewset([6, 6], [[[4, 2], [2, 3]]]), {0: "0.5", 1: "0.5"})
    with pytest.raises(ValueError, match="no rows"):
        call(Viewset([0, 0], [[[0, 0]]]), {0: "0.5", 1: "0.5"})


def test_other_arguments():
    with pytest.raises(ValueError, match="r must be above 1 for attacker 'row'; got 1"):
        est(WORK, QUARTER, 1)
    with pytest.raises(TypeError, match="r must be an int"):
        est(WORK, QUARTER, None)
    with pytest.raises(ValueError, match="attacker must be 'row' or 'worlds', got 'me'"):
        est(WORK, QUARTER, 4, attacker="me")
    with pytest.raises(ValueError, match="attacker must be 'row' or 'worlds', got 'me'"):
        lower_bound(WORK, QUARTER, attacker="me")
    with pytest.raises(ValueError, match="preserve must be"):
        best(WORK, QUARTER, preserve="all")
    with pytest.raises(ValueError, match="rows must be"):
        est(WORK, QUARTER, 4, rows="all")
    with pytest.raises(ValueError, match="class 1 has no rows"):
        best(Viewset([6, 0], [[[4, 0], [2, 0]]]), {0: "0.5", 1: "0.5"})


def test_results_show_and_tell():
    found, bound, limit = achieved(WORK, QUARTER), lower_bound(WORK, QUARTER), best(WORK, QUARTER)
    assert repr(found) == "Achieved(r = 8/3 by Definition 5, 6 by Statement 11: 'well' over 'ill' at job=1)"
    assert repr(bound) == (
        "LowerBound(r >= 2 by Definition 5, >= 3 by Statement 11: 'well' beats 'ill' at job=1)"
    )
    assert repr(limit) == "Best(r = 3, infimum, not attained, at x, y -> 0)"
    for one in (found, bound, limit):
        json.dumps(one.to_dict())
    assert found.to_dict()["statement11"]["value"] == "6/1"
    assert found.to_dict()["prior"] == ["3/4", "1/4"]
    assert bound.to_dict()["inverted"] == ["well", "ill"]
    assert limit.to_dict()["r"] == "3/1"
    nothing = lower_bound(Viewset([9, 3], [[[6, 1], [3, 2]]]), {0: "0.75", 1: "0.25"})
    assert repr(nothing) == "LowerBound(r >= 1: no class beats one of larger prior)"
    assert "infinite" in repr(achieved(Viewset([2, 2], [[[2, 1], [0, 1]]]), {0: "0.5", 1: "0.5"}))


def test_progress_is_reported():
    calls = []
    four = positive(random.Random(22), [3, 3], 4)
    achieved(four, dict.fromkeys(range(4), "0.25"), progress=lambda *step: calls.append(step))
    assert calls == [(done, 4) for done in range(1, 5)]
    calls.clear()
    views = Viewset([60, 50, 10], [[[30, 20, 3], [30, 30, 7]]])
    best(views, {0: "0.3", 1: "0.6", 2: "0.1"}, progress=lambda *step: calls.append(step))
    assert calls
    assert all(0 < done <= total for done, total in calls)


def test_odds_of_the_release_stay_within_lambda():
    """What SafetyTransform promises follows: Lambda <= r F_max / F_min, as the certificate says."""
    for _, views, prior in cases(23, 40):
        found = best(views, prior)
        release = est(views, prior, Fraction(found.r).limit_denominator(10**9) * 2, rows="proven")
        made = release.certificate
        assert made.amplification == made.r * max(prior.values()) / min(prior.values())
        assert safety.at_most(release.views, made.amplification)


def test_many_values_of_one_attribute():
    rng = np.random.default_rng(0)
    columns = [rng.multinomial(32_000, np.full(16_000, 1 / 16_000)) + 1 for _ in range(3)]
    views = Viewset([48_000] * 3, {"x": np.array(columns).T})
    prior = {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}
    rows = views.counts["x"].tolist()
    odds = max(
        Fraction(row[c], row[d]) * prior[d] / prior[c] for row in rows for c in range(3) for d in range(3)
    )
    assert achieved(views, prior).statement11.value == odds
    assert achieved(views, prior).definition5.value == max(
        max(share / prior[c], prior[c] / share)
        for row in rows
        for c in range(3)
        for share in [Fraction(row[c], sum(row))]
    )


@pytest.mark.parametrize("views", [None, 1, {}, "x"])
def test_what_is_no_viewset_is_named(views):
    for call in (achieved, lower_bound, best, lambda v, p: est(v, p, 4)):
        with pytest.raises(TypeError, match="views must be a Viewset, got"):
            call(views, {0: 1})


def test_options_of_est_are_those_of_safety_transform():
    views, prior = Viewset([6, 6], [[[4, 2], [2, 4]]]), {0: "0.5", 1: "0.5"}
    with pytest.raises(TypeError, match="table: expected a Table, a mapping"):
        est(views, prior, 4, table=object())
    with pytest.raises(TypeError, match="allow_differences must be a bool, got str"):
        est(views, prior, 4, allow_differences="x")
    with pytest.raises(ValueError, match="allow_differences goes with a number of rows, got rows='smallest'"):
        est(views, prior, 4, allow_differences=True)
