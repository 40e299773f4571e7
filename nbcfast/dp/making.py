"""`counts` and `noisy`: noise on counts, of which the first are those of a classifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nbcfast._core.dtypes import Counts
from nbcfast._core.numbers import Numeral
from nbcfast._core.validation import whole
from nbcfast.dp.asked import check_public, noise_for, positive
from nbcfast.dp.draws import Coins, gaussian, laplace, own_coins
from nbcfast.dp.realistic import realistic
from nbcfast.table.values import INT64_MAX
from nbcfast.views import Viewset
from nbcfast.views.integers import as_counts
from nbcfast.views.noise import Neighbours, Noise

__all__ = ["counts", "noisy"]


def counts(
    views: Viewset,
    *,
    epsilon: Numeral | None = None,
    delta: Numeral | None = None,
    rho: Numeral | None = None,
    neighbours: Neighbours = "add-remove",
    rows_per_person: int = 1,
    coins: Coins | None = None,
) -> Viewset:
    """The views with noise: differentially private counts, of which a classifier may be published.

    Discrete Laplace or Gaussian noise on every count, drawn exactly. Of the noisy counts are made positive
    ones of whole rows, 16 times as many as there seem to be, that add up in every attribute. Whatever is made
    of them, by any method here, stays differentially private against everybody, whatever he knows.

    How long it takes depends on the numbers drawn, and is not to be observed.

    Parameters
    ----------
    views : Viewset
        Exact counts of whole rows. Domains and classes are declared, and not found in the rows.
    epsilon : int, Fraction, str or float, optional
        Above 0; a float means its shortest decimal text. Without delta it takes Laplace noise, and with it,
        from ten attributes on, the Gaussian, if that varies less.
    delta : int, Fraction, str or float, optional
        Above 0 and below 1. Beside rho it says of which delta epsilon is told.
    rho : int, Fraction, str or float, optional
        In place of epsilon: Gaussian noise that is rho-zCDP (zero-concentrated).
    neighbours : {"add-remove", "replace"}
        Which tables nobody can tell apart: those with and without a person, or with another one.
    rows_per_person : int
        How many rows a person has at most. Nothing checks it.
    coins : private
        For tests. By default ChaCha20 under a key of the operating system that nobody keeps.

    Returns
    -------
    Viewset
        With the labels and domains of these views, and `noise` says what was done.

    Raises
    ------
    ValueError, TypeError
        If a domain or the classes are not declared, counts are weighted, noisy already or not those of a
        table, or a number is not as described. No message tells a count.

    Examples
    --------
    >>> exact = Viewset([300, 200], {"job": [[300, 20], [0, 180]]}, classes=["no", "yes"])
    >>> private = counts(exact, epsilon=1)
    >>> private.is_realistic(), private.noise.level
    (True, 'epsilon 1')
    """
    check_public(views)
    noise = noise_for(len(views.attributes), epsilon, delta, rho, neighbours, rows_per_person)
    exact = [views.class_counts, *views.counts.values()]
    of_classes, *tables = with_noise(exact, noise, own_coins() if coins is None else coins)
    totals, arrays = realistic(of_classes, tables, noise)
    return Viewset.from_parts(
        as_counts(totals, "class_counts"),
        {
            name: as_counts(array.reshape(views.counts[name].shape), f"counts of attribute {name!r}")
            for name, array in zip(views.attributes, arrays, strict=True)
        },
        views.class_domain,
        views.domains,
        noise,
        weighted=True,  # rows are made finer, and none of them is a person's
    )


def noisy(
    counts: npt.ArrayLike,
    *,
    epsilon: Numeral | None = None,
    sensitivity: int | None = None,
    rho: Numeral | None = None,
    squared_sensitivity: int | None = None,
    coins: Coins | None = None,
) -> Counts:
    """Any table of counts with noise on each: raw integers, below 0 too.

    With epsilon discrete Laplace noise, ``P(x) ~ exp(-|x| epsilon / sensitivity)``, which is
    epsilon-differentially private; with rho the discrete Gaussian, P(x) ~ exp(-x^2 rho /
    squared_sensitivity), which is rho-zCDP. That is so for whoever may move all counts together by no more
    than the sensitivity, and of a table whose cells do not depend on who is in it: nothing checks either.

    How long it takes depends on the numbers drawn, and is not to be observed.

    Parameters
    ----------
    counts : array_like of int, any shape
        Any size of integer, at least 0.
    epsilon, rho : int, Fraction, str or float
        One of them, above 0; a float means its shortest decimal text.
    sensitivity : int
        With epsilon: by how much one person changes the counts, all changes added up.
    squared_sensitivity : int
        With rho: by how much one person changes the counts, the squares of all changes added up.
    coins : private
        For tests.

    Returns
    -------
    ndarray of int64 (of Python ints where 64 bits are too few), of the shape of `counts`

    Raises
    ------
    ValueError, TypeError
        If a number is not as described. No message tells a count.

    Examples
    --------
    >>> noisy([[5, 0], [2, 1]], epsilon=1, sensitivity=1).shape
    (2, 2)
    """
    array = _table(counts)
    if (epsilon is None) == (rho is None):
        raise ValueError(f"expected one of epsilon and rho, got {'neither' if epsilon is None else 'both'}")
    source = own_coins() if coins is None else coins
    if epsilon is not None:
        if sensitivity is None or squared_sensitivity is not None:
            raise ValueError("epsilon goes with sensitivity, and squared_sensitivity with rho")
        moved = whole(sensitivity, "sensitivity", 1)
        drawn = laplace(moved / positive(epsilon, "epsilon"), array.size, source)
    else:
        if squared_sensitivity is None or sensitivity is not None:
            raise ValueError("rho goes with squared_sensitivity, and sensitivity with epsilon")
        moved = whole(squared_sensitivity, "squared_sensitivity", 1)
        drawn = gaussian(moved / (2 * positive(rho, "rho")), array.size, source)
    return _sum(array, drawn.reshape(array.shape))


def _table(counts: npt.ArrayLike) -> Counts:
    """The counts; what is wrong with them is told without telling one."""
    try:
        return as_counts(counts, "counts")
    except TypeError:
        raise TypeError("counts must be integers") from None
    except ValueError:
        raise ValueError("counts must be a rectangular array of integers of at least 0") from None


def with_noise(arrays: Sequence[Counts], noise: Noise, coins: Coins) -> list[Counts]:
    """The arrays with noise on every count, which is drawn for all of them at once."""
    n = sum(array.size for array in arrays)
    if noise.scale is not None:
        drawn = laplace(noise.scale, n, coins)
    else:
        assert noise.sigma_squared is not None
        drawn = gaussian(noise.sigma_squared, n, coins)
    start, results = 0, []
    for array in arrays:
        results.append(_sum(array, drawn[start : start + array.size].reshape(array.shape)))
        start += array.size
    return results


def _sum(array: Counts, drawn: Counts) -> Counts:
    """Their sum, in 64 bits where it fits: of which kind it is tells no more than the sum does."""
    large = any(
        part.dtype.kind == "O"
        or (part.size and max(abs(int(part.min())), abs(int(part.max()))) > INT64_MAX // 2)
        for part in (array, drawn)
    )
    total: Counts = array + drawn if not large else array.astype(object) + drawn.astype(object)
    try:
        return total.astype(np.int64, copy=False)
    except OverflowError:
        return total
