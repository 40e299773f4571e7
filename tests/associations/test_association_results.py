"""How results read, and bad input, which names its argument."""

import pickle
import subprocess
import sys
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from association_cases import CYCLE, FIGURE_1, MODELS, VIEWS_1, random_table

import nbcfast
from nbcfast import associations
from nbcfast.associations import advise, covers, probability, risk

TWO_VIEWS_OF_NUMBERS = [("i", "a"), ("a", "p")]


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
