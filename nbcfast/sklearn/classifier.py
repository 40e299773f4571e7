"""`PublishableNBClassifier`: its fitted state is a release and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Array, Floats
from nbcfast._core.numbers import Numeral
from nbcfast._core.validation import choice
from nbcfast._rounding.rows import RowsArgument
from nbcfast.domains import Declarations
from nbcfast.published.document import text_of
from nbcfast.published.fitted import sorted_places
from nbcfast.published.raw_rows import Answering
from nbcfast.published.raw_rows import predict as answered
from nbcfast.published.release import Release
from nbcfast.sklearn.columns_in import (
    Features,
    categories_of_floats,
    columns_of,
    default_names,
    feature_names,
    features_of,
    labels_of,
    whole_weights,
)
from nbcfast.sklearn.made_in_fit import AnyMenu, ReleaseAsked, declarations_of, warn_of_left_out
from nbcfast.sklearn.words_of_estimators import PARAMETER_WORDS
from nbcfast.table.table import Table
from nbcfast.verification.load import load, release_from
from nbcfast.views.quality import log_probabilities, log_shares, probabilities, raised

FITTED = ("release_", "classes_", "n_features_in_", "feature_names_in_")


class PublishableNBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A naive Bayes classifier that can be handed to anybody who may have its release.

    `fit` counts private rows, makes a release of the counts as `nbcfast.publish` does, and forgets them: what
    is fitted, pickled or sent to another process is the release, and nothing else. It decides as the private
    classifier does wherever the certificate says so.

    The limits of the release hold. What its answers give away by themselves no limit bounds, and `fit`
    measures nothing of it and refuses nothing for it: before a release leaves the house take
    `nbcfast.publish`, which does, or read `nbcfast.canonical.leak`. Whatever is chosen by looking at scores
    of the rows, as a grid search does, says something of them besides.

    Parameters
    ----------
    amplification : int, Fraction, str or float
        The limit of Lambda, above 1; see `nbcfast.publish`.
    method : {"auto", "canonical", "safetytransform"}
        "canonical": from the classifier's answers and nothing else. "safetytransform": powers of the counts.
        "auto": the first where it applies, by public facts alone, and else the second.
    preserve : {"label", "order"}
        What stays as it is at every tuple: the best class, or the order of all.
    attacker : {"row", "worlds"}
        "worlds" averages over possible worlds: Lambda is held to half.
    domain : mapping, or path of a JSON file, optional
        Declared values and bins: ``{"sex": ["f", "m"], "age": {"edges": [0, 18, 65, None]}}``; see
        `nbcfast.domains.declared`. Columns of arrays are called x0, x1 ..; `class_name` may stand there too.
    menu : Menu, mapping, or path of a JSON file, optional
        In place of `domain`: options of each column, of which the best that keep the limits are chosen in
        `fit`; the certificate says which, and how much the choice tells. See `nbcfast.canonical.advise`.
    bins : int or None
        Columns of floats that are not declared are cut into so many bins of about equal weight, with a
        warning: their edges are values of people. None refuses them.
    precedence : sequence, optional
        All classes, the lowest first: of equal scores the later class wins. By default sorted.
    rows : {"smallest", "proven"} or int
        How many rows the published counts stand for.
    unseen : {"error", "ignore"}
        What to do with a row whose value was not published: refuse it, or leave the attribute out, with a
        warning where that befalls several values of a column and none is known.
    alpha : int, Fraction, str or float
        Above 0 the classifier with so much added to every count is published. It protects nobody.
    dp_epsilon : int, Fraction, str or float, optional
        Noise is added to every count first: the release is differentially private. All columns and the
        classes must be declared. A second `fit` draws other noise, and spends as much again.
    class_name : str
        What the class is called in the certificate, and in `domain`; the name of y is not looked at.
    threads : int, optional
        By default NBCFAST_THREADS, or all cores.

    Attributes
    ----------
    release_ : Release
        With its certificate; ``release_.save(DIR)`` writes it.
    classes_ : ndarray
        Sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of columns.

    Notes
    -----
    There is no ``partial_fit``, which would have to keep private counts: `nbcfast.count` and ``+`` of views
    count by parts. There is no ``decision_function``: points and published odds are two scales.

    See Also
    --------
    nbcfast.publish : The same with all that its publisher should know.
    nbcfast.canonical.leak : What the answers of a classifier give away.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([["low", "f"], ["high", "m"], ["high", "f"], ["low", "m"]] * 20)
    >>> y = np.array(["no", "yes", "no", "no"] * 20)
    >>> model = PublishableNBClassifier(amplification=4).fit(X, y)
    >>> model.predict([["high", "m"], ["low", "m"]]).tolist()
    ['yes', 'no']
    >>> model.release_.certificate.method, model.release_.views.attributes
    ('canonical', ('x0', 'x1'))
    """

    def __init__(
        self,
        amplification: Numeral = 4,
        *,
        method: Literal["auto", "canonical", "safetytransform"] = "auto",
        preserve: Preserve = "label",
        attacker: Attacker = "row",
        domain: Declarations | None = None,
        menu: AnyMenu | None = None,
        bins: int | None = 5,
        precedence: Sequence[object] | None = None,
        rows: RowsArgument = "smallest",
        unseen: Literal["error", "ignore"] = "error",
        alpha: Numeral = 0,
        dp_epsilon: Numeral | None = None,
        class_name: str = "class",
        threads: int | None = None,
    ) -> None:
        self.amplification = amplification
        self.method = method
        self.preserve = preserve
        self.attacker = attacker
        self.domain = domain
        self.menu = menu
        self.bins = bins
        self.precedence = precedence
        self.rows = rows
        self.unseen = unseen
        self.alpha = alpha
        self.dp_epsilon = dp_epsilon
        self.class_name = class_name
        self.threads = threads

    def fit(self, X: Features, y: Features, sample_weight: Features = None) -> Self:
        """Count the rows, make a release of the counts, and keep the release.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            Numbers, bools and texts are values, and so are None and NaN, and what is masked, which is None;
            floats are put into bins.
        y : array-like of shape (rows,)
            The classes.
        sample_weight : array-like of int of shape (rows,), optional
            How often each row counts; 0 drops it. By default the weights of X, where it is a Table.

        Returns
        -------
        PublishableNBClassifier
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is not as described.
        Infeasible
            If the demands cannot be met.
        """
        for name in FITTED:  # if anything fails, no older release is left behind other parameters
            self.__dict__.pop(name, None)
        choice(self.unseen, ("error", "ignore"), "unseen")
        asked = self._asked()
        given, X = X, features_of(self, X, reset=True)
        names = feature_names(self)
        labels = labels_of(y, self.class_name, X.shape[0], type(self).__name__)
        weights = whole_weights(given, sample_weight, X.shape[0])
        release = asked.release(
            columns_of(X, names, names),
            labels,
            weights,
            categories_of_floats(X, names),
            stacklevel=2,
            called=getattr(y, "name", None),
        )
        self._hold(release)
        return self

    def _asked(self) -> ReleaseAsked:
        parameters = self.get_params(deep=False)
        del parameters["unseen"]
        return ReleaseAsked(**parameters)

    def _hold(self, release: Release) -> None:
        """Keep a release, and what follows from it."""
        self.release_ = release
        self.classes_ = release.views.label_array()[sorted_places(release.views)]

    @classmethod
    def from_release(cls, release: Release | str | os.PathLike[str], **parameters: Any) -> Self:
        """The estimator of a release that somebody else has made, checked as `nbcfast.load` checks it.

        Parameters
        ----------
        release : Release, or path
            The release, or the folder that `save` wrote.
        **parameters
            Others than the release says: ``unseen``, ``threads``, and ``domain`` or ``menu`` where it was
            published with sets, or bins that have names, which no certificate holds.

        Returns
        -------
        PublishableNBClassifier
            Fitted. Names of columns are those of the release.

        Raises
        ------
        ValueError
            If a check fails; the message names what is wrong.
        TypeError
            If it is no release.

        Examples
        --------
        >>> import nbcfast
        >>> made = nbcfast.canonical.release(nbcfast.Viewset([5, 9], {"x0": [[1, 6], [4, 3]]}), 4)
        >>> PublishableNBClassifier.from_release(made).predict([[0], [1]]).tolist()
        [1, 0]
        """
        if isinstance(release, Release):
            checked: object = release_from(text_of(release), "release")
        elif isinstance(release, str | os.PathLike):
            checked = load(release)
        else:
            checked = release
        if not isinstance(checked, Release):
            raise TypeError(f"release must be a Release or the path of one, got {type(checked).__name__}")
        made, views = checked.certificate, checked.views
        amplification = made.amplification
        own: dict[str, Any] = {
            "amplification": int(amplification) if amplification == int(amplification) else amplification,
            "method": made.method if made.method != "est" else "auto",
            "preserve": made.preserve,
            "attacker": made.attacker,
            "class_name": "class" if checked.class_name is None else checked.class_name,
        }
        model = cls(**{**own, **parameters})
        model.n_features_in_ = len(views.attributes)
        if [*views.attributes] != default_names(len(views.attributes)):
            model.feature_names_in_ = np.array(views.attributes, object)
        model._hold(checked)
        return model

    def predict(self, X: Features) -> Array:
        """The class of every row, by exact comparisons of the published counts.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As of `fit`, with the same columns.

        Returns
        -------
        ndarray of shape (rows,)

        Raises
        ------
        ValueError
            If a row has a value that the release does not know, unless ``unseen="ignore"``.
        """
        table, answering = self._rows(X, stacklevel=3)
        return self._answers(table, answering, self.release_.views.label_array())

    def predict_proba(self, X: Features) -> Floats:
        """The posterior of each class by the published counts; the largest of a row is that of `predict`.

        These are probabilities among published rows, and no shares of the people in the data. Which class is
        best is kept; how people are ranked, as ``roc_auc`` looks at it, need not be.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As of `fit`, with the same columns.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
            In the order of ``classes_``.
        """
        scores, winners = self._scores(X)
        return self._sorted(probabilities(scores, winners), winners)

    def predict_log_proba(self, X: Features) -> Floats:
        """The logarithms of `predict_proba`, from logarithms of counts; the largest is that of `predict`.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As of `fit`, with the same columns.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
        """
        scores, winners = self._scores(X)
        return self._sorted(log_probabilities(scores, winners), winners)

    def predict_joint_log_proba(self, X: Features) -> Floats:
        """The logarithms of shares of published rows, ln P(x, c); the largest of a row is that of `predict`.

        Parameters
        ----------
        X : frame or array-like of shape (rows, features)
            As of `fit`, with the same columns.

        Returns
        -------
        ndarray of float64, shape (rows, classes)
        """
        return self._sorted(*self._scores(X))

    def _rows(self, X: Features, stacklevel: int) -> tuple[Table, Answering]:
        """The columns that the release has, encoded, and how they are answered."""
        check_is_fitted(self, "release_")
        choice(self.unseen, ("error", "ignore"), "unseen")
        X = features_of(self, X, reset=False)
        columns = columns_of(X, feature_names(self), self.release_.views.attributes)
        declarations = declarations_of(self.domain, self.menu, self.release_)
        answering = self.release_.answering(declarations, PARAMETER_WORDS)
        if self.unseen == "ignore":
            warn_of_left_out(columns, answering.placings, stacklevel)
        return Table.from_columns(columns, None, X.shape[0]), answering

    def _answers(self, table: Table, answering: Answering, labels: Array | None) -> Array:
        return answered(answering, table, labels, self.unseen, self.threads, None)

    def _scores(self, X: Features) -> tuple[Floats, Array]:
        """The ln P(x, c) of each row and class of the release in its precedence, and which class wins."""
        table, answering = self._rows(X, stacklevel=4)
        winners = self._answers(table, answering, None)
        priors, conditional = log_shares(self.release_.views)
        scores = np.tile(priors, (table.n_rows, 1))
        nothing = np.zeros((1, len(priors)))  # what an attribute adds that is left out
        for name, array in conditional.items():
            column = table.column(name)
            places = answering.placings[name].places(column.domain)
            scores += np.vstack([array, nothing])[places][column.codes]
        return scores, winners

    def _sorted(self, scores: Floats, winners: Array) -> Floats:
        """Columns in the order of ``classes_``, of which the winner's is the largest."""
        places = sorted_places(self.release_.views)
        return raised(scores[:, places], np.argsort(places)[winners])

    def __getstate__(self) -> dict[str, object]:
        """Parameters, and of what is fitted the text of certificate.json: equal releases have equal bytes."""
        state: dict[str, object] = dict(super().__getstate__())
        if "release_" in state:
            state["release_"] = text_of(self.release_)
            del state["classes_"]
        if "feature_names_in_" in state:
            # Names that are objects of their own, whatever else in the state is equal to one.
            state["feature_names_in_"] = ["".join(map(str, name)) for name in self.feature_names_in_]
        return {name: state[name] for name in sorted(state)}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        """What was stored, where its certificate holds; ValueError where it does not."""
        if not isinstance(state, Mapping):
            raise ValueError(f"a pickle of an estimator must hold a mapping, got {type(state).__name__}")
        plain = dict(state)
        text, names = plain.pop("release_", None), plain.pop("feature_names_in_", None)
        n_features = plain.get("n_features_in_")
        if text is not None and (not isinstance(n_features, int) or n_features < 1):
            raise ValueError(f"n_features_in_ must be a number of columns, got {n_features!r}")
        if names is not None and not _are_names(names, n_features):
            raise ValueError(
                f"feature_names_in_ must be {n_features} distinct texts in a list, got {names!r}"
            )
        release = None if text is None else release_from(_text(text), "release_")
        super().__setstate__(plain)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        if release is not None:
            strange = {*release.views.attributes} - {*feature_names(self)}
            if strange:
                raise ValueError(f"release_: feature_names_in_ lacks its attribute {min(strange)!r}")
            self._hold(release)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _are_names(stored: object, n_features: object) -> bool:
    return (
        isinstance(stored, list)
        and all(isinstance(name, str) for name in stored)
        and len({*stored}) == len(stored) == n_features
    )


def _text(stored: object) -> str:
    if not isinstance(stored, str):
        raise ValueError(f"release_ must be the text of a certificate.json, got {type(stored).__name__}")
    return stored
