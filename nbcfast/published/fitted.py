"""`PublishedCategoricalNB`: a release as scikit-learn knows classifiers. Imported by `to_sklearn` alone."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NoReturn

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.utils.validation import check_is_fitted

from nbcfast._core.dtypes import Array, Counts, Floats, Longs
from nbcfast._core.validation import type_name
from nbcfast._wire.count_faults import unpositive, unrealistic
from nbcfast._wire.json_entries import Refused
from nbcfast._wire.kinds import parse_any
from nbcfast._wire.release_form import ReleaseDocument
from nbcfast.published.document import at_odds, beyond, strange, text_of, unfit
from nbcfast.published.release import Release
from nbcfast.published.restored import release_of
from nbcfast.table.encode import code_dtype
from nbcfast.views import Viewset
from nbcfast.views.quality import log_probabilities, log_shares, raised
from nbcfast.views.scoring import predict_codes

REFUSED = (
    "a published classifier is not fitted again: {what} would put an ordinary CategoricalNB, with the counts "
    "of the rows it is given, in the place of the release. To measure the release as it is, take "
    "model.score(X, y) or cross_val_score(sklearn.frozen.FrozenEstimator(model), X, y); for other rows make "
    "a new release, or fit a CategoricalNB of your own and keep it private"
)
PICKLE = "a pickle of a published classifier"


class PublishedCategoricalNB(CategoricalNB):  # type: ignore[misc]
    """The classifier of a release over its `codes`, fitted once and for all; see `Release.to_sklearn`.

    It is a CategoricalNB in what it answers and in its fitted attributes, with ``classes_`` sorted as
    scikit-learn has them, and it decides as the release does: exactly, ties by precedence. It is none in what
    it can be made into: ``fit``, ``partial_fit`` and ``set_params`` refuse, a clone is a copy, fitted too.
    Its pickle is the text of certificate.json, which is checked when it is loaded; all else is made of it.
    """

    _release: Release
    _ranks: Longs  # for each class in rising precedence its place in classes_

    @classmethod
    def of(cls, release: Release) -> PublishedCategoricalNB:
        """The fitted object."""
        views = release.views
        sizes = [len(array) for array in views.counts.values()]
        order = sorted_places(views)
        priors, conditional = log_shares(views)
        model = cls(alpha=0.0, min_categories=sizes)
        model._release = release
        model._ranks = np.argsort(order)
        model.classes_ = views.label_array()[order]
        model.class_count_ = _floats(views.class_counts)[order]
        model.category_count_ = [_floats(array).T[order].copy() for array in views.counts.values()]
        model.class_log_prior_ = priors[order]
        model.feature_log_prob_ = [array.T[order] for array in conditional.values()]
        model.n_categories_ = np.array(sizes)
        model.n_features_in_ = len(sizes)
        return model

    def fit(self, X: object, y: object, sample_weight: object = None) -> NoReturn:
        """Refused: see the class."""
        raise TypeError(REFUSED.format(what="fit"))

    def partial_fit(
        self, X: object, y: object, classes: object = None, sample_weight: object = None
    ) -> NoReturn:
        """Refused: see the class."""
        raise TypeError(REFUSED.format(what="partial_fit"))

    def set_params(self, **params: object) -> PublishedCategoricalNB:
        """Refused where there is anything to set: no parameter would change what is answered."""
        if params:
            raise TypeError(REFUSED.format(what=f"set_params({', '.join(params)}), and then fit,"))
        return self

    def __sklearn_clone__(self) -> PublishedCategoricalNB:
        return copy.copy(self)

    def __copy__(self) -> PublishedCategoricalNB:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)  # nothing in it is ever changed
        return made

    def __getstate__(self) -> dict[str, str]:
        fault = unfit(self._release) or strange(self._release)
        if fault is not None:
            raise ValueError(f"not pickled: {fault}")
        return {"certificate": text_of(self._release)}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        text = state.get("certificate") if isinstance(state, Mapping) else None
        if not isinstance(text, str):
            raise ValueError(
                f"{PICKLE} must hold the text of certificate.json, got {type_name(text)}; make it again from "
                "the release that was saved"
            )
        self.__dict__.update(type(self).of(_checked(text)).__dict__)

    def predict(self, X: object) -> Array:
        """The class of every row, by exact comparisons of the published counts."""
        check_is_fitted(self)
        labels: Array = self.classes_[self._winners(self._check_X(X))]
        return labels

    def predict_log_proba(self, X: object) -> Floats:
        """Logarithms of the posteriors in float64; the largest of a row is always that of `predict`."""
        check_is_fitted(self)
        return self._log_posteriors(self._check_X(X))

    def predict_proba(self, X: object) -> Floats:
        """The posteriors in float64; the largest of a row is always that of `predict`."""
        check_is_fitted(self)
        codes = self._check_X(X)
        return raised(np.exp(self._log_posteriors(codes)), self._winners(codes))

    def _log_posteriors(self, codes: Longs) -> Floats:
        return log_probabilities(self._joint_log_likelihood(codes), self._winners(codes))

    def _joint_log_likelihood(self, X: Longs) -> Floats:
        return raised(super()._joint_log_likelihood(X), self._winners(X))

    def _check_X(self, X: object) -> Longs:  # noqa: N802 (the name is scikit-learn's)
        """The codes; those that are none are refused, where CategoricalNB rounds 1.5 down."""
        codes: Longs = super()._check_X(X)
        if not np.array_equal(np.asarray(X), codes):
            raise ValueError("X must hold whole numbers, the codes that release.codes(table) gives")
        for i, size in enumerate(self.n_categories_.tolist()):
            most = int(codes[:, i].max(initial=0))
            if most >= size:
                raise ValueError(
                    f"X: column {i} must hold codes below {size}, as of release.codes, got {most}"
                )
        return codes

    def _winners(self, codes: Longs) -> Longs:
        """Positions in classes_."""
        columns = [codes[:, i].astype(code_dtype(size)) for i, size in enumerate(self.n_categories_.tolist())]
        winners: Longs = self._ranks[predict_codes(self._release.views, columns, len(codes))]
        return winners


def _checked(text: str) -> Release:
    """The release that a certificate describes, if all holds that it says of its counts."""
    try:
        document = parse_any(text.encode("utf-8", "surrogatepass"))
    except Refused as error:
        raise ValueError(f"{PICKLE}: {error}") from None
    if not isinstance(document, ReleaseDocument):
        raise ValueError(f"{PICKLE} must hold the certificate of a release, got another kind")
    release = release_of(document, PICKLE)
    fault = unpositive(document) or unrealistic(document) or unfit(release)
    fault = fault or beyond(release, document) or at_odds(document)
    if fault:
        raise ValueError(f"{PICKLE}: {fault}")
    return release


def sorted_places(views: Viewset) -> Longs:
    """The places of the classes in the order of ``classes_``: as of np.unique; None stays last."""
    head = views.class_domain.head
    places = np.arange(len(views.classes))
    places[: len(head)] = sorted(range(len(head)), key=head.__getitem__)  # type: ignore[arg-type]
    return places


def _floats(counts: Counts) -> Floats:
    """As floats, infinite beyond their range: scikit-learn keeps these for show."""
    if counts.dtype.kind != "O":
        return counts.astype(np.float64)
    return np.array([float(n) if n.bit_length() < 1024 else np.inf for n in counts.ravel().tolist()]).reshape(
        counts.shape
    )
