"""`solve`: labels to weights. Nothing here has ever seen a count."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nbcfast.canonical.boxes.types import AnyBox, Box, ListedBox, has_many_classes
from nbcfast.canonical.weights import several
from nbcfast.canonical.weights.levels import Levels
from nbcfast.canonical.weights.listed import Listed
from nbcfast.canonical.weights.results import Solution
from nbcfast.canonical.weights.solver import minimum_norm

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress


def oracle_of(box: AnyBox) -> Levels | Listed:
    """What knows every tuple of a box without many classes: by levels of values, or of a list."""
    if isinstance(box, Box):
        return Levels(box)
    assert isinstance(box, ListedBox)  # all others have many classes
    return Listed(box)


def solve(box: AnyBox, *, progress: Progress | None = None) -> Solution:
    """The weights of least norm that give every label of a box with a margin of at least 1.

    This is the hard-margin support vector machine of the box on tuples coded one-hot:

        min sum_i sum_t g_i(t)^2   subject to   g(tuple) >= 1 at label 0,  g(tuple) <= -1 at label 1,

    g(tuple) the sum of g_i(t_i). It has one optimum, which is found in doubles by cutting planes and proved
    in rationals, so the same box gives the same weights on every machine. Values that labels cannot tell
    apart get equal weights.

    Parameters
    ----------
    box : Box, EnumeratedBox, PairsBox, SweptBox or ListedBox
        From `nbcfast.canonical.box`.
    progress : callable, optional
        Called as progress(done, total), in rounds.

    Returns
    -------
    Solution

    Raises
    ------
    TypeError
        If this is not a box.
    ValueError
        If no weights give all labels, which is never so for the box of a classifier.
    Infeasible
        If the values that can be told apart are too many, or doubles are too short.

    Examples
    --------
    >>> import nbcfast
    >>> from nbcfast.canonical import box
    >>> views = nbcfast.Viewset([5, 5], {"job": [[2, 3], [3, 2]], "sex": [[2, 3], [3, 2]]})
    >>> found = solve(box(views))
    >>> found.range, [[str(g) for (g,) in of_attribute] for of_attribute in found.scores]
    (Fraction(3, 1), [['-3/2', '1/2'], ['-3/2', '1/2']])
    """
    if not isinstance(box, AnyBox):
        raise TypeError(f"box must be what nbcfast.canonical.box makes, got {type(box).__name__}")
    if has_many_classes(box):
        return several.solve(box, progress=progress)
    oracle = oracle_of(box)
    optimum = minimum_norm(oracle.weights, oracle.width, oracle, progress=progress)
    widest, margin = extent(oracle, optimum.numbers)
    weights = [Fraction(number, optimum.denominator) for number in optimum.numbers]
    scores = tuple(tuple((g,) for g in row) for row in oracle.per_value(weights))
    return Solution(
        sizes=box.sizes,
        n_classes=box.n_classes,
        scores=scores,
        levels=tuple(map(ranked, scores)),
        range=Fraction(widest, optimum.denominator),
        margin=Fraction(margin, optimum.denominator),
        reproducible=optimum.exact,
        support=sum(u > 0 for u in optimum.multipliers),
        rounds=optimum.rounds,
    )


def unknowns(box: AnyBox) -> int:
    """How many numbers `solve` looks for: its time grows with the third power of these.

    With two classes the one number of an attribute of one level adds next to nothing.
    """
    if has_many_classes(box):
        return len(several.demands_of(box).weights())
    sizes = Levels(box).sizes if isinstance(box, Box) else box.sizes
    return sum(size for size in sizes if size > 1)


def extent(oracle: Levels | Listed, numbers: list[int]) -> tuple[int, int]:
    """The largest |sum| of a tuple, and the least with the sign of the label."""
    low, high = oracle.ends(numbers)
    _, *lowest = oracle.extremes(numbers, 0)
    return max(-low, high), min(number for number in lowest if number is not None)


def ranked(of_attribute: tuple[tuple[Fraction, ...], ...]) -> tuple[int, ...]:
    """The place of each weight among the distinct ones."""
    place = {g: k for k, g in enumerate(sorted(set(of_attribute)))}
    return tuple(place[g] for g in of_attribute)
