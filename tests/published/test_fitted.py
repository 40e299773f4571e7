"""A release as probabilities, and as a classifier of scikit-learn."""

import itertools
import json
import pickle
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_cases import EXAMPLES, release_of

import nbcfast
from nbcfast import Table, Viewset
from nbcfast.views.quality import evaluate


def test_probabilities_are_rounded_once():
    made = release_of().to_probabilities()
    assert made.classes == ("yes", "no")
    assert made.prior.tolist() == [3 / 8, 5 / 8]
    assert made.conditional["age"].tolist() == [[1 / 3, 1 / 5], [1 / 3, 3 / 5], [1 / 3, 1 / 5]]
    assert made.domains["age"] == (30, 40, None)
    assert not made.prior.flags.writeable
    assert json.loads(json.dumps(made.to_dict()))["prior"] == [3 / 8, 5 / 8]
    big = 3**4000
    views = Viewset([2 * big, 3 * big], [[[big, big], [big, 2 * big]]])
    assert release_of(views).to_probabilities().conditional["A1"].tolist() == [[1 / 2, 1 / 3], [1 / 2, 2 / 3]]


def test_codes_are_positions_in_the_published_domains():
    release = release_of()
    table = Table({"age": [None, 30, 40], "job": ["cook", "clerk", "cook"]})
    assert release.codes(table).tolist() == [[1, 2], [0, 0], [1, 1]]
    with pytest.raises(ValueError, match="column 'age': value 31 is not in the domain of the release"):
        release.codes({"age": [30, 31], "job": ["cook", "cook"]})
    with pytest.raises(ValueError, match="expected a column"):
        release.codes({"age": [30]})


def test_sklearn_takes_ties_to_the_same_class():
    pytest.importorskip("sklearn")
    # Both scores are equal at every tuple; the class of higher precedence is the later one.
    for classes in (["b", "a"], ["a", "b"]):
        views = Viewset([2, 2], {"x": [[1, 1], [1, 1]]}, classes=classes)
        model = release_of(views).to_sklearn()
        assert model.classes_.tolist() == ["a", "b"]
        assert model.predict([[0], [1]]).tolist() == views.predict({"x": [0, 1]}).tolist() == [classes[1]] * 2
        for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
            assert model.classes_[found([[0], [1]]).argmax(axis=1)].tolist() == [classes[1]] * 2


def test_sklearn_equals_its_own_fit_and_our_predictions():
    bayes = pytest.importorskip("sklearn.naive_bayes")
    release = release_of()
    table = release.dataset(np.random.default_rng(0))
    model = release.to_sklearn()
    X = release.codes(table)
    labels = np.array(table.domain("ill"))[table.codes("ill")]
    fitted = bayes.CategoricalNB(alpha=1e-10, min_categories=[2, 3]).fit(X, labels)
    assert release.views.classes == ("yes", "no")
    assert fitted.classes_.tolist() == ["no", "yes"] == model.classes_.tolist()
    assert isinstance(model, bayes.CategoricalNB)
    for field in ("class_count_", "class_log_prior_", "n_categories_"):
        np.testing.assert_allclose(getattr(model, field), getattr(fitted, field), rtol=1e-9)
    for field in ("category_count_", "feature_log_prob_"):
        for mine, theirs in zip(getattr(model, field), getattr(fitted, field), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(getattr(model, method)(X), getattr(fitted, method)(X), rtol=1e-9)
    assert model.predict(X).tolist() == release.predict(table).tolist()
    assert model.score(X, labels) == fitted.score(X, labels)
    big = Viewset([2**2000, 2**2001], [[[2**1999, 2**2000], [2**1999, 2**2000]]])
    assert release_of(big).to_sklearn().predict([[0]]).tolist() == [1]
    with pytest.raises(ValueError, match="at least one attribute"):
        release_of(Viewset([1, 2], {})).to_sklearn()


@given(st.data())
def test_sklearn_decides_every_tuple_as_the_release(data):
    pytest.importorskip("sklearn")
    n_classes = data.draw(st.integers(1, 4))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    scale = data.draw(
        st.sampled_from([1, 7**30])
    )  # with large counts nearly all that is equal is so in floats
    # Small counts tie often; a nudge of one in 7^30 is a difference that float64 logarithms do not see.
    entry = st.builds(lambda count, nudge: count * scale + nudge, st.integers(0, 3), st.integers(0, 1))
    counts = [
        data.draw(st.lists(st.lists(entry, min_size=n_classes, max_size=n_classes), min_size=k, max_size=k))
        for k in sizes
    ]
    of_class = data.draw(st.lists(st.integers(1, 3), min_size=n_classes, max_size=n_classes))
    labels = data.draw(st.permutations(data.draw(st.sampled_from([["d", "b", "c", "a"], [3, 1, 2, None]]))))
    chosen = sorted(labels[:n_classes], key=lambda label: label is None)  # in views it is always the last
    views = Viewset(of_class, counts, chosen)
    model = release_of(views).to_sklearn()
    tuples = np.array(list(itertools.product(*map(range, sizes))))
    expected = views.predict({name: tuples[:, i] for i, name in enumerate(views.attributes)}).tolist()
    assert model.predict(tuples).tolist() == expected
    for found in (model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
        scores = found(tuples)
        assert not np.isnan(scores).any()
        assert model.classes_[scores.argmax(axis=1)].tolist() == expected
    np.testing.assert_allclose(model.predict_proba(tuples).sum(axis=1), 1, rtol=1e-12)
    assert model.classes_.tolist() == sorted(chosen, key=lambda label: (label is None, label or 0))


def test_sklearn_scorers_are_right():
    """With classes in falling precedence roc_auc was 1 less what it is."""
    metrics = pytest.importorskip("sklearn.metrics")
    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    release = nbcfast.safety_transform(nbcfast.count(table, "diagnosis"), 4, class_name="diagnosis")
    model, X = release.to_sklearn(), release.codes(table)
    y = np.array(table.domain("diagnosis"))[table.codes("diagnosis")]
    assert model.predict(X).tolist() == release.predict(table).tolist()
    quality = evaluate(release.views, table, "diagnosis")
    assert metrics.get_scorer("accuracy")(model, X, y) == pytest.approx(quality.accuracy)
    assert -metrics.get_scorer("neg_log_loss")(model, X, y) == pytest.approx(quality.log_loss, rel=1e-9)
    healthy = X[y == "healthy"], X[y == "diabetes"]
    yes, no = (model.predict_proba(part)[:, 1] for part in healthy)
    above = np.searchsorted(np.sort(no), yes, "left") + np.searchsorted(np.sort(no), yes, "right")
    area = above.sum() / 2 / len(yes) / len(no)
    assert metrics.get_scorer("roc_auc")(model, X, y) == pytest.approx(area, rel=1e-9)
    assert area > 0.9


def test_sklearn_is_not_fitted_again():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    release = release_of()
    model = release.to_sklearn()
    table = release.dataset(np.random.default_rng(0))
    X = np.tile(release.codes(table), (5, 1))
    y = np.tile(np.array(table.domain("ill"))[table.codes("ill")], 5)
    said = r"a published classifier is not fitted again: {} would put .* CategoricalNB.* make a new release"
    copied = clone(model)
    for one in (model, copied, clone(make_pipeline(FunctionTransformer(), model))):
        with pytest.raises(TypeError, match=said.format("fit")):
            one.fit(X, y)
    with pytest.raises(TypeError, match=said.format("partial_fit")):
        model.partial_fit(X, y, classes=["no", "yes"])
    with pytest.raises(TypeError, match=said.format(r"set_params\(alpha\), and then fit,")):
        copied.set_params(alpha=3)
    assert copied is not model
    assert copied.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # FitFailedWarning, a fold at a time
        with pytest.raises(ValueError, match=said.format("fit")):
            cross_val_score(model, X, y, cv=2)
        with pytest.raises(ValueError, match=said.format("fit")):
            GridSearchCV(model, {}, cv=2).fit(X, y)
        with pytest.raises(TypeError, match=said.format("set_params.*")):
            GridSearchCV(model, {"alpha": [1, 2]}, cv=2).fit(X, y)
    frozen = pytest.importorskip("sklearn.frozen")
    scores = cross_val_score(frozen.FrozenEstimator(model), X, y, cv=2)
    assert scores.mean() == pytest.approx(model.score(X, y))


def test_sklearn_keeps_in_pickles_what_was_published(tmp_path):
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    release = release_of()
    model, X = release.to_sklearn(), [[0, 2], [1, 0], [1, 1]]
    joblib.dump(model, tmp_path / "model")
    for back in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert back._release == release
        assert back.predict(X).tolist() == model.predict(X).tolist()
        assert back.predict_proba(X).tolist() == model.predict_proba(X).tolist()
        with pytest.raises(TypeError, match="not fitted again"):
            back.fit(X, ["no", "yes", "no"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 3]], r"X: column 1 must hold codes below 3, as of release.codes, got 3"),
        ([[0.5, 1]], "X must hold whole numbers, the codes that release.codes"),
        ([[-1, 0]], "Negative values"),
        ([[0]], "2 features"),
    ],
)
def test_sklearn_refuses_what_is_no_code(X, message):
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match=message):
        release_of().to_sklearn().predict(X)


def test_sklearn_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.naive_bayes", None)
    monkeypatch.delitem(sys.modules, "nbcfast.published.fitted", raising=False)
    with pytest.raises(ImportError, match=r"to_sklearn needs scikit-learn: pip install scikit-learn$"):
        release_of().to_sklearn()
