"""Estimators where scikit-learn puts them: pipelines, searches, clones, routed weights, frames out."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from estimator_cases import DOMAIN, JOBS, people
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import nbcfast
from nbcfast.sklearn import DeclaredBinner, PublishableNBClassifier

COLUMNS, ILL = people()


@pytest.fixture(scope="module")
def frame():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({name: column.tolist() for name, column in COLUMNS.items()})


def test_a_grid_search_over_the_limit(frame):
    search = GridSearchCV(
        PublishableNBClassifier(domain=DOMAIN, rows="proven"),
        {"amplification": [2, 4, "17/2"], "method": ["canonical", "safetytransform"]},
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
        cv=3,
        error_score="raise",
    ).fit(frame, ILL)
    assert search.best_params_["amplification"] == "17/2"
    assert np.isfinite(search.cv_results_["mean_test_neg_log_loss"]).all()
    best = search.best_estimator_
    assert best.release_ == clone(best).fit(frame, ILL).release_
    assert search.predict(frame).tolist() == best.release_.predict(COLUMNS).tolist()


def test_values_of_a_fold_that_no_other_has_need_a_domain(frame):
    rare = frame.assign(town=[f"town {row % 60}" for row in range(len(frame))]).head(120)
    with pytest.raises(ValueError, match="declare all values that there may be with domain"):
        cross_validate(PublishableNBClassifier(rows="proven"), rare, ILL[:120], cv=20, error_score="raise")
    declared = {"town": sorted({*rare["town"]}), **DOMAIN}
    model = PublishableNBClassifier(rows="proven", alpha=1, domain=declared)
    scores = cross_validate(model, rare, ILL[:120], cv=2, error_score="raise")
    assert len(scores["test_score"]) == 2
    ignoring = PublishableNBClassifier(rows="proven", unseen="ignore")
    assert len(cross_val_predict(ignoring, rare, ILL[:120], cv=20)) == 120


def test_a_clone_is_not_fitted_and_has_equal_parameters(frame):
    model = PublishableNBClassifier("9/2", domain=DOMAIN, precedence=["yes", "no"]).fit(frame, ILL)
    made = clone(model)
    assert made.get_params() == model.get_params()
    assert not hasattr(made, "release_")
    assert model.set_params(amplification=3).fit(frame, ILL).release_.certificate.amplification == 3
    assert "amplification=3" in repr(model)
    for domain in (nbcfast.domains.declared(DOMAIN), DOMAIN):
        held = clone(PublishableNBClassifier(domain=domain, rows="proven"))
        assert held.fit(frame, ILL).release_.views.domain("sex") == ("f", "m")
    menu = nbcfast.domains.Menu.read({"sex": [["f", "m"]]})
    held = clone(PublishableNBClassifier(menu=menu)).fit(frame, ILL)
    assert held.release_.certificate.advice.options == 1
    assert held.predict(frame).tolist() == held.release_.predict(COLUMNS).tolist()
    assert "PublishableNBClassifier" in model._repr_html_()


def test_a_pipeline_from_floats_to_a_release_has_nothing_from_the_rows():
    ages = (COLUMNS["age"] + 0.5)[:, np.newaxis]
    whole = make_pipeline(
        DeclaredBinner([0, 30, 50, None]),
        PublishableNBClassifier(domain={"x0": [0, 1, 2]}, precedence=["no", "yes"]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = whole.fit(ages, ILL)[-1].release_
    assert release.certificate.canonical.undeclared == ()
    binned = PublishableNBClassifier(domain={"x0": {"edges": [0, 30, 50, None]}}, precedence=["no", "yes"])
    assert whole.predict(ages).tolist() == binned.fit(ages, ILL).predict(ages).tolist()


def test_a_column_transformer_before_it(frame):
    columns = ColumnTransformer(
        [("age", DeclaredBinner([0, 30, 50, None]), ["age"]), ("as is", "passthrough", ["job", "sex"])],
        verbose_feature_names_out=False,
    )
    whole = make_pipeline(columns, PublishableNBClassifier())
    assert whole.fit(frame, ILL)[-1].release_.views.attributes == ("x0", "x1", "x2")
    columns.set_output(transform="pandas")
    whole.fit(frame, ILL)
    assert whole[-1].release_.views.attributes == ("age", "job", "sex")
    assert whole[-1].release_.views.domain("job") == tuple(JOBS)
    assert (
        whole.predict(frame).tolist()
        == whole[-1]
        .release_.predict({**COLUMNS, "age": np.searchsorted([30, 50], COLUMNS["age"], side="right")})
        .tolist()
    )
    assert columns.get_feature_names_out().tolist() == ["age", "job", "sex"]


def test_frames_out_of_transformers_before_it_are_frames_in(frame):
    for library in ("pandas", "polars"):
        known = hasattr(pytest.importorskip(library).DataFrame, "__dataframe__")
        if not known and sklearn.__version__ < "1.7":
            continue  # its ColumnTransformer does not take them either
        with sklearn.config_context(transform_output=library):
            whole = make_pipeline(
                ColumnTransformer([("age", DeclaredBinner([0, 30, 50, None]), ["age"])]),
                PublishableNBClassifier(),
            ).fit(frame, ILL)
            assert whole[-1].feature_names_in_.tolist() == ["age__age"]
            assert set(whole.predict(frame)) <= {"no", "yes"}


def test_weights_are_routed_where_they_are_requested(frame):
    weights = np.random.default_rng(3).integers(0, 3, len(frame))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = PublishableNBClassifier(domain=DOMAIN, rows="proven").set_fit_request(sample_weight=True)
        whole = make_pipeline(FunctionTransformer(), asking).fit(frame, ILL, sample_weight=weights)
        expected = PublishableNBClassifier(domain=DOMAIN, rows="proven").fit(frame, ILL, weights)
        assert whole[-1].release_ == expected.release_
        with pytest.raises(UnsetMetadataPassedError):
            make_pipeline(PublishableNBClassifier(domain=DOMAIN, rows="proven")).fit(
                frame, ILL, sample_weight=weights
            )
        asking.set_score_request(sample_weight=True)
        scores = cross_validate(
            asking, frame, ILL, cv=2, params={"sample_weight": weights}, error_score="raise"
        )
        assert len(scores["test_score"]) == 2
        search = GridSearchCV(asking, {"amplification": [2, 4]}, cv=2, error_score="raise")
        assert search.fit(frame, ILL, sample_weight=weights).best_estimator_.release_.views.n_rows > 0


def test_it_votes_beside_others(frame):
    model = PublishableNBClassifier(domain=DOMAIN, rows="proven")
    voting = VotingClassifier([("a", model), ("b", clone(model).set_params(amplification=2))], voting="soft")
    voting.fit(frame, ILL)
    assert set(voting.predict(frame)) <= {"no", "yes"}
