"""The counts of a fitted CategoricalNB, and what it adds to them, as views of whole rows: `to_views`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

from nbcfast._core.dtypes import Counts, Floats
from nbcfast._core.numbers import Number, exact
from nbcfast.published.fitted import PublishedCategoricalNB
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts
from nbcfast.views.smoothing import rows_of_classes

Categories: TypeAlias = Mapping[str, Iterable[object]] | Sequence[Iterable[object]] | OrdinalEncoder

MOST = 1 << 53  # below it doubles hold every whole number
LEAST_ALPHA = Fraction(1, 10**10)  # what CategoricalNB takes for less, unless it is forced
NEAR = 1e-9  # of logarithms: those of one model differ by round-off


def to_views(model: CategoricalNB, *, categories: Categories | None = None) -> Viewset:
    """The classifier of a fitted CategoricalNB as private views of whole rows, smoothing and priors included.

    The views decide every tuple as the model does in exact numbers, where P(value | class) is (count + alpha)
    / (sum over the values of count + alpha). The counts are long integers where something is added; without
    smoothing they are the counts of the model. Of equal scores the class that is first in ``classes_`` wins,
    as with scikit-learn: the precedence of the views is the reverse of ``classes_``. The model in floats may
    decide otherwise where two scores are nearly equal.

    Parameters
    ----------
    model : CategoricalNB
        Fitted, also by ``partial_fit``; ``alpha`` and ``class_prior`` mean their shortest decimal texts.
    categories : OrdinalEncoder, mapping or sequence of sequences, optional
        What the codes 0, 1, .. of each attribute stand for: the encoder that made them, or the values by name
        or in the order of the columns. By default the codes are the values.

    Returns
    -------
    Viewset
        Private, as the model is: ``canonical.release`` or `safety_transform` makes of it what may leave.
        Attributes are named as in ``feature_names_in_``, or as the encoder names them, or else x0, x1, ...

    Raises
    ------
    TypeError
        If the model is no CategoricalNB.
    ValueError
        If it is not fitted (``sklearn.exceptions.NotFittedError``), its parameters are not those that it was
        fitted with, its counts are not whole, a class has no probabilities, or the categories are others.
    Infeasible
        If the counts would be too long.

    Examples
    --------
    >>> model = CategoricalNB(alpha=0.5).fit([[0], [0], [1], [1], [1]], ["no", "no", "no", "yes", "yes"])
    >>> views = to_views(model, categories={"x0": ["clerk", "cook"]})
    >>> views.classes, views.class_counts.tolist(), views.counts["x0"].tolist()
    (('yes', 'no'), [48, 72], [[8, 45], [40, 27]])
    """
    if not isinstance(model, CategoricalNB):
        raise TypeError(
            f"model must be a CategoricalNB, got {type(model).__name__}; of a Pipeline give the last step, "
            "and its OrdinalEncoder as categories="
        )
    if isinstance(model, PublishedCategoricalNB):
        raise TypeError(
            "model must be an ordinary CategoricalNB, got a published classifier: its counts are "
            "release.views"
        )
    check_is_fitted(model)
    alpha, shares = _alpha(model), _priors(model)
    parts = [
        _whole(array, f"category_count_[{i}]").T[:, ::-1] * alpha.denominator + alpha.numerator
        for i, array in enumerate(model.category_count_)
    ]
    sums = [[int(total) for total in array.sum(axis=0)] for array in parts]
    labels = model.classes_.tolist()[::-1]
    of_classes = [set(totals) for totals in zip(*sums, strict=True)]
    for label, totals in zip(labels, of_classes, strict=True):
        if 0 in totals:
            raise ValueError(f"model: class {label!r} has no row and no smoothing, so no value is probable")
    _expect_own_logarithms(model, alpha, shares)
    domains = _domains(model, categories)
    rows = rows_of_classes(of_classes, shares, sum(map(len, parts)))
    counts: dict[str, Counts] = {}
    for name, array, column in zip(domains, parts, sums, strict=True):
        factors = np.empty(len(rows), object)
        factors[:] = [row // total for row, total in zip(rows, column, strict=True)]
        counts[name] = as_counts(array * factors, name)
    made = Viewset(rows, counts, labels, domains=domains)
    # Whether its rows had weights a model does not say.
    return Viewset.from_parts(made.class_counts, made.counts, made.class_domain, made.domains, weighted=True)


def _whole(counts: Floats, where: str) -> Counts:
    """The counts as Python ints."""
    found = np.asarray(counts, np.float64)
    wrong = ~((found >= 0) & (found < MOST) & (found == np.floor(found)))
    if wrong.any():
        raise ValueError(
            f"model.{where} must hold whole numbers from 0 to 2^53, got {found[wrong][0].item()!r}: fit it "
            "with whole weights, as counts of rows are what is published and protected"
        )
    return found.astype(np.int64).astype(object)


def _alpha(model: CategoricalNB) -> Number:
    """What was added to every count."""
    if np.ndim(model.alpha):
        raise ValueError(
            "model.alpha must be one number, as CategoricalNB documents it, got several: what it makes of "
            "them is no smoothing of attributes"
        )
    alpha = exact(float(model.alpha), "model.alpha")
    if alpha < 0:
        raise ValueError(f"model.alpha must be at least 0, got {model.alpha!r}")
    return alpha if model.force_alpha else max(alpha, LEAST_ALPHA)


def _priors(model: CategoricalNB) -> list[int]:
    """What the priors of the classes are in proportion to, the last of ``classes_`` first."""
    if model.class_prior is not None:
        given = [Fraction(exact(float(prior), "model.class_prior")) for prior in model.class_prior]
        if len(given) != len(model.classes_) or min(given) < 0 or not any(given):
            raise ValueError(
                f"model.class_prior must be {len(model.classes_)} numbers, none negative and one at least "
                f"positive, got {list(model.class_prior)!r}"
            )
        whole = math.lcm(*(prior.denominator for prior in given))
        return [int(prior * whole) for prior in given][::-1]
    if model.fit_prior:
        counts: list[int] = _whole(model.class_count_, "class_count_").tolist()
        return counts[::-1]
    return [1] * len(model.classes_)


def _expect_own_logarithms(model: CategoricalNB, alpha: Number, shares: Sequence[int]) -> None:
    """What the model answers with was made of its counts by its present parameters, or it is refused."""
    with np.errstate(divide="ignore"):
        priors = np.log(np.array([share / sum(shares) for share in shares[::-1]]))
        if model.class_prior is not None:  # scikit-learn does not make their sum 1
            priors = np.log(np.array(model.class_prior, np.float64))
        same = [_near(model.class_log_prior_, priors)]
        for own, counts in zip(model.feature_log_prob_, model.category_count_, strict=True):
            smoothed = counts + float(alpha)
            same.append(_near(own, np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))))
    if not all(same):
        raise ValueError(
            "model must have the parameters that it was fitted with: alpha, class_prior, fit_prior, "
            "force_alpha and the counts do not give its logarithms; fit it again"
        )


def _near(found: Floats, expected: Floats) -> bool:
    return found.shape == expected.shape and bool(np.allclose(found, expected, NEAR, NEAR))


def _domains(model: CategoricalNB, categories: Categories | None) -> dict[str, list[object]]:
    """The values of each attribute, under its name."""
    sizes = [array.shape[1] for array in model.category_count_]
    names = _names(model, categories)
    if categories is None:
        return {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
    if isinstance(categories, Mapping):
        if set(categories) != set(names):
            raise ValueError(
                f"categories must be of {', '.join(map(repr, names))}, got {', '.join(map(repr, categories))}"
            )
        listed = [categories[name] for name in names]
    else:
        listed = categories.categories_ if isinstance(categories, OrdinalEncoder) else list(categories)
        if len(listed) != len(names):
            raise ValueError(f"categories must be those of {len(names)} attributes, got {len(listed)}")
    domains: dict[str, list[object]] = {}
    for name, values, size in zip(names, listed, sizes, strict=True):
        domains[name] = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if len(domains[name]) != size:
            raise ValueError(
                f"categories of {name!r} must be the {size} that the model counts, got {len(domains[name])}; "
                "where the last of them has no row, fit the model with min_categories="
            )
    return domains


def _names(model: CategoricalNB, categories: Categories | None) -> list[str]:
    """Of the attributes: those of the model, or of the encoder, or x0, x1, .."""
    n = len(model.category_count_)
    own = getattr(model, "feature_names_in_", None)
    if isinstance(categories, OrdinalEncoder):
        check_is_fitted(categories)
        if any(some is not None for some in getattr(categories, "infrequent_categories_", [])):
            raise ValueError(
                "categories must give each value a code of its own, got an OrdinalEncoder that puts "
                "infrequent values together: name the sets yourself"
            )
        theirs = getattr(categories, "feature_names_in_", None)
        if own is not None and theirs is not None and list(own) != list(theirs):
            raise ValueError(
                f"categories must be an encoder of the attributes {list(own)!r}, got one of {list(theirs)!r}"
            )
        own = theirs if own is None else own
    names = [f"x{i}" for i in range(n)] if own is None else [str(name) for name in own]
    if len(set(names)) < n:
        raise ValueError(f"model must have attributes of different names, got {names!r}")
    return names
