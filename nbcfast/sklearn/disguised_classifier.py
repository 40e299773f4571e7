"""`DisguisedNBClassifier`: fitted on answers that are disguised already, and asked about plain rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from nbcfast._core.dtypes import Array, Floats, Longs
from nbcfast._core.numbers import Numeral
from nbcfast._core.validation import whole
from nbcfast.published.fitted import sorted_places
from nbcfast.published.placing import in_domains
from nbcfast.response import KaryScheme, classifier, estimate
from nbcfast.response.estimating import EstimationMethod
from nbcfast.response.schemes import AnyScheme
from nbcfast.sklearn.columns_in import (
    Features,
    categories_of_floats,
    columns_of,
    expect_no_weights,
    feature_names,
    features_of,
    labels_of,
)
from nbcfast.table import Table
from nbcfast.table.encode import used_values
from nbcfast.views.quality import probabilities, score_blocks

FITTED = ("estimate_", "classifier_", "classes_", "n_features_in_", "feature_names_in_")


class DisguisedNBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes from answers by randomised response: `fit` takes disguised rows, `predict` plain ones.

    Respondents throw their coins before anything is collected: `nbcfast.response.disguise`, or their own
    devices by `disguise_record`. From what they told this estimates the shares of the truth, and classifies
    by these: its labels are those of ``response.classifier(response.estimate(..))``. A question is asked as
    it is: nobody throws a coin for it. That is why randomised response is no transformer, which a Pipeline
    would apply to the question too.

    What is fitted is estimates and nothing else, and they are computed from answers that were disguised
    before they came here: whatever is done with them tells no more of the truth behind the coins than these
    answers do. **Columns without a coin were told as they are**, and their shares are in the estimates as
    they were told: of these nothing is hidden, in `fit`, in the fitted object, or in a pickle of it. It is
    no release: no certificate says how the answers were made, and no limit bounds what its numbers say.

    Parameters
    ----------
    scheme : Scheme, KaryScheme, or mapping of name -> theta
        What the answers were made by; columns of arrays are called x0, x1, .., and the class `class_name`.
        Columns that it does not name were told as they are. A mapping stands for a coin of its own for each
        column, with this probability of the truth and any other value found in the answers equally likely
        as a lie: where a value could have been told that nobody told, that is another scheme, and only a
        `KaryScheme` says so.
    alpha : int, Fraction, str or float
        Smoothing of the estimated shares, as of `response.classifier`.
    method : {"projection", "em"}
        How shares below 0 are avoided, as of `response.estimate`.
    bins : int or None
        Columns of floats that the scheme does not name are cut into so many bins of about equal weight. With
        None each float is a value, as each float of a column with a coin is.
    class_name : str
        What the scheme calls the class.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores.

    Attributes
    ----------
    estimate_ : Estimate
        Shares of classes and of values and classes, with their variances and intervals.
    classifier_ : Classifier
        What is made of them.
    classes_ : ndarray
        Sorted; those that the scheme declares, if it declares them, else those that were told.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of columns.

    Notes
    -----
    There is no ``sample_weight``: an answer is that of one person, who threw one coin.

    See Also
    --------
    nbcfast.response.disguise : Makes the answers.
    nbcfast.response.accuracy : How good a classifier is on the truth behind a disguised test set.

    Examples
    --------
    >>> import numpy as np
    >>> from nbcfast import Table, response
    >>> truth = Table({"smokes": ["yes", "no"] * 500, "health": ["ill", "well"] * 450 + ["well", "ill"] * 50})
    >>> scheme = response.KaryScheme("0.8", {"smokes": ["no", "yes"], "health": ["ill", "well"]})
    >>> told = response.disguise(truth, scheme, rng=np.random.default_rng(7)).to_pandas()
    >>> model = DisguisedNBClassifier(scheme, class_name="health").fit(told[["smokes"]], told["health"])
    >>> model.predict(Table({"smokes": ["yes", "no"]})).tolist()
    ['ill', 'well']
    """

    def __init__(
        self,
        scheme: AnyScheme | Mapping[str, Numeral],
        alpha: Numeral = 1,
        *,
        method: EstimationMethod = "projection",
        bins: int | None = 5,
        class_name: str = "class",
        threads: int | None = None,
    ) -> None:
        self.scheme = scheme
        self.alpha = alpha
        self.method = method
        self.bins = bins
        self.class_name = class_name
        self.threads = threads

    def fit(self, X: Features, y: Features) -> Self:
        """Estimate the shares behind disguised answers.

        Parameters
        ----------
        X : frame or array-like of shape (answers, features)
            As they were told.
        y : array-like of shape (answers,)
            The classes, disguised where the scheme says so.

        Returns
        -------
        DisguisedNBClassifier
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is not as described, or answers and scheme do not match.
        """
        for name in FITTED:  # if anything fails, no older estimate is left behind other parameters
            self.__dict__.pop(name, None)
        expect_no_weights(X, "an answer is that of one person, who threw one coin")
        X = features_of(self, X, reset=True)
        names = feature_names(self)
        if self.class_name in names:
            raise ValueError(f"class_name must be none of the columns of X, got {self.class_name!r}")
        labels = labels_of(y, self.class_name, X.shape[0], type(self).__name__)
        columns = {**columns_of(X, names, names), self.class_name: labels}
        told = Table.from_columns(columns, None, X.shape[0])
        scheme = scheme_of(self.scheme, told, self.class_name)
        told = self._binned(told, [*scheme.columns, *categories_of_floats(X, names)])
        found = estimate(told, scheme, self.class_name, method=self.method, threads=self.threads)
        made = classifier(found, self.alpha)
        self.estimate_, self.classifier_ = found, made
        self.classes_ = made.views.label_array()[sorted_places(made.views)]
        return self

    def _binned(self, told: Table, as_they_are: list[str]) -> Table:
        """The answers with columns of floats in bins, but for those of which each float is a value."""
        if self.bins is None:
            return told
        whole(self.bins, "bins", 2, expected="an int or None")
        for name in told.names:
            is_float = told.column(name).domain.kind == "float"
            if is_float and name != self.class_name and name not in as_they_are:
                told = told.bin(name, quantiles=self.bins)
        return told

    def predict(self, X: Features) -> Array:
        """The class of every plain row, by exact comparisons; ties go to the later class of the estimate.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As they are, and not disguised.

        Returns
        -------
        ndarray of shape (rows,)

        Raises
        ------
        ValueError
            If a row has a value that neither the scheme nor an answer has.
        """
        winners = self._winners(self._plain(X))
        labels: Array = self.classes_[winners]
        return labels

    def predict_proba(self, X: Features) -> Floats:
        """The probability of each class by the estimated shares; the largest of a row is that of `predict`.

        Where by these shares no class is possible all are equally probable, and the last one is predicted.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As they are, and not disguised.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
            In the order of ``classes_``.
        """
        table = self._plain(X)
        blocks = [scores for _, scores in score_blocks(self.classifier_.views, table)]
        return probabilities(
            np.concatenate(blocks)[:, sorted_places(self.classifier_.views)], self._winners(table)
        )

    def predict_log_proba(self, X: Features) -> Floats:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As they are, and not disguised.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _plain(self, X: Features) -> Table:
        """Plain rows in the values of the answers."""
        check_is_fitted(self)
        X = features_of(self, X, reset=False)
        names = feature_names(self)
        rows = Table.from_columns(columns_of(X, names, names), None, X.shape[0])
        rows = in_domains(rows, self.estimate_.domains)
        for name, domain in self.estimate_.domains.items():
            column = rows.column(name)
            used = used_values(column.codes, len(column.domain)) != 0
            unknown = np.flatnonzero(used & (column.domain.positions_in(domain) < 0))
            if len(unknown):
                raise ValueError(
                    f"column {name!r}: nobody told the value {column.domain.values[unknown[0]]!r}, and the "
                    "scheme has none such"
                )
        return rows

    def _winners(self, table: Table) -> Longs:
        """Positions in ``classes_``."""
        ranks: Longs = np.argsort(sorted_places(self.classifier_.views))
        return ranks[self.classifier_.predict(table, codes=True)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def scheme_of(scheme: object, told: Table, class_name: str) -> AnyScheme:
    """The scheme that a parameter is, or that a mapping of columns stands for."""
    if isinstance(scheme, AnyScheme):
        return scheme
    if not isinstance(scheme, Mapping):
        raise TypeError(
            "scheme must be a Scheme, a KaryScheme, or a mapping of columns to the probability of the truth, "
            f"got {type(scheme).__name__}"
        )
    if not scheme:
        raise ValueError("scheme: expected at least one column with a coin, got none")
    for name in scheme:
        if name not in told.names:
            raise ValueError(
                f"scheme: expected names of columns of X, or {class_name!r} for the class; got {name!r}"
            )
    found = {name: told.domain(name) for name in scheme}
    for name, values in found.items():
        if len(values) < 2:
            what = "one class" if name == class_name else f"one value of {name!r}"
            told_by = "1 sample tells" if told.n_rows == 1 else f"{told.n_rows:,} samples tell"
            raise ValueError(
                f"scheme: {told_by} {what}, and a coin needs two: give a KaryScheme, which says what could "
                "have been told"
            )
    return KaryScheme(list(scheme.values()), found)
