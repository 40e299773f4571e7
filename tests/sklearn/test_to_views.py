"""`to_views`: what a fitted CategoricalNB is in exact numbers, held against its formula in Fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nbcfast
from nbcfast import canonical

bayes = pytest.importorskip("sklearn.naive_bayes")

from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OrdinalEncoder  # noqa: E402

from nbcfast.sklearn import to_views  # noqa: E402

ALPHAS = st.sampled_from([0, 0.5, 1, 1.0, 0.1, 1e-10, 2, 3.75, np.float64(0.25), np.float32(0.1)])
PRIORS = st.sampled_from([0, 1, 2, 0.1, 0.25, 0.7, 1e-5])

WARNED = pytest.mark.filterwarnings("ignore:alpha too small", "ignore:divide by zero", "ignore:invalid value")


@st.composite
def fitted(draw):
    """A model of few rows, with every parameter that CategoricalNB has."""
    n_classes, sizes = draw(st.integers(2, 3)), draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=3, max_size=14))
    y = [*range(n_classes), *draw(st.lists(st.integers(0, n_classes - 1), min_size=12, max_size=12))]
    priors = st.none() | st.lists(PRIORS, min_size=n_classes, max_size=n_classes).filter(any)
    model = bayes.CategoricalNB(
        alpha=draw(ALPHAS),
        force_alpha=draw(st.sampled_from([True, True, False])),
        fit_prior=draw(st.booleans()),
        class_prior=draw(priors),
        min_categories=draw(st.none() | st.integers(1, 4) | st.just([size + 1 for size in sizes])),
    )
    labels = np.array(["b", "a", "c"])[y[: len(rows)]]
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    if draw(st.booleans()):
        return model.fit(rows, labels, sample_weight=weights)
    half = len(rows) // 2
    classes = ["a", "b", "c"] if model.class_prior is None else sorted(set(labels))  # one may have no row
    model.partial_fit(rows[:half], labels[:half], classes=classes)
    return model.partial_fit(rows[half:], labels[half:])


def scores(model, codes):
    """Prior times the shares of the values, of each class in the order of classes_, in Fractions."""
    alpha = Fraction(repr(float(model.alpha)))
    if not model.force_alpha:
        alpha = max(alpha, Fraction(1, 10**10))
    counts = [[list(map(Fraction, row)) for row in array.tolist()] for array in model.category_count_]
    found = []
    for c in range(len(model.classes_)):
        if model.class_prior is not None:
            prior = Fraction(repr(float(model.class_prior[c])))
        else:
            prior = Fraction(model.class_count_[c]) if model.fit_prior else Fraction(1)
        shares = [
            (array[c][code] + alpha) / sum(n + alpha for n in array[c])
            for array, code in zip(counts, codes, strict=True)
        ]
        found.append(prior * math.prod(shares))
    return found


def has_shares(model):
    return model.alpha > 0 or not model.force_alpha or model.class_count_.all()


@WARNED
@given(fitted())
def test_views_are_the_model_in_exact_numbers(model):
    assume(has_shares(model))
    views = to_views(model)
    assert views.classes == tuple(model.classes_.tolist()[::-1])
    assert views.is_realistic()
    assert views.weighted
    tuples = list(itertools.product(*(range(array.shape[1]) for array in model.category_count_)))
    labels = views.predict({f"x{i}": list(column) for i, column in enumerate(zip(*tuples, strict=True))})
    n = len(views.attributes)
    for codes, label in zip(tuples, labels.tolist(), strict=True):
        exact = scores(model, codes)
        assert label == model.classes_[exact.index(max(exact))]  # the first of equal ones, as argmax
        own = [
            Fraction(total) ** (1 - n)
            * math.prod(
                int(views.counts[name][code, c]) for name, code in zip(views.counts, codes, strict=True)
            )
            if total
            else Fraction(0)
            for c, total in enumerate(map(int, views.class_counts))
        ][::-1]
        assert [share * sum(exact) for share in own] == [share * sum(own) for share in exact]


@WARNED
@given(fitted())
def test_views_decide_as_the_floats_where_these_are_sure(model):
    assume(has_shares(model))
    tuples = np.array(list(itertools.product(*(range(array.shape[1]) for array in model.category_count_))))
    joint = model.predict_joint_log_proba(tuples)
    ranked = np.sort(joint, axis=1)
    sure = ranked[:, -1] > ranked[:, -2] + 1e-9
    views = to_views(model)
    labels = views.predict({f"x{i}": column.tolist() for i, column in enumerate(tuples.T)})
    assert (labels == model.predict(tuples))[sure].all()


@WARNED
def test_without_smoothing_the_views_are_the_counts():
    table = nbcfast.read_csv("examples/patients.csv")
    rows = np.array([table.codes(name) for name in table.names if name != "diagnosis"]).T
    y = np.array(table.domain("diagnosis"))[table.codes("diagnosis")]
    names = [name for name in table.names if name != "diagnosis"]
    categories = {name: table.domain(name) for name in names}
    model = bayes.CategoricalNB(alpha=0).fit(rows, y)
    model.feature_names_in_ = np.array(names, object)
    counted = nbcfast.count(table, "diagnosis", classes=["healthy", "diabetes"])
    views = to_views(model, categories=categories)
    assert views.to_dict() == counted.to_dict()
    smoothed = to_views(bayes.CategoricalNB(alpha=0.5).fit(rows, y), categories=list(categories.values()))
    assert [array.tolist() for array in smoothed.counts.values()] == [
        array.tolist() for array in counted.smoothed("1/2").counts.values()
    ]


def test_a_release_is_made_of_a_model():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (400, 2))
    model = bayes.CategoricalNB().fit(X, X.sum(axis=1) + rng.integers(0, 2, 400) > 2)
    views = to_views(model)
    for release in (canonical.release(views, 4), nbcfast.safety_transform(views, 4)):
        assert release.to_sklearn().predict(X).tolist() == model.predict(X).tolist()


def test_values_have_the_names_of_the_encoder():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"job": ["cook", "clerk", "cook"], "age": [30, None, 40]})
    encoder = OrdinalEncoder(encoded_missing_value=2).fit(frame)
    y = ["no", "yes", "no"]
    model = bayes.CategoricalNB().fit(encoder.transform(frame), y)
    views = to_views(model, categories=encoder)
    assert {name: views.domain(name) for name in views.attributes} == {
        "job": ("clerk", "cook"),
        "age": (30, 40, None),
    }
    assert views.predict(frame).tolist() == y
    named = make_pipeline(encoder.set_output(transform="pandas"), bayes.CategoricalNB()).fit(frame, y)
    assert to_views(named[-1], categories=named[0]) == views
    assert to_views(named[-1]).attributes == ("job", "age")
    with pytest.raises(TypeError, match=r"model must be a CategoricalNB, got Pipeline; of a Pipeline"):
        to_views(named)
    other = OrdinalEncoder().fit(frame.rename(columns={"job": "work"}))
    with pytest.raises(ValueError, match=r"categories must be an encoder of the attributes \['job', 'age'\]"):
        to_views(named[-1], categories=other)
    rare = OrdinalEncoder(min_frequency=2).fit([["a"], ["a"], ["b"], ["c"]])
    with pytest.raises(ValueError, match="a code of its own, got an OrdinalEncoder that puts infrequent"):
        to_views(bayes.CategoricalNB().fit([[0], [1]], y[:2]), categories=rare)


X, Y = [[0, 1], [1, 0], [1, 1]], ["no", "yes", "no"]


def changed(**parameters):
    return bayes.CategoricalNB(alpha=0.5).fit(X, Y).set_params(**parameters)


def of_several_alphas():
    model = bayes.CategoricalNB().fit(X, Y)
    model.alpha = [1, 1]
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: bayes.CategoricalNB(), "not fitted yet"),
        (
            lambda: bayes.CategoricalNB().fit(X, Y, [1, 0.5, 1]),
            r"whole numbers from 0 to 2\^53, got 0\.5",
        ),
        (lambda: bayes.CategoricalNB().fit(X, Y, [1, -3, 1]), "hold whole numbers from 0 to .*, got -3.0"),
        (lambda: bayes.CategoricalNB().fit(X, Y, [1, 2.0**53, 1]), "hold whole numbers"),
        (of_several_alphas, "model.alpha must be one number, as CategoricalNB documents it, got several"),
        (lambda: changed(alpha=-1), "model.alpha must be at least 0, got -1"),
        (lambda: changed(alpha=1), "model must have the parameters that it was fitted with"),
        (lambda: changed(fit_prior=False), "model must have the parameters that it was fitted with"),
        (lambda: changed(class_prior=[0.5, 0.5]), "model must have the parameters that it was fitted with"),
        (lambda: changed(class_prior=[1]), r"model.class_prior must be 2 numbers, .*, got \[1\]"),
        (lambda: changed(class_prior=[-1, 2]), "none negative"),
        (lambda: changed(class_prior=[0, 0.0]), "one at least positive"),
        (lambda: changed(class_prior=[np.nan, 1]), "model.class_prior must be a finite number"),
    ],
)
@WARNED
def test_what_is_no_model_of_whole_rows_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        to_views(model())


@WARNED
def test_a_class_without_rows_needs_smoothing():
    model = bayes.CategoricalNB(alpha=0).partial_fit(X, Y, classes=["maybe", "no", "yes"])
    with pytest.raises(ValueError, match="model: class 'maybe' has no row and no smoothing"):
        to_views(model)
    smoothed = to_views(bayes.CategoricalNB().partial_fit(X, Y, classes=["maybe", "no", "yes"]))
    assert smoothed.class_counts.tolist()[2] == 0


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"x0": "ab"}, "categories must be of 'x0', 'x1', got 'x0'"),
        (["ab"], "categories must be those of 2 attributes, got 1"),
        (["ab", "abc"], "categories of 'x1' must be the 2 that the model counts, got 3; .* min_categories="),
        (["aa", "ab"], "twice"),
    ],
)
def test_categories_are_those_of_the_model(categories, message):
    with pytest.raises(ValueError, match=message):
        to_views(changed(), categories=categories)


@pytest.mark.parametrize("model", [bayes.BernoulliNB(), bayes.CategoricalNB, None, "model.pkl"])
def test_another_model_is_refused(model):
    with pytest.raises(TypeError, match="model must be a CategoricalNB, got"):
        to_views(model)


def test_a_published_classifier_has_its_views_already():
    release = canonical.release(to_views(changed()), 4)
    with pytest.raises(TypeError, match="got a published classifier: its counts are release"):
        to_views(release.to_sklearn())
