"""`DeclaredBinner`: numbers to the numbers of bins whose edges are public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nbcfast._core.dtypes import Longs
from nbcfast._core.spelling import in_place
from nbcfast.domains import Option
from nbcfast.domains.declarations import entry_of
from nbcfast.sklearn.columns_in import Features, columns_of, expect_no_weights, feature_names, features_of

Edges = Sequence[object] | Mapping[str, Sequence[object]]


class DeclaredBinner(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Put numbers into bins whose edges are known without looking at any row.

    The bins are half-open, [low, high), and decided exactly: a float means its shortest decimal text, so that
    0.3 lies in [0.3, 0.4). `fit` looks at names and numbers of columns and learns nothing from the rows, so
    that a pipeline with it, and with the codes declared behind it, publishes nothing of them but a release.

    Parameters
    ----------
    edges : sequence of numbers, or mapping of name -> sequence
        At least 2, strictly increasing; None or an infinity at an end leaves it open. One sequence for all
        columns, or one for each: columns of arrays are called x0, x1 ..

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of columns.

    See Also
    --------
    PublishableNBClassifier : Bins by itself, with ``domain={"age": {"edges": [..]}}``.

    Examples
    --------
    >>> DeclaredBinner([0, 18, 65, None]).fit_transform([[17, 18], [64.5, 90], [3, None]]).tolist()
    [[0, 1], [1, 2], [0, 3]]
    """

    def __init__(self, edges: Edges) -> None:
        self.edges = edges

    def fit(self, X: Features, y: object = None) -> Self:
        """Look at the names and the number of columns.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            Numbers, or texts of numbers.
        y : ignored
            There for pipelines.

        Returns
        -------
        DeclaredBinner
            Itself.

        Raises
        ------
        ValueError, TypeError
            If edges are not as described, or there are none for a column.
        """
        expect_no_weights(X, "numbers of bins have none, so give them to the next step as sample_weight")
        features_of(self, X, reset=True)
        self._options(feature_names(self))
        return self

    def transform(self, X: Features) -> Longs:
        """For each number the place of its bin, from 0; for None and NaN the place after the last.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            With the columns of `fit`.

        Returns
        -------
        ndarray of int64, shape (rows, features), or what ``set_output`` asks for

        Raises
        ------
        ValueError
            If a number lies outside the edges, or a value is none.
        """
        check_is_fitted(self)
        X = features_of(self, X, reset=False)
        names = feature_names(self)
        options = self._options(names)
        places = np.empty((X.shape[0], len(names)), np.int64)
        for place, (name, column) in enumerate(columns_of(X, names, names).items()):
            option = options[name]
            codes = option.codes(column.domain)
            why = option.uncovered(column, codes)
            if why is not None:
                raise ValueError(f"column {name!r}: {why}")
            places[:, place] = codes[column.codes]
        return places

    def _options(self, names: list[str]) -> dict[str, Option]:
        """The bins of each column, of which null is one more."""
        edges = self.edges
        if isinstance(edges, Mapping):
            missing = [name for name in names if name not in edges]
            strange = [name for name in edges if name not in names]
            if missing:
                raise ValueError(f"edges must be given for every column, got none for {missing[0]!r}")
            if strange:
                raise ValueError(f"edges: X has no column {strange[0]!r}{in_place(strange[0], names)}")
            return {name: _option(edges[name], f"edges[{name!r}]") for name in names}
        return dict.fromkeys(names, _option(edges, "edges"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True  # of numbers
        tags.transformer_tags.preserves_dtype = []  # numbers of bins are whole numbers, whatever comes in
        return tags


def _option(edges: object, where: str) -> Option:
    """The bins between edges, and null."""
    if isinstance(edges, str | bytes) or not isinstance(edges, Sequence | np.ndarray):
        raise TypeError(f"{where} must be a sequence of numbers, got {type(edges).__name__}")
    option = entry_of({"edges": edges, "null": True}, where, _no_file)
    assert isinstance(option, Option)  # of edges, and of no width
    return option


def _no_file(path: str) -> str:
    raise ValueError(f"edges: expected numbers, got the file {path!r}")
