"""Products of experts: one viewset that decides as the product of the scores of several classifiers.

docs/mathematics/streams.md says what sums of viewsets are, why a product of experts is one naive Bayes
classifier again, and why a vote is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from nbcfast._core.dtypes import Counts
from nbcfast._core.errors import Infeasible
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts

MOST_BITS = 1 << 33  # of all counts together


def product(experts: Iterable[Viewset]) -> Viewset:
    """The views whose classifier gives each class the product of the scores that the experts give it.

    Experts are classifiers of several samples of the rows, or of several blocks of a stream. The counts are
    long integers, and add up in every attribute: every method of the library takes them. They are no counts
    of people any more, and as private as those of the experts.

    Parameters
    ----------
    experts : iterable of Viewset
        Realistic, with the same classes in the same precedence, and the same attributes and values.

    Returns
    -------
    Viewset
        With X_c = K prod_b X_c^b for every tuple and class, and the same K.

    Raises
    ------
    ValueError
        If there is no expert, or two differ in more than their counts.
    Infeasible
        If the counts would be too long.

    Examples
    --------
    >>> one = Viewset([3, 2], {"job": [[2, 1], [1, 1]]})
    >>> two = Viewset([2, 2], {"job": [[1, 0], [1, 2]]})
    >>> both = product([one, two])
    >>> both.counts["job"].tolist()
    [[2, 0], [1, 2]]
    """
    listed = list(experts)
    for place, expert in enumerate(listed):
        if not isinstance(expert, Viewset):
            raise TypeError(f"experts must be Viewsets, got {type(expert).__name__} at {place}")
        if expert.noise is not None:
            raise ValueError(
                f"experts must be counts of rows, got noisy counts at {place}: what several of these hide "
                "together no certificate says; put the noise on the sum of the counts"
            )
        _expect_alike(listed[0], expert, place)
    if not listed:
        raise ValueError("experts must be at least one Viewset, got none")
    first = listed[0]
    n = len(first.attributes)
    bits = sum(max(int(expert.n_rows).bit_length(), 1) for expert in listed)
    cells = sum(len(array) for array in first.counts.values()) * len(first.classes)
    most = bits * (n + (n + 1) * len(first.classes)) * (cells + len(first.classes))
    if most > MOST_BITS:
        raise Infeasible(
            f"counts of the product may take {most:,} bits, and up to {MOST_BITS:,} are made: take fewer "
            "experts, attributes or values",
            {},
        )
    of_class = [
        math.prod(int(expert.class_counts[c]) for expert in listed) for c in range(len(first.classes))
    ]
    products = {name: _times(expert.counts[name] for expert in listed) for name in first.attributes}
    sums = {name: [sum(column) for column in array.T.tolist()] for name, array in products.items()}
    # P'_c in proportion to Q_c^(1-n) prod_i S_ic: docs/mathematics/streams.md, section 3.
    lives = [bool(rows) and all(column[c] for column in sums.values()) for c, rows in enumerate(of_class)]
    totals = []
    for c, alive in enumerate(lives):
        own = math.prod(column[c] for column in sums.values())
        if n == 0:
            totals.append(of_class[c])
            continue
        others = math.prod(rows ** (n - 1) for d, rows in enumerate(of_class) if d != c and lives[d])
        totals.append(own * others if alive else 0)
    return _reduced(first, totals, products, sums)


def _reduced(
    first: Viewset, totals: list[int], products: dict[str, Counts], sums: dict[str, list[int]]
) -> Viewset:
    """The viewset of class counts and of products in columns of their sizes, without a common factor."""
    shares: dict[str, list[list[int]]] = {}
    common = math.gcd(*totals)
    for name, array in products.items():
        factors = [total // column if total else 0 for total, column in zip(totals, sums[name], strict=True)]
        shares[name] = [
            [count * factor for count, factor in zip(row, factors, strict=True)] for row in array.tolist()
        ]
        common = math.gcd(common, *(count for row in shares[name] for count in row))
    common = common or 1
    counts = {
        name: _as_array([[count // common for count in row] for row in rows], (len(rows), len(totals)))
        for name, rows in shares.items()
    }
    class_counts = _as_array([total // common for total in totals], (len(totals),))
    return Viewset.from_parts(class_counts, counts, first.class_domain, first.domains, weighted=True)


def _as_array(rows: list[int] | list[list[int]], shape: tuple[int, ...]) -> Counts:
    array = np.empty(shape, object)
    array[...] = np.array(rows, dtype=object).reshape(shape)
    return as_counts(array, "counts")


def _times(arrays: Iterable[Counts]) -> Counts:
    """The product, count by count, in Python's integers."""
    result: Counts | None = None
    for array in arrays:
        exact = np.array(array.tolist(), dtype=object).reshape(array.shape)
        result = exact if result is None else result * exact
    assert result is not None
    return result


def _expect_alike(first: Viewset, expert: Viewset, place: int) -> None:
    where = f"experts: that at {place}"
    if expert.class_domain != first.class_domain:
        raise ValueError(f"{where} has the classes {expert.classes!r}, and the first has {first.classes!r}")
    if set(expert.attributes) != set(first.attributes):
        odd = sorted(set(expert.attributes) ^ set(first.attributes))[0]
        raise ValueError(f"{where}: expected viewsets of the same attributes, got {odd!r} in one of them")
    for name in first.attributes:
        if expert.domains[name] != first.domains[name]:
            raise ValueError(f"{where} has other values of {name!r} than the first, or in another order")
    if not expert.is_realistic():
        raise ValueError(f"{where} is not realistic: for some attribute its counts do not add up")
