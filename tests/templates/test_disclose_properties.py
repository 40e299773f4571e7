"""What a disclosure depends on, and what it does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from template_cases import case, decoded, outcome

import nbcfast
from nbcfast import Infeasible
from nbcfast.reference import templates as reference
from nbcfast.templates import Template, disclose, distinct_rows


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.integers(2, 9))
def test_only_counts_matter(rng, k):
    table, weights, wanted, options = case(rng)
    del options["max_steps"]
    templates = [Template(*one) for one in wanted]
    weights = [1 + w % 5 for w in weights or [1] * len(table["y"])]
    expected = outcome(nbcfast.Table(table, weights=weights), templates, **options)

    order = rng.sample(range(len(weights)), len(weights))
    shuffled = {name: [values[i] for i in order] for name, values in table.items()}
    assert (
        outcome(nbcfast.Table(shuffled, weights=[weights[i] for i in order]), templates, **options)
        == expected
    )

    repeated = {
        name: [value for value, w in zip(values, weights, strict=True) for _ in range(w)]
        for name, values in table.items()
    }
    assert outcome(nbcfast.Table(repeated), templates, **options) == expected

    beside = {"z": list(range(len(weights))), **table}
    assert outcome(nbcfast.Table(beside, weights=weights), templates, **options) == expected

    if options["utility"] == "information":
        many = outcome(nbcfast.Table(table, weights=[w * k for w in weights]), templates, **options)
        assert many == expected

    renamed = nbcfast.Table(
        {
            name: [f"v{value}" for value in values] if name == "y" else values
            for name, values in table.items()
        },
        weights=weights,
    )
    assert outcome(renamed, templates, **options) == expected


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_a_maximal_table_leaves_nothing_to_disclose(rng):
    table, weights, wanted, options = case(rng)
    options |= {"require_beneficial": False, "continuous": [], "max_steps": None}
    templates = [Template(*one) for one in wanted]
    try:
        found = disclose(nbcfast.Table(table, weights=weights), templates, "y", **options)
    except Infeasible:
        return
    assert all(step.loss >= 0 for step in found.steps)
    state = reference.State(table, wanted, "y", weights, "information", False, ())
    for step in found.steps:
        state.disclosed[step.attribute].add(step.value)
    for name in found.masked:
        for value in found.suppressed[name]:
            assert not state.holds(state.confidences((name, value)))
            template, confidence = found.reasons[name][value]
            assert template.limit < confidence <= 1


@settings(max_examples=50)
@given(st.randoms(use_true_random=False))
def test_more_known_columns_only_raise_a_confidence(rng):
    table, weights, _, _ = case(rng)
    small = Template(["y"], ("s", table["s"][0]), 1)
    large = Template(["y", "t"], ("s", table["s"][0]), 1)
    found = disclose(nbcfast.Table(table, weights=weights), [small, large], utility="distortion", target="y")
    assert found.confidences[small] <= found.confidences[large]


def test_the_smallest_limit_of_the_same_inference_counts():
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "s": [0, 1, 1, 1], "y": [0, 1, 0, 1]}
    templates = [
        Template(["a", "b"], ("s", 1), 1),
        Template(["b", "a"], ("s", 1), "3/4"),
        Template(["a", "b"], ("s", 1), "9/10"),
    ]
    found = disclose(table, templates, "y")
    assert found.templates == (Template(["a", "b"], ("s", 1), "3/4"),)
    assert found.steps == ()


def test_blocks_of_rows_are_merged(monkeypatch):
    rng = np.random.default_rng(6)
    table = nbcfast.Table(
        {name: rng.integers(0, 50, 5_000) for name in ("a", "b", "c", "d")}
        | {"s": rng.integers(0, 3, 5_000), "y": rng.integers(0, 2, 5_000)}
    )
    wanted = [
        Template(["a", "b", "c", "d"], ("s", 1), "2/3"),
        Template(["a", "b"], ("s", 2), "4/5"),
    ]
    expected = outcome(table, wanted)
    monkeypatch.setattr(distinct_rows, "BLOCK_ROWS", 999)
    assert outcome(table, wanted) == expected
    monkeypatch.setattr(distinct_rows, "DENSE_BITS", 0)
    assert outcome(table, wanted) == expected


def renamed(table, rng):
    """The same rows, each value another one of the same order."""
    return {name: [10 * value + 3 for value in values] for name, values in table.items()}


@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_values_are_only_names(rng):
    table, weights, wanted, options = case(rng)
    moved = renamed(table, rng)
    other = [Template(quasi, (name, 10 * value + 3), limit) for quasi, (name, value), limit in wanted]
    own = [Template(*one) for one in wanted]
    options["continuous"] = []
    mine, theirs = (
        outcome(nbcfast.Table(rows_of, weights=weights), given, **options)
        for rows_of, given in ((table, own), (moved, other))
    )
    if isinstance(mine, tuple):
        assert [(s[0], 10 * s[1] + 3, *s[2:5], list(s[5].values())) for s in mine[0]] == [
            (*s[:5], list(s[5].values())) for s in theirs[0]
        ]
    else:
        assert list(mine["confidences"].values()) == list(theirs["confidences"].values())


@pytest.mark.parametrize("library", ["pandas", "categories", "polars", "chunks"])
def test_the_library_that_holds_the_table_does_not_matter(large, library):
    table, wanted = large
    plain = {name: decoded(table, name) for name in table.names}
    if library == "chunks":
        pa = pytest.importorskip("pyarrow")
        given = pa.concat_tables([pa.table(plain).slice(0, 777), pa.table(plain).slice(777)])
    elif library == "polars":
        given = pytest.importorskip("polars").DataFrame(plain)
    else:
        given = pytest.importorskip("pandas").DataFrame(plain)
        if library == "categories":
            given["a"] = given["a"].astype("category").cat.reorder_categories([5, 3, 1, 0, 2, 4])
    assert outcome(given, wanted) == outcome(table, wanted)
