"""`estimate`: what a naive Bayes classifier needs, from disguised answers.

Of a two-way table of shares P*(a, c) of answers, coins shrink the four components (mean, rows, columns,
interaction) by known factors and do nothing else, in every scheme; the estimate divides them out. For two
values in one group this is (p P*(E) - q P*(E-bar)) / delta of the paper, for two groups M^-1 T* M^-1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import gmpy2
import numpy as np

from nbcfast._core.dtypes import Array, Exacts, Floats
from nbcfast._core.numbers import exact_share
from nbcfast._core.validation import choice
from nbcfast._reading.source import AnyTable, table_from
from nbcfast.response.bits import Bits
from nbcfast.response.schemes import AnyScheme, _sequence
from nbcfast.table import Domain, Table
from nbcfast.views import Viewset, count

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

Method = Literal["projection", "em"]

EM_STEPS = 20_000
EM_SETTLED = 1e-12


@dataclass(frozen=True, eq=False)
class Proportions:
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

    def to_dict(self) -> dict[str, Any]:
        """Lists of floats; None where a number is infinite."""
        return {"prior": _known(self.prior), "joint": {name: _known(a) for name, a in self.joint.items()}}


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
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
    classes: tuple[Any, ...]
    scheme: AnyScheme
    method: Method
    class_domain: Domain = field(repr=False)
    domains: Mapping[str, Domain] = field(repr=False)
    converged: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.joint)

    def domain(self, name: str) -> tuple[Any, ...]:
        """The values of an attribute, in the order of the rows of its arrays."""
        if name not in self.domains:
            raise ValueError(f"expected an attribute of {', '.join(map(repr, self.domains))}; got {name!r}")
        return self.domains[name].values

    def interval(self, level: Any = "0.95") -> tuple[Proportions, Proportions]:
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
                return _objects(centre.astype(np.float64) + sign * z * away)

            joint = {name: moved(array, self.variance.joint[name]) for name, array in self.raw.joint.items()}
            return Proportions(moved(self.raw.prior, self.variance.prior), MappingProxyType(joint))

        return end(-1), end(1)

    def to_dict(self) -> dict[str, Any]:
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
    method: Method = "projection",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Shares of classes and of (value, class) pairs from disguised answers.

    Parameters
    ----------
    disguised : Table, or what it is made of, Bits, or Viewset
        A Table, a mapping of column names to values, anything with ``__arrow_c_stream__``, an iterable of
        record batches, or the path of a file (.csv, .tsv, .parquet ..). Answers, or their naive Bayes counts:
        those of several parts may be added up first.
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
    threads : int, optional
        As for `nbcfast.count`.
    progress : callable, optional
        As for `nbcfast.count`; with "em" called once more, with numbers of attributes.

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
    views = _views(disguised, scheme, class_name, attributes, threads, progress)
    n = views.n_rows
    if n == 0:
        raise ValueError("no rows")
    class_domain = _domain(scheme, class_name, views.class_domain)
    class_counts = _placed(views.class_counts[:, np.newaxis], views.class_domain, class_domain)[:, 0]
    columns = views.class_domain.positions_in(class_domain)
    k_c = len(class_domain)
    only = _Joint(class_counts[:, np.newaxis].tolist(), scheme.shrinkage(class_name, None))
    raw_prior, prior_variance, prior_coins = only.raw[:, 0], only.variance[:, 0], only.coins[:, 0]
    prior, converged = raw_prior, True
    if scheme.group_of(class_name) is not None:
        likely = method == "em"
        prior = _likeliest(only.counts, only.shrinkage[0]) if likely else _simplex(raw_prior, Fraction(1))
    raw, joint, variance, coins, domains = {}, {}, {}, {}, {}
    for name in views.attributes:
        domain = domains[name] = _domain(scheme, name, views.domains[name])
        wide = np.zeros((len(views.domains[name]), k_c), views.counts[name].dtype)
        wide[:, columns] = views.counts[name]
        counts = _placed(wide, views.domains[name], domain)
        table = _Joint(counts.tolist(), scheme.shrinkage(name, class_name))
        raw[name], variance[name], coins[name] = table.raw, table.variance, table.coins
        if method == "projection":
            joint[name] = _inside(table, scheme, name, class_name)
            continue
        joint[name], settled = _most_likely(table, scheme, name, class_name)
        converged = converged and settled
        if progress is not None:
            progress(len(joint), len(views.attributes))
    return Estimate(
        Proportions(raw_prior, MappingProxyType(raw)),
        prior,
        MappingProxyType(joint),
        Proportions(prior_variance, MappingProxyType(variance)),
        Proportions(prior_coins, MappingProxyType(coins)),
        n,
        class_name,
        class_domain.values,
        scheme,
        method,
        class_domain,
        MappingProxyType(domains),
        converged,
    )


def quantile(level: Any) -> float:
    """How many standard errors a confidence interval of this level goes to each side."""
    inside = Fraction(exact_share(level, "level"))
    outside = float((1 - inside) / 2)
    if not 0 < inside < 1 or not outside:
        raise ValueError(f"level must be in (0, 1), got {level}")
    return -NormalDist().inv_cdf(outside)


def _views(
    disguised: Any,
    scheme: AnyScheme,
    class_name: str,
    attributes: list[str] | None,
    threads: int | None,
    progress: Progress | None,
) -> Viewset:
    scheme.check_made(disguised)
    if attributes is not None:
        attributes = _sequence(attributes, "attributes")
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
        table = table_from(disguised, "disguised", also="Bits, a Viewset")
        named = [*(table.names if attributes is None else attributes), class_name]
        _check_columns(scheme, table, named)
        views = count(table, class_name, attributes, threads=threads, progress=progress)
    _check_domains(scheme, views, class_name)
    return views


def _check_columns(scheme: AnyScheme, table: Table, named: list[str]) -> None:
    """That of the whole scheme no column is missing but those left out on purpose."""
    if set(named) >= set(table.names):
        scheme.check_table(table, "the disguised table")


def _check_domains(scheme: AnyScheme, views: Viewset, class_name: str) -> None:
    known = (class_name, *views.attributes)
    if not any(name in known for name in scheme.columns):
        raise ValueError(f"the scheme has columns {scheme.columns}, and the answers none of them: {known}")
    for name in scheme.columns:
        if name == class_name:
            scheme.check_domain(name, views.class_domain)
        elif name in views.attributes:
            scheme.check_domain(name, views.domains[name])


def _domain(scheme: AnyScheme, name: str, domain: Domain) -> Domain:
    return domain if scheme.group_of(name) is None else scheme.order(name, domain)


def _placed(counts: Array, theirs: Domain, own: Domain) -> Array:
    """Rows of counts in the order of another domain; values that nobody told count 0."""
    result = np.zeros((len(own), counts.shape[1]), counts.dtype)
    result[theirs.positions_in(own)] = counts
    return result


class _Joint:
    """One table of counts of answers, and the unbiased estimate of the shares behind it, with variances.

    Each answer contributes u(a', c') to n times the estimate of cell (a, c): one of four numbers, by whether
    a' = a and whether c' = c. Moments of u are therefore those of four counts.
    """

    def __init__(self, counts: list[list[int]], shrinkage: tuple[Fraction, Fraction, Fraction]) -> None:
        self.counts = [[gmpy2.mpz(number) for number in row] for row in counts]
        self.shrinkage = shrinkage
        self.shape = len(counts), len(counts[0])
        rows = [sum(row, gmpy2.mpz(0)) for row in self.counts]
        columns = [sum(column, gmpy2.mpz(0)) for column in zip(*self.counts, strict=True)]
        n = sum(rows, gmpy2.mpz(0))
        self.n, self.rows, self.columns = int(n), rows, columns
        exactly = contributions(*self.shape, shrinkage, inverse=True)
        scale = math.lcm(*(number.denominator for number in exactly.values()))
        w = {key: gmpy2.mpz(int(number * scale)) for key, number in exactly.items()}
        self.raw = np.empty(self.shape, object)
        self.variance = np.empty(self.shape, object)
        self.coins = np.empty(self.shape, object)
        for i in range(self.shape[0]):
            for j in range(self.shape[1]):
                both = self.counts[i][j]
                parts = (
                    (w[1, 1], both),
                    (w[1, 0], rows[i] - both),
                    (w[0, 1], columns[j] - both),
                    (w[0, 0], n - rows[i] - columns[j] + both),
                )
                first = sum((weight * number for weight, number in parts), gmpy2.mpz(0))
                second = sum((weight * weight * number for weight, number in parts), gmpy2.mpz(0))
                self.raw[i, j] = _fraction(first, n * scale)
                self.coins[i, j] = _fraction(second - first * scale, (n * scale) ** 2)
                spread = n * second - first * first
                self.variance[i, j] = math.inf if n == 1 else _fraction(spread, (n * scale) ** 2 * (n - 1))


def contributions(
    k_a: int, k_c: int, shrinkage: tuple[Fraction, Fraction, Fraction], inverse: bool
) -> dict[tuple[int, int], Fraction]:
    """U by (a' = a, c' = c): components divided by what they shrink to, or (not inverse) multiplied by it."""
    rows, columns, both = (1 / factor if inverse else factor for factor in shrinkage)
    mean = Fraction(1, k_a * k_c)
    found = {}
    for i in (0, 1):
        for j in (0, 1):
            row, column = Fraction(i, k_c) - mean, Fraction(j, k_a) - mean
            found[i, j] = mean + row * rows + column * columns + (i * j - mean - row - column) * both
    return found


def _inside(table: _Joint, scheme: AnyScheme, name: str, class_name: str) -> Exacts:
    """The nearest shares of at least 0 with the sums that the answers give away exactly."""
    k_a, k_c = table.shape
    own, others = scheme.group_of(name), scheme.group_of(class_name)
    cells = [(i, j) for i in range(k_a) for j in range(k_c)]
    blocks: list[list[tuple[int, int]]]
    if own is None and others is None:
        return table.raw
    if others is None:  # P(c)
        blocks = [[(i, j) for i in range(k_a)] for j in range(k_c)]
    elif own is None:  # P(a)
        blocks = [[(i, j) for j in range(k_c)] for i in range(k_a)]
    elif own == others and (k_a, k_c) == (2, 2) and table.shrinkage[2] == 1:
        blocks = [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]  # whether the two agree
    else:
        blocks = [cells]
    result = np.empty(table.shape, object)
    for block in blocks:
        shares = [table.raw[cell] for cell in block]
        for cell, share in zip(block, _simplex(shares, sum(shares, Fraction(0))), strict=True):
            result[cell] = share
    return result


def _most_likely(table: _Joint, scheme: AnyScheme, name: str, class_name: str) -> tuple[Exacts, bool]:
    """Maximum likelihood of a joint table, and whether it was found."""
    own, others = scheme.group_of(name), scheme.group_of(class_name)
    if min(table.raw.flat) >= 0:
        return table.raw, True
    if own is not None and others is not None:
        if own == others and table.shape == (2, 2) and table.shrinkage[2] == 1:
            return _inside(table, scheme, name, class_name), True  # pairs, of which it is the same
        return _em(table)
    # The other column is told as it is: for each of its values k-ary answers of their own.
    turned = own is None
    counts = [list(row) for row in zip(*table.counts, strict=True)] if not turned else table.counts
    factor = table.shrinkage[1 if turned else 0]
    result = np.empty(table.shape, object)
    for place, line in enumerate(counts):
        share = _fraction(sum(line, gmpy2.mpz(0)), table.n)
        found = _likeliest([[number] for number in line], factor) * share
        if turned:
            result[place] = found
        else:
            result[:, place] = found
    return result, True


def _likeliest(counts: list[list[Any]], factor: Fraction) -> Exacts:
    """Maximum likelihood of the shares behind k-ary answers with these counts, in closed form.

    An answer is the truth with p, and each other value with q; `factor` is p - q. Shares that are not 0 are
    (y - q) / (p - q), where the y, chances of answers, are in the ratio of their counts; those of the other
    values are q. Which are 0: the fewest of the rarest answers (of the most frequent where p < q).
    """
    numbers = [number for (number,) in counts]
    k = len(numbers)
    q = (1 - factor) / k
    order = sorted(range(k), key=lambda place: numbers[place], reverse=factor > 0)
    result = np.empty(k, object)
    result[:] = Fraction(0)
    for size in range(k, 0, -1):
        kept = order[:size]
        total = sum((numbers[place] for place in kept), gmpy2.mpz(0))
        whole = size * q + factor  # the chance of one of these answers
        last = _fraction(numbers[kept[-1]], total) if total else Fraction(1, size)
        if (last * whole - q) * factor >= 0 or size == 1:
            for place in kept:
                part = _fraction(numbers[place], total) if total else Fraction(1, size)
                result[place] = (part * whole - q) / factor
            break
    return result


def _simplex(point: Any, total: Fraction) -> Exacts:
    """The nearest point, in Euclid's sense, with entries of at least 0 that add up to `total`."""
    point = list(point)
    result = np.empty(len(point), object)
    if min(point) >= 0 and sum(point) == total:
        result[:] = point
        return result
    gone, shift = Fraction(0), Fraction(0)
    for size, entry in enumerate(sorted(point, reverse=True), 1):
        gone += entry
        if entry <= (gone - total) / size:
            break
        shift = (gone - total) / size
    else:
        size += 1
    if size == 1:  # total is 0
        result[:] = Fraction(0)
        return result
    result[:] = [max(entry - shift, Fraction(0)) for entry in point]
    return result


def _em(table: _Joint) -> tuple[Exacts, bool]:
    """Maximum likelihood: x <- x * M^T(c / (M x)) / n, in floats, from the uniform shares.

    Besides, whether it settled: whether the mean logarithm of the likelihood is known to be within EM_SETTLED
    of the largest. M works on the four components, and is its own transpose.
    """
    rows, columns, both = (float(factor) for factor in table.shrinkage)

    def told(x: Floats) -> Floats:
        mean = x.mean()
        row, column = x.mean(axis=1, keepdims=True) - mean, x.mean(axis=0, keepdims=True) - mean
        result: Floats = mean + rows * row + columns * column + both * (x - mean - row - column)
        return np.maximum(result, 0.0)

    shares = np.array(table.counts, dtype=np.float64) / table.n
    seen = shares > 0

    def slope(x: Floats) -> Floats:
        return told(np.divide(shares, told(x), out=np.zeros_like(shares), where=seen))

    def likelihood(x: Floats) -> float:
        return float(shares[seen] @ np.log(np.maximum(told(x)[seen], np.finfo(np.float64).tiny)))

    x = np.full(table.shape, 1.0 / shares.size)
    for _ in range(EM_STEPS):
        steep = slope(x)
        # The likelihood is concave and x * slope adds up to 1: nothing is likelier by more than this.
        if steep.max() - 1 <= EM_SETTLED:
            return _objects(x), True
        one = x * steep
        two = one * slope(one)
        step, turn = one - x, two - one - (one - x)
        x = two
        # A longer step the same way (Varadhan and Roland 2008, S3), if what it leads to is no less likely;
        # nothing becomes 0 by it, as EM would never leave that.
        length = math.sqrt(float((step**2).sum()) / max(float((turn**2).sum()), np.finfo(np.float64).tiny))
        if length > 1:
            far = np.maximum(one - step + 2 * length * step + length**2 * turn, two / 1024)
            far /= far.sum()
            far *= slope(far)
            if likelihood(far) >= likelihood(two):
                x = far
    return _objects(x), False


def _objects(array: Floats) -> Exacts:
    result = np.empty(array.shape, object)
    for place, number in np.ndenumerate(array):
        result[place] = Fraction(float(number)) if np.isfinite(number) else float(number)
    return result


def _known(array: Exacts) -> list[Any]:
    """Nested lists of floats, None in place of infinities, which JSON has no number for."""
    numbers = array.astype(np.float64).astype(object)
    numbers[~np.isfinite(numbers.astype(np.float64))] = None
    found: list[Any] = numbers.tolist()
    return found


def _fraction(numerator: Any, denominator: Any) -> Fraction:
    quotient = gmpy2.mpq(numerator, denominator)
    return Fraction(int(quotient.numerator), int(quotient.denominator))
