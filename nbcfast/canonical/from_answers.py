"""The canonical release after the box: answers and public parameters in, a release out.

Nothing here has seen private counts, and that is the whole of the theorem (docs/mathematics/canonical.md,
section 1): what needs them belongs into `publish`, before the box.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.dtypes import Array
from nbcfast._core.errors import Infeasible
from nbcfast._rounding.rows import Rounded, RowsArgument, Short
from nbcfast.canonical.boxes.decided import answers, difference
from nbcfast.canonical.boxes.types import AnyBox, ListedBox
from nbcfast.canonical.budget import budgeted
from nbcfast.canonical.in_rows import to_rows
from nbcfast.canonical.rounding import Same, ScorecardPlan
from nbcfast.canonical.row_shares import IntegerScores
from nbcfast.canonical.weights.results import Scorecard
from nbcfast.canonical.weights.scorecard import integers
from nbcfast.canonical.weights.solve import solve
from nbcfast.published.advised import Advised
from nbcfast.published.certificate import Canonical, Certificate, PublicList
from nbcfast.published.release import Release
from nbcfast.views import Viewset
from nbcfast.views.noise import Noise

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress

WITHIN = Fraction(9, 8)  # of the range of the weights, for the integers that become counts


@dataclass(frozen=True)
class Parameters:
    """What a release depends on besides the answers. All of it is public.

    Attributes
    ----------
    names : Viewset
        Labels and domains; its counts are all 0.
    limit : Fraction
        Of Lambda.
    demanded : Fraction
        The limit as it was asked for, before what the attacker takes off it.
    attacker : {"row", "worlds"}
    preserve : {"label", "order"}
        As it was asked for: of two classes the box is of labels either way.
    bits : int or None
    rows : {"smallest", "proven"} or int
    list_digest : str or None
        The sha256 of the public list of tuples, if answers are kept there only.
    undeclared : tuple
        The attributes whose values were taken from rows.
    smoothing : Fraction or None
        What was added to every count before the classifier was asked.
    privacy : Noise or None
        The noise that was in every count.
    class_name : str or None
    advice : Advised or None
        Which choice of a menu the domain is.
    """

    names: Viewset
    limit: Fraction
    demanded: Fraction
    attacker: Attacker = "row"
    preserve: Preserve = "label"
    bits: int | None = None
    rows: RowsArgument = "smallest"
    list_digest: str | None = None
    undeclared: tuple[str | None, ...] = ()
    smoothing: Fraction | None = None
    privacy: Noise | None = None
    class_name: str | None = None
    advice: Advised | None = None


class PointClaims(NamedTuple):
    """What a certificate says of points; `card` is None where there is one class."""

    card: Scorecard | None
    reproducible: bool
    bits: int | None


class Target(NamedTuple):
    """What the published counts have to decide, and what they are made of."""

    box: AnyBox
    scores: IntegerScores
    points: PointClaims


def release_of(
    asked: AnyBox,
    parameters: Parameters,
    boxed: Callable[[Viewset], AnyBox],
    progress: Progress | None = None,
) -> Release:
    """The release of a box.

    Parameters
    ----------
    asked : AnyBox
        The answers of the private classifier.
    parameters : Parameters
        Everything else it depends on.
    boxed : callable
        Makes the box of counts that are to be published, of the same kind as `asked`.
    progress : callable, optional
        Called as progress(done, total), in parts of the work.

    Returns
    -------
    Release

    Raises
    ------
    Infeasible
        If a number of rows is too small; with the nearest release that can be had.
    """
    target = _target(asked, parameters.bits, progress)
    codes = asked.codes if isinstance(asked, ListedBox) else None

    def same(published: Viewset) -> Same:
        return difference(target.box, boxed(published))

    def in_rows(rows: RowsArgument) -> Rounded:
        # Candidates are compared with the answers of the points that were asked for, which `bits` may have
        # made others than the private ones: the counts of a release always decide as its points do.
        scores, names = target.scores, parameters.names
        number = 0 if isinstance(rows, str) else rows
        plan = ScorecardPlan(scores, names, parameters.limit, same, codes, parameters.preserve, number)
        return to_rows(plan, rows)

    try:
        return _certified(in_rows(parameters.rows), target.points, asked, parameters)
    except Short as short:
        best: dict[str, object] = dict(short.best)
        nearest = short.rounded
        # Counts that decide otherwise than their points come with points of their own, which no bits limit.
        if nearest is None or (parameters.bits is not None and nearest.differing != 0):
            nearest = in_rows("smallest")
        points = target.points if nearest.differing == 0 else _points_of(boxed(nearest.views))
        best["release"] = _certified(nearest, points, asked, parameters)
        best["rows"] = nearest.views.n_rows
        raise Infeasible(short.why, best) from None


def _target(asked: AnyBox, bits: int | None, progress: Progress | None) -> Target:
    """Points of a box, what they decide, and the longer integers of which counts are made."""
    if asked.n_classes == 1:
        return Target(asked, IntegerScores.single(asked.sizes), PointClaims(None, True, bits))
    solution = solve(asked, progress=progress)
    if bits is None:
        card, reproducible = integers(asked, solution, progress=progress), solution.reproducible
        # Small points are for people. Counts take longer ones, which keep further from the threshold.
        longer = integers(asked, solution, within=WITHIN, progress=progress)
    else:
        card, reproducible = budgeted(asked, solution, bits, progress=progress)
        longer = card
    decided = answers(card, asked) if card.changed else asked
    return Target(decided, IntegerScores.of(longer), PointClaims(card, reproducible, bits))


def _certified(rounded: Rounded, points: PointClaims, asked: AnyBox, parameters: Parameters) -> Release:
    """Counts with what their certificate says of them."""
    card, differing, listed = points.card, rounded.differing, None
    if card is not None and card.changed:
        # Counts were compared with the answers of these points: what differs from the private ones is what
        # the points change, all of it.
        differing = card.changed
    if isinstance(asked, ListedBox):
        assert differing is not None
        assert parameters.list_digest is not None
        listed = PublicList(asked.tuples, parameters.list_digest, differing)
        differing = None  # beyond the list nothing is claimed
    claims = Canonical(
        points=() if card is None else tuple(_plain(array) for array in card.points),
        constants=() if card is None else card.constants,
        reproducible=points.reproducible,
        undeclared=parameters.undeclared,
        bits=points.bits,
        listed=listed,
    )
    certificate = Certificate(
        method="canonical",
        amplification=parameters.demanded,
        attacker=parameters.attacker,
        preserve=parameters.preserve,
        equivalence="none" if differing is None else rounded.equivalence,
        tuples=math.prod(asked.sizes),
        differing_tuples=differing,
        smoothing=parameters.smoothing,
        privacy=parameters.privacy,
        canonical=claims,
        advice=parameters.advice,
    )
    return Release(rounded.views, certificate, parameters.class_name)


def _points_of(counts: AnyBox) -> PointClaims:
    """Points that decide as published counts do which no points came before."""
    solution = solve(counts)
    return PointClaims(integers(counts, solution), solution.reproducible, None)


def _plain(array: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(number) for number in row) for row in array.tolist())
