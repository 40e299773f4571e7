"""What a plain model gives away: held against tables that are listed, and against a model that people run."""

import itertools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from how_many import how_many
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nbcfast
from nbcfast import attack
from nbcfast.attack.of_models import ALPHAS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KNOWN = st.sampled_from(["1", "1/2", "2", "0.1", "1e-10", "3.75"])


def fitted(counts, alpha, kind=np.float64, prior=None):
    """A model of counts (values, classes), as scikit-learn computes it."""
    arrays = [np.asarray(array, np.float64).T + float(Fraction(alpha)) for array in counts]
    of_class = np.asarray(counts[0]).sum(axis=0)
    with np.errstate(divide="ignore"):
        prior = np.log(of_class) - np.log(of_class.sum()) if prior is None else np.log(prior)
        logs = [np.log(array) - np.log(array.sum(axis=1, keepdims=True)) for array in arrays]
    return SimpleNamespace(
        class_log_prior_=prior.astype(kind), feature_log_prob_=[array.astype(kind) for array in logs]
    )


@st.composite
def tables(draw, most=40):
    """Counts of attributes that add up to the same rows of each class."""
    n_classes = draw(st.integers(1, 3))
    of_class = draw(st.lists(st.integers(1, most), min_size=n_classes, max_size=n_classes))
    counts = []
    for size in draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)):
        columns = []
        for rows in of_class:
            cuts = sorted(draw(st.lists(st.integers(0, rows), min_size=size - 1, max_size=size - 1)))
            columns.append(np.diff([0, *cuts, rows]))
        counts.append(np.array(columns).T)
    return counts


def possible_rows(model, alpha, max_rows):
    """Numbers of rows of each class, up to `max_rows` in all, some counts of which give these floats."""
    kind, added = model.class_log_prior_.dtype, float(Fraction(alpha))
    of_class = [[] for _ in model.class_log_prior_]
    for c, rows in itertools.product(range(len(of_class)), range(1, max_rows + 1)):
        made = []
        for logs in model.feature_log_prob_:
            column = np.arange(rows + 1) + added
            own = (np.log(column) - np.log(rows + added * logs.shape[1])).astype(kind)
            made.append([set(np.flatnonzero(np.isclose(own, log, 1e-12, 1e-12))) for log in logs[c]])
        if all(all(cells) and min(map(sum, itertools.product(*cells))) <= rows for cells in made):
            of_class[c].append(rows)
    return [
        rows
        for rows in itertools.product(*of_class)
        if sum(rows) <= max_rows
        and np.allclose(np.log(rows) - np.log(sum(rows)), model.class_log_prior_, 1e-6, 1e-6)
    ]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@given(tables(), KNOWN)
def test_what_is_found_is_the_table(kind, counts, alpha):
    found = attack.model(fitted(counts, alpha, kind), alpha=alpha, max_rows=300)
    of_class = counts[0].sum(axis=0).tolist()
    assert found.possible
    if found.rows is None:
        assert len(found.possible) == 2
        return
    assert (found.rows, found.alpha, list(found.class_counts)) == (sum(of_class), Fraction(alpha), of_class)
    assert found.prior_is_shares or len(set(of_class)) == 1
    assert not found.up_to_factor
    for array, own, candidates in zip(counts, found.counts.values(), found.candidates.values(), strict=True):
        assert (own[own >= 0] == array[own >= 0]).all()
        assert ((own >= 0) == (candidates == 1)).all()


@given(tables(most=7), st.sampled_from(["1", "1/2"]))
def test_one_table_alone_is_found_where_one_alone_has_the_floats(counts, alpha):
    """In small tables the intervals hold what computes to the same floats, and nothing else."""
    model = fitted(counts, alpha, np.float32)
    of_class = tuple(counts[0].sum(axis=0).tolist())
    listed = possible_rows(model, alpha, 30)
    assert of_class in listed
    assume(len(of_class) == 1 or len(set(of_class)) > 1)  # equal priors need not be of equal classes
    found = attack.model(model, alpha=alpha, max_rows=30)
    assert found.class_counts == (of_class if len(listed) == 1 else (None,) * len(of_class))
    if found.rows:
        assert found.found == found.cells == sum(array.size for array in counts)


@settings(max_examples=how_many(12, 200))
@given(tables(), st.sampled_from([alpha for alpha in map(str, ALPHAS) if alpha != "0"]))
def test_an_alpha_that_is_not_known_is_found_up_to_a_factor(counts, alpha):
    found = attack.model(fitted(counts, alpha), max_rows=200)
    assert found.possible
    if found.rows is not None:
        assert found.up_to_factor
        factor = Fraction(sum(counts[0].ravel().tolist()), found.rows)
        assert found.alpha * factor == Fraction(alpha)
        for array, own in zip(counts, found.counts.values(), strict=True):
            assert (own * factor == array)[own >= 0].all()


def test_larger_tables_may_have_the_very_same_shares():
    """(3 + 1) / 22 is (79 + 1) / 440: smoothed shares of 34 rows are those of 782, priors included."""
    model = fitted([np.array([[3, 8], [11, 2], [5, 5]])], 1)
    assert attack.model(model, alpha=1, max_rows=781).rows == 34
    both = attack.model(model, alpha=1, max_rows=782)
    assert (both.rows, both.found, both.possible) == (None, 0, ((34, 1), (782, 1)))
    smallest = attack.model(model, alpha=1)
    assert (smallest.rows, smallest.found, smallest.max_rows) == (34, 6, 781)
    assert smallest.possible == both.possible


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@settings(max_examples=how_many(4, 300))
@given(tables(), KNOWN)
def test_the_smallest_table_is_the_only_one_up_to_what_is_said(kind, counts, alpha):
    model = fitted(counts, alpha, kind)
    found = attack.model(model, alpha=alpha)
    if found.rows is None:
        (rows, _), (other, _) = found.possible
        assert other <= 2 * rows
        return
    if found.max_rows >= counts[0].sum():
        assert list(found.class_counts) == counts[0].sum(axis=0).tolist()
        for array, own in zip(counts, found.counts.values(), strict=True):
            assert (own[own >= 0] == array[own >= 0]).all()
    again = attack.model(model, alpha=alpha, max_rows=found.max_rows)
    assert (again.to_dict()["counts"], again.rows) == (found.to_dict()["counts"], found.rows)
    if len(found.possible) > 1:
        assert found.max_rows == found.possible[1][0] - 1
        assert attack.model(model, alpha=alpha, max_rows=found.max_rows + 1).rows is None


def test_a_second_table_that_is_nearly_as_small_leaves_it_open():
    """(1 + 1) / 4 and (2 + 1) / 6 are one half: of two rows, or of four."""
    found = attack.model(fitted([np.array([[1], [1]])], 1), alpha=1)
    assert (found.rows, found.found) == (None, 0)
    assert found.possible == ((2, 1), (4, 1))


@given(tables(most=12))
def test_without_smoothing_counts_are_found_up_to_a_factor(counts):
    divisor = math.gcd(*(n for array in counts for n in array.ravel().tolist()))
    found = attack.model(fitted(counts, 0), alpha=0, max_rows=100)
    of_class = counts[0].sum(axis=0)
    if len(of_class) > 1 and len(set(of_class.tolist())) == 1:  # any number of each, with fit_prior=False
        assert (found.rows, len(found.possible)) == (None, 2)
        for array, own in zip(counts, found.counts.values(), strict=True):
            assert ((own == 0) == (array == 0)).all()
        return
    assert found.rows == counts[0].sum() // divisor
    assert found.up_to_factor == (2 * found.rows <= 100)
    assert [array.tolist() for array in found.counts.values()] == [
        (array // divisor).tolist() for array in counts
    ]


@given(tables(), KNOWN, st.sampled_from([np.float64, np.float32]))
def test_equal_priors_need_not_be_shares(counts, alpha, kind):
    """Those of any table with fit_prior=False, and of an even one: what is found is true of both."""
    n_classes = counts[0].shape[1]
    model = fitted(counts, alpha, kind, prior=np.full(n_classes, 1 / n_classes))
    found = attack.model(model, alpha=alpha, max_rows=100)
    assert found.possible
    if found.rows is not None:
        assert list(found.class_counts) == counts[0].sum(axis=0).tolist()
        for array, own in zip(counts, found.counts.values(), strict=True):
            assert (own == array)[own >= 0].all()


def test_equal_priors_of_three_people_are_not_those_of_52():
    """One and two rows leave 26 and 26 among others, which the priors would have as the only table."""
    model = fitted([np.array([[1, 0], [0, 1], [0, 1], [0, 0]])], 1, np.float32, prior=[0.5, 0.5])
    found = attack.model(model, alpha=1, max_rows=100)
    assert (found.rows, found.found, found.prior_is_shares) == (None, 0, False)


def test_equal_priors_of_an_even_table_are_shares_where_nothing_else_fits():
    counts = [np.array([[5, 2], [1, 0], [1, 5]]), np.array([[3, 1], [4, 6]])]
    found = attack.model(fitted(counts, 1), alpha=1, max_rows=20)
    assert (found.rows, found.found, found.prior_is_shares) == (14, 10, True)


def test_what_is_found_is_the_only_table_of_as_many_rows_as_were_asked_for():
    """Priors of 16 bits cannot tell each number above some 2,000; of those below 1,594 alone fits."""
    counts = [np.array([[3169, 2713], [1584, 1407], [1622, 1416], [782, 672], [819, 670]])]
    found = attack.model(fitted(counts, 0, np.float16), alpha=0, max_rows=20_000)
    assert (found.rows, found.found, found.max_rows) == (None, 0, 20_000)


def test_nobody_is_no_table():
    """One value says nothing of the rows: none at all would be its only table, of which all are multiples."""
    for prior in ([0.5, 0.5], [0.3, 0.7]):
        for options in ({}, {"max_rows": 50}):
            model = fitted([np.array([[80, 106]])], "3.3", prior=prior)
            found = attack.model(model, alpha="3.3", **options)
            assert found.rows != 0
            assert all(rows >= 1 for rows, _ in found.possible)


@given(tables(), st.sampled_from([np.float64, np.float32]))
def test_priors_that_were_given_say_nothing(counts, kind):
    n_classes = counts[0].shape[1]
    given = np.sqrt(np.arange(2, n_classes + 2))
    model = fitted(counts, 1, kind, prior=given / given.sum())
    found = attack.model(model, alpha=1, max_rows=100)
    assert found.possible
    assert found.prior_is_shares == (n_classes == 1)
    if found.rows is not None:
        assert list(found.class_counts) == counts[0].sum(axis=0).tolist()


def patients():
    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    return nbcfast.count(table, "diagnosis")


@pytest.mark.parametrize(
    ("kind", "prior", "alpha"),
    [
        (np.float64, None, "1"),
        (np.float32, None, "1"),
        (np.float32, [0.5, 0.5], "1"),
        (np.float16, None, "1"),
    ],
)
def test_patients_come_back(kind, prior, alpha):
    views = patients()
    model = fitted(list(views.counts.values()), alpha, kind, prior)
    found = attack.model(model, alpha=alpha)
    if kind is np.float16:  # three digits: nothing
        assert (found.rows, found.found, len(found.possible)) == (None, 0, 2)
        assert repr(found).startswith("ModelAttack(several numbers of rows fit; 0 of 64 counts")
        return
    assert found.bits == np.dtype(kind).itemsize * 8
    assert (found.rows, found.class_counts) == (5_000, (2_014, 2_986))
    assert (found.found, found.cells, found.zeros_found) == (64, 64, 2)
    assert found.prior_is_shares == (prior is None)
    for array, own in zip(views.counts.values(), found.counts.values(), strict=True):
        assert own.tolist() == array.tolist()
    as_double = fitted(list(views.counts.values()), alpha, kind, prior)
    as_double.feature_log_prob_ = [array.astype(np.float64) for array in as_double.feature_log_prob_]
    as_double.class_log_prior_ = as_double.class_log_prior_.astype(np.float64)
    assert attack.model(as_double, alpha=alpha).to_dict() == found.to_dict()


def test_a_count_that_floats_do_not_tell_has_candidates():
    """Three million rows in 32 bits: small counts come back, large ones are among several."""
    counts = [np.array([[5, 1], [1_200_000, 999_999], [299_995, 500_000]])]
    found = attack.model(fitted(counts, 1, np.float32), alpha=1, max_rows=3_000_000)
    if found.rows is None:
        assert len(found.possible) == 2
    exact = attack.model(fitted(counts, 1), alpha=1, max_rows=3_000_000)
    assert exact.rows == 3_000_000
    assert exact.counts["x0"].tolist() == counts[0].tolist()
    assert found.max_rows <= exact.max_rows == 3_000_000


def test_a_value_that_no_row_of_a_class_has_stays_one_without_an_answer():
    """Without smoothing 0 is 0, whatever else the floats leave open."""
    model = fitted([np.array([[0, 3], [4, 1]])], 0, prior=np.array([1, math.sqrt(2)]) / (1 + math.sqrt(2)))
    found = attack.model(model, alpha=0, max_rows=50)
    assert (found.rows, found.found, found.zeros_found) == (None, 1, 1)
    assert found.counts["x0"].tolist() == [[0, -1], [-1, -1]]
    assert found.candidates["x0"].tolist() == [[1, 51], [51, 51]]
    assert found.to_dict()["counts"] == {"x0": [[0, None], [None, None]]}
    assert [rows for rows, _ in found.possible] == [5, 6]


def test_another_alpha_than_was_added_fits_no_table():
    found = attack.model(fitted([np.array([[3, 8], [11, 2], [5, 5]])], 1), alpha="0.3", max_rows=500)
    assert (found.rows, found.found, found.possible, found.prior_is_shares) == (None, 0, (), False)
    assert repr(found).startswith("ModelAttack(nothing fits; 0 of 6 counts")


def test_a_fitted_classifier_is_attacked_by_its_logarithms_alone():
    bayes = pytest.importorskip("sklearn.naive_bayes")
    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    names = [name for name in table.names if name != "diagnosis"]
    codes = np.array([table.codes(name) for name in names]).T
    model = bayes.CategoricalNB().fit(codes, np.array(table.domain("diagnosis"))[table.codes("diagnosis")])
    first = attack.model(model, alpha=1)
    assert (first.found, first.classes) == (64, ("diabetes", "healthy"))
    assert first.in_plain == ("class_count_", "category_count_", "alpha")
    model.class_count_, model.category_count_, model.alpha = None, None, None
    assert attack.model(model, alpha=1).to_dict() == first.to_dict()
    model.feature_names_in_ = np.array(names)
    assert tuple(attack.model(model, alpha=1).counts) == tuple(names)


def test_steps_are_told():
    told = []
    views = patients()
    attack.model(fitted(list(views.counts.values()), 1), alpha=1, progress=lambda *done: told.append(done))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_results_are_plain_and_pickled():
    found = attack.model(fitted([np.array([[3, 8], [11, 2], [5, 5]])], 1), alpha=1, max_rows=500)
    assert json.loads(json.dumps(found.to_dict()))["counts"] == {"x0": [[3, 8], [11, 2], [5, 5]]}
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    with pytest.raises(TypeError):
        found.counts["x0"] = None


GOOD = fitted([np.array([[3, 8], [11, 2]])], 1)
NAN = np.log(np.array([[np.nan, 0.5], [0.5, 0.5]]))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (SimpleNamespace(fit=None), ValueError, "without class_log_prior_ and feature_log_prob_"),
        (SimpleNamespace(fit=None, class_log_prior_=1), ValueError, "without feature_log_prob_"),
        (3, TypeError, "fitted CategoricalNB or the path of an ONNX file, got int"),
        (SimpleNamespace, TypeError, "the path of an ONNX file, got <class"),
        (
            SimpleNamespace(class_log_prior_=GOOD.class_log_prior_, feature_log_prob_=np.zeros((2, 2))),
            TypeError,
            "got SimpleNamespace",
        ),
        (
            SimpleNamespace(class_log_prior_=GOOD.class_log_prior_, feature_log_prob_=[NAN]),
            ValueError,
            "model: x0 must be logarithms of probabilities that add up to 1 in each class",
        ),
        (
            SimpleNamespace(class_log_prior_=GOOD.class_log_prior_, feature_log_prob_=[np.zeros((3, 1))]),
            ValueError,
            r"model: x0 must be of 2 classes, got shape \(1, 3\)",
        ),
        (
            SimpleNamespace(class_log_prior_=np.array([1, 2]), feature_log_prob_=[NAN]),
            ValueError,
            "model: the prior must be floats, got int64",
        ),
        (
            SimpleNamespace(class_log_prior_=GOOD.class_log_prior_, feature_log_prob_=[]),
            ValueError,
            "model must have a prior for each class, and at least one attribute",
        ),
        (
            SimpleNamespace(
                class_log_prior_=GOOD.class_log_prior_,
                feature_log_prob_=GOOD.feature_log_prob_ * 2,
                feature_names_in_=["a", "a"],
            ),
            ValueError,
            "model must have 2 attributes of different names",
        ),
    ],
)
def test_what_is_no_fitted_model_is_refused(model, error, message):
    with pytest.raises(error, match=message):
        attack.model(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1}, "alpha must be from 0 to 1,000,000, got -1"),
        ({"alpha": 10**7}, "alpha must be from 0 to"),
        ({"alpha": "x"}, "alpha must be a finite number, got 'x'"),
        ({"max_rows": 0}, "max_rows must be 1..1000000000, got 0"),
        ({"max_rows": 2 * 10**9}, "max_rows must be 1..1000000000, got 2000000000"),
    ],
)
def test_arguments_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        attack.model(GOOD, **options)


def test_no_alpha_is_tried_twice():
    assert len(set(ALPHAS)) == len(ALPHAS) == 514
    assert ALPHAS[0] == 1
    assert {0, Fraction(1, 2), Fraction(1, 10**10), 99} <= set(ALPHAS)


def test_where_an_estimator_has_its_model_is_said():
    held = {
        "steps": "got a Pipeline without .* give its last step",
        "best_estimator_": "of a search give its best_estimator_",
        "release_": "what its release gives away compare_releases measures",
    }
    for name, match in held.items():
        kind = type("Pipeline", (), {"fit": None, name: None})
        with pytest.raises(ValueError, match=match):
            attack.model(kind())
