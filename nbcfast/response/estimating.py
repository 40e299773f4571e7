"""`estimate`: what a naive Bayes classifier needs, from disguised answers.

Each table of a value by a class is estimated by itself, in two_way.py; shares below 0 are avoided in
bounded_shares.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from nbcfast._core.dtypes import Array, Exacts, Floats
from nbcfast._core.errors import NoRowsError
from nbcfast._core.numbers import Numeral, exact_share
from nbcfast._core.pickling import HasReadOnlyMappings
from nbcfast._core.untyped import Document
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, Stream, batches_from
from nbcfast.frames import Frame
from nbcfast.response.bits import Bits
from nbcfast.response.bounded_shares import (
    fractions_of_floats,
    most_likely_joint,
    most_likely_shares,
    nearest_joint,
    nearest_shares,
)
from nbcfast.response.coin_groups import as_list
from nbcfast.response.schemes import AnyScheme
from nbcfast.response.two_way import TwoWayTable
from nbcfast.table import Domain, Table
from nbcfast.table.values import Value
from nbcfast.views import Viewset, count

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

EstimationMethod = Literal["projection", "em"]


@dataclass(frozen=True, eq=False)
class Proportions(HasReadOnlyMappings):
    """A number for each class, and for each value and class of every attribute.

    Attributes
    ----------
    prior : ndarray of Fraction, shape (classes,)
    joint : mapping of attribute -> ndarray of Fraction, shape (values, classes)
    """

    prior: Exacts
    joint: Mapping[str, Exacts]

    def floats(self) -> tuple[Floats, dict[str, Floats]]:
        """The prior and the joints as floats."""
        return self.prior.astype(np.float64), {
            name: array.astype(np.float64) for name, array in self.joint.items()
        }

    def to_dict(self) -> Document:
        """Lists of floats; None where a number is infinite."""
        return {
            "prior": _finite(self.prior),
            "joint": {name: _finite(array) for name, array in self.joint.items()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(HasReadOnlyMappings):
    """Shares of records, as far as disguised answers tell them.

    Attributes
    ----------
    raw : Proportions
        Unbiased, and therefore sometimes below 0 or above 1.
    prior : ndarray of Fraction, shape (classes,)
        Shares of the classes, none negative.
    joint : mapping of attribute -> ndarray of Fraction, shape (values, classes)
        Shares of (value, class), none negative, and within the sums that the answers give away exactly.
    variance : Proportions
        Of the raw estimates, records being drawn at random: unbiased, from the answers. Infinite where there
        is one answer, which tells nothing of its own variance.
    coin_variance : Proportions
        The part of it that the coins add, the records being what they are.
    n_rows : int
    class_name : str
    classes : tuple
    scheme : Scheme or KaryScheme
    method : {"projection", "em"}
        How estimates outside [0, 1] were brought inside.
    converged : bool
        Whether the EM algorithm settled within its steps; True where it was not needed.
    """

    raw: Proportions
    prior: Exacts
    joint: Mapping[str, Exacts]
    variance: Proportions
    coin_variance: Proportions
    n_rows: int
    class_name: str
    classes: tuple[Value, ...]
    scheme: AnyScheme
    method: EstimationMethod
    class_domain: Domain = field(repr=False)
    domains: Mapping[str, Domain] = field(repr=False)
    converged: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.joint)

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values of an attribute, in the order of the rows of its arrays."""
        if name not in self.domains:
            raise ValueError(f"expected an attribute of {', '.join(map(repr, self.domains))}; got {name!r}")
        return self.domains[name].values

    def interval(self, level: Numeral = "0.95") -> tuple[Proportions, Proportions]:
        """Lower and upper ends of confidence intervals, each number by itself: raw -+ z sqrt(variance).

        Examples
        --------
        >>> from nbcfast.response import Scheme
        >>> told = Table({"a": [0, 1, 1, 0] * 250, "c": [0, 0, 1, 1] * 250})
        >>> low, high = estimate(told, Scheme("0.8", [["a"]]), "c").interval()
        >>> f"{float(low.joint['a'][0, 0]):.3f} {float(high.joint['a'][0, 0]):.3f}"
        '0.210 0.290'
        """
        z = quantile(level)

        def end(sign: int) -> Proportions:
            def moved(centre: Exacts, variance: Exacts) -> Exacts:
                away = np.sqrt(np.maximum(variance.astype(np.float64), 0.0))
                return fractions_of_floats(centre.astype(np.float64) + sign * z * away)

            joint = {name: moved(array, self.variance.joint[name]) for name, array in self.raw.joint.items()}
            return Proportions(moved(self.raw.prior, self.variance.prior), MappingProxyType(joint))

        return end(-1), end(1)

    def to_dict(self) -> Document:
        return {
            "n_rows": self.n_rows,
            "class": self.class_name,
            "method": self.method,
            "converged": self.converged,
            **Proportions(self.prior, self.joint).to_dict(),
            "raw": self.raw.to_dict(),
            "variance": self.variance.to_dict(),
            "coin_variance": self.coin_variance.to_dict(),
            "scheme": self.scheme.to_dict(),
        }

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{label!r}: {float(share):.4f} +- {math.sqrt(max(float(variance), 0.0)):.4f}"
            for label, share, variance in zip(self.classes, self.prior, self.variance.prior, strict=True)
        )
        return (
            f"Estimate({self.n_rows} answers, {len(self.joint)} attributes, "
            f"class {self.class_name!r}: {shares})"
        )


def estimate(
    disguised: AnyTable | Viewset | Bits,
    scheme: AnyScheme,
    class_name: str,
    *,
    attributes: list[str] | None = None,
    method: EstimationMethod = "projection",
    weights: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Shares of classes and of (value, class) pairs from disguised answers.

    Parameters
    ----------
    disguised : Table, or what it is made of, Bits, or Viewset
        A Table, a Frame of an engine, a mapping of column names to values, anything with
        ``__arrow_c_stream__``, an iterable of record batches, or the path of a file (.csv, .tsv, .parquet
        ..). All but the first three are counted batch by batch in constant memory. Answers, or their naive
        Bayes counts: those of several parts may be added up first.
    scheme : Scheme or KaryScheme
        What the answers were made by.
    class_name : str
        The class; in a group of the scheme, or told as it is.
    attributes : list of str, optional
        By default all other columns.
    method : {"projection", "em"}
        How shares below 0 are avoided. "projection": the nearest shares within the sums known exactly, which
        for two values is also the constrained maximum likelihood. "em": maximum likelihood of each joint
        table: in closed form where one of the two columns is under a coin or both are two values in one
        group, else by the EM algorithm, in floats. Where no raw estimate is negative both leave it as it is.
    weights : str, optional
        The column of how many people gave each row of answers; a Table has its own.
    threads : int, optional
        Of counting; by default NBCFAST_THREADS, or all cores, one for less than about 2 MB of codes.
    progress : callable, optional
        Called as progress(done_rows, all_rows) while rows are counted, where all_rows is 0 if the end is not
        known; with "em" then as progress(done, all) with numbers of attributes.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If there are no rows, or scheme and answers do not match.

    Examples
    --------
    >>> from nbcfast.response import Scheme
    >>> told = Table({"a": [1] * 7 + [0] * 3, "c": [1] * 5 + [0] * 2 + [1] * 3})
    >>> found = estimate(told, Scheme("0.8", [["a"]]), "c")
    >>> found.raw.joint["a"][1].tolist()
    [Fraction(4, 15), Fraction(17, 30)]
    """
    if not isinstance(scheme, AnyScheme):
        raise TypeError(f"scheme must be a Scheme or a KaryScheme, got {type(scheme).__name__}")
    choice(method, ("projection", "em"), "method")
    views = _views(disguised, scheme, class_name, attributes, weights, threads, progress)
    if views.n_rows == 0:
        raise ValueError("no rows")
    class_domain = counted_domain(scheme, class_name, views.class_domain)
    class_counts = _placed(views.class_counts[:, np.newaxis], views.class_domain, class_domain)
    of_class = TwoWayTable(class_counts.tolist(), scheme.shrinkage(class_name, None))
    prior, converged = of_class.raw[:, 0], True
    if scheme.group_of(class_name) is not None:
        if method == "em":
            prior = most_likely_shares([number for (number,) in of_class.counts], of_class.shrinkage[0])
        else:
            prior = nearest_shares(prior.tolist(), Fraction(1))
    joint: dict[str, Exacts] = {}
    tables: dict[str, TwoWayTable] = {}
    domains: dict[str, Domain] = {}
    for name in views.attributes:
        domain = domains[name] = counted_domain(scheme, name, views.domains[name])
        counts = _placed(views.counts[name], views.domains[name], domain)
        counts = _placed(counts.T, views.class_domain, class_domain).T
        table = tables[name] = TwoWayTable(counts.tolist(), scheme.shrinkage(name, class_name))
        if method == "projection":
            joint[name] = nearest_joint(table, scheme, name, class_name)
            continue
        joint[name], settled = most_likely_joint(table, scheme, name, class_name)
        converged = converged and settled
        if progress is not None:
            progress(len(joint), len(views.attributes))
    return Estimate(
        _proportions(of_class.raw, {name: table.raw for name, table in tables.items()}),
        prior,
        MappingProxyType(joint),
        _proportions(of_class.variance, {name: table.variance for name, table in tables.items()}),
        _proportions(of_class.coin_variance, {name: table.coin_variance for name, table in tables.items()}),
        views.n_rows,
        class_name,
        class_domain.values,
        scheme,
        method,
        class_domain,
        MappingProxyType(domains),
        converged,
    )


def _proportions(of_class: Exacts, joint: dict[str, Exacts]) -> Proportions:
    return Proportions(of_class[:, 0], MappingProxyType(joint))


def quantile(level: Numeral) -> float:
    """How many standard errors a confidence interval of this level goes to each side."""
    inside = Fraction(exact_share(level, "level"))
    outside = float((1 - inside) / 2)
    if not 0 < inside < 1 or not outside:
        raise ValueError(f"level must be in (0, 1), got {level}")
    return -NormalDist().inv_cdf(outside)


def _views(
    disguised: AnyTable | Viewset | Bits,
    scheme: AnyScheme,
    class_name: str,
    attributes: list[str] | None,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """The counts of answers of any kind, once they are known to be those of the scheme."""
    scheme.check_made(disguised)
    if attributes is not None:
        attributes = as_list(attributes, "attributes")
    if weights is not None and isinstance(disguised, (Viewset, Bits)):
        raise ValueError(f"weights goes with a table, got {weights!r} beside {type(disguised).__name__}")
    if isinstance(disguised, Viewset):
        if attributes is not None:
            raise ValueError("attributes goes with a table: a Viewset has its own")
        views = disguised
        if class_name in views.attributes:
            raise ValueError(f"class_name: {class_name!r} is an attribute of the views")
        _check_domains(scheme, views, class_name)
        return views
    if isinstance(disguised, Bits):
        views = disguised.counts(class_name)
        if attributes is not None:
            for name in attributes:
                if name not in views.counts:
                    known = ", ".join(map(repr, views.attributes))
                    raise ValueError(f"attributes: expected columns of {known}; got {name!r}")
            counts = {name: views.counts[name] for name in attributes}
            domains = {name: views.domains[name] for name in attributes}
            views = Viewset.from_parts(views.class_counts, counts, views.class_domain, domains)
    else:
        views = _counted(disguised, scheme, class_name, attributes, weights, threads, progress)
    _check_domains(scheme, views, class_name)
    return views


def _counted(
    disguised: AnyTable,
    scheme: AnyScheme,
    class_name: str,
    attributes: list[str] | None,
    weights: str | None,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    """The counts of a table of answers, which has all columns of the scheme that are not left out."""
    if isinstance(disguised, Frame):
        named = (*disguised.names,) if attributes is None else (*attributes, class_name)
        if {*named} >= {*disguised.names}:
            scheme.check_names(named, "the disguised table")
        return count(disguised, class_name, attributes, weights=weights, progress=progress)
    source = batches_from(disguised, "disguised", weights=weights, also="Bits, a Viewset")
    if isinstance(source, Table):
        if {*(source.names if attributes is None else attributes), class_name} >= set(source.names):
            scheme.check_table(source, "the disguised table")
        return count(source, class_name, attributes, threads=threads, progress=progress)
    stream = cast("AnyTable", source.stream) if isinstance(source, Stream) else disguised
    views = count(
        stream, class_name, attributes, weights=weights, empty="none", threads=threads, progress=progress
    )
    if views is None:
        raise NoRowsError("no rows")
    if attributes is None:
        scheme.check_names((*views.attributes, class_name), "the disguised table")
    return views


def _check_domains(scheme: AnyScheme, views: Viewset, class_name: str) -> None:
    """ValueError where the views have none of the scheme's columns, or a value that it does not know."""
    known = (class_name, *views.attributes)
    if not any(name in known for name in scheme.columns):
        raise ValueError(f"the scheme has columns {scheme.columns}, and the answers none of them: {known}")
    for name in scheme.columns:
        if name == class_name:
            scheme.check_domain(name, views.class_domain)
        elif name in views.attributes:
            scheme.check_domain(name, views.domains[name])


def counted_domain(scheme: AnyScheme, name: str, domain: Domain) -> Domain:
    """The domain whose positions count: that of the data for a column that is told as it is."""
    return domain if scheme.group_of(name) is None else scheme.order(name, domain)


def _placed(counts: Array, domain: Domain, counted: Domain) -> Array:
    """Rows of counts in the order of another domain; values that nobody told count 0."""
    placed = np.zeros((len(counted), counts.shape[1]), counts.dtype)
    placed[domain.positions_in(counted)] = counts
    return placed


def _finite(array: Exacts) -> list[float | None] | list[list[float | None]]:
    """Nested lists of floats, None in place of infinities, which JSON has no number for."""
    numbers = array.astype(np.float64)
    finite = numbers.astype(object)
    finite[~np.isfinite(numbers)] = None
    listed: list[float | None] | list[list[float | None]] = finite.tolist()
    return listed
