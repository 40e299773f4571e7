"""The totals attack: private counts back from how many rows each value and each class has.

Within an attribute ln N_c(t) = scale f_c(t) + a(t) + b_c, with f the published scores. For each scale the
sums of rows and columns give a and b; the equation of the classes, ln P_c - sum_i ln P^i_c + sum_i b^i_c -
scale base_c = const, gives the scale, where P^i_c is the sum of column c of attribute i. Every method whose
scores are a power of the private ones is inverted so, gauge or not (section 9 of
docs/mathematics/canonical.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Bools, Counts, Floats
from nbcfast._core.errors import expect
from nbcfast._core.numbers import Numeral
from nbcfast.attack.scale_equation import Equation
from nbcfast.published.release import Release
from nbcfast.views import Viewset
from nbcfast.views.integers import logarithms
from nbcfast.views.smoothing import constant

NOTHING = 1e-9  # what a published count of 0 is taken for
NEAR = 0.05  # of a count, within which a guess is near


@dataclass(frozen=True)
class TotalsAttack:
    """How many private counts public totals give back, with what was published and without.

    A cell is a value of an attribute that rows have, with its counts of all classes; it is found where all
    of these are right, and near where each guess, rounded, is within 5 % of the count. A count of 0 is
    near where it is right.

    Attributes
    ----------
    found, near : int
        Cells that totals and what was published give.
    cells : int
        All of them.
    null_found, null_near : int
        Cells that totals alone give, by the guess that values and classes have nothing to do with each other.
    zeros_found, zeros : int
        Of `found` and of `cells`, those with rows in some classes alone: a rule without an exception.
    """

    found: int
    near: int
    cells: int
    null_found: int
    null_near: int
    zeros_found: int
    zeros: int


def totals(release: Release | Viewset, views: Viewset, *, alpha: Numeral | None = None) -> TotalsAttack:
    """What the totals attack recovers of private counts from published ones, however they were made.

    The attacker knows how many rows every value and every class has (public marginals), and that the
    published scores are a power of the private ones. Within an attribute ln N_c(t) is then scale f_c(t) plus
    one number a value and one a class; the sums of rows and columns give these for each scale, and the
    shares of the classes give the scale. Where several scales do, the one that gives most counts.

    Parameters
    ----------
    release : Release or Viewset
        What was published; of a canonical release its points, which say the same without rounding.
    views : Viewset
        The private counts, with the attributes and classes of the release.
    alpha : int, Fraction, str or float, optional
        What was added to every private count before it was published, which the attacker knows. By default
        what the certificate of the release says.

    Returns
    -------
    TotalsAttack

    Raises
    ------
    TypeError
        If these are no release and no views.
    ValueError
        If the release has other attributes or classes than the views, or alpha is not positive.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([40, 76], [[[12, 31], [28, 45]], [[25, 50], [15, 26]]])
    >>> result = totals(views, views)  # nothing was changed
    >>> result.found, result.cells, result.null_found
    (4, 4, 0)
    """
    expect(views, Viewset, "views")
    if not isinstance(release, Viewset | Release):
        raise TypeError(f"release must be a Release or a Viewset, got {type(release).__name__}")
    published = release if isinstance(release, Viewset) else release.views
    if published.classes != views.classes:
        raise ValueError(f"release must have the classes {views.classes}, got {published.classes}")
    for name in views.attributes:
        size = len(views.counts[name])
        if name not in published.counts or len(published.counts[name]) != size:
            raise ValueError(
                f"release must have the attributes of the views, got no {name!r} of {size} values"
            )
    if len(published.attributes) != len(views.attributes):
        raise ValueError(f"release must have the attributes {views.attributes}, got {published.attributes}")
    added = None if alpha is None else constant(alpha)
    if added is None and isinstance(release, Release):
        added = release.certificate.smoothing
    canonical = None if isinstance(release, Viewset) else release.certificate.canonical
    if canonical is not None and canonical.points:
        of_name = dict(zip(published.attributes, canonical.points, strict=True))
        points = [np.pad(np.array(of_name[name], np.float64), ((0, 0), (0, 1))) for name in views.attributes]
        # Totals are integers, and the last class, whose total is 0, wins ties: between it and a class that
        # wins over it the middle is a half.
        base = np.array([*canonical.constants, 0.5], np.float64)
        return totals_of_scores(points, base, views, added)
    logs = [_logs(published.counts[name]) for name in views.attributes]
    base = (1 - len(logs)) * _logs(published.class_counts)
    return totals_of_scores(logs, base, views, added)


def totals_of_scores(
    points: Sequence[Floats], base: Floats, views: Viewset, alpha: Fraction | int | None = None
) -> TotalsAttack:
    """`totals`, for scores of each attribute (values, classes) whose sums with the base order the classes."""
    arrays = [np.asarray(array, np.float64) for array in views.counts.values()]
    of_class = np.asarray(views.class_counts, np.float64)
    counts, sums = np.concatenate(arrays), [array.sum(axis=1) for array in arrays]
    live = of_class > 0  # of a class without rows all counts are known, and they have no logarithm
    independent = np.outer(np.concatenate(sums), of_class / of_class.sum())
    null = _Compared.of(independent, counts)
    best = null
    if live.sum() > 1:
        added = 0.0 if alpha is None else float(alpha)
        row_sums = [total + added * int(live.sum()) for total in sums]
        column_sums = np.array([of_class[live] + added * len(total) for total in sums])
        scores = [array[:, live] for array in points]
        equation = Equation.of(scores, base[live], row_sums, column_sums, of_class[live])
        attempts = []
        for scale in equation.solutions():
            guess = np.zeros_like(counts)
            guess[np.ix_(np.concatenate(row_sums) > 0, live)] = equation.counts(scale) - added
            attempts.append(_Compared.of(guess, counts))
        best = max(attempts, key=lambda attempt: (attempt.right.sum(), attempt.near.sum()))
    zeros = null.cells & ~counts.all(axis=1)
    return TotalsAttack(
        found=int(best.right.sum()),
        near=int(best.near.sum()),
        cells=int(null.cells.sum()),
        null_found=int(null.right.sum()),
        null_near=int(null.near.sum()),
        zeros_found=int((best.right & zeros).sum()),
        zeros=int(zeros.sum()),
    )


def _logs(counts: Counts) -> Floats:
    """Logarithms of published counts, which may have more digits than a float has room for."""
    if counts.dtype.kind == "O":
        return np.maximum(logarithms(counts), np.log(NOTHING))
    return np.asarray(np.log(np.maximum(np.asarray(counts, np.float64), NOTHING)), np.float64)


class _Compared(NamedTuple):
    """A guess at the counts (values, classes), beside these."""

    cells: Bools
    right: Bools
    near: Bools

    @classmethod
    def of(cls, guess: Floats, counts: Floats) -> _Compared:
        cells = counts.sum(axis=1) > 0
        errors = np.abs(np.rint(guess) - counts)
        exactly, nearly = (np.max(errors - share * counts, axis=1) <= 0 for share in (0, NEAR))
        return cls(cells, cells & exactly, cells & nearly)
