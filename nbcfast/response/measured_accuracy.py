"""`accuracy`: how good a classifier is on the truth behind a disguised test set.

Proved in docs/mathematics/response.md, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from nbcfast._core.dtypes import Array, Bools
from nbcfast._core.numbers import Numeral
from nbcfast._core.untyped import Document
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.response.bits import Bits
from nbcfast.response.coin_groups import Group
from nbcfast.response.estimating import counted_domain, quantile
from nbcfast.response.kary_scheme import KaryScheme
from nbcfast.response.schemes import AnyScheme
from nbcfast.table import Column, Domain, Table
from nbcfast.table.encode import code_dtype
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

MOST_TRUTHS = 1 << 16  # test sets that one accuracy takes


class HasViews(Protocol):
    """A Classifier, a Release: something made of views, with which it labels."""

    @property
    def views(self) -> Viewset: ...


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

    def interval(self, level: Numeral = "0.95") -> tuple[float, float]:
        """A confidence interval: estimate -+ z standard_error."""
        away = quantile(level) * self.standard_error
        return float(self.estimate) - away, float(self.estimate) + away

    def to_dict(self) -> Document:
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
    classifier: HasViews | Viewset,
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
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). The test set.
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
    label = getattr(classifier, "class_name", None) if class_name is None else class_name
    if label is None:
        raise ValueError("class_name: the classifier does not name its class")
    scheme.check_made(disguised)
    if isinstance(disguised, Bits):
        disguised = disguised.to_table()
    needed = [*views.attributes, label]
    table = table_from(disguised, "disguised", also="Bits", columns=needed)
    groups = _touched(scheme, table, needed)
    rows = table.select(needed).collapse()
    if not rows.n_rows:
        raise ValueError("no rows")
    assert rows.weights is not None
    weights = rows.weights
    n_truths = math.prod(_n_truths(scheme, group, needed) for group in groups)
    if n_truths > MOST_TRUTHS:
        raise ValueError(
            f"the truth behind an answer may have {n_truths:,} forms, more than {MOST_TRUTHS:,}: use a "
            "classifier of fewer columns"
        )
    domains = {name: counted_domain(scheme, name, rows.column(name).domain) for name in needed}
    codes = {name: rows.column(name).domain.positions_in(domains[name])[rows.codes(name)] for name in needed}
    as_they_are = _labelled_right(views, label, codes, domains)
    total, contributed = Fraction(0), np.zeros(rows.n_rows)
    for done, truth in enumerate(_truths(scheme, groups, needed, codes, domains), 1):
        right = _labelled_right(views, label, truth.codes, domains)
        for where, factor in truth.factors:
            hits = right if where is None else right & where
            total += factor * int(weights[hits].sum())
            contributed[hits] += float(factor)
        if progress is not None:
            progress(done, n_truths)
    n = int(weights.sum())
    estimate = total / n
    squares = float((weights * (contributed - float(estimate)) ** 2).sum())
    return Accuracy(
        estimate,
        math.inf if n == 1 else math.sqrt(squares / (n - 1) / n),
        Fraction(int(weights[as_they_are].sum()), n),
        n,
    )


def _touched(scheme: AnyScheme, table: Table, needed: list[str]) -> list[Group]:
    """The groups of which a classifier needs columns, as these are in the table."""
    for name in needed:
        table.column(name)
    groups = [group for group in scheme.groups if any(name in needed for name in group.columns)]
    if not groups:
        raise ValueError(
            f"the scheme has columns {scheme.columns}, and the classifier none of them: {tuple(needed)}"
        )
    for group in groups:
        for name in group.columns:
            if name in needed:
                scheme.check_domain(name, table.column(name).domain)
    return groups


def _labelled_right(views: Viewset, label: str, codes: dict[str, Array], domains: dict[str, Domain]) -> Bools:
    """Which of these records the classifier gives the label that they have."""
    columns = {
        name: Column(codes[name].astype(code_dtype(len(domains[name]))), domains[name])
        for name in views.attributes
    }
    labels = views.predict(Table.from_columns(columns, None, len(codes[label])), codes=True)
    places = domains[label].positions_in(views.class_domain)
    right: Bools = labels == places[codes[label]]
    return right


class PossibleTruth(NamedTuple):
    """What the records behind some answers may be, and by how much that counts.

    Attributes
    ----------
    codes : dict of name -> ndarray
    factors : list of (ndarray of bool or None, Fraction)
        Which answers (None: all of them), and the entry of the inverse matrix for them.
    """

    codes: dict[str, Array]
    factors: list[tuple[Bools | None, Fraction]]


def _n_truths(scheme: AnyScheme, group: Group, needed: list[str]) -> int:
    """How many truths about a group may be behind one answer."""
    if not isinstance(scheme, KaryScheme):
        return 2  # an answer and its opposite, of any number of columns
    return math.prod(scheme.size(name) for name in group.columns if name in needed)


def _truths(
    scheme: AnyScheme,
    groups: list[Group],
    needed: list[str],
    codes: dict[str, Array],
    domains: dict[str, Domain],
) -> Iterator[PossibleTruth]:
    """Each truth that may be behind the answers: those of the groups, with one another."""
    if not groups:
        yield PossibleTruth(codes, [(None, Fraction(1))])
        return
    columns = [name for name in groups[0].columns if name in needed]
    for of_group in _group_truths(scheme, groups[0], columns, codes, domains):
        for of_others in _truths(scheme, groups[1:], needed, codes, domains):
            factors = [
                (b if a is None else a if b is None else a & b, factor * other)
                for a, factor in of_group.factors
                for b, other in of_others.factors
            ]
            yield PossibleTruth({**of_others.codes, **of_group.codes}, factors)


def _group_truths(
    scheme: AnyScheme, group: Group, columns: list[str], codes: dict[str, Array], domains: dict[str, Domain]
) -> list[PossibleTruth]:
    """Each truth about the columns of one group."""
    if not isinstance(scheme, KaryScheme):
        p, delta = group.theta, 2 * group.theta - 1
        opposite = {name: 1 - codes[name] for name in columns}
        return [
            PossibleTruth({}, [(None, p / delta)]),
            PossibleTruth(opposite, [(None, (p - 1) / delta)]),
        ]
    inverse = _inverse(scheme, group, columns)
    n_rows = len(codes[columns[0]])
    truths = []
    for values in product(*(range(len(domains[name])) for name in columns)):
        is_told = {name: codes[name] == value for name, value in zip(columns, values, strict=True)}
        factors: list[tuple[Bools | None, Fraction]] = []
        for pattern, factor in inverse.items():
            where = np.ones(n_rows, np.bool_)
            for name, agrees in zip(columns, pattern, strict=True):
                where &= is_told[name] if agrees else ~is_told[name]
            if factor and where.any():
                factors.append((where, factor))
        truth = {name: np.full(n_rows, value) for name, value in zip(columns, values, strict=True)}
        truths.append(PossibleTruth(truth, factors))
    return truths


def _inverse(scheme: KaryScheme, group: Group, columns: list[str]) -> dict[tuple[bool, ...], Fraction]:
    """The entries of the inverse of a group's matrix, by which of its columns agree.

    The matrix works on the component of each set of columns as one factor.
    """
    subsets = list(product((False, True), repeat=len(columns)))
    remains = {}
    for chosen in subsets:
        names = [name for name, is_chosen in zip(columns, chosen, strict=True) if is_chosen]
        remains[chosen] = scheme.remains(group, names) if names else Fraction(1)
        if not remains[chosen]:
            raise ValueError(f"answers about {', '.join(map(repr, names))} together tell nothing")
    entries = {}
    for pattern in subsets:
        entry = Fraction(0)
        for chosen, remaining in remains.items():
            term = 1 / remaining
            for name, is_chosen, agrees in zip(columns, chosen, pattern, strict=True):
                mean = Fraction(1, scheme.size(name))
                term *= int(agrees) - mean if is_chosen else mean
            entry += term
        entries[pattern] = entry
    return entries
