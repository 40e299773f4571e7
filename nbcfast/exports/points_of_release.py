"""`points_of`: integers that decide as a release does, of its certificate or of its own answers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from nbcfast._core.dtypes import Array
from nbcfast._core.errors import Infeasible
from nbcfast.canonical.boxes.box import box
from nbcfast.canonical.boxes.decided import answers
from nbcfast.canonical.boxes.types import AnyBox
from nbcfast.canonical.weights.results import Scorecard
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.published.points_table import PointsTable
from nbcfast.published.points_totals import expect_fit
from nbcfast.published.release import Release
from nbcfast.views import Viewset

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def points_of(release: Release, *, progress: Progress | None = None) -> PointsTable:
    """Small integers that decide as a release does on its whole domain.

    A canonical release carries them. Of any other, and where a canonical one keeps its answers on a public
    list only, they are made of its own answers: those of its published counts, by the rule of a canonical
    release. Either way what they decide is compared with the published counts over the whole domain, exactly.

    Parameters
    ----------
    release : Release
        Any.
    progress : callable, optional
        Called as progress(done, total).

    Returns
    -------
    PointsTable

    Raises
    ------
    TypeError
        If this is no Release: counts that are not published have no points.
    ValueError
        If it has no attribute, or totals have more than 61 bits.
    Infeasible
        If the domain is too large for its answers to be compared.

    Examples
    --------
    >>> import nbcfast
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]]}, classes=["no", "yes"])
    >>> points_of(nbcfast.safety_transform(views, 4)).decide({"job": 1})
    'no'
    """
    expect_release(release)
    made, views = release.certificate.canonical, release.views
    if not views.attributes:
        raise ValueError("release: expected at least one attribute, got none: its class is always the same")
    if len(views.classes) == 1:
        return _always(views)
    if made is not None and made.listed is None:
        points = PointsTable.of(release)
        expect_fit(points)
        asked = box(views, mode=release.certificate.preserve)
        if answers(_card(made.points, made.constants), asked) != asked:
            raise ValueError("the points of this release do not decide as its counts do: verify says more")
        return points
    asked = _answers_of(views)
    card = integers(asked, solve(asked, progress=progress), progress=progress)
    points = _table(views, card)
    expect_fit(points)
    _expect_same(card, asked)
    return points


def expect_release(release: object) -> None:
    """Refuse what is not published: counts, above all."""
    if isinstance(release, Viewset):
        raise TypeError(
            "release must be a Release, got a Viewset: its counts are private, and so is what is made of "
            "them. Publish it first, as by nbcfast.canonical.release, and export what that gives"
        )
    if not isinstance(release, Release):
        raise TypeError(f"release must be a Release, got {type(release).__name__}")


def _answers_of(views: Viewset) -> AnyBox:
    """What counts answer: the best class, or of more classes than that is known of the whole order."""
    try:
        return box(views)
    except Infeasible:
        if len(views.classes) == 2:
            raise
        return box(views, mode="order")


def _expect_same(card: Scorecard, asked: AnyBox) -> None:
    if answers(card, asked) != asked:
        raise ValueError("no small integers were found that decide as this release does")


def _always(views: Viewset) -> PointsTable:
    """The points of one class."""
    listed = ((name, views.domain(name), ((0,),) * len(views.domain(name))) for name in views.attributes)
    return PointsTable(views.classes, tuple(listed), None, (0,))


def _table(views: Viewset, card: Scorecard) -> PointsTable:
    """Points with the values that they belong to."""
    rows = [tuple(tuple(map(int, row)) for row in array.tolist()) for array in card.points]
    if len(views.classes) == 2:
        listed = zip(views.attributes, map(views.domain, views.attributes), rows, strict=True)
        return PointsTable(views.classes, tuple(listed), max(0, card.threshold), ())
    with_last = [tuple((*row, 0) for row in of_attribute) for of_attribute in rows]
    listed = zip(views.attributes, map(views.domain, views.attributes), with_last, strict=True)
    return PointsTable(views.classes, tuple(listed), None, (*map(int, card.constants), 0))


def _card(points: tuple[tuple[tuple[int, ...], ...], ...], constants: tuple[int, ...]) -> Scorecard:
    """What a certificate has, as what decides."""
    arrays: tuple[Array, ...] = tuple(np.array(rows, np.int64) for rows in points)
    return Scorecard(arrays, constants, None, 0, 0, Fraction(1), 0, 0)
