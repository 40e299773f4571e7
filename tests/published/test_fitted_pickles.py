"""What `to_sklearn` keeps: the release and nothing private; its pickle is the certificate."""

import copy
import gc
import pickle
import types

import numpy as np
import pytest
from release_cases import EXAMPLES, edit, release_of

import nbcfast
from nbcfast import Table, Viewset, canonical
from nbcfast.published.document import text_of
from nbcfast.published.release import Release

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

COLUMNS = ["age", "glucose", "sex"]


@pytest.fixture(scope="module")
def patients():
    table = nbcfast.read_csv(EXAMPLES / "patients.csv", columns=[*COLUMNS, "diagnosis"])
    return table, nbcfast.count(table, "diagnosis")


@pytest.fixture(scope="module")
def release(patients):
    _, views = patients
    return canonical.release(views, 4, class_name="diagnosis")


def reachable(start):
    """All objects that an object leads to, but modules, classes and functions."""
    code = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    seen, waiting = {}, [start]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, code):
            seen[id(each)] = each
            waiting += gc.get_referents(each)
    return seen.values()


def test_what_a_model_leads_to_is_public(patients, release):
    _, private = patients
    for model in (release.to_sklearn(), pickle.loads(pickle.dumps(release.to_sklearn()))):
        found = list(reachable(model))
        views = [each for each in found if isinstance(each, Viewset)]
        assert len(views) == 1
        assert views[0] == release.views
        assert not [each for each in found if isinstance(each, Table)]
        own = [array for array in private.counts.values() if array.size > 4]
        arrays = [each for each in found if isinstance(each, np.ndarray)]
        assert not any(np.array_equal(mine, theirs) for mine in own for theirs in arrays)


def test_equal_releases_are_the_same_bytes(patients, release):
    table, views = patients
    tripled = canonical.release(views + views + views, 4, class_name="diagnosis")
    assert pickle.dumps(tripled.to_sklearn()) == pickle.dumps(release.to_sklearn())
    again = pickle.loads(pickle.dumps(release.to_sklearn()))
    again.predict_proba(release.codes(table))
    assert pickle.dumps(again) == pickle.dumps(release.to_sklearn())
    assert text_of(release).encode("ascii") in pickle.dumps(release.to_sklearn())


def test_copies_answer_as_the_model(patients, release):
    table, _ = patients
    X, model = release.codes(table), release.to_sklearn()
    for copied in (copy.copy(model), copy.deepcopy(model), clone(model), pickle.loads(pickle.dumps(model))):
        assert copied is not model
        assert (copied.predict(X) == model.predict(X)).all()
        assert np.array_equal(copied.predict_log_proba(X), model.predict_log_proba(X))
        assert copied.get_params() == model.get_params()
        assert vars(copied).keys() == vars(model).keys()
        with pytest.raises(TypeError, match="not fitted again"):
            copied.fit(X, table.codes("diagnosis"))


def test_a_frozen_model_goes_through_pipelines_and_folds(patients, release):
    table, _ = patients
    y = np.array(table.domain("diagnosis"))[table.codes("diagnosis")]
    decided = release.predict(table)
    codes = FunctionTransformer(release.codes)
    frozen = make_pipeline(codes, FrozenEstimator(release.to_sklearn()))
    frame = table.to_pandas()
    assert (frozen.fit(frame, y).predict(frame) == decided).all()
    assert (clone(frozen).fit(frame, y).predict(frame) == decided).all()
    assert (cross_val_predict(frozen, frame, y, cv=3) == decided).all()
    scores = cross_val_score(frozen, frame, y, cv=5)
    assert scores.mean() == pytest.approx((decided == y).mean(), abs=1e-3)
    with pytest.raises(TypeError, match="not fitted again"):
        make_pipeline(codes, release.to_sklearn()).fit(frame, y)


def changed(text):
    return pickle.dumps(release_of().to_sklearn()).replace(b'"class_counts":[3,5]', text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'"class_counts":[4,5]', "a pickle of a published classifier: sha256 does not match, the file was"),
        (b'"class_counts":[3;5]', "a pickle of a published classifier: the file is damaged"),
        (b'"class_counts":[0,5]', "sha256 does not match"),
        (b'"class_counts":\xc3\xbc,35', "is not ASCII: the file is damaged"),
    ],
)
def test_a_changed_pickle_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        pickle.loads(changed(text))


def test_a_signed_lie_is_refused(tmp_path):
    release_of().save(tmp_path / "out")
    path = tmp_path / "out" / "certificate.json"

    def beyond(document):
        document["amplification"] = "101/100"

    edit(path, beyond, sign=True)
    model = release_of().to_sklearn()
    for text, message in (
        (path.read_text(), "Lambda of the counts exceeds the limit"),
        ("{}\n", "a pickle of a published classifier: "),
        (None, "must hold the text of certificate.json, got NoneType; make it again from the release"),
    ):
        with pytest.raises(ValueError, match=message):
            model.__setstate__({"certificate": text})
    with pytest.raises(ValueError, match="must hold the text of certificate"):
        model.__setstate__({"alpha": 0, "_views": None})


def test_a_certificate_of_another_kind_is_refused(tmp_path):
    table = Table({"age": ["old", "young"] * 5, "ill": ["no", "yes"] * 5})
    nbcfast.skyline.anonymize(table, ["age"], "ill", k=5).save(tmp_path / "out")
    text = (tmp_path / "out" / "certificate.json").read_text()
    with pytest.raises(ValueError, match="must hold the certificate of a release, got another kind"):
        release_of().to_sklearn().__setstate__({"certificate": text})


def test_what_could_not_be_saved_is_not_pickled():
    views = Viewset([2, 2], {"x": [[2, 0], [0, 2]]})
    model = Release(views, release_of(views).certificate).to_sklearn()
    assert model.predict([[0], [1]]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="not pickled: attribute 'x' has a count of 0"):
        pickle.dumps(model)
    assert clone(model).predict([[0]]).tolist() == [0]
