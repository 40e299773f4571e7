"""`classifier`: naive Bayes from estimated shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nbcfast._core.dtypes import Array, Counts, Floats, Numbers, UInt16s
from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral, exact
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable
from nbcfast._wire.messages import decimal_text
from nbcfast.response.estimating import Estimate
from nbcfast.table.values import Value
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts
from nbcfast.views.scoring import matched


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
    def classes(self) -> tuple[Value, ...]:
        return self.views.classes

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.views.attributes

    def predict(self, table: AnyTable, *, codes: bool = False) -> Array:
        """The label of each row; with `codes` positions in `classes`.

        Ties go to the later class, as everywhere in this library.

        Parameters
        ----------
        table : Table, or what it is made of
            A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
            record batches, or the path of a file (.csv, .tsv, .parquet ..). Other columns do not matter.
        codes : bool
            Give positions in place of labels.

        Examples
        --------
        >>> from nbcfast.response import Scheme, estimate
        >>> told = {"a": [1] * 7 + [0] * 3, "c": ["x"] * 6 + ["y"] * 4}
        >>> classifier(estimate(told, Scheme("0.8", [["a"]]), "c")).predict({"a": [0, 1]}).tolist()
        ['y', 'x']
        """
        return self.views.predict(table, codes=codes)

    def ranking(self, table: AnyTable) -> UInt16s:
        """All classes of each row, the most probable first: positions in `classes`.

        The rows are of a table as for `predict`.
        """
        return self.views.order(table)

    def predict_proba(self, table: AnyTable) -> Floats:
        """Probabilities, one column for each of `classes`; the prior where every class has score 0.

        The rows are of a table as for `predict`.
        """
        codes, places, n_rows = matched(self.views, table, "error")
        scores = np.empty((n_rows, len(self.classes)))
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = _logs(self.views.class_counts)
            scores[:] = prior
            for rows, places_of_values, counts in zip(codes, places, self.views.counts.values(), strict=True):
                conditional = _logs(counts) - prior
                conditional[:, np.isneginf(prior)] = 0.0
                scores += conditional[places_of_values][rows]
            best = scores.max(axis=1, keepdims=True)
            scores = np.where(np.isneginf(best), prior, scores)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities: Floats = shares / shares.sum(axis=1, keepdims=True)
        return probabilities

    def to_dict(self) -> Document:
        return {
            "alpha": decimal_text(self.alpha),
            "attributes": list(self.attributes),
            "class": self.class_name,
            "classes": list(self.classes),
        }

    def __repr__(self) -> str:
        return (
            f"Classifier(class {self.class_name!r} of {len(self.classes)} labels from "
            f"{', '.join(map(repr, self.attributes))}; alpha={decimal_text(self.alpha)})"
        )


def classifier(estimate: Estimate, alpha: Numeral = 1) -> Classifier:
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
    # Integers with the very same scores, X_c = P_c^(1-n) prod N = scale * P(c) * prod of conditionals: so
    # labels are exact (docs/mathematics/response.md, section 4).
    class_counts = [int(share * scale) for share in estimate.prior]
    counts = {
        name: _as_counts([[int(count * row[c]) for c, count in enumerate(class_counts)] for row in rows])
        for name, rows in conditionals.items()
    }
    views = Viewset.from_parts(
        _as_counts(class_counts),
        counts,
        estimate.class_domain,
        {name: estimate.domains[name] for name in counts},
    )
    return Classifier(views, estimate.class_name, smoothing)


def _denominator(conditionals: Mapping[str, list[list[Fraction]]], c: int) -> int:
    """The least common denominator of all conditionals of a class."""
    return math.lcm(1, *(row[c].denominator for rows in conditionals.values() for row in rows))


def _as_counts(numbers: list[int] | list[list[int]]) -> Counts:
    """The integers as a Viewset holds them, however long they are."""
    # An array of objects first: NumPy would make floats of integers beyond 64 bits.
    integers: Numbers = np.array(numbers, object)
    return as_counts(integers, "counts")


def _logs(counts: Counts) -> Floats:
    """Natural logarithms of integers of any size."""
    logs = np.empty(counts.shape)
    for place, number in np.ndenumerate(counts):
        logs[place] = math.log(int(number)) if number else -math.inf
    return logs
