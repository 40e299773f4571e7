"""`Disclosure`: what it says of itself, and how much memory it took."""

import json
import pickle

import numpy as np
import pytest
from template_cases import decoded

import nbcfast
from nbcfast import Interval
from nbcfast.templates import Template, disclose, templates_for, violations


def test_memory_is_bounded_and_reported(large):
    table, wanted = large
    found = disclose(table, wanted, "y")
    assert 0 < found.peak_bytes < 200 * 2_000


def test_results_are_plain_and_can_be_pickled(large):
    table, wanted = large
    found = disclose(table, wanted, "y")
    again = pickle.loads(pickle.dumps(found))
    assert again.table == found.table
    assert again.to_dict() == found.to_dict()
    assert again.reasons == found.reasons
    assert json.loads(json.dumps(found.to_dict()))["templates"][0]["limit"] == "3/4"
    groups = {}
    for group, key in zip(
        found.group_ids.tolist(), zip(*(decoded(found.table, n) for n in "abc"), strict=True), strict=True
    ):
        assert groups.setdefault(group, key) == key
    assert len(set(groups.values())) == len(groups) == max(groups) + 1


@pytest.mark.parametrize("n_hits", [1, 20, 60])
@pytest.mark.parametrize("wide", [False, True])
def test_memory_is_bounded_as_stated(n_hits, wide):
    rng = np.random.default_rng(3)
    n, n_values = 6_000, 65_600 if wide else 3_000
    table = nbcfast.Table(
        {
            "zip": rng.permutation(np.arange(max(n, n_values)) % n_values),
            "b": rng.integers(0, 5, max(n, n_values)),
            "s": rng.integers(0, n_hits + 1, max(n, n_values)),
        }
    )
    wanted = templates_for(["zip", "b"], "s", range(n_hits), 1)
    found = disclose(table, wanted, utility="distortion", max_steps=40)
    rows = table.collapse().n_rows
    values = len(table.domain("zip")) + 5
    bound = rows * (2 * (10 + 4 * n_hits) + 8 * n_hits + 100) + values * (12 * n_hits + 100)
    assert found.peak_bytes <= (2 if wide else 1) * bound + 100_000
    assert found.peak_bytes > rows * 40


def test_all_that_is_told_fits_json():
    table = nbcfast.Table(
        {
            "age": [0.5, 1.5, 2.5, 3.5] * 2,
            "band": [Interval(None, 1), Interval(1, "7/3")] * 4,
            "far": [float("inf"), 1.0] * 4,
            "s": [0, 1, 1, 0] * 2,
            "y": [0, 0, 1, 1, 0, 1, 0, 1],
        }
    )
    wanted = [Template(["age", "band", "far"], ("s", 1), "3/4")]
    found = disclose(table, wanted, "y", continuous=["age"], require_beneficial=False)
    assert any(step.attribute == "age" for step in found.steps)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told == found.to_dict()
    assert "[1, 7/3)" in {step["value"] for step in told["steps"]} | set(told["suppressed"]["band"])
    broken = violations(table, [Template(["age", "band", "far"], ("s", 1), "1/3")])
    assert (
        json.loads(json.dumps([one.to_dict() for one in broken], allow_nan=False))[0]["known"]["age"] == 1.5
    )
    suppressed = violations(found.table, [Template(["band"], ("s", 1), 0)])
    json.dumps([one.to_dict() for one in suppressed], allow_nan=False)
