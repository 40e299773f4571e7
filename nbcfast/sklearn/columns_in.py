"""From what scikit-learn calls X and y to columns of values: frames, arrays and lists.

`check_array` would make one array of objects of a frame, and look at each of its cells. Here columns are
encoded as they are, each by itself, and scikit-learn checks names and numbers of features alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.utils import validation
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, column_or_1d, validate_data

from nbcfast._core.dtypes import Array, Longs
from nbcfast.frames import Frame
from nbcfast.table import arrow
from nbcfast.table.arrays import add_objects, add_values, is_arrow, unmasked
from nbcfast.table.encode import Column, ColumnBuilder
from nbcfast.table.table import Table
from nbcfast.table.values import INT64_MAX

Features = Any  # what a caller of an estimator hands over: typed by nobody


def features_of(estimator: Features, X: Features, *, reset: bool) -> Features:
    """X as a frame or a two-dimensional array, its names and number of features checked by scikit-learn.

    Parameters
    ----------
    estimator : estimator
        Whose ``n_features_in_`` and ``feature_names_in_`` are set with `reset`, and else held to.
    X : frame, array-like of two dimensions
        As the caller gave it.
    reset : bool
        Whether they are set, as in ``fit``.

    Raises
    ------
    ValueError, TypeError
        If X is no such thing, has no row or no column, or other columns than were fitted.
    """
    if isinstance(X, Frame):
        raise TypeError(
            "X: expected rows, got a nbcfast.frames.Frame, of which distinct rows alone are fetched: "
            "nbcfast.publish(frame, class_name, ..) publishes a classifier of it"
        )
    if not is_frame(X):
        # Lists of rows of several kinds would become texts.
        rows = np.array(X, dtype=object) if isinstance(X, list | tuple) else unmasked(X)
        X = check_array(rows, dtype=None, ensure_all_finite=False, estimator=estimator)
    elif not hasattr(X, "iloc") and type(X).__module__.partition(".")[0] not in ("polars", "pyarrow"):
        X = arrow.load_pyarrow().table(X)
    validate_data(estimator, _as_it_knows(X), reset=reset, skip_check_array=True)
    if 0 in X.shape:
        what = "sample" if X.shape[0] == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required"
        )
    return X


def expect_no_weights(X: Features, why: str) -> None:
    """Refuse a Table with weights, which would be lost."""
    if isinstance(X, Table) and X.weights is not None:
        raise ValueError(f"X has weights: {why}")


class _NamesAlone:
    """A frame as far as scikit-learn looks for names in one, by the protocol that it took before narwhals."""

    def __init__(self, names: list[str], shape: tuple[int, int]) -> None:
        self._names, self.shape = names, shape

    def __dataframe__(self) -> Self:
        return self

    def column_names(self) -> list[str]:
        """The names."""
        return self._names


def _as_it_knows(X: Features) -> Features:
    """X, or what has its names where this scikit-learn asks for a protocol that newer frames have dropped."""
    if isinstance(X, np.ndarray) or hasattr(X, "iloc") or hasattr(X, "__dataframe__"):
        return X
    return X if hasattr(validation, "nw") else _NamesAlone(names_in(X), X.shape)


def names_in(X: Features) -> list[str]:
    """The names of the columns of a frame of polars or pyarrow."""
    return list(X.column_names if hasattr(X, "column_names") else X.columns)


def is_frame(X: Features) -> bool:
    """Whether X has columns with names: a frame of pandas or polars, or another that speaks Arrow."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or is_arrow(X))


def feature_names(estimator: Features) -> list[str]:
    """The names of the features of a fitted estimator: its own, or x0, x1 .. where it has none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return default_names(estimator.n_features_in_)
    found = [str(name) for name in names]
    if len({*found}) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise ValueError(f"X must have distinct column names, got {twice!r} twice")
    return found


def default_names(n_features: int) -> list[str]:
    """The names of features that have none, as scikit-learn has them.

    Examples
    --------
    >>> default_names(3)
    ['x0', 'x1', 'x2']
    """
    return [f"x{place}" for place in range(n_features)]


def columns_of(X: Features, names: list[str], wanted: Iterable[str]) -> dict[str, Column]:
    """The wanted columns of X, encoded; what else there is, is not looked at.

    Parameters
    ----------
    X : frame or ndarray
        As of `features_of`.
    names : list of str
        Those of all its columns.
    wanted : iterable of str
        Which of them.
    """
    places = {name: names.index(name) for name in wanted}
    if hasattr(X, "iloc"):
        return {name: column_of(of_pandas(X.iloc[:, place]), name) for name, place in places.items()}
    if isinstance(X, np.ndarray) and X.dtype == object and len(places) == X.shape[1]:
        in_order = [ColumnBuilder(name) for name in names]
        add_objects(in_order, X)
        return {name: in_order[place].finish() for name, place in places.items()}
    if isinstance(X, np.ndarray):
        return {name: column_of(X[:, place], name) for name, place in places.items()}
    own = names_in(X)
    builders = {name: ColumnBuilder(name) for name in places}
    readers, batches = arrow.open_columns(X, [own[place] for place in places.values()])
    for batch in batches:
        for name, place in places.items():
            arrow.add_batch(builders[name], readers[own[place]], batch[own[place]])
    return {name: builder.finish() for name, builder in builders.items()}


def of_pandas(series: Features) -> Features:
    """The values of a column of pandas: an array of NumPy's, or one that goes by Arrow."""
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else ""
    if kind and kind in "biufO":
        return series.to_numpy()
    if getattr(series.dtype, "storage", None) == "python":  # texts that are objects, as without pyarrow
        return series.to_numpy(dtype=object)
    return series


def column_of(values: Features, name: str) -> Column:
    """One column of values, encoded."""
    builder = ColumnBuilder(name)
    add_values(builder, values)
    return builder.finish()


def categories_of_floats(X: Features, names: list[str]) -> frozenset[str]:
    """The columns that are categories by their type, of which each is a value whatever it is."""
    if hasattr(X, "iloc"):
        kinds = [hasattr(dtype, "categories") for dtype in X.dtypes]
    elif hasattr(X, "schema") and hasattr(X, "column_names"):
        kinds = [hasattr(field.type, "value_type") for field in X.schema]
    else:
        return frozenset()
    return frozenset(name for name, is_category in zip(names, kinds, strict=True) if is_category)


def labels_of(y: Features, name: str, n_rows: int, estimator: str) -> Column:
    """The classes of the rows, encoded; what scikit-learn refuses of targets is refused."""
    if y is None:
        raise ValueError(
            f"This {estimator} estimator requires y to be passed, but the target y is None: it is a "
            "classifier, and publishes nothing without classes"
        )
    column = column_of(targets(y), name)
    if len(column.codes) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows:,} rows and y "
            f"{len(column.codes):,}"
        )
    domain = column.domain
    if domain.kind == "float":
        numbers = np.array([np.nan if value is None else value for value in domain.values])
        assert_all_finite(numbers, input_name="y")
    if None in domain.tail:
        raise ValueError("Input y contains NaN: a row without a class says nothing of classes, leave it out")
    # Of the distinct values alone, as scikit-learn would sort the texts of all rows; twice where rows share
    # theirs, or it would warn that each has one of its own.
    distinct = np.array(domain.values)
    check_classification_targets(np.repeat(distinct, 2 if 2 * len(distinct) <= n_rows else 1))
    return column


def targets(y: Features) -> Features:
    """What y is, as one column; texts of Arrow stay such."""
    y = unmasked(y)
    if getattr(y, "ndim", None) == 1 or type(y).__module__.partition(".")[0] == "polars":
        if hasattr(y, "iloc"):
            return of_pandas(y)
        if is_arrow(y):
            return y
    return column_or_1d(np.array(y, dtype=object) if _is_mixed(y) else y, warn=True)


def _is_mixed(y: Features) -> bool:
    """Whether y is a list of which NumPy would make texts."""
    return isinstance(y, list | tuple) and len({type(label) for label in y}) > 1


def whole_weights(X: Features, sample_weight: Features, n_rows: int) -> Longs | None:
    """How often each row counts; None where each counts once. A Table may have weights of its own.

    Raises
    ------
    ValueError, TypeError
        If it is not a whole number, of at least 0, for each row.
    """
    if isinstance(X, Table) and X.weights is not None:
        if sample_weight is not None:
            raise ValueError("sample_weight does not go with weights of X: expected one of them")
        sample_weight = X.weights
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight must have a number for each row, got some that are masked")
    weights: Array = np.asarray(sample_weight)
    if weights.ndim == 0 and weights.dtype.kind in "biuf":
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have a number for each of {n_rows:,} rows, got shape {weights.shape}"
        )
    if weights.dtype.kind == "O":
        with suppress(TypeError, ValueError, OverflowError):
            weights = np.array(weights.tolist())
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"sample_weight must be whole numbers, got {weights.dtype}")
    if weights.dtype.kind == "f":
        odd = np.flatnonzero(~(np.floor(weights) == weights) | np.isinf(weights))
        if len(odd):
            raise ValueError(
                "sample_weight must be whole numbers, as counts are of whole people and no limit is known of "
                f"parts of them, got {weights[odd[0]].item()!r}"
            )
    if len(weights) and weights.min() < 0:
        raise ValueError(f"sample_weight must be at least 0, got {weights.min().item()!r}")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: no row is left to count")
    if float(weights.max()) > INT64_MAX // n_rows:
        raise ValueError(
            f"sample_weight must add up to less than 2^63, got {weights.max().item()!r} among {n_rows:,}"
        )
    counted: Longs = weights.astype(np.int64)
    return None if (counted == 1).all() else counted
