"""What leaves a process with an estimator: the text of a certificate, and no private count."""

import copy
import gc
import io
import pickle
import pickletools
import types

import joblib
import numpy as np
import pytest

pytest.importorskip("sklearn")

from estimator_cases import DOMAIN, matrix, people
from sklearn.base import clone

import nbcfast
from nbcfast import Release, Table, Viewset, canonical
from nbcfast.sklearn import PublishableNBClassifier
from nbcfast.table.encode import Column

COLUMNS, ILL = people()
X = matrix(COLUMNS)
PLANTED = 280  # values of two columns, each with two classes


@pytest.fixture(scope="module")
def fitted():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: column.tolist() for name, column in COLUMNS.items()})
    return PublishableNBClassifier(domain=DOMAIN).fit(frame, ILL)


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return joblib.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(
    "through",
    [lambda model: pickle.loads(pickle.dumps(model)), through_joblib, copy.deepcopy],
    ids=["pickle", "joblib", "copy"],
)
def test_a_copy_has_the_release_and_answers_alike(fitted, through):
    made = through(fitted)
    assert made.release_ == fitted.release_
    assert made.get_params() == fitted.get_params()
    assert made.classes_.tolist() == fitted.classes_.tolist()
    assert (made.n_features_in_, made.feature_names_in_.tolist()) == (3, ["job", "sex", "age"])
    assert vars(made).keys() == vars(fitted).keys()
    some = Table(COLUMNS).to_pandas().head(20)
    np.testing.assert_array_equal(made.predict_proba(some), fitted.predict_proba(some))
    assert not hasattr(through(clone(fitted)), "release_")


def test_equal_answers_are_equal_bytes_whoever_stands_behind_them():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: column.tolist() for name, column in COLUMNS.items()})
    thrice = pd.concat([frame, frame, frame])
    model = PublishableNBClassifier(domain=DOMAIN)
    once = pickle.dumps(model.fit(frame, ILL))
    assert once == pickle.dumps(model.fit(thrice, np.tile(ILL, 3)))
    assert once == pickle.dumps(clone(model).fit(frame, ILL, np.full(len(frame), 3)))
    # From elsewhere: other objects of equal texts, columns of other types, and after other calls.
    other = pd.DataFrame({"".join(name): [*column] for name, column in COLUMNS.items()}).astype(object)
    again = clone(model).fit(other.head(90), ILL[:90]).fit(other, ILL.tolist())
    again.predict(other)
    assert once == pickle.dumps(again)
    assert len(once) < 5_000


def test_skops_reads_it_with_one_trusted_type(fitted):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=data)
    assert trusted == ["nbcfast.sklearn.classifier.PublishableNBClassifier"]
    made = skops.loads(data, trusted=trusted)
    assert made.release_ == fitted.release_
    assert made.predict(Table(COLUMNS).to_pandas()).tolist() == fitted.release_.predict(COLUMNS).tolist()


def test_a_changed_digit_is_refused_in_a_sentence(fitted):
    data = pickle.dumps(fitted, protocol=0)
    [place] = [place for place in range(len(data)) if data.startswith(b'"class_counts":[', place)]
    digit = place + len(b'"class_counts":[')
    changed = b"%d" % (9 - int(data[digit : digit + 1]))
    with pytest.raises(ValueError, match="release_: sha256 does not match, the file was changed: "):
        pickle.loads(data[:digit] + changed + data[digit + 1 :])


@pytest.mark.parametrize(
    ("state", "match"),
    [
        ({"release_": "{}"}, "release_: .*truncated|release_: "),
        ({"release_": 3}, "release_ must be the text of a certificate.json, got int"),
        ({"release_": "Größe"}, "release_: "),
        (
            {"feature_names_in_": ["job", "sex", "years"]},
            "release_: feature_names_in_ lacks its attribute 'age'",
        ),
    ],
)
def test_a_state_that_does_not_hold_is_refused(fitted, state, match):
    made = PublishableNBClassifier()
    with pytest.raises(ValueError, match=match):
        made.__setstate__({**fitted.__getstate__(), **state})


def test_a_limit_that_is_not_kept_is_refused(fitted):
    views = fitted.release_.views
    made = Release(views, nbcfast.Certificate(amplification="1.01", tuples=views.n_tuples), "class")
    with pytest.raises(ValueError, match="Lambda of the counts exceeds the limit"):
        PublishableNBClassifier.from_release(made)


def test_a_recipient_has_the_estimator_of_a_folder(fitted, tmp_path):
    fitted.release_.save(tmp_path / "release")
    some = Table(COLUMNS).to_pandas().head(50)
    for given in (tmp_path / "release", str(tmp_path / "release"), fitted.release_):
        made = PublishableNBClassifier.from_release(given, unseen="ignore")
        assert made.release_ == fitted.release_
        assert made.predict(some).tolist() == fitted.predict(some).tolist()
        assert made.feature_names_in_.tolist() == ["job", "sex", "age"]
    parameters = made.get_params()
    assert {
        name: parameters[name] for name in ("amplification", "method", "preserve", "class_name", "unseen")
    } == {
        "amplification": 4,
        "method": "canonical",
        "preserve": "label",
        "class_name": "class",
        "unseen": "ignore",
    }
    unnamed = PublishableNBClassifier().fit(X, ILL)
    made = PublishableNBClassifier.from_release(unnamed.release_)
    assert not hasattr(made, "feature_names_in_")
    assert made.predict(X).tolist() == unnamed.predict(X).tolist()
    half = PublishableNBClassifier.from_release(PublishableNBClassifier("7/2").fit(X, ILL).release_)
    assert str(half.amplification) == "7/2"
    file = tmp_path / "release" / "certificate.json"
    file.write_text(file.read_text().replace('"class_counts":[', '"class_counts":[1'))
    with pytest.raises(ValueError, match="sha256 does not match"):
        PublishableNBClassifier.from_release(tmp_path / "release")
    with pytest.raises(TypeError, match="release must be a Release or the path of one, got int"):
        PublishableNBClassifier.from_release(3)
    canonical.release_by({**COLUMNS, "class": ILL}, "class", "sex", 4).save(tmp_path / "strata")
    with pytest.raises(
        TypeError, match="release must be a Release or the path of one, got StratifiedRelease"
    ):
        PublishableNBClassifier.from_release(tmp_path / "strata")


def planted():
    """Rows by their weights, of which each of a thousand counts is a large number like no other."""
    rng = np.random.default_rng(11)
    rows = rng.integers(0, PLANTED, (1_500, 2))
    return rows, rng.integers(0, 2, len(rows)), rng.integers(10**9, 2 * 10**9, len(rows))


def reached(*roots):
    """All that is reachable from objects, by what the collector, dictionaries and slots know of them."""
    seen, todo = {}, list(roots)
    skipped = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, skipped):
            continue
        seen[id(one)] = one
        todo += gc.get_referents(one)
        todo += getattr(one, "__dict__", {}).values()
        for cls in type(one).__mro__:
            slots = cls.__dict__.get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else slots
            todo += [getattr(one, name) for name in names if hasattr(one, name)]
    return list(seen.values())


def numbers_in(objects):
    """Every number that stands in them: by itself, in an array, or in a text, as digits of either kind."""
    for one in objects:
        if isinstance(one, int | float) and not isinstance(one, bool):
            yield int(one) if one == one and abs(one) != float("inf") else 0
        elif isinstance(one, np.ndarray) and one.dtype.kind in "iuf":
            yield from (int(number) for number in one.ravel().tolist() if number == number)


@pytest.mark.parametrize("method", ["canonical", "safetytransform"])
def test_nothing_that_is_reachable_holds_a_private_count(method):
    some, y, weights = planted()
    table = Table({"x0": some[:, 0], "x1": some[:, 1], "class": y}, weights=weights)
    private = nbcfast.count(table, "class")
    counts = {int(n) for array in (private.class_counts, *private.counts.values()) for n in array.ravel()} - {
        0
    }
    assert len(counts) >= 1_000
    model = PublishableNBClassifier(method=method, rows="proven").fit(some, y, weights)
    model.predict(some[:5])
    model.predict_proba(some[:5])
    objects = reached(model)
    assert not any(isinstance(one, Table | Column) for one in objects)
    views = [one for one in objects if isinstance(one, Viewset)]
    assert views == [model.release_.views]
    assert any(isinstance(one, np.ndarray) for one in objects)
    assert counts.isdisjoint(numbers_in(objects))
    texts = " ".join(one for one in objects if isinstance(one, str))
    state = " ".join(str(argument) for _, argument, _ in pickletools.genops(pickle.dumps(model)))
    for count in counts:
        assert str(count) not in texts
        assert f"0x{count:x}" not in texts
        assert str(count) not in state
    # That the walk finds them where they are:
    model.kept_ = private
    assert counts <= set(numbers_in(reached(model)))


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"n_features_in_": "3"}, "n_features_in_ must be a number of columns, got '3'"),
        ({"n_features_in_": None}, "n_features_in_ must be a number of columns, got None"),
        ({"n_features_in_": 4}, "feature_names_in_ must be 4 distinct texts in a list"),
        ({"feature_names_in_": "ab"}, "feature_names_in_ must be 3 distinct texts in a list, got 'ab'"),
        ({"feature_names_in_": ["job", "sex", "sex"]}, "feature_names_in_ must be 3 distinct texts"),
        ({"feature_names_in_": ["job", "sex", 3]}, "feature_names_in_ must be 3 distinct texts"),
    ],
)
def test_names_that_are_not_those_of_the_columns_are_refused(fitted, changed, match):
    with pytest.raises(ValueError, match=match):
        PublishableNBClassifier.__new__(PublishableNBClassifier).__setstate__(
            {**fitted.__getstate__(), **changed}
        )


def test_a_state_that_is_none_is_refused():
    with pytest.raises(ValueError, match="a pickle of an estimator must hold a mapping, got tuple"):
        PublishableNBClassifier().__setstate__((1, 2))
