"""What scikit-learn calls X, y and sample_weight, taken and refused."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from estimator_cases import matrix, people
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from nbcfast import Table
from nbcfast.sklearn import DeclaredBinner, DisguisedNBClassifier, PublishableNBClassifier

COLUMNS, ILL = people(120)
X = matrix(COLUMNS)
MODEL = PublishableNBClassifier(rows="proven")


def test_a_row_counts_as_often_as_its_weight_says():
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    expected = MODEL.fit(np.repeat(X, weights, axis=0), np.repeat(ILL, weights)).release_
    for given in (
        weights,
        weights.tolist(),
        weights.astype(float),
        weights.astype(object),
        weights.astype(np.uint8),
    ):
        assert MODEL.fit(X, ILL, given).release_ == expected
    plain = MODEL.fit(X, ILL).release_
    for given in (np.ones(len(X)), 1, np.full(len(X), True)):
        assert MODEL.fit(X, ILL, given).release_ == plain
    # A class, and a value, that no row with a weight has are not there.
    some = (ILL == "no") & (X[:, 0] != "smith")
    MODEL.fit(X, ILL, some)
    assert MODEL.classes_.tolist() == ["no"]
    assert MODEL.release_.views.domain("x0") == tuple(sorted({*X[some, 0]}))


@pytest.mark.parametrize(
    ("weights", "error", "match"),
    [
        (np.full(120, 1.5), ValueError, "must be whole numbers, as counts are of whole people .* got 1.5"),
        (np.full(120, np.nan), ValueError, "whole numbers.* got nan"),
        (np.full(120, np.inf), ValueError, "whole numbers.* got inf"),
        (np.full(120, -1), ValueError, "at least 0, got -1"),
        (np.zeros(120), ValueError, "zero for every row: no row is left"),
        (np.ones(119), ValueError, r"a number for each of 120 rows, got shape \(119,\)"),
        (np.ones((120, 1)), ValueError, r"got shape \(120, 1\)"),
        (["1"] * 120, TypeError, "must be whole numbers, got <U1"),
        (np.full(120, 2.0**62), ValueError, r"add up to less than 2\^63"),
        (np.full(120, 2**64 - 1, np.uint64), ValueError, r"add up to less than 2\^63"),
        ([10**30] * 120, TypeError, "must be whole numbers, got object"),
    ],
)
def test_weights_that_are_no_counts_are_refused(weights, error, match):
    with pytest.raises(error, match=match):
        MODEL.fit(X, ILL, weights)


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        (ILL[:-1], ValueError, "inconsistent numbers of samples: X has 120 rows and y 119"),
        (np.linspace(0, 1, 120), ValueError, "Unknown label type: continuous"),
        (np.full(120, np.nan), ValueError, "Input y contains NaN"),
        (np.full(120, np.inf), ValueError, "Input y contains infinity"),
        ([None, *ILL[1:]], ValueError, "Input y contains NaN: a row without a class"),
        (np.stack([ILL, ILL], axis=1), ValueError, "y should be a 1d array"),
        ([b"no"] * 120, TypeError, "column 'class': expected"),
        ([1, "no"] * 60, TypeError, "column 'class': expected values of one kind, got int and text"),
    ],
)
def test_classes_that_are_none_are_refused(y, error, match):
    with pytest.raises(error, match=match):
        MODEL.fit(X, y)


def test_many_classes_are_taken_and_most_rows_with_one_of_their_own_with_a_warning():
    assert len(MODEL.fit(X[:, :1], np.arange(120) % 24).classes_) == 24
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        MODEL.fit(X[:30, :1], np.arange(30) // 1.4 // 1)
    assert all("greater than 50% of the number of samples" in str(warning.message) for warning in said)
    assert said or sklearn.__version__ < "1.7"
    with pytest.raises(ValueError, match="class_name='class' has 300 values, more than 256 classes"):
        MODEL.fit(np.arange(600)[:, np.newaxis] % 3, np.arange(600) % 300)


def test_a_column_of_classes_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        made = MODEL.fit(X, ILL[:, np.newaxis]).release_
    assert made == MODEL.fit(X, ILL).release_


def test_rows_that_are_none_are_refused():
    pd, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    frame = pd.DataFrame(X, columns=["job", "sex", "age"])
    twice = pd.DataFrame(X, columns=["job", "sex", "job"])
    for rows, error, match in (
        (X[:, 0], ValueError, "Expected 2D array, got 1D array instead"),
        (X[:0], ValueError, "0 sample"),
        (X[:, :0], ValueError, "0 feature"),
        (frame.iloc[:0], ValueError, r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (frame.iloc[:, :0], ValueError, "0 feature"),
        (twice, ValueError, "(?s)(distinct|unique) column names, got.*'job'"),
        (sparse.csr_matrix(np.ones((120, 2))), TypeError, "[Ss]parse"),
        (np.ones((120, 2), complex), ValueError, "Complex data not supported"),
        (np.full((120, 1), b"a"), TypeError, "column 'x0': expected bools, integers"),
        (np.array([[{}]] * 120, object), TypeError, "column 'x0': expected values of bool, int, .* got dict"),
        (np.array([[1], ["a"]] * 60, object), TypeError, "column 'x0': expected values of one kind"),
        ("people.csv", ValueError, "Expected 2D array"),
    ):
        with pytest.raises(error, match=match):
            MODEL.fit(rows, ILL[: len(rows)] if hasattr(rows, "iloc") else ILL)
    MODEL.fit(frame, ILL)
    with pytest.raises(ValueError, match="feature names should match"):
        MODEL.predict(frame.rename(columns={"sex": "gender"}))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        MODEL.predict(frame[["sex", "job", "age"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert MODEL.predict(X).tolist() == MODEL.predict(frame).tolist()
    with pytest.raises(ValueError, match="X has 2 features, but PublishableNBClassifier is expecting 3"):
        MODEL.fit(X, ILL).predict(X[:, :2])


def test_columns_that_were_left_out_are_not_looked_at_again():
    model = PublishableNBClassifier(domain={"x2": {"out": True}}, rows="proven").fit(X, ILL)
    other = X.copy()
    other[:, 2] = [{}] * len(X)
    assert model.predict(other).tolist() == model.predict(X).tolist()


def test_a_table_of_ours_is_a_frame_too():
    pytest.importorskip("pyarrow")
    model = PublishableNBClassifier(rows="proven").fit(Table(COLUMNS), ILL)
    assert model.release_.views.attributes == ("job", "sex", "age")
    assert model.predict(Table(COLUMNS)).tolist() == model.release_.predict(COLUMNS).tolist()


def test_dates_and_moments_of_frames_are_values():
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2020-01-01", "2020-01-02"] * 60)
    model = PublishableNBClassifier(rows="proven").fit(pd.DataFrame({"day": days}), ILL)
    assert model.release_.views.domain("day") == ("2020-01-01T00:00:00", "2020-01-02T00:00:00")


def test_what_is_masked_is_null():
    codes = np.arange(12).reshape(6, 2) % 3
    hidden = np.ma.array(codes, mask=codes == 2)
    y = np.array([0, 1] * 3)
    model = PublishableNBClassifier().fit(hidden, y)
    assert [domain.values for domain in model.release_.views.domains.values()] == [(0, 1, None)] * 2
    as_objects = codes.astype(object)
    as_objects[codes == 2] = None
    assert model.predict(hidden).tolist() == model.predict(as_objects).tolist()
    assert DeclaredBinner([0, 1, 3]).fit_transform(np.ma.array([[0, 2]], mask=[[0, 1]])).tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="Input y contains NaN"):
        model.fit(codes, np.ma.array(y, mask=y == 1))
    with pytest.raises(ValueError, match="sample_weight must have a number for each row, got some that are"):
        model.fit(codes, y, np.ma.array(np.ones(6), mask=y == 1))


def test_weights_of_a_table_are_not_lost():
    x, y = np.array([0, 0, 0, 1, 1, 1] * 5), np.array([0, 0, 1, 1, 1, 0] * 5)
    weights = np.where(y == 1, 50, 1)
    table = Table({"x": x}, weights=weights)
    model = PublishableNBClassifier().fit(table, y)
    assert model.release_ == clone(model).fit(Table({"x": x}), y, weights).release_
    assert model.predict(table).tolist() == [1] * 30
    with pytest.raises(ValueError, match="sample_weight does not go with weights of X"):
        model.fit(table, y, weights)
    with pytest.raises(ValueError, match="so give them to the next step as sample_weight"):
        DeclaredBinner([0, 1, 2]).fit(table)
    with pytest.raises(ValueError, match="X has weights: an answer is that of one person"):
        DisguisedNBClassifier({"x": "4/5"}).fit(table, y)
