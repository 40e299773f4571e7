"""The totals attack: private counts back from how many rows each value and each class has.

Within an attribute ln N_c(t) = scale f_c(t) + a(t) + b_c, with f the published scores. For each scale the
sums of rows and columns give a and b; the equation of the classes, (1 - n) ln P_c + sum_i b^i_c - scale
base_c = const, gives the scale. Every method whose scores are a power of the private ones is inverted so,
gauge or not (docs/mathematics/canonical.md, section 9).
"""

from __future__ import annotations

import math

import numpy as np

from nbcfast._core.dtypes import Floats
from nbcfast._core.errors import expect
from nbcfast.published.release import Release
from nbcfast.views import Viewset

NOTHING = 1e-9  # what a published count of 0 is taken for
SCALES = 64  # that are tried before they are refined
NARROWEST, WIDEST = 0.02, 400  # range of the private log-scores, between which the scales are
HALVINGS = 60  # of an interval of scales: beyond, a float64 cannot tell its ends apart
SWEEPS = 500
SETTLED = 1e-13  # a sweep that moves no logarithm by more is the last
LEAST = 1e-300  # in place of 0, where there is to be a logarithm or a quotient


def totals(release: Release | Viewset, views: Viewset) -> tuple[int, int]:
    """What the totals attack recovers of private counts from published ones, however they were made.

    The attacker knows how many rows every value and every class has (public marginals), and that the
    published scores are a power of the private ones. Within an attribute ln N_c(t) is then scale f_c(t) plus
    one number a value and one a class; the sums of rows and columns give these for each scale, and the
    shares of the classes give the scale.

    Parameters
    ----------
    release : Release or Viewset
        What was published; of a canonical release its points, which say the same without rounding.
    views : Viewset
        The private counts, with the attributes and classes of the release.

    Returns
    -------
    recovered, cells : int
        Values of whose counts every one is right, and values with rows in every class.

    Raises
    ------
    TypeError
        If these are no release and no views.
    ValueError
        If the release has other attributes or classes than the views.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([40, 76], [[[12, 31], [28, 45]], [[25, 50], [15, 26]]])
    >>> totals(views, views)  # nothing was changed
    (4, 4)
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
    canonical = None if isinstance(release, Viewset) else release.certificate.canonical
    if canonical is not None and canonical.points:
        of_name = dict(zip(published.attributes, canonical.points, strict=True))
        points = [np.pad(np.array(of_name[name], np.float64), ((0, 0), (0, 1))) for name in views.attributes]
        # Totals are integers, and the last class, whose total is 0, wins ties: between it and a class that
        # wins over it the middle is a half.
        return totals_of_scores(points, np.array([*canonical.constants, 0.5], np.float64), views)
    logs = [
        np.log(np.maximum(np.asarray(published.counts[name], np.float64), NOTHING))
        for name in views.attributes
    ]
    base = (1 - len(logs)) * np.log(np.asarray(published.class_counts, np.float64))
    return totals_of_scores(logs, base, views)


def totals_of_scores(scores: list[Floats], base: Floats, views: Viewset) -> tuple[int, int]:
    """`totals`, for scores of each attribute (values, classes) whose sums with the base order the classes."""
    counts = [np.asarray(views.counts[name], np.float64) for name in views.attributes]
    cells = sum(int((array > 0).all(axis=1).sum()) for array in counts)
    attempts = _Attempts(scores, base, counts, np.asarray(views.class_counts, np.float64))
    most = 0
    for scale in _scales(attempts):
        recovered = sum(
            int(((np.rint(guess) == array) & (array > 0)).all(axis=1).sum())
            for guess, array in zip(attempts.guesses(scale), counts, strict=True)
        )
        most = max(most, recovered)
    return most, cells


class _Attempts:
    """The counts that each scale leads to, and how far these are from the equation of the classes.

    Of the private counts it reads their sums over classes and over values alone: what the attacker knows.
    """

    def __init__(
        self, scores: list[Floats], base: Floats, counts: list[Floats], class_totals: Floats
    ) -> None:
        self._class_totals = class_totals
        self._value_totals = [array.sum(axis=1) for array in counts]
        self._with_rows = [total > 0 for total in self._value_totals]
        # A number a value is free anyway, and centred scores stay within the range of exp.
        self._scores = [array - array.mean(axis=1, keepdims=True) for array in scores]
        self._base = base - base.mean()
        spans = zip(self._scores, self._with_rows, strict=True)
        self.span = max(sum(float(array[rows].max(initial=0)) for array, rows in spans), LEAST)
        self._known: dict[float, tuple[Floats, list[Floats]]] = {}

    def imbalance(self, scale: float) -> Floats:
        """What is left of the equation of the classes, one number a class; 0 where it holds."""
        return self._at(scale)[0]

    def guesses(self, scale: float) -> list[Floats]:
        """The counts of each attribute, unrounded."""
        return self._at(scale)[1]

    def _at(self, scale: float) -> tuple[Floats, list[Floats]]:
        if scale not in self._known:
            left = (1 - len(self._scores)) * np.log(self._class_totals) - scale * self._base
            guesses = []
            for array, total, rows in zip(self._scores, self._value_totals, self._with_rows, strict=True):
                offsets, fitted = _fitted(scale * array[rows], total[rows], self._class_totals)
                left = left + offsets
                guess = np.zeros(array.shape)
                guess[rows] = fitted
                guesses.append(guess)
            self._known[scale] = left - left.mean(), guesses
        return self._known[scale]


def _scales(attempts: _Attempts) -> list[float]:
    """Where the equation of the classes holds, or comes nearest to it."""
    scales = np.geomspace(NARROWEST, WIDEST, SCALES) / attempts.span
    imbalances = np.array([attempts.imbalance(scale) for scale in scales.tolist()])
    if imbalances.shape[1] == 2:  # of two classes it is one number, whose changes of sign are its zeros
        signs = np.sign(imbalances[:, 0])
        changes = np.flatnonzero(signs[1:] != signs[:-1]).tolist()
        if changes:
            return [_root(attempts, float(scales[i]), float(scales[i + 1]), float(signs[i])) for i in changes]
    best = int(np.abs(imbalances).sum(axis=1).argmin())
    low, high = scales[max(best - 1, 0)], scales[min(best + 1, SCALES - 1)]
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(HALVINGS):
        a, b = float(high - golden * (high - low)), float(low + golden * (high - low))
        if np.abs(attempts.imbalance(a)).sum() < np.abs(attempts.imbalance(b)).sum():
            high = b
        else:
            low = a
    return [float(low)]


def _root(attempts: _Attempts, low: float, high: float, sign_at_low: float) -> float:
    """The scale between two at which the equation of two classes changes its sign, by bisection."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if np.sign(attempts.imbalance(middle)[0]) == sign_at_low:
            low = middle
        else:
            high = middle
    return low


def _fitted(logs: Floats, row_sums: Floats, column_sums: Floats) -> tuple[Floats, Floats]:
    """Offsets of the columns with which rows and columns of exp(logs + offsets) have these sums; and these.

    Iterative proportional fitting.
    """
    logs = logs - logs.max(axis=1, keepdims=True)
    offsets = np.log(column_sums)
    parts = np.zeros_like(logs)
    for _ in range(SWEEPS):
        shifted = logs + offsets
        shifted -= shifted.max(axis=1, keepdims=True)
        parts = np.exp(shifted)
        parts *= (row_sums / parts.sum(axis=1))[:, np.newaxis]
        with np.errstate(divide="ignore"):
            step = np.log(column_sums) - np.log(np.maximum(parts.sum(axis=0), LEAST))
        offsets = offsets + step
        if np.abs(step - step.mean()).max() < SETTLED:
            break
    return offsets, parts
