"""`compare_releases` of what scikit-learn has fitted: the last step is measured on what the others give."""

import math

import numpy as np
import pytest

import nbcfast
from nbcfast import canonical, compare_releases, safety

pytest.importorskip("sklearn")
pytest.importorskip("pandas")

from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from nbcfast.sklearn import DisguisedNBClassifier, PublishableNBClassifier, to_views

COLUMNS = ["age", "bmi", "glucose"]
TABLE = nbcfast.read_csv("examples/patients.csv").select([*COLUMNS, "diagnosis"])
VIEWS = nbcfast.count(TABLE, "diagnosis")


@pytest.fixture(scope="module")
def rows():
    frame = TABLE.to_pandas()
    return frame[COLUMNS], frame["diagnosis"]


@pytest.fixture(scope="module")
def fitted(rows):
    """A name -> what was fitted on all rows."""
    X, y = rows
    steps = OrdinalEncoder(), CategoricalNB(alpha=0.5)
    nested = make_pipeline(FunctionTransformer(), make_pipeline(OrdinalEncoder(), CategoricalNB()))
    publishable = PublishableNBClassifier(4)
    return {
        "plain": make_pipeline(*steps).fit(X, y),
        "nested": nested.fit(X, y),
        "published": publishable.fit(X, y),
        "in a pipeline": make_pipeline(FunctionTransformer(), PublishableNBClassifier(3)).fit(X, y),
        "searched": GridSearchCV(PublishableNBClassifier(), {"amplification": [2, 8]}, cv=2).fit(X, y),
        "other": make_pipeline(OneHotEncoder(), DecisionTreeClassifier(max_depth=4)).fit(X, y),
        "no odds": make_pipeline(OneHotEncoder(), RidgeClassifier()).fit(X, y),
        "disguised": DisguisedNBClassifier({"class": "4/5"}).fit(X, y),
    }


@pytest.fixture(scope="module")
def compared(fitted, rows):
    return compare_releases(fitted, *rows)


def test_worth_is_what_scikit_learn_says(compared, fitted, rows):
    X, y = rows
    for name, model in fitted.items():
        assert compared[name].accuracy == accuracy_score(y, model.predict(X))
        if name != "no odds":
            assert compared[name].log_loss == pytest.approx(log_loss(y, model.predict_proba(X)), abs=1e-12)
    assert compared["no odds"].log_loss is None
    assert compared["no odds"].why["log_loss"] == "a RidgeClassifier gives no probabilities"


def test_the_counts_of_a_plain_classifier_stand_in_it(compared, fitted):
    for name, model in (("plain", fitted["plain"][-1]), ("nested", fitted["nested"][-1][-1])):
        found, views = compared[name], to_views(model)
        assert found.amplification == safety.amplification(views)
        assert found.bits == float(canonical.solve(canonical.box(views)).log2_range)
        assert (found.found, found.cells, found.flip) == (14, 14, 0.0)
        assert (found.shows_class, found.looked_at) == (5000, 5000)


@pytest.mark.parametrize("name", ["published", "in a pipeline", "searched"])
def test_of_a_publishing_classifier_its_release_is_measured(compared, fitted, rows, name):
    model = fitted[name]
    release = {"published": lambda: model, "in a pipeline": lambda: model[-1]}.get(
        name, lambda: model.best_estimator_
    )().release_
    alone = compare_releases({"release": release}, *rows)["release"]
    found = compared[name]
    assert (found.amplification, found.bits, found.found) == (alone.amplification, alone.bits, alone.found)
    assert (found.flip, found.accuracy) == (alone.flip, alone.accuracy)
    assert found.found == canonical.leak(VIEWS).found
    assert not found.why


@pytest.mark.parametrize("name", ["other", "no odds", "disguised"])
def test_of_others_no_number_calms(compared, name):
    found = compared[name]
    assert (found.amplification, found.bits, found.found, found.cells, found.flip) == (None,) * 5
    assert set(found.why) >= {"amplification", "bits", "found", "flip"}
    assert "publishes no counts of people that could be measured" in found.why["flip"]
    assert found.texts()["flip"] == "not measured"
    assert f"{name}: " in repr(compared)


def test_a_plain_classifier_of_other_rows_is_not_measured_on_these(fitted, rows):
    X, y = rows[0][:2500], rows[1][:2500]
    found = compare_releases({"plain": fitted["plain"]}, X, y)["plain"]
    assert (found.found, found.flip) == (None, None)
    assert found.amplification is not None
    own = compare_releases({"plain": fitted["plain"]}, X, y, private=rows)["plain"]
    assert (own.found, own.shows_class) == (14, 5000)


def test_weights_that_are_no_people_have_no_lambda(rows):
    X, y = OrdinalEncoder().fit_transform(rows[0]), rows[1]
    model = CategoricalNB().fit(X, y, sample_weight=np.full(len(y), 0.3))
    found = compare_releases({"weighted": model}, X, y)["weighted"]
    assert found.amplification is None
    assert "must hold whole numbers" in found.why["amplification"]


def test_the_copy_in_floats_names_the_release(rows):
    release = canonical.release(VIEWS, 4)
    model, X = release.to_sklearn(), release.codes(TABLE)
    found = compare_releases({"copy": model}, X, rows[1])["copy"]
    assert found.why["bits"] == "it is a copy in floats of a release: give the release"


def test_three_classes_and_numbers():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 400)
    X = np.column_stack([(y + rng.integers(0, 2, 400)) % 3, rng.integers(0, 2, 400)])
    entries = {"plain": CategoricalNB().fit(X, y), "published": PublishableNBClassifier(5).fit(X, y)}
    found = compare_releases(entries, X, y)
    leak = canonical.leak(nbcfast.count({"x0": X[:, 0], "x1": X[:, 1], "y": y}, "y"))
    assert (found["published"].found, found["published"].cells) == (leak.found, 5)
    assert found["plain"].found == 5
    for name, model in entries.items():
        assert found[name].accuracy == model.score(X, y)
        assert found[name].log_loss == pytest.approx(log_loss(y, model.predict_proba(X)))


def test_bins_of_floats_and_of_arrays(rows):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    model = PublishableNBClassifier(
        4, domain={"x0": {"edges": [None, -1, 1, None]}, "x1": {"edges": [None, 0, None]}}
    )
    found = compare_releases({"binned": model.fit(X, y)}, X, y)["binned"]
    assert (found.cells, found.looked_at) == (5, 300)
    assert found.accuracy == model.score(X, y)


def test_rows_that_a_release_does_not_know_are_none_of_its_people(rows):
    X, y = rows
    model = PublishableNBClassifier(4, unseen="ignore").fit(X, y)
    strange = X.assign(age=["new", *X["age"][1:]])
    found = compare_releases({"ignores": model}, strange, y)["ignores"]
    assert found.accuracy == model.score(strange, y)
    assert found.bits is not None
    assert "it was not made of these rows (" in found.why["found"]
    own = compare_releases({"ignores": model}, strange, y, private=rows)["ignores"]
    assert own.found == canonical.leak(VIEWS).found


def test_a_class_that_was_never_seen_costs_everything(rows):
    X, y = rows
    model = DummyClassifier(strategy="prior").fit(X, y)
    found = compare_releases({"dummy": model}, X[:2], ["unheard of", "healthy"])["dummy"]
    assert found.log_loss == math.inf
    assert found.to_dict()["log_loss_infinite"]
    assert found.texts()["log_loss"] == "infinite"


@pytest.mark.parametrize(
    ("given", "what"), [(CategoricalNB(), "a CategoricalNB that was not fitted"), (CategoricalNB, "ABCMeta")]
)
def test_what_was_not_fitted_is_refused(rows, given, what):
    with pytest.raises(TypeError, match=f"entry 'x': expected a Release, .*, got {what}"):
        compare_releases({"x": given}, *rows)


def test_classes_in_a_column_are_not_for_scikit_learn(fitted):
    with pytest.raises(ValueError, match="entry 'x': y must be an array of the classes for a classifier of"):
        compare_releases({"x": fitted["other"]}, TABLE, "diagnosis")


def test_rows_with_weights_are_so_many_people_to_estimators_too():
    x, y = np.array([0, 0, 0, 1, 1, 1] * 5), np.array([0, 0, 1, 1, 1, 0] * 5)
    weights = np.where(y == 1, 50, 1)
    model = PublishableNBClassifier().fit(nbcfast.Table({"x0": x}), y)
    entries = {"model": model, "release": model.release_}
    found = compare_releases(entries, nbcfast.Table({"x0": x}, weights=weights), y)
    assert found["model"].accuracy == found["release"].accuracy == (10 * 50 + 10) / (15 * 50 + 15)
    assert math.isclose(found["model"].log_loss, found["release"].log_loss, rel_tol=1e-12)


def test_other_rows_than_classes_are_refused_in_words(rows):
    X, y = rows
    model = PublishableNBClassifier().fit(X, y)
    for some in (X[:1], X[:7]):  # one row would be all of them
        with pytest.raises(ValueError, match=f"X and y must have as many rows, got {len(some)} and 5000"):
            compare_releases({"model": model}, some, y)


def test_what_is_masked_is_not_measured_as_if_it_were_there():
    x, y = np.array([[0], [0], [1], [1]] * 5), np.array([0, 0, 1, 1] * 5)
    release = PublishableNBClassifier().fit(x, y).release_
    hidden = np.ma.array(x, mask=x == 1)
    with pytest.raises(ValueError, match="value None is unknown to the views"):
        compare_releases({"release": release}, hidden, y)
    found = compare_releases({"release": release}, x, np.ma.array(y, mask=y == 1))["release"]
    assert found.accuracy == 0.5
