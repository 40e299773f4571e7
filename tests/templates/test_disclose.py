"""Top-down disclosure against the reference, its properties, and the files of what it makes."""

import hashlib
import json
import pickle
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Infeasible, Interval, _disclose, verify_release
from nbcfast.reference import templates as reference
from nbcfast.templates import Template, disclose, templates_for, violations
from nbcfast.templates import distinct_rows as rows

LIMITS = [Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(2, 3), Fraction(1, 2), Fraction(1, 3)]


def case(rng):
    """A random table, weights, templates and options."""
    n_rows = rng.randint(1, 30)
    names = "abcd"[: rng.randint(1, 4)]
    table = {name: [rng.randrange(size) for _ in range(n_rows)] for name, size in _sizes(rng, names)}
    table["s"] = [rng.randrange(3) for _ in range(n_rows)]
    table["t"] = [rng.randrange(2) for _ in range(n_rows)]
    n_classes = rng.choice([1, 2, 2, 3])
    table["y"] = [rng.randrange(n_classes) for _ in range(n_rows)]
    order = rng.sample(list(table), len(table))
    table = {name: table[name] for name in order}
    wanted = []
    for _ in range(rng.randint(1, 4)):
        sensitive = rng.choice("st")
        others = [name for name in table if name != sensitive]
        quasi = tuple(rng.sample(others, rng.randint(1, min(4, len(others)))))
        wanted.append((quasi, (sensitive, rng.choice(table[sensitive])), rng.choice(LIMITS)))
    masked = reference.masked(table, reference.merged(wanted), "y")
    weights = None
    if rng.random() < 0.5:
        scale = rng.choice([1, 1, 1 << 33])
        weights = [rng.randint(1, 5) * scale for _ in range(n_rows)]
    options = {
        "utility": rng.choice(["information", "information", "distortion"]),
        "require_beneficial": rng.random() < 0.6,
        "continuous": [name for name in masked if rng.random() < 0.3],
        "max_steps": rng.choice([None, None, None, 2]),
    }
    return table, weights, wanted, options


def _sizes(rng, names):
    return [(name, rng.randint(1, 6)) for name in names]


def decoded(table, name):
    domain = table.domain(name)
    return [domain[code] for code in table.codes(name)]


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
    assert sum(same_as_reference(*case(rng)) for _ in range(3_000)) > 2_000


@pytest.mark.thorough
def test_steps_equal_those_of_the_reference_on_many_tables():
    rng = random.Random(2)
    assert sum(same_as_reference(*case(rng)) for _ in range(30_000)) > 20_000


@settings(max_examples=200)
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


# ------------------------------------------------------------- properties


def outcome(table, templates, **options):
    """Everything that may not depend on how the table is given."""
    try:
        found = disclose(table, templates, "y", **options)
    except Infeasible as error:
        return error.best
    steps = [(s.attribute, s.value, s.gain, s.loss, s.score, s.confidences) for s in found.steps]
    return steps, dict(found.confidences), dict(found.suppressed), dict(found.intervals)


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


def test_keys_beyond_64_bits_and_many_values():
    rng = np.random.default_rng(5)
    names = [f"c{i}" for i in range(12)]
    table = {name: rng.integers(0, 100, 300) for name in names}
    table["s"] = rng.integers(0, 2, 300)
    table["y"] = rng.integers(0, 2, 300)
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
    monkeypatch.setattr(rows, "BLOCK_ROWS", 999)
    assert outcome(table, wanted) == expected
    monkeypatch.setattr(rows, "DENSE_BITS", 0)
    assert outcome(table, wanted) == expected


# ---------------------------------------------------------------- anytime


@pytest.fixture
def large():
    rng = np.random.default_rng(8)
    table = {name: rng.integers(0, 6, 2_000) for name in ("a", "b", "c")}
    table["s"] = rng.integers(0, 4, 2_000)
    table["y"] = rng.integers(0, 2, 2_000)
    return nbcfast.Table(table), [Template(["a", "b", "c"], ("s", 1), "3/4")]


def test_every_prefix_of_the_steps_is_safe(large):
    table, wanted = large
    whole = disclose(table, wanted, "y")
    assert whole.complete
    assert len(whole.steps) > 4
    for n in range(len(whole.steps)):
        part = disclose(table, wanted, "y", max_steps=n)
        assert part.steps == whole.steps[:n]
        assert not part.complete
        assert violations(part.table, wanted) == []
    calls = []

    def stop(done, most):
        calls.append((done, most))
        return done < 3

    part = disclose(table, wanted, "y", progress=stop)
    assert calls == [(0, 18), (1, 18), (2, 18), (3, 18)]
    assert (part.steps, part.complete) == (whole.steps[:3], False)


def test_ctrl_c_leaves_a_safe_table(large):
    table, wanted = large

    def interrupt(done, most):
        if done == 2:
            raise KeyboardInterrupt

    found = disclose(table, wanted, "y", progress=interrupt)
    assert (len(found.steps), found.complete) == (2, False)
    assert violations(found.table, wanted) == []
    assert "stopped" in repr(found)


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


# ----------------------------------------------------------------- kernel


def test_the_kernel_refuses_what_would_hurt_it():
    codes = [np.array([0, 1, 2], np.uint8)]
    bits = [np.array([0, 1], np.uint64)]
    with pytest.raises(ValueError, match="expected codes below 2 in column 0"):
        _disclose.distinct(codes, bits, 0, 3, None, 1)
    with pytest.raises(ValueError, match=r"rows: expected a part of 0..3, got 0..4"):
        _disclose.distinct(codes, bits, 0, 4, None, 1)
    with pytest.raises(ValueError, match="weights: expected 3, got 1"):
        _disclose.distinct(codes, bits, 0, 2, np.ones(1, np.int64), 1)
    with pytest.raises(TypeError, match="expected uint8, uint16 or uint32, got int64"):
        _disclose.distinct([np.zeros(1, np.int64)], bits, 0, 1, None, 1)
    with pytest.raises(ValueError, match="table: expected room for key 1, got 1"):
        _disclose.tally(codes, bits, 0, 2, None, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="n_bits"):
        _disclose.merged(np.zeros(1, np.uint64), None, 65)
    with pytest.raises(ValueError, match="totals: expected 2, got 1"):
        _disclose.merged(np.zeros(2, np.uint64), np.zeros(1, np.uint64), 1)
    with pytest.raises(ValueError, match="out: expected shape"):
        _disclose.unpacked(
            np.zeros(2, np.uint64), np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros((1, 1), np.uint16)
        )


def part(**changes):
    arguments = {
        "attributes": [0],
        "codes": np.array([[0], [1]], np.uint16),
        "marks": np.array([[0], [1]], np.uint16),
        "hits": 1,
        "weights": np.ones(2, np.uint32),
        "groups": np.zeros(2, np.uint32),
        "n_groups": 1,
    }
    return tuple((arguments | changes).values())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"codes": np.array([[0], [2]], np.uint16)}, "expected codes below 2 in column 0"),
        ({"marks": np.array([[0], [2]], np.uint16)}, "expected marks up to 1, got 2"),
        ({"groups": np.ones(2, np.uint32)}, "expected groups below 1, got 1"),
        ({"attributes": [1]}, "expected attributes below 1, got 1"),
        ({"weights": np.ones(1, np.uint32)}, "expected arrays of 2 rows"),
        ({"hits": 0}, "expected sensitive values, got none"),
    ],
)
def test_the_kernel_refuses_bad_parts(changes, text):
    counts = [np.ones((2, 2), np.int64)]
    with pytest.raises(ValueError, match=text):
        _disclose.Disclosing(counts, [False], [part(**changes)], [(0, 0, 1, 1)], False, False, True)


def test_the_kernel_refuses_bad_templates_and_counts():
    counts = [np.ones((2, 2), np.int64)]
    for template in ((1, 0, 1, 1), (0, 1, 1, 1), (0, 0, 1, 0)):
        with pytest.raises(ValueError, match="template 0: expected a part"):
            _disclose.Disclosing(counts, [False], [part()], [template], False, False, True)
    with pytest.raises(ValueError, match="counts: expected values and classes"):
        _disclose.Disclosing([np.ones((0, 2), np.int64)], [False], [], [], False, False, True)
    search = _disclose.Disclosing(counts, [False], [part()], [(0, 0, 1, 1)], False, False, True)
    with pytest.raises(ValueError, match="expected an attribute and a value"):
        search.breaks(0, 2)
    assert [search.step(), search.step(), search.step()] == [True, True, False]


# ------------------------------------------------------------------ files


@pytest.fixture
def found():
    table = nbcfast.Table(
        {
            "job": ["cook", "a, b", None, "cook", "clerk", "clerk"],
            "age": [20, 31, 42, 53, 64, 75],
            "ill": ["no", "no", "no", "yes", "no", "yes"],
            "y": [True, False, True, False, True, False],
        }
    )
    return disclose(table, [Template(["job", "age"], ("ill", "yes"), "1/2")], "y", continuous=["age"])


@pytest.mark.parametrize(
    "options", [{}, {"weights": "n"}, {"order": "shuffled"}, {"order": "shuffled", "weights": "n"}]
)
def test_what_is_saved_can_be_loaded_and_verified(found, tmp_path, options):
    found.save(tmp_path / "out", **options)
    checked = nbcfast.verify(tmp_path / "out")
    assert checked.ok, checked
    assert [check.name for check in checked.checks] == ["file", "folder", "table", "rows", "template 1"]
    loaded = nbcfast.load(tmp_path / "out")
    assert loaded.table == found.collapsed
    assert loaded.confidences == found.confidences
    assert (loaded.masked, loaded.target, loaded.utility) == (found.masked, "y", "information")
    assert loaded.intervals == found.intervals
    assert loaded.suppressed is None
    assert checked.disclosure.table == loaded.table
    assert verify_release.main([str(tmp_path / "out")]) == 0
    loaded.save(tmp_path / "again")
    found.save(tmp_path / "first")
    for name in ("table.csv", "certificate.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()


def test_the_files_do_not_depend_on_the_order_of_rows(tmp_path, large):
    table, wanted = large
    order = np.random.default_rng(1).permutation(table.n_rows)
    for name, one in (("a", table), ("b", table.take(order))):
        disclose(one, wanted, "y").save(tmp_path / name)
    for name in ("table.csv", "certificate.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_suppressed_values_are_in_no_file(tmp_path):
    table = nbcfast.Table({"job": ["cook", "cook", "spy"], "ill": ["no", "no", "yes"], "y": [0, 1, 0]})
    found = disclose(table, [Template(["job"], ("ill", "yes"), "1/3")], "y")
    assert found.suppressed["job"] == ("cook", "spy")
    found.save(tmp_path)
    for path in tmp_path.iterdir():
        assert b"spy" not in path.read_bytes()


def test_verify_release_needs_nothing_but_itself(found, tmp_path):
    found.save(tmp_path / "out")
    script = Path(verify_release.__file__)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(tmp_path / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "template 1     job, age -> ill='yes': 1/2 <= 1/2" in done.stdout


def forged(folder, change=None, table=None):
    """The files with other fields or another table, the hashes made to fit."""
    path = folder / "certificate.json"
    document = json.loads(path.read_text())
    if table is not None:
        (folder / "table.csv").write_text(table(Path(folder, "table.csv").read_text()))
        document["table_sha256"] = hashlib.sha256((folder / "table.csv").read_bytes()).hexdigest()
    if change is not None:
        change(document)
    document["sha256"] = verify_release.digest(document)
    path.write_text(verify_release.canonical_json(document) + "\n")


def template_with(**fields):
    return lambda document: document["templates"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "table", "text"),
    [
        (template_with(limit="1/3"), None, "1/2 > 1/3"),
        (template_with(confidence="1/3"), None, "; the certificate says 1/3"),
        (
            None,
            lambda text: "".join([*text.splitlines(True)[:1], *text.splitlines(True)[:0:-1]]),
            "not in order",
        ),
        (
            None,
            lambda text: text + text.splitlines()[-1] + "\n",
            "7 people in 6 distinct rows; the certificate says 6",
        ),
        (None, lambda text: text.replace("yes", "maybe", 1), "'maybe' is no value of 'ill'"),
        (None, lambda text: text.replace("True", "True,1", 1), "has 5 fields, expected 4"),
        (None, lambda text: text.replace("ill", "well", 1), "expected the columns"),
        (None, lambda text: text.splitlines()[0] + "\n", "table.csv has no rows"),
        (lambda d: d.update(utility="none"), None, "field 'utility': expected one of"),
        (lambda d: d.update(format=2), None, "field 'format': expected 1, got 2"),
        (lambda d: d.update(extra=1), None, "field 'extra' is unknown"),
        (lambda d: d.pop("rows"), None, "field 'rows' is missing"),
        (lambda d: d.update(templates=[]), None, "field 'templates': expected a list"),
        (lambda d: d.update(masked=["x"]), None, "expected names of columns"),
        (lambda d: d.update(weights="ill"), None, "expected distinct names of columns"),
        (lambda d: d.update(seeded=0), None, "field 'seeded': expected true or false"),
        (template_with(value=["text", "maybe"]), None, "expected a value of 'ill'"),
        (template_with(attribute="job"), None, "expected distinct columns"),
        (template_with(quasi=["town"]), None, "expected names of columns"),
        (template_with(limit="3/2"), None, "up to 1"),
        (
            lambda d: d["columns"][2]["cells"][0].__setitem__(0, "yes"),
            None,
            "expected distinct texts",
        ),
        (
            lambda d: d["columns"][2]["cells"][0].__setitem__(0, "nay"),
            None,
            "expected the text 'no' of 'no', got 'nay'",
        ),
    ],
)
def test_forged_files_are_found_out(found, tmp_path, change, table, text):
    found.save(tmp_path)
    forged(tmp_path, change, table)
    checked = nbcfast.verify(tmp_path)
    assert not checked.ok
    assert re.search(text, repr(checked)), checked
    with pytest.raises(ValueError, match=text):
        nbcfast.load(tmp_path)
    assert verify_release.main([str(tmp_path)]) == 1


def test_changed_and_missing_files_are_found_out(found, tmp_path):
    found.save(tmp_path)
    path = tmp_path / "table.csv"
    data = path.read_bytes()
    path.write_bytes(data + b"\n")
    with pytest.raises(ValueError, match=r"the sha256 of table.csv does not match: it was changed"):
        nbcfast.load(tmp_path)
    path.unlink()
    assert not nbcfast.verify(tmp_path).ok
    path.write_bytes(data)
    certificate = tmp_path / "certificate.json"
    certificate.write_text(certificate.read_text().replace('"rows":6', '"rows":7'))
    with pytest.raises(ValueError, match="sha256 does not match, the file was changed"):
        nbcfast.load(tmp_path)


def test_a_disclosure_is_no_release(found, tmp_path):
    found.save(tmp_path)
    with pytest.raises(ValueError, match="expected 'release'; got \"disclosure\""):
        verify_release.parse((tmp_path / "certificate.json").read_bytes())
    with pytest.raises(TypeError, match="kind 'disclosure' is checked from its own files alone"):
        nbcfast.verify(tmp_path, found.table)


def test_what_cannot_be_saved_leaves_nothing(found, tmp_path):
    broken = type(found)(
        found.table,
        (Template(["job"], ("ill", "yes"), 0),),
        {},
        found.masked,
        found.target,
        found.utility,
    )
    with pytest.raises(ValueError, match="not saved: job -> ill=yes <= 0 has a confidence of"):
        broken.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="weights: expected the name of a new column, got 'job'"):
        found.save(tmp_path / "out", weights="job")
    with pytest.raises(ValueError, match="order must be 'canonical' or 'shuffled', got 'sorted'"):
        found.save(tmp_path / "out", order="sorted")
    with pytest.raises(ValueError, match="rng goes with order='shuffled'"):
        found.save(tmp_path / "out", rng=np.random.default_rng())
    assert not (tmp_path / "out").exists()


def test_the_star_of_a_value_is_no_suppression(tmp_path):
    table = nbcfast.Table({"a": ["*", "*", "x", "z"], "s": [0, 0, 1, 0], "y": [0, 0, 0, 1]})
    made = disclose(table, [Template(["a"], ("s", 1), "1/2")], "y", utility="distortion", max_steps=1)
    assert made.table.domain("a") == ("*", SUPPRESSED)
    with pytest.raises(ValueError, match=r"holds the text '\*' of SUPPRESSED"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_parquet_beside_the_table(found, tmp_path):
    pytest.importorskip("pyarrow")
    found.save(tmp_path, parquet=True)
    assert nbcfast.read_parquet(tmp_path / "table.parquet").n_rows == 6


# ------------------------------------------- what the library says of itself


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


@pytest.mark.parametrize("say", [lambda done: False, lambda done: np.False_])
def test_progress_may_stop_before_the_first_step(large, say):
    table, wanted = large
    found = disclose(table, wanted, "y", progress=lambda done, most: say(done))
    assert (found.steps, found.complete) == ((), False)
    assert violations(found.table, wanted) == []
    assert set(found.table.domain("a")) == {SUPPRESSED}


def test_ctrl_c_before_the_first_step(large, monkeypatch):
    """Once it is known that the templates can hold there is a table; before, nobody can tell."""
    table, wanted = large

    def interrupt(*_):
        raise KeyboardInterrupt

    found = disclose(table, wanted, "y", progress=interrupt)
    assert (found.steps, found.complete) == ((), False)
    assert violations(found.table, wanted) == []
    monkeypatch.setattr(rows._disclose, "distinct", interrupt)
    monkeypatch.setattr(rows._disclose, "tally", interrupt)
    with pytest.raises(KeyboardInterrupt):
        disclose(table, wanted, "y")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"target": "Nope"}, ValueError, "target: expected a column of 'a', .*; got 'Nope'"),
        ({"target": 3}, ValueError, "target: expected a column of .*; got 3"),
        ({"continuous": 5}, TypeError, "continuous must be a sequence of column names, got 5"),
        ({"continuous": None}, TypeError, "continuous must be a sequence of column names, got None"),
        ({"progress": 5}, TypeError, "progress must be callable or None, got 5"),
        ({"require_beneficial": "no"}, TypeError, "require_beneficial must be True or False, got 'no'"),
        ({"utility": np.array(["x", "y"])}, ValueError, "utility must be one of"),
    ],
)
def test_bad_options_are_named(large, options, error, text):
    table, wanted = large
    with pytest.raises(error, match=text):
        disclose(table, wanted, **({"target": "y"} | options))


def test_bad_values_of_templates_are_named():
    with pytest.raises(TypeError, match="quasi must be a sequence of column names, got None"):
        templates_for(None, "s", [1], 1)
    with pytest.raises(TypeError, match="values must be a sequence of values, got b'yn'"):
        templates_for(["a"], "s", b"yn", 1)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"hits": 2**61}, "expected at most 65535 sensitive values"),
        ({"n_groups": 2**63}, "expected 1..2 groups"),
        ({"n_groups": 0}, "expected 1..2 groups"),
        ({"attributes": [0, 0], "codes": np.zeros((2, 2), np.uint16)}, "expected different attributes"),
    ],
)
def test_the_kernel_refuses_sizes_that_are_none(changes, text):
    counts = [np.ones((2, 2), np.int64)]
    with pytest.raises(ValueError, match=text):
        _disclose.Disclosing(counts, [False], [part(**changes)], [(0, 0, 1, 1)], False, False, True)


def test_the_kernel_keeps_what_it_reads():
    counts = [np.array([[900, 100], [100, 900]], np.int64)]
    with pytest.raises(ValueError, match="continuous: expected 1, got 0"):
        _disclose.Disclosing(counts, [], [part()], [(0, 0, 1, 1)], False, False, True)
    parts = [part()]
    search = _disclose.Disclosing(counts, [False], parts, [(0, 0, 1, 1)], False, False, True)
    counts.clear()
    parts.clear()
    junk = [np.zeros((2, 2), np.int64) for _ in range(2_000)]
    assert search.step()
    assert search.steps[0][2] == pytest.approx(0.531, abs=1e-3)
    assert len(junk) == 2_000


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


# ------------------------------------------------------------- deFinetti


def test_definetti_of_a_disclosure():
    """Groups are equal released rows; who knows the exact values learns a model across them."""
    from nbcfast.attack import definetti

    rng = np.random.default_rng(2)
    smokes = rng.integers(0, 2, 400)
    ill = np.where(rng.random(400) < 0.9, smokes, 1 - smokes)
    table = nbcfast.Table({"town": rng.integers(0, 8, 400), "smokes": smokes, "ill": ill, "beside": ill})
    made = disclose(table, [Template(["town", "smokes"], ("ill", 1), "4/5")], utility="distortion")
    assert made.suppressed["smokes"]
    private = table.select(["town", "smokes", "ill"])
    released = made.table.select(["town", "smokes", "ill"])

    direct = definetti(private, made)
    assert direct.to_dict() == definetti(private, made.group_ids, "ill").to_dict()
    assert direct.accuracy > direct.baseline + 0.1
    # Who knows no more than the table finds no more than its groups.
    for found in (definetti(made), definetti(released, sensitive="ill"), definetti(made, made)):
        assert found.accuracy == found.baseline == direct.baseline
    with pytest.raises(TypeError, match="sensitive must be the name of a column, got None"):
        definetti(private, made.group_ids)


def test_definetti_takes_a_sensitive_column_that_is_known_elsewhere():
    from nbcfast.attack import definetti

    rng = np.random.default_rng(4)
    table = {name: rng.integers(0, 3, 300) for name in ("a", "s", "t")}
    made = disclose(
        table,
        [Template(["a", "t"], ("s", 1), "1/2"), Template(["a", "s"], ("t", 1), "1/2")],
        utility="distortion",
    )
    with pytest.raises(ValueError, match="sensitive: expected one of 's', 't'; got None"):
        definetti(made)
    found = definetti(table, made, "s")
    groups = {}
    for key in zip(decoded(made.table, "a"), table["t"].tolist(), table["s"].tolist(), strict=True):
        counts = groups.setdefault(key[:2], {})
        counts[key[2]] = counts.get(key[2], 0) + 1
    assert found.baseline == sum(max(counts.values()) for counts in groups.values()) / 300
