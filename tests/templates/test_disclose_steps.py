"""`disclose` step by step: bit for bit those of the reference."""

import random
from fractions import Fraction

import numpy as np
import pytest
from how_many import how_many
from hypothesis import given, settings
from hypothesis import strategies as st
from template_cases import case, decoded

import nbcfast
from nbcfast import SUPPRESSED, Infeasible, Interval
from nbcfast.reference import templates as reference
from nbcfast.templates import Template, disclose, violations


def same_as_reference(table, weights, wanted, options):
    expected, steps = reference.disclose(table, wanted, "y", weights=weights, **options)
    templates = [Template(*one) for one in wanted]
    private = nbcfast.Table(table, weights=weights)
    if expected is None:
        with pytest.raises(Infeasible) as error:
            disclose(private, templates, "y", **options)
        broken = [found for found, one in zip(steps, reference.merged(wanted), strict=True) if found > one[2]]
        assert list(error.value.best["confidences"].values()) == broken
        return 0
    found = disclose(private, templates, "y", **options)
    mine = [
        (step.attribute, step.value, step.gain, step.loss, step.score, list(step.confidences.values()))
        for step in found.steps
    ]
    assert mine == steps  # floats bit for bit
    assert list(found.confidences.values()) == expected.confidences()
    assert found.masked == tuple(expected.masked)
    assert violations(found.table, templates) == []
    for name in table:
        released = expected.released(name)
        if name in options["continuous"]:
            assert found.table.codes(name).tolist() == released
            low = list(table[name])
            assert all(value in one for value, one in zip(low, decoded(found.table, name), strict=True))
        else:
            assert decoded(found.table, name) == [
                SUPPRESSED if value == reference.BOTTOM else value for value in released
            ]
    if options["max_steps"] is None:
        assert found.complete
    return len(mine)


def test_steps_equal_those_of_the_reference():
    rng = random.Random(1)
    assert sum(same_as_reference(*case(rng)) for _ in range(how_many(600, 3_000))) > how_many(400, 2_000)


@pytest.mark.thorough
def test_steps_equal_those_of_the_reference_on_many_tables():
    rng = random.Random(2)
    assert sum(same_as_reference(*case(rng)) for _ in range(30_000)) > 20_000


@settings(max_examples=settings().max_examples * 2)
@given(st.randoms(use_true_random=False))
def test_hypothesis_finds_no_other_step(rng):
    same_as_reference(*case(rng))


def test_larger_tables_have_histograms_and_the_same_steps():
    """Leaves with many rows, of which histograms are shared, and with few."""
    rng = random.Random(3)
    for size in (150, 400):
        table = {name: [rng.randrange(4) for _ in range(size)] for name in "abcde"}
        table["y"] = [rng.randrange(2) for _ in range(size)]
        table["s"] = [int(rng.random() < 0.3) for _ in range(size)]
        wanted = [(tuple("abcde"), ("s", 1), Fraction(9, 10)), (("a", "b"), ("s", 0), Fraction(3, 4))]
        for continuous in ([], ["a", "d"]):
            options = {"continuous": continuous, "max_steps": 9, "require_beneficial": False}
            assert same_as_reference(table, None, wanted, options) > 4


def test_many_values_and_sensitive_ones():
    """Values with the same counts share their gain, and most candidates are never weighed."""
    rng = random.Random(11)
    done = 0
    for _ in range(30):
        size = rng.randint(20, 60)
        table = {name: [rng.randrange(rng.choice([3, 12, 30])) for _ in range(size)] for name in "abc"}
        table["s"] = [rng.randrange(4) for _ in range(size)]
        table["y"] = [rng.randrange(3) for _ in range(size)]
        wanted = [(tuple("abc"), ("s", value), Fraction(9, 10)) for value in sorted(set(table["s"]))]
        options = {
            "utility": rng.choice(["information", "distortion"]),
            "require_beneficial": rng.random() < 0.5,
            "continuous": [],
            "max_steps": 12,
        }
        done += same_as_reference(table, None, wanted, options)
    assert done > 100


def test_two_values_left_tie_exactly():
    """Both disclosures make the same parts, so the first value wins."""
    table = {"a": ["p", "q"] * 3, "s": [0] * 6, "y": [0, 1, 0, 1, 1, 1]}
    found = disclose(table, [Template(["a"], ("s", 0), 1)], "y")
    assert [step.value for step in found.steps] == ["p"]  # q alone has one class
    table = {"b": [1, 2, 1, 2], "a": [1, 2, 1, 2], "s": [0] * 4, "y": [0, 0, 1, 1]}
    found = disclose(table, [Template(["a", "b"], ("s", 0), 1)], "y")
    assert [(step.attribute, step.value) for step in found.steps[:2]] == [("b", 1), ("b", 2)]


def test_keys_beyond_64_bits_and_many_values():
    rng = np.random.default_rng(5)
    names = [f"c{i}" for i in range(12)]
    table = {name: rng.integers(0, 100, 120) for name in names}
    table["s"] = rng.integers(0, 2, 120)
    table["y"] = rng.integers(0, 2, 120)
    wanted = [Template(names, ("s", 1), "9/10")]
    found = disclose(table, wanted, "y", max_steps=3)
    plain = {name: values.tolist() for name, values in table.items()}
    _, steps = reference.disclose(plain, [(tuple(names), ("s", 1), Fraction(9, 10))], "y", max_steps=3)
    assert [(step.attribute, step.value, step.score) for step in found.steps] == [
        (step[0], step[1], step[4]) for step in steps
    ]
    wide = {"a": np.arange(70_000), "s": np.arange(70_000) % 3, "y": np.arange(70_000) % 2}
    found = disclose(wide, [Template(["a"], ("s", 1), "1/2")], "y", max_steps=2)
    assert len(found.suppressed["a"]) == 69_998
    assert list(found.confidences.values()) == [Fraction(23_333, 69_998)]


def test_continuous_attributes_are_cut():
    table = nbcfast.Table(
        {
            "age": [20.5, 30.0, 40.0, 50.25],
            "s": ["n", "n", "y", "n"],
            "y": [0, 0, 1, 1],
        }
    )
    wanted = [Template(["age"], ("s", "y"), "1/2")]
    found = disclose(table, wanted, "y", continuous=["age"])
    assert [str(step) for step in found.steps] == ["age cut at 40"]
    assert found.intervals["age"] == (Interval(None, 40), Interval(40, None))
    assert decoded(found.table, "age") == [Interval(None, 40)] * 2 + [Interval(40, None)] * 2
    # Without a target the cut that halves the people is best, and then those that halve the halves.
    found = disclose(table, wanted, utility="distortion", continuous=["age"])
    assert [step.value for step in found.steps] == [40, 30]
    assert repr(found).splitlines()[-1] == "  age: 3 intervals"


def test_declared_orders_nulls_and_floats():
    table = nbcfast.Table(
        {"a": [2.0, 1.0, None, 2.0], "s": [0, 1, 0, 0], "y": ["u", "v", "v", "v"]},
        domains={"a": [3.0, 2.0, 1.0, None]},
    )
    found = disclose(table, [Template(["a"], ("s", 1), "1/2")], "y", require_beneficial=False)
    assert [step.value for step in found.steps] == [2.0]
    assert found.suppressed["a"] == (1.0, None)
    assert found.table.domain("a") == (2.0, SUPPRESSED)
    found = disclose(table, [Template(["a"], ("s", 1), 1)], "y", require_beneficial=False)
    assert found.table.domain("a") == (2.0, 1.0, None)
