"""`classifier` and `accuracy`: naive Bayes from estimates, and how good it is on a disguised test set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from nbcfast._core.dtypes import Array, Bools, Floats, UInt16s
from nbcfast._core.errors import expect
from nbcfast._core.numbers import exact
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.response.bits import Bits
from nbcfast.response.estimating import Estimate, quantile
from nbcfast.response.schemes import AnyScheme, Group, KaryScheme, number_text
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts
from nbcfast.views.scoring import matched

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_REVERSED = 1 << 16  # test sets that one accuracy takes


@dataclass(frozen=True, eq=False, repr=False)
class Classifier:
    """Naive Bayes from estimated shares.

    Attributes
    ----------
    views : Viewset
        Counts with these very scores: labels and rankings are exact. They are no counts of people.
    class_name : str
    alpha : Fraction
    """

    views: Viewset
    class_name: str
    alpha: Fraction

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.views.classes

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.views.attributes

    def predict(self, table: Any, *, codes: bool = False) -> Array:
        """The label of each row; with `codes` positions in `classes`.

        Ties go to the later class, as everywhere in this library.

        Examples
        --------
        >>> from nbcfast.response import Scheme, estimate
        >>> told = Table({"a": [1] * 7 + [0] * 3, "c": ["x"] * 6 + ["y"] * 4})
        >>> classifier(estimate(told, Scheme("0.8", [["a"]]), "c")).predict({"a": [0, 1]}).tolist()
        ['y', 'x']
        """
        return self.views.predict(table, codes=codes)

    def ranking(self, table: Any) -> UInt16s:
        """All classes of each row, the most probable first: positions in `classes`."""
        return self.views.order(table)

    def predict_proba(self, table: Any) -> Floats:
        """Probabilities, one column for each of `classes`; the prior where every class has score 0."""
        codes, places, n_rows = matched(self.views, table, "error")
        scores = np.empty((n_rows, len(self.classes)))
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = _logs(self.views.class_counts)
            scores[:] = prior
            for column, place, array in zip(codes, places, self.views.counts.values(), strict=True):
                conditional = _logs(array) - prior
                conditional[:, np.isneginf(prior)] = 0.0
                scores += conditional[place][column]
            best = scores.max(axis=1, keepdims=True)
            scores = np.where(np.isneginf(best), prior, scores)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        result: Floats = shares / shares.sum(axis=1, keepdims=True)
        return result

    def to_dict(self) -> dict[str, Any]:
        return {
            "alpha": number_text(self.alpha),
            "attributes": list(self.attributes),
            "class": self.class_name,
            "classes": list(self.classes),
        }

    def __repr__(self) -> str:
        return (
            f"Classifier(class {self.class_name!r} of {len(self.classes)} labels from "
            f"{', '.join(map(repr, self.attributes))}; alpha={number_text(self.alpha)})"
        )


def classifier(estimate: Estimate, alpha: Any = 1) -> Classifier:
    """Naive Bayes with the estimated shares.

    P(c) times, for each attribute, (n P(a, c) + alpha) / (n P(., c) + k alpha), where the denominator is the
    joint table's own column and k the number of values; 1/k where that is 0/0.

    Parameters
    ----------
    estimate : Estimate
        Its projected shares are taken.
    alpha : int, Fraction, str or float
        Smoothing; at least 0.

    Returns
    -------
    Classifier
    """
    expect(estimate, Estimate, "estimate")
    smoothing = Fraction(exact(alpha, "alpha"))
    if smoothing < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha}")
    n, n_classes = estimate.n_rows, len(estimate.classes)
    conditionals: dict[str, list[list[Fraction]]] = {}
    scale = 1
    for name, joint in estimate.joint.items():
        k = len(joint)
        sums = [n * sum(column, Fraction(0)) + k * smoothing for column in joint.T.tolist()]
        conditionals[name] = [
            [
                (n * share + smoothing) / total if total else Fraction(1, k)
                for share, total in zip(row, sums, strict=True)
            ]
            for row in joint.tolist()
        ]
    for c in range(n_classes):
        scale = math.lcm(scale, estimate.prior[c].denominator * _denominator(conditionals, c))
    # X_c = P_c^(1-n) prod N = scale * P(c) * prod of conditionals.
    class_counts = [int(share * scale) for share in estimate.prior]
    counts = {
        name: _integers([[int(count * row[c]) for c, count in enumerate(class_counts)] for row in rows])
        for name, rows in conditionals.items()
    }
    views = Viewset.from_parts(
        _integers(class_counts),
        counts,
        estimate.class_domain,
        {name: estimate.domains[name] for name in counts},
    )
    return Classifier(views, estimate.class_name, smoothing)


def _denominator(conditionals: Mapping[str, list[list[Fraction]]], c: int) -> int:
    return math.lcm(1, *(row[c].denominator for rows in conditionals.values() for row in rows))


def _integers(numbers: Any) -> Array:
    array = np.array(numbers, object)
    return as_counts(array, "counts")


def _logs(array: Array) -> Floats:
    """Natural logarithms of integers of any size."""
    result = np.empty(array.shape)
    for place, number in np.ndenumerate(array):
        result[place] = math.log(int(number)) if number else -math.inf
    return result


@dataclass(frozen=True, repr=False)
class Accuracy:
    """How often a classifier is right on the truth behind disguised answers, as far as they tell.

    Attributes
    ----------
    estimate : Fraction
        Unbiased, and therefore sometimes below 0 or above 1.
    standard_error : float
        Test records being drawn at random. Infinite where there is one answer.
    disguised : Fraction
        The share of right labels on the answers as they are.
    n_rows : int
    """

    estimate: Fraction
    standard_error: float
    disguised: Fraction
    n_rows: int

    @property
    def shown(self) -> float:
        """The estimate within [0, 1]: for people, not for further calculations."""
        return min(max(float(self.estimate), 0.0), 1.0)

    def __float__(self) -> float:
        return float(self.estimate)

    def interval(self, level: Any = "0.95") -> tuple[float, float]:
        """A confidence interval: estimate -+ z standard_error."""
        away = quantile(level) * self.standard_error
        return float(self.estimate) - away, float(self.estimate) + away

    def to_dict(self) -> dict[str, Any]:
        return {
            "accuracy": float(self.estimate),
            "standard_error": None if math.isinf(self.standard_error) else self.standard_error,
            "disguised": float(self.disguised),
            "n_rows": self.n_rows,
        }

    def __repr__(self) -> str:
        return (
            f"Accuracy({float(self.estimate):.4f} +- {self.standard_error:.4f} from {self.n_rows} answers, "
            f"of which {float(self.disguised):.4f} are labelled right as they are)"
        )


def accuracy(
    classifier: Any,
    disguised: AnyTable | Bits,
    scheme: AnyScheme,
    class_name: str | None = None,
    *,
    progress: Progress | None = None,
) -> Accuracy:
    """The accuracy of a classifier on the truth, from a disguised test set: equation (7), corrected.

    Every answer is looked at in each form that the truth may have, the label included, and the shares of
    right labels are combined by the inverse of what the coins did.

    Parameters
    ----------
    classifier : Classifier, Viewset or Release
        Made without these answers: on those that it learned from, the formula does not hold.
    disguised : Table, or what it is made of, or Bits
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). The test set.
    scheme : Scheme or KaryScheme
        What the answers were made by.
    class_name : str, optional
        By default that of the classifier.
    progress : callable, optional
        Called as progress(done, total) with numbers of labelled test sets.

    Returns
    -------
    Accuracy

    Raises
    ------
    ValueError
        If there are no rows, columns are missing, the answers were made by another scheme or it has none of
        the classifier's columns, or the truth has more than 65,536 possible forms.

    Examples
    --------
    >>> from nbcfast.response import Scheme
    >>> views = Viewset([1, 1], {"a": [[1, 0], [0, 1]]})
    >>> told = {"a": [0] * 5 + [1] * 5, "c": [0] * 5 + [0] * 2 + [1] * 3}
    >>> accuracy(views, told, Scheme("0.8", [["a"]]), "c").estimate
    Fraction(1, 1)
    """
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    views = classifier if isinstance(classifier, Viewset) else getattr(classifier, "views", None)
    if not isinstance(views, Viewset):
        raise TypeError(f"classifier must have views, got {type(classifier).__name__}")
    name = getattr(classifier, "class_name", None) if class_name is None else class_name
    if name is None:
        raise ValueError("class_name: the classifier does not name its class")
    scheme.check_made(disguised)
    if isinstance(disguised, Bits):
        disguised = disguised.to_table()
    table = table_from(disguised, "disguised", also="Bits")
    needed = [*views.attributes, name]
    for column in needed:
        table.column(column)
    touched = [group for group in scheme.groups if any(column in needed for column in group.columns)]
    if not touched:
        raise ValueError(
            f"the scheme has columns {scheme.columns}, and the classifier none of them: {tuple(needed)}"
        )
    for group in touched:
        for column in group.columns:
            if column in needed:
                scheme.check_domain(column, table.column(column).domain)
    rows = table.select(needed).collapse()
    if not rows.n_rows:
        raise ValueError("no rows")
    assert rows.weights is not None
    forms = math.prod(_n_forms(scheme, group, needed) for group in touched)
    if forms > MOST_REVERSED:
        raise ValueError(
            f"the truth behind an answer may have {forms:,} forms, more than {MOST_REVERSED:,}: use a "
            "classifier of fewer columns"
        )
    domains = {column: _domain_of(scheme, column, rows.column(column).domain) for column in needed}
    codes = {
        column: rows.column(column).domain.positions_in(domains[column])[rows.codes(column)]
        for column in needed
    }
    label_of = domains[name].positions_in(views.class_domain)
    total, weights = Fraction(0), rows.weights
    each = np.zeros(rows.n_rows)
    plain: Fraction | None = None
    for done, (moved, weight) in enumerate(_forms(scheme, touched, needed, codes, domains), 1):
        columns = {
            column: Column(moved[column].astype(code_dtype(len(domains[column]))), domains[column])
            for column in views.attributes
        }
        labels = views.predict(Table.from_columns(columns, None, rows.n_rows), codes=True)
        right = labels == label_of[moved[name]]
        if plain is None:
            at = views.predict(rows, codes=True) == label_of[codes[name]]
            plain = Fraction(int(weights[at].sum()), int(weights.sum()))
        # One number for all answers, or one for each way in which answer and truth agree.
        for where, number in weight:
            hits = right if where is None else right & where
            total += number * int(weights[hits].sum())
            each[hits] += float(number)
        if progress is not None:
            progress(done, forms)
    n = int(weights.sum())
    estimate = total / n
    mean = float(estimate)
    square = float((weights * (each - mean) ** 2).sum())
    assert plain is not None
    return Accuracy(estimate, math.inf if n == 1 else math.sqrt(square / (n - 1) / n), plain, n)


Part = tuple[Bools | None, Fraction]  # which answers, and the weight of this form for them


def _n_forms(scheme: AnyScheme, group: Group, needed: list[str]) -> int:
    if not isinstance(scheme, KaryScheme):
        return 2
    return math.prod(scheme.size(name) for name in group.columns if name in needed)


def _domain_of(scheme: AnyScheme, name: str, domain: Domain) -> Domain:
    return domain if scheme.group_of(name) is None else scheme.order(name, domain)


def _forms(
    scheme: AnyScheme,
    groups: list[Group],
    needed: list[str],
    codes: dict[str, Array],
    domains: dict[str, Domain],
) -> Iterator[tuple[dict[str, Array], list[Part]]]:
    """Each form of the truth, and by how much it counts."""
    if not groups:
        yield codes, [(None, Fraction(1))]
        return
    group, rest = groups[0], groups[1:]
    columns = [name for name in group.columns if name in needed]
    own: list[tuple[dict[str, Array], list[Part]]] = []
    if not isinstance(scheme, KaryScheme):
        p, delta = group.theta, 2 * group.theta - 1
        own.append(({}, [(None, p / delta)]))
        own.append(({name: 1 - codes[name] for name in columns}, [(None, (p - 1) / delta)]))
    else:
        inverse = _inverse(scheme, group, columns)
        for values in product(*(range(len(domains[name])) for name in columns)):
            same = {name: codes[name] == value for name, value in zip(columns, values, strict=True)}
            parts: list[Part] = []
            for pattern, number in inverse.items():
                where = np.ones(len(codes[columns[0]]), np.bool_)
                for name, equal in zip(columns, pattern, strict=True):
                    where &= same[name] if equal else ~same[name]
                if number and where.any():
                    parts.append((where, number))
            told = {
                name: np.full(len(codes[name]), value) for name, value in zip(columns, values, strict=True)
            }
            own.append((told, parts))
    for moved, parts in own:
        for others, more in _forms(scheme, rest, needed, codes, domains):
            yield (
                {**others, **moved},
                [
                    (b if a is None else a if b is None else a & b, one * two)
                    for a, one in parts
                    for b, two in more
                ],
            )


def _inverse(scheme: KaryScheme, group: Group, columns: list[str]) -> dict[tuple[bool, ...], Fraction]:
    """The entries of the inverse of a group's matrix, by which of its columns agree.

    The matrix works on the component of each set of columns as one factor.
    """
    factors = {}
    for chosen in product((False, True), repeat=len(columns)):
        names = [name for name, one in zip(columns, chosen, strict=True) if one]
        factors[chosen] = scheme.remains(group, names) if names else Fraction(1)
        if not factors[chosen]:
            raise ValueError(f"answers about {', '.join(map(repr, names))} together tell nothing")
    found = {}
    for pattern in product((False, True), repeat=len(columns)):
        total = Fraction(0)
        for chosen, factor in factors.items():
            part = 1 / factor
            for name, one, equal in zip(columns, chosen, pattern, strict=True):
                mean = Fraction(1, scheme.size(name))
                part *= int(equal) - mean if one else mean
            total += part
        found[pattern] = total
    return found
