"""`DisguisedNBClassifier`: fitted on disguised answers, asked about plain rows."""

import copy
import gc
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import Table, response

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, TransformerMixin, clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict  # noqa: E402
from sklearn.naive_bayes import BernoulliNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils import get_tags  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from nbcfast.sklearn import DisguisedNBClassifier  # noqa: E402

# A coin for the class alone, and one for a column besides, of which the checks then hold values and no bins.
CHECKED = [
    DisguisedNBClassifier({"class": "4/5"}),
    DisguisedNBClassifier({"x0": "4/5", "class": "9/10"}, method="em"),
]
KNOWN = {"1.6": 54, "1.9": 54}  # checks of one estimator
names, checks = (mark := parametrize_with_checks(CHECKED)).args
CHECKS = list(checks)


def test_every_check_is_there():
    version = ".".join(sklearn.__version__.split(".")[:2])
    assert len(CHECKS) == len(CHECKED) * KNOWN.get(version, len(CHECKS) // len(CHECKED))
    assert len(CHECKS) >= len(CHECKED) * min(KNOWN.values())
    tags = get_tags(CHECKED[0])
    assert tags.input_tags.two_d_array
    silent = [tags.no_validation, tags.non_deterministic, tags.classifier_tags.poor_score, tags._skip_test]
    assert not any([*silent, tags.input_tags.one_d_array, tags.input_tags.positive_only])


@pytest.mark.parametrize(names, CHECKS, **mark.kwargs)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


BINARY = response.Scheme.per_attribute("0.8", ["a", "class"], domains={"a": ["no", "yes"], "class": [0, 1]})
SCHEMES = {
    "each": BINARY,
    "plain class": response.Scheme("0.7", [["a"]], domains={"a": ["no", "yes"]}),
    "one coin": response.Scheme("0.9", [["a", "class"]], domains={"a": ["no", "yes"], "class": [0, 1]}),
    "k-ary": response.KaryScheme(["1/2", "3/4"], {"a": ["no", "yes", None], "b": [1, 2, 3]}),
    "labels": response.KaryScheme("2/3", {"class": [0, 1, 2]}),
    "tuples": response.KaryScheme(
        "1/2", {"a": ["no", "yes", "?"], "b": [1, 2, 3]}, groups=[["a", "b"]], lie="tuple"
    ),
}


@st.composite
def told(draw):
    rows = st.tuples(st.sampled_from(["no", "yes"]), st.integers(1, 3), st.integers(0, 1))
    return draw(st.lists(rows, min_size=1, max_size=30))


def impossible(views, rows):
    """The rows of which every class has score 0."""
    possible = np.tile(views.class_counts > 0, (len(rows["a"]), 1))
    for name, values in rows.items():
        counts = views.counts[name][[views.domain(name).index(value) for value in values]]
        possible &= counts > 0
    return ~possible.any(axis=1)


@given(told(), st.sampled_from(sorted(SCHEMES)), st.sampled_from([0, 1, 0.5, "1/3"]), st.booleans())
def test_labels_are_those_of_the_classifier_of_the_room(rows, kind, alpha, em):
    scheme, method = SCHEMES[kind], "em" if em else "projection"
    a, b, of_class = (list(column) for column in zip(*rows, strict=True))
    table = Table({"a": a, "b": b, "class": of_class}, {"a": scheme.domains.get("a", ["no", "yes"])})
    X = table.select(["a", "b"]).to_pandas()
    model = DisguisedNBClassifier(scheme, alpha, method=method).fit(X, of_class)
    found = response.estimate(Table({"a": a, "b": b, "class": of_class}), scheme, "class", method=method)
    room = response.classifier(found, alpha)
    asked = {"a": a, "b": b}
    assert model.predict(X).tolist() == room.predict(asked).tolist()
    assert model.classes_.tolist() == sorted(room.classes)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    order = [room.classes.index(label) for label in model.classes_.tolist()]
    expected = room.predict_proba(asked)[:, order]
    expected[impossible(room.views, asked)] = 1 / len(order)  # there the room gives its prior
    np.testing.assert_allclose(probabilities, expected, atol=1e-12)
    assert model.classes_[probabilities.argmax(axis=1)].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)) > 0, probabilities > 0)


def survey(n=3000, seed=5):
    """The truth: four columns that speak of a class, of which the last is a number."""
    rng = np.random.default_rng(seed)
    of_class = (rng.random(n) < 0.4).astype(int)
    chances = np.where(of_class[:, None], [0.8, 0.7, 0.75], [0.2, 0.3, 0.35])
    return (rng.random((n, 3)) < chances).astype(int), rng.normal(of_class, 1), of_class


def disguised(scheme, X, y, seed=6):
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    rng = np.random.default_rng(seed)
    answers = response.disguise(Table({**columns, "class": y}), scheme, rng=rng)
    return np.column_stack([answers[name] for name in columns]), np.asarray(answers["class"])


OF_ALL = response.KaryScheme("3/4", {"x0": [0, 1], "x1": [0, 1], "x2": [0, 1], "class": [0, 1]})


def test_plain_questions_are_answered_as_without_a_disguise():
    X, _, y = survey()
    others, _, truth = survey(seed=8)
    model = DisguisedNBClassifier(OF_ALL).fit(*disguised(OF_ALL, X, y))
    assert model.score(others, truth) > BernoulliNB().fit(X, y).score(others, truth) - 0.02


class Coins(TransformerMixin, BaseEstimator):
    """What a step of a Pipeline would do: it throws coins for the question too."""

    def fit(self, X, y=None):
        self.rng_ = np.random.default_rng(3)
        return self

    def transform(self, X):
        return np.where(self.rng_.random(X.shape) < 0.75, X, 1 - X)


def test_as_a_step_it_would_disguise_the_question():
    X, _, y = survey()
    others, _, truth = survey(seed=8)
    knows = DisguisedNBClassifier(OF_ALL).fit(*disguised(OF_ALL, X, y)).score(others, truth)
    coins = dict.fromkeys(("x0", "x1", "x2"), "3/4")
    for last in (BernoulliNB(), DisguisedNBClassifier(coins)):
        assert make_pipeline(Coins(), last).fit(X, y).score(others, truth) < knows - 0.1


def test_a_mapping_is_a_coin_for_each_column_of_the_values_found():
    X, _, y = survey(500)
    told = disguised(OF_ALL, X, y)
    mapped = DisguisedNBClassifier({"x1": "3/4", "class": 0.75}).fit(*told)
    scheme = response.KaryScheme("3/4", {"x1": [0, 1], "class": [0, 1]})
    assert mapped.estimate_.scheme == scheme
    declared = DisguisedNBClassifier(scheme).fit(*told)
    assert mapped.estimate_.to_dict() == declared.estimate_.to_dict()


def test_floats_without_a_coin_are_put_into_bins():
    X, number, y = survey(400)
    rows = np.column_stack([X[:, 0], number])
    model = DisguisedNBClassifier({"x0": "4/5"}, bins=4).fit(rows, y)
    assert str(model.estimate_.domain("x1")[0]).startswith("(-inf, ")
    assert len(model.estimate_.domain("x1")) == 4
    assert model.estimate_.domain("x0") == (0, 1)  # each float is a value of the coin
    model.predict([[0.0, 1e9], [1.0, -1e9]])
    each = DisguisedNBClassifier({"x0": "4/5"}, bins=None).fit(rows, y)
    assert len(each.estimate_.domain("x1")) == 400


def test_the_classes_are_those_that_could_have_been_told():
    model = DisguisedNBClassifier(SCHEMES["labels"]).fit([["u"], ["v"], ["v"]], [0, 1, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba([["u"]]).shape == (1, 3)
    texts = DisguisedNBClassifier({"class": "4/5"}).fit([[1], [2], [2]], ["well", "ill", "ill"])
    assert (texts.classes_.tolist(), texts.classes_.dtype.kind) == (["ill", "well"], "U")


def test_frames_of_every_kind_give_the_same():
    polars = pytest.importorskip("polars")
    columns = {"job": ["cook", "clerk", None, "cook"] * 25, "days": [0, 1, 2, 2] * 25}
    y = ["ill", "well", "ill", "ill"] * 25
    scheme = response.KaryScheme("3/4", {"job": ["clerk", "cook", None], "class": ["ill", "well"]})
    frames = [Table(columns), Table(columns).to_pandas(), polars.DataFrame(columns)]
    found = [DisguisedNBClassifier(scheme).fit(frame, y) for frame in frames]
    assert len({str(model.estimate_.to_dict()) for model in found}) == 1
    assert [model.feature_names_in_.tolist() for model in found] == [["job", "days"]] * 3
    asked = found[0].predict(frames[0])
    assert all(
        model.predict(frame).tolist() == asked.tolist() for model, frame in zip(found, frames, strict=True)
    )


def test_clones_pickles_and_parameters():
    model = DisguisedNBClassifier(OF_ALL, Fraction(1, 2), class_name="class").fit(
        *disguised(OF_ALL, *survey()[::2])
    )
    other = clone(model)
    assert other.scheme == OF_ALL
    assert not hasattr(other, "estimate_")
    with pytest.raises(NotFittedError):
        other.predict([[0, 0, 0]])
    X = survey(50, 9)[0]
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same.estimate_.to_dict() == model.estimate_.to_dict()
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    assert other.set_params(alpha=2, method="em").get_params()["alpha"] == 2
    assert "scheme=KaryScheme(" in repr(model)


def test_a_search_over_alpha_at_the_end_of_a_pipeline():
    X, y = disguised(OF_ALL, *survey(600)[::2])
    pipeline = make_pipeline(FunctionTransformer(), DisguisedNBClassifier(OF_ALL))
    grid = {"disguisednbclassifier__alpha": [0, 0.5, np.float64(1), 50]}
    search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].estimate_.n_rows == 600
    assert cross_val_predict(pipeline, X, y, cv=3).shape == y.shape


def test_what_is_fitted_is_estimates_and_no_rows():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (501, 3)), rng.integers(0, 2, 501)
    model = DisguisedNBClassifier(OF_ALL).fit(X, y)
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted == {"estimate_", "classifier_", "classes_", "n_features_in_"}
    seen, waiting = set(), [model.estimate_, model.classifier_, model.classes_]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        seen.add(id(one))
        assert not isinstance(one, Table)
        assert not (isinstance(one, np.ndarray | list | tuple | bytes) and len(np.atleast_1d(one)) >= 501)
        waiting += gc.get_referents(one)
    assert len(seen) > 50


ERRORS = {
    "scheme must be a Scheme, a KaryScheme, or a mapping of columns to the probability of the truth": (
        TypeError,
        lambda: DisguisedNBClassifier(None).fit([[0]], [1]),
    ),
    "scheme: expected at least one column with a coin, got none": (
        ValueError,
        lambda: DisguisedNBClassifier({}).fit([[0], [1]], [0, 1]),
    ),
    "scheme: expected names of columns of X, or 'ill' for the class; got 'y'": (
        ValueError,
        lambda: DisguisedNBClassifier({"y": "4/5"}, class_name="ill").fit([[0], [1]], [0, 1]),
    ),
    "scheme: 2 samples tell one class, and a coin needs two: give a KaryScheme, which says what could": (
        ValueError,
        lambda: DisguisedNBClassifier({"class": "4/5"}).fit([[0], [1]], [1, 1]),
    ),
    "scheme: 1 sample tells one value of 'x0', and a coin needs two": (
        ValueError,
        lambda: DisguisedNBClassifier({"x0": "4/5"}).fit([[0]], [1]),
    ),
    "class_name must be none of the columns of X, got 'x0'": (
        ValueError,
        lambda: DisguisedNBClassifier(OF_ALL, class_name="x0").fit([[0]], [1]),
    ),
    "bins must be at least 2, got 1": (
        ValueError,
        lambda: DisguisedNBClassifier({"class": "4/5"}, bins=1).fit([[0.5], [1]], [0, 1]),
    ),
    "the disguised table has no column 'x2', which the scheme has": (
        ValueError,
        lambda: DisguisedNBClassifier(OF_ALL).fit([[0, 1], [1, 0]], [0, 1]),
    ),
    "column 'x0': value 7 is none of the 2 values": (
        ValueError,
        lambda: DisguisedNBClassifier(OF_ALL).fit([[0, 1, 1], [7, 0, 1]], [0, 1]),
    ),
    "alpha must be at least 0, got -1": (
        ValueError,
        lambda: DisguisedNBClassifier({"class": "4/5"}, -1).fit([[0], [1]], [0, 1]),
    ),
    "column 'x0': nobody told the value 2, and the scheme has none such": (
        ValueError,
        lambda: DisguisedNBClassifier({"class": "4/5"}).fit([[0], [1]], [0, 1]).predict([[2]]),
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_what_does_not_fit_is_refused_by_name(text):
    kind, does = ERRORS[text]
    with pytest.raises(kind) as raised:
        does()
    assert text in str(raised.value)


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    model = DisguisedNBClassifier({"class": "4/5"}).fit([[0], [1]], [0, 1])
    model.set_params(scheme={"x9": "4/5"})
    with pytest.raises(ValueError, match="x9"):
        model.fit([[0], [1]], [0, 1])
    assert not hasattr(model, "estimate_")


def test_it_is_brought_by_the_room():
    assert nbcfast.sklearn.DisguisedNBClassifier is DisguisedNBClassifier
